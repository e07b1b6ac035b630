"""Reads recorded requests to judges with their answers: output files of provider batches, and requests to decision models.

Batches hold raw replies for our own parser. The prompts are only in the input file of a batch; if it is among the files, requests without
a reply count as missing. A request to a decision model is a line `{"request": {…}, "response": {…}}` in the form of Decisions or of
System One; the bodies may also stand under `body`, as a proxy records them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from harness.errors import ContentError
from harness.exchange.labels.source_table import flat
from harness.exchange.scores.external_scores import ExternalScore, ExternalScores, Reader, Rows, answers_by_name, question_names
from harness.judges.http_refusals import read_refusal
from harness.judges.response_body import read_answer
from harness.model import Failure
from harness.row_files import to_json

DECISIONS = "decisions"
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
        # What the model read: an object by its names, also where it stands as JSON in a text; a text as `input`.
        request = _read_body(row["request"])
        read = request.get("state", request.get("input"))
        if isinstance(read, str) and read.lstrip().startswith("{"):
            try:
                decoded = msgspec.json.decode(read)
            except msgspec.DecodeError:
                decoded = None
            read = decoded if isinstance(decoded, dict) else read
        state = flat(read) if isinstance(read, Mapping) else {"input": read if isinstance(read, str) else to_json(read)}
        texts |= {name: name for name in state if name in _USUAL_TEXTS}
        scores += _read_scores(location, row, state)
    return ExternalScores(DECISIONS, scores, (), texts or {"output": "input"})


def _read_scores(location: str, row: Mapping[str, Any], state: Mapping[str, Any]) -> Iterator[ExternalScore]:
    request, response = _read_body(row["request"]), _read_body(row["response"])
    about = {name: value for name, value in row.items() if name not in ("request", "response")}
    fields = {**flat(about), **state}
    item = next((row[name] for name in _IDS if row.get(name)), None) or hashlib.sha256(to_json(state).encode()).hexdigest()[:12]
    model = response.get("model") or request.get("model")
    kind = "systemone" if isinstance(request["questions"], Mapping) else DECISIONS
    shared: dict[str, Any] = {"place": location, "item": item, "fields": fields, "who": f"{kind}/{model}" if model else None}
    names = question_names(request["questions"])
    answers = answers_by_name(response.get("answers"), names)
    failure = None
    if not answers:  # refused where the provider's policy says so of this text, as in a run, else missing
        stated = row["response"].get("status_code", row["response"].get("status")) if isinstance(row["response"], Mapping) else None
        refusal = read_refusal(to_json(response).encode()).subject(stated if isinstance(stated, int) else 400)
        failure = Failure.REFUSED if refusal == "policy" else Failure.MISSING
    for name in names:
        decision = answers.get(name)
        yield ExternalScore(**shared, metric=name, decision=decision, failure=failure or (None if decision else Failure.MISSING))


def _read_body(message: Any) -> Mapping[str, Any]:
    inner = message.get("body", message) if isinstance(message, Mapping) else {}
    return inner if isinstance(inner, Mapping) else {}


OPENAI, ANTHROPIC, GEMINI = "openai-batch", "anthropic-batch", "gemini-batch"
_REQUESTED = ("score",)  # the key of the object that a judge is asked for


def kind_of(row: Any) -> str | None:
    """The provider of a line of an output file; None for anything else."""
    if not isinstance(row, dict):
        return None
    if "custom_id" not in row:
        parts = [part for name in ("response", "error", "request") if isinstance(part := row.get(name), dict)]
        gemini_fields = ("candidates", "promptFeedback", "contents", "code")
        return GEMINI if "key" in row and any(name in part for part in parts for name in gemini_fields) else None
    if "response" in row or ("error" in row and "id" in row) or "body" in row:
        return OPENAI
    return ANTHROPIC if "result" in row or "params" in row else None


def read_batch(kind: str, rows: Rows) -> ExternalScores:
    """Read the lines of all files of one provider. Raises ContentError for a line of another form."""
    requests: dict[str, tuple[str, str | None]] = {}
    answers: dict[str, ExternalScore] = {}
    for path, number, row in rows:
        location = f"{path}:{number}"
        name = row.get("key" if kind == GEMINI else "custom_id") if kind_of(row) == kind else None
        if not isinstance(name, str):
            raise ContentError(f"not a line of a file of kind {kind}", path, number)
        if part := next((part for part in ("body", "params", "request") if part in row and "response" not in row), None):
            request = row[part]
            model = request.get("model") if isinstance(request, dict) else None
            requests[name] = (location, model if isinstance(model, str) else None)
            continue
        try:
            score = {OPENAI: _read_openai, ANTHROPIC: _read_anthropic, GEMINI: _read_gemini}[kind](location, row)
        except (AttributeError, TypeError, KeyError, IndexError):
            raise ContentError(f"the reply does not have the form of a file of kind {kind}", path, number) from None
        if name not in answers or answers[name].reply is None:  # a failure may be in a second file
            answers[name] = score
    lost = [_make_missing(location, name) for name, (location, _) in requests.items() if name not in answers]
    notes = [f"{len(lost)} requests have no reply; they count as missing"] if lost else []
    return ExternalScores(
        kind, _with_judges(kind, [*answers.values(), *lost], {name: model for name, (_, model) in requests.items()}), notes
    )


def _with_judges(kind: str, scores: Sequence[ExternalScore], requested: Mapping[str, str | None]) -> list[ExternalScore]:
    """The scores, those without a reply by the judge that was asked: as its replies name it, or else as its request does."""
    answered = {requested.get(str(score.item)): score.who for score in scores if score.who}
    only = next(iter(answered.values())) if len(set(answered.values())) == 1 else None
    provider = kind.partition("-")[0]

    def judge(score: ExternalScore) -> str | None:
        model = requested.get(str(score.item))
        return score.who or (answered.get(model) or _name_judge(provider, model) if model else only)

    return [msgspec.structs.replace(score, who=judge(score)) for score in scores]


def _make_missing(location: str, name: str) -> ExternalScore:
    return ExternalScore(place=location, item=name, fields={"custom_id": name}, failure=Failure.MISSING)


def _read_unanswered(location: str, name: str, status: Any, body: Mapping[str, Any]) -> ExternalScore:
    """A request without an answer: refused where the provider's policy says so of this text, as in a run, else missing."""
    refusal = read_refusal(to_json(body).encode())
    if isinstance(status, int) and refusal.subject(status) == "policy":
        return ExternalScore(place=location, item=name, fields={"custom_id": name}, failure=Failure.REFUSED, justification=refusal.message)
    return _make_missing(location, name)


