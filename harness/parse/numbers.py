"""Numbers in texts: digits of any script, signs and decimal marks of any keyboard ("0,5", "－２", "٠٫٥")."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal

MAX_NUMBER_CHARACTERS = 200  # no judge means a longer number as a score

SIGN = r"[-+−－]"  # minus signs of other keyboards count too
NUMBER = rf"{SIGN}?(?>\d+(?:[.,．，٫]\d+)?|\.\d+)(?>[eE][-+]?\d{{1,4}}(?!\d))?"

_NUMBER = re.compile(NUMBER)
_THOUSANDS = re.compile(rf"{SIGN}?[1-9]\d{{0,2}}[,，]\d{{3}}")  # 1,000 may be one or a thousand


def numbers_in(text: str) -> set[Decimal]:
    """Return the different numbers in a short text, without numbers of absurd length.

    >>> sorted(numbers_in("between 1 and ２, or 1.0"))
    [Decimal('1'), Decimal('2')]
    """
    return {number for m in _NUMBER.finditer(text) if (number := to_number(m[0])) is not None}


def to_number(raw: str) -> Decimal | None:
    """Read a number in the digits of any script. Return None for an ambiguous number (1,000) or one of absurd length.

    >>> to_number("-٢"), to_number("０,５"), to_number("1,000")
    (Decimal('-2'), Decimal('0.5'), None)
    """
    if len(raw) > MAX_NUMBER_CHARACTERS or not _NUMBER.fullmatch(raw) or _THOUSANDS.fullmatch(raw):
        return None
    return Decimal("".join(_to_ascii(character) for character in raw))


def _to_ascii(character: str) -> str:
    if character in "−－":
        return "-"
    if character in ",．，٫":
        return "."
    return str(unicodedata.decimal(character, character))
