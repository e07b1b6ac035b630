"""The outcome of a gate in words, as a Markdown table, and as JUnit XML for pipelines."""

from __future__ import annotations

from collections.abc import Iterable

from harness.data.judgments import NO_VARIANT
from harness.gate.check import Check, GateResult
from harness.model import JudgeCondition
from harness.render.pipelines.junit import JunitCase, junit_xml
from harness.reports.tables.column import CELL_TABLES, COEFFICIENT, SHARE
from harness.reports.tables.columns import columns_in
from harness.reports.tables.numbers import UNDEFINED, difference, percent, probability
from harness.text import terminal_safe

_COLUMNS = {column.name: column for column in columns_in(*CELL_TABLES)}
_SENTENCES = {
    "pass": "pass: every limit holds",
    "fail": "fail: a limit is broken",
    "inconclusive": "inconclusive: no limit is broken, but the evidence does not suffice for all of them",
}


def sentence(result: GateResult) -> str:
    """The outcome for a reader, with the numbers of checks."""
    counts = ", ".join(f"{count} {outcome}" for outcome in _SENTENCES if (count := result.count(outcome)))  # type: ignore[arg-type]
    return f"{_SENTENCES[result.outcome]} ({counts} of {len(result.checks)})"


def several_judges(checks: Iterable[Check]) -> bool:
    return len({judge_text(check) for check in checks if check.judge}) > 1


def judge_text(check: Check) -> str:
    """The judge with its condition, of which only what is known is named."""
    if check.judge is None:
        return UNDEFINED
    condition = check.cell.condition
    plain = condition.variant == NO_VARIANT and condition == JudgeCondition(check.judge, NO_VARIANT)
    return ", ".join(filter(None, (check.judge, "" if plain else condition.words())))


def n_text(check: Check) -> str:
    return str(check.n) if check.n else UNDEFINED


def limit_text(check: Check) -> str:
    """The limit in words: `agreement at least 60 %`."""
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
    """The number that the limit is held against, with its interval or its corrected p; a dash where there is none."""
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
    """A Markdown page with one table, such as for a pull request or a job's summary."""
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
