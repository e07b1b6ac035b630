"""Regress choices between two texts, people's and judges', on the difference of their lengths, the systems and the place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np

from harness.data.dataset import Dataset
from harness.judges import traits_of
from harness.measure.cells import number
from harness.measure.judged_table import JudgedTable
from harness.model import CONDITION
from harness.stats import benjamini_yekutieli
from harness.stats.core.arrays import Floats, Ints
from harness.stats.ranking.bradley_terry import AdjustedPreference, length_overlap, preference_by_length
from harness.text import graphemes

ALPHA = 0.05
LEAST_GROUPS, LEAST_PAIRS = 8, 30
NAMED = 3  # of what is left out
PEOPLE = "people"
HOW = (
    "Pairs: the log-odds of a choice by a Bradley-Terry model with the place, the systems and the difference of the logarithms of the "
    "lengths, in standard deviations; errors by group. Length and quality go together: what people choose too is no bias of a judge, and "
    "an adjustment takes real quality away. Systems are in log-odds against the mean of all."
)


class PairedSystem(msgspec.Struct, frozen=True):
    """A system's strength in log-odds against the mean of all, as it is and beside the length."""

    name: str
    raw: float
    adjusted: float


class ExplainedPairs(msgspec.Struct, frozen=True, kw_only=True):
    """Effects on the choices of one judge and condition, or of people. Undefined numbers are None.

    Attributes:
        key: metric, judge (`people`) and condition.
        n, groups: choices between different texts, and independent groups.
        times_longer: how many times as long as the other a text is that is one standard deviation longer.
        length, low, high: log-odds for one standard deviation, with a 95 % interval; q is corrected over all rows of pairs.
        place, place_adjusted: log-odds of the text that is read first, without and with the length.
        detectable: the least length effect that would be found with a power of 80 % at 5 %.
        systems: their strengths; empty where pairs do not name two systems.
        left_out: why pairs or systems are left out, or why nothing is fitted.
    """

    key: dict[str, Any]
    n: int
    groups: int
    times_longer: float | None = None
    length: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    q: float | None = None
    detectable: float | None = None
    place: float | None = None
    place_adjusted: float | None = None
    systems: tuple[PairedSystem, ...] = ()
    left_out: tuple[str, ...]
    outcome: Literal["shown", "not shown", "refused"]


class _Choices(NamedTuple):
    """(choices,) the items, whether the second text was read first, and how much of the choice goes to the item's first text."""

    item: Ints
    swapped: Ints
    share: Floats

    def take(self, rows: Any) -> _Choices:
        return _Choices(self.item[rows], self.swapped[rows], self.share[rows])


def explain_pairs(judged: JudgedTable) -> tuple[ExplainedPairs, ...]:
    """Fit the choices of people and of every judge and condition, for every metric that compares two texts."""
    data, texts = judged.data, _Texts(judged.data)
    people = {**dict.fromkeys(CONDITION), "judge": PEOPLE}
    rows = [
        _explain_choices(key, choices, texts)
        for metric in data.scales
        if data.scales[metric].swap
        for key, choices in (({"metric": metric, **people}, _choices_of_people(judged, metric)), *_choices_of_judges(judged, metric))
        if len(choices.item)
    ]
    q = benjamini_yekutieli([np.nan if row.p is None else row.p for row in rows])
    return tuple(
        row if row.p is None else msgspec.structs.replace(row, q=number(row_q), outcome="shown" if row_q <= ALPHA else "not shown")
        for row, row_q in zip(rows, q.tolist(), strict=True)
    )


def _read_credits(data: Dataset, metric: str, scores: Sequence[Any]) -> Floats:
    share = data.scales[metric].share_of_first
    return np.array([np.nan if score is None else share.get(score, np.nan) for score in scores], np.float64)


def _choices_of_people(judged: JudgedTable, metric: str) -> _Choices:
    data, labels = judged.data, judged.data.labels
    item = labels.item.recode(data.positions).astype(np.int64)
    rows = np.flatnonzero(labels.metric.equals(metric) & np.isin(item, judged.item))
    return _Choices(item[rows], np.zeros(len(rows), np.int64), _read_credits(data, metric, list(labels.score.take(rows))))


def _choices_of_judges(judged: JudgedTable, metric: str) -> Iterator[tuple[dict[str, Any], _Choices]]:
    table = judged.take(np.flatnonzero(judged.judgments.metric.equals(metric)))
    rows = table.judgments
    share = _read_credits(judged.data, metric, list(rows.score))
    swapped = rows.order.equals("swapped").astype(np.int64)
    conditions = list(zip(*(getattr(rows, name) for name in CONDITION), strict=True))
    codes = {condition: code for code, condition in enumerate(dict.fromkeys(conditions))}
    code = np.array([codes[condition] for condition in conditions], np.int64)
    for condition, number_of_condition in codes.items():
        if not traits_of(str(condition[0])).is_baseline:
            yield (
                {"metric": metric, **dict(zip(CONDITION, condition, strict=True))},
                _Choices(table.item, swapped, share).take(code == number_of_condition),
            )


