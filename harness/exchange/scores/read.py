"""Chooses the reader of files with scores: by their content, or as the user says."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.errors import ContentError, UsageError
from harness.exchange.labels import argilla, label_studio
from harness.exchange.labels.read import read_source
from harness.exchange.scores import annotation_tools, batches, inspect_log, lenient_json, lm_eval, promptfoo, score_records
from harness.exchange.scores.foreign import ForeignScores, ReadOptions

SCORE_KINDS = ("inspect", "promptfoo", "lm-eval", "openai-batch", "anthropic-batch", "records", "label-studio", "argilla")
_TABLES = (".csv", ".tsv", ".xlsx", ".parquet")
_BATCHES = (batches.OPENAI, batches.ANTHROPIC)


def read_scores(paths: Sequence[Path], kind: str | None, options: ReadOptions) -> ForeignScores:
    """Read all files of one kind. Raises UsageError where the kind is unknown, ContentError for a file of another form."""
    for path in paths:
        if not path.is_file():
            raise UsageError(f"{path} {'is a folder; name its files' if path.is_dir() else 'does not exist'}")
    if kind is not None and kind not in SCORE_KINDS:
        raise UsageError(f"--from {kind}: choose from: {', '.join(SCORE_KINDS)}")
    read = [_read(path, kind, options) for path in paths]
    rows = [row for rows, _ in read for row in rows]
    scores = [foreign for _, foreign in read if foreign is not None]
    if rows:
        provider = kind or next((of for _, _, row in rows if (of := batches.kind_of(row))), batches.OPENAI)
        scores.append(batches.read_batch(provider, rows))
    kinds = list(dict.fromkeys(foreign.kind for foreign in scores))
    if len(kinds) > 1:
        raise UsageError(f"the files are of several kinds ({', '.join(kinds)}); import them one kind at a time")
    [first, *others] = scores
    if not others:
        return first
    joined = [score for foreign in scores for score in foreign.scores]
    return msgspec.structs.replace(first, scores=joined, notes=tuple(note for foreign in scores for note in foreign.notes))


Read = tuple[list[tuple[Path, int, dict[str, Any]]], ForeignScores | None]


def _read(path: Path, kind: str | None, options: ReadOptions) -> Read:
    """The lines of a batch file, which are joined with those of other files, or else the scores of a file."""
    suffix = next((end for end in reversed(path.suffixes) if end.lower() != ".gz"), "").lower()
    if kind in (None, "inspect") and zipfile.is_zipfile(path) and suffix != ".xlsx":
        return [], inspect_log.read_eval(path)
    if suffix in _TABLES:
        return [], _table(path, kind, options)
    if suffix in (".jsonl", ".ndjson"):
        return _lines(path, kind, options)
    return [], _json(path, lenient_json.load(path), kind, options)


def _table(path: Path, kind: str | None, options: ReadOptions) -> ForeignScores:
    if kind not in (None, "records"):
        raise UsageError(f"{path} is a table, which cannot be read as {kind}")
    table = read_source(str(path))
    if "Named Scores" in table.columns and "Grader Reason" in table.columns:
        raise ContentError("promptfoo's table has means of assertions and no failures; import its JSON file (-o results.json)", path)
    rows = score_records.with_nested_cells([record.cells for record in table.records])
    names = _names(options, score_records.preset_of(rows[:1]) or score_records.TABLE)
    placed = [(record.place(), row) for record, row in zip(table.records, rows, strict=True)]
    flat = [record for place, row in placed for record in score_records.records_in([row], names, place)] if names.each else placed
    return score_records.read_records(path, flat, names, options.wide_metrics)


def _lines(path: Path, kind: str | None, options: ReadOptions) -> Read:
    rows = list(lenient_json.lines(path))
    if not rows:
        raise ContentError("the file is empty", path)
    kind = kind or _kind_of_line(rows[0][1])
    if kind in _BATCHES:
        return [(path, number, row) for number, row in rows], None
    if kind == "promptfoo":
        return [], promptfoo.read_results(path, [(f"{path}:{number}", row) for number, row in rows])
    if kind == "lm-eval":
        return [], lm_eval.read_samples(path, rows, options)
    if kind == "records":
        names = _names(options, score_records.preset_of([row for _, row in rows[:1]]) or score_records.TABLE)
        flat = [record for number, row in rows for record in score_records.records_in([row], names, f"{path}:{number}")]
        return [], score_records.read_records(path, flat, names, options.wide_metrics)
    raise UsageError(f"{path} is a JSONL file, which cannot be read as {kind}")


def _kind_of_line(row: dict[str, Any]) -> str:
    if promptfoo.is_result(row):
        return "promptfoo"
    if lm_eval.is_sample(row):
        return "lm-eval"
    return batches.kind_of(row) or "records"


def _json(path: Path, content: Any, kind: str | None, options: ReadOptions) -> ForeignScores:
    kind = kind or _kind_of_json(path, content)
    if kind == "inspect":
        return inspect_log.read_json(path, content)
    if kind == "promptfoo":
        results = promptfoo.results_in(content)
        if results is None:
            raise ContentError("not results of promptfoo, which has results.results[] with a gradingResult each", path)
        return promptfoo.read_results(path, [(f"{path}:result {number}", row) for number, row in enumerate(results, start=1)])
    if kind == "label-studio":
        return annotation_tools.read_label_studio(path, content)
    if kind == "argilla":
        return annotation_tools.read_argilla(path, content)
    if kind == "records":
        content = score_records.listed(content)
        names = _names(options, score_records.preset_of(content) or score_records.TABLE)
        return score_records.read_records(path, list(score_records.records_in(content, names, str(path))), names, options.wide_metrics)
    raise UsageError(f"{path} is a JSON file, which cannot be read as {kind}; files of kind {kind} are JSONL")


def _kind_of_json(path: Path, content: Any) -> str:
    if inspect_log.is_log(content):
        return "inspect"
    if promptfoo.results_in(content) is not None:
        return "promptfoo"
    rows = content.get("items") if isinstance(content, dict) else content
    first = rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else {}
    if "scorer" in first and "samples" in first:
        raise ContentError("reductions of Inspect are aggregates, not judgments; import the log itself", path)
    if label_studio.is_export(first):
        return "label-studio"
    return "argilla" if argilla.is_record(first) else "records"


def _names(options: ReadOptions, usual: str) -> score_records.RecordNames:
    names = score_records.preset(options.preset or usual)
    given = {name: value for name, value in options.names.items() if value}
    return msgspec.structs.replace(names, **given)
