"""A run as a recording that can be compared, and the signature of its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version

from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.judges import Panel
from harness.judges.baselines import TrainingCounts, majority
from harness.measure.compare import CI_SIGNED, Recording
from harness.model import JudgeIdentity, Score
from harness.runs import RunProtocol
from harness.signature import Signature, judge_text
from harness.text import segmenter_version


def recording(judgments: Judgments, data: Dataset, training: Dataset, name: str = "run", panels: Mapping[str, Panel] = {}) -> Recording:
    """Return a run's judgments beside the labels of what was asked, and what the majority baseline has learnt from `training`."""
    learnt = TrainingCounts(training)
    guesses: dict[tuple[str, str], Score | None] = {}
    for item_id, metric in judgments.asked if learnt.has_development else ():
        if learnt.development(data.by_id[item_id], metric):
            guesses[item_id, metric] = majority(data.by_id[item_id], metric, data.label_scale(metric), learnt, "")
    return Recording(name, data, judgments, baseline=guesses, panels=panels)


def signatures(protocol: RunProtocol, judgments: Judgments) -> dict[str, Signature]:
    """Return the signature of each judge's numbers in a run, by its name."""
    answers = judgments.sha256[:12]
    return {identity.name: _signature(protocol, identity, answers) for identity in protocol.judges.all}


def _signature(protocol: RunProtocol, identity: JudgeIdentity, answers: str) -> Signature:
    texts, questions, wording = protocol.texts, protocol.questions, protocol.wording
    return Signature(
        judge=judge_text(identity),
        data=f"{texts.source}+{texts.data_sha256[:12]}" + (f"+first{texts.limit}" if texts.limit else ""),
        judgments=answers,
        tasks=tuple(f"{name}@{number}" for name, number in wording.tasks.items()),
        rubrics=tuple(f"{name}@{number}" for name, number in wording.rubrics.items()),
        langs=texts.languages,
        conditions=tuple(map(str, questions.conditions)),
        repeats=questions.repeats,
        seed=questions.seed,
        prompts=wording.prompts_of(identity),
        instructions=tuple(f"{tag}@{number}" for tag, number in wording.instructions.items()),
        examples=wording.examples or "none",
        segmenter=segmenter_version() if any(condition.perturbation for condition in questions.conditions) else "none",
        majority=protocol.rule.majority,
        annotators=protocol.rule.annotators,
        ci=CI_SIGNED,
        harness=version("judge-harness"),
        reask="refused" if questions.reask else "none",
    )
