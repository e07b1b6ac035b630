"""Verdict tables: nothing is cut at usual widths, languages are named once, judges come before baselines."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Callable
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console, Group

from harness.decide.verdicts import Verdict
from harness.measure.cells import Cell
from harness.render.comparison import render_comparison, show
from harness.render.fitted_table import FittedTable
from harness.render.terminal import closing_line, render_answer
from harness.render.verdict_text import screen_tables, two_people_sentence, verdict_tables
from harness.reports.answer.judged_sides import side_text
from harness.reports.answer.next_steps import LabelPages
from harness.reports.answer.verdict_words import side_names
from harness.reports.comparison import DecidedComparison
from harness.text import absent_words

MakeVerdict = Callable[..., Verdict]
USE = {"verdict": "use", "reason": "", "obstacles": (), "q_use": 0.001, "gap": 0.02, "family_bound": -0.05}
UNCLEAR = {"verdict": "too few labels", "reason": "neither is shown", "obstacles": ("people",), "k": 40}


def shown(verdicts: list[Verdict], width: int) -> str:
    console = Console(width=width, file=io.StringIO(), force_terminal=True, color_system=None)
    console.print(Group(*(FittedTable(table) for _, table in verdict_tables(verdicts, width))))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.fixture
def many(make_verdict: MakeVerdict) -> list[Verdict]:
    metrics = ("linguistic_acceptability", "output_content_quality", "problematic_content")
    return [
        *(make_verdict(language="ml", metric=name) for name in metrics),
        make_verdict(language="ja", verdict="too few labels", k=3000, more_than_k=True, obstacles=("people", "baseline")),
        make_verdict(language="ja", metric="style", verdict="use corrected", k=1240, obstacles=("cells",)),
    ]


@pytest.mark.parametrize("width", [80, 100, 120, 160, 200])
def test_nothing_is_cut_at_any_usual_width(many: list[Verdict], width: int) -> None:
    text = shown(many, width)
    assert "…" not in text and all(cell_len(line) <= width for line in text.splitlines())
    for piece in (
        "Malayalam",
        "Japanese",
        "acceptability",
        "do not use",
        "○ unknown",
        "use corrected",
        "too few",
    ):
        assert piece in text
    rows = [line for line in text.splitlines() if any(word in line for word in ("do not use", "○ unknown", "use corrected"))]
    assert len(rows) == len(many), "no row is broken"


def test_a_terminal_shows_decided_rows_then_those_that_few_labels_settle(make_verdict: MakeVerdict) -> None:
    unclear = {"verdict": "too few labels", "obstacles": ("people",)}
    verdicts = [
        make_verdict(language="de", k=90, **unclear),
        make_verdict(language="it", k=60, **unclear),
        make_verdict(language="fr", **unclear),
        make_verdict(),
    ]
    [found] = screen_tables(verdicts)
    assert [row[0] for row in found.table.rows] == ["Czech", "Italian", "German"] and found.below == "1 more unknown: --all."
    assert [row[2:4] for row in found.table.rows] == [
        ("✗ do not use", "20 points below people"),
        ("○ unknown", "label 60 more"),
        ("○ unknown", "label 90 more"),
    ]
    [narrow] = screen_tables(verdicts, 80)
    assert (
        "person–person pairs" in narrow.table.absent
        and absent_words(narrow.table.absent).startswith("Not in this width: ")
        and not absent_words(())
    )
    [whole] = screen_tables(verdicts, all_rows=True)
    assert len(whole.table.rows) == 4 and whole.below == ""


def test_a_terminal_shows_several_judges_as_a_matrix(make_verdict: MakeVerdict) -> None:
    use = {"verdict": "use", "obstacles": (), "gap": 0.09}
    [found] = screen_tables([make_verdict(judge="a", **use), make_verdict(judge="b"), make_verdict(judge="a", metric="style", **use)])
    assert [heading.text for heading in found.table.headings] == ["question", "a", "b"]
    assert found.table.rows == (("style", "✓ +9", "–"), ("task quality", "✓ +9", "✗ −20"))
    asked = [make_verdict(judge=name, variant=variant) for name in "ab" for variant in ("single", "joint")]
    [plainest] = screen_tables(asked)
    assert plainest.below == "Shown: asked with one metric a call. --all has 1 other condition."


ANSWERED = {
    "one judge": (("one",), ("cs", "ja", "ml", "gu", "hi", "te")),
    "several judges": (("one", "two", "three"), ("cs", "ja", "ml", "gu")),
    "one language": (("one", "two", "three", "four"), ("cs",)),
}


@pytest.mark.parametrize("width", [80, 120, 180])
@pytest.mark.parametrize("judges, languages", ANSWERED.values(), ids=ANSWERED)
def test_an_answer_stands_once_above_the_verdicts_and_no_line_is_wider_than_asked_for(
    judges: tuple[str, ...],
    languages: tuple[str, ...],
    width: int,
    make_verdict: MakeVerdict,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    metrics = {"task_quality": USE, "style": {}, "output_content_quality": UNCLEAR, "problematic_content": UNCLEAR | {"k": None}}
    verdicts = tuple(
        make_verdict(language=tag, metric=metric, judge=f"openai/judge-{name}", **own)
        for tag in languages
        for name in judges
        for metric, own in metrics.items()
    )
    pages = LabelPages("harness labels page some/folder --fields prompt,system_prompt,output", {"cs": 90.0})
    found = DecidedComparison(signature="data:d|seed:0", ci_method="", cells=(), verdicts=verdicts, pages=pages)
    monkeypatch.setenv("COLUMNS", str(width))
    show(lambda width: render_comparison(found, width=width), closing_line([found.signature], left_out={"style": 317}, notes=4))
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert max(map(cell_len, lines)) <= width and not any(line != line.rstrip() for line in lines)
    starts = [next(n for n, line in enumerate(lines) if line.startswith(sign)) for sign in ("✓ Use", "○", "'As good as people'", "Next: ")]
    assert starts == sorted(starts) and starts[-1] < lines.index(""), "the answer stands above the table"
    assert lines[-1].startswith("317 texts left out · 4 notes · signature ") and len(lines[-1]) <= 80
    [command] = re.findall(r"harness labels page (?:.*\\\n)*.*", text)
    said = shlex.split(command.replace("\\\n", " "))
    assert said == shlex.split(f"{pages.command} --lang cs --metrics output_content_quality --next 40 --out pages"), (
        "a shell reads one command"
    )
    for piece in ("'As good as people' means", "they are enough if"):
        assert " ".join(text.split()).count(piece) == 1


@pytest.mark.parametrize("width", [80, 180])
def test_where_nobody_can_know_the_next_step_is_said_at_any_width(width: int, make_verdict: MakeVerdict) -> None:
    alone = {"verdict": "no verdict", "gap": None, "people": None, "obstacles": ("annotators",), "base_diff": 0.02}
    pages = LabelPages("harness labels page set --fields source,output", {"cs": 60.0})
    answer = render_answer([make_verdict(**alone)], pages, width)
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(Group(*answer))
    assert isinstance(console.file, io.StringIO)
    text = " ".join(console.file.getvalue().replace("\\\n", " ").split())
    assert "→ What to do: Ask a second person to score" in text and "--lang cs --second --next" in text


def test_a_language_is_named_once(many: list[Verdict]) -> None:
    assert shown(many, 80).count("Malayalam") == 1


def test_baselines_alone_are_shown_under_their_plainest_condition(make_verdict: MakeVerdict) -> None:
    verdicts = [
        make_verdict(judge=f"baseline/{name}", temperature=temperature) for name in ("length", "random") for temperature in (0.7, 0.0)
    ]
    shown = list(screen_tables(verdicts))
    assert [table.name for table in shown] == [f"baseline/{name}, single, temperature 0" for name in ("length", "random")]
    assert {table.below for table in shown} == {"Shown: the plainest condition of each. --all has 2 other conditions."}
    assert len(list(screen_tables(verdicts, all_rows=True))) == 4


def test_judges_come_before_baselines_and_are_named_where_there_are_several(make_verdict: MakeVerdict) -> None:
    verdicts = [make_verdict(judge="baseline/random"), make_verdict(judge="openai/one", temperature=None, top_p=0.9)]
    assert [name for name, _ in verdict_tables(verdicts)] == ["openai/one, single, top-p 0.9", "baseline/random, single, temperature 0"]
    assert [name for name, _ in verdict_tables(verdicts[:1])] == [""]


def test_two_runs_of_one_judge_are_named_by_their_sources(make_verdict: MakeVerdict) -> None:
    sides = [[make_verdict(key={"source": name, "judge": "openai/one", "variant": "single"})] for name in ("march", "june")]
    assert side_names(sides) == ["march", "june"]
    assert side_text({"source": "march", "judge": "openai/one", "temperature": 0.3}) == "march: openai/one, temperature 0.3"


MakeCell = Callable[..., Cell]
CI = {"human_second_pearson_ci": (-0.3, 0.5)}
CZECH: dict[str, Any] = {"language": "cs", "human_second_pearson": 0.002, "human_second_kendall_tau": -0.06, **CI}
JAPANESE: dict[str, Any] = {"language": "ja", "human_second_pearson": 0.36, "human_second_kendall_tau": 0.19, **CI}


@pytest.fixture
def numeric(make_cell: MakeCell) -> MakeCell:
    return lambda **other: make_cell(**({"pearson": 0.2, "kendall_tau": 0.1, "score_counts": {"second_ratings": 1089}} | other))


def test_without_second_ratings_nothing_is_said(numeric: MakeCell) -> None:
    assert two_people_sentence([]) == two_people_sentence([numeric()]) == ""


def test_of_too_few_texts_for_an_interval_nothing_is_said(numeric: MakeCell) -> None:
    assert two_people_sentence([numeric(**CZECH | {"human_second_pearson_ci": None}, score_counts={"second_ratings": 4})]) == ""


def test_people_stand_beside_the_lowest_and_the_highest_judge_of_each_language(numeric: MakeCell) -> None:
    judges = [{"judge": "openai/one"}, {"judge": "openai/two", "pearson": -0.07, "kendall_tau": None}]
    sentence = two_people_sentence([numeric(**place, **judge) for place in (CZECH, JAPANESE) for judge in judges])
    assert sentence.replace("\u00a0", " ") == (
        "In Czech a second person scored 1,089 texts: the two people's scores correlate by r .00, τ −.06, the scores of judges and people "
        "by r −.07 to .20, τ .10. In Japanese a second person scored 1,089 texts: the two people's scores correlate by r .36, τ .19, the "
        "scores of judges and people by r −.07 to .20, τ .10. Where people agree little, a low correlation says little against a judge."
    )


def test_people_who_agree_excuse_no_judge(numeric: MakeCell) -> None:
    sentence = two_people_sentence([numeric(language="cs", human_second_pearson=0.8, human_second_kendall_tau=0.7, **CI)])
    assert sentence.endswith("the scores of the judge and people by r\u00a0.20, τ\u00a0.10.")


def test_baselines_and_pooled_cells_do_not_count(numeric: MakeCell) -> None:
    assert two_people_sentence([numeric(judge="baseline/majority", **{**CZECH}), numeric(**{**CZECH, "language": "*"})]) == ""


def test_metrics_are_named_where_they_differ(numeric: MakeCell) -> None:
    sentence = two_people_sentence([numeric(metric=name, **CZECH) for name in ("coherence", "surprise")])
    assert "In Czech (coherence) a second person scored 1,089 texts:" in sentence and " In Czech (surprise) a second" in sentence
