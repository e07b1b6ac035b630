"""A submission of a part of a board: it says what it covers, nothing of that may be missing, and first texts alone have no rank."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from harness.api import run
from harness.asking_options import Settings
from harness.boards.card import CARD, Part, read_card, write_card
from harness.boards.examined_submission import ExaminedSubmission, ScoredSubmission, examine
from harness.boards.expected_submission import Baselines, expected_calls
from harness.boards.standings import standings
from harness.boards.submission_files import REPLIES, compress_lines, read_lines
from harness.boards.submission_options import SubmitterStatement, VerifyOptions
from harness.boards.submit import submit
from harness.boards.verify import verify
from harness.errors import UsageError
from harness.notebook import Quiet
from harness.runs import Prepared, RunResult, RunSpec

FIRST = Part(("cs",), 2)


def part_of_mini(content: Path, folder: Path, **asked: object) -> RunResult:
    return run(RunSpec(board="mini", content=(content,), judges=("baseline/random",), **asked), folder / "results")  # type: ignore[arg-type]


def submitted(result: RunResult, folder: Path, *, part: bool = True) -> Path:
    into = folder / "into"
    into.mkdir(exist_ok=True)
    [written] = submit(result, result.folder.parent.parent, "mini", SubmitterStatement(into=into, part=part))
    return written.folder


@pytest.fixture
def first(content: Path, tmp_path: Path) -> Path:
    """The folder of a submission that covers the first two texts in Czech."""
    return submitted(part_of_mini(content, tmp_path, languages=("cs",), limit=2), tmp_path)


def examined(mini: Prepared, folder: Path) -> ExaminedSubmission:
    expected = expected_calls(mini)
    return examine(expected, folder, Baselines(mini, expected))


def test_a_part_is_refused_until_it_is_called_one(content: Path, tmp_path: Path) -> None:
    result = part_of_mini(content, tmp_path, languages=("cs",), limit=2)
    with pytest.raises(UsageError, match=r"without the language en\n.*first 2 items.*\n(.*\n)*.*Or add --part"):
        submitted(result, tmp_path, part=False)
    other = msgspec.structs.replace(result, protocol=result.protocol.with_fields(repeats=5))
    with pytest.raises(UsageError, match="it asked 5 times") as caught:
        submitted(other, tmp_path)
    assert "--part" not in str(caught.value) and not (tmp_path / "into" / "leaderboards").exists()


def read_entry(mini: Prepared, folder: Path) -> ScoredSubmission:
    entry = examine(expected_calls(mini), folder, Baselines(mini, expected_calls(mini))).entry
    assert entry is not None
    return entry


def test_first_texts_have_no_rank_and_say_what_they_are(first: Path, mini: Prepared) -> None:
    assert read_card(first / CARD).part == FIRST
    entry = read_entry(mini, first)
    assert set(entry.judgments.item.values) == {item.item_id for item in [each for each in mini.data.items if each.language == "cs"][:2]}
    found = standings(mini.library.board("mini"), mini, [entry])
    assert found.tables == () and [(one.mean, one.tested) for one in found.overall] == [(None, 0)]
    assert found.judges[0].display_name == "baseline/random (a part: Czech only, first 2 texts of each language and task)"


def test_whole_languages_are_ranked_in_these(content: Path, mini: Prepared, tmp_path: Path) -> None:
    folder = submitted(part_of_mini(content, tmp_path, languages=("cs",)), tmp_path)
    assert read_card(folder / CARD).part == Part(("cs",))
    found = standings(mini.library.board("mini"), mini, [read_entry(mini, folder)])
    assert {table.language for table in found.tables} == {"cs"}
    assert found.overall[0].by_language["cs"] is not None and found.overall[0].mean is None


def test_a_run_of_everything_is_no_part(result: RunResult, tmp_path: Path) -> None:
    (tmp_path / "into").mkdir()
    [written] = submit(
        result, result.folder.parent.parent, "mini", SubmitterStatement(into=tmp_path / "into", part=True), ("baseline/length",)
    )
    assert written.card.part is None


def test_nothing_of_the_part_may_be_missing(first: Path, mini: Prepared) -> None:
    (first / REPLIES).write_bytes(compress_lines([line for _, line in read_lines(first / REPLIES, 8)][1:]))
    assert any("cs: 1 of 8 calls are missing" in problem.message for problem in examined(mini, first).problems)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (None, "en: the language is missing"),
        (Part(("cs",), 3), "cs: 2 of 10 calls are missing"),
        (Part(("cs",), 1), "is not a call of mini@1.0.0"),
        (Part(("tlh",)), "its part (Klingon only) has no question of mini@1.0.0"),
    ],
)
def test_a_card_that_says_another_part_is_wrong(first: Path, mini: Prepared, part: Part | None, words: str) -> None:
    write_card(first / CARD, msgspec.structs.replace(read_card(first / CARD), part=part))
    assert any(words in problem.message for problem in examined(mini, first).problems)


def test_a_part_is_not_verified(first: Path, content: Path) -> None:
    with pytest.raises(UsageError, match="covers a part of the board"):
        verify("mini", str(first), Quiet(), Settings(), VerifyOptions(content=(content,)))
