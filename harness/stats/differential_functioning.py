"""Differential item functioning (DIF): does a judge score texts that people score alike differently in different languages?

Ordinal logistic regression of the judge's score on people's mean score, then with the language, then with its interaction. People's mean
is measured with error, so languages of different quality show DIF where there is none: with one annotator in up to 82 % of data sets.
Test leniency first, and use DIF on parallel items or with its effect size.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.arrays import Floats, Ints, ShapeError, as_codes, as_index, as_values
from harness.stats.logistic import logistic

NEGLIGIBLE, LARGE = 0.035, 0.07
"""Differences of Nagelkerke's R² below and above which DIF counts as negligible and large (Jodoin & Gierl 2001)."""


_LARGEST_ERROR = 100.0  # of a parameter, in log-odds for one standard deviation of its predictor


@dataclass(frozen=True, slots=True)
class OrdinalFit:
    """One ordinal logistic model: `loglik`, `coefficients` and their `se`, both pseudo-R²."""

    loglik: float
    coefficients: Floats
    se: Floats
    mcfadden: float
    nagelkerke: float


@dataclass(frozen=True, slots=True)
class LikelihoodRatio:
    """`lr` = 2 (L_larger - L_smaller) with `df` and `p`, and what the larger model adds to the two pseudo-R²."""

    lr: float
    df: int
    p: float
    delta_mcfadden: float
    delta_nagelkerke: float


@dataclass(frozen=True, slots=True)
class DifferentialFunctioning:
    """DIF over L languages on `n` items.

    Models: `human` (people's mean), `language` (and L - 1 indicators), `interaction` (and L - 1 products). Tests: `uniform` of language
    against human, `non_uniform` of interaction against language, `total`. `loglik_thresholds` is that of no predictor. `shift` (L,) is the
    change of the expected score, in points, if all items were in this language instead of the first, by the model `language`.
    All None or NaN with a `reason`.
    """

    n: int
    human: OrdinalFit | None
    language: OrdinalFit | None
    interaction: OrdinalFit | None
    uniform: LikelihoodRatio | None
    non_uniform: LikelihoodRatio | None
    total: LikelihoodRatio | None
    loglik_thresholds: float
    shift: Floats
    reason: str | None


