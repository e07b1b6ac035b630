"""What the atlas says in words: which judge, on what evidence, how old it is, and what would find out more."""

from __future__ import annotations

import datetime
from pathlib import Path

from harness.content.specs import DatasetCard
from harness.judge_atlas.atlas import AtlasJudge, AtlasRow, atlas_bytes, read_atlas
from harness.judge_atlas.atlas_rows import ComparedSet, across_sets, joined
from harness.render.html.atlas_site import atlas_site
from harness.reports.atlas_answer import (
    AtlasAnswer,
    atlas_matrix,
    evidence,
    full_sentence,
    judge_answer,
    language_answer,
    wrong_use_words,
)
from harness.row_files import write_atomic
from tests.unit.judge_atlas.atlases import TODAY, about, atlas, row

GONE = {"gpt": AtlasJudge(released=datetime.date(2023, 3, 14), served_until=datetime.date(2025, 6, 6))}
ALONE = {"verdict": "no verdict", "agreement": None, "people": None, "gap": None, "bound": None}


def sentences(told: AtlasAnswer) -> list[tuple[str, str]]:
    return [(card.style, full_sentence(card)) for card in told.answer.cards]


def test_a_judge_that_is_gone_is_marked_in_the_sentence_the_lead_and_the_table() -> None:
    every = atlas(row(), judges=GONE)
    shown = language_answer(every, "ja", every.rows, TODAY)
    [(style, sentence)] = sentences(shown)
    words = "harm: use gpt, which is no longer served (insult in one: agreement with native speakers 80 %"
    assert style == "gone" and sentence.startswith(words)
    assert shown.lead == "In Japanese, use gpt (no longer served) for harm."
    assert shown.age == "The newest judge here is gpt, released on 2023-03-14, 2 years ago; its provider served it until 2025-06-06."
    assert evidence(every, every.rows, TODAY)[0]["released"] == "2023-03-14, served until 2025-06-06"
    before = language_answer(every, "ja", every.rows, datetime.date(2025, 6, 6))
    assert sentences(before)[0][0] == "good" and "no longer" not in before.lead + before.age + sentences(before)[0][1]


def of_sets(*gaps: float, judge: str = "gpt") -> list[AtlasRow]:
    return [row(set=f"set{n}", judge=judge, gap=gap, gap_error=0.02 + 0.01 * n) for n, gap in enumerate(gaps)]


def test_with_three_sets_or_more_it_is_said_how_far_a_judge_varies_between_them(tmp_path: Path) -> None:
    cards = {f"set{n}": DatasetCard(id=f"set{n}", languages=("ja",)) for n in range(3)}
    rows = [*of_sets(-0.05, 0.0, 0.1), *of_sets(0.0, 0.1, judge="seldom")]
    compared = {name: ComparedSet("", tuple(each for each in rows if each.set == name)) for name in cards}
    write_atomic(tmp_path / "atlas.json", atlas_bytes(joined(cards, compared, {})))
    every = read_atlas(tmp_path / "atlas.json")
    told = language_answer(every, "ja", every.rows, TODAY)
    said = "harm, gpt: its agreement beside people's varies between set0, set1 and set2 by 7 points (standard deviation; "
    said += "95 % interval 2 to 48 points), beyond what the few texts of each set explain."
    assert told.across == (said,), "two sets of the other judge say nothing"
    assert judge_answer(every, "gpt", every.rows, TODAY).across == (f"Japanese, {said}",)
    assert judge_answer(every, "seldom", [each for each in every.rows if each.judge == "seldom"], TODAY).across == ()
    flat = {(each["judge"], each["between_sets"] and round(each["between_sets"], 3)) for each in every.flat()}
    assert flat == {("gpt", 0.069), ("seldom", None)}
    page = atlas_site(every, TODAY)["ja/index.html"]
    assert isinstance(page, str) and "by 7 points" in page
    assert "by 7 points" not in str(atlas_site(atlas(*rows), TODAY)["ja/index.html"])


def test_several_metrics_of_a_set_count_as_one_with_the_largest_error() -> None:
    spread = across_sets([*of_sets(-0.05, 0.0, 0.1), row(set="set0", metric="bias", gap=0.05, gap_error=0.3)])
    assert spread[0].sets == ("set0", "set1", "set2") and spread != across_sets(of_sets(-0.05, 0.0, 0.1))
    assert spread == across_sets([row(set="set0", gap=0.0, gap_error=0.3), *of_sets(-0.05, 0.0, 0.1)[1:]])
    assert across_sets([row(set=f"set{n}", gap_error=None) for n in range(3)]) == ()


