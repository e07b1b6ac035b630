"""A stranger finds a module by its name: a file name stands in two packages at most, and a package has 30 modules at most."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import harness

ROOT = Path(harness.__file__).parent
MOST_PARAMETERS = 7
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


def test_the_engine_has_90_000_lines_at_most() -> None:
    """What is new makes room for itself: something else gets shorter, or this number rises by a decision."""
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in ROOT.rglob("*.py")) <= 90_000


def test_a_function_takes_seven_parameters_at_most() -> None:
    """Of a method, besides its object. Only what users call has further ones, by keyword: what docs/api.md lists (its keywords are flags of
    the command), and the scorer that Inspect registers."""
    public = set(re.findall(r"^(?:\w+\.)*(\w+)\(\n", (ROOT.parent / "docs" / "api.md").read_text("utf-8"), re.MULTILINE))
    wide = []
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                by_position = [each.arg for each in node.args.args if each.arg not in ("self", "cls")]
                keywords = [] if node.name in public and ast.get_docstring(node) else node.args.kwonlyargs
                if len(by_position) + len(keywords) > MOST_PARAMETERS and not any("scorer" in ast.unparse(d) for d in node.decorator_list):
                    wide.append(f"{path.relative_to(ROOT)}: {node.name}")
    assert wide == []
