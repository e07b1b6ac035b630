"""What a kind of perturbation is: its doses, what it should do to scores, and the pure function that changes a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

import msgspec

from harness.model import Item
from harness.perturb.segments import Words

Direction = Literal[-1, 0, 1]


class Doses(NamedTuple):
    """The doses that a kind takes; both ends belong to the range."""

    default: float
    least: float
    most: float


class Change(NamedTuple):
    """A changed text, and what was achieved, under names that the kind chooses (shares are in [0, 1])."""

    text: str
    realised: dict[str, float]


class Perturb(Protocol):
    """Changes `words.text`, one output text of `item`; None where it cannot be changed.

    Pure: equal arguments, equal result, on every platform. `seed` is drawn from the run's seed, the item and the text already, so
    `Chance(seed)` is all that is needed. `dose` is None for kinds without doses. `pool` holds the items that a text may be taken from.
    """

    def __call__(self, item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None: ...


class Kind(msgspec.Struct, frozen=True):
    """One kind of perturbation.

    `moves` says of each metric whether its scores should fall (-1), stay (0) or rise (1); nothing is claimed about metrics that are not
    named. `broken` says why a plug-in that cannot be loaded cannot, and is empty for all others.
    """

    name: str
    summary: str
    doses: Doses | None
    heeds_segmenter: bool
    moves: Mapping[str, Direction]
    perturb: Perturb
    broken: str = ""
