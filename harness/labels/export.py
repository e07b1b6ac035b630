"""Export: the labels of a data set as a table, or its items as something for people to fill in: a sheet, a Label Studio project."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.content import Dataset, Library
from harness.content.specs import Rubric
from harness.content.tags import resolve, suggest
from harness.errors import UsageError
from harness.labels.label_studio import interface, task_rows
from harness.labels.sheet import Section, make_sheet, title_of
from harness.model import Item
from harness.tables import to_csv, to_json, to_jsonl, write_atomic, write_parquet

FORMATS = ("csv", "jsonl", "parquet", "label-studio", "sheet")
_BY_SUFFIX = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet", ".json": "label-studio", ".xlsx": "sheet"}
_COLUMNS = ("item_id", "language", "task", "split", "group", "system", "annotator_id", "metric", "score", "source")


class Selection(NamedTuple):
    """Which part of a data set is exported, and how it is laid out."""

    languages: Sequence[str] | None = None
    tasks: Sequence[str] | None = None
    metrics: Sequence[str] | None = None
    fields: Sequence[str] | None = None  # texts to show, where no task describes them
    seed: int = 0
    annotator: str = ""


class Exported(NamedTuple):
    """What was written: files, and how many items and labels (0 in what people fill in)."""

    format: str
    files: tuple[Path, ...]
    items: int
    labels: int


def export_labels(data: Dataset, to: Path, library: Library, *, format: str | None = None, selection: Selection | None = None) -> Exported:
    """Write the labels, or the items to be labelled, of `data` to a file whose kind is `format` or follows from its name.

    Raises UsageError for a selection that is empty or cannot be shown, StoreError when the file cannot be written.
    """
    kind = format or _BY_SUFFIX.get(to.suffix)
    if kind is None:
        raise UsageError(
            f"--to {to}: which format? Say --format with one of {', '.join(FORMATS)}, or end the name in {', '.join(_BY_SUFFIX)}"
        )
    chosen = selection or Selection()
    items = _items(data, chosen)
    known = set(chosen.metrics or data.scales)
    for name in known - data.scales.keys():
        raise UsageError(f"no metric '{name}' has a scale here.{suggest(name, data.scales)} Known: {', '.join(data.scales)}")
    if kind in ("sheet", "label-studio"):
        sections = _sections(data, items, library, chosen)
        files = _FOR_PEOPLE[kind](to, sections, data, library, chosen)
        return Exported(kind, files, sum(len(section.items) for section in sections), 0)
    rows = _rows(data, items, known)
    _TABLES[kind](to, rows)
    return Exported(kind, (to,), len({row["item_id"] for row in rows}), len(rows))


def _items(data: Dataset, chosen: Selection) -> list[Item]:
    languages = {item.language for item in data.items}
    tasks = {item.task for item in data.items}
    if chosen.languages is not None:
        languages = set(resolve(chosen.languages, languages, "item"))
    for name in chosen.tasks or ():
        if name not in tasks:
            raise UsageError(f"no item is of task '{name}'.{suggest(name, tasks)} Here: {', '.join(sorted(tasks))}")
    wanted = set(chosen.tasks or tasks)
    return [item for item in data.items if item.language in languages and item.task in wanted]


# Tables


def _rows(data: Dataset, items: Iterable[Item], metrics: Iterable[str]) -> list[dict[str, Any]]:
    """One row a label, with what is known of its item."""
    kept = {item.item_id: item for item in items}
    wanted = set(metrics)
    rows: list[dict[str, Any]] = []
    for label in data.labels:
        if label.metric in wanted and (item := kept.get(label.item_id)):
            about = {"language": item.language, "task": item.task, "split": item.split, "group": item.group, "system": item.system}
            own = {"item_id": label.item_id, "annotator_id": label.annotator_id, "metric": label.metric, "score": label.score}
            rows.append({**about, **own, "source": label.source})
    if not rows:
        raise UsageError("there are no labels of these languages, tasks and metrics to export")
    return rows


def _write_csv(to: Path, rows: list[dict[str, Any]]) -> None:
    write_atomic(to, "\ufeff" + to_csv(rows, _COLUMNS))  # the mark without which Excel takes UTF-8 for something else


def _write_jsonl(to: Path, rows: list[dict[str, Any]]) -> None:
    write_atomic(to, to_jsonl({name: row[name] for name in _COLUMNS if row[name] is not None} for row in rows))


def _write_parquet(to: Path, rows: list[dict[str, Any]]) -> None:
    """Scores are integers or numbers where all of them are, else text."""
    kinds = {type(row["score"]) for row in rows}
    score = "int64" if kinds == {int} else "double" if kinds <= {int, float} else "string"
    written = [{**row, "score": str(row["score"]) if score == "string" else row["score"]} for row in rows]
    write_parquet(to, written, {name: score if name == "score" else "string" for name in _COLUMNS})


_TABLES: dict[str, Callable[[Path, list[dict[str, Any]]], None]] = {"csv": _write_csv, "jsonl": _write_jsonl, "parquet": _write_parquet}


# For people


def _sections(data: Dataset, items: Sequence[Item], library: Library, chosen: Selection) -> list[Section]:
    """A section a task, its items in reading order."""
    if not items:
        raise UsageError("there are no items of these languages and tasks to export")
    by_task: dict[str, list[Item]] = {}
    for item in items:
        by_task.setdefault(item.task, []).append(item)
    return [_section(task, own, data, library, chosen) for task, own in by_task.items()]


def _section(task: str, items: list[Item], data: Dataset, library: Library, chosen: Selection) -> Section:
    metrics = _metrics(task, items, data, library, chosen)
    ordered = _reading_order(items, chosen.seed)
    if task in library.task_files:
        spec = library.task(task)
        fields = {name: field.title for name, field in spec.fields.items() if chosen.fields is None or name in chosen.fields}
        fields = {name: title for name, title in fields.items() if any(str(item.fields.get(name) or "").strip() for item in items)}
        if not fields:
            raise UsageError(f"--fields names no text of task '{task}' (its texts: {', '.join(spec.fields)})")
        return Section(task, spec.title, spec.instruction.strip(), fields, ordered, metrics)
    texts = list(dict.fromkeys(name for item in items for name, value in item.fields.items() if isinstance(value, str)))
    if chosen.fields is None:
        raise UsageError(
            f"task '{task}' has no description that says which texts a reader should see (and must not: systems, notes); name them with "
            f"--fields (texts here: {', '.join(texts)})"
        )
    fields = {name: name.replace("_", " ").capitalize() for name in chosen.fields if name in texts}
    if missing := [name for name in chosen.fields if name not in texts]:
        raise UsageError(f"--fields: no item of task '{task}' has a text '{missing[0]}' (texts here: {', '.join(texts)})")
    return Section(task, task.replace("_", " ").capitalize(), "", fields, ordered, metrics)


def _metrics(task: str, items: Sequence[Item], data: Dataset, library: Library, chosen: Selection) -> list[str]:
    """What is asked about a task: what was chosen, else what the task names, else what its items have labels of, else the data's own."""
    if chosen.metrics is not None:
        return list(chosen.metrics)
    if task in library.task_files:
        return [name for name in library.task(task).metrics if name in data.scales]
    labelled = {metric for item in items for metric in data.labelled_metrics.get(item.item_id, ())}
    found = [name for name in data.scales if name in labelled] or list(data.about.metrics)
    if not found:
        raise UsageError(f"nothing says what is asked about task '{task}'; name it with --metrics (known: {', '.join(data.scales)})")
    return found


