"""Verdicts on probabilities hold what they promise in made worlds; `make simulations` prints the tables for docs/error-rates.md."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import ndtr

from harness.correction.probabilities import PROBABILITY_VERDICTS, ProbabilityTests, decide_probabilities
from harness.stats import calibration_error, group_folds
from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.calibration import squared_calibration_error
from harness.stats.estimation.probability_tests import calibration_tests, confidence_gap, cox_line, refit

HOLD, REFITTED, DO_NOT_HOLD, TOO_FEW = PROBABILITY_VERDICTS
CELLS, ALPHA, MARGIN, PEOPLE = 9, 0.05, 0.05, 3
ICC = 0.3  # of texts in one group, on the scale of the normal variable behind right and wrong

Confidences = Callable[[np.random.Generator, int], Floats]
CONFIDENCES: dict[str, Confidences] = {
    "two classes, sure": lambda rng, n: rng.beta(60, 2, n),
    "two classes, surer": lambda rng, n: 1 - 10 ** -rng.uniform(1, 4, n),
    "two classes": lambda rng, n: 0.5 + 0.5 * rng.beta(2, 1.2, n),
    "five classes": lambda rng, n: 0.25 + 0.75 * rng.beta(2.5, 1, n),
}
"""Probabilities of the answers that a judge gives: never below one half of two classes, nor below a quarter of five."""
Groups = Callable[[np.random.Generator, int], Ints]
GROUPS: dict[str, Groups] = {
    "single texts": lambda rng, n: np.arange(n),
    "40 groups in 100": lambda rng, n: np.sort(rng.integers(0, 2 * n // 5, n)),
    "groups of 1 to 20": lambda rng, n: np.repeat(np.arange(n), 1 + np.round(19 * rng.beta(0.5, 2, n)).astype(int))[:n],
}


class Drawn(NamedTuple):
    """One language: confidences, whether each is right, the share of people who agree, and groups."""

    confidence: Floats
    right: Floats
    person: Floats
    group: Ints


World = Callable[[np.random.Generator], Drawn]


def draw(rng: np.random.Generator, confidences: Confidences, groups: Groups, n: int, share: Callable[[Floats], Floats]) -> Drawn:
    """An answer of confidence c is right with the probability share(c), texts of a group together."""
    group, c = groups(rng, n), confidences(rng, n)
    shared = rng.normal(size=n)[np.unique(group, return_inverse=True)[1]]
    right = (ndtr(np.sqrt(ICC) * shared + np.sqrt(1 - ICC) * rng.normal(size=n)) < share(c)) * 1.0
    return Drawn(c, right, right, group)


def draw_of_people(rng: np.random.Generator, confidences: Confidences, groups: Groups, n: int) -> Drawn:
    """Each of three people gives the judge's answer with the probability that it says; texts without a commonest label cannot occur."""
    group, c = groups(rng, n), confidences(rng, n)
    votes = rng.binomial(PEOPLE, c)
    return Drawn(c, (2 * votes > PEOPLE) * 1.0, votes / PEOPLE, group)


def verdicts(cells: list[Drawn], *, with_refit: bool = False) -> list[str]:
    """The verdicts of one grid."""
    tests = []
    for c, right, person, group in cells:
        fitted = refit(c, right, group, group_folds(group, 5), MARGIN) if with_refit else None
        commonest = calibration_tests(c, right, group, MARGIN)
        tests.append(ProbabilityTests(commonest, commonest if person is right else calibration_tests(c, person, group, MARGIN), fitted))
    return [decided.verdict for decided in decide_probabilities(tests, ALPHA)]


def any_of(verdict: str, draws: int, drawn: World, *, cells: int = CELLS, with_refit: bool = False) -> float:
    """The share of grids with this verdict in any cell.

    Holm's first step asks one cell for a p of at most alpha / cells, so grids without one are not looked at further.
    """
    rng, level, shown = np.random.default_rng(0), ALPHA / cells, 0
    may_be = {HOLD: _may_hold, DO_NOT_HOLD: _may_be_accused}.get(verdict, lambda cell, level: True)
    for _ in range(draws):
        grid = [drawn(rng) for _ in range(cells)]
        shown += any(may_be(cell, level) for cell in grid) and verdict in verdicts(grid, with_refit=with_refit)
    return shown / draws


def _may_hold(cell: Drawn, level: float) -> bool:
    samples = confidence_gap(cell.confidence, cell.right, cell.group).samples
    limits = [(confidence, sample.limits(level)) for confidence, sample in samples]
    return all(confidence - MARGIN <= low and confidence + MARGIN >= high for confidence, (low, high) in limits)


