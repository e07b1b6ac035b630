"""What goes wrong ends with one sentence that says what to do, the documented exit code, no traceback, and nothing lost."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import HANG_SECONDS
from tests.judged_folder import judged_folder

Cli = Callable[..., Any]
Refused = Callable[..., None]
USAGE, CONTENT, JUDGE, STORE, INCOMPLETE, INTERRUPTED = 2, 3, 4, 5, 6, 130
BASELINE = ("run", "--langs", "cs", "--judge", "baseline/random")


def test_help_documents_the_exit_codes_that_are_held_here(cli: Cli) -> None:
    documented = {int(line.split()[0]) for line in cli("--help").out.splitlines() if line.strip()[:1].isdigit()}
    assert documented >= {0, 1, USAGE, CONTENT, JUDGE, STORE, INCOMPLETE, INTERRUPTED}


# ---- names


LANGUAGES = {
    "jp": ("'jp'", "country code", "Japanese is 'ja'"),
    "cz": ("'cz'", "country code", "Czech is 'cs'"),
    "kr": ("'kr'", "Kanuri", "Korean is 'ko'"),
    "xx": ("'xx'", "not a known language tag", "choose from: "),
    "klingon": ("'klingon' (Klingon)", "choose from: cs, de, en"),
    "ja,ja": ("'ja' is named twice",),
    "ja,jpn": ("'ja' is named twice",),
    "": ("an empty language tag", "cs, de, en"),
    "ja,": ("an empty language tag",),
    "ja cs": ("cannot be a language tag",),
}


@pytest.mark.parametrize("langs", LANGUAGES)
def test_a_language_that_is_none_is_explained(cli: Cli, langs: str, refused: Refused, out: Path) -> None:
    refused(cli("run", "--langs", langs, "--judge", "baseline/random", "--out", out), USAGE, *LANGUAGES[langs])
    assert not out.exists()


def test_a_pack_without_items_is_explained(cli: Cli, tmp_path: Path, refused: Refused, out: Path) -> None:
    assert cli("new", "language", "ko", "--into", tmp_path / "own").code == 0
    found = cli("run", "--langs", "ko", "--content", tmp_path / "own", "--judge", "baseline/random", "--out", out)
    refused(found, USAGE, "'ko' has no items yet", "CONTRIBUTING.md says how", "with items: cs, de, en")


def test_a_new_pack_is_run_by_itself(cli: Cli, tmp_path: Path, refused: Refused, out: Path) -> None:
    pack = tmp_path / "own" / "languages" / "ko"
    assert cli("new", "language", "ko", "--into", tmp_path / "own").code == 0
    item = {"item_id": "ko-1", "language": "ko", "task": "open_prompt", "group": "g", "prompt": "인사", "output": "안녕하세요"}
    label = {"item_id": "ko-1", "annotator_id": "construction", "metric": "task_quality", "score": 2, "source": "constructed"}
    for name, row in (("items", item), ("labels", label)):
        (pack / name).mkdir()
        (pack / name / "open_prompt.jsonl").write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
    asked = ("run", "--content", tmp_path / "own", "--judge", "baseline/constant-best", "--out", out)
    refused(cli(*asked, "--langs", "ko"), USAGE, "the board controls is frozen without the language 'ko'", f"--data {pack}")
    done = cli(*asked, "--data", pack, "--json")
    assert done.code == 0 and json.loads(done.out)["constructed_labels"] is True


NAMES: dict[str, tuple[tuple[str, ...], int, tuple[str, ...]]] = {
    "judge without a kind": (("--judge", "gpt-4o"), USAGE, ("'gpt-4o' has no kind", "openai/")),
    "judge kind": (
        ("--judge", "opena/m"),
        USAGE,
        (
            "no judge kind 'opena'",
            "Did you mean 'openai'?",
            "baseline, decider, decisions, local, openai, panel, python, replay, systemone",
        ),
    ),
    "baseline": (("--judge", "baseline/best"), USAGE, ("no baseline 'best'", "constant-best")),
    "local model": (("--judge", "local/smollm"), USAGE, ("no local model 'smollm'", "smollm2-135m", ".gguf")),
    "model file": (("--judge", "local/none.gguf"), JUDGE, ("no model file at none.gguf",)),
    "store export": (("--judge", "replay/none.jsonl"), USAGE, ("no store export at 'none.jsonl'",)),
    "judge twice": (("--judge", "baseline/length", "--judge", "baseline/length"), USAGE, ("name each judge once",)),
    "task": (("--tasks", "sumarize"), USAGE, ("no task 'sumarize'", "Did you mean 'summarize'?", "open_prompt")),
    "task twice": (("--tasks", "summarize,summarize"), USAGE, ("named twice",)),
    "metric": (("--metrics", "fluency"), USAGE, ("no metric 'fluency'", "task_quality")),
    "board": (("--board", "control"), USAGE, ("no board 'control'", "Did you mean 'controls'?")),
    "board and data": (("--board", "controls", "--data", "."), USAGE, ("exclude each other",)),
    "variant": (("--variant", "fancy"), USAGE, ("unknown variant 'fancy'", "score-only")),
    "variant twice": (("--variant", "joint+single"), USAGE, ("names its call twice",)),
    "data folder": (("--data", "nowhere"), USAGE, ("data folder nowhere does not exist", "items.jsonl")),
    "content folder": (("--content", "nowhere"), USAGE, ("content folder nowhere does not exist",)),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_is_none_is_explained(cli: Cli, name: str, refused: Refused, out: Path) -> None:
    arguments, code, words = NAMES[name]
    judge = () if "--judge" in arguments else ("--judge", "baseline/random")
    refused(cli("run", "--langs", "cs", *judge, *arguments, "--out", out), code, *words)
    assert not out.exists()


@pytest.mark.parametrize(
    "url",
    ["", "127.0.0.1:8000/v1", "ftp://host/v1", "http:///v1", "http://[::1/v1", "http://host:99999/v1"],
    ids=["empty", "no-scheme", "ftp", "no-host", "bracket", "port"],
)
def test_a_base_url_that_is_none_is_explained(ask: Cli, url: str, refused: Refused) -> None:
    refused(ask("--base-url", url), USAGE, "is not a web address", "https://host/v1")


def test_without_results_there_is_nothing_to_report(cli: Cli, out: Path, refused: Refused) -> None:
    for words in (("report",), ("runs",), ("store", "export", "--to", out / "x.jsonl")):
        refused(cli(*words, "--out", out), STORE, "no results in", "--out")
    assert not out.exists()


def test_verbose_shows_where_it_came_from(command: Cli) -> None:
    done = command("run", "--langs", "jp", "--judge", "baseline/random", "-v")
    assert done.returncode != 0
    assert "Traceback" in done.stderr and "Japanese is 'ja'" in done.stderr


# ---- endpoints


def test_no_key_says_which_variable_to_set(cli: Cli, out: Path, refused: Refused) -> None:
    refused(cli("run", "--langs", "cs", "--judge", "openai/gpt-4o", "--out", out), JUDGE, "no API key for api.openai.com", "OPENAI_API_KEY")


@pytest.mark.parametrize(
    ("status", "said", "words"),
    [
        (401, "Incorrect API key provided", ("401", "Incorrect API key provided", "set OPENAI_API_KEY")),
        (403, "Country not supported", ("403", "choose another model or key")),
        (404, "The model does not exist", ("404", "The model does not exist", "'tester-2024-01-01' the model's exact name")),
        (400, "Unsupported parameter: 'max_tokens'", ("400", "Unsupported parameter: 'max_tokens'")),
    ],
)
def test_what_every_call_would_hear_stops_the_run_on_the_first(
    ask: Cli, endpoint: Any, status: int, said: str, words: tuple[str, ...], refused: Refused
) -> None:
    endpoint.script = lambda request: endpoint.error(status, said)
    refused(ask("--concurrency", "1"), JUDGE, *words)
    assert len(endpoint.requests) == 1


@pytest.mark.slow
def test_an_unreachable_endpoint_is_given_up_soon(ask: Cli, closed_url: str, refused: Refused) -> None:
    words = ("no connection to 127.0.0.1", "(5 times)", "Is the endpoint up, and is the base URL right?")
    refused(ask("--base-url", closed_url, "--concurrency", "1"), JUDGE, *words)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("<!doctype html><p>Welcome", "text/html"),
        ("<html>", "application/json"),
        ('{"status": "ok"}', "application/json"),
        ("[]", "application/json"),
    ],
    ids=["html", "html-called-json", "other-json", "list"],
)
def test_an_endpoint_that_is_no_chat_endpoint_is_found_out_on_the_first_call(
    ask: Cli, endpoint: Any, body: str, kind: str, refused: Refused, replies: Callable[[Path], Any], out: Path
) -> None:
    endpoint.script = lambda request: type(endpoint.resetting())(body=body, kind=kind)
    refused(ask("--concurrency", "1"), JUDGE, "not like a chat endpoint", body, "ends in /v1")
    assert len(endpoint.requests) == 1 and replies(out) == []


def test_calls_that_get_no_answer_are_named_and_asked_for_by_the_same_command(
    ask: Cli, endpoint: Any, refused: Refused, replies: Callable[[Path], Any], out: Path
) -> None:
    def all_but_the_second(request: Any) -> Any:
        if len(endpoint.requests) > 1 and request.key == endpoint.requests[1].key:
            return endpoint.error(503, "Overloaded", retry_after="0")
        return endpoint.good(request)

    endpoint.script = all_but_the_second
    done = ask("--concurrency", "1")
    refused(done, INCOMPLETE, "calls without an answer: 1 of openai/tester-2024-01-01", "503: Overloaded", "Run the same command again")
    assert "Calls without an answer, not counted above: openai/tester-2024-01-01 1." in done.out
    kept, asked = len(replies(out)), len(endpoint.requests)
    endpoint.script = endpoint.good
    assert ask().code == 0
    assert len(endpoint.requests) == asked + 1 and len(replies(out)) == kept + 1


# ---- model files


def test_a_file_that_is_no_model_is_said_to_be_none(cli: Cli, tmp_path: Path, refused: Refused) -> None:
    file = tmp_path / "page.gguf"
    file.write_text("<html>Not found</html>", encoding="utf-8")
    refused(cli("run", "--langs", "cs", "--judge", f"local/{file}"), JUDGE, "is not a GGUF file", "Fetch it again")


@pytest.mark.slow
@pytest.mark.parametrize("rest", [b"", b"\x03\0\0\0" + b"\xff" * 4096], ids=["nothing-else", "junk"])
def test_a_model_that_breaks_off_is_said_to_be_broken(command: Cli, tmp_path: Path, rest: bytes, refused: Refused) -> None:
    file = tmp_path / "broken.gguf"
    file.write_bytes(b"GGUF" + rest)
    refused(
        command("run", "--langs", "cs", "--limit", "1", "--judge", f"local/{file}"), JUDGE, "cannot be loaded as a model", "Fetch it again"
    )


def test_a_packaged_model_with_another_hash_is_not_used(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused, out: Path
) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache" / "models").mkdir(parents=True)
    (tmp_path / "cache" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf").write_bytes(b"GGUF, but another")
    for arguments in (
        ("run", "--langs", "cs", "--out", out),
        ("models", "pull", "smollm2-135m"),
        ("models", "pull", "local/smollm2-135m"),  # as 'models list' writes it
    ):
        refused(cli(*arguments), JUDGE, "is not the published model", "delete it and run 'harness models pull smollm2-135m'")
    assert not out.exists()


# ---- files with something wrong in them


ITEM = '{"item_id": "a", "language": "cs", "task": "open_prompt", "prompt": "P", "output": "O"}\n'
LABEL = '{"item_id": "a", "annotator_id": "x", "metric": "task_quality", "score": 1}\n'
DATA: dict[str, tuple[str, str, str, str]] = {
    "not json": (ITEM + "{oops\n", LABEL, "items.jsonl:2", "not a JSON object"),
    "list": ("[1]\n", LABEL, "items.jsonl:1", "not a JSON object"),
    "no text": (ITEM.replace('"O"', '" "'), LABEL, "items.jsonl:1", "has no 'output'"),
    "no language": (ITEM.replace('"language": "cs", ', ""), LABEL, "items.jsonl:1", "language"),
    "tag": (ITEM.replace('"cs"', '"ces"'), LABEL, "items.jsonl:1", "write 'cs'"),
    "same id": (ITEM * 2, LABEL, "items.jsonl:2", "also in line 1"),
    "off scale": (ITEM, LABEL.replace("1}", "3}"), "labels.jsonl:1", "outside the scale of 'task_quality' (0, 1, 2)"),
    "long score": (ITEM, LABEL.replace("1}", f'"{"9" * 400}"}}'), "labels.jsonl:1", "9… (400 characters)' is outside the scale of"),
    "long annotator": (ITEM, LABEL.replace('"x"', f'"{"x" * 301}"'), "labels.jsonl:1", "a name of 301 characters; names have at most 300"),
    "long metric": (ITEM, LABEL.replace("task_quality", "m" * 5000), "labels.jsonl:1", "a metric with a name of 5,000 characters"),
    "long item": (ITEM, LABEL.replace('"a"', f'"{"a" * 5000}"'), "labels.jsonl:1", "a… (5,000 characters)', which is not among the items"),
    "no such item": (ITEM, LABEL.replace('"a"', '"b"'), "labels.jsonl:1", "'b', which is not among the items"),
    "no such metric": (ITEM, LABEL.replace("task_quality", "charm"), "labels.jsonl:1", "metric 'charm' has no scale"),
    "same label": (ITEM, LABEL * 2, "labels.jsonl:2", "has already scored"),
}


@pytest.mark.parametrize("name", DATA)
def test_a_bad_line_in_a_data_folder_is_named(cli: Cli, tmp_path: Path, name: str, refused: Refused, out: Path) -> None:
    items, labels, where, what = DATA[name]
    (tmp_path / "items.jsonl").write_text(items, encoding="utf-8")
    (tmp_path / "labels.jsonl").write_text(labels, encoding="utf-8")
    refused(cli("run", "--data", tmp_path, "--judge", "baseline/random", "--out", out), CONTENT, where, what)
    assert not out.exists()


def test_a_data_folder_without_items_is_explained(cli: Cli, tmp_path: Path, refused: Refused) -> None:
    refused(cli("run", "--data", tmp_path, "--judge", "baseline/random"), CONTENT, "no items.jsonl")


def test_a_data_folder_without_labels_has_nothing_to_compare_with(cli: Cli, tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "items.jsonl").write_text(ITEM, encoding="utf-8")
    refused(cli("run", "--data", tmp_path, "--judge", "baseline/random"), USAGE, "no labels")


def test_a_bad_line_in_a_content_folder_is_named(cli: Cli, tmp_path: Path, refused: Refused) -> None:
    board = tmp_path / "leaderboards" / "mine" / "board.toml"
    board.parent.mkdir(parents=True)
    board.write_text('id = "mine"\nversion = "one"\n', encoding="utf-8")
    refused(cli(*BASELINE, "--content", tmp_path, "--board", "mine"), CONTENT, "board.toml:2")
    board.write_text('id = "mine"\nversion "1.0.0"\n', encoding="utf-8")
    refused(cli(*BASELINE, "--content", tmp_path, "--board", "mine"), CONTENT, "board.toml:2", "not valid TOML")


def test_the_same_name_in_two_content_folders_names_both(cli: Cli, tmp_path: Path, refused: Refused) -> None:
    rubric = tmp_path / "rubrics" / "hallucination.toml"
    rubric.parent.mkdir()
    rubric.write_text("", encoding="utf-8")
    refused(cli(*BASELINE, "--content", tmp_path), CONTENT, str(rubric), "is also at")


# ---- results folders that cannot be used


@pytest.mark.parametrize("place", ["a-file", "a-file/below", "/proc/results"])
def test_a_results_folder_that_cannot_be_made_is_explained(cli: Cli, tmp_path: Path, place: str, refused: Refused) -> None:
    (tmp_path / "a-file").write_text("not a folder", encoding="utf-8")
    refused(cli(*BASELINE, "--out", tmp_path / place), STORE, "cannot be used", "--out")
    assert (tmp_path / "a-file").read_text(encoding="utf-8") == "not a folder"


@pytest.mark.parametrize("content", [b"", b"This is somebody's text, and no database at all."], ids=["empty", "text"])
def test_a_store_that_is_none_is_left_alone(cli: Cli, out: Path, content: bytes, refused: Refused) -> None:
    out.mkdir()
    (out / "store.sqlite").write_bytes(content)
    refused(cli("runs", "--out", out), STORE, "it is not a store of this program; move it away")
    assert (out / "store.sqlite").read_bytes() == content


def test_a_damaged_store_is_said_to_be_damaged(cli: Cli, out: Path, refused: Refused) -> None:
    cli(*BASELINE, "--out", out)
    store = out / "store.sqlite"
    whole = store.read_bytes()
    store.write_bytes(whole[:8192] + b"Z" * (len(whole) - 8192))
    for arguments in (("runs",), ("report",), BASELINE):
        refused(cli(*arguments, "--out", out), STORE, "the file is damaged; move it away")


def test_a_store_of_another_version_is_left_to_its_program(cli: Cli, out: Path, refused: Refused) -> None:
    cli(*BASELINE, "--out", out)
    connection = sqlite3.connect(out / "store.sqlite")
    connection.execute("UPDATE meta SET value = '99' WHERE key = 'schema_version'")
    connection.commit()
    connection.close()
    for arguments in (("runs",), BASELINE):
        refused(cli(*arguments, "--out", out), STORE, "the store has version 99", "use the version of the program that made it")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """A file system of its own: `small_disk("size=100k")` mounts it, and then mounts it again with other options."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = False

    def mount(options: str) -> Path:
        nonlocal mounted
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"remount,{options}" if mounted else options, "tmpfs", str(folder)],
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        mounted = True
        return folder

    yield mount
    if mounted:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.slow
