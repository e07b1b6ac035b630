"""Where the answer of a reply begins and ends: reasoning before it, whatever scores it considers, and marks of the server around it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.model import Token

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
