"""`replay/<file>`: gives the replies of an earlier run again, from a file of `harness store export`. Asks no model."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from harness.errors import ContentError, UsageError
from harness.judges.judge_protocol import JudgeOptions
from harness.judges.response_body import with_possible_counts
from harness.model import SAMPLING, Call, JudgeIdentity, Reply
from harness.row_files import read_rows, sha256_of

ReplyKey = tuple[str, float, int, tuple[float | None, ...], bool]  # prompt, temperature, repeat, further sampling, probabilities
_OPTIONAL_SAMPLING = SAMPLING[1:]


class ExportRow(msgspec.Struct, frozen=True):
    """One line of a store export: a call and its reply."""

    call_id: str
    prompt_id: str
    judge: str
    temperature: float
    repeat: int
    reply: Reply
    condition: str = ""

    @property
    def key(self) -> ReplyKey:
        """The key of a recorded reply: prompt and sampling."""
        stated = dict(re.findall(r" (\w+)=(\S+)", self.condition))
        optional_sampling = tuple(float(stated[name]) if name in stated else None for name in _OPTIONAL_SAMPLING)
        return (self.prompt_id, self.temperature, self.repeat, optional_sampling, "+probabilities" in self.condition)


class ReplayJudge:
    """Answers a call with the recorded reply to the same prompt, sampling and repeat; without one, with an empty reply."""

    concurrency = 64
    endpoint = None

    def __init__(self, path: Path, judge: str, replies: dict[ReplyKey, Reply]) -> None:
        self._replies = replies
        self.identity = JudgeIdentity("replay", judge, {"export": sha256_of(path)})

    async def start(self, calls: Iterable[Call]) -> None:
        """Nothing to start."""

    async def answer(self, call: Call) -> Reply:
        optional_sampling = tuple(getattr(call.query.condition, name) for name in _OPTIONAL_SAMPLING)
        recorded = self._replies.get((call.prompt.prompt_id, call.temperature, call.query.repeat, optional_sampling, call.probabilities))
        return recorded or Reply(text="", model="", error="not in the export")

    async def stop(self) -> None:
        """Nothing to stop."""


def open_judge(name: str, options: JudgeOptions) -> ReplayJudge:
    """Return the judge `replay/<file>`, or `replay/<file>#<judge>` where the export holds several judges.

    Raises UsageError when the file does not exist or does not say which judge is meant, ContentError for an invalid line.
    """
    file, _, chosen = name.partition("#")
    path = Path(file)
    if not path.is_file():
        raise UsageError(f"no store export at '{file}'; make one with 'harness store export --to FILE'")
    rows = []
    for line, row in read_rows(path):
        try:
            rows.append(msgspec.convert({**row, "reply": with_possible_counts(row.get("reply"))}, ExportRow))
        except msgspec.ValidationError as err:
            raise ContentError(f"not a line of a store export: {err}", path, line) from None
    judges = sorted({row.judge for row in rows})
    if (chosen and chosen not in judges) or (not chosen and len(judges) != 1):
        raise UsageError(f"{file} holds the judges {', '.join(judges) or '(none)'}; name one as 'replay/{file}#<judge>'")
    chosen = chosen or judges[0]
    return ReplayJudge(path, chosen, {row.key: row.reply for row in rows if row.judge == chosen})