def test_metrics_are_named_and_counted_where_their_answers_differ() -> None:
    against = {"verdict": "do not use", "gap": -0.02, "over_constant": -0.12, "obstacles": "base_worse baseline"}
    rows = [row(), row(metric="bias", **against), row(metric="self_harm", verdict="too few labels", needed=250)]
    every = atlas(*rows, judges=GONE)
    shown = language_answer(every, "ja", every.rows, TODAY)
    gone, bad, unknown = sentences(shown)
    assert gone[1].startswith("harm, 1 of 3 metrics: use gpt for insult, which is no longer served (insult in one:")
    assert bad == ("bad", "harm, 1 of 3 metrics: do not use gpt for bias (bias 12 points below a constant answer).")
    assert unknown == ("open", "harm, 1 of 3 metrics: unknown whether gpt may be used for self harm (label 250 more).")
    lead = "In Japanese, use gpt (no longer served) for 1 of 3 metrics of harm (insult); use no judge for 1 of 3 metrics of harm (bias); "
    assert shown.lead == lead + "unknown: 1 of 3 metrics of harm (self harm)."
    lines = {line["metric"]: (line["verdict"], line["because"]) for line in evidence(every, every.rows, TODAY)}
    assert lines == {
        "insult": ("use", "no longer served"),
        "bias": ("do not use", "12 below a constant answer"),
        "self harm": ("unknown", "label 250 more"),
    }


def test_an_age_that_nobody_states_is_unknown() -> None:
    every = atlas(row(), row(judge="other"), judges={"gpt": AtlasJudge(released=datetime.date(2025, 2, 1))})
    assert language_answer(every, "ja", every.rows, TODAY).age.endswith("11 months ago. Of 1 judge the age is not known.")
    every = atlas(row(), row(judge="other"))
    assert language_answer(every, "ja", every.rows, TODAY).age == "When these 2 judges came out is not known."
    assert evidence(every, every.rows, TODAY)[0]["released"] == "unknown"


def test_of_several_judges_the_closest_one_says_why_none_may_be_used() -> None:
    worse = {"verdict": "do not use", "obstacles": "worse base_worse"}
    every = atlas(row(gap=-0.3, over_constant=-0.2, **worse), row(judge="near", gap=-0.15, over_constant=-0.05, **worse))
    [(style, sentence)] = sentences(language_answer(every, "ja", every.rows, TODAY))
    assert style == "bad"
    assert sentence == ("harm: use no judge (even the closest judge: insult 15 points below people and 5 points below a constant answer).")
    every = atlas(row(gap=-0.3, **worse), row(judge="open", verdict="not shown", gap=-0.1))
    [(style, sentence)] = sentences(language_answer(every, "ja", every.rows, TODAY))
    assert style == "open" and sentence == "harm: unknown; do not use 1 of 2 judges (more labels will not help)."


def test_where_nobody_can_be_compared_with_that_is_said_and_no_agreement_is_shown() -> None:
    every = atlas(row(closeness=True, over_constant=-0.02, **ALONE))
    [(style, sentence)] = sentences(language_answer(every, "ja", every.rows, TODAY))
    assert style == "open" and sentence == "harm: unknown whether gpt may be used (one score a text)."
    line = evidence(every, every.rows, TODAY)[0]
    assert line["judge agrees"] == line["people agree"] == line["difference"] == line["count as"] == "–" and line["over a constant"] == "−2"
    [(_, sentence)] = sentences(language_answer(atlas(row(obstacles="unread", **ALONE)), "ja", (row(obstacles="unread", **ALONE),), TODAY))
    assert "most answers cannot be read" in sentence


def test_what_is_missing_comes_with_the_command_that_finds_out() -> None:
    two, board = about(qualities=("harm", "story"), labels="people"), about(qualities=("tone_of_text",), boards={"toned": ("ja",)})
    other = about(languages=("pt-BR",))
    every = atlas(row(), row(language="pt-BR", quality="summary", set="three"), sets={"two": two, "three": other, "four": board})
    ask, see, label = language_answer(every, "ja", [each for each in every.rows if each.language == "ja"], TODAY).answer.steps
    assert "tone of text" in ask.text and ask.command == "harness run --board toned --langs ja --judge PROVIDER/MODEL"
    assert "story (two)" in see.text and "harm" not in see.text and see.command == "harness data list --lang ja"
    assert "summary in Japanese" in label.text and label.command == "harness labels page DATA --lang ja --out pages"
    gone = atlas(row(), judges=GONE)
    [again] = language_answer(gone, "ja", gone.rows, TODAY).answer.steps
    assert "harm (one)" in again.text, "the only judge that may be used is served no more, so another one is worth asking"
    part = atlas(row(), row(judge="other"), sets={"two": two})
    assert language_answer(part, "ja", part.rows, TODAY).answer.steps and not language_answer(part, "ja", part.rows[:1], TODAY).answer.steps


