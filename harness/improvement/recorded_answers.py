"""Which candidates answered which questions as people do: the seam between choosing and asking, and answers that are recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from harness.correct.scored_items import scored_items
from harness.data.judgments import NO_VARIANT
from harness.errors import UsageError
from harness.improvement.questions import LabelledQuestion, LabelledQuestions
from harness.judges import traits_of
from harness.measure.compare import Recording, align
from harness.measure.judged import JudgedData
from harness.measure.options import CompareOptions
from harness.model import SAMPLING, JudgeCondition
from harness.stats import aggregate_counts
from harness.stats.core.arrays import Floats


class CandidateAnswers(Protocol):
    """What choosing and confirming need of candidates, whether their answers are recorded or have to be asked for."""

    @property
    def candidates(self) -> tuple[JudgeCondition, ...]: ...

    @property
    def labels_sha256(self) -> str:
        """The hash of all items and labels."""

    def right(self, candidates: Sequence[int], questions: LabelledQuestions) -> Floats:
        """(questions, candidates) 1 where a candidate gave the commonest label, else 0: an answer that cannot be read is wrong."""

    def recording(self, candidates: Sequence[int], questions: LabelledQuestions) -> Recording:
        """The judgments of these candidates on the texts of these questions, and perhaps further ones."""

    def flags(self, candidate: int) -> dict[str, Any]:
        """The flags of `harness run` that ask a candidate, as a specification file names them."""


class RecordedAnswers:
    """Answers of all candidates to all questions, as a run or a data folder has them."""

    def __init__(
        self, source: Recording, candidates: tuple[JudgeCondition, ...], right: dict[LabelledQuestion, dict[JudgeCondition, float]]
    ):
        self.candidates = candidates
        self.labels_sha256 = source.data.sha256
        self._source = source
        self._right = right

    def right(self, candidates: Sequence[int], questions: LabelledQuestions) -> Floats:
        chosen = [self.candidates[at] for at in candidates]
        return np.array([[self._right[question][each] for each in chosen] for question in questions.questions])

    def recording(self, candidates: Sequence[int], questions: LabelledQuestions) -> Recording:
        return self._source

    def flags(self, candidate: int) -> dict[str, Any]:
        judge, variant, *sampling = self.candidates[candidate]
        known = {name: value for name, value in zip(SAMPLING, sampling, strict=True) if value is not None}
        return {"judge": [judge], **({} if variant == NO_VARIANT else {"variant": [variant]}), **known}


def recorded_answers(source: Recording, compare: CompareOptions, least: int = 2) -> tuple[LabelledQuestions, RecordedAnswers]:
    """The questions of a recording that every judge and condition was asked, and the answers; baselines are no candidates.

    Raises:
        UsageError: with fewer candidates than `least`, where no question was put to all of them, and as `measure.align` does.
    """
    rows = dict(answers_of(align([source], compare).judged[0]))
    candidates = tuple(dict.fromkeys(candidate for row in rows.values() for candidate in row.right))
    if len(candidates) < least:
        raise UsageError(_too_few(source.name, candidates))
    complete = sorted(question for question, found in rows.items() if len(found.right) == len(candidates))
    if not complete:
        raise UsageError("no text was put to all candidates on one metric; choose candidates with --judge or --where variant=NAMES")
    questions = LabelledQuestions(
        tuple(complete),
        np.array([rows[each].label for each in complete], np.int64),
        np.array([rows[each].group for each in complete], np.int64),
    )
    return questions, RecordedAnswers(source, candidates, {each: rows[each].right for each in complete})


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
    """A question's commonest label, its group, and for each candidate that was asked whether it gave this label."""

    label: int
    group: int
    right: dict[JudgeCondition, float]


def answers_of(judged: JudgedData) -> Iterator[tuple[LabelledQuestion, AnsweredQuestion]]:
    """The answers of all judges but baselines to the questions that have a commonest label."""
    found: dict[LabelledQuestion, AnsweredQuestion] = {}
    for cell in scored_items(judged):
        if traits_of(str(cell.key["judge"])).is_baseline or cell.classes.continuous:
            continue
        candidate, label, answer = JudgeCondition.of(cell.key), aggregate_counts(cell.labels, "drop"), cell.answer
        for at in np.flatnonzero(label >= 0).tolist():
            item = judged.data.items[int(cell.item[at])]
            question = LabelledQuestion(str(cell.key["language"]), str(cell.key["metric"]), item.item_id)
            row = found.setdefault(question, AnsweredQuestion(int(label[at]), int(cell.group[at]), {}))
            row.right[candidate] = float(answer[at] == label[at])
    yield from found.items()
