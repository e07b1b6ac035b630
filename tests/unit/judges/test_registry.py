"""Judges by name: kinds are entry points, listing imports none of them, and a stranger's broken one harms nobody else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from harness.data import Dataset
from harness.errors import JudgeError, UsageError
from harness.judges import JudgeOptions, kinds, open_judge, registry

GROUP = "harness.judges"


@pytest.fixture
def plug_in(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Adds entry points `name = value` to those that are installed, as a stranger's package would."""

    def add(**points: str) -> None:
        real = list(registry.entry_points(group=GROUP))
        known = real + [EntryPoint(name, value, GROUP) for name, value in points.items()]
        monkeypatch.setattr(registry, "entry_points", lambda group: known if group == GROUP else [])

    return add


def test_our_own_kinds_are_entry_points_like_any_other() -> None:
    assert {"openai", "local", "baseline", "replay"} <= set(kinds())


_LISTING = """
import sys
from harness.judges import kinds
kinds()
print([name for name in sys.modules if name in ("openai", "harness.judges.baseline", "harness.judges.openai")])
"""


def test_listing_imports_no_judge() -> None:
    assert subprocess.run([sys.executable, "-c", _LISTING], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_judge_is_opened_by_kind_and_name(make_data: Callable[..., Dataset]) -> None:
    assert open_judge("baseline/random", JudgeOptions(training=make_data([], {}))).identity.name == "baseline/random"


def test_a_strangers_judge_is_opened_with_name_and_options(
    plug_in: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "strangers_package.py").write_text("def open_judge(name, options): return [name, options]")
    monkeypatch.syspath_prepend(tmp_path)
    plug_in(theirs="strangers_package:open_judge")
    options = JudgeOptions(seed=7)
    assert open_judge("theirs/model/with/slashes", options) == ["model/with/slashes", options]


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
        match=r"no judge kind 'opneai' \(in 'opneai/x'\). Did you mean 'openai'\?\n +choose from: baseline, local, openai, panel, python",
    ):
        open_judge("opneai/x", JudgeOptions())


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("no_such_package.judge:open_judge", "No module named 'no_such_package'"),
        ("harness.judges.base:no_such_name", "has no attribute 'no_such_name'"),
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
