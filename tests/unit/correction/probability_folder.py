"""A data folder with a judge's probabilities that a test writes, in which it is known how far they hold in each language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from tests.conftest import write_rows

Right = Callable[[float], float]
"""How often an answer is right that the judge gives a probability."""


def probability_folder(
    path: Path,
    languages: Mapping[str, Right],
    *,
    texts: int = 600,
    classes: int = 2,
    annotators: int = 3,
    probs: bool = True,
    sampling: str = "random",
    seed: int = 0,
) -> Path:
    """Write the folder and return it: pairs of texts, people who agree on a class but for one label in twenty, and a judge."""
    rng = np.random.default_rng(seed)
    items, labels, judgments = [], [], []
    for tag, right in languages.items():
        for text in range(texts):
            name, truth = f"{tag}{text}", int(rng.integers(classes))
            sure = float(0.6 + 0.39 * rng.beta(2.2, 0.7))
            score = truth if rng.random() < right(sure) else (truth + 1) % classes
            items.append({"item_id": name, "language": tag, "task": "chat", "group": f"{tag}-{text // 2}", "output": f"text {name}"})
            judgment = {"item_id": name, "judge": "acme/decider", "metric": "good", "score": score}
            shares = {str(c): sure if c == score else (1 - sure) / (classes - 1) for c in range(classes)}
            judgments.append({**judgment, "probs": shares} if probs else judgment)
            for who in range(annotators):
                said = truth if rng.random() < 0.95 else (truth + 1) % classes
                labels.append({"item_id": name, "annotator_id": f"{tag}-{who}", "metric": "good", "score": said})
    path.mkdir(parents=True)
    for table, rows in (("items", items), ("labels", labels), ("judgments", judgments)):
        write_rows(path / f"{table}.jsonl", rows)
    scale = f'[metrics.good]\nkind = "ordinal"\nclasses = {list(range(classes))}\nbest = {classes - 1}\n'
    (path / "data.toml").write_text(f'id = "made"\nannotators = "persistent"\nsampling = "{sampling}"\n{scale}', "utf-8")
    return path
