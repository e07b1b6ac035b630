"""Submissions of recorded scores (`scores.jsonl.gz`): a judge's scores from elsewhere, without raw replies.

Nobody can read such scores again, so they are marked `recorded` and never `verified`. The file has one row for each question of the board
or of the part that the card names, in the order of item and metric. Scores are on the scale of the labels. A judge of the provider
`recorded` was asked elsewhere in its own way, which `settings` of the card names. Any other was asked with the board's prompts, and its
replies were left out because they may quote offensive texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
import numpy as np

from harness.boards.card import JudgeCard, quote
from harness.content.specs import BoardData
from harness.data.dataset import load_folder
from harness.data.judgments import Judgments
from harness.errors import UsageError
from harness.model import Failure, JudgeIdentity, Query
from harness.row_files import jsonl_lines

if TYPE_CHECKING:
    from harness.runs import Prepared

PROVIDER = "recorded"
RECORDED: Literal["recorded"] = "recorded"
"""The status of a submission of recorded scores."""
RecordedAnswer = float | str | Failure
"""What a recorded judge said about a question: a score, or why there is none."""


class ScoreRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One line: a question, and its score or the failure in its place."""

    item_id: str
    metric: str
    score: float | str | None = None
    failure: Failure | None = None

    def __post_init__(self) -> None:
        if (self.score is None) == (self.failure is None):
            raise ValueError("a row has a score or a failure, and not both")


decode_score = msgspec.json.Decoder(ScoreRow).decode


def identity_of(model: str, variant: str) -> JudgeIdentity:
    """A recorded judge: its name in the data folder, and how it was asked."""
    return JudgeIdentity(PROVIDER, model, {"variant": variant})


def refuse_several_answers(board: str, queries: Sequence[Query]) -> None:
    """Raise UsageError for a board that asks a question more than once: recorded scores do not say which answer they are."""
    conditions = {(str(query.condition), query.repeat) for query in queries}
    if len(conditions) > 1:
        raise UsageError(f"the board {board} asks every question {len(conditions)} times; recorded scores need a board that asks it once")


def questions(queries: Sequence[Query]) -> dict[tuple[str, str], Query]:
    """`{(item, metric): its query}`, in the order of the rows of a file of recorded scores."""
    pairs = {(query.item.item_id, metric): query for query in queries for metric in query.metrics}
    return dict(sorted(pairs.items()))


class RecordedJudgments:
    """The judgments in the data folder of a board, with which submissions of recorded scores are written and compared."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared

    @cached_property
    def _judgments(self) -> Judgments:
        protocol, library = self._prepared.protocol, self._prepared.library
        data = library.board(protocol.texts.board).data if protocol.texts.board else "bundled"
        if protocol.texts.data is None or not isinstance(data, BoardData):
            return Judgments.from_rows(())
        judgments = load_folder(Path(protocol.texts.data), library, card=data.card, with_judgments=True).judgments
        return judgments.clean if judgments is not None else Judgments.from_rows(())

    def judges(self) -> list[tuple[str, str]]:
        """The judges, each with a variant under which it was asked."""
        judgments = self._judgments
        pairs = {(judge, variant) for judge, variant in zip(judgments.judge, judgments.variant, strict=True)}
        return sorted(pairs)

    def outcomes(self, identity: JudgeIdentity) -> dict[tuple[str, str], RecordedAnswer]:
        """`{(item, metric of the board): what the judge said}`; empty for a judge that has no judgments here.

        A metric that is compared with labels of another one, or has another name in the data, has the judgments of that one.
        """
        judgments = self._judgments
        mine = judgments.judge.equals(identity.model)
        of_judge = judgments.take(mine & judgments.variant.equals(identity.settings.get("variant", "")))
        if (np.array([*of_judge.repeat.values, 0])[of_judge.repeat.codes] > 0).any():
            raise UsageError(f"'{identity.model}' judged items more than once; recorded scores need one judgment of every item")
        library, about = self._prepared.library, self._prepared.data.about
        names = {board_metric: data_metric for data_metric, board_metric in about.rubrics.items()}
        board_metrics = {
            names.get(metric) or library.rubric(metric).compared_with or metric: metric
            for metric in self._prepared.protocol.questions.metrics
        }
        rows = zip(of_judge.item, of_judge.metric, of_judge.score, of_judge.failure, strict=True)
        return {
            (item, board_metrics[metric]): Failure(failure) if score is None else score if isinstance(score, str) else float(score)
            for item, metric, score, failure in rows
            if metric in board_metrics
        }


def score_lines(queries: Sequence[Query], outcomes: Mapping[tuple[str, str], RecordedAnswer]) -> list[bytes]:
    """The lines of a file of recorded scores. A question that the judge has no row for is `missing`."""
    rows = []
    for item, metric in questions(queries):
        outcome = outcomes.get((item, metric), Failure.MISSING)
        rows.append(ScoreRow(item, metric, failure=outcome) if isinstance(outcome, Failure) else ScoreRow(item, metric, score=outcome))
    return list(jsonl_lines(rows))


def differing(card: JudgeCard, outcomes: Mapping[tuple[str, str], RecordedAnswer], recorded: RecordedJudgments) -> str:
    """Say how recorded scores differ from the judgments in the board's data folder; empty if they do not, or if it has none of
    this judge.
    """
    data_outcomes = recorded.outcomes(card.identity)
    differing_keys = [key for key, outcome in outcomes.items() if data_outcomes and data_outcomes.get(key, Failure.MISSING) != outcome]
    if not differing_keys:
        return ""
    item, metric = differing_keys[0]
    return (
        f"{len(differing_keys):,} scores are not those of the data folder, the first one '{quote(metric)}' of item '{quote(item)}': "
        f"{outcomes[differing_keys[0]]} here, {data_outcomes.get(differing_keys[0], Failure.MISSING)} there"
    )
