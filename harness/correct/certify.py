"""Makes certificates, and checks their validity."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from importlib.metadata import version
from typing import Any

import msgspec
import numpy as np

from harness.content import Library
from harness.correct.acceptance import AcceptedFrom, AcceptOptions, accepted_from
from harness.correct.calibrate import CalibrateOptions, calibrated_metric
from harness.correct.certificate import (
    SCHEMA_VERSION,
    Certificate,
    CertifiedCell,
    CertifiedData,
    CertifiedJudge,
    CertifiedOptions,
    CertifiedThreshold,
    Correction,
)
from harness.correct.certificate_differences import certificate_differences
from harness.correct.certified_map import CertifiedMap
from harness.correct.correct import mean_sample, share_sample
from harness.correct.label_sets import SetOptions
from harness.correct.map_input import map_inputs
from harness.correct.mean_estimates import Sample
from harness.correct.one_condition import one_condition
from harness.correct.scored_items import ScoredItems, scored_items
from harness.data.judgments import Judgments
from harness.decide.options import DecisionOptions
from harness.decide.verdicts import Verdict, verdicts_laid_out
from harness.errors import UsageError
from harness.measure.cells import number
from harness.measure.compare import AlignedData, JudgedData, Recording, align
from harness.measure.options import Annotators, CompareOptions
from harness.measure.units import as_text
from harness.model import SAMPLING, JudgeCondition, JudgeIdentity, Scale, Score
from harness.runs import RunProtocol
from harness.signature import ComparisonSignature
from harness.stats import LabelledSummary, aggregate_counts, enough_labels, summarise_labelled
from harness.stats.core.arrays import Floats
from harness.stats.estimation.prediction_powered import MIN_LABELLED_GROUPS, MIN_LABELS
from harness.stats.intervals.cluster_mean import cluster_mean
from harness.tables import sha256_of

NOT_RANDOM = "the labelled texts are not declared to be a random sample (sampling in data.toml)"
_NOTHING_COMPARED: tuple[str, ...] = ("judge", "prompt", "rubric", "scale", "labels", "scores of the judge", "verdicts", "numbers")
"""What is unchecked where a certificate is compared with nothing."""
_SAID = ("repeat", "order", "score", "failure", "confidence")


class JudgedRun(msgspec.Struct, frozen=True):
    """What is known of how a run asked: its protocol, and the content that it was asked with."""

    protocol: RunProtocol
    library: Library

    def identity(self, judge: str) -> JudgeIdentity | None:
        return next((identity for identity in self.protocol.judges if identity.name == judge), None)

    def prompt(self, variant: str) -> str:
        """Hash of everything that words the prompts under a variant."""
        protocol = self.protocol
        parts = (protocol.prompts, variant, sorted(protocol.instructions.items()), protocol.examples, sorted(protocol.tasks.items()))
        return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()[:16]

    def rubric(self, metric: str) -> str | None:
        """Version and hash of a metric's rubric."""
        path = self.library.rubric_files.get(metric)
        return None if path is None else f"{self.protocol.rubrics.get(metric, '?')}+{sha256_of(path)[:12]}"


def certify(
    source: Recording,
    compare: CompareOptions,
    decision: DecisionOptions = DecisionOptions(),  # noqa: B008 (frozen)
    acceptance: AcceptOptions = AcceptOptions(),  # noqa: B008 (frozen)
    asked: JudgedRun | None = None,
    sets: SetOptions = SetOptions(),  # noqa: B008 (frozen)
) -> Certificate:
    """The certificate of one judge under one condition.

    Args:
        source: judgments with their labels.
        compare: which items and judge; with several judges, exactly one has to be chosen.
        decision: the thresholds of the verdicts.
        acceptance: the tolerated errors of automatic acceptance.
        asked: of a run, how it asked; None for recorded judgments.
        sets: what label sets promise.

    Raises:
        UsageError: for several judges or conditions, with what to choose; and as `measure.compare` does.
    """
    laid_out, made = _verdicts(source, compare, decision)
    condition = one_condition([JudgeCondition.of(verdict.key) for verdict in made], compare.judges, "certify")
    return _certificate(source, laid_out, made, condition, compare, decision, (acceptance, sets), asked)


