"""Reads the answers of decision models: a probability for every option of a typed question. No number is ever guessed.

Three forms are read, all as JSON: a list of answers in the order of the questions (Decisions), answers by name (System One), and the
probabilities of classes by metric, as functions of users return them.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from harness.model import Failure, Scale, Variant
from harness.parse.typed_questions import TypedQuestion, typed_question
from harness.parse.values import MAX_CHOICE_CHARACTERS, Reading

DECISIONS, SYSTEMONE, CLASSES = "decisions", "systemone", "class probabilities"
FORMS = frozenset({DECISIONS, SYSTEMONE, CLASSES})
"""The forms of replies that hold probabilities."""
_KINDS = {  # names of types in answers -> kind of question
    "predicate": "statement",
    "noul": "statement",
    "choice": "choice",
    "score": "levels",
}
_SUM_TOLERANCE = 0.02 + 1e-9  # endpoints round each probability to two decimals; the rest is that of binary fractions


class _Pairs(list[tuple[str, Any]]):
    """The members of a JSON object: one name may stand twice."""

    def get(self, name: str) -> Any:
        return next((value for key, value in self if key == name), None)


def read_decisions(text: str, scales: Mapping[str, Scale], variant: Variant) -> dict[str, Reading]:
    """Return the reading of each metric's answer: the likeliest class, with the probabilities of all.

    Failures: `refused`; `missing` without an answer to this question; `not_json`; `tied` where several classes are likeliest;
    `bad_probabilities` where an option has none or two, where one is no number from 0 to 1, and where they do not sum to 1 within .02.

    >>> scales = {"m": Scale(kind="ordinal", classes=(0, 1, 2), best=2)}
    >>> answer = '{"m": {"type": "score", "probabilities": {"0": 0.1, "1": 0.2, "2": 0.7}}}'
    >>> read_decisions(answer, scales, Variant())["m"].score
    2
    """
    if not text.strip():
        return dict.fromkeys(scales, Reading(None, Failure.MISSING, None, None))
    try:
        data = json.loads(text, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return dict.fromkeys(scales, Reading(None, Failure.NOT_JSON, None, None))
    answers = _by_name(data, tuple(scales))
    return {metric: _read(answers.get(metric, []), scale, variant) for metric, scale in scales.items()}


def _by_name(data: Any, names: Sequence[str]) -> dict[str, list[Any]]:
    """Return the answers by the name of their question. Those of a list without names are in the order of the questions."""
    answers: dict[str, list[Any]] = {}
    if isinstance(data, _Pairs):
        for name, answer in data:
            answers.setdefault(name, []).append(answer)
    elif isinstance(data, list):
        objects = [answer for answer in data if isinstance(answer, _Pairs)]
        stated = [answer.get("name") for answer in objects]
        if not any(isinstance(name, str) for name in stated):
            stated = list(names) if len(objects) == len(data) == len(names) else []
        for name, answer in zip(stated, objects, strict=False):
            if isinstance(name, str):
                answers.setdefault(name, []).append(answer)
    return answers


def _read(answers: Sequence[Any], scale: Scale, variant: Variant) -> Reading:
    if not answers:
        return Reading(None, Failure.MISSING, None, None)
    raw = json.dumps([_plain(answer) for answer in answers] if len(answers) > 1 else _plain(answers[0]), ensure_ascii=False)
    raw = raw[:MAX_CHOICE_CHARACTERS]
    [answer, *others] = answers
    if others or not isinstance(answer, _Pairs):
        return Reading(None, Failure.BAD_PROBABILITIES, raw, None)
    stated = answer.get("type")
    if stated == "refusal":
        return Reading(None, Failure.REFUSED, raw, None)
    try:
        question = TypedQuestion("choice", scale.classes) if answer.get("probs") is not None else typed_question(scale, variant)
    except ValueError:  # only a function of the user answers what no decision model is asked
        return Reading(None, Failure.BAD_PROBABILITIES, raw, None)
    if stated is not None and _KINDS.get(str(stated)) != question.kind:
        return Reading(None, Failure.MISSING, raw, None)
    options = _option_probabilities(answer, question)
    total = math.fsum(options.values())
    if options.keys() != set(question.names) or abs(total - 1) > _SUM_TOLERANCE:
        return Reading(None, Failure.BAD_PROBABILITIES, raw, None)
    order = question.names if question.bands or not scale.classes else tuple(map(str, scale.classes))
    probs = {name: options[name] / total for name in order}
    likeliest = [name for name in order if options[name] == max(options.values())]
    if len(likeliest) > 1:
        return Reading(None, Failure.TIED, raw, None, probs=probs)
    score = question.scores[question.names.index(likeliest[0])]
    return Reading(score, None, likeliest[0], None, probs=probs)


def _option_probabilities(answer: _Pairs, question: TypedQuestion) -> dict[str, float]:
    """Return the probability of each option by its name; empty if one stands twice, is of no option, or is no probability."""
    stated: list[tuple[Any, Any]]
    by_class = answer.get("probs")
    listed = by_class if by_class is not None else answer.get("probabilities")
    if question.kind == "statement" and listed is None:
        true: Any = next((value for name in ("noul", "probability") if (value := answer.get(name)) is not None), None)
        stated = [(0, 1 - true), (1, true)] if _is_probability(true) else []
        names: Mapping[Any, str] = dict(enumerate(question.names))
    elif isinstance(listed, _Pairs):
        stated = list(listed)
        names = {name: name for name in question.names}
        if question.kind == "levels" and by_class is None:
            names = {str(number): name for number, name in enumerate(question.names)}
    else:
        objects = listed if isinstance(listed, list) and all(isinstance(each, _Pairs) for each in listed) else []
        stated = [(each.get("value"), each.get("probability")) for each in objects]
        names = dict(enumerate(question.names)) if question.kind == "levels" else {name: name for name in question.names}
    keys = [key for key, _ in stated]
    known = all(isinstance(key, (str, int)) and not isinstance(key, bool) and key in names for key in keys)
    if not known or max(Counter(keys).values(), default=0) > 1 or not all(_is_probability(p) for _, p in stated):
        return {}
    return {names[key]: float(p) for key, p in stated}


def _is_probability(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and 0 <= value <= 1


def _plain(value: Any) -> Any:
    """Return decoded JSON with its objects as dictionaries."""
    if isinstance(value, _Pairs):
        return {name: _plain(member) for name, member in value}
    return [_plain(member) for member in value] if isinstance(value, list) else value
