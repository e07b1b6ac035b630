"""Further tables of a data folder, and metrics that are made of marked errors.

The tables hold texts that were damaged on purpose (`attention_checks`), with the scores that people gave to them and to
their originals; and errors that people marked in a second round, without scores (`second_spans`). They are no reference of any judge.

The penalty of a text is the sum of the weights of its errors, at most the scale's highest score. Errors that further people marked
become labels of these people, and so do judges' errors judgments: where people gave one score each, their errors are the labels by which
a judge can be compared with several of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from harness.content.specs import ErrorPenalty
from harness.data.columns import NO_VALUE, CodedColumn, read_columns
from harness.data.judgments import Judgments
from harness.data.labels import Labels, checked_errors, first_line, unknown_items
from harness.errors import ContentError, refuse_faults
from harness.model import ErrorSpan, Failure, Item, Label, Scale, Source
from harness.row_files import read_rows
from harness.text import in_nfc


def labels_of_errors(labels: Labels, second: SecondSpans | None, metric: str, rule: ErrorPenalty, scale: Scale, source: Source) -> Labels:
    """Return the labels on a metric that is made of the errors in `labels` on the metric `rule.of`, and in the second round.

    A label without a list of errors, or with one that has no severity, gives none.
    """
    first = labels.take(labels.metric.equals(rule.of))
    rows = [
        Label(str(item), str(person), metric, penalty, source)
        for marked in (first, second)
        if marked is not None
        for item, person, errors in zip(marked.item, marked.annotator, marked.spans, strict=True)
        if errors is not None and (penalty := penalty_of(errors, rule, scale)) is not None
    ]
    return Labels.from_rows(rows)


def judgments_of_errors(judgments: Judgments, metric: str, rule: ErrorPenalty, scale: Scale) -> Judgments:
    """Return the judgments on a metric that is made of the errors that judges marked; an error without a severity is `off_scale`."""
    marked = judgments.take(judgments.metric.equals(rule.of) & (judgments.spans.codes >= 0))
    penalties = [penalty_of(errors, rule, scale) for errors in marked.spans]
    scores = CodedColumn.from_values(penalties)
    failure = CodedColumn.from_values(None if score is not None else Failure.OFF_SCALE for score in penalties)
    names = CodedColumn.from_values([metric] * len(marked))
    columns = {name: column for name, column in marked.columns.items() if name in Judgments.COLUMNS or name == "spans"}
    return Judgments(**columns | {"metric": names, "score": scores, "failure": failure})


def penalty_of(errors: Sequence[ErrorSpan], rule: ErrorPenalty, scale: Scale) -> float | None:
    """Return the penalty of a text's errors; None where an error has no severity that the rule knows.

    >>> rule = ErrorPenalty(of="quality", weights={"minor": 1, "major": 5})
    >>> penalty_of([ErrorSpan("minor"), ErrorSpan("major")], rule, Scale(kind="interval", min=0, max=25, best=0))
    6
    >>> penalty_of([ErrorSpan("major")] * 6, rule, Scale(kind="interval", min=0, max=25, best=0))
    25
    """
    if any(error.severity not in rule.weights for error in errors):
        return None
    total = sum(rule.weights[str(error.severity)] for error in errors)
    return total if scale.max is None else min(total, scale.max)


ORIGINAL = "original_item_id"
"""The key of a damaged text that names the item whose output was damaged."""
_NAMES = ("item_id", ORIGINAL, "annotator_id", "metric")


class AttentionCheck(msgspec.Struct, frozen=True):
    """One row of `attention_checks`: a damaged `output` of an item, and if a person scored it, that score beside the original's."""

    item_id: str
    original_item_id: str
    output: str
    annotator_id: str = ""
    score: float | None = None
    score_of_original: float | None = None
    campaign: str = ""  # a round of labelling
    metric: str = ""  # empty where the data have one metric for them

    def as_item(self, original: Item) -> Item:
        """Return the damaged text as an item of its own kind, which no other item can be taken for."""
        fields = original.fields | {"output": self.output, ORIGINAL: original.item_id}
        return msgspec.structs.replace(original, item_id=self.item_id, task=f"attention check of {original.task}", fields=fields)


def read_checks(path: Path, items: Mapping[str, Item], scales: Mapping[str, Scale]) -> tuple[AttentionCheck, ...]:
    """Read a table of attention checks. Raises ContentError with `file:line` for the first wrong row."""
    rows = []
    for line, row in read_rows(path):
        try:
            check = msgspec.convert({key: in_nfc(value) if key in _NAMES else value for key, value in row.items()}, AttentionCheck)
        except msgspec.ValidationError as err:
            raise ContentError(f"not an attention check: {err}", path, line) from None
        if check.original_item_id not in items:
            raise ContentError(f"an attention check of item '{check.original_item_id}', which is not among the items", path, line)
        if check.metric and check.metric not in scales:
            raise ContentError(f"metric '{check.metric}' has no scale; choose from: {', '.join(scales)}", path, line)
        if (check.score is None) != (check.score_of_original is None):
            raise ContentError("score and score_of_original go together; write both or neither", path, line)
        rows.append(check)
    return tuple(rows)


class SecondSpansRow(msgspec.Struct):
    """The keys of a row of `second_spans`; other keys are ignored."""

    item_id: str
    annotator_id: str
    spans: msgspec.Raw = msgspec.Raw(b"")


@dataclass(frozen=True, eq=False)
class SecondSpans:
    """Columns (rows,): the item, the annotator, and the errors that he or she marked in its text, a tuple of `ErrorSpan`."""

    item: CodedColumn
    annotator: CodedColumn
    spans: CodedColumn

    def __len__(self) -> int:
        return len(self.item)

    def for_items(self, ids: Iterable[str]) -> SecondSpans:
        """Return the rows of some items."""
        rows = np.flatnonzero(self.item.among(ids))
        return SecondSpans(*(column.take(rows) for column in (self.item, self.annotator, self.spans)))


def read_second_spans(path: Path, items: Mapping[str, Any]) -> SecondSpans:
    """Read the table. Raises ContentError with `file:line` for an unknown item, a row without `spans` or with wrong ones."""
    rows = read_columns(path, SecondSpansRow, "a row of marked errors")
    refuse_faults(unknown_items(rows, items, "row of marked errors"), path)
    spans = checked_errors(rows, path)
    if (spans.codes == NO_VALUE).any():
        raise ContentError("no 'spans'; write [] if the person marked no error", path, first_line(rows, spans.codes == NO_VALUE))
    return SecondSpans(rows["item_id"], rows["annotator_id"], spans)


def reading_seconds(folder: Path) -> list[tuple[str, str, float]]:
    """`(item_id, annotator_id, seconds)` of each text that a person labelled on a page; empty without `seen.jsonl`.

    Practice, damaged texts and skipped ones are left out. Raises ContentError with `file:line` for a row that is none.
    """
    path, readings = folder / "seen.jsonl", []
    for line, row in read_rows(path) if path.is_file() else ():
        try:
            if row["role"] == "label" and "skip" not in row:
                readings.append((str(row["item_id"]), str(row["annotator_id"]), float(row["seconds"])))
        except (KeyError, TypeError, ValueError) as err:
            raise ContentError(f"not a text that somebody saw ({err}); import the pages' results again", path, line) from None
    return readings
