"""Comparability of one judge's scores across languages, metric by metric.

The level of the judge in each language and the gap to people over languages cost nothing and are always there. What needs the regressions
of statsmodels, whose import alone takes a second, is computed on request (`language_parts`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from harness.data.columns import rows_by_number
from harness.decide.annotator_labels import AnnotatorLabels, numbers_of_codes
from harness.decide.cell_tests import CellTests, same_level_p
from harness.decide.options import DecisionOptions
from harness.measure.cells import number, sort_key
from harness.measure.compare import JudgedTables
from harness.measure.condition_rows import parallel_numbers, text_clusters
from harness.measure.judged_table import JudgedTable, item_key, means_by
from harness.measure.label_counts import Classes
from harness.measure.options import MeasureOptions
from harness.stats.agreement.variance_components import mixed_components, one_way_components, reliability, two_way_components
from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.shrinkage import meta_analysis
from harness.stats.intervals.cluster_mean import ClusterMean
from harness.stats.intervals.intervals import TOO_FEW
from harness.stats.language_differences import (
    LARGE,
    NEGLIGIBLE,
    RateComparison,
    compare_rates,
    differential_functioning,
    parallel_consistency,
)

LEAST_LANGUAGES = 5
"""Fewer languages have no common mean: only each of them is shown."""
FEW_LANGUAGES = "fewer than five languages: see each of them"
ON_REQUEST = "computed with --decide full"


class LanguageLevel(msgspec.Struct, frozen=True):
    """One language of a comparison.

    Attributes:
        n, groups: items with two annotators, and independent texts.
        gap, gap_ci: agreement with people minus people's with each other, with its 95 % t interval over groups.
        leniency, leniency_ci: judge minus mean label in points, + toward the best.
        margin: a tenth of the scale. `p_level` is of two one-sided tests, `same_level` whether leniency is shown to be within the margin.
    """

    language: str
    n: int
    groups: int
    gap: float | None
    gap_ci: tuple[float, float] | None
    leniency: float | None
    leniency_ci: tuple[float, float] | None
    margin: float
    p_level: float | None
    same_level: bool


class GapOverLanguages(msgspec.Struct, frozen=True):
    """The random-effects mean of the gaps; `prediction` is where a further language would lie."""

    languages: int
    mean: float | None
    ci: tuple[float, float] | None
    prediction: tuple[float, float] | None
    tau2: float | None
    q: float | None
    q_p: float | None
    i2: float | None


class LanguageComparison(msgspec.Struct, frozen=True, kw_only=True):
    """One judge on one metric over languages. Undefined parts are None, and `reasons` says why.

    Attributes:
        key: that of a cell without its language, and the source where there are several.
        languages: its levels.
        gap: over languages, which are no random sample of languages; None with fewer than five.
        rates, dif, consistency, annotators: the parts that are computed on request.
        reasons: why parts are None, by their name.
    """

    key: dict[str, Any]
    languages: tuple[LanguageLevel, ...]
    gap: GapOverLanguages | None = None
    rates: LanguageRates | None = None
    dif: LanguageFunctioning | None = None
    consistency: LanguageConsistency | None = None
    annotators: tuple[AnnotatorVariance, ...] | None = None
    reasons: dict[str, str] = {}

    def flat(self) -> dict[str, Any]:
        """Return one object for programs, with the parts of the key beside the other values."""
        values = msgspec.structs.asdict(self)
        return {**values.pop("key"), **values}


def language_comparisons(
    aligned: JudgedTables, tests: Sequence[CellTests], compare: MeasureOptions, options: DecisionOptions, *, full: bool = False
) -> tuple[LanguageComparison, ...]:
    """Return what is seen of every judge, metric and condition over languages, sorted by metric and judge.

    Args:
        aligned: judgments beside labels.
        tests: the tests of its cells.
        compare: the rule of the aggregate.
        options: the level of the tests.
        full: whether to compute the parts that need regressions too.
    """
    directions = {metric: votes.classes.direction for judged in aligned.tables for metric, votes in judged.labels.items()}
    comparisons = []
    parts = dict(language_parts(aligned.tables, "source" in aligned.by)) if full else {}
    by_judge: dict[tuple[Any, ...], list[CellTests]] = {}
    for cell in tests:
        by_judge.setdefault(without_language(cell.key), []).append(cell)
    for judge_key, of_judge in by_judge.items():
        key, cells = dict(judge_key), sorted(of_judge, key=lambda cell: str(cell.key["language"]))
        rows = tuple(_language_level(cell, directions.get(key["metric"]), options) for cell in cells)
        gaps = [cell.gap for cell in cells if cell.gap.error > 0]
        if len(cells) < 2:
            gap, why = None, ONE_LANGUAGE
        elif len(gaps) < LEAST_LANGUAGES:
            gap, why = None, FEW_LANGUAGES if len(cells) < LEAST_LANGUAGES else "fewer than five languages whose gap varies between texts"
        else:
            summary = meta_analysis([gap.mean for gap in gaps], [gap.error**2 for gap in gaps])
            numbers = {name: number(getattr(summary, name)) for name in ("mean", "tau2", "q", "q_p", "i2")}
            gap, why = (
                GapOverLanguages(
                    languages=summary.k, ci=_interval_pair(summary.interval), prediction=_interval_pair(summary.prediction), **numbers
                ),
                None,
            )
        reasons = {"gap": why} if why else {}
        more = msgspec.structs.asdict(parts[tuple(key.items())] if full else LanguageParts(reasons=dict.fromkeys(COMPARISONS, ON_REQUEST)))
        comparisons.append(LanguageComparison(key=key, languages=rows, gap=gap, **more | {"reasons": reasons | more["reasons"]}))
    return tuple(sorted(comparisons, key=lambda cell: sort_key(cell.key)))


def _language_level(cell: CellTests, direction: int | None, options: DecisionOptions) -> LanguageLevel:
    sign = direction or 1
    level = cell.level.leniency._replace(mean=sign * cell.level.leniency.mean)
    p = same_level_p(level, cell.level.reach) if level.n and cell.level.reach > 0 else math.nan
    return LanguageLevel(
        language=cell.key["language"],
        n=cell.texts.n,
        groups=cell.texts.groups,
        gap=number(cell.gap.mean),
        gap_ci=_t_interval(cell.gap),
        leniency=number(level.mean),
        leniency_ci=_t_interval(level),
        margin=cell.level.reach,
        p_level=number(p),
        same_level=p <= options.alpha,
    )


def _t_interval(mean: ClusterMean) -> tuple[float, float] | None:
    """Return the 95 % t interval; none where groups do not vary."""
    return mean.interval() if mean.error > 0 else None


def _interval_pair(ends: tuple[float, float]) -> tuple[float, float] | None:
    return None if math.isnan(ends[0]) else ends


def language_notes(comparisons: Sequence[LanguageComparison]) -> list[str]:
    """Return sentences for readers about what cannot be said of languages."""
    reasons = (comparison.reasons.get("gap") for comparison in comparisons)
    notes = dict.fromkeys(f"Across languages: {reason}." for reason in reasons if reason and reason != ON_REQUEST)
    functioning = (comparison.dif for comparison in comparisons)
    warnings = dict.fromkeys(f"Scores at one human score: {dif.warning}." for dif in functioning if dif and dif.warning)
    return [*notes, *warnings]


PANELS = (1, 2, 3, 5, 10)
"""Numbers of annotators whose mean's reliability is given."""
ONE_LANGUAGE = "one language"
FEW_TEXTS = TOO_FEW
NOT_PARALLEL = (
    "the items are not parallel: people's mean is measured with error, so that languages whose texts differ in quality show such a "
    "difference where there is none; look at its size"
)
_MOST_CLASSES = 10  # of an ordinal regression
COMPARISONS = ("rates", "dif", "consistency", "annotators")


