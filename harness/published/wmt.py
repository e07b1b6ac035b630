"""Common parts of the releases of the translation campaigns at WMT: rows of scores, error spans, texts by line."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from harness.published.raw import Row, nfc

PENALTIES = {"minor": 1, "major": 5}
PUNCTUATION = 0.1  # in MQM, whatever its severity
MQM_PENALTIES = {"neutral": 0, "undecided": 0, **PENALTIES, "critical": 25}
POINTS_A_PENALTY = 4  # a score from 0 to 100 loses four points a minor error


class Rating(NamedTuple):
    """A row of a campaign's scores, as the annotation tool writes it, without a header."""

    login: str
    system: str
    item: str
    kind: str  # TGT, or BAD for a damaged translation
    source_language: str
    target_language: str
    score: str
    document: str
    unused: str
    spans: str
    start: str
    end: str

    @property
    def end_time(self) -> float:
        return float(self.end)

    @property
    def marked(self) -> list[dict[str, Any]]:
        """Return the spans as the tool gives them: `start_i` and `end_i` are places of characters, the last one included."""
        spans: list[dict[str, Any]] = json.loads(self.spans)
        return spans


def ratings(rows: Iterable[Sequence[str]]) -> list[Rating]:
    """Return the rows of a file of scores, without those of the tutorial."""
    return [rating for row in rows if "tutorial" not in (rating := Rating(*row)).document]


def latest(rows: Iterable[tuple[Any, Rating]]) -> dict[Any, Rating]:
    """Keep the last rating of each key."""
    last_ratings: dict[Any, Rating] = {}
    for key, rating in rows:
        if key not in last_ratings or rating.end_time >= last_ratings[key].end_time:
            last_ratings[key] = rating
    return last_ratings


def translation_item(item_id: str, tag: str, document: Sequence[str], segment: int, system: str, source: str, output: str) -> Row:
    """Return the item of a translation from English; `document` is its domain and its name."""
    domain, name = document
    return {
        "item_id": item_id,
        "language": tag,
        "task": "translation",
        "doc_id": name,
        "domain": domain,
        "segment": segment,
        "system": system,
        "source_language": "en",
        "source": nfc(source),
        "output": nfc(output),
    }


def place(span: dict[str, Any], text: str) -> Row:
    """Return where a span stands in the NFC form of a text, the end excluded; `missing` for what the translation leaves out."""
    start, end = span["start_i"], span["end_i"]
    if start == "missing" or start >= len(text):
        return {"missing": True}
    return {"start": nfc_place(text, start), "end": nfc_place(text, min(end + 1, len(text)))}


def nfc_place(text: str, position: int) -> int:
    """Return the place in the NFC form of a text that a place in the text becomes."""
    return position if unicodedata.is_normalized("NFC", text) else len(nfc(text[:position]))


def score_of_penalty(penalty: float) -> float:
    """Return a score from 0 to 100: 100 less four points for each point of penalty, at least 0."""
    return max(0, 100 - POINTS_A_PENALTY * penalty)


def mqm_penalty(severity: str, *, punctuation: bool) -> float:
    """Return the penalty of an error in MQM; errors of punctuation count a tenth of a point when they have any weight.

    >>> mqm_penalty("critical", punctuation=False), mqm_penalty("minor", punctuation=True)
    (25, 0.1)
    """
    return PUNCTUATION if punctuation else MQM_PENALTIES[severity]
