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

import msgspec

from harness.model import Failure, Scale, Score, Variant
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


def read_recorded_decision(answer: Mapping[str, Any], scale: Scale, words: Mapping[str, Score]) -> Reading:
    """Return the reading of one answer that another program recorded, in either form, or as `{"probs": {class: probability}}`.

    Options are classes by their name, or by the score that `words` gives for it; levels that are no classes are the classes in their order.
    An option that is no class is `off_scale`; the other failures are those of `read_decisions`.

    >>> scale = Scale(kind="nominal", classes=("fail", "pass"), best="pass")
    >>> read_recorded_decision({"type": "predicate", "probability": 0.9}, scale, {}).score
    'pass'
    """
    raw = json.dumps(answer, ensure_ascii=False, default=str)[:MAX_CHOICE_CHARACTERS]
    if answer.get("type") == "refusal":
        return Reading(None, Failure.REFUSED, raw, None)
    names = {str(score): str(score) for score in scale.classes} | {word: str(score) for word, score in words.items()}
    stated = _recorded_options(answer, names, scale)
    if not stated:
        return Reading(None, Failure.BAD_PROBABILITIES, raw, None)
    if any(name not in names for name, _ in stated):
        return Reading(None, Failure.OFF_SCALE, raw, None)
    probs = _Pairs((names[name], p) for name, p in stated)
    reading = _read([_Pairs([("probs", probs)])], scale, Variant())
    return msgspec.structs.replace(reading, raw_choice=raw) if reading.failure else reading


def _recorded_options(answer: Mapping[str, Any], names: Mapping[str, str], scale: Scale) -> list[tuple[str, Any]]:
    """Return the name of each option with what stands as its probability; empty where the answer has none."""
    true: Any = next((answer[name] for name in ("noul", "probability") if name in answer), None)
    if _is_probability(true):
        if not {"true", "false"} <= names.keys() and len(scale.classes) == 2:
            false_name, true_name = typed_question(scale, Variant()).names
            return [(false_name, 1 - true), (true_name, true)]
        return [("false", 1 - true), ("true", true)]
    listed = answer.get("probs", answer.get("probabilities"))
    if isinstance(listed, Mapping):
        stated = [(str(name), p) for name, p in listed.items()]
        places = [name for name, _ in stated]
    else:
        objects = [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []
        stated = [(str(each.get("label", each.get("value"))), each.get("probability")) for each in objects]
        places = [str(each.get("value")) for each in objects]
    by_place = _KINDS.get(str(answer.get("type"))) == "levels" and sorted(places) == sorted(map(str, range(len(scale.classes))))
    if by_place and (isinstance(listed, Mapping) or not {name for name, _ in stated} <= names.keys()):
        stated = [(str(scale.classes[int(place)]), p) for place, (_, p) in zip(places, stated, strict=True)]
    return stated


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
