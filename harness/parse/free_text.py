"""Reads the score of an answer in the judge's own words, by fixed rules (after Chiang & Lee 2023, appendix on parsing).

1. Phrases that name the ends of the scale ("1-5", "out of 5", "/5"), brackets that name both ends, and numbered titles
   ("story 2") are removed, in all languages.
2. A score counts if the text announces it: by a word ("Rating: 4"), by the highest score beside it ("4 out of 5"), or because it stands
   alone in the first or last line. Else the only number that remains counts; on a scale of words, the only class that is named.
3. Several numbers (or classes) of which none is announced, or several that are, are a failure: languages differ in whether the highest
   score or the score comes first, so the first one is no better than the last. So is a number that nothing announces before a higher one
   in its sentence: that may be the maximum of another scale ("1 of 3").
4. An unannounced number before a word for what it counts ("2 sentences") is no score and no rival of one. A word for minus is a sign.
5. Numbers off the scale are the failure `off_scale`: also halves, unless the scale is an interval, and scores with another maximum ("1/3").

Other numbers (or classes) are kept beside an announced score, because a reader of the numbers should know of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from harness.model import Failure, Scale, Score
from harness.parse.finish_reasons import was_cut, was_filtered
from harness.parse.normalisation import answer_of, folded, normalised
from harness.parse.prose import SENTENCE_END, AnnouncedChoice, find_announced_choices, is_refusal
from harness.parse.values import Reading, agreed_reading, ends_of, failed_reading, read_bare_choice, read_choice
from harness.parse.vocabulary import NUMBER, Vocabulary, numbers_in, to_number

MAX_TEXT_CHARACTERS = 20_000  # a longer answer is read up to here
_DASHES = "-‐‑–—~〜～"
_PHRASES = ("/{max}", "／{max}", *(f"{{min}}{dash}{{max}}" for dash in _DASHES), *(f"{{min}} {dash} {{max}}" for dash in _DASHES))
_MINUS = 20  # characters before a number that are searched for a word for minus
_BETWEEN = re.compile(r"\s{0,2}")
_BRACKETS = re.compile(r"[(（\[][^()（）\[\]\n]{1,300}[)）\]]")
_LETTER = (
    r"[^\W\d_\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"  # of scripts with spaces between words; elsewhere a unit may follow
)
_PREFIX = re.compile(r"[\u0590-\u06ff\u1200-\u139f]")  # letters of scripts that join a word for "of" to its number
_NO_PART = rf"(?!{_LETTER}|\s?[%％])"  # not 2nd, not 50 %
_BEFORE_SIGN = re.compile(r"(?:\A|[\n:=：＝])[ \t]?\Z")  # before "-1"; in "Rating -4" the dash is no minus, if no score is below 0
_CLAUSE_END = r"(?=\s*(?:\Z|[\n.,;:!?)\]\"'*`、。，；：！？」』】）”»]))"


class _Candidate(NamedTuple):
    """A number or class in a text that may be its score, as it is written."""

    raw: str
    announced: bool
    start: int = 0
    other: bool = False  # said to be another number than the score: never taken, but kept as a rival
    fraction: bool = False  # a number with another maximum than the scale's beside it
    counts: bool = False  # the number of something else, such as sentences; nothing announces it as a score


def read_text(text: str, scale: Scale, vocabulary: Vocabulary, *, finish_reason: str | None = None, refusal: str | None = None) -> Reading:
    """Read the score that a text gives, without marked reasoning before it. The time is linear in the length of the text.

    Without a score, the failure is `refused` if the provider reports a refusal or the text begins like one, `off_scale` if the first
    number is off the scale, `not_json` if several numbers may be the score, `truncated` if the text was cut before any number, and
    `missing` otherwise.

    >>> from harness.parse import bundled_vocabulary
    >>> five, words = Scale(kind="interval", min=1, max=5, best=5), bundled_vocabulary()
    >>> read_text("On a scale of 1-5, I give story 2 a 3.5 out of 5.", five, words).score
    3.5
    >>> read_text("A 4, perhaps a 5.", five, words).failure
    <Failure.NOT_JSON: 'not_json'>
    >>> reading = read_text("It has 2 flaws. Rating: 4", five, words)
    >>> reading.score, reading.further_numbers
    (4.0, '2')
    >>> read_text("4.5", Scale(kind="ordinal", classes=(1, 2, 3, 4, 5), best=5), words).failure
    <Failure.OFF_SCALE: 'off_scale'>
    """
    full_text, text = text, _with_plain_digits(normalised(answer_of(text)[:MAX_TEXT_CHARACTERS]))
    numbers = list(_find_candidates(text, scale, vocabulary))
    candidates = [number for number in numbers if not number.counts]
    choices = list(dict.fromkeys(candidate.raw for candidate in candidates))
    announced = list(dict.fromkeys(candidate.raw for candidate in candidates if candidate.announced))
    without_choice = Failure.TRUNCATED if was_cut(finish_reason) and full_text.strip() else Failure.MISSING
    readings = [read_choice(raw, scale, vocabulary) for raw in announced or choices[:1]]
    reading = agreed_reading(readings) if readings else failed_reading(without_choice)
    rivals = [raw for raw in choices if _may_be_meant(raw, scale) and read_choice(raw, scale, vocabulary).score != reading.score]
    if reading.score is not None and not announced and (rivals or candidates[0].other or _may_be_of_another_scale(candidates, text)):
        reading = failed_reading(Failure.NOT_JSON, " | ".join(choices))
    if reading.score is None:
        refused = refusal or was_filtered(finish_reason) or is_refusal(text, vocabulary)
        return failed_reading(Failure.REFUSED, reading.raw_choice) if refused else reading
    fractions = {candidate.raw for candidate in candidates if candidate.fraction}
    other_choices = [raw for raw in dict.fromkeys(number.raw for number in numbers) if raw not in {reading.raw_choice, *fractions}]
    return Reading(reading.score, None, reading.raw_choice, None, " ".join(other_choices) or None)


def _may_be_of_another_scale(candidates: list[_Candidate], text: str) -> bool:
    """Return True if another number follows the first one in its sentence: "1 of 3", in whichever language."""
    first, *later = candidates
    following = [candidate.start for candidate in later if candidate.raw != first.raw]
    return bool(following) and SENTENCE_END.search(text, first.start + len(first.raw), following[0]) is None


def _with_plain_digits(text: str) -> str:
    """Return the text with digits of other scripts as 0 to 9, each in its place."""
    return text if text.isascii() else "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)


def _may_be_meant(raw: str, scale: Scale) -> bool:
    """Return True if a choice lies between the ends of the scale; a class always does."""
    low, high = ends_of(scale)
    number = to_number(raw)
    return number is None or not ((isinstance(low, int | float) and number < low) or (isinstance(high, int | float) and number > high))


def _find_candidates(text: str, scale: Scale, vocabulary: Vocabulary) -> Iterator[_Candidate]:
    """Yield the numbers of a text that may be scores, or the classes that it names, in order."""
    names = tuple(c for c in scale.classes if isinstance(c, str))
    # Choices that stand alone in the first or last line of a text or are its first sentence, as they are written.
    lines = [line for line in text.strip().splitlines() if line.strip()] or [""]
    readings = [read_bare_choice(line, scale, vocabulary) for line in {lines[0], lines[-1]}]
    alone = {folded(reading.raw_choice) for reading in readings if reading is not None and reading.raw_choice is not None}
    if names:
        said = {
            folded(choice.raw) for choice in find_announced_choices(text, scale, vocabulary) if choice.alone and not choice.other
        } | alone
        for match in _compile_classes(vocabulary, names).finditer(text):
            raw = match["word"].casefold() if match["word"] else match["after_title"] or match["alone"]
            yield _Candidate(raw, folded(raw) in said, match.start())
        return
    removed = _compile_removed(vocabulary, *ends_of(scale))
    ends = {end for match in removed.finditer(text) if match["beside"] for end in (match.start(), match.end())}
    rest = _without_ends_in_brackets(removed.sub(lambda match: " " * len(match[0]), text), scale)
    announcements = list(find_announced_choices(rest, scale, vocabulary))
    other_starts = {choice.start for choice in announcements if choice.other}
    spans = {choice.start for choice in announcements if choice.alone and not choice.other and _is_sure(choice, scale)}
    signed = (scale.min or 0) < 0 or any(isinstance(c, int) and c < 0 for c in scale.classes)
    end = 0
    for match in re.finditer(rf"(?:(?<!{_LETTER})|(?<={_PREFIX.pattern})){NUMBER}{_NO_PART}", rest):
        fraction = vocabulary.whole_choice.match(rest, match.start())
        if match.start() < end or (not end and _PREFIX.match(rest, max(0, match.start() - 1))):
            continue  # the maximum of the fraction before, or one that a word for "of" is joined to before any other number
        if fraction is not None and fraction["of"] is not None and to_number(fraction["of"]) != to_number(str(ends_of(scale)[1])):
            end = fraction.end()
            yield _Candidate(fraction[0], match.start() in spans or folded(fraction[0]) in alone, match.start(), fraction=True)
            continue
        end = match.end()
        is_sign = signed or _BEFORE_SIGN.search(rest, max(0, match.start() - 3), match.start()) is not None
        number = match[0] if is_sign else match[0].lstrip("-+−－")
        if number == match[0].lstrip("-+−－") and vocabulary.minus.search(rest, max(0, match.start() - _MINUS), match.start()):
            number = f"-{number}"
        if to_number(number) is not None:
            after = _BETWEEN.match(text, match.end())
            adjacent = match.start() in ends or (after is not None and after.end() in ends) or match.end() in ends
            announced = adjacent or match.start() in spans or number in alone
            counts = not announced and vocabulary.counted.match(rest, match.end()) is not None
            yield _Candidate(number, announced, match.start(), match.start() in other_starts, counts=counts)


def _is_sure(choice: AnnouncedChoice, scale: Scale) -> bool:
    """Return True if an announced number is no end of the scale ("the highest score is 2"), unless it is surely the score."""
    return choice.sure or to_number(choice.raw) not in [to_number(str(end)) for end in ends_of(scale) if end is not None]


def _without_ends_in_brackets(text: str, scale: Scale) -> str:
    """Return the text with blanks in place of brackets that name both ends of the scale: "(0 = bad, 2 = good)"."""
    low, high = ends_of(scale)
    limits = {to_number(str(low)), to_number(str(high))}
    if low is None or high is None or len(limits) < 2:
        return text
    return _BRACKETS.sub(lambda match: " " * len(match[0]) if limits <= numbers_in(match[0]) else match[0], text)


@lru_cache(maxsize=64)
def _compile_removed(vocabulary: Vocabulary, low: Score | None, high: Score | None) -> re.Pattern[str]:
    """Return a pattern of what is no score: phrases with the ends of the scale, and numbers that name a text."""
    phrases = {phrase for phrase in (*_PHRASES, *vocabulary.scale_phrases) if ("{min}" not in phrase or low is not None)}
    filled = {phrase: _write_phrase(phrase, low, high) for phrase in sorted(phrases, key=lambda phrase: (-len(phrase), phrase))}
    numbered = rf"{vocabulary.numbered}\s?[#№]?\s?\d+(?!\d|[.,]\d)"
    phrase_patterns = "|".join(pattern for phrase, pattern in filled.items() if "{min}" not in phrase) if high is not None else r"(?!)"
    ranges = [pattern for phrase, pattern in filled.items() if "{min}" in phrase] if high is not None else []
    return re.compile("|".join([*ranges, f"(?P<beside>{phrase_patterns})", numbered]), re.IGNORECASE)


def _write_phrase(phrase: str, low: Score | None, high: Score | None) -> str:
    """Return a phrase as a pattern; a number in it is no part of a longer one, and a word no part of a longer word.

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
def _compile_classes(vocabulary: Vocabulary, names: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of a named class, as one of its groups. A single letter may be a word, so it must follow "text" or end a clause."""
    letters = "|".join(re.escape(normalised(name)) for name in names if len(name) == 1) or r"(?!)"
    words = "|".join(re.escape(normalised(name)) for name in sorted(names, key=len, reverse=True) if len(name) > 1) or r"(?!)"
    return re.compile(
        rf"(?i:{vocabulary.numbered})\s?(?P<after_title>{letters})(?![^\W_])"
        rf"|(?<![^\W_])(?:(?P<alone>{letters}){_CLAUSE_END}|(?P<word>(?i:{words}))(?![^\W_]))"
    )
