"""Many judges on the same questions: their answers as arrays, and the credit of every possible answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.content.tags import choose_from
from harness.data.columns import NO_VALUE, CodedColumn, combination_ids
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.errors import UsageError
from harness.judges.baselines import BASELINES, TrainingCounts
from harness.measure.judged_table import JudgedTable, item_key
from harness.measure.label_counts import LabelCounts, count_labels
from harness.measure.options import MeasureOptions, annotators_needed
from harness.model import Failure
from harness.stats import commonest, item_credits, judge_statistics
from harness.stats.core.arrays import Floats, Ints

MAJORITY = "majority"
FAILURES = tuple(str(kind) for kind in Failure)
_NO_ROW = FAILURES.index(Failure.MISSING)
RANKED_BY = ("pa_failed_wrong", "pa_pairwise", "judge_loo")
"""Statistics to rank judges by: means over questions in which an unreadable answer has the credit 0."""


@dataclass(frozen=True, eq=False)
class Questions:
    """The labelled pairs of item and metric of a data set, by number (units,)."""

    data: Dataset
    votes: dict[str, LabelCounts]  # by metric
    metrics: tuple[str, ...]
    languages: tuple[str, ...]
    item: Ints
    metric: Ints
    language: Ints
    group: Ints
    credits: Floats  # (units, k) of each class as an answer: NaN where labels say nothing, and beyond the classes of the metric's scale

    def __len__(self) -> int:
        return len(self.item)

    def mask_of(self, metric: str) -> NDArray[np.bool_]:
        """Return mask of one metric's questions."""
        mask: NDArray[np.bool_] = self.metric == self.metrics.index(metric)
        return mask

    def counts(self, metric: str, rows: NDArray[np.intp]) -> Ints:
        """Return how many annotators gave each class, (rows, k)."""
        return self.votes[metric].counts[self.item[rows]]

    def credit_of(self, code: NDArray[np.integer[Any]], rows: NDArray[np.intp] | slice = slice(None)) -> Floats:
        """Return the credits of the answers `code` (..., rows) to the questions `rows`; 0 for an answer without a readable score."""
        table = self.credits[rows]
        return np.where(code >= 0, table[np.arange(len(table)), np.maximum(code, 0)], np.where(np.isnan(table[:, 0]), np.nan, 0.0))


@dataclass(frozen=True, eq=False)
class AnswerMatrix:
    """The answers of several judges to the same questions under one variant."""

    questions: Questions
    variant: str
    judges: tuple[str, ...]
    score: NDArray[np.int16]  # (judges, repeats, units) the class that the judge gave, -1 without one
    failure: NDArray[np.int8]  # of the same shape: the index in `FAILURES` of the reason
    was_asked: NDArray[np.bool_]  # (judges, languages) anything


def questions_of(data: Dataset, judged: Sequence[Judgments], options: MeasureOptions, rank_by: str, metrics: Sequence[str]) -> Questions:
    """Return the questions that count: those on `metrics` whose items have as many annotators as `options` requires.

    `judged` matters for interval scales only, whose classes are the scores that occur. Raises UsageError for a `rank_by` that is not in
    `RANKED_BY`.
    """
    if rank_by not in RANKED_BY:
        raise UsageError(f"judges cannot be ranked by '{rank_by}'.{choose_from((*RANKED_BY, 'kendall_tau_within'), rank_by)}")
    intervals = any(scale.kind == "interval" for scale in data.scales.values())
    used = Judgments.concatenate(judged) if judged and intervals else Judgments.from_rows([])
    counted = count_labels(data, used, annotators_needed(options, data.labels.max_annotators), options.majority) if len(data.labels) else {}
    counted = {metric: counted[metric] for metric in metrics if metric in counted}
    if continuous := [metric for metric, labels in counted.items() if labels.classes.continuous]:
        raise UsageError(
            f"'{continuous[0]}' has continuous scores, and judges cannot be ranked by '{rank_by}' on them; "
            'rank_by = "kendall_tau_within" can'
        )
    rows = [np.flatnonzero(labels.counts.any(axis=1)) for labels in counted.values()]
    item = np.concatenate([*rows, np.empty(0, np.int64)]).astype(np.int64)
    widest = max((len(labels.classes.scores) for labels in counted.values()), default=1)
    credits = np.concatenate(
        [*(_compute_credits(labels, items, options, rank_by, widest) for labels, items in zip(counted.values(), rows, strict=True))]
        or [np.empty((0, widest))]
    )
    language, group = item_key(data, "language"), data.clusters
    return Questions(
        data,
        counted,
        tuple(counted),
        tuple(language.values),
        item,
        np.repeat(np.arange(len(rows)), [len(items) for items in rows]),
        language.codes[item].astype(np.int64),
        group.codes[item].astype(np.int64),
        credits,
    )


