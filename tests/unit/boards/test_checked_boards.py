"""A TABLE.md in a change should be the one that the submissions give, or be left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from harness.boards.checked_boards import TableRenderer, _table_problems
from harness.boards.examined_submission import ScoredSubmission
from harness.content import Board
from harness.runs import Prepared


def names(board: Board, prepared: Prepared, entries: Mapping[Path, ScoredSubmission]) -> str:
    """A table of who is on a board."""
    return board.id + "".join(f"\n{entry.card.name}" for entry in entries.values()) + "\n"


@pytest.fixture
def messages(mini: Prepared, submitted: Callable[..., list[Path]]) -> Callable[..., list[str]]:
    """The messages about a TABLE.md with a text; None: about a missing one."""
    folder = submitted()[0].parent.parent

    def check(text: str | None, table: TableRenderer | None = names) -> list[str]:
        (folder / "TABLE.md").unlink(missing_ok=True)
        if text is not None:
            (folder / "TABLE.md").write_text(text, encoding="utf-8")
        return [problem.message for problem in _table_problems(mini.library.board("mini"), mini, folder, table)]

    return check


def test_the_table_that_the_submissions_give_is_no_problem(messages: Callable[..., list[str]]) -> None:
    assert messages("mini\nbaseline/length\nbaseline/majority\nbaseline/random\n") == []


@pytest.mark.parametrize(
    ("text", "table", "words"),
    [
        ("mini\nme\n", names, "not the table that the submissions give; run 'harness board build mini'"),
        ("mini\n", None, "the table is built when a change is merged; leave it out"),
        (None, names, "nothing where the table should be"),
        ("x" * (5 << 20), names, "5,242,880 bytes, more than any table has"),
    ],
    ids=["another", "nothing to compare with", "none", "large"],
)
def test_any_other_table_is_a_problem(
    messages: Callable[..., list[str]], text: str | None, table: TableRenderer | None, words: str
) -> None:
    [message] = messages(text, table)
    assert words in message


def test_a_table_is_not_built_from_submissions_with_problems(messages: Callable[..., list[str]], tmp_path: Path) -> None:
    (tmp_path / "into/leaderboards/mini/submissions/baseline-length/more.txt").write_text("x")
    [message] = messages("mini\n")
    assert "the table cannot be built while submissions have problems" in message
