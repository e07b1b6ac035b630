"""Leaderboards by the command: a run becomes a submission, every reply of it is read again, and what should not be there is refused."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.boards.board import whole_board
from harness.boards.examined_submission import examine_all
from harness.content.library import bundled_root
from harness.data.judgments import Judgments
from harness.runs import reopen

OK, FOUND, USAGE, CONTENT, STORE = 0, 1, 2, 3, 5
Cli = Callable[..., Any]
Refused = Callable[..., None]
Edit = Callable[[list[dict[str, Any]]], Any]

BOARD = """
id = "mini"
version = "1.0.0"
title = "Mini (constructed labels)"
description = "Three texts in two languages."
data = "bundled"
variants = ["single"]
temperature = 0
repeats = 1
majority = "drop"
annotators = ""
statistics = ["pa_failed_wrong", "cohen_kappa"]
rank_by = "pa_failed_wrong"
[tasks]
open_prompt = "1.0.0"
[rubrics]
linguistic_acceptability = "1.0.1"
task_quality = "1.0.1"
[languages]
cs = "2.1.0"
en = "2.1.0"
[items]
cs = ["cs-op-1-partly-on-task", "cs-op-2-fluent", "cs-op-3-small-errors"]
en = ["en-op-1-partly-on-task", "en-op-2-fluent", "en-op-3-small-errors"]
"""
RUN = ("run", "--board", "mini", "--judge")


@pytest.fixture
def content(tmp_path: Path) -> Path:
    """A content folder with a board of few calls."""
    board = tmp_path / "content" / "leaderboards" / "mini"
    board.mkdir(parents=True)
    (board / "board.toml").write_text(BOARD.lstrip(), encoding="utf-8")
    (board / "CARD.md").write_text("Few calls.\n", encoding="utf-8")
    return tmp_path / "content"


@pytest.fixture
def place(content: Path) -> Path:
    """Where its submissions are."""
    return content / "leaderboards" / "mini" / "submissions"


@pytest.fixture
def make(cli: Cli, content: Path, out: Path) -> Callable[..., str]:
    """Make a run on the board and return its name: `make("baseline/majority", "--seed", "1")`."""

    def run(judge: str, *more: str | Path) -> str:
        before = set(cli("runs", "--out", out).out.split())
        done = cli(*RUN, judge, "--content", content, "--out", out, *more)
        assert done.code == OK, done.err
        [name] = set(cli("runs", "--out", out).out.split()) - before
        return str(name)

    return run


@pytest.fixture
def submit(cli: Cli, out: Path) -> Callable[..., Any]:
    return lambda run, *more: cli("submit", run, "--board", "mini", "--out", out, *more)


@pytest.fixture
def check(cli: Cli, content: Path) -> Callable[..., Any]:
    return lambda *more: cli("board", "check", "mini", "--content", content, *more)


@pytest.fixture
def fresh_submission(make: Callable[..., str], submit: Callable[..., Any], place: Path, endpoint: Any) -> Path:
    """The submission of a model that answered everything, beside its run."""
    run = make("openai/m-2024-01-01", "--base-url", endpoint.url)
    assert submit(run, "--name", "theirs", "--contact", "them@example.org").code == OK
    return place / "theirs"


@pytest.fixture(scope="module")
def submitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a copy of that submission is kept once it was made."""
    return tmp_path_factory.mktemp("submitted") / "theirs"


@pytest.fixture
def submission(request: pytest.FixtureRequest, submitted: Path, place: Path) -> Path:
    """The same submission, without its run."""
    if not submitted.exists():
        shutil.copytree(request.getfixturevalue("fresh_submission"), submitted)
        return place / "theirs"
    return Path(shutil.copytree(submitted, place / "theirs"))


