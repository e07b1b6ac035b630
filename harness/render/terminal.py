"""Reports, their sections and reviews of reasons as terminal tables, and the common parts of all terminal tables."""

from __future__ import annotations

import hashlib
import io
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from harness.content.tags import both_names, english_name
from harness.decide.verdicts import Verdict
from harness.measure.cells import Cell
from harness.measure.options import POOLED
from harness.measure.summaries import LanguageSummary
from harness.model import CONDITION, SYSTEM_ROLE, JudgeCondition
from harness.render.fitted_table import PIPE_WIDTH, STYLES, FittedTable, output_width
from harness.render.verdict_text import SHORT_NAMES, AnswerLine, answer_lines, lines_of, screen_tables, two_people_sentence
from harness.reports.answer.judged_sides import judged_sides, side_text
from harness.reports.answer.next_steps import LabelPages
from harness.reports.answer.parts import SIGNS, Answer
from harness.reports.tables.columns import Row, TableName, columns_in
from harness.reports.tables.numbers import counted, difference, percent
from harness.reports.tables.text_table import TextTable, cell_row, key_text, tabulate, varying_keys
from harness.text import absent_words, broken_command, terminal_safe

if TYPE_CHECKING:
    from harness.annotate.reviews import ReviewSummary
    from harness.reports.run_report import Report
    from harness.reports.sections.section import SectionNumbers


def render_sections(sections: Mapping[str, SectionNumbers]) -> RenderableType:
    """Return the sections for a terminal."""
    from harness.reports.sections.section_registry import sections_legend, shown_sections  # late, like all that the answer does not show

    parts: list[RenderableType] = []
    shown_list = shown_sections(sections)
    for section in shown_list:
        parts += [table_heading(section.title), Text(section.text)]
        for table in section.tables:
            parts += [*(Text(line, style="dim") for line in (table.shared, table.no_result) if line), FittedTable(table)]
    if legend := sections_legend(shown_list):
        parts.append(dim_lines(legend))
    return Group(*parts)


def print_sections(sections: Mapping[str, SectionNumbers], console: Console | None = None) -> None:
    """Print the sections of a run that asked under several conditions; nothing for any other run."""
    from harness.reports.sections.section_registry import all_sections

    variants = {row["variant"] for row in sections.get("variants", {}).get("rows", ())}
    if len(variants) > 1 or set(sections) - {section.name for section in all_sections() if section.in_every_run}:
        print_whole(lambda width: render_sections(sections), console=console)


def review_table(summary: ReviewSummary) -> TextTable:
    """One row for each language, metric and judge: all reviews, then those by people's own score."""
    rows: list[Row] = []
    for cell in summary.cells:
        reasons = {name.replace("_", " "): count for name, count in cell.reasons.items()}
        columns = {name: getattr(cell, name) for name in ("metric", "judge", "people", "texts", "agree", "agree_ci", "partly", "disagree")}
        rows.append(columns | {"language": english_name(cell.language), "reviews": cell.n, "reasons": reasons or None})
    keys = ("language", "metric", *varying_keys(rows, ("judge",)))
    return tabulate(rows, columns_in(TableName.REVIEWS), keys)


def render_reviews(summary: ReviewSummary) -> RenderableType:
    """Return the table and what its headings mean."""
    table = review_table(summary)
    return Group(FittedTable(table), dim_lines(table.legend))


_MOST_CLASSES = 11  # of a scale whose equal scores are agreement, such as 0 to 10; of more classes they say little


def doubt_lines(sentences: Iterable[str]) -> Iterator[Text]:
    """Yield the sentences that numbers have to be read with, as lines below the first one."""
    for sentence in sentences:
        yield Text(f"{SIGNS['open']} {terminal_safe(sentence)}")


def dim_lines(lines: Iterable[str]) -> RenderableType:
    """Notes and legends below a table."""
    return Padding(Text("\n".join(lines), style="dim"), (1, 0, 0, 0))


def table_heading(title: str) -> Text:
    """Return what stands above a table, with a line between it and what is above."""
    return Text(f"\n{terminal_safe(title)}", style="bold cyan")


def legend_of(tables: Iterable[TextTable]) -> dict[str, None]:
    """Return what the headings and signs of tables mean, each line once."""
    return dict.fromkeys(line for table in tables for line in table.legend)


