"""Judges by name: kinds are entry points, listing imports none of them, and a stranger's broken one harms nobody else."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import pytest

from harness import plugins
from harness.data import Dataset
from harness.errors import JudgeError, UsageError
from harness.judges import Judge, JudgeOptions, kinds, open_judge
from harness.judges.baselines import BASELINES
from harness.judges.batches import Batching
from harness.judges.registry import name_forms

GROUP = "harness.judges"


@pytest.fixture
def plug_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Adds entry points `name = value` to those that are installed, as a stranger's package would."""

    def add(**points: str) -> None:
        real = list(entry_points(group=GROUP))
        known = real + [EntryPoint(name, value, GROUP) for name, value in points.items()]
        monkeypatch.setattr("importlib.metadata.entry_points", lambda group: known if group == GROUP else [])
        plugins.registered.cache_clear()

    yield add
    plugins.registered.cache_clear()


def test_our_own_kinds_are_entry_points_like_any_other() -> None:
    assert {"openai", "local", "baseline", "replay"} <= set(kinds())


_LISTING = """
import sys
from harness.judges import kinds
kinds()
print([name for name in sys.modules if name in ("openai", "harness.judges.baselines", "harness.judges.openai")])
"""


def test_listing_imports_no_judge() -> None:
    assert subprocess.run([sys.executable, "-c", _LISTING], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_every_baseline_is_listed_with_what_it_does() -> None:
    listed = {form: what for form, what, _ in name_forms() if form.startswith("baseline/")}
    assert list(listed) == [f"baseline/{name}" for name in BASELINES] and all(listed.values())


def test_a_judge_is_opened_by_kind_and_name(make_data: Callable[..., Dataset]) -> None:
    assert open_judge("baseline/random", JudgeOptions(training=make_data([], {}))).identity.name == "baseline/random"


_STRANGER = """
from harness.model import JudgeIdentity, Reply

class Judge:
    endpoint = concurrency = None
    address = "https://a.stranger"

    def __init__(self, name, options):
        self.identity, self.opened_with = JudgeIdentity("theirs", name), (name, options)

    async def start(self, calls): {start}
    async def answer(self, call): {answer}
    async def stop(self): {stop}

def open_judge(name, options):
    {open}
"""


def stranger(
    start: str = "pass", answer: str = "return Reply('2', 'm')", stop: str = "pass", open: str = "return Judge(name, options)"
) -> str:
    return _STRANGER.format(start=start, answer=answer, stop=stop, open=open)


def module(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str) -> str:
    name = f"strangers_{hashlib.sha256(code.encode()).hexdigest()[:8]}"
    (tmp_path / f"{name}.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    return name


def test_a_strangers_judge_is_opened_with_name_and_options(
    plug_in: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plug_in(theirs=f"{module(monkeypatch, tmp_path, stranger())}:open_judge")
    options = JudgeOptions(seed=7)
    judge: Any = open_judge("theirs/model/with/slashes", options)
    assert judge.opened_with == ("model/with/slashes", options) and judge.address == "https://a.stranger"
    assert isinstance(judge, Judge) and not isinstance(judge, Batching)
    batching = module(monkeypatch, tmp_path, stranger() + "Judge.batches = lambda self: 'theirs'\n")
    plug_in(batching=f"{batching}:open_judge")
    offering: Any = open_judge("batching/m", options)
    assert isinstance(offering, Batching) and offering.batches() == "theirs"


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import sys; sys.exit(0)", r"cannot be loaded: it called sys.exit\(0\) \(strangers_\w+.py:1\)"),
        ("raise KeyboardInterrupt", r"cannot be loaded: it raised KeyboardInterrupt \(strangers_\w+.py:1\)"),
        (stranger(open="exit(0)"), r"judge 'theirs/m' of \w+:open_judge cannot be opened: it called sys.exit\(0\) \(strangers_\w+.py:16\)"),
        (stranger(open="raise StopIteration"), r"cannot be opened: it raised StopIteration \("),
        (stranger(open="return [name]"), "is a list without 'identity'; it should be a harness.judges.Judge"),
        (stranger() + "Judge.identity = property(lambda self: 1 / 0, lambda self, value: None)", "cannot be used: it raised ZeroDivision"),
    ],
)
def test_a_strangers_judge_that_cannot_be_opened_is_named(
    plug_in: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str, says: str
) -> None:
    plug_in(theirs=f"{module(monkeypatch, tmp_path, code)}:open_judge")
    with pytest.raises(JudgeError, match=says):
        open_judge("theirs/m", JudgeOptions())


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"start": "exit(0)"}, r"theirs/m: the 'start' of its Judge called sys.exit\(0\) \(strangers_\w+.py:11\)"),
        ({"answer": "raise SystemExit(0)"}, r"theirs/m: the 'answer' of its Judge called sys.exit\(0\) \(strangers_\w+.py:12\)"),
        ({"answer": "raise KeyboardInterrupt"}, r"'answer' of its Judge raised KeyboardInterrupt \(strangers"),
        ({"answer": "return next(iter(()))"}, r"'answer' of its Judge raised StopIteration \(strangers"),
        ({"answer": "import asyncio; raise asyncio.CancelledError"}, r"'answer' of its Judge raised CancelledError \(strangers"),
        ({"answer": "return 2"}, "'answer' of its Judge returned int; it should return a harness.model.Reply"),
        ({"answer": "return Reply('\\ud800', 'm')"}, "'answer' of its Judge returned a reply that cannot be stored"),
        ({"answer": "return Reply(2, 'm')"}, "'answer' of its Judge returned a reply that cannot be stored"),
        ({"stop": "raise OSError('gone')"}, r"'stop' of its Judge raised OSError: gone \(strangers"),
    ],
)
def test_a_strangers_judge_that_fails_ends_the_run_with_its_name_and_place(
    plug_in: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    cli: Callable[..., Any],
    parts: dict[str, str],
    says: str,
) -> None:
    plug_in(theirs=f"{module(monkeypatch, tmp_path, stranger(**parts))}:open_judge")
    arguments = ("--langs", "cs", "--limit", "1", "--metrics", "task_quality", "--judge", "theirs/m")
    done = cli("run", *arguments, "--out", tmp_path / "results")
    assert done.code == 4 and re.search(says, done.err) and "Traceback" not in done.err, done.err


