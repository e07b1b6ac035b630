"""What to ask: a run specification becomes asks and calls, deterministically, and is priced before anything is spent."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.content import Dataset, Library, Task
from harness.model import Ask, Call, Condition, Item, JudgeIdentity, Prompt, Realised, Scale, Score, Usage, Variant
from harness.perturb import apply, parse_perturbation
from harness.prompts import Example, Frame, Frames, Question, Shots, english, own, present_texts

_CHARACTERS_PER_TOKEN = 4.0  # an estimate for pricing only: ASCII text; every other character counts as one token
_ANSWER_TOKENS = 60
_ID_BYTES = 32
_AT_A_TIME = 1 << 10  # ids held as text

CallIds = NDArray[np.uint8]  # (asks, 32)


class Plan:
    """Everything that is wanted of every judge. Asks stand in the order in which they are asked: what shares a prefix is together.

    Asks and prompts are not kept but made again each time that they are gone through: a million of them would not fit into memory.
    Kept are the ids of the prompts, which an ask's repeats share, and a few numbers of each. `realised` says what perturbations achieved,
    also where a text could not be changed, so that nothing was asked; `absent` which classes have no example, by (language, task, metric).
    """

    def __init__(self, seed: int, asks: Callable[[], Iterator[Ask]], repeats: int, renderer: _Renderer) -> None:
        """`asks` gives the `repeats` of an ask one after the other."""
        self.seed = seed
        self._repeats = repeats
        self._all = asks
        self._renderer = renderer
        self._prompt_ids = bytearray()
        self._calls: dict[str, tuple[CallIds, NDArray[np.bool_]]] = {}
        self._tokens = {what: array("I") for what in ("prompt", "answer", "room")}
        for ask in asks():
            item = renderer.texts.of(ask) if ask.repeat == 0 else None
            if item is not None:
                self._add(ask, renderer.frame(ask).fill(item))

    def _add(self, ask: Ask, prompt: Prompt) -> None:
        self._prompt_ids += bytes.fromhex(prompt.prompt_id)
        self._tokens["prompt"].append(rough_tokens(prompt))
        self._tokens["answer"].append(rough_answer(ask, prompt))
        self._tokens["room"].append(prompt.max_tokens)

    def __len__(self) -> int:
        return len(self._tokens["room"]) * self._repeats

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Plan):
            return NotImplemented
        return (self.seed, self._prompt_ids) == (other.seed, other._prompt_ids) and list(self.asks()) == list(other.asks())

    __hash__ = None  # type: ignore[assignment]

    @property
    def realised(self) -> tuple[Realised, ...]:
        return tuple(self._renderer.texts.realised.values())

    @property
    def absent(self) -> dict[tuple[str, str, str], tuple[Score, ...]]:
        return {key: scores for key, scores in self._renderer.absent.items() if scores}

    def asks(self) -> Iterator[Ask]:
        """Every ask whose text is as its condition wants it: what cannot be changed is not asked."""
        return (ask for ask in self._all() if self._renderer.texts.can_be(ask))

    def every_prompt_id(self) -> Iterator[str]:
        """The prompt id of every ask, in order."""
        ids = hexadecimal(np.frombuffer(self._prompt_ids, np.uint8).reshape(-1, _ID_BYTES))
        return (prompt_id for prompt_id in ids for _ in range(self._repeats))

    def asked_language(self, ask: Ask) -> str:
        """The language in which its justification is asked for."""
        return ask.item.language if ask.condition.variant.language == "own" else "en"

    def call(self, ask: Ask, call_id: str, prompt_id: str | None = None) -> Call:
        """The call for one ask, about the text that its condition wants, which baselines look at; `prompt_id`: if it is known."""
        item = self._renderer.texts.of(ask)
        assert item is not None  # what cannot be changed is not among the asks
        seen = ask if item is ask.item else msgspec.structs.replace(ask, item=item)
        return Call(call_id, self._renderer.frame(ask).fill(item, prompt_id), seen, self.seed + ask.repeat)

    def calls(self, identity: JudgeIdentity) -> Calls:
        """The calls that answer all asks, for one judge, in order. Asks with the same prompt, sampling and repeat share one call."""
        if identity.name not in self._calls:
            ids = self.call_ids(identity)
            self._calls[identity.name] = ids, _first_of_its_kind(ids)
        return Calls(self, *self._calls[identity.name])  # not kept: what held its own plan would outlive it

    def call_ids(self, identity: JudgeIdentity) -> CallIds:
        """The call that answers each ask."""
        return call_ids(identity, self.asks(), self.every_prompt_id(), self.every_room(), self.seed)

    def every_room(self) -> Iterator[int]:
        """The room that each ask's answer is given, in tokens."""
        return (room for room in self._tokens["room"] for _ in range(self._repeats))

    def estimate(self, wanted: NDArray[np.bool_]) -> Usage:
        """Tokens of the asks that are `wanted` (a mask), roughly: no tokenizer is asked."""
        times = wanted.reshape(-1, self._repeats).sum(axis=1)
        prompt, answer = (int(times @ np.asarray(self._tokens[what], np.int64)) for what in ("prompt", "answer"))
        return Usage(prompt_tokens=prompt, completion_tokens=answer)


