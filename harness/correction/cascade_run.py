"""Asks the judges of a certified cascade about new texts, each only about what those before it left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from harness.asking import Settings
from harness.correction.cascade import VOTES, asked_steps
from harness.correction.cascade_certificate import AGAIN, CascadeCertificate, CertifiedStep
from harness.correction.certificate import judge_problems
from harness.correction.certify import JudgedRun
from harness.data.judgments import Judgments
from harness.engines.limits import budget_of
from harness.errors import StaleCertificate, UsageError
from harness.model import Score, parse_variant
from harness.runs import Prepared, RunResult, RunSpec, Watcher, open_judges, prepare, run
from harness.stats.selection.cascade import votes_so_far

Question = tuple[str, str, str]  # item, metric, language
ItemMetric = tuple[str, str]


class CascadedAnswer(msgspec.Struct, frozen=True):
    """The answer to one text on one metric; `answered_by`, `score` and `confidence` are None where a person has to."""

    item_id: str
    language: str
    metric: str
    answered_by: str | None
    score: Score | None
    confidence: float | None


class CascadedStep(msgspec.Struct, frozen=True):
    """The number of questions that one judge was asked, and of its answers that were accepted; `run` is the name of its run."""

    judge: str
    run: str | None
    asked: int
    answered: int


class CascadedRun(msgspec.Struct, frozen=True):
    """The answers to all questions, in the order of items, what each judge did, and the certified bounds by `language/metric`.

    `only_if`: what they rest on beside the labels, or None.
    """

    answers: tuple[CascadedAnswer, ...]
    steps: tuple[CascadedStep, ...]
    upper: Mapping[str, float | None]
    only_if: str | None

    @property
    def for_people(self) -> int:
        return sum(answer.answered_by is None for answer in self.answers)


def run_cascade(spec: RunSpec, certificate: CascadeCertificate, out: Path, watcher: Watcher, settings: Settings) -> CascadedRun:
    """Ask the first judge about every text of `spec`, and each further one about those that no earlier judge is sure enough of.

    Judges and conditions are those of the certificate. Every step is a run of its own in one store and one budget, so that the same command
    continues where it was interrupted.

    Raises StaleCertificate, and asks nothing, if a judge, prompt, rubric or scale is not as certified; UsageError for a certificate of
    recorded scores, or of none of the texts; and as `run`.
    """
    specs = [step_spec(spec, step) for step in certificate.steps]
    preparations = [prepare(spec_of_judge) for spec_of_judge in specs]
    for step, prepared, spec_of_judge in zip(certificate.steps, preparations, specs, strict=True):
        refuse_changed(certificate, step, prepared, spec_of_judge)
    settings = replace(settings, shared_budget=budget_of(settings))
    prepared = preparations[0]
    asked_metrics = prepared.data.asked_metrics
    questions: list[Question] = [
        (item.item_id, metric, item.language)
        for item in prepared.data.items
        for metric in prepared.protocol.questions.metrics
        if metric in asked_metrics.get(item.item_id, ())
    ]
    # The questions in languages and metrics in which the certificate accepts any answer; the others are left to people.
    certified = {(cell.chain.language, cell.chain.metric) for cell in certificate.cells if cell.chain.upper is not None}
    selected = [question for question in questions if (question[2], question[1]) in certified]
    if not selected:
        cells = ", ".join(f"{language}/{metric}" for language, metric in sorted(certified)) or "nothing"
        raise UsageError(f"the certificate accepts answers in {cells}, and there are no such texts to ask about")
    unanswered = selected
    answers: dict[ItemMetric, CascadedAnswer] = {}
    readings: list[Mapping[ItemMetric, _Reading]] = []
    steps: list[CascadedStep] = []
    for step, spec_of_judge in zip(certificate.steps, specs, strict=True):
        to_ask = [question for question in unanswered if _has_to_be_asked(certificate, step, question)]
        if not to_ask:
            readings.append({})
            steps.append(CascadedStep(step.judge.name, None, 0, 0))
            continue
        if len(to_ask) < len(questions):
            metrics = dict.fromkeys(metric for _, metric, _ in to_ask)
            only = {metric: tuple(item for item, its_metric, _ in to_ask if its_metric == metric) for metric in metrics}
            spec_of_judge = replace(spec_of_judge, only=only)
        result = run(spec_of_judge, out, watcher, settings)
        readings.append(_read_answers(result, certificate))
        accepted = dict(_accept_answers(certificate, to_ask, readings))
        answers |= accepted
        steps.append(CascadedStep(step.judge.name, result.name, len(to_ask), len(accepted)))
        unanswered = [question for question in unanswered if question[:2] not in accepted]
    by_person = ((item, metric, CascadedAnswer(item, language, metric, None, None, None)) for item, metric, language in questions)
    final = tuple(answers.get((item, metric), unanswered_text) for item, metric, unanswered_text in by_person)
    upper = {f"{cell.chain.language}/{cell.chain.metric}": cell.chain.upper for cell in certificate.cells}
    return CascadedRun(final, tuple(steps), upper, certificate.only_if)


def _has_to_be_asked(certificate: CascadeCertificate, step: CertifiedStep, question: Question) -> bool:
    """Return True if a judge has to be asked in the language and metric of a question."""
    steps = certificate.cell(question[2], question[1]).chain.steps
    return any(is_asked for accepted, is_asked in zip(steps, asked_steps(steps), strict=True) if accepted.judge == step.judge.name)


def step_spec(spec: RunSpec, step: CertifiedStep) -> RunSpec:
    """Return the specification of one judge's run: the texts of `spec`, and the judge and condition of the certificate.

    Raises UsageError for a certificate of recorded scores.
    """
    if step.prompt is None:
        raise UsageError(
            f"the certificate's scores of {step.judge.name} were recorded elsewhere, so it does not know how to ask; run the judges with "
            "'harness run', and 'harness accept --cascade --to FILE' that run"
        )
    judge = step.judge
    has_custom_prompt = bool(parse_variant(judge.variant).prompt)
    return replace(
        spec,
        judges=(judge.name,),
        variants=None if has_custom_prompt else (judge.variant,),
        temperatures=None if judge.temperature is None else (judge.temperature,),
        top_ps=(judge.top_p,),
        repeats=step.repeats,
    )


def refuse_changed(certificate: CascadeCertificate, step: CertifiedStep, prepared: Prepared, spec: RunSpec) -> None:
    """Raise StaleCertificate if a judge, its prompts, rubrics or scales are not as certified."""
    judged_run = JudgedRun(prepared.protocol, prepared.library)
    [judge] = open_judges(spec, prepared)
    for problem in judge_problems(step.judge, judge.identity):
        raise StaleCertificate(f"{problem}; {AGAIN}")
    if (prompt := judged_run.prompt(step.judge.name, step.judge.variant)) != step.prompt:
        raise StaleCertificate(f"the prompts of {step.judge.name} are {prompt}, and the certificate holds for {step.prompt}; {AGAIN}")
    for cell in certificate.cells:
        metric = cell.chain.metric
        if metric not in prepared.protocol.questions.metrics:
            continue
        if (rubric := judged_run.rubric(metric)) != cell.rubric:
            raise StaleCertificate(f"the rubric of '{metric}' is {rubric}, and the certificate holds for {cell.rubric}; {AGAIN}")
        if prepared.data.scales[metric] != cell.scale:
            raise StaleCertificate(f"the scale of '{metric}' is {prepared.data.scales[metric].describe()}; {AGAIN}")


class _Reading(NamedTuple):
    """A judge's commonest answer to a question, None without one, and how sure it is."""

    score: Score | None
    confidence: float


