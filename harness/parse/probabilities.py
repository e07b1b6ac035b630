"""Scores from token probabilities: the probability of each class of the scale at the position of the score."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from harness.model import Failure, Scale, Score, Token, Variant
from harness.parse.choice_on_scale import MAX_CHOICE_CHARACTERS, Reading
from harness.parse.reasoning import answer_tokens
from harness.parse.typed_questions import TypedQuestion, typed_question

DECISIONS, SYSTEMONE, CLASSES = "decisions", "systemone", "class probabilities"
FORMS = frozenset({DECISIONS, SYSTEMONE, CLASSES})
"""The forms of replies that hold probabilities."""
_KINDS = {  # names of types in answers -> kind of question
    "predicate": "statement",
    "noul": "statement",
    "choice": "choice",
    "score": "levels",
}


class _Repeated(dict[str, Any]):
    """The members of a JSON object in which a name stands more than once; `pairs` has all of them."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    return members if len(members) == len(pairs) else _Repeated(pairs)


def _load(text: str) -> Any:
    """Return a JSON text as objects; one with a repeated name is a `_Repeated`. Raises ValueError and RecursionError."""
    if "\\" not in text:
        try:
            data = _decode(text)
        except (msgspec.MsgspecError, RecursionError):
            return json.loads(text, object_pairs_hook=_make_object)
        # This decoder is fast, but keeps only the last member of a name. No name was repeated if the objects have all that the text has.
        if _count_names(data) == len(_NAME_ENDS.findall(text)):
            return data
    return json.loads(text, object_pairs_hook=_make_object)


_decode = msgspec.json.Decoder().decode
_NAME_ENDS = re.compile(r'"\s*:')


def _count_names(data: Any) -> int:
    """Count the names of members, as deep as answers have them; fewer than there are where they are deeper."""
    answers = data if type(data) is list else [data, *data.values()] if type(data) is dict else []
    count = 0
    for answer in answers:
        if type(answer) is dict:
            count += len(answer)
            if answer is not data:
                for member in answer.values():
                    if type(member) is list:
                        count += sum([len(option) for option in member if type(option) is dict])
                    elif type(member) is dict:
                        count += len(member)
    return count


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
        data = _load(text)
    except (ValueError, RecursionError):
        return dict.fromkeys(scales, Reading(None, Failure.NOT_JSON, None, None))
    # The answers by the name of their question. Those of a list without names are in the order of the questions.
    names = tuple(scales)
    answers: dict[str, list[Any]] = {}
    pairs: Iterable[tuple[Any, Any]] = ()
    if isinstance(data, dict):
        pairs = data.pairs if isinstance(data, _Repeated) else data.items()
    elif isinstance(data, list):
        objects = [answer for answer in data if isinstance(answer, dict)]
        stated = [answer.get("name") for answer in objects]
        if not any(isinstance(name, str) for name in stated):
            stated = list(names) if len(objects) == len(data) == len(names) else []
        pairs = zip(stated, objects, strict=False)
    for name, answer in pairs:
        if isinstance(name, str):
            answers.setdefault(name, []).append(answer)
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
    # The name of each option with what stands as its probability; empty where the answer has none.
    true: Any = next((answer[name] for name in ("noul", "probability") if name in answer), None)
    if _is_probability(true):
        if not {"true", "false"} <= names.keys() and len(scale.classes) == 2:
            false_name, true_name = typed_question(scale, Variant()).names
            stated = [(false_name, 1 - true), (true_name, true)]
        else:
            stated = [("false", 1 - true), ("true", true)]
    else:
        listed = answer.get("probs", answer.get("probabilities"))
        if isinstance(listed, Mapping):
            stated = [(str(name), p) for name, p in listed.items()]
            positions = [name for name, _ in stated]
        else:
            objects = [option for option in listed if isinstance(option, Mapping)] if isinstance(listed, list) else []
            stated = [(str(option.get("label", option.get("value"))), option.get("probability")) for option in objects]
            positions = [str(option.get("value")) for option in objects]
        by_place = _KINDS.get(str(answer.get("type"))) == "levels" and sorted(positions) == sorted(map(str, range(len(scale.classes))))
        if by_place and (isinstance(listed, Mapping) or not {name for name, _ in stated} <= names.keys()):
            stated = [(str(scale.classes[int(position)]), p) for position, (_, p) in zip(positions, stated, strict=True)]
    if not stated:
        return Reading(None, Failure.BAD_PROBABILITIES, raw, None)
    if any(name not in names for name, _ in stated):
        return Reading(None, Failure.OFF_SCALE, raw, None)
    reading = _read([{"probs": _make_object([(names[name], p) for name, p in stated])}], scale, Variant())
    return msgspec.structs.replace(reading, raw_choice=raw) if reading.failure else reading


