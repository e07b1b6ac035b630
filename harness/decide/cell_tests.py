"""The tests that a verdict rests on, cell by cell: the gap to people, the baseline, coverage, variation, leniency, gain by correction."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

import msgspec
import numpy as np

from harness.data.columns import combination_ids, first_rows, rows_by_number
from harness.decide.annotator_labels import AnnotatorLabels, AnnotatorSample, annotator_sample, annotator_tests
from harness.decide.options import DecisionOptions
from harness.decide.verdict_parts import CopiedLabels
from harness.measure.answer_counts import AnswerCounts, count_answers
from harness.measure.judged_table import JudgedTable, item_key, means_by
from harness.measure.label_counts import Classes, LabelCounts
from harness.measure.scores import numbers
from harness.model import BY_PEOPLE, Score
from harness.stats import RARE, OneClass
from harness.stats.agreement.score_errors import distance_of_judge, distance_of_people, median_without_group
from harness.stats.core.arrays import Floats, Ints
from harness.stats.core.many_cells import run_lockstep, windows
from harness.stats.core.tables import agreement_weights
from harness.stats.intervals.cluster_mean import ClusterMean, SampleOfGroups, cluster_mean_each
from harness.stats.intervals.judge_tests import JudgeSums, JudgeTests, judge_sums, judge_tests_each, one_class_tests
from harness.stats.intervals.noninferiority import matched_gap, pair_agreement

_CONSTANT = 0.99  # a judge that gives one class this often does not vary …
_VARIED = 0.95  # … unless people's commonest class is this common
_UNITS = 1 << 16  # judgments of cells that are tested at once
_SAME_LEVEL = 0.1  # judge and people are on one level within this share of the scale


class Differences(NamedTuple):
    """Item by item, (items,): the judge's agreement minus people's, its hits minus the baseline's (NaN where undefined), and the group."""

    gap: Floats
    baseline: Floats
    group: Ints


class LabelledTexts(msgspec.Struct, frozen=True):
    """The texts and labels that a cell's tests rest on.

    Attributes:
        labels: who gave the labels: `native`, `people`, `constructed` or `model`; `mixed` if there are several kinds.
        interval: whether scores are numbers, which agree the more the closer they are; agreement is then 1 minus the distance, in parts
            of the scale's length, also with the baseline.
        closeness: whether agreement with people is such closeness: on interval scales, and on ordinal ones where the options say so.
        n, groups: items with two annotators or more, and independent texts among them: groups of items.
        labelled: items that a verdict rests on: `n`, or the labelled ones with constructed labels and without second annotators.
    """

    labels: str
    interval: bool
    closeness: bool
    n: int
    groups: int
    labelled: int


class ReadableAnswers(NamedTuple):
    """The share of answers that could be read, its one-sided 95 % upper limit, and how many of the others there are of each kind.

    These are of texts that two people scored. `all` counts every answer of the cell, whoever scored its text.
    """

    share: float
    upper: float
    failures: dict[str, int]
    all: AnswerCounts


class Commonest(NamedTuple):
    """Class and share of the judge's commonest answer, and of people's commonest label; None where there is none."""

    judge: tuple[Score, float] | None
    labels: tuple[Score, float] | None


class LeniencyTest(NamedTuple):
    """Judge minus mean label in points, by groups; whether it is shown to be less than a tenth of the scale, which is `reach` points."""

    leniency: ClusterMean
    reach: float
    same: bool


