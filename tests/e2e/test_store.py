"""`harness store` and what a results folder survives: full disks, torn logs, dead holders and clocks that jump."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import HANG_SECONDS

pytestmark = pytest.mark.slow  # kills, torn files and full disks

Cli = Callable[..., Any]
Refused = Callable[..., None]
Rows = Callable[..., list[dict[str, Any]]]
RunFolder = Callable[[Path], Path]
USAGE, STORE = 2, 5
REPLIES = "SELECT call_id, reply FROM calls JOIN attempts USING (call_id) WHERE reply IS NOT NULL AND judge LIKE 'openai/%'"
REPORTS = ("report.json", "report.csv", "report.parquet", "judgments.parquet")
BASELINE = ("run", "--langs", "cs", "--judge", "baseline/random")


def reports(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in REPORTS}


@pytest.fixture
def run(endpoint: Any) -> tuple[str, ...]:
    """A run of some sixty calls, four at a time."""
    endpoint.latency = 0.01
    return ("run", "--langs", "cs", "--concurrency", "4", "--judge", "openai/m", "--base-url", endpoint.url)


def changed(prelude: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The command as a process that runs `prelude` first."""
    program = f"{prelude}\nimport sys\nfrom harness.cli import main\nsys.exit(main(sys.argv[1:]))"
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=HANG_SECONDS
    )


# ---- full disks


def limited(kilobytes: int) -> str:
    return f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({kilobytes * 1024},) * 2)"


def test_a_disk_that_is_full_in_the_middle_of_a_run_stops_it_and_the_same_command_goes_on(
    cli: Cli, endpoint: Any, run: Any, out: Path, refused: Refused, rows: Rows
) -> None:
    cli(*BASELINE, "--out", out)  # the prompts are worded now, so that the room is left to replies
    stopped = changed(limited(350), *run, "--out", out)
    refused(stopped, STORE, str(out), "Make room, then run the same command again: all replies so far are kept")
    asked = len(endpoint.requests)
    kept = rows(out, REPLIES)
    assert 10 < asked - 4 <= len(kept) < asked  # but for what was being written
    again = cli(*run, "--out", out, "--json")
    assert again.code == 0 and set(json.loads(again.out)["missing"].values()) == {0}
    after = rows(out, REPLIES)
    assert all(row in after for row in kept)
    assert len(endpoint.requests) - asked == len(after) - len(kept)
    assert cli("store", "check", "--out", out).code == 0


def test_a_merge_that_does_not_fit_adds_nothing_and_the_same_command_does_it(
    cli: Cli, tmp_path: Path, refused: Refused, rows: Rows
) -> None:
    for folder in ("one", "two"):
        assert cli("run", "--langs", "cs" if folder == "one" else "ja", "--judge", "baseline/random", "--out", tmp_path / folder).code == 0
    merge = ("store", "merge", tmp_path / "one", tmp_path / "two", "--out", tmp_path / "merged")
    refused(changed(limited(200), *merge), STORE, str(tmp_path / "merged"), "ake room")
    assert rows(tmp_path / "merged", "SELECT name FROM runs") == rows(tmp_path / "merged", "SELECT call_id FROM attempts") == []
    assert cli(*merge).code == 0
    assert len(rows(tmp_path / "merged", "SELECT name FROM runs")) == 2
    assert cli("store", "check", "--out", tmp_path / "merged").code == 0


# ---- torn logs and dead holders


