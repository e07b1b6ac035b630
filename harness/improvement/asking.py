"""A better judge by asking: which candidates are asked about which data, divided before anybody is asked."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path

import msgspec

from harness.decide.options import DecisionOptions
from harness.engines import Settings
from harness.errors import UsageError
from harness.improvement.asked_answers import AskedAnswers, AskedData, asked_data, conditions_of
from harness.improvement.asking_price import AskingPrice, asking_price, refuse_small_budget
from harness.improvement.calibrated_answers import CalibratedAnswers
from harness.improvement.candidates import AskedCandidate, default_candidates, named_metric
from harness.improvement.confirmed_uses import refuse_second_use
from harness.improvement.improve import Division, Improved, ImproveOptions, divided, improve, starting_point
from harness.measure.options import CompareOptions
from harness.model import JudgeCondition
from harness.runs import RunSpec, Watcher


class Asking(msgspec.Struct, frozen=True):
    """Candidates that are asked.

    Attributes:
        judges: who is asked under about eight settings that fit the data, if there are no `candidates`.
        candidates: judges under settings.
        spec: everything else about the runs: data, endpoints, content, seed, limit.
        settings: calls in flight and limits; `settings.limits.cost` is for choosing and confirming together.
    """

    judges: tuple[str, ...] = ()
    candidates: tuple[AskedCandidate, ...] = ()
    spec: RunSpec = RunSpec()
    settings: Settings = Settings()


class PlannedImprovement(msgspec.Struct, frozen=True):
    """Candidates, the data that they are asked about, and its two halves."""

    asking: Asking
    candidates: Mapping[JudgeCondition, AskedCandidate]
    asked: AskedData
    division: Division
    options: ImproveOptions

    @property
    def folder(self) -> Path:
        """The data folder."""
        return Path(str(self.asked.prepared.protocol.texts.data))

    @property
    def calibrated(self) -> tuple[int, ...]:
        """Positions of the candidates whose calibrated scores are candidates too."""
        return tuple(at for at, each in enumerate(self.candidates.values()) if each.calibrated)

    @property
    def sentence(self) -> str:
        return self.division.sentence(len(self.candidates) + len(self.calibrated))

    def price(self, out: Path) -> AskingPrice:
        """What is still to be asked at most, beside what the results folder holds. Asks nobody."""
        start = starting_point(tuple(self.candidates), self.options.start)
        with tempfile.TemporaryDirectory() as pool:
            halves = self.division.choosing, self.division.confirming
            return asking_price(self.candidates, start, self.asked, halves, out, self.asking.settings, Path(pool))

    def run(self, out: Path, watcher: Watcher, decision: DecisionOptions, today: date) -> Improved:
        """Ask what choosing needs, then what confirming needs. Raises as `improve` and as `runs.run`."""
        refuse_second_use(self.division.uses, self.options.reuse)  # before anything is paid for
        watcher.note(self.sentence)
        if self.asking.settings.limits.cost is not None:
            refuse_small_budget(self.price(out), self.asking.settings)
        choosing, compare = self.division.choosing, self.asked.compare
        asked = AskedAnswers(self.candidates, self.asked, choosing, out, watcher, self.asking.settings)
        answers = CalibratedAnswers(asked, self.calibrated, choosing, compare, self.options.seed)
        return improve(self.division, answers, compare, self.options, decision, self.folder, today)


def planned(asking: Asking, compare: CompareOptions, options: ImproveOptions) -> PlannedImprovement:
    """Load the data, name the candidates and divide the labels. Asks nobody.

    Raises:
        UsageError: without a judge or a second candidate, without labels, with too few texts, and for an unknown start.
        ContentError: for data, prompts or content that cannot be read.
    """
    if not (asking.judges or asking.candidates):
        raise UsageError("name who is asked: --judge openai/MODEL, repeatable")
    metric = named_metric(asking.candidates)
    spec = asking.spec if metric is None else replace(asking.spec, metrics=(metric,))
    asked = asked_data(spec, compare)
    candidates = conditions_of(asking.candidates or default_candidates(asking.judges, asked.prepared, spec.allow_unreviewed), asked)
    starting_point(tuple(candidates), options.start)
    return PlannedImprovement(
        asking, candidates, asked, divided(asked.questions, options, Path(str(asked.prepared.protocol.texts.data))), options
    )
