"""The values of scores that other programs kept: read on a scale, and refused where they cannot be meant."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from harness.errors import UsageError
from harness.exchange.labels.scores import UnreadableScore, read_score
from harness.exchange.labels.table import is_blank
from harness.exchange.scores.external_scores import ExternalScore
from harness.model import Scale, Score
from harness.text import quoted

MOST_REPEATS = 100_000
_LARGEST = 1e15  # of a score: above it, means and variances lose all digits
# What tells texts, or those who scored them, apart: records of one item that differ in it are no repeats.
_TELLING = frozenset(
    ("annotator", "annotatorid", "coder", "evaluator", "generator", "grader", "judge", "judgemodel", "model", "modelid", "modelname")
) | frozenset(("rater", "raterid", "reviewer", "system", "systemid", "turn", "worker", "workerid"))


def read_value(value: Any, scale: Scale, categories: Mapping[str, Score]) -> Score:
    """Return a program's value as a point of the scale; true is 1 and false is 0 where the scale has no other ends.

    Raises UnreadableScore with the reason.

    >>> read_value(True, Scale(kind="ordinal", classes=(0, 1)), {}), read_value(-0.0, Scale(kind="interval", min=0, max=1), {})
    (1, 0.0)
    """
    if isinstance(value, bool) and not categories:
        if set(scale.classes) == {0, 1} or (scale.min, scale.max) == (0, 1):
            return int(value)
        raise UnreadableScore(f"the truth value {value} where a score should be; say what it means with --map {value}=SCORE")
    try:
        score = read_score(value, scale, categories)
    except UnreadableScore as error:
        raise UnreadableScore(re.sub("--category ('?)METRIC:", r"--map \1", str(error))) from None
    if isinstance(score, str):
        return score
    if abs(score) > _LARGEST:
        raise UnreadableScore(f"a score of {str(score)[:40]} is too large; scores reach from -{_LARGEST:g} to {_LARGEST:g}")
    return score + 0 if isinstance(score, int) else score + 0.0  # -0.0 becomes 0.0


def repeat_number(value: Any) -> int:
    """Return the number of a repeat. Raises UnreadableScore for what is no whole number from 0 on."""
    number = finite_number(value, "repeat")
    if number is None or not number.is_integer() or not 0 <= number < MOST_REPEATS:
        raise UnreadableScore(f"repeat '{str(value)[:40]}' is not a whole number from 0 to {MOST_REPEATS - 1:,}")
    return int(number)


def finite_number(value: Any, what: str) -> float | None:
    """Return a number; None for an empty cell. Raises UnreadableScore for another value."""
    if is_blank(value):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, bool) or not math.isfinite(number):
        raise UnreadableScore(f"{what} '{str(value)[:40]}' is not a number")
    return number


def refuse_records_of_several(scores: Iterable[ExternalScore]) -> None:
    """Raise UsageError if records that would count as repeats of one question differ in who wrote the text, or who scored it."""
    first_of: dict[tuple[Any, ...], ExternalScore] = {}
    for score in scores:
        if score.unlabelled or score.human or not is_blank(score.repeat):
            continue
        first = first_of.setdefault((str(score.item), score.who, score.metric, score.variant, str(score.temperature)), score)
        shared = [name for name in score.fields if name in first.fields and name.rpartition(".")[2].replace("_", "").casefold() in _TELLING]
        differing = [name for name in shared if score.fields[name] != first.fields[name]]
        if differing:
            raise UsageError(
                f"{first.place} and {score.place} would be repeats of one question: both are of item '{score.item}', '{score.metric}' and "
                f"judge {score.who}, but they differ in {quoted(differing)}. Where these are other texts, make ids of several fields "
                f"(--item-from ID,{differing[0]}); where they are people, name them in --map FILE.toml ([records] annotator = "
                f'["{differing[0]}"]); where they number the repeats, name them there too (repeat = "{differing[0]}")'
            )
