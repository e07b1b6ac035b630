"""Texts that are there twice, and texts that are not in the language they say."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.annotate.label_check import duplicates, misplaced
from harness.model import Item

MakeItem = Callable[..., Item]

TEXTS = {
    "cs": "Včera odpoledne jsme šli na procházku do lesa a našli jsme spoustu hub.",
    "de": "Gestern Nachmittag gingen wir im Wald spazieren und fanden viele Pilze.",
    "en": "Yesterday afternoon we went for a walk in the forest and found many mushrooms.",
    "ja": "昨日の午後、私たちは森へ散歩に行き、たくさんのきのこを見つけました。",
    "pt-BR": "Ontem à tarde fomos passear na floresta e encontramos muitos cogumelos.",
}


def test_the_same_output_of_the_same_texts_is_found(make_item: MakeItem) -> None:
    others: dict[str, dict[str, str]] = {"a": {}, "b": {"output": "Else."}, "c": {}, "d": {"prompt": "Another?"}, "e": {}}
    items = [make_item(name, **({"output": "Same."} | other)) for name, other in others.items()]
    assert duplicates(items) == [["a", "c", "e"]]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({}, {}, True),
        ({"group": "g"}, {"group": "g"}, True),
        ({"group": "g"}, {"group": "h"}, False),
        ({"group": "g", "style": "short"}, {"group": "g", "style": "long"}, True),
        ({"style": "short"}, {"style": "long"}, False),
        ({"system": "s"}, {"system": "t"}, True),
        ({"language": "ja"}, {"language": "cs"}, False),
        ({"task": "one"}, {"task": "other"}, False),
        ({"output": ""}, {"output": ""}, False),
        ({"output": " \n"}, {"output": " \n"}, False),
        ({"output": "", "output_a": "x", "output_b": "y"}, {"output": "", "output_a": "x", "output_b": "y"}, True),
        ({"output": "", "output_a": "x", "output_b": "y"}, {"output": "", "output_a": "y", "output_b": "x"}, False),
        ({"note": 1}, {"note": 2}, True),
    ],
    ids=str,
)
def test_what_makes_two_items_the_same(make_item: MakeItem, one: dict[str, str], other: dict[str, str], same: bool) -> None:
    assert bool(duplicates([make_item(name, **({"output": "Same."} | fields)) for name, fields in (("a", one), ("b", other))])) is same


def test_texts_in_their_own_language_are_left_alone(make_item: MakeItem) -> None:
    """pt-BR is taken for Portuguese, as the identifier knows no varieties."""
    items = [make_item(tag, language=tag, output=text) for tag, text in TEXTS.items()]
    assert misplaced(items) == ([], len(TEXTS), set())


def test_a_text_in_another_language_is_named_with_what_it_looks_like(make_item: MakeItem) -> None:
    items = [make_item("a", language="cs", output=TEXTS["de"]), make_item("b", language="pt-BR", output=TEXTS["en"])]
    found, looked, unknown = misplaced(items)
    assert [(text.item_id, text.field, text.stated, text.found) for text in found] == [
        ("a", "output", "cs", "de"),
        ("b", "output", "pt-BR", "en"),
    ]
    assert looked == 2 and not unknown and all(0.9 <= text.probability <= 1 for text in found)


def test_both_texts_of_a_pair_are_looked_at(make_item: MakeItem) -> None:
    item = make_item("a", language="ja", output="", output_a=TEXTS["ja"], output_b=TEXTS["en"])
    found, looked, _ = misplaced([item])
    assert [text.field for text in found] == ["output_b"] and looked == 2


def test_a_text_of_which_it_is_not_sure_is_left_alone(make_item: MakeItem) -> None:
    """Danish, it says, but with 0.73 only."""
    assert misplaced([make_item("a", language="sv", output="Jeg har en hund og en kat hjemme")]) == ([], 1, set())


@pytest.mark.parametrize("text", ["", "Only nineteen letters", "12345 67890 12345 67890 12345", 7, None], ids=str)
def test_too_short_a_text_is_passed_over(make_item: MakeItem, text: object) -> None:
    assert misplaced([make_item("a", language="ja", output=text)]) == ([], 0, set())


def test_a_language_that_the_identifier_does_not_know_is_said_and_not_guessed(make_item: MakeItem) -> None:
    """Chamorro: there are texts, but nobody who could tell."""
    assert misplaced([make_item("a", language="ch", output=TEXTS["en"])]) == ([], 0, {"ch"})


def test_whoever_watches_hears_of_every_item(make_item: MakeItem) -> None:
    seen: list[int] = []
    misplaced([make_item("a", output="short"), make_item("b", output=TEXTS["en"])], lambda: seen.append(1))
    assert len(seen) == 2