def _read_openai(location: str, row: Mapping[str, Any]) -> ExternalScore:
    name, response = row["custom_id"], row.get("response") or {}
    body, status = response.get("body") or {}, response.get("status_code", 200)
    if row.get("error") or status != 200 or not body:
        return _read_unanswered(
            location, name, status if status != 200 else 400, body if body.get("error") else {"error": row.get("error")}
        )
    shared: dict[str, Any] = {
        "place": location,
        "item": name,
        "fields": {"custom_id": name},
        "who": _name_judge("openai", body.get("model")),
    }
    if "choices" in body:
        answer = read_answer(body, _REQUESTED)
        if answer is None:
            raise TypeError("no completion")
        if answer.kind == "failed":
            return ExternalScore(**shared, failure=Failure.MISSING, justification=answer.problem or None)
        reason = None if answer.finish_reason is None else str(answer.finish_reason)
        return ExternalScore(**shared, reply=answer.text, finish_reason=reason, refusal=answer.refusal)
    messages = [output for output in body["output"] if output.get("type") in (None, "message")]
    parts = [part for message in messages for part in message.get("content") or ()]
    texts = [part.get("text") or "" for part in parts if part.get("type") == "output_text"]
    calls = [str(output.get("arguments") or "") for output in body["output"] if output.get("type") == "function_call"]
    refusal = next((part.get("refusal") for part in parts if part.get("type") == "refusal"), None)
    reason = (body.get("incomplete_details") or {}).get("reason")
    return ExternalScore(**shared, reply="".join(texts) or "".join(calls), finish_reason=reason, refusal=refusal)


def _read_anthropic(location: str, row: Mapping[str, Any]) -> ExternalScore:
    name, result = row["custom_id"], row["result"]
    if result["type"] != "succeeded":
        return _read_unanswered(location, name, 400, result.get("error") or {})
    message = result["message"]
    text = "".join(part.get("text") or "" for part in message["content"] if part.get("type") == "text")
    if not text:  # an answer that was asked for as the input of a tool
        text = "".join(to_json(part["input"]) for part in message["content"] if part.get("type") == "tool_use" and part.get("input"))
    stop = message.get("stop_reason")
    shared: dict[str, Any] = {
        "place": location,
        "item": name,
        "fields": {"custom_id": name},
        "who": _name_judge("anthropic", message.get("model")),
    }
    refusal = "refusal" if stop == "refusal" else None
    return ExternalScore(**shared, reply=text, finish_reason=stop, refusal=refusal)


def _read_gemini(location: str, row: Mapping[str, Any]) -> ExternalScore:
    """A line of Gemini's batches: the text of the first candidate, without its thoughts."""
    name, response = row["key"], row.get("response") or {}
    if row.get("error") or not response:
        return _read_unanswered(location, name, 400, {"error": row.get("error")})
    shared: dict[str, Any] = {
        "place": location,
        "item": name,
        "fields": {"key": name},
        "who": _name_judge("google", response.get("modelVersion")),
    }
    blocked = (response.get("promptFeedback") or {}).get("blockReason")
    candidate: Mapping[str, Any] = next(iter(response.get("candidates") or ()), {})
    parts = (candidate.get("content") or {}).get("parts") or ()
    text = "".join(part.get("text") or "" for part in parts if not part.get("thought"))
    calls = "".join(to_json(part["functionCall"].get("args") or {}) for part in parts if part.get("functionCall"))
    return ExternalScore(**shared, reply=text or calls, finish_reason=candidate.get("finishReason"), refusal=blocked)


def _name_judge(provider: str, model: Any) -> str | None:
    return f"{provider}/{model}" if isinstance(model, str) and model else None


def _make_reader(kind: str) -> Reader:
    return Reader(is_line=lambda row: kind_of(row) == kind, read_lines=lambda rows, _: read_batch(kind, rows), joins_files=True)


READERS = {
    DECISIONS: Reader(is_line=is_record, read_lines=lambda rows, _: read_decision_records(rows)),
    **{kind: _make_reader(kind) for kind in (OPENAI, ANTHROPIC, GEMINI)},
}