def everything(folder: Path) -> dict[str, bytes | None]:
    """All below a folder: what is in files, and which folders there are."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress((folder / "replies.jsonl.gz").read_bytes()).splitlines()]


def put_rows(folder: Path, rows: list[dict[str, Any]], *, sign: bool = True) -> None:
    """Write other rows into a submission; `sign` makes the card's hash theirs."""
    put_text(folder, "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows).encode(), sign=sign)


def put_text(folder: Path, text: bytes, *, sign: bool = True) -> None:
    (folder / "replies.jsonl.gz").write_bytes(gzip.compress(text))
    if sign:
        edit_card(folder, "replies_sha256", hashlib.sha256(text).hexdigest())


def edit_card(folder: Path, key: str, value: Any) -> None:
    lines = (folder / "judge.toml").read_text("utf-8").splitlines()
    edited = [f"{key} = {json.dumps(value, ensure_ascii=False)}" if line.startswith(f"{key} = ") else line for line in lines]
    assert edited != lines
    (folder / "judge.toml").write_text("\n".join(edited) + "\n", encoding="utf-8")


# ---- what is right


def test_a_run_of_a_board_becomes_a_submission_that_is_found_to_be_in_order(
    make: Callable[..., str], submit: Callable[..., Any], check: Callable[..., Any], place: Path
) -> None:
    said = submit(make("baseline/majority"), "--title", "Always the commonest", "--contact", "us@example.org", "--families", "a,b")
    assert said.code == OK, said.err
    assert {path.name for path in (place / "baseline-majority").iterdir()} == {"judge.toml", "replies.jsonl.gz"}
    card = (place / "baseline-majority" / "judge.toml").read_text("utf-8")
    for lines in ('title = "Always the commonest"', 'families = [\n    "a",\n    "b",\n]', 'board = "mini@1.0.0"', 'status = "submitted"'):
        assert f"\n{lines}\n" in card
    for step in (
        "git switch -c submit-baseline-majority",
        "harness board check mini",
        "git commit",
        "pull request",
        "Nothing has been sent",
    ):
        assert step in said.out
    done = check()
    assert (done.code, done.out) == (OK, "")
    assert f"mini/baseline-majority: baseline/majority, {len(rows_of(place / 'baseline-majority'))} calls" in done.err


def test_a_model_is_submitted_with_every_reply_as_it_came_and_without_its_key(
    cli: Cli, content: Path, out: Path, endpoint: Any, monkeypatch: pytest.MonkeyPatch, replies: Callable[[Path], Any], place: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    cli(*RUN, "openai/m-2024-01-01", "--base-url", endpoint.url, "--content", content, "--out", out)
    assert cli("submit", "mini", "--board", "mini", "--out", out).code == OK
    folder = place / "openai-m-2024-01-01"
    rows = rows_of(folder)
    assert [row["call_id"] for row in rows] == sorted(row["call_id"] for row in rows)
    by_text = sorted(json.dumps(row["reply"], sort_keys=True) for row in rows)
    assert by_text == sorted(json.dumps(reply, sort_keys=True) for reply in replies(out))
    assert all(reply["usage"]["prompt_tokens"] == 100 for reply in (row["reply"] for row in rows))
    for path in folder.iterdir():
        whole = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        assert b"sk-very-secret" not in whole and str(endpoint.url).encode() not in whole


def test_the_same_run_gives_the_same_bytes_wherever_it_is_submitted(
    make: Callable[..., str], submit: Callable[..., Any], tmp_path: Path
) -> None:
    run = make("baseline/random")
    found = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        assert submit(run, "--into", tmp_path / name).code == OK
        found.append(everything(tmp_path / name))
    assert found[0] == found[1]
    assert "leaderboards/mini/submissions/baseline-random/replies.jsonl.gz" in found[0]


def test_a_run_with_several_judges_gives_each_a_folder_or_the_one_that_is_named(
    make: Callable[..., str], submit: Callable[..., Any], place: Path, refused: Refused
) -> None:
    run = make("baseline/majority", "--judge", "baseline/length")
    refused(submit(run, "--name", "both"), USAGE, "has 2 judges", "choose it with --judge")
    refused(submit(run, "--judge", "baseline/lenght"), USAGE, "no judge 'baseline/lenght' in the run", "Did you mean 'baseline/length'?")
    assert not place.exists()
    assert submit(run, "--judge", "baseline/length", "--name", "short").code == OK
    assert [path.name for path in place.iterdir()] == ["short"]
    assert submit(run).code == OK
    assert sorted(path.name for path in place.iterdir()) == ["baseline-length", "baseline-majority", "short"]


def test_the_numbers_of_a_submission_are_those_of_its_run(fresh_submission: Path, content: Path, out: Path) -> None:
    run = reopen("mini", out)
    [examined] = examine_all(whole_board("mini", [content]), [fresh_submission])
    assert (entry := examined.entry)
    for name in (*Judgments.COLUMNS, "justification", "asked_language"):
        assert list(getattr(entry.judgments, name)) == list(getattr(run.judgments, name)), name
    for by_language in run.answers.spent.values():  # a submission is read without the texts, so nothing is counted by their characters
        for spent in by_language.values():
            spent.tokens_per_character = None
    assert entry.answers == run.answers
    assert entry.card.identity == run.protocol.judges.identities[0]


def test_what_was_submitted_can_be_replayed(
    cli: Cli, fresh_submission: Path, content: Path, out: Path, run_folder: Callable[[Path], Path], tmp_path: Path
) -> None:
    again = tmp_path / "again"
    done = cli(*RUN, f"replay/{fresh_submission / 'replies.jsonl.gz'}", "--content", content, "--out", again)
    assert done.code == OK, done.err
    first, second = (json.loads((run_folder(folder) / "report.json").read_text("utf-8"))["cells"] for folder in (out, again))
    assert [cell["pa"] for cell in first] == [cell["pa"] for cell in second]


def test_check_says_the_same_to_programs(check: Callable[..., Any], submission: Path) -> None:
    edit_card(submission, "name", "openai/other")
    done = check("--json")
    said = json.loads(done.out)
    assert done.code == FOUND
    assert said["submissions"][0]["submission"] == "theirs" and said["submissions"][0]["problems"] == len(said["problems"]) > 0
    assert said["problems"][0]["path"].endswith("judge.toml") and said["problems"][0]["line"] == 1


def test_a_board_without_submissions_is_in_order(check: Callable[..., Any], content: Path) -> None:
    done = check()
    assert (done.code, done.err) == (OK, f"no submissions in {content / 'leaderboards'}\n")


def test_columns_that_no_table_can_have_are_found(check: Callable[..., Any], content: Path) -> None:
    board = content / "leaderboards" / "mini" / "board.toml"
    board.write_text(
        board.read_text().replace('"cohen_kappa"', '"cohens_kappa"').replace('rank_by = "pa_failed_wrong"', 'rank_by = "best"')
    )
    done = check()
    assert done.code == FOUND and len(done.out.splitlines()) == 2
    assert "board.toml:11: no statistic 'cohens_kappa'. Did you mean 'cohen_kappa'?" in done.out
    assert "board.toml:12: no statistic 'best'" in done.out


def test_a_run_is_scored_by_the_rule_of_its_board(cli: Cli, content: Path, out: Path, refused: Refused) -> None:
    board = content / "leaderboards" / "mini" / "board.toml"
    strict = board.read_text().replace('majority = "drop"', 'majority = "strict"')
    board.write_text(strict)
    said = json.loads(cli(*RUN, "baseline/majority", "--content", content, "--out", out, "--json").out)
    assert "|majority:strict|" in said["signatures"]["baseline/majority"]
    board.write_text(strict.replace('annotators = ""', 'annotators = "2+"'))
    refused(cli(*RUN, "baseline/majority", "--content", content, "--out", out), USAGE, "no item has 2 or more annotators")


# ---- runs that do not follow the protocol


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--limit", "1"), ["the first 1 items of each language and task only (--limit)"]),
        (("--langs", "cs"), ["without the language en"]),
        (("--metrics", "task_quality"), ["without the metric linguistic_acceptability"]),
        (("--variant", "joint"), ["lacks the condition single, temperature 0", "has the condition joint, temperature 0, not on the board"]),
        (("--temperature", "0,0.7"), ["has the condition single, temperature 0.7, not on the board"]),
        (("--perturb", "truncate"), ["has the condition single, temperature 0, truncate:0.5"]),
        (("--repeats", "2"), ["asked 2 times, and the board asks once"]),
        (("--seed", "3"), ["its seed was 3, and the board's is 0"]),
        (("--reask", "refused"), ["repeated refused calls"]),
        (("--langs", "en", "--limit", "1", "--seed", "1"), ["without the language cs", "(--limit)", "its seed was 1"]),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, tuple) else "",
)
def test_every_difference_from_the_protocol_is_said_at_once(
    make: Callable[..., str], submit: Callable[..., Any], flags: tuple[str, ...], words: list[str], refused: Refused, content: Path
) -> None:
    before = everything(content)
    done = submit(make("baseline/majority", *flags))
    refused(done, USAGE, "does not follow the protocol of mini@1.0.0", *words)
    assert done.err.count("\n         - ") == len(words)
    assert "harness run --board mini --judge baseline/majority" in done.err
    assert everything(content) == before


