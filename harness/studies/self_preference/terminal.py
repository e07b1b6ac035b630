"""The analysis of recorded comparisons as terminal tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from harness.render.fitted_table import FittedTable
from harness.render.terminal import dim_lines, legend_of
from harness.reports.tables.numbers import coefficient
from harness.reports.tables.text_table import tabulate, varying_keys
from harness.studies.self_preference.analysis import SelfPreference, pair_rows
from harness.studies.self_preference.section import MUTUAL_PREFERENCE, OWN_PAIRS, OWN_SCORES
from harness.text import terminal_safe

_PART = ("language", "dataset")


def render_self_preference(preference: SelfPreference) -> RenderableType:
    """Pairs first (all sources, then each source), then single outputs, mutual preferences, the line and what the columns mean."""
    data = preference.as_json()
    parts: list[RenderableType] = []
    tables = []
    mutual = [{**row, "judges": " + ".join(row["judges"])} for row in data["mutual"]]
    for title, columns, keys, rows in (
        ("Its own output beside another one", OWN_PAIRS, ("judge", "source"), pair_rows(data)),
        ("Scores of single outputs", OWN_SCORES, ("judge", "metric", "source"), data["individual"]),
        ("Judges that prefer themselves", MUTUAL_PREFERENCE, ("judges",), mutual),
    ):
        if rows:
            tables.append(tabulate(rows, columns, (*varying_keys(rows, _PART), *keys)))
            parts += [Text(f"\n{title}", style="bold"), FittedTable(tables[-1])]
    return Group(*parts, dim_lines((*_line(data), *_undefined(data), *legend_of(tables))))


def _undefined(data: dict[str, Any]) -> Iterable[str]:
    """Yield why a number of the tables is undefined, one line a number; intervals have no line of their own."""
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