def _read(answers: Sequence[Any], scale: Scale, variant: Variant) -> Reading:
    if not answers:
        return Reading(None, Failure.MISSING, None, None)
    answer = answers[0]
    if len(answers) > 1 or not isinstance(answer, dict) or isinstance(answer, _Repeated):
        return _make_failed(Failure.BAD_PROBABILITIES, answers)
    stated = answer.get("type")
    if stated == "refusal":
        return _make_failed(Failure.REFUSED, answers)
    try:
        question = TypedQuestion("choice", scale.classes) if answer.get("probs") is not None else typed_question(scale, variant)
    except ValueError:  # only a function of the user answers what no decision model is asked
        return _make_failed(Failure.BAD_PROBABILITIES, answers)
    if stated is not None and _KINDS.get(str(stated)) != question.kind:
        return _make_failed(Failure.MISSING, answers)
    options, names = _read_probabilities(answer, question), question.names
    total = math.fsum(options.values())
    if len(options) != len(names) or abs(total - 1) > SUM_TOLERANCE:
        return _make_failed(Failure.BAD_PROBABILITIES, answers)
    order = names if question.bands or not scale.classes or scale.classes == question.scores else tuple(map(str, scale.classes))
    probs = {name: options[name] / total for name in order}
    largest = max(options.values())
    likeliest = [name for name in order if options[name] == largest]
    if len(likeliest) > 1:
        return _make_failed(Failure.TIED, answers, probs)
    return Reading(question.scores[names.index(likeliest[0])], None, likeliest[0], None, probs=probs)


def _make_failed(failure: Failure, answers: Sequence[Any], probs: dict[str, float] | None = None) -> Reading:
    """Return the reading of an answer without a score, with how it begins."""
    raw = json.dumps(answers[0] if len(answers) == 1 else answers, ensure_ascii=False)
    return Reading(None, failure, raw[:MAX_CHOICE_CHARACTERS], None, probs=probs)


def _read_probabilities(answer: Mapping[str, Any], question: TypedQuestion) -> dict[str, float]:
    """Return the probability of each option by its name; empty if one stands twice, is of no option, or is no probability."""
    names, by_class = question.names, answer.get("probs")
    listed = by_class if by_class is not None else answer.get("probabilities")
    by_key: Mapping[Any, str] = question.name_of
    stated: Iterable[tuple[Any, Any]] = ()
    if type(listed) is dict:
        stated = listed.items()
        if question.kind == "levels" and by_class is None:
            by_key = {str(number): name for number, name in enumerate(names)}
    elif type(listed) is list:
        if any(type(option) is not dict for option in listed):
            return {}
        stated = [(option.get("value"), option.get("probability")) for option in listed]
        if question.kind == "levels":
            by_key = question.name_at
    elif question.kind == "statement" and not isinstance(listed, _Repeated):
        true: Any = answer.get("noul", answer.get("probability"))
        stated = ((names[0], 1 - true), (names[1], true)) if _is_probability(true) else ()
    probabilities: dict[str, float] = {}
    for key, p in stated:
        name = by_key.get(key) if type(key) is str or type(key) is int else None
        if name is None or name in probabilities or not ((type(p) is float or type(p) is int) and 0 <= p <= 1):
            return {}
        probabilities[name] = float(p)
    return probabilities


