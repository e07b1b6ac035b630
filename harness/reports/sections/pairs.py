"""Pairs: the judge's choices between two outputs, the wins of each system, and the effect of position."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.data.columns import CodedColumn
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.measure.condition_rows import Row, new_row, put_number, put_share, rows_by_level, section
from harness.measure.options import Drawing, MeasureOptions
from harness.reports.sections.section import FEW_NAMES, JudgmentsWithItems, Section, SectionNumbers, SectionTable, range_by_language
from harness.reports.tables.columns import COEFFICIENT, COUNT_OR_BLANK, SHARE, Column
from harness.stats.core.arrays import Floats, Ints
from harness.stats.intervals.intervals import Interval
from harness.stats.ranking import BradleyTerry, bradley_terry
from harness.text import terminal_safe

LEVELS = (("language", "metric"), ("language", "task", "metric"), ("metric",))
NOTE = (
    "Choices are in the item's own order. first_position: how often the text that was read first is chosen, ties half. ambiguous: of pairs "
    "that were asked in both orders, the share in which the choice changes with the order. same_choice: of questions that were asked twice "
    "or more, the share with the same choice every time. win_rate: how often a system's text is chosen, ties half. strength: Bradley-Terry "
    "log-odds, their sum 0, with a term for the first place (position); intervals are clustered by source text. Pairs of equal texts count "
    "in `identical` only."
)
FROM_PROBABILITIES, FROM_CHOICES = "token probabilities", "choices"


@dataclass(frozen=True, eq=False)
class _Choices:
    """Judgments of pairs, one row each. `share` is how much of the choice goes to the item's first text, NaN without a choice.

    `stated` is the same from token probabilities. `swapped`: the second text was read first. `equal`: both texts are the same. `first` and
    `second` are codes of `systems`, -1 where an item does not name them.
    """

    columns: dict[str, CodedColumn]
    item: Ints
    repeat: Ints
    group: Ints
    share: Floats
    stated: Floats
    swapped: NDArray[np.bool_]
    equal: NDArray[np.bool_]
    first: Ints
    second: Ints
    systems: tuple[str, ...]
    names: tuple[str, ...]  # of items

    def take(self, rows: NDArray[Any]) -> _Choices:
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        arrays = ("item", "repeat", "group", "share", "stated", "swapped", "equal", "first", "second")
        return replace(self, columns=columns, **{name: getattr(self, name)[rows] for name in arrays})

    @property
    def named(self) -> NDArray[np.bool_]:
        """The mask of judgments whose item names both systems."""
        return (self.first >= 0) & (self.second >= 0)

    @property
    def shown_first(self) -> Floats:
        """The share of the choice that goes to the text that was read first."""
        return np.where(self.swapped, 1 - self.share, self.share)


def summarise_pairs(data: Dataset, judgments: Judgments, options: MeasureOptions) -> SectionNumbers | None:
    """Return the section of choices between two outputs; None without any. Labels are not needed.

    `rows` are by language, task, metric, judge and condition (`*`: pooled), `systems` adds a row for each system. `identical` names the
    pairs of equal texts, `unnamed` the other pairs that do not name both systems: those count in no row of `systems`.
    """
    if not any(data.scales[metric].swap for metric in judgments.metric.used):
        return None
    choices = _collect_choices(data, judgments.clean)
    if not len(choices.item):
        return None
    drawing = options.drawing
    rows: list[Row] = []
    systems: list[Row] = []
    for key, cell_rows in rows_by_level(choices.columns, LEVELS):
        cell = choices.take(cell_rows)
        differing = cell.take(~cell.equal)
        fitted = _fit_strengths(differing)
        row = new_row(key, n=len(differing.item), pairs=len(np.unique(differing.item)), groups=len(np.unique(differing.group)))
        row |= {"unreadable": int(np.isnan(differing.share).sum()), "identical": len(np.unique(cell.item[cell.equal]))}
        put_share(row, "first_position", differing.shown_first, differing.group, drawing, "no choice")
        question, first = _number_questions(differing, differing.repeat)
        by_order = np.full((2, len(first)), np.nan)
        by_order[differing.swapped.astype(int), question] = differing.share
        flips = np.where(np.isnan(by_order).any(axis=0), np.nan, (by_order[0] != by_order[1]).astype(float))
        put_share(row, "ambiguous", flips, differing.group[first], drawing, "no pair was asked in both orders")
        question, first = _number_questions(differing, differing.swapped.astype(np.int64))
        chosen = ~np.isnan(differing.share)
        lowest, highest = np.full(len(first), np.inf), np.full(len(first), -np.inf)
        np.minimum.at(lowest, question[chosen], differing.share[chosen])
        np.maximum.at(highest, question[chosen], differing.share[chosen])
        times = np.bincount(question[chosen], minlength=len(first))
        same = np.where(times >= 2, (lowest == highest).astype(float), np.nan)
        put_share(row, "same_choice", same, differing.group[first], drawing, "no question was asked twice")
        value, low, high = fitted.position
        put_number(row, "position", value, _make_interval(low, high, fitted), why=fitted.position_reason or fitted.reason)
        rows.append(row)
        systems += _system_rows(key, differing, fitted, drawing)
    identical, unnamed = (
        sorted({choices.names[item] for item in choices.item[mask].tolist()}) for mask in (choices.equal, ~choices.equal & ~choices.named)
    )
    return section("Pairs", rows, note=NOTE, systems=systems, identical=identical, unnamed=unnamed)


def _collect_choices(data: Dataset, judgments: Judgments) -> _Choices:
    """Return the judgments on scales that an exchange of texts can turn, of known items."""
    credits = {metric: data.scales[metric].share_of_first for metric in judgments.metric.used if data.scales[metric].swap}
    placed = JudgmentsWithItems.select(data, judgments, judgments.metric.recode(dict.fromkeys(credits, 0)) == 0)
    judgments, item = placed.judgments, placed.item
    share = [credits[metric].get(score, np.nan) for metric, score in zip(judgments.metric, judgments.score, strict=True)]
    names = [[item.fields.get(key) or None for item in data.items] for key in ("system_a", "system_b")]
    systems = {name: code for code, name in enumerate(sorted({str(name) for side in names for name in side if name}))}
    codes = [np.array([-1 if name is None else systems[str(name)] for name in side], np.int64) for side in names]
    outputs = ((item.fields.get("output_a"), item.fields.get("output_b")) for item in data.items)
    equal = [isinstance(first, str) and isinstance(second, str) and first.strip() == second.strip() for first, second in outputs]
    return _Choices(
        columns=placed.columns,
        item=item,
        repeat=np.array([number or 0 for number in judgments.repeat], np.int64),
        group=placed.group,
        share=np.array(share, np.float64),
        stated=np.array([np.nan if value is None else value for value in judgments.share_a], np.float64),
        swapped=judgments.order.equals("swapped"),
        equal=np.array(equal, bool)[item],
        first=codes[0][item],
        second=codes[1][item],
        systems=tuple(systems),
        names=tuple(item.item_id for item in data.items),
    )


def _number_questions(cell: _Choices, second_key: Ints) -> tuple[Ints, Ints]:
    """Return the number of each row's question, and the first row of each: the same item and second key, under one condition."""
    key = np.stack([cell.item, second_key], axis=1)
    _, first, question = np.unique(key, axis=0, return_index=True, return_inverse=True)
    return question.ravel(), first


