"""An invented data folder of two judges, a cheap one and a better one, that know roughly when they are wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.conftest import write_rows

CARD = 'id = "invented"\nannotators = "persistent"\nsampling = "random"\n[metrics.tone]\nkind = "ordinal"\nclasses = [0, 1, 2]\nbest = 2\n'
SKILL = {"openai/cheap": 1.0, "openai/better": 2.2}


def cascade_folder(path: Path, *, texts: int = 600, per_group: int = 1, seed: int = 3) -> Path:
    """Write the folder and return it: in Czech, one text in ten without a commonest label; a judge is right with its stated probability."""
    draw = np.random.default_rng(seed)
    items, labels, judgments = [], [], []
    for number in range(texts):
        name, truth = f"t{number}", int(draw.integers(3))
        items.append({"item_id": name, "language": "cs", "task": "chat", "group": f"g{number // per_group}", "output": f"Text {name}."})
        said = [0, 1, 2] if draw.random() < 0.1 else [truth] * 3
        labels += [{"item_id": name, "annotator_id": who, "metric": "tone", "score": score} for who, score in zip("abc", said, strict=True)]
        ease = draw.normal()
        for judge, skill in SKILL.items():
            sure = float(1 / (1 + np.exp(-(skill + 1.5 * ease + draw.normal(0, 0.3)))))
            sure = round(max(0.34, sure), 4)
            score = truth if draw.random() < sure else (truth + 1) % 3
            probs = {str(c): sure if c == score else round((1 - sure) / 2, 4) for c in range(3)}
            judgments.append({"item_id": name, "judge": judge, "metric": "tone", "score": score, "probs": probs})
    for table, rows in (("items", items), ("labels", labels), ("judgments", judgments)):
        write_rows(path / f"{table}.jsonl", rows)
    (path / "data.toml").write_text(CARD, encoding="utf-8")
    return path
