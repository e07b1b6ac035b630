"""Imports run downward, without circles: the layers of docs/architecture.md, read from every import in the source.

Imports inside functions and for types count like any other: what needs to be hidden in a function is in the wrong place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import harness
from harness import runs

# From the bottom up. Whoever adds a module or package to harness/ gives it a layer here.
LAYERS: list[set[str]] = [
    {
        "asking_options",
        "conversations",
        "csv_formulas",
        "errors",
        "html_pages",
        "model",
        "offensive_texts",
        "options",
        "timed_patterns",
        "plugins",
        "redaction",
        "row_files",
        "segmentation",
        "text",
    },
    {"content"},
    {"parse"},
    {"data", "text_measures"},
    {"stats"},
    {"exchange.labels", "authoring"},
    {"published"},
    {"prompts", "perturb", "signature"},
    {"judges"},
    {"engines", "store"},
    {"runs"},
    {"measure"},
    {"decide"},
    {"correction", "improvement", "watch"},
    {"boards", "gate", "exchange", "annotate", "judge_atlas"},
    {"reports"},
    {"render"},
    {"notebook", "sources"},
    {"api", "cli", "__main__", "pytest_plugin"},
    {"studies"},  # on top, as the package of a stranger: each may use everything, and nothing may use it
]
# Who may import whom on the same layer, with the reason; nobody else may.
BESIDE = {
    ("row_files", "errors"): "rows that cannot be read raise the errors that commands show",
    ("row_files", "csv_formulas"): "texts in CSV files are guarded against formulas",
    ("offensive_texts", "errors"): "it refuses to write",
    ("asking_options", "options"): "options of asking are options",
    ("asking_options", "errors"): "options that contradict each other raise the errors that commands show",
    ("options", "errors"): "a text that is no value of an option raises the errors that commands show",
    ("plugins", "errors"): "a plug-in that cannot be used raises the errors that commands show",
    ("redaction", "text"): "secrets are removed from text that is whole",
    ("engines", "store"): "an engine writes every reply to the store before the next call goes out",
    ("watch", "correction"): "a watch is kept of a certificate",
    ("improvement", "correction"): "candidates are compared by what is corrected: answers beside labels, text by text",
    ("cli", "api"): "commands call what a notebook calls",
    ("pytest_plugin", "api"): "an assertion compares as a notebook does",
    ("__main__", "cli"): "`python -m harness` is the command",
}

ROOT = Path(harness.__file__).parent
LAYER = {part: number for number, parts in enumerate(LAYERS) for part in parts}


def name_of(path: Path) -> str:
    """`plan`, `content.tags`, `content` for its __init__; an empty text for the package's own."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(ROOT.rglob("*.py")) if "_content" not in path.parts}


@cache
def imports(module: str) -> dict[str, int]:
    """`{module of this package that is imported: line}`; `from harness.content import tags` imports `content.tags`."""
    found: dict[str, int] = {}
    for name, line in _imported(ast.parse(MODULES[module].read_text("utf-8"))):
        target = name
        while target not in MODULES:  # a name inside a module
            target = target.rpartition(".")[0]
        found.setdefault(target, line)
    return found


