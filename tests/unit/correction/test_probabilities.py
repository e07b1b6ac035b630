"""Verdicts on probabilities by language, their numbers and their sentences, in worlds where the truth is known."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import harness
from harness.correction.correction_options import ProbabilityOptions
from harness.correction.probabilities import PROBABILITY_VERDICTS, ProbabilityTests, decide_probabilities
from harness.errors import UsageError, UseForbidden
from harness.reports.sections.probabilities import headline, probabilities_section
from harness.stats.estimation.probability_tests import calibration_tests, refit
from tests.unit.correction.probability_folder import probability_folder

HOLD, REFITTED, DO_NOT_HOLD, TOO_FEW = PROBABILITY_VERDICTS


def calibrated_right(sure: float) -> float:
    return sure


def too_sure(sure: float) -> float:
    return 0.5 + 1.2 * (sure - 0.6) ** 1.2  # knows more where it is sure, but far less than it says


def knows_nothing(sure: float) -> float:
    return 0.6


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = probability_folder(
        tmp_path_factory.mktemp("made") / "data", {"cs": calibrated_right, "hi": knows_nothing, "ja": too_sure}, texts=1500
    )
    return harness.probabilities(folder)


def cell(measured: Any, language: str) -> Any:
    [found] = [one for one in measured.cells if one.key["language"] == language]
    return found


def test_each_language_has_the_verdict_of_its_world(measured: Any) -> None:
    assert {one.key["language"]: one.verdict for one in measured.cells} == {"cs": HOLD, "hi": DO_NOT_HOLD, "ja": REFITTED}


def test_numbers_are_beside_people(measured: Any) -> None:
    czech = cell(measured, "cs")
    assert czech.n == 1500 and czech.groups == 750 and czech.without == 0 and czech.effective_groups == pytest.approx(750)
    assert czech.gap == pytest.approx(czech.confidence - czech.right) and czech.gap_ci[0] < czech.gap < czech.gap_ci[1]
    assert czech.right_ci[0] < czech.right < czech.right_ci[1]
    assert czech.person_right < czech.right and czech.person_n == 1500  # one label in twenty is another one
    assert 0.85 < czech.people_right < 0.95
    assert 0 < czech.brier_least < czech.brier_people < 0.25 and czech.brier_skill > 0.3 and czech.log_loss_skill > 0.3
    assert czech.q_within <= 0.05 and czech.cox_slope_ci[0] < 1 < czech.cox_slope_ci[1]


def test_the_curve_has_bins_of_equal_count_with_bands(measured: Any) -> None:
    bins = cell(measured, "ja").bins
    assert sum(one["n"] for one in bins) == 1500 and {one["n"] for one in bins} == {150}
    assert all(one["share_ci"][0] <= one["share"] <= one["share_ci"][1] for one in bins)
    assert [one["confidence"] for one in bins] == sorted(one["confidence"] for one in bins)


def test_the_refit_is_of_texts_that_it_has_not_seen_and_says_how_many_labels_it_needs(measured: Any) -> None:
    japanese, hindi = cell(measured, "ja"), cell(measured, "hi")
    assert abs(japanese.refit.gap) < 0.02 and japanese.refit.brier < min(japanese.refit.brier_raw, japanese.refit.brier_constant)
    assert japanese.refit.map_slope > 0 and hindi.refit.brier > hindi.refit.brier_constant - 0.001
    assert hindi.q_gain > 0.05 and japanese.q_gain < 0.05


def test_sentences_are_those_of_people(measured: Any) -> None:
    section = probabilities_section(measured.cells, measured.languages, measured.cuts)
    assert section is not None
    [line] = headline(section)
    czech, hindi, japanese = line.split(". In ")
    assert czech.startswith("In Czech it says 89 % and is right in ") and czech.endswith("]: its probabilities hold")
    assert hindi.startswith("Hindi it says") and hindi.endswith("]: do not gate on them")
    assert "]: do not gate on them; refitted on 1,500 texts they hold (gap 0 points)." in japanese


def test_one_cut_for_all_languages_shows_where_it_is_wrong(measured: Any) -> None:
    at = {one.key["language"]: one for one in measured.cuts if one.cut == 0.9}
    assert at["cs"].wrong < 0.08 < 0.3 < at["hi"].wrong and at["hi"].wrong_ci[0] < at["hi"].wrong < at["hi"].wrong_ci[1]
    assert {one.cut for one in measured.cuts if one.origin == "usual"} == {0.5, 0.8, 0.9, 0.95}
    whole = [one for one in measured.cuts if one.cut == 0.5 and one.key["language"] == "cs"]
    assert whole[0].accepted == 1.0 and whole[0].wrong == pytest.approx(1 - cell(measured, "cs").right)


def test_languages_differ_and_the_worst_is_named(measured: Any) -> None:
    [across] = measured.languages
    assert across.languages == 3 and across.worst in ("hi", "ja") and across.p < 0.001
    assert across.spread_ci[0] > 0.02 and across.worst_gap == max(one.gap for one in measured.cells)


def test_json_holds_everything_and_no_nan(measured: Any) -> None:
    text = json.dumps(measured.as_json(), allow_nan=False, default=str)
    assert json.loads(text)["cells"][0]["language"] == "cs" and "use:probabilities margin=0.05 alpha=0.05" in measured.signature


def test_few_texts_say_how_many_would_do(tmp_path: Path) -> None:
    folder = probability_folder(tmp_path / "data", {"cs": calibrated_right}, texts=60)
    [found] = harness.probabilities(folder).cells
    assert found.verdict == TOO_FEW and found.labels_needed and 100 < found.labels_needed < 5000
    tiny = probability_folder(tmp_path / "tiny", {"cs": calibrated_right}, texts=10)
    [found] = harness.probabilities(tiny).cells
    assert found.verdict == TOO_FEW and found.q_within is None and found.refit is None and found.gap is not None


def test_a_number_of_texts_that_are_there_already_is_not_asked_for(tmp_path: Path) -> None:
    folder = probability_folder(tmp_path / "data", {"cs": lambda sure: 0.0}, texts=20)  # far beyond the margin, in ten groups
    [cell] = harness.probabilities(folder).cells
    assert (cell.verdict, cell.n, cell.groups, cell.labels_needed) == (TOO_FEW, 20, 10, None)


@pytest.mark.parametrize("classes", [2, 5])
def test_a_judge_that_is_always_right_or_always_wrong_has_numbers_without_nan(tmp_path: Path, classes: int) -> None:
    folder = probability_folder(
        tmp_path / "data", {"cs": lambda sure: 1.0, "ja": lambda sure: 0.0}, texts=120, classes=classes, annotators=1
    )
    measured = harness.probabilities(folder)
    json.dumps(measured.as_json(), allow_nan=False, default=str)
    assert {one.key["language"]: one.verdict for one in measured.cells}["ja"] == DO_NOT_HOLD
    assert all(one.people_right is None and one.brier_people is None for one in measured.cells)


def test_without_probabilities_there_is_nothing(tmp_path: Path) -> None:
    folder = probability_folder(tmp_path / "data", {"cs": calibrated_right}, texts=40, probs=False)
    assert harness.probabilities(folder).cells == ()
    assert "probabilities" not in harness.compare(folder).sections


def test_probabilities_that_do_not_add_up_are_no_distribution(tmp_path: Path) -> None:
    folder = probability_folder(tmp_path / "data", {"cs": calibrated_right}, texts=60)
    rows = [json.loads(line) for line in (folder / "judgments.jsonl").read_text("utf-8").splitlines()]
    for row in rows:
        row["probs"] = {str(row["score"]): 0.7}
    (folder / "judgments.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    [found] = harness.probabilities(folder).cells
    assert found.confidence == pytest.approx(0.7) and found.gap is not None and found.brier is None and found.log_loss_skill is None


def test_a_cut_of_accept_needs_a_random_sample(tmp_path: Path) -> None:
    random = probability_folder(tmp_path / "random", {"cs": calibrated_right, "ja": calibrated_right}, texts=400)
    other = probability_folder(tmp_path / "other", {"cs": calibrated_right, "ja": calibrated_right}, texts=400, sampling="convenience")
    origins = [{one.origin for one in harness.probabilities(folder).cuts} for folder in (random, other)]
    assert origins == [{"usual", "accept"}, {"usual"}]


def test_a_judge_that_says_what_one_person_says_is_not_accused() -> None:
    """Its probabilities are those of people's labels; the commonest label of many people is right more often."""
    rng = np.random.default_rng(0)
    share = rng.uniform(0.55, 0.95, 3000)
    commonest = (rng.binomial(9, share) >= 5) * 1.0
    person = rng.binomial(9, share) / 9
    groups = np.arange(3000)
    against = calibration_tests(share, commonest, groups, 0.05)
    assert against.under < 1e-6
    [decided] = decide_probabilities([ProbabilityTests(against, calibration_tests(share, person, groups, 0.05), None)], 0.05)
    assert decided.verdict == TOO_FEW
    [alone] = decide_probabilities([ProbabilityTests(against, against, None)], 0.05)
    assert alone.verdict == DO_NOT_HOLD


