"""One mean estimated in three ways: from the judge's scores alone, from the labels alone, and from both.

Both together is prediction-powered inference: by strata where items have one, weighted where inclusion probabilities are stated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.correction.cell_results import KeyedRow, over_languages
from harness.measure.item_table import ItemTable
from harness.model import Score
from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.prediction_powered import (
    MIN_LABELLED_GROUPS,
    MIN_LABELS,
    PredictionPowered,
    combine_estimates,
    prediction_powered_mean,
    prediction_powered_weighted,
    share_interval,
)
from harness.stats.estimation.shrinkage import (
    farthest,
    floored_between,
    labels_with_others,
    mixed_errors,
    mixed_freedom,
    shrink,
    upper_between,
)
from harness.stats.intervals.intervals import Interval, t_quantile

Design = Literal["equal probability", "inclusion probability", "stratum"]
ALL_LABELLED = "every judged item has a label, so the judge adds nothing"
Parts = list[tuple[PredictionPowered, float]]
"""Independent parts of an estimate, with their weights."""
CONSTANT_JUDGE = "the judge does not vary, so it adds nothing"
_SPANNED = "a group has items of several strata; give all items of a group one stratum"
_FEW_IN_STRATUM = "a stratum has fewer than two independent labels; label more of it, or join it with another one"
NO_INCLUSION = "a labelled item has no inclusion_probability, but others have; state it for every labelled item"


class Figure(msgspec.Struct, frozen=True):
    """One estimate: its value, the ends of its 95 % interval, and the reason why one of them is None."""

    value: float | None
    ci: tuple[float, float] | None
    reason: str | None = None


class MeanEstimates(msgspec.Struct, frozen=True, kw_only=True):
    """One mean, share or difference.

    Attributes:
        n, groups: labelled items, and independent texts among them; `unlabelled` items have only the judge's score.
        judge_alone: the mean of the judge's scores of all items; its bias is unknown.
        labels_alone: the mean of the labels.
        corrected: the judge's mean corrected by the labels.
        method: how it was corrected.
        design: how the labelled items were drawn.
        lam: weight of the judge from 0 (labels alone) to 1; None where there are several.
        rho: correlation of labels and scores.
        effective_labels, labels_saved: labels that would give the same precision without the judge, and how many of them were not needed.
    """

    n: int
    unlabelled: int
    groups: int
    judge_alone: Figure
    labels_alone: Figure
    corrected: Figure
    method: str
    design: Design
    lam: float | None
    rho: float | None
    effective_labels: float | None
    labels_saved: float | None


@dataclass(frozen=True, eq=False)
class Sample:
    """Labels `y` (NaN where there is none) and scores `f` (NaN for failures) of items, and how the labels were drawn; all (items,)."""

    y: Floats
    f: Floats
    group: Ints
    inclusion: Floats | None = None
    stratum: Ints | None = None

    @property
    def known(self) -> NDArray[np.bool_]:
        return np.asarray(~np.isnan(self.y))

    @property
    def groups(self) -> int:
        return len(np.unique(self.group[self.known]))

    @property
    def design(self) -> Design:
        """Stated inclusion probabilities take precedence over strata: they say all that strata say of the mean."""
        return "inclusion probability" if self.inclusion is not None else "stratum" if self.stratum is not None else "equal probability"

    def take(self, rows: NDArray[Any]) -> Sample:
        inclusion = None if self.inclusion is None else self.inclusion[rows]
        return Sample(self.y[rows], self.f[rows], self.group[rows], inclusion, None if self.stratum is None else self.stratum[rows])


def mean_sample(cell: ItemTable) -> Sample:
    """Return mean label and mean score of each item, in points of the scale."""
    assert cell.means is not None
    return Sample(*cell.means, cell.group, cell.inclusion, cell.stratum)


def share_sample(cell: ItemTable, score: Score) -> Sample:
    """Return share of an item's annotators, and of the judge's answers, that gave a class."""
    column = cell.classes.scores.index(score)
    return Sample(cell.label_shares[:, column], cell.answer_shares[:, column], cell.group, cell.inclusion, cell.stratum)


def mean_estimates(samples: Sequence[tuple[Sample, float]], *, share: bool, lam: float | None = None) -> MeanEstimates:
    """Estimate a weighted sum of the means of independent samples in three ways.

    Args:
        samples: pairs of a sample and its weight: one with weight 1, or two with 1 and -1 for a difference of systems on different texts.
        share: whether the mean is a share in [0, 1].
        lam: weight of the judge, so that shares of several classes have one; None chooses it.
    """
    n, groups = sum(int(sample.known.sum()) for sample, _ in samples), sum(sample.groups for sample, _ in samples)
    items = sum(len(sample.y) for sample, _ in samples)
    readable = [(sample.take(~np.isnan(sample.f)), weight) for sample, weight in samples]
    judge_parts = [(prediction_powered_mean(sample.f, sample.f, sample.group), weight) for sample, weight in readable]
    judge = _combine_parts(judge_parts, items, share, "no readable scores")
    problem = next((problem for sample, _ in samples if (problem := _design_problem(sample))), None)
    alone = Figure(None, None, problem) if problem else _combine_parts(_estimate_parts(samples, 0.0), items, share)
    parts = [] if problem else _estimate_parts(samples, lam)
    reason = problem or _labels_alone_reason(samples)
    corrected = Figure(None, None, f"{reason}: labels alone" if not problem else reason) if reason else _combine_parts(parts, items, share)
    gain = 1.0 if reason else combine_estimates(*zip(*parts, strict=True)).gain
    single = parts[0][0] if len(parts) == 1 else None
    is_defined = corrected.value is not None and math.isfinite(gain)
    return MeanEstimates(
        n=n,
        unlabelled=items - n,
        groups=groups,
        judge_alone=judge,
        labels_alone=alone,
        corrected=corrected,
        method="prediction-powered",
        design=samples[0][0].design,
        lam=single.lam if single and not reason else None,
        rho=None if single is None or math.isnan(single.rho) else single.rho,
        effective_labels=n * gain if is_defined else None,
        labels_saved=n * (gain - 1) if is_defined else None,
    )


def _labels_alone_reason(samples: Sequence[tuple[Sample, float]]) -> str | None:
    """Return why the labels should stand alone; None if the judge's scores help."""
    for sample, _ in samples:
        n, read = int(sample.known.sum()), sample.f[~np.isnan(sample.f)]
        if n < MIN_LABELS:
            return f"{n} labelled texts, and {MIN_LABELS} are needed"
        if sample.groups < MIN_LABELLED_GROUPS:
            return f"the labelled texts are of {sample.groups} independent groups, and {MIN_LABELLED_GROUPS} are needed"
        if n == len(sample.y):
            return ALL_LABELLED
        if not len(read) or not np.ptp(read) > 0:
            return CONSTANT_JUDGE
    return None


