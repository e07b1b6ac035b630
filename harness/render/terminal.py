"""Reports as terminal tables. The only place, with the other renderers, where fractions become percent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.analyse import POOLED, Cell, Report, Verdict
from harness.content.tags import autonym, english_name
from harness.text import plain

_WIDE = 120  # columns in which a grid needs no line breaks inside intervals
_NAME_WIDTH = 24
_SHORT = {
    "linguistic_acceptability": "acceptability",
    "output_content_quality": "content quality",
    "problematic_content": "problematic",
}


def percent(value: float | None, interval: tuple[float, float] | None = None) -> str:
    """A fraction as ink: `71 % [50–86]`; a dash for what is undefined."""
    if value is None:
        return "–"
    text = f"{100 * value:.0f} %"
    return f"{text} [{100 * interval[0]:.0f}–{100 * interval[1]:.0f}]" if interval else text


def render_report(report: Report, *, by_task: bool = True, narrow: bool = False) -> RenderableType:
    """The whole report: for each language the answer in words, then the grid, then notes. `narrow` fits it into 80 columns."""
    parts: list[RenderableType] = [Text(plain(report.title), style="bold")]
    for language in dict.fromkeys(verdict.language for verdict in report.verdicts):
        parts += _language(report, language, by_task, narrow)
    parts += [Padding(Text("\n".join((*LEGEND, *notes(report))), style="dim"), (1, 0, 0, 0))]
    return Group(*parts)


def _language(report: Report, language: str, by_task: bool, narrow: bool) -> list[RenderableType]:
    unreviewed = " · texts not reviewed by a native reader" if language in report.unreviewed else ""
    unreviewed += " · own-language instructions not reviewed by a native reader" if language in report.unreviewed_instructions else ""
    parts: list[RenderableType] = [
        Text(""),
        Text.assemble((f"{english_name(language)} · {autonym(language)} ({language})", "bold cyan"), (unreviewed, "dim")),
    ]
    for verdict in report.verdicts:
        if verdict.language == language:
            parts.append(_verdict(verdict, len(report.verdicts) > 1))
            cells = [c for c in (*report.by_metric, *(report.cells if by_task else ())) if belongs(c, verdict)]
            parts.append(_grid(cells, narrow))
    return parts


def belongs(cell: Cell, verdict: Verdict) -> bool:
    """Whether a cell is of a verdict's language, judge and condition."""
    return (cell["language"], cell["judge"], cell["variant"], cell["temperature"], cell.key.get("top_p")) == (
        verdict.language,
        verdict.judge,
        verdict.variant,
        verdict.temperature,
        verdict.top_p,
    )


def right_on(verdict: Verdict) -> str:
    """How often a judge is right over all metrics, beside the baseline."""
    return f"Right on {percent(verdict.pa_failed_wrong)} of {verdict.n_ref} answers; the baseline on {percent(verdict.baseline)}."


def condition_of(verdict: Verdict) -> str:
    """How the judge was asked: `joint, temperature 0.3, top-p 0.9`."""
    top_p = "" if verdict.top_p is None else f", top-p {verdict.top_p:g}"
    return plain(f"{verdict.variant}, temperature {verdict.temperature:g}{top_p}")


def _verdict(verdict: Verdict, show_condition: bool) -> Text:
    condition = f" ({condition_of(verdict)})" if show_condition else ""
    style = "green" if verdict.usable else "dim" if verdict.judge.startswith("baseline/") else "bold red"
    return Text.assemble((plain(verdict.sentence), style), f" {right_on(verdict)}", (condition, "dim"))


