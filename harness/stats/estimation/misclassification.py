"""Shares corrected for a judge's errors: Rogan and Gladen's estimate and its form for several classes.

The estimate assumes that P(judge's class | true class) is the same where the labels were taken and where the judge is applied; the shares
of the classes may differ. If the labels are a random sample of the items that the claim is about, do not use it: the labels alone are
more precise, and prediction-powered inference is more precise still.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from harness.options import RESAMPLES
from harness.stats.core.arrays import Floats, ShapeError

INDISTINCT = "the judge does not tell the classes apart"
MIN_Z = 1.96
"""Youden's index divided by its standard error below this value: the correction is refused."""
WEAK_JUDGE = 0.3
"""Youden's index below this value: the correction is very imprecise."""
WEAK = f"Youden's index is below {WEAK_JUDGE}: the corrected share is very imprecise"
MIN_SINGULAR_ERRORS = 2.0
"""The smallest singular value must be this many standard errors above 0."""
MIN_LABELS = 30
"""With fewer labels of a class the errors of its row are too small: of three classes, 95 % intervals by the delta method hold the truth in
72 to 84 % of simulated sets with 10 to 20 labels of each where the judge is accurate and leaves cells empty, in about 90 % with 30."""
_ROUNDING = 1e-12
_SINGULAR = 1e-10

Bounds = tuple[float, float]


@dataclass(frozen=True, slots=True)
class RoganGladen:
    """A share of positives, corrected by sensitivity and specificity.

    `apparent` is the share judged positive, `youden` = sensitivity + specificity - 1. `value_raw` may lie outside [0, 1], `value` is cut.
    `error` is the delta method's. Of the intervals, `fieller` is preferred; `lee` is the published one.
    `refusal` says why the estimate must not be used, `warning` why it is weak; `reason` says why it is undefined.
    """

    apparent: float
    specificity: float
    sensitivity: float
    youden: float
    youden_error: float
    value_raw: float
    value: float
    error: float
    fieller: Bounds
    lee: Bounds
    refusal: str | None
    warning: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class CorrectedShares:
    """Shares of k classes, corrected by the inverse of the confusion matrix.

    `value` (k,) sums to 1 and may lie outside [0, 1]; `projected` is the nearest point with shares in [0, 1], for display only. `error`
    (k,) and `covariance` (k, k) are the delta method's; with 30 to 90 labels a class they are 5 to 12 % too small, and much too small
    where cells are empty by chance. Intervals take `interval_covariance` (k, k): the same with one more label in every cell.
    `condition` is the condition number of the confusion matrix, `singular` its smallest singular value and `singular_error` that value's
    standard error.
    """

    value: Floats
    projected: Floats
    error: Floats
    covariance: Floats
    interval_covariance: Floats
    condition: float
    singular: float
    singular_error: float
    refusal: str | None
    reason: str | None


