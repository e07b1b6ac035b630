"""Automatic acceptance: the lowest confidence above which a judge's answers agree with people, with a guarantee.

Thresholds are tested in a fixed order, from the most confident down, until one fails. The order depends on the confidences only and never
on the labels, so that no correction for many tests is needed. The guarantee is about items like the labelled ones, on average over the
draw of the labels; it is not a guarantee for each class.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, Ints, as_index, same_shape
from harness.stats.core.groups import ClusterVariance
from harness.stats.estimation.sampling_plan import fewest
from harness.stats.intervals.cluster_mean import LEAST_CORRELATION, cluster_mean
from harness.stats.intervals.intervals import clopper_pearson, scatter_of, t_quantile

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
        by = None if codes is None else codes[accepted]
        path.append(_candidate(loss[accepted], by, threshold, alpha, delta, fractional, variance))
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


def _candidate(
    losses: Floats, codes: Ints | None, threshold: float, alpha: float, delta: float, fractional: bool, variance: ClusterVariance
) -> Candidate:
    n, errors = len(losses), float(losses.sum())
    groups, effective = (n, float(n)) if codes is None else (len(np.unique(codes)), effective_n(losses, codes, delta, variance))
    share = errors / n
    if fractional:
        upper, p = _bentkus_bound(share, effective, delta), hoeffding_bentkus_p(share, effective, alpha)
    else:
        upper, p = clopper_pearson(share * effective, effective, delta)[1], _binomial_p(share * effective, effective, alpha)
    return Candidate(threshold, n, errors, groups, effective, upper, p)


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
