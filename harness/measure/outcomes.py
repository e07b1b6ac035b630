"""Every single judgment beside the labels of its item: the answers behind the numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.data.columns import NO_VALUE, CodedColumn
from harness.data.dataset import Dataset
from harness.measure.compare import Recording, restricted_rows
from harness.measure.options import CompareOptions, annotators_needed
from harness.measure.units import LabelCounts, Units, asked_and_not, continuous_metrics, countable, joined_units, units_of, votes
from harness.stats import LEVELS, agreement_level
from harness.stats.core.arrays import Ints

RIGHT, WRONG, FAILED, NO_REFERENCE, CHANGED, NUMBER = OUTCOMES = ("right", "wrong", "failed", "no reference", "changed text", "number")
"""In this order: equal to the annotators' aggregate; another class; no score; no aggregate; perturbed text, which has no labels; a number.

On interval scales the reference is the annotators' mean, and no score is right or wrong: it is a `number` at some distance from the mean.
"""


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The judgments of one recording, each with its outcome: of unchanged texts, of perturbed ones, and missing judgments."""

    data: Dataset
    units: Units
    row: Ints  # (units,) the index of the judgment in the recording, -1 if it is missing
    reference: CodedColumn  # the annotators' aggregate
    agreement: CodedColumn  # how far they agree: `full`, `partial`, `none`; no value with fewer than two annotators
    outcome: CodedColumn  # one of `OUTCOMES`
    compared: NDArray[np.bool_]  # what the numbers rest on: unchanged texts with a reference (at the level of systems: with a label)

    def __len__(self) -> int:
        return len(self.units)


def outcomes(source: Recording, options: CompareOptions) -> Outcomes:
    """The outcomes of a recording, restricted as `compare` restricts it. Raises UsageError as `compare` does."""
    data, judged = restricted_rows(source.data, source.judgments, options)
    asked = source.judgments.take(judged)
    needed = annotators_needed(options, data.labels.max_annotators)
    continuous = continuous_metrics(source.data, source.judgments.clean)
    counted = votes(data, asked.clean, needed, options.majority, continuous=continuous) if len(data.labels) else {}
    clean = asked.is_clean
    every = units_of(data, asked, source.name)
    plain = every.take(clean)
    whole, _ = asked_and_not(plain, data, counted, source.asked, source.judgments.clean)
    units = joined_units([whole, every.take(~clean)])
    missing = np.full(len(whole) - len(plain), NO_VALUE)
    row = np.concatenate([judged[clean], missing, judged[~clean]])
    clean = units.judgments.is_clean
    reference, agreement = _of_people(units, counted)
    known = countable(units, counted, msgspec.structs.replace(options, level="item"))
    compared = clean & countable(units, counted, options)
    metrics = units.judgments.metric
    order_only = metrics.among([metric for metric, of in counted.items() if of.classes.order_only])
    interval = metrics.among([metric for metric, of in counted.items() if of.scores is not None])
    number = interval & ~order_only & (reference.codes != NO_VALUE)
    return Outcomes(data, units, row, reference, agreement, _outcome(units, clean, known & ~order_only, number, reference), compared)


def _of_people(units: Units, counted: dict[str, LabelCounts]) -> tuple[CodedColumn, CodedColumn]:
    """The annotators' aggregate and their agreement, for every unit."""
    values: dict[Any, int] = {}
    reference, level = np.full(len(units), NO_VALUE, np.int32), np.full(len(units), NO_VALUE, np.int32)
    for metric, of in counted.items():
        here = np.flatnonzero(units.judgments.metric.equals(metric))
        counts = of.counts[units.item[here]]
        if not of.classes.continuous:
            level[here] = agreement_level(counts, None)
        if of.scores is not None:
            means = of.scores.raw_mean[units.item[here]]
            different, place = np.unique(means[~np.isnan(means)], return_inverse=True)
            codes = np.array([values.setdefault(score, len(values)) for score in different.tolist()], np.int32)
            reference[here[~np.isnan(means)]] = codes[place] if len(codes) else NO_VALUE
            continue
        found = of.reference[units.item[here]]
        codes = np.array([values.setdefault(score, len(values)) for score in of.classes.scores], np.int32)
        reference[here] = np.where(found >= 0, codes[np.maximum(found, 0)] if len(codes) else NO_VALUE, NO_VALUE)
    return CodedColumn(tuple(values), reference), CodedColumn(LEVELS, level)


def _outcome(
    units: Units, clean: NDArray[np.bool_], known: NDArray[np.bool_], number: NDArray[np.bool_], reference: CodedColumn
) -> CodedColumn:
    score = units.judgments.score.recode({value: code for code, value in enumerate(reference.values)})
    right = (score == reference.codes) & (score != NO_VALUE)
    kinds = [units.judgments.score.codes == NO_VALUE, ~clean, number, ~known, right]
    codes = np.select(kinds, [OUTCOMES.index(name) for name in (FAILED, CHANGED, NUMBER, NO_REFERENCE, RIGHT)], OUTCOMES.index(WRONG))
    return CodedColumn(OUTCOMES, codes.astype(np.int32))
