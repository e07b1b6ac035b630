"""Multi_SummEval: focus and coverage of summaries in seven languages, rated by crowd workers, as z-scores within an assignment."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from harness.errors import ContentError
from harness.published.raw import RawFiles, Row, Tables, label, nfc, numbered, rounded

LANGUAGES = ("DE", "ES", "FR", "ID", "RU", "TR", "ZH")  # of English, only means are released
REFERENCE, SYSTEM = "REFERENCE", "SYSTEM"
METRICS = {REFERENCE: "focus", SYSTEM: "coverage"}  # the text that is shown first -> metric


class Key(NamedTuple):
    """The key of an entry, such as `DE-4370-SYSTEM-REFERENCE-PG`."""

    language: str
    document: str  # leading zeros stay
    first: str
    second: str
    model: str

    @property
    def doc_id(self) -> str:
        return f"{self.language.lower()}-{self.document}"

    @property
    def item_id(self) -> str:
        return f"{self.doc_id}-{self.model}"


def convert(raw: RawFiles) -> Tables:
    """Return one item a summary.

    Workers' ids are ids of a crowd platform: they are numbered by their first appearance in a language's file.
    """
    return {
        "items": (item for language in LANGUAGES for item in _items(raw, language)),
        "labels": _rated(raw, again=False),
        "second_ratings": _rated(raw, again=True),
    }


def _key(text: str) -> Key:
    return Key(*text.split("-"))


def _items(raw: RawFiles, language: str) -> Iterator[Row]:
    path = f"mturk/samples/data_{language}.csv"
    texts: dict[Key, Mapping[str, str]] = {}
    for row in raw.table(path) if raw.has(path) else []:
        key = _key(row["id"])
        texts[key._replace(first=REFERENCE, second=SYSTEM)] = {key.first: row["text1"], key.second: row["text2"]}
    for key in sorted(texts, key=lambda key: (int(key.document), key.model)):
        yield {
            "item_id": key.item_id,
            "language": language.lower(),
            "task": "summarization",
            "doc_id": key.doc_id,
            "system": key.model,
            "reference": nfc(texts[key][REFERENCE]),
            "output": nfc(texts[key][SYSTEM]),
        }


def _rated(raw: RawFiles, *, again: bool) -> Iterator[Row]:
    """Yield the ratings, of which some are the second ones of the same worker for the same item and metric."""
    for language in LANGUAGES:
        path = f"mturk/annotation_result/{language}/analysis_clean.csv"
        assignments = raw.table(path) if raw.has(path) else []
        people = numbered((row["worker_id"] for row in assignments), f"{language.lower()}-w", digits=2)
        seen: set[tuple[str, str, str]] = set()
        for assignment in assignments:
            # The scores of an assignment by the key of their entry; they are a literal of Python, which is read and never run.
            try:
                scores: dict[str, float] = ast.literal_eval(assignment["annotation_res"])
            except (ValueError, SyntaxError):
                raise ContentError("'annotation_res' holds no scores by entry", assignment.file, assignment.line) from None
            for text, score in scores.items():
                key = _key(text)
                rated = (key.item_id, people[assignment["worker_id"]], METRICS[key.first])
                if (rated in seen) == again:
                    yield label(*rated, rounded(score, 6))
                seen.add(rated)
