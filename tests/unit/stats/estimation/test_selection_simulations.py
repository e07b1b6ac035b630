"""How often a choice among twenty candidates is confirmed: wrongly where none is better, and rightly where one is.

`python -m tests.unit.stats.estimation.test_selection_simulations` prints the tables of docs/improve.md.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import gammaln, xlogy

from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.choose_and_confirm import confirm, halve, margin_score_p

CANDIDATES, ALPHA = 20, 0.05
DISCORDANT = (0.13, 0.22, 0.28)


class Rates(NamedTuple):
    """Shares of worlds: the choice is shown to be better; the best candidate is chosen and shown; a naive best of all looks better."""

    shown: float
    right: float
    naive: float


def _answers(rng: np.random.Generator, texts: int, gains: Floats, discordant: float) -> Floats:
    """(texts, 1 + candidates): the start is right on 60 %, each candidate differs from it on `discordant` of the texts.

    Candidates are settings of one judge: on half of the texts they are all swayed alike.
    """
    start = rng.random(texts) < 0.6
    better, worse = (discordant + gains) / 2 / 0.4, (discordant - gains) / 2 / 0.6  # of texts where the start is wrong, and right
    alike = rng.random((texts, 1)) < 0.5
    draw = np.where(alike, rng.random((texts, 1)), rng.random((texts, len(gains))))
    right = np.where(start[:, None], draw >= worse, draw < better)
    return np.column_stack([start, right]).astype(np.float64)


def _chosen(right: Floats) -> int:
    return halve(lambda columns, n: right[:n, list(columns)], len(right), right.shape[1] - 1).chosen


def rates(texts: int, gain: float, discordant: float, worlds: int, seed: int = 1) -> Rates:
    """Of `worlds` with one candidate of this true gain among twenty; 60 % of the texts choose."""
    rng = np.random.default_rng(seed)
    gains = np.zeros(CANDIDATES)
    gains[7] = gain
    counts = np.zeros(3)
    for _ in range(worlds):
        right = _answers(rng, texts, gains, discordant)
        cut = round(0.6 * texts)
        chosen = _chosen(right[:cut][rng.permutation(cut)])
        shown = _p(right[cut:], chosen) <= ALPHA
        best = int(right[:, 1:].mean(axis=0).argmax()) + 1
        counts += shown, shown and chosen == 8, _p(right, best) <= ALPHA
    return Rates(*(counts / worlds))


def _p(right: Floats, chosen: int) -> float:
    texts = len(right)
    found = confirm(right[:, 0], right[:, chosen], np.zeros(texts), np.zeros(texts, int), np.arange(texts))
    return found.by_language[0].p_shown


class Outcomes(NamedTuple):
    """All (wins, losses) of independent texts."""

    texts: int
    won: Ints
    lost: Ints

    def chance(self, loss: float, discordant: float) -> Floats:
        """Of each outcome, if this share of texts differs and agreement is lower by this loss."""
        better, worse = (discordant - loss) / 2, (discordant + loss) / 2
        even = self.texts - self.won - self.lost
        ways = gammaln(self.texts + 1) - gammaln(self.won + 1) - gammaln(self.lost + 1) - gammaln(even + 1)
        return np.asarray(np.exp(ways + xlogy(self.won, better) + xlogy(self.lost, worse) + xlogy(even, 1 - better - worse)))


def outcomes(texts: int) -> Outcomes:
    won, lost = (each.ravel() for each in np.indices((texts + 1, texts + 1)))
    possible = won + lost <= texts
    return Outcomes(texts, won[possible], lost[possible])


def kept(loss: float, discordant: float, test: str = "p_within", texts: int = 150, margin: float = 0.1) -> float:
    """The exact chance that a language with this true loss gets the candidate; by default with the test of `harness improve`."""
    all_of = outcomes(texts)
    chance = all_of.chance(loss, discordant)
    likely = np.flatnonzero(chance > 1e-7)
    passes = [_passes(*(int(each[at]) for each in (all_of.won, all_of.lost)), texts, margin, test) for at in likely]
    return float(chance[likely] @ passes)


@cache
def _passes(won: int, lost: int, texts: int, margin: float, test: str) -> bool:
    chosen = np.repeat([1.0, -1.0, 0.0], [won, lost, texts - won - lost])
    zeros = np.zeros(texts, int)
    return bool(getattr(confirm(zeros, chosen, zeros, zeros, np.arange(texts), margin).by_language[0], test) <= ALPHA)


def best_power(discordant: float, texts: int = 150, margin: float = 0.1) -> float:
    """The largest chance that an equal candidate is kept by any test that is wrong in at most 5 %, whatever share of texts differs.

    A linear program over the chance with which each outcome passes; the shares on its grid alone are held, so that it is a bound.
    """
    all_of = outcomes(texts)
    shares = np.r_[np.linspace(margin, 2 * margin, 21), np.linspace(2 * margin, 0.9, 43)[1:]]
    wrong, right = np.array([all_of.chance(margin, share) for share in shares]), all_of.chance(0.0, discordant)
    found = linprog(-right, A_ub=wrong, b_ub=np.full(len(shares), ALPHA), bounds=(0, 1))
    assert found.success
    return -float(found.fun)


def kept_in_groups(loss: float, discordant: float, groups: int, size: int, alike: float, worlds: int) -> float:
    """The same chance where texts share groups, by simulation; `alike` is the correlation of a group's texts."""
    rng = np.random.default_rng(2)
    group = np.repeat(np.arange(groups), size)
    got = 0
    for _ in range(worlds):
        of_group = rng.random(groups)[group]
        draw = np.where(rng.random(len(group)) < math.sqrt(alike), of_group, rng.random(len(group)))
        differences = (draw < (discordant - loss) / 2).astype(float) - (draw > 1 - (discordant + loss) / 2)
        got += margin_score_p(differences, group, 0.1) <= ALPHA
    return got / worlds


