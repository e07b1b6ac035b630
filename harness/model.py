"""The data types of the project: frozen structs with one meaning each and hardly any behaviour.

docs/architecture.md defines the words. Types that are read from files are `msgspec` structs, so reading validates them.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, Literal, NamedTuple, Self

import msgspec

_TAG = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")

Score = int | float | str
Split = Literal["test", "dev"]
Basis = Literal["people", "bar"]  # what a verdict rests on: how far people agree, or a bar where one person labelled each text
ProbabilityVerdict = Literal["hold", "hold after refit", "do not hold", "too few labels"]
Source = Literal["native", "people", "constructed", "model"]  # "people": whether they are native speakers is not stated
BY_PEOPLE: frozenset[str] = frozenset({"native", "people"})  # sources on which verdicts are made
AnnotatorKind = Literal["persistent", "positional", "anonymous", "aggregate"]
Order = Literal["forward", "swapped"]
ShownSource = Literal["none", "correct", "swapped"]


MOST_CLASSES = 128  # of a scale: tables of all triples of classes take 8 bytes an entry
MOST_SCORE = 1e12  # of a scale, in either direction: squares and sums of cubes stay numbers


class Scale(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The scores that a metric can take.

    `nominal` and `ordinal` scales list their `classes`, ordinal ones from low to high; `interval` scales have `min` and `max`. `best` is
    the most desirable score. `swap` says what each class becomes when two compared texts change places. `steps` are the scores of an
    interval scale that one person or judge can give; labels that are means of several people lie between them.
    """

    kind: Literal["nominal", "ordinal", "interval"]
    classes: tuple[int | str, ...] = ()
    min: float | None = None
    max: float | None = None
    best: int | float | str | None = None
    swap: dict[str, str] = {}
    steps: tuple[int | float, ...] = ()

    def exchanged(self, score: Score) -> Score:
        """Return the score that means the same once the two compared texts have changed places.

        >>> scale = Scale(kind="nominal", classes=("A", "B", "tie"), swap={"A": "B", "B": "A"})
        >>> scale.exchanged("A"), scale.exchanged("tie")
        ('B', 'tie')
        """
        name = self.swap.get(str(score))
        return score if name is None else next(c for c in self.classes if str(c) == name)

    @property
    def share_of_first(self) -> dict[int | str, float]:
        """For a scale with `swap`: how much of each class goes to the first text; 1, 0, or a half if the class stays under an exchange.

        Of two classes that `swap` exchanges, the one that `classes` names first speaks for the first text.

        >>> Scale(kind="nominal", classes=("A", "B", "tie"), swap={"A": "B", "B": "A"}).share_of_first
        {'A': 1.0, 'B': 0.0, 'tie': 0.5}
        """
        index = {str(c): number for number, c in enumerate(self.classes)}
        partner = {c: index[self.swap.get(str(c), str(c))] for c in self.classes}
        return {c: 0.5 + 0.5 * ((partner[c] > position) - (partner[c] < position)) for position, c in enumerate(self.classes)}

    def holds(self, score: Score) -> bool:
        """Return True if `score` is a point of the scale. 2.0 is the class 2, "2" is not; booleans, NaN and infinities never are.

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

    @property
    def hashed(self) -> dict[str, Any]:
        """Return the fields that hashes are made of: `steps` only where there are some, so that the hash of data without them stays."""
        return {name: value for name, value in msgspec.to_builtins(self).items() if name != "steps" or value}

    def describe(self) -> str:
        """Return the scale in words, for messages: `0, 1, 2` or `1 to 5`."""
        if self.kind == "interval":
            return " to ".join("any" if end is None else f"{end:g}" for end in (self.min, self.max))
        return ", ".join(str(c) for c in self.classes)


class Item(msgspec.Struct, frozen=True):
    """A text, or two texts, to be judged. `fields` holds its texts and all other keys of its row. After loading, `group` is never empty."""

    item_id: str
    language: str
    task: str
    split: Split = "test"
    group: str = ""
    system: str | None = None
    parallel_id: str | None = None
    fields: dict[str, Any] = {}

    def __repr__(self) -> str:
        """Return the item without its texts: notebooks and errors print it, and texts may be long or offensive.

        >>> Item("a", "cs", "translate", fields={"output": "Dům."})
        Item('a', 'cs', 'translate', fields: output)
        """
        return f"Item({self.item_id!r}, {self.language!r}, {self.task!r}, fields: {', '.join(self.fields) or 'none'})"

    def language_of(self, name: str) -> str:
        """Return the language of a text: the tag under the key `<name>_language`, such as `source_language`, else that of the item.

        >>> item = Item("a", "cs", "translate", fields={"source": "A house.", "source_language": "en", "output": "Dům."})
        >>> item.language_of("source"), item.language_of("output")
        ('en', 'cs')
        """
        field_language = self.fields.get(f"{name}_language")
        return field_language if isinstance(field_language, str) and _TAG.fullmatch(field_language) else self.language


class Label(msgspec.Struct, frozen=True):
    """One annotator's score of one item on one metric."""

    item_id: str
    annotator_id: str
    metric: str
    score: Score
    source: Source = "native"


