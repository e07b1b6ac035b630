"""Many small computations as few large ones: values that are alike are computed at once, which costs NumPy hardly more than one of them.

Numbers do not depend on what is computed together: alike means arrays of the same shapes, and functions that treat leading axes one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")
Asked = TypeVar("Asked")


def at_once(
    function: Callable[[list[T]], Iterable[R]], values: Sequence[T], alike: Callable[[T], Hashable], *, most: int | None = None
) -> list[R]:
    """`[function([value]) for value in values]`, by one call for values that are alike.

    Args:
        function: gives as many results as it gets values.
        values: in any order.
        alike: values with the same key are computed together.
        most: how many of them at a time.

    >>> at_once(lambda some: [sum(some)] * len(some), [1, 2, 3, 4], alike=lambda value: value % 2)
    [4, 6, 4, 6]
    """
    places: dict[Hashable, list[int]] = {}
    for place, value in enumerate(values):
        places.setdefault(alike(value), []).append(place)
    found: dict[int, R] = {}
    for same in places.values():
        step = most or len(same)
        for first in range(0, len(same), step):
            some = same[first : first + step]
            found |= zip(some, function([values[place] for place in some]), strict=True)
    return [found[place] for place in range(len(values))]


def windows(values: Iterable[T], size: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """The values in order, many small ones or few large ones at a time: as many as are larger than `most` together.

    >>> list(windows([1, 1, 5, 1], size=int, most=4))
    [[1, 1, 5], [1]]
    """
    some: list[T] = []
    total = 0
    for value in values:
        some.append(value)
        total += size(value)
        if total > most:
            yield some
            some, total = [], 0
    if some:
        yield some


def in_step(works: Sequence[Generator[Asked, Any, R]], answers: Callable[[list[Asked]], Sequence[Any]]) -> list[R]:
    """What generators return that ask for something again and again: what all of them ask for next is answered together.

    Args:
        works: each yields what it asks for, and is sent the answer.
        answers: gives the answers to what was asked, in the same order.

    >>> def doubled(times):
    ...     value = 1
    ...     for _ in range(times):
    ...         value = yield value
    ...     return value
    >>> in_step([doubled(3), doubled(1)], lambda asked: [2 * value for value in asked])
    [8, 2]
    """
    found: dict[int, R] = {}
    sent: dict[int, Any] = dict.fromkeys(range(len(works)))
    while sent:
        asked: dict[int, Asked] = {}
        for place, answer in sent.items():
            try:
                asked[place] = works[place].send(answer)
            except StopIteration as end:
                found[place] = end.value
        sent = dict(zip(asked, answers(list(asked.values())) if asked else (), strict=True))
    return [found[place] for place in range(len(works))]
