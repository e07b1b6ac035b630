"""Names for annotators without released ids. A fixed rule numbers them, without a secret, and gives the same names again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

Id = TypeVar("Id", int, str)


def named_by_rank(ids: Iterable[Id], prefix: str, digits: int = 1) -> Mapping[Id, str]:
    """Id -> `prefix` and the id's place among the sorted ids, from 1.

    >>> named_by_rank([18034, 17001, 18034], "w", digits=3)
    {17001: 'w001', 18034: 'w002'}
    """
    return _numbered(sorted(set(ids)), prefix, digits)


def named_by_appearance(ids: Iterable[Id], prefix: str, digits: int = 1) -> Mapping[Id, str]:
    """Id -> `prefix` and the id's place in the order of first appearance, from 1.

    >>> named_by_appearance(["B7", "A1", "B7"], "de-w", digits=2)
    {'B7': 'de-w01', 'A1': 'de-w02'}
    """
    return _numbered(dict.fromkeys(ids), prefix, digits)


def _numbered(ids: Iterable[Id], prefix: str, digits: int) -> dict[Id, str]:
    return {one: f"{prefix}{number:0{digits}d}" for number, one in enumerate(ids, start=1)}
