"""Files of requests within limits, and lines that come back and are not believed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from harness.engines.batch import files as batch_files
from harness.engines.batch.files import Results, request_files, scratch
from harness.errors import StoreError

# ---- files of requests


def written(path: Path, lines: Iterable[tuple[str, bytes]], **limits: int) -> list[tuple[tuple[str, ...], bytes]]:
    """The ids and the content of each file."""

    async def gather() -> list[tuple[tuple[str, ...], bytes]]:
        return [(file.calls, file.path.read_bytes()) async for file in request_files(path, lines, **limits)]

    return asyncio.run(gather())


LINES = [(name, name.encode() * 4) for name in "abcde"]  # five bytes each, with their ends


def test_all_lines_go_into_one_file_where_it_holds_them(tmp_path: Path) -> None:
    [(calls, content)] = written(tmp_path / "f", LINES, most_requests=5, most_bytes=25)
    assert calls == tuple("abcde") and content == b"aaaa\nbbbb\ncccc\ndddd\neeee\n"


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"most_requests": 2}, ["ab", "cd", "e"]),
        ({"most_requests": 1}, ["a", "b", "c", "d", "e"]),
        ({"most_bytes": 24}, ["abcd", "e"]),
        ({"most_bytes": 14}, ["ab", "cd", "e"]),
        ({"most_requests": 3, "most_bytes": 10}, ["ab", "cd", "e"]),
    ],
)
def test_a_further_file_begins_where_a_limit_is_reached(tmp_path: Path, limits: dict[str, int], expected: list[str]) -> None:
    found = written(tmp_path / "f", LINES, **limits)
    assert ["".join(calls) for calls, _ in found] == expected
    assert all(len(content) <= limits.get("most_bytes", 25) for _, content in found)
    assert b"".join(content for _, content in found) == b"".join(line + b"\n" for _, line in LINES)


def test_a_line_that_is_too_long_for_any_file_has_one_of_its_own(tmp_path: Path) -> None:
    lines = [("a", b"a"), ("long", b"x" * 100), ("b", b"b")]
    assert [calls for calls, _ in written(tmp_path / "f", lines, most_bytes=10)] == [("a",), ("long",), ("b",)]


def test_no_lines_make_no_file(tmp_path: Path) -> None:
    assert written(tmp_path / "f", []) == [] and not (tmp_path / "f").exists()


def test_lines_are_made_while_they_are_written(tmp_path: Path) -> None:
    made: list[str] = []

    def lines() -> Iterable[tuple[str, bytes]]:
        for name, line in LINES:
            made.append(name)
            yield name, line

    async def first() -> None:
        files = request_files(tmp_path / "f", lines(), most_requests=2)
        await anext(files)
        await files.aclose()

    asyncio.run(first())
    assert made == ["a", "b", "c"]  # one is looked at ahead


def test_a_full_disk_is_said_in_words() -> None:
    with pytest.raises(StoreError, match="No space left on device"):
        written(Path("/dev/full"), LINES)


def test_what_a_killed_process_has_left_is_removed_and_nothing_is_left_behind(tmp_path: Path) -> None:
    left = tmp_path / ".batch-left"
    left.mkdir()
    (left / "requests.jsonl").write_text("…")
    (tmp_path / "store.sqlite").write_text("")
    with scratch(tmp_path) as folder:
        assert folder.parent == tmp_path and not left.exists()
        (folder / "f").write_text("…")
    assert [path.name for path in tmp_path.iterdir()] == ["store.sqlite"]


# ---- lines that come back


def line(call_id: str, status: int = 200, body: Any = "said") -> bytes:
    return json.dumps({"custom_id": call_id, "response": {"status_code": status, "body": body}, "error": None}).encode()


def read(tmp_path: Path, *files: Iterable[bytes], calls: Iterable[str] = ("a", "b")) -> Results:
    results = Results(tuple(calls))
    for number, lines in enumerate(files):
        path = tmp_path / f"results-{number}"
        path.write_bytes(b"\n".join(lines))
        results.add(path)
    return results


def test_lines_are_found_by_their_call_whatever_their_order_and_file(tmp_path: Path) -> None:
    with read(tmp_path, [line("b", body={"text": "čau"})], [line("a", 400)]) as results:
        found = results.line("b"), results.line("a"), results.line("b")
    assert [one and one.custom_id for one in found] == ["b", "a", "b"]
    assert found[0] and found[0].response and json.loads(bytes(found[0].response.body)) == {"text": "čau"}
    assert results.answers == {"b"} and not results.ignored_lines


def test_a_call_without_a_line_has_none(tmp_path: Path) -> None:
    with read(tmp_path, [line("a")]) as results:
        assert results.line("b") is None


def test_of_several_lines_about_a_call_the_first_counts(tmp_path: Path) -> None:
    with read(tmp_path, [line("a", body=1), line("a", body=2)], [line("a", body=3)]) as results:
        found = results.line("a")
    assert found and found.response and bytes(found.response.body) == b"1"
    assert results.ignored_lines == "2 repeated"


def test_an_answer_to_a_stranger_is_counted(tmp_path: Path) -> None:
    with read(tmp_path, [line("c"), line("a")]) as results:
        assert results.line("c") is None and results.line("a")
    assert results.ignored_lines == "1 about other calls"


@pytest.mark.parametrize(
    "bad",
    [
        b"no JSON",
        b"{",
        line("a")[:-3],
        b"[]",
        b"null",
        b"{}",
        b'{"custom_id": 7}',
        b'{"custom_id": "a", "response": {}}',
        b'{"custom_id": "a", "response": {"status_code": "200"}}',
        b'{"custom_id": "a", "response": "fine"}',
        b"\xff\xfe\x00",
        b"[" * 100_000,
    ],
    ids=lambda text: text[:24].decode(errors="replace"),
)
def test_what_is_no_result_is_counted_and_hides_nothing(tmp_path: Path, bad: bytes) -> None:
    with read(tmp_path, [line("b"), bad, line("a")]) as results:
        assert results.line("a") and results.line("b")
    assert results.ignored_lines == "1 invalid"


def test_a_line_of_any_length_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_files, "LONGEST_LINE", 200)
    with read(tmp_path, [line("b", body="x" * 500), line("a")]) as results:
        assert results.line("b") is None and results.line("a")
    assert results.ignored["invalid"] == 3  # the pieces of the long one


def test_half_characters_are_read(tmp_path: Path) -> None:
    with read(tmp_path, [line("a", body={"text": "\ud83d"})]) as results:
        found = results.line("a")
    assert found and found.response and json.loads(bytes(found.response.body)) == {"text": "\ud83d"}


def test_an_error_of_the_batch_is_a_line_too(tmp_path: Path) -> None:
    expired = json.dumps({"custom_id": "a", "response": None, "error": {"code": "batch_expired"}}).encode()
    with read(tmp_path, [expired]) as results:
        found = results.line("a")
    assert found and found.response is None and found.error == {"code": "batch_expired"} and not results.answers
