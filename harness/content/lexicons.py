"""The words of a language: finds and checks its lexicon, and checks and completes the strings of its labelling page (the interface)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping

import msgspec

from harness.content import tags
from harness.content.problems import Complaints, duplicates, key_pattern
from harness.content.specs import Interface, Lexicon
from harness.content.tags import likely_script

NO_WORDS = Lexicon(tag="und", version="0.0.0", reviewed_by=())


def lexicon_for(language: str, lexicons: Mapping[str, Lexicon]) -> Lexicon:
    """Return the lexicon of a language. `en-GB` may use that of `en`, because both are written in the same script.

    `NO_WORDS` when there is none, and for a text that is not a language tag.
    """
    if language in lexicons:
        return lexicons[language]
    base = language.partition("-")[0]
    try:
        return lexicons[base] if base in lexicons and likely_script(base) == likely_script(language) else NO_WORDS
    except ValueError:  # not a language tag
        return NO_WORDS


def lexicon_complaints(lexicon: Lexicon) -> Complaints:
    """Yield what is wrong with a lexicon, each with a pattern for the line to correct."""
    word_lists = {
        key: value
        for key, value in msgspec.structs.asdict(lexicon).items()
        if key not in ("reviewed_by", "synonyms") and isinstance(value, tuple)
    }
    for key, words in word_lists.items():
        if not all(map(str.strip, words)):
            yield f"a word in {key} is blank; write the word or remove it", key_pattern(key)
        for repeated in duplicates(unicodedata.normalize("NFC", word).casefold() for word in words):
            yield f"'{repeated}' is listed twice in {key}; case does not matter, so list it once", key_pattern(key)
    for phrase in lexicon.scale_phrases:
        if "{max}" not in phrase:
            yield (
                f"'{phrase}' in scale_phrases does not hold {{max}}, the highest score; write for example \"out of {{max}}\"",
                key_pattern("scale_phrases"),
            )
    for pair in lexicon.quotation_marks:
        if len(pair) != 2 or any(map(str.isspace, pair)):
            message = f"'{pair}' in quotation_marks is not a pair; write an opening mark and its closing mark, such as \"«»\""
            yield message, key_pattern("quotation_marks")
    if lexicon.injection and not lexicon.injection.strip():
        yield 'injection is blank; write the sentence, or "" for none', key_pattern("injection")
    if not all(map(str.isalpha, lexicon.vowels)) or len(set(lexicon.vowels)) < len(lexicon.vowels):
        yield 'vowels should be one text of different letters, such as "aeiou"', key_pattern("vowels")
    synonyms = [word for group in lexicon.synonyms for word in group]
    if alone := next((group for group in lexicon.synonyms if len(group) < 2), None):
        yield (
            f"the group {list(alone)} in synonyms has fewer than two words; write words that may stand for each other",
            key_pattern("synonyms"),
        )
    if blank := next((word for word in synonyms if any(map(str.isspace, word))), None):
        yield f"'{blank}' in synonyms holds a space; only single words are exchanged", key_pattern("synonyms")
    for repeated in duplicates(unicodedata.normalize("NFC", word).casefold() for word in synonyms):
        yield f"'{repeated}' is listed twice in synonyms; put all words that may stand for it into one group", key_pattern("synonyms")
    marked = [opening for opening in lexicon.refusals if "~" in opening]
    if marked and not lexicon.refused_actions:
        message = f"'~' in '{marked[0]}' stands for refused_actions, but the list is empty; fill it, or write the whole opening"
        yield message, key_pattern("refusals")
    if lexicon.refused_actions and not marked:
        yield "no refusal contains '~', so refused_actions have no effect; put '~' where an action belongs", key_pattern("refused_actions")


FALLBACK = "en"  # the language of the program; its file says which strings there are
_IN_BRACES = re.compile(r"\{[^{}\n]*\}")


def interface_complaints(interface: Interface, english: Interface) -> Complaints:
    """Strings that the English does not have, and strings that lack or invent a name in braces; each with a pattern for its line."""
    for key, text in interface.strings.items():
        if key not in english.strings:
            yield f"'{key}' is not a string of the labelling page.{tags.suggest(key, english.strings)} Remove it", key_pattern(key)
            continue
        names, expected = _IN_BRACES.findall(text), _IN_BRACES.findall(english.strings[key])
        if Counter(names) != Counter(expected):
            yield f"'{key}' contains {_listed(names)}, but should contain {_listed(expected)}, each once", key_pattern(key)
        if not text.strip():
            yield f"'{key}' is blank; translate it", key_pattern(key)


def missing_strings(interface: Interface, english: Interface) -> Complaints:
    """Strings of the English that are not translated. The page shows them in English, so that an older translation still works."""
    for key in (key for key in english.strings if key not in interface.strings):
        yield f"'{key}' is missing; translate it (the English is: {english.strings[key]})", r"^\[strings\]"


def completed(interface: Interface, english: Interface) -> Interface:
    """Return the interface with the strings that it lacks, in English."""
    return msgspec.structs.replace(interface, strings={**english.strings, **interface.strings})


def _listed(marks: list[str]) -> str:
    return ", ".join(marks) or "nothing in braces"
