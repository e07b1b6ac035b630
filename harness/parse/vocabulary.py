"""The parser's words, those of all lexicons of a library, compiled once.

A judge may answer in another language than that of the text, so the parser reads every reply with the words of all languages.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

import msgspec

from harness.content import Library
from harness.content.library import bundled_lexicons
from harness.content.specs import Lexicon
from harness.parse.normalisation import folded, normalised
from harness.parse.numbers import NUMBER
from harness.parse.qualifiers import Qualifiers

# Scripts without spaces between words, or with particles attached to them.
_UNSPACED_SCRIPTS = ("CJK", "HIRAGANA", "KATAKANA", "BOPOMOFO", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN")
_NEVER = r"(?!)"
CLAUSE_END = r"(?=[^\S\n]{0,4}(?:\Z|[\n\0.,;:!?)\]}\"'*_`|<。、，；：！？」』】）”»।॥؟،؛۔።]))"
"""Where a clause ends, as a part of patterns."""
_STEM_LETTERS = 4  # from here on, a word for another number matches where it begins a longer word
_LETTER = r"[^\W_]"
_LABEL_START = re.compile(r"[\n\0!?;,…。！？；，、।॥؟،؛۔]|\.(?!\d)")  # what stands before a label: "Error count: 3"
_APOSTROPHES = "’'"  # they close a quotation only at the end of a word
_TYPEWRITER_QUOTATIONS = r"""\"[^\"]*\"|(?<!\w)'[^\n]+?'(?!\w)"""


