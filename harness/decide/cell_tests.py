"""The tests that a verdict rests on, cell by cell: the gap to people, the baseline, coverage, variation, leniency, gain by correction."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.content.specs import DatasetCard
from harness.data.columns import Codes, combination_ids, first_rows, rows_by_number
from harness.data.dataset import Dataset
from harness.decide.annotator_labels import (
    AnnotatorLabels,
    AnnotatorSample,
    annotator_sample,
    annotator_test,
    annotator_tests,
    pooled_sample,
)
from harness.decide.class_shares import (
    ClassShare,
    class_shares,
    p_above_bar,
    p_below_bar,
)
from harness.decide.options import DEFAULT_BAR, DecisionOptions, parse_bar
from harness.decide.verdict_rule import CopiedLabels
from harness.measure.item_table import AnswerCounts, count_answers
from harness.measure.judged_table import JudgedTable, item_key, means_by
from harness.measure.label_counts import Classes, LabelCounts, numbers
from harness.model import BY_PEOPLE, Basis, Score
from harness.stats.agreement.agreement import cohen_kappa
from harness.stats.agreement.correlation import distance_of_judge, distance_of_people, median_without_group, pearson
from harness.stats.agreement.describe import RARE
from harness.stats.core.arrays import Floats, Ints
from harness.stats.core.many_cells import windows
from harness.stats.core.rows import agreement_weights
from harness.stats.intervals.cluster_mean import ClusterMean, SampleOfGroups, cluster_mean_each
from harness.stats.intervals.judge_tests import JudgeSums, JudgeTests, OneClass, judge_sums, judge_tests_each, one_class_tests
from harness.stats.intervals.noninferiority import matched_gap, pair_agreement

_CONSTANT = 0.99  # a judge that gives one class this often does not vary …
_VARIED = 0.95  # … unless people's commonest class is this common
_ROWS = 1 << 16  # judgments of cells that are tested at once
_SAME_LEVEL = 0.1  # judge and people are on one level within this share of the scale

NOBODYS = 1e6
"""The code of an answer that is no class, where scores are only equal or not."""


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
        n, groups: items with two annotators or more, and independent texts among them (among the labelled ones where `n` is 0).
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
        sums, tests: sums of gaps and of differences from the baseline by group, and the four tests; see docs/rule.md.
        hits, right: share of items on which the judge gives the aggregate of the labels, failures as wrong, by groups; on interval scales
            1 minus the distance from the mean label, failures as the whole scale.
        kappa, correlation: Cohen's kappa of the judge with the aggregate of the labels, answers that cannot be read left out, and Pearson's
            correlation where more than two classes are ordered; on continuous scales the correlation with the mean label alone.
            Descriptive: no test uses them.
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
        shares: the share of each class that the judge finds, of metrics with two classes.
        basis: what `use` is tested against: how far people agree, or a bar. With a bar, `tests` hold its p in place of those of the gap;
            with a bar beside people those of both together: `p_people` is that of the gap alone, and `below_bar` says whether the bar
            speaks more clearly against the judge than people do.
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
    shares: tuple[ClassShare, ...] = ()
    basis: Basis = "people"
    kappa: float = math.nan
    correlation: float = math.nan
    p_people: float = math.nan
    below_bar: bool = False

    @property
    def effective_groups(self) -> float:
        """The effective number of groups: so many equal ones say as much; NaN with fewer than two."""
        return float(self.tests.effective)

    @property
    def cap(self) -> float:
        """The most texts that a group counts for in the corrected tests; infinity where no cap is needed."""
        return float(self.tests.cap)

    @property
    def right(self) -> float:
        """Share of items on which the judge gives the aggregate."""
        return self.hits.mean

    @property
    def one_class(self) -> bool:
        """True if the judge gives one class to everything although people do not. It may be chance: see `variation`."""
        judge, labels = self.commonest
        return judge is not None and labels is not None and judge[1] >= _CONSTANT and labels[1] < _VARIED


def cell_tests(judged: JudgedTable, by_source: bool, options: DecisionOptions) -> Iterator[CellTests]:
    """Yield the tests of every cell of one data set; repeats of a question are averaged first.

    Args:
        judged: judgments beside labels.
        by_source: whether sources have cells of their own.
        options: margin and level of the tests.
    """
    from scipy.special import betaincinv

    tester = _CellTester(judged, options)
    epsilon = options.discount(judged.data.about.epsilon)
    for window in windows(judged.rows_by_cell(by_source), lambda cell: len(cell[1]), _ROWS):
        cells = [tester.cell(key, rows) for key, rows in window]
        means = iter(cluster_mean_each([sample for cell in cells for sample in cell.samples]))
        tests = judge_tests_each([cell.sums for cell in cells], options.margin, options.effective_groups)
        alternative = annotator_tests([cell.annotators for cell in cells], epsilon)
        variation = one_class_tests([cell.answers for cell in cells])
        for cell, tested, alt_test, varied in zip(cells, tests, alternative, variation, strict=True):
            p_people, below_bar = float(tested.alone.gap), False
            if any(share.bar is not None for share in cell.shares):
                # The p of "every share is above its bar" and "a share is below its bar" in place of those of the gap. Where people are
                # there to compare with, `use` needs both, so its p is the larger one; either speaks against the judge: twice the smaller.
                above, below, people = p_above_bar(cell.shares), p_below_bar(cell.shares), cell.basis == "people"
                below_bar = not people or below < float(tested.alone.worse)
                capped, plain = (
                    part._replace(
                        gap=np.fmax(part.gap, above) if people else np.asarray(above),
                        worse=np.fmin(1.0, 2 * np.fmin(part.worse, below)) if people else np.asarray(below),
                    )
                    for part in (tested.capped, tested.plain)
                )
                tested = tested._replace(capped=capped, plain=plain)
            gap, baseline, hits, read, level = (next(means) for _ in cell.samples)
            # The share of readable scores and its one-sided 95 % upper limit: Clopper and Pearson's on the effective number of units.
            # Reference: Korn & Graubard (1998).
            if not read.n:
                readable = math.nan, math.nan
            else:
                share, n = read.mean, read.n
                effective = min(n, share * (1 - share) / read.error**2) if read.error > 0 else n
                wrong = effective * (1 - share)
                readable = share, float(betaincinv(effective - wrong + 1, wrong, 0.95)) if wrong > 0 else 1.0
            yield CellTests(
                **cell.fields,
                gap=gap,
                sums=cell.sums,
                tests=tested,
                hits=hits,
                baseline=baseline,
                coverage=ReadableAnswers(*readable, cell.unread, cell.all_answers),
                variation=varied,
                level=LeniencyTest(level, cell.reach, same_level_p(level, cell.reach) <= options.alpha),
                alt_test=alt_test,
                shares=cell.shares,
                basis=cell.basis,
                p_people=p_people,
                below_bar=below_bar,
            )


def copied_labels(judged: JudgedTable, by_source: bool, options: DecisionOptions) -> Iterator[tuple[dict[str, Any], CopiedLabels]]:
    """Yield the key of each cell whose scores equal people's in every text, and whose scores they equal. Arguments as of `cell_tests`."""
    tester = _CellTester(judged, options)
    for key, rows in judged.rows_by_cell(by_source):
        copied = tester.cell(key, rows).fields["copied"]
        if copied is not None:
            yield key, copied


