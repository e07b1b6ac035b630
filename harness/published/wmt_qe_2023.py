"""WMT23 quality estimation: translations from English into four languages of India, scored from 0 to 100 by three or four people."""

from __future__ import annotations

import json
from itertools import product

from harness.published.raw import RawFiles, Row, Tables, label, nfc, whole

LANGUAGES = ("gu", "hi", "ta", "te")
PARTS = ("dev", "train")


def convert(raw: RawFiles) -> Tables:
    """Return one item a translation. The people of a language are places in its lists of scores."""
    items: list[Row] = []
    labels: list[Row] = []
    for tag, part in product(LANGUAGES, PARTS):
        for path in raw.paths(f"task_1/en-{tag}/{part}.en{tag}.df.short.tsv"):
            for row in raw.table(path, delimiter="\t"):
                item = {
                    "item_id": f"{tag}-{part}-{int(row['index']):04d}",
                    "language": tag,
                    "task": "translation",
                    "part": part,
                    "source_language": "en",
                    "source": row["original"],
                    "output": nfc(row["translation"]),
                }
                items.append(item)
                for position, score in enumerate(json.loads(row["scores"]), start=1):
                    labels.append(label(item["item_id"], f"{tag}-pos{position}", "translation_quality", whole(score)))
    return {"items": items, "labels": labels}
