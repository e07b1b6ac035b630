"""Says when a certificate is stale: what it was made of is compared with what is there now."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from harness.correction.acceptance import AcceptOptions
from harness.correction.calibrate import CalibrateOptions
from harness.correction.cell_results import with_value
from harness.correction.certificate import Certificate, CertifiedData, CertifiedJudge, judge_problems
from harness.correction.certify import JudgedRun, certify, scores_hash
from harness.correction.label_sets import SetOptions
from harness.data.dataset import Dataset
from harness.errors import JudgeError, UsageError
from harness.measure.compare import Recording
from harness.measure.judged_table import as_text
from harness.signature import ComparisonSignature

_SHOWN = 3  # numbers that a sentence names
_ROUNDING = 1e-9  # relative: another processor may round the last digits otherwise
_MAY_DIFFER: dict[str, Any] = {"judgments": (), "by": (), "harness": ""}
"""Parts of the signature: scores of other judges may have come, and this program may be newer."""
_OF_ITSELF = ("cells", "extended", "extensions", "harness", "schema_version", "sha256", "signature", "watch")
"""What is not made again, or compared by a sentence of its own."""


def staleness(certificate: Certificate, source: Recording, asked: JudgedRun | None = None) -> tuple[str, ...]:
    """Why a certificate does not hold; empty if nothing against it was found.

    It holds if judge, condition, prompt, rubrics, scales, labels and the judge's scores are as certified, if no number is off its scale,
    and if the same certificate comes out again, in all that can be made again from this source.
    """
    changed = tuple(dict.fromkeys(_changes(certificate, source, asked)))
    return (*(changed or _differences(certificate, source, asked)), *certificate.problems())


def stated_of_asking(certificate: Certificate) -> tuple[str, ...]:
    """What a certificate states of how a run asked, which judgments alone do not show."""
    stated = {
        "the prompt": certificate.prompt,
        "the rubrics": next((cell.rubric for cell in certificate.cells if cell.rubric is not None), None),
        "the settings of the judge": certificate.judge.settings,
    }
    return tuple(name for name, value in stated.items() if value is not None)


def _changes(certificate: Certificate, source: Recording, asked: JudgedRun | None) -> Iterator[str]:
    """What of the things that a certificate rests on has changed."""
    judge, data = certificate.judge, source.data
    yield from tuple(other_condition(judge, source)) or other_scores(judge, source)
    yield from other_question(certificate, source, asked)
    languages = {item.language for item in data.items}
    for language in dict.fromkeys(cell.language for cell in certificate.cells):
        if language not in languages:
            yield f"there are no texts in '{language}' any more"
    yield from other_labels(certificate.data, data)


def other_labels(held: CertifiedData, data: Dataset) -> Iterator[str]:
    """What of the items and labels is not as certified."""
    if data.sha256 != held.sha256:
        yield f"items or labels have changed: {data.sha256[:12]}, in the certificate {held.sha256[:12]}"
    if data.about.sampling != held.sampling:
        yield f"sampling is '{data.about.sampling}', in the certificate '{held.sampling}'"


def other_question(certificate: Certificate, source: Recording, asked: JudgedRun | None) -> Iterator[str]:
    """What of judge, prompts, scales and rubrics is not as certified, whatever the texts are."""
    judge, data = certificate.judge, source.data
    identity = asked.identity(judge.name) if asked else None
    if identity is not None:
        yield from judge_problems(judge, identity)
    if asked and certificate.prompt is not None and asked.prompt(judge.name, judge.variant) != certificate.prompt:
        yield f"the prompts have changed: {asked.prompt(judge.name, judge.variant)}, in the certificate {certificate.prompt}"
    for cell in certificate.cells:
        scale = data.scales.get(cell.metric)
        if scale != cell.scale:
            stated = "is not there" if scale is None else f"is {scale.describe()}"
            yield f"the scale of '{cell.metric}' {stated}, in the certificate {cell.scale.describe()}"
        yield from other_rubric(cell.metric, cell.rubric, asked)


def other_rubric(metric: str, held: str | None, asked: JudgedRun | None) -> Iterator[str]:
    """Whether a metric's rubric is not as certified; nothing where one of them is unknown."""
    if asked and held is not None and asked.rubric(metric) != held:
        yield f"the rubric of '{metric}' has changed: {asked.rubric(metric)}, in the certificate {held}"


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
        rows = with_value(rows, name, value)


