"""Ratings of several samples beside people's: numbers that can be computed by hand, and what is undefined and why."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
import scipy.stats

from harness.content.specs import DatasetCard
from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.data.labels import Labels
from harness.measure.options import MeasureOptions
from harness.model import Failure, Item, Judgment, Label, Scale
from harness.studies.chiang_lee.section import chiang_lee, open_page
from tests.unit.made_judgments import made_judgment

SCALE = Scale(kind="interval", min=1, max=5, best=5)
SAME = {"language": "en", "task": "rate_story", "metric": "likability", "judge": "j", "variant": "single+text", "temperature": 1.0}


def judged(name: str, repeat: int, score: float | None) -> Judgment:
    rest = {"raw_choice": None, "justification": None, "call_id": "c", "repeat": repeat}
    failure = Failure.REFUSED if score is None else None
    return made_judgment(item_id=name, score=score, failure=failure, **SAME, **rest)  # type: ignore[arg-type]


def labelled(name: str, person: str, score: int) -> Label:
    return Label(name, person, "likability", score)


# text: (samples, people a and b)
TEXTS = {
    "h1": ([4, 4, 5], (5, 4)),
    "h2": ([4, 4, 4], (4, 4)),
    "h3": ([5, 5, 5], (5, 5)),
    "m1": ([2, 3, 2], (1, 2)),
    "m2": ([1, 1, 1], (2, 2)),
    "m3": ([3, 2, None], (3, 1)),
}


def data(kind: Any = "persistent") -> Dataset:
    systems = {"h": "Human", "m": "gpt2"}
    items = [Item(name, "en", "rate_story", group=name[1], system=systems[name[0]], fields={"output": name}) for name in TEXTS]
    labels = [labelled(name, who, score) for name, (_, given) in TEXTS.items() for who, score in zip("ab", given, strict=True)]
    made = Dataset("made", tuple(items), Labels.from_rows(labels), {"likability": SCALE})
    return msgspec.structs.replace(made, about=DatasetCard(id="made", annotators=kind))


def section(kind: Any = "persistent") -> dict[str, Any]:
    judgments = [judged(name, repeat, score) for name, (samples, _) in TEXTS.items() for repeat, score in enumerate(samples)]
    found = chiang_lee(data(kind), Judgments.from_rows(judgments), MeasureOptions())
    assert found is not None
    return found


def test_samples_are_compared_with_each_other_as_annotators_are() -> None:
    [row] = section()["rows"]
    assert (row["n"], row["texts"], row["unreadable"], row["refused"]) == (18, 6, 1, pytest.approx(1 / 18))
    assert (row["exact"], row["people_exact"]) == (pytest.approx(3 / 6), pytest.approx(3 / 6))
    assert 0.8 < row["alpha_interval"] < 1 and 0 < row["people_alpha_interval"] < row["alpha_interval"]
    assert row["undefined"]["identical_mean"] == "no pair has the same text twice"


def test_tau_over_texts_has_an_interval_and_the_p_of_no_correlation() -> None:
    """The value is scipy's; with independent texts that do not go together p is large, and small where they do."""
    rng = np.random.default_rng(5)
    people = rng.integers(1, 6, 60)
    ratings = {"same": np.clip(people + rng.integers(-1, 2, 60), 1, 5), "other": rng.integers(1, 6, 60)}
    for name, scores in ratings.items():
        items = [Item(f"t{n}", "en", "rate_story", group=f"g{n}", system="s", fields={"output": f"t{n}"}) for n in range(60)]
        labels = [labelled(f"t{n}", "a", int(score)) for n, score in enumerate(people)]
        made = Dataset("made", tuple(items), Labels.from_rows(labels), {"likability": SCALE}, about=DatasetCard(id="made"))
        found = chiang_lee(made, Judgments.from_rows([judged(f"t{n}", 0, int(s)) for n, s in enumerate(scores)]), MeasureOptions())
        assert found is not None
        [row] = found["rows"]
        assert row["tau"] == pytest.approx(scipy.stats.kendalltau(people, scores).statistic) and row["tau_ci"][0] < row["tau"]
        assert (row["tau_p"] < 0.01) == (name == "same") and (row["tau_ci"][0] > 0) == (row["tau_p"] < 0.05 and row["tau"] > 0)


def test_means_and_spread_of_systems_are_those_of_the_texts_means() -> None:
    rows = {row["system"]: row for row in section()["systems"]}
    human = rows["Human"]
    assert human["mean"] == pytest.approx((13 / 3 + 4 + 5) / 3) and human["people_mean"] == pytest.approx((4.5 + 4 + 5) / 3)
    assert human["tau"] == pytest.approx(1) and human["annotators_tau"] == pytest.approx(0.5)
    assert rows["gpt2"]["people_sd"] == pytest.approx(0.288675, abs=1e-5)


