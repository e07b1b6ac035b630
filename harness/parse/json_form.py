"""JSON objects in a text that may be fenced, wrapped in prose, slightly malformed or cut off.

An object is repaired token by token into strict JSON and then read by the standard library. Only form is repaired:
trailing commas, full-width colons and commas, bare words (`２`, `2/2`), raw line breaks and stray backslashes in
strings, a comma missing after a number. Anything else that is not JSON makes the whole text malformed. All in one pass.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

DEEPEST = 64  # nesting beyond this is no answer, and would be a RecursionError

_INSIDE = r'[^"\\]*+(?:\\.[^"\\]*+)*+'  # of a string, without the closing quote
_TOKEN = re.compile(
    rf'(?P<string>"{_INSIDE}")|(?P<unclosed>"{_INSIDE}\\?\Z)|(?P<mark>[{{}}\[\]:,：，])|(?P<word>[^\s{{}}\[\]:,：，"]++)',
    re.DOTALL,
)
# A brace opens an object if a key, its own end or the end of the text follows: {like} and {{this are prose.
_OPEN = re.compile(rf'\{{(?=\s*+(?:\}}|\Z|"{_INSIDE}(?:"\s*+(?:[:：]|\Z)|\\?\Z)))', re.DOTALL)
_STRICT_WORD = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?|true|false|null")
_BACKSLASH = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})?')
_PLAIN_MARK = {"：": ":", "，": ","}
_CLOSER = {"{": "}", "[": "]"}


class Number(str):
    """A JSON number as it was written: no digit is lost, and a million digits cost nothing."""

    __slots__ = ()


class Pairs(list[tuple[str, object]]):
    """A JSON object with its keys in order, duplicates kept."""

    __slots__ = ()


class Found(NamedTuple):
    """The JSON of a text.

    `cut`: the last object breaks off. `malformed`: what looks like an object is not JSON, so none can be trusted.
    """

    objects: tuple[Pairs, ...]
    prose: str  # the text around the objects; each object has become one NUL
    cut: bool = False
    malformed: bool = False


def find_objects(text: str) -> Found:
    r"""All outermost JSON objects of `text`, in order. Takes time linear in the length of the text.

    >>> find_objects('Sure:\n```json\n{"score": 2,}\n```').objects
    ([('score', '2')],)
    >>> find_objects('{"score": 2, "justification": "It rea')
    Found(objects=([('score', '2')],), prose='\x00', cut=True, malformed=False)
    >>> find_objects('{"score": 1 or 2}').malformed
    True
    """
    objects: list[Pairs] = []
    prose: list[str] = []
    end = 0
    while opening := _OPEN.search(text, end):
        prose.append(text[end : opening.start()])
        try:
            source, end, cut = _repair(text, opening.start())
            objects.append(_load(source))
        except ValueError:
            return Found((), text, malformed=True)
        if cut:
            return Found(tuple(objects), "\0".join([*prose, ""]), cut=True)
    return Found(tuple(objects), "\0".join([*prose, text[end:]]))


def json_text(value: object) -> str:
    """A value of a found object as JSON text.

    >>> json_text(Pairs([("fluent", True), ("errors", [Number("1.50"), "x"])]))
    '{"fluent": true, "errors": [1.50, "x"]}'
    """
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, Pairs):
        return "{" + ", ".join(f"{json_text(key)}: {json_text(item)}" for key, item in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(json_text, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _load(source: str) -> Pairs:
    loaded = json.loads(source, strict=False, object_pairs_hook=Pairs, parse_int=Number, parse_float=Number)
    assert isinstance(loaded, Pairs)  # the source begins with a brace
    return loaded


def _repair(text: str, start: int) -> tuple[str, int, bool]:
    """The object that opens at `start` as JSON, where it ends in `text`, and whether it was cut off there.

    Raises ValueError if brackets do not match or nest too deep; other mistakes are left to the JSON reader.
    """
    out: list[str] = []
    closers: list[str] = []
    kind, stop = "", start
    for token in _TOKEN.finditer(text, start):
        before, kind = kind, str(token.lastgroup)
        word = _PLAIN_MARK.get(token[0], token[0])
        if kind == "unclosed":
            break
        if kind == "string":
            if before == "word" and token.start() > stop:
                out.append(",")
            word = _BACKSLASH.sub(lambda m: m[0] if m[1] else r"\\", word)
        elif kind == "word":
            word = word if _STRICT_WORD.fullmatch(word) else json.dumps(word)
        elif word in _CLOSER:
            closers.append(_CLOSER[word])
            if len(closers) > DEEPEST:
                raise ValueError("nested too deep")
        elif word in "}]":
            if word != closers.pop():
                raise ValueError("brackets do not match")
            if out[-1] == ",":
                out.pop()
        out.append(word)
        stop = token.end()
        if not closers:
            return "".join(out), stop, False
    return _close(out, closers, kind), len(text), True


def _close(out: list[str], closers: list[str], last: str) -> str:
    """End a cut object before its first incomplete part: a word at the very end may have gone on, a key has no value.

    >>> _close(["{", '"a"', ":", "2", ",", '"b"', ":", "1"], ["}"], "word")
    '{"a":2}'
    """
    if last == "word":
        out.pop()
    if out[-1] == ":":
        del out[-2:]
    elif closers[-1] == "}" and out[-1][0] == '"' and out[-2] in "{,":
        out.pop()
    if out[-1] == ",":
        out.pop()
    return "".join(out + closers[::-1])
