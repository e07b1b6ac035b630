"""Makes certificates."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import msgspec
import numpy as np

from harness.content import Library
from harness.correction.acceptance import accepted_from
from harness.correction.calibrate import calibrate_metric, text_lengths
from harness.correction.cell_results import choose_condition, judged_rows, refuse_unread, rows_with_value
from harness.correction.certificate import SCHEMA_VERSION, Certificate, CertifiedData, CertifiedJudge, CertifiedOptions, judge_problems
from harness.correction.certified_cell import (
    NONE_RECORDED,
    CertifiedCell,
    CertifiedMap,
    CertifiedThreshold,
    Correction,
    certified_probabilities,
)
from harness.correction.mean_estimates import NO_INCLUSION, Sample, mean_sample, share_sample
from harness.correction.options import AcceptOptions, CalibrateOptions, CertifyOptions
from harness.correction.score_maps import map_inputs
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.decide.options import DecisionOptions
from harness.decide.sentences import unread_words
from harness.decide.verdicts import Verdict, verdicts_of_tables
from harness.errors import JudgeError, UsageError
from harness.measure.cells import number
from harness.measure.compare import Recording, align, judged_tables
from harness.measure.item_table import ItemTable, item_tables
from harness.measure.judged_table import JudgedTable, as_text
from harness.measure.options import Annotators, MeasureOptions
from harness.model import SAMPLING, JudgeCondition, JudgeIdentity, Scale, Score
from harness.options import part_of
from harness.row_files import sha256_of
from harness.runs import RunProtocol
from harness.signature import ComparisonSignature
from harness.stats import LabelledSummary, enough_labels, summarise_labelled
from harness.stats.core.arrays import Floats
from harness.stats.estimation.prediction_powered import MIN_LABELLED_GROUPS, MIN_LABELS, SHARE_FREEDOM
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


_SHOWN = 3  # numbers that a sentence names
_ROUNDING = 1e-9  # relative: another processor may round the last digits otherwise
_MAY_DIFFER: dict[str, Any] = {"judgments": (), "by": (), "harness": ""}
"""Parts of the signature: scores of other judges may have come, and this program may be newer."""
_NOT_COMPARED = ("cells", "extended", "extensions", "harness", "schema_version", "sha256", "signature", "watch")
"""Fields that are not made again, or that a sentence of their own compares."""


def staleness(certificate: Certificate, source: Recording, judged_run: JudgedRun | None = None) -> tuple[str, ...]:
    """Return the reasons why a certificate does not hold; empty if nothing against it was found.

    It holds if judge, condition, prompt, rubrics, scales, labels and the judge's scores are as certified, if no number is off its scale,
    and if the same certificate comes out again, in all that can be made again from this source.
    """
    changed = tuple(dict.fromkeys(_list_changes(certificate, source, judged_run)))
    return (*(changed or _list_differences(certificate, source, judged_run)), *certificate.problems())


def certified_run_settings(certificate: Certificate) -> tuple[str, ...]:
    """Return the names of the settings of a run that a certificate states, which judgments alone do not show."""
    stated = {
        "the prompt": certificate.prompt,
        "the rubrics": next((cell.rubric for cell in certificate.cells if cell.rubric is not None), None),
        "the settings of the judge": certificate.judge.settings,
    }
    return tuple(name for name, value in stated.items() if value is not None)


def _list_changes(certificate: Certificate, source: Recording, judged_run: JudgedRun | None) -> Iterator[str]:
    """Yield what has changed of the things that a certificate rests on."""
    judge, data = certificate.judge, source.data
    yield from tuple(condition_changes(judge, source)) or score_changes(judge, source)
    yield from question_changes(certificate, source, judged_run)
    languages = {item.language for item in data.items}
    for language in dict.fromkeys(cell.language for cell in certificate.cells):
        if language not in languages:
            yield f"there are no texts in '{language}' any more"
    yield from label_changes(certificate.data, data)


def label_changes(certified: CertifiedData, data: Dataset) -> Iterator[str]:
    """Yield the changes of items and labels since certification."""
    if data.sha256 != certified.sha256:
        yield f"items or labels have changed: {data.sha256[:12]}, in the certificate {certified.sha256[:12]}"
    if data.about.sampling != certified.sampling:
        yield f"sampling is '{data.about.sampling}', in the certificate '{certified.sampling}'"


def question_changes(certificate: Certificate, source: Recording, judged_run: JudgedRun | None) -> Iterator[str]:
    """Yield the changes of judge, prompts, scales and rubrics since certification, whatever the texts are."""
    judge, data = certificate.judge, source.data
    identity = judged_run.identity(judge.name) if judged_run else None
    if identity is not None:
        yield from judge_problems(judge, identity)
    if judged_run and certificate.prompt is not None and (prompt := judged_run.prompt(judge.name, judge.variant)) != certificate.prompt:
        yield f"the prompts have changed: {prompt}, in the certificate {certificate.prompt}"
    for cell in certificate.cells:
        scale = data.scales.get(cell.metric)
        if scale != cell.scale:
            stated = "is not there" if scale is None else f"is {scale.describe()}"
            yield f"the scale of '{cell.metric}' {stated}, in the certificate {cell.scale.describe()}"
        yield from rubric_changes(cell.metric, cell.rubric, judged_run)


def rubric_changes(metric: str, certified: str | None, judged_run: JudgedRun | None) -> Iterator[str]:
    """Yield the change of a metric's rubric since certification; nothing where one of the two is unknown."""
    if judged_run and certified is not None and judged_run.rubric(metric) != certified:
        yield f"the rubric of '{metric}' has changed: {judged_run.rubric(metric)}, in the certificate {certified}"


