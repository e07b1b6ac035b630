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
from harness.render.terminal import ANSWER_LINES, answer_height, dim_lines, styled_answer
from harness.render.verdicts import SHORT_NAMES, AnswerLine, lines_of
from harness.reports.answer_parts import Answer, Card, NextStep
from harness.reports.tables.column import CELL_TABLES, COEFFICIENT, SHARE, SIGNS
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
        return check.verdict or UNDEFINED
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
_SHORTER = 5  # forms of a row, each shorter than the one before
_LEAST_METRIC = 12  # characters that are left of a metric's name
_SHORT = (("better than the majority ", "> "), ("below people by less than ", "> people − "), ("at least", "≥"), ("at most", "≤"))
_LEAST_HALF_WIDTH = 0.005  # of an interval that a next step asks for
_CODES = {name: obstacle.code for name, obstacle in OBSTACLES.items()} | {BROKEN: "<L", OPEN: "<L?", UNANSWERED: "Q!"}
"""Short codes of obstacles; a reason without one is numbered."""
_MEANINGS = SIGNS | {
    "<L": "the limit is shown to be broken",
    "<L?": "neither shown to hold nor shown to be broken",
    "Q!": "questions have no answer (--json has the counts)",
}
_EVIDENCE = {OPEN, "people", "baseline", "coverage", "cells", "labels", "annotators"}


def print_gate(
    result: GateResult, source: Sequence[str] = (), console: Console | None = None, *, all_rows: bool = False, signature: bool = False
) -> None:
    """Print the outcome and the limits that do not hold; with `all_rows` those that hold too; `signature` prints it whole, not as a hash.

    `source` are the words of a command line that name what was checked, for the next step; by default the name in `result`.
    """
    paths = shlex.join(source or [result.source])
    text = next(iter(result.signatures.values()), "")
    show(lambda width: render_gate(result, paths, width, all_rows=all_rows), text, console, whole_signature=signature)


def render_gate(result: GateResult, source: str, width: int, *, all_rows: bool = False) -> RenderableType:
    """Return the answer, then for each judge its limits: broken ones first, then open ones; with `all_rows` those that hold too."""
    title, *other_lines = _answer(result, source, width)
    parts: list[RenderableType] = [Text(title.full_text, style=_STYLES[result.outcome]), *styled_answer(other_lines, width)[:-1]]
    key = _Key()
    sides = dict.fromkeys(map(judge_text, result.checks))
    for side in sides:
        if rows := [check for check in result.checks if judge_text(check) == side and (all_rows or check.outcome != "pass")]:
            parts += [Text(f"\n{one_line(side)}" if len(sides) > 1 else "", style="bold cyan"), _table(rows, width, key)]
    passed = result.count("pass")
    if lines := [
        *([f"{counted(passed, 'limit')} hold{'s' if passed == 1 else ''}: --all."] if passed and not all_rows else []),
        *key.lines,
    ]:
        parts.append(dim_lines(lines))
    parts += [dim_lines(map(one_line, result.notes))] if result.notes else []
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
        if answer_height(lines, width) <= ANSWER_LINES:
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


class _Key:
    """The codes that stand in rows, with what they mean. Reasons without a code get a number."""

    def __init__(self) -> None:
        self._meanings: dict[str, str] = {}

    def text(self, check: Check) -> str:
        """Return the codes of a check: `<P? <C?`."""
        if check.outcome == "pass":
            return ""
        if codes := [_CODES[name] for name in check.obstacles]:
            self._meanings |= {code: _MEANINGS[code] for code in codes}
            return " ".join(codes)
        reason = one_line(check.reason)
        same_meaning = [code for code, meaning in self._meanings.items() if meaning == reason]
        code = same_meaning[0] if same_meaning else str(1 + sum(code.isdigit() for code in self._meanings))
        self._meanings[code] = reason
        return code

    @property
    def lines(self) -> list[str]:
        return [f"{code} {meaning}." for code, meaning in self._meanings.items()]


def _table(checks: Sequence[Check], width: int, key: _Key) -> FittedTable:
    """Limits by outcome, a line each: where there is no room for all words they are shorter, and at last names of metrics are cut."""
    ordered = [check for outcome in _STYLES for check in checks if check.outcome == outcome]
    first = {outcome: [check.outcome for check in ordered].index(outcome) for outcome in {check.outcome for check in ordered}}
    headings = {row: str(outcome) for outcome, row in first.items()}
    for shorter in range(_SHORTER):
        rows = [_row(check, shorter, key) for check in ordered]
        if (over := _line_width(rows, headings, width) - width) <= 0:
            break
    else:
        least = max(_LEAST_METRIC, max(cell_len(row["metric"]) for row in rows) - over)
        for row in rows:
            if cell_len(row["metric"]) > least:
                row["metric"] = f"{set_cell_size(row['metric'], least - 1).rstrip()}…"
    for number in range(len(rows) - 1, 0, -1):
        if number not in headings and rows[number]["language"] == rows[number - 1]["language"]:
            rows[number]["language"] = ""
    said = [name for name in rows[0] if any(row[name] for row in rows)]
    names = tuple(Heading(name, name, number=name == "n", key=name in ("language", "metric")) for name in said)
    texts = tuple(tuple(row[name] for name in said) for row in rows)
    return FittedTable(TextTable(names, texts), unbroken=said, line_headings=headings)


def _row(check: Check, shorter: int, key: _Key) -> dict[str, str]:
    """Return texts of a limit: all words, then (1) signs in limits, (2) short metrics, (3) tags of languages, (4) no number of items."""
    limit = limit_text(check)
    for words, sign in _SHORT if shorter else ():
        limit = limit.replace(words, sign)
    row = {
        "language": check.language if shorter > 2 else english_name(check.language),
        "metric": SHORT_NAMES.get(check.metric) or metric_words(check.metric) if shorter > 1 else metric_words(check.metric),
        "limit": limit,
        "seen": seen_text(check),
        "n": n_text(check),
        "why not": key.text(check),
    }
    if shorter > 3:
        del row["n"]
    return {name: one_line(text) for name, text in row.items()}


def _line_width(rows: Sequence[dict[str, str]], headings: dict[int, str], width: int) -> int:
    """Return the width in which no cell of rows is broken, in a terminal of a width."""
    widths = {name: max(cell_len(name), *(cell_len(row[name]) for row in rows)) for name in rows[0]}
    widths["language"] = max(widths["language"], *map(cell_len, headings.values()))
    return sum(widths.values()) + gap_between(width) * (len(widths) - 1)
