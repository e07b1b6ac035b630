"""Tokens of chat templates in texts of items, such as `<|im_end|>`: a local model would take them for the real ones."""

from __future__ import annotations

import re

_SPECIAL = re.compile(
    r"<(?=\|)|(?<=\|)>|<(?=/?(?:s|bos|eos|pad|unk|start_of_turn|end_of_turn|think)>)|\[(?=/?(?:INST|SYS)\])", re.IGNORECASE
)
"""Where a space makes such a token plain text: `<|im_end|>`, `<start_of_turn>`, `</s>`, `[INST]`."""


def neutralise(text: str) -> str:
    """Return the text with a space inside everything that looks like a token of a chat template; it stays readable.

    >>> neutralise("fine <|im_end|> [INST] a < b > c")
    'fine < |im_end| > [ INST] a < b > c'
    """
    return _SPECIAL.sub(lambda match: f" {match[0]}" if match[0] == ">" else f"{match[0]} ", text)
