"""Whether each candidate's answer to each text agrees with people: what candidates are chosen and confirmed by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.correct.scored_items import ScoredItems, scored_items
from harness.errors import UsageError
from harness.judges import traits_of
from harness.measure.compare import JudgedData, Recording, align
from harness.measure.options import CompareOptions
from harness.model import JudgeCondition
from harness.stats import aggregate_counts
from harness.stats.core.arrays import Floats, Ints


class AnsweredText(NamedTuple):
    """One question: a text, in its language, on one metric."""

    language: str
    metric: str
    item_id: str


@dataclass(frozen=True, eq=False)
class AnsweredTexts:
    """Questions that all candidates were asked and that have a commonest label.

    `right` (questions, candidates) is 1 where a candidate gave the commonest label; an answer that cannot be read is wrong. `label` has the
    codes of these labels, `group` of what texts share, of all languages alike.
    """

    candidates: tuple[JudgeCondition, ...]
    questions: tuple[AnsweredText, ...]
    right: Floats
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

    def take(self, rows: NDArray[np.bool_]) -> AnsweredTexts:
        chosen = np.flatnonzero(rows)
        questions = tuple(self.questions[at] for at in chosen.tolist())
        return AnsweredTexts(self.candidates, questions, self.right[chosen], self.label[chosen], self.group[chosen])


def answered_texts(source: Recording, compare: CompareOptions) -> AnsweredTexts:
    """The questions of a recording that every judge and condition was asked; baselines are no candidates.

    Raises:
        UsageError: with fewer than two candidates, where no question was put to all of them, and as `measure.align` does.
    """
    judged = align([source], compare).judged[0]
    cells = [cell for cell in scored_items(judged) if not traits_of(str(cell.key["judge"])).is_baseline and not cell.classes.continuous]
    candidates = tuple(dict.fromkeys(JudgeCondition.of(cell.key) for cell in cells))
    if len(candidates) < 2:
        raise UsageError(
            f"there is nothing to choose between: {source.name} has {len(candidates)} judges and conditions with scores that are classes. "
            "Ask under several (harness run --variant A --variant B), or ask several judges"
        )
    rows = dict(_answers(cells, judged))
    complete = {question: found for question, found in rows.items() if len(found.right) == len(candidates)}
    if not complete:
        raise UsageError("no text was put to all candidates on one metric; choose candidates with --judge or --where variant=NAMES")
    questions = tuple(sorted(complete))
    return AnsweredTexts(
        candidates,
        questions,
        np.array([[complete[each].right[candidate] for candidate in candidates] for each in questions]),
        np.array([complete[each].label for each in questions], np.int64),
        np.array([complete[each].group for each in questions], np.int64),
    )


class _Answers(NamedTuple):
    label: int
    group: int
    right: dict[JudgeCondition, float]


def _answers(cells: Sequence[ScoredItems], judged: JudgedData) -> Iterator[tuple[AnsweredText, _Answers]]:
    found: dict[AnsweredText, _Answers] = {}
    for cell in cells:
        candidate, label, answer = JudgeCondition.of(cell.key), aggregate_counts(cell.labels, "drop"), cell.answer
        for at in np.flatnonzero(label >= 0).tolist():
            item = judged.data.items[int(cell.item[at])]
            question = AnsweredText(str(cell.key["language"]), str(cell.key["metric"]), item.item_id)
            row = found.setdefault(question, _Answers(int(label[at]), int(cell.group[at]), {}))
            row.right[candidate] = float(answer[at] == label[at])
    yield from found.items()