def _may_be_accused(cell: Drawn, level: float) -> bool:
    samples = confidence_gap(cell.confidence, cell.right, cell.group).samples
    limits = [(confidence, sample.limits(level)) for confidence, sample in samples]
    over = all(confidence - MARGIN >= high for confidence, (_, high) in limits)
    under = all(confidence + MARGIN <= low for confidence, (low, _) in limits)
    return over or under or bool(cox_line(cell.confidence, cell.right, cell.group).p_outside <= level)


def share_of(
    verdict: str, draws: int, drawn: Callable[[np.random.Generator], Drawn], *, cells: int = CELLS, with_refit: bool = False
) -> float:
    """The share of cells with this verdict."""
    rng = np.random.default_rng(1)
    grids = (verdicts([drawn(rng) for _ in range(cells)], with_refit=with_refit) for _ in range(draws))
    return sum(grid.count(verdict) for grid in grids) / draws / cells


def too_sure(c: Floats) -> Floats:
    return c - MARGIN


def too_timid(c: Floats) -> Floats:
    """Right 5 points more often than it says, on average: nothing above 1 is possible, so others are raised more."""
    raised = np.minimum(c + MARGIN, 1.0)
    for _ in range(50):
        raised = np.minimum(raised + (c.mean() + MARGIN - raised.mean()), 1.0)
    return raised


def flat(c: Floats) -> Floats:
    """Five points too sure on average, and as often right wherever it is sure."""
    return np.full(len(c), c.mean() - MARGIN)


def as_it_says(c: Floats) -> Floats:
    return c


def useless(c: Floats) -> Floats:
    return np.full(len(c), 0.7)


def useful(c: Floats) -> Floats:
    """Too sure, and more often right where it is surer: log-odds of right are half of those it says."""
    return 1 / (1 + np.exp(-0.5 * np.log(c / (1 - c))))


# ---- tables


def error_table(draws: int = 2000) -> Iterator[str]:
    """The calibration error of a calibrated judge, and of one that is ten points too sure."""
    yield "| judge | texts in groups | plain error | squared error | its root with sign | sd of the root | 95 % interval holds |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for name, less in (("calibrated", 0.0), ("ten points too sure", 0.1)):
        for n in (100, 200, 500):
            rng, rows = np.random.default_rng(0), []
            for _ in range(draws):
                found = draw(rng, CONFIDENCES["two classes"], GROUPS["40 groups in 100"], n, lambda c: c - less)  # noqa: B023
                error = squared_calibration_error(found.confidence, found.right, found.group)
                plain = calibration_error(found.confidence, found.right).ece
                rows.append((plain, error.squared, error.root, error.ci[0] <= less**2 <= error.ci[1]))
            ece, squared, root, held = np.array(rows, np.float64).T
            text = f"{ece.mean():.3f} | {squared.mean():.4f} | {root.mean():.3f} | {root.std():.3f} | {held.mean():.1%}"
            yield f"| {name} | {n} in {2 * n // 5} | {text} |"


def hold_table(draws: int = 400, powers: int = 20) -> Iterator[str]:
    """How often a grid has any *hold* although all gaps are exactly five points; and the share of cells that hold at a gap of 0."""
    yield "| confidences | groups | texts | too sure | too timid | too sure, all alike | *hold* at a gap of 0, 9 cells | one cell |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for name, confidences in CONFIDENCES.items():
        for kind, groups in GROUPS.items():
            for n in (100, 200, 400):
                if n != 200 and kind == "groups of 1 to 20":
                    continue
                worlds = [lambda rng, share=share: draw(rng, confidences, groups, n, share) for share in (too_sure, too_timid, flat)]  # noqa: B023
                rates = [any_of(HOLD, draws, world) if "sure" not in name or n_world != 1 else None for n_world, world in enumerate(worlds)]
                fair = lambda rng: draw(rng, confidences, groups, n, as_it_says)  # noqa: B023, E731
                power, alone = share_of(HOLD, powers, fair), share_of(HOLD, 4 * powers, fair, cells=1)
                shown = " | ".join("–" if rate is None else f"{rate:.1%}" for rate in rates)
                yield f"| {name} | {kind} | {n} | {shown} | {power:.0%} | {alone:.0%} |"


