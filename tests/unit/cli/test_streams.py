"""The streams of the process and the signal that ends it: one sentence, and nothing half-written left behind."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from harness.cli.streams import _CheckedStream, guarded_log, print_message
from harness.errors import OutputError

FAILED, INTERRUPTED = 5, 130
COMMANDS = [("list", "languages"), ("list", "languages", "--json"), ("--help",)]


def shell(line: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command with the streams that a line of the shell gives it."""
    return subprocess.run(
        ["sh", "-c", f'"$0" -m harness "$@" {line}', sys.executable, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=120,
    )


@pytest.mark.parametrize("unbuffered", ["", pytest.param("1", marks=pytest.mark.slow)])
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(("line", "words"), [(">&-", "standard output is closed"), (">/dev/full", "No space left on device")])
def test_an_output_that_takes_nothing_is_said_in_one_sentence(arguments: tuple[str, ...], line: str, words: str, unbuffered: str) -> None:
    done = shell(line, *arguments, PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == FAILED
    [said] = done.stderr.splitlines()
    assert said.startswith("harness: standard output") and words in said


@pytest.mark.parametrize("encoding", ["cp1252", *(pytest.param(name, marks=pytest.mark.slow) for name in ("ascii", "latin-1"))])
@pytest.mark.parametrize("arguments", COMMANDS[:2], ids=" ".join)
def test_a_file_or_a_pipe_gets_utf_8_where_its_encoding_lacks_letters(arguments: tuple[str, ...], encoding: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "harness", *arguments],
        env=os.environ | {"PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0 and "中文" in done.stdout.decode("utf-8"), done.stderr


def test_a_terminal_without_the_letters_is_said_in_one_sentence() -> None:
    stream = _CheckedStream(io.TextIOWrapper(io.BytesIO(), "ascii"))
    with pytest.raises(OutputError, match="standard output accepts ascii only, but the results hold the character U\\+4E2D; set"):
        stream.write("中")


def test_a_byte_of_a_file_name_that_is_no_utf_8_is_said_in_one_sentence() -> None:
    stream = _CheckedStream(io.TextIOWrapper(io.BytesIO(), "utf-8"))
    with pytest.raises(OutputError, match="a file name with the byte 0xff, which is not UTF-8, cannot be printed; rename it"):
        stream.write(os.fsdecode(b"\xff.html"))


COMMAND_LINES = ["::add-mask::x", "  ::error::y", "\r::group::z", "\t\x1b::stop-commands::t", "a\n\u2028::warning::b", "a ##[endgroup]"]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_no_text_gives_a_command_to_a_job_of_github(monkeypatch: pytest.MonkeyPatch, name: str, size: int) -> None:
    """However a line is cut into parts: rich and print write in parts."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    stream = io.StringIO()
    monkeypatch.setattr(sys, name, stream)
    with guarded_log():
        for line in COMMAND_LINES:
            for start in range(0, len(line), size):
                getattr(sys, name).write(line[start : start + size])
            print(file=getattr(sys, name))
        print("agreement::shown and #[1]", file=getattr(sys, name))
    said = stream.getvalue()
    assert not re.search(r"(^|[\n\r\u2028])[\s\x1b]*::|##\[", said)
    assert said.count(": :") == 5 and "## [endgroup]" in said and "agreement::shown and #[1]" in said
    assert said.replace(": :", "::").replace("## [", "##[") == "\n".join([*COMMAND_LINES, "agreement::shown and #[1]", ""])


def test_errors_of_files_give_no_command_either(cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    done = cli("compare", "x\n::add-mask::y")
    assert done.code == 2 and "\n: :add-mask::y" in done.err
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert "\n::add-mask::y" in cli("compare", "x\n::add-mask::y").err


@pytest.mark.parametrize("width", [None, "80"])
def test_a_word_of_thousands_of_letters_is_shortened(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: Any
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False) if width is None else monkeypatch.setenv("COLUMNS", width)
    print_message(f"harness: no metric '{'x' * 5000}'; in {'/a' * 149} are 'harmlessness'")
    said = " ".join(capsys.readouterr().err.split())
    assert said == f"harness: no metric '{'x' * 60}… (5,000 characters)'; in {'/a' * 149} are 'harmlessness'"


def test_messages_do_not_get_into_the_results_where_standard_error_is_closed() -> None:
    done = shell("2>&-", "list", "nothing")
    assert (done.returncode, done.stdout) == (2, "")


def test_a_reader_that_has_seen_enough_is_no_failure() -> None:
    done = subprocess.run(
        ["bash", "-c", '"$0" -m harness list languages | head -1; exit ${PIPESTATUS[0]}', sys.executable],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (0, "", 1)


WRITER = """
import os, sys, time
from pathlib import Path
import harness.cli.content as content
from harness.cli import main
from harness.row_files import write_atomic

def pieces():
    yield b"x" * 100_000
    print("writing", file=sys.stderr, flush=True)
    while True:
        time.sleep(0.01)
        yield b"x"

content.list_content = lambda arguments: write_atomic(Path(sys.argv[1]) / "file", pieces())
removed = Path.unlink
def slowly(path, **options):
    time.sleep(0.5)
    removed(path, **options)
Path.unlink = slowly
sys.exit(main(["list", "languages"]))
"""


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT], ids=["terminate", "ctrl-c"])
@pytest.mark.parametrize("times", [1, 2])
def test_a_signal_however_often_leaves_no_temporary_file(tmp_path: Path, how: signal.Signals, times: int) -> None:
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None and process.stderr.readline() == "writing\n"
    assert len(list(tmp_path.iterdir())) == 1
    for _ in range(times):
        process.send_signal(how)
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.25)
    _, said = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED and "interrupted" in said
    assert list(tmp_path.iterdir()) == []
