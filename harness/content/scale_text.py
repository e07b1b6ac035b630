"""Reads a scale from a short text, such as `1..5:best=5`."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from harness.errors import UsageError
from harness.model import Scale, Score

MOST_CLASSES = 10  # steps of a range of whole numbers that are classes


def parse_scale(text: str, as_written: str = "") -> Scale:
    """Read `CLASSES[:best=SCORE][:kind=KIND]` as a scale. Raises UsageError for another form; its message has `shown` before the text.

    Without `kind`, whole numbers are ordinal classes and words are nominal ones. `1..5` means 1,2,3,4,5. A range of fractions
    (`0.0..1.0`), of more than eleven whole numbers, of two (`0..1`), or with `kind=interval` is an interval.

    >>> parse_scale("1..5").classes, parse_scale("1..5:kind=interval").kind, parse_scale("bad,good:best=good").best
    ((1, 2, 3, 4, 5), 'interval', 'good')
    """
    class_text, *option_texts = text.split(":")
    options: dict[str, str] = {}
    for option in option_texts:
        name, sign, value = option.partition("=")
        if name not in ("best", "kind"):
            raise UsageError(f"{as_written}{text}: '{name}' is not one of best, kind")
        if not (sign and value) or name in options:
            raise UsageError(f"{as_written}{text}: '{option}' should be {name}=VALUE, once")
        options[name] = value
    ends = class_text.split("..")
    low, high = parse_score(ends[0]), parse_score(ends[-1])
    is_range = len(ends) == 2 and not isinstance(low, str) and not isinstance(high, str)
    # A range of three to eleven whole numbers is spelt out; 0..1 is what shares lie in.
    if is_range and options.get("kind") != "interval" and isinstance(low, int) and isinstance(high, int) and 1 < high - low <= MOST_CLASSES:
        fields: dict[str, Any] = {"kind": "ordinal", "classes": tuple(range(low, high + 1))}
    elif is_range:
        fields = {"kind": "interval", "min": low, "max": high}
    else:
        classes = tuple(parse_score(part) for part in class_text.split(",") if part.strip())
        if any(isinstance(c, float) for c in classes):
            raise UsageError(f"{as_written}{text}: classes are whole numbers or words; for fractions give an interval: 0..1")
        fields = {"kind": "nominal" if any(isinstance(c, str) for c in classes) else "ordinal", "classes": classes}
    fields |= {"best": parse_score(options["best"])} if "best" in options else {}
    fields |= {"kind": options["kind"]} if "kind" in options else {}
    try:
        return msgspec.convert(fields, Scale)
    except msgspec.ValidationError as err:
        raise UsageError(f"{as_written}{text}: {err}") from None


def parse_score(text: str) -> Score:
    """Return a number where the text is one, else the text without blanks around it."""
    text = text.strip()
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    return float(text) if re.fullmatch(r"[+-]?\d+\.\d+", text) else text
