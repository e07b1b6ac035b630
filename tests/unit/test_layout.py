"""A stranger finds a module by its name: a file name stands in two packages at most, and a package has 30 modules at most."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import harness

ROOT = Path(harness.__file__).parent
TOO_COMMON = {"comparison.py"}  # in render, render/html and reports


def test_a_file_name_stands_in_two_packages_at_most() -> None:
    places: defaultdict[str, set[str]] = defaultdict(set)
    for path in ROOT.rglob("*.py"):
        if path.name != "__init__.py":
            places[path.name].add(path.parent.relative_to(ROOT).as_posix())
    assert {name: sorted(found) for name, found in places.items() if len(found) > 2 and name not in TOO_COMMON} == {}


def test_a_package_has_30_modules_at_most() -> None:
    folders = {path.parent for path in ROOT.rglob("__init__.py")}
    modules = {folder.relative_to(ROOT).as_posix(): len([*folder.glob("*.py")]) - 1 for folder in folders}
    assert {name: count for name, count in modules.items() if count > 30} == {}
