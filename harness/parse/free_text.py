"""Reads the score of an answer in the judge's own words, by fixed rules (after Chiang & Lee 2023, appendix on parsing).

1. Phrases that name the ends of the scale ("1-5", "out of 5", "/5") and numbered titles ("story 2") are removed, in all languages.
2. The first number that remains counts; on a scale of words, the first class that is named.
3. Numbers off the scale are the failure `off_scale`: also halves, unless the scale is an interval.

Other numbers (or classes) that remain are kept beside the score, because a reader of the numbers should know of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from harness.model import Failure, Scale, Score
from harness.parse.finish_reasons import was_cut, was_filtered
from harness.parse.prose import is_refusal
from harness.parse.reasoning import without_reasoning
from harness.parse.values import Reading, failed_reading, read_choice
from harness.parse.vocabulary import NUMBER, Vocabulary, to_number

MAX_TEXT_CHARACTERS = 20_000  # a longer answer is read up to here
_DASHES = "-‐‑–—~〜～"
_PHRASES = ("/{max}", "／{max}", *(f"{{min}}{dash}{{max}}" for dash in _DASHES), *(f"{{min}} {dash} {{max}}" for dash in _DASHES))
_LETTER = (
    r"[^\W\d_\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"  # of scripts with spaces between words; elsewhere a unit may follow
)
_NO_PART = rf"(?!{_LETTER}|\s?[%％])"  # not 2nd, not 50 %
_CLAUSE_END = r"(?=\s*(?:\Z|[\n.,;:!?)\]\"'*`、。，；：！？」』】）”»]))"


def read_text(text: str, scale: Scale, vocabulary: Vocabulary, *, finish_reason: str | None = None, refusal: str | None = None) -> Reading:
    """Read the score that a text gives, without marked reasoning before it. The time is linear in the length of the text.

    Without a score, the failure is `refused` if the provider reports a refusal or the text begins like one, `off_scale` if the first
    number is off the scale, `truncated` if the text was cut before any number, and `missing` otherwise.

    >>> from harness.parse import bundled_vocabulary
    >>> five, words = Scale(kind="interval", min=1, max=5, best=5), bundled_vocabulary()
    >>> read_text("On a scale of 1-5, I give story 2 a 3.5 out of 5.", five, words).score
    3.5
    >>> reading = read_text("A 4, perhaps a 5.", five, words)
    >>> reading.score, reading.further_numbers
    (4.0, '5')
    >>> read_text("4.5", Scale(kind="ordinal", classes=(1, 2, 3, 4, 5), best=5), words).failure
    <Failure.OFF_SCALE: 'off_scale'>
    """
    whole, text = text, unicodedata.normalize("NFC", without_reasoning(text)[:MAX_TEXT_CHARACTERS])
    choices = list(dict.fromkeys(_choices(text, scale, vocabulary)))
    without_choice = Failure.TRUNCATED if was_cut(finish_reason) and whole.strip() else Failure.MISSING
    reading = read_choice(choices[0], scale, vocabulary) if choices else failed_reading(without_choice)
    if reading.score is None:
        refused = refusal or was_filtered(finish_reason) or is_refusal(text, vocabulary)
        return failed_reading(Failure.REFUSED, reading.raw_choice) if refused else reading
    return Reading(reading.score, None, reading.raw_choice, None, " ".join(choices[1:]) or None)


def _choices(text: str, scale: Scale, vocabulary: Vocabulary) -> Iterator[str]:
    """The numbers of a text that may be scores, or the classes that it names, in order; each as it is written."""
    names = tuple(c for c in scale.classes if isinstance(c, str))
    if names:
        for match in _class_pattern(vocabulary, names).finditer(text):
            yield match["word"].casefold() if match["word"] else match["after_title"] or match["alone"]
        return
    rest = _removed_pattern(vocabulary, *_ends(scale)).sub(" ", text)
    signed = (scale.min or 0) < 0 or any(isinstance(c, int) and c < 0 for c in scale.classes)
    for match in re.finditer(rf"(?<!{_LETTER}){NUMBER}{_NO_PART}", rest):
        number = match[0] if signed else match[0].lstrip("-+−－")
        if to_number(number) is not None:
            yield number


def _ends(scale: Scale) -> tuple[Score | None, Score | None]:
    """The lowest and the highest score, as they are written: 1 rather than 1.0."""
    if scale.kind == "interval":
        return _plain(scale.min), _plain(scale.max)
    return min(scale.classes, default=None), max(scale.classes, default=None)


def _plain(end: float | None) -> Score | None:
    return int(end) if end is not None and end == int(end) else end


@lru_cache(maxsize=64)
def _removed_pattern(vocabulary: Vocabulary, low: Score | None, high: Score | None) -> re.Pattern[str]:
    """Matches what is no score: phrases with the ends of the scale, and numbers that name a text."""
    phrases = {phrase for phrase in (*_PHRASES, *vocabulary.scale_phrases) if ("{min}" not in phrase or low is not None)}
    filled = [_phrase_pattern(phrase, low, high) for phrase in sorted(phrases, key=lambda phrase: (-len(phrase), phrase))]
    numbered = rf"{vocabulary.numbered}\s?[#№]?\s?\d+(?!\d|[.,]\d)"
    return re.compile("|".join([*(filled if high is not None else []), numbered]), re.IGNORECASE)


def _phrase_pattern(phrase: str, low: Score | None, high: Score | None) -> str:
    """A phrase as a pattern; a number in it is no part of a longer one, and a word no part of a longer word.

    `{score}` at the beginning means that the phrase follows a number, which stays: in some languages the words of "4 out of 5" also mean
    "a score of 5".
    """
    follows_number = phrase.startswith("{score}")
    pattern = re.escape(phrase.removeprefix("{score}")).replace(r"\ ", r"\s?")
    pattern = pattern.replace(re.escape("{min}"), rf"(?<![\d.,]){low}(?:[.,]0)?").replace(
        re.escape("{max}"), rf"{high}(?:[.,]0)?(?!\d|[.,]\d)"
    )
    if follows_number:
        return r"(?<=\d)" + pattern
    return (rf"(?<!{_LETTER})" if phrase[0].isascii() and phrase[0].isalpha() else "") + pattern


@lru_cache(maxsize=64)
def _class_pattern(vocabulary: Vocabulary, names: tuple[str, ...]) -> re.Pattern[str]:
    """Matches a named class, as one of its groups. A single letter may be a word of its own, so it must follow "text" or end a clause."""
    letters = "|".join(re.escape(name) for name in names if len(name) == 1) or r"(?!)"
    words = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True) if len(name) > 1) or r"(?!)"
    return re.compile(
        rf"(?i:{vocabulary.numbered})\s?(?P<after_title>{letters})(?![^\W_])"
        rf"|(?<![^\W_])(?:(?P<alone>{letters}){_CLAUSE_END}|(?P<word>(?i:{words}))(?![^\W_]))"
    )
