"""Reads prose in the languages of a vocabulary: announced scores ("Score: 2"), refusals, and answers in the judge's own words; and
texts that models were asked to write: removes what is around them, or names the failure.

`read_text` reads answers in the judge's own words by fixed rules (after Chiang & Lee 2023, appendix on parsing):

1. Phrases that name the ends of the scale ("1-5", "out of 5", "/5"), brackets that name both ends, and numbered titles
   ("story 2") are removed, in all languages.
2. A score counts if the text announces it: by a word ("Rating: 4"), by the highest score beside it ("4 out of 5"), or because it stands
   alone in the first or last line. Else the only number that remains counts; on a scale of words, the only class that is named.
3. Several numbers (or classes) of which none is announced, or several that are, are a failure: languages differ in whether the highest
   score or the score comes first, so the first one is no better than the last. So is a number that nothing announces before a higher one
   in its sentence: that may be the maximum of another scale ("1 of 3").
4. An unannounced number before a word for what it counts ("2 sentences") is no score and no rival of one. Neither is a number that words
   deny, bound or compare with ("not a 4", "at least 3", "higher than 3", "3 or more"), or that they say is another one ("confidence: 5").
   A word for minus is a sign.
5. Numbers off the scale are the failure `off_scale`: also halves, unless the scale is an interval, and scores with another maximum ("1/3").

Other numbers (or classes) are kept beside an announced score, because a reader of the numbers should know of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from harness.model import Failure, Scale, Score
from harness.parse.choice_on_scale import (
    Reading,
    agreed_reading,
    ends_of,
    failed_reading,
    read_bare_choice,
    read_choice,
    with_stars_as_numbers,
)
from harness.parse.finish_reasons import was_cut, was_filtered
from harness.parse.normalisation import folded, normalised
from harness.parse.numbers import NUMBER, numbers_in, to_number
from harness.parse.reasoning import answer_of
from harness.parse.refusals import is_refusal
from harness.parse.vocabulary import CLAUSE_END, Vocabulary

MAX_TEXT_CHARACTERS = 20_000  # a longer answer is read up to here
_DASHES = "-‐‑–—~〜～"
_PHRASES = ("/{max}", "／{max}", *(f"{{min}}{dash}{{max}}" for dash in _DASHES), *(f"{{min}} {dash} {{max}}" for dash in _DASHES))
_LABEL = 60  # characters before a number that are searched for what it is about
_MINUS = 20  # characters before a number that are searched for a word for minus
_BETWEEN = re.compile(r"\s{0,2}")
_BRACKETS = re.compile(r"[(（\[][^()（）\[\]\n]{1,300}[)）\]]")
_LETTER = (
    r"[^\W\d_\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"  # of scripts with spaces between words; elsewhere a unit may follow
)
_UNSPACED_LETTER = r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
_PREFIX = re.compile(r"[\u0590-\u06ff\u1200-\u139f]")  # letters of scripts that join a word for "of" to its number
_NO_PART = rf"(?!{_LETTER}|\s?[%％])"  # not 2nd, not 50 %
# Before "-1"; in "Rating - 4" and "Rating-4" the dash is no minus, if no score is below 0.
_BEFORE_SIGN = re.compile(r"(?:\A|[\n:=：＝]|[^\s\d])[ \t]\Z|(?:\A|[\n:=：＝])\Z")
_DASH_AS_SIGN = re.compile(r"(?<![^\s:=：＝])[‐‑–—﹣](?=\d)")  # as keyboards and models write a minus: "–1"
_SENTENCE_OR_CLAUSE_END = r"(?=\s*(?:\Z|[\n.,;:!?)\]}\"'*`、。，；：！？」』】）”»।؟،؛۔]))"


class _Candidate(NamedTuple):
    """A number or class in a text that may be its score, as it is written."""

    raw: str
    announced: bool
    start: int = 0
    other: bool = False  # said to be another number than the score: never taken, but kept as a rival
    fraction: bool = False  # a number with another maximum than the scale's beside it
    counts: bool = False  # the number of something else, such as sentences; nothing announces it as a score
    qualified: bool = False  # denied, a bound or labelled as another number; no score and no rival of one


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
    full_text, text = text, with_stars_as_numbers(_with_plain_digits(normalised(answer_of(text)[:MAX_TEXT_CHARACTERS])), scale)
    numbers = list(_find_candidates(text, scale, vocabulary))
    candidates = [number for number in numbers if not (number.counts or number.qualified)]
    choices = list(dict.fromkeys(candidate.raw for candidate in candidates))
    announced = list(dict.fromkeys(candidate.raw for candidate in candidates if candidate.announced))
    without_choice = Failure.TRUNCATED if was_cut(finish_reason) and full_text.strip() else Failure.MISSING
    readings = [read_choice(raw, scale, vocabulary) for raw in announced or choices[:1]]
    reading = agreed_reading(readings) if readings else failed_reading(without_choice)
    if not readings and (qualified := next((number.raw for number in numbers if number.qualified), None)) is not None:
        reading = failed_reading(Failure.NOT_JSON, qualified)
    rivals = [raw for raw in choices if _may_be_meant(raw, scale) and read_choice(raw, scale, vocabulary).score != reading.score]
    if reading.score is not None and not announced and (rivals or candidates[0].other or _may_be_of_another_scale(candidates, text)):
        reading = failed_reading(Failure.NOT_JSON, " | ".join(choices))
    if reading.score is None:
        refused = refusal or was_filtered(finish_reason) or is_refusal(text, vocabulary)
        return failed_reading(Failure.REFUSED, reading.raw_choice) if refused else reading
    fractions = {candidate.raw for candidate in candidates if candidate.fraction}
    other_choices = [raw for raw in dict.fromkeys(number.raw for number in numbers) if raw not in {reading.raw_choice, *fractions}]
    return Reading(reading.score, None, reading.raw_choice, None, " ".join(other_choices) or None)


def read_choice_beside_scale(text: str, scale: Scale, vocabulary: Vocabulary) -> Reading | None:
    """Read the one number of a text that also names the ends of the scale: "5 üzerinden 4", "4 von 5", "On a scale of 1 to 5, I'd say 4".

    The number stands beside the words that name them, or in the same sentence as the only other number of the text. None for any other
    text, also where the number or the end counts something ("4 out of 5 sentences").

    >>> from harness.parse import bundled_vocabulary
    >>> scale, words = Scale(kind="ordinal", classes=(1, 2, 3, 4, 5), best=5), bundled_vocabulary()
    >>> [read_choice_beside_scale(text, scale, words).score for text in ("5 üzerinden 4", "On a scale of 1 to 5, I'd say 4")]
    [4, 4]
    >>> read_choice_beside_scale("Out of 5 criteria, 4 are met.", scale, words) is None
    True
    """
    text = _with_plain_digits(normalised(text[:MAX_TEXT_CHARACTERS]))
    if any(isinstance(c, str) for c in scale.classes):
        return None
    named = [
        match
        for match in _compile_removed(vocabulary, *ends_of(scale)).finditer(text)
        if match["range"] or match["beside"]
        if vocabulary.counted.match(text, match.end()) is None
    ]
    candidates = list(_find_candidates(text, scale, vocabulary)) if named else []
    if len({candidate.raw for candidate in candidates}) != 1 or any(
        candidate.counts or candidate.other or candidate.qualified or vocabulary.counted.match(text, candidate.start + len(candidate.raw))
        for candidate in candidates
    ):
        return None
    # A highest score that ends with its number ("out of 5 criteria") may count what follows.
    sure = [match for match in named if match["range"] or not match[0][-1].isdecimal() or _CLAUSE_END.match(text, match.end())]
    start = candidates[0].start
    sentences = [text[min(start, match.end()) : max(start, match.start())] for match in sure]
    if not candidates[0].announced and all(SENTENCE_END.search(between) for between in sentences):
        return None
    return read_choice(candidates[0].raw, scale, vocabulary)


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
            for group in ("after_title", "alone", "word", "first_of_two", "second_of_two"):
                if match[group] is None:
                    continue
                raw = match["word"].casefold() if match["word"] else match[group]
                start, end = match.span(group)
                announced = folded(raw) in said
                qualified = vocabulary.qualifiers.qualify(text, start, end, denials=not announced)
                qualified = qualified or (not announced and vocabulary.qualifiers.is_inferior(text, start, end))
                yield _Candidate(raw, announced, start, qualified=qualified)
        return
    removed = _compile_removed(vocabulary, *ends_of(scale))
    # An end of the scale may also count something, and then it is none: "3 out of 5 sentences".
    text = _DASH_AS_SIGN.sub("-", text)
    phrases = [m for m in removed.finditer(text) if not m["beside"] or vocabulary.counted.match(text, m.end()) is None]
    ends = {end for match in phrases if match["beside"] for end in (match.start(), match.end())}
    starts = (0, *(match.end() for match in phrases))
    blanked = [text[start : match.start()] + " " * len(match[0]) for start, match in zip(starts, phrases, strict=False)]
    rest = _without_ends_in_brackets("".join([*blanked, text[starts[-1] :]]), scale)
    announcements = list(find_announced_choices(rest, scale, vocabulary))
    other_starts = {choice.start for choice in announcements if choice.other}
    spans = {choice.start for choice in announcements if choice.alone and not choice.other and _is_sure(choice, scale)}
    signed = (scale.min or 0) < 0 or any(isinstance(c, int) and c < 0 for c in scale.classes)
    end = 0
    for match in re.finditer(rf"(?:(?<!{_LETTER})|(?<={_PREFIX.pattern})){NUMBER}{_NO_PART}", rest):
        fraction = vocabulary.whole_choice.match(rest, match.start())
        beside_end = match.end() in ends or match.start() in ends
        if not beside_end and vocabulary.names_title(rest, match.start(), match.end()):
            continue  # "story 2"; but "I give this story 4 out of 5" names no fourth story
        if match.start() < end or (not end and _PREFIX.match(rest, max(0, match.start() - 1))):
            continue  # the maximum of the fraction before, or one that a word for "of" is joined to before any other number
        if fraction is not None and fraction["of"] is not None and to_number(fraction["of"]) != to_number(str(ends_of(scale)[1])):
            end = fraction.end()
            if vocabulary.qualifiers.qualify(rest, match.start(), end):
                continue
            yield _Candidate(fraction[0], match.start() in spans or folded(fraction[0]) in alone, match.start(), fraction=True)
            continue
        end = match.end()
        if (maximum := vocabulary.written_maximum.match(rest, match.end())) is not None:
            yield _Candidate(rest[match.start() : maximum.end()], match.start() in spans, match.start(), fraction=True)
            continue
        is_sign = signed or _BEFORE_SIGN.search(rest, max(0, match.start() - 3), match.start()) is not None
        number = match[0] if is_sign else match[0].lstrip("-+−－")
        if number == match[0].lstrip("-+−－") and vocabulary.minus.search(rest, max(0, match.start() - _MINUS), match.start()):
            number = f"-{number}"
        sign = _GRADE_SIGN.match(rest, match.end())
        if to_number(number) is not None:
            number += sign[0] if sign else ""
            after = _BETWEEN.match(text, match.end())
            adjacent = beside_end or (after is not None and after.end() in ends)
            announced = adjacent or match.start() in spans or number in alone
            counts = not announced and vocabulary.counted.match(rest, match.end()) is not None
            by_word = match.start() in spans
            qualified = not counts and vocabulary.qualifiers.qualify(rest, match.start(), match.end(), denials=not by_word)
            other = match.start() in other_starts
            if not (qualified or announced or counts or other):
                label = vocabulary.label_of(rest[max(0, match.start() - _LABEL) : match.start()])
                qualified = vocabulary.other_numbers.search(label) is not None
                other = not qualified and vocabulary.extremes.search(label) is not None
            yield _Candidate(number, announced, match.start(), other, counts=counts, qualified=qualified)


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
    """Return a pattern of phrases with the ends of the scale."""
    if high is None:
        return re.compile(r"(?P<range>(?!))|(?P<beside>(?!))")
    phrases = sorted({*_PHRASES, *vocabulary.scale_phrases}, key=lambda phrase: (-len(phrase), phrase))
    ranges = [phrase for phrase in phrases if "{min}" in phrase] if low is not None else []
    beside = [phrase for phrase in phrases if "{min}" not in phrase]
    return re.compile(f"(?P<range>{_write_phrases(ranges, low, high)})|(?P<beside>{_write_phrases(beside, low, high)})", re.IGNORECASE)


def _write_phrases(phrases: Iterable[str], low: Score | None, high: Score) -> str:
    """Return phrases as a pattern; a number in them is no part of a longer one, and a word no part of a longer word.

    `{score}` at the beginning means that the phrase follows a number, which stays: in some languages the words of "4 out of 5" also mean
    "a score of 5". Phrases with the same condition before them stand together, so that it is tested once.
    """
    by_condition: defaultdict[str, list[str]] = defaultdict(list)
    for phrase in phrases:
        pattern = re.escape(phrase.removeprefix("{score}")).replace(r"\ ", r"\s?")
        pattern = pattern.replace(re.escape("{max}"), rf"{high}(?:[.,]0)?(?!\d|[.,]\d)")
        condition = (
            r"(?<=\d)" if phrase.startswith("{score}") else rf"(?<!{_LETTER})" if phrase[0].isascii() and phrase[0].isalpha() else ""
        )
        if phrase.startswith("{min}"):
            condition, pattern = rf"(?<![\d.,]){low}(?:[.,]0)?", pattern.removeprefix(re.escape("{min}"))
        by_condition[condition].append(pattern.replace(re.escape("{min}"), rf"(?<![\d.,]){low}(?:[.,]0)?"))
    return "|".join(f"{condition}(?:{'|'.join(patterns)})" for condition, patterns in by_condition.items()) or "(?!)"


@lru_cache(maxsize=64)
def _compile_classes(vocabulary: Vocabulary, names: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of a named class, as one of its groups. A single letter may be a word, so it must follow "text" or end a clause."""
    letters = "|".join(re.escape(normalised(name)) for name in names if len(name) == 1) or r"(?!)"
    words = "|".join(re.escape(normalised(name)) for name in sorted(names, key=len, reverse=True) if len(name) > 1) or r"(?!)"
    return re.compile(
        rf"(?i:{vocabulary.numbered})\s?(?P<after_title>{letters})(?![^\W_])"
        rf"|(?<!{_LETTER})(?<!\d)(?:(?P<first_of_two>{letters})\s[^\W\d_]{{1,5}}\s(?P<second_of_two>{letters})(?![^\W_])"
        # A letter also touches a script without spaces between words.
        rf"|(?P<alone>{letters})(?:{_SENTENCE_OR_CLAUSE_END}|(?={_UNSPACED_LETTER}))|(?P<word>(?i:{words}))(?![^\W_]))"
    )


