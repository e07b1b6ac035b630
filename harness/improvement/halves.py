"""The two halves of the labels: one chooses, the other confirms. They are of different types, so that neither stands in for the other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np

from harness.errors import UsageError
from harness.improvement.questions import LabelledQuestions
from harness.stats.core.arrays import Ints

LEAST_GROUPS = 10
"""Independent texts that each half needs at least."""


@dataclass(frozen=True, eq=False)
class ChooseHalf:
    """The questions that candidates are chosen by, in the order in which they are taken. Few-shot examples come from them alone."""

    texts: LabelledQuestions

    def first(self, questions: int) -> LabelledQuestions:
        """The questions that are taken first."""
        return self.texts.take(np.arange(questions))


@dataclass(frozen=True, eq=False)
class ConfirmHalf:
    """The questions that the chosen candidate is confirmed by."""

    texts: LabelledQuestions


def halves(texts: LabelledQuestions, share: float, seed: int) -> tuple[ChooseHalf, ConfirmHalf]:
    """Divide the questions by what their texts share, language by language.

    Args:
        texts: all questions.
        share: of the independent texts of each language that choose, in (0, 1).
        seed: of the draw.

    Raises:
        UsageError: where a half has fewer than `LEAST_GROUPS` independent texts.
    """
    rng = np.random.default_rng(seed)
    chooses = np.zeros(int(texts.group.max(initial=-1)) + 1, bool)
    drawn = np.zeros(len(chooses), bool)
    for code in range(len(texts.languages)):  # a group of several languages belongs to the half of the first
        groups = np.unique(texts.group[texts.language == code])
        groups = rng.permutation(groups[~drawn[groups]])
        chooses[groups[: round(share * len(groups))]] = True
        drawn[groups] = True
    first = chooses[texts.group]
    for name, rows in (("choose", first), ("confirm", ~first)):
        if (count := len(np.unique(texts.group[rows]))) < LEAST_GROUPS:
            raise UsageError(f"the half to {name} would have {count} independent texts, and {LEAST_GROUPS} are needed; label more texts")
    one = texts.take(first)
    return ChooseHalf(one.take(_text_by_text(one, rng))), ConfirmHalf(texts.take(~first))


def _text_by_text(texts: LabelledQuestions, rng: np.random.Generator) -> Ints:
    """The questions in a random order of their texts, so that a part of them asks about few texts on all their metrics."""
    rows: dict[str, list[int]] = {}
    for at, question in enumerate(texts.questions):
        rows.setdefault(question.item_id, []).append(at)
    drawn = list(rows.values())
    return np.array(list(chain.from_iterable(drawn[at] for at in rng.permutation(len(drawn)))), np.int64)
