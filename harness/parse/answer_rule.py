"""Reads answers to prompts of the user's own, by the rule that the prompt file states."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from harness.errors import UsageError
from harness.model import Failure, Scale, Score
from harness.parse.finish_reasons import was_cut, was_filtered
from harness.parse.json_form import JsonPairs, extract_json, to_json_text
from harness.parse.normalisation import answer_of, normalised
from harness.parse.prose import is_refusal
from harness.parse.values import MAX_CHOICE_CHARACTERS, Reading, agreed_reading, clean, failed_reading, read_choice
from harness.parse.vocabulary import Vocabulary
from harness.patterns import SECONDS, SlowPattern, pattern_of

MAX_RULE_CHARACTERS = 2**16  # of a reply that a pattern of the user is tried on
MOST_SLOW_ANSWERS = 20
JSON, REGEX = "json", "regex"


class AnswerRule(msgspec.Struct, frozen=True):
    """The rule that reads an answer: `json:<key>`, keys joined by dots, or `regex:<pattern>` with one group; and scores for words."""

    read: str
    map: dict[str, Score] = {}

    @property
    def kind(self) -> str:
        return self.read.partition(":")[0]

    @property
    def detail(self) -> str:
        return self.read.partition(":")[2]

    def check(self) -> None:
        """Raise ValueError if it cannot be a rule."""
        if self.kind not in (JSON, REGEX) or not self.detail:
            raise ValueError(f"read is '{self.read}'; it should be json:<key>, such as json:score, or regex:<pattern> with one group")
        if self.kind == REGEX:
            try:
                groups = pattern_of(self.detail).groups
            except ValueError as err:
                raise ValueError(f"read is {err}") from None
            if groups != 1:
                raise ValueError(f"the pattern of read has {groups} groups; put exactly the score into one, such as GRADE: ([CPI])")


def read_by_rule(
    text: str, rule: AnswerRule, scale: Scale, vocabulary: Vocabulary, *, finish_reason: str | None = None, refusal: str | None = None
) -> Reading:
    """Read the score of an answer. Marked reasoning before it is not read.

    Several matches must say the same. Without a score the failure is `refused` if the provider or the text says so, `truncated` if the
    answer was cut, `missing` if it is empty, `off_scale` for a score off the scale, `slow_pattern` if the pattern did not end on it, else
    `not_json`. Raises UsageError if the pattern does not end on most answers.

    >>> from harness.parse import bundled_vocabulary
    >>> scale, words = Scale(kind="ordinal", classes=(0, 1, 2), best=2), bundled_vocabulary()
    >>> read_by_rule("Fine. GRADE: C", AnswerRule("regex:GRADE: ([CPI])", {"C": 2, "P": 1, "I": 0}), scale, words).score
    2
    >>> read_by_rule('{"verdict": {"score": 1}}', AnswerRule("json:verdict.score"), scale, words).score
    1
    >>> read_by_rule("GRADE: C, no, GRADE: I", AnswerRule("regex:GRADE: ([CPI])", {"C": 2, "I": 0}), scale, words).failure
    <Failure.NOT_JSON: 'not_json'>
    """
    full_text, text = text, answer_of(text)
    try:
        values = _find_values(text[:MAX_RULE_CHARACTERS], rule)
    except SlowPattern:
        return failed_reading(Failure.SLOW_PATTERN)
    readings = [_read_value(value, rule.map, scale, vocabulary) for value in values]
    reading = agreed_reading(readings) if readings else failed_reading(_name_failure(full_text, text, finish_reason))
    if reading.score is None and (refusal or was_filtered(finish_reason) or is_refusal(text, vocabulary)):
        return failed_reading(Failure.REFUSED, reading.raw_choice)
    return msgspec.structs.replace(reading, justification=clean(text.strip()) or None)


def _find_values(text: str, rule: AnswerRule) -> list[str]:
    """Return the values that a rule finds. Raises SlowPattern if its pattern does not end on this text, UsageError for most texts."""
    if rule.kind == REGEX:
        pattern = pattern_of(rule.detail)
        if pattern.slow >= MOST_SLOW_ANSWERS and 2 * pattern.slow > pattern.tried:
            raise UsageError(
                f"the pattern regex:{pattern.source} needed more than {SECONDS:g} s for each of {pattern.slow} answers of {pattern.tried}; "
                r"write it without a repeat inside a repeat: (?:\w+\s*)+ is slow, [\w\s]+ is not. All answers so far are kept"
            )
        return [match[1] for match in pattern.find_all(text) if match[1] is not None]
    values = (_find_member(pairs, rule.detail.split(".")) for pairs in extract_json(text).objects)
    return [value if isinstance(value, str) else to_json_text(value) for value in values if value is not None]


def _find_member(pairs: object, keys: list[str]) -> object:
    """Return the member of an object at a path of keys; the last one of a repeated key, None if there is none."""
    for key in keys:
        if not isinstance(pairs, JsonPairs):
            return None
        pairs = next((value for name, value in reversed(pairs) if normalised(name) == normalised(key)), None)
    return pairs


def _read_value(value: str, words: Mapping[str, Score], scale: Scale, vocabulary: Vocabulary) -> Reading:
    raw = value.strip()[:MAX_CHOICE_CHARACTERS]
    if words:
        mapped = words[raw] if raw in words else next((score for word, score in words.items() if normalised(word) == normalised(raw)), None)
        on_scale = mapped is not None and scale.holds(mapped)
        return Reading(mapped, None, raw, None) if on_scale else failed_reading(Failure.OFF_SCALE, raw)
    return read_choice(raw, scale, vocabulary)


def _name_failure(full_text: str, answer: str, finish_reason: str | None) -> Failure:
    if full_text.strip() and was_cut(finish_reason):
        return Failure.TRUNCATED
    return Failure.NOT_JSON if answer.strip() else Failure.MISSING
