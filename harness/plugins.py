"""Plug-ins: what packages register as entry points. They are found by name, loaded on use, and refused in a sentence where that fails."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeVar

from harness.errors import UsageError
from harness.plugin_errors import describe_failure, watch_interrupt

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


@cache  # installed packages do not change during a command
def registered(group: str, what: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name, `what` in sentences. Raises UsageError when two packages register the same name."""
    from importlib.metadata import entry_points  # late: it takes longer than many commands take to begin

    points: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=group), key=lambda point: point.name):
        if point.name in points and points[point.name].value != point.value:
            raise registered_twice(what, point.name, points[point.name].value, point.value)
        points[point.name] = point
    return points


def registered_twice(what: str, name: str, first: str, other: str) -> UsageError:
    """Return the error about a name that two packages have."""
    return UsageError(f"{what} '{name}' is registered twice: by {first} and by {other}; uninstall one")


def load(point: EntryPoint, form: type[T], what: str) -> T:
    """Return what an entry point stands for. Raises UsageError if it cannot be loaded, is no `form`, or has another name."""
    try:
        with watch_interrupt() as pressed:
            plugin = point.load()
    except BaseException as err:  # a plug-in may fail in any way; only the command that uses it must fail
        if isinstance(err, KeyboardInterrupt) and pressed():
            raise
        raise UsageError(f"{what} '{point.name}' is registered by {point.value}, but cannot be loaded: it {describe_failure(err)}") from err
    if not isinstance(plugin, form) or getattr(plugin, "name", point.name) != point.name:
        actual = f"the {what} '{getattr(plugin, 'name', '')}'" if isinstance(plugin, form) else f"a {type(plugin).__name__}"
        expected = f"it should be a {form.__module__}.{form.__qualname__} of that name"
        raise UsageError(f"{what} '{point.name}' is registered by {point.value}, which is {actual}; {expected}")
    return plugin
