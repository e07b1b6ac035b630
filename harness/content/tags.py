"""Language tags: normalised by `langcodes` and matched exactly. A wrong tag is explained, never guessed."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Collection
from functools import cache, lru_cache
from pathlib import Path

import langcodes

from harness.errors import UsageError

# Country codes and other mistakes, each with the most likely meaning. Some are valid tags of other languages; the explanation
# is used only where no pack has that name.
_MISTAKES = {
    "jp": ("a country code", "Japanese", "ja"),
    "cz": ("a country code", "Czech", "cs"),
    "kr": ("the tag of Kanuri (and the country code of Korea)", "Korean", "ko"),
    "cn": ("a country code", "Chinese", "zh"),
    "tw": ("the tag of Twi (and the country code of Taiwan)", "Chinese", "zh"),
    "ua": ("a country code", "Ukrainian", "uk"),
    "gr": ("a country code", "Greek", "el"),
    "dk": ("a country code", "Danish", "da"),
    "br": ("the tag of Breton (and the country code of Brazil)", "Brazilian Portuguese", "pt-BR"),
    "us": ("a country code", "English", "en"),
    "gb": ("a country code", "English", "en"),
    "at": ("a country code", "German", "de"),
    "sp": ("not a language tag", "Spanish", "es"),
    "ger": ("a library code", "German", "de"),
}


@lru_cache(maxsize=1024)
def canonical(text: str) -> str:
    """Return the canonical BCP-47 form: `jpn` is `ja`, `pt_br` is `pt-BR`.

    Raises UsageError for a text that cannot be a tag, and for one that is read as a pair of languages (`en-de`).

    >>> canonical("pt_br"), canonical("jpn")
    ('pt-BR', 'ja')
    """
    if languages := _pair_of_languages(text.strip()):
        region = langcodes.standardize_tag(text.strip()) if text.strip().isascii() and ">" not in text else ""
        in_country = (
            f"; for {english_name(region)} write '{region}'" if region and langcodes.tag_is_valid(region) and len(region) == 5 else ""
        )
        names = " and ".join(map(english_name, languages))
        raise UsageError(
            f"'{text}' looks like a pair of languages ({names}); name the one that the texts are in, '{languages[1]}' or "
            f"'{languages[0]}'{in_country}"
        )
    try:
        return langcodes.standardize_tag(text.strip())
    except ValueError:
        raise UsageError(f"'{text}' cannot be a language tag; tags look like 'ja' or 'pt-BR'{_tag_of_name(text)}") from None


def _tag_of_name(text: str) -> str:
    """Return a sentence with the tag of the language that has a text as its name in any language; an empty text for any other.

    >>> _tag_of_name("japanese")
    ". Did you mean 'ja' (Japanese)?"
    """
    try:
        tag = str(langcodes.find(text.strip()))
    except LookupError:
        return ""
    return f". Did you mean '{tag}' ({english_name(tag)})?"


def codes_of_one_language(tags: Collection[str]) -> list[list[str]]:
    """Return the groups of tags that mean one language, script and country, such as `zh`, `cmn` and `zh-Hans-CN`; the simplest tag first.

    >>> codes_of_one_language(["cmn", "zh", "zh-TW", "pt-PT", "pt"])
    [['zh', 'cmn']]
    """
    groups: dict[str, list[str]] = {}
    for tag in sorted(tags, key=lambda tag: (tag.count("-"), len(tag), tag)):
        full = langcodes.get(langcodes.standardize_tag(tag, macro=True)).maximize().to_tag()
        groups.setdefault(full, []).append(tag)
    return [group for group in groups.values() if len(group) > 1]


def language_of_country(tag: str) -> str | None:
    """Return the base tag of the language of a country whose code is also the tag of another language; None for any other tag.

    >>> language_of_country("kr"), language_of_country("de"), language_of_country("ja")
    ('ko', None, None)
    """
    if not re.fullmatch("[a-z]{2}", tag) or tag == "cs":  # the country CS is no more
        return None
    country = langcodes.get(f"und-{tag}")
    language = country.maximize().language if country.is_valid() else None
    return language if language and language != "und" and langcodes.tag_distance(tag, language) > _SAME_TO_READERS else None


_SAME_TO_READERS = 10  # the distance of CLDR at most, between a language and what its readers take as the same: Norwegian and Bokmål


_OF_MANY = ("zh", "ar", "ms", "sgn", "lv", "sw", "uz", "kok")  # a second part of three letters names one of their languages


def _pair_of_languages(text: str) -> tuple[str, str] | None:
    """Return the two languages that a text such as `en-de` names where its second part would else be taken for a country; or None.

    In small letters only, as `en-DE` is how a country is written. Where the first language is the main one of the country (`pt-br`), or
    the second part is no language (`en-us`), the country is meant.
    """
    parts = re.fullmatch(r"([a-z]{2,3})[-_>→]([a-z]{2,3})", text)
    if not parts:
        return None
    first, second = (langcodes.standardize_tag(part) for part in parts.groups())
    if not (langcodes.tag_is_valid(first) and langcodes.tag_is_valid(second)) or second[:2] != parts[2][:2]:
        return None
    if len(parts[2]) == 3:
        return None if first in _OF_MANY else (first, second)
    country = langcodes.standardize_tag(f"und-{parts[2]}")
    if country == f"und-{parts[2].upper()}" and langcodes.tag_is_valid(country) and langcodes.get(country).maximize().language == first:
        return None
    return first, second


def require_canonical(text: str) -> None:
    """Raise UsageError unless `text` is the canonical tag of a known language; the message names the right tag if there is one.

    >>> require_canonical("pt-BR")
    """
    tag = canonical(text)
    mistake = _MISTAKES.get(text.strip().lower())
    if mistake and not langcodes.tag_is_valid(tag):
        kind, language, right = mistake
        raise UsageError(f"'{text}' is {kind}; {language} is '{right}'")
    if not langcodes.tag_is_valid(tag):
        raise UsageError(f"'{text}' is not the tag of a known language; tags look like 'ja' or 'pt-BR'")
    if tag != text:
        raise UsageError(f"language '{text}' is not canonical; write '{tag}'")


@lru_cache(maxsize=1024)
def tag_of_cell(text: str) -> str:
    """Return the canonical tag of a language that a table states by its tag or by its name, in English or in itself.

    Raises UsageError for anything else, with the tag that a name in a further language may mean.

    >>> tag_of_cell("pt_br"), tag_of_cell("Czech"), tag_of_cell("日本語")
    ('pt-BR', 'cs', 'ja')
    """
    try:
        tag = canonical(text)
        require_canonical(tag)
        return tag
    except UsageError as err:
        if re.fullmatch("[A-Za-z]{2,3}([-_>→].*)?", text.strip()):  # a code, not a name
            raise
        if languages := language_named(text):
            return languages
        try:
            meant = langcodes.find(text.strip())
        except LookupError:
            raise err from None
        raise UsageError(f"'{text}' is not the tag of a language; if {english_name(str(meant))} is meant, write '{meant}'") from None


@lru_cache(maxsize=256)
def language_named(text: str) -> str | None:
    """Return the canonical tag that a text means: a tag of a known language, or exactly the name of one in English or in itself.

    None for anything else.

    >>> language_named("jpn"), language_named("Japanese"), language_named("Čeština"), language_named("Japanesey")
    ('ja', 'ja', 'cs', None)
    """
    try:
        tag = langcodes.standardize_tag(text.strip())
    except ValueError:
        tag = ""
    if tag and langcodes.tag_is_valid(tag):
        return tag
    try:
        best_tag = str(langcodes.find(text.strip()))
    except LookupError:
        return None
    return best_tag if text.strip().casefold() in (english_name(best_tag).casefold(), autonym(best_tag).casefold()) else None


def tag_of_words(text: str) -> str:
    """Return the tag that a text on a command line means: a tag, or exactly the name of a language in English or in itself.

    Raises UsageError as `canonical` does.

    >>> tag_of_words("japanese"), tag_of_words("čeština"), tag_of_words("pt_br")
    ('ja', 'cs', 'pt-BR')
    """
    is_code = re.fullmatch("[A-Za-z]{2,3}([-_>→].*)?", text.strip())
    return (None if is_code else language_named(text)) or canonical(text)


@lru_cache(maxsize=256)
def likely_script(tag: str) -> str:
    """Return the ISO 15924 script of a language: the one in the tag, else the most likely one.

    >>> likely_script("zh"), likely_script("zh-Hant")
    ('Hans', 'Hant')
    """
    return str(langcodes.get(tag).maximize().script)


def resolve(texts: Collection[str], choices: Collection[str], what: str = "language pack") -> list[str]:
    """Return the tags that `texts` mean, in order. Raises UsageError when one is empty, repeated or not among `choices`.

    >>> resolve(["jpn", "Czech"], ["cs", "en", "ja"])
    ['ja', 'cs']
    """
    tags: list[str] = []
    for text in texts:
        if not text.strip():
            raise UsageError(f"an empty language tag; name one or more of: {', '.join(sorted(choices))}")
        # Before normalising, because langcodes turns some mistaken codes into other tags.
        tag = tag_of_words(text)
        if tag not in choices:
            raise UsageError(_unknown_tag(text.strip(), tag, choices, what))
        if tag in tags:
            raise UsageError(f"language '{tag}' is named twice; name it once")
        tags.append(tag)
    if not tags:
        raise UsageError(f"no language is named; name one or more of: {', '.join(sorted(choices))}")
    return tags


def _unknown_tag(text: str, tag: str, known_tags: Collection[str], what: str) -> str:
    choices = choose_from(sorted(known_tags))
    mistake = _MISTAKES.get(text.lower())
    if mistake:
        kind, language, right = mistake
        return f"no {what} for '{text}'. That is {kind}; {language} is '{right}'.{choices}"
    if not langcodes.tag_is_valid(tag):
        return f"no {what} for '{text}', and it is not a known language tag.{choices}"
    name = langcodes.get(tag).display_name()
    closest, distance = langcodes.closest_match(tag, sorted(known_tags), max_distance=10)
    hint = f" The closest here is '{closest}'." if closest != "und" and distance <= 10 else ""
    return f"no {what} for '{text}' ({name}).{hint}{choices}"


def english_name(tag: str) -> str:
    """Return the language's English name, e.g. `Portuguese (Brazil)` for `pt-BR`."""
    return _read_english_names().get(tag) or langcodes.get(tag).display_name("en")