class CellTests(msgspec.Struct, frozen=True, kw_only=True):
    """One cell's tests, uncorrected. Undefined numbers are NaN.

    Attributes:
        key: that of a cell (`CELL`), and the source where there are several.
        texts: what the tests rest on.
        sampling: how the items were drawn, as the dataset card says.
        aggregate: whether a label is a released score of several people, not one person's.
        people: agreement of people with each other on the texts of two annotators, by pairs.
        gap: the judge's agreement minus people's.
        sums, tests: sums of gaps and of differences from the baseline by group, and the four tests; see docs/decisions.md.
        hits, right: share of items on which the judge gives the aggregate of the labels, failures as wrong, by groups; on interval scales
            1 minus the distance from the mean label, failures as the whole scale.
        baseline: right answers of the judge minus those of the majority baseline.
        coverage: readable answers, and what the others are.
        commonest: the commonest answer and label.
        variation: the test that the judge varies as much as people do.
        level: how lenient the judge is.
        gain: effective labels per label if many further texts are judged.
        few_rare_cases: the rarest class is expected fewer than 15 times.
        differences: what the tests were computed from. Where texts were drawn with different probabilities, `people`, `gap`, `hits` and
            `baseline` with their tests weight each by 1 / probability.
        copied: whose labels the judge's scores equal in every text.
        alt_test: the alternative annotator test; None where labels cannot be followed by annotator.
        alt_samples: what it was made of, by task, where the card or a flag names its scoring: metrics of a task are then pooled.
    """

    key: dict[str, Any]
    texts: LabelledTexts
    sampling: str
    aggregate: bool
    people: float
    gap: ClusterMean
    sums: JudgeSums
    tests: JudgeTests
    differences: Differences
    hits: ClusterMean
    baseline: ClusterMean
    coverage: ReadableAnswers
    commonest: Commonest
    variation: OneClass
    level: LeniencyTest
    gain: float
    few_rare_cases: bool
    copied: CopiedLabels | None
    alt_test: dict[str, Any] | None
    alt_samples: dict[str, AnnotatorSample]

    @property
    def effective_groups(self) -> float:
        """For how many equal groups the texts' groups stand; NaN with fewer than two."""
        return float(self.tests.effective)

    @property
    def cap(self) -> float:
        """How many texts a group counts for at most in the corrected tests; infinity where no cap is needed."""
        return float(self.tests.cap)

    @property
    def right(self) -> float:
        """Share of items on which the judge gives the aggregate."""
        return self.hits.mean

    @property
    def one_class(self) -> bool:
        """Whether the judge gives one class to everything although people do not. It may be chance: see `variation`."""
        judge, labels = self.commonest
        return judge is not None and labels is not None and judge[1] >= _CONSTANT and labels[1] < _VARIED


def cell_tests(judged: JudgedTable, by_source: bool, options: DecisionOptions) -> Iterator[CellTests]:
    """The tests of every cell of one data set; repeats of a question are averaged first.

    Args:
        judged: judgments laid beside labels.
        by_source: whether sources have cells of their own.
        options: margin and level of the tests.
    """
    measures = CellTester(judged, options)
    epsilon = options.discount(judged.data.about.epsilon)
    for some in windows(judged.rows_by_cell(by_source), lambda cell: len(cell[1]), _UNITS):
        measured = run_lockstep([measures.cell(*cell) for cell in some], cluster_mean_each)
        tests = judge_tests_each([one.sums for one in measured], options.margin, options.effective_groups)
        alternative = annotator_tests([one.sample for one in measured], epsilon)
        variation = one_class_tests([one.answers for one in measured])
        for one, tested, beside, varied in zip(measured, tests, alternative, variation, strict=True):
            yield one.rest(sums=one.sums, tests=tested, alt_test=beside, variation=varied)


class _Measured(NamedTuple):
    """What one cell's tests are made of, to make them for many cells at once, and the rest of them."""

    rest: partial[CellTests]
    sums: JudgeSums
    sample: AnnotatorSample | None
    answers: tuple[Floats | Ints, Floats, Ints]  # of people and of the judge, and the groups