def _fit_strengths(cell: _Choices) -> BradleyTerry:
    """Return the Bradley-Terry strengths of all systems that occur; texts are in the order in which they were read."""
    pairs_of_systems = cell.take(cell.named)
    systems, codes = np.unique(np.concatenate([pairs_of_systems.first, pairs_of_systems.second]), return_inverse=True)
    first, second = np.split(codes.ravel(), 2)
    read_first, read_second = np.where(pairs_of_systems.swapped, second, first), np.where(pairs_of_systems.swapped, first, second)
    return bradley_terry(read_first, read_second, pairs_of_systems.shown_first, len(systems), pairs_of_systems.group)


def _system_rows(key: dict[str, Any], cell: _Choices, fitted: BradleyTerry, drawing: Drawing) -> Iterator[Row]:
    pairs_of_systems = cell.take(cell.named)
    for index, code in enumerate(np.unique(np.concatenate([pairs_of_systems.first, pairs_of_systems.second])).tolist()):
        of_system = pairs_of_systems.take((pairs_of_systems.first == code) != (pairs_of_systems.second == code))
        row = new_row({**key, "system": of_system.systems[code]}, n=len(of_system.item), pairs=len(np.unique(of_system.item)))
        won = np.where(of_system.first == code, of_system.share, 1 - of_system.share)
        put_share(row, "win_rate", won, of_system.group, drawing, "no choice")
        # how much of each pair goes to the system: the mean over orders, then repeats
        source = FROM_CHOICES if np.isnan(of_system.stated).all() else FROM_PROBABILITIES
        share = of_system.share if source == FROM_CHOICES else of_system.stated
        share_of_system = np.where(of_system.first == code, share, 1 - share)
        items, first, item = np.unique(of_system.item, return_index=True, return_inverse=True)
        total, count = np.zeros((2, len(items))), np.zeros((2, len(items)))
        chosen = ~np.isnan(share_of_system)
        position = of_system.swapped.astype(int)[chosen], item[chosen]
        np.add.at(total, position, share_of_system[chosen])
        np.add.at(count, position, 1)
        by_order = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        orders = (~np.isnan(by_order)).sum(axis=0)
        confidence = np.where(orders > 0, np.nansum(by_order, axis=0) / np.maximum(orders, 1), np.nan)
        put_share(row, "confidence", confidence, of_system.group[first], drawing, "no choice")
        row["confidence_from"] = source
        interval = _make_interval(fitted.low[index], fitted.high[index], fitted)
        put_number(row, "strength", float(fitted.strengths[index]), interval, why=fitted.reason)
        yield row


