"""The language identifier: which languages it finds, and that it finds what its library finds."""

from __future__ import annotations

from pathlib import Path

import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from harness.parse.language import MIN_LETTERS, UNDETERMINED, detect_language, identify_language

LINES = [
    line
    for path in sorted((Path(__file__).resolve().parents[3] / "languages").glob("*/texts/*.toml"))
    for line in path.read_text("utf-8").splitlines()
]


def test_single_precision_changes_no_language_and_no_probability() -> None:
    library = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    assert len(LINES) > 1000
    assert [identify_language(line) for line in LINES] == [library.classify(line) for line in LINES]


@pytest.mark.parametrize(("letters", "language"), [(MIN_LETTERS, "ru"), (MIN_LETTERS - 1, UNDETERMINED)])
def test_a_language_needs_enough_letters(letters: int, language: str) -> None:
    text = "Этот текст хорошо написан"
    letter_places = [place for place, letter in enumerate(text) if letter.isalpha()]
    assert detect_language(text[: letter_places[letters - 1] + 1] + " 1, 2, 3 … 4!") == language
