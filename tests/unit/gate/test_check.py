"""The three outcomes, on a data folder of 120 prompts whose judges are a good one, a worse one, and one that often fails."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from harness import api, sources
from harness.errors import UsageError
from harness.gate.check import Check, GateResult, suggested_policy
from harness.gate.policy import GateOptions, Policy, Rule
from tests.conftest import write_rows
from tests.judged_folder import judged_folder


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return judged_folder(tmp_path_factory.mktemp("gate") / "good", labelled=0.9, noise=0.05)


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return judged_folder(tmp_path_factory.mktemp("gate") / "bad", labelled=0.9, noise=0.6)


def gated(source: Path, *, baseline: Path | None = None, policy: dict[str, Any] | None = None, **limits: Any) -> GateResult:
    rule = Rule(**({"language": "ja", "metric": "tone"} | limits))
    return api.check_gate(source, Policy(rule=(rule,), **(policy or {})), GateOptions(baseline=baseline))


def only(result: GateResult) -> Check:
    [check] = result.checks
    return check


@pytest.mark.parametrize(
    ("limit", "good_one", "bad_one"),
    [
        ({"at_least": 0.85}, "pass", "fail"),
        ({"at_least": 0.95}, "inconclusive", "fail"),
        ({"beats_baseline": True}, "pass", "pass"),
        ({"not_below_people_by": 0.1}, "pass", "fail"),
        ({"not_below_people_by": 0.2}, "pass", "inconclusive"),
        ({"unread_at_most": 0.05}, "pass", "pass"),
        ({"unread_at_most": 0.001}, "inconclusive", "inconclusive"),
        ({"min_items": 100}, "pass", "pass"),
        ({"min_items": 1000}, "inconclusive", "inconclusive"),
        ({"at_least": 0.85, "statistic": "quadratic_kappa"}, "pass", "fail"),
    ],
    ids=str,
)
def test_a_limit_passes_fails_or_stays_open(good: Path, bad: Path, limit: dict[str, Any], good_one: str, bad_one: str) -> None:
    assert (gated(good, **limit).outcome, gated(bad, **limit).outcome) == (good_one, bad_one)


def test_an_interval_decides_by_its_ends(good: Path) -> None:
    seen = only(gated(good, at_least=0.5))
    assert seen.lower is not None and seen.upper is not None
    assert gated(good, at_least=seen.lower).outcome == "pass"
    assert gated(good, at_least=seen.lower + 1e-9).outcome == "inconclusive"
    assert gated(good, at_least=seen.upper + 1e-9).outcome == "fail"


def test_a_drop_is_paired_with_the_baseline(good: Path, bad: Path) -> None:
    assert only(gated(good, baseline=bad, max_drop=0.0)).outcome == "pass"
    worse = only(gated(bad, baseline=good, max_drop=0.05))
    both = [json.loads(line) for line in (good / "labels.jsonl").read_text("utf-8").splitlines()]
    assert worse.outcome == "fail" and worse.value == pytest.approx(0.3, abs=0.1) and worse.n <= len({row["item_id"] for row in both})
    same = only(gated(good, baseline=good, max_drop=0.05))
    assert (same.value, same.outcome) == (0.0, "pass")


def test_without_a_fit_baseline_nothing_passes(good: Path, tmp_path: Path) -> None:
    assert "pass --baseline RUN" in only(gated(good, max_drop=0.9)).reason
    other = judged_folder(tmp_path / "other", labelled=0.9, noise=0.05, seed=1)
    assert only(gated(good, baseline=other, max_drop=0.9)).reason == "the baseline has other items or labels"
    renamed = shutil.copytree(good, tmp_path / "renamed")
    rows = [json.loads(line) for line in (good / "judgments.jsonl").read_text("utf-8").splitlines()]
    write_rows(renamed / "judgments.jsonl", [row | {"judge": "model/old"} for row in rows])
    assert gated(good, baseline=renamed, max_drop=0.05).outcome == "pass"  # the only judge there: it is compared whatever its name
    write_rows(renamed / "judgments.jsonl", [row | {"judge": name} for row in rows for name in ("model/old", "model/older")])
    assert "several judges" in only(gated(good, baseline=renamed, max_drop=0.05)).reason


def test_the_signature_holds_the_answers(good: Path, bad: Path, tmp_path: Path) -> None:
    """A folder with the same labels and other answers has another signature."""
    other = shutil.copytree(good, tmp_path / good.name)
    rows = [json.loads(line) for line in (good / "judgments.jsonl").read_text("utf-8").splitlines()]
    write_rows(other / "judgments.jsonl", [{**rows[0], "score": 1 - rows[0].get("score", 0)}, *rows[1:]])
    one, two = (gated(folder, min_items=1).signatures[""].split("|") for folder in (good, other))
    assert one[0] == two[0] and one[1].startswith("judgments:") and one[1] != two[1]


def test_another_signature_never_passes(good: Path) -> None:
    parts = sources.gated_source(good, None, Path("results")).parts("model/one")
    assert gated(good, policy={"signature": parts}, min_items=1).outcome == "pass"
    refused = only(gated(good, policy={"signature": {"data": "made@1"}}, min_items=1))
    assert refused.outcome == "inconclusive" and "another signature: data is 'made@0+" in refused.reason and "'made@1'" in refused.reason


def test_a_missing_cell_never_passes_and_a_star_finds_those_that_exist(good: Path) -> None:
    assert only(gated(good, language="jp", min_items=1)).reason == "no numbers for the language 'jp'"
    assert "Did you mean 'tone'" in only(gated(good, metric="tune", min_items=1)).reason
    assert only(gated(good, policy={"judge": "model/two"}, min_items=1)).reason == "no numbers of judge 'model/two'"
    assert [check.metric for check in gated(good, language="*", metric="*", min_items=1).checks] == ["errors", "tone"]


def test_few_texts_are_too_few(tmp_path: Path) -> None:
    small = judged_folder(tmp_path / "small", prompts=6, labelled=1.0)
    rule = {"at_least": 0.01, "beats_baseline": True, "not_below_people_by": 0.9, "unread_at_most": 1.0}
    result = gated(small, **rule)
    assert [check.outcome for check in result.checks] == ["inconclusive"] * 4
    assert result.checks[0].reason == "too few independent texts"
    assert "too few" in result.checks[1].reason and "a test needs 30 in 20" in result.checks[1].reason


def test_tests_of_the_whole_policy_are_corrected_together(good: Path) -> None:
    alone = only(gated(good, not_below_people_by=0.1)).q
    rules = tuple(Rule(metric=metric, not_below_people_by=0.1) for metric in ("tone", "tone", "errors"))
    together = api.check_gate(good, Policy(rule=rules)).checks
    assert alone is not None and together[0].q is not None and together[0].q >= 2 * alone * 0.999


def test_people_are_compared_under_the_policys_effective_groups(tmp_path: Path) -> None:
    """A third of the prompts are one group, so that large groups are capped, unless the policy lets two effective groups do."""
    folder = judged_folder(tmp_path / "unequal", labelled=0.9, fields=lambda number, system, rng: {"group": f"p{max(number, 40)}"})
    q = {least: only(gated(folder, not_below_people_by=0.05, policy={"decision": {"effective_groups": least}})).q for least in (2, 10, 15)}
    assert q[15] == only(gated(folder, not_below_people_by=0.05)).q
    assert len(set(q.values())) == 3


def test_one_broken_limit_fails_the_gate_and_json_says_all(good: Path) -> None:
    result = gated(good, at_least=0.99, min_items=10**6, unread_at_most=0.5)
    assert [check.outcome for check in result.checks] == ["fail", "pass", "inconclusive"] and result.outcome == "fail"
    fields = result.as_json()
    assert fields["outcome"] == "fail" and fields["checks"][0]["limit"] == "at_least" and result.count("pass") == 1


def test_the_suggested_policy_holds_for_its_own_source_and_not_for_a_worse_one(good: Path, bad: Path, tmp_path: Path) -> None:
    path = tmp_path / "gate.toml"
    path.write_text(suggested_policy(sources.gated_source(good, None, Path("results"))).text, "utf-8")
    assert api.check_gate(good, path).outcome == "pass"
    assert api.check_gate(bad, path).outcome == "fail"


def test_a_source_without_labels_is_refused(tmp_path: Path, good: Path) -> None:
    bare = shutil.copytree(good, tmp_path / "bare")
    (bare / "labels.jsonl").unlink()
    with pytest.raises(UsageError, match="no labels to compare with"):
        gated(bare, min_items=1)
