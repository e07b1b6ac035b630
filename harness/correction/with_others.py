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
    """Return one figure a language: lam mean(f) + the shrunken mean(Y - lam f), with one lam for all, or the reason why there is none.

    A language in which every text has a label helps the others and needs no help. `share` numbers lie in [0, 1].
    """
    reasons = [_obstacle(estimate, sample) for estimate, sample in zip(estimates, samples, strict=True)]
    able = [position for position, reason in enumerate(reasons) if reason is None]
    if len(able) < MIN_LANGUAGES:
        few = f"{len(able)} languages have {MIN_OWN_LABELS} independent labels, and {MIN_LANGUAGES} are needed"
        return [Figure(None, None, reason or few) for reason in reasons]
    figures = _shrink_estimates([samples[position] for position in able], [estimates[position] for position in able], share)
    shrunken = dict(zip(able, figures, strict=True))
    return [shrunken.get(position, Figure(None, None, reason)) for position, reason in enumerate(reasons)]


def _obstacle(estimate: MeanEstimates, sample: Sample) -> str | None:
    if estimate.labels_alone.ci is None or estimate.design != "equal probability":
        return estimate.labels_alone.reason or f"labels drawn by {estimate.design} do not borrow"
    if sample.groups < MIN_OWN_LABELS:
        return f"{sample.groups} independent labels, and {MIN_OWN_LABELS} are needed to borrow"
    return "no readable scores" if np.isnan(sample.f[sample.known]).all() else None


@dataclass(frozen=True, eq=False)
class JudgeErrors:
    """The errors that languages borrow: the weight `lam` of the judge in all, the mean error mean(Y - lam f) of each, its standard error.

    `freedom` are the degrees of freedom of the standard errors, in which languages with few labels help each other too.
    """

    lam: float
    value: Floats
    error: Floats
    freedom: Floats
    by_language: tuple[PredictionPowered, ...]

    @property
    def label_sd(self) -> float:
        """The standard deviation of one independent label's error, pooled over languages."""
        groups = np.array([estimate.interval.groups for estimate in self.by_language], np.float64)
        return float(np.sqrt(np.average([estimate.error**2 for estimate in self.by_language] * groups, weights=groups - 1)))


def judge_errors(samples: Sequence[Sample]) -> JudgeErrors:
    """Return the errors of the judge in each language, whose samples all have labels and readable scores beside them."""
    # The weight of the judge, in [0, 1]: the slope of labels on scores over the labels of all languages; 0 for constant judges. With lam
    # = cov(Y, f) / var(f) the variance of lam mean(f, all) + mean(Y - lam f) is smallest, however many texts have no label.
    above = below = 0.0
    for sample in samples:
        scored = sample.known & ~np.isnan(sample.f)
        score = sample.f[scored] - sample.f[scored].mean()
        above, below = above + float(score @ sample.y[scored]), below + float(score @ score)
    lam = float(np.clip(above / below, 0, 1)) if below > 0 else 0.0
    by_language = tuple(
        prediction_powered_mean(sample.y - lam * f, f, sample.group, lam=0.0)
        for sample, f in zip(samples, map(_filled, samples), strict=True)
    )
    groups = [sample.groups for sample in samples]
    # The kurtosis of the error of one independent label, pooled over languages; 3, that of normal errors, without any error.
    errors = np.concatenate([_label_errors(sample, lam) for sample in samples])
    square = float((errors**2).mean())
    kurtosis = float((errors**4).mean()) / square**2 if square > 0 else 3.0
    error, freedom = mixed_errors([sample.error for sample in by_language], groups), mixed_freedom(groups, kurtosis)
    return JudgeErrors(lam, np.array([sample.value for sample in by_language]), np.maximum(error, 1e-9), freedom, by_language)


def _label_errors(sample: Sample, lam: float) -> Floats:
    """Return (groups,) what each group of labels adds to the error of the mean, as if all groups were of the mean size."""
    error = (sample.y - lam * _filled(sample))[sample.known]
    group = np.unique(sample.group[sample.known], return_inverse=True)[1]
    return np.asarray(np.bincount(group, error - error.mean()) * (group.max() + 1) / len(group))


