"""Maps from a judge's score of one text to people's score, as a few numbers that a certificate can hold."""

from __future__ import annotations

import math
from itertools import pairwise

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats
from harness.stats.estimation.class_maps import class_probabilities_at


class LengthScale(msgspec.Struct, frozen=True):
    """The length of a text as a map reads it: its logarithm in standard deviations from the mean of the labelled texts."""

    mean: float
    sd: float

    def __post_init__(self) -> None:
        _refuse_infinite((self.mean, self.sd))
        if self.sd <= 0:
            raise ValueError("the standard deviation of lengths is above 0")

    @classmethod
    def of(cls, characters: ArrayLike) -> LengthScale:
        """Return that of labelled texts with so many characters; NaN where there is no text."""
        logs = np.log1p(np.asarray(characters, np.float64))
        known_logs = logs[~np.isnan(logs)]
        return cls(float(known_logs.mean()), float(known_logs.std()) or 1.0) if len(known_logs) else cls(0.0, 1.0)

    def read(self, characters: ArrayLike) -> Floats:
        """Return (n, 1) lengths as maps read them, to a tenth; the mean where a length is NaN.

        >>> LengthScale(3.0, 0.5).read([100, float("nan")]).tolist()
        [[3.2], [0.0]]
        """
        logs = np.log1p(np.asarray(characters, np.float64))
        return np.asarray(np.round((np.where(np.isnan(logs), self.mean, logs) - self.mean) / self.sd, 1)[:, None])


class ClassCurve(msgspec.Struct, frozen=True, tag="proportional odds"):
    """Ordered classes: P(a person's class is at most k) = expit(cuts[k] - slope * score - further · covariates)."""

    cuts: tuple[float, ...]
    slope: float
    further: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        _refuse_infinite((*self.cuts, self.slope, *self.further))
        if any(lower > upper for lower, upper in pairwise(self.cuts)):
            raise ValueError("the cuts of a curve rise")

    def predict(self, scores: ArrayLike, covariates: Floats | None = None) -> Floats:
        """Return (n, k) probabilities of people's classes; NaN where the judge's score is NaN.

        `covariates` (n, q) are as the map was learnt from them. Raises ValueError where the curve has coefficients and they are absent.
        """
        eta = self.slope * np.asarray(scores, np.float64)
        if self.further:
            if covariates is None:
                raise ValueError("the curve reads covariates")
            eta = eta + covariates @ np.array(self.further)
        return class_probabilities_at(self.cuts, eta)


class ClassTable(msgspec.Struct, frozen=True, tag="shares"):
    """Classes without order: `shares[answer][class]` of people's classes among texts that the judge gave a class."""

    shares: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        for row in self.shares:
            _refuse_infinite(row)
            if min(row, default=-1) < 0 or not math.isclose(sum(row), 1, abs_tol=1e-6):
                raise ValueError("the shares of an answer lie between 0 and 1 and add up to 1")

    def predict(self, scores: ArrayLike, covariates: Floats | None = None) -> Floats:
        """Return (n, k) probabilities of people's classes at the judge's class codes; NaN where a code is NaN."""
        codes = np.asarray(scores, np.float64)
        is_answered = ~np.isnan(codes)
        table = np.vstack([self.shares, np.full(len(self.shares[0]), math.nan)])
        return np.asarray(table[np.where(is_answered, np.nan_to_num(codes), -1).astype(np.int64)], np.float64)


class NumberLine(msgspec.Struct, frozen=True, tag="line"):
    """Numbers: people's mean score, straight between the points (x, y); nothing outside them, where there were no labels."""

    x: tuple[float, ...]
    y: tuple[float, ...]

    def __post_init__(self) -> None:
        _refuse_infinite((*self.x, *self.y))
        if not self.x or len(self.x) != len(self.y) or any(lower >= upper for lower, upper in pairwise(self.x)):
            raise ValueError("the points of a line have rising x")

    def predict(self, scores: ArrayLike, covariates: Floats | None = None) -> Floats:
        """Return (n,) people's mean scores; NaN where the judge's score is NaN or outside the scores that had labels."""
        x = np.asarray(scores, np.float64)
        return np.asarray(np.interp(x, self.x, self.y, left=math.nan, right=math.nan) if len(self.x) > 1 else np.full(len(x), self.y[0]))


Curve = ClassCurve | ClassTable | NumberLine


def _refuse_infinite(numbers: tuple[float, ...]) -> None:
    if not all(map(math.isfinite, numbers)):
        raise ValueError("the numbers of a map are finite")