@pytest.mark.needs("mount")
@pytest.mark.parametrize("derived", [True, False], ids=["with its derived files", "with its store only"])
def test_a_read_only_results_folder_can_be_looked_at_and_nothing_else(
    cli: Cli, small_disk: Callable[[str], Path], refused: Refused, tmp_path: Path, derived: bool
) -> None:
    folder = small_disk("size=64m") / "results"
    cli(*BASELINE, "--out", folder)
    if not derived:
        shutil.rmtree(folder / "runs")
    small_disk("ro")
    refused(cli(*BASELINE, "--out", folder), STORE, "Read-only file system", "--out")
    refused(cli(*BASELINE, "--out", folder.parent / "new"), STORE, "Read-only file system", "--out")
    done = cli("report", "--out", folder)
    assert done.code == 0 and "baseline/random" in done.out and "is read-only; its files were not updated" in done.err
    assert cli("report", "--out", folder, "--csv").out.startswith("language,")
    assert cli("report", "--out", folder, "--html", tmp_path / "page.html").code == 0
    refused(cli("report", "--out", folder, "--html"), STORE, "cannot be written (Read-only file system)")
    assert cli("runs", "--out", folder).out.startswith("controls-cs-random-")
    assert cli("store", "export", "--out", folder, "--to", tmp_path / "replies.jsonl").code == 0
    small_disk("rw")
    assert cli(*BASELINE, "--out", folder).code == 0


