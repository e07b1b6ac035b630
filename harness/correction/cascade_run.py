"""Asks the judges of a certified cascade about new texts, each only about what those before it left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from harness.correction.cascade import needed
from harness.correction.cascade_certificate import AGAIN, CascadeAnswers, CascadeCertificate, CertifiedStep
from harness.correction.certificate import judge_problems
from harness.correction.certify import JudgedRun
from harness.data.judgments import Judgments
from harness.engines import Settings
from harness.errors import StaleCertificate, UsageError
from harness.model import Score, parse_variant
from harness.runs import Prepared, RunResult, RunSpec, Watcher, open_judges, prepare, run
from harness.stats.selection.cascade import votes_so_far

Question = tuple[str, str, str]  # item, metric, language


class CascadedAnswer(msgspec.Struct, frozen=True):
    """Who answers one text on one metric; `answered_by`, `score` and `confidence` are None where a person has to."""

    item_id: str
    language: str
    metric: str
    answered_by: str | None
    score: Score | None
    confidence: float | None


class CascadedStep(msgspec.Struct, frozen=True):
    """What one judge did: questions that it was asked, and those that its answer was taken of; `run` is the name of its run."""

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
    def left(self) -> int:
        return sum(answer.answered_by is None for answer in self.answers)


def run_cascade(spec: RunSpec, held: CascadeCertificate, out: Path, watcher: Watcher, settings: Settings) -> CascadedRun:
    """Ask the first judge about every text of `spec`, and each further one about those that no earlier judge is sure enough of.

    Judges and conditions are those of the certificate. Every step is a run of its own in one store and one budget, so that the same command
    continues where it was interrupted.

    Raises StaleCertificate, and asks nothing, if a judge, prompt, rubric or scale is not as certified; UsageError for a certificate of
    recorded scores, or of none of the texts; and as `run`.
    """
    specs = [step_spec(spec, step) for step in held.steps]
    prepared = [prepare(each) for each in specs]
    for step, ready, each in zip(held.steps, prepared, specs, strict=True):
        refuse_changed(held, step, ready, each)
    settings = msgspec.structs.replace(settings, shared_budget=settings.budget)
    every = list(_questions(prepared[0]))
    left = _certified(held, every)
    answers: dict[tuple[str, str], CascadedAnswer] = {}
    said: list[Mapping[tuple[str, str], _Said]] = []
    steps: list[CascadedStep] = []
    for step, each in zip(held.steps, specs, strict=True):
        asked = [question for question in left if _is_needed(held, step, question)]
        if not asked:
            said.append({})
            steps.append(CascadedStep(step.judge.name, None, 0, 0))
            continue
        result = run(each if len(asked) == len(every) else _only(each, asked), out, watcher, settings)
        said.append(_said(result, held))
        taken = dict(_taken(held, asked, said))
        answers |= taken
        steps.append(CascadedStep(step.judge.name, result.name, len(asked), len(taken)))
        left = [question for question in left if question[:2] not in taken]
    to_people = ((item, metric, CascadedAnswer(item, language, metric, None, None, None)) for item, metric, language in every)
    final = tuple(answers.get((item, metric), nobody) for item, metric, nobody in to_people)
    upper = {f"{cell.chain.language}/{cell.chain.metric}": cell.chain.upper for cell in held.cells}
    return CascadedRun(final, tuple(steps), upper, held.only_if)


def _only(spec: RunSpec, asked: Sequence[Question]) -> RunSpec:
    metrics = dict.fromkeys(metric for _, metric, _ in asked)
    only = {metric: tuple(item for item, its, _ in asked if its == metric) for metric in metrics}
    return replace(spec, only=only)


def _is_needed(held: CascadeCertificate, step: CertifiedStep, question: Question) -> bool:
    """Whether a judge has to be asked in the language and metric of a question."""
    chain = held.cell(question[2], question[1]).chain
    return any(asked for own, asked in zip(chain.steps, needed(chain.steps), strict=True) if own.judge == step.judge.name)


def step_spec(spec: RunSpec, step: CertifiedStep) -> RunSpec:
    """The specification of one judge's run: the texts of `spec`, and the judge and condition of the certificate.

    Raises UsageError for a certificate of recorded scores.
    """
    if step.prompt is None:
        raise UsageError(
            f"the certificate's scores of {step.judge.name} were recorded elsewhere, so it does not know how to ask; run the judges with "
            "'harness run', and 'harness accept --cascade --to FILE' that run"
        )
    judge = step.judge
    own = bool(parse_variant(judge.variant).prompt)
    return replace(
        spec,
        judges=(judge.name,),
        variants=None if own else (judge.variant,),
        temperatures=None if judge.temperature is None else (judge.temperature,),
        top_ps=(judge.top_p,),
        repeats=step.repeats,
    )


def refuse_changed(held: CascadeCertificate, step: CertifiedStep, ready: Prepared, spec: RunSpec) -> None:
    """Raise StaleCertificate if a judge, its prompts, rubrics or scales are not as certified."""
    asked = JudgedRun(ready.protocol, ready.library)
    [judge] = open_judges(spec, ready)
    for problem in judge_problems(step.judge, judge.identity):
        raise StaleCertificate(f"{problem}; {AGAIN}")
    if (prompt := asked.prompt(step.judge.name, step.judge.variant)) != step.prompt:
        raise StaleCertificate(f"the prompts of {step.judge.name} are {prompt}, and the certificate holds for {step.prompt}; {AGAIN}")
    for cell in held.cells:
        metric = cell.chain.metric
        if metric not in ready.protocol.questions.metrics:
            continue
        if (rubric := asked.rubric(metric)) != cell.rubric:
            raise StaleCertificate(f"the rubric of '{metric}' is {rubric}, and the certificate holds for {cell.rubric}; {AGAIN}")
        if ready.data.scales[metric] != cell.scale:
            raise StaleCertificate(f"the scale of '{metric}' is {ready.data.scales[metric].describe()}; {AGAIN}")


def _certified(held: CascadeCertificate, every: Sequence[Question]) -> list[Question]:
    """The questions in languages and metrics in which the certificate accepts any answer; the others are left to people."""
    certified = {(cell.chain.language, cell.chain.metric) for cell in held.cells if cell.chain.upper is not None}
    found = [question for question in every if (question[2], question[1]) in certified]
    if not found:
        places = ", ".join(f"{language}/{metric}" for language, metric in sorted(certified)) or "nothing"
        raise UsageError(f"the certificate accepts answers in {places}, and there are no such texts to ask about")
    return found


def _questions(ready: Prepared) -> Iterator[Question]:
    asked = ready.data.asked_metrics
    for item in ready.data.items:
        for metric in ready.protocol.questions.metrics:
            if metric in asked.get(item.item_id, ()):
                yield item.item_id, metric, item.language


class _Said(NamedTuple):
    """A judge's commonest answer to a question, None without one, and how sure it is."""

    score: Score | None
    confidence: float


