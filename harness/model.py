"""The nouns of the project: frozen types with one meaning each, and nothing that does anything.

What each word means is in docs/architecture.md. Types that are read from files are `msgspec` structs, so that reading
is validating.
"""

from __future__ import annotations

import enum
from typing import Any, Literal

import msgspec

Score = int | float | str
Split = Literal["test", "dev"]
Source = Literal["native", "constructed", "model"]
AnnotatorKind = Literal["persistent", "positional", "anonymous", "aggregate"]


class Scale(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The scores that a metric can take.

    `nominal` and `ordinal` scales list their `classes`, ordinal ones from low to high; `interval` scales have `min` and
    `max`. `best` is the desired end; `swap` says what each class becomes when the order of two texts is exchanged.
    """

    kind: Literal["nominal", "ordinal", "interval"]
    classes: tuple[int | str, ...] = ()
    min: float | None = None
    max: float | None = None
    best: int | float | str | None = None
    swap: dict[str, str] = {}

    def holds(self, score: Score) -> bool:
        """Whether `score` is a point of the scale (booleans, NaN and infinities never are; 2.0 is the class 2, "2" is not).

        >>> Scale(kind="ordinal", classes=(0, 1, 2)).holds(3)
        False
        """
        if isinstance(score, bool):
            return False
        if self.kind == "interval":
            if isinstance(score, str) or score != score or abs(score) == float("inf"):
                return False
            return (self.min is None or score >= self.min) and (self.max is None or score <= self.max)
        return score in self.classes

    def describe(self) -> str:
        """The scale in words, for messages: `0, 1, 2` or `1 to 5`."""
        if self.kind == "interval":
            return f"{self.min} to {self.max}"
        return ", ".join(str(c) for c in self.classes)


class Item(msgspec.Struct, frozen=True):
    """What is judged. `fields` holds its texts and whatever else its row holds; `group` is never empty once loaded."""

    item_id: str
    language: str
    task: str
    split: Split = "test"
    group: str = ""
    system: str | None = None
    parallel_id: str | None = None
    fields: dict[str, Any] = {}


class Label(msgspec.Struct, frozen=True):
    """One annotator's score of one item on one metric."""

    item_id: str
    annotator_id: str
    metric: str
    score: Score
    source: Source = "native"


class Variant(msgspec.Struct, frozen=True, order=True):
    """How a question is put: independent choices, of which the text form names those that are not the default."""

    call: Literal["single", "joint"] = "single"
    instructions: Literal["simple", "detailed"] = "simple"
    justification: Literal["before", "after", "none"] = "before"

    def __str__(self) -> str:
        return "+".join(
            [self.call]
            + ([self.instructions] if self.instructions != "simple" else [])
            + ([_ANSWER_NAMES[self.justification]] if self.justification != "before" else [])
        )


_ANSWER_NAMES = {"before": "justify-first", "after": "score-first", "none": "score-only"}

# Every word that a variant's text form may hold -> (axis, value).
VARIANT_WORDS: dict[str, tuple[str, str]] = {
    "single": ("call", "single"),
    "joint": ("call", "joint"),
    "simple": ("instructions", "simple"),
    "detailed": ("instructions", "detailed"),
    **{name: ("justification", value) for value, name in _ANSWER_NAMES.items()},
}


def parse_variant(text: str) -> Variant:
    """Read a variant's text form; `detailed` alone means `single+detailed`.

    Raises ValueError with a sentence when a word is unknown or an axis is named twice.

    >>> str(parse_variant("detailed"))
    'single+detailed'
    >>> parse_variant("joint+score-only")
    Variant(call='joint', instructions='simple', justification='none')
    """
    chosen: dict[str, str] = {}
    for word in text.split("+"):
        if word not in VARIANT_WORDS:
            raise ValueError(f"unknown variant '{word}' in '{text}'; known words: {', '.join(VARIANT_WORDS)}")
        axis, value = VARIANT_WORDS[word]
        if axis in chosen:
            raise ValueError(f"variant '{text}' names its {axis} twice: '{chosen[axis]}' and '{value}'")
        chosen[axis] = value
    return msgspec.convert(chosen, Variant)


class Condition(msgspec.Struct, frozen=True, order=True):
    """Under which circumstances an ask is made; an ablation is nothing but more conditions."""

    variant: Variant = Variant()
    temperature: float = 0.0

    def __str__(self) -> str:
        return f"{self.variant} T={self.temperature:g}"


class Ask(msgspec.Struct, frozen=True):
    """One wanted answer: one item, one metric (several in a joint call), one condition, one repeat."""

    item: Item
    metrics: tuple[str, ...]
    condition: Condition
    repeat: int = 0


class Message(msgspec.Struct, frozen=True):
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


class Prompt(msgspec.Struct, frozen=True):
    """What is sent, independent of the judge: messages, the JSON schema of the answer, and room for it."""

    prompt_id: str
    messages: tuple[Message, ...]
    schema: dict[str, Any]
    max_tokens: int


class Call(msgspec.Struct, frozen=True):
    """One request to one judge. `ask` is one of the asks that it answers: baselines look at it, models do not."""

    call_id: str
    prompt: Prompt
    ask: Ask
    seed: int | None = None

    @property
    def temperature(self) -> float:
        return self.ask.condition.temperature


class Usage(msgspec.Struct, frozen=True):
    """Tokens that the provider counted; 0 where it does not say."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0


class Reply(msgspec.Struct, frozen=True):
    """What came back to one attempt of a call, verbatim.

    `form` is how the answer's shape was asked for (`json_schema`, `json_schema-lenient`, `json_object`, `text`, or `none` for judges
    that are not models). `error` is the endpoint's refusal of this one call (HTTP 4xx), which is an answer too.
    """

    text: str
    model: str
    form: str = "none"
    finish_reason: str | None = None
    refusal: str | None = None
    error: str | None = None
    usage: Usage = Usage()
    seconds: float = 0.0


class Failure(enum.StrEnum):
    """Why an answer holds no score. Counted and shown, never turned into a number."""

    REFUSED = "refused"
    NOT_JSON = "not_json"
    OFF_SCALE = "off_scale"
    TRUNCATED = "truncated"
    MISSING = "missing"


class Judgment(msgspec.Struct, frozen=True):
    """What a reply says about one metric of one item. Exactly one of `score` and `failure` is set."""

    item_id: str
    language: str
    task: str
    metric: str
    judge: str
    variant: str
    temperature: float
    repeat: int
    score: Score | None
    failure: Failure | None
    raw_choice: str | None
    justification: str | None
    call_id: str


class JudgeIdentity(msgspec.Struct, frozen=True):
    """Who answers: what may change an answer and nothing else. Never a path, a port or a key."""

    provider: str
    model: str
    settings: dict[str, Any] = {}

    @property
    def name(self) -> str:
        return f"{self.provider}/{self.model}"
