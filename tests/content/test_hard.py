"""Minimal pairs of the hard tier and of the parallel texts: twins differ in one flaw alone, the plan is rotated, labels are balanced."""

from __future__ import annotations

import difflib
import itertools
from collections import Counter
from functools import cache
from types import ModuleType
from typing import Any

import pytest

from harness.content.library import Library, bundled_root
from harness.data.dataset import Dataset, load_bundled
from harness.model import Item
from harness.segmentation import is_word, sentences, words
from tests.content.test_content import NOT_IN, OWN_QUOTES, QUOTES, derive, unbalanced

LIBRARY = Library()
ROOT = bundled_root()
BOARDS = {name: LIBRARY.board(f"controls-{name}") for name in ("hard", "parallel")}
BOARD = BOARDS["hard"]
TAGS = list(BOARD.languages)
PACKS = ("hard", "parallel")
both = pytest.mark.parametrize("pack", PACKS)
DENSE = ("Jpan", "Hans")
# Of a flawless text: words, or characters where words are not separated.
LENGTHS = {"open_prompt": (80, 150), "summarize": (60, 120)}
LONG_SCRIPT = {"open_prompt": (140, 320), "summarize": (110, 260)}
# A translation has the length that its language needs.
SHORTER_IN_TRANSLATION = {"hard": 1.0, "parallel": 0.8}
# Errors in every sentence change more of a text than one flaw does.
LEAST_SHARED = {"many-errors": 0.55}


@cache
def data(tag: str, pack: str = "hard") -> Dataset:
    return load_bundled(LIBRARY, [tag], BOARDS[pack])


def tier(module: ModuleType) -> dict[str, Any]:
    content: dict[str, Any] = module.tier_of("hard")
    return content


def flawless(tag: str, pack: str = "hard") -> list[Item]:
    return [item for item in data(tag, pack).items if item.fields["construction"] == "flawless"]


def twins(tag: str, pack: str = "hard") -> list[tuple[Item, Item]]:
    """Each twin with its flawless text."""
    by_id = data(tag, pack).by_id
    return [(item, by_id[str(item.fields["twin"])]) for item in data(tag, pack).items if "twin" in item.fields]


def scores(tag: str, pack: str = "hard") -> dict[tuple[str, str], float | str]:
    return {(label.item_id, label.metric): label.score for label in data(tag, pack).labels}


@both
@pytest.mark.parametrize("tag", TAGS)
def test_files_are_what_derive_makes(tag: str, pack: str) -> None:
    made = dict(derive().paired_files(tag, pack))
    folder = ROOT / "languages" / tag / "packs" / pack
    assert set(made) == {*folder.glob("items/*.jsonl"), *folder.glob("labels/*.jsonl")}
    for path, content in made.items():
        assert path.read_bytes() == content, f"{path} is not what its texts give; run: python languages/derive.py {tag}"


@both
def test_the_board_is_frozen_on_all_packs(pack: str) -> None:
    assert list(BOARDS[pack].languages) == TAGS == sorted(derive().TAGS)


@pytest.mark.parametrize("tag", TAGS)
def test_sixty_items_in_twelve_genres(tag: str) -> None:
    assert len(data(tag).items) >= 60
    assert sorted(str(item.fields["genre"]) for item in flawless(tag)) == sorted(tier(derive())["genres"])


@pytest.mark.parametrize("tag", TAGS)
def test_genres_have_the_flaws_of_the_plan(tag: str) -> None:
    found: dict[str, list[str]] = {}
    for item, base in twins(tag):
        found.setdefault(str(base.fields["genre"]), []).append(str(item.fields["construction"]))
    assert found == {genre: derive().planned_constructions(tag, genre) for genre in tier(derive())["genres"]}


def test_the_plan_is_rotated() -> None:
    """No genre has one construction in more than two thirds of the languages, and no two languages have the same plan."""
    module = derive()
    plans = {tag: [tuple(module.planned_constructions(tag, genre)) for genre in tier(module)["genres"]] for tag in module.TAGS}
    assert len({tuple(plan) for plan in plans.values()}) == len(plans)
    for place, genre in enumerate(tier(module)["genres"]):
        seen = Counter(name for plan in plans.values() for name in plan[place])
        assert max(seen.values()) <= 2 * len(plans) / 3, f"{genre}: {seen}"


@both
@pytest.mark.parametrize("tag", TAGS)
def test_no_two_pairs_share_a_text_and_a_metric(tag: str, pack: str) -> None:
    constructions = tier(derive())["constructions"]
    pairs = Counter((item.group, constructions[item.fields["construction"]]["metric"]) for item, _ in twins(tag, pack))
    assert [pair for pair, count in pairs.items() if count > 1] == []


