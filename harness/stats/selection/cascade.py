"""Judges in the order of their price, a person last: thresholds for all of them together, with one guarantee for all accepted answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.core.arrays import Floats, Ints, ShapeError, as_index
from harness.stats.core.groups import ClusterVariance
from harness.stats.estimation.acceptance import NOTHING, START_ERRORS, STEPS, effective_n, few_groups, items_needed
from harness.stats.intervals.intervals import clopper_pearson
from harness.stats.intervals.regression import fit_logistic

CHOOSING = 0.3
"""The share of the groups that finds the path; the others test it."""
ENOUGH = 2
SURER = 3.0
"""By so much the odds that its answer is right are higher where an earlier judge answers: its errors use up the room of all judges."""
Flags = NDArray[np.bool_]
ThresholdPath = Sequence[tuple[float, ...]]
"""Thresholds of the judges, step by step from strict to lax."""
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
    groups: int
    reason: str | None = None

    def coverage(self) -> Floats:
        """The share of the texts that each judge answers; zeros where nothing is certified."""
        if self.chosen is None:
            return np.zeros(len(self.path[0].thresholds) if self.path else 0)
        return np.array(self.chosen.accepted_by) / self.texts


class CascadePromise(NamedTuple):
    """Accepted answers are wrong at most `alpha`, which is untrue with a chance of at most `delta`; both in (0, 1).

    `units` is how the bound counts texts that share groups: as independent; one text a group, drawn at random, which is exact about a
    random text of a random group; or divided by the design effect, which is approximate.
    """

    alpha: float = 0.1
    delta: float = 0.1
    units: Units = "texts"


def joint_cascade(
    confidence: Sequence[ArrayLike],
    right: Sequence[ArrayLike],
    groups: ArrayLike | None = None,
    *,
    path: ThresholdPath | None = None,
    promise: CascadePromise = CascadePromise(),
    seed: int = 0,
) -> Cascade:
    """Find thresholds for each judge, so that the promise holds.

    The steps of a path are tested in their order until one fails (fixed sequence testing), which keeps `delta` without a correction if
    the path does not depend on the labels that test it. A later judge is asked only about texts that the earlier ones left; the risk is
    that of all accepted answers.

    Args:
        confidence: for each judge (texts,) how sure it is, in any unit; NaN (no answer) is never accepted.
        right: for each judge (texts,) 1 where its answer agrees with people, else 0; NaN (no label) leaves the text out for all.
        path: thresholds of the judges, from strict to lax, found without these labels; None takes `equal_path`.
        promise: what is promised.
        seed: of the draw of one text a group.

    Raises:
        ValueError: for alpha or delta outside (0, 1).

    Reference: Jung, Brahman & Choi (2025), who give each judge a full delta; Angelopoulos et al. (2021).

    >>> sure, is_right = [0.9, 0.8, 0.7, 0.6, 0.5] * 40, [1, 1, 1, 1, 0] * 40  # the least sure answers are wrong
    >>> found = joint_cascade([sure, sure], [is_right, [1] * 200])
    >>> found.chosen.thresholds, found.chosen.accepted_by
    ((0.6, 0.6), (160, 0))
    """
    alpha, delta, units = promise
    if not (0 < alpha < 1 and 0 < delta < 1):
        raise ValueError(f"alpha and delta must be between 0 and 1, got {alpha} and {delta}")
    sure, correct, index = _labelled(confidence, right, groups)
    bound = _Bound(index, delta, units, seed)
    if bound.units == "design_effect" and (reason := few_groups(index)):
        return Cascade((), None, sure.shape[1], len(np.unique(index)), reason)
    start = items_needed(START_ERRORS, alpha, delta)
    tested: list[CascadeStep] = []
    for thresholds in equal_path(sure) if path is None else path:
        taken = np.asarray(answered_by(sure, thresholds) == np.arange(len(sure))[:, None])
        accepted, wrong = _any(taken), _any(taken & (correct < 1))
        if not tested and bound.count(accepted) < start:
            continue
        upper = bound.upper(accepted, wrong)
        tested.append(CascadeStep(len(tested), tuple(thresholds), tuple(map(int, taken.sum(axis=1))), float(wrong.sum()), upper))
        if upper > alpha:
            break
    passed = [step for step in tested if step.upper <= alpha]
    chosen = passed[-1] if passed else None
    reason = None if chosen else NOTHING if tested else f"{start} labelled texts with an answer are needed to test thresholds"
    return Cascade(tuple(tested), chosen, sure.shape[1], len(np.unique(index)), reason)


def split_cascade(
    confidence: Sequence[ArrayLike],
    right: Sequence[ArrayLike],
    groups: ArrayLike,
    *,
    promise: CascadePromise = CascadePromise(),
    seed: int = 0,
) -> Cascade:
    """The same promise as `joint_cascade`, tested along a path that a part of the labels finds (`risk_path`).

    A random part of the groups, `CHOOSING`, finds the path; the others test it. Where they would be fewer than `ENOUGH` times what the
    first threshold needs, nothing is split off and `equal_path` is tested. Arguments and errors are those of `joint_cascade`.

    >>> sure, is_right = [[0.9, 0.8, 0.7, 0.6, 0.5] * 100] * 2, [[1, 0, 0, 1, 0] * 100, [1, 1, 1, 1, 0] * 100]
    >>> found = joint_cascade(sure, is_right), split_cascade(sure, is_right, range(500))  # the weak judge does not stop the better one
    >>> [each.coverage().round(1).tolist() for each in found]
    [[0.2, 0.0], [0.2, 0.6]]
    """
    sure, correct, index = _labelled(confidence, right, groups)
    # A mask of the items in a random share of the groups; the same for the same seed.
    codes = np.unique(index)
    drawn = np.random.default_rng(seed).permutation(codes)[: round(CHOOSING * len(codes))]
    tests, path = ~np.isin(index, drawn), None
    counted = len(np.unique(index[tests])) if promise.units == "one_per_group" else tests.sum()
    if counted < ENOUGH * items_needed(START_ERRORS, promise.alpha, promise.delta):
        tests |= True
    else:
        path = risk_path(sure[:, ~tests], correct[:, ~tests])
    judge_scores = list(sure[:, tests]), list(correct[:, tests])
    return joint_cascade(*judge_scores, index[tests], path=path, promise=promise, seed=seed)


def equal_path(confidence: Floats) -> list[tuple[float, ...]]:
    """At each step the same quantile of each judge's own confidences (judges, texts), from high to low in steps of 5 %; needs no labels."""
    return [tuple(_quantile(row, quantile / STEPS) for row in confidence) for quantile in range(STEPS - 1, -1, -1)]


