"""One judge in one language over all metrics together, beside the majority baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.data.columns import NO_VALUE, combination_ids, rows_by_number, rows_by_values
from harness.measure.cells import BASELINE, Cell, bounds, number
from harness.measure.compare import Recording, judged_tables
from harness.measure.judged_table import OUTCOMES, RIGHT, WRONG, JudgedTable, means_by
from harness.measure.label_counts import numbers
from harness.measure.options import MeasureOptions
from harness.model import CONDITION, ConditionRow, Scale, Score
from harness.stats.agreement.variance_components import Retest, retest
from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.calibration import reliability_curve
from harness.stats.intervals.paired import Difference, paired_difference

OVERALL = ("language", *CONDITION)
HYPOTHESIS = (
    f"H0: over all metrics together the judge agrees with the annotators' aggregate as often as the {BASELINE} baseline of each language, "
    "task and metric, on the same items, failures counted as wrong, repeats averaged; two-sided"
)


class LanguageSummary(ConditionRow, frozen=True, kw_only=True):
    """One judge in one language over all metrics together: its agreement with the labels beside that of the majority baseline.

    Continuous scores equal no label: their metrics do not count, and `n_ref` is 0 if there are no others.
    """

    language: str
    n_ref: int
    n: int
    pa_failed_wrong: float
    baseline: float
    diff: float | None = None  # the judge minus the baseline; None as `ci` and `p` where undefined
    ci: tuple[float, float] | None = None
    p: float | None = None


def pooled_differences(source: Recording, options: MeasureOptions) -> dict[tuple[Any, ...], Difference]:
    """Return every judge less the baseline over all metrics, by language, judge and condition (`OVERALL`).

    Questions that share a text are one group, whatever metric they are about. The same answers give the same numbers on a board. Raises
    UsageError as `compare` does.
    """
    [judged] = judged_tables([source], options)
    diff = judged.hit - judged.baseline_hits()
    question = combination_ids([judged.judgments.metric], judged.item)
    keys, which = judged.keyed(OVERALL)
    differences = {}
    for key, rows in zip(keys, rows_by_number(which, len(keys)), strict=True):
        first, number = np.unique(question[rows], return_index=True, return_inverse=True)[1:]
        differences[tuple(key[name] for name in OVERALL)] = paired_difference(
            means_by(number, diff[rows]), np.zeros(len(first)), judged.group[rows][first], hypothesis=HYPOTHESIS
        )
    return differences


def summaries(by_metric: Sequence[Cell], pooled: Mapping[tuple[Any, ...], Difference] = {}) -> tuple[LanguageSummary, ...]:
    """Return one summary a language, judge and condition, from the cells that pool tasks and the differences that pool metrics."""
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in by_metric:
        groups.setdefault(tuple(cell.key.get(name) for name in OVERALL), []).append(cell)
    languages = []
    for key, cells in groups.items():
        overall, cells = pooled.get(key), [cell for cell in cells if not cell.continuous]
        n_ref = sum(cell.n_ref for cell in cells)
        summary = LanguageSummary(
            **dict(zip(OVERALL, key, strict=True)),
            n_ref=n_ref,
            n=sum(cell.n for cell in cells),
            pa_failed_wrong=_pool_share(cells, n_ref, lambda cell: cell["pa_failed_wrong"]),
            baseline=_pool_share(cells, n_ref, lambda cell: cell.vs_baseline["pa"]),
            diff=number(overall.diff) if overall else None,
            ci=bounds(overall.interval) if overall else None,
            p=number(overall.p) if overall else None,
        )
        languages.append(summary)
    return tuple(languages)


def _pool_share(cells: Sequence[Cell], n_ref: int, share: Callable[[Cell], float | None]) -> float:
    """Return a share over all of the cells' references."""
    return sum((share(cell) or 0.0) * cell.n_ref for cell in cells) / n_ref if n_ref else 0.0


_KEYS = ("metric", *CONDITION)
_MOST_CLASSES = 7  # a scale with more classes has no confusion matrix that anybody could read
_MOST_MEANS, _BINS = 9, 8  # different means that each have a point; otherwise bins of about equally many texts


@dataclass(frozen=True)
class MeanPoint:
    """Judgments whose texts have about the same mean label: their number, that mean, and the scores' mean and quartiles."""

    n: int
    label: float
    score: float
    quartiles: tuple[float, float]


@dataclass(frozen=True)
class ReliabilityPoint:
    """Judgments of about the same confidence: their number, mean confidence, and the share that is right."""

    n: int
    confidence: float
    right: float


@dataclass(frozen=True)
class LabelScorePairs:
    """One cell."""

    key: dict[str, Any]  # source and the keys of `CELL`; None where there is none
    classes: tuple[Score, ...]  # from the worst to the best where the scale says which is best; empty where there are too many
    counts: tuple[tuple[int, ...], ...]  # judgments by aggregate of the labels (rows) and by score (the last column: none was readable)
    ends: tuple[float, float] | None  # of the scale as numbers; None on a scale without order
    by_mean: tuple[MeanPoint, ...]  # scores along the annotators' mean, of all unchanged texts with two annotators
    reliability: tuple[ReliabilityPoint, ...]  # empty without confidences


