"""`harness calibrate`: how often a set at 90 % holds a person's label of a new text, map and threshold learnt from the same labels.

`python -m tests.worlds.test_calibrated_sets [R]` prints the table. Each world has four languages; the sets are those of the first.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest
from numpy.random import Generator

from harness.correction.correction_options import SetOptions
from harness.correction.score_maps import MapInput, SetMaker, learn, map_inputs, sets_at
from harness.measure.item_table import AnswerCounts, ItemTable
from harness.measure.label_counts import Classes, LabelCounts
from harness.stats.estimation.map_quality import label_rows
from tests.worlds.rows import Row, table
from tests.worlds.worlds import group_sizes

SCALE = Classes((0, 1, 2, 3), "ordinal", (0.0, 1.0, 2.0, 3.0), 1)
OTHERS = 60
WORLDS = {  # labelled groups of the first language, their mean size and its spread, how much harder the judge is in the large ones
    "15 single texts": ((15, 1, 0, 0.0), "–"),
    "40 single texts": ((40, 1, 0, 0.0), "–"),
    "30 groups of 2": ((30, 2, 0, 0.0), "–"),
    "30 unequal groups, the judge worse in large ones": ((30, 4, 0.8, 0.03), "–"),
    "100 unequal groups, the judge worse in large ones": ((100, 4, 0.8, 0.03), "–"),
}


def draw(rng: Generator, groups: list[int], mean: float, spread: float, harder: float) -> MapInput:
    """Draw languages of different strictness: true classes are binomial in beta-distributed groups, a person errs by one class."""
    cells, first = [], 0
    for language, count in enumerate(groups):
        sizes = group_sizes(rng, count, mean, spread)
        group = np.repeat(np.arange(count), sizes)
        true = rng.binomial(3, rng.beta(3, 2, count)[group])
        strict = rng.random(len(group)) < 0.1 + 0.1 * (language % 3)
        label = np.clip(true - strict, 0, 3)
        right = rng.random(len(group)) < np.clip(rng.beta(6, 2, count) - harder * sizes, 0.1, 1)[group]
        answer = np.where(right, true, rng.integers(0, 4, len(group)))
        unknown = np.full(len(group), np.nan)
        cells.append(
            ItemTable(
                key={"language": f"l{language}", "metric": "m", "judge": "j", "variant": "v", "temperature": None, "top_p": None},
                item=np.arange(len(group)),
                group=group + first,
                asked=np.ones(len(group), np.int64),
                probability=unknown,
                expected=unknown,
                inclusion=None,
                stratum=None,
                people=LabelCounts(SCALE, np.eye(4, dtype=np.int64)[label], "drop"),
                counts=AnswerCounts(len(group), {}),
                answers=np.eye(4, dtype=np.int64)[answer],
                numbers=None,
            )
        )
        first += count
    [found] = map_inputs(cells)
    return found


def row(name: str, worlds: int, new: int = 200) -> Row:
    """Return the mean coverage of a random text of new groups, in percent of worlds, rounded to whole worlds."""
    (groups, mean, spread, harder), before = WORLDS[name]
    rng = np.random.default_rng([43, list(WORLDS).index(name)])
    held = 0.0
    for _ in range(worlds):
        given = draw(rng, [groups, OTHERS, OTHERS, OTHERS], mean, spread, harder)
        sets = SetMaker(given, learn(given), SetOptions()).make(0)
        others = draw(rng, [new], mean, spread, harder)
        text, y = label_rows(others.counts)
        inside = sets_at(sets.curve.predict(others.x), others.kind, sets.threshold)[text, y]
        group = np.unique(others.group[text], return_inverse=True)[1]
        held += float((np.bincount(group, inside) / np.bincount(group)).mean())
    return Row(name, before, round(held), worlds, 90, True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["40 single texts", "30 unequal groups, the judge worse in large ones"])
def test_a_set_holds_the_label_of_a_new_text(name: str) -> None:
    found = row(name, 100)
    assert found.holds, found


def main() -> None:
    print(table(row(name, int(sys.argv[1]) if len(sys.argv) > 1 else 300) for name in WORLDS))


if __name__ == "__main__":
    main()
