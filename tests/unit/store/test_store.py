"""The store: every attempt is kept under its call, the last reply counts, and a folder that cannot be used is said in words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.errors import StoreError
from harness.model import Call, JudgeIdentity, Reply, Token, Usage
from harness.store import Store

MakeCall = Callable[..., Call]
Put = Callable[..., None]
Rows = Callable[..., list[Any]]

REPLY = Reply('{"score": 2}', "one-2024", "json_schema", "stop", None, None, Usage(7, 3, 5), 0.25)


def said(text: str) -> Reply:
    return msgspec.structs.replace(REPLY, text=text)


# Attempts and replies


def test_attempts_are_numbered_within_their_call(tmp_path: Path, put: Put, rows: Rows) -> None:
    with Store.writing(tmp_path) as store:
        put(store, ("a", None, "lost"), ("b", REPLY, None), ("a", None, "again"))
        put(store, ("a", REPLY, None))
    found = rows(tmp_path, "SELECT call_id, attempt, lost, reply IS NOT NULL FROM attempts ORDER BY call_id, attempt")
    assert found == [("a", 1, "lost", 0), ("a", 2, "again", 0), ("a", 3, None, 1), ("b", 1, None, 1)]


def test_a_reply_comes_back_as_it_was_given(tmp_path: Path, put: Put) -> None:
    tokens = (Token("日", {"日": -0.25, "\x00": -3.5}), Token("", {}))
    reply = Reply(
        "日本語 \x00 \ud7ff {{G|1|G}} <|im_end|>\n", "m", "text", "length", "no", "400: bad", Usage(1, 2, 3), 1.5, tokens, ("seed", "top_p")
    )
    with Store.writing(tmp_path) as store:
        put(store, ("a", reply, None))
    with Store.reading(tmp_path) as store:
        assert list(store.replies(["a"])) == [reply]


def test_the_last_reply_counts_and_lost_attempts_do_not(tmp_path: Path, put: Put) -> None:
    with Store.writing(tmp_path) as store:
        put(store, ("a", said("first"), None), ("a", said("second"), None), ("a", None, "lost"), ("b", None, "lost"))
        assert list(store.replies(["a", "b", "c"])) == [said("second"), None, None]


def test_replies_come_in_the_order_of_the_ids_however_many(tmp_path: Path, put: Put) -> None:
    with Store.writing(tmp_path) as store:
        put(store, *((f"call {n}", said(str(n)), None) for n in range(3000)))
        wanted = [*range(2999, -1, -2), 7000, 42, 42]
        assert list(store.replies(f"call {n}" for n in wanted)) == [said(str(n)) if n < 3000 else None for n in wanted]
        assert list(store.last_attempts(f"call {n}" for n in wanted)) == [1 if n < 3000 else None for n in wanted]
        assert list(store.replies([])) == list(store.last_attempts([])) == []


@pytest.mark.parametrize("look", [Store.replies, Store.last_attempts], ids=["replies", "last attempts"])
def test_ids_are_taken_as_they_are_needed(tmp_path: Path, put: Put, look: Callable[..., Iterator[object]]) -> None:
    """A run of a million calls hands its ids over without end in sight."""
    with Store.writing(tmp_path) as store:
        put(store, ("call 3", REPLY, None))
        found = list(islice(look(store, (f"call {n}" for n in count())), 2000))
    assert len(found) == 2000 and [n for n, one in enumerate(found) if one is not None] == [3]


def test_looking_up_does_not_disturb_writing(tmp_path: Path, put: Put) -> None:
    with Store.writing(tmp_path) as store:
        put(store, *((f"call {n}", REPLY, None) for n in range(1200)))
        for n, attempt in enumerate(store.last_attempts(f"call {n}" for n in range(1200))):
            if n % 400 == 0:
                put(store, (f"call {n}", said("again"), None))
            assert attempt == 1


def test_replies_of_a_store_from_before_tokens_were_kept_are_read(tmp_path: Path, put: Put, rows: Rows) -> None:
    with Store.writing(tmp_path) as store:
        put(store, ("a", REPLY, None))
    old = {name: value for name, value in msgspec.to_builtins(REPLY).items() if name not in ("tokens", "left_out")}
    rows(tmp_path, "UPDATE attempts SET reply = ?", json.dumps(old))
    with Store.reading(tmp_path) as store:
        assert list(store.replies(["a"])) == [REPLY]


def test_the_last_attempt_is_the_one_that_has_a_reply(tmp_path: Path, put: Put) -> None:
    with Store.writing(tmp_path) as store:
        put(store, ("a", None, "lost"), ("a", said("second"), None), ("a", None, "lost"), ("b", None, "lost"), ("c", REPLY, None))
        assert list(store.last_attempts("abcda")) == [2, None, 1, None, 2]


def test_what_was_committed_is_there_for_others_at_once(tmp_path: Path, put: Put) -> None:
    with Store.writing(tmp_path) as store:
        put(store, ("a", REPLY, None))
        with Store.reading(tmp_path) as other:
            assert list(other.replies(["a"])) == [REPLY]


def test_a_damaged_reply_is_named(tmp_path: Path, put: Put, rows: Rows) -> None:
    with Store.writing(tmp_path) as store:
        put(store, ("a", REPLY, None), ("b", REPLY, None))
    rows(tmp_path, "UPDATE attempts SET reply = '{\"text\":' WHERE call_id = 'b'")
    with Store.reading(tmp_path) as store, pytest.raises(StoreError, match=r"the reply of call b is damaged \(.*'harness store check'"):
        list(store.replies("ab"))


def test_writing_again_continues(tmp_path: Path, put: Put, rows: Rows) -> None:
    for text in ("first", "second"):
        with Store.writing(tmp_path) as store:
            put(store, ("a", said(text), None))
    assert rows(tmp_path, "SELECT attempt FROM attempts ORDER BY attempt") == [1, 2]


def test_calls_can_be_stored_before_their_attempts(tmp_path: Path, make_call: MakeCall, put: Put, rows: Rows) -> None:
    calls = [make_call("a", prompt_id="p"), make_call("b", prompt_id="p")]
    with Store.writing(tmp_path) as store:
        store.put_calls(calls, JudgeIdentity("openai", "one"))
        assert list(store.replies(["a", "b"])) == list(store.last_attempts(["a", "b"])) == [None, None]
        put(store, (calls[0], REPLY, None))
        assert list(store.replies(["a", "b"])) == [REPLY, None]
        assert [row["call_id"] for row in store.export()] == ["a"]
    assert [rows(tmp_path, f"SELECT COUNT(*) FROM {table}") for table in ("prompts", "calls", "attempts")] == [[1], [2], [1]]


def test_calls_and_runs_are_written_once(tmp_path: Path, make_call: MakeCall, put: Put, rows: Rows) -> None:
    with Store.writing(tmp_path) as store:
        for spec in (b'{"first":1}', b'{"second":2}'):
            put(store, (make_call("a", prompt_id="p"), REPLY, None), (make_call("b", prompt_id="p"), None, "lost"))
            store.put_run("run", spec)
        store.put_run("another", b"{}")
        assert store.runs() == {"run": '{"first":1}', "another": "{}"}
        assert [row["call_id"] for row in store.export()] == ["a"]
    assert [rows(tmp_path, f"SELECT COUNT(*) FROM {table}") for table in ("prompts", "calls", "attempts")] == [[1], [2], [4]]


def test_frames_are_remembered(tmp_path: Path) -> None:
    with Store.writing(tmp_path) as store:
        store.put_template("key", b"\x00frame")
    with Store.reading(tmp_path) as store:
        assert store.get_template("key") == b"\x00frame" and store.get_template("other") is None


# Export


def test_an_export_holds_each_calls_last_reply_in_order_of_id(tmp_path: Path, make_call: MakeCall, put: Put) -> None:
    with Store.writing(tmp_path) as store:
        b = make_call("b", temperature=0.7, repeat=2, prompt_id="p")
        a = make_call("a", metrics=("m", "n"), joint=True)
        put(store, (b, said("old"), None), (b, None, "lost"), (b, said("new"), None), (a, REPLY, None), ("c", None, "lost"))
        rows = [json.loads(msgspec.json.encode(row)) for row in store.export()]
    assert [(row["call_id"], row["reply"]["text"]) for row in rows] == [("a", '{"score": 2}'), ("b", "new")]
    assert (rows[0]["metrics"], rows[0]["condition"]) == ("m,n", "joint T=0")
    assert {name: rows[1][name] for name in ("prompt_id", "judge", "item_id", "temperature", "repeat")} == {
        "prompt_id": "p",
        "judge": "openai/one",
        "item_id": "i",
        "temperature": 0.7,
        "repeat": 2,
    }
    assert msgspec.convert(rows[1]["reply"], Reply) == said("new")


def test_an_export_may_be_of_one_judge(tmp_path: Path, make_call: MakeCall, put: Put) -> None:
    with Store.writing(tmp_path) as store:
        put(store, ("a", REPLY, None))
        put(store, ("b", REPLY, None), judge=JudgeIdentity("local", "two"))
        assert [row["call_id"] for row in store.export("local/two")] == ["b"]
        assert [row["call_id"] for row in store.export()] == ["a", "b"]
        assert list(store.export("nobody")) == []


# Folders that cannot be used


def test_a_held_folder_is_refused_with_who_holds_it(tmp_path: Path) -> None:
    with Store.writing(tmp_path), pytest.raises(StoreError) as caught:
        Store.writing(tmp_path)
    assert "is in use by another run (process " in str(caught.value) and "--out" in str(caught.value)
    with Store.writing(tmp_path):  # and it is free again
        pass


_HOLD = """
import sys
from pathlib import Path
from typing import Any
from harness.store import Store
store = Store.writing(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_folder_held_by_another_process_is_free_when_that_is_killed(tmp_path: Path, put: Put) -> None:
    with subprocess.Popen([sys.executable, "-c", _HOLD, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout and other.stdout.readline() == "held\n"
        with pytest.raises(StoreError, match=rf"in use by another run \(process {other.pid}: harness "):
            Store.writing(tmp_path)
        other.kill()
    with Store.writing(tmp_path) as store:
        put(store, ("a", REPLY, None))


def test_looking_into_a_held_folder_is_allowed(tmp_path: Path) -> None:
    with Store.writing(tmp_path) as store:
        store.put_run("run", b"{}")
        with Store.reading(tmp_path) as other:
            assert list(other.runs()) == ["run"]


@pytest.mark.parametrize("opening", [Store.reading, Store.writing], ids=["reading", "writing"])
def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path: Path, opening: Callable[[Path], Store]) -> None:
    (tmp_path / "store.sqlite").write_bytes(b"a letter to grandmother " * 100)
    with pytest.raises(StoreError, match="it is not a store of this program; move it away"):
        opening(tmp_path)
    assert (tmp_path / "store.sqlite").read_bytes() == b"a letter to grandmother " * 100


def test_a_damaged_store_is_said(tmp_path: Path, put: Put) -> None:
    with Store.writing(tmp_path) as store:
        put(store, *((f"call {n}", said("x" * 200), None) for n in range(500)))
    path = tmp_path / "store.sqlite"
    path.write_bytes(path.read_bytes()[:4096] + b"\xff" * (path.stat().st_size - 4096))
    with pytest.raises(StoreError, match=r"damaged|not a store of this program"), Store.reading(tmp_path) as store:
        list(store.replies(f"call {n}" for n in range(500)))


def test_a_folder_without_results_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"no results in .*: there is no store\.sqlite; name the folder of an earlier run with --out"):
        Store.reading(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"cannot be used \(.*\); choose a folder that can be written with --out"):
        Store.writing(tmp_path / "file" / "results")


def test_reading_changes_nothing(tmp_path: Path, put: Put) -> None:
    with Store.writing(tmp_path) as store:
        put(store, ("a", REPLY, None))
    with Store.reading(tmp_path) as store, pytest.raises(StoreError, match="readonly"):
        store.put_run("run", b"{}")


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (["run", "--langs", "cs", "--concurrency=4"], "run --langs cs --concurrency 4"),
        (["run", "--base-url", "http://10.1.2.3:8000/v1?key=sk-1234567890", "--judge", "openai/m"], "run --base-url … --judge …"),
        (["run", "--base-url=http://user:pw@host/v1"], "run --base-url …"),
        (["store", "merge", "/home/somebody/laptop", "--out", "results"], "store merge … --out …"),
        (["--langs", "http://host/", "hf_token123"], "--langs … …"),
        (["-f", "/run/user/1000/kernel-abc.json"], "… …"),
        ([], ""),
    ],
)
def test_the_note_of_who_holds_a_folder_keeps_no_address_and_no_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], kept: str
) -> None:
    monkeypatch.setattr("sys.argv", ["harness", *words])
    with Store.writing(tmp_path) as store:
        assert json.loads(store.note("holder") or "")["command"] == kept
        with pytest.raises(StoreError) as caught:
            Store.writing(tmp_path)
    assert f"(process {os.getpid()}: harness {kept})" in str(caught.value)
