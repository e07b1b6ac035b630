"""Self-recognition and self-preference as terminal tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from harness.render.fitted_table import FittedTable
from harness.render.terminal import dim_lines
from harness.reports.sections.self_preference import SelfPreference, pair_rows
from harness.reports.sections.self_preference_choices import MUTUAL_PREFERENCE, OWN_PAIRS, OWN_SCORES
from harness.reports.tables.column import Row
from harness.reports.tables.numbers import coefficient
from harness.reports.tables.text_table import tabulate, varying_keys
from harness.text import terminal_safe

_PART = ("language", "dataset")


def render_self_preference(found: SelfPreference) -> RenderableType:
    """Pairs first (all sources, then each source), then single outputs, mutual preferences, the line and what the columns mean."""
    data = found.as_json()
    parts: list[RenderableType] = []
    legend: dict[str, None] = {}
    tables = (
        ("Its own output beside another one", OWN_PAIRS, ("judge", "source"), pair_rows(data)),
        ("Scores of single outputs", OWN_SCORES, ("judge", "metric", "source"), data["individual"]),
        ("Judges that prefer themselves", MUTUAL_PREFERENCE, ("judges",), list(_named_pairs(data["mutual"]))),
    )
    for title, columns, keys, rows in tables:
        if rows:
            table = tabulate(rows, columns, (*varying_keys(rows, _PART), *keys))
            parts += [Text(f"\n{title}", style="bold"), FittedTable(table)]
            legend |= dict.fromkeys(table.legend)
    return Group(*parts, dim_lines((*_line(data), *_undefined(data), *legend)))


def _named_pairs(rows: Sequence[Row]) -> Iterable[Row]:
    return ({**row, "judges": " + ".join(row["judges"])} for row in rows)


def _undefined(data: dict[str, Any]) -> Iterable[str]:
    """Why a number of the tables is undefined, one line a number; intervals have no line of their own."""
    for name in ("pairwise", "kendall_tau", "individual", "mutual"):
        for row in data[name]:
            for number, why in row["undefined"].items():
                if not number.endswith("_ci"):
                    where = ", ".join(str(row[key]) for key in ("judge", *_PART, "source", "question") if row.get(key))
                    yield terminal_safe(f"– {number} of {where}: {why}.")


def _line(data: dict[str, Any]) -> list[str]:
    line = data["line"]
    if line is None:
        return []
    if line["slope"] is None:
        return [f"The line of preference against recognition is undefined: {line['reason']}."]
    slope = coefficient(line["slope"], line["slope_ci"])
    return [
        f"Preference changes by {slope} for each 1 of recognition, over {line['points']} points (a judge in one part of the data; ordinary "
        "least squares; the interval is from resamples of source texts, as points share them)."
    ]