@pytest.mark.slow
@pytest.mark.needs("mount")
@pytest.mark.parametrize("size", ["16k", "64k", "200k", "400k"])
def test_a_full_disk_loses_nothing_and_the_same_command_goes_on(
    command: Cli, small_disk: Callable[[str], Path], size: str, refused: Refused, replies: Callable[[Path], Any]
) -> None:
    folder = small_disk(f"size={size}") / "results"
    refused(command(*BASELINE, "--out", folder), STORE, "full", "ake room")
    small_disk("size=64m")
    done = command(*BASELINE, "--out", folder, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["missing"] == {"baseline/random": 0}


@pytest.mark.slow
@pytest.mark.needs("mount")
@pytest.mark.parametrize("size", ["size=100k", "size=3m", "size=5500k", "size=64m,nr_inodes=30"])
def test_a_full_disk_leaves_all_pages_of_a_site_or_none(cli: Cli, small_disk: Callable[[str], Path], size: str, refused: Refused) -> None:
    disk = small_disk(size)
    refused(cli("atlas", "--html", disk / "site" / "pages"), STORE, "No space left on device", "make room")
    assert list(disk.iterdir()) == []
    (disk / "earlier").mkdir()
    (disk / "earlier" / "index.html").write_text("earlier pages")
    refused(cli("atlas", "--html", disk / "earlier"), STORE, "No space left on device")
    assert [path.name for path in (disk / "earlier").iterdir()] == ["index.html"]
    assert (disk / "earlier" / "index.html").read_text() == "earlier pages"


@pytest.mark.slow
@pytest.mark.needs("mount")
def test_a_disk_that_fills_up_later_keeps_what_was_there(
    command: Cli, small_disk: Callable[[str], Path], refused: Refused, replies: Callable[[Path], Any]
) -> None:
    disk = small_disk("size=64m")
    folder = disk / "results"
    command(*BASELINE, "--limit", "2", "--out", folder)
    kept = replies(folder)
    room = os.statvfs(disk)
    small_disk(f"size={(room.f_blocks - room.f_bfree) * room.f_frsize + 150_000}")
    refused(command(*BASELINE, "--out", folder), STORE, "disk is full; make room")
    assert [reply for reply in replies(folder) if reply in kept] == kept != []
    small_disk("size=64m")
    assert f"{len(replies(folder))} answered already" in command(*BASELINE, "--out", folder).stderr


@pytest.mark.slow
@pytest.mark.needs("mount")
def test_a_disk_that_fills_up_while_answers_come_in_stops_the_run_and_keeps_them(
    cli: Cli,
    endpoint: Any,
    start: Callable[..., Any],
    small_disk: Callable[[str], Path],
    refused: Refused,
    replies: Callable[[Path], Any],
) -> None:
    disk = small_disk("size=8m")
    endpoint.latency = 0.03
    run = ("run", "--langs", "cs", "--concurrency", "2", "--judge", "openai/m", "--base-url", endpoint.url, "--out", disk / "results")
    process = start(*run)
    endpoint.wait_for(5)
    with suppress(OSError), open(disk / "ballast", "wb", buffering=0) as ballast:
        while True:
            ballast.write(bytes(4096))
    said_out, said = process.communicate(timeout=HANG_SECONDS)
    refused(
        subprocess.CompletedProcess([], process.returncode, said_out, said), STORE, "disk is full; make room", "all replies so far are kept"
    )
    asked, kept = len(endpoint.requests), len(replies(disk / "results"))
    assert 0 < kept < asked
    (disk / "ballast").unlink()
    again = cli(*run)
    assert again.code == 0 and f"{kept} answered already" in again.err
    assert len(endpoint.requests) - asked == len(replies(disk / "results")) - kept


LIMITED = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2); from harness.cli import main; "


