"""Commands that use a judge's scores: improve, explain, correct, accept, calibrate, probabilities, certify, prompt-hash."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from harness import api, sources
from harness.cli.arguments import asked_source, check_figure, judged_run, opened_source
from harness.cli.command import value_of
from harness.cli.commands.use_scores import Accept, Calibrate, Certify, Correct, Explain, Improve, PromptHash, ShowProbabilities
from harness.cli.output import print_result
from harness.cli.streams import print_json
from harness.content.tags import choose_from
from harness.errors import GATE_FAILED, GATE_INCONCLUSIVE, NOTHING_ALLOWED, STALE, UNCONFIRMED, HarnessError, UsageError
from harness.measure.options import MeasureOptions
from harness.options import part_of
from harness.render.terminal import print_lines, working
from harness.row_files import to_json, write_atomic

if TYPE_CHECKING:
    from harness.improvement.ask_candidates import Asking


def correct(arguments: Correct) -> int:
    from harness.correction import correct

    check_figure(arguments.figure)
    with working("correcting"):
        corrected = correct.correct([opened_source(arguments).recording], part_of(arguments.options, MeasureOptions), arguments.options)
    if arguments.figure:
        from harness.render.figures import draw_corrected

        draw_corrected(corrected, arguments.figure)
    from harness.render.decisions import render_corrected

    return print_result(corrected, render_corrected, as_json=arguments.json)


def accept(arguments: Accept) -> int:
    from harness.correction import acceptance

    if arguments.cascade:
        return _certify_cascade(arguments)
    if cascade_flags := [flag for flag in ("units", "price", "prices", "order", "to") if value_of(arguments, flag)]:
        raise UsageError(f"--{cascade_flags[0]} is of a cascade; pass --cascade too")
    with working("testing thresholds"):
        accepted = acceptance.accept([opened_source(arguments).recording], part_of(arguments.options, MeasureOptions), arguments.options)
    from harness.render.decisions import render_acceptance

    return print_result(accepted, render_acceptance, as_json=arguments.json)


def _certify_cascade(arguments: Accept) -> int:
    from harness.correction.cascade import accept_cascade, answer_prices
    from harness.correction.cascade_certificate import certify_cascade

    options, compare = arguments.options, part_of(arguments.options, MeasureOptions)
    with working("testing thresholds"):
        opened = opened_source(arguments)
        source = opened.recording
        pricing = partial(answer_prices, source, run=opened.run, stated=dict(arguments.price), price_file=arguments.pricing.prices)
        chosen: dict[str, Any] = {name: value for name in ("units", "order") if (value := getattr(arguments, name))}
        cascades = accept_cascade(source, compare, options, pricing=pricing, **chosen)
    if arguments.to:
        write_atomic(arguments.to, to_json(certify_cascade(cascades, source, compare, options, judged_run(opened.run))))
    from harness.render.improvement import render_cascades

    print_result(cascades, render_cascades, as_json=arguments.json)
    if arguments.to and not arguments.json:
        print(f"certificate: {arguments.to}", file=sys.stderr)
    return 0 if not arguments.to or any(cascade.risk is not None for cascade in cascades.cascades) else NOTHING_ALLOWED


def calibrate(arguments: Calibrate) -> int:
    from harness.correction.calibrate import calibrate as calibrate_scores

    options = arguments.options
    with working("calibrating"):
        recording = opened_source(arguments).recording
        calibrated = calibrate_scores(recording, part_of(options, MeasureOptions, seed=options.seed), options)
    from harness.render.decisions import render_calibrated

    render = partial(render_calibrated, all_numbers=arguments.all)
    return print_result(calibrated, render, as_json=arguments.json, more="--all")


def probabilities(arguments: ShowProbabilities) -> int:
    from harness import sources
    from harness.cli.arguments import table_of_sources
    from harness.correction.probabilities import NO_PROBABILITIES
    from harness.correction.probabilities import probabilities as measure_probabilities

    check_figure(arguments.figure)
    table, options = table_of_sources(arguments.sources, arguments.options, arguments.table, arguments.to)
    with working("measuring probabilities"):
        opened = sources.open_sources(arguments.sources, options.card, arguments.out) if table is None else [table.source]
        compare = part_of(options, MeasureOptions, seed=options.seed)
        measured = measure_probabilities([source.recording for source in opened], compare, options)
    if not measured.cells:
        raise UsageError(f"no answer about a labelled text has a probability: {NO_PROBABILITIES}")
    from harness.render.decisions import draw_probabilities, render_probabilities

    if arguments.figure:
        draw_probabilities(measured, arguments.figure, arguments.figure_width, arguments.figure_names)
    return print_result(measured, partial(render_probabilities, all_numbers=arguments.all), as_json=arguments.json, more="--all")


def certify(arguments: Certify) -> int:
    if arguments.probe and not arguments.check:
        raise UsageError("--probe names what a certificate was extended by, to check it; pass --check FILE too")
    if arguments.pricing.prices and not arguments.check:
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
    from harness.correction.certify import certify_by_options

    with working("certifying"):
        recording, judged = asked_source(arguments)
        certificate = certify_by_options(recording, arguments.options, judged)
    text = to_json(certificate)
    assert arguments.to is not None  # checked before
    write_atomic(arguments.to, text)
    if arguments.json:
        sys.stdout.write(text)
    else:
        from harness.render.decisions import print_certificate

        print_certificate(certificate, str(arguments.to))
    return 0 if certificate.allowed else NOTHING_ALLOWED


def _extend(arguments: Any) -> int:
    if arguments.source is None:
        raise UsageError("name the run or data folder with the labelled probe: harness certify --extend FILE RUN_OR_DIR")
    from datetime import UTC, datetime

    from harness.content.tags import tag_of_words
    from harness.correction import certificate
    from harness.correction.extension import ExtendOptions, extend, with_extensions
    from harness.render.decisions import print_extension

    thresholds = arguments.options
    from_language = tag_of_words(arguments.from_language) if arguments.from_language else None
    options = ExtendOptions(arguments.by or (), from_language, thresholds.margin, thresholds.alpha)
    certified = certificate.load(arguments.extend)
    with working("testing other texts"):
        recording, judged = asked_source(arguments)
        extension = extend(certified, recording, part_of(arguments.options, MeasureOptions), options, judged)
    extended = with_extensions(certified, extension, datetime.now(UTC).date())
    path = arguments.to or arguments.extend
    if written := extended != certified or arguments.to is not None:
        write_atomic(path, to_json(extended))
    if arguments.json:
        sys.stdout.write(to_json(extension.as_json()))
    else:
        print_extension(extension, str(path) if written else None)
    return {"extended": 0, "refused": GATE_FAILED, "more labels": GATE_INCONCLUSIVE}[extension.outcome]


def _check(arguments: Any) -> int:
    from harness import sources
    from harness.correction import certificate
    from harness.correction.extension import Probe, check_certificate
    from harness.render.decisions import print_check
    from harness.watch.watch_folder import record_beside

    if certificate.kind_of(arguments.check) == "cascade":
        return _check_cascade(arguments)
    if arguments.pricing.prices:
        raise UsageError("--prices is of the prices in a cascade's certificate, and this one is of a judge, which has none")
    certified = certificate.read(arguments.check)
    watch = record_beside(arguments.check) if certified.watch else None
    with working("making it again"):
        recording, judged = asked_source(arguments) if arguments.source is not None else (None, None)
        opened = sources.open_sources(arguments.probe or (), None, arguments.out)
        probes = [Probe(source.recording, judged_run(source.run)) for source in opened]
        checked = check_certificate(certified, recording, judged, watch=watch, probes=probes)
    if arguments.json:
        allowed = [{"language": cell.language, "metric": cell.metric, "verdict": cell.verdict} for cell in checked.allowed]
        parts = {"stale": checked.stale, "not_made_again": checked.not_made_again, "unchecked": checked.unchecked, "allowed": allowed}
        sys.stdout.write(to_json({"schema_version": 1, "judge": certified.judge.name, **parts}))
    else:
        print_check(certified, checked, str(arguments.check))
    return _decide_exit(checked.stale, checked.not_made_again, checked.allowed)


def _decide_exit(stale: Sequence[str], not_made_again: Sequence[str], allowed: Sequence[object]) -> int:
    """The exit code of a check: a certificate holds where all of it was made again and is the same, and where it allows something."""
    return STALE if stale else UNCONFIRMED if not_made_again else 0 if allowed else NOTHING_ALLOWED


def _check_cascade(arguments: Any) -> int:
    from harness.correction.cascade import answer_prices
    from harness.correction.cascade_certificate import cascade_not_made_again, cascade_staleness, read

    cascade = read(arguments.check)
    if arguments.probe:
        raise UsageError("--probe is of a judge's certificate that was extended; the certificate of a cascade has no extensions")
    if arguments.source is None:
        raise UsageError("name the run or data folder that the cascade is of: harness certify --check FILE RUN_OR_DIR")
    with working("making it again"):
        opened = opened_source(arguments)
        source, judged = opened.recording, judged_run(opened.run)
        stale = cascade_staleness(cascade, source, judged)
        conditions = [step.judge.condition for step in cascade.steps]
        prices = {} if stale else answer_prices(source, conditions, opened.run, {}, arguments.pricing.prices)
        absent = cascade_not_made_again(cascade, judged, prices)
    certified = [(cell.chain.language, cell.chain.metric) for cell in cascade.cells if cell.chain.upper is not None]
    allowed = [] if stale or absent else certified
    if arguments.json:
        cells = [{"language": language, "metric": metric} for language, metric in allowed]
        sys.stdout.write(to_json({"stale": stale, "not_made_again": absent, "allowed": cells, "only_if": cascade.only_if}))
    else:
        from harness.render.improvement import print_cascade_check

        print_cascade_check(cascade.judges, stale, absent, allowed, cascade.only_if)
    return _decide_exit(stale, absent, allowed)


def prompt_hash(arguments: PromptHash) -> int:
    from itertools import groupby

    import msgspec

    from harness import sources
    from harness.cli.output import print_columns
    from harness.text import one_line

    if sources.is_data_folder(arguments.source):
        raise UsageError(
            f"{arguments.source} is a data folder, of whose judge no prompt is known, so its certificate states no hash and asks for none; "
            "name a run: harness prompt-hash RUN ('harness runs' lists them)"
        )
    opened = sources.open_sources([arguments.source], None, arguments.out)[0]
    judged = judged_run(opened.run)
    assert judged is not None  # all that is no data folder is a run
    hashes = judged.hashes(opened.recording.judgments)
    if arguments.json:
        return print_json({"schema_version": 1, "run": opened.recording.name, "hashes": hashes})
    rows = [[one_line(str(value or "–")) for value in msgspec.structs.astuple(row)] for row in hashes]
    print_lines(["A program passes these hashes to a certificate with the scores of this run."])
    for (judge, variant), of_judge in groupby(rows, key=lambda row: (row[0], row[1])):
        print_lines(["", f"{judge}, {variant}"])
        print_columns([["metric", "prompt", "rubric"], *(row[2:] for row in of_judge)])
    return 0


def explain(arguments: Explain) -> int:
    from harness.improvement.explain import explain as explain_errors

    options = arguments.options
    with working("explaining errors"):
        explained = explain_errors(opened_source(arguments).recording, part_of(options, MeasureOptions), options)
    from harness.render.improvement import render_explained

    return print_result(explained, lambda explained: render_explained(explained, all_rows=arguments.all), as_json=arguments.json)


def improve(arguments: Improve) -> int:
    from harness.render.progress import TerminalWatcher
    from harness.render.terminal import working

    options = arguments.options
    if arguments.labels:  # rounds of labels are compared in place of choosing by one
        from harness.improvement.improve import compare_rounds, read_round
        from harness.render.improvement import render_rounds

        source = opened_source(arguments).recording
        rounds = [read_round(path, source.data) for path in arguments.labels]
        compared = compare_rounds(source, rounds, part_of(options, MeasureOptions), options)
        return print_result(compared, render_rounds, as_json=arguments.json)
    asking = _read_asking(arguments)
    options = options if asking is None else replace(options, judges=None)
    if arguments.dry_run:
        print(api.improvable(arguments.source, options, out=arguments.out, asking=asking))
        return 0
    watcher = TerminalWatcher(assume_yes=arguments.yes)
    with working("choosing and confirming") if asking is None else nullcontext():
        improved = api.improve(arguments.source, options, decision=arguments.decision, out=arguments.out, asking=asking, watcher=watcher)
    from harness.render.improvement import CALIBRATED, calibration_steps, render_improved

    not_written: Exception | None = None
    if arguments.to:
        from harness.cli.spec_file import write_spec

        settings = {language.language: language.setting for language in improved.languages}
        steps = calibration_steps(improved)
        notes = (CALIBRATED, *steps) if steps else ()
        try:
            write_spec(arguments.to, improved.flags["start"], improved.flags["chosen"], settings, notes)
        except (HarnessError, OSError) as err:  # the labels are spent, so that the choice is shown first
            not_written = err
    written = None if not_written else arguments.to
    code = print_result(improved, lambda improved: render_improved(improved, written), as_json=arguments.json)
    if not_written is not None:
        raise not_written
    return code


def _read_asking(arguments: Improve) -> Asking | None:
    """Who is asked; None where recorded answers are chosen from: of a run, and of a folder that has answers of all judges."""
    sources.refuse_table(arguments.source)
    settings = next((f"--{name}" for name in ("variant", "prompt", "rubric", "candidates") if getattr(arguments, name)), None)
    if not sources.is_data_folder(arguments.source):
        if settings:
            raise UsageError(f"{settings} names who is asked, and {arguments.source} is a run, whose answers are there; name a data folder")
        return None
    judges = arguments.options.judges or ()
    recorded = sources.recorded_judges(arguments.source, arguments.options.card)
    if settings is None and recorded and set(judges) <= set(recorded):
        return None
    if arguments.candidates is None:
        if not judges:
            without = "" if recorded else f"{arguments.source} has no recorded answers; "
            raise UsageError(f"{without}name who is asked: --judge openai/MODEL, repeatable")
        unknown = [judge for judge in judges if judge not in recorded]
        nameless = [judge for judge in unknown if "/" not in judge and ":" not in judge]
        if recorded and nameless:
            raise UsageError(
                f"{arguments.source} has no answers of '{nameless[0]}'; a judge that is asked has a kind, such as openai/{nameless[0]}."
                f"{choose_from(recorded, nameless[0])}"
            )
        if unknown and (recorded_judges := [judge for judge in judges if judge in recorded and "/" not in judge]):
            raise UsageError(
                f"'{recorded_judges[0]}' has recorded answers in {arguments.source}, and '{unknown[0]}' would be asked; "
                "candidates are either all recorded or all asked"
            )
    from harness.improvement.ask_candidates import Asking
    from harness.improvement.candidates import named_candidates, read_candidates
    from harness.runs import RunSpec

    candidates = read_candidates(arguments.candidates, judges) if arguments.candidates else ()
    variations = [getattr(arguments, name) or () for name in ("variant", "prompt", "rubric")]
    if any(variations):
        candidates += named_candidates(judges, *variations)
    chosen = {name: getattr(arguments, name) for name in ("allow_unreviewed", "limit", "content")}
    return Asking(judges, candidates, part_of(arguments.addresses, RunSpec, **chosen), arguments.asking)
