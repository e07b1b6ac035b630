"""Makes a certificate again: its cells from the run or data that it is of, and its extensions from the probes that showed them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from typing import NamedTuple

import msgspec

from harness.correction.certificate import Certificate
from harness.correction.certificate_extension import CertifiedWatch, ExtendedWith, Extension
from harness.correction.certified_cell import CertifiedCell
from harness.correction.certify import JudgedRun
from harness.correction.extension import ExtendOptions, extend, with_extensions
from harness.correction.stale_certificate import certified_run_settings, different_values, staleness
from harness.errors import JudgeError, StaleCertificate, UsageError
from harness.measure.compare import Recording


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
