"""Means from labels that were drawn with known probabilities: stratified, Horvitz-Thompson, Hájek, active inference."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, ShapeError, as_index


@dataclass(frozen=True, slots=True)
class DesignEstimate:
    """`value`, its standard error `se`, Student's `df` (infinity: normal), the `n` labels used; NaN with a `reason`."""

    value: float
    se: float
    df: float
    n: int
    reason: str | None = None

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """value ± t se."""
        from scipy.special import ndtri, stdtrit

        if math.isnan(self.value) or math.isnan(self.se):
            return math.nan, math.nan
        reach = self.se * float(ndtri(0.5 + level / 2) if math.isinf(self.df) else stdtrit(self.df, 0.5 + level / 2))
        return self.value - reach, self.value + reach


def stratified_mean(y: ArrayLike, stratum: ArrayLike, sizes: ArrayLike, *, finite: bool = False) -> DesignEstimate:
    """Mean over strata of known sizes: sum W_h y_h, variance sum W_h² s_h² / n_h, Satterthwaite's df.

    df = V² / sum (V_h² / (n_h - 1)) over the strata's parts V_h of the variance V.

    Args:
        y: (labels,) values of the labelled items.
        stratum: (labels,) codes 0 … strata-1.
        sizes: (strata,) items of each stratum N_h, W_h = N_h / N.
        finite: multiply V_h by 1 - n_h / N_h, for a claim about these items only.

    Returns:
        `DesignEstimate`; NaN if a stratum has no label, se NaN if one has a single label of several items.

    Raises:
        ShapeError: if the arrays do not fit.

    Reference: Cochran (1977), chapter 5; Satterthwaite (1946).

    >>> found = stratified_mean([1, 0, 1, 1], [0, 0, 1, 1], [30, 10])
    >>> found.value, round(found.se, 3), found.df
    (0.625, 0.375, 1.0)
    """
    values, code, count = np.asarray(y, np.float64), np.asarray(stratum, np.int64), np.asarray(sizes, np.float64)
    if values.shape != code.shape or values.ndim != 1:
        raise ShapeError(f"y {values.shape} and stratum {code.shape} must be of the same labels")
    if len(code) and not 0 <= code.min() <= code.max() < len(count):
        raise ShapeError(f"stratum codes must be 0 to {len(count) - 1}; found {code.min()} to {code.max()}")
    n = np.bincount(code, minlength=len(count)).astype(np.float64)
    if not len(count) or not (n[count > 0] > 0).all():
        return DesignEstimate(math.nan, math.nan, math.nan, len(values), "a stratum has no labels")
    mean = np.bincount(code, values, len(count)) / np.maximum(n, 1)
    squares = np.bincount(code, (values - mean[code]) ** 2, len(count))
    whole = n >= count
    with np.errstate(divide="ignore", invalid="ignore"):
        part = (count / count.sum()) ** 2 * squares / (n - 1) / n * (1 - n / count if finite else 1.0)
        part = np.where(whole & (n < 2), 0.0 if finite else part, part)  # a stratum that is labelled as a whole has no error
        freedom = float(part.sum() ** 2 / (part**2 / (n - 1))[part > 0].sum()) if (part > 0).any() else math.inf
    value, variance = float(count / count.sum() @ mean), float(part.sum())
    reason = "a stratum has a single label" if math.isnan(variance) else None
    return DesignEstimate(value, math.sqrt(variance), math.nan if reason else freedom, len(values), reason)


