"""How often a choice among twenty candidates is confirmed: wrongly where none is better, and rightly where one is.

`python -m tests.unit.stats.selection.test_selection_simulations` prints the table of docs/improve.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from harness.stats.core.arrays import Floats
from harness.stats.selection.confirmation import confirm
from harness.stats.selection.halving import successive_halving

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


def rates(texts: int, gain: float, discordant: float, worlds: int, seed: int = 1) -> Rates:
    """Of `worlds` with one candidate of this true gain among twenty; 60 % of the texts choose."""
    rng = np.random.default_rng(seed)
    gains = np.zeros(CANDIDATES)
    gains[7] = gain
    counts = np.zeros(3)
    for _ in range(worlds):
        right = _answers(rng, texts, gains, discordant)
        cut = round(0.6 * texts)
        chosen = successive_halving(right[:cut], rng.permutation(cut)).chosen
        shown = _p(right[cut:], chosen) <= ALPHA
        best = int(right[:, 1:].mean(axis=0).argmax()) + 1
        counts += shown, shown and chosen == 8, _p(right, best) <= ALPHA
    return Rates(*(counts / worlds))


def _p(right: Floats, chosen: int) -> float:
    texts = len(right)
    found = confirm(right[:, 0], right[:, chosen], np.zeros(texts), np.zeros(texts, int), np.arange(texts))
    return found.by_language[0].p_shown


def kept(loss: float, texts: int, worlds: int, margin: float = 0.1, discordant: float = 0.22) -> float:
    """The share of worlds in which a language with this true loss gets the candidate; with the test that `harness improve` uses."""
    rng = np.random.default_rng(2)
    got = 0
    for _ in range(worlds):
        right = _answers(rng, texts, np.array([-loss]), max(discordant, loss))
        zeros = np.zeros(texts, int)
        got += confirm(right[:, 0], right[:, 1], zeros, zeros, np.arange(texts), margin).by_language[0].p_guarded <= ALPHA
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
    assert max(kept(0.1, 150, 1000, discordant=share) for share in DISCORDANT) <= ALPHA
    assert kept(0.0, 150, 1000) >= 0.75


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
    for loss, worlds in ((0.1, 2000), (0.05, 500), (0.0, 1000)):
        lines.append(
            f"| loses {loss * 100:.0f} points | {' | '.join(f'{kept(loss, 150, worlds, discordant=d) * 100:.1f} %' for d in DISCORDANT)} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
