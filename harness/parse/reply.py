"""One reply, several metrics: who is asked what, which of the answers count, and which failure an unreadable one is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence

import msgspec

from harness.model import Failure, Scale
from harness.parse.json_form import Found, Number, Pairs, find_objects, json_text
from harness.parse.prose import announced, is_refusal, read_announced
from harness.parse.values import LONGEST_CHOICE, Reading, agree, clean, failed, numbers_in, read_bare, read_choice

# A reply that is nothing but the object asked for, with a plain number: what most are. It says the same as by the long way.
_PLAIN = re.compile(
    r'\s*\{\s*(?:"justification":\s*(?P<before>"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt])*")\s*,\s*)?"score":\s*(?P<score>0|[1-9]\d?)'
    r'(?:\s*,\s*"justification":\s*(?P<after>"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt])*"))?\s*\}\s*'
)
LONGEST = 2**18  # characters; no judge is given room for that many, so what is longer is not read at all
_OWN_KEYS = ("score", "justification")


def read_reply(
    text: str,
    scales: Mapping[str, Scale],
    *,
    joint: bool,
    finish_reason: str | None = None,
    refusal: str | None = None,
) -> dict[str, Reading]:
    """Read what a reply says about each metric: a score, or a failure with a name.

    A single call is answered by `{"score": 2, "justification": "..."}`, by an object under the metric's own name, by a
    bare score or by prose that announces exactly one; a joint call by an object with one member a metric, which is
    such an object or the bare score. A readable score is never a failure. Otherwise, the first that applies:

    - REFUSED: no metric has a score, and the provider says so (`refusal`, or the finish reason `content_filter`) or the
      text opens like a refusal (prose.REFUSALS);
    - OFF_SCALE, NOT_JSON, MISSING: a choice was seen, but it is off the scale; there are two that differ; it is null;
    - TRUNCATED: no choice was seen and the text was cut (the finish reason `length`, or its JSON breaks off);
    - MISSING: the text is empty, or its JSON says nothing of this metric;
    - NOT_JSON: anything else.

    Args:
        text: the reply, verbatim. Any text at all; the time taken is linear in its length.
        scales: the scale of each metric that was asked for; exactly one in a single call.
        joint: whether one call asked for all metrics.
        finish_reason: why the judge stopped, in the words of the OpenAI interface.
        refusal: the provider's refusal message, if any.

    Returns:
        One reading for each metric of `scales`, in their order.

    Raises:
        ValueError: for a single call with other than one metric.

    >>> scale = Scale(kind="ordinal", classes=(0, 1, 2), best=2)
    >>> read_reply('{"justification": "Fluent.", "score": 2}', {"fluency": scale}, joint=False)
    {'fluency': Reading(score=2, failure=None, raw_choice='2', justification='Fluent.')}
    >>> both = read_reply('{"fluency": {"score": "2"}, "task": 3}', {"fluency": scale, "task": scale}, joint=True)
    >>> both["fluency"].score, both["task"].failure
    (2, <Failure.OFF_SCALE: 'off_scale'>)
    """
    if not joint and len(scales) != 1:
        raise ValueError(f"a single call asks for exactly one metric, this one for {len(scales)}: {', '.join(scales)}")
    if not joint and (plain := _plain(text, scales)):
        return plain
    found = find_objects(text) if len(text) <= LONGEST else Found((), "", malformed=True)
    cut = finish_reason == "length"
    members = list(_members(found, scales, joint=joint))
    readings: dict[str, Reading] = {}
    for metric, scale in scales.items():
        reading = _settle([_read_member(value, scale) for name, value in members if name == metric])
        if not joint:
            reading = _with_prose(reading, found, scale, cut=cut)
        if reading.raw_choice is None:
            reading = msgspec.structs.replace(reading, failure=_why_nothing(text, found, cut=cut))
        readings[metric] = reading
    if all(reading.score is None for reading in readings.values()) and (refusal or finish_reason == "content_filter" or is_refusal(text)):
        return {metric: msgspec.structs.replace(r, failure=Failure.REFUSED) for metric, r in readings.items()}
    return readings


def _plain(text: str, scales: Mapping[str, Scale]) -> dict[str, Reading] | None:
    """The reading of a reply that is exactly the object asked for; None for any other."""
    found = _PLAIN.fullmatch(text) if len(text) <= LONGEST else None
    [(metric, scale)] = scales.items()
    if found is None or int(found["score"]) not in scale.classes or (found["before"] and found["after"]):
        return None
    said = found["before"] or found["after"]
    return {metric: Reading(int(found["score"]), None, found["score"], clean(msgspec.json.decode(said)) if said else None)}


def _members(found: Found, metrics: Collection[str], *, joint: bool) -> Iterator[tuple[str, object]]:
    """What the objects hold under each metric's name; in a single call also the object that holds the score itself."""
    by_name = _by_folded_name(metrics)
    for i, pairs in enumerate(found.objects):
        whole = not (found.cut and i == len(found.objects) - 1)
        body = _unwrap(pairs, by_name) if whole else pairs
        if not joint:
            yield from ((metric, body) for metric in metrics)
        for key, value in body:
            metric = key if key in metrics else by_name.get(_fold(key))
            if metric is not None and (joint or _fold(key) not in _OWN_KEYS):
                yield metric, value


