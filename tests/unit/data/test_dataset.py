"""Items and labels: what a data folder may hold, and `file:line` for everything that is wrong in one."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import harness
from harness.content import Library
from harness.data import Dataset, load_bundled, load_folder
from harness.data.dataset import read_back
from harness.data.folders import write_folder
from harness.errors import ContentError, StoreError, UsageError
from harness.model import Item, Scale
from harness.row_files import to_jsonl, write_parquet
from tests.conftest import SHARED_DATA
from tests.judged_folder import judged_folder

ITEM = {"item_id": "a", "language": "ja", "task": "open_prompt", "prompt": "雨の詩を書いて。", "output": "雨が降る。"}
OTHER = ITEM | {"item_id": "b", "group": "g", "split": "dev", "system": "s", "note": 7}
LABEL = {"item_id": "a", "annotator_id": "x", "metric": "task_quality", "score": 2}
DATA_TOML = """
id = "mine"
source = "constructed"
[metrics.warmth]
kind = "interval"
min = 1
max = 5
best = 5
"""


class Folder:
    """A data folder that can be written file by file and loaded."""

    def __init__(self, path: Path, library: Library) -> None:
        self.path = path
        self._library = library
        self.items(ITEM, OTHER)
        self.labels(LABEL)

    def items(self, *rows: dict[str, Any] | str) -> None:
        self._write("items.jsonl", rows)

    def labels(self, *rows: dict[str, Any] | str) -> None:
        self._write("labels.jsonl", rows)

    def _write(self, name: str, rows: tuple[dict[str, Any] | str, ...]) -> None:
        text = "".join((row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)) + "\n" for row in rows)
        (self.path / name).write_text(text, encoding="utf-8")

    def load(self) -> Dataset:
        return load_folder(self.path, self._library)

    def complaint(self, begins: str) -> str:
        """The message of the error, from behind the folder; it has to begin with `begins`."""
        with pytest.raises(ContentError) as caught:
            self.load()
        message = str(caught.value).removeprefix(str(self.path)).removeprefix("/")
        assert message.startswith(begins)
        return message


@pytest.fixture
def folder(tmp_path: Path, library: Library) -> Folder:
    return Folder(tmp_path, library)


# What is read
def test_a_shown_list_of_texts_has_a_line_for_each_and_other_lists_stay(folder: Folder) -> None:
    folder.items(ITEM | {"prompt": ["雨の詩を\n書いて。", "短く。"], "tags": ["a", "b"]}, {**OTHER, "task": "elsewhere", "prompt": ["x"]})
    first, second = folder.load().items
    assert (first.fields["prompt"], first.fields["tags"]) == ("- 雨の詩を 書いて。\n- 短く。", ["a", "b"])
    assert second.fields["prompt"] == ["x"], "no task of this program shows it"


def test_rows_become_items_and_labels(folder: Folder) -> None:
    data = folder.load()
    one, other = data.items
    assert one == Item("a", "ja", "open_prompt", "test", "a", fields={"prompt": "雨の詩を書いて。", "output": "雨が降る。"})
    assert (other.group, other.split, other.system, other.fields["note"]) == ("g", "dev", "s", 7)
    assert [(x.item_id, x.annotator_id, x.score, x.source) for x in data.labels] == [("a", "x", 2, "native")]
    assert data.private and data.id == folder.path.name
    assert data.labelled_metrics == {"a": {"task_quality"}}


def test_a_group_is_the_item_itself_unless_it_is_given(folder: Folder) -> None:
    assert [item.group for item in folder.load().items] == ["a", "g"]


def test_labels_and_data_toml_may_be_absent(folder: Folder) -> None:
    (folder.path / "labels.jsonl").unlink()
    assert len(folder.load().labels) == 0


def test_data_toml_names_the_data_its_source_and_further_metrics(folder: Folder) -> None:
    (folder.path / "data.toml").write_text(DATA_TOML)
    folder.labels(LABEL, LABEL | {"metric": "warmth", "score": 4.5}, LABEL | {"annotator_id": "y", "source": "native"})
    data = folder.load()
    assert data.id == "mine" and data.scales["warmth"] == Scale(kind="interval", min=1, max=5, best=5)
    assert [label.source for label in data.labels] == ["constructed", "constructed", "native"]


def test_rows_of_a_task_that_nobody_describes_are_taken_as_they_are(folder: Folder) -> None:
    folder.items({"item_id": "a", "language": "ko", "task": "transcribe", "anything": [1]})
    [item] = folder.load().items
    assert item.fields == {"anything": [1]}


def test_optional_texts_may_be_missing_or_empty(folder: Folder) -> None:
    rest = {"language": "en", "task": "continue_writing", "output": "x"}
    folder.items({"item_id": "a", "left": "l", **rest}, {"item_id": "b", "left": "", "right": "r", **rest})
    assert len(folder.load().items) == 2


def test_every_way_of_keeping_rows_gives_the_same_data(folder: Folder) -> None:
    (folder.path / "data.toml").write_text('id = "mine"')
    found = {kind: folder.load().sha256 for kind in _kept_as(folder)}
    assert set(found) == {"plain", "byte-order mark", "gzip", "parquet"} and len(set(found.values())) == 1


def _kept_as(folder: Folder) -> Iterator[str]:
    """The folder's tables, kept in one way after the other."""
    folder.items(ITEM, ITEM | {"item_id": "b"})
    paths = [folder.path / "items.jsonl", folder.path / "labels.jsonl"]
    plain = [path.read_bytes() for path in paths]
    yield "plain"
    for path, data in zip(paths, plain, strict=True):
        path.write_bytes(b"\xef\xbb\xbf" + data)
    yield "byte-order mark"
    for path, data in zip(paths, plain, strict=True):
        path.unlink()
        path.with_suffix(".jsonl.gz").write_bytes(gzip.compress(data))
    yield "gzip"
    for path, data in zip(paths, plain, strict=True):
        path.with_suffix(".jsonl.gz").unlink()
        rows = [json.loads(line) for line in data.splitlines()]
        schema = dict.fromkeys(rows[0], "string") | ({"score": "int64"} if path.stem == "labels" else {})
        write_parquet(path.with_suffix(".parquet"), rows, schema)
    yield "parquet"