def test_a_run_of_another_board_is_refused(cli: Cli, out: Path, submit: Callable[..., Any], refused: Refused, content: Path) -> None:
    before = everything(content)
    cli("run", "--langs", "cs", "--limit", "1", "--judge", "baseline/majority", "--content", content, "--out", out)
    refused(submit("controls"), USAGE, "it is a run of controls@", "harness run --board mini")
    assert everything(content) == before


def test_a_run_of_data_is_refused(
    cli: Cli, out: Path, data_folder: Callable[..., Path], content: Path, submit: Callable[..., Any], refused: Refused
) -> None:
    cli("run", "--data", data_folder("Text."), "--judge", "baseline/random", "--content", content, "--out", out)
    done = submit("own")
    assert done.code == USAGE and "Traceback" not in done.err


def test_a_run_that_is_not_finished_is_refused_and_can_be_submitted_when_it_is(
    cli: Cli, content: Path, out: Path, endpoint: Any, submit: Callable[..., Any], refused: Refused, place: Path
) -> None:
    command = (*RUN, "openai/m", "--base-url", endpoint.url, "--content", content, "--out", out)
    assert cli(*command, "--max-calls", "3", "--concurrency", "1").code == 6
    done = submit("mini")
    refused(done, USAGE, "calls of openai/m have no answer", "harness run --board mini --judge openai/m", "not asked again")
    assert not place.exists()
    assert cli(*command).code == OK
    assert submit("mini").code == OK


def test_boards_runs_and_results_that_are_not_there_are_named(cli: Cli, out: Path, make: Callable[..., str], refused: Refused) -> None:
    refused(cli("submit", "x", "--board", "mini", "--out", out), STORE, "no results in")
    run = make("baseline/random")
    refused(cli("submit", "other", "--board", "mini", "--out", out), USAGE, "no run 'other'")
    refused(cli("submit", run, "--board", "min", "--out", out), USAGE, "no board 'min'.", "Did you mean 'mini'?")
    refused(cli("board", "check", "contrls"), USAGE, "no board 'contrls'")


def test_who_replays_is_told_to_submit_the_original(
    make: Callable[..., str], submit: Callable[..., Any], submission: Path, refused: Refused
) -> None:
    run = make(f"replay/{submission / 'replies.jsonl.gz'}")
    refused(submit(run), USAGE, "repeats the replies of another judge")


# ---- where it may be written


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["..", ".", "", "../up", "a/b", "/tmp/x", "a\\b", "con", "nul.txt", "a..b", ".hidden", "Upper", "žluť", "-x" * 41, "a b", "x\n"]
)
def test_a_folder_of_a_name_that_leads_elsewhere_is_refused(
    make: Callable[..., str], submit: Callable[..., Any], name: str, refused: Refused, tmp_path: Path
) -> None:
    run = make("baseline/majority")
    before = everything(tmp_path)
    refused(submit(run, f"--name={name}"), USAGE, "is not a valid folder name", "lower-case letters")
    assert everything(tmp_path) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flag", "text", "words"),
    [
        ("--title", "<script>alert(1)</script>", "which is markup"),
        ("--title", "[x](javascript:alert(1))", "which is markup"),
        ("--title", "a|b", "which is markup"),
        ("--title", "::add-mask::x", "a command to a workflow"),
        ("--contact", "::error::x", "a command to a workflow"),
        ("--title", "good\x1b[31m", "the invisible character U+001B"),
        ("--title", "a\u202eb", "the invisible character U+202E"),
        ("--title", "x" * 121, "121 characters; the limit is 120"),
        ("--contact", "me\u200b@example.org", "the invisible character U+200B"),
        ("--families", "ok,<b>", "which is markup"),
        ("--exposure-note", "n" * 501, "the limit is 500"),
    ],
    ids=["script", "link", "cell", "mask", "error", "escape", "bidi", "long", "zero width", "family", "note"],
)
def test_markup_and_hidden_characters_are_refused_in_what_tables_show(
    make: Callable[..., str], submit: Callable[..., Any], flag: str, text: str, words: str, refused: Refused, content: Path
) -> None:
    run = make("baseline/majority")
    before = everything(content)
    refused(submit(run, flag, text), USAGE, "baseline/majority cannot be submitted: ", words)
    assert everything(content) == before


