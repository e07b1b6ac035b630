"""A submission holds what its run held, whether one process reads it or several."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.api import run
from harness.boards.card import read_card, write_card
from harness.boards.examined_submission import examine, examine_all
from harness.boards.expected_submission import Baselines, ExpectedCalls, expected_calls
from harness.boards.submission_options import SubmitterStatement
from harness.boards.submit import submit
from harness.data.judgments import Judgments
from harness.model import JudgeIdentity
from harness.runs import Prepared, RunResult, RunSpec, hex_ids

Submitted = Callable[..., list[Path]]


def test_an_entry_is_what_its_run_held(result: RunResult, mini: Prepared, submitted: Submitted) -> None:
    entries = {examined.card.name: examined.entry for examined in examine_all(mini, submitted()) if examined.card and examined.entry}
    for name, entry in entries.items():
        own = result.judgments.take(result.judgments.judge.recode({name: 0}) == 0)
        for column in (*Judgments.COLUMNS, *Judgments.OPTIONAL):
            assert list(getattr(entry.judgments, column)) == list(getattr(own, column)), column
        assert entry.answers.missing == {name: 0}
        assert entry.answers.spent[name] == result.answers.spent[name]
        assert entry.answers.forms[name] == result.answers.forms[name]
        assert entry.answers.answered_by[name] == result.answers.answered_by[name]
    assert set(entries) == {identity.name for identity in result.protocol.judges.identities}


def test_expected_calls_have_the_ids_of_the_plan_also_in_another_process(mini: Prepared) -> None:
    expected: ExpectedCalls = pickle.loads(pickle.dumps(expected_calls(mini)))
    for identity in (JudgeIdentity("openai", "m", {"endpoint": "h"}), JudgeIdentity("baseline", "random", {"seed": 0})):
        assert list(hex_ids(expected.call_ids(identity))) == list(mini.plan(None).calls(identity).all_call_ids())
    assert all(not query.item.fields for query in expected.queries)


def test_a_decision_model_has_the_calls_that_a_run_asks_it(mini: Prepared) -> None:
    identity = JudgeIdentity("decisions", "m", {"endpoint": "h"})
    expected = expected_calls(mini).for_judge(identity)
    ids = list(hex_ids(expected.call_ids(identity)))
    assert ids == list(mini.plan(None).calls(identity).all_call_ids())
    assert not set(ids) & set(hex_ids(expected_calls(mini).call_ids(identity)))
    tags = sorted({query.item.language for query in expected.queries})[:1]
    part = expected_calls(mini).of_part(tags, None).for_judge(identity)
    assert set(hex_ids(part.call_ids(identity))) == {
        call_id for call_id, query in zip(ids, expected.queries, strict=True) if query.item.language in tags
    }


@pytest.mark.needs("sparrow-decider")
def test_a_submission_of_a_decision_model_is_read_as_its_run(mini: Prepared, content: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = run(RunSpec(board="mini", content=(content,), judges=("decider/sparrow-nano",)), out)
    (tmp_path / "into").mkdir()
    [written] = submit(result, out, "mini", SubmitterStatement(into=tmp_path / "into"), ())
    [found] = examine_all(mini, [written.folder])
    assert found.entry and not found.problems
    for column in (*Judgments.COLUMNS, "expected", "confidence"):
        assert list(getattr(found.entry.judgments, column)) == list(getattr(result.judgments, column)), column
    assert found.entry.answers.forms["decider/sparrow-nano"] == {"systemone": len(mini.plan(None))}


def test_prompts_of_a_board_are_rendered_once(mini: Prepared) -> None:
    assert expected_calls(mini) is expected_calls(mini)


@pytest.mark.slow
def test_several_processes_find_the_same_as_one(mini: Prepared, submitted: Submitted) -> None:
    folders = submitted()
    (folders[1] / "more.txt").write_text("x")
    one, two = (list(examine_all(mini, folders, processes=number)) for number in (1, 2))
    assert [found.problems for found in one] == [found.problems for found in two]
    assert [found.folder for found in two] == folders
    hashes = [[found.entry and found.entry.judgments.sha256 for found in each] for each in (one, two)]
    assert hashes[0] == hashes[1]
    assert [bool(found.problems) for found in two] == [False, True, False]


def test_judgments_can_be_left_out_and_counts_stay(mini: Prepared, submitted: Submitted) -> None:
    for found in examine_all(mini, submitted(), judgments=False):
        assert found.entry and len(found.entry.judgments) == 0
        assert sum(spent.calls for spent in found.entry.answers.spent[found.entry.card.name].values()) == len(mini.plan(None))


def test_a_baseline_is_examined_no_further_than_its_card_where_it_cannot_be_asked(mini: Prepared, submitted: Submitted) -> None:
    found = examine(expected_calls(mini), submitted()[0])
    assert found.card and found.entry is None and not found.problems


def test_baselines_answer_the_same_as_in_their_run(mini: Prepared, result: RunResult) -> None:
    expected = expected_calls(mini)
    baselines = Baselines(mini, expected)
    for identity in result.protocol.judges.identities:
        assert baselines.complaint(identity) == ""
        assert baselines.replies(identity).keys() == expected.queries_by_call(identity).keys()
    assert "has the settings {'seed': 0}" in baselines.complaint(JudgeIdentity("baseline", "random", {"seed": 4}))
    assert "no baseline 'wise'" in baselines.complaint(JudgeIdentity("baseline", "wise"))


def test_a_changed_card_is_a_problem(mini: Prepared, submitted: Submitted) -> None:
    [folder, *_] = submitted()
    card = read_card(folder / "judge.toml")
    for change in ({"board": "mini@3.0.0"}, {"title": "<b>"}):
        write_card(folder / "judge.toml", type(card)(**{name: getattr(card, name) for name in card.__struct_fields__} | change))
        [examined] = examine_all(mini, [folder])
        assert examined.entry is None and examined.problems[0].path.name == "judge.toml"
