"""`harness run --dry-run`: the planned calls and their price."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from harness.asking_options import Settings
from harness.cli.output import columns, cut_to
from harness.content import Board, Library
from harness.content.specs import DatasetCard
from harness.content.tags import english_name
from harness.data.folders import how_to_get
from harness.engines import check_engine
from harness.errors import MissingData
from harness.model import Item, Message
from harness.offensive_texts import hides_texts, shown
from harness.row_files import to_json
from harness.runs import (
    CostEstimate,
    RunSpec,
    absent_cards,
    added,
    age_note,
    estimate_cost,
    estimate_tokens_per_character,
    open_judges,
    planned_calls,
    prepare,
    price_for_engine,
)
from harness.text import terminal_safe

_FIRST_LINES = 6  # of a message, where not all prompts are shown


class DryRun(msgspec.Struct, frozen=True):
    """The plan of a run: calls, tokens and cost judge by judge, and the messages of one prompt of each kind, by its name."""

    judges: list[dict[str, Any]]
    prompts: dict[str, Sequence[Message]]
    languages: list[dict[str, Any]]  # the same by language and judge, with the tokens that a character of the texts takes

    def as_json(self, spec: dict[str, Any]) -> str:
        """One object for programs; `spec` has the flags as a specification file holds them."""
        return to_json({"spec": spec, "judges": self.judges, "languages": self.languages, "prompts": self.prompts})

    def text(self, width: int, verbose: bool) -> str:
        """For the terminal: the beginning of one prompt, cut to `width` columns; whole prompts of all kinds where it is `verbose`."""
        lines = []
        for kind, messages in self.prompts.items() if verbose else list(self.prompts.items())[:1]:
            lines.append(terminal_safe(f"── {kind}"))
            ends = (messages[0], messages[-1]) if len(messages) > 1 and not verbose else messages  # further messages are examples
            for message in ends:
                content = terminal_safe(message.content)
                cut = [] if verbose else content.splitlines()
                lines += [f"[{message.role}]", *([content] if verbose else [cut_to(line, width) for line in cut[:_FIRST_LINES]])]
                lines += [f"… {len(cut) - _FIRST_LINES} more lines"] if len(cut) > _FIRST_LINES else []
        if not verbose:
            kinds = f"{len(self.prompts)} kind{'s' if len(self.prompts) > 1 else ''} of prompts"
            lines.append(f"── {kinds} in all; --verbose shows a whole prompt of each")
        by_language = language_lines(self.languages) if len({row["language"] for row in self.languages}) > 1 else []
        return "".join(f"{line}\n" for line in (*lines, *by_language, *map(spending, self.judges), *age_lines(self.judges)))


def plan_of(spec: RunSpec, settings: Settings, *, show_texts: bool = False) -> DryRun:
    """Return the plan of a run. Nothing is asked or stored. Raises what preparing a run raises."""
    prepared = prepare(spec)
    hidden = hides_texts([prepared.data.about], show_texts)
    judges = open_judges(spec, prepared)
    check_engine(settings, judges)
    rows, by_language = [], []
    prompts: dict[str, Sequence[Message]] = {}
    rates = tokens_per_character(prepared.data.items)
    for judge, calls in zip(judges, planned_calls(prepared, judges).values(), strict=True):
        price = price_for_engine(judge.identity, settings)
        rows.append({"judge": judge.identity.name, **msgspec.structs.asdict(estimate_cost(calls, price))})
        for tag, part in calls.by_language().items():
            estimate = msgspec.structs.asdict(estimate_cost(part, price))
            by_language.append({"language": tag, "judge": judge.identity.name, **estimate, "tokens_per_character": rates[tag]})
        for call in calls:
            query = call.query
            kind = f"{query.item.language} {query.item.task} {'+'.join(query.metrics)} {query.condition.variant}"
            prompts.setdefault(kind, [Message(message.role, shown(message.content, hidden)) for message in call.prompt.messages])
    return DryRun(rows, prompts, by_language)


def tokens_per_character(items: Iterable[Item]) -> dict[str, float | None]:
    """About how many tokens a character of the texts takes, by language."""
    by_language: dict[str, list[Item]] = {}
    for item in items:
        by_language.setdefault(item.language, []).append(item)
    return {tag: estimate_tokens_per_character(language_items) for tag, language_items in by_language.items()}


def language_lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """A line for each language and judge: calls, tokens, price, and what a character of the texts takes. Other scripts take more tokens."""
    several = len({row["judge"] for row in rows}) > 1
    lines = [[_name_row(row, "language", several), *_format_calls_and_cost(row), _format_rate(row)] for row in rows]
    return columns([[terminal_safe(cell) for cell in line] for line in lines])


def _format_rate(row: dict[str, Any]) -> str:
    rate = row.get("tokens_per_character")
    return "" if rate is None else f"about {rate:.2f} tokens a character of the texts"


def age_lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return a line on the age of the prices, where one of them is old."""
    note = age_note([row["price"].as_of for row in rows if row["price"]], datetime.now(UTC).date())
    return [note] if note else []