def _read_answers(result: RunResult, certificate: CascadeCertificate) -> dict[ItemMetric, _Reading]:
    """Return each question's commonest answer, with its confidence as the certificate reads it; none where two are as common.

    The confidence is the mean probability of the answer's tokens, or its share of all answers.
    """
    rows: Judgments = result.judgments.clean
    judge = certificate.steps[certificate.judges.index(result.protocol.judges.identities[0].name)].judge.name
    kinds = {cell.chain.metric: next(step.confidence for step in cell.chain.steps if step.judge == judge) for cell in certificate.cells}
    answers: dict[ItemMetric, list[tuple[Score | None, float]]] = {}
    for item, metric, score, confidence in zip(rows.item, rows.metric, rows.score, rows.confidence, strict=True):
        answers.setdefault((str(item), str(metric)), []).append((score, np.nan if confidence is None else float(confidence)))
    readings = {}
    for question, repeats in answers.items():
        counts = Counter(score for score, _ in repeats if score is not None)
        commonest = [score for score, count in counts.items() if count == max(counts.values())]
        if len(commonest) != 1:
            readings[question] = _NO_ANSWER
        elif kinds.get(question[1]) == "probability":
            probabilities = [confidence for score, confidence in repeats if score == commonest[0] and not np.isnan(confidence)]
            readings[question] = _Reading(commonest[0], float(np.mean(probabilities)) if probabilities else np.nan)
        else:
            readings[question] = _Reading(commonest[0], counts[commonest[0]] / len(repeats))
    return readings


_NO_ANSWER = _Reading(None, np.nan)


def _accept_answers(
    certificate: CascadeCertificate, questions: Sequence[Question], readings: Sequence[Mapping[ItemMetric, _Reading]]
) -> Iterator[tuple[ItemMetric, CascadedAnswer]]:
    """Yield the questions that one of the judges so far answers; `readings` has those of each judge.

    Judges are as sure as they said themselves, or as the votes of those asked so far.
    """
    for language, metric in dict.fromkeys((question[2], question[1]) for question in questions):
        items = [item for item, its_metric, its_language in questions if (its_language, its_metric) == (language, metric)]
        by_judge = {
            judge: [of_judge.get((item, metric), _NO_ANSWER) for item in items]
            for judge, of_judge in zip(certificate.judges, readings, strict=False)
        }
        confidences = {judge: [reading.confidence for reading in of_judge] for judge, of_judge in by_judge.items()}
        if certificate.options.accept.confidence == VOTES:
            codes: dict[Score | None, int] = {None: -1}
            votes = np.array([[codes.setdefault(reading.score, len(codes)) for reading in of_judge] for of_judge in by_judge.values()])
            confidences = {judge: votes_so_far(votes[: index + 1]).tolist() for index, judge in enumerate(by_judge)}
        accepted = certificate.apply(
            {judge: [reading.score for reading in of_judge] for judge, of_judge in by_judge.items()},
            confidences,
            language=language,
            metric=metric,
            prompts={step.judge.name: str(step.prompt) for step in certificate.steps},
            rubric=certificate.cell(language, metric).rubric,
        )
        for index, (item, judge, score) in enumerate(zip(items, accepted.by, accepted.scores, strict=True)):
            if judge is not None:
                yield (item, metric), CascadedAnswer(item, language, metric, judge, score, confidences[judge][index])
