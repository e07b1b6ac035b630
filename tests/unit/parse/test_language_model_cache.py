"""The unpacked model of the identifier is kept in the user's cache; without one, and with a damaged one, results are the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.parse import language

TEXTS = ("The kettle boils slowly near the window", "Konvice se pomalu vaří u okna", "台所の窓のそばでやかんがゆっくり沸いています。", "")


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))


def _identified() -> list[tuple[str, float]]:
    language._load_model.cache_clear()
    return [language.identify_language(text) for text in TEXTS]


def test_a_kept_model_says_what_the_packed_one_says(tmp_path: Path) -> None:
    packed = _identified()
    assert [tag for tag, _ in packed[:3]] == ["en", "cs", "ja"]
    files = {path.name for path in (tmp_path / "cache" / "identifier").rglob("*.npy")}
    assert files == {*language._LARGE_PARTS, *language._SMALL_PARTS}
    assert _identified() == packed


@pytest.mark.parametrize("name", [*language._LARGE_PARTS, *language._SMALL_PARTS])
def test_half_a_file_is_unpacked_again(tmp_path: Path, name: str) -> None:
    packed = _identified()
    [path] = (tmp_path / "cache" / "identifier").rglob(name)
    whole = path.read_bytes()
    language._load_model.cache_clear()
    path.write_bytes(whole[: len(whole) // 2])
    assert _identified() == packed and path.read_bytes() == whole


def test_without_a_cache_the_model_is_unpacked_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = _identified()
    (tmp_path / "file").write_text("in the way", "utf-8")
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "file"))
    assert _identified() == packed
