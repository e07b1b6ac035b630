"""Boards of continuous scores: judges ranked by how they order the outputs for every source text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest
from scipy.stats import kendalltau

from harness.content.specs import DatasetCard
from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.data.labels import Labels
from harness.errors import UsageError
from harness.measure.board_ranking import gains_over, rank
from harness.measure.board_ranking_by_scores import Ranking, RankingInput
from harness.measure.options import POOLED, MeasureOptions
from harness.model import Failure, Item, Judgment, Label, Scale

RNG = np.random.default_rng(3)
SCALE = Scale(kind="interval", min=0.0, max=100.0, best=100.0)
TEXTS, SYSTEMS = 24, 6
Judged = Callable[..., Judgment]


@pytest.fixture(scope="module")
def data(make_item: Callable[..., Item]) -> Dataset:
    """24 Japanese and 8 Czech source texts, each in its own document, translated by six systems; a kind and a strict annotator."""
    items, labels = [], []
    for tag, texts in (("ja", TEXTS), ("cs", 8)):
        for text in range(texts):
            for system in range(SYSTEMS):
                item = make_item(
                    f"{tag}-{text}-{system}", language=tag, group=f"{tag}{text}", system=f"s{system}", source_text=f"{tag}{text}"
                )
                who = (text + system) % 2
                items.append(item)
                labels.append(Label(item.item_id, f"p{who}", "q", float(RNG.integers(20, 61) + 40 * who)))
    about = DatasetCard(id="made", annotators="persistent", segment="source_text")
    return Dataset("made", tuple(items), Labels.from_rows(labels), {"q": SCALE}, about=about)


@pytest.fixture(scope="module")
def standard(data: Dataset) -> dict[str, float]:
    """People's scores less the mean of their own, divided by its standard deviation, by language and annotator."""
    found: dict[str, float] = {}
    for tag in ("ja", "cs"):
        for who in ("p0", "p1"):
            own = {x.item_id: float(x.score) for x in data.labels if x.annotator_id == who and x.item_id.startswith(tag)}
            values = np.array(list(own.values()))
            found |= {item: (score - values.mean()) / values.std(ddof=1) for item, score in own.items()}
    return found


@pytest.fixture(scope="module")
def answers(data: Dataset, judged: Judged, standard: dict[str, float]) -> Callable[..., Judgments]:
    """A judge that follows people up to noise; the first `fails` answers of a text fail."""

    def make(noise: float, *, fails: int = 0, constant: bool = False, seed: int = 0) -> Judgments:
        rng = np.random.default_rng(seed)
        found = []
        for item in data.items:
            score = 50.0 if constant else float(np.clip(50 + 15 * (standard[item.item_id] + noise * rng.normal()), 0, 100))
            answer = Failure.NOT_JSON if int(item.item_id.rpartition("-")[2]) < fails else score
            found.append(judged(item.item_id, answer, judge="j", language=item.language, metric="q", variant="single"))
        return Judgments.from_rows(found)

    return make


def tables(data: Dataset, judges: dict[str, Judgments], **more: Any) -> dict[tuple[str, str], Ranking]:
    asked: dict[str, Any] = {"metrics": ("q",), "variants": ("single",), "languages": ("cs", "ja"), "rank_by": "kendall_tau_within"}
    shown = {name: more.pop(name) for name in ("unranked", "on_label_scale") if name in more}
    found = rank(RankingInput(data, data, judges, MeasureOptions(), **asked | more), ("kendall_tau", "mae", "leniency"), **shown)
    return {(table.language, table.metric): table for table in found}


def test_the_value_is_the_mean_of_scipys_tau_b_on_standardised_scores(
    data: Dataset, answers: Callable[..., Judgments], standard: dict[str, float]
) -> None:
    judgments = answers(1.0)
    [row] = tables(data, {"j": judgments})["ja", "q"].rows
    given = {j: float(s) for j, s in zip(judgments.item, judgments.score, strict=True)}
    wanted = []
    for text in range(TEXTS):
        ids = [f"ja-{text}-{system}" for system in range(SYSTEMS)]
        wanted.append(kendalltau([standard[i] for i in ids], [given[i] for i in ids]).statistic)
    assert row.value == pytest.approx(np.mean(wanted))
    assert row.value_ci is not None and row.value_ci[0] < row.value < row.value_ci[1]
    assert row.beats_baseline and (row.n_ref, row.n, row.coverage) == (144, 144, 1.0)