@pytest.mark.parametrize("name", ["gpt-4", "", "baseline", "baseline/", "/", "/random"])
def test_a_name_without_a_kind_or_a_rest_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        open_judge(name, JudgeOptions())


def test_a_name_without_a_kind_says_what_names_look_like() -> None:
    with pytest.raises(UsageError, match="judge 'gpt-4' has no kind; write <kind>/<name>, for example openai/"):
        open_judge("gpt-4", JudgeOptions())


def test_an_unknown_kind_is_refused_with_those_there_are() -> None:
    with pytest.raises(
        UsageError,
        match=r"no judge kind 'opneai' \(in 'opneai/x'\). Did you mean 'openai'\?\n"
        r" +choose from: baseline, decider, decisions, local, openai, panel, python",
    ):
        open_judge("opneai/x", JudgeOptions())


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("no_such_package.judge:open_judge", "No module named 'no_such_package'"),
        ("harness.judges.judge_protocol:no_such_name", "has no attribute 'no_such_name'"),
        ("broken_package:open_judge", "there is no graphics card here"),
    ],
    ids=["package missing", "name missing", "import fails"],
)
def test_a_broken_plug_in_is_listed_and_fails_only_who_asks_for_it(
    plug_in: Callable[..., None],
    make_data: Callable[..., Dataset],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    value: str,
    reason: str,
) -> None:
    (tmp_path / "broken_package.py").write_text("raise RuntimeError('there is no graphics card here')")
    monkeypatch.syspath_prepend(tmp_path)
    plug_in(broken=value)
    assert "broken" in kinds()
    assert open_judge("baseline/random", JudgeOptions(training=make_data([], {}))).identity.name == "baseline/random"
    with pytest.raises(JudgeError, match=f"judge kind 'broken' is registered by {value}, but cannot be loaded: .*{reason}"):
        open_judge("broken/x", JudgeOptions())


def test_a_kind_registered_twice_names_both(plug_in: Callable[..., None]) -> None:
    plug_in(replay="another.package:open_judge")
    with pytest.raises(
        UsageError,
        match=r"'replay' is registered twice: by harness\.judges\.replay:open_judge and by another\.package:open_judge; uninstall one",
    ):
        kinds()


def test_the_same_registration_seen_twice_is_one(plug_in: Callable[..., None]) -> None:
    """An editable install and a wheel of the same package may both be found."""
    plug_in(replay="harness.judges.replay:open_judge")
    assert "replay" in kinds()
