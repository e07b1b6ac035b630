"""Commands that use a judge's scores: correct, accept, calibrate, probabilities, certify, prompt-hash, explain."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from harness.cli.arguments import check_figure, decision_options, given_fields
from harness.cli.commands.use_scores import Accept, Calibrate, Certify, Correct, Explain, Probabilities, PromptHash
from harness.cli.endings import print_result
from harness.cli.judged import asked_source, compare_options, judged_run, key_and_value, opened_source
from harness.cli.streams import print_json
from harness.errors import UsageError
from harness.exit_codes import GATE_FAILED, GATE_INCONCLUSIVE, NOTHING_ALLOWED, STALE, UNCONFIRMED
from harness.render.progress import working
from harness.row_files import to_json, write_atomic

if TYPE_CHECKING:
    from harness.correction.acceptance import AcceptOptions


def correct(arguments: Correct) -> int:
    from harness.correction import correct
    from harness.correction.correct import CorrectOptions

    versus = key_and_value(arguments.versus, "--versus system=NAME") if arguments.versus else None
    options = CorrectOptions(**given_fields(arguments, CorrectOptions) | {"versus": versus, "borrow": arguments.borrow == "languages"})
    check_figure(arguments.figure)
    with working("correcting"):
        corrected = correct.correct([opened_source(arguments).recording], compare_options(arguments), options)
    if arguments.figure:
        from harness.render.figures import draw_corrected

        draw_corrected(corrected, arguments.figure)
    from harness.render.certificate import render_corrected

    return print_result(corrected, render_corrected, as_json=arguments.json)


def accept(arguments: Accept) -> int:
    from harness.correction import acceptance
    from harness.correction.acceptance import AcceptOptions

    options = AcceptOptions(arguments.alpha_risk, arguments.delta, arguments.confidence, arguments.sampling)
    if arguments.cascade:
        return _cascade(arguments, options)
    if given := [flag for flag in ("units", "price", "prices", "order", "to") if getattr(arguments, flag)]:
        raise UsageError(f"--{given[0]} is of a cascade; pass --cascade too")
    with working("testing thresholds"):
        found = acceptance.accept([opened_source(arguments).recording], compare_options(arguments), options)
    from harness.render.certificate import render_acceptance

    return print_result(found, render_acceptance, as_json=arguments.json)


def _cascade(arguments: Any, options: AcceptOptions) -> int:
    from harness.correction.answer_prices import answer_prices
    from harness.correction.cascade import accept_cascade
    from harness.correction.certify_cascade import certify_cascade

    with working("testing thresholds"):
        opened = opened_source(arguments)
        source = opened.recording
        pricing = partial(answer_prices, source, run=opened.run, stated=dict(arguments.price), own=arguments.prices)
        chosen: dict[str, Any] = {name: value for name in ("units", "order") if (value := getattr(arguments, name))}
        compare = compare_options(arguments)
        found = accept_cascade(source, compare, options, pricing=pricing, **chosen)
    if arguments.to:
        write_atomic(arguments.to, to_json(certify_cascade(found, source, compare, options, judged_run(opened.run))))
    from harness.render.improvement import render_cascades

    print_result(found, render_cascades, as_json=arguments.json)
    if arguments.to and not arguments.json:
        print(f"certificate: {arguments.to}", file=sys.stderr)
    return 0 if not arguments.to or any(each.risk is not None for each in found.cascades) else NOTHING_ALLOWED


def calibrate(arguments: Calibrate) -> int:
    from harness.correction.calibrate import CalibrateOptions
    from harness.correction.calibrate import calibrate as calibrate_scores
    from harness.correction.label_sets import SetOptions

    sets, length = SetOptions(**given_fields(arguments, SetOptions)), arguments.covariate == "length"
    options = CalibrateOptions(sets, arguments.numbers, length, arguments.seed)
    compare = compare_options(arguments, seed=arguments.seed)
    with working("calibrating"):
        found = calibrate_scores(opened_source(arguments).recording, compare, options)
    from harness.render.certificate import render_calibrated

    return print_result(found, render_calibrated, as_json=arguments.json)


def probabilities(arguments: Probabilities) -> int:
    from harness import sources
    from harness.cli.table import table_of_sources
    from harness.correction.probabilities import NO_PROBABILITIES
    from harness.correction.probabilities import probabilities as believe
    from harness.correction.probability_rule import ProbabilityOptions

    check_figure(arguments.figure)
    options = ProbabilityOptions(margin=arguments.margin, alpha=arguments.alpha, seed=arguments.seed)
    compare = compare_options(arguments, seed=arguments.seed)
    table = table_of_sources(arguments)
    if table is not None:  # --judge named its columns
        compare = msgspec.structs.replace(compare, judges=None)
    with working("measuring probabilities"):
        opened = sources.open_sources(arguments.sources, arguments.card, arguments.out) if table is None else [table.source]
        measured = believe([source.recording for source in opened], compare, options)
    if not measured.cells:
        raise UsageError(f"no answer about a labelled text has a probability: {NO_PROBABILITIES}")
    from harness.render.probabilities import draw_probabilities, render_probabilities

    if arguments.figure:
        draw_probabilities(measured, arguments.figure, arguments.figure_width, arguments.figure_names)
    return print_result(measured, render_probabilities, as_json=arguments.json)


def certify(arguments: Certify) -> int:
    if arguments.probe and not arguments.check:
        raise UsageError("--probe names what a certificate was extended by, to check it; pass --check FILE too")
    if arguments.prices and not arguments.check:
        raise UsageError("--prices is of the prices in a cascade's certificate, to check it; pass --check FILE too")
    if arguments.extend and not arguments.check:
        return _extend(arguments)
    if arguments.by or arguments.from_language:
        raise UsageError("--by and --from say what a certificate is extended to; pass --extend FILE too")
    if bool(arguments.to) == bool(arguments.check) or arguments.extend:
        raise UsageError("pass --to FILE to write a certificate, --check FILE to check one, or --extend FILE to extend one")
    if arguments.check:
        return _check(arguments)
    if arguments.source is None:
        raise UsageError("name a run or a data folder: harness certify RUN_OR_DIR --to FILE")
    from harness.correction.acceptance import AcceptOptions
    from harness.correction.calibrate import CalibrateOptions
    from harness.correction.certify import certify as make
    from harness.correction.label_sets import SetOptions

    accepting = AcceptOptions(arguments.alpha_risk, arguments.delta, arguments.confidence)
    sets = SetOptions(arguments.level, arguments.per, arguments.this_draw)
    maps = CalibrateOptions(sets, length=arguments.covariate == "length")
    with working("certifying"):
        recording, asked = asked_source(arguments)
        made = make(recording, compare_options(arguments), decision_options(arguments.settings, arguments.bar), accepting, asked, maps)
    text = to_json(made)
    assert arguments.to is not None  # checked before
    write_atomic(arguments.to, text)
    if arguments.json:
        sys.stdout.write(text)
    else:
        from harness.render.certificate import print_certificate

        print_certificate(made, str(arguments.to))
    return 0 if made.allowed else NOTHING_ALLOWED


def _extend(arguments: Any) -> int:
    if arguments.source is None:
        raise UsageError("name the run or data folder with the labelled probe: harness certify --extend FILE RUN_OR_DIR")
    from datetime import UTC, datetime

    from harness.content.tags import canonical
    from harness.correction import certificate
    from harness.correction.extension import ExtendOptions, extend, with_extensions
    from harness.render.certificate import print_extension

    thresholds = decision_options(arguments.settings, arguments.bar)
    from_language = canonical(arguments.from_language) if arguments.from_language else None
    options = ExtendOptions(arguments.by or (), from_language, thresholds.margin, thresholds.alpha)
    held = certificate.load(arguments.extend)
    with working("testing other texts"):
        recording, asked = asked_source(arguments)
        found = extend(held, recording, compare_options(arguments), options, asked)
    extended = with_extensions(held, found, datetime.now(UTC).date())
    path = arguments.to or arguments.extend
    if written := extended != held or arguments.to is not None:
        write_atomic(path, to_json(extended))
    if arguments.json:
        sys.stdout.write(to_json(found.as_json()))
    else:
        print_extension(found, str(path) if written else None)
    return {"extended": 0, "refused": GATE_FAILED, "more labels": GATE_INCONCLUSIVE}[found.outcome]


def _check(arguments: Any) -> int:
    from harness import sources
    from harness.correction import certificate
    from harness.correction.certificate_check import Probe, check_certificate
    from harness.render.certificate import print_check
    from harness.watch.watching import record_beside

    if certificate.kind_of(arguments.check) == "cascade":
        return _check_cascade(arguments)
    if arguments.prices:
        raise UsageError("--prices is of the prices in a cascade's certificate, and this one is of a judge, which has none")
    held = certificate.read(arguments.check)
    watch = record_beside(arguments.check) if held.watch else None
    with working("making it again"):
        recording, asked = asked_source(arguments) if arguments.source is not None else (None, None)
        opened = sources.open_sources(arguments.probe or (), None, arguments.out)
        probes = [Probe(each.recording, judged_run(each.run)) for each in opened]
        found = check_certificate(held, recording, asked, watch=watch, probes=probes)
    if arguments.json:
        allowed = [{"language": cell.language, "metric": cell.metric, "verdict": cell.verdict} for cell in found.allowed]
        parts = {"stale": found.stale, "not_made_again": found.not_made_again, "unchecked": found.unchecked, "allowed": allowed}
        sys.stdout.write(to_json({"schema_version": 1, "judge": held.judge.name, **parts}))
    else:
        print_check(held, found)
    return _checked(found.stale, found.not_made_again, found.allowed)


def _checked(stale: Sequence[str], not_made_again: Sequence[str], allowed: Sequence[object]) -> int:
    """The exit code of a check: a certificate holds where all of it was made again and is the same, and where it allows something."""
    return STALE if stale else UNCONFIRMED if not_made_again else 0 if allowed else NOTHING_ALLOWED


def _check_cascade(arguments: Any) -> int:
    from harness.correction.answer_prices import answer_prices
    from harness.correction.cascade_certificate import read
    from harness.correction.certify_cascade import cascade_not_made_again, cascade_staleness

    held = read(arguments.check)
    if arguments.probe:
        raise UsageError("--probe is of a judge's certificate that was extended; the certificate of a cascade has no extensions")
    if arguments.source is None:
        raise UsageError("name the run or data folder that the cascade is of: harness certify --check FILE RUN_OR_DIR")
    with working("making it again"):
        opened = opened_source(arguments)
        source, asked = opened.recording, judged_run(opened.run)
        stale = cascade_staleness(held, source, asked)
        conditions = [step.judge.condition for step in held.steps]
        prices = {} if stale else answer_prices(source, conditions, opened.run, {}, arguments.prices)
        absent = cascade_not_made_again(held, asked, prices)
    certified = [(cell.chain.language, cell.chain.metric) for cell in held.cells if cell.chain.upper is not None]
    allowed = [] if stale or absent else certified
    if arguments.json:
        places = [{"language": language, "metric": metric} for language, metric in allowed]
        sys.stdout.write(to_json({"stale": stale, "not_made_again": absent, "allowed": places, "only_if": held.only_if}))
    else:
        from harness.render.improvement import print_cascade_check

        print_cascade_check(held.judges, stale, absent, allowed, held.only_if)
    return _checked(stale, absent, allowed)


def prompt_hash(arguments: PromptHash) -> int:
    import msgspec

    from harness import sources
    from harness.cli.text_columns import print_columns
    from harness.text import one_line

    if sources.is_data_folder(arguments.source):
        raise UsageError(
            f"{arguments.source} is a data folder, of whose judge no prompt is known, so its certificate states no hash and asks for none; "
            "name a run: harness prompt-hash RUN ('harness runs' lists them)"
        )
    opened = sources.open_sources([arguments.source], None, arguments.out)[0]
    asked = judged_run(opened.run)
    assert asked is not None  # all that is no data folder is a run
    hashes = asked.hashes(opened.recording.judgments)
    if arguments.json:
        return print_json({"schema_version": 1, "run": opened.recording.name, "hashes": hashes})
    rows = [[str(value or "–") for value in msgspec.structs.astuple(each)] for each in hashes]
    print_columns([["judge", "variant", "metric", "prompt", "rubric"], *([one_line(text) for text in row] for row in rows)])
    return 0


def explain(arguments: Explain) -> int:
    from harness.improvement.explain import ExplainOptions
    from harness.improvement.explain import explain as explain_errors

    compare = compare_options(arguments)
    with working("explaining errors"):
        found = explain_errors(opened_source(arguments).recording, compare, ExplainOptions(arguments.by))
    from harness.render.improvement import render_explained

    return print_result(found, lambda found: render_explained(found, all_rows=arguments.all), as_json=arguments.json)
