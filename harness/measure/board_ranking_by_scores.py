"""Judges ranked on continuous scores: the order of the outputs for every source text, compared with people's order.

The credit of a judge on a source text is Kendall's tau-b over its outputs, in which an output without a readable score is tied with all
others: a judge gains nothing by leaving out hard texts, and one that gives a single score to all outputs has 0. Source texts count that
people do not score all alike, which is the same for every judge, so that a further judge changes no other judge's value. People's scores
are standardised within annotator where annotators are persistent.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import product
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.errors import UsageError
from harness.judges.baselines import BASELINES, TrainingCounts
from harness.measure.cells import bounds, number
from harness.measure.item_table import count_all_answers
from harness.measure.judged_table import JudgedTable, item_key
from harness.measure.label_counts import ItemScores, LabelCounts, classes_of, item_scores, numbers
from harness.measure.options import POOLED, MeasureOptions, Standardise
from harness.measure.score_cells import ScoreCells, source_texts
from harness.stats.agreement.concordance import joined_groups, ordering_credits
from harness.stats.agreement.correlation import mean_of_segments
from harness.stats.core.arrays import Floats, Ints
from harness.stats.intervals.intervals import MIN_GROUPS, TOO_FEW
from harness.stats.ranking import Ranks, rank_judges

Pair = tuple[float, float]


@dataclass(frozen=True, eq=False)
class RankingInput:
    """The input of the tables of a ranking."""

    data: Dataset  # what was judged, with its labels
    training: Dataset  # what the majority baseline learns from; development items only
    judgments: Mapping[str, Judgments]  # by judge; one without any in a language is not in its tables, others that are missing are wrong
    options: MeasureOptions  # which items count, how annotators become one reference, seed and resamples
    metrics: Sequence[str]
    variants: Sequence[str]
    languages: Sequence[str]
    repeats: int = 1  # how often each question was asked
    rank_by: str = "pa_failed_wrong"  # or `pa_pairwise`, `judge_loo`; on continuous scores `kendall_tau_within`

    @cached_property
    def unread_judges(self) -> frozenset[str]:
        """The judges most of whose answers cannot be read, over all languages and variants: they have a rank in no table."""
        return frozenset(judge for judge, judgments in self.judgments.items() if count_all_answers(judgments).mostly_unread)


class MatchedPair(msgspec.Struct, frozen=True):
    """A judge and people against the same remaining annotators, one left out at a time, on the same `n` items."""

    judge: float
    people: float
    gap: float
    gap_ci: Pair | None
    n: int


BesideBaseline = Literal["above", "below", "not shown", "too few texts", "unread"]


class RankedJudge(msgspec.Struct, frozen=True):
    """One judge in one table. Shares are fractions; what is undefined is None."""

    judge: str
    rank: int | None  # 1 is the best; None for a baseline, where most answers cannot be read, and on continuous scores with too few texts
    rank_ci: tuple[int, int] | None  # None for baselines, and with too few texts; then `group` is empty
    group: str  # its letters
    value: float  # the statistic that the table ranks by, over all questions
    value_ci: Pair | None
    baseline_diff: float  # the value minus the majority baseline's on the same questions
    baseline_ci: Pair | None
    beats_baseline: bool | None  # whether that interval lies above 0; None without one
    n_ref: int  # questions times repeats
    n: int  # those with a readable answer
    coverage: float
    failures: dict[str, int]
    statistics: dict[str, float | None]  # the board's columns; pooled metrics: means, None if one is undefined; leniency: of the length
    matched: MatchedPair | None  # if several native annotators labelled the items
    consistency: float | None  # the share of questions with the same answer at every repeat, if questions were repeated
    unread: bool = False  # whether most answers, here or of the whole judge, cannot be read: nothing is shown of it; never of a baseline

    @property
    def beside_baseline(self) -> BesideBaseline:
        """The finding on the judge beside the baseline, by where the interval of the difference lies: the one answer of every table."""
        if self.unread:
            return "unread"
        if self.beats_baseline is None or self.baseline_ci is None:
            return "too few texts"
        return "above" if self.beats_baseline else "below" if self.baseline_ci[1] < 0 else "not shown"


class AnnotatorFigures(msgspec.Struct, frozen=True):
    """Each annotator against the other annotators of the item, one left out at a time: the ceiling of `MatchedPair.judge`."""

    value: float
    value_ci: Pair | None
    n: int


class Ranking(msgspec.Struct, frozen=True):
    """One table: a language under a variant, on one metric or (`*`) on `metrics` together."""

    language: str
    variant: str
    metric: str
    metrics: tuple[str, ...]
    questions: int
    texts: int
    baseline: float  # the majority baseline's value
    rows: tuple[RankedJudge, ...]  # by rank; baselines follow
    people: AnnotatorFigures | None
    groups: tuple[tuple[int, int], ...]  # (first, last) places of judges that are not shown to differ
    reason: str | None  # why there are no groups and intervals of ranks (continuous scores: no ranks): they need `texts_needed` texts
    texts_needed: int = MIN_GROUPS


class Gain(msgspec.Struct, frozen=True):
    """One judge's value minus a baseline's on the same questions of a language, metrics pooled; `interval` is None with too few texts."""

    judge: str
    baseline: str
    language: str
    variant: str
    diff: float
    interval: Pair | None


Statistics = Sequence[dict[str, float | None]]
"""The board's columns by name, of each judge."""


