"""Entry points of packages: sections and studies of a stranger are used like ours, and a broken one is named in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from harness import plugins
from harness.content import Library
from harness.errors import UsageError
from harness.reports.sections.section_registry import all_sections
from harness.runs import RunSpec, study_named
from harness.runs.study import specified

_THEIRS = """
from harness.reports.sections.section import Section
from harness.runs import Study

STUDY = Study("kinder", {"variants": ("joint",), "repeats": 3}, needs="answers of two systems")
BEHIND_PAIRS = Section("kindness", "Is the judge kind?", lambda found: "", (), after="pairs")
LAST = Section("politeness", "Is the judge polite?", lambda found: "", ())
NUMBER = 3
"""
Register = Callable[..., None]


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Register]:
    """Registers `(group, name, value)`, as a stranger's package would; `theirs_of_test` is there to be imported."""
    (tmp_path / "theirs_of_test.py").write_text(_THEIRS)
    monkeypatch.syspath_prepend(tmp_path)

    def add(*points: tuple[str, str, str]) -> None:
        installed = [EntryPoint(name, value, group) for group, name, value in points]
        monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [point for point in installed if point.group == group])
        plugins.registered.cache_clear()
        all_sections.cache_clear()

    yield add
    plugins.registered.cache_clear()
    all_sections.cache_clear()


def test_a_strangers_section_stands_where_it_says(register: Register) -> None:
    register(
        ("harness.sections", "politeness", "theirs_of_test:LAST"),
        ("harness.sections", "kindness", "theirs_of_test:BEHIND_PAIRS"),
    )
    names = [section.name for section in all_sections()]
    assert names.index("kindness") == names.index("pairs") + 1 and names[-1] == "politeness"


def test_a_section_with_the_name_of_ours_is_refused(register: Register) -> None:
    register(("harness.sections", "pairs", "theirs_of_test:LAST"))
    with pytest.raises(UsageError, match="section 'pairs' is registered twice: by this program and by theirs_of_test:LAST; uninstall one"):
        all_sections()


def test_a_strangers_study_sets_what_the_user_leaves_open(register: Register) -> None:
    register(("harness.studies", "kinder", "theirs_of_test:STUDY"))
    spec = specified(RunSpec(study="kinder", data=Path("d"), repeats=5), Library())
    assert (spec.variants, spec.repeats) == (("joint",), 5)
    with pytest.raises(UsageError, match="--study kinder needs answers of two systems, and pass their folder with --data"):
        specified(RunSpec(study="kinder"), Library())
    with pytest.raises(UsageError, match=r"no study 'languages'\.(?s:.)*choose from: kinder"):
        study_named("languages")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("theirs_of_test:NUMBER", r"which is a int; it should be a harness\.runs\.study\.Study of that name"),
        ("theirs_of_test:STUDY", "which is the study 'kinder'; it should be"),
        ("theirs_of_test:ABSENT", "cannot be loaded: it raised AttributeError"),
        ("absent_package:STUDY", "cannot be loaded: it raised ModuleNotFoundError"),
    ],
)
def test_what_cannot_be_used_is_named(register: Register, value: str, message: str) -> None:
    register(("harness.studies", "odd", value))
    with pytest.raises(UsageError, match=f"study 'odd' is registered by {value}, (but )?{message}"):
        study_named("odd")


def test_a_name_of_two_packages_is_refused(register: Register) -> None:
    register(("harness.studies", "odd", "one:STUDY"), ("harness.studies", "odd", "two:STUDY"))
    with pytest.raises(UsageError, match="study 'odd' is registered twice: by one:STUDY and by two:STUDY; uninstall one"):
        study_named("odd")
