"""The panels of a run: their judgments are computed from those of their members, question by question. Nothing is asked twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.judges.panel import Panel, Vote
from harness.model import Failure, Judgment, Query, Scale
from harness.runs.plan import Plan
from harness.runs.protocol import RunProtocol


class PanelVotes:
    """What the members of a run's panels said, in the order of the run's questions; None where a call has no reply."""

    def __init__(self, protocol: RunProtocol) -> None:
        self._panels = protocol.judges.panels
        self._votes: dict[str, list[Vote | None]] = {member: [] for panel in self._panels.values() for member in panel.members}

    def add(self, judgment: Judgment) -> None:
        if judgment.judge in self._votes:
            self._votes[judgment.judge].append(judgment.failure if judgment.score is None else judgment.score)

    def skip(self, judge: str, query: Query) -> None:
        """Note that a judge has no reply to a query."""
        if judge in self._votes:
            self._votes[judge] += [None] * len(query.metrics)

    def judgments(self, plan: Plan, scales: Mapping[str, Scale]) -> Iterator[Judgment]:
        """The judgments of every panel, in the order of the queries. A question that a member has not answered yet has none."""
        for name, panel in self._panels.items():
            every = zip(*(self._votes[member] for member in panel.members), strict=True)
            questions = ((query, metric) for query in plan.queries() for metric in query.metrics)
            for (query, metric), votes in zip(questions, every, strict=True):
                given = [vote for vote in votes if vote is not None]
                if len(given) == len(votes):
                    yield _judgment(name, panel, query, metric, given, scales[metric])


def _judgment(name: str, panel: Panel, query: Query, metric: str, votes: Sequence[Vote], scale: Scale) -> Judgment:
    """A panel's judgment of one question; members' scores are in the item's own order, and so is the panel's."""
    vote = panel.score(votes, scale)
    score, failure = (None, vote) if isinstance(vote, Failure) else (vote, None)
    return Judgment(
        item_id=query.item.item_id,
        language=query.item.language,
        task=query.item.task,
        metric=metric,
        judge=name,
        condition=query.condition,
        repeat=query.repeat,
        score=score,
        failure=failure,
        raw_choice=None,
        justification=None,
        call_id="",
    )
