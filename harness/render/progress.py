"""Progress on stderr: calls done and in all, rate, failures, time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from rich.console import Console, Group
from rich.live import Live
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.table import Table
from rich.text import Text

from harness import engines
from harness.content.tags import english_name
from harness.errors import UsageError
from harness.model import JudgeIdentity
from harness.render.fitted_table import PIPE_WIDTH, output_width, plain_table
from harness.reports.run_report import Report
from harness.runs import CostEstimate, LiveRow, LiveRows, RunResult
from harness.text import terminal_safe

_SECONDS_BETWEEN_LINES = 15.0  # where stderr is no terminal
_SECONDS_BETWEEN_UPDATES = 0.1  # of a bar; more often than that, nobody sees the difference
_UPDATES_A_SECOND = 4  # of bar and rows: drawing them costs a judge on this machine its time
_OTHER_LINES = 8  # of a terminal, beside the rows: bars, notes, headings


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.speed or task.finished_speed
        return Text(f"{speed:.1f}/s" if speed else "–/s", style="progress.data.speed")


@contextmanager
def _advancing(what: str, total: int | None, *columns: ProgressColumn) -> Iterator[Callable[..., None]]:
    """A bar on stderr, where it is a terminal, and the function that advances it."""
    console = Console(stderr=True)
    with Progress(TextColumn("{task.description}"), *columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        yield partial(bar.advance, bar.add_task(terminal_safe(what), total=total))


def counting(what: str) -> AbstractContextManager[Callable[[], None]]:
    """Count steps on stderr: call the function that it yields after each step. Shows nothing where stderr is no terminal."""
    return _advancing(what, None, TextColumn("{task.completed}"))


def bytes_arriving(what: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
    """Show on stderr, where it is a terminal, how many of `total` bytes are here: call the function that it yields with those that came."""
    return _advancing(what, total, BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())


class TerminalWatcher:
    """Shows the progress of a run, and asks for consent before texts of a data folder leave the machine."""

    def __init__(self, *, assume_yes: bool, report_of: Callable[[RunResult], Report] | None = None) -> None:
        """`report_of` makes the report of the language that is answered first; without it, it is not shown before the others."""
        self._report_of = report_of
        self._console = Console(stderr=True)
        self._assume_yes = assume_yes
        self._allowed: set[str] = set()
        self._live_view: Live | None = None
        self._rows: LiveRows | None = None
        self._printed_notes: dict[str, int] = {}

    def consent(self, host: str, texts: int) -> None:
        if self._assume_yes or host in self._allowed:
            return
        question = f"{texts} texts of your data folder would be sent to {terminal_safe(host)}."
        if not sys.stdin.isatty():
            raise UsageError(f"{question} Pass --yes to allow this")
        self._console.print(f"{question} Allow this? \\[y/N] ", end="", highlight=False)
        if input().strip().lower() not in ("y", "yes"):
            raise UsageError("nothing was sent")
        self._allowed.add(host)

    def planned(self, identity: JudgeIdentity, estimate: CostEstimate, stored: int) -> None:
        if not estimate.calls:
            self._print(f"{identity.name}: all {stored} calls are answered already")
            return
        cost = f"about ${estimate.cost:.2f}" if estimate.cost else "free"
        cost = "price unknown, --prices FILE can name one" if estimate.cost is None else cost
        rest = f", {stored} answered already" if stored else ""
        self._print(f"{identity.name}: {estimate.calls} calls to ask{rest} ({cost})")

    def note(self, text: str) -> None:
        self._print(f"note: {text}", soft_wrap=output_width(self._console) == PIPE_WIDTH)

    def _print(self, text: str, *, soft_wrap: bool | None = None) -> None:
        self._console.print(terminal_safe(text), highlight=False, markup=False, soft_wrap=soft_wrap)

    def progress(self, identities: Sequence[JudgeIdentity]) -> Callable[[JudgeIdentity, engines.Progress], None]:
        return self._live(identities) if self._console.is_terminal else self._lines()

    def _live(self, identities: Sequence[JudgeIdentity]) -> Callable[[JudgeIdentity, engines.Progress], None]:
        bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            _Rate(),
            TextColumn("{task.fields[notes]}", markup=False),
            TimeRemainingColumn(compact=True, elapsed_when_finished=True),
            console=self._console,
        )

        def view() -> Group:
            """Return the rows that fill, as many as the terminal has room for, above the bars."""
            rows = list(self._rows or ())
            return Group(_table_of(rows, max(3, self._console.height - _OTHER_LINES)), bar) if rows else Group(bar)

        self._live_view = Live(console=self._console, get_renderable=view, refresh_per_second=_UPDATES_A_SECOND, redirect_stdout=False)
        self._live_view.start()
        tasks = {identity.name: bar.add_task(terminal_safe(identity.name), total=None, notes="loading") for identity in identities}
        shares = dict.fromkeys(tasks, 0.0)

        def show(identity: JudgeIdentity, state: engines.Progress) -> None:
            self._print_notes(identity, state)
            now, remaining = time.monotonic(), max(0, state.total - state.done - state.lost - state.done_at_provider)
            if remaining and now - shares[identity.name] < _SECONDS_BETWEEN_UPDATES:
                return
            shares[identity.name] = now
            bar.update(tasks[identity.name], total=state.total, completed=state.total - remaining, notes=_notes(state))

        return show

    def follow(self, rows: LiveRows) -> bool:
        self._rows = rows if self._console.is_terminal else None
        return self._rows is not None

    def _lines(self) -> Callable[[JudgeIdentity, engines.Progress], None]:
        start = time.monotonic()
        last: dict[str, float] = {}

        def show(identity: JudgeIdentity, state: engines.Progress) -> None:
            self._print_notes(identity, state)
            now = time.monotonic()
            if now - last.get(identity.name, start) >= _SECONDS_BETWEEN_LINES:
                last[identity.name] = now
                rate = state.done / (now - start)
                seconds = (state.total - state.done) / rate if rate else 0
                done = f"{state.done}/{state.total}  {rate:.1f}/s  {_notes(state)}  {seconds:.0f} s left"
                self._print(f"  {identity.name}: {done}")

        return show

    def _print_notes(self, identity: JudgeIdentity, state: engines.Progress) -> None:
        """Print the notes that have not been printed yet."""
        printed = self._printed_notes.get(identity.name, 0)
        self._printed_notes[identity.name] = len(state.notes)
        for note in state.notes[printed:]:
            self._print(f"{identity.name}: {note}", soft_wrap=True)

    def first_language(self, part: RunResult) -> None:
        """The verdicts of the language that is answered first."""
        if self._report_of is None:
            return
        from harness.render.terminal import print_whole, render_verdicts  # late: a run that is quick does not need them

        verdicts = self._report_of(part).verdicts
        if self._rows is not None:
            self._rows.decide(verdicts)
        if verdicts:
            language = english_name(part.protocol.texts.languages[0])
            self._print(f"\n{language} is answered. Its verdicts by itself, while the other languages are asked:\n")
            print_whole(lambda width: Group(*render_verdicts(verdicts, width, all_rows=True)), console=self._console)
            self._print("The verdicts below are corrected for all languages together, and they count.\n")

    def finished(self) -> None:
        self._rows = None  # the report that follows has them all
        if self._live_view:
            self._live_view.stop()
            self._live_view = None


def _table_of(rows: Sequence[LiveRow], room: int) -> Table:
    """Return the rows around the first that is not complete."""
    several = len({row.judge for row in rows}) > 1
    names = (*(["judge"] if several else []), "language", "metric")
    under_way = next((index for index, row in enumerate(rows) if row.done < row.total), len(rows))
    first = max(0, min(under_way - room // 2, len(rows) - room))
    texts = []
    for row in rows[first : first + room]:
        agreement = f"{row.agreement / row.labelled:.0%}" if row.labelled else "–"
        verdict = row.verdict or ("answered" if row.done >= row.total else "")
        row_names = ([row.judge] if several else []) + [english_name(row.language), row.metric.replace("_", " ")]
        answers = f"{row.done}/{row.total}" + (f" ({row.unreadable} unreadable)" if row.unreadable else "")
        texts.append([Text(terminal_safe(cell)) for cell in (*row_names, answers, agreement, verdict)])
    headings = (*names, "answers", "agrees with labels so far", "verdict")
    return plain_table(headings, texts, (len(names), len(names) + 1))


def _notes(state: engines.Progress) -> str:
    notes = f"{state.unreadable} unreadable"
    if state.lost:
        notes += f", {state.lost} lost"
    if state.batches:
        notes += f", batches: {', '.join(f'{count} {terminal_safe(status)}' for status, count in sorted(state.batches.items()))}"
    return notes + (f", waiting: {terminal_safe(state.waiting_for)[:60]}" if state.waiting_for else "")
