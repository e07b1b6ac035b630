"""Texts that models were asked to write: refusals, and words around the text that are taken away."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from harness.model import Failure, Reply
from harness.parse.finish_reasons import was_filtered
from harness.parse.reasoning import answer_of
from harness.parse.refusals import is_refusal
from harness.parse.vocabulary import Vocabulary

_REFUSAL_CHARACTERS = 300  # a longer text that begins like a refusal may be a story
_FENCE = re.compile(r"\A```\w*\n(.*?)\n?```\Z", re.DOTALL)
_ANNOUNCEMENT = re.compile(r"\A([^\n.!?。！？]{1,120}[:：])[*_ \t]*(\n+|\Z)")
_FIRST_SENTENCE = re.compile(r"\A[*_#\s]*([^\n]{1,120}?(?:[:：]|[.!。！](?=\s)|(?=\n)))[*_ \t]*\n*")
_BULLET = re.compile(r"^[ \t]*(?:[-*•・‣]|\d{1,2}[.)])[ \t]+", re.MULTILINE)
_QUOTED = re.compile(r"""\A(?:"{1,3}|“|„|«|「|『)(.*?)(?:"{1,3}|”|“|»|」|』)\Z""", re.DOTALL)
_TRAILING = re.compile(r"[\s\-–—*_#:;,，、：；`]+\Z")


class WrittenText(msgspec.Struct, frozen=True):
    """A text without what is no part of it. `removed` names the kinds of what was removed, in the order of removal."""

    text: str
    removed: tuple[str, ...] = ()


def writing_failure(reply: Reply, vocabulary: Vocabulary) -> Failure | None:
    """Return why a reply holds no text: `refused`, also for a short text that begins like a refusal, `missing`, or `truncated`.

    None if it holds one. A reply that was stored cut holds none.
    """
    text = answer_of(reply.text).strip()
    if reply.refusal or was_filtered(reply.finish_reason):
        return Failure.REFUSED
    if reply.whole_length:
        return Failure.TRUNCATED
    if len(text) <= _REFUSAL_CHARACTERS and is_refusal(text, vocabulary):
        return Failure.REFUSED
    return None if any(map(str.isalnum, text)) else Failure.MISSING


def clean_text(text: str, lead_ins: Iterable[str] = ()) -> WrittenText:
    """Remove what announces or decorates a text, by fixed rules.

    - `reasoning` that the model marks as such, before the text.
    - `fence`: a code block around the whole text.
    - `lead-in`: a first line that ends with a colon, or a first sentence that begins like one of `lead_ins` (in any case) and ends with a
      colon, a full stop or its line. Of two in a row, both are removed if one of them begins like one of `lead_ins`. A text that would
      be empty without them keeps them.
    - `quotation marks` around the whole text.
    - `bullets`: marks and numbers at the beginning of lines.
    - `trailing punctuation` that ends no sentence, such as a dash, a comma or an asterisk.

    >>> clean_text("Here is the summary:\\n\\n- The library opens.\\n- It has 80 seats. **", ["here is"])
    WrittenText(text='The library opens.\\nIt has 80 seats.', removed=('lead-in', 'bullets', 'trailing punctuation'))
    """
    removed: list[str] = []
    text = text.strip()
    text = _note_change("reasoning", text, answer_of(text), removed)
    text = _note_change("fence", text, _match_inside(_FENCE, text), removed)
    text = _note_change("lead-in", text, _without_lead_ins(text, tuple(lead_ins)), removed)
    text = _note_change("quotation marks", text, _match_inside(_QUOTED, text), removed)
    text = _note_change("bullets", text, _BULLET.sub("", text), removed)
    text = _note_change("trailing punctuation", text, _TRAILING.sub("", text), removed)
    return WrittenText(text, tuple(removed))


def _note_change(kind: str, text: str, shorter: str, removed: list[str]) -> str:
    """Return the shorter text, whose kind of change is noted; the text itself if nothing would be left, or nothing changes."""
    shorter = shorter.strip()
    if shorter == text or not shorter:
        return text
    removed.append(kind)
    return shorter


def _match_inside(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.match(text)
    return match[1] if match else text


def _without_lead_ins(text: str, lead_ins: Sequence[str]) -> str:
    """Return the text without one or two lead-ins; of two, one at most is known by its colon alone, which may end a line of the text."""
    announced = _ANNOUNCEMENT.match(text)
    shorter = text[announced.end() :] if announced else _without_opening(text, lead_ins)
    if shorter == text:
        return text
    second = None if announced else _ANNOUNCEMENT.match(shorter)
    shortest = shorter[second.end() :] if second else _without_opening(shorter.lstrip(), lead_ins)
    return shortest if shortest.strip() else shorter


def _without_opening(text: str, lead_ins: Iterable[str]) -> str:
    """Return the text without a first sentence that begins like a lead-in."""
    first = _FIRST_SENTENCE.match(text)
    words = first[1].casefold() if first else ""
    return text[first.end() :] if first and any(_begins(words, opening.casefold()) for opening in lead_ins) else text


def _begins(words: str, opening: str) -> bool:
    """Return True if a sentence begins with the words of an opening, not only with its letters."""
    return words.startswith(opening) and not words[len(opening) : len(opening) + 1].isalnum()
