"""What is read from a submission is what its run held, in one process or several."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.boards import read_card, score, write_card
from harness.boards.anew import Baselines
from harness.boards.pool import look_through
from harness.boards.scoring import examine
from harness.boards.wanted import Wanted, wanted_by
from harness.content.recorded import Judgments
from harness.errors import ContentError
from harness.model import JudgeIdentity
from harness.plan import hexadecimal
from harness.protocol import Prepared
from harness.runner import RunResult

Submitted = Callable[..., list[Path]]


def test_an_entry_is_what_its_run_held(result: RunResult, mini: Prepared, submitted: Submitted) -> None:
    board = mini.library.board("mini")
    entries = {entry.card.name: entry for entry in (score(board, mini, folder) for folder in submitted())}
    for name, entry in entries.items():
        own = result.judgments.take(result.judgments.judge.recoded({name: 0}) == 0)
        for column in (*Judgments.COLUMNS, *Judgments.OPTIONAL):
            assert list(getattr(entry.judgments, column)) == list(getattr(own, column)), column
        assert entry.answers.missing == {name: 0}
        assert entry.answers.spent[name] == result.answers.spent[name]
        assert entry.answers.forms[name] == result.answers.forms[name]
        assert entry.answers.answered_by[name] == result.answers.answered_by[name]
    assert set(entries) == {identity.name for identity in result.protocol.identities}


def test_what_is_wanted_gives_the_call_ids_of_the_plan_also_in_another_process(mini: Prepared) -> None:
    wanted: Wanted = pickle.loads(pickle.dumps(wanted_by(mini)))
    for identity in (JudgeIdentity("openai", "m", {"endpoint": "h"}), JudgeIdentity("baseline", "random", {"seed": 0})):
        assert list(hexadecimal(wanted.call_ids(identity))) == list(mini.plan(None).calls(identity).every_id())
    assert all(not ask.item.fields for ask in wanted.asks)


def test_prompts_of_a_board_are_worded_once(mini: Prepared) -> None:
    assert wanted_by(mini) is wanted_by(mini)


@pytest.mark.slow
def test_several_processes_find_the_same_as_one(mini: Prepared, submitted: Submitted) -> None:
    folders = submitted()
    (folders[1] / "more.txt").write_text("x")
    one, two = (list(look_through(mini, folders, processes=number)) for number in (1, 2))
    assert [found.problems for found in one] == [found.problems for found in two]
    assert [found.folder for found in two] == folders
    hashes = [[found.entry and found.entry.judgments.sha256 for found in each] for each in (one, two)]
    assert hashes[0] == hashes[1]
    assert [bool(found.problems) for found in two] == [False, True, False]


def test_who_needs_no_judgments_gets_the_counts_without_them(mini: Prepared, submitted: Submitted) -> None:
    for found in look_through(mini, submitted(), judgments=False):
        assert found.entry and len(found.entry.judgments) == 0
        assert sum(spent.calls for spent in found.entry.answers.spent[found.entry.card.name].values()) == len(mini.plan(None))


def test_a_baseline_is_not_looked_at_where_it_cannot_be_asked(mini: Prepared, submitted: Submitted) -> None:
    found = examine(wanted_by(mini), submitted()[0])
    assert found.card and found.entry is None and not found.problems


def test_baselines_answer_the_same_as_in_their_run(mini: Prepared, result: RunResult) -> None:
    wanted = wanted_by(mini)
    baselines = Baselines(mini, wanted)
    for identity in result.protocol.identities:
        assert baselines.complaint(identity) == ""
        assert baselines.replies(identity).keys() == wanted.places(identity).keys()
    assert "has the settings {'seed': 0}" in baselines.complaint(JudgeIdentity("baseline", "random", {"seed": 4}))
    assert "no baseline 'wise'" in baselines.complaint(JudgeIdentity("baseline", "wise"))


def test_the_first_thing_that_is_wrong_is_raised(mini: Prepared, submitted: Submitted) -> None:
    [folder, *_] = submitted()
    card = read_card(folder / "judge.toml")
    for change in ({"board": "mini@3.0.0"}, {"title": "<b>"}):
        write_card(folder / "judge.toml", type(card)(**{name: getattr(card, name) for name in card.__struct_fields__} | change))
        with pytest.raises(ContentError, match=r"judge\.toml"):
            score(mini.library.board("mini"), mini, folder)
