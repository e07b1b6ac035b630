"""What stands behind judgments: each row gets its own justification and reply, in whatever order rows are asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.data.judgments import JudgmentWriter
from harness.errors import UsageError
from harness.model import Call, JudgeIdentity, Reply
from harness.runs import read_evidence, run_place
from harness.store import Attempt, Store
from tests.unit.made_judgments import made_judgment

MANY = 3 * 8192 + 5  # more than one batch of the file
JUDGE = JudgeIdentity("openai", "one")


@pytest.fixture(scope="module")
def result(make_call: Callable[..., Call], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run of many judgments; every other one is about a changed text. Every thousandth call has a reply in the store."""
    out = tmp_path_factory.mktemp("results")
    folder = out / "runs" / "many"
    with JudgmentWriter(folder / "judgments.parquet") as writer:
        for row in range(MANY):
            changed = "truncate:0.5" if row % 2 else ""
            own = (1, None, "1", f"because {row}", f"c{row}")  # score, failure, raw choice, justification, call
            writer.add(made_judgment(f"i{row // 2}", "en", "t", "m", "openai/one", "single", 0.0, 0, *own, perturbation=changed))
    with Store.writing(out) as store:
        store.put_attempts([Attempt(make_call(f"c{row}"), Reply(f"reply {row}", "one"), None) for row in range(0, MANY, 1000)], JUDGE)
    return SimpleNamespace(folder=folder, derived=folder, judgments=range(MANY))


@pytest.mark.parametrize(
    "rows",
    [
        np.arange(MANY),
        np.concatenate([np.arange(0, MANY, 2), np.arange(1, MANY, 2)]),  # texts as they are, then changed ones: as pages ask
        np.array([MANY - 1, 0, 9000, 8192, 8191, 3]),
        np.array([5, 5, 20000, 5]),
        np.empty(0, np.int64),
    ],
    ids=["rising", "clean, then changed", "any order", "twice", "none"],
)
def test_each_row_gets_its_own_evidence(result: Any, rows: Any) -> None:
    found = read_evidence(result, rows)
    assert list(found.justification) == [f"because {row}" for row in rows.tolist()]
    assert [said and said.text for said in found.reply] == [f"reply {row}" if row % 1000 == 0 else None for row in rows.tolist()]


def test_rows_of_a_panel_that_was_added_have_no_evidence(result: Any) -> None:
    found = read_evidence(result, np.array([MANY + 3, 1000, MANY]))
    assert list(found.justification) == [None, "because 1000", None]
    assert [said and said.text for said in found.reply] == [None, "reply 1000", None]


# ---- the place of a run: by name, by folder, by a file in it; what is no run is named, with the command for it


def test_a_run_is_found_by_its_name_its_folder_and_a_file_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "results" / "runs" / "mine"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("{}\n", "utf-8")
    (tmp_path / "results" / "store.sqlite").touch()
    for given in (folder, folder / "run.json"):
        assert run_place(given, Path("elsewhere")) == ("mine", tmp_path / "results")
    assert run_place("mine", tmp_path / "results") == ("mine", tmp_path / "results")


def test_what_is_no_run_is_named_with_its_command(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "results" / "runs").mkdir(parents=True)
    (tmp_path / "scores.csv").write_text("a\n", "utf-8")
    for name, words in {
        "data": "a folder of data; 'harness run --data {}' asks a judge",
        "results": "a folder of results; 'harness runs --out {}' lists the runs in it",
        "scores.csv": "a file that no run wrote; 'harness start {}'",
    }.items():
        with pytest.raises(UsageError) as caught:
            run_place(tmp_path / name, tmp_path / "results")
        assert words.format(tmp_path / name) in str(caught.value)


def test_a_folder_with_the_name_of_a_run_hides_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    Path("results/runs/mine").mkdir(parents=True)
    Path("min").mkdir()
    for name in ("mine", "min"):
        assert run_place(name, Path("results")) == (name, Path("results"))
