"""A perturbation as part of a condition: its text form, and what it does to an item."""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Sequence

import msgspec

from harness.content.tags import suggest
from harness.errors import UsageError
from harness.model import Item
from harness.perturb.kind import Change, Kind
from harness.perturb.registry import check_names, kind_of
from harness.perturb.segments import SEGMENTERS, Words


class Perturbation(msgspec.Struct, frozen=True, order=True):
    """What is done to a text before it is judged. `dose` is None for kinds without doses; only kinds that use words heed `segmenter`.

    >>> str(Perturbation("shuffle-words", 0.1)), str(Perturbation("shuffle-words", 0.1, "whitespace")), str(Perturbation("swap-language"))
    ('shuffle-words:0.1', 'shuffle-words:0.1@whitespace', 'swap-language')
    """

    name: str
    dose: float | None = None
    segmenter: str = "icu"

    def __str__(self) -> str:
        dose = "" if self.dose is None else f":{_shortest(self.dose)}"
        return f"{self.name}{dose}" + ("" if self.segmenter == "icu" else f"@{self.segmenter}")


def _shortest(dose: float) -> str:
    return f"{dose:g}" if float(f"{dose:g}") == dose else repr(dose)


class Perturbed(msgspec.Struct, frozen=True):
    """An item after a perturbation: the same but for its output texts.

    `applied` is False where no output text could be changed; `item` is then the given one, and `realised` empty. With several output
    texts, `realised` holds means over those that were changed.
    """

    item: Item
    applied: bool
    realised: dict[str, float]


def parse_perturbation(text: str, segmenter: str = "icu") -> tuple[Perturbation, ...]:
    """Read a text form, in which a kind may have several doses; without one it has its default.

    `segmenter` holds where the text names none; kinds that use no words ignore it.
    Raises UsageError for an unknown kind or segmenter, and for a dose that is no number, out of range, named twice, or of a kind without.

    >>> [str(one) for one in parse_perturbation("shuffle-words:0.05,0.1", "whitespace")]
    ['shuffle-words:0.05@whitespace', 'shuffle-words:0.1@whitespace']
    """
    check_names()
    form, at, named = text.strip().partition("@")
    name, colon, doses = form.partition(":")
    kind = kind_of(name)
    if at and not kind.heeds_segmenter:
        raise UsageError(f"perturbation '{name}' uses no words, so it has no segmenter; write '{form}' instead of '{text}'")
    chosen = _segmenter(named if at else segmenter) if kind.heeds_segmenter else "icu"
    given = _doses(kind, doses.split(",") if colon else [])
    return tuple(Perturbation(name, dose, chosen) for dose in given)


def _segmenter(name: str) -> str:
    if name not in SEGMENTERS:
        raise UsageError(f"no segmenter '{name}'.{suggest(name, SEGMENTERS)}\n         here: {', '.join(SEGMENTERS)}")
    return name


def _doses(kind: Kind, texts: Sequence[str]) -> list[float | None]:
    if not texts:
        return [kind.doses.default if kind.doses else None]
    doses: list[float | None] = []
    for text in texts:
        try:
            dose = float(text)
        except ValueError:
            raise UsageError(f"'{text}' is no dose of '{kind.name}'{_range(kind)}") from None
        _check_dose(kind, dose)
        if dose in doses:
            raise UsageError(f"perturbation '{kind.name}' names the dose {_shortest(dose)} twice")
        doses.append(dose)
    return doses


def _check_dose(kind: Kind, dose: float | None) -> None:
    if kind.doses is None:
        if dose is not None:
            raise UsageError(f"perturbation '{kind.name}' has no dose; write '{kind.name}' alone")
    elif dose is None or math.isnan(dose) or not kind.doses.least <= dose <= kind.doses.most:
        raise UsageError(f"{dose} is no dose of '{kind.name}'{_range(kind)}")


def _range(kind: Kind) -> str:
    doses = kind.doses
    return f"; doses are numbers from {doses.least:g} to {doses.most:g}" if doses else f", which has none; write '{kind.name}' alone"


def apply(perturbation: Perturbation, item: Item, pool: Sequence[Item], seed: int, outputs: Sequence[str] = ("output",)) -> Perturbed:
    """The item with its output texts perturbed, everything else as it was.

    Pure: depends on the perturbation, the item, the text, the seed and, for kinds that take texts from there, the pool (a tuple is
    indexed once, any other sequence every time). Texts in Unicode normal form C stay in it. Empty texts, and texts that are not valid
    Unicode, are left alone. Raises UsageError for a perturbation that cannot be.
    """
    kind = kind_of(perturbation.name)
    _check_dose(kind, perturbation.dose)
    segmenter = _segmenter(perturbation.segmenter)
    changes: dict[str, Change] = {}
    for field in outputs:
        text = item.fields.get(field)
        if not isinstance(text, str) or not text.strip():
            continue
        own_seed = _seed(kind.name, item.item_id, text, seed)
        if own_seed is None:
            continue
        change = kind.perturb(item, pool, own_seed, perturbation.dose, Words(text, item.language, segmenter, field))
        change = change and change._replace(text=_normal_as(text, change.text))
        if change and change.text != text:
            changes[field] = change
    if not changes:
        return Perturbed(item, False, {})
    fields = item.fields | {field: change.text for field, change in changes.items()}
    return Perturbed(msgspec.structs.replace(item, fields=fields), True, _means([change.realised for change in changes.values()]))


def _seed(name: str, item_id: str, text: str, seed: int) -> int | None:
    """Chance of its own for every text, but the same for every dose, so that a greater dose changes what a smaller one does and more.

    None for a text that is not valid Unicode (half of a surrogate pair).
    """
    try:
        return int.from_bytes(hashlib.sha256(msgspec.json.encode([name, item_id, seed, text])).digest()[:8], "big")
    except UnicodeEncodeError:
        return None


def _normal_as(given: str, text: str) -> str:
    """Words that become neighbours may compose across their border; what was in normal form C is so again."""
    return unicodedata.normalize("NFC", text) if unicodedata.is_normalized("NFC", given) else text


def _means(every: Sequence[dict[str, float]]) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for realised in every:
        for name, value in realised.items():
            values.setdefault(name, []).append(value)
    return {name: sum(known) / len(known) for name, known in values.items()}
