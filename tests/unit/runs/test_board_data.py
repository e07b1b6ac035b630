"""Data of a board that are not in the packs: found, checked by their hash, joined, renamed, restricted, or refused with what to do."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.authoring.check import check
from harness.content import Library
from harness.data import Dataset, load_folder
from harness.errors import ContentError, UsageError
from harness.model import Item, Scale
from harness.prompts import FewShotExamples
from harness.runs import Prepared, RunSpec, prepare
from harness.runs.board_data import DevelopmentPart, development_part, load_board
from tests.conftest import SHARED_DATA

BOARD = """\
id = "own"
version = "1.0.0"
title = "Own data"
description = "Answers in Danish and Norwegian."
languages = ["da", "nb"]
variants = ["single"]
temperature = 0
repeats = 1
majority = "drop"
annotators = "2+"
statistics = ["pa_failed_wrong"]
rank_by = "pa_failed_wrong"

[data]
card = "answers"
sha256 = "{sha256}"
tasks = {{ asked = "summarize_article" }}
where = {{ round = [1, 2] }}

[tasks]
summarize_article = "1.0.0"

[rubrics]
Coherence = "1.0.0"
"""
DATASET_CARD = """\
id = "answers"
version = "1.0.0"
title = "Answers"
licence = "none"
citation = "nobody"
get = "ask for it"
group = "doc"

[shared]
table = "articles"
key = "doc"
texts = ["source"]

