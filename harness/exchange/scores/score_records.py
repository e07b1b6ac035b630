"""Reads score records: a list of objects or a table. The names of fields are those of a program, from presets.toml, or the user's.

Traces of one session of a tracking platform become one conversation, with the scores of the session and of its turns. A trace is one turn:
what the user wrote and what the program answered. A score of a trace is about the conversation up to this turn, and its item has the
trace's id. A score of the session is about the whole conversation, and its item has the session's id.

MLflow has whole texts in the spans of a trace alone; its previews end after a thousand characters. Langfuse 5 has observations and scores
apart: one object with both, `{"observations": …, "scores": …}`, holds the two answers of its interface.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from harness.content.tags import suggest
from harness.conversations import ASSISTANT, Turn, transcript, turn_of
from harness.errors import ContentError, UsageError
from harness.exchange.labels.cell_scores import is_blank, probability_class
from harness.exchange.labels.source_table import SourceTable, flat
from harness.exchange.scores.external_scores import ExternalScore, ExternalScores, Reader, ReadOptions, Rows, joined_ids
from harness.exchange.scores.failed_calls import failure_in_reason
from harness.model import Failure
from harness.parse.probabilities import SUM_TOLERANCE
from harness.text import quoted

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


_USUAL_TEXTS = ("input", "prompt", "source", "passage", "output", "response", "text", "output_a", "output_b")

TABLE = "table"
_PRESETS = Path(__file__).with_name("presets.toml")
_NO_FIELDS = ("each", "people", "quoted", "who_first", "sessions")  # attributes that name no field of a record
# What programs write beside records that no longer count, in any style of key; a moment says it too (`deleted_at`).
_EXCLUDED = frozenset(
    f"{prefix}{word}{suffix}"
    for word in (
        "archived",
        "cancelled",
        "canceled",
        "deleted",
        "disabled",
        "discarded",
        "excluded",
        "invalidated",
        "skipped",
        "superseded",
    )
    for prefix, suffix in (("", ""), ("is", ""), ("was", ""), ("", "at"))
)
_COUNTED = frozenset(("valid", "isvalid"))
_STATES, _ENDED = ("status", "state"), ("archived", "deleted", "discarded", "excluded", "invalidated", "superseded")


def listed(content: Any) -> Any:
    """A JSON value with its records in a list: one trace of MLflow (`trace.to_json()`) or of Langfuse, a data frame by columns."""
    if not isinstance(content, dict):
        return content
    about = content.get("info")
    if isinstance(about, dict) and "trace_id" in about:
        return {"traces": [content]}
    if isinstance(content.get("scores"), list) and "id" in content:
        return {"data": [content]}
    if content.keys() >= {"observations", "scores"}:  # two answers of Langfuse: no columns, although both have the same keys
        return content
    # A data frame may be saved column by column, as `DataFrame.to_json` does by default.
    columns = list(content.values())
    if len(columns) > 1 and all(isinstance(column, dict) and column and column.keys() == columns[0].keys() for column in columns):
        return [{name: column[row] for name, column in content.items()} for row in columns[0]]
    return content


def _with_lists(rows: Sequence[Mapping[str, Any]], columns: Iterable[str]) -> list[dict[str, Any]]:
    """The rows of a table, with the lists of objects in some columns that a CSV file holds as text: JSON, or as Python writes them."""
    return [{**row, **{name: _parse_nested(row[name]) for name in columns if name in row}} for row in rows]


def _parse_nested(value: Any) -> Any:
    if not isinstance(value, str) or not value.startswith("[{"):
        return value
    try:
        return msgspec.json.decode(value) if value.startswith('[{"') else ast.literal_eval(value)
    except (msgspec.DecodeError, ValueError, SyntaxError, MemoryError, RecursionError):
        return value


def records_in(content: Any, names: RecordNames, location: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return `(place, fields)` of every record. Raises ContentError where there is none."""
    steps = names.each[1:] if isinstance(content, list) else names.each
    head = names.each[0] if names.each and isinstance(content, list) else ""
    if not isinstance(content, list) and not steps:
        paths: list[list[str]] = []  # of the lists of objects in a JSON object
        for name, value in content.items() if isinstance(content, dict) else ():
            if isinstance(value, list) and value and isinstance(value[0], dict):
                inner = [key for key, below in value[0].items() if isinstance(below, list) and below and isinstance(below[0], dict)]
                paths += [[name, key] for key in inner] or [[name]]
        lists = ""
        if paths:  # how to name them to a reader that does not know the program
            listed_paths = ", ".join("".join(f"{'.' if depth else ''}{step}[]" for depth, step in enumerate(path)) for path in paths)
            example = msgspec.json.encode(paths[0]).decode()
            lists = (
                f"; the file has the lists {listed_paths}: name the one of the scores in --map FILE.toml, under [records], "
                f"such as each = {example}"
            )
        raise ContentError(f"a list of records is expected{lists}", location)
    numbered = _walk(content, steps, head, {})
    return ((f"{location}:record {number}", fields) for number, fields in enumerate(numbered, start=1))


