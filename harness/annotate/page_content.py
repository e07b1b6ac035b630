"""One page: everything that it holds, as JSON for its scripts, and the file with its style, scripts and data.

It is blind: no item id, system, judge, label, construction or group. Its own policy forbids all requests but those to a local server.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import msgspec
from markupsafe import Markup

from harness.annotate.page_results import PageItem, ReviewedScore
from harness.content import Library
from harness.content.specs import ExitQuestion, Instructions, Interface, RubricWords
from harness.exchange.labels.label_sheets import right_to_left, title_of
from harness.exchange.labels.labelling_tasks import TaskSection, section_in
from harness.html_pages import asset, embedded, environment, policy, visible
from harness.model import Item, Scale
from harness.segmentation import words
from harness.text_measures import reading_seconds

_CLASS_LINE = re.compile(r"^\s*(\S+)\s*[:：]\s*(\S.*)$")
_STEPS = 100  # of a slider over the whole scale


class AnnotatorWords(msgspec.Struct, frozen=True):
    """The words of a page in the annotator's language, and English where there are none.

    `questions` are what the data say is asked about metrics without a rubric.
    """

    library: Library
    instructions: Instructions | None
    strings: dict[str, str]
    questions: Mapping[str, str] = {}

    def question(self, metric: str, scale: Scale) -> dict[str, Any]:
        """One question for the page: title, text, and the classes or the range to choose from."""
        rubric = self.instructions.rubrics.get(metric) if self.instructions else None
        if rubric is None and metric in self.library.rubric_files:
            rubric = RubricWords.of(self.library.rubric(metric))
        lines = (rubric.simple if rubric else self.questions.get(metric, "")).strip().splitlines()
        classes_named = {str(value) for value in scale.classes}
        # such as `2: yes, all of it.`
        hints = {match[1]: visible(match[2]) for line in lines if (match := _CLASS_LINE.match(line)) and match[1] in classes_named}
        question_lines = [line for line in lines if not (match := _CLASS_LINE.match(line)) or match[1] not in hints]
        question = {
            "id": metric,
            "title": rubric.title if rubric else title_of(metric, {}),
            "text": "\n".join(question_lines),
            "description": rubric.description.strip() if rubric else "",
            "best": scale.best,
        }
        if scale.kind == "interval":
            assert scale.min is not None and scale.max is not None
            whole_steps = scale.max - scale.min >= _STEPS // 2
            step = 1 if whole_steps else (scale.max - scale.min) / _STEPS
            if scale.steps:
                step = min(after - before for before, after in pairwise(scale.steps))
            said = {match[1]: match[2] for line in lines if (match := _CLASS_LINE.match(line))}
            ends = [visible(said.get(f"{end:g}", "")) for end in (scale.min, scale.max)]
            return question | {"kind": "number", "min": scale.min, "max": scale.max, "step": step, "ends": ends}
        points = rubric.criteria if rubric else {}
        names = {}
        if scale.swap:  # classes that say which of two texts is better: those that an exchange of the texts exchanges
            unmoved = [name for name in map(str, scale.classes) if scale.swap.get(name, name) == name]
            names = {"A": self.strings["text_a"], "B": self.strings["text_b"], **{name: self.strings["equal"] for name in unmoved[:1]}}
        classes = []
        for value in scale.classes:
            text = str(value)
            classes.append({"value": value, "name": names.get(text, text), "hint": hints.get(text, ""), "points": points.get(text, ())})
        return question | {"kind": "classes", "classes": self._with_yes_and_no(classes)}

    def _with_yes_and_no(self, classes: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return two classes of which one says yes and one no, in whatever words, with their keys y and n; other classes as they are.

        `0: yes.` has the name `Yes`, and `1: no, no such statement.` the name `No` with its words behind it.
        """
        answers: dict[str, dict[str, Any]] = {}
        for entry in classes:
            said = entry["hint"] or entry["name"]
            for key in ("yes", "no"):
                for opening in (self.strings[key], key):
                    rest = said[len(opening) :]
                    if said.casefold().startswith(opening.casefold()) and not rest[:1].isalnum():
                        answers.setdefault(key, entry | {"name": self.strings[key], "hint": rest.strip(" ,，、.。"), "key": key[0]})
                        break
        if len(classes) != 2 or len({entry["value"] for entry in answers.values()}) != 2:
            return classes
        return [next(answer for answer in answers.values() if answer["value"] == entry["value"]) for entry in classes]

    def exit_question(self, question: ExitQuestion) -> dict[str, Any]:
        """A question after the last text for the page, in its own words or in those of the interface."""
        texts = {part: getattr(question, part) for part in ("question", "low", "high")}
        if not question.question:
            texts = {part: self.strings.get(f"exit_{question.id}{'' if part == 'question' else f'_{part}'}", "") for part in texts}
        range_of = {"min": question.min, "max": question.max} if question.kind == "scale" else {}
        return {"id": question.id, "kind": question.kind, **{part: visible(text) for part, text in texts.items()}, **range_of}

    def task(self, section: TaskSection) -> dict[str, Any]:
        """Return a task for the page: what writers were asked to do, and the titles of its texts."""
        instruction = section_in(section, self.instructions) if self.instructions else section
        outputs = output_fields(self.library, section)
        fields = dict(instruction.fields)
        if section.task not in self.library.task_files:  # the names of columns: what they usually hold has words in every language
            usual = {"source": self.strings["source_text"], "output": self.strings["text_to_judge"]}
            fields |= {name: words for name, words in usual.items() if name in fields}
        return {"about": instruction.instruction.strip(), "fields": fields, "outputs": outputs}


