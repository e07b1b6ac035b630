from __future__ import annotations

import pytest

from harness.stats import cell_statistics, human_statistics, judge_statistics, undefined_by_scale

NAMES = {
    "pa", "pa_failed_wrong", "pa_pairwise", "human_pa", "judge_loo", "human_loo", "human_all_agree", "human_fleiss",
    "human_alpha_nominal", "human_alpha_ordinal", "weighted_f1", "cohen_kappa", "quadratic_kappa", "alpha_nominal",
    "alpha_ordinal", "ac1", "ac2", "leniency", "kendall_tau", "spearman",
}  # fmt: skip


def test_an_ordered_scale_has_every_name_of_the_cells() -> None:
    assert {s.name for s in cell_statistics(3, "ordinal")} >= NAMES


@pytest.mark.parametrize("kind", ["nominal", "ordinal", "interval"])
def test_each_name_is_there_or_has_a_reason(kind: str) -> None:
    there = {s.name for s in cell_statistics(3, kind)}  # type: ignore[arg-type]
    absent = undefined_by_scale(kind)  # type: ignore[arg-type]
    assert not there & set(absent) and there | set(absent) >= NAMES


def test_nominal_scales_have_no_order() -> None:
    absent = undefined_by_scale("nominal")
    assert {"quadratic_kappa", "alpha_ordinal", "human_alpha_ordinal", "ac2", "leniency"} <= set(absent)
    assert {"pa", "cohen_kappa", "alpha_nominal", "ac1"} <= {s.name for s in judge_statistics(3, "nominal")}


def test_a_scale_whose_best_is_no_end_has_no_leniency() -> None:
    assert "leniency" not in {s.name for s in judge_statistics(3, "ordinal", direction=None)}
    assert undefined_by_scale("ordinal", None)["leniency"] == "the scale has no best end"


def test_human_statistics_need_no_judge() -> None:
    assert not {"pa", "leniency"} & {s.name for s in human_statistics(3, "ordinal")}