@both
@pytest.mark.parametrize("tag", TAGS)
def test_labels_are_those_of_the_constructions(tag: str, pack: str) -> None:
    constructions, label = tier(derive())["constructions"], scores(tag, pack)
    for item, base in twins(tag, pack):
        made = constructions[item.fields["construction"]]
        assert data(tag, pack).labelled_metrics[item.item_id] == {made["metric"]}
        assert label[item.item_id, made["metric"]] == made["score"]
        assert label[base.item_id, made["metric"]] == data(tag, pack).scales[made["metric"]].best
    for item in flawless(tag, pack):
        for name, metric in item.fields.get("tempts", {}).items():
            assert metric == constructions[name]["metric"]
            assert label[item.item_id, metric] == constructions[name]["score"]


@pytest.mark.parametrize("tag", TAGS)
def test_labels_are_balanced(tag: str) -> None:
    """Nearly half of the labels of each metric are bad: no constant can look good."""
    bad: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for label in data(tag).labels:
        total[label.metric] += 1
        bad[label.metric] += label.score != data(tag).scales[label.metric].best
    for metric in BOARD.rubrics:
        assert 0.35 <= bad[metric] / total[metric] <= 0.55, f"{metric}: {bad[metric]} of {total[metric]}"


@both
@pytest.mark.parametrize("tag", TAGS)
def test_twins_differ_in_the_flaw_alone(tag: str, pack: str) -> None:
    """Inputs are the same, and so are nearly all words of the output; a misplaced sentence moves words and changes none."""
    for item, base in twins(tag, pack):
        name, where = str(item.fields["construction"]), item.item_id
        for field in ("prompt", "passage", "instruction"):
            assert item.fields.get(field) == base.fields.get(field), where
        own, other = ([word for word in words(str(each.fields["output"]), tag) if is_word(word)] for each in (item, base))
        assert own != other, f"{where}: the flaw is missing"
        if name == "misplaced-sentence":
            assert sorted(map(str.casefold, own)) == sorted(map(str.casefold, other)), where
        elif name == "jump":
            assert len(own) < len(other), where
        else:
            shared = sum(block.size for block in difflib.SequenceMatcher(None, own, other, autojunk=False).get_matching_blocks())
            assert shared / len(other) >= LEAST_SHARED.get(name, 0.75), f"{where}: {shared} of {len(other)} words are the same"


@pytest.mark.parametrize("tag", TAGS)
def test_one_error_has_a_kind_and_is_small(tag: str) -> None:
    for item, base in twins(tag):
        if item.fields["construction"] == "one-error":
            assert item.fields.get("kind"), item.item_id
            own, other = str(item.fields["output"]), str(base.fields["output"])
            changed = sum(tag_ != "equal" for tag_, *_ in difflib.SequenceMatcher(None, own, other, autojunk=False).get_opcodes())
            assert changed <= 3, f"{item.item_id}: changed in {changed} places"


@pytest.mark.parametrize("tag", TAGS)
def test_many_errors_are_ten_or_more(tag: str) -> None:
    """The rubric gives acceptability 0 to texts with several errors in nearly every sentence; fewer would be some clear errors, a 1."""
    for item, base in twins(tag):
        if item.fields["construction"] == "many-errors":
            own, other = ([word for word in words(str(each.fields["output"]), tag) if is_word(word)] for each in (item, base))
            places = [each for each in difflib.SequenceMatcher(None, own, other, autojunk=False).get_opcodes() if each[0] != "equal"]
            assert len(places) >= 10, f"{item.item_id}: wrong in {len(places)} places"


@pytest.mark.parametrize("tag", TAGS)
def test_many_errors_stand_in_nearly_every_sentence(tag: str) -> None:
    """Of the sentences with eight words or more, nearly all have changed in two words at least."""
    for item, base in twins(tag):
        if item.fields["construction"] == "many-errors":
            own, *parts = (
                [word for word in words(text, tag) if is_word(word)]
                for text in (str(item.fields["output"]), *sentences(str(base.fields["output"]), tag))
            )
            right = [word for part in parts for word in part]
            changes = difflib.SequenceMatcher(None, right, own, autojunk=False).get_opcodes()
            wrong = {place for what, start, end, *_ in changes if what != "equal" for place in range(start, max(end, start + 1))}
            ends = list(itertools.accumulate(map(len, parts)))
            poor = [
                " ".join(part)
                for part, end in zip(parts, ends, strict=True)
                if len(part) >= 8 and len(wrong & set(range(end - len(part), end))) < 2
            ]
            assert len(poor) <= 1, f"{item.item_id}: {poor}"