def _design_problem(sample: Sample) -> str | None:
    """Return why the way in which labels were drawn cannot be taken into account; None if it can."""
    if sample.inclusion is not None:
        return NO_INCLUSION if np.isnan(sample.inclusion[sample.known]).any() else None
    if sample.stratum is None:
        return None
    pairs = np.unique(np.stack([sample.group, sample.stratum]), axis=1)
    if pairs.shape[1] > len(np.unique(sample.group)):
        return _SPANNED
    labelled = [sample.take(sample.stratum == code).groups for code in np.unique(sample.stratum)]
    return _FEW_IN_STRATUM if min(labelled, default=0) < 2 else None


def _estimate_parts(samples: Sequence[tuple[Sample, float]], lam: float | None) -> Parts:
    return [part for sample, weight in samples for part in _independent_parts(sample, weight, lam)]


def _independent_parts(sample: Sample, weight: float, lam: float | None) -> Iterator[tuple[PredictionPowered, float]]:
    """Yield the estimate of one sample; of a stratified one an estimate for each stratum, weighted by its share of the items."""
    if sample.inclusion is not None:
        weights = 1 / sample.inclusion
        yield prediction_powered_weighted(sample.y, sample.f, weights, sample.group, lam=lam), weight
    elif sample.stratum is None:
        yield prediction_powered_mean(sample.y, sample.f, sample.group, lam=lam), weight
    else:
        for code in np.unique(sample.stratum):
            rows = sample.stratum == code
            yield from _independent_parts(replace(sample.take(rows), stratum=None), weight * float(rows.mean()), lam)


def _combine_parts(parts: Parts, items: int, share: bool, nothing: str = "no labelled texts") -> Figure:
    if not parts or any(math.isnan(part.value) for part, _ in parts):
        return Figure(None, None, nothing)
    combined = combine_estimates(*zip(*parts, strict=True))
    interval = combined.interval
    if share:
        interval = share_interval(combined.value, combined.error, combined.freedom, interval.groups, items, 0.95)
    return Figure(combined.value, interval_ends(interval), interval.reason)


def interval_ends(interval: Interval) -> tuple[float, float] | None:
    """Return the ends of an interval; None where there is none."""
    return None if math.isnan(interval.lo) else (interval.lo, interval.hi)


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
    by_group = []  # what each group of labels adds to the error of the mean, as if all groups of its language were of the mean size
    for sample in samples:
        label_error = (sample.y - lam * _filled(sample))[sample.known]
        group = np.unique(sample.group[sample.known], return_inverse=True)[1]
        by_group.append(np.bincount(group, label_error - label_error.mean()) * (group.max() + 1) / len(group))
    errors = np.concatenate(by_group)
    square = float((errors**2).mean())
    kurtosis = float((errors**4).mean()) / square**2 if square > 0 else 3.0
    error, freedom = mixed_errors([sample.error for sample in by_language], groups), mixed_freedom(groups, kurtosis)
    return JudgeErrors(lam, np.array([sample.value for sample in by_language]), np.maximum(error, 1e-9), freedom, by_language)


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
