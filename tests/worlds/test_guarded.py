"""Guarded tests: how often they reject a hypothesis that holds, in groups of unequal size whose texts are alike.

`python -m tests.worlds.test_guarded [R]` prints the tables. They call the tests of the sections: a panel minus the best of its members, the
rates of several languages, differential functioning, and a judge that gives one class for everything.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pytest
from numpy.random import Generator
from scipy.special import logit, ndtr

from harness.decide.options import DecisionOptions
from harness.stats import holm
from harness.stats.core.arrays import Floats, Ints
from harness.stats.core.groups import GroupSums
from harness.stats.estimation.misclassification import corrected_shares
from harness.stats.intervals.judge_tests import JudgeSums, judge_tests, one_class_tests
from harness.stats.intervals.paired import difference_from_best
from harness.stats.language_differences import compare_rates, differential_functioning
from tests.worlds.rows import Row, table
from tests.worlds.worlds import FALSE, HIT, group_sizes

Groups = tuple[int, float, float]
"""Their number, mean size and spread of sizes."""
LEVEL = 0.05


def grouped(rng: Generator, layout: Groups) -> Ints:
    """Return the group of each text."""
    groups, mean, spread = layout
    return np.repeat(np.arange(groups), group_sizes(rng, groups, mean, spread))


def alike(rng: Generator, group: Ints, columns: int, correlation: float) -> Floats:
    """Return uniform numbers (texts, columns): those of one column are correlated within a group, and those of a text among the columns."""
    shared = rng.standard_normal((int(group.max()) + 1, columns))[group]
    text = rng.standard_normal((len(group), 1))
    apart = rng.standard_normal((len(group), columns))
    return np.asarray(ndtr(np.sqrt(correlation) * shared + np.sqrt(0.3) * text + np.sqrt(0.7 - correlation) * apart))


PANELS = {  # groups, how often each member is right, of which the panel is as good as the best
    "panel minus its best member: 8 equal members, 60 single texts": ((60, 1, 0), (0.75,) * 8, "1.4"),
    "panel minus its best member: 3 equal members, 60 unequal groups": ((60, 4, 0.8), (0.8,) * 3, "–"),
    "panel minus its best member: 5 members, one is best, 25 unequal groups": ((25, 6, 0.8), (0.85, 0.7, 0.7, 0.65, 0.6), "–"),
    "panel minus its best member: 2 members, nearly always right, 100 single texts": ((100, 1, 0), (0.96, 0.96), "–"),
}


def panel_differs(rng: Generator, layout: Groups, skills: tuple[float, ...]) -> bool:
    """Return True if a panel that is right as often as its best member is said to differ from it."""
    group = grouped(rng, layout)
    right = alike(rng, group, len(skills) + 1, 0.2) < np.array([max(skills), *skills])
    return bool(difference_from_best(right[:, 0], right[:, 1:], group, 0.0).p <= LEVEL)


RATES = {  # languages, groups, and whether each group has texts in all languages
    "rates: nine languages, the same 20 texts": (9, (20, 1, 0), True, "0.6"),
    "rates: nine languages, the same 40 texts": (9, (40, 1, 0), True, "2.0"),
    "rates: five languages, 30 unequal groups that span them": (5, (30, 3, 0.8), True, "–"),
    "rates: four languages, 20 unequal groups in each": (4, (20, 5, 0.8), False, "–"),
    "rates: two languages, 12 unequal groups in each": (2, (12, 8, 0.8), False, "–"),
}


def rates_differ(rng: Generator, languages: int, layout: Groups, spans: bool) -> bool:
    """Return True if a judge that is right equally often in all languages is said not to be."""
    if spans:
        group = grouped(rng, layout)
        uniform = alike(rng, group, languages, 0.2)
        hit, group, language = uniform.ravel() < 0.85, np.repeat(group, languages), np.tile(np.arange(languages), len(group))
    else:
        group = grouped(rng, (layout[0] * languages, *layout[1:]))
        hit, language = alike(rng, group, 1, 0.2)[:, 0] < 0.85, group // layout[0]
    return bool(compare_rates(hit, language, group, languages).p_groups <= LEVEL)


FUNCTIONING = {  # languages, groups, and how much better the texts of each further language are, in standard deviations
    "dif: 2 languages, 20 unequal groups in each": (2, (20, 5, 0.8), 0.0, "5.5"),
    "dif: 3 languages, 20 unequal groups in each": (3, (20, 5, 0.8), 0.0, "5.8"),
    "dif: 3 languages, 40 unequal groups in each": (3, (40, 5, 0.8), 0.0, "–"),
    "dif: 2 languages of different quality, 40 unequal groups in each": (2, (40, 5, 0.8), 0.6, "–"),
}


def functions_differently(rng: Generator, languages: int, layout: Groups, better: float) -> tuple[bool, bool]:
    """Return whether differential functioning is found, uniform and not, where the judge follows people's mean in the same way everywhere.

    Three people of different strictness give 0 to 4. The judge's log-odds rise by 1.2 a point of their mean; its deviations are correlated
    within groups.
    """
    group = grouped(rng, (layout[0] * languages, *layout[1:]))
    language = group // layout[0]
    quality = rng.standard_normal(len(group)) + better * language
    people = np.clip(np.round(2 + quality[:, None] + [0.4, 0.0, -0.6] + 0.6 * rng.standard_normal((len(group), 3))), 0, 4).mean(1)
    latent = 1.2 * people + logit(alike(rng, group, 1, 0.2)[:, 0])
    judge = (latent[:, None] > [0.4, 1.6, 3.0, 4.6]).sum(1)
    found = differential_functioning(judge, people, language, languages, 5, groups=group)
    return tuple(test is not None and test.p_groups <= LEVEL for test in (found.uniform, found.non_uniform))  # type: ignore[return-value]


ONE_CLASS = {  # texts in groups, and the share of the commonest class
    "one class, any of 15 cells: a judge like people, 90 % of one class, 30 single texts": ((30, 1, 0), 0.9, "0.0"),
    "one class, any of 15 cells: a judge like people, 90 % of one class, 200 single texts": ((200, 1, 0), 0.9, "–"),
    "one class, any of 15 cells: a judge like people, 80 % of one class, 25 unequal groups": ((25, 4, 0.8), 0.8, "–"),
    "one class, any of 15 cells: a judge like people, 70 % of one class, 20 unequal groups": ((20, 10, 0.8), 0.7, "–"),
}
CONSTANT = {  # the same of a constant judge: the share of cells in which that is shown
    "a constant judge, 90 % of one class, 60 single texts": ((60, 1, 0), 0.9, "89"),
    "a constant judge, 80 % of one class, 60 unequal groups": ((60, 3, 0.8), 0.8, "–"),
    "a constant judge, 80 % of one class, 25 unequal groups": ((25, 8, 0.8), 0.8, "–"),
}


def shown_constant(rng: Generator, layout: Groups, share: float, constant: bool) -> Floats:
    """Return the corrected p of 15 cells that a judge gives one class for everything: one of three people's labels, or a constant."""
    cells = []
    for _ in range(15):
        group = grouped(rng, layout)
        shares = rng.beta(share * 4, (1 - share) * 4, int(group.max()) + 1)[group]
        truth = rng.random(len(group)) > shares
        labels = np.where(rng.random((len(group), 4)) < [0.9, 0.85, 0.75, 0.85], truth[:, None], rng.random((len(group), 4)) > share)
        judge = np.zeros(len(group)) if constant else labels[np.arange(len(group)), rng.integers(0, 4, len(group))].astype(float)
        people = labels[:, :3] if constant else labels
        cells.append((np.stack([(~people).sum(1), people.sum(1)], axis=1), judge, group))
    return np.asarray(holm([cell.p for cell in one_class_tests(cells)]))