def print_lines(lines: Iterable[str], *, stderr: bool = False) -> None:
    """Print lines without control characters. Where the width is known, a long line goes on below, indented by two characters more."""
    console = Console(stderr=stderr)
    width = output_width(console)
    for line in map(terminal_safe, lines):
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        fits = width == PIPE_WIDTH or len(line) <= width
        for part in [line] if fits else textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False):
            console.print(Text(part), soft_wrap=True)


_MORE = "--notes --all --by-task"  # flags of a run that show more
_ANSWER_STYLES = STYLES | {"title": "bold", "seen": "", "open": "", "next": "bold", "note": "dim"}


def render_answer(verdicts: Sequence[Verdict], pages: LabelPages, width: int) -> list[RenderableType]:
    """Return the answer of verdicts: what stands above the tables."""
    return styled_answer(answer_lines(verdicts, pages), width)


def styled_answer(answer: Iterable[AnswerLine], width: int) -> list[RenderableType]:
    """Lines of an answer. A command that does not fit behind its step stands below it, so that it can be copied."""
    parts: list[RenderableType] = []
    for line in answer:
        full_text = terminal_safe(line.full_text)
        command_below = line.command and cell_len(full_text) > width
        parts.append(Text(terminal_safe(line.sentence) + ":" if command_below else full_text, style=_ANSWER_STYLES[line.style]))
        parts += (
            [Text(f"  {part}", no_wrap=True) for part in broken_command(terminal_safe(line.command), width - 2)] if command_below else []
        )
    return [*parts, Text("")] if parts else []


def render_verdicts(
    verdicts: Sequence[Verdict], width: int, *, all_rows: bool = False, name_absent: bool = True
) -> Iterator[RenderableType]:
    """Yield the verdicts below an answer, with a key of the signs that occur.

    `all_rows` shows all rows and what the headings mean; without `name_absent` no line names the columns that do not fit.
    """
    legend: dict[str, None] = {}
    for screen_table in screen_tables(verdicts, width, all_rows=all_rows):
        yield from (table_heading(screen_table.name),) if screen_table.name else ()
        yield FittedTable(screen_table.table, line_headings=screen_table.headings)
        yield from (Text(f"\n{terminal_safe(said)}") for said in screen_table.sentences)
        absent = absent_words(screen_table.table.absent) if name_absent else ""
        signs = screen_table.table.legend if all_rows else screen_table.table.signs
        legend |= dict.fromkeys(line for line in (screen_table.below, absent, *signs) if line)
    if legend:
        yield dim_lines(legend)


def render_report(
    report: Report, *, by_task: bool = False, all_rows: bool = False, notes: bool = False, width: int = PIPE_WIDTH
) -> RenderableType:
    """Return the report: the answer, the verdicts, and what a reader has to know.

    `all_rows` shows all verdicts and what the headings mean; `by_task` adds a sentence and a table for each language, metric by metric and
    task by task; `notes` adds what the data say about themselves; `width` is that of the terminal.
    """
    answer = render_answer(report.verdicts, report.pages, width)
    parts: list[RenderableType] = [Text(terminal_safe(report.title), style="bold"), Text(""), *answer]
    sides = dict.fromkeys(side_text(verdict.key) for verdict in report.verdicts)
    if len(sides) == 1 and not judged_sides(report.verdicts):  # a baseline has no answer that names it, nor has its table
        parts += map(Text, map(terminal_safe, sides))
    parts += render_verdicts(report.verdicts, width, all_rows=all_rows)
    if two_people := two_people_sentence(report.by_metric):
        parts.append(Text(f"\n{two_people}"))
    if by_task:
        parts += _numbers(report)
    elif not report.verdicts:  # scores that only their order is compared of: there is nothing else to show
        parts += _continuous(report)
    about = (*unreviewed(report), *warnings_of(report), *(notes_of_data(report) if notes else ()))
    return Group(*parts, *([dim_lines(about)] if about else []))