class Vocabulary:
    """The words of several lexicons, as parts of patterns. Immutable; other processes receive it as its lexicons.

    `announcers`, `linking_words` and `endings` are regular expressions that match one such word. `choice` matches a number with its unit
    and maximum; its groups are `number` and `of`. Compile all of them with IGNORECASE. `remarks` and `refusals` are folded: see `folded`
    and `folded_opening`. `scale_phrases` name the ends of a scale, as `{min}` and `{max}`; `numbered` matches a
    word that a number (or a letter) follows which names a text. `extremes` finds words for the ends of a
    scale, `other_numbers` those for numbers that are no score: both are compiled and also match where they begin a longer word, as
    `counted` does, which matches what a number before it counts. `minus` matches a word for a minus sign at the end of what stands before
    a number; `qualifiers` find what denies or bounds one. `written_maximum` matches the highest score of another scale behind a number,
    where it is a word: " out of ten". `digest` is the SHA-256 of the lexicons.
    """

    def __init__(self, lexicons: Iterable[Lexicon]) -> None:
        self.lexicons = tuple(sorted(lexicons, key=lambda lexicon: lexicon.tag))
        self.digest = hashlib.sha256(msgspec.json.encode(self.lexicons)).hexdigest()
        self.announcers = _word_pattern(self._list_words("announcers"), before=f"(?<!{_LETTER})", after=f"(?!{_LETTER})")
        self._announcing_end = re.compile(rf"{self.announcers}\Z", re.IGNORECASE)
        self.linking_words = _word_pattern(self._list_words("linking_words"), after=f"(?!{_LETTER})")
        linking_words = _word_pattern(self._list_words("linking_words"), before=f"(?<!{_LETTER})", after="")
        self._linking_end = re.compile(rf"{linking_words}\Z", re.IGNORECASE)
        self.endings = _write_alternatives(self._list_words("endings"))
        unit = _word_pattern(self._list_words("units"), after=r"(?!\w)")
        out_of = _write_alternatives(self._list_words("out_of"))
        unit = rf"\s{{0,3}}{unit}"
        # Words such as "z" in "4 z 5" also join a number to what it counts ("4 z 5 vět"): after these, the maximum ends its clause.
        phrases = (re.fullmatch(r"\{score\}(.+)\{max\}", phrase) for phrase in self._list_words("scale_phrases"))
        of_clause = _write_alternatives(dict.fromkeys(phrase[1].strip() for phrase in phrases if phrase))
        joiners = f"[/／]|{out_of}|{of_clause}"
        written_maxima = _word_pattern(self._list_words("written_maxima"), after=f"(?!{_LETTER})")
        of_clause += rf"(?=\s{{0,3}}{NUMBER}(?:{unit})?{CLAUSE_END})"
        maximum = rf"\s{{0,3}}[(（]?(?:[/／]|{out_of}|{of_clause})\s{{0,3}}(?P<of>{NUMBER})(?:{unit})?[)）]?"
        self.choice = rf"(?P<number>{NUMBER})(?:{unit})?(?:{maximum})?"
        self.whole_choice = re.compile(self.choice, re.IGNORECASE)
        self.scale_phrases = self._list_words("scale_phrases")
        self.extremes = _compile_stems(self._list_words("extremes"))
        self.other_numbers = _compile_stems(self._list_words("other_numbers"))
        counted, kinds = (_compile_stems(self._list_words(name)).pattern for name in ("counted", "counted_kinds"))
        self.counted = re.compile(rf"\s{{0,2}}(?:(?:{kinds})\w{{0,15}}[\s-]{{0,2}}){{0,2}}(?:{counted})", re.IGNORECASE)
        limits_after = _word_pattern(self._list_words("limits_after"), after=f"(?!{_LETTER})")
        inferior = _compile_stems(self._list_words("inferior")).pattern
        self.qualifiers = Qualifiers(
            self._list_words("denials"), self._list_words("limits_before"), limits_after, self._list_words("conjunctions"), inferior, unit
        )
        self.written_maximum = re.compile(rf"\s{{0,3}}(?:{joiners})\s{{0,3}}{written_maxima}", re.IGNORECASE)
        self._answer_keys, self._reason_keys = (frozenset(map(folded, self._list_words(name))) for name in ("answer_keys", "reason_keys"))
        minus = _word_pattern(self._list_words("minus"), before=f"(?<!{_LETTER})", after="")
        self.minus = re.compile(rf"{minus}\s{{0,2}}\Z", re.IGNORECASE)
        self.numbered = _word_pattern(self._list_words("numbered"), before=f"(?<!{_LETTER})", after=f"(?!{_LETTER})")
        self._titles = tuple({word for title in self._list_words("numbered") for word in (normalised(title), normalised(title).casefold())})
        self._title_end = re.compile(rf"{self.numbered}\s?[#№]?\s?\Z", re.IGNORECASE)
        self._longest_title = max(map(len, self._titles), default=0) + 4
        self._unit = re.compile(unit, re.IGNORECASE)
        self.remarks = frozenset(map(folded, self._list_words("remarks")))
        self.refusals = tuple(sorted({opening for lexicon in self.lexicons for opening in _list_refusal_openings(lexicon)}))
        self.quotations = re.compile("|".join([*_write_quotations(self._list_words("quotation_marks")), _TYPEWRITER_QUOTATIONS]))

    def announces(self, name: str) -> bool:
        """Return True if a name, such as the key of a member, is a word that announces a score, or ends with one: "final rating"."""
        return self._announcing_end.search(name) is not None

    def names_another_number(self, name: str) -> bool:
        """Return True if a name, such as the key of a member, is about a number that is no score: "max score", "errors", "text id"."""
        name = normalised(name)
        return self.extremes.search(name) is not None or self.other_numbers.search(name) is not None or self.qualifiers.names_denial(name)

    def label_of(self, before: str) -> str:
        """Return the words that say what a number right after them is: "Error count" of "Error count: ", "my confidence" of "my
        confidence is "; the last word where nothing joins it to the number, if it is a word for another number."""
        label = before.rstrip(" \t*_`\"'“„(")
        last = label[-1:]
        if last in ":：=＝":
            words = label[:-1]
        elif (link := self._linking_end.search(label)) is not None:
            words = label[: link.start()]
        else:
            word = re.search(rf"{_LETTER}+\Z", label)
            return word[0] if word is not None and self.other_numbers.match(label, word.start()) is not None else ""
        return _LABEL_START.split(words)[-1]

    def names_title(self, text: str, start: int, end: int) -> bool:
        """Return True if the whole number from `start` to `end` names a text: "story 2"; a word for points after it makes it a score."""
        before = text[max(0, start - self._longest_title) : start]
        if not before.rstrip(" \t\n#№").casefold().endswith(self._titles) or not text[start:end].isdecimal():
            return False
        return self._title_end.search(before) is not None and self._unit.match(text, end) is None

    def holds_an_answer(self, name: str) -> bool:
        """Return True if a key of a JSON answer is one that usually holds its score, besides those that announce it: "value"."""
        return folded(name).strip() in self._answer_keys

    def holds_a_reason(self, name: str) -> bool:
        """Return True if a key of a JSON answer is one that usually holds its reason: "explanation"."""
        return folded(name).strip() in self._reason_keys

    def names_a_text(self, name: str) -> bool:
        """Return True if a name, such as the key of a member, is a word for what is judged, and no more: "item", "text"."""
        return re.fullmatch(self.numbered, normalised(name), re.IGNORECASE) is not None

    def __reduce__(self) -> tuple[object, ...]:
        return _vocabulary, (self.lexicons,)

    def _list_words(self, name: str) -> tuple[str, ...]:
        return tuple(word for lexicon in self.lexicons for word in getattr(lexicon, name))


