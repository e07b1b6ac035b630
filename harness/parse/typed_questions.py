"""The typed question that a decision model is asked about a metric: a statement, a choice or ordered levels, with each option's score.

The scale of the metric decides, so that an answer is read as it was asked. What has no such question is refused in a sentence.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Literal

import msgspec

from harness.model import MOST_LEVELS, Scale, Score, Variant

_TRUE = ("yes", "true")  # names of a class for which a statement is true, whichever class is the best one


class TypedQuestion(msgspec.Struct, frozen=True, dict=True):
    """A question by its kind. `scores` are those of the options in the order in which they are asked; of a statement: false, true.

    `bands` are the ends of the part of the scale that each option stands for, where it stands for more than its score.
    """

    kind: Literal["statement", "choice", "levels"]
    scores: tuple[Score, ...]
    bands: tuple[tuple[Score, Score], ...] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the scores as text, as choices and labels of levels name them."""
        return tuple(map(str, self.scores))

    @cached_property
    def name_of(self) -> dict[str, str]:
        """Return the names by themselves, as answers that name their options have them."""
        return dict(zip(self.names, self.names, strict=True))

    @cached_property
    def name_at(self) -> dict[int, str]:
        """Return the names by their place, as levels are numbered."""
        return dict(enumerate(self.names))


def typed_question(scale: Scale, variant: Variant) -> TypedQuestion:
    """Return the question about a metric with this scale. Raises ValueError with a clause that begins with a verb.

    Two classes are a statement, up to ten ordered ones are levels (so are the steps of a range, and the whole numbers of a short one),
    classes without an order and pairs are a choice. Longer scales are asked in the bands that the variant names; the score of a band is
    its midpoint.

    >>> scale = Scale(kind="interval", min=0, max=100)
    >>> typed_question(scale, Variant(levels=4)).scores
    (12.5, 37.5, 62.5, 87.5)
    >>> typed_question(Scale(kind="nominal", classes=(0, 1), best=1), Variant()).kind
    'statement'
    """
    return _question(
        scale.kind,
        scale.classes,
        scale.steps,
        scale.min,
        scale.max,
        scale.best,
        bool(scale.swap),
        variant.question,
        variant.options,
        variant.levels,
    )


@lru_cache(maxsize=1 << 10)  # each reply is read by one
def _question(
    kind: str,
    classes: tuple[int | str, ...],
    steps: tuple[int | float, ...],
    low: float | None,
    high: float | None,
    best: Score | None,
    is_pair: bool,
    question: str,
    options: str,
    levels: int,
) -> TypedQuestion:
    if kind == "interval":
        points = steps if len(steps) <= MOST_LEVELS else ()
        points = points or _whole_numbers(low, high)
        return TypedQuestion("levels", points) if points else _bands_of_range(low, high, levels)
    if len(classes) < 2:
        raise ValueError("has fewer than two classes, so there is nothing to decide")
    if is_pair or kind == "nominal" or question == "choice":
        if len(classes) == 2 and not is_pair and question == "scale":
            return TypedQuestion("statement", _false_and_true(classes, best))
        return TypedQuestion("choice", classes[::-1] if options == "reversed" else classes)
    if len(classes) > MOST_LEVELS:
        return _bands_of_classes(classes, levels)
    return TypedQuestion("statement", _false_and_true(classes, best)) if len(classes) == 2 else TypedQuestion("levels", classes)


def _whole_numbers(low: float | None, high: float | None) -> tuple[int, ...]:
    """Return the whole numbers of a range that has at most as many as levels can be; else none."""
    if low is None or high is None or low % 1 or high % 1 or not 1 < high - low < MOST_LEVELS:
        return ()
    return tuple(range(int(low), int(high) + 1))


def _bands_of_range(low: float | None, high: float | None, levels: int) -> TypedQuestion:
    """Return bands of equal width. A range without two ends has none."""
    if low is None or high is None:
        raise ValueError("has scores without a lowest and a highest one, so it has no levels")
    if not levels:
        raise ValueError(f"has any score from {low:g} to {high:g}, and a decision model is asked about at most {MOST_LEVELS} levels")
    width = (high - low) / levels
    ends = [low + width * number for number in range(levels)] + [high]
    bands = tuple(pairwise(ends))
    return TypedQuestion("levels", tuple((first + last) / 2 for first, last in bands), bands)


def _bands_of_classes(classes: tuple[int | str, ...], levels: int) -> TypedQuestion:
    """Return bands of neighbouring classes, as equal as they can be. The score of a band is the middle one of its classes."""
    if not levels:
        raise ValueError(f"has {len(classes)} ordered classes, and a decision model is asked about at most {MOST_LEVELS} levels")
    starts = [round(number * len(classes) / levels) for number in range(levels + 1)]
    parts = [classes[first:last] for first, last in pairwise(starts)]
    return TypedQuestion("levels", tuple(part[(len(part) - 1) // 2] for part in parts), tuple((part[0], part[-1]) for part in parts))


def _false_and_true(classes: tuple[int | str, ...], best: Score | None) -> tuple[int | str, ...]:
    """Return two classes, the one for which the statement is true last: a class called yes or true, else the best one, else the last."""
    true_names = [score for score in classes if str(score).casefold() in _TRUE]
    true = true_names[0] if len(true_names) == 1 else best if best in classes else classes[-1]
    return tuple(score for score in classes if score != true) + tuple(score for score in classes if score == true)
