"""Prices: which are known, whose go first, and what is said where none is."""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path

import pytest

from harness.errors import ContentError
from harness.judges.identity import OPENAI_HOST
from harness.model import JudgeIdentity, Usage
from harness.runs import Price, price_of
from harness.runs.prices import age_note, prices

ELSEWHERE = {"endpoint": "host"}


def test_a_known_model_at_its_own_endpoint_has_a_price() -> None:
    for name, price in prices().items():
        settings = {} if price.host == OPENAI_HOST else {"endpoint": price.host}
        assert price_of(JudgeIdentity("openai", name, settings)) == price
        assert price_of(JudgeIdentity("openai", name, ELSEWHERE)) is None


def test_of_a_model_that_nobody_listed_no_price_is_known() -> None:
    assert price_of(JudgeIdentity("openai", "unheard-of")) is None


@pytest.mark.parametrize("provider", ["baseline", "replay", "local"])
def test_what_runs_here_costs_nothing(provider: str) -> None:
    price = price_of(JudgeIdentity(provider, "x"))
    assert price is not None and price.cost(Usage(1000, 0, 1000)) == 0


def test_every_price_says_when_it_was_published_and_what_comes_from_a_cache_is_cheaper() -> None:
    assert prices()
    for price in prices().values():
        assert re.fullmatch(r"20\d\d-\d\d(-\d\d)?", price.as_of) and price.input > 0 and price.source
        assert price.cached is None or 0 < price.cached < price.input
        assert price.output == 0 or price.input <= price.output  # what a decision model answers is free


@pytest.mark.parametrize(("days", "old"), [(89, False), (90, False), (91, True)])
def test_prices_of_more_than_ninety_days_ago_are_called_old(days: int, old: bool) -> None:
    today = date(2026, 11, 29)
    assert bool(age_note([str(today - timedelta(days)), "always"], today)) is old


def test_cached_tokens_are_priced_for_themselves_and_reasoning_as_answers() -> None:
    price = Price(input=2, output=8, as_of="2026-01", cached=1)
    assert price.cost(Usage(prompt_tokens=1_000_000, cached_tokens=400_000)) == pytest.approx(0.6 * 2 + 0.4 * 1)
    assert price.cost(Usage(completion_tokens=1_000_000, reasoning_tokens=900_000)) == pytest.approx(8)
    assert Price(input=2, output=8, as_of="2026-01").cost(Usage(1_000_000, 400_000)) == pytest.approx(2)


def table(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def test_own_prices_go_before_the_known_ones(tmp_path: Path) -> None:
    known = next(iter(prices()))
    own = table(
        tmp_path / "own.toml",
        f'["{known}"]\ninput = 1\noutput = 3\nas_of = "2026-10"\n["openai/mine"]\ninput = 5\noutput = 7\nas_of = "2026-11"\n',
    )
    assert price_of(JudgeIdentity("openai", known), own) == Price(1, 3, "2026-10")
    assert price_of(JudgeIdentity("openai", "mine", ELSEWHERE), own) == Price(5, 7, "2026-11")
    assert price_of(JudgeIdentity("openai", known, ELSEWHERE), own) is None


@pytest.mark.parametrize("text", ["input = 1", '["m"]\ninput = 1', '["m"]\ninput = "cheap"\noutput = 1\nas_of = "2026"', "[[["])
def test_a_table_that_is_none_is_said_with_what_would_be_one(tmp_path: Path, text: str) -> None:
    with pytest.raises(ContentError, match=r"own\.toml: no price list .* an entry is \["):
        price_of(JudgeIdentity("openai", "m"), table(tmp_path / "own.toml", text))


@pytest.mark.parametrize("day", ["yesterday", "2026", "2026-13", ""])
def test_a_date_that_is_none_is_said_with_what_would_be_one(tmp_path: Path, day: str) -> None:
    own = table(tmp_path / "own.toml", f'["m"]\ninput = 1\noutput = 1\nas_of = "{day}"\n')
    with pytest.raises(ContentError, match=r"own\.toml: no price list .*should be a day such as 2026-10-07, or a month such as 2026-10"):
        price_of(JudgeIdentity("openai", "m"), own)


def test_a_table_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ContentError, match="cannot be read: No such file"):
        price_of(JudgeIdentity("openai", "m"), tmp_path / "none.toml")
