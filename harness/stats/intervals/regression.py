"""Regressions: logistic with an optional ridge penalty, ordinal logistic (proportional odds), and linear with errors by group (CR2).

Likelihoods are maximised by Newton's method. A step of the ordinal model is linear in the rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, Ints, ShapeError, as_index, same_shape
from harness.stats.core.statistic import Estimated, bootstrap_from_sums, ratio
from harness.stats.intervals.intervals import MIN_GROUPS, NO_VARIATION, TOO_FEW, Interval, no_interval, proportion_interval

_STEPS = 100
_DONE = 1e-10
_FLAT = 1e-8
_ROUNDING = 1e-12


def fit_logistic(x: ArrayLike, y: ArrayLike, penalty: float = 0.0) -> Floats:
    """Intercept and slopes, (1 + features,), that minimise the log loss plus a ridge penalty of the slopes.

    Minimises sum_i -[y_i log q_i + (1 - y_i) log(1 - q_i)] + penalty / 2 * sum_j b_j², q = expit(b_0 + x b); the intercept is not
    penalised. penalty = 1 is scikit-learn's default C = 1.

    Args:
        x: (n, features).
        y: (n,) targets in [0, 1]; fractions are allowed.
        penalty: of the slopes, 0 or more.

    Raises:
        ValueError: if there is no finite minimum (without penalty where x separates y; with one class only).

    Reference: Hastie, Tibshirani & Friedman (2009), section 4.4.

    >>> fit_logistic([[0.0], [0.0], [1.0], [1.0]], [0.25, 0.25, 0.5, 0.5]).round(4).tolist()
    [-1.0986, 1.0986]
    """
    rows, target = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if rows.ndim != 2 or target.shape != rows.shape[:1]:
        raise ShapeError(f"x {rows.shape} and y {target.shape} must be of the same rows")
    design = np.column_stack([np.ones(len(rows)), rows])
    ridge = np.r_[0.0, np.full(rows.shape[1], float(penalty))]
    b = np.zeros(design.shape[1])
    loss = _loss(design, target, ridge, b)
    for _ in range(_STEPS):
        q = logistic(design @ b)
        gradient = design.T @ (q - target) + ridge * b
        if np.abs(gradient).max(initial=0.0) < _DONE * max(1, len(rows)):
            if penalty > 0 or _determined(rows, q):
                return b
            break
        hessian = (design.T * (q * (1 - q))) @ design + np.diag(ridge)
        try:
            step = np.linalg.solve(hessian, gradient)
        except np.linalg.LinAlgError:
            break
        size = 1.0
        while _loss(design, target, ridge, b - size * step) > loss + _ROUNDING * abs(loss) and size > _DONE:
            size /= 2
        b = b - size * step
        loss = _loss(design, target, ridge, b)
    raise ValueError("the logistic regression has no finite solution: its features separate the targets, or all targets are equal")


def _determined(rows: Floats, q: Floats) -> bool:
    """Return True if the log loss curves in every direction: where features separate the targets, it only falls to a limit."""
    spread = rows.std(axis=0)
    if not (spread > 0).all():
        return False
    scaled = np.column_stack([np.ones(len(rows)), (rows - rows.mean(axis=0)) / spread])
    return bool(np.linalg.eigvalsh((scaled.T * (q * (1 - q))) @ scaled / len(rows))[0] > _FLAT)


def _loss(design: Floats, target: Floats, ridge: Floats, b: Floats) -> float:
    z = design @ b
    return float((np.logaddexp(0, z) - target * z).sum() + ridge @ b**2 / 2)


def logistic(z: ArrayLike) -> Floats:
    """1 / (1 + exp(-z)), without overflow.

    >>> logistic([0.0, -1000.0]).tolist()
    [0.5, 0.0]
    """
    x = np.asarray(z, np.float64)
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1, small) / (1 + small))


_STEPS, _HALVINGS = 60, 30
_PRECISION = 1e-9  # of the log-likelihood, that the last step promises
_LARGEST_ERROR = 100.0  # of a parameter, in log-odds for one standard deviation of its predictor


class Derivatives(NamedTuple):
    """The log-likelihood at some parameters, and what a step needs.

    `scores` (rows, parameters) is the gradient of one item of each row, `gradient` (parameters,) the sum over all items, and
    `information` (parameters, parameters) the Hessian with its sign changed. `bends` (3, rows) are the second derivatives of one item of
    each row, with their sign changed: twice by the threshold above, by both thresholds, twice by the one below.
    """

    loglik: float
    scores: Floats
    gradient: Floats
    information: Floats
    bends: Floats


@dataclass(frozen=True, slots=True)
class OrdinalRows:
    """Rows of predictors with a class each; items that are alike are one row with a weight.

    logit P(class > c) = x b - threshold_c. The parameters are the coefficients b, then the thresholds, of which there is one fewer than
    classes. `upper` and `lower` (rows, parameters) times the parameters are the threshold above each row's class less x b, and
    the one below it less x b.
    """

    classes: Ints
    weight: Floats
    terms: int
    upper: Floats
    lower: Floats

    @classmethod
    def of(cls, design: Floats, classes: Ints, weight: Floats) -> OrdinalRows:
        """Predictors, (rows, terms); codes 0 … k-1, all used, k of 2 or more; numbers of items, (rows,)."""
        thresholds = np.arange(int(classes.max()))
        upper, lower = (np.hstack([-design, thresholds == threshold[:, None]]) for threshold in (classes, classes - 1))
        return cls(classes, weight, design.shape[1], upper, lower)

    def start(self) -> Floats:
        """The parameters that fit best without predictors."""
        below = np.cumsum(np.bincount(self.classes, self.weight))[:-1] / self.weight.sum()
        return np.asarray(np.r_[np.zeros(self.terms), np.log(below / (1 - below))])

    def derivatives(self, parameters: Floats) -> Derivatives | None:
        """At these parameters; None where a class has no chance, as where thresholds do not rise."""
        up = np.where(self.classes < self.classes.max(), self.upper @ parameters, np.inf)
        low = np.where(self.classes > 0, self.lower @ parameters, -np.inf)
        under_up, under_low = logistic(up), logistic(low)
        with np.errstate(over="ignore"):
            chance = under_up * logistic(-low) * -np.expm1(low - up)  # under_up - under_low, without cancellation
        if not (chance > 0).all():
            return None
        by_up, by_low = under_up * (1 - under_up) / chance, -under_low * (1 - under_low) / chance
        scores = by_up[:, None] * self.upper + by_low[:, None] * self.lower
        bends = np.stack([by_up**2 - by_up * (1 - 2 * under_up), by_up * by_low, by_low**2 - by_low * (1 - 2 * under_low)])
        bend_up, cross, bend_low = (self.weight * bends)[:, :, None]
        information = self.upper.T @ (bend_up * self.upper + cross * self.lower) + self.lower.T @ (
            bend_low * self.lower + cross * self.upper
        )
        return Derivatives(float(self.weight @ np.log(chance)), scores, scores.T @ self.weight, information, bends)

    def fit(self, start: Floats) -> OrdinalMaximum | None:
        """The maximum of the likelihood; None where it is not at finite parameters.

        The likelihood is concave in the parameters, so that Newton's steps, halved where they go too far, climb to its maximum. Where a
        predictor separates some of the classes there is none: the steps end where the likelihood is almost flat, and the error of a
        parameter is then very large.
        """
        parameters, current = start, self.derivatives(start)
        for _ in range(_STEPS):
            if current is None:
                return None
            try:
                step = np.asarray(np.linalg.solve(current.information, current.gradient), np.float64)
            except np.linalg.LinAlgError:
                return None
            promise = float(current.gradient @ step)
            parameters, current = self._climb(parameters, current, step)
            if promise < _PRECISION:
                return self._finite(parameters, current) if current else None
        return None

    def _climb(self, parameters: Floats, current: Derivatives, step: Floats) -> tuple[Floats, Derivatives | None]:
        for halving in range(_HALVINGS):
            moved = parameters + step / 2**halving
            candidate = self.derivatives(moved)
            if candidate and candidate.loglik >= current.loglik - _PRECISION:
                return moved, candidate
        return parameters, None

    def _finite(self, parameters: Floats, current: Derivatives) -> OrdinalMaximum | None:
        try:
            covariance = np.asarray(np.linalg.inv(current.information), np.float64)
        except np.linalg.LinAlgError:
            return None
        mean = self.weight @ -self.upper[:, : self.terms] / self.weight.sum()
        square = self.weight @ (self.upper[:, : self.terms] ** 2) / self.weight.sum()
        scale = np.r_[np.sqrt(square - mean**2), np.ones(len(parameters) - self.terms)]
        errors = np.sqrt(np.maximum(np.diag(covariance), 0)) * scale
        return OrdinalMaximum(parameters, current, covariance) if (errors < _LARGEST_ERROR).all() else None


@dataclass(frozen=True, slots=True)
class OrdinalMaximum:
    """The `parameters` at the maximum, the derivatives `at` them and the inverse of their information."""

    parameters: Floats
    derivatives: Derivatives
    covariance: Floats


LEAST_FREEDOM = 4.0
"""Below so many degrees of freedom a test of a coefficient says nothing."""
_SLACK = 1e-10


class ClusterRegression(NamedTuple):
    """Coefficients (k,), or contrasts (m,) of them, with error, freedom and two-sided p; all NaN where columns cannot be told apart.

    `detectable` is the smallest coefficient that would be found with a power of 80 % at the level of 5 %: (t_.975 + t_.8) times the error.
    """

    coefficients: Floats
    errors: Floats
    freedom: Floats
    p: Floats
    detectable: Floats
    n: int
    groups: int

    @property
    def refused(self) -> Floats:
        """Return the coefficients that have too few degrees of freedom for a test."""
        return np.asarray(~(self.freedom >= LEAST_FREEDOM))

    @property
    def interval(self) -> tuple[Floats, Floats]:
        """The ends of 95 % intervals: t_.975 errors around each coefficient."""
        from scipy.special import stdtrit

        reach = stdtrit(self.freedom, 0.975) * self.errors
        return self.coefficients - reach, self.coefficients + reach


def cluster_regression(y: ArrayLike, columns: ArrayLike, groups: ArrayLike, contrasts: ArrayLike | None = None) -> ClusterRegression:
    """Least squares with the bias-reduced cluster variance CR2 and Satterthwaite degrees of freedom for each coefficient.

    A_g = (I - H_gg)^-1/2, V = M (sum_g X_g' A_g e_g e_g' A_g X_g) M with M = (X'X)^-1, and the degrees of freedom of coefficient j are
    (sum of eigenvalues)² / (sum of their squares) of P'P, where p_g = (I - H)_g' A_g X_g M_j. The working model is of independent items.

    Args:
        y: (items,) differences between judge and people.
        columns: (items, k) covariates, a column of ones among them.
        contrasts: (m, k) sums of coefficients that are wanted instead, such as the last level of a factor whose levels sum to 0.

    Reference: Bell & McCaffrey (2002); Pustejovsky & Tipton (2018).

    >>> y = [1.0, 2.0, 2.5, 4.0, 4.5, 6.5, 7.0, 8.5]
    >>> found = cluster_regression(y, np.column_stack([np.ones(8), range(8)]), [0, 0, 1, 1, 2, 2, 3, 3])
    >>> found.coefficients.round(3).tolist(), bool(found.refused[1])
    ([0.75, 1.071], True)
    """
    response, design = np.asarray(y, np.float64), np.asarray(columns, np.float64)
    if design.ndim != 2 or len(response) != len(design):
        raise ShapeError(f"y {response.shape} and columns {design.shape} must be of the same items")
    index = as_index(groups, len(response), "groups")
    n, k, count = len(response), design.shape[1], int(index.max(initial=-1)) + 1
    wanted = np.eye(k) if contrasts is None else np.asarray(contrasts, np.float64)
    if n <= k or count < 2 or np.linalg.matrix_rank(design) < k:
        nothing = np.full(len(wanted), math.nan)
        return ClusterRegression(nothing, nothing, nothing, nothing, nothing, n, count)
    bread = np.asarray(np.linalg.inv(design.T @ design), np.float64)
    plain = bread @ design.T @ response
    residual = response - design @ plain
    lines = bread @ wanted.T  # (k, m)
    score, squares, lean = np.empty((count, len(wanted))), np.empty((count, len(wanted))), np.empty((count, k, len(wanted)))
    order = np.argsort(index, kind="stable")
    for g, rows in enumerate(np.split(order, np.flatnonzero(np.diff(index[order])) + 1)):
        group_design = design[rows]
        # The inverse root of a symmetric matrix; directions that the regression fits exactly count as none.
        values, vectors = np.linalg.eigh(np.eye(len(group_design)) - group_design @ bread @ group_design.T)
        roots = np.where(values > _SLACK, 1 / np.sqrt(np.maximum(values, _SLACK)), 0.0)
        inverse_root = np.asarray((vectors * roots) @ vectors.T)
        adjusted = inverse_root @ group_design @ lines  # (items of g, m)
        score[g] = adjusted.T @ residual[rows]
        squares[g], lean[g] = (adjusted**2).sum(axis=0), group_design.T @ adjusted
    coefficients, errors = wanted @ plain, np.sqrt((score**2).sum(axis=0))
    freedom = np.array([_freedom(squares[:, j], lean[:, :, j], bread) for j in range(len(wanted))])
    from scipy.special import stdtr, stdtrit

    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stdtr(freedom, -np.abs(coefficients / errors))
    tests = (np.asarray(p), np.asarray((stdtrit(freedom, 0.975) + stdtrit(freedom, 0.8)) * errors))
    return ClusterRegression(coefficients, errors, freedom, *tests, n, count)


def _freedom(squares: Floats, lean: Floats, bread: Floats) -> float:
    """(trace)² / (sum of squares) of P'P = diag(squares) - U (X'X)^-1 U', U = `lean` (groups, k), without a matrix of all groups."""
    inner = lean.T @ lean @ bread
    diagonal = np.einsum("gi,ij,gj->g", lean, bread, lean)
    trace = float(squares.sum() - diagonal.sum())
    total = float((squares**2).sum() - 2 * (squares * diagonal).sum() + np.trace(inner @ inner))
    return trace**2 / total if total > 0 else math.nan


