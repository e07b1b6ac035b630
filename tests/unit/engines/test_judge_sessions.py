"""Sessions side by side: what holds for the process while judges are asked."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from harness.engines import judge_sessions
from harness.engines.judge_sessions import run_together
from harness.engines.work import Outcome, Progress
from harness.errors import JudgeError


class Session:
    """A session that notes how garbage is collected while it runs, and may fail."""

    def __init__(self, failure: JudgeError | None = None) -> None:
        self.frozen, self.threshold, self.failure = 0, 0, failure

    async def run(self) -> None:
        self.frozen, self.threshold = gc.get_freeze_count(), gc.get_threshold()[0]
        if self.failure:
            raise self.failure

    def note(self, text: str) -> None:
        raise AssertionError(text)

    def outcome(self, *, interrupted: bool) -> Outcome:
        return Outcome(Progress(total=0), interrupted)


@pytest.fixture(params=[False, True], ids=["", "frozen before"])
def frozen_before(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Whether the program around has exempted its objects from collection."""
    gc.unfreeze()
    if request.param:
        gc.freeze()
    judge_sessions._is_frozen_by_program.cache_clear()
    yield request.param
    gc.unfreeze()
    judge_sessions._is_frozen_by_program.cache_clear()


@pytest.mark.parametrize("failure", [None, JudgeError("no such judge")])
def test_no_collection_visits_what_was_there_before_the_first_call(failure: JudgeError | None, frozen_before: bool) -> None:
    before, session = gc.get_threshold(), Session(failure)
    if failure:
        with pytest.raises(JudgeError, match="no such judge"):
            run_together([session])
    else:
        assert [outcome.interrupted for outcome in run_together([session])] == [False]
    assert session.frozen > 10_000 and session.threshold > before[0]
    assert gc.get_threshold() == before and (gc.get_freeze_count() > 0) == frozen_before
