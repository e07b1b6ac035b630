"""Judges on the same questions: what a table of ranks is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest

from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.data.labels import Labels
from harness.errors import UsageError
from harness.measure.board_ranking import gains_over, rank
from harness.measure.board_ranking_by_scores import Ranking, RankingInput
from harness.measure.compare import compare
from harness.measure.options import BY_METRIC, POOLED, MeasureOptions
from harness.measure.recordings import recording
from harness.measure.summaries import pooled_differences, summaries
from harness.model import Failure, Item, Judgment, Label, Scale

TEXTS = 20
TWO, THREE = Scale(kind="ordinal", classes=(0, 1), best=1), Scale(kind="ordinal", classes=(0, 1, 2), best=2)
SCALES = {"fluency": THREE, "harm": TWO}
RNG = np.random.default_rng(5)
Judged = Callable[..., Judgment]


@pytest.fixture(scope="module")
def data(make_item: Callable[..., Item]) -> Dataset:
    """Twenty texts of two items in Czech and English; three native annotators who mostly agree on two metrics."""
    items = [
        make_item(f"{tag}{n}", language=tag, group=f"{tag}{n // 2}", output="x" * (n + 1)) for tag in ("cs", "en") for n in range(2 * TEXTS)
    ]
    labels = []
    for place, item in enumerate(items):
        for metric, scale in SCALES.items():
            true = (place * 7 + len(metric)) % len(scale.classes)
            for person in range(3):
                given = true if RNG.random() < 0.8 else 0
                labels.append(Label(item.item_id, f"p{person}", metric, given))
    return Dataset("made", tuple(items), Labels.from_rows(labels), SCALES)


@pytest.fixture(scope="module")
def answers(data: Dataset, judged: Judged) -> Callable[..., Judgments]:
    """A judge that says what the first annotator says with probability `skill`, else 0; `without` languages, `repeats` times."""

    def make(skill: float, *, without: tuple[str, ...] = (), repeats: int = 1, fails: float = 0.0, seed: int = 0) -> Judgments:
        rng = np.random.default_rng(seed)
        found = []
        for label in data.labels:
            item = data.by_id[label.item_id]
            if label.annotator_id != "p0" or item.language in without:
                continue
            for repeat in range(repeats):
                answer = Failure.NOT_JSON if rng.random() < fails else label.score if rng.random() < skill else 0
                place = {"language": item.language, "metric": label.metric, "variant": "single", "repeat": repeat}
                found.append(judged(label.item_id, answer, judge="j", **place))
        return Judgments.from_rows(found)

    return make


def tables(data: Dataset, judges: dict[str, Judgments], **more: Any) -> dict[tuple[str, str], Ranking]:
    asked: dict[str, Any] = {"metrics": tuple(SCALES), "variants": ("single",), "languages": ("cs", "en")}
    shown = {name: more.pop(name) for name in ("unranked", "on_label_scale") if name in more}
    found = rank(RankingInput(data, data, judges, MeasureOptions(), **asked | more), ("cohen_kappa", "leniency"), **shown)
    return {(table.language, table.metric): table for table in found}


def test_metrics_are_pooled_as_the_summaries_of_a_report_pool_them(data: Dataset, answers: Callable[..., Judgments]) -> None:
    judgments = answers(0.7, fails=0.1)
    found = tables(data, {"j": judgments})
    cells = compare([recording(judgments, data, data)], BY_METRIC).cells
    source = recording(judgments, data, data)
    for summary in summaries(cells, pooled=pooled_differences(source, MeasureOptions())):
        assert summary.diff == pytest.approx(found[summary.language, POOLED].rows[0].baseline_diff)
        assert summary.ci == pytest.approx(found[summary.language, POOLED].rows[0].baseline_ci)
        table = found[summary.language, POOLED]
        assert table.rows[0].value == pytest.approx(summary.pa_failed_wrong)
        assert table.baseline == pytest.approx(summary.baseline)
        assert (table.rows[0].n_ref, table.rows[0].n) == (summary.n_ref, summary.n)


def test_the_table_of_a_metric_says_what_its_cell_says(data: Dataset, answers: Callable[..., Judgments]) -> None:
    judgments = answers(0.7, fails=0.1)
    found = tables(data, {"j": judgments})
    for cell in compare([recording(judgments, data, data)], BY_METRIC).cells:
        [row] = found[cell["language"], cell["metric"]].rows
        assert row.value == pytest.approx(cell["pa_failed_wrong"])
        assert row.statistics["cohen_kappa"] == pytest.approx(cell["cohen_kappa"])
        length = SCALES[cell["metric"]].classes[-1]
        assert row.statistics["leniency"] == pytest.approx(cell["leniency"] / length)
        assert row.baseline_diff == pytest.approx(cell.vs_baseline["diff"])
        assert row.baseline_ci == pytest.approx(cell.vs_baseline["ci"])
        assert row.failures == cell.failures and row.coverage == pytest.approx(cell.coverage)
        assert row.matched is not None
        assert (row.matched.judge, row.matched.people) == pytest.approx((cell["judge_loo"], cell["human_loo"]))


def test_statistics_of_all_metrics_are_means_and_blank_if_one_is(data: Dataset, answers: Callable[..., Judgments]) -> None:
    found = tables(data, {"j": answers(0.7)})
    per_metric = [found["cs", metric].rows[0].statistics["cohen_kappa"] for metric in SCALES]
    assert found["cs", POOLED].rows[0].statistics["cohen_kappa"] == pytest.approx(np.mean(per_metric))  # type: ignore[arg-type]
    names = msgspec.structs.replace(data, scales=SCALES | {"harm": Scale(kind="nominal", classes=(0, 1))})
    nominal = tables(names, {"j": answers(0.7)})
    assert nominal["cs", "harm"].rows[0].statistics["leniency"] is None
    assert nominal["cs", POOLED].rows[0].statistics["leniency"] is None


def test_a_better_judge_stands_above_and_is_told_apart(data: Dataset, answers: Callable[..., Judgments]) -> None:
    table = tables(data, {"poor": answers(0.1), "good": answers(1.0), "mid": answers(0.6)})["cs", POOLED]
    assert [row.judge for row in table.rows] == ["good", "mid", "poor"]
    good, _, poor = table.rows
    assert good.rank_ci == (1, 1) and good.beats_baseline and not set(good.group) & set(poor.group)
    assert table.texts == TEXTS and table.reason is None


def test_a_language_without_answers_is_not_in_its_tables_and_a_question_without_one_is_wrong(
    data: Dataset, answers: Callable[..., Judgments]
) -> None:
    whole = answers(1.0)
    half = whole.for_items([f"cs{n}" for n in range(TEXTS)])
    found = tables(data, {"whole": whole, "half": half})
    assert [row.judge for row in found["en", POOLED].rows] == ["whole"]
    [row] = [row for row in found["cs", POOLED].rows if row.judge == "half"]
    assert row.failures == {"missing": row.n_ref - row.n} and row.n < row.n_ref
    assert row.value < 0.6


def test_repeats_count_each_and_say_how_often_answers_are_the_same(data: Dataset, answers: Callable[..., Judgments]) -> None:
    steady = tables(data, {"j": answers(1.0, repeats=3)}, repeats=3)["cs", POOLED].rows[0]
    assert steady.consistency == 1 and steady.n_ref == 3 * tables(data, {"j": answers(1.0)})["cs", POOLED].rows[0].n_ref
    moody = tables(data, {"j": answers(0.5, repeats=3)}, repeats=3)["cs", POOLED].rows[0]
    assert moody.consistency is not None and 0 < moody.consistency < 1
    assert tables(data, {"j": answers(1.0)})["cs", POOLED].rows[0].consistency is None


def test_people_are_a_row_only_where_native_speakers_labelled(data: Dataset, answers: Callable[..., Judgments]) -> None:
    assert tables(data, {"j": answers(0.7)})["cs", POOLED].people is not None
    made = [msgspec.structs.replace(label, source="constructed") for label in data.labels]
    constructed = msgspec.structs.replace(data, labels=Labels.from_rows(made))
    table = tables(constructed, {"j": answers(0.7)})["cs", POOLED]
    assert table.people is None and table.rows[0].matched is None


def test_fewer_than_eight_texts_are_ranked_without_intervals(data: Dataset, answers: Callable[..., Judgments]) -> None:
    few = data.only(item for item in data.items if item.item_id in {f"cs{n}" for n in range(10)})
    table = tables(few, {"j": answers(1.0).for_items(few.by_id), "k": answers(0.0).for_items(few.by_id)})["cs", POOLED]
    assert table.reason == "too few independent texts" and table.groups == ()
    assert [row.rank for row in table.rows] == [1, 2]
    assert table.rows[0].rank_ci is None and table.rows[0].beats_baseline is None


@pytest.mark.parametrize("statistic", ["pa_pairwise", "judge_loo"])
def test_a_board_may_rank_by_single_annotators(statistic: str, data: Dataset, answers: Callable[..., Judgments]) -> None:
    judgments = answers(0.8)
    found = tables(data, {"j": judgments}, rank_by=statistic)
    for cell in compare([recording(judgments, data, data)], BY_METRIC).cells:
        assert found[cell["language"], cell["metric"]].rows[0].value == pytest.approx(cell[statistic])
    refusing = tables(data, {"j": answers(0.8, fails=0.5)}, rank_by=statistic)["cs", POOLED].rows[0]
    assert refusing.value < found["cs", POOLED].rows[0].value - 0.2


def test_what_forgives_failures_is_nothing_to_rank_by(data: Dataset, answers: Callable[..., Judgments]) -> None:
    with pytest.raises(UsageError, match="judges cannot be ranked by 'pa'"):
        tables(data, {"j": answers(1.0)}, rank_by="pa")


def test_without_judges_or_labels_there_is_no_table(data: Dataset) -> None:
    assert tables(data, {}) == {}
    assert tables(msgspec.structs.replace(data, labels=Labels.from_rows([])), {}) == {}


def test_baselines_are_held_against_on_the_same_questions(data: Dataset, answers: Callable[..., Judgments]) -> None:
    asked: dict[str, Any] = {"metrics": tuple(SCALES), "variants": ("single",), "languages": ("cs", "en")}
    found = {
        (gain.baseline, gain.language): gain
        for gain in gains_over(("majority", "constant-best"), RankingInput(data, data, {"j": answers(0.7)}, MeasureOptions(), **asked))
    }
    table = tables(data, {"j": answers(0.7)})["cs", POOLED]
    assert found["majority", "cs"].diff == pytest.approx(table.rows[0].baseline_diff)
    best = [label.score == SCALES[label.metric].best for label in data.labels]
    assert found["constant-best", "cs"].diff > found["majority", "cs"].diff and sum(best) < len(best) / 2


def test_knowing_the_task_is_no_gain_where_tasks_are_pooled(make_item: Callable[..., Item], judged: Judged) -> None:
    """The baseline of a table is the best constant of each task in it, not one for all of them."""
    items = [make_item(f"{task}{n}", language="cs", task=task) for task in ("open_prompt", "summarize") for n in range(20)]
    true = {item.item_id: 2 * (item.task == "summarize") for item in items}
    labels = Labels.from_rows([Label(name, "p", "fluency", score) for name, score in true.items()])
    constant = Judgments.from_rows([judged(name, score, metric="fluency", variant="single") for name, score in true.items()])
    data = Dataset("made", tuple(items), labels, SCALES)
    for table in tables(data, {"j": constant}).values():
        assert (table.baseline, table.rows[0].value, table.rows[0].baseline_diff) == (1.0, 1.0, 0.0)


def test_a_baseline_has_numbers_and_no_rank(data: Dataset, answers: Callable[..., Judgments]) -> None:
    judges = {"good": answers(0.9), "poor": answers(0.3), "constant": answers(0.95)}
    table = tables(data, judges, unranked=("constant",))["cs", POOLED]
    assert [(row.judge, row.rank) for row in table.rows] == [("good", 1), ("poor", 2), ("constant", None)]
    constant = table.rows[2]
    assert constant.rank_ci is None and constant.group == "" and constant.value_ci is not None
    without = tables(data, {name: judges[name] for name in ("good", "poor")})["cs", POOLED]
    assert table.rows[:2] == without.rows and table.groups == without.groups


def test_baselines_alone_are_no_reason_to_miss_ranks(data: Dataset, answers: Callable[..., Judgments]) -> None:
    table = tables(data, {"constant": answers(0.9)}, unranked=("constant",))["cs", POOLED]
    assert table.reason is None and table.rows[0].rank is None and table.groups == ()


def test_a_judge_most_of_whose_answers_cannot_be_read_has_no_rank(data: Dataset, answers: Callable[..., Judgments]) -> None:
    judges = {"few": answers(0.9, fails=0.7), "one": answers(0.7), "two": answers(0.0)}
    for table in tables(data, judges).values():
        assert [(row.judge, row.rank, row.unread) for row in table.rows if row.judge == "few"] == [("few", None, True)]
        assert table.rows[-1].beside_baseline == "unread" and table.rows[-1].rank_ci is None
        assert [row.rank for row in table.rows[:2]] == [1, 2] and table.reason is None
    alone = tables(data, {"few": answers(0.9, fails=0.7)})["cs", POOLED]
    assert [row.rank for row in alone.rows] == [None] and alone.groups == () and alone.reason is None
