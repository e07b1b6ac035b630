"""The store: every attempt is kept under its call, the last reply counts, and a folder that cannot be used is said in words."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from harness.errors import StoreError
from harness.model import Call, JudgeIdentity, Reply, Token, Usage
from harness.store import SCHEMA_VERSION, Store

MakeCall = Callable[..., Call]

JUDGE = JudgeIdentity("openai", "one", {"endpoint": "host"})
REPLY = Reply('{"score": 2}', "one-2024", "json_schema", "stop", None, None, Usage(7, 3, 5), 0.25)


def said(text: str) -> Reply:
    return msgspec.structs.replace(REPLY, text=text)


def attempts(folder: Path) -> list[tuple[object, ...]]:
    with sqlite3.connect(folder / "store.sqlite") as connection:
        found = connection.execute("SELECT call_id, attempt, lost, reply IS NOT NULL FROM attempts ORDER BY call_id, attempt").fetchall()
    connection.close()
    return found


# Attempts and replies


def test_attempts_are_numbered_within_their_call(tmp_path: Path) -> None:
    with Store.writing(tmp_path) as store:
        store.put_attempts([("a", None, "lost"), ("b", REPLY, None), ("a", None, "again")])
        store.put_attempts([("a", REPLY, None)])
    assert attempts(tmp_path) == [("a", 1, "lost", 0), ("a", 2, "again", 0), ("a", 3, None, 1), ("b", 1, None, 1)]


def test_a_reply_comes_back_as_it_was_given(tmp_path: Path) -> None:
    tokens = (Token("日", {"日": -0.25, "\x00": -3.5}), Token("", {}))
    reply = Reply(
        "日本語 \x00 \ud7ff {{G|1|G}} <|im_end|>\n", "m", "text", "length", "no", "400: bad", Usage(1, 2, 3), 1.5, tokens, ("seed", "top_p")
    )
    with Store.writing(tmp_path) as store:
        store.put_attempts([("a", reply, None)])
    with Store.reading(tmp_path) as store:
        assert store.replies(["a"]) == {"a": reply}


def test_the_last_reply_counts_and_lost_attempts_do_not(tmp_path: Path) -> None:
    with Store.writing(tmp_path) as store:
        store.put_attempts([("a", said("first"), None), ("a", said("second"), None), ("a", None, "lost"), ("b", None, "lost")])
        assert store.replies(["a", "b", "c"]) == {"a": said("second")}


def test_only_the_calls_asked_for_are_answered_however_many(tmp_path: Path) -> None:
    with Store.writing(tmp_path) as store:
        store.put_attempts([(f"call {n}", said(str(n)), None) for n in range(3000)])
        found = store.replies(f"call {n}" for n in range(0, 3000, 2))
        assert len(found) == 1500 and found["call 42"] == said("42")
        assert store.replies(["call 1", "call 1"]) == {"call 1": said("1")}
        assert store.replies([]) == {}


def test_replies_of_a_store_from_before_tokens_were_kept_are_read(tmp_path: Path) -> None:
    with Store.writing(tmp_path) as store:
        store.put_attempts([("a", REPLY, None)])
    with sqlite3.connect(tmp_path / "store.sqlite") as connection:
        old = {name: value for name, value in msgspec.to_builtins(REPLY).items() if name not in ("tokens", "left_out")}
        connection.execute("UPDATE attempts SET reply = ?", (json.dumps(old),))
    connection.close()
    with Store.reading(tmp_path) as store:
        assert store.replies(["a"]) == {"a": REPLY}


def test_calls_are_answered_that_have_a_reply(tmp_path: Path) -> None:
    with Store.writing(tmp_path) as store:
        store.put_attempts([("a", said("first"), None), ("a", None, "lost"), ("b", None, "lost"), ("c", REPLY, None)])
        assert store.answered(["a", "b", "d", "a"]) == {"a"}
        assert store.answered(f"{name}" for name in "abcd") == {"a", "c"} and store.answered([]) == set()
        assert store.replies(["c"]) == {"c": REPLY}


def test_what_was_committed_is_there_for_others_at_once(tmp_path: Path) -> None:
    with Store.writing(tmp_path) as store:
        store.put_attempts([("a", REPLY, None)])
        with Store.reading(tmp_path) as other:
            assert other.replies(["a"]) == {"a": REPLY}


def test_writing_again_continues(tmp_path: Path) -> None:
    for text in ("first", "second"):
        with Store.writing(tmp_path) as store:
            store.put_attempts([("a", said(text), None)])
    assert [attempt for _, attempt, _, _ in attempts(tmp_path)] == [1, 2]


def test_calls_and_runs_are_written_once(tmp_path: Path, make_call: MakeCall) -> None:
    with Store.writing(tmp_path) as store:
        for spec in (b'{"first":1}', b'{"second":2}'):
            store.put_calls([make_call("a"), make_call("b")], JUDGE)
            store.put_run("run", spec)
        store.put_run("another", b"{}")
        store.put_attempts([("a", REPLY, None)])
        assert store.runs() == {"run": '{"first":1}', "another": "{}"}
        assert [row["call_id"] for row in store.export()] == ["a"]


def test_frames_are_remembered(tmp_path: Path) -> None:
    with Store.writing(tmp_path) as store:
        store.put_frame("key", b"\x00frame")
        store.put_attempts([])
    with Store.reading(tmp_path) as store:
        assert store.get_frame("key") == b"\x00frame" and store.get_frame("other") is None


# Export


def test_an_export_holds_each_calls_last_reply_in_order_of_id(tmp_path: Path, make_call: MakeCall) -> None:
    with Store.writing(tmp_path) as store:
        store.put_calls(
            [make_call("b", temperature=0.7, repeat=2, prompt_id="p"), make_call("a", metrics=("m", "n"), joint=True), make_call("c")],
            JUDGE,
        )
        store.put_attempts(
            [("b", said("old"), None), ("b", None, "lost"), ("b", said("new"), None), ("a", REPLY, None), ("c", None, "lost")]
        )
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


def test_an_export_may_be_of_one_judge(tmp_path: Path, make_call: MakeCall) -> None:
    with Store.writing(tmp_path) as store:
        store.put_calls([make_call("a")], JUDGE)
        store.put_calls([make_call("b")], JudgeIdentity("local", "two"))
        store.put_attempts([("a", REPLY, None), ("b", REPLY, None)])
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
from harness.store import Store
store = Store.writing(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_folder_held_by_another_process_is_free_when_that_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", _HOLD, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout and other.stdout.readline() == "held\n"
        with pytest.raises(StoreError, match=rf"in use by another run \(process {other.pid}: harness "):
            Store.writing(tmp_path)
        other.kill()
    with Store.writing(tmp_path) as store:
        store.put_attempts([("a", REPLY, None)])


def test_looking_into_a_held_folder_is_allowed(tmp_path: Path) -> None:
    with Store.writing(tmp_path) as store:
        store.put_run("run", b"{}")
        with Store.reading(tmp_path) as other:
            assert list(other.runs()) == ["run"]


def test_a_store_of_another_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    with Store.writing(tmp_path):
        pass
    with sqlite3.connect(tmp_path / "store.sqlite") as connection:
        connection.execute("UPDATE meta SET value = ? WHERE key = 'schema_version'", (str(SCHEMA_VERSION + 1),))
    connection.close()
    for opening in (Store.reading, Store.writing, Store.writing):  # twice: the folder is not left held
        with pytest.raises(StoreError, match=rf"a store of version {SCHEMA_VERSION + 1}; this program reads version {SCHEMA_VERSION}"):
            opening(tmp_path)


@pytest.mark.parametrize("opening", [Store.reading, Store.writing], ids=["reading", "writing"])
def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path: Path, opening: Callable[[Path], Store]) -> None:
    (tmp_path / "store.sqlite").write_bytes(b"a letter to grandmother " * 100)
    with pytest.raises(StoreError, match="it is no store of this program; move it away"):
        opening(tmp_path)
    assert (tmp_path / "store.sqlite").read_bytes() == b"a letter to grandmother " * 100


def test_a_damaged_store_is_said(tmp_path: Path) -> None:
    with Store.writing(tmp_path) as store:
        store.put_attempts([(f"call {n}", said("x" * 200), None) for n in range(500)])
    path = tmp_path / "store.sqlite"
    path.write_bytes(path.read_bytes()[:4096] + b"\xff" * (path.stat().st_size - 4096))
    with pytest.raises(StoreError, match=r"damaged|no store of this program"), Store.reading(tmp_path) as store:
        store.replies([f"call {n}" for n in range(500)])


def test_a_folder_without_results_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"no results in .*: there is no store\.sqlite; name the folder of an earlier run with --out"):
        Store.reading(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"cannot be used \(.*\); choose a folder that can be written with --out"):
        Store.writing(tmp_path / "file" / "results")


def test_reading_changes_nothing(tmp_path: Path) -> None:
    with Store.writing(tmp_path) as store:
        store.put_attempts([("a", REPLY, None)])
    with Store.reading(tmp_path) as store, pytest.raises(StoreError, match="readonly"):
        store.put_run("run", b"{}")
