"""The answer of verdicts: who may be used for what, how sure that is, and what to do next; pages and screens print the same words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.decide.verdicts import Verdict
from harness.render.verdict_text import answer_lines
from harness.reports.answer.build_answer import BoardVerdicts, answer_of_boards, build_answer
from harness.reports.answer.next_steps import LabelPages, label_pages
from tests.conftest import write_rows

MakeVerdict = Callable[..., Verdict]
USE: dict[str, Any] = {"verdict": "use", "reason": "", "obstacles": (), "gap": 0.05}
UNCLEAR: dict[str, Any] = {"verdict": "too few labels", "gap": -0.03, "obstacles": ("people",)}


def sentences(*sides: list[Verdict]) -> list[str]:
    return [sentence for _, sentence in build_answer(sides).sentences]


def test_an_answer_needs_a_verdict() -> None:
    with pytest.raises(ValueError, match="at least one verdict"):
        build_answer([])
    assert list(answer_lines([])) == []


def test_of_several_judges_the_one_for_most_questions_is_named(make_verdict: MakeVerdict) -> None:
    wide = [make_verdict(judge="wide", metric=metric, **USE | {"gap": 0.0, "family_bound": -0.08}) for metric in ("a", "b")]
    close = [make_verdict(judge="close", metric="a", **USE | {"gap": 0.2}), make_verdict(judge="close", metric="b", **UNCLEAR)]
    [card] = build_answer([wide, close]).cards
    assert card.sentence == "Use wide in Czech."
    assert card.note == "At worst 8 points less than people; 40 texts each. Next best: close, 1 of 2 questions."


def test_a_question_that_one_judge_leaves_open_is_not_closed_by_another(make_verdict: MakeVerdict) -> None:
    bad, open_, worse = [make_verdict(judge="bad")], [make_verdict(judge="open", **UNCLEAR)], [make_verdict(judge="worse")]
    assert sentences(bad, open_) == ["Unknown: Czech (task quality): more labels will not help."]
    assert sentences(bad, worse) == ["Use no judge in Czech: up to 20 points below people, shown for both."]


def test_a_card_gives_the_reason_beside_a_number_that_is_none(make_verdict: MakeVerdict) -> None:
    """A judge that agrees as people do and is still below the baseline would seem to contradict its verdict."""
    odd = {"gap": 0.11, "obstacles": ("base_worse",)}
    below = "5 points below a constant answer"
    assert sentences([make_verdict(judge="one", **odd)], [make_verdict(judge="two", **odd)]) == [
        f"Use no judge in Czech: up to {below}, shown for both."
    ]
    mixed = [make_verdict(metric="a", obstacles=("worse",)), make_verdict(metric="b", **odd)]
    assert build_answer([mixed]).cards[0].note == f"Up to 20 points below people, or up to {below}; 40 texts each."


def test_the_title_of_several_judges_is_the_answer(make_verdict: MakeVerdict) -> None:
    bad, open_, use = [make_verdict(judge="bad")], [make_verdict(judge="open", **UNCLEAR)], [make_verdict(judge="good", **USE)]
    assert build_answer([bad, [make_verdict(judge="worse")]]).title == "Czech: no judge may be used"
    assert build_answer([bad, open_]).title == "Czech: it is unknown whether a judge may be used"
    assert build_answer([bad, use]).title == "Czech: good may be used for the only question"
    style = [make_verdict(judge=name, metric="style") for name in ("good", "bad")]
    tone = [make_verdict(judge="bad", metric="tone"), make_verdict(judge="good", metric="tone", **UNCLEAR)]
    assert build_answer([[*bad, style[1]], [*open_, make_verdict(judge="open", metric="style")]]).title == (
        "Czech: use no judge for 1 of 2 questions; 1 is unknown"
    )
    several = build_answer([[*use, style[0], tone[1]], [*bad, style[1], tone[0]]])
    assert several.title == "Czech: good may be used for 1 of 3 questions, no judge for 1; 1 is unknown"
    other = make_verdict(judge="other", language="ja", **USE)
    assert build_answer([use, [other]]).title == "good or other may be used for all 2 questions"
    third = make_verdict(judge="third", language="de", **USE)
    assert build_answer([use, [other], [third]]).title == "One of 3 judges may be used for all 3 questions"
    controls = {"verdict": "no verdict", "obstacles": ("constant",), "gap": None, "family_bound": None, "controls": "fails"}
    assert build_answer([[make_verdict(judge=name, **controls)] for name in "ab"]).title == "Czech: no judge passes the controls"


def test_baselines_of_several_boards_have_a_sentence_too() -> None:
    answer = answer_of_boards([BoardVerdicts((), {}, only_baselines=True)])
    assert answer is not None and answer.title == "Only baselines were asked; an answer needs a judge"


def test_headings_of_a_matrix_of_one_condition_say_so(make_verdict: MakeVerdict) -> None:
    """Cards are about all conditions, so a question can be open there and closed under the condition that is shown."""
    sides = [
        [
            make_verdict(judge=judge, variant=variant, metric=metric, **(UNCLEAR if (variant, metric) == ("single", "a") else {}))
            for metric in "ab"
        ]
        for judge in ("one", "two")
        for variant in ("single", "joint")
    ]
    [single, _] = build_answer(sides).matrices
    assert [row.group for row in single.rows] == ["Unknown, asked this way", "No judge may be used, asked this way"]


def test_conditions_of_one_judge_are_named_in_plain_words(make_verdict: MakeVerdict) -> None:
    asked = [[make_verdict(variant="single", **UNCLEAR)], [make_verdict(variant="joint", **USE)]]
    answer = build_answer(asked)
    assert answer.title == "Czech: openai/one may be used for the only question under one condition or more"
    assert answer.cards[0].sentence == "Use openai/one (all metrics in one call) in Czech."
    half = build_answer([[make_verdict(variant="single", **UNCLEAR)], [make_verdict(variant="joint")]])
    assert half.cards[0].note == "Do not use openai/one (all metrics in one call) for 1 of 1 question."
    other = [[make_verdict(judge="two", variant="Prompt 3", temperature=t, **USE)] for t in (0.0, 0.7)]
    assert "Use two (temperature 0) in Czech." in sentences(*other, [make_verdict(judge="three")])
    never = build_answer([[make_verdict(variant=name)] for name in ("single", "joint")])
    assert never.title == "Czech: do not use openai/one, however it is asked"
    assert never.cards[0].sentence == "Do not use openai/one in Czech: up to 20 points below people, shown under all 2 conditions."


def test_without_second_scores_an_answer_says_why_what_is_known_and_what_to_do(make_verdict: MakeVerdict) -> None:
    alone: dict[str, Any] = {"verdict": "no verdict", "gap": None, "people": None, "obstacles": ("annotators",)}
    settings = "margin=0.1 alpha=0.05 correction=holm family=judge items=40 groups=25"
    near, far = ([make_verdict(judge=name, base_diff=diff, settings=settings, **alone)] for name, diff in (("near", 0.02), ("far", -0.15)))
    answer = build_answer([near, far], LabelPages("harness labels page set --fields source,output", {"cs": 60.0}))
    assert answer.title == "Czech: it is unknown which judge may be used: each text has one score" and not answer.sure
    why, known, todo = answer.cards
    assert why.sentence.startswith("Why no answer: No judge can be held against how far people agree")
    assert (
        "the best judge (near) is 2 points more often equal to the labels; the worst (far) is 15 points less often equal" in known.sentence
    )
    assert todo.sentence == "What to do: Ask a second person to score 40 or more of these texts, from at least 25 different sources."
    [step] = answer.steps
    assert step.text == "make the pages for a second person (40 texts: about 40 min)"
    assert step.command == "harness labels page set --fields source,output --lang cs --second --next 40 --annotators 1 --out pages"
    assert build_answer([near]).title == "Czech: it is unknown whether near may be used: each text has one score"


def test_many_languages_are_counted(make_verdict: MakeVerdict) -> None:
    tags = ("cs", "ja", "de", "fr", "es", "it", "pl", "nl", "sv")
    bad, open_ = [make_verdict(language=tag) for tag in tags], [make_verdict(language=tag, **UNCLEAR) for tag in tags]
    assert sentences([*bad, make_verdict(language="en", **USE)])[1] == "Do not use it in 9 languages (9 questions)."
    assert sentences([*open_, make_verdict(language="en", **USE)])[1] == "Unknown: 9 of 10 questions."


def test_corrected_means_say_what_a_label_counts(make_verdict: MakeVerdict) -> None:
    [card] = build_answer([[make_verdict(verdict="use corrected", gain=2.51)]]).cards
    assert (card.sentence, card.note) == ("Use it with corrected means only in Czech.", "Each label counts as 2.51 labels.")


def test_how_sure_an_answer_is_comes_from_the_thresholds_of_the_verdicts(make_verdict: MakeVerdict) -> None:
    settings = "margin=0.05 alpha=0.1 correction=holm family=judge"

    def sure(*judges: str, family: int, settings: str = settings, shown: int = 1) -> str:
        own = (
            [make_verdict(judge=name, metric=f"m{n}", **USE, settings=settings, family=family, margin=0.05) for n in range(shown)]
            for name in judges
        )
        return build_answer(list(own)).sure

    means = "'As good as people' means: at most 5 points less agreement with people than they have with each other."
    assert sure("a", family=2, shown=2) == f"A wrong 'use' has about a 10 % chance over these 2 tests. {means}"
    assert "over all 30 tests in all languages, of which 2 are shown." in sure("a", family=30, shown=2), (
        "the correction is over what was tested"
    )
    assert "over the 2 tests of each judge." in sure("a", "b", family=2, shown=2)
    assert "over the 60 tests of all judges." in sure("a", "b", family=60, settings=settings.replace("=judge", "=all"))
    assert sure("a", family=30, settings=settings.replace("holm", "by")) == means, (
        "with 'by' the share of false ones is bounded, not the chance"
    )


def test_lines_have_the_command_of_the_next_step(make_verdict: MakeVerdict) -> None:
    found = list(answer_lines([make_verdict(**UNCLEAR | {"k": 60}), make_verdict(language="ja", **USE)]))
    lines = [line.full_text for line in found]
    assert found[0].style == "title" and lines[0] == "openai/one may be used for 1 of 2 questions, 1 is unknown" and len(lines) <= 6
    assert any(line.startswith("✓ Use it in Japanese. At worst 35 points less than people") for line in lines), "with the card's note"
    assert "○ Unknown: Czech (task quality): label 60 more." in lines
    assert "they are enough if the judge is as good as people" in lines[-1]
    assert lines[-1].endswith("harness labels page DATA --lang cs --metrics task_quality --next 60 --out pages")


@pytest.mark.parametrize(
    ("waiting", "said", "flags"),
    [
        (60, "about 60 more texts for task quality in Czech; they are enough if the judge is as good as people", "--next 60"),
        (7, "as good as people. This set has 7 left; bring new ones for the rest", "--next 7"),
        (0, "Every text of this set is labelled: bring new ones", ""),
    ],
)
def test_a_step_asks_only_for_texts_that_the_set_has(make_verdict: MakeVerdict, waiting: int, said: str, flags: str) -> None:
    pages = LabelPages("harness labels page set", {}, {"cs": {"task_quality": waiting}})
    [step, *_] = build_answer([[make_verdict(**UNCLEAR | {"k": 60})]], pages).steps
    assert said in step.text and step.command == (
        f"harness labels page set --lang cs --metrics task_quality {flags} --out pages" if flags else ""
    )


def test_baselines_have_no_answer(make_verdict: MakeVerdict) -> None:
    [line] = answer_lines([make_verdict(judge="baseline/majority")])
    assert line.sentence == "Only baselines were asked; an answer needs a judge" and list(answer_lines([])) == []


def test_people_see_the_texts_of_the_data_and_never_systems(tmp_path: Path) -> None:
    items = [{"item_id": "a", "language": "cs", "task": "translation", "system": "m", "source": "A house.", "output": "Dům.", "note": "?"}]
    write_rows(tmp_path / "set" / "items.jsonl", items)
    write_rows(tmp_path / "set" / "labels.jsonl", [{"item_id": "a", "annotator_id": "x", "metric": "quality", "score": 1}])
    about = 'id = "set"\nsource = "people"\nannotators = "persistent"\n[metrics.quality]\nkind = "ordinal"\nclasses = [0, 1]\nbest = 1\n'
    (tmp_path / "set" / "data.toml").write_text(about, "utf-8")
    pages = label_pages("set", harness.load(tmp_path / "set"))
    assert pages.command == "harness labels page set --fields source,output"
    assert pages.time("cs", 400) == "about 60 min" and pages.unlabelled == {"cs": {"quality": 0}}, "people labelled it"


def test_texts_of_other_names_are_shown_on_pages(tmp_path: Path) -> None:
    """The next step of a set of one's own works: its texts have names that no bundled task has."""
    answers = [f"An answer with the number {n}." for n in range(4)]
    items = [
        {"item_id": f"i{n}", "language": "en", "task": "own", "answer": text, "notes": f"seen by {n}, bad"}
        for n, text in enumerate(answers)
    ]
    write_rows(tmp_path / "set" / "items.jsonl", items)
    labels = [{"item_id": item["item_id"], "annotator_id": "p", "metric": "fluency", "score": 1} for item in items]
    write_rows(tmp_path / "set" / "labels.jsonl", labels)
    (tmp_path / "set" / "data.toml").write_text('id = "set"\n[metrics.fluency]\nkind = "ordinal"\nclasses = [0, 1]\nbest = 1\n', "utf-8")
    assert label_pages("set", harness.load(tmp_path / "set")).command == "harness labels page set --fields answer"


