"""What to ask: a run specification becomes asks and calls, deterministically, and is priced before anything is spent."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec

from harness.content import Dataset, Library, Task
from harness.model import Ask, Call, Condition, Item, JudgeIdentity, Prompt, Realised, Scale, Score
from harness.perturb import apply, parse_perturbation
from harness.prompts import Example, Frame, Frames, Question, Shots, english, own, present_texts

_CHARACTERS_PER_TOKEN = 4.0  # an estimate for pricing only: ASCII text; every other character counts as one token
_ANSWER_TOKENS = 60


class Plan:
    """Everything that is wanted of every judge. Asks stand in the order in which they are asked: what shares a prefix is together.

    Prompts are not kept but filled again when they are sent: a million of them would not fit into memory. `prompt_ids` (one an ask)
    are. `realised` says what perturbations achieved, also where a text could not be changed, so that nothing was asked; `absent` which
    classes have no example, by (language, task, metric).
    """

    def __init__(self, seed: int, renderer: _Renderer) -> None:
        self.seed = seed
        self.asks: list[Ask] = []
        self.prompt_ids: list[str] = []
        self._renderer = renderer
        self._frames: list[Frame] = []

    def add(self, ask: Ask) -> None:
        """Wants one more answer, unless its perturbation cannot change the text."""
        item = self._renderer.texts.of(ask)
        if item is not None:
            frame = self._renderer.frame(ask)
            self.asks.append(ask)
            self._frames.append(frame)
            self.prompt_ids.append(frame.prompt_id(item))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and (self.seed, self.asks, self.prompt_ids) == (other.seed, other.asks, other.prompt_ids)

    __hash__ = None  # type: ignore[assignment]

    @property
    def realised(self) -> tuple[Realised, ...]:
        return tuple(self._renderer.texts.realised.values())

    @property
    def absent(self) -> dict[tuple[str, str, str], tuple[Score, ...]]:
        return {key: scores for key, scores in self._renderer.absent.items() if scores}

    def prompt(self, number: int) -> Prompt:
        """The prompt of one ask."""
        return self._frames[number].fill(self._as_judged(number).item)

    def _as_judged(self, number: int) -> Ask:
        """One ask about the text that its condition wants, which baselines look at."""
        ask = self.asks[number]
        item = self._renderer.texts.of(ask)
        assert item is not None  # what cannot be changed is not among the asks
        return ask if item is ask.item else msgspec.structs.replace(ask, item=item)

    def asked_language(self, ask: Ask) -> str:
        """The language in which its justification is asked for."""
        return ask.item.language if ask.condition.variant.language == "own" else "en"

    def calls(self, identity: JudgeIdentity, answered: Container[str] = ()) -> dict[str, Call]:
        """`{call_id: call}` for one judge, in order, without those that are answered. Asks with the same prompt, sampling and repeat
        share one call."""
        found: dict[str, Call] = {}
        for number, call_id in enumerate(self.call_ids(identity)):
            if call_id not in found and call_id not in answered:
                ask = self._as_judged(number)
                found[call_id] = Call(call_id, self._frames[number].fill(ask.item), ask, self.seed + ask.repeat)
        return found

    def call_ids(self, identity: JudgeIdentity) -> list[str]:
        """The call that answers each ask: the hash of everything that could change the answer, the repeat included.

        Baselines look at the item itself, so for them equal prompts of two items are two calls.
        """
        judge = msgspec.json.encode(identity, order="sorted")
        sees_items = identity.provider == "baseline"
        ids = []
        for ask, prompt_id, frame in zip(self.asks, self.prompt_ids, self._frames, strict=True):
            condition = ask.condition
            sampling = f"{condition.temperature!r}|{frame.max_tokens}|{self.seed + ask.repeat}|{ask.repeat}"
            if condition.top_p is not None:
                sampling += f"|top_p={condition.top_p!r}"
            if condition.variant.probabilities:
                sampling += "|probabilities"
            parts = [prompt_id.encode(), judge, sampling.encode(), *([ask.item.item_id.encode()] if sees_items else [])]
            ids.append(hashlib.sha256(b"\x1f".join(parts)).hexdigest())
        return ids


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
    """Asks for every item of `data`, each on those of `metrics` that it has a label for.

    `training` holds the development items that examples are taken from; `pool` the items that a perturbation may put in another's
    place, by default those of `training`. The order is language, task, group, item, condition, then metric: a local model reads what
    calls share only once.
    """
    plan = Plan(seed, _Renderer(library, frames, data.scales, training or data, pool, seed))
    for item in sorted(data.items, key=lambda item: (item.language, item.task, item.group, item.item_id)):
        labelled = data.labelled_metrics.get(item.item_id, frozenset())
        wanted = tuple(metric for metric in metrics if metric in labelled)
        for ask in _asks(item, wanted, conditions, repeats):
            plan.add(ask)
    return plan


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

    def frame(self, ask: Ask) -> Frame:
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
