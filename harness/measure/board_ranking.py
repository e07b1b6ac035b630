"""Judges ranked on the same questions: one table for each language and metric, and one that pools the metrics as verdicts do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.content.tags import choose_from
from harness.data.columns import NO_VALUE, CodedColumn, combination_ids
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.errors import UsageError
from harness.judges.baselines import BASELINES, TrainingCounts
from harness.measure.board_ranking_by_scores import (
    RANKED_BY_ORDER,
    AnnotatorFigures,
    Gain,
    MatchedPair,
    RankedJudge,
    RankedTables,
    Ranking,
    RankingInput,
    Statistics,
    score_tables,
)
from harness.measure.cells import bounds, number
from harness.measure.judged_table import JudgedTable, item_key
from harness.measure.label_counts import LabelCounts, count_labels
from harness.measure.options import Drawing, MeasureOptions, annotators_needed
from harness.model import BY_PEOPLE, Failure
from harness.stats.core.arrays import Floats, Ints
from harness.stats.core.catalogue import human_statistics, judge_statistics
from harness.stats.core.rows import tabulate
from harness.stats.core.statistic import estimate, item_credits
from harness.stats.intervals.intervals import mean_interval, proportion_interval
from harness.stats.intervals.paired import commonest, paired_difference
from harness.stats.ranking import Ranks, rank_judges

MAJORITY = "majority"
FAILURES = tuple(str(kind) for kind in Failure)
_NO_ROW = FAILURES.index(Failure.MISSING)
RANKED_BY = ("pa_failed_wrong", "pa_pairwise", "judge_loo")
"""Statistics to rank judges by: means over questions in which an unreadable answer has the credit 0."""


def rank(
    ranking_input: RankingInput, statistics: Sequence[str] = (), unranked: Collection[str] = (), on_label_scale: Collection[str] = ()
) -> tuple[Ranking, ...]:
    """Return all tables, by language, variant and metric; the table that pools metrics comes first.

    `statistics` are names of `harness.stats.judge_statistics`, for `RankedJudge.statistics`; `unranked` the judges that have values and no
    ranks: baselines; `on_label_scale` judges whose continuous scores are on the scale of people's labels, where the board's answers are on
    another one. Raises UsageError for another `rank_by`, and if no item has as many annotators as the options require.
    """
    return tuple(table for tables in _build_tables(ranking_input, on_label_scale) for table in tables.rankings(statistics, unranked))


def gains_over(baselines: Sequence[str], ranking_input: RankingInput) -> Iterator[Gain]:
    """Return every judge against the answers that these baselines (of `harness.judges.baselines`) would give; errors as `rank`.

    `majority` is the same as in the tables: learnt from development items, or else the commonest reference.
    """
    return (gain for tables in _build_tables(ranking_input) for baseline in baselines for gain in tables.gains(baseline))


def _build_tables(ranking_input: RankingInput, on_label_scale: Collection[str] = ()) -> Iterator[RankedTables]:
    """Yield the tables of each language and variant."""
    if ranking_input.rank_by in RANKED_BY_ORDER:
        yield from score_tables(ranking_input, on_label_scale)
        return
    questions = questions_of(
        ranking_input.data, list(ranking_input.judgments.values()), ranking_input.options, ranking_input.rank_by, ranking_input.metrics
    )
    if not len(questions):
        return
    earned = cache(lambda baseline: questions.credit_of(guesses(questions, ranking_input.training, baseline)))
    for language, variant in product(ranking_input.languages, ranking_input.variants):
        yield _Tables(answer_matrix(questions, ranking_input.judgments, variant, ranking_input.repeats), language, earned, ranking_input)


class _Tables(RankedTables):
    def __init__(self, answers: AnswerMatrix, language: str, earned: Callable[[str], Floats], ranking_input: RankingInput) -> None:
        self.answers, self.language, self.options = answers, language, ranking_input.options
        self.questions, self.earned = answers.questions, earned
        code = self.questions.languages.index(language) if language in self.questions.languages else -1
        self.units = np.flatnonzero((self.questions.language == code) & ~np.isnan(self.questions.credits[:, 0]))
        self.present = np.flatnonzero(answers.was_asked[:, code]) if code >= 0 else np.empty(0, np.int64)
        self.judges = [answers.judges[number_] for number_ in self.present.tolist()]
        self.metric = self.questions.metric[self.units]
        self.metrics = [name for code, name in enumerate(self.questions.metrics) if (self.metric == code).any()]
        self.drawing = ranking_input.options.drawing
        self.unread = np.array([judge in ranking_input.unread_judges for judge in self.judges], bool)
        self.score = answers.score[self.present][:, :, self.units]
        self.failure = answers.failure[self.present][:, :, self.units]
        self.credits = self.questions.credit_of(self.score, self.units).mean(axis=1)
        self.group = self.questions.group[self.units]
        # True for each question (judges, units) with the same answer in all repeats, failures included; None without repeats.
        if self.score.shape[1] < 2:
            self.same = None
        else:
            answer = np.where(self.score >= 0, self.score, -2 - self.failure.astype(np.int16))
            same: NDArray[np.bool_] = (answer == answer[:, :1]).all(axis=1)
            self.same = same

    @cached_property
    def baseline_credits(self) -> Floats:
        return self.earned(MAJORITY)[self.units]

    @cached_property
    def left_out(self) -> _LeftOut | None:
        by_people = set(self.questions.data.labels.source.used) <= BY_PEOPLE
        return _LeftOut(self.questions, self.units, self.score) if by_people else None

    def gains(self, baseline: str) -> Iterator[Gain]:
        earned = self.earned(baseline)[self.units]
        for judge, credits in zip(self.judges, self.credits, strict=True) if len(self.units) else ():
            difference = paired_difference(credits, earned, self.group)
            yield Gain(judge, baseline, self.language, self.answers.variant, difference.diff, bounds(difference.interval))

    def table(self, metric: str, metrics: tuple[str, ...], statistics: Statistics, unranked: Collection[str]) -> Ranking:
        questions = np.flatnonzero(np.isin(self.metric, [self.questions.metrics.index(name) for name in metrics]))
        without_rank = np.array([judge in unranked for judge in self.judges], bool)
        unread = ~without_rank & (self.unread | ((self.score[:, :, questions] < 0).mean(axis=(1, 2)) > 0.5))
        ranks, rows = self._ranked_judges(np.flatnonzero(~without_rank & ~unread), questions, statistics)
        of_baselines, baselines = self._ranked_judges(np.flatnonzero(without_rank), questions, statistics)
        of_unread, unread_rows = self._ranked_judges(np.flatnonzero(unread), questions, statistics)
        reason = next(part.reason for part, its_rows in ((ranks, rows), (of_baselines, baselines), (of_unread, unread_rows)) if its_rows)
        rows = [*rows, *(msgspec.structs.replace(row, rank=None, rank_ci=None, group="") for row in baselines)]
        rows += [msgspec.structs.replace(row, rank=None, rank_ci=None, group="", beats_baseline=None, unread=True) for row in unread_rows]
        return Ranking(
            language=self.language,
            variant=self.answers.variant,
            metric=metric,
            metrics=metrics,
            questions=len(questions),
            texts=ranks.groups,
            baseline=float(self.baseline_credits[questions].mean()),
            rows=tuple(rows),
            people=self.left_out.people(questions, self.group[questions], self.drawing) if self.left_out else None,
            groups=ranks.runs,
            reason=reason,
        )

    def _ranked_judges(
        self, judges: NDArray[np.intp], questions: NDArray[np.intp], statistics: Statistics
    ) -> tuple[Ranks, list[RankedJudge]]:
        """Return some judges ranked among themselves, the best first."""
        ranks = rank_judges(
            self.credits[np.ix_(judges, questions)], self.group[questions], self.baseline_credits[questions], **self.drawing
        )
        order = np.argsort(-ranks.value, kind="stable").tolist()
        return ranks, [
            self._ranked_judge(int(judges[position]), questions, ranks, position, statistics[judges[position]]) for position in order
        ]

    def _ranked_judge(
        self, j: int, questions: NDArray[np.intp], ranks: Ranks, position: int, statistics: dict[str, float | None]
    ) -> RankedJudge:
        """Return one judge, which has this place in the arrays of `ranks`."""
        read = self.score[j][:, questions] >= 0
        kinds = np.bincount(self.failure[j][:, questions][~read], minlength=len(FAILURES)).tolist()
        gain = bounds(ranks.gains[position])
        return RankedJudge(
            judge=self.judges[j],
            rank=int(ranks.rank[position]),
            rank_ci=None if ranks.reason else (int(ranks.lo[position]), int(ranks.hi[position])),
            group=ranks.letters[position],
            value=float(ranks.value[position]),
            value_ci=bounds(ranks.intervals[position]),
            baseline_diff=float(ranks.value[position] - self.baseline_credits[questions].mean()),
            baseline_ci=gain,
            beats_baseline=None if gain is None else gain[0] > 0,
            n_ref=read.size,
            n=int(read.sum()),
            coverage=float(read.mean()),
            failures={name: count for name, count in zip(FAILURES, kinds, strict=True) if count},
            statistics=statistics,
            matched=self.left_out.matched(j, questions, self.group[questions]) if self.left_out else None,
            consistency=float(self.same[j, questions].mean()) if self.same is not None else None,
        )

    def statistics(self, names: Sequence[str]) -> Mapping[str, Statistics]:
        """Return the statistics of metrics on one scale, which are tabulated together."""
        scales: dict[object, list[str]] = {}
        for metric in self.metrics:
            scales.setdefault(self.questions.votes[metric].classes.key, []).append(metric)
        return {metric: values for alike in scales.values() for metric, values in self._estimate_on_scale(names, alike).items()}

    def _estimate_on_scale(self, names: Sequence[str], metrics: Sequence[str]) -> dict[str, list[dict[str, float | None]]]:
        judges = len(self.present)
        classes = self.questions.votes[metrics[0]].classes
        statistics = judge_statistics(
            len(classes.scores), classes.kind, classes.values, rule=self.options.majority, direction=classes.direction
        )
        chosen = [statistic for statistic in statistics if statistic.name in names]
        counts, score, cell = [], [], []
        for position, metric in enumerate(metrics):
            rows_of_metric = np.flatnonzero(self.metric == self.questions.metrics.index(metric))
            times = judges * self.score.shape[1]
            counts.append(np.tile(self.questions.counts(metric, self.units[rows_of_metric]), (times, 1)))
            score.append(self.score[:, :, rows_of_metric].reshape(-1))
            cell.append(np.repeat(np.arange(judges) * len(metrics) + position, self.score.shape[1] * len(rows_of_metric)))
        cells = judges * len(metrics)
        rows = tabulate(np.concatenate(counts), np.concatenate(score).astype(np.int64), cell=np.concatenate(cell), cells=cells)
        estimates = estimate(chosen, rows)
        points = classes.values or tuple(range(len(classes.scores)))
        scale_length = float(points[-1] - points[0]) or 1.0
        values = {s.name: estimates[s.name].value / (scale_length if s.name == "leniency" else 1.0) for s in chosen}
        return {
            metric: [
                {name: number(values[name][j * len(metrics) + position]) if name in values else None for name in names}
                for j in range(judges)
            ]
            for position, metric in enumerate(metrics)
        }


class _LeftOut:
    """Credits of judges and people against the same remaining annotators of each question, one annotator left out at a time."""

    def __init__(self, questions: RankedQuestions, units: NDArray[np.intp], score: NDArray[np.int16]) -> None:
        self.people_credits = np.full(len(units), np.nan)
        self.judge_credits = np.full((score.shape[0], len(units)), np.nan)
        for code, (name, label_counts) in enumerate(questions.votes.items()):
            positions = np.flatnonzero(questions.metric[units] == code)
            counts, k = questions.counts(name, units[positions]), len(label_counts.classes.scores)
            # The statistics `human_loo` (of labels alone) and `judge_loo`.
            [people] = [s for s in human_statistics(k, label_counts.classes.kind, label_counts.classes.values) if s.name == "human_loo"]
            [judge] = [s for s in judge_statistics(k, label_counts.classes.kind, label_counts.classes.values) if s.name == "judge_loo"]
            self.people_credits[positions] = item_credits(people, counts, np.zeros(len(positions), np.int64))
            table = np.stack([item_credits(judge, counts, np.full(len(positions), c)) for c in range(k)], axis=1)
            scores = score[:, :, positions]
            earned = np.where(scores >= 0, table[np.arange(len(positions)), np.maximum(scores, 0)], np.nan)
            read = (~np.isnan(earned)).sum(axis=1)
            self.judge_credits[:, positions] = np.where(read > 0, np.nansum(earned, axis=1) / np.maximum(read, 1), np.nan)

    def people(self, questions: NDArray[np.intp], group: Ints, drawing: Drawing) -> AnnotatorFigures | None:
        defined = ~np.isnan(self.people_credits[questions])
        if not defined.any():
            return None
        interval = proportion_interval(self.people_credits[questions], group, **drawing)
        return AnnotatorFigures(float(np.nanmean(self.people_credits[questions])), bounds(interval), int(defined.sum()))

    def matched(self, j: int, questions: NDArray[np.intp], group: Ints) -> MatchedPair | None:
        judge, people = self.judge_credits[j, questions], self.people_credits[questions]
        paired = ~(np.isnan(judge) | np.isnan(people))
        if not paired.any():
            return None
        gap = judge - people
        interval = mean_interval(gap, group, bounds=(-1.0, 1.0))
        mean = [float(values[paired].mean()) for values in (judge, people, gap)]
        return MatchedPair(mean[0], mean[1], mean[2], bounds(interval), int(paired.sum()))


@dataclass(frozen=True, eq=False)
class RankedQuestions:
    """The labelled pairs of item and metric of a data set, by number (units,)."""

    data: Dataset
    votes: dict[str, LabelCounts]  # by metric
    metrics: tuple[str, ...]
    languages: tuple[str, ...]
    item: Ints
    metric: Ints
    language: Ints
    group: Ints
    credits: Floats  # (units, k) of each class as an answer: NaN where labels say nothing, and beyond the classes of the metric's scale

    def __len__(self) -> int:
        return len(self.item)

    def mask_of(self, metric: str) -> NDArray[np.bool_]:
        """Return mask of one metric's questions."""
        mask: NDArray[np.bool_] = self.metric == self.metrics.index(metric)
        return mask

    def counts(self, metric: str, rows: NDArray[np.intp]) -> Ints:
        """Return how many annotators gave each class, (rows, k)."""
        return self.votes[metric].counts[self.item[rows]]

    def credit_of(self, code: NDArray[np.integer[Any]], rows: NDArray[np.intp] | slice = slice(None)) -> Floats:
        """Return the credits of the answers `code` (..., rows) to the questions `rows`; 0 for an answer without a readable score."""
        table = self.credits[rows]
        return np.where(code >= 0, table[np.arange(len(table)), np.maximum(code, 0)], np.where(np.isnan(table[:, 0]), np.nan, 0.0))