def _grid(cells: Sequence[Cell], narrow: bool) -> Table:
    """Metrics by task, pooled ones first. Columns that would say the same in every row are left out; where there is little room, texts
    and intervals go on in the next line: nothing is cut."""
    failing = any(cell.failures for cell in cells)
    names = [_metric(cell) for cell in cells] + [_task(cell) for cell in cells]
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1 if narrow else 2, 0, 0))
    table.add_column("metric", width=min(_NAME_WIDTH, max(map(cell_len, names))), overflow="fold")
    for heading in ("n", "read"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("PA [95 %]", no_wrap=not narrow, overflow="fold")
    if failing:
        table.add_column("failed = wrong", no_wrap=not narrow, overflow="fold")
    table.add_column("baseline", justify="right", no_wrap=True)
    table.add_column("judge − baseline", no_wrap=not narrow, overflow="fold")
    table.add_column("labels → judge", overflow="fold")
    if failing:
        table.add_column("failures", overflow="fold")
    task = POOLED
    for cell in cells:
        if cell["task"] != task:
            task = cell["task"]
            table.add_row(Text(_task(cell), style="italic"))
        table.add_row(*map(Text, _row(cell, failing)), style="" if cell["task"] == POOLED else "dim")
    return table


def _metric(cell: Cell) -> str:
    return plain(_SHORT.get(cell["metric"], cell["metric"].replace("_", " ")))


def _task(cell: Cell) -> str:
    return plain(cell["task"].replace("_", " "))


def _row(cell: Cell, failing: bool) -> list[str]:
    versus = cell.vs_baseline
    wrong = [percent(cell["pa_failed_wrong"], cell["pa_failed_wrong_ci"])] if failing else []
    failures = [", ".join(f"{kind.replace('_', ' ')} {count}" for kind, count in cell.failures.items())] if failing else []
    return [
        _metric(cell),
        str(cell.n_ref),
        str(cell.n),
        percent(cell["pa"], cell["pa_ci"]) + ("" if cell["pa_ci"] else " †"),
        *wrong,
        percent(versus["pa"]),
        difference(versus["diff"], versus["ci"]),
        f"{shares(cell.distribution_labels)} → {shares(cell.distribution_judge)}",
        *failures,
    ]


def difference(value: float | None, interval: tuple[float, float] | None) -> str:
    """A difference of fractions in percentage points: `+12 [+3 to +21]`; a dash for what is undefined."""
    if value is None:
        return "–"
    text = _signed(value)
    return f"{text} [{_signed(interval[0])} to {_signed(interval[1])}]" if interval else text


def _signed(value: float) -> str:
    return f"{round(100 * value):+d}"  # an integer has no -0


def shares(distribution: Mapping[str, float] | None) -> str:
    """Shares of the classes in percent: `0:12 1:88`."""
    return " ".join(f"{plain(score)}:{100 * share:.0f}" for score, share in distribution.items()) if distribution else "–"


LEGEND = (
    "PA: share of the answers read that equal the label. failed = wrong: the same with unreadable answers counted as wrong; the",
    "difference to the baseline counts them so too. baseline: the commonest label of the development items, else of the row.",
    "labels → judge: how often each score was due → given, in percent. † too few independent texts for an interval.",
)
"""What the columns of a report mean, in lines that fit a terminal."""


def notes(report: Report) -> list[str]:
    """What a reader of a report's numbers has to know, a sentence each."""
    lines = []
    if report.constructed_labels:
        lines.append("The labels are constructed with the texts, not given by native speakers: passing is necessary, not sufficient.")
    for judge, names in report.moved_aliases.items():
        lines.append(f"{judge} was answered by {', '.join(names)}: a name that may move; ask for the dated model.")
    for judge, parameters in report.left_out.items():
        said = ", ".join(f"{name} ({calls} calls)" for name, calls in parameters.items())
        lines.append(f"{judge} does not take {said}: it was asked without, and what rests on it is empty or not what its name says.")
    lines += _few_shot(report.few_shot)
    if any(report.missing.values()):
        left = ", ".join(f"{judge} {count}" for judge, count in report.missing.items() if count)
        lines.append(f"Calls without an answer, not counted above: {left}.")
    return [plain(line) for line in lines]


def _few_shot(found: Mapping[str, Any]) -> Iterator[str]:
    if found.get("constructed"):
        yield "The examples shown carry constructed labels."
    for gap in found.get("classes_without_example", ()):
        classes = ", ".join(map(str, gap["classes"]))
        yield f"No example of {classes} for {gap['metric']} in {gap['language']}/{gap['task']}: no development item has it."


def print_report(report: Report, console: Console | None = None) -> None:
    """Print to stdout; a pipe gets a generous width instead of cut columns. Signatures are one line each, to be pasted whole."""
    console = console or Console()
    if not console.is_terminal:
        console = Console(width=160)
    console.print(render_report(report, narrow=console.width < _WIDE))
    for text in report.signatures.values():
        console.print(Text(f"signature  {plain(text)}", style="dim"), soft_wrap=True)
