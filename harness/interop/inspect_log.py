"""Reads logs of Inspect: `.eval` (a ZIP of JSON files, compressed with Zstandard or deflate) and `.json`.

A sample has scores by the name of their scorer; the value of one may be a dict of metrics. What people edited keeps its history.
"""

from __future__ import annotations

import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.errors import ContentError
from harness.interop.foreign import ForeignScore, ForeignScores
from harness.interop.lenient_json import decode
from harness.interop.score_metadata import of_ours
from harness.labels import table as limits
from harness.labels.table import flat
from harness.model import Failure
from harness.tables import arrow

_ZSTANDARD = 93
_LOCAL_HEADER = 30
_REASONS = {"refusal": Failure.REFUSED, "no_response": Failure.MISSING, "scoring_failed": Failure.MISSING}
_UNCHANGED = "UNCHANGED"
_TEXTS = {"input": "input", "output": "output"}


def is_log(content: Any) -> bool:
    """Whether the content of a JSON file is a log."""
    return isinstance(content, dict) and isinstance(content.get("eval"), dict) and "version" in content


def read_json(path: Path, content: Any) -> ForeignScores:
    """Read a `.json` log. Raises ContentError if it is none."""
    if not is_log(content):
        raise ContentError("not a log of Inspect, which has 'version', 'eval' and 'samples'", path)
    samples = content.get("samples") or []
    return _scores(path, content["eval"], ((f"{path}:sample {number}", sample) for number, sample in enumerate(samples, start=1)))


def read_eval(path: Path) -> ForeignScores:
    """Read an `.eval` log, one sample in memory at a time. Raises ContentError if it is none or is damaged."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if "header.json" not in names:
                raise ContentError("not a finished log of Inspect: header.json is missing", path)
            header = decode(_member(path, archive, "header.json"), path)
            samples = [name for name in names if name.startswith("samples/") and name.endswith(".json")]
            return _scores(
                path, header.get("eval") or {}, ((f"{path}:{name}", decode(_member(path, archive, name), path)) for name in samples)
            )
    except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError) as err:
        raise ContentError(f"not a readable .eval log ({err})", path) from None


def _member(path: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    """One file of the archive. Python reads Zstandard in archives from 3.14 on only, so its bytes go to pyarrow."""
    member = archive.getinfo(name)
    if member.file_size > limits.MAX_BYTES:
        raise ContentError(f"{name} is larger than {limits.MAX_BYTES >> 20} MiB", path)
    if member.compress_type != _ZSTANDARD:
        return archive.read(name)
    pa = arrow()
    with path.open("rb") as file:
        file.seek(member.header_offset)
        header = file.read(_LOCAL_HEADER)
        file.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
        packed = file.read(member.compress_size)
    content = pa.CompressedInputStream(pa.BufferReader(packed), "zstd").read(member.file_size + 1)
    if len(content) != member.file_size:
        raise ContentError(f"{name} does not have the size that the archive states", path)
    return bytes(content)


def _scores(path: Path, about: Mapping[str, Any], samples: Iterator[tuple[str, Any]]) -> ForeignScores:
    grader = (((about.get("model_roles") or {}).get("grader")) or {}).get("model")
    found: list[ForeignScore] = []
    left_out: Counter[str] = Counter()
    outputs: dict[Any, list[str]] = {}
    for place, sample in samples:
        try:
            if not sample.get("scores"):
                left_out["samples without a score"] += 1
                continue
            found += _of_sample(place, sample, about, grader, outputs, left_out)
        except (AttributeError, TypeError, KeyError, IndexError):
            raise ContentError("the sample does not have Inspect's form", place) from None
    if not found:
        raise ContentError("no sample has a score", path)
    return ForeignScores("inspect", found, [f"{count} {what} left out" for what, count in left_out.items()], _TEXTS)


def _of_sample(
    place: str, sample: dict[str, Any], about: Mapping[str, Any], grader: str | None, outputs: dict[Any, list[str]], left_out: Counter[str]
) -> Iterator[ForeignScore]:
    output = str((sample.get("output") or {}).get("completion") or "")
    versions = outputs.setdefault(sample["id"], [])
    if output not in versions:
        versions.append(output)
    changed = versions.index(output)
    shared = {
        "place": place,
        "item": f"{sample['id']}@{changed + 1}" if changed else str(sample["id"]),  # another answer in a later epoch is another text
        "repeat": int(sample.get("epoch") or 1) - 1,
        "fields": {
            "id": sample["id"],
            "input": _text_of(sample.get("input")),
            "output": output,
            "target": _text_of(sample.get("target")),
            "model": about.get("model"),
            **flat({"metadata": sample.get("metadata") or {}}),
        },
    }
    for name, score in sample["scores"].items():
        history = score.get("history") or []
        original = history[0] if len(history) > 1 else score
        metadata = score.get("metadata") or {}
        reply = _last_reply(metadata)
        judge = {
            **shared,
            "who": reply.get("model") or grader,
            "reply": reply.get("content") if isinstance(reply.get("content"), str) else None,
            "justification": score.get("explanation"),
        }
        reason = score.get("reason") or metadata.get("unscored_reason")
        if ours := of_ours(metadata):
            yield ForeignScore(**(judge | {"reply": None} | ours))
        for metric, value in () if ours else _values(name, original.get("value")):
            if isinstance(value, list):
                left_out["scores that are lists"] += 1
                continue
            failure = _failure(value, reason)
            several = metric != name  # of one reply, which the parser of a single answer cannot read
            yield ForeignScore(**(judge | ({"reply": None} if several else {})), metric=metric, value=value, failure=failure)
        if len(history) > 1:
            yield from _edits(shared, ours.get("metric", name), score, history)


def _values(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    else:
        yield name, value


def _failure(value: Any, reason: str | None) -> Failure | None:
    """NaN and null are no scores; Inspect itself counts a null in a dict as 0."""
    if value is None or value != value:
        return _REASONS.get(reason or "", Failure.NOT_JSON if reason else Failure.MISSING)
    return None


def _last_reply(metadata: Mapping[str, Any]) -> dict[str, Any]:
    grading = metadata.get("grading") or []
    last = grading[-1] if isinstance(grading, list) and grading else {}
    return last if isinstance(last, dict) and last.get("role") == "assistant" else {}


def _edits(shared: dict[str, Any], name: str, score: Mapping[str, Any], history: list[Any]) -> Iterator[ForeignScore]:
    """What a person wrote over the judge's score, in sight of it: one label."""
    edit = history[-1]
    value = score.get("value") if edit.get("value") == _UNCHANGED else edit.get("value", score.get("value"))
    author = (edit.get("provenance") or {}).get("author") or "editor"
    for metric, given in _values(name, value):
        if given is not None and given == given:
            yield ForeignScore(**(shared | {"repeat": None}), metric=metric, value=given, who=str(author), human=True, blind=False)


def _text_of(content: Any) -> str | None:
    """A text; the texts of messages joined; None for nothing."""
    if isinstance(content, list):
        parts = [part.get("content") if isinstance(part, dict) else part for part in content]
        return "\n".join(part for part in parts if isinstance(part, str)) or None
    return content if isinstance(content, str) and content else None