RARE_SHARE, FINDS = 0.1, 0.7
TOGETHER = {  # groups, the strength of the beta distribution of the rare class over groups, and any false one of 3 and of 15 cells before
    "60 unequal groups, evenly": ((60, 8, 0.8), 20.0, ("1.9", "1.7")),
    "60 unequal groups, in a third of them": ((60, 8, 0.8), 1.0, ("2.9", "3.5")),
    "20 unequal groups, evenly": ((20, 10, 0.8), 20.0, ("0.6", "0.2")),
    "20 unequal groups, in a third of them": ((20, 10, 0.8), 1.0, ("3.0", "2.8")),
    "20 unequal groups, in a tenth of them": ((20, 10, 0.8), 0.1, ("23.6", "34.2")),
    "200 single texts": ((200, 1, 0.0), 1.0, ("–", "–")),
}


def worse_than_constant(rng: Generator, layout: Groups, strength: float, cells: int, below: float = 0.0) -> Floats:
    """Return the p of *worse than the baseline* (cells,), of a judge that is right as often as the constant, or less often by `below`.

    A class of 10 % is beta-distributed over groups. Three people of different strictness label each text, and the commonest label counts.
    The judge finds the class with a beta-distributed chance in each group, and gives false alarms so that it is as often right as the
    constant on average.
    """
    groups, mean, spread = layout
    often, seldom = (sum(np.prod(np.where(kinds, chance, 1 - chance)) for kinds in MOST) for chance in (HIT, FALSE))
    alarm = RARE_SHARE * FINDS * (2 * often - 1) / ((1 - RARE_SHARE) * (1 - 2 * seldom)) + below / (1 - RARE_SHARE)
    y, n = np.zeros((cells, groups)), np.zeros((cells, groups))
    for cell in range(cells):
        sizes = group_sizes(rng, groups, mean, spread)
        group = np.repeat(np.arange(groups), sizes)
        rare = rng.random(len(group)) < rng.beta(RARE_SHARE * strength, (1 - RARE_SHARE) * strength, groups)[group]
        finds = rng.beta(FINDS * 5, (1 - FINDS) * 5, groups)[group]
        says = rng.random(len(group)) < np.where(rare, finds, alarm)
        labels = (rng.random((len(group), 3)) < np.where(rare[:, None], HIT, FALSE)).sum(1) >= 2
        y[cell], n[cell] = np.bincount(group, np.where(says, np.where(labels, 1.0, -1.0), 0.0), groups), sizes
    once = np.ones(y.shape)
    sums = JudgeSums(GroupSums(y, n, once), GroupSums(y, n, once))
    return np.asarray(judge_tests(sums, DecisionOptions().margin).to_correct(LEVEL).base_worse)