class Calls:
    """Some calls of a plan for one judge: `wanted` says of each ask whether its call is among them. They are made as they are asked for."""

    def __init__(self, plan: Plan, ids: CallIds, wanted: NDArray[np.bool_]) -> None:
        self._plan = plan
        self.wanted = wanted
        self._ids = ids

    def __len__(self) -> int:
        return int(self.wanted.sum())

    def __iter__(self) -> Iterator[Call]:
        every = zip(self._plan.asks(), self.every_id(), self._plan.every_prompt_id(), self.wanted, strict=True)
        return (self._plan.call(ask, call_id, prompt_id) for ask, call_id, prompt_id, wanted in every if wanted)

    def ids(self) -> Iterator[str]:
        """Their call ids, in order."""
        return hexadecimal(self._ids, self.wanted)

    def every_id(self) -> Iterator[str]:
        """The call id of every ask of the plan, in order."""
        return hexadecimal(self._ids)

    def without(self, answered: Sequence[bool] | NDArray[np.bool_]) -> Calls:
        """Those that are not `answered`, which says it of each in order."""
        left = self.wanted.copy()
        left[np.flatnonzero(left)[np.asarray(answered, bool)]] = False
        return Calls(self._plan, self._ids, left)

    @property
    def tokens(self) -> Usage:
        """What they take, roughly."""
        return self._plan.estimate(self.wanted)


def call_ids(identity: JudgeIdentity, asks: Iterable[Ask], prompt_ids: Iterable[str], rooms: Iterable[int], seed: int) -> CallIds:
    """The call that answers each ask: the hash of everything that could change the answer, the repeat included.

    Baselines look at the item itself, so for them equal prompts of two items are two calls.
    """
    judge = msgspec.json.encode(identity, order="sorted")
    sees_items = identity.provider == "baseline"
    ids = bytearray()
    for ask, prompt_id, room in zip(asks, prompt_ids, rooms, strict=True):
        condition = ask.condition
        sampling = f"{condition.temperature!r}|{room}|{seed + ask.repeat}|{ask.repeat}"
        if condition.top_p is not None:
            sampling += f"|top_p={condition.top_p!r}"
        if condition.variant.probabilities:
            sampling += "|probabilities"
        parts = [prompt_id.encode(), judge, sampling.encode(), *([ask.item.item_id.encode()] if sees_items else [])]
        ids += hashlib.sha256(b"\x1f".join(parts)).digest()
    return np.frombuffer(ids, np.uint8).reshape(-1, _ID_BYTES)


def hexadecimal(ids: CallIds, wanted: NDArray[np.bool_] | None = None) -> Iterator[str]:
    """Ids as text, in order; of a mask, those that are wanted."""
    for start in range(0, len(ids), _AT_A_TIME):
        some = slice(start, start + _AT_A_TIME)
        text = (ids[some] if wanted is None else ids[some][wanted[some]]).tobytes().hex()
        yield from (text[at : at + 2 * _ID_BYTES] for at in range(0, len(text), 2 * _ID_BYTES))


def _first_of_its_kind(ids: CallIds) -> NDArray[np.bool_]:
    """Which asks are the first with their call id."""
    words = np.ascontiguousarray(ids).view(np.uint64)
    first = np.zeros(len(words), bool)
    if len(words):
        order = np.lexsort(words.T)  # stable: of equal ids the first ask comes first
        new = np.zeros(len(words) - 1, bool)
        for word in words.T:
            new |= np.diff(word[order]) != 0
        first[order] = np.append(True, new)
    return first


def make_plan(
    data: Dataset,
    library: Library,
    metrics: Sequence[str],
    conditions: Sequence[Condition],
    repeats: int,
    seed: int,
    frames: Frames,
    training: Dataset | None = None,
    pool: tuple[Item, ...] | None = None,
) -> Plan:
    """Asks for every item of `data`, each on those of `metrics` that it has a label for (or may have, where labels are sealed).

    `training` holds the development items that examples are taken from; `pool` the items that a perturbation may put in another's
    place, by default those of `training`. The order is language, task, group, item, condition, then metric: a local model reads what
    calls share only once.
    """
    items = sorted(data.items, key=lambda item: (item.language, item.task, item.group, item.item_id))

    def asks() -> Iterator[Ask]:
        for item in items:
            asked = data.asked_metrics.get(item.item_id, frozenset())
            yield from _asks(item, tuple(metric for metric in metrics if metric in asked), conditions, repeats)

    return Plan(seed, asks, repeats, _Renderer(library, frames, data.scales, training or data, pool, seed))