def vocabulary_of(library: Library) -> Vocabulary:
    """Return the vocabulary of all packs of a library. Raises ContentError with `file:line` for a lexicon that cannot be read."""
    return _vocabulary(tuple(library.lexicons.values()))


@cache
def bundled_vocabulary() -> Vocabulary:
    """Return the vocabulary of the bundled packs, for callers without a library."""
    return _vocabulary(tuple(bundled_lexicons().values()))


@lru_cache(maxsize=16)
def _vocabulary(lexicons: tuple[Lexicon, ...]) -> Vocabulary:
    return Vocabulary(lexicons)


def folded_opening(text: str) -> str:
    """Return the beginning of a reply or refusal in lower case, with plain letters and apostrophes, for comparison."""
    return unicodedata.normalize("NFKC", normalised(text)).casefold().replace("’", "'")


def _list_refusal_openings(lexicon: Lexicon) -> Iterator[str]:
    for opening in map(folded_opening, lexicon.refusals):
        if "~" in opening:
            yield from (opening.replace("~", folded_opening(action)) for action in lexicon.refused_actions)
        else:
            yield opening


def _word_pattern(words: Iterable[str], *, before: str = "", after: str) -> str:
    """Return a regular expression that matches one of the words. `before` and `after` bound the words of scripts with spaces."""
    words = list(words)
    unspaced = _write_alternatives(word for word in words if _is_unspaced(word))
    spaced = _write_alternatives(word for word in words if not _is_unspaced(word))
    return f"(?:{before}{spaced}{after}|{unspaced})"


def _compile_stems(words: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that finds the words, and those of four letters or more also where they begin a longer word."""
    words = list(words)
    stems = _word_pattern((word for word in words if len(normalised(word)) >= _STEM_LETTERS), before=f"(?<!{_LETTER})", after="")
    short = _word_pattern(
        (word for word in words if len(normalised(word)) < _STEM_LETTERS), before=f"(?<!{_LETTER})", after=f"(?!{_LETTER})"
    )
    return re.compile(f"{stems}|{short}", re.IGNORECASE)


def _is_unspaced(word: str) -> bool:
    return unicodedata.name(word.lstrip()[0], "").startswith(_UNSPACED_SCRIPTS)


def _write_alternatives(words: Iterable[str]) -> str:
    """Return a regular expression that matches one of the words, the longest first; a space matches any white space."""
    distinct = {normalised(word) for word in words}
    ordered = sorted(distinct, key=lambda word: (-len(word), word))
    return "(?:" + ("|".join(re.escape(word).replace("\\ ", r"\s") for word in ordered) or _NEVER) + ")"


def _write_quotations(pairs: Iterable[str]) -> Iterator[str]:
    """Return one regular expression for each opening quotation mark; some have several closing marks."""
    closers: defaultdict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        closers[pair[0]].add(pair[1])
    for opening, closing_marks in sorted(closers.items()):
        marks = re.escape("".join(sorted(closing_marks)))
        word_end = r"(?!\w)" if closing_marks & set(_APOSTROPHES) else ""
        yield f"{re.escape(opening)}[^{marks}]*[{marks}]{word_end}"