class CollectionDryRun(msgspec.Struct, frozen=True):
    """The plan of a collection: rows by board and judge, by language and judge, and by judge; and what is absent."""

    title: str
    boards: list[dict[str, Any]]
    languages: list[dict[str, Any]]
    judges: list[dict[str, Any]]
    absent: list[str]
    absent_calls: dict[str, int]  # by board: at most so many of each judge, counted from the cards of data that are not here

    def as_json(self, spec: dict[str, Any]) -> str:
        """One object for programs."""
        return to_json({"spec": spec, **msgspec.structs.asdict(self)})

    def text(self) -> str:
        """For the terminal: a line for each board and language, then each judge's calls and price."""
        several = len(self.judges) > 1
        lines = [[_name_row(row, "board", several), *_format_calls_and_cost(row), ""] for row in self.boards]
        lines += [[_name_row(row, "language", several), *_format_calls_and_cost(row), _format_rate(row)] for row in self.languages]
        table = columns([[terminal_safe(cell) for cell in line] for line in lines])
        calls = sum(self.absent_calls.values())
        further = f"in all at most {calls:,} further calls of each judge, whose tokens and price are known once the data are here"
        printed = (terminal_safe(self.title), *table, *map(spending, self.judges), *age_lines(self.judges), *self.absent)
        return "".join(f"{line}\n" for line in (*printed, *([further] if calls else [])))


def _name_row(row: dict[str, Any], key: str, several: bool) -> str:
    name = english_name(row[key]) if key == "language" else str(row[key])
    return f"{name}, {row['judge']}" if several else name


def _format_calls_and_cost(row: dict[str, Any]) -> tuple[str, str]:
    return f"{row['calls']:,} calls", "price unknown" if row["cost"] is None else f"${row['cost']:.2f}"


def plan_of_collection(
    title: str, specs: Sequence[RunSpec], library: Library, settings: Settings, left_out: Sequence[str] = ()
) -> CollectionDryRun:
    """Return the plan of the boards of a collection; nothing is fetched, asked or stored. Boards whose data are not here are named.

    `left_out` says which boards a judge cannot be asked on.

    Raises what preparing a run raises.
    """
    absent = absent_cards(specs, library)
    chosen = {str(spec.board): spec for spec in specs}
    calls_of_absent = {name: _count_calls_by_card(chosen[name], library.board(name), card) for name, card in absent.items()}
    absent_boards = [
        f"{name}: at most {calls_of_absent[name]:,} calls of each judge, by its card: its data are not here; {how_to_get(card)}"
        for name, card in absent.items()
    ]
    boards: list[dict[str, Any]] = []
    languages: dict[tuple[str, str], CostEstimate] = {}
    judges: dict[str, CostEstimate] = {}
    texts: list[Item] = []
    for spec in specs:
        if spec.board in absent:
            continue
        try:
            prepared = prepare(spec, library)
        except MissingData as err:
            absent_boards.append(f"{spec.board}: not counted: {err}")
            continue
        opened = open_judges(spec, prepared)
        check_engine(settings, opened)
        for judge, calls in zip(opened, planned_calls(prepared, opened).values(), strict=True):
            name, price = judge.identity.name, price_for_engine(judge.identity, settings)
            estimate = estimate_cost(calls, price)
            boards.append({"board": spec.board, "judge": name, **msgspec.structs.asdict(estimate)})
            judges[name] = added(judges.get(name), estimate)
            for tag, usage in calls.by_language().items():
                languages[tag, name] = added(languages.get((tag, name)), estimate_cost(usage, price))
        texts += prepared.data.items
    rates = tokens_per_character(texts)
    return CollectionDryRun(
        title,
        boards,
        [
            {"language": tag, "judge": name, **msgspec.structs.asdict(usage), "tokens_per_character": rates[tag]}
            for (tag, name), usage in sorted(languages.items())
        ],
        [{"judge": name, **msgspec.structs.asdict(usage)} for name, usage in judges.items()],
        [*absent_boards, *left_out],
        calls_of_absent,
    )


def _count_calls_by_card(spec: RunSpec, board: Board, card: DatasetCard) -> int:
    """Return the most calls that a judge can be asked on a board: the texts that it lists, else those of its card, times the questions."""
    languages = spec.languages or tuple(board.languages)
    listed = [board.items.get(tag, ()) for tag in languages] if board.items else []
    texts = sum(map(len, listed)) if listed else card.converted["items"].rows if "items" in card.converted else 0
    if spec.limit:
        texts = min(texts, spec.limit * len(languages) * len(board.tasks))
    return texts * len(spec.metrics or board.rubrics) * len(spec.variants or board.variants) * (spec.repeats or board.repeats)


def spending(row: dict[str, Any]) -> str:
    """One line on calls, tokens and cost: `row` has the fields of an estimate and the judge's name as `judge`."""
    cost = (
        "price unknown, --prices FILE can name one"
        if row["cost"] is None
        else f"${row['cost']:.2f}" + (f" (prices of {row['price'].as_of})" if row["cost"] else "")
    )
    tokens = f"about {row['prompt_tokens']:,} prompt and {row['answer_tokens']:,} answer tokens"
    return terminal_safe(f"{row['judge']}: {row['calls']:,} calls, {tokens}, {cost}")
