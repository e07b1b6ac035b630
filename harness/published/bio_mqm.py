"""Bio-MQM: translations of medical abstracts from English, with the errors that linguists marked."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from harness.published.raw import RawFiles, Row, Tables, label, nfc, numbered, rounded
from harness.published.wmt import mqm_penalty, nfc_place

FOLDER = "data/v2/target/main_phase/round_two"
LANGUAGES = {"en2de": "de", "en2es": "es", "en2fr": "fr", "en2pt": "pt-BR", "en2zh": "zh"}  # folder -> tag
DIGITS = 4


class AbstractTranslation(NamedTuple):
    """A row of a file: one linguist's errors in one system's translation of a segment."""

    tag: str
    system: str
    content: dict[str, Any]

    @property
    def segment(self) -> str:
        """Return the released number of a segment differs from file to file: the hash of its source stands for it."""
        return hashlib.sha1(self.content["source"].encode(), usedforsecurity=False).hexdigest()[:8]

    @property
    def doc_id(self) -> str:
        return f"{self.tag}-{self.content['DOC_ID']}"

    @property
    def item_id(self) -> str:
        return f"{self.doc_id}-{self.segment}-{self.system}"


def convert(raw: RawFiles) -> Tables:
    """Return items in the order in which they first appear. The release has no score: it is the sum of our weights of the errors."""
    items: dict[str, Row] = {}
    labels: list[Row] = []
    for pair, tag in LANGUAGES.items():
        files = {path.rpartition("/")[2].removesuffix(".json"): raw.json(path) for path in sorted(raw.paths(f"{FOLDER}/{pair}/*.json"))}
        people = numbered(sorted(row["Annotator_ID"] for rows in files.values() for row in rows), f"{tag}-l")
        for translation in _translations(tag, files):
            content = translation.content
            item = {
                "item_id": translation.item_id,
                "language": tag,
                "task": "translation",
                "doc_id": translation.doc_id,
                "segment": translation.segment,
                "system": translation.system,
                "source_language": "en",
                "source": nfc(content["source"]),
                "output": nfc(content["target"]),
            }
            items.setdefault(translation.item_id, item)
            penalties = []
            for error in content["target_errors"]:
                severity = error["severity"].lower()
                is_punctuation = severity == "minor" and error["error_subcategory"] == "Punctuation"
                penalties.append(mqm_penalty(severity, punctuation=is_punctuation))
            score = rounded(-sum(penalties), DIGITS)
            spans = [_span(error, content["target"]) for error in content["target_errors"]]
            labels.append(label(translation.item_id, people[content["Annotator_ID"]], "mqm", score, spans=spans))
    return {"items": items.values(), "labels": labels}


def _translations(tag: str, files: dict[str, list[dict[str, Any]]]) -> Iterator[AbstractTranslation]:
    """Yield the rows of a language without segments that a linguist has twice in a file: their text was filled in from another segment."""
    for system, rows in files.items():
        seen = Counter((row["DOC_ID"], row["source"], row["Annotator_ID"]) for row in rows)
        repeated = {(document, source) for (document, source, _), count in seen.items() if count > 1}
        for row in rows:
            if (row["DOC_ID"], row["source"]) not in repeated:
                yield AbstractTranslation(tag, system, row)


def _span(error: dict[str, Any], text: str) -> Row:
    kind = "/".join(part for part in (error["error_category"], error["error_subcategory"]) if part)
    span = {"severity": error["severity"].lower(), "type": kind}
    term = error["term"].strip()
    # A term stands at its released place, or else where it occurs if it occurs once.
    piece = text[error["startIndex"] : error["endIndex"] + 1]
    if piece.strip() == term:
        start = int(error["startIndex"]) + len(piece) - len(piece.lstrip())
    elif term and text.count(term) == 1:
        start = text.find(term)
    else:
        return {**span, "text": nfc(error["term"]), "unplaced": True}
    return {**span, "start": nfc_place(text, start), "end": nfc_place(text, start + len(term))}