_LOOKAHEAD_CHARACTERS = 80  # searched for a second score after an announced one
_LOOKBEHIND_CHARACTERS = 40  # searched for words that tell an announced number from a score
SENTENCE_END = re.compile(r"[\n!?;。！？；।॥؟؛۔።\0]|\.(?!\d)")
_CLAUSE_END = re.compile(CLAUSE_END)
_CLAUSE_START = re.compile(r"[\n.!?;:,。！？；：，、।॥؟،؛۔።\0]")
_MARKED = re.compile(r"\[\[([^\[\]\n]{1,80})\]\]|\\f?boxed\{(?:\\\w{1,10}\{)?([^{}\n]{1,80})\}\}?")  # as judge models are trained to write
_GRADE_SIGN = re.compile(rf"[-+−－＋]{CLAUSE_END}")  # a grade between two classes, not the dash of a range
_NO_LETTER = r"(?![^\W_])(?![%％]|[.,]\d)"  # not 2nd, not 2%


class AnnouncedChoice(NamedTuple):
    """A choice that follows an announcing word."""

    raw: str
    firm: bool  # it follows a colon or an equals sign
    alone: bool  # the rest of its sentence holds no other choice
    sure: bool = True  # its announcing word begins the sentence, and no word for an end of the scale follows
    other: bool = False  # words before it say that it is another number: the maximum, a confidence
    start: int = 0  # where the choice stands in the normalised text


