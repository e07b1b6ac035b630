"""Makes certificates of cascades, and says when one is stale."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import msgspec

from harness.correction.acceptance import AcceptOptions
from harness.correction.cascade import AcceptedCascades, accept_cascade
from harness.correction.cascade_certificate import SCHEMA_VERSION, CascadeCertificate, CascadeOptions, CertifiedChain, CertifiedStep
from harness.correction.cell_results import judged_rows
from harness.correction.certificate import judge_problems
from harness.correction.certificate_file import CHANGED
from harness.correction.certify import JudgedRun, certified_data, certified_judge
from harness.correction.stale_certificate import different_values, other_condition, other_labels, other_rubric, other_scores, signed
from harness.errors import UsageError
from harness.measure.compare import Recording
from harness.measure.options import CompareOptions
from harness.model import JudgeCondition

_OF_PRICES = ("price", "price_from")


def certify_cascade(
    found: AcceptedCascades,
    source: Recording,
    compare: CompareOptions,
    options: AcceptOptions = AcceptOptions(),
    asked: JudgedRun | None = None,
) -> CascadeCertificate:
    """The certificate of what `accept_cascade` found, with the same arguments; `asked` is how a run asked, None for recorded judgments."""
    steps = tuple(_step(step.condition, source, asked) for step in found.cascades[0].steps)
    made = CascadeCertificate(
        kind="cascade",
        schema_version=SCHEMA_VERSION,
        harness=version("judge-harness"),
        steps=steps,
        data=certified_data(source.data),
        options=CascadeOptions.of(compare, accept=options, units=found.units),
        signature=found.signature,
        cells=tuple(
            CertifiedChain(scale=source.data.scales[each.metric], rubric=asked.rubric(each.metric) if asked else None, chain=each)
            for each in found.cascades
        ),
    )
    return made.sealed()


def _step(condition: JudgeCondition, source: Recording, asked: JudgedRun | None) -> CertifiedStep:
    return CertifiedStep(
        judge=certified_judge(source, condition, asked),
        repeats=max(1, len(judged_rows(source, condition).repeat.used)),
        prompt=asked.prompt(condition.variant) if asked else None,
    )


def cascade_staleness(held: CascadeCertificate, source: Recording, asked: JudgedRun | None = None) -> tuple[str, ...]:
    """Why the certificate of a cascade does not hold for the run or data that it is of; empty if nothing against it was found.

    It holds if judges, conditions, prompts, rubrics, scales, labels and scores are as certified, and if the same certificate comes out
    again, in all that can be made again from this source (`cascade_not_made_again`).
    """
    changed = tuple(dict.fromkeys(_changes(held, source, asked))) or tuple(_differences(held, source, asked))
    return (*changed, *(() if held.is_sealed else (CHANGED,)))


def cascade_not_made_again(held: CascadeCertificate, asked: JudgedRun | None) -> tuple[str, ...]:
    """What the certificate states of how runs asked, where judgments alone are there, which do not show it."""
    if asked is not None:
        return ()
    stated = {
        "prompts": any(step.prompt is not None for step in held.steps),
        "rubrics": any(cell.rubric is not None for cell in held.cells),
        "settings of the judges": any(step.judge.settings is not None for step in held.steps),
    }
    return tuple(name for name, is_stated in stated.items() if is_stated)


def _changes(held: CascadeCertificate, source: Recording, asked: JudgedRun | None) -> Iterator[str]:
    for step in held.steps:
        judge = step.judge
        yield from tuple(other_condition(judge, source)) or other_scores(judge, source)
        identity = asked.identity(judge.name) if asked else None
        yield from judge_problems(judge, identity or judge.name)
        if asked and step.prompt is not None and asked.prompt(judge.variant) != step.prompt:
            yield f"the prompts of {judge.name} have changed: {asked.prompt(judge.variant)}, in the certificate {step.prompt}"
    for cell in held.cells:
        scale, metric = source.data.scales.get(cell.chain.metric), cell.chain.metric
        if scale != cell.scale:
            yield f"the scale of '{metric}' {'is not there' if scale is None else f'is {scale.describe()}'}"
        yield from other_rubric(metric, cell.rubric, asked)
    yield from other_labels(held.data, source.data)


def _differences(held: CascadeCertificate, source: Recording, asked: JudgedRun | None) -> Iterator[str]:
    """What comes out differently when the certificate is made again; prices, which move no threshold, are not compared."""
    options = held.options
    try:
        compare = options.compare(held.judges)
        found = accept_cascade(source, compare, options.accept, options.units, order="named")
        again = certify_cascade(found, source, compare, options.accept, asked)
    except UsageError as err:
        yield f"the certificate cannot be made again: {err}"
        return
    ours, theirs = ({cell.place: cell for cell in each.cells} for each in (again, held))
    for name in dict.fromkeys((*theirs, *ours)):
        if name not in ours or name not in theirs:
            yield f"{name} is in {'the certificate' if name in theirs else 'the source'} only"
        elif apart := different_values(_values(theirs[name].chain), _values(ours[name].chain), _OF_PRICES):
            yield f"{name} differs when it is made again: {apart}"
    if apart := different_values(_bare(held, asked), _bare(again, asked)):
        yield f"it differs when it is made again: {apart}"
    if signed(held.signature) != signed(again.signature):
        yield "the signature is not that of the numbers"


def _values(chain: msgspec.Struct) -> dict[str, object]:
    """A chain whose steps have no prices."""
    value: dict[str, Any] = msgspec.to_builtins(chain)
    return value | {"steps": [{name: part for name, part in step.items() if name not in _OF_PRICES} for step in value["steps"]]}


def _bare(held: CascadeCertificate, asked: JudgedRun | None) -> dict[str, object]:
    """What is not compared by a sentence of its own; without what was asked, which judgments alone do not show."""
    steps = [msgspec.structs.replace(step, prompt=None, judge=msgspec.structs.replace(step.judge, settings=None)) for step in held.steps]
    rubrics = {cell.place: cell.rubric for cell in held.cells if asked is not None}
    parts = {"steps": steps if asked is None else held.steps, "data": held.data, "options": held.options, "rubrics": rubrics}
    found: dict[str, object] = msgspec.to_builtins(parts)
    return found
