"""`harness gate` on a run in which calls were lost: the command that asked, the endpoint that refused, and what the gate says of it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from tests.conftest import write_rows
from tests.e2e.conftest import MODEL, Answer, Endpoint, Request
from tests.judged_folder import judged_folder

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
            return endpoint.error(403, "the firewall does not forward this request")
        return endpoint.saying(
            {"justification": "So.", "score": 0 if "bad" in text and " 1." not in text else 2}, model=request.body["model"]
        )

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


TAGS = ("ja", "pt-PT", "zh-Hant", "cs")
LIMITS = "at_least = {least}\nbeats_baseline = true\nnot_below_people_by = 0.05\nunread_at_most = 0.2\nmin_items = 20\nverdict = 'use'\n"
ROW = re.compile(r"^[✓✗○] ")


def several_languages(path: Path, judges: tuple[str, ...] = ("openai/judge-of-a-long-name",)) -> Path:
    """A folder in four languages, in which each judge has the same scores."""
    judged_folder(path, prompts=160, labelled=1.0, noise=0.2, fields=lambda number, system, rng: {"language": TAGS[number % len(TAGS)]})
    rows = [json.loads(line) for line in (path / "judgments.jsonl").read_text("utf-8").splitlines()]
    write_rows(path / "judgments.jsonl", [row | {"judge": judge} for judge in judges for row in rows])
    return path


@pytest.mark.parametrize("width", [80, 120, 180])
@pytest.mark.parametrize("judges", [("openai/judge-of-a-long-name",), ("openai/one", "openai/two")], ids=len)
def test_a_pipe_has_an_answer_of_six_lines_and_a_row_for_each_limit_that_does_not_hold(
    judges: tuple[str, ...], width: int, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, policy, found = several_languages(tmp_path / "made", judges), tmp_path / "gate.toml", tmp_path / "gate.json"
    policy.write_text(f"[[rule]]\n{LIMITS.format(least=0.9)}", "utf-8")
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.chdir(tmp_path)
    shown = {flags: cli("gate", data.name, "--policy", policy, "--json", found, *flags) for flags in ((), ("--all",))}
    checks = json.loads(found.read_text("utf-8"))["checks"]
    assert len(checks) == 6 * 2 * len(TAGS) * len(judges) and "obstacles" not in checks[0]
    open_ones = [check for check in checks if check["outcome"] != "pass"]
    assert {check["outcome"] for check in checks} == {"pass", "fail", "inconclusive"}
    for flags, rows in (((), len(open_ones)), (("--all",), len(checks))):
        done = shown[flags]
        lines = done.out.splitlines()
        assert done.code == 1 and max(map(cell_len, lines)) <= width and not any(line != line.rstrip() for line in lines)
        answer = lines[: lines.index("")]
        assert len([line for line in answer if not line.startswith("  ")]) <= 6
        assert sum(bool(ROW.search(line)) for line in lines[len(answer) :]) == rows, "a row is broken, or one is missing"
    text = " ".join(shown[()].out.split())
    assert f"{len(checks) - len(open_ones)} limits hold: --all." in text and "4 languages · " in text
    assert (f"{len(judges)} judges · " if len(judges) > 1 else f"{judges[0]} · ") in text
    assert re.search(r"^[✗○] .*(use|unknown|only): [a-z]", shown[()].out, re.M), "a verdict has its reason"


@pytest.mark.parametrize("least, said", [(0.99, "read where judge and people differ"), (0.75, "see how many more labels settle it")])
def test_the_next_step_has_a_command_that_works(least: float, said: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, policy = several_languages(tmp_path / "made with blanks"), tmp_path / "gate.toml"
    policy.write_text(f"[[rule]]\nat_least = {least}\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    done = cli("gate", data.name, "--policy", policy)
    [command] = re.findall(rf"^Next: {said}: harness (.*)", done.out, re.M)
    assert done.code == (1 if least > 0.9 else 7) and cli(*shlex.split(command)).code == 0


def test_a_pass_needs_no_rows_and_another_reason_is_said_whole(cli: Cli, tmp_path: Path) -> None:
    data, policy = several_languages(tmp_path / "made"), tmp_path / "gate.toml"
    policy.write_text("[[rule]]\nmin_items = 5\n", "utf-8")
    held = cli("gate", data, "--policy", policy)
    assert held.code == 0 and "\n8 limits hold: --all.\n" in held.out and "why not" not in held.out and "Next:" not in held.out
    assert held.out.rstrip().endswith("--notes --all")
    assert "data:made" in cli("gate", data, "--policy", policy, "--notes").out
    policy.write_text('[[rule]]\nlanguage = ["cs", "ko"]\nmetric = "tone"\nmax_drop = 0.1\n', "utf-8")
    unknown = cli("gate", data, "--policy", policy)
    lines = unknown.out.splitlines()
    assert unknown.code == 7 and "Next: tone in Czech: max_drop needs an earlier run; pass --baseline RUN" in lines
    assert "no numbers for the language 'ko'" in unknown.out
