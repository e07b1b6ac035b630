"""The columns of minimal pairs; of counts by construction and language, languages are the columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.content.tags import english_name
from harness.reports.tables.column import COEFFICIENT, COUNT_OR_BLANK, SHARE, TEXT, Column, Row, TableName, in_tables
from harness.reports.tables.numbers import UNDEFINED

_BOTH = in_tables(TableName.MINIMAL_PAIRS, TableName.CONSTRUCTIONS)

MINIMAL_PAIR_COLUMNS: tuple[Column, ...] = (
    Column("n", "pairs", COUNT_OR_BLANK, _BOTH, "pairs of a flawless and a flawed text with two readable scores"),
    Column("unreadable", "unread", COUNT_OR_BLANK, _BOTH, "pairs in which a score could not be read"),
    Column("unpaired", "unpaired", COUNT_OR_BLANK, _BOTH, "flawed texts whose flawless text was not judged"),
    Column(
        "sensitivity",
        "sensitivity",
        COEFFICIENT,
        _BOTH,
        "how often the flawless text scores above its flawed twin, ties counting half; ½ if the judge sees nothing, as for every constant",
    ),
    Column("higher", "flawless higher", SHARE, _BOTH, "the share of pairs in which the flawless text has the higher score"),
    Column("equal", "equal", SHARE, _BOTH, "the share in which both have the same score"),
    Column("lower", "flawless lower", SHARE, _BOTH, "the share in which the flawless text has the lower score"),
    Column("n_flawless", "flawless texts", COUNT_OR_BLANK, _BOTH, "texts without a flaw that have a readable score"),
    Column("false_alarms", "false alarms", SHARE, _BOTH, "the share of texts without a flaw that are scored below the best score"),
    Column(
        "from",
        "from",
        TEXT,
        in_tables(TableName.MINIMAL_PAIRS),
        "what sensitivity was computed from: the scores, or the expected scores of the token probabilities",
        text=lambda row: "" if row.get("from") == "scores" else str(row.get("from") or ""),
    ),
)


def rows_across_languages(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows by construction and language as one row a construction, its languages under `by_language`."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        key = {
            name: row.get(name) for name in ("source", "task", "metric", "judge", "variant", "temperature", "top_p", "kind", "construction")
        }
        across = found.setdefault(tuple(key.values()), {"language": "*", **key, "by_language": {}, "undefined": {}})
        across["by_language"][row["language"]] = row
    return list(found.values())


def language_columns(rows: Sequence[Row]) -> tuple[Column, ...]:
    """A column of counts for each language that the rows have."""
    tags = dict.fromkeys(tag for row in rows for tag in row["by_language"])
    return tuple(_language_column(str(tag)) for tag in tags)


def _language_column(tag: str) -> Column:
    return Column(tag, tag, TEXT, frozenset(), english_name(tag), text=lambda row: counts_text(row["by_language"].get(tag)))


def counts_text(row: Row | None) -> str:
    """The counts of a construction in a language: `3 · 1 · 0`, or false alarms among texts without a flaw: `1/4`.

    >>> counts_text({"kind": "flaw", "n": 4, "higher_n": 3, "equal_n": 1, "lower_n": 0})
    '3 · 1 · 0'
    >>> counts_text({"kind": "tempting", "n_flawless": 4, "false_alarms_n": 1})
    '1/4'
    """
    if row is None:
        return UNDEFINED
    if row["kind"] == "flaw":
        return " · ".join(str(row[f"{name}_n"]) for name in ("higher", "equal", "lower")) if row["n"] else UNDEFINED
    return f"{row['false_alarms_n']}/{row['n_flawless']}" if row["n_flawless"] else UNDEFINED