def _is_probability(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= 1


SUM_TOLERANCE = 0.02 + 1e-9
"""Probabilities of all classes may sum to this much more or less than 1: each is rounded to two decimals; the rest is binary fractions."""
_SCORE = re.compile(r'"score"\s*:\s*"?')
_JSON_PUNCTUATION = " \t\r\n\"':,{}"  # JSON puts these around a score, and a token may include them


def score_probabilities(tokens: Sequence[Token], scales: Mapping[str, Scale], *, joint: bool) -> dict[str, dict[str, float]]:
    """Return the probabilities of each metric's classes, renormalised over the tokens that begin a class.

    The score's first token is searched in the JSON answer. Each of its alternatives, without white space and JSON punctuation, counts for
    the class that it equals or for the only class that begins with it. Tokens of the same class are added. The log-probabilities are those
    before any grammar was applied. The endpoint names only the likeliest tokens; a class without a token has probability 0.

    The result is `{metric: {class: probability}}`; the probabilities of a metric sum to 1. A metric is left out if its scale is an
    interval, if the answer has no score, if no alternative begins a class, or if the answer's own token may begin several classes (the "1"
    of "10"). Tokens of marked reasoning are skipped; a `joint` answer has one member for each metric.

    >>> tokens = [Token('{"score": ', {}), Token("2", {"2": -0.1, "1": -2.4, " ": -9.0}), Token("}", {})]
    >>> probabilities = score_probabilities(tokens, {"m": Scale(kind="ordinal", classes=(0, 1, 2), best=2)}, joint=False)
    >>> {score: round(p, 2) for score, p in probabilities["m"].items()}
    {'0': 0.0, '1': 0.09, '2': 0.91}
    """
    tokens = answer_tokens(tokens)
    text = "".join(token.text for token in tokens)
    probabilities = {}
    for metric, scale in scales.items():
        if joint:
            # The start of a metric's score in a joint answer: the first score after its name and before the name of the next metric.
            name = _compile_member(metric).search(text)
            if name is None:
                start: int | None = None
            else:
                next_names = (_compile_member(other).search(text, name.end()) for other in scales if other != metric)
                end = min((match.start() for match in next_names if match), default=len(text))
                score = _SCORE.search(text, name.end(), end)
                start = score.end() if score else None
        else:
            # The start of the score in an answer about one metric. A justification may quote the form, so the last match counts.
            starts = [match.end() for match in _SCORE.finditer(text)]
            start = starts[-1] if starts else None
        if start is None or scale.kind == "interval":
            continue
        if probs := _read_class_probabilities(_find_token(tokens, start), scale, text[start:]):
            probabilities[metric] = probs
    return probabilities


def expected_score(probs: Mapping[str, float], scale: Scale) -> float | None:
    """Return the mean of the classes, or of bands of a range, weighted by probability; None if the classes are words.

    >>> expected_score({"0": 0.25, "1": 0.25, "2": 0.5}, Scale(kind="ordinal", classes=(0, 1, 2), best=2))
    1.25
    """
    if scale.kind == "interval":
        return sum(float(name) * p for name, p in probs.items())
    if not all(isinstance(score, int) for score in scale.classes):
        return None
    return sum(int(score) * probs.get(str(score), 0.0) for score in scale.classes)


def entropy(probs: Mapping[str, float]) -> float:
    """Return Shannon's entropy in bits.

    >>> entropy({"a": 0.5, "b": 0.5})
    1.0
    """
    return -sum(p * math.log2(p) for p in probs.values() if p > 0) + 0.0


def _compile_member(metric: str) -> re.Pattern[str]:
    return re.compile(rf'"{re.escape(metric)}"\s*:')


def _find_token(tokens: Sequence[Token], position: int) -> Token | None:
    end = 0
    for token in tokens:
        end += len(token.text)
        if end > position:
            return token
    return None


def _read_class_probabilities(token: Token | None, scale: Scale, answer: str) -> dict[str, float]:
    """Return the probabilities of the classes that a token may begin; empty if it begins none. `answer` starts at the score."""
    weights = dict.fromkeys(map(str, scale.classes), 0.0)
    given_class = max((score for score in weights if answer.startswith(score)), key=len, default=None)
    if token is None or (given_class is not None and _find_class(token.text, weights) != given_class):
        return {}
    for text, logprob in token.others.items():
        begun_class = _find_class(text, weights)
        if begun_class is not None:
            weights[begun_class] += math.exp(logprob)
    total = sum(weights.values())
    return {score: weight / total for score, weight in weights.items()} if total > 0 else {}


def _find_class(text: str, classes: Collection[str]) -> str | None:
    """Return the class that a token equals, or else the only class that begins with it."""
    bare_text = text.strip(_JSON_PUNCTUATION)
    if bare_text in classes:
        return bare_text
    candidates = [score for score in classes if bare_text and score.startswith(bare_text)]
    return candidates[0] if len(candidates) == 1 else None
