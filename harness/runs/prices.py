"""Prices of calls: dated list prices. Prices that the user gives take precedence."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from harness.errors import ContentError, refuse_pipe, unreadable
from harness.judges.identity import asked_model, is_at_openai, traits_of
from harness.model import JudgeIdentity, Usage


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """US dollars for a million tokens, as published on the date `as_of`.

    `cached` is the price of prompt tokens that the provider has in its cache; None: the same as for other prompt tokens. `batch` is the
    share of the price that the provider charges for batches.
    """

    input: float
    output: float
    as_of: str
    cached: float | None = None
    batch: float = 0.5

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


def price_of(identity: JudgeIdentity, price_file: Path | None = None) -> Price | None:
    """The price of a judge: nothing for a model on this machine, the list price for a model at OpenAI, None if no price is known.

    Args:
        identity: the judge.
        price_file: a TOML file with the user's own prices, by model (at OpenAI) or by judge (`openai/<model>`, at any endpoint).

    Raises:
        ContentError: if `price_file` cannot be read.
    """
    own_prices = _read_prices(price_file) if price_file else {}
    model = asked_model(identity)
    for name in (identity.name, f"{identity.provider}/{model}"):  # a judge with a label may have its own price
        if name in own_prices:
            return own_prices[name]
    if traits_of(identity).is_free:
        return Price(0, 0, "always")
    if is_at_openai(identity):
        return (prices() | own_prices).get(model)
    return None


def price_by_name(judge: str, price_file: Path | None = None) -> Price | None:
    """The price of a judge of whom only the name is known, such as one whose scores were recorded elsewhere: that of its model.

    `price_file` as for `price_of`; its entries may be names of judges without a provider.

    >>> price_by_name("openai/gpt-4o-mini-2024-07-18") == price_by_name("gpt-4o-mini-2024-07-18"), price_by_name("gpt-5")
    (True, None)
    """
    if traits_of(judge).is_free:
        return Price(0, 0, "always")
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
