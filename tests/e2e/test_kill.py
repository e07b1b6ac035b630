"""A run that is killed at any moment loses no reply that it has committed, and asks again at most what was in flight."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow  # kills

IN_FLIGHT = 8
LATENCY = 0.01  # seconds


class Warm:
    """Starts the command without loading it anew each time: a process that has, and forks."""

    _PROGRAM = """
import json, os, sys
import openai.resources.chat.completions
import harness.api, harness.cli.run, harness.render.files, harness.render.terminal
for line in sys.stdin:
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os._exit(harness.cli.main(json.loads(line)))
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""

    def __init__(self, log: Path) -> None:
        self._log = log
        with log.open("w") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-c", self._PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
            )

    def start(self, *arguments: str | Path) -> int:
        """The command's process id."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps([str(argument) for argument in arguments]) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def ended(self) -> int:
        """Wait for the command that was started last, and return how it ended; below 0 for a signal."""
        assert self._process.stdout
        return int(self._process.stdout.readline())

    @property
    def said(self) -> str:
        """What all commands have written on stderr."""
        return self._log.read_text("utf-8")

    def close(self) -> None:
        self._process.communicate()  # the end of its input ends it


@pytest.fixture
def warm(tmp_path: Path) -> Iterator[Warm]:
    found = Warm(tmp_path / "said")
    yield found
    found.close()


class Victim:
    """A run that is killed again and again, and what it had kept and asked after the last time."""

    def __init__(self, command: tuple[Any, ...], warm: Warm, endpoint: Any, attempts: Callable[[], dict[Any, str]]) -> None:
        self._command, self._warm, self._endpoint, self._attempts = command, warm, endpoint, attempts
        self.kept: dict[Any, str] = {}
        self.asked = 0

    def kill(self, moment: Callable[[], None]) -> None:
        """Start the run, kill it once `moment` returns, and look at what is left."""
        process = self._warm.start(*self._command)
        moment()
        os.kill(process, signal.SIGKILL)
        assert self._warm.ended() == -signal.SIGKILL
        stored, came = self._attempts(), self._came()
        assert self.kept.items() <= stored.items()  # nothing committed is lost, or other than it was
        assert 0 <= came - len(stored) - (self.asked - len(self.kept)) <= IN_FLIGHT  # all but what was in flight has been kept
        self.kept, self.asked = stored, came

    def _came(self) -> int:
        self._endpoint.stats()  # by the second look, all that had arrived at the first has been read
        return int(self._endpoint.stats()["requests"])


@pytest.mark.parametrize(("calls", "kills"), [(150, 4), pytest.param(2000, 44, marks=pytest.mark.slow)])
def test_kills_at_random_moments_cost_at_most_what_was_in_flight(
    calls: int,
    kills: int,
    calm: Callable[[int], Any],
    hostile: Callable[..., Any],
    warm: Warm,
    rows: Callable[..., Any],
    texts: Callable[..., Any],
    run_folder: Callable[[Path], Path],
    out: Path,
) -> None:
    def attempts() -> dict[Any, str]:
        return {(row["call_id"], row["attempt"]): row["reply"] for row in rows(out, "SELECT call_id, attempt, reply FROM attempts")}

    chance = random.Random(calls)
    undisturbed, endpoint = calm(calls), hostile(latency=LATENCY)
    command = (*undisturbed.command, "--base-url", endpoint.url, "--out", out, "--concurrency", str(IN_FLIGHT))
    victim = Victim(command, warm, endpoint, attempts)
    for count in sorted(chance.sample(range(1, calls - 4 * IN_FLIGHT), kills)):

        def in_the_middle(count: int = count) -> None:
            endpoint.wait_for(max(count, victim.asked + 1))
            time.sleep(chance.uniform(0, 2 * LATENCY))

        victim.kill(in_the_middle)
    assert 0 < len(victim.kept) < calls

    warm.start(*command)
    assert warm.ended() == 0
    assert victim.kept.items() <= attempts().items()
    assert texts(out) == undisturbed.texts  # and no call was kept twice
    stats = endpoint.stats()
    assert stats["distinct"] == calls and stats["requests"] - calls <= kills * IN_FLIGHT
    folder = run_folder(out)
    assert {name: (folder / name).read_bytes() for name in undisturbed.files} == undisturbed.files
    assert "Traceback" not in warm.said


@pytest.mark.slow
def test_kills_while_files_are_written_leave_none_of_them_by_half(
    calm: Callable[[int], Any], hostile: Callable[..., Any], warm: Warm, out: Path
) -> None:
    chance = random.Random(0)
    undisturbed, endpoint = calm(150), hostile()
    command = (*undisturbed.command, "--base-url", endpoint.url, "--out", out)
    warm.start(*command)
    assert warm.ended() == 0
    begin = time.monotonic()
    warm.start(*command)
    assert warm.ended() == 0
    usual = time.monotonic() - begin
    for moment in [chance.uniform(0.3, 1) * usual for _ in range(6)]:
        shutil.rmtree(out / "runs", ignore_errors=True)  # the run before may have been killed before it made its folder
        process = warm.start(*command)
        time.sleep(moment)
        os.kill(process, signal.SIGKILL)
        warm.ended()
        for path in (out / "runs").rglob("*.*"):
            assert (
                path.name[0] == "."
                or path.name in ("run.json", "answers.json", "spec.toml")
                or path.read_bytes() == undisturbed.files[path.name]
            )
    warm.start(*command)
    assert warm.ended() == 0 and endpoint.stats()["requests"] == 150


def test_a_kill_before_the_first_call_leaves_a_folder_that_works(
    cli: Callable[..., Any], endpoint: Any, start: Callable[..., Any], tmp_path: Path
) -> None:
    chance = random.Random(0)
    folder = tmp_path / "results"
    for _ in range(3):
        process = start("run", "--langs", "cs", "--judge", "baseline/random", "--out", folder)
        while not folder.exists():
            assert process.poll() is None
            time.sleep(0.002)
        time.sleep(chance.uniform(0, 0.1))
        process.kill()
        process.wait()
    done = cli("run", "--langs", "cs", "--judge", "baseline/random", "--out", folder)
    assert done.code == 0
