"""Comparability of one judge's scores across languages, metric by metric.

The level of the judge in each language and the gap to people over languages cost nothing and are always there. What needs the regressions
of statsmodels, whose import alone takes a second, is computed on request.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from harness.data.columns import rows_by_number
from harness.decide.annotator_labels import AnnotatorLabels
from harness.decide.cell_tests import CellTests, same_level_p
from harness.decide.options import DecisionOptions
from harness.decide.rows_by_cell import rows_by_cell
from harness.measure.cells import number, sort_key
from harness.measure.compare import AlignedData, JudgedData
from harness.measure.options import CompareOptions
from harness.measure.parallel_texts import parallel_numbers, text_clusters
from harness.measure.unit_agreement import mean_of_questions, unit_hits
from harness.measure.units import Classes, item_key
from harness.stats import (
    Components,
    DifferentialFunctioning,
    MetaAnalysis,
    RateComparison,
    cluster_interval,
    compare_rates,
    differential_functioning,
    meta_analysis,
    mixed_components,
    one_way_components,
    parallel_consistency,
    reliability,
    two_way_components,
)
from harness.stats.core.arrays import Floats, Ints
from harness.stats.intervals.cluster_mean import ClusterMean
from harness.stats.languages.differential_functioning import LARGE, NEGLIGIBLE

LEAST_LANGUAGES = 5
"""Fewer languages have no common mean: only each of them is shown."""
PANELS = (1, 2, 3, 5, 10)
"""Numbers of annotators whose mean's reliability is given."""
ONE_LANGUAGE = "one language"
FEW_LANGUAGES = "fewer than five languages: see each of them"
FEW_TEXTS = "too few independent texts"
ON_REQUEST = "computed with --decide full"
NOT_PARALLEL = (
    "the items are not parallel: people's mean is measured with error, so that languages whose texts differ in quality show such a "
    "difference where there is none; look at its size"
)
_MOST_CLASSES = 10  # of an ordinal regression
_COMPARISONS = ("rates", "dif", "consistency", "annotators")


class LanguageComparison(msgspec.Struct, frozen=True, kw_only=True):
    """One judge on one metric over languages. Undefined parts are None, and `reasons` says why.

    Attributes:
        key: that of a cell without its language, and the source where there are several.
        languages: for each language `language`, `n` and `groups` (items with two annotators, independent texts); `gap` and `gap_ci`
            (agreement with people minus people's with each other, 95 % t interval over groups); `leniency` and `leniency_ci` (judge
            minus mean label in points, + toward the best), `margin` (a tenth of the scale), `p_level` (of two one-sided tests) and
            `same_level` (shown to be within the margin).
        gap: random-effects mean of the gaps: `mean`, `ci`, `prediction` (where a further language would lie), `tau2`, `q`, `q_p`, `i2`;
            languages are not a random sample of languages. None with fewer than five.
        rates: whether right answers are equally frequent in all languages: `shares`; `p_groups` of the score test with texts as units;
            `chi2`, `df`, `p`, `p_f` and `few_groups` of the Wald test, None where a language agrees always or never.
        dif: whether texts that people score alike are scored differently: `uniform` and `non_uniform` (`lr`, `df`, `p`, `p_groups`,
            `delta_nagelkerke`), `effect`, `shift` in points from the first language, `parallel`, and a `warning` where it is not. `p`
            takes items as independent; `p_groups` is that of the score test with texts as units.
        consistency: of parallel items `items`, `fleiss`, `randolph` and `agreement` of the judge's scores in different languages.
        annotators: for each language the variance of items, annotators and rest, and the reliability of the mean of k annotators.
        reasons: why parts are None, by their name.
    """

    key: dict[str, Any]
    languages: tuple[dict[str, Any], ...]
    gap: dict[str, Any] | None = None
    rates: dict[str, Any] | None = None
    dif: dict[str, Any] | None = None
    consistency: dict[str, Any] | None = None
    annotators: tuple[dict[str, Any], ...] | None = None
    reasons: dict[str, str] = {}

    def flat(self) -> dict[str, Any]:
        """One object for programs, with the parts of the key beside the other values."""
        values = msgspec.structs.asdict(self)
        return {**values.pop("key"), **values}


