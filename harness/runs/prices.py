"""Prices of calls, and what a run will cost: dated list prices. Prices that the user gives take precedence."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from functools import cache
from pathlib import Path

import msgspec

from harness.asking_options import Settings
from harness.errors import ContentError, refuse_pipe, unreadable
from harness.judges.identity import OPENAI_HOST, asked_model, serving_host, traits_of
from harness.model import JudgeIdentity, Usage
from harness.runs.plan import PlannedCalls

ALWAYS = "always"
"""The date of a price that never changes: of what runs on this machine."""


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """US dollars for a million tokens, as published on the date `as_of` (`2026-06-04`, or `2026-06`).

    `cached` is the price of prompt tokens that the provider has in its cache; None: the same as for other prompt tokens. `batch` is the
    share of the price that the provider charges for batches. `host` serves the model at this price, and `source` says where the price
    was read.
    """

    input: float
    output: float
    as_of: str
    cached: float | None = None
    batch: float = 0.5
    host: str = OPENAI_HOST
    source: str = ""

    def __post_init__(self) -> None:
        if self.as_of != ALWAYS:
            day_of_price(self.as_of)

    def cost(self, usage: Usage) -> float:
        """US dollars for these tokens; reasoning tokens are part of the completion tokens.

        >>> round(Price(input=2.5, output=10, as_of="2026-04", cached=1.25).cost(Usage(1000, 400, 100)), 6)
        0.003
        """
        cached = self.input if self.cached is None else self.cached
        from_cache = min(usage.cached_tokens, usage.prompt_tokens)
        fresh = usage.prompt_tokens - from_cache
        return (fresh * self.input + from_cache * cached + usage.completion_tokens * self.output) / 1e6

    def in_batch(self) -> Price:
        """The price of batches; cached tokens have no further discount there.

        >>> Price(input=2.5, output=10, as_of="2026-04", cached=1.25).in_batch().cost(Usage(1000, 400, 100))
        0.00175
        """
        return msgspec.structs.replace(self, input=self.input * self.batch, output=self.output * self.batch, cached=None)


def day_of_price(as_of: str) -> date:
    """Return the day of a price; that of a month is its first. Raises ValueError for a text that is neither.

    >>> day_of_price("2026-04"), day_of_price("2026-10-07")
    (datetime.date(2026, 4, 1), datetime.date(2026, 10, 7))
    """
    try:
        return date.fromisoformat(as_of if len(as_of) > len("2026-04") else f"{as_of}-01")
    except ValueError:
        raise ValueError(f"as_of = '{as_of}' should be a day such as 2026-10-07, or a month such as 2026-10") from None


OLD_DAYS = 90
"""Older prices are named as old: providers change theirs several times a year."""


def age_note(dates: Iterable[str], today: date) -> str:
    """Say how old the oldest of these prices is, if that is more than 90 days; else return an empty text.

    A month counts from its first day.

    >>> age_note(["2026-04", "always"], date(2026, 11, 29))
    'the oldest price is 242 days old: check it, and name your own with --prices FILE'
    >>> age_note(["2026-10-07"], date(2026, 11, 29))
    ''
    """
    days = max(((today - day_of_price(text)).days for text in dates if text != ALWAYS), default=0)
    return f"the oldest price is {days} days old: check it, and name your own with --prices FILE" if days > OLD_DAYS else ""


def price_of(identity: JudgeIdentity, price_file: Path | None = None) -> Price | None:
    """The price of a judge: nothing for a model on this machine, the list price at the provider that is asked, None if no price is known.

    Args:
        identity: the judge.
        price_file: a TOML file with the user's own prices, by model (at its `host`, by default OpenAI) or by judge (`openai/<model>`,
            at any endpoint).

    Raises:
        ContentError: if `price_file` cannot be read.
    """
    own_prices = _read_prices(price_file) if price_file else {}
    model = asked_model(identity)
    for name in (identity.name, f"{identity.provider}/{model}"):  # a judge with a label may have its own price
        if name in own_prices:
            return own_prices[name]
    if traits_of(identity).is_free:
        return Price(0, 0, ALWAYS)
    price = (prices() | own_prices).get(model)
    return price if price and price.host == serving_host(identity) else None


def price_by_name(judge: str, price_file: Path | None = None) -> Price | None:
    """The price of a judge of whom only the name is known, such as one whose scores were recorded elsewhere: that of its model.

    `price_file` as for `price_of`; its entries may be names of judges without a provider.

    >>> price_by_name("openai/gpt-4o-mini-2024-07-18") == price_by_name("gpt-4o-mini-2024-07-18"), price_by_name("gpt-5")
    (True, None)
    """
    if traits_of(judge).is_free:
        return Price(0, 0, ALWAYS)
    price_table = prices() | (_read_prices(price_file) if price_file else {})
    return price_table.get(judge) or price_table.get(judge.rpartition("/")[2])


@cache
def prices() -> dict[str, Price]:
    """Known prices by dated model name."""
    return _read_prices(Path(__file__).with_name("prices.toml"))


def _read_prices(path: Path) -> dict[str, Price]:
    try:
        refuse_pipe(path)
        return msgspec.toml.decode(path.read_bytes(), type=dict[str, Price])
    except OSError as err:
        raise unreadable(err, path) from None
    except msgspec.MsgspecError as err:
        raise ContentError(
            f'no price list ({err}); an entry is ["openai/<model>"] with input and output (US dollars for a million tokens) and as_of',
            path,
        ) from None


class CostEstimate(msgspec.Struct, frozen=True):
    """About what a set of calls will take. `cost` is in US dollars; None if no price is known."""

    calls: int
    prompt_tokens: int
    answer_tokens: int
    cost: float | None
    price: Price | None

    def times(self, factor: float) -> CostEstimate:
        """About what `factor` times as many such calls take."""
        calls, prompt, answer = (round(amount * factor) for amount in (self.calls, self.prompt_tokens, self.answer_tokens))
        return CostEstimate(calls, prompt, answer, None if self.cost is None else self.cost * factor, self.price)


def estimate_cost(calls: PlannedCalls, price: Price | None) -> CostEstimate:
    """Calls, tokens (estimated without a tokenizer) and money."""
    usage = calls.tokens
    return CostEstimate(len(calls), usage.prompt_tokens, usage.completion_tokens, price.cost(usage) if price else None, price)


def price_for_engine(identity: JudgeIdentity, settings: Settings) -> Price | None:
    """The price of the judge's calls with the chosen engine; None if no price is known."""
    price = price_of(identity, settings.prices)
    return price.in_batch() if price and settings.engine == "batch" else price


def added(first: CostEstimate | None, other: CostEstimate) -> CostEstimate:
    """Return the cost of two sets of calls of one judge together."""
    if first is None:
        return other
    cost = None if first.cost is None or other.cost is None else first.cost + other.cost
    tokens = (first.prompt_tokens + other.prompt_tokens, first.answer_tokens + other.answer_tokens)
    return CostEstimate(first.calls + other.calls, *tokens, cost, other.price)
