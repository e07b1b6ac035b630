"""A data set that is saved reads back as the same data set, and gives the same numbers."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import harness
from harness.errors import UsageError
from tests.conftest import SHARED_DATA
from tests.judged_folder import judged_folder


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
