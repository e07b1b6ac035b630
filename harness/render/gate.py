"""The outcome of a gate in words, as a Markdown table, and as JUnit XML for pipelines."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, RenderableType
from rich.text import Text

from harness.content.tags import english_name
from harness.data.judgments import NO_VARIANT
from harness.gate.check import BROKEN, OPEN, UNANSWERED, UNREAD, Check, GateResult
from harness.gate.policy import AGREEMENT
from harness.model import JudgeCondition
from harness.render.comparison import show
from harness.render.fitted_table import FittedTable, gap_between
from harness.render.junit import JunitCase, junit_xml
from harness.render.terminal import closing_line, dim_lines, signature_line, styled_answer
from harness.render.verdicts import SHORT_NAMES, AnswerLine, lines_of
from harness.reports.answer.states import FAILS, PASSES, state_of
from harness.reports.answer_parts import SIGNS, Answer, Card, NextStep
from harness.reports.tables.column import CELL_TABLES, COEFFICIENT, SHARE
from harness.reports.tables.columns import columns_in
from harness.reports.tables.numbers import UNDEFINED, counted, difference, percent, probability
from harness.reports.tables.obstacles import OBSTACLES
from harness.reports.tables.text_table import Heading, TextTable
from harness.reports.tables.titles import metric_words
from harness.text import one_line, terminal_safe

_COLUMNS = {column.name: column for column in columns_in(*CELL_TABLES)}
_SENTENCES = {
    "pass": "pass: every limit holds",
    "fail": "fail: a limit is broken",
    "inconclusive": "inconclusive: no limit is broken, but the evidence does not suffice for all of them",
}


def sentence(result: GateResult) -> str:
    """Return the outcome for a reader, with the numbers of checks; where answers cannot be read, that goes first."""
    unread = next((check.reason for check in result.checks if UNREAD in check.obstacles), None)
    said = f"inconclusive: {unread}" if unread and result.outcome == "inconclusive" else _SENTENCES[result.outcome]
    counts = ", ".join(f"{count} {outcome}" for outcome in _SENTENCES if (count := result.count(outcome)))  # type: ignore[arg-type]
    return f"{said} ({counts} of {len(result.checks)})"


def several_judges(checks: Iterable[Check]) -> bool:
    return len({judge_text(check) for check in checks if check.judge}) > 1


def judge_text(check: Check) -> str:
    """Return the judge with its condition, of which only what is known is named."""
    if check.judge is None:
        return UNDEFINED
    condition = check.cell.condition
    plain = condition.variant == NO_VARIANT and condition == JudgeCondition(check.judge, NO_VARIANT)
    return ", ".join(filter(None, (check.judge, "" if plain else condition.words())))


def n_text(check: Check) -> str:
    return str(check.n) if check.n else UNDEFINED


def limit_text(check: Check) -> str:
    """Return the limit in words: `agreement at least 60 %`."""
    bound, exact = check.bound, "" if isinstance(check.bound, str) else f"{100 * check.bound:g} %"
    if check.limit == "at_least":
        column = _COLUMNS.get(check.statistic or "")
        name = "agreement" if check.statistic == "pa_failed_wrong" else column.heading if column else str(check.statistic)
        return f"{name} at least {exact if column is not None and column.format is SHARE else f'{bound:g}'}"
    return {
        "max_drop": f"drop at most {exact}",
        "beats_baseline": "better than the majority baseline",
        "not_below_people_by": f"below people by less than {exact}",
        "unread_at_most": f"unread at most {exact}",
        "min_items": f"at least {bound} items",
        "verdict": f"verdict: {bound}",
    }[check.limit]


def seen_text(check: Check) -> str:
    """Return the number that the limit is held against, with its interval or its corrected p; a dash where there is none."""
    if check.limit == "verdict":
        if check.verdict is None or check.verdict in (PASSES, FAILS):
            return check.verdict or UNDEFINED
        return state_of({"verdict": check.verdict, "controls": None})
    if check.value is None:
        return UNDEFINED
    ends = None if check.lower is None or check.upper is None else (check.lower, check.upper)
    if check.limit == "min_items":
        return f"{check.value:.0f}"
    if check.limit == "at_least":
        column = _COLUMNS.get(check.statistic or "")
        return (column.format if column else COEFFICIENT).text(check.value, ends)
    if check.limit in ("max_drop", "unread_at_most"):
        return percent(check.value, ends)
    return difference(check.value) + (f", p {probability(check.q)}" if check.q is not None else "")


def gate_markdown(result: GateResult) -> str:
    """Return a Markdown page with one table, such as for a pull request or a job's summary."""
    lines = [f"## Gate: {result.outcome}", "", f"{_cell(result.source)}: {sentence(result)}.", ""]
    lines += ["| language | metric | judge | limit | seen | n | outcome |", "| --- | --- | --- | --- | --- | ---: | --- |"]
    for check in result.checks:
        outcome = f"**{check.outcome}**" + (f": {_cell(check.reason)}" if check.reason else "")
        cells = (check.language, check.metric, judge_text(check), limit_text(check), seen_text(check), n_text(check))
        lines.append(f"| {' | '.join(map(_cell, cells))} | {outcome} |")
    lines += ["", *(f"- **Warning**: {_cell(warning)}" for warning in result.warnings), *(f"- {_cell(note)}" for note in result.notes)]
    lines += [f"- signature: `{text.replace('`', '')}`" for text in result.signatures.values()]
    return "\n".join(lines).rstrip() + "\n"


