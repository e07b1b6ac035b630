"""Reads the full JSON export of Label Studio, and writes a task file with the labelling interface.

An export is a list of tasks `{id, data, annotations: [{completed_by, was_cancelled, result: [{from_name, type, value}]}]}`. The
value of the control tag `from_name` is one label on the metric of that name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from harness.errors import ContentError
from harness.exchange.labels.records import objects_in, with_preferences
from harness.exchange.labels.source_table import Record, SourceTable, columns_of
from harness.model import Scale

_SCORE_TYPES = ("choices", "rating", "number")  # the types of result that are one score
OUR_COLUMNS = ("item_id", "annotator_id", "metric", "score")


def is_export(row: Mapping[str, Any]) -> bool:
    """Return whether an object is a task of such an export."""
    return isinstance(row.get("data"), dict) and isinstance(row.get("annotations"), list)


def read_export(path: Path, content: Any) -> SourceTable:
    """Read one record for each result. Skipped annotations and results without a score (regions, free text) are counted and left out.

    The item id is `item_id` in the task's data, or else the id of the task. The other data are columns.
    """
    tasks = objects_in(path, content)
    records: list[Record] = []
    left_out: Counter[str] = Counter()
    reference = users_of_ground_truth(tasks)
    for number, task in enumerate(tasks, start=1):
        if not is_export(task):
            raise ContentError(
                "not a task of Label Studio's full JSON export, which has 'data' and 'annotations'", f"{path}:record {number}"
            )
        tail = f" (id {task['id']})" if "id" in task else ""
        try:
            results = list(_read_results(task, left_out, reference))
        except (AttributeError, TypeError):  # parts of another type
            raise ContentError("its annotations do not have Label Studio's form", f"{path}:record {number}{tail}") from None
        for cells in results:
            records.append(Record({name: value for name, value in cells.items() if value is not None}, number, f"{path}:record ", {}, tail))
    if not records:
        raise ContentError("no task has a finished annotation with a score in it", path)
    records, scales, notes = with_preferences(records)
    notes += [f"{times} {what} left out" for what, times in left_out.items()]
    if not any("item_id" in task["data"] for task in tasks):
        notes.append("the tasks' data have no item_id: items are named by Label Studio's task ids")
    return SourceTable(
        "label-studio", columns_of([record.cells for record in records]), records, notes, sum(left_out.values()), {"scales": scales}
    )


def users_of_ground_truth(tasks: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the users all of whose annotations are marked as ground truth, where others have annotated too: no further person's labels."""
    marks: dict[str, set[bool]] = {}
    for task in tasks:
        for annotation in task["annotations"] if is_export(task) else ():
            if isinstance(annotation, dict) and not annotation.get("was_cancelled"):
                marks.setdefault(str(user_id(annotation.get("completed_by"))), set()).add(bool(annotation.get("ground_truth")))
    reference = {user for user, seen in marks.items() if seen == {True}}
    return reference if len(reference) < len(marks) else set()


def _read_results(task: dict[str, Any], left_out: Counter[str], reference: Collection[str]) -> Iterator[dict[str, Any]]:
    data = {f"data.{name}" if name in OUR_COLUMNS[1:] else name: value for name, value in task["data"].items()}
    for annotation in task["annotations"]:
        if not isinstance(annotation, dict) or annotation.get("was_cancelled"):
            left_out["annotations that were skipped:"] += 1
            continue
        if str(user_id(annotation.get("completed_by"))) in reference:
            left_out["annotations of ground truth, by users who made nothing else (unmark them, if they are a person's labels):"] += 1
            continue
        results = annotation.get("result") or ()
        rankings = [(result.get("from_name"), ranking) for result in results if (ranking := _read_ranking(result))]
        for metric, value in (*rankings, *scores_of([result for result in results if not _read_ranking(result)], left_out)):
            yield {
                "item_id": task.get("id"),
                **data,
                "annotator_id": user_id(annotation.get("completed_by")),
                "metric": metric,
                "score": value,
            }


def _read_ranking(result: Any) -> list[dict[str, Any]]:
    """The answers of a ranker with one list, each with its rank; empty for any other result."""
    lists = (result.get("value") or {}).get("ranker") if isinstance(result, dict) and result.get("type") == "ranker" else None
    names = next(iter(lists.values())) if isinstance(lists, dict) and len(lists) == 1 else lists
    return [{"value": str(name), "rank": rank} for rank, name in enumerate(names, start=1)] if isinstance(names, list) else []


def scores_of(results: Any, left_out: Counter[str] | None = None) -> Iterator[tuple[Any, Any]]:
    """`(metric, value)` of the results of an annotation or prediction that are one score; `left_out` counts the others."""
    for result in results or ():
        kind = result.get("type") if isinstance(result, dict) else None
        if kind == "pairwise":
            yield result.get("from_name"), (result.get("value") or {}).get("selected")
        elif kind in _SCORE_TYPES:
            value = (result.get("value") or {}).get(kind)
            yield result.get("from_name"), value[0] if isinstance(value, list) and len(value) == 1 else value
        elif left_out is not None:
            left_out[f"results of type '{kind}', which are no scores:"] += 1


def user_id(completed_by: Any) -> Any:
    """The id of a user: a number, or the id or email in an export with full users."""
    if isinstance(completed_by, dict):
        return completed_by.get("id", completed_by.get("email"))
    return completed_by


def task_rows(items: Sequence[Any], fields: Mapping[str, str]) -> list[dict[str, Any]]:
    """Tasks for a project: the id and texts of each item (`fields`: name → title), without their origin."""
    texts = [{name: str(item.fields.get(name, "")) for name in fields} for item in items]
    return [
        {"data": {"item_id": item.item_id, "language": item.language, "task": item.task, **item_texts}}
        for item, item_texts in zip(items, texts, strict=True)
    ]


def interface(fields: Mapping[str, str], metrics: Mapping[str, tuple[str, str, Scale]]) -> str:
    """The labelling interface as XML: texts with their titles, and one input for each metric (`name → title, instruction, scale`)."""
    view = ElementTree.Element("View")
    for name, title in fields.items():
        ElementTree.SubElement(view, "Header", value=title)
        ElementTree.SubElement(view, "Text", name=f"text_{name}", value=f"${name}")
    last_text = f"text_{list(fields)[-1]}"
    for name, (title, instruction, scale) in metrics.items():
        ElementTree.SubElement(view, "Header", value=title)
        if instruction:
            ElementTree.SubElement(view, "Header", value=instruction, size="6")
        if scale.kind == "interval":
            number = ElementTree.SubElement(view, "Number", name=name, toName=last_text, step="0.01")
            for key, end in (("min", scale.min), ("max", scale.max)):
                if end is not None:
                    number.set(key, f"{end:g}")
            continue
        choices = ElementTree.SubElement(view, "Choices", name=name, toName=last_text, choice="single", showInLine="true")
        for point in scale.classes:
            ElementTree.SubElement(choices, "Choice", value=str(point))
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"
