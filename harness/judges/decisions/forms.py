"""The two forms in which decision models are asked over HTTP: Decisions (OpenAI) and System One (TypeSafe and most others)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from harness.conversations import turns_of
from harness.parse.decisions import DECISIONS, SYSTEMONE
from harness.prompts import Option, Question

Texts = Mapping[str, str]
Questions = Mapping[str, Question]


class WireForm(msgspec.Struct, frozen=True):
    """One form.

    Attributes:
        name: the form of replies in it.
        path: where it stands below the base URL.
        body: writes a request of a model about texts.
        most_questions: how many a request may hold where the endpoint has not said otherwise.
    """

    name: str
    path: str
    body: Callable[[str, Texts, Questions], dict[str, Any]]
    most_questions: int


def decisions_body(model: str, texts: Texts, questions: Questions) -> dict[str, Any]:
    """Return a request in the form of Decisions.

    Its input is a text, so the item's texts are one JSON object, which keeps their names. A conversation alone is a list of messages.
    """
    listed = [{"type": _DECISIONS[question.kind], "name": name, **_write_question(question)} for name, question in questions.items()]
    state = _with_messages(texts)
    messages = next(iter(state.values()), "") if len(state) == 1 else ""
    content = messages if isinstance(messages, list) else msgspec.json.encode(state).decode()
    return {"model": model, "input": content, "questions": listed}


def _with_messages(texts: Texts) -> dict[str, str | list[dict[str, str]]]:
    """Return the texts by name; a conversation is the list of its messages."""
    return {name: [turn._asdict() for turn in turns_of(text)] or text for name, text in texts.items()}


_DECISIONS = {"statement": "predicate", "choice": "choice", "levels": "score"}


def _write_question(question: Question) -> dict[str, Any]:
    if question.kind == "statement":
        false, true = question.options
        meaning = f"The answer is true if this holds: {_name_option(true)}\nIt is false if this holds: {_name_option(false)}"
        return {"instructions": f"{question.instructions}\n{meaning}"}
    if question.kind == "choice":
        choices = [{"value": option.name, **_write_description(option.description)} for option in question.options]
        return {"instructions": question.instructions, "choices": choices}
    levels = [{"label": option.name, **_write_description(option.description)} for option in question.options]
    return {"instructions": question.instructions, "levels": levels}


def systemone_body(model: str, texts: Texts, questions: Questions) -> dict[str, Any]:
    """Return a request in the form of System One."""
    return {
        "model": model,
        "state": _with_messages(texts),
        "questions": {name: systemone_question(question) for name, question in questions.items()},
    }


def systemone_question(question: Question) -> dict[str, Any]:
    """Return one question in the form of System One."""
    if question.kind == "statement":
        false, true = question.options
        return {
            "type": "noul",
            "instructions": question.instructions,
            "criteria": {"true": _name_option(true), "false": _name_option(false)},
        }
    if question.kind == "choice":
        described = {option.name: option.description or None for option in question.options}
        return {"type": "choice", "instructions": question.instructions, "criteria": described}
    levels = [f"{option.name}: {option.description}" if option.description else option.name for option in question.options]
    return {"type": "score", "instructions": question.instructions, "criteria": levels}


def _write_description(description: str) -> dict[str, str]:
    return {"description": description} if description else {}


def _name_option(option: Option) -> str:
    return option.description or option.name


FORMS = {
    "decisions": WireForm(DECISIONS, "decisions", decisions_body, 400),
    "systemone": WireForm(SYSTEMONE, "systemone", systemone_body, 128),
}
"""Each form by the kind of judge that asks in it."""
