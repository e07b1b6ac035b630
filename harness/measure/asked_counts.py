"""Counts of the labelled questions that judges were asked, by cell, with notes in words.

A question that was not asked is neither wrong nor unreadable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from harness.data.columns import combination_ids, first_rows
from harness.measure.cells import Cell
from harness.measure.judged_table import JudgedTable, factorise, item_key
from harness.measure.options import MeasureOptions
from harness.model import CONDITION

_FEW = 3  # names that a sentence lists
_QUESTION = (*CONDITION, "metric")


def add_asked(cells: Sequence[Cell], judged: JudgedTable, options: MeasureOptions) -> list[Cell]:
    """Add to the cells `n_asked` and `not_asked`: how many labelled questions judges were asked, and how many not.

    A question is an item and a metric under one condition of one judge, with a reference (at the level of systems: with a label); asked
    several times, it counts once.
    """
    table = _add_unasked(judged)
    rows = np.flatnonzero(table.counted)
    table, was_asked = table.take(rows), rows < len(judged)
    keys, which = table.keyed(options.by)
    once = first_rows(combination_ids([*table.columns(_QUESTION).values(), table.source], which * len(judged.data.items) + table.item))
    number = [np.bincount(which[once[part]], minlength=len(keys)).tolist() for part in (was_asked[once], ~was_asked[once])]
    counts_by_key = {tuple(key.values()): pair for key, pair in zip(keys, zip(*number, strict=True), strict=True)}
    counts = [counts_by_key.get(tuple(cell.key.values()), (0, 0)) for cell in cells]
    return [msgspec.structs.replace(cell, n_asked=n, not_asked=not_asked) for cell, (n, not_asked) in zip(cells, counts, strict=True)]


def not_asked_notes(judged: JudgedTable, options: MeasureOptions) -> Iterator[str]:
    """Yield a sentence on how many labelled questions judges were not asked, by language; none if all were asked."""
    not_asked = _count_by_judge(judged.unasked, options) if judged.unasked is not None else {}
    all_questions = _count_by_judge(_add_unasked(judged), options) if not_asked else {}
    judges: dict[tuple[Any, ...], list[str]] = {}
    for judge, languages in not_asked.items():
        judges.setdefault(tuple((tag, n, all_questions[judge][tag]) for tag, n in sorted(languages.items())), []).append(str(judge))
    for pattern, names in judges.items():
        where = [f"{n:,} of {total:,} in {tag}" for tag, n, total in pattern]
        who = f"{_join_names(names, 'judges')}{' each' if len(names) > 1 else ''}"
        yield f"Not asked, so neither right nor wrong (labelled items times metrics): {who} {_join_names(where, 'languages')}."


def unread_notes(judged: JudgedTable, options: MeasureOptions) -> Iterator[str]:
    """Yield sentences, at the level of systems, on items that count in people's means and have no readable score of the judge."""
    unread = _count_by_judge(judged.take(judged.judgments.score.codes < 0), options)
    all_questions = _count_by_judge(judged, options) if unread else {}
    for judge, languages in unread.items():
        where = [f"{n:,} of {all_questions[judge][tag]:,} in {tag}" for tag, n in sorted(languages.items())]
        languages_in_words = _join_names(where, "languages")
        yield f"People's means rest on items without a readable score of {judge} too (items times metrics): {languages_in_words}."


def count_left_out(judged: JudgedTable, options: MeasureOptions) -> dict[str, tuple[int, int]]:
    """Return `{metric: (items left out, labelled items)}`: judged items without a reference, because no class is the commonest.

    Only the rule `drop` leaves items out; the median always exists, and `strict` counts such items as disagreement. Metrics that leave
    nothing out are not named.
    """
    if options.level != "item" or options.majority != "drop":
        return {}
    left_out = {}
    for metric, rows in judged.rows_by_metric.items():
        items = np.unique(judged.item[rows])
        labelled, compared = int(judged.labels[metric].labelled[items].sum()), int(judged.labels[metric].compared[items].sum())
        if compared < labelled:
            left_out[metric] = (labelled - compared, labelled)
    return left_out


def left_out_notes(left_out: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    """Yield a sentence on what `count_left_out` returns; none if nothing is left out."""
    if left_out:
        where = [f"{dropped:,} of {labelled:,} for {metric}" for metric, (dropped, labelled) in left_out.items()]
        yield (
            f"Texts on which people split evenly are left out: {_join_names(where, 'metrics')}. "
            "--majority strict counts them as disagreement; --majority median takes the middle label."
        )


def uneven_notes(judged: JudgedTable, options: MeasureOptions) -> Iterator[str]:
    """Yield a sentence on judges that have more repeats of some items than of others in one cell; none if repeats are even.

    The judgments of a cell count alike, by design: `n_ref` is items times repeats. So uneven repeats weight the items.
    """
    if options.level != "item":
        return
    classes = {
        metric: 0 for metric, labels in judged.labels.items() if not labels.classes.continuous
    }  # correlations of numbers average repeats
    counts = judged.counted & (judged.judgments.metric.recode(classes) == 0)
    table = judged.take(np.flatnonzero(counts))
    of_cell = combination_ids(table.columns(options.by).values(), np.zeros(len(table), np.int8))
    alike = combination_ids([*table.columns(_QUESTION).values(), table.source], of_cell)
    question = combination_ids([], alike.astype(np.int64) * len(judged.data.items) + table.item)
    once, times = first_rows(question), np.bincount(question)
    least, most = (np.full(int(alike.max(initial=-1)) + 1, start) for start in (len(table), 0))
    np.minimum.at(least, alike[once], times)
    np.maximum.at(most, alike[once], times)
    uneven = once[(least < most)[alike[once]]]
    if len(uneven):
        judges = dict.fromkeys(str(judge) for judge in table.judgments.judge.take(uneven))
        fewest, highest = int(least[alike[uneven]].min()), int(most[alike[uneven]].max())
        yield (
            f"Items were answered {fewest:,} to {highest:,} times by {_join_names(list(judges), 'judges')}. Every repeat counts as one "
            "judgment, so items with more repeats weigh more in agreement and the other numbers of a cell. Verdicts average the repeats of "
            "an item first."
        )


def _join_names(names: Sequence[str], what: str) -> str:
    """Return `a, b, c and 3 more judges (--json has all)`."""
    more = len(names) - _FEW
    return ", ".join(names[:_FEW]) + (f" and {more} more {what} (--json has all)" if more > 0 else "")


def _count_by_judge(judged: JudgedTable, options: MeasureOptions) -> dict[Any, dict[Any, int]]:
    """Return `{judge: {language: number of questions with a reference}}`; each question counts once."""
    table = judged.take(np.flatnonzero(judged.counted))
    once = table.take(first_rows(combination_ids(table.columns(_QUESTION).values(), table.item)))
    keys, which = factorise({"judge": once.judgments.judge, "language": item_key(judged.data, "language").take(once.item)}, len(once))
    questions: dict[Any, dict[Any, int]] = {}
    for key, count in zip(keys, np.bincount(which, minlength=len(keys)).tolist(), strict=True):
        questions.setdefault(key["judge"], {})[key["language"]] = count
    return questions


def _add_unasked(judged: JudgedTable) -> JudgedTable:
    """Return the judgments and, after them, the questions that were not asked."""
    return judged if judged.unasked is None else JudgedTable.concatenate([judged, judged.unasked])
