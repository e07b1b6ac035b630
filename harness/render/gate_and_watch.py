"""Gates and watches in the terminal, as JUnit XML, Markdown and figures."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, Literal, NamedTuple
from xml.etree import ElementTree

from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, RenderableType
from rich.text import Text

from harness.content.tags import english_name
from harness.correction.certificate import EarlierWatch
from harness.data.judgments import NO_VARIANT
from harness.errors import UsageError
from harness.gate.check import BROKEN, OPEN, UNANSWERED, UNREAD, Check, GateResult
from harness.gate.policy import AGREEMENT
from harness.model import JudgeCondition
from harness.render.comparison import show
from harness.render.figures import style
from harness.render.figures.style import Drawn, FigureOptions
from harness.render.fitted_table import FittedTable, gap_between
from harness.render.terminal import closing_line, dim_lines, print_lines, print_whole, signature_line, styled_answer
from harness.render.verdict_text import SHORT_NAMES, AnswerLine, lines_of
from harness.reports.answer.parts import FAILS, PASSES, SIGNS, Answer, Card, NextStep, state_of
from harness.reports.tables.columns import CELL_TABLES, COEFFICIENT, OBSTACLES, SHARE, columns_in, metric_words
from harness.reports.tables.numbers import UNDEFINED, counted, difference, percent, probability, two_digits
from harness.reports.tables.text_table import Heading, TextTable
from harness.text import one_line, terminal_safe, without_controls
from harness.watch.watch_check import CellState, StreamState, WatchCheck
from harness.watch.watch_plan import Day, Reference, SeenCell, Stream, WatchedCell, WatchPlan


class JunitCase(NamedTuple):
    """One case. `kind` is the type of a failure."""

    name: str
    outcome: Literal["pass", "failure", "skipped"]
    message: str = ""
    kind: str = ""


def junit_xml(name: str, suites: Mapping[str, Sequence[JunitCase]]) -> str:
    """Return the file: `name` of the command, and the cases of each suite."""
    root = ElementTree.Element("testsuites", _counts([case for cases in suites.values() for case in cases]) | {"name": name})
    for title, cases in suites.items():
        suite = ElementTree.SubElement(root, "testsuite", _counts(cases) | {"name": without_controls(title)})
        for case in cases:
            element = ElementTree.SubElement(suite, "testcase", {"classname": without_controls(title), "name": without_controls(case.name)})
            if case.outcome != "pass":
                kind = {"type": case.kind} if case.outcome == "failure" and case.kind else {}
                ElementTree.SubElement(element, case.outcome, {"message": without_controls(case.message)} | kind)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _counts(cases: Sequence[JunitCase]) -> dict[str, str]:
    outcomes = [case.outcome for case in cases]
    return {
        "tests": str(len(outcomes)),
        "failures": str(outcomes.count("failure")),
        "errors": "0",
        "skipped": str(outcomes.count("skipped")),
    }


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
        "beats_baseline": "better than a constant answer",
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
        name = f"{check.metric}: {limit_text(check)}" + (f" ({judge_text(check)})" if several_judges(result.checks) else "")
        case = JunitCase(name, "pass")
        if check.outcome != "pass":
            message = f"{check.reason}; seen: {seen_text(check)}, n {n_text(check)}"
            case = JunitCase(name, "failure" if check.outcome == "fail" else "skipped", message, check.limit)
        suites.setdefault(check.language, []).append(case)
    return junit_xml("harness gate", suites)


_STYLES = {"fail": "bold red", "inconclusive": "yellow", "pass": "green"}
_CARDS = {"fail": ("bad", "Broken"), "inconclusive": ("open", "Not shown to hold")}
_MOST_NAMES = 3  # of languages, metrics or limits that a line names
_NAMED = ((3, 3), (3, 1), (3, 0), (2, 0), (1, 0), (0, 0))  # broken and open limits that the answer names, as the lines have room
_MOST_LINES = 6  # of a terminal that the answer takes
_SHORTER = 5  # forms of a row, each shorter than the one before
_BROKEN = ("seen", "why")  # columns whose texts may be broken
_LEAST_METRIC = 12  # characters that are left of a metric's name
_SHORT = (
    ("better than a constant answer", "> constant"),
    ("below people by less than ", "> people − "),
    ("at least", "≥"),
    ("at most", "≤"),
)
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
    console = Console(width=width)
    for most_names in _NAMED:
        cards = tuple(_cards(result, dict(zip(_CARDS, most_names, strict=True))))
        lines = [title, *whose, *lines_of(Answer("", cards, "", steps))]
        texts = (Text(line.sentence if line.command else line.full_text) for line in lines)  # the lines of a command are not counted
        if sum(len(text.wrap(console, width)) for text in texts) <= _MOST_LINES:
            return lines
    return [line for line in lines if line not in whose]  # the rows have it too


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
    for outcome, (card_style, heading) in _CARDS.items():
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
        yield Card(card_style, heading, one_line(f"{'; '.join(said)}."))


def _steps(checks: Sequence[Check], source: str) -> Iterator[NextStep]:
    """Yield what to do first: read what differs, ask what has no answer, label more texts, or what the reason of an open limit says."""
    if any(check.outcome == "fail" for check in checks):
        yield NextStep("read where judge and people differ", f"harness compare {source} --html compare.html")
        return
    waiting = [check for check in checks if check.outcome == "inconclusive"]
    unanswered = [check for check in waiting if UNANSWERED in check.obstacles]
    few = [check for check in waiting if _EVIDENCE & {*check.obstacles}]
    if few and not unanswered:
        half_width, check = "", few[0]
        if check.statistic == AGREEMENT and check.value is not None and not isinstance(check.bound, str):
            # an interval of agreement that would not hold the limit, if the agreement stayed as it is
            half_width = f" --half-width {max(abs(check.value - check.bound), _LEAST_HALF_WIDTH):.3f}"
        yield NextStep("see how many more labels settle it", f"harness labels needed {source}{half_width}")
    elif waiting:
        first = (unanswered or waiting)[0]
        yield NextStep(one_line(f"{_place(first)}: {first.reason}"))


def _place(check: Check) -> str:
    return f"{metric_words(check.metric)} in {english_name(check.language)}"


def _table(checks: Sequence[Check], width: int) -> FittedTable:
    """Limits by outcome: where there is no room for all words they are shorter, and at last names of metrics are cut."""
    ordered = [check for outcome in _STYLES for check in checks if check.outcome == outcome]
    for shorter in range(_SHORTER):
        rows = [_row(check, shorter) for check in ordered]
        # the width in which no cell is broken that should not be
        widths = {name: max(cell_len(name), *(cell_len(row[name]) for row in rows)) for name in rows[0]}
        widths |= {name: min(widths[name], _SEEN_WIDTH) for name in _BROKEN}
        if (over := sum(widths.values()) + gap_between(width) * (len(widths) - 1) - width) <= 0:
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
    seen, why = seen_text(check), ""
    if check.outcome != "pass":  # of a verdict with its reason: what is shown against the judge, before what is not ruled out
        obstacles = sorted((OBSTACLES[name] for name in check.obstacles if name in OBSTACLES), key=lambda obstacle: not obstacle.against)
        seen += f": {obstacles[0].words}" if obstacles and check.limit == "verdict" else ""
        if not check.obstacles or not {BROKEN, OPEN, *OBSTACLES}.issuperset(check.obstacles):
            why = check.reason  # neither the sign nor what was seen says it
    row = {
        "": _SIGNS[check.outcome],
        "language": check.language if shorter > 2 else english_name(check.language),
        "metric": SHORT_NAMES.get(check.metric) or metric_words(check.metric) if shorter > 1 else metric_words(check.metric),
        "limit": limit,
        "seen": seen,
        "n": n_text(check),
        "why": why,
    }
    if shorter > 3:
        del row["n"]
    return {name: one_line(text) for name, text in row.items()}


RECENT = 7
"""Days whose mean is shown beside the reference level."""
STREAMS: tuple[Stream, ...] = ("anchors", "production")
_QUANTITIES = {"agreement": "agreement with people", "level": "level of scores", "readable": "readable answers"}


def print_plan(plan: WatchPlan, folder: str, earlier: Sequence[EarlierWatch] = ()) -> None:
    """Print what a new watch watches and the certified numbers, the starts before, and what to do every day."""
    options, where = plan.options, shlex.quote(folder)
    print_lines([f"A watch of {plan.judge.name} on {plan.data} begins on {plan.since}: {counted(len(plan.cells), 'question')}.", ""])
    rows = {
        _cell_name(cell): [
            (
                _compared(reference, cell.watched_class),
                percent(reference.mean, (reference.lower, reference.upper)),
                f"{reference.n:,}",
            )
            for reference in cell.references
        ]
        for cell in plan.cells
    }
    _print_by_cell(rows, Heading("mean", "certified [limits]"), Heading("n", "texts", number=True))
    asked = f"ask {counted(options.per_day, 'anchor')} a day and language again, and take in new scores"
    step = f"  harness watch add {where} SCORES"
    if not plan.run:
        asked, step = "hand in the answers on the day's anchors, and new scores", f"{step} --answers FOLDER"
    print_lines(["", *_earlier(earlier, plan.options.alpha), f"Next: every day, {asked}:", step, f"  harness watch check {where}"])


def _cell_name(cell: WatchedCell | CellState) -> str:
    return one_line(f"{english_name(cell.language)}, {metric_words(cell.metric)}")


def _compared(reference: Reference, watched_class: object) -> str:
    """Return what is watched, and where: `anchors: level of scores`."""
    name = _QUANTITIES[reference.quantity]
    if reference.quantity == "level" and watched_class is not None:
        name = f"share of '{watched_class}'"
    return one_line(f"{reference.stream}: {name}")


def _print_by_cell(rows: Mapping[str, Sequence[tuple[str, ...]]], *headings: Heading) -> None:
    """Print one table, with the name of each cell above its rows."""
    first_rows = accumulate((len(of_cell) for of_cell in rows.values()), initial=0)
    names = dict(zip(first_rows, rows, strict=False))
    table = TextTable((Heading("what", "what is compared"), *headings), tuple(chain.from_iterable(rows.values())))
    print_whole(lambda width: FittedTable(table, line_headings=names, unbroken=("what",)))


def _earlier(earlier: Sequence[EarlierWatch], alpha: float) -> Iterator[str]:
    """Yield the starts before, and what their alarms mean for the chance of a false one."""
    for number, check in enumerate(earlier, start=1):
        yield f"  start {number}, {check.since} to {check.until}: {check.ended}"
    if earlier:
        yield (
            f"  start {len(earlier) + 1} is the last one, with a level of its own: a cell has a false alarm in at most {percent(alpha)} of "
            "watches over all starts as long as nothing has changed, and each change that did happen adds as much."
        )


def day_lines(day: Day, folder: str) -> Iterator[str]:
    """Yield that a day was added, what was seen of each cell, and how to see whether anything has changed."""
    cells = []
    for name, cell in day.cells.items():
        language, _, metric = name.partition("/")
        if parts := list(_parts(cell)):
            cells.append(f"{english_name(language)}, {metric_words(metric)}: {', '.join(parts)}.")
    if len(cells) == 1:
        yield f"{day.date} is added. {cells[0]}"
    else:
        yield f"{day.date} is added: {counted(len(cells), 'question')}." if cells else f"{day.date} is added: no readable scores."
        yield from (f"  {cell}" for cell in cells)
    yield f"Next: harness watch check {shlex.quote(folder)}"


def _parts(cell: SeenCell) -> Iterator[str]:
    if cell.anchors is None:
        yield "no answers on anchors (hand them in with --answers)"
    else:
        anchors = f"{counted(cell.anchors.drawn, 'anchor')}{_unread(cell.anchors.unread)}"
        yield f"agreement {percent(cell.anchors.agreement.mean)} on {anchors}"
    if cell.production is not None:
        seen, texts = cell.production, f"{counted(cell.production.texts, 'text')}{_unread(cell.production.unread)}"
        if seen.level is None and seen.readable is not None:
            yield f"no level: none of {texts} can be read"
        elif seen.level is None:
            yield f"no new level from {texts}; {seen.known:,} of them are in groups of earlier days"
        else:
            yield f"level {percent(seen.level.mean)} of {texts} in {counted(seen.level.n, 'new group')}"
    if cell.certified:
        yield f"left out: {counted(cell.certified, 'text')} that the certificate was made from"


def _unread(count: int) -> str:
    return f" ({count:,} without a readable score)" if count else ""


_CHANGES = {
    "the judge changed": "{judge} has changed",
    "the texts changed": "The texts that {judge} scores have changed",
    "both": "{judge} and the texts that it scores have changed",
}


def print_watch(check: WatchCheck, folder: str) -> None:
    """Print the answer, what is compared in each cell, and what to do; `folder` is that of the watch."""
    print_lines([_watch_sentence(check), f"Watch of {check.judge} on {check.data} since {check.since}, {counted(check.days, 'day')}."])
    if len(check.cells) > 1 and check.answer != "nothing shown":
        print_lines(f"  {_cell_name(cell)}: {_cell_answer(cell)}" for cell in check.cells)
    print_lines([*_earlier(check.earlier, check.alpha), ""])
    if check.days:
        rows = {_cell_name(cell): list(_watch_rows(cell)) for cell in check.cells}
        numbers = (Heading(name, name, number=True) for name in ("certified", f"last {RECENT} days", "last day"))
        _print_by_cell(rows, *numbers, Heading("alarm", "alarm"))
        limit = two_digits(check.cells[0].anchors.limit)
        print_lines(["", f"In brackets: how strong the evidence of a change is; {limit} is an alarm.", ""])
    where = shlex.quote(folder)
    if check.changed or check.expired:
        print_lines(["Next: ask the judge again about the labelled texts, or label new ones, and make a new certificate:"])
        restart = f"  harness watch init {where} RUN_OR_DIR --restart --certificate new.json"
        print_lines(["  harness certify RUN_OR_DIR --to new.json", *([restart] if check.changed else [])])
    else:
        print_lines(["Next: add the next day:", f"  harness watch add {where} SCORES"])


def _watch_sentence(check: WatchCheck) -> str:
    """Return what is known of a change, and whether the certificate holds."""
    alarms = [alarm for cell in check.cells for alarm in (cell.anchors.alarm, cell.production.alarm) if alarm]
    if check.changed:
        what = f"{_CHANGES[check.answer].format(judge=check.judge)}: the first alarm was on {min(alarms)}"
    elif alarms:
        what = f"{check.judge} or its texts have changed, and it is unknown which: anchors need more days to show it"
    elif check.answer == "not yet known":
        what = f"It is unknown whether {check.judge} or its texts have changed: {'a question' if check.days else 'the log'} has no day yet"
    else:
        what = f"No change of {check.judge} or of its texts is shown up to {check.last_day}"
    if alarms:
        return f"{what}. The certificate does not hold any more."
    return f"{what}. The certificate {f'does not hold any more: {check.expired}' if check.expired else 'holds'}."


def _cell_answer(cell: CellState) -> str:
    return "unknown" if cell.answer == "not yet known" else "no change is shown" if cell.answer == "nothing shown" else cell.answer


def _watch_rows(cell: CellState) -> Iterator[tuple[str, ...]]:
    """Yield a row for each quantity: the certified mean, that of the last days and of the last one, and the alarm of its stream."""
    for stream in STREAMS:
        state: StreamState = getattr(cell, stream)
        alarm = f"{state.alarm}, {state.moved}" if state.alarm else f"none ({two_digits(state.e)})"
        alarm = alarm if state.days else "no day yet"
        for reference in (reference for reference in cell.references if reference.stream == stream):
            days = [day for day in state.days if reference.quantity in day.means][-RECENT:]
            total = sum(day.n for day in days)
            mean = sum(day.means[reference.quantity] * day.n for day in days) / total if total else None
            recent = percent(mean) if len(days) > 1 else ""
            last = percent(days[-1].means[reference.quantity]) if days else UNDEFINED
            yield _compared(reference, cell.watched_class), percent(reference.mean), recent, last, alarm
            alarm = ""


def stream_text(cell: CellState, stream: Stream) -> str:
    """One stream in words: its alarm or its e-value, and the levels then and now."""
    state: StreamState = getattr(cell, stream)
    if not state.days:
        return "no day yet"
    seen = f"alarm on {state.alarm}, {state.moved}" if state.alarm else f"no alarm, e {two_digits(state.e)} of {two_digits(state.limit)}"
    references = [reference for reference in cell.references if reference.stream == stream]
    level = "level" if cell.watched_class is None else f"share of '{cell.watched_class}'"
    names = {"agreement": "agreement", "level": level, "readable": "readable answers"}
    levels = []
    for before in references:  # the last day, and the mean of the last days, as one day says little
        days = [day for day in state.days if before.quantity in day.means][-RECENT:]
        now = "unknown now"
        if days:
            now = f"{percent(days[-1].means[before.quantity])} on {days[-1].date}"
        if len(days) > 1:
            mean = sum(day.means[before.quantity] * day.n for day in days) / sum(day.n for day in days)
            now = f"{percent(mean)} in the mean of the last {len(days)} days, {now}"
        levels.append(f"{names[before.quantity]} {percent(before.mean)} then, {now}")
    return "; ".join((seen, *levels))


def watch_junit(check: WatchCheck) -> str:
    """JUnit XML: a test suite a language, a test case a metric and stream; alarms are failures, what is not yet known is skipped."""
    suites: dict[str, list[JunitCase]] = {}
    for cell in check.cells:
        for stream in STREAMS:
            state: StreamState = getattr(cell, stream)
            name, message = f"{cell.metric}: {stream}", f"{cell.answer}; {stream_text(cell, stream)}"
            case = JunitCase(name, "pass" if state.days else "skipped", message)
            suites.setdefault(cell.language, []).append(JunitCase(name, "failure", message, stream) if state.alarm else case)
    if check.expired:
        suites["certificate"] = [JunitCase("holds", "failure", check.expired, "expired")]
    return junit_xml("harness watch", suites)


MOST_CELLS = 20
_HEIGHT = 1.7  # inches of a cell
_LINES = (
    ("anchors", "agreement", "agreement on anchors", style.PEOPLE, "-"),
    ("anchors", "level", "level of anchors", style.PEOPLE, ":"),
    ("production", "level", "level of production scores", style.JUDGE, "-"),
)
_CAPTION = (
    "Left: each day's mean, with the level of the certified period as a thin line of the same kind. Right: evidence of a change, as the "
    "logarithm of the e-value; above the grey line it is an alarm. The thin vertical line is the first day of an alarm."
)


def draw_watch(check: WatchCheck, path: Path) -> None:
    """Draw every cell of a watch in a row of two panels.

    Raises:
        UsageError: without the extra `figures`, for another suffix than .svg, .pdf and .png, without a day, and for more than 20 cells.
    """
    if not any(cell.anchors.days or cell.production.days for cell in check.cells):
        raise UsageError("the log has no day yet, so there is nothing to draw; add one with 'harness watch add'")
    if len(check.cells) > MOST_CELLS:
        raise UsageError(f"a figure holds {MOST_CELLS} cells at most, and {len(check.cells)} are watched; --json has all numbers")

    def draw(options: FigureOptions) -> Drawn:
        signature = f"{check.judge} on {check.data} since {check.since}"
        cells, left_out = style.fitting(check.cells, [_HEIGHT] * len(check.cells), 0.9, "cell")
        with style.drawing(signature) as new_figure:
            figure = new_figure(figsize=(options.width, len(cells) * _HEIGHT + 0.9), layout="constrained")
            grid: Any = figure.subplots(len(cells), 2, squeeze=False, sharex=True)
            for (levels, right), cell in zip(grid, cells, strict=True):
                for stream, quantity, name, colour, line in _LINES:
                    days = [(day.date, day.means[quantity]) for day in getattr(cell, stream).days if quantity in day.means]
                    levels.plot([day for day, _ in days], [mean for _, mean in days], color=colour, linestyle=line, linewidth=1, label=name)
                    for reference in cell.references:
                        if (reference.stream, reference.quantity) == (stream, quantity):
                            levels.axhline(reference.mean, color=colour, linestyle=line, linewidth=0.4)
                style.shares_along(levels, axis="y")
                style.remove_frame(levels)
                levels.set_title(
                    terminal_safe(f"{options.shown_name('language', cell.language)}, {cell.metric.replace('_', ' ')}"),
                    fontsize=style.SMALL,
                    loc="left",
                )
                for name, colour in (("anchors", style.PEOPLE), ("production", style.JUDGE)):
                    state: StreamState = getattr(cell, name)
                    evidence = [math.log10(max(day.e, 1e-3)) for day in state.days]
                    right.plot([day.date for day in state.days], evidence, color=colour, linewidth=1)
                    if state.alarm:
                        right.axvline(state.alarm, color=colour, linewidth=0.5)
                right.axhline(math.log10(cell.anchors.limit), color=style.FAINT, linewidth=1)
                right.set_ylabel("log10 e", color=style.INK)
                right.set_title(terminal_safe(cell.answer), fontsize=style.SMALL, loc="left")
                style.remove_frame(right)
            figure.autofmt_xdate(rotation=30)
            return style.finish_with_legend(figure, grid[0][0], f"Watch: {check.answer}", _CAPTION + left_out, signature, options)

    style.write_figure(path, draw)
