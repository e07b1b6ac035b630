"""The names of fields in score records: those of a program, from presets.toml, with those of the user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from harness.content.tags import suggest
from harness.errors import UsageError
from harness.exchange.labels.table import flat, is_blank

TABLE = "table"
_PRESETS = Path(__file__).with_name("presets.toml")
_NO_FIELDS = ("each", "people", "quoted", "who_first")  # attributes that name no field of a record
# What programs write beside records that no longer count, in any style of key; a moment says it too (`deleted_at`).
_EXCLUDED = frozenset(
    f"{prefix}{word}{suffix}"
    for word in (
        "archived",
        "cancelled",
        "canceled",
        "deleted",
        "disabled",
        "discarded",
        "excluded",
        "invalidated",
        "skipped",
        "superseded",
    )
    for prefix, suffix in (("", ""), ("is", ""), ("was", ""), ("", "at"))
)
_COUNTED = frozenset(("valid", "isvalid"))
_STATES, _ENDED = ("status", "state"), ("archived", "deleted", "discarded", "excluded", "invalidated", "superseded")


class RecordNames(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of the parts of a score in a record; nested keys are joined by dots, and `traceId` is found as `trace_id` too.

    Attributes:
        each: the lists that lead to the records; what stands around a record has the name of its list in front.
        item, metric, value, who, annotator: names; the first that a record has counts.
        id_from: names whose values together are the item's id; they replace `item`.
        explanation, repeat, variant, temperature: names.
        error: the name of what says why there is no score.
        kind, people: the name of the kind of source, and its values that mean a person.
        annotator: names of a person. A record that names no kind and no judge is this person's.
        who_first: whether a list names the judge first, and then how it was asked.
        skip: `{name: value}` of records that do not count.
        unread: `{name: value}` of records whose score stands for a reply that could not be read.
        truth: `{name: value}` of records whose value is a truth value, written as a number or a word.
        texts: texts of the items, by our name.
        quoted: whether these texts are JSON, so that a plain text stands in quotation marks.
    """

    item: tuple[str, ...] = ()
    id_from: tuple[str, ...] = ()
    metric: str | tuple[str, ...] = "metric"
    value: tuple[str, ...] = ("score", "value")
    each: tuple[str, ...] = ()
    explanation: str = ""
    who: tuple[str, ...] = ()
    annotator: tuple[str, ...] = ()
    who_first: bool = False
    kind: str = ""
    people: tuple[str, ...] = ()
    error: str = ""
    repeat: str = ""
    variant: str = ""
    temperature: str = ""
    skip: dict[str, Any] = {}
    unread: dict[str, Any] = {}
    truth: dict[str, Any] = {}
    texts: dict[str, str] = {}
    quoted: bool = False

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metric's field; the first that a record has counts."""
        return (self.metric,) if isinstance(self.metric, str) else self.metric

    @property
    def about_score(self) -> frozenset[str]:
        """The names of fields that are about the score, not about the item."""
        return frozenset((*self.metrics, self.explanation, self.kind, self.error, *self.value, *self.who, *self.annotator))

    def spelt_as_in(self, fields: Iterable[str]) -> RecordNames:
        """Return the names as a file spells them: exports write `trace_id` where the same program's interface has `traceId`."""
        spellings = {name: name for name in fields}
        by_folded = {_fold_name(name): name for name in reversed(spellings)}

        def spelt(name: str) -> str:
            return spellings.get(name) or by_folded.get(_fold_name(name), name)

        changes: dict[str, Any] = {}
        for attribute, value in msgspec.structs.asdict(self).items():
            if attribute in _NO_FIELDS:
                continue
            if isinstance(value, dict):
                texts = attribute == "texts"
                changes[attribute] = {key if texts else spelt(key): spelt(label) if texts else label for key, label in value.items()}
            else:
                changes[attribute] = spelt(value) if isinstance(value, str) else tuple(map(spelt, value))
        return msgspec.structs.replace(self, **changes)

    def fits(self, content: Any) -> bool:
        """Return whether a JSON file has these names: by its lists, else by the fields of its first record."""
        first, *inner = self.each or ("",)
        rows = member(content, first) if isinstance(content, dict) else content
        if not (isinstance(rows, list) and rows and isinstance(rows[0], dict)):
            return False
        if isinstance(content, dict) and inner:
            return any(isinstance(member(row, inner[0]), list) for row in rows)
        fields = {_fold_name(name) for name in flat(rows[0])}
        if inner:
            items = (name.removeprefix(f"{first}.") for name in self.item)
            return isinstance(member(rows[0], inner[0]), list) and any(_fold_name(name) in fields for name in items)
        if self.id_from:
            return all(_fold_name(name) in fields for name in (*self.id_from, self.explanation, *self.who))
        alternatives = (self.metrics, (self.kind,), self.item)
        return bool(self.kind) and all(any(_fold_name(name) in fields for name in names) for names in alternatives)

    def exclusion(self, row: Mapping[str, Any]) -> str | None:
        """Return why a record does not count for the program that wrote it; None if it counts."""
        for name, skipped in self.skip.items():
            if name in row and same_value(row[name], skipped):
                return f"records with '{name}' {_format_value(row[name])}"
        levels = {"", *(step.rpartition(".")[2] for step in self.each)}  # of the record and what stands around it, not of the item's data
        for name, value in row.items():
            level, _, key = name.rpartition(".")
            if is_blank(value) or level not in levels or name in self.about_score:
                continue
            if (
                (_fold_name(key) in _EXCLUDED and not _is_false(value))
                or (_fold_name(key) in _COUNTED and _is_false(value))
                or (_fold_name(key) in _STATES and str(value).strip().casefold() in _ENDED)
            ):
                return f"records with '{name}' {_format_value(value)}"
        return None


