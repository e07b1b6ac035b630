"""Tells by its name whether a column or an annotator is a judge: a program or model, no person."""

from __future__ import annotations

import re

# Words for programs, and the beginnings of names of models. They win against words for people: an `llm_annotator` is no person.
_PROGRAMS = frozenset({"ai", "auto", "bot", "machine", "automatic", "automated", "ki", "bleu", "rouge", "chrf", "comet", "bleurt"})
_MODELS = ("llm", "gpt", "chatgpt", "claude", "gemini", "gemma", "llama", "mistral", "mixtral", "qwen", "deepseek", "prometheus", "grok")
_ANYWHERE = ("llm", "モデル", "模型", "모델", "модел", "機械", "机器", "自動", "自动", "자동", "автомат", "машин")
_PEOPLE = (
    "human",
    "person",
    "people",
    "annotator",
    "rater",
    "reviewer",
    "expert",
    "labeler",
    "labeller",
    "manual",
    "my",
    "native",
    "worker",
)
_ROLES = frozenset({"judge", "judges", "grader", "graders", "evaluator", "evaluators", "pred", "predicted", "prediction", "predictions"})


def is_judge_name(name: str) -> bool:
    """Return whether a name speaks for a judge: `judge_score`, `JudgeScore`, `gpt-4o`, `LLM評価`, but not `human_judge`.

    >>> [is_judge_name(name) for name in ("judge.score", "GPT4o", "model_rating", "human_evaluator", "Jana", "mainland")]
    [True, True, True, False, False, False]
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    parts = [part.casefold() for part in re.findall(r"[^\W\d_]+", spaced)]
    text = name.casefold()
    if any(part in _PROGRAMS or part.startswith((*_MODELS, "model", "automat")) for part in parts):
        return True
    if re.search(r"\bcommand[- ]r\b", text) or any(word in text for word in _ANYWHERE):
        return True
    return not any(part.startswith(_PEOPLE) for part in parts) and not _ROLES.isdisjoint(parts)


def judge_refusal(names: list[str], how: str) -> str:
    """Return the sentence on columns or annotators that look like judges; `how` says what to do with a person of this name."""
    shown = ", ".join(f"'{name}'" for name in names[:5])
    one = "its scores" if len(names) == 1 else "their scores"
    return (
        f"{shown} {'looks' if len(names) == 1 else 'look'} like a judge, by name, and {one} would count as a person's; leave the judge out "
        f"here and import {one} as judgments ('harness import FILE --to DIR --judge NAME'), or {how}"
    )