class _Cell(NamedTuple):
    """The input of one cell's tests: tests are made for many cells at once."""

    samples: tuple[SampleOfGroups, ...]  # gap, baseline, hits, whether answers could be read, leniency
    sums: JudgeSums
    annotators: AnnotatorSample | None
    basis: Basis
    shares: tuple[ClassShare, ...]
    answers: tuple[Floats | Ints, Floats, Ints]  # of people and of the judge, and the groups
    unread: dict[str, int]
    all_answers: AnswerCounts
    reach: float  # the points within which judge and people are on one level
    fields: dict[str, Any]  # of `CellTests`, which need no test


class _ScoredItems(NamedTuple):
    """The items of a cell with their labels, and the judge's answers to them."""

    rows: Ints
    number: Ints  # of the item of each row
    items: Ints
    counts: Ints  # of labels by class, an item a row
    raters: Ints
    weight: Floats | None
    paired: NDArray[np.bool_]  # two people or more
    labelled: NDArray[np.bool_]  # as many people as the basis of the verdict needs
    code: Ints  # the class of each row, -1 without one
    codes: Floats  # the mean class of each item's rows
    score: Floats | None  # the mean score of each item's rows, on scales of numbers


class _CellTester:
    """The judge, the baseline and people in every row: `gap` is the judge's agreement minus people's, the others are those of the table.

    On interval scales agreement is closeness to the mean label.
    """

    def __init__(self, judged: JudgedTable, options: DecisionOptions) -> None:
        self.judged, self.options = judged, options
        self.weight = judged.design.weight if judged.design else None
        self.hit, self.baseline = judged.hit.copy(), judged.baseline_hits(self.weight)
        self.gap = np.full(len(judged), math.nan)
        self.score = numbers(judged.judgments.score)
        self.class_weights = {metric: _class_weights(labels.classes, options) for metric, labels in judged.labels.items()}
        self.distances: dict[str, _Distances] = {}
        for metric, rows in judged.rows_by_metric.items():
            labels, item = judged.labels[metric], judged.item[rows]
            if labels.scores:
                distances = self.distances[metric] = _Distances(judged.data, labels)
                self.gap[rows], self.hit[rows], self.baseline[rows] = distances.of_answers(item, self.score[rows])
            else:
                self.gap[rows] = matched_gap(labels.counts[item], judged.code[rows], self.class_weights[metric])
        # Who gave the labels of each metric and language: one kind, `people` where not all of them are native speakers, or `mixed`.
        data = judged.data
        counted = data.labels
        language = item_key(data, "language").take(counted.item.recode(data.positions))
        code = combination_ids([counted.metric, language, counted.source], np.zeros(len(counted), np.int8))
        sources_of: dict[tuple[Any, Any], set[str]] = {}
        for row in first_rows(code).tolist():
            pair = (counted.metric.values[counted.metric.codes[row]], language.values[language.codes[row]])
            sources_of.setdefault(pair, set()).add(str(counted.source.values[counted.source.codes[row]]))
        mixed = {pair: "people" if sources <= BY_PEOPLE else "mixed" for pair, sources in sources_of.items()}
        self.label_sources = mixed | {pair: next(iter(sources)) for pair, sources in sources_of.items() if len(sources) == 1}
        self.annotators = AnnotatorLabels(judged.data, judged.labels)

    def cell(self, key: dict[str, Any], rows: Ints) -> _Cell:
        """Return the input of a cell's tests, and what is said of it without a test."""
        judged, options, about, metric = self.judged, self.options, self.judged.data.about, str(key["metric"])
        labels, distances = judged.labels[metric], self.distances.get(metric)
        classes = labels.classes
        source = self.label_sources.get((metric, key["language"]), "native")
        items, number = np.unique(judged.item[rows], return_inverse=True)
        group, raters = judged.groups[items].astype(np.int64), labels.raters[items]
        weight = None if self.weight is None else self.weight[items]
        gap, hit, against = (means_by(number, values) for values in (self.gap[rows], self.hit[rows], self.hit[rows] - self.baseline[rows]))
        basis = self._choose_basis(labels, source, raters)
        code = judged.code[rows]
        scored = _ScoredItems(
            rows=rows,
            number=number,
            items=items,
            counts=labels.counts[items],
            raters=raters,
            weight=weight,
            paired=raters >= 2,
            labelled=raters >= (2 if source in BY_PEOPLE and basis == "people" else 1),
            code=code,
            codes=means_by(number, np.where(code >= 0, code, math.nan)),
            score=means_by(number, self.score[rows]) if distances else None,
        )
        counts, paired, labelled, codes, score = scored.counts, scored.paired, scored.labelled, scored.codes, scored.score
        shares: tuple[ClassShare, ...] = ()
        has_classes = not classes.continuous and not classes.order_only and source in BY_PEOPLE
        if basis == "bar" or (has_classes and (len(classes.scores) == 2 or options.bar)):
            bars = parse_bar(options.bar or str(DEFAULT_BAR)) if basis == "bar" or options.bar else None
            shares = class_shares(labels, items, hit, group, options.alpha, options.bar_correlation, bars)
        leveled = labelled if labelled.any() else raters >= 1  # how generous a judge is shows beside one person too
        pairs = (distances.mean[items][leveled], score[leveled]) if distances and score is not None else None
        y, f = _item_points(classes, counts[leveled], codes[leveled], pairs)
        has_level = ~np.isnan(codes[leveled]) & (classes.kind != "nominal")
        table = None if classes.continuous else self.annotators.table(metric, items[paired])
        scoring = options.alternative_scoring(about.alt_scoring, classes.kind)
        sample = annotator_sample(table, codes[paired], group[paired], metric, classes, scoring)
        tasks = item_key(judged.data, "task").take(items[paired]) if sample and (options.alt_scoring or about.alt_scoring) else None
        described = self._describe(scored, metric)
        answered, by_people, n = labelled[number], source in BY_PEOPLE, int(paired.sum())
        numbers = score if classes.continuous else None
        judged_as = codes if numbers is None else numbers
        samples = [
            SampleOfGroups(values[defined], group[defined], None if weight is None else weight[defined])
            for values, defined in ((values, ~np.isnan(values)) for values in (gap, against, hit))
        ]
        read = SampleOfGroups(code[answered] >= 0, group[number][answered])
        leniency = SampleOfGroups((f - y)[has_level, 0], group[leveled][has_level])
        return _Cell(
            samples=(*samples, read, leniency),
            sums=judge_sums(gap, against, group, weight),
            annotators=sample,
            basis=basis,
            shares=shares,
            answers=(*self._answers_by_class(scored, distances, described["commonest"]), group[labelled]),
            unread=self._count_answers(rows[answered]).unread,
            all_answers=self._count_answers(rows),
            reach=_SAME_LEVEL * (classes.reach or (float(np.ptp(_class_values(classes))) if len(classes.scores) else 0.0)),
            fields={
                "key": key,
                "texts": LabelledTexts(
                    labels=source,
                    interval=distances is not None,
                    closeness=distances is not None or self.class_weights[metric] is not None,
                    n=n,
                    groups=len(np.unique(group[~np.isnan(gap if n and basis == "people" else hit)])),
                    labelled=n if by_people and n and basis == "people" else int((~np.isnan(against)).sum()),
                ),
                "differences": Differences(gap, against, group),
                "gain": _label_gain(y, f) if labelled.any() else math.nan,
                "copied": self.annotators.copied(metric, items, judged_as, continuous=numbers is not None) if by_people else None,
                "alt_samples": {str(task): sample.only(tasks.equals(task)) for task in tasks.used} if sample and tasks else {},
                "sampling": about.sampling,
                "aggregate": about.annotators == "aggregate",
                **described,
            },
        )

    def _answers_by_class(self, scored: _ScoredItems, distances: _Distances | None, commonest: Commonest) -> tuple[Floats | Ints, Floats]:
        """Return people's labels by class and the judge's class. Numbers are of two classes: the judge's commonest, and all others."""
        labelled = scored.labelled
        if distances is None or scored.score is None:
            return scored.counts[labelled], np.round(scored.codes[labelled])
        most, score = commonest.judge and commonest.judge[0], scored.score[labelled]
        return distances.counts_of(most, scored.items[labelled]), np.where(np.isnan(score), np.nan, score != most)

    def _describe(self, scored: _ScoredItems, metric: str) -> dict[str, Any]:
        """Return the fields that describe the answers: people's agreement, the commonest answers, kappa, correlation, and rare classes."""
        labels, distances = self.judged.labels[metric], self.distances.get(metric)
        classes, labelled, code = labels.classes, scored.labelled, scored.code
        answered = labelled[scored.number]
        kappa, correlation = math.nan, math.nan  # descriptive, so of all labels where no text has two
        if distances and scored.score is not None:
            people = _mean(distances.people[scored.items], scored.weight)
            numbers_given, labels_given = self.score[scored.rows][answered], distances.labels(scored.items[labelled])
            commonest = Commonest(_commonest_number(numbers_given), _commonest_number(labels_given))
            correlation = pearson(scored.score, distances.mean[scored.items]).value
        else:
            agreement = pair_agreement(scored.counts[scored.paired], self.class_weights[metric])
            people = _mean(agreement, None if scored.weight is None else scored.weight[scored.paired])
            times_given = np.bincount(code[answered & (code >= 0)], minlength=len(classes.scores))
            commonest = Commonest(*(_commonest(classes.scores, times) for times in (times_given, scored.counts[labelled].sum(axis=0))))
            if len(classes.scores) > 1:
                answered_or_rated = answered if labelled.any() else (scored.raters >= 1)[scored.number]
                answer, reference = code[answered_or_rated], self.judged.reference_class[scored.rows][answered_or_rated]
                kappa = cohen_kappa(answer, reference, len(classes.scores)).value
                if classes.kind == "ordinal" and len(classes.scores) > 2:
                    values = np.append(_class_values(classes), math.nan)  # -1: no class
                    correlation = pearson(values[answer], values[reference]).value
        times = scored.counts[labelled].sum(axis=0)
        return {
            "people": people,
            "commonest": commonest,
            "kappa": kappa,
            "correlation": correlation,
            "few_rare_cases": bool(classes.kind != "interval" and times.min() / max(times.sum(), 1) * labelled.sum() < RARE),
        }

    def _choose_basis(self, labels: LabelCounts, source: str, raters: Ints) -> Basis:
        """Return what `use` is tested against: a bar where each text, or nearly each, has one label, with two classes or a stated bar.

        The label is one person's, or a released one that several people's were made into.
        """
        classes = labels.classes
        if source not in BY_PEOPLE or classes.continuous or classes.order_only:
            return "people"
        twice, once = int((raters >= 2).sum()), int((raters == 1).sum())
        if twice >= self.options.items or twice >= once or not (len(classes.scores) == 2 or self.options.bar):
            return "people"
        return "bar" if np.count_nonzero(labels.counts.sum(axis=0)) > 1 else "people"

    def _count_answers(self, rows: Ints) -> AnswerCounts:
        return count_answers(self.judged.judgments, len(rows), rows[self.judged.code[rows] < 0])


