"""MLQE-PE: does a translation from English hold a catastrophic error? Three people's answers in Czech, German, Japanese and Chinese."""

from __future__ import annotations

import json
from itertools import product

from harness.published.raw import RawFiles, Row, Tables, label, nfc

FILES = "data/catastrophic_errors/en{}_majority_{}.tsv"
LANGUAGES = ("cs", "de", "ja", "zh")
PARTS = ("train", "dev")
METRIC = "critical_error"
CLASSES = {0: "no", 1: "yes", 2: "not_understandable", 3: "not_understandable"}  # which of source and output 2 and 3 mean is not said


def convert(raw: RawFiles) -> Tables:
    """Return one item a translation. Places in the released lists of three scores are the annotators."""
    items: list[Row] = []
    labels: list[Row] = []
    for tag, part in product(LANGUAGES, PARTS):
        for path in raw.paths(FILES.format(tag, part)):
            for number, source, output, scores, released, *_ in raw.lists(path, least=5, delimiter="\t"):  # the files have no header
                item = {
                    "item_id": f"{tag}-{number}",
                    "language": tag,
                    "task": "translation",
                    "part": part,
                    "source_language": "en",
                    "source": nfc(source),
                    "output": nfc(output),
                    "released_label": released,
                }
                items.append(item)
                for position, score in enumerate(json.loads(scores), start=1):
                    name = CLASSES[score]
                    more = {"released": score} if name == "not_understandable" else {}
                    labels.append(label(item["item_id"], f"{tag}-pos{position}", METRIC, name, **more))
    return {"items": items, "labels": labels}
