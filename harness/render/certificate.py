"""Certificates in the terminal: permitted uses and stale parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from harness.content.tags import english_name
from harness.correction.certificate import Certificate
from harness.correction.certificate_check import CertificateCheck
from harness.correction.certificate_extension import Extension
from harness.correction.certified_cell import CertifiedCell
from harness.correction.extension import ExtensionResult, ExtensionTarget
from harness.render.terminal import print_lines
from harness.reports.tables.numbers import counted, difference, percent, probability, rounded_up
from harness.reports.tables.titles import metric_words


def print_certificate(certificate: Certificate, path: str) -> None:
    """Print what a new certificate allows, a line for each language and metric."""
    heading = f"{path}: {certificate.judge.name}, {certificate.judge.variant}"
    print_lines([heading, *_cells(certificate), *_unchecked(certificate.unchecked)])


def print_check(certificate: Certificate, found: CertificateCheck) -> None:
    """Print whether a certificate still holds, and why not."""
    judge = f"certificate of {certificate.judge.name}, {certificate.judge.variant}"
    if found.stale:
        lines = [f"{judge}: stale", *(f"  {reason}" for reason in found.stale)]
    else:
        lines = [f"{judge}: {_outcome(found)}", *_cells(certificate), *map(_extension, certificate.extensions)]
    print_lines([*lines, *_unchecked(found.unchecked)])


def print_extension(found: ExtensionResult, path: str | None) -> None:
    """Print for each target whether the certificate may serve it, and why not; `path` is the file that has the new lines."""
    margin, lines = percent(found.options.margin), []
    for target in found.targets:
        lines += [_target(target), *(f"    {line}" for line in _differences(target, margin))]
    if path:
        lines.append(f"{path}: extended to {counted(sum(each.outcome == 'extended' for each in found.targets), 'target')}")
    print_lines([f"certificate of {found.judge} for {found.data}: {found.outcome}", *lines])


def _target(target: ExtensionTarget) -> str:
    where = "".join(f", {key} {value}" for key, value in target.where.items())
    source = "" if target.from_language == target.language else f" by the numbers of {english_name(target.from_language)}"
    reason = f": {target.reason}" if target.reason else ""
    if target.more_groups:
        reason += f"; label about {counted(target.more_groups, 'more group')}{_as_seen(target)}"
    return f"  {english_name(target.language)}, {target.metric.replace('_', ' ')}{where}{source}: {target.outcome}{reason}"


def _as_seen(target: ExtensionTarget) -> str:
    """What the plan rests on, where it is another one under the differences that were seen."""
    if target.more_groups_as_seen == target.more_groups:
        return ""
    if target.more_groups_as_seen is None:
        return " if there is no difference; if it is as large as seen, no number is enough"
    return f" if there is no difference, about {target.more_groups_as_seen:,} if it is as large as seen"


def _differences(target: ExtensionTarget, margin: str) -> Iterator[str]:
    yield f"{counted(target.labels, 'labelled text')} in {counted(target.groups, 'group')}, {counted(target.texts, 'judged text')}"
    for name, shown in (("label minus corrected prediction", target.residual), ("agreement minus the certified one", target.agreement)):
        if shown is not None:
            yield f"{name}: {difference(shown.mean, shown.interval)}, margin ±{margin}"
    if target.q is not None:
        yield f"both within the margin: p {probability(target.q)}, corrected over the targets"


def _outcome(found: CertificateCheck) -> str:
    if not found.compared:
        return "not shown to be as certified: nothing was made again; name the run or data folder that it is of. It says:"
    if found.not_made_again:
        return f"not shown to be as certified: this could not be made again: {', '.join(found.not_made_again)}. It says:"
    return "nothing is stale; all of it was made again and is the same"


def _extension(line: Extension) -> str:
    where = "".join(f", {key} {value}" for key, value in line.where.items())
    of = f"{english_name(line.language)}, {line.metric.replace('_', ' ')}{where}"
    return f"  extended on {line.date} to {of} by {counted(line.labels, 'label')} of {line.data}"


def _cells(certificate: Certificate) -> Iterator[str]:
    """A line for each cell; what all of them lack for one reason is said once, at the end."""
    lacks = [_together((_means(cell), _acceptance(cell), _map(cell))) for cell in certificate.cells]
    alike = len(lacks) > 1 and lacks.count(lacks[0]) == len(lacks)
    for cell, parts in zip(certificate.cells, lacks, strict=True):
        place = f"{english_name(cell.language)}, {metric_words(cell.metric)}"
        said = cell.sentence.removesuffix(".") if cell in certificate.allowed else f"{place}: {cell.verdict}"
        yield f"  {'; '.join([said, *([] if alike else parts)])}"
    if alike:
        yield f"  Everywhere: {'; '.join(lacks[0])}"
    if not certificate.allowed:
        yield "It allows nothing: no verdict is 'use' or 'use corrected'."


def _together(parts: Iterable[tuple[str, str | None]]) -> list[str]:
    """Neighbours that have one reason share it.

    >>> _together([("no means", "few labels"), ("no map", "few labels"), ("no sets", None)])
    ['no means, no map (few labels)', 'no sets']
    """
    lines: list[str] = []
    for reason, alike in groupby(parts, key=lambda part: part[1]):
        said = [each for each, _ in alike]
        lines += [f"{', '.join(said)} ({reason})"] if reason else said
    return lines


def _means(cell: CertifiedCell) -> tuple[str, str | None]:
    """What a cell says of means, as `_acceptance` and `_map` do of theirs; beside what it lacks, the reason."""
    if cell.corrections:
        return f"means are corrected by {cell.corrections[0].n} labels", None
    return "no corrected means", cell.correction_reason


def _acceptance(cell: CertifiedCell) -> tuple[str, str | None]:
    found = cell.acceptance
    if found is None or found.threshold is None:
        return "nothing is accepted", cell.acceptance_reason if found is None else (found.reason or "").partition(";")[0]
    accepted = f"answers are accepted from {found.confidence} {rounded_up(found.threshold)} on, {percent(found.coverage)} of them"
    if found.left_out == 0:
        return accepted, None
    return f"{accepted}; nothing is said of the {percent(found.left_out_share)} of labelled texts without a commonest label", None


def _map(cell: CertifiedCell) -> tuple[str, str | None]:
    found = cell.recalibration
    if found is None:
        return "no map", cell.recalibration_reason
    scores = "scores are calibrated text by text" if found.shown else f"scores are not calibrated ({found.advice})"
    if found.length_scale is not None:
        scores += ", and the map reads the length of the text too"
    sets = found.sets
    if sets.threshold is None:
        return f"{scores}; sets hold {sets.reason}", None
    return f"{scores}; sets hold a person's score of {percent(sets.level)} of texts", None


def _unchecked(names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"Not known, so staleness cannot be checked by it: {', '.join(names)}."
