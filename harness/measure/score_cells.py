"""The statistics of cells on interval scales that are computed from numbers: correlation, accuracy of pairs, error, reliability."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np

from harness.data.columns import combination_ids
from harness.data.dataset import Dataset
from harness.measure.judged_table import JudgedTable, item_key
from harness.measure.label_counts import ItemScores, LabelCounts, item_scores, numbers
from harness.measure.options import MeasureOptions
from harness.model import CONDITION
from harness.stats.agreement.agreement import alpha_features, alpha_of_sums
from harness.stats.agreement.concordance import joined_groups, tie_calibrated_accuracy
from harness.stats.agreement.correlation import NAMES as CORRELATIONS
from harness.stats.agreement.correlation import (
    Correlation,
    ErrorToTest,
    SegmentCorrelations,
    error_to_test,
    mean_of_segments,
    score_correlation,
    segment_correlations,
    tested_errors,
)
from harness.stats.agreement.describe import sd_of_sums
from harness.stats.agreement.variance_components import NO_PAIR, NOT_CROSSED, one_way_features, one_way_of_sums, two_way_icc
from harness.stats.core.arrays import Estimate, Floats, Ints, as_index, undefined
from harness.stats.core.statistic import Estimated, of_group_sums, sums_by_group
from harness.stats.intervals.intervals import no_interval
from harness.stats.ranking import soft_pairwise_accuracy

WITHIN: dict[str, Correlation] = {"pearson_within": "pearson", "kendall_tau_within": "kendall", "spearman_within": "spearman"}
SECOND = ("human_second_pearson", "human_second_kendall_tau", "judge_second_pearson", "judge_second_kendall_tau")
NAMES = (*WITHIN, "acc_eq", "acc_eq_epsilon", "spa", "rmse", "mae", "icc", "icc_mean", "icc_crossed", "icc_crossed_mean", *SECOND)
"""What every cell on an interval scale has, beside the statistics of all scales."""
NOT_INTERVAL = "the scale has no distances"
NOT_CLASSES = "continuous scores: equality says little"
NO_SEGMENT_KEY = "the dataset card names no segment (the key of the source text)"
NO_SYSTEM = "no item names a system"
NO_SECOND = "no second ratings by other people"
NOT_PERSONS = "annotators cannot be followed from item to item"
NO_BEST = "the scale has no best end"
OTHER_SCALE = "the judge's scale is not people's: only the order of texts is compared"
_JUDGED = (*CONDITION, "source", "repeat", "metric", "agreement")
_SECOND: tuple[Correlation, ...] = ("pearson", "kendall")


@dataclass(frozen=True)
class ScoredCell:
    """The results of one cell: every statistic, and how many source texts and second ratings it rests on."""

    values: dict[str, Estimated]
    counts: dict[str, int]

    @property
    def undefined(self) -> dict[str, str]:
        """Reasons of undefined values and intervals."""
        why = {name: estimate.reason for name, estimate in self.values.items() if estimate.reason}
        return why | {
            f"{name}_ci": estimate.interval.reason for name, estimate in self.values.items() if estimate.interval.reason and name not in why
        }


@dataclass(frozen=True)
class _Cell:
    """The labelled units of a cell: item, group, and as numbers the mean label (raw, and as correlations use it) and the judge's score."""

    key: Mapping[str, Any]
    votes: Mapping[str, LabelCounts]  # of the metrics that the cell counts together, mostly one
    item: Ints
    question: Ints
    group: Ints
    raw: Floats
    x: Floats
    y: Floats
    weight: Floats | None