# What is refused
def test_a_folder_that_is_not_there_says_what_it_should_hold(tmp_path: Path, library: Library) -> None:
    with pytest.raises(UsageError, match=r"data folder .*nowhere does not exist; it should hold items\.jsonl and labels\.jsonl"):
        load_folder(tmp_path / "nowhere", library)


def test_a_folder_without_items_is_refused(tmp_path: Path, library: Library) -> None:
    with pytest.raises(ContentError, match=r"no items\.jsonl \(or \.jsonl\.gz, \.parquet\) in this data folder"):
        load_folder(tmp_path, library)


def test_a_table_that_is_there_twice_is_refused(folder: Folder) -> None:
    (folder.path / "labels.jsonl.gz").touch()
    with pytest.raises(ContentError, match="'labels' is here twice"):
        folder.load()


BAD_ITEMS: dict[str, tuple[dict[str, Any] | str, str]] = {
    "no JSON": ("{", "not a JSON object"),
    "a list": ("[]", "not a JSON object"),
    "no id": ({k: v for k, v in ITEM.items() if k != "item_id"}, "missing required field `item_id`"),
    "empty id": (ITEM | {"item_id": ""}, "an empty item_id"),
    "id that is no text": (ITEM | {"item_id": 7}, "Expected `str`, got `int`"),
    "no language": ({k: v for k, v in ITEM.items() if k != "language"}, "missing required field `language`"),
    "country code": (ITEM | {"item_id": "c", "language": "pt_br"}, "language 'pt_br' is not canonical; write 'pt-BR'"),
    "no language at all": (ITEM | {"item_id": "c", "language": "日本"}, "cannot be a language tag"),
    "unknown split": (ITEM | {"item_id": "c", "split": "train"}, "Invalid enum value 'train'"),
    "text missing": (
        {k: v for k, v in ITEM.items() if k != "prompt"} | {"item_id": "c"},
        "item 'c' has no 'prompt', which task 'open_prompt' needs",
    ),
    "text empty": (ITEM | {"item_id": "c", "output": " \n"}, "item 'c' has no 'output'"),
    "text that is none": (ITEM | {"item_id": "c", "output": 3}, "'output' should be a text, found int"),
    "none of several": (
        {"item_id": "c", "language": "en", "task": "continue_writing", "output": "x", "left": "", "right": ""},
        "item 'c' has none of left, right",
    ),
    "id twice": (ITEM, "item_id 'a' is also in line 1; ids are unique"),
}