@pytest.mark.slow
def test_an_installed_program_has_to_be_told_where_to_write(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    (tmp_path / "_content").mkdir()
    for kind in ("tasks", "languages", "rubrics", "leaderboards"):
        (tmp_path / "_content" / kind).symlink_to(bundled_root() / kind)
    for module in ("harness.content.library", "harness.boards.submit"):
        monkeypatch.setattr(f"{module}.bundled_root", lambda: tmp_path / "_content")
    assert cli("run", "--judge", "baseline/majority", "--out", tmp_path / "out").code == OK
    command = ("submit", "controls", "--board", "controls", "--out", tmp_path / "out")
    refused(cli(*command), USAGE, "submissions cannot be written into an installed program; name a checkout with --into DIR")
    (tmp_path / "checkout").mkdir()
    assert cli(*command, "--into", tmp_path / "checkout").code == OK
    assert (tmp_path / "checkout" / "leaderboards" / "controls" / "submissions" / "baseline-majority").is_dir()


def test_nobody_is_overwritten(make: Callable[..., str], submit: Callable[..., Any], submission: Path, refused: Refused) -> None:
    run, before = make("baseline/majority"), everything(submission.parent)
    refused(submit(run, "--name", "theirs"), USAGE, "is the submission of openai/m-2024-01-01; choose another --name")
    refused(submit(run, "--name", "theirs", "--replace"), USAGE, "is the submission of openai/m-2024-01-01")
    assert everything(submission.parent) == before


def test_the_steps_for_another_checkout_work_as_they_stand(
    make: Callable[..., str], submit: Callable[..., Any], content: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fork = tmp_path / "my fork"
    shutil.copytree(content, fork)
    subprocess.run(["git", "init", "-q", str(fork)], check=True)
    run = make("baseline/majority")
    (tmp_path / "beside").mkdir()
    monkeypatch.chdir(tmp_path / "beside")
    said = submit(run, "--into", "../my fork").out
    steps = [line.partition("[ ] ")[2] for line in said.splitlines() if "[ ] cd " in line or "[ ] git add " in line]
    assert len(steps) == 2 and steps[0] == "cd '../my fork'", said
    subprocess.run(["bash", "-ec", "\n".join(steps)], check=True)
    staged = subprocess.run(["git", "diff", "--cached", "--name-only"], cwd=fork, check=True, capture_output=True, text=True).stdout
    assert "leaderboards/mini/submissions/baseline-majority/judge.toml" in staged


def test_ones_own_submission_is_replaced_when_that_is_asked_for(
    make: Callable[..., str], submit: Callable[..., Any], check: Callable[..., Any], place: Path, refused: Refused
) -> None:
    run = make("baseline/majority")
    submit(run)
    before = everything(place)
    refused(submit(run, "--contact", "new"), USAGE, "holds an earlier submission of baseline/majority; pass --replace")
    assert everything(place) == before
    assert submit(run, "--contact", "new", "--replace").code == OK
    assert 'contact = "new"' in (place / "baseline-majority" / "judge.toml").read_text("utf-8")
    assert [path.name for path in place.iterdir()] == ["baseline-majority"] and check().code == OK


@pytest.mark.parametrize("there", ["a file", "a folder of something else", "a link"])
def test_what_is_no_submission_is_not_replaced(
    make: Callable[..., str], submit: Callable[..., Any], place: Path, tmp_path: Path, there: str, refused: Refused
) -> None:
    run = make("baseline/majority")
    place.mkdir()
    if there == "a file":
        (place / "x").write_text("mine")
    elif there == "a link":
        (place / "x").symlink_to(tmp_path)
    else:
        (place / "x").mkdir()
        (place / "x" / "notes").write_text("mine")
    before = everything(place)
    refused(submit(run, "--name", "x", "--replace"), USAGE, "exists already, and it is not known to belong to baseline/majority")
    assert everything(place) == before


def test_nothing_is_written_through_a_link(
    make: Callable[..., str], submit: Callable[..., Any], place: Path, tmp_path: Path, refused: Refused
) -> None:
    run = make("baseline/majority")
    (tmp_path / "elsewhere").mkdir()
    place.symlink_to(tmp_path / "elsewhere")
    refused(submit(run), USAGE, "is a symbolic link, not a folder")
    assert everything(tmp_path / "elsewhere") == {}


def test_a_folder_that_cannot_be_written_stays_as_it_is(
    make: Callable[..., str], submit: Callable[..., Any], tmp_path: Path, refused: Refused
) -> None:
    run = make("baseline/majority")
    (tmp_path / "into").mkdir()
    (tmp_path / "into" / "leaderboards").write_text("no folder")
    done = submit(run, "--into", tmp_path / "into")
    assert done.code in (USAGE, STORE) and "Traceback" not in done.err
    assert (tmp_path / "into" / "leaderboards").read_text() == "no folder"
    refused(submit(run, "--into", tmp_path / "nowhere"), USAGE, "is not a folder; name a checkout")


def test_another_version_of_the_board_is_not_written_to(
    make: Callable[..., str], submit: Callable[..., Any], content: Path, tmp_path: Path, refused: Refused
) -> None:
    run = make("baseline/majority")
    shutil.copytree(content, tmp_path / "old")
    board = tmp_path / "old" / "leaderboards" / "mini" / "board.toml"
    board.write_text(board.read_text().replace('version = "1.0.0"', 'version = "0.9.0"', 1))
    refused(submit(run, "--into", tmp_path / "old"), USAGE, "has version 0.9.0 of the board, and the run follows 1.0.0")


# ---- what a submission may hold


def _replied(rows: list[dict[str, Any]]) -> None:
    rows[3]["reply"]["text"] = '{"justification":"Because.","score":2}'


def _twice(rows: list[dict[str, Any]]) -> None:
    rows.insert(5, dict(rows[4]))


def _foreign(rows: list[dict[str, Any]]) -> None:
    rows[-1]["call_id"] = "f" * 64


def _without_english(rows: list[dict[str, Any]]) -> None:
    rows[:] = [row for row in rows if not row["item_id"].startswith("en-")]


def _without_one(rows: list[dict[str, Any]]) -> None:
    del rows[2]


def _other_item(rows: list[dict[str, Any]]) -> None:
    rows[1]["item_id"], rows[1]["prompt_id"] = "cs-op-4-off-task", "0" * 64


def _other_judge(rows: list[dict[str, Any]]) -> None:
    rows[0]["judge"] = "openai/m-2025"


def _other_circumstances(rows: list[dict[str, Any]]) -> None:
    rows[0] |= {"metrics": "hallucination", "condition": "single T=1", "temperature": 1.0, "repeat": 4}


def _unordered(rows: list[dict[str, Any]]) -> None:
    rows.reverse()


def _extra_key(rows: list[dict[str, Any]]) -> None:
    rows[0]["score"] = 2


def _wrong_type(rows: list[dict[str, Any]]) -> None:
    rows[0]["reply"]["text"] = 5


def _negative(rows: list[dict[str, Any]]) -> None:
    rows[0]["reply"]["usage"]["prompt_tokens"] = -5


def _too_likely(rows: list[dict[str, Any]]) -> None:
    rows[0]["reply"]["tokens"] = [["2", {"2": 1e300}]]


def _endless(rows: list[dict[str, Any]]) -> None:
    rows[0]["reply"]["text"] = "x" * 10_000_000


EDITS: dict[str, tuple[Edit, str, str]] = {
    "duplicate": (_twice, ".gz:6: ", "the same call as line 5; each call has one reply"),
    "foreign": (_foreign, ": ", "is not a call of mini@1.0.0 for this judge"),
    "missing language": (_without_english, ".gz: ", "en: the language is missing"),
    "missing call": (_without_one, ".gz: ", "1 of 5 calls are missing"),
    "other item": (_other_item, ".gz:2: ", "differs from what its call id stands for in prompt_id, item_id"),
    "other judge": (_other_judge, ".gz:1: ", "differs from what its call id stands for in judge"),
    "other circumstances": (_other_circumstances, ".gz:1: ", "call id stands for in metrics, condition, temperature, repeat"),
    "not sorted": (_unordered, ".gz:2: ", "in the order of their call ids; from this line on they are not"),
    "extra key": (_extra_key, ".gz:1: ", "not a row of 'harness store export' (Object contains unknown field score"),
    "wrong type": (_wrong_type, ".gz:1: ", "not a row of 'harness store export' (Expected str, got int"),
    "negative tokens": (_negative, ".gz:1: ", "impossible numbers: token counts range from 0"),
    "endless reply": (_endless, ".gz:1: ", "a reply of 10,000,000 characters; the limit is 1,000,000"),
    "impossible odds": (_too_likely, ".gz:1: ", "logarithms of probabilities are 0 or less"),
}


@pytest.mark.parametrize("name", EDITS)
def test_replies_that_are_not_the_boards_are_found_with_their_line(submission: Path, check: Callable[..., Any], name: str) -> None:
    edit, where, what = EDITS[name]
    rows = rows_of(submission)
    edit(rows)
    put_rows(submission, rows)
    before = everything(submission)
    done = check()
    assert done.code == FOUND and "Traceback" not in done.err
    assert any(where in line and what in line for line in done.out.splitlines()), done.out
    assert everything(submission) == before


def test_an_edited_reply_is_found_by_its_hash(submission: Path, check: Callable[..., Any]) -> None:
    rows = rows_of(submission)
    _replied(rows)
    put_rows(submission, rows, sign=False)
    done = check()
    assert done.code == FOUND
    [line] = done.out.splitlines()
    assert "replies.jsonl.gz: the hash of its lines is" in line and "one of the two was changed" in line


def test_an_edited_reply_of_a_baseline_is_found_though_it_was_signed(
    make: Callable[..., str], submit: Callable[..., Any], check: Callable[..., Any], place: Path
) -> None:
    submit(make("baseline/constant-best"), "--name", "best")
    rows = rows_of(place / "best")
    rows[3]["reply"]["text"] = '{"score":0}'
    put_rows(place / "best", rows)
    done = check()
    assert done.code == FOUND
    assert "replies.jsonl.gz:4: baseline/constant-best gives another reply when it is asked again" in done.out


def test_a_baseline_that_says_it_has_learnt_from_something_else_is_found(
    make: Callable[..., str], submit: Callable[..., Any], check: Callable[..., Any], place: Path
) -> None:
    submit(make("baseline/majority"), "--name", "most")
    edit_card(place / "most", "learnt_from", "0" * 16)
    done = check()
    assert done.code == FOUND and "on this board baseline/majority has the settings {'learnt_from'" in done.out


def test_of_many_bad_lines_some_are_shown_and_the_others_counted(submission: Path, check: Callable[..., Any]) -> None:
    put_text(submission, b"{}\n" * 1000)
    done = check()
    assert done.code == FOUND
    assert sum("replies.jsonl.gz:" in line and "not a row" in line for line in done.out.splitlines()) == 20
    assert "and 980 more such lines of this file" in done.out


def test_a_submission_of_another_version_of_the_board_starts_afresh(submission: Path, check: Callable[..., Any]) -> None:
    edit_card(submission, "board", "mini@0.9.0")
    done = check()
    assert done.code == FOUND and "this submission is for mini@0.9.0, and the board is now mini@1.0.0" in done.out


def test_one_judge_stands_on_a_board_once(submission: Path, check: Callable[..., Any]) -> None:
    shutil.copytree(submission, submission.with_name("zz"))
    done = check()
    assert done.code == FOUND
    [line] = done.out.splitlines()
    assert "zz/judge.toml" in line and "the same judge with the same settings is in submissions/theirs" in line


CARDS: dict[str, tuple[str, Any, str]] = {
    "name": ("name", "openai/better", "should be provider and model: 'openai/m-2024-01-01'"),
    "model with markup": ("model", "<b>m</b>", "which is markup"),
    "title with a bidi override": ("title", "a\u202eb", "U+202E"),
    "status": ("status", "verified", "exactly if the card has a table [verified]"),
    "unknown status": ("status", "winner", "Invalid enum value 'winner' (key 'status')"),
    "hash": ("replies_sha256", "abc", "key 'replies_sha256'"),
    "board": ("board", "mini", "key 'board'"),
    "provider": ("provider", "../x", "key 'provider'"),
}


@pytest.mark.parametrize("name", CARDS)
def test_a_card_that_says_what_it_may_not_is_found_with_its_line(submission: Path, check: Callable[..., Any], name: str) -> None:
    key, value, what = CARDS[name]
    edit_card(submission, key, value)
    done = check()
    assert done.code == FOUND
    assert any("judge.toml:" in line and what in line for line in done.out.splitlines()), done.out


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"name = ", "judge.toml: not valid TOML"),
        (b'name = "a"\n', "judge.toml: Object missing required field"),
        (b"\xff\xfe", "judge.toml:1: not UTF-8"),
        (b"[" * 5000, "judge.toml"),
        (b'score = 1\nname = "x"\n', "unknown field `score`"),
        (b"", "judge.toml: Object missing required field `name`"),
    ],
    ids=["toml", "fields", "bytes", "depth", "unknown", "empty"],
)
def test_a_card_that_is_none_is_found(submission: Path, check: Callable[..., Any], text: bytes, what: str) -> None:
    (submission / "judge.toml").write_bytes(text)
    done = check()
    assert done.code == FOUND and "Traceback" not in done.err
    assert what in done.out


