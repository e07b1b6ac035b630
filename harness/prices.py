"""What calls cost: a dated table of prices, which a user's own goes before."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from harness.errors import ContentError
from harness.model import JudgeIdentity, Usage

_FREE = ("baseline", "replay", "local")


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """US dollars for a million tokens, as published on a date. `cached`: prompt tokens that the provider had cached; None: as others.

    `batch` is the part of the price that the provider's batch interface asks.
    """

    input: float
    output: float
    as_of: str
    cached: float | None = None
    batch: float = 0.5

    def of(self, usage: Usage) -> float:
        """US dollars for what was counted; reasoning tokens are part of the completion's.

        >>> round(Price(input=2.5, output=10, as_of="2026-04", cached=1.25).of(Usage(1000, 400, 100)), 6)
        0.003
        """
        cached = self.input if self.cached is None else self.cached
        fresh = usage.prompt_tokens - usage.cached_tokens
        return (fresh * self.input + usage.cached_tokens * cached + usage.completion_tokens * self.output) / 1e6

    def in_batch(self) -> Price:
        """What the batch interface asks; cached tokens have no further discount there.

        >>> Price(input=2.5, output=10, as_of="2026-04", cached=1.25).in_batch().of(Usage(1000, 400, 100))
        0.00175
        """
        return msgspec.structs.replace(self, input=self.input * self.batch, output=self.output * self.batch, cached=None)


def price_of(identity: JudgeIdentity, own: Path | None = None) -> Price | None:
    """The price of a judge: of a model on this machine nothing, of one at OpenAI what the table says; None where no price is known.

    `own` is a TOML file of the same form whose entries go before the table's: by model at OpenAI, by judge (`openai/<model>`) anywhere.
    Raises ContentError for a file that is none.
    """
    mine = _table(own) if own else {}
    if identity.name in mine:
        return mine[identity.name]
    if identity.provider in _FREE:
        return Price(0, 0, "always")
    if identity.provider == "openai" and "endpoint" not in identity.settings:
        return (prices() | mine).get(identity.model)
    return None


@cache
def prices() -> dict[str, Price]:
    """Known prices by dated model name."""
    return _table(Path(__file__).with_name("prices.toml"))


def _table(path: Path) -> dict[str, Price]:
    try:
        return msgspec.toml.decode(path.read_bytes(), type=dict[str, Price])
    except OSError as err:
        raise ContentError(f"cannot be read: {err.strerror or err}", path) from None
    except msgspec.MsgspecError as err:
        raise ContentError(
            f'no table of prices ({err}); an entry is ["openai/<model>"] with input and output in US dollars a million tokens, and as_of',
            path,
        ) from None
