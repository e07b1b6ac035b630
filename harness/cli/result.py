"""The end of a command with one result: JSON for programs, or a drawing with the signature below it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from harness.tables import to_json

if TYPE_CHECKING:
    from rich.console import RenderableType


class _Result(Protocol):
    @property
    def signature(self) -> str: ...

    def as_json(self) -> Any: ...


R = TypeVar("R", bound=_Result)


def print_result(found: R, render: Callable[[R], RenderableType], *, as_json: bool) -> int:
    """Print a result to stdout, and return the exit code of success."""
    if as_json:
        sys.stdout.write(to_json(found.as_json()))
    else:
        from harness.render.comparison import show

        show(lambda narrow: render(found), found.signature)
    return 0
