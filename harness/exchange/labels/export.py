"""Export: the labels of a data set as a table, or its items to be labelled, as a sheet or a Label Studio project."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from harness.content import Library
from harness.content.interfaces import FALLBACK
from harness.content.specs import Rubric
from harness.content.tags import choose_from
from harness.data import Dataset
from harness.errors import UsageError
from harness.exchange.labels.label_studio import interface, task_rows
from harness.exchange.labels.sections import Selection, TaskSection, make_sections, rubric_in, section_in, selected_items
from harness.exchange.labels.sheet import make_sheet, title_of
from harness.offensive import refuse_in_repository
from harness.row_files import escape_controls, to_csv, to_json, to_jsonl, write_atomic, write_parquet, write_together
from harness.text import without_controls

FORMATS = ("csv", "jsonl", "parquet", "label-studio", "sheet")
_BY_SUFFIX = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet", ".json": "label-studio", ".xlsx": "sheet"}
_OF_ITEM = ("language", "task", "split", "group", "system")
_COLUMNS = ("item_id", *_OF_ITEM, "annotator_id", "metric", "score", "source")


class ExportSummary(NamedTuple):
    """The written files, and the numbers of items and labels (0 labels in files that people fill in)."""

    format: str
    files: tuple[Path, ...]
    items: int
    labels: int


def export_labels(
    data: Dataset, to: Path, library: Library, *, format: str | None = None, selection: Selection | None = None
) -> ExportSummary:
    """Write the labels of `data`, or its items to be labelled, to a file. Without `format`, the name of the file decides its kind.

    Raises UsageError for a selection that is empty or cannot be shown, StoreError when the file cannot be written.
    """
    kind = format or _BY_SUFFIX.get(to.suffix)
    if kind is None:
        raise UsageError(
            f"--to {to}: unknown format; pass --format with one of {', '.join(FORMATS)}, or use a name that ends in {', '.join(_BY_SUFFIX)}"
        )
    refuse_in_repository(to, data.about)
    selected = selection or Selection()
    items = selected_items(data, selected)
    metrics = set(selected.metrics or data.scales)
    for name in metrics - data.scales.keys():
        raise UsageError(f"no metric '{name}' has a scale here.{choose_from(data.scales, name)}")
    if kind in ("sheet", "label-studio"):
        sections = make_sections(data, items, library, selected)
        write = _write_sheet if kind == "sheet" else _write_label_studio
        files = write(to, sections, data, library, selected)
        return ExportSummary(kind, files, sum(len(section.items) for section in sections), 0)
    items_by_id = {item.item_id: item for item in items}
    wanted_metrics = set(metrics)
    rows: list[dict[str, Any]] = []
    for label in data.labels:
        if label.metric in wanted_metrics and (item := items_by_id.get(label.item_id)):
            rows.append({name: getattr(item, name) for name in _OF_ITEM} | msgspec.structs.asdict(label))
    if not rows:
        raise UsageError("there are no labels of these languages, tasks and metrics to export")
    {"csv": _write_csv, "jsonl": _write_jsonl, "parquet": _write_parquet}[kind](to, rows)
    return ExportSummary(kind, (to,), len({row["item_id"] for row in rows}), len(rows))


# Tables


def _write_csv(to: Path, rows: list[dict[str, Any]]) -> None:
    rows = [{name: without_controls(value) if isinstance(value, str) else value for name, value in row.items()} for row in rows]
    write_atomic(to, "\ufeff" + to_csv(rows, _COLUMNS), private=True)  # without this mark, Excel does not recognise UTF-8


def _write_jsonl(to: Path, rows: list[dict[str, Any]]) -> None:
    lines = to_jsonl({name: row[name] for name in _COLUMNS if row[name] is not None} for row in rows)
    write_atomic(to, escape_controls(lines.decode("utf-8")), private=True)


def _write_parquet(to: Path, rows: list[dict[str, Any]]) -> None:
    """Scores are integers or numbers if all of them are, otherwise text."""
    kinds = {type(row["score"]) for row in rows}
    score = "int64" if kinds == {int} else "double" if kinds <= {int, float} else "string"
    written = [{**row, "score": str(row["score"]) if score == "string" else row["score"]} for row in rows]
    write_parquet(to, written, {name: score if name == "score" else "string" for name in _COLUMNS}, private=True)


# For people


def _find_rubrics(library: Library, metrics: Iterable[str]) -> dict[str, Rubric]:
    return {name: library.rubric(name) for name in metrics if name in library.rubric_files}


def _write_sheet(to: Path, sections: Sequence[TaskSection], data: Dataset, library: Library, selected: Selection) -> tuple[Path, ...]:
    scales = {name: data.scales[name] for name in dict.fromkeys(metric for section in sections for metric in section.metrics)}
    languages = {item.language for section in sections for item in section.items}
    [language] = languages if len(languages) == 1 else [FALLBACK]
    rubrics = _find_rubrics(library, scales)
    if language in library.instruction_files:
        instructions = library.instructions(language)
        sections = [section_in(section, instructions) for section in sections]
        rubrics = {name: rubric_in(rubric, instructions) for name, rubric in rubrics.items()}
    book = make_sheet(sections, scales, rubrics, selected.annotator, library.interface(language))
    out = io.BytesIO()
    book.save(out)
    write_atomic(to, out.getvalue(), private=True)
    return (to,)


def _write_label_studio(
    to: Path, sections: Sequence[TaskSection], data: Dataset, library: Library, selected: Selection
) -> tuple[Path, ...]:
    """Write the tasks and the labelling interface. A project has one interface, so it can hold only one of our tasks."""
    if len(sections) > 1:
        raise UsageError(f"a Label Studio project shows texts of one task; pick one with --task ({', '.join(s.task for s in sections)})")
    [section] = sections
    rubrics = _find_rubrics(library, section.metrics)
    instructions = {name: rubric.simple.instruction.strip() for name, rubric in rubrics.items()}
    questions = {name: (title_of(name, rubrics), instructions.get(name, ""), data.scales[name]) for name in section.metrics}
    interface_file = to.with_name(f"{to.stem}.xml")
    files = {to: to_json(task_rows(section.items, section.fields)), interface_file: interface(section.fields, questions)}
    write_together(files, private={to})
    return (to, interface_file)
