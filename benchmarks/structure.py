"""What makes a reader of the engine ask twice, in numbers: `python benchmarks/structure.py`. A thermometer, not a gate.

Prints names that say nothing, private functions of one use, modules that one other module imports, and docstrings that open with an
indirect question.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ENGINE = Path(__file__).resolve().parent.parent / "harness"
_WORDS = "found own one each place known given kept every shown here made others both there left named asked held told"
SAYS_NOTHING = frozenset(_WORDS.split())
INDIRECT = ("what ", "whether ", "how ", "why ", "of ", "those ", "which ", "where ", "that ", "may ")
FEW_LINES = 5
CONDITIONAL = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.IfExp, ast.BoolOp, ast.JoinedStr)


def names_bound(tree: ast.AST) -> list[str]:
    """Return the names that assignments, loops and arguments of a module bind."""
    bound = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return bound + [node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)]


class PrivateFunction(NamedTuple):
    """How often its module uses a private function, how many lines it has, and whether its use is no call that a statement can replace."""

    uses: int
    lines: int
    is_needed: bool


def private_functions(tree: ast.AST) -> list[PrivateFunction]:
    """Return each private function. It is needed where it is passed on, or called in a comprehension, a condition or a text."""
    uses: defaultdict[str, list[ast.AST]] = defaultdict(list)
    in_statement = set()  # calls that are the whole value of a statement
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            uses[node.id].append(node)
        elif isinstance(node, ast.Attribute):
            uses[node.attr].append(node)
        elif isinstance(node, ast.stmt):
            in_statement |= {call.func for call in _calls_of_statement(node)}
    return [
        PrivateFunction(
            uses=len(uses[node.name]),
            lines=(node.end_lineno or node.lineno) - node.lineno + 1,
            is_needed=not set(uses[node.name]) <= in_statement,
        )
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("_") and not node.name.startswith("__")
    ]


def _calls_of_statement(statement: ast.stmt) -> Iterator[ast.Call]:
    """Yield the calls of a statement that happen once and in any case, so that other statements could stand before it in their place."""
    todo: list[ast.AST] = [node for node in ast.iter_child_nodes(statement) if not isinstance(node, ast.stmt)]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Call):
            yield node
        if not isinstance(node, CONDITIONAL):
            todo.extend(ast.iter_child_nodes(node))


def docstrings(tree: ast.AST) -> list[str]:
    """Return the docstrings of a module, its classes and functions."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return [text for node in ast.walk(tree) if isinstance(node, kinds) and (text := ast.get_docstring(node))]


def modules_of_one_importer(trees: dict[str, ast.Module]) -> int:
    """Return how many modules exactly one other module imports."""
    importers: defaultdict[str, set[str]] = defaultdict(set)
    for importer, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for target in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
                    if target in trees and target != importer:
                        importers[target].add(importer)
    return sum(len(others) == 1 for others in importers.values())


def main() -> None:
    sources = {path: path.read_text("utf-8") for path in sorted(ENGINE.rglob("*.py")) if "_content" not in path.parts}
    trees = {".".join(path.relative_to(ENGINE.parent).with_suffix("").parts): ast.parse(text) for path, text in sources.items()}
    lines = sum(text.count("\n") for text in sources.values())
    vague = sum(name in SAYS_NOTHING for tree in trees.values() for name in names_bound(tree))
    functions = [function for tree in trees.values() for function in private_functions(tree)]
    texts = [text for tree in trees.values() for text in docstrings(tree)]
    once = [function for function in functions if function.uses == 1]
    short = [function for function in once if function.lines <= FEW_LINES]
    print(f"modules {len(trees)}, lines {lines:,}")
    print(f"names that say nothing, per 1,000 lines: {1000 * vague / lines:.1f}")
    print(f"private functions used once: {100 * len(once) / len(functions):.0f} %")
    print(f"... of {FEW_LINES} lines or fewer, per 1,000 lines: {1000 * len(short) / lines:.1f}")
    needed = sum(function.is_needed for function in short)
    print(f"... of these passed on, or called in a comprehension, a condition or a text: {100 * needed / len(short):.0f} %")
    print(f"modules that one other module imports: {modules_of_one_importer(trees)}")
    indirect = sum(text.lower().startswith(INDIRECT) for text in texts)
    print(f"docstrings that open with an indirect question: {100 * indirect / len(texts):.0f} %")


if __name__ == "__main__":
    main()
