"""`harness calibrate`: gains are shown where there are some, falling maps are refused, sets hold people's scores of new texts."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import harness
from harness.correction.calibrate import CalibratedMetric, calibrate_metric, judge_inputs
from harness.correction.correction_options import CalibrateOptions
from harness.correction.score_maps import HALF_ALONE, HALVES, OTHERS, ClassCurve, ClassTable, MapInput, NumberLine, learn, sets_at
from harness.errors import UsageError
from harness.measure.compare import align
from harness.measure.options import Annotators, MeasureOptions
from harness.reports.sections.calibrated_scores import CALIBRATED_SCORES
from harness.sources import open_sources
from tests.unit.correction.calibration_worlds import ScoreWorld, draw_input
from tests.unit.correction.languages_folder import languages_folder

Cli = Callable[..., Any]


def input_of(folder: Path, **options: Any) -> MapInput:
    [source] = open_sources([folder], None, folder)
    compare = MeasureOptions(annotators=Annotators(1))
    [[given], _] = judge_inputs(align([source.recording], compare).tables[0], compare, CalibrateOptions(**options))
    return given


def metric_of(folder: Path, **options: Any) -> CalibratedMetric:
    [metric] = harness.calibrate(folder, CalibrateOptions(**options)).metrics
    return metric


@pytest.mark.parametrize("kind", ["ordinal", "named", "numbers"])
def test_a_gain_is_shown_of_a_judge_that_knows_something_and_of_no_other(tmp_path: Path, kind: str) -> None:
    good = metric_of(languages_folder(tmp_path / "good", {"cs": 1.0, "ja": 0.9}, kind=kind))
    assert [cell.shown for cell in good.cells] == [True, True]
    assert all(cell.after.loss < cell.before.loss and abs(cell.after.error) < abs(cell.before.error) for cell in good.cells)
    idle = metric_of(languages_folder(tmp_path / "idle", {"cs": 0.0, "ja": 0.0}, kind=kind))
    assert not any(cell.shown for cell in idle.cells)
    assert all((cell.over_scores or 0) > 0 for cell in idle.cells), "class shares alone beat raw scores, and that is no gain"


def test_leniency_and_the_parts_of_the_loss_are_those_of_the_scores(tmp_path: Path) -> None:
    folder = languages_folder(tmp_path / "d", {"cs": 1.0})
    given, metric = input_of(folder), metric_of(folder)
    [cell] = metric.cells
    assert cell.before.leniency == pytest.approx(float((given.x - given.mean).mean()))
    assert cell.before.leniency_ci and 0 < cell.before.leniency_ci[0] < cell.before.leniency < cell.before.leniency_ci[1]
    assert cell.after.leniency == pytest.approx(0, abs=0.05)
    for side in (cell.before, cell.after):
        assert side.loss == pytest.approx(side.miscalibration - side.discrimination + side.uncertainty)
    shares = given.counts / given.counts.sum(axis=1, keepdims=True)
    assert cell.before.agreement == pytest.approx(float((shares * given.answers).sum(axis=1).mean()))


def test_a_falling_map_is_refused_in_its_language_alone(tmp_path: Path) -> None:
    metric = metric_of(languages_folder(tmp_path / "d", {"cs": 1.0, "ja": -1.0, "de": 1.0}))
    advice = {cell.language: cell.advice for cell in metric.cells}
    assert advice == {"cs": "use the map", "de": "use the map", "ja": "refused: the map falls"}


def test_a_map_is_the_curve_that_a_certificate_holds(tmp_path: Path) -> None:
    for kind, curve in (("ordinal", ClassCurve), ("named", ClassTable), ("numbers", NumberLine)):
        given = input_of(languages_folder(tmp_path / kind, {"cs": 1.0, "ja": 0.8}, kind=kind))
        learnt = learn(given)
        for language in (0, 1):
            own = given.take(given.language == language)
            held = learnt.curve(language)
            assert isinstance(held, curve)
            assert held.predict(own.x) == pytest.approx(learnt.predict(own), abs=1e-9)
        assert np.isnan(learnt.curve(0).predict([np.nan])).all()


def test_the_gap_stands_beside_what_chance_makes(tmp_path: Path) -> None:
    alike = metric_of(languages_folder(tmp_path / "alike", {"cs": 0.9, "ja": 0.9, "de": 0.9, "fr": 0.9}, groups=40))
    assert alike.gap_before and alike.gap_before.gap < alike.gap_before.by_chance_95 and alike.gap_before.p > 0.05
    apart = metric_of(languages_folder(tmp_path / "apart", {"cs": 1.0, "ja": 0.0}, groups=200))
    assert apart.gap_before and apart.gap_before.gap > apart.gap_before.by_chance_95
    assert metric_of(languages_folder(tmp_path / "one", {"cs": 1.0})).gap_before is None


def test_sets_learn_from_other_languages_or_halves_and_have_a_least_number_of_groups(tmp_path: Path) -> None:
    few = metric_of(languages_folder(tmp_path / "few", {"cs": 1.0, "ja": 1.0}, groups=12))
    assert [cell.sets and (cell.sets.learnt_from, cell.sets.groups) for cell in few.cells] == [(OTHERS, 12)] * 2
    assert all(cell.sets and cell.sets.threshold is not None for cell in few.cells)
    fewer = metric_of(languages_folder(tmp_path / "fewer", {"cs": 1.0, "ja": 1.0}, groups=8))
    for cell in fewer.cells:
        assert cell.sets and cell.sets.threshold is None and cell.sets.whole == 1
        assert cell.sets.reason == "every score: 8 groups set the threshold, and 9 are needed at 90 %"
    alone = metric_of(languages_folder(tmp_path / "alone", {"cs": 1.0}, groups=30))
    assert alone.cells[0].sets and (alone.cells[0].sets.learnt_from, alone.cells[0].sets.groups) == (HALF_ALONE, 15)
    many = metric_of(languages_folder(tmp_path / "many", {"cs": 1.0, "ja": 1.0}, groups=210), level=0.95)
    assert [cell.sets and cell.sets.learnt_from for cell in many.cells] == [HALVES] * 2


def test_a_stronger_promise_has_larger_sets(tmp_path: Path) -> None:
    folder = languages_folder(tmp_path / "d", {"cs": 1.0, "ja": 1.0}, groups=150)

    def size(**promise: Any) -> float:
        sizes = [cell.sets.mean_size for cell in metric_of(folder, **promise).cells if cell.sets]
        return float(np.mean([one for one in sizes if one is not None]))

    plain = size()
    assert size(level=0.8) < plain < size(this_draw=0.95) and plain <= size(per="text") and plain < size(level=0.97)


def test_sets_hold_labels_of_texts_that_nothing_has_seen(tmp_path: Path) -> None:
    whole = input_of(languages_folder(tmp_path / "d", {"cs": 1.0, "ja": 0.7}, groups=600))
    seen = np.isin(whole.group, np.random.default_rng(1).permutation(np.unique(whole.group))[:300])
    metric, new = calibrate_metric(whole.take(seen)), whole.take(~seen)
    for language, cell in enumerate(metric.cells):
        own = new.take(new.language == language)
        assert cell.sets
        inside = sets_at(cell.sets.curve.predict(own.x), "ordered", cell.sets.threshold)
        held = (inside * own.counts).sum() / own.counts.sum()
        assert 0.87 < held < 0.97 and inside.sum(axis=1).mean() < 4


def test_the_length_of_the_text_may_be_read_too(tmp_path: Path, cli: Cli) -> None:
    folder = languages_folder(tmp_path / "d", {"cs": 1.0, "ja": 1.0}, groups=40)
    found = json.loads(cli("calibrate", folder, "--with", "length", "--json").out)
    assert found["metrics"][0]["method"].endswith("reads the score and the length")
    numbers = languages_folder(tmp_path / "n", {"cs": 1.0, "ja": 1.0}, groups=40, kind="numbers")
    with pytest.raises(UsageError, match="--with length is for ordered classes"):
        harness.calibrate(numbers, CalibrateOptions(covariate="length"))


def test_it_says_which_texts_are_left_out_and_how_many_groups_are_needed(tmp_path: Path, cli: Cli) -> None:
    folder = languages_folder(tmp_path / "d", {"cs": 1.0, "ja": 1.0}, groups=4)
    judgments = folder / "judgments.jsonl"
    first, *rest = judgments.read_text().splitlines()
    judgments.write_text("\n".join([json.dumps(json.loads(first) | {"score": 9}), *rest]) + "\n")
    said = " ".join(cli("calibrate", folder).out.split())
    assert "tone: 1 of 24 labelled texts have no readable score on the scale, and are left out." in said
    whole = " ".join(cli("calibrate", folder, "--all").out.split())
    assert "Fewer than 20 independent groups in a language are too few to show a gain" in whole
    assert "the other languages 4 groups" in whole, "whose labels set the threshold of a language's sets"


def test_a_language_that_does_not_vary_leaves_no_gap_of_the_others() -> None:
    given = draw_input(ScoreWorld("two classes", classes=2), [30, 30, 30], np.random.default_rng(4))
    certain = given.language == 0
    alike = replace(given, counts=np.where(certain[:, None], [0.0, 1.0], given.counts), mean=np.where(certain, 1.0, given.mean))
    assert calibrate_metric(given).gap_after is not None
    found = calibrate_metric(alike)
    assert found.cells[0].after.agreement == 1.0 and found.gap_after is None, "its error of 0 says nothing of a new text"


def test_the_command_says_what_to_do_by_language(tmp_path: Path, cli: Cli) -> None:
    folder = languages_folder(tmp_path / "d", {"cs": 1.0, "ja": 0.0}, groups=60)
    printed = " ".join(cli("calibrate", folder).out.split())
    assert "A gain is shown in 1 of 2 languages (Czech). In Japanese the map falls" in printed, "its scores carry nothing"
    assert "equal languages would lie" in printed and "no gain in Kendall's τ is claimed" in " ".join(
        cli("calibrate", folder, "--all").out.split()
    )
    assert "A set holds a person's score of a random text of a new random group in 90 of 100 such texts" in printed
    found = json.loads(cli("calibrate", folder, "--json", "--level", "0.8").out)
    assert found["level"] == 0.8 and found["metrics"][0]["metric"] == "tone"
    assert {cell["language"]: cell["advice"] for cell in found["metrics"][0]["cells"]}["ja"] != "use the map"


def test_a_map_that_equals_fewer_scores_says_where() -> None:
    """A map may say better how sure scores are and equal people's less often, which the advice alone would hide."""
    rows = [{"advice": "use the map", "metric": "tone", "judge": "j", "language": tag} for tag in ("cs", "ja")]
    sides = [{"agreement_before": 0.5, "agreement_after": 0.34}, {"agreement_before": 0.504, "agreement_after": 0.496}]
    said = CALIBRATED_SCORES.finding({"rows": [{**row, **side} for row, side in zip(rows, sides, strict=True)], "gaps": []})
    assert "It equals people's scores less often in Czech (50 % → 34 %), and says better how sure each score is." in said