def differential_functioning(
    judge: ArrayLike,
    human: ArrayLike,
    language: ArrayLike,
    languages: int,
    k: int,
    *,
    values: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> DifferentialFunctioning:
    """Uniform and non-uniform DIF by ordinal (proportional odds) logistic regression.

    logit P(judge > c) = x b - threshold_c, with x = people's mean; and languages; and products. Likelihood-ratio tests with L - 1 df
    each, McFadden's 1 - L / L0 and Nagelkerke's (1 - exp(2 (L0 - L) / n)) / (1 - exp(2 L0 / n)).

    Args:
        judge: (items,) class codes 0 … k-1, NaN or -1 where there is no readable score.
        human: (items,) mean of the annotators in points; NaN where there is none.
        language: (items,) codes 0 … languages-1; 0 is the reference.
        languages: number L of languages, 2 or more.
        k: number of classes of the scale.
        values: (k,) rising numbers that the classes stand for; default their positions.
        groups: (items,) codes of what items share; the coefficients' standard errors are then by groups. The likelihood-ratio tests stay
            those of independent items: with groups, compare coefficients with their standard errors.

    Returns:
        `DifferentialFunctioning`; undefined where a language has no items, the judge or people do not vary, or a fit does not converge
        (as where people's means separate some of the judge's classes from the others).

    Raises:
        ShapeError, ScaleError: for arrays of different items, codes off the scale.

    Reference: Zumbo (1999); Jodoin & Gierl (2001).

    >>> rng = np.random.default_rng(0)
    >>> human, language = rng.integers(0, 7, 300) / 3, np.arange(300) % 2
    >>> judge = np.clip(np.round(human + 0.5 * language + rng.normal(0, 0.6, 300)), 0, 2)
    >>> found = differential_functioning(judge, human, language, 2, k=3)
    >>> found.uniform.p < 0.001, 0.2 < float(found.shift[1]) < 0.6
    (True, True)
    """
    code, people, where = as_codes(judge, k, "judge"), np.asarray(human, np.float64), np.asarray(language, np.int64)
    if code.ndim != 1 or not code.shape == people.shape == where.shape:
        raise ShapeError(f"judge {code.shape}, human {people.shape} and language {where.shape} must be of the same items")
    cluster = None if groups is None else as_index(groups, len(code), "groups")
    used = (code >= 0) & ~np.isnan(people)
    code, people, where = code[used], people[used], where[used]
    if languages < 2 or not ((where >= 0) & (where < languages)).all():
        raise ValueError(f"needs codes 0 to {languages - 1} of two or more languages")
    if reason := _undefined(code, people, where, languages):
        return _nothing(len(code), languages, reason)
    classes, y = np.unique(code, return_inverse=True)
    counts = np.bincount(y)
    null = float(counts @ np.log(counts / len(y)))
    indicators = (where[:, None] == np.arange(1, languages)) * 1.0
    designs = [people[:, None], np.column_stack([people, indicators]), np.column_stack([people, indicators, indicators * people[:, None]])]
    fits = []
    for design in designs:
        fitted = _fit(y, design, None if cluster is None else cluster[used])
        if fitted is None:
            return _nothing(len(code), languages, "the ordinal regression does not converge")
        fits.append((_summary(fitted, design.shape[1], null, len(y)), fitted))
    (first, _), (second, with_language), (third, _) = fits
    df = languages - 1
    shift = _shift(with_language, people, languages, as_values(values, k)[classes])
    return DifferentialFunctioning(
        len(y), first, second, third, _ratio(first, second, df), _ratio(second, third, df), _ratio(first, third, 2 * df), null, shift, None
    )


def _undefined(code: Ints, people: Floats, where: Ints, languages: int) -> str | None:
    if len(np.unique(where)) < languages:
        return "a language has no items"
    if any(np.ptp(code[where == each]) == 0 or np.ptp(people[where == each]) == 0 for each in range(languages)):
        return "constant values in a language"
    return None


def _nothing(n: int, languages: int, reason: str) -> DifferentialFunctioning:
    return DifferentialFunctioning(n, None, None, None, None, None, None, math.nan, np.full(languages, math.nan), reason)


def _fit(y: Ints, design: Floats, groups: Ints | None) -> Any:
    """The fitted statsmodels model, or None."""
    from statsmodels.miscmodels.ordinal_model import OrderedModel
    from statsmodels.tools.sm_exceptions import ConvergenceWarning, HessianInversionWarning

    robust = {} if groups is None else {"cov_type": "cluster", "cov_kwds": {"groups": groups}}
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        warnings.simplefilter("error", HessianInversionWarning)
        warnings.simplefilter("ignore", RuntimeWarning)  # of trial steps of the optimiser
        try:
            model = OrderedModel(y, design, distr=_standard_logistic())
            fitted = model.fit(method="bfgs", disp=False, maxiter=500, gtol=1e-6, **robust)
        except (ConvergenceWarning, HessianInversionWarning, np.linalg.LinAlgError):
            return None
    return fitted if _is_finite(fitted, design) else None


def _is_finite(fitted: Any, design: Floats) -> bool:
    """Whether the likelihood has its maximum at finite parameters.

    Where a predictor separates some of the judge's classes, the likelihood has no maximum. The optimiser stops where it is almost flat,
    and the error of a parameter is then very large. Whether the optimiser reports a failure depends on the processor.
    """
    scale = np.ones(len(fitted.params))
    scale[: design.shape[1]] = design.std(axis=0)
    return bool((np.sqrt(np.diag(fitted.normalized_cov_params)) * scale < _LARGEST_ERROR).all())


@cache
def _standard_logistic() -> Any:
    """SciPy's logistic distribution, without the checks of its arguments: they are four fifths of the time of a fit."""
    from scipy.special import expit
    from scipy.stats import logistic as checked

    class StandardLogistic(type(checked)):  # type: ignore[misc]
        def cdf(self, x: Floats) -> Floats:
            return np.asarray(expit(x))

        def pdf(self, x: Floats) -> Floats:
            return np.asarray(self._pdf(x))

    return StandardLogistic(name="logistic")


def _summary(fitted: Any, terms: int, null: float, n: int) -> OrdinalFit:
    loglik = float(fitted.llf)
    nagelkerke = (1 - math.exp(2 * (null - loglik) / n)) / (1 - math.exp(2 * null / n))
    return OrdinalFit(loglik, np.asarray(fitted.params)[:terms], np.asarray(fitted.bse)[:terms], 1 - loglik / null, nagelkerke)


def _ratio(smaller: OrdinalFit, larger: OrdinalFit, df: int) -> LikelihoodRatio:
    from scipy.special import chdtrc

    lr = max(0.0, 2 * (larger.loglik - smaller.loglik))
    return LikelihoodRatio(lr, df, float(chdtrc(df, lr)), larger.mcfadden - smaller.mcfadden, larger.nagelkerke - smaller.nagelkerke)


def _shift(fitted: Any, people: Floats, languages: int, values: Floats) -> Floats:
    """Mean expected score of all items in each language, less that in the first."""
    b = np.asarray(fitted.params)[:languages]
    thresholds = fitted.model.transform_threshold_params(fitted.params)[1:-1]
    line = people * b[0] + np.r_[0.0, b[1:]][:, None]
    above = logistic(line[..., None] - thresholds)  # P(judge > c), (languages, items, classes - 1)
    expected = values[0] + (above @ np.diff(values)).mean(axis=1)
    return np.asarray(expected - expected[0])
