"""The questions that candidates are compared on, each with its reference, and which candidates answered them as people do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from harness.data.dataset import Dataset
from harness.data.judgments import NO_VARIANT, Judgments
from harness.errors import UsageError
from harness.measure.compare import Recording, align, refuse_median_of_names
from harness.measure.item_table import item_tables
from harness.measure.judged_table import JudgedTable
from harness.measure.label_counts import count_labels
from harness.measure.options import MeasureOptions, annotators_needed
from harness.model import SAMPLING, JudgeCondition, Score
from harness.stats.core.arrays import Floats, Ints


class LabelledQuestion(NamedTuple):
    """A text, in its language, on one metric."""

    language: str
    metric: str
    item_id: str


@dataclass(frozen=True, eq=False)
class LabelledQuestions:
    """Questions with labels. `label` has the codes of the references, `group` of what texts share, of all languages alike.

    Under the rule `strict`, a question without a commonest label has a negative code: no answer agrees with it.
    """

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
        code = {tag: index for index, tag in enumerate(self.languages)}
        return np.array([code[question.language] for question in self.questions], np.int64)

    @property
    def items(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(question.item_id for question in self.questions))

    @property
    def groups(self) -> int:
        return len(np.unique(self.group))

    def take(self, rows: NDArray[np.bool_] | Ints) -> LabelledQuestions:
        """Return the questions of some rows: a mask, or row numbers in their order."""
        chosen = np.flatnonzero(rows) if rows.dtype == bool else rows
        return LabelledQuestions(tuple(self.questions[row] for row in chosen.tolist()), self.label[chosen], self.group[chosen])

    def beside(self, other: LabelledQuestions) -> LabelledQuestions:
        """Return these questions and then others, of the same data."""
        columns = zip((self.label, self.group), (other.label, other.group), strict=True)
        return LabelledQuestions((*self.questions, *other.questions), *(np.concatenate(parts) for parts in columns))


def labelled_questions(data: Dataset, compare: MeasureOptions) -> LabelledQuestions:
    """Return every question of the data that answers are compared with, in the order of language, metric and text.

    Metrics with continuous scores are left out. Raises UsageError as `measure.votes`, and for a median of classes without an order.
    """
    group = data.clusters.codes
    rows = sorted((question, code, int(group[position])) for question, code, position, _ in _commonest(data, compare))
    questions, labels, groups = zip(*rows, strict=True) if rows else ((), (), ())
    return LabelledQuestions(tuple(questions), np.array(labels, np.int64), np.array(groups, np.int64))


def commonest_labels(data: Dataset, compare: MeasureOptions) -> dict[LabelledQuestion, Score]:
    """Return the reference of every question that has one. Raises as `labelled_questions`."""
    return {question: score for question, _, _, score in _commonest(data, compare) if score is not None}


def _commonest(data: Dataset, compare: MeasureOptions) -> Iterator[tuple[LabelledQuestion, int, int, Score | None]]:
    """Yield each question with the code of its reference, its item's position, and the reference; None where no label is the commonest."""
    counted = count_labels(data, Judgments.from_rows(()), annotators_needed(compare, data.labels.max_annotators), compare.majority)
    refuse_median_of_names(counted, compare)
    for metric, counts in counted.items():
        if counts.classes.continuous:
            continue
        for position in np.flatnonzero(counts.compared).tolist():
            item, code = data.items[position], int(counts.reference[position])
            yield LabelledQuestion(item.language, metric, item.item_id), code, position, counts.classes.scores[code] if code >= 0 else None


class CandidateSet(Protocol):
    """Candidates whose judgments are recorded, or asked for when they are needed: all that choosing and confirming read."""

    @property
    def candidates(self) -> tuple[JudgeCondition, ...]: ...

    @property
    def labels_sha256(self) -> str:
        """The hash of all items and labels."""

    def right(self, candidates: Sequence[int], questions: LabelledQuestions) -> Floats:
        """Return (questions, candidates) 1 where a candidate gave the commonest label, else 0: an answer that cannot be read is wrong."""

    def recording(self, candidates: Sequence[int], questions: LabelledQuestions) -> Recording:
        """Return the judgments of these candidates on the texts of these questions, and perhaps further ones."""

    def flags(self, candidate: int) -> dict[str, Any]:
        """Return the flags of `harness run` that ask a candidate, as a specification file names them."""