def _compute_credits(labels: LabelCounts, items: Ints, options: MeasureOptions, rank_by: str, width: int) -> Floats:
    """Return the credit of each class on each item, (items, width)."""
    classes, counts = labels.classes, labels.counts[items]
    k = len(classes.scores)
    statistics = judge_statistics(k, classes.kind, classes.values, rule=options.majority, direction=classes.direction)
    [statistic] = [candidate for candidate in statistics if candidate.name == rank_by]
    out = np.full((len(items), width), np.nan)
    for code in range(k):
        out[:, code] = item_credits(statistic, counts, np.full(len(items), code))
    return out


def answer_matrix(questions: Questions, judgments: Mapping[str, Judgments], variant: str, repeats: int) -> AnswerMatrix:
    """Return the judges' answers under one variant to the questions that count. Judgments of perturbed texts are left out."""
    shape = (len(judgments), repeats, len(questions))
    score, failure = np.full(shape, NO_VALUE, np.int16), np.full(shape, _NO_ROW, np.int8)
    was_asked = np.zeros((len(judgments), len(questions.languages)), bool)
    # The last row and the last column are for metrics and items that do not count.
    question_of = np.full((len(questions.metrics) + 1, len(questions.data.items) + 1), -1, np.int64)
    question_of[questions.metric, questions.item] = np.arange(len(questions))
    for number, answers in enumerate(judgments.values()):
        table = JudgedTable.align(questions.data, answers.clean, questions.votes)
        rows = table.judgments
        metric = rows.metric.recode({name: code for code, name in enumerate(questions.metrics)})
        unit = question_of[metric, table.item]
        repeat = np.array([*rows.repeat.values, 0], np.int64)[rows.repeat.codes]
        why = np.array([*(FAILURES.index(str(kind)) for kind in rows.failure.values), _NO_ROW], np.int8)[rows.failure.codes]
        counted = np.flatnonzero((unit >= 0) & rows.variant.equals(variant) & (repeat < repeats))
        score[number, repeat[counted], unit[counted]] = table.code[counted]
        failure[number, repeat[counted], unit[counted]] = why[counted]
        was_asked[number, np.unique(questions.language[unit[counted]])] = True
    return AnswerMatrix(questions, variant, tuple(judgments), score, failure, was_asked)


def guesses(questions: Questions, training: Dataset, baseline: str = MAJORITY) -> Ints:
    """Return the class that a baseline gives to every question, (units,); -1 where it gives none.

    `majority` gives the commonest label of the development items; without such items, the commonest reference of the language, task and
    metric.
    """
    learnt = TrainingCounts(training)
    codes = np.full(len(questions), -1, np.int64)
    for name, labels in questions.votes.items():
        rows = np.flatnonzero(questions.mask_of(name))
        items = [questions.data.items[position] for position in questions.item[rows].tolist()]
        index, rule, scale = labels.classes.index(), BASELINES[baseline], questions.data.scales[name]
        blind = baseline == MAJORITY
        scores = [None if blind and not learnt.development(item, name) else rule(item, name, scale, learnt, "") for item in items]
        codes[rows] = [index.get(score, -1) for score in scores]
        if blind:
            reference = labels.reference[questions.item[rows]]
            stratum = combination_ids([CodedColumn.from_values(item.task for item in items)], questions.language[rows])
            codes[rows] = np.where(codes[rows] >= 0, codes[rows], commonest(reference, len(labels.classes.scores), stratum))
    return codes