class ScoreCells:
    """The cells of interval metrics on one scale."""

    def __init__(self, judged: JudgedTable, metrics: Sequence[str], options: MeasureOptions) -> None:
        self.data, self.judged, self.options = judged.data, judged, options
        self.weight = judged.design.weight if judged.design else None  # (items,)
        self.votes = {metric: judged.labels[metric] for metric in metrics}
        self.classes = self.votes[metrics[0]].classes
        self.group = self.data.clusters.codes.astype(np.int64)
        self.score = numbers(self.judged.judgments.score)
        self._of_people: dict[Any, dict[str, Estimated]] = {}

    @cached_property
    def segment(self) -> Ints | None:
        """The source text of every item, (items,) from 0, -1 without one; None if the card names no key."""
        return source_texts(self.data) if self.data.about.segment else None

    @cached_property
    def cluster(self) -> Ints:
        """The cluster of every source text, which shares no group of items with another cluster."""
        assert self.segment is not None
        has_segment = self.segment >= 0
        return joined_groups(self.segment[has_segment], self.group[has_segment])

    def cells(self, keys: Sequence[Mapping[str, Any]], rows: Sequence[Ints]) -> list[ScoredCell]:
        """Return the statistics of each cell: `rows` are its rows of the table."""
        within: list[SegmentCorrelations | None] = []
        left_out: dict[tuple[Any, ...], set[int]] = {}
        for key, cell_rows in zip(keys, rows, strict=True):
            if self.segment is None:
                correlations: SegmentCorrelations | None = None
            else:
                item, _, x, y = self._average_repeats(self._build_cell(key, cell_rows))
                correlations = segment_correlations(x, y, self.segment[item])
            within.append(correlations)
            if (
                correlations is not None and not np.isnan(correlations.kendall).all()
            ):  # a judge that is constant everywhere leaves nothing out
                left_out.setdefault(_peer_key(key), set()).update(correlations.constant.tolist())
        counts: list[dict[str, int]] = [{} for _ in keys]
        statistics = [
            self._cell_statistics(self._build_cell(key, cell_rows), correlations, left_out.get(_peer_key(key), set()), count)
            for key, cell_rows, correlations, count in zip(keys, rows, within, counts, strict=True)
        ]
        tested = iter(tested_errors([statistic for values in statistics for statistic in values.values()]))
        return [ScoredCell({name: next(tested) for name in values}, count) for values, count in zip(statistics, counts, strict=True)]

    def _build_cell(self, key: Mapping[str, Any], rows: Ints) -> _Cell:
        item = self.judged.item[rows].astype(np.int64)
        raw, x = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
        metric = self.judged.judgments.metric.take(rows)
        votes = {name: labels for name, labels in self.votes.items() if name in metric.used}
        for name, labels in votes.items():
            assert labels.scores is not None
            of_metric = metric.equals(name)
            raw[of_metric], x[of_metric] = labels.scores.raw_mean[item[of_metric]], labels.scores.mean[item[of_metric]]
        labelled = ~np.isnan(raw)
        question = combination_ids([metric], item)[labelled]
        item = item[labelled]
        weight = None if self.weight is None else self.weight[item]
        return _Cell(key, votes, item, question, self.group[item], raw[labelled], x[labelled], self.score[rows][labelled], weight)

    def _average_repeats(self, cell: _Cell) -> tuple[Ints, Floats, Floats, Floats]:
        """Return the different items of a cell, their labels (raw and as correlations use them) and the judge's mean score over repeats."""
        _, first, question = np.unique(cell.question, return_index=True, return_inverse=True)
        read = ~np.isnan(cell.y)
        times = np.bincount(question[read], minlength=len(first))
        total = np.bincount(question[read], cell.y[read], minlength=len(first))
        return cell.item[first], cell.raw[first], cell.x[first], np.where(times > 0, total / np.maximum(times, 1), np.nan)

    def _cell_statistics(
        self, cell: _Cell, within: SegmentCorrelations | None, left_out: set[int], counts: dict[str, int]
    ) -> dict[str, Estimated | ErrorToTest]:
        values: dict[str, Estimated | ErrorToTest] = {}
        if self.classes.continuous or self.options.standardise != "none":  # else classes give the same
            for method, name in CORRELATIONS.items():
                values[name] = score_correlation(method, cell.x, cell.y, cell.group, cell.weight)
        if self.classes.continuous:
            # Leniency in points of the scale as given, means and standard deviations, and alpha.
            x, y, group = cell.raw, cell.y, cell.group
            direction = self.classes.direction
            read = ~np.isnan(y)
            moments = np.stack([np.ones(int(read.sum())), y[read] - self._centre, (y[read] - self._centre) ** 2], axis=1)
            judge = sums_by_group(moments, _index(group[read]))
            # The ends of the scale on which the judge answers.
            scales = [self.data.scales[metric] for metric in cell.votes] if self.classes.order_only else []
            points = [
                float(point) for scale in scales for point in (*scale.classes, scale.min, scale.max) if isinstance(point, (int, float))
            ]
            judge_ends = (min(points), max(points)) if points else self.classes.ends
            values |= {
                "mean_judge": _move_back(of_group_sums(judge, _mean_of_sums, empty="no readable score"), self._centre, judge_ends),
                "sd_judge": of_group_sums(judge, sd_of_sums, scale="log", empty="no readable score", constant="a single score"),
            }
            if self.classes.order_only:
                values |= dict.fromkeys(("leniency", "alpha_interval"), _nothing(OTHER_SCALE))
            else:
                pair = np.stack([x[read] - self._centre, y[read] - self._centre], axis=1)
                alpha = alpha_features(np.full(len(pair), 2.0), pair.sum(axis=1), (pair**2).sum(axis=1))
                signed = (
                    error_to_test("signed", x, y, group, self.classes.reach, cell.weight, direction) if direction else _nothing(NO_BEST)
                )
                of_alpha = of_group_sums(sums_by_group(alpha, _index(group[read])), alpha_of_sums, (-math.inf, 1.0))
                values |= {"leniency": signed, "alpha_interval": of_alpha}
        # The judge's distance from the mean label in points of the scale as given.
        if self.classes.order_only:
            values |= dict.fromkeys(("mae", "rmse"), _nothing(OTHER_SCALE))
        else:
            pairs = (cell.raw, cell.y, cell.group, self.classes.reach, cell.weight)
            values |= {"mae": error_to_test("absolute", *pairs), "rmse": error_to_test("squared", *pairs)}
        if within is None:
            values |= dict.fromkeys((*WITHIN, "acc_eq", "acc_eq_epsilon", "spa"), _nothing(NO_SEGMENT_KEY))
        else:
            values |= self._segment_statistics(cell, within, left_out, counts)
        # What depends on labels alone; it is computed once for all judges of the same items.
        items = np.unique(cell.item)
        key = (tuple(cell.votes), sha256(items.tobytes()).digest())
        if key not in self._of_people:
            self._of_people[key] = people_statistics(self.data, list(cell.votes.values()), items, self.group)
        values |= self._of_people[key]
        return values | self._second_ratings(cell, counts)

    def _segment_statistics(
        self, cell: _Cell, within: SegmentCorrelations, left_out: set[int], counts: dict[str, int]
    ) -> dict[str, Estimated]:
        assert self.segment is not None
        varied = ~np.isin(within.segment, list(left_out))
        cluster = self.cluster[within.segment]
        values = {
            name: mean_of_segments(np.where(varied, getattr(within, name_within), np.nan), cluster) for name, name_within in WITHIN.items()
        }
        counts |= {
            "segments": int((varied & ~np.isnan(within.kendall)).sum()),
            "segments_undefined": int(((within.items >= 2) & (~varied | np.isnan(within.kendall))).sum()),
            "segments_single": within.single,
        }
        item, raw, x, y = self._average_repeats(cell)
        segment = self.segment[item]
        drawing = self.options.drawing
        tied = tie_calibrated_accuracy(raw, y, segment, self.group[item], **drawing)
        values["acc_eq"] = Estimated(tied.value, tied.pairs, tied.interval, math.nan, tied.reason)
        values["acc_eq_epsilon"] = Estimated(tied.epsilon, tied.pairs, tied.epsilon_interval, math.nan, tied.reason)
        system = item_key(self.data, "system").take(item)
        has_system = (system.codes >= 0) & (segment >= 0)
        spa = soft_pairwise_accuracy(x[has_system], y[has_system], system.codes[has_system], segment[has_system], seed=self.options.seed)
        values["spa"] = _without_interval(spa, "SPA has no interval") if has_system.any() else _nothing(NO_SYSTEM)
        return values

    @cached_property
    def _centre(self) -> float:
        """A number near the scores, from which sums of squares lose no digits."""
        defined = self.score[~np.isnan(self.score)]
        return float(defined.mean()) if len(defined) else 0.0

    def _second_ratings(self, cell: _Cell, counts: dict[str, int]) -> dict[str, Estimated]:
        """Return people's correlation with each other on items that another person scored again, and the judge's on the same items."""
        if self.data.second is None or len(cell.votes) != 1:
            return dict.fromkeys(SECOND, _nothing(NO_SECOND))
        [(metric, labels)] = cell.votes.items()
        assert labels.scores is not None
        standardise = self.options.standardise != "none"
        item, other = second_ratings(self.data, metric, labels.scores, standardise=standardise)
        # Mask of the items that belong to a cell's place: its language, task and other keys of items.
        mask = np.ones(len(self.data.items), bool)
        for name in self.options.by:
            if name not in _JUDGED:
                mask &= item_key(self.data, name).among([cell.key[name]])
        in_cell = mask[item] & ~np.isnan(labels.scores.mean[item])
        item, other = item[in_cell], other[in_cell]
        if not len(item):
            return dict.fromkeys(SECOND, _nothing(NO_SECOND))
        mine, _, _, y = self._average_repeats(cell)
        judge = np.full(len(self.data.items), np.nan)
        judge[mine] = y
        counts |= {"second_ratings": len(item), "second_ratings_judged": int((~np.isnan(judge[item])).sum())}
        x, group = labels.scores.mean[item], self.group[item]
        return {
            f"{side}_second_{CORRELATIONS[method]}": score_correlation(method, x, scores, group)
            for side, scores in (("human", other), ("judge", judge[item]))
            for method in _SECOND
        }