def _reading_order(items: Sequence[Item], seed: int) -> list[Item]:
    """By group, so that a shared text is read once; within a group in an order that gives nothing away."""
    groups: dict[tuple[str, str], list[Item]] = {}
    for item in items:
        groups.setdefault((item.language, item.group), []).append(item)
    ordered: list[Item] = []
    for (language, group), own in groups.items():
        random.Random(f"{seed} {language} {group}").shuffle(own)
        ordered += own
    return ordered


def _rubrics(library: Library, metrics: Iterable[str]) -> dict[str, Rubric]:
    return {name: library.rubric(name) for name in metrics if name in library.rubric_files}


def _asked(sections: Sequence[Section]) -> list[str]:
    return list(dict.fromkeys(metric for section in sections for metric in section.metrics))


def _write_sheet(to: Path, sections: Sequence[Section], data: Dataset, library: Library, chosen: Selection) -> tuple[Path, ...]:
    scales = {name: data.scales[name] for name in _asked(sections)}
    book = make_sheet(sections, scales, _rubrics(library, scales), chosen.annotator)
    out = io.BytesIO()
    book.save(out)
    write_atomic(to, out.getvalue())
    return (to,)


def _write_label_studio(to: Path, sections: Sequence[Section], data: Dataset, library: Library, chosen: Selection) -> tuple[Path, ...]:
    """The tasks, and beside them the interface: one project has one interface, so one task of ours."""
    if len(sections) > 1:
        raise UsageError(f"a Label Studio project shows texts of one task; pick one with --task ({', '.join(s.task for s in sections)})")
    [section] = sections
    rubrics = _rubrics(library, section.metrics)
    questions = {name: (title_of(name, rubrics), _question(rubrics.get(name)), data.scales[name]) for name in section.metrics}
    beside = to.with_name(f"{to.stem}.xml")
    write_atomic(beside, interface(section.fields, questions))
    write_atomic(to, to_json(task_rows(section.items, section.fields)))
    return (to, beside)


def _question(rubric: Rubric | None) -> str:
    return rubric.simple.instruction.strip() if rubric else ""


_FOR_PEOPLE: Mapping[str, Callable[[Path, Sequence[Section], Dataset, Library, Selection], tuple[Path, ...]]] = {
    "sheet": _write_sheet,
    "label-studio": _write_label_studio,
}
