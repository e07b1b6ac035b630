"""Reads prose in the languages of a vocabulary: announced scores ("Score: 2"), and refusals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from harness.model import Failure, Scale
from harness.parse.normalisation import folded, normalised
from harness.parse.values import Reading, agreed_reading, ends_of, failed_reading, read_choice
from harness.parse.vocabulary import NUMBER, Vocabulary, folded_opening, numbers_in, to_number

_OPENING_CHARACTERS = 200  # a refusal must begin within them
_LOOKAHEAD_CHARACTERS = 80  # searched for a second score after an announced one
_LOOKBEHIND_CHARACTERS = 40  # searched for words that tell an announced number from a score
SENTENCE_END = re.compile(r"[\n!?;。！？；\0]|\.(?!\d)")
_CLAUSE_END = re.compile(r"[^\S\n]{0,4}(?:\Z|[\n\0.,;:!?)\]}\"'*_`|<。、，；：！？」』】）”»])")
_CLAUSE_START = re.compile(r"[\n.!?;:,。！？；：，、\0]")
_MARKED = re.compile(r"\[\[([^\[\]\n]{1,80})\]\]|\\f?boxed\{(?:\\\w{1,10}\{)?([^{}\n]{1,80})\}\}?")  # as judge models are trained to write
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

    So is an end of the scale that another score follows, unless its announcement begins a sentence: "the top score is 2. I give 1."

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
    if not all(choice.alone for choice in choices) or _may_be_an_end(choices, normalised(text), scale):
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
        clause_ends = _CLAUSE_END.match(text, match.end()) is not None
        linked = bool(match["link"] or ":" in match["gap"] or "：" in match["gap"])
        if not (linked or (match["first"] is not None and clause_ends)):
            continue
        if not clause_ends and (match["name"] or folded(match["word"]) in vocabulary.remarks):
            continue
        firm = any(sign in (match["link"] or "") + match["gap"] for sign in ":：=＝")
        numbers = list(vocabulary.other_numbers.finditer(before))
        of_other = bool(numbers) and (
            firm or not before[numbers[-1].end() :].removesuffix(between).removesuffix(match["word"]).strip(" _-")
        )
        sentence = SENTENCE_END.split(text[match.end() : match.end() + _LOOKAHEAD_CHARACTERS], maxsplit=1)[0]
        yield AnnouncedChoice(
            match["name"] or match["choice"],
            firm,
            alone=_is_alone(sentence, match, names),
            sure=match["first"] is not None and not vocabulary.extremes.search(sentence),
            other=of_other or vocabulary.extremes.search(before) is not None,
            start=start,
        )
    for match in _MARKED.finditer(text):
        raw = (match[1] or match[2]).strip()
        if vocabulary.whole_choice.fullmatch(raw) or folded(raw) in map(folded, names):
            yield AnnouncedChoice(raw, firm=True, alone=True, start=match.start(1 if match[1] else 2))


def without_marked_choices(text: str) -> str:
    """Return the text without choices in a box or in double brackets, whose braces open no object."""
    return _MARKED.sub(" ", text)


def is_refusal(text: str, vocabulary: Vocabulary) -> bool:
    """Return True if a text begins like a refusal. Use it only for texts without a readable score.

    >>> from harness.content.specs import Lexicon
    >>> words = Vocabulary([Lexicon(tag="en", version="1.0.0", reviewed_by=(), refusals=("i don't ~",), refused_actions=("judge",))])
    >>> [is_refusal(text, words) for text in ("“I don’t judge texts.”", "I don't like it.")]
    [True, False]
    """
    return folded_opening(text[:_OPENING_CHARACTERS]).lstrip(" \t\r\n\ufeff\"'*>「“").startswith(vocabulary.refusals)


def _may_be_an_end(choices: list[AnnouncedChoice], text: str, scale: Scale) -> bool:
    """Return True if an announced number may be an end of the scale that is only mentioned: another number of the scale follows it."""
    ends = {to_number(str(end)) for end in ends_of(scale) if isinstance(end, int | float)}
    unsure = {to_number(choice.raw): choice.start for choice in reversed(choices) if not choice.sure}
    starts = [(end, start) for end, start in unsure.items() if end in ends]
    return bool(starts) and any(
        start < match.start() and number not in (None, end) and scale.holds(float(number))
        for match in re.finditer(NUMBER, text)
        for number in [to_number(match[0])]
        for end, start in starts
    )


def _is_alone(sentence: str, match: re.Match[str], names: tuple[str, ...]) -> bool:
    """Return True if the rest of the sentence holds no other choice: "1 or 2", "A, maybe B"."""
    if match["name"]:
        other_names = [re.escape(normalised(name)) for name in names if folded(name) != folded(match["name"])]
        return not any(re.search(rf"(?<!\w){other}(?!\w)", sentence) for other in other_names)
    return numbers_in(sentence) <= numbers_in(match["number"])


@lru_cache(maxsize=64)
def _compile_announcement(vocabulary: Vocabulary, names: tuple[str, ...]) -> re.Pattern[str]:
    """Match an announcer, a link, and a number or a named class of the scale. All repeats are bounded, so matching stays fast."""
    class_names = "|".join(re.escape(normalised(n)) for n in sorted(names, key=len, reverse=True)) or r"(?!)"
    return re.compile(
        rf"""(?P<first>(?:^|[.!?;。！？；])[\s*_`"'#「『【（(\[]{{0,8}})?
        (?P<word>{vocabulary.announcers})
        (?:[^\S\n]?[(（][^()（）\n]{{0,40}}[)）])?
        (?P<link>>|[\]】]|[\s*_`"'”」』】)\]]{{0,8}}
          (?:[:：=＝|]|[-–—](?=\s)|{vocabulary.linking_words}))?
        (?P<gap>[\s:：*_`"'“„«「『【（(\[]{{0,12}})
        (?:(?P<choice>{vocabulary.choice}){vocabulary.endings}?{_NO_LETTER}|(?P<name>{class_names})(?![^\W_]))""",
        re.VERBOSE | re.IGNORECASE | re.MULTILINE,
    )