def _verdicts(source: Recording, compare: CompareOptions, decision: DecisionOptions) -> tuple[AlignedData, tuple[Verdict, ...]]:
    laid_out = align([source], msgspec.structs.replace(compare, judges=None))
    return laid_out, verdicts_laid_out(laid_out, compare, decision)


def _certificate(
    source: Recording,
    laid_out: AlignedData,
    made: tuple[Verdict, ...],
    condition: JudgeCondition,
    compare: CompareOptions,
    decision: DecisionOptions,
    promised: tuple[AcceptOptions, SetOptions],
    asked: JudgedRun | None,
) -> Certificate:
    """The certificate of the judge and condition `condition`, from the verdicts on all."""
    acceptance, sets = promised
    chosen = {(v.key["language"], v.key["metric"]): v for v in made if JudgeCondition.of(v.key) == condition}
    judge = condition.judge
    single = msgspec.structs.replace(compare, judges=(judge,), annotators=compare.annotators or Annotators(1))
    judged = align([source], single).judged[0]
    aggregated = align([source], msgspec.structs.replace(compare, judges=(judge,))).judged[0]
    counted = {_place(cell): cell for cell in scored_items(aggregated) if JudgeCondition.of(cell.key) == condition}
    scored = [cell for cell in scored_items(judged) if JudgeCondition.of(cell.key) == condition]
    cells = [
        _cell(cell, counted[_place(cell)], chosen[_place(cell)], judged, compare, acceptance, asked)
        for cell in scored
        if _place(cell) in chosen and _place(cell) in counted
    ]
    maps = _maps(scored, sets) if source.data.about.sampling == "random" else None
    identity = asked.identity(judge) if asked else None
    about = source.data.about
    signature = msgspec.structs.replace(
        ComparisonSignature.parse(laid_out.signature), judges=(judge,), decide=decision.signed([about]), use=f"{acceptance} {sets}"
    )
    prompt = asked.prompt(condition.variant) if asked else None
    return Certificate(
        schema_version=SCHEMA_VERSION,
        harness=version("judge-harness"),
        judge=CertifiedJudge(
            name=judge,
            settings=None if identity is None else identity.settings,
            variant=condition.variant,
            judgments=_scores_hash(source, condition),
            **{name: getattr(condition, name) for name in SAMPLING},
        ),
        data=CertifiedData(
            about.id,
            about.version,
            source.data.sha256,
            about.sampling,
            about.annotators,
            labelled_from=_day(about.labelled_from),
            labelled_to=_day(about.labelled_to),
        ),
        prompt=prompt,
        thresholds=decision,
        signature=str(signature),
        unchecked=() if asked else ("prompt", "rubric", "settings of the judge"),
        cells=tuple(sorted((_with_map(cell, maps) for cell in cells), key=lambda cell: (cell.language, cell.metric))),
        options=CertifiedOptions(
            annotators=None if compare.annotators is None else str(compare.annotators),
            majority=compare.majority,
            where={name: tuple(values) for name, values in sorted(compare.where.items())},
            standardise=compare.standardise,
            alpha=acceptance.alpha,
            delta=acceptance.delta,
            confidence=acceptance.confidence,
            level=sets.level,
            per=sets.per,
            this_draw=sets.this_draw,
        ),
    )


