"""The standings of a board: one table a language, of all judges on the same questions, with what the cards and the replies say of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from harness.analyse import POOLED, Placed, Ranking, of_rule, rank
from harness.answers import Spent
from harness.boards.scoring import Entry
from harness.content import Board
from harness.content.recorded import Judgments
from harness.model import parse_variant
from harness.prices import price_of
from harness.protocol import Prepared

SCHEMA_VERSION = 1
BASELINE = "baseline"


class Spending(msgspec.Struct, frozen=True):
    """What 1,000 judgments of one language took. US dollars are None where no price is known or no token was counted."""

    dollars: float | None
    seconds: float
    prices: str | None  # the date of the prices; `always` for what costs nothing


class Contender(msgspec.Struct, frozen=True):
    """One judge of a board: what its card says, and what it took, by language. `id` tells judges of one name apart."""

    id: str
    name: str
    title: str
    model: str
    baseline: bool
    status: str
    open_weights: str
    exposure: str
    exposure_note: str
    families: tuple[str, ...]
    answered_by: dict[str, int]
    spending: dict[str, Spending]

    @property
    def shown(self) -> str:
        """What tables call it."""
        return self.title or self.name


class Overall(msgspec.Struct, frozen=True):
    """One judge over the languages: `mean` and `worst` are None if it has no number in one of them, as blanks do not average."""

    judge: str
    variant: str
    by_language: dict[str, float | None]
    mean: float | None
    worst: float | None
    worst_language: str | None
    beats_baseline: int  # languages in which it is shown to beat the majority baseline
    tested: int  # languages in which that can be told


class Standings(msgspec.Struct, frozen=True):
    """Everything that a board's tables show. Equal entries give equal standings, whatever their order: no clock, no host, no path."""

    schema_version: int
    board: str
    title: str
    description: str
    rank_by: str
    statistics: tuple[str, ...]
    languages: tuple[str, ...]
    variants: tuple[str, ...]
    repeats: int
    constructed: bool
    unreviewed: tuple[str, ...]  # languages whose texts no native reader has read
    judges: tuple[Contender, ...]
    tables: tuple[Ranking, ...]
    overall: tuple[Overall, ...]

    def as_json(self) -> dict[str, Any]:
        """One object for programs, unrounded."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found

    def judge(self, name: str) -> Contender:
        """The judge with this id."""
        return next(judge for judge in self.judges if judge.id == name)

    def table(self, language: str, variant: str = "", metric: str = POOLED) -> Ranking | None:
        """One table; None for a language without numbers. Without a variant, that of the board's first."""
        wanted = (language, variant or self.variants[0], metric)
        return next((table for table in self.tables if (table.language, table.variant, table.metric) == wanted), None)


def standings(board: Board, prepared: Prepared, entries: Sequence[Entry]) -> Standings:
    """The standings of `entries` on a board.

    Args:
        board: its protocol.
        prepared: the whole board, as `whole_board` prepares it.
        entries: of its submissions, in any order.

    Raises:
        UsageError: where the board ranks by something that nobody can be ranked by.
    """
    protocol = prepared.protocol
    by_name = named(entries)
    judgments = {name: _ranked(entry.judgments) for name, entry in by_name.items()}
    variants = tuple(str(parse_variant(text)) for text in board.variants)
    tables = rank(
        prepared.data,
        prepared.training,
        judgments,
        of_rule(board.majority, board.annotators),
        metrics=protocol.metrics,
        variants=variants,
        languages=protocol.languages,
        repeats=protocol.repeats,
        statistics=board.statistics,
        rank_by=board.rank_by,
    )
    return Standings(
        schema_version=SCHEMA_VERSION,
        board=protocol.source,
        title=board.title,
        description=board.description,
        rank_by=board.rank_by,
        statistics=board.statistics,
        languages=protocol.languages,
        variants=variants,
        repeats=protocol.repeats,
        constructed=protocol.constructed,
        unreviewed=tuple(_unreviewed(prepared)),
        judges=tuple(_contender(name, entry, prepared) for name, entry in by_name.items()),
        tables=tables,
        overall=tuple(_overall(list(by_name), variants, protocol.languages, tables)),
    )


