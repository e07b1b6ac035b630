"""Who reads what: groups stay whole, everybody reads the overlap, and versions of one text do not follow each other."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.annotate.page import assign, parts, reading_order
from harness.model import Item


def items(groups: int, each: int) -> list[Item]:
    return [Item(f"{g}-{n}", "en", "t", group=f"g{g}") for g in range(groups) for n in range(each)]


@pytest.mark.parametrize(("overlap", "common"), [(1.0, 20), (0.2, 4), (0.0, 0), (0.01, 1)])
def test_everybody_reads_the_overlap_and_the_rest_is_divided(overlap: float, common: int) -> None:
    every = items(20, 3)
    shares = assign(every, ["a", "b", "c"], overlap, seed=1)
    readers = Counter(item.item_id for own in shares.values() for item in own)
    assert set(readers) == {item.item_id for item in every}
    assert Counter(readers.values()) == Counter({3: 3 * common, 1: 60 - 3 * common}) - Counter({3: 0, 1: 0})
    sizes = [len(own) for own in shares.values()]
    assert max(sizes) - min(sizes) <= 3


def test_groups_stay_whole() -> None:
    shares = assign(items(9, 4), ["a", "b"], 0.0, seed=3)
    assert not {item.group for item in shares["a"]} & {item.group for item in shares["b"]}


@given(st.lists(st.integers(0, 5), max_size=30), st.integers())
def test_versions_of_a_text_do_not_follow_each_other_where_that_is_possible(groups: list[int], seed: int) -> None:
    every = [Item(str(n), "en", "t", group=f"g{group}") for n, group in enumerate(groups)]
    ordered = reading_order(every, str(seed))
    assert Counter(item.item_id for item in ordered) == Counter(item.item_id for item in every)
    largest = max(Counter(groups).values(), default=0)
    if largest <= (len(groups) + 1) // 2:
        assert all(one.group != other.group for one, other in pairwise(ordered))


def test_the_order_follows_from_the_seed() -> None:
    every = items(10, 2)
    assert reading_order(every, "1 a") == reading_order(every, "1 a") != reading_order(every, "1 b")


def test_parts_are_of_equal_size() -> None:
    assert [len(part) for part in parts(items(5000, 1))] == [500] * 10
