"""Corrected numbers that shrink towards what the judge's error is in the other languages, and how many labels fewer these need."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.correction.cell_results import KeyedRow, over_languages
from harness.correction.mean_estimates import ALL_LABELLED, Figure, MeanEstimates, Sample, mean_sample, share_sample
from harness.measure.item_table import ItemTable
from harness.stats import prediction_powered_mean
from harness.stats.core.arrays import Floats
from harness.stats.estimation.prediction_powered import PredictionPowered
from harness.stats.estimation.shrinkage import (
    farthest,
    floored_between,
    labels_with_others,
    mixed_errors,
    mixed_freedom,
    shrink,
    upper_between,
)
from harness.stats.intervals.intervals import t_quantile

MIN_LANGUAGES, MIN_OWN_LABELS, APART, Z95 = 5, 15, 3, 1.959964
AVERAGE = (
    "With the other languages: the interval holds with 95 % on average over languages, and with 85 to 96 % in one that differs from the "
    f"others by {APART} standard deviations. It is not given for a language that stands apart, nor for differences of systems, and no "
    "verdict rests on it."
)


def with_other_languages(estimates: Sequence[MeanEstimates], samples: Sequence[Sample], *, share: bool) -> list[Figure]:
    """One figure a language: lam mean(f) + the shrunken mean(Y - lam f), with one lam for all, or the reason why there is none.

    A language in which every text has a label helps the others and needs no help. `share` numbers lie in [0, 1].
    """
    reasons = [_too_few(one, sample) for one, sample in zip(estimates, samples, strict=True)]
    able = [place for place, reason in enumerate(reasons) if reason is None]
    if len(able) < MIN_LANGUAGES:
        few = f"{len(able)} languages have {MIN_OWN_LABELS} independent labels, and {MIN_LANGUAGES} are needed"
        return [Figure(None, None, reason or few) for reason in reasons]
    shrunken = dict(zip(able, _shrunken([samples[each] for each in able], [estimates[each] for each in able], share), strict=True))
    return [shrunken.get(place, Figure(None, None, reason)) for place, reason in enumerate(reasons)]


def _too_few(one: MeanEstimates, sample: Sample) -> str | None:
    if one.labels_alone.ci is None or one.design != "equal probability":
        return one.labels_alone.reason or f"labels drawn by {one.design} do not borrow"
    if sample.groups < MIN_OWN_LABELS:
        return f"{sample.groups} independent labels, and {MIN_OWN_LABELS} are needed to borrow"
    return "no readable scores" if np.isnan(sample.f[sample.known]).all() else None


@dataclass(frozen=True, eq=False)
class OwnErrors:
    """What languages borrow: the weight `lam` of the judge in all, the mean error mean(Y - lam f) of each, and its standard error.

    `freedom` are the degrees of freedom of the standard errors, in which languages with few labels help each other too.
    """

    lam: float
    value: Floats
    error: Floats
    freedom: Floats
    own: tuple[PredictionPowered, ...]

    @property
    def label_sd(self) -> float:
        """The standard deviation of one independent label's error, pooled over languages."""
        groups = np.array([one.interval.groups for one in self.own], np.float64)
        return float(np.sqrt(np.average([one.error**2 for one in self.own] * groups, weights=groups - 1)))


def own_errors(samples: Sequence[Sample]) -> OwnErrors:
    """The errors of the judge in each language, whose samples all have labels and readable scores beside them."""
    lam = _common_weight(samples)
    own = tuple(
        prediction_powered_mean(one.y - lam * f, f, one.group, lam=0.0) for one, f in zip(samples, map(_filled, samples), strict=True)
    )
    groups = [one.groups for one in samples]
    error, freedom = mixed_errors([one.error for one in own], groups), mixed_freedom(groups, _kurtosis(samples, lam))
    return OwnErrors(lam, np.array([one.value for one in own]), np.maximum(error, 1e-9), freedom, own)


def _kurtosis(samples: Sequence[Sample], lam: float) -> float:
    """Kurtosis of the error of one independent label, pooled over languages; 3, that of normal errors, where there is no error."""
    errors = np.concatenate([_label_errors(one, lam) for one in samples])
    square = float((errors**2).mean())
    return float((errors**4).mean()) / square**2 if square > 0 else 3.0


def _label_errors(sample: Sample, lam: float) -> Floats:
    """(groups,) what each group of labels adds to the error of the mean, as if all groups were of the mean size."""
    error = (sample.y - lam * _filled(sample))[sample.known]
    group = np.unique(sample.group[sample.known], return_inverse=True)[1]
    return np.asarray(np.bincount(group, error - error.mean()) * (group.max() + 1) / len(group))


def _filled(sample: Sample) -> Floats:
    return np.where(np.isnan(sample.f), np.nanmean(sample.f), sample.f)