def risk_path(confidence: Floats, right: Floats) -> list[tuple[float, ...]]:
    """At each step every judge answers from the confidence on at which its answers are estimated to have the same odds to be right.

    Of all judges but the last, the odds are `SURER` times as high: a later judge would answer the same texts with fewer errors, and the
    errors that it would not make are missing where it answers harder texts. A logistic regression on the rank of a judge's confidence says
    how often it is right; a judge whose confidence says nothing has one estimate for all its answers. Each step makes another 5 % of the
    answers of a judge acceptable. Where judges answer all texts, further steps give those of later judges to earlier ones.

    Args:
        confidence, right: (judges, texts) of the labelled texts that find the path and test nothing.

    >>> sure, is_right = np.array([[0.9, 0.8, 0.7, 0.6] * 20] * 2), np.array([[1, 0, 0, 0] * 20, [1, 1, 1, 0] * 20])
    >>> risk_path(sure, is_right)[3:5]  # the weak judge answers from a higher confidence on
    [(0.9, 0.7), (0.9, 0.6)]
    """
    chance = np.vstack([_chance_right(judge_confidence, agrees) for judge_confidence, agrees in zip(confidence, right, strict=True)])
    chance[:-1] -= math.log(SURER)
    finite_odds, count, steps = chance[np.isfinite(chance)], STEPS * len(chance), np.empty(0)
    if len(finite_odds):
        steps = np.unique([np.quantile(finite_odds, step / count, method="higher") for step in range(count)])[::-1]
    return [
        tuple(_lowest(judge_confidence, odds >= step) for judge_confidence, odds in zip(confidence, chance, strict=True)) for step in steps
    ]


def _chance_right(confidence: Floats, right: Floats) -> Floats:
    """(texts,) estimated log-odds that an answer is right, which never fall with the confidence; -inf where there is no answer.

    A right and a wrong answer of medium confidence are added, so that a judge without errors has an estimate too.
    """
    from scipy.stats import rankdata

    chances = np.full(len(confidence), -math.inf)
    answered = ~np.isnan(confidence)
    if answered.any():
        ranks = (rankdata(confidence[answered]) / answered.sum() - 0.5) * math.sqrt(12)  # of unit variance
        start, slope = fit_logistic(np.append(ranks, [0, 0])[:, None], np.append(right[answered], [0, 1]), penalty=1)
        chances[answered] = start + max(slope, 0.0) * ranks
    return chances


