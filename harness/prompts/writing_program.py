"""The request to write a text, as a guidance program. Texts of items are untrusted and enter as `guidance.string`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import guidance
from guidance import assistant, system, user

from harness.content.specs import WritingWords


@guidance(dedent=False)  # type: ignore[operator, untyped-decorator]
def writing_program(
    lm: Any, words: WritingWords, request: str, headings: Mapping[str, str], texts: Mapping[str, str], max_tokens: int
) -> Any:
    """One call: who writes, the request, the item's inputs under their headings, and a hole for the text."""
    with system():
        lm += guidance.string(words.system)
    with user():
        lm += guidance.string(request)
        for name, text in texts.items():
            lm += guidance.string(f'\n\n{headings[name]}\n"""\n')
            lm += guidance.string(text)
            lm += guidance.string('\n"""')
        lm += guidance.string(f"\n\n{words.reminder}")
    with assistant():
        lm += guidance.gen(name="answer", max_tokens=max_tokens)
    return lm