def _shrunken(samples: Sequence[Sample], estimates: Sequence[MeanEstimates], share: bool) -> list[Figure]:
    errors = own_errors(samples)
    whole = [
        prediction_powered_mean(one.y, _filled(one), one.group, lam=errors.lam * plain.unlabelled / len(one.y))
        for one, plain in zip(samples, estimates, strict=True)
    ]
    found = shrink(errors.value, errors.error, freedom=errors.freedom, within=APART)
    scores = np.array([both.value - alone for both, alone in zip(whole, errors.value, strict=True)])
    raw = np.array([one.error for one in errors.own])
    half = np.sqrt(found.half_width**2 + Z95**2 * np.maximum([one.error**2 for one in whole] - raw**2, 0))
    return [_figure(*each, share) for each in zip(found.value + scores, half, found.apart, estimates, strict=True)]


def _figure(value: float, half: float, apart: float, plain: MeanEstimates, share: bool) -> Figure:
    if not plain.unlabelled:
        return Figure(None, None, ALL_LABELLED)
    ends = (float(value - half), float(value + half))
    other = plain.corrected.ci or plain.labels_alone.ci
    if abs(apart) > APART:
        return Figure(None, None, f"this language stands apart from the others (z = {apart:+.1f}); its own labels decide")
    if other and (ends[0] > other[1] or ends[1] < other[0]):
        return Figure(None, None, "the interval with the other languages does not meet that of the own labels, which decide")
    return Figure(float(value), (max(ends[0], 0.0), min(ends[1], 1.0)) if share else ends)


def _common_weight(samples: Sequence[Sample]) -> float:
    """The weight of the judge, in [0, 1]: the slope of labels on scores, pooled over the labels of all languages; 0 for constant judges.

    With lam = cov(Y, f) / var(f) the variance of lam mean(f, all) + mean(Y - lam f) is smallest, however many texts have no label.
    """
    above = below = 0.0
    for one in samples:
        both = one.known & ~np.isnan(one.f)
        score = one.f[both] - one.f[both].mean()
        above, below = above + float(score @ one.y[both]), below + float(score @ score)
    return float(np.clip(above / below, 0, 1)) if below > 0 else 0.0


class NewLanguage(KeyedRow, frozen=True, kw_only=True):
    """Independent labels that a new language needs for a corrected mean (without order: for the share of the best class).

    Attributes:
        key: metric, judge, variant, temperature and top-p.
        languages: that help, each with 15 independent labels or more.
        half_width: wanted, in points of the scale.
        label_sd: of the judge's error on one independent label, in points.
        between_sd: of the judge's mean error between languages, with its floor.
        alone, with_others: labels that are needed; None where no number suffices, with the `reason`.
    """

    languages: int
    half_width: float
    label_sd: float | None = None
    between_sd: float | None = None
    alone: int | None = None
    with_others: int | None = None
    reason: str | None = None


def new_languages(cells: Iterable[ItemTable], half_width: float) -> tuple[NewLanguage, ...]:
    """One a metric, judge and condition; `half_width` is a share of the scale. Undefined without a scale that has ends."""
    return tuple(_new_language(alike, half_width) for alike in over_languages(cells))


def _new_language(cells: Sequence[ItemTable], half_width: float) -> NewLanguage:
    first = cells[0]
    samples = [one for one in map(mean_or_share, cells) if one.groups >= MIN_OWN_LABELS and not np.isnan(one.f[one.known]).all()]
    reach = 1.0 if first.values is None else float(np.ptp(first.values))
    wanted = half_width * ((first.classes.reach or math.nan) if first.classes.continuous else reach)
    known: dict[str, Any] = {"key": first.key_over_languages, "languages": len(samples), "half_width": wanted}
    few = f"{len(samples)} languages have {MIN_OWN_LABELS} independent labels, and {MIN_LANGUAGES} are needed"
    if len(samples) < MIN_LANGUAGES or not math.isfinite(wanted):
        return NewLanguage(**known, reason=few if len(samples) < MIN_LANGUAGES else "the scale has no ends")
    errors = own_errors(samples)
    between = floored_between(errors.value, errors.error)
    common = float(between.fitted_error[0]) * t_quantile(0.95, len(samples) - 1) / Z95  # as `shrink` counts it where errors are estimated
    most = farthest(upper_between(errors.value, errors.error), APART)
    borrowed = labels_with_others(errors.label_sd, between.tau2, wanted, least=MIN_OWN_LABELS, mean_error=common, reach=most)
    alone = max(math.ceil((Z95 * errors.label_sd / wanted) ** 2), MIN_OWN_LABELS)
    return NewLanguage(
        **known,
        label_sd=errors.label_sd,
        between_sd=math.sqrt(between.tau2),
        alone=alone,
        with_others=None if borrowed is None else min(borrowed, alone),
    )


def mean_or_share(cell: ItemTable) -> Sample:
    """What a corrected mean is made from; without order, what the corrected share of the best class is made from."""
    if cell.means is not None:
        return mean_sample(cell)
    scores = cell.classes.scores
    return share_sample(cell, scores[0] if cell.classes.direction == -1 else scores[-1])
