"""A judge most of whose answers cannot be read: no submission of it is written, and on a board it has no rank in any table."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_boards import BOARD

JUDGE, OTHER = "openai/broken", "openai/working"
Cli = Callable[..., Any]


@pytest.fixture
def content(tmp_path: Path) -> Path:
    board = tmp_path / "content" / "leaderboards" / "mini"
    board.mkdir(parents=True)
    (board / "board.toml").write_text(BOARD.lstrip(), "utf-8")
    (board / "CARD.md").write_text("Few calls.\n", "utf-8")
    return tmp_path / "content"


@pytest.fixture
def asked(cli: Cli, endpoint: Any, content: Path, tmp_path: Path) -> Callable[..., Any]:
    """Run the board; `unread` says which requests of the judge `broken` get a score off the scale."""

    def ask(unread: Callable[[int], bool]) -> Any:
        numbers: dict[str, int] = {}

        def script(request: Any) -> Any:
            number = numbers.setdefault(request.key, len(numbers))
            is_broken = request.body["model"] == "broken" and unread(number)
            return endpoint.saying({"justification": "Read.", "score": 77 if is_broken else 1}, model=request.body["model"])

        endpoint.script = script
        judges = ("--judge", JUDGE, "--judge", OTHER, "--judge", "baseline/majority")
        return cli("run", "--board", "mini", *judges, "--base-url", endpoint.url, "--content", content, "--out", tmp_path / "out")

    return ask


def spoil(folder: Path, share: float, language: str = "") -> None:
    """Rewrite a submission, its card too, so that the first answers (of a language) are no numbers of the scale."""
    path = folder / "replies.jsonl.gz"
    rows = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    chosen = [row for row in rows if row["item_id"].startswith(language)]
    for row in chosen[: round(share * len(chosen))]:
        row["reply"]["text"] = row["reply"]["text"].replace('"score": 1', '"score": 77')
    text = "".join(json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(text, mtime=0))
    card, digest = folder / "judge.toml", hashlib.sha256(text).hexdigest()
    card.write_text(re.sub(r'replies_sha256 = "\w+"', f'replies_sha256 = "{digest}"', card.read_text("utf-8")), "utf-8")


def test_no_submission_is_written(cli: Cli, asked: Callable[..., Any], content: Path, tmp_path: Path) -> None:
    assert asked(lambda number: True).code == 4
    place = ("mini", "--board", "mini", "--out", tmp_path / "out")
    done = cli("submit", *place)
    first = done.err.splitlines()[0]
    assert done.code == 4 and "None of 10 answers could be read (off the scale), such as '77'" in first and JUDGE in first, done.err
    assert not (content / "leaderboards" / "mini" / "submissions").exists()
    assert cli("submit", *place, "--judge", OTHER, "--judge", "baseline/majority").code == 0


@pytest.fixture
def submissions(cli: Cli, asked: Callable[..., Any], content: Path, tmp_path: Path) -> Path:
    assert asked(lambda number: False).code == 0
    assert cli("submit", "mini", "--board", "mini", "--out", tmp_path / "out").code == 0
    return content / "leaderboards" / "mini" / "submissions"


def test_a_board_says_it_beside_the_row_and_does_not_rank_it(cli: Cli, submissions: Path, content: Path) -> None:
    spoil(submissions / "openai-broken", 0.6)
    words = "6 of 10 answers could not be read (off the scale), such as '77'"
    check = cli("board", "check", "mini", "--content", content)
    assert check.code == 4 and words in check.err.splitlines()[0] and JUDGE in check.err.splitlines()[0], check.err
    show = cli("board", "show", "mini", "--all", "--content", content)
    assert show.code == 4 and words in show.out.splitlines()[0] and "most answers cannot be read" in show.out, show.out
    said = json.loads(cli("board", "show", "mini", "--json", "--content", content).out)
    for table in said["tables"]:
        rank = {row["judge"]: (row["rank"], row["unread"]) for row in table["rows"]}
        assert rank[JUDGE] == (None, True) and rank[OTHER] == (1, False), table
        assert table["rows"][-1]["judge"] == JUDGE and table["rows"][-1]["beats_baseline"] is None
    [judge] = [judge for judge in said["judges"] if judge["id"] == JUDGE]
    assert judge["answers"] == {"asked": 10, "unread": {"off_scale": 6}, "example": "77"}
    [overall] = [row for row in said["overall"] if row["judge"] == JUDGE]
    assert overall["mean"] is None and set(overall["by_language"].values()) == {None}
    build = cli("board", "build", "mini", "--site", content / "site", "--content", content)
    table = (submissions.parent / "TABLE.md").read_text("utf-8")
    assert build.code == 4 and words in build.err.splitlines()[0], build.err
    assert f"{JUDGE} has no rank: 6 of 10 answers could not be read (off the scale)." in table and "such as" not in table
    pages = [page.read_text("utf-8") for page in (content / "site").rglob("*.html")]
    assert any("most answers cannot be read" in page for page in pages) and any(f"{JUDGE} has no rank" in page for page in pages)


def test_half_is_ranked_and_one_language_alone_is_a_blank(cli: Cli, submissions: Path, content: Path) -> None:
    spoil(submissions / "openai-broken", 0.5)
    assert cli("board", "check", "mini", "--content", content).code == 0
    assert cli("board", "show", "mini", "--content", content).code == 0
    spoil(submissions / "openai-working", 1.0, "cs-")
    said = json.loads(cli("board", "show", "mini", "--json", "--content", content).out)
    ranks = {(table["language"], row["judge"]): row["rank"] for table in said["tables"] for row in table["rows"] if table["metric"] == "*"}
    assert ranks["cs", OTHER] is None and ranks["en", OTHER] is not None
    [overall] = [row for row in said["overall"] if row["judge"] == OTHER]
    assert overall["mean"] is None and overall["by_language"]["cs"] is None and overall["by_language"]["en"] is not None