def _numbers(report: Report) -> Iterator[RenderableType]:
    """Continuous scores, then each language metric by metric and task by task."""
    yield from _continuous(report)
    continuous = continuous_table(report)
    tables = [continuous] if continuous else []
    for language in dict.fromkeys(summary.language for summary in report.summaries):
        yield table_heading(both_names(language))
        for summary in report.summaries:
            if summary.language == language:
                cells = [c for c in (*report.by_metric, *report.cells) if belongs(c, summary)]
                rows = [cell_row(cell) | {"metric": SHORT_NAMES.get(cell["metric"], cell["metric"])} for cell in cells]
                tables.append(tabulate(rows, columns_in(TableName.REPORT), ("metric",)))
                condition = f" ({condition_of(summary)})" if len(report.summaries) > 1 else ""
                judge = f"{english_name(language)}, {terminal_safe(summary.judge)}: "
                yield Text.assemble(judge, agreement_sentence(summary).replace("It ", "it ", 1), (condition, "dim"))
                tasks = [cell["task"] for cell in cells]
                headings = {
                    number: key_text("task", task)
                    for number, task in enumerate(tasks)
                    if task != POOLED and task != (tasks[number - 1] if number else POOLED)
                }
                yield FittedTable(replace(tables[-1], faint=tuple(task != POOLED for task in tasks)), line_headings=headings)
    yield dim_lines(legend_of(tables))


def _continuous(report: Report) -> Iterator[RenderableType]:
    """Yield the table of scores that are numbers, if there are any."""
    if continuous := continuous_table(report):
        yield from (table_heading("Continuous scores"), FittedTable(continuous))


def print_collection(title: str, answer: Answer | None, reports: Sequence[Report], left_out: Iterable[str]) -> None:
    """Print to stdout what boards that were asked together say: one answer, then the verdicts of each board."""

    def body(width: int) -> RenderableType:
        parts: list[RenderableType] = [
            Text(terminal_safe(title), style="bold"),
            Text(""),
            *styled_answer(lines_of(answer) if answer else (), width),
        ]
        absent: dict[str, None] = {}
        for report in reports:
            verdicts = [*render_verdicts(report.verdicts, width, name_absent=False)]
            if not verdicts and continuous_table(report):  # a title with nothing below it would be a riddle
                verdicts = [Text("No verdict: scores are compared by their order alone.")]
            parts += [Text(terminal_safe(report.title), style="bold"), *verdicts, Text("")]
            absent.update(dict.fromkeys(name for table in screen_tables(report.verdicts, width) for name in table.table.absent))
        if absent:  # once for all boards
            parts.append(Text(absent_words(list(absent)), style="dim"))
        about = dict.fromkeys(line for report in reports for line in (*unreviewed(report), *warnings_of(report)))
        return Group(*parts, dim_lines((*about, *map(terminal_safe, left_out))))

    signatures = [text for report in reports for text in report.signatures.values()]
    print_whole(
        body, [closing_line(signatures, notes=sum(len(notes_of_data(report)) for report in reports), more="harness report RUN --notes")]
    )


def continuous_table(report: Report) -> TextTable | None:
    """Return the cells whose scores are numbers, with correlations and errors; None if there are none."""
    cells = [c for c in report.by_metric if c.continuous or (c["mae"] is not None and len(c.distribution_labels or ()) > _MOST_CLASSES)]
    if not cells:
        return None
    keys = [name for name in CONDITION if len({str(cell.key.get(name)) for cell in cells}) > 1]
    rows = [cell_row(cell) | {"language": english_name(cell["language"])} for cell in cells]
    return tabulate(rows, columns_in(TableName.COMPARISON), ("language", "metric", *keys), tables=(TableName.COMPARISON,))


def unreviewed(report: Report) -> Iterator[str]:
    for languages, what in ((report.unreviewed, "texts"), (report.unreviewed_instructions, "own-language instructions")):
        if languages:
            yield f"No native reader has reviewed the {what} in {', '.join(map(english_name, languages))}."


def unreviewed_in(report: Report, language: str) -> list[str]:
    """Return the same of one language."""
    texts = ["No native reader has reviewed these texts."] if language in report.unreviewed else []
    instructions = language in report.unreviewed_instructions
    return [*texts, *(["No native reader has reviewed the own-language instructions."] if instructions else [])]


def belongs(cell: Cell | Verdict, summary: LanguageSummary) -> bool:
    """Return True if a cell or a verdict is of a summary's language, judge and condition."""
    return cell["language"] == summary.language and JudgeCondition.of(cell.key) == summary.condition