MOST = np.array([(1, 1, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1)], bool)
"""The votes of three people that make a majority."""


def together_rows(r: int) -> Iterator[Row]:
    """Yield how often any of 3 and of 15 cells is said to be worse than the baseline, in `r` families of 15."""
    for number, (name, (layout, strength, before)) in enumerate(TOGETHER.items()):
        p = worse_than_constant(np.random.default_rng([58, number]), layout, strength, 15 * r)
        for cells, old in zip((3, 15), before, strict=True):
            false = int((p.reshape(-1, cells).min(axis=1) <= LEVEL / cells).sum())
            yield Row(f"as good as the constant, {name}: any of {cells} is worse", old, false, len(p) // cells, 100 * LEVEL, False)


def together_power(r: int) -> Iterator[str]:
    """Yield how often a judge that is nine points worse than the constant is shown to be: of one cell, and of 15."""
    yield "| a judge nine points worse, a class of 10 % | shown, one cell, % | one of 15, % |"
    yield "| --- | --- | --- |"
    for number, (name, (layout, strength, _)) in enumerate(TOGETHER.items()):
        p = worse_than_constant(np.random.default_rng([60, number]), layout, strength, r, 0.09)
        yield f"| {name} | {100 * np.mean(p <= LEVEL):.0f} | {100 * np.mean(p <= LEVEL / 15):.0f} |"


SHARES = {  # labels of each class, the judge's skill, the shares, and the number of judged texts
    "corrected shares: three classes, 30 labels of each, right in 90 %": (30, 0.9, (0.1, 0.2, 0.7), 1000, "89.9"),
    "corrected shares: three classes, 30 labels of each, right in 80 %": (30, 0.8, (0.2, 0.3, 0.5), 1000, "–"),
    "corrected shares: three classes, 40 labels of each, a class of 2 %": (40, 0.9, (0.02, 0.08, 0.9), 2000, "–"),
    "corrected shares: four classes, 30 labels of each, right in 95 %": (30, 0.95, (0.05, 0.15, 0.3, 0.5), 1000, "–"),
    "corrected shares: three classes, 60 labels of each, right in 80 %": (60, 0.8, (0.2, 0.3, 0.5), 1000, "–"),
    "corrected shares: three classes, 200 labels of each, right in 80 %": (200, 0.8, (0.2, 0.3, 0.5), 5000, "–"),
}


def covered_shares(rng: Generator, labels: int, skill: float, shares: tuple[float, ...], judged: int) -> Floats:
    """Return (classes,) whether 1.96 standard errors hold the share; NaN where it is refused. Errors fall on the next class most often."""
    k = len(shares)
    distance = np.abs(np.arange(k)[:, None] - np.arange(k))
    wrong = np.where(distance > 0, 0.4 ** (distance - 1.0), 0.0)
    matrix = skill * np.eye(k) + (1 - skill) * wrong / wrong.sum(1, keepdims=True)
    counts = np.array([rng.multinomial(labels, row) for row in matrix])
    found = corrected_shares(counts, rng.multinomial(judged, np.array(shares) @ matrix))
    held = np.abs(found.value - shares) <= 1.96 * np.sqrt(np.diag(found.interval_covariance))
    return np.where(found.refusal is None, held, np.nan)


def rows_of(
    worlds: Iterable[str], seed: int, before: Callable[[str], str], rejects: Callable[[Generator, str], bool], r: int
) -> Iterator[Row]:
    """Yield how often a test rejects in `r` draws of each world."""
    for number, name in enumerate(worlds):
        rng = np.random.default_rng([seed, number])
        yield Row(name, before(name), sum(rejects(rng, name) for _ in range(r)), r, 100 * LEVEL, False)


def panel_rows(r: int) -> Iterator[Row]:
    return rows_of(PANELS, 51, lambda name: PANELS[name][-1], lambda rng, name: panel_differs(rng, *PANELS[name][:-1]), r)


def rates_rows(r: int) -> Iterator[Row]:
    return rows_of(RATES, 52, lambda name: RATES[name][-1], lambda rng, name: rates_differ(rng, *RATES[name][:-1]), r)


def functioning_rows(r: int) -> Iterator[Row]:
    for number, (name, (*world, before)) in enumerate(FUNCTIONING.items()):
        rng = np.random.default_rng([53, number])
        uniform, other = np.array([functions_differently(rng, *world) for _ in range(r)]).sum(axis=0).tolist()
        yield Row(name, before, uniform, r, 100 * LEVEL, False)
        yield Row(f"{name}, not uniform", "–", other, r, 100 * LEVEL, False)


def one_class_rows(r: int) -> Iterator[Row]:
    def rejects(rng: Generator, name: str) -> bool:
        return bool((shown_constant(rng, *ONE_CLASS[name][:-1], False) <= LEVEL).any())

    return rows_of(ONE_CLASS, 54, lambda name: ONE_CLASS[name][-1], rejects, r)


def shares_rows(r: int) -> Iterator[Row]:
    """Yield the coverage of the worst class."""
    for number, (name, (*world, before)) in enumerate(SHARES.items()):
        rng = np.random.default_rng([55, number])
        held = np.array([covered_shares(rng, *world) for _ in range(r)])
        stated = ~np.isnan(held[:, 0])
        yield Row(name, before, int(held[stated].sum(axis=0).min()), int(stated.sum()), 95, True)


@pytest.mark.slow
def test_intervals_of_corrected_shares_hold_the_truth() -> None:
    for row in shares_rows(200):
        assert row.holds, row


@pytest.mark.slow
@pytest.mark.parametrize("rows", [panel_rows, rates_rows, one_class_rows], ids=lambda rows: rows.__name__)
def test_a_hypothesis_that_holds_is_rarely_rejected(rows: Callable[[int], Iterator[Row]]) -> None:
    for row in rows(150):
        assert row.holds, row


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "percent"), [("60 unequal groups, in a third of them", 6.2), ("20 unequal groups, in a third of them", 5.0)]
)
def test_a_rare_class_in_few_groups_seldom_makes_a_judge_worse_than_the_constant(name: str, percent: float) -> None:
    """Of the first, docs/error-rates.md states 6.2 %, above the limit of 5 %."""
    p = worse_than_constant(np.random.default_rng(59), *TOGETHER[name][:2], 22500).reshape(-1, 15).min(axis=1)
    assert Row(name, "", int((p <= LEVEL / 15).sum()), len(p), percent, False).holds


@pytest.mark.slow
def test_differential_functioning_keeps_its_level() -> None:
    for row in functioning_rows(1000):
        assert row.holds, row


@pytest.mark.slow
def test_a_constant_judge_is_shown_to_be_one() -> None:
    layout, share, _ = CONSTANT["a constant judge, 90 % of one class, 60 single texts"]
    rng = np.random.default_rng(56)
    assert np.mean([shown_constant(rng, layout, share, True) <= LEVEL for _ in range(10)]) > 0.6


def main() -> None:
    r = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(table([*panel_rows(r), *rates_rows(r), *functioning_rows(r), *one_class_rows(r // 2), *shares_rows(r)]))
    print("\n| world | old worlds, % | cells in which it is shown, % |\n| --- | --- | --- |")
    for number, (name, (layout, share, before)) in enumerate(CONSTANT.items()):
        rng = np.random.default_rng([57, number])
        power = np.mean([shown_constant(rng, layout, share, True) <= LEVEL for _ in range(r // 10)])
        print(f"| {name} | {before} | {100 * power:.0f} |")
    print()
    print(table(together_rows(3 * r // 2)))
    print()
    for line in together_power(3 * r):
        print(line)


if __name__ == "__main__":
    main()
