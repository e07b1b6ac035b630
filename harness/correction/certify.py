"""Makes certificates."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import msgspec
import numpy as np

from harness.content import Library
from harness.correction.acceptance import accepted_from
from harness.correction.calibrate import calibrate_metric, text_lengths
from harness.correction.cell_results import choose_condition, judged_rows, refuse_unread
from harness.correction.certificate import SCHEMA_VERSION, Certificate, CertifiedData, CertifiedJudge, CertifiedOptions
from harness.correction.certified_cell import (
    NONE_RECORDED,
    CertifiedCell,
    CertifiedMap,
    CertifiedThreshold,
    Correction,
    certified_probabilities,
)
from harness.correction.correction_options import AcceptOptions, CalibrateOptions, CertifyOptions
from harness.correction.mean_estimates import NO_INCLUSION, Sample, mean_sample, share_sample
from harness.correction.score_maps import map_inputs
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.decide.options import DecisionOptions
from harness.decide.verdict_sentences import unread_words
from harness.decide.verdicts import Verdict, verdicts_of_tables
from harness.measure.cells import number
from harness.measure.compare import Recording, align, judged_tables
from harness.measure.item_table import ItemTable, item_tables
from harness.measure.judged_table import JudgedTable
from harness.measure.options import Annotators, MeasureOptions
from harness.model import SAMPLING, JudgeCondition, JudgeIdentity, Scale, Score
from harness.options import part_of
from harness.row_files import sha256_of
from harness.runs import RunProtocol
from harness.stats.core.arrays import Floats
from harness.stats.estimation.prediction_powered import (
    MIN_LABELLED_GROUPS,
    MIN_LABELS,
    SHARE_FREEDOM,
    LabelledSummary,
    enough_labels,
    summarise_labelled,
)
from harness.stats.intervals.cluster_mean import cluster_mean

NOT_RANDOM = "the labelled texts are not declared to be a random sample (sampling in data.toml)"
_SCORE_COLUMNS = ("repeat", "order", "score", "failure", "confidence")


class PromptHashes(msgspec.Struct, frozen=True):
    """The hashes of the prompts and the rubric with which a judge was asked about a metric; None for no rubric."""

    judge: str
    variant: str
    metric: str
    prompt: str
    rubric: str | None


class JudgedRun(msgspec.Struct, frozen=True):
    """A run's way of asking: its protocol, and the content that it was asked with."""

    protocol: RunProtocol
    library: Library

    def identity(self, judge: str) -> JudgeIdentity | None:
        return next((identity for identity in self.protocol.judges.all if identity.name == judge), None)

    def prompt(self, judge: str, variant: str) -> str:
        """Return the hash of everything that words the prompts of a judge under a variant."""
        wording = self.protocol.wording
        parts = (wording.prompts_of(judge), variant, sorted(wording.instructions.items()), wording.examples, sorted(wording.tasks.items()))
        return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()[:16]

    def rubric(self, metric: str) -> str | None:
        """Return version and hash of a metric's rubric."""
        path = self.library.rubric_files.get(metric)
        return None if path is None else f"{self.protocol.wording.rubrics.get(metric, '?')}+{sha256_of(path)[:12]}"

    def hashes(self, judgments: Judgments) -> tuple[PromptHashes, ...]:
        """Return the hashes of each judge, variant and metric of these judgments, sorted, as a certificate of them states them."""
        rows = judgments.clean
        return tuple(
            PromptHashes(judge, variant, metric, self.prompt(judge, variant), self.rubric(metric))
            for judge, variant, metric in sorted(set(zip(rows.judge, rows.variant, rows.metric, strict=True)))
        )


def certify_by_options(source: Recording, options: CertifyOptions, judged: JudgedRun | None) -> Certificate:
    """Return the certificate of one judge, as a command or a notebook asks for it. Raises as `certify`."""
    decision, acceptance = part_of(options, DecisionOptions), part_of(options, AcceptOptions)
    return certify(source, part_of(options, MeasureOptions), decision, acceptance, judged, part_of(options, CalibrateOptions))


