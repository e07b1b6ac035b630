"""Reads the JSON in which other programs keep people's and judges' scores (promptfoo, Label Studio, Argilla, MLflow, …) as one table.

The readers of `harness import` read it; a row here is one score, with who gave it. A file with a judge's scores alone has a row a text, so
that a table of people's labels can stand beside it. Files with people's labels alone are left to the readers of labels.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from harness.errors import UsageError
from harness.exchange.labels.cell_scores import is_blank
from harness.exchange.labels.choose_reader import KIND_BY_SUFFIX
from harness.exchange.labels.records import with_preferences
from harness.exchange.labels.source_table import JUDGES_ALONE, Record, SourceTable, columns_of
from harness.exchange.scores.external_scores import ExternalScore, ExternalScores, ReadOptions, json_lines, load_json
from harness.exchange.scores.formats import OTHERS, SCORE_KINDS, reader_of
from harness.exchange.scores.promptfoo import HUMAN
from harness.exchange.scores.score_records import TABLE, preset_of
from harness.text import quoted

_NAMES = {"promptfoo": "promptfoo", "label-studio": "Label Studio", "argilla": "Argilla", "inspect": "Inspect", "lm-eval": "lm-eval"}
_OUR_COLUMNS = ("item_id", "system", "rater_type", "rater", "metric", "score", "comment", "judge")


def read_program_results(path: Path, metric: str | None = None) -> SourceTable | None:
    """Return the scores of a program's JSON as a table; None for any other file, and for one without a judge's scores.

    Args:
        path: a file.
        metric: the metric with which people's verdict on a whole output is compared, where several were graded.

    Raises:
        UsageError: where several metrics were graded and people gave one verdict, with the flag.
        ContentError: for a file that begins as one of a program and does not go on so.
    """
    kinds = {KIND_BY_SUFFIX.get(suffix.lower()) for suffix in path.suffixes}
    if not path.is_file() or not kinds & {"json", "jsonl"}:
        return None
    read = _read_json(path) if "json" in kinds else _read_lines(path)
    if read is None:
        return None
    scores = [score for score in read.scores if not score.unlabelled and (score.failure or not is_blank(score.value))]
    if all(score.human for score in scores):
        return None
    read = msgspec.structs.replace(read, scores=_with_fields_of_items(scores))
    return _with_people(read, metric) if any(score.human for score in scores) else _of_judges(path, read)


def _read_json(path: Path) -> ExternalScores | None:
    content = load_json(path)
    for kind in SCORE_KINDS:
        reader = reader_of(kind)
        if reader.read_json and reader.is_json(content):
            return _read(path, partial(reader.read_json, path, content, ReadOptions()))
    read_json = reader_of(OTHERS).read_json
    is_of_program = isinstance(content, dict) and preset_of(content) not in (None, TABLE)  # a list is one of rows
    return _read(path, partial(read_json, path, content, ReadOptions())) if is_of_program and read_json else None


def _read_lines(path: Path) -> ExternalScores | None:
    rows = json_lines(path)
    first = next(rows, None)
    for kind in SCORE_KINDS if first else ():
        reader = reader_of(kind)
        if first and reader.read_lines and reader.is_line(first[1]):
            lines = [(path, number, row) for number, row in (first, *rows)]
            return _read(path, partial(reader.read_lines, lines, ReadOptions()))
    return None


def _read(path: Path, read: Callable[[], ExternalScores]) -> ExternalScores:
    """Return what a reader reads. Raises UsageError where it needs a flag that tables do not have."""
    try:
        return read()
    except UsageError as err:
        raise UsageError(f"{path}: {err}. 'harness import' has this flag: harness import {shlex.quote(str(path))} --to DIR") from None


def _with_people(read: ExternalScores, metric: str | None) -> SourceTable:
    """Return a row for each score of a person or a judge."""
    notes = [*read.notes]
    scores = list(read.scores)
    if read.kind == "promptfoo":
        scores, of_verdicts = _compare_verdicts(scores, metric)
        notes = [*of_verdicts, *notes]
    if sighted := sum(score.blind is False for score in scores):
        notes.append(f"{sighted:,} labels were given in sight of a judge's score: agreement with them is too high")
    records = []
    for score in scores:
        cells = _cells_of_item(read, score) | {
            "rater_type": "human" if score.human else "llm",
            "rater": score.who or ("person" if score.human else "judge"),
            "metric": score.metric,
            "score": score.failure.value if score.failure else score.value,
            "comment": score.justification,
        }
        records.append(_record(score, cells))
    records, scales, of_rankings = with_preferences(records)
    single = [record for record in records if not isinstance(record.cells.get("score"), (list, dict))]
    left_out = len(records) - len(single)
    if left_out:
        notes.append(f"{left_out:,} answers of several labels or parts are left out: they are no single score")
    return SourceTable(
        read.kind, columns_of([record.cells for record in single]), single, [*of_rankings, *notes], left_out, {"scales": scales}
    )


def _compare_verdicts(scores: Sequence[ExternalScore], metric: str | None) -> tuple[list[ExternalScore], list[str]]:
    """Return the scores of promptfoo's results with people's verdicts on the metric that was graded, and what a reader should know.

    People give one verdict on an output, a thumb up or down or a number. A thumb is compared with whether the grader let the output pass.
    """
    graded = list(dict.fromkeys(str(score.metric) for score in scores if not score.human))
    people = [score for score in scores if score.human and score.metric == HUMAN]
    if not people:
        return list(scores), []
    if metric not in graded and len(graded) > 1:
        raise UsageError(
            f"people gave one verdict on each output in promptfoo, and {len(graded)} metrics were graded ({quoted(graded)}); say which of "
            f"them is compared with it: --metric {shlex.quote(graded[0])}"
        )
    compared = metric if metric in graded else graded[0]
    scores = [msgspec.structs.replace(score, metric=compared) if score.human else score for score in scores]
    scores = [score for score in scores if score.metric == compared]
    notes = [f"people's verdicts in promptfoo are on whole outputs; they are compared with the metric '{compared}'"]
    are_thumbs = {score.value for score in people} <= {0, 1}
    if are_thumbs and all(score.human or score.failure or score.passed is not None for score in scores):
        notes.append("thumbs up and down are compared with whether the grader let the output pass")
        scores = [
            score
            if score.failure
            else msgspec.structs.replace(
                score, value="pass" if (score.value if score.human or score.passed is None else score.passed) else "fail"
            )
            for score in scores
        ]
    return scores, notes


def _with_fields_of_items(scores: Sequence[ExternalScore]) -> list[ExternalScore]:
    """Return scores without the fields that differ between the scores of one item, such as when it was given, and without the metric."""
    first: dict[tuple[str, str], Any] = {}
    of_scores = {
        name
        for score in scores
        for name, value in score.fields.items()
        if value == score.metric or (score.item is not None and first.setdefault((str(score.item), name), value) != value)
    }
    return [
        msgspec.structs.replace(score, fields={name: value for name, value in score.fields.items() if name not in of_scores})
        for score in scores
    ]


def _of_judges(path: Path, read: ExternalScores) -> SourceTable:
    """Return a row for each text, with a column for each judge's scores on a metric, and the sentence on what is missing."""
    judges, metrics = (list(dict.fromkeys(getattr(score, name) for score in read.scores)) for name in ("who", "metric"))
    rows: dict[tuple[Any, ...], Record] = {}
    times: Counter[tuple[Any, ...]] = Counter()
    for score in read.scores:
        item = _cells_of_item(read, score)
        key = (*item.values(), score.who, score.metric)
        row = rows.setdefault((*item.values(), times[key]), _record(score, item))
        times[key] += 1
        name = (str(score.who) if len(judges) > 1 else "judge") if len(metrics) < 2 else f"{score.metric}_{score.who or 'judge'}"
        row.cells[name] = score.failure.value if score.failure else score.value
        if score.justification:
            row.cells[f"{name} reason"] = score.justification
    file = shlex.quote(str(path))
    missing = (
        f"{path} holds a judge's scores and no person's ({_NAMES.get(read.kind, read.kind)}). With people's labels in a table "
        f"beside it: harness compare PEOPLE.csv {file} --id item_id. To keep the scores as a data folder: harness import {file} --to DIR"
    )
    records = list(rows.values())
    return SourceTable(read.kind, columns_of([record.cells for record in records]), records, read.notes, 0, {JUDGES_ALONE: missing})


def _cells_of_item(read: ExternalScores, score: ExternalScore) -> dict[str, Any]:
    """Return the columns of the text that was scored: its id, its texts and what else the program says of it, under plain names."""
    texts = score.texts or {name: score.fields[field] for name, field in read.texts.items() if field in score.fields}
    cells: dict[str, Any] = {"item_id": score.item, **texts}
    for field, value in score.fields.items():
        name = field.removeprefix("vars.").removeprefix("metadata.")
        if field in read.texts.values() or value == score.item or isinstance(value, (list, dict)) or value in texts.values():
            continue
        name = name if name not in _OUR_COLUMNS and name not in cells else field if field not in _OUR_COLUMNS else f"data.{field}"
        cells[name] = value
    return cells


def _record(score: ExternalScore, cells: dict[str, Any]) -> Record:
    number = re.search(r"\d+$", score.place)
    head = score.place[: number.start()] if number else score.place
    return Record({name: cell for name, cell in cells.items() if not is_blank(cell)}, int(number[0]) if number else 0, head)