@pytest.mark.parametrize("tear", ["cut", "garbage"])
def test_a_killed_run_whose_log_is_torn_goes_on_from_the_tear(
    cli: Cli, endpoint: Any, run: Any, start: Callable[..., Any], tmp_path: Path, rows: Rows, run_folder: RunFolder, tear: str
) -> None:
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    assert cli(*run, "--out", whole).code == 0
    process = start(*run, "--out", torn)
    endpoint.wait_for(2 * len(endpoint.requests) // 3 + len(endpoint.requests))
    process.kill()
    process.wait()
    log = torn / "store.sqlite-wal"
    content = log.read_bytes()
    torn_off = len(content) // 8  # replies: the log begins with the calls
    log.write_bytes(content[:-torn_off] + (b"\xa5" * torn_off if tear == "garbage" else b""))
    checked = cli("store", "check", "--out", torn, "--json")
    assert checked.code == 0
    kept = json.loads(checked.out)["counts"]["replies"]
    asked = len(endpoint.requests)
    again = cli(*run, "--out", torn)
    assert again.code == 0 and f"{kept} answered already" in again.err
    assert 0 < kept < asked and len(endpoint.requests) - asked == len(rows(whole, "SELECT 1 FROM attempts")) - kept
    assert reports(run_folder(torn)) == reports(run_folder(whole))


def test_a_folder_is_held_by_one_process_and_by_none_when_that_is_killed(
    cli: Cli, endpoint: Any, run: Any, start: Callable[..., Any], tmp_path: Path, out: Path, refused: Refused
) -> None:
    assert cli(*BASELINE, "--out", tmp_path / "other").code == 0
    endpoint.latency = 0.5
    process = start(*run, "--out", out)
    endpoint.wait_for(1)
    for second in ((*BASELINE, "--out", out), ("store", "gc", "--out", out), ("store", "merge", tmp_path / "other", "--out", out)):
        refused(
            cli(*second), STORE, "is in use by another run", f"process {process.pid}", "harness run --langs cs --concurrency 4", "--out"
        )
    assert cli("store", "check", "--out", out).code == 0  # looking is allowed
    process.kill()
    process.wait()
    assert cli("store", "gc", "--out", out).code == 0
    endpoint.latency = 0.0
    assert cli(*run, "--out", out).code == 0


# ---- clocks that jump

DAY = 86_400
SHIFTED = "import time; real = time.time; time.time = lambda: real() + ({})"
JUMPING = f"""
import itertools, time

real, jumps = time.time, itertools.cycle([0, -3 * {DAY}, 5 * {DAY}, -9 * {DAY}])
time.time = lambda: real() + next(jumps)
"""


def test_a_clock_that_jumps_during_a_run_changes_no_number(cli: Cli, run: Any, tmp_path: Path, run_folder: RunFolder, rows: Rows) -> None:
    steady, jumping = tmp_path / "steady", tmp_path / "jumping"
    assert cli(*run, "--out", steady).code == 0
    done = changed(JUMPING, *run, "--out", jumping)
    assert done.returncode == 0, done.stderr
    assert reports(run_folder(jumping)) == reports(run_folder(steady))
    received = [row["received"] for row in rows(jumping, "SELECT received FROM attempts")]
    assert max(received) - min(received) > 10 * DAY  # it did jump
    assert all(0 < row["seconds"] < 60 for row in rows(jumping, "SELECT json_extract(reply, '$.seconds') AS seconds FROM attempts"))
    [session] = json.loads((run_folder(jumping) / "run.json").read_bytes())["sessions"]
    assert 0 < session["judges"][0]["seconds"] < 60


@pytest.mark.slow
def test_a_clock_that_jumps_between_runs_does_not_change_their_order(cli: Cli, out: Path) -> None:
    for judge, days in (("random", 0), ("length", -30), ("majority", 400), ("constant-best", -2000)):
        done = changed(SHIFTED.format(days * DAY), "run", "--langs", "cs", "--limit", "1", "--judge", f"baseline/{judge}", "--out", out)
        assert done.returncode == 0, done.stderr
    listed = cli("runs", "--out", out).out.split()
    assert [name.split("-cs-")[1].rpartition("-")[0] for name in listed] == ["random", "length", "majority", "constant-best"]
    assert "constant-best" in cli("report", "--out", out).out  # the latest


# ---- check, export, gc, merge


def test_a_check_counts_what_is_there_and_says_what_is_wrong(cli: Cli, out: Path, rows: Rows, command: Cli) -> None:
    cli(*BASELINE, "--limit", "2", "--out", out)
    calls = len(rows(out, "SELECT 1 FROM calls"))
    whole = cli("store", "check", "--out", out)
    assert (whole.code, whole.out) == (0, f"runs 1, calls {calls}, attempts {calls}, replies {calls}, lost 0\nnothing is wrong\n")
    damage = "import pathlib, sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute(sys.argv[2]); db.commit()"
    subprocess.run([sys.executable, "-c", damage, out / "store.sqlite", "UPDATE attempts SET attempt = 2 WHERE rowid = 1"], check=True)
    damaged = cli("store", "check", "--out", out)
    first, *_, last = damaged.out.splitlines()
    assert damaged.code == 1 and last == "something is wrong"
    assert first.startswith("call ") and "should be numbered from 1 without a gap" in first
    as_json = cli("store", "check", "--out", out, "--json")
    assert as_json.code == 1 and json.loads(as_json.out)["problems"] == [first]


def test_cleaning_leaves_every_report_as_it_was(cli: Cli, ask: Cli, endpoint: Any, out: Path, run_folder: RunFolder, rows: Rows) -> None:
    endpoint.script = endpoint.first(endpoint.resetting(), endpoint.resetting())
    assert ask().code == 0
    before = reports(run_folder(out))
    lost = len(rows(out, "SELECT 1 FROM attempts WHERE reply IS NULL"))
    assert lost > 0
    planned = json.loads(cli("store", "gc", "--dry-run", "--json", "--out", out).out)
    assert (planned["attempts"], planned["bytes_after"]) == (lost, planned["bytes_before"])
    assert cli("store", "gc", "--dry-run", "--out", out).out.startswith("would remove 0 prompt templates of other versions, ")
    cleaned = cli("store", "gc", "--out", out)
    assert cleaned.code == 0 and f" {lost} lost attempts of calls that have an answer now" in cleaned.out
    assert "the file shrank by " in cleaned.out
    assert rows(out, "SELECT 1 FROM attempts WHERE reply IS NULL") == []
    assert cli("report", "--out", out).code == 0 and reports(run_folder(out)) == before
    asked = len(endpoint.requests)
    assert ask().code == 0 and len(endpoint.requests) == asked


def test_machines_that_shared_the_asking_have_one_result(cli: Cli, endpoint: Any, tmp_path: Path, run_folder: RunFolder) -> None:
    def run(out: str, *restricted: str) -> Any:
        judge = ("--judge", "openai/m", "--base-url", endpoint.url, "--limit", "3", "--out", tmp_path / out)
        return cli("run", "--langs", "cs,ja", *restricted, *judge)

    assert run("alone").code == 0
    alone = len(endpoint.requests)
    assert run("one", "--tasks", "open_prompt").code == run("two", "--langs", "ja").code == 0
    merged = cli("store", "merge", tmp_path / "one", tmp_path / "two", "--out", tmp_path / "merged")
    assert merged.code == 0 and merged.out.startswith(f"{tmp_path / 'merged'} has gained 2 runs, ")
    asked = {request.key for request in endpoint.requests[alone:]}
    for out in ("one", "two"):
        [name] = (path.name for path in (tmp_path / out / "runs").iterdir())
        shown = cli("report", name, "--out", tmp_path / "merged").out
        said_alone = cli("report", name, "--out", tmp_path / out).out
        assert shown.startswith(said_alone)
        assert "asked again" in shown.removeprefix(said_alone)  # both machines paid for what they share
        assert reports(tmp_path / "merged" / "runs" / name) == reports(tmp_path / out / "runs" / name)
    before = len(endpoint.requests)
    assert run("merged").code == 0
    further = {request.key for request in endpoint.requests[before:]}
    assert further and not further & asked  # only what neither had
    assert further | asked == {request.key for request in endpoint.requests[:alone]}
    [name] = (path.name for path in (tmp_path / "alone" / "runs").iterdir())
    assert reports(tmp_path / "merged" / "runs" / name) == reports(run_folder(tmp_path / "alone"))
    again = cli("store", "merge", tmp_path / "one", tmp_path / "two", "--out", tmp_path / "merged", "--json")
    assert set(json.loads(again.out).values()) == {0}


def test_a_merge_into_a_source_is_refused(cli: Cli, out: Path, refused: Refused) -> None:
    cli(*BASELINE, "--limit", "1", "--out", out)
    before = (out / "store.sqlite").read_bytes()
    refused(cli("store", "merge", out, "--out", out), USAGE, "is a source and cannot be the target too; name another folder with --out")
    refused(cli("store", "merge", out / "none", "--out", out), STORE, f"no results in {out / 'none'}")
    assert (out / "store.sqlite").read_bytes() == before


def test_an_export_that_breaks_off_leaves_the_earlier_one(cli: Cli, out: Path, tmp_path: Path, refused: Refused) -> None:
    cli(*BASELINE, "--out", out)
    export = ("store", "export", "--out", out, "--to", tmp_path / "replies.jsonl")
    assert cli(*export).code == 0
    before = (tmp_path / "replies.jsonl").read_bytes()
    whole = (out / "store.sqlite").read_bytes()
    half = len(whole) // 2 // 4096 * 4096
    (out / "store.sqlite").write_bytes(whole[:half] + b"Z" * (len(whole) - half))
    refused(cli(*export), STORE, "the file is damaged")
    assert (tmp_path / "replies.jsonl").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["replies.jsonl", "results"]


def test_an_export_of_a_judge_that_was_not_asked_is_refused(cli: Cli, out: Path, tmp_path: Path, refused: Refused) -> None:
    cli(*BASELINE, "--limit", "1", "--out", out)
    export = ("store", "export", "--out", out, "--to", tmp_path / "replies.jsonl", "--judge")
    refused(cli(*export, "openai/nobody"), USAGE, "no replies of 'openai/nobody' in ")
    assert not (tmp_path / "replies.jsonl").exists()
    assert cli(*export, "baseline/random").code == 0


# ---- flipped bits


def _change(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "store.sqlite")) as db, db:
        db.execute(statement)


