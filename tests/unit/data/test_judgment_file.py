"""The file of judgments: what goes in comes back as columns, it is whole or not there, and which justifications are equal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from harness.data import judgments as file
from harness.data.judgments import Judgments, JudgmentWriter, checked_judgments, read_judgment_rows, read_judgments
from harness.errors import ContentError, StoreError
from harness.model import Failure, Item, Judgment, Scale
from harness.row_files import read_rows as table_rows
from tests.unit.made_judgments import changed_judgment, made_judgment

SCALES = {
    "m": Scale(kind="ordinal", classes=(0, 1, 2), best=2),
    "n": Scale(kind="nominal", classes=("1", "2")),
    "x": Scale(kind="interval"),
}


def judgment(metric: str = "m", score: int | float | str | None = 2, item: str = "a", **other: object) -> Judgment:
    failure = None if score is not None else Failure.NOT_JSON
    made = made_judgment(item, "cs", "summarize", metric, "openai/one", "single", 0.0, 0, score, failure, None, None, "c")
    return changed_judgment(made, **other)


def written(path: Path, judgments: Sequence[Judgment]) -> Path:
    with JudgmentWriter(path) as writer:
        for one in judgments:
            writer.add(one)
    return path


FOUND = [
    judgment("m", 2, justification="Dobré.", expected=1.25, entropy=1.5, probs={"1": 0.75, "2": 0.25}, detected_language="und"),
    judgment("n", "2", top_p=0.9, perturbation="truncate:0.5", repeat=3),
    judgment("x", 0.5, temperature=0.7, justification="Dobré."),
    judgment("x", 3),
    judgment("m", None, item="b", justification="Špatné."),
]


@pytest.fixture(params=[file._BATCH_ROWS, 2])
def path(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a file goes; all at once, and a few rows at a time."""
    monkeypatch.setattr(file, "_BATCH_ROWS", request.param)
    return tmp_path / "run" / "judgments.parquet"


def test_judgments_come_back_as_columns_with_the_scores_of_their_scales(path: Path) -> None:
    back, direct = read_judgments(written(path, FOUND), SCALES), Judgments.from_rows(FOUND)
    for name in (*Judgments.COLUMNS, *Judgments.OPTIONAL):
        if name != "justification":
            assert list(getattr(back, name)) == list(getattr(direct, name)), name
    assert list(back.confidence) == [0.25, None, None, None, None]
    assert [type(score) for score in back.score] == [int, str, float, int, type(None)]


def test_of_justifications_it_is_known_which_are_the_same(path: Path) -> None:
    one, none, same, neither, other = read_judgments(written(path, FOUND), SCALES).justification
    assert one == same and none is neither is None and other not in (one, None)


def test_the_whole_justification_and_all_else_stand_in_the_file(path: Path) -> None:
    rows = [row for _, row in table_rows(written(path, FOUND))]
    assert [(row.get("score"), row.get("failure"), row.get("justification")) for row in rows] == [
        ("2", None, "Dobré."),
        ("2", None, None),
        ("0.5", None, "Dobré."),
        ("3", None, None),
        (None, "not_json", "Špatné."),
    ]
    assert msgspec.json.decode(rows[0]["probs"]) == {"1": 0.75, "2": 0.25}


def test_no_judgments_are_a_table_without_rows(path: Path) -> None:
    assert len(read_judgments(written(path, []), SCALES)) == 0


def test_it_can_be_read_as_recorded_judgments(path: Path) -> None:
    written(path, [one for one in FOUND if one.metric != "x"])
    items = {name: Item(name, "cs", "summarize") for name in "ab"}
    back = checked_judgments(read_judgment_rows(path), path, SCALES, items)
    assert list(back.perturbation) == [None, "truncate:0.5", None] and list(back.score) == [2, "2", None]


def test_the_same_judgments_are_the_same_bytes(path: Path) -> None:
    first = written(path, FOUND).read_bytes()
    assert written(path, FOUND).read_bytes() == first


def test_what_breaks_off_leaves_the_old_file_and_nothing_else(path: Path) -> None:
    before = written(path, FOUND).read_bytes()
    with pytest.raises(KeyboardInterrupt), JudgmentWriter(path) as writer:
        writer.add(FOUND[0])
        raise KeyboardInterrupt
    assert path.read_bytes() == before and list(path.parent.iterdir()) == [path]


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be written"):
        JudgmentWriter(tmp_path / "file" / "judgments.parquet")


def test_a_score_that_is_on_no_scale_is_said(path: Path) -> None:
    written(path, [judgment("m", 7)])
    with pytest.raises(ContentError, match=r"judgments\.parquet: a score is on no scale of this run; delete the file"):
        read_judgments(path, SCALES)
