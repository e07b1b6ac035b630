"""Boards that `leaderboards/freeze.py` drew: chances are those that it states, and the same data give the same ids."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from harness.content import Library

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def freeze() -> ModuleType:
    spec = importlib.util.spec_from_file_location("freeze", ROOT / "leaderboards" / "freeze.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_text_is_drawn_with_the_chance_of_its_group_times_that_of_its_segment(freeze: ModuleType) -> None:
    groups = {"a": {"1": ["a1x", "a1y"]}, "b": {"1": ["b1"], "2": ["b2"], "3": ["b3"]}, "c": {"1": ["c1"]}}
    draws = 6000
    counts = Counter(text for seed in range(draws) for text in freeze.draw(groups, 2, 1, f"{seed}"))
    for text, chance in {"a1x": 2 / 3, "a1y": 2 / 3, "b1": 2 / 9, "b2": 2 / 9, "b3": 2 / 9, "c1": 2 / 3}.items():
        assert counts[text] / draws == pytest.approx(chance, abs=4 * (chance * (1 - chance) / draws) ** 0.5), text


def test_texts_of_a_segment_are_drawn_together_and_fewer_than_wanted_are_all(freeze: ModuleType) -> None:
    groups = {"a": {"1": ["x", "y"], "2": ["z"]}, "b": {"1": ["w"]}}
    assert freeze.draw(groups, 9, 9, "") == ["w", "x", "y", "z"]
    for seed in range(20):
        drawn = freeze.draw(groups, 2, 1, f"{seed}")
        assert drawn in (["w", "x", "y"], ["w", "z"])


@pytest.mark.needs("shared data")
@pytest.mark.parametrize(("board", "most"), [("wmt23-esa-de", 30), ("hanna", 24), ("adparaphrase", 200)])
def test_the_same_data_and_seed_give_the_ids_of_the_board(freeze: ModuleType, shared_data: Path, board: str, most: int) -> None:
    written = (ROOT / "leaderboards" / board / "board.toml").read_text("utf-8")
    data = shared_data / Library().board(board).data.card
    assert written.endswith(freeze.frozen(Library(), board, data, most, 1, 1))
    assert not written.endswith(freeze.frozen(Library(), board, data, most, 1, 2))


@pytest.mark.parametrize("board", Library().collection("people").boards)
def test_a_board_on_peoples_labels_names_texts_and_holds_none(board: str) -> None:
    """Ids have no blanks, as texts do; each is listed once."""
    listed = [item for ids in Library().board(board).items.values() for item in ids]
    assert len(set(listed)) == len(listed) and not any(" " in item for item in listed)
    files = [path for path in (ROOT / "leaderboards" / board).rglob("*") if path.is_file()]
    assert {path.suffix for path in files} <= {".toml", ".md", ".gz"}
