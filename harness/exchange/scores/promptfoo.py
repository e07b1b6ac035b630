"""Reads results of promptfoo (`-o FILE.json` or `.jsonl`): the model-graded assertions of every result.

A result's own `score` is a mean over all assertions and is not read. promptfoo writes 0 for a grader's reply that it could not read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from harness.errors import ContentError
from harness.exchange.labels.source_table import flat
from harness.exchange.scores.external_scores import (
    ExternalScore,
    ExternalScores,
    Reader,
    ReadOptions,
    answers_by_name,
    question_names,
    read_our_metadata,
)
from harness.exchange.scores.failed_calls import failure_in_reason
from harness.model import Failure
from harness.row_files import to_json

HUMAN = "human"
_MODEL_GRADED = (
    *("llm-rubric", "g-eval", "factuality", "model-graded-factuality", "model-graded-closedqa", "answer-relevance", "select-best"),
    *("context-faithfulness", "context-recall", "context-relevance", "conversation-relevance", "pi", "search-rubric", "agent-rubric"),
)
_TEXTS = {"output": "response.output"}
_DECISIONS = re.compile(r"\w+:decisions(:|$)")


def is_result(row: Any) -> bool:
    """Return whether an object is one result."""
    return isinstance(row, dict) and "gradingResult" in row and "promptIdx" in row


def results_in(content: Any) -> list[Any] | None:
    """The results of a whole file; None if it is not of promptfoo."""
    inner = content.get("results") if isinstance(content, dict) else None
    rows = inner.get("results") if isinstance(inner, dict) else None
    return rows if isinstance(rows, list) and all(map(is_result, rows)) else None


def read_results(path: Path, rows: Iterable[tuple[str, Any]]) -> ExternalScores:
    """Read `(place, result)` pairs. Raises ContentError for a result of another form, and if no assertion was graded by a model."""
    scores: list[ExternalScore] = []
    left_out: Counter[str] = Counter()
    repeats: Counter[str] = Counter()
    results = list(rows)
    read_texts: dict[str, str] = {}
    several = len({(_label(row), str(row.get("promptIdx"))) for _, row in results}) > 1
    for location, row in results:
        try:
            case = row.get("testCase") or {}
            output = (row.get("response") or {}).get("output")
            metadata = row.get("metadata") or case.get("metadata") or {}
            nested = {"vars": row.get("vars") or {}, "metadata": metadata, "provider": row.get("provider") or {}}
            text = output if output is None or isinstance(output, str) else to_json(output)
            fields = {**flat(nested), "description": case.get("description"), "testIdx": row.get("testIdx"), "response.output": text}
            key = to_json([row.get("vars"), row.get("promptIdx"), _label(row), row.get("testIdx") if not row.get("vars") else None])
            graded = row.get("gradingResult") or {}
            components = graded.get("componentResults") or []
            shared = {"place": location, "item": _read_item_id(row, fields, several), "fields": fields}
            if decided := list(_read_decisions(shared | {"item": _read_item_id(row, fields, several=False)}, row, repeats[key])):
                scores += decided
                read_texts = {name: f"vars.{name}" for name in row.get("vars") or {}}
                repeats[key] += 1
                continue
            if not components:
                left_out["results without an assertion (the model under test failed)"] += 1
                continue
            scores += _read_result(shared, row, repeats[key], components, left_out)
            repeats[key] += 1
        except (AttributeError, TypeError, KeyError):
            raise ContentError("the result does not have promptfoo's form", location) from None
    if not scores:
        raise ContentError("no assertion was graded by a model or a person; there is nothing to import", path)
    texts = read_texts if len(read_texts) != 1 else {"output": next(iter(read_texts.values()))}  # what decision models read
    return ExternalScores("promptfoo", scores, [f"{count} {what} left out" for what, count in left_out.items()], texts or _TEXTS)


def _label(row: Mapping[str, Any]) -> str:
    provider = row.get("provider")
    return str(provider.get("label") or provider.get("id") or "") if isinstance(provider, dict) else str(provider or "")


def _read_item_id(row: Mapping[str, Any], fields: Mapping[str, Any], several: bool) -> str | None:
    """The usual id of the item; answers of several providers or prompts are several texts."""
    identity = next((fields[name] for name in ("vars.item_id", "metadata.item_id", "description") if fields.get(name)), None)
    if identity is None or not several:
        return None if identity is None else str(identity)
    return f"{identity}@{_label(row)}#{row.get('promptIdx')}"


def _read_decisions(shared: Mapping[str, Any], row: Mapping[str, Any], repeat: int) -> Iterator[ExternalScore]:
    """Yield the answers of a decision model that was the model under test: it judged the text of the test."""
    provider = row.get("provider")
    identity = str((provider.get("id") if isinstance(provider, dict) else provider) or "")
    if not _DECISIONS.match(identity):
        return
    output = (row.get("response") or {}).get("output")
    try:
        body = msgspec.json.decode(output) if isinstance(output, str) else output
    except msgspec.DecodeError:
        return
    answers = body.get("answers") if isinstance(body, dict) else None
    names = question_names(answers)
    judge = "/".join(part for part in identity.split(":")[1:] if part)
    for name, answer in answers_by_name(answers, names).items():
        yield ExternalScore(**shared, metric=name, decision=answer, who=judge, repeat=repeat)


def _read_result(
    shared: Mapping[str, Any], row: Mapping[str, Any], repeat: int, components: Iterable[Mapping[str, Any]], left_out: Counter[str]
) -> Iterator[ExternalScore]:
    for component in components:
        assertion = component.get("assertion") or {}
        kind = str(assertion.get("type") or "").removeprefix("not-")
        score_fields: dict[str, Any] = {**shared, "value": component.get("score"), "passed": component.get("pass")}
        if kind == HUMAN:
            comment = component.get("comment")
            yield ExternalScore(**score_fields, metric=HUMAN, who="viewer", human=True, blind=False, justification=comment)
        elif recorded := read_our_metadata(component.get("metadata")):
            yield ExternalScore(**(score_fields | recorded), repeat=repeat)
        elif kind in _MODEL_GRADED:
            reason = component.get("reason")
            options = (row.get("testCase") or {}).get("options") or {}
            provider = assertion.get("provider") or options.get("provider")
            identity = provider.get("id") if isinstance(provider, dict) else provider
            who = None  # the judge is `openai/gpt-4o` for `openai:chat:gpt-4o`
            if isinstance(identity, str) and identity:
                who = "/".join(part for part in identity.split(":") if part not in ("chat", "completion", "responses", "messages"))
            yield ExternalScore(
                **score_fields,
                metric=str(assertion.get("metric") or assertion["type"]),
                failure=_read_failure(component, str(reason or "")),
                justification=reason,
                who=who,
                repeat=repeat,
            )
        else:
            left_out[f"assertions of type '{kind}', which no model graded,"] += 1


def _read_failure(component: Mapping[str, Any], reason: str) -> Failure | None:
    """The failure of a grader. promptfoo writes 0 and does not pass for it, so a score that was given is never one."""
    metadata = component.get("metadata") or {}
    if not metadata.get("graderError") and (component.get("score") or component.get("pass")):
        return None
    failure = failure_in_reason(reason)
    if failure is Failure.NOT_JSON:
        return failure
    return Failure.MISSING if metadata.get("graderError") or (failure and "renderedGradingPrompt" not in metadata) else None


def _read_json(path: Path, content: Any, _: ReadOptions) -> ExternalScores:
    results = results_in(content)
    if results is None:
        raise ContentError("not results of promptfoo, which has results.results[] with a gradingResult each", path)
    return read_results(path, [(f"{path}:result {number}", row) for number, row in enumerate(results, start=1)])


READERS = {
    "promptfoo": Reader(
        is_json=lambda content: results_in(content) is not None,
        read_json=_read_json,
        is_line=is_result,
        read_lines=lambda rows, _: read_results(rows[0][0], [(f"{path}:{number}", row) for path, number, row in rows]),
    )
}
