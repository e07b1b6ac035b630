"""Scores from token probabilities: how likely each class of the scale was where the answer's score stands."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from harness.model import Scale, Token

_SCORE = re.compile(r'"score"\s*:\s*"?')


def score_probabilities(tokens: Sequence[Token], scales: Mapping[str, Scale], *, joint: bool) -> dict[str, dict[str, float]]:
    """The probabilities of each metric's classes, renormalised over those that one token can begin.

    The token that begins the score is looked for in the JSON answer. Its alternatives are read as classes (white space and quotes
    aside); tokens of one class are added. Log-probabilities are those before any grammar was applied, and the endpoint names only the
    likeliest tokens: a class that is not among them has 0.

    Args:
        tokens: of the answer, in order; joined they are its text.
        scales: the scale of each metric that was asked for.
        joint: whether the answer has a member a metric.

    Returns:
        `{metric: {class: probability}}`, each summing to 1; a metric is missing where the score was not found, where no alternative is a
        class, and on interval scales.

    >>> tokens = [Token('{"score": ', {}), Token("2", {"2": -0.1, "1": -2.4, " ": -9.0}), Token("}", {})]
    >>> found = score_probabilities(tokens, {"m": Scale(kind="ordinal", classes=(0, 1, 2), best=2)}, joint=False)
    >>> {score: round(p, 2) for score, p in found["m"].items()}
    {'0': 0.0, '1': 0.09, '2': 0.91}
    """
    text = "".join(token.text for token in tokens)
    found = {}
    for metric, scale in scales.items():
        place = _place(text, metric if joint else None)
        if place is not None and scale.kind != "interval" and (probs := _read(_token_at(tokens, place), scale)):
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


def _place(text: str, metric: str | None) -> int | None:
    """Where the score begins in the answer; in a joint one, the first after the metric's name."""
    begin = 0
    if metric is not None:
        named = re.search(rf'"{re.escape(metric)}"\s*:', text)
        if named is None:
            return None
        begin = named.end()
    places = [found.end() for found in _SCORE.finditer(text, begin)]
    if not places:
        return None
    return places[0] if metric is not None else places[-1]  # a justification may quote the form; the last is the answer's


def _token_at(tokens: Sequence[Token], place: int) -> Token | None:
    end = 0
    for token in tokens:
        end += len(token.text)
        if end > place:
            return token
    return None


def _read(token: Token | None, scale: Scale) -> dict[str, float]:
    """Probabilities of classes that a token may begin; empty where none does."""
    weights = dict.fromkeys(map(str, scale.classes), 0.0)
    for text, logprob in (token.others if token else {}).items():
        said = text.strip(" \t\n\"'")
        if said in weights:
            weights[said] += math.exp(logprob)
    total = sum(weights.values())
    return {score: weight / total for score, weight in weights.items()} if total > 0 else {}
