"""Tells by its name whether a column or an annotator is a judge: a program or model, no person."""

from __future__ import annotations

import re

from harness.content.column_words import column_words

_NO_PERSON = 4  # letters of a word for programs that is no part of a person's name


def is_judge_name(name: str) -> bool:
    """Return whether a name speaks for a judge: `judge_score`, `JudgeScore`, `gpt-4o`, but not `human_judge`.

    >>> [is_judge_name(name) for name in ("judge.score", "GPT4o", "posouzeno strojem", "human_evaluator", "Jana", "mainland")]
    [True, True, True, False, False, False]
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    parts = [part.casefold() for part in re.findall(r"[^\W\d_]+", spaced)]
    text, words = name.casefold(), column_words()
    if any(part in words.programs or part.startswith((*words.models, "model", "automat")) for part in parts):
        return True
    if len(words.in_name("programs", name)) >= _NO_PERSON:
        return True
    if re.search(r"\bcommand[- ]r\b", text) or any(word in text for word in words.programs_anywhere):
        return True
    return not any(part.startswith(words.people) for part in parts) and not words.judging.isdisjoint(parts)


def judge_refusal(names: list[str], how: str) -> str:
    """Return the sentence on columns or annotators that look like judges; `how` says what to do with a person of this name."""
    quoted_names = ", ".join(f"'{name}'" for name in names[:5])
    whose = "its scores" if len(names) == 1 else "their scores"
    return (
        f"{quoted_names} {'looks' if len(names) == 1 else 'look'} like a judge, by name, and {whose} would count as a person's; "
        "leave the judge out "
        f"here and import {whose} as judgments ('harness import FILE --to DIR --judge NAME'), or {how}"
    )
