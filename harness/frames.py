"""Data sets and comparisons as pandas frames, for notebooks: the same rows that the files hold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from harness.columns import Coded, Columns, checked_columns
from harness.content import Library
from harness.content.dataset import Dataset, assemble, item_problems, rubric_scales
from harness.content.labels import LabelRow
from harness.content.recorded import JudgmentRow, Judgments, one_a_score
from harness.content.scales import scale_complaints
from harness.content.specs import DataFolder
from harness.errors import ContentError, UsageError
from harness.model import AnnotatorKind, Item, Scale, Source

if TYPE_CHECKING:
    from pandas import DataFrame

_ITEM = ("item_id", "language", "task", "split", "group", "system", "parallel_id")


def from_frames(
    *,
    labels: DataFrame,
    judgments: DataFrame | None = None,
    items: DataFrame | None = None,
    scales: Mapping[str, Scale | Mapping[str, Any]] | None = None,
    annotators: AnnotatorKind = "anonymous",
    source: Source = "native",
    name: str = "frames",
) -> Dataset:
    """A data set of frames, checked like the files of a data folder.

    Args:
        labels: one row a label: `item_id`, `annotator_id`, `metric`, `score`.
        judgments: one row a score: `item_id`, `judge`, `metric`, `score`; `variant`, `temperature`, `repeat`, `failure` where there are.
        items: one row an item: `item_id`, `language`, `task`; `group`, `system` and texts where there are any. Without it, the labels
            (and judgments) bring a `language` of their own, and all items are of one task.
        scales: of metrics that no bundled rubric defines, such as `{"fluency": {"kind": "ordinal", "classes": [1, 2, 3], "best": 3}}`.
        annotators: whether `annotator_id` follows a person (`persistent`), a place in a list (`positional`), or nobody (`anonymous`).
        source: who labelled: `native`, `constructed` or `model`.
        name: of the data set, in signatures.

    Raises:
        ContentError: naming the frame and the row (from 1) that is wrong.  UsageError: for a scale that is none.
    """
    about = DataFolder(id=name, annotators=annotators, source=source, task="" if items is not None else "task")
    label_rows = _columns(labels, LabelRow, "a label", Path("labels"))
    judged = None if judgments is None else one_a_score(_columns(judgments, JudgmentRow, "a judgment", Path("judgments")))
    return assemble(
        _items(items) if items is not None else (),
        (label_rows, Path("labels")),
        None if judged is None else (judged, Path("judgments")),
        rubric_scales(Library()) | _scales(scales or {}),
        about,
    )


def frame_of(data: Dataset, table: str) -> DataFrame:
    """The `items`, `labels` or `judgments` of a data set as a frame; texts and further keys of items are columns of their own.

    Raises UsageError for another name, ContentError for judgments that the data set does not hold.
    """
    import pandas as pd  # late: half a second

    if table == "items":
        return pd.DataFrame([{key: getattr(item, key) for key in _ITEM} | item.fields for item in data.items])
    if table == "labels":
        of = data.labels
        names = {"item_id": of.item, "annotator_id": of.annotator, "metric": of.metric, "score": of.score, "source": of.source}
    elif table != "judgments":
        raise UsageError(f"'{table}' is no table of a data set; there are items, labels, judgments")
    elif data.judgments is None:
        raise ContentError("no judgments were loaded with these data", data.id)
    else:
        names = {"item_id": data.judgments.item} | {name: getattr(data.judgments, name) for name in Judgments.COLUMNS[1:]}
    return pd.DataFrame({name: list(column) for name, column in names.items()})


def _scales(given: Mapping[str, Scale | Mapping[str, Any]]) -> dict[str, Scale]:
    found = {}
    for metric, scale in given.items():
        try:
            found[metric] = msgspec.convert(msgspec.to_builtins(scale), Scale)
        except msgspec.ValidationError as err:
            raise UsageError(f"the scale of '{metric}' is none: {err}") from None
        for message, _ in scale_complaints(found[metric], needs_best=False):
            raise UsageError(f"the scale of '{metric}': {message}")
    return found


def _items(frame: DataFrame) -> list[Item]:
    found = []
    for number, row in enumerate(frame.to_dict("records"), start=1):
        known = {str(key): value for key, value in row.items() if not _is_gap(value)}
        own = {key: known.pop(key) for key in _ITEM if key in known}
        try:
            found.append(msgspec.convert({"group": own.get("item_id", ""), **own, "fields": known}, Item))
        except msgspec.ValidationError as err:
            raise ContentError(f"not an item: {err}", "items", number) from None
        for problem in item_problems(found[-1]):
            raise ContentError(problem, "items", number)
    ids = [item.item_id for item in found]
    if len(set(ids)) < len(ids):
        again = next(i for i, name in enumerate(ids) if ids.index(name) < i)
        raise ContentError(f"item_id '{ids[again]}' is also in row {ids.index(ids[again]) + 1}; ids are unique", "items", again + 1)
    return found


def _columns(frame: DataFrame, row: type[msgspec.Struct], what: str, path: Path) -> Columns:
    columns = {
        str(name): Coded.of(_plain(value) for value in frame[name].tolist()) for name in frame.columns if name in row.__struct_fields__
    }
    return checked_columns(columns, len(frame), row, what, path)


def _plain(value: Any) -> Any:
    """What JSON would have: no NaN, lists as tuples, whole floats (pandas makes them of integers with gaps) as they are."""
    if _is_gap(value):
        return None
    return tuple(value) if isinstance(value, (list, np.ndarray)) else value.item() if isinstance(value, np.generic) else value


def _is_gap(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")