@pytest.mark.slow
def test_a_gain_is_not_shown_where_there_is_none() -> None:
    found = rates(300, 0.0, 0.22, 1000)
    assert found.shown <= ALPHA + 2 * (ALPHA * 0.95 / 1000) ** 0.5
    assert found.naive > 0.25, "the best of twenty on the same labels looks better"


@pytest.mark.slow
@pytest.mark.parametrize(("discordant", "least"), [(0.13, 0.92), (0.22, 0.74), (0.28, 0.60)])
def test_a_candidate_that_is_better_is_chosen_and_shown(discordant: float, least: float) -> None:
    assert rates(500, 0.08, discordant, 600).right >= least - 2 * (least * (1 - least) / 600) ** 0.5


@pytest.mark.slow
def test_a_language_that_loses_ten_points_keeps_the_start() -> None:
    assert all(0.045 <= kept(0.1, share) <= ALPHA for share in DISCORDANT), "the level is used, and not passed"
    assert [kept(0.0, share) >= 0.74 for share in DISCORDANT] == [True] * 3


@pytest.mark.slow
@pytest.mark.parametrize("share", DISCORDANT)
def test_no_valid_test_keeps_many_more_equal_candidates(share: float) -> None:
    """75 % of equal candidates at 28 % of differing texts is more than any test at 5 % can promise."""
    assert kept(0.0, share) <= best_power(share) <= kept(0.0, share) + 0.006
    assert best_power(0.28) < 0.75


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "size"), [(75, 2), (50, 3), (30, 5)])
def test_texts_that_share_groups_do_not_make_it_easier(groups: int, size: int) -> None:
    for share in (0.13, 0.28):
        assert kept_in_groups(0.1, share, groups, size, 0.3, 2000) <= 0.06 + 2 * (0.06 * 0.94 / 2000) ** 0.5


def table() -> str:
    """The rates, as docs/improve.md shows them."""
    lines = ["| world | shown | chosen and shown | naive best of 20 shown |", "| --- | ---: | ---: | ---: |"]
    for texts, gain in ((300, 0.0), (300, 0.08), (500, 0.08), (800, 0.08)):
        for discordant in DISCORDANT:
            found = rates(texts, gain, discordant, 1000)
            world = f"{texts} labelled texts, {gain * 100:+.0f} points, {discordant * 100:.0f} % of texts differ".replace(
                "+0 points", "no candidate is better"
            )
            right = f"{found.right * 100:.0f} %" if gain else "–"
            lines.append(f"| {world} | {found.shown * 100:.1f} % | {right} | {found.naive * 100:.0f} % |")
    lines += ["", "| a language of 150 texts gets the choice | 13 % of texts differ | 22 % | 28 % |", "| --- | ---: | ---: | ---: |"]
    for loss in (0.1, 0.05, 0.0):
        for test, words in (("p_within", ""), ("p_harmless", ", by the plain t")):
            row = [f"{kept(loss, share, test) * 100:.1f} %" for share in DISCORDANT]
            lines.append(f"| loses {loss * 100:.0f} points{words} | {' | '.join(row)} |")
    lines.append(f"| loses 0 points, the best test of all | {' | '.join(f'{best_power(share) * 100:.1f} %' for share in DISCORDANT)} |")
    for groups, size in ((75, 2), (50, 3), (30, 5)):
        row = [f"{kept_in_groups(0.1, share, groups, size, 0.3, 4000) * 100:.1f} %" for share in DISCORDANT]
        lines.append(f"| loses 10 points, {groups} groups of {size} alike by .3 | {' | '.join(row)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
