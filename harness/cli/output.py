"""Prints what commands return: a result as JSON or drawn, the report of a run, what was imported and refused, columns of text for lists."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from harness.cli.streams import in_lines, print_json, print_message
from harness.errors import JUDGE
from harness.reports.tables.numbers import counted
from harness.text import broken_command, terminal_safe

if TYPE_CHECKING:
    from rich.console import RenderableType

    from harness.decide.options import DecisionOptions
    from harness.decide.verdicts import Verdict
    from harness.exchange.labels.label_import import ImportSummary
    from harness.reports.run_report import Report
    from harness.runs import RunResult

_SHOWN = 20  # reasons on the screen; the file lists all refused rows
_PLACES = 3  # of rows that were refused for one reason


def exit_code_of(verdicts: Sequence[Verdict]) -> int:
    """Return the exit code of a comparison: that of a judge that cannot be used where most answers of a judge could not be read."""
    from harness.reports.answer.judged_sides import judged_sides

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


# ---- runs


class RunOutput(NamedTuple):
    """The printed form of a report: JSON, or the terminal with more or less; `langs` are the only languages that are shown."""

    as_json: bool = False
    quiet: bool = False
    by_task: bool = False
    every: bool = False
    notes: bool = False
    langs: tuple[str, ...] = ()
    wage: float | None = None


def show_run(result: RunResult, output: RunOutput, decision: DecisionOptions | None = None) -> Report:
    """Write the run's derived files, print its report (unless it is quiet) and return it; `decision` has the thresholds."""
    from harness.api import report as make_report
    from harness.render.files import write_files
    from harness.render.runs import cost_sentences, language_cost_lines, replaced_sentences
    from harness.render.terminal import dim_lines, print_report, print_sections, print_whole
    from harness.reports.run_report import only_languages
    from harness.row_files import to_json
    from harness.runs import run_costs

    report: Report = make_report(result, decision)
    if writable := result.derived == result.folder:
        write_files(result.folder, report)
    report = only_languages(report, output.langs) if output.langs else report
    if output.quiet:
        return report
    costs = run_costs(result, output.wage)
    if output.as_json:
        sys.stdout.write(to_json(report.as_json() | ({"costs": costs} if output.wage else {})))
    elif result.prepared.data.sealed:
        from harness.render.terminal import print_sealed

        print_sealed(report)
        print_sections(report.ablations)
    else:
        print_report(report, by_task=output.by_task, all_rows=output.every or output.by_task, notes=output.notes)
        if output.by_task or result.protocol.texts.study:
            print_sections(report.ablations)
        if costs.people or costs.priced_on:
            print_whole(lambda width: dim_lines(map(terminal_safe, (*cost_sentences(costs), *language_cost_lines(costs)))))
        elif replaced := [*replaced_sentences(costs)]:
            print_whole(lambda width: dim_lines(map(terminal_safe, replaced)))
    if not output.as_json:
        if part := _describe_part_of_board(result):
            print_message(f"\n{part}")
        files = f"files: {result.folder}" if writable else f"{result.folder} is read-only; its files were not updated"
        print(f"\n{files}", file=sys.stderr)
    return report


def _describe_part_of_board(result: RunResult) -> str:
    """Name the part of its board that a run did not ask about, so that nobody takes a part for the whole; empty where it is the whole."""
    protocol = result.protocol
    if not protocol.texts.board:
        return ""
    board = result.prepared.library.board(protocol.texts.board)
    parts = {
        "--metrics": _share(board.rubrics, protocol.questions.metrics, "metrics"),
        "--tasks": _share(board.tasks, protocol.wording.tasks, "tasks"),
        "--limit": f"at most {protocol.texts.limit} of the texts of each language and task" if protocol.texts.limit else "",
    }
    flags = [flag for flag, part in parts.items() if part]
    if not flags:
        return ""
    return (
        f"This is a part of the board: {' and '.join(filter(None, parts.values()))}. "
        f"Without {' and '.join(flags)} the same command asks the rest, and nothing again."
    )


