"""What a judge's errors follow, in sentences."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest
from rich.console import Console

from harness.improvement.explain import ErrorEffect, Explained, ExplainedErrors
from harness.render.improvement import render_explained


def effect(system: str, value: float) -> ErrorEffect:
    return ErrorEffect(covariate="system", level=(system,), value=value, freedom=20.0, outcome="shown")


def errors(judge: str, metric: str, mean_error: float, effects: Sequence[ErrorEffect] = ()) -> ExplainedErrors:
    key = {"task": "translate", "metric": metric, "judge": judge, "variant": "single", "temperature": None, "top_p": None}
    return ExplainedErrors(key=key, n=525, groups=28, mean_error=mean_error, times_longer=None, effects=tuple(effects), left_out=())


def text(*metrics: ExplainedErrors) -> str:
    out = io.StringIO()
    Console(file=out, width=200, color_system=None).print(render_explained(Explained("", (), metrics, ())))
    return out.getvalue()


@pytest.mark.parametrize(("mean_error", "side"), [(3.47, "above"), (-3.47, "below")])
def test_a_higher_score_is_never_called_kind_as_some_scales_are_best_at_their_lowest(mean_error: float, side: str) -> None:
    """A judge that marks more errors than people gives a higher penalty: it is stricter."""
    shown = text(errors("one", "error_penalty", mean_error, [effect("alpha", 0.5), effect("beta", -0.25)]))
    assert f"On average its scores are 3.47 points {side} people's (525 texts in 28 groups)." in shown
    assert "Compared with this average, its scores are higher for system alpha (+0.50)." in shown
    assert "Compared with this average, its scores are lower for system beta (−0.25)." in shown
    assert "The judge's errors follow system (1 of 1 question)." in shown


def test_the_first_sentence_counts_questions_only_where_there_are_several() -> None:
    one, other = errors("one", "tone", 0.1), errors("two", "tone", 0.1)
    assert "The judge's errors follow nothing that was tested.\n" in text(one)
    assert "The judges' errors follow nothing that was tested, in any of 2 questions.\n" in text(one, other)


def test_effects_that_were_not_shown_have_no_range_with_two_equal_ends() -> None:
    """So many effects that those not shown share a sentence."""

    def unshown(*detectables: float) -> str:
        effects = [
            ErrorEffect(covariate="system", level=(str(n),), value=0.0, freedom=20.0, outcome="not shown", detectable=least)
            for n, least in enumerate(detectables * 50)
        ]
        return text(errors("model/a", "fluency", 0.1, effects))

    assert "(0.20)" in unshown(0.201, 0.204)
    assert "(0.20 to 0.31)" in unshown(0.2, 0.31)