class _Distances:
    """People and a constant on an interval scale, item by item: how far each is from people, in parts of the scale's length.

    The constant is the median of the items' mean labels in the other groups of a language and task.
    """

    def __init__(self, data: Dataset, labels: LabelCounts) -> None:
        assert labels.scores is not None
        self.scores = labels.scores
        raw = self.scores.raw
        self.length = labels.classes.reach or (float(np.ptp(raw)) if len(raw) else 0.0) or 1.0
        self.people: Floats = 1 - distance_of_people(self.scores.item, raw, self.scores.items) / self.length
        self.mean = self.scores.raw_mean
        labelled = np.flatnonzero(~np.isnan(self.mean))
        stratum = combination_ids([item_key(data, "language"), item_key(data, "task")], np.zeros(len(data.items), np.int8))[labelled]
        group = item_key(data, "group").codes[labelled].astype(np.int64)
        self.constant = np.full(len(data.items), math.nan)
        for rows in rows_by_number(stratum, int(stratum.max(initial=-1)) + 1):
            self.constant[labelled[rows]] = median_without_group(self.mean[labelled[rows]], group[rows])

    def of_answers(self, item: Codes, score: Floats) -> tuple[Floats, Floats, Floats]:
        """Return of each answer the gap to people, and how close judge and constant are to the mean label; NaN without labels.

        A failure is as far from people as the scale is long.
        """
        failed = np.isnan(score)
        from_people = np.where(failed, 1.0, distance_of_judge(self.scores.item, self.scores.raw, item, score) / self.length)
        from_mean = np.where(failed, 1.0, np.abs(score - self.mean[item]) / self.length)
        close = np.where(np.isnan(self.mean[item]), math.nan, 1 - from_mean)
        return 1 - from_people - self.people[item], close, 1 - np.abs(self.constant - self.mean)[item] / self.length

    def counts_of(self, score: Score | None, items: Ints) -> Floats:
        """Return how many labels of each item are this score, and how many are another, (items, 2)."""
        labels = self.scores.of_items(items)
        same = np.bincount(labels.item, labels.raw == score, len(items))
        return np.column_stack([same, np.bincount(labels.item, minlength=len(items)) - same])

    def labels(self, items: Ints) -> Floats:
        """Return all labels of some items."""
        return self.scores.of_items(items).raw