def _day(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def _maps(scored: Sequence[ScoredItems], sets: SetOptions) -> dict[tuple[str, str], CertifiedMap]:
    """The map of every language and metric. What rests on texts without a label is left out: other ones do not make it stale."""
    metrics = [calibrated_metric(given, CalibrateOptions(sets)) for given in map_inputs(scored)]
    found = {}
    for metric in metrics:
        for cell in metric.cells:
            assert cell.curve is not None and cell.sets is not None
            own = msgspec.structs.replace(cell.sets, mean_size=None, whole=None)
            place = cell.language, str(metric.key["metric"])
            found[place] = CertifiedMap(metric.read, cell.curve, cell.shown, cell.advice, cell.n, cell.groups, own)
    return found


def _with_map(cell: CertifiedCell, maps: Mapping[tuple[str, str], CertifiedMap] | None) -> CertifiedCell:
    found = None if maps is None else maps.get((cell.language, cell.metric))
    reason = NOT_RANDOM if maps is None else "the judge has no readable score of a labelled text" if found is None else None
    return msgspec.structs.replace(cell, recalibration=found, recalibration_reason=reason)


def _scores_hash(source: Recording, condition: JudgeCondition) -> str:
    """Hash of what a judge said under one condition of labelled texts: scores, failures and confidences, in an order of their own."""
    rows, labelled = judged_rows(source, condition), source.data.labelled_metrics
    columns = (rows.item, rows.metric, *(getattr(rows, name) for name in _SAID))
    said = sorted(msgspec.json.encode(row) for row in zip(*columns, strict=True) if row[1] in labelled.get(row[0], ()))
    return hashlib.sha256(b"\n".join(said)).hexdigest()


def judged_rows(source: Recording, condition: JudgeCondition) -> Judgments:
    """The judgments of original texts by one judge under one condition."""
    rows = source.judgments.clean
    for name, value in condition._asdict().items():
        rows = _with_value(rows, name, value)
    return rows


def _with_value(rows: Judgments, name: str, value: Any) -> Judgments:
    column = getattr(rows, name)
    return rows.take(column.codes < 0 if value is None else column.recode({value: 0}) == 0)


class CertificateCheck(msgspec.Struct, frozen=True):
    """Whether a certificate holds.

    Attributes:
        stale: why it does not, in sentences; empty if nothing against it was found.
        unchecked: what could not be compared.
        allowed: the cells in which the judge's scores may be used; none if the certificate is stale.
        compared: whether there was a source to compare it with.
    """

    stale: tuple[str, ...]
    unchecked: tuple[str, ...]
    allowed: tuple[CertifiedCell, ...]
    compared: bool


def check_certificate(
    certificate: Certificate, source: Recording | None, asked: JudgedRun | None = None, today: date | None = None
) -> CertificateCheck:
    """Check a certificate against the run or data that it is of; without a source, only whether its numbers are possible.

    One with a watch is stale once the watch found a change, and where it was last checked too long before `today` (by default today, UTC).
    """
    if source is None:
        stale, unknown = certificate.off_scale(), _NOTHING_COMPARED
    else:
        stale, unknown = staleness(certificate, source, asked), unchecked(certificate, asked)
    expired = certificate.watch and certificate.watch.expired(today or datetime.now(UTC).date())
    stale = (expired, *stale) if expired else stale
    return CertificateCheck(stale, unknown, () if stale else certificate.allowed, source is not None)


def staleness(certificate: Certificate, source: Recording, asked: JudgedRun | None = None) -> tuple[str, ...]:
    """Why a certificate does not hold; empty if it holds.

    It holds if judge, condition, prompt, rubrics, scales, labels and the judge's scores are as certified, if no number is off its scale,
    and if the same verdicts and numbers come out again. What it does not know is not compared (`unchecked`).
    """
    changed = tuple(dict.fromkeys(_changes(certificate, source, asked)))
    return (*certificate.off_scale(), *(changed or _differences(certificate, source, asked)))


def unchecked(certificate: Certificate, asked: JudgedRun | None) -> tuple[str, ...]:
    """What cannot be compared, because the certificate or the source does not know it."""
    unknown = certificate.unchecked or (() if asked else ("prompt", "rubric", "settings of the judge"))
    scores = () if certificate.judge.judgments else ("scores of the judge",)
    return (*unknown, *scores, *(() if certificate.can_be_made_again else ("verdicts", "numbers")))


def _changes(certificate: Certificate, source: Recording, asked: JudgedRun | None) -> Iterator[str]:
    """What of the things that a certificate rests on has changed."""
    judge, data = certificate.judge, source.data
    yield from tuple(other_condition(judge, source)) or _other_scores(judge, source)
    yield from other_question(certificate, source, asked)
    languages = {item.language for item in data.items}
    for language in dict.fromkeys(cell.language for cell in certificate.cells):
        if language not in languages:
            yield f"there are no texts in '{language}' any more"
    if data.sha256 != certificate.data.sha256:
        yield f"items or labels have changed: {data.sha256[:12]}, in the certificate {certificate.data.sha256[:12]}"
    if data.about.sampling != certificate.data.sampling:
        yield f"sampling is '{data.about.sampling}', in the certificate '{certificate.data.sampling}'"


def other_question(certificate: Certificate, source: Recording, asked: JudgedRun | None) -> Iterator[str]:
    """What of judge, prompts, scales and rubrics is not as certified, whatever the texts are."""
    judge, data = certificate.judge, source.data
    identity = asked.identity(judge.name) if asked else None
    if identity is not None:
        yield from certificate.judge_problems(identity)
    if asked and certificate.prompt is not None and asked.prompt(judge.variant) != certificate.prompt:
        yield f"the prompts have changed: {asked.prompt(judge.variant)}, in the certificate {certificate.prompt}"
    for cell in certificate.cells:
        scale = data.scales.get(cell.metric)
        if scale != cell.scale:
            stated = "is not there" if scale is None else f"is {scale.describe()}"
            yield f"the scale of '{cell.metric}' {stated}, in the certificate {cell.scale.describe()}"
        if asked and cell.rubric is not None and asked.rubric(cell.metric) != cell.rubric:
            yield f"the rubric of '{cell.metric}' has changed: {asked.rubric(cell.metric)}, in the certificate {cell.rubric}"


def other_condition(judge: CertifiedJudge, source: Recording) -> Iterator[str]:
    """What of judge and condition is not as certified: the first that differs, since the next ones then say nothing."""
    used = source.judgments.judge.used
    if judge.name not in used:
        yield f"the judge '{judge.name}' is not in {source.name}, which has {', '.join(map(str, used)) or 'none'}"
        return
    rows = source.judgments.clean
    for name, value in judge.condition._asdict().items():
        column = getattr(rows, name)
        known = [*column.used, *([None] if (column.codes < 0).any() else [])]
        if value not in known:
            have = ", ".join("none" if each is None else f"'{as_text(each)}'" for each in known)
            stated = f"without a {name}" if value is None else f"with {name} '{as_text(value)}'"
            yield f"the judge was certified {stated}, which is not in {source.name}; it has {have}"
            return
        rows = _with_value(rows, name, value)


def _other_scores(judge: CertifiedJudge, source: Recording) -> Iterator[str]:
    found = _scores_hash(source, judge.condition)
    if judge.judgments is not None and found != judge.judgments:
        yield f"the judge's scores have changed: {found[:12]}, in the certificate {judge.judgments[:12]}"


def _differences(certificate: Certificate, source: Recording, asked: JudgedRun | None) -> tuple[str, ...]:
    """What comes out differently when the certificate is made again; empty if it cannot be."""
    options, judge = certificate.options, certificate.judge
    if options is None or not certificate.can_be_made_again:
        return ()
    annotators = None if options.annotators is None else Annotators.parse(options.annotators)
    compare = CompareOptions(
        annotators=annotators, majority=options.majority, where=options.where, judges=(judge.name,), standardise=options.standardise
    )
    try:
        laid_out, made = _verdicts(source, compare, certificate.thresholds)
        acceptance = AcceptOptions(options.alpha, options.delta, options.confidence)
        promised = acceptance, SetOptions(options.level, options.per, options.this_draw)
        again = _certificate(source, laid_out, made, judge.condition, compare, certificate.thresholds, promised, asked)
    except UsageError as err:
        return (f"the certificate cannot be made again: {err}",)
    return tuple(certificate_differences(certificate, again))


def _place(cell: ScoredItems) -> tuple[Any, Any]:
    return cell.key["language"], cell.key["metric"]


def _cell(
    cell: ScoredItems,
    aggregated: ScoredItems,
    verdict: Verdict,
    judged: JudgedData,
    compare: CompareOptions,
    acceptance: AcceptOptions,
    asked: JudgedRun | None,
) -> CertifiedCell:
    scale: Scale = judged.data.scales[verdict.key["metric"]]
    random = judged.data.about.sampling == "random"
    corrections, reason = _corrections(cell) if random else ((), NOT_RANDOM)
    found = accepted_from(aggregated, compare, acceptance) if random else None
    return CertifiedCell(
        language=verdict.key["language"],
        metric=verdict.key["metric"],
        scale=scale,
        classes=cell.classes.scores,
        values=None if cell.values is None else tuple(cell.values.tolist()),
        rubric=asked.rubric(verdict.key["metric"]) if asked else None,
        verdict=verdict.verdict,
        reason=verdict.reason,
        sentence=verdict.sentence,
        not_for=verdict.not_for,
        n=verdict.n,
        groups=verdict.groups,
        annotators=int(cell.labels.sum(axis=1).max(initial=0)),
        k=verdict.k,
        corrections=corrections,
        correction_reason=reason,
        confusion=_confusion(aggregated, compare),
        agreement_error=_agreement_error(aggregated, compare),
        acceptance=None if found is None else _threshold(found, acceptance),
        acceptance_reason=None if found else NOT_RANDOM,
    )


def _threshold(found: AcceptedFrom, options: AcceptOptions) -> CertifiedThreshold:
    values: Mapping[str, Any] = {
        name: getattr(found, name)
        for name in ("confidence", "threshold", "coverage", "agreement", "agreement_lower", "n", "left_out", "reason")
    }
    return CertifiedThreshold(**values, alpha=options.alpha, delta=options.delta)


def _agreement_error(cell: ScoredItems, compare: CompareOptions) -> float | None:
    truth, answer = aggregate_counts(cell.labels, compare.majority), cell.answer
    both = (truth >= 0) & (answer >= 0)
    return number(cluster_mean((truth == answer)[both].astype(np.float64), cell.group[both]).error)


def _confusion(cell: ScoredItems, compare: CompareOptions) -> tuple[tuple[int, ...], ...]:
    k = len(cell.classes.scores)
    truth, answer = aggregate_counts(cell.labels, compare.majority), cell.answer
    both = (truth >= 0) & (answer >= 0)
    counts = np.bincount(truth[both] * k + answer[both], minlength=k * k).reshape(k, k)
    return tuple(tuple(row) for row in counts.tolist())


def _corrections(cell: ScoredItems) -> tuple[tuple[Correction, ...], str | None]:
    """The parameters of the mean and of every class's share; none, with the reason, where there are too few labels."""
    labelled = cell.take(cell.labelled)
    n, groups = len(labelled), len(np.unique(labelled.group))
    if not enough_labels(n, groups):
        return (), f"{n} labelled texts in {groups} independent groups; {MIN_LABELS} and {MIN_LABELLED_GROUPS} are needed"
    if not labelled.answers.any():
        return (), "the judge gives no readable score"
    if cell.classes.continuous:
        return (), "continuous scores have no classes; 'harness correct' corrects their means"
    weights = _design_weights(cell)
    if weights is not None and np.isnan(weights).any():
        return (), "a labelled item has no inclusion_probability, but others have; state it for every labelled item"
    wanted: list[tuple[Score | None, Sample]] = [] if cell.values is None else [(None, mean_sample(labelled))]
    wanted += [(score, share_sample(labelled, score)) for score in cell.classes.scores]
    return tuple(_summarised(share_of, sample, weights) for share_of, sample in wanted), None


def _summarised(share_of: Score | None, sample: Sample, weights: Floats | None) -> Correction:
    failure_value = float(np.nanmean(sample.f))
    scores = np.where(np.isnan(sample.f), failure_value, sample.f)
    found: LabelledSummary = summarise_labelled(sample.y, scores, sample.group, weights=weights)
    numbers = (found.mean_label, found.mean_judge, found.variance_label, found.variance_judge, found.covariance)
    return Correction(share_of, found.n, found.groups, *numbers, failure_value, found.spread)


def _design_weights(cell: ScoredItems) -> Floats | None:
    """1 / inclusion probability of the labelled items: as stated, else by the share of each stratum that is labelled; None if equal."""
    labelled = cell.labelled
    if cell.inclusion is not None:
        return np.asarray(1 / cell.inclusion[labelled])
    if cell.stratum is None:
        return None
    weights = np.full(len(cell), math.nan)
    for code in np.unique(cell.stratum):
        rows = cell.stratum == code
        weights[rows] = rows.sum() / max(int((rows & labelled).sum()), 1)
    return weights[labelled]
