"""Labels as columns, read from label files and checked: known items, scores on the scale, one label per annotator.

The errors that people and recorded judges marked stand under the key `spans` of label and judgment rows; they are read here for both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.data.columns import NO_VALUE, CodedColumn, Columns, read_columns, unique_integers
from harness.errors import ContentError, refuse_faults
from harness.model import BY_PEOPLE, ErrorSpan, Label, Scale, Score, Source
from harness.text import short_repr

_LINES_AT_A_TIME = 1 << 14
LONGEST_NAME = 300  # characters: tables and pages show names whole
_NAMES = ("item", "annotator", "metric", "score", "source", "spans", "blind")
NOT_BLIND = "labels were given in sight of a judge's score (blind: false); they are not independent, and agreement with them is too high"


class LabelRow(msgspec.Struct):
    """The keys of a row of a label file; other keys are ignored."""

    item_id: str
    annotator_id: str
    metric: str
    score: int | float | str
    source: Source | None = None
    language: str | None = None
    spans: msgspec.Raw = msgspec.Raw(b"")  # the errors that were marked, see `checked_errors`
    blind: bool | None = None  # false if the person saw a judge's score


class Labels:
    """Labels in the order of their file; iterating gives each as a `Label`.

    Columns (rows,): `item`, `annotator`, `metric`, `score`, `source`, `spans`, the errors that the annotator marked (a tuple; no value
    where the file has none), and `blind`, false where the person saw a judge's score. Errors and `blind` move no number.
    """

    def __init__(
        self,
        item: CodedColumn,
        annotator: CodedColumn,
        metric: CodedColumn,
        score: CodedColumn,
        source: CodedColumn,
        spans: CodedColumn | None = None,
        blind: CodedColumn | None = None,
    ) -> None:
        self.item, self.annotator, self.metric, self.score, self.source = item, annotator, metric, score, source
        self.spans = CodedColumn.empty(len(item)) if spans is None else spans
        self.blind = CodedColumn.empty(len(item)) if blind is None else blind

    def __repr__(self) -> str:
        return short_repr(self, "", rows=len(self))

    @classmethod
    def from_rows(cls, labels: Iterable[Label]) -> Labels:
        rows = [(x.item_id, x.annotator_id, x.metric, x.score, x.source) for x in labels]
        columns = zip(*rows, strict=True) if rows else [()] * 5
        return cls(*map(CodedColumn.from_values, columns))

    @classmethod
    def concatenate(cls, parts: Sequence[Labels]) -> Labels:
        """Return the rows of several tables, one after the other."""
        return cls(*(CodedColumn.concatenate([getattr(part, name) for part in parts]) for name in _NAMES))

    def __len__(self) -> int:
        return len(self.item)

    def __iter__(self) -> Iterator[Label]:
        return map(Label, self.item, self.annotator, self.metric, self.score, self.source)

    def json_lines(self) -> Iterator[bytes]:
        """Yield the rows as lines of JSON with sorted keys, many at a time: the bytes of each encoded `Label`, for a tenth of the time.

        >>> list(Labels.from_rows([Label("i", "a", "harm", 1)]).json_lines())
        [b'{"annotator_id":"a","item_id":"i","metric":"harm","score":1,"source":"native"}\\n']
        """
        columns = {
            b'{"annotator_id":%b': self.annotator,
            b',"item_id":%b': self.item,
            b',"metric":%b': self.metric,
            b',"score":%b': self.score,
            b',"source":%b}\n': self.source,
        }
        texts = [tuple(form % msgspec.json.encode(value) for value in (*column.values, None)) for form, column in columns.items()]
        for start in range(0, len(self), _LINES_AT_A_TIME):
            codes = [column.codes[start : start + _LINES_AT_A_TIME].tolist() for column in columns.values()]
            parts = (map(text.__getitem__, row_codes) for text, row_codes in zip(texts, codes, strict=True))
            yield b"".join(chain.from_iterable(zip(*parts, strict=True)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Labels) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def max_annotators(self) -> int:
        """Return the highest number of labels of one item on one metric."""
        pair = self.item.codes.astype(np.int64) * max(len(self.metric.values), 1) + self.metric.codes
        return int(np.unique(pair, return_counts=True)[1].max(initial=0))

    def take(self, rows: NDArray[Any]) -> Labels:
        """Return the labels of some rows (a mask or row numbers)."""
        return Labels(*(getattr(self, name).take(rows) for name in _NAMES))

    def for_items(self, ids: Iterable[str]) -> Labels:
        """Return the labels of some items."""
        rows = self.item.among(ids)
        return self if rows.all() else self.take(rows)

    def sighted_notes(self) -> Iterator[str]:
        """Yield a sentence on the labels that were given in sight of a judge's score, if there are any."""
        if sighted := int(self.blind.equals(False).sum()):
            yield f"{sighted} {NOT_BLIND}"

    def items_of_people(self, metrics: Collection[str] | None = None) -> set[str]:
        """Return the ids of the items that people labelled on one of the metrics (None: on any), native speakers or not."""
        by_people = self.take(self.source.among(BY_PEOPLE))
        return {by_people.item.values[code] for code in np.unique(by_people._of_metrics(metrics).item.codes).tolist()}

    def items_of_one_person(self, metrics: Collection[str] | None = None) -> set[str]:
        """Return the ids of the items that exactly one annotator labelled on these metrics (None: on any)."""
        labels = self._of_metrics(metrics)
        pairs = np.unique(np.stack([labels.item.codes, labels.annotator.codes]), axis=1)
        items, people = np.unique(pairs[0], return_counts=True)
        return {labels.item.values[code] for code in items[people == 1].tolist()}

    def _of_metrics(self, metrics: Collection[str] | None) -> Labels:
        return self if metrics is None else self.take(self.metric.among(metrics))


