"""Titles that a reader could take for another judge's, or that hold nothing to read."""

from __future__ import annotations

import pytest

from harness.boards.titles import skeleton, title_complaints


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
