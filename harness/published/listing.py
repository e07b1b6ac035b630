"""Published label sets as rows for tables and notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from harness.content.library import Library
from harness.content.specs import DatasetCard, DataStatement
from harness.content.tags import resolve
from harness.data.folders import fetched_folder, megabytes, raw_bytes
from harness.published.fetch import RECORD, read_record


def cards_in(library: Library, languages: Iterable[str] | None = None) -> Iterator[DatasetCard]:
    """Return the cards of a library by name: all, or those with labels in some languages. Raises UsageError for a language of none."""
    cards = [library.dataset_card(name) for name in library.dataset_card_files]
    if languages is None:
        return iter(cards)
    chosen = set(resolve([*languages], sorted({tag for card in cards for tag in card.languages}), "published data"))
    return (card for card in cards if chosen & {*card.languages})


_WHO = {"native": "native speakers", "people": "people; whether they are native speakers is not stated"}


def statement_of(card: DatasetCard) -> list[tuple[str, str]]:
    """Return what a card states of its labels, as (what, words): who labelled, first languages, pay, dates, instructions.

    What the authors do not state is called that. Nothing for labels that no people gave, and for a card that states none of these.

    >>> statement_of(DatasetCard(id="mine", statement=DataStatement(pay="15 euros an hour"), annotators_a_text="3"))[:3]
    [('labelled by', 'native speakers; 3 a text'), ('first languages', 'that of the texts'), ('pay', '15 euros an hour')]
    >>> statement_of(DatasetCard(id="made", source="constructed"))
    []
    """
    stated, days = card.statement, [str(day) for day in (card.labelled_from, card.labelled_to) if day]
    if card.source not in _WHO or not (days or card.annotators_a_text or stated != DataStatement()):
        return []
    people = f"{_WHO[card.source]}; {card.annotators_a_text} a text" if card.annotators_a_text else _WHO[card.source]
    parts = {
        "labelled by": stated.labelled_by or people,
        "first languages": stated.first_languages or ("that of the texts" if card.source == "native" else ""),
        "pay": stated.pay,
        "when": stated.when or " to ".join(dict.fromkeys(days)),
        "instructions": stated.instructions,
    }
    return [(name, words or "not stated") for name, words in parts.items()]


def listed(card: DatasetCard) -> dict[str, Any]:
    """Return a card as a row: what is labelled, by whom, on which terms, how large the raw files are (bytes), and the folder if it is here.

    `state` is `here`, `here in part` where the origin lacked raw files, the size to fetch, or `by hand` where the card names no raw files.
    """
    folder = fetched_folder(card.id)
    if folder:  # a folder without a record was not fetched, and counts as whole
        in_part = (folder / RECORD).is_file() and read_record(folder).missing
        location = "here in part" if in_part else "here"
    else:
        location = megabytes(raw_bytes(card)) if card.sources else "by hand"
    return {
        "name": card.id,
        "version": card.version,
        "title": card.title,
        "languages": list(card.languages),
        "metrics": list(card.metrics),
        "source": card.source,
        "annotators": card.annotators,
        "annotators_a_text": card.annotators_a_text,
        "judges": list(card.judges),
        "rows": {name: table.rows for name, table in card.converted.items()},
        "licence": card.licence,
        "statement": dict(statement_of(card)),
        "forbids": list(card.forbids),
        "asks": list(card.asks),
        "citation": card.citation,
        "get": card.get,
        "bytes": raw_bytes(card),
        "offensive": card.offensive,
        "tried": card.tried,
        "folder": str(folder) if folder else None,
        "state": location if card.tried else f"{location}, not tried",
    }