def _imported(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"line {node.lineno}: write imports from the package's root"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from ((name.removeprefix("harness").removeprefix("."), node.lineno) for name in names if name.split(".")[0] == "harness")


def part_of(module: str) -> str:
    """The part of the house that a module belongs to: its package, or a room of it that has a layer of its own."""
    room = ".".join(module.split(".")[:2])
    return room if room in LAYER else module.partition(".")[0]


def steps() -> Iterator[tuple[str, str, str]]:
    """(importing part, imported part, place) of every import between two parts."""
    for module in MODULES:
        for target, line in imports(module).items():
            if target and part_of(module) != part_of(target):
                yield part_of(module), part_of(target), f"{MODULES[module].relative_to(ROOT.parent)}:{line} imports {target}"


def test_every_module_has_a_layer_and_no_layer_has_a_module_twice() -> None:
    assert sum(map(len, LAYERS)) == len(LAYER)
    assert {part_of(module) for module in MODULES} - {""} <= set(LAYER)


def test_no_import_runs_upward() -> None:
    assert [place for one, other, place in steps() if LAYER[one] < LAYER[other]] == []


def test_modules_of_one_layer_import_each_other_only_as_listed() -> None:
    beside = [(one, other, place) for one, other, place in steps() if LAYER[one] == LAYER[other]]
    assert [place for one, other, place in beside if (one, other) not in BESIDE] == []
    assert {(one, other) for one, other, _ in beside} == BESIDE.keys(), "an entry of BESIDE is not needed any more"


@pytest.mark.parametrize("module", [module for module in MODULES if module])
def test_no_module_imports_itself_by_way_of_others(module: str) -> None:
    reached: dict[str, str] = {target: target for target in imports(module)}
    todo = list(reached)
    while todo:
        here = todo.pop()
        for target in imports(here):
            if target not in reached:
                reached[target] = f"{reached[here]} → {target}"
                todo.append(target)
    assert module not in reached, f"{module} → {reached[module]}"


def test_nothing_imports_the_package_itself() -> None:
    """The public face looks down on everything, so whoever imports it closes a circle."""
    assert [module for module in MODULES if module and "" in imports(module)] == []


def test_the_public_face_imports_nothing_when_it_is_imported() -> None:
    assert imports("") == {}


def test_other_packages_import_runs_through_its_face() -> None:
    """The modules of `harness.runs` may change; the names in its `__init__` are what others rely on."""
    inside = [
        f"{module}:{line} imports {target}"
        for module in MODULES
        if part_of(module) != "runs"
        for target, line in imports(module).items()
        if target.startswith("runs.")
    ]
    assert inside == []


def test_every_name_of_the_face_of_runs_is_there() -> None:
    for name in runs.__all__:
        assert getattr(runs, name) is not None
    face = ast.parse(Path(runs.__file__).read_text("utf-8"))
    imported = {
        each.name
        for node in ast.walk(face)
        if isinstance(node, ast.ImportFrom)
        for each in node.names
        if (node.module or "").startswith("harness")
    }
    assert imported == set(runs.__all__)  # what type checkers read, and what is there


def test_only_measuring_deciding_and_what_shows_it_call_statistics() -> None:
    callers = {"annotate", "correction", "decide", "improvement", "measure", "reports", "studies", "watch"}
    assert {one for one, other, _ in steps() if other == "stats"} == callers


def test_only_the_choice_of_an_engine_imports_ray() -> None:
    """Ray is an extra. The engine's package is opened by its name in `engines`, so no module imports it, and no other names it."""
    importers = {module for module in MODULES for target in imports(module) if target.startswith("engines.ray")}
    assert {module for module in importers if not module.startswith("engines.ray")} == set()
    naming = {module for module, path in MODULES.items() if "harness.engines.ray" in path.read_text("utf-8")}
    assert {module for module in naming if not module.startswith("engines.ray")} == {"engines"}


def test_statistics_know_errors_of_their_own_only() -> None:
    """Arrays in, small results out: no judge, no file, no content; what holds without an option stands with the options."""
    assert {other for one, other, _ in steps() if one == "stats"} <= {"model", "options"}


def test_the_model_and_the_errors_import_nothing_of_ours() -> None:
    assert imports("model") == imports("errors") == imports("text") == {}


def test_studies_come_in_by_entry_points_only() -> None:
    """Nothing names a study's module, not even as a text, and no study imports another one."""
    outside = [module for module in MODULES if part_of(module) != "studies"]
    assert [module for module in outside if "harness.studies." in MODULES[module].read_text("utf-8")] == []
    study = {module: module.split(".")[1] for module in MODULES if module.startswith("studies.")}
    assert set(study.values()) == {"chiang_lee", "languages", "self_preference"}
    assert [(module, target) for module in study for target in imports(module) if study.get(target, study[module]) != study[module]] == []


def test_sealed_labels_are_imported_by_their_entry_only() -> None:
    """Sealed labels are an extra. Only two modules need them: the one that loads a board's labels, and their commands."""
    inside = {module for module in MODULES if f"{module}.".startswith("boards.sealed_labels.")}
    steps_inside = {(module, target) for module in MODULES if module not in inside for target in imports(module) if target in inside}
    assert steps_inside == {("boards.board", "boards.sealed_labels"), ("cli.boards", "boards.sealed_labels")}


def test_reports_write_shares_in_the_formats_of_their_tables() -> None:
    """Sections say how many percent by `reports.tables.numbers`, so that a share looks the same in a sentence and in a table."""
    outside = [module for module in MODULES if module.startswith("reports.") and not f"{module}.".startswith("reports.tables.")]
    times_hundred = [
        f"{module}:{node.lineno}"
        for module in outside
        for node in ast.walk(ast.parse(MODULES[module].read_text("utf-8")))
        if isinstance(node, ast.BinOp) and any(isinstance(side, ast.Constant) and side.value == 100 for side in (node.left, node.right))
    ]
    assert outside and times_hundred == []


def test_what_is_measured_knows_no_section() -> None:
    below = [module for module in MODULES if part_of(module) in {"measure", "decide", "correction", "improvement", "watch"}]
    assert [module for module in below if any(target.startswith("reports") for target in imports(module))] == []
