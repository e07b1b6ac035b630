"""Data sets as frames, for notebooks. The rows are those of the files. Frames of Polars and PyArrow are read as pandas frames."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from harness.content import Library
from harness.content.problems import scale_complaints
from harness.content.specs import DatasetCard
from harness.data.columns import CodedColumn, Columns, checked_columns
from harness.data.dataset import ITEM_KEYS, Dataset, assemble, item_problems, rubric_scales
from harness.data.judgments import JudgmentRow, Judgments, one_row_per_score
from harness.data.labels import LabelRow
from harness.errors import ContentError, UsageError
from harness.model import AnnotatorKind, Item, Scale, Source
from harness.offensive import hides_texts
from harness.tables import refuse_half_characters
from harness.text import in_nfc

if TYPE_CHECKING:
    from pandas import DataFrame


def from_frames(
    *,
    labels: Any,
    judgments: Any = None,
    items: Any = None,
    scales: Mapping[str, Scale | Mapping[str, Any]] | None = None,
    annotators: AnnotatorKind = "anonymous",
    source: Source = "native",
    name: str = "frames",
) -> Dataset:
    """Make a data set from frames of pandas, Polars or PyArrow. They are checked like the files of a data folder.

    Args:
        labels: one row per label: `item_id`, `annotator_id`, `metric`, `score`.
        judgments: one row per score: `item_id`, `judge`, `metric`, `score`; optionally `variant`, `temperature`, `repeat`, `failure`.
        items: one row per item: `item_id`, `language`, `task`; optionally `group`, `system` and texts. Without this frame, labels and
            judgments need a `language` column, and all items belong to one task.
        scales: scales of metrics without a bundled rubric, such as `{"fluency": {"kind": "ordinal", "classes": [1, 2, 3], "best": 3}}`.
        annotators: whether `annotator_id` identifies a person (`persistent`), a position in a list (`positional`), or nobody (`anonymous`).
        source: who labelled: `native`, `constructed` or `model`.
        name: the name of the data set in signatures.

    Raises:
        ContentError: with the frame and the wrong row (from 1).  UsageError: for an invalid scale, and for what is no frame.
    """
    refuse_half_characters(name, "name")
    about = DatasetCard(id=name, annotators=annotators, source=source, task="" if items is not None else "task")
    labels, judgments, items = _pandas("labels", labels), _pandas("judgments", judgments), _pandas("items", items)
    label_rows = _columns(labels, LabelRow, "a label", Path("labels"))
    judgment_rows = None if judgments is None else one_row_per_score(_columns(judgments, JudgmentRow, "a judgment", Path("judgments")))
    return assemble(
        _items(items) if items is not None else (),
        (label_rows, Path("labels")),
        None if judgment_rows is None else (judgment_rows, Path("judgments")),
        rubric_scales(Library()) | _scales(scales or {}),
        about,
    )


def frame_of(data: Dataset, table: str, *, show_texts: bool = False) -> DataFrame:
    """The `items`, `labels` or `judgments` of a data set as a frame. Each text and further key of an item is a column.

    Of offensive data the texts and other words of items are left out, unless `show_texts` asks for them.

    Raises UsageError for another name, ContentError if the data set has no judgments.
    """
    import pandas as pd  # late: half a second

    if table == "items":
        hidden = hides_texts([data.about], show_texts)
        further = [{key: value for key, value in item.fields.items() if not (hidden and isinstance(value, str))} for item in data.items]
        return pd.DataFrame([{key: getattr(item, key) for key in ITEM_KEYS} | own for item, own in zip(data.items, further, strict=True)])
    if table == "labels":
        held = data.labels
        columns = {"item_id": held.item, "annotator_id": held.annotator, "metric": held.metric, "score": held.score, "source": held.source}
    elif table != "judgments":
        raise UsageError(f"a data set has no table '{table}'; choose items, labels or judgments")
    elif data.judgments is None:
        raise ContentError("no judgments were loaded with these data", data.id)
    else:
        columns = {"item_id": data.judgments.item} | {name: getattr(data.judgments, name) for name in Judgments.COLUMNS[1:]}
    return pd.DataFrame({name: list(column) for name, column in columns.items()})


def _pandas(name: str, frame: Any) -> Any:
    """A frame as a pandas frame; None stays. Raises UsageError for what is no frame."""
    if hasattr(frame, "collect"):  # a query of Polars that has not run yet
        frame = frame.collect()
    if hasattr(frame, "to_pandas"):
        frame = frame.to_pandas()
    if frame is None or hasattr(frame, "iterrows"):
        return frame
    raise UsageError(
        f"{name}: a frame of pandas, Polars or PyArrow is expected, not {type(frame).__name__}; pandas.DataFrame(rows) makes one"
    )


def _scales(stated: Mapping[str, Scale | Mapping[str, Any]]) -> dict[str, Scale]:
    scales = {}
    for metric, scale in stated.items():
        try:
            scales[metric] = msgspec.convert(msgspec.to_builtins(scale), Scale)
        except msgspec.ValidationError as err:
            raise UsageError(f"invalid scale for '{metric}': {err}") from None
        refuse_half_characters([metric, scales[metric]], "scales")
        for message, _ in scale_complaints(scales[metric], needs_best=False):
            raise UsageError(f"invalid scale for '{metric}': {message}")
    return scales


def _items(frame: DataFrame) -> list[Item]:
    items = []
    for number, row in enumerate(frame.to_dict("records"), start=1):
        fields = {str(key): value for key, value in row.items() if not _is_gap(value)}
        own = {key: in_nfc(fields.pop(key)) for key in ITEM_KEYS if key in fields}
        try:
            items.append(msgspec.convert({"group": own.get("item_id", ""), **own, "fields": fields}, Item))
            refuse_half_characters([own, {key: value for key, value in fields.items() if isinstance(value, str)}], "items", number)
        except msgspec.ValidationError as err:
            raise ContentError(f"not an item: {err}", "items", number) from None
        for problem in item_problems(items[-1]):
            raise ContentError(problem, "items", number)
    first_row: dict[str, int] = {}
    for number, item in enumerate(items, start=1):
        if (first := first_row.setdefault(item.item_id, number)) < number:
            raise ContentError(f"item_id '{item.item_id}' is also in row {first}; ids are unique", "items", number)
    return items


def _columns(frame: DataFrame, row: type[msgspec.Struct], what: str, path: Path) -> Columns:
    columns = {
        str(name): CodedColumn.from_values(_json_value(value) for value in frame[name].tolist())
        for name in frame.columns
        if name in row.__struct_fields__ and name != "spans"
    }
    return checked_columns(columns, len(frame), row, what, path)


def _json_value(value: Any) -> Any:
    """The value as JSON would hold it: no NaN, no numpy types; lists become tuples, dicts tuples of pairs."""
    if _is_gap(value):
        return None
    if isinstance(value, dict):
        return tuple(value.items())
    return tuple(value) if isinstance(value, (list, np.ndarray)) else value.item() if isinstance(value, np.generic) else value


def _is_gap(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")