def language_comparisons(
    laid_out: AlignedData, tests: Sequence[CellTests], compare: CompareOptions, options: DecisionOptions, *, full: bool = False
) -> tuple[LanguageComparison, ...]:
    """What is seen of every judge, metric and condition over languages, sorted by metric and judge.

    Args:
        laid_out: judgments laid beside labels.
        tests: the tests of its cells.
        compare: the rule of the aggregate.
        options: the level of the tests.
        full: whether to compute the parts that need regressions too.
    """
    directions = {metric: votes.classes.direction for judged in laid_out.judged for metric, votes in judged.counted.items()}
    found = []
    parts = dict(language_parts(laid_out.judged, "source" in laid_out.by, compare)) if full else {}
    for key, own in _by_judge(tests):
        rows = tuple(_language(one, directions.get(key["metric"]), options) for one in own)
        gap, why = _gap_over_languages(own)
        reasons = {"gap": why} if why else {}
        more, missing = parts[_hashable(key)] if full else ({}, dict.fromkeys(_COMPARISONS, ON_REQUEST))
        found.append(LanguageComparison(key=key, languages=rows, gap=gap, **more, reasons=reasons | missing))
    return tuple(sorted(found, key=lambda one: sort_key(one.key)))


def _without_language(key: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in key.items() if name != "language"}


