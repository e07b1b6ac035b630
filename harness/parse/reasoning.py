"""The reasoning that a model marks as such before its answer. It is no part of the answer, whatever scores it considers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.model import Token

# How models and their chat templates mark it: `<think>…</think>` and the like.
_MARKS = {
    **{f"<{name}>": f"</{name}>" for name in ("think", "thinking", "thought", "reasoning", "seed:think")},
    "[think]": "[/think]",
    "◁think▷": "◁/think▷",
    "<|start_thinking|>": "<|end_thinking|>",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|channel|>analysis<|message|>": "<|channel|>final<|message|>",
}
_OPENING = re.compile(r"\s*(" + "|".join(map(re.escape, _MARKS)) + ")", re.IGNORECASE)
_CLOSING = {opening: re.compile(re.escape(closing), re.IGNORECASE) for opening, closing in _MARKS.items()}
# Some templates put the opening mark into the prompt, so that only the closing one, on a line of its own, is in the reply.
_LONE_CLOSING = re.compile(r"^[^\S\n]*(?:" + "|".join(map(re.escape, _MARKS.values())) + r")[^\S\n]*$", re.IGNORECASE | re.MULTILINE)
_ANSWER = re.compile(r"""\s*[{\["'`*\d]""")


def reasoning_end(text: str) -> int:
    """Where the marked reasoning at the beginning of a reply ends: 0 without any, the length of the text if it is never closed.

    Marks further on are words of the answer, which may quote a text. The time is linear in the length of the text.

    >>> [text[reasoning_end(text):] for text in ("<think>2 or 1?</think>1", "So, 2?\\n</think>\\n1", "<think>So", "1: it has </think>")]
    ['1', '\\n1', '', '1: it has </think>']
    """
    end = 0
    while opening := _OPENING.match(text, end):
        closing = _CLOSING[opening[1].lower()].search(text, opening.end())
        if closing is None:
            return len(text)
        end = closing.end()
    if end == 0 and not _ANSWER.match(text) and (closing := _LONE_CLOSING.search(text)):
        return closing.end()
    return end


def without_reasoning(text: str) -> str:
    """The answer of a reply, without marked reasoning before it."""
    end = reasoning_end(text)
    return text[end:] if end else text


def answer_tokens(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens of the answer, without those of marked reasoning before it."""
    end = reasoning_end("".join(token.text for token in tokens))
    position = 0
    for number, token in enumerate(tokens):
        if position >= end:
            return tokens[number:]
        position += len(token.text)
    return tokens if not end else ()
