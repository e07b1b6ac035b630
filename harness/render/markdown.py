"""Reports as Markdown, for a repository or a note: nothing that comes from elsewhere is markup in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from harness.analyse import POOLED, Cell, Report
from harness.content.tags import autonym, english_name
from harness.render.ablations import ShownTable, shown_ablations
from harness.render.sealed import HEADINGS, SEALED, covered_rows
from harness.render.terminal import LEGEND, belongs, condition_of, difference, notes, percent, right_on, shares
from harness.text import plain

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~$&])|^([#+=-]|\d+(?=[.)]))")
_LINKS = (("://", "&#58;//"), ("www.", "www&#46;"), ("@", "&#64;"), ("mailto:", "mailto&#58;"), ("xmpp:", "xmpp&#58;"))
_COLUMNS: tuple[tuple[str, Callable[[Cell], str]], ...] = (
    ("n", lambda c: str(c.n_ref)),
    ("read", lambda c: str(c.n)),
    ("PA [95 %]", lambda c: percent(c["pa"], c["pa_ci"]) + ("" if c["pa_ci"] else " †")),
    ("failed = wrong", lambda c: percent(c["pa_failed_wrong"], c["pa_failed_wrong_ci"])),
    ("baseline", lambda c: percent(c.vs_baseline["pa"])),
    ("judge − baseline", lambda c: difference(c.vs_baseline["diff"], c.vs_baseline["ci"])),
    ("judge, others left", lambda c: percent(c["judge_loo"])),
    ("person, others left", lambda c: percent(c["human_loo"])),
    ("labels → judge", lambda c: f"{shares(c.distribution_labels)} → {shares(c.distribution_judge)}"),
    ("failures", lambda c: ", ".join(f"{kind.replace('_', ' ')} {count}" for kind, count in c.failures.items())),
)
_NOTHING = ("", "–")


def escape(text: str) -> str:
    """Text that Markdown shows as it is: on one line, without control characters, with nothing that is markup, a link or a mention.

    >>> escape("a|b <b> [x](javascript:y) http://z")
    'a\\\\|b \\\\<b\\\\> \\\\[x\\\\](javascript:y) http&#58;//z'
    """
    text = _SPECIAL.sub(_escaped, " ".join(plain(text).split()))
    for sign, instead in _LINKS:
        text = text.replace(sign, instead)
    return text


def _escaped(found: re.Match[str]) -> str:
    return f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}"


def report_markdown(report: Report) -> str:
    """The whole report: for each language the answer in words and its table, then what moves the judge, notes and signatures."""
    lines = [f"# {escape(report.title)}", "", f"Run {escape(report.run)}.", ""]
    for language in dict.fromkeys(verdict.language for verdict in report.verdicts):
        lines += _language(report, language)
    for section in shown_ablations(report.ablations):
        lines += [f"## {escape(section.title)}", "", escape(section.text), ""]
        for table in section.tables:
            lines += _ablation(table)
    if report.sealed:
        lines += [escape(SEALED), "", *_table(HEADINGS, covered_rows(report), 3)]
    lines += [
        "## Notes",
        "",
        *([] if report.sealed else [escape(" ".join(LEGEND)), ""]),
        *(f"- {escape(note)}" for note in notes(report)),
        "",
    ]
    for judge, signature in report.signatures.items():
        lines += [f"Signature of {escape(judge)}:", "", f"    {' '.join(plain(signature).split())}", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _language(report: Report, language: str) -> Iterator[str]:
    yield from (f"## {english_name(language)} · {autonym(language)} ({language})", "")
    if language in report.unreviewed:
        yield from ("No native reader has reviewed these texts.", "")
    if language in report.unreviewed_instructions:
        yield from ("No native reader has reviewed the own-language instructions.", "")
    for verdict in report.verdicts:
        if verdict.language == language:
            condition = f" ({condition_of(verdict)})" if len(report.verdicts) > 1 else ""
            yield from (f"**{escape(verdict.sentence)}** {escape(right_on(verdict) + condition)}", "")
            cells = [cell for cell in (*report.by_metric, *report.cells) if belongs(cell, verdict)]
            yield from _cells(cells)


def _cells(cells: Sequence[Cell]) -> Iterator[str]:
    columns = [(name, show) for name, show in _COLUMNS if any(show(cell) not in _NOTHING for cell in cells)]
    rows = [(_name(cell["metric"]), _name(cell["task"]), *(show(cell) for _, show in columns)) for cell in cells]
    yield from _table(("metric", "task", *(name for name, _ in columns)), rows, 2)


def _name(value: str) -> str:
    return "all" if value == POOLED else value.replace("_", " ")


def _ablation(table: ShownTable) -> Iterator[str]:
    for text in (table.shared, table.nothing):
        if text:
            yield from (escape(text), "")
    yield from _table((*table.keys, *table.columns), table.rows, len(table.keys))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], keys: int) -> Iterator[str]:
    yield f"| {' | '.join(map(escape, heads))} |"
    yield f"|{'|'.join(' --- ' if place < keys else ' ---: ' for place in range(len(heads)))}|"
    yield from (f"| {' | '.join(escape(text) or ' ' for text in row)} |" for row in rows)
    yield ""
