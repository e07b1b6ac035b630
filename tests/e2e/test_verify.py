"""`harness board verify` by the command: an honest judge is verified, a noisy one is, and edited replies are not."""

from __future__ import annotations

import gzip
import hashlib
import itertools
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.boards.card import read_card

pytestmark = pytest.mark.slow  # each test asks an endpoint a whole board

MODEL = "openai/tester-2024-01-01"


class Submitter:
    """Runs the board `held` against an endpoint, hands it in, and has it verified."""

    def __init__(self, cli: Callable[..., Any], board: Any, endpoint: Any, out: Path) -> None:
        self.cli, self.board, self.endpoint, self.out = cli, board, endpoint, out
        self.asked: dict[str, Iterator[int]] = {}
        board.label_openly()

    def submit(self, *more: str) -> Path:
        content, url = ("--content", self.board.content), ("--base-url", self.endpoint.url)
        ran = self.cli("run", "--board", "held", *content, *url, "--judge", MODEL, "--out", self.out, *more)
        assert ran.code == 0, ran.err
        [name] = [path.name for path in (self.out / "runs").iterdir()]
        done = self.cli("submit", name, "--board", "held", "--out", self.out)
        assert done.code == 0, done.err
        [folder] = (self.board.folder / "submissions").iterdir()
        return Path(folder)

    def verify(self, folder: Path, *more: str | Path) -> Any:
        where = ("--content", self.board.content, "--base-url", self.endpoint.url)
        return self.cli("board", "verify", "held", folder.name, *where, *more)

    def noisy(self, request: Any) -> Any:
        """The usual score in two thirds of the cases, and else 2: by how often the same was asked, so that test runs are alike."""
        before = next(self.asked.setdefault(request.key, itertools.count()))  # one step each, whatever threads there are
        chance = int(hashlib.sha256(f"{request.key}{before}".encode()).hexdigest(), 16) % 3
        usual = int(request.key, 16) % 2
        return self.endpoint.saying({"justification": "Because.", "score": usual if chance else 2}, model=request.body["model"])


@pytest.fixture
def submitter(cli: Callable[..., Any], own_board: Any, endpoint: Any, out: Path) -> Submitter:
    return Submitter(cli, own_board, endpoint, out)


def edited(folder: Path, share: float) -> None:
    """Change the scores of a share of the replies, with all hashes as they should be then."""
    path = folder / "replies.jsonl.gz"
    rows = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    for row in random.Random(0).sample(rows, round(share * len(rows))):
        said = json.loads(row["reply"]["text"])
        row["reply"]["text"] = json.dumps(said | {"score": 2})
    text = b"".join(json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in rows)
    path.write_bytes(gzip.compress(text, mtime=0))
    card = folder / "judge.toml"
    digest = hashlib.sha256(text).hexdigest()
    card.write_text(re.sub(r'replies_sha256 = "\w+"', f'replies_sha256 = "{digest}"', card.read_text("utf-8")), encoding="utf-8")


def test_an_honest_judge_is_verified_and_its_card_says_by_what(submitter: Submitter) -> None:
    folder = submitter.submit()
    asked = len(submitter.endpoint.requests)
    done = submitter.verify(folder, "--seed", "7")
    assert done.code == 0, done.err
    assert len(submitter.endpoint.requests) == asked + 40, "twenty calls, twice"
    assert "40 calls to ask" in done.err, "said before it is spent"
    assert "20 calls asked again, twice each (seed 7; nl 10, sv 10)" in done.out and "verified: judge.toml was marked" in done.out
    verified = read_card(folder / "judge.toml").verified
    assert verified is not None and (verified.calls, verified.agreement, verified.retest, verified.seed) == (20, 1.0, 1.0, 7)
    checked = submitter.cli("board", "check", "held", "--content", submitter.board.content)
    assert checked.code == 0, checked.out


