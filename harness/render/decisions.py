"""Tables beside verdicts: languages side by side, and calibration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType

from harness.content.tags import english_name
from harness.correct.calibration import Calibration
from harness.correct.labels_budget import LabelBudget
from harness.decide.languages import LanguageComparison
from harness.model import SIDE
from harness.render.fitted_table import FittedTable
from harness.render.terminal import dim_lines
from harness.reports.tables.column import Row, TableName
from harness.reports.tables.columns import columns_in
from harness.reports.tables.decision_columns import lenient_text, points, thousandths
from harness.reports.tables.text_table import TextTable, tabulate, varying_keys


def languages_table(found: Sequence[LanguageComparison]) -> TextTable:
    """A row for each metric, judge and condition."""
    rows = [_languages_row(one) for one in found]
    return tabulate(rows, columns_in(TableName.LANGUAGES), ("metric", *varying_keys(rows, SIDE)))


def _languages_row(one: LanguageComparison) -> Row:
    gap: dict[str, Any] = one.gap or {}
    lenient = sorted((row["leniency"], str(row["language"])) for row in one.languages if row["leniency"] is not None)
    rates: dict[str, Any] = one.rates or {}
    return {
        **one.key,
        "mean_gap": gap.get("mean"),
        "mean_gap_ci": gap.get("ci"),
        "further_language": points(gap.get("prediction")),
        "i2": gap.get("i2"),
        "rates_p": rates.get("p_groups"),
        "same_level": f"{sum(row['same_level'] for row in one.languages)} of {len(one.languages)}",
        "most_lenient": lenient_text(lenient[-1][1], lenient[-1][0]) if len(lenient) > 1 else None,
        "least_lenient": lenient_text(lenient[0][1], lenient[0][0]) if len(lenient) > 1 else None,
        "dif_effect": one.dif["effect"] if one.dif else None,
        "parallel_fleiss": one.consistency["fleiss"] if one.consistency else None,
    }


def calibration_table(found: Sequence[Calibration]) -> TextTable:
    """A row for each language, metric, judge and condition that has probabilities."""
    rows = list(_calibration_rows(found))
    return tabulate(rows, columns_in(TableName.CALIBRATION), ("language", "metric", *varying_keys(rows, SIDE)))


def _calibration_rows(found: Sequence[Calibration]) -> Iterator[Row]:
    for one in found:
        if one.n:
            recalibration: dict[str, Any] = one.recalibration or {}
            yield {
                **one.key,
                "answers": one.n,
                "confidence": one.confidence,
                "right": one.right,
                "error": one.error,
                "squared_error": thousandths(one.debiased, one.debiased_ci),
                "brier": one.brier,
                "recalibrated_brier": recalibration.get("brier"),
                "method": recalibration.get("method"),
            }


def render_budget(budget: LabelBudget) -> RenderableType:
    """What is labelled of every cell, and what is missing."""
    rows = [cell.flat() | {"language": english_name(str(cell.key["language"]))} for cell in budget.cells]
    table = tabulate(rows, columns_in(TableName.LABELS_NEEDED), ("language", "metric", *varying_keys(rows, SIDE)))
    return Group(FittedTable(table), dim_lines(table.legend))