def rogan_gladen(
    judged_positive: float,
    judged: float,
    correct_negatives: float,
    true_negatives: float,
    correct_positives: float,
    true_positives: float,
    *,
    level: float = 0.95,
) -> RoganGladen:
    """Share of positives among judged items, corrected by sensitivity q1 and specificity q0 that labels from elsewhere give.

    theta = (p + q0 - 1) / J with J = q0 + q1 - 1. Delta method: V = (V_p + (1 - theta)² V_0 + theta² V_1) / J² with V_p = p (1 - p) / N,
    V_0 = q0 (1 - q0) / m0 and V_1 = q1 (1 - q1) / m1. For `lee` and `fieller` the shares are smoothed first: p to (N p + z² / 2) /
    (N + z²), q to (m q + 1) / (m + 2), N to N + z², m to m + 2. Fieller's set holds all theta in [0, 1] with (p + q0 - 1 - theta J)² <=
    z² (V_p + (1 - theta)² V_0 + theta² V_1); it is [0, 1] if J is not shown to be above 0. Lee's is centred at theta +
    2 z² (theta V_1 - (1 - theta) V_0).

    Args:
        judged_positive, judged: the judge's positives among the N items that the claim is about; a failure counts as not positive.
        correct_negatives, true_negatives: judged negative among the m0 items that are labelled negative.
        correct_positives, true_positives: judged positive among the m1 items that are labelled positive.

    Returns:
        `RoganGladen`. NaN with a reason if a class has no labels, nothing was judged, or J is 0. `refusal` if J / error(J) < 1.96.

    Raises:
        ValueError: if a count is negative or above its total.

    Reference: Rogan & Gladen (1978); Lang & Reiczigel (2014); Lee et al. (2025); Fieller (1954).

    >>> found = rogan_gladen(773, 1000, 45, 60, 120, 120)
    >>> round(found.value, 3), [round(x, 3) for x in found.fieller], [round(x, 3) for x in found.lee]
    (0.697, [0.634, 0.754], [0.635, 0.752])
    """
    pairs = {"judged": (judged_positive, judged), "negatives": (correct_negatives, true_negatives)}
    for name, (part, total) in {**pairs, "positives": (correct_positives, true_positives)}.items():
        if not 0 <= part <= total:
            raise ValueError(f"{name}: {part} must be between 0 and {total}")
    labelled = {"negative": true_negatives, "positive": true_positives}
    absent = [f"no labels of the {name} class" for name, count in labelled.items() if not count > 0]
    if missing := next(iter(absent), None) if judged > 0 else "no judged items":
        nan, none = math.nan, (math.nan, math.nan)
        return RoganGladen(nan, nan, nan, nan, nan, nan, nan, nan, none, none, None, None, missing)
    p, q0, q1 = judged_positive / judged, correct_negatives / true_negatives, correct_positives / true_positives
    youden = q0 + q1 - 1
    v0, v1 = q0 * (1 - q0) / true_negatives, q1 * (1 - q1) / true_positives
    youden_error = math.sqrt(v0 + v1)
    refusal = INDISTINCT if youden <= 0 or youden < MIN_Z * youden_error else None
    warning = WEAK if youden < WEAK_JUDGE else None
    if abs(youden) < _ROUNDING:
        nan = math.nan
        unit = (0.0, 1.0)
        return RoganGladen(p, q0, q1, youden, youden_error, nan, nan, nan, unit, unit, INDISTINCT, warning, "Youden's index is 0")
    raw = (p + q0 - 1) / youden
    error = math.sqrt(p * (1 - p) / judged + (1 - raw) ** 2 * v0 + raw**2 * v1) / abs(youden)
    z = NormalDist().inv_cdf(0.5 + level / 2)
    smoothed = _Smoothed.of(judged_positive, judged, correct_negatives, true_negatives, correct_positives, true_positives, z)
    value = min(1.0, max(0.0, raw))
    return RoganGladen(p, q0, q1, youden, youden_error, raw, value, error, smoothed.fieller(z), smoothed.lee(z), refusal, warning, None)


@dataclass(frozen=True, slots=True)
class _Smoothed:
    """Excess = p + q0 - 1, Youden's index and the three variances, after the smoothing that the intervals need."""

    excess: float
    youden: float
    v_p: float
    v_0: float
    v_1: float

    @classmethod
    def of(cls, judged_positive: float, judged: float, right_0: float, m0: float, right_1: float, m1: float, z: float) -> _Smoothed:
        p, q0, q1 = (judged_positive + z * z / 2) / (judged + z * z), (right_0 + 1) / (m0 + 2), (right_1 + 1) / (m1 + 2)
        v_p, v_0, v_1 = p * (1 - p) / (judged + z * z), q0 * (1 - q0) / (m0 + 2), q1 * (1 - q1) / (m1 + 2)
        return cls(p + q0 - 1, q0 + q1 - 1, v_p, v_0, v_1)

    def lee(self, z: float) -> Bounds:
        if not self.youden > 0:
            return 0.0, 1.0
        theta = self.excess / self.youden
        centre = theta + 2 * z * z * (theta * self.v_1 - (1 - theta) * self.v_0)
        half = z * math.sqrt(self.v_p + (1 - theta) ** 2 * self.v_0 + theta**2 * self.v_1) / self.youden
        return _cut(centre - half, centre + half)

    def fieller(self, z: float) -> Bounds:
        """The solutions of a theta² - 2 b theta + c <= 0."""
        a = self.youden**2 - z * z * (self.v_0 + self.v_1)
        if a <= 0 or self.youden <= 0:
            return 0.0, 1.0
        b, c = self.excess * self.youden - z * z * self.v_0, self.excess**2 - z * z * (self.v_p + self.v_0)
        root = math.sqrt(max(0.0, b * b - a * c))
        return _cut((b - root) / a, (b + root) / a)


