"""Everything on disk: each task, pack, rubric and board, found by listing, so that a contributor writes no test and is still tested."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from harness.authoring.check import check
from harness.boards.board import submissions_of
from harness.boards.checked_boards import check_boards
from harness.content.library import Library, bundled_root
from harness.content.problems import Problem
from harness.content.specs import BoardData, Pack, read_spec
from harness.data.dataset import Dataset, load_bundled
from harness.errors import ContentError
from harness.model import Item
from harness.segmentation import sentences

LIBRARY = Library()
ROOT = bundled_root()
WITH_ITEMS = LIBRARY.tags_with_items()
WITH_TEXTS = sorted(path.parent.name for path in ROOT.glob("languages/*/texts"))  # made by derive.py; the wheel does not carry them
CONTROLS = LIBRARY.board("controls")  # on the present packs

# Metrics that nearly every construction determines, so that items of one text cannot help sharing them.
EVERYWHERE = {"linguistic_acceptability", "problematic_content"}
# What may close an opening mark; `“` opens in English and closes in Czech.
CLOSES = {"“": "”", "„": "“”", "«": "»", "»": "«", "「": "」", "『": "』", "（": "）", "(": ")", "《": "》", "[": "]"}


@cache
def problems() -> tuple[Problem, ...]:
    return tuple(check(Library()))


@cache
def dataset(tag: str, board: str = "") -> Dataset:
    """The items of the present pack, or of the pack that a board is frozen on."""
    return load_bundled(LIBRARY, [tag], LIBRARY.board(board) if board else None)


@cache
def derive() -> ModuleType:
    """`languages/derive.py`, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("derive", ROOT / "languages" / "derive.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def told(found: list[Problem]) -> str:
    return "\n".join(map(str, found))


def problems_at(place: Path) -> list[Problem]:
    return [problem for problem in problems() if problem.path == place or place in problem.path.parents]


# ---- `harness check`


@pytest.mark.parametrize("name", LIBRARY.task_files)
def test_task(name: str) -> None:
    found = problems_at(LIBRARY.task_files[name].parent)
    assert not found, told(found)


@pytest.mark.parametrize("name", LIBRARY.rubric_files)
def test_rubric(name: str) -> None:
    found = problems_at(LIBRARY.rubric_files[name])
    assert not found, told(found)


@pytest.mark.parametrize("tag", LIBRARY.pack_files)
def test_pack(tag: str) -> None:
    found = problems_at(LIBRARY.pack_files[tag].parent)
    assert not found, told(found)


@pytest.mark.parametrize("name", LIBRARY.board_files)
def test_board(name: str) -> None:
    found = problems_at(LIBRARY.board_files[name].parent)
    assert not found, told(found)


def data_of_board(name: str) -> Path | None:
    """The folder of published data that a board is about; None for one on packs."""
    data = LIBRARY.board(name).data
    return ROOT.parent / "shared" / "data" / data.card if isinstance(data, BoardData) else None


def board(name: str) -> Any:
    """The board; submissions on published data can only be checked where the data are present."""
    needs_data = data_of_board(name) is not None and submissions_of(LIBRARY.board_files[name].parent)
    return pytest.param(name, marks=pytest.mark.needs("shared data")) if needs_data else name


@pytest.mark.parametrize("name", [board(name) for name in LIBRARY.board_files])
def test_board_and_its_submissions(name: str) -> None:
    """What `harness board check` says: columns that there are, and every reply of every submission, where the board's data are present."""
    folder = data_of_board(name)
    found = check_boards(LIBRARY, [name], data=folder if folder and folder.is_dir() else None).problems
    assert not found, told(found)


def test_check_finds_nothing_anywhere() -> None:
    assert not problems(), told(list(problems()))


# ---- packs that are derived from base texts


def test_a_missing_key_of_a_base_text_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "summarize.toml"
    needed = ("group", "output")
    for source, words in {
        '# a comment\n[[text]]\ngroup = "a"\n': f"{path}:2: the text 'a' has no 'output'",
        '[[text]]\ngroup = "a"\noutput = "x"\n[text.offensive]\nnote = "n"\n': f"{path}:1: the text 'a' has no 'output' in 'offensive'",
        "[[text]\n": f"{path}: not TOML: ",
        "": f"{path}: no base texts; each begins with a line [[text]]",
    }.items():
        path.write_text(source, "utf-8")
        with pytest.raises(ContentError) as caught:
            derive().read_texts(path, needed, {"offensive": ("output",)} if "offensive" in source else {})
        assert str(caught.value).startswith(words)


PAIR = """\
# two texts
[[text]]
group = "a"
task = "open_prompt"
genre = "chat"
prompt = "p"
output = "one two three"
tempts = ["one-error"]

[[text.version]]
construction = "one-error"
note = "n"
replace = [["two", "too"]]

[[text.version]]
construction = "many-errors"
note = "n"
replace = [["three", "tree"]]
"""


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            '"many-errors"',
            '"many-error"',
            ":16: the text 'a' has a version 'many-error', which is no construction of languages/hard.toml and languages/models.toml. Did",
        ),
        ('["one-error"]', '["rudeness"]', ":2: the text 'a' tempts to 'rudeness', which is no construction"),
        ('"open_prompt"', '"chat"', ":2: the text 'a' has the task 'chat', which has no control texts.\n"),
        ('prompt = "p"', "", ":2: the text 'a' has no 'prompt', which its task 'open_prompt' shows"),
        ('"three", "tree"', '"four", "for"', ":16: the text 'a' has a version that cannot be made: a, many-errors: 'four' stands 0 times"),
        ('[["two", "too"]]', '["two", "too"]', ":11: the text 'a' has a version 'one-error' whose 'replace' is no list of pairs"),
    ],
)
def test_a_pair_that_cannot_be_derived_is_named_with_its_line(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    path = tmp_path / "texts.toml"
    path.write_text(PAIR, "utf-8")
    read = partial(derive().read_texts, path, ("group", "task", "output", "version"), {"version": ("construction", "replace")})
    derive().refuse_underivable(path, read())
    path.write_text(PAIR.replace(old, new), "utf-8")
    with pytest.raises(ContentError) as caught:
        derive().refuse_underivable(path, read())
    assert str(caught.value).startswith(f"{path}{sentence}")


def test_the_script_ends_with_a_sentence_and_exit_code_2() -> None:
    done = subprocess.run([sys.executable, str(ROOT / "languages" / "derive.py"), "jp"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "") and "there is no language pack 'jp'" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("tag", WITH_TEXTS)
def test_files_are_what_derive_makes(tag: str) -> None:
    made: Mapping[Path, bytes] = dict(derive().files(tag))
    pack = ROOT / "languages" / tag
    assert set(made) == {*pack.glob("items/*.jsonl"), *pack.glob("labels/*.jsonl")}
    for path, content in made.items():
        assert path.read_bytes() == content, f"{path} is not what its base texts give; run: python languages/derive.py {tag}"


@pytest.mark.parametrize("tag", WITH_TEXTS)
def test_card_says_which_construction_determines_what(tag: str) -> None:
    rows = [
        [cell.strip(" `") for cell in line.split("|")[1:-1]]
        for line in (ROOT / "languages" / tag / "CARD.md").read_text("utf-8").splitlines()
        if line.startswith("|")
    ]
    [start] = [number for number, row in enumerate(rows) if row[0] == "construction"]
    metrics = rows[start][2:]
    stated = {
        row[0]: {metric: int(cell) for metric, cell in zip(metrics, row[2:], strict=True) if cell}
        for row in rows[start + 2 :]
        if len(row) == len(rows[start])
    }
    assert stated == derive().LABELS


# ---- items


@pytest.mark.parametrize("tag", WITH_ITEMS)
def test_enough_groups_and_items(tag: str) -> None:
    for task in LIBRARY.item_files(tag):
        items = [item for item in dataset(tag).items if item.task == task]
        groups = {split: {item.group for item in items if item.split == split} for split in ("test", "dev")}
        assert len(groups["test"]) >= 4, task
        assert len(groups["dev"]) >= 2, task
        assert sum(item.split == "test" for item in items) >= 24, task


@pytest.mark.parametrize("tag", WITH_ITEMS)
def test_dev_has_every_class_of_every_metric(tag: str) -> None:
    """Examples are drawn from dev, and the majority baseline learns from it. Half-done texts have none where nothing follows the gap."""
    data = dataset(tag)
    seen = Counter((item.task, label.metric, label.score) for label in data.labels if (item := data.by_id[label.item_id]).split == "dev")
    for task in LIBRARY.item_files(tag):
        for metric in LIBRARY.task(task).metrics:
            for score in data.scales[metric].classes:
                enough = 1 if (task, metric, score) == ("continue_writing", "task_quality", 1) else 2
                assert seen[task, metric, score] >= enough, f"{task}, {metric}: {score}"


@pytest.mark.parametrize("tag", WITH_ITEMS)
def test_one_group_a_task_shares_its_subject_with_other_languages(tag: str) -> None:
    """It is no translation, so that no item has a `parallel_id`."""
    for task in LIBRARY.item_files(tag):
        items = [item for item in dataset(tag).items if item.task == task]
        groups = {(item.fields["same_subject"], item.group) for item in items if "same_subject" in item.fields}
        assert len(groups) == 1, f"{task}: {sorted(groups)}"
        assert {item.parallel_id for item in items} == {None}


@pytest.mark.parametrize("tag", WITH_ITEMS)
def test_language_is_what_the_item_says(tag: str) -> None:
    from py3langid import langid

    language = tag.split("-")[0]
    for item in dataset(tag).items:
        construction = item.fields.get("construction")
        if construction == "shuffled":
            continue
        identified, _ = langid.classify(item.fields["output"])
        assert (identified != language) == (construction == "wrong-language"), f"{item.item_id} is identified as '{identified}'"


def texts_of(item: Item) -> Iterator[tuple[str, str]]:
    for name in LIBRARY.task(item.task).fields:
        yield name, item.fields.get(name, "")


def unbalanced(text: str) -> str:
    """The marks of `text` that have no partner; empty when all have one."""
    waiting: list[str] = []
    for mark in text:
        if waiting and mark in CLOSES[waiting[-1]]:
            waiting.pop()
        elif mark in CLOSES:
            waiting.append(mark)
        elif any(mark in closing for closing in CLOSES.values()):
            return mark
    return "".join(waiting) + '"' * (text.count('"') % 2)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("„Ano,“ řekl (tiše).", ""),
        ("“Yes”", ""),
        ("「『あ』」", ""),
        ("„Ja“, »nein«", ""),
        ("“a", "“"),
        ("a”", "”"),
        ("「あ』", "』"),
        ('"a', '"'),
    ],
)
def test_unbalanced_marks_are_seen(text: str, left: str) -> None:
    assert unbalanced(text) == left


