"""Replay: what was recorded is answered again, nothing else is, and the file is known by its hash and not by its place."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ContentError, UsageError
from harness.judges.judge_protocol import Judge, JudgeOptions
from harness.judges.replay import ReplayJudge, open_judge
from harness.model import Call, JudgeIdentity, Reply, Usage
from harness.row_files import to_jsonl
from harness.store import Attempt, Store

MakeCall = Callable[..., Call]

ROW: dict[str, Any] = {
    "call_id": "c",
    "prompt_id": "p",
    "judge": "openai/one",
    "temperature": 0.0,
    "repeat": 0,
    "reply": {"text": '{"score": 2}', "model": "one-2024"},
}


def opened(name: object) -> ReplayJudge:
    return open_judge(str(name), JudgeOptions())


def answered(judge: Judge, call: Call) -> Reply:
    return asyncio.run(judge.answer(call))


@pytest.fixture
def export(tmp_path: Path) -> Callable[..., Path]:
    """A file of rows, each `ROW` with changes."""

    def write(*changes: dict[str, Any], name: str = "export.jsonl") -> Path:
        (tmp_path / name).write_bytes(to_jsonl([ROW | change for change in changes]))
        return tmp_path / name

    return write


def test_the_recorded_reply_comes_back_whole(tmp_path: Path, make_call: MakeCall) -> None:
    """Through a real store: what was received, exported and replayed is the same reply."""
    reply = Reply('{"score": 2}', "one-2024", "json_schema", "stop", None, None, Usage(7, 3, 5), 0.25)
    with Store.writing(tmp_path / "results") as store:
        store.put_attempts([Attempt(make_call("c", prompt_id="p"), reply, None)], JudgeIdentity("openai", "one"))
        (tmp_path / "export.jsonl").write_bytes(to_jsonl(store.export()))
    judge = opened(tmp_path / "export.jsonl")
    assert isinstance(judge, Judge) and judge.endpoint is None
    assert answered(judge, make_call("another id", prompt_id="p")) == reply


@pytest.mark.parametrize("other", [{"prompt_id": "q"}, {"temperature": 0.3}, {"repeat": 1}], ids=str)
def test_what_was_not_recorded_is_an_empty_reply_that_says_so(
    export: Callable[..., Path], make_call: MakeCall, other: dict[str, Any]
) -> None:
    judge = opened(export({}))
    reply = answered(judge, make_call(**({"prompt_id": "p"} | other)))
    assert (reply.text, reply.error) == ("", "not in the export")


def test_prompt_temperature_and_repeat_choose_the_reply(export: Callable[..., Path], make_call: MakeCall) -> None:
    changes = [
        {"prompt_id": p, "temperature": t, "repeat": r, "reply": {"text": f"{p}{t}{r}", "model": ""}}
        for p in "pq"
        for t in (0.0, 1.0)
        for r in (0, 1)
    ]
    judge = opened(export(*changes))
    for change in changes:
        call = make_call(**{name: change[name] for name in ("prompt_id", "temperature", "repeat")})
        assert answered(judge, call).text == change["reply"]["text"]


def test_one_of_several_judges_is_named(export: Callable[..., Path], make_call: MakeCall) -> None:
    path = export({}, {"judge": "openai/two", "reply": {"text": "two", "model": ""}})
    judge = opened(f"{path}#openai/two")
    assert answered(judge, make_call(prompt_id="p")).text == "two"
    assert judge.identity.name == "replay/openai/two"


@pytest.mark.parametrize("wanted", ["", "#openai/three"])
def test_without_a_right_name_the_judges_in_the_file_are_listed(export: Callable[..., Path], wanted: str) -> None:
    path = export({}, {"judge": "openai/two"})
    with pytest.raises(UsageError, match=r"holds the judges openai/one, openai/two; name one as 'replay/.*#<judge>'"):
        opened(f"{path}{wanted}")


def test_an_empty_export_is_refused(export: Callable[..., Path]) -> None:
    with pytest.raises(UsageError, match=r"holds the judges \(none\)"):
        opened(export())


def test_a_file_that_is_not_there_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no store export at '.*none\.jsonl'; make one with 'harness store export"):
        opened(tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("{", "not a JSON object"),
        (
            json.dumps({k: v for k, v in ROW.items() if k != "prompt_id"}),
            "not a line of a store export: Object missing required field `prompt_id`",
        ),
        (json.dumps(ROW | {"reply": "2"}), "Expected `object`, got `str`"),
        (json.dumps(ROW | {"repeat": "first"}), "Expected `int`"),
    ],
    ids=["no JSON", "no prompt", "no reply", "no number"],
)
def test_a_bad_line_is_named(export: Callable[..., Path], row: str, words: str) -> None:
    path = export({})
    path.write_text(path.read_text() + row + "\n")
    with pytest.raises(ContentError, match=words) as caught:
        opened(path)
    assert caught.value.line == 2


def test_identity_is_the_content_and_not_the_place(export: Callable[..., Path]) -> None:
    one, same, other = (opened(export(change, name=name)).identity for name, change in (("a", {}), ("b", {}), ("c", {"repeat": 1})))
    assert one == same != other
    assert "export" in one.settings and "/a" not in str(one)
