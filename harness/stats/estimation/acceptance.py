"""Automatic acceptance: the lowest confidence above which a judge's answers agree with people, with a guarantee.

Thresholds are tested in a fixed order, from the most confident down, until one fails. The order depends on the confidences only and never
on the labels, so that no correction for many tests is needed. The guarantee is about items like the labelled ones, on average over the
draw of the labels; it is not a guarantee for each class.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.core.arrays import Floats, Ints, ShapeError, as_index, same_shape
from harness.stats.core.groups import ClusterVariance
from harness.stats.estimation.labels_needed import fewest
from harness.stats.intervals.cluster_mean import LEAST_CORRELATION, cluster_mean
from harness.stats.intervals.intervals import clopper_pearson, scatter_of, t_quantile
from harness.stats.intervals.regression import fit_logistic

START_ERRORS = 2
"""The first threshold accepts as many labelled items as pass with this number of errors; fewer items often certify nothing."""
STEPS = 20
"""Further thresholds follow in steps of 1 / STEPS of the labelled items."""
NOTHING = "no threshold can be certified"
EQUAL_GROUPS = 20
"""Groups that weigh as fewer equal ones certify nothing."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Candidate:
    """One threshold: accept the items with at least this confidence.

    `accepted` labelled items in `groups` groups have `errors` (a sum of losses, whole if agreement is 0 or 1) and count as `effective_n`
    independent ones. `upper` is the upper bound of the loss at the level 1 - delta; `p` tests H0: the loss is alpha or more.
    """

    threshold: float
    accepted: int
    errors: float
    groups: int
    effective_n: float
    upper: float
    p: float


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The certified threshold, or `reason` why there is none; then `threshold`, `agreement` and `agreement_lower` are NaN.

    `coverage` is the share of the `n` labelled items that the threshold accepts, 0 without one; `agreement` what was seen among them and
    `agreement_lower` what is guaranteed. `n_start` items are needed for the first of the candidates, which `path` lists in order.
    """

    threshold: float
    coverage: float
    agreement: float
    agreement_lower: float
    n: int
    n_start: int
    path: tuple[Candidate, ...]
    reason: str | None


def acceptance_threshold(
    confidence: ArrayLike,
    agrees: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    alpha: float = 0.1,
    delta: float = 0.1,
    start_errors: int = START_ERRORS,
    variance: ClusterVariance = "cr2",
) -> Acceptance:
    """Lowest confidence with P(agree | accepted) >= 1 - alpha, which is wrong with a probability of at most delta.

    Candidates: the confidence of item `n_start` in falling order, then those of every 5 % of the items; equal confidences stay together.
    Each has an upper bound of the loss at the level 1 - delta: Clopper and Pearson's, or for losses between 0 and 1 Hoeffding and Bentkus'.
    From the first candidate down, the last before the first bound above alpha is certified (fixed sequence testing).

    With groups the bound uses `effective_n` items. n_start is then still a number of items. From groups that weigh as fewer than 20
    equal ones (`few_groups`), nothing is certified.

    Args:
        confidence: (items,) of the judge's answer, in any unit: only the order counts; NaN (a failure) is never accepted.
        agrees: (items,) 1 or 0, or credits between them (the share of people who agree); NaN (no label) leaves the item out.
        alpha: tolerated share of disagreement, in (0, 1).
        delta: tolerated probability of a wrong certificate, in (0, 1); delta / L for a claim about L languages at once.
        start_errors: errors that the first threshold tolerates.
        variance: of the effective number of items.

    Returns:
        `Acceptance`; that nothing is certified is an answer with a `reason`, not an error.

    Raises:
        ValueError: for alpha or delta outside (0, 1), agrees outside [0, 1].

    Reference: Angelopoulos et al. (2021), learn then test; Jung, Brahman & Choi (2024); Korn & Graubard (1998).

    >>> confidence, agrees = [0.9, 0.8, 0.7, 0.6, 0.5] * 40, [1] * 80 + [1, 1, 1, 1, 0] * 24
    >>> found = acceptance_threshold(confidence, agrees)
    >>> found.threshold, found.coverage, found.agreement, round(found.agreement_lower, 3), found.n_start
    (0.6, 0.8, 1.0, 0.986, 52)
    >>> acceptance_threshold(confidence[:40], agrees[:40]).reason
    '52 labelled items with an answer are needed, there are 40'
    """
    score, loss, codes = _labelled(confidence, agrees, groups)
    _check(alpha, delta)
    fractional = bool(((loss > 0) & (loss < 1)).any())
    start = items_needed(start_errors, alpha, delta, fractional=fractional)
    if codes is not None and _thresholds(score, start) and (reason := few_groups(codes)):
        return Acceptance(math.nan, 0.0, math.nan, math.nan, len(score), start, (), reason)
    path = []
    for threshold in _thresholds(score, start):
        accepted = score >= threshold
        losses, n = loss[accepted], int(accepted.sum())
        errors, groups, effective = float(losses.sum()), n, float(n)
        if codes is not None:
            by = codes[accepted]
            groups, effective = len(np.unique(by)), effective_n(losses, by, delta, variance)
        share = errors / n
        if fractional:
            upper, p = _bentkus_bound(share, effective, delta), hoeffding_bentkus_p(share, effective, alpha)
        else:
            upper, p = clopper_pearson(share * effective, effective, delta)[1], _binomial_p(share * effective, effective, alpha)
        path.append(Candidate(threshold, n, errors, groups, effective, upper, p))
    chosen = None
    for candidate in path:
        if candidate.p > delta:
            break
        chosen = candidate
    n = len(score)
    if chosen is None:
        readable = int((~np.isnan(score)).sum())
        reason = NOTHING if path else f"{start} labelled items with an answer are needed, there are {readable}"
        return Acceptance(math.nan, 0.0, math.nan, math.nan, n, start, tuple(path), reason)
    agreement = 1 - chosen.errors / chosen.accepted
    return Acceptance(chosen.threshold, chosen.accepted / n, agreement, 1 - chosen.upper, n, start, tuple(path), None)


def hoeffding_bentkus_p(mean_loss: float, n: float, alpha: float) -> float:
    """p of H0: the mean of losses in [0, 1] is alpha or more.

    p = min(exp(-n KL(r, alpha)), e P(Bin(n, alpha) <= ceil(n r))), r the mean loss, KL the divergence of two shares; 1 for r >= alpha.

    Args:
        mean_loss: r in [0, 1], of n independent items; n is rounded down to a whole number.
        alpha: in (0, 1).

    Reference: Bates et al. (2021); Bentkus (2004).

    >>> round(hoeffding_bentkus_p(0.13, 120, 0.2), 4)
    0.1054
    """
    from scipy.special import bdtr, xlogy

    items = math.floor(n + _ROUNDING)
    if mean_loss >= alpha or items < 1:
        return 1.0
    divergence = float(xlogy(mean_loss, mean_loss / alpha) + xlogy(1 - mean_loss, (1 - mean_loss) / (1 - alpha)))
    bentkus = math.e * float(bdtr(math.ceil(items * mean_loss - _ROUNDING), items, alpha))
    return min(1.0, math.exp(-items * divergence), bentkus)


def items_needed(errors: int, alpha: float, delta: float, *, fractional: bool = False) -> int:
    """Smallest number of accepted labelled items that pass with this number of errors.

    The smallest n with P(Bin(n, alpha) <= errors) <= delta; with `fractional`, with `hoeffding_bentkus_p(errors / n, n, alpha)` <= delta.

    Raises:
        ValueError: for alpha or delta outside (0, 1), or negative errors.

    >>> [items_needed(errors, 0.1, 0.1) for errors in (0, 1, 2)]
    [22, 38, 52]
    """
    _check(alpha, delta)
    if errors < 0:
        raise ValueError(f"errors must be 0 or more, got {errors}")

    def passes(n: int) -> bool:
        return (hoeffding_bentkus_p(errors / n, n, alpha) if fractional else _binomial_p(errors, n, alpha)) <= delta

    return fewest(passes, errors + 1)


def _check(alpha: float, delta: float) -> None:
    if not (0 < alpha < 1 and 0 < delta < 1):
        raise ValueError(f"alpha and delta must be between 0 and 1, got {alpha} and {delta}")


def _labelled(confidence: ArrayLike, agrees: ArrayLike, groups: ArrayLike | None) -> tuple[Floats, Floats, Ints | None]:
    """Confidence, loss and group codes of the items with a label."""
    score, credit = np.asarray(confidence, np.float64), np.asarray(agrees, np.float64)
    same_shape(confidence=score, agrees=credit)
    if ((credit < 0) | (credit > 1)).any():
        raise ValueError("agrees lie between 0 and 1")
    codes = None if groups is None else as_index(groups, len(score), "groups")
    has_label = ~np.isnan(credit)
    return score[has_label], 1 - credit[has_label], None if codes is None else codes[has_label]


def _thresholds(score: Floats, start: int) -> list[float]:
    """Falling confidences at which to cut: of item `start`, then of every 5 % of the items that lie below."""
    falling = np.sort(score[~np.isnan(score)])[::-1]
    if len(falling) < start:
        return []
    ranks = [start, *(rank for step in range(1, STEPS + 1) if start < (rank := len(score) * step // STEPS) <= len(falling)), len(falling)]
    return sorted({float(falling[rank - 1]) for rank in ranks}, reverse=True)


def few_groups(codes: Ints) -> str | None:
    """Return why groups are too few, or too unequal, to know how much items of one group have in common; None if they suffice.

    Groups of n_g items, n in all, weigh as n² / sum n_g² equal ones: a large group outweighs others, and what it hides is not seen in them.

    >>> few_groups(np.repeat(range(4), 100))
    'the labelled texts are of 4 independent groups, and 20 are needed'
    >>> few_groups(np.repeat(range(32), [80, 40, *[4] * 30]))
    'the labelled texts are of 32 independent groups of different sizes, which weigh as 6.8 equal ones, and 20 are needed'
    """
    size = np.unique(codes, return_counts=True)[1].astype(np.float64)
    groups, equal = len(size), float(size.sum() ** 2 / (size @ size))
    if equal > EQUAL_GROUPS - _ROUNDING:
        return None
    sizes = "" if groups < EQUAL_GROUPS else f" of different sizes, which weigh as {equal:.1f} equal ones"
    return f"the labelled texts are of {groups} independent groups{sizes}, and {EQUAL_GROUPS} are needed"


def effective_n(losses: ArrayLike, groups: ArrayLike, delta: float, variance: ClusterVariance = "cr2") -> float:
    """Return for how many independent items those of groups count in an exact upper bound of their mean loss at the level 1 - delta.

    n / deff times (t(n - 1) / t(df))², where deff is the cluster variance over that of independent items and t are the quantiles of
    Student's t at the level 1 - delta: of few groups, or of unequal ones, the cluster variance itself is poorly known. deff is at least
    that of the correlation `LEAST_CORRELATION` in groups: with few errors it is small by chance. The variance is CR2, with the degrees of
    freedom of an interval. Where items do not vary nothing is known of deff, and each group counts as if its items
    were one: n² / sum n_g² for groups of n_g items.

    Args:
        losses: (items,) numbers in [0, 1].
        variance: `cr1` takes groups as equal and deff as known: n / max(1, deff), and the number of groups where items do not vary.

    Reference: Korn & Graubard (1998).

    >>> losses, groups = np.repeat([1, 0, 0, 0, 0, 1, 0, 0], 10), np.repeat(range(8), 10)
    >>> [round(effective_n(losses, groups, 0.1, variance), 2) for variance in ("cr2", "cr1")]
    [5.84, 7.0]
    """
    mean_loss, scatter = cluster_mean(losses, groups, variance=variance), scatter_of(np.asarray(losses, np.float64))
    size = np.unique(groups, return_counts=True)[1].astype(np.float64)
    if not scatter > 0 or math.isnan(mean_loss.error):
        return float(mean_loss.groups) if variance == "cr1" else float(size.sum() ** 2 / (size @ size))
    seen = mean_loss.error**2 * mean_loss.n / scatter
    if variance == "cr1":
        return mean_loss.n / max(1.0, seen)
    by_effect = mean_loss.n / max(1 + (float(size @ size) / mean_loss.n - 1) * LEAST_CORRELATION, seen)
    if delta == 0.5:  # at one half both quantiles are 0
        return by_effect
    independent, grouped = (t_quantile(1 - 2 * delta, freedom) for freedom in (mean_loss.n - 1, mean_loss.interval_freedom))
    return by_effect * (independent / grouped) ** 2


def _binomial_p(errors: float, n: float, alpha: float) -> float:
    """P(Bin(n, alpha) <= errors), continued to numbers that are not whole; at most delta exactly where the upper bound is at most alpha."""
    from scipy.special import betainc

    return float(betainc(n - errors, errors + 1, 1 - alpha)) if errors < n else 1.0


def _bentkus_bound(share: float, n: float, delta: float) -> float:
    """The smallest alpha that Hoeffding and Bentkus' p rejects at delta."""
    from scipy.optimize import brentq

    if hoeffding_bentkus_p(share, n, 1 - _ROUNDING) > delta:
        return 1.0
    return float(brentq(lambda alpha: hoeffding_bentkus_p(share, n, alpha) - delta, share, 1 - _ROUNDING, xtol=1e-12))


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
    sure, correct, index = _labelled_answers(confidence, right, groups)
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
    sure, correct, index = _labelled_answers(confidence, right, groups)
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
        tuple(
            float(judge_confidence[odds >= step].min(initial=math.inf)) for judge_confidence, odds in zip(confidence, chance, strict=True)
        )
        for step in steps
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


def _labelled_answers(confidence: Sequence[ArrayLike], right: Sequence[ArrayLike], groups: ArrayLike | None) -> tuple[Floats, Floats, Ints]:
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
