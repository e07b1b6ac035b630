"""Says whether a certificate still holds: what has changed since it was made, and whether the same certificate comes out again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from harness.correction.cell_results import rows_with_value
from harness.correction.certificate import Certificate, CertifiedData, CertifiedJudge, judge_problems
from harness.correction.certify import JudgedRun, certify, scores_hash
from harness.correction.correction_options import AcceptOptions, CalibrateOptions
from harness.data.dataset import Dataset
from harness.errors import JudgeError, UsageError
from harness.measure.compare import Recording
from harness.measure.judged_table import as_text
from harness.signature import ComparisonSignature

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
