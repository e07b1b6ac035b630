"""Tests whether a certificate transfers to other texts: another system, month, domain or language, by a probe that people labelled.

Two differences have to be small, and are tested on both sides: what people say minus what the certificate's correction predicts, and
agreement with people minus the certified agreement. Targets that are tested together are corrected by Holm.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np

from harness.content.tags import choose_from
from harness.correction.cell_results import refuse_unless_random, refuse_unread, split_by
from harness.correction.certificate import Certificate, CertifiedWatch, ComparedBy, ExtendedWith, Extension, ShownWithin
from harness.correction.certified_cell import CertifiedCell
from harness.correction.certify import JudgedRun
from harness.correction.staleness import certified_run_settings, condition_changes, different_values, question_changes, staleness
from harness.errors import JudgeError, StaleCertificate, UsageError
from harness.measure.cells import sort_key
from harness.measure.compare import Recording, align
from harness.measure.item_table import ItemTable, item_tables
from harness.measure.judged_table import as_text, item_key
from harness.measure.options import Annotators, MeasureOptions
from harness.stats.estimation.prediction_powered import correct_with_summary
from harness.stats.intervals.multiplicity import holm
from harness.stats.intervals.noninferiority import LEAST_GROUPS, TransportTest, transport

Outcome = Literal["extended", "refused", "more labels"]
_EXTREMES = 3  # scores that a sentence names
_OF_TARGET = ("language", "metric", "from_language", "where", "labels", "groups", "residual", "agreement", "q")


class ExtendOptions(msgspec.Struct, frozen=True):
    """Options of an extension.

    Attributes:
        by: keys of the items; each of their values is a target of its own, beside language and metric.
        from_language: whose certified numbers the texts are to be served by; None: those of their own language, else of the only one.
        margin: the largest difference that does not matter, as a share of the scale's range and of texts, in (0, 1).
        alpha: the chance that any target is extended falsely.
    """

    by: tuple[str, ...] = ()
    from_language: str | None = None
    margin: float = 0.1
    alpha: float = 0.05

    def __post_init__(self) -> None:
        for name in ("margin", "alpha"):
            if not 0 < getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name):g}; it should be a number between 0 and 1, both excluded")


class ExtensionTarget(msgspec.Struct, frozen=True, kw_only=True):
    """One target: some texts in one language, on one metric.

    Attributes:
        language, metric, where: which texts.
        from_language: of the certified cell.
        texts, labels, groups, effective_groups: judged texts, labelled ones, their independent groups, and n² / sum n_g² of them.
        residual, agreement: the two differences; None where they are not tested.
        q: p of both, corrected over the targets; None where nothing is tested.
        outcome: `extended`, `refused` (with the reason), or `more labels`.
        more_groups: about how many further groups to label if there is no difference; 0 unless the outcome is `more labels`, None where no
            number suffices.
        more_groups_as_seen: the same if both differences are as large as they were seen.
    """

    language: str
    metric: str
    where: dict[str, str]
    from_language: str
    texts: int
    labels: int
    groups: int
    effective_groups: float
    residual: ShownWithin | None
    agreement: ShownWithin | None
    q: float | None
    outcome: Outcome
    reason: str
    more_groups: int | None
    more_groups_as_seen: int | None


class ExtensionResult(msgspec.Struct, frozen=True):
    """All targets of a probe, with what is needed to add them to the certificate."""

    judge: str
    data: str
    sha256: str
    options: ExtendOptions
    compared: ComparedBy
    targets: tuple[ExtensionTarget, ...]
    schema_version: int = 1

    @property
    def outcome(self) -> Outcome:
        """`refused` if any target is; else `more labels` if any needs them; else `extended`."""
        outcomes = {target.outcome for target in self.targets}
        wanted: tuple[Outcome, ...] = ("refused", "more labels", "extended")
        return next(outcome for outcome in wanted if outcome in outcomes)

    def as_json(self) -> dict[str, Any]:
        """Return one object for programs, with the outcome."""
        fields: dict[str, Any] = msgspec.to_builtins(self)
        return fields | {"outcome": self.outcome}


@dataclass(frozen=True)
class _Probe:
    """A target before its tests: why it is refused before them, or the two tests."""

    cell: ItemTable
    certified: CertifiedCell
    where: dict[str, str]
    refusal: str | None
    residual: TransportTest | None = None
    agreement: TransportTest | None = None

    @property
    def tests(self) -> list[TransportTest]:
        return [test for test in (self.residual, self.agreement) if test is not None]

    @property
    def p(self) -> float:
        """The larger p of the two tests: both differences have to be small."""
        return max((test.p if test.p == test.p else 1.0 for test in self.tests), default=1.0)


def extend(
    certificate: Certificate,
    source: Recording,
    compare: MeasureOptions = MeasureOptions(),
    options: ExtendOptions = ExtendOptions(),
    judged_run: JudgedRun | None = None,
) -> ExtensionResult:
    """Test for every target of the source whether the certificate may serve it.

    Args:
        certificate: of the judge.
        source: the judge's scores of the other texts, and people's labels of a random probe of them.
        compare, options: which of its texts (one annotator is enough if it does not say otherwise); targets, margin and level.
        judged_run: of a run, how it asked; None for recorded judgments.

    Raises UsageError unless the labelled texts are a random sample, for those of the certificate, and for names that are not there;
    JudgeError where most of the judge's answers cannot be read; StaleCertificate if judge, condition, prompt, rubric or scale are not
    those of the certificate.
    """
    refuse_unless_random(source.data.about, "no extension")
    if source.data.sha256 == certificate.data.sha256:
        raise UsageError(f"{source.name} holds the texts and labels that the certificate was made from; name others")
    shared_cells = tuple(cell for cell in certificate.cells if cell.metric in source.data.scales)  # another metric is no target
    restricted = msgspec.structs.replace(certificate, cells=shared_cells)
    for problem in (*condition_changes(certificate.judge, source), *question_changes(restricted, source, judged_run)):
        raise StaleCertificate(f"{problem}; an extension is about the same judge under the same question")
    probes = list(_list_probes(certificate, source, compare, options))
    if not probes:
        have = ", ".join(dict.fromkeys(cell.metric for cell in certificate.cells))
        raise UsageError(f"nothing to extend to: {source.name} has no labelled scores of the certified metrics ({have})")
    tested = [probe for probe in probes if probe.refusal is None]
    corrected = dict(zip(map(id, tested), holm([probe.p for probe in tested]).tolist(), strict=True)) if tested else {}
    count = sum(len(probe.tests) for probe in tested)
    targets = tuple(_build_target(probe, corrected.get(id(probe)), count, options) for probe in probes)
    data = source.data
    return ExtensionResult(certificate.judge.name, data.about.id, data.sha256, options, ComparedBy.of(compare), targets)


def with_extensions(certificate: Certificate, result: ExtensionResult, today: date) -> Certificate:
    """Return the certificate with a line for each target that it was extended to; lines on the same texts are replaced."""
    options = ExtendedWith(**msgspec.structs.asdict(result.compared), **msgspec.structs.asdict(result.options))
    shared: dict[str, Any] = {"data": result.data, "sha256": result.sha256, "date": today, "options": options}
    extended = (target for target in result.targets if target.outcome == "extended")
    new = [Extension(**{name: getattr(target, name) for name in _OF_TARGET}, **shared) for target in extended]
    replaced = {line.target for line in new}
    unchanged = [line for line in certificate.extensions if line.target not in replaced]
    lines = (*unchanged, *new)
    return msgspec.structs.replace(certificate, extensions=lines, extended=len(lines)).sealed()


def _list_probes(certificate: Certificate, source: Recording, compare: MeasureOptions, options: ExtendOptions) -> Iterator[_Probe]:
    single = replace(compare, annotators=compare.annotators or Annotators(1), judges=(certificate.judge.name,))
    [judged] = align([source], single).tables
    keys = {name: item_key(judged.data, name) for name in options.by if name not in ("language", "metric")}
    wanted = certificate.judge.condition
    metrics = {cell.metric for cell in certificate.cells}
    cells = [cell for cell in item_tables(judged) if cell.condition == wanted and cell.key["metric"] in metrics]
    readable, unread = refuse_unread(cells, "nothing is known of other texts by the scores")
    for left_out in unread:
        raise JudgeError(left_out.sentence())
    for cell in readable:
        certified = _find_certified_cell(certificate, cell.key["language"], cell.key["metric"], options.from_language)
        for part in sorted(split_by(cell, keys), key=lambda part: sort_key(part.key)):
            yield _test_probe(part, certified, {name: as_text(part.key[name]) for name in keys}, certificate, options)


def _find_certified_cell(certificate: Certificate, language: str, metric: str, from_language: str | None) -> CertifiedCell:
    cells = {cell.language: cell for cell in certificate.cells if cell.metric == metric}
    source = from_language or (language if language in cells else next(iter(cells)) if len(cells) == 1 else None)
    if source is None:
        raise UsageError(f"the certificate has no numbers on {metric} in '{language}'; name whose to use with --from.{choose_from(cells)}")
    if source not in cells:
        raise UsageError(f"the certificate has no numbers on {metric} in '{source}'.{choose_from(cells, source)}")
    return cells[source]


def _test_probe(
    cell: ItemTable, certified: CertifiedCell, where: dict[str, str], certificate: Certificate, options: ExtendOptions
) -> _Probe:
    refusal = next(_list_refusals(cell, certified, certificate), None)
    if refusal is not None:
        return _Probe(cell, certified, where, refusal)
    residual = None if certified.values is None else transport(_compute_residuals(cell, certified), cell.group, options.margin)
    # Test agreement with people's aggregate (unreadable answers as wrong) less the certified agreement, with the error of the latter.
    counts = np.asarray(certified.confusion, np.int64)
    certified_agreement = float(np.trace(counts)) / max(int(counts.sum()), 1)
    truth = cell.reference
    agrees = np.where(truth >= 0, (cell.answer == truth) - certified_agreement, math.nan)
    error = certified.agreement_error  # else that of a share of as many texts as there are groups, which is no smaller
    error = math.sqrt(certified_agreement * (1 - certified_agreement) / max(certified.groups, 1)) if error is None else error
    agreement = transport(agrees, cell.group, options.margin, extra_error=error)
    return _Probe(cell, certified, where, None, residual, agreement)


def _list_refusals(cell: ItemTable, certified: CertifiedCell, certificate: Certificate) -> Iterator[str]:
    """Yield the reasons to refuse texts whatever people say of them."""
    if certified not in certificate.allowed:
        yield f"the certificate's verdict on {certified.name} is '{certified.verdict}'"
    if not certified.corrections:
        yield f"the certificate has no correction for {certified.name}: {certified.correction_reason}"
    if cell.classes.continuous:
        yield "its scores there are numbers without classes, and the certificate's are classes"
        return
    # The judge's commonest answers that are not among or between those on certified texts with a label.
    answer_counts = np.bincount(cell.answer[cell.answer >= 0], minlength=len(cell.classes.scores)).tolist()
    counts = np.asarray(certified.confusion, np.int64).sum(axis=0)
    seen: list[Any] = [score for score, count in zip(certified.classes, counts, strict=True) if count]
    beyond = []
    for score, count in zip(cell.classes.scores, answer_counts, strict=True):
        inside = min(seen) <= score <= max(seen) if certified.scale.kind == "interval" and seen else score in seen
        if count and not inside:
            beyond.append(f"{as_text(score)} ({count:,} texts)")
    if beyond:
        yield f"scores that no certified text with a label had: {', '.join(beyond[:_EXTREMES])}"


def _compute_residuals(cell: ItemTable, certified: CertifiedCell) -> Any:
    """Return (items,) mean label minus the certificate's corrected prediction, as a share of the scale's range; NaN without a label.

    The prediction is mean label + weight (score - mean score), all of the certificate; the weight is the one that the certificate gives
    these scores.
    """
    assert cell.means is not None and certified.values is not None
    correction, (label, score) = certified.corrections[0], cell.means
    filled = np.where(np.isnan(score), correction.failure_value, score)
    corrected = correct_with_summary(correction.summary, filled, cell.group)
    lam = 0.0 if math.isnan(corrected.lam) else corrected.lam
    predicted = correction.mean_label + lam * (filled - correction.mean_judge)
    low, high = certified.scale.min, certified.scale.max
    range_of_scale = float(np.ptp(certified.values)) if low is None or high is None else high - low
    return np.clip((label - predicted) / range_of_scale, -1, 1)


def _build_target(probe: _Probe, q: float | None, tests: int, options: ExtendOptions) -> ExtensionTarget:
    outcome, reason = _decide_outcome(probe, q, tests, options)
    more, as_seen = (_groups_to_add(probe, options.alpha, seen=seen) if outcome == "more labels" else 0 for seen in (False, True))
    if more is None:
        reason = "the certificate's own labels are too few to compare agreement with; certify with more"
    labelled = probe.cell.group[probe.cell.labelled]
    sizes = np.unique(labelled, return_counts=True)[1]
    return ExtensionTarget(
        language=probe.cell.key["language"],
        metric=probe.cell.key["metric"],
        where=probe.where,
        from_language=probe.certified.language,
        texts=len(probe.cell),
        labels=len(labelled),
        groups=len(sizes),
        effective_groups=float(sizes.sum() ** 2 / (sizes**2).sum()) if len(sizes) else 0.0,
        residual=_describe_test(probe.residual, tests, options),
        agreement=_describe_test(probe.agreement, tests, options),
        q=q,
        outcome=outcome,
        reason=reason,
        more_groups=more,
        more_groups_as_seen=as_seen,
    )


def _describe_test(test: TransportTest | None, tests: int, options: ExtendOptions) -> ShownWithin | None:
    if test is None or math.isnan(test.mean):
        return None
    low, high = test.interval(1 - options.alpha / tests)
    has_interval = not math.isnan(low)
    return ShownWithin(
        mean=test.mean, interval=(low, high) if has_interval else None, margin=options.margin, p=test.p if has_interval else None
    )


def _decide_outcome(probe: _Probe, q: float | None, tests: int, options: ExtendOptions) -> tuple[Outcome, str]:
    if probe.refusal is not None or q is None:
        return "refused", probe.refusal or ""
    tests_by_name: Sequence[tuple[str, TransportTest | None]] = (
        ("the corrected prediction", probe.residual),
        ("agreement", probe.agreement),
    )
    outcomes = {name: test.outcome(q, options.alpha, tests) for name, test in tests_by_name if test is not None}
    outside = [name for name, outcome in outcomes.items() if outcome == "outside"]
    if outside:
        return "refused", f"{' and '.join(outside)} differ{'s' if len(outside) == 1 else ''} by more than the margin"
    if all(outcome == "inside" for outcome in outcomes.values()):
        return "extended", ""
    few = any(not test.effective_groups >= LEAST_GROUPS for test in probe.tests)
    return "more labels", "too few independent groups" if few else "the difference may lie within the margin or outside"


def _groups_to_add(probe: _Probe, alpha: float, *, seen: bool) -> int | None:
    """Return about how many more groups show both differences to be small: if there are none, or if they are as large as `seen`."""
    groups = max(test.groups for test in probe.tests)
    needed = [test.groups_needed(alpha, test.mean if seen and test.mean == test.mean else 0.0) for test in probe.tests]
    if None in needed:
        return None
    return max(*(number or 0 for number in needed), groups + 1) - groups


class Probe(NamedTuple):
    """Texts that a certificate was extended to, with their labels, and how a run asked about them; None for recorded judgments."""

    source: Recording
    judged_run: JudgedRun | None = None


class CertificateCheck(msgspec.Struct, frozen=True):
    """The result of a check of a certificate.

    Attributes:
        stale: why it does not hold, in sentences; empty if nothing against it was found.
        not_made_again: what it says and what could not be made again, so that nobody knows whether it is as certified.
        unchecked: what it does not state, so that it cannot become stale by it.
        allowed: the cells in which the judge's scores may be used; none unless everything was made again and is the same.
        compared: whether there was a source.
    """

    stale: tuple[str, ...]
    not_made_again: tuple[str, ...]
    unchecked: tuple[str, ...]
    allowed: tuple[CertifiedCell, ...]
    compared: bool


def check_certificate(
    certificate: Certificate,
    source: Recording | None,
    judged_run: JudgedRun | None = None,
    today: date | None = None,
    watch: CertifiedWatch | None = None,
    probes: Sequence[Probe] = (),
) -> CertificateCheck:
    """Check a certificate against the run or data that it is of; without a source, only whether it is whole and its numbers possible.

    One with a watch is stale once the watch found a change, and where it was last checked too long before `today` (by default today, UTC).
    `watch` is what the watch itself says, None where it is not there. Each extension is made again from the one of `probes` that showed it.

    Raises UsageError for a probe that no extension rests on.
    """
    day = today or datetime.now(UTC).date()
    stale = [*(certificate.problems() if source is None else staleness(certificate, source, judged_run))]
    absent = ["everything"] if source is None else [*(certified_run_settings(certificate) if judged_run is None else ())]
    stale += _check_extensions(certificate, probes, day)
    if source is not None:
        probed = {(probe.source.data.about.id, probe.source.data.sha256) for probe in probes}
        unprobed = {line.name: line.data for line in certificate.extensions if (line.data, line.sha256) not in probed}
        absent += [f"the extension to {cell} (name the run or data folder of {name} with --probe)" for cell, name in unprobed.items()]
    if (certified_watch := certificate.watch) is not None:
        absent += [] if watch else ["the watch"]
        stale = [*([expired] if (expired := certified_watch.expired(day)) else []), *stale]
        stale += (
            ["its watch is not what the log of the watch says; give 'harness watch check' again"]
            if watch not in (None, certified_watch)
            else []
        )
    allowed = () if stale or absent else certificate.allowed
    return CertificateCheck(tuple(stale), tuple(absent), certificate.unchecked, allowed, source is not None)


def _check_extensions(certificate: Certificate, probes: Sequence[Probe], today: date) -> Iterator[str]:
    """Yield what is wrong with the extensions, as far as the date and the probes show it.

    What was tested together is tested together again: q is corrected over all targets of one call.
    """
    for line in certificate.extensions:
        if line.date > today:
            yield f"it was extended to {line.name} on {line.date}, and today is {today}: the clock is wrong, or the date"
    for source, judged_run in probes:
        data = source.data
        lines = [line for line in certificate.extensions if line.sha256 == data.sha256]
        if not lines and not any(line.data == data.about.id for line in certificate.extensions):
            rest_on = ", ".join(dict.fromkeys(f"'{line.data}'" for line in certificate.extensions)) or "none"
            raise UsageError(f"no extension of the certificate rests on {source.name} ('{data.about.id}'); the probes are: {rest_on}")
        if not lines:
            yield f"items or labels of the probe {source.name} have changed: {data.sha256[:12]} is in no extension of the certificate"
        for options in dict.fromkeys(msgspec.json.encode(line.options, order="sorted") for line in lines):
            yield from _compare_extensions(certificate, source, judged_run, msgspec.json.decode(options, type=ExtendedWith))


def _compare_extensions(certificate: Certificate, source: Recording, judged_run: JudgedRun | None, options: ExtendedWith) -> Iterator[str]:
    """Yield what comes out differently when the extensions of one probe and one set of options are made again."""
    judge = certificate.judge.name
    try:
        extending = ExtendOptions(options.by, options.from_language, options.margin, options.alpha)
        result = extend(certificate, source, options.compare((judge,)), extending, judged_run)
    except (UsageError, JudgeError, StaleCertificate) as err:
        yield f"what {source.name} extends it to cannot be made again: {err}"
        return
    unextended = msgspec.structs.replace(certificate, extensions=(), extended=0)
    remade = {line.target: line for line in with_extensions(unextended, result, date.min).extensions}
    certified = {line.target: line for line in certificate.extensions}
    for line in certified.values():
        if (line.sha256, line.options) == (source.data.sha256, options) and line.target not in remade:
            yield f"it is extended to {_extension_name(line)}, which {source.name} does not show"
    for target, line in remade.items():
        if target not in certified:
            yield f"{source.name} extends it to {_extension_name(line)} too, and the certificate does not say so"
            continue
        differing = different_values(msgspec.to_builtins(certified[target]), msgspec.to_builtins(line), ("date",))
        is_latest = (certified[target].sha256, certified[target].options) == (
            source.data.sha256,
            options,
        )  # else another probe showed it later
        if differing and is_latest:
            yield f"the extension to {_extension_name(line)} differs when it is made again: {differing}"


def _extension_name(line: Extension) -> str:
    return line.name + "".join(f", {key} {value}" for key, value in line.where.items())
