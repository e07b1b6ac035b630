"""Results of many cells, the judge and condition that they are of, and cells most of whose answers cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from harness.content.specs import DatasetCard
from harness.content.tags import choose_from
from harness.data.columns import CodedColumn, combination_ids, first_rows, rows_by_number
from harness.data.frames import FRAMES
from harness.data.judgments import NO_VARIANT, Judgments
from harness.decide.verdict_sentences import REPAIR, unread_sentence, unread_words
from harness.decide.verdicts import copied_cells
from harness.errors import JudgeError, UsageError
from harness.judges import traits_of
from harness.measure.compare import JudgedTables, Recording
from harness.measure.item_table import AnswerCounts, ItemTable, total_answers
from harness.model import CONDITION, SIDE, JudgeCondition


class KeyedRow(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of one cell. `key` is that of the cell (`CELL`), and the source where there are several."""

    key: dict[str, Any]

    def flat(self) -> dict[str, Any]:
        """Return one object for programs, with the parts of the key beside the other values."""
        values = msgspec.structs.asdict(self)
        return {**values.pop("key"), **values}


class CellResults(msgspec.Struct, frozen=True):
    """Numbers of many cells, with what is needed to make them again."""

    def as_json(self) -> dict[str, Any]:
        """Return one object for programs: the fields, with rows as objects."""
        fields = msgspec.structs.asdict(self)
        rows = {
            name: [row.flat() for row in part]
            for name, part in fields.items()
            if isinstance(part, tuple) and hasattr(next(iter(part), None), "flat")
        }
        return fields | rows


def over_languages(cells: Iterable[ItemTable]) -> list[list[ItemTable]]:
    """Return the cells in groups of those that differ in their language alone."""
    groups: dict[tuple[Any, ...], list[ItemTable]] = {}
    for cell in cells:
        groups.setdefault(tuple(cell.key_over_languages.values()), []).append(cell)
    return list(groups.values())


def split_by(cell: ItemTable, keys: Mapping[str, CodedColumn]) -> Iterator[ItemTable]:
    """Yield the cell divided by keys of all items of the data, such as `system`."""
    columns = {name: column.take(cell.item) for name, column in keys.items()}
    code = combination_ids(columns.values(), np.zeros(len(cell), np.int8))
    for row, rows in zip(first_rows(code).tolist(), rows_by_number(code, int(code.max(initial=-1)) + 1), strict=True):
        values = {name: (column.values[column.codes[row]] if column.codes[row] >= 0 else None) for name, column in columns.items()}
        yield cell.take(rows, **values)


def refuse_unless_random(about: DatasetCard, what: str, otherwise: str = "") -> None:
    """Raise UsageError unless the dataset card says that the labelled items are a random sample: `what` needs it, `otherwise` helps."""
    if about.sampling == "random":
        return
    stated = f'says sampling = "{about.sampling}"' if about.sampling != "unknown" else "does not say how the labelled texts were drawn"
    frames = " (of frames: from_frames(…, sampling='random'))" if about.id == FRAMES else ""
    raise UsageError(
        f"{what}: this needs labels of a random sample of the judged texts, and the dataset card of '{about.id}' {stated}.\n"
        '  If they were drawn at random, write the line sampling = "random" at the top of data.toml, above the first [table], or import '
        f"with --sampling random{frames}.\n  If not, label a random sample: 'harness labels plan' draws one.{otherwise}"
    )


def choose_condition(conditions: Iterable[JudgeCondition], judges: Sequence[str] | None, verb: str) -> JudgeCondition:
    """Return the judge and condition to `verb`; baselines count only if named. Raises UsageError where there are several, or none."""
    candidates = list(dict.fromkeys(conditions))
    if judges:
        names_present = list(dict.fromkeys(condition.judge for condition in candidates))
        for name in judges:
            if name not in names_present:
                raise UsageError(f"no judge '{name}'.{choose_from(names_present, name)}")
        candidates = [condition for condition in candidates if condition.judge in judges]
    elif any(not traits_of(condition.judge).is_baseline for condition in candidates):
        candidates = [condition for condition in candidates if not traits_of(condition.judge).is_baseline]
    if not candidates:
        raise UsageError(f"nothing to {verb}: no judge has scores on a metric that people labelled; see 'harness compare'")
    names = list(dict.fromkeys(condition.judge for condition in candidates))
    what = {"certify": "a certificate is", "calibrate": "maps are", "accept": "a step of a cascade is"}[verb]
    if len(names) > 1:
        raise UsageError(f"{what} of one judge, and there are {len(names)}; name one with --judge: {', '.join(names)}")
    if len(candidates) > 1:
        differing = next(name for name in CONDITION[1:] if len({getattr(condition, name) for condition in candidates}) > 1)
        values = ", ".join(dict.fromkeys(f"{getattr(condition, differing)}" for condition in candidates))
        raise UsageError(f"{what} of one condition; choose one with --where {differing}=VALUE: {values}")
    return candidates[0]


