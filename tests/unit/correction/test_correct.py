"""Corrected numbers: the statistics' own figures, laid out by cell and system, and refused where they would not be valid."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.correction.correct import CorrectedNumber, correct
from harness.correction.correction_options import CorrectOptions
from harness.errors import UsageError
from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions
from harness.row_files import to_jsonl
from harness.sources import open_sources
from harness.stats import prediction_powered_class_shares, prediction_powered_mean
from tests.unit.decide.truths import label_means, scores_of

Record = Callable[..., Recording]


def numbers_of(source: Recording, metric: str = "tone", **options: Any) -> list[CorrectedNumber]:
    return list(correct([source], MeasureOptions(where={"metric": (metric,)}), CorrectOptions(**options)).numbers)


def test_a_mean_is_the_statistics_own(recorded: Record) -> None:
    source = recorded()
    for number in numbers_of(source):
        y, f, group = scores_of(source, "tone", number.key["system"])
        expected = prediction_powered_mean(y, f, group)
        assert number.corrected.value == expected.value and number.lam == expected.lam
        assert number.corrected.ci == pytest.approx((expected.interval.lo, expected.interval.hi))
        assert number.labels_alone.value == pytest.approx(expected.alone) and number.judge_alone.value == pytest.approx(f.mean())
        assert number.labels_saved == pytest.approx(expected.labels_saved) and number.effective_labels == pytest.approx(
            expected.effective_n
        )
        assert (number.n, number.unlabelled, number.design) == (expected.n, expected.unlabelled, "equal probability")


def test_without_systems_all_texts_of_a_prompt_are_one_group(recorded: Record) -> None:
    [number] = numbers_of(recorded(), by=())
    assert number.groups == number.n / 2


def test_shares_sum_to_one_and_have_wilsons_interval(recorded: Record) -> None:
    source = recorded()
    shares = numbers_of(source, by=(), shares=True)
    assert [number.share_of for number in shares] == [0, 1, 2]
    assert math.fsum(number.corrected.value or math.nan for number in shares) == pytest.approx(1)
    [one] = numbers_of(source, "errors", by=(), share_of="1")
    y, f, group = scores_of(source, "errors", None)
    expected = prediction_powered_class_shares(np.column_stack([1 - y, y]), np.column_stack([1 - f, f]), group).intervals[1]
    assert one.corrected.ci == pytest.approx((expected.lo, expected.hi)) and one.share_of == 1


def test_a_difference_is_paired_by_prompt(recorded: Record) -> None:
    source = recorded()
    found = [number for number in numbers_of(source, versus=("system", "a")) if number.versus]
    [number] = found
    assert (number.versus, number.key["system"], number.paired, number.n) == (("system", "a"), "b", True, number.groups)
    (ya, fa, ga), (yb, fb, gb) = (scores_of(source, "tone", name) for name in "ab")
    assert ga.tolist() == gb.tolist()
    expected = prediction_powered_mean(yb - ya, fb - fa)
    assert number.corrected.value == pytest.approx(expected.value)
    assert number.corrected.ci == pytest.approx((expected.interval.lo, expected.interval.hi))


def test_a_difference_of_systems_on_other_prompts_adds_variances(recorded: Record) -> None:
    source = recorded(fields=lambda number, system, rng: {"group": f"{system}{number}"})
    numbers = numbers_of(source, versus=("system", "a"))
    a, b, difference = (number for number in numbers)
    assert difference.paired is False
    assert difference.corrected.value == pytest.approx((b.corrected.value or 0) - (a.corrected.value or 0))
    widths = [np.ptp(number.corrected.ci or (0.0,)) for number in (a, b, difference)]
    assert widths[2] == pytest.approx(math.hypot(widths[0], widths[1]), rel=0.03)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"prompts": 12, "labelled": 1.0}, "12 labelled texts, and 30 are needed: labels alone"),
        ({"labelled": 1.0}, "every judged item has a label, so the judge adds nothing: labels alone"),
        (
            {"fields": lambda number, system, rng: {"group": f"g{number % 5}"}},
            "the labelled texts are of 5 independent groups, and 20 are needed: labels alone",
        ),
    ],
    ids=["12 items", "all labelled", "5 groups"],
)
def test_where_the_labels_stand_alone_it_says_why(recorded: Record, options: dict[str, Any], reason: str) -> None:
    for number in numbers_of(recorded(**options)):
        assert (number.corrected.value, number.corrected.reason, number.effective_labels) == (None, reason, None)
        assert number.labels_alone.value is not None and number.judge_alone.value is not None


def test_a_judge_that_does_not_vary_adds_nothing(recorded: Record) -> None:
    source = recorded(noise=1.1)  # it always adds one to the scale of two classes
    for number in numbers_of(source, "errors"):
        assert number.corrected.reason == "the judge does not vary, so it adds nothing: labels alone"
        assert number.judge_alone.value == 1.0 and number.judge_alone.reason == "constant values"


def test_inclusion_probabilities_undo_a_biased_choice(recorded: Record) -> None:
    """The labels of bad texts are kept three times as often; with the probabilities stated the mean is right again."""

    def one(source: Recording) -> CorrectedNumber:
        [number] = numbers_of(source, by=())
        return number

    truth = one(recorded(prompts=1500, labelled=1.0)).labels_alone.value or math.nan
    biased = recorded(
        prompts=1500, labelled=1.0, fields=lambda number, system, rng: {"inclusion_probability": 0.25 if number % 3 else 0.75}
    )
    number = one(label_means(biased, lambda item, chance: chance < item.fields["inclusion_probability"]))
    assert number.design == "inclusion probability" and number.unlabelled > 0
    assert number.corrected.ci and number.corrected.ci[0] < truth < number.corrected.ci[1]
    assert number.corrected.value != number.labels_alone.value


def test_strata_are_weighted_by_their_share_of_the_items(recorded: Record) -> None:
    source = recorded(prompts=300, fields=lambda number, system, rng: {"stratum": "rare" if number % 5 == 0 else "common"})
    for number in numbers_of(source):
        assert (number.design, number.lam) == ("stratum", None)
        assert number.labels_saved and number.labels_saved > 0
    spanned = recorded(fields=lambda number, system, rng: {"stratum": system})
    [number] = numbers_of(spanned, by=())
    assert number.corrected.value is None and "items of several strata" in (number.corrected.reason or "")


def test_some_inclusion_probabilities_are_not_enough(recorded: Record) -> None:
    source = recorded(fields=lambda number, system, rng: {"inclusion_probability": 0.5} if number % 2 else {})
    for number in numbers_of(source):
        assert number.corrected.value is number.labels_alone.value is None
        assert "has no inclusion_probability, but others have" in (number.corrected.reason or "")


@pytest.mark.parametrize("value", [0, 1.5, -1, "x", True], ids=str)
def test_what_is_no_probability_is_refused(recorded: Record, value: Any) -> None:
    with pytest.raises(UsageError, match="should be a number above 0 and at most 1"):
        numbers_of(recorded(fields=lambda number, system, rng: {"inclusion_probability": value}))


@pytest.mark.parametrize("sampling", ["convenience", "unknown", ""])
def test_other_than_random_samples_are_refused_with_what_to_do(recorded: Record, sampling: str) -> None:
    with pytest.raises(UsageError, match=r'write the line sampling = "random" at the top of data\.toml'):
        numbers_of(recorded(sampling=sampling))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"versus": ("system", "c")}, "no system 'c'."),
        ({"versus": ("task", "c")}, "'task', which is not in --by system"),
        ({"share_of": "7"}, "no class '7'"),
        ({"by": ("colour",)}, "no item has 'colour'"),
        ({"versus": ("system", "a"), "prevalence_shift": True}, "leave --versus out"),
    ],
    ids=str,
)
def test_names_that_are_not_there_are_refused(recorded: Record, options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        numbers_of(recorded(), **options)


def test_a_declared_shift_corrects_by_error_rates(recorded: Record) -> None:
    source = recorded(prompts=400)
    [none, one] = numbers_of(source, "errors", by=(), shares=True, prevalence_shift=True)
    assert one.method == "Rogan-Gladen (Fieller)" and one.lam is None
    assert (none.corrected.value or 0) + (one.corrected.value or 0) == pytest.approx(1)
    assert one.corrected.ci and one.corrected.ci[0] < 0.43 < one.corrected.ci[1]
    [mean] = numbers_of(source, "errors", by=(), prevalence_shift=True)
    assert mean.corrected.value == pytest.approx(one.corrected.value)
    [tone] = numbers_of(source, "tone", by=(), prevalence_shift=True)
    assert tone.method == "inverse confusion matrix" and tone.corrected.ci
    assert tone.corrected.ci[0] < 1.15 < tone.corrected.ci[1]


def test_under_a_shift_a_judge_that_says_nothing_is_refused(recorded: Record) -> None:
    [number] = numbers_of(recorded(noise=1.1), "errors", by=(), share_of="1", prevalence_shift=True)
    assert number.corrected.value is None and number.corrected.reason == "the judge does not tell the classes apart"


def test_repeats_are_averaged_and_one_annotator_is_enough(recorded: Record) -> None:
    [number] = numbers_of(recorded(repeats=3, annotators=1), by=())
    assert number.n + number.unlabelled == 240 and number.corrected.value is not None


def test_few_languages_do_not_borrow_and_say_so(recorded: Record) -> None:
    for number in numbers_of(recorded(), by=(), borrow=True):
        assert number.borrowed is not None and number.borrowed.value is None and "needed" in (number.borrowed.reason or "")
    with pytest.raises(UsageError, match="--borrow"):
        numbers_of(recorded(), borrow=True, prevalence_shift=True)


def folder_of(path: Path, scale: str, tags: tuple[str, ...], errors: dict[str, float], whole: bool) -> Recording:
    """300 texts a language, 40 of them labelled at random, and a judge that is too kind by `errors`."""
    rng = np.random.default_rng(5)
    rows: dict[str, list[dict[str, Any]]] = {"items": [], "labels": [], "judgments": []}
    number = (lambda x: int(np.clip(round(x), 0, 10))) if whole else (lambda x: float(np.clip(round(x, 3), 0, 10)))
    for tag in tags:
        for n in range(300):
            item, true = f"{tag}-{n}", rng.normal(5, 1)
            rows["items"].append({"item_id": item, "language": tag, "task": "rewrite"})
            score = number(true + errors.get(tag, 0.3) + rng.normal(0, 0.4))
            rows["judgments"].append({"item_id": item, "judge": "one", "metric": "tone", "score": score})
            if n < 40:
                rows["labels"].append({"item_id": item, "annotator_id": "a", "metric": "tone", "score": number(true)})
    for name, values in rows.items():
        (path / f"{name}.jsonl").write_bytes(to_jsonl(values))
    (path / "data.toml").write_text(f'id = "made"\nannotators = "persistent"\nsampling = "random"\n[metrics.tone]\n{scale}')
    return open_sources([path], None, path)[0].recording


CONTINUOUS = 'kind = "interval"\nmin = 0\nmax = 10\nbest = 10\n'
WHOLE = f'kind = "ordinal"\nclasses = {list(range(11))}\nbest = 10\n'


def test_means_of_continuous_scores_are_means_of_their_numbers(tmp_path: Path) -> None:
    source = folder_of(tmp_path, CONTINUOUS, ("cs",), {}, whole=False)
    [number] = numbers_of(source)
    labels = [float(score) for score in source.data.labels.score.values]
    assert number.labels_alone.value == pytest.approx(np.mean(labels)) and number.judge_alone.value is not None
    assert number.judge_alone.value == pytest.approx(5.3, abs=0.2) and number.corrected.value == pytest.approx(5, abs=0.2)
    with pytest.raises(UsageError, match="no classes"):
        numbers_of(source, shares=True)


def test_six_languages_borrow_and_the_one_that_stands_apart_does_not(tmp_path: Path) -> None:
    tags = ("cs", "de", "es", "fr", "it", "ja")
    numbers = numbers_of(folder_of(tmp_path, WHOLE, tags, {"ja": 3.0}, whole=True), borrow=True)
    by_tag = {number.key["language"]: number for number in numbers}
    apart = by_tag.pop("ja").borrowed
    assert apart is not None and apart.value is None and "stands apart" in (apart.reason or "")
    for number in by_tag.values():
        found, alone = number.borrowed, number.labels_alone
        assert found is not None and found.ci and found.value is not None and alone.ci
        assert found.ci[0] - 0.1 < 5 < found.ci[1] + 0.1 and found.ci[1] - found.ci[0] < alone.ci[1] - alone.ci[0]
