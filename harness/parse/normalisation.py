"""One normalisation before anything is read: how two texts that look alike become equal.

A reply is read in two steps. `answer_of` leaves out what a model or its server marks as no part of the answer. `normalised` makes words and
numbers comparable. Words that people see stay as they are written: justifications and raw replies are never normalised.
"""

from __future__ import annotations

import re
import unicodedata

from harness.parse.reasoning import without_reasoning

# Characters that nobody sees: Unicode's Default_Ignorable_Code_Point without unassigned planes, and the frame of a keycap.
INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20e3\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufff8\U000e0000-\U000e0fff"
)
"""Part of a character class of a regular expression."""
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_SPACE = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f]")
_FULL_WIDTH_LETTERS = {code: code - 0xFEE0 for code in (*range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))}
# Marks around an answer that a server leaves in the text: `<|im_end|>`, `<|START_RESPONSE|>`, `</s>`, `<end_of_turn>`. An answer holds
# them only in a quotation, so they are looked for at its ends alone.
_SERVER_MARK = r"(?:<\|/?[A-Za-z_]{1,40}\|>|<｜[A-Za-z_▁]{1,40}｜>|</?s>|<(?:eos|start_of_turn|end_of_turn)>)"
_MARKS_BEFORE = re.compile(rf"(?:\s*+{_SERVER_MARK}(?:(?:assistant|answer|response|model)\b)?)++")
_MARKS_AFTER = re.compile(rf"(?:\s*+{_SERVER_MARK})++\s*\Z")
_WINDOW = 200  # characters at the end that are searched for marks


def answer_of(reply: str) -> str:
    """Return the answer of a reply: without marked reasoning before it, and without the marks that a server leaves around it.

    >>> answer_of("<|channel|>analysis<|message|>0 or 1?<|end|><|start|>assistant<|channel|>final<|message|>1<|return|>")
    '1'
    """
    answer = without_reasoning(reply)
    if "<" not in answer:
        return answer
    if before := _MARKS_BEFORE.match(answer):
        answer = answer[before.end() :]
    answer = answer.rstrip()
    after = _MARKS_AFTER.search(answer, max(0, len(answer) - _WINDOW))
    return answer[: after.start()] if after else answer


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