def read_announced_choice(text: str, scale: Scale, vocabulary: Vocabulary) -> Reading | None:
    """Read the one score that prose announces. Two different scores are NOT_JSON; without any, the result is None.

    So is an end of the scale that another score follows, unless its announcement begins a sentence: "the top score is 2. I give 1." Ends
    of the scale that are named as such are no other score: "Score: 1 (max 2)".

    >>> from harness.parse import bundled_vocabulary
    >>> scale, words = Scale(kind="ordinal", classes=(0, 1, 2)), bundled_vocabulary()
    >>> read_announced_choice("It reads well. **Score:** 2", scale, words).score
    2
    >>> read_announced_choice("Score: 1 or 2", scale, words).failure
    <Failure.NOT_JSON: 'not_json'>
    >>> read_announced_choice("The 2 sentences are fine.", scale, words) is None
    True
    """
    choices = [choice for choice in find_announced_choices(text, scale, vocabulary) if not choice.other]
    if not choices:
        return None
    if not all(choice.alone for choice in choices) or _may_be_an_end(choices, text, scale, vocabulary):
        return failed_reading(Failure.NOT_JSON, " | ".join(choice.raw for choice in choices))
    return agreed_reading(read_choice(choice.raw, scale, vocabulary) for choice in choices)


def find_announced_choices(text: str, scale: Scale, vocabulary: Vocabulary) -> Iterator[AnnouncedChoice]:
    """Find every choice that follows an announcing word, joined to it by punctuation or by a word for "is".

    Without such a link ("Score 2"), announcer and choice must be a clause of their own. Some announcers also open remarks ("Note: 2
    errors"); after these the clause must end with the number. What is said to be another number is marked so: "the maximum score is 2".

    >>> from harness.parse import bundled_vocabulary
    >>> scale = Scale(kind="ordinal", classes=(1, 2))
    >>> [tuple(choice) for choice in find_announced_choices("Rating 2. The score is 1.", scale, bundled_vocabulary())]
    [('2', False, True, True, False, 7), ('1', False, True, False, False, 23)]
    """
    text = normalised(text)
    names = tuple(c for c in scale.classes if isinstance(c, str) and c.strip())
    for match in _compile_announcement(vocabulary, names).finditer(text):
        start = match.start("name" if match["name"] else "choice")
        before = _CLAUSE_START.split(text[max(0, match.start("word") - _LOOKBEHIND_CHARACTERS) : match.end("word")])[-1]
        between = text[match.end("word") : start]  # perhaps with brackets: "Score (max): 2", but not "Score (max 2): 1"
        before += "" if numbers_in(between) else between
        sign = _GRADE_SIGN.match(text, match.end())
        clause_ends = sign is not None or _CLAUSE_END.match(text, match.end()) is not None
        linked = bool(match["link"] or ":" in match["gap"] or "：" in match["gap"])
        if not (linked or (match["first"] is not None and clause_ends)):
            continue
        if not clause_ends and (match["name"] or folded(match["word"]) in vocabulary.remarks):
            continue
        firm = any(mark in (match["link"] or "") + match["gap"] for mark in ":：=＝→⇒➔➜")
        if match["link"] and match["link"].strip() == ">" and text[match.start("word") - 1 : match.start("word")] not in ("<", "/"):
            continue  # "score > 3" is a comparison, and "<score>3" an element
        numbers = list(vocabulary.other_numbers.finditer(before))
        # Directly before the announcer: "the confidence score is", "the previous reviewer's score is".
        of_other = bool(numbers) and (
            firm or len(before[numbers[-1].end() :].removesuffix(between).removesuffix(match["word"]).strip(" _-'’")) <= 1
        )
        following = _without_named_ends(text[start : match.end() + _LOOKAHEAD_CHARACTERS], scale, vocabulary)[match.end() - start :]
        sentence = SENTENCE_END.split(following, maxsplit=1)[0]
        yield AnnouncedChoice(
            match["name"] or match["choice"] + (sign[0] if sign else ""),
            firm,
            alone=_is_alone(sentence, text[start : match.end()], match, names, vocabulary),
            sure=match["first"] is not None and not vocabulary.extremes.search(sentence),
            other=of_other
            or vocabulary.extremes.search(before) is not None
            or vocabulary.qualifiers.qualify(text, start, match.end(), denials=False),
            start=start,
        )
    for match in _MARKED.finditer(text):
        raw = (match[1] or match[2]).strip()
        if vocabulary.whole_choice.fullmatch(raw) or folded(raw) in map(folded, names):
            yield AnnouncedChoice(raw, firm=True, alone=True, start=match.start(1 if match[1] else 2))


