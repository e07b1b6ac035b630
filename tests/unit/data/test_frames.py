"""Frames for notebooks: what is in a data set comes out as frames and goes in again, and errors name the frame and the row."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import harness
from harness.decide.options import CompareOptions
from harness.errors import ContentError, HarnessError, UsageError
from harness.measure.cells import Cell
from harness.model import Scale

TONE = {"kind": "ordinal", "classes": [0, 1, 2], "best": 2}
SCALES: dict[str, Any] = {"tone": TONE, "choice": Scale(kind="nominal", classes=("A", "B"))}
TOML = """id = "mine"
annotators = "persistent"
[metrics.tone]
kind = "ordinal"
classes = [0, 1, 2]
best = 2
[metrics.choice]
kind = "nominal"
classes = ["A", "B"]
"""
ITEMS = pd.DataFrame({"item_id": ["a", "b"], "language": "cs", "task": "t", "output": ["x", None], "round": [1, np.nan]})
LABELS = pd.DataFrame({"item_id": ["a", "a", "b"], "annotator_id": ["x", "y", "x"], "metric": "tone", "score": [1, 2, 0]})
JUDGMENTS = pd.DataFrame({"item_id": ["a", "b"], "judge": "j", "metric": "tone", "score": [1, np.nan], "failure": [None, "refused"]})


def changed(frame: pd.DataFrame, row: int, **values: Any) -> pd.DataFrame:
    """The frame with other values in one row (from 0)."""
    rows = frame.astype(object).to_dict("records")
    rows[row] |= values
    return pd.DataFrame(rows).astype(object)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two metrics, one without an order; groups, systems, failures, repeats, variants and further fields."""
    rng = np.random.default_rng(5)
    items, labels, judgments = [], [], []
    for number in range(24):
        name, base = f"i{number}", int(rng.integers(0, 3))
        language, group, system = ("cs", "ja")[number % 2], f"g{number // 2}", f"s{number % 5}"
        item = {"item_id": name, "language": language, "task": "t", "output": f"text {number}", "group": group, "system": system}
        items.append(item | ({"round": number % 3} if number % 4 else {}))
        for who in "xyz"[: 3 - (number % 6 == 0)]:
            labels.append({"item_id": name, "annotator_id": who, "metric": "tone", "score": base if rng.random() < 0.7 else 1})
            labels.append({"item_id": name, "annotator_id": who, "metric": "choice", "score": "AB"[int(rng.random() < 0.4)]})
        for repeat in (0, 1):
            same = {"item_id": name, "judge": "j", "repeat": repeat, "temperature": 0.7, "variant": "joint"}
            judgments.append(same | {"metric": "tone", "score": base} if number % 5 else same | {"metric": "tone", "failure": "refused"})
            judgments.append(same | {"metric": "choice", "score": "A"})
    for table, rows in {"items": items, "labels": labels, "judgments": judgments}.items():
        (tmp_path / f"{table}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "data.toml").write_text(TOML)
    return tmp_path


def cells(data: harness.Dataset, **options: Any) -> tuple[Cell, ...]:
    return harness.compare(data, CompareOptions(**options)).cells


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"by": ["metric", "round"]},
        {"by": ["metric", "repeat"], "annotators": "3"},
        {"where": {"metric": ["tone"]}, "majority": "median"},
        {"level": "system"},
    ],
    ids=str,
)
def test_frames_of_a_folder_make_the_same_comparison(folder: Path, options: Any) -> None:
    before = harness.load(folder)
    frames = {table: harness.frame_of(before, table) for table in ("items", "labels", "judgments")}
    after = harness.from_frames(**frames, scales=SCALES, annotators="persistent", name="mine")
    assert cells(before, **options) == cells(after, **options) != ()
    assert [item.item_id for item in before.items] == [item.item_id for item in after.items]
    assert len(before.labels) == len(after.labels) and after.private


def test_label_checks_are_the_same_too(folder: Path) -> None:
    before = harness.load(folder)
    frames = {table: harness.frame_of(before, table) for table in ("items", "labels")}
    after = harness.from_frames(**frames, scales=SCALES, annotators="persistent", name="mine")
    assert harness.labels_check(before).cells == harness.labels_check(after).cells