def corrected_shares(counts: ArrayLike, judged: ArrayLike, *, seed: int = 0, resamples: int = RESAMPLES) -> CorrectedShares:
    """Shares of k classes among judged items, corrected by the confusion matrix that labels from elsewhere give.

    theta = (M')^-1 q with M[y, c] = P(judged c | true y) and q the judged shares. Covariance A (S_q + sum_y theta_y² S_y / m_y) A' with
    A = (M')^-1, S_q the multinomial covariance of q and S_y that of row y of M. For intervals, one label is added to every cell before, as
    Lang and Reiczigel do for two classes: where the judge is accurate, an empty cell says too little of its chance.

    Args:
        counts: (k, k) labelled items, rows by true class, columns by judged class.
        judged: (k,) items of each judged class among those that the claim is about.
        seed, resamples: of the parametric bootstrap of the smallest singular value.

    Returns:
        `CorrectedShares`. NaN with a reason if a class has no labels, nothing was judged or M is singular. `refusal` if the smallest
        singular value of M is within 2 standard errors of 0, or a class has fewer than 30 labels.

    Raises:
        ValueError: for negative counts.

    Reference: Tenenbein (1970); Chen et al. (2026); Lang & Reiczigel (2014) for the added labels.

    >>> found = corrected_shares([[45, 5], [10, 40]], [300, 200])
    >>> found.value.round(3).tolist(), found.error.round(3).tolist(), found.refusal is None
    ([0.571, 0.429], [0.058, 0.058], True)
    """
    table, judge_counts = np.asarray(counts, np.float64), np.asarray(judged, np.float64)
    if judge_counts.ndim != 1 or table.shape != (len(judge_counts), len(judge_counts)):
        raise ShapeError(f"counts {table.shape} must be (k, k) for judged {judge_counts.shape}")
    if (table < 0).any() or (judge_counts < 0).any():
        raise ValueError("counts are 0 or more")
    labelled, items, k = table.sum(axis=1), judge_counts.sum(), len(judge_counts)
    if not (labelled > 0).all() or not items > 0:
        unlabelled = ", ".join(str(class_code) for class_code in np.flatnonzero(labelled == 0))
        return _undefined_shares(k, f"no labels of class {unlabelled}" if unlabelled else "no judged items")
    m, q = table / labelled[:, None], judge_counts / items
    spectrum = np.linalg.svd(m, compute_uv=False)
    singular = float(spectrum[-1])
    if singular < _SINGULAR:
        return _undefined_shares(k, "the confusion matrix is singular", INDISTINCT)
    # Standard error of the smallest singular value: new confusion matrices are drawn with the observed one as the truth.
    rng = np.random.default_rng(seed)
    rows = [rng.multinomial(round(total), row, resamples) / round(total) for total, row in zip(labelled, m, strict=True)]
    error = float(np.linalg.svd(np.stack(rows, axis=1), compute_uv=False)[:, -1].std(ddof=1))
    theta, covariance = _inverted(table, q, items)
    interval_covariance = _inverted(table + 1, q, items)[1]
    refusal = INDISTINCT if singular < MIN_SINGULAR_ERRORS * error else few_labels(labelled, range(k))
    condition = float(spectrum[0] / singular)
    errors = np.sqrt(np.maximum(0.0, np.diag(covariance)))
    shares = nearest_shares(theta)
    return CorrectedShares(theta, shares, errors, covariance, interval_covariance, condition, singular, error, refusal, None)


def _inverted(table: Floats, q: Floats, items: float) -> tuple[Floats, Floats]:
    """Return the shares (k,) that a confusion matrix of counts makes of judged shares q, and their covariance; NaN where it is singular."""
    labelled = table.sum(axis=1)
    m = table / labelled[:, None]
    if np.linalg.svd(m, compute_uv=False)[-1] < _SINGULAR:
        return np.full(len(q), math.nan), np.full(m.shape, math.nan)
    inverse = np.linalg.inv(m.T)
    theta = inverse @ q
    rows = sum(theta[y] ** 2 * _multinomial(m[y]) / labelled[y] for y in range(len(q)))
    return theta, np.asarray(inverse @ (_multinomial(q) / items + rows) @ inverse.T)


def nearest_shares(value: ArrayLike) -> Floats:
    """The nearest point (k,) with shares of at least 0 that sum to 1, in squared distance.

    >>> nearest_shares([0.7, 0.5, -0.2]).round(3).tolist()
    [0.6, 0.4, 0.0]
    """
    shares = np.asarray(value, np.float64)
    falling = np.sort(shares)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(shares) + 1)
    return np.asarray(np.maximum(shares - excess[np.flatnonzero(falling > excess)[-1]], 0.0))


def few_labels(labelled: Floats, names: Sequence[object]) -> str | None:
    """Return the reason where a class of these has too few labels, (k,), for `corrected_shares`; None where nothing is.

    >>> few_labels(np.array([40.0, 12.0]), ("good", "bad"))
    "each class needs 30 labels, and there are 12 of 'bad'"
    """
    few = [f"{labelled[class_code]:g} of '{names[int(class_code)]}'" for class_code in np.flatnonzero(labelled < MIN_LABELS)]
    return f"each class needs {MIN_LABELS} labels, and there are {', '.join(few)}" if few else None


def _undefined_shares(k: int, reason: str, refusal: str | None = None) -> CorrectedShares:
    none = np.full(k, math.nan)
    unknown = np.full((k, k), math.nan)
    return CorrectedShares(none, none, none, unknown, unknown, math.nan, math.nan, math.nan, refusal, reason)


def _cut(lo: float, hi: float) -> Bounds:
    return min(1.0, max(0.0, lo)), min(1.0, max(0.0, hi))


def _multinomial(shares: Floats) -> Floats:
    return np.asarray(np.diag(shares) - np.outer(shares, shares))
