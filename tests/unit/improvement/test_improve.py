"""Choosing on one half of the labels, confirming on the other, once."""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import harness
from harness.errors import ContentError, UsageError
from harness.improvement.improvement_options import ImproveOptions
from harness.improvement.questions import (
    FILE,
    HEAD,
    ConfirmedUse,
    LabelledQuestion,
    digests,
    earlier_uses,
    halves,
    labelled_questions,
    recorded_candidates,
    remember,
)
from harness.measure.compare import Recording
from harness.measure.options import Annotators, MeasureOptions
from harness.stats.estimation.choose_and_confirm import confirm
from tests.conftest import write_rows

Cli = Callable[..., Any]
CARD = 'id = "answers"\nannotators = "persistent"\n[metrics.tone]\nkind = "ordinal"\nclasses = [0, 1, 2]\nbest = 2\n'
RIGHT = {"single": 0.6, "detailed": 0.85, "joint": 0.55, "few-shot": 0.6}


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """Two languages, 120 texts each in pairs of one source, labels by three people, one judge under four variants."""
    draw = random.Random(5)
    folder = tmp_path / "answers"
    items, labels, judgments = [], [], []
    for language in ("cs", "ja"):
        for n in range(120):
            name, truth = f"{language}-{n}", draw.randrange(3)
            items.append({"item_id": name, "language": language, "task": "chat", "group": f"{language}-{n // 2}", "output": "…"})
            labels += [{"item_id": name, "annotator_id": who, "metric": "tone", "score": truth} for who in "abc"]
            for variant, right in RIGHT.items():
                score = truth if draw.random() < right else (truth + 1) % 3
                judgments.append({"item_id": name, "judge": "openai/one", "metric": "tone", "variant": variant, "score": score})
    for table, rows in (("items", items), ("labels", labels), ("judgments", judgments)):
        write_rows(folder / f"{table}.jsonl", rows)
    (folder / "data.toml").write_text(CARD, encoding="utf-8")
    return folder


def _recording(folder: Path) -> Recording:
    data = harness.load(folder)
    assert data.judgments is not None
    return Recording("answers", data, data.judgments)


def test_the_better_setting_is_chosen_and_shown(answers: Path) -> None:
    found = harness.improve(answers)
    assert (found.start.variant, found.chosen.variant) == ("single", "detailed")
    assert [each.shown for each in found.languages] == [True, True] and found.together.gain.gain > 0.1
    assert {each.setting for each in found.languages} == {"chosen"}
    assert found.choose_texts + found.confirm_texts == 240 and len(found.halving.rounds) == 3
    assert all(row.wrong <= row.n and row.examples for row in found.remaining)
    assert {verdict.key["variant"] for verdict in found.after} == {"detailed"}


def test_the_start_is_the_plainest_setting_wherever_it_stands(answers: Path) -> None:
    rows = [json.loads(line) for line in (answers / "judgments.jsonl").read_text("utf-8").splitlines()]
    write_rows(answers / "judgments.jsonl", sorted(rows, key=lambda row: list(RIGHT).index(row["variant"]), reverse=True))
    found = harness.improve(answers)
    assert (found.start.variant, found.chosen.variant) == ("single", "detailed")


def test_no_text_that_chooses_confirms_and_sources_stay_together(answers: Path) -> None:
    texts = recorded_candidates(_recording(answers), MeasureOptions())[0]
    for seed in range(5):
        choosing, confirming = halves(texts, 0.6, seed)
        assert set(choosing.texts.questions).isdisjoint(confirming.texts.questions)
        assert set(choosing.texts.group.tolist()).isdisjoint(confirming.texts.group.tolist())
        assert len(choosing.texts) + len(confirming.texts) == len(texts)
        shares = np.bincount(choosing.texts.language) / np.bincount(texts.language)
        assert np.allclose(shares, 0.6, atol=0.02)