_MOST_UNDEFINED = 0.1  # share of the resamples in which the line may be undefined


def slope(x: ArrayLike, y: ArrayLike, groups: ArrayLike, *, seed: int = 0, resamples: int = 1000) -> Estimated:
    """Least-squares slope of y on x, in units of y per unit of x, with the cluster bootstrap's interval and p.

    sum (x - mean x)(y - mean y) / sum (x - mean x)². The slope summarises the change; it does not claim that the relation is linear.

    Args:
        x, y: (units,) numbers, NaN where missing (such units are left out).
        groups: (units,) any sortable codes of what units share; an item at several x is one group at least.

    Returns:
        `Estimated`; undefined if x is constant ("one condition only").

    >>> found = slope([0, 1] * 20, [1, 0, 1, 1] * 10, np.repeat(range(20), 2))
    >>> found.value, found.n, found.interval.hi < 0
    (-0.5, 40, True)
    """
    a, b, codes = np.asarray(x, np.float64), np.asarray(y, np.float64), np.asarray(groups)
    same_shape("of the same units", x=a, y=b, groups=codes)
    present = ~(np.isnan(a) | np.isnan(b))
    a, b = a[present], b[present]
    a = a - a.mean() if len(a) else a
    features = np.stack([np.ones(len(a)), a, b, a * a, a * b], axis=1)
    return bootstrap_from_sums(features, _slope_of_sums, codes[present], constant="one condition only", seed=seed, resamples=resamples)


