"""Questions "where is …?" of a reader who knows the tree alone: the files that tests/where_is.toml names still answer them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ANSWERS: dict[str, list[str]] = tomllib.loads((ROOT / "tests" / "where_is.toml").read_text("utf-8"))["answers"]


@pytest.mark.parametrize("question", ANSWERS)
def test_the_file_answers_the_question(question: str) -> None:
    file, words = ANSWERS[question]
    assert words.casefold() in (ROOT / file).read_text("utf-8").casefold()