def test_files_that_do_not_belong_there_are_found_and_not_read(submission: Path, check: Callable[..., Any]) -> None:
    (submission / "score.json").write_text("1")
    (submission / "more").mkdir()
    (submission / ".hidden\x1b[31m").write_text("")
    done = check()
    assert done.code == FOUND and done.out.count("an unexpected file") == 3
    assert "\x1b" not in done.out


def test_names_of_any_bytes_are_shown_in_one_line(submission: Path, check: Callable[..., Any]) -> None:
    names = [b"a\nmini b: nothing is wrong", b"\xff\xfe", "\u202e".encode(), b"\x1b[2J", b"`"]
    for name in names:
        os.mkdir(os.fsencode(submission.parent) + b"/" + name)
        (submission / os.fsdecode(name)).write_text("")
    done = check()
    assert done.code == FOUND and not set("\x1b\u202e") & set(done.out + done.err)
    assert done.out.count("is not a valid folder name") == done.out.count("an unexpected file") == len(names)
    assert not any(line.startswith("mini b") for line in done.out.splitlines() + done.err.splitlines())
    assert len(json.loads(check("--json").out)["submissions"]) == len(names) + 1


@pytest.mark.parametrize("file", ["judge.toml", "replies.jsonl.gz"])
def test_links_pipes_and_folders_in_the_place_of_a_file_are_found(
    submission: Path, check: Callable[..., Any], file: str, tmp_path: Path
) -> None:
    (submission / file).rename(tmp_path / file)
    for kind, put in {
        "a symbolic link": lambda path: path.symlink_to(tmp_path / file),
        "a special file": os.mkfifo,
        "a folder": Path.mkdir,
    }.items():
        put(submission / file)
        done = check()
        assert done.code == FOUND and f"{file}: {kind} where a plain file should be" in done.out
        Path.rmdir(submission / file) if kind == "a folder" else (submission / file).unlink()
    assert f"no {file}; a submission holds" in check().out


