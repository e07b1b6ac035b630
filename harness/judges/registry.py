"""Opening judges by name: `<kind>/<name>`. Kinds are entry points of the group `harness.judges`, ours and those of other packages."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points

from harness.content.tags import choose_from
from harness.errors import UsageError
from harness.judges.base import Judge, JudgeOptions
from harness.judges.plug_in import open_entry_point

GROUP = "harness.judges"
_PYTHON = EntryPoint("python", "harness.judges.python_function:open_judge", GROUP)  # its names are `python:<module>:<function>`
_PANEL = EntryPoint("panel", "harness.judges.panel:open_judge", GROUP)  # is computed, never asked
_NAME_FORMS = {
    "panel": ("panel/<file.toml>",),
    "python": ("python:<module>:<function>",),
    "openai": ("openai/<model>",),
    "local": ("local/<model or .gguf>",),
    "replay": ("replay/<store export>",),
}


def kinds() -> dict[str, EntryPoint]:
    """The entry point of each kind; no module is imported. Raises UsageError when two packages register the same kind."""
    points: dict[str, EntryPoint] = {point.name: point for point in (_PYTHON, _PANEL)}
    for point in entry_points(group=GROUP):
        if point.name in points and points[point.name].value != point.value:
            raise UsageError(
                f"judge kind '{point.name}' is registered twice: by {points[point.name].value} and by {point.value}; uninstall one"
            )
        points[point.name] = point
    return points


def name_forms() -> Iterator[tuple[str, str]]:
    """How judges are named, and where their code is: `("openai/<model>", "harness.judges.openai:open_judge")`, by kind."""
    from harness.judges.baselines import BASELINES

    known = _NAME_FORMS | {"baseline": tuple(f"baseline/{name}" for name in BASELINES)}
    for kind, point in sorted(kinds().items()):
        for form in known.get(kind, (f"{kind}/…",)):
            yield form, point.value


def open_judge(name: str, options: JudgeOptions) -> Judge:
    """Open the judge called `name`. Raises UsageError for an unknown kind or name, JudgeError for a judge that cannot be used."""
    kind, slash, rest = name.replace(":", "/", 1).partition("/") if name.startswith(f"{_PYTHON.name}:") else name.partition("/")
    known = kinds()
    if not slash or not rest:
        raise UsageError(f"judge '{name}' has no kind; write <kind>/<name>, for example openai/gpt-4o-2024-08-06 or baseline/majority")
    if kind not in known:
        raise UsageError(f"no judge kind '{kind}' (in '{name}').{choose_from(sorted(known), kind)}")
    return open_entry_point(known[kind], rest, options)
