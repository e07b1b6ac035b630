"""The columns of verdicts: the permitted use, the numbers behind it, and the missing tests."""

from __future__ import annotations

from harness.reports.tables.column import COUNT, POINTS, SHARE, TEXT, Column, Row, TableName
from harness.reports.tables.numbers import UNDEFINED, percent

_ALWAYS = frozenset({TableName.VERDICTS})
_ALONE = frozenset({TableName.VERDICTS_ALONE})
_REASONS = frozenset({TableName.VERDICTS_REASONS})
_WIDE = frozenset({TableName.VERDICTS_WIDE})
OBSTACLES = {
    "worse": "<P",
    "base_worse": "<C",
    "constant": "=1",
    "failures": "!R",
    "people": "<P?",
    "baseline": "<C?",
    "coverage": "!R?",
    "cells": "N?",
    "labels": "T!",
    "annotators": "A!",
}
"""Short codes, which `column.SIGNS` explains where they occur."""


def _groups(row: Row) -> str:
    """`41 as 2.2, ≤14.4`: blank where all groups are of one size, and for controls, whose verdict compares nobody with people."""
    from harness.decide.sentences import equal_groups

    shown = "" if row.get("controls") else equal_groups(row["groups"], row.get("effective_groups"))
    if not shown:
        return ""
    return f"{row['groups']} as {shown}" + ("" if row["cap"] is None else f", ≤{row['cap']:.1f}")


def labels_needed_text(row: Row) -> str:
    """`about 240` further texts, `more than 3,000`, or a dash where more labels would not help."""
    k = row.get("k")
    return "" if k is None else f"more than {k:,}" if row.get("more_than_k") else f"about {k:,}"


def _replaced(row: Row) -> str:
    test = row.get("alt_test") or {}
    return UNDEFINED if test.get("omega") is None else f"{round(test['omega'] * test['annotators'])} of {test['annotators']}"


def _of_pairs(column: str, heading: str, name: str, legend: str, *, closeness: bool) -> Column:
    """A column of a number that is closeness in some rows and a share of equal scores in others: one heading for each, blank elsewhere."""
    return Column(
        column,
        heading,
        SHARE,
        legend,
        _ALWAYS,
        value=lambda row: row[name] if row["closeness"] is closeness else None,
        text=lambda row: percent(row[name]) if row["closeness"] is closeness else "",
    )


VERDICT_COLUMNS: tuple[Column, ...] = (
    Column(
        "answer",
        "verdict",
        TEXT,
        "what the judge may be used for, by tests that are corrected for all rows of the judge (docs/decisions.md)",
        _ALWAYS,
    ),
    _of_pairs(
        "agreement",
        "judge–person pairs",
        "agreement",
        "mean agreement of the judge with each annotator; an unread answer agrees with nobody",
        closeness=False,
    ),
    _of_pairs("people", "person–person pairs", "people", "mean agreement of two annotators on the same texts", closeness=False),
    _of_pairs(
        "closeness",
        "closeness of judge and people",
        "agreement",
        "1 minus the mean distance of the judge from each annotator, as a share of the scale's length; an unread answer is as far as the "
        "scale is long",
        closeness=True,
    ),
    _of_pairs("closeness_of_people", "closeness of people", "people", "the same of two annotators on the same texts", closeness=True),
    Column("gap", "judge − people", POINTS, "the difference of the two in percentage points", _ALWAYS),
    Column(
        "family_bound",
        "at least",
        POINTS,
        "the lower bound of judge − people at the level that the number of rows leaves; 'use' needs it above minus the margin",
        _REASONS,
    ),
    Column(
        "right",
        "agreement",
        SHARE,
        "the share of texts on which the judge gives the commonest label; unread answers count as wrong",
        _ALWAYS,
        value=lambda row: row["right"] if row["people"] is None and not row["interval"] else None,
    ),
    Column(
        "right_closeness",
        "closeness to the label",
        SHARE,
        "1 minus the mean distance of the judge from the mean label of a text, as a share of the scale's length; an unread answer is as "
        "far as the scale is long",
        _ALWAYS,
        value=lambda row: row["right"] if row["people"] is None and row["interval"] else None,
    ),
    Column(
        "base_diff",
        "judge − constant",
        POINTS,
        "the judge's agreement with the labels (of numbers: its closeness to them) minus that of one constant answer to all texts, in "
        "percentage points",
        _ALONE,
    ),
    Column(
        "coverage",
        "read",
        SHARE,
        "the share of answers that could be read; blank: all",
        _WIDE,
        text=lambda row: "" if row["coverage"] == 1 else percent(row["coverage"]),
    ),
    Column(
        "n_labelled", "texts", COUNT, "labelled texts; where the judge is compared with people, those that two annotators labelled", _ALWAYS
    ),
    Column(
        "effective_groups",
        "groups",
        TEXT,
        "groups of texts, and for how many groups of one size they stand where some are larger; after ≤, the most texts that a "
        "group counts for in the corrected tests",
        _WIDE,
        text=_groups,
    ),
    Column(
        "alt_test",
        "can replace",
        TEXT,
        "how many of the annotators the judge can replace by the alternative annotator test, which is no condition of a verdict",
        _WIDE,
        text=_replaced,
    ),
    Column(
        "k",
        "labels needed",
        TEXT,
        "about how many further texts to label until 'use' is shown, if the judge is as good as people",
        _ALWAYS,
        text=lambda row: labels_needed_text(row).removeprefix("about ").replace("more than ", ">"),
    ),
    Column(
        "obstacles",
        "why not",
        TEXT,
        "what is shown against the judge, or not ruled out",
        _REASONS,
        text=lambda row: " ".join(OBSTACLES[name] for name in row["obstacles"]),
    ),
)
