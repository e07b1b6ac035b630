"""Every row of a source comes in or is refused with its place and its reason, and the folder is written whole or not at all."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import pearsonr

from harness.annotate.label_check import BY as LABELS_BY
from harness.annotate.label_check import check_labels
from harness.content import Library
from harness.content.specs import LabelMapping, ScoreColumn
from harness.errors import ContentError, HarnessError, StoreError, UsageError
from harness.exchange.labels.label_import import import_labels
from harness.exchange.labels.mapping import parse_scales
from harness.exchange.labels.table_options import ImportOptions
from harness.measure.options import MeasureOptions
from harness.model import Scale

Written = Callable[..., Path]
WARMTH = Scale(kind="interval", min=1, max=5, best=5)
LONG = "item_id,annotator_id,metric,score\n"


def reasons(folder: Any) -> list[str]:
    return [f"{row['place']}: {row['reason']}" for row in folder.refused]


# Long and wide


def test_a_long_table_becomes_a_data_folder(written: Written, into: Any) -> None:
    done = into(
        written("a.csv", "ID,worker,dimension,rating,ANSWER\n1,x,tone,2,Hi\n1,y,tone,1,Hi\n2,x,tone,0,Ho\n"),
        {"texts": {"output": "ANSWER"}},
    )
    assert into.labels == [("1", "x", "tone", 2), ("1", "y", "tone", 1), ("2", "x", "tone", 0)]
    assert [(item.item_id, item.language, item.task, item.fields) for item in into.data.items] == [
        ("1", "en", "chat", {"output": "Hi"}),
        ("2", "en", "chat", {"output": "Ho"}),
    ]
    assert (done.rows, done.labels, done.blank, done.refused, done.items, done.annotators, done.metrics) == (3, 3, 0, (), 2, 2, ("tone",))
    assert "columns were matched by name: item_id = 'ID', annotator_id = 'worker', metric = 'dimension', score = 'rating'" in done.hints[0]
    assert into.data.scales["tone"] == Scale(kind="ordinal", classes=(0, 1, 2), best=2) and not into.refused


WIDE: dict[str, tuple[str, dict[str, Any]]] = {
    "annotators": ("id,x,y\n1,2,1\n2,,0\n", {"wide_annotators": ("x", "y"), "metric": "tone"}),
    "annotators, metric in a column": ("id,metric,x,y\n1,tone,2,1\n2,tone,,0\n", {"wide_annotators": ("x", "y")}),
    "both": (
        "id,x tone,y tone\n1,2,1\n2,,0\n",
        {"wide": (ScoreColumn("x tone", "x", "tone"), ScoreColumn("y tone", "y", "tone"))},
    ),
}


@pytest.mark.parametrize(("table", "mapping"), WIDE.values(), ids=WIDE)
def test_a_table_that_is_wide_in_annotators_is_read_cell_by_cell(written: Written, into: Any, table: str, mapping: dict[str, Any]) -> None:
    done = into(written("a.csv", table), mapping)
    assert into.labels == [("1", "x", "tone", 2), ("1", "y", "tone", 1), ("2", "y", "tone", 0)]
    assert (done.rows, done.labels, done.blank) == (3, 3, 1)


@pytest.mark.parametrize("mapping", [{"wide_metrics": ("tone", "warmth")}, {}], ids=["named", "guessed by metrics that are known"])
def test_a_table_that_is_wide_in_metrics_is_read_cell_by_cell(written: Written, into: Any, mapping: dict[str, Any]) -> None:
    scales = {"metrics": {"tone": Scale(kind="ordinal", classes=(0, 1, 2)), "warmth": WARMTH}}
    into(written("a.csv", "id;user;tone;warmth;age\n1;x;2;4,5;30\n2;x;;3;30\n"), scales | mapping)
    assert into.labels == [("1", "x", "tone", 2), ("1", "x", "warmth", 4.5), ("2", "x", "warmth", 3)]


def test_a_bad_cell_of_a_wide_table_is_placed_by_its_column(written: Written, into: Any) -> None:
    into(written("a.csv", "id,Anna,Bob\n1,9,1\n"), {"wide_annotators": ("Anna", "Bob"), "metric": "tone"})
    assert reasons(into) == ["a.csv:2 (column 2): '9' is not on the scale (0, 1, 2)"]


def test_constants_stand_for_columns(written: Written, into: Any) -> None:
    into(written("a.csv", "id,score\n1,2\n"), {"metric": "tone", "annotator": "x"})
    assert into.labels == [("1", "x", "tone", 2)]


def test_labels_that_are_aggregates_need_no_annotator(written: Written, into: Any) -> None:
    into(written("a.csv", "id,score\n1,2\n"), {"metric": "tone", "annotators": "aggregate"}, keep_annotators=False)
    assert into.labels == [("1", "aggregate", "tone", 2)] and 'annotators = "aggregate"' in into.about


def test_items_keep_their_group_system_split_and_source_of_labels(written: Written, into: Any) -> None:
    table = "id,doc,model,split,language,annotator,score,source\n1,d,m,dev,pt_br,x,2,constructed\n2,d,m,test,jpn,x,1,native\n"
    done = into(written("a.csv", table), {"metric": "tone", "group": "doc", "system": "model", "language": None})
    assert [(i.language, i.group, i.system, i.split) for i in into.data.items] == [("pt-BR", "d", "m", "dev"), ("ja", "d", "m", "test")]
    assert [label.source for label in into.data.labels] == ["constructed", "native"]
    assert "language 'pt_br' was read as 'pt-BR'" in done.notes


def test_columns_called_source_or_split_with_other_contents_are_left_alone(written: Written, into: Any) -> None:
    into(written("a.csv", "id,annotator,score,source,split\n1,x,2,Guten Tag,train\n"), {"metric": "tone"})
    assert [label.source for label in into.data.labels] == ["people"] and into.data.items[0].split == "test"


# What is done to metrics and scores


def test_what_the_mapping_does_is_done_and_noted(written: Written, into: Any) -> None:
    table = LONG + "1,x,Stil,Good,\n1,x,warmth,2,\n1,x,remark,nice,\n2,x,warmth,1,\n".replace(",\n", "\n")
    mapping = {
        "rename": {"Stil": "tone"},
        "categories": {"tone": {"Good": 2, "Bad": 0}},
        "flip": ("warmth", "tone"),
        "drop": ("remark",),
        "metrics": {"tone": Scale(kind="ordinal", classes=(0, 1, 2)), "warmth": WARMTH},
    }
    done = into(written("a.csv", table), mapping)
    assert into.labels == [("1", "x", "tone", 0), ("1", "x", "warmth", 4), ("2", "x", "warmth", 5)]
    assert (done.rows, done.labels, done.left_out) == (3, 3, 1)
    for note in (
        "metric 'Stil' was renamed to 'tone'",
        "'tone': 'Good' was mapped to 2, 'Bad' was mapped to 0",
        "'warmth' was flipped: scores are reversed on the scale 1 to 5",
        "metric 'remark' was left out",
    ):
        assert note in into.data.about.notes and note in done.notes


@pytest.mark.parametrize("what", [{"flip": ("tnoe",)}, {"rename": {"tnoe": "tone"}}, {"categories": {"tnoe": {"Good": 2}}}], ids=str)
def test_a_name_that_does_not_occur_is_a_slip_and_nothing_is_written(written: Written, into: Any, what: dict[str, Any]) -> None:
    what = what | {"metrics": {"tone": Scale(kind="ordinal", classes=(0, 1, 2)), "tnoe": WARMTH}} if "flip" in what else what
    with pytest.raises(UsageError, match=r"tnoe: .*a\.csv has no label of this metric\. Did you mean 'tone'\?\n +choose from: tone"):
        into(written("a.csv", LONG + "1,x,tone,2\n"), what)
    assert not into.folder.exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("warmth=1..5:kind=interval:best=5", ("the interval scale", "because an interval was given", "--scale warmth=1..5")),
        (
            "warmth=1,2,3,4,5:best=5",
            ("the ordinal scale", "because whole numbers or words were given", "one off as wrong", "--scale warmth=1..5:kind=interval"),
        ),
        ("warmth=1..5:best=5", ("the ordinal scale 1, 2, 3, 4, 5", "--scale warmth=1..5:kind=interval")),
    ],
)
def test_the_import_says_which_scale_it_took(written: Written, into: Any, text: str, words: tuple[str, ...]) -> None:
    done = into(written("a.csv", "id,annotator,score\n1,x,2\n"), {"metric": "warmth", "metrics": parse_scales([text])})
    [hint] = [one for one in done.hints if "scale" in one]
    assert hint.startswith("'warmth' is on the ") and all(each in hint for each in words)


# What is refused, row by row


REFUSED = {
    "off the scale": ("1,x,tone,3", "'3' is not on the scale (0, 1, 2)"),
    "empty score": ("1,x,tone,", "the score is empty"),
    "empty item": (",x,tone,2", "no item id: the cell is empty"),
    "empty annotator": ("1,,tone,2", "no annotator: the cell is empty"),
    "empty metric": ("1,x,,2", "no metric: the cell is empty"),
    "unknown metric": ("1,x,tome,2", "metric 'tome' has no scale. Did you mean 'tone'? Give it one (--scale tome=0,1,2:best=2 or "),
    "the same again": ("0,x,tone,2", "x already scored 'tone' of '0' with the same score in a.csv:2"),
    "contradiction": ("0,x,tone,1", "x already scored 'tone' of '0' with 2, not 1 in a.csv:2"),
}


@pytest.mark.parametrize(("row", "words"), REFUSED.values(), ids=REFUSED)
def test_a_wrong_row_is_refused_with_its_place_and_the_others_come_in(written: Written, into: Any, row: str, words: str) -> None:
    done = into(written("a.csv", f"{LONG}0,x,tone,2\n{row}\n3,x,tone,0\n"))
    assert [label[0] for label in into.labels] == ["0", "3"] and (done.rows, done.labels, len(done.refused)) == (3, 2, 1)
    [reason] = reasons(into)
    assert reason.startswith(f"a.csv:3: {words}")
    assert "1 of 3 rows were refused; refused.jsonl holds them" in into.data.about.notes


@pytest.mark.parametrize(
    ("tag", "words"),
    [
        ("jp", "'jp' is a country code; Japanese is 'ja'"),
        ("cz", "Czech is 'cs'"),
        ("Japonese", "if Japanese is meant, write 'ja'"),
        ("", "has no language"),
    ],
)
def test_a_bad_language_tag_is_refused(written: Written, into: Any, tag: str, words: str) -> None:
    into(written("a.csv", f"id,lang,annotator,score\n1,ja,x,2\n2,{tag},x,1\n"), {"metric": "tone", "language": None})
    assert [item.item_id for item in into.data.items] == ["1"] and words in reasons(into)[0]


def test_an_item_that_is_another_one_in_a_later_row_is_refused(written: Written, into: Any) -> None:
    into(written("a.csv", "id,annotator,score,output\n1,x,2,Hi\n1,y,2,\n1,z,2,Ho\n"), {"metric": "tone"})
    assert [who for _, who, _, _ in into.labels] == ["x", "y"]
    assert "'output' of item '1' differs from" in reasons(into)[0]


def test_cells_of_a_workbook_are_refused_with_what_excel_made_of_them(workbook: Callable[..., Path], into: Any) -> None:
    import datetime

    rows = [["id", "annotator", "score"], [1, "x", datetime.date(2024, 5, 1)], [2, "x", True], [3, "x", 2], [4, "x", 1], [5, "x", 1]]
    into(workbook(rows, lambda sheet: sheet.merge_cells("A5:A6")), {"metric": "tone"})
    assert into.labels == [("3", "x", "tone", 2)]
    assert [reason.partition(";")[0] for reason in reasons(into)] == [
        "book.xlsx:Scores!C2: Excel turned it into the date 2024-05-01",
        "book.xlsx:Scores!C3: the truth value TRUE where a score should be",
        "book.xlsx:Scores!C5: the cell is part of the merged range A5:A6",
        "book.xlsx:Scores!C6: the cell is part of the merged range A5:A6",
    ]


def test_columns_that_nothing_was_read_from_are_named(written: Written, into: Any) -> None:
    done = into(written("a.csv", "id,annotator,score,age,remark\n1,x,2,30,fine\n"), {"metric": "tone"})
    assert "columns that were not read: age, remark; name them with" in " ".join(done.hints)


def test_everything_that_a_table_lacks_is_said_at_once(written: Written, into: Any) -> None:
    with pytest.raises(ContentError) as caught:
        into(written("a.csv", "text,age\nHi,30\n"), {"texts": {"output": "txt"}})
    for words in (
        "5 things are missing; the columns are: text, age",
        "'txt' is not a column",
        "no column with item ids",
        "no column with scores",
        "the annotator of the scores is unknown",
    ):
        assert words in str(caught.value)


def test_the_annotator_may_be_in_the_files_name(written: Written, into: Any) -> None:
    table = "id,score\n1,2\n"
    into(written("ratings_eva.csv", table), {"metric": "tone", "annotator_from_file": r"ratings_(.+)\.csv"})
    into(written("ratings_jan.csv", table), {"metric": "tone", "annotator_from_file": r"ratings_(.+)\.csv"}, append=True)
    assert into.labels == [("1", "eva", "tone", 2), ("1", "jan", "tone", 2)]
    with pytest.raises(UsageError, match=r"--annotator-from-file x\(\.\+\): the name ratings_jan\.csv does not fit"):
        into(written("ratings_jan.csv", table), {"metric": "tone", "annotator_from_file": "x(.+)"}, append=True)


def test_another_scale_of_a_metric_in_the_folder_is_refused_with_its_rows(written: Written, into: Any) -> None:
    into(written("a.csv", LONG + "1,x,warmth,2\n2,x,warmth,1\n"), {"metrics": {"warmth": WARMTH}})
    with pytest.raises(
        UsageError, match=r"'warmth' already has the scale 1 to 5 in .*labels\.jsonl:1 and 1 more rows.*--rename warmth=NAME"
    ):
        into(written("b.csv", LONG + "3,x,warmth,2\n"), {"metrics": {"warmth": Scale(kind="interval", min=0, max=9)}}, append=True)


def test_where_every_row_is_refused_nothing_is_written(written: Written, tmp_path: Path, library: Library) -> None:
    mapping = LabelMapping(language="en", task="chat", metrics={"tone": Scale(kind="ordinal", classes=(0, 1, 2))})
    options = ImportOptions(keep_annotators=True)
    done = import_labels(written("a.csv", LONG + "1,x,tone,7\n"), tmp_path / "none", mapping, options, library)
    assert (done.rows, done.labels, len(done.refused), done.written) == (1, 0, 1, False) and not (tmp_path / "none").exists()


def test_where_ids_repeat_nothing_is_written_unless_it_is_asked_for(written: Written, into: Any) -> None:
    source = written("a.csv", "item_id,score\n1,2\n1,0\n2,1\n2,1\n")
    what = {"metric": "tone", "annotators": "aggregate"}
    done = into(source, what, allow_refused=False)
    assert (done.written, done.labels, len(done.refused)) == (False, 2, 2) and not into.folder.exists()
    assert "if another person gave it, name the column of the annotators: --column annotator_id=COLUMN" in done.refused[0].reason
    assert not any("refused.jsonl" in note for note in done.notes)
    assert into(source, what).written and len(into.labels) == 2 and len(into.refused) == 2


def test_a_folder_with_an_empty_table_of_labels_has_none(written: Written, into: Any) -> None:
    into(written("a.csv", LONG + "1,x,tone,2\n"))
    (into.folder / "labels.jsonl").write_text("")
    assert into(written("a.csv", LONG + "1,x,tone,2\n")).labels == 1 and len(into.labels) == 1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["1", "2", "", "x"]), st.sampled_from(["a", "b", ""]), st.sampled_from(["0", "2,0", "3", "", "x", "1-May"])
        ),
        min_size=1,
        max_size=12,
    )
)
def test_rows_in_are_rows_out_and_rows_refused(
    tmp_path_factory: pytest.TempPathFactory, library: Library, rows: list[tuple[str, ...]]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "a.csv").write_text("item_id;annotator_id;score\n" + "".join(";".join(row) + "\n" for row in rows))
    mapping = LabelMapping(language="en", task="chat", metric="tone", metrics={"tone": Scale(kind="ordinal", classes=(0, 1, 2))})
    expected = sum(any(row) for row in rows)
    if not expected:
        return
    done = import_labels(folder / "a.csv", folder / "data", mapping, ImportOptions(keep_annotators=True, allow_refused=True), library)
    assert expected == done.rows + done.blank and done.rows == done.labels + len(done.refused)
    labels = folder / "data" / "labels.jsonl"
    assert labels.exists() == done.written and (len(labels.read_text().splitlines()) if done.written else 0) == done.labels


# What is refused as a whole


WHOLE: dict[str, tuple[str, dict[str, Any], type[HarnessError], str]] = {
    "columns that are not there": (
        LONG + "1,x,tone,2\n",
        {"columns": {"score": "Score", "item_id": "item"}},
        ContentError,
        "'Score', 'item' are not columns; the columns are: item_id, annotator_id, metric, score",
    ),
    "a wide column that is not there": (
        "id,a\n1,2\n",
        {"wide_annotators": ("a", "b"), "metric": "tone"},
        ContentError,
        "'b' is not a column; the columns are: id, a",
    ),
    "no item ids": (
        "x,annotator,metric,score\n1,x,tone,2\n",
        {},
        ContentError,
        "no column with item ids was found; name it with --column item_id=COLUMN",
    ),
    "no scores": ("id,annotator,metric\n1,x,tone\n", {}, ContentError, "no column with scores was found"),
    "no metric": ("id,annotator,score\n1,x,2\n", {}, ContentError, "the metric of the scores is unknown; give --metric NAME"),
    "no annotator": ("id,metric,score\n1,tone,2\n", {}, ContentError, "the annotator of the scores is unknown"),
    "no language": (LONG + "1,x,tone,2\n", {"language": None}, UsageError, "the language and task of the items of"),
    "a task's texts": (
        LONG + "1,x,tone,2\n",
        {"task": "summarize"},
        ContentError,
        "task 'summarize' needs the texts passage, output; name their columns (--text passage=COLUMN --text output=COLUMN)",
    ),
    "a flip without a reverse": (
        LONG + "1,x,tone,2\n",
        {"flip": ("open",), "metrics": {"open": Scale(kind="interval")}},
        UsageError,
        "'open' cannot be flipped: its scale has no min",
    ),
}


@pytest.mark.parametrize(("table", "mapping", "error", "words"), WHOLE.values(), ids=WHOLE)
def test_what_cannot_be_imported_at_all_leaves_nothing_behind(
    written: Written, into: Any, tmp_path: Path, table: str, mapping: dict[str, Any], error: type[HarnessError], words: str
) -> None:
    with pytest.raises(error, match=re.escape(words)):
        into(written("a.csv", table), mapping)
    assert {path.name for path in tmp_path.iterdir()} <= {"a.csv", "settings"}


# Annotators


def test_annotators_get_pseudonyms_and_their_ids_are_nowhere(written: Written, into: Any, tmp_path: Path) -> None:
    source = written("Anna.csv", "id,Anna,Bob\n1,2,1\n2,Anna thinks 9,0\n3,1,\n")
    done = into(source, {"wide_annotators": ("Anna", "Bob"), "metric": "tone"}, keep_annotators=False)
    names = {label[1] for label in into.labels}
    assert len(names) == 2 and all(re.fullmatch("ann-[0-9a-f]{10}", name) for name in names)
    kept = "".join(path.read_text("utf-8") for path in into.folder.iterdir())
    assert "Anna" not in kept and "Bob" not in kept
    hints = " ".join([*done.hints, *done.notes, *(f"{x.place} {x.reason} {x.row}" for x in done.refused)])
    assert "Anna" not in hints.replace(str(tmp_path), "") and "Bob" not in hints


def test_the_same_salt_gives_the_same_pseudonyms_and_another_one_others(
    written: Written, into: Any, tmp_path: Path, library: Library
) -> None:
    source = written("a.csv", LONG + "1,x,tone,2\n")
    names = []
    for number, salt in enumerate(("one", "one", "two", None, None)):
        mapping = LabelMapping(language="en", task="chat", metrics={"tone": WARMTH})
        folder = tmp_path / f"data {number}"
        import_labels(source, folder, mapping, ImportOptions(salt_file=tmp_path / salt if salt else None), library)
        names.append(json.loads((folder / "labels.jsonl").read_text())["annotator_id"])
    assert names[0] == names[1] and names[3] == names[4] and len(set(names)) == 3


@pytest.mark.parametrize(("asked", "kind"), [("persistent", "persistent"), (None, "anonymous")])
def test_the_folder_says_what_its_annotators_are(written: Written, into: Any, asked: Any, kind: str) -> None:
    done = into(written("a.csv", LONG + "1,x,tone,2\n"), {"annotators": asked})
    assert into.data.about.annotators == kind
    assert any("annotators count as anonymous" in note for note in done.hints) is (asked is None)


# Items from elsewhere


ITEMS = """{"item_id":"1","language":"ja","task":"chat","group":"g","output":"あ","note":[1]}
{"item_id":"2","language":"ja","task":"chat","output":"い"}
"""


def test_items_of_a_data_folder_are_taken_as_they_are(written: Written, into: Any, tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    written("given/items.jsonl", ITEMS)
    written(
        "given/data.toml", 'id = "given"\nlicence = "CC0"\ncitation = "One 2020"\n[metrics.charm]\nkind = "interval"\nmin = 0\nmax = 1\n'
    )
    into(written("a.csv", LONG + "1,x,charm,0.5\n3,x,charm,1\n"), {"language": None, "task": None}, items=str(tmp_path / "given"))
    assert (into.folder / "items.jsonl").read_text("utf-8") == ITEMS
    assert into.labels == [("1", "x", "charm", 0.5)] and reasons(into) == ["a.csv:3: there is no item '3'"]
    about = into.data.about
    assert (about.id, about.licence, about.citation, list(about.metrics)) == ("data", "CC0", "One 2020", ["charm"])


@pytest.mark.parametrize(
    ("name", "content", "mapping"),
    [
        ("items.jsonl", ITEMS, {}),
        ("items.csv", "ID,lang,task,doc,ANSWER\n1,ja,chat,g,あ\n2,ja,chat,,い\n", {"group": "doc", "texts": {"output": "ANSWER"}}),
        ("items.csv", "id,group,output\n1,g,あ\n2,,い\n", {"language": "ja", "task": "chat"}),
    ],
    ids=["jsonl", "csv with names", "csv with constants"],
)
def test_items_may_stand_in_a_file_of_their_own(written: Written, into: Any, name: str, content: str, mapping: dict[str, Any]) -> None:
    base = {"language": None, "task": None}
    into(written("a.csv", LONG + "1,x,tone,2\n2,x,tone,1\n"), base | mapping, items=str(written(name, content)))
    assert [(i.item_id, i.language, i.group, i.fields["output"]) for i in into.data.items] == [
        ("1", "ja", "g", "あ"),
        ("2", "ja", "2", "い"),
    ]


def test_a_column_that_neither_table_has_is_named(written: Written, into: Any) -> None:
    base = {"language": None, "task": None, "texts": {"output": "NOWHERE"}}
    with pytest.raises(ContentError, match="'NOWHERE' is not a column; the columns are: item_id, language"):
        into(written("a.csv", LONG + "1,x,tone,2\n"), base, items=str(written("items.jsonl", ITEMS)))


def test_a_wrong_item_in_such_a_file_is_an_error_with_its_line(written: Written, into: Any) -> None:
    items = written("items.csv", "id,language,task,output\n1,ja,chat,a\n2,jp,chat,b\n")
    with pytest.raises(ContentError, match=r"items\.csv:3: 'jp' is a country code; Japanese is 'ja'"):
        into(written("a.csv", LONG + "1,x,tone,2\n"), {"language": None, "task": None}, items=str(items))


def test_bundled_items_are_found_by_their_id(written: Written, into: Any) -> None:
    table = "item_id,annotator_id,linguistic_acceptability\nja-su-1-fluent,x,2\n"
    into(written("a.csv", table), {"language": None, "task": None}, items="bundled")
    [item] = into.data.items
    assert (item.language, item.task, item.group) == ("ja", "summarize", "ja-su-1") and "metrics" not in into.about


# Folders that exist


def test_labels_are_added_only_when_that_is_said(written: Written, into: Any) -> None:
    one, two = written("1.csv", LONG + "1,x,tone,2\n"), written("2.csv", LONG + "1,y,tone,1\n2,x,tone,0\n1,x,tone,0\n")
    into(one)
    before = {path.name: path.read_bytes() for path in into.folder.iterdir()}
    with pytest.raises(UsageError, match="already holds labels; pass --append to add to them"):
        into(two)
    assert before == {path.name: path.read_bytes() for path in into.folder.iterdir()}
    done = into(two, append=True)
    assert into.labels == [("1", "x", "tone", 2), ("1", "y", "tone", 1), ("2", "x", "tone", 0)]
    assert (done.rows, done.labels, done.items) == (3, 2, 2)
    [reason] = reasons(into)
    assert reason.startswith("2.csv:4: x already scored 'tone' of '1' with 2, not 0 in ") and reason.endswith("labels.jsonl:1")


def test_a_second_round_is_written_beside_the_labels_and_gives_the_ceiling(written: Written, into: Any) -> None:
    """Another person scores three texts again, and the same person one; they are no reference of a judge."""
    scale = {"metrics": {"quality": Scale(kind="interval", min=0.0, max=100.0, best=100.0)}, "annotators": "persistent"}
    first = "".join(f"{n},x,quality,{40 + 10 * n}\n" for n in range(1, 5))
    into(written("1.csv", LONG + first), scale)
    labels = into.labels
    again = "1,y,quality,45\n2,y,quality,70\n3,y,quality,50\n4,x,quality,81\n"
    done = into(written("2.csv", LONG + again + "9,y,quality,1\n1,y,quality,2\n"), second_round=True)
    assert into.labels == labels and (done.labels, done.rows) == (4, 6)
    assert [reason.split(" ", 1)[1] for reason in reasons(into)][1].startswith("y already scored 'quality' of '1' with 45")
    assert into.data.second is not None and len(into.data.second) == 4
    assert any("4 scores are a second round (second_ratings)" in note for note in into.data.about.notes)
    [cell] = check_labels(into.data, MeasureOptions(by=LABELS_BY)).cells
    other = cell["second_ratings"]["another_person"]
    assert (other["n"], other["pearson"]) == (3, pytest.approx(pearsonr([50, 60, 70], [45, 70, 50]).statistic))
    assert cell["second_ratings"]["same_person"]["n"] == 1
    more = into(written("3.csv", LONG + "4,y,quality,30\n"), second_round=True)
    assert more.labels == 1 and len(into.data.second) == 5


def test_a_second_round_needs_a_first_one(written: Written, into: Any) -> None:
    with pytest.raises(UsageError, match="holds no labels, so a second round has nothing to be compared with"):
        into(written("1.csv", LONG + "1,x,tone,2\n"), second_round=True)
    into(written("1.csv", LONG + "1,x,tone,2\n"))
    with pytest.raises(UsageError, match="pass one of the two"):
        into(written("2.csv", LONG + "1,y,tone,2\n"), second_round=True, append=True)


def test_packed_tables_are_added_to_and_stay_packed(written: Written, into: Any) -> None:
    into(written("1.csv", LONG + "1,x,tone,2\n"))
    for name in ("items", "labels"):
        plain = into.folder / f"{name}.jsonl"
        (into.folder / f"{name}.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes().rstrip(b"\n")))
        plain.unlink()
    into(written("2.csv", LONG + "2,y,tone,1\n"), append=True)
    assert into.labels == [("1", "x", "tone", 2), ("2", "y", "tone", 1)]
    assert sorted(path.name for path in into.folder.iterdir()) == ["data.toml", "items.jsonl.gz", "labels.jsonl.gz"]


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ({"annotators": "persistent"}, "already has annotators = 'anonymous'; 'persistent' cannot be added to it"),
        ({"id": "other"}, "already has id = 'data'"),
        ({"metrics": {"tone": WARMTH}}, "'tone' already has the scale 0, 1, 2 in "),
    ],
)
def test_what_contradicts_the_folder_is_refused(written: Written, into: Any, mapping: dict[str, Any], words: str) -> None:
    into(written("1.csv", LONG + "1,x,tone,2\n"))
    with pytest.raises(UsageError, match=words):
        into(written("2.csv", LONG + "2,x,tone,2\n"), mapping, append=True)


def test_another_salt_is_noticed_when_labels_are_added(written: Written, into: Any, tmp_path: Path) -> None:
    into(written("1.csv", LONG + "1,x,tone,2\n"), keep_annotators=False)
    with pytest.raises(UsageError, match=r"the pseudonyms of the annotators in .* were made with another salt"):
        into(written("2.csv", LONG + "2,x,tone,2\n"), append=True, keep_annotators=False, salt_file=tmp_path / "other")
    into(written("2.csv", LONG + "2,x,tone,2\n"), append=True, keep_annotators=False)
    assert len({who for _, who, _, _ in into.labels}) == 1


def test_items_that_wait_in_the_folder_are_the_items(written: Written, into: Any) -> None:
    into.folder.mkdir()
    (into.folder / "items.jsonl").write_text(ITEMS, encoding="utf-8")
    (into.folder / "CARD.md").write_text("mine")
    into(written("a.csv", LONG + "1,x,tone,2\n7,x,tone,2\n"), {"language": None, "task": None})
    assert into.labels == [("1", "x", "tone", 2)] and len(into.refused) == 1
    assert (into.folder / "CARD.md").read_text() == "mine"


def test_a_folder_that_cannot_be_written_is_left_as_it_was(written: Written, into: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    into(written("1.csv", LONG + "1,x,tone,2\n"))
    before = {path.name: path.read_bytes() for path in into.folder.iterdir()}
    replace, calls = os.replace, []

    def fail_late(source: Any, target: Any) -> None:
        calls.append(target)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail_late)
    with pytest.raises(StoreError, match=r"cannot be written \(No space left on device\)"):
        into(written("2.csv", LONG + "2,y,tone,1\n"), append=True)
    assert before == {path.name: path.read_bytes() for path in into.folder.iterdir()} and len(calls) > 3


def test_the_folder_may_not_be_a_file(written: Written, into: Any) -> None:
    into.folder.write_text("x")
    with pytest.raises(UsageError, match="is a file; name a folder"):
        into(written("a.csv", LONG + "1,x,tone,2\n"))
