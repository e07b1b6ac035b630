"""Every output that compares an answer with people's label takes the reference by the rule that `--majority` names."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.annotate.labelling_options import LabelCheckOptions
from harness.errors import UsageError
from harness.improvement.improve import compare_rounds, read_round
from harness.improvement.improvement_options import ImproveOptions
from harness.improvement.questions import labelled_questions
from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions
from tests.conftest import write_rows

Cli = Callable[..., Any]
CARD = 'id = "ties"\nannotators = "persistent"\n[metrics.tone]\nkind = "ordinal"\nclasses = [0, 1, 2]\nbest = 2\n'
TEXTS = 160
TIED = TEXTS // 4  # of the texts: two people who differ


@pytest.fixture
def ties(tmp_path: Path) -> Path:
    """160 texts of two people. They differ on every fourth, as 0 and 2: no label is the commonest there, and the lower median is 0."""
    draw = random.Random(3)
    items, labels, judgments = [], [], []
    for n in range(TEXTS):
        name, tied = f"t{n}", n % 4 == 0
        truth = 0 if tied else n % 2
        items.append({"item_id": name, "language": "cs", "task": "chat", "output": f"text {n}"})
        labels += [
            {"item_id": name, "annotator_id": who, "metric": "tone", "score": score}
            for who, score in (("a", truth), ("b", 2 if tied else truth))
        ]
        for variant, right in {"single": 0.6, "detailed": 0.9}.items():
            score = truth if draw.random() < right else 1 - truth
            judgments.append({"item_id": name, "judge": "openai/one", "metric": "tone", "variant": variant, "score": score})
    for table, rows in (("items", items), ("labels", labels), ("judgments", judgments)):
        write_rows(tmp_path / "ties" / f"{table}.jsonl", rows)
    (tmp_path / "ties" / "data.toml").write_text(CARD, encoding="utf-8")
    return tmp_path / "ties"


def _improved(folder: Path, majority: Any) -> Any:
    return harness.improve(folder, ImproveOptions(reuse=True, majority=majority))


def test_questions_of_candidates_that_are_asked(ties: Path) -> None:
    data = harness.load(ties)
    of = {rule: labelled_questions(data, MeasureOptions(majority=rule)) for rule in ("drop", "strict", "median")}
    assert {rule: len(questions) for rule, questions in of.items()} == {"drop": TEXTS - TIED, "strict": TEXTS, "median": TEXTS}
    assert sum(of["strict"].label < 0) == TIED and min(of["median"].label) == 0


def test_the_choice_and_its_confirmation(ties: Path) -> None:
    drop, strict, median = (_improved(ties, rule) for rule in ("drop", "strict", "median"))
    assert drop.choose_texts + drop.confirm_texts == TEXTS - TIED
    assert strict.choose_texts + strict.confirm_texts == median.choose_texts + median.confirm_texts == TEXTS
    # Nobody agrees with a text without a commonest label, so that agreement is lower by their share; by the median 0 is right there.
    assert strict.together.agreement_chosen < 0.8 < min(drop.together.agreement_chosen, median.together.agreement_chosen)
    assert [each.signature.split("|majority:")[1].split("|")[0] for each in (drop, strict, median)] == ["drop", "strict", "median"]


def test_the_disagreements_that_remain(ties: Path) -> None:
    drop, strict = (_improved(ties, rule).remaining[0] for rule in ("drop", "strict"))
    assert strict.n > drop.n and strict.wrong / strict.n > drop.wrong / drop.n + 0.1
    assert any(each.people is None for each in strict.examples) and all(each.people is not None for each in drop.examples)


def test_the_maps_of_calibrated_candidates(ties: Path) -> None:
    judgments = [json.loads(line) for line in (ties / "judgments.jsonl").read_text("utf-8").splitlines()]
    moved = [row | {"score": row["score"] + (number % 5 > 0)} for number, row in enumerate(judgments)]  # a map moves them back
    write_rows(ties / "judgments.jsonl", moved)
    drop, strict = (_improved(ties, rule) for rule in ("drop", "strict"))
    assert drop.chosen.variant.endswith("+calibrated") and strict.chosen.variant.endswith("+calibrated")
    assert strict.together.agreement_chosen < drop.together.agreement_chosen - 0.1


def test_rounds_of_labels(ties: Path) -> None:
    data = harness.load(ties)
    assert data.judgments is not None
    rounds = [read_round(ties, data), read_round(ties / "labels.jsonl", data)]
    counted = {
        rule: compare_rounds(Recording("ties", data, data.judgments), rounds, MeasureOptions(majority=rule), ImproveOptions())
        for rule in ("drop", "strict", "median")
    }
    assert {rule: found.common for rule, found in counted.items()} == {"drop": TEXTS - TIED, "strict": TEXTS, "median": TEXTS}


def test_the_check_of_labels(ties: Path) -> None:
    found = {rule: harness.labels_check(ties, LabelCheckOptions(majority=rule)) for rule in ("drop", "strict", "median")}
    assert {rule: check.cells[0]["no_majority"] for rule, check in found.items()} == {"drop": TIED, "strict": TIED, "median": 0}
    assert "|majority:median|" in found["median"].signature


def test_a_median_needs_an_order(ties: Path) -> None:
    (ties / "data.toml").write_text(CARD.replace("ordinal", "nominal"), encoding="utf-8")
    for call in (lambda: _improved(ties, "median"), lambda: harness.labels_check(ties, LabelCheckOptions(majority="median"))):
        with pytest.raises(UsageError, match="'tone' has classes without an order, so no median"):
            call()


def test_the_commands_take_the_rule(cli: Cli, ties: Path) -> None:
    for command in (f"improve {ties} --majority strict --json", f"labels check {ties} --majority strict --json"):
        assert "|majority:strict|" in cli(*command.split()).out
