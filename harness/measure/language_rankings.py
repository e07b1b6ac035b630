"""The ranking of judges in several languages: how alike the rankings are, who is best in each, and which order is reversed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import msgspec
import numpy as np

from harness.measure.judged_table import JudgedTable
from harness.measure.label_counts import numbers
from harness.model import plainness
from harness.stats.core.arrays import Floats, Ints
from harness.stats.intervals.multiplicity import holm

LEAST_GROUPS = 8  # independent texts of a language
DRAWS = 1000
_LEVEL = 0.05


class BestJudge(msgspec.Struct, frozen=True):
    """The judge that agrees most with people in a language, and how sure that is.

    Attributes:
        language, judge: where, and who.
        value: its mean agreement with the annotators of a text, or closeness to their mean where scores are numbers; in [0, 1].
        probability: the share of resamples of the independent texts in which it is the best.
        texts: that every judge was asked about.
    """

    language: str
    judge: str
    value: float
    probability: float
    texts: int


class LanguageRanking(msgspec.Struct, frozen=True, kw_only=True):
    """The ranking of the same judges on one metric in two languages or more, in each on texts that all of them were asked about.

    Attributes:
        metric, judges: what is ranked.
        best: the best judge of each language.
        tau, tau_ci: mean of Kendall's tau over the pairs of languages, with the 2.5 % and 97.5 % points of resamples; None with two judges.
        tau_by_pair: `(language, language, tau)`.
        reversed: `(judge, other, language, other language)`: the first is shown to be better in the first language, the other in the other
            one (Student's t over groups, Holm over all pairs of judges and languages).
    """

    metric: str
    judges: tuple[str, ...]
    best: tuple[BestJudge, ...]
    tau: float | None = None
    tau_ci: tuple[float, float] | None = None
    tau_by_pair: tuple[tuple[str, str, float], ...] = ()
    reversed: tuple[tuple[str, str, str, str], ...] = ()


def language_rankings(judged: JudgedTable, seed: int = 0) -> Iterator[LanguageRanking]:
    """Yield the ranking of judges on each metric with two judges and two languages; a judge stands with its plainest variant.

    Judges that were not asked in one of the languages are left out of all of them, unless fewer than two would stay.
    """
    agreement = _agreement(judged)
    language, judge = judged.column("language"), judged.column("judge")
    for metric, rows in judged.rows_by_metric.items():
        rows = _plainest(judged, rows[~np.isnan(agreement[rows])])
        tables: dict[str, tuple[list[str], Floats, Ints]] = {}
        for code, tag in enumerate(language.values):
            language_rows = rows[language.codes[rows] == code]
            names = sorted({str(judge.values[number]) for number in np.unique(judge.codes[language_rows])})
            if len(names) >= 2:
                tables[str(tag)] = (names, *_texts_of_all(judged, language_rows, names, agreement))
        tables = {tag: table for tag, table in tables.items() if len(np.unique(table[2])) >= LEAST_GROUPS}
        everywhere = set.intersection(*(set(names) for names, _, _ in tables.values())) if tables else set()
        if len(tables) < 2 or len(everywhere) < 2:
            continue
        judges = tuple(sorted(everywhere))
        chosen = {tag: (values[:, [names.index(name) for name in judges]], group) for tag, (names, values, group) in sorted(tables.items())}
        yield _compare(metric, judges, chosen, seed)


def _agreement(judged: JudgedTable) -> Floats:
    """Return of each row the share of the text's annotators who gave the judge's score, or how close it is to their mean; NaN without
    labels. A failure agrees with nobody.
    """
    agreement, score = np.full(len(judged), np.nan), numbers(judged.judgments.score)
    for metric, rows in judged.rows_by_metric.items():
        labels, item = judged.labels[metric], judged.item[rows]
        if labels.classes.order_only:
            continue
        if labels.scores is not None:
            mean = labels.scores.raw_mean[item]
            length = labels.classes.reach or float(np.ptp(labels.scores.raw)) or 1.0
            close = 1 - np.abs(score[rows] - mean) / length
            agreement[rows] = np.where(np.isnan(mean), np.nan, np.where(np.isnan(score[rows]), 0.0, close))
            continue
        code, raters = judged.code[rows], labels.raters[item]
        with np.errstate(invalid="ignore", divide="ignore"):
            share = labels.counts[item, np.maximum(code, 0)] / raters
        agreement[rows] = np.where(raters == 0, np.nan, np.where(code < 0, 0.0, share))
    return agreement


def _plainest(judged: JudgedTable, rows: Ints) -> Ints:
    """Return the rows of each judge's plainest variant, and of its lowest temperature."""
    judge, variant, temperature = (judged.column(name) for name in ("judge", "variant", "temperature"))
    keys = np.stack([judge.codes[rows], variant.codes[rows], temperature.codes[rows]])
    plainest: dict[int, tuple[Any, ...]] = {}
    for number, how, heat in np.unique(keys, axis=1).T.tolist():
        key = (*plainness(str(variant.values[how]) if how >= 0 else ""), float(temperature.values[heat]) if heat >= 0 else 0.0, how, heat)
        plainest[number] = min(plainest.get(number, key), key)
    wanted = {(number, *key[-2:]) for number, key in plainest.items()}
    return rows[[tuple(column) in wanted for column in keys.T.tolist()]] if len(rows) else rows


def _texts_of_all(judged: JudgedTable, rows: Ints, names: list[str], agreement: Floats) -> tuple[Floats, Ints]:
    """Return the mean agreement (texts, judges) over repeats, on the texts that all judges were asked about, and the texts' groups."""
    judge = judged.column("judge")
    number = np.array([names.index(str(name)) if str(name) in names else -1 for name in judge.values])[judge.codes[rows]]
    items, text = np.unique(judged.item[rows], return_inverse=True)
    shape = (len(items), len(names))
    total, times = np.zeros(shape), np.zeros(shape)
    np.add.at(total, (text, number), agreement[rows])
    np.add.at(times, (text, number), 1)
    of_all = (times > 0).all(axis=1)
    return total[of_all] / times[of_all], judged.groups[items[of_all]].astype(np.int64)


def _compare(metric: str, judges: tuple[str, ...], tables: dict[str, tuple[Floats, Ints]], seed: int) -> LanguageRanking:
    from scipy.special import stdtr

    rng = np.random.default_rng(seed)
    values, draws, best = dict[str, Floats](), dict[str, Floats](), list[BestJudge]()
    pairs = list(combinations(range(len(judges)), 2))
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    p, order = [], []
    for tag, (table, group) in tables.items():
        groups, group_code = np.unique(group, return_inverse=True)
        sums, size = np.zeros((len(groups), len(judges))), np.bincount(group_code).astype(np.float64)
        np.add.at(sums, group_code, table)
        times = rng.multinomial(len(groups), np.full(len(groups), 1 / len(groups)), size=DRAWS)
        values[tag], draws[tag] = table.mean(axis=0), times @ sums / (times @ size)[:, None]
        top = int(values[tag].argmax())
        probability = float((draws[tag].argmax(axis=1) == top).mean())
        best.append(BestJudge(tag, judges[top], float(values[tag][top]), probability, len(table)))
        difference = values[tag][first] - values[tag][second]
        error = (draws[tag][:, first] - draws[tag][:, second]).std(axis=0, ddof=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            p.append(np.where(error > 0, 2 * stdtr(len(groups) - 1, -np.abs(difference) / error), 1.0))
        order.append(np.sign(difference))
    is_shown = (holm(np.concatenate(p)) <= _LEVEL).reshape(len(tables), len(pairs)) * np.array(order)
    tags = list(tables)
    reversals = [
        (judges[a], judges[b], tags[int(ups[0])], tags[int(downs[0])])
        for number, (a, b) in enumerate(pairs)
        if len(ups := np.flatnonzero(is_shown[:, number] > 0)) and len(downs := np.flatnonzero(is_shown[:, number] < 0))
    ]
    ranking = LanguageRanking(metric=metric, judges=judges, best=tuple(best), reversed=tuple(reversals))
    if len(judges) < 3:
        return ranking
    signs = {tag: np.sign(values[tag][first] - values[tag][second]) for tag in tags}
    drawn = {tag: np.sign(draws[tag][:, first] - draws[tag][:, second]) for tag in tags}
    by_pair = tuple((a, b, float((signs[a] * signs[b]).mean())) for a, b in combinations(tags, 2))
    means = np.mean([(drawn[a] * drawn[b]).mean(axis=1) for a, b in combinations(tags, 2)], axis=0)
    low, high = np.quantile(means, [0.025, 0.975])
    tau = float(np.mean([value for _, _, value in by_pair]))
    return msgspec.structs.replace(ranking, tau=tau, tau_ci=(float(low), float(high)), tau_by_pair=by_pair)
