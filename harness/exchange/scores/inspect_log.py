"""Reads logs of Inspect: `.eval` (a ZIP of JSON files, compressed with Zstandard or deflate) and `.json`.

A sample has scores by the name of their scorer; the value of one may be a dict of metrics. What people edited keeps its history.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.errors import ContentError
from harness.exchange.labels import source_table as limits
from harness.exchange.labels.records import first_object
from harness.exchange.labels.source_table import flat
from harness.exchange.scores.external_scores import ExternalScore, ExternalScores, Reader, ReadOptions, decode_json, read_our_metadata
from harness.model import Failure
from harness.parse import AnswerRule
from harness.parse.reply import REGEX
from harness.row_files import open_archive

_REASONS = {"refusal": Failure.REFUSED, "no_response": Failure.MISSING, "scoring_failed": Failure.MISSING}
_MOST_EPOCHS = 100_000
_TEXT_SCORERS = frozenset(("match", "includes", "pattern", "answer", "exact", "f1", "choice", "math"))
_UNCHANGED = "UNCHANGED"
_GRADERS = ("model_graded_qa", "model_graded_fact")
_NO_GRADE = "Grade not found in model output: "
# The last grade of a reply counts. A verdict is a letter or a word; formatting and invisible marks may stand beside it.
_SPACING = r"[\s*_`\"'\u200b-\u200f\u2060\ufeff]*"
_GRADE_WORDS = {"C": ("c", "correct"), "P": ("p", "partial", "partially correct"), "I": ("i", "incorrect")}
_GRADE_RULE = AnswerRule(
    rf"{REGEX}:(?is).*\bGRADE\b{_SPACING}:{_SPACING}(\w*)",
    {spelt: grade for grade, words in _GRADE_WORDS.items() for word in words for spelt in (word, word.capitalize(), word.upper())},
)
_DATED = re.compile(r"-\d{4}-?\d{2}-?\d{2}$")
_TEXTS = {"input": "input", "output": "output"}


def is_log(content: Any) -> bool:
    """Return whether the content of a JSON file is a log."""
    return isinstance(content, dict) and isinstance(content.get("eval"), dict) and "version" in content


def _is_reductions(content: Any) -> bool:
    return {"scorer", "samples"} <= first_object(content).keys()


def read_json(path: Path, content: Any, _: ReadOptions) -> ExternalScores:
    """Read a `.json` log. Raises ContentError if it is none."""
    if _is_reductions(content):
        raise ContentError("reductions of Inspect are aggregates, not judgments; import the log itself", path)
    if not is_log(content):
        raise ContentError("not a log of Inspect, which has 'version', 'eval' and 'samples'", path)
    samples = content.get("samples") or []
    if not isinstance(samples, list):
        raise ContentError("'samples' of a log is a list", path)
    return _read_scores(path, content["eval"], ((f"{path}:sample {number}", sample) for number, sample in enumerate(samples, start=1)))


def read_eval(path: Path) -> ExternalScores:
    """Read an `.eval` log, one sample in memory at a time. Raises ContentError if it is none or is damaged."""
    with open_archive(path, limits.MAX_BYTES, ".eval log") as archive:
        if "header.json" not in archive.names:
            raise ContentError("not a finished log of Inspect: header.json is missing", path)
        header = decode_json(archive.read("header.json"), f"{path}:header.json")
        names = (name for name in archive.names if name.startswith("samples/") and name.endswith(".json"))
        samples = ((f"{path}:{name}", decode_json(archive.read(name), f"{path}:{name}")) for name in names)
        # What a log says of the evaluation. Raises ContentError for another form.
        about = header.get("eval") if isinstance(header, dict) else None
        if not isinstance(about, dict):
            raise ContentError("the header of a log has an object 'eval'", f"{path}:header.json")
        return _read_scores(path, about, samples)


def _read_scores(path: Path, about: Mapping[str, Any], samples: Iterator[tuple[str, Any]]) -> ExternalScores:
    # The models that have a role, by role, the grader first.
    stated = about.get("model_roles")
    roles = stated if isinstance(stated, dict) else {}
    models = {role: role_config.get("model") for role, role_config in roles.items() if isinstance(role_config, dict)}
    roles = {
        role: model for role, model in sorted(models.items(), key=lambda pair: pair[0] != "grader") if isinstance(model, str) and model
    }
    scores: list[ExternalScore] = []
    notes: Counter[str] = Counter()
    outputs: dict[Any, list[str]] = {}
    for location, sample in samples:
        try:
            if sample.get("invalidation"):
                notes["samples that somebody invalidated left out"] += 1
                continue
            if not sample.get("scores"):
                notes["samples without a score left out"] += 1
                continue
            scores += _read_sample(location, sample, about, roles, outputs, notes)
        except (AttributeError, TypeError, KeyError, IndexError, ValueError, OverflowError, RecursionError):
            raise ContentError("the sample does not have Inspect's form", location) from None
    if not scores:
        raise ContentError("no sample has a score" + "".join(f"; {count} {what}" for what, count in notes.items()), path)
    return ExternalScores("inspect", scores, [f"{count} {what}" for what, count in notes.items()], _TEXTS)


def _read_sample(
    location: str,
    sample: dict[str, Any],
    about: Mapping[str, Any],
    roles: Mapping[str, str],
    outputs: dict[Any, list[str]],
    notes: Counter[str],
) -> Iterator[ExternalScore]:
    output = str((sample.get("output") or {}).get("completion") or "")
    versions = outputs.setdefault(sample["id"], [])
    if output not in versions:
        versions.append(output)
    changed = versions.index(output)
    epoch = sample.get("epoch", 1)
    if not isinstance(epoch, int) or isinstance(epoch, bool) or not 1 <= epoch <= _MOST_EPOCHS:
        raise ContentError(f"epoch {str(epoch)[:40]} is not a whole number from 1 to {_MOST_EPOCHS:,}", location)
    shared = {
        "place": location,
        "item": f"{sample['id']}@{changed + 1}" if changed else str(sample["id"]),  # another answer in a later epoch is another text
        "repeat": epoch - 1,
        "fields": {
            "id": sample["id"],
            "input": _join_text(sample.get("input")),
            "output": output,
            "target": _join_text(sample.get("target")),
            "model": about.get("model"),
            **flat({"metadata": sample.get("metadata") or {}}),
        },
    }
    models_of = _find_models_of_scorers(sample.get("events"))
    for name, score in sample["scores"].items():
        history = score.get("history") or []
        models = models_of.get(name)
        about_score = score.get("metadata") or {}
        compares_texts = {name, name.rstrip("0123456789")} & _TEXT_SCORERS  # a second scorer of the same name has a number
        if compares_texts and not (_find_last_reply(about_score) or read_our_metadata(about_score)):
            notes[f"scores of '{name}', which a program computed and no model gave, left out"] += 1
            if len(history) > 1:
                yield from _read_edits(shared, name, score, history)
            continue
        original = history[0] if len(history) > 1 else score
        metadata = score.get("metadata") or {}
        reply = _find_last_reply(metadata)
        text, rule = _find_graded_text(name, score, reply, about, several=bool(metadata.get("panel")) or len(models or ()) > 1)
        judge = {
            **shared,
            "who": _name_judge(reply.get("model"), models or (), roles, about, panel=bool(metadata.get("panel"))),
            "reply": text,
            "rule": rule,
            "justification": score.get("explanation"),
        }
        reason = score.get("reason") or metadata.get("unscored_reason")
        if models == () and not metadata:
            notes[f"scores of '{name}', a scorer that asked no model: leave them out with --drop if they are not a judge's"] += 1
        if recorded := read_our_metadata(metadata):
            yield ExternalScore(**(judge | {"reply": None} | recorded))
        for metric, value in () if recorded else _split_values(name, original.get("value")):
            if isinstance(value, list):
                notes["scores that are lists left out"] += 1
                continue
            # NaN and null are no scores; Inspect itself counts a null in a dict as 0.
            if value is None or value != value:
                failure: Failure | None = _REASONS.get(reason or "", Failure.NOT_JSON if reason else Failure.MISSING)
            else:
                failure = None
            several = metric != name  # of one reply, which the parser of a single answer cannot read
            yield ExternalScore(**(judge | ({"reply": None} if several else {})), metric=metric, value=value, failure=failure)
        if len(history) > 1:
            yield from _read_edits(shared, recorded.get("metric", name), score, history)


def _find_graded_text(
    name: str, score: Mapping[str, Any], reply: Mapping[str, Any], about: Mapping[str, Any], *, several: bool
) -> tuple[str | None, AnswerRule | None]:
    """The judge's reply, and how Inspect reads it where the scorer is one of its own; a vote of several graders has no single reply.

    Earlier versions of Inspect scored a reply without a grade as incorrect, so their value says nothing. Some kept the reply in the
    explanation only.
    """
    if several:
        return None, None
    text = _join_text(reply.get("content"))
    scorer = name.rstrip("0123456789")
    if scorer not in _GRADERS:
        return text, None
    options = (
        next((scorer_spec.get("options") for scorer_spec in about.get("scorers") or () if scorer_spec.get("name", "").endswith(name)), None)
        or {}
    )
    pattern = options.get("grade_pattern")
    explanation = score.get("explanation")
    if text is None and isinstance(explanation, str):
        text = explanation.removeprefix(_NO_GRADE)
    if pattern is None:
        return text, _GRADE_RULE
    try:
        AnswerRule(f"{REGEX}:{pattern}").check()
    except ValueError:
        return text, None
    return text, AnswerRule(f"{REGEX}:{pattern}")


def _name_judge(model: Any, models: Sequence[str], roles: Mapping[str, str], about: Mapping[str, Any], *, panel: bool) -> str | None:
    """The judge of a score: the model that the scorer asked, the whole panel that voted, or else the model that replied.

    A reply leaves out the provider and may add a date; the judge has the name that the log has for it.
    """
    if len(models) == 1 or (models and (panel or not model)):
        return "+".join(models)
    if not isinstance(model, str) or not model:
        return roles.get("grader")
    evaluated = about.get("model")
    candidates = [*models, *roles.values(), *([evaluated] if isinstance(evaluated, str) else [])]
    ends = (f"/{model}", f"/{_DATED.sub('', model)}")
    return next((name for name in candidates if f"/{name}".endswith(ends)), model)


def _split_values(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    else:
        yield name, value


def _find_last_reply(metadata: Mapping[str, Any]) -> dict[str, Any]:
    grading = metadata.get("grading") or []
    last = grading[-1] if isinstance(grading, list) and grading else {}
    return last if isinstance(last, dict) and last.get("role") == "assistant" else {}


def _read_edits(shared: dict[str, Any], name: str, score: Mapping[str, Any], history: list[Any]) -> Iterator[ExternalScore]:
    """Yield the label that a person wrote over the judge's score, in sight of it."""
    edit = history[-1]
    value = score.get("value") if edit.get("value") == _UNCHANGED else edit.get("value", score.get("value"))
    author = (edit.get("provenance") or {}).get("author") or "editor"
    for metric, label in _split_values(name, value):
        if label is not None and label == label:
            yield ExternalScore(**(shared | {"repeat": None}), metric=metric, value=label, who=str(author), human=True, blind=False)