SEVERITIES = ("minor", "major")


class ErrorSpan(msgspec.Struct, frozen=True, omit_defaults=True):
    """An error that a person or a judge marked in a text."""

    severity: str | None = None  # None: a judge's error that could not be read
    start: int | None = None  # in characters; None if nobody knows where, and for something `missing`
    end: int | None = None  # exclusive
    text: str = ""  # what a judge quoted
    missing: bool = False
    reason: str = ""  # what a judge said


class Variant(msgspec.Struct, frozen=True, order=True):
    """The form of a question: independent choices, of which the text form names those that are not the default."""

    # Each metric in a call of its own, all in one call, or one after the other in one conversation, with the earlier questions and answers.
    call: Literal["single", "joint", "conversation"] = "single"
    instructions: Literal["simple", "detailed"] = "simple"
    shots: int = 0  # how many scored examples of each class stand before the text
    justification: Literal["before", "after", "none"] = "before"  # where the reason stands in the answer
    # That of the instructions: english, own, or a tag (`in:ja`): then only items in it and in English are asked about, to compare both.
    language: str = "english"
    metric_order: Literal["forward", "reversed"] = msgspec.field(default="forward", name="order")  # of a joint call or a conversation
    probabilities: bool = False  # whether those of the score's tokens are requested
    answer: Literal["json", "text", "spans"] = "json"  # the judge's own words; or the errors, quoted from the text, for a justification
    persona: bool = False  # a sentence about who judges stands before the instruction
    explain: bool = False  # a text ends with reasons
    prompt: str = ""  # of the user's own, with the hash of its content (`polite@1f2e3d4c`); no other axis applies to it
    reasons: str = ""  # the language of the justification, a tag as in `language`; empty: that of the instructions
    rubric: str = ""  # a wording of the user's own of a metric's rubric, named as `prompt`
    # For decision models alone, whose questions have options: those of the scale as they are (a statement for two classes, levels for
    # ordered ones), or classes to choose from in either order. Scores of other scales are asked in so many bands; 0: they are refused.
    question: Literal["scale", "choice"] = "scale"
    options: Literal["forward", "reversed"] = "forward"
    levels: int = 0

    def instructions_in(self, item_language: str) -> str:
        """Return the language of the instructions about an item."""
        return {"english": "en", "own": item_language}.get(self.language, self.language)

    def reasons_in(self, item_language: str) -> str:
        """Return the language in which the justification is asked for."""
        return self.reasons or self.instructions_in(item_language)

    def asks_about(self, item_language: str) -> bool:
        """Return True if items in a language are asked about: all, unless the variant names another language than theirs and English."""
        languages = {self.language, self.reasons} - {"english", "own", "", "en"}
        return not languages or languages == {item_language} or item_language.partition("-")[0] == "en"

    def __str__(self) -> str:
        return _variant_text(self)