def without_marked_choices(text: str) -> str:
    """Return the text without choices in a box or in double brackets, whose braces open no object."""
    return _MARKED.sub(" ", text)


def _may_be_an_end(choices: list[AnnouncedChoice], text: str, scale: Scale, vocabulary: Vocabulary) -> bool:
    """Return True if an announced number may be an end of the scale that is only mentioned: another number of the scale follows it."""
    ends = {to_number(str(end)) for end in ends_of(scale) if isinstance(end, int | float)}
    unsure = {to_number(choice.raw): choice.start for choice in reversed(choices) if not choice.sure}
    starts = [(end, start) for end, start in unsure.items() if end in ends]
    plain_text = _without_named_ends(normalised(text), scale, vocabulary) if starts else ""
    return bool(starts) and any(
        start < match.start() and number not in (None, end) and scale.holds(float(number))
        for match in re.finditer(NUMBER, plain_text)
        if not vocabulary.names_title(plain_text, match.start(), match.end())
        for number in [to_number(match[0])]
        for end, start in starts
    )


def _without_named_ends(text: str, scale: Scale, vocabulary: Vocabulary) -> str:
    """Return a normalised text with blanks in place of what names the ends of a scale of numbers: "(max 2)", "on a scale of 1 to 5"."""
    if any(isinstance(c, str) for c in scale.classes):
        return text
    pattern = _compile_named_ends(vocabulary, *ends_of(scale))
    return pattern.sub(lambda match: " " * len(match[0]), _with_plain_digits(text))