@pytest.mark.parametrize("tag", WITH_ITEMS)
def test_texts_are_whole(tag: str) -> None:
    for item in dataset(tag).items:
        for name, text in texts_of(item):
            where = f"{item.item_id}, {name}"
            assert not unbalanced(text), f"{where}: {unbalanced(text)} has no partner"
            assert not re.search("[\ufffd\x80-\x9f]", text), f"{where}: read in the wrong encoding once"
            assert unicodedata.is_normalized("NFC", text), where


@pytest.mark.parametrize("tag", WITH_ITEMS)
def test_groups_share_no_sentence(tag: str) -> None:
    """Groups count as independent. A text off its task is another group's by construction."""
    groups: dict[str, set[str]] = defaultdict(set)
    for item in dataset(tag).items:
        for name, text in texts_of(item):
            if name in LIBRARY.task(item.task).outputs and item.fields.get("construction") == "off-task":
                continue
            for sentence in sentences(text, tag):
                groups[sentence.strip()].add(item.group)
    shared = {sentence: sorted(owners) for sentence, owners in groups.items() if sentence and len(owners) > 1}
    assert not shared


# The marks that may open and close a quotation, and apostrophes, by language; of others, what their lexicon lists.
QUOTES = set("\"'“”„‚‘’«»‹›「」『』《》")
OWN_QUOTES = {
    "cs": "„“‚‘",
    "de": "„“‚‘’",
    "en": "“”‘’",
    "es": "«»“”‘’",
    "fr": "«»“”’",
    "it": "«»“”’",
    "ja": "「」『』",
    "pt-BR": "“”‘’",
    "zh": "“”‘’《》",
}
# What no text in the language has: a pattern and why.
NOT_IN = {
    "fr": (r"« |[^\u00a0]»|«[^\u00a0]|[ \w][;!?]|[ \w]:(?!//)", "French sets guillemets and high marks off by no-break spaces"),
    "es": (r"(?<![¿\w, ])\?$", "Spanish opens questions"),
    "ja": (r"[ぁ-んァ-ン一-龥][,.!?;:]|[ぁ-んァ-ン一-龥] ", "Japanese has full-width punctuation and no spaces"),
    "zh": (r"[一-龥][,.!?;:]|[一-龥] ", "Chinese has full-width punctuation and no spaces"),
}