[metrics.Coherence]
kind = "ordinal"
classes = [1, 2, 3, 4, 5]
best = 5
"""


class Own:
    """A content folder with a board and a dataset card, and the data elsewhere."""

    def __init__(self, root: Path) -> None:
        self.content, self.data = root / "content", root / "answers"
        self.board = self.content / "leaderboards" / "own" / "board.toml"
        self.card = self.content / "catalog" / "answers" / "dataset.toml"
        for path in (self.board, self.card):
            path.parent.mkdir(parents=True)
        self.card.write_text(DATASET_CARD, encoding="utf-8")
        self.board.with_name("CARD.md").write_text("# own\n", encoding="utf-8")
        self.data.mkdir()
        self.write("articles", [{"doc": f"d{n}", "source": f"Article {n}."} for n in range(3)])
        self.write(
            "items",
            [
                {"item_id": f"{tag}{n}", "language": tag, "task": "asked", "doc": f"d{n % 3}", "round": n % 4, "output": f"Text {n}."}
                for tag in ("da", "nb")
                for n in range(8)
            ],
        )
        self.write("labels", [row for tag in ("da", "nb") for n in range(8) for row in self.labels(f"{tag}{n}", 1 if n == 5 else 2)])
        self.freeze()

    @staticmethod
    def labels(item: str, raters: int) -> list[dict[str, Any]]:
        return [{"item_id": item, "annotator_id": f"a{k}", "metric": "Coherence", "score": 1 + k} for k in range(raters)]

    def write(self, table: str, rows: list[dict[str, Any]]) -> None:
        (self.data / f"{table}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def sha256(self) -> str:
        return load_folder(self.data, Library(self.content), card="answers").sha256

    def freeze(self) -> None:
        self.board.write_text(BOARD.format(sha256="0" * 64), encoding="utf-8")
        self.board.write_text(BOARD.format(sha256=self.sha256()), encoding="utf-8")

    def prepared(self, **more: Any) -> Prepared:
        return prepare(RunSpec(board="own", content=(self.content,), **({"data": self.data} | more)))


@pytest.fixture
def own(tmp_path: Path) -> Own:
    return Own(tmp_path)


def test_a_board_judges_the_items_it_wants_that_have_annotators_enough(own: Own) -> None:
    data = own.prepared().data
    assert sorted(item.item_id for item in data.items) == ["da1", "da2", "da6", "nb1", "nb2", "nb6"], "of rounds 1 and 2, without n = 5"
    assert {item.task for item in data.items} == {"summarize_article"}


def test_texts_that_items_share_are_joined_to_them(own: Own) -> None:
    assert {item.item_id: item.fields["source"] for item in own.prepared().data.items}["da2"] == "Article 2."


def test_only_the_languages_that_are_wanted_are_judged(own: Own) -> None:
    assert {item.language for item in own.prepared(languages=("nb",)).data.items} == {"nb"}
    with pytest.raises(UsageError, match="sv"):
        own.prepared(languages=("sv",))


def test_published_data_are_nobodys_own_texts(own: Own) -> None:
    assert own.prepared().data.private is False
    assert load_folder(own.data, Library(own.content), card="answers").private is True


def test_the_protocol_knows_where_the_data_lie_so_that_the_run_can_be_read_again(own: Own) -> None:
    protocol = own.prepared().protocol
    assert (protocol.texts.board, protocol.texts.data, protocol.texts.constructed) == ("own", str(own.data.resolve()), False)


@pytest.mark.parametrize("place", ["answers", "data/answers"])
def test_data_beside_are_found_without_a_flag(own: Own, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    (home / place).parent.mkdir(parents=True)
    (home / place).symlink_to(own.data)
    monkeypatch.chdir(home)
    assert len(own.prepared(data=None).data.items) == 6


def test_without_its_data_a_board_says_how_to_get_them(own: Own, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    with pytest.raises(UsageError, match=rf"--data DIR.*{own.sha256()}\)\n.*ask for it"):
        own.prepared(data=None)


@pytest.mark.parametrize("table", ["items", "labels", "articles"])
def test_other_data_are_refused_with_both_hashes(own: Own, table: str) -> None:
    before, path = own.sha256(), own.data / f"{table}.jsonl"
    path.write_text(path.read_text("utf-8").replace("Text 1.", "Text one.").replace('"score": 2', '"score": 3').replace("Article 2", "A"))
    after = own.sha256()
    assert before != after
    with pytest.raises(ContentError, match=f"should be {before}, but is {after}; to get them: ask for it"):
        own.prepared()


def test_a_hash_of_the_listed_items_alone_holds_while_the_rest_of_the_data_grows(own: Own) -> None:
    listed = 'hashed = "listed"\n\n[items]\nda = ["da1"]\nnb = ["nb1", "nb2"]\n\n[tasks]'
    part = load_folder(own.data, Library(own.content), card="answers")
    sha256 = part.only(part.by_id[name] for name in ("da1", "nb1", "nb2")).sha256
    own.board.write_text(BOARD.format(sha256=sha256).replace("[tasks]", listed, 1), encoding="utf-8")
    before = own.prepared()
    assert sorted(item.item_id for item in before.training.items) == ["da1", "nb1", "nb2"], "the rest is not read for examples either"
    more = {"item_id": "da9", "language": "da", "task": "asked", "doc": "d1", "round": 1, "output": "Text 9."}
    for name, rows in (("items", [more]), ("labels", own.labels("da9", 2))):
        with open(own.data / f"{name}.jsonl", "a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    after = own.prepared()
    assert (after.protocol, after.training.sha256) == (before.protocol, before.training.sha256)
    labels = own.data / "labels.jsonl"
    labels.write_text(
        labels.read_text("utf-8").replace(
            '"nb2", "annotator_id": "a0", "metric": "Coherence", "score": 1',
            '"nb2", "annotator_id": "a0", "metric": "Coherence", "score": 5',
        )
    )
    with pytest.raises(ContentError, match="are not the data of the board"):
        own.prepared()


def test_a_hash_of_listed_items_needs_a_list(own: Own) -> None:
    own.board.write_text(BOARD.format(sha256="0" * 64).replace("[tasks]", 'hashed = "listed"\n\n[tasks]', 1), encoding="utf-8")
    (problem,) = [each for each in check(Library(own.content)) if "no list" in each.message]
    assert problem.path == own.board and problem.line and "write [items]" in problem.message


def test_a_rubric_that_the_board_does_not_use_does_not_change_the_hash(own: Own) -> None:
    before = own.sha256()
    rubric = own.content / "rubrics" / "brevity.toml"
    rubric.parent.mkdir()
    text = (Library().rubric_files["Coherence"]).read_text("utf-8").replace('id = "Coherence"', 'id = "brevity"')
    rubric.write_text(text, encoding="utf-8")
    assert own.sha256() == before


def test_a_scale_that_is_not_the_rubrics_is_refused(own: Own) -> None:
    own.card.write_text(DATASET_CARD.replace("best = 5", "best = 1"), encoding="utf-8")
    own.freeze()
    with pytest.raises(ContentError, match=r"the scale of 'Coherence' is .* best 5 in its rubric.*best 1"):
        own.prepared()


def test_a_judged_item_without_a_text_is_refused(own: Own) -> None:
    (own.data / "articles.jsonl").unlink()
    own.freeze()
    with pytest.raises(ContentError, match="has no 'source', which task 'summarize_article' needs"):
        own.prepared()


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"doc": "d0", "source": "x"}, {"doc": "d0", "source": "y"}], r"articles.jsonl:2: 'd0' occurs a second time"),
        ([{"doc": "d0", "source": " "}], r"articles.jsonl:1: no text 'source'"),
        ([{"source": "x"}], r"articles.jsonl:1: no text 'doc'"),
    ],
)
def test_a_table_of_shared_texts_with_something_wrong_is_refused(own: Own, rows: list[dict[str, Any]], words: str) -> None:
    own.write("articles", rows)
    with pytest.raises(ContentError, match=words):
        load_folder(own.data, Library(own.content), card="answers")


def test_a_board_of_packs_takes_no_data_folder(own: Own) -> None:
    with pytest.raises(UsageError, match="'controls' judges the items of the language packs"):
        prepare(RunSpec(board="controls", data=own.data))


def test_labels_of_a_sealed_board_are_left_out_and_do_not_count_in_the_hash(own: Own) -> None:
    path = own.data / "labels.jsonl"
    labelled = path.read_bytes()
    sealed = f'\n[sealed]\nrecipients = ["age1x"]\ncommitment = "{"0" * 64}"\ncanary = "{"a canary of thirty letters and more"}"\n'
    path.write_bytes(b"")
    own.freeze()
    own.board.write_text(own.board.read_text("utf-8").replace("where = { round = [1, 2] }", "") + sealed, encoding="utf-8")
    for held in (b"", labelled):
        path.write_bytes(held)
        prepared = own.prepared()
        assert prepared.data.sealed and not len(prepared.data.labels) and len(prepared.data.items) == 16
        assert len(prepared.plan(None)) == 16


# ---- the hub


def test_hub_data_are_fetched_at_their_commit_and_read_as_a_folder(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def fetched(name: str, revision: str) -> Path:
        asked.append((name, revision))
        return own.data

    monkeypatch.setattr("harness.runs.board_data.fetch_folder", fetched)
    text = own.board.read_text("utf-8")
    own.board.write_text(text.replace(f'sha256 = "{own.sha256()}"', f'hub = "owner/name"\nrevision = "{"c" * 40}"'), encoding="utf-8")
    assert len(own.prepared(data=None).data.items) == 6 and asked == [("owner/name", "c" * 40)]
    assert len(own.prepared().data.items) == 6, "where it was fetched to, when a run is read again"
    with pytest.raises(UsageError, match="takes its data from the hub"):
        own.prepared(data=own.content)


# ---- what `harness check` says of such a board


def problems(own: Own, change: Callable[[str], str]) -> list[str]:
    own.board.write_text(change(own.board.read_text("utf-8")), encoding="utf-8")
    return [problem.message for problem in check(Library(own.content)) if problem.path == own.board]


def test_a_board_of_a_data_folder_is_in_order(own: Own) -> None:
    assert problems(own, lambda text: text) == []


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('card = "answers"', 'card = "answer"', "no dataset card 'answer'"),
        ('languages = ["da", "nb"]', 'languages = ["da", "NB"]', "canonical"),
        ("sha256", "#", "data need a content hash"),
        ('asked = "summarize_article"', 'asked = "summarize"', "not a task of the board"),
    ],
)
def test_what_cannot_be_is_named(own: Own, old: str, new: str, words: str) -> None:
    found = problems(own, lambda text: text.replace(old, new))
    assert len(found) == 1 and words in found[0]


def test_the_hash_of_a_board_is_64_digits_of_hexadecimal(own: Own) -> None:
    [found] = problems(own, lambda text: text.replace(own.sha256(), "abc"))
    assert "sha256" in found


@pytest.mark.needs("shared data")
@pytest.mark.parametrize(("name", "items", "queries"), [("pariksha", 2174, 6522), ("basse", 720, 3600)])
def test_bundled_boards_read_the_published_data(name: str, items: int, queries: int, shared_data: Path) -> None:
    prepared = prepare(RunSpec(board=name, data=shared_data / name))
    assert (len(prepared.data.items), len(prepared.plan(None))) == (items, queries)
    assert prepared.protocol.texts.constructed is False and not prepared.data.sealed
    assert set(prepared.data.labels.source.used) == {"native"}


def test_a_data_toml_with_shared_texts_is_written_as_it_was_read() -> None:
    from harness.content.specs import DatasetCard
    from harness.data.folders import data_toml

    about = Library().dataset_card("basse")
    assert msgspec.toml.decode(data_toml(about), type=DatasetCard) == about


# ---- the development part: labelled texts for examples that no run ever scores


MakeItem = Callable[..., Item]
MakeData = Callable[..., Dataset]


@pytest.fixture
def data(make_item: MakeItem, make_data: MakeData) -> Dataset:
    """Ten groups of two texts, labelled from 0 to 2."""
    items = [make_item(f"i{number}", group=f"g{number // 2}", output=f"Text {number}") for number in range(20)]
    return make_data(items, {item.item_id: number % 3 for number, item in enumerate(items)})


def part_of(data: Dataset, judged: Iterable[Item]) -> DevelopmentPart:
    return development_part(data, judged, ["m"])


def test_texts_of_groups_that_are_never_judged_serve(data: Dataset) -> None:
    part = part_of(data, data.items[:7])  # the group of the last one has a second text
    assert [item.item_id for item in part.data.items] == [f"i{number}" for number in range(8, 20)]
    assert {item.split for item in part.data.items} == {"dev"} and not part.set_aside
    assert part.origin.startswith("other-groups+")


def test_where_all_groups_are_judged_one_in_five_is_set_aside(data: Dataset) -> None:
    part = part_of(data, data.items)
    groups = {data.by_id[name].group for name in part.set_aside}
    assert len(groups) == 2 and part.set_aside == {item.item_id for item in data.items if item.group in groups}
    assert {item.item_id for item in part.data.items} == part.set_aside
    assert part.origin.startswith("set-aside+")


def test_a_group_is_set_aside_in_every_language(make_item: MakeItem, make_data: MakeData) -> None:
    items = [make_item(f"{tag}{number}", language=tag, group=f"g{number}") for tag in ("cs", "ja") for number in range(6)]
    part = part_of(make_data(items, {item.item_id: 1 for item in items}), items)
    assert {name[2:] for name in part.set_aside if name.startswith("cs")} == {name[2:] for name in part.set_aside if name.startswith("ja")}


def test_texts_of_the_same_wording_are_one_group(make_item: MakeItem, make_data: MakeData) -> None:
    """A text that is judged in one group is no example of another."""
    items = [make_item("judged", output="The same."), make_item("copy", output="The same."), make_item("other", output="Another.")]
    part = part_of(make_data(items, {item.item_id: 1 for item in items}), items[:1])
    assert [item.item_id for item in part.data.items] == ["other"]


def test_what_a_run_leaves_out_moves_no_example(data: Dataset) -> None:
    """The part depends on what is ever judged, so that fewer languages or a limit ask the same questions."""
    assert part_of(data, data.items).set_aside == part_of(data, reversed(data.items)).set_aside


def test_one_group_alone_is_refused(make_item: MakeItem, make_data: MakeData) -> None:
    items = [make_item(name, group="g") for name in "ab"]
    with pytest.raises(UsageError, match="the labelled texts of en/open_prompt are all of one group"):
        part_of(make_data(items, {"a": 1, "b": 2}), items)


def test_items_without_a_label_on_the_metrics_are_no_examples(data: Dataset, three: Scale) -> None:
    scales = data.scales | {"n": three}
    part = development_part(msgspec.structs.replace(data, scales=scales), data.items[:2], ["n"])
    assert not part.data.items and not part.set_aside


BOARDS = ("adparaphrase", "basse", "hanna", "pariksha", "wmt23-esa-de", "wmt24-esa")  # classes, pairs and numbers


@pytest.mark.slow
@pytest.mark.needs("shared data")
@pytest.mark.parametrize("board", BOARDS)
def test_no_example_of_a_published_board_is_ever_judged(board: str, library: Library) -> None:
    """Neither the text itself nor another one of its group, in any language, nor one with the same wording."""
    folder = SHARED_DATA / library.board(board).data.card  # type: ignore[union-attr]
    prepared = prepare(RunSpec(board=board, data=Path(folder), variants=("few-shot", "single"), judges=("baseline/random",)))
    assert prepared.examples is not None
    everything = load_board(library.board(board), library, tuple(library.board(board).languages), Path(folder)).everything
    cluster = dict(zip((item.item_id for item in everything.items), everything.clusters, strict=True))
    judged = {cluster[item.item_id] for item in prepared.data.items}
    few_shot, shown = FewShotExamples(prepared.examples, 0), set()
    for item in prepared.data.items:
        for metric in prepared.data.asked_metrics[item.item_id] & set(prepared.protocol.questions.metrics):
            examples = few_shot.choose(item, library.task(item.task), metric, prepared.data.scales[metric], 2)
            assert len(examples) >= 2
            shown |= {example.item_id for example in examples}
    assert shown and not {cluster[name] for name in shown} & judged
