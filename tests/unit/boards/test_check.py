"""A TABLE.md in a change is what the submissions give, or is left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from harness.boards import Entry
from harness.boards.check import Table, _table_problems
from harness.content import Board
from harness.protocol import Prepared


def names(board: Board, prepared: Prepared, entries: Sequence[Entry]) -> str:
    """A table of who is on a board."""
    return board.id + "".join(f"\n{entry.card.name}" for entry in entries) + "\n"


@pytest.fixture
def told(mini: Prepared, submitted: Callable[..., list[Path]]) -> Callable[..., list[str]]:
    """What is said of a TABLE.md with this text; None: of none."""
    folder = submitted()[0].parent.parent

    def check(text: str | None, table: Table | None = names) -> list[str]:
        (folder / "TABLE.md").unlink(missing_ok=True)
        if text is not None:
            (folder / "TABLE.md").write_text(text, encoding="utf-8")
        return [problem.message for problem in _table_problems(mini.library.board("mini"), mini, folder, table, 1)]

    return check


def test_a_table_that_the_submissions_give_is_in_order(told: Callable[..., list[str]]) -> None:
    assert told("mini\nbaseline/length\nbaseline/majority\nbaseline/random\n") == []


@pytest.mark.parametrize(
    ("text", "table", "words"),
    [
        ("mini\nme\n", names, "not what the submissions give; run 'harness board build mini'"),
        ("mini\n", None, "is made from the submissions when a change is merged; leave it out"),
        (None, names, "nothing where the table should be"),
        ("x" * (5 << 20), names, "5,242,880 bytes, which no table has"),
    ],
    ids=["another", "nothing to compare with", "none", "large"],
)
def test_any_other_is_not(told: Callable[..., list[str]], text: str | None, table: Table | None, words: str) -> None:
    [said] = told(text, table)
    assert words in said


def test_a_table_is_not_made_of_submissions_with_something_wrong(told: Callable[..., list[str]], tmp_path: Path) -> None:
    (tmp_path / "into/leaderboards/mini/submissions/baseline-length/more.txt").write_text("x")
    [said] = told("mini\n")
    assert "cannot be made again while submissions have something wrong" in said