def named(entries: Sequence[Entry]) -> dict[str, Entry]:
    """Entries by names of their own, in an order that does not depend on where they came from."""
    found: dict[str, Entry] = {}
    for entry in sorted(entries, key=lambda entry: (entry.card.name, entry.card.title, entry.card.replies_sha256)):
        name, number = entry.card.name, 1
        while name in found:
            number += 1
            name = f"{entry.card.name}#{number}"
        found[name] = entry
    return found


def _ranked(judgments: Judgments) -> Judgments:
    """Without what ranks do not look at: a hundred judges' justifications are a lot."""
    kept = {column: judgments.columns[column] for column in Judgments.COLUMNS}
    return Judgments(**kept)


def _unreviewed(prepared: Prepared) -> list[str]:
    library, protocol = prepared.library, prepared.protocol
    return [tag for tag in protocol.languages if not protocol.data and tag in library.pack_files and not library.pack(tag).reviewed_by]


# ---- what cards and replies say


def _contender(name: str, entry: Entry, prepared: Prepared) -> Contender:
    card, answers = entry.card, entry.answers
    language = {item.item_id: item.language for item in prepared.data.items}
    of_item = [language.get(item, "") for item in entry.judgments.item.values]
    each = np.bincount(entry.judgments.item.codes, minlength=len(of_item)).tolist()
    judged: dict[str, int] = {}
    for tag, count in zip(of_item, each, strict=True):
        judged[tag] = judged.get(tag, 0) + count
    spent = answers.spent.get(card.name, {})
    return Contender(
        id=name,
        name=card.name,
        title=card.title,
        model=card.model,
        baseline=card.provider == BASELINE,
        status=card.status,
        open_weights=card.open_weights,
        exposure=card.exposure,
        exposure_note=card.exposure_note,
        families=card.families,
        answered_by=answers.answered_by.get(card.name, {}),
        spending={tag: _spending(entry, spent[tag], judged[tag]) for tag in sorted(spent) if judged.get(tag)},
    )


def _spending(entry: Entry, spent: Spent, judgments: int) -> Spending:
    price = price_of(entry.card.identity)
    counted = spent.usage.prompt_tokens + spent.usage.completion_tokens > 0
    dollars = None
    if price is not None and (counted or not (price.input or price.output)):
        dollars = price.of(spent.usage) - price.of(spent.batched) + price.in_batch().of(spent.batched)
    return Spending(
        dollars=None if dollars is None else round(1000 * dollars / judgments, 9),
        seconds=round(1000 * spent.seconds / judgments, 6),
        prices=price.as_of if price else None,
    )


# ---- over the languages


def _overall(judges: Sequence[str], variants: Sequence[str], languages: Sequence[str], tables: Sequence[Ranking]) -> list[Overall]:
    """Every judge over the languages, those with a mean first, by mean; blanks last."""
    rows: dict[tuple[str, str], Mapping[str, Placed]] = {
        (table.variant, table.language): {row.judge: row for row in table.rows} for table in tables if table.metric == POOLED
    }
    found = []
    for variant in variants:
        own = [_over(judge, variant, {tag: rows.get((variant, tag), {}).get(judge) for tag in languages}) for judge in judges]
        found += sorted(own, key=lambda each: (each.mean is None, -(each.mean or 0.0), each.judge))
    return found


def _over(judge: str, variant: str, placed: Mapping[str, Placed | None]) -> Overall:
    values = {tag: row.value if row else None for tag, row in placed.items()}
    known = {tag: value for tag, value in values.items() if value is not None}
    whole = bool(known) and len(known) == len(values)
    worst = min(known, key=lambda tag: (known[tag], tag)) if whole else None
    tested = [row.beats_baseline for row in placed.values() if row and row.beats_baseline is not None]
    return Overall(
        judge=judge,
        variant=variant,
        by_language=values,
        mean=sum(known.values()) / len(known) if whole else None,
        worst=known[worst] if worst else None,
        worst_language=worst,
        beats_baseline=sum(tested),
        tested=len(tested),
    )
