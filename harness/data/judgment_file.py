"""`judgments.parquet`: the judgments of a run on disk, written while replies are parsed and read back as columns.

A million judgments are never in memory as objects.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.data.columns import NO_VALUE, CodedColumn, ColumnBuilder, arrow_codes, from_arrow
from harness.data.judgments import UNCHANGED, Judgments, confidence_of, probabilities_text
from harness.data.labels import pairs_of
from harness.errors import ContentError, StoreError
from harness.model import SAMPLING, Judgment, Scale, Score, column_reader
from harness.row_files import arrow, arrow_array, make_folder, parquet_file, replace_file

COLUMNS = {
    "item_id": "string",
    "language": "string",
    "task": "string",
    "metric": "string",
    "judge": "string",
    "variant": "string",
    "temperature": "double",
    "repeat": "int64",
    "score": "string",
    "failure": "string",
    "raw_choice": "string",
    "excerpt": "string",
    "justification": "string",
    "call_id": "string",
    **dict.fromkeys(SAMPLING[1:], "double"),
    "perturbation": "string",
    "order": "string",
    "shown_source": "string",
    "probs": "string",
    "expected": "double",
    "entropy": "double",
    "share_a": "double",
    "asked_language": "string",
    "detected_language": "string",
    "further_numbers": "string",
    "spans": "string",
}
_BATCH_ROWS = 1 << 13  # rows in memory as objects


class JudgmentWriter:
    """Writes a file of judgments, whole or not at all: the file appears when the `with` block ends without an error."""

    def __init__(self, path: Path) -> None:
        pa = arrow()
        import pyarrow.parquet as pq

        self._path = path
        self._schema = pa.schema([pa.field(name, pa.type_for_alias(kind)) for name, kind in COLUMNS.items()])
        self._rows: list[Judgment] = []
        with _storage_errors(path), ExitStack() as stack:
            make_folder(path.parent, private=True)
            temporary = stack.enter_context(replace_file(path, private=True))
            self._writer = stack.enter_context(pq.ParquetWriter(temporary, self._schema, compression="zstd", compression_level=1))
            stack.push(self._flush_unless_failed)
            self._open_files = stack.pop_all()

    def add(self, judgment: Judgment) -> None:
        self._rows.append(judgment)
        if len(self._rows) >= _BATCH_ROWS:
            self._flush()

    def _flush(self) -> None:
        pa = arrow()
        rows, self._rows = self._rows, []
        columns = [
            arrow_array([_cell(name, value) for value in map(column_reader(name), rows)], field.type)
            for name, field in zip(COLUMNS, self._schema, strict=True)
        ]
        self._writer.write_batch(pa.record_batch(columns, schema=self._schema))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with _storage_errors(self._path):
            self._open_files.__exit__(kind, error, trace)

    def _flush_unless_failed(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._flush()


def _cell(name: str, value: Any) -> Any:
    if name == "score":
        return None if value is None else str(value)  # classes may be words
    if name == "failure":
        return value and value.value
    if name == "spans":
        return None if value is None else msgspec.json.encode(value).decode()
    if name == "probs":
        return probabilities_text(value)
    return None if name in UNCHANGED and value == UNCHANGED[name] else value


@contextmanager
def _storage_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as err:
        raise StoreError(
            f"{path} cannot be written ({err.strerror or err}); make room or choose a folder that can be written with --out"
        ) from None


def read_judgments(path: Path, scales: Mapping[str, Scale]) -> Judgments:
    """Return the judgments as columns, with hashes in place of justifications, without errors.

    Raises ContentError if the file is unreadable.
    """
    names = {"item": "item_id", **{name: name for name in (*Judgments.COLUMNS[1:], *Judgments.OPTIONAL)}}
    with parquet_file(path) as file:
        columns = {
            name: CodedColumn.concatenate([*map(from_arrow, _batches(file, column))])
            for name, column in names.items()
            if name not in ("justification", "confidence", "spans")
        }
        columns["justification"] = _justification_hashes(file)
        columns["confidence"] = _confidences(file)
    # The scores as points of their scales: the text `2` is the class 2.
    pairs, which = pairs_of(columns["metric"], columns["score"])
    values: dict[Score, int] = {}
    try:
        codes = [values.setdefault(_point(str(text), scales[metric]), len(values)) for metric, text in pairs]
    except (msgspec.MsgspecError, KeyError):
        raise ContentError("a score is on no scale of this run; delete the file, it is written again", path) from None
    columns["score"] = CodedColumn(tuple(values), np.array([*codes, NO_VALUE], np.int32)[which])
    return Judgments(**columns)


def _confidences(file: Any) -> CodedColumn:
    """Return the probability of each score, from the probabilities of all classes."""
    builder, decode = ColumnBuilder(), msgspec.json.Decoder(dict[str, float]).decode
    for batch in file.iter_batches(_BATCH_ROWS, columns=["score", "probs"], use_threads=False):
        scores, probs = batch.column("score"), batch.column("probs")
        if probs.null_count == len(probs):
            builder.add([None] * len(probs))
            continue
        pairs = zip(scores.to_pylist(), probs.to_pylist(), strict=True)
        builder.add([None if text is None else confidence_of(decode(text), score) for score, text in pairs])
    return CodedColumn(*builder.finish())


def _batches(file: Any, column: str) -> Iterator[Any]:
    return (batch.column(0) for batch in file.iter_batches(_BATCH_ROWS, columns=[column], use_threads=False))


def read_columns_at(path: Path, names: Sequence[str], rows: NDArray[np.int64]) -> dict[str, CodedColumn]:
    """Text columns of the judgments in `rows` (ascending numbers). One batch of the file is in memory at a time. Raises ContentError."""
    builders, start = {name: ColumnBuilder() for name in names}, 0
    with parquet_file(path) as file:
        for batch in file.iter_batches(_BATCH_ROWS, columns=list(names)):
            first, last = np.searchsorted(rows, (start, start + batch.num_rows))
            selected = arrow_array((rows[first:last] - start).tolist(), arrow().int64())
            for name, builder in builders.items():
                builder.add(batch.column(name).take(selected).to_pylist())
            start += batch.num_rows
    return {name: CodedColumn(*builder.finish()) for name, builder in builders.items()}


def _point(text: str, scale: Scale) -> Score:
    """Return the point of the scale with this text form."""
    if scale.classes:
        return {str(score): score for score in scale.classes}[text]
    number: int | float = msgspec.json.decode(text, type=int | float)
    return number


def _justification_hashes(file: Any) -> CodedColumn:
    """Return a column of hashes of the justifications. The texts of a million judgments would fill the memory."""
    hashes = [np.empty(0, np.uint64)]
    for texts in _batches(file, "justification"):
        coded = texts.dictionary_encode()
        batch_hashes = np.array([*map(text_hash, coded.dictionary.to_pylist()), 0], np.uint64)
        hashes.append(batch_hashes[arrow_codes(coded.indices)])  # the code -1, "no text", is the last
    column = np.concatenate(hashes)
    if not column.any():
        return CodedColumn.empty(len(column))
    values, codes = np.unique(column, return_inverse=True)
    gaps = int(values[0] == 0)
    return CodedColumn(tuple(values[gaps:].tolist()), codes.astype(np.int32) - gaps)


def text_hash(text: str) -> int:
    """Return the hash that represents a justification in columns; never 0, which means no text."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) or 1
