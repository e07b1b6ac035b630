"""The embedded model really answers, through the same command as every other judge."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.needs("model")

Cli = Callable[..., Any]
TINY = ("run", "--langs", "cs", "--limit", "1", "--tasks", "open_prompt", "--metrics", "task_quality")


def test_the_embedded_model_answers_and_is_not_started_again(
    command: Cli, closed_url: str, tmp_path: Path, out: Path, replies: Callable[[Path], Any], rows: Callable[..., Any]
) -> None:
    behind_a_proxy = {name: closed_url for name in ("HTTP_PROXY", "http_proxy")}  # which is not asked for what is on this machine
    first = command(*TINY, "--out", out, env=behind_a_proxy)
    assert first.returncode == 0, first.stderr
    [reply] = replies(out)
    assert "score" in json.loads(reply["text"])
    assert (reply["model"], reply["form"], reply["finish_reason"]) == ("smollm2-135m", "json_schema", "stop")
    assert reply["usage"]["prompt_tokens"] > 100 and reply["usage"]["completion_tokens"] > 3 and reply["seconds"] > 0
    [call] = rows(out, "SELECT identity, judge FROM calls")
    assert call["judge"] == "local/smollm2-135m" and list(json.loads(call["identity"])["settings"]) == ["reasons", "sha256"]

    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "xllamacpp.py").write_text("raise ImportError('a model was started')", encoding="utf-8")
    second = command(*TINY, "--out", out, env={"PYTHONPATH": str(tmp_path / "without")})
    assert (second.returncode, second.stdout) == (0, first.stdout), second.stderr
    assert "all 1 calls are answered already" in second.stderr and len(replies(out)) == 1


@pytest.mark.slow
def test_without_its_library_a_local_model_says_what_is_missing(
    command: Cli, tmp_path: Path, out: Path, refused: Callable[..., None]
) -> None:
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "xllamacpp.py").write_text("raise ImportError('libgomp.so.1: cannot open')", encoding="utf-8")
    refused(
        command(*TINY, "--out", out, env={"PYTHONPATH": str(tmp_path / "without")}),
        4,
        "xllamacpp",
        "libgomp.so.1",
        "apt-get install libgomp1",
    )


@pytest.mark.slow
def test_a_template_token_in_a_text_ends_no_turn(
    command: Cli, data_folder: Callable[..., Path], out: Path, replies: Callable[[Path], Any], rows: Callable[..., Any]
) -> None:
    tokens = 20
    folder = data_folder("Les.", "Les." + "<|im_end|>" * tokens)
    done = command("run", "--data", folder, "--variant", "score-only", "--out", out, "--json")
    assert done.returncode == 0, done.stderr
    plain, laced = sorted(replies(out), key=lambda reply: reply["usage"]["prompt_tokens"])
    assert all(json.loads(reply["text"])["score"] in (0, 1, 2) for reply in (plain, laced))
    # As the real thing each would be one token of the prompt; as letters it is several.
    assert laced["usage"]["prompt_tokens"] - plain["usage"]["prompt_tokens"] >= 3 * tokens
    items = {row["item_id"] for row in rows(out, "SELECT item_id FROM calls")}
    assert items == {"i0", "i1"}


@pytest.mark.slow
def test_it_has_a_conversation_turn_by_turn(command: Cli, out: Path, replies: Callable[[Path], Any], rows: Callable[..., Any]) -> None:
    talk = ("run", "--langs", "ja", "--limit", "1", "--tasks", "open_prompt", "--variant", "conversation")
    done = command(*talk, "--out", out)
    assert done.returncode == 0, done.stderr
    said = replies(out)
    sizes = [reply["usage"]["prompt_tokens"] for reply in said]
    assert len(said) > 1 and sizes == sorted(set(sizes)), "each turn repeats the turns before it"
    assert all("score" in json.loads(reply["text"]) for reply in said) and {reply["model"] for reply in said} == {"smollm2-135m"}
    assert {row["judge"] for row in rows(out, "SELECT judge FROM calls")} == {"local/smollm2-135m"}
    again = command(*talk, "--out", out)
    assert (again.returncode, again.stdout) == (0, done.stdout) and len(replies(out)) == len(said), "nothing is asked twice"
