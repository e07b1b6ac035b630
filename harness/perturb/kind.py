"""A kind of perturbation: its doses, its expected effect on scores, and the pure function that changes a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

import msgspec

from harness.model import Item
from harness.perturb.segments import Words

Direction = Literal[-1, 0, 1]


class Doses(NamedTuple):
    """The doses of a kind. The range includes both ends."""

    default: float
    least: float
    most: float


class Change(NamedTuple):
    """A changed text, and the size of the change, under names that the kind chooses. Shares are in [0, 1]."""

    text: str
    realised: dict[str, float]


class Perturb(Protocol):
    """Changes `words.text`, one output text of `item`. Returns None if the text cannot be changed.

    The function is pure: equal arguments give equal results on every platform. `seed` already depends on the run's seed, the item and the
    text, so `Chance(seed)` is enough. `dose` is None for kinds without doses. `pool` holds the items from which a text may be taken.
    """

    def __call__(self, item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None: ...


class Kind(msgspec.Struct, frozen=True):
    """One kind of perturbation.

    `moves` names metrics whose scores should fall (-1), stay (0) or rise (1); other metrics may do anything. `heeds_segmenter` is set for
    kinds that work on words. `broken` is the reason why a plug-in cannot be loaded, and empty for all other kinds.
    """

    name: str
    summary: str
    doses: Doses | None
    heeds_segmenter: bool
    moves: Mapping[str, Direction]
    perturb: Perturb
    broken: str = ""