class RankedTables(ABC):
    """The tables of one language and variant. `judges` were asked there about `metrics`."""

    judges: Sequence[str]
    metrics: Sequence[str]

    def rankings(self, names: Sequence[str], unranked: Collection[str]) -> Iterator[Ranking]:
        """Yield the table that pools the metrics, then that of each. `names` are the columns, `unranked` the judges without ranks."""
        if not self.judges or not self.metrics:
            return
        by_metric = self.statistics(names)
        judges = range(len(self.judges))
        pooled = [{name: mean_of_known([by_metric[metric][j][name] for metric in self.metrics]) for name in names} for j in judges]
        yield self.table(POOLED, tuple(self.metrics), pooled, unranked)
        for metric in self.metrics:
            yield self.table(metric, (metric,), by_metric[metric], unranked)

    @abstractmethod
    def statistics(self, names: Sequence[str]) -> Mapping[str, Statistics]:
        """Return `{metric: the columns of each judge}`."""

    @abstractmethod
    def table(self, metric: str, metrics: tuple[str, ...], statistics: Statistics, unranked: Collection[str]) -> Ranking:
        """Return the table of one metric, or of several together."""

    @abstractmethod
    def gains(self, baseline: str) -> Iterator[Gain]:
        """Return every judge against the answers that a baseline would give."""


def mean_of_known(values: Sequence[float | None]) -> float | None:
    """Return the mean of values; None if one of them is None, because undefined values cannot be averaged."""
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if defined and len(defined) == len(values) else None


RANKED_BY_ORDER = ("kendall_tau_within",)
"""Statistics to rank judges of continuous scores by."""
MIN_TEXTS = 20
"""Independent texts that ranks of continuous scores need: a correlation is not a mean of many answers of one text."""
KEYS = ("language", "metric", "judge", "variant")


@dataclass(frozen=True)
class ScoreQuestions:
    """The labels that judges of continuous scores are compared with."""

    data: Dataset
    training: Dataset
    labels: Mapping[str, ItemScores]  # by metric, for the items of `data`
    segment: Ints  # (items,) the code of the source text, -1 without one
    language: Ints  # (items,) its code
    languages: tuple[str, ...]

    @cached_property
    def learnt(self) -> TrainingCounts:
        return TrainingCounts(self.training)

    @cached_property
    def group(self) -> Ints:
        return self.data.clusters.codes.astype(np.int64)

    @cached_property
    def cluster(self) -> Ints:
        """The cluster of every source text, which shares no group of items with another cluster."""
        has_segment = self.segment >= 0
        return joined_groups(self.segment[has_segment], self.group[has_segment])

    def items(self, metric: str, language: str) -> Ints:
        """Return the labelled items of a language that belong to a source text."""
        of_language = self.language == self.languages.index(language) if language in self.languages else np.zeros(len(self.language), bool)
        return np.flatnonzero(of_language & (self.labels[metric].n > 0) & (self.segment >= 0))

    def credits(self, metric: str, items: Ints, scores: Floats) -> Floats:
        """Return the credit of scores (items,) on every source text of these items, in rising order; NaN where people scored all alike."""
        return ordering_credits(self.labels[metric].mean[items], scores, self.segment[items])


