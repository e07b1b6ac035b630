"""Do recorded answers come from the judge? Each is compared with two fresh answers, and these with each other."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.core.arrays import ShapeError
from harness.stats.intervals.intervals import clopper_pearson

SAME_SOURCE = "H0: a recorded answer and two fresh ones come from one source, call by call; one-sided, recorded ones further apart"


@dataclass(frozen=True, slots=True)
class Retest:
    """Disagreement of recorded with fresh answers, beside that of fresh answers with each other. Shares are of judgments, in [0, 1].

    `n` counts calls. `apart` is the share of judgments in which the recorded and a fresh answer differ, mean over the two fresh answers;
    `apart_fresh` the share in which the two fresh answers differ, which is the judge's own retest noise. `p` belongs to `hypothesis`.
    `alone` counts calls in which the fresh answers agree with each other and not with the recorded one; it has the 95 % interval
    (Clopper-Pearson) of its share of all calls.
    """

    n: int
    apart: float
    apart_fresh: float
    p: float
    alone: int
    alone_interval: tuple[float, float]
    hypothesis: str = SAME_SOURCE

    @property
    def excess(self) -> float:
        """Disagreement of the recorded answers beyond the judge's own noise."""
        return self.apart - self.apart_fresh


def retest(recorded: ArrayLike, first: ArrayLike, second: ArrayLike, *, level: float = 0.95) -> Retest:
    """Exact test of whether recorded answers differ from fresh ones by more than fresh ones differ from each other.

    If all three come from one source, each of the three answers to a call is equally likely to be the recorded one. The statistic is
    the sum over calls of d(recorded, first) + d(recorded, second) - 2 d(first, second), where d counts the judgments that differ; its
    distribution over the three choices in every call is computed exactly, without resampling. With one judgment for each call it is the
    binomial test, against 1/3, of how often the recorded answer is the odd one among calls in which exactly two agree: p = 3^-m if m
    recorded answers stand alone and the fresh ones never differ. The test neither assumes nor estimates the judge's noise.

    Args:
        recorded, first, second: (calls, judgments) or (calls,) codes of the answers; a failure is an answer, too. Negative where a call
            has fewer judgments, in all three at the same places. Calls are independent of each other, given their questions.

    Returns:
        `Retest`; without calls, shares are NaN and p is 1.

    Reference: Pitman (1937) on permutation within matched sets; Clopper & Pearson (1934).

    >>> found = retest([1, 1, 1, 0, 2], [1, 1, 1, 2, 1], [1, 1, 1, 2, 2])
    >>> found.apart, found.apart_fresh, found.alone, round(found.p, 3)
    (0.3, 0.2, 1, 0.556)
    >>> found = retest([0] * 3 + [1] * 17, [1] * 20, [1] * 20)
    >>> found.apart, found.apart_fresh, found.alone, found.p == 3**-3
    (0.15, 0.0, 3, True)
    """
    a, b, c = (np.asarray(answers, np.int64) for answers in (recorded, first, second))
    if not (a.shape == b.shape == c.shape and 1 <= a.ndim <= 2):
        raise ShapeError(f"recorded {a.shape}, first {b.shape} and second {c.shape} must be of the same calls")
    if not (np.array_equal(a < 0, b < 0) and np.array_equal(a < 0, c < 0)):
        raise ShapeError("recorded, first and second must hold the same judgments of each call")
    a, b, c = (codes.reshape(len(codes), codes[:1].size) for codes in (a, b, c))
    n, judged = len(a), int((a >= 0).sum())
    if not judged:
        return Retest(n, math.nan, math.nan, 1.0, 0, (math.nan, math.nan))
    ab, ac, bc = ((x != other).sum(axis=1) for x, other in ((a, b), (a, c), (b, c)))
    alone = int(((bc == 0) & (ab > 0)).sum())
    # P(sum >= that of the first column), where each row (calls, 3) gives one of its numbers, all equally likely.
    choices = np.stack([ab + ac - 2 * bc, ab + bc - 2 * ac, ac + bc - 2 * ab], axis=1)
    drawn: NDArray[np.float64] = np.ones(1)
    least = 0
    for row in choices[(choices != choices[:, :1]).any(axis=1)].tolist():
        low = min(row)
        step = np.bincount([value - low for value in row]) / len(row)
        drawn = np.convolve(drawn, step)
        least += low
    observed = int(choices[:, 0].sum()) - least  # rows of equal numbers contribute nothing
    p_of_sum = min(1.0, float(drawn[observed:].sum()))
    return Retest(
        n,
        float(ab.sum() + ac.sum()) / (2 * judged),
        float(bc.sum()) / judged,
        p_of_sum,
        alone,
        clopper_pearson(alone, n, (1 - level) / 2),
    )