class CellTester:
    """What every judgment says of the judge, the baseline and people."""

    def __init__(self, judged: JudgedTable, options: DecisionOptions) -> None:
        data, labels = judged.data, judged.labels
        self.judged, self.options = judged, options
        self.right, self.score = judged.hit.copy(), judged.code
        self.design = judged.design.weight if judged.design else None
        self.baseline = judged.baseline_hits(self.design)
        self.weights = {metric: _weights(votes.classes, options) for metric, votes in labels.items()}
        self.gap = np.full(len(judged), math.nan)
        self.group = data.clusters.codes.astype(np.int64)
        self.sources = _label_sources(judged)
        self.labels = AnnotatorLabels(data, labels)
        self.given = numbers(judged.judgments.score)
        self.intervals = {metric: _Distances(judged, metric, votes, self.given) for metric, votes in labels.items() if votes.scores}
        for metric, rows in judged.rows_by_metric.items():
            if metric in self.intervals:
                self.gap[rows], self.right[rows], self.baseline[rows] = self.intervals[metric].at(rows)
            else:
                self.gap[rows] = matched_gap(labels[metric].counts[judged.item[rows]], self.score[rows], self.weights[metric])

    def cell(self, key: dict[str, Any], rows: Ints) -> Generator[SampleOfGroups, ClusterMean, _Measured]:
        """Asks for means over groups, which are made for many cells at once."""
        judged, options, about = self.judged, self.options, self.judged.data.about
        votes = judged.labels[key["metric"]]
        items, question = np.unique(judged.item[rows], return_inverse=True)
        group, counts = self.group[items], votes.counts[items]
        raters = counts.sum(axis=1)
        apart = means_by(question, self.gap[rows])
        against = means_by(question, self.right[rows] - self.baseline[rows])
        weight = None if self.design is None else self.design[items]
        sums, n = judge_sums(apart, against, group, weight), int((raters >= 2).sum())
        gap, baseline = (yield _known(apart, group, weight)), (yield _known(against, group, weight))
        hits = yield _known(means_by(question, self.right[rows]), group, weight)
        labels = self.sources.get((key["metric"], key["language"]), "native")
        least = 2 if labels in BY_PEOPLE else 1
        counted, paired = raters[question] >= least, raters >= 2
        scores = self.score[rows][counted]
        read = yield SampleOfGroups(scores >= 0, group[question][counted])
        codes = means_by(question, np.where(self.score[rows] >= 0, self.score[rows], math.nan))
        labelled = raters >= least
        interval = self.intervals.get(key["metric"])
        pairs = (interval.mean[items], means_by(question, self.given[rows])) if interval else None
        correction = _Correction(votes.classes, counts[labelled], codes[labelled], pairs and (pairs[0][labelled], pairs[1][labelled]))
        if interval:
            people = _mean(interval.people[items], weight)
            commonest = Commonest(_commonest_number(self.given[rows][counted]), _commonest_number(interval.labels(items[labelled])))
        else:
            people = _mean(pair_agreement(counts[paired], self.weights[key["metric"]]), None if weight is None else weight[paired])
            scored = np.bincount(scores[scores >= 0], minlength=len(votes.classes.scores))
            commonest = Commonest(*(_commonest(votes.classes.scores, each) for each in (scored, counts[labelled].sum(axis=0))))
        table = None if votes.classes.continuous else self.labels.table(key["metric"], items[paired])
        scoring = options.alternative_scoring(about.alt_scoring, votes.classes.kind)
        by_task = item_key(judged.data, "task").take(items[paired]) if options.alt_scoring or about.alt_scoring else None
        sample = annotator_sample(table, codes[paired], group[paired], key["metric"], votes.classes, scoring)
        level = yield correction.leniency(group[labelled])
        rest = partial(
            CellTests,
            key=key,
            texts=LabelledTexts(
                labels=labels,
                interval=interval is not None,
                closeness=interval is not None or self.weights[key["metric"]] is not None,
                n=n,
                groups=gap.groups,
                labelled=n if labels in BY_PEOPLE and n else baseline.n,
            ),
            sampling=about.sampling,
            aggregate=judged.data.about.annotators == "aggregate",
            people=people,
            gap=gap,
            differences=Differences(apart, against, group),
            hits=hits,
            baseline=baseline,
            coverage=ReadableAnswers(*_coverage(read), self._counted(rows[counted]).unread, self._counted(rows)),
            commonest=commonest,
            level=LeniencyTest(level, correction.reach, same_level_p(level, correction.reach) <= options.alpha),
            gain=correction.gain,
            few_rare_cases=correction.few_rare_cases,
            copied=self._copied(key["metric"], labels, items, codes, pairs and pairs[1]),
            alt_samples={str(name): sample.only(by_task.equals(name)) for name in by_task.used} if sample and by_task else {},
        )
        given = pairs and pairs[1][labelled]
        answers = self._answers(key["metric"], items[labelled], codes[labelled], given, commonest.judge and commonest.judge[0])
        return _Measured(rest, sums, sample, answers)

    def _answers(
        self, metric: str, items: Ints, codes: Floats, given: Floats | None, commonest: Score | None
    ) -> tuple[Floats | Ints, Floats, Ints]:
        """Numbers are of two classes here: the judge's commonest, and all others."""
        interval, judge = self.intervals.get(metric), codes
        counts: Floats | Ints = self.judged.labels[metric].counts[items]
        if interval and given is not None:
            counts = interval.counts_of(commonest, items)
            judge = np.where(np.isnan(given), np.nan, given != commonest)
        return counts, np.round(judge), self.group[items]

    def _copied(self, metric: str, labels: str, items: Ints, codes: Floats, given: Floats | None) -> CopiedLabels | None:
        """Scores on continuous scales are compared as numbers. Labels that nobody gave cannot be copied from people."""
        if labels not in BY_PEOPLE:
            return None
        return self.labels.copied(metric, items, given if given is not None and self.judged.labels[metric].classes.continuous else codes)

    def _counted(self, rows: Ints) -> AnswerCounts:
        return count_answers(self.judged.judgments, len(rows), rows[self.score[rows] < 0])