class RecordedCandidates:
    """Candidates with their answers to all questions, as a run or a data folder has them."""

    def __init__(
        self, source: Recording, candidates: tuple[JudgeCondition, ...], right: dict[LabelledQuestion, dict[JudgeCondition, float]]
    ):
        self.candidates = candidates
        self.labels_sha256 = source.data.sha256
        self._source = source
        self._right = right

    def right(self, candidates: Sequence[int], questions: LabelledQuestions) -> Floats:
        chosen = [self.candidates[index] for index in candidates]
        return np.array([[self._right[question][candidate] for candidate in chosen] for question in questions.questions])

    def recording(self, candidates: Sequence[int], questions: LabelledQuestions) -> Recording:
        return self._source

    def flags(self, candidate: int) -> dict[str, Any]:
        judge, variant, *sampling = self.candidates[candidate]
        defined = {name: value for name, value in zip(SAMPLING, sampling, strict=True) if value is not None}
        return {"judge": [judge], **({} if variant == NO_VARIANT else {"variant": [variant]}), **defined}


def recorded_candidates(source: Recording, compare: MeasureOptions, least: int = 2) -> tuple[LabelledQuestions, RecordedCandidates]:
    """Return the questions of a recording that every judge and condition was asked, and the answers; baselines are no candidates.

    Raises UsageError with fewer candidates than `least`, where no question was put to all of them, and as `measure.align` does.
    """
    rows = dict(answers_by_question(align([source], compare).judged[0]))
    candidates = tuple(dict.fromkeys(candidate for row in rows.values() for candidate in row.right))
    if len(candidates) < least:
        raise UsageError(_too_few(source.name, candidates))
    complete = sorted(question for question, row in rows.items() if len(row.right) == len(candidates))
    if not complete:
        raise UsageError("no text was put to all candidates on one metric; choose candidates with --judge or --where variant=NAMES")
    questions = LabelledQuestions(
        tuple(complete),
        np.array([rows[question].label for question in complete], np.int64),
        np.array([rows[question].group for question in complete], np.int64),
    )
    return questions, RecordedCandidates(source, candidates, {question: rows[question].right for question in complete})


def _too_few(name: str, candidates: Sequence[JudgeCondition]) -> str:
    if not candidates:
        return (
            f"there is nothing to choose from: {name} has no judge whose scores are classes of the labels' scale, and a candidate is right "
            f"where it gives the commonest label. 'harness compare {name}' compares numbers; --judge openai/MODEL asks for classes"
        )
    return (
        f"there is nothing to choose between: {name} has one judge under one condition ({candidates[0]}). Ask under several "
        "(harness run --variant A --variant B), ask several judges, or let this command ask: --judge openai/MODEL"
    )


class AnsweredQuestion(NamedTuple):
    """A question's reference, its group, and for each candidate that was asked whether it gave this label."""

    label: int
    group: int
    right: dict[JudgeCondition, float]


def answers_by_question(judged: JudgedTable) -> Iterator[tuple[LabelledQuestion, AnsweredQuestion]]:
    """Yield the answers of all judges but baselines to the questions that have labels."""
    answered: dict[LabelledQuestion, AnsweredQuestion] = {}
    group = judged.data.clusters.codes
    for cell in item_tables(judged):
        if cell.is_baseline or cell.classes.continuous:
            continue
        candidate, label, right = cell.condition, cell.reference, cell.right
        for index in np.flatnonzero(cell.compared).tolist():
            item = judged.data.items[int(cell.item[index])]
            question = LabelledQuestion(*cell.place, item.item_id)
            row = answered.setdefault(question, AnsweredQuestion(int(label[index]), int(group[cell.item[index]]), {}))
            row.right[candidate] = float(right[index])
    yield from answered.items()
