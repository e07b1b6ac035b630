"""What the options of the API and the flags of commands have in common: the text below a field explains it."""

from __future__ import annotations

import ast
import inspect
import sys
from functools import cache


def field_texts(cls: type) -> dict[str, str]:
    """Return the text below each field of a class and of its base classes."""
    texts: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("harness."):
            texts |= _texts_of(base.__module__).get(base.__name__, {})
    return texts


@cache
def _texts_of(module: str) -> dict[str, dict[str, str]]:
    """Return the text below each field of each class of a module."""
    classes = [node for node in ast.parse(inspect.getsource(sys.modules[module])).body if isinstance(node, ast.ClassDef)]
    return {
        cls.name: {
            field.target.id: " ".join(text.value.value.split())
            for field, text in zip(cls.body, cls.body[1:], strict=False)
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
            if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
        }
        for cls in classes
    }
