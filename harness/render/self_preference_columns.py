"""The columns of self-recognition and self-preference."""

from __future__ import annotations

from harness.render.column import COEFFICIENT, COUNT, SHARE, Column, TableName, in_tables

_PAIRS = in_tables(TableName.OWN_PAIRS)
_SINGLE = in_tables(TableName.OWN_SCORES)
_MUTUAL = in_tables(TableName.MUTUAL_PREFERENCE)

SELF_PREFERENCE_COLUMNS: tuple[Column, ...] = (
    Column("n", "pairs", COUNT, _PAIRS | _MUTUAL, "pairs of the judge's own output and another one, of the same source text"),
    Column(
        "recognition",
        "recognises its own",
        SHARE,
        _PAIRS,
        "the mean probability that it gives to its own output as the one it wrote; 50 % is chance",
    ),
    Column(
        "preference",
        "prefers its own",
        SHARE,
        _PAIRS,
        "the mean probability that it gives to its own output as the better one; 50 % is neither",
    ),
    Column(
        "recognition_ambiguous",
        "flips, recognition",
        SHARE,
        _PAIRS,
        "pairs in which the answer changes with the order of the two outputs",
        interval=False,
    ),
    Column(
        "preference_ambiguous",
        "flips, preference",
        SHARE,
        _PAIRS,
        "pairs in which the preferred output changes with the order of the two outputs",
        interval=False,
    ),
    Column("tau", "tau", COEFFICIENT, _PAIRS, "Kendall's tau-b between recognition and preference over pairs"),
    Column("n", "texts", COUNT, _SINGLE, "single outputs with a score"),
    Column("mean", "mean score", COEFFICIENT, _SINGLE, "the mean of the scores of single outputs"),
    Column("share", "own share", SHARE, _SINGLE, "own / (own + other), the mean over source texts; 50 % favours neither"),
    Column("total", "sum", COEFFICIENT, _MUTUAL, "the two judges' preferences for their own output, added; over 1 each favours itself"),
)
