"""Words and numbers made comparable: composition, invisible marks, spaces, widths and case.

Words that people see stay as they are written: justifications and raw replies are never normalised.
"""

from __future__ import annotations

import re
import unicodedata

# Characters that nobody sees: Unicode's Default_Ignorable_Code_Point without unassigned planes, and the frame of a keycap.
INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20e3\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufff8\U000e0000-\U000e0fff"
)
"""Part of a character class of a regular expression."""
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_SPACE = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f]")
_FULL_WIDTH_LETTERS = {code: code - 0xFEE0 for code in (*range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))}


def normalised(text: str) -> str:
    """Return a text as it is compared and searched: composed (NFC), without invisible marks, with plain spaces and Latin letters.

    Digits stay as they are written, because numbers are read in the digits of any script.

    >>> normalised("\\u200fSco\\u200bre：\\u00a0２"), normalised("u\\u0308ber Ａ") == "über A"
    ('Score： ２', True)
    """
    if text.isascii():
        return text
    text = _SPACE.sub(" ", _INVISIBLE.sub("", text))
    return unicodedata.normalize("NFC", text).translate(_FULL_WIDTH_LETTERS)


def folded(word: str) -> str:
    """Return a word without the differences of case, composition and invisible marks, for comparison. Turkish dotted and dotless i are one.

    >>> folded("İYİ") == folded("iyi") == folded("Iyı"), folded("Überzeugend") == folded("u\\u0308berzeugend")
    (True, True)
    """
    return unicodedata.normalize("NFC", normalised(word).casefold().replace("i\u0307", "i").replace("ı", "i"))
