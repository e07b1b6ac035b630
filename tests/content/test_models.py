"""Errors that models make, at two strengths: twins differ in one flaw alone, kinds are those of the plan, and length gives nothing away."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from functools import cache
from typing import Any

import pytest

from harness.content.library import Library, bundled_root
from harness.data.dataset import Dataset, load_bundled
from harness.model import Item
from harness.segmentation import is_word, sentences, words
from tests.content.test_content import NOT_IN, OWN_QUOTES, QUOTES, derive, unbalanced

LIBRARY = Library()
ROOT = bundled_root()
BOARD = LIBRARY.board("controls-models")
TAGS = list(BOARD.languages)
DENSE = ("Jpan", "Hans")
# Of a flawless text: words, or characters where words are not separated.
SHORT, LONG = (75, 160), (290, 510)
SHORT_DENSE, LONG_DENSE = (150, 320), (480, 1150)
LONGER_OR_SHORTER = 0.06
languages = pytest.mark.parametrize("tag", TAGS)


@cache
def data(tag: str) -> Dataset:
    return load_bundled(LIBRARY, [tag], BOARD)


def tier() -> dict[str, Any]:
    content: dict[str, Any] = derive().tier_of("models")
    return content


def output(item: Item) -> str:
    return str(item.fields["output"])


def flawless(tag: str) -> list[Item]:
    return [item for item in data(tag).items if item.fields["construction"] == "flawless"]


def twins(tag: str) -> list[tuple[Item, Item]]:
    """Each twin with its flawless text."""
    return [(item, data(tag).by_id[str(item.fields["twin"])]) for item in data(tag).items if "twin" in item.fields]


def named(item: Item) -> tuple[str, str]:
    """The kind and the strength of a twin's flaw."""
    kind, _, strength = str(item.fields["construction"]).rpartition("-")
    return kind, strength


def is_long(tag: str, item: Item) -> bool:
    return bool(derive().planned_kinds(tag, item.fields["genre"])[1])


@languages
def test_files_are_what_derive_makes(tag: str) -> None:
    for path, content in derive().paired_files(tag, "models"):
        assert path.read_bytes() == content, f"{path} is not what its texts give; run: python languages/derive.py {tag}"


@languages
def test_genres_have_the_kinds_of_the_plan_at_both_strengths(tag: str) -> None:
    assert sorted(str(item.fields["genre"]) for item in flawless(tag)) == sorted(tier()["genres"])
    found: dict[str, list[tuple[str, str]]] = {}
    for item, base in twins(tag):
        found.setdefault(str(base.fields["genre"]), []).append(named(item))
    strengths = tier()["strengths"]
    assert found == {
        genre: [(kind, strength) for kind in derive().planned_kinds(tag, genre)[0] for strength in strengths] for genre in tier()["genres"]
    }


@languages
def test_every_kind_comes_four_times(tag: str) -> None:
    seen = Counter(named(item)[0] for item, _ in twins(tag))
    assert seen == dict.fromkeys([*tier()["languages"][tag], *tier()["others"]["kinds"]], 4)


def test_the_plan_is_rotated() -> None:
    """No genre has one kind in more than half of the languages."""
    module = derive()
    for genre in tier()["genres"]:
        seen = Counter(kind for tag in module.TAGS for kind in module.planned_kinds(tag, genre)[0])
        assert max(seen.values()) <= len(module.TAGS) / 2, f"{genre}: {seen}"


@languages
def test_labels_are_those_of_the_kinds_and_good_elsewhere(tag: str) -> None:
    label = {(each.item_id, each.metric): each.score for each in data(tag).labels}
    for item, base in twins(tag):
        made = derive().constructions()[item.fields["construction"]]
        assert label[item.item_id, made["metric"]] == made["score"]
        for metric in data(tag).labelled_metrics[item.item_id] - {made["metric"]}:
            assert label[item.item_id, metric] == label[base.item_id, metric] == data(tag).scales[metric].best
    bad = sum(each.score != data(tag).scales[each.metric].best for each in data(tag).labels)
    assert 0.4 <= bad / len(data(tag).labels) <= 0.5


@languages
def test_twins_differ_in_one_place_and_length_gives_nothing_away(tag: str) -> None:
    for item, base in twins(tag):
        own, other, where = output(item), output(base), item.item_id
        assert own != other and item.fields["prompt"] == base.fields["prompt"], where
        assert abs(len(own) - len(other)) <= LONGER_OR_SHORTER * len(other), f"{where}: {len(own)} for {len(other)} characters"
        mine, theirs = ([word for word in words(text, tag) if is_word(word)] for text in (own, other))
        blocks = difflib.SequenceMatcher(None, mine, theirs, autojunk=False).get_matching_blocks()
        assert sum(block.size for block in blocks) >= 0.7 * len(theirs), where
        assert str(item.fields["note"]).endswith((".", ")")), f"{where}: the note is a sentence with the reason"


@languages
def test_long_texts_have_their_flaws_in_the_last_third(tag: str) -> None:
    for item, base in twins(tag):
        if is_long(tag, base):
            start = next(place for place, (own, other) in enumerate(zip(output(item), output(base), strict=False)) if own != other)
            assert start >= 0.62 * len(output(base)), f"{item.item_id}: at {start} of {len(output(base))}"


@languages
def test_lengths(tag: str) -> None:
    dense = LIBRARY.pack(tag).script in DENSE
    for item in flawless(tag):
        low, high = (LONG_DENSE if dense else LONG) if is_long(tag, item) else (SHORT_DENSE if dense else SHORT)
        length = len(output(item)) if dense else len(output(item).split())
        assert low <= length <= high, f"{item.item_id}: {length}"


@languages
def test_suspicious_forms_stand_in_their_texts(tag: str) -> None:
    found = [item for item in flawless(tag) if "suspicious" in item.fields]
    assert len(found) >= 3
    for item in found:
        assert item.fields["tempts"] == {"suspicious-form": "linguistic_acceptability"}
        for form in item.fields["suspicious"]:
            assert form.partition(":")[0] in output(item), f"{item.item_id}: {form}"


@languages
def test_texts_are_in_their_language_with_its_marks(tag: str) -> None:
    from py3langid import langid

    pattern, why = NOT_IN.get(tag, (r"  ", "two spaces"))
    for item in data(tag).items:
        for text in (str(item.fields["prompt"]), output(item)):
            assert not unbalanced(text), f"{item.item_id}: {unbalanced(text)} has no partner"
            assert not QUOTES & set(text) - set(OWN_QUOTES[tag]), item.item_id
        if item.fields["construction"] == "flawless":
            assert langid.classify(output(item))[0] == tag.partition("-")[0], item.item_id
            found = re.search(pattern, output(item)) or re.search(r"  | [,.]|\t", output(item))
            assert not found, f"{item.item_id}: {output(item)[max(0, found.start() - 20) : found.end() + 20]!r}; {why}"


@languages
def test_texts_share_no_sentence(tag: str) -> None:
    owners: dict[str, set[str]] = {}
    for item in flawless(tag):
        for sentence in sentences(output(item), tag):
            owners.setdefault(sentence.strip(), set()).add(item.group)
    assert {sentence: sorted(groups) for sentence, groups in owners.items() if sentence and len(groups) > 1} == {}
