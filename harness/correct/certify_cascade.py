"""Makes certificates of cascades, and says when one is stale."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version

import msgspec

from harness.correct.acceptance import AcceptOptions
from harness.correct.cascade import AcceptedCascades, accept_cascade
from harness.correct.cascade_certificate import SCHEMA_VERSION, CascadeCertificate, CascadeOptions, CertifiedChain, CertifiedStep
from harness.correct.certificate import judge_problems
from harness.correct.certify import JudgedRun, certified_data, certified_judge
from harness.correct.scored_items import judged_rows
from harness.correct.stale_certificate import different_values, other_condition, other_labels, other_rubric, other_scores
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
    return CascadeCertificate(
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


def _step(condition: JudgeCondition, source: Recording, asked: JudgedRun | None) -> CertifiedStep:
    return CertifiedStep(
        judge=certified_judge(source, condition, asked),
        repeats=max(1, len(judged_rows(source, condition).repeat.used)),
        prompt=asked.prompt(condition.variant) if asked else None,
    )


def cascade_staleness(held: CascadeCertificate, source: Recording, asked: JudgedRun | None = None) -> tuple[str, ...]:
    """Why the certificate of a cascade does not hold for the run or data that it is of; empty if it holds.

    It holds if judges, conditions, prompts, rubrics, scales, labels and scores are as certified, and if the same chain comes out again.
    """
    changed = tuple(dict.fromkeys(_changes(held, source, asked)))
    return changed or tuple(_differences(held, source))


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


def _differences(held: CascadeCertificate, source: Recording) -> Iterator[str]:
    """What comes out differently when the chain is found again; prices, which move no threshold, are not compared."""
    options = held.options
    try:
        again = accept_cascade(source, options.compare(held.judges), options.accept, options.units, order="named")
    except UsageError as err:
        yield f"the certificate cannot be made again: {err}"
        return
    ours = {(each.language, each.metric): each for each in again.cascades}
    theirs = {(cell.chain.language, cell.chain.metric): cell.chain for cell in held.cells}
    for place in dict.fromkeys((*theirs, *ours)):
        name = "/".join(place)
        if place not in ours or place not in theirs:
            yield f"{name} is in {'the certificate' if place in theirs else 'the source'} only"
        elif apart := different_values(_values(theirs[place]), _values(ours[place])):
            yield f"{name} differs when it is made again: {apart}"


def _values(chain: msgspec.Struct) -> object:
    """Without prices."""
    value = msgspec.to_builtins(chain)
    value["steps"] = [{name: part for name, part in step.items() if name not in _OF_PRICES} for step in value["steps"]]
    return {name: part for name, part in value.items() if name not in _OF_PRICES}