def _slope_of_sums(sums: Floats) -> Floats:
    n, x, y, xx, xy = np.moveaxis(sums, -1, 0)
    return ratio(n * xy - x * y, n * xx - x * x)


@dataclass(frozen=True, slots=True)
class PageTest:
    """Page's L with the one-sided `p` of a falling trend and the number of its `blocks`; NaN and a reason if undefined."""

    statistic: float
    p: float
    blocks: int
    reason: str | None


def page_falling(table: ArrayLike) -> PageTest:
    """Page's test that the columns fall from left to right, against the hypothesis that they do not differ.

    L = sum of (predicted rank) x (sum of the blocks' ranks); blocks whose values are all equal have no
    order and are left out. Remaining ties get middle ranks, which makes the test conservative.

    Args:
        table: (blocks, conditions) numbers, conditions in the order in which the values should fall; no NaN.

    Returns:
        `PageTest`: undefined with fewer than three conditions, fewer than 8 blocks, or no two blocks that vary.

    Reference: Page (1963); `scipy.stats.page_trend_test`.

    >>> found = page_falling([[3, 2, 1]] * 6 + [[1, 2, 3], [2, 2, 2]])
    >>> found.statistic, found.blocks, found.p < 0.05
    (94.0, 7, True)
    """
    values = np.asarray(table, np.float64)
    if values.ndim != 2:
        raise ShapeError(f"table must be blocks x conditions, got shape {values.shape}")
    varied = values[np.ptp(values, axis=1) > 0] if values.size else values[:0]
    if values.shape[1] < 3:
        return PageTest(math.nan, math.nan, len(varied), "fewer than three conditions")
    if len(values) < MIN_GROUPS:
        return PageTest(math.nan, math.nan, len(varied), TOO_FEW)
    if len(varied) < 2:
        return PageTest(math.nan, math.nan, len(varied), NO_VARIATION)
    from scipy.stats import page_trend_test  # late: half a second

    test = page_trend_test(varied[:, ::-1])
    return PageTest(float(test.statistic), float(test.pvalue), len(varied), None)