def _said(result: RunResult, held: CascadeCertificate) -> dict[tuple[str, str], _Said]:
    rows: Judgments = result.judgments.clean
    judge = held.steps[held.judges.index(result.protocol.judges.identities[0].name)].judge.name
    reads = {cell.chain.metric: next(step.confidence for step in cell.chain.steps if step.judge == judge) for cell in held.cells}
    answers: dict[tuple[str, str], list[tuple[Score | None, float]]] = {}
    for item, metric, score, sure in zip(rows.item, rows.metric, rows.score, rows.confidence, strict=True):
        answers.setdefault((str(item), str(metric)), []).append((score, np.nan if sure is None else float(sure)))
    return {question: _commonest(given, reads.get(question[1], "")) for question, given in answers.items()}


def _commonest(given: Sequence[tuple[Score | None, float]], confidence: str) -> _Said:
    """The commonest answer with the mean probability of its tokens, or with its share of all answers; none where two are as common."""
    counts: dict[Score, int] = {}
    for score, _ in given:
        if score is not None:
            counts[score] = counts.get(score, 0) + 1
    most = [score for score, count in counts.items() if count == max(counts.values())]
    if len(most) != 1:
        return _Said(None, np.nan)
    sure = [own for score, own in given if score == most[0] and not np.isnan(own)]
    if confidence != "probability":
        return _Said(most[0], counts[most[0]] / len(given))
    return _Said(most[0], float(np.mean(sure)) if sure else np.nan)


def _confidences(held: CascadeCertificate, said: Mapping[str, Sequence[_Said]]) -> dict[str, list[float]]:
    """How sure judges are of some texts: as they said themselves, or by the votes of those asked so far."""
    if held.options.accept.confidence != "votes":
        return {name: [each.confidence for each in given] for name, given in said.items()}
    codes: dict[Score | None, int] = {None: -1}
    answers = np.array([[codes.setdefault(each.score, len(codes)) for each in given] for given in said.values()])
    return {name: votes_so_far(answers[: place + 1]).tolist() for place, name in enumerate(said)}


def _taken(
    held: CascadeCertificate, left: Sequence[Question], said: Sequence[Mapping[tuple[str, str], _Said]]
) -> Iterator[tuple[tuple[str, str], CascadedAnswer]]:
    """The questions that one of the judges so far answers."""
    nothing, names = _Said(None, np.nan), held.judges[: len(said)]
    for language, metric in dict.fromkeys((each[2], each[1]) for each in left):
        items = [item for item, its, tag in left if (tag, its) == (language, metric)]
        own = {name: [by.get((item, metric), nothing) for item in items] for name, by in zip(names, said, strict=True)}
        sure = _confidences(held, own)
        found: CascadeAnswers = held.apply(
            {name: [each.score for each in given] for name, given in own.items()},
            sure,
            language=language,
            metric=metric,
            prompts={step.judge.name: str(step.prompt) for step in held.steps},
            rubric=held.cell(language, metric).rubric,
        )
        for place, (item, name, score) in enumerate(zip(items, found.by, found.scores, strict=True)):
            if name is not None:
                yield (item, metric), CascadedAnswer(item, language, metric, name, score, sure[name][place])
