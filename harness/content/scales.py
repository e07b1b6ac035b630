"""What can be wrong with a scale: in a rubric, a recipe or somebody's data.toml."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from harness.model import Scale

# What is wrong with a TOML file, and a regular expression for the line where it is to be put right.
Complaints = Iterator[tuple[str, str]]


def of_key(name: str) -> str:
    """A regular expression for where a key is set: `name = ...`, or the heading of its table."""
    return rf"(?:^[ \t]*[\"']?{re.escape(name)}[\"']?[ \t]*=|^\[+(?:\w+\.)*{re.escape(name)}\]+)"


def repeats(names: Iterable[str | int]) -> list[str | int]:
    """What is named more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def scale_complaints(scale: Scale, *, needs_best: bool = True) -> Complaints:
    """What is wrong with a scale, each with a regular expression for the line of its TOML file where it is to be put right."""
    bounds = (scale.min, scale.max)
    if scale.kind == "interval":
        if scale.min is None or scale.max is None or scale.min >= scale.max:
            yield f"an interval scale needs min and max, with min below max; found {bounds[0]} and {bounds[1]}", of_key("kind")
        if scale.classes:
            yield "an interval scale has no classes; take them away, or say 'ordinal'", of_key("classes")
    else:
        if len(scale.classes) < 2:
            yield f"a scale of kind '{scale.kind}' needs at least two classes; found: {scale.describe() or 'none'}", of_key("kind")
        if bounds != (None, None):
            yield f"min and max belong to interval scales, and this one is '{scale.kind}'; list classes only", of_key("kind")
        for repeated in repeats(scale.classes):
            yield f"class {repeated!r} is listed twice", of_key("classes")
    yield from _direction_complaints(scale, needs_best)


def _direction_complaints(scale: Scale, needs_best: bool) -> Complaints:
    if needs_best and scale.best is None and scale.kind != "nominal":
        yield f"a scale of kind '{scale.kind}' needs 'best', the score that is wished for", of_key("kind")
    if scale.best is not None and not scale.holds(scale.best):
        yield f"best is {scale.best!r}, which is outside the scale ({scale.describe()})", of_key("best")
    names = {str(score) for score in scale.classes}
    for one, other in scale.swap.items():
        if not {one, other} <= names:
            yield f"swap turns '{one}' into '{other}', but the classes are: {scale.describe()}", of_key("swap")
        elif scale.swap.get(other, other) != one:
            yield f"swap turns '{one}' into '{other}' but not back; exchanging the order twice changes nothing", of_key("swap")