def condition_changes(judge: CertifiedJudge, source: Recording) -> Iterator[str]:
    """Yield the first part of judge and condition that is not as certified; the next ones then say nothing."""
    used = source.judgments.judge.used
    if judge.name not in used:
        yield f"the judge '{judge.name}' is not in {source.name}, which has {', '.join(map(str, used)) or 'none'}"
        return
    rows = source.judgments.clean
    for name, value in judge.condition._asdict().items():
        column = getattr(rows, name)
        recorded = [*column.used, *([None] if (column.codes < 0).any() else [])]
        if value not in recorded:
            have = ", ".join("none" if recorded_value is None else f"'{as_text(recorded_value)}'" for recorded_value in recorded)
            stated = f"without a {name}" if value is None else f"with {name} '{as_text(value)}'"
            yield f"the judge was certified {stated}, which is not in {source.name}; it has {have}"
            return
        rows = rows_with_value(rows, name, value)


def score_changes(judge: CertifiedJudge, source: Recording) -> Iterator[str]:
    """Yield the change of the judge's scores of labelled texts since certification."""
    current = scores_hash(source, judge.condition)
    if current != judge.judgments:
        yield f"the judge's scores have changed: {current[:12]}, in the certificate {judge.judgments[:12]}"


def _list_differences(certificate: Certificate, source: Recording, judged_run: JudgedRun | None) -> Iterator[str]:
    """Make the certificate again, and yield a sentence for each cell, and for the rest, that differs. Numbers are equal up to rounding."""
    options, judge = certificate.options, certificate.judge
    try:
        compare = options.compare((judge.name,))
        acceptance = AcceptOptions(alpha_risk=options.alpha, delta=options.delta, confidence=options.confidence)
        maps = CalibrateOptions(
            level=options.level, per=options.per, this_draw=options.this_draw, covariate="length" if options.length else None
        )
        remade = certify(source, compare, certificate.thresholds, acceptance, judged_run, maps, judge.condition)
    except (UsageError, JudgeError) as err:
        yield f"the certificate cannot be made again: {err}"
        return
    if judged_run is None and certified_run_settings(certificate):
        # A certificate that was made of judgments alone, with the settings of the run that another one states.
        rubrics = {cell.name: cell.rubric for cell in certificate.cells}
        remade = msgspec.structs.replace(
            remade,
            prompt=certificate.prompt,
            unchecked=certificate.unchecked,
            judge=msgspec.structs.replace(remade.judge, settings=certificate.judge.settings),
            cells=tuple(msgspec.structs.replace(cell, rubric=rubrics.get(cell.name)) for cell in remade.cells),
        )
    cells, remade_cells = ({cell.name: cell for cell in compared.cells} for compared in (certificate, remade))
    for name in dict.fromkeys((*cells, *remade_cells)):
        if name not in remade_cells:
            yield f"{name} is in the certificate, and the source has no such numbers"
        elif name not in cells:
            yield f"{name} is not in the certificate, and the source has numbers for it"
        else:
            verdict, remade_verdict = cells[name].verdict, remade_cells[name].verdict
            if verdict != remade_verdict:
                yield f"the verdict on {name} is '{verdict}' in the certificate, and '{remade_verdict}' when it is made again"
            if differing := different_values(msgspec.to_builtins(cells[name]), msgspec.to_builtins(remade_cells[name]), ("verdict",)):
                yield f"{name} differs when it is made again: {differing}"
    labels, remade_labels = (
        " ".join((compared.data.id, compared.data.version, compared.data.annotators)) for compared in (certificate, remade)
    )
    if labels != remade_labels:
        yield f"the labels are said to be of {labels}, and are of {remade_labels}"
    if differing := different_values(msgspec.to_builtins(certificate), msgspec.to_builtins(remade), _NOT_COMPARED):
        yield f"it differs when it is made again: {differing}"
    if comparable_signature(certificate.signature) != comparable_signature(remade.signature):
        yield "the signature is not that of the numbers"


def comparable_signature(text: str) -> ComparisonSignature | None:
    """Return the parts of a signature that come out again; None where the text is no signature."""
    try:
        signature = ComparisonSignature.parse(text)
    except ValueError:
        return None
    return msgspec.structs.replace(signature, **_MAY_DIFFER)


def different_values(certified: Any, remade: Any, left_out: Sequence[str] = ()) -> str:
    """Return the values of a nested object that differ, in words; empty if none does. Numbers are equal up to rounding.

    `left_out` are names of the outermost level that are not compared.
    """
    leaves, remade_leaves = (
        {path: value for path, value in _list_leaves(nested) if path.split(".")[0] not in left_out} for nested in (certified, remade)
    )
    pairs = {path: (leaves.get(path), remade_leaves.get(path)) for path in dict.fromkeys((*leaves, *remade_leaves))}
    differing = [
        f"{path} {_number_words(value)} instead of {_number_words(remade_value)}"
        for path, (value, remade_value) in pairs.items()
        if not _is_equal(value, remade_value)
    ]
    more = f" and {len(differing) - _SHOWN} more" if len(differing) > _SHOWN else ""
    return f"{', '.join(differing[:_SHOWN])}{more}"


def _list_leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value of a nested object under its path, such as `corrections.0.mean_label`."""
    if isinstance(value, dict | list | tuple) and value:
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for name, part in parts:
            yield from _list_leaves(part, f"{path}.{name}" if path else str(name))
    else:
        yield path, value


def _is_equal(value: Any, remade_value: Any) -> bool:
    if isinstance(value, float) and isinstance(remade_value, float | int):
        return math.isclose(value, remade_value, rel_tol=_ROUNDING, abs_tol=_ROUNDING)
    return bool(value == remade_value)


def _number_words(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)
