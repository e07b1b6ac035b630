"""Choosing one of several candidates by successive halving, so that bad ones are asked about few texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from harness.stats.core.arrays import Floats

SHARES = (0.25, 0.5, 1.0)
"""Parts of the texts on which candidates are compared, one after the other; half of them go on each time."""


class Round(NamedTuple):
    """One round: on how many texts the candidates were compared, and which go on, the best first."""

    texts: int
    kept: tuple[int, ...]


class Halving(NamedTuple):
    """The rounds, and how many answers of candidates they took; those of the start are not counted, nor those that are read twice."""

    rounds: tuple[Round, ...]
    asked: int

    @property
    def chosen(self) -> int:
        """The column of the candidate that is left."""
        return self.rounds[-1].kept[0]


def halve(
    right: Callable[[Sequence[int], int], Floats],
    texts: int,
    candidates: int,
    shares: Sequence[float] = SHARES,
    reads: Callable[[int], int] = int,
) -> Halving:
    """Choose the candidate with the largest gain over the start on a growing part of the texts, whose answers are fetched as needed.

    After each part half of the candidates go on, of c candidates max(1, floor(c / 2)), and one after the last. Of equal gains the earlier
    column goes on.

    Args:
        right: `right(columns, n)` are those (n, columns) of the first n texts: 1 where an answer agrees with people, else 0, or credits
            between; the first column that it is asked for is 0, the start.
        texts, candidates: their numbers; candidates are the columns from 1 on.
        shares: growing shares of the texts, the last of them 1.
        reads: the column whose answers a candidate reads: its own, unless it asks for none.

    Raises:
        ValueError: without a candidate.

    Reference: Jamieson & Talwalkar (2016).

    >>> import numpy as np
    >>> right = np.array([[0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1.0]])
    >>> halve(lambda columns, n: right[:n, list(columns)], texts=4, candidates=2, shares=(0.5, 1.0)).chosen
    1
    """
    if candidates < 1:
        raise ValueError("there is no candidate to choose")
    left, rounds, asked, before = list(range(1, candidates + 1)), [], 0, 0
    for at, share in enumerate(shares):
        n = max(1, math.floor(share * texts))
        asked += (n - before) * len({reads(column) for column in left} - {0})
        answers = right((0, *left), n)
        gain = dict(zip(left, (answers[:, 1:] - answers[:, :1]).mean(axis=0).tolist(), strict=True))
        keep = 1 if at == len(shares) - 1 else max(1, len(left) // 2)
        left = sorted(left, key=lambda column: (-gain[column], column))[:keep]
        rounds.append(Round(n, tuple(left)))
        before = n
    return Halving(tuple(rounds), asked)
