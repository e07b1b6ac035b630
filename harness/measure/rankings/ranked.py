"""The content of a table of ranked judges, for any statistic."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import msgspec

from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.measure.answer_counts import count_all_answers
from harness.measure.options import POOLED, MeasureOptions
from harness.stats.intervals.intervals import MIN_GROUPS

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
