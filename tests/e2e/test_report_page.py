"""The page of a run as a file: its evidence belongs to its judgments, and what it explains is what it shows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.data import judgments as file

Cli = Callable[..., Any]


def data_of(page: str) -> dict[str, Any]:
    [found] = re.findall(r'<script[^>]*id="items-data"[^>]*>(.*?)</script>', page, re.DOTALL)
    return dict(json.loads(found))


def column(rows: dict[str, Any], name: str) -> list[Any]:
    codes = rows[name]["c"]
    many = len(rows["item"])
    return [None if code < 0 else rows[name]["v"][code] for code in ([codes] * many if isinstance(codes, int) else codes)]


@pytest.mark.parametrize("at_a_time", [7, 1 << 13])
def test_perturbed_judgments_have_their_own_evidence_however_many_there_are(
    ask: Cli, cli: Cli, endpoint: Any, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_a_time: int
) -> None:
    """More judgments than are read at a time, in another order than in their file: perturbed ones are shown last."""
    monkeypatch.setattr(file, "_BATCH_ROWS", at_a_time)

    def script(request: Any) -> Any:
        text = json.dumps(request.body["messages"], ensure_ascii=False)
        return endpoint.saying({"justification": f"Asked with {hash(text)}.", "score": hash(text) % 2})

    endpoint.script = script
    assert ask("--perturb", "truncate:0.5", "--perturb", "shuffle-words:1").code == 0
    done = cli("report", "--out", out, "--html", tmp_path / "page.html")
    assert done.code == 0, done.err
    rows = data_of((tmp_path / "page.html").read_text("utf-8"))["rows"]
    assert len(rows["item"]) > 7 and {None, "truncate:0.5"} < set(column(rows, "perturbation"))
    for score, why, (reply, _) in zip(*(column(rows, name) for name in ("score", "justification", "reply")), strict=True):
        assert json.loads(reply) == {"justification": why, "score": score}


def test_the_legend_explains_the_columns_of_the_page(cli: Cli, out: Path, tmp_path: Path) -> None:
    cli("run", "--langs", "cs", "--tasks", "open_prompt", "--judge", "baseline/random", "--out", out)
    cli("report", "--out", out, "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    answer = page[page.index('id="answer"') : page.index('id="grid"')]
    heads = re.findall(r'<th scope="col"[^>]*>([^<]+)', answer)
    [legend] = re.findall(r'<p class="note legend">(.*?)</p>', answer, re.DOTALL)
    for head in dict.fromkeys(heads):
        if head not in ("metric", "agreement with the labels"):
            assert f"{head.partition(' [95')[0]}:" in legend, head
    for elsewhere in ("PA:", "agreement: the share", "labels →"):
        assert elsewhere not in page
