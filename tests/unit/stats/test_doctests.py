"""Every public function has an example in its docstring; pytest runs the examples themselves (--doctest-modules)."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil

import pytest

import harness.stats

MODULES = [m.name for m in pkgutil.walk_packages(harness.stats.__path__, "harness.stats.") if not m.ispkg]


@pytest.mark.parametrize("name", harness.stats.__all__)
def test_public_functions_are_documented(name: str) -> None:
    public = getattr(harness.stats, name)
    if inspect.isfunction(public):
        assert public.__doc__ and ">>> " in public.__doc__, name


def test_no_module_imports_in_a_circle() -> None:
    """Reading the imports of each module, none can be reached from itself."""
    imports = {}
    for name in MODULES:
        nodes = ast.walk(ast.parse(inspect.getsource(importlib.import_module(name))))
        imports[name] = {n.module for n in nodes if isinstance(n, ast.ImportFrom)} & set(MODULES)
    done: set[str] = set()
    while ready := {m for m, needs in imports.items() if m not in done and needs <= done}:
        done |= ready
    assert done == set(MODULES)
