"""One choice, as a judge wrote it, on the scale it belongs to."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal

import msgspec

from harness.model import Failure, Scale, Score

LONGEST_CHOICE = 200  # characters of a choice that are kept; the reply itself is stored elsewhere, whole

SIGN = r"[-+−－]"  # the minus signs of other keyboards are meant
NUMBER = rf"{SIGN}?(?>\d+(?:[.,．，٫]\d+)?|\.\d+)(?>[eE][-+]?\d{{1,4}}(?!\d))?"
_UNIT = r"\s{0,3}(?:[点點分]|(?:points?|pts|Punkte?|puntos?|punt[io]|pontos?|bod[yů]?)(?!\w))"
_OUT_OF = rf"\s{{0,3}}[(（]?(?:[/／]|out\sof)\s{{0,3}}(?P<of>{NUMBER})(?:{_UNIT})?[)）]?"
CHOICE = rf"(?P<number>{NUMBER})(?:{_UNIT})?(?:{_OUT_OF})?"

_CHOICE = re.compile(CHOICE, re.IGNORECASE)
_NUMBER = re.compile(NUMBER)
_THOUSANDS = re.compile(rf"{SIGN}?[1-9]\d{{0,2}}[,，]\d{{3}}")  # 1,000: one or a thousand?
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_OPENERS = " \t\r\n\u3000\ufeff*_`\"'“”‘’„«»「」『』【】()（）[]<>#"
_CLOSERS = _OPENERS + ".!。！"
_LITERALS = {
    "null": Failure.MISSING,
    "true": Failure.OFF_SCALE,
    "false": Failure.OFF_SCALE,
    "nan": Failure.OFF_SCALE,
    "infinity": Failure.OFF_SCALE,
    "-infinity": Failure.OFF_SCALE,
}


class Reading(msgspec.Struct, frozen=True):
    """What a reply says about one metric. Exactly one of `score` and `failure` is set.

    `raw_choice` is the choice as written (its first 200 characters), None if no choice was seen.
    """

    score: Score | None
    failure: Failure | None
    raw_choice: str | None
    justification: str | None


def clean(text: str) -> str:
    r"""Text that can be stored and shown: no control characters but newline and tab, no lone surrogates.

    >>> clean("a\x00b\tc\r\n")
    'ab\tc\n'
    """
    return _SURROGATE.sub("\ufffd", _CONTROL.sub("", text))


def read_choice(raw: str, scale: Scale, *, number_first: bool = False) -> Reading:
    """Read `raw` as one point of the scale, or say that it is off it.

    A class is matched exactly, then in any case if that is unique; then `raw` is read as a number, with its unit
    (2点, 2 points) or its maximum (2/2, 2 out of 2). A decimal comma is one on an interval scale only.

    Args:
        raw: the choice as written.
        scale: the metric's scale.
        number_first: prefer a numeric class where both 1 and "1" are classes.

    >>> read_choice("２", Scale(kind="ordinal", classes=(0, 1, 2))).score
    2
    >>> read_choice("YES", Scale(kind="nominal", classes=("yes", "no"))).score
    'yes'
    >>> read_choice("0,5", Scale(kind="interval", min=0, max=1)).score
    0.5
    >>> read_choice("2 out of 5", Scale(kind="ordinal", classes=(0, 1, 2))).failure
    <Failure.OFF_SCALE: 'off_scale'>
    """
    steps = (_number_on, _class_on) if number_first else (_class_on, _number_on)
    for step in steps:
        score = step(raw, scale)
        if score is not None:
            return Reading(score, None, _excerpt(raw), None)
    return failed(Failure.OFF_SCALE, raw)


def read_bare(text: str, scale: Scale) -> Reading | None:
    """Read a text that is nothing but one choice, perhaps in quotes or brackets; None if it is more than that.

    >>> read_bare("「２点」", Scale(kind="ordinal", classes=(0, 1, 2))).score
    2
    >>> read_bare("null", Scale(kind="ordinal", classes=(0, 1, 2))).failure
    <Failure.MISSING: 'missing'>
    >>> read_bare("1 or 2", Scale(kind="ordinal", classes=(0, 1, 2))) is None
    True
    """
    inner = text.lstrip(_OPENERS).rstrip(_CLOSERS)
    for raw in (text, inner) if inner else (text,):
        if _class_on(raw, scale) is not None:
            return read_choice(raw, scale)
    if inner.casefold() in _LITERALS:
        return failed(_LITERALS[inner.casefold()], inner)
    return read_choice(inner, scale) if _CHOICE.fullmatch(inner) else None


def agree(readings: Iterable[Reading]) -> Reading:
    """The one reading that all of them are, or NOT_JSON: of two different scores neither is the judge's.

    >>> two, one = Reading(2, None, "2", None), Reading(1, None, "1", None)
    >>> agree([two, two]).score
    2
    >>> agree([two, one])
    Reading(score=None, failure=<Failure.NOT_JSON: 'not_json'>, raw_choice='2 | 1', justification=None)
    """
    distinct: dict[object, Reading] = {}
    for reading in readings:
        distinct.setdefault((reading.failure, reading.raw_choice if reading.score is None else reading.score), reading)
    first, *others = distinct.values()
    if not others:
        return first
    return failed(Failure.NOT_JSON, " | ".join(str(reading.raw_choice) for reading in (first, *others)))


def failed(failure: Failure, raw: str | None = None, justification: str | None = None) -> Reading:
    """A reading without a score."""
    return Reading(None, failure, None if raw is None else _excerpt(raw), justification)


def numbers_in(text: str) -> set[Decimal]:
    """The different numbers in a short text; those that are too long to be meant are left out.

    >>> sorted(numbers_in("between 1 and ２, or 1.0"))
    [Decimal('1'), Decimal('2')]
    """
    return {number for m in _NUMBER.finditer(text) if (number := to_number(m[0])) is not None}


def to_number(raw: str) -> Decimal | None:
    """A number in the digits of any script; None for what could mean two numbers (1,000) or is absurdly long.

    >>> to_number("-٢"), to_number("０,５"), to_number("1,000")
    (Decimal('-2'), Decimal('0.5'), None)
    """
    if len(raw) > LONGEST_CHOICE or not _NUMBER.fullmatch(raw) or _THOUSANDS.fullmatch(raw):
        return None
    return Decimal("".join(_ascii(character) for character in raw))


def _ascii(character: str) -> str:
    if character in "−－":
        return "-"
    if character in ",．，٫":
        return "."
    return str(unicodedata.decimal(character, character))


def _class_on(raw: str, scale: Scale) -> str | None:
    classes = [c for c in scale.classes if isinstance(c, str)]
    alike = [c for c in classes if c == raw] or [c for c in classes if _in_any_case(c) == _in_any_case(raw)]
    return alike[0] if len(alike) == 1 else None


def _in_any_case(text: str) -> str:
    return text.strip().casefold()


def _number_on(raw: str, scale: Scale) -> int | float | None:
    choice = _CHOICE.fullmatch(raw.strip())
    if choice is None or (number := to_number(choice["number"])) is None:
        return None
    if choice["of"] is not None and to_number(choice["of"]) != _maximum(scale):
        return None
    if scale.kind == "interval":
        value = float(number)
        return value if math.isfinite(value) and scale.holds(value) else None
    if "," in raw or "，" in raw:
        return None
    return next((c for c in scale.classes if isinstance(c, int) and number == c), None)


def _maximum(scale: Scale) -> Decimal | None:
    if scale.kind == "interval":
        return None if scale.max is None else Decimal(repr(scale.max))
    return max((Decimal(c) for c in scale.classes if isinstance(c, int)), default=None)


def _excerpt(raw: str) -> str:
    return clean(raw[:LONGEST_CHOICE])
