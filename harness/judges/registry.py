"""Judges by name: `<kind>/<rest>`, where kinds are entry points of the group `harness.judges`, ours and strangers' alike."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

from harness.content.tags import suggest
from harness.errors import JudgeError, UsageError
from harness.judges.base import Judge, JudgeOptions

GROUP = "harness.judges"


def kinds() -> dict[str, EntryPoint]:
    """Entry points by kind; nothing is imported. Raises UsageError when two packages register one kind."""
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=GROUP):
        if point.name in found and found[point.name].value != point.value:
            raise UsageError(
                f"judge kind '{point.name}' is registered twice: by {found[point.name].value} and by {point.value}; uninstall one"
            )
        found[point.name] = point
    return found


def open_judge(name: str, options: JudgeOptions) -> Judge:
    """Open the judge called `name`. Raises UsageError for an unknown kind or name, JudgeError for one that cannot be used."""
    kind, slash, rest = name.partition("/")
    known = kinds()
    if not slash or not rest:
        raise UsageError(f"judge '{name}' has no kind; write <kind>/<name>, for example openai/gpt-4o-2024-08-06 or baseline/majority")
    if kind not in known:
        raise UsageError(f"no judge kind '{kind}' (in '{name}').{suggest(kind, known)}\n         here: {', '.join(sorted(known))}")
    try:
        factory = known[kind].load()
    except Exception as err:  # a stranger's plug-in may fail in any way; the run that asked for it fails, nothing else
        raise JudgeError(f"judge kind '{kind}' is registered by {known[kind].value}, but cannot be loaded: {err}") from err
    judge: Judge = factory(rest, options)
    return judge
