"""Sessions of tracking platforms: the traces of one session become one conversation, with the scores of the session and of its turns.

A trace is one turn: what the user wrote and what the program answered. A score of a trace is about the conversation up to this turn, and
its item has the trace's id. A score of the session is about the whole conversation, and its item has the session's id.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from harness.conversations import ASSISTANT, Turn, transcript, turn_of
from harness.errors import UsageError

_MLFLOW_SESSION = "mlflow.trace.session"
_QUESTIONS = ("messages", "input", "inputs", "question", "query", "prompt", "message", "text", "content")
_ANSWERS = ("choices", "output", "outputs", "answer", "response", "message", "messages", "text", "content")


def with_conversations(content: Any, program: str) -> dict[str, Any]:
    """Return the content of a file of MLflow or Langfuse with an item for each turn and session: its id, conversation and scores.

    Raises UsageError where no trace belongs to a session.
    """
    traces = list(_mlflow_traces(content) if program == "mlflow" else _langfuse_traces(content))
    by_session: dict[str, list[_Trace]] = {}
    for trace in traces:
        if trace.session:
            by_session.setdefault(trace.session, []).append(trace)
    if not by_session:
        raise UsageError(f"no trace of this file belongs to a session; leave out --preset {program}-sessions")
    items: list[dict[str, Any]] = []
    for session, of_session in by_session.items():
        turns: list[Turn] = []
        of_whole: list[Any] = []
        about: dict[str, Any] = {}
        for trace in sorted(of_session, key=lambda trace: trace.time):
            asked, answered = _turns(trace.question, "user", _QUESTIONS), _turns(trace.answer, ASSISTANT, _ANSWERS)
            new = [turn for turn in asked if turn.role == "system" and not turns] + [turn for turn in asked if turn.role != "system"][-1:]
            turns += [*new, *answered[-1:]]
            about = {**about, **trace.about}
            items.append({**trace.about, "id": trace.name, "session": session, "messages": transcript(turns), "scores": trace.scores})
            of_whole += trace.session_scores
        items.append({**about, "id": session, "session": session, "messages": transcript(turns), "scores": of_whole})
    return {"items": items}


class _Trace(msgspec.Struct, frozen=True):
    """One turn. `scores` are about it, `session_scores` about its session; `about` are further facts, such as its tags."""

    name: str
    session: str
    time: str
    question: Any
    answer: Any
    scores: Sequence[Any]
    session_scores: Sequence[Any]
    about: Mapping[str, Any]


def _mlflow_traces(content: Any) -> Iterator[_Trace]:
    for trace in _listed(content, "traces"):
        info: dict[str, Any] = trace["info"] if isinstance(trace.get("info"), dict) else trace
        places = [info.get(name) or {} for name in ("trace_metadata", "request_metadata", "metadata", "tags")]
        data = trace.get("data") or {}
        scores = [score for score in info.get("assessments") or () if isinstance(score, dict)]
        of_session = [score for score in scores if _MLFLOW_SESSION in (score.get("metadata") or {})]
        yield _Trace(
            name=str(info.get("trace_id") or info.get("request_id") or ""),
            session=str(next((place[_MLFLOW_SESSION] for place in places if place.get(_MLFLOW_SESSION)), "")),
            time=str(info.get("request_time") or info.get("timestamp_ms") or ""),
            question=data.get("request") or info.get("request") or info.get("request_preview"),
            answer=data.get("response") or info.get("response") or info.get("response_preview"),
            scores=[score for score in scores if score not in of_session],
            session_scores=of_session,
            about={"tags": {name: value for name, value in (info.get("tags") or {}).items() if not name.startswith("mlflow.")}},
        )


def _langfuse_traces(content: Any) -> Iterator[_Trace]:
    for entry in _listed(content, "data"):
        is_session = isinstance(entry.get("traces"), list)
        for number, trace in enumerate(entry["traces"] if is_session else [entry]):
            scores = [score for score in trace.get("scores") or () if isinstance(score, dict)]
            of_session = [score for score in scores if score.get("sessionId") and not score.get("traceId")]
            yield _Trace(
                name=str(trace.get("id") or ""),
                session=str(trace.get("sessionId") or (entry.get("id") if is_session else "") or ""),
                time=str(trace.get("timestamp") or trace.get("createdAt") or ""),
                question=trace.get("input"),
                answer=trace.get("output"),
                scores=[score for score in scores if score not in of_session],
                session_scores=[*of_session, *((entry.get("scores") or ()) if is_session and number == 0 else ())],
                about={name: trace[name] for name in ("metadata", "tags") if trace.get(name)},
            )


def _listed(content: Any, name: str) -> list[dict[str, Any]]:
    rows = content.get(name, [content]) if isinstance(content, dict) else content
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _turns(value: Any, role: str, names: Sequence[str]) -> list[Turn]:
    """Return what a request or a response says as turns: messages, or a text, alone or under a usual name; text that is JSON is read."""
    if isinstance(value, str):
        with suppress(msgspec.DecodeError):
            value = msgspec.json.decode(value) if value[:1] in ("{", "[", '"') else value
    if isinstance(value, str):
        return [Turn(role, value.strip())] if value.strip() else []
    if isinstance(value, list):
        turns = [turn_of(message) for message in value]
        if turns and None not in turns:
            return [turn for turn in turns if turn is not None]
        return [turn for part in value for turn in _turns(part, role, names)]
    if not isinstance(value, dict):
        return []
    if (turn := turn_of(value)) is not None:
        return [turn]
    found = next((value[name] for name in names if value.get(name)), None)
    if found is None and len(value) == 1:
        found = next(iter(value.values()))
    return _turns(found, role, names)