def _unwrap(pairs: Pairs, by_name: Container[str]) -> Pairs:
    """The object inside wrappers of a single key that is neither a metric's name nor one of ours.

    >>> _unwrap(Pairs([("result", Pairs([("score", "2")]))]), {})
    [('score', '2')]
    """
    while len(pairs) == 1:
        [(key, value)] = pairs
        if not isinstance(value, Pairs) or _fold(key) in by_name or _fold(key) in _OWN_KEYS:
            break
        pairs = value
    return pairs


def _read_member(value: object, scale: Scale) -> Reading:
    """Read `{"justification": ..., "score": ...}` or a bare score. A key that is there twice must say the same."""
    if not isinstance(value, Pairs):
        return _read_value(value, scale)
    justifications = {_justification(v) for key, v in value if _fold(key) == "justification"}
    reading = _settle([_read_value(v, scale) for key, v in value if _fold(key) == "score"])
    if len(justifications) > 1:
        return reading if reading.raw_choice is None else failed(Failure.NOT_JSON, reading.raw_choice)
    return msgspec.structs.replace(reading, justification=next(iter(justifications), None))


def _read_value(value: object, scale: Scale) -> Reading:
    """Read a JSON value as a score: a number, or a string that holds nothing but one.

    >>> scale = Scale(kind="ordinal", classes=(0, 1, 2))
    >>> [str(_read_value(value, scale).failure) for value in (Number("2"), True, None, "1 or 2", [Number("2")])]
    ['None', 'off_scale', 'missing', 'not_json', 'off_scale']
    """
    if value is None:
        return failed(Failure.MISSING, "null")
    if isinstance(value, Number):
        return read_choice(value, scale, number_first=True)
    if not isinstance(value, str):
        return failed(Failure.OFF_SCALE, json_text(value))
    reading = read_bare(value, scale) or read_announced(value, scale)
    if reading is not None:
        return reading
    if not value.strip():
        return failed(Failure.MISSING, value)
    several = len(numbers_in(value[:LONGEST_CHOICE])) > 1
    return failed(Failure.NOT_JSON if several else Failure.OFF_SCALE, value)


def _justification(value: object) -> str | None:
    if value is None:
        return None
    return clean(value if isinstance(value, str) else json_text(value))


def _settle(readings: Sequence[Reading]) -> Reading:
    """The one reading among those that saw a choice; without any, the first, or an empty one."""
    seen = [reading for reading in readings if reading.raw_choice is not None]
    if seen:
        return agree(seen)
    return readings[0] if readings else failed(Failure.MISSING)


def _with_prose(reading: Reading, found: Found, scale: Scale, *, cut: bool) -> Reading:
    """What a single reply says once its prose is heard too.

    Beside JSON, prose can only contradict, and only plainly ("Score: 1"). Without JSON it may hold the score; the last
    line of a cut text is unfinished and is not read.
    """
    if reading.score is not None:
        plain = [one for one in announced(found.prose, scale) if one.firm and one.alone]
        return agree([reading, *(read_choice(one.raw, scale) for one in plain)])
    if found.objects or found.malformed:
        return reading
    text = found.prose.rpartition("\n")[0] if cut else found.prose
    bare = None if cut or _blank(text) else read_bare(text, scale)
    if bare is None and "{" not in text:
        bare = read_announced(text, scale)
    return bare or reading


def _why_nothing(text: str, found: Found, *, cut: bool) -> Failure:
    """The failure of a metric of which no choice was seen."""
    if cut or found.cut:
        return Failure.TRUNCATED
    if found.objects or _blank(text):
        return Failure.MISSING
    return Failure.NOT_JSON


def _blank(text: str) -> bool:
    return not text.strip("\ufeff \t\r\n")


def _by_folded_name(metrics: Collection[str]) -> dict[str, str]:
    """Metrics by their names in any case and spacing, without those that are then no longer told apart."""
    count = Counter(map(_fold, metrics))
    return {_fold(metric): metric for metric in metrics if count[_fold(metric)] == 1}


def _fold(key: str) -> str:
    """A key without its case, spaces and hyphens.

    >>> _fold("Linguistic Acceptability")
    'linguistic_acceptability'
    """
    return re.sub(r"[\s_-]+", "_", key.strip().casefold())