@pytest.mark.parametrize(("row", "words"), BAD_ITEMS.values(), ids=BAD_ITEMS.keys())
def test_a_bad_item_is_named_with_its_line(folder: Folder, row: dict[str, Any] | str, words: str) -> None:
    folder.items(ITEM, "", row)
    assert words in folder.complaint("items.jsonl:3: ")


BAD_LABELS: dict[str, tuple[dict[str, Any] | str, str]] = {
    "no JSON": ("score 2", "not a JSON object"),
    "no annotator": ({k: v for k, v in LABEL.items() if k != "annotator_id"}, "missing required field `annotator_id`"),
    "no score": ({k: v for k, v in LABEL.items() if k != "score"}, "missing required field `score`"),
    "score null": (LABEL | {"annotator_id": "y", "score": None}, "Expected `int | float | str`, got `null`"),
    "score true": (LABEL | {"annotator_id": "y", "score": True}, "got `bool`"),
    "off the scale": (LABEL | {"annotator_id": "y", "score": 3}, "score 3 is outside the scale of 'task_quality' (0, 1, 2)"),
    "score as text": (LABEL | {"annotator_id": "y", "score": "2"}, "score '2' is outside the scale"),
    "unknown metric": (
        LABEL | {"metric": "charm"},
        "metric 'charm' has no scale; add [metrics.charm] to data.toml or a rubric. Choose from: ",
    ),
    "unknown item": (LABEL | {"item_id": "z"}, "a label of item 'z', which is not among the items"),
    "unknown source": (LABEL | {"annotator_id": "y", "source": "guessed"}, "Invalid enum value 'guessed'"),
    "twice": (LABEL | {"score": 1}, "annotator 'x' has already scored 'task_quality' of 'a' in line 1"),
}


@pytest.mark.parametrize(("row", "words"), BAD_LABELS.values(), ids=BAD_LABELS.keys())
def test_a_bad_label_is_named_with_its_line(folder: Folder, row: dict[str, Any] | str, words: str) -> None:
    folder.labels(LABEL, row)
    assert words in folder.complaint("labels.jsonl:2: ")


def test_a_label_off_a_scale_of_the_folders_own_is_named(folder: Folder) -> None:
    (folder.path / "data.toml").write_text(DATA_TOML)
    folder.labels(LABEL | {"metric": "warmth", "score": 5.5})
    assert "score 5.5 is outside the scale of 'warmth' (1 to 5)" in folder.complaint("labels.jsonl:1: ")


def test_a_score_that_is_no_number_in_parquet_is_refused(folder: Folder) -> None:
    (folder.path / "data.toml").write_text(DATA_TOML)
    (folder.path / "labels.jsonl").unlink()
    schema = {"item_id": "string", "annotator_id": "string", "metric": "string", "score": "double"}
    write_parquet(folder.path / "labels.parquet", [LABEL | {"metric": "warmth", "score": float("nan")}], schema)
    assert "not a label: 'score' is empty" in folder.complaint("labels.parquet:1: ")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("id = 3\n", 1, "Expected `str`, got `int`"),
        ('id = "x"\nsouce = "native"\n', 2, "unknown field `souce`"),
        ('id = "x"\n[metrics.warmth]\nkind = "fuzzy"\n', 3, "Invalid enum value 'fuzzy'"),
        ("id = \n", 1, "not valid TOML"),
    ],
)
def test_a_bad_data_toml_is_named_with_its_line(folder: Folder, text: str, line: int, words: str) -> None:
    (folder.path / "data.toml").write_text(text)
    assert words in folder.complaint(f"data.toml:{line}: ")


# The hash, and parts of the data
@pytest.mark.parametrize(
    "change",
    [
        lambda folder: folder.labels(LABEL | {"score": 1}),
        lambda folder: folder.labels(LABEL | {"annotator_id": "y"}),
        lambda folder: folder.labels(LABEL, LABEL | {"annotator_id": "y"}),
        lambda folder: folder.labels(LABEL | {"source": "model"}),
        lambda folder: folder.items(ITEM | {"output": "雨が降る"}, OTHER),
        lambda folder: folder.items(ITEM | {"group": "g"}, OTHER),
        lambda folder: folder.items(ITEM),
        lambda folder: (folder.path / "data.toml").write_text(DATA_TOML),
    ],
    ids=["score", "annotator", "one more label", "source", "text", "group", "one item fewer", "scale"],
)
def test_the_hash_changes_with_everything_that_can_move_a_number(folder: Folder, change: Any) -> None:
    before = folder.load().sha256
    assert folder.load().sha256 == before
    change(folder)
    assert folder.load().sha256 != before