@pytest.mark.slow
@pytest.mark.parametrize("kilobytes", [8, 150, 300])
def test_a_limit_on_file_sizes_is_like_a_full_disk(command: Cli, kilobytes: int, refused: Refused, out: Path) -> None:
    program = [sys.executable, "-c", LIMITED + "sys.exit(main(sys.argv[2:]))", str(kilobytes * 1024)]
    refused(subprocess.run([*program, *BASELINE, "--out", out], capture_output=True, text=True, check=False), STORE, str(out), "ake room")
    done = command(*BASELINE, "--out", out, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["missing"] == {"baseline/random": 0}


def test_an_export_that_cannot_be_written_is_explained(cli: Cli, out: Path, refused: Refused) -> None:
    cli(*BASELINE, "--out", out)
    refused(cli("store", "export", "--out", out, "--to", "/proc/replies.jsonl"), STORE, "cannot be written")


# ---- two at once, and one that is stopped


@pytest.mark.slow
def test_a_second_run_on_the_same_folder_is_told_who_holds_it(
    ask: Cli, endpoint: Any, start: Callable[..., Any], out: Path, refused: Refused
) -> None:
    endpoint.latency = 0.2
    small = ("run", "--langs", "cs", "--tasks", "open_prompt", "--limit", "2", "--concurrency", "1", "--judge", "openai/tester-2024-01-01")
    first = start(*small, "--base-url", endpoint.url, "--out", out)
    endpoint.wait_for(1)
    refused(ask(), STORE, "is in use by another run", f"process {first.pid}", "harness run --langs cs", "--out")
    endpoint.latency = 0.0
    _, said = first.communicate(timeout=HANG_SECONDS)
    assert first.returncode == 0, said
    asked = len(endpoint.requests)
    assert ask().code == 0 and len(endpoint.requests) == asked


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "terminate"])
def test_a_run_that_is_stopped_keeps_what_it_has_and_goes_on(
    cli: Cli, endpoint: Any, start: Callable[..., Any], out: Path, refused: Refused, replies: Callable[[Path], Any], how: signal.Signals
) -> None:
    endpoint.latency = 0.05
    run = ("run", "--langs", "cs", "--concurrency", "4", "--judge", "openai/m", "--base-url", endpoint.url, "--out", out)
    process = start(*run)
    endpoint.wait_for(20)
    process.send_signal(how)
    said_out, said = process.communicate(timeout=HANG_SECONDS)
    done = subprocess.CompletedProcess(run, process.returncode, said_out, said)
    refused(done, INTERRUPTED, "interrupted; calls without an answer: ", "Run the same command again: all answers are kept")
    assert "Calls without an answer, not counted above: openai/m" in said_out
    received, kept = len(endpoint.requests), len(replies(out))
    assert received - 4 <= kept < received
    endpoint.latency = 0.0
    again = cli(*run, "--json")
    assert again.code == 0 and set(json.loads(again.out)["missing"].values()) == {0}
    assert f", {kept} answered already" in again.err
    assert len(endpoint.requests) - received == len(replies(out)) - kept


