"""`harness gate` on a run in which calls were lost: the command that asked, the endpoint that refused, and what the gate says of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.conftest import write_rows
from tests.e2e.conftest import MODEL, Answer, Endpoint, Request

Cli = Callable[..., Any]


def folder(path: Path, texts: int = 60) -> Path:
    """Texts of which every third is bad, as everybody says."""
    items = [
        {
            "item_id": f"i{n}",
            "language": "cs",
            "task": "open_prompt",
            "prompt": "Popiš les.",
            "output": f"{'bad' if n % 3 else 'good'} {n}.",
        }
        for n in range(texts)
    ]
    labels = [
        {"item_id": item["item_id"], "annotator_id": who, "metric": "task_quality", "score": 2 if "good" in item["output"] else 0}
        for item in items
        for who in ("p1", "p2")
    ]
    write_rows(path / "items.jsonl", items)
    write_rows(path / "labels.jsonl", labels)
    return path


def test_questions_that_were_asked_and_have_no_answer_never_pass(
    cli: Cli, endpoint: Endpoint, out: Path, tmp_path: Path, run_folder: Callable[[Path], Path]
) -> None:
    refusing = True

    def script(request: Request) -> Answer:
        text = request.body["messages"][-1]["content"]
        if refusing and any(f"bad {n}." in text for n in range(0, 60, 4)):
            return endpoint.error(400, "the gateway does not forward this request")
        return endpoint.saying({"justification": "So.", "score": 0 if "bad" in text else 2}, model=request.body["model"])

    endpoint.script = script
    data = folder(tmp_path / "made")
    asking = ("run", "--data", data, "--judge", f"openai/{MODEL}", "--base-url", endpoint.url, "--out", out)
    assert cli(*asking, "--concurrency", "1").code == 6  # one by one: a judge whose first reply is a refusal is not asked further
    policy = tmp_path / "gate.toml"
    policy.write_text("[[rule]]\nat_least = 0.5\nunread_at_most = 0.2\nbeats_baseline = true\n\n[[rule]]\nmin_items = 1\n", "utf-8")
    done = cli("gate", run_folder(out), "--policy", policy, "--json", tmp_path / "gate.json")
    checks = json.loads((tmp_path / "gate.json").read_text("utf-8"))["checks"]
    assert done.code == 7 and [check["outcome"] for check in checks] == ["inconclusive"] * 3 + ["pass"]
    assert re.search(r"\d+ of 60 questions have no answer; run the same command again", checks[2]["reason"] + checks[1]["reason"])
    refusing = False
    assert cli(*asking).code == 0
    assert cli("gate", run_folder(out), "--policy", policy).code == 0
