"""The streams of the process and the signal that ends it: one sentence, and nothing half-written left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(("line", "words"), [(">&-", "standard output is closed"), (">/dev/full", "No space left on device")])
def test_an_output_that_takes_nothing_is_said_in_one_sentence(arguments: tuple[str, ...], line: str, words: str, unbuffered: str) -> None:
    done = shell(line, *arguments, PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == FAILED
    [said] = done.stderr.splitlines()
    assert said.startswith("harness: standard output") and words in said


@pytest.mark.parametrize("arguments", COMMANDS[:2], ids=" ".join)
def test_an_output_without_the_characters_is_said_in_one_sentence(arguments: tuple[str, ...]) -> None:
    done = shell("", *arguments, PYTHONIOENCODING="ascii")
    assert done.returncode == FAILED
    [said] = done.stderr.splitlines()
    assert "standard output accepts ascii only" in said and said.endswith("set PYTHONIOENCODING=utf-8")


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
from harness.tables import write_atomic

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
