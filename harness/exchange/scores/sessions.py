"""Sessions of tracking platforms: the traces of one session become one conversation, with the scores of the session and of its turns.

A trace is one turn: what the user wrote and what the program answered. A score of a trace is about the conversation up to this turn, and
its item has the trace's id. A score of the session is about the whole conversation, and its item has the session's id.

MLflow has whole texts in the spans of a trace alone; its previews end after a thousand characters. Langfuse 5 has observations and scores
apart: one object with both, `{"observations": …, "scores": …}`, holds the two answers of its interface.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from harness.conversations import ASSISTANT, Turn, transcript, turn_of
from harness.errors import UsageError

_MLFLOW_SESSION = "mlflow.trace.session"
_PREVIEW = 1000  # characters of a preview in MLflow, three of them dots where it was cut
_QUESTIONS = ("messages", "input", "inputs", "question", "query", "prompt", "message", "text", "content")
_ANSWERS = ("choices", "output", "outputs", "answer", "response", "message", "messages", "text", "content")


def items_of_sessions(content: Any, program: str) -> tuple[dict[str, Any], list[str]]:
    """Return the content of a file of MLflow or Langfuse with an item for each turn and session, and notes on what is left out.

    An item has an id, the session, a conversation and scores. Raises UsageError where no trace belongs to a session.
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
        session_scores: list[Any] = []
        about: dict[str, Any] = {}
        for trace in sorted(of_session, key=lambda trace: trace.time):
            try:
                questions, answers = _turns(trace.question, "user", _QUESTIONS), _turns(trace.answer, ASSISTANT, _ANSWERS)
            except RecursionError:
                raise UsageError(f"the texts of the trace '{trace.name}' are nested too deeply to be read") from None
            turns += [turn for turn in questions if turn.role == "system" and not turns]
            turns += [turn for turn in questions if turn.role != "system"][-1:] + answers[-1:]
            about = {**about, **trace.about}
            items.append({**trace.about, "id": trace.name, "session": session, "messages": transcript(turns), "scores": trace.scores})
            session_scores += trace.session_scores
        items.append({**about, "id": session, "session": session, "messages": transcript(turns), "scores": session_scores})
    alone = sum(len(trace.scores) + len(trace.session_scores) for trace in traces if not trace.session)
    cut = sum(trace.cut for trace in traces if trace.session)
    notes = [f"{alone} scores of traces without a session left out"] if alone else []
    return {"items": items}, notes + ([f"{cut} texts are previews that MLflow cut; export traces with their spans"] if cut else [])


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
    cut: int = 0  # texts that are not whole


def _mlflow_traces(content: Any) -> Iterator[_Trace]:
    for trace in _objects(content.get("traces", [content]) if isinstance(content, dict) else content):
        info = _object(trace.get("info")) or trace
        facts = [_object(info.get(name)) for name in ("trace_metadata", "request_metadata", "metadata", "tags")]
        data, scores = _object(trace.get("data")), _objects(info.get("assessments"))
        session_scores = [score for score in scores if _MLFLOW_SESSION in _object(score.get("metadata"))]
        roots = [span for span in _objects(data.get("spans")) if not (span.get("parent_span_id") or span.get("parent_id"))]
        whole = _object(roots[0].get("attributes")) if roots else {}
        texts = [
            (whole.get(f"mlflow.span{side}"), data.get(name) or info.get(name), info.get(f"{name}_preview"))
            for side, name in (("Inputs", "request"), ("Outputs", "response"))
        ]
        yield _Trace(
            name=str(info.get("trace_id") or info.get("request_id") or ""),
            session=str(next((by_name[_MLFLOW_SESSION] for by_name in facts if by_name.get(_MLFLOW_SESSION)), "")),
            time=str(info.get("request_time") or info.get("timestamp_ms") or ""),
            question=texts[0][0] or texts[0][1] or texts[0][2],
            answer=texts[1][0] or texts[1][1] or texts[1][2],
            scores=[score for score in scores if score not in session_scores],
            session_scores=session_scores,
            about={"tags": {name: value for name, value in _object(info.get("tags")).items() if not name.startswith("mlflow.")}},
            cut=sum(
                not span and not stored and isinstance(preview, str) and len(preview) >= _PREVIEW and preview.endswith("...")
                for span, stored, preview in texts
            ),
        )


def _langfuse_traces(content: Any) -> Iterator[_Trace]:
    if isinstance(content, dict) and "observations" in content:
        yield from _langfuse_observations(_answer(content["observations"]), _answer(content.get("scores")))
        return
    for entry in _objects(content.get("data", [content]) if isinstance(content, dict) else content):
        is_session = isinstance(entry.get("traces"), list)
        for number, trace in enumerate(_objects(entry["traces"]) if is_session else [entry]):
            scores = _objects(trace.get("scores"))
            session_scores = [score for score in scores if score.get("sessionId") and not score.get("traceId")]
            yield _Trace(
                name=str(trace.get("id") or ""),
                session=str(trace.get("sessionId") or (entry.get("id") if is_session else "") or ""),
                time=str(trace.get("timestamp") or trace.get("createdAt") or ""),
                question=trace.get("input"),
                answer=trace.get("output"),
                scores=[score for score in scores if score not in session_scores],
                session_scores=[*session_scores, *(_objects(entry.get("scores")) if is_session and number == 0 else ())],
                about={name: trace[name] for name in ("metadata", "tags") if trace.get(name)},
            )


def _langfuse_observations(observations: list[dict[str, Any]], scores: list[dict[str, Any]]) -> Iterator[_Trace]:
    """Yield the trace of each root, with the scores of the trace or of its root; all other scores belong to no session."""
    about: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for score in scores:
        subject = _object(score.get("subject"))
        about.setdefault((str(subject.get("kind")), str(subject.get("id"))), []).append(score)
    for root in observations:
        if root.get("isRootObservation") or not root.get("parentObservationId"):
            trace, session = str(root.get("traceId") or root.get("id") or ""), str(root.get("sessionId") or "")
            yield _Trace(
                name=trace,
                session=session,
                time=str(root.get("startTime") or ""),
                question=root.get("input"),
                answer=root.get("output"),
                scores=[*about.pop(("trace", trace), []), *about.pop(("observation", str(root.get("id"))), [])],
                session_scores=about.pop(("session", session), []),
                about={name: root[name] for name in ("metadata", "tags") if root.get(name)},
            )
    for of_others in about.values():
        yield _Trace("", "", "", None, None, of_others, (), {})


def _answer(value: Any) -> list[dict[str, Any]]:
    """Return the rows of an answer of the interface: a list, or an object whose `data` is one."""
    return _objects(value.get("data") if isinstance(value, dict) else value)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def _turns(value: Any, role: str, names: Sequence[str]) -> list[Turn]:
    """Return what a request or a response says as turns: messages, or a text, alone or under a usual name; text that is JSON is read."""
    if isinstance(value, str):
        with suppress(msgspec.DecodeError, RecursionError):
            value = msgspec.json.decode(value) if value[:1] in ("{", "[", '"') else value
    if isinstance(value, str):
        value = {"role": role, "content": value} if value.strip() else None
    if isinstance(value, list):
        turns = [turn_of(message) for message in value]
        if turns and None not in turns:
            return [turn for turn in turns if turn is not None]
        return [turn for part in value for turn in _turns(part, role, names)]
    if not isinstance(value, dict):
        return []
    if (turn := turn_of(value)) is not None:
        return [turn]
    part = next((value[name] for name in names if value.get(name)), None)
    if part is None and len(value) == 1:
        part = next(iter(value.values()))
    return _turns(part, role, names)