@dataclass(frozen=True, eq=False)
class AnswerMatrix:
    """The answers of several judges to the same questions under one variant."""

    questions: RankedQuestions
    variant: str
    judges: tuple[str, ...]
    score: NDArray[np.int16]  # (judges, repeats, units) the class that the judge gave, -1 without one
    failure: NDArray[np.int8]  # of the same shape: the index in `FAILURES` of the reason
    was_asked: NDArray[np.bool_]  # (judges, languages) anything


def questions_of(
    data: Dataset, judged: Sequence[Judgments], options: MeasureOptions, rank_by: str, metrics: Sequence[str]
) -> RankedQuestions:
    """Return the questions that count: those on `metrics` whose items have as many annotators as `options` requires.

    `judged` matters for interval scales only, whose classes are the scores that occur. Raises UsageError for a `rank_by` that is not in
    `RANKED_BY`.
    """
    if rank_by not in RANKED_BY:
        raise UsageError(f"judges cannot be ranked by '{rank_by}'.{choose_from((*RANKED_BY, 'kendall_tau_within'), rank_by)}")
    intervals = any(scale.kind == "interval" for scale in data.scales.values())
    used = Judgments.concatenate(judged) if judged and intervals else Judgments.from_rows([])
    counted = count_labels(data, used, annotators_needed(options, data.most_annotators), options.majority) if len(data.labels) else {}
    counted = {metric: counted[metric] for metric in metrics if metric in counted}
    if continuous := [metric for metric, labels in counted.items() if labels.classes.continuous]:
        raise UsageError(
            f"'{continuous[0]}' has continuous scores, and judges cannot be ranked by '{rank_by}' on them; "
            'rank_by = "kendall_tau_within" can'
        )
    rows = [np.flatnonzero(labels.counts.any(axis=1)) for labels in counted.values()]
    item = np.concatenate([*rows, np.empty(0, np.int64)]).astype(np.int64)
    widest = max((len(labels.classes.scores) for labels in counted.values()), default=1)
    credits = np.concatenate(
        [*(_compute_credits(labels, items, options, rank_by, widest) for labels, items in zip(counted.values(), rows, strict=True))]
        or [np.empty((0, widest))]
    )
    language, group = item_key(data, "language"), data.clusters
    return RankedQuestions(
        data,
        counted,
        tuple(counted),
        tuple(language.values),
        item,
        np.repeat(np.arange(len(rows)), [len(items) for items in rows]),
        language.codes[item].astype(np.int64),
        group.codes[item].astype(np.int64),
        credits,
    )