def certify(
    source: Recording,
    compare: MeasureOptions,
    decision: DecisionOptions = DecisionOptions(),
    acceptance: AcceptOptions = AcceptOptions(),
    judged_run: JudgedRun | None = None,
    maps: CalibrateOptions = CalibrateOptions(),
    condition: JudgeCondition | None = None,
) -> Certificate:
    """Return the certificate of one judge under one condition.

    Args:
        source, compare: judgments with their labels, and which of them; with several judges, exactly one has to be chosen.
        decision, acceptance: the thresholds of the verdicts, and the tolerated errors of acceptance.
        judged_run: of a run, how it asked; None for recorded judgments.
        maps: what label sets promise, and whether maps of ordered classes read the length of a text too.
        condition: of the judge, where it is known already.

    Raises UsageError for several judges or conditions, with what to choose; for lengths without texts; and as `measure.compare` does.
    Raises JudgeError where most of the judge's answers cannot be read.
    """
    aligned = align([source], replace(compare, judges=None))
    verdicts = verdicts_of_tables(aligned, compare, decision)
    condition = condition or choose_condition([JudgeCondition.of(verdict.key) for verdict in verdicts], compare.judges, "certify")
    sets, about = maps.sets, source.data.about
    chosen = {(v.key["language"], v.key["metric"]): v for v in verdicts if JudgeCondition.of(v.key) == condition}
    of_judge = replace(compare, judges=(condition.judge,))
    [judged] = judged_tables([source], replace(of_judge, annotators=compare.annotators or Annotators(1)))
    [aggregated] = judged_tables([source], of_judge)
    counted = {cell.language_and_metric: cell for cell in item_tables(aggregated) if cell.condition == condition}
    scored = [cell for cell in item_tables(judged) if cell.condition == condition]
    readable, unread = refuse_unread(scored, "nothing is certified")
    reasons = {(cells_left_out.key["language"], cells_left_out.key["metric"]): cells_left_out.reason for cells_left_out in unread}
    is_random = about.sampling == "random"
    certified_maps = _certify_maps(readable, maps, judged) if is_random else {}
    believed = certified_probabilities(aggregated, condition) if is_random else None
    cells = []
    for cell in scored:
        if cell.language_and_metric in chosen and cell.language_and_metric in counted:
            certified = _certify_cell(
                cell, counted[cell.language_and_metric], chosen[cell.language_and_metric], judged, compare, acceptance, judged_run
            )
            certified_map = certified_maps.get(cell.language_and_metric)
            without = (
                reasons.get(cell.language_and_metric, "the judge has no readable score of a labelled text") if is_random else NOT_RANDOM
            )
            reason = without if certified_map is None else None
            certified = msgspec.structs.replace(certified, recalibration=certified_map, recalibration_reason=reason)
            probabilities = None if believed is None else believed.get((certified.language, certified.metric))
            no_probabilities = NOT_RANDOM if believed is None else NONE_RECORDED if probabilities is None else None
            cells.append(msgspec.structs.replace(certified, probabilities=probabilities, probabilities_reason=no_probabilities))
    if any(verdict.basis == "bar" for verdict in chosen.values()):
        decision = decision.with_bar()
    use = f"{acceptance} {sets} share_freedom={SHARE_FREEDOM}{' with=length' if maps.covariate else ''}"
    certificate = Certificate(
        schema_version=SCHEMA_VERSION,
        harness=version("judge-harness"),
        judge=certified_judge(source, condition, judged_run),
        data=certified_data(source.data),
        prompt=judged_run.prompt(condition.judge, condition.variant) if judged_run else None,
        thresholds=decision,
        signature=aligned.signed(judges=(condition.judge,), decide=decision.signed([about]), use=use),
        unchecked=() if judged_run else ("prompt", "rubric", "settings of the judge"),
        cells=tuple(sorted(cells, key=lambda certified: (certified.language, certified.metric))),
        options=CertifiedOptions.of(
            compare,
            alpha=acceptance.alpha_risk,
            delta=acceptance.delta,
            confidence=acceptance.confidence,
            level=sets.level,
            per=sets.per,
            this_draw=sets.this_draw,
            length=maps.covariate is not None,
        ),
    )
    return certificate.sealed()


def certified_judge(source: Recording, condition: JudgeCondition, judged_run: JudgedRun | None) -> CertifiedJudge:
    """Return the judge as a certificate states it."""
    identity = judged_run.identity(condition.judge) if judged_run else None
    return CertifiedJudge(
        name=condition.judge,
        settings=None if identity is None else identity.settings,
        variant=condition.variant,
        judgments=scores_hash(source, condition),
        **{name: getattr(condition, name) for name in SAMPLING},
    )


def certified_data(data: Dataset) -> CertifiedData:
    """Return the labels as a certificate states them."""
    about = data.about
    days = (None if day is None else day.isoformat() for day in (about.labelled_from, about.labelled_to))
    return CertifiedData(about.id, about.version, data.sha256, about.sampling, about.annotators, *days)


def _certify_maps(scored: Sequence[ItemTable], options: CalibrateOptions, judged: JudgedTable) -> dict[tuple[str, str], CertifiedMap]:
    """Return the map of every language and metric. What rests on texts without a label is left out: other ones do not make it stale."""
    certified_maps = {}
    for map_input in map_inputs(scored, text_lengths(judged.data) if options.covariate else None):
        metric = calibrate_metric(map_input, replace(options, covariate=None if map_input.length_scale is None else "length"))
        for cell in metric.cells:
            assert cell.curve is not None and cell.sets is not None
            sets = msgspec.structs.replace(cell.sets, mean_size=None, whole=None)
            cell_key = cell.language, str(metric.key["metric"])
            certified_maps[cell_key] = CertifiedMap(
                metric.read, cell.curve, cell.shown, cell.advice, cell.n, cell.groups, sets, map_input.length_scale
            )
    return certified_maps


