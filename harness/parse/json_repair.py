"""Extracts JSON objects from a text. They may be fenced, surrounded by prose, slightly malformed or cut off.

One pass repairs an object token by token into strict JSON; the standard library then reads it. Only the form is repaired: trailing commas,
full-width colons and commas, bare words (`２`, `2/2`), raw line breaks and stray backslashes in strings, a missing comma after a number.
An object that is not JSON then is tried once more with quotation marks that end no string where no comma, bracket or colon of JSON follows
them (`"he says "good" twice"`), and with other marks around strings (`'score'`, `“score”`) or none around keys (`{score: 2}`). Any other
deviation from JSON makes the whole text malformed.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from harness.parse.normalisation import INVISIBLE

MAX_NESTING = 64  # no answer is nested deeper; more would raise RecursionError

_STRING_BODY = r'[^"\\]*+(?:\\.[^"\\]*+)*+'  # without the closing quote
_TOKEN = re.compile(
    rf'(?P<string>"{_STRING_BODY}")|(?P<unclosed>"{_STRING_BODY}\\?\Z)|(?P<mark>[{{}}\[\]:,：，])|(?P<word>[^\s{{}}\[\]:,：，"{INVISIBLE}]++)',
    re.DOTALL,
)
# A brace opens an object if a key, a closing brace or the end of the text follows: {like} and {{this are prose.
_BLANK = rf"[\s{INVISIBLE}]*+"
_OPEN = re.compile(rf'\{{(?={_BLANK}(?:\}}|\Z|"{_STRING_BODY}(?:"\s*+(?:[:：]|\Z)|\\?\Z)))', re.DOTALL)
# Other marks that open a string, and those that close it: a key if a colon follows, a value if the object goes on after it.
_CLOSING_MARKS = {**dict.fromkeys('"“”„‟＂', '"“”＂'), **dict.fromkeys("'‘’‚", "'‘’"), "«": "»", "»": "«»", "「": "」"}
_MARK = "".join(_CLOSING_MARKS)
_KEY = rf"[{_MARK}][^{_MARK}»」\n]{{1,100}}[{_MARK}»」]\s{{0,20}}[:：]"
_BARE_KEY = r"[^\W\d]\w{0,60}\s{0,20}[:：]"
_OPEN_WITHOUT_QUOTES = re.compile(rf"\{{(?={_BLANK}{_BARE_KEY})")
_OPEN_OTHERWISE = re.compile(rf"\{{(?={_BLANK}{_KEY})")
_LOOSE_TOKEN = re.compile(rf"(?P<string>[{_MARK}])|(?P<mark>[{{}}\[\]:,：，])|(?P<word>[^\s{{}}\[\]:,：，{_MARK}{INVISIBLE}]++)")
_AFTER_KEY = re.compile(rf"{_BLANK}[:：]")
_AFTER_VALUE = re.compile(rf"{_BLANK}(?:\}}|[,，]{_BLANK}(?:\}}|{_KEY}))")
_AFTER_VALUE_BARE = re.compile(rf"{_BLANK}(?:\}}|[,，]{_BLANK}(?:\}}|{_KEY}|{_BARE_KEY}))")
_AFTER_ENTRY = re.compile(rf"{_BLANK}[\],，]")
# A quotation mark, a colon and a value inside a string: where it ends is not sure, and so neither is the score.
_INNER_MEMBER = re.compile(rf"[{_MARK}»」]\s{{0,20}}[:：]\s{{0,20}}(?:[{_MARK}\d{{\[+-]|true|false|null)", re.IGNORECASE)
_PYTHON_WORDS = {"None": "null", "True": "true", "False": "false"}
_STRICT_WORD = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?|true|false|null")
_BACKSLASH = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})?')
_BACKSLASH_OR_QUOTE = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})|["\\]')
_PLAIN_MARK = {"：": ":", "，": ","}
_CLOSER = {"{": "}", "[": "]"}


class Number(str):
    """A JSON number as written. It keeps every digit, and a million digits cost nothing."""

    __slots__ = ()


class JsonPairs(list[tuple[str, object]]):
    """The members of a JSON object in order, with repeated keys."""

    __slots__ = ()


class ExtractedJson(NamedTuple):
    """The JSON objects of a text."""

    objects: tuple[JsonPairs, ...]
    prose: str  # the text around the objects, with a NUL in the place of each object
    cut: bool = False  # the last object breaks off
    malformed: bool = False  # something looks like an object but is not JSON, so no object can be trusted


def extract_json(text: str) -> ExtractedJson:
    r"""Return all outermost JSON objects of `text`, in order. The time is linear in the length of the text.

    >>> extract_json('Sure:\n```json\n{"score": 2,}\n```').objects
    ([('score', '2')],)
    >>> extract_json('{"score": 2, "justification": "It rea')
    ExtractedJson(objects=([('score', '2')],), prose='\x00', cut=True, malformed=False)
    >>> extract_json('{"score": 1 or 2}').malformed
    True
    """
    for opens in (_OPEN, _OPEN_OTHERWISE, _OPEN_WITHOUT_QUOTES):
        extracted = _extract(text, opens)
        if extracted.objects or extracted.malformed or extracted.cut:
            break
    return extracted


def _extract(text: str, opens: re.Pattern[str]) -> ExtractedJson:
    objects: list[JsonPairs] = []
    prose: list[str] = []
    end = 0
    while opening := opens.search(text, end):
        prose.append(text[end : opening.start()])
        for repair in (_repair, _repair_quotations) if opens is _OPEN else (_repair_quotations,):
            try:
                source, end, cut = repair(text, opening.start())
                loaded = json.loads(source, strict=False, object_pairs_hook=JsonPairs, parse_int=Number, parse_float=Number)
                assert isinstance(loaded, JsonPairs)  # the source begins with a brace
                pairs = loaded
                break
            except ValueError:
                continue
        else:
            return ExtractedJson((), text, malformed=True)
        objects.append(pairs)
        if cut:
            return ExtractedJson(tuple(objects), "\0".join([*prose, ""]), cut=True)
    return ExtractedJson(tuple(objects), "\0".join([*prose, text[end:]]))


def to_json_text(value: object) -> str:
    """Write a value of an extracted object as JSON text.

    >>> to_json_text(JsonPairs([("fluent", True), ("errors", [Number("1.50"), "x"])]))
    '{"fluent": true, "errors": [1.50, "x"]}'
    """
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, JsonPairs):
        return "{" + ", ".join(f"{to_json_text(key)}: {to_json_text(item)}" for key, item in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(to_json_text, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _repair(text: str, start: int) -> tuple[str, int, bool]:
    """Return the object that opens at `start` as strict JSON, the position of its end in `text`, and whether it is cut off.

    Raises ValueError if brackets do not match or nest too deep. The JSON reader finds all other mistakes.
    """
    tokens: list[str] = []
    closers: list[str] = []
    kind, previous_end = "", start
    for token in _TOKEN.finditer(text, start):
        previous_kind, kind = kind, str(token.lastgroup)
        part = _PLAIN_MARK.get(token[0], token[0])
        if kind == "unclosed":
            break
        if kind == "string":
            if previous_kind == "word" and token.start() > previous_end:
                tokens.append(",")
            part = _BACKSLASH.sub(lambda m: m[0] if m[1] else r"\\", part)
        elif kind == "word":
            part = part if _STRICT_WORD.fullmatch(part) else json.dumps(part)
        elif part in _CLOSER:
            closers.append(_CLOSER[part])
            if len(closers) > MAX_NESTING:
                raise ValueError("nested too deep")
        elif part in "}]":
            if part != closers.pop():
                raise ValueError("brackets do not match")
            if tokens[-1] == ",":
                tokens.pop()
        tokens.append(part)
        previous_end = token.end()
        if not closers:
            return "".join(tokens), previous_end, False
    return _close(tokens, closers, kind), len(text), True


def _repair_quotations(text: str, start: int) -> tuple[str, int, bool]:
    """As `_repair`, where quotation marks inside strings are not escaped, or others than those of JSON are around strings.

    Raises ValueError also where a string holds what may be a member of the object.
    """
    tokens: list[str] = []
    closers: list[str] = []
    position, kind = start, ""
    after_value = _AFTER_VALUE_BARE if _OPEN_WITHOUT_QUOTES.match(text, start) else _AFTER_VALUE
    while token := _LOOSE_TOKEN.search(text, position):
        kind, part, position = str(token.lastgroup), _PLAIN_MARK.get(token[0], token[0]), token.end()
        if kind == "string":
            follows = _AFTER_ENTRY if closers[-1] == "]" else _AFTER_KEY if tokens[-1] in "{," else after_value
            closing = re.compile(rf"\\.|[{_CLOSING_MARKS[part]}]", re.DOTALL)
            ends = (m for m in closing.finditer(text, position) if m[0][0] != "\\" and follows.match(text, m.end()))
            end = next(ends, None)
            body = text[position : end.start() if end else len(text)]
            if _INNER_MEMBER.search(body):
                raise ValueError("a string may end at several places")
            if end is None:
                return _close(tokens, closers, "unclosed"), len(text), True
            body = _BACKSLASH_OR_QUOTE.sub(lambda m: m[0] if m[1] else "\\" + m[0], body)
            part, position = f'"{body}"', end.end()
        elif kind == "word":
            part = _PYTHON_WORDS.get(part, part if _STRICT_WORD.fullmatch(part) else json.dumps(part))
        elif part in _CLOSER:
            closers.append(_CLOSER[part])
            if len(closers) > MAX_NESTING:
                raise ValueError("nested too deep")
        elif part in "}]":
            if part != closers.pop():
                raise ValueError("brackets do not match")
            if tokens[-1] == ",":
                tokens.pop()
        tokens.append(part)
        if not closers:
            return "".join(tokens), position, False
    return _close(tokens, closers, kind), len(text), True


def _close(tokens: list[str], closers: list[str], last_kind: str) -> str:
    """Close a cut object before its first incomplete part: a last word that may have continued, or a key without a value.

    >>> _close(["{", '"a"', ":", "2", ",", '"b"', ":", "1"], ["}"], "word")
    '{"a":2}'
    """
    if last_kind == "word":
        tokens.pop()
    if tokens[-1] == ":":
        del tokens[-2:]
    elif closers[-1] == "}" and tokens[-1][0] == '"' and tokens[-2] in "{,":
        tokens.pop()
    if tokens[-1] == ",":
        tokens.pop()
    return "".join(tokens + closers[::-1])