def agreement_sentence(summary: LanguageSummary) -> str:
    """Return how often a judge and a constant answer agree with the labels over all metrics, and their difference."""
    if not summary.n_ref:
        return "It gave no answer that can be counted as equal to a label."
    beside_baseline = "" if summary.diff is None else f" (judge − constant: {difference(summary.diff, summary.ci)})"
    agreed = f"It agrees with {percent(summary.pa_failed_wrong)} of {counted(summary.n_ref, 'label')}"
    return f"{agreed}; a constant answer with {percent(summary.baseline)}{beside_baseline}."


def condition_of(summary: LanguageSummary) -> str:
    """Return the condition that the judge was asked under: `joint, temperature 0.3, top-p 0.9`."""
    return terminal_safe(summary.condition.words())


def notes(report: Report) -> list[str]:
    """Return all that is to be said beside a report's numbers, a sentence each."""
    return [*warnings_of(report), *notes_of_data(report)]


def notes_of_data(report: Report) -> list[str]:
    """Return what the data say about themselves, and where there are labels by people, a sentence each."""
    native = [_native_data(report.native_data, report.get_native_data)] if report.native_data else []
    return [terminal_safe(line) for line in (*(note for note in report.notes if note not in report.warnings), *native)]


def warnings_of(report: Report) -> list[str]:
    """Return what a reader of a report's numbers has to know, a sentence each."""
    lines = []
    if report.constructed_labels:
        lines.append("The labels are constructed with the texts, not given by native speakers: passing is necessary, not sufficient.")
    for judge, names in report.moved_aliases.items():
        lines.append(f"{judge} was answered by {', '.join(names)}: its name is an alias that may move. Ask for the dated model.")
    for judge, parameters in report.left_out.items():
        refused = ", ".join(f"{name} ({calls} calls)" for name, calls in parameters.items() if name != SYSTEM_ROLE)
        if refused:
            lines.append(f"{judge} does not take {refused}. It was asked without; results that depend on it are missing or mislabelled.")
        if calls := parameters.get(SYSTEM_ROLE):
            lines.append(f"{judge} does not take a system message ({calls} calls). Its text stood at the beginning of the user's message.")
    for judge, counts in report.spans.items():
        unplaced = f"; {counts['unplaced']:,} quote words that are not in the text" if counts["unplaced"] else ""
        unread = f"; {counts['unread']:,} could not be read" if counts["unread"] else ""
        lines.append(f"{judge} marked {counts['marked']:,} errors{unplaced}{unread}.")
    for judge, counts in report.reasoning.items():
        reasoned = f"{counts['replies']:,} replies ({counts['characters']:,} characters)"
        lines.append(f"{judge} marked reasoning in {reasoned}. No score is read from it.")
    if report.few_shot.get("constructed"):
        lines.append("The examples shown carry constructed labels.")
    for gap in report.few_shot.get("classes_without_example", ()):
        classes = ", ".join(map(str, gap["classes"]))
        lines.append(f"No example of {classes} for {gap['metric']} in {gap['language']}/{gap['task']}: no development item has it.")
    if any(report.missing.values()):
        missing = ", ".join(f"{judge} {count}" for judge, count in report.missing.items() if count)
        lines.append(f"Calls without an answer, not counted above: {missing}.")
    return [terminal_safe(line) for line in (*lines, *report.warnings)]


def _native_data(cards: Mapping[str, Sequence[str]], how_to_get: Mapping[str, str]) -> str:
    """Return where labels of native speakers are, in the languages of a run on constructed ones, and the command that uses them."""
    by_cards: dict[tuple[str, ...], list[str]] = {}
    for tag, names in cards.items():
        by_cards.setdefault(tuple(names), []).append(tag)
    where = "; ".join(f"{', '.join(tags)}: {' or '.join(names)}" for names, tags in by_cards.items())
    first = next(iter(cards.values()))[-1]
    return (
        f"Native speakers' labels are in the catalog ({where}). {how_to_get[first]}; then 'harness compare {first}' "
        "compares recorded judges with people."
    )