def horvitz_thompson(y: ArrayLike, probability: ArrayLike) -> DesignEstimate:
    """Mean of a population from labels drawn independently with known probabilities: sum y / pi / N, over the labelled items.

    Unbiased, but wide unless the probabilities are proportional to y. The standard error is that around the mean of these N items:
    sqrt(sum (1 - pi) y² / pi²) / N.

    Args:
        y: (items,) values; NaN where the item was not drawn.
        probability: (items,) inclusion probabilities in (0, 1], of all items.

    Returns:
        `DesignEstimate` with normal intervals; NaN without labels.

    Raises:
        ShapeError: if the arrays are of different items.  ValueError: for probabilities outside (0, 1].

    Reference: Horvitz & Thompson (1952); Poisson sampling in Särndal, Swensson & Wretman (1992).

    >>> horvitz_thompson([1.0, float("nan"), 0.0, 1.0], [0.5, 0.5, 0.5, 1.0]).value
    0.75
    """
    values, pi, drawn = _drawn(y, probability)
    if not drawn.any():
        return _without_labels()
    weighted = values[drawn] / pi[drawn]
    se = math.sqrt(float((1 - pi[drawn]) @ weighted**2)) / len(pi)
    return DesignEstimate(float(weighted.sum() / len(pi)), se, math.inf, int(drawn.sum()))


def hajek(y: ArrayLike, probability: ArrayLike) -> DesignEstimate:
    """Weighted mean of the labels: sum (y / pi) / sum (1 / pi). Slightly biased, far narrower than `horvitz_thompson`.

    Its standard error is that of Horvitz-Thompson on y - mean, divided by the estimated number of items. Args and errors as there.

    Reference: Hájek (1971).

    >>> hajek([1.0, float("nan"), 0.0, 1.0], [0.5, 0.5, 0.5, 1.0]).value
    0.6
    """
    values, pi, drawn = _drawn(y, probability)
    if not drawn.any():
        return _without_labels()
    weight = 1 / pi[drawn]
    value = float(weight @ values[drawn] / weight.sum())
    se = math.sqrt(float((1 - pi[drawn]) @ (weight * (values[drawn] - value)) ** 2)) / float(weight.sum())
    return DesignEstimate(value, se, math.inf, int(drawn.sum()))


def gain_over_simple_sample(y: ArrayLike, weight: ArrayLike, stratum: ArrayLike | None = None) -> float:
    """The variance of a mean in a simple random sample of as many items, divided by that of the weighted mean in this sample.

    1 / Kish's design effect. With influences z_i = w_i (y_i - mean) / sum w, the variance of the weighted mean is
    sum_h n_h / (n_h - 1) sum_i (z_hi - mean of z_h)² over the strata; that of the simple sample is sum w (y - mean)² / sum w / (n - 1).
    Above 1, the strata gain more than unequal weights lose. Strata with a single item are taken together.

    Args:
        y: (items,) values of the drawn items; NaN where unknown.
        weight: (items,) 1 / inclusion probability.
        stratum: (items,) sortable codes of what the items were drawn from; None: one stratum.

    Returns:
        The gain; NaN with fewer than two items, and if a variance is 0 or cannot be estimated.

    Raises:
        ShapeError: if the arrays are not of the same items.

    Reference: Kish (1965); Särndal, Swensson & Wretman (1992), section 5.7, linearised ratio; Cochran (1977), section 5A.12, strata taken
    together.

    >>> gain_over_simple_sample([1, 1, 1, 0, 0, 0, 1, 0], np.ones(8)).__round__(3)
    1.0
    >>> gain_over_simple_sample([1, 1, 1, 0, 0, 0, 1, 0], np.ones(8), [0, 0, 0, 1, 1, 1, 0, 0]).__round__(3)
    2.286
    """
    values, weights = np.asarray(y, np.float64), np.asarray(weight, np.float64)
    codes = as_index(stratum, len(values), "stratum")
    if values.ndim != 1 or values.shape != weights.shape:
        raise ShapeError(f"y {values.shape} and weight {weights.shape} must be of the same items")
    known = ~np.isnan(values)
    values, weights, codes = values[known], weights[known], codes[known]
    n = np.bincount(codes)
    codes = np.unique(np.where(n[codes] > 1, codes, -1), return_inverse=True)[1]
    n = np.bincount(codes)
    if len(values) < 2 or n.min() < 2:
        return math.nan
    off = values - np.average(values, weights=weights)
    simple = float(np.average(off**2, weights=weights)) / (len(values) - 1)
    z = weights * off / weights.sum()
    z -= (np.bincount(codes, z) / n)[codes]
    drawn = float((n / (n - 1)) @ np.bincount(codes, z**2))
    return simple / drawn if simple > 0 and drawn > 0 else math.nan


