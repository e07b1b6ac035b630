"""Text of others that a page may show: nothing in it hides, reorders or is lost without a trace."""

from __future__ import annotations

import re

# What has no sign of its own or moves what stands beside it: C0 and C1 controls but tab and newline, bidi overrides, embeddings and
# isolates, the byte-order mark, line separators of scripts, tags, lone surrogates. Marks that Arabic and Hebrew texts need (U+200E, U+200F,
# U+061C) and joiners stay: an element of its own keeps them from reaching further.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """Text whose control characters can be seen: `␀` and its like for those of ASCII, `⟨U+202E⟩` for others.

    >>> visible("a\\x00b\\u202ec\\r\\n")
    'a␀b⟨U+202E⟩c\\n'
    """
    return _HIDDEN.sub(_sign, text.replace("\r\n", "\n")) if _HIDDEN.search(text) else text


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"
