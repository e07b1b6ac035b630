"""Agreement judgment by judgment: of the judge and the baseline with the aggregate, of the judge and each annotator with the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from harness.data.columns import Codes, combination_ids
from harness.data.dataset import Dataset
from harness.measure.units import Classes, LabelCounts, Units, item_key
from harness.model import CONDITION
from harness.stats import commonest
from harness.stats.core.arrays import Floats, Ints
from harness.stats.intervals.noninferiority import matched_gap


def unit_hits(units: Units, counted: Mapping[str, LabelCounts]) -> tuple[Floats, Ints]:
    """Of every unit, (units,): whether it agrees with the aggregate (1 or 0, NaN without one), and the class of its score (-1 without).

    Continuous scores agree or not to a degree only: they are NaN.
    """
    hit, score = np.full(len(units), np.nan), np.full(len(units), -1, np.int64)
    for metric, of in counted.items():
        rows = np.flatnonzero(units.judgments.metric.equals(metric))
        score[rows] = units.judgments.score.take(rows).recode(of.classes.index())
        if of.classes.continuous:
            continue
        hit[rows] = reference_hits(score[rows], of, units.item[rows])
    return hit, score


def reference_hits(code: Ints, labels: LabelCounts, item: Codes) -> Floats:
    """Return whether each answer agrees with its item's reference, failures as wrong: (answers,), NaN where the item is not compared."""
    return np.where(labels.compared[item], (code >= 0) & (code == labels.reference[item]), np.nan)


def baseline_hits(
    data: Dataset,
    units: Units,
    counted: Mapping[str, LabelCounts],
    learnt: Mapping[tuple[str, str], Any],
    weights: Floats | None = None,
) -> Floats:
    """Whether the majority baseline agrees with the aggregate on every unit: (units,), 1 or 0, NaN without an aggregate.

    The baseline gives the class that it has learnt (`{(item_id, metric): score}`), else the commonest of the unit's language, task,
    metric, judge and condition. `weights` (items,) say how much each item counts there; None: the same.
    """
    j, items = units.judgments, units.item
    place = combination_ids([item_key(data, "language")], item_key(data, "task").codes)
    stratum = combination_ids([*(j.columns[name] for name in CONDITION), units.source], place[items])
    hit = np.full(len(units), np.nan)
    for metric, of in counted.items():
        if of.classes.continuous:
            continue
        rows = np.flatnonzero(j.metric.equals(metric))
        reference = of.reference[items[rows]]
        questions = ((item, metric) for item in j.item.take(rows))
        weight = None if weights is None else weights[items[rows]]
        guessed = majority_classes(reference, of.classes, stratum[rows], learnt, questions, weight)
        hit[rows] = reference_hits(guessed, of, items[rows])
    return hit


def majority_classes(
    reference: Ints,
    classes: Classes,
    stratum: Ints,
    learnt: Mapping[tuple[str, str], Any] | None,
    questions: Iterable[tuple[str, str]],
    weights: Floats | None = None,
) -> Ints:
    """The class that the majority baseline gives to each unit, (units,): its learnt class, else the commonest of the unit's stratum.

    A judge that knows only the stratum of a text gains nothing beside it when strata are pooled.

    Args:
        reference: (units,) the class of the aggregate, negative without one.
        classes: those of the metric.
        stratum: (units,) what has one constant: language, task and metric, and where judges are not told apart elsewhere, the judge.
        learnt: `{(item_id, metric): score}`, from development items; questions that are missing have the constant.
        questions: the item and metric of every unit; read only if something was learnt.
        weights: (units,) how many units each stands for; without them each counts once.
    """
    constant = commonest(reference, len(classes.scores), stratum, weights)
    if not learnt:
        return constant
    index = classes.index()
    known = np.array([index.get(learnt.get(question), -1) for question in questions], np.int64)
    return np.where(known >= 0, known, constant)


def unit_gaps(units: Units, counted: Mapping[str, LabelCounts], score: Ints, weights: Mapping[str, Floats | None] = {}) -> Floats:
    """The judge's agreement with an item's annotators minus their agreement with each other: (units,) in [-1, 1].

    The judge's is the share of the annotators who gave its class, 0 for a failure; theirs the share of pairs of annotators who gave one
    class. Both are over the same people. NaN where an item has fewer than two annotators. `score` (units,) has class codes, negative for
    failures, as `unit_hits` gives them; `weights` says, as `{metric: (k, k)}`, how far two classes agree: without, only equal ones do.
    """
    gap = np.full(len(units), np.nan)
    for metric, of in counted.items():
        rows = np.flatnonzero(units.judgments.metric.equals(metric))
        gap[rows] = matched_gap(of.counts[units.item[rows]], score[rows], weights.get(metric))
    return gap


def mean_of_questions(question: Ints, values: Floats) -> Floats:
    """Mean of the values of each question over its repeats: (questions,), NaN where one has none; `question` numbers them from 0."""
    known = ~np.isnan(values)
    n = np.bincount(question[known], minlength=int(question.max(initial=-1)) + 1)
    return np.where(n > 0, np.bincount(question[known], values[known], minlength=len(n)) / np.maximum(n, 1), np.nan)
