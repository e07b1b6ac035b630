"""Intervals of `harness correct --borrow languages` where languages have unequal numbers of labels and skewed shares.

`python -m tests.worlds.test_borrow [R]` prints the table. It calls the functions behind the command.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

from harness.correction.mean_estimates import mean_estimates, with_other_languages
from tests.worlds.rows import Row, table
from tests.worlds.worlds import RareClass

WORLDS = {  # the labels of each language, and the two parameters of the beta distribution of their shares
    "8 languages, shares from beta(3, 6)": ((15, 20, 20, 25, 30, 35, 40, 50), (3, 6), "96.8"),
    "5 languages, shares from beta(3, 6)": ((15, 20, 30, 40, 50), (3, 6), "95.9"),
    "8 languages, shares from beta(1, 8)": ((15, 20, 20, 25, 30, 35, 40, 50), (1, 8), "–"),
    "8 languages, nearly equal shares": ((15, 20, 20, 25, 30, 35, 40, 50), (60, 140), "–"),
}


def row(name: str, worlds: int) -> Row:
    """Return the coverage on average over languages, where an interval is stated.

    The languages of one world are not independent, so the worlds are counted for the error, and the covered share is rounded to worlds.
    """
    labels, beta, before = WORLDS[name]
    rng = np.random.default_rng([19, list(WORLDS).index(name)])
    covered = []
    for _ in range(worlds):
        languages = [RareClass(float(rng.beta(*beta)), n, skill=float(rng.uniform(0.75, 0.95)), failures=0.03) for n in labels]
        samples = [language.draw(rng) for language in languages]
        figures = with_other_languages([mean_estimates([(one, 1.0)], share=True) for one in samples], samples, share=True)
        covered += [one.ci[0] <= world.truth <= one.ci[1] for one, world in zip(figures, languages, strict=True) if one.ci is not None]
    return Row(name, before, round(np.mean(covered) * worlds), worlds, 95, True)


@pytest.mark.slow
def test_borrowed_intervals_hold_on_average_over_languages() -> None:
    found = row("8 languages, shares from beta(3, 6)", 150)
    assert found.holds, found


def main() -> None:
    print(table(row(name, int(sys.argv[1]) if len(sys.argv) > 1 else 300) for name in WORLDS))


if __name__ == "__main__":
    main()
