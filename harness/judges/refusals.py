"""Sorts refusals of an endpoint by their subject: one item, a rate limit, the account, or the endpoint itself."""

from __future__ import annotations

import re
from typing import Literal

from harness.model import Reply

# A refusal can be about the item of a call only with one of these statuses, and only if the body says so.
_ABOUT_AN_ITEM = frozenset({400, 403, 413, 422, 451})
_TOO_LONG = (
    "context length", "context_length", "context size", "context window", "exceed_context", "maximum context", "too long",
    "too many tokens", "input token count", "maximum number of tokens", "maximum model length", "reduce the length",
)  # fmt: skip
_POLICY = (
    "content_filter", "content filter", "content management policy", "content policy", "content_policy", "requires moderation",
    "input was flagged", "data_inspection_failed", "responsible_ai", "responsible ai", "safety system", "inappropriate content",
)  # fmt: skip
_SPENT = ("billing", "credit", "payment", "out of funds")
_INTERVAL = re.compile(r"per[\s_-]?(second|minute|hour|day)|\b(rpm|tpm|rps|rph|rpd|tpd)\b|try again in|retry in", re.IGNORECASE)
_DAY = re.compile(r"per[\s_-]?day|\brpd\b|\btpd\b|daily", re.IGNORECASE)
_STORED = re.compile(r"(\d{3}): (.*)", re.DOTALL)


def reason_about_item(status: int, message: str) -> Literal["policy", "length"] | None:
    """Why the item was refused: the provider's content policy, or a text that is longer than the context.

    None: the refusal is about the endpoint, the account or the network. A web page (of a proxy or firewall) is never about an item.
    """
    if status not in _ABOUT_AN_ITEM or is_page(message):
        return None
    words = message.lower()
    if any(each in words for each in _POLICY):
        return "policy"
    return "length" if any(each in words for each in _TOO_LONG) else None


def is_page(text: str) -> bool:
    """Whether it is markup, which no chat endpoint sends."""
    return text.lstrip("\ufeff \t\r\n").startswith("<")


def kind_of_limit(message: str) -> Literal["rate", "day", "spent"]:
    """The limit that a 429 names: a rate, which is soon renewed, the limit of the day, or the account's money.

    >>> [kind_of_limit(text) for text in ("Quota exceeded: requests per minute", "Limit: 50 per day", "insufficient_quota")]
    ['rate', 'day', 'spent']
    """
    words = message.lower()
    if "insufficient_quota" in words:
        return "spent"
    if _DAY.search(words):
        return "day"
    if _INTERVAL.search(words):
        return "rate"
    return "spent" if any(each in words for each in _SPENT) else "rate"


def is_endpoint_refusal(reply: Reply) -> bool:
    """Whether a stored reply is a refusal by the endpoint, not about the item. Earlier versions stored such refusals as answers."""
    stored = _STORED.fullmatch(reply.error or "")
    return stored is not None and not reply.text and not reply.refusal and reason_about_item(int(stored[1]), stored[2]) is None
