"""Retests of submissions: how often honest answers do not hold, and edited ones.

`python -m tests.worlds.test_retests [R]` prints both tables. Answers go through `retest_outcomes`, which `harness board verify` calls.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.random import Generator

from harness.measure.summaries import retest_outcomes
from harness.stats.core.arrays import Floats, Ints
from tests.worlds.rows import Row, table

HOLDS = 0.05
CLASSES = 4
FAILURE = "refused"


@dataclass(frozen=True)
class Caller:
    """A judge whose answers to one call vary: by call, by metric, and with failures that follow the class.

    Each call has a usual class for each metric, and a chance of another answer that is beta-distributed with the mean `noise`: most are
    steady, some are not. In a call with another answer all metrics move together half of the time. The highest class is refused in
    `failures` of the answers, the others in a third as many.
    """

    calls: int
    noise: float
    metrics: int = 1
    failures: float = 0.0

    def answers(self, rng: Generator, usual: Ints, chance: Floats) -> list[dict[str, object]]:
        """Draw one answer to each call: a class or a failure for each metric."""
        moves = rng.random((self.calls, self.metrics))
        together = rng.random(self.calls) < 0.5
        moves[together] = moves[together][:, :1]
        step = rng.choice([-1, 1], (self.calls, self.metrics))
        given = np.where(moves < chance[:, None], np.clip(usual + step, 0, CLASSES - 1), usual)
        refused = rng.random(self.calls) < self.failures * np.where(usual[:, 0] == CLASSES - 1, 1, 1 / 3)
        return [
            {f"m{metric}": FAILURE if no_answer else int(score) for metric, score in enumerate(row)}
            for row, no_answer in zip(given, refused, strict=True)
        ]

    def fails(self, rng: Generator, edited: float) -> bool:
        """Return True if a submission does not hold, of whose replies a share was changed, on all metrics, to one class higher."""
        usual = rng.binomial(CLASSES - 1, 0.6, (self.calls, self.metrics))
        chance = rng.beta(0.3, 0.3 / self.noise - 0.3, self.calls) if self.noise else np.zeros(self.calls)
        recorded, first, second = (self.answers(rng, usual, chance) for _ in range(3))
        for call in np.flatnonzero(rng.random(self.calls) < edited).tolist():
            changed = {name: min(CLASSES - 1, score + 1) if isinstance(score, int) else 0 for name, score in recorded[call].items()}
            recorded[call] = changed if changed != recorded[call] else dict.fromkeys(changed, 0)
        return retest_outcomes(recorded, first, second).p < HOLDS


WORLDS = {
    "20 calls, noise .2": (Caller(20, 0.2), "–"),
    "60 calls, noise 0": (Caller(60, 0.0), "0.0"),
    "60 calls, noise .05": (Caller(60, 0.05), "2.4"),
    "60 calls, noise .2": (Caller(60, 0.2), "3.4"),
    "180 calls, noise .05": (Caller(180, 0.05), "3.2"),
    "180 calls, noise .2": (Caller(180, 0.2), "3.5"),
    "60 calls of three metrics, noise .2": (Caller(60, 0.2, 3), "–"),
    "60 calls, noise .2, failures follow the class": (Caller(60, 0.2, 1, 0.3), "–"),
    "180 calls of three metrics, noise .4, failures follow the class": (Caller(180, 0.4, 3, 0.3), "–"),
}
EDITED = (0.05, 0.1, 0.2, 0.5)


def row(name: str, worlds: int) -> Row:
    """Return how often an honest submission does not hold."""
    caller, before = WORLDS[name]
    rng = np.random.default_rng([71, list(WORLDS).index(name)])
    return Row(
        f"an honest submission does not hold, {name}", before, sum(caller.fails(rng, 0) for _ in range(worlds)), worlds, 5, least=False
    )


def power_table(worlds: int) -> str:
    """Return in Markdown how often a submission does not hold, by the share of its replies that was changed."""
    lines = [f"| world | {' | '.join(f'{share:.0%} edited' for share in EDITED)} |", "| --- " * (1 + len(EDITED)) + "|"]
    for number, (name, (caller, _)) in enumerate(WORLDS.items()):
        rng = np.random.default_rng([72, number])
        shares = (100 * sum(caller.fails(rng, share) for _ in range(worlds)) / worlds for share in EDITED)
        lines.append(f"| {name} | {' | '.join(f'{share:.1f}' for share in shares)} |")
    return "\n".join(lines)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["20 calls, noise .2", "180 calls of three metrics, noise .4, failures follow the class"])
def test_an_honest_submission_holds(name: str) -> None:
    tested = row(name, 400)
    assert tested.holds, tested


def main() -> None:
    worlds = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print(table(row(name, worlds) for name in WORLDS))
    print(power_table(worlds // 4))


if __name__ == "__main__":
    main()