def score_questions(data: Dataset, training: Dataset, metrics: Sequence[str]) -> ScoreQuestions:
    """Return the labels of continuous metrics. `training` holds all labels of the people: their severity is taken from all of them.

    Raises UsageError if the dataset card names no key of source texts, and for a metric whose scores are names.
    """
    for metric in metrics:
        if data.label_scale(metric).kind == "nominal":
            raise UsageError(f"judges cannot be ranked by '{RANKED_BY_ORDER[0]}' on '{metric}': its scores have no order")
    if not data.about.segment:
        raise UsageError(
            f"judges are ranked within source texts, and the dataset card '{data.about.id}' names none; add segment = \"KEY\" to it, the "
            "key of the items that names the text which several systems gave an output for"
        )
    way: Standardise = "annotator" if data.about.annotators == "persistent" else "none"
    positions = np.array([training.positions[item.item_id] for item in data.items], np.int64)
    language = item_key(data, "language")
    labels = {metric: item_scores(training, metric, way).of_items(positions) for metric in metrics}
    return ScoreQuestions(data, training, labels, source_texts(data), language.codes.astype(np.int64), tuple(language.values))


def score_tables(ranking_input: RankingInput, on_label_scale: Collection[str] = ()) -> Iterator[RankedTables]:
    """Yield the tables of a board of continuous scores; arguments as `ranking.rank`. Fewer than 20 independent texts: no ranks."""
    questions = score_questions(ranking_input.data, ranking_input.training, ranking_input.metrics)
    baseline = cache(partial(_baseline_scores, questions))
    for language, variant in product(ranking_input.languages, ranking_input.variants):
        yield _ScoreTables(questions, ranking_input, language, variant, baseline, on_label_scale)


def _baseline_scores(questions: ScoreQuestions, baseline: str, language: str) -> dict[str, Floats]:
    """Return `{metric: what a baseline gives to the items of a language}`."""
    rule, by_metric = BASELINES[baseline], {}
    for metric in questions.labels:
        scale = questions.data.label_scale(metric)
        items = [questions.data.items[position] for position in questions.items(metric, language).tolist()]
        guesses = [rule(item, metric, scale, questions.learnt, "") for item in items]
        by_metric[metric] = np.array([math.nan if score is None else float(score) for score in guesses])
    return by_metric


@dataclass(frozen=True)
class _Answers:
    """One judge's answers on one metric in one language: its mean score of every item over repeats (NaN without one), how many answers
    were read, and the failures of the others."""

    scores: Floats
    read: int
    failures: Counter[str]
    same: NDArray[np.bool_] | None