def test_a_reply_that_was_changed_in_the_file_is_found_by_the_check(cli: Cli, out: Path) -> None:
    assert cli(*BASELINE, "--out", out).code == 0
    assert cli("store", "check", "--out", out).out.endswith("nothing is wrong\n")
    _change(out, 'UPDATE attempts SET reply = replace(reply, \'"model":"\', \'"model":"x\') WHERE rowid = 1')
    done = cli("store", "check", "--out", out)
    assert done.code == 1 and "a different reply than the one that was received: its checksum differs" in done.out
    _change(out, "UPDATE attempts SET checksum = NULL WHERE rowid < 4")
    assert cli("store", "check", "--out", out).out.count("its checksum differs") == 3


@pytest.mark.parametrize("damage", ["x'7b'", "CAST(replace(CAST(frame AS TEXT), 'a', 'b') AS BLOB)"], ids=["cut", "other letters"])
def test_a_damaged_prompt_template_ends_a_command_with_a_sentence(cli: Cli, out: Path, refused: Refused, damage: str) -> None:
    cli(*BASELINE, "--out", out)
    _change(out, f"UPDATE frames SET frame = {damage}")
    refused(cli("report", "--out", out), STORE, "the prompt template", "is damaged", "restore the store from a copy")
    refused(cli(*BASELINE, "--out", out), STORE, "the prompt template", "is damaged")
    assert cli("store", "check", "--out", out).code == 1
