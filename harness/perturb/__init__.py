"""Perturbations: pure functions that change the output texts of an item, as tests of a judge's sensitivity.

docs/studies.md lists them.
"""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import EntryPoint

import msgspec

from harness.content.lexicons import lexicon_for
from harness.content.library import bundled_lexicons
from harness.content.specs import Lexicon
from harness.content.tags import choose_from
from harness.conversations import ASSISTANT, transcript, turns_of
from harness.errors import HarnessError, UsageError
from harness.model import Item
from harness.perturb import bundled_kinds
from harness.perturb.kind import SEGMENTERS, Chance, Change, Doses, Kind, Words
from harness.plugins import describe_failure, load, message_of, registered_twice
from harness.plugins import registered as registered_points

__all__ = [
    "SEGMENTERS",
    "Chance",
    "Change",
    "Doses",
    "Kind",
    "Perturbation",
    "Perturbed",
    "Words",
    "apply",
    "parse_perturbation",
    "registered",
]

GROUP = "harness.perturbations"

BUNDLED: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        bundled_kinds.SHUFFLE_WORDS,
        bundled_kinds.DROP_WORDS,
        bundled_kinds.REPEAT_SENTENCES,
        bundled_kinds.SWAP_LANGUAGE,
        bundled_kinds.STRIP_DIACRITICS,
        bundled_kinds.TYPOS,
        bundled_kinds.SWAP_SYNONYMS,
        bundled_kinds.TRUNCATE,
        bundled_kinds.NUMBER_SWAP,
        bundled_kinds.INJECT,
        bundled_kinds.ATTENTION_CHECK,
    )
}


def registered() -> dict[str, Kind]:
    """Return all kinds by name. A plug-in that cannot be loaded is listed as `broken`, with the reason as its summary.

    Raises UsageError when a name is registered twice; the message names both packages.
    """
    bundled_kinds = dict(BUNDLED)
    for name, point in sorted(plug_ins().items()):
        try:
            bundled_kinds[name] = load(point, Kind, "perturbation")
        except UsageError as err:
            why, changes_nothing = str(err), lambda *_: None
            bundled_kinds[name] = Kind(point.name, why, doses=None, heeds_segmenter=False, moves={}, perturb=changes_nothing, broken=why)
    return bundled_kinds


def kind_named(name: str) -> Kind:
    """Return the kind with this name. Raises UsageError if there is none or it cannot be loaded."""
    if name in BUNDLED:
        return BUNDLED[name]
    points = plug_ins()
    if name not in points:
        raise UsageError(f"no perturbation '{name}'.{choose_from(sorted({*BUNDLED, *points}), name)}")
    return load(points[name], Kind, "perturbation")


def is_bundled(kind: Kind) -> bool:
    """Return True if a kind is one of this program, not of another package."""
    return BUNDLED.get(kind.name) is kind


def plug_ins() -> dict[str, EntryPoint]:
    """Return the entry points of other packages by name. Nothing is imported. Raises UsageError when a name is registered twice."""
    points = registered_points(GROUP, "perturbation")
    for name in points.keys() & BUNDLED.keys():
        raise registered_twice("perturbation", name, "this program", points[name].value)
    return points


class Perturbation(msgspec.Struct, frozen=True, order=True):
    """A change of the text before it is judged. `dose` is None for kinds without doses. Only kinds that work on words use `segmenter`.

    >>> str(Perturbation("shuffle-words", 0.1)), str(Perturbation("shuffle-words", 0.1, "whitespace")), str(Perturbation("swap-language"))
    ('shuffle-words:0.1', 'shuffle-words:0.1@whitespace', 'swap-language')
    """

    name: str
    dose: float | None = None
    segmenter: str = "icu"

    def __str__(self) -> str:
        dose = "" if self.dose is None else f":{_dose_text(self.dose)}"
        return f"{self.name}{dose}" + ("" if self.segmenter == "icu" else f"@{self.segmenter}")


def _dose_text(dose: float) -> str:
    return f"{dose:g}" if float(f"{dose:g}") == dose else repr(dose)


class Perturbed(msgspec.Struct, frozen=True):
    """An item after a perturbation: only its output texts differ."""

    item: Item
    applied: bool  # False if no output text could be changed; `item` is then the original item, and `realised` is empty
    realised: dict[str, float]  # with several output texts, means over the changed ones


def parse_perturbation(text: str, segmenter: str = "icu") -> tuple[Perturbation, ...]:
    """Read the text form of a kind with one or several doses. Without a dose, the kind has its default.

    `segmenter` applies if the text names none; kinds that do not work on words ignore it.
    Raises UsageError for an unknown kind or segmenter, and for a dose that is not a number, out of range, repeated, or given for a kind
    without doses.

    >>> [str(one) for one in parse_perturbation("shuffle-words:0.05,0.1", "whitespace")]
    ['shuffle-words:0.05@whitespace', 'shuffle-words:0.1@whitespace']
    """
    plug_ins()  # a name that is registered twice is an error, whatever is asked for
    form, at_sign, named_segmenter = text.strip().partition("@")
    name, colon, doses = form.partition(":")
    kind = kind_named(name)
    if at_sign and not kind.heeds_segmenter:
        raise UsageError(f"perturbation '{name}' does not work on words, so it has no segmenter; write '{form}' instead of '{text}'")
    chosen = _segmenter(named_segmenter if at_sign else segmenter) if kind.heeds_segmenter else "icu"
    if not colon:
        return (Perturbation(name, kind.doses.default if kind.doses else None, chosen),)
    dose_values: list[float] = []
    for dose_text in doses.split(","):
        try:
            dose = float(dose_text)
        except ValueError:
            raise UsageError(f"'{dose_text}' is not a dose of '{kind.name}'{_range_hint(kind)}") from None
        _check_dose(kind, dose)
        if dose in dose_values:
            raise UsageError(f"perturbation '{kind.name}' names the dose {_dose_text(dose)} twice")
        dose_values.append(dose)
    return tuple(Perturbation(name, dose, chosen) for dose in dose_values)