def same_value(value: Any, expected: Any) -> bool:
    """Return whether a cell has a value, or one of a list of values; tables write numbers and truth values as text.

    >>> same_value("False", False), same_value("-1.0", -1), same_value(1, True), same_value("draft", ["draft", "deleted"])
    (True, True, False, True)
    """
    if isinstance(expected, (list, tuple)):
        return any(same_value(value, one_of) for one_of in expected)
    if isinstance(expected, (int, float)) and not isinstance(expected, bool):
        try:
            return not isinstance(value, bool) and float(value) == expected
        except (TypeError, ValueError, OverflowError):
            return False
    return not is_blank(value) and str(value).strip().casefold() == str(expected).casefold()


def _is_false(value: Any) -> bool:
    return same_value(value, [False, "no", "n", 0, "none", "null", "nan"]) or value == []


def _format_value(value: Any) -> str:
    return str(value).strip().casefold()[:40]


def _fold_name(name: str) -> str:
    """Return a field's name without its style.

    >>> _fold_name("data.trace_id") == _fold_name("data.traceId")
    True
    """
    return name.replace("_", "").casefold()


def member(node: Any, path: str) -> Any:
    """Return the member at a path of keys, in any style of key; None if there is none."""
    for key in path.split("."):
        if not isinstance(node, dict):
            return None
        node = node[key] if key in node else next((value for name, value in node.items() if _fold_name(name) == _fold_name(key)), None)
    return node


@cache
def presets() -> dict[str, RecordNames]:
    """Return the presets by name."""
    return msgspec.toml.decode(_PRESETS.read_bytes(), type=dict[str, RecordNames])


def preset(name: str) -> RecordNames:
    """Return the preset of a name. Raises UsageError for another name."""
    if name not in presets():
        raise UsageError(f"no preset '{name}'.{suggest(name, presets())} Choose from: {', '.join(presets())}")
    return presets()[name]


def preset_of(content: Any) -> str | None:
    """Return the first preset that fits a JSON file; None if there is none."""
    return next((name for name, names in presets().items() if names.fits(content)), None)