def print_report(
    report: Report, console: Console | None = None, *, by_task: bool = False, all_rows: bool = False, notes: bool = False
) -> None:
    """Print to stdout; with `notes` what the data say about themselves, and each signature whole, in one line to be copied."""
    signatures = tuple(report.signatures.values())
    closing = map(signature_line, signatures) if notes else [closing_line(signatures, notes=len(notes_of_data(report)), more=_MORE)]
    print_whole(lambda width: render_report(report, by_task=by_task, all_rows=all_rows, notes=notes, width=width), closing, console)


def print_whole(body: Callable[[int], RenderableType], after: Iterable[str] = (), console: Console | None = None) -> None:
    """Print what `body` makes for a width, then lines that are never broken.

    A pipe gets a generous width instead of cut columns, and no blanks at the ends of lines.
    """
    console = console or Console()
    plain = console if console.is_terminal else Console(width=output_width(console), file=io.StringIO())
    content = body(plain.width)
    for part in content.renderables if isinstance(content, Group) else (content,):
        plain.print(part, soft_wrap=isinstance(part, Text) and bool(part.no_wrap))
    if isinstance(plain.file, io.StringIO) and plain is not console:
        console.file.write("".join(f"{line.rstrip()}\n" for line in plain.file.getvalue().splitlines()))
    for line in after:
        console.print(Text(terminal_safe(line), style="dim"), soft_wrap=True)


def signature_line(signature: str) -> str:
    """Return a signature in the line that is copied from a terminal."""
    return f"signature  {signature}"


_MOST_HASHES = 2  # that the last line names


def closing_line(
    signatures: Sequence[str], *, left_out: Mapping[str, int] = MappingProxyType({}), notes: int = 0, more: str = "--notes"
) -> str:
    """Return the last line of an answer: what is left out, how many notes there are, the hashes of signatures, flags that show more.

    More than two hashes would not fit into a narrow window: then they are counted.

    >>> closing_line(["data:made|…"], left_out={"tone": 317}, notes=2)
    '317 texts left out · 2 notes · signature 47c2d91d · --notes'
    >>> closing_line(["one", "two", "three"], notes=29)
    '29 notes · 3 signatures · --notes'
    """
    most = max(left_out.values(), default=0)
    dropped = f"{'up to ' if len(set(left_out.values())) > 1 else ''}{counted(most, 'text')} left out"
    hashes = [hashlib.sha256(signature.encode()).hexdigest()[:8] for signature in signatures]
    parts = [
        *([dropped] if most else []),
        *([f"{counted(notes, 'note')}"] if notes else []),
        *([f"signature{'s' if len(hashes) > 1 else ''} {' '.join(hashes)}"] if 0 < len(hashes) <= _MOST_HASHES else []),
        *([counted(len(hashes), "signature")] if len(hashes) > _MOST_HASHES else []),
        more,
    ]
    return " · ".join(parts)


SEALED = (
    "The labels of this board are sealed: agreement is computed where the key is. The table shows how many answers could be read; "
    "'harness submit' hands the answers in."
)
UNLABELLED = "No item has a label, so there is no agreement to show. The table shows how many answers could be read."


def print_sealed(report: Report) -> None:
    """The table on stdout, and what is missing in it."""
    console = Console(highlight=False)
    table = sealed_table(report)
    for part in (Text(terminal_safe(report.title), style="bold"), Text(reason_without_agreement(report)), FittedTable(table)):
        console.print(part)
    console.print(dim_lines(table.legend))
    for judge, calls in report.missing.items():
        if calls:
            console.print(Text(terminal_safe(f"{judge}: {calls} calls have no answer")))
    for signature in report.signatures.values():
        console.print(Text(terminal_safe(f"signature  {signature}"), style="dim"), soft_wrap=True)


def reason_without_agreement(report: Report) -> str:
    """Return why a report shows no agreement: the labels are sealed, or there are none. Empty if it shows agreement."""
    return "" if not report.sealed else UNLABELLED if report.unlabelled else SEALED


def sealed_table(report: Report) -> TextTable:
    """Return how many answers of each judge could be read, language by language."""
    rows = []
    for row in report.sealed:
        counts = {name: getattr(row, name) for name in ("judge", "asked", "read", "coverage", "failures")}
        rows.append(counts | {"language": f"{english_name(row.language)} ({row.language})", "condition": row.condition.words()})
    return tabulate(rows, columns_in(TableName.SEALED), ("language", "judge", "condition"))


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on stderr, where it is a terminal, what is being done."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(terminal_safe(what)):
        yield
