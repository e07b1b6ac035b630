"""Which pairs readers confirm: 4 of 5, ties, harmless changes, marks on and beside the flaw."""

from __future__ import annotations

from typing import Any

import pytest

from harness.annotate.blind_pairs import KeptPair, kept_pairs

ITEM = {"output_a": "Kočka spala na okně.", "output_b": "Kočka spal na okně.", "better": "A", "construction": "agreement-subtle"}


def kept(scores: str, spans: dict[int, list[dict[str, Any]]] | None = None, **changes: Any) -> KeptPair:
    """One pair: a letter for each reader's answer, `=` for a tie; marks by reader."""
    names = {"A": "A", "B": "B", "=": "tie"}
    rows = [
        {"item_id": "p", "metric": "preference", "score": names[one], "spans": (spans or {}).get(n, [])} for n, one in enumerate(scores)
    ]
    [found] = kept_pairs({"p": ITEM | changes, "q": ITEM}, rows)
    return found


@pytest.mark.parametrize(
    ("scores", "counts", "outcome"),
    [
        ("AAAAA", (5, 0, 0), True),
        ("AAAA=", (4, 1, 0), True),
        ("AAA=B", (3, 1, 1), False),
        ("AAAA", (4, 0, 0), None),
        ("AAAAAAABB", (7, 0, 2), False),
        ("AAAAAAAABB", (8, 0, 2), True),
    ],
)
def test_four_of_five_readers(scores: str, counts: tuple[int, int, int], outcome: bool | None) -> None:
    found = kept(scores)
    assert (found.agree, found.equal, found.other) == counts and found.readers == len(scores) and found.kept is outcome


def test_of_a_harmless_change_readers_should_say_that_both_are_as_good() -> None:
    found = kept("====A", better="tie")
    assert (found.agree, found.equal, found.other, found.found, found.kept) == (4, 4, 1, 0, True)


def test_marks_that_touch_the_flaw_are_counted() -> None:
    here, beside = {"field": "output_b", "start": 6, "end": 10}, {"field": "output_b", "start": 14, "end": 18}
    other_text = {"field": "output_a", "start": 6, "end": 11}
    found = kept("AAAAA", {0: [here], 1: [beside], 2: [other_text], 3: [beside, here]})
    assert found.found == 2 and found.kept


def test_other_metrics_and_other_items_do_not_count() -> None:
    rows = [{"item_id": "p", "metric": "longer", "score": "A"}, {"item_id": "x", "metric": "preference", "score": "A"}]
    assert kept_pairs({"p": ITEM, "x": {"output_a": "a", "output_b": "b"}}, rows) == []
