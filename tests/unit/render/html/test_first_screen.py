"""The first screen: the title, cards, next steps, and rows or a matrix that say what the verdicts say, in all languages and in each."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from harness.decide.verdicts import Verdict
from harness.render.html.first_screen import DrawnVerdict, Known, ScreenView, VerdictList, first_screen, study_screen
from harness.render.html.marks import gap_track
from harness.reports.answer.matrix import axis_reach

MakeVerdict = Callable[..., Verdict]


def screen(*verdicts: Verdict) -> ScreenView:
    """The view of all languages."""
    found = first_screen(verdicts)
    assert found is not None
    return found.views[0]


def listed(*verdicts: Verdict) -> VerdictList:
    [only] = screen(*verdicts).answers
    return only.list


def drawn(*verdicts: Verdict) -> DrawnVerdict:
    [group] = listed(*verdicts).groups
    return group.rows[0]


def words(view: ScreenView) -> list[str]:
    return [card.sentence for card in view.cards]


@pytest.fixture
def use(make_verdict: MakeVerdict) -> Callable[..., Verdict]:
    return lambda **other: make_verdict(**({"verdict": "use", "reason": "", "obstacles": (), "gap": 0.05, "family_bound": -0.04} | other))


@pytest.fixture
def unclear(make_verdict: MakeVerdict) -> Callable[..., Verdict]:
    fields: dict[str, Any] = {"verdict": "too few labels", "reason": "neither is shown", "gap": -0.03, "obstacles": ("people",)}
    return lambda **other: make_verdict(**(fields | other))


def test_languages_are_grouped_by_verdict(make_verdict: MakeVerdict, use: MakeVerdict, unclear: MakeVerdict) -> None:
    made = screen(
        use(language="te"), use(language="te", metric="style"), use(language="hi"), unclear(language="hi", metric="style"), make_verdict()
    )
    assert words(made) == [
        "Use it in Telugu and Hindi (task quality).",
        "Do not use it in Czech.",
        "Unknown: Hindi (style): more labels will not help.",
    ]


def test_languages_of_which_nothing_is_shown_are_named(use: MakeVerdict, unclear: MakeVerdict) -> None:
    first, last = words(screen(use(language="te"), unclear(language="te", metric="style"), unclear(language="ja")))
    assert first == "Use it in Telugu (task quality)."
    assert last == "Unknown: Telugu (style) and Japanese (task quality): more labels will not help."
    many = screen(use(), *(unclear(language=tag, k=k) for tag, k in (("ja", 90), ("de", 60), ("fr", None), ("it", None))))
    assert words(many)[1] == "Unknown: 4 of 5 questions."
    assert many.cards[1].note == "Label more: 2; more labels will not help: 2."


def test_each_language_has_its_own_answer_and_the_correction_stays(use: MakeVerdict, make_verdict: MakeVerdict) -> None:
    tested = {"family": 2, "settings": "alpha=0.05 correction=holm family=judge"}
    found = first_screen([use(**tested), make_verdict(language="ja", **tested)])
    assert found and [view.name for view in found.views] == ["All", "Czech", "Japanese"] and found.title == found.views[0].title
    _, czech, japanese = found.views
    assert czech.title == "Czech: openai/one may be used for the only question" and words(czech) == ["Use it in Czech."]
    assert "over all 2 tests in all languages, of which 1 are shown" in czech.sure
    assert japanese.title == "Japanese: do not use openai/one" and [group.heading for group in japanese.answers[0].list.groups] == [
        "Do not use it"
    ]
    one = first_screen([use()])
    assert one and len(one.views) == 1


def test_several_judges_have_a_matrix(make_verdict: MakeVerdict, use: MakeVerdict, unclear: MakeVerdict) -> None:
    found = screen(use(judge="one"), unclear(judge="one", language="ja"), make_verdict(judge="two", gap=-0.3))
    assert words(found) == ["Use one in Czech.", "Unknown: Japanese (task quality): more labels will not help."]
    assert [step.text for step in found.steps] == ["read judgments of Czech (task quality) – two"]
    [matrix] = found.matrices
    assert matrix.rows_are == "judge" and matrix.axis == "judge − people"
    (czech, japanese), (other, nothing) = (row.squares for row in matrix.rows)
    assert czech and (czech.parts, czech.number) == ((("good", "✓", "use"),), "+5") and japanese and japanese.parts[0][0] == "open"
    assert matrix.rows[1].name == "two" and other and (other.parts, other.number) == ((("bad", "✗", "below people"),), "−30")
    assert nothing is None and other.show["judge"] == "two" and other.show["language"] == "cs"


def test_in_one_language_questions_are_grouped_and_judges_are_columns(
    use: MakeVerdict, make_verdict: MakeVerdict, unclear: MakeVerdict
) -> None:
    found = screen(
        *(use(judge=name) for name in "abcd"),
        *(make_verdict(judge=name, metric="style") for name in "abcd"),
        *(unclear(judge=name, metric="tone", k=60) for name in "abcd"),
    )
    assert words(found) == [
        "Use a for task quality.",
        "Use no judge for style: up to 20 points below people, shown for all 4.",
        "Unknown: Czech (tone): label 60 more.",
    ]
    [matrix] = found.matrices
    assert matrix.rows_are == "question" and [column.name for column in matrix.columns] == list("abcd")
    assert [(row.group, row.name) for row in matrix.rows] == [
        ("A judge may stand in for people", "task quality"),
        ("Unknown", "tone"),
        ("No judge may be used", "style"),
    ]
    assert matrix.columns[0].counts == (("good", "✓", 1), ("bad", "✗", 1), ("open", "○", 1))
    open_, bad = matrix.rows[1].squares[0], matrix.rows[2].squares[0]
    assert open_ and open_.parts == (("open", "○", "label 60 more"),)
    assert bad and bad.number == "−20" and "style: do not use" in bad.title and bad.show["metric"] == "style"


def test_of_several_languages_and_metrics_a_square_counts_them(use: MakeVerdict, make_verdict: MakeVerdict) -> None:
    own = [use(judge="one"), make_verdict(judge="one", metric="style"), use(judge="one", language="ja")]
    [found] = screen(make_verdict(judge="two"), *own).matrices
    assert found.rows_are == "judge" and [column.name for column in found.columns] == ["Czech", "Japanese"] and not found.axis
    assert [row.name for row in found.rows] == ["one", "two"], "the judge with most shown for it comes first"
    square = found.rows[0].squares[0]
    assert square and square.parts == (("good", "✓", "1"), ("bad", "✗", "1"))


def test_the_plainest_condition_comes_first(unclear: MakeVerdict) -> None:
    found = screen(unclear(variant="joint"), unclear(variant="single", temperature=0.7), unclear(variant="single"))
    assert found.title == "Czech: it is unknown whether openai/one may be used, however it is asked"
    [matrix] = found.matrices
    names = ["one metric a call, temperature 0", "one metric a call, temperature 0.7", "all metrics in one call, temperature 0"]
    assert [column.name for column in matrix.columns] == names == [one.name for one in found.answers]


def test_judges_with_several_conditions_have_a_chooser(use: MakeVerdict, unclear: MakeVerdict) -> None:
    asked = ("single", "joint")
    matrices = screen(*(use(judge=name, variant=variant) for name in "ab" for variant in asked)).matrices
    assert [matrix.condition for matrix in matrices] == ["one metric a call", "all metrics in one call"]
    assert [[column.name for column in matrix.columns] for matrix in matrices] == [["a", "b"], ["a", "b"]]
    odd = screen(*(use(judge="a", variant=variant) for variant in asked), unclear(judge="b", variant="joint+detailed")).matrices
    assert odd[0].condition == "each judge's plainest condition" and len(odd[0].columns) == 2


def test_nothing_shown_is_said_once(unclear: MakeVerdict) -> None:
    assert words(screen(unclear(), unclear(language="ja"))) == [
        "Unknown: Czech (task quality) and Japanese (task quality): more labels will not help."
    ]


def test_the_title_says_what_was_found_of_one_judge(use: MakeVerdict, unclear: MakeVerdict, make_verdict: MakeVerdict) -> None:
    assert screen(use(judge="gpt")).title == "Czech: gpt may be used for the only question"
    assert (
        screen(use(judge="gpt"), unclear(judge="gpt", metric="style")).title == "Czech: gpt may be used for 1 of 2 questions, 1 is unknown"
    )
    both = screen(use(judge="gpt"), make_verdict(judge="gpt", metric="style"))
    assert both.title == "Czech: gpt may be used for 1 of 2 questions, not for 1"
    assert screen(use(verdict="use corrected")).title == "Czech: openai/one may be used with corrected means only for the only question"
    assert screen(make_verdict()).title == "Czech: do not use openai/one"
    assert screen(make_verdict(), unclear(language="ja")).title == "Do not use openai/one for 1 of 2 questions; 1 is unknown"
    assert screen(unclear()).title == "Czech: it is unknown whether openai/one may be used"
    controls = make_verdict(verdict="no verdict", controls="fails", obstacles=("constant",), gap=None, family_bound=None)
    assert screen(controls).title == "Czech: openai/one fails the controls for the only question"
    assert words(screen(controls)) == ["It fails the controls in Czech."]


def test_the_title_names_the_judge_of_several(use: MakeVerdict) -> None:
    assert screen(use(judge="gpt"), use(judge="other", gap=-0.02)).title == "Czech: gpt may be used for the only question"
    assert screen(use(judge="gpt"), use(judge="other", language="ja")).title == "gpt or other may be used for all 2 questions"


def test_baselines_have_no_first_screen(use: MakeVerdict) -> None:
    assert first_screen([]) is None
    assert first_screen([use(judge="baseline/majority")]) is None


def test_the_next_steps_are_the_least_labels_and_the_worst_texts(make_verdict: MakeVerdict, unclear: MakeVerdict) -> None:
    made = screen(
        unclear(language="ja", k=120),
        unclear(language="de", k=60),
        unclear(language="fr", k=3000, more_than_k=True),
        make_verdict(gap=-0.3),
        make_verdict(language="it", gap=-0.2),
    )
    label, *read = made.steps
    assert label.text == "label about 60 more texts for task quality in German; they are enough if the judge is as good as people"
    assert label.command == "harness labels page DATA --lang de --metrics task_quality --next 60 --out pages"
    assert [step.text for step in read] == ["read its judgments of Czech (task quality)", "read its judgments of Italian (task quality)"]
    judged = {"language": "cs", "metric": "task_quality", "judge": "openai/one", "variant": "single", "temperature": 0.0}
    assert read[0].show == judged | {"annotators": "two or more"}


def test_rows_are_grouped_by_verdict_and_say_why(make_verdict: MakeVerdict, use: MakeVerdict, unclear: MakeVerdict) -> None:
    found = listed(
        make_verdict(obstacles=("worse",)),
        use(language="te", gap=0.01),
        use(language="te", metric="style"),
        unclear(language="de", k=90),
        unclear(language="it", k=60),
        unclear(language="fr"),
    )
    assert found.axis == "judge − people" and (found.less, found.more) == ("the judge agrees less than people", "more")
    assert [(group.sign, group.heading, [row.name for row in group.rows], group.folded) for group in found.groups] == [
        ("✓", "Use it", ["Telugu · style", "Telugu · Task quality"], False),
        ("✗", "Do not use it", ["Czech · Task quality"], False),
        ("○", "Unknown: label more", ["Italian · Task quality", "German · Task quality"], True),
        ("○", "Unknown: more labels will not help", ["French · Task quality"], True),
    ]
    bad = found.groups[1].rows[0]
    assert (bad.note, bad.number) == ("20 points below people · 40 texts", "−20") and found.groups[2].rows[
        0
    ].note == "label 60 more · 40 texts"
    assert bad.drawn and 'class="gap bad"' in bad.drawn and "Czech (task quality): do not use, −20" in bad.drawn


def test_a_track_keeps_its_band_and_its_dot_on_the_axis() -> None:
    assert (axis_reach([]), axis_reach([0.31]), axis_reach([-2.0])) == (0.2, 0.4, 1.0)
    drawn = str(gap_track(0.1, (-0.9, 0.15), 0.1, 0.2, "good", "<b>"))
    assert "<b>" not in drawn and "&lt;b&gt;" in drawn
    assert 'x1="3.00%"' in drawn and 'class="margin" x="26.50%" width="23.50%"' in drawn
    assert "leaves" in drawn and "leaves" not in str(gap_track(0.1, (-0.1, 0.15), 0.1, 0.2, "good", "w")), (
        "an arrow where the line leaves the picture"
    )
    assert "margin" not in str(gap_track(0.1, (None, None), None, 0.2, "open", "w"))


@pytest.mark.parametrize(("style", "deciding"), [("good", ["-0.1"]), ("bad", ["0.15"]), ("open", [])])
def test_the_side_of_the_line_that_decided_is_bold(style: str, deciding: list[str]) -> None:
    """A judge is used because of its lower limit, and not used because of its upper one: the line shows both."""
    drawn = str(gap_track(0.1, (-0.1, 0.15), 0.1, 0.2, style, "w"))
    ends = dict(zip(re.findall(r'class="gap \w+ (\w+)" x1="([\d.]+)%"', drawn), ("-0.1", "0.15"), strict=True))
    assert len(ends) == 2 and [end for (kind, _), end in ends.items() if kind == "deciding"] == deciding
    assert "deciding" not in str(gap_track(0.1, (-0.1, 0.15), 0.1, 0.2, style, "w", decides=False)), "another number decided"


def test_without_a_second_annotator_the_rows_show_a_constant_and_say_so(make_verdict: MakeVerdict) -> None:
    alone = make_verdict(
        verdict="too few labels", gap=None, family_bound=None, people=None, agreement=None, base_diff=-0.05, obstacles=("annotators",)
    )
    found = screen(alone)
    assert [card.heading for card in found.cards] == ["Why no answer", "What is known", "What to do"]
    assert listed(alone).axis == "judge − constant" and found.steps[0].text.startswith("make the pages for a second person")
    mark = drawn(alone)
    assert mark.number == "−5" and mark.drawn and "margin" not in mark.drawn and mark.compared == ""


def test_a_verdict_without_a_gap_has_no_dot_beside_others(make_verdict: MakeVerdict) -> None:
    found = listed(make_verdict(), make_verdict(language="ja", gap=None, family_bound=None))
    assert [row.drawn is None for group in found.groups for row in group.rows if row.name.startswith("Japanese")] == [True]


def test_a_tick_says_where_so_few_texts_can_show_nothing(unclear: MakeVerdict, use: MakeVerdict) -> None:
    mark = drawn(unclear(perfect_bound=-0.15))
    assert listed(unclear(perfect_bound=-0.15)).limits and mark.drawn and 'class="limit"' in mark.drawn and "not even a judge" in mark.drawn
    for verdict in (unclear(perfect_bound=-0.08), unclear(perfect_bound=None), use(perfect_bound=-0.15)):
        assert not listed(verdict).limits and "limit" not in str(drawn(verdict).drawn)


def test_a_row_shows_the_texts_that_its_verdict_rests_on(unclear: MakeVerdict, make_verdict: MakeVerdict) -> None:
    mark = drawn(unclear())
    assert mark.show["annotators"] == "two or more" and "compared" not in mark.show
    assert drawn(make_verdict(verdict="no verdict", controls="fails", gap=None, base_bound=-0.2)).show["compared"] is True


def test_a_bad_verdict_above_people_says_why(make_verdict: MakeVerdict) -> None:
    assert drawn(make_verdict(gap=0.1, obstacles=("constant",))).note == "one class for nearly all texts · 40 texts"


def test_the_facts_name_people_and_the_day_where_they_are_known(use: MakeVerdict, make_verdict: MakeVerdict) -> None:
    def facts(verdict: Verdict, *known: Any) -> str:
        found = first_screen([verdict], Known(*known))
        assert found is not None
        return found.facts.partition("each")[2]

    assert facts(use()) == ""
    assert facts(use(), 3, "2026-11-22") == " · up to 3 annotators a text · asked on 2026-11-22"
    assert facts(use(), 1) == " · one annotator a text"
    assert facts(make_verdict(controls="passes"), 1, "2026-11-22") == " · asked on 2026-11-22"


def row(judge: str, preference: float, interval: list[float] | None, **changed: Any) -> dict[str, Any]:
    condition = {"variant": "single", "temperature": 0.0, "top_p": None}
    own = {"preference": preference, "preference_ci": interval, "recognition": 0.5, "recognition_ci": None}
    return {"judge": judge, "language": "*", "source": "*", "n": 6, **condition, **own, **changed}


def test_control_questions_follow(make_verdict: Callable[..., Verdict]) -> None:
    controls = first_screen([make_verdict(controls="passes")])
    screen = study_screen(controls, {"self_preference": {"rows": [row("a", 0.4, [0.3, 0.6], language="cs", n=1)]}})
    assert controls and screen and screen.title == "It is unknown whether a prefers its own texts" and len(screen.lead) == 1
    [view], [known] = screen.views, controls.views
    assert view.cards == known.cards and view.title == screen.title
    assert screen.heading == ("Control questions", controls.title), "they are folded below the answer"


def test_without_a_study_nothing_changes(make_verdict: Callable[..., Verdict]) -> None:
    controls = first_screen([make_verdict(controls="passes")])
    assert study_screen(controls, {}) is controls