def test_a_link_in_the_place_of_a_submission_or_of_them_all_is_found(submission: Path, check: Callable[..., Any], tmp_path: Path) -> None:
    (submission.parent / "linked").symlink_to(submission)
    (submission.parent / "README.md").write_text("x")
    done = check()
    assert "linked: a symbolic link where a submission's folder should be" in done.out
    assert "README.md: a file where a submission's folder should be" in done.out
    assert "theirs: openai/m-2024-01-01" in done.err
    submission.parent.rename(tmp_path / "moved")
    submission.parent.symlink_to(tmp_path / "moved")
    done = check()
    assert done.code == FOUND and "a symbolic link where the folder of submissions should be" in done.out


def test_a_file_of_a_gigabyte_is_not_opened(submission: Path, check: Callable[..., Any]) -> None:
    for file, most in (("replies.jsonl.gz", "67,108,864"), ("judge.toml", "65,536")):
        os.truncate(submission / file, 1 << 30)
        done = check()
        assert done.code == FOUND
        assert f"{file}: 1,073,741,824 bytes; the limit is {most}" in done.out


@pytest.mark.slow
def test_a_gzip_bomb_is_read_to_the_limit_only(submission: Path, check: Callable[..., Any]) -> None:
    line = b'{"call_id":"' + b"0" * (1 << 20) + b'"}\n'
    with gzip.open(submission / "replies.jsonl.gz", "wb", compresslevel=9) as file:
        for _ in range(300):
            file.write(line)
    done = check()
    assert done.code == FOUND and "replies.jsonl.gz:256: more than 256 MB when uncompressed; the rest was not read" in done.out
    with gzip.open(submission / "replies.jsonl.gz", "wb", compresslevel=9) as file:
        for _ in range(300):
            file.write(b"0" * (1 << 20))
    assert "replies.jsonl.gz:1: a line of more than 16 MB" in check().out


