"""Standings as tables: what they say, and that nothing from a submission is markup in them."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from rich.cells import cell_len
from rich.console import Console

from harness.boards.probes import Finding
from harness.boards.standings import Contender, Overall, Spending, Standings
from harness.decide.verdicts import Verdict
from harness.measure.board_ranking_by_scores import AnnotatorFigures, MatchedPair, RankedJudge, Ranking
from harness.measure.item_table import AnswerCounts
from harness.render.html.boards import board_pages
from harness.render.markdown import escape, standings_markdown
from harness.render.standings import heading, print_standings, render_standings, standings_notes, verdict_table
from harness.reports.board_answer import board_answer, board_facts, language_answer

EVIL = "<script>alert(1)</script>|`x`[a](javascript:b)\x1b[31m\u202e\x00 ![i](http://x.y) **b** &lt; @you [red]rich[/red]"
SPENT = {"ja": Spending(1.25, 840.0, "2026-04"), "cs": Spending(None, 840.0, None)}


def judge(called: str, /, **other: Any) -> Contender:
    said: dict[str, Any] = {
        "title": "",
        "model": called,
        "baseline": called.startswith("baseline/"),
        "status": "submitted",
        "open_weights": "no",
        "exposure": "possible",
        "exposure_note": "",
        "families": (),
        "answered_by": {},
        "spending": SPENT,
        "answers": AnswerCounts(57, {}),
    }
    return Contender(**{"id": called, "name": called} | said | other)


def placed(name: str, rank: int | None, **other: Any) -> RankedJudge:
    said: dict[str, Any] = {
        "rank_ci": (1, 2),
        "group": "a",
        "value": 0.8421,
        "value_ci": (0.7, 0.91),
        "baseline_diff": 0.2,
        "baseline_ci": (0.05, 0.35),
        "beats_baseline": True,
        "n_ref": 57,
        "n": 55,
        "coverage": 55 / 57,
        "failures": {"not_json": 2},
        "statistics": {"cohen_kappa": 0.61, "alpha_ordinal": None, "alpha_nominal": 0.6, "leniency": -0.08},
        "matched": None,
        "consistency": None,
    }
    return RankedJudge(**{"judge": name, "rank": rank} | said | other)


ROWS = (
    placed("openai/one", 1),
    placed("openai/two", 2, value=0.58, baseline_diff=-0.02, baseline_ci=(-0.2, 0.1), beats_baseline=False),
    placed(
        "baseline/majority",
        None,
        rank_ci=None,
        group="",
        value=0.6,
        value_ci=None,
        baseline_diff=0.0,
        baseline_ci=(-0.1, 0.1),
        beats_baseline=False,
        failures={},
    ),
)


def table(language: str = "ja", **other: Any) -> Ranking:
    said: dict[str, Any] = {
        "variant": "single",
        "metric": "*",
        "metrics": ("task_quality",),
        "questions": 57,
        "texts": 12,
        "baseline": 0.6,
        "rows": ROWS,
        "people": None,
        "groups": ((1, 2),),
        "reason": None,
    }
    return Ranking(**{"language": language} | said | other)


def made(**other: Any) -> Standings:
    names = ("openai/one", "baseline/majority", "openai/two")
    mean = {"ja": 0.8, "cs": 0.6}
    said: dict[str, Any] = {
        "schema_version": 1,
        "board": "mini@1.0.0",
        "title": "Mini",
        "description": "Few calls.",
        "rank_by": "pa_failed_wrong",
        "statistics": ("pa_failed_wrong", "cohen_kappa", "alpha_nominal", "alpha_ordinal", "leniency"),
        "languages": ("ja", "cs"),
        "variants": ("single",),
        "repeats": 1,
        "constructed": True,
        "native": False,
        "unreviewed": ("ja",),
        "judges": tuple(map(judge, names)),
        "tables": (table(), table(metric="task_quality"), table("cs")),
        "verdicts": (),
        "overall": (
            Overall("openai/one", "single", mean, 0.7, 0.6, "cs", 1, 2, {"not shown": 2}),
            Overall("openai/two", "single", mean | {"cs": None}, None, None, None, 0, 1, {"use": 1}),
        ),
    }
    return Standings(**said | other)


def terminal(found: Standings, *more: Any, width: int = 240) -> str:
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(render_standings(found, *more, width=width, all_tables=True))
    return out.getvalue()


@pytest.mark.parametrize("width", [80, 100, 140])
def test_a_narrow_terminal_has_the_first_columns_whole_and_names_the_others(width: int) -> None:
    shown = terminal(made(), width=width)
    assert all(len(line) <= width for line in shown.splitlines())
    assert "84 % [70–91]" in shown and "Not in this width: " in shown and ". A wider window" in " ".join(shown.split())
    assert "Not in this width" not in terminal(made())


def test_tables_of_languages_wait_for_all(capsys: pytest.CaptureFixture[str]) -> None:
    found = [Finding("repeats", "openai/one", "It differs.", {}, True), Finding("repeats", "openai/two", "It does not.", {}, False)]
    print_standings(made(), found)
    short = capsys.readouterr().out
    assert "Japanese · " not in short and "It differs." not in short and "agreement, failed = wrong:" not in short
    assert "what probes find (1 judge to look at closer), and what the headings mean; --lang ja shows one language" in " ".join(
        short.split()
    )
    assert "passing is necessary, not sufficient" in short
    print_standings(made(), found, all_tables=True)
    whole = capsys.readouterr().out
    assert "Japanese · " in whole and "It differs." in whole and "agreement, failed = wrong:" in whole and "--all adds" not in whole


@pytest.mark.parametrize("width", [80, 120, 180])
def test_a_pipe_has_an_answer_and_a_row_for_each_language(
    width: int, make_verdict: Callable[..., Verdict], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tags, metrics = ("ja", "cs", "zh-Hant", "bn"), ("task_quality", "output_content_quality", "problematic_content", "style", "tone")
    use = {"verdict": "use", "obstacles": (), "gap": 0.02}
    verdicts = tuple(
        make_verdict(language=tag, metric=metric, judge=name, **(use if (name, metric) == ("openai/one", "style") else {}))
        for tag in tags
        for metric in metrics
        for name in ("openai/one", "openai/two")
    )
    behind = tuple(replace_row(row) for row in ROWS)
    tables = tuple(table(tag, rows=behind if tag == "bn" else ROWS) for tag in tags)
    monkeypatch.setenv("COLUMNS", str(width))
    print_standings(made(constructed=False, native=True, languages=tags, tables=tables, verdicts=verdicts))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(cell_len, lines)) <= width and not any(line != line.rstrip() for line in lines)
    first, second = [number for number, line in enumerate(lines) if not line][:2]
    answer = lines[first + 1 : second]
    assert any(line.startswith("✓ Use openai/one") for line in answer)
    start = lines.index("Verdicts")
    rows = [line for line in lines[start : lines.index("", start)] if line.startswith(("Japanese", "Czech", "Chinese", "Bangla"))]
    assert len(rows) == len(tags) and all("✓" in row or "use: openai/one" in row for row in rows)
    assert lines.index("", start) - lines.index(rows[0]) == len(tags), "no row is broken"
    text = " ".join(" ".join(lines).split())
    for piece in (
        "shown to beat a constant answer in three of four languages",
        "to be worse than a constant answer in one of four",
        "'As good as people' means",
    ):
        assert piece in text, "what has no room above stands below"


def replace_row(row: RankedJudge) -> RankedJudge:
    """The same row of a judge that is shown to be worse than a constant answer."""
    return msgspec.structs.replace(row, baseline_diff=-0.3, baseline_ci=(-0.4, -0.2), beats_baseline=False)


def test_a_row_has_its_rank_with_interval_its_group_and_its_numbers() -> None:
    shown = terminal(made())
    [line] = [line for line in shown.splitlines() if "openai/one" in line and "1 [1–2]" in line][:1]
    for part in ("a", "84 % [70–91]", "+20 [+5 to +35]", ".61", ".60", "−8", "96 %", "not json 2", "1.25", "840", "submitted", "possible"):
        assert part in line


def test_a_judge_that_does_not_beat_the_baseline_is_marked_and_a_baseline_is_called_one() -> None:
    lines = terminal(made()).splitlines()
    marked = [line for line in lines if "does not beat a constant answer" in line and "openai/" in line]
    assert marked and all("openai/two" in line for line in marked)
    assert all(" baseline " in line for line in lines if "baseline/majority" in line and "[" in line)


def test_a_blank_mean_is_a_dash_and_the_worst_language_stands_beside_a_mean() -> None:
    text = standings_markdown(made())
    assert "| openai/one | 70 % | 60 % cs | 1 of 2 | unknown 2 | 80 % | 60 % |" in text
    assert "| openai/two | – | – | 0 of 1 | use 1 | 80 % | – |" in text


def test_constructed_labels_are_in_the_title_and_native_ones_bring_people() -> None:
    assert heading(made()) == "Mini (constructed labels)"
    assert heading(made(title="Mini (constructed labels)")) == "Mini (constructed labels)"
    matched = MatchedPair(0.71, 0.74, -0.03, (-0.08, 0.02), 50)
    native = made(
        constructed=False, tables=(table(rows=(placed("openai/one", 1, matched=matched),), people=AnnotatorFigures(0.74, (0.7, 0.78), 50)),)
    )
    text = standings_markdown(native)
    assert heading(native) == "Mini" and "constructed" not in text
    assert "people, leave-one-out" in text and "71 %" in text and escape("−3 [−8 to +2]") in text
    assert "people, leave-one-out" not in standings_markdown(made())


@pytest.mark.parametrize(("native", "words"), [(True, "native speakers' labels"), (False, "people's labels")])
def test_native_speakers_are_named_only_where_labels_are_theirs(native: bool, words: str) -> None:
    assert board_facts(made(constructed=False, native=native)).endswith(words)
    assert board_facts(made(constructed=True, native=native)).endswith("constructed labels")


def test_too_few_texts_are_said_in_words() -> None:
    few = table(rows=(placed("openai/one", 1, rank_ci=None, group="", beats_baseline=None),), groups=(), reason="too few independent texts")
    shown = terminal(made(tables=(few,)))
    assert "No rank intervals and no groups: too few independent texts (12; 8 are needed)." in shown
    assert "too few texts to tell" in shown


def test_unknown_prices_say_so_and_known_ones_their_date() -> None:
    shown = terminal(made())
    assert "price unknown" in shown and "Prices of 2026-04." in shown
    assert all("Prices of" not in line for line in standings_notes(made(judges=(judge("openai/one", spending={}),), tables=())))


def test_a_language_alone_has_its_metrics_too() -> None:
    shown = terminal(made(), (), "ja")
    assert "task quality · 57 questions" in shown and "Czech" not in shown and "All languages" not in shown


def test_findings_are_shown_by_judge() -> None:
    found = [Finding("repeats", "openai/two", "3 of 10 prompts differ.", {}, True), Finding("twins", "openai/two", "None.", {}, False)]
    assert "look closer: 3 of 10 prompts differ." in terminal(made(), found)


def test_a_board_without_submissions_says_so() -> None:
    empty = made(judges=(), tables=(), overall=())
    assert "No submissions yet" in terminal(empty) and "No submissions yet" in standings_markdown(empty)


def test_the_file_is_deterministic_and_says_what_made_it() -> None:
    text = standings_markdown(made())
    assert text == standings_markdown(made()) and text.splitlines()[0].startswith("<!-- Generated by 'harness board build'")
    assert text.endswith("\n") and not text.endswith("\n\n")


def test_every_row_of_a_table_has_as_many_cells_as_its_head() -> None:
    rows = [line for line in standings_markdown(made()).splitlines() if line.startswith("|")]
    widths = {line.replace("\\|", "").count("|") for line in rows}
    assert rows and len(widths) <= 2  # of the table of all languages, and of those of one


@pytest.mark.parametrize("where", ["title", "name", "status", "board", "description"])
def test_nothing_from_a_submission_is_markup_in_markdown(where: str) -> None:
    evil = judge("openai/one", **{where: EVIL}) if where in ("title", "name", "status") else judge("openai/one")
    found = made(judges=(evil, *made().judges[1:]), **({where: EVIL} if where in ("title", "board", "description") else {}))
    body = standings_markdown(found).partition("\n")[2]
    assert "\\<script\\>" in body
    for raw in ("<script", "\x1b", "\u202e", "\x00", "http://", "[a](", "`x`", "@you", "**b**"):
        assert raw not in body.replace("\\<", "").replace("\\[a\\](", "").replace("\\`", "").replace("\\*", "")


def test_nothing_from_a_submission_is_markup_or_control_in_the_terminal() -> None:
    found = made(title=EVIL, judges=(judge("openai/one", title=EVIL), *made().judges[1:]))
    shown = terminal(found, [Finding("twins", "openai/one", EVIL, {}, True)])
    assert not set(shown) & set("\x1b\u202e\x00") and "[red]rich[/red]" in shown


@pytest.mark.parametrize("text", ["1. a", "+ a", "- a", "# a", "===", "a\nb", "www.x.y", "mailto:a", "a@b.c", "$x$", "~~a~~", "&copy;"])
def test_what_would_be_markup_is_escaped(text: str) -> None:
    found = escape(text)
    assert found != text and "\n" not in found


def test_everything_is_in_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    found = made()
    assert msgspec.convert(found.as_json(), Standings) == found


def test_the_answer_stands_first_and_probes_in_short_last() -> None:
    found = [Finding("twins", "openai/two", "All are copied.", {}, True), Finding("repeats", "openai/two", "Fine.", {}, False)]
    text = standings_markdown(made(), found)
    assert text.index("openai/one is shown to beat a constant answer in two of two languages.") < text.index("## All languages")
    assert "- openai/two: look closer. All are copied.\n" in text and "Fine." not in text
    assert "No probe says" in standings_markdown(made(), found[1:]) and "## Probes" not in standings_markdown(made())
    assert "openai/one is shown to beat a constant answer in Japanese." in terminal(made(), (), "ja")
    assert "2 judges · 1 baseline · 2 languages · 57 questions on 12 independent texts each · constructed labels" in terminal(made())


def test_without_a_judge_ahead_the_answer_says_so_for_all_languages() -> None:
    behind = table(rows=tuple(msgspec.structs.replace(row, beats_baseline=False) for row in ROWS))
    assert "No judge is shown to beat a constant answer in any of two languages." in standings_markdown(made(tables=(behind,)))


class TestBelowTheBaseline:
    """A judge worse than a constant answer is called so on every face; it may have the first place all the same."""

    @pytest.fixture
    def worst(self) -> Standings:
        rows = (
            placed("openai/one", 1, rank_ci=(1, 1), value=0.4, baseline_diff=-0.2, baseline_ci=(-0.3, -0.1), beats_baseline=False),
            ROWS[2],
        )
        names = ("openai/one", "baseline/majority")
        tables = (table(rows=rows, groups=()), table("cs", rows=rows, groups=()))
        return made(judges=tuple(map(judge, names)), tables=tables, overall=())

    def test_in_the_terminal_and_in_markdown(self, worst: Standings) -> None:
        for text in (terminal(worst), standings_markdown(worst)):
            assert "is shown to be worse than a constant answer in two of two languages." in text
            assert "1 [1–1] ▼" in text.replace("\\", "") and "▼: shown to be worse than a constant answer" in text
            assert "worse than a constant answer" in text.partition("Notes")[0]

    def test_on_the_pages_of_a_language(self, worst: Standings) -> None:
        assert any("is shown to be worse than a constant answer." in sentence for _, sentence in language_answer(worst, "ja").sentences)
        pages = board_pages([(worst, ())])
        assert "1 [1–1] ▼" in pages["mini-ja.html"]
        assert "is shown to be worse than a constant answer</h1>" in pages["mini-ja.html"]
        assert (
            "is shown to be worse than a constant answer in two of two languages." in pages["mini.html"] and "below" in pages["mini.html"]
        )


def test_on_peoples_labels_verdicts_come_first_by_language_and_metric(make_verdict: Callable[..., Verdict]) -> None:
    judges = ("openai/one", "openai/two")
    use = {"verdict": "use", "reason": "", "obstacles": ()}
    given = (
        make_verdict(judge="openai/one", language="ja", metric="fluency", **use),
        make_verdict(judge="openai/two", language="ja", metric="fluency"),
        *(make_verdict(judge=judge, language="ja", metric="harm") for judge in judges),
        make_verdict(judge="openai/one", language="cs", metric="harm"),
        make_verdict(judge="openai/two", language="cs", metric="harm", verdict="too few labels"),
        make_verdict(judge="baseline/majority", language="cs", metric="harm"),
    )
    standing = made(constructed=False, verdicts=given)
    table = verdict_table(standing)
    assert table is not None and [heading.name for heading in table.headings] == ["language", "fluency", "harm"]
    assert table.rows == (
        ("Japanese", "use: openai/one", "do not use: all 2"),
        ("Czech", "–", "unknown; do not use: 1 of 2"),
    )
    only = verdict_table(standing, "cs")
    assert only is not None and only.rows == (("Czech", "unknown; do not use: 1 of 2"),)
    short = io.StringIO()
    Console(file=short, width=120, color_system=None).print(render_standings(standing, width=120))
    czech = next(line for line in short.getvalue().splitlines() if line.startswith("Czech"))
    assert czech.split() == ["Czech", "–", "✗", "1", "of", "2"], "a sign for each state, as the key says"
    text = standings_markdown(standing)
    assert text.index("## Verdicts") < text.index("## All languages")
    assert verdict_table(made(constructed=True, verdicts=given)) is None and verdict_table(made(constructed=False)) is None


def test_beside_a_judge_a_toy_answers_no_question(make_verdict: Callable[..., Verdict]) -> None:
    use = {"verdict": "use", "reason": "", "obstacles": ()}
    toy, judged = "decider/sparrow-nano", "openai/one"
    given = (make_verdict(judge=judged, language="ja", **use), make_verdict(judge=toy, language="ja"))
    judges = (judge(judged), judge(toy), judge("baseline/majority"))
    beside = made(constructed=False, judges=judges, verdicts=given, languages=("ja",), tables=(table(rows=(ROWS[0], ROWS[2])),))
    assert board_answer(beside).title == "Japanese: openai/one may be used for the only question"
    assert f"{toy} only shows what a measurement looks like" in " ".join(standings_notes(beside))
    alone = msgspec.structs.replace(beside, judges=judges[1:], verdicts=given[1:])
    assert board_answer(alone).title == f"Japanese: do not use {toy}"


def test_a_board_that_ranks_by_order_speaks_of_chance_and_not_of_the_baseline() -> None:
    """One answer for all texts orders none of them: on the page of the set the same judges are held against a constant answer."""
    ordered = msgspec.structs.replace(made(), rank_by="kendall_tau_within")
    sentences = " ".join(sentence for _, sentence in board_answer(ordered).sentences)
    assert "openai/one is shown to order texts better than chance in two of two languages." in sentences and "baseline" not in sentences
    said = {board.rank_by: terminal(board) for board in (made(), ordered)}
    assert "judge − constant" in said[made().rank_by] and "better than chance in" in said["kendall_tau_within"]
    single = msgspec.structs.replace(ordered, languages=("ja",))
    assert "shown to order texts better than chance in Japanese." in " ".join(words for _, words in board_answer(single).sentences)


def test_partial_submissions_are_one_line_and_no_row() -> None:
    """They have no number in any language, so a row or a card for each would only repeat long names."""
    part = {"title": "Qwen", "part": "ja only, first 5 texts of each language and task"}
    judges = (*map(judge, ("openai/one", "baseline/majority", "openai/two")), judge("local/qwen", **part))
    rows = (*made().overall, Overall("local/qwen", "single", {"ja": None, "cs": None}, None, None, None, 0, 0, {"not shown": 2}))
    text = standings_markdown(made(judges=judges, overall=rows))
    assert text.count("Qwen") == 1 and "Partial submissions have no rank: Qwen (ja only, first 5 texts of each language and task)." in text
    assert "2 judges · 1 partial submission ·" in text


def test_a_judge_has_one_sentence_about_the_languages_in_which_it_is_better_and_worse() -> None:
    """Two cards of the same judge, far from each other, read as a contradiction."""
    below = tuple(msgspec.structs.replace(row, baseline_ci=(-0.3, -0.1), beats_baseline=False) for row in ROWS)
    sentences = [card.sentence for card in board_answer(made(tables=(table(), table("cs", rows=below)))).cards]
    [about_one] = [sentence for sentence in sentences if sentence.startswith("openai/one")]
    assert "is shown to beat a constant answer in one of two languages (Japanese), and shown to be worse" in about_one


def test_a_board_of_orders_says_that_its_yardstick_is_not_that_of_verdicts(make_verdict: Any) -> None:
    verdicts = (make_verdict(language="ja", judge="openai/one", metric="style", verdict="do not use", obstacles=("base_worse",)),)
    by_order = board_answer(made(rank_by="kendall_tau_within", constructed=False, verdicts=verdicts))
    assert "can order texts better than chance and still be unfit for use" in by_order.sure
    assert "chance and still" not in board_answer(made(constructed=False, verdicts=verdicts)).sure