@dataclass(frozen=True)
class Line:
    """y = intercept + slope x by ordinary least squares over `points` points; NaN where all points have one x."""

    slope: float
    intercept: float
    slope_interval: Interval
    points: int


def least_squares(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Slopes and intercepts (...) of ordinary least squares over the last axis of x and y (..., points); NaN where x is constant.

    >>> [round(float(value), 12) for value in least_squares(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0]))]
    [2.0, 1.0]
    """
    dx = x - x.mean(axis=-1, keepdims=True)
    dy = y - y.mean(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (dx * dy).sum(axis=-1) / (dx * dx).sum(axis=-1)
    slope = np.where(np.ptp(x, axis=-1) > 0, slope, math.nan)
    return slope, y.mean(axis=-1) - slope * x.mean(axis=-1)


def fit_line(
    points: Sequence[Mapping[str, Floats]], strata: Sequence[str], *, seed: int = 0, resamples: int = 1999, level: float = 0.95
) -> Line:
    """Fit a line through points, and again in resamples of the source texts, because points that share texts are dependent.

    Args:
        points: for each point `{source text: (sum of x, count of x, sum of y, count of y)}`; a coordinate is the ratio of its sums.
        strata: for each point the set of texts that it rests on: points of one stratum are resampled together.

    Returns:
        The line with the percentile interval of its slope; no interval if a stratum has fewer than 8 texts.

    Reference: the line is that of Panickssery, Bowman & Feng (2024), figure 1; Davison & Hinkley (1997), resampling of clusters.

    >>> texts = {f"t{n}": np.array([0.1 * (n % 3), 1.0, 0.2 * (n % 3), 1.0]) for n in range(9)}
    >>> moved = [{text: sums + (add, 0, 2 * add, 0) for text, sums in texts.items()} for add in (0.0, 0.3, 0.5)]
    >>> line = fit_line(moved, ["en"] * 3)
    >>> round(line.slope, 6), round(abs(line.intercept), 6), line.points
    (2.0, 0.0, 3)
    """
    totals = np.array([np.sum(list(point.values()), axis=0) for point in points])
    slope, intercept = least_squares(*_coordinates(totals))
    texts = {
        name: sorted({text for point, stratum in zip(points, strata, strict=True) if stratum == name for text in point}) for name in strata
    }
    fewest = min(map(len, texts.values()))
    if fewest < MIN_GROUPS:
        interval = no_interval(fewest)
    else:
        rng = np.random.default_rng(seed)
        times = {name: rng.multinomial(len(codes), np.full(len(codes), 1 / len(codes)), resamples) for name, codes in texts.items()}
        sums = [
            times[name] @ np.array([point.get(text, np.zeros(4)) for text in texts[name]])
            for point, name in zip(points, strata, strict=True)
        ]
        slopes, _ = least_squares(*_coordinates(np.stack(sums, axis=1)))
        defined = slopes[np.isfinite(slopes)]
        if len(defined) < (1 - _MOST_UNDEFINED) * resamples:
            interval = no_interval(fewest, "undefined in many resamples")
        else:
            lo, hi = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
            interval = Interval(float(lo), float(hi), "cluster bootstrap (percentile)", fewest, None, None)
    return Line(float(slope), float(intercept), interval, len(points))


def _coordinates(sums: Floats) -> tuple[Floats, Floats]:
    with np.errstate(divide="ignore", invalid="ignore"):
        return sums[..., 0] / sums[..., 1], sums[..., 2] / sums[..., 3]


NEVER, ALWAYS = "one condition is never seen", "one condition is always seen"
_METHOD = "square-and-add of logits"


def logit_rise(
    first: ArrayLike, second: ArrayLike, groups: ArrayLike, *, level: float = 0.95, seed: int = 0, resamples: int = 1000
) -> Estimated:
    """log odds that `second` is 1 minus log odds that `first` is 1, both of the same items: a log odds ratio of shares, not of items.

    The interval is that of square-and-add: from each share's own interval (`proportion_interval`) on the logit scale, and the correlation
    of both shares over the groups, corrected for few items. A share of 0 or 1 has no logit, so there is no value either.

    Args:
        first, second: (items,) 0 or 1, NaN where missing; items without both are left out.

    Returns:
        `Estimated` without p, in logits, of any size; 0 if both shares are equal, 1 if the odds are e times as large. Undefined without
        items ("no overlap"), or if a share is 0 or 1; fewer than 8 groups have no interval.

    Raises:
        ValueError: for numbers outside [0, 1].

    Reference: Zou & Donner (2008), square-and-add with correlation; Newcombe (1998), correction of phi; Newcombe (2001), Wilson's
    interval on the logit scale.

    >>> found = logit_rise([1, 0, 0, 0] * 5, [1, 1, 1, 0] * 5, range(20))
    >>> round(found.value, 3), [round(end, 2) for end in (found.interval.lo, found.interval.hi)]  # 2 ln 3
    (2.197, [0.97, 3.43])
    >>> logit_rise([0, 0], [1, 0], range(2)).reason
    'one condition is never seen'
    """
    # Both measurements and the number of the group, of the items that have both.
    a, b, codes = np.asarray(first, np.float64), np.asarray(second, np.float64), np.asarray(groups)
    same_shape(first=a, second=b, groups=codes)
    shared = ~(np.isnan(a) | np.isnan(b))
    x, other, codes = a[shared], b[shared], np.unique(codes[shared], return_inverse=True)[1]
    if not len(x):
        return Estimated(math.nan, 0, no_interval(0), math.nan, "no overlap")
    shares = float(x.mean()), float(other.mean())
    if not all(0 < share < 1 for share in shares):
        why = NEVER if 0 in shares else ALWAYS
        return Estimated(math.nan, len(x), no_interval(len(np.unique(codes)), why), math.nan, why)
    value = _logit(shares[1]) - _logit(shares[0])
    share_intervals = [proportion_interval(hits, codes, level=level, seed=seed, resamples=resamples) for hits in (x, other)]
    if share_intervals[0].reason:
        return Estimated(value, len(x), share_intervals[0], math.nan, None)
    lower, upper = (_logit(one_end) for one_end in (share_intervals[0].lo, share_intervals[0].hi))
    below, above = (_logit(one_end) for one_end in (share_intervals[1].lo, share_intervals[1].hi))
    # The correlation of the two shares, from the groups' sums of deviations; 0 if one of them does not vary over groups. A positive one
    # makes the interval narrower, so half an item is taken off, as Newcombe's correction of phi does.
    of_first, of_other = (np.bincount(codes, scores - scores.mean()) for scores in (x, other))
    size, together = math.sqrt(float(of_first @ of_first) * float(of_other @ of_other)), float(of_first @ of_other)
    r = min(together, max(together - 0.5, 0.0)) / size if size > 0 else 0.0
    middle = _logit(shares[0]), _logit(shares[1])
    lo = value - _added(middle[1] - below, upper - middle[0], r)
    hi = value + _added(above - middle[1], middle[0] - lower, r)
    return Estimated(value, len(x), Interval(lo, hi, _METHOD, share_intervals[0].groups, None, None), math.nan, None)


def _logit(share: float) -> float:
    return math.log(share / (1 - share))


def _added(first: float, other: float, r: float) -> float:
    """The length of two distances from a middle to an end, of estimates that correlate with r."""
    return math.sqrt(max(first**2 - 2 * r * first * other + other**2, 0.0))