@cache
def _read_english_names() -> dict[str, str]:
    return tomllib.loads(Path(__file__).with_name("english_names.toml").read_text("utf-8"))


def autonym(tag: str) -> str:
    """Return the name of the language in the language itself, e.g. `čeština` for `cs`."""
    return langcodes.get(tag).autonym()


def both_names(tag: str) -> str:
    """Return a language by its English name, its own and its tag; a name that is both stands once.

    >>> both_names("cs"), both_names("en")
    ('Czech · čeština (cs)', 'English (en)')
    """
    names = dict.fromkeys((english_name(tag), autonym(tag)))
    return f"{' · '.join(names)} ({tag})"


def name_in(tag: str, language: str) -> str:
    """Return the name of a language in another one, e.g. `angličtina` for `en` in `cs`; its autonym in itself.

    >>> name_in("en", "cs"), name_in("cs", "cs")
    ('angličtina', 'čeština')
    """
    return autonym(tag) if tag == language else langcodes.get(tag).display_name(language)


_SIMILAR = 0.7  # of two names, by difflib; below this, names that mean different things are suggested for each other
_LEAST_BEGINNING = 4  # characters of a name that stand for the whole


def choose_from(choices: Collection[str], name: str = "") -> str:
    """Return the end of an error message about a name that is not among `known`: a similar name, if `name` has one, and all known ones.

    >>> print("no metric 'tonne'." + choose_from(["fluency", "tone"], "tonne"))
    no metric 'tonne'. Did you mean 'tone'?
             choose from: fluency, tone
    """
    return f"{suggest(name, choices)}\n         choose from: {', '.join(choices)}" if choices else " There is none to choose from."


def suggest(name: str, choices: Collection[str]) -> str:
    """` Did you mean 'x'?` if a single known name begins with this one, or one is much like it, else an empty text.

    >>> suggest("coherency", ["cohesiveness", "coherence"]), suggest("politeness", ["cohesiveness", "coherence"])
    (" Did you mean 'coherence'?", '')
    """
    longer = [other for other in choices if len(name) >= _LEAST_BEGINNING and other.startswith(name)]
    near = longer if len(longer) == 1 else difflib.get_close_matches(name, list(choices), n=1, cutoff=_SIMILAR)
    return f" Did you mean '{near[0]}'?" if near else ""
