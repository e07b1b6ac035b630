"""The questions that candidates are compared on, each with its reference, and which candidates answered them as people do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from harness.correction.cell_results import UnreadCells
from harness.data.dataset import Dataset
from harness.data.judgments import NO_VARIANT, Judgments
from harness.errors import JudgeError, UsageError
from harness.measure.compare import Recording, align, refuse_median_of_names
from harness.measure.item_table import item_tables
from harness.measure.judged_table import JudgedTable
from harness.measure.label_counts import LabelCounts, count_labels
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
    """The labels of the judged table with a row for each question, whoever was asked.

    Attributes:
        data, labels: the items, and their labels as counts, by metric.
        questions: one a row.
        item: (questions,) positions among the items of the data.
    """

    data: Dataset
    labels: Mapping[str, LabelCounts]
    questions: tuple[LabelledQuestion, ...]
    item: Ints

    @classmethod
    def of(cls, data: Dataset, labels: Mapping[str, LabelCounts]) -> LabelledQuestions:
        """Return every question that answers are compared with, in the order of language, metric and text; none with continuous scores."""
        rows = sorted(
            (LabelledQuestion(data.items[item].language, metric, data.items[item].item_id), item)
            for metric, counts in labels.items()
            if not counts.classes.continuous
            for item in np.flatnonzero(counts.compared).tolist()
        )
        return cls(data, labels, tuple(question for question, _ in rows), np.array([item for _, item in rows], np.int64))

    def __len__(self) -> int:
        return len(self.questions)

    @cached_property
    def label(self) -> Ints:
        """(questions,) codes of the references; negative without a commonest label (under `strict`), with which no answer agrees."""
        references = zip(self.questions, self.item.tolist(), strict=True)
        return np.array([self.labels[question.metric].reference[item] for question, item in references], np.int64)

    @cached_property
    def group(self) -> Ints:
        """(questions,) codes of what texts share, of all languages alike."""
        return self.data.clusters.codes[self.item].astype(np.int64)

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
        return replace(self, questions=tuple(self.questions[row] for row in chosen.tolist()), item=self.item[chosen])

    def concatenate(self, other: LabelledQuestions) -> LabelledQuestions:
        """Return these questions and then others, of the same data."""
        return replace(self, questions=(*self.questions, *other.questions), item=np.concatenate([self.item, other.item]))


def readable_questions(questions: LabelledQuestions, unread: Iterable[UnreadCells]) -> NDArray[np.bool_]:
    """Return (questions,) True where a question is in none of the languages and metrics that were left out.

    Raises JudgeError where none is left.
    """
    cells = {(left_out.key.get("language"), left_out.key.get("metric")): left_out for left_out in unread}
    readable = np.array([(question.language, question.metric) not in cells for question in questions.questions], bool)
    if cells and not readable.any():
        raise JudgeError(f"{next(iter(cells.values())).sentence()} No other question has labels to compare candidates with")
    return readable


def labelled_questions(data: Dataset, compare: MeasureOptions) -> LabelledQuestions:
    """Return the questions of data that no judge was asked about yet. Raises UsageError as `count_labels`, and for a median of names."""
    needed = annotators_needed(compare, data.most_annotators)
    labels = count_labels(data, Judgments.from_rows(()), needed, compare.majority)
    refuse_median_of_names(labels, compare)
    return LabelledQuestions.of(data, labels)


def commonest_labels(data: Dataset, compare: MeasureOptions) -> dict[LabelledQuestion, Score]:
    """Return the reference of every question that has one. Raises as `labelled_questions`."""
    questions = labelled_questions(data, compare)
    codes = zip(questions.questions, questions.label.tolist(), strict=True)
    return {question: questions.labels[question.metric].classes.scores[code] for question, code in codes if code >= 0}


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
        self, source: Recording, candidates: tuple[JudgeCondition, ...], right: Mapping[LabelledQuestion, Mapping[JudgeCondition, float]]
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
    judged = align([source], compare).tables[0]
    right = right_by_question(judged)
    candidates = tuple(dict.fromkeys(candidate for answers in right.values() for candidate in answers))
    if len(candidates) < least:
        raise UsageError(_too_few_candidates(source.name, candidates))
    questions = LabelledQuestions.of(judged.data, judged.labels)
    questions = questions.take(np.array([len(right.get(question, ())) == len(candidates) for question in questions.questions], bool))
    if not len(questions):
        raise UsageError("no text was put to all candidates on one metric; choose candidates with --judge or --where variant=NAMES")
    return questions, RecordedCandidates(source, candidates, right)


def _too_few_candidates(name: str, candidates: Sequence[JudgeCondition]) -> str:
    if not candidates:
        return (
            f"there is nothing to choose from: {name} has no judge whose scores are classes of the labels' scale, and a candidate is right "
            f"where it gives the commonest label. 'harness compare {name}' compares numbers; --judge openai/MODEL asks for classes"
        )
    return (
        f"there is nothing to choose between: {name} has one judge under one condition ({candidates[0]}). Ask under several "
        "(harness run --variant A --variant B), ask several judges, or let this command ask: --judge openai/MODEL"
    )


def right_by_question(judged: JudgedTable) -> dict[LabelledQuestion, dict[JudgeCondition, float]]:
    """Return 1 for each judge but baselines that gave a question's reference, 0 for each other one that was asked."""
    right: dict[LabelledQuestion, dict[JudgeCondition, float]] = {}
    for cell in item_tables(judged):
        if not cell.is_baseline and not cell.classes.continuous:
            for item, is_compared, is_right in zip(cell.item_ids, cell.compared.tolist(), cell.right.tolist(), strict=True):
                if is_compared:
                    right.setdefault(LabelledQuestion(*cell.language_and_metric, item), {})[cell.condition] = float(is_right)
    return right