class LanguageRates(msgspec.Struct, frozen=True):
    """A test that right answers are equally frequent in all languages.

    `p_groups` is of the score test with texts as units; `chi2`, `df`, `p`, `p_f` and `few_groups` of the Wald test, None where a language
    agrees always or never.
    """

    shares: dict[str, float]
    df: int
    p_groups: float | None
    chi2: float | None
    p: float | None
    p_f: float | None
    few_groups: bool


class FunctioningTest(msgspec.Struct, frozen=True):
    """One test of differential functioning: `p` takes items as independent, `p_groups` is that of the score test with texts as units."""

    lr: float
    df: int
    p: float
    p_groups: float | None
    delta_nagelkerke: float


class LanguageFunctioning(msgspec.Struct, frozen=True):
    """A test that texts that people score alike are scored alike; `shift` in points from the first language.

    There is a `warning` where the items are not `parallel`.
    """

    n: int
    uniform: FunctioningTest
    non_uniform: FunctioningTest
    effect: str
    shift: dict[str, float]
    parallel: bool
    warning: str | None


class LanguageConsistency(msgspec.Struct, frozen=True):
    """Agreement of the judge's scores of parallel `items` in different languages, and of each pair of languages."""

    items: int
    fleiss: float | None
    randolph: float | None
    agreement: float | None
    pairs: dict[str, float | None]
    reason: str | None


