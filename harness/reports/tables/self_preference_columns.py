"""The columns of self-recognition and self-preference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.reports.tables.column import COEFFICIENT, COUNT, POINTS, PROBABILITY, SHARE, TEXT, Column, Row, TableName, in_tables
from harness.reports.tables.numbers import coefficient
from harness.text import terminal_safe

_PAIRS = in_tables(TableName.OWN_PAIRS)
_SINGLE = in_tables(TableName.OWN_SCORES)
_MUTUAL = in_tables(TableName.MUTUAL_PREFERENCE)
_CONTROLS = in_tables(TableName.OWN_CONTROLS)
_LANGUAGES = in_tables(TableName.OWN_LANGUAGES)
_TUNED = in_tables(TableName.OWN_TUNED)

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
    Column("mean", "mean score", COEFFICIENT, _SINGLE, "the mean of single outputs: of the scores, or of the probability of the yes"),
    Column("share", "own share", SHARE, _SINGLE, "own / (own + other), the mean over source texts; 50 % favours neither"),
    Column("n", "pairs asked", COUNT, _CONTROLS, "pairs with a computed answer that the judge answered"),
    Column("accuracy", "right", SHARE, _CONTROLS, "the share of choices that are right, over both orders; 50 % is chance"),
    Column("right", "confidence in it", SHARE, _CONTROLS, "the mean probability that the judge gives to the right text"),
    Column("welch", "difference", POINTS, _LANGUAGES, "the first language minus the second, over all source texts", interval=False),
    Column("welch_q", "q", PROBABILITY, _LANGUAGES, "the p-value of Welch's t, corrected over the rows of a judge", interval=False),
    Column("paired", "in the same sources", POINTS, _LANGUAGES, "the same difference over source texts that both languages have"),
    Column("paired_n", "same sources", COUNT, _LANGUAGES, "pairs of one other system whose source text both languages have"),
    Column("before", "before", SHARE, _TUNED, "the mean probability of the own output, of the judge before it was tuned", interval=False),
    Column("after", "after", SHARE, _TUNED, "the same of the tuned judge, on the same pairs", interval=False),
    Column("paired", "after - before", POINTS, _TUNED, "the tuned judge minus the judge before, on the same pairs"),
    Column("paired_n", "common pairs", COUNT, _TUNED, "pairs that both judges answered"),
    Column("paired_q", "q paired", PROBABILITY, _LANGUAGES | _TUNED, "the p-value of the paired difference, corrected", interval=False),
    Column(
        "confidence_from",
        "from",
        TEXT,
        _PAIRS | _SINGLE | _CONTROLS,
        "where probabilities are from: those of the answer's tokens, or the answers themselves",
    ),
    Column("total", "sum", COEFFICIENT, _MUTUAL, "the two judges' preferences for their own output, added; over 1 each favours itself"),
)


def rows_across_systems(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Scores of single outputs by judge and system as one row a judge, its systems under `by_system`: a matrix."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        key = {name: row[name] for name in ("language", "task", "metric", "judge", "variant", "temperature", "top_p")}
        across = found.setdefault(tuple(key.values()), {**key, "by_system": {}, "undefined": {}})
        across["by_system"][row["source"]] = row
    return list(found.values())


def system_columns(rows: Sequence[Row]) -> tuple[Column, ...]:
    """A column of mean scores for each system that the rows have."""
    names = sorted({str(name) for row in rows for name in row["by_system"]})
    return tuple(_system_column(name) for name in names)


def _system_column(name: str) -> Column:
    def text(row: Row) -> str:
        own = row["by_system"].get(name)
        return coefficient(own and own["mean"]) + (" *" if own and own["own"] else "")

    return Column(name, terminal_safe(name), TEXT, frozenset(), "the mean of its single outputs; * the judge's own", text=text)
