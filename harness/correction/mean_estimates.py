"""One mean estimated in three ways: from the judge's scores alone, from the labels alone, and from both.

Both together is prediction-powered inference: by strata where items have one, weighted where inclusion probabilities are stated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.measure.item_table import ItemTable
from harness.model import Score
from harness.stats import combine_estimates, prediction_powered_mean, prediction_powered_weighted
from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.prediction_powered import MIN_LABELLED_GROUPS, MIN_LABELS, PredictionPowered, share_interval
from harness.stats.intervals.intervals import Interval

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