@cache
def _variant_text(variant: Variant) -> str:
    if variant.prompt:
        return f"{OWN_PROMPT}:{variant.prompt}"
    words = [word for word, (axis, value) in VARIANT_WORDS.items() if getattr(variant, axis) == value != _VARIANT_DEFAULTS[axis]]
    shots = [f"{FEW_SHOT}:{variant.shots}"] if variant.shots else []
    detailed = ["detailed"] if variant.instructions == "detailed" else []
    tags = [f"in:{variant.language}"] if variant.language not in ("english", "own") else []
    tags += [f"reasons:{variant.reasons}"] if variant.reasons else []
    tags += [f"{OWN_RUBRIC}:{variant.rubric}"] if variant.rubric else []
    tags += [f"{LEVELS}:{variant.levels}"] if variant.levels else []
    return "+".join([variant.call, *detailed, *shots, *(word for word in words if word not in (variant.call, "detailed")), *tags])


FEW_SHOT = "fewshot"
OWN_PROMPT = "prompt"
OWN_RUBRIC = "rubric"
LEVELS = "levels"
MOST_LEVELS = 10  # that the interfaces of decision models take
DEFAULT_SHOTS = 2
MAX_SHOTS = 8

_TAGGED = {"in": "language", "reasons": "reasons"}  # words that a tag follows -> axis

# Every word that a variant's text form may hold -> (axis, value); examples are counted: `fewshot:2`.
VARIANT_WORDS: dict[str, tuple[str, Any]] = {
    "single": ("call", "single"),
    "joint": ("call", "joint"),
    "conversation": ("call", "conversation"),
    "simple": ("instructions", "simple"),
    "detailed": ("instructions", "detailed"),
    "justify-first": ("justification", "before"),
    "score-first": ("justification", "after"),
    "score-only": ("justification", "none"),
    "english": ("language", "english"),
    "own-language": ("language", "own"),
    "forward": ("metric_order", "forward"),
    "reversed": ("metric_order", "reversed"),
    "probabilities": ("probabilities", True),
    "json": ("answer", "json"),
    "text": ("answer", "text"),
    "spans": ("answer", "spans"),
    "persona": ("persona", True),
    "explain": ("explain", True),
    "choice": ("question", "choice"),
    "options-reversed": ("options", "reversed"),
}


def _defaults(struct: type[msgspec.Struct]) -> dict[str, Any]:
    return {field.name: field.default for field in msgspec.structs.fields(struct)}


_VARIANT_DEFAULTS = _defaults(Variant)


def parse_variant(text: str) -> Variant:
    """Read a variant's text form; `detailed` alone means `single+detailed`, `few-shot` two examples a class.

    Raises ValueError with a sentence when a word is unknown, an axis is named twice, or the words do not go together.

    >>> str(parse_variant("detailed")), str(parse_variant("few-shot"))
    ('single+detailed', 'single+fewshot:2')
    >>> parse_variant("joint+score-only").justification
    'none'
    """
    if text.startswith(f"{OWN_PROMPT}:"):
        name = text.partition(":")[2]
        if is_own_name(name):
            return Variant(prompt=name)
        raise ValueError(
            f"variant '{text}' should be {OWN_PROMPT}:NAME@HASH, as reports write it; --prompt FILE asks with a prompt of your own"
        )
    chosen: dict[str, Any] = {}
    for word in text.split("+"):
        axis, value = _axis(word, text)
        if axis in chosen:
            raise ValueError(f"variant '{text}' names its {axis.replace('_', ' ')} twice: '{chosen[axis]}' and '{value}'")
        chosen[axis] = value
    variant = Variant(**chosen)
    for problem in _clashes(variant):
        raise ValueError(f"variant '{text}': {problem}")
    return variant