def test_systems_are_tested_against_the_people_and_within_prompts() -> None:
    [row] = section()["differences"]
    assert row["systems"] == "Human - gpt2" and row["welch"] > 2 and row["welch_p"] == row["welch_q"] < 0.05
    assert row["paired"] == pytest.approx(row["welch"]) and row["paired_n"] == 3
    assert row["paired_p"] is None and "few" in row["undefined"]["paired_p"]


def test_orders_are_those_of_judge_people_and_each_person() -> None:
    orders = {row["rater"]: row["order"] for row in section()["orders"]}
    assert orders == {key: ["Human", "gpt2"] for key in ("judge", "people", "annotator a", "annotator b")}


def test_who_cannot_be_followed_has_no_order_and_no_pair() -> None:
    found = section("positional")
    assert {row["rater"] for row in found["orders"]} == {"judge", "people"}
    assert all(row["undefined"]["annotators_tau"] == "annotators' ids are not those of persons" for row in found["systems"])


def test_names_are_no_ratings() -> None:
    nominal = msgspec.structs.replace(data(), scales={"likability": Scale(kind="nominal", classes=("A", "B"))})
    assert chiang_lee(nominal, Judgments.from_rows([judged("h1", 0, None)]), MeasureOptions()) is None


def test_alphas_have_intervals_over_groups_and_correlations_with_people() -> None:
    texts = {
        f"{system}{n}": ([1 + (n + shift) % 5, 1 + (n + shift + (n % 3 == 0)) % 5], (1 + n % 5, 1 + n % 5))
        for n in range(20)
        for system, shift in (("h", 0), ("m", 1))
    }
    items = [Item(name, "en", "rate_story", group=name[1:], system=name[0], fields={"output": name}) for name in texts]
    labels = [labelled(name, who, score) for name, (_, given) in texts.items() for who, score in zip("ab", given, strict=True)]
    made = Dataset("made", tuple(items), Labels.from_rows(labels), {"likability": SCALE})
    judgments = [judged(name, repeat, score) for name, (samples, _) in texts.items() for repeat, score in enumerate(samples)]
    found = chiang_lee(made, Judgments.from_rows(judgments), MeasureOptions(resamples=200))
    assert found is not None
    [row] = found["rows"]
    for kind in ("ordinal", "interval"):
        low, high = row[f"alpha_{kind}_ci"]
        assert -1 < low < row[f"alpha_{kind}"] < high <= 1
    assert row["people_alpha_interval"] == 1 and -1 < row["r"] < 1
    assert row["tau_in_prompt"] is None, "people give both texts of every prompt the same score"
    assert "no prompt" in row["undefined"]["tau_in_prompt"]


# ---- the first screen of a page about ratings


def rating(**changed: Any) -> dict[str, Any]:
    key = {"judge": "a", "language": "cs", "metric": "likability", "variant": "single+text", "temperature": 0.0, "top_p": 0.9}
    return {**key, "texts": 12, "r": None, "alpha_ordinal": 0.2, **changed}


def test_ratings_open_with_what_the_plainest_condition_shows() -> None:
    rows = [rating(variant="single+text+persona", alpha_ordinal=0.9), rating(), rating(language="ja", alpha_ordinal=0.4)]
    differences = [rating(paired_q=0.01), rating(paired_q=0.2), rating(paired_q=0.001, variant="single+text+persona")]
    screen = open_page({"rows": rows, "differences": differences})
    assert screen and screen.title == "Asked the same again, a agrees with itself by α .20 to .40"
    assert [(number.name, number.text) for number in screen.numbers] == [("Czech · likability", ".20"), ("Japanese · likability", ".40")]
    systems, sure = screen.cards
    assert sure.text == "These are observations, not tests."
    assert (systems.style, systems.text) == ("good", "Of 2 differences between systems' means within prompts 1 are shown after correction.")
    assert "without a persona" in screen.facts
    people = open_page({"rows": [rating(r=0.3)]})
    assert people and people.title == "a: mean scores correlate with people's by r .30" and people.cards[0].heading == "With itself"
    both = open_page({"rows": [rating(), rating(judge="b", alpha_ordinal=0.6)]})
    assert both and both.title == "Asked the same again, 2 judges agree with themselves by α .20 to .60"
    assert [number.name for number in both.numbers] == ["a: Czech · likability", "b: Czech · likability"]


def test_altered_texts_are_no_systems() -> None:
    rows = [rating(metric="meaning_preserved")]
    screen = open_page({"rows": rows, "differences": [rating(metric="meaning_preserved", paired_q=None)]})
    assert screen and screen.cards[0].heading == "Altered texts"
    assert screen.cards[0].text == "Unknown: too few texts. A test needs 8 texts in both versions; ask about more of them."