def test_edited_replies_pass_the_check_and_are_not_verified(submitter: Submitter) -> None:
    folder = submitter.submit()
    edited(folder, 0.5)
    assert submitter.cli("board", "check", "held", "--content", submitter.board.content).code == 0, "an edit with its hashes cannot be seen"
    before = submitter.board.tree()
    done = submitter.verify(folder, "--share", "0.5")
    assert done.code == 1
    assert "not verified: no file was changed" in done.out
    assert re.search(r"^  (nl|sv) (nl|sv)-\d+ \w+: submitted 2, fresh (\d) and \3 ", done.out, re.MULTILINE)
    assert submitter.board.tree() == before


def test_a_noisy_judge_is_verified_by_its_own_noise(submitter: Submitter) -> None:
    submitter.endpoint.script = submitter.noisy
    folder = submitter.submit()
    done = submitter.verify(folder, "--share", "1", "--json")
    found = json.loads(done.out)
    assert done.code == 0 and found["holds"]
    assert found["agreement"] < 0.9 and found["retest"] < 0.9
    assert read_card(folder / "judge.toml").status == "verified"


def test_a_noisy_judge_hides_no_submission_of_other_scores(submitter: Submitter) -> None:
    folder = submitter.submit()
    edited(folder, 1.0)
    submitter.endpoint.script = submitter.noisy
    assert submitter.verify(folder, "--share", "1").code == 1
    assert read_card(folder / "judge.toml").status == "submitted"


def test_another_model_under_the_same_name_does_not_verify(submitter: Submitter) -> None:
    folder = submitter.submit()
    good = submitter.endpoint.script

    def renamed(request: Any) -> Any:
        answer = good(request)
        answer.body["model"] = "tester-2026-06-01"
        return answer

    submitter.endpoint.script = renamed
    done = submitter.verify(folder)
    assert done.code == 1 and "another model answers: tester-2026-06-01" in done.out
    assert read_card(folder / "judge.toml").status == "submitted"


def test_calls_that_stay_without_an_answer_decide_nothing(submitter: Submitter, tmp_path: Path, refused: Callable[..., None]) -> None:
    folder = submitter.submit()
    before = submitter.board.tree()
    good = submitter.endpoint.script
    number = itertools.count()
    submitter.endpoint.script = lambda request: (
        submitter.endpoint.error(500, "later")  # a few of them: from an endpoint that is down, it would wait for it
        if next(number) in (12, 15)
        else good(request)
    )
    again = ("--seed", "1", "--out", tmp_path / "again", "--attempts", "1")
    refused(submitter.verify(folder, *again), 6, "have no answer", "nothing was decided", "the same command can be continued")
    assert submitter.board.tree() == before
    submitter.endpoint.script = good
    asked = len(submitter.endpoint.requests)
    assert submitter.verify(folder, *again).code == 0
    assert len(submitter.endpoint.requests) - asked < 40, "what was answered is not asked again"


def test_an_endpoint_that_is_not_the_judges_is_named(submitter: Submitter, refused: Callable[..., None]) -> None:
    folder = submitter.submit()
    done = submitter.cli(
        "board", "verify", "held", folder.name, "--content", submitter.board.content, "--base-url", "http://localhost:1/v1"
    )
    refused(done, 2, "was asked with the settings", "--base-url")


def test_headers_that_the_judge_was_asked_with_are_given_again(submitter: Submitter, refused: Callable[..., None]) -> None:
    header = ("--header", "X-Gateway=gateway-secret-0815")
    folder = submitter.submit(*header, "--body", "reasoning_effort=low")
    asked = len(submitter.endpoint.requests)
    refused(submitter.verify(folder), 2, "headers=X-Gateway", "--header NAME=VALUE")
    assert len(submitter.endpoint.requests) == asked
    assert submitter.verify(folder, "--seed", "7", *header).code == 0
    again = {(request.headers["x-gateway"], request.body["reasoning_effort"]) for request in submitter.endpoint.requests}
    assert again == {("gateway-secret-0815", "low")}
