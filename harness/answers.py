"""Everything that a run's judges have answered: read from the store once, and again only when it has changed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

import msgspec

from harness.judgments import JudgmentWriter, derive
from harness.model import JudgeIdentity, Reply, Usage
from harness.plan import Plan
from harness.protocol import Prepared
from harness.store import Store
from harness.tables import sha256_of, write_atomic

_NOTE = "answers.json"


class Spent(msgspec.Struct):
    """What one judge took in one language: calls, tokens as counted (and those of them in batches), seconds, and failures by name."""

    calls: int = 0
    usage: Usage = Usage()
    seconds: float = 0.0
    failures: dict[str, int] = {}
    batched: Usage = Usage()

    def add(self, reply: Reply) -> None:
        self.calls += 1
        self.usage = _sum(self.usage, reply.usage)
        if reply.batched:
            self.batched = _sum(self.batched, reply.usage)
        self.seconds = round(self.seconds + reply.seconds, 6)


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(*(a + b for a, b in zip(_counts(one), _counts(other), strict=True)))


def _counts(usage: Usage) -> tuple[int, ...]:
    return usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens, usage.reasoning_tokens


class Answers(msgspec.Struct):
    """By judge: calls without an answer; the model name as the provider gave it -> calls; how the answer's shape was asked for -> calls;
    parameter that it does not take -> calls asked without it; language -> what it took."""

    missing: dict[str, int] = {}
    answered_by: dict[str, dict[str, int]] = {}
    forms: dict[str, dict[str, int]] = {}
    left_out: dict[str, dict[str, int]] = {}
    spent: dict[str, dict[str, Spent]] = {}


def collect(prepared: Prepared, plan: Plan, store: Store, path: Path) -> Answers:
    """Bring the file of judgments up to date with the store, and say who answered what at what expense."""
    stamp = _stamp(prepared, plan, store)
    known = _known(path)
    if known is not None and known.made_of == stamp:
        return known.answers
    answers = Answers()
    with JudgmentWriter(path) as writer:
        for identity in prepared.protocol.identities:
            _read_judge(identity, prepared, plan, store, writer, answers)
    write_atomic(path.with_name(_NOTE), msgspec.json.encode(_Note(stamp, sha256_of(path), answers)))
    return answers


class _Note(msgspec.Struct):
    """Beside the file of judgments: what it is made of, and what else was learnt when it was made."""

    made_of: str
    sha256: str
    answers: Answers


def _known(path: Path) -> _Note | None:
    """The note on a file of judgments; None where there is none, or the file is another one."""
    try:
        note = msgspec.json.decode(path.with_name(_NOTE).read_bytes(), type=_Note)
        return note if sha256_of(path) == note.sha256 else None
    except (OSError, msgspec.MsgspecError):
        return None  # derived, so it is made anew


def _read_judge(identity: JudgeIdentity, prepared: Prepared, plan: Plan, store: Store, writer: JudgmentWriter, answers: Answers) -> None:
    name, scales = identity.name, prepared.data.scales
    calls = plan.calls(identity)
    counts: dict[str, Counter[str]] = {what: Counter() for what in ("answered_by", "forms", "left_out")}
    spent: dict[str, Spent] = {}
    answers.missing[name] = 0
    replies = store.replies(calls.every_id())
    for ask, call_id, reply, first in zip(plan.asks(), calls.every_id(), replies, calls.wanted, strict=True):
        if reply is None:
            answers.missing[name] += int(first)
            continue
        if first:
            counts["answered_by"][reply.model] += 1
            counts["forms"][reply.form] += 1
            counts["left_out"].update(reply.left_out)
            spent.setdefault(ask.item.language, Spent()).add(reply)
        for judgment in derive(ask, reply, call_id, identity, scales, plan.asked_language(ask)):
            writer.add(judgment)
            if judgment.failure:
                failures = spent[ask.item.language].failures
                failures[judgment.failure.value] = failures.get(judgment.failure.value, 0) + 1
    for what, found in counts.items():
        getattr(answers, what)[name] = dict(sorted(found.items()))
    answers.spent[name] = dict(sorted(spent.items()))


def _stamp(prepared: Prepared, plan: Plan, store: Store) -> str:
    """The hash of everything that decides what the judgments are: what was asked, the last reply of each call, and how it is read."""
    digest = hashlib.sha256(msgspec.json.encode(prepared.protocol, order="sorted") + _how_replies_are_read().encode())
    for identity in prepared.protocol.identities:
        for part in _answered(identity, plan, store):
            digest.update(part)
    return digest.hexdigest()


def _answered(identity: JudgeIdentity, plan: Plan, store: Store) -> Iterator[bytes]:
    calls = plan.calls(identity)
    for call_id, number in zip(calls.ids(), store.last_attempts(calls.ids()), strict=True):
        yield f"{call_id}{number};".encode()


@cache
def _how_replies_are_read() -> str:
    """Hash of the code that turns replies into judgments: a changed reading reads every reply anew."""
    here = Path(__file__).parent
    files = [Path(__file__), *sorted((here / "parse").glob("*.py")), *sorted((here / "judgments").glob("*.py"))]
    code = b"".join(path.read_bytes() for path in files)
    return hashlib.sha256(code + version("py3langid").encode()).hexdigest()
