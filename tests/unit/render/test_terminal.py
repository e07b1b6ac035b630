"""The report in the terminal: nothing is cut, nothing untrusted is obeyed, and what is undefined is a dash and not a number."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import msgspec
import pytest
from rich.cells import cell_len
from rich.console import Console

from harness.measure.cells import Cell
from harness.measure.options import POOLED
from harness.render.terminal import agreement_sentence, closing_line, print_report
from harness.reports.run_report import Report
from harness.reports.tables.numbers import percent

MakeCell = Callable[..., Cell]
MakeReport = Callable[..., Report]

HOSTILE = [
    "[/nope]",
    "[bold red]loud[/]",
    "[link=http:x]it[/link]",
    ":smile:",
    "\\[x]",
    "[@click=app.bell]ring[/]",
]


def shown(report: Report, width: int = 120, *, colour: bool = False) -> str:
    console = Console(width=width, file=io.StringIO(), force_terminal=True, color_system="truecolor" if colour else None)
    print_report(report, console, by_task=True)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("value", "interval", "text"),
    [
        (0.7143, None, "71 %"),
        (0.7143, (0.5, 0.864), "71 % [50–86]"),
        (None, None, "–"),
        (1.0, (0.99, 1.0), "100 % [99–100]"),
        (0.0, None, "0 %"),
    ],
)
def test_a_fraction_as_ink(value: float | None, interval: tuple[float, float] | None, text: str) -> None:
    assert percent(value, interval) == text


@pytest.mark.parametrize("width", [80, 100, 120, 160])
def test_nothing_is_cut_at_any_usual_width(make_cell: MakeCell, make_report: MakeReport, width: int) -> None:
    metrics = ("linguistic_acceptability", "output_content_quality", "task_quality", "problematic_content", "hallucination")
    text = shown(make_report(*(make_cell(metric=metric) for metric in metrics)), width)
    assert "…" not in text
    assert all(cell_len(line) <= width for line in text.splitlines())
    for piece in (
        "18",
        "13",
        "46 %",
        "[18–77]",
        "33 %",
        "[14–61]",
        "67 %",
        "−33",
        "[−54",
        "−13]",
        "0:17",
        "2:67",
        "2:92",
        "→",
        "truncated",
    ):
        assert text.count(piece) >= len(metrics), piece
    for name in ("acceptability", "content quality", "task quality", "problematic", "hallucination", "constant"):
        assert name in text


def test_a_grid_without_failures_has_no_columns_for_them(make_cell: MakeCell, make_report: MakeReport) -> None:
    text = shown(make_report(make_cell(failures={}, n=18, pa_failed_wrong=0.4567, pa_failed_wrong_ci=(0.1812, 0.7689))))
    assert "agreement" in text and "failed = wrong" not in text and "failures" not in text


def test_long_names_do_not_push_numbers_out(make_cell: MakeCell, make_report: MakeReport) -> None:
    name = "a_very_long_metric_name_that_somebody_has_given_to_it"
    text = shown(make_report(make_cell(metric=name)), 80)
    assert "18" in text and "[18–77]" in text and "…" not in text


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("field", ["task", "metric", "judge", "title", "missing", "class"])
def test_markup_in_names_is_shown_as_it_is(make_cell: MakeCell, make_report: MakeReport, field: str, hostile: str) -> None:
    cell = make_cell(**({field: hostile} if field in ("task", "metric", "judge") else {}))
    if field == "class":
        cell = msgspec.structs.replace(cell, distribution_labels={hostile: 3})
    report = make_report(cell)
    if field == "title":
        report = msgspec.structs.replace(report, title=hostile)
    if field == "missing":
        report = msgspec.structs.replace(report, missing={hostile: 3})
    assert _squeezed(hostile) in _squeezed(shown(report, 200))


def _squeezed(text: str) -> str:
    """Without white space, as a long name may go on in the next line; underscores are shown as spaces."""
    return "".join(text.replace("_", " ").split())


@pytest.mark.parametrize("code", ["\x1b[31m", "\x1b]0;title\x07", "\x9b31m", "\x07", "\r", "\u202e"], ids=repr)
@pytest.mark.parametrize("field", ["task", "metric", "judge", "variant"])
def test_control_characters_in_names_do_not_reach_the_terminal(make_cell: MakeCell, make_report: MakeReport, field: str, code: str) -> None:
    report = make_report(make_cell(**{field: f"na{code}me"}), make_cell(**{field: f"na{code}me"}, distribution_judge={f"cl{code}ass": 3}))
    report = msgspec.structs.replace(report, title=f"ti{code}tle", missing={f"jud{code}ge": 1}, signatures={"j": f"sig{code}nature"})
    text = shown(report)
    assert not set(code) & set(text) - set("[31m]0;title")


def test_colour_changes_nothing_but_colour(make_report: MakeReport) -> None:
    report = make_report()
    assert re.sub(r"\x1b\[[\d;]*m", "", shown(report, colour=True)) == shown(report)


def test_what_is_undefined_is_a_dash_and_marked(make_cell: MakeCell, make_report: MakeReport) -> None:
    lines = shown(make_report(make_cell(undefined=True))).splitlines()
    line = next(line for line in lines if line.startswith("task quality"))
    assert "– †" in line and "None" not in line and "nan" not in line


def test_pooled_cells_come_first_and_tasks_are_headings(make_cell: MakeCell, make_report: MakeReport) -> None:
    pooled = (make_cell(task=POOLED),)
    report = make_report(make_cell(task="continue_writing"), make_cell(task="continue_writing", metric="hallucination"), by_metric=pooled)
    lines = [line.split("  ")[0] for line in shown(report).splitlines() if not line.startswith(" ")]
    at = len(lines) - 1 - lines[::-1].index("metric")
    assert lines[at + 1 : at + 5] == ["task quality", "continue writing", "task quality", "hallucination"]


def test_only_the_judges_own_cells_stand_under_its_verdict(make_cell: MakeCell, make_report: MakeReport) -> None:
    report = make_report(make_cell(), make_cell(judge="openai/two", metric="hallucination"))
    assert "hallucination" not in shown(report)


def test_unread_languages_and_constructed_labels_are_said(make_report: MakeReport) -> None:
    text = shown(make_report(unreviewed=("cs",), constructed_labels=True))
    assert "No native reader has reviewed the texts in Czech." in text
    assert "passing is necessary, not sufficient" in text


def test_calls_without_an_answer_are_said_only_if_there_are_any(make_report: MakeReport) -> None:
    assert "Calls without an answer, not counted above: openai/one 3." in shown(make_report(missing={"openai/one": 3, "openai/two": 0}))
    assert "Calls without an answer" not in shown(make_report(missing={"openai/one": 0}))


@pytest.mark.parametrize("width", [80, 120])
def test_a_signature_is_one_line_to_be_pasted_whole(make_report: MakeReport, width: int) -> None:
    long = "judge:openai/one|" + "x" * 300
    report = make_report(signatures={"openai/one": long})
    console = Console(width=width, file=io.StringIO(), force_terminal=True, color_system=None)
    print_report(report, console, notes=True)
    assert isinstance(console.file, io.StringIO) and f"signature  {long}\n" in console.file.getvalue()
    assert re.search(r"^signature [0-9a-f]{8} · --notes --all --by-task$", shown(report, width), re.M)


def test_a_report_without_more_is_the_answer_and_its_verdicts(make_report: MakeReport, capsys: pytest.CaptureFixture[str]) -> None:
    print_report(make_report())
    lines = capsys.readouterr().out.splitlines()
    assert "Czech: do not use openai/one" in lines and not any(line.endswith(" ") for line in lines)
    assert "46 % [18–77]" not in "".join(lines) and not any("the difference of the two" in line for line in lines)


def test_a_pipe_gets_room_and_no_colour_and_the_width_that_is_asked_for(
    make_report: MakeReport, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    print_report(make_report(), by_task=True)
    text = capsys.readouterr().out
    assert "\x1b" not in text and "46 % [18–77]" in text and max(map(cell_len, text.splitlines())) > 80
    monkeypatch.setenv("COLUMNS", "80")
    print_report(make_report(), by_task=True)
    assert max(map(cell_len, capsys.readouterr().out.splitlines())) <= 80


def test_the_difference_over_all_metrics_stands_beside_the_shares(make_report: MakeReport) -> None:
    [summary] = make_report().summaries
    assert agreement_sentence(summary) == "It agrees with 25 % of 36 labels; a constant answer with 50 %."
    together = msgspec.structs.replace(summary, diff=-0.25, ci=(-0.4, -0.1))
    assert agreement_sentence(together).endswith("a constant answer with 50 % (judge − constant: −25 [−40 to −10]).")
    assert agreement_sentence(msgspec.structs.replace(summary, diff=-0.25)).endswith("(judge − constant: −25).")


def test_an_own_name_that_is_the_english_one_stands_once(make_cell: MakeCell, make_report: MakeReport) -> None:
    text = shown(make_report(make_cell(language="en")))
    assert "\nEnglish (en)\n" in text and "English · English" not in text


def test_the_last_line_fits_a_window_of_80_columns_however_many_signatures_there_are() -> None:
    for count in range(1, 30):
        line = closing_line([str(number) for number in range(count)], left_out={"tone": 2_317}, notes=29, more="--notes")
        assert len(line) <= 80, line