def plainness(text: str) -> tuple[bool, bool, int, str]:
    """Return a key by which variants are sorted from the plainest to the most special.

    Texts that name no variant come last, those that say zero-shot first of them.

    >>> sorted(["joint", "single+few-shot", "Prompt 3", "spans-zero-shot", "single"], key=plainness)
    ['single', 'joint', 'single+few-shot', 'spans-zero-shot', 'Prompt 3']
    """
    try:
        variant = parse_variant(text)
    except ValueError:
        return (True, "zero-shot" not in text.casefold(), text.count("+"), text)
    return (False, variant != Variant(), text.count("+"), text)


def is_own_name(name: str) -> bool:
    """Return True if a name is one of a file of the user's own, with the hash of its content: `polite@1f2e3d4c`."""
    return re.fullmatch(r"[A-Za-z0-9][\w.-]{0,63}@[0-9a-f]{8}", name) is not None


def _clashes(variant: Variant) -> Iterator[str]:
    """Yield which axes of a variant do not go together."""
    if variant.metric_order == "reversed" and variant.call == "single":
        yield "only a joint call and a conversation are about several metrics, in an order; write 'joint+reversed'"
    if (variant.question, variant.options, variant.levels) != ("scale", "forward", 0) and variant.answer != "json":
        yield "a decision model chooses among options and writes nothing; leave out 'text' or 'spans'"
    if variant.rubric and (variant.call != "single" or variant.language != "english"):
        yield (
            "a rubric of your own is about one metric, in the words of its file; leave out 'joint', 'conversation', 'own-language' and 'in'"
        )
    if variant.call == "conversation" and variant.shots:
        yield "the examples of one metric would stand before the questions about all others; write 'single' or 'joint'"
    if variant.explain and variant.answer != "text":
        yield "only a text is followed by an explanation, JSON has a justification; write 'text+explain'"
    if variant.answer == "spans" and variant.call == "joint":
        yield "errors are marked for one metric, which has a call of its own; write 'single+spans'"
    if variant.answer == "spans" and variant.justification != "before":
        yield "the errors stand before the score, in place of a justification; leave out 'score-first' or 'score-only'"
    if variant.reasons and (variant.answer != "json" or variant.justification == "none"):
        yield "there is no justification to be written in a language; leave out 'reasons', or ask for a justification"
    if variant.answer != "text":
        return
    if variant.call == "joint":
        yield "a text holds one score, so each metric has a call of its own; write 'single+text'"
    if variant.justification != "before":
        yield "a text has no fields in an order; leave out 'score-first' or 'score-only', or write 'json'"
    if variant.probabilities:
        yield "probabilities are those of the score in a JSON answer; leave out 'text' or 'probabilities'"


def _axis(word: str, text: str) -> tuple[str, Any]:
    if word == "few-shot":
        return "shots", DEFAULT_SHOTS
    name, colon, number = word.partition(":")
    if name in _TAGGED:
        if not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*", number):
            raise ValueError(f"'{word}' in variant '{text}' should name a language by its tag, such as {name}:ja")
        return _TAGGED[name], number
    if name == OWN_RUBRIC:
        if not is_own_name(number):
            raise ValueError(f"'{word}' in variant '{text}' should be rubric:NAME@HASH, as reports write it; --rubric FILE asks with one")
        return "rubric", number
    if name == LEVELS:
        levels = int(number) if re.fullmatch(r"\d{1,2}", number) else 0
        if not 2 <= levels <= MOST_LEVELS:
            raise ValueError(f"'{word}' in variant '{text}' should be {LEVELS}:2 to {LEVELS}:{MOST_LEVELS}, the bands of a long scale")
        return "levels", levels
    if name == FEW_SHOT:
        shots = int(number) if re.fullmatch(r"\d{1,2}", number) else 0
        if not (colon and 1 <= shots <= MAX_SHOTS):
            raise ValueError(f"'{word}' in variant '{text}' should be {FEW_SHOT}:1 to {FEW_SHOT}:{MAX_SHOTS}, the examples of each class")
        return "shots", shots
    if word not in VARIANT_WORDS:
        raise ValueError(f"unknown variant '{word}' in '{text}'; known words: {', '.join((*VARIANT_WORDS, 'few-shot', FEW_SHOT + ':2'))}")
    return VARIANT_WORDS[word]