class MeanReliability(msgspec.Struct, frozen=True):
    """The reliability of the mean of so many annotators, for differences of items and for their level."""

    annotators: int
    relative: float | None
    absolute: float | None


class AnnotatorVariance(msgspec.Struct, frozen=True, kw_only=True):
    """The variance of items, annotators and rest in the labels of one language; None with a `reason`. `cut` at 0 are those named there."""

    language: str
    items: int
    item: float | None = None
    annotator: float | None = None
    residual: float | None = None
    cut: tuple[str, ...] = ()
    reliability: tuple[MeanReliability, ...] = ()
    reason: str | None = None


class LanguageParts(msgspec.Struct, frozen=True):
    """The parts of a comparison of languages, None where there is none or it was not asked for; `reasons` by their name."""

    rates: LanguageRates | None = None
    dif: LanguageFunctioning | None = None
    consistency: LanguageConsistency | None = None
    annotators: tuple[AnnotatorVariance, ...] | None = None
    reasons: dict[str, str] = {}


def without_language(key: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Return the pairs of a key without its language: that of a judge, metric and condition."""
    return tuple((name, value) for name, value in key.items() if name != "language")


def language_parts(
    judged_tables: Iterable[JudgedTable], by_source: bool, names: Collection[str] = COMPARISONS
) -> Iterator[tuple[tuple[Any, ...], LanguageParts]]:
    """Yield the parts of these names, of every judge, metric and condition, with the sorted pairs of its key."""
    for judged in judged_tables:
        rows: dict[tuple[Any, ...], list[Ints]] = {}
        for key, cell_rows in judged.rows_by_cell(by_source):
            rows.setdefault(without_language(key), []).append(cell_rows)
        judgments = _JudgedLanguages(judged)
        for judge, parts in rows.items():
            yield judge, judgments.parts(dict(judge)["metric"], np.sort(np.concatenate(parts)), names)


class _JudgedLanguages:
    """Judgments of one data set by language."""

    def __init__(self, judged: JudgedTable) -> None:
        self.judged = judged
        self.right, self.score = judged.hit, judged.code
        self.language = item_key(judged.data, "language")
        self.cluster, self.parallel = text_clusters(judged.data), parallel_numbers(judged.data)
        self.labels = AnnotatorLabels(judged.data, judged.labels)
        self.known_annotators: dict[str, tuple[tuple[AnnotatorVariance, ...] | None, str | None]] = {}

    def parts(self, metric: str, rows: Ints, names: Collection[str]) -> LanguageParts:
        items, question = np.unique(self.judged.item[rows], return_inverse=True)
        makers: dict[str, Callable[[], tuple[Any, str | None]]] = {
            "rates": lambda: self._estimate_rates(rows),
            "dif": lambda: self._test_functioning(metric, rows, items, question),
            "consistency": lambda: self._measure_consistency(metric, rows, items, question),
        }
        if len(np.unique(self.language.codes[items])) < 2:
            makers = dict.fromkeys(makers, lambda: (None, ONE_LANGUAGE))
        makers["annotators"] = lambda: self._cached_components(metric)
        computed = {name: makers[name]() for name in names}
        reasons = {name: str(reason) for name, (_, reason) in computed.items() if reason}
        return LanguageParts(**{name: value for name, (value, _) in computed.items()}, reasons=reasons)

    def _language_codes(self, items: Ints) -> tuple[list[str], Ints]:
        """Return the languages of some items in order, and the number of each item's."""
        codes, where = np.unique(self.language.codes[items], return_inverse=True)
        names = [str(self.language.values[code]) for code in codes]
        return sorted(names), np.argsort(np.argsort(names))[where]

    def _estimate_rates(self, rows: Ints) -> tuple[LanguageRates | None, str | None]:
        items = self.judged.item[rows]
        languages, where = self._language_codes(items)
        comparison: RateComparison = compare_rates(self.right[rows], where, self.cluster[items], len(languages))
        if math.isnan(comparison.p_groups):
            return None, comparison.reason or FEW_TEXTS
        shares = dict(zip(languages, comparison.share.tolist(), strict=True))
        tests = {name: number(getattr(comparison, name)) for name in ("p_groups", "chi2", "p", "p_f")}
        return LanguageRates(shares=shares, df=comparison.df, few_groups=comparison.few_groups, **tests), comparison.reason

    def _item_classes(self, metric: str, rows: Ints, question: Ints) -> Ints:
        """Return one class code an item, the mean of its repeats; -1 where none could be read."""
        score = self.score[rows]
        means = means_by(question, np.where(score >= 0, score, math.nan).astype(np.float64))
        return np.where(np.isnan(means), -1, np.round(means)).astype(np.int64)

    def _test_functioning(self, metric: str, rows: Ints, items: Ints, question: Ints) -> tuple[LanguageFunctioning | None, str | None]:
        votes = self.judged.labels[metric]
        k = len(votes.classes.scores)
        languages, where = self._language_codes(items)
        if votes.classes.kind == "nominal" or not 2 <= k <= _MOST_CLASSES:
            return None, "the scale has no order" if votes.classes.kind == "nominal" else f"more than {_MOST_CLASSES} classes, or one"
        counts, numbers = votes.counts[items], _class_numbers(votes.classes)
        raters = counts.sum(axis=1)
        human = np.where(raters > 0, counts @ numbers / np.maximum(raters, 1), math.nan)
        cluster = self.cluster[items]
        shared = None if len(np.unique(cluster)) == len(cluster) else cluster
        if len(np.unique(cluster)) <= len(languages):
            return None, FEW_TEXTS
        score = self._item_classes(metric, rows, question)
        functioning = differential_functioning(score, human, where, len(languages), k, values=votes.classes.values, groups=shared)
        if functioning.reason:
            return None, functioning.reason
        assert functioning.uniform and functioning.non_uniform
        # The texts are parallel where every item stands beside one in each other language.
        ids, parallel = self.parallel[items], False
        if not (ids < 0).any():
            seen = np.zeros((int(ids.max()) + 1, int(where.max()) + 1), bool)
            seen[ids, where] = True
            parallel = bool(seen[np.unique(ids)].all())
        size = functioning.uniform.delta_nagelkerke
        uniform, non_uniform = (
            FunctioningTest(test.lr, test.df, test.p, number(test.p_groups), test.delta_nagelkerke)
            for test in (functioning.uniform, functioning.non_uniform)
        )
        described = LanguageFunctioning(
            n=functioning.n,
            uniform=uniform,
            non_uniform=non_uniform,
            effect="negligible" if size < NEGLIGIBLE else "moderate" if size <= LARGE else "large",
            shift=dict(zip(languages, functioning.shift.tolist(), strict=True)),
            parallel=parallel,
            warning=None if parallel else NOT_PARALLEL,
        )
        return described, None

    def _measure_consistency(self, metric: str, rows: Ints, items: Ints, question: Ints) -> tuple[LanguageConsistency | None, str | None]:
        ids, score = self.parallel[items], self._item_classes(metric, rows, question)
        languages, where = self._language_codes(items)
        is_parallel = ids >= 0
        if not is_parallel.any():
            return None, "no item has a parallel_id"
        rank = np.unique(ids[is_parallel], return_inverse=True)[1]
        table = np.full((int(rank.max()) + 1, len(languages)), math.nan)
        if len(np.unique(rank * len(languages) + where[is_parallel])) < len(rank):
            return None, "several items of one language share a parallel_id"
        table[rank, where[is_parallel]] = np.where(score[is_parallel] >= 0, score[is_parallel], math.nan)
        table = table[(~np.isnan(table)).sum(axis=1) >= 2]
        if not len(table):
            return None, "no parallel item has scores in two languages"
        consistency = parallel_consistency(table, len(self.judged.labels[metric].classes.scores))
        pairs = {f"{languages[a]} {languages[b]}": number(consistency.pairwise[a, b]) for b in range(len(languages)) for a in range(b)}
        fleiss, randolph, agreement = map(number, (consistency.fleiss.value, consistency.randolph, consistency.agreement))
        return LanguageConsistency(len(table), fleiss, randolph, agreement, pairs, consistency.fleiss.reason), None

    def _cached_components(self, metric: str) -> tuple[tuple[AnnotatorVariance, ...] | None, str | None]:
        if metric not in self.known_annotators:
            about, votes = self.judged.data.about, self.judged.labels[metric]
            if about.annotators not in ("persistent", "positional"):
                self.known_annotators[metric] = None, f"annotators are {about.annotators}"
            elif votes.classes.kind == "nominal":
                self.known_annotators[metric] = None, "the scale has no order"
            else:
                variances = []
                labelled = np.flatnonzero(votes.counts.sum(axis=1) >= 2)
                by_language = rows_by_number(self.language.codes[labelled], len(self.language.values))
                for code in sorted(range(len(self.language.values)), key=lambda code: str(self.language.values[code])):
                    items = labelled[by_language[code]]
                    if len(items):
                        table = self.labels.table(metric, items)
                        components = _estimate_components(
                            table and table.codes, _class_numbers(votes.classes), persistent=about.annotators == "persistent"
                        )
                        variances.append(AnnotatorVariance(language=self.language.values[code], items=len(items), **components))
                self.known_annotators[metric] = (tuple(variances), None) if variances else (None, "no item has two annotators")
        return self.known_annotators[metric]


def _class_numbers(classes: Classes) -> Floats:
    return np.asarray(classes.values if classes.values is not None else range(len(classes.scores)), np.float64)


def _estimate_components(table: Floats | None, numbers: Floats, *, persistent: bool) -> dict[str, Any]:
    """Return variance components of one language's labels, and the reliability of means of annotators: fields of `AnnotatorVariance`."""
    if table is None:
        return {"reason": "more than 200 annotators"}
    scores = numbers_of_codes(table, numbers)
    if not persistent:
        # The scores of the items that have the commonest number of labels, without gaps; which annotator gave which does not matter.
        labelled = ~np.isnan(scores)
        labels = labelled.sum(axis=1)
        usual = int(np.bincount(labels).argmax()) if len(labels) else 0
        usual_items = labels == usual
        scores = scores[usual_items][labelled[usual_items]].reshape(-1, usual) if usual else np.empty((0, 0))
    if min(scores.shape) < 2:
        return {"reason": "fewer than two items or two annotators"}
    components = mixed_components if np.isnan(table).any() else two_way_components
    estimated = components(scores) if persistent else one_way_components(scores)
    if estimated.reason:
        return {"reason": estimated.reason}
    return {
        "item": number(estimated.item),
        "annotator": number(estimated.annotator),
        "residual": number(estimated.residual),
        "cut": tuple(estimated.cut),
        "reliability": tuple(
            MeanReliability(int(k), number(relative), number(level)) for k, relative, level in reliability(estimated, PANELS)
        ),
    }
