"""Languages side by side: what is found in made worlds, and the reasons where nothing can be said."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from harness.content.specs import DatasetCard
from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.data.labels import Labels
from harness.decide.language_comparisons import FEW_LANGUAGES, NOT_PARALLEL, ON_REQUEST, ONE_LANGUAGE, LanguageComparison, language_notes
from harness.decide.options import DecisionOptions
from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions
from harness.model import AnnotatorKind, Failure, Item, Judgment, Label, Scale
from harness.reports.comparison import compare
from harness.row_files import to_json
from harness.stats import meta_analysis
from tests.unit.made_judgments import made_judgment

FIVE = Scale(kind="ordinal", classes=(1, 2, 3, 4, 5), best=5)
TAGS = ("cs", "de", "en", "fr", "ja", "zh")


def judgment(item: Item, score: int | None, repeat: int = 0) -> Judgment:
    failure = None if score is not None else Failure.REFUSED
    return made_judgment(item.item_id, item.language, "chat", "m", "j", "single", 0.0, repeat, score, failure, None, None, "c")


def world(
    tags: int = 6,
    texts: int = 40,
    *,
    kinder: dict[str, float] | None = None,
    parallel: bool = False,
    annotators: AnnotatorKind = "persistent",
    gaps: bool = False,
    scale: Scale = FIVE,
    seed: int = 0,
) -> Recording:
    """Texts of each language, three annotators and one judge that is `kinder` by some points in some languages."""
    rng = np.random.default_rng(seed)
    items, labels, judgments = [], [], []
    quality = rng.normal(3, 1, texts)
    for tag in TAGS[:tags]:
        own = quality if parallel else rng.normal(3, 1, texts)
        for number in range(texts):
            item = Item(f"{tag}{number}", tag, "chat", group=f"{tag}{number}", parallel_id=str(number) if parallel else None)
            items.append(item)
            for who in range(3):
                if not (gaps and who == 2 and number % 4):
                    score = int(np.clip(round(own[number] + rng.normal(0, 0.7)), 1, 5))
                    labels.append(Label(item.item_id, f"a{who}", "m", score))
            given = int(np.clip(round(own[number] + (kinder or {}).get(tag, 0.0) + rng.normal(0, 0.7)), 1, 5))
            judgments.append(judgment(item, given))
    data = Dataset("made", tuple(items), Labels.from_rows(labels), {"m": scale}, about=DatasetCard(id="made", annotators=annotators))
    return Recording("made", data, Judgments.from_rows(judgments))


def seen(recording: Recording, *, full: bool = True) -> LanguageComparison:
    [one] = compare([recording], MeasureOptions(), DecisionOptions(), full=full).languages
    return one


def test_the_level_of_each_language_and_the_mean_gap_are_always_there() -> None:
    one = seen(world(kinder={"ja": 1.5}), full=False)
    by_language = {row.language: row for row in one.languages}
    assert list(by_language) == list(TAGS) and by_language["ja"].leniency > 0.8 and not by_language["ja"].same_level
    assert abs(by_language["de"].leniency) < 0.4 and by_language["de"].margin == pytest.approx(0.4)
    lo, hi = by_language["ja"].leniency_ci
    assert lo < by_language["ja"].leniency < hi
    assert one.gap and one.gap.languages == 6 and one.gap.prediction[0] < one.gap.ci[0] < one.gap.mean
    assert one.rates is None and set(one.reasons.values()) == {ON_REQUEST}


def test_the_mean_gap_is_that_of_the_meta_analysis() -> None:
    comparison = compare([world(kinder={"ja": 1.5})], MeasureOptions())
    [one] = comparison.languages
    half = [(row.gap_ci[1] - row.gap_ci[0]) / 2 / 2.0227 for row in one.languages]  # t with 39 degrees of freedom
    summary = meta_analysis([row.gap for row in one.languages], np.square(half))
    assert one.gap and one.gap.mean == pytest.approx(summary.mean, abs=1e-4) and one.gap.tau2 == pytest.approx(summary.tau2, rel=0.01)
    assert [row.gap for row in one.languages] == [verdict.agreement.gap for verdict in comparison.verdicts]


def test_a_kinder_language_is_seen_by_regression() -> None:
    kind, same = seen(world(kinder={"ja": 1.5})), seen(world(seed=1))
    assert kind.dif and kind.dif.effect == "large" and kind.dif.shift["ja"] > 0.7 and kind.dif.shift["cs"] == 0
    assert kind.dif.warning == NOT_PARALLEL and any(NOT_PARALLEL in note for note in language_notes([kind]))
    assert same.dif and same.dif.uniform.p_groups > 0.01 and same.rates and same.rates.p_groups > 0.01
    assert kind.rates and kind.rates.p_groups < 0.05 and set(kind.rates.shares) == set(TAGS)


def test_parallel_texts_have_a_consistency_and_no_warning() -> None:
    one = seen(world(parallel=True))
    assert one.dif and one.dif.parallel and one.dif.warning is None
    assert one.consistency and one.consistency.items == 40 and 0.1 < one.consistency.fleiss < 0.6
    assert len(one.consistency.pairs) == 15 and one.consistency.pairs["cs de"] > 0.3
    assert "consistency" in seen(world()).reasons


def test_texts_that_share_an_id_within_a_language_are_not_compared() -> None:
    recording = world(parallel=True)
    items = tuple(msgspec.structs.replace(item, parallel_id="0") for item in recording.data.items)
    one = seen(msgspec.structs.replace(recording, data=msgspec.structs.replace(recording.data, items=items)))
    assert one.consistency is None and one.reasons["consistency"] == "several items of one language share a parallel_id"
    assert one.rates is None and one.reasons["rates"] == "too few independent texts"


@pytest.mark.parametrize(("tags", "reason"), [(1, ONE_LANGUAGE), (3, FEW_LANGUAGES)])
def test_few_languages_have_no_common_mean(tags: int, reason: str) -> None:
    one = seen(world(tags))
    assert one.gap is None and one.reasons["gap"] == reason and len(one.languages) == tags
    assert language_notes([one])[0] == f"Across languages: {reason}."
    if tags == 1:
        assert one.reasons["rates"] == one.reasons["dif"] == one.reasons["consistency"] == ONE_LANGUAGE


@pytest.mark.slow
def test_the_variance_of_annotators_needs_annotators_that_can_be_followed() -> None:
    whole, gaps, places = seen(world()), seen(world(gaps=True)), seen(world(annotators="positional", gaps=True))
    assert whole.annotators and gaps.annotators and places.annotators
    for found in (whole, gaps, places):
        row = (found.annotators or ())[0]
        assert row.item == pytest.approx(1, rel=0.6) and row.residual == pytest.approx(0.55, rel=0.5)
        assert [each.annotators for each in row.reliability] == [1, 2, 3, 5, 10]
        assert row.reliability[0].relative < row.reliability[-1].relative
    assert whole.annotators[0].annotator is not None and places.annotators[0].annotator is None
    for kind in ("anonymous", "aggregate"):
        one = seen(world(annotators=kind))  # type: ignore[arg-type]
        assert one.annotators is None and one.reasons["annotators"] == f"annotators are {kind}"


def test_a_scale_without_order_has_neither_level_nor_regression() -> None:
    one = seen(world(scale=Scale(kind="nominal", classes=(1, 2, 3, 4, 5))))
    assert one.languages[0].leniency is None and one.languages[0].same_level is False
    assert one.reasons["dif"] == one.reasons["annotators"] == "the scale has no order"


def test_a_judge_that_never_answers_leaves_reasons_and_no_nan() -> None:
    recording = world(2, 30)
    failed = [judgment(item, None) for item in recording.data.items]
    comparison = compare([msgspec.structs.replace(recording, judgments=Judgments.from_rows(failed))], MeasureOptions(), full=True)
    assert "NaN" not in to_json(comparison.as_json())
    assert comparison.languages[0].reasons["rates"] == "a language agrees always or never"


def test_repeats_are_one_score_a_text() -> None:
    recording = world(2, 30)
    twice = [judgment(item, 3, repeat) for item in recording.data.items for repeat in (0, 1)]
    one = seen(msgspec.structs.replace(recording, judgments=Judgments.from_rows(twice)))
    assert one.languages[0].n == 30 and one.reasons["dif"] == "constant values in a language"
