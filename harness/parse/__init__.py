"""Reads the replies of judges: strict about meaning, tolerant about form, never a guess.

`reply` is the entry point. Three modules come before it: `finish_reasons` says how a generation ended, `reasoning` finds the answer in a
reply, and `normalisation` makes words comparable. `reply` uses `json_repair`, which extracts JSON objects from a text, `choice_on_scale`,
which reads one choice on a scale, and `prose`, which reads everything that is not JSON, answers that were asked for in the judge's own
words, and texts that models were asked to write. `vocabulary` holds the words of all languages that the parser looks for, and `numbers`
reads digits of any script. `probabilities` reads scores from the probabilities of tokens, and the answers of decision models;
`typed_questions` says what these are asked; `language` identifies languages.

The names below are imported on first use: identifying a language needs none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.parse.choice_on_scale import Reading
    from harness.parse.normalisation import folded, normalised
    from harness.parse.probabilities import entropy, expected_score, read_decisions, read_recorded_decision, score_probabilities
    from harness.parse.prose import read_text
    from harness.parse.reasoning import answer_of
    from harness.parse.reply import AnswerRule, read_by_rule, read_reply
    from harness.parse.typed_questions import TypedQuestion, typed_question
    from harness.parse.vocabulary import Vocabulary, bundled_vocabulary, vocabulary_of
    from harness.parse.written_texts import WrittenText, clean_text, writing_failure

_NAMES = {
    "normalisation": (
        "answer_of",
        "folded",
        "normalised",
    ),
    "probabilities": (
        "entropy",
        "expected_score",
        "read_decisions",
        "read_recorded_decision",
        "score_probabilities",
    ),
    "prose": ("read_text",),
    "written_texts": (
        "WrittenText",
        "clean_text",
        "writing_failure",
    ),
    "reply": (
        "AnswerRule",
        "read_by_rule",
        "read_reply",
    ),
    "typed_questions": (
        "TypedQuestion",
        "typed_question",
    ),
    "choice_on_scale": ("Reading",),
    "vocabulary": (
        "Vocabulary",
        "bundled_vocabulary",
        "vocabulary_of",
    ),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "AnswerRule",
    "Reading",
    "TypedQuestion",
    "Vocabulary",
    "WrittenText",
    "answer_of",
    "bundled_vocabulary",
    "clean_text",
    "entropy",
    "expected_score",
    "folded",
    "normalised",
    "read_by_rule",
    "read_decisions",
    "read_recorded_decision",
    "read_reply",
    "read_text",
    "score_probabilities",
    "typed_question",
    "vocabulary_of",
    "writing_failure",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'harness.parse' has no name '{name}'")
    return getattr(import_module(f"harness.parse.{_MODULES[name]}"), name)
