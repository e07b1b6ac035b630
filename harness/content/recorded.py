"""Recorded judgments as columns: a run's, or those of a data folder's `judgments.jsonl`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.columns import NO_VALUE, Coded, Columns, joint, read_columns
from harness.content.labels import pairs_of, refuse_unknown_items, refuse_unknown_metrics
from harness.errors import ContentError
from harness.model import Failure, Judgment, Scale, Score

NO_VARIANT = "default"


class JudgmentRow(msgspec.Struct):
    """What a row of a judgment file may say; other keys are passed over. `scores` holds one score a repeat."""

    item_id: str
    judge: str
    metric: str
    variant: str = NO_VARIANT
    score: int | float | str | None = None
    scores: list[int | float | str | None] | None = None
    failure: Failure | None = None
    temperature: float | None = None
    top_p: float | None = None
    perturbation: str | None = None
    expected: float | None = None
    entropy: float | None = None
    repeat: int | None = None
    language: str | None = None


class Judgments:
    """Judgments in the order of their file or run.

    Columns (rows,): `item`, `metric`, `judge`, `variant`, `temperature` and `top_p` (no value where they are not known), `perturbation`
    (no value for the text as it is), `repeat`, `score` (no value where there is none), `failure` (why there is none), `expected` and
    `entropy` (from token probabilities), `justification`, `asked_language` and `told_language` (of runs only). A score that is not on
    its scale has become the failure `off_scale`.
    """

    COLUMNS = ("item", "metric", "judge", "variant", "temperature", "top_p", "perturbation", "repeat", "score", "failure")
    OPTIONAL = ("expected", "entropy", "justification", "asked_language", "told_language")

    item: Coded
    metric: Coded
    judge: Coded
    variant: Coded
    temperature: Coded
    top_p: Coded
    perturbation: Coded
    repeat: Coded
    score: Coded
    failure: Coded
    expected: Coded
    entropy: Coded
    justification: Coded
    asked_language: Coded
    told_language: Coded

    def __init__(self, **columns: Coded) -> None:
        rows = len(columns["item"])
        for name in (*self.COLUMNS, *self.OPTIONAL):
            setattr(self, name, columns[name] if name in columns else Coded.empty(rows))

    @classmethod
    def of(cls, judgments: Sequence[Judgment]) -> Judgments:
        same = [name for name in (*cls.COLUMNS[1:], *cls.OPTIONAL) if name != "perturbation"]
        columns = {name: Coded.of(getattr(j, name) for j in judgments) for name in same}
        perturbation = Coded.of(j.perturbation or None for j in judgments)
        return cls(item=Coded.of(j.item_id for j in judgments), perturbation=perturbation, **columns)

    @property
    def columns(self) -> dict[str, Coded]:
        return {name: getattr(self, name) for name in (*self.COLUMNS, *self.OPTIONAL)}

    def __len__(self) -> int:
        return len(self.item)

    def take(self, rows: NDArray[Any]) -> Judgments:
        """Some of the judgments (a mask or row numbers)."""
        return Judgments(**{name: column.take(rows) for name, column in self.columns.items()})

    @property
    def asked(self) -> list[tuple[str, str]]:
        """The different (item, metric) that were judged."""
        pairs, _ = pairs_of(self.item, self.metric)
        return [(item, str(metric)) for item, metric in pairs]

    @property
    def clean(self) -> Judgments:
        """The judgments of texts as they are: the labels say nothing about perturbed ones."""
        return self if not self.perturbation.values else self.take(self.perturbation.codes == NO_VALUE)

    @property
    def sha256(self) -> str:
        """Hash of everything in them."""
        digest = hashlib.sha256()
        for name, column in self.columns.items():
            if column.values:
                digest.update(msgspec.json.encode([name, column.values]))
                digest.update(column.codes.astype(np.int32).tobytes())
        return digest.hexdigest()

    def of_items(self, ids: Iterable[str]) -> Judgments:
        """The judgments of some items."""
        kept = self.item.recoded(dict.fromkeys(ids, 0)) != NO_VALUE
        return self if kept.all() else self.take(kept)


def joined(parts: Sequence[Judgments]) -> Judgments:
    """Judgments one after the other."""
    if len(parts) == 1:
        return parts[0]
    return Judgments(**{name: Coded.joined([part.columns[name] for part in parts]) for name in parts[0].columns})


def read_rows(path: Path) -> Columns:
    """The rows of a judgment file, one a score: `scores` are told apart by their `repeat`. Raises ContentError for what is no judgment."""
    return one_a_score(read_columns(path, JudgmentRow, "a judgment"))


def one_a_score(rows: Columns) -> Columns:
    """Rows that hold a list of `scores` as one row a score; rows without a variant get the default one."""
    if (rows["variant"].codes == NO_VALUE).any():
        values = tuple(dict.fromkeys((*rows["variant"].values, NO_VARIANT)))
        codes = rows["variant"].codes.astype(np.int32)
        rows["variant"] = Coded(values, np.where(codes == NO_VALUE, values.index(NO_VARIANT), codes))
    lists = rows.pop("scores")
    if not lists.values:
        return rows
    scores = [listed if listed is not None else (single,) for listed, single in zip(lists, rows["score"], strict=True)]
    at = np.repeat(np.arange(len(scores)), [len(each) for each in scores])
    found = Columns({name: column.take(at) for name, column in rows.items()}, rows.lines[at])
    found["score"] = Coded.of(score for each in scores for score in each)
    if not rows["repeat"].values:
        found["repeat"] = Coded.of(number for each in scores for number in range(len(each)))
    return found


def checked(rows: Columns, scales: Mapping[str, Scale], items: Mapping[str, Any], path: Path, *, number_rows: bool = False) -> Judgments:
    """Judgments of a file's rows. `number_rows`: rows of one judge for one item are its repeats, in their order.

    Raises ContentError with `file:line` for an item that is not in `items`, a metric without a scale, and a second row of one judge for
    one item, metric, variant, temperature and repeat.
    """
    refuse_unknown_items(rows, items, path, "judgment")
    refuse_unknown_metrics(rows, scales, path)
    rows["perturbation"] = rows["perturbation"].without("")
    repeat = _repeats(rows, path, number_rows)
    score, failure = _scores(rows, scales)
    same = {name: rows[name] for name in ("metric", "judge", "variant", "temperature", "top_p", "perturbation", "expected", "entropy")}
    return Judgments(item=rows["item_id"], repeat=repeat, score=score, failure=failure, **same)


def _repeats(rows: Columns, path: Path, number_rows: bool) -> Coded:
    """The repeat of each row: what it says, else 0; or, with `number_rows`, its number among the rows that are otherwise equal."""
    stated = rows["repeat"]
    given = np.array([*(int(value) for value in stated.values), 0])[stated.codes]
    names = ("item_id", "metric", "judge", "variant", "temperature", "top_p", "perturbation")
    key = joint((rows[name] for name in names), np.zeros_like(given) if number_rows else given)
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    nth = np.empty(len(key), np.int64)
    nth[order] = np.arange(len(key)) - np.repeat(starts, np.diff(np.append(starts, len(key))))
    if number_rows:
        return Coded.of(nth.tolist())
    if len(again := np.flatnonzero(nth)):
        second = int(again[0])
        first = int(np.argmax(key == key[second]))
        judge, metric, item = (rows[name].values[rows[name].codes[second]] for name in ("judge", "metric", "item_id"))
        raise ContentError(
            f"'{judge}' has already judged '{metric}' of '{item}' in line {rows.lines[first]}; give repeats a 'repeat' number, "
            'or say repeats = "rows" in data.toml',
            path,
            int(rows.lines[second]),
        )
    return Coded.of(given.tolist())


def _scores(rows: Columns, scales: Mapping[str, Scale]) -> tuple[Coded, Coded]:
    """Scores that are on their scale, and why the others are none."""
    pairs, which = pairs_of(rows["metric"], rows["score"])
    values: dict[Score, int] = {}
    read = [_on_scale(score, scales[metric]) for metric, score in pairs]
    code = [NO_VALUE if score is None else values.setdefault(score, len(values)) for score in read]
    codes = np.array([*code, NO_VALUE], np.int32)[which]
    stated = rows["failure"]
    names = tuple(dict.fromkeys((*stated.values, Failure.OFF_SCALE, Failure.MISSING)))
    unsaid = np.where(which == NO_VALUE, names.index(Failure.MISSING), names.index(Failure.OFF_SCALE))
    failure = np.where(stated.codes == NO_VALUE, unsaid, stated.codes)
    return Coded(tuple(values), codes), Coded(names, np.where(codes == NO_VALUE, failure, NO_VALUE).astype(np.int32))


def _on_scale(score: Score, scale: Scale) -> Score | None:
    """The point of the scale that a recorded score is; a table of texts writes the class 2 as "2". None: off the scale."""
    if scale.holds(score):
        return score
    if isinstance(score, str):
        return next((c for c in scale.classes if str(c) == score), None)
    return None
