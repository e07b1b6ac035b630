"""Flaws at two strengths: how much more often a judge sees the plain flaw than the subtle one, by flaw and by language.

Two twins of one flawless text whose `construction` ends in `-subtle` and `-plain` have the same flaw, which the rest of the name names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.data.columns import CodedColumn, combination_ids, last_matching_rows
from harness.measure.condition_rows import Row, new_row, put_number, put_share
from harness.measure.judged_table import JudgedTable
from harness.measure.options import POOLED
from harness.model import CONDITION
from harness.reports.tables.column import COEFFICIENT, COUNT_OR_BLANK, SHARE, Column
from harness.stats import logit_rise
from harness.stats.core.arrays import Floats, Ints

SUBTLE, PLAIN = "subtle", "plain"
NO_FLAW = "no flaw that was scored at both strengths"
NO_TEMPTING = "no readable score of a text that tempts"
_LEVELS: tuple[tuple[str, ...], ...] = ((), ("flaw", "metric"), ("language",))


@dataclass(frozen=True, eq=False)
class Sightings:
    """Answers about flawed texts beside those about their flawless ones, one entry each.

    `row` is that of the answer about the flawed text, `seen` 1 where the flawless text is scored higher, else 0 (NaN: not readable).
    `cluster` is what the text shares with others, `construction` the name of the flaw.
    """

    row: Ints
    seen: Floats
    cluster: Ints
    construction: CodedColumn


def strength_rows(clean: JudgedTable, flaws: Sightings, tempting: Sightings) -> list[Row]:
    """Rows over all (`flaw` is `*`), by flaw over the languages, and by language over the flaws; none without flaws at two strengths.

    `tempting` are texts without a flaw that tempt to a false alarm, `seen` 1 where one is scored below the best. A row has those of its
    language and, of one flaw, those that tempt on the metric of the flaw.
    """
    subtle, plain = _both_strengths(clean, flaws)
    if not len(subtle.row):
        return []
    of_flaws = clean.take(subtle.row).with_keys(flaw=subtle.construction)
    of_texts = clean.take(tempting.row)
    rows = []
    for level in _LEVELS:
        shared = [name for name in level if name != "flaw"]
        alarms = {_values(key, shared): at for key, at in of_texts.cells(shared)}
        for key, at in of_flaws.cells(level):
            row = new_row({"flaw": POOLED, **key})
            _put_strengths(row, clean, subtle.seen[at], plain[at], subtle.cluster[at])
            texts = alarms.get(_values(key, shared), np.empty(0, np.int64))
            row["n_tempting"] = int((~np.isnan(tempting.seen[texts])).sum())
            put_share(row, "false_alarms", tempting.seen[texts], tempting.cluster[texts], clean.drawing, NO_TEMPTING)
            rows.append(row | {"metric": POOLED})
    return rows


def _values(key: Row, names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(key[name] for name in (*names, *CONDITION))


def _put_strengths(row: Row, clean: JudgedTable, subtle: Floats, plain: Floats, cluster: Ints) -> None:
    row |= {"n": len(subtle), "groups": len(np.unique(cluster))}
    for name, seen in ((SUBTLE, subtle), (PLAIN, plain)):
        put_share(row, f"seen_{name}", seen, cluster, clean.drawing, NO_FLAW)
    found = logit_rise(subtle, plain, cluster, **clean.drawing)
    put_number(row, "slope", found.value, found.interval, why=found.reason)


def _both_strengths(clean: JudgedTable, flaws: Sightings) -> tuple[Sightings, Floats]:
    """Each subtle flaw with a readable score, by the name of the flaw alone; whether the plain one of the same question was seen."""
    names = [flaws.construction.values[code] if code >= 0 else "" for code in flaws.construction.codes]
    parted = [str(name).rpartition("-") for name in names]
    strength = np.array([each[2] if each[0] else "" for each in parted], object)
    flaw = CodedColumn.from_values(each[0] for each in parted)
    known = ~np.isnan(flaws.seen)
    text = CodedColumn.from_values(clean.data.items[item].fields["twin"] for item in np.asarray(clean.item)[flaws.row].tolist())
    columns = [clean.column(name).take(flaws.row) for name in ("metric", *CONDITION, "order", "repeat")]
    ids = combination_ids([*columns, text, flaw], np.zeros(len(flaws.row), np.int8))
    subtle = np.flatnonzero(known & (strength == SUBTLE))
    plain = last_matching_rows(ids, np.flatnonzero(known & (strength == PLAIN)))[subtle]
    subtle, plain = subtle[plain >= 0], plain[plain >= 0]
    return Sightings(flaws.row[subtle], flaws.seen[subtle], flaws.cluster[subtle], flaw.take(subtle)), flaws.seen[plain]


STRENGTH_COLUMNS = (
    Column("n", "flaws", COUNT_OR_BLANK, "flaws with readable scores at both strengths"),
    Column("seen_subtle", "subtle seen", SHARE, "the share of subtle flaws for which the flawless text has the higher score"),
    Column("seen_plain", "plain seen", SHARE, "the share of the same flaws, made plain, for which the flawless text has the higher score"),
    Column(
        "slope",
        "slope",
        COEFFICIENT,
        "how much more often the plain flaw is seen: difference of the two shares on the logit scale; 0 if strength makes no difference",
    ),
    Column("n_tempting", "texts that tempt", COUNT_OR_BLANK, "flawless texts with a form that is right but looks wrong"),
    Column("false_alarms", "false alarms there", SHARE, "the share of them that is scored below the best score"),
)


def seen_where(step: NDArray[np.float64]) -> Floats:
    """1 where the flawless text is scored higher, 0 where not; NaN where a score is missing.

    >>> seen_where(np.array([1.0, 0.0, -1.0, np.nan])).tolist()
    [1.0, 0.0, 0.0, nan]
    """
    return np.where(np.isnan(step), np.nan, step > 0)