def _compute_credits(labels: LabelCounts, items: Ints, options: MeasureOptions, rank_by: str, width: int) -> Floats:
    """Return the credit of each class on each item, (items, width)."""
    classes, counts = labels.classes, labels.counts[items]
    k = len(classes.scores)
    statistics = judge_statistics(k, classes.kind, classes.values, rule=options.majority, direction=classes.direction)
    [statistic] = [candidate for candidate in statistics if candidate.name == rank_by]
    out = np.full((len(items), width), np.nan)
    for code in range(k):
        out[:, code] = item_credits(statistic, counts, np.full(len(items), code))
    return out


def answer_matrix(questions: RankedQuestions, judgments: Mapping[str, Judgments], variant: str, repeats: int) -> AnswerMatrix:
    """Return the judges' answers under one variant to the questions that count. Judgments of perturbed texts are left out."""
    shape = (len(judgments), repeats, len(questions))
    score, failure = np.full(shape, NO_VALUE, np.int16), np.full(shape, _NO_ROW, np.int8)
    was_asked = np.zeros((len(judgments), len(questions.languages)), bool)
    # The last row and the last column are for metrics and items that do not count.
    question_of = np.full((len(questions.metrics) + 1, len(questions.data.items) + 1), -1, np.int64)
    question_of[questions.metric, questions.item] = np.arange(len(questions))
    for judge, answers in enumerate(judgments.values()):
        table = JudgedTable.align(questions.data, answers.clean, questions.votes)
        rows = table.judgments
        metric = rows.metric.recode({name: code for code, name in enumerate(questions.metrics)})
        unit = question_of[metric, table.item]
        repeat = np.array([*rows.repeat.values, 0], np.int64)[rows.repeat.codes]
        why = np.array([*(FAILURES.index(str(kind)) for kind in rows.failure.values), _NO_ROW], np.int8)[rows.failure.codes]
        counted = np.flatnonzero((unit >= 0) & rows.variant.equals(variant) & (repeat < repeats))
        score[judge, repeat[counted], unit[counted]] = table.code[counted]
        failure[judge, repeat[counted], unit[counted]] = why[counted]
        was_asked[judge, np.unique(questions.language[unit[counted]])] = True
    return AnswerMatrix(questions, variant, tuple(judgments), score, failure, was_asked)


def guesses(questions: RankedQuestions, training: Dataset, baseline: str = MAJORITY) -> Ints:
    """Return the class that a baseline gives to every question, (units,); -1 where it gives none.

    `majority` gives the commonest label of the development items; without such items, the commonest reference of the language, task and
    metric.
    """
    learnt = TrainingCounts(training)
    codes = np.full(len(questions), -1, np.int64)
    for name, labels in questions.votes.items():
        rows = np.flatnonzero(questions.mask_of(name))
        items = [questions.data.items[position] for position in questions.item[rows].tolist()]
        index, rule, scale = labels.classes.index(), BASELINES[baseline], questions.data.scales[name]
        blind = baseline == MAJORITY
        scores = [None if blind and not learnt.development(item, name) else rule(item, name, scale, learnt, "") for item in items]
        codes[rows] = [index.get(score, -1) for score in scores]
        if blind:
            reference = labels.reference[questions.item[rows]]
            stratum = combination_ids([CodedColumn.from_values(item.task for item in items)], questions.language[rows])
            codes[rows] = np.where(codes[rows] >= 0, codes[rows], commonest(reference, len(labels.classes.scores), stratum))
    return codes
