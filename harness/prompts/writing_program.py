"""The request to write a text, as a guidance program. Texts of items are untrusted and enter as `guidance.string`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import guidance
from guidance import assistant, system, user

from harness.prompts.wording import fill_placeholders

if TYPE_CHECKING:
    from harness.prompts.writing import WritingPrompt


@guidance(dedent=False)  # type: ignore[operator, untyped-decorator]
def writing_program(lm: Any, prompt: WritingPrompt, texts: Mapping[str, str]) -> Any:
    """One call: who writes, the request, the item's inputs, and a hole for the text."""
    words = prompt.words
    with system():
        lm += guidance.string(words.system)
    with user():
        lm += guidance.string(f"{words.instruction.strip()}\n{fill_placeholders(words.meant_for, language=prompt.language_name)}")
        for name, text in texts.items():
            lm += guidance.string(f'\n\n{fill_placeholders(prompt.heading, title=prompt.titles[name])}\n"""\n')
            lm += guidance.string(text)
            lm += guidance.string('\n"""')
        lm += guidance.string(f"\n\n{words.reminder}")
    with assistant():
        lm += guidance.gen(name="answer", max_tokens=prompt.max_tokens)
    return lm
