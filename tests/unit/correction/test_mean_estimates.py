"""Languages lend their labels, whether or not all of their texts have one, and save labels where they are alike."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.correction.mean_estimates import ALL_LABELLED, Sample, judge_errors, mean_estimates, with_other_languages
from tests.unit.correction.languages_folder import languages_folder

Cli = Callable[..., Any]
ALIKE = dict.fromkeys(("cs", "de", "es", "fr", "it", "ja"), 1.0)


def languages_of(labels: tuple[int, ...], texts: int = 300) -> list[Sample]:
    """A language for each number of labels; the judge is right up to a small error, and too kind by 0.3."""
    rng = np.random.default_rng(3)
    made = []
    for count in labels:
        y = rng.normal(5, 1, texts)
        f = y + 0.3 + rng.normal(0, 0.4, texts)
        made.append(Sample(np.where(np.arange(texts) < count, y, np.nan), f, np.arange(texts)))
    return made


@pytest.mark.parametrize("others", [300, 299, 150])
def test_the_judge_counts_however_many_texts_of_the_others_have_no_label(others: int) -> None:
    samples = languages_of((20, *[others] * 5))
    assert judge_errors(samples).lam > 0.8
    plain = [mean_estimates([(one, 1.0)], share=False) for one in samples]
    few, *rest = with_other_languages(plain, samples, share=False)
    own = plain[0].labels_alone.ci
    assert few.ci and own and few.ci[0] < 5 < few.ci[1] and few.ci[1] - few.ci[0] < 0.6 * (own[1] - own[0])
    if others == 300:
        assert {one.reason for one in rest} == {ALL_LABELLED} and all(one.value is None for one in rest)
    else:
        assert all(one.ci for one in rest)


def test_a_judge_without_readable_scores_beside_the_labels_is_left_out() -> None:
    first, *others = languages_of((20, 60, 60, 60, 60, 60))
    blind = Sample(first.y, np.where(first.known, np.nan, first.f), first.group)
    samples = [blind, *others]
    found = with_other_languages([mean_estimates([(one, 1.0)], share=False) for one in samples], samples, share=False)
    assert found[0].reason == "no readable scores" and found[0].value is None and all(one.ci for one in found[1:])


def needed(cli: Cli, folder: Path) -> dict[str, Any]:
    [found] = json.loads(cli("labels", "needed", folder, "--borrow", "languages", "--half-width", "0.02", "--json").out)["new_languages"]
    return dict(found)


@pytest.mark.slow
def test_alike_languages_need_fewer_labels_than_languages_that_differ(tmp_path: Path, cli: Cli) -> None:
    alike = needed(cli, languages_folder(tmp_path / "alike", ALIKE, groups=240))
    apart = needed(cli, languages_folder(tmp_path / "apart", ALIKE, groups=240, apart=0.4))
    assert alike["languages"] == 6 and alike["reason"] is None and alike["half_width"] == 0.08
    assert alike["between_sd"] < apart["between_sd"]
    assert alike["with_others"] < alike["alone"] and alike["with_others"] / alike["alone"] < apart["with_others"] / apart["alone"]
    printed = " ".join(cli("labels", "needed", tmp_path / "alike", "--borrow", "languages", "--half-width", "0.02").out.split())
    assert f"with 6 other languages {alike['with_others']:,}, {alike['alone'] - alike['with_others']:,} fewer" in printed


def test_under_five_languages_the_reason_is_given(tmp_path: Path, cli: Cli) -> None:
    folder = languages_folder(tmp_path / "d", {"cs": 1.0, "ja": 1.0}, groups=60)
    assert needed(cli, folder)["reason"] == "2 languages have 15 independent labels, and 5 are needed"
    assert "new_languages" not in json.loads(cli("labels", "needed", folder, "--json").out)
