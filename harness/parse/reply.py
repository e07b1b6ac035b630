"""Reads one reply about one or several metrics: its scores, or the name of its failure; for a prompt of the user's own by the rule that its
file states.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from harness.errors import UsageError
from harness.model import SEVERITIES, ErrorSpan, Failure, Scale, Score
from harness.parse.choice_on_scale import (
    MAX_CHOICE_CHARACTERS,
    Reading,
    agreed_reading,
    clean,
    failed_reading,
    read_bare_choice,
    read_choice,
    read_described_choice,
    with_stars_as_numbers,
)
from harness.parse.finish_reasons import was_cut, was_filtered
from harness.parse.json_repair import ExtractedJson, JsonPairs, Number, extract_json, to_json_text
from harness.parse.normalisation import folded, normalised
from harness.parse.numbers import numbers_in
from harness.parse.prose import find_announced_choices, read_announced_choice, read_choice_beside_scale, without_marked_choices
from harness.parse.reasoning import answer_of
from harness.parse.refusals import is_refusal
from harness.parse.vocabulary import Vocabulary, bundled_vocabulary
from harness.timed_patterns import SECONDS, SlowPattern, pattern_of

MAX_READ = 200  # no text has so many errors; further ones are not read


def read_error_spans(value: object) -> tuple[ErrorSpan, ...]:
    """Return the errors of an answer: a list of `{"text": quotation, "severity": "minor" or "major"}`. An empty quotation is an omission.

    What cannot be read is kept without a severity, so that it can be counted; nothing is guessed.

    >>> [(each.text, each.severity) for each in read_error_spans([JsonPairs([("text", "cat"), ("severity", "Major")]), "dog"])]
    [('cat', 'major'), ('"dog"', None)]
    """
    if value is None:
        return ()
    entries = value if isinstance(value, list) and not isinstance(value, JsonPairs) else [value]
    return tuple(_read_error(entry) for entry in entries[:MAX_READ])


def _read_error(entry: object) -> ErrorSpan:
    keys = {key.strip().casefold(): value for key, value in entry} if isinstance(entry, JsonPairs) else {}
    text, severity = keys.get("text"), keys.get("severity")
    severity_name = severity.strip().casefold() if isinstance(severity, str) else ""
    if not isinstance(text, str) or severity_name not in SEVERITIES:
        return ErrorSpan(text=clean(text if isinstance(text, str) else to_json_text(entry)))
    return ErrorSpan(severity=severity_name, text=clean(text), missing=not text.strip())


def place(spans: Sequence[ErrorSpan], text: str) -> tuple[ErrorSpan, ...]:
    """Return the errors with the places of their quotations in `text` by exact search; white space around a quotation does not count.

    A quotation that is given several times takes its next occurrence each time, and its last one once there are no more. Errors that have
    a place already keep it; omissions, and quotations that are not in the text, have none.

    >>> [(each.start, each.end) for each in place([ErrorSpan("minor", text=word) for word in ("an", "an", "in")], "ban an")]
    [(1, 3), (4, 6), (None, None)]
    """
    used: dict[str, int] = {}
    return tuple(span if span.start is not None or not span.text.strip() else _locate_span(span, text, used) for span in spans)


def _locate_span(span: ErrorSpan, text: str, used: dict[str, int]) -> ErrorSpan:
    quotation = span.text if span.text in text else span.text.strip()
    start = text.find(quotation, used.get(quotation, -1) + 1)
    if start < 0:
        start = used.get(quotation, -1)
    if start < 0:
        return span
    used[quotation] = start
    return msgspec.structs.replace(span, start=start, end=start + len(quotation))


def count_spans(spans: Sequence[ErrorSpan]) -> dict[str, int]:
    """The number of errors `marked`, and of these: `unplaced` quotations that are not in the text, and `unread` entries.

    >>> count_spans([ErrorSpan("minor", 0, 3, "cat"), ErrorSpan("major", text="dog"), ErrorSpan(text="?")])
    {'marked': 3, 'unplaced': 1, 'unread': 1}
    """
    read = [span for span in spans if span.severity is not None]
    return {
        "marked": len(spans),
        "unplaced": sum(span.start is None and not span.missing for span in read),
        "unread": len(spans) - len(read),
    }


def decode_spans(text: Any) -> tuple[ErrorSpan, ...]:
    """Return errors from JSON text; further keys are ignored. Raises msgspec.MsgspecError for a text that is not a list of errors."""
    return msgspec.json.decode(text, type=tuple[ErrorSpan, ...])


# Most replies are exactly the requested object with a plain number. This shortcut reads them as the full parser would.
_PLAIN_OBJECT = re.compile(
    r'\s*\{\s*(?:"justification":\s*(?P<before>"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt])*")\s*,\s*)?"score":\s*(?P<score>0|[1-9]\d?)'
    r'(?:\s*,\s*"justification":\s*(?P<after>"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt])*"))?\s*\}\s*'
)
MAX_REPLY_CHARACTERS = 2**18  # no judge may write that much, so a longer reply is not read at all
_OWN_KEYS = ("score", "justification", "errors")


def read_reply(
    text: str,
    scales: Mapping[str, Scale],
    *,
    joint: bool,
    finish_reason: str | None = None,
    refusal: str | None = None,
    vocabulary: Vocabulary | None = None,
) -> dict[str, Reading]:
    """Read what a reply says about each metric: a score, or a failure with a name. Marked reasoning before the answer is not read.

    Answers to a single call are `{"score": 2, "justification": "..."}`, such an object under the name of the metric, a bare score, or
    prose that announces exactly one score. The answer to a joint call is an object with one member for each metric: such an object or
    the bare score. A readable score is never a failure. Otherwise the failure is the first that applies:

    - REFUSED: no metric has a score, and the provider reports a refusal (`refusal`, or a filter as the finish reason) or the
      text begins like a refusal in any of the languages;
    - OFF_SCALE, NOT_JSON, MISSING: there is a choice, but it is off the scale; there are two different choices; the choice is null;
    - TRUNCATED: there is no choice, and the text was cut (a limit of length as the finish reason, or its JSON breaks off);
    - MISSING: the text is empty, or its JSON has nothing about this metric;
    - NOT_JSON: anything else.

    The time is linear in the length of the text. `finish_reason` and `refusal` are what the OpenAI interface reports; `vocabulary` has the
    words that announce scores and begin refusals (default: that of the bundled packs). Raises ValueError for a single call with no metric
    or several.

    >>> scale = Scale(kind="ordinal", classes=(0, 1, 2), best=2)
    >>> read_reply('{"justification": "Fluent.", "score": 2}', {"fluency": scale}, joint=False)
    {'fluency': Reading(score=2, failure=None, raw_choice='2', justification='Fluent.')}
    >>> both = read_reply('{"fluency": {"score": "2"}, "task": 3}', {"fluency": scale, "task": scale}, joint=True)
    >>> both["fluency"].score, both["task"].failure
    (2, <Failure.OFF_SCALE: 'off_scale'>)
    """
    if not joint and len(scales) != 1:
        raise ValueError(f"a single call is about exactly one metric; this one has {len(scales)}: {', '.join(scales)}")
    if not joint and (plain := _read_plain_object(text, scales)):
        return plain
    text = _without_quotation(answer_of(text))
    vocabulary = bundled_vocabulary() if vocabulary is None else vocabulary
    extracted = extract_json(text) if len(text) <= MAX_REPLY_CHARACTERS else ExtractedJson((), "", malformed=True)
    cut = was_cut(finish_reason)
    members = list(_find_members(extracted, scales, vocabulary, joint=joint))
    readings: dict[str, Reading] = {}
    for metric, scale in scales.items():
        reading = _join_readings([_read_member(value, metric, scale, vocabulary) for name, value in members if name == metric])
        if reading.raw_choice is None:
            metric_objects = [value for name, value in members if name == metric and isinstance(value, JsonPairs)]
            reading = _join_readings(
                [reading, *(_read_otherwise(value, metric, scale, vocabulary, cut=extracted.cut) for value in metric_objects)]
            )
        if not joint:
            reading = _add_prose(reading, extracted, scale, vocabulary, cut=cut)
        if reading.raw_choice is None:
            reading = msgspec.structs.replace(reading, failure=_name_failure(text, extracted, cut=cut))
        readings[metric] = reading
    unscored = all(reading.score is None for reading in readings.values())
    if unscored and (refusal or was_filtered(finish_reason) or is_refusal(text, vocabulary)):
        return {metric: msgspec.structs.replace(r, failure=Failure.REFUSED) for metric, r in readings.items()}
    return readings


def _without_quotation(text: str) -> str:
    """Return the object that a reply holds as one JSON string: some servers encode an answer twice. Any other reply as it is."""
    if not re.match(r'\s*"\s*\{', text) or len(text) > MAX_REPLY_CHARACTERS:
        return text
    try:
        return msgspec.json.decode(text, type=str)
    except msgspec.DecodeError:
        return text


def _read_plain_object(text: str, scales: Mapping[str, Scale]) -> dict[str, Reading] | None:
    """Read a reply that is exactly the requested object; return None for any other reply."""
    match = _PLAIN_OBJECT.fullmatch(text) if len(text) <= MAX_REPLY_CHARACTERS else None
    [(metric, scale)] = scales.items()
    if match is None or int(match["score"]) not in scale.classes or (match["before"] and match["after"]):
        return None
    justification = match["before"] or match["after"]
    return {
        metric: Reading(int(match["score"]), None, match["score"], clean(msgspec.json.decode(justification)) if justification else None)
    }


def _find_members(
    extracted: ExtractedJson, metrics: Collection[str], vocabulary: Vocabulary, *, joint: bool
) -> Iterator[tuple[str, object]]:
    """Yield the members that carry the name of a metric; in a single call also each object as a whole."""
    count = Counter(map(_fold, metrics))  # metrics with equal folded names are not found by them
    by_name = {_fold(metric): metric for metric in metrics if count[_fold(metric)] == 1}
    for i, pairs in enumerate(extracted.objects):
        complete = not (extracted.cut and i == len(extracted.objects) - 1)
        body = _unwrap(pairs, by_name, vocabulary) if complete else pairs
        if not joint:
            yield from ((metric, body) for metric in metrics)
        for key, value in body:
            metric = key if key in metrics else by_name.get(_fold(key))
            if metric is not None and (joint or _fold(key) not in _OWN_KEYS):
                yield metric, value


def _unwrap(pairs: JsonPairs, by_name: Container[str], vocabulary: Vocabulary) -> JsonPairs:
    """Return the object inside wrapper objects.

    A wrapper has a single key, which is neither the name of a metric nor one of ours, and names no other number.

    >>> _unwrap(JsonPairs([("result", JsonPairs([("score", "2")]))]), {}, bundled_vocabulary())
    [('score', '2')]
    """
    while len(pairs) == 1:
        [(key, value)] = pairs
        if not isinstance(value, JsonPairs) or _fold(key) in by_name or _fold(key) in _OWN_KEYS or _holds_another_number(key, vocabulary):
            break
        pairs = value
    return pairs


def _read_member(value: object, metric: str, scale: Scale, vocabulary: Vocabulary) -> Reading:
    """Read `{"justification": ..., "score": ...}`, perhaps with `errors`, or a bare score. A repeated key must have the same value."""
    if not isinstance(value, JsonPairs):
        return _read_value(value, metric, scale, vocabulary)
    justifications = {
        None if v is None else clean(v if isinstance(v, str) else to_json_text(v)) for key, v in value if _fold(key) == "justification"
    }
    spans = next((read_error_spans(v) for key, v in value if _fold(key) == "errors"), None)
    reading = _join_readings([_read_value(v, metric, scale, vocabulary) for key, v in value if _fold(key) == "score"])
    if len(justifications) > 1:
        return reading if reading.raw_choice is None else failed_reading(Failure.NOT_JSON, reading.raw_choice)
    return msgspec.structs.replace(reading, justification=next(iter(justifications), None), spans=spans)


def _read_otherwise(pairs: JsonPairs, metric: str, scale: Scale, vocabulary: Vocabulary, *, cut: bool) -> Reading:
    """Read an object that has no member `score`: of other members, the one that can be the score, by its key or because it is the only one.

    - A member whose key names another number does not count: "confidence", "text_id", "max_score", "errors".
    - A member whose key announces a score ("rating", or its word in another language) counts; further numbers beside it do not.
    - Else the only member that is a class of the scale counts, or a number under a usual key ("value") or a part of the metric's name,
      unless the object is cut. So does a number beside a text, both under keys of a language without a lexicon.
    - Else the only object inside it is read, as in an echoed schema or a call of a function; it may be written as a string. The key
      of such an object does not name another number either.

    >>> scale, words = Scale(kind="ordinal", classes=(0, 1, 2)), bundled_vocabulary()
    >>> objects = extract_json('{"x": 1} {"rating": 1, "n": 2} {"a": 1, "b": 2} {"name": "f", "arguments": {"score": 1}} {"value": 1}')
    >>> [_read_otherwise(pairs, "fluency", scale, words, cut=False).score for pairs in objects.objects]
    [None, 1, None, 1, 1]
    """
    nothing = failed_reading(Failure.MISSING)
    if any(_fold(key) == "score" for key, _ in pairs):
        return nothing
    choices = {
        key: _read_value(value, metric, scale, vocabulary)
        for key, value in pairs
        if (isinstance(value, Number) or _is_choice(value, scale, vocabulary)) and not vocabulary.names_another_number(_split_key(key))
    }
    announced = [reading for key, reading in choices.items() if vocabulary.announces(_fold(key).replace("_", " "))]
    [(only_key, only)] = choices.items() if len(choices) == 1 else [("", nothing)]
    # A number under another key may be of anything: {"sentence": 2}. A class is one of this scale. In a language without a lexicon the keys
    # of the answer and of its reason are both unknown.
    reasons = [key for key, value in pairs if isinstance(value, str) and key not in choices]
    unknown = (
        len(reasons) == 1
        and len(pairs) == 2
        and not (vocabulary.holds_a_reason(_split_key(reasons[0])) or vocabulary.announces(_fold(reasons[0]).replace("_", " ")))
    )
    is_answer = isinstance(only.score, str) or vocabulary.holds_an_answer(_split_key(only_key)) or _is_part_of_name(only_key, metric)
    if announced or (len(choices) == 1 and (is_answer or unknown) and not cut):
        justification = next((clean(v) for key, v in pairs if isinstance(v, str) and key not in choices), None)
        return msgspec.structs.replace(_join_readings(announced or list(choices.values())), justification=justification)
    inner = [
        nested
        for key, value in pairs
        if _fold(key) not in _OWN_KEYS and not _holds_another_number(key, vocabulary) and (nested := _find_object(value)) is not None
    ]
    if choices or cut or len(inner) != 1:
        return nothing
    reading = _read_member(inner[0], metric, scale, vocabulary)
    return _read_otherwise(inner[0], metric, scale, vocabulary, cut=cut) if reading.raw_choice is None else reading


def _is_part_of_name(key: str, metric: str) -> bool:
    """Return True if all words of a key stand in the name of the metric: "acceptability"."""
    words = set(folded(_split_key(key)).split())
    return bool(words) and words <= set(folded(_split_key(metric)).split())


def _holds_another_number(key: str, vocabulary: Vocabulary) -> bool:
    """Return True if its object is about a number that is no score, such as "confidence"; "item" and "item_1" are what is scored."""
    words = _split_key(key)
    return not key[-1:].isdecimal() and vocabulary.names_another_number(words) and not vocabulary.names_a_text(words)


def _split_key(key: str) -> str:
    """Return a key as words: "text_id" and "textId" are "text id"."""
    return re.sub(r"(?<=[^\W\d_A-Z])(?=[A-Z])", " ", key).replace("_", " ").replace("-", " ")


def _is_choice(value: object, scale: Scale, vocabulary: Vocabulary) -> bool:
    return isinstance(value, str) and (reading := read_bare_choice(value, scale, vocabulary)) is not None and reading.score is not None


def _find_object(value: object) -> JsonPairs | None:
    """Return the object that a member is: itself, in a list of one, or as the text of one."""
    if isinstance(value, list) and not isinstance(value, JsonPairs) and len(value) == 1:
        [value] = value
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        extracted = extract_json(value)
        value = extracted.objects[0] if len(extracted.objects) == 1 and not extracted.cut else None
    return value if isinstance(value, JsonPairs) else None


def _read_value(value: object, metric: str, scale: Scale, vocabulary: Vocabulary) -> Reading:
    """Read a JSON value as a score: a number, or a string that holds only a score.

    >>> scale, words = Scale(kind="ordinal", classes=(0, 1, 2)), bundled_vocabulary()
    >>> [str(_read_value(value, "m", scale, words).failure) for value in (Number("2"), True, None, "1 or 2", [Number("2")])]
    ['None', 'off_scale', 'missing', 'not_json', 'off_scale']
    """
    if value is None:
        return failed_reading(Failure.MISSING, "null")
    if isinstance(value, Number):
        return read_choice(value, scale, vocabulary, number_first=True)
    if isinstance(value, JsonPairs):  # {"score": {"value": 1}}
        inner = _read_member(value, metric, scale, vocabulary)
        inner = _read_otherwise(value, metric, scale, vocabulary, cut=False) if inner.raw_choice is None else inner
        return failed_reading(Failure.OFF_SCALE, to_json_text(value)) if inner.raw_choice is None else inner
    if not isinstance(value, str):
        return failed_reading(Failure.OFF_SCALE, to_json_text(value))
    reading = read_bare_choice(value, scale, vocabulary)
    reading = reading or read_announced_choice(with_stars_as_numbers(normalised(value), scale), scale, vocabulary)
    if reading is not None:
        return reading
    if not normalised(value).strip():
        return failed_reading(Failure.MISSING, value)
    if (described := read_described_choice(value, scale, vocabulary)) is not None:
        return described
    several = len(numbers_in(value[:MAX_CHOICE_CHARACTERS])) > 1
    return failed_reading(Failure.NOT_JSON if several else Failure.OFF_SCALE, value)


def _join_readings(readings: Sequence[Reading]) -> Reading:
    """Return the reading on which all readings with a choice agree. Without a choice: the first reading, or MISSING."""
    with_choice = [reading for reading in readings if reading.raw_choice is not None]
    if with_choice:
        return agreed_reading(with_choice)
    return readings[0] if readings else failed_reading(Failure.MISSING)


def _add_prose(reading: Reading, extracted: ExtractedJson, scale: Scale, vocabulary: Vocabulary, *, cut: bool) -> Reading:
    """Combine the reading of a single call's JSON with the prose of the reply.

    If JSON holds a score, prose can only contradict it, and only plainly ("Score: 1"). Without JSON, prose may hold the score. The last
    line of a cut text is unfinished and is not read.
    """
    if reading.score is not None:
        plain = [
            choice
            for choice in find_announced_choices(extracted.prose, scale, vocabulary)
            if choice.firm and choice.alone and not choice.other
        ]
        return agreed_reading([reading, *(read_choice(choice.raw, scale, vocabulary) for choice in plain)])
    if extracted.objects or extracted.malformed:
        return reading
    text = with_stars_as_numbers(normalised(extracted.prose.rpartition("\n")[0] if cut else extracted.prose), scale)
    bare = None if cut or _blank(text) else read_bare_choice(text, scale, vocabulary)
    if bare is None and "{" not in without_marked_choices(text):
        bare = read_announced_choice(text, scale, vocabulary) or read_choice_beside_scale(text, scale, vocabulary)
    return bare or reading


def _name_failure(text: str, extracted: ExtractedJson, *, cut: bool) -> Failure:
    if cut or extracted.cut:
        return Failure.TRUNCATED
    if extracted.objects or _blank(text):
        return Failure.MISSING
    return Failure.NOT_JSON


def _blank(text: str) -> bool:
    return not normalised(text).strip(" \t\r\n")


def _fold(key: str) -> str:
    """Return a key in lower case, with underscores for spaces and hyphens.

    >>> _fold("Linguistic Acceptability")
    'linguistic_acceptability'
    """
    return re.sub(r"[\s_-]+", "_", folded(key).strip())


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
    without_score = Failure.NOT_JSON if text.strip() else Failure.MISSING
    if full_text.strip() and was_cut(finish_reason):
        without_score = Failure.TRUNCATED
    readings = [_read_mapped_value(value, rule.map, scale, vocabulary) for value in values]
    reading = agreed_reading(readings) if readings else failed_reading(without_score)
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


def _read_mapped_value(value: str, words: Mapping[str, Score], scale: Scale, vocabulary: Vocabulary) -> Reading:
    raw = value.strip()[:MAX_CHOICE_CHARACTERS]
    if words:
        mapped = words[raw] if raw in words else next((score for word, score in words.items() if normalised(word) == normalised(raw)), None)
        on_scale = mapped is not None and scale.holds(mapped)
        return Reading(mapped, None, raw, None) if on_scale else failed_reading(Failure.OFF_SCALE, raw)
    return read_choice(raw, scale, vocabulary)