def output_fields(library: Library, section: TaskSection) -> list[str]:
    """Return the texts to be judged: those that the task declares; without a task, those called output, else the last one."""
    if section.task in library.task_files:
        return [name for name in library.task(section.task).outputs if name in section.fields]
    outputs = [name for name in section.fields if name == "output" or name.startswith("output_")]
    return outputs or list(section.fields)[-1:]


SCHEMA_VERSION = 1


class PageContent(msgspec.Struct, frozen=True, kw_only=True):
    """Content that the pages of all annotators share."""

    interface: Interface
    words: AnnotatorWords
    language: str
    sections: dict[str, TaskSection]
    scales: dict[str, Scale]
    about: str = ""
    mark_errors: bool = False
    offensive: bool = False
    exit_questions: tuple[ExitQuestion, ...] = ()
    highlight_changes: bool = False
    reviewed: Mapping[str, Mapping[str, ReviewedScore]] = {}

    def item(self, entry: PageItem, item: Item) -> dict[str, Any]:
        """Return an item for the page: its key, task, texts, languages of those in another one, and questions.

        For practice also the expected answers, for a review the scores and reasons.
        """
        section = self.sections[item.task]
        texts = {name: visible(str(item.fields.get(name) or "")) for name in section.fields}
        questions = [metric for metric in section.metrics if entry.role != "practice" or metric in entry.expected]
        reviews = self.reviewed.get(item.item_id, {})
        if self.reviewed:
            questions = [metric for metric in questions if metric in reviews]
        entry_data: dict[str, Any] = {"key": entry.key, "task": item.task, "texts": texts, "questions": questions}
        languages = {name: item.language_of(name) for name in texts if item.language_of(name) != self.language}
        entry_data |= {"languages": languages} if languages else {}
        if self.highlight_changes and (spans := self._changed_places(item, texts)):
            entry_data["changed"] = spans
        if reviews:
            entry_data["reviews"] = {
                metric: {"score": reviews[metric].score, "reason": visible(reviews[metric].reason)} for metric in questions
            }
        if entry.role != "practice":
            return entry_data
        why = f"why_{str(item.fields.get('construction', '')).replace('-', '_')}"  # how a control item was made explains its scores
        return entry_data | {"expected": entry.expected} | ({"why": why} if why in self.interface.strings else {})

    def _changed_places(self, item: Item, texts: Mapping[str, str]) -> dict[str, list[tuple[int, int]]]:
        """`{judged text: places}` of the words that differ from the text before it; none where the task has no text to compare with."""
        outputs = output_fields(self.words.library, self.sections[item.task])
        originals = [name for name in texts if name not in outputs and texts[name].strip()]
        if not originals:
            return {}
        spans = {name: changed_words(texts[originals[-1]], texts[name], item.language) for name in outputs}
        return {name: changed for name, changed in spans.items() if changed}

    def page(
        self, annotator: str, entries: Sequence[PageItem], items: Mapping[str, Item], version: str, part: tuple[int, int]
    ) -> dict[str, Any]:
        """Return the JSON of one page, with its id, which is the hash of all the rest.

        Of `entries`, practice comes first, then items and checks in reading order; `items` are behind their keys. `version` is that of the
        data (`page_record.version_of`); `part` is the number of the page among the annotator's pages, and how many these are.
        """
        metrics = dict.fromkeys(metric for section in self.sections.values() for metric in section.metrics)
        kind = {"kind": "review"} if self.reviewed else {}
        page: dict[str, Any] = {
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
            page["review"] = True
        if self.offensive:
            page["offensive"] = True
        if self.exit_questions:
            page["exit"] = [self.words.exit_question(question) for question in self.exit_questions]
        shown_texts = [*page["practice"], *page["items"]]
        reasons = [review["reason"] for item in shown_texts for review in item.get("reviews", {}).values()]
        letters = sum(map(len, (*reasons, *(text for item in shown_texts for text in item["texts"].values()))))
        page["seconds"] = round(reading_seconds(letters, self.language, sum(len(item["questions"]) for item in shown_texts)))
        return {"page": hashlib.sha256(msgspec.json.encode(page)).hexdigest()[:16], **page}


def changed_words(original: str, altered: str, language: str) -> list[tuple[int, int]]:
    """Return the (start, end) of the parts of the altered text that are not in the original, in characters; words stay whole.

    A part that is missing from the altered text has no place in it.

    >>> changed_words("The film was good.", "The movie was good.", "en")
    [(4, 9)]
    >>> changed_words("Same.", "Same.", "en"), changed_words("one two three", "one three", "en")
    ([], [])
    """
    before, after = words(original, language), words(altered, language)
    starts = [0, *accumulate(map(len, after))]
    steps = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [(starts[low], starts[high]) for kind, _, _, low, high in steps if kind in ("replace", "insert")]


_FOLDER = Path(__file__).parent
_templates = cache(environment)
_STYLE = "page.css"
# Each has one idea; a later one may use the earlier ones. The first stands before the data: the browser opens its storage meanwhile.
SCRIPTS = (
    *("storage.js", "lock.js", "dom.js", "answers.js", "files.js"),
    "marks.js",
    "questions.js",
    "texts.js",
    "clock.js",
    "screens.js",
    "session.js",
)
SERVED = "server.js"
_EMBEDDED = '<script type="application/json" id="{}">(.*?)</script>'


def document(data: Mapping[str, Any], *, interface_language: str, token: str = "") -> str:
    """Return a whole page, from the JSON of `page_data`; its own words are in `interface_language`.

    `token` is that of the annotator on a local server, to which the page then sends answers; empty for a page that is sent as a file.
    """
    style = asset(_FOLDER / "assets" / _STYLE)
    items = [{name: value for name, value in item.items() if name != "texts"} for item in data["items"]]
    names = (*SCRIPTS[:-1], SERVED, SCRIPTS[-1]) if token else SCRIPTS
    scripts = [asset(_FOLDER / "assets" / name) for name in names]
    return (
        _templates(_FOLDER / "templates")
        .get_template("page.html")
        .render(
            language=interface_language,
            direction="rtl" if right_to_left(interface_language) else "ltr",
            policy=policy([style], scripts, connect="'self'" if token else ""),
            strings=data["strings"],
            style=Markup(style),
            data=embedded({**data, "items": items, "token": token}),
            texts=embedded([item["texts"] for item in data["items"]]),
            scripts=[Markup(script) for script in scripts],
        )
    )


def data_of(page: str) -> dict[str, Any] | None:
    """Return the JSON that `document` made a page of; None if it is no such page."""
    first, last = (re.search(_EMBEDDED.format(name), page, re.DOTALL) for name in ("page", "texts"))
    if first is None or last is None:
        return None
    data: dict[str, Any] = json.loads(first[1])
    for item, texts in zip(data["items"], json.loads(last[1]), strict=True):
        item["texts"] = texts
    return data
