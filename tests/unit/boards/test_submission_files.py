"""The file of replies: the same bytes for the same lines, and read no further than its limits."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from harness.boards import submission_files
from harness.boards.submission_files import MAX_SHOWN, SubmissionProblems, compress_lines, impossible_numbers, read_lines
from harness.errors import ContentError, UsageError
from harness.model import Reply, Token, Usage


def written(folder: Path, data: bytes) -> Path:
    path = folder / "replies.jsonl.gz"
    path.write_bytes(data)
    return path


def test_lines_come_back_with_their_numbers(tmp_path: Path) -> None:
    assert list(read_lines(written(tmp_path, compress_lines([b"a\n", b"b\n"])))) == [(1, b"a\n"), (2, b"b\n")]


def test_the_same_lines_are_the_same_bytes_and_carry_no_time_and_no_name() -> None:
    data = compress_lines([b"a\n"])
    assert data == compress_lines([b"a\n"])
    assert data[3] == 0 and data[4:8] == b"\0\0\0\0"  # no flags (a name would be one), no time


def test_more_than_a_submission_may_hold_is_neither_written_nor_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [b"0123456789\n"] * 10
    path = written(tmp_path, compress_lines(lines))
    monkeypatch.setattr(submission_files, "MAX_TEXT", 50)
    with pytest.raises(UsageError, match="larger than the limits of a submission"):
        compress_lines(lines)
    with pytest.raises(ContentError, match=r"gz:5: more than 0 MB when uncompressed"):
        list(read_lines(path))


def test_a_line_without_an_end_is_read_to_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submission_files, "MAX_LINE_BYTES", 1000)
    with pytest.raises(ContentError, match=r"gz:2: a line of more than"):
        list(read_lines(written(tmp_path, gzip.compress(b"a\n" + b"x" * 2000))))


def test_usual_replies_are_possible() -> None:
    assert impossible_numbers(Reply("2", "m", usage=Usage(10, 5, 3, 1), seconds=0.4, tokens=(Token("2", {"2": -0.1, "1": 0.0}),))) == ""


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply("", "m", usage=Usage(-1)), "token counts"),
        (Reply("", "m", usage=Usage(10**10)), "token counts"),
        (Reply("", "m", reasoning_room=-1), "token counts"),
        (Reply("", "m", seconds=-0.1), "seconds"),
        (Reply("", "m", seconds=1e300), "seconds"),
        (Reply("", "m", tokens=(Token("2", {"2": 800.0}),)), "logarithms"),
        (Reply("", "m", tokens=(Token("2", {"2": float("nan")}),)), "logarithms"),
    ],
)
def test_numbers_that_no_reply_has_are_named(reply: Reply, words: str) -> None:
    assert words in impossible_numbers(reply)


def test_some_lines_of_a_file_are_kept_and_the_others_counted() -> None:
    problems, one, other = SubmissionProblems(), Path("one"), Path("other")
    for line in range(1, MAX_SHOWN + 4):
        problems.add(one, line, "wrong")
    problems.add(other, 1, "wrong")
    problems.add(one, None, "as a whole")
    problems.add(one, 99, "the last straw", always=True)
    messages = [str(problem) for problem in problems.problems]
    assert sum(text.startswith("one:") and "wrong" in text for text in messages) == MAX_SHOWN
    assert {"other:1: wrong", "one: as a whole", "one:99: the last straw", "one: and 3 more such lines of this file"} <= set(messages)
