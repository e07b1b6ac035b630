"""Judges in the order of their price, a person last: thresholds for all of them together, with one guarantee for all accepted answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.core.arrays import Floats, Ints, ShapeError, as_index
from harness.stats.estimation.acceptance import START_ERRORS, STEPS, items_needed, loss_upper_bound
from harness.stats.intervals.intervals import scatter_of

Units = Literal["texts", "one_per_group", "design_effect"]


class CascadeStep(NamedTuple):
    """Thresholds of the judges at one step of the path, how many labelled texts each judge's answer is taken of, and how many are wrong.

    `upper` is the upper bound of the share of wrong answers among all that are accepted, at the level 1 - delta.
    """

    step: int
    thresholds: tuple[float, ...]
    accepted_by: tuple[int, ...]
    errors: float
    upper: float

    @property
    def accepted(self) -> int:
        return sum(self.accepted_by)


class Cascade(NamedTuple):
    """The path of thresholds, from strict to lax, until one fails; the last certified step, or None with the `reason`."""

    path: tuple[CascadeStep, ...]
    chosen: CascadeStep | None
    texts: int
    reason: str | None = None

    def coverage(self) -> Floats:
        """The share of the texts that each judge answers; zeros where nothing is certified."""
        if self.chosen is None:
            return np.zeros(len(self.path[0].thresholds) if self.path else 0)
        return np.array(self.chosen.accepted_by) / self.texts


def joint_cascade(
    confidence: Sequence[ArrayLike],
    right: Sequence[ArrayLike],
    groups: ArrayLike | None = None,
    *,
    alpha: float = 0.1,
    delta: float = 0.1,
    units: Units = "texts",
    seed: int = 0,
) -> Cascade:
    """Find thresholds for each judge, so that accepted answers are wrong at most `alpha`, which is untrue with a chance of at most `delta`.

    At step k every judge's threshold is the same quantile of its own confidences, from high to low in steps of 5 %. The path depends on
    confidences alone, so that testing the steps in their order keeps `delta` without a correction (fixed sequence testing). A later judge
    is asked only about texts that the earlier ones left; the risk is that of all accepted answers.

    Args:
        confidence: for each judge (texts,) how sure it is, in any unit; NaN (no answer) is never accepted.
        right: for each judge (texts,) 1 where its answer agrees with people, else 0; NaN (no label) leaves the text out for all.
        groups: (texts,) any sortable codes of what texts share.
        alpha, delta: in (0, 1).
        units: how the bound counts texts that share groups: as independent; one text a group, drawn at random, which is exact about a
            random text of a random group; or divided by the design effect, which is approximate.
        seed: of the draw of one text a group.

    Raises:
        ShapeError: if the arrays are not of one length.  ValueError: for alpha or delta outside (0, 1).

    Reference: Jung, Brahman & Choi (2025), who give each judge a full delta; Angelopoulos et al. (2021).

    >>> sure, is_right = [0.9, 0.8, 0.7, 0.6, 0.5] * 40, [1, 1, 1, 1, 0] * 40  # the least sure answers are wrong
    >>> found = joint_cascade([sure, sure], [is_right, [1] * 200])
    >>> found.chosen.thresholds, found.chosen.accepted_by
    ((0.6, 0.6), (160, 0))
    """
    sure, correct = np.asarray(confidence, np.float64), np.asarray(right, np.float64)
    if sure.ndim != 2 or sure.shape != correct.shape:
        raise ShapeError(f"confidence {sure.shape} and right {correct.shape} must be of the same judges and texts")
    if not (0 < alpha < 1 and 0 < delta < 1):
        raise ValueError(f"alpha and delta must be between 0 and 1, got {alpha} and {delta}")
    known = ~np.isnan(correct).any(axis=0)
    index = None if groups is None else as_index(groups, sure.shape[1], "groups")[known]
    sure, correct = sure[:, known], correct[:, known]
    bound = _Bound(index, delta, units, seed)
    start = items_needed(START_ERRORS, alpha, delta)
    path: list[CascadeStep] = []
    for quantile in range(STEPS - 1, -1, -1):
        thresholds = tuple(_quantile(row, quantile / STEPS) for row in sure)
        taken = _taken(sure, thresholds)
        accepted, wrong = _any(taken), _any(taken & (correct < 1))
        if not path and bound.count(accepted) < start:
            continue
        upper = bound.upper(accepted, wrong)
        path.append(CascadeStep(len(path), thresholds, tuple(map(int, taken.sum(axis=1))), float(wrong.sum()), upper))
        if upper > alpha:
            break
    passed = [step for step in path if step.upper <= alpha]
    chosen = passed[-1] if passed else None
    reason = None if chosen else "no threshold can be certified" if path else f"{start} labelled texts with an answer are needed"
    return Cascade(tuple(path), chosen, sure.shape[1], reason)


def _quantile(confidence: Floats, share: float) -> float:
    known = confidence[~np.isnan(confidence)]
    return float(np.quantile(known, share, method="higher")) if len(known) else math.inf


Flags = NDArray[np.bool_]


def _any(of_judges: Flags) -> Flags:
    return np.asarray(of_judges.any(axis=0))


def _taken(confidence: Floats, thresholds: Sequence[float]) -> Flags:
    """(judges, texts) of whose answer is taken: the first judge that is sure enough."""
    sure = confidence >= np.asarray(thresholds)[:, None]  # NaN is not
    earlier: Ints = np.cumsum(sure, axis=0) - sure
    return np.asarray(sure & (earlier == 0))


class _Bound:
    """The upper bound of the share of wrong answers among those accepted."""

    def __init__(self, groups: Ints | None, delta: float, units: Units, seed: int) -> None:
        self.groups, self.delta = groups, delta
        self.units: Units = "texts" if groups is None else units
        self.pick = one_per_group(groups, seed) if groups is not None and units == "one_per_group" else None

    def count(self, accepted: Flags) -> int:
        return int(accepted[self.pick].sum()) if self.pick is not None else int(accepted.sum())

    def upper(self, accepted: Flags, wrong: Flags) -> float:
        if self.pick is not None:
            accepted, wrong = accepted[self.pick], wrong[self.pick]
        elif self.units == "design_effect" and self.groups is not None:
            return by_design_effect(wrong[accepted], self.groups[accepted], self.delta)
        return loss_upper_bound(float((wrong & accepted).sum()), float(accepted.sum()), self.delta) if accepted.any() else 1.0


def one_per_group(groups: ArrayLike, seed: int) -> Ints:
    """The place of one text of each group, drawn at random; the same for the same seed."""
    codes = np.asarray(groups)
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    return np.sort(shuffled[np.unique(codes[shuffled], return_index=True)[1]])


def design_effect(wrong: ArrayLike, groups: ArrayLike) -> float:
    """The cluster variance of the share of wrong answers over that of independent ones, at least 1; NaN where answers do not vary."""
    loss = np.asarray(wrong, np.float64)
    index = as_index(groups, len(loss), "groups")
    count, scatter = int(index.max()) + 1, scatter_of(loss)
    if not scatter > 0 or count < 2:
        return math.nan
    sums = np.bincount(index, loss - loss.mean())
    return max(1.0, float(sums @ sums) * count / (count - 1) / len(loss) / scatter)


def by_design_effect(wrong: ArrayLike, groups: ArrayLike, delta: float) -> float:
    """Clopper and Pearson's upper bound with texts and errors divided by the design effect, which is approximate.

    The number of groups counts where answers do not vary.
    """
    loss = np.asarray(wrong, np.float64)
    if not len(loss):
        return 1.0
    effect = design_effect(loss, groups)
    n = len(np.unique(np.asarray(groups))) if math.isnan(effect) else len(loss) / effect
    return loss_upper_bound(float(loss.mean()) * n, n, delta)
