"""A data folder of several languages that a test writes, in which it is known what the judge's scores are worth."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tests.conftest import write_rows

SCALES = {
    "ordinal": 'kind = "ordinal"\nclasses = [1, 2, 3, 4, 5]\nbest = 5\n',
    "named": 'kind = "nominal"\nclasses = ["no", "partly", "yes"]\nbest = "yes"\n',
    "numbers": 'kind = "interval"\nmin = 0\nmax = 100\nbest = 100\n',
}


def languages_folder(
    path: Path,
    slopes: Mapping[str, float],
    *,
    kind: str = "ordinal",
    groups: int = 120,
    labelled: float = 1.0,
    apart: float = 0.0,
    seed: int = 0,
) -> Path:
    """Write the folder and return it: in each language groups of three texts, two labels each; the judge's score follows people's.

    A slope of 1 is a judge that knows what people mean (and is lenient), 0 one that knows nothing, -1 one that has it the wrong way round.
    Each language's judge is more lenient than the one before by `apart`.
    """
    rng = np.random.default_rng(seed)
    items, labels, judgments = [], [], []
    for at, (tag, slope) in enumerate(slopes.items()):
        for group in range(groups):
            seen, base = rng.random() < labelled, rng.normal(scale=0.5)
            for text in range(3):
                name, quality = f"{tag}-{group}-{text}", base + rng.normal()
                item = {
                    "item_id": name,
                    "language": tag,
                    "task": "chat",
                    "group": f"{tag}-{group}",
                    "output": name.ljust(int(rng.integers(20, 200)), "x"),
                }
                items.append(item)
                judged = slope * quality + (1 - abs(slope)) * rng.normal() + rng.normal(scale=0.4)
                judgments.append(
                    {"item_id": name, "judge": "model/one", "metric": "tone", "score": _score(kind, judged + 0.7 + apart * at)}
                )
                for who in ("p1", "p2") if seen else ():
                    said = _score(kind, quality + rng.normal(scale=0.5))
                    labels.append({"item_id": name, "annotator_id": f"{tag}-{who}", "metric": "tone", "score": said})
    path.mkdir(parents=True)
    for table, rows in (("items", items), ("labels", labels), ("judgments", judgments)):
        write_rows(path / f"{table}.jsonl", rows)
    (path / "data.toml").write_text(f'id = "made"\nannotators = "persistent"\nsampling = "random"\n[metrics.tone]\n{SCALES[kind]}', "utf-8")
    return path


def _score(kind: str, value: float) -> int | float | str:
    if kind == "numbers":
        return round(float(np.clip(50 + 20 * value, 0, 100)), 1)
    at = int(np.digitize(value, [-1.5, -0.5, 0.5, 1.5]))
    return at + 1 if kind == "ordinal" else ("no", "no", "partly", "yes", "yes")[at]