class _Distances:
    """Judge, people and a constant on an interval scale: how far each is from people, in parts of the scale's length.

    The constant is the median of the items' mean labels in the other groups of a language and task. A judge's failure is as far from
    people as the scale is long.
    """

    def __init__(self, judged: JudgedTable, metric: str, votes: LabelCounts, given: Floats) -> None:
        assert votes.scores is not None
        data, self.scores, self.item, self.given = judged.data, votes.scores, judged.item, given
        raw = self.scores.raw
        self.reach = votes.classes.reach or (float(np.ptp(raw)) if len(raw) else 0.0) or 1.0
        self.people: Floats = 1 - distance_of_people(self.scores.item, raw, self.scores.items) / self.reach
        self.mean = self.scores.raw_mean
        known = np.flatnonzero(~np.isnan(self.mean))
        stratum = combination_ids([item_key(data, "language"), item_key(data, "task")], np.zeros(len(data.items), np.int8))[known]
        group = item_key(data, "group").codes[known].astype(np.int64)
        self.constant = np.full(len(data.items), math.nan)
        for rows in rows_by_number(stratum, int(stratum.max(initial=-1)) + 1):
            self.constant[known[rows]] = median_without_group(self.mean[known[rows]], group[rows])

    def at(self, rows: Ints) -> tuple[Floats, Floats, Floats]:
        """Return of some rows the gap to people, and how close judge and constant are to the mean label; NaN without labels."""
        item, y = self.item[rows], self.given[rows]
        failed = np.isnan(y)
        own = np.where(failed, 1.0, distance_of_judge(self.scores.item, self.scores.raw, item, y) / self.reach)
        from_mean = np.where(failed, 1.0, np.abs(y - self.mean[item]) / self.reach)
        right = np.where(np.isnan(self.mean[item]), math.nan, 1 - from_mean)
        return 1 - own - self.people[item], right, 1 - np.abs(self.constant - self.mean)[item] / self.reach

    def counts_of(self, score: Score | None, items: Ints) -> Floats:
        """(items, 2) labels of some items that are this score, and all others."""
        own = self.scores.of_items(items)
        same = np.bincount(own.item, own.raw == score, len(items))
        return np.column_stack([same, np.bincount(own.item, minlength=len(items)) - same])

    def labels(self, items: Ints) -> Floats:
        """All labels of some items."""
        return self.scores.of_items(items).raw


def _commonest_number(values: Floats) -> tuple[Score, float] | None:
    different, times = np.unique(values[~np.isnan(values)], return_counts=True)
    return _commonest(different.tolist(), times)


def _weights(classes: Classes, options: DecisionOptions) -> Floats | None:
    """How far two classes agree: None where only equal ones do, and on interval scales, whose scores are compared as numbers."""
    k = len(classes.scores)
    if classes.kind != "ordinal" or options.agreement == "exact" or k < 2:
        return None
    return agreement_weights(k, "linear", classes.values)


def _label_sources(judged: JudgedTable) -> dict[tuple[Any, Any], str]:
    """Who gave the labels of each metric and language: one kind, `people` where not all of them are native speakers, or `mixed`."""
    data = judged.data
    labels = data.labels
    language = item_key(data, "language").take(labels.item.recode(data.positions))
    code = combination_ids([labels.metric, language, labels.source], np.zeros(len(labels), np.int8))
    found: dict[tuple[Any, Any], set[str]] = {}
    for row in first_rows(code).tolist():
        pair = (labels.metric.values[labels.metric.codes[row]], language.values[language.codes[row]])
        found.setdefault(pair, set()).add(str(labels.source.values[labels.source.codes[row]]))
    mixed = {pair: "people" if sources <= BY_PEOPLE else "mixed" for pair, sources in found.items()}
    return mixed | {pair: next(iter(sources)) for pair, sources in found.items() if len(sources) == 1}