def test_the_level_is_shared_by_the_cells_of_a_family() -> None:
    rng = np.random.default_rng(0)
    p = rng.beta(60, 3, 150)
    tests = calibration_tests(p, (np.arange(150) % 21 != 0) * 1.0, np.arange(150), 0.05)
    assert 0.05 / 9 < tests.within <= 0.05
    alone, among = (
        decide_probabilities([ProbabilityTests(tests, None, None)], 0.05),
        decide_probabilities([ProbabilityTests(tests, None, None)] * 9, 0.05),
    )
    assert alone[0].verdict == HOLD and {one.verdict for one in among} == {TOO_FEW}
    assert math.isclose(among[0].within, 9 * tests.within)


def test_cells_without_tests_have_too_few_labels() -> None:
    [decided] = decide_probabilities([ProbabilityTests(None, None, None)], 0.05)
    assert decided.verdict == TOO_FEW and math.isnan(decided.within)


def test_a_map_that_falls_is_refused() -> None:
    rng = np.random.default_rng(0)
    p = rng.uniform(0.55, 0.95, 2000)
    y = (rng.random(2000) > p) * 1.0
    groups = np.arange(2000)
    tests = calibration_tests(p, y, groups, 0.05)
    [decided] = decide_probabilities([ProbabilityTests(tests, tests, refit(p, y, groups, groups % 5, 0.05))], 0.05)
    assert decided.verdict == DO_NOT_HOLD