def test_a_frame_is_a_row_an_item_a_label_or_a_judgment(folder: Path) -> None:
    data = harness.load(folder)
    items, labels, judgments = (harness.frame_of(data, table) for table in ("items", "labels", "judgments"))
    assert (len(items), len(labels), len(judgments)) == (24, 136, 96)
    assert {"item_id", "language", "task", "split", "group", "system", "output", "round"} <= set(items.columns)
    assert list(labels.columns) == ["item_id", "annotator_id", "metric", "score", "source"]
    assert {"item_id", "judge", "metric", "variant", "temperature", "repeat", "score", "failure"} <= set(judgments.columns)
    assert judgments[judgments["item_id"] == "i0"]["failure"].isna().tolist() == [False, True, False, True]


def test_a_table_that_there_is_not_is_refused(folder: Path) -> None:
    data = harness.load(folder)
    with pytest.raises(UsageError, match="a data set has no table 'label'; choose items, labels or judgments"):
        harness.frame_of(data, "label")
    with pytest.raises(ContentError, match="mine: no judgments were loaded with these data"):
        harness.frame_of(harness.from_frames(labels=LABELS, items=ITEMS, scales=SCALES, name="mine"), "judgments")


# What goes in


def test_gaps_of_pandas_are_no_values() -> None:
    data = harness.from_frames(items=ITEMS, labels=LABELS, judgments=JUDGMENTS, scales=SCALES)
    assert [item.fields for item in data.items] == [{"output": "x", "round": 1.0}, {}]
    assert [item.group for item in data.items] == ["a", "b"]
    assert data.judgments is not None
    assert list(data.judgments.score) == [1, None] and list(data.judgments.failure) == [None, "refused"]
    assert set(data.judgments.variant) == {"default"} and set(data.judgments.repeat) == {0}


@pytest.mark.parametrize("gap", [None, float("nan"), pd.NA, pd.NaT, np.float64("nan")], ids=repr)
def test_every_kind_of_gap_is_one(gap: Any) -> None:
    data = harness.from_frames(items=ITEMS, labels=LABELS, judgments=changed(JUDGMENTS, 0, score=gap, failure="not_json"), scales=SCALES)
    assert data.judgments is not None and list(data.judgments.failure) == ["not_json", "refused"]


def test_without_items_labels_and_judgments_bring_their_language() -> None:
    data = harness.from_frames(labels=LABELS.assign(language="cs"), judgments=JUDGMENTS.assign(language="cs"), scales=SCALES)
    assert [(item.item_id, item.language, item.task) for item in data.items] == [("a", "cs", "task"), ("b", "cs", "task")]


def test_a_metric_with_a_bundled_rubric_needs_no_scale() -> None:
    labels = LABELS.assign(metric="task_quality", language="cs")
    assert harness.from_frames(labels=labels).scales["task_quality"].classes == (0, 1, 2)


def test_lists_of_scores_are_repeats() -> None:
    judgments = pd.DataFrame({"item_id": ["a"], "judge": "j", "metric": "tone", "scores": [[0, 2]]})
    data = harness.from_frames(items=ITEMS, labels=LABELS, judgments=judgments, scales=SCALES)
    assert data.judgments is not None and list(zip(data.judgments.repeat, data.judgments.score, strict=True)) == [(0, 0), (1, 2)]


