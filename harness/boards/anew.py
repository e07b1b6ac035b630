"""What a judge that reads no text answers when it is asked again: its submission can be held against it, call by call."""

from __future__ import annotations

import msgspec

from harness.boards.wanted import Wanted
from harness.errors import UsageError
from harness.judges.base import JudgeOptions
from harness.judges.baseline import BaselineJudge, open_judge
from harness.model import JudgeIdentity, Reply
from harness.protocol import Prepared

BASELINE = "baseline"


class Baselines:
    """The baselines of one board: asked at no cost, and always the same."""

    def __init__(self, prepared: Prepared, wanted: Wanted) -> None:
        self._prepared = prepared
        self._wanted = wanted

    def complaint(self, identity: JudgeIdentity) -> str:
        """Why there is no such baseline on this board; empty when there is."""
        try:
            here = self._open(identity).identity
        except UsageError as err:
            return str(err).partition("\n")[0]
        return "" if here == identity else f"on this board {here.name} has the settings {here.settings or 'none'}, and not these"

    def replies(self, identity: JudgeIdentity) -> dict[str, Reply]:
        """What it answers, by call id."""
        judge, wanted, items = self._open(identity), self._wanted, self._prepared.data.by_id
        found = {}
        for call_id, (first, *_) in wanted.places(identity).items():
            ask = wanted.asks[first]
            found[call_id] = judge.reply(msgspec.structs.replace(ask, item=items[ask.item.item_id]))
        return found

    def _open(self, identity: JudgeIdentity) -> BaselineJudge:
        return open_judge(identity.model, JudgeOptions(training=self._prepared.training, seed=self._prepared.protocol.seed))
