"""`harness improve`: choose among recorded answers, or ask candidates and choose among them."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness import api, sources
from harness.cli.commands.use_scores import Improve
from harness.cli.endings import print_result
from harness.cli.judged import opened_source
from harness.content.tags import choose_from
from harness.errors import HarnessError, UsageError
from harness.measure.options import MeasureOptions
from harness.options import part_of

if TYPE_CHECKING:
    from harness.improvement.asking import Asking


def improve(arguments: Improve) -> int:
    from harness.render.progress import TerminalWatcher
    from harness.render.terminal import working

    options = arguments.options
    if arguments.labels:
        return _compare_rounds(arguments)
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


def _compare_rounds(arguments: Improve) -> int:
    """Compare rounds of labels in place of choosing by one."""
    from harness.improvement.label_rounds import compare_rounds, read_round
    from harness.render.improvement import render_rounds

    source = opened_source(arguments).recording
    rounds = [read_round(path, source.data) for path in arguments.labels or ()]
    compared = compare_rounds(source, rounds, part_of(arguments.options, MeasureOptions), arguments.options)
    return print_result(compared, render_rounds, as_json=arguments.json)


def _read_asking(arguments: Improve) -> Asking | None:
    """Who is asked; None where recorded answers are chosen from: of a run, and of a folder that has answers of all judges."""
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
        _refuse_nobody(Path(arguments.source), judges, recorded)
    from harness.improvement.asking import Asking
    from harness.improvement.candidates import named_candidates, read_candidates
    from harness.runs import RunSpec

    candidates = read_candidates(arguments.candidates, judges) if arguments.candidates else ()
    variations = [getattr(arguments, name) or () for name in ("variant", "prompt", "rubric")]
    if any(variations):
        candidates += named_candidates(judges, *variations)
    chosen = {name: getattr(arguments, name) for name in ("allow_unreviewed", "limit", "content")}
    return Asking(judges, candidates, part_of(arguments.addresses, RunSpec, **chosen), arguments.asking)


def _refuse_nobody(source: Path, judges: tuple[str, ...], recorded: tuple[str, ...]) -> None:
    """Raise UsageError where nobody is named who can be asked, or a recorded judge among those that are asked."""
    if not judges:
        without = "" if recorded else f"{source} has no recorded answers; "
        raise UsageError(f"{without}name who is asked: --judge openai/MODEL, repeatable")
    unknown = [judge for judge in judges if judge not in recorded]
    nameless = [judge for judge in unknown if "/" not in judge and ":" not in judge]
    if recorded and nameless:
        raise UsageError(
            f"{source} has no answers of '{nameless[0]}'; a judge that is asked has a kind, such as openai/{nameless[0]}."
            f"{choose_from(recorded, nameless[0])}"
        )
    if unknown and (recorded_judges := [judge for judge in judges if judge in recorded and "/" not in judge]):
        raise UsageError(
            f"'{recorded_judges[0]}' has recorded answers in {source}, and '{unknown[0]}' would be asked; "
            "candidates are either all recorded or all asked"
        )
