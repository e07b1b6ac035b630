"""Label Studio: its full JSON export read, and a task file with the labelling interface written.

An export is a list of tasks `{id, data, annotations: [{completed_by, was_cancelled, result: [{from_name, type, value}]}]}`. What an
annotator chose under the control tag `from_name` is one label on the metric of that name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from harness.errors import ContentError
from harness.labels.records import objects_in
from harness.labels.table import Record, Table, columns_of
from harness.model import Scale

_VALUES = ("choices", "rating", "number")  # the types of result that are one score
OWN = ("item_id", "annotator_id", "metric", "score")


def is_export(row: Mapping[str, Any]) -> bool:
    """Whether an object is a task of an export."""
    return isinstance(row.get("data"), dict) and isinstance(row.get("annotations"), list)


def read_export(path: Path, content: Any) -> Table:
    """One record a result. Skipped annotations, and results that are no score (regions, free text), are counted and left out.

    The item id is `item_id` in the task's data, else the task's own id; the other data are columns.
    """
    tasks = objects_in(path, content)
    records: list[Record] = []
    left_out: Counter[str] = Counter()
    for number, task in enumerate(tasks, start=1):
        if not is_export(task):
            raise ContentError(
                "not a task of Label Studio's full JSON export, which has 'data' and 'annotations'", f"{path}:record {number}"
            )
        tail = f" (id {task['id']})" if "id" in task else ""
        try:
            results = list(_results(task, left_out))
        except (AttributeError, TypeError):  # parts that are of another type
            raise ContentError("its annotations are not of Label Studio's form", f"{path}:record {number}{tail}") from None
        for cells in results:
            records.append(Record({name: value for name, value in cells.items() if value is not None}, number, f"{path}:record ", {}, tail))
    if not records:
        raise ContentError("no task has a finished annotation with a score in it", path)
    notes = [f"{times} {what} left out" for what, times in left_out.items()]
    if not any("item_id" in task["data"] for task in tasks):
        notes.append("the tasks' data have no item_id: items are called by Label Studio's task ids")
    return Table("label-studio", columns_of([record.cells for record in records]), records, notes, sum(left_out.values()))


def _results(task: dict[str, Any], left_out: Counter[str]) -> Iterator[dict[str, Any]]:
    data = {f"data.{name}" if name in OWN[1:] else name: value for name, value in task["data"].items()}
    for annotation in task["annotations"]:
        if not isinstance(annotation, dict) or annotation.get("was_cancelled"):
            left_out["annotations that were skipped:"] += 1
            continue
        for result in annotation.get("result") or ():
            kind = result.get("type") if isinstance(result, dict) else None
            if kind not in _VALUES:
                left_out[f"results of type '{kind}', which are no scores:"] += 1
                continue
            value = (result.get("value") or {}).get(kind)
            yield {
                "item_id": task.get("id"),
                **data,
                "annotator_id": _who(annotation.get("completed_by")),
                "metric": result.get("from_name"),
                "score": value[0] if isinstance(value, list) and len(value) == 1 else value,
            }


def _who(completed_by: Any) -> Any:
    """A user's id: the number, or what an export with users written out says."""
    if isinstance(completed_by, dict):
        return completed_by.get("id", completed_by.get("email"))
    return completed_by


def task_rows(items: Sequence[Any], fields: Mapping[str, str]) -> list[dict[str, Any]]:
    """Tasks to import into a project: an item's id and its texts (`fields`: name → title), and nothing of where they come from."""
    texts = [{name: str(item.fields.get(name, "")) for name in fields} for item in items]
    return [
        {"data": {"item_id": item.item_id, "language": item.language, "task": item.task, **shown}}
        for item, shown in zip(items, texts, strict=True)
    ]


def interface(fields: Mapping[str, str], metrics: Mapping[str, tuple[str, str, Scale]]) -> str:
    """The labelling interface as XML: the texts under their titles, and one question a metric (`name → title, question, scale`)."""
    view = ElementTree.Element("View")
    for name, title in fields.items():
        ElementTree.SubElement(view, "Header", value=title)
        ElementTree.SubElement(view, "Text", name=f"text_{name}", value=f"${name}")
    shown = f"text_{list(fields)[-1]}"
    for name, (title, question, scale) in metrics.items():
        ElementTree.SubElement(view, "Header", value=title)
        if question:
            ElementTree.SubElement(view, "Header", value=question, size="6")
        if scale.kind == "interval":
            number = ElementTree.SubElement(view, "Number", name=name, toName=shown, step="0.01")
            for key, end in (("min", scale.min), ("max", scale.max)):
                if end is not None:
                    number.set(key, f"{end:g}")
            continue
        choices = ElementTree.SubElement(view, "Choices", name=name, toName=shown, choice="single", showInLine="true")
        for point in scale.classes:
            ElementTree.SubElement(choices, "Choice", value=str(point))
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"