def scores_hash(source: Recording, condition: JudgeCondition) -> str:
    """Return the hash of a judge's scores, failures and confidences of labelled texts under one condition, whatever their order."""
    rows, labelled = judged_rows(source, condition), source.data.labelled_metrics
    columns = (rows.item, rows.metric, *(getattr(rows, name) for name in _SCORE_COLUMNS))
    encoded_rows = sorted(msgspec.json.encode(row) for row in zip(*columns, strict=True) if row[1] in labelled.get(row[0], ()))
    return hashlib.sha256(b"\n".join(encoded_rows)).hexdigest()


def _certify_cell(
    cell: ItemTable,
    aggregated: ItemTable,
    verdict: Verdict,
    judged: JudgedTable,
    compare: MeasureOptions,
    acceptance: AcceptOptions,
    judged_run: JudgedRun | None,
) -> CertifiedCell:
    scale: Scale = judged.data.scales[verdict.key["metric"]]
    random = judged.data.about.sampling == "random"
    corrections, reason = _estimate_corrections(cell) if random else ((), NOT_RANDOM)
    if cell.counts.mostly_unread:
        corrections, reason = (), unread_words(cell.counts)
    threshold = None
    if random:
        accepted = accepted_from(aggregated, compare, acceptance)
        names = ("confidence", "threshold", "coverage", "agreement", "agreement_lower", "n", "left_out", "reason")
        numbers: dict[str, Any] = {name: getattr(accepted, name) for name in names}
        threshold = CertifiedThreshold(**numbers, alpha=acceptance.alpha_risk, delta=acceptance.delta)
    # The confusion counts, and the error of the share in which both agree.
    k = len(aggregated.classes.scores)
    truth, answer = aggregated.reference, aggregated.answer
    compared = (truth >= 0) & (answer >= 0)
    counts = np.bincount(truth[compared] * k + answer[compared], minlength=k * k).reshape(k, k)
    error = cluster_mean((truth == answer)[compared].astype(np.float64), aggregated.group[compared]).error
    confusion, agreement_error = tuple(tuple(row) for row in counts.tolist()), number(error)
    return CertifiedCell(
        language=verdict.key["language"],
        metric=verdict.key["metric"],
        scale=scale,
        classes=cell.classes.scores,
        values=None if cell.values is None else tuple(cell.values.tolist()),
        rubric=judged_run.rubric(verdict.key["metric"]) if judged_run else None,
        verdict=verdict.decision.verdict,
        reason=verdict.decision.reason,
        sentence=verdict.words.sentence,
        not_for=verdict.words.not_for,
        n=verdict.texts.labelled if verdict.basis == "bar" else verdict.texts.n,
        groups=verdict.texts.groups,
        annotators=int(cell.labels.sum(axis=1).max(initial=0)),
        k=verdict.needed.texts if verdict.needed else None,
        corrections=corrections,
        correction_reason=reason,
        confusion=confusion,
        agreement_error=agreement_error,
        acceptance=threshold,
        acceptance_reason=None if threshold else NOT_RANDOM,
        basis=verdict.basis,
    )


def _estimate_corrections(cell: ItemTable) -> tuple[tuple[Correction, ...], str | None]:
    """Return the parameters of the mean and of every class's share; none, with the reason, where there are too few labels."""
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
        return (), NO_INCLUSION
    wanted: list[tuple[Score | None, Sample]] = [] if cell.values is None else [(None, mean_sample(labelled))]
    wanted += [(score, share_sample(labelled, score)) for score in cell.classes.scores]
    return tuple(_summarise_sample(share_of, sample, weights) for share_of, sample in wanted), None


def _summarise_sample(share_of: Score | None, sample: Sample, weights: Floats | None) -> Correction:
    failure_value = float(np.nanmean(sample.f))
    scores = np.where(np.isnan(sample.f), failure_value, sample.f)
    summary: LabelledSummary = summarise_labelled(sample.y, scores, sample.group, weights=weights)
    numbers = (summary.mean_label, summary.mean_judge, summary.variance_label, summary.variance_judge, summary.covariance)
    return Correction(share_of, summary.n, summary.groups, *numbers, failure_value, summary.spread)


def _design_weights(cell: ItemTable) -> Floats | None:
    """Return 1 / inclusion probability of the labelled items: as stated, else by each stratum's labelled share; None if equal."""
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
