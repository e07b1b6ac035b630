"""Scores from token probabilities: how likely each class of the scale was where the answer's score stands."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from harness.model import Scale, Token

_SCORE = re.compile(r'"score"\s*:\s*"?')
_AROUND = " \t\r\n\"':,{}"  # what JSON puts around a score, and a tokenizer may into one token with it


def score_probabilities(tokens: Sequence[Token], scales: Mapping[str, Scale], *, joint: bool) -> dict[str, dict[str, float]]:
    """The probabilities of each metric's classes, renormalised over the tokens that begin one.

    The token that begins the score is looked for in the JSON answer. Its alternatives are read as classes (white space and JSON's own
    characters aside): those that are one, and those with which just one begins; tokens of one class are added. Log-probabilities are
    those before any grammar was applied, and the endpoint names only the likeliest tokens: a class that is not among them has 0.

    Args:
        tokens: of the answer, in order; joined they are its text.
        scales: the scale of each metric that was asked for.
        joint: whether the answer has a member a metric.

    Returns:
        `{metric: {class: probability}}`, each summing to 1; a metric is missing where the score was not found, where no alternative
        begins a class, where the answer's own token leaves open which class it begins (the "1" of "10"), and on interval scales.

    >>> tokens = [Token('{"score": ', {}), Token("2", {"2": -0.1, "1": -2.4, " ": -9.0}), Token("}", {})]
    >>> found = score_probabilities(tokens, {"m": Scale(kind="ordinal", classes=(0, 1, 2), best=2)}, joint=False)
    >>> {score: round(p, 2) for score, p in found["m"].items()}
    {'0': 0.0, '1': 0.09, '2': 0.91}
    """
    text = "".join(token.text for token in tokens)
    found = {}
    for metric, scale in scales.items():
        place = _place(text, metric, scales) if joint else _last_place(text)
        if place is not None and scale.kind != "interval" and (probs := _read(_token_at(tokens, place), scale, text[place:])):
            found[metric] = probs
    return found


def expected_score(probs: Mapping[str, float], scale: Scale) -> float | None:
    """Mean of the classes' numbers; None where classes are words.

    >>> expected_score({"0": 0.25, "1": 0.25, "2": 0.5}, Scale(kind="ordinal", classes=(0, 1, 2), best=2))
    1.25
    """
    if not all(isinstance(score, int) for score in scale.classes):
        return None
    return sum(int(score) * probs.get(str(score), 0.0) for score in scale.classes)


def entropy(probs: Mapping[str, float]) -> float:
    """Shannon's entropy in bits.

    >>> entropy({"a": 0.5, "b": 0.5})
    1.0
    """
    return -sum(p * math.log2(p) for p in probs.values() if p > 0) + 0.0


def _last_place(text: str) -> int | None:
    """Where the score begins in an answer about one metric. A justification may quote the form; the last is the answer's."""
    places = [found.end() for found in _SCORE.finditer(text)]
    return places[-1] if places else None


def _place(text: str, metric: str, metrics: Iterable[str]) -> int | None:
    """Where the score begins in a joint answer: the first after the metric's name, before the next metric's."""
    named = _member(metric).search(text)
    if named is None:
        return None
    others = (_member(other).search(text, named.end()) for other in metrics if other != metric)
    end = min((other.start() for other in others if other), default=len(text))
    found = _SCORE.search(text, named.end(), end)
    return found.end() if found else None


def _member(metric: str) -> re.Pattern[str]:
    return re.compile(rf'"{re.escape(metric)}"\s*:')


def _token_at(tokens: Sequence[Token], place: int) -> Token | None:
    end = 0
    for token in tokens:
        end += len(token.text)
        if end > place:
            return token
    return None


def _read(token: Token | None, scale: Scale, answer: str) -> dict[str, float]:
    """Probabilities of classes that a token may begin; empty where none does. `answer` goes on from the place of the score."""
    weights = dict.fromkeys(map(str, scale.classes), 0.0)
    said = _said(answer, weights)
    if token is None or (said is not None and _begun(token.text, weights) != said):
        return {}
    for text, logprob in token.others.items():
        begun = _begun(text, weights)
        if begun is not None:
            weights[begun] += math.exp(logprob)
    total = sum(weights.values())
    return {score: weight / total for score, weight in weights.items()} if total > 0 else {}


def _begun(text: str, classes: Collection[str]) -> str | None:
    """The class that a token is, or the only one that it begins."""
    said = text.strip(_AROUND)
    if said in classes:
        return said
    begun = [score for score in classes if said and score.startswith(said)]
    return begun[0] if len(begun) == 1 else None


def _said(answer: str, classes: Collection[str]) -> str | None:
    """The class that an answer says; None for what is off the scale."""
    return max((score for score in classes if answer.startswith(score)), key=len, default=None)
