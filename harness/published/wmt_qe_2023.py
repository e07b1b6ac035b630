"""WMT23 quality estimation: translations from English into four languages of India, scored from 0 to 100 by three or four people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from harness.published.raw import RawFiles, RawRow, Row, Tables, label, nfc, whole

LANGUAGES = ("gu", "hi", "ta", "te")
PARTS = ("dev", "train")


class Translation(NamedTuple):
    """A row of a file, with the language and the part that the file's path names."""

    tag: str
    part: str
    row: RawRow

    @property
    def item_id(self) -> str:
        return f"{self.tag}-{self.part}-{int(self.row['index']):04d}"


def convert(raw: RawFiles) -> Tables:
    """Return one item a translation. The people of a language are places in its lists of scores."""
    translations = [
        Translation(tag, part, row)
        for tag in LANGUAGES
        for part in PARTS
        for path in raw.paths(f"task_1/en-{tag}/{part}.en{tag}.df.short.tsv")
        for row in raw.table(path, delimiter="\t")
    ]
    return {"items": map(_item, translations), "labels": (row for translation in translations for row in _labels(translation))}


def _item(translation: Translation) -> Row:
    return {
        "item_id": translation.item_id,
        "language": translation.tag,
        "task": "translation",
        "part": translation.part,
        "source_language": "en",
        "source": translation.row["original"],
        "output": nfc(translation.row["translation"]),
    }


def _labels(translation: Translation) -> Iterator[Row]:
    for position, score in enumerate(json.loads(translation.row["scores"]), start=1):
        yield label(translation.item_id, f"{translation.tag}-pos{position}", "translation_quality", whole(score))
