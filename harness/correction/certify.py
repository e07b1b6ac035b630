"""Makes certificates."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import msgspec
import numpy as np

from harness.content import Library
from harness.correction.acceptance import AcceptedFrom, AcceptOptions, accepted_from
from harness.correction.calibrate import CalibrateOptions, calibrated_metric, text_lengths
from harness.correction.cell_results import judged_rows, one_condition
from harness.correction.certificate import SCHEMA_VERSION, Certificate, CertifiedData, CertifiedJudge, CertifiedOptions
from harness.correction.certified_cell import CertifiedCell, CertifiedThreshold, Correction
from harness.correction.certified_map import CertifiedMap
from harness.correction.certified_probabilities import NONE_RECORDED, CertifiedProbabilities, certified_probabilities
from harness.correction.map_input import map_inputs
from harness.correction.mean_estimates import NO_INCLUSION, Sample, mean_sample, share_sample
from harness.correction.unread_cells import refuse_unread
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.decide.options import DecisionOptions
from harness.decide.sentences import unread_words
from harness.decide.verdicts import Verdict, verdicts_laid_out
from harness.measure.cells import number
from harness.measure.compare import Recording, align, judged_data
from harness.measure.item_table import ItemTable, item_tables
from harness.measure.judged_table import JudgedTable
from harness.measure.options import Annotators, CompareOptions
from harness.model import SAMPLING, JudgeCondition, JudgeIdentity, Scale, Score
from harness.row_files import sha256_of
from harness.runs import RunProtocol
from harness.stats import LabelledSummary, enough_labels, summarise_labelled
from harness.stats.core.arrays import Floats
from harness.stats.estimation.prediction_powered import MIN_LABELLED_GROUPS, MIN_LABELS
from harness.stats.intervals.cluster_mean import cluster_mean

NOT_RANDOM = "the labelled texts are not declared to be a random sample (sampling in data.toml)"
_SAID = ("repeat", "order", "score", "failure", "confidence")


class PromptHashes(msgspec.Struct, frozen=True):
    """What a certificate states of the prompts and the rubric with which a judge was asked about a metric; None for no rubric."""

    judge: str
    variant: str
    metric: str
    prompt: str
    rubric: str | None


class JudgedRun(msgspec.Struct, frozen=True):
    """What is known of how a run asked: its protocol, and the content that it was asked with."""

    protocol: RunProtocol
    library: Library

    def identity(self, judge: str) -> JudgeIdentity | None:
        return next((identity for identity in self.protocol.judges.all if identity.name == judge), None)

    def prompt(self, variant: str) -> str:
        """Hash of everything that words the prompts under a variant."""
        wording = self.protocol.wording
        parts = (wording.prompts, variant, sorted(wording.instructions.items()), wording.examples, sorted(wording.tasks.items()))
        return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()[:16]

    def rubric(self, metric: str) -> str | None:
        """Version and hash of a metric's rubric."""
        path = self.library.rubric_files.get(metric)
        return None if path is None else f"{self.protocol.wording.rubrics.get(metric, '?')}+{sha256_of(path)[:12]}"

    def hashes(self, judgments: Judgments) -> tuple[PromptHashes, ...]:
        """Return the hashes of each judge, variant and metric of these judgments, sorted, as a certificate of them states them."""
        rows = judgments.clean
        return tuple(
            PromptHashes(judge, variant, metric, self.prompt(variant), self.rubric(metric))
            for judge, variant, metric in sorted(set(zip(rows.judge, rows.variant, rows.metric, strict=True)))
        )


