"""Maps from a judge's score to probabilities of people's classes, ordered or not, with partial pooling over languages.

Ordered: P(Y <= k) = expit(c_k - (b + u_l) x - z g - v_l) with v_l ~ N(0, sd_v²) and u_l ~ N(0, sd_u²) over languages l, so that a language
with few labels leans on the others. The mode is found by Newton's method on counted rows; the spreads have the largest Laplace
approximation. Sources: McCullagh 1980 for the model; Tierney & Kadane 1986 for the approximation.

Without order: in language l, of texts with answer x, people gave class y with probability (n_lxy + a q_xy) / (n_lx + a). The shares q of
all languages count as `a` labels, with the `a` that has the largest Dirichlet-multinomial likelihood. Source: Good 1965, partial pooling.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, Ints, ShapeError
from harness.stats.estimation.shrinkage import paule_mandel

REACH = 30.0
"""A cut that no label holds is put here on the logit scale; separated classes drive slopes and cuts no further."""
LEAST_SD, LARGEST_SD = 0.02, 5.0
_LEAST_P, _RIDGE, _STEPS, _NEAR = 1e-12, 1e-9, 60, 1e-11
Sds = tuple[float, float]


class OrdinalMap(msgspec.Struct, frozen=True, eq=False):
    """A fitted map from a judge's score to probabilities of people's classes 0 … k-1.

    Attributes:
        cuts: (k-1,) cuts c, none below the one before.
        slope: b, 0 in the map without the score.
        shifts, slopes: (L,) v and u of each language, 0 where their spread is 0.
        sd_v, sd_u: spreads over languages.
        penalised: log-likelihood at the mode less sum v²/(2 sd_v²) and sum u²/(2 sd_u²).
        laplace: approximate log marginal likelihood, which chooses the spreads.
        further: (q,) coefficients g of the covariates.
    """

    cuts: Floats
    slope: float
    shifts: Floats
    slopes: Floats
    sd_v: float
    sd_u: float
    penalised: float
    laplace: float
    further: Floats = np.zeros(0)

    def probabilities(self, x: ArrayLike, language: ArrayLike = -1, covariates: ArrayLike | None = None) -> Floats:
        """(n, k) probabilities of classes at scores `x` in languages 0 … L-1; -1 is a language that the fit has not seen (v = u = 0)."""
        x, code = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(language))
        eta = (self.slope + np.r_[self.slopes, 0.0][code]) * x + np.r_[self.shifts, 0.0][code]
        if covariates is not None:
            eta = eta + np.asarray(covariates, np.float64) @ self.further
        return class_probabilities_at(self.cuts, eta)

    def falls(self) -> list[int]:
        """Languages in which a higher score of the judge means lower scores of people: the map must be refused there."""
        return [int(index) for index in np.flatnonzero(self.slope + self.slopes < 0)]


def class_probabilities_at(cuts: ArrayLike, eta: ArrayLike) -> Floats:
    """(…, k) expit(cut above - eta) - expit(cut below - eta).

    >>> class_probabilities_at([0.0], [0.0, 3.0]).round(2).tolist()
    [[0.5, 0.5], [0.05, 0.95]]
    """
    from scipy.special import expit

    below = expit(np.asarray(cuts, np.float64) - np.asarray(eta, np.float64)[..., None])
    return np.diff(below, axis=-1, prepend=0.0, append=1.0)


@dataclass(frozen=True, eq=False)
class LabelledScores:
    """The data of a map, a row for each text.

    Attributes:
        x: (n,) the judge's scores, best centred and in standard deviations.
        counts: (n, k) how many labels gave each class.
        language: (n,) codes 0 … languages-1.
        languages: L.
        covariates: (n, q) further numbers, best standardised.
    """

    x: Floats
    counts: Floats
    language: Ints
    languages: int
    covariates: Floats

    @classmethod
    def of(
        cls, x: ArrayLike, counts: ArrayLike, language: ArrayLike, *, languages: int | None = None, covariates: ArrayLike | None = None
    ) -> LabelledScores:
        """The same from lists; `languages` None takes the largest code.

        Raises:
            ValueError: without labels, and for fewer than two classes.
        """
        x, counts, code = np.asarray(x, np.float64), np.asarray(counts, np.float64), np.asarray(language, np.int64)
        columns = np.zeros((len(x), 0)) if covariates is None else np.asarray(covariates, np.float64).reshape(len(x), -1)
        if counts.ndim != 2 or not len(x) == len(counts) == len(code) == len(columns):
            raise ShapeError(f"scores {x.shape}, counts {counts.shape} and languages {code.shape} must be of the same texts")
        if counts.shape[1] < 2 or not counts.sum():
            raise ValueError("a map needs labels on a scale of at least two classes")
        return cls(x, counts, code, languages or int(code.max()) + 1, columns)

    def take(self, rows: ArrayLike) -> LabelledScores:
        """Some of the texts."""
        index = np.asarray(rows)
        return replace(self, x=self.x[index], counts=self.counts[index], language=self.language[index], covariates=self.covariates[index])

    def table(self) -> tuple[LabelledScores, Ints]:
        """The distinct rows with their labels added up, and the row of each text."""
        code = np.zeros(len(self.x), np.int64)
        for column in (self.language, self.x, *self.covariates.T):
            _, codes = np.unique(column, return_inverse=True)
            code = np.unique(code * (codes.max(initial=0) + 1) + codes, return_inverse=True)[1]
        first = np.unique(code, return_index=True)[1]
        return replace(self.take(first), counts=_added(self.counts, code, len(first))), code


def _added(counts: Floats, code: Ints, rows: int) -> Floats:
    """(rows, k) counts of the texts of each row, added up."""
    return np.stack([np.bincount(code, column, rows).astype(np.float64) for column in counts.T], axis=1)


def fit_ordinal_map(
    scores: LabelledScores, *, sds: Sds | None = None, with_score: bool = True, start: OrdinalMap | None = None
) -> OrdinalMap:
    """Fit the map by the mode of the penalised likelihood.

    Args:
        scores: scores and labels.
        sds: (sd_v, sd_u); 0 holds an effect at 0; None chooses them by the Laplace approximation, both 0 with one language.
        with_score: False fits the same map without the judge's score, b = u = 0.
        start: a fit of most of the same labels, near which the spreads are sought.

    >>> one = np.eye(2)[[0, 1, 0, 1, 1, 1]]  # one label a text
    >>> found = fit_ordinal_map(LabelledScores.of([-1, -1, 0, 0, 1, 1], one, [0] * 6))
    >>> round(found.slope, 2), found.falls()
    (1.29, [])
    """
    problem = _Fit(scores.table()[0], with_score)
    if sds is None:
        sds = problem.best_sds(start) if scores.languages > 1 else (0.0, 0.0)
    return problem.at(*sds)


def cross_fitted_map(
    scores: LabelledScores, folds: ArrayLike, *, sds: Sds | None = None, with_score: bool = True
) -> tuple[Floats, OrdinalMap]:
    """The (n, k) probabilities of each text from the map that the other folds gave, and the map of all texts.

    Args:
        scores, sds, with_score: as `fit_ordinal_map`.
        folds: (n,) from `group_folds`.

    >>> one = np.eye(2)[[0, 1, 0, 1]]
    >>> cross_fitted_map(LabelledScores.of([0] * 4, one, [0] * 4), [0, 0, 1, 1], with_score=False)[0].round(2)[0].tolist()
    [0.5, 0.5]
    """
    fold = np.asarray(folds)
    table, code = scores.table()
    full = fit_ordinal_map(table, sds=sds, with_score=with_score)
    out = np.empty_like(scores.counts)
    for held_out in np.unique(fold):
        in_fold = fold == held_out
        rest = replace(table, counts=table.counts - _added(scores.counts[in_fold], code[in_fold], len(table.x)))
        fitted = fit_ordinal_map(rest, sds=sds, with_score=with_score, start=full) if rest.counts.any() else full
        out[in_fold] = fitted.probabilities(table.x, table.language, table.covariates)[code[in_fold]]
    return out, full


class _Fit:
    """Counted rows of one fit, and its mode for given spreads. Classes without a label get no room between the cuts."""

    def __init__(self, table: LabelledScores, with_score: bool) -> None:
        rows = table.counts.sum(axis=1) > 0
        self.used = np.flatnonzero(table.counts.sum(axis=0) > 0)
        self.classes, self.languages, self.with_score = table.counts.shape[1], table.languages, with_score
        self.counts = table.counts[np.ix_(rows, self.used)]
        self.code, self.x, self.further = table.language[rows], table.x[rows], table.covariates[rows]
        shares = np.cumsum(self.counts.sum(axis=0) + 0.5)[:-1] / (self.counts.sum() + len(self.used) / 2)
        self.cuts = np.log(shares / (1 - shares))
        self.effects = np.zeros((1 if with_score else 0) + self.further.shape[1] + 2 * self.languages)

    def best_sds(self, near: OrdinalMap | None) -> Sds:
        """The spreads with the largest Laplace approximation, to a twentieth (a tenth near those of another fit)."""
        from scipy import optimize

        first = np.log([max(near.sd_v, LEAST_SD), max(near.sd_u, LEAST_SD)] if near else [0.5, 0.3])[: 1 + self.with_score]
        low, high = math.log(LEAST_SD), math.log(LARGEST_SD)
        edges = [np.clip(first + step, low, high) for step in np.eye(len(first)) * np.where(first > (low + high) / 2, -0.5, 0.5)]

        def loss(logs: Floats) -> float:
            return -self.at(*self._sds(logs)).laplace

        options: Any = {
            "initial_simplex": [first, *edges],
            "xatol": 0.1 if near else 0.05,
            "fatol": 1e-2 if near else 1e-3,
            "maxfev": 25 if near else 60,
        }
        bounds = [(low, high)] * len(first)
        optimum = optimize.minimize(loss, first, method="Nelder-Mead", bounds=bounds, options=options)
        return self._sds(optimum.x)

    def _sds(self, logs: Floats) -> Sds:
        sds = np.exp(logs)
        return float(sds[0]), float(sds[1]) if self.with_score else 0.0

    def at(self, sd_v: float, sd_u: float) -> OrdinalMap:
        """The mode; the next one is sought from here."""
        design, penalty, columns = self._design(sd_v, sd_u)
        cuts, effects = self.cuts, self.effects[columns]
        loss = self._loss(cuts, effects, design, penalty)
        for _ in range(_STEPS if len(cuts) else 0):
            gradient, hessian = self._derivatives(cuts, effects, design, penalty)
            step = np.linalg.solve(hessian, -gradient)
            if -gradient @ step < _NEAR * (1 + abs(loss)):
                break
            size, better = 1.0, math.inf
            while not better <= loss and size > 1e-6:
                candidate = (cuts + size * step[: len(cuts)], effects + size * step[len(cuts) :])
                better = self._loss(*candidate, design, penalty)
                size /= 2
            if not better <= loss or max(np.abs(candidate[0]).max(), np.abs(candidate[1]).max(initial=0)) > REACH:
                break
            (cuts, effects), loss = candidate, better
        self.cuts, self.effects = cuts, np.zeros_like(self.effects)
        self.effects[columns] = effects
        first = len(self.effects) - 2 * self.languages
        v, u = self.effects[first:].reshape(2, self.languages)
        score = float(self.effects[0]) if self.with_score else 0.0
        cuts = np.full(self.classes - 1, REACH)
        cuts[: self.used[0]] = -REACH
        for cut, low, high in zip(self.cuts, self.used[:-1], self.used[1:], strict=True):
            cuts[low:high] = cut
        # Log|H|/2 over the effects of languages that are free, plus L log of each spread; 0 where there are none.
        up_to = self._edges(self.cuts, design @ effects)[0]
        variance = up_to * (1 - up_to)
        h = (self.counts * (variance[:, 1:] + variance[:, :-1])).sum(axis=1)
        vv, vu, uu = (np.bincount(self.code, h * self.x**power, self.languages) for power in (0, 1, 2))
        if sd_v and sd_u:
            det = (vv * sd_v**2 + 1) * (uu * sd_u**2 + 1) - (vu * sd_v * sd_u) ** 2
        else:
            det = vv * sd_v**2 + 1 if sd_v else uu * sd_u**2 + 1
        half_log_det = float(np.log(det).sum() / 2)
        laplace = -loss - half_log_det
        return OrdinalMap(cuts, score, v, u, sd_v, sd_u, -loss, laplace, self.effects[int(self.with_score) : first])

    def _design(self, sd_v: float, sd_u: float) -> tuple[Floats, Floats, Ints]:
        """(rows, effects) what each effect is multiplied with, the penalty of each, and the places of the effects that are free."""
        by_language = np.eye(self.languages)[self.code]
        parts = [self.x[:, None]] if self.with_score else []
        parts += [self.further, by_language, by_language * self.x[:, None]]
        precision = [1 / sd**2 if sd else math.inf for sd in (sd_v, sd_u if self.with_score else 0.0)]
        penalty = np.concatenate([np.zeros(len(self.effects) - 2 * self.languages), np.repeat(precision, self.languages)])
        columns = np.flatnonzero(np.isfinite(penalty))
        return np.concatenate(parts, axis=1)[:, columns], penalty[columns], columns

    def _edges(self, cuts: Floats, eta: Floats) -> tuple[Floats, Floats]:
        """(rows, k+1) probabilities up to each cut with 0 and 1 at the ends, and (rows, k) those of classes."""
        from scipy.special import expit

        up_to = np.zeros((len(eta), len(cuts) + 2))
        up_to[:, -1] = 1.0
        up_to[:, 1:-1] = expit(cuts - eta[:, None])
        return up_to, np.maximum(up_to[:, 1:] - up_to[:, :-1], _LEAST_P)

    def _loss(self, cuts: Floats, effects: Floats, design: Floats, penalty: Floats) -> float:
        if (cuts[1:] <= cuts[:-1]).any():
            return math.inf
        p = self._edges(cuts, design @ effects)[1]
        return float(penalty @ effects**2 / 2 - (self.counts * np.log(p)).sum())

    def _derivatives(self, cuts: Floats, effects: Floats, design: Floats, penalty: Floats) -> tuple[Floats, Floats]:
        """Gradient and Hessian of the loss over cuts and effects."""
        up_to, p = self._edges(cuts, design @ effects)
        n, spread, m = self.counts, (up_to * (1 - up_to))[:, 1:-1], len(cuts)
        ratio, square = n / p, n / p**2
        pull = ratio[:, :-1] - ratio[:, 1:]
        by_eta = (n * (up_to[:, 1:] + up_to[:, :-1] - 1)).sum(axis=1)
        gradient = -np.concatenate([(spread * pull).sum(axis=0), by_eta @ design])
        gradient[m:] += penalty * effects
        hessian = np.empty((m + len(effects), m + len(effects)))
        main = spread * (1 - 2 * up_to[:, 1:-1]) * pull - spread**2 * (square[:, :-1] + square[:, 1:])
        hessian[:m, :m] = np.diag(-main.sum(axis=0))
        neighbour = (spread[:, :-1] * spread[:, 1:] * square[:, 1:-1]).sum(axis=0)
        hessian[np.arange(m - 1), np.arange(1, m)] = hessian[np.arange(1, m), np.arange(m - 1)] = -neighbour
        weighted = spread * (n[:, :-1] + n[:, 1:])
        hessian[:m, m:] = -weighted.T @ design
        hessian[m:, :m] = hessian[:m, m:].T
        hessian[m:, m:] = (design * weighted.sum(axis=1)[:, None]).T @ design
        hessian.flat[:: len(hessian) + 1] += _RIDGE + np.concatenate([np.zeros(m), penalty])
        return gradient, hessian


LEAST_WEIGHT, LARGEST_WEIGHT = 0.5, 1000.0


class NominalMap(msgspec.Struct, frozen=True, eq=False):
    """A fitted table.

    Attributes:
        tables: (L + 1, answers, k) probabilities of people's classes; the last table is that of a language that the fit has not seen.
        weight: the number of labels that the other languages count as.
    """

    tables: Floats
    weight: float

    def probabilities(self, answer: ArrayLike, language: ArrayLike = -1) -> Floats:
        """(n, k) probabilities of classes at the judge's answers (codes) in languages 0 … L-1, or -1."""
        return np.asarray(self.tables[np.asarray(language), np.asarray(answer, np.int64)])


