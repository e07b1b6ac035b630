"""The partner in another language: the parallel one first, then one of like length, whatever the order of the pool."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from harness.model import Item
from harness.perturb import Perturbation, Perturbed, apply

SWAP = Perturbation("swap-language")


def _item(
    item_id: str, language: str, output: str, *, task: str = "open_prompt", group: str = "", construction: str = "", **given: str
) -> Item:
    fields = {"prompt": f"in {language}", "output": output} | ({"construction": construction} if construction else {})
    return Item(item_id, language, task, group=group or item_id, fields=fields, **given)


@pytest.fixture
def swap() -> Callable[..., Perturbed]:
    def run(item: Item, pool: Sequence[Item], seed: int = 0) -> Perturbed:
        return apply(SWAP, item, pool, seed)

    return run


def test_the_parallel_text_is_taken_first(swap: Callable[..., Perturbed]) -> None:
    item = _item("cs-1", "cs", "Dům stojí.", parallel_id="p")
    pool = (item, _item("en-1", "en", "A house stands there, and more.", parallel_id="p"), _item("en-2", "en", "Dum stoji."))
    swapped = swap(item, pool)
    assert swapped.item.fields["output"] == "A house stands there, and more."
    assert swapped.realised == {"parallel": 1.0, "length": 31 / 12}


def test_a_group_across_languages_serves_as_well(swap: Callable[..., Perturbed]) -> None:
    item = _item("a", "ja", "家がある。", group="g")
    pool = (item, _item("b", "cs", "Dům.", group="g"), _item("c", "cs", "Je tu dům."))
    assert swap(item, pool).item.fields["output"] == "Dům."


def test_without_a_parallel_text_like_length_decides(swap: Callable[..., Perturbed]) -> None:
    item = _item("a", "ja", "家" * 20)
    near = [_item(f"n{number}", "cs", f"{number}" + "x" * 60) for number in range(8)]
    far = [_item(f"f{number}", "cs", f"{number}" + "y" * (500 + number)) for number in range(20)]
    chosen = {swap(item, (item, *far, *near), seed).item.fields["output"] for seed in range(60)}
    assert chosen == {one.fields["output"] for one in near}


def test_the_same_system_and_construction_are_preferred(swap: Callable[..., Perturbed]) -> None:
    item = _item("a", "ja", "家がある。", parallel_id="p", construction="fluent")
    pool = (
        item,
        _item("b", "cs", "Dum.", parallel_id="p", construction="small-errors"),
        _item("c", "cs", "Dům.", parallel_id="p", construction="fluent"),
    )
    assert {swap(item, pool, seed).item.fields["output"] for seed in range(10)} == {"Dům."}
    other = _item("a", "ja", "家がある。", system="one")
    systems = (_item("b", "cs", "Dům.", system="two"), _item("c", "cs", "Je tu dům, velký dům.", system="one"))
    assert {swap(other, systems, seed).item.fields["output"] for seed in range(10)} == {"Je tu dům, velký dům."}


@pytest.mark.parametrize(
    "pool",
    [
        (),
        (_item("b", "ja", "別の家。"),),
        (_item("b", "ja", "別の家。", parallel_id="p"),),
        (_item("b", "ja-Latn", "betsu no ie"),),
        (_item("b", "cs", "Dům.", task="summarize"),),
        (_item("b", "cs", "  "),),
        (_item("b", "cs", "家がある。", parallel_id="p"),),
    ],
    ids=["no pool", "same language", "parallel in the same language", "other script", "other task", "empty", "same text"],
)
def test_without_a_partner_the_text_is_left_alone(swap: Callable[..., Perturbed], pool: tuple[Item, ...]) -> None:
    item = _item("a", "ja", "家がある。", parallel_id="p")
    assert swap(item, (item, *pool)) == Perturbed(item, False, {})


def test_the_order_of_the_pool_does_not_matter_nor_its_type(swap: Callable[..., Perturbed]) -> None:
    item = _item("a", "ja", "家がある。")
    pool = tuple(_item(f"b{number}", language, f"text {number}") for number, language in enumerate(["cs", "en", "de", "fr"] * 5))
    for seed in range(10):
        assert swap(item, pool, seed) == swap(item, pool[::-1], seed) == swap(item, list(pool), seed)


def test_a_partner_that_says_the_same_is_none(swap: Callable[..., Perturbed]) -> None:
    item = _item("a", "ja", "GPT-4")
    pool = (_item("b", "cs", "GPT-4"), _item("c", "en", "GPT-5"))
    assert {swap(item, pool, seed).item.fields["output"] for seed in range(10)} == {"GPT-5"}


def test_a_list_may_change_between_two_calls(swap: Callable[..., Perturbed]) -> None:
    item = _item("a", "ja", "家がある。")
    pool = [item]
    assert not swap(item, pool).applied
    pool.append(_item("b", "cs", "Dům."))
    assert swap(item, pool).applied


def test_only_the_text_comes_from_the_partner(swap: Callable[..., Perturbed]) -> None:
    item = _item("a", "ja", "家がある。", system="s")
    swapped = swap(item, (_item("b", "cs", "Dům."),)).item
    assert (swapped.item_id, swapped.language, swapped.system, swapped.group) == ("a", "ja", "s", "a")
    assert swapped.fields == {"prompt": "in ja", "output": "Dům."}