def test_what_was_said_about_the_labels_is_kept() -> None:
    data = harness.from_frames(items=ITEMS, labels=LABELS, scales=SCALES, annotators="persistent", source="model", name="n")
    assert (data.id, data.about.annotators, {label.source for label in data.labels}) == ("n", "persistent", {"model"})
    assert harness.labels_check(data).cells[0]["pairs"] is not None


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "off the scale": ({"labels": changed(LABELS, 1, score=3)}, "labels:2: score 3 is outside the scale of 'tone' (0, 1, 2)"),
    "a gap": ({"labels": changed(LABELS, 1, score=None)}, "labels:2: not a label: 'score' is empty"),
    "no column": ({"labels": LABELS.drop(columns="score")}, "labels: not a label: no column 'score'"),
    "number for a name": ({"labels": changed(LABELS, 2, metric=7)}, "labels:3: not a label (Expected `str`, got `int` in column"),
    "unknown item": ({"labels": changed(LABELS, 2, item_id="z")}, "labels:3: a label of item 'z', which is not among the items"),
    "unknown metric": (
        {"labels": changed(LABELS, 0, metric="charm")},
        "labels:1: metric 'charm' has no scale; give it one: scales={'charm': '1..5:best=5'}. Choose from: ",
    ),
    "no columns": ({"labels": LABELS.drop(columns=["score", "item_id"])}, "labels: not a label: no columns 'item_id', 'score'"),
    "an id that lost digits": ({"labels": changed(LABELS, 0, item_id=1e17)}, "labels:1: not a label (Expected `str`, got `float` in"),
    "a text for a number": (
        {"labels": changed(LABELS, 1, score="2")},
        "labels:2: score '2' is outside the scale of 'tone' (0, 1, 2); it is",
    ),
    "second label": (
        {"labels": changed(LABELS, 1, annotator_id="x")},
        "labels:2: annotator 'x' has already scored 'tone' of 'a' in line 1",
    ),
    "judgment twice": ({"judgments": changed(JUDGMENTS, 1, item_id="a")}, "judgments:2: 'j' has already judged 'tone' of 'a' in line 1"),
    "unknown failure": ({"judgments": changed(JUDGMENTS, 1, failure="bored")}, "judgments:2: not a judgment (Invalid enum value 'bored'"),
    "judged unknown": ({"judgments": changed(JUDGMENTS, 1, item_id="z")}, "judgments:2: a judgment of item 'z'"),
    "item twice": ({"items": changed(ITEMS, 1, item_id="a")}, "items:2: item_id 'a' is also in row 1; ids are unique"),
    "no language": ({"items": ITEMS.drop(columns="language")}, "items:1: not an item: Object missing required field `language`"),
    "odd language": ({"items": changed(ITEMS, 1, language="pt_br")}, "items:2: language 'pt_br' is not canonical; write 'pt-BR'"),
    "no id": ({"items": changed(ITEMS, 1, item_id="")}, "items:2: an empty item_id"),
    "unknown split": ({"items": changed(ITEMS, 1, split="train")}, "items:2: not an item: Invalid enum value 'train'"),
}


