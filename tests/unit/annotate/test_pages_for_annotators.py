"""Pages are blind, need nothing from elsewhere, and say what is wrong before anything is written."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.annotate.labelling_options import PageOptions
from harness.annotate.page_content import _FOLDER, SCRIPTS, SERVED, data_of
from harness.annotate.page_results import read_record
from harness.annotate.pages_for_annotators import assign, make_pages, parts, reading_order
from harness.content import Library
from harness.data import Dataset, load_bundled
from harness.data.dataset import load_folder
from harness.data.labels import Labels
from harness.errors import ContentError, UsageError
from harness.html_pages import asset
from harness.model import BY_PEOPLE, Item, Label, Scale, Source
from tests.translation_folder import translation_items, write_translations

LIBRARY = Library()


@pytest.fixture(scope="module")
def japanese() -> Dataset:
    return load_bundled(LIBRARY, ["ja"])


def shown(path: Path) -> dict[str, Any]:
    data = data_of(path.read_text("utf-8"))
    assert data
    return data


def test_a_page_is_blind(japanese: Dataset, tmp_path: Path) -> None:
    pages = make_pages(japanese, "bundled", tmp_path / "p", LIBRARY, PageOptions(tasks=("summarize",), checks=2, annotators=("a", "b")))
    text = "".join(path.read_text("utf-8") for path in pages.files)
    words = {item.item_id for item in japanese.items} | {item.group for item in japanese.items}
    words |= {str(item.fields["construction"]) for item in japanese.items} - {"fluent", "offensive", "repetitive", "shuffled"}
    assert [word for word in words if word in text] == []
    one, other = map(shown, pages.files)
    assert set(one["items"][0]) == {"key", "task", "texts", "questions"}
    assert [item["texts"] for item in one["items"]] != [item["texts"] for item in other["items"]], "each has an order of their own"
    assert len(one["items"]) == len(other["items"]) == 36 + 2
    roles = [entry.role for entry in read_record(pages.record).pages[0].items]
    assert roles.count("check") == 2 and roles[len(one["practice"])] != "check"


def test_a_text_in_another_language_has_its_own(tmp_path: Path) -> None:
    """The source of a translation is in English, its output in Czech."""
    data = load_folder(write_translations(tmp_path, translation_items(texts=2)), LIBRARY)
    pages = make_pages(data, "d", tmp_path / "p", LIBRARY, PageOptions(fields=("source", "output"), annotators=1, practice=0))
    assert [item["languages"] for item in shown(pages.files[0])["items"]] == [{"source": "en"}] * 4


def test_an_instruction_names_the_languages_of_the_texts(tmp_path: Path) -> None:
    """In the language of the page; the page has one instruction for translations from several languages."""
    items = [item | {"task": "translate"} for item in translation_items(texts=2, source_language="de")]
    data = load_folder(write_translations(tmp_path, items), LIBRARY)
    pages = make_pages(data, "d", tmp_path / "p", LIBRARY, PageOptions(annotators=1, practice=0))
    about = shown(pages.files[0])["tasks"]["translate"]["about"]
    assert "(jazyk: němčina / angličtina)" in about and "(jazyk překladu: čeština)" in about and "{" not in about


def test_a_page_without_instructions_in_its_language_names_languages_in_english(tmp_path: Path) -> None:
    items = [item | {"task": "translate", "language": "pl"} for item in translation_items(texts=2)]
    data = load_folder(write_translations(tmp_path, items), LIBRARY)
    pages = make_pages(data, "d", tmp_path / "p", LIBRARY, PageOptions(annotators=1, practice=0))
    assert "a text in English and asked to translate it into Polish:" in shown(pages.files[0])["tasks"]["translate"]["about"]


def test_practice_shows_different_scores_and_why(japanese: Dataset, tmp_path: Path) -> None:
    pages = make_pages(japanese, "bundled", tmp_path / "p", LIBRARY, PageOptions(tasks=("summarize",), annotators=1, practice=2))
    data = shown(pages.files[0])
    assert len(data["practice"]) == 2
    for item in data["practice"]:
        assert set(item["expected"]) == set(item["questions"])
    scores = {(metric, score) for item in data["practice"] for metric, score in item["expected"].items()}
    assert len(scores) > max(len(item["expected"]) for item in data["practice"])
    assert all(one["points"] for one in data["questions"]["task_quality"]["classes"])


def test_questions_are_in_the_language_and_each_class_has_its_meaning(japanese: Dataset, tmp_path: Path) -> None:
    pages = make_pages(japanese, "bundled", tmp_path / "p", LIBRARY, PageOptions(tasks=("summarize",), annotators=1))
    question = shown(pages.files[0])["questions"]["task_quality"]
    assert question["title"] == "タスク達成度" and [one["value"] for one in question["classes"]] == [0, 1, 2]
    assert question["classes"][0]["hint"] == "いいえ、まったく果たしていません。" and "0：" not in question["text"]


def test_the_same_command_makes_the_same_pages(japanese: Dataset, tmp_path: Path) -> None:
    options = PageOptions(tasks=("summarize",), checks=1)
    one, other = (make_pages(japanese, "bundled", tmp_path / name, LIBRARY, options) for name in "ab")
    assert [path.read_bytes() for path in one.files] == [path.read_bytes() for path in other.files]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "language": ({"language": "ar"}, "there is no item in 'ar'"),
    "metric": ({"metrics": ("beauty",)}, "metric 'beauty' has no scale here"),
    "task": ({"tasks": ("sumarize",)}, "Did you mean 'summarize'"),
    "twice": ({"annotators": ("hana", "Hana")}, "two annotators are called 'hana'"),
    "path": ({"annotators": ("../x",)}, "'../x' cannot be the code of an annotator"),
    "nobody": ({"annotators": 0}, "there are no annotators"),
    "checks": ({"checks": 999}, "ask for fewer checks"),
}


@pytest.mark.parametrize(("options", "words"), WRONG.values(), ids=WRONG)
def test_a_wrong_wish_is_a_sentence_and_writes_nothing(japanese: Dataset, tmp_path: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        make_pages(japanese, "bundled", tmp_path / "p", LIBRARY, PageOptions(**options))
    assert not (tmp_path / "p").exists()


def test_a_scale_without_an_end_cannot_be_asked(make_data: Any, tmp_path: Path) -> None:
    data = make_data([Item("i", "en", "open_prompt", fields={"prompt": "p", "output": "o"})], {}, {"m": Scale(kind="interval", min=0)})
    with pytest.raises(UsageError, match="the scale of 'm' has no max"):
        make_pages(data, "x", tmp_path / "p", LIBRARY, PageOptions(metrics=("m",)))


def test_a_range_with_steps_takes_these_scores(make_data: Any, tmp_path: Path) -> None:
    item = Item("i", "en", "open_prompt", fields={"prompt": "p", "output": "o"})
    data = make_data([item], {}, {"m": Scale(kind="interval", min=0, max=1, best=1, steps=(0, 0.5, 1))})
    made = make_pages(data, "x", tmp_path / "p", LIBRARY, PageOptions(metrics=("m",), annotators=1))
    page = data_of(made.files[0].read_text("utf-8"))
    assert page is not None
    [question] = page["questions"].values()
    assert (question["kind"], question["min"], question["max"], question["step"]) == ("number", 0, 1, 0.5)


def test_pages_are_replaced_only_on_request_and_the_old_record_stays(japanese: Dataset, tmp_path: Path) -> None:
    options = {"tasks": ("summarize",), "annotators": 1}
    first = make_pages(japanese, "bundled", tmp_path / "p", LIBRARY, PageOptions(**options))
    [old] = read_record(first.record).pages
    with pytest.raises(UsageError, match="has pages already"):
        make_pages(japanese, "bundled", tmp_path / "p", LIBRARY, PageOptions(**options))
    make_pages(japanese, "bundled", tmp_path / "p", LIBRARY, PageOptions(**options, seed=1, replace=True))
    assert read_record(first.record).replaced == (old.page,)
    assert read_record(tmp_path / "p" / f"pages-{old.page}.json").pages == (old,)


def test_many_items_are_split_and_long_texts_named(make_data: Any, tmp_path: Path) -> None:
    texts = {"prompt": "p", "output": "o"}
    every = [Item(f"i{n}", "en", "open_prompt", group=str(n), fields=texts) for n in range(1200)]
    every.append(Item("long", "en", "open_prompt", group="long", fields={"prompt": "p", "output": "o" * 200_000}))
    pages = make_pages(make_data(every, {}), "x", tmp_path / "p", LIBRARY, PageOptions(annotators=1, metrics=("m",)))
    assert [path.name for path in pages.files] == [f"en-A1-part{n}of3.html" for n in (1, 2, 3)]
    assert any("split into parts" in note for note in pages.notes)
    assert any("item 'long' has a text of 200,000 letters" in note for note in pages.notes)


def test_a_list_of_items_is_read_with_how_they_were_drawn(japanese: Dataset, tmp_path: Path) -> None:
    wanted = [item.item_id for item in japanese.items if item.split == "test"][:2]
    path = tmp_path / "plan.jsonl"
    path.write_text("".join(json.dumps({"item_id": name, "inclusion_probability": 0.25, "stratum": "s"}) + "\n" for name in wanted))
    pages = make_pages(japanese, "bundled", tmp_path / "p", LIBRARY, PageOptions(items=path))
    drawn = read_record(pages.record).drawn
    assert set(drawn) == set(wanted) and drawn[wanted[0]].inclusion_probability == 0.25
    path.write_text(json.dumps({"item_id": "nobody"}) + "\n")
    with pytest.raises(ContentError, match=r"plan\.jsonl:1: there is no item 'nobody'"):
        make_pages(japanese, "bundled", tmp_path / "q", LIBRARY, PageOptions(items=path))


def test_the_overlap_multiplies_the_probability(make_data: Any, tmp_path: Path) -> None:
    texts = {"prompt": "p", "output": "o"}
    items = [Item(f"i{n}", "en", "open_prompt", group=str(n // 2), fields=texts) for n in range(20)]
    path = tmp_path / "plan.jsonl"
    path.write_text("".join(json.dumps({"item_id": f"i{n}", "inclusion_probability": 0.5 if n < 5 else 0.25}) + "\n" for n in range(20)))
    for overlap, factor in ((0.2, 0.2), (0.0, 0.0), (1.0, None)):
        options = PageOptions(items=path, annotators=2, metrics=("m",), overlap=overlap)
        drawn = read_record(make_pages(make_data(items, {}), "x", tmp_path / f"p{overlap}", LIBRARY, options).record).drawn
        assert [drawn[name].inclusion_probability for name in ("i0", "i9")] == [0.5, 0.25]
        expected = [None if factor is None else factor * share for share in (0.5, 0.25)]
        assert [drawn[name].overlap_probability for name in ("i0", "i9")] == expected


@pytest.mark.parametrize("source", sorted(BY_PEOPLE))
def test_the_next_items_are_those_of_the_list_that_nobody_has_labelled(source: Source, tmp_path: Path) -> None:
    texts = {"prompt": "p", "output": "o"}
    scale = Scale(kind="ordinal", classes=(0, 1), best=1)
    items = [Item(f"i{n}", "en", "open_prompt", group=str(n), fields=texts) for n in range(6)]
    labels = [Label("i4", "ann", "m", 1, source), Label("i1", "ann", "m", 0, source), Label("i0", "ann", "m", 0, "constructed")]
    data = Dataset("made", tuple(items), Labels.from_rows(labels), {"m": scale, "other": scale})
    path = tmp_path / "plan.txt"
    path.write_text("i5\ni4\ni0\ni3\n")

    def shown_items(name: str, **options: Any) -> list[str]:
        pages = make_pages(data, "x", tmp_path / name, LIBRARY, PageOptions(annotators=1, **options))
        return sorted(entry.item_id for page in read_record(pages.record).pages for entry in page.items)

    assert shown_items("two", items=path, next_items=2, metrics=("m",)) == ["i0", "i5"]
    assert shown_items("all", items=path, next_items=9, metrics=("m",)) == ["i0", "i3", "i5"]
    assert shown_items("of the data", next_items=3, metrics=("m",)) == ["i0", "i2", "i3"]
    assert shown_items("another metric", next_items=3, metrics=("other",)) == ["i0", "i1", "i2"]
    path.write_text("i4\n")
    with pytest.raises(UsageError, match=r"every item of .*plan\.txt has a person's label already"):
        shown_items("none", items=path, next_items=1, metrics=("m",))


def test_a_second_person_scores_what_one_has_scored_and_texts_of_different_groups_come_first(make_data: Any, tmp_path: Path) -> None:
    items = [Item(f"i{n}", "en", "open_prompt", group=str(n // 3), fields={"prompt": "p", "output": "o"}) for n in range(9)]
    scores = {(f"i{n}", "m"): [1] for n in range(8)} | {("i0", "m"): [1, 1]}
    data = make_data(items, scores, {"m": Scale(kind="ordinal", classes=(0, 1), best=1)})

    def shown_items(name: str, **options: Any) -> set[str]:
        pages = make_pages(data, "x", tmp_path / name, LIBRARY, PageOptions(annotators=1, metrics=("m",), second=True, **options))
        return {entry.item_id for page in read_record(pages.record).pages for entry in page.items}

    assert shown_items("three", next_items=3) == {"i1", "i3", "i6"}, "one of each group; i0 has two people, i8 nobody"
    assert shown_items("all") == {f"i{n}" for n in range(1, 8)}
    path = tmp_path / "plan.txt"
    path.write_text("i0\ni8\n")
    with pytest.raises(UsageError, match=r"--second: no item of .* has the labels of exactly one person"):
        shown_items("none", items=path)


@pytest.mark.parametrize("name", [*SCRIPTS, SERVED, "page.css"])
def test_no_asset_asks_for_anything_or_makes_markup(name: str) -> None:
    words = r"https?:|@import|url\(|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\("
    assert not re.search(words, asset(_FOLDER / "assets" / name))


def test_the_texts_stand_last_so_that_the_first_screen_does_not_wait_for_them(japanese: Dataset, tmp_path: Path) -> None:
    [path] = make_pages(japanese, "bundled", tmp_path / "p", LIBRARY, PageOptions(tasks=("summarize",), annotators=1)).files
    text, own = path.read_text("utf-8"), shown(path)["items"][0]["texts"]["output"]
    start = text.index('id="texts"')
    assert text.index(own) > start > text.rindex("<script>") and text.count(own) == 1


def test_another_page_has_no_data() -> None:
    assert data_of('<script type="application/json" id="page">{"items": []}</script>') is None
    assert data_of("<p>another page</p>") is None


ALTERED = [
    {
        "item_id": f"t{text}-{system}",
        "language": "en",
        "task": "rate_altered_text",
        "group": f"g{text}",
        "system": system,
        "original": f"The film number {text} was good.",
        "output": f"The {noun} number {text} was good.",
    }
    for text in range(4)
    for system, noun in (("one", "movie"), ("two", "film"))
]


def altered(folder: Path) -> Dataset:
    (folder / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in ALTERED), "utf-8")
    (folder / "labels.jsonl").write_text("", "utf-8")
    (folder / "data.toml").write_text('id = "altered"\n', "utf-8")
    return load_folder(folder, LIBRARY)


def test_texts_of_one_system_follow_each_other_where_it_is_wanted(tmp_path: Path) -> None:
    data = altered(tmp_path)

    def systems(folder: str, **options: Any) -> list[str]:
        pages = make_pages(data, "d", tmp_path / folder, LIBRARY, PageOptions(annotators=1, practice=0, **options))
        [page] = read_record(pages.record).pages
        return [str(data.by_id[entry.item_id].system) for entry in page.items]

    in_blocks = systems("p", blocks="system")
    assert in_blocks in (["one"] * 4 + ["two"] * 4, ["two"] * 4 + ["one"] * 4)
    assert systems("q") not in (["one"] * 4 + ["two"] * 4, ["two"] * 4 + ["one"] * 4)
    with pytest.raises(UsageError, match="--blocks colour: the items say nothing of 'colour'"):
        systems("r", blocks="colour")


def test_words_that_differ_from_the_original_are_marked(tmp_path: Path) -> None:
    pages = make_pages(altered(tmp_path), "d", tmp_path / "p", LIBRARY, PageOptions(annotators=1, practice=0, highlight_changes=True))
    items = shown(pages.files[0])["items"]
    assert {(item["texts"]["output"][4:9], str(item.get("changed"))) for item in items} == {
        ("movie", "{'output': [[4, 9]]}"),
        ("film ", "None"),
    }
    assert not any("--highlight-changes" in note for note in pages.notes)


def test_questions_after_the_last_text_come_from_the_task_or_a_file(tmp_path: Path) -> None:
    data = altered(tmp_path)
    own = tmp_path / "exit.toml"
    own.write_text(
        'task = "x"\nversion = "1.0.0"\nsource = "us"\n[[questions]]\nid = "age"\nkind = "scale"\nquestion = "How old?"\n'
        'min = 0\nmax = 9\nlow = "young"\nhigh = "old"\n',
        "utf-8",
    )

    def asked(folder: str, questions: Path | None) -> Any:
        options = PageOptions(annotators=1, practice=0, exit_questions=questions)
        return shown(make_pages(data, "d", tmp_path / folder, LIBRARY, options).files[0]).get("exit")

    difficulty, remarks = asked("p", None)
    assert difficulty["question"] == "How hard was it to decide, on the whole?" and difficulty["high"] == "very hard"
    assert remarks["kind"] == "text" and "max" not in remarks
    assert asked("q", own) == [{"id": "age", "kind": "scale", "question": "How old?", "low": "young", "high": "old", "min": 0, "max": 9}]
    assert asked("r", Path("none")) is None
    own.write_text(own.read_text("utf-8").replace('high = "old"\n', ""), "utf-8")
    with pytest.raises(ContentError, match="add 'low' and 'high'"):
        asked("s", own)


# Who reads what: groups stay whole, everybody reads the overlap, and versions of one text do not follow each other.


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