class _Texts:
    """The two texts of every item: how much longer the first is, whether both are the same, their systems and groups."""

    def __init__(self, data: Dataset) -> None:
        logs = [np.array([_log_length(item.fields.get(name)) for item in data.items]) for name in ("output_a", "output_b")]
        self.longer = logs[0] - logs[1]
        self.same = np.array([item.fields.get("output_a") == item.fields.get("output_b") for item in data.items])
        names = [[str(item.fields.get(name) or "") for item in data.items] for name in ("system_a", "system_b")]
        self.names = sorted({name for side in names for name in side})
        self.systems = [np.array([self.names.index(name) for name in side], np.int64) for side in names]
        self.group = data.clusters.codes.astype(np.int64)


def _log_length(text: object) -> float:
    return float(np.log(len(graphemes(text)))) if isinstance(text, str) and text else np.nan


def _explain_choices(key: dict[str, Any], choices: _Choices, texts: _Texts) -> ExplainedPairs:
    usable = choices.take(~np.isnan(choices.share) & ~np.isnan(texts.longer[choices.item]) & ~texts.same[choices.item])
    left_out = [] if len(usable.item) else ["no pair has two different texts and a choice"]
    # Drop the choices between two systems of which one is nearly always longer; return the rest and the names of such systems.
    first, second = (side[usable.item] for side in texts.systems)
    refused = [overlap for overlap in length_overlap(first, second, texts.longer[usable.item]) if overlap.hardly]
    rows = np.ones(len(usable.item), bool)
    for overlap in refused:
        a, b = overlap.pair
        rows &= ~(((first == a) & (second == b)) | ((first == b) & (second == a)))
    words = [f"{texts.names[a]} against {texts.names[b]}" for a, b in (overlap.pair for overlap in refused)]
    usable, hardly = usable.take(rows), words
    if hardly:
        left_out.append(f"lengths hardly overlap, so no adjustment: {_list_first(hardly)}")
    usable, one_way = _drop_one_sided(usable, texts)
    if one_way:
        left_out.append(f"win all or no choices, so no finite strength: {_list_first(one_way)}")
    groups, longer = len(np.unique(texts.group[usable.item])), texts.longer[usable.item]
    spread = float(longer.std()) if len(longer) else 0.0
    if len(usable.item) < LEAST_PAIRS or groups < LEAST_GROUPS:
        left_out.append(f"{len(usable.item)} choices in {groups} groups are left; {LEAST_PAIRS} in {LEAST_GROUPS} are needed")
    elif spread <= 1e-9:
        left_out.append("all texts are as long as the other")
    else:
        try:
            return _fit_choices(key, usable, texts, spread, left_out)
        except (ValueError, np.linalg.LinAlgError) as err:
            left_out.append(str(err))
    return ExplainedPairs(key=key, n=len(usable.item), groups=groups, left_out=tuple(left_out), outcome="refused")


def _drop_one_sided(choices: _Choices, texts: _Texts) -> tuple[_Choices, list[str]]:
    """Drop systems that win all or none of their choices; return the other choices and the names of these systems.

    Where pairs do not name two systems, all choices remain.
    """
    dropped: list[str] = []
    while True:
        first, second = (side[choices.item] for side in texts.systems)
        differing = first != second
        sides = np.concatenate([first[differing], second[differing]])
        won = np.concatenate([choices.share[differing], 1 - choices.share[differing]])
        ends = [code for code in np.unique(sides).tolist() if won[sides == code].mean() in (0.0, 1.0)]
        if not ends:
            return choices, dropped
        dropped += [texts.names[code] for code in ends]
        choices = choices.take(~(differing & (np.isin(first, ends) | np.isin(second, ends))))


def _list_first(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return f"{'; '.join(names[:NAMED])}{more}"


def _fit_choices(key: dict[str, Any], choices: _Choices, texts: _Texts, spread: float, left_out: list[str]) -> ExplainedPairs:
    from scipy.special import stdtrit

    swapped = choices.swapped == 1
    system_a, system_b = (side[choices.item] for side in texts.systems)
    systems, codes = np.unique(np.concatenate([system_a, system_b]), return_inverse=True)
    first, second = (np.where(swapped, *sides) for sides in (np.split(codes, 2)[::-1], np.split(codes, 2)))
    longer = np.where(swapped, -1, 1) * texts.longer[choices.item] / spread
    group = texts.group[choices.item]
    fit: AdjustedPreference = preference_by_length(first, second, np.where(swapped, 1 - choices.share, choices.share), longer, group)
    groups = len(np.unique(group))
    reach, power = (float(stdtrit(groups - 1, level)) * fit.length_error for level in (0.975, 0.8))
    return ExplainedPairs(
        key=key,
        n=len(choices.item),
        groups=groups,
        times_longer=float(np.exp(spread)),
        length=fit.length,
        low=fit.length - reach,
        high=fit.length + reach,
        p=number(fit.length_p),
        detectable=reach + power,
        place=fit.raw_place,
        place_adjusted=fit.place,
        systems=_sort_systems([texts.names[code] for code in systems], fit),
        left_out=tuple(left_out),
        outcome="not shown",
    )


def _sort_systems(names: Sequence[str], fit: AdjustedPreference) -> tuple[PairedSystem, ...]:
    if len(names) < 2:
        return ()
    raw, adjusted = fit.raw - fit.raw.mean(), fit.adjusted - fit.adjusted.mean()
    systems = (
        PairedSystem(name, float(strength), float(adjusted_strength))
        for name, strength, adjusted_strength in zip(names, raw, adjusted, strict=True)
    )
    return tuple(sorted(systems, key=lambda system: -system.raw))
