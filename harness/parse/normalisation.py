"""What comes before reading: how a generation ended, where its answer begins, and how two texts that look alike become equal.

A finish reason is stored as the provider sent it (`length`, `MAX_TOKENS`, `SAFETY`, `content_filter: …`, `network_error`, …), and sorted
here whenever a reply is read. `answer_of` leaves out what a model or its server marks as no part of the answer: reasoning, whatever
scores it considers, and marks around the answer. `normalised` makes words and numbers comparable. Words that people see stay as they are
written: justifications and raw replies are never normalised.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from harness.model import Token

Ending = Literal["normal", "filtered", "cut", "failed"]

# The first kind whose pattern is found counts: `ERROR_TOXIC` is a filter, `ERROR_LIMIT` a limit of length.
_PATTERNS: dict[Ending, re.Pattern[str]] = {
    "filtered": re.compile(
        r"safety|filter|prohibit|recitation|block|blacklist|deny_?list|sensitive|refus|guard_?rail|moderat|flagged|policy|toxic|spii|"
        r"inspection|model_armor|censor|harmful"
    ),
    "cut": re.compile(
        r"length|(?<!rate_)limit|truncat|incomplete|context_window|tokens?_exceeded|not_finished|max_?(tokens?|output|len|context|new_)"
    ),
    "failed": re.compile(
        r"error|fail|abort|cancel|network|resource|timed?_?out|rate_limit|quota|overload|unavailable|malformed|interrupt|disconnect|"
        r"^(un)?load$"
    ),
}
_LONGEST_REASON = 200  # characters


@lru_cache(maxsize=256)
def ending_of(finish_reason: str | None) -> Ending:
    """Return how a generation ended. A reason that is not known, or none, is a normal end.

    >>> [ending_of(reason) for reason in ("stop", "length", "MAX_TOKENS", "content_filter: PROHIBITED_CONTENT", "network_error", None)]
    ['normal', 'cut', 'cut', 'filtered', 'failed', 'normal']
    """
    words = re.sub(r"[\s.-]+", "_", (finish_reason or "").strip().lower()[:_LONGEST_REASON])
    return next((ending for ending, pattern in _PATTERNS.items() if pattern.search(words)), "normal")


def was_cut(finish_reason: str | None) -> bool:
    """Return True if the text ended at a limit of length."""
    return ending_of(finish_reason) == "cut"


def was_filtered(finish_reason: str | None) -> bool:
    """Return True if the provider's filter, or the model, withheld the answer."""
    return ending_of(finish_reason) == "filtered"


# How models and their chat templates mark it: a tag whose name says so, as `<think>…</think>`, `[THINK]` or `<|START_THINKING|>`.
_NAME = r"[a-z\d_:.-]{0,20}(?:think|thought|reason|analy[sz]|reflect|scratchpad|monologue)[a-z\d_:.-]{0,20}"
_OPENING = re.compile(
    rf"""\s*+(?:<(?P<tag>{_NAME})>|\[(?P<bracket>{_NAME})\]|◁(?P<triangle>{_NAME})▷|<(?P<details>details)\b[^<>\n]{{0,40}}reasoning[^<>\n]{{0,200}}>
    |<\|(?:start|begin)_(?P<token>{_NAME})\|>|<\|inner_(?P<inner>prefix)\|>|<\|channel>(?P<channel>{_NAME})|<unused94>(?P<unused>{_NAME})|<\|im_start\|>\s?(?P<turn>{_NAME}))""",
    re.IGNORECASE | re.VERBOSE,
)
_CLOSING = {  # by the group of the opening
    "tag": "</{}>",
    "bracket": "[/{}]",
    "triangle": "◁/{}▷",
    "details": "</{}>",
    "token": "<|end_{}|>",
    "inner": "<|inner_suffix|>",
    "channel": "<channel|>",
    "unused": "<unused95>",  # of models that were made from Gemma 3
    "turn": "<|im_end|>",
}
# Messages of the Harmony format: each names its channel; the one to `final` is the answer, or else a last call of a function.
_HEADER = (
    r"(?:<\|start\|>(?P<role>[^<]{0,80}))?<\|channel\|>\s?(?P<name>[^<\s]{1,40})(?P<recipient>[^<]{0,80})"
    r"(?:<\|constrain\|>[^<]{0,40})?<\|message\|>"
)
_MESSAGE = re.compile(rf"\s*+{_HEADER}", re.IGNORECASE)
_MESSAGE_END = re.compile(rf"<\|(?:end|return|call)\|>|(?={_HEADER})", re.IGNORECASE)
# What is left of them where a server drops the marks alone.
_UNMARKED = re.compile(r"\s*+analysis(?=[^\W\d_])")
_UNMARKED_END = re.compile(r"assistantfinal(?:\s?json)?")
# Some templates put the opening mark into the prompt, so that only the closing one, on a line of its own, is in the reply.
_LONE_CLOSING = re.compile(
    rf"^[^\S\n]*(?:</{_NAME}>|\[/{_NAME}\]|◁/{_NAME}▷|<\|end_{_NAME}\|>|<\|channel\|>final<\|message\|>)[^\S\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_MOST_BLOCKS = 100  # no model thinks so often before it answers
_ANSWER = re.compile(r"""\s*+[{\["'`*\d]""")


def reasoning_end(text: str) -> int:
    """Return the end of the marked reasoning at the beginning of a reply: 0 without any, the length of the text if it is never closed.

    Marks further on are words of the answer, which may quote a text. The time is linear in the length of the text.

    >>> [text[reasoning_end(text):] for text in ("<think>2 or 1?</think>1", "So, 2?\\n</think>\\n1", "<think>So", "1: it has </think>")]
    ['1', '\\n1', '', '1: it has </think>']
    >>> text = "<|channel|>analysis<|message|>2?<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>1"
    >>> text[reasoning_end(text):]
    '1'
    """
    end = 0
    for _ in range(_MOST_BLOCKS):
        if (opening := _OPENING.match(text, end)) is None:
            break
        kind = str(opening.lastgroup)
        closing = re.compile(re.escape(_CLOSING[kind].format(opening[kind])), re.IGNORECASE).search(text, opening.end())
        if closing is None:
            return len(text)
        end = closing.end()
    if unmarked := _UNMARKED.match(text, end):
        closing = _UNMARKED_END.search(text, unmarked.end())
        return closing.end() if closing else len(text)
    while message := _MESSAGE.match(text, end):
        closing = _MESSAGE_END.search(text, message.end())
        after = closing.end() if closing else len(text)
        called = "to=" in (message["role"] or "") + message["recipient"] and not _MESSAGE.match(text, after)
        if message["name"].casefold() == "final" or called:
            return message.end()
        end = after
    if end == 0 and not _ANSWER.match(text) and (closing := _LONE_CLOSING.search(text)):
        return closing.end()
    return end


def without_reasoning(text: str) -> str:
    """Return the answer of a reply, without marked reasoning before it."""
    end = reasoning_end(text)
    return text[end:] if end else text


def answer_tokens(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return the tokens of the answer, without those of marked reasoning before it."""
    end = reasoning_end("".join(token.text for token in tokens))
    position = 0
    for number, token in enumerate(tokens):
        if position >= end:
            return tokens[number:]
        position += len(token.text)
    return tokens if not end else ()


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