def _class_weights(classes: Classes, options: DecisionOptions) -> Floats | None:
    """Return how far two classes agree; None where only equal ones do, and on interval scales, whose scores are compared as numbers."""
    k = len(classes.scores)
    if classes.kind != "ordinal" or options.agreement == "exact" or k < 2:
        return None
    return agreement_weights(k, "linear", classes.values)


def _mean(values: Floats, weight: Floats | None = None) -> float:
    defined = ~np.isnan(values)
    return float(np.average(values[defined], weights=None if weight is None else weight[defined])) if defined.any() else math.nan


def _commonest(scores: Sequence[Score], counts: Ints) -> tuple[Score, float] | None:
    total = int(counts.sum())
    return (scores[int(counts.argmax())], float(counts.max() / total)) if total else None


def _commonest_number(values: Floats) -> tuple[Score, float] | None:
    different, times = np.unique(values[~np.isnan(values)], return_counts=True)
    return _commonest(different.tolist(), times)


def _class_values(classes: Classes) -> Floats:
    return np.asarray(classes.values if classes.values is not None else range(len(classes.scores)), np.float64)


def _item_points(classes: Classes, counts: Ints, codes: Floats, pairs: tuple[Floats, Floats] | None) -> tuple[Floats, Floats]:
    """Return labels and scores of every item as numbers, (items, dimensions), class by class on a nominal scale.

    `pairs` are mean label and score on interval scales. A failure has the mean score.
    """
    read, values = ~np.isnan(codes), _class_values(classes)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    if pairs is not None:
        y, f = (side[:, None].copy() for side in pairs)
    elif classes.kind == "nominal" and len(values) > 2:
        y, f = shares, np.zeros(shares.shape)
        f[read, codes[read].round().astype(np.int64)] = 1.0
    else:
        y, f = (shares @ values)[:, None], np.interp(codes, np.arange(len(values)), values)[:, None]
    f[~read] = f[read].mean(axis=0) if read.any() else 0.0
    return y, f


