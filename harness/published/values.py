"""Values of a release in a data folder: the same number and the same text on every machine."""

from __future__ import annotations

import math
import unicodedata


def whole(number: float) -> int | float:
    """The number, as an integer if it is whole, so that it is written without a decimal point.

    >>> whole(4.0), whole(2.5), whole(-0.0)
    (4, 2.5, 0)
    """
    return int(number) if math.isfinite(number) and number == int(number) else number


def rounded(number: float, digits: int) -> int | float:
    """The number with at most `digits` decimals; an integer if it is whole.

    >>> rounded(4.6666666666667, 6), rounded(3.0000000001, 6)
    (4.666667, 3)
    """
    return whole(round(number, digits))


def nfc(text: str) -> str:
    """The text in Unicode's composed form. Nothing else changes."""
    return unicodedata.normalize("NFC", text)