def other_scores(judge: CertifiedJudge, source: Recording) -> Iterator[str]:
    """Whether the judge's scores of labelled texts are not as certified."""
    found = scores_hash(source, judge.condition)
    if found != judge.judgments:
        yield f"the judge's scores have changed: {found[:12]}, in the certificate {judge.judgments[:12]}"


def _differences(certificate: Certificate, source: Recording, asked: JudgedRun | None) -> tuple[str, ...]:
    """What comes out differently when the certificate is made again."""
    options, judge = certificate.options, certificate.judge
    try:
        compare = options.compare((judge.name,))
        acceptance = AcceptOptions(options.alpha, options.delta, options.confidence)
        maps = CalibrateOptions(SetOptions(options.level, options.per, options.this_draw), length=options.length)
        again = certify(source, compare, certificate.thresholds, acceptance, asked, maps, judge.condition)
    except (UsageError, JudgeError) as err:
        return (f"the certificate cannot be made again: {err}",)
    if asked is None and stated_of_asking(certificate):
        again = _asked_as(certificate, again)
    return tuple(certificate_differences(certificate, again))


def _asked_as(held: Certificate, again: Certificate) -> Certificate:
    """A certificate that was made of judgments alone, with what the other one states of how they were asked."""
    rubrics = {cell.place: cell.rubric for cell in held.cells}
    return msgspec.structs.replace(
        again,
        prompt=held.prompt,
        unchecked=held.unchecked,
        judge=msgspec.structs.replace(again.judge, settings=held.judge.settings),
        cells=tuple(msgspec.structs.replace(cell, rubric=rubrics.get(cell.place)) for cell in again.cells),
    )


def certificate_differences(held: Certificate, again: Certificate) -> Iterator[str]:
    """Yield a sentence for each cell, and for the rest, that differs. Numbers are equal up to rounding."""
    theirs, ours = ({cell.place: cell for cell in each.cells} for each in (held, again))
    for name in dict.fromkeys((*theirs, *ours)):
        if name not in ours:
            yield f"{name} is in the certificate, and the source has no such numbers"
        elif name not in theirs:
            yield f"{name} is not in the certificate, and the source has numbers for it"
        else:
            one, other = theirs[name], ours[name]
            if one.verdict != other.verdict:
                yield f"the verdict on {name} is '{one.verdict}' in the certificate, and '{other.verdict}' when it is made again"
            if apart := different_values(msgspec.to_builtins(one), msgspec.to_builtins(other), ("verdict",)):
                yield f"{name} differs when it is made again: {apart}"
    if _data(held) != _data(again):
        yield f"the labels are said to be of {' '.join(_data(held))}, and are of {' '.join(_data(again))}"
    if apart := different_values(msgspec.to_builtins(held), msgspec.to_builtins(again), _OF_ITSELF):
        yield f"it differs when it is made again: {apart}"
    if signed(held.signature) != signed(again.signature):
        yield "the signature is not that of the numbers"


def _data(certificate: Certificate) -> tuple[str, str, str]:
    data = certificate.data
    return data.id, data.version, data.annotators


def signed(text: str) -> ComparisonSignature | None:
    """What of a signature comes out again; None of what is none."""
    try:
        signature = ComparisonSignature.parse(text)
    except ValueError:
        return None
    return msgspec.structs.replace(signature, **_MAY_DIFFER)


def different_values(held: Any, again: Any, left_out: Sequence[str] = ()) -> str:
    """Which values of a nested object differ, in words; empty if none does. Numbers are equal up to rounding.

    `left_out` are names of the outermost level that are not compared.
    """
    ours, theirs = ({path: value for path, value in _leaves(each) if path.split(".")[0] not in left_out} for each in (again, held))
    apart = [path for path in dict.fromkeys((*theirs, *ours)) if not _equal(theirs.get(path), ours.get(path))]
    shown = ", ".join(f"{path} {_text(theirs.get(path))} instead of {_text(ours.get(path))}" for path in apart[:_SHOWN])
    more = f" and {len(apart) - _SHOWN} more" if len(apart) > _SHOWN else ""
    return f"{shown}{more}"


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of a nested object under its path, such as `corrections.0.mean_label`."""
    if isinstance(value, dict | list | tuple) and value:
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for name, part in parts:
            yield from _leaves(part, f"{path}.{name}" if path else str(name))
    else:
        yield path, value


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=_ROUNDING, abs_tol=_ROUNDING)
    return bool(one == other)


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)