def _hashable(key: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(key.items())


def _by_judge(tests: Iterable[CellTests]) -> Iterator[tuple[dict[str, Any], list[CellTests]]]:
    found: dict[tuple[Any, ...], list[CellTests]] = {}
    for one in tests:
        found.setdefault(_hashable(_without_language(one.key)), []).append(one)
    for key, own in found.items():
        yield dict(key), sorted(own, key=lambda one: str(one.key["language"]))


def _language(one: CellTests, direction: int | None, options: DecisionOptions) -> dict[str, Any]:
    sign = direction or 1
    level = one.level._replace(mean=sign * one.level.mean)
    p = same_level_p(level, one.reach) if level.n and one.reach > 0 else math.nan
    return {
        "language": one.key["language"],
        "n": one.n,
        "groups": one.groups,
        "gap": number(one.gap.mean),
        "gap_ci": _interval(one.gap),
        "leniency": number(level.mean),
        "leniency_ci": _interval(level),
        "margin": one.reach,
        "p_level": number(p),
        "same_level": p <= options.alpha,
    }


def _interval(found: ClusterMean) -> tuple[float, float] | None:
    """The 95 % t interval; none where groups do not vary."""
    return cluster_interval(found) if found.error > 0 else None


def _gap_over_languages(tests: Sequence[CellTests]) -> tuple[dict[str, Any] | None, str | None]:
    known = [one.gap for one in tests if one.gap.error > 0]
    if len(tests) < 2:
        return None, ONE_LANGUAGE
    if len(known) < LEAST_LANGUAGES:
        return None, FEW_LANGUAGES if len(tests) < LEAST_LANGUAGES else "fewer than five languages whose gap varies between texts"
    return _as_json(meta_analysis([gap.mean for gap in known], [gap.error**2 for gap in known])), None


def _as_json(found: MetaAnalysis) -> dict[str, Any]:
    return {
        "languages": found.k,
        "mean": number(found.mean),
        "ci": _pair(found.interval),
        "prediction": _pair(found.prediction),
        "tau2": number(found.tau2),
        "q": number(found.q),
        "q_p": number(found.q_p),
        "i2": number(found.i2),
    }


def _pair(ends: tuple[float, float]) -> tuple[float, float] | None:
    return None if math.isnan(ends[0]) else ends


# ---- on request: regressions, parallel items, annotators

Parts = tuple[dict[str, Any], dict[str, str]]
"""The parts of a `LanguageComparison` by name, and the reasons of those that are missing."""


def language_parts(
    judged_data: Iterable[JudgedData], by_source: bool, compare: CompareOptions, names: Collection[str] = _COMPARISONS
) -> Iterator[tuple[tuple[Any, ...], Parts]]:
    """The parts of these names, of every judge, metric and condition, with the sorted pairs of its key."""
    for judged in judged_data:
        rows: dict[tuple[Any, ...], list[Ints]] = {}
        for key, own in rows_by_cell(judged, by_source):
            rows.setdefault(_hashable(_without_language(key)), []).append(own)
        judgments = _JudgedLanguages(judged, compare)
        for judge, parts in rows.items():
            yield judge, judgments.parts(dict(judge)["metric"], np.sort(np.concatenate(parts)), names)


class _JudgedLanguages:
    """Judgments of one data set by language."""

    def __init__(self, judged: JudgedData, compare: CompareOptions) -> None:
        self.judged = judged
        self.right, self.score = unit_hits(judged.units, judged.counted, compare)
        self.language = item_key(judged.data, "language")
        self.cluster, self.parallel = text_clusters(judged.data), parallel_numbers(judged.data)
        self.labels = AnnotatorLabels(judged.data, judged.counted)
        self.known_annotators: dict[str, tuple[tuple[dict[str, Any], ...] | None, str | None]] = {}

    def parts(self, metric: str, rows: Ints, names: Collection[str]) -> Parts:
        items, question = np.unique(self.judged.units.item[rows], return_inverse=True)
        makers: dict[str, Callable[[], tuple[Any, str | None]]] = {
            "rates": lambda: self._rates(rows),
            "dif": lambda: self._dif(metric, rows, items, question),
            "consistency": lambda: self._consistency(metric, rows, items, question),
            "annotators": lambda: self._annotators(metric),
        }
        found = {name: makers[name]() for name in names}
        values = {name: value for name, (value, _) in found.items() if value is not None}
        return values, {name: str(reason) for name, (_, reason) in found.items() if reason}

    def _codes(self, items: Ints) -> tuple[list[str], Ints]:
        """The languages of some items in order, and the number of each item's."""
        codes, where = np.unique(self.language.codes[items], return_inverse=True)
        names = [str(self.language.values[code]) for code in codes]
        order = sorted(range(len(names)), key=names.__getitem__)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return sorted(names), rank[where]

    def _rates(self, rows: Ints) -> tuple[dict[str, Any] | None, str | None]:
        items = self.judged.units.item[rows]
        languages, where = self._codes(items)
        if len(languages) < 2:
            return None, ONE_LANGUAGE
        found: RateComparison = compare_rates(self.right[rows], where, self.cluster[items], len(languages))
        if math.isnan(found.p_groups):
            return None, found.reason or FEW_TEXTS
        shares = dict(zip(languages, found.share.tolist(), strict=True))
        tests = {name: number(getattr(found, name)) for name in ("p_groups", "chi2", "p", "p_f")}
        return {"shares": shares, "df": found.df, **tests, "few_groups": found.few_groups}, found.reason

    def _scores(self, metric: str, rows: Ints, question: Ints) -> Ints:
        """One class code an item, the mean of its repeats; -1 where none could be read."""
        score = self.score[rows]
        means = mean_of_questions(question, np.where(score >= 0, score, math.nan).astype(np.float64))
        return np.where(np.isnan(means), -1, np.round(means)).astype(np.int64)

    def _dif(self, metric: str, rows: Ints, items: Ints, question: Ints) -> tuple[dict[str, Any] | None, str | None]:
        votes = self.judged.counted[metric]
        k = len(votes.classes.scores)
        languages, where = self._codes(items)
        if len(languages) < 2:
            return None, ONE_LANGUAGE
        if votes.classes.kind == "nominal" or not 2 <= k <= _MOST_CLASSES:
            return None, "the scale has no order" if votes.classes.kind == "nominal" else f"more than {_MOST_CLASSES} classes, or one"
        counts, numbers = votes.counts[items], _numbers(votes.classes)
        raters = counts.sum(axis=1)
        human = np.where(raters > 0, counts @ numbers / np.maximum(raters, 1), math.nan)
        cluster = self.cluster[items]
        shared = None if len(np.unique(cluster)) == len(cluster) else cluster
        if len(np.unique(cluster)) <= len(languages):
            return None, FEW_TEXTS
        score = self._scores(metric, rows, question)
        found = differential_functioning(score, human, where, len(languages), k, values=votes.classes.values, groups=shared)
        return (None, found.reason) if found.reason else (_dif_as_json(found, languages, self._is_parallel(items, where)), None)

    def _is_parallel(self, items: Ints, where: Ints) -> bool:
        """Whether every item stands beside one in each other language."""
        ids = self.parallel[items]
        if (ids < 0).any():
            return False
        seen = np.zeros((int(ids.max()) + 1, int(where.max()) + 1), bool)
        seen[ids, where] = True
        return bool(seen[np.unique(ids)].all())

    def _consistency(self, metric: str, rows: Ints, items: Ints, question: Ints) -> tuple[dict[str, Any] | None, str | None]:
        ids, score = self.parallel[items], self._scores(metric, rows, question)
        languages, where = self._codes(items)
        kept = ids >= 0
        if len(languages) < 2:
            return None, ONE_LANGUAGE
        if not kept.any():
            return None, "no item has a parallel_id"
        rank = np.unique(ids[kept], return_inverse=True)[1]
        table = np.full((int(rank.max()) + 1, len(languages)), math.nan)
        if len(np.unique(rank * len(languages) + where[kept])) < len(rank):
            return None, "several items of one language share a parallel_id"
        table[rank, where[kept]] = np.where(score[kept] >= 0, score[kept], math.nan)
        table = table[(~np.isnan(table)).sum(axis=1) >= 2]
        if not len(table):
            return None, "no parallel item has scores in two languages"
        found = parallel_consistency(table, len(self.judged.counted[metric].classes.scores))
        pairs = {f"{languages[a]} {languages[b]}": number(found.pairwise[a, b]) for b in range(len(languages)) for a in range(b)}
        fleiss = found.fleiss
        values = {"fleiss": number(fleiss.value), "randolph": number(found.randolph), "agreement": number(found.agreement)}
        return {"items": len(table), **values, "pairs": pairs, "reason": fleiss.reason}, None

    def _annotators(self, metric: str) -> tuple[tuple[dict[str, Any], ...] | None, str | None]:
        if metric not in self.known_annotators:
            self.known_annotators[metric] = self._components(metric)
        return self.known_annotators[metric]

    def _components(self, metric: str) -> tuple[tuple[dict[str, Any], ...] | None, str | None]:
        about, votes = self.judged.data.about, self.judged.counted[metric]
        if about.annotators not in ("persistent", "positional"):
            return None, f"annotators are {about.annotators}"
        if votes.classes.kind == "nominal":
            return None, "the scale has no order"
        found = []
        labelled = np.flatnonzero(votes.counts.sum(axis=1) >= 2)
        by_language = rows_by_number(self.language.codes[labelled], len(self.language.values))
        for code in sorted(range(len(self.language.values)), key=lambda code: str(self.language.values[code])):
            items = labelled[by_language[code]]
            if len(items):
                table = self.labels.table(metric, items)
                own = _components_of(table and table.codes, _numbers(votes.classes), persistent=about.annotators == "persistent")
                found.append({"language": self.language.values[code], "items": len(items), **own})
        return (tuple(found), None) if found else (None, "no item has two annotators")


def _numbers(classes: Classes) -> Floats:
    return np.asarray(classes.values if classes.values is not None else range(len(classes.scores)), np.float64)


def _dif_as_json(found: DifferentialFunctioning, languages: Sequence[str], parallel: bool) -> dict[str, Any]:
    assert found.uniform and found.non_uniform
    size = found.uniform.delta_nagelkerke
    tests = {
        name: {
            "lr": test.lr,
            "df": test.df,
            "p": test.p,
            "p_groups": number(test.p_groups),
            "delta_nagelkerke": test.delta_nagelkerke,
        }
        for name, test in (("uniform", found.uniform), ("non_uniform", found.non_uniform))
    }
    return {
        "n": found.n,
        **tests,
        "effect": "negligible" if size < NEGLIGIBLE else "moderate" if size <= LARGE else "large",
        "shift": dict(zip(languages, found.shift.tolist(), strict=True)),
        "parallel": parallel,
        "warning": None if parallel else NOT_PARALLEL,
    }


def _components_of(table: Floats | None, numbers: Floats, *, persistent: bool) -> dict[str, Any]:
    """Variance components of one language's labels, and the reliability of means of annotators."""
    if table is None:
        return _no_components("more than 200 annotators")
    gaps = np.isnan(table)
    scores = np.where(gaps, math.nan, numbers[np.where(gaps, 0, table).astype(np.int64)])
    if not persistent:
        scores = _side_by_side(scores)
    if min(scores.shape) < 2:
        return _no_components("fewer than two items or two annotators")
    if not persistent:
        found = one_way_components(scores)
    elif not gaps.any():
        found = two_way_components(scores)
    else:
        found = mixed_components(scores)
    if found.reason:
        return _no_components(found.reason)
    panel = reliability(found, PANELS)
    return {
        **_variances(found),
        "reliability": [{"annotators": int(k), "relative": number(one), "absolute": number(level)} for k, one, level in panel],
        "reason": None,
    }


def _variances(found: Components) -> dict[str, Any]:
    annotator = None if found.annotator is None else number(found.annotator)
    return {"item": number(found.item), "annotator": annotator, "residual": number(found.residual), "cut": list(found.cut)}


def _no_components(reason: str) -> dict[str, Any]:
    return {"item": None, "annotator": None, "residual": None, "cut": [], "reliability": [], "reason": reason}


def _side_by_side(scores: Floats) -> Floats:
    """The scores of the items that have the commonest number of labels, without gaps; which annotator gave which does not matter."""
    known = ~np.isnan(scores)
    number_of = known.sum(axis=1)
    usual = int(np.bincount(number_of).argmax()) if len(number_of) else 0
    kept = number_of == usual
    return scores[kept][known[kept]].reshape(-1, usual) if usual else np.empty((0, 0))


def language_notes(found: Sequence[LanguageComparison]) -> list[str]:
    """Sentences for readers about what cannot be said of languages."""
    notes = dict.fromkeys(
        f"Across languages: {one.reasons['gap']}." for one in found if one.reasons.get("gap") and one.reasons["gap"] != ON_REQUEST
    )
    warnings = dict.fromkeys(f"Scores at one human score: {one.dif['warning']}." for one in found if one.dif and one.dif["warning"])
    return [*notes, *warnings]
