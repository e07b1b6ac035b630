"""What stands behind judgments: each row gets its own justification and reply, in whatever order rows are asked for."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.data.judgment_file import JudgmentWriter
from harness.model import Call, JudgeIdentity, Reply
from harness.runs import read_evidence
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
