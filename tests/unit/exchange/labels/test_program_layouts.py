"""Layouts of forms and of Potato, ratings of Label Studio's JSON-MIN; and an import that refuses everything leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import write_rows

FILES = Path(__file__).parents[1] / "files"
SCALES = ("--scale", "fluency=0,1,2:best=2", "--scale", "politeness=1,2,3,4,5:best=5")
ITEMS = [{"item_id": name, "language": name[:2], "task": "chat", "output": f"Text {name}"} for name in ("ja-1", "ja-2", "cs-1")]


@pytest.fixture
def importing(cli: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    items = write_rows(tmp_path / "items" / "items.jsonl", ITEMS).parent

    def run(source: Path, *flags: str) -> Any:
        arguments = ("--to", tmp_path / "data", "--items", items, "--keep-annotators", *SCALES, *flags)
        return cli("labels", "import", source, *arguments)

    return run


def labels_in(folder: Path) -> list[tuple[Any, ...]]:
    import json

    rows = map(json.loads, (folder / "labels.jsonl").read_text("utf-8").splitlines())
    return [(row["item_id"], row["annotator_id"], row["metric"], row["score"]) for row in rows]


POTATO = [
    *(("cs-1", "sim_user_0000", "fluency", 0), ("cs-1", "sim_user_0000", "politeness", 3)),
    *(("cs-1", "sim_user_0001", "fluency", 2), ("cs-1", "sim_user_0001", "politeness", 2)),
    *(("ja-1", "sim_user_0000", "fluency", 2), ("ja-1", "sim_user_0000", "politeness", 5)),
    *(("ja-1", "sim_user_0001", "fluency", 2), ("ja-1", "sim_user_0001", "politeness", 5)),
    *(("ja-2", "sim_user_0000", "fluency", 1), ("ja-2", "sim_user_0000", "politeness", 2)),
    *(("ja-2", "sim_user_0001", "fluency", 0), ("ja-2", "sim_user_0001", "politeness", 4)),
]


@pytest.mark.parametrize("name", ["potato-annotations.jsonl", "potato-annotations.csv"])
def test_potato_has_the_score_as_a_key(importing: Callable[..., Any], tmp_path: Path, name: str) -> None:
    done = importing(FILES / name)
    assert done.code == 0, done.err
    assert sorted(labels_in(tmp_path / "data")) == POTATO


def test_a_rating_of_json_min_is_a_list_with_one_object(importing: Callable[..., Any], tmp_path: Path) -> None:
    done = importing(FILES / "export-min.json", "--wide-metrics", "fluency,politeness")
    assert done.code == 0, done.err
    assert labels_in(tmp_path / "data") == [
        *(("ja-1", "1", "fluency", 2), ("ja-1", "1", "politeness", 5)),
        *(("ja-2", "1", "fluency", 0), ("ja-2", "1", "politeness", 2)),
    ]


FORM = "Timestamp,Name,[ja-1] fluency,[ja-1] politeness,[cs-1] fluency\n2026,hana,2,5,\n2026,jan,1,4,0\n"


def test_a_form_has_a_row_a_person_and_a_column_an_item(importing: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "form.csv").write_text(FORM, "utf-8")
    flags = ("--wide-items", r"\[(?P<item>[^]]+)\] (?P<metric>.+)", "--column", "annotator_id=Name")
    done = importing(tmp_path / "form.csv", *flags)
    assert done.code == 0, done.err
    assert labels_in(tmp_path / "data") == [
        *(("ja-1", "hana", "fluency", 2), ("ja-1", "hana", "politeness", 5)),
        *(("ja-1", "jan", "fluency", 1), ("ja-1", "jan", "politeness", 4), ("cs-1", "jan", "fluency", 0)),
    ]


@pytest.mark.parametrize(
    ("pattern", "code", "message"),
    [
        ("(", 2, "not a regular expression"),
        ("(.+)", 2, "name the item's part, such as"),
        ("Q(?P<item>.+)", 3, "no column matches --wide-items Q(?P<item>.+); the columns are: Timestamp, Name, [ja-1] fluency"),
    ],
)
def test_a_pattern_that_fits_nothing_is_refused(
    importing: Callable[..., Any], tmp_path: Path, pattern: str, code: int, message: str
) -> None:
    (tmp_path / "form.csv").write_text(FORM, "utf-8")
    done = importing(tmp_path / "form.csv", "--wide-items", pattern)
    assert done.code == code and message in done.err and not (tmp_path / "data").exists()


def test_an_import_that_refuses_every_row_leaves_nothing_and_can_be_tried_again(importing: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("item_id,annotator_id,metric,score\nja-1,p,fluency,9\nja-2,p,fluency,8\n", "utf-8")
    done = importing(tmp_path / "a.csv")
    assert done.code == 1 and "2 refused, so nothing was written; correct them\n" in done.err and done.out == ""
    assert done.err.count("is not on the scale") == 2 and not (tmp_path / "data").exists()
    (tmp_path / "a.csv").write_text("item_id,annotator_id,metric,score\nja-1,p,fluency,2\n", "utf-8")
    assert importing(tmp_path / "a.csv").code == 0
