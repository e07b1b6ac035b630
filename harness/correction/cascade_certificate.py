"""The certificate of a cascade, made and read: the order of its judges, and the confidence above which each one's answer is accepted."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from harness.asking_options import Settings
from harness.content.tags import choose_from
from harness.correction.acceptance import ONLY_IF
from harness.correction.cascade import (
    STATED,
    VOTES,
    AcceptedCascade,
    AcceptedCascades,
    AcceptedStep,
    AnswerPrice,
    accept_cascade,
    asked_steps,
)
from harness.correction.cell_results import judged_rows
from harness.correction.certificate import (
    CHANGED,
    HASHES,
    CertifiedData,
    CertifiedJudge,
    ComparedBy,
    SealedFile,
    judge_problems,
    read_certificate_file,
)
from harness.correction.certify import JudgedRun, certified_data, certified_judge
from harness.correction.correction_options import AcceptOptions, Confidence
from harness.correction.staleness import (
    comparable_signature,
    condition_changes,
    different_values,
    label_changes,
    rubric_changes,
    score_changes,
)
from harness.data.judgments import Judgments
from harness.engines.budget import budget_of
from harness.errors import CertificateError, ContentError, StaleCertificate, UsageError
from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions
from harness.model import JudgeIdentity, Scale, Score, parse_variant
from harness.runs import Prepared, RunResult, RunSpec, Watcher, open_judges, prepare, run
from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.acceptance import Units, answered_by, votes_so_far

SCHEMA_VERSION = 2
AGAIN = "make a new certificate with 'harness accept --cascade --to FILE'"


class CertifiedErrors(msgspec.Struct, frozen=True):
    """The tolerated errors, as `AcceptOptions` has them."""

    alpha: float
    delta: float
    confidence: Confidence | None
    sampling: Literal["random"] | None

    @classmethod
    def of(cls, options: AcceptOptions) -> CertifiedErrors:
        return cls(options.alpha_risk, options.delta, options.confidence, options.sampling)

    @property
    def options(self) -> AcceptOptions:
        return AcceptOptions(alpha_risk=self.alpha, delta=self.delta, confidence=self.confidence, sampling=self.sampling)


class CascadeOptions(ComparedBy, frozen=True):
    """The options that the numbers were made with."""

    accept: CertifiedErrors
    units: Units


class CertifiedStep(msgspec.Struct, frozen=True, kw_only=True):
    """One judge: how it is asked, how often about each text, and the hash of what words its prompts (None for recorded judgments)."""

    judge: CertifiedJudge
    repeats: int
    prompt: str | None


class CertifiedChain(msgspec.Struct, frozen=True, kw_only=True):
    """The chain in one language and metric: its scale, its rubric (None for recorded judgments) and its thresholds."""

    scale: Scale
    rubric: str | None
    chain: AcceptedCascade

    @property
    def name(self) -> str:
        return f"{self.chain.language}/{self.chain.metric}"


class CascadeAnswers(msgspec.Struct, frozen=True, eq=False):
    """The judges that answer new texts.

    Attributes:
        judge_index: (texts,) position of the judge whose answer is accepted, in the order in which judges are asked; -1 where none is.
        judges: the names of all judges of the chain.
        scores: (texts,) the accepted answer; None where there is none.
        judges_asked: how many of the judges have been asked. Texts without an answer go on to the next one, or to a person after the last.
        upper: the certified bound of the share of wrong answers among the accepted ones; None where nothing is certified.
        unchecked: what of judges, prompts and rubric could not be compared with the certificate.
        reason: why nothing is certified, or None.
    """

    judge_index: Ints
    judges: tuple[str, ...]
    scores: tuple[Score | None, ...]
    judges_asked: int
    upper: float | None
    unchecked: tuple[str, ...]
    reason: str | None

    @property
    def next(self) -> str | None:
        """The judge that texts without an answer go on to; None if that is a person."""
        return self.judges[self.judges_asked] if self.judges_asked < len(self.judges) and self.reason is None else None

    @property
    def by(self) -> tuple[str | None, ...]:
        """The judge that answers each text; None where there is no answer yet."""
        names = (*self.judges, None)
        return tuple(names[index] for index in self.judge_index)


class CascadeCertificate(SealedFile, frozen=True, kw_only=True):
    """A chain of judges with one promise for all accepted answers.

    Attributes:
        kind: tells it from the certificate of one judge.
        steps: the judges in the order in which they are asked; a person is the last.
        data: the labels.
        options: what the numbers were made with.
        signature: everything that moved a number.
        cells: one for each language and metric.
    """

    kind: Literal["cascade"]
    steps: tuple[CertifiedStep, ...]
    data: CertifiedData
    options: CascadeOptions
    signature: str
    cells: tuple[CertifiedChain, ...]

    def __post_init__(self) -> None:
        names = self.judges
        if len(names) < 2 or len(set(names)) < len(names):
            raise ValueError("a cascade has two judges or more, each once")
        cell_names = [cell.name for cell in self.cells]
        if twice := next((cell_name for cell_name in cell_names if cell_names.count(cell_name) > 1), None):
            raise ValueError(f"{twice} stands twice in its cells")
        for cell in self.cells:
            cell_name, steps = cell.name, cell.chain.steps
            if tuple(step.judge for step in steps) != names:
                raise ValueError(f"the judges of {cell_name} are not those of the steps")
            if any(step.threshold is not None and not 0 <= step.threshold <= 1 for step in steps):
                raise ValueError(f"a threshold of {cell_name} is not from 0 to 1")
            if any(step.threshold is not None for step in steps) and not 0 <= (cell.chain.upper or 0) <= self.options.accept.alpha:
                raise ValueError(f"thresholds of {cell_name} are certified, but their bound is above the tolerated share of errors")

    @property
    def judges(self) -> tuple[str, ...]:
        return tuple(step.judge.name for step in self.steps)

    @property
    def only_if(self) -> str | None:
        """The assumption of the promise beside the labels: None if the data say that they are a random sample."""
        return ONLY_IF if self.data.sampling != "random" else None

    def cell(self, language: str, metric: str) -> CertifiedChain:
        """Return the chain of a language and metric. Raises StaleCertificate where there is none."""
        for cell in self.cells:
            if (cell.chain.language, cell.chain.metric) == (language, metric):
                return cell
        have, wanted = [cell.name for cell in self.cells], f"{language}/{metric}"
        raise StaleCertificate(f"the certificate has nothing on {wanted}; {AGAIN} from labels in that language.{choose_from(have, wanted)}")

    def apply(
        self,
        scores: Mapping[str, Sequence[Score | None] | ArrayLike],
        confidences: Mapping[str, ArrayLike],
        *,
        language: str,
        metric: str,
        judges: Mapping[str, JudgeIdentity] | None = None,
        prompts: Mapping[str, str] | None = None,
        rubric: str | None = None,
        scale: Scale | None = None,
    ) -> CascadeAnswers:
        """Say who answers each new text: the first judge that is as sure as certified and has a score.

        The new texts have to come from the population that the labelled ones were drawn from.

        Args:
            scores: of the first judges of the chain, or of all, by name: (texts,) with None or NaN where there is none, as for texts that
                a judge was not asked about.
            confidences: the same with confidences, in the units of the certificate.
            language, metric: which cell of the certificate.
            judges: identities of the judges, if their settings are to be compared.
            prompts: hashes of their prompts, needed where the certificate has them.
            rubric, scale: as `Certificate.apply`.

        Raises:
            StaleCertificate: for other judges, prompts, rubric, language, metric or scale, and for scores off the scale.
            CertificateError: where something that has to be compared is not given.
            UsageError: for arrays that do not fit together.
        """
        cell = self.cell(language, metric)
        unchecked = self._refuse_stale(cell, tuple(scores), judges or {}, prompts or {}, rubric, scale)
        names = self.judges[: len(scores)]
        if set(confidences) != set(names):
            raise UsageError(f"confidences are of {', '.join(confidences) or 'no judge'}, and scores of {', '.join(names)}")
        judge_scores = [_read_scores(cell.scale, metric, scores[name]) for name in names]
        confidence = np.vstack([_read_confidences(confidences[name], read, name) for name, read in zip(names, judge_scores, strict=True)])
        if cell.chain.upper is None:
            judge_index: Ints = np.full(confidence.shape[1], -1)
        else:
            thresholds = [math.inf if step.threshold is None else step.threshold for step in cell.chain.steps[: len(names)]]
            judge_index = answered_by(confidence, thresholds)
        accepted = tuple(None if judge < 0 else judge_scores[judge][text] for text, judge in enumerate(judge_index.tolist()))
        return CascadeAnswers(judge_index, self.judges, accepted, len(names), cell.chain.upper, unchecked, cell.chain.reason)

    def _refuse_stale(
        self,
        cell: CertifiedChain,
        scored_judges: tuple[str, ...],
        identities: Mapping[str, JudgeIdentity],
        prompts: Mapping[str, str],
        rubric: str | None,
        scale: Scale | None,
    ) -> tuple[str, ...]:
        """Raise for what differs from the certificate; return what could not be compared."""
        if not scored_judges or set(scored_judges) != set(self.judges[: len(scored_judges)]):
            raise StaleCertificate(
                f"scores are of {', '.join(scored_judges) or 'no judge'}, and the certificate's chain is {' then '.join(self.judges)}; "
                "give scores of its first judges, or of all"
            )
        for step in self.steps[: len(scored_judges)]:
            name = step.judge.name
            for problem in judge_problems(step.judge, identities.get(name, name)):
                raise StaleCertificate(f"{problem}; {AGAIN}")
            _refuse_changed(f"prompt of {name}", f"prompts={{{name!r}: ...}}", step.prompt, prompts.get(name))
        _refuse_changed("rubric", "rubric=", cell.rubric, rubric)
        if scale is not None and scale != cell.scale:
            raise StaleCertificate(f"the scale is {scale.describe()}, in the certificate {cell.scale.describe()}; {AGAIN}")
        unknown = {
            "prompts": any(step.prompt is None for step in self.steps),
            "rubric": cell.rubric is None,
            "settings of the judges": any(step.judge.settings is None or step.judge.name not in identities for step in self.steps),
        }
        return tuple(what for what, is_unknown in unknown.items() if is_unknown)


def _refuse_changed(what: str, argument: str, certified: str | None, current: str | None) -> None:
    if certified is not None and current is None:
        raise CertificateError(f"pass {argument}: the certificate holds for the {what} {certified} only; {HASHES}")
    if certified is not None and current != certified:
        raise StaleCertificate(f"the {what} is {current}, and the certificate holds for {certified}; {AGAIN}")


def _read_scores(scale: Scale, metric: str, scores: Any) -> list[Score | None]:
    values = np.asarray(scores, object)
    if values.ndim != 1:
        raise UsageError(f"scores have shape {values.shape}; they should be of one dimension, one score a text")
    read: list[Score | None] = []
    for value in values.tolist():
        score = None if value is None or value != value else int(value) if isinstance(value, float) and value.is_integer() else value
        if score is not None and not scale.holds(score):
            raise StaleCertificate(f"score {score!r} is off the scale of '{metric}' in the certificate ({scale.describe()}); {AGAIN}")
        read.append(score)
    return read


def _read_confidences(confidences: ArrayLike, scores: list[Score | None], judge: str) -> Floats:
    try:
        sure = np.asarray(confidences, np.float64)
    except (TypeError, ValueError):
        raise UsageError(f"confidences of {judge} are numbers, None or NaN") from None
    if sure.shape != (len(scores),):
        raise UsageError(f"confidences of {judge} have shape {sure.shape}, and there are {len(scores)} scores; give one confidence a score")
    return np.where([score is None for score in scores], math.nan, sure)


def load(path: Path | str) -> CascadeCertificate:
    """Read the certificate of a cascade.

    Raises:
        ContentError: if the file cannot be read, is no certificate of a cascade, is cut off, has another schema version or other fields,
            was changed after it was written, or holds numbers that are impossible.
    """
    certificate = read(path)
    if not certificate.is_sealed:
        raise ContentError(f"not a certificate: {CHANGED}; {AGAIN}", Path(path))
    return certificate


def read(path: Path | str) -> CascadeCertificate:
    """Read the certificate of a cascade to check it, whatever its hash. Raises as `load` otherwise."""
    return read_certificate_file(Path(path), CascadeCertificate, "cascade", SCHEMA_VERSION, AGAIN)


def certify_cascade(
    accepted: AcceptedCascades,
    source: Recording,
    compare: MeasureOptions,
    options: AcceptOptions = AcceptOptions(),
    judged_run: JudgedRun | None = None,
) -> CascadeCertificate:
    """Return the certificate of what `accept_cascade` accepted, with the same arguments.

    `judged_run` says how a run asked; None for recorded judgments.
    """
    steps = tuple(
        CertifiedStep(
            judge=certified_judge(source, step.condition, judged_run),
            repeats=max(1, len(judged_rows(source, step.condition).repeat.used)),
            prompt=judged_run.prompt(step.condition.judge, step.condition.variant) if judged_run else None,
        )
        for step in accepted.cascades[0].steps
    )
    certificate = CascadeCertificate(
        kind="cascade",
        schema_version=SCHEMA_VERSION,
        harness=version("judge-harness"),
        steps=steps,
        data=certified_data(source.data),
        options=CascadeOptions.of(compare, accept=CertifiedErrors.of(options), units=accepted.units),
        signature=accepted.signature,
        cells=tuple(
            CertifiedChain(
                scale=source.data.scales[chain.metric], rubric=judged_run.rubric(chain.metric) if judged_run else None, chain=chain
            )
            for chain in accepted.cascades
        ),
    )
    return certificate.sealed()


def cascade_staleness(certificate: CascadeCertificate, source: Recording, judged_run: JudgedRun | None = None) -> tuple[str, ...]:
    """Return the reasons why a cascade's certificate does not hold for the run or data that it is of; empty if nothing was found.

    It holds if judges, conditions, prompts, rubrics, scales, labels and scores are as certified, and if the same certificate comes out
    again at the prices of its judges, in all that can be made again from this source (`cascade_not_made_again`).
    """
    changed = tuple(dict.fromkeys(_list_changes(certificate, source, judged_run))) or tuple(
        _list_differences(certificate, source, judged_run)
    )
    return (*changed, *(() if certificate.is_sealed else (CHANGED,)))


def cascade_not_made_again(
    certificate: CascadeCertificate, judged_run: JudgedRun | None, prices: Mapping[str, AnswerPrice] | None = None
) -> tuple[str, ...]:
    """Return what the certificate states and this source cannot show: other prices, and settings of runs where there are judgments alone.

    `prices` are those of the source by list, or as its run was charged. A price that a user stated is nowhere else.
    """
    run_settings = {
        "prompts": any(step.prompt is not None for step in certificate.steps),
        "rubrics": any(cell.rubric is not None for cell in certificate.cells),
        "settings of the judges": any(step.judge.settings is not None for step in certificate.steps),
    }
    not_made_again = [name for name, is_stated in run_settings.items() if is_stated and judged_run is None]
    for judge, step in _priced_steps(certificate).items():
        price = (prices or {}).get(judge)
        is_same = price is not None and step.price_from == price.source and not different_values(step.price, price.dollars)
        if step.price_from not in (None, STATED) and not is_same:
            current = f"{price.dollars:.6g}, {price.source}" if price else "unknown"
            stated = f"{step.price:.6g} dollars, {step.price_from}"
            not_made_again.append(f"the price of {judge} ({stated}; here: {current}; --prices FILE names your own)")
    return tuple(not_made_again)


def _priced_steps(certificate: CascadeCertificate) -> dict[str, AcceptedStep]:
    """Return the steps of the first chain that have a price, by judge; prices are the same in every chain."""
    return {step.judge: step for cell in certificate.cells[:1] for step in cell.chain.steps if step.price is not None}


def _list_changes(certificate: CascadeCertificate, source: Recording, judged_run: JudgedRun | None) -> Iterator[str]:
    for step in certificate.steps:
        judge = step.judge
        yield from tuple(condition_changes(judge, source)) or score_changes(judge, source)
        identity = judged_run.identity(judge.name) if judged_run else None
        yield from judge_problems(judge, identity or judge.name)
        if judged_run and step.prompt is not None and (prompt := judged_run.prompt(judge.name, judge.variant)) != step.prompt:
            yield f"the prompts of {judge.name} have changed: {prompt}, in the certificate {step.prompt}"
    for cell in certificate.cells:
        scale, metric = source.data.scales.get(cell.chain.metric), cell.chain.metric
        if scale != cell.scale:
            yield f"the scale of '{metric}' {'is not there' if scale is None else f'is {scale.describe()}'}"
        yield from rubric_changes(metric, cell.rubric, judged_run)
    yield from label_changes(certificate.data, source.data)


def _list_differences(certificate: CascadeCertificate, source: Recording, judged_run: JudgedRun | None) -> Iterator[str]:
    """Make the certificate again at the prices that it states of its judges, and yield what differs."""
    options = certificate.options
    prices = {
        judge: AnswerPrice(step.price, step.price_from)
        for judge, step in _priced_steps(certificate).items()
        if step.price is not None and step.price_from is not None
    }
    try:
        compare = options.compare(certificate.judges)
        accepted = accept_cascade(source, compare, options.accept.options, options.units, lambda chain: prices, order="named")
        remade = certify_cascade(accepted, source, compare, options.accept.options, judged_run)
    except UsageError as err:
        yield f"the certificate cannot be made again: {err}"
        return
    chains, remade_chains = ({cell.name: cell.chain for cell in compared.cells} for compared in (certificate, remade))
    for name in dict.fromkeys((*chains, *remade_chains)):
        if name not in remade_chains or name not in chains:
            yield f"{name} is in {'the certificate' if name in chains else 'the source'} only"
        elif differing := different_values(msgspec.to_builtins(chains[name]), msgspec.to_builtins(remade_chains[name])):
            yield f"{name} differs when it is made again: {differing}"
    if differing := different_values(_comparable_values(certificate, judged_run), _comparable_values(remade, judged_run)):
        yield f"it differs when it is made again: {differing}"
    if comparable_signature(certificate.signature) != comparable_signature(remade.signature):
        yield "the signature is not that of the numbers"


def _comparable_values(certificate: CascadeCertificate, judged_run: JudgedRun | None) -> dict[str, object]:
    """Return what no sentence of its own compares; without settings of runs where there are judgments alone, which do not show them."""
    steps, cells = certificate.steps, certificate.cells
    if judged_run is None:
        unknown = [msgspec.structs.replace(step.judge, settings=None) for step in steps]
        steps = tuple(msgspec.structs.replace(step, prompt=None, judge=judge) for step, judge in zip(steps, unknown, strict=True))
        cells = ()
    rubrics = {cell.name: cell.rubric for cell in cells}
    values: dict[str, object] = msgspec.to_builtins(
        {"steps": steps, "data": certificate.data, "options": certificate.options, "rubrics": rubrics}
    )
    return values


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
        # In some languages and metrics the judge does not have to be asked.
        to_ask = []
        for question in unanswered:
            chain = certificate.cell(question[2], question[1]).chain.steps
            if any(is_asked for accepted, is_asked in zip(chain, asked_steps(chain), strict=True) if accepted.judge == step.judge.name):
                to_ask.append(question)
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
