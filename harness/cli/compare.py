"""`harness compare`."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path

from harness import sources
from harness.cli.arguments import check_figure, page_path, table_of_sources
from harness.cli.commands.find_out import Compare
from harness.cli.flags import recorded_words
from harness.cli.output import exit_code_of
from harness.cli.streams import told_warnings

_MORE = "--notes --all --full"  # flags that show more


def compare(arguments: Compare) -> int:
    from harness.render.terminal import working
    from harness.reports.tables.columns import shown_intervals
    from harness.row_files import to_json

    page = page_path(arguments.html)
    check_figure(arguments.figure)
    table, options = table_of_sources(arguments.sources, arguments.options, arguments.table, arguments.to)
    options = replace(options, intervals=None if arguments.full else shown_intervals())
    # whether the terminal shows more than the verdicts, and whether sections are shown, written or drawn
    statistics = bool(arguments.full or arguments.distributions or options.versus or options.decide == "full")
    drawn = arguments.figure and arguments.figure_kind == "reliability"
    sections = bool(drawn or arguments.sections or arguments.html or arguments.json or arguments.md or statistics)
    with working("comparing"):
        opened = arguments.sources if table is None else [table.source]
        compared = sources.compare_sources(opened, options, out=arguments.out, sections=sections)
        comparison = compared.comparison
        if sections or arguments.csv or arguments.latex is not None:
            len(comparison.cells)  # computes their statistics, which a screen of verdicts does not show
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
        from harness.offensive_texts import refuse_in_repository
        from harness.render.html.compared_page import comparison_page
        from harness.row_files import write_atomic

        with working("writing the page"):
            for source in compared.sources:
                refuse_in_repository(page, source.recording.data.about)
            pairs = [(source.recording, source.run) for source in compared.sources]
            write_atomic(page, comparison_page(comparison, pairs, compared.options, repeating_command(arguments)), private=True)
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

        closing = closing_line(
            [comparison.signature], left_out=comparison.left_out, notes=len(comparison.notes) - len(comparison.warnings), more=_MORE
        )
        show(
            lambda width: render_comparison(
                comparison, statistics, arguments.distributions, all_rows=arguments.all, notes=arguments.notes, width=width
            ),
            signature_line(comparison.signature) if arguments.notes else closing,
        )
    return exit_code_of(comparison.verdicts)


def repeating_command(arguments: Compare) -> str:
    """Return the command that repeats this comparison: all its flags but those of the output, with folders named without their path."""
    return shlex.join(["harness", "compare", *(Path(source).name for source in arguments.sources), *recorded_words(arguments)])
