"""What is exported comes back: tables as the same labels, sheets and projects as what people filled in; and sheets give nothing away."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import unicodedata
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import openpyxl
import pytest

from harness.content import Library
from harness.data import Dataset, load_bundled, load_folder
from harness.data.labels import Labels
from harness.errors import ContentError, UsageError
from harness.exchange.labels.choose_reader import read_source
from harness.exchange.labels.label_sheets import MAX_CELL, export_labels
from harness.exchange.labels.labelling_tasks import Selection, make_sections
from harness.model import Label
from tests.translation_folder import translation_items, write_translations

Written = Callable[..., Path]
ITEMS = [
    {"item_id": "a-bad", "language": "ja", "task": "chat", "group": "g1", "system": "gpt", "note": "secret", "output": "=1+1"},
    {"item_id": "b", "language": "ja", "task": "chat", "group": "g2", "system": "gpt", "output": "い"},
    {"item_id": "c", "language": "ja", "task": "chat", "group": "g1", "system": "llama", "output": "う\x07"},
]
LABELS = [
    {"item_id": "a-bad", "annotator_id": "=x", "metric": "tone", "score": "Good"},
    {"item_id": "b", "annotator_id": "=x", "metric": "tone", "score": "-"},
    {"item_id": "b", "annotator_id": "y", "metric": "warmth", "score": 1.5, "source": "constructed"},
    {"item_id": "c", "annotator_id": "y", "metric": "warmth", "score": 2},
]
TOML = """
id = "chat"
[metrics.tone]
kind = "nominal"
classes = ["Good", "-", "a, b"]
[metrics.warmth]
kind = "interval"
min = 1
max = 5
"""
CHAT = Selection(fields=("output",))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "chat"
    path.mkdir()
    for name, rows in (("items", ITEMS), ("labels", LABELS)):
        (path / f"{name}.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    (path / "data.toml").write_text(TOML)
    return path


@pytest.fixture
def data(folder: Path, library: Library) -> Dataset:
    return load_folder(folder, library)


# Tables


@pytest.mark.parametrize("name", ["labels.csv", "labels.jsonl", "labels.parquet"])
def test_an_exported_table_comes_back_as_the_same_labels(
    data: Dataset, folder: Path, library: Library, into: Any, tmp_path: Path, name: str
) -> None:
    if name.endswith("parquet"):  # a column of one type: classes as text, numbers as they are
        data = data.only(item for item in data.items if item.item_id == "c")
    done = export_labels(data, tmp_path / name, library)
    assert (done.files, done.labels) == ((tmp_path / name,), len(data.labels))
    again = into(tmp_path / name, {"language": None, "task": None, "metrics": {}}, items=str(folder))
    assert not again.refused and list(into.data.labels) == list(data.labels)


def test_scores_of_several_types_are_text_in_parquet_and_still_come_back(
    data: Dataset, folder: Path, library: Library, into: Any, tmp_path: Path
) -> None:
    export_labels(data, tmp_path / "labels.parquet", library)
    into(tmp_path / "labels.parquet", {"language": None, "task": None, "metrics": {}}, items=str(folder))
    assert [label.score for label in into.data.labels] == ["Good", "-", 1.5, 2]


def test_a_csv_holds_no_formula(data: Dataset, library: Library, tmp_path: Path) -> None:
    export_labels(data, tmp_path / "labels.csv", library)
    text = (tmp_path / "labels.csv").read_text("utf-8-sig")
    assert "'=x" in text and ",=x" not in text and ",'-," in text


def test_metrics_languages_and_tasks_can_be_picked(data: Dataset, library: Library, tmp_path: Path) -> None:
    assert export_labels(data, tmp_path / "a.jsonl", library, selection=Selection(metrics=("tone",))).labels == 2
    assert (
        export_labels(data, tmp_path / "a.dump", library, format="jsonl", selection=Selection(languages=("jpn",), tasks=("chat",))).labels
        == 4
    )


@pytest.mark.parametrize(
    ("name", "selection", "words"),
    [
        ("a.doc", Selection(), "unknown format; pass --format"),
        ("a.csv", Selection(languages=("cs",)), "no item for 'cs'"),
        ("a.csv", Selection(tasks=("chatt",)), "no item has the task 'chatt'. Did you mean 'chat'\\?\n +choose from: chat"),
        ("a.csv", Selection(metrics=("tome",)), "no metric 'tome' has a scale here. Did you mean 'tone'\\?"),
        ("a.csv", Selection(metrics=("task_quality",)), "there are no labels of these"),
        ("a.xlsx", Selection(), r"name them with --fields \(its texts: note, output\)"),
        ("a.xlsx", Selection(fields=("outptu",)), "no item of task 'chat' has a text 'outptu'"),
    ],
)
def test_what_cannot_be_exported_is_refused_and_no_file_is_made(
    data: Dataset, library: Library, tmp_path: Path, name: str, selection: Selection, words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        export_labels(data, tmp_path / name, library, selection=selection)
    assert not (tmp_path / name).exists()


# The sheet


def fill(path: Path, answers: dict[tuple[int, str], Any], name: str | None = "Anna", sheet: int = 0) -> None:
    """Answer as a person does: `{(row of the sheet, name of the column): value}`."""
    book = openpyxl.load_workbook(path)
    page = book.worksheets[sheet]
    letters = {cell.value: cell.column_letter for cell in page[2]}
    for (row, column), value in answers.items():
        page[f"{letters[column]}{row}"] = value
    if name is not None:
        page["D1"] = name
    book.save(path)


def test_a_filled_sheet_comes_back_without_any_mapping(data: Dataset, folder: Path, library: Library, into: Any, tmp_path: Path) -> None:
    path = tmp_path / "sheet.xlsx"
    assert export_labels(data, path, library, selection=CHAT).items == 3
    order = [row[4].value for row in openpyxl.load_workbook(path).worksheets[0].iter_rows(min_row=4)]
    fill(path, {(4, "metric:tone"): "Good", (5, "metric:warmth"): 4.5, (6, "metric:tone"): "a, b", (6, "comment"): "Anna says: odd"})
    done = into(path, {"language": None, "task": None, "metrics": {}}, items=str(folder), keep_annotators=False)
    by_text = {"=1+1": "a-bad", "い": "b", "う\ufffd": "c"}
    first, second, third = (by_text[str(text)] for text in order)
    assert [(i, m, s) for i, _, m, s in into.labels] == [(first, "tone", "Good"), (second, "warmth", 4.5), (third, "tone", "a, b")]
    assert (done.rows, done.blank, done.annotators) == (3, 3, 1) and into.data.about.annotators == "persistent"
    [comment] = (into.folder / "comments.jsonl").read_text("utf-8").splitlines()
    who = into.labels[0][1]
    assert json.loads(comment) == {"item_id": third, "annotator_id": who, "comment": f"{who} says: odd"}


def test_a_sheet_alone_is_enough(data: Dataset, library: Library, into: Any, tmp_path: Path) -> None:
    path = tmp_path / "sheet.xlsx"
    export_labels(data, path, library, selection=CHAT._replace(annotator="Hana"))
    fill(path, {(4, "metric:tone"): "Good", (5, "metric:tone"): "nonsense"}, name=None)
    done = into(path, {"language": None, "task": None, "metrics": {}, "texts": {"output": "output"}})
    assert [(who, score) for _, who, _, score in into.labels] == [("Hana", "Good")]
    assert [(x.place.rpartition("/")[2], x.reason) for x in done.refused] == [
        ("sheet.xlsx:Chat!C5", "'nonsense' is not on the scale (Good, -, a, b)")
    ]
    assert {item.fields["output"] for item in into.data.items} == {"=1+1", "い", "う\ufffd"}
    assert any("a sheet does not tell which items share a text" in note for note in done.hints)


def test_a_sheet_may_be_sorted_and_its_columns_moved(data: Dataset, folder: Path, library: Library, into: Any, tmp_path: Path) -> None:
    path = tmp_path / "sheet.xlsx"
    export_labels(data, path, library, selection=CHAT)
    fill(path, {(4, "metric:tone"): "Good"})
    book = openpyxl.load_workbook(path)
    page = book.worksheets[0]
    top, bottom = ([cell.value for cell in page[row]] for row in (4, 6))
    for cell, value in zip((*page[4], *page[6]), (*bottom, *top), strict=True):
        cell.value = value
        cell.data_type = "s" if isinstance(value, str) else cell.data_type
    page.insert_cols(3)
    page["D1"], page["E1"] = "Anna", None
    book.save(path)
    into(path, {"language": None, "task": None, "metrics": {}}, items=str(folder))
    [(item, who, metric, score)] = into.labels
    assert data.by_id[item].fields["output"].replace("\x07", "\ufffd") == top[4] and (who, metric, score) == ("Anna", "tone", "Good")


def test_people_are_asked_about_the_metrics_of_the_data_not_of_the_task(library: Library) -> None:
    bundled = load_bundled(library, ["en"])
    items = [item for item in bundled.items if item.task == "summarize"][:2]
    of_task = library.task("summarize").metrics
    own = msgspec.structs.replace(bundled.only(items), private=True, labels=Labels.from_rows([Label(items[0].item_id, "x", of_task[1], 1)]))

    def metrics(data: Dataset) -> list[str]:
        return list(make_sections(data, items, library, Selection())[0].metrics)

    assert metrics(own) == [of_task[1]] and metrics(bundled) == list(of_task)
    assert metrics(msgspec.structs.replace(own, labels=Labels.from_rows(()))) == list(of_task)


def test_a_sheet_is_blind(data: Dataset, library: Library, tmp_path: Path) -> None:
    path = tmp_path / "sheet.xlsx"
    export_labels(data, path, library, selection=CHAT)
    book = openpyxl.load_workbook(path)
    shown = [str(cell.value) for page in book.worksheets if page.sheet_state == "visible" for row in page.iter_rows() for cell in row]
    assert not {"gpt", "llama", "secret", "a-bad", "g1", "=x"} & set(shown)
    assert [page.sheet_state for page in book.worksheets] == ["visible", "visible", "veryHidden"]
    hidden = [str(cell.value) for row in book.worksheets[2].iter_rows() for cell in row]
    assert not {"gpt", "llama", "secret", "g1", "=x"} & set(hidden)


def test_items_of_a_group_stand_together_in_an_order_of_the_seed(library: Library, tmp_path: Path) -> None:
    data = load_bundled(library, ["cs"])
    orders = []
    for seed in (0, 0, 1):
        export_labels(data, tmp_path / "s.xlsx", library, selection=Selection(tasks=("summarize",), seed=seed))
        marker = openpyxl.load_workbook(tmp_path / "s.xlsx")["_harness"]
        orders.append([row[1] for row in marker.iter_rows(min_row=3, max_col=4, values_only=True) if row[0]])
    assert orders[0] == orders[1] != orders[2] and set(orders[0]) == set(orders[2])
    groups = [data.by_id[item].group for item in orders[0]]
    assert len(set(groups)) == 1 + sum(one != other for one, other in itertools.pairwise(groups))
    assert [i for i in orders[0] if data.by_id[i].group == groups[0]] != [i.item_id for i in data.items if i.group == groups[0]]


def test_a_sheet_looks_as_a_reader_needs_it(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "s.xlsx"
    export_labels(load_bundled(library, ["ja"]), path, library, selection=Selection(tasks=("summarize", "open_prompt")))
    book = openpyxl.load_workbook(path)
    words = library.interface("ja").strings
    tasks = {words[f"task_{task}"]: task for task in ("summarize", "open_prompt")}
    assert len(book.sheetnames) == 4 and book.sheetnames[1] == words["sheet_title"] and {*tasks} < {*book.sheetnames}
    guide = [str(cell.value) for row in book.worksheets[1].iter_rows() for cell in row if cell.value]
    assert words["sheet_scores"] in guide and not [text for text in guide if re.search(r"\b(the|text|score)\b", text)], "no English is left"
    page = book.worksheets[0]
    titles = [cell.value for cell in page[3]]
    own = library.instructions("ja")
    title = own.rubrics["linguistic_acceptability"].title
    assert title in titles and titles[-1] == words["comment"]
    names = [cell.value for cell in page[2]]
    assert [name.partition(":")[0] for name in names] == ["number", "key", *["metric"] * 5, "text", "text", "comment"]
    task = tasks[page.title]
    assert titles[7:9] == [own.tasks[task].fields[name.partition(":")[2]] for name in names[7:9]]
    assert page.freeze_panes == "H4", "scores stay in sight beside a text"
    assert page["A1"].value == words["your_code"].replace("{code}", "")
    assert page.row_dimensions[2].hidden and page.column_dimensions["B"].hidden
    assert page.protection.sheet and not page["D1"].protection.locked and page["H4"].protection.locked
    texts = [cell for cell in page[4] if cell.column_letter in "HI" and isinstance(cell.value, str)]
    lines = max(len(cell.value) // page.column_dimensions[cell.column_letter].width for cell in texts)
    assert page.row_dimensions[4].height > 15 * lines and page.sheet_properties.pageSetUpPr.fitToPage
    assert (page.page_setup.fitToWidth, page.page_setup.fitToHeight, page.page_setup.orientation) == (1, 0, "landscape")
    assert page.print_title_rows == "$3:$3" and page["F1"].value.startswith('="') and "&COUNTA(C4:G" in page["F1"].value
    rules = {str(rule.sqref): rule.formula1 for rule in page.data_validations.dataValidation}
    assert len(rules) == 5 and all(rule.startswith("=_harness!$") for rule in rules.values())
    last = page.max_row
    answer = next(cell for cell, each in zip(page[last], titles, strict=True) if each == title)
    assert not answer.protection.locked and answer.value is None and f"{answer.column_letter}4:{answer.column_letter}{last}" in rules
    guide = "\n".join(str(cell.value) for row in book.worksheets[1].iter_rows() for cell in row)
    assert guide.index(words["sheet_name"]) < guide.index(words["judge_alone"]) < guide.index(words["unreviewed"])
    rubric = own.rubrics["linguistic_acceptability"]
    assert rubric.description in guide and rubric.criteria["0"][0] in guide and own.tasks[task].instruction.strip() in guide


def test_texts_are_never_formulas(data: Dataset, library: Library, tmp_path: Path) -> None:
    path = tmp_path / "sheet.xlsx"
    export_labels(data, path, library, selection=CHAT._replace(annotator="=cmd()"))
    cells = [cell for page in openpyxl.load_workbook(path).worksheets for row in page.iter_rows() for cell in row]
    assert [(cell.coordinate, cell.value) for cell in cells if cell.data_type == "f"] == [("F1", '="6編中"&COUNTA(C4:D6)&"編完了"')]
    [text] = [cell for cell in cells if cell.value == "=1+1"]
    assert text.quotePrefix


def test_a_right_to_left_language_has_a_right_to_left_sheet(folder: Path, library: Library, tmp_path: Path) -> None:
    rows = [{**row, "language": "ar"} for row in ITEMS]
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    export_labels(load_folder(folder, library), tmp_path / "s.xlsx", library, selection=CHAT)
    page = openpyxl.load_workbook(tmp_path / "s.xlsx").worksheets[0]
    assert page.sheet_view.rightToLeft and page["E4"].alignment.readingOrder == 2


def test_a_source_in_another_language_has_its_own_direction(library: Library, tmp_path: Path) -> None:
    items = [row | {"language": "ar"} for row in translation_items(texts=1)]
    data = load_folder(write_translations(tmp_path, items), library)
    export_labels(data, tmp_path / "s.xlsx", library, selection=Selection(["ar"], fields=("source", "output")))
    page = openpyxl.load_workbook(tmp_path / "s.xlsx").worksheets[0]
    order = {cell.value: cell.column_letter for cell in page[2]}
    assert [page[f"{order[name]}4"].alignment.readingOrder for name in ("text:source", "text:output")] == [0, 2]


def test_the_guide_of_a_sheet_names_the_languages_of_the_texts(library: Library, tmp_path: Path) -> None:
    items = [item | {"task": "translate"} for item in translation_items(texts=2)]
    export_labels(load_folder(write_translations(tmp_path, items), library), tmp_path / "s.xlsx", library)
    book = openpyxl.load_workbook(tmp_path / "s.xlsx")
    cells = [str(cell.value) for sheet in book.worksheets for row in sheet.iter_rows() for cell in row if cell.value]
    assert [cell for cell in cells if "{source_language}" in cell or "{language}" in cell] == []
    assert sum("(jazyk: angličtina) a měl ho přeložit (jazyk překladu: čeština)" in cell for cell in cells) == 1


@pytest.mark.parametrize(("length", "fits"), [(MAX_CELL, True), (MAX_CELL + 1, False)])
def test_a_text_longer_than_a_cell_is_refused_with_its_item(
    folder: Path, library: Library, tmp_path: Path, length: int, fits: bool
) -> None:
    (folder / "items.jsonl").write_text("".join(json.dumps(row | {"output": "x" * length}) + "\n" for row in ITEMS))
    data = load_folder(folder, library)
    if fits:
        export_labels(data, tmp_path / "s.xlsx", library, selection=CHAT)
    else:
        with pytest.raises(UsageError, match=r"item '[abc].*', 'output': a text of 32768 characters, and a cell holds 32767"):
            export_labels(data, tmp_path / "s.xlsx", library, selection=CHAT)
    assert (tmp_path / "s.xlsx").exists() is fits


def _no_names(book: Any) -> None:
    book.worksheets[0]["D1"] = None


def _other_version(book: Any) -> None:
    book["_harness"]["B1"] = 9


def _no_row_of_names(book: Any) -> None:
    book.worksheets[0].delete_rows(2)


def _renamed(book: Any) -> None:
    book.worksheets[0].title = "Mine"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_no_names, r"sheet\.xlsx:Chat!D1: the sheet has no name; write one into this cell or pass --annotator NAME"),
        (_other_version, "the sheet has version 9; this program reads version 1"),
        (_no_row_of_names, "the hidden row that names the columns was changed"),
        (_renamed, "the sheets with the answers were removed or renamed: Chat"),
    ],
)
def test_a_sheet_that_lost_what_the_program_needs_is_refused(
    data: Dataset, library: Library, tmp_path: Path, change: Callable[[Any], None], words: str
) -> None:
    path = tmp_path / "sheet.xlsx"
    export_labels(data, path, library, selection=CHAT)
    fill(path, {(4, "metric:tone"): "Good"})
    book = openpyxl.load_workbook(path)
    change(book)
    book.save(path)
    with pytest.raises(ContentError, match=words):
        read_source(str(path))


def test_an_unfilled_sheet_and_a_foreign_row_are_noticed(data: Dataset, folder: Path, library: Library, into: Any, tmp_path: Path) -> None:
    path = tmp_path / "sheet.xlsx"
    export_labels(data, path, library, selection=CHAT)
    fill(path, {})
    with pytest.raises(ContentError, match="nothing is filled in yet"):
        read_source(str(path))
    shutil.copy(path, tmp_path / "copy.xlsx")
    fill(path, {(4, "metric:tone"): "Good", (9, "metric:tone"): "Good"})
    done = into(path, {"language": None, "task": None, "metrics": {}}, items=str(folder))
    assert len(into.labels) == 1 and "its hidden key is missing or was changed" in done.refused[0].reason


# Label Studio


def test_a_project_comes_back_when_it_is_filled_in(data: Dataset, folder: Path, library: Library, into: Any, tmp_path: Path) -> None:
    done = export_labels(data, tmp_path / "tasks.json", library, selection=CHAT)
    assert [path.name for path in done.files] == ["tasks.json", "tasks.xml"]
    tasks = json.loads((tmp_path / "tasks.json").read_text("utf-8"))
    view = ElementTree.parse(tmp_path / "tasks.xml").getroot()
    names = {control.get("name"): control.tag for control in view if control.get("toName") == "text_output"}
    assert names == {"tone": "Choices", "warmth": "Number"}
    assert [choice.get("value") for choice in view.iter("Choice")] == ["Good", "-", "a, b"]
    assert {tuple(task["data"]) for task in tasks} == {("item_id", "language", "output", "task")}
    for number, task in enumerate(tasks, start=1):
        result = [
            {"from_name": "tone", "to_name": "text_output", "type": "choices", "value": {"choices": ["a, b"]}},
            {"from_name": "warmth", "to_name": "text_output", "type": "number", "value": {"number": number}},
        ]
        task |= {
            "id": number,
            "annotations": [{"id": number, "completed_by": 7, "was_cancelled": False, "result": result}],
            "predictions": [],
        }
    (tmp_path / "done.json").write_text(json.dumps(tasks))
    into(tmp_path / "done.json", {"language": None, "task": None, "metrics": {}}, items=str(folder))
    expected = [
        label
        for n, task in enumerate(tasks, 1)
        for label in ((task["data"]["item_id"], "tone", "a, b"), (task["data"]["item_id"], "warmth", n))
    ]
    assert [(item, metric, score) for item, _, metric, score in into.labels] == expected


def test_the_interface_escapes_what_it_shows(folder: Path, library: Library, tmp_path: Path) -> None:
    (folder / "data.toml").write_text(TOML.replace('"a, b"', "'<b a=\"1\">&'"))
    export_labels(load_folder(folder, library), tmp_path / "tasks.json", library, selection=CHAT)
    view = ElementTree.parse(tmp_path / "tasks.xml").getroot()
    assert [choice.get("value") for choice in view.iter("Choice")][-1] == '<b a="1">&' and not list(view.iter("b"))


def test_a_project_is_of_one_task(library: Library, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="shows texts of one task; pick one with --task"):
        export_labels(load_bundled(library, ["ja"]), tmp_path / "tasks.json", library)


def test_no_control_character_stands_in_what_is_exported(data: Dataset, library: Library, tmp_path: Path) -> None:
    fields = {"output": "a\x1b[31m\x00\x9b2J"}
    spoilt = [msgspec.structs.replace(item, fields=item.fields | fields, system="s\x1b\x9b") for item in data.items]
    for name in ("a.csv", "a.jsonl", "a.json"):
        export_labels(msgspec.structs.replace(data, items=spoilt), tmp_path / name, library, selection=Selection(fields=("output",)))
        written = (tmp_path / name).read_text("utf-8-sig")
        assert not any(unicodedata.category(c) == "Cc" and c not in "\r\n" for c in written), name
