"""The instruction to the judge stands after the text, in the text's language or not at all."""

from __future__ import annotations

from collections.abc import Callable

import py3langid
import pytest

from harness.perturb import Perturbed
from harness.perturb.injection import wordings


@pytest.mark.parametrize("language", ["cs", "de", "en", "es", "fr", "it", "ja", "pt-BR", "zh"])
def test_it_stands_on_a_line_of_its_own_after_the_text(perturb: Callable[..., Perturbed], language: str) -> None:
    injected = perturb("inject", language, "Text.")
    assert injected.item.fields["output"] == f"Text.\n{wordings()[language]}"
    assert injected.realised["added"] == pytest.approx(1 - 5 / len(injected.item.fields["output"]))


@pytest.mark.parametrize("language", sorted(wordings()))
def test_the_wording_is_in_its_language(language: str) -> None:
    assert py3langid.classify(wordings()[language])[0] == language.partition("-")[0]


@pytest.mark.parametrize(("language", "like"), [("en-GB", "en"), ("de-AT", "de"), ("zh-Hans", "zh"), ("zh-SG", "zh")])
def test_regions_of_a_language_share_its_wording(output: Callable[..., str], language: str, like: str) -> None:
    assert output("inject", language, "Text.") == output("inject", like, "Text.")


@pytest.mark.parametrize("language", ["ko", "pt", "pt-PT", "zh-Hant", "zh-TW", "ja-Latn", "", "not a tag"])
def test_other_languages_and_scripts_have_none(perturb: Callable[..., Perturbed], language: str) -> None:
    assert perturb("inject", language, "Text.").applied is False
