"""Reads FastChat's pair judgments (`gpt-4_pair.jsonl`): two games a question, the second with the two texts in the other order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.errors import ContentError
from harness.exchange.labels.table import flat
from harness.exchange.scores.external_scores import ExternalScore, ExternalScores, Reader, ReadOptions, Rows, joined_ids
from harness.model import Failure, Order

_ID = ("question_id", "model_1", "model_2", "turn")
_GAMES: tuple[tuple[str, Order], ...] = (("g1", "forward"), ("g2", "swapped"))
_CHOICES = {"model_1": "A", "model_2": "B", "tie": "tie"}
_TEXTS = {"system_a": "model_1", "system_b": "model_2"}


def is_pair(row: Any) -> bool:
    """Return True for a line with the winners of two games."""
    return isinstance(row, dict) and {"g1_winner", "g2_winner", "model_1", "model_2"} <= row.keys()


def read_pairs(rows: Rows, options: ReadOptions) -> ExternalScores:
    """Read the lines of a file; both games are judgments of one pair. Raises ContentError for another form."""
    for path, number, row in rows:
        if not is_pair(row):
            raise ContentError("no pair of FastChat, which has 'model_1', 'model_2', 'g1_winner' and 'g2_winner'", path, number)
    parts = [name for name in _ID if any(name in row for _, _, row in rows)]
    items = joined_ids([row for _, _, row in rows], parts)
    scores = [
        _read_game(f"{path}:{number}", item, row, game, order)
        for (path, number, row), item in zip(rows, items, strict=True)
        for game, order in _GAMES
    ]
    return ExternalScores("fastchat-pair", scores, (), _TEXTS)


def _read_game(location: str, item: Any, row: Mapping[str, Any], game: str, order: Order) -> ExternalScore:
    """Return the judgment of a game. Its winner is a model, so that it is in the order of the pair already."""
    winner, judge = row[f"{game}_winner"], row.get("judge")
    failure = Failure.NOT_JSON if winner == "error" else None  # FastChat found no verdict in the reply
    reply = row.get(f"{game}_judgment")
    return ExternalScore(
        place=location,
        item=item,
        fields=flat(row),
        metric="preference",
        value=_CHOICES.get(winner, winner) if isinstance(winner, str) else winner,
        failure=failure,
        justification=reply if isinstance(reply, str) else None,
        who=str(judge[0] if isinstance(judge, list) and judge else judge) if judge else None,
        order=order,
    )


READERS = {"fastchat-pair": Reader(is_line=is_pair, read_lines=read_pairs)}