def _filled(sample: Sample) -> Floats:
    return np.where(np.isnan(sample.f), np.nanmean(sample.f), sample.f)


def _shrink_estimates(samples: Sequence[Sample], estimates: Sequence[MeanEstimates], share: bool) -> list[Figure]:
    errors = judge_errors(samples)
    joint_estimates = [
        prediction_powered_mean(
            joint_estimate.y, _filled(joint_estimate), joint_estimate.group, lam=errors.lam * plain.unlabelled / len(joint_estimate.y)
        )
        for joint_estimate, plain in zip(samples, estimates, strict=True)
    ]
    shrunken = shrink(errors.value, errors.error, freedom=errors.freedom, within=APART)
    scores = np.array([joint.value - alone for joint, alone in zip(joint_estimates, errors.value, strict=True)])
    raw = np.array([joint_estimate.error for joint_estimate in errors.by_language])
    half = np.sqrt(
        shrunken.half_width**2 + Z95**2 * np.maximum([joint_estimate.error**2 for joint_estimate in joint_estimates] - raw**2, 0)
    )
    parts = zip(shrunken.value + scores, half, shrunken.apart, estimates, strict=True)
    return [_shrunken_figure(*part, share) for part in parts]


def _shrunken_figure(value: float, half: float, distance: float, plain: MeanEstimates, share: bool) -> Figure:
    if not plain.unlabelled:
        return Figure(None, None, ALL_LABELLED)
    ends = (float(value - half), float(value + half))
    other = plain.corrected.ci or plain.labels_alone.ci
    if abs(distance) > APART:
        return Figure(None, None, f"this language stands apart from the others (z = {distance:+.1f}); its own labels decide")
    if other and (ends[0] > other[1] or ends[1] < other[0]):
        return Figure(None, None, "the interval with the other languages does not meet that of the own labels, which decide")
    return Figure(float(value), (max(ends[0], 0.0), min(ends[1], 1.0)) if share else ends)


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
    """Return the needs of a new language by metric, judge and condition; `half_width` is a share of a scale that has ends."""
    return tuple(_new_language(alike, half_width) for alike in over_languages(cells))


def _new_language(cells: Sequence[ItemTable], half_width: float) -> NewLanguage:
    first = cells[0]
    all_samples = map(mean_or_share, cells)
    samples = [sample for sample in all_samples if sample.groups >= MIN_OWN_LABELS and not np.isnan(sample.f[sample.known]).all()]
    reach = 1.0 if first.values is None else float(np.ptp(first.values))
    wanted = half_width * ((first.classes.reach or math.nan) if first.classes.continuous else reach)
    fields: dict[str, Any] = {"key": first.key_over_languages, "languages": len(samples), "half_width": wanted}
    few = f"{len(samples)} languages have {MIN_OWN_LABELS} independent labels, and {MIN_LANGUAGES} are needed"
    if len(samples) < MIN_LANGUAGES or not math.isfinite(wanted):
        return NewLanguage(**fields, reason=few if len(samples) < MIN_LANGUAGES else "the scale has no ends")
    errors = judge_errors(samples)
    between = floored_between(errors.value, errors.error)
    common = float(between.fitted_error[0]) * t_quantile(0.95, len(samples) - 1) / Z95  # as `shrink` counts it where errors are estimated
    most = farthest(upper_between(errors.value, errors.error), APART)
    borrowed = labels_with_others(errors.label_sd, between.tau2, wanted, least=MIN_OWN_LABELS, mean_error=common, reach=most)
    alone = max(math.ceil((Z95 * errors.label_sd / wanted) ** 2), MIN_OWN_LABELS)
    return NewLanguage(
        **fields,
        label_sd=errors.label_sd,
        between_sd=math.sqrt(between.tau2),
        alone=alone,
        with_others=None if borrowed is None else min(borrowed, alone),
    )


def mean_or_share(cell: ItemTable) -> Sample:
    """Return the sample of a corrected mean; without order, that of the corrected share of the best class."""
    if cell.means is not None:
        return mean_sample(cell)
    scores = cell.classes.scores
    return share_sample(cell, scores[0] if cell.classes.direction == -1 else scores[-1])
