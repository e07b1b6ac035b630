"""What a board asks of every judge: its asks and the hashes of their prompts, made once and light enough for every process to have."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from functools import lru_cache

import msgspec

from harness.model import Ask, Item, JudgeIdentity, Scale
from harness.plan import CallIds, Plan, call_ids, hexadecimal
from harness.protocol import Prepared, RunProtocol


class Expected(msgspec.Struct, frozen=True):
    """What the row of one call has to say, whoever is asked."""

    prompt_id: str
    item_id: str
    metrics: str
    condition: str
    temperature: float
    repeat: int


class Wanted(msgspec.Struct, frozen=True):
    """All asks of a board in the order of its plan, their items without texts. `languages` are those that reasons are asked for in."""

    board: str  # `controls@2.1.0`
    asks: tuple[Ask, ...]
    prompt_ids: bytes
    rooms: array[int]
    seed: int
    languages: tuple[str, ...]
    expected: tuple[Expected, ...]
    scales: Mapping[str, Scale]

    def call_ids(self, identity: JudgeIdentity) -> CallIds:
        """The call that answers each ask, for one judge."""
        return call_ids(identity, self.asks, self.prompt_ids, self.rooms, self.seed)

    def places(self, identity: JudgeIdentity) -> dict[str, list[int]]:
        """`{call id: the asks that it answers}`, the first of them first."""
        found: dict[str, list[int]] = {}
        for at, call_id in enumerate(hexadecimal(self.call_ids(identity))):
            found.setdefault(call_id, []).append(at)
        return found


def wanted_by(prepared: Prepared) -> Wanted:
    """What a board asks, of the whole board as `whole_board` prepares it. The last few are remembered, as prompts take their time."""
    return _wanted(_Key(prepared))


class _Key:
    """A prepared protocol, equal to others of the same content (a library that was read once) that ask the same."""

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared
        self._said = msgspec.json.encode(_asked(prepared.protocol), order="sorted")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self._said == other._said and self.prepared.library is other.prepared.library

    def __hash__(self) -> int:
        return hash(self._said)


def _asked(protocol: RunProtocol) -> RunProtocol:
    return msgspec.structs.replace(protocol, identities=())


@lru_cache(maxsize=4)
def _wanted(key: _Key) -> Wanted:
    prepared = key.prepared
    return of_plan(prepared.plan(None), prepared.protocol.source, prepared.data.scales)


def of_plan(plan: Plan, board: str, scales: Mapping[str, Scale]) -> Wanted:
    """What a plan asks."""
    lean: dict[str, Item] = {}
    asks = []
    for ask in plan.asks():
        item = lean.setdefault(ask.item.item_id, msgspec.structs.replace(ask.item, fields={}))
        asks.append(msgspec.structs.replace(ask, item=item))
    return Wanted(
        board=board,
        asks=tuple(asks),
        prompt_ids=plan.prompt_ids,
        rooms=plan.rooms,
        seed=plan.seed,
        languages=tuple(plan.asked_language(ask) for ask in asks),
        expected=tuple(map(_expected, asks, plan.every_prompt_id())),
        scales=scales,
    )


def _expected(ask: Ask, prompt_id: str) -> Expected:
    return Expected(prompt_id, ask.item.item_id, ",".join(ask.metrics), str(ask.condition), ask.condition.temperature, ask.repeat)
