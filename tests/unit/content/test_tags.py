"""Language tags: normalised, matched exactly, explained where people mistake them, never guessed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import langcodes
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.content import tags
from harness.content.tags import autonym, canonical, english_name, likely_script, require_canonical, resolve, suggest
from harness.errors import UsageError

PACKS = ["cs", "de", "en", "es", "fr", "it", "ja", "pt-BR", "zh"]


def complaint(*texts: str, known: list[str] = PACKS) -> str:
    with pytest.raises(UsageError) as caught:
        resolve(texts, known)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("ja", "ja"),
        ("jpn", "ja"),
        ("JA", "ja"),
        ("pt_br", "pt-BR"),
        ("PT-br", "pt-BR"),
        ("ces", "cs"),
        (" cs ", "cs"),
        ("zho", "zh"),
        ("zh-hant", "zh-Hant"),
    ],
)
def test_spellings_of_a_tag_become_the_one(text: str, tag: str) -> None:
    assert canonical(text) == tag


@pytest.mark.parametrize("text", ["", "日本語", "j", "en us!", "a" * 50, "\x1b[31m"])
def test_what_cannot_be_a_tag_is_said(text: str) -> None:
    with pytest.raises(UsageError, match="cannot be a language tag; tags look like 'ja' or 'pt-BR'"):
        canonical(text)


def test_tags_keep_the_order_in_which_they_are_named() -> None:
    assert resolve(["pt_br", "jpn", "cs"], PACKS) == ["pt-BR", "ja", "cs"]


@pytest.mark.parametrize(
    ("text", "what", "language", "right"),
    [
        ("jp", "a country code", "Japanese", "ja"),
        ("cz", "a country code", "Czech", "cs"),
        ("kr", "the tag of Kanuri (and the country code of Korea)", "Korean", "ko"),
        ("CZ", "a country code", "Czech", "cs"),
        ("br", "the tag of Breton (and the country code of Brazil)", "Brazilian Portuguese", "pt-BR"),
    ],
)
def test_a_country_code_is_explained(text: str, what: str, language: str, right: str) -> None:
    assert complaint(text).startswith(f"no language pack for '{text}'. That is {what}; {language} is '{right}'.\n")


def test_a_mistaken_code_that_is_a_pack_is_that_pack() -> None:
    assert resolve(["kr"], [*PACKS, "kr"]) == ["kr"]


def test_what_is_no_language_is_said() -> None:
    assert complaint("xx").startswith("no language pack for 'xx', and it is not a known language tag.\n")


def test_a_near_language_is_suggested_and_never_taken() -> None:
    assert complaint("pt").startswith("no language pack for 'pt' (Portuguese). The closest here is 'pt-BR'.\n")
    assert complaint("sk").startswith("no language pack for 'sk' (Slovak).")


def test_a_far_language_is_not_suggested() -> None:
    assert complaint("ko") == f"no language pack for 'ko' (Korean).\n         choose from: {', '.join(PACKS)}"


@pytest.mark.parametrize("texts", [("jp",), ("xx",), ("pt",), ("",), ("ja", " "), ()], ids=",".join)
def test_every_complaint_lists_what_is_here(texts: tuple[str, ...]) -> None:
    assert complaint(*texts).endswith(", ".join(PACKS))


@pytest.mark.parametrize(
    ("texts", "words"), [(("",), "an empty language tag"), (("ja", ""), "an empty language tag"), ((), "no language is named")]
)
def test_an_empty_tag_is_refused(texts: tuple[str, ...], words: str) -> None:
    assert complaint(*texts).startswith(words)


@pytest.mark.parametrize("texts", [("ja", "ja"), ("ja", "jpn"), ("pt-BR", "cs", "pt_br")], ids=",".join)
def test_a_language_named_twice_is_refused_however_it_is_spelt(texts: tuple[str, ...]) -> None:
    assert "is named twice; name it once" in complaint(*texts)


def test_what_is_looked_for_is_in_the_message() -> None:
    with pytest.raises(UsageError, match="no items for 'ko'"):
        resolve(["ko"], PACKS, "items")


@given(st.lists(st.text(max_size=8) | st.sampled_from([*PACKS, "jpn", "pt_br", "jp"]), max_size=4))
def test_any_text_is_resolved_to_packs_or_refused_in_words(texts: list[str]) -> None:
    try:
        tags = resolve(texts, PACKS)
    except UsageError:
        return
    assert len(tags) == len(texts) == len(set(tags)) and set(tags) <= set(PACKS)


@pytest.mark.parametrize("tag", [*PACKS, "zh-Hant", "ko"])
def test_a_canonical_tag_is_accepted_in_files(tag: str) -> None:
    require_canonical(tag)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pt_br", "not canonical; write 'pt-BR'"),
        ("jpn", "write 'ja'"),
        ("jp", "Japanese is 'ja'"),
        ("xx", "not the tag of a known language"),
        ("", "cannot be a language tag"),
    ],
)
def test_any_other_spelling_is_refused_in_files(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        require_canonical(text)


@pytest.mark.parametrize(
    ("tag", "name", "own", "script"),
    [
        ("cs", "Czech", "čeština", "Latn"),
        ("ja", "Japanese", "日本語", "Jpan"),
        ("pt-BR", "Portuguese (Brazil)", "português (Brasil)", "Latn"),
        ("zh", "Chinese", "中文", "Hans"),
    ],
)
def test_names_and_scripts(tag: str, name: str, own: str, script: str) -> None:
    assert (english_name(tag), autonym(tag), likely_script(tag)) == (name, own, script)


@pytest.mark.parametrize(("name", "words"), [("sumarize", " Did you mean 'summarize'?"), ("translate", "")])
def test_a_near_name_is_suggested(name: str, words: str) -> None:
    assert suggest(name, ["open_prompt", "summarize"]) == words


@pytest.mark.parametrize(
    ("text", "texts_in"), [("en-de", "de"), ("cs-uk", "uk"), ("en-cs", "cs"), ("de-en", "en"), ("en_ja", "ja"), ("eng-deu", "de")]
)
def test_a_pair_of_languages_is_no_country(text: str, texts_in: str) -> None:
    with pytest.raises(UsageError, match=f"'{text}' looks like a pair of languages .*texts are in, '{texts_in}' or"):
        canonical(text)


def test_a_country_in_small_letters_stays_one() -> None:
    read = {text: canonical(text) for text in ("pt-br", "en-us", "zh-cn", "es-mx", "en-gb", "en-DE", "zh-yue")}
    assert [*read.values()] == ["pt-BR", "en-US", "zh-CN", "es-MX", "en-GB", "en-DE", "yue"]


def test_the_english_names_are_those_of_langcodes() -> None:
    names = tomllib.loads(Path(tags.__file__).with_name("english_names.toml").read_text("utf-8"))
    assert {tag: langcodes.get(tag).display_name("en") for tag in names} == names
    assert tags.english_name("cs") == "Czech" and tags.english_name("pt-BR") == "Portuguese (Brazil)"
