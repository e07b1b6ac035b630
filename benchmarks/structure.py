"""What makes a reader of the engine ask twice, in numbers: `python benchmarks/structure.py`. A thermometer, not a gate.

Prints names that say nothing, private functions of one use, modules that one other module imports, and docstrings that open with an
indirect question.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from pathlib import Path

ENGINE = Path(__file__).resolve().parent.parent / "harness"
_WORDS = "found own one each place known given kept every shown here made others both there left named asked held told"
SAYS_NOTHING = frozenset(_WORDS.split())
INDIRECT = ("what ", "whether ", "how ", "why ", "of ", "those ", "which ", "where ", "that ", "may ")
FEW_LINES = 5


def names_bound(tree: ast.AST) -> list[str]:
    """Return the names that assignments, loops and arguments of a module bind."""
    bound = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return bound + [node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)]


def private_functions(tree: ast.AST) -> list[tuple[int, int]]:
    """Return `(uses in the module, lines)` of each private function."""
    uses = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    uses += Counter(node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [
        (uses[function.name], (function.end_lineno or function.lineno) - function.lineno + 1)
        for function in functions
        if function.name.startswith("_") and not function.name.startswith("__")
    ]


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
    once = [size for uses, size in functions if uses == 1]
    print(f"modules {len(trees)}, lines {lines:,}")
    print(f"names that say nothing, per 1,000 lines: {1000 * vague / lines:.1f}")
    print(f"private functions used once: {100 * len(once) / len(functions):.0f} %")
    print(f"... of {FEW_LINES} lines or fewer, per 1,000 lines: {1000 * sum(size <= FEW_LINES for size in once) / lines:.1f}")
    print(f"modules that one other module imports: {modules_of_one_importer(trees)}")
    indirect = sum(text.lower().startswith(INDIRECT) for text in texts)
    print(f"docstrings that open with an indirect question: {100 * indirect / len(texts):.0f} %")


if __name__ == "__main__":
    main()
