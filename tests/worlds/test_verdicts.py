"""Verdicts: a false `use` of a judge exactly a margin worse than people, in families of languages.

`python -m tests.worlds.test_verdicts [R]` prints the table. Every grid goes through `harness.from_frames` and the tests and corrections
behind `harness compare`.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from numpy.random import Generator

import harness
from harness.decide.options import DecisionOptions
from harness.decide.verdicts import verdicts
from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions
from tests.worlds.rows import Row, table
from tests.worlds.worlds import Judged

LANGUAGES = ("cs", "de", "fr", "ja", "sw")
BALANCED, SKEWED = (0.35, 0.35, 0.3), (0.08, 0.22, 0.7)
WORLDS = {
    "balanced, 200 single texts": (Judged(BALANCED, (0.95, 0.85, 0.75), 200), "1.5", 5.0),
    "skewed, 200 single texts": (Judged(SKEWED, (0.95, 0.85, 0.75), 200), "1.1", 5.0),
    "skewed, 60 single texts": (Judged(SKEWED, (0.95, 0.85, 0.75), 60), "0.0", 5.0),
    "25 unequal groups": (Judged(BALANCED, (0.95, 0.85, 0.75), 25, 8, 0.8), "2.3", 7.0),
    "skewed, 20 unequal groups": (Judged(SKEWED, (0.95, 0.85, 0.75), 20, 10, 0.8), "5.5", 7.0),
    "200 single texts, failures follow the class": (Judged(BALANCED, (0.95, 0.85, 0.75), 200, failures=0.08), "2.5", 5.0),
    "200 single texts, a label is missing in half of the texts where the judge is wrong": (
        Judged(BALANCED, (0.95, 0.85, 0.75), 200, missing_wrong=0.5),
        "–",
        5.0,
    ),
}


def grid(rng: Generator, world: Judged, skill: float) -> Recording:
    """Draw one judge in five languages; every text has words of its own."""
    items, labels, judgments = [], [], []
    for language in LANGUAGES:
        group, votes, answers = world.draw(rng, skill)
        names = [f"{language}{number}" for number in range(len(group))]
        items.append(
            pd.DataFrame({"item_id": names, "language": language, "task": "task", "group": [f"{language}-{one}" for one in group]})
        )
        for person in range(3):
            labels.append(pd.DataFrame({"item_id": names, "annotator_id": f"p{person}", "metric": "m", "score": votes[:, person]}))
        judgments.append(
            pd.DataFrame(
                {
                    "item_id": names,
                    "judge": "j",
                    "metric": "m",
                    "score": [None if np.isnan(one) else int(one) for one in answers],
                    "failure": ["not_json" if np.isnan(one) else None for one in answers],
                },
                dtype=object,
            )
        )
    given = pd.concat(labels).dropna()
    given["score"] = given["score"].astype(int)
    scales = {"m": {"kind": "ordinal", "classes": list(range(len(world.shares))), "best": len(world.shares) - 1}}
    data = harness.from_frames(labels=given, judgments=pd.concat(judgments), items=pd.concat(items), scales=scales, annotators="persistent")
    assert data.judgments is not None
    return Recording("grid", data, data.judgments)


def row(name: str, worlds: int) -> Row:
    """Return in how many grids any language has a `use`, where the gap is exactly the margin in all."""
    world, before, limit = WORLDS[name]
    rng, skill = np.random.default_rng([17, list(WORLDS).index(name)]), world.skill(-DecisionOptions().margin)
    false = 0
    for _ in range(worlds):
        found = verdicts([grid(rng, world, skill)], MeasureOptions())
        false += any(one.decision.verdict == "use" for one in found)
    return Row(name, before, false, worlds, limit, False)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["skewed, 60 single texts", "25 unequal groups"])
def test_a_judge_a_margin_worse_is_rarely_called_as_good(name: str) -> None:
    found = row(name, 60)
    assert found.holds, found


def main() -> None:
    print(table(row(name, int(sys.argv[1]) if len(sys.argv) > 1 else 200) for name in WORLDS))


if __name__ == "__main__":
    main()
