"""Sides of a page: those of its cells, and the filters that show their judgments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.measure.cells import Cell
from harness.measure.options import POOLED
from harness.model import SIDE
from harness.render.sides import Side, plainest_first


def side_of(cell: Cell) -> Side:
    """The side that a cell belongs to."""
    return tuple(cell.key.get(name) for name in SIDE)


def sides_of(cells: Sequence[Cell]) -> list[Side]:
    """The different sides: judges first, baselines last, the conditions of a judge from the plainest on."""
    return plainest_first(map(side_of, cells))


def languages_of(cells: Sequence[Cell]) -> list[str]:
    return list(dict.fromkeys(cell["language"] for cell in cells))


def filters_of(side: Side) -> dict[str, Any]:
    """The filters of the browser of items that show the judgments of a side."""
    return {name: value for name, value in zip(SIDE, side, strict=True) if value is not None and value != POOLED}
