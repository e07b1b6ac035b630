"""Reads one choice, as a judge wrote it, on the scale of its metric."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from decimal import Decimal

import msgspec

from harness.model import ErrorSpan, Failure, Scale, Score
from harness.parse.normalisation import folded, normalised
from harness.parse.numbers import numbers_in, to_number
from harness.parse.vocabulary import Vocabulary

MAX_CHOICE_CHARACTERS = 200  # a reading keeps no more of a choice; the store has the whole reply

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_LEADING_MARKS = " \t\r\n\u3000\ufeff*_`\"'“”‘’„«»「」『』【】()（）[]<>#"
_TRAILING_MARKS = _LEADING_MARKS + ".!。！"
_DESCRIPTION = re.compile(r"\s*[(（\[［【:：=＝|,，、;；。\n]\s*|\s+[-–—]\s+|\.\s+")  # what sets a choice off from words about it
USUAL_STARS = 5  # the highest rating, where empty stars do not show it
_COMPARISON_SIGN = re.compile(r"[\s*_`\"'“”(\[]*(?:>|<(?![^<>\n]*>))")  # "> 3", not "<3>"
_STARS_OF_ALL = re.compile(r"([★⭐🌟]+)[☆✩]+")
_STARS_ALONE = re.compile(r"((?:^|[:：])[ \t*_]{0,4})([★⭐🌟]+)(?=[ \t*_]{0,4}$)", re.MULTILINE)
_LITERALS = {
    "null": Failure.MISSING,
    "true": Failure.OFF_SCALE,
    "false": Failure.OFF_SCALE,
    "nan": Failure.OFF_SCALE,
    "infinity": Failure.OFF_SCALE,
    "-infinity": Failure.OFF_SCALE,
}


class Reading(msgspec.Struct, frozen=True, repr_omit_defaults=True):
    """The reading of a reply about one metric. Exactly one of `score` and `failure` is set."""

    score: Score | None
    failure: Failure | None
    raw_choice: str | None  # as written (its first 200 characters); None if the reply has none
    justification: str | None
    further_numbers: str | None = None  # of a free text, which could be scores, separated by spaces; None if there are none
    spans: tuple[ErrorSpan, ...] | None = None  # the errors of the answer, not placed in the text yet; None if it has no list of them
    probs: dict[str, float] | None = None  # of all classes, where the answer states them


def clean(text: str) -> str:
    r"""Make a text safe to store and show: remove control characters except newline and tab, replace lone surrogates.

    >>> clean("a\x00b\tc\r\n")
    'ab\tc\n'
    """
    return _SURROGATE.sub("\ufffd", _CONTROL.sub("", text))


def with_stars_as_numbers(text: str, scale: Scale) -> str:
    """Return a normalised text with stars as the number that they show, where the scale ends at as many: "★★★☆☆" is 3/5.

    Filled stars alone count where they are a line or follow a colon, and the scale ends at five, as stars usually do.

    >>> five = Scale(kind="ordinal", classes=(1, 2, 3, 4, 5), best=5)
    >>> [with_stars_as_numbers(text, five) for text in ("★★★☆☆", "Rating: ⭐⭐⭐⭐", "★ Fine", "★★☆")]
    ['3/5', 'Rating: 4', '★ Fine', '★★☆']
    """
    highest = _find_maximum(scale)
    text = _STARS_OF_ALL.sub(lambda stars: f"{len(stars[1])}/{len(stars[0])}" if len(stars[0]) == highest else stars[0], text)
    if highest != USUAL_STARS:
        return text
    return _STARS_ALONE.sub(lambda stars: stars[1] + (str(len(stars[2])) if len(stars[2]) <= USUAL_STARS else stars[2]), text)


def read_choice(raw: str, scale: Scale, vocabulary: Vocabulary, *, number_first: bool = False) -> Reading:
    """Read `raw` as one point of the scale; anything else is OFF_SCALE.

    First `raw` is compared with the named classes: exactly, then in any case if only one matches. Then it is read as a number, which may
    have a unit (2 points) or a maximum (2/2, 2 out of 2). Decimal commas are accepted on interval scales only.

    With `number_first`, the numeric class is preferred if both 1 and "1" are classes.

    >>> from harness.parse import bundled_vocabulary
    >>> words = bundled_vocabulary()
    >>> read_choice("２", Scale(kind="ordinal", classes=(0, 1, 2)), words).score
    2
    >>> read_choice("YES", Scale(kind="nominal", classes=("yes", "no")), words).score
    'yes'
    >>> read_choice("0,5", Scale(kind="interval", min=0, max=1), words).score
    0.5
    >>> read_choice("2 out of 5", Scale(kind="ordinal", classes=(0, 1, 2)), words).failure
    <Failure.OFF_SCALE: 'off_scale'>
    """
    scores = (_find_named_class(raw, scale), _number_on_scale(raw, scale, vocabulary))
    for score in reversed(scores) if number_first else scores:
        if score is not None:
            return Reading(score, None, _cut_excerpt(raw), None)
    return failed_reading(Failure.OFF_SCALE, raw)


def read_bare_choice(text: str, scale: Scale, vocabulary: Vocabulary) -> Reading | None:
    """Read a text that is only one choice, perhaps in quotes or brackets. Return None for any other text.

    >>> from harness.parse import bundled_vocabulary
    >>> scale, words = Scale(kind="ordinal", classes=(0, 1, 2)), bundled_vocabulary()
    >>> read_bare_choice("[2 points]", scale, words).score
    2
    >>> read_bare_choice("null", scale, words).failure
    <Failure.MISSING: 'missing'>
    >>> read_bare_choice("1 or 2", scale, words) is None
    True
    """
    inner = with_stars_as_numbers(normalised(text), scale).lstrip(_LEADING_MARKS).rstrip(_TRAILING_MARKS)
    for raw in (text, inner) if inner else (text,):
        if _find_named_class(raw, scale) is not None:
            return read_choice(raw, scale, vocabulary)
    if inner.casefold() in _LITERALS:
        return failed_reading(_LITERALS[inner.casefold()], inner)
    if _COMPARISON_SIGN.match(text):
        return None
    if vocabulary.whole_choice.fullmatch(inner):
        return read_choice(inner, scale, vocabulary)
    # A grade with a sign lies between two classes, as a half does.
    return failed_reading(Failure.OFF_SCALE, inner) if vocabulary.whole_choice.fullmatch(inner.rstrip("+-−－＋")) else None


def read_described_choice(text: str, scale: Scale, vocabulary: Vocabulary) -> Reading | None:
    """Read a choice with its name or a remark beside it, set off by a mark: "1 - some errors", "1 (fair)", "fair: 1".

    None where there are several numbers or classes, or where words touch the choice without a mark: "1 or more".

    >>> from harness.parse import bundled_vocabulary
    >>> scale, words = Scale(kind="ordinal", classes=(0, 1, 2)), bundled_vocabulary()
    >>> [read_described_choice(text, scale, words) is None for text in ("1 - fair", "(fair: 1)", "1 or more", "1 - 2", "1: not 2")]
    [False, False, True, True, True]
    """
    inner = normalised(text[:MAX_CHOICE_CHARACTERS]).strip(_LEADING_MARKS)
    names = [c for c in scale.classes if isinstance(c, str) and c.strip()]
    named_classes = [name for name in names if re.search(rf"(?<!\w){re.escape(folded(name))}(?!\w)", folded(inner))]
    if len(text) > MAX_CHOICE_CHARACTERS or len(numbers_in(inner)) + len(named_classes) != 1:
        return None
    first, _, rest = _DESCRIPTION.sub("\0", inner, count=1).partition("\0")
    last = _DESCRIPTION.split(inner)[-1]
    before = inner.removesuffix(last)
    for part in (first,) if vocabulary.names_another_number(before) and before else (first, last) if rest.strip() else ():
        if (reading := read_bare_choice(part, scale, vocabulary)) is not None:
            return reading
    return None


def agreed_reading(readings: Iterable[Reading]) -> Reading:
    """Return the reading on which all agree. Different readings are NOT_JSON: neither score is surely the judge's.

    >>> two, one = Reading(2, None, "2", None), Reading(1, None, "1", None)
    >>> agreed_reading([two, two]).score
    2
    >>> agreed_reading([two, one])
    Reading(score=None, failure=<Failure.NOT_JSON: 'not_json'>, raw_choice='2 | 1', justification=None)
    """
    distinct_readings: dict[object, Reading] = {}
    for reading in readings:
        distinct_readings.setdefault((reading.failure, reading.raw_choice if reading.score is None else reading.score), reading)
    first, *different = distinct_readings.values()
    if not different:
        return first
    return failed_reading(Failure.NOT_JSON, " | ".join(str(reading.raw_choice) for reading in (first, *different)))


def failed_reading(failure: Failure, raw: str | None = None) -> Reading:
    """Return a reading without a score."""
    return Reading(None, failure, None if raw is None else _cut_excerpt(raw), None)


def _find_named_class(raw: str, scale: Scale) -> str | None:
    """Return the class that is written so; else the only one that is equal to it when composed, or else folded."""
    names = [c for c in scale.classes if isinstance(c, str)]
    for form in (str, normalised, lambda text: folded(text).strip()):
        if matches := [name for name in names if form(name) == form(raw)]:
            return matches[0] if len(matches) == 1 else None
    return None


def _number_on_scale(raw: str, scale: Scale, vocabulary: Vocabulary) -> int | float | None:
    raw = normalised(raw).strip()
    choice = vocabulary.whole_choice.fullmatch(raw)
    if choice is None or (number := to_number(choice["number"])) is None:
        return None
    if choice["of"] is not None and to_number(choice["of"]) != _find_maximum(scale):
        return None
    if scale.kind == "interval":
        value = float(number)
        return value if math.isfinite(value) and scale.holds(value) else None
    if "," in raw or "，" in raw:
        return None
    return next((c for c in scale.classes if isinstance(c, int) and number == c), None)


def _find_maximum(scale: Scale) -> Decimal | None:
    if scale.kind == "interval":
        return None if scale.max is None else Decimal(repr(scale.max))
    return max((Decimal(c) for c in scale.classes if isinstance(c, int)), default=None)


def ends_of(scale: Scale) -> tuple[Score | None, Score | None]:
    """Return the lowest and the highest score, as they are written: 1 rather than 1.0."""
    if scale.kind == "interval":
        return _make_plain(scale.min), _make_plain(scale.max)
    return min(scale.classes, default=None), max(scale.classes, default=None)


def _make_plain(end: float | None) -> Score | None:
    return int(end) if end is not None and end == int(end) else end


def _cut_excerpt(raw: str) -> str:
    return clean(raw[:MAX_CHOICE_CHARACTERS])