def judged_rows(source: Recording, condition: JudgeCondition) -> Judgments:
    """Return the judgments of original texts by one judge under one condition."""
    rows = source.judgments.clean
    for name, value in condition._asdict().items():
        rows = rows_with_value(rows, name, value)
    return rows


def rows_with_value(rows: Judgments, name: str, value: Any) -> Judgments:
    """Return the rows whose column `name` has this value; None finds the rows without one."""
    column = getattr(rows, name)
    return rows.take(column.equals(value))


def copied_sentences(aligned: JudgedTables) -> tuple[str, ...]:
    """Return a sentence on each cell in which the judge's scores equal people's in every text: numbers of copies show nothing."""
    return tuple(f"{key['judge']} in {key['language']}/{key['metric']}: {copied.doubt}." for key, copied in copied_cells(aligned))


class UnreadCells(msgspec.Struct, frozen=True):
    """Cells that were left out, because more than half of a judge's answers cannot be read.

    Attributes:
        key: the judge and its condition; of one cell alone its language and metric too.
        answers: how many could not be read, why, and one of them as it was written.
    """

    key: dict[str, Any]
    answers: AnswerCounts

    @property
    def of_all(self) -> bool:
        """True if it is about all cells of the judge."""
        return "metric" not in self.key

    def covers(self, key: Mapping[str, Any]) -> bool:
        """Return True if a cell with this key is among them."""
        return all(key.get(name) == value for name, value in self.key.items())

    @property
    def reason(self) -> str:
        return unread_words(self.answers)

    def sentence(self) -> str:
        """Say what was left out, and why."""
        where = "" if self.of_all else f" in {self.key['language']}/{self.key['metric']}"
        return unread_sentence(self.answers, f"nothing is said of {judge_words(self.key)}{where}")

    def flat(self) -> dict[str, Any]:
        """Return one object for programs."""
        return {**self.key, **msgspec.to_builtins(self.answers)}


def judge_words(key: Mapping[str, Any]) -> str:
    """Name the judge of a key, with its condition where it has one.

    >>> judge_words({"judge": "openai/one", "variant": "joint", "temperature": 0.7})
    'openai/one (joint, temperature 0.7)'
    """
    words = JudgeCondition.of({name: value for name, value in key.items() if value != NO_VARIANT}).words()
    return f"{key['judge']} ({words})" if words else str(key["judge"])


def split_unread(cells: Iterable[ItemTable]) -> tuple[list[ItemTable], tuple[UnreadCells, ...]]:
    """Divide cells into those that numbers may rest on, and what is left out: a judge with all its cells, or one cell of it."""
    sides: dict[tuple[Any, ...], list[ItemTable]] = {}
    for cell in cells:
        sides.setdefault(tuple(cell.key.get(name) for name in ("source", *SIDE)), []).append(cell)
    readable, unread = list[ItemTable](), list[UnreadCells]()
    for of_judge in sides.values():
        answers = total_answers(cell.counts for cell in of_judge)
        if answers.mostly_unread:
            key = {name: value for name, value in of_judge[0].key.items() if name in ("source", *SIDE)}
            unread.append(UnreadCells(key, answers))
            continue
        readable += [cell for cell in of_judge if not cell.counts.mostly_unread]
        unread += [UnreadCells(cell.key, cell.counts) for cell in of_judge if cell.counts.mostly_unread]
    return readable, tuple(unread)


def refuse_unread(cells: Iterable[ItemTable], what: str) -> tuple[list[ItemTable], tuple[UnreadCells, ...]]:
    """Divide cells as `split_unread`; `what` would rest on them.

    Raises JudgeError where nothing is left of any judge, baselines aside.
    """
    readable, unread = split_unread(cells)
    if unread and all(cell.is_baseline for cell in readable):
        words = unread_words(total_answers(cells_unread.answers for cells_unread in unread))
        judges = ", ".join(dict.fromkeys(str(cells_unread.key["judge"]) for cells_unread in unread))
        raise JudgeError(f"{words}: {what} of {judges}. {REPAIR}")
    return readable, unread
