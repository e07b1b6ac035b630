"""Maps from a judge's score to what people's scores are: proportional odds for classes, lines and isotonic regression for numbers.

P(Y <= k) = expit(c_k - (b + u_l) x - v_l) with v_l ~ N(0, sd_v²) and u_l ~ N(0, sd_u²) over languages l: partial pooling, so that a
language with few labels leans on the others. Sources: McCullagh 1980; Tierney & Kadane 1986 for the Laplace approximation.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, stats
from scipy.special import expit

from harness.stats.agreement.score_decomposition import corp_decomposition
from harness.stats.core.arrays import Floats, Ints
from harness.stats.intervals.cluster_mean import ClusterMean, cluster_mean

REACH = 30.0
"""Cuts, slopes and shifts are held within ± this on the logit scale, where separated classes would drive them to infinity."""
LEAST_SD = 0.02
_LEAST_P = 1e-12


class OrdinalMap(msgspec.Struct, frozen=True, eq=False):
    """A fitted map from a judge's score to probabilities of people's classes 0 … k-1.

    Attributes:
        cuts: (k-1,) rising cuts c.
        slope: b, 0 in the map without the score.
        shifts, slopes: (L,) v and u of each language, 0 where their spread is 0.
        sd_v, sd_u: spreads over languages.
        penalised: log-likelihood at the mode less sum v²/(2 sd_v²) and sum u²/(2 sd_u²).
        laplace: approximate log marginal likelihood, which chooses the spreads.
    """

    cuts: Floats
    slope: float
    shifts: Floats
    slopes: Floats
    sd_v: float
    sd_u: float
    penalised: float
    laplace: float

    def probabilities(self, x: ArrayLike, language: ArrayLike = -1) -> Floats:
        """(n, k) probabilities of classes at scores `x` in languages 0 … L-1; -1 is a language that the fit has not seen (v = u = 0)."""
        x, code = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(language))
        eta = (self.slope + np.r_[self.slopes, 0.0][code]) * x + np.r_[self.shifts, 0.0][code]
        below = expit(self.cuts - eta[..., None])
        ends = np.zeros((*below.shape[:-1], 1))
        return np.diff(np.concatenate([ends, below, ends + 1], axis=-1), axis=-1)

    def falls(self) -> list[int]:
        """Languages in which a higher score of the judge means lower scores of people: the map must be refused there."""
        return [int(at) for at in np.flatnonzero(self.slope + self.slopes < 0)]


def fit_ordinal_map(
    x: ArrayLike,
    y: ArrayLike,
    language: ArrayLike,
    classes: int,
    *,
    languages: int | None = None,
    sds: tuple[float, float] | None = None,
    with_score: bool = True,
) -> OrdinalMap:
    """Fit the map by the mode of the penalised likelihood.

    Args:
        x: (n,) the judge's scores, best centred and in standard deviations.
        y: (n,) people's classes, 0 … classes-1.
        language: (n,) codes 0 … L-1.
        classes: of the scale, at least 2.
        languages: L; None takes the largest code.
        sds: (sd_v, sd_u); 0 holds an effect at 0; None chooses them by the Laplace approximation, both 0 with one language.
        with_score: False fits the same map without the judge's score, b = u = 0.

    Raises:
        ValueError: without labels, with fewer than two classes or labels outside the scale.

    >>> found = fit_ordinal_map([-1, -1, 0, 0, 1, 1], [0, 1, 0, 1, 1, 1], [0] * 6, 2)
    >>> round(found.slope, 2), found.falls()
    (1.29, [])
    """
    x, y, code = np.asarray(x, np.float64), np.asarray(y, np.int64), np.asarray(language, np.int64)
    if classes < 2 or not len(y) or y.min() < 0 or y.max() >= classes:
        raise ValueError(f"a map needs labels of classes 0 to {classes - 1} on a scale of at least two")
    rows, times = np.unique(np.column_stack([x if with_score else np.zeros_like(x), y, code]), axis=0, return_counts=True)
    problem = _Fit(rows[:, 0], rows[:, 1].astype(int), rows[:, 2].astype(int), times, classes, languages or int(code.max()) + 1, with_score)
    if sds is None and problem.languages > 1:
        sds = problem.best_sds()
    return problem.at(*(sds or (0.0, 0.0)))


class _Fit:
    """Counted rows of one fit, and its mode for given spreads."""

    def __init__(self, x: Floats, y: Ints, code: Ints, times: Ints, classes: int, languages: int, with_score: bool) -> None:
        self.x, self.y, self.code, self.times = x, y, code, times
        self.k, self.languages, self.with_score = classes, languages, with_score
        shares = np.cumsum(np.bincount(y, times, classes) + 0.5)[:-1] / (times.sum() + classes / 2)
        cuts = np.log(shares / (1 - shares))
        self.start = np.r_[cuts[0], np.log(np.diff(cuts)), np.zeros(1 + 2 * languages)]

    def best_sds(self) -> tuple[float, float]:
        def loss(log_sds: Floats) -> float:
            return -self.at(*self._sds(log_sds)).laplace

        first = np.log([0.5, 0.3] if self.with_score else [0.5])
        bounds = [(np.log(LEAST_SD), np.log(5.0))] * len(first)
        found = optimize.minimize(loss, first, method="Nelder-Mead", bounds=bounds, options={"xatol": 0.05, "fatol": 1e-3, "maxfev": 60})
        return self._sds(found.x)

    def _sds(self, log_sds: Floats) -> tuple[float, float]:
        sds = np.exp(log_sds)
        return float(sds[0]), float(sds[1]) if self.with_score else 0.0

    def at(self, sd_v: float, sd_u: float) -> OrdinalMap:
        free = [self.with_score, *[sd_v > 0] * self.languages, *[sd_u > 0 and self.with_score] * self.languages]
        bounds = [(-REACH, REACH), *[(-REACH, 5.0)] * (self.k - 2), *[(-REACH, REACH) if one else (0.0, 0.0) for one in free]]
        options: Any = {"maxiter": 2000, "maxfun": 5000, "ftol": 1e-13, "gtol": 1e-8}
        found = optimize.minimize(self._loss, self.start, (sd_v, sd_u), "L-BFGS-B", jac=True, bounds=bounds, options=options)
        self.start = found.x
        cuts, slope, v, u = self._parts(found.x)
        laplace = -float(found.fun) - self._half_log_det(found.x, sd_v, sd_u)
        return OrdinalMap(cuts, slope, v, u, sd_v, sd_u, -float(found.fun), laplace)

    def _parts(self, theta: Floats) -> tuple[Floats, float, Floats, Floats]:
        cuts = theta[0] + np.r_[0.0, np.cumsum(np.exp(theta[1 : self.k - 1]))]
        v, u = theta[self.k :].reshape(2, self.languages)
        return cuts, float(theta[self.k - 1]), v, u

    def _edges(self, theta: Floats) -> tuple[Floats, Floats]:
        cuts, slope, v, u = self._parts(theta)
        eta = (slope + u[self.code]) * self.x + v[self.code]
        ends = np.r_[-np.inf, cuts, np.inf]
        return expit(ends[self.y + 1] - eta), expit(ends[self.y] - eta)

    def _loss(self, theta: Floats, sd_v: float, sd_u: float) -> tuple[float, Floats]:
        above, below = self._edges(theta)
        p = np.maximum(above - below, _LEAST_P)
        _, _, v, u = self._parts(theta)
        by_eta = self.times * (above + below - 1)
        upper, lower = self.times * above * (1 - above) / p, self.times * below * (1 - below) / p
        by_cut = np.bincount(self.y, upper, self.k)[:-1] - np.bincount(self.y, lower, self.k)[1:]
        steps = np.exp(theta[1 : self.k - 1]) * np.cumsum(by_cut[::-1])[::-1][1:]
        of_v = np.bincount(self.code, by_eta, self.languages) - (v / sd_v**2 if sd_v else 0)
        of_u = np.bincount(self.code, by_eta * self.x, self.languages) - (u / sd_u**2 if sd_u else 0)
        penalty = (v @ v / (2 * sd_v**2) if sd_v else 0) + (u @ u / (2 * sd_u**2) if sd_u else 0)
        return float(penalty - self.times @ np.log(p)), -np.r_[by_cut.sum(), steps, by_eta @ self.x, of_v, of_u]

    def _half_log_det(self, theta: Floats, sd_v: float, sd_u: float) -> float:
        """log|H|/2 over the effects that are free, plus L log of each spread; 0 where there are none."""
        above, below = self._edges(theta)
        h = self.times * (above * (1 - above) + below * (1 - below))
        vv, vu, uu = (np.bincount(self.code, h * self.x**power, self.languages) for power in (0, 1, 2))
        if sd_v and sd_u:
            det = (vv * sd_v**2 + 1) * (uu * sd_u**2 + 1) - (vu * sd_v * sd_u) ** 2
        else:
            det = vv * sd_v**2 + 1 if sd_v else uu * sd_u**2 + 1
        return float(np.log(det).sum() / 2)


def cross_fitted_map(
    x: ArrayLike,
    y: ArrayLike,
    language: ArrayLike,
    classes: int,
    folds: ArrayLike,
    *,
    sds: tuple[float, float] | None = None,
    with_score: bool = True,
) -> Floats:
    """(n, k) probabilities of each text from the map that the other folds gave; args as `fit_ordinal_map`, folds from `group_folds`.

    >>> cross_fitted_map([0] * 4, [0, 1, 0, 1], [0] * 4, 2, [0, 0, 1, 1], with_score=False).round(2)[0].tolist()
    [0.5, 0.5]
    """
    x, y, code, fold = np.asarray(x, np.float64), np.asarray(y), np.asarray(language), np.asarray(folds)
    out = np.empty((len(y), classes))
    for one in np.unique(fold):
        rest, own = fold != one, fold == one
        fitted = fit_ordinal_map(x[rest], y[rest], code[rest], classes, languages=int(code.max()) + 1, sds=sds, with_score=with_score)
        out[own] = fitted.probabilities(x[own], code[own])
    return out


def cross_fitted_shares(y: ArrayLike, language: ArrayLike, classes: int, folds: ArrayLike) -> Floats:
    """(n, k) the best constant: shares of classes in the text's language on the other folds, 1/2 added to each count.

    >>> cross_fitted_shares([0, 1, 1, 1], [0] * 4, 2, [0, 0, 1, 1])[0].round(3).tolist()
    [0.167, 0.833]
    """
    y, code, fold = np.asarray(y), np.asarray(language), np.asarray(folds)
    counts = np.zeros((int(fold.max()) + 1, int(code.max()) + 1, classes))
    np.add.at(counts, (fold, code, y), 1)
    others = (counts.sum(0) - counts)[fold, code] + 0.5
    return np.asarray(others / others.sum(axis=1, keepdims=True))


def brier_losses(probabilities: ArrayLike, y: ArrayLike) -> Floats:
    """(n,) sum over classes of (p - [y is the class])², in [0, 2]: Brier's score of each text.

    >>> brier_losses([[0.5, 0.5], [0, 1]], [0, 0]).tolist()
    [0.5, 2.0]
    """
    p = np.asarray(probabilities, np.float64)
    return np.asarray(((p - np.eye(p.shape[1])[np.asarray(y)]) ** 2).sum(axis=1))


def brier_parts(probabilities: ArrayLike, y: ArrayLike) -> dict[str, float]:
    """Miscalibration, discrimination and uncertainty, each summed over classes: Brier = the first - the second + the third (CORP).

    >>> {name: round(part, 2) for name, part in brier_parts([[0.9, 0.1]] * 2, [0, 1]).items()}
    {'miscalibration': 0.32, 'discrimination': 0.0, 'uncertainty': 0.5}
    """
    p, y = np.asarray(probabilities, np.float64), np.asarray(y)
    parts = [corp_decomposition(np.clip(p[:, at], 0, 1), (y == at).astype(float)) for at in range(p.shape[1])]
    return {name: sum(float(getattr(one, name)) for one in parts) for name in ("miscalibration", "discrimination", "uncertainty")}


def gain_test(before: ArrayLike, after: ArrayLike, groups: ArrayLike) -> ClusterMean:
    """The mean fall of a loss with groups as units; `.p_above(0)` is one-sided.

    >>> round(float(gain_test([1.0, 0.5, 0.8], [0.5, 0.5, 0.5], [0, 1, 2]).mean), 3)
    0.267
    """
    return cluster_mean(np.asarray(before, np.float64) - np.asarray(after, np.float64), np.asarray(groups))


def cross_fitted_numbers(x: ArrayLike, y: ArrayLike, folds: ArrayLike, rule: Literal["isotonic", "linear", "constant"]) -> Floats:
    """(n,) people's numbers predicted by the other folds. Isotonic is straight between labelled scores and flat beyond them.

    >>> cross_fitted_numbers([0, 1, 0, 1], [0, 2, 0, 2], [0, 0, 1, 1], "linear").round(6).tolist()
    [0.0, 2.0, 0.0, 2.0]
    """
    x, y, fold = np.asarray(x, np.float64), np.asarray(y, np.float64), np.asarray(folds)
    out = np.empty_like(y)
    for one in np.unique(fold):
        rest, own = fold != one, fold == one
        out[own] = _number_map(x[rest], y[rest], x[own], rule)
    return out


def _number_map(x: Floats, y: Floats, new: Floats, rule: str) -> Floats:
    if rule == "constant":
        return np.full(len(new), y.mean())
    if rule == "linear":
        slope, intercept = np.polyfit(x, y, 1)
        return np.asarray(intercept + slope * new)
    at, code, times = np.unique(x, return_inverse=True, return_counts=True)
    fitted = optimize.isotonic_regression(np.bincount(code, y) / times, weights=times).x
    return np.asarray(np.interp(new, at, fitted))


class Gap(msgspec.Struct, frozen=True):
    """The gap between the best and the worst language, beside what chance alone makes where all are equal.

    Attributes:
        gap: the largest value less the smallest.
        by_chance, by_chance_95: mean and 95 % quantile of the gap of equal languages with these errors.
        q, p: Cochran's heterogeneity and its p by chi² with L - 1 degrees of freedom.
    """

    gap: float
    by_chance: float
    by_chance_95: float
    q: float
    p: float


def gap_best_worst(values: ArrayLike, errors: ArrayLike, *, draws: int = 200_000, seed: int = 0) -> Gap:
    """The gap with its chance line.

    Args:
        values: (L,) one number of each language.
        errors: (L,) their standard errors, above 0.
        draws, seed: of the line of chance.

    Raises:
        ValueError: for fewer than two languages or an error that is not above 0.

    >>> found = gap_best_worst([0.7, 0.8], [0.05, 0.05])
    >>> round(found.gap, 2), round(found.by_chance, 2), round(found.p, 2)
    (0.1, 0.06, 0.16)
    """
    a, se = np.asarray(values, np.float64), np.asarray(errors, np.float64)
    if len(a) < 2 or not (se > 0).all():
        raise ValueError("a gap needs two languages or more, each with a standard error above 0")
    drawn = np.ptp(np.random.default_rng(seed).normal(size=(draws, len(a))) * se, axis=1)
    mean = np.average(a, weights=se**-2)
    q = float((((a - mean) / se) ** 2).sum())
    return Gap(float(np.ptp(a)), float(drawn.mean()), float(np.quantile(drawn, 0.95)), q, float(stats.chi2.sf(q, len(a) - 1)))