@pytest.mark.parametrize(("spoil", "what"), [(lambda b: b[:-200], "breaks off"), (lambda b: b"no gzip at all", "not a whole gzip file")])
def test_a_gzip_file_that_is_none_is_found(submission: Path, check: Callable[..., Any], spoil: Callable[[bytes], bytes], what: str) -> None:
    path = submission / "replies.jsonl.gz"
    path.write_bytes(spoil(path.read_bytes()))
    done = check()
    assert done.code == FOUND and what in done.out


# ---- what a change may touch


@pytest.fixture
def git(content: Path) -> Callable[..., str]:
    """git in a repository around the content folder, whose branch main has one submission in it."""

    def run(*arguments: str) -> str:
        names = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
        return subprocess.run(["git", *names, *arguments], cwd=content, check=True, capture_output=True, text=True).stdout

    return run


@pytest.fixture
def repository(git: Callable[..., str], submission: Path) -> Path:
    """`submission` is on the branch main; what is checked out is a branch of it."""
    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-qm", "A board with a submission")
    git("switch", "-qc", "mine")
    return submission.parent


@pytest.fixture
def commit(git: Callable[..., str]) -> Callable[[], None]:
    def everything_here() -> None:
        git("add", "-A")
        git("commit", "-qm", "Change")

    return everything_here


def test_a_change_that_brings_a_submission_is_in_order(
    repository: Path,
    make: Callable[..., str],
    submit: Callable[..., Any],
    check: Callable[..., Any],
    commit: Callable[[], None],
    git: Callable[..., str],
) -> None:
    (repository / "theirs" / "judge.toml").write_text("what others have wrong is not looked at")
    commit()
    git("branch", "-f", "main", "HEAD")
    submit(make("baseline/majority"))
    commit()
    done = check("--changed", "main")
    assert (done.code, done.out) == (OK, "")
    assert "mini/baseline-majority: baseline/majority" in done.err and "theirs" not in done.err and "2 files changed" in done.err


def test_a_model_that_a_change_brings_is_probed(
    repository: Path, content: Path, cli: Cli, out: Path, endpoint: Any, check: Callable[..., Any], commit: Callable[[], None]
) -> None:
    cli(*RUN, "openai/n-2024-01-01", "--base-url", endpoint.url, "--content", content, "--out", out)
    assert cli("submit", "mini-cs+en-n", "--board", "mini", "--out", out).code == OK
    commit()
    done = check("--changed", "main")
    assert (done.code, done.out) == (OK, "")
    assert "openai/n-2024-01-01: Shown to be better than “always the best score” in none of" in done.err
    assert {found["probe"] for found in json.loads(check("--changed", "main", "--json").out)["findings"]} >= {"baselines", "twins"}
    assert "Shown to be better" not in check().err, "those that are there already are for 'board show'"
    (repository / "theirs" / "judge.toml").write_text("spoilt")
    done = check("--changed", "main")
    assert done.code == OK and "mini: not probed, because probes need all submissions" in done.err


def test_a_change_that_moves_somebody_elses_submission_is_found(
    repository: Path, make: Callable[..., str], submit: Callable[..., Any], check: Callable[..., Any], commit: Callable[[], None]
) -> None:
    submit(make("baseline/majority"))
    edit_card(repository / "theirs", "contact", "me@example.org")
    commit()
    done = check("--changed", "main")
    assert done.code == FOUND
    [line] = done.out.splitlines()
    assert line.endswith("theirs/judge.toml: changed, but submissions/theirs existed before: a change may only add its own submission")
    shutil.rmtree(repository / "theirs")
    commit()
    assert check("--changed", "main").out.count("removed, but submissions/theirs existed before") == 2


def test_a_change_that_verifies_itself_is_found(
    repository: Path, make: Callable[..., str], submit: Callable[..., Any], check: Callable[..., Any], commit: Callable[[], None]
) -> None:
    submit(make("baseline/majority"))
    card = repository / "baseline-majority" / "judge.toml"
    edit_card(card.parent, "status", "verified")
    card.write_text(card.read_text() + '\n[verified]\ndate = "2026-01-01"\ncalls = 20\nagreement = 1.0\nretest = 1.0\nseed = 0\n')
    commit()
    assert check().code == OK
    done = check("--changed", "main")
    assert done.code == FOUND and "judge.toml:12: only a maintainer sets" in done.out


def test_a_change_of_anything_else_is_found(repository: Path, content: Path, check: Callable[..., Any], commit: Callable[[], None]) -> None:
    board = content / "leaderboards" / "mini"
    (board / "board.toml").write_text((board / "board.toml").read_text() + "\n")
    (board / "TABLE.md").write_text("| 1 | me |\n")
    (content / "README.md").write_text("Hello.")
    (repository / "stray.txt").write_text("x")
    commit()
    done = check("--changed", "main")
    assert done.code == FOUND
    said = done.out.splitlines()
    for file in ("board.toml: changed", "README.md: added"):
        assert any(file in line and "a change with a submission may hold nothing else" in line for line in said)
    assert any("stray.txt: a file where a submission's folder should be" in line for line in said)
    assert any("TABLE.md: " in line for line in said)


def test_what_is_not_committed_is_said_not_to_be_looked_at(
    repository: Path, make: Callable[..., str], submit: Callable[..., Any], check: Callable[..., Any]
) -> None:
    submit(make("baseline/majority"))
    done = check("--changed", "main")
    assert done.code == OK and "2 files of boards are not committed and were not checked" in done.err


@pytest.mark.parametrize("base", ["--output=x", "nothing", "main..mine", "main;ls", "$(ls)", "", "HEAD:README"])
def test_a_base_that_is_no_commit_is_refused(repository: Path, check: Callable[..., Any], base: str, refused: Refused) -> None:
    refused(check(f"--changed={base}"), USAGE, "commit")


