"""Comparability of one judge's scores across languages, metric by metric.

The level of the judge in each language and the gap to people over languages cost nothing and are always there. What needs the regressions
of statsmodels, whose import alone takes a second, is computed on request (`language_parts`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from harness.decide.cell_tests import CellTests, same_level_p
from harness.decide.language_parts import (
    COMPARISONS,
    ONE_LANGUAGE,
    AnnotatorVariance,
    LanguageConsistency,
    LanguageFunctioning,
    LanguageParts,
    LanguageRates,
    language_parts,
    without_language,
)
from harness.decide.options import DecisionOptions
from harness.measure.cells import number, sort_key
from harness.measure.compare import JudgedTables
from harness.measure.options import MeasureOptions
from harness.stats import meta_analysis
from harness.stats.intervals.cluster_mean import ClusterMean

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
    for key, cells in _group_by_judge(tests):
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


def _group_by_judge(tests: Iterable[CellTests]) -> Iterator[tuple[dict[str, Any], list[CellTests]]]:
    by_judge: dict[tuple[Any, ...], list[CellTests]] = {}
    for cell in tests:
        by_judge.setdefault(without_language(cell.key), []).append(cell)
    for key, cells in by_judge.items():
        yield dict(key), sorted(cells, key=lambda cell: str(cell.key["language"]))


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
