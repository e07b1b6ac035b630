"""A data folder that a test writes: texts in groups, two systems, people's labels of some of them, and a judge's scores of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tests.conftest import write_rows

TOML = """id = "made"
annotators = "persistent"
source = "{source}"
{sampling}
[metrics.tone]
kind = "ordinal"
classes = [0, 1, 2]
best = 2
[metrics.errors]
kind = "ordinal"
classes = [0, 1]
best = 0
"""
Fields = Callable[[int, str, np.random.Generator], Mapping[str, Any]]


def judged_folder(
    path: Path,
    *,
    prompts: int = 120,
    labelled: float = 0.5,
    sampling: str = "random",
    judge: str = "model/one",
    repeats: int = 1,
    probabilities: bool = False,
    annotators: int = 3,
    seed: int = 0,
    noise: float = 0.25,
    fields: Fields = lambda number, system, rng: {},
    language: str = "ja",
    source: str = "native",
) -> Path:
    """Write the folder and return it.

    Each prompt is a group with a text of system `a` and one of system `b`, which is better. People label a share of the prompts.
    The judge is lenient by a class with the chance `noise`, and otherwise says what people mean.
    """
    rng = np.random.default_rng(seed)
    items, labels, judgments = [], [], []
    for number in range(prompts):
        chosen = rng.random() < labelled
        for system, level in (("a", 0.45), ("b", 0.7)):
            name = f"{system}{number}"
            item = {
                "item_id": name,
                "language": language,
                "task": "chat",
                "system": system,
                "group": f"p{number}",
                "output": f"文章 {name}。",
            }
            items.append(item | fields(number, system, rng))
            truth = {"tone": int(rng.binomial(2, level)), "errors": int(rng.random() > level)}
            for metric, value in truth.items():
                top = 2 if metric == "tone" else 1
                for who in range(annotators if chosen else 0):
                    said = value if rng.random() < 0.85 else int(rng.integers(0, top + 1))
                    labels.append({"item_id": name, "annotator_id": f"p{who}", "metric": metric, "score": said})
                for repeat in range(repeats):
                    sure = rng.random() > noise
                    score = value if sure else min(value + 1, top)
                    row: dict[str, Any] = {"item_id": name, "judge": judge, "metric": metric, "score": score, "repeat": repeat}
                    if probabilities:
                        chance = float(rng.uniform(0.7, 1.0) if sure else rng.uniform(0.4, 0.75))
                        row["probs"] = {str(score): chance, str((score + 1) % (top + 1)): 1 - chance}
                    judgments.append(row)
    for name, rows in (("items", items), ("labels", labels), ("judgments", judgments)):
        write_rows(path / f"{name}.jsonl", rows)
    (path / "data.toml").write_text(TOML.format(source=source, sampling=f'sampling = "{sampling}"' if sampling else ""), "utf-8")
    return path
