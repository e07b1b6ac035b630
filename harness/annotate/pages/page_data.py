"""Everything that one page holds, as JSON for its scripts. It is blind: no item id, system, judge, label, construction or group."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from harness.annotate.answers.page_record import PageItem, ReviewedScore
from harness.annotate.pages.questions import AnnotatorWords
from harness.content.specs import Interface
from harness.content.tags import likely_script
from harness.exchange.labels.sections import TaskSection
from harness.exchange.labels.sheet import right_to_left
from harness.model import Item, Scale
from harness.pages import visible

SCHEMA_VERSION = 1
# How fast people read: letters a second, by whether a letter is about a word or a sound. A first guess; the page measures its reader.
_LETTERS_A_SECOND = {True: 6.0, False: 16.0}
_WORD_SCRIPTS = {"Hans", "Hant", "Jpan", "Kore"}
_SECONDS_A_QUESTION = 8.0


class PageContent(msgspec.Struct, frozen=True, kw_only=True):
    """What the pages of all annotators share."""

    interface: Interface
    words: AnnotatorWords
    language: str
    sections: dict[str, TaskSection]
    scales: dict[str, Scale]
    about: str = ""
    mark_errors: bool = False
    offensive: bool = False
    reviewed: Mapping[str, Mapping[str, ReviewedScore]] = {}

    def item(self, entry: PageItem, item: Item) -> dict[str, Any]:
        """An item for the page: its key, task, texts, languages of those in another one, and questions.

        For practice also the expected answers, for a review the scores and reasons.
        """
        section = self.sections[item.task]
        texts = {name: visible(str(item.fields.get(name) or "")) for name in section.fields}
        questions = [metric for metric in section.metrics if entry.role != "practice" or metric in entry.expected]
        reviews = self.reviewed.get(item.item_id, {})
        if self.reviewed:
            questions = [metric for metric in questions if metric in reviews]
        own: dict[str, Any] = {"key": entry.key, "task": item.task, "texts": texts, "questions": questions}
        languages = {name: item.language_of(name) for name in texts if item.language_of(name) != self.language}
        own |= {"languages": languages} if languages else {}
        if reviews:
            own["reviews"] = {metric: {"score": reviews[metric].score, "reason": visible(reviews[metric].reason)} for metric in questions}
        return own | ({"expected": entry.expected} if entry.role == "practice" else {})

    def page(
        self, annotator: str, entries: Sequence[PageItem], items: Mapping[str, Item], version: str, part: tuple[int, int]
    ) -> dict[str, Any]:
        """The JSON of one page, with its id, which is the hash of all the rest.

        Of `entries`, practice comes first, then items and checks in reading order; `items` are behind their keys. `version` is that of the
        data (`page_record.version_of`); `part` is the number of the page among the annotator's pages, and how many these are.
        """
        metrics = dict.fromkeys(metric for section in self.sections.values() for metric in section.metrics)
        kind = {"kind": "review"} if self.reviewed else {}
        shown: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "version": version,
            "annotator": annotator,
            "part": part,
            "language": self.language,
            "direction": "rtl" if right_to_left(self.language) else "ltr",
            "about": visible(self.about),
            "reviewed": bool(self.interface.reviewed_by),
            "strings": self.interface.strings,
            "tasks": {name: self.words.task(section) for name, section in self.sections.items()},
            "questions": {metric: self.words.question(metric, self.scales[metric]) | kind for metric in metrics},
            "mark_errors": self.mark_errors,
            "practice": [self.item(entry, items[entry.key]) for entry in entries if entry.role == "practice"],
            "items": [self.item(entry, items[entry.key]) for entry in entries if entry.role != "practice"],
        }
        if self.reviewed:
            shown["review"] = True
        if self.offensive:
            shown["offensive"] = True
        shown["seconds"] = self._seconds([*shown["practice"], *shown["items"]])
        return {"page": hashlib.sha256(msgspec.json.encode(shown)).hexdigest()[:16], **shown}

    def _seconds(self, items: Sequence[dict[str, Any]]) -> int:
        reasons = [one["reason"] for item in items for one in item.get("reviews", {}).values()]
        letters = sum(map(len, (*reasons, *(text for item in items for text in item["texts"].values()))))
        return round(reading_seconds(letters, self.language, sum(len(item["questions"]) for item in items)))


def reading_seconds(letters: int, language: str, questions: int) -> float:
    """About how long a first reading of so many letters and the answers to so many questions take.

    >>> reading_seconds(160, "cs", 1), reading_seconds(60, "ja", 0)
    (18.0, 10.0)
    """
    return letters / _LETTERS_A_SECOND[likely_script(language) in _WORD_SCRIPTS] + _SECONDS_A_QUESTION * questions