def _segmenter(name: str) -> str:
    if name not in SEGMENTERS:
        raise UsageError(f"no segmenter '{name}'.{choose_from(SEGMENTERS, name)}")
    return name


def _check_dose(kind: Kind, dose: float | None) -> None:
    if kind.doses is None:
        if dose is not None:
            raise UsageError(f"perturbation '{kind.name}' has no dose; write '{kind.name}' alone")
    elif dose is None or math.isnan(dose) or not kind.doses.least <= dose <= kind.doses.most:
        raise UsageError(f"{dose} is not a dose of '{kind.name}'{_range_hint(kind)}")


def _range_hint(kind: Kind) -> str:
    doses = kind.doses
    return f"; doses are numbers from {doses.least:g} to {doses.most:g}" if doses else f", which has none; write '{kind.name}' alone"


def apply(
    perturbation: Perturbation,
    item: Item,
    pool: Sequence[Item],
    seed: int,
    outputs: Sequence[str] = ("output",),
    lexicons: Mapping[str, Lexicon] | None = None,
) -> Perturbed:
    """Return the item with its output texts perturbed.

    The function is pure. Its result depends on the perturbation, the item, the text, the seed and the lexicon of the item's language
    (`lexicons` by tag; the default is those of the bundled packs). For kinds that take texts from the pool, it depends on the pool too; a
    tuple is indexed once, any other sequence every time. Texts in Unicode normal form C stay in it. Empty texts and texts that are not
    valid Unicode stay as they are. Raises UsageError for an invalid perturbation.
    """
    kind = kind_named(perturbation.name)
    _check_dose(kind, perturbation.dose)
    segmenter = _segmenter(perturbation.segmenter)
    lexicon = lexicon_for(item.language, bundled_lexicons() if lexicons is None else lexicons)
    changes: dict[str, Change] = {}
    for field in outputs:
        text = item.fields.get(field)
        if not isinstance(text, str) or not text.strip():
            continue
        text_seed = _text_seed(kind.name, item.item_id, text, seed)
        if text_seed is None:
            continue
        change = _change_text(kind, item, pool, text_seed, perturbation.dose, Words(text, item.language, segmenter, field, lexicon))
        if change and unicodedata.is_normalized("NFC", text):  # new neighbours may compose with each other
            change = change._replace(text=unicodedata.normalize("NFC", change.text))
        if change and change.text != text:
            changes[field] = change
    if not changes:
        return Perturbed(item, False, {})
    fields = item.fields | {field: change.text for field, change in changes.items()}
    return Perturbed(msgspec.structs.replace(item, fields=fields), True, _means(changes.values()))


def _means(changes: Iterable[Change]) -> dict[str, float]:
    """Return the mean of each realised number over several changes."""
    values: dict[str, list[float]] = {}
    for change in changes:
        for name, value in change.realised.items():
            values.setdefault(name, []).append(value)
    return {name: sum(numbers) / len(numbers) for name, numbers in values.items()}


def _change_text(kind: Kind, item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Return what a kind makes of a text. Of a conversation it changes what the assistant wrote: with doses every turn, else the last one.

    Kinds that put another item's text in its place take the whole conversation.
    """
    turns = turns_of(words.text)
    answers = [number for number, turn in enumerate(turns) if turn.role == ASSISTANT and turn.content]
    if not answers or kind in (bundled_kinds.SWAP_LANGUAGE, bundled_kinds.ATTENTION_CHECK):
        return _change(kind, item, pool, seed, dose, words)
    changes: dict[int, Change] = {}
    for number in answers if kind.doses else answers[-1:]:
        of_turn = Words(turns[number].content, words.language, words.segmenter, words.field, words.lexicon)
        change = _change(kind, item, pool, seed + number, dose, of_turn)
        if change is not None:
            changes[number] = change
    if not changes:
        return None
    changed = [turn._replace(content=changes[number].text) if number in changes else turn for number, turn in enumerate(turns)]
    return Change(transcript(changed), _means(changes.values()))


def _change(kind: Kind, item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Return what a kind makes of a text. Raises UsageError if a kind of another package fails, or returns no change."""
    if is_bundled(kind):
        return kind.perturb(item, pool, seed, dose, words)
    name = f"the perturbation '{kind.name}'"
    try:
        change: object = kind.perturb(item, pool, seed, dose, words)
    except (KeyboardInterrupt, HarnessError):
        raise
    except BaseException as err:  # code of another package may raise anything
        raise UsageError(f"{name} {describe_failure(err)} on item '{item.item_id}'; it should return a Change, or None") from err
    if change is None:
        return None
    try:
        checked = msgspec.convert(tuple(change) if isinstance(change, tuple) else change, Change)
        checked.text.encode()
    except (msgspec.ValidationError, UnicodeEncodeError) as err:
        problem = f"{name} returned {type(change).__name__} for item '{item.item_id}'; it should return a Change, or None"
        raise UsageError(f"{problem} ({message_of(err)})") from err
    return checked


def _text_seed(name: str, item_id: str, text: str, seed: int) -> int | None:
    """Return the seed of one text. It is the same for every dose, so that a greater dose makes the changes of a smaller one and more.

    None for a text that is not valid Unicode (half of a surrogate pair).
    """
    try:
        return int.from_bytes(hashlib.sha256(msgspec.json.encode([name, item_id, seed, text])).digest()[:8], "big")
    except UnicodeEncodeError:
        return None