SEVERAL_BOARDS_USE: dict[str, Any] = {"verdict": "use", "reason": "", "obstacles": (), "gap": 0.05}
SEVERAL_BOARDS_UNCLEAR: dict[str, Any] = {"verdict": "too few labels", "gap": -0.03, "obstacles": ("people",)}
SETTINGS = "margin=0.1 alpha=0.05 correction=holm family=judge"


def test_boards_asked_together_have_one_answer_by_language_and_by_what_people_ask_about(make_verdict: MakeVerdict) -> None:
    harm = BoardVerdicts(
        (
            *(make_verdict(language="ja", metric=metric, settings=SETTINGS, family=4) for metric in ("insult", "violence")),
            make_verdict(language="ja", metric="self_harm", **SEVERAL_BOARDS_UNCLEAR),
            make_verdict(metric="insult", **SEVERAL_BOARDS_USE),
        ),
        {"insult": "harm", "violence": "harm", "self_harm": "harm"},
    )
    pairs = BoardVerdicts((make_verdict(language="ja", metric="preference", **SEVERAL_BOARDS_USE),), {"preference": "preference"})
    order = BoardVerdicts((), {"translation_quality_0_4": "translation"}, (("ja", "openai/one", "translation_quality_0_4"),))
    answer = answer_of_boards([harm, pairs, order])
    assert answer is not None and answer.title == "openai/one may be used for 2 of 5 questions"
    assert answer.sentences == (
        ("good", "Czech: use it for harm."),
        ("good", "Japanese: use it for preference."),
        ("bad", "Japanese: do not use it for harm (insult, violent content)."),
        ("open", "Japanese: unknown for harm (self-harm) (more labels will not help)."),
        ("open", "Japanese: no verdict for translation: its scores stand beside people's by order alone."),
    )
    assert "over the tests of a judge on one board" in answer.sure


def test_what_boards_leave_open_is_not_called_unfit(make_verdict: MakeVerdict) -> None:
    order = BoardVerdicts((), {}, (("ja", "openai/one", "fluency"),))
    for boards, title in (
        ([order], "It is unknown whether openai/one may be used"),
        ([BoardVerdicts((make_verdict(),), {}), order], "Do not use openai/one for 1 of 1 question"),
        ([BoardVerdicts((make_verdict(),), {})], "Do not use openai/one"),
    ):
        answer = answer_of_boards(boards)
        assert answer is not None and answer.title == title
    assert answer_of_boards([BoardVerdicts((), {})]) is None


def test_several_judges_on_boards_are_named(make_verdict: MakeVerdict) -> None:
    answer = answer_of_boards(
        [
            BoardVerdicts(
                (make_verdict(judge="a", **SEVERAL_BOARDS_USE), make_verdict(judge="b", **SEVERAL_BOARDS_UNCLEAR)),
                {"task_quality": "summary"},
            )
        ]
    )
    assert answer is not None
    assert [sentence for _, sentence in answer.sentences] == [
        "Czech, a: use it for summary.",
        "Czech, b: unknown for summary (more labels will not help).",
    ]
