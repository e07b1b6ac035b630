"""Judges and their conditions as labels, in reading order, and those of cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.judges import traits_of
from harness.measure.cells import Cell
from harness.measure.options import POOLED
from harness.model import SIDE, axis_words, plainness
from harness.text import one_line

_JUDGE = SIDE.index("judge")

Side = tuple[Any, ...]
"""Who judged, and how: the values of `SIDE`, None or `*` where there is none."""


def side_of(key: Mapping[str, Any]) -> Side:
    """Return the side of a cell's or a verdict's key, or of a row of a section."""
    return tuple(key.get(name) for name in SIDE)


def sides_of(cells: Iterable[Cell]) -> list[Side]:
    """Return the different sides of cells, the plainest first."""
    return plainest_first(side_of(cell.key) for cell in cells)


def languages_of(cells: Iterable[Cell]) -> list[str]:
    return list(dict.fromkeys(cell["language"] for cell in cells))


def filters_of(side: Side) -> dict[str, Any]:
    """Return the filters of a page's browser of items that show the judgments of a side."""
    return {name: value for name, value in zip(SIDE, side, strict=True) if value is not None and value != POOLED}


def is_baseline(side: Side) -> bool:
    return traits_of(str(side[_JUDGE])).is_baseline


def plainest_first(sides: Iterable[Side]) -> list[Side]:
    """Return the different sides: judges in their order, baselines last; conditions from the plainest and the lowest temperature on.

    >>> plainest_first([(None, "b", "joint", 0.0, None), (None, "b", "single", 0.7, None), (None, "b", "single", 0.0, None)])[0]
    (None, 'b', 'single', 0.0, None)
    """
    different = dict.fromkeys(sides)
    judge_order = {who: index for index, who in enumerate(dict.fromkeys(side[:2] for side in different))}

    def order(side: Side) -> tuple[Any, ...]:
        source, judge, variant, *sampling = side
        return (is_baseline(side), judge_order[source, judge], plainness(str(variant)), *map(_number, sampling))

    return sorted(different, key=order)


def side_name(side: Side, all_sides: Sequence[Side]) -> str:
    """Return what tells a side from the others, in words; the judge where nothing does.

    >>> one, two = (None, "b", "joint", 0.0, None), (None, "b", "joint", 0.7, None)
    >>> side_name(one, [one, two]), side_name(one, [one])
    ('temperature 0', 'b')
    """
    differing = [index for index in range(len(SIDE)) if len({other[index] for other in all_sides}) > 1]
    naming = [index for index in differing or [_JUDGE] if side[index] not in (None, POOLED)]
    return " · ".join(one_line(axis_words(SIDE[index], side[index])) for index in naming)


def _number(value: Any) -> tuple[bool, float]:
    """Numbers by size, after sides that have none."""
    return (True, float(value)) if isinstance(value, (int, float)) else (False, 0.0)