def _make_interval(low: float, high: float, fitted: BradleyTerry) -> Interval:
    return Interval(float(low), float(high), "clustered by source text", fitted.groups, None, fitted.interval_reason)


def _describe_position(numbers: SectionNumbers) -> str:
    """Return the range of choices of the first place, where confidences are from, and the pairs of equal texts."""
    sentences = [range_by_language("first_position", "The text that is read first is chosen")(numbers)]
    sources = {row["confidence_from"] for row in numbers["systems"]}
    if sources:
        sentences.append(f"Confidences are from {' and '.join(sorted(sources))}.")
    if equal := numbers["identical"]:
        are = "pair has the same text twice and is" if len(equal) == 1 else "pairs have the same text twice and are"
        sentences.append(f"{len(equal)} {are} left out: {_first_names(equal)}.")
    if unnamed := numbers["unnamed"]:
        several = "1 pair does" if len(unnamed) == 1 else f"{len(unnamed)} pairs do"
        sentences.append(
            f"{several} not name both systems (system_a, system_b), so systems cannot be compared there: {_first_names(unnamed)}."
        )
    return terminal_safe(" ".join(filter(None, sentences)))


def _first_names(names: Sequence[str]) -> str:
    return ", ".join(names[:FEW_NAMES]) + (" and others" if len(names) > FEW_NAMES else "")


_COUNTS = (
    Column("n", "choices", COUNT_OR_BLANK, "answers about pairs of different texts"),
    Column("pairs", "pairs", COUNT_OR_BLANK, "pairs of different texts"),
)
_CHOICES = (
    *_COUNTS,
    Column("unreadable", "unread", COUNT_OR_BLANK, "answers without a readable choice"),
    Column("identical", "equal", COUNT_OR_BLANK, "pairs of equal texts; they count nowhere else"),
    Column(
        "first_position",
        "first place",
        SHARE,
        "how often the text that was read first is chosen, ties half; 50 % if the place does not matter",
    ),
    Column("ambiguous", "ambiguous", SHARE, "the share of pairs in which the choice changes with the order of the texts"),
    Column("same_choice", "same choice", SHARE, "the share of repeated questions with the same choice every time"),
    Column("position", "log-odds of place", COEFFICIENT, "what the first place adds to a system's strength"),
)
_SYSTEMS = (
    *_COUNTS,
    Column("win_rate", "wins", SHARE, "how often the system's text is chosen, ties half"),
    Column("confidence", "confidence", SHARE, "how much of the judge's choice goes to the system's text, the mean of both orders"),
    Column("strength", "strength", COEFFICIENT, "Bradley-Terry strength in log-odds; the strengths of a table's systems add up to 0"),
)

PAIRS = Section(
    "pairs",
    "Which of two texts does the judge choose, and does the choice follow the place of a text?",
    _describe_position,
    (SectionTable(_CHOICES), SectionTable(_SYSTEMS, "systems", ("system",))),
    lambda inputs: summarise_pairs(inputs.recording.data, inputs.recording.judgments, inputs.options),
    needs_labels=False,
)