def fit_nominal_map(answer: ArrayLike, counts: ArrayLike, language: ArrayLike, *, languages: int, answers: int) -> NominalMap:
    """Fit the tables.

    Args:
        answer: (n,) codes 0 … answers-1 of the judge's answers; all 0 gives the map without the judge's answer.
        counts: (n, k) how many labels gave each class.
        language: (n,) codes 0 … languages-1.
        languages, answers: L, and the number of possible answers.

    >>> found = fit_nominal_map([0, 0, 1, 1], [[2, 0], [1, 0], [0, 2], [0, 1]], [0, 0, 0, 0], languages=1, answers=2)
    >>> found.probabilities([0, 1], 0).round(2).tolist()
    [[0.97, 0.03], [0.03, 0.97]]
    """
    n = counted_answers(answer, counts, language, languages=languages, answers=answers)
    k = n.shape[2]
    overall = (n.sum(axis=(0, 1)) + 0.5) / (n.sum() + k / 2)
    together = (n.sum(axis=0) + overall) / (n.sum(axis=(0, 2)) + 1)[:, None]
    weight = _weight(n, together) if languages > 1 else 1.0
    shares = (n + weight * together) / (n.sum(axis=2, keepdims=True) + weight)
    return NominalMap(np.concatenate([shares, together[None]]), weight)