def _asks(item: Item, metrics: tuple[str, ...], conditions: Sequence[Condition], repeats: int) -> Iterator[Ask]:
    if not metrics:
        return
    backwards = metrics[::-1]
    singly = [(metric,) for metric in metrics]
    for condition in conditions:
        together = [backwards if condition.variant.order == "reversed" else metrics]
        for asked in together if condition.variant.call == "joint" else singly:
            for repeat in range(repeats):
                yield Ask(item, asked, condition, repeat)


class _Texts:
    """Items with their texts as a condition wants them. Perturbing is pure, so only the last item's texts are remembered."""

    def __init__(self, library: Library, pool: Sequence[Item], seed: int) -> None:
        self.realised: dict[tuple[str, str], Realised] = {}
        self._task = cache(library.task)
        self._pool = pool
        self._seed = seed
        self._item: Item | None = None
        self._known: dict[str, Item | None] = {}

    def of(self, ask: Ask) -> Item | None:
        """None where the perturbation cannot change the text."""
        text = ask.condition.perturbation
        if not text:
            return ask.item
        if ask.item is not self._item:
            self._item, self._known = ask.item, {}
        if text not in self._known:
            self._known[text] = self._perturbed(ask.item, text)
        return self._known[text]

    def can_be(self, ask: Ask) -> bool:
        """Whether there is a text to ask about, as `of` has found it once."""
        text = ask.condition.perturbation
        return not text or self.realised[ask.item.item_id, text].applied

    def _perturbed(self, item: Item, text: str) -> Item | None:
        [perturbation] = parse_perturbation(text)
        found = apply(perturbation, item, self._pool, self._seed, self._task(item.task).outputs)
        self.realised.setdefault((item.item_id, text), Realised(item.item_id, text, found.applied, found.realised))
        return found.item if found.applied else None


class _Renderer:
    """Frames by what tells them apart, so that a question is hashed once and not once an ask."""

    def __init__(
        self,
        library: Library,
        frames: Frames,
        scales: Mapping[str, Scale],
        training: Dataset,
        pool: tuple[Item, ...] | None,
        seed: int,
    ) -> None:
        self.texts = _Texts(library, training.items if pool is None else pool, seed)
        self.absent: dict[tuple[str, str, str], tuple[Score, ...]] = {}
        self._library = library
        self._task = cache(library.task)
        self._rubric = cache(library.rubric)
        self._frames = frames
        self._scales = scales
        self._shots = Shots(training, seed)
        self._known: dict[tuple[object, ...], Frame] = {}
        self._item: Item | None = None
        self._of_item: dict[tuple[tuple[str, ...], Variant], Frame] = {}

    def frame(self, ask: Ask) -> Frame:
        if ask.item is not self._item:  # its other asks follow
            self._item, self._of_item = ask.item, {}
        key = (ask.metrics, ask.condition.variant)
        if key not in self._of_item:
            self._of_item[key] = self._frame(ask)
        return self._of_item[key]

    def _frame(self, ask: Ask) -> Frame:
        item, variant = ask.item, ask.condition.variant
        task = self._task(item.task)
        present = present_texts(item, task)
        examples = self._examples(ask, task) if variant.shots else ()
        key = (item.task, item.language, present, ask.metrics, variant, tuple((e.metric, e.item_id) for e in examples))
        if key not in self._known:
            rubrics = tuple(self._rubric(metric) for metric in ask.metrics)
            own_words = variant.language == "own"
            wording = own(self._library, task, rubrics, item.language) if own_words else english(task, rubrics, item.language)
            scales = {metric: self._scales[metric] for metric in ask.metrics}
            self._known[key] = self._frames.of(Question(wording, scales, variant, item.language, present, examples))
        return self._known[key]

    def _examples(self, ask: Ask, task: Task) -> tuple[Example, ...]:
        item = ask.item
        found: list[Example] = []
        for metric in ask.metrics:
            scale = self._scales[metric]
            found += self._shots.of(item, task, metric, scale, ask.condition.variant.shots)
            self.absent.setdefault((item.language, item.task, metric), self._shots.absent(item.language, item.task, metric, scale))
        return tuple(found)


def rough_answer(ask: Ask, prompt: Prompt) -> int:
    """About how many tokens an answer has."""
    return min(_ANSWER_TOKENS * len(ask.metrics), prompt.max_tokens)


def rough_tokens(prompt: Prompt) -> int:
    """About how many tokens a prompt has: four ASCII characters a token, and one token for every other character."""
    text = "".join(message.content for message in prompt.messages)
    ascii_characters = len(text.encode("ascii", "ignore"))
    return round(ascii_characters / _CHARACTERS_PER_TOKEN) + len(text) - ascii_characters


def rough_usage(call: Call) -> Usage:
    """About what a call takes."""
    return Usage(prompt_tokens=rough_tokens(call.prompt), completion_tokens=rough_answer(call.ask, call.prompt))