def _cell(text: str) -> str:
    return terminal_safe(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`").replace("\n", " ")


def gate_junit(result: GateResult) -> str:
    """JUnit XML: a test suite a language, a test case a limit; broken limits are failures, inconclusive ones are skipped."""
    suites: dict[str, list[JunitCase]] = {}
    for check in result.checks:
        suites.setdefault(check.language, []).append(_case(check, result))
    return junit_xml("harness gate", suites)


def _case(check: Check, result: GateResult) -> JunitCase:
    name = f"{check.metric}: {limit_text(check)}" + (f" ({judge_text(check)})" if several_judges(result.checks) else "")
    if check.outcome == "pass":
        return JunitCase(name, "pass")
    message = f"{check.reason}; seen: {seen_text(check)}, n {n_text(check)}"
    return JunitCase(name, "failure" if check.outcome == "fail" else "skipped", message, check.limit)


_STYLES = {"fail": "bold red", "inconclusive": "yellow", "pass": "green"}
_CARDS = {"fail": ("bad", "Broken"), "inconclusive": ("open", "Not shown to hold")}
_MOST_NAMES = 3  # of languages, metrics or limits that a line names
_NAMED = ((3, 3), (3, 1), (3, 0), (2, 0), (1, 0), (0, 0))  # broken and open limits that the answer names, as the lines have room
_MOST_LINES = 6  # of a terminal that the answer takes
_SHORTER = 5  # forms of a row, each shorter than the one before
_BROKEN = ("seen", "why")  # columns whose texts may be broken
_LEAST_METRIC = 12  # characters that are left of a metric's name
_SHORT = (("better than the majority ", "> "), ("below people by less than ", "> people − "), ("at least", "≥"), ("at most", "≤"))
_LEAST_HALF_WIDTH = 0.005  # of an interval that a next step asks for
_SIGNS = {"fail": SIGNS["bad"], "inconclusive": SIGNS["open"], "pass": SIGNS["good"]}
_SEEN_WIDTH = 21  # characters of what was seen, which may be broken
_EVIDENCE = {OPEN, "people", "baseline", "coverage", "cells", "labels", "annotators"}


def print_gate(
    result: GateResult, source: Sequence[str] = (), console: Console | None = None, *, all_rows: bool = False, notes: bool = False
) -> None:
    """Print the outcome and the limits that do not hold; with `all_rows` those that hold too; with `notes` what the data say about
    themselves, and the signature whole.

    `source` are the words of a command line that name what was checked, for the next step; by default the name in `result`.
    """
    paths = shlex.join(source or [result.source])
    text = next(iter(result.signatures.values()), "")
    closing = signature_line(text) if notes else closing_line([text], notes=len(result.notes), more="--notes --all")
    show(lambda width: render_gate(result, paths, width, all_rows=all_rows, notes=notes), closing, console)


def render_gate(result: GateResult, source: str, width: int, *, all_rows: bool = False, notes: bool = False) -> RenderableType:
    """Return the answer, then for each judge its limits: broken ones first, then open ones; with `all_rows` those that hold too."""
    title, *other_lines = _answer(result, source, width)
    parts: list[RenderableType] = [Text(title.full_text, style=_STYLES[result.outcome]), *styled_answer(other_lines, width)[:-1]]
    sides = dict.fromkeys(map(judge_text, result.checks))
    for side in sides:
        if rows := [check for check in result.checks if judge_text(check) == side and (all_rows or check.outcome != "pass")]:
            parts += [Text(f"\n{one_line(side)}" if len(sides) > 1 else "", style="bold cyan"), _table(rows, width)]
    passed = result.count("pass")
    if passed and not all_rows:
        parts.append(dim_lines([f"{counted(passed, 'limit')} hold{'s' if passed == 1 else ''}: --all."]))
    parts += [dim_lines(map(one_line, result.notes))] if result.notes and notes else []
    return Group(*parts, *(Text(f"\n{one_line(warning)}", style="yellow") for warning in result.warnings))


def _answer(result: GateResult, source: str, width: int) -> list[AnswerLine]:
    """Return the outcome, whose limits they are, which are broken or open, and what to do: with as many names as fit into six lines."""
    title = AnswerLine("title", f"gate: {sentence(result)}", f"gate: {sentence(result)}")
    who = next((text for text in _who(result.checks) if cell_len(text) <= width), "")
    steps = tuple(_steps(result.checks, source))
    whose = [AnswerLine("note", who, who)] if who else []
    for most_names in _NAMED:
        cards = tuple(_cards(result, dict(zip(_CARDS, most_names, strict=True))))
        lines = [title, *whose, *lines_of(Answer("", cards, "", steps))]
        if _height(lines, width) <= _MOST_LINES:
            return lines
    return [line for line in lines if line not in whose]  # the rows have it too


def _height(lines: Iterable[AnswerLine], width: int) -> int:
    """Return how many lines of a terminal an answer takes, the lines of a command not counted."""
    console = Console(width=width)
    return sum(len(Text(line.sentence if line.command else line.full_text).wrap(console, width)) for line in lines)


def _who(checks: Sequence[Check]) -> Iterator[str]:
    """Judges, languages and metrics, by name or, where there are many, counted; then shorter and shorter."""
    sides = list(dict.fromkeys(judge_text(check) for check in checks if check.judge))
    judges = list(dict.fromkeys(str(check.judge) for check in checks if check.judge))
    conditions = f"{', '.join(judges)} under {counted(len(sides), 'condition')}"
    counts = [counted(len(judges), "judge")] if judges else []
    judge_parts = counts if len(judges) > 1 else sides if len(sides) == 1 else [conditions] if judges else []
    languages = list(dict.fromkeys(english_name(check.language) for check in checks))
    metrics = list(dict.fromkeys(metric_words(check.metric) for check in checks))
    for most, said in ((_MOST_NAMES, judge_parts), (1, judge_parts), (1, judges[:1] if len(judges) == 1 else counts), (0, counts)):
        axes = ((languages, "language"), (metrics, "metric"))
        axis_texts = (", ".join(names) if len(names) <= most else counted(len(names), what) for names, what in axes)
        yield one_line(" · ".join((*said, *axis_texts)))


def _cards(result: GateResult, most_checks: dict[str, int]) -> Iterator[Card]:
    """Yield a card for the broken limits and one for the open ones, with the names of so many."""
    several = several_judges(result.checks)
    for outcome, (style, heading) in _CARDS.items():
        checks = [check for check in result.checks if check.outcome == outcome]
        if not checks:
            continue
        said = [
            f"{_place(check)}{f' ({judge_text(check)})' if several else ''}: {limit_text(check)}"
            for check in checks[: most_checks[outcome]]
        ]
        omitted = len(checks) - len(said)
        languages = list(dict.fromkeys(english_name(check.language) for check in checks))
        where = ", ".join(languages) if len(languages) <= _MOST_NAMES else counted(len(languages), "language")
        said += [f"{omitted} more" if said else f"{counted(omitted, 'limit')} in {where}"] if omitted else []
        yield Card(style, heading, one_line(f"{'; '.join(said)}."))


def _steps(checks: Sequence[Check], source: str) -> Iterator[NextStep]:
    """Yield what to do first: read what differs, ask what has no answer, label more texts, or what the reason of an open limit says."""
    if any(check.outcome == "fail" for check in checks):
        yield NextStep("read where judge and people differ", f"harness compare {source} --html compare.html")
        return
    waiting = [check for check in checks if check.outcome == "inconclusive"]
    unanswered = [check for check in waiting if UNANSWERED in check.obstacles]
    few = [check for check in waiting if _EVIDENCE & {*check.obstacles}]
    if few and not unanswered:
        yield NextStep("see how many more labels settle it", f"harness labels needed {source}{_half_width(few[0])}")
    elif waiting:
        first = (unanswered or waiting)[0]
        yield NextStep(one_line(f"{_place(first)}: {first.reason}"))


def _half_width(check: Check) -> str:
    """Return the flag that asks for an interval of agreement that would not hold the limit, if the agreement stayed as it is."""
    if check.statistic != AGREEMENT or check.value is None or isinstance(check.bound, str):
        return ""
    return f" --half-width {max(abs(check.value - check.bound), _LEAST_HALF_WIDTH):.3f}"


def _place(check: Check) -> str:
    return f"{metric_words(check.metric)} in {english_name(check.language)}"


def _seen(check: Check) -> str:
    """Return what was seen, of a verdict with its reason: what is shown against the judge, before what is not ruled out."""
    if check.outcome == "pass" or check.limit != "verdict":
        return seen_text(check)
    obstacles = sorted((OBSTACLES[name] for name in check.obstacles if name in OBSTACLES), key=lambda obstacle: not obstacle.against)
    return f"{seen_text(check)}: {obstacles[0].words}" if obstacles else seen_text(check)


def _why(check: Check) -> str:
    """Return why a limit does not hold, where neither its sign nor what was seen says it."""
    said = {BROKEN, OPEN, *OBSTACLES}
    return "" if check.outcome == "pass" or (check.obstacles and said.issuperset(check.obstacles)) else one_line(check.reason)


def _table(checks: Sequence[Check], width: int) -> FittedTable:
    """Limits by outcome: where there is no room for all words they are shorter, and at last names of metrics are cut."""
    ordered = [check for outcome in _STYLES for check in checks if check.outcome == outcome]
    for shorter in range(_SHORTER):
        rows = [_row(check, shorter) for check in ordered]
        if (over := _line_width(rows, width) - width) <= 0:
            break
    else:
        least = max(_LEAST_METRIC, max(cell_len(row["metric"]) for row in rows) - over)
        for row in rows:
            if cell_len(row["metric"]) > least:
                row["metric"] = f"{set_cell_size(row['metric'], least - 1).rstrip()}…"
    for number in range(len(rows) - 1, 0, -1):
        before, row = rows[number - 1], rows[number]
        if (before[""], before["language"]) == (row[""], row["language"]):
            row["language"] = ""
    columns = [name for name in rows[0] if any(row[name] for row in rows)]
    names = tuple(Heading(name, name, number=name == "n", key=name in ("", "language", "metric")) for name in columns)
    texts = tuple(tuple(row[name] for name in columns) for row in rows)
    return FittedTable(TextTable(names, texts), unbroken=[name for name in columns if name not in _BROKEN])


def _row(check: Check, shorter: int) -> dict[str, str]:
    """Return texts of a limit: all words, then (1) signs in limits, (2) short metrics, (3) tags of languages, (4) no number of items."""
    limit = limit_text(check)
    for words, sign in _SHORT if shorter else ():
        limit = limit.replace(words, sign)
    row = {
        "": _SIGNS[check.outcome],
        "language": check.language if shorter > 2 else english_name(check.language),
        "metric": SHORT_NAMES.get(check.metric) or metric_words(check.metric) if shorter > 1 else metric_words(check.metric),
        "limit": limit,
        "seen": _seen(check),
        "n": n_text(check),
        "why": _why(check),
    }
    if shorter > 3:
        del row["n"]
    return {name: one_line(text) for name, text in row.items()}


def _line_width(rows: Sequence[dict[str, str]], width: int) -> int:
    """Return the width in which no cell of rows is broken that should not be, in a terminal of a width."""
    widths = {name: max(cell_len(name), *(cell_len(row[name]) for row in rows)) for name in rows[0]}
    for name in _BROKEN:
        widths[name] = min(widths[name], _SEEN_WIDTH)
    return sum(widths.values()) + gap_between(width) * (len(widths) - 1)