@lru_cache(maxsize=64)
def _compile_named_ends(vocabulary: Vocabulary, low: Score | None, high: Score | None) -> re.Pattern[str]:
    """Return a pattern of phrases with the ends of the scale, and of an end that its word names, set off by a mark: ", maximum: 5"."""
    ends = "|".join(re.escape(str(end)) for end in (low, high) if end is not None) or r"(?!)"
    beside_word = (
        rf"(?<=[(（\[,，、;；])\s?(?:{vocabulary.extremes.pattern})[^\W\d_]{{0,15}}[.:：=\s]{{0,3}}"
        rf"(?:{vocabulary.linking_words}\s)?(?:{ends})(?:[.,]0)?(?!\d|[.,]\d)"
    )
    return re.compile(rf"{_compile_removed(vocabulary, low, high).pattern}|{beside_word}", re.IGNORECASE)


def _is_alone(sentence: str, choice: str, match: re.Match[str], names: tuple[str, ...], vocabulary: Vocabulary) -> bool:
    """Return True if the rest of the sentence holds no other choice: "1 or 2", "A, maybe B"; "4 because of 3 errors" and "4, not a 5" hold
    none."""
    if match["name"]:
        other_names = [re.escape(normalised(name)) for name in names if folded(name) != folded(match["name"])]
        return not any(re.search(rf"(?<!\w){other}(?!\w)", sentence) for other in other_names)
    said = choice + sentence
    rest = (
        number
        for number in re.finditer(NUMBER, sentence)
        if vocabulary.counted.match(sentence, number.end()) is None
        if not vocabulary.names_title(sentence, number.start(), number.end())
        if not vocabulary.qualifiers.qualify(said, len(choice) + number.start(), len(choice) + number.end())
    )
    return {to_number(number[0]) for number in rest} - {None} <= numbers_in(match["number"])


@lru_cache(maxsize=64)
def _compile_announcement(vocabulary: Vocabulary, names: tuple[str, ...]) -> re.Pattern[str]:
    """Match an announcer, a link, and a number or a named class of the scale. All repeats are bounded, so matching stays fast."""
    class_names = "|".join(re.escape(normalised(n)) for n in sorted(names, key=len, reverse=True)) or r"(?!)"
    return re.compile(
        rf"""(?P<first>(?:^|[.!?;。！？；])[\s*_`"'#「『【（(\[]{{0,8}})?
        (?P<word>{vocabulary.announcers})
        (?:[^\S\n]?[(（][^()（）\n]{{0,40}}[)）])?
        (?P<link>>|[\]】]|[\s*_`"'”」』】)\]]{{0,8}}
          (?:[-=]>|[:：=＝|→⇒➔➜]|[-–—](?=\s)|{vocabulary.linking_words}))?
        (?P<gap>[\s:：*_`"'“„«「『【（(\[]{{0,12}})
        (?:(?P<choice>{vocabulary.choice}){vocabulary.endings}?{_NO_LETTER}|(?P<name>{class_names})(?![^\W_]))""",
        re.VERBOSE | re.IGNORECASE | re.MULTILINE,
    )
