"""`judgments.parquet`: a run's judgments on disk, written as they are read from replies and read back as columns.

A million judgments are never held as objects.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.columns import NO_VALUE, Coded, Coder, arrow_codes, from_arrow
from harness.content.labels import pairs_of
from harness.content.recorded import Judgments
from harness.errors import ContentError, StoreError
from harness.model import Judgment, Scale, Score
from harness.tables import arrow, arrow_array, parquet_file

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
    "justification": "string",
    "call_id": "string",
    "top_p": "double",
    "perturbation": "string",
    "probs": "string",
    "expected": "double",
    "entropy": "double",
    "asked_language": "string",
    "told_language": "string",
}
_AT_A_TIME = 1 << 13  # rows held as objects


class JudgmentWriter:
    """Writes a file of judgments, whole or not at all: it is there once the `with` ends without an error."""

    def __init__(self, path: Path) -> None:
        pa = arrow()
        import pyarrow.parquet as pq

        self._path = path
        self._unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        self._schema = pa.schema([pa.field(name, pa.type_for_alias(kind)) for name, kind in COLUMNS.items()])
        self._rows: list[Judgment] = []
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = pq.ParquetWriter(self._unfinished, self._schema, compression="zstd", compression_level=1)
        except OSError as err:
            raise _unwritable(path, err) from None

    def add(self, judgment: Judgment) -> None:
        self._rows.append(judgment)
        if len(self._rows) >= _AT_A_TIME:
            self._flush()

    def _flush(self) -> None:
        pa = arrow()
        rows, self._rows = self._rows, []
        columns = [arrow_array([_cell(row, name) for row in rows], field.type) for name, field in zip(COLUMNS, self._schema, strict=True)]
        self._writer.write_batch(pa.record_batch(columns, schema=self._schema))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None:
                self._flush()
            self._writer.close()
            if kind is None:
                os.replace(self._unfinished, self._path)
        except OSError as err:
            raise _unwritable(self._path, err) from None
        finally:
            self._unfinished.unlink(missing_ok=True)


def _cell(judgment: Judgment, name: str) -> Any:
    value = getattr(judgment, name)
    if name == "score":
        return None if value is None else str(value)  # metrics may have classes that are words
    if name == "failure":
        return value and value.value
    if name == "probs":
        return msgspec.json.encode(value).decode() if value else None
    return (value or None) if name == "perturbation" else value


def _unwritable(path: Path, err: OSError) -> StoreError:
    return StoreError(f"{path} cannot be written ({err.strerror or err}); make room or choose a folder that can be written with --out")


def read_judgments(path: Path, scales: Mapping[str, Scale]) -> Judgments:
    """The judgments as columns; of justifications only which are the same. Raises ContentError when the file cannot be read."""
    names = {"item": "item_id", **{name: name for name in (*Judgments.COLUMNS[1:], *Judgments.OPTIONAL)}}
    with parquet_file(path) as file:
        columns = {
            name: Coded.joined([*map(from_arrow, _batches(file, column))]) for name, column in names.items() if name != "justification"
        }
        columns["justification"] = _same(file)
    columns["score"] = _typed(columns["metric"], columns["score"], scales, path)
    return Judgments(**columns)


def _batches(file: Any, column: str) -> Iterator[Any]:
    """One column, some rows at a time."""
    return (batch.column(0) for batch in file.iter_batches(_AT_A_TIME, columns=[column], use_threads=False))


def read_columns_at(path: Path, names: Sequence[str], rows: NDArray[np.int64]) -> dict[str, Coded]:
    """Columns of text of the judgments `rows` (rising numbers), whole; a batch of the file is held at a time. Raises ContentError."""
    coders, start = {name: Coder() for name in names}, 0
    with parquet_file(path) as file:
        for batch in file.iter_batches(_AT_A_TIME, columns=list(names)):
            first, last = np.searchsorted(rows, (start, start + batch.num_rows))
            wanted = arrow_array((rows[first:last] - start).tolist(), arrow().int64())
            for name, coder in coders.items():
                coder.add(batch.column(name).take(wanted).to_pylist())
            start += batch.num_rows
    return {name: Coded(*coder.finish()) for name, coder in coders.items()}


def _typed(metrics: Coded, scores: Coded, scales: Mapping[str, Scale], path: Path) -> Coded:
    """Scores as they are on their scales: the text `2` is the class 2."""
    pairs, which = pairs_of(metrics, scores)
    values: dict[Score, int] = {}
    try:
        codes = [values.setdefault(_point(str(text), scales[metric]), len(values)) for metric, text in pairs]
    except (msgspec.MsgspecError, KeyError):
        raise ContentError("a score in it is on no scale of this run; delete the file, it is made again", path) from None
    return Coded(tuple(values), np.array([*codes, NO_VALUE], np.int32)[which])


def _point(text: str, scale: Scale) -> Score:
    """The point of the scale that is written like that."""
    if scale.classes:
        return {str(score): score for score in scale.classes}[text]
    number: int | float = msgspec.json.decode(text, type=int | float)
    return number


def _same(file: Any) -> Coded:
    """A column of hashes of the justifications, as the texts of a million would fill the memory."""
    hashes = [np.empty(0, np.uint64)]
    for texts in _batches(file, "justification"):
        coded = texts.dictionary_encode()
        known = np.array([*map(text_hash, coded.dictionary.to_pylist()), 0], np.uint64)
        hashes.append(known[arrow_codes(coded.indices)])  # no text has the code -1, the last
    found = np.concatenate(hashes)
    if not found.any():
        return Coded.empty(len(found))
    values, codes = np.unique(found, return_inverse=True)
    none = int(values[0] == 0)
    return Coded(tuple(values[none:].tolist()), codes.astype(np.int32) - none)


def text_hash(text: str) -> int:
    """What stands for a justification in columns of many; never 0, which stands for no text."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) or 1
