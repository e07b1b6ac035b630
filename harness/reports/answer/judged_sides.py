"""Sides of a comparison: a judge under one condition, in the order of every page, and its name in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.decide.verdicts import Verdict
from harness.judges import traits_of
from harness.measure.cells import Cell
from harness.measure.options import POOLED
from harness.model import CONDITION, SIDE, axis_words, plainness
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
        numbers = ((True, float(value)) if isinstance(value, (int, float)) else (False, 0.0) for value in sampling)  # those without first
        return (is_baseline(side), judge_order[source, judge], plainness(str(variant)), *numbers)

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


def judged_sides(verdicts: Sequence[Verdict]) -> list[list[Verdict]]:
    """Return the same as `sides_of_verdicts` without baselines, of which no answer is given."""
    return [side for side in sides_of_verdicts(verdicts) if not is_baseline(side_of(side[0].key))]


def sides_of_verdicts(verdicts: Sequence[Verdict]) -> list[list[Verdict]]:
    """Verdicts by source, judge and condition: judges first, baselines last, the conditions of a judge from the plainest on."""
    sides: dict[Side, list[Verdict]] = {}
    for verdict in verdicts:
        sides.setdefault(side_of(verdict.key), []).append(verdict)
    return [sides[side] for side in plainest_first(sides)]


def side_text(key: Mapping[str, Any]) -> str:
    """Who judged, and how, as far as a key has it: `openai/one, joint, temperature 0.3`."""
    words = ", ".join(axis_words(name, key[name]) for name in CONDITION if key.get(name) is not None)
    source = key.get("source")
    return one_line(": ".join([*([str(source)] if source is not None else []), *([words] if words else [])]))