def counted_answers(answer: ArrayLike, counts: ArrayLike, language: ArrayLike, *, languages: int, answers: int) -> Floats:
    """(languages, answers, k) labels by language, the judge's answer and class; args as `fit_nominal_map`.

    >>> counted_answers([1], [[0, 3]], [0], languages=1, answers=2).tolist()
    [[[0.0, 0.0], [0.0, 3.0]]]
    """
    label_counts = np.asarray(counts, np.float64)
    cell: Ints = np.asarray(language, np.int64) * answers + np.asarray(answer, np.int64)
    table = np.stack([np.bincount(cell, column, languages * answers) for column in label_counts.T], axis=1)
    return np.asarray(table.reshape(languages, answers, label_counts.shape[1]))


def _weight(n: Floats, together: Floats) -> float:
    """The weight of the other languages with the largest likelihood."""
    from scipy import optimize
    from scipy.special import gammaln

    total = n.sum(axis=2)

    def loss(log_weight: float) -> float:

        prior = np.exp(log_weight) * together
        parts = (gammaln(n + prior) - gammaln(prior)).sum(axis=2)
        weight = prior.sum(axis=1)
        return -float((parts + gammaln(weight) - gammaln(total + weight)).sum())

    ends = (np.log(LEAST_WEIGHT), np.log(LARGEST_WEIGHT))
    return float(np.exp(optimize.minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": 0.01}).x))


NumberRule = Literal["linear", "isotonic", "constant"]


class NumberMap(msgspec.Struct, frozen=True, eq=False):
    """A fitted function: straight between the points (x, y), with a shift for each language.

    Attributes:
        x, y: (m,) points in rising order of x; a line has two, a constant one.
        shifts: (L + 1,) added to y; the last is that of a language that the fit has not seen.
        slopes: (L,) slope of people's scores on the judge's in each language alone; NaN where its scores do not vary.
    """

    x: Floats
    y: Floats
    shifts: Floats
    slopes: Floats

    def predict(self, x: ArrayLike, language: ArrayLike = -1) -> Floats:
        """(n,) people's mean scores at scores `x` in languages 0 … L-1, or -1. Lines go on beyond their points."""
        x = np.asarray(x, np.float64)
        base = np.interp(x, self.x, self.y)
        if len(self.x) == 2:
            base = self.y[0] + (x - self.x[0]) * (self.y[1] - self.y[0]) / (self.x[1] - self.x[0])
        return np.asarray(base + self.shifts[np.asarray(language)])

    def falls(self) -> list[int]:
        """Languages in which a higher score of the judge goes with lower scores of people: the map must be refused there."""
        return [int(index) for index in np.flatnonzero(self.slopes < 0)]


def fit_number_map(x: ArrayLike, y: ArrayLike, language: ArrayLike, languages: int, rule: NumberRule = "linear") -> NumberMap:
    """Fit the function and its shifts.

    Args:
        x, y: (n,) the judge's scores and people's means, at least one text.
        language: (n,) codes 0 … languages-1.
        languages: L.
        rule: a line, a rising function, or a constant (the map without the judge's score). Scores that do not vary give a constant.

    >>> found = fit_number_map([0, 1, 2, 0, 1, 2], [0, 2, 4, 1, 3, 5], [0, 0, 0, 1, 1, 1], 2)
    >>> found.predict([1, 1], [0, 1]).round(2).tolist(), found.falls()
    ([2.0, 3.0], [])
    """
    x, y, code = np.asarray(x, np.float64), np.asarray(y, np.float64), np.asarray(language, np.int64)
    dx, dy = (scores - _means(scores, code, languages)[code] for scores in (x, y))
    with np.errstate(invalid="ignore", divide="ignore"):
        slopes = np.asarray(np.bincount(code, dx * dy, languages) / np.bincount(code, dx**2, languages))
    points, base = _points(x, y, code, languages, rule if np.ptp(x) else "constant")
    curve = NumberMap(points, base, np.zeros(languages + 1), slopes)
    return msgspec.structs.replace(curve, shifts=_shifts(y - curve.predict(x), code, languages))


def _means(values: Floats, code: Ints, size: int) -> Floats:
    return np.bincount(code, values, size) / np.maximum(np.bincount(code, minlength=size), 1)


def _points(x: Floats, y: Floats, code: Ints, languages: int, rule: NumberRule) -> tuple[Floats, Floats]:
    """The points of the function, about what languages have in common: their own means are taken out of a line's slope."""
    if rule == "constant":
        return np.array([x.mean()]), np.zeros(1)
    if rule == "linear":
        dx, dy = (scores - _means(scores, code, languages)[code] for scores in (x, y))
        ends = np.array([x.min(), x.max()])
        return ends, ends * float(dx @ dy / (dx @ dx)) if dx.any() else np.zeros(2)
    return isotonic_points(x, y)


def isotonic_points(x: ArrayLike, y: ArrayLike, times: ArrayLike | None = None) -> tuple[Floats, Floats]:
    """The distinct x in rising order, and the least-squares rising function of them; `times` weights the values.

    Reference: Ayer et al. (1955), pool adjacent violators.

    >>> [part.tolist() for part in isotonic_points([1, 2, 3], [2, 1, 4])]
    [[1.0, 2.0, 3.0], [1.5, 1.5, 4.0]]
    """
    from scipy import optimize

    levels, code = np.unique(np.asarray(x, np.float64), return_inverse=True)
    weight = np.ones(len(code)) if times is None else np.asarray(times, np.float64)
    weights = np.bincount(code, weight)
    fitted = optimize.isotonic_regression(np.bincount(code, weight * np.asarray(y, np.float64)) / weights, weights=weights).x
    return levels, np.asarray(fitted, np.float64)


def _shifts(residual: Floats, code: Ints, languages: int) -> Floats:
    """Mean residuals that shrink towards each other; that of a language without a text is the common one."""
    times = np.bincount(code, minlength=languages)
    languages_with_labels, mean = np.flatnonzero(times), _means(residual, code, languages)
    if len(languages_with_labels) == 1:
        return np.full(languages + 1, mean[languages_with_labels[0]])
    spread = float(((residual - mean[code]) ** 2).sum() / max(len(residual) - len(languages_with_labels), 1))
    error = np.sqrt(max(spread, 1e-12) / times[languages_with_labels])
    between = paule_mandel(mean[languages_with_labels], error)
    shifts = np.full(languages + 1, between.fitted[0])
    shifts[languages_with_labels] += between.tau2 / (between.tau2 + error**2) * (mean[languages_with_labels] - between.fitted)
    return shifts