def _share(names: Collection[str], selected: Collection[str], kind: str) -> str:
    """Such as `2 of its 5 metrics`; empty if all were asked about.

    >>> _share(["a", "b", "c"], ["c"], "tasks")
    '1 of its 3 tasks'
    """
    omitted = sum(name not in selected for name in names)
    return f"{len(names) - omitted} of its {len(names)} {kind}" if omitted else ""


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
    lines = []
    for reason, locations in printed:
        more = len(locations) - _PLACES
        printed_locations = ", ".join(locations[:_PLACES]) + (f" and {counted(more, 'more row')}" if more > 0 else "")
        lines.append(f"{printed_locations}: {reason}")
    more = len(refused) - sum(len(locations) for _, locations in printed)
    lines += [f"… and {more} more"] if more else []
    if lines := [*lines, *notes]:
        from harness.render.terminal import print_lines  # late: with rich

        print_lines(lines, stderr=True)


def refusals_of(imported: _Summary, imported_rows: int) -> str:
    """Say how many rows were refused, and what became of the others, or could."""
    count = f"{len(imported.refused):,} refused"
    if imported.written:
        return f"{count} (see {imported.folder / 'refused.jsonl'})"
    choice = ", or pass --allow-refused to import the others without them" if imported_rows else ""
    return f"{count}, so nothing was written; correct them{choice}"


def print_summary(imported: ImportSummary) -> None:
    """Print to stderr what was refused, what was guessed, and how much was imported."""
    print_refusals(imported.refused, imported.hints)
    details = [
        refusals_of(imported, imported.rows - len(imported.refused)) if imported.refused else "",
        f"{counted(imported.blank, 'empty cell')}" if imported.blank else "",
        f"{counted(imported.left_out, 'answer')} left out" if imported.left_out else "",
        f"{counted(imported.known, 'row')} known already" if imported.known else "",
    ]
    suffix = "".join(f"; {part}" for part in details if part)
    done = "imported" if imported.written else "could be imported"
    if not imported.labels and imported.unlabelled and not imported.refused:
        print_message(f"{counted(imported.items, 'text')} {done}, none with a label")
        return
    what = counted(imported.reviews, "review") if imported.reviews else counted(imported.labels, "label")
    summary = f"{what} by {counted(imported.annotators, 'annotator')} on {counted(len(imported.metrics), 'metric')}"
    print_message(f"{counted(imported.rows, 'row')}: {summary} {done}{suffix}")


def facts_of(imported: ImportSummary) -> dict[str, Any]:
    """The summary for programs."""
    numbers = ("rows", "labels", "blank", "left_out", "known", "items", "annotators", "metrics", "written")
    facts = {name: getattr(imported, name) for name in numbers} | ({"reviews": imported.reviews} if imported.reviews else {})
    return {**facts, "refused": len(imported.refused), "folder": str(imported.folder), "notes": [*imported.hints, *imported.notes]}


def ended(imported: _Summary, facts: Callable[[], Mapping[str, Any]] | None) -> int:
    """Print the folder if something was written, or with `facts` one JSON object; the exit code is 1 if anything was refused."""
    if facts:
        print_json(facts())
    elif imported.written:
        print(terminal_safe(str(imported.folder)))
    return 1 if imported.refused else 0


_GAP = 2  # between columns
_LEAST_FOLDED = 12  # characters of a column whose texts go on below


def columns(rows: Sequence[Sequence[str]], right: Sequence[str] = ()) -> list[str]:
    """Lines that show rows of texts as columns; an East Asian letter takes two places. Columns with a heading of `right` are numbers.

    A text of several lines goes on below its first one.
    """
    from itertools import zip_longest

    from rich.cells import cell_len

    numbers = {column for column, heading in enumerate(rows[0]) if heading in right} if rows else set()
    safe = [line for row in rows for line in zip_longest(*(terminal_safe(text).split("\n") for text in row), fillvalue="")]
    widths = [max(cell_len(line[i]) for line in safe) for i in range(len(safe[0]))] if safe else []

    def padded(column: int, text: str) -> str:
        blanks = " " * (widths[column] - cell_len(text))
        return blanks + text if column in numbers else text + blanks

    return [(" " * _GAP).join(padded(column, text) for column, text in enumerate(row)).rstrip() for row in safe]