class _ScoreTables(RankedTables):
    def __init__(
        self,
        questions: ScoreQuestions,
        ranking_input: RankingInput,
        language: str,
        variant: str,
        baseline: Callable[[str, str], dict[str, Floats]],
        on_label_scale: Collection[str],
    ) -> None:
        self.questions, self.language, self.variant, self.on_label_scale = questions, language, variant, on_label_scale
        self.baseline = baseline
        self.repeats, self.options, self.unread_judges = ranking_input.repeats, ranking_input.options, ranking_input.unread_judges
        self.items = {metric: questions.items(metric, language) for metric in questions.labels}
        self.items = {metric: items for metric, items in self.items.items() if len(items)}
        clean = {judge: judgments.clean for judge, judgments in ranking_input.judgments.items()}
        of_variant = {judge: judgments.take(judgments.variant.equals(variant)) for judge, judgments in clean.items()}
        with_items = {
            judge: judgments
            for judge, judgments in of_variant.items()
            if any(len(self._rows_and_items(judgments, metric)[0]) for metric in self.items)
        }
        self.judgments, self.judges, self.metrics = with_items, tuple(with_items), tuple(self.items)
        self.answers = {judge: {m: self._answers(judgments, m) for m in self.items} for judge, judgments in with_items.items()}

    def _rows_and_items(self, judgments: Judgments, metric: str) -> tuple[Ints, Ints]:
        """Return the rows of a metric that are about the items of the table, and the item of each as its place in `items`."""
        position = np.full(len(self.questions.data.items) + 1, -1, np.int64)
        position[self.items[metric]] = np.arange(len(self.items[metric]))
        positions = np.where(judgments.metric.equals(metric), position[judgments.item.recode(self.questions.data.positions)], -1)
        rows = np.flatnonzero(positions >= 0)
        return rows, positions[rows]

    def _answers(self, judgments: Judgments, metric: str) -> _Answers:
        rows, positions = self._rows_and_items(judgments, metric)
        size = len(self.items[metric])
        score = numbers(judgments.score.take(rows))
        read = ~np.isnan(score)
        n = np.bincount(positions[read], minlength=size)
        mean = np.bincount(positions[read], score[read], minlength=size) / np.maximum(n, 1)
        failures = Counter(
            str(kind) for kind, readable in zip(judgments.failure.take(rows), read.tolist(), strict=True) if not readable and kind
        )
        if missing := size * self.repeats - len(rows):
            failures["missing"] += missing
        same = None
        if self.repeats > 1:
            low, high = np.full(size, math.inf), np.full(size, -math.inf)
            np.minimum.at(low, positions[read], score[read])
            np.maximum.at(high, positions[read], score[read])
            same = ((n == self.repeats) & (low == high)) | ((n == 0) & (np.bincount(positions, minlength=size) == self.repeats))
        return _Answers(np.where(n > 0, mean, np.nan), int(read.sum()), failures, same)

    def gains(self, baseline: str) -> Iterator[Gain]:
        """Yield the judge's credit minus that of the scores which the baseline would give."""
        if not self.judges:
            return
        baseline_credits, cluster = self._compute_credits(self.baseline(baseline, self.language), self.metrics)
        for judge in self.judges:
            judge_credits, _ = self._compute_credits({metric: self.answers[judge][metric].scores for metric in self.metrics}, self.metrics)
            mean = mean_of_segments(judge_credits - baseline_credits, cluster, None if baseline_credits.any() else (-1.0, 1.0))
            yield Gain(judge, baseline, self.language, self.variant, mean.value, bounds(mean.interval))

    def _compute_credits(self, scores: Mapping[str, Floats], metrics: Sequence[str]) -> tuple[Floats, Ints]:
        """Return the credits on the source texts that count, and the cluster of each, for some metrics together."""
        parts, clusters = [], []
        for metric in metrics:
            credits = self.questions.credits(metric, self.items[metric], scores[metric])
            defined = ~np.isnan(credits)
            parts.append(credits[defined])
            clusters.append(self.questions.cluster[np.unique(self.questions.segment[self.items[metric]])[defined]])
        return np.concatenate(parts), np.concatenate(clusters)

    def table(self, metric: str, metrics: tuple[str, ...], statistics: Statistics, unranked: Collection[str]) -> Ranking:
        credits_of_judges = [self._compute_credits({m: self.answers[judge][m].scores for m in metrics}, metrics) for judge in self.judges]
        cluster = credits_of_judges[0][1]
        credits = np.stack([judge_credits for judge_credits, _ in credits_of_judges])
        texts = len(np.unique(cluster))
        # Of these, most answers cannot be read, in this table or over all languages.
        answers_expected = sum(len(self.items[metric]) for metric in metrics) * self.repeats
        readable = {judge: sum(self.answers[judge][metric].read for metric in metrics) for judge in self.judges if judge not in unranked}
        unread = {judge for judge, count in readable.items() if judge in self.unread_judges or 2 * count < answers_expected}
        ranked = [j for j, judge in enumerate(self.judges) if judge not in unranked and judge not in unread]
        ranks = None
        if texts >= MIN_TEXTS:
            shares = (credits[ranked] + 1) / 2  # from 0 to 1; order and differences are the same
            ranks = rank_judges(shares, cluster, bounds=None, seed=self.options.seed, resamples=self.options.resamples)
        position = {j: number for number, j in enumerate(ranked)}
        rows = [self._build_row(j, metrics, credits[j], cluster, ranks, position.get(j), statistics[j]) for j in range(len(self.judges))]
        rows = [msgspec.structs.replace(row, beats_baseline=None, unread=True) if row.judge in unread else row for row in rows]
        return Ranking(
            language=self.language,
            variant=self.variant,
            metric=metric,
            metrics=metrics,
            questions=sum(len(self.items[m]) for m in metrics),
            texts=texts,
            baseline=0.0,
            rows=tuple(sorted(rows, key=lambda row: (row.unread, row.judge in unranked, -row.value))),
            people=None,
            groups=ranks.runs if ranks else (),
            reason=None if ranks else TOO_FEW,
            texts_needed=MIN_TEXTS,
        )

    def _build_row(
        self,
        j: int,
        metrics: Sequence[str],
        credits: Floats,
        cluster: Ints,
        ranks: Ranks | None,
        position: int | None,
        statistics: dict[str, float | None],
    ) -> RankedJudge:
        """Return one judge, which has this place in the arrays of `ranks` (None: no rank); the baseline, any constant, has the credit 0."""
        mean = mean_of_segments(credits, cluster)
        ci = bounds(mean.interval)
        answers = [self.answers[self.judges[j]][metric] for metric in metrics]
        answers_expected, read = sum(len(answer.scores) for answer in answers) * self.repeats, sum(answer.read for answer in answers)
        same = [answer.same for answer in answers if answer.same is not None]
        return RankedJudge(
            judge=self.judges[j],
            rank=int(ranks.rank[position]) if ranks and position is not None else None,
            rank_ci=(int(ranks.lo[position]), int(ranks.hi[position])) if ranks and position is not None else None,
            group=ranks.letters[position] if ranks and position is not None else "",
            value=mean.value,
            value_ci=ci,
            baseline_diff=mean.value,
            baseline_ci=ci,
            beats_baseline=None if ci is None else ci[0] > 0,
            n_ref=answers_expected,
            n=read,
            coverage=read / answers_expected,
            failures=dict(sorted(sum((answer.failures for answer in answers), Counter[str]()).items())),
            statistics=statistics,
            matched=None,
            consistency=float(np.concatenate(same).mean()) if same else None,
        )

    def statistics(self, names: Sequence[str]) -> Mapping[str, Statistics]:
        """Return statistics of each judge's scores alone: another judge changes none of them."""
        return {metric: [self._estimate_statistics(judge, metric, names) for judge in self.judges] for metric in self.metrics}

    def _estimate_statistics(self, judge: str, metric: str, names: Sequence[str]) -> dict[str, float | None]:
        if not names:
            return {}
        q = self.questions
        judgments = self.judgments[judge]
        rows, _ = self._rows_and_items(judgments, metric)
        answers = judgments.take(rows)
        scale = q.data.label_scale(metric)
        classes = replace(
            classes_of(scale, [*q.data.labels.score.used, *answers.score.used], continuous=True),
            order_only=metric in q.data.label_scales and judge not in self.on_label_scale,
        )
        labelled = (q.labels[metric].n > 0).astype(np.int64)[:, None]
        labels = LabelCounts(classes, labelled, self.options.majority, q.labels[metric])
        judged = JudgedTable.align(q.data, answers, {metric: labels})
        cells = ScoreCells(judged, [metric], MeasureOptions(by=KEYS, **self.options.drawing))
        key = {"language": self.language, "task": POOLED, "metric": metric, "judge": judge, "variant": self.variant}
        [scored] = cells.cells([key], [np.arange(len(judged))])
        values = {name: scored.values[name].value for name in names if name in scored.values}
        if "leniency" in values and classes.reach:
            values["leniency"] /= classes.reach
        return {name: number(values.get(name)) for name in names}
