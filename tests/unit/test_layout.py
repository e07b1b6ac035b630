"""A stranger finds a module by its name: a file name stands in two packages at most."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import harness

ROOT = Path(harness.__file__).parent
TOO_COMMON = {"comparison.py"}  # in render, render/html and reports


def test_a_file_name_stands_in_two_packages_at_most() -> None:
    packages: defaultdict[str, set[str]] = defaultdict(set)
    for path in ROOT.rglob("*.py"):
        if path.name != "__init__.py":
            packages[path.name].add(path.parent.relative_to(ROOT).as_posix())
    assert {name: sorted(folders) for name, folders in packages.items() if len(folders) > 2 and name not in TOO_COMMON} == {}
