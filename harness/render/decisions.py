"""Tables beside verdicts: languages side by side, the alternative annotator test, and the budget of labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from harness.content.tags import english_name
from harness.decide.more_labels import MORE_THAN
from harness.decide.options import DecisionOptions
from harness.model import CONDITION, SIDE
from harness.render.fitted_table import FittedTable
from harness.render.terminal import dim_lines
from harness.reports.tables.column import COUNT, SHARE, TEXT, Column, Row, TableName
from harness.reports.tables.columns import columns_in, interval_of_points, lenient_text
from harness.reports.tables.numbers import UNDEFINED, counted
from harness.reports.tables.text_table import TextTable, key_text, tabulate, varying_keys
from harness.text import terminal_safe

if TYPE_CHECKING:
    from harness.correction.labels_budget import LabelBudget, People, PlannedLabels
    from harness.decide.languages import LanguageComparison


def languages_table(comparisons: Sequence[LanguageComparison]) -> TextTable:
    """Return a row for each metric, judge and condition."""
    rows = [_languages_row(comparison) for comparison in comparisons]
    return tabulate(rows, columns_in(TableName.LANGUAGES), ("metric", *varying_keys(rows, SIDE)))


def _languages_row(comparison: LanguageComparison) -> Row:
    gap = comparison.gap
    lenient = sorted((row.leniency, row.language) for row in comparison.languages if row.leniency is not None)
    return {
        **comparison.key,
        "mean_gap": gap.mean if gap else None,
        "mean_gap_ci": gap.ci if gap else None,
        "further_language": interval_of_points(gap.prediction if gap else None),
        "i2": gap.i2 if gap else None,
        "rates_p": comparison.rates.p_groups if comparison.rates else None,
        "same_level": f"{sum(row.same_level for row in comparison.languages)} of {len(comparison.languages)}",
        "most_lenient": lenient_text(lenient[-1][1], lenient[-1][0]) if len(lenient) > 1 else None,
        "least_lenient": lenient_text(lenient[0][1], lenient[0][0]) if len(lenient) > 1 else None,
        "dif_effect": comparison.dif.effect if comparison.dif else None,
        "parallel_fleiss": comparison.consistency.fleiss if comparison.consistency else None,
    }


_MANY_CELLS = 40
"""Of more cells than this, only those without a verdict have rows, from the fewest missing texts on."""
_MOST_ROWS = 20


def render_budget(budget: LabelBudget, *, all_rows: bool = False) -> RenderableType:
    """Return what is labelled of every cell, and what is missing; with `all_rows` of all cells, however many there are."""
    rows = [cell.flat() | {"language": english_name(str(cell.key["language"]))} for cell in budget.cells]
    shown = rows
    if not all_rows and len(rows) > _MANY_CELLS:
        missing = [row for row in rows if row["verdict"] not in ("use", "do not use")]
        shown = sorted(missing, key=lambda row: (row["more_for_verdict"] is None, row["more_for_verdict"] or 0))[:_MOST_ROWS]
    table = tabulate(shown, columns_in(TableName.LABELS_NEEDED), ("language", "metric", *varying_keys(rows, SIDE)))
    decided = sum(row["verdict"] in ("use", "do not use") for row in rows)
    more = [row["more_for_verdict"] for row in rows if row["more_for_verdict"] is not None]
    parts = [f"{decided:,} of {counted(len(rows), 'verdict')} {'is' if decided == 1 else 'are'} there"]
    parts += [f"{len(more):,} need{'s' if len(more) == 1 else ''} more texts (from {min(more):,} on)"] if more else []
    parts += [f"for {len(rows) - decided - len(more):,} no number of texts is known to help"] if len(rows) > decided + len(more) else []
    first = Text(f"{'; '.join(parts)}.\n", style="bold")
    new = [Text(line) for line in _new_languages(budget)]
    have = ", which have a verdict" if len(rows) - len(shown) == decided else ""
    more_rows = [Text(f"{len(rows) - len(shown):,} more{have}: --all.", style="dim")] if len(shown) < len(rows) else []
    tables = [FittedTable(table)] if shown else []
    return Group(first, *tables, *more_rows, *([Text(""), *new] if new else []), dim_lines(table.legend if shown else ()))


def _new_languages(budget: LabelBudget) -> Iterator[str]:
    """Yield what a new language needs for a corrected mean, a line for each metric and condition."""
    rows = [plan.flat() for plan in budget.new_languages or ()]
    sides = varying_keys(rows, SIDE)
    for row in rows:
        what = ", ".join([str(row["metric"]).replace("_", " "), *(key_text(name, row[name]) for name in sides)])
        if row["reason"] is not None:
            yield terminal_safe(f"A new language, {what}: {row['reason']}.")
            continue
        alone, helped = row["alone"], row["with_others"]
        fewer = "no number of labels suffices" if helped is None else f"{helped:,}, {alone - helped:,} fewer"
        yield terminal_safe(
            f"A new language, {what}: {alone:,} independent texts or groups for a corrected mean to ±{row['half_width']:.2g} points; with "
            f"{row['languages']} other languages {fewer}, if it is like them (on average over languages)."
        )


_TABLES = frozenset({TableName.VERDICTS})
_SCORING = {"accuracy": "equal scores", "neg_rmse": "distance", None: UNDEFINED}
_PASSED = {True: "yes", False: "no", None: UNDEFINED}
_POOLING = (
    Column(
        "metrics", "metrics", COUNT, "metrics of the task; each text counts once on each", _TABLES, value=lambda row: len(row["metrics"])
    ),
    Column("n", "texts", COUNT, "texts on a metric that two annotators labelled", _TABLES),
    Column(
        "read",
        "read",
        COUNT,
        "answers that could be read; the others count as a score that nobody gave, and by distance they are left out, as the authors do",
        _TABLES,
    ),
    Column(
        "scoring",
        "compared by",
        TEXT,
        "how people and judge are compared with the others: by equal scores, or by the distance of scores (minus the root mean square)",
        _TABLES,
        text=lambda row: _SCORING[row.get("scoring")],
    ),
    Column(
        "omega",
        "winning rate",
        SHARE,
        "the share of the tested annotators that the judge can replace: it represents the others as well as the person does, less epsilon",
        _TABLES,
    ),
    Column("rho", "advantage", SHARE, "how often the judge represents the others at least as well as the person does", _TABLES),
    Column(
        "passed",
        "passed",
        TEXT,
        "the judge can replace half of the tested annotators or more; it is no condition of a verdict",
        _TABLES,
        text=lambda row: _PASSED[row.get("passed")],
    ),
)


def annotator_pooling_table(rows: Sequence[Mapping[str, Any]]) -> TextTable:
    """One row for each task, judge and condition."""
    varying = varying_keys(rows, ("source", "language", *CONDITION))
    return tabulate([dict(row) for row in rows], _POOLING, ("task", *varying))


def plan_rows(planned: Sequence[PlannedLabels], half_width: float) -> list[list[str]]:
    """Return the headings, and a row for each."""
    heads = ["metric", "two people agree", "people a text", "texts for 'use'", f"texts for ±{100 * half_width:g} points", "best constant"]
    by_language = any(plan.people.language for plan in planned)
    rows = [["language", *heads] if by_language else heads]
    for plan in planned:
        people = plan.people
        texts = str(MORE_THAN) if plan.for_verdict is None else f"about {plan.for_verdict:,}"
        row = [
            people.metric.replace("_", " "),
            f"{100 * people.agreement:.0f} %",
            str(people.annotators),
            texts,
            f"{plan.for_half_width:,}",
            f"{100 * plan.constant:.0f} %",
        ]
        rows.append([english_name(people.language) if people.language else "", *row] if by_language else row)
    return rows


def plan_sentences(planned: Sequence[PlannedLabels], decision: DecisionOptions, cells: int, shares_given: bool) -> Iterator[str]:
    """Yield what stands behind the numbers."""
    people = planned[0].people
    if people.texts is None:
        yield from _assumed(people, shares_given, len(planned) > 1)
    else:
        yield "People's agreement and the shares of classes are those of the labels, unless a flag says otherwise; no judge was asked."
    where = "one metric in one language" if cells == 1 else f"each of {cells} cells (metrics in languages) that are tested together"
    chance = f"{100 * decision.power:.0f} %"
    yield (
        f"The judge is taken to be one more person. With so many texts 'use' is shown in {where} with a chance of {chance}: at most "
        f"{100 * decision.margin:g} points below people, and better than the best constant. A worse judge needs more texts, or is never "
        "shown to be good enough."
    )
    if cells == 1:
        yield "--cells 10 says how many metrics in languages you will test together: the more, the more texts each of them needs."
    yield "Texts count once for each source: ten answers to one question are not ten independent texts."


def _assumed(people: People, shares_given: bool, several: bool) -> Iterator[str]:
    classes = ", ".join(map(str, people.classes))
    if shares_given:
        yield f"Nobody labelled yet. Assumed: people give {classes} as often as --shares says."
    else:
        yield (
            f"Nobody labelled yet. Assumed: {classes} are equally common; --shares says otherwise, and where a class is rare, more texts "
            "are needed."
        )
    if several:
        yield "How often two people agree is not known, so several values are shown; --people-agree 0.7 takes one. 30 texts show it."