def _join_text(content: Any) -> str | None:
    """A text; the texts of messages joined; None for nothing."""
    if isinstance(content, list):
        parts = [part.get("content") if isinstance(part, dict) else part for part in content]
        return "\n".join(part for part in parts if isinstance(part, str)) or None
    return content if isinstance(content, str) and content else None


def _find_models_of_scorers(events: Any) -> dict[str, tuple[str, ...]]:
    """`{score name: models}` of every scorer that has a span; no models where it asked none. Empty for a log without events.

    Where a sample was scored again, the last scoring counts.
    """
    scorer_of: dict[Any, str] = {}  # span: the scorer that it belongs to
    models_of: dict[str, dict[str, None]] = {}
    for event in events if isinstance(events, list) else ():
        if not isinstance(event, dict):
            continue
        kind, span = event.get("event"), event.get("span_id")
        if not isinstance(span, str):
            continue
        if kind == "span_begin":
            # A span inside that of a scorer belongs to this scorer.
            name, parent = event.get("name"), event.get("parent_id")
            if isinstance(parent, str) and parent in scorer_of:
                scorer_of[span] = scorer_of[parent]
            elif event.get("type") == "scorer" and isinstance(name, str):
                scorer_of[span] = name
                models_of[name] = {}
        elif kind == "model" and span in scorer_of and isinstance(event.get("model"), str):
            models_of[scorer_of[span]][event["model"]] = None
    return {name: tuple(models) for name, models in models_of.items()}


READERS = {
    "inspect": Reader(
        is_json=lambda content: is_log(content) or _is_reductions(content), read_json=read_json, read_archive=read_eval, persistent=True
    )
}
