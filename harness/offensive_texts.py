"""Texts that are extremely offensive: who may see them, and where they may be written.

The mark is `offensive` of a data set's card. It goes from the card of a published set into `data.toml`, and from there into all that is
made of the data. Whatever shows a text of an item, or words that may quote one, asks this module.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Protocol

from harness.errors import UsageError

WARNING = "These texts are extremely offensive; that is their purpose."
_NOT_QUOTED = "(not shown: the texts are extremely offensive)"
_QUOTED = re.compile(r"(?<!\w)'(.*?)'(?!\w)", re.DOTALL)
_ID = re.compile(r"[\w./:@|+-]*[\d_/:|][\w./:@|+-]*|[a-z]{2,3}(-[A-Za-z]+)?", re.ASCII)
_MARK = re.compile(r"(?<!\w)'|'(?!\w)")
_LONGEST_NAME = 60  # characters
HIDDEN = "(not shown: the texts are extremely offensive; --show-texts shows them)"


class Marked(Protocol):
    """A dataset card, as far as it matters here."""

    @property
    def id(self) -> str: ...

    @property
    def offensive(self) -> bool: ...


def hides_texts(cards: Iterable[Marked], show_texts: bool = False) -> bool:
    """Return True if texts stay hidden: some of the data are offensive, and nobody asked to see the texts."""
    return not show_texts and any(card.offensive for card in cards)


def shown(text: str, hidden: bool) -> str:
    """Return a text for the terminal or a notebook, or words in its place.

    >>> shown("a text", hidden=False)
    'a text'
    >>> shown("a text", hidden=True)
    '(not shown: the texts are extremely offensive; --show-texts shows them)'
    """
    return HIDDEN if hidden else text


def looks_like_text(value: str) -> bool:
    """Return True if a value of an item may be a text, and not the name of a class: it has several words, other than ASCII characters, or
    length.

    >>> [looks_like_text(value) for value in ("pt-BR", "two words", "\u3053\u308c\u306f\u6587\u3067\u3059")]
    [False, True, True]
    """
    return len(value.split()) > 1 or not value.isascii() or len(value) > _LONGEST_NAME


def without_quotations(message: str, public_words: Collection[str] = ()) -> str:
    """Return a message in which quoted words are hidden, except `public_words` and what looks like an id, a key or a language tag.

    Where the marks are not in pairs, a text has one of its own: then everything from the first hidden word on is hidden.

    >>> without_quotations("item 'q_1' has no 'output' but 'a rude word'", ["output"])
    "item 'q_1' has no 'output' but (not shown: the texts are extremely offensive)"
    >>> without_quotations("'the dogs' bone' is wrong")
    '(not shown: the texts are extremely offensive)'
    """

    def is_shown(quoted: str) -> bool:
        return quoted in public_words or _ID.fullmatch(quoted) is not None

    if len(_MARK.findall(message)) % 2:
        hidden = (match.start() for match in _QUOTED.finditer(message) if not is_shown(match[1]))
        return message[: next(hidden, message.rindex("'"))] + _NOT_QUOTED
    return _QUOTED.sub(lambda match: match[0] if is_shown(match[1]) else _NOT_QUOTED, message)


def in_repository(path: Path) -> Path | None:
    """Return the repository that a file or folder stands in, or would; None outside."""
    resolved = path.resolve()
    return next((folder for folder in (resolved, *resolved.parents) if (folder / ".git").exists()), None)


def refuse_in_repository(path: Path, card: Marked) -> None:
    """Raise UsageError where offensive texts would come into a repository, from which they are soon published."""
    if card.offensive and (repository := in_repository(path)):
        raise UsageError(
            f"the texts of '{card.id}' are extremely offensive and stay out of repositories, and {path} is in one ({repository}); "
            "choose a folder outside"
        )
