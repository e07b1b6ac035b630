"""What to ask: a run specification becomes asks and calls, deterministically, and is priced before anything is spent."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import msgspec

from harness.content import Dataset, Library
from harness.model import Ask, Call, Condition, Item, JudgeIdentity, Prompt
from harness.prompts import Frame, Frames, Question, present_texts

_CHARACTERS_PER_TOKEN = 4.0  # an estimate for pricing only: ASCII text; every other character counts as one token
_ANSWER_TOKENS = 60


class Plan(msgspec.Struct, frozen=True):
    """Everything that is wanted of every judge. Asks stand in the order in which they are asked: what shares a prefix is together."""

    asks: tuple[Ask, ...]
    prompts: tuple[Prompt, ...]  # one per ask, same order
    seed: int

    def calls(self, identity: JudgeIdentity) -> dict[str, Call]:
        """`{call_id: call}` for one judge, in order. Asks with the same prompt, sampling and repeat share one call."""
        found: dict[str, Call] = {}
        for ask, prompt, call_id in zip(self.asks, self.prompts, self.call_ids(identity), strict=True):
            if call_id not in found:
                found[call_id] = Call(call_id, prompt, ask, self.seed + ask.repeat)
        return found

    def call_ids(self, identity: JudgeIdentity) -> list[str]:
        """The call that answers each ask: the hash of everything that could change the answer, the repeat included.

        Baselines look at the item itself, so for them equal prompts of two items are two calls.
        """
        judge = msgspec.json.encode(identity, order="sorted")
        sees_items = identity.provider == "baseline"
        return [
            hashlib.sha256(
                b"\x1f".join(
                    (
                        prompt.prompt_id.encode(),
                        judge,
                        f"{ask.condition.temperature!r}|{prompt.max_tokens}|{self.seed + ask.repeat}|{ask.repeat}".encode(),
                        *([ask.item.item_id.encode()] if sees_items else []),
                    )
                )
            ).hexdigest()
            for ask, prompt in zip(self.asks, self.prompts, strict=True)
        ]


def make_plan(
    data: Dataset, library: Library, metrics: Sequence[str], conditions: Sequence[Condition], repeats: int, seed: int, frames: Frames
) -> Plan:
    """Asks for every item of `data`, each on those of `metrics` that it has a label for.

    The order is language, task, group, item, condition, then metric: a local model reads what calls share only once.
    """
    renderer = _Renderer(library, frames)
    asks, prompts = [], []
    for item in sorted(data.items, key=lambda item: (item.language, item.task, item.group, item.item_id)):
        labelled = data.labelled_metrics.get(item.item_id, frozenset())
        wanted = tuple(metric for metric in metrics if metric in labelled)
        for ask in _asks(item, wanted, conditions, repeats):
            asks.append(ask)
            prompts.append(renderer.frame(ask).fill(item))
    return Plan(tuple(asks), tuple(prompts), seed)


def _asks(item: Item, metrics: tuple[str, ...], conditions: Sequence[Condition], repeats: int) -> Iterator[Ask]:
    if not metrics:
        return
    for condition in conditions:
        asked = [metrics] if condition.variant.call == "joint" else [(metric,) for metric in metrics]
        for together in asked:
            for repeat in range(repeats):
                yield Ask(item, together, condition, repeat)


class _Renderer:
    """Frames by what tells them apart, so that a question is hashed once and not once an ask."""

    def __init__(self, library: Library, frames: Frames) -> None:
        self._task = cache(library.task)
        self._rubric = cache(library.rubric)
        self._frames = frames
        self._known: dict[tuple[object, ...], Frame] = {}

    def frame(self, ask: Ask) -> Frame:
        item = ask.item
        present = present_texts(item, self._task(item.task))
        key = (item.task, item.language, present, ask.metrics, ask.condition.variant)
        if key not in self._known:
            question = Question(
                self._task(item.task), tuple(self._rubric(metric) for metric in ask.metrics), ask.condition.variant, item.language, present
            )
            self._known[key] = self._frames.of(question)
        return self._known[key]


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """US dollars for a million tokens, as published on a date."""

    input: float
    output: float
    as_of: str


class Estimate(msgspec.Struct, frozen=True):
    """What a set of calls is about to take. `cost` is in US dollars; None where no price is known."""

    calls: int
    prompt_tokens: int
    answer_tokens: int
    cost: float | None
    price: Price | None


def estimate(calls: Sequence[Call], identity: JudgeIdentity) -> Estimate:
    """Calls, tokens (roughly: no tokenizer is asked) and money."""
    prompt_tokens = sum(rough_tokens(call.prompt) for call in calls)
    answer_tokens = sum(min(_ANSWER_TOKENS * len(call.ask.metrics), call.prompt.max_tokens) for call in calls)
    price = prices().get(identity.model) if identity.provider == "openai" and "endpoint" not in identity.settings else None
    if identity.provider in ("baseline", "replay", "local"):
        price = Price(0, 0, "always")
    cost = (prompt_tokens * price.input + answer_tokens * price.output) / 1e6 if price else None
    return Estimate(len(calls), prompt_tokens, answer_tokens, cost, price)


def rough_tokens(prompt: Prompt) -> int:
    """About how many tokens a prompt has: four ASCII characters a token, and one token for every other character."""
    text = "".join(message.content for message in prompt.messages)
    ascii_characters = sum(character.isascii() for character in text)
    return round(ascii_characters / _CHARACTERS_PER_TOKEN) + len(text) - ascii_characters


@cache
def prices() -> dict[str, Price]:
    """Known prices by dated model name."""
    return msgspec.toml.decode(Path(__file__).with_name("prices.toml").read_bytes(), type=dict[str, Price])
