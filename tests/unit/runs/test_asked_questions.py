"""What decision models can be asked, and what is said where they cannot."""

from __future__ import annotations

import pytest

from harness.errors import UsageError
from harness.model import Condition, JudgeIdentity, Scale, Variant
from harness.runs.asked_questions import needs_levels, refuse_unfit_judges

RANGE = Scale(kind="interval", min=0, max=100)
OPEN = Scale(kind="interval")
SHORT = Scale(kind="ordinal", classes=(0, 1, 2))


def test_levels_are_needed_exactly_where_they_help() -> None:
    assert [needs_levels(scale) for scale in (RANGE, OPEN, SHORT)] == [True, False, False]


def test_a_remedy_is_named_only_where_it_is_one() -> None:
    asked = (Condition(),)
    with pytest.raises(UsageError, match=r"'m' has any score from 0 to 100, .*; --levels 5 asks about 5 bands of it, and --metrics leaves"):
        refuse_unfit_judges(["decisions/m"], asked, {"m": RANGE})
    with pytest.raises(UsageError, match=r"without a lowest and a highest one, so it has no levels; --metrics leaves it out"):
        refuse_unfit_judges([JudgeIdentity("systemone", "m")], asked, {"m": OPEN})


@pytest.mark.parametrize("judge", ["openai/m", "baseline/majority", "replay/openai/m"])
def test_other_judges_are_asked_about_any_scale_but_not_with_options(judge: str) -> None:
    refuse_unfit_judges([judge], (Condition(),), {"m": RANGE, "n": OPEN})
    for variant in (Variant(question="choice"), Variant(options="reversed"), Variant(levels=3)):
        with pytest.raises(UsageError, match="is for decision models alone"):
            refuse_unfit_judges([judge], (Condition(variant),), {"m": SHORT})


def test_a_replay_of_a_decision_model_is_asked_as_one() -> None:
    refuse_unfit_judges(["replay/decisions/m"], (Condition(Variant(question="choice")),), {"m": SHORT})