def people_statistics(data: Dataset, votes: Sequence[LabelCounts], items: Ints, group: Ints) -> dict[str, Estimated]:
    """Return how reliable the labels of some items are, and their level, from the scores as given.

    `votes` are those of the metrics that are counted together, `items` (n,) the items of the cell, each once, and `group` has the group of
    every item of the data.
    """
    features, alpha, labels = [], [], []
    scores_of_metrics = [labels_of_metric.scores for labels_of_metric in votes if labels_of_metric.scores is not None]
    centre = float(np.mean([scores.raw.mean() if len(scores.raw) else 0.0 for scores in scores_of_metrics]))
    for scores in scores_of_metrics:
        n = scores.n[items].astype(np.float64)
        total, squares = (scores.sums(power, centre)[items] for power in (1, 2))
        features.append(one_way_features(n, total, squares))
        alpha.append(alpha_features(n, total, squares))
        labels.append(np.stack([n, total, squares], axis=1))
    code = _index(np.tile(group[items], len(scores_of_metrics)))
    one_way, coincidences, level = (sums_by_group(np.concatenate(part), code) for part in (features, alpha, labels))
    icc = one_way_of_sums(one_way)
    crossed = None
    if len(scores_of_metrics) == 1 and data.about.annotators == "persistent":
        # ICC(2,·) of the items with two labels or more; undefined where not everybody scored every one of them.
        scores = scores_of_metrics[0].of_items(items[scores_of_metrics[0].n[items] >= 2])
        people = len(np.unique(scores.annotator))
        if scores.items < 2 or len(scores.item) < scores.items * people:
            crossed = (undefined(scores.items, NOT_CROSSED if scores.items >= 2 else NO_PAIR),) * 2
        else:
            crossed = two_way_icc(scores.table())
    two_way = [_without_interval(estimate, "no interval for crossed annotators") for estimate in crossed or ()] or [
        _nothing(NOT_PERSONS)
    ] * 2
    return {
        "icc": icc.single,
        "icc_mean": icc.mean,
        "icc_crossed": two_way[0],
        "icc_crossed_mean": two_way[1],
        "human_alpha_interval": of_group_sums(coincidences, alpha_of_sums, (-math.inf, 1.0), empty=NO_PAIR),
        "mean_labels": _move_back(of_group_sums(level, _mean_of_sums, empty="no label"), centre, votes[0].classes.ends),
        "sd_labels": of_group_sums(level, sd_of_sums, scale="log", empty="no label", constant="a single score"),
    }