def _coverage(read: ClusterMean) -> tuple[float, float]:
    """The share of readable scores and its one-sided 95 % upper limit: Clopper and Pearson's on the effective number of units.

    Reference: Korn & Graubard (1998).
    """
    if not read.n:
        return math.nan, math.nan
    from scipy.special import betaincinv

    share, n = read.mean, read.n
    effective = min(n, share * (1 - share) / read.error**2) if read.error > 0 else n
    wrong = effective * (1 - share)
    return share, float(betaincinv(effective - wrong + 1, wrong, 0.95)) if wrong > 0 else 1.0


def _mean(values: Floats, weight: Floats | None = None) -> float:
    known = ~np.isnan(values)
    return float(np.average(values[known], weights=None if weight is None else weight[known])) if known.any() else math.nan


def _known(values: Floats, group: Ints, weight: Floats | None) -> SampleOfGroups:
    known = ~np.isnan(values)
    return SampleOfGroups(values[known], group[known], None if weight is None else weight[known])


def _commonest(scores: Sequence[Score], counts: Ints) -> tuple[Score, float] | None:
    total = int(counts.sum())
    return (scores[int(counts.argmax())], float(counts.max() / total)) if total else None


class _Correction:
    """How well a judge's scores stand for labels: on the numbers of an ordered scale, else class by class."""

    def __init__(self, classes: Classes, counts: Ints, codes: Floats, pairs: tuple[Floats, Floats] | None = None) -> None:
        self.classes, self.counts, self.codes, self.numbers = classes, counts, codes, pairs
        k = len(classes.scores)
        self.values = np.asarray(classes.values if classes.values is not None else range(k), np.float64)

    @property
    def few_rare_cases(self) -> bool:
        labels = self.counts.sum(axis=0)
        return self.classes.kind != "interval" and float(labels.min(initial=0) / max(labels.sum(), 1) * len(self.counts)) < RARE

    @cached_property
    def _pairs(self) -> tuple[Floats, Floats]:
        """Labels and scores of every item, (items, dimensions); a failure has the mean score."""
        shares = self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1)
        read = ~np.isnan(self.codes)
        if self.numbers is not None:
            y, f = (side[:, None].copy() for side in self.numbers)
        elif self.classes.kind == "nominal" and len(self.values) > 2:
            given = np.zeros(shares.shape)
            given[read, self.codes[read].round().astype(np.int64)] = 1.0
            y, f = shares, given
        else:
            y = (shares @ self.values)[:, None]
            f = np.interp(self.codes, np.arange(len(self.values)), self.values)[:, None]
        f[~read] = f[read].mean(axis=0) if read.any() else 0.0
        return y, f

    @cached_property
    def rho(self) -> float:
        """The correlation of judge and labels, of all classes together on a nominal scale; 0 if it is negative or one does not vary."""
        if len(self.counts) < 3:
            return math.nan
        y, f = (each - each.mean(axis=0) for each in self._pairs)
        spread = float((y**2).sum() * (f**2).sum())
        return max(0.0, float((y * f).sum()) / math.sqrt(spread)) if spread > 0 else 0.0

    @property
    def gain(self) -> float:
        """Effective labels per label with many further judged texts: 1 / (1 - rho²), rho² adjusted for the number of items."""
        n, rho = len(self.counts), self.rho
        if not rho > 0:
            return 1.0
        adjusted = 1 - (1 - rho**2) * (n - 1) / (n - 2)
        return 1 / (1 - adjusted) if 0 < adjusted < 1 else 1.0 if adjusted <= 0 else math.inf

    def leniency(self, group: Ints) -> SampleOfGroups:
        """Judge minus mean label in points, of the items with a readable score; of none on scales without order."""
        y, f = self._pairs
        read = ~np.isnan(self.codes) if self.classes.kind != "nominal" else np.zeros(len(self.codes), bool)
        return SampleOfGroups((f - y)[read, 0], group[read])

    @property
    def reach(self) -> float:
        """The points within which judge and people are on one level: a tenth of the scale."""
        return _SAME_LEVEL * (self.classes.reach or (float(self.values[-1] - self.values[0]) if len(self.values) else 0.0))


def same_level_p(level: ClusterMean, reach: float) -> float:
    """p of two one-sided tests that judge and people are at least `reach` points apart; NaN where there is no level to test."""
    return max(level.p_above(-reach), level.p_below(reach))
