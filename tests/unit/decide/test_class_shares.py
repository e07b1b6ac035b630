"""A judge that is held against a bar: texts of few large groups are never taken as independent, in the verdict and in its limits."""

from __future__ import annotations

import numpy as np
import pandas as pd

import harness
from harness.decide.verdicts import Verdict


def verdict(groups: int, texts: int, wrong: int, **thresholds: float) -> Verdict:
    """Return the verdict on a judge that misses `wrong` texts of each of two classes, of `groups` groups of `texts` in each."""
    n = groups * texts
    names, label = [f"t{k}" for k in range(2 * n)], np.repeat(["fail", "pass"], n)
    answer = label.copy()
    answer[:wrong], answer[n : n + wrong] = "pass", "fail"
    rows = pd.DataFrame({"item_id": names, "language": "en", "group": np.arange(2 * n) // texts})
    data = harness.from_frames(
        labels=rows[["item_id"]].assign(annotator_id="p", metric="m", score=label),
        judgments=rows[["item_id"]].assign(judge="j", metric="m", score=answer),
        items=rows[["item_id", "language"]].assign(task="t", group=rows["group"].astype(str)),
        scales={"m": {"kind": "nominal", "classes": ["fail", "pass"]}},
        annotators="persistent",
    )
    [made] = harness.compare(data, harness.CompareOptions(bar=".95", **thresholds)).verdicts
    return made


def test_few_wrong_texts_in_few_groups_are_no_use() -> None:
    guarded, seen = verdict(15, 10, 1), verdict(15, 10, 1, bar_correlation=0.0)
    assert (guarded.decision.verdict, seen.decision.verdict) == ("too few labels", "use")
    assert guarded.shares[0].lower < 0.95 < seen.shares[0].lower  # the limit that is printed is the limit that decides
    assert "bar=.95 bar_correlation=0.16" in guarded.settings and "bar_correlation=0 " in f"{seen.settings} "


def test_single_texts_and_many_small_groups_lose_nothing() -> None:
    for groups, texts in ((200, 1), (100, 2)):
        guarded, seen = verdict(groups, texts, 2), verdict(groups, texts, 2, bar_correlation=0.0)
        assert guarded.decision.verdict == seen.decision.verdict == "use"