@dataclass(frozen=True, slots=True)
class ActiveEstimate:
    """A `DesignEstimate` and the `weight` (lambda) that the judge's scores had."""

    estimate: DesignEstimate
    weight: float


def active_mean(
    y: ArrayLike, judge: ArrayLike, probability: ArrayLike, *, weight: float | None = 1.0, groups: ArrayLike | None = None
) -> ActiveEstimate:
    """Mean from the judge's scores f of all items, corrected by labels drawn with known probabilities pi.

    theta = mean(y xi / pi + lambda f (1 - xi / pi)), xi = 1 where labelled; lambda = 1 is active inference, 0 is Horvitz-Thompson. The
    variance is that of a mean of these terms, for the items that these stand for. Without `weight`, lambda is the one that makes it
    smallest, -cov(y xi / pi, f (1 - xi / pi)) / var(f (1 - xi / pi)); it is not cut to [0, 1].

    Args:
        y: (items,) labels; NaN where the item was not drawn.
        judge: (items,) scores of all items; give a failure any fixed value.
        probability: (items,) inclusion probabilities in (0, 1].
        weight: lambda; None tunes it.
        groups: (items,) sortable codes of what items share; the variance is then by groups, with G - 1 df. Default: normal.

    Returns:
        `ActiveEstimate`; NaN without labels.

    Raises:
        ShapeError, ValueError: as `horvitz_thompson`.

    Reference: Zrnic & Candès (2024).

    >>> nan = float("nan")
    >>> round(active_mean([1.0, nan, 0.0, nan], [1.0, 1.0, 1.0, 0.0], [0.5] * 4).estimate.value, 3)
    0.25
    """
    values, pi, drawn = _drawn(y, probability)
    f = np.asarray(judge, np.float64)
    if f.shape != pi.shape:
        raise ShapeError(f"judge {f.shape} and probability {pi.shape} must be of the same items")
    if not drawn.any():
        return ActiveEstimate(_without_labels(), math.nan)
    inverse = drawn / pi
    label, score = np.where(drawn, values, 0.0) * inverse, f * (1 - inverse)
    if weight is None:
        spread = float(((score - score.mean()) ** 2).sum())
        weight = float(-((label - label.mean()) @ score) / spread) if spread > 0 else 0.0
    terms = label + weight * score
    off = terms - terms.mean()
    if groups is not None:
        off = np.bincount(as_index(groups, len(terms), "groups"), off)
    units = len(off)
    se = math.sqrt(float(off @ off) * units / (units - 1)) / len(terms) if units > 1 else math.nan
    df = math.inf if groups is None else units - 1.0
    return ActiveEstimate(DesignEstimate(float(terms.mean()), se, df, int(drawn.sum())), weight)


def _drawn(y: ArrayLike, probability: ArrayLike) -> tuple[Floats, Floats, np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]:
    values, pi = np.asarray(y, np.float64), np.asarray(probability, np.float64)
    if values.ndim != 1 or values.shape != pi.shape:
        raise ShapeError(f"y {values.shape} and probability {pi.shape} must be of the same items")
    if not ((pi > 0) & (pi <= 1)).all():
        raise ValueError(f"inclusion probabilities lie in (0, 1]; found {pi[~((pi > 0) & (pi <= 1))][0]}")
    return values, pi, ~np.isnan(values)


def _without_labels() -> DesignEstimate:
    return DesignEstimate(math.nan, math.nan, math.nan, 0, "no labels")