def test_only_keeps_the_labels_of_the_items_it_keeps(folder: Folder) -> None:
    folder.labels(LABEL, LABEL | {"item_id": "b"})
    data = folder.load()
    part = data.only([data.by_id["b"]])
    assert [label.item_id for label in part.labels] == ["b"] and part.private
    assert (part.scales, part.id) == (data.scales, data.id) and part.sha256 != data.sha256


def test_bundled_items_come_with_their_labels(library: Library) -> None:
    data = load_bundled(library, ["cs", "ja"])
    assert {item.language for item in data.items} == {"cs", "ja"} and not data.private
    assert {label.item_id for label in data.labels} <= set(data.by_id)
    assert {label.source for label in data.labels} == {"constructed"}


def own_pack(root: Path, tag: str, task: str, /, **row: str) -> None:
    """A language pack in a content folder of one's own, with one item."""
    path = root / "languages" / tag / "items" / f"{task}.jsonl"
    path.parent.mkdir(parents=True)
    (path.parent.parent / "pack.toml").touch()
    item = {"item_id": "x", "language": tag, "task": task, "prompt": "p", "output": "o"} | row
    path.write_text(json.dumps(item) + "\n")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"language": "fi"}, "item 'x' says language 'fi' in the pack 'ko'"),
        ({"task": "summarize"}, "item 'x' says task 'summarize' in the file of 'open_prompt'"),
    ],
    ids=["pack", "task"],
)
def test_an_item_in_the_wrong_place_is_refused(tmp_path: Path, row: dict[str, str], words: str) -> None:
    own_pack(tmp_path, "ko", "open_prompt", **row)
    with pytest.raises(ContentError, match=rf"ko/items/open_prompt\.jsonl:1: {words}"):
        load_bundled(Library(tmp_path), ["ko"])


def test_ids_are_unique_across_packs(tmp_path: Path) -> None:
    for tag in ("fi", "ko"):
        own_pack(tmp_path, tag, "open_prompt")
    with pytest.raises(ContentError, match="item_id 'x' is also in fi/open_prompt; ids are unique"):
        load_bundled(Library(tmp_path), ["fi", "ko"])


def test_a_folder_that_was_loaded_and_saved_is_the_same(tmp_path: Path) -> None:
    data = harness.load(judged_folder(tmp_path / "made", prompts=40, repeats=2, probabilities=True))
    assert data.save(tmp_path / "saved") == tmp_path / "saved"
    read = harness.load(tmp_path / "saved")
    assert read.sha256 == data.sha256 and read.judgments is not None and data.judgments is not None
    assert read.judgments.sha256 == data.judgments.sha256
    assert harness.compare(read).as_json()["cells"] == harness.compare(data).as_json()["cells"]


def test_frames_are_saved_with_their_scales_and_off_scale_answers(tmp_path: Path) -> None:
    items = pd.DataFrame({"item_id": range(40), "language": "cs", "task": "t", "output": [f"Text {n}" for n in range(40)]})
    labels = pd.DataFrame([{"item_id": n, "annotator_id": who, "metric": "tone", "score": n % 3} for n in range(40) for who in "ab"])
    judgments = pd.DataFrame([{"item_id": n, "judge": "m/x", "metric": "tone", "score": n % 4} for n in range(40)])
    data = harness.from_frames(labels=labels, judgments=judgments, items=items, scales={"tone": "0..2:best=2"})
    read = harness.load(data.save(str(tmp_path / "saved")))
    assert read.scales["tone"] == data.scales["tone"] and read.about.annotators == data.about.annotators
    assert read.judgments is not None and data.judgments is not None
    assert list(read.judgments.failure) == list(data.judgments.failure) and read.judgments.sha256 == data.judgments.sha256


