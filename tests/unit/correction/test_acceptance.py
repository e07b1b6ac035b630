"""Automatic acceptance: confidence from probabilities, repeats or votes, groups respected, and nothing certified as an answer."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pytest

import harness
from harness.correction.acceptance import Acceptances, AcceptedFrom, accept
from harness.correction.correction_options import AcceptOptions, Confidence
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.errors import UsageError
from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions
from harness.stats import acceptance_threshold
from tests.judged_folder import judged_folder

Record = Callable[..., Recording]


def accepted(source: Recording, metric: str = "tone", **options: Any) -> AcceptedFrom:
    [found] = accept([source], MeasureOptions(where={"metric": (metric,)}), AcceptOptions(**options)).thresholds
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
    found = accepted(recorded(prompts=300, probabilities=True), alpha_risk=0.01)
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
    with pytest.raises(UsageError, match=r"no automatic acceptance: this needs labels of a random sample"):
        accepted(recorded(sampling="convenience"))


@pytest.mark.parametrize("options", [{"alpha_risk": 0.0}, {"alpha_risk": 1.0}, {"delta": 2.0}, {"delta": math.nan}], ids=str)
def test_risks_are_between_0_and_1(options: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        AcceptOptions(**options)


class TestLeftOut:
    """Texts without a commonest label: a certified share of agreement says nothing of them, and is never shown without their share."""

    @pytest.fixture
    def divided(self) -> Dataset:
        """Two people who disagree on every fourth text, and a judge that is always sure and says what the first one says."""
        texts = range(400)
        labels = [
            {
                "item_id": f"t{n}",
                "annotator_id": who,
                "metric": "tone",
                "language": "en",
                "score": n % 2 if who == "a" or n % 4 else 1 - n % 2,
            }
            for n in texts
            for who in ("a", "b")
        ]
        judgments = [
            {"item_id": f"t{n}", "judge": "m/one", "metric": "tone", "language": "en", "score": n % 2, "repeat": repeat}
            for n in texts
            for repeat in range(3)
        ]
        scales = {"tone": {"kind": "ordinal", "classes": [0, 1], "best": 1}}
        data = harness.from_frames(labels=pd.DataFrame(labels), judgments=pd.DataFrame(judgments), scales=scales)
        return msgspec.structs.replace(data, about=msgspec.structs.replace(data.about, sampling="random"))

    def found(self, data: Dataset, majority: str = "drop") -> Acceptances:
        assert data.judgments is not None
        return accept([Recording("made", data, data.judgments, data.about.asked)], MeasureOptions(majority=majority))  # type: ignore[arg-type]

    def test_they_are_counted_and_said(self, divided: Dataset) -> None:
        made = self.found(divided)
        [of] = made.thresholds
        assert (of.n, of.left_out, of.left_out_share, of.agreement) == (300, 100, 0.25, 1.0)
        assert made.as_json()["thresholds"][0]["left_out_share"] == 0.25
        assert any("without a commonest label, on which people disagree: 100 of 400 in en/tone" in note for note in made.notes)

    def test_strict_counts_them_as_disagreement(self, divided: Dataset) -> None:
        made = self.found(divided, "strict")
        [of] = made.thresholds
        assert (of.n, of.left_out, of.threshold) == (400, 0, None)
        assert "majority:strict" in made.signature and not any("commonest" in note for note in made.notes)

    def test_the_command_and_the_certificate_say_it_too(self, cli: Callable[..., Any], tmp_path: Path) -> None:
        folder = judged_folder(tmp_path / "made", labelled=1.0, prompts=300, repeats=5, annotators=2, noise=0.02)
        shown = cli("accept", folder, "--where", "metric=errors")
        assert shown.code == 0 and "left out: the share of labelled texts without a commonest label" in " ".join(shown.out.split())
        share = json.loads(cli("accept", folder, "--where", "metric=errors", "--json").out)["thresholds"][0]["left_out_share"]
        written = cli("certify", folder, "--to", tmp_path / "c.json", "--where", "metric=errors")
        assert f"nothing is said of the {100 * share:.0f} % of labelled texts without a commonest label" in written.out
        held = json.loads((tmp_path / "c.json").read_text("utf-8"))["cells"][0]["acceptance"]
        assert held["left_out"] / (held["n"] + held["left_out"]) == share > 0.05
        strict = json.loads(cli("accept", folder, "--majority", "strict", "--where", "metric=errors", "--json").out)["thresholds"][0]
        assert strict["left_out"] == 0 and strict["n"] == held["n"] + held["left_out"]
