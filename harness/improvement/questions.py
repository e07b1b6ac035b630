"""The questions that candidates are compared on: a text, on one metric, with the label that most people gave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.measure.options import CompareOptions, annotators_needed
from harness.measure.units import item_key, votes
from harness.model import Score
from harness.stats import aggregate_counts
from harness.stats.core.arrays import Ints


class LabelledQuestion(NamedTuple):
    """A text, in its language, on one metric."""

    language: str
    metric: str
    item_id: str


@dataclass(frozen=True, eq=False)
class LabelledQuestions:
    """Questions with a commonest label. `label` has the codes of these labels, `group` of what texts share, of all languages alike."""

    questions: tuple[LabelledQuestion, ...]
    label: Ints
    group: Ints

    def __len__(self) -> int:
        return len(self.questions)

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(sorted({question.language for question in self.questions}))

    @property
    def language(self) -> Ints:
        """(questions,) codes of `languages`."""
        code = {tag: at for at, tag in enumerate(self.languages)}
        return np.array([code[question.language] for question in self.questions], np.int64)

    @property
    def items(self) -> tuple[str, ...]:
        """The ids of the texts, in order."""
        return tuple(dict.fromkeys(question.item_id for question in self.questions))

    @property
    def groups(self) -> int:
        """How many independent texts there are."""
        return len(np.unique(self.group))

    def take(self, rows: NDArray[np.bool_] | Ints) -> LabelledQuestions:
        """The questions of some rows: a mask, or row numbers in their order."""
        chosen = np.flatnonzero(rows) if rows.dtype == bool else rows
        return LabelledQuestions(tuple(self.questions[at] for at in chosen.tolist()), self.label[chosen], self.group[chosen])

    def beside(self, other: LabelledQuestions) -> LabelledQuestions:
        """These questions and then others, of the same data."""
        both = zip((self.label, self.group), (other.label, other.group), strict=True)
        return LabelledQuestions((*self.questions, *other.questions), *(np.concatenate(each) for each in both))


def labelled_questions(data: Dataset, compare: CompareOptions) -> LabelledQuestions:
    """Every question of the data with a commonest label, in the order of language, metric and text.

    Metrics with continuous scores are left out. Raises UsageError as `measure.votes`.
    """
    group = item_key(data, "group").codes.astype(np.int64)
    rows = sorted((question, code, int(group[at])) for question, code, at, _ in _commonest(data, compare))
    questions, labels, groups = zip(*rows, strict=True) if rows else ((), (), ())
    return LabelledQuestions(tuple(questions), np.array(labels, np.int64), np.array(groups, np.int64))


def commonest_labels(data: Dataset, compare: CompareOptions) -> dict[LabelledQuestion, Score]:
    """The commonest label of every question that has one. Raises as `labelled_questions`."""
    return {question: score for question, _, _, score in _commonest(data, compare)}


def _commonest(data: Dataset, compare: CompareOptions) -> Iterator[tuple[LabelledQuestion, int, int, Score]]:
    """Each question with the code of its commonest label, its item's position, and the label."""
    for metric, of in votes(data, Judgments.from_rows(()), annotators_needed(compare, data.labels.max_annotators)).items():
        if of.classes.continuous:
            continue
        label = aggregate_counts(of.counts, "drop")
        for at in np.flatnonzero(label >= 0).tolist():
            item, code = data.items[at], int(label[at])
            yield LabelledQuestion(item.language, metric, item.item_id), code, at, of.classes.scores[code]