def test_a_map_that_leaves_languages_further_apart_says_so(tmp_path: Path, cli: Cli) -> None:
    """Raw scores are wrong everywhere: in Czech at random, in Japanese by a shift, and only a shift can be mapped away."""
    words = "apart by chance; the map widens the gap by more than that."
    wider = languages_folder(tmp_path / "wider", {"cs": 0.1, "ja": 1.0}, apart=0.35)
    before, after = (metric := metric_of(wider)).gap_before, metric.gap_after
    assert before and after and after.gap - before.gap > after.by_chance_95
    assert words in " ".join(cli("calibrate", wider).out.split())
    alike = languages_folder(tmp_path / "alike", {"cs": 1.0, "ja": 1.0})
    said = " ".join(cli("calibrate", alike).out.split())
    assert "apart by chance." in said and words not in said


def test_where_scores_run_against_people_the_answer_says_not_to_use_them(tmp_path: Path, cli: Cli) -> None:
    printed = " ".join(cli("calibrate", languages_folder(tmp_path / "d", {"cs": 1.0, "de": 1.0, "ja": -1.0}, groups=60)).out.split())
    against = "In Japanese the map falls, as higher scores went with lower ones of people, and is refused: do not rely on the scores there."
    assert f"A gain is shown in 2 of 3 languages (Czech, German). {against}" in printed
    alone = " ".join(cli("calibrate", languages_folder(tmp_path / "one", {"ja": -1.0}, groups=60)).out.split())
    assert against in alone and "leave the scores as they are" not in alone.partition("texts groups")[0]