def own_texts(tag: str) -> Iterator[tuple[str, str]]:
    """Every text that is in the language of the pack and as a writer left it, with its place."""
    for item in dataset(tag).items:
        made = item.fields.get("construction")
        for name, text in texts_of(item):
            outputs = LIBRARY.task(item.task).outputs
            if not (name in outputs and made in ("wrong-language", "shuffled", "repetitive")):
                yield f"{item.item_id}, {name}", text


@pytest.mark.parametrize("tag", WITH_TEXTS)
def test_quotation_marks_are_the_languages_own(tag: str) -> None:
    for where, text in own_texts(tag):
        foreign = QUOTES & set(text) - set(OWN_QUOTES.get(tag) or "".join(LIBRARY.lexicon(tag).quotation_marks))
        assert not foreign, f"{where}: {' '.join(sorted(foreign))}"


@pytest.mark.parametrize("tag", WITH_TEXTS)
def test_punctuation_is_the_languages_own(tag: str) -> None:
    pattern, why = NOT_IN.get(tag, (r"  ", "two spaces"))
    for where, text in own_texts(tag):
        found = re.search(pattern, text) or re.search(r"  | [,.]|\t", text)
        assert not found, f"{where}: {text[max(0, found.start() - 20) : found.end() + 20]!r}; {why}"
        if tag == "es":
            assert text.count("¿") == text.count("?") and text.count("¡") == text.count("!"), where


