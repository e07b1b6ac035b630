"""Scores from token probabilities: the probability of each class of the scale at the position of the score."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence

from harness.model import Scale, Token
from harness.parse.reasoning import answer_tokens

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
