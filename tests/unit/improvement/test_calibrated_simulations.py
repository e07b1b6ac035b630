"""How often calibrated scores are shown to be better where labels say nothing about scores: labels are shuffled over texts.

`python -m tests.unit.improvement.test_calibrated_simulations` prints the share for docs/improve.md.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec
import numpy as np
import pytest

import harness
from harness.data.columns import CodedColumn
from harness.data.dataset import Dataset
from tests.unit.improvement.test_candidates import folder, lenient


def shuffled(data: Dataset, rng: np.random.Generator) -> Dataset:
    """The data where the labels of each text are those of another text of its language."""
    first = dict(zip(data.labels.item, data.labels.score, strict=True))
    given: dict[str, object] = {}
    for language in sorted({item.language for item in data.items}):
        own = [item.item_id for item in data.items if item.language == language]
        given |= {to: first[own[at]] for to, at in zip(own, rng.permutation(len(own)).tolist(), strict=True)}
    labels = data.labels.take(np.arange(len(data.labels)))
    labels.score = CodedColumn.from_values([given[item] for item in labels.item])
    return msgspec.structs.replace(data, labels=labels)


def shown(path: Path, worlds: int) -> float:
    """The share of worlds in which the calibrated scores of one judge, the only candidate, are shown to be better in any language."""
    data, rng = harness.load(folder(path, lenient)), np.random.default_rng(5)
    found = (harness.improve(shuffled(data, rng)) for _ in range(worlds))
    return sum(any(each.shown for each in one.languages) for one in found) / worlds


@pytest.mark.slow
def test_shuffled_labels_show_no_gain_of_calibrated_scores(tmp_path: Path) -> None:
    assert shown(tmp_path / "one", 200) <= 0.05 + 2 * (0.05 * 0.95 / 200) ** 0.5


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as there:
        print(f"{100 * shown(Path(there) / 'one', 400):.1f} % of 400 worlds")
