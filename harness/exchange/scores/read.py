"""Chooses the reader of files with scores: by their content, or as the user says."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from harness.errors import ContentError, UsageError
from harness.exchange.labels.read import read_source
from harness.exchange.scores import lenient_json
from harness.exchange.scores.external_scores import ExternalScores, LinesReader, Reader, ReadOptions, Rows
from harness.exchange.scores.formats import OTHERS, SCORE_KINDS, reader_of

_TABLES = (".csv", ".tsv", ".xlsx", ".parquet")
_LINES = (".jsonl", ".ndjson")


def read_scores(paths: Sequence[Path], kind: str | None, options: ReadOptions) -> ExternalScores:
    """Read all files of one kind. Raises UsageError where the kind is unknown, ContentError for a file of another form."""
    for path in paths:
        if not path.is_file():
            pipe = "is a pipe or a device; save its content as a file first" if path.exists() else "does not exist"
            raise UsageError(f"{path} {'is a folder; name its files' if path.is_dir() else pipe}")
    if kind is not None and kind not in SCORE_KINDS:
        raise UsageError(f"--from {kind}: choose from: {', '.join(SCORE_KINDS)}")
    read = [_read(path, kind, options) for path in paths]
    scores = [file_scores for file_scores in read if isinstance(file_scores, ExternalScores)]
    if parts := [file_scores for file_scores in read if isinstance(file_scores, _Part)]:
        scores.append(parts[0].reader([row for part in parts for row in part.rows], options))
    kinds = list(dict.fromkeys(foreign.kind for foreign in scores))
    if len(kinds) > 1:
        raise UsageError(f"the files are of several kinds ({', '.join(kinds)}); import them one kind at a time")
    [first, *further_scores] = scores
    if not further_scores:
        return first
    joined = [score for foreign in scores for score in foreign.scores]
    return msgspec.structs.replace(first, scores=joined, notes=tuple(note for foreign in scores for note in foreign.notes))


class _Part(NamedTuple):
    """The lines of a file that is read together with others, and what reads them."""

    reader: LinesReader
    rows: Rows


def _read(path: Path, kind: str | None, options: ReadOptions) -> ExternalScores | _Part:
    suffix = next((end for end in reversed(path.suffixes) if end.lower() != ".gz"), "").lower()
    if suffix != ".xlsx" and zipfile.is_zipfile(path):
        for name in (kind,) if kind else SCORE_KINDS:
            if read_archive := reader_of(name).read_archive:
                return read_archive(path)
    if suffix in _TABLES:
        return _read_table(path, kind, options)
    return _read_lines(path, kind, options) if suffix in _LINES else _read_json(path, kind, options)


def _read_table(path: Path, kind: str | None, options: ReadOptions) -> ExternalScores:
    read_table = reader_of(kind or OTHERS).read_table
    if read_table is None:
        raise UsageError(f"{path} is a table, which cannot be read as {kind}")
    return read_table(path, read_source(str(path)), options)


def _read_lines(path: Path, kind: str | None, options: ReadOptions) -> ExternalScores | _Part:
    rows = [(path, number, row) for number, row in lenient_json.lines(path)]
    if not rows:
        raise ContentError("the file is empty", path)
    first = rows[0][2]
    kind = kind or _find_kind(lambda reader: reader.is_line(first))
    reader = reader_of(kind)
    if reader.read_lines is None:
        raise UsageError(f"{path} is a JSONL file, which cannot be read as {kind}")
    return _Part(reader.read_lines, rows) if reader.joins_files else reader.read_lines(rows, options)


def _read_json(path: Path, kind: str | None, options: ReadOptions) -> ExternalScores:
    content = lenient_json.load(path)
    kind = kind or _find_kind(lambda reader: reader.is_json(content))
    read_json = reader_of(kind).read_json
    if read_json is None:
        raise UsageError(f"{path} is a JSON file, which cannot be read as {kind}; files of kind {kind} are JSONL")
    return read_json(path, content, options)


def _find_kind(recognised: Callable[[Reader], bool]) -> str:
    return next((kind for kind in SCORE_KINDS if recognised(reader_of(kind))), OTHERS)
