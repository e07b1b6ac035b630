"""The alternative annotator test by task as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.model import CONDITION
from harness.reports.tables.column import COUNT, SHARE, TEXT, Column, TableName
from harness.reports.tables.numbers import UNDEFINED
from harness.reports.tables.text_table import TextTable, tabulate, varying_keys

_TABLES = frozenset({TableName.VERDICTS})
_SCORING = {"accuracy": "equal scores", "neg_rmse": "distance"}
_PASSED = {True: "yes", False: "no", None: UNDEFINED}
_COLUMNS = (
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
        text=lambda row: _SCORING[row["scoring"]] if "scoring" in row else UNDEFINED,
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
    return tabulate([dict(row) for row in rows], _COLUMNS, ("task", *varying))
