"""Automatic acceptance: confidence from probabilities, repeats or votes, groups respected, and nothing certified as an answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np
import pytest

from harness.analyse import CompareOptions, Recording
from harness.data.judgments import Judgments
from harness.decide import AcceptOptions, accept
from harness.decide.acceptance import AcceptedFrom, Confidence
from harness.errors import UsageError
from harness.stats import acceptance_threshold

Record = Callable[..., Recording]


def accepted(source: Recording, metric: str = "tone", **options: Any) -> AcceptedFrom:
    [found] = accept([source], CompareOptions(where={"metric": (metric,)}), AcceptOptions(**options)).thresholds
    return found


def test_the_threshold_is_the_statistics_own(recorded: Record) -> None:
    source = recorded(prompts=300, probabilities=True)
    labels: dict[str, list[Any]] = {}
    for label in source.data.labels:
        if label.metric == "tone":
            labels.setdefault(label.item_id, []).append(label.score)
    judged = {
        item: (score, sure)
        for item, metric, score, sure in zip(
            source.judgments.item, source.judgments.metric, source.judgments.score, source.judgments.confidence, strict=True
        )
        if metric == "tone"
    }
    modes = {item: max(set(given), key=given.count) for item, given in labels.items() if len(set(given)) < 3}
    names = [item.item_id for item in source.data.items]
    agrees = [float(judged[name][0] == modes[name]) if name in modes else math.nan for name in names]
    group = [int(name[1:]) for name in names]
    expected = acceptance_threshold([judged[name][1] for name in names], agrees, group)
    found = accepted(source)
    assert (found.threshold, found.confidence, found.reason) == (expected.threshold, "probability", None)
    assert (found.coverage, found.agreement, found.agreement_lower) == (expected.coverage, expected.agreement, expected.agreement_lower)
    assert found.n == len(modes) and found.groups < found.n


def test_repeats_are_taken_where_there_are_no_probabilities(recorded: Record) -> None:
    found = accepted(recorded(prompts=300, repeats=5))
    assert found.confidence == "repeats" and found.threshold in (0.6, 0.8, 1.0)
    assert found.agreement_lower is not None and found.agreement_lower >= 0.9


@pytest.mark.parametrize("confidence", [None, "probability", "repeats"])
def test_without_any_confidence_it_says_what_to_do(recorded: Record, confidence: Confidence | None) -> None:
    found = accepted(recorded(), confidence=confidence)
    assert found.threshold is None and "ask with --variant probabilities or with --repeats 5" in (found.reason or "")


def test_nothing_certified_is_an_answer(recorded: Record) -> None:
    found = accepted(recorded(prompts=300, probabilities=True), alpha=0.01)
    assert (found.threshold, found.coverage, found.agreement) == (None, 0.0, None) and found.reason
    few = accepted(recorded(prompts=12, probabilities=True, labelled=1.0))
    assert few.reason == f"52 labelled items with an answer are needed, there are {few.n}"


def test_votes_are_of_several_judges(recorded: Record) -> None:
    sources = [recorded(prompts=300, judge=f"model/{n}", noise=0.2) for n in range(3)]
    judgments = Judgments.concatenate([source.judgments for source in sources])
    shifted = msgspec.structs.replace(sources[0], judgments=judgments)
    found = accepted(shifted, confidence="votes")
    assert found.key["judge"] == "votes of 3 judges" and found.confidence == "votes"
    with pytest.raises(UsageError, match="votes need several judges"):
        accepted(sources[0], confidence="votes")


def test_failures_are_never_accepted_and_count_as_wrong(recorded: Record) -> None:
    source = recorded(prompts=300, probabilities=True)
    gone = source.judgments.take(np.arange(len(source.judgments)))
    codes = gone.score.codes.copy()
    codes[::3] = -1
    gone.score = type(gone.score)(gone.score.values, codes)
    found = accepted(msgspec.structs.replace(source, judgments=gone))
    assert found.n == accepted(source).n and found.coverage < 0.75


def _uneven(number: int, system: str, rng: np.random.Generator) -> Mapping[str, Any]:
    return {"inclusion_probability": 0.5 if number % 2 else 0.9}


def test_unequal_inclusion_has_no_guarantee(recorded: Record) -> None:
    found = accepted(recorded(prompts=300, probabilities=True, fields=_uneven))
    assert found.threshold is None and "drawn with unequal probabilities" in (found.reason or "")
    equal = accepted(recorded(prompts=300, probabilities=True, fields=lambda number, system, rng: {"inclusion_probability": 0.5}))
    assert equal.threshold is not None


def test_other_than_random_samples_are_refused(recorded: Record) -> None:
    with pytest.raises(UsageError, match=r"no automatic acceptance: the labelled items have to be a random sample"):
        accepted(recorded(sampling="convenience"))


@pytest.mark.parametrize("options", [{"alpha": 0.0}, {"alpha": 1.0}, {"delta": 2.0}, {"delta": math.nan}], ids=str)
def test_risks_are_between_0_and_1(options: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        AcceptOptions(**options)
