"""Blind pairs: what a page shows of a minimal pair, what it hides, who reads which, and what cannot be asked."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from harness.annotate.blind_pairs import KeptPair, blind_pairs, blind_shares, kept_pairs, load_pack
from harness.annotate.labelling_options import PageOptions
from harness.annotate.page_content import data_of
from harness.annotate.page_results import read_record
from harness.annotate.pages_for_annotators import make_pages
from harness.content import Library
from harness.content.library import bundled_root
from harness.data import Dataset, load_bundled
from harness.errors import UsageError

LIBRARY = Library()
BLIND = PageOptions(language="cs", pack="models", blind_pairs=True, annotators=5)


@pytest.fixture(scope="module")
def models() -> Dataset:
    return load_pack(LIBRARY, "models")


def test_each_twin_stands_beside_its_flawless_text(models: Dataset) -> None:
    pairs = blind_pairs(models, LIBRARY)
    twins = [item for item in models.items if "twin" in item.fields]
    assert [pair.item_id for pair in pairs.items] == [item.item_id for item in twins] and not len(pairs.labels)
    for twin, pair in zip(twins, pairs.items, strict=True):
        base = models.by_id[twin.fields["twin"]]
        texts = {"A": pair.fields["output_a"], "B": pair.fields["output_b"]}
        assert texts.pop(pair.fields["better"]) == base.fields["output"] and list(texts.values()) == [twin.fields["output"]]
        assert pair.task == "compare_responses" and pair.fields["prompt"] == twin.fields["prompt"]
    for tag in {pair.language for pair in pairs.items}:
        sides = Counter(pair.fields["better"] for pair in pairs.items if pair.language == tag)
        assert set(sides) == {"A", "B"} and min(sides.values()) >= 14


def test_a_harmless_change_should_be_a_tie() -> None:
    pairs = blind_pairs(load_pack(LIBRARY, "hard"), LIBRARY)
    named = {pair.item_id: pair for pair in pairs.items}
    assert named["zh-hard-1-rounded-number"].fields["better"] == "tie"
    assert {pair.task for pair in pairs.items} == {"compare_responses", "compare_summaries"}
    assert {pair.fields["better"] for pair in pairs.items if pair.fields["construction"] == "many-errors"} == {"A", "B"}


def test_the_page_asks_one_question_and_hides_the_rest(models: Dataset, tmp_path: Path) -> None:
    pages = make_pages(models, "bundled", tmp_path, LIBRARY, BLIND)
    assert len(pages.files) == 5 and pages.items_each == {f"cs-A{n}": 48 for n in range(1, 6)}
    assert any("with --annotators 20 nobody meets it twice" in note for note in pages.notes)
    shown = data_of(pages.files[0].read_text("utf-8"))
    assert shown and shown["mark_errors"] and shown["practice"] == [] and list(shown["questions"]) == ["preference"]
    assert [one["value"] for one in shown["questions"]["preference"]["classes"]] == ["A", "B", "tie"]
    for item in shown["items"]:
        assert set(item) == {"key", "task", "texts", "questions"} and set(item["texts"]) == {"prompt", "output_a", "output_b"}
    whole = pages.files[0].read_text("utf-8")
    for hidden in ("twin", "flawless", "cs-models", "better", "calque", "construction"):
        assert hidden not in json.dumps(shown["items"]), hidden
    assert "cs-models" not in whole
    record = read_record(pages.record)
    assert (record.pack, record.blind_pairs) == ("models", True)


def test_with_twenty_readers_nobody_meets_a_text_twice(models: Dataset) -> None:
    items = [item for item in blind_pairs(models, LIBRARY).items if item.language == "ja"]
    shares = blind_shares(items, [f"r{n}" for n in range(20)])
    assert all(max(Counter(item.group for item in own).values()) == 1 for own in shares.values())
    assert set(Counter(item.item_id for own in shares.values() for item in own).values()) == {5}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metrics": ("preference",)}, "--metrics is for texts that are scored one by one"),
        ({"checks": 2}, "--checks is for"),
        ({"overlap": 0.5}, "--overlap is for"),
        ({"next_items": 3}, "--next is for"),
    ],
)
def test_what_cannot_be_asked_with_pairs(models: Dataset, tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    from dataclasses import replace

    with pytest.raises(UsageError, match=message):
        make_pages(models, "bundled", tmp_path, LIBRARY, replace(BLIND, **changes))


def test_data_without_twins_and_packs_that_are_none() -> None:
    with pytest.raises(UsageError, match="names its flawless text in the key 'twin'"):
        blind_pairs(load_bundled(LIBRARY, ["cs"]), LIBRARY)
    with pytest.raises(UsageError, match=r"no language has a pack 'modles'\. Did you mean 'models'"):
        load_pack(LIBRARY, "modles")


@pytest.mark.parametrize("pack", ["hard", "parallel"])
def test_the_lists_of_arguable_pairs_name_pairs(pack: str) -> None:
    """Readers are asked about these first: labels that a strict reading called arguable."""
    listed = (bundled_root() / "docs" / "reviews" / f"arguable-{pack}.txt").read_text("utf-8").split()
    assert len(listed) == len(set(listed)) == {"hard": 60, "parallel": 2}[pack]
    assert set(listed) <= blind_pairs(load_pack(LIBRARY, pack), LIBRARY).by_id.keys()


# Which pairs readers confirm: 4 of 5, ties, harmless changes, marks on and beside the flaw.


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