class Condition(msgspec.Struct, frozen=True, order=True):
    """The condition of a query: variant, perturbation and sampling. An ablation consists of further conditions."""

    variant: Variant = Variant()
    temperature: float = 0.0
    top_p: float | None = None  # None as for every axis of `SAMPLING`: left to the endpoint
    perturbation: str = ""  # its text form (`shuffle-words:0.1`); empty for the original text
    order: Order = "forward"  # of the two texts of a pair; the judgment is stored in the item's own order
    shown_source: ShownSource = "none"  # the systems in the texts' headings: those that wrote them, or each in the other's place

    def __str__(self) -> str:
        """Return all that is not the default: `single T=0`, `single T=0.7 top_p=0.9 order=swapped source=correct`."""
        return " ".join([str(self.variant), *_sampling_text(self), *self._changes("=")])

    def words(self) -> str:
        """Return the condition as readers see it: `joint, temperature 0.7, order swapped`."""
        return ", ".join([self.of_judge("").words(), *self._changes(" ")])

    def _changes(self, sign: str) -> list[str]:
        """Return what of the item is changed."""
        order = [] if self.order == "forward" else [f"order{sign}{self.order}"]
        source = [] if self.shown_source == "none" else [f"source{sign}{self.shown_source}"]
        return [*order, *source, *([self.perturbation] if self.perturbation else [])]

    @property
    def sampling(self) -> dict[str, float]:
        """The axes of `SAMPLING` that are not left to the endpoint."""
        return {name: value for name in SAMPLING if (value := getattr(self, name)) is not None}

    def of_judge(self, judge: str) -> JudgeCondition:
        """Return a judge under this condition."""
        return JudgeCondition(judge, str(self.variant), *(getattr(self, name) for name in SAMPLING))


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """The sampling of an endpoint, as rows of files state it: all numbers of a condition. None: unknown, or left to the endpoint."""

    temperature: float | None = None
    top_p: float | None = None


class JudgeCondition(NamedTuple):
    """A judge under a condition, as judgments record it: what no row of results pools. None as in `Sampling`.

    What `Condition` changes in an item is no part of it: changed texts are compared with the same judge's answers on unchanged ones.
    """

    judge: str
    variant: str
    temperature: float | None = None
    top_p: float | None = None

    def __str__(self) -> str:
        """Return `openai/one single T=0.7 top_p=0.9`, as records hold it."""
        return " ".join([*filter(None, (self.judge, self.variant)), *_sampling_text(self)])

    def words(self) -> str:
        """Return the condition as readers see it: `joint, temperature 0.7, top-p 0.9`."""
        return ", ".join(axis_words(name, value) for name, value in self._asdict().items() if name != "judge" and value is not None)

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """Return the judge and condition of a row or a key; None for what it does not have."""
        return cls(*(row.get(name) for name in cls._fields))  # type: ignore[arg-type]


class CellKey(NamedTuple):
    """The cell that numbers are of: a language, a metric, and a judge under a condition."""

    language: str
    metric: str
    condition: JudgeCondition

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """Return the cell of a row or a key, whatever else that has."""
        return cls(row["language"], row["metric"], JudgeCondition.of(row))

    def flat(self) -> dict[str, Any]:
        """Return the keys of a row: those of `CELL`."""
        return {"language": self.language, "metric": self.metric, **self.condition._asdict()}


class ConditionRow(Sampling, frozen=True, kw_only=True):
    """A row of results, with a judge and its condition among its fields."""

    judge: str
    variant: str

    @property
    def condition(self) -> JudgeCondition:
        return JudgeCondition(*(getattr(self, name) for name in CONDITION))


