"""`harness compare` and `harness labels check`."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from harness import sources
from harness.cli.arguments import check_figure, page_path
from harness.cli.commands.find_out import Compare
from harness.cli.commands.labels_and_data import LabelsCheck
from harness.cli.endings import exit_code_of
from harness.cli.flags import recorded_words
from harness.cli.streams import print_json, told_warnings
from harness.cli.table import table_of_sources

_MORE = "--notes --all --full"  # flags that show more


def compare(arguments: Compare) -> int:
    from harness.render.terminal import working
    from harness.reports.tables.columns import shown_intervals
    from harness.row_files import to_json

    page = page_path(arguments.html)
    check_figure(arguments.figure)
    table, options = table_of_sources(arguments.sources, arguments.options, arguments.table, arguments.to)
    options = replace(options, intervals=None if arguments.full else shown_intervals())
    with working("comparing"):
        compared = sources.compare_sources(
            arguments.sources if table is None else [table.source],
            options,
            out=arguments.out,
            sections=_shows_sections(arguments),
        )
    comparison = compared.comparison
    if arguments.sections:
        from harness.render.files import write_sections

        for path in write_sections(arguments.sections, comparison.sections):
            print(path, file=sys.stderr)
    if arguments.figure:
        from harness.render.figures import WIDTHS, FigureOptions, draw_by_agreement, write_answer, write_reliability

        kind = {"answer": write_answer, "shares": draw_by_agreement, "reliability": write_reliability}[arguments.figure_kind]
        with told_warnings():
            kind(comparison, arguments.figure, FigureOptions(WIDTHS[arguments.figure_width], arguments.figure_names))
    if page is not None:
        from harness.offensive import refuse_in_repository
        from harness.render.html.compared_page import comparison_page
        from harness.row_files import write_atomic

        with working("writing the page"):
            for source in compared.sources:
                refuse_in_repository(page, source.recording.data.about)
            pairs = [(source.recording, source.run) for source in compared.sources]
            write_atomic(page, comparison_page(comparison, pairs, compared.options, _write_command(arguments)), private=True)
        print(page)
    elif arguments.json:
        roles = {} if table is None else {"roles": table.table.roles.by_column}
        sys.stdout.write(to_json(comparison.as_json() | roles))
    elif arguments.csv:
        from harness.render.files import cells_csv

        sys.stdout.write(cells_csv(comparison.cells))
    elif arguments.md:
        from harness.render.markdown import comparison_markdown

        sys.stdout.write(comparison_markdown(comparison))
    elif arguments.latex is not None:
        from harness.render.latex import to_latex

        sys.stdout.write(to_latex(comparison, next(iter(arguments.latex), "verdicts")))
    else:
        from harness.render.comparison import render_comparison, show
        from harness.render.terminal import closing_line, signature_line

        body = partial(
            render_comparison,
            comparison,
            _shows_statistics(arguments),
            arguments.distributions,
            all_rows=arguments.all,
            notes=arguments.notes,
        )
        closing = closing_line(
            [comparison.signature], left_out=comparison.left_out, notes=len(comparison.notes) - len(comparison.warnings), more=_MORE
        )
        show(lambda width: body(width=width), signature_line(comparison.signature) if arguments.notes else closing)
    return exit_code_of(comparison.verdicts)


def _shows_sections(arguments: Compare) -> bool:
    """Return whether the sections are shown, written or drawn."""
    drawn = arguments.figure and arguments.figure_kind == "reliability"
    return bool(drawn or arguments.sections or arguments.html or arguments.json or arguments.md or _shows_statistics(arguments))


def _shows_statistics(arguments: Any) -> bool:
    """Return whether the terminal shows more than the verdicts: `--full`, or a flag that asks for something in the statistics."""
    return bool(arguments.full or arguments.distributions or arguments.options.versus or arguments.options.decide == "full")


def _write_command(arguments: Compare) -> str:
    """Return the command that repeats this comparison: all its flags but those of the output, with folders named without their path."""
    return shlex.join(["harness", "compare", *(Path(source).name for source in arguments.sources), *recorded_words(arguments)])


def check_labels(arguments: LabelsCheck) -> int:
    from harness import api  # late: it imports what a comparison does not need
    from harness.render.progress import counting

    with counting("reading texts") as watch:
        check = api.labels_check(
            arguments.data,
            arguments.options,
            watch=watch,
        )
    if arguments.json:
        return print_json(check)
    from harness.render.comparison import show
    from harness.render.label_check import render_label_check
    from harness.render.terminal import closing_line

    show(
        lambda width: render_label_check(check, all_numbers=arguments.all),
        closing_line([check.signature], notes=len(check.notes), more="--all"),
    )
    return 0
