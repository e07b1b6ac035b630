"""The first screen: the title, languages grouped by verdict, next steps, and a plot that says what the verdicts say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.decide.verdicts import Verdict
from harness.render.forest import axis_reach
from harness.render.html.first_screen import FirstScreen, JudgeAnswer, first_screen
from harness.render.html.marks import gap_track

MakeVerdict = Callable[..., Verdict]


def screen(*verdicts: Verdict) -> FirstScreen:
    found = first_screen(verdicts)
    assert found is not None
    return found


def answer(*verdicts: Verdict) -> JudgeAnswer:
    [only] = screen(*verdicts).answers
    return only


@pytest.fixture
def use(make_verdict: MakeVerdict) -> Callable[..., Verdict]:
    return lambda **other: make_verdict(**({"verdict": "use", "reason": "", "obstacles": (), "gap": 0.05, "family_bound": -0.04} | other))


@pytest.fixture
def unclear(make_verdict: MakeVerdict) -> Callable[..., Verdict]:
    fields: dict[str, Any] = {"verdict": "too few labels", "reason": "neither is shown", "gap": -0.03, "obstacles": ("people",)}
    return lambda **other: make_verdict(**(fields | other))


def test_languages_are_grouped_by_verdict(make_verdict: MakeVerdict, use: MakeVerdict, unclear: MakeVerdict) -> None:
    made = answer(
        use(language="te"), use(language="te", metric="style"), use(language="hi"), unclear(language="hi", metric="style"), make_verdict()
    )
    assert made.sentences == (
        ("good", "Use it in Telugu and Hindi (task quality)."),
        ("bad", "Do not use it in Czech."),
        ("open", "Nothing is shown on the other metrics of these languages."),
    )


def test_languages_of_which_nothing_is_shown_are_named(use: MakeVerdict, unclear: MakeVerdict) -> None:
    first, last = answer(use(language="te"), unclear(language="te", metric="style"), unclear(language="ja")).sentences
    assert first[1] == "Use it in Telugu (task quality)."
    assert last[1] == "Nothing is shown in Japanese, nor on the other metrics of the languages above."
    assert answer(use(), unclear(language="ja"), unclear(language="de")).sentences[1][1] == "Nothing is shown in Japanese and German."


def test_many_metrics_of_a_language_are_counted(use: MakeVerdict, unclear: MakeVerdict) -> None:
    made = answer(*(use(metric=name) for name in ("a", "b", "c")), unclear(metric="d"))
    assert made.sentences[0][1] == "Use it for a, b and c."


def test_several_judges_have_an_overview(make_verdict: MakeVerdict, use: MakeVerdict, unclear: MakeVerdict) -> None:
    found = screen(use(judge="one"), unclear(judge="one", language="ja"), make_verdict(judge="two", gap=-0.3))
    assert found.sentences == (
        ("good", "Use one in Czech."),
        ("open", "Not known yet in Japanese."),
    )
    assert [step.text for step in found.steps] == ["read judgments of Czech (task quality) – two"]
    assert found.overview and found.overview.rows_are == "judge" and found.overview.axis == "judge − people"
    (czech, japanese), (other, nothing) = (row.squares for row in found.overview.rows)
    name = found.overview.rows[1].name
    assert czech and czech.parts == (("good", "✓", "use +5"),) and japanese and japanese.parts[0][0] == "open"
    assert name == "two" and other and other.parts == (("bad", "✗", "do not use −30"),) and nothing is None
    assert other.show["judge"] == "two" and other.show["language"] == "cs"


def test_of_many_judges_the_best_is_named_by_metric(use: MakeVerdict, make_verdict: MakeVerdict, unclear: MakeVerdict) -> None:
    found = screen(
        *(use(judge=name) for name in "abcd"), *(make_verdict(judge=name, metric="style") for name in "abcd"), unclear(judge="e")
    )
    assert [words for _, words in found.sentences] == [
        "Use a for task quality.",
        "Use no judge for style: shown for all 4.",
    ]
    assert found.overview and found.overview.rows_are == "question" and found.overview.columns == tuple("abcde")
    assert [row.name for row in found.overview.rows] == ["task quality", "style"]
    square = found.overview.rows[1].squares[0]
    assert square and square.parts == (("bad", "✗", "do not use −20"),) and "style: do not use" in square.title
    assert square.show["metric"] == "style" and found.overview.rows[1].squares[-1] is None


def test_of_several_languages_and_metrics_a_square_counts_them(use: MakeVerdict, make_verdict: MakeVerdict) -> None:
    own = [use(judge="one"), make_verdict(judge="one", metric="style"), use(judge="one", language="ja")]
    found = screen(make_verdict(judge="two"), *own).overview
    assert found and found.rows_are == "judge" and found.columns == ("Czech", "Japanese") and not found.axis
    assert [row.name for row in found.rows] == ["one", "two"], "the judge with most shown for it comes first"
    square = found.rows[0].squares[0]
    assert square and square.parts == (("good", "✓", "1"), ("bad", "✗", "1"))


def test_the_plainest_condition_comes_first(unclear: MakeVerdict) -> None:
    found = screen(unclear(variant="joint"), unclear(variant="single", temperature=0.7), unclear(variant="single"))
    assert found.title == "How asked may openai/one score Czech texts?" and found.overview and found.overview.rows_are == "condition"
    assert [row.name for row in found.overview.rows] == ["single, temperature 0", "single, temperature 0.7", "joint, temperature 0"]
    assert [one.name for one in found.answers] == [row.name for row in found.overview.rows]


def test_no_judge_can_be_compared_where_nobody_labelled_twice(make_verdict: MakeVerdict) -> None:
    alone = {"verdict": "too few labels", "gap": None, "people": None, "base_diff": -0.05, "obstacles": ("annotators",)}
    found = screen(make_verdict(judge="one", **alone), make_verdict(judge="two", **alone))
    assert found.sentences == (("open", "No judge can be compared with people: no text has a second annotator."),)
    assert found.overview and found.overview.axis == "judge − constant"


def test_nothing_shown_is_said_once(unclear: MakeVerdict) -> None:
    [(style, sentence)] = answer(unclear(), unclear(language="ja")).sentences
    assert (style, sentence) == ("open", "In no language is it shown to be as good as people, and in none to be worse.")


def test_the_title_says_what_was_found_of_one_judge(use: MakeVerdict, unclear: MakeVerdict, make_verdict: MakeVerdict) -> None:
    assert screen(use(judge="gpt")).title == "gpt may be used for the only question"
    assert screen(use(judge="gpt"), unclear(judge="gpt", metric="style")).title == "gpt may be used for 1 of 2 questions"
    assert screen(use(verdict="use corrected")).title == "openai/one may be used with corrected means only for the only question"
    assert screen(make_verdict()).title == "Do not use openai/one"
    assert screen(make_verdict(), unclear(language="ja")).title == "openai/one is shown fit for none of 2 questions"
    assert screen(unclear()).title == "It is not known yet whether openai/one may be used"
    controls = make_verdict(verdict="no verdict", controls="fails", obstacles=("constant",), gap=None, family_bound=None)
    assert screen(controls).title == "openai/one fails the controls for the only question"
    assert answer(controls).sentences == (("bad", "It fails the controls in Czech."),)


def test_the_title_asks_which_of_several_judges(use: MakeVerdict) -> None:
    assert screen(use(judge="gpt"), use(judge="other")).title == "Which judge may score Czech texts?"
    assert screen(use(judge="gpt"), use(judge="other", language="ja")).title == "Which judge may score texts, in which language?"


def test_baselines_have_no_first_screen(use: MakeVerdict) -> None:
    assert first_screen([]) is None
    assert first_screen([use(judge="baseline/majority")]) is None


def test_the_next_steps_are_the_least_labels_and_the_worst_texts(make_verdict: MakeVerdict, unclear: MakeVerdict) -> None:
    made = answer(
        unclear(language="ja", k=120),
        unclear(language="de", k=60),
        unclear(language="fr", k=3000, more_than_k=True),
        make_verdict(gap=-0.3),
        make_verdict(language="it", gap=-0.2),
    )
    label, *read = made.steps
    assert label.text == "label about 60 more texts in German (task quality), enough if the judge is as good as people"
    assert label.command == "harness labels page DATA --lang de --metrics task_quality --next 60 --out pages"
    assert [step.text for step in read] == ["read its judgments of Czech (task quality)", "read its judgments of Italian (task quality)"]
    judged = {"language": "cs", "metric": "task_quality", "judge": "openai/one", "variant": "single", "temperature": 0.0}
    assert read[0].show == judged | {"annotators": "two or more"}


def test_the_plot_has_the_best_language_first_and_says_the_verdict_in_words(make_verdict: MakeVerdict, use: MakeVerdict) -> None:
    plot = answer(make_verdict(), use(language="te", metric="style"), use(language="te")).plot
    assert plot.axis == "judge − people" and [language for language, _ in plot.rows] == ["te", "cs"]
    style, quality = plot.metrics.index("style"), plot.metrics.index("Task quality")
    czech = dict(plot.rows)["cs"]
    assert czech[style] is None
    bad = czech[quality]
    assert bad is not None and (bad.words, bad.style, bad.number) == ("do not use", "bad", "−20")
    assert 'class="gap bad"' in bad.drawn and "Czech (task quality): do not use, −20" in bad.drawn


def test_a_track_keeps_its_band_and_its_dot_on_the_axis() -> None:
    assert (axis_reach([]), axis_reach([0.31]), axis_reach([-2.0])) == (0.2, 0.4, 1.0)
    drawn = str(gap_track(0.1, -0.9, 0.1, 0.2, "good", "<b>"))
    assert "<b>" not in drawn and "&lt;b&gt;" in drawn
    assert 'x1="3.00%"' in drawn and 'class="margin" x="26.50%" width="23.50%"' in drawn
    assert "margin" not in str(gap_track(0.1, None, None, 0.2, "open", "w"))


def test_without_a_second_annotator_the_plot_shows_a_constant_and_says_so(make_verdict: MakeVerdict) -> None:
    alone = make_verdict(
        verdict="too few labels", gap=None, family_bound=None, people=None, agreement=None, base_diff=-0.05, obstacles=("annotators",)
    )
    made = answer(alone)
    assert made.sentences == (("open", "It cannot be compared with people: no text has a second annotator."),)
    assert made.plot.axis == "judge − constant" and made.steps[0].text.startswith("let a second person label")
    [(_, [mark])] = made.plot.rows
    assert mark is not None and mark.number == "−5" and "margin" not in mark.drawn


def test_a_verdict_without_a_gap_has_no_dot_beside_others(make_verdict: MakeVerdict) -> None:
    plot = answer(make_verdict(), make_verdict(language="ja", gap=None, family_bound=None)).plot
    assert plot.axis == "judge − people" and dict(plot.rows)["ja"] == (None,)


def test_a_tick_says_where_so_few_texts_can_show_nothing(unclear: MakeVerdict, use: MakeVerdict) -> None:
    few = answer(unclear(perfect_bound=-0.15)).plot
    [(_, [mark])] = few.rows
    assert few.limits and mark and 'class="limit"' in mark.drawn and "not even a judge" in mark.drawn
    for verdict in (unclear(perfect_bound=-0.08), unclear(perfect_bound=None), use(perfect_bound=-0.15)):
        plot = answer(verdict).plot
        [(_, [mark])] = plot.rows
        assert not plot.limits and mark and "limit" not in mark.drawn


def test_a_mark_shows_the_texts_that_its_verdict_rests_on(unclear: MakeVerdict, make_verdict: MakeVerdict) -> None:
    [(_, [mark])] = answer(unclear()).plot.rows
    assert mark and mark.show["annotators"] == "two or more" and "compared" not in mark.show
    [(_, [mark])] = answer(make_verdict(verdict="no verdict", controls="fails", gap=None, base_bound=-0.2)).plot.rows
    assert mark and mark.show["compared"] is True


def test_a_bad_verdict_above_people_says_why(make_verdict: MakeVerdict) -> None:
    [(_, [mark])] = answer(make_verdict(gap=0.1, obstacles=("constant",))).plot.rows
    assert mark and mark.words == "do not use: one class for all"


def test_the_facts_name_people_and_the_day_where_they_are_known(use: MakeVerdict, make_verdict: MakeVerdict) -> None:
    def facts(verdict: Verdict, *known: Any) -> str:
        found = first_screen([verdict], *known)
        assert found is not None
        return found.facts.partition("each")[2]

    assert facts(use()) == ""
    assert facts(use(), 3, "2026-11-22") == " · up to 3 annotators a text · asked on 2026-11-22"
    assert facts(use(), 1) == " · one annotator a text"
    assert facts(make_verdict(controls="passes"), 1, "2026-11-22") == " · asked on 2026-11-22"