def test_without_a_repository_nothing_can_be_said_of_changes(submission: Path, check: Callable[..., Any], refused: Refused) -> None:
    refused(check("--changed", "main"), USAGE, "--changed needs a git repository around")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tags", "heads"])
def test_a_tag_or_branch_called_like_the_base_does_not_silence_the_check(
    repository: Path,
    content: Path,
    check: Callable[..., Any],
    commit: Callable[[], None],
    git: Callable[..., str],
    refused: Refused,
    kind: str,
) -> None:
    git("update-ref", "refs/remotes/origin/main", "main")
    (content / "README.md").write_text("Hello.")
    commit()
    done = check("--changed", "origin/main")
    base = git("rev-parse", "main").strip()
    assert done.code == FOUND and f"compared with origin/main (refs/remotes/origin/main), commit {base}" in done.err
    assert json.loads(check("--changed", "origin/main", "--json").out)["change"]["base"]["commit"] == base
    git("update-ref", f"refs/{kind}/origin/main", "HEAD")
    refused(check("--changed", "origin/main"), USAGE, "'origin/main' may mean several commits", "--changed refs/remotes/origin/main")
    assert check("--changed", "refs/remotes/origin/main").code == FOUND


def test_nothing_is_read_of_a_change_that_brings_links_outside_of_submissions(
    repository: Path, content: Path, check: Callable[..., Any], commit: Callable[[], None]
) -> None:
    board = content / "leaderboards" / "mini" / "board.toml"
    board.unlink()
    board.symlink_to("/dev/zero")  # which has no end
    commit()
    done = check("--changed", "main")
    assert done.code == FOUND and "board.toml: made another kind of file as a symbolic link" in done.out
    assert "nothing was read: the change adds links or submodules" in done.err


def test_a_submodule_that_git_is_told_to_ignore_is_found(
    repository: Path, content: Path, check: Callable[..., Any], commit: Callable[[], None], git: Callable[..., str]
) -> None:
    (content / ".gitmodules").write_text('[submodule "x"]\n\tpath = x\n\turl = nowhere\n\tignore = all\n')
    commit()
    git("branch", "-f", "main", "HEAD")
    git("update-index", "--add", "--cacheinfo", f"160000,{git('rev-parse', 'HEAD').strip()},x")
    git("commit", "-qm", "Change")
    done = check("--changed", "main")
    assert done.code == FOUND and "x: added as a submodule" in done.out


def test_a_base_with_two_latest_common_commits_is_refused(
    repository: Path, check: Callable[..., Any], git: Callable[..., str], refused: Refused
) -> None:
    git("commit", "-q", "--allow-empty", "-m", "mine")
    git("switch", "-q", "main")
    git("commit", "-q", "--allow-empty", "-m", "theirs")
    git("branch", "before")
    git("merge", "-q", "--no-edit", "mine")
    git("switch", "-q", "mine")
    git("merge", "-q", "--no-edit", "before")
    refused(check("--changed", "main"), USAGE, "have 2 latest common commits", "git rebase main")


@pytest.mark.slow
@pytest.mark.parametrize("lines", [b"\n" * (10 << 20), b"{}\n" * (1 << 20)], ids=["newlines", "objects"])
def test_a_small_file_of_very_many_lines_is_read_to_the_limit_only(submission: Path, check: Callable[..., Any], lines: bytes) -> None:
    put_text(submission, lines)
    assert (submission / "replies.jsonl.gz").stat().st_size < 16 << 10
    done = check()
    calls = 10
    assert (
        done.code == FOUND and f".gz:{calls + 1001}: the board has {calls} calls, and each has one line; the rest was not read" in done.out
    )


@pytest.mark.parametrize(
    ("find", "put", "words"),
    [
        (b'"reply":{', b'"reply":{"note":1,', "unknown field note - at $.reply"),
        (b'"reply":{', b'"reply":{"text":"before",', "the key 'text' stands twice in one object"),
        (b'"usage":{', b'"usage":{"total":5,', "unknown field total - at $.reply.usage"),
        (b'"usage":{', b'"usage":{"prompt_tokens":5,', "the key 'prompt_tokens' stands twice in one object"),
        (b'{"call_id"', b'{"repeat":0,"call_id"', "the key 'repeat' stands twice in one object"),
        (b'"tokens":[]', b'"tokens":[["2",{"2":0},1]]', "of at most length 2"),
        (b'"tokens":[]', b'"tokens":[["2",{"2":0,"2":-1}]]', "the key '2' stands twice in one object"),
    ],
)
def test_keys_that_a_reply_does_not_have_or_has_twice_are_found(
    submission: Path, check: Callable[..., Any], find: bytes, put: bytes, words: str
) -> None:
    text = gzip.decompress((submission / "replies.jsonl.gz").read_bytes())
    put_text(submission, text.replace(find, put, 1))
    done = check()
    assert done.code == FOUND and "replies.jsonl.gz:1: not a row of 'harness store export'" in done.out
    assert words in done.out


def test_a_title_that_imitates_another_judge_is_found(
    submission: Path, check: Callable[..., Any], make: Callable[..., str], submit: Any
) -> None:
    assert submit(make("baseline/majority"), "--title", "М-2024-01-01").code == OK  # a Cyrillic letter
    done = check()
    assert done.code == FOUND
    [line] = done.out.splitlines()
    assert "baseline-majority/judge.toml:2: the title 'М-2024-01-01' looks like the judge openai/m-2024-01-01" in line


@pytest.mark.parametrize(
    ("title", "words"), [("  ", "no letter and no digit"), ("\u3164", "the invisible character U+3164"), ("People", "another row")]
)
def test_a_title_without_a_name_is_refused(
    make: Callable[..., str], submit: Callable[..., Any], refused: Refused, title: str, words: str
) -> None:
    refused(submit(make("baseline/majority"), "--title", title), USAGE, "baseline/majority cannot be submitted: ", words)
