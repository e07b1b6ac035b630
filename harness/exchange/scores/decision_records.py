"""Reads recorded requests to decision models with their answers: lines of JSONL in the form of Decisions or of System One.

A line is `{"request": {…}, "response": {…}}`; the bodies may also stand under `body`, as a proxy records them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from harness.errors import ContentError
from harness.exchange.labels.table import flat
from harness.exchange.scores.external_scores import ExternalScore, ExternalScores, Reader, Rows
from harness.judges.http_refusals import read_refusal
from harness.model import Failure
from harness.row_files import to_json

KIND = "decisions"
_IDS = ("item_id", "custom_id", "id")
_USUAL_TEXTS = ("output", "input", "prompt", "source", "passage", "text", "output_a", "output_b")


def is_record(row: Any) -> bool:
    """Return whether an object is a recorded request to a decision model."""
    return isinstance(row, dict) and "response" in row and bool(_read_body(row.get("request")).get("questions"))


def read_decision_records(rows: Rows) -> ExternalScores:
    """Read lines. Raises ContentError for one of another form."""
    scores: list[ExternalScore] = []
    texts: dict[str, str] = {}
    for path, number, row in rows:
        location = f"{path}:{number}"
        if not is_record(row):
            raise ContentError('not a recorded decision: {"request": {"questions": …}, "response": …} is expected', location)
        state = _state(_read_body(row["request"]))
        texts |= {name: name for name in state if name in _USUAL_TEXTS}
        scores += _read_scores(location, row, state)
    return ExternalScores(KIND, scores, (), texts or {"output": "input"})


def _read_scores(location: str, row: Mapping[str, Any], state: Mapping[str, Any]) -> Iterator[ExternalScore]:
    request, response = _read_body(row["request"]), _read_body(row["response"])
    about = {name: value for name, value in row.items() if name not in ("request", "response")}
    fields = {**flat(about), **state}
    item = next((row[name] for name in _IDS if row.get(name)), None) or hashlib.sha256(to_json(state).encode()).hexdigest()[:12]
    model = response.get("model") or request.get("model")
    kind = "systemone" if isinstance(request["questions"], Mapping) else KIND
    shared: dict[str, Any] = {"place": location, "item": item, "fields": fields, "who": f"{kind}/{model}" if model else None}
    names = question_names(request["questions"])
    answers = answers_by_name(response.get("answers"), names)
    failure = None if answers else _read_failure(row["response"], response)
    for name in names:
        decision = answers.get(name)
        yield ExternalScore(**shared, metric=name, decision=decision, failure=failure or (None if decision else Failure.MISSING))


def question_names(questions: Any) -> tuple[str, ...]:
    """Return the names of the questions of a request, in order; questions without a name are numbered from 1."""
    if isinstance(questions, Mapping):
        return tuple(map(str, questions))
    listed = questions if isinstance(questions, list) else []
    return tuple(str((isinstance(question, Mapping) and question.get("name")) or number) for number, question in enumerate(listed, start=1))


def answers_by_name(answers: Any, names: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Return the answers by the name of their question. Those of a list without names are in the order of the questions."""
    if isinstance(answers, Mapping):
        return {str(name): answer for name, answer in answers.items() if isinstance(answer, Mapping)}
    objects = [answer for answer in answers if isinstance(answer, Mapping)] if isinstance(answers, list) else []
    if any(answer.get("name") for answer in objects):
        return {str(answer["name"]): answer for answer in objects if answer.get("name")}
    return dict(zip(names, objects, strict=True)) if len(objects) == len(names) else {}


def _read_body(message: Any) -> Mapping[str, Any]:
    inner = message.get("body", message) if isinstance(message, Mapping) else {}
    return inner if isinstance(inner, Mapping) else {}


def _state(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the model read: an object by its names, also where it stands as JSON in a text; a text as `input`."""
    state = request.get("state", request.get("input"))
    if isinstance(state, str) and state.lstrip().startswith("{"):
        try:
            decoded = msgspec.json.decode(state)
        except msgspec.DecodeError:
            decoded = None
        state = decoded if isinstance(decoded, dict) else state
    if isinstance(state, Mapping):
        return flat(state)
    return {"input": state if isinstance(state, str) else to_json(state)}


def _read_failure(response: Any, body: Mapping[str, Any]) -> Failure:
    """The failure of a request without answers: refused where the provider's policy says so of this text, as in a run, else missing."""
    stated = response.get("status_code", response.get("status")) if isinstance(response, Mapping) else None
    status = stated if isinstance(stated, int) else 400
    return Failure.REFUSED if read_refusal(to_json(body).encode()).subject(status) == "policy" else Failure.MISSING


READERS = {KIND: Reader(is_line=is_record, read_lines=lambda rows, _: read_decision_records(rows))}