def test_where_each_text_has_one_score_a_second_person_is_asked_and_no_judge() -> None:
    every = atlas(row(**ALONE), sets={"one": about(boards={"single": ("ja",)})})
    [step] = language_answer(every, "ja", every.rows, TODAY).answer.steps
    assert "second person" in step.text and step.command == "harness compare one --langs ja"


def test_a_language_with_labels_only_says_whose_set_waits_for_a_judge() -> None:
    every = atlas(row(), sets={"two": about(languages=("ca",))})
    told = language_answer(every, "ca", (), TODAY)
    assert told.lead == "Nothing is known of judges in Catalan yet; two has labels of people." and not told.answer.sentences
    assert told.answer.steps and told.age == "" == told.answer.sure


def test_of_a_judge_each_metric_has_its_languages() -> None:
    every = atlas(row(), row(language="pt-BR", verdict="do not use"), row(metric="bias", verdict="not shown"))
    shown = judge_answer(every, "gpt", every.rows, TODAY)
    assert shown.answer.title == "gpt may be used for 1 of 3 questions, not for 1; 1 is unknown"
    assert shown.lead == "A question is a metric in a language; it has verdicts in 2 languages."
    assert sentences(shown) == [
        ("good", "harm: use it for insult in Japanese."),
        ("bad", "harm: do not use it for insult in Portuguese (Brazil)."),
        ("open", "harm: unknown for bias in Japanese."),
    ]
    gone = judge_answer(atlas(*every.rows, judges=GONE), "gpt", every.rows, TODAY)
    assert gone.answer.title == "gpt is no longer served; it may be used for 1 of 3 questions, not for 1; 1 is unknown"
    assert [style for style, _ in sentences(gone)] == ["gone", "bad", "open"]


def test_a_square_has_one_colour_only_if_all_metrics_agree() -> None:
    two = about(qualities=("preference", "tone"))
    rows = (row(), row(metric="bias", verdict="not shown"), row(set="two", verdict="do not use"), row(quality="", metric="noise"))
    [line] = atlas_matrix(atlas(*rows, judges=GONE, sets={"two": two}), TODAY)
    harm, waiting = line.squares["harm"], line.squares["preference"]
    assert (harm.style, harm.sign, harm.words) == ("split", "(✓) 1 ✗ 1 ○ 1", "gpt") and harm.note == "3 metrics, 1 judge in 2 sets"
    assert (waiting.style, waiting.sign, waiting.words) == ("none", "·", "no judge yet")
    assert "story" not in line.squares and line.other_questions == (("gone", "(✓)", 1), ("none", "·", 1)) and line.uses == {"gone"}
    [line] = atlas_matrix(atlas(*(row(metric=metric, verdict="do not use") for metric in ("bias", "insult"))), TODAY)
    assert (line.squares["harm"].style, line.squares["harm"].sign, line.uses) == ("bad", "✗", set())


def test_beside_the_number_of_uses_stands_how_many_wrong_ones_to_expect() -> None:
    every = atlas(row(), row(judge="other", verdict="do not use"), row(judge="third"), row(set="two", texts=20, verdict="too few labels"))
    words = wrong_use_words(every.rows)
    assert words == (
        "2 of 4 verdicts are 'use'. There are 3 comparisons of one judge with one set that could say 'use'. Each has about a 5 % chance of "
        "a wrong 'use', so about 0.15 of them are expected to have one."
    )
    assert words.replace("'", "&#39;") in str(atlas_site(every, TODAY)["index.html"])
    nobody = atlas(row(verdict="no verdict", groups=0))
    assert wrong_use_words(nobody.rows) == "" and "expected to have one" not in str(atlas_site(nobody, TODAY)["index.html"])


def test_a_row_that_rests_on_a_bar_says_so(tmp_path: Path) -> None:
    barred = row(verdict="use", basis="bar", agreement=None, people=None, gap=None, bound=None, right=0.9)
    every = atlas(barred, row(metric="bias"))
    [told] = [sentence for _, sentence in sentences(language_answer(every, "ja", every.rows, TODAY))]
    assert "against a bar for each class" in told or "insult" not in told
    lines = {line["metric"]: line["verdict"] for line in evidence(every, every.rows, TODAY)}
    assert lines == {"bias": "use", "insult": "use (bar)"}
    write_atomic(tmp_path / "atlas.json", atlas_bytes(every))
    assert {each["basis"] for each in read_atlas(tmp_path / "atlas.json").flat()} == {"bar", "people"}
    page = str(atlas_site(every, TODAY)["ja/index.html"])
    assert "use (bar)" in page and "held against a bar for each class" in page
    assert "(bar)" not in str(atlas_site(atlas(row()), TODAY)["ja/index.html"])
