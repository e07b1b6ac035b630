"""Prompts: written as guidance programs, rendered once to templates, filled with the texts of items."""

from harness.prompts.custom_prompt import OwnPrompt, load_own_prompt, load_own_rubric, with_rubric
from harness.prompts.decisions import Option, Question, asked_of, decision_program_hash, decision_template
from harness.prompts.examples import Example, FewShotExamples
from harness.prompts.prompt_spec import PromptSpec, shown_texts, source_of
from harness.prompts.templates import PromptTemplate, PromptTemplates, WritingPrompt, conversation_prompt, given_texts, writing_prompt
from harness.prompts.wording import Wording, english_wording, is_english, own_language_wording, with_reasons_in, words_of

__all__ = [
    "Example",
    "FewShotExamples",
    "Option",
    "OwnPrompt",
    "PromptSpec",
    "PromptTemplate",
    "PromptTemplates",
    "Question",
    "Wording",
    "WritingPrompt",
    "asked_of",
    "conversation_prompt",
    "decision_program_hash",
    "decision_template",
    "english_wording",
    "given_texts",
    "is_english",
    "load_own_prompt",
    "load_own_rubric",
    "own_language_wording",
    "shown_texts",
    "source_of",
    "with_reasons_in",
    "with_rubric",
    "words_of",
    "writing_prompt",
]
