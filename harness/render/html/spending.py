"""Cost and failures of a run: tables by judge and language, and a bar of the kinds of failures for each condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from markupsafe import Markup

from harness.model import Failure
from harness.render.html.answer import DrawnTable, FigureColumn
from harness.render.html.marks import svg
from harness.render.html.shell import grouped_digits
from harness.render.pictured import ConditionFailures, FailureShares, kind_number, kind_words
from harness.reports.tables.numbers import UNDEFINED, counted, percent
from harness.reports.tables.text_table import Heading, TextTable
from harness.runs import RunAnswers


def _count_table(keys: Sequence[str], numbers: Sequence[str], rows: Sequence[Sequence[str]]) -> TextTable:
    """Rows whose first columns are keys and whose others are numbers."""
    headings = (*(Heading(name, name, key=True) for name in keys), *(Heading(name, name, number=True) for name in numbers))
    return TextTable(headings, tuple(map(tuple, rows)))


def failure_table(answers: RunAnswers, judged: Mapping[tuple[str, str], int]) -> TextTable:
    """Failures by judge and language; `judged` counts the judgments of each, whether or not they could be read."""
    kinds = [str(kind) for kind in Failure if any(str(kind) in spent.failures for by in answers.spent.values() for spent in by.values())]
    rows = []
    for judge, by in answers.spent.items():
        for language, spent in by.items():
            judgments = judged.get((judge, language), 0)
            failed = sum(spent.failures.values())
            share = percent(failed / judgments) if judgments else UNDEFINED
            counts = (grouped_digits(spent.failures.get(kind, 0)) for kind in kinds)
            rows.append([judge, language, grouped_digits(judgments), grouped_digits(failed), share, *counts])
        if missing := answers.missing.get(judge):
            rows.append([judge, "calls without an answer", grouped_digits(missing), "", "", *("" for _ in kinds)])
        if reasoning := answers.reasoning.get(judge):
            rows.append([judge, "replies with reasoning (not read)", grouped_digits(reasoning["replies"]), "", "", *("" for _ in kinds)])
    return _count_table(("judge", "language"), ("judgments", "unreadable", "share", *(kind.replace("_", " ") for kind in kinds)), rows)


def cost_table(answers: RunAnswers, record: Mapping[str, Any]) -> TextTable:
    """Calls, tokens, seconds and dollars by judge and language. The dollars come from run.json, which has the prices."""
    rows = []
    for judge, by in answers.spent.items():
        for language, spent in by.items():
            money = record.get("spent", {}).get(judge, {}).get(language, {}).get("cost")
            usage = spent.usage
            tokens = (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens, usage.reasoning_tokens)
            each = f"{1000 * spent.seconds / spent.calls:.1f}" if spent.calls else "–"
            dollars = "unknown" if money is None else f"{money:.4f}"
            rows.append([judge, language, *map(grouped_digits, (spent.calls, *tokens)), f"{spent.seconds:.1f}", each, dollars])
    counts = ("calls", "prompt tokens", "of them cached", "answer tokens", "of them reasoning")
    return _count_table(("judge", "language"), (*counts, "seconds", "seconds per 1,000", "US dollars"), rows)


def cost_sentence(record: Mapping[str, Any]) -> str:
    """The whole cost in a sentence, with the date of the prices."""
    prices = record.get("prices", {})
    known = [price["as_of"] for price in prices.values() if price]
    costs = [part.get("cost") for by in record.get("spent", {}).values() for part in by.values()]
    if not costs:
        return "The cost is not on record."
    if None in costs:
        return "At least one judge has no known price. Give your own prices with --prices FILE when you run it."
    dated = sorted({date for date in known if date != "always"})
    return f"In all {sum(costs):.4f} US dollars" + (f", at prices of {', '.join(dated)}." if dated else "; these judges are free.")


def read_record(data: bytes) -> dict[str, Any]:
    """A run's run.json, or nothing where it cannot be read: it is a derived file."""
    try:
        record = msgspec.json.decode(data)
    except msgspec.DecodeError:
        return {}
    return record if isinstance(record, dict) else {}


def date_asked(record: Mapping[str, Any]) -> str:
    """The day (UTC) when the run's first calls were asked, as 2026-11-22; empty where its run.json does not say.

    >>> date_asked({"sessions": [{"started": 1790000000.0}]}), date_asked({"sessions": [{"started": "x"}]}), date_asked({})
    ('2026-09-21', '', '')
    """
    try:
        return datetime.fromtimestamp(record["sessions"][0]["started"], UTC).date().isoformat()
    except (KeyError, IndexError, TypeError, ValueError, OverflowError, OSError):
        return ""


def failures_table(found: FailureShares) -> DrawnTable:
    """A row for each judge and condition, from the plainest on."""
    rows = []
    for one in found.conditions:
        counts = (counted(one.counts[kind]) for kind in found.kinds)
        rows.append((one.name, counted(one.judgments), percent(one.unreadable), *counts))
    table = _count_table(("judge and condition",), ("judgments", "unreadable", *map(kind_words, found.kinds)), rows)
    figures = tuple(_bar(one, found.reach) for one in found.conditions)
    drawn = FigureColumn("share of judgments, by kind", figures, ("0 %", "", percent(found.reach)))
    return DrawnTable(table, {"unreadable": drawn})


def failure_key(found: FailureShares) -> list[tuple[str, str]]:
    """The class of the style sheet and the words of each kind."""
    return [(f"f{kind_number(kind)}", kind_words(kind)) for kind in found.kinds]


def _bar(one: ConditionFailures, reach: float) -> Markup:
    """Shares beside each other on a line from 0 to `reach`; a kind has the same colour in every bar."""
    parts, start = [], 0.0
    for kind, share in one.shares.items():
        rect = '<rect class="f{}" x="{:.2f}%" width="{:.2f}%" y="15%" height="70%"/>'
        parts.append(Markup(rect).format(kind_number(kind), 100 * start / reach, 100 * share / reach))
        start += share
    title = "; ".join(f"{kind_words(kind)}: {percent(share)}" for kind, share in one.shares.items())
    return svg("bar failures", title, parts)