def test_the_choice_depends_on_the_choosing_half_alone(answers: Path) -> None:
    before = harness.improve(answers)
    texts = recorded_candidates(_recording(answers), MeasureOptions())[0]
    confirming = {question.item_id for question in halves(texts, 0.6, 0)[1].texts.questions}
    (answers / FILE).unlink()
    (answers / HEAD).unlink()
    rows = [json.loads(line) for line in (answers / "judgments.jsonl").read_text("utf-8").splitlines()]
    for row in rows:
        if row["item_id"] in confirming:
            row["score"] = 2 if row["variant"] == "joint" else 0
    write_rows(answers / "judgments.jsonl", rows)
    after = harness.improve(answers)
    assert (after.chosen, after.halving) == (before.chosen, before.halving) and after.together != before.together


def test_labels_confirm_once_and_again_only_at_a_stricter_level(answers: Path) -> None:
    assert harness.improve(answers).level == 0.05
    with pytest.raises(UsageError, match=r"have confirmed a choice once \(confirmed.jsonl"):
        harness.improve(answers)
    with pytest.raises(UsageError, match="once"):
        harness.improve(answers, ImproveOptions(seed=9))  # other halves share texts with the first ones
    again = harness.improve(answers, ImproveOptions(reuse=True))
    assert (again.uses, again.level) == (1, 0.0125)
    assert harness.improve(answers, ImproveOptions(reuse=True)).level == 0.00625
    kept = (answers / FILE).read_text("utf-8")
    assert len(kept.splitlines()) == 3 and "cs-1" not in json.loads(kept.splitlines()[0])["texts"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (ImproveOptions(start="tiny"), "--start tiny: no candidate of this name"),
        (ImproveOptions(share=0.99), "the half to confirm would have"),
    ],
)
def test_what_cannot_be_is_refused_before_labels_are_spent(answers: Path, options: ImproveOptions, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        harness.improve(answers, options)
    assert not (answers / FILE).exists()


def test_two_rounds_of_labels_have_winners_of_their_own(answers: Path, cli: Cli, tmp_path: Path) -> None:
    """In the second round people labelled Japanese texts as `joint` answers them."""
    labels = [json.loads(line) for line in (answers / "labels.jsonl").read_text("utf-8").splitlines()]
    judged = [json.loads(line) for line in (answers / "judgments.jsonl").read_text("utf-8").splitlines()]
    joint = {row["item_id"]: row["score"] for row in judged if row["variant"] == "joint"}
    write_rows(tmp_path / "second.jsonl", [row | {"score": joint[row["item_id"]]} for row in labels])
    differ = sum(joint[row["item_id"]] != row["score"] for row in labels) // 3
    two = ("--labels", answers, "--labels", tmp_path / "second.jsonl")
    found = json.loads(cli("improve", answers, *two, "--json").out)
    assert [each["variant"] for each in found["winners"]] == ["detailed", "joint"]
    assert (found["differing"], found["common"], found["questions"]) == (differ, 240, 144)
    assert found["agreement"][[each["variant"] for each in found["candidates"]].index("joint")][1] == 1.0
    shown = cli("improve", answers, *two)
    assert f"The rounds differ on {differ} of 240 questions" in shown.out and not (answers / FILE).exists()
    for wrong, words in ((("--labels", answers), "name two rounds"), ((*two[:2], "--labels", tmp_path), "is no label file")):
        refused = cli("improve", answers, *wrong)
        assert refused.code == 2 and words in refused.err


def test_a_language_that_loses_keeps_the_start(answers: Path, cli: Cli, tmp_path: Path) -> None:
    """In Japanese the candidate that is best in Czech is worse than the start: the file names a setting for each language."""
    rows = [json.loads(line) for line in (answers / "judgments.jsonl").read_text("utf-8").splitlines()]
    labels = {row["item_id"]: row["score"] for row in map(json.loads, (answers / "labels.jsonl").read_text("utf-8").splitlines())}
    for row in rows:
        language, number = row["item_id"].split("-")
        right = {
            ("single", "ja"),
            ("single", "cs") if int(number) % 2 else (),
            ("detailed", "cs"),
            ("detailed", "ja") if int(number) % 5 else (),
        }
        row["score"] = (labels[row["item_id"]] + ((row["variant"], language) not in right)) % 3
    write_rows(answers / "judgments.jsonl", rows)
    done = cli("improve", answers, "--to", tmp_path / "best.toml")
    assert "one: detailed" in done.out and "Use the choice in Czech." in done.out and "Keep the start in Japanese" in done.out
    assert "With these settings 100 % of all answers agree" in done.out
    table = (tmp_path / "best.toml").read_text("utf-8")
    assert '[language.cs]\nvariant = [\n    "detailed",' in table and '[language.ja]\nvariant = [\n    "single",' in table


def test_one_setting_is_compared_with_its_calibrated_scores(answers: Path) -> None:
    found = harness.improve(answers, ImproveOptions(where={"variant": ("single",)}))
    assert [each.variant for each in found.candidates] == ["single", "single+calibrated"]
    assert not any(each.shown for each in found.languages), "its errors are as frequent in every class"


def test_scores_between_the_classes_are_no_candidates(answers: Path) -> None:
    rows = [json.loads(line) for line in (answers / "judgments.jsonl").read_text("utf-8").splitlines()]
    write_rows(answers / "judgments.jsonl", [row | {"score": row["score"] + n / len(rows)} for n, row in enumerate(rows)])
    card = CARD.replace('kind = "ordinal"\nclasses = [0, 1, 2]', 'kind = "interval"\nmin = 0\nmax = 3').replace("best = 2", "best = 3")
    (answers / "data.toml").write_text(card, encoding="utf-8")
    with pytest.raises(UsageError, match=r"has no judge whose scores are classes of the labels' scale.*harness compare answers"):
        harness.improve(answers)


def test_the_command_names_the_choice_and_writes_it(answers: Path, cli: Cli, tmp_path: Path) -> None:
    dry = cli("improve", answers, "--dry-run")
    assert dry.code == 0 and "5 candidates; 144 questions choose and 96 confirm" in dry.out and not (answers / FILE).exists()
    done = cli("improve", answers, "--to", tmp_path / "best.toml")
    assert done.code == 0, done.err
    assert "openai/one: detailed" in done.out and "A gain is shown in Czech, Japanese." in done.out
    assert 'variant = [\n    "detailed",\n]' in (tmp_path / "best.toml").read_text("utf-8")
    refused = cli("improve", answers)
    assert refused.code == 2 and "--reuse" in refused.err
    found = json.loads(cli("improve", answers, "--reuse", "--json").out)
    assert "confirmed 2 times before, so that this test is at 0.625 %" in cli("improve", answers, "--reuse").out
    assert found["chosen"]["variant"] == "detailed" and found["languages"][0]["gain"]["gain"] > 0 and found["uses"] == 1


def test_texts_that_confirmed_are_known_under_other_ids(answers: Path) -> None:
    items = [json.loads(line) for line in (answers / "items.jsonl").read_text("utf-8").splitlines()]
    write_rows(answers / "items.jsonl", [item | {"output": f"Answer {item['item_id']} is long"} for item in items])
    harness.improve(answers)
    for name in ("items", "labels", "judgments"):
        path = answers / f"{name}.jsonl"
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        write_rows(path, [row | {"item_id": f"new {row['item_id']}"} for row in rows])
    with pytest.raises(UsageError, match="these labels have confirmed a choice once"):
        harness.improve(answers)


def test_an_interval_of_texts_that_do_not_differ_is_undefined() -> None:
    found = confirm([1] * 20, [1] * 20, [0] * 20, [0] * 20, range(20))
    assert found.together.gain == 0
    assert math.isnan(found.together.low)
    assert math.isnan(found.together.high)


def test_uses_that_were_removed_are_found_and_two_at_once_are_refused(tmp_path: Path) -> None:
    use = ConfirmedUse("2026-01-01", "0", ("a", "b"), "b", True, digests([LabelledQuestion("ja", "m", "i1")]))
    remember(tmp_path, use, 0)
    with pytest.raises(UsageError, match="has confirmed by these labels meanwhile, so nothing is shown"):
        remember(tmp_path, use, 0)
    remember(tmp_path, use, 1)
    whole, head = ((tmp_path / name).read_bytes() for name in ("confirmed.jsonl", "confirmed.head.json"))
    question = [LabelledQuestion("ja", "m", "i1")]
    assert earlier_uses(tmp_path, question) == 2 and earlier_uses(tmp_path, [LabelledQuestion("ja", "m", "i2")]) == 0
    for spoilt in (b"", whole.splitlines(keepends=True)[0], whole.replace(b"2026", b"2025", 1), whole[:-1], whole + whole):
        (tmp_path / "confirmed.jsonl").write_bytes(spoilt)
        with pytest.raises(ContentError, match=r"confirmed\.jsonl: this file has \d uses of labels and was changed"):
            earlier_uses(tmp_path, question)
        with pytest.raises(ContentError):
            remember(tmp_path, use, 0)
    (tmp_path / "confirmed.jsonl").unlink()
    with pytest.raises(ContentError, match="this file is gone, which says what labels confirmed"):
        earlier_uses(tmp_path, question)
    (tmp_path / "confirmed.jsonl").write_bytes(whole)
    for spoilt in (b"{}", b"", head.replace(b'"uses"', b'"used"')):
        (tmp_path / "confirmed.head.json").write_bytes(spoilt)
        with pytest.raises(ContentError, match="not the hash of"):
            earlier_uses(tmp_path, question)
    (tmp_path / "confirmed.head.json").unlink()
    with pytest.raises(ContentError, match="this file is gone, which has the hash of"):
        earlier_uses(tmp_path, question)


def test_copies_of_a_text_stay_in_one_half(tmp_path: Path) -> None:
    texts = [f"Vět\u0061\u0301 {n // 3}." if n % 3 else f"Vět\u00e1  {n // 3}. " for n in range(90)]
    items = [{"item_id": f"i{n}", "language": "cs", "task": "chat", "output": text} for n, text in enumerate(texts)]
    labels = [{"item_id": f"i{n}", "annotator_id": "a", "metric": "m", "score": n % 2} for n in range(90)]
    write_rows(tmp_path / "items.jsonl", items)
    write_rows(tmp_path / "labels.jsonl", labels)
    (tmp_path / "data.toml").write_text('id = "own"\n[metrics.m]\nkind = "ordinal"\nclasses = [0, 1]\nbest = 1\n', "utf-8")
    questions = labelled_questions(harness.load(tmp_path), MeasureOptions(annotators=Annotators(1)))
    assert questions.groups == 30, "three spellings of one text are one"
    choosing, confirming = halves(questions, 0.6, 0)
    one, other = ({int(item[1:]) // 3 for item in half.texts.items} for half in (choosing, confirming))
    assert not one & other and len(one | other) == 30


def unreadable(folder: Path, variants: tuple[str, ...], share: float) -> None:
    """Let this share of the answers under some variants be off the scale."""
    rows = [json.loads(line) for line in (folder / "judgments.jsonl").read_text("utf-8").splitlines()]
    limit = share * 120
    spoilt = [row | {"score": 9} if row["variant"] in variants and int(row["item_id"].split("-")[1]) < limit else row for row in rows]
    write_rows(folder / "judgments.jsonl", spoilt)


def test_a_candidate_that_cannot_be_read_is_not_chosen(answers: Path, cli: Cli) -> None:
    """Where `detailed` answers right on the four texts of ten that can be read, the next best candidate is chosen."""
    unreadable(answers, ("detailed",), 0.6)
    found = harness.improve(answers, ImproveOptions(reuse=True))
    assert found.chosen.variant != "detailed" and [each.key["variant"] for each in found.unread] == ["detailed"]
    done = cli("improve", answers, "--reuse")
    assert done.code == 4 and done.out.startswith("144 of 240 answers could not be read (off the scale), such as '9'"), done.out
    assert "openai/one (detailed)" in done.out
    said = json.loads(cli("improve", answers, "--reuse", "--json").out)["unread"]
    assert [(each["variant"], each["asked"], each["unread"]) for each in said] == [("detailed", 240, {"off_scale": 144})]
    labels = cli("improve", answers, "--labels", answers, "--labels", answers, "--json")
    rounds = json.loads(labels.out)
    assert labels.code == 4 and "detailed" not in [each["variant"] for each in (*rounds["candidates"], *rounds["winners"])]


@pytest.mark.parametrize("variants", [("single",), ("detailed", "joint", "few-shot"), tuple(RIGHT)])
def test_a_start_that_cannot_be_read_spends_no_label_and_of_others_none_is_chosen(
    answers: Path, cli: Cli, variants: tuple[str, ...]
) -> None:
    unreadable(answers, variants, 0.7)
    done = cli("improve", answers)
    assert done.code == 4, done.err
    if "single" in variants:
        assert "168 of 240 answers could not be read (off the scale), such as '9'" in done.err.splitlines()[-1]
        assert "no label is spent" in done.err and not (answers / FILE).exists() and not done.out
    else:
        assert done.out.count("168 of 240") == 3 and "Chosen of 5 candidates: openai/one: single+calibrated" in done.out


def test_a_language_in_which_the_start_cannot_be_read_confirms_nothing(answers: Path, cli: Cli) -> None:
    """A gain over a start that is broken in Japanese would be one over a set-up that does not work."""
    rows = [json.loads(line) for line in (answers / "judgments.jsonl").read_text("utf-8").splitlines()]
    spoilt = {f"ja-{n}" for n in range(120) if n % 10 < 6}
    write_rows(
        answers / "judgments.jsonl",
        [row | {"score": 9} if row["variant"] == "single" and row["item_id"] in spoilt else row for row in rows],
    )
    of_two = ("improve", answers, "--start", "single", "--where", "variant=single,detailed")
    done = cli(*of_two, "--json")
    said = json.loads(done.out)
    assert done.code == 0 and said["chosen"]["variant"] == "detailed", done.err
    assert [language["language"] for language in said["languages"]] == ["cs"] == sorted({row["language"] for row in said["remaining"]})
    assert [(each["language"], each["variant"], each["unread"]) for each in said["unread"]] == [("ja", "single", {"off_scale": 72})]
    assert said["confirm_texts"] < 60
    first = cli(*of_two, "--reuse").out.splitlines()[0]
    assert first.startswith("72 of 120 answers could not be read (off the scale), such as '9'") and "in ja/tone" in first
    rounds = cli("improve", answers, "--labels", answers, "--labels", answers, "--json")
    assert rounds.code == 0 and json.loads(rounds.out)["common"] == 120, "the questions in Czech"


def test_half_of_the_answers_of_a_candidate_may_be_unreadable(answers: Path, cli: Cli) -> None:
    unreadable(answers, ("joint",), 0.5)
    assert cli("improve", answers).code == 0


def test_a_choice_that_cannot_be_written_is_shown_as_its_labels_are_spent(answers: Path, cli: Cli, tmp_path: Path) -> None:
    done = cli("improve", answers, "--to", tmp_path / f"{'n' * 300}.toml")
    assert done.code == 5 and "File name too long" in done.err
    assert done.out.startswith("Chosen of") and "Next: --to FILE.toml" in done.out and (answers / FILE).exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name")
@pytest.mark.parametrize("name", [FILE, HEAD])
def test_a_pipe_in_the_place_of_earlier_uses_is_refused_at_once(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(ContentError, match="a pipe or a device"):
        earlier_uses(tmp_path, [])
