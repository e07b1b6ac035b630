"""The end of a command with one result: JSON for programs, or a drawing; of an import: the folder, with refusals and notes on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from harness.cli.streams import print_json
from harness.errors import JUDGE
from harness.reports.tables.numbers import counted
from harness.text import terminal_safe

if TYPE_CHECKING:
    from rich.console import RenderableType

    from harness.decide.verdicts import Verdict

_SHOWN = 20  # reasons on the screen; the file lists all refused rows
_PLACES = 3  # of rows that were refused for one reason


def exit_code_of(verdicts: Sequence[Verdict]) -> int:
    """Return the exit code of a comparison: that of a judge that cannot be used where most answers of a judge could not be read."""
    from harness.render.verdicts import judged_sides

    unread = any(all("unread" in verdict.words.obstacles for verdict in side) for side in judged_sides(verdicts))
    return JUDGE if unread else 0


class _LeftOut(Protocol):
    @property
    def of_all(self) -> bool: ...

    def sentence(self) -> str: ...


class _Result(Protocol):
    @property
    def signature(self) -> str: ...

    def as_json(self) -> Any: ...


R = TypeVar("R", bound=_Result)


def print_result(result: R, render: Callable[[R], RenderableType], *, as_json: bool, more: str = "--json has it whole") -> int:
    """Print a result to stdout, first what is left out of it because most answers of a judge cannot be read; return the exit code."""
    unread: Sequence[_LeftOut] = getattr(result, "unread", ())
    if as_json:
        print_json(result.as_json())
    else:
        from rich.console import Group
        from rich.text import Text

        from harness.render.comparison import show
        from harness.render.terminal import closing_line

        lines = [Text(terminal_safe(left_out.sentence())) for left_out in unread]
        show(lambda narrow: Group(*lines, render(result)), closing_line([result.signature], more=more))
    return JUDGE if any(left_out.of_all for left_out in unread) else 0


# ---- imports


class _Refusal(Protocol):
    @property
    def place(self) -> str: ...

    @property
    def reason(self) -> str: ...


class _Summary(Protocol):
    @property
    def folder(self) -> Path: ...

    @property
    def written(self) -> bool: ...

    @property
    def refused(self) -> Sequence[_Refusal]: ...


def print_refusals(refused: Sequence[_Refusal], notes: Iterable[str]) -> None:
    """Print each of the first reasons once, with the first rows that have it; then how many more rows were refused, and the notes."""
    by_reason: dict[str, list[str]] = {}
    for refusal in refused:
        by_reason.setdefault(refusal.reason, []).append(refusal.place)
    printed = list(by_reason.items())[:_SHOWN]
    lines = [f"{_list_locations(locations)}: {reason}" for reason, locations in printed]
    more = len(refused) - sum(len(locations) for _, locations in printed)
    lines += [f"… and {more} more"] if more else []
    for line in (*lines, *notes):
        print(terminal_safe(line), file=sys.stderr)


def refusals_of(imported: _Summary, imported_rows: int) -> str:
    """Say how many rows were refused, and what became of the others, or could."""
    count = f"{len(imported.refused):,} refused"
    if imported.written:
        return f"{count} (see {imported.folder / 'refused.jsonl'})"
    choice = ", or pass --allow-refused to import the others without them" if imported_rows else ""
    return f"{count}, so nothing was written; correct them{choice}"


def _list_locations(locations: Sequence[str]) -> str:
    """The first places, and how many more there are."""
    more = len(locations) - _PLACES
    return ", ".join(locations[:_PLACES]) + (f" and {counted(more, 'more row')}" if more > 0 else "")


def ended(imported: _Summary, facts: Callable[[], Mapping[str, Any]] | None) -> int:
    """Print the folder if something was written, or with `facts` one JSON object; the exit code is 1 if anything was refused."""
    if facts:
        print_json(facts())
    elif imported.written:
        print(terminal_safe(str(imported.folder)))
    return 1 if imported.refused else 0
