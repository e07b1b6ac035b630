"""The items of a page as JSON: each text once, each column as codes into its values. 20,000 judgments take a few megabytes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.content import Library
from harness.content.tags import english_name
from harness.data.columns import NO_VALUE, CodedColumn
from harness.data.dataset import Dataset
from harness.data.labels import OUTPUT, Labels, lies_in
from harness.html_pages import visible
from harness.measure.judged_table import JudgedTable
from harness.model import CONDITION, SIDE, Item
from harness.offensive_texts import WARNING, hides_texts
from harness.reports.answer.judged_sides import Side, plainest_first
from harness.reports.answer.verdict_words import condition_words
from harness.reports.tables.columns import metric_title
from harness.runs import Evidence

MOST_JUDGMENTS = 90_000
"""A page with more would be slow on a phone. Whole items are then left out: drawn at random, but always the same ones."""
_TEXT_LENGTH, _REPLY_LENGTH, _NAME_LENGTH = 20_000, 4_000, 300  # characters that a page shows
_MOST_BYTES = 8_000_000
"""Of all texts, reasons and replies of a page, so that a page of 90,000 judgments stays below 12 MB."""
_SHORTER = (2_000, 1_000, 500, 250, 120, 60)  # characters of each, where longer ones do not fit
_COLUMNS = (*CONDITION, "perturbation", "repeat", "order", "score", "failure", "further_numbers")


ItemKey = tuple[str, str]
"""The data set of an item where there are several sources, and its id."""


@dataclass(frozen=True)
class BrowserSource:
    """The judgments of one source that a page shows: `rows` are those of the table, `evidence` is in the same order."""

    name: str
    table: JudgedTable
    rows: NDArray[np.int64]
    evidence: Evidence | None = None


def chosen(sources: Sequence[JudgedTable], most: int = MOST_JUDGMENTS) -> list[NDArray[np.int64]]:
    """Return the rows of each source that a page shows: all, or those of as many whole items as fit, drawn by the hash of their ids."""
    if sum(map(len, sources)) <= most:
        return [np.arange(len(source)) for source in sources]
    counts: dict[str, int] = {}
    for source in sources:
        number = np.bincount(source.item, minlength=len(source.data.items))
        for item, judged in zip(source.data.items, number.tolist(), strict=True):
            counts[item.item_id] = counts.get(item.item_id, 0) + judged
    selected, room = set(), most
    for name in sorted(counts, key=lambda name: hashlib.sha256(name.encode("utf-8", "replace")).digest()):
        if counts[name] <= room:
            room -= counts[name]
            selected.add(name)
    masks = (np.array([item.item_id in selected for item in source.data.items], bool)[source.item] for source in sources)
    return [np.flatnonzero(mask) for mask in masks]


def items_json(
    sources: Sequence[BrowserSource],
    fields: frozenset[str] = frozenset(),
    libraries: Sequence[Library] = (),
    judges: Sequence[tuple[Any, Any]] = (),
) -> dict[str, Any]:
    """Everything that the browser shows.

    `fields` are the texts that tasks have; other texts of an item are shown as notes about it. Without `fields`, all count as texts.
    In the result, `rows` has columns in the order of items and metrics, which refer to `items` and `labels`; `second` has the scores and
    errors of a second round, which are no reference. A column is `{"v": values, "c": codes}`; the codes are one number where all rows
    have the same, and -1 stands for no value. `sides` are who judged and how, `[*SIDE, the condition in words]`: `judges` (source, which
    is None where there is one, and name) come first, and each from its plainest condition on. `scales` say where scores of a metric lie
    between its ends: `{kind, classes, positions, low, high}`; with `positions`, classes stand for theirs. `words` are those of classes,
    of metrics that a library has a rubric for. `shortened` is the length to which texts and replies are cut because they would not fit
    otherwise, None where they fit. `constructed` labels are nobody's. With a `warning`, texts and what quotes them stand behind a click.
    """
    items: dict[ItemKey, Item] = {}
    item_keys: list[ItemKey] = []  # of each judgment
    for source in sources:
        data, item_indices = source.table.data, source.table.item[source.rows]
        keys = {index: (data.sha256 if len(sources) > 1 else "", data.items[index].item_id) for index in np.unique(item_indices).tolist()}
        for index, key in keys.items():
            items.setdefault(key, data.items[index])
        item_keys += map(keys.__getitem__, item_indices.tolist())
    numbers = {key: number for number, key in enumerate(sorted(items, key=lambda key: (items[key].language, items[key].task)))}
    shown_items = [items[key] for key in numbers]
    item = np.array([numbers[key] for key in item_keys], np.int64)
    columns = _joined(sources)
    errors = columns.pop("errors")
    shorter = _fitting_length(shown_items, (columns["justification"], columns["reply"]))
    sorting = np.lexsort((columns["metric"].codes, item))
    rows = {
        name: _coded(column.take(sorting), partial(_shown_reply, most=shorter) if name in ("justification", "reply") else _shown_value)
        for name, column in columns.items()
    }
    words: dict[str, dict[str, str]] = {}  # what the classes of a metric mean, from a rubric on the same scale
    for metric in _metrics(sources):
        classes = next(source.table.data.scales[metric].classes for source in sources if metric in source.table.data.scales)
        rubrics = [library.rubric(metric) for library in libraries if metric in library.rubric_files]
        if of_classes := next((rubric.class_words for rubric in rubrics if rubric.scale.classes == classes), {}):
            words[metric] = of_classes
    judged_texts = [_judged_text(shown_items[number]) for number in item[sorting].tolist()]
    return {
        "items": _items(shown_items, fields, shorter),
        "rows": {"item": item[sorting].tolist(), **rows, "errors": shown_errors(errors.take(sorting), judged_texts)},
        "labels": _labels(sources, numbers, shown_items, lambda data: data.labels),
        "second": _labels(sources, numbers, shown_items, _second_round),
        "sides": _sides(columns, judges),
        "scales": {metric: _scale(sources, metric) for metric in _metrics(sources)},
        "words": words,
        "titles": {metric: metric_title(metric) for metric in _metrics(sources)},
        "constructed": all(source.table.data.about.source == "constructed" for source in sources),
        "warning": WARNING if hides_texts(source.table.data.about for source in sources) else "",
        "shortened": shorter,
        "left": sum(len(source.table) - len(source.rows) for source in sources),
    }


def _joined(sources: Sequence[BrowserSource]) -> dict[str, CodedColumn]:
    """Return the columns of all sources, one after the other."""
    parts: dict[str, list[CodedColumn]] = {}
    for source in sources:
        rows = source.rows
        table = source.table
        judged = table.judgments.take(rows)
        key_columns = {name: getattr(judged, name) for name in ("metric", *_COLUMNS, "expected")}
        key_columns |= {name: getattr(table, name).take(rows) for name in ("reference", "agreement", "outcome")}
        key_columns["compared"] = CodedColumn((False, True), table.counted[rows].astype(np.int32))
        detected = judged.detected_language.without("und")
        key_columns["spoken"] = CodedColumn.from_values(
            tag or asked_tag for tag, asked_tag in zip(detected, judged.asked_language, strict=True)
        )
        evidence, empty = source.evidence, CodedColumn.empty(len(rows))
        key_columns |= {name: getattr(evidence, name) if evidence else empty for name in ("justification", "probs", "reply")}
        key_columns["errors"] = judged.spans if evidence is None or evidence.spans is None else evidence.spans
        key_columns["source"] = CodedColumn((source.name,), np.zeros(len(rows), np.int32))
        for name, column in key_columns.items():
            parts.setdefault(name, []).append(column)
    return {name: _hashable_joined(columns) for name, columns in parts.items()}


def _sides(columns: Mapping[str, CodedColumn], judges: Sequence[tuple[Any, Any]]) -> list[list[Any]]:
    """Return the sides in reading order, each with how it was asked, as the first screen says it."""
    codes = np.unique(np.stack([columns[name].codes for name in SIDE]), axis=1).T.tolist()
    values = [columns[name].values for name in SIDE]
    sides = plainest_first(
        tuple(None if code == NO_VALUE else values_of_code[code] for code, values_of_code in zip(side_codes, values, strict=True))
        for side_codes in codes
    )
    judge_numbers = {who: number for number, who in enumerate(judges)}

    def order(side: Side) -> int:
        source, judge, *_ = side
        return judge_numbers.get((source, judge), judge_numbers.get((None, judge), len(judge_numbers)))

    keys = [dict(zip(SIDE, side, strict=True)) | {"variant": side[SIDE.index("variant")] or ""} for side in sides]
    conditions = {side: condition_words(key, keys) for side, key in zip(sides, keys, strict=True)}
    return [[*map(_shown_value, side), conditions[side]] for side in sorted(sides, key=order)]


def _judged_text(item: Item) -> str:
    return str(item.fields.get(OUTPUT, ""))


def _hashable_joined(columns: Sequence[CodedColumn]) -> CodedColumn:
    """Columns one after the other, also of values that have no hash (probabilities are mappings)."""
    if len(columns) == 1:
        return columns[0]
    values: list[Any] = []
    codes = []
    for column in columns:
        codes.append(np.where(column.codes == NO_VALUE, NO_VALUE, column.codes.astype(np.int32) + len(values)))
        values += column.values
    merged: dict[Any, int] = {}
    keys = [repr(value) if isinstance(value, dict) else value for value in values]
    to = np.array([*(merged.setdefault(key, len(merged)) for key in keys), NO_VALUE], np.int32)
    first = dict(zip(reversed(keys), reversed(values), strict=True))
    return CodedColumn(tuple(first[key] for key in merged), to[np.concatenate(codes)])


def _coded(column: CodedColumn, show: Any) -> dict[str, Any]:
    """Return the values that occur, and a code for each row; a single code where all rows have the same."""
    used, codes = np.unique(column.codes, return_inverse=True)
    shift = int(len(used) > 0 and used[0] == NO_VALUE)
    codes = codes - shift
    values = [show(column.values[code]) for code in used.tolist() if code != NO_VALUE]
    same = len(used) == 1
    return {"v": values, "c": int(codes[0]) if same else codes.tolist()}


def _shown_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {visible(str(name)): round(share, 4) for name, share in value.items()}
    if isinstance(value, float):
        return round(value, 6)
    return _cut(str(value), _NAME_LENGTH) if isinstance(value, str) else value


def _shown_reply(value: Any, most: int | None) -> Any:
    length = min(most or _REPLY_LENGTH, _REPLY_LENGTH)
    return _cut(value, length) if isinstance(value, str) else [_cut(value.text, length), value.note]


def _fitting_length(items: Sequence[Item], replies: Sequence[CodedColumn]) -> int | None:
    """Return the characters of a text or reply with which all of them fit into a page; None where they fit as they are."""
    texts = [value for item in items for value in item.fields.values() if _is_text(value)]
    said = [value if isinstance(value, str) else value.text for column in replies for value in column.used]

    def size(most: int) -> int:
        cut = (*(text[: min(most, _TEXT_LENGTH)] for text in texts), *(text[: min(most, _REPLY_LENGTH)] for text in said))
        return sum(len(text.encode("utf-8", "replace")) for text in cut)

    if size(_TEXT_LENGTH) <= _MOST_BYTES:
        return None
    return next((most for most in _SHORTER if size(most) <= _MOST_BYTES), _SHORTER[-1])


def _cut(text: str, most: int) -> str:
    return visible(text) if len(text) <= most else f"{visible(text[:most])} … (and {len(text) - most:,} more characters)"


def _metrics(sources: Sequence[BrowserSource]) -> list[str]:
    return sorted({metric for source in sources for metric in source.table.judgments.metric.used})


def _scale(sources: Sequence[BrowserSource], metric: str) -> dict[str, Any]:
    """Ends that an interval scale lacks are those of all labels and scores."""
    scale = next(source.table.data.scales[metric] for source in sources if metric in source.table.data.scales)
    positions = any(isinstance(score, str) for score in scale.classes)
    numbers = [0.0, len(scale.classes) - 1.0] if positions else [float(score) for score in scale.classes]
    if scale.kind == "interval":
        numbers = [end for end in (scale.min, scale.max) if end is not None]
        if len(numbers) < 2:
            tables = [table for source in sources for table in (source.table.data.labels, source.table.judgments)]
            numbers = [float(score) for table in tables for score in table.score.take(table.metric.equals(metric)).used]
    ends = {"low": min(numbers, default=0.0), "high": max(numbers, default=0.0)}
    order_only = any(metric in source.table.data.label_scales for source in sources)  # no label is a point of the judge's scale
    ends |= {"order_only": True} if order_only else {}
    return {"kind": scale.kind, "classes": list(map(_shown_value, scale.classes)), "positions": positions, **ends}


def _items(items: Sequence[Item], output_fields: frozenset[str], shorter: int | None) -> dict[str, Any]:
    names = list(dict.fromkeys(name for item in items for name, value in item.fields.items() if _is_text(value)))
    field_index, most = {name: number for number, name in enumerate(names)}, shorter or _TEXT_LENGTH
    texts = []
    for item in items:
        own_texts = [(name, value, item.language_of(name)) for name, value in item.fields.items() if _is_text(value)]
        texts.append([[field_index[name], _cut(value, most), *([tag] if tag != item.language else [])] for name, value, tag in own_texts])
    values: dict[str, list[Any]] = {name: [getattr(item, name) for item in items] for name in ("language", "task", "group", "system")}
    constructions = (item.fields.get("construction") for item in items)
    values["construction"] = [value if isinstance(value, str) and value else None for value in constructions]
    keys = {name: _coded(CodedColumn.from_values(own_values), _shown_value) for name, own_values in values.items()}
    number_of = {item.item_id: number for number, item in enumerate(items)}
    return {
        "id": [_cut(item.item_id, _NAME_LENGTH) for item in items],
        **keys,
        "fields": [_cut(name, _NAME_LENGTH) for name in names],
        "about": [int(bool(output_fields) and name not in output_fields) for name in names],
        "texts": texts,
        "twin": [number_of.get(str(item.fields.get("twin")), -1) if "twin" in item.fields else -1 for item in items],
        "names": {tag: english_name(tag) for tag in dict.fromkeys(item.language for item in items)},
    }


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _second_round(data: Dataset) -> Labels:
    """Return what people said in a second round: scores, and errors without a score or metric."""
    parts = [data.second] if data.second is not None else []
    if second_spans := data.second_spans:
        nothing = CodedColumn.empty(len(second_spans))
        parts.append(Labels(second_spans.item, second_spans.annotator, nothing, nothing, nothing, second_spans.spans))
    return Labels.concatenate(parts) if parts else Labels.from_rows(())


def _labels(
    sources: Sequence[BrowserSource], numbers: Mapping[ItemKey, int], shown_items: Sequence[Item], table: Callable[[Dataset], Labels]
) -> dict[str, Any]:
    """Every label of the items shown in a table of the data; those of a data set once, even if several sources share it."""
    items: list[NDArray[Any]] = []
    parts: dict[str, list[CodedColumn]] = {"metric": [], "annotator": [], "score": [], "source": [], "spans": []}
    different: dict[str, Dataset] = {}
    for source in sources:
        different.setdefault(source.table.data.sha256 if len(sources) > 1 else "", source.table.data)
    for name, data in different.items():
        labels = table(data)
        item = labels.item.recode({item_id: number for (sha, item_id), number in numbers.items() if sha == name})
        labelled_rows = np.flatnonzero(item != NO_VALUE)
        taken = labels.take(labelled_rows)
        items.append(item[labelled_rows])
        for column, part in parts.items():
            part.append(getattr(taken, column))
    item_of = np.concatenate(items).tolist()
    errors = shown_errors(CodedColumn.concatenate(parts.pop("spans")), [_judged_text(shown_items[number]) for number in item_of])
    columns = {name: _coded(CodedColumn.concatenate(part), _shown_value) for name, part in parts.items()}
    return {"item": item_of, **columns, "errors": errors}


_MOST_WORDS = 300  # characters of a quotation or reason
_OUTSIDE = "outside the text"


def shown_errors(column: CodedColumn, texts: Sequence[str]) -> dict[str, Any]:
    """Return the errors of some rows as a column `{"v": values, "c": codes}`; `texts` has the judged text of every row."""
    values: list[list[list[Any]]] = []
    numbers: dict[tuple[int, str], int] = {}
    codes = []
    for code, text in zip(column.codes.tolist(), texts, strict=True):
        if code == NO_VALUE:
            codes.append(-1)
            continue
        if (code, text) not in numbers:
            numbers[code, text] = len(values)
            values.append([])
            for error in column.values[code]:
                said: list[Any] = [visible(error.severity or "unreadable")[:40]]
                if lies_in(error, text):
                    quoted = visible(text[error.start : error.end][:_MOST_WORDS])
                    said += [_units(text[: error.start]), _units(text[: error.end]), quoted]
                else:
                    said += [None, None, visible(error.text[:_MOST_WORDS]) or ("" if error.missing else _OUTSIDE)]
                values[-1].append([*said, visible(error.reason[:_MOST_WORDS])])
        codes.append(numbers[code, text])
    return {"v": values, "c": codes if values else -1}


def _units(text: str) -> int:
    return len(visible(text).encode("utf-16-le", "surrogatepass")) // 2