def _walk(node: Any, steps: Sequence[str], head: str, around: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if isinstance(node, list):
        for element in node:
            yield from _walk(element, steps, head, around)
        return
    if not isinstance(node, dict):
        return
    fields = flat(node)
    if not steps:
        yield {**around, **fields}
        return
    around = {**around, **{f"{head}.{name}" if head else name: value for name, value in fields.items() if not isinstance(value, list)}}
    yield from _walk(member(node, steps[0]) or [], steps[1:], steps[0].rpartition(".")[2], around)


def read_records(path: Path, rows: Sequence[tuple[str, Mapping[str, Any]]], names: RecordNames, options: ReadOptions) -> ExternalScores:
    """Read `(place, fields)` records. Raises ContentError if none has the named fields, or if every one is left out."""
    if not rows:
        raise ContentError("no records", path)
    fields = dict.fromkeys(name for _, row in rows for name in row)
    names, wide = names.spelt_as_in(fields), options.wide_metrics
    counting = msgspec.structs.replace(names, value=(*names.value, *wide))
    reasons = [counting.exclusion(row) for _, row in rows]
    notes = [f"{count} {reason} left out" for reason, count in Counter(filter(None, reasons)).items()]
    counted = [row for row, reason in zip(rows, reasons, strict=True) if reason is None]
    if not counted:
        raise ContentError(f"no record counts: {'; '.join(notes)}", path)
    _require_fields(names, fields, options, counted[0][0])
    if names.quoted:
        counted = [(location, {**row, **_unquote_texts(row, names)}) for location, row in counted]
    ids = joined_ids([row for _, row in counted], names.id_from) if names.id_from else [_find_first(row, names.item) for _, row in counted]
    states_scorer = not {*names.who, *names.annotator}.isdisjoint(fields)  # whether records say who scored
    scores: list[ExternalScore] = []
    probabilities = _find_probability_columns(fields)
    for (location, row), item in zip(counted, ids, strict=True):
        said = (names.kind, *names.who, *names.annotator, *(wide or names.value), names.error)
        if states_scorer and all(is_blank(row.get(name)) for name in said):
            scores.append(ExternalScore(place=location, item=item, fields=row, unlabelled=True))
            continue
        for metric in wide or (None,):
            about = names if metric is None else msgspec.structs.replace(names, value=(metric,), explanation=f"{metric}_reason", error="")
            kind = row.get(about.kind)
            human = (
                same_value(kind, about.people)
                if not is_blank(kind)
                else _find_first(row, about.who) is None and bool(_find_first(row, about.annotator))
            )
            value, error = _find_first(row, about.value), row.get(about.error)
            if any(same_value(row.get(name), expected) for name, expected in about.truth.items()):
                value = _read_truth(row, about)
            if any(same_value(row.get(name), expected) for name, expected in about.unread.items()):
                error = error or Failure.NOT_JSON
            judge = _find_first(row, about.who)
            if about.who_first and isinstance(judge, list) and judge:
                judge = judge[0]
            reason = _join_text(row.get(about.explanation))
            failure = _read_failure(value, error)
            if failure is None and not human and reason and _is_false(value):  # programs keep a 0 where the judge gave nothing
                failure = failure_in_reason(reason)
            score = ExternalScore(
                place=location,
                item=item,
                fields=row,
                metric=_join_text(_find_first(row, about.metrics)),
                value=value,
                failure=failure,
                justification=reason,
                who=_join_text((_find_first(row, about.annotator) or judge) if human else judge),
                human=human,
                repeat=row.get(about.repeat),
                variant=_join_text(row.get(about.variant)),
                temperature=row.get(about.temperature),
            )
            if probabilities and is_blank(score.value) and not score.human:
                # A cell that is no number stays as it is, and is then no probability.
                probs = {name: _number(row.get(column)) for name, column in probabilities.items()}
                percentages = [p for p in probs.values() if isinstance(p, (int, float))]
                if len(percentages) == len(probs) and max(percentages) > 1 and abs(sum(percentages) / 100 - 1) <= SUM_TOLERANCE:
                    probs = {name: p / 100 for name, p in probs.items()}
                decision = {"probs": probs}
                score = msgspec.structs.replace(score, decision=decision, failure=_read_failure(1, row.get(names.error)))
            scores.append(score if metric is None else msgspec.structs.replace(score, metric=metric))
    all_fields = {name for _, row in counted for name in row}
    texts = names.texts or {name: name for name in _USUAL_TEXTS if name in all_fields - names.about_score}
    return ExternalScores("records", scores, notes, texts, "items.session" if names.sessions else None)


def _require_fields(names: RecordNames, fields: Collection[str], options: ReadOptions, location: str) -> None:
    """Raise ContentError if no record has an id, or a score."""
    listed_fields = ", ".join(sorted(fields)[:30])
    if names.id_from and not set(names.id_from) <= set(fields):
        missing = quoted(name for name in names.id_from if name not in fields)
        raise ContentError(f"no field {missing}; the fields are: {listed_fields}", location)
    if names.item and not (names.id_from or options.item_from or set(names.item) & set(fields)):
        expected = " or ".join(names.item)
        raise ContentError(
            f"no field for the item: {expected} is expected; the fields are: {listed_fields}; --item-from names the field of the id, or "
            "several fields, separated by commas",
            location,
        )
    wanted = {*(options.wide_metrics or names.value), names.error}
    if wanted.isdisjoint(fields) and not _find_probability_columns(fields):
        raise ContentError(
            f"no field for the score: {' or '.join(options.wide_metrics or names.value)} is expected; the fields are: {listed_fields}; "
            "--wide-metrics names columns that hold the scores of one metric each",
            location,
        )


def _find_probability_columns(fields: Iterable[str]) -> dict[str, str]:
    """Return the columns that hold the probability of a class, such as `p_pass` and `p_fail`, by class; none without two of them."""
    named = {name: probability_class(name) for name in fields}
    columns = {of_class[1]: name for name, of_class in named.items() if of_class is not None and not of_class[0]}
    return columns if len(columns) > 1 else {}


def _number(cell: Any) -> Any:
    try:
        return float(cell.strip().removesuffix("%")) if isinstance(cell, str) else cell
    except ValueError:
        return cell


def _unquote_texts(row: Mapping[str, Any], names: RecordNames) -> dict[str, Any]:
    """The texts of a record that are one JSON text, without its quotation marks."""
    texts: dict[str, Any] = {}
    for field in names.texts.values():
        if isinstance(row.get(field), str) and row[field][:1] == '"':
            with suppress(msgspec.DecodeError):
                texts[field] = msgspec.json.decode(row[field], type=str)
    return texts


def _read_truth(row: Mapping[str, Any], names: RecordNames) -> Any:
    """The truth value of a record that writes it as a number or a word; another value stays as it is."""
    values = [row[name] for name in names.value if not is_blank(row.get(name))]
    for truth in (True, False):
        if any(same_value(value, [int(truth), str(truth)]) or value is truth for value in values):
            return truth
    return values[0] if values else None


def _find_first(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((row[name] for name in names if not is_blank(row.get(name))), None)


def _read_failure(value: Any, error: Any) -> Failure | None:
    """A named failure counts as it is; any other error is a reply that could not be read."""
    if not (is_blank(error) or same_value(error, [False, "none", "null", "nan"])):
        text = str(error).strip().casefold()
        return Failure(text) if text in {kind.value for kind in Failure} else Failure.NOT_JSON
    return Failure.MISSING if is_blank(value) or value != value else None


def _join_text(value: Any) -> str | None:
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return "+".join(value)  # a jury, as in a log of Inspect
    return None if is_blank(value) else str(value)


def _read_json(path: Path, content: Any, options: ReadOptions) -> ExternalScores:
    content = listed(content)
    names = _names(options, content)
    content, notes = items_of_sessions(content, names.sessions) if names.sessions else (content, [])
    scores = read_records(path, list(records_in(content, names, str(path))), names, options)
    return msgspec.structs.replace(scores, notes=[*scores.notes, *notes])


def _read_lines(rows: Rows, options: ReadOptions) -> ExternalScores:
    names = _names(options, [row for _, _, row in rows[:1]])
    if names.sessions:
        return _read_json(rows[0][0], [row for _, _, row in rows], options)
    flattened = [record for path, number, row in rows for record in records_in([row], names, f"{path}:{number}")]
    return read_records(rows[0][0], flattened, names, options)


def _read_table(path: Path, table: SourceTable, options: ReadOptions) -> ExternalScores:
    if {"Named Scores", "Grader Reason"} <= set(table.columns):
        raise ContentError("promptfoo's table has means of assertions and no failures; import its JSON file (-o results.json)", path)
    cells = [record.cells for record in table.records]
    names = _names(options, _with_lists(cells[:1], {name for preset in presets().values() for name in preset.each[1:]}))
    rows = _with_lists(cells, names.each[1:]) if names.each else cells
    placed = [(record.place(), row) for record, row in zip(table.records, rows, strict=True)]
    flattened = [record for location, row in placed for record in records_in([row], names, location)] if names.each else placed
    return read_records(path, flattened, names, options)


def _names(options: ReadOptions, content: Any) -> RecordNames:
    """The names of the preset that is given or fits, with those that the user gives."""
    names = preset(options.preset or preset_of(content) or TABLE)
    changes = {name: value for name, value in options.names.items() if value}
    return msgspec.structs.replace(names, **({"id_from": ()} if "item" in changes else {}), **changes)


READERS = {"records": Reader(read_json=_read_json, read_lines=_read_lines, read_table=_read_table, persistent=True)}


class RecordNames(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of the parts of a score in a record; nested keys are joined by dots, and `traceId` is found as `trace_id` too.

    Attributes:
        each: the lists that lead to the records; what stands around a record has the name of its list in front.
        item, metric, value, who, annotator: names; the first that a record has counts.
        id_from: names whose values together are the item's id; they replace `item`.
        explanation, repeat, variant, temperature: names.
        error: the name of what says why there is no score.
        kind, people: the name of the kind of source, and its values that mean a person.
        annotator: names of a person. A record that names no kind and no judge is this person's.
        who_first: whether a list names the judge first, and then how it was asked.
        skip: `{name: value}` of records that do not count.
        unread: `{name: value}` of records whose score stands for a reply that could not be read.
        truth: `{name: value}` of records whose value is a truth value, written as a number or a word.
        texts: texts of the items, by our name.
        quoted: whether these texts are JSON, so that a plain text stands in quotation marks.
        sessions: the program whose traces become conversations first (`items_of_sessions`); empty: none.
    """

    item: tuple[str, ...] = ()
    id_from: tuple[str, ...] = ()
    metric: str | tuple[str, ...] = "metric"
    value: tuple[str, ...] = ("score", "value")
    each: tuple[str, ...] = ()
    explanation: str = ""
    who: tuple[str, ...] = ()
    annotator: tuple[str, ...] = ()
    who_first: bool = False
    kind: str = ""
    people: tuple[str, ...] = ()
    error: str = ""
    repeat: str = ""
    variant: str = ""
    temperature: str = ""
    skip: dict[str, Any] = {}
    unread: dict[str, Any] = {}
    truth: dict[str, Any] = {}
    texts: dict[str, str] = {}
    quoted: bool = False
    sessions: str = ""

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metric's field; the first that a record has counts."""
        return (self.metric,) if isinstance(self.metric, str) else self.metric

    @property
    def about_score(self) -> frozenset[str]:
        """The names of fields that are about the score, not about the item."""
        return frozenset((*self.metrics, self.explanation, self.kind, self.error, *self.value, *self.who, *self.annotator))

    def spelt_as_in(self, fields: Iterable[str]) -> RecordNames:
        """Return the names as a file spells them: exports write `trace_id` where the same program's interface has `traceId`."""
        spellings = {name: name for name in fields}
        by_folded = {_fold_name(name): name for name in reversed(spellings)}

        def spelt(name: str) -> str:
            return spellings.get(name) or by_folded.get(_fold_name(name), name)

        changes: dict[str, Any] = {}
        for attribute, value in msgspec.structs.asdict(self).items():
            if attribute in _NO_FIELDS:
                continue
            if isinstance(value, dict):
                texts = attribute == "texts"
                changes[attribute] = {key if texts else spelt(key): spelt(label) if texts else label for key, label in value.items()}
            else:
                changes[attribute] = spelt(value) if isinstance(value, str) else tuple(map(spelt, value))
        return msgspec.structs.replace(self, **changes)

    def fits(self, content: Any) -> bool:
        """Return whether a JSON file has these names: by its lists, else by the fields of its first record. Sessions are asked for."""
        if self.sessions:
            return False
        first, *inner = self.each or ("",)
        rows = member(content, first) if isinstance(content, dict) else content
        if not (isinstance(rows, list) and rows and isinstance(rows[0], dict)):
            return False
        if isinstance(content, dict) and inner:
            return any(isinstance(member(row, inner[0]), list) for row in rows)
        fields = {_fold_name(name) for name in flat(rows[0])}
        if inner:
            items = (name.removeprefix(f"{first}.") for name in self.item)
            return isinstance(member(rows[0], inner[0]), list) and any(_fold_name(name) in fields for name in items)
        if self.id_from:
            return all(_fold_name(name) in fields for name in (*self.id_from, self.explanation, *self.who))
        alternatives = (self.metrics, (self.kind,), self.item)
        return bool(self.kind) and all(any(_fold_name(name) in fields for name in names) for names in alternatives)

    def exclusion(self, row: Mapping[str, Any]) -> str | None:
        """Return why a record does not count for the program that wrote it; None if it counts."""
        for name, skipped in self.skip.items():
            if name in row and same_value(row[name], skipped):
                return f"records with '{name}' {_format_value(row[name])}"
        levels = {"", *(step.rpartition(".")[2] for step in self.each)}  # of the record and what stands around it, not of the item's data
        for name, value in row.items():
            level, _, key = name.rpartition(".")
            if is_blank(value) or level not in levels or name in self.about_score:
                continue
            if (
                (_fold_name(key) in _EXCLUDED and not _is_false(value))
                or (_fold_name(key) in _COUNTED and _is_false(value))
                or (_fold_name(key) in _STATES and str(value).strip().casefold() in _ENDED)
            ):
                return f"records with '{name}' {_format_value(value)}"
        return None


def same_value(value: Any, expected: Any) -> bool:
    """Return whether a cell has a value, or one of a list of values; tables write numbers and truth values as text.

    >>> same_value("False", False), same_value("-1.0", -1), same_value(1, True), same_value("draft", ["draft", "deleted"])
    (True, True, False, True)
    """
    if isinstance(expected, (list, tuple)):
        return any(same_value(value, one_of) for one_of in expected)
    if isinstance(expected, (int, float)) and not isinstance(expected, bool):
        try:
            return not isinstance(value, bool) and float(value) == expected
        except (TypeError, ValueError, OverflowError):
            return False
    return not is_blank(value) and str(value).strip().casefold() == str(expected).casefold()


def _is_false(value: Any) -> bool:
    return same_value(value, [False, "no", "n", 0, "none", "null", "nan"]) or value == []


def _format_value(value: Any) -> str:
    return str(value).strip().casefold()[:40]


def _fold_name(name: str) -> str:
    """Return a field's name without its style.

    >>> _fold_name("data.trace_id") == _fold_name("data.traceId")
    True
    """
    return name.replace("_", "").casefold()


def member(node: Any, path: str) -> Any:
    """Return the member at a path of keys, in any style of key; None if there is none."""
    for key in path.split("."):
        if not isinstance(node, dict):
            return None
        node = node[key] if key in node else next((value for name, value in node.items() if _fold_name(name) == _fold_name(key)), None)
    return node


@cache
def presets() -> dict[str, RecordNames]:
    """Return the presets by name."""
    return msgspec.toml.decode(_PRESETS.read_bytes(), type=dict[str, RecordNames])


def preset(name: str) -> RecordNames:
    """Return the preset of a name. Raises UsageError for another name."""
    if name not in presets():
        raise UsageError(f"no preset '{name}'.{suggest(name, presets())} Choose from: {', '.join(presets())}")
    return presets()[name]


def preset_of(content: Any) -> str | None:
    """Return the first preset that fits a JSON file; None if there is none."""
    return next((name for name, names in presets().items() if names.fits(content)), None)
