"""Endpoints of models that reason, take no system message, or fail where an answer format is asked for: the run goes on and says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

SCORE = {"justification": "Because.", "score": 1}


def test_reasoning_is_kept_counted_and_not_read(
    ask: Callable[..., Any],
    cli: Callable[..., Any],
    endpoint: Any,
    out: Path,
    replies: Callable[[Path], list[dict[str, Any]]],
    run_folder: Callable[[Path], Path],
) -> None:
    text = '<think>Is it {"score": 0}?</think>\n' + json.dumps(SCORE)
    endpoint.script = lambda request: endpoint.saying(text)
    done = ask()
    assert done.code == 0, done.err
    assert {reply["text"] for reply in replies(out)} == {text}
    report = json.loads((run_folder(out) / "report.json").read_bytes())
    assert not any(cell["failures"] for cell in report["cells"])
    count = len(replies(out))
    expected = {"replies": count, "characters": count * len('<think>Is it {"score": 0}?</think>')}
    assert list(report["reasoning"].values()) == [expected]
    assert f"marked reasoning in {count} replies" in " ".join((done.out + done.err).split())
    assert list(json.loads((run_folder(out) / "run.json").read_bytes())["reasoning"].values()) == [expected]
    assert cli("report", "--out", out, run_folder(out).name, "--html").code == 0
    assert "replies with reasoning (not read)" in (run_folder(out) / "report.html").read_text("utf-8")


def test_reasoning_beside_the_answer_is_counted(
    ask: Callable[..., Any], endpoint: Any, out: Path, run_folder: Callable[[Path], Path]
) -> None:
    endpoint.script = lambda request: endpoint.saying(SCORE, reasoning_content="Hm.")
    assert ask().code == 0
    [found] = json.loads((run_folder(out) / "report.json").read_bytes())["reasoning"].values()
    assert found["characters"] == 3 * found["replies"]


def test_a_model_without_a_system_role_is_asked_in_the_users_turn(
    ask: Callable[..., Any], endpoint: Any, out: Path, replies: Callable[[Path], list[dict[str, Any]]], run_folder: Callable[[Path], Path]
) -> None:
    def script(request: Any) -> Any:
        if any(message["role"] == "system" for message in request.body["messages"]):
            return endpoint.error(400, "System role not supported")
        return endpoint.good(request)

    endpoint.script = script
    done = ask()
    assert done.code == 0, done.err
    assert {tuple(reply["left_out"]) for reply in replies(out)} == {("system role",)}
    report = json.loads((run_folder(out) / "report.json").read_bytes())
    assert all("left_out:system role" in signature for signature in report["signatures"].values())
    assert "does not take a system message" in " ".join((done.out + done.err).split())


def test_500_wherever_a_format_is_asked_for_falls_back(
    ask: Callable[..., Any], endpoint: Any, out: Path, replies: Callable[[Path], list[dict[str, Any]]]
) -> None:
    endpoint.script = lambda request: endpoint.error(500, "Internal error") if request.form != "text" else endpoint.saying(SCORE)
    done = ask("--concurrency", "2")
    assert done.code == 0, done.err
    assert {reply["form"] for reply in replies(out)} == {"text"}


def test_500_for_a_while_keeps_the_format(
    ask: Callable[..., Any], endpoint: Any, out: Path, replies: Callable[[Path], list[dict[str, Any]]]
) -> None:
    endpoint.script = endpoint.first(*[endpoint.error(500, "Internal error")] * 4)
    done = ask("--concurrency", "1")
    assert done.code == 0, done.err
    assert {reply["form"] for reply in replies(out)} == {"json_schema"}