def _lowest(confidence: Floats, accepted: Flags) -> float:
    return float(confidence[accepted].min(initial=math.inf))


def _labelled(confidence: Sequence[ArrayLike], right: Sequence[ArrayLike], groups: ArrayLike | None) -> tuple[Floats, Floats, Ints]:
    """Confidence and agreement (judges, texts) and group codes of the texts with a label; a text without groups is its own."""
    sure, correct = np.asarray(confidence, np.float64), np.asarray(right, np.float64)
    if sure.ndim != 2 or sure.shape != correct.shape:
        raise ShapeError(f"confidence {sure.shape} and right {correct.shape} must be of the same judges and texts")
    is_labelled = ~np.isnan(correct).any(axis=0)
    index = np.arange(sure.shape[1]) if groups is None else as_index(groups, sure.shape[1], "groups")
    return sure[:, is_labelled], correct[:, is_labelled], index[is_labelled]


def _quantile(confidence: Floats, share: float) -> float:
    finite = confidence[~np.isnan(confidence)]
    return float(np.quantile(finite, share, method="higher")) if len(finite) else math.inf


def _any(of_judges: Flags) -> Flags:
    return np.asarray(of_judges.any(axis=0))


def answered_by(confidence: ArrayLike, thresholds: Sequence[float]) -> Ints:
    """(texts,) the place of the first judge that is sure enough; -1 where none is, and a person answers.

    Args:
        confidence: (judges, texts) in the units of the thresholds; NaN (no answer) is never sure enough.
        thresholds: of the judges; infinite for a judge that answers nothing.

    >>> answered_by([[0.9, 0.4, 0.4], [0.1, 0.8, 0.2]], [0.5, 0.7]).tolist()
    [0, 1, -1]
    """
    sure = np.asarray(confidence, np.float64) >= np.asarray(thresholds, np.float64)[:, None]
    return np.where(sure.any(axis=0), sure.argmax(axis=0), -1)


def votes_so_far(answers: ArrayLike) -> Floats:
    """(texts,) the share of judges that give the last one's answer, itself included; NaN where it has none.

    Args:
        answers: (judges, texts) codes of answers in the order in which judges are asked; negative where there is none.

    >>> votes_so_far([[0, 0, 1], [1, 0, 1], [1, 1, -1]]).round(2).tolist()
    [0.67, 0.33, nan]
    """
    codes = np.asarray(answers, np.int64)
    return np.where(codes[-1] < 0, math.nan, (codes == codes[-1]).mean(axis=0))


class _Bound:
    """The upper bound of the share of wrong answers among those accepted."""

    def __init__(self, groups: Ints, delta: float, units: Units, seed: int) -> None:
        self.groups, self.delta = groups, delta
        self.units: Units = "texts" if len(np.unique(groups)) == len(groups) else units
        self.pick = one_per_group(groups, seed) if self.units == "one_per_group" else None

    def count(self, accepted: Flags) -> int:
        return int(accepted[self.pick].sum()) if self.pick is not None else int(accepted.sum())

    def upper(self, accepted: Flags, wrong: Flags) -> float:
        if self.pick is not None:
            accepted, wrong = accepted[self.pick], wrong[self.pick]
        elif self.units == "design_effect":
            return by_design_effect(wrong[accepted], self.groups[accepted], self.delta)
        return clopper_pearson(float((wrong & accepted).sum()), float(accepted.sum()), self.delta)[1] if accepted.any() else 1.0


def one_per_group(groups: ArrayLike, seed: int) -> Ints:
    """The place of one text of each group, drawn at random; the same for the same seed."""
    codes = np.asarray(groups)
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    return np.sort(shuffled[np.unique(codes[shuffled], return_index=True)[1]])


def by_design_effect(wrong: ArrayLike, groups: ArrayLike, delta: float, variance: ClusterVariance = "cr2") -> float:
    """Return Clopper and Pearson's upper bound with texts and errors reduced to `effective_n` texts, which is approximate."""
    loss = np.asarray(wrong, np.float64)
    if not len(loss):
        return 1.0
    n = effective_n(loss, groups, delta, variance)
    return clopper_pearson(float(loss.mean()) * n, n, delta)[1]