SAMPLING = Sampling.__struct_fields__
"""The axes of a condition that are numbers. A further one is a field of `Condition`, `Sampling` and `JudgeCondition`."""
CONDITION = JudgeCondition._fields
"""Keys that a row of results never pools."""
CELL = ("language", "metric", *CONDITION)
"""The keys of a `CellKey`."""
SIDE = ("source", *CONDITION)
"""Who judged, and how, where there are several sources."""
_SHORT = {"temperature": "T"}


def _sampling_text(condition: Condition | JudgeCondition) -> list[str]:
    """Return what is stated of the sampling, as records hold it: `T=0.7`, `top_p=0.9`."""
    return [f"{_SHORT.get(name, name)}={value:g}" for name in SAMPLING if (value := getattr(condition, name)) is not None]


def axis_words(name: str, value: Any) -> str:
    """Return a value of a condition as readers see it: `temperature 0.7`, `top-p 0.9`; a variant as it is.

    >>> axis_words("top_p", 0.9)
    'top-p 0.9'
    """
    return f"{name.replace('_', '-')} {value:g}" if name in SAMPLING and isinstance(value, (int, float)) else str(value)


# Fields that few variants and conditions set, with their defaults. Hashes leave them out where they have these values: a new field then
# moves no id.
_LATER_VARIANT = {
    "answer": "json",
    "persona": False,
    "explain": False,
    "prompt": "",
    "reasons": "",
    "rubric": "",
    "question": "scale",
    "options": "forward",
    "levels": 0,
}
_FIRST_CONDITION = ("variant", "temperature", "top_p", "perturbation")
_LATER_CONDITION = {name: default for name, default in _defaults(Condition).items() if name not in _FIRST_CONDITION}


def hashed_variant(variant: Variant) -> dict[str, Any]:
    """Return the fields of a variant that hashes are made of."""
    return _without_defaults(msgspec.to_builtins(variant), _LATER_VARIANT)


def hashed_condition(condition: Condition) -> dict[str, Any]:
    """Return the fields of a condition that hashes are made of."""
    return _without_defaults(msgspec.to_builtins(condition), _LATER_CONDITION) | {"variant": hashed_variant(condition.variant)}


def _without_defaults(fields: dict[str, Any], later: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in later or later[name] != value}


class Query(msgspec.Struct, frozen=True):
    """One requested answer: one item, one metric (several in a joint call), one condition, one repeat.

    `earlier` are the metrics that the same conversation was about before, in order; empty for its first turn, and for every other call.
    """

    item: Item
    metrics: tuple[str, ...]
    condition: Condition
    repeat: int = 0
    earlier: tuple[str, ...] = ()


class Message(msgspec.Struct, frozen=True):
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


class Prompt(msgspec.Struct, frozen=True):
    """A request to any judge: the messages, the JSON schema of the answer, and its maximum length in tokens."""

    prompt_id: str
    messages: tuple[Message, ...]
    schema: dict[str, Any]
    max_tokens: int


class RealisedPerturbation(msgspec.Struct, frozen=True):
    """The effect of a perturbation on one item. `applied` is False if it could not change the text; nothing was asked then."""

    item_id: str
    perturbation: str
    applied: bool
    realised: dict[str, float]


class Call(msgspec.Struct, frozen=True):
    """One request to one judge. `query` is one of the queries that it answers: baselines look at it, models do not."""

    call_id: str
    prompt: Prompt
    query: Query
    seed: int | None = None

    @property
    def temperature(self) -> float:
        return self.query.condition.temperature

    @property
    def probabilities(self) -> bool:
        """Return True if the probabilities of the answer's tokens are asked for."""
        return self.query.condition.variant.probabilities


