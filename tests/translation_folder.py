"""A small data folder of translations: source texts in English, two systems' Czech outputs, people's scores from 0 to 100."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CARD = """
id = "small"
version = "1.0.0"
source = "native"
annotators = "persistent"
group = "doc_id"
segment = "segment"

[tasks]
translation = "translate"

[metrics.translation_quality]
kind = "interval"
min = 0
max = 100
best = 100
"""


def translation_items(texts: int = 12, **changed: Any) -> list[dict[str, Any]]:
    """Items of `texts` source texts by two systems; `changed` keys replace those of the first item."""
    items: list[dict[str, Any]] = [
        {
            "item_id": f"{text}-{system}",
            "language": "cs",
            "source_language": "en",
            "task": "translation",
            "doc_id": f"d{text}",
            "segment": text,
            "system": system,
            "source": f"The house number {text} has a green door.",
            "output": f"Dům číslo {text} má zelené dveře" + (" a okno." if system == "long" else "."),
        }
        for text in range(texts)
        for system in ("long", "short")
    ]
    items[0] |= changed
    return items


def write_translations(folder: Path, items: list[dict[str, Any]] | None = None, *, card: str = CARD) -> Path:
    """Write the folder: one person's scores, the short output's always higher."""
    items = translation_items() if items is None else items
    labels = [
        {
            "item_id": item["item_id"],
            "annotator_id": "eva" if number % 4 < 2 else "jan",
            "metric": "translation_quality",
            "score": 40 + number if item["system"] == "long" else 70 + number % 20,
        }
        for number, item in enumerate(items)
    ]
    for name, rows in (("items", items), ("labels", labels)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    (folder / "data.toml").write_text(card, "utf-8")
    return folder
