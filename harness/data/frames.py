"""Data sets as frames, for notebooks. The rows are those of the files. Frames of Polars and PyArrow are read as pandas frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import msgspec
import numpy as np

from harness.content import Library
from harness.content.column_words import is_judge_name, judge_refusal
from harness.content.problems import scale_complaints
from harness.content.scale_text import parse_scale
from harness.content.specs import DatasetCard, Sampling
from harness.content.tags import choose_from, codes_of_one_language, english_name
from harness.data.columns import CodedColumn, Columns, checked_columns
from harness.data.dataset import ITEM_KEYS, Dataset, assemble, item_problems, rubric_scales
from harness.data.judgments import JudgmentRow, Judgments, one_row_per_score
from harness.data.labels import LabelRow, unknown_metrics
from harness.errors import ContentError, HarnessError, UsageError, refuse_faults
from harness.model import AnnotatorKind, Item, Scale, Source
from harness.offensive_texts import hides_texts
from harness.parse.language import other_language_of
from harness.row_files import refuse_half_characters
from harness.text import normalised_id, person_key, quoted

if TYPE_CHECKING:
    from pandas import DataFrame

FRAMES = "frames"
"""The name of data from frames, if they are given none."""


def from_frames(
    *,
    labels: Any,
    judgments: Any = None,
    items: Any = None,
    scales: Mapping[str, Scale | Mapping[str, Any] | str] | None = None,
    annotators: AnnotatorKind = "anonymous",
    source: Source = "people",
    name: str = FRAMES,
    human: Sequence[str] = (),
    sampling: Sampling = "unknown",
) -> Dataset:
    """Make a data set from frames of pandas, Polars or PyArrow. They are checked like the files of a data folder.

    Ids may be numbers: 7 and 7.0 are the id "7". All faults are named at once.

    Args:
        labels: one row per label: `item_id`, `annotator_id`, `metric`, `score`.
        judgments: one row per score: `item_id`, `judge`, `metric`, `score`; optionally `variant`, `temperature`, `repeat`, `failure`.
        items: one row per item: `item_id`, `language`, `task`; optionally `group`, `system` and texts. Without this frame, labels and
            judgments need a `language` column, and all items belong to one task.
        scales: scales of metrics without a bundled rubric, such as `{"fluency": "1..5:best=5"}`, or spelt out:
            `{"fluency": {"kind": "ordinal", "classes": [1, 2, 3], "best": 3}}`.
        annotators: whether `annotator_id` identifies a person (`persistent`), a position in a list (`positional`), or nobody (`anonymous`).
        source: who labelled: `native` speakers, `people` of whom that is not known, `constructed` or `model`.
        name: the name of the data set in signatures.
        human: annotators who are people, though their names look like a judge's.
        sampling: how the labelled items were drawn from the judged ones: `random`, which corrected means need, `convenience` or `unknown`.

    Raises:
        ContentError: with the frame and the wrong row (from 1).  UsageError: for an invalid scale, and for what is no frame.
    """
    refuse_half_characters(name, "name")
    if sampling not in get_args(Sampling):
        raise UsageError(f"no sampling '{sampling}'.{choose_from(get_args(Sampling), sampling)}")
    about = DatasetCard(id=name, annotators=annotators, source=source, sampling=sampling, task="" if items is not None else "task")
    faults: list[HarnessError] = []
    known_scales = rubric_scales(Library())
    with _collected(faults):
        known_scales |= _scales(scales or {})
    rows: dict[str, Columns] = {}
    for table, frame, row, what in (("labels", labels, LabelRow, "a label"), ("judgments", judgments, JudgmentRow, "a judgment")):
        with _collected(faults):
            if (read := _pandas(table, frame)) is not None:
                rows[table] = _columns(read, row, what, Path(table))
    if "labels" in rows and source != "model":
        judges = [who for who in rows["labels"]["annotator_id"].values if who not in human and is_judge_name(who)]
        if judges:
            faults.append(UsageError("labels: " + judge_refusal(judges, f"say that it is a person: human={judges[:1]}")))
    with _collected(faults):
        item_rows = _items(read) if (read := _pandas("items", items)) is not None else []
        language_of = {item.item_id: item.language for item in item_rows}
        for table, columns in rows.items():
            if not any(columns["language"].values):
                continue
            for line, item_id, tag in zip(columns.lines, columns["item_id"], columns["language"], strict=True):
                if tag and (stated := language_of.get(item_id, tag)) != tag:
                    raise ContentError(
                        f"language '{tag}' of item '{item_id}' is '{stated}' in the items; write '{stated}', or leave the column out",
                        Path(table),
                        int(line),
                    )
    for table, columns in rows.items():
        with _collected(faults):
            how = "give it one: scales={{'{metric}': '1..5:best=5'}}"
            all_scales = known_scales | {metric: Scale(kind="interval") for metric in scales or ()}  # a wrong scale is named already
            refuse_faults(unknown_metrics(columns, all_scales, how), Path(table))
    _raise_all(faults)
    label_rows = (rows["labels"], Path("labels"))
    judgment_rows = (one_row_per_score(rows["judgments"]), Path("judgments")) if "judgments" in rows else None
    try:
        data = assemble(item_rows, label_rows, judgment_rows, known_scales, about)
        for codes in codes_of_one_language({item.language for item in data.items}):
            raise ContentError(f"{quoted(codes)} are codes of one language, {english_name(codes[0])}; write '{codes[0]}' in all rows", name)
        for tag in sorted({item.language for item in data.items}):
            texts = (text for item in data.items if item.language == tag for text in item.fields.values() if isinstance(text, str))
            if sentence := other_language_of(tag, texts):
                raise ContentError(sentence, name)
        return data
    except ContentError as first:  # of the other table, faults may be named too
        faults.append(first)
        with _collected(faults):
            assemble(item_rows, None, judgment_rows, known_scales, about)
        _raise_all(faults)
        raise


@contextmanager
def _collected(faults: list[HarnessError]) -> Iterator[None]:
    """Collect an error of ours instead of raising it."""
    try:
        yield
    except HarnessError as err:
        faults.append(err)


def _raise_all(faults: Sequence[HarnessError]) -> None:
    """Raise the first of the faults, with the messages of all; does nothing without one."""
    if faults:
        first = faults[0]
        first.args = ("\n         ".join(dict.fromkeys(map(str, faults))),)
        raise first


def frame_of(data: Dataset, table: str, *, show_texts: bool = False) -> DataFrame:
    """Return the `items`, `labels` or `judgments` of a data set as a frame. Each text and further key of an item is a column.

    Of offensive data the texts and other words of items are left out, unless `show_texts` asks for them.

    Raises UsageError for another name, ContentError if the data set has no judgments.
    """
    import pandas as pd  # late: half a second

    if table == "items":
        hidden = hides_texts([data.about], show_texts)
        field_rows = [{key: value for key, value in item.fields.items() if not (hidden and isinstance(value, str))} for item in data.items]
        return pd.DataFrame(
            [{key: getattr(item, key) for key in ITEM_KEYS} | fields for item, fields in zip(data.items, field_rows, strict=True)]
        )
    if table == "labels":
        labels = data.labels
        columns = {
            "item_id": labels.item,
            "annotator_id": labels.annotator,
            "metric": labels.metric,
            "score": labels.score,
            "source": labels.source,
        }
    elif table != "judgments":
        raise UsageError(f"a data set has no table '{table}'; choose items, labels or judgments")
    elif data.judgments is None:
        raise ContentError("no judgments were loaded with these data", data.id)
    else:
        columns = {"item_id": data.judgments.item} | {name: getattr(data.judgments, name) for name in Judgments.COLUMNS[1:]}
    return pd.DataFrame({name: list(column) for name, column in columns.items()})


def _pandas(name: str, frame: Any) -> Any:
    """Return a frame as a pandas frame; None stays. Raises UsageError for what is no frame, and for one with repeated columns."""
    if hasattr(frame, "collect"):  # a query of Polars that has not run yet
        frame = frame.collect()
    if hasattr(frame, "to_pandas"):
        frame = frame.to_pandas()
    if frame is None:
        return None
    if hasattr(frame, "iterrows"):
        repeated = [str(column) for column, times in Counter(frame.columns).items() if times > 1]
        if repeated:
            raise UsageError(f"{name}: several columns are called {quoted(repeated)}; give each column its own name")
        if frame.columns.nlevels > 1:
            raise UsageError(f"{name}: its columns have names of {frame.columns.nlevels} levels; flatten them to one name each")
        return frame
    raise UsageError(
        f"{name}: a frame of pandas, Polars or PyArrow is expected, not {type(frame).__name__}; pandas.DataFrame(rows) makes one"
    )


def _scales(stated: Mapping[str, Scale | Mapping[str, Any] | str]) -> dict[str, Scale]:
    scales: dict[str, Scale] = {}
    faults: list[HarnessError] = []
    for metric, scale in stated.items():
        with _collected(faults):
            try:
                read = parse_scale(scale) if isinstance(scale, str) else msgspec.convert(msgspec.to_builtins(scale), Scale)
            except (msgspec.ValidationError, UsageError) as err:
                raise UsageError(f"invalid scale for '{metric}': {err}") from None
            refuse_half_characters([metric, read], "scales")
            for message, _ in scale_complaints(read, needs_best=False):
                raise UsageError(f"invalid scale for '{metric}': {message}")
            scales[metric] = read
    _raise_all(faults)
    return scales


def _items(frame: DataFrame) -> list[Item]:
    items: list[Item] = []
    faults: list[tuple[int, str]] = []
    first_row: dict[str, int] = {}
    for number, row in enumerate(frame.to_dict("records"), start=1):
        fields = {str(key): value for key, value in row.items() if not _is_gap(value)}
        keys = {key: _id_or_value(fields.pop(key), key) for key in ITEM_KEYS if key in fields}
        try:
            item = msgspec.convert({"group": keys.get("item_id", ""), **keys, "fields": fields}, Item)
            refuse_half_characters([keys, {key: value for key, value in fields.items() if isinstance(value, str)}], "items", number)
        except msgspec.ValidationError as err:
            faults.append((number, f"not an item: {err}"))
            continue
        faults += ((number, problem) for problem in item_problems(item))
        if (first := first_row.setdefault(item.item_id, number)) < number:
            faults.append((number, f"item_id '{item.item_id}' is also in row {first}; ids are unique"))
        items.append(item)
    refuse_faults(faults, "items")
    return items


def _columns(frame: DataFrame, row: type[msgspec.Struct], what: str, path: Path) -> Columns:
    columns: dict[str, CodedColumn] = {}
    spellings: dict[str, str] = {}  # of people: the first one of each
    for name in frame.columns:
        if name in row.__struct_fields__ and name != "spans":
            values = [_id_or_value(_json_value(value), name) for value in frame[name].tolist()]
            if name == "annotator_id":
                values = [spellings.setdefault(person_key(who), who) if isinstance(who, str) else who for who in values]
            columns[name] = CodedColumn.from_values(values)
    return checked_columns(columns, len(frame), row, what, path)


def _json_value(value: Any) -> Any:
    """Return the value as JSON would hold it: no NaN, no numpy types; lists become tuples, dicts tuples of pairs."""
    if _is_gap(value):
        return None
    if isinstance(value, dict):
        return tuple(value.items())
    return tuple(value) if isinstance(value, (list, np.ndarray)) else value.item() if isinstance(value, np.generic) else value


_IDS = ("item_id", "annotator_id", "group", "parallel_id")


def _id_or_value(value: Any, column: str) -> Any:
    """Return an id as a text in one form, also where a frame holds numbers; values of other columns as they are."""
    if column not in _IDS or isinstance(value, bool) or not isinstance(value, (str, int, float, np.integer, np.floating)):
        return value
    if isinstance(value, (float, np.floating)) and not abs(float(value)) < 2**53:
        return value  # larger numbers have lost digits, so two ids may have become one: the check of types refuses it
    return normalised_id(str(value))


def _is_gap(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")
