"""`harness atlas update` from first to last: a judge at an endpoint is asked on real boards, and what is written goes into a checkout."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.content.library import bundled_root
from tests.e2e.conftest import Answer, Endpoint, Request

pytestmark = [pytest.mark.slow, pytest.mark.needs("shared data")]
JUDGE = "openai/tester-2026-01-01"
FOLDER = "openai-tester-2026-01-01"
SETS = {"adparaphrase": "adparaphrase_ja", "wmt24-esa": "wmt24_esa"}


@pytest.fixture
def update(cli: Callable[..., Any], endpoint: Endpoint, shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command, where two sets are here and no other can be fetched; its folders are `runs` and `proposal`."""
    for name in SETS.values():
        (tmp_path / "home").mkdir(exist_ok=True)
        (tmp_path / "home" / name).symlink_to(shared_data / name)
    (tmp_path / "mirror").mkdir()
    monkeypatch.setenv("HARNESS_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HARNESS_DATA_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.chdir(tmp_path)
    endpoint.script = lambda request: preferring(endpoint, request)
    return lambda *flags: cli("atlas", "update", "--judge", JUDGE, "--base-url", endpoint.url, "--out", tmp_path / "runs", *flags)


def preferring(endpoint: Endpoint, request: Request) -> Answer:
    """Prefers one of two texts by a coin of the question; every translation is a 3."""
    is_pair = "Text A" in request.body["messages"][-1]["content"]
    return endpoint.saying({"score": "AB"[int(request.key, 16) % 2] if is_pair else 3}, model=request.body["model"])


def test_a_proposal_from_the_first_call_to_the_rows_of_the_atlas(
    update: Callable[..., Any], cli: Callable[..., Any], endpoint: Endpoint, tmp_path: Path
) -> None:
    planned = update("--dry-run", "--json")
    calls = {row["board"]: row["calls"] for row in json.loads(planned.out)["boards"]}
    assert planned.code == 0 and set(SETS) <= set(calls) and not endpoint.requests
    to = tmp_path / "proposal"
    done = update("--to", to, "--yes")
    assert done.code == 0, done.err
    assert len(endpoint.requests) == sum(calls[board] for board in SETS)
    assert not {"rtp-lx", "mlqe-critical", "textdetox"} & set(calls), "nothing is paid for replies that cannot be published"
    assert (
        "note: rtp-lx is left out: its texts are extremely offensive, and replies in words may quote them" in done.err
        and "2 submissions" in done.out
    )

    letter = (to / "PULL_REQUEST.md").read_text("utf-8")
    assert letter.startswith(f"# {JUDGE} on 2 boards of people's labels\n") and "- hanna is left out: its data are not here" in letter
    rows = [json.loads(line) for line in (to / "atlas-rows.jsonl").read_text("utf-8").splitlines()]
    [row] = rows
    assert (row["judge"], row["board"], row["language"], row["verdict"]) == (JUDGE, "adparaphrase", "ja", "not shown")
    assert "Verdicts: not shown 1." in letter and re.search(r"^\| Japanese \| \S", letter, re.M)
    assert (
        "- `wmt24-esa`: 489 replies; the board ranks judges and gives no verdicts" in letter and "`adparaphrase`: 200 replies\n" in letter
    )

    for board in SETS:
        replies = gzip.decompress((to / "leaderboards" / board / "submissions" / FOLDER / "replies.jsonl.gz").read_bytes())
        assert len(replies.splitlines()) == calls[board]
    again = update("--to", to, "--yes")
    assert again.code == 0 and len(endpoint.requests) == sum(calls[board] for board in SETS), "nothing is asked twice"
    assert (to / "PULL_REQUEST.md").read_text("utf-8") == letter

    checkout = tmp_path / "checkout"
    for part in ("tasks", "languages", "rubrics", "catalog", "leaderboards"):
        shutil.copytree(bundled_root() / part, checkout / part)
    shutil.copy(bundled_root() / "content.lock", checkout)
    shutil.copytree(to / "leaderboards", checkout / "leaderboards", dirs_exist_ok=True)
    for board in SETS:
        checked = cli("board", "check", board, "--content", checkout)
        assert checked.code == 0, checked.err
    shown = json.loads(cli("board", "show", "adparaphrase", "--content", checkout, "--json").out)
    [verdict] = [verdict for verdict in shown["verdicts"] if verdict["judge"] == JUDGE]
    assert (verdict["language"], verdict["metric"], verdict["verdict"]) == ("ja", row["metric"], "too few labels"), "the atlas: not shown"


def test_a_command_that_was_stopped_goes_on(update: Callable[..., Any], endpoint: Endpoint, tmp_path: Path) -> None:
    usual, paid = endpoint.script, set[str]()

    def until_the_key_ends(request: Request) -> Answer:
        if len(endpoint.requests) > 50:
            return endpoint.error(401, "no such key")
        paid.add(request.key)
        return usual(request)

    endpoint.script = until_the_key_ends
    stopped = update("--to", tmp_path / "proposal", "--yes", "--lang", "ja")
    assert stopped.code != 0 and not (tmp_path / "proposal").exists(), "no part of a proposal is left"
    endpoint.script = usual
    done = update("--to", tmp_path / "proposal", "--yes", "--lang", "ja")
    assert done.code == 0, done.err
    asked = Counter(request.key for request in endpoint.requests)
    assert paid and all(asked[key] == 1 for key in paid), "an answer is paid once"
    card = (tmp_path / "proposal" / "leaderboards" / "wmt24-esa" / "submissions" / FOLDER / "judge.toml").read_text("utf-8")
    assert re.search(r'languages = \[\s*"ja",?\s*\]', card), "a part says that it is one"


def test_a_judge_whose_answers_cannot_be_read_makes_no_proposal(update: Callable[..., Any], endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.script = lambda request: endpoint.saying("As a model I would rather talk about the weather.", model=request.body["model"])
    done = update("--to", tmp_path / "proposal", "--yes", "--lang", "ja")
    assert done.code == 2 and "nothing can be submitted" in done.err and "adparaphrase is not submitted" in done.err
    assert not (tmp_path / "proposal" / "leaderboards").exists() and not (tmp_path / "proposal" / "PULL_REQUEST.md").exists()
