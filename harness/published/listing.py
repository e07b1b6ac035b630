"""Published label sets as rows for tables and notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from harness.content.library import Library
from harness.content.specs import DatasetCard
from harness.content.tags import resolve
from harness.data.named_folders import fetched_folder, megabytes, raw_bytes
from harness.published.folders import RECORD, read_record


def cards_in(library: Library, languages: Iterable[str] | None = None) -> Iterator[DatasetCard]:
    """Return the cards of a library by name: all, or those with labels in some languages. Raises UsageError for a language of none."""
    cards = [library.dataset_card(name) for name in library.dataset_card_files]
    if languages is None:
        return iter(cards)
    chosen = set(resolve([*languages], sorted({tag for card in cards for tag in card.languages}), "published data"))
    return (card for card in cards if chosen & {*card.languages})


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
        "forbids": list(card.forbids),
        "asks": list(card.asks),
        "citation": card.citation,
        "bytes": raw_bytes(card),
        "offensive": card.offensive,
        "tried": card.tried,
        "folder": str(folder) if folder else None,
        "state": location if card.tried else f"{location}, not tried",
    }