def read_labels(path: Path, scales: Mapping[str, Scale], items: Mapping[str, Any], *, source: Source = "native") -> Labels:
    """Read and check the labels of one file. Raises ContentError with `file:line`."""
    return checked_labels(read_label_rows(path), path, scales, items, source=source)


def read_label_rows(path: Path) -> Columns:
    """Return the rows of a label file; types are checked, nothing else. Raises ContentError for a row that is not a label."""
    return read_columns(path, LabelRow, "a label")


def checked_labels(
    rows: Columns, path: Path, scales: Mapping[str, Scale], items: Mapping[str, Any], *, source: Source = "native", repeated: bool = False
) -> Labels:
    """Return the labels in a file's rows. `source` is used for rows without a source; `repeated` allows several labels of one annotator.

    Raises ContentError with `file:line` for a name that is too long, an item that is not in `items`, a metric without a scale, a score off
    its scale, and a second label by one annotator for one item and metric.
    """
    if path.suffix == ".parquet":  # a column has one type: beside a metric whose classes are words, numbers stand as texts
        # The scores, with the number that a text means where the scale of its metric has it.
        pairs, which = pairs_of(rows["metric"], rows["score"])
        points = [scale_point(score, scales[metric]) if metric in scales else None for metric, score in pairs]
        numbers = [score if point is None else point for point, (_, score) in zip(points, pairs, strict=True)]
        code_of = {value: code for code, value in enumerate(dict.fromkeys(numbers))}
        codes = np.array([*(code_of[value] for value in numbers), NO_VALUE], np.int32)[which]
        rows = Columns({**rows, "score": CodedColumn(tuple(code_of), codes)}, rows.lines)
    long = long_names(rows, {"annotator_id": "an annotator", "metric": "a metric"})
    refuse_faults(chain(long, unknown_items(rows, items, "label"), unknown_metrics(rows, scales), _off_scale(rows, scales)), path)
    item, annotator, metric, score = (rows[name] for name in ("item_id", "annotator_id", "metric", "score"))
    if not repeated:  # then an annotator scores a metric of an item once
        key = (item.codes.astype(np.int64) * max(len(annotator.values), 1) + annotator.codes) * max(len(metric.values), 1) + metric.codes
        order = np.argsort(key, kind="stable")
        again = order[1:][np.diff(key[order]) == 0]
        if len(again):
            second = int(again.min())
            first = int(np.argmax(key == key[second]))
            who, scored, item_id = (column.values[column.codes[second]] for column in (annotator, metric, item))
            raise ContentError(
                f"annotator '{who}' has already scored '{scored}' of '{item_id}' in line {rows.lines[first]}", path, int(rows.lines[second])
            )
    stated = rows["source"]
    values = tuple(dict.fromkeys((*stated.values, source)))
    codes = np.where(stated.codes == NO_VALUE, values.index(source), stated.codes.astype(np.int32))
    return Labels(item, annotator, metric, score, CodedColumn(values, codes), checked_errors(rows, path), rows["blind"])