def _label_gain(y: Floats, f: Floats) -> float:
    """Return how many labels a label is worth if many further texts are judged: 1 / (1 - rho²), rho² adjusted for the number of items.

    rho is the correlation of labels and scores, of all classes together on a nominal scale; 0 if it is negative or one does not vary.
    """
    n = len(y)
    if n < 3:
        return 1.0
    y, f = y - y.mean(axis=0), f - f.mean(axis=0)
    spread = float((y**2).sum() * (f**2).sum())
    rho = max(0.0, float((y * f).sum()) / math.sqrt(spread)) if spread > 0 else 0.0
    adjusted = 1 - (1 - rho**2) * (n - 1) / (n - 2)
    return 1.0 if rho <= 0 or adjusted <= 0 else 1 / (1 - adjusted) if adjusted < 1 else math.inf


def same_level_p(level: ClusterMean, reach: float) -> float:
    """Return p of two one-sided tests that judge and people are at least `reach` points apart; NaN where there is no level to test."""
    return max(level.p_above(-reach), level.p_below(reach))


def pooled_annotator_tests(
    tests: Sequence[CellTests], options: DecisionOptions, cards: Sequence[DatasetCard]
) -> tuple[dict[str, Any], ...]:
    """Return a row for each task, judge and condition: its key without metric, `metrics`, `n` texts on a metric, `read` answers, the test.

    The row is the published test. An answer that could not be read is a score that nobody else gave, and by distance it is left out. In a
    verdict's own test the judge loses it.

    Only metrics of one scoring are pooled, and only where all data have one discount. Empty where neither a card nor a flag names the
    scoring.

    Reference: Calderon, Reichart & Dror (2025), The alternative annotator test for LLM-as-a-judge.
    """
    discounts = {options.discount(card.epsilon) for card in cards}
    if len(discounts) != 1:
        return ()
    [epsilon] = discounts
    samples: dict[tuple[Any, ...], list[AnnotatorSample]] = {}
    for cell in tests:
        for task, sample in cell.alt_samples.items():
            rest_of_key = {name: value for name, value in cell.key.items() if name not in ("metric", "task")}
            samples.setdefault((task, tuple(rest_of_key.items()), sample.scoring), []).append(sample)
    rows = []
    for (task, key, scoring), task_samples in samples.items():
        pooled = pooled_sample(task_samples)
        unread = np.isnan(pooled.judge)
        if scoring == "accuracy":
            pooled = pooled._replace(judge=np.where(unread, NOBODYS, pooled.judge))
        test = annotator_test(pooled, epsilon, failures_lose=False) or {}
        rows.append({"task": task, **dict(key), "metrics": list(pooled.metrics), "n": len(unread), "read": int((~unread).sum()), **test})
    return tuple(rows)