def accused_table(draws: int = 300) -> Iterator[str]:
    """How often a grid has any *do not hold* although the judge is calibrated: against the commonest label, or against each person."""
    yield "| confidences | groups | texts | calibrated against the commonest label | against each of three people |"
    yield "| --- | --- | --- | --- | --- |"
    for name, confidences in CONFIDENCES.items():
        for kind, groups in GROUPS.items():
            for n in (100, 400):
                first = any_of(DO_NOT_HOLD, draws, lambda rng: draw(rng, confidences, groups, n, as_it_says))  # noqa: B023
                second = any_of(DO_NOT_HOLD, draws, lambda rng: draw_of_people(rng, confidences, groups, n))  # noqa: B023
                yield f"| {name} | {kind} | {n} | {first:.1%} | {second:.1%} |"


def refit_table(draws: int = 400, powers: int = 10) -> Iterator[str]:
    """How often any cell holds after a refit that does not help, and how often one cell does after a refit that helps, by labels."""
    yield "| confidences | texts | says nothing: any *hold after refit* | calibrated already | helps, one cell | helps, 9 cells |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for name, confidences in {"sure of most": sure_of_most, "two classes": CONFIDENCES["two classes"]}.items():
        for n in (50, 100, 200, 300, 500, 1000) if name == "sure of most" else (100, 400):
            worlds = {share: in_groups(confidences, n, share) for share in (useless, as_it_says, useful)}
            rates = [any_of(REFITTED, draws, worlds[share], with_refit=True) for share in (useless, as_it_says)]
            one = share_of(REFITTED, 5 * powers, worlds[useful], cells=1, with_refit=True)
            nine = share_of(REFITTED, powers, worlds[useful], with_refit=True)
            yield f"| {name} | {n} | {rates[0]:.1%} | {rates[1]:.1%} | {one:.0%} | {nine:.0%} |"


def sure_of_most(rng: np.random.Generator, n: int) -> Floats:
    """From two thirds to nearly 1; 93 % on average."""
    return 1 - 10 ** -rng.uniform(0.5, 2.5, n)


def in_groups(confidences: Confidences, n: int, share: Callable[[Floats], Floats]) -> World:
    return lambda rng: draw(rng, confidences, GROUPS["40 groups in 100"], n, share)


# ---- tests


def limit(draws: int) -> float:
    return ALPHA + 2 * (ALPHA * (1 - ALPHA) / draws) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize("confidences", CONFIDENCES)
@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("share", [too_sure, flat])
def test_a_gap_of_exactly_the_margin_is_rarely_said_to_hold(confidences: str, groups: str, share: Callable[[Floats], Floats]) -> None:
    def drawn(rng: np.random.Generator) -> Drawn:
        return draw(rng, CONFIDENCES[confidences], GROUPS[groups], 100, share)

    assert any_of(HOLD, 200, drawn) <= limit(200)


@pytest.mark.slow
@pytest.mark.parametrize("confidences", CONFIDENCES)
@pytest.mark.parametrize("groups", GROUPS)
def test_a_calibrated_judge_is_rarely_accused(confidences: str, groups: str) -> None:
    chosen = CONFIDENCES[confidences], GROUPS[groups]
    assert any_of(DO_NOT_HOLD, 150, lambda rng: draw(rng, *chosen, 200, as_it_says)) <= limit(150)
    assert any_of(DO_NOT_HOLD, 150, lambda rng: draw_of_people(rng, *chosen, 200)) <= limit(150)


@pytest.mark.slow
@pytest.mark.parametrize("texts", [100, 600])
def test_a_map_that_does_not_help_is_rarely_said_to(texts: int) -> None:
    chosen = CONFIDENCES["two classes"], GROUPS["40 groups in 100"], texts
    assert any_of(REFITTED, 150, lambda rng: draw(rng, *chosen, useless), with_refit=True) <= limit(150)
    assert share_of(REFITTED, 20, lambda rng: draw(rng, *chosen, useful), cells=1, with_refit=True) >= (0.5 if texts == 600 else 0.0)


@pytest.mark.slow
def test_a_calibrated_judge_with_many_texts_holds() -> None:
    rate = share_of(HOLD, 20, lambda rng: draw(rng, CONFIDENCES["two classes, sure"], GROUPS["40 groups in 100"], 400, as_it_says))
    assert rate > 0.8


if __name__ == "__main__":
    chosen_tables = sys.argv[1:] or ["error_table", "hold_table", "accused_table", "refit_table"]
    for table in chosen_tables:
        print(f"\n{table}", flush=True)
        for line in globals()[table]():
            print(line, flush=True)