def test_an_unreadable_answer_never_pays(data: Dataset, answers: Callable[..., Judgments]) -> None:
    """Who leaves a third of every text unanswered is worse; who answers with one score, or never, has 0."""
    found = tables(
        data, {"whole": answers(0.2), "gaps": answers(0.2, fails=2), "flat": answers(0, constant=True), "none": answers(0, fails=6)}
    )
    rows = {row.judge: row for row in found["ja", POOLED].rows}
    assert rows["whole"].value > rows["gaps"].value > 0
    assert rows["flat"].value == rows["none"].value == 0 and not rows["flat"].beats_baseline
    assert rows["gaps"].failures == {"not_json": 48} and rows["gaps"].coverage == pytest.approx(2 / 3)
    assert rows["flat"].statistics["kendall_tau"] is None and rows["flat"].statistics["mae"] is not None


def test_a_further_judge_changes_no_other_value(data: Dataset, answers: Callable[..., Judgments]) -> None:
    alone = tables(data, {"a": answers(1.0)})["ja", "q"].rows[0]
    beside = next(r for r in tables(data, {"a": answers(1.0), "z": answers(0, constant=True)})["ja", "q"].rows if r.judge == "a")
    keys = ("value", "value_ci", "statistics", "coverage")
    assert [getattr(alone, key) for key in keys] == [getattr(beside, key) for key in keys]


def test_few_documents_have_no_ranks(data: Dataset, answers: Callable[..., Judgments]) -> None:
    found = tables(data, {"good": answers(0.2), "poor": answers(5.0, seed=1)})
    czech, japanese = found["cs", "q"], found["ja", "q"]
    assert (czech.texts, czech.reason, {row.rank for row in czech.rows}) == (8, "too few independent texts", {None})
    assert (japanese.texts, japanese.reason) == (24, None)
    assert [(row.judge, row.rank, row.rank_ci, row.group) for row in japanese.rows] == [("good", 1, (1, 1), "a"), ("poor", 2, (2, 2), "b")]


def test_gains_over_a_constant_are_the_value(data: Dataset, answers: Callable[..., Judgments]) -> None:
    judges = {"j": answers(1.0)}
    asked: dict[str, Any] = {"metrics": ("q",), "variants": ("single",), "languages": ("ja",), "rank_by": "kendall_tau_within"}
    best, length = gains_over(("constant-best", "length"), RankingInput(data, data, judges, MeasureOptions(), **asked))
    row = tables(data, judges)["ja", "q"].rows[0]
    assert (best.diff, best.interval) == (row.value, row.value_ci)
    assert length.interval is not None and length.interval[0] > 0


def test_what_cannot_be_ranked_says_what_to_do(data: Dataset, answers: Callable[..., Judgments]) -> None:
    without = msgspec.structs.replace(data, about=DatasetCard(id="made", annotators="persistent"))
    with pytest.raises(UsageError, match='add segment = "KEY"'):
        tables(without, {"j": answers(1.0)})
    with pytest.raises(UsageError, match='rank_by = "kendall_tau_within" can'):
        tables(data, {"j": answers(1.0)}, rank_by="pa_failed_wrong")


def test_a_judge_most_of_whose_answers_cannot_be_read_has_no_rank(data: Dataset, answers: Callable[..., Judgments]) -> None:
    half, most = answers(0.1, fails=SYSTEMS // 2), answers(0.1, fails=SYSTEMS // 2 + 1)
    rows = {row.judge: row for row in tables(data, {"half": half, "most": most, "poor": answers(3.0)})["ja", "q"].rows}
    assert (rows["most"].rank, rows["most"].unread, rows["most"].beside_baseline) == (None, True, "unread")
    assert sorted(rows[name].rank or 0 for name in ("half", "poor")) == [1, 2] and not rows["half"].unread
    [baseline] = tables(data, {"most": most}, unranked=("most",))["ja", "q"].rows
    assert not baseline.unread
