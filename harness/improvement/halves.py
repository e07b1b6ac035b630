"""The two halves of the labels: one chooses, the other confirms. They are of different types, so that neither stands in for the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.errors import UsageError
from harness.improvement.answered_texts import AnsweredTexts
from harness.stats.core.arrays import Ints

LEAST_GROUPS = 10
"""Independent texts that each half needs at least."""


@dataclass(frozen=True, eq=False)
class ChooseHalf:
    """The questions that candidates are chosen by, in the order in which they are taken."""

    texts: AnsweredTexts
    order: Ints


@dataclass(frozen=True, eq=False)
class ConfirmHalf:
    """The questions that the chosen candidate is confirmed by."""

    texts: AnsweredTexts


def halves(texts: AnsweredTexts, share: float, seed: int) -> tuple[ChooseHalf, ConfirmHalf]:
    """Divide the questions by what their texts share, language by language.

    Args:
        texts: all questions.
        share: of the independent texts of each language that choose, in (0, 1).
        seed: of the draw.

    Raises:
        UsageError: where a half has fewer than `LEAST_GROUPS` independent texts.
    """
    rng = np.random.default_rng(seed)
    chooses = np.zeros(int(texts.group.max()) + 1, bool)
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
    return ChooseHalf(one, rng.permutation(len(one))), ConfirmHalf(texts.take(~first))