def certify(
    source: Recording,
    compare: CompareOptions,
    decision: DecisionOptions = DecisionOptions(),
    acceptance: AcceptOptions = AcceptOptions(),
    asked: JudgedRun | None = None,
    maps: CalibrateOptions = CalibrateOptions(),
    condition: JudgeCondition | None = None,
) -> Certificate:
    """The certificate of one judge under one condition.

    Args:
        source, compare: judgments with their labels, and which of them; with several judges, exactly one has to be chosen.
        decision, acceptance: the thresholds of the verdicts, and the tolerated errors of acceptance.
        asked: of a run, how it asked; None for recorded judgments.
        maps: what label sets promise, and whether maps of ordered classes read the length of a text too.
        condition: of the judge, where it is known already.

    Raises UsageError for several judges or conditions, with what to choose; for lengths without texts; and as `measure.compare` does.
    Raises JudgeError where most of the judge's answers cannot be read.
    """
    laid_out = align([source], msgspec.structs.replace(compare, judges=None))
    verdicts = verdicts_laid_out(laid_out, compare, decision)
    condition = condition or one_condition([JudgeCondition.of(verdict.key) for verdict in verdicts], compare.judges, "certify")
    sets, about = maps.sets, source.data.about
    chosen = {(v.key["language"], v.key["metric"]): v for v in verdicts if JudgeCondition.of(v.key) == condition}
    own = msgspec.structs.replace(compare, judges=(condition.judge,))
    [judged] = judged_data([source], msgspec.structs.replace(own, annotators=compare.annotators or Annotators(1)))
    [aggregated] = judged_data([source], own)
    counted = {cell.place: cell for cell in item_tables(aggregated) if cell.condition == condition}
    scored = [cell for cell in item_tables(judged) if cell.condition == condition]
    readable, unread = refuse_unread(scored, "nothing is certified")
    reasons = {(each.key["language"], each.key["metric"]): each.reason for each in unread}
    cells = [
        _cell(cell, counted[cell.place], chosen[cell.place], judged, compare, acceptance, asked)
        for cell in scored
        if cell.place in chosen and cell.place in counted
    ]
    found = _maps(readable, maps, judged) if about.sampling == "random" else None
    believed = certified_probabilities(aggregated, condition) if about.sampling == "random" else None
    if any(verdict.basis == "bar" for verdict in chosen.values()):
        decision = decision.with_bar()
    use = f"{acceptance} {sets}{' with=length' if maps.length else ''}"
    made = Certificate(
        schema_version=SCHEMA_VERSION,
        harness=version("judge-harness"),
        judge=certified_judge(source, condition, asked),
        data=certified_data(source.data),
        prompt=asked.prompt(condition.variant) if asked else None,
        thresholds=decision,
        signature=laid_out.signed(judges=(condition.judge,), decide=decision.signed([about]), use=use),
        unchecked=() if asked else ("prompt", "rubric", "settings of the judge"),
        cells=tuple(
            _with_probabilities(_with_map(cell, found, reasons), believed)
            for cell in sorted(cells, key=lambda cell: (cell.language, cell.metric))
        ),
        options=CertifiedOptions.of(
            compare,
            alpha=acceptance.alpha,
            delta=acceptance.delta,
            confidence=acceptance.confidence,
            level=sets.level,
            per=sets.per,
            this_draw=sets.this_draw,
            length=maps.length,
        ),
    )
    return made.sealed()


def certified_judge(source: Recording, condition: JudgeCondition, asked: JudgedRun | None) -> CertifiedJudge:
    """What a certificate says of who judged."""
    identity = asked.identity(condition.judge) if asked else None
    return CertifiedJudge(
        name=condition.judge,
        settings=None if identity is None else identity.settings,
        variant=condition.variant,
        judgments=scores_hash(source, condition),
        **{name: getattr(condition, name) for name in SAMPLING},
    )


def certified_data(data: Dataset) -> CertifiedData:
    """What a certificate says of its labels."""
    about = data.about
    days = (None if day is None else day.isoformat() for day in (about.labelled_from, about.labelled_to))
    return CertifiedData(about.id, about.version, data.sha256, about.sampling, about.annotators, *days)


def _maps(scored: Sequence[ItemTable], options: CalibrateOptions, judged: JudgedTable) -> dict[tuple[str, str], CertifiedMap]:
    """The map of every language and metric. What rests on texts without a label is left out: other ones do not make it stale."""
    found = {}
    for given in map_inputs(scored, text_lengths(judged.data) if options.length else None):
        metric = calibrated_metric(given, msgspec.structs.replace(options, length=given.length_scale is not None))
        for cell in metric.cells:
            assert cell.curve is not None and cell.sets is not None
            own = msgspec.structs.replace(cell.sets, mean_size=None, whole=None)
            place = cell.language, str(metric.key["metric"])
            found[place] = CertifiedMap(metric.read, cell.curve, cell.shown, cell.advice, cell.n, cell.groups, own, given.length_scale)
    return found


