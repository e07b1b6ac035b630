"""Makes certificates of cascades, and says when one is stale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import version

import msgspec

from harness.correction.answer_prices import STATED, AnswerPrice
from harness.correction.cascade import AcceptedCascades, AcceptedStep, accept_cascade
from harness.correction.cascade_certificate import (
    SCHEMA_VERSION,
    CascadeCertificate,
    CascadeOptions,
    CertifiedChain,
    CertifiedErrors,
    CertifiedStep,
)
from harness.correction.cell_results import judged_rows
from harness.correction.certificate import judge_problems
from harness.correction.certificate_file import CHANGED
from harness.correction.certify import JudgedRun, certified_data, certified_judge
from harness.correction.options import AcceptOptions
from harness.correction.stale_certificate import (
    comparable_signature,
    condition_changes,
    different_values,
    label_changes,
    rubric_changes,
    score_changes,
)
from harness.errors import UsageError
from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions


def certify_cascade(
    accepted: AcceptedCascades,
    source: Recording,
    compare: MeasureOptions,
    options: AcceptOptions = AcceptOptions(),
    judged_run: JudgedRun | None = None,
) -> CascadeCertificate:
    """Return the certificate of what `accept_cascade` accepted, with the same arguments.

    `judged_run` says how a run asked; None for recorded judgments.
    """
    steps = tuple(
        CertifiedStep(
            judge=certified_judge(source, step.condition, judged_run),
            repeats=max(1, len(judged_rows(source, step.condition).repeat.used)),
            prompt=judged_run.prompt(step.condition.judge, step.condition.variant) if judged_run else None,
        )
        for step in accepted.cascades[0].steps
    )
    certificate = CascadeCertificate(
        kind="cascade",
        schema_version=SCHEMA_VERSION,
        harness=version("judge-harness"),
        steps=steps,
        data=certified_data(source.data),
        options=CascadeOptions.of(compare, accept=CertifiedErrors.of(options), units=accepted.units),
        signature=accepted.signature,
        cells=tuple(
            CertifiedChain(
                scale=source.data.scales[chain.metric], rubric=judged_run.rubric(chain.metric) if judged_run else None, chain=chain
            )
            for chain in accepted.cascades
        ),
    )
    return certificate.sealed()


def cascade_staleness(certificate: CascadeCertificate, source: Recording, judged_run: JudgedRun | None = None) -> tuple[str, ...]:
    """Return the reasons why a cascade's certificate does not hold for the run or data that it is of; empty if nothing was found.

    It holds if judges, conditions, prompts, rubrics, scales, labels and scores are as certified, and if the same certificate comes out
    again at the prices of its judges, in all that can be made again from this source (`cascade_not_made_again`).
    """
    changed = tuple(dict.fromkeys(_list_changes(certificate, source, judged_run))) or tuple(
        _list_differences(certificate, source, judged_run)
    )
    return (*changed, *(() if certificate.is_sealed else (CHANGED,)))


def cascade_not_made_again(
    certificate: CascadeCertificate, judged_run: JudgedRun | None, prices: Mapping[str, AnswerPrice] | None = None
) -> tuple[str, ...]:
    """Return what the certificate states and this source cannot show: other prices, and settings of runs where there are judgments alone.

    `prices` are those of the source by list, or as its run was charged. A price that a user stated is nowhere else.
    """
    run_settings = {
        "prompts": any(step.prompt is not None for step in certificate.steps),
        "rubrics": any(cell.rubric is not None for cell in certificate.cells),
        "settings of the judges": any(step.judge.settings is not None for step in certificate.steps),
    }
    not_made_again = [name for name, is_stated in run_settings.items() if is_stated and judged_run is None]
    for judge, step in _priced_steps(certificate).items():
        price = (prices or {}).get(judge)
        is_same = price is not None and step.price_from == price.source and not different_values(step.price, price.dollars)
        if step.price_from not in (None, STATED) and not is_same:
            current = f"{price.dollars:.6g}, {price.source}" if price else "unknown"
            stated = f"{step.price:.6g} dollars, {step.price_from}"
            not_made_again.append(f"the price of {judge} ({stated}; here: {current}; --prices FILE names your own)")
    return tuple(not_made_again)


def _priced_steps(certificate: CascadeCertificate) -> dict[str, AcceptedStep]:
    """Return the steps of the first chain that have a price, by judge; prices are the same in every chain."""
    return {step.judge: step for cell in certificate.cells[:1] for step in cell.chain.steps if step.price is not None}


def _list_changes(certificate: CascadeCertificate, source: Recording, judged_run: JudgedRun | None) -> Iterator[str]:
    for step in certificate.steps:
        judge = step.judge
        yield from tuple(condition_changes(judge, source)) or score_changes(judge, source)
        identity = judged_run.identity(judge.name) if judged_run else None
        yield from judge_problems(judge, identity or judge.name)
        if judged_run and step.prompt is not None and (prompt := judged_run.prompt(judge.name, judge.variant)) != step.prompt:
            yield f"the prompts of {judge.name} have changed: {prompt}, in the certificate {step.prompt}"
    for cell in certificate.cells:
        scale, metric = source.data.scales.get(cell.chain.metric), cell.chain.metric
        if scale != cell.scale:
            yield f"the scale of '{metric}' {'is not there' if scale is None else f'is {scale.describe()}'}"
        yield from rubric_changes(metric, cell.rubric, judged_run)
    yield from label_changes(certificate.data, source.data)


def _list_differences(certificate: CascadeCertificate, source: Recording, judged_run: JudgedRun | None) -> Iterator[str]:
    """Make the certificate again at the prices that it states of its judges, and yield what differs."""
    options = certificate.options
    prices = {
        judge: AnswerPrice(step.price, step.price_from)
        for judge, step in _priced_steps(certificate).items()
        if step.price is not None and step.price_from is not None
    }
    try:
        compare = options.compare(certificate.judges)
        accepted = accept_cascade(source, compare, options.accept.options, options.units, lambda chain: prices, order="named")
        remade = certify_cascade(accepted, source, compare, options.accept.options, judged_run)
    except UsageError as err:
        yield f"the certificate cannot be made again: {err}"
        return
    chains, remade_chains = ({cell.name: cell.chain for cell in compared.cells} for compared in (certificate, remade))
    for name in dict.fromkeys((*chains, *remade_chains)):
        if name not in remade_chains or name not in chains:
            yield f"{name} is in {'the certificate' if name in chains else 'the source'} only"
        elif differing := different_values(msgspec.to_builtins(chains[name]), msgspec.to_builtins(remade_chains[name])):
            yield f"{name} differs when it is made again: {differing}"
    if differing := different_values(_comparable_values(certificate, judged_run), _comparable_values(remade, judged_run)):
        yield f"it differs when it is made again: {differing}"
    if comparable_signature(certificate.signature) != comparable_signature(remade.signature):
        yield "the signature is not that of the numbers"


def _comparable_values(certificate: CascadeCertificate, judged_run: JudgedRun | None) -> dict[str, object]:
    """Return what no sentence of its own compares; without settings of runs where there are judgments alone, which do not show them."""
    steps, cells = certificate.steps, certificate.cells
    if judged_run is None:
        unknown = [msgspec.structs.replace(step.judge, settings=None) for step in steps]
        steps = tuple(msgspec.structs.replace(step, prompt=None, judge=judge) for step, judge in zip(steps, unknown, strict=True))
        cells = ()
    rubrics = {cell.name: cell.rubric for cell in cells}
    values: dict[str, object] = msgspec.to_builtins(
        {"steps": steps, "data": certificate.data, "options": certificate.options, "rubrics": rubrics}
    )
    return values
