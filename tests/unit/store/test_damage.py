"""Checking a store: each kind of damage has its sentence, and a whole store has none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.errors import StoreError
from harness.prompts.templates import PromptTemplate, prompt_hash
from harness.store import Store
from harness.store.damage import check

Put = Callable[..., None]
Rows = Callable[..., list[Any]]
PROMPT = prompt_hash((), {"type": "object"})


@pytest.fixture
def whole(tmp_path: Path, put: Put, said: Callable[[str], Any]) -> Path:
    """A store with something of everything."""
    with Store.writing(tmp_path) as store:
        store.put_run("run", b"{}")
        store.put_template("program:question", msgspec.json.encode(PromptTemplate((), {}, 10)))
        store.put_batch("batch", "run", "openai/one", ["a"])
        put(store, ("a", None, "lost"), ("b", said("b"), None))
        put(store, ("a", said("a"), None), ("c", None, "lost"))
    return tmp_path


def test_a_whole_store_is_counted_and_nothing_is_wrong(whole: Path) -> None:
    found = check(whole)
    assert found.counts == {"runs": 1, "calls": 3, "attempts": 4, "replies": 2, "lost": 2}
    assert found.problems == ()


def test_an_empty_store_is_whole(tmp_path: Path) -> None:
    with Store.writing(tmp_path):
        pass
    assert check(tmp_path).counts == {"runs": 0, "calls": 0, "attempts": 0, "replies": 0, "lost": 0}
    assert check(tmp_path).problems == ()


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ("UPDATE attempts SET reply = '{' WHERE call_id = 'b'", "attempt 1 of call b has a reply that cannot be read: "),
        ("UPDATE attempts SET reply = '{\"text\":1}' WHERE call_id = 'b'", "attempt 1 of call b has a reply that cannot be read: Expected"),
        ("UPDATE attempts SET reply = NULL WHERE call_id = 'b'", "attempt 1 of call b has neither a reply nor a reason why there is none"),
        ("UPDATE attempts SET lost = 'x' WHERE call_id = 'b'", "attempt 1 of call b has both a reply and a reason why there is none"),
        ("UPDATE attempts SET attempt = 2 WHERE call_id = 'b'", "call b has 1 attempts, numbered from 2 to 2; they should be numbered"),
        ("DELETE FROM attempts WHERE attempt = 1 AND call_id = 'a'", "call a has 1 attempts, numbered from 2 to 2"),
        ("UPDATE attempts SET attempt = 7 WHERE attempt = 2", "call a has 2 attempts, numbered from 1 to 7"),
        ("DELETE FROM calls WHERE call_id = 'a'", "there are attempts of call a, but the call is missing"),
        ("UPDATE calls SET prompt_id = 'p' WHERE call_id = 'a'", "call a asks prompt p, which is missing"),
        ("UPDATE prompts SET body = x'00'", f"prompt {PROMPT} cannot be read: Error -"),
        ("UPDATE prompts SET body = 'text'", f"prompt {PROMPT} cannot be read: "),
        ("UPDATE frames SET frame = x'7b'", "the prompt template program:question cannot be read: "),
        ("UPDATE frames SET frame = x'80'", "the prompt template program:question cannot be read: "),
        ("UPDATE runs SET spec = '[]'", "the specification of run run cannot be read: Expected `object`"),
        ("UPDATE batches SET calls = x'00'", "the list of calls of batch batch cannot be read: Error -"),
    ],
)
def test_each_damage_has_its_sentence(whole: Path, rows: Rows, damage: str, sentence: str) -> None:
    rows(whole, damage)
    problems = check(whole).problems
    assert len(problems) == 1 and problems[0].startswith(sentence), problems


def test_a_prompt_whose_text_has_changed_is_found(whole: Path, rows: Rows) -> None:
    [body] = rows(whole, "SELECT body FROM prompts")
    rows(whole, "UPDATE prompts SET prompt_id = 'other'")
    rows(whole, "UPDATE calls SET prompt_id = 'other'")
    rows(whole, "INSERT INTO prompts VALUES (?, ?)", PROMPT, body)
    assert check(whole).problems == (f"prompt other has a different text than it was made with: its hash is {PROMPT}",)


def test_of_many_problems_of_a_kind_the_first_ten_are_told(tmp_path: Path, rows: Rows, put: Put, said: Callable[[str], Any]) -> None:
    with Store.writing(tmp_path) as store:
        put(store, *((f"call {n}", said(""), None) for n in range(35)))
    rows(tmp_path, "UPDATE attempts SET reply = '', attempt = 3")
    problems = check(tmp_path).problems
    assert len(problems) == 22
    assert problems[10] == problems[21] == "and 25 more of this kind"


@pytest.fixture
def long(tmp_path: Path, put: Put, said: Callable[[str], Any]) -> Path:
    """The file of a store with 500 calls."""
    with Store.writing(tmp_path) as store:
        store.put_run("run", b"{}")
        put(store, *((f"call {n:03}", said("x" * 200), None) for n in range(500)))
    return tmp_path / "store.sqlite"


def test_a_torn_file_is_said_and_what_can_be_counted_is_counted(long: Path) -> None:
    whole = long.read_bytes()
    half = len(whole) // 2 // 4096 * 4096
    long.write_bytes(whole[:half] + b"\xff" * (len(whole) - half))
    found = check(long.parent)
    assert "the file cannot be read to its end (database disk image is malformed): restore it from a copy" in found.problems
    assert found.counts["runs"] == 1 and found.counts["attempts"] is None


def test_an_index_that_disagrees_with_its_table_is_found(long: Path) -> None:
    long.write_bytes(long.read_bytes().replace(b"call 123", b"call 12x", 1))
    problems = check(long.parent).problems
    assert any(problem.startswith("the file is damaged: ") and "missing from index" in problem for problem in problems), problems


def test_a_store_is_checked_while_a_run_goes_on_and_not_changed(whole: Path, put: Put, said: Callable[[str], Any], rows: Rows) -> None:
    before = rows(whole, "SELECT * FROM attempts")
    with Store.writing(whole) as store:
        put(store, ("d", said("d"), None))
        assert check(whole).counts["attempts"] == 5
    assert rows(whole, "SELECT * FROM attempts WHERE call_id != 'd'") == before


def test_without_a_store_there_is_nothing_to_check(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no results in"):
        check(tmp_path / "none")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("table", ["attempts", "frames"])
def test_every_flipped_bit_of_a_reply_or_a_frame_is_found(whole: Path, rows: Rows, table: str) -> None:
    column, where = ("reply", "call_id = 'b'") if table == "attempts" else ("frame", "1")
    [text] = rows(whole, f"SELECT CAST({column} AS BLOB) FROM {table} WHERE {where}")
    kind = "TEXT" if table == "attempts" else "BLOB"
    for place in range(0, len(text), 7):
        for bit in range(8):
            flipped = bytearray(text)
            flipped[place] ^= 1 << bit
            rows(whole, f"UPDATE {table} SET {column} = CAST(? AS {kind}) WHERE {where}", bytes(flipped))
            found = check(whole)
            assert len(found.problems) == 1 and ("its checksum differs" in found.problems[0] or "cannot be read" in found.problems[0])
            assert None not in found.counts.values()
    rows(whole, f"UPDATE {table} SET {column} = CAST(? AS {kind}) WHERE {where}", text)
    assert check(whole).problems == ()


def test_a_changed_reply_that_can_be_read_is_found(whole: Path, rows: Rows) -> None:
    rows(whole, "UPDATE attempts SET reply = replace(reply, 'one-2024', 'one-2025') WHERE call_id = 'b'")
    [problem] = check(whole).problems
    assert problem == "attempt 1 of call b has a different reply than the one that was received: its checksum differs"


def test_a_reply_and_a_frame_without_a_checksum_are_found(whole: Path, rows: Rows) -> None:
    rows(whole, "UPDATE attempts SET checksum = NULL WHERE call_id = 'b'")
    rows(whole, "UPDATE frames SET checksum = NULL")
    assert [problem.endswith("its checksum differs") for problem in check(whole).problems] == [True, True]


def test_a_damaged_frame_is_not_used(whole: Path, rows: Rows) -> None:
    rows(whole, "UPDATE frames SET frame = CAST(replace(CAST(frame AS TEXT), '10', '1}') AS BLOB)")
    with Store.reading(whole) as store, pytest.raises(StoreError, match="the prompt template program:question is damaged"):
        store.get_template("program:question")
