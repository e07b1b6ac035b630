"""Probabilities on boards: their verdicts in the standings, submissions with token probabilities, and answers about offensive texts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from harness.api import run
from harness.boards.card import CARD, read_card, write_card
from harness.boards.examined_submission import ScoredSubmission, examine
from harness.boards.expected_submission import Baselines, expected_calls
from harness.boards.standings import standings
from harness.boards.submission_files import ReplyRow
from harness.boards.submission_options import SubmitterStatement, VerifyOptions
from harness.boards.submit import _refuse_quotations, submit
from harness.boards.verify import verify
from harness.data.columns import CodedColumn
from harness.data.judgments import Judgments
from harness.engines import Settings
from harness.errors import UsageError
from harness.model import Reply
from harness.notebook import Quiet
from harness.render.markdown import standings_markdown
from harness.runs import Prepared, RunResult, RunSpec


@pytest.fixture
def with_tokens(content: Path, tmp_path: Path) -> Path:
    """The folder of a submission whose run asked for token probabilities too."""
    spec = RunSpec(board="mini", content=(content,), judges=("baseline/random",), variants=("single+probabilities",))
    result = run(spec, tmp_path / "results")
    (tmp_path / "other").mkdir()
    [written] = submit(result, tmp_path / "results", "mini", SubmitterStatement(into=tmp_path / "other"))
    return written.folder


def read_entry(mini: Prepared, folder: Path) -> ScoredSubmission:
    examined = examine(expected_calls(mini), folder, Baselines(mini, expected_calls(mini)))
    assert examined.entry is not None, examined.problems
    return examined.entry


def test_token_probabilities_are_no_other_question(with_tokens: Path, mini: Prepared, submitted: Callable[..., list[Path]]) -> None:
    assert "token_probabilities = true" in (with_tokens / CARD).read_text("utf-8")
    entry = read_entry(mini, with_tokens)
    assert set(entry.judgments.variant.used) == {"single"}
    [plain] = submitted(SubmitterStatement(), "baseline/random")
    assert "token_probabilities" not in (plain / CARD).read_text("utf-8")
    assert [*entry.judgments.score] == [*read_entry(mini, plain).judgments.score]
    assert standings(mini.library.board("mini"), mini, [entry]).tables[0].rows[0].value is not None


def test_a_card_that_denies_token_probabilities_is_wrong(with_tokens: Path, mini: Prepared) -> None:
    write_card(with_tokens / CARD, msgspec.structs.replace(read_card(with_tokens / CARD), token_probabilities=False))
    problems = examine(expected_calls(mini), with_tokens, Baselines(mini, expected_calls(mini))).problems
    assert any("is not a call of mini@1.0.0 for this judge" in problem.message for problem in problems)


def test_token_probabilities_are_not_verified(with_tokens: Path, content: Path) -> None:
    with pytest.raises(UsageError, match="holds token probabilities"):
        verify("mini", str(with_tokens), Quiet(), Settings(), VerifyOptions(content=(content,)))


def certain(judgments: Judgments, probability: float) -> Judgments:
    confidence = CodedColumn.from_values([probability] * len(judgments))
    return Judgments(**judgments.columns | {"confidence": confidence, "probs": CodedColumn.from_values(["{}"] * len(judgments))})


def test_standings_say_whether_probabilities_hold(mini: Prepared, submitted: Callable[..., list[Path]]) -> None:
    [one, other] = (read_entry(mini, folder) for folder in submitted(SubmitterStatement(), "baseline/random", "baseline/length"))
    sure = msgspec.structs.replace(one, judgments=certain(one.judgments, 0.9))
    people = msgspec.structs.replace(
        mini, data=msgspec.structs.replace(mini.data, about=msgspec.structs.replace(mini.data.about, source="native"))
    )
    board = mini.library.board("mini")
    found = standings(board, people, [sure, other])
    assert {cell.key["judge"] for cell in found.probabilities} == {sure.card.name}
    assert {(cell.verdict, round(cell.confidence or 0, 6)) for cell in found.probabilities} == {("too few labels", 0.9)}
    counts = {row.judge: row.probabilities for row in found.overall}
    assert counts == {sure.card.name: {"too few labels": len(found.probabilities)}, other.card.name: {}}
    text = standings_markdown(found)
    assert f"hold in 0 of {len(found.probabilities)}" in text and "too few labels |" in text
    assert not standings(board, mini, [sure]).probabilities  # constructed labels say nothing of people
    assert found.as_json()["probabilities"][0]["verdict"] == "too few labels"


@pytest.mark.parametrize("text", ["{text}", '{{"answer": "{text}"}}'])
def test_answers_that_repeat_an_offensive_text_are_refused(result: RunResult, text: str) -> None:
    prepared = result.prepared
    item = next(item for item in prepared.data.items if len(item.fields["output"]) > 20 and '"' not in item.fields["output"])

    def row(reply: Reply) -> ReplyRow:
        return ReplyRow(
            call_id="1",
            prompt_id="2",
            judge="decisions/one",
            item_id=item.item_id,
            metrics="m",
            condition="",
            temperature=0,
            repeat=0,
            reply=reply,
        )

    quotation = text.format(text=item.fields["output"].replace("\n", "\\n"))
    _refuse_quotations([row(Reply(model="one", text='{"m": {"probabilities": {"0": 0.5}}}'))], prepared)
    for reply in (Reply(model="one", text=quotation), Reply(model="one", text="", refusal=item.fields["output"])):
        with pytest.raises(UsageError, match=f"about item '{item.item_id}' repeats its text"):
            _refuse_quotations([row(reply)], prepared)
