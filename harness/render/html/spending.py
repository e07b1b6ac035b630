"""What a run took, and what could not be read: tables of calls, tokens, money, seconds and failures, by judge and language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from harness.answers import Answers
from harness.model import Failure
from harness.render.html.templates import counted
from harness.render.terminal import percent


@dataclass(frozen=True)
class Head:
    """A heading: whether numbers or names of rows stand below it."""

    name: str
    number: bool = False
    key: bool = False


@dataclass(frozen=True)
class PlainTable:
    """Headings and rows of texts; `many` rows are folded away."""

    heads: tuple[Head, ...]
    rows: tuple[tuple[str, ...], ...]
    shared: str = ""
    nothing: str = ""
    many: bool = False


def table(keys: Sequence[str], numbers: Sequence[str], rows: Sequence[Sequence[str]]) -> PlainTable:
    """Rows whose first columns are `keys` and whose others are `numbers`."""
    heads = (*(Head(name, key=True) for name in keys), *(Head(name, number=True) for name in numbers))
    return PlainTable(heads, tuple(map(tuple, rows)))


def failures(answers: Answers, judged: Mapping[tuple[str, str], int]) -> PlainTable:
    """Failures by judge and language; `judged` counts the judgments of each, read or not."""
    kinds = [str(kind) for kind in Failure if any(str(kind) in spent.failures for by in answers.spent.values() for spent in by.values())]
    rows = []
    for judge, by in answers.spent.items():
        for language, spent in by.items():
            all_of = judged.get((judge, language), 0)
            failed = sum(spent.failures.values())
            share = percent(failed / all_of) if all_of else "–"
            rows.append(
                [judge, language, counted(all_of), counted(failed), share, *(counted(spent.failures.get(kind, 0)) for kind in kinds)]
            )
        if missing := answers.missing.get(judge):
            rows.append([judge, "calls without an answer", counted(missing), "", "", *("" for _ in kinds)])
    return table(("judge", "language"), ("judgments", "unreadable", "share", *(kind.replace("_", " ") for kind in kinds)), rows)


def cost(answers: Answers, record: Mapping[str, Any]) -> PlainTable:
    """Calls, tokens, seconds and dollars by judge and language; money from run.json, which knows the prices."""
    rows = []
    for judge, by in answers.spent.items():
        for language, spent in by.items():
            money = record.get("spent", {}).get(judge, {}).get(language, {}).get("cost")
            usage = spent.usage
            rows.append(
                [
                    judge,
                    language,
                    *map(counted, (spent.calls, usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens, usage.reasoning_tokens)),
                    f"{spent.seconds:.1f}",
                    f"{1000 * spent.seconds / spent.calls:.1f}" if spent.calls else "–",
                    "unknown" if money is None else f"{money:.4f}",
                ]
            )
    numbers = (
        "calls",
        "prompt tokens",
        "of them cached",
        "answer tokens",
        "of them reasoning",
        "seconds",
        "seconds per 1,000",
        "US dollars",
    )
    return table(("judge", "language"), numbers, rows)


def cost_words(record: Mapping[str, Any]) -> str:
    """The whole cost in a sentence, with the date of the prices."""
    prices = record.get("prices", {})
    known = [price["as_of"] for price in prices.values() if price]
    costs = [part.get("cost") for by in record.get("spent", {}).values() for part in by.values()]
    if not costs:
        return "What it cost is not on record."
    if None in costs:
        return "Of at least one judge no price is known; --prices FILE gives your own when it is run."
    dated = sorted({date for date in known if date != "always"})
    return f"In all {sum(costs):.4f} US dollars" + (
        f", at prices of {', '.join(dated)}." if dated else "; nobody asks money for these judges."
    )


def read_record(data: bytes) -> dict[str, Any]:
    """A run's run.json, or nothing where it cannot be read: it is derived."""
    try:
        found = msgspec.json.decode(data)
    except msgspec.DecodeError:
        return {}
    return found if isinstance(found, dict) else {}
