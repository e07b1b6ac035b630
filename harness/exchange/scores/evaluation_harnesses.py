"""Reads lines of evaluation harnesses: samples of lm-evaluation-harness, and FastChat's pair judgments (`gpt-4_pair.jsonl`).

Samples (`--log_samples`) have the judge as model: `resps` are its raw replies. The same replies stand once for every filter, so one filter
is read; its aggregate (`filtered_resps`) is not. A pair is two games a question, the second with the two texts in the other order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.errors import ContentError
from harness.exchange.labels.source_table import flat
from harness.exchange.scores.external_scores import (
    ExternalScore,
    ExternalScores,
    Reader,
    ReadOptions,
    Rows,
    choose_one,
    joined_ids,
    load_json,
    plain_texts,
)
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


def is_sample(row: Any) -> bool:
    """Return whether a line is one sample."""
    return isinstance(row, dict) and "resps" in row and "doc" in row


def read_samples(rows: Rows, options: ReadOptions) -> ExternalScores:
    """Read the lines of a file. Raises ContentError for another form, UsageError if there are several filters and none is chosen."""
    why = "each repeats the same replies"
    chosen = choose_one("--filter", options.filter, (str(row.get("filter")) for _, _, row in rows if "filter" in row), "filter", why)
    # The judge is the model of the results file beside the samples. Nothing else of that file is read: it describes a machine.
    results_files = (load_json(results) for results in sorted(rows[0][0].parent.glob("results_*.json")) if results.is_file())
    models = (content.get("model_name") for content in results_files if isinstance(content, dict))
    judge = next((name for name in models if isinstance(name, str) and name), None)
    scores: list[ExternalScore] = []
    for path, number, row in rows:
        if not is_sample(row):
            raise ContentError("not a sample of lm-evaluation-harness, which has 'doc' and 'resps'", path, number)
        if chosen is not None and str(row.get("filter")) != chosen:
            continue
        replies = row["resps"]
        if not (isinstance(replies, list) and len(replies) == 1 and isinstance(replies[0], list)):
            raise ContentError("one request with its replies is expected; log-likelihoods of choices are no replies", path, number)
        if not all(isinstance(reply, str) for reply in replies[0]):
            raise ContentError("log-likelihoods are no replies; only tasks that generate text can be imported", path, number)
        fields = {"doc_id": row.get("doc_id"), "target": row.get("target"), **flat({"doc": row["doc"] or {}})}
        item = fields.get("doc.item_id", fields.get("doc.id", row.get("doc_id")))
        shared: dict[str, Any] = {"place": f"{path}:{number}", "item": item, "fields": fields}
        scores += [ExternalScore(**shared, reply=reply, who=judge, repeat=repeat) for repeat, reply in enumerate(replies[0])]
        if options.label_from is not None:
            if options.label_from not in fields:
                raise ContentError(f"no field '{options.label_from}'; the fields are: {', '.join(fields)}", path, number)
            scores.append(ExternalScore(**shared, value=fields[options.label_from], who="label", human=True))
    notes = [] if judge else ["no results_*.json beside the samples names the judge; pass --judge NAME"]
    return ExternalScores("lm-eval", scores, notes, plain_texts(scores, "doc."))


READERS = {
    "lm-eval": Reader(is_line=is_sample, read_lines=read_samples),
    "fastchat-pair": Reader(is_line=is_pair, read_lines=read_pairs),
}
