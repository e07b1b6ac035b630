"""Texts that are extremely offensive: who may see them, and where they may be written.

The mark is `offensive` of a data set's card. It goes from the card of a published set into `data.toml`, and from there into all that is
made of the data. Whatever shows a text of an item, or words that may quote one, asks this module.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from harness.errors import UsageError

WARNING = "These texts are extremely offensive; that is their purpose."
HIDDEN = "(not shown: the texts are extremely offensive; --show-texts shows them)"


class Marked(Protocol):
    """A dataset card, as far as it matters here."""

    @property
    def id(self) -> str: ...

    @property
    def offensive(self) -> bool: ...


def hides_texts(cards: Iterable[Marked], show_texts: bool = False) -> bool:
    """Whether texts stay hidden: some of the data are offensive, and nobody asked to see the texts."""
    return not show_texts and any(card.offensive for card in cards)


def shown(text: str, hidden: bool) -> str:
    """A text for the terminal or a notebook, or words in its place.

    >>> shown("a text", hidden=False)
    'a text'
    >>> shown("a text", hidden=True)
    '(not shown: the texts are extremely offensive; --show-texts shows them)'
    """
    return HIDDEN if hidden else text


def in_repository(path: Path) -> Path | None:
    """The repository that a file or folder stands in, or would; None outside."""
    place = path.resolve()
    return next((folder for folder in (place, *place.parents) if (folder / ".git").exists()), None)


def refuse_in_repository(path: Path, card: Marked) -> None:
    """Raise UsageError where offensive texts would come into a repository, from which they are soon published."""
    if card.offensive and (repository := in_repository(path)):
        raise UsageError(
            f"the texts of '{card.id}' are extremely offensive and stay out of repositories, and {path} is in one ({repository}); "
            "choose a folder outside"
        )
