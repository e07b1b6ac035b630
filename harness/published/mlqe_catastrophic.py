"""MLQE-PE: does a translation from English hold a catastrophic error? Three people's answers in Czech, German, Japanese and Chinese."""

from __future__ import annotations

import json
from collections.abc import Iterator

from harness.published.raw import RawFiles, Row, Tables, label, nfc

FILES = "data/catastrophic_errors/en{}_majority_{}.tsv"
LANGUAGES = ("cs", "de", "ja", "zh")
PARTS = ("train", "dev")
METRIC = "critical_error"
CLASSES = {0: "no", 1: "yes", 2: "not_understandable", 3: "not_understandable"}  # which of source and output 2 and 3 mean is not said


def convert(raw: RawFiles) -> Tables:
    """Return one item a translation. Places in the released lists of three scores are the annotators."""
    return {"items": _items(raw), "labels": _labels(raw)}


def _rows(raw: RawFiles) -> Iterator[tuple[str, str, list[str]]]:
    """Yield language, part and row (ID, source, translation, list of scores, released label). The files have no header."""
    for tag in LANGUAGES:
        for part in PARTS:
            for path in raw.paths(FILES.format(tag, part)):
                for row in raw.lists(path, least=5, delimiter="\t"):
                    yield tag, part, row


def _items(raw: RawFiles) -> Iterator[Row]:
    for tag, part, (number, source, output, _, released, *_) in _rows(raw):
        yield {
            "item_id": f"{tag}-{number}",
            "language": tag,
            "task": "translation",
            "part": part,
            "source_language": "en",
            "source": nfc(source),
            "output": nfc(output),
            "released_label": released,
        }


def _labels(raw: RawFiles) -> Iterator[Row]:
    for tag, _, (number, _, _, scores, *_) in _rows(raw):
        for position, score in enumerate(json.loads(scores), start=1):
            name = CLASSES[score]
            yield label(
                f"{tag}-{number}", f"{tag}-pos{position}", METRIC, name, **({"released": score} if name == "not_understandable" else {})
            )