def test_a_folder_that_exists_is_not_touched(tmp_path: Path) -> None:
    folder = judged_folder(tmp_path / "made", prompts=10)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(UsageError, match="choose a new folder"):
        harness.load(folder).save(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.needs("shared data")
@pytest.mark.parametrize("name", ["alttest", "pariksha_pairwise", "basse"])
def test_published_data_are_saved_whole(tmp_path: Path, name: str) -> None:
    data = harness.load(SHARED_DATA / name)
    read = harness.load(data.save(tmp_path / "saved"))
    assert read.sha256 == data.sha256 and read.judgments is not None and data.judgments is not None
    columns = zip(read.judgments.columns.values(), data.judgments.columns.values(), strict=True)
    assert all(list(one) == list(other) for one, other in columns)


# A data folder is put in place only if it can be loaded and holds the rows that were said.


ITEMS = [{"item_id": f"i{n}", "language": "cs", "task": "t", "output": f"Text {n}"} for n in range(3)]
LABELS = [{"item_id": f"i{n}", "annotator_id": "eva", "metric": "q", "score": 1} for n in range(3)]
ABOUT = b'id = "d"\nannotators = "persistent"\n[metrics.q]\nkind = "ordinal"\nclasses = [0, 1]\nbest = 1\n'


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.is_dir() else {}


@pytest.fixture
def library() -> Library:
    return Library()


@pytest.mark.parametrize(
    ("labels", "rows", "words"),
    [
        ([*LABELS, {**LABELS[0], "annotator_id": "jan", "item_id": "i9"}], 4, r"d/labels\.jsonl:4: a label of item 'i9'"),
        ([{**LABELS[0], "score": 7}], 1, r"d/labels\.jsonl:1: score 7 is outside the scale"),
        (LABELS, 4, "'labels' has 3 rows, not the 4 that were to be written"),
    ],
)
@pytest.mark.parametrize("existing", [False, True])
def test_what_cannot_be_read_again_is_not_put_in_place(
    library: Library, tmp_path: Path, labels: list[dict[str, object]], rows: int, words: str, existing: bool
) -> None:
    folder = tmp_path / "d"
    if existing:
        write_folder(folder, {"items.jsonl": to_jsonl(ITEMS), "data.toml": ABOUT, "notes.txt": b"mine"})
    before = files_of(folder)
    files = {"items.jsonl.gz" if not existing else "items.jsonl": to_jsonl(ITEMS), "labels.jsonl": to_jsonl(labels), "data.toml": ABOUT}
    with pytest.raises(StoreError, match=rf"is as it was before.*{words}"):
        write_folder(folder, files, read_back(folder, library, {"items": 3, "labels": rows}))
    assert files_of(folder) == before and [path.name for path in tmp_path.iterdir()] == (["d"] if existing else [])


def test_files_that_stay_are_read_with_the_new_ones(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "d"
    write_folder(folder, {"items.jsonl": to_jsonl(ITEMS), "data.toml": ABOUT})
    write_folder(folder, {"labels.jsonl": to_jsonl(LABELS)}, read_back(folder, library, {"labels": 3}))
    assert len(load_folder(folder, library).labels) == 3 and sorted(files_of(folder)) == ["data.toml", "items.jsonl", "labels.jsonl"]


WRITER = 'version = "1"\ndef first_words(item):\n    return "Shrnutí: " + item["passage"].split(".")[0]\n'


@pytest.mark.parametrize(
    ("module", "command", "folder_stays"),
    [
        (
            "runs.generate",
            ("generate", "--task", "summarize", "--langs", "cs", "--limit", "2", "--by", "python:writer:first_words", "--out"),
            True,
        ),
        ("studies.chiang_lee.commands", ("study", "alter-texts", "--langs", "cs", "--limit", "2", "--out"), False),
        ("exchange.scores.exports", ("export", "hub", "data", "--to"), False),
    ],
)
def test_every_command_that_writes_a_folder_reads_it_first(
    cli: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    command: tuple[str, ...],
    folder_stays: bool,
) -> None:
    """A card that cannot be read stands for whatever a later version of a command may get wrong."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "writer.py").write_text(WRITER, "utf-8")
    write_folder(tmp_path / "data", {"items.jsonl": to_jsonl(ITEMS), "labels.jsonl": to_jsonl(LABELS), "data.toml": ABOUT})
    with monkeypatch.context() as patch:
        patch.setattr(f"harness.{module}.data_toml", lambda about: 'id = "d"\nannotators = "nobody"\n')
        failed = cli(*command, "new")
    assert failed.code == 5 and "new is as it was before, as what was to be written there cannot be read again: new/data.toml" in failed.err
    left = {path.name for path in Path("new").glob("[!.]*")} if Path("new").is_dir() else set()
    assert left == ({"store.sqlite"} if folder_stays else set()), "the answers of writers stay, as they were paid for"
    assert cli(*command, "new").code == 0 and load_folder(Path("new"), Library()).items