def test_comparisons_and_their_pages_show_before_and_after(tmp_path: Path, cli: Cli) -> None:
    folder = languages_folder(tmp_path / "d", {"cs": 1.0, "ja": 0.0}, groups=40)
    found = json.loads(cli("compare", folder, "--decide", "full", "--json").out)["sections"]["calibrated_scores"]
    [metric] = harness.calibrate(folder).metrics
    assert [row["loss_after"] for row in found["rows"]] == [cell.after.loss for cell in (*metric.cells, metric.overall)]
    assert {row["language"]: row["threshold"] for row in found["sets"]} == {
        cell.language: cell.sets.threshold for cell in metric.cells if cell.sets
    }
    assert "calibrated_scores" not in json.loads(cli("compare", folder, "--json").out).get("sections", {})
    assert cli("compare", folder, "--decide", "full", "--html", tmp_path / "page.html").code == 0
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "What each score is worth" in page and "A gain is shown in 1 of 2 languages (Czech)" in page


def test_a_page_counts_the_texts_that_the_command_counts(tmp_path: Path, cli: Cli) -> None:
    folder = languages_folder(tmp_path / "d", {"cs": 1.0, "ja": 0.8}, groups=40)
    labels = [json.loads(line) for line in (folder / "labels.jsonl").read_text("utf-8").splitlines()]
    kept = [row for row in labels if not (row["annotator_id"].endswith("p2") and row["item_id"].endswith("-0"))]  # a third has one label
    (folder / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept), "utf-8")

    alike = ("n", "labels", "q", "advice")
    for flags, texts in ((), 120), (("--annotators", "2+"), 80):
        sections = json.loads(cli("compare", folder, "--decide", "full", "--json", *flags).out)["sections"]
        page = sections["calibrated_scores"]
        [metric] = json.loads(cli("calibrate", folder, "--json", *flags).out)["metrics"]
        assert page["rows"][0]["n"] == texts
        for row, cell in zip(page["rows"], [*metric["cells"], metric["overall"]], strict=True):
            assert [row[name] for name in alike] == [cell[name] for name in alike]
            assert (row["loss_before"], row["loss_after"]) == (cell["before"]["loss"], cell["after"]["loss"])
        assert [row["gap"] for row in page["gaps"]] == [metric["gap_before"]["gap"], metric["gap_after"]["gap"]]