@pytest.mark.slow
def test_a_run_that_is_stopped_before_its_first_answer_says_so(
    endpoint: Any, start: Callable[..., Any], out: Path, refused: Refused
) -> None:
    endpoint.latency = 1.0
    process = start("run", "--langs", "cs", "--judge", "openai/m", "--base-url", endpoint.url, "--out", out)
    endpoint.wait_for(1)
    process.send_signal(signal.SIGINT)
    said_out, said = process.communicate(timeout=HANG_SECONDS)
    refused(subprocess.CompletedProcess([], process.returncode, said_out, said), INTERRUPTED, "interrupted", "Run the same command again")


@pytest.mark.slow
def test_a_run_that_is_stopped_while_it_gets_ready_says_so(start: Callable[..., Any], out: Path, refused: Refused) -> None:
    process = start("run", "--langs", "cs,ja,en", "--board", "controls-full", "--judge", "baseline/random", "--out", out)
    while not (out / ".lock").exists():
        assert process.poll() is None
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGINT)
    said_out, said = process.communicate(timeout=HANG_SECONDS)
    refused(subprocess.CompletedProcess([], process.returncode, said_out, said), INTERRUPTED, "interrupted")


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    listing = [sys.executable, "-m", "harness", "list", "languages", "--json"]
    done = subprocess.run(listing, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name")
@pytest.mark.parametrize(
    "command",
    [
        ("labels", "import", "pipe", "--to", "new"),
        ("import", "pipe", "--to", "new"),
        ("start", "pipe"),
        ("compare", "pipe"),
        ("labels", "check", "pipe"),
        ("labels", "import", "t.csv", "--to", "new", "--task", "t", "--scale", "m=0..1:best=1", "--salt-file", "pipe"),
        ("watch", "init", "w", "data", "--certificate", "pipe", "--yes"),
    ],
)
def test_no_command_waits_for_a_pipe(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    Path("t.csv").write_text("item_id,language,output,annotator_id,metric,score\na,cs,Text.,eva,m,1\n", "utf-8")
    done = cli(*command)
    assert done.code in (2, 3) and "pipe" in done.err and not Path("new").exists(), done.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name")
@pytest.mark.parametrize("name", ["pipe", "pipe.txt"])
def test_a_list_of_items_that_is_a_pipe_is_refused_at_once(
    cli: Callable[..., Any], refused: Callable[..., None], tmp_path: Path, name: str
) -> None:
    os.mkfifo(tmp_path / name)
    data = judged_folder(tmp_path / "data", prompts=3)
    done = cli("labels", "page", data, "--fields", "output", "--items", tmp_path / name, "--out", tmp_path / "new")
    refused(done, 3, "a pipe or a device")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name")
@pytest.mark.parametrize("flag", ["--spec", "--prices", "--prompt", "--rubric"])
def test_a_pipe_in_the_place_of_a_file_is_refused_at_once(
    cli: Callable[..., Any], refused: Callable[..., None], tmp_path: Path, flag: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    refused(cli("run", "--judge", "baseline/majority", flag, tmp_path / "pipe", "--out", tmp_path / "out"), 3, "a pipe or a device")


def test_the_folder_of_a_run_without_its_store_names_the_store(cli: Cli, tmp_path: Path, refused: Refused, out: Path) -> None:
    """A folder that was copied elsewhere, and one whose store was removed."""
    assert cli("run", "--langs", "cs", "--tasks", "summarize", "--judge", "baseline/random", "--out", out).code == 0
    [run] = (out / "runs").iterdir()
    copy = tmp_path / "copied" / "runs" / run.name
    shutil.copytree(run, copy)
    (out / "store.sqlite").unlink()
    for folder in (run, copy):
        for command in ("compare", "report", "correct", "certify", "submit"):
            flags = {"certify": ("--to", tmp_path / "c.json"), "submit": ("--board", "controls")}.get(command, ())
            words = "is the folder of a run", f"{folder.parent.parent / 'store.sqlite'} is not there"
            refused(cli(command, folder, *flags), STORE, *words)
