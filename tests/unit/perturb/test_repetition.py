"""Sentences said twice, with a space between them where the script has any."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.perturb import Perturbed


@pytest.mark.parametrize(
    ("language", "text", "repeated"),
    [
        ("ja", "雨だ。傘がない！", "雨だ。雨だ。傘がない！傘がない！"),
        ("zh", "下雨了。没有伞！", "下雨了。下雨了。没有伞！没有伞！"),
        ("cs", "Prší. Mám deštník?", "Prší. Prší. Mám deštník? Mám deštník?"),
        ("ar", "نزل المطر. أين المظلة؟", "نزل المطر. نزل المطر. أين المظلة؟ أين المظلة؟"),
        ("hi", "बारिश है। छाता?", "बारिश है। बारिश है। छाता? छाता?"),
        ("th", "ฝนตก", "ฝนตก ฝนตก"),
        ("en", "One.\n12\nTwo 👍🏽.", "One.\nOne.\n12\nTwo 👍🏽. Two 👍🏽."),
    ],
)
def test_every_sentence_at_the_highest_dose(output: Callable[..., str], language: str, text: str, repeated: str) -> None:
    assert output("repeat-sentences:1", language, text) == repeated


def test_one_sentence_at_the_least(perturb: Callable[..., Perturbed]) -> None:
    said = perturb("repeat-sentences:0.05", "en", "One. Two. Three.")
    assert said.item.fields["output"] in {"One. One. Two. Three.", "One. Two. Two. Three.", "One. Two. Three. Three."}
    assert said.realised == {"repeated": 1 / 3, "sentences": 3.0}


@pytest.mark.parametrize("text", ["", "12.", "👍🏽!", "…", "\u0301Begins with a mark"])
def test_without_a_sentence_nothing_is_repeated(perturb: Callable[..., Perturbed], text: str) -> None:
    assert perturb("repeat-sentences:1", "en", text).applied is False
