"""Finish reasons of providers, sorted: how a generation ended.

A finish reason is stored as the provider sent it (`length`, `MAX_TOKENS`, `SAFETY`, `content_filter: …`, `network_error`, …), and sorted
here whenever a reply is read.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Ending = Literal["normal", "filtered", "cut", "failed"]

# The first kind whose pattern is found counts: `ERROR_TOXIC` is a filter, `ERROR_LIMIT` a limit of length.
_PATTERNS: dict[Ending, re.Pattern[str]] = {
    "filtered": re.compile(
        r"safety|filter|prohibit|recitation|block|blacklist|deny_?list|sensitive|refus|guard_?rail|moderat|flagged|policy|toxic|spii|"
        r"inspection|model_armor|censor|harmful"
    ),
    "cut": re.compile(
        r"length|(?<!rate_)limit|truncat|incomplete|context_window|tokens?_exceeded|not_finished|max_?(tokens?|output|len|context|new_)"
    ),
    "failed": re.compile(
        r"error|fail|abort|cancel|network|resource|timed?_?out|rate_limit|quota|overload|unavailable|malformed|interrupt|disconnect|"
        r"^(un)?load$"
    ),
}
_LONGEST_REASON = 200  # characters


@lru_cache(maxsize=256)
def ending_of(finish_reason: str | None) -> Ending:
    """Return how a generation ended. A reason that is not known, or none, is a normal end.

    >>> [ending_of(reason) for reason in ("stop", "length", "MAX_TOKENS", "content_filter: PROHIBITED_CONTENT", "network_error", None)]
    ['normal', 'cut', 'cut', 'filtered', 'failed', 'normal']
    """
    words = re.sub(r"[\s.-]+", "_", (finish_reason or "").strip().lower()[:_LONGEST_REASON])
    return next((ending for ending, pattern in _PATTERNS.items() if pattern.search(words)), "normal")


def was_cut(finish_reason: str | None) -> bool:
    """Return True if the text ended at a limit of length."""
    return ending_of(finish_reason) == "cut"


def was_filtered(finish_reason: str | None) -> bool:
    """Return True if the provider's filter, or the model, withheld the answer."""
    return ending_of(finish_reason) == "filtered"
