"""What a run cost, in sentences: by language, and beside what people's labels cost."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from harness.content.tags import english_name
from harness.reports.tables.numbers import counted
from harness.runs import PeopleCost, RunCosts, age_note


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
    for people in costs.people:
        yield _people_sentence(people, costs)


def _people_sentence(people: PeopleCost, costs: RunCosts) -> str:
    judges = [judge for judge in costs.judges if judge.language == people.language and judge.per_thousand is not None]
    calls = "; ".join(f"{judge.judge} {judge.per_thousand:,.2f}" for judge in judges)
    time = (
        f"{people.median_seconds:.0f} seconds a text (median of {counted(people.readings, 'reading')}, {people.seconds / 3600:.1f} hours)"
    )
    return (
        f"{english_name(people.language)}: {counted(people.annotators, 'annotator')} took {time}. "
        f"At {people.wage:g} US dollars an hour, 1,000 texts cost {people.per_thousand:,.2f} for one person's labels"
        + (f", and for the calls of {calls}." if calls else ".")
    )


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
