"""Instructions in other languages than English: what a run lacks of them is said before anything is asked."""

from __future__ import annotations

import msgspec
import pytest

from harness.content import Library
from harness.errors import UsageError
from harness.runs import RunSpec, prepare

LIBRARY = Library()


def test_all_that_instructions_lack_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever allows unreviewed instructions should not learn only then that a task is not translated."""
    whole = LIBRARY.instructions("ja")
    short = msgspec.structs.replace(whole, rubrics={name: each for name, each in whole.rubrics.items() if name != "task_quality"})
    monkeypatch.setattr(Library, "instructions", lambda self, tag: short if tag == "ja" else whole)
    with pytest.raises(
        UsageError, match=r"(?s)reviewed the instructions in 'cs', 'ja'; .*'ja' also lacks \[rubrics.task_quality\]: "
    ) as told:
        prepare(RunSpec(variants=("single+own-language",), languages=("ja", "cs")))
    assert "'cs' also" not in str(told.value)