@pytest.mark.parametrize("tag", TAGS)
def test_every_temptation_comes_in_every_language(tag: str) -> None:
    found = {name for item in flawless(tag) for name in item.fields.get("tempts", ())}
    assert found == {"harsh-criticism", "dark-subject", "reported-rudeness", "dialect", "refrain"}


@both
@pytest.mark.parametrize("tag", TAGS)
def test_lengths(tag: str, pack: str) -> None:
    dense = LIBRARY.pack(tag).script in DENSE
    for item in flawless(tag, pack):
        text = str(item.fields["output"])
        low, high = (LONG_SCRIPT if dense else LENGTHS)[item.task]
        length = len(text) if dense else len(text.split())
        assert SHORTER_IN_TRANSLATION[pack] * low <= length <= high, f"{item.item_id}: {length}"


@both
@pytest.mark.parametrize("tag", TAGS)
def test_texts_are_in_their_language(tag: str, pack: str) -> None:
    from py3langid import langid

    for item in flawless(tag, pack):
        if "dialect" not in item.fields.get("tempts", ()):
            assert langid.classify(str(item.fields["output"]))[0] == tag.partition("-")[0], item.item_id


@both
@pytest.mark.parametrize("tag", TAGS)
def test_marks_are_the_languages_own(tag: str, pack: str) -> None:
    import re

    pattern, why = NOT_IN.get(tag, (r"  ", "two spaces"))
    for item in data(tag, pack).items:
        for field in ("prompt", "passage", "instruction", "output"):
            text, where = str(item.fields.get(field, "")), f"{item.item_id}, {field}"
            assert not unbalanced(text), f"{where}: {unbalanced(text)} has no partner"
            foreign = QUOTES & set(text) - set(OWN_QUOTES[tag])
            assert not foreign, f"{where}: {' '.join(sorted(foreign))}"
            found = re.search(pattern, text) or re.search(r"  | [,.]|\t", text)
            if item.fields["construction"] not in ("one-error", "many-errors"):
                assert not found, f"{where}: {text[max(0, found.start() - 20) : found.end() + 20]!r}; {why}"


@both
@pytest.mark.parametrize("tag", TAGS)
def test_texts_share_no_sentence(tag: str, pack: str) -> None:
    owners: dict[str, set[str]] = {}
    for item in flawless(tag, pack):
        for field in ("prompt", "passage", "output"):
            for sentence in sentences(str(item.fields.get(field, "")), tag):
                owners.setdefault(sentence.strip(), set()).add(item.group)
    assert {sentence: sorted(groups) for sentence, groups in owners.items() if sentence and len(groups) > 1} == {}


# ---- parallel texts


def outline(tag: str) -> list[tuple[str, ...]]:
    """What must be the same in every language."""
    return [
        (str(item.parallel_id), item.task, str(item.fields["genre"]), str(item.fields["construction"]))
        for item in data(tag, "parallel").items
    ]


def test_twelve_texts_in_twelve_genres() -> None:
    assert len(flawless("en", "parallel")) == len(twins("en", "parallel")) == 12
    assert len({item.fields["genre"] for item in flawless("en", "parallel")}) == 12


@pytest.mark.parametrize("tag", TAGS)
def test_every_language_has_the_same_texts_with_the_same_flaws(tag: str) -> None:
    assert outline(tag) == outline("en")
    assert len(set(outline(tag))) == len(outline(tag))
    of = {item.item_id: item.parallel_id for item in data(tag, "parallel").items}
    in_english = {item.item_id: item.parallel_id for item in data("en", "parallel").items}
    own = {(of[item], metric): score for (item, metric), score in scores(tag, "parallel").items()}
    assert own == {(in_english[item], metric): score for (item, metric), score in scores("en", "parallel").items()}


@pytest.mark.parametrize("tag", TAGS)
def test_translations_are_about_as_long_as_each_other(tag: str) -> None:
    """In sentences: no language leaves a part out."""
    english = {item.parallel_id: len(sentences(str(item.fields["output"]), "en")) for item in flawless("en", "parallel")}
    for item in flawless(tag, "parallel"):
        own = len(sentences(str(item.fields["output"]), tag))
        assert 0.5 <= own / english[item.parallel_id] <= 2, f"{item.item_id}: {own} sentences, in English {english[item.parallel_id]}"
