"""The input of maps from a judge's scores to people's: the labelled texts of one metric, all languages, as arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from harness.correction.cell_results import over_languages
from harness.correction.score_curves import LengthScale
from harness.measure.item_table import ItemTable
from harness.stats.core.arrays import Floats, Ints

MapKind = Literal["ordered", "named", "numbers"]
MOST_ORDERED = 12
"""An interval scale with more different scores than this is mapped as numbers, and not class by class."""
SCORE, EXPECTED = "score", "expected score"
_SHARE_WITH_EXPECTED = 0.95


@dataclass(frozen=True, eq=False)
class MapInput:
    """One row for each text that has a label and a readable score.

    Attributes:
        key: that of a cell (`CELL`) without its language.
        kind: `ordered` classes, `named` classes (three or more without order), or `numbers`.
        read: what of the judge the map reads: its score, or the expected score by its token probabilities.
        cells: one a language, with all of the judge's texts, labelled or not.
        values: (k,) numbers of the classes; None of named classes and of numbers.
        x: (n,) the judge's score in points, or its class code where classes have names only.
        counts: (n, k) how many labels gave each class; empty columns where scores are numbers.
        mean: (n,) people's mean score in points; NaN of named classes.
        answers: (n, k) share of the judge's answers in each class.
        language, group: (n,) codes; languages are those of `cells`. `item`: (n,) positions among the items of the data.
        covariates: (n, q) as maps read them.
        lengths: (items of the data,) characters of texts, where their length is a covariate, read by `length_scale`.
    """

    key: dict[str, Any]
    kind: MapKind
    read: str
    cells: tuple[ItemTable, ...]
    values: Floats | None
    x: Floats
    counts: Floats
    mean: Floats
    answers: Floats
    language: Ints
    group: Ints
    item: Ints
    covariates: Floats
    lengths: Floats | None = None
    length_scale: LengthScale | None = None

    def __len__(self) -> int:
        return len(self.x)

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(str(cell.key["language"]) for cell in self.cells)

    @property
    def direction(self) -> int:
        """1 if higher scores are better or no score is best, -1 if lower ones are."""
        return self.cells[0].classes.direction or 1

    def covariates_of(self, item: Ints) -> Floats:
        """Return (items, q) the covariates of any items of the data, labelled or not."""
        if self.lengths is None or self.length_scale is None:
            return np.zeros((len(item), 0))
        return self.length_scale.read(self.lengths[item])

    def take(self, rows: ArrayLike) -> MapInput:
        """Return some of the texts; languages keep their codes."""
        indices = np.asarray(rows)
        names = ("x", "counts", "mean", "answers", "language", "group", "item", "covariates")
        return replace(self, **{name: getattr(self, name)[indices] for name in names})


def map_inputs(cells: Iterable[ItemTable], lengths: Floats | None = None) -> list[MapInput]:
    """Return the cells of one judge and condition, by metric; metrics without a labelled text that the judge scored are left out.

    `lengths` are the (items of the data,) characters of texts, where maps of ordered classes read them.
    """
    return [map_input for alike in over_languages(cells) if len(map_input := _build_input(alike, lengths))]


def score_of(cell: ItemTable, kind: MapKind, read: str) -> Floats:
    """Return (items,) what a map reads of each text; NaN where nothing can be read."""
    if read == EXPECTED:
        return cell.expected
    if kind == "named":
        return np.where(cell.answer < 0, math.nan, cell.answer)
    if kind == "ordered" and cell.values is None:  # two classes with names
        return np.asarray(cell.answer_shares @ np.arange(len(cell.classes.scores)))
    assert cell.means is not None
    return cell.means[1]


def values_of(cell: ItemTable) -> Floats | None:
    """Return (k,) numbers of a cell's classes as maps read them; 0 and 1 where two classes have names only."""
    if cell.classes.continuous:
        return None
    is_named = cell.values is None and len(cell.classes.scores) == 2
    return np.arange(2.0) if is_named else cell.values


def _kind_of_map(cell: ItemTable) -> MapKind:
    if cell.classes.continuous or (cell.classes.kind == "interval" and len(cell.classes.scores) > MOST_ORDERED):
        return "numbers"
    return "named" if values_of(cell) is None else "ordered"


def _build_input(cells: Sequence[ItemTable], lengths: Floats | None) -> MapInput:
    cells = sorted(cells, key=lambda cell: str(cell.key["language"]))
    kind = _kind_of_map(cells[0])
    read = _choose_reading(cells, kind)
    scores = [score_of(cell, kind, read) for cell in cells]
    used_rows = [cell.labelled & ~np.isnan(x) for cell, x in zip(cells, scores, strict=True)]
    used = [cell.take(np.flatnonzero(rows)) for cell, rows in zip(cells, used_rows, strict=True)]
    item = np.concatenate([cell.item for cell in used])
    values = values_of(cells[0]) if kind != "numbers" else None
    lengths = lengths if kind == "ordered" else None
    scale = None if lengths is None else LengthScale.of(lengths[item])
    return MapInput(
        key=cells[0].key_over_languages,
        kind=kind,
        read=read,
        cells=tuple(cells),
        values=values,
        x=np.concatenate([x[rows] for x, rows in zip(scores, used_rows, strict=True)]),
        counts=np.concatenate([cell.labels for cell in used]).astype(np.float64),
        mean=np.concatenate([_mean(cell, values) for cell in used]),
        answers=np.concatenate([cell.answer_shares for cell in used]),
        language=np.repeat(np.arange(len(used)), [len(cell) for cell in used]),
        group=np.concatenate([cell.group for cell in used]),
        item=item,
        covariates=np.zeros((len(item), 0)) if lengths is None or scale is None else scale.read(lengths[item]),
        lengths=lengths,
        length_scale=scale,
    )


def _mean(cell: ItemTable, values: Floats | None) -> Floats:
    if values is not None:
        return np.asarray(cell.label_shares @ values)
    return np.full(len(cell), math.nan) if cell.means is None else cell.means[0]


def _choose_reading(cells: Sequence[ItemTable], kind: MapKind) -> str:
    """Return the expected score where nearly all labelled texts that have a score have one."""
    if kind != "ordered":
        return SCORE
    scored = [cell.labelled & (cell.answers.sum(axis=1) > 0) for cell in cells]
    with_expected = sum(int((~np.isnan(cell.expected[rows])).sum()) for cell, rows in zip(cells, scored, strict=True))
    return EXPECTED if 0 < with_expected >= _SHARE_WITH_EXPECTED * sum(int(rows.sum()) for rows in scored) else SCORE
