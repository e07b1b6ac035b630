"""Comparisons in LaTeX: what is printed is escaped, and the table is one that compiles."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.decide.verdicts import Verdict
from harness.errors import UsageError
from harness.measure.cells import Cell
from harness.measure.compare import Comparison
from harness.render.latex import escape, to_latex
from harness.reports.comparison import DecidedComparison

MakeCell = Callable[..., Cell]
MakeComparison = Callable[..., Comparison]

SPECIAL = "\\&%$#_{}~^"


def bare(text: str) -> str:
    """Without what is escaped: whatever is special in it now does what it does in LaTeX."""
    return re.sub(r"\\(?:text\w+\{\}|[&%$#_{}])", "", text)


def rows(table: str) -> list[list[str]]:
    body = table.partition(r"\toprule")[2].partition(r"\bottomrule")[0]
    return [bare(line).removesuffix(r" \\").split(" & ") for line in body.splitlines() if line.endswith(r"\\")]


def after(head: list[str], row: list[str]) -> dict[str, tuple[str, str]]:
    """By heading: the number below it, and what stands beside that."""
    beside = [*row[1:], ""]
    return {name: (row[place], beside[place]) for place, name in enumerate(head)}


def balanced(text: str) -> bool:
    depth = 0
    for letter in bare(text):
        depth += (letter == "{") - (letter == "}")
        if depth < 0:
            return False
    return depth == 0 and bare(text).count("$") % 2 == 0


@pytest.mark.parametrize("letter", SPECIAL)
def test_special_characters_are_printed(letter: str) -> None:
    assert bare(escape(f"a{letter}b")) == "ab" and escape(f"a{letter}b") != f"a{letter}b"


@given(st.text(st.sampled_from(SPECIAL + "ab é日\n")))
def test_no_text_does_anything(text: str) -> None:
    assert not set(bare(escape(text))) & set(SPECIAL)


@pytest.mark.parametrize(("value", "text"), [(None, "--"), (0.5, "0.5"), (0.0, "0"), (3, "3"), ("a\x1b[31mb", "a[31mb")])
def test_whatever_a_key_may_be_is_text(value: object, text: str) -> None:
    assert escape(value) == text


@pytest.mark.parametrize("name", ["*", "[1cm]", "* x", " [x", "\n*"])
def test_a_row_that_begins_like_an_option_of_the_line_before_is_text(
    name: str, make_cell: MakeCell, make_comparison: MakeComparison
) -> None:
    """After `\\\\`, in the next line too, a star and a bracket would be taken for an option."""
    assert escape(name) == "{}" + " ".join(name.split())
    written = to_latex(make_comparison(make_cell(language=name), make_cell(language="cs")))
    assert not any(line.lstrip().startswith(("*", "[")) for line in written.splitlines())


@pytest.mark.parametrize("name", ["task_quality", "50%", "a&b", "$x$", "x^2", r"\input{secret}", "}{", "日本語", "~", "#1"])
def test_a_table_has_equal_rows_and_balanced_braces_whatever_it_names(
    make_cell: MakeCell, make_comparison: MakeComparison, name: str
) -> None:
    table = to_latex(make_comparison(make_cell(metric=name, judge=name), make_cell(undefined=True)))
    lines = rows(table)
    assert len(lines) == 3 and {len(line) for line in lines} == {len(lines[0])}
    columns = re.search(r"\\begin\{tabular\}\{([^}]+)\}", table)
    assert columns and len(re.sub(r"S\[table-format=[-\d.]+\]", "S", columns[1])) == len(lines[0])
    assert table.count(r"\begin{tabular}") == table.count(r"\end{tabular}") == table.count(r"\bottomrule") == 1
    assert balanced(table.partition("\n")[2])


def test_numbers_come_with_their_intervals_and_what_is_undefined_is_a_dash(make_cell: MakeCell, make_comparison: MakeComparison) -> None:
    head, one, other = rows(to_latex(make_comparison(make_cell(), make_cell(undefined=True, metric="hallucination"))))
    shown, absent = after(head, one), after(head, other)
    assert shown["{agreement ()}"] == ("45.7", "{$[18.1, 76.9]$}") and shown["{judge $-$ constant (points)}"] == (
        "-33.3",
        "{$[-54.0, -13.0]$}",
    )
    assert shown["{Cohen's $\\kappa$}"] == ("0.210", "{$[-0.100, 0.400]$}") and shown["{$n$}"][0] == "18"
    assert (absent["{agreement ()}"], absent["{leniency}"]) == (("{--}", "{}"), ("{--}", "{}"))
    assert not any("nan" in cell or "None" in cell for cell in other)


def test_a_nominal_metric_has_dashes_for_what_it_lacks(make_cell: MakeCell, make_comparison: MakeComparison) -> None:
    cell = make_cell(leniency=None)
    cell.intervals.pop("leniency")
    assert rows(to_latex(make_comparison(cell, make_cell(judge="other"))))[1][-2:] == ["{--}", "{}"]
    assert "leniency" not in to_latex(make_comparison(cell))


def test_keys_that_do_not_tell_cells_apart_are_left_out(make_cell: MakeCell, make_comparison: MakeComparison) -> None:
    both = make_comparison(make_cell(), make_cell(judge="openai/two"))
    assert rows(to_latex(both))[0][:4] == ["language", "metric", "judge", "{$n$}"]
    assert rows(to_latex(make_comparison(make_cell())))[0][:3] == ["language", "metric", "{$n$}"]


def test_the_signature_is_a_comment(make_cell: MakeCell, make_comparison: MakeComparison) -> None:
    table = to_latex(make_comparison(make_cell(), signature="data:d%41|seed:0"))
    assert table.splitlines()[0] == "% data:d%41|seed:0" and table.endswith("\\end{tabular}\n")


def test_systems_have_columns_of_their_own(make_cell: MakeCell, make_comparison: MakeComparison) -> None:
    cell = make_cell(kendall_tau=0.8, kendall_tau_ci=(0.6, 0.9), n=5)
    head, row = rows(to_latex(make_comparison(cell, level="system")))
    assert head[2:4] == ["{systems}", r"{Kendall's $\tau$}"] and row[2:] == ["5", "0.800", "{$[0.600, 0.900]$}"]


def test_no_cells_are_a_table_without_rows(make_comparison: MakeComparison) -> None:
    assert len(rows(to_latex(make_comparison()))) == 1


def test_the_paired_difference_and_peoples_figures_are_columns(make_cell: MakeCell, make_comparison: MakeComparison) -> None:
    versus = {"with": "openai/two", "diff": 0.1, "ci": (0.05, 0.15), "p": 0.01, "q": 0.0001}
    latex = to_latex(
        make_comparison(make_cell(versus=versus, pairwise_gap=-0.2, pairwise_gap_ci=(-0.3, -0.1)), make_cell(judge="openai/two"))
    )
    assert "{judge $-$ other (points)}" in latex and " 10.0 & {$[5.0, 15.0]$}" in latex
    assert "{person--person pairs (\\%)}" in latex and "{difference of pairs (points)}" in latex
    assert " -20.0 & {$[-30.0, -10.0]$}" in latex
    assert "judge $-$ other" not in to_latex(make_comparison(make_cell(), make_cell(judge="openai/two")))


def verdict_rows(*verdicts: Verdict) -> list[dict[str, str]]:
    comparison = DecidedComparison(signature="data:d|seed:0", ci_method="", cells=(), verdicts=verdicts)
    head, *lines = rows(to_latex(comparison))
    return [dict(zip(head, line, strict=True)) for line in lines]


def test_verdicts_have_their_own_definitions(make_verdict: Callable[..., Verdict], make_cell: MakeCell) -> None:
    """The agreement beside a verdict is the one that it rests on, with unread answers as disagreement; its limits are on both sides."""
    worse = make_verdict(agreement=0.4, people=0.6, gap=-0.2, family_bound=-0.35, family_upper=-0.12)
    [row] = verdict_rows(worse)
    assert (row["verdict"], row["because"], row["{judge (%)}".replace("%", "")]) == ("do not use", "20 points below people", "40")
    assert (row["{difference}"], row["{limits}"]) == ("-20", "{$[-35, -12]$}")
    [unknown] = verdict_rows(make_verdict(verdict="too few labels", obstacles=("people",), k=90))
    assert (unknown["verdict"], unknown["because"]) == ("unknown", "label 90 more")


def test_a_long_table_breaks_over_pages(make_verdict: Callable[..., Verdict]) -> None:
    verdicts = tuple(make_verdict(metric=f"m{number}") for number in range(50))
    written = to_latex(DecidedComparison(signature="data:d|seed:0", ci_method="", cells=(), verdicts=verdicts))
    assert r"\begin{longtable}" in written and r"\endhead" in written and "longtable}" in written.partition(r"\toprule")[0]
    assert balanced(written.partition(r"\toprule")[2].partition(r"\bottomrule")[0])


def test_shares_of_classes_have_a_table_of_their_own(make_cell: MakeCell, make_comparison: MakeComparison) -> None:
    cell = make_cell(distribution_labels={"0": 0.25, "1": 0.75}, distribution_judge={"1": 1.0})
    head, *lines = rows(to_latex(make_comparison(cell), "shares"))
    assert head[-3:] == ["class", "{labels ()}", "{judge ()}"] and [line[-3:] for line in lines] == [["0", "25", "0"], ["1", "75", "100"]]
    with pytest.raises(UsageError, match="no cell has shares of classes"):
        to_latex(make_comparison(make_cell(distribution_labels=None)), "shares")