class Usage(msgspec.Struct, frozen=True):
    """Tokens as counted by the provider; 0 if unknown. Cached tokens are included in the prompt's, reasoning in the completion's."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0


class Token(msgspec.Struct, frozen=True, array_like=True):
    """One token of an answer, with the natural log-probabilities of the alternatives at its position."""

    text: str
    others: dict[str, float]


SYSTEM_ROLE = "system role"  # among what is left out: the system's text then begins the user's


class Reply(msgspec.Struct, frozen=True):
    """The reply to one attempt of a call, verbatim."""

    text: str
    model: str
    form: str = "none"  # of the requested answer: json_schema, json_schema-lenient, json_object, text; none for judges that are no models
    finish_reason: str | None = None
    refusal: str | None = None
    error: str | None = None  # the endpoint's refusal of this item (a text longer than the context), which counts as a reply
    usage: Usage = Usage()
    seconds: float = 0.0
    tokens: tuple[Token, ...] = ()  # of the answer, if probabilities were requested and returned
    left_out: tuple[str, ...] = ()  # parameters that the endpoint does not accept and that were not sent
    reasoning_room: int = 0  # extra tokens for the reasoning before the answer
    reasoning_characters: int = 0  # that the endpoint reported beside the text; reasoning within the text is counted when it is read
    text_field: str = ""  # the member of the message in which the text stood, where it was not the content
    beside: dict[str, str] = {}  # what else the message held, by member: reasoning, the arguments of tool calls
    whole_length: int = 0  # characters of a text that is stored cut, as it is longer than any answer; 0: it is whole
    batched: bool = False  # sent through the provider's batch interface, which has its own prices


class Failure(enum.StrEnum):
    """The reason why a reply contains no score. Failures are counted and shown, never turned into a number."""

    REFUSED = "refused"
    NOT_JSON = "not_json"
    OFF_SCALE = "off_scale"
    TRUNCATED = "truncated"
    MISSING = "missing"
    TIED = "tied"  # of a panel: its members gave no majority; of a decision model: several classes are likeliest
    BAD_PROBABILITIES = "bad_probabilities"  # of a decision model: one is missing, twice or no number, or they do not sum to 1
    SLOW_PATTERN = "slow_pattern"  # of a prompt of the user's own: its regular expression did not end on the reply


LONGEST_EXCERPT = 80  # characters of an answer that could not be read, as records and sentences show it


class Judgment(msgspec.Struct, frozen=True):
    """The score that a reply gives to one metric of one item, or its failure. Exactly one of `score` and `failure` is set."""

    item_id: str
    language: str
    task: str
    metric: str
    judge: str
    condition: Condition  # score and probs are in the item's own order, whatever the order of the two texts of a pair
    repeat: int
    score: Score | None
    failure: Failure | None
    raw_choice: str | None
    justification: str | None
    call_id: str
    probs: dict[str, float] | None = None  # of the scale's classes, or of bands by their midpoints; sum 1
    expected: float | None = None  # mean of the classes' numbers, weighted by `probs`
    entropy: float | None = None  # of `probs`, in bits
    share_a: float | None = None  # of a choice between two texts: the probability that goes to the item's first one, ties half
    spans: tuple[ErrorSpan, ...] | None = None  # the errors that were marked; None if none were asked for, or none could be read
    further_numbers: str | None = None  # in a text: the other numbers that might be a score
    excerpt: str | None = None  # how a reply begins in which nothing stands where the score should be, at most `LONGEST_EXCERPT` characters
    asked_language: str = "en"  # language that the prompt requested for the justification
    detected_language: str | None = None  # of the justification; `und`: too short to detect; None without a justification

    @property
    def probability(self) -> float | None:
        """The probability of the score itself, from `probs`; None where there are none."""
        return (self.probs or {}).get(str(self.score))


def column_reader(name: str) -> Callable[[Judgment], Any]:
    """Reads what a column of a table of judgments holds: a field, or an axis of the condition, the variant as text."""
    if name == "variant":
        return lambda judgment: str(judgment.condition.variant)
    return attrgetter(f"condition.{name}" if name in Condition.__struct_fields__ else name)


class JudgeIdentity(msgspec.Struct, frozen=True):
    """Who answers: everything that may change an answer, and nothing else. Never a path, a port or a key."""

    provider: str
    model: str
    settings: dict[str, Any] = {}

    @property
    def name(self) -> str:
        return f"{self.provider}/{self.model}"
