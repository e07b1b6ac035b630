"""Runs and batches in the terminal, and what a run cost: calls, tokens, the price of people's labels."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from harness.content.tags import english_name
from harness.render.fitted_table import FittedTable, output_width
from harness.reports.tables.numbers import counted
from harness.reports.tables.text_table import Heading, TextTable
from harness.runs import RunCosts, age_note
from harness.text import terminal_safe


def cost_sentences(costs: RunCosts) -> Iterator[str]:
    """Yield the cost of all calls, the age of prices that were old on the day of the calls, and people's cost by language."""
    dollars = [judge.dollars for judge in costs.judges]
    if not dollars:
        yield "The cost is not on record."
    elif None in dollars:
        yield "At least one judge has no known price. Give your own prices with --prices FILE when you run it."
    elif not costs.priced_on:
        yield f"The calls cost nothing: {'these judges are' if len({judge.judge for judge in costs.judges}) > 1 else 'this judge is'} free."
    else:
        calls = counted(sum(judge.calls for judge in costs.judges), "call")
        total = sum(amount for amount in dollars if amount is not None)
        yield f"The calls cost {total:.4f} US dollars ({calls}), at prices of {', '.join(costs.priced_on)}."
        if note := age_note(costs.priced_on, date.fromisoformat(costs.asked_on)) if costs.asked_on else "":
            yield f"On that day {note}."
    yield from replaced_sentences(costs)
    for people in costs.people:
        priced = [judge for judge in costs.judges if judge.language == people.language and judge.per_thousand is not None]
        asked_calls = "; ".join(f"{judge.judge} {judge.per_thousand:,.2f}" for judge in priced)
        readings = f"median of {counted(people.readings, 'reading')}, {people.seconds / 3600:.1f} hours"
        time = f"{people.median_seconds:.0f} seconds a text ({readings})"
        yield (
            f"{english_name(people.language)}: {counted(people.annotators, 'annotator')} took {time}. "
            f"At {people.wage:g} US dollars an hour, 1,000 texts cost {people.per_thousand:,.2f} for one person's labels"
            + (f", and for the calls of {asked_calls}." if asked_calls else ".")
        )


def replaced_sentences(costs: RunCosts) -> Iterator[str]:
    """Yield how many replies a later one took the place of, and what they cost where that is known; nothing where there are none."""
    if replaced := sum(judge.replaced for judge in costs.judges):
        amounts = [judge.replaced_dollars for judge in costs.judges if judge.replaced]
        known = [amount for amount in amounts if amount is not None]
        price = f"; they cost {sum(known):.4f} US dollars more" if costs.priced_on and len(known) == len(amounts) else ""
        noun, verb, owner = ("reply", "does", "its call was") if replaced == 1 else ("replies", "do", "their calls were")
        yield f"{counted(replaced)} earlier {noun} {verb} not count, as {owner} asked again{price}."


def language_cost_lines(costs: RunCosts) -> Iterator[str]:
    """Yield a line for each judge and language: what a character of the texts takes, and 1,000 texts. One language needs no line."""
    several = len({judge.judge for judge in costs.judges}) > 1
    with_costs = [judge for judge in costs.judges if judge.tokens_per_character is not None or judge.dollars]
    for judge in with_costs if len({judge.language for judge in with_costs}) > 1 else ():
        parts = [
            f"{judge.tokens_per_character:.2f} tokens a character of the texts" if judge.tokens_per_character is not None else "",
            f"{judge.per_thousand:,.2f} US dollars for 1,000 texts" if judge.per_thousand else "",
        ]
        yield f"{english_name(judge.language)}{f', {judge.judge}' if several else ''}: {', '.join(filter(None, parts))}"


_HEADINGS = tuple(Heading(name, name, key=name == "run") for name in ("run", "date", "judges", "languages", "state"))
_UNFINISHED = "not finished"


def print_runs(records: Mapping[str, Mapping[str, Any] | None], console: Console | None = None) -> None:
    """Print a table on a terminal; elsewhere the names alone, one a line, for other programs."""
    console = console or Console()
    if not console.is_terminal:
        print("".join(f"{terminal_safe(name)}\n" for name in records), end="")
        return
    rows = tuple((terminal_safe(name), *map(terminal_safe, _row(record or {}))) for name, record in records.items())
    console.print(FittedTable(TextTable(_HEADINGS, rows)))


def _row(record: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Date, judges, languages and state of a run, from its run.json; a run without one did not come to its end."""
    sessions, protocol = record.get("sessions") or [{}], record.get("protocol") or {}
    started = sessions[0].get("started")
    date = _local_time(started) if isinstance(started, (int, float)) else ""
    asked_judges = (f"{identity.get('provider')}/{identity.get('model')}" for identity in protocol.get("identities") or ())
    judges = ", ".join((*asked_judges, *(protocol.get("panels") or ())))
    missing = sum((record.get("missing") or {}).values())
    state = _UNFINISHED if not record else f"{missing:,} calls without an answer" if missing else "complete"
    return date, judges, " ".join(map(str, protocol.get("languages") or ())), state


def _local_time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def print_batches(rows: Sequence[Mapping[str, Any]]) -> None:
    """One line for each batch, in the order of submission, below its run and judge."""
    console = Console(markup=False, highlight=False)
    console.width = output_width(console)
    for (run, judge), batches in groupby(rows, lambda row: (row["run"], row["judge"])):
        console.print(terminal_safe(f"{run} · {judge}"), style="bold")
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
        for row in batches:
            when = _local_time(row["submitted"])
            provider = row["provider"]
            if provider is None:  # the batch has ended
                state = f"{row['state']} ({row['note']})" if row["note"] else str(row["state"])
            else:
                failed = f", {provider['failed']} failed" if provider["failed"] else ""
                state = f"{provider['status']}, {provider['completed']} of {provider['total']} done{failed}"
            table.add_row(terminal_safe(row["batch"]), f"submitted {when}", f"{row['calls']} calls", terminal_safe(state))
        console.print(Padding(table, (0, 0, 0, 2)))
