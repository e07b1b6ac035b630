"""Traits: what the program has to know about a judge, and that nobody outside judges/ finds it out by comparing texts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness
from harness.judges import JudgeOptions, JudgeTraits, kinds, open_judge, traits_of
from harness.judges.identity import OPENAI_HOST, serving_host
from harness.judges.judge_protocol import Judge, rate_limit_status_of
from harness.judges.rate_limit_headers import RateLimitStatus
from harness.model import JudgeIdentity

ROOT = Path(harness.__file__).parent
KINDS = ("openai", "decisions", "systemone", "decider", "local", "replay", "baseline", "python", "panel")
PREFIXES = tuple(f"{kind}/" for kind in KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_name_and_identity_give_the_same_traits(kind: str) -> None:
    assert traits_of(f"{kind}/m") == traits_of(JudgeIdentity(kind, "m")) != JudgeTraits()


def test_every_kind_of_ours_has_traits() -> None:
    ours = {kind for kind, point in kinds().items() if point.value.startswith("harness.")}
    assert ours == set(KINDS)


def test_an_opened_judge_has_the_traits_of_its_kind() -> None:
    judge = open_judge("openai/m", JudgeOptions(base_url="http://127.0.0.1:1/v1"))
    assert traits_of(judge) == traits_of("openai/m")


class _Judge:
    identity = JudgeIdentity("acme", "m")


def test_a_judge_of_another_package_without_traits_is_given_everything_and_costs_money() -> None:
    traits = traits_of(_Judge())
    assert traits == JudgeTraits() and traits.needs_training and traits.needs_calls_to_start and not traits.is_free


def test_a_judge_of_another_package_may_state_its_traits() -> None:
    judge = _Judge()
    judge.traits = JudgeTraits(is_free=True)  # type: ignore[attr-defined]
    assert traits_of(judge).is_free and not traits_of("acme/m").is_free


@pytest.mark.parametrize("name", ["rate_limit_status", "allowance"])
def test_the_rate_limit_status_is_read_under_its_earlier_name_too(name: str) -> None:
    judge: Judge = _Judge()  # type: ignore[assignment]
    assert rate_limit_status_of(judge) is None
    setattr(judge, name, RateLimitStatus(requests=3))
    assert rate_limit_status_of(judge) == RateLimitStatus(requests=3)


def test_list_prices_hold_at_openai_alone() -> None:
    assert serving_host(JudgeIdentity("openai", "m")) == OPENAI_HOST
    assert serving_host(JudgeIdentity("openai", "m", {"endpoint": "127.0.0.1"})) == "127.0.0.1"
    assert serving_host(JudgeIdentity("acme", "m")) is None


def comparisons(tree: ast.Module) -> Iterator[int]:
    """Lines that compare a judge's provider, kind or name with a text."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            if any(map(_tells_the_kind, [node.left, *node.comparators])):
                yield node.lineno
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("startswith", "removeprefix"):
            texts = [one.value for argument in node.args for one in ast.walk(argument) if isinstance(one, ast.Constant)]
            if any(str(text).startswith(PREFIXES) for text in texts):
                yield node.lineno


def _tells_the_kind(operand: ast.expr) -> bool:
    """Whether it is a provider or a kind of judge. `local` alone is also an engine and the address of a Ray cluster."""
    if isinstance(operand, ast.Constant):
        return isinstance(operand.value, str) and (operand.value in set(KINDS) - {"local"} or operand.value.startswith(PREFIXES))
    return isinstance(operand, ast.Attribute) and operand.attr == "provider"


def test_the_search_finds_comparisons() -> None:
    lines = [
        'judge.startswith("baseline/")',
        'judge.startswith(("x", "openai/"))',
        "card.provider == BASELINE",
        "identity.provider in _FREE",
        'kind == "replay"',
    ]
    assert [list(comparisons(ast.parse(line))) for line in lines] == [[1]] * 5


def test_nobody_outside_judges_compares_a_judges_name_or_kind_with_a_text() -> None:
    sources = [path for path in ROOT.rglob("*.py") if path.relative_to(ROOT).parts[0] not in ("judges", "_content")]
    assert [f"{path.relative_to(ROOT)}:{line}" for path in sources for line in comparisons(ast.parse(path.read_text("utf-8")))] == []
