"""The first day of a watch: which texts become anchors, and the reference levels that later days are held against."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from importlib.metadata import version

import msgspec
import numpy as np

from harness.correction.certificate import Certificate
from harness.correction.certified_cell import AGAIN, CertifiedCell
from harness.correction.certify import JudgedRun
from harness.correction.label_sample import draw_label_sample
from harness.correction.options import SampleOptions
from harness.correction.stale_certificate import certified_run_settings, staleness
from harness.errors import StaleCertificate, UsageError, UseForbidden
from harness.measure.compare import Recording, align
from harness.measure.item_table import item_tables
from harness.measure.options import Annotators, MeasureOptions
from harness.model import JudgeCondition
from harness.stats.estimation.betting import limits_of_repeats, reference_limits
from harness.watch.one_day import Answers, certified_texts, scores_by_group
from harness.watch.options import WatchOptions
from harness.watch.watch_plan import (
    SCHEMA_VERSION,
    Anchor,
    Quantity,
    Reference,
    Stream,
    WatchedCell,
    WatchPlan,
    anchors_hash,
    certified_hash,
)

TESTS = {"anchors": 4, "production": 3}
"""One-sided tests of a cell in each stream: agreement and level of anchors, and the level of production scores, on both sides; and whether
fewer production answers can be read, which agreement on anchors shows too."""


class WatchStart(msgspec.Struct, frozen=True):
    """The start of a watch: the certificate and the text of its file, what it was made from, and the run to ask again (its folder)."""

    certificate: Certificate
    text: bytes
    source: Recording
    run: str | None


def refuse_unfit(start: WatchStart, judged_run: JudgedRun | None) -> None:
    """Raise StaleCertificate where a certificate is not of this source or does not hold, UseForbidden where it allows nothing."""
    certificate, name = start.certificate, start.source.name
    if certificate.watch is not None and certificate.watch.ended is not None:
        raise StaleCertificate(f"the certificate does not hold any more: its watch found: {certificate.watch.ended}; {AGAIN}")
    for problem in staleness(certificate, start.source, judged_run):
        raise StaleCertificate(f"the certificate is not of {name} as it is: {problem}")
    if judged_run is None and (stated := certified_run_settings(certificate)):
        raise StaleCertificate(f"the certificate is of a run, and {name} does not show {', '.join(stated)}; name the run")
    if not start.certificate.allowed:
        raise UseForbidden("the certificate allows nothing, so there is nothing to watch")


def choose_anchors(start: WatchStart, options: WatchOptions) -> tuple[Anchor, ...]:
    """Draw the anchors of each language among its labelled texts, as `labels plan` draws texts, with all labels that are watched."""
    # `{(language, metric, item_id): the item with its labels}` of what the certified judge has judged.
    [judged] = align([start.source], MeasureOptions(annotators=Annotators(1), judges=(start.certificate.judge.name,))).tables
    wanted, labelled = start.certificate.judge.condition, dict[tuple[str, str, str], Anchor]()
    for cell in (cell for cell in item_tables(judged) if JudgeCondition.of(cell.key) == wanted):
        language, metric = cell.key["language"], cell.key["metric"]
        means = cell.means[0] if cell.means is not None and cell.classes.kind == "interval" else None
        for row in np.flatnonzero(cell.labelled).tolist():
            item_id = judged.data.items[cell.item[row]].item_id
            counts = zip(cell.classes.scores, cell.labels[row].tolist(), strict=True)
            labelled[language, metric, item_id] = Anchor(
                item_id=item_id,
                language=language,
                metric=metric,
                labels={str(score): count for score, count in counts if count},
                mean_label=None if means is None else float(means[row]),
            )
    anchors = list[Anchor]()
    for language in dict.fromkeys(cell.language for cell in start.certificate.allowed):
        metrics = [cell.metric for cell in start.certificate.allowed if cell.language == language]
        native = start.source.data.labels.native_items([metrics[0]])
        candidates = [
            anchor for (tag, metric, item_id), anchor in labelled.items() if (tag, metric) == (language, metrics[0]) and item_id in native
        ]
        sample = SampleOptions(
            language=language,
            budget=max(1, min(options.anchors, len(candidates))),
            judge=start.certificate.judge.name,
            metric=metrics[0],
            least=1,
            seed=options.seed,
            labelled=True,
        )
        for drawn in sorted(draw_label_sample(start.source, sample).items, key=lambda item: item.item_id):
            anchors += [labelled[key] for metric in metrics if (key := (language, metric, drawn.item_id)) in labelled]
    return tuple(anchors)


def make_watch_plan(
    start: WatchStart, anchors: Sequence[Anchor], answers: Answers, options: WatchOptions, since: date
) -> tuple[WatchPlan, tuple[str, ...]]:
    """The plan of a watch that begins with these answers on its anchors, and the hashes of its certified texts.

    Every reference has limits at the level that is left for its error: half of each stream's, shared by its tests and by all cells.
    Raises UsageError for scales without ends, and where no anchor or no text has a readable answer.
    """
    allowed = start.certificate.allowed
    bare = {(cell.language, cell.metric): _watch_cell(cell) for cell in allowed}
    before = scores_by_group(start.source, start.certificate.judge, bare.values())
    cells = []
    for key, cell in bare.items():
        cell_anchors = [anchor for anchor in anchors if (anchor.language, anchor.metric) == key]
        references = tuple(_cell_references(cell, cell_anchors, answers, before[cell.name], options.alpha / len(allowed)))
        cells.append(msgspec.structs.replace(cell, references=references))
    certified = certified_texts(start.source, start.certificate.judge, cells)
    plan = WatchPlan(
        schema_version=SCHEMA_VERSION,
        harness=version("judge-harness"),
        certificate=hashlib.sha256(start.text).hexdigest(),
        judge=start.certificate.judge,
        run=start.run,
        data=start.certificate.data.id,
        since=since,
        options=options,
        cells=tuple(cells),
        anchors=anchors_hash(tuple(anchors)),
        certified=certified_hash(certified),
        nonce=secrets.token_hex(8),
    )
    return plan, certified


def _watch_cell(cell: CertifiedCell) -> WatchedCell:
    """The cell with the levels of its scores, without references."""
    scale, watched = cell.scale, None
    levels, span = tuple[float, ...](), None
    if scale.kind == "interval":
        if scale.min is None or scale.max is None:
            raise UsageError(f"the scale of '{cell.metric}' has no ends, so its scores have no level from 0 to 1; state min and max")
        span = scale.min, scale.max
    elif scale.kind == "ordinal":
        numbers = np.asarray(cell.values if cell.values is not None else range(len(cell.classes)), np.float64)
        levels = tuple(((numbers - numbers.min()) / max(float(np.ptp(numbers)), 1.0)).tolist())
    else:
        counts = np.asarray(cell.confusion, np.int64).sum(axis=0)
        watched = cell.classes[int(counts.argmax())]
        levels = tuple(float(score == watched) for score in cell.classes)
    return WatchedCell(
        language=cell.language,
        metric=cell.metric,
        classes=() if span else cell.classes,
        levels=levels,
        span=span,
        watched_class=watched,
        references=(),
    )


def _cell_references(
    cell: WatchedCell, anchors: Sequence[Anchor], answers: Answers, before: Mapping[str, list[float | None]], alpha: float
) -> Iterator[Reference]:
    anchor_answers = [answers[anchor.item_id, anchor.metric] for anchor in anchors]
    agreement = [[cell.agreement(score, anchor) for score in scores] for anchor, scores in zip(anchors, anchor_answers, strict=True)]
    level = [[cell.level(score) for score in scores if score is not None] for scores in anchor_answers]
    groups = [[level_or_none for level_or_none in levels if level_or_none is not None] for levels in before.values()]
    yield _estimate_reference(cell, "anchors", "agreement", agreement, alpha)
    yield _estimate_reference(cell, "anchors", "level", level, alpha)
    yield _estimate_reference(cell, "production", "level", [[sum(group) / len(group)] for group in groups if group], alpha)
    read = [[sum(level_or_none is not None for level_or_none in levels) / len(levels)] for levels in before.values()]
    yield _estimate_reference(cell, "production", "readable", read, alpha)


def _estimate_reference(
    cell: WatchedCell, stream: Stream, quantity: Quantity, values: Sequence[Sequence[float]], alpha: float
) -> Reference:
    """The mean over units of the means of their values, and its limits.

    Anchors are fixed texts with several answers each, so only the spread of answers on one text moves their mean; n counts the answers.
    Groups of production texts are a sample; n counts the groups.
    """
    readable = [unit for unit in values if unit]
    if not readable:
        raise UsageError(f"no answer of the judge in {cell.name} can be read, so there is no reference level")
    alpha = alpha / 4 / TESTS[stream]
    mean, n = sum(sum(unit) / len(unit) for unit in readable) / len(readable), sum(map(len, readable))
    limits = limits_of_repeats(readable, alpha) if stream == "anchors" else reference_limits(mean, n, alpha)
    return Reference(stream=stream, quantity=quantity, mean=mean, n=n, lower=limits.lower, upper=limits.upper)
