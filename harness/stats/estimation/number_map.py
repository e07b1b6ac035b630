"""The map from a judge's score to people's mean score where scores are numbers: a line or a rising function, with a shift by language.

The function is that of all languages; each language is shifted by its mean residual, which shrinks towards that of the others as far as
languages are alike (`paule_mandel`). Isotonic functions are straight between the scores that have labels and flat beyond them.
"""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.shrinkage import paule_mandel

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