# Of a fluent text: words, or characters where words are not separated.
LENGTHS = {"open_prompt": (70, 125), "continue_writing": (70, 125), "summarize": (35, 80)}
LONG_SCRIPT = {"open_prompt": (150, 290), "continue_writing": (150, 290), "summarize": (80, 170)}


@pytest.mark.parametrize("tag", WITH_TEXTS)
def test_texts_are_about_as_long_as_those_of_other_packs(tag: str) -> None:
    dense = LIBRARY.pack(tag).script in ("Jpan", "Hans")
    for item in dataset(tag).items:
        if item.fields.get("construction") != "fluent":
            continue
        text = item.fields["output"]
        length = len(text) if dense else len(text.split())
        low, high = (LONG_SCRIPT if dense else LENGTHS)[item.task]
        assert low <= length <= high, f"{item.item_id}: {length}"


@pytest.mark.parametrize("tag", WITH_ITEMS)
def test_dev_and_test_share_no_group(tag: str) -> None:
    groups = {split: {item.group for item in dataset(tag).items if item.split == split} for split in ("dev", "test")}
    assert not groups["dev"] & groups["test"]


@pytest.mark.parametrize("tag", WITH_ITEMS)
def test_test_items_have_every_class_of_every_metric(tag: str) -> None:
    data = dataset(tag)
    seen = Counter((label.metric, label.score) for label in data.labels if data.by_id[label.item_id].split == "test")
    for metric in CONTROLS.rubrics:
        for score in data.scales[metric].classes:
            assert seen[metric, score] >= 3, f"{metric}: {score}"


# ---- the board that runs when none is named


def board_items(tag: str) -> list[Item]:
    return [dataset(tag).by_id[item_id] for item_id in CONTROLS.items[tag]]


@pytest.mark.parametrize("tag", CONTROLS.languages)
def test_controls_has_24_items(tag: str) -> None:
    assert len(board_items(tag)) == 24
    assert Counter(item.task for item in board_items(tag)) == dict.fromkeys(CONTROLS.tasks, 8)


@pytest.mark.parametrize("tag", CONTROLS.languages)
def test_controls_rests_on_independent_texts(tag: str) -> None:
    seen: Counter[tuple[str, str]] = Counter()
    for item in board_items(tag):
        seen.update((item.group, metric) for metric in dataset(tag).labelled_metrics[item.item_id] - EVERYWHERE)
    assert [key for key, count in seen.items() if count > 1] == []


@pytest.mark.parametrize("tag", CONTROLS.languages)
def test_controls_has_every_class_of_every_metric(tag: str) -> None:
    data = dataset(tag).only(board_items(tag))
    seen = Counter((label.metric, label.score) for label in data.labels)
    for metric in CONTROLS.rubrics:
        for score in data.scales[metric].classes:
            assert seen[metric, score] >= 2, f"{metric}: {score}"


@pytest.mark.parametrize("name", ["controls", "controls-full"])
def test_card_counts_the_labels_of_the_board(name: str) -> None:
    """The card's table holds for each language alike."""
    board = LIBRARY.board(name)
    card = LIBRARY.board_files[name].with_name("CARD.md").read_text("utf-8")
    stated = {
        (metric, score): int(count)
        for metric, *counts in re.findall(r"^\| `(\w+)` \| (\d+) \| (\d+) \| (\d*) ?\|$", card, re.MULTILINE)
        for score, count in enumerate(counts)
        if count
    }
    for tag in board.languages:
        data = dataset(tag, name)
        items = [item for item in data.items if item.split == "test" and item.item_id in board.items.get(tag, (item.item_id,))]
        found = Counter((label.metric, label.score) for label in data.only(items).labels)
        assert stated == found, tag
        assert f"{found.total()} in all" in card and f"{len(items)} test items a language" in card


# ---- the packs that boards are frozen on


@pytest.mark.parametrize("name", LIBRARY.board_files)
def test_boards_have_the_packs_that_they_are_frozen_on(name: str) -> None:
    board = LIBRARY.board(name)
    for tag, version in board.packs.items():
        path = LIBRARY.pack_path(tag, board)
        assert path is not None and read_spec(path, Pack).version == version


def test_every_further_pack_serves_a_board() -> None:
    boards = [LIBRARY.board(name) for name in LIBRARY.board_files]
    used = {LIBRARY.pack_path(tag, board) for board in boards for tag in board.packs}
    assert set(LIBRARY.further_pack_files.values()) <= used
