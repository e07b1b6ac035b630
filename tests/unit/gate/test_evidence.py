"""A gate never says yes on what is not there: answers that are missing, repeats that are no texts, rows that look alike, empty rules."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest

import harness
from harness.data.dataset import Dataset
from harness.errors import UsageError
from harness.gate.check import GateResult
from harness.gate.policy import Policy, Rule
from tests.conftest import write_rows
from tests.judged_folder import judged_folder

Cli = Callable[..., Any]
SCALES = {"fluency": {"kind": "ordinal", "classes": [0, 1], "best": 1}}
AT_LEAST = Rule(at_least=0.6)


def judged(
    wrong: Sequence[int] = (),
    *,
    texts: int = 200,
    repeats: Callable[[int], int] = lambda text: 1,
    answered: Iterable[int] | None = None,
    people: Sequence[str] = ("p1", "p2"),
    **judgment: Any,
) -> Dataset:
    """Texts in English on which everybody agrees, and a judge that is wrong on some of them; without `answered`, it answered all."""
    truth = {text: text % 2 for text in range(texts)}
    labels = [
        {"item_id": f"t{text}", "annotator_id": who, "metric": "fluency", "score": score, "language": "en"}
        for text, score in truth.items()
        for who in people
    ]
    judgments = [
        {"item_id": f"t{text}", "judge": "m/one", "metric": "fluency", "language": "en", "repeat": repeat, **judgment}
        | {"score": truth[text] if text not in wrong else 1 - truth[text]}
        for text in (range(texts) if answered is None else answered)
        for repeat in range(repeats(text))
    ]
    return harness.from_frames(labels=pd.DataFrame(labels), judgments=pd.DataFrame(judgments), scales=SCALES)


def gated(data: Dataset, *rules: Rule, **policy: Any) -> GateResult:
    return harness.check_gate(data, Policy(rule=rules or (AT_LEAST,), **policy))


def test_deleting_wrong_answers_makes_nothing_pass() -> None:
    wrong = range(0, 200, 5)
    assert gated(judged(wrong), Rule(at_least=0.9)).outcome == "fail"
    rule = Rule(at_least=0.9, beats_baseline=True, not_below_people_by=0.1, unread_at_most=0.05, verdict="use")
    deleted = gated(judged(wrong, answered=set(range(200)) - set(wrong[1:])), rule)
    assert {check.outcome for check in deleted.checks} == {"inconclusive"}
    assert {check.reason.partition(";")[0] for check in deleted.checks} == {"39 of 200 questions have no answer"}
    assert gated(judged(wrong, answered=set(range(200)) - set(wrong)), Rule(min_items=160)).outcome == "pass"  # the count itself is exact


def test_a_language_whose_rows_are_all_gone_is_missed_by_a_star(tmp_path: Path, cli: Cli) -> None:
    one, other = judged_folder(tmp_path / "one", labelled=1.0), judged_folder(tmp_path / "other", labelled=1.0, language="cs")
    rows = {name: [json.loads(row) for row in (one / f"{name}.jsonl").read_text("utf-8").splitlines()] for name in ("items", "labels")}
    for name, mine in rows.items():
        more = (other / f"{name}.jsonl").read_text("utf-8").splitlines()
        write_rows(one / f"{name}.jsonl", [*mine, *({**json.loads(r), "item_id": f"cs-{json.loads(r)['item_id']}"} for r in more)])
    (tmp_path / "gate.toml").write_text("[[rule]]\nunread_at_most = 0.2\n", "utf-8")
    done = cli("gate", one, "--policy", tmp_path / "gate.toml", "--json", tmp_path / "gate.json")
    checks = json.loads((tmp_path / "gate.json").read_text("utf-8"))["checks"]
    assert done.code == 7 and [(c["language"], c["outcome"]) for c in checks if c["metric"] == "tone"] == [
        ("ja", "pass"),
        ("cs", "inconclusive"),
    ]
    assert "no numbers: 240 of 240 questions have no answer" in next(c["reason"] for c in checks if c["language"] == "cs")


def test_what_a_card_says_was_shown_is_all_that_is_asked(tmp_path: Path) -> None:
    folder = judged_folder(tmp_path / "some", labelled=1.0)
    items, judgments = (
        [json.loads(row) for row in (folder / f"{name}.jsonl").read_text("utf-8").splitlines()] for name in ("items", "judgments")
    )
    shown = {item["item_id"] for item in items[:150]}
    write_rows(folder / "items.jsonl", [item | {"shown": item["item_id"] in shown} for item in items])
    write_rows(folder / "judgments.jsonl", [row for row in judgments if row["item_id"] in shown])
    rule = Rule(metric="tone", unread_at_most=0.1)
    assert harness.check_gate(folder, Policy(rule=(rule,))).outcome == "inconclusive"
    card = folder / "data.toml"
    card.write_text(card.read_text("utf-8") + '[asked]\nrule = "column"\ncolumn = "shown"\n', "utf-8")
    assert harness.check_gate(folder, Policy(rule=(rule,))).outcome == "pass"


def test_repeats_are_not_texts() -> None:
    rule = Rule(min_items=150, at_least=0.6, unread_at_most=0.2)
    [agreement, unread, items] = gated(judged([7], texts=30, repeats=lambda text: 5), rule).checks
    assert (items.limit, items.value, items.outcome) == ("min_items", 30, "inconclusive")
    assert (agreement.outcome, agreement.n, unread.n) == ("pass", 30, 30)


def test_a_text_weighs_the_same_however_often_it_was_asked() -> None:
    wrong = range(0, 200, 3)
    once = gated(judged(wrong), Rule(at_least=0.8)).checks[0]
    often = gated(judged(wrong, repeats=lambda text: 1 if text in wrong else 9), Rule(at_least=0.8)).checks[0]
    assert (often.value, often.n, often.outcome) == (once.value, 200, "fail")
    unclear = gated(judged(wrong, repeats=lambda text: 1 if text in wrong else 9), Rule(at_least=0.1, statistic="quadratic_kappa"))
    assert unclear.outcome == "inconclusive" and "more repeats than others" in unclear.checks[0].reason


def test_deleting_wrong_repeats_makes_nothing_pass() -> None:
    """Every text keeps an answer, so only the number of its repeats tells."""
    labelled = judged([7], repeats=lambda text: 5)
    kept = gated(judged([7], repeats=lambda text: 2 + text % 4), Rule(at_least=0.9, unread_at_most=0.1, verdict="use", min_items=200))
    assert [(check.limit, check.outcome) for check in kept.checks if check.outcome == "pass"] == [("min_items", "pass")]
    assert {check.reason.partition(";")[0] for check in kept.checks[:2]} == {"300 of 1,000 questions have no answer"}
    assert gated(labelled, Rule(at_least=0.9, verdict="use")).outcome == "pass"


def test_a_rule_that_names_nothing_is_an_error(tmp_path: Path, cli: Cli) -> None:
    folder = judged_folder(tmp_path / "made")
    for key in ("language", "metric"):
        (tmp_path / "gate.toml").write_text(f"[[rule]]\nmin_items = 1\n\n[[rule]]\n{key} = []\nat_least = 0.99\n", "utf-8")
        refused = cli("gate", folder, "--policy", tmp_path / "gate.toml")
        assert refused.code == 3 and f"gate.toml:4: {key} names nothing" in refused.err
    with pytest.raises(UsageError, match="language names nothing"):
        harness.check_gate(folder, Policy(rule=(Rule(language=(), min_items=1),)))


def test_conditions_that_differ_in_top_p_only_are_told_apart(tmp_path: Path, cli: Cli) -> None:
    folder = judged_folder(tmp_path / "made", labelled=1.0, noise=0.0)
    rows = [json.loads(row) for row in (folder / "judgments.jsonl").read_text("utf-8").splitlines()]
    cold = [row | {"temperature": 0.7, "top_p": 0.5} for row in rows]
    write_rows(folder / "judgments.jsonl", [*cold, *(row | {"temperature": 0.7, "top_p": 1.0, "score": 0} for row in rows)])
    (tmp_path / "gate.toml").write_text('[[rule]]\nmetric = "tone"\nat_least = 0.7\n', "utf-8")
    files = ("--junit", tmp_path / "gate.xml", "--json", tmp_path / "gate.json", "--summary", tmp_path / "gate.md")
    done = cli("gate", folder, "--policy", tmp_path / "gate.toml", "--all", *files)
    checks = json.loads((tmp_path / "gate.json").read_text("utf-8"))["checks"]
    assert [(check["top_p"], check["outcome"]) for check in checks] == [(0.5, "pass"), (1.0, "fail")]
    names = [case.get("name") for case in ElementTree.parse(tmp_path / "gate.xml").iter("testcase")]
    assert len(set(names)) == 2 and all("top-p " in str(name) for name in names)
    for text in (done.out, (tmp_path / "gate.md").read_text("utf-8")):
        assert "top-p 0.5" in " ".join(text.split()) and "top-p 1" in " ".join(text.split())


def test_variants_without_a_temperature_are_told_apart(tmp_path: Path, cli: Cli) -> None:
    folder = judged_folder(tmp_path / "made", labelled=1.0)
    rows = [json.loads(row) for row in (folder / "judgments.jsonl").read_text("utf-8").splitlines()]
    write_rows(folder / "judgments.jsonl", [row | {"variant": variant} for row in rows for variant in ("single", "joint")])
    (tmp_path / "gate.toml").write_text('[[rule]]\nmetric = "tone"\nmin_items = 1\n', "utf-8")
    cli("gate", folder, "--policy", tmp_path / "gate.toml", "--junit", tmp_path / "gate.xml")
    assert len({case.get("name") for case in ElementTree.parse(tmp_path / "gate.xml").iter("testcase")}) == 2


class TestVerdict:
    """The verdict as a limit, as what a new policy asks for, and as a warning beside limits that say less."""

    def test_it_passes_fails_or_stays_open(self) -> None:
        proven, worse, unsure = judged([5]), judged(range(0, 200, 2)), judged([3], texts=25)
        for data, outcome in ((proven, "pass"), (worse, "fail"), (unsure, "inconclusive")):
            [use, corrected] = gated(data, Rule(verdict="use"), Rule(verdict="use corrected")).checks
            assert (use.outcome, corrected.outcome) == (outcome, outcome)
        assert "the verdict is 'do not use'" in gated(worse, Rule(verdict="use")).checks[0].reason

    def test_correction_is_less_than_use(self, tmp_path: Path) -> None:
        folder = judged_folder(tmp_path / "lenient", labelled=1.0, noise=0.5)
        rules = (Rule(metric="tone", verdict="use"), Rule(metric="tone", verdict="use corrected"))
        [use, corrected] = harness.check_gate(folder, Policy(rule=rules)).checks
        assert (use.verdict, use.outcome, corrected.outcome) == ("use corrected", "fail", "pass")

    def test_a_limit_that_passes_beside_a_worse_verdict_warns(self, tmp_path: Path, cli: Cli) -> None:
        folder = judged_folder(tmp_path / "worse", labelled=1.0, noise=0.6, sampling="convenience")
        (tmp_path / "gate.toml").write_text('[[rule]]\nmetric = "tone"\nat_least = 0.1\n', "utf-8")
        done = cli("gate", folder, "--policy", tmp_path / "gate.toml", "--json", tmp_path / "g.json", "--summary", tmp_path / "g.md")
        assert done.code == 0 and "Limits pass where the verdict is 'do not use': ja/tone of model/one." in " ".join(done.out.split())
        found = json.loads((tmp_path / "g.json").read_text("utf-8"))
        assert found["checks"][0]["verdict"] == "do not use" and len(found["warnings"]) == 1
        assert "**Warning**" in (tmp_path / "g.md").read_text("utf-8")
        (tmp_path / "gate.toml").write_text('[[rule]]\nmetric = "tone"\nat_least = 0.1\nverdict = "use"\n', "utf-8")
        again = cli("gate", folder, "--policy", tmp_path / "gate.toml")
        assert again.code == 1 and "Limits pass" not in again.out

    def test_a_new_policy_of_an_unproven_judge_does_not_pass(self, tmp_path: Path, cli: Cli) -> None:
        folder = judged_folder(tmp_path / "worse", labelled=1.0, noise=0.6, sampling="convenience")
        made = cli("new", "gate", folder, "--into", tmp_path)
        assert made.code == 0 and "does not hold the verdict that the policy asks for: ja/errors" in made.err
        assert (tmp_path / "gate.toml").read_text("utf-8").count('verdict = "use"') == 2
        assert cli("gate", folder, "--policy", tmp_path / "gate.toml").code == 1

    def test_its_thresholds_are_the_policys(self, tmp_path: Path, cli: Cli) -> None:
        folder = judged_folder(tmp_path / "made", labelled=0.6, noise=0.02)
        text = '[decision]\nmargin = 0.2\nitems = {}\n\n[[rule]]\nmetric = "tone"\nverdict = "use"\n'
        for items, code in ((100, 0), (200, 7)):
            (tmp_path / "gate.toml").write_text(text.format(items), "utf-8")
            assert cli("gate", folder, "--policy", tmp_path / "gate.toml").code == code
        (tmp_path / "gate.toml").write_text("[decision]\nmargn = 0.1\n\n[[rule]]\nmin_items = 1\n", "utf-8")
        refused = cli("gate", folder, "--policy", tmp_path / "gate.toml")
        assert refused.code == 3 and "gate.toml:1: no threshold 'margn'" in refused.err and "'margin'" in refused.err
