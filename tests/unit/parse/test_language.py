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
    found = [library.classify(line) for line in LINES]
    chinese = [
        (identify_language(line)[0], language) for line, (language, _) in zip(LINES, found, strict=True) if language in ("yue", "wuu")
    ]
    assert all(ours in ("zh", language) for ours, language in chinese)
    others = [result for result in found if result[0] not in ("yue", "wuu")]
    assert [identify_language(line) for line, (language, _) in zip(LINES, found, strict=True) if language not in ("yue", "wuu")] == others


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("商品簽收後十四天內可以無條件退貨，請保持包裝完整。", "zh"),
        ("請妥善保存收據，因為保固需要它。", "zh"),
        ("香港天文台今日發出酷熱天氣警告，提醒市民多喝水", "zh"),
        ("我哋聽日去邊度食飯呀？佢話唔得閒。", "yue"),
        ("呢本書真係好好睇，我睇咗三次", "yue"),
        ("今晚食乜嘢好呢", "yue"),
        ("第1号列车清晨离开车站。", "zh"),
        ("侬好，阿拉上海人讲闲话。", "wuu"),
    ],
)
def test_chinese_is_cantonese_or_wu_only_with_its_words(text: str, language: str) -> None:
    assert identify_language(text)[0] == language


@pytest.mark.parametrize(("letters", "language"), [(MIN_LETTERS, "ru"), (MIN_LETTERS - 1, UNDETERMINED)])
def test_a_language_needs_enough_letters(letters: int, language: str) -> None:
    text = "Этот текст хорошо написан"
    letter_places = [place for place, letter in enumerate(text) if letter.isalpha()]
    assert detect_language(text[: letter_places[letters - 1] + 1] + " 1, 2, 3 … 4!") == language