def test_bad_input_is_refused_in_words(tmp_path: Path, cli: Cli) -> None:
    folder = languages_folder(tmp_path / "d", {"cs": 1.0}, groups=10)
    for flags, words in (
        (("--judge", "model/two"), "no judge 'model/two'"),
        (("--where", "metric=tune"), "no metric 'tune'"),
        (("--lang", "de"), "no items for 'de'"),
        (("--level", "0.3"), "--level is a share from 0.5 to below 1"),
        (("--this-draw", "0.95", "--per", "text"), "leave --per text out"),
    ):
        done = cli("calibrate", folder, *flags)
        assert done.code == 2 and words in done.err and not done.out
    (folder / "judgments.jsonl").unlink()
    assert "no judgments" in cli("calibrate", folder).err


def test_few_groups_one_class_and_a_constant_judge_have_numbers_and_no_gain(tmp_path: Path) -> None:
    few = metric_of(languages_folder(tmp_path / "few", {"cs": 1.0}, groups=5))
    assert few.cells[0].advice == "too few groups" and few.cells[0].q is None
    folder = languages_folder(tmp_path / "same", {"cs": 1.0, "ja": 1.0}, groups=30)
    for name, key in (("labels", "score"), ("judgments", "score")):
        path = folder / f"{name}.jsonl"
        kept = path.read_text("utf-8")
        path.write_text("".join(json.dumps(json.loads(line) | {key: 4}) + "\n" for line in kept.splitlines()), "utf-8")
        metric = metric_of(folder)
        assert not any(cell.shown for cell in metric.cells) and all(np.isfinite(cell.after.loss) for cell in metric.cells)
        path.write_text(kept, "utf-8")
