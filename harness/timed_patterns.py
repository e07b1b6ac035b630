r"""Regular expressions of users, with a limit of time. Some patterns, such as `(?:\w+\s*)+: `, would never end on some texts.

The package `regex` reads Python's syntax and, unlike `re`, ends after a given time. Patterns that are not slow need
milliseconds, so that a busy machine changes nothing.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import regex

SECONDS = 1.0  # for one text
TOO_SLOW = rf"needs more than {SECONDS:g} s (write it without a repeat inside a repeat: (?:\w+\s*)+ is slow, [\w\s]+ is not) for"


class SlowPattern(Exception):
    """A pattern needed more than `SECONDS` for a text."""


class Pattern:
    """A regular expression. Its texts are searched for `SECONDS` at most; `tried` and `slow` count those that were, and were in vain.

    >>> [match[1] for match in Pattern(r"score: (\\d)").find_all("score: 1, score: 2")]
    ['1', '2']
    """

    def __init__(self, source: str) -> None:
        """Raises ValueError if `source` is no regular expression."""
        import regex  # late: most commands have no pattern

        self.source = source
        self.tried = 0
        self._slow_texts: set[bytes] = set()
        try:
            self._compiled: regex.Pattern[str] = regex.compile(source, cache_pattern=False)
        except (regex.error, RecursionError, OverflowError) as err:
            raise ValueError(f"not a regular expression: {err}") from None

    @property
    def groups(self) -> int:
        """Return how many groups it has."""
        return self._compiled.groups

    @property
    def names(self) -> frozenset[str]:
        """The names of its groups."""
        return frozenset(self._compiled.groupindex)

    @property
    def slow(self) -> int:
        return len(self._slow_texts)

    def find_all(self, text: str) -> list[regex.Match[str]]:
        """Return all matches in a text, in order. Raises SlowPattern, at once for a text that was too much before."""
        if self._slow_texts and _digest(text) in self._slow_texts:
            raise SlowPattern
        self.tried += 1
        try:
            return list(self._compiled.finditer(text, timeout=SECONDS))
        except TimeoutError:
            self._slow_texts.add(_digest(text))
            raise SlowPattern from None

    def full_match(self, text: str) -> regex.Match[str] | None:
        """Return the match of a whole text, if it matches. Raises SlowPattern."""
        try:
            return self._compiled.fullmatch(text, timeout=SECONDS)
        except TimeoutError:
            raise SlowPattern from None


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


@lru_cache(maxsize=64)
def pattern_of(source: str) -> Pattern:
    """Return the pattern of a source; the same one each time. Raises ValueError as `Pattern`."""
    return Pattern(source)
