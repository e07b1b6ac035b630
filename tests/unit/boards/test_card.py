"""A card is read as it was written, and holds nothing that tables cannot show."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.boards.card import (
    JudgeCard,
    VerificationRecord,
    card_complaints,
    card_text,
    folder_complaint,
    name_complaints,
    quote,
    read_card,
    skeleton,
    slug,
    title_complaints,
    write_card,
)
from harness.errors import ContentError

CARD = JudgeCard(
    name="openai/gpt-4o-2024-08-06",
    title="GPT-4o",
    provider="openai",
    model="gpt-4o-2024-08-06",
    settings={"endpoint": "host.example", "seed": 3, "strict": True, "a key": "x", "body": '{"effort":"low","order":["a",{"b":1}]}'},
    contact='"we" <us@example.org>\\',
    families=("gpt", "o"),
    board="controls@2.1.0",
    replies_sha256="0" * 64,
)


def changed(**fields: Any) -> JudgeCard:
    return msgspec.structs.replace(CARD, **fields)


@pytest.mark.parametrize(
    "card",
    [CARD, changed(settings={}), changed(status="verified", verified=VerificationRecord("2026-01-02", 40, 0.975, 1.0, seed=7))],
    ids=["settings", "bare", "verified"],
)
def test_a_card_is_read_as_it_was_written(tmp_path: Path, card: JudgeCard) -> None:
    write_card(tmp_path / "judge.toml", card)
    assert read_card(tmp_path / "judge.toml") == card


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_written_so_that_toml_reads_it_back(text: str) -> None:
    card = changed(contact=text, settings={text: text})
    assert msgspec.toml.decode(card_text(card), type=JudgeCard) == card


def test_what_can_stand_in_a_card_is_not_complained_about() -> None:
    for model in (
        "gpt-4o-2024-08-06",
        "meta-llama/Llama-3.1-8B-Instruct:free",
        "ft:gpt-4o:org::a1",
        "模型-7b",
        "owner/repo:file.Q4_K.gguf",
    ):
        assert not list(card_complaints(changed(name=f"openai/{model}", model=model, title="Größtes (v2.1, 2024) #1")))


@pytest.mark.parametrize(
    ("fields", "key", "words"),
    [
        ({"name": "openai/gpt"}, "name", "should be provider and model"),
        ({"title": "a\nb"}, "title", "U+000A"),
        ({"title": "a\u2066b"}, "title", "U+2066"),
        ({"title": "\ue000"}, "title", "U+E000"),
        ({"title": "<i>"}, "title", "contains '<'"),
        ({"title": "see https://x.example"}, "title", "contains '://'"),
        ({"title": "x" * 121}, "title", "121 characters"),
        ({"title": "=1+1"}, "title", "begins like a formula"),
        ({"title": "\uff1dA1"}, "title", "begins like a formula"),
        ({"title": "javascript:alert(1)"}, "title", "an address that runs"),
        ({"contact": "x" * 501}, "contact", "501 characters"),
        ({"contact": "x" * 10_000_000}, "contact", "10000000 characters"),
        ({"contact": "@SUM(A1:A9)"}, "contact", "begins like a formula"),
        ({"contact": "JavaScript :alert(1)"}, "contact", "an address that runs"),
        ({"contact": "data:text/html;base64,PHNjcmlwdD4="}, "contact", "an address that runs"),
        ({"contact": "me <img src=x onerror=alert(1)>"}, "contact", "which is markup"),
        ({"contact": "me <script"}, "contact", "which is markup"),
        ({"contact": "me &lt;script"}, "contact", "which is markup"),
        ({"contact": "[me](https://x.example)"}, "contact", "which is markup"),
        ({"title": "::error::x"}, "title", "a command to a workflow"),
        ({"title": " ::stop-commands::x"}, "title", "a command to a workflow"),
        ({"contact": "::add-mask::x"}, "contact", "a command to a workflow"),
        ({"contact": "me ##[error]x"}, "contact", "a command to a workflow"),
        ({"families": ("::warning::x",)}, "families", "a command to a workflow"),
        ({"settings": {"x": "::debug::x"}}, "settings", "a command to a workflow"),
        ({"exposure_note": "-2+3"}, "exposure_note", "begins like a formula"),
        ({"exposure_note": "\x00"}, "exposure_note", "U+0000"),
        ({"families": ("a", "`b`")}, "families", "contains '`'"),
        ({"families": ("@SUM(1)",)}, "families", "begins like a formula"),
        ({"families": ("JavaScript:alert(1)",)}, "families", "an address that runs"),
        ({"name": "openai/-2+3", "model": "-2+3"}, "model", "begins like a formula"),
        ({"settings": {"<x>": "y"}}, "settings", "markup"),
        ({"settings": {"x": "\x1b"}}, "settings", "U+001B"),
        ({"settings": {"body": '{"effort": ["<x>"]}'}}, "settings", "markup"),
        ({"settings": {"body": '{"effort": '}}, "settings", "markup"),
        ({"status": "verified"}, "status", "has a table [verified]"),
        ({"verified": VerificationRecord("2026-01-02", 1, 1.0, 1.0)}, "status", "exactly if"),
    ],
)
def test_what_cannot_stand_in_a_card_is_named_with_its_key(fields: dict[str, Any], key: str, words: str) -> None:
    [(complained, message)] = card_complaints(changed(**fields))
    assert complained == key and words in message


@pytest.mark.parametrize(
    "contact", ["Ana Li <ana@example.org>", "https://example.org/a?b=1&c=2", "R&D; ask 5 < 6", "the metadata: none", "a::b, C++ std::sort"]
)
def test_a_contact_can_be_written_as_people_write_it(contact: str) -> None:
    assert not list(card_complaints(changed(contact=contact)))


def test_the_first_complaint_is_raised_with_its_line(tmp_path: Path) -> None:
    write_card(tmp_path / "judge.toml", changed(title="a|b"))
    with pytest.raises(ContentError, match=r"judge\.toml:2: 'a\|b' contains '\|'"):
        read_card(tmp_path / "judge.toml")


@given(st.text())
def test_a_quoted_text_is_short_and_plain(text: str) -> None:
    quoted = quote(text)
    assert len(quoted) <= 61 and (quoted.isprintable() or not quoted) and not set("<>`") & set(quoted)


@given(st.text(string.printable, max_size=200))
def test_the_folder_made_of_a_name_can_be_one_or_is_none(name: str) -> None:
    folder = slug(name)
    assert not folder or not folder_complaint(folder)


@pytest.mark.parametrize("name", ["a", "gpt-4o", "a.b_c-1", "x" * 80, "console", "com10"])
def test_plain_names_can_be_folders(name: str) -> None:
    assert folder_complaint(name) == ""


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "a\\b", "a..b", ".a", "a.", "-a", "A", "é", "x" * 81, "nul", "com1", "a b", "a\n", "a\0"]
)
def test_names_that_lead_elsewhere_cannot(name: str) -> None:
    assert "is not a valid folder name" in folder_complaint(name)


def test_a_markup_complaint_quotes_no_markup() -> None:
    [message] = name_complaints("<script>")
    assert "<script>" not in message


# ---- titles that a reader could take for another judge's, or that hold nothing to read


@pytest.mark.parametrize(
    "title",
    ["gpt-4o", "GPT 4o", "ＧＰＴ－４ｏ", "GPT-4о", "GРТ-4o", "G.P.T. 4O", "GPT-40", "gpt\u00a04ó", "(GPT-4o)", "GΡΤ-4ο"],
    ids=["case", "space", "wide", "Cyrillic o", "Cyrillic PT", "points", "zero", "accent", "brackets", "Greek"],
)
def test_titles_that_look_alike_have_one_skeleton(title: str) -> None:
    assert skeleton(title) == skeleton("GPT-4o")


def test_titles_that_read_otherwise_do_not() -> None:
    names = ["GPT-4o", "GPT-4", "GPT-4.1", "GPT-41", "判官", "裁判", "судья", "λόγος", "Llama 3", "Llama 3.1", "नी", "نموذج"]
    assert len(set(map(skeleton, names))) == len(names)


@pytest.mark.parametrize("title", ["", "GPT-4o", "Größtes (v2.1, 2024) #1", "GPT判官", "Модель GPT-4", "模型-7b", "Μοντέλο Α", "نموذج ٢"])
def test_usual_titles_are_not_complained_about(title: str) -> None:
    assert list(title_complaints(title)) == []


@pytest.mark.parametrize(
    ("title", "words"),
    [
        (" ", "no letter and no digit"),
        ("\u3000\u00a0", "no letter and no digit"),
        ("– – –", "no letter and no digit"),
        ("🏆", "no letter and no digit"),
        ("Сlaude", "'Сlaude' mixes Cyrillic and Latin letters"),
        ("Οpus", "mixes Greek and Latin letters"),
        ("People, leave-one-out", "tables have another row called"),
        ("ｐｅｏｐｌｅ", "tables have another row called"),
    ],
)
def test_titles_without_a_name_and_titles_that_imitate_are_named(title: str, words: str) -> None:
    [message] = title_complaints(title)
    assert words in message