def _move_back(estimate: Estimated, centre: float, ends: tuple[float | None, float | None]) -> Estimated:
    """Return the mean of scores less the centre, moved back; the interval ends where the scale does."""
    low, high = ends
    interval = estimate.interval
    if not math.isnan(interval.lo):
        lo, hi = interval.lo + centre, interval.hi + centre
        interval = replace(interval, lo=lo if low is None else max(lo, low), hi=hi if high is None else min(hi, high))
    return Estimated(estimate.value + centre, estimate.n, interval, estimate.p, estimate.reason)


def source_texts(data: Dataset) -> Ints:
    """Return the source text of every item by the key that the dataset card names: (items,) from 0, -1 without one.

    Source texts of two languages are two. Raises UsageError if no item has the key.
    """
    column = item_key(data, data.about.segment)
    codes = combination_ids([item_key(data, "language"), column], np.zeros(len(data.items), np.int8)).astype(np.int64)
    has_text = column.codes >= 0
    codes[has_text] = np.unique(codes[has_text], return_inverse=True)[1]
    return np.where(has_text, codes, -1)


def second_ratings(
    data: Dataset, metric: str, first: ItemScores, *, same_person: bool = False, standardise: bool = False
) -> tuple[Ints, Floats]:
    """Return the second ratings by people who are not among an item's annotators (or with `same_person`, by those who are).

    Standardised ones are less the mean of the person's labels in the language, divided by their standard deviation; NaN for people who
    have no such labels.

    Returns (ratings,): the item of each rating, and its score.
    """
    assert data.second is not None
    again = item_scores(data, metric, labels=data.second)
    names = {name: code for code, name in enumerate(data.labels.annotator.values)}
    who = np.array([names.get(name, -1) for name in data.second.annotator.values] or [-1], np.int64)[again.annotator]
    width = len(names) + 1
    rated_before = np.isin(again.item * width + who, first.item * width + first.annotator)
    selected = rated_before if same_person else ~rated_before
    value = again.raw
    if standardise:
        language = item_key(data, "language").codes.astype(np.int64)
        size = (int(language.max(initial=0)) + 1) * width
        rater_in_language = language[first.item] * width + first.annotator
        n = np.bincount(rater_in_language, minlength=size)
        mean = np.bincount(rater_in_language, first.raw, minlength=size) / np.maximum(n, 1)
        spread = np.sqrt(np.bincount(rater_in_language, (first.raw - mean[rater_in_language]) ** 2, minlength=size) / np.maximum(n - 1, 1))
        key = language[again.item] * width + np.where(who >= 0, who, width - 1)
        value = np.where((n[key] > 1) & (spread[key] > 0), (value - mean[key]) / np.where(spread[key] > 0, spread[key], 1.0), np.nan)
    return again.item[selected], value[selected]


def _peer_key(key: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the cells whose judges are compared on the same source texts."""
    return tuple(value for name, value in key.items() if name not in (*CONDITION, "source", "repeat"))


def _index(group: Ints) -> Ints:
    return as_index(group, len(group), "groups")


def _mean_of_sums(sums: Floats) -> Floats:
    return np.asarray(sums[..., 1] / np.where(sums[..., 0] > 0, sums[..., 0], np.nan))


def _nothing(reason: str) -> Estimated:
    return Estimated(math.nan, 0, no_interval(0, reason), math.nan, reason)


def _without_interval(estimate: Estimate, why: str) -> Estimated:
    return Estimated(estimate.value, estimate.n, no_interval(0, why), math.nan, estimate.reason)