@pytest.mark.parametrize(("frames", "words"), BAD.values(), ids=BAD.keys())
def test_what_is_wrong_is_said_with_its_frame_and_row(frames: dict[str, pd.DataFrame], words: str) -> None:
    with pytest.raises(ContentError) as caught:
        harness.from_frames(**({"items": ITEMS, "labels": LABELS, "judgments": JUDGMENTS} | frames), scales=SCALES)
    assert str(caught.value).startswith(words)


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        ({"kind": "fuzzy"}, "invalid scale for 'tone': Invalid enum value 'fuzzy'"),
        ({"kind": "ordinal"}, "invalid scale for 'tone': a scale of kind 'ordinal' needs at least two classes"),
        ({"kind": "ordinal", "classes": [0, 1], "worst": 0}, "invalid scale for 'tone': Object contains unknown field `worst`"),
        ({"kind": "ordinal", "classes": [0, 1], "best": 2}, "invalid scale for 'tone': best is 2, which is outside the scale"),
        (3, "invalid scale for 'tone': Expected `object`, got `int`"),
    ],
    ids=str,
)
def test_a_scale_that_is_none_is_refused(scale: Any, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        harness.from_frames(items=ITEMS, labels=LABELS, scales={"tone": scale})
    assert str(caught.value).startswith(words)


def test_tables_of_arrow_and_polars_are_read_like_frames_of_pandas() -> None:
    """Whoever has a Polars frame gets the same data set; anything else is refused in a sentence."""
    import pandas as pd
    import pyarrow as pa

    rows = [{"item_id": f"i{n}", "language": "cs", "annotator_id": "a", "metric": "tone", "score": n % 2} for n in range(4)]
    given: dict[str, Any] = {"scales": {"tone": {"kind": "ordinal", "classes": [0, 1]}}}
    first = harness.from_frames(labels=pd.DataFrame(rows), **given)
    assert harness.from_frames(labels=pa.Table.from_pylist(rows), **given).sha256 == first.sha256
    with suppress(ImportError):
        import polars as pl

        assert harness.from_frames(labels=pl.DataFrame(rows), **given).sha256 == first.sha256
        assert harness.from_frames(labels=pl.LazyFrame(rows), **given).sha256 == first.sha256
    with pytest.raises(UsageError, match="labels: a frame of pandas, Polars or PyArrow is expected, not list"):
        harness.from_frames(labels=rows, **given)


def test_numbers_are_ids_too_and_spellings_of_one_person_are_one() -> None:
    labels = pd.DataFrame(
        {"item_id": [1, 1, 2.0], "annotator_id": [7, "Eva  Nova\u0301", "EVA NOVÁ"], "metric": "tone", "score": [1, 2, 0]}
    )
    judgments = pd.DataFrame({"item_id": ["1.0", "2"], "judge": "j", "metric": "tone", "score": [1, 0]})
    items = pd.DataFrame({"item_id": np.array([1, 2], np.int64), "language": "cs", "task": "t", "group": [5.0, 6.0]})
    data = harness.from_frames(items=items, labels=labels, judgments=judgments, scales=SCALES)
    assert [(x.item_id, x.annotator_id) for x in data.labels] == [("1", "7"), ("1", "Eva Nová"), ("2", "Eva Nová")]
    assert data.judgments is not None and list(data.judgments.item) == ["1", "2"] and [item.group for item in data.items] == ["5", "6"]


@pytest.mark.parametrize("table", ["labels", "judgments"])
def test_two_languages_of_one_item_are_refused(table: str) -> None:
    frames = {"labels": LABELS.assign(language="ja"), "judgments": JUDGMENTS.assign(language="ja")}
    frames[table] = changed(frames[table], 1 if table == "labels" else 0, language="cs")
    with pytest.raises(ContentError) as caught:
        harness.from_frames(**frames, scales=SCALES)
    row = "labels:2" if table == "labels" else "judgments:1"
    assert str(caught.value) == f"{row}: language 'cs' of item 'a' is 'ja' in an earlier row; an item has one language"


def test_repeated_columns_and_columns_of_several_levels_are_refused() -> None:
    with pytest.raises(UsageError, match=r"^labels: several columns are called 'score'; give each column its own name$"):
        harness.from_frames(items=ITEMS, labels=pd.concat([LABELS, LABELS[["score"]]], axis=1), scales=SCALES)
    deep = LABELS.copy()
    deep.columns = pd.MultiIndex.from_product([["x"], deep.columns])
    with pytest.raises(UsageError, match="its columns have names of 2 levels"):
        harness.from_frames(items=ITEMS, labels=deep, scales=SCALES)


def test_scales_may_be_short_texts() -> None:
    data = harness.from_frames(items=ITEMS, labels=LABELS, scales={"tone": "0..2:best=2"})
    assert data.scales["tone"] == Scale(kind="ordinal", classes=(0, 1, 2), best=2)
    with pytest.raises(UsageError, match=r"^invalid scale for 'tone': 0,1:worst=0: 'worst' is not one of best, kind$"):
        harness.from_frames(items=ITEMS, labels=LABELS, scales={"tone": "0,1:worst=0"})


def test_all_faults_are_named_at_once_and_none_speaks_of_files() -> None:
    labels = changed(changed(LABELS, 0, metric="charm"), 1, score=None)
    wrong = {"items": changed(ITEMS, 1, language="cz"), "judgments": JUDGMENTS.drop(columns="judge"), "labels": labels}
    with pytest.raises(HarnessError) as caught:
        harness.from_frames(**wrong, scales=SCALES | {"warmth": "1"})
    message = str(caught.value)
    for words in ("'warmth'", "labels:2: not a label: 'score' is empty", "judgments: not a judgment: no column 'judge'", "items:2: "):
        assert words in message
    both = {"labels": changed(LABELS, 1, score=9), "judgments": changed(JUDGMENTS, 0, metric="charm")}
    with pytest.raises(ContentError) as caught:
        harness.from_frames(items=ITEMS, **both, scales=SCALES)
    assert "judgments:1: metric 'charm' has no scale" in str(caught.value) and "data.toml" not in f"{message}{caught.value}"


def test_a_language_has_one_code_in_all_rows() -> None:
    rows = [
        {"item_id": f"i{k}", "annotator_id": "a", "metric": "q", "score": 1 + k, "language": tag} for k, tag in enumerate(("zh", "zh-CN"))
    ]
    with pytest.raises(ContentError, match="'zh', 'zh-CN' are codes of one language, Chinese; write 'zh' in all rows"):
        harness.from_frames(labels=pd.DataFrame(rows), scales={"q": "1..5:best=5"})


@pytest.mark.parametrize(
    ("tag", "text", "right"),
    [
        ("kr", "상품은 수령 후 14일 이내에 어느 우체국에서나 반품할 수 있습니다", "ko"),
        ("tw", "商品簽收後十四天內可以無條件退貨，請保持包裝完整。", "zh"),
        ("se", "Du kan lämna tillbaka paketet inom fjorton dagar på vilket postkontor som helst", "sv"),
        ("uk", "You can return the parcel within fourteen days at any post office", "en"),
    ],
)
def test_the_code_of_a_country_in_a_frame_is_named(tag: str, text: str, right: str) -> None:
    items = pd.DataFrame({"item_id": range(10), "language": tag, "task": "t", "output": text})
    labels = pd.DataFrame([{"item_id": n, "annotator_id": who, "metric": "q", "score": n % 3} for n in range(10) for who in "ab"])
    with pytest.raises(ContentError, match=f"the code of a country, and 10 of 10 texts look like .*: write '{right}'"):
        harness.from_frames(labels=labels, items=items, scales={"q": "0..2"})


@pytest.mark.parametrize("table", ["labels", "judgments"])
def test_a_row_in_another_language_than_its_item_is_refused(table: str) -> None:
    items = pd.DataFrame({"item_id": ["i1", "i2"], "language": "ja", "task": "t", "output": ["一つ目の文です", "二つ目の文です"]})
    rows = {
        "labels": pd.DataFrame({"item_id": ["i1", "i2"], "annotator_id": "a", "metric": "q", "score": [1, 2]}),
        "judgments": pd.DataFrame({"item_id": ["i1", "i2"], "judge": "m", "metric": "q", "score": [1, 2]}),
    }
    rows[table]["language"] = ["ja", "cs"]
    with pytest.raises(ContentError, match=rf"{table}:2: language 'cs' of item 'i2' is 'ja' in the items; write 'ja'"):
        harness.from_frames(items=items, **rows, scales={"q": "1..2:best=2"})
    rows[table]["language"] = "ja"
    assert {item.language for item in harness.from_frames(items=items, **rows, scales={"q": "1..2:best=2"}).items} == {"ja"}


def test_a_random_sample_of_frames_is_corrected() -> None:
    items = pd.DataFrame([{"item_id": n, "language": "cs", "task": "t", "output": f"Věta {n}."} for n in range(60)])
    labels = pd.DataFrame([{"item_id": n, "annotator_id": who, "metric": "tone", "score": n % 3} for n in range(40) for who in "ab"])
    judgments = pd.DataFrame([{"item_id": n, "judge": "openai/m", "metric": "tone", "score": n % 3 if n % 5 else 1} for n in range(60)])
    frames = {"labels": labels, "judgments": judgments, "items": items, "scales": {"tone": "0..2:best=2"}}
    assert harness.correct(harness.from_frames(**frames, sampling="random")).numbers
    with pytest.raises(UsageError, match=r"from_frames\(…, sampling='random'\)"):
        harness.correct(harness.from_frames(**frames))
    with pytest.raises(UsageError, match=r"no sampling 'randon'\. Did you mean 'random'"):
        harness.from_frames(**frames, sampling="randon")  # type: ignore[arg-type]
