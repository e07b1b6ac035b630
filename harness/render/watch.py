"""The outcome of a watch: in the terminal, and as JUnit XML for pipelines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from harness.content.tags import english_name
from harness.correction.certificate_extension import EarlierWatch
from harness.errors import UsageError
from harness.render.figures import style
from harness.render.figures.style import Drawn, FigureOptions
from harness.render.junit import JunitCase, junit_xml
from harness.render.terminal import print_lines
from harness.reports.tables.numbers import counted, percent, two_digits
from harness.text import terminal_safe
from harness.watch.daily_log import Day, SeenCell
from harness.watch.watch_check import CellState, StreamState, WatchCheck
from harness.watch.watch_plan import Quantity, Stream, WatchPlan

RECENT = 7
"""Days whose mean is shown beside the reference level."""
STREAMS: tuple[Stream, ...] = ("anchors", "production")
_STYLES = {"nothing shown": "green", "not yet known": "yellow"}


def print_plan(plan: WatchPlan, folder: str, earlier: Sequence[EarlierWatch] = ()) -> None:
    """Print what a new watch watches, and which starts it had before."""
    options = plan.options
    asks = f"asked {counted(options.per_day, 'anchor')} a day and language" if plan.run else "recorded answers, which you hand in"
    print_lines([f"{folder}: a watch of {plan.judge.name} on {plan.data} since {plan.since}, {asks}"])
    for cell in plan.cells:
        levels = (
            f"{reference.stream} {reference.quantity} "
            f"{percent(reference.mean, (reference.lower, reference.upper))} of {counted(reference.n)}"
            for reference in cell.references
        )
        print_lines([f"  {english_name(cell.language)}, {cell.metric.replace('_', ' ')}: {'; '.join(levels)}"])
    print_lines(_earlier(earlier, plan.options.alpha))


def _earlier(earlier: Sequence[EarlierWatch], alpha: float) -> Iterator[str]:
    """Yield the starts before, and what their alarms mean for the chance of a false one."""
    for number, check in enumerate(earlier, start=1):
        yield f"  start {number}, {check.since} to {check.until}: {check.ended}"
    if earlier:
        yield (
            f"  start {len(earlier) + 1} is the last one, with a level of its own: a cell has a false alarm in at most {percent(alpha)} of "
            "watches over all starts as long as nothing has changed, and each change that did happen adds as much."
        )


def day_sentence(day: Day) -> str:
    """Return a day that was added, in one line."""
    cells = [f"{name}: {', '.join(parts)}" for name, cell in day.cells.items() if (parts := list(_parts(cell)))]
    return terminal_safe(f"{day.date}: {'; '.join(cells) or 'no readable scores'}")


def _parts(cell: SeenCell) -> Iterator[str]:
    if cell.anchors is None:
        yield "no answers on anchors (hand them in with --answers)"
    else:
        anchors = f"{counted(cell.anchors.drawn, 'anchor')}{_unread(cell.anchors.unread)}"
        yield f"agreement {percent(cell.anchors.agreement.mean)} on {anchors}"
    if cell.production is not None:
        seen, texts = cell.production, f"{counted(cell.production.texts, 'text')}{_unread(cell.production.unread)}"
        if seen.level is None and seen.readable is not None:
            yield f"no level: none of {texts} can be read"
        elif seen.level is None:
            yield f"no new level from {texts}; {seen.known:,} of them are in groups of earlier days"
        else:
            yield f"level {percent(seen.level.mean)} of {texts} in {counted(seen.level.n, 'new group')}"
    if cell.certified:
        yield f"left out: {counted(cell.certified, 'text')} that the certificate was made from"


def _unread(count: int) -> str:
    return f" ({count:,} without a readable score)" if count else ""


def print_watch(check: WatchCheck) -> None:
    """Print the answer, and what speaks for it in each cell."""
    last = f", last day {check.last_day}" if check.last_day else ""
    head = f"watch of {check.judge} on {check.data} since {check.since}: {counted(check.days, 'day')}{last}"
    print_lines([head, *_earlier(check.earlier, check.alpha)])
    for cell in check.cells:
        streams = (f"    {stream}: {stream_text(cell, stream)}" for stream in STREAMS)
        print_lines([f"  {english_name(cell.language)}, {cell.metric.replace('_', ' ')}: {cell.answer}", *streams])
    if check.expired:
        print_lines([f"The certificate does not hold any more: {check.expired}."])
    Console().print(Text(f"watch: {check.answer}", style=_STYLES.get(check.answer, "bold red")))


def stream_text(cell: CellState, stream: Stream) -> str:
    """One stream in words: its alarm or its e-value, and the levels then and now."""
    state: StreamState = getattr(cell, stream)
    if not state.days:
        return "no day yet"
    seen = f"alarm on {state.alarm}, {state.moved}" if state.alarm else f"no alarm, e {two_digits(state.e)} of {two_digits(state.limit)}"
    references = [reference for reference in cell.references if reference.stream == stream]
    level = "level" if cell.watched_class is None else f"share of '{cell.watched_class}'"
    names = {"agreement": "agreement", "level": level, "readable": "readable answers"}
    levels = [f"{names[before.quantity]} {percent(before.mean)} then, {_now(state, before.quantity)}" for before in references]
    return "; ".join((seen, *levels))


def _now(state: StreamState, quantity: Quantity) -> str:
    """Return the last day, and the mean of the last days, each with its number of values, as one day says little."""
    days = [day for day in state.days if quantity in day.means][-RECENT:]
    if not days:
        return "unknown now"
    last = f"{percent(days[-1].means[quantity])} on {days[-1].date}"
    mean = sum(day.means[quantity] * day.n for day in days) / sum(day.n for day in days)
    return f"{percent(mean)} in the mean of the last {len(days)} days, {last}" if len(days) > 1 else last


def watch_junit(check: WatchCheck) -> str:
    """JUnit XML: a test suite a language, a test case a metric and stream; alarms are failures, what is not yet known is skipped."""
    suites: dict[str, list[JunitCase]] = {}
    for cell in check.cells:
        suites.setdefault(cell.language, []).extend(_case(cell, stream) for stream in STREAMS)
    if check.expired:
        suites["certificate"] = [JunitCase("holds", "failure", check.expired, "expired")]
    return junit_xml("harness watch", suites)


def _case(cell: CellState, stream: Stream) -> JunitCase:
    state: StreamState = getattr(cell, stream)
    message = f"{cell.answer}; {stream_text(cell, stream)}"
    if state.alarm:
        return JunitCase(f"{cell.metric}: {stream}", "failure", message, stream)
    return JunitCase(f"{cell.metric}: {stream}", "pass" if state.days else "skipped", message)


MOST_CELLS = 20
_HEIGHT = 1.7  # inches of a cell
_LINES = (
    ("anchors", "agreement", "agreement on anchors", style.PEOPLE, "-"),
    ("anchors", "level", "level of anchors", style.PEOPLE, ":"),
    ("production", "level", "level of production scores", style.JUDGE, "-"),
)
_CAPTION = (
    "Left: each day's mean, with the level of the certified period as a thin line of the same kind. Right: evidence of a change, as the "
    "logarithm of the e-value; above the grey line it is an alarm. The thin vertical line is the first day of an alarm."
)


def draw_watch(check: WatchCheck, path: Path) -> None:
    """Draw every cell of a watch in a row of two panels.

    Raises:
        UsageError: without the extra `figures`, for another suffix than .svg, .pdf and .png, without a day, and for more than 20 cells.
    """
    if not any(cell.anchors.days or cell.production.days for cell in check.cells):
        raise UsageError("the log has no day yet, so there is nothing to draw; add one with 'harness watch add'")
    if len(check.cells) > MOST_CELLS:
        raise UsageError(f"a figure holds {MOST_CELLS} cells at most, and {len(check.cells)} are watched; --json has all numbers")
    style.write_figure(path, lambda options: _draw(check, options))


def _draw(check: WatchCheck, options: FigureOptions) -> Drawn:
    signature = f"{check.judge} on {check.data} since {check.since}"
    cells, left_out = style.fitting(check.cells, [_HEIGHT] * len(check.cells), 0.9, "cell")
    with style.drawing(signature) as new_figure:
        figure = new_figure(figsize=(options.width, len(cells) * _HEIGHT + 0.9), layout="constrained")
        grid: Any = figure.subplots(len(cells), 2, squeeze=False, sharex=True)
        for (levels, right), cell in zip(grid, cells, strict=True):
            _draw_levels(levels, cell, options)
            _draw_evidence(right, cell)
        figure.autofmt_xdate(rotation=30)
        return style.finish_with_legend(figure, grid[0][0], f"Watch: {check.answer}", _CAPTION + left_out, signature, options)


def _draw_levels(panel: Any, cell: CellState, options: FigureOptions) -> None:
    for stream, quantity, name, colour, line in _LINES:
        days = [(day.date, day.means[quantity]) for day in getattr(cell, stream).days if quantity in day.means]
        panel.plot([day for day, _ in days], [mean for _, mean in days], color=colour, linestyle=line, linewidth=1, label=name)
        for reference in cell.references:
            if (reference.stream, reference.quantity) == (stream, quantity):
                panel.axhline(reference.mean, color=colour, linestyle=line, linewidth=0.4)
    style.shares_along(panel, axis="y")
    style.remove_frame(panel)
    panel.set_title(
        terminal_safe(f"{options.shown_name('language', cell.language)}, {cell.metric.replace('_', ' ')}"), fontsize=style.SMALL, loc="left"
    )


def _draw_evidence(panel: Any, cell: CellState) -> None:
    for stream, colour in (("anchors", style.PEOPLE), ("production", style.JUDGE)):
        state: StreamState = getattr(cell, stream)
        panel.plot([day.date for day in state.days], [math.log10(max(day.e, 1e-3)) for day in state.days], color=colour, linewidth=1)
        if state.alarm:
            panel.axvline(state.alarm, color=colour, linewidth=0.5)
    panel.axhline(math.log10(cell.anchors.limit), color=style.FAINT, linewidth=1)
    panel.set_ylabel("log10 e", color=style.INK)
    panel.set_title(terminal_safe(cell.answer), fontsize=style.SMALL, loc="left")
    style.remove_frame(panel)