def long_names(rows: Columns, columns: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Yield the first line of each name that is longer than `LONGEST_NAME`, and what is wrong; `columns` says what each column names."""
    for name, what in columns.items():
        for code, text in enumerate(rows[name].values):
            if len(text) > LONGEST_NAME:
                line = first_line(rows, rows[name].codes == code)
                yield line, f"'{name}' is {what} with a name of {len(text):,} characters; names have at most {LONGEST_NAME}"


def unknown_items(rows: Columns, items: Mapping[str, Any], what: str) -> Iterator[tuple[int, str]]:
    """Yield the first line of each item that is not in `items`, and what is wrong."""
    column = rows["item_id"]
    for code, item_id in enumerate(column.values):
        if item_id not in items:
            yield first_line(rows, column.codes == code), f"a {what} of item '{item_id}', which is not among the items"


def unknown_metrics(
    rows: Columns, scales: Mapping[str, Scale], how: str = "add [metrics.{metric}] to data.toml or a rubric"
) -> Iterator[tuple[int, str]]:
    """Yield the first line of each metric without a scale, and what is wrong; `how` says how a scale is given."""
    column = rows["metric"]
    for code, metric in enumerate(column.values):
        if metric not in scales:
            yield (
                first_line(rows, column.codes == code),
                f"metric '{metric}' has no scale; {how.format(metric=metric)}. Choose from: {', '.join(scales)}",
            )


def _off_scale(rows: Columns, scales: Mapping[str, Scale]) -> Iterator[tuple[int, str]]:
    pairs, which = pairs_of(rows["metric"], rows["score"])
    for number, (metric, score) in enumerate(pairs):
        if metric in scales and not scales[metric].holds(score):
            scale = scales[metric].describe()
            is_typed = isinstance(score, str) and scales[metric].holds(_as_number(score))
            typed = "; it is a text, and the scale has numbers" if is_typed else ""
            yield first_line(rows, which == number), f"score {score!r} is outside the scale of '{metric}' ({scale}){typed}"


def scale_point(score: Score, scale: Scale) -> Score | None:
    """Return the point of the scale that a recorded score means; None if it is off the scale.

    Tables of texts write numbers as texts.

    >>> grades, points = Scale(kind="ordinal", classes=(1, 2)), Scale(kind="interval", min=0, max=10)
    >>> scale_point("2", grades), scale_point("2.5", points), scale_point("3", grades), scale_point("ten", points)
    (2, 2.5, None, None)
    """
    if scale.holds(score):
        return score
    if not isinstance(score, str):
        return None
    number = _as_number(score) if scale.kind == "interval" else next((c for c in scale.classes if str(c) == score), score)
    return number if scale.holds(number) else None


def _as_number(text: str) -> Score:
    try:
        return msgspec.json.decode(text, type=int | float)
    except msgspec.MsgspecError:
        return text


def pairs_of(metric: CodedColumn, score: CodedColumn) -> tuple[list[tuple[str, Score]], NDArray[np.int64]]:
    """Return the distinct (metric, score) pairs, and the index of each row's pair; -1 for a row without a score."""
    width = len(score.values) + 1
    numbers, which = unique_integers(metric.codes.astype(np.int64) * width + score.codes + 1, len(metric.values) * width)
    pairs = [(metric.values[number // width], number % width - 1) for number in numbers.tolist()]
    with_score = [(name, score.values[code]) for name, code in pairs if code != NO_VALUE]
    index = np.cumsum([code != NO_VALUE for _, code in pairs]) - 1
    return with_score, np.where(score.codes == NO_VALUE, NO_VALUE, index[which] if len(pairs) else which)


def first_line(rows: Columns, mask: NDArray[np.bool_]) -> int:
    """Return the line of the first row in a mask."""
    return int(rows.lines[int(np.argmax(mask))])


OUTPUT = "output"
"""The text of an item in which errors are marked."""
_LIST = '\'spans\' should be a list of errors, such as {"severity": "minor", "start": 3, "end": 9}, with places in characters'


def checked_errors(rows: Columns, path: Path) -> CodedColumn:
    """Return the errors of each row, a tuple of `ErrorSpan`; no value for a row without the key. Raises ContentError with `file:line`."""
    column = rows["spans"]
    if not column.values:
        return column
    lists: list[tuple[ErrorSpan, ...] | None] = []
    for code, text in enumerate(column.values):
        try:
            lists.append(msgspec.json.decode(text, type=tuple[ErrorSpan, ...] | None))
        except msgspec.MsgspecError as err:
            raise ContentError(f"{_LIST}: {err}", path, int(rows.lines[int(np.argmax(column.codes == code))])) from None
    values = tuple(dict.fromkeys(errors for errors in lists if errors is not None))
    code_of = {errors: code for code, errors in enumerate(values)}
    codes = np.array([*(NO_VALUE if errors is None else code_of[errors] for errors in lists), NO_VALUE], np.int32)
    return CodedColumn(values, codes[column.codes])


def rows_with_errors(column: CodedColumn) -> Iterator[tuple[int, tuple[ErrorSpan, ...]]]:
    """Yield each row with at least one error, and its errors."""
    empty = np.array([*(not errors for errors in column.values), True])
    for row in np.flatnonzero(~empty[column.codes]).tolist():
        yield row, column.values[column.codes[row]]


def lies_in(span: ErrorSpan, text: str) -> bool:
    """Return True if an error has a place, and the place is in the text.

    >>> lies_in(ErrorSpan("minor", 0, 3), "cat"), lies_in(ErrorSpan("minor", 2, 4), "cat"), lies_in(ErrorSpan("minor", 2, 2), "cat")
    (True, False, False)
    """
    return span.start is not None and span.end is not None and 0 <= span.start < span.end <= len(text)