def label_score_pairs(judged: JudgedTable, source: str | None = None) -> Iterator[LabelScorePairs]:
    """Yield the pairs of every cell: of the rows that its agreement rests on, unreadable answers included; no cell without such a row.

    `source` is the name of the recording where there are several.
    """
    means: dict[str, tuple[Floats, Ints]] = {}
    for cell, rows in rows_by_values(judged.columns(("language", *_KEYS)), len(judged)):
        counted, clean = rows[judged.counted[rows]], rows[judged.judgments.perturbation.codes[rows] == NO_VALUE]
        if not len(counted):
            continue
        key = {"source": source, **cell}
        metric = str(key["metric"])
        if metric not in means:
            # The annotators' mean of every item and their number, (items,); NaN without numbers.
            labels, items = judged.data.labels, len(judged.data.items)
            of_metric = labels.metric.equals(metric)
            item = labels.item.take(of_metric).recode(judged.data.positions)
            score = numbers(labels.score.take(of_metric))
            is_number = ~np.isnan(score)
            count = np.bincount(item[is_number], minlength=items)
            with np.errstate(invalid="ignore"):
                mean = np.bincount(item[is_number], score[is_number], minlength=items) / count
            means[metric] = np.round(mean, 9), count
        scale = judged.data.scales[str(key["metric"])]
        classes = scale.classes if len(scale.classes) <= _MOST_CLASSES else ()
        classes = classes[::-1] if best_is_first(scale) else classes
        if scale.kind == "nominal" or any(isinstance(score, str) for score in scale.classes):
            ends: tuple[float, float] | None = None
        else:
            values = [float(score) for score in scale.classes]
            if scale.kind == "interval":
                values = [end for end in (scale.min, scale.max) if end is not None]
            ends = (min(values), max(values)) if len(values) > 1 else None
        column = judged.judgments.confidence.take(counted)
        confidence = np.array([*column.values, np.nan], np.float64)[column.codes]
        right = judged.outcome.codes[counted] == OUTCOMES.index(RIGHT)
        comparable = ~np.isnan(confidence) & (right | (judged.outcome.codes[counted] == OUTCOMES.index(WRONG)))
        if not comparable.any():
            reliability: tuple[ReliabilityPoint, ...] = ()
        else:
            curve = reliability_curve(confidence[comparable], right[comparable])
            reliability = tuple(
                ReliabilityPoint(*point) for point in zip(curve.n.tolist(), curve.confidence.tolist(), curve.share.tolist(), strict=True)
            )
        yield LabelScorePairs(
            key=key,
            classes=classes,
            counts=_count_confusion(judged, counted, classes) if classes else (),
            ends=ends,
            by_mean=_points_by_mean(judged, clean, *means[metric]) if ends else (),
            reliability=reliability,
        )


def best_is_first(scale: Scale) -> bool:
    """Return True if the first class of a scale is the best one."""
    return bool(scale.classes) and scale.best == scale.classes[0]


def _count_confusion(judged: JudgedTable, rows: Ints, classes: tuple[Score, ...]) -> tuple[tuple[int, ...], ...]:
    k, position = len(classes), {score: code for code, score in enumerate(classes)}
    label = judged.reference.recode(position)[rows]
    score = judged.judgments.score.recode(position)[rows]
    score = np.where(score == NO_VALUE, k, score)
    labelled = label != NO_VALUE
    counts = np.bincount(label[labelled] * (k + 1) + score[labelled], minlength=k * (k + 1)).reshape(k, k + 1)
    return tuple(map(tuple, counts.tolist()))


def _points_by_mean(judged: JudgedTable, rows: Ints, mean: Floats, raters: Ints) -> tuple[MeanPoint, ...]:
    item, score = judged.item[rows], numbers(judged.judgments.score.take(rows))
    used = ~np.isnan(score) & (raters[item] > 1)
    label, score = mean[item][used], score[used]
    if not len(label):
        return ()
    different = np.unique(label)
    edges = different if len(different) <= _MOST_MEANS else np.unique(np.quantile(label, np.arange(_BINS) / _BINS))
    part = np.searchsorted(edges, label, side="right")
    points = []
    for in_part in (part == n for n in np.unique(part).tolist()):
        low, high = np.quantile(score[in_part], (0.25, 0.75)).tolist()
        points.append(MeanPoint(int(in_part.sum()), float(label[in_part].mean()), float(score[in_part].mean()), (low, high)))
    return tuple(points)


__all__ = ["Outcome", "Retest", "retest_outcomes"]

Outcome = Mapping[str, object]  # metric -> score, or the failure in its place


def retest_outcomes(recorded: Sequence[Outcome], first: Sequence[Outcome], second: Sequence[Outcome]) -> Retest:
    """Test recorded answers against two fresh ones, call by call. All three have the same metrics for each call."""
    codes: dict[object, int] = {}
    widest = max(map(len, recorded), default=0)

    def coded(outcomes: Sequence[Outcome]) -> list[list[int]]:
        rows = []
        for outcome in outcomes:
            answers = [codes.setdefault(outcome[metric], len(codes)) for metric in sorted(outcome)]
            rows.append(answers + [-1] * (widest - len(answers)))
        return rows

    return retest(coded(recorded), coded(first), coded(second))
