"""Makes certificates of cascades, and says when one is stale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import version

import msgspec

from harness.correction.acceptance import AcceptOptions
from harness.correction.answer_prices import STATED, AnswerPrice
from harness.correction.cascade import AcceptedCascades, AcceptedStep, accept_cascade
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
        prompt=asked.prompt(condition.judge, condition.variant) if asked else None,
    )


def cascade_staleness(held: CascadeCertificate, source: Recording, asked: JudgedRun | None = None) -> tuple[str, ...]:
    """Why the certificate of a cascade does not hold for the run or data that it is of; empty if nothing against it was found.

    It holds if judges, conditions, prompts, rubrics, scales, labels and scores are as certified, and if the same certificate comes out
    again at the prices of its judges, in all that can be made again from this source (`cascade_not_made_again`).
    """
    changed = tuple(dict.fromkeys(_changes(held, source, asked))) or tuple(_differences(held, source, asked))
    return (*changed, *(() if held.is_sealed else (CHANGED,)))


def cascade_not_made_again(
    held: CascadeCertificate, asked: JudgedRun | None, prices: Mapping[str, AnswerPrice] | None = None
) -> tuple[str, ...]:
    """What the certificate states of how runs asked, where judgments alone are there, which do not show it, and other prices than `prices`.

    `prices` are those of the source by list, or as its run was charged. A price that a user stated is nowhere else.
    """
    found = [] if asked is not None else [*_unshown(held)]
    for judge, step in _priced(held).items():
        now = (prices or {}).get(judge)
        same = now is not None and step.price_from == now.source and not different_values(step.price, now.dollars)
        if step.price_from not in (None, STATED) and not same:
            here = f"{now.dollars:.6g}, {now.source}" if now else "unknown"
            stated = f"{step.price:.6g} dollars, {step.price_from}"
            found.append(f"the price of {judge} ({stated}; here: {here}; --prices FILE names your own)")
    return tuple(found)


def _unshown(held: CascadeCertificate) -> Iterator[str]:
    stated = {
        "prompts": any(step.prompt is not None for step in held.steps),
        "rubrics": any(cell.rubric is not None for cell in held.cells),
        "settings of the judges": any(step.judge.settings is not None for step in held.steps),
    }
    yield from (name for name, is_stated in stated.items() if is_stated)


def _priced(held: CascadeCertificate) -> dict[str, AcceptedStep]:
    """The steps of the first chain, by judge, that have a price; prices are the same in every chain."""
    return {step.judge: step for cell in held.cells[:1] for step in cell.chain.steps if step.price is not None}


def _changes(held: CascadeCertificate, source: Recording, asked: JudgedRun | None) -> Iterator[str]:
    for step in held.steps:
        judge = step.judge
        yield from tuple(other_condition(judge, source)) or other_scores(judge, source)
        identity = asked.identity(judge.name) if asked else None
        yield from judge_problems(judge, identity or judge.name)
        if asked and step.prompt is not None and asked.prompt(judge.name, judge.variant) != step.prompt:
            yield f"the prompts of {judge.name} have changed: {asked.prompt(judge.name, judge.variant)}, in the certificate {step.prompt}"
    for cell in held.cells:
        scale, metric = source.data.scales.get(cell.chain.metric), cell.chain.metric
        if scale != cell.scale:
            yield f"the scale of '{metric}' {'is not there' if scale is None else f'is {scale.describe()}'}"
        yield from other_rubric(metric, cell.rubric, asked)
    yield from other_labels(held.data, source.data)


def _differences(held: CascadeCertificate, source: Recording, asked: JudgedRun | None) -> Iterator[str]:
    """What comes out differently when the certificate is made again, at the prices that it states of its judges."""
    options = held.options
    prices = {
        judge: AnswerPrice(step.price, step.price_from)
        for judge, step in _priced(held).items()
        if step.price is not None and step.price_from is not None
    }
    try:
        compare = options.compare(held.judges)
        found = accept_cascade(source, compare, options.accept, options.units, lambda chain: prices, order="named")
        again = certify_cascade(found, source, compare, options.accept, asked)
    except UsageError as err:
        yield f"the certificate cannot be made again: {err}"
        return
    ours, theirs = ({cell.place: cell for cell in each.cells} for each in (again, held))
    for name in dict.fromkeys((*theirs, *ours)):
        if name not in ours or name not in theirs:
            yield f"{name} is in {'the certificate' if name in theirs else 'the source'} only"
        elif apart := different_values(msgspec.to_builtins(theirs[name].chain), msgspec.to_builtins(ours[name].chain)):
            yield f"{name} differs when it is made again: {apart}"
    if apart := different_values(_bare(held, asked), _bare(again, asked)):
        yield f"it differs when it is made again: {apart}"
    if signed(held.signature) != signed(again.signature):
        yield "the signature is not that of the numbers"


def _bare(held: CascadeCertificate, asked: JudgedRun | None) -> dict[str, object]:
    """What is not compared by a sentence of its own; without what was asked, which judgments alone do not show."""
    steps = [msgspec.structs.replace(step, prompt=None, judge=msgspec.structs.replace(step.judge, settings=None)) for step in held.steps]
    rubrics = {cell.place: cell.rubric for cell in held.cells if asked is not None}
    parts = {"steps": steps if asked is None else held.steps, "data": held.data, "options": held.options, "rubrics": rubrics}
    found: dict[str, object] = msgspec.to_builtins(parts)
    return found