def hanging(rows: Sequence[tuple[str, Sequence[str]]], width: int | None) -> Iterator[str]:
    """A name and its parts in a row; parts without room in the width go on below the first one, and none is broken."""
    from rich.cells import cell_len

    gap = " " * _GAP
    indent = max((cell_len(name) for name, _ in rows), default=0) + _GAP
    for name, parts in rows:
        line = name + " " * (indent - cell_len(name) - _GAP)
        for part in parts:
            if width and line.strip() and cell_len(line + gap + part) > width and cell_len(line) >= indent:
                yield line
                line = " " * (indent - _GAP)
            line += gap + part
        yield line


def step_lines(text: str, command: str, width: int | None) -> Iterator[str]:
    """Return a next step with its command, which stands below, as a shell reads it, where it has no room behind the sentence."""
    from rich.cells import cell_len

    if not width or not command or cell_len(f"{text}: {command}") <= width:
        yield from in_lines(f"{text}: {command}" if command else text, width)
        return
    yield from in_lines(f"{text}:", width)
    yield from (f"  {part}" for part in broken_command(command, width - 2))


def fitting(rows: Sequence[Sequence[str]], first: Sequence[str], folded: str, width: int | None) -> tuple[list[list[str]], list[str]]:
    """The columns of a table that have room in a width, and the headings of the others.

    Args:
        rows: the headings, then the rows.
        first: the headings of the columns that are kept before others, in this order; then those from the left.
        folded: the heading of the column whose texts go on below where they have no room; it is kept always, with the room that columns
            before it leave, at least a little.
        width: of a line; None for any width.
    """
    from rich.cells import cell_len

    columns_of = dict(zip(rows[0], map(list, zip(*rows, strict=True)), strict=True))
    remaining = (width or 10**6) + _GAP
    reserved = min(_LEAST_FOLDED, max(map(cell_len, columns_of[folded]))) + _GAP if folded in columns_of else 0
    remaining -= reserved
    fitted = []
    for name in sorted(columns_of, key=lambda name: first.index(name) if name in first else len(first)):
        if name == folded:
            remaining += reserved
            from harness.render.folding import fold  # late: most lists have nothing to fold

            columns_of[name] = [fold(text, max(remaining - _GAP, len(name))) for text in columns_of[name]]
        needed = max(cell_len(line) for text in columns_of[name] for line in text.split("\n")) + _GAP
        if needed <= remaining or name == folded:
            fitted.append(name)
            remaining -= needed
    columns = [columns_of[name] for name in rows[0] if name in fitted]
    return [list(row) for row in zip(*columns, strict=True)], [name for name in rows[0] if name not in fitted]


def cut_to(text: str, most: int) -> str:
    """A text of so many places at most."""
    from rich.cells import cell_len, set_cell_size

    return text if cell_len(text) <= most else f"{set_cell_size(text, most - 1).rstrip()}…"


def print_signed(lines: Iterable[str]) -> None:
    """Print lines of which the first is a title. On a terminal the signs ✓, (✓), ✗ and ○ are coloured; words say the same."""
    from rich.console import Console
    from rich.text import Text

    from harness.text import terminal_safe

    console = Console(highlight=False)
    for number, line in enumerate(lines):
        text = Text(terminal_safe(line), style="" if number else "bold")
        for pattern, style in (("✓", "blue"), (r"\(✓\)", "dim"), ("✗", "dark_orange3"), ("○", "dim")):
            text.highlight_regex(pattern, style)
        console.print(text, soft_wrap=True)


def print_columns(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of texts as columns."""
    for line in columns(rows):
        print(line)