def _with_map(
    cell: CertifiedCell, maps: Mapping[tuple[str, str], CertifiedMap] | None, reasons: Mapping[tuple[str, str], str]
) -> CertifiedCell:
    found = None if maps is None else maps.get((cell.language, cell.metric))
    without = reasons.get((cell.language, cell.metric), "the judge has no readable score of a labelled text")
    reason = NOT_RANDOM if maps is None else without if found is None else None
    return msgspec.structs.replace(cell, recalibration=found, recalibration_reason=reason)


def _with_probabilities(cell: CertifiedCell, believed: Mapping[tuple[str, str], CertifiedProbabilities] | None) -> CertifiedCell:
    held = None if believed is None else believed.get((cell.language, cell.metric))
    reason = NOT_RANDOM if believed is None else NONE_RECORDED if held is None else None
    return msgspec.structs.replace(cell, probabilities=held, probabilities_reason=reason)


def scores_hash(source: Recording, condition: JudgeCondition) -> str:
    """Hash of what a judge said under one condition of labelled texts: scores, failures and confidences, in an order of their own."""
    rows, labelled = judged_rows(source, condition), source.data.labelled_metrics
    columns = (rows.item, rows.metric, *(getattr(rows, name) for name in _SAID))
    said = sorted(msgspec.json.encode(row) for row in zip(*columns, strict=True) if row[1] in labelled.get(row[0], ()))
    return hashlib.sha256(b"\n".join(said)).hexdigest()


def _cell(
    cell: ItemTable,
    aggregated: ItemTable,
    verdict: Verdict,
    judged: JudgedTable,
    compare: CompareOptions,
    acceptance: AcceptOptions,
    asked: JudgedRun | None,
) -> CertifiedCell:
    scale: Scale = judged.data.scales[verdict.key["metric"]]
    random = judged.data.about.sampling == "random"
    corrections, reason = _corrections(cell) if random else ((), NOT_RANDOM)
    if cell.counts.mostly_unread:
        corrections, reason = (), unread_words(cell.counts)
    found = accepted_from(aggregated, compare, acceptance) if random else None
    confusion, agreement_error = _agreement(aggregated)
    return CertifiedCell(
        language=verdict.key["language"],
        metric=verdict.key["metric"],
        scale=scale,
        classes=cell.classes.scores,
        values=None if cell.values is None else tuple(cell.values.tolist()),
        rubric=asked.rubric(verdict.key["metric"]) if asked else None,
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
        acceptance=None if found is None else _threshold(found, acceptance),
        acceptance_reason=None if found else NOT_RANDOM,
        basis=verdict.basis,
    )


def _threshold(found: AcceptedFrom, options: AcceptOptions) -> CertifiedThreshold:
    values: Mapping[str, Any] = {
        name: getattr(found, name)
        for name in ("confidence", "threshold", "coverage", "agreement", "agreement_lower", "n", "left_out", "reason")
    }
    return CertifiedThreshold(**values, alpha=options.alpha, delta=options.delta)


def _agreement(cell: ItemTable) -> tuple[tuple[tuple[int, ...], ...], float | None]:
    """The confusion counts, and the error of the share in which both agree."""
    k = len(cell.classes.scores)
    truth, answer = cell.reference, cell.answer
    both = (truth >= 0) & (answer >= 0)
    counts = np.bincount(truth[both] * k + answer[both], minlength=k * k).reshape(k, k)
    error = cluster_mean((truth == answer)[both].astype(np.float64), cell.group[both]).error
    return tuple(tuple(row) for row in counts.tolist()), number(error)


def _corrections(cell: ItemTable) -> tuple[tuple[Correction, ...], str | None]:
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
        return (), NO_INCLUSION
    wanted: list[tuple[Score | None, Sample]] = [] if cell.values is None else [(None, mean_sample(labelled))]
    wanted += [(score, share_sample(labelled, score)) for score in cell.classes.scores]
    return tuple(_summarised(share_of, sample, weights) for share_of, sample in wanted), None


def _summarised(share_of: Score | None, sample: Sample, weights: Floats | None) -> Correction:
    failure_value = float(np.nanmean(sample.f))
    scores = np.where(np.isnan(sample.f), failure_value, sample.f)
    found: LabelledSummary = summarise_labelled(sample.y, scores, sample.group, weights=weights)
    numbers = (found.mean_label, found.mean_judge, found.variance_label, found.variance_judge, found.covariance)
    return Correction(share_of, found.n, found.groups, *numbers, failure_value, found.spread)


def _design_weights(cell: ItemTable) -> Floats | None:
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