@pytest.mark.parametrize("value", [0.0, 1.0, -0.1])
def test_options_are_shares(value: float) -> None:
    with pytest.raises(UsageError, match="--margin"):
        ProbabilityOptions(margin=value)


def test_certificates_give_probabilities_only_where_they_hold(tmp_path: Path) -> None:
    folder = probability_folder(tmp_path / "data", {"cs": calibrated_right, "hi": knows_nothing, "ja": too_sure}, texts=1500)
    held = harness.certify(folder, tmp_path / "certificate.json", harness.CertifyOptions(margin=0.9))
    read = harness.certificate.load(tmp_path / "certificate.json")
    assert read == held and {cell.language: cell.probabilities.verdict for cell in read.cells if cell.probabilities} == {
        "cs": HOLD,
        "hi": DO_NOT_HOLD,
        "ja": REFITTED,
    }
    asked: dict[str, Any] = {"metric": "good", "judge": "acme/decider", "probabilities": [0.95, math.nan, 0.7]}
    scores = [1, None, 0]
    czech = read.apply(scores, language="cs", **asked)
    assert czech.verdict == HOLD and not czech.refitted and np.array_equal(czech.values, asked["probabilities"], equal_nan=True)
    japanese = read.apply(scores, language="ja", **asked)
    assert japanese.refitted and math.isnan(japanese.values[1]) and japanese.values[2] < japanese.values[0] < 0.9
    with pytest.raises(UseForbidden, match=r"'do not hold'.*do not rely on them"):
        read.apply(scores, language="hi", **asked)
    for wrong in ([0.5], [0.5, 1.5, 0.2]):
        with pytest.raises(UsageError, match="probabilit"):
            read.apply(scores, language="cs", **{**asked, "probabilities": wrong})


def test_certificates_of_judges_without_probabilities_say_so(tmp_path: Path) -> None:
    folder = probability_folder(tmp_path / "data", {"cs": calibrated_right}, texts=300, probs=False)
    held = harness.certify(folder, options=harness.CertifyOptions(margin=0.9))
    assert held.cells[0].probabilities is None and held.cells[0].probabilities_reason == "no probabilities were recorded"
    with pytest.raises(UseForbidden, match="says nothing of the probabilities of cs/good: no probabilities were recorded"):
        held.apply([1], language="cs", metric="good", judge="acme/decider", probabilities=[0.9])
