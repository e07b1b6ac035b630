"""The expected content of a submission: the calls of the board's protocol, and the replies of baselines, computed again."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

import msgspec

from harness.boards.recorded_scores import RecordedJudgments
from harness.errors import UsageError
from harness.judges import traits_of
from harness.judges.baselines import BaselineJudge, open_judge
from harness.judges.judge_protocol import JudgeOptions
from harness.model import Condition, Item, JudgeIdentity, Query, Reply, Scale
from harness.runs import CallIds, Plan, Prepared, ReadingRules, call_ids, hex_ids


class ExpectedRow(msgspec.Struct, frozen=True):
    """The expected content of the row of one call, whichever judge is asked."""

    prompt_id: str
    item_id: str
    metrics: str
    condition: str
    temperature: float
    repeat: int


class ExpectedCalls(msgspec.Struct, frozen=True):
    """All queries of a board in the order of its plan, small enough to be sent to other processes: their items have no texts.

    Of each query: `max_output_tokens`, `languages` (those of the justifications), and `rows` (what its row should hold).
    """

    board: str  # `controls@2.1.0`
    queries: tuple[Query, ...]
    max_output_tokens: array[int]
    seed: int
    languages: tuple[str, ...]
    rows: tuple[ExpectedRow, ...]
    label_scales: Mapping[str, Scale]  # of people's labels, on which recorded scores are
    rules: ReadingRules
    item_numbers: Mapping[str, int] = {}  # of each item, among those of its language and task in the order of the data, from 0
    decision_prompts: tuple[str, ...] = ()  # ids of the prompts of decision models; none where these cannot be asked
    token_probabilities: bool = False  # whether those of the answers' tokens are requested too, which changes the calls and no prompt

    def for_judge(self, identity: JudgeIdentity) -> ExpectedCalls:
        """The calls as a judge is asked them: decision models have prompts of their own. Raises UsageError where it cannot be asked."""
        if not traits_of(identity).decides:
            return self
        if not self.decision_prompts:
            raise UsageError(f"{self.board} asks what no decision model can be asked")
        rows = zip(self.rows, self.decision_prompts, strict=True)
        return msgspec.structs.replace(
            self,
            max_output_tokens=array("I", bytes(4 * len(self.queries))),
            rows=tuple(msgspec.structs.replace(row, prompt_id=prompt_id) for row, prompt_id in rows),
        )

    def with_token_probabilities(self) -> ExpectedCalls:
        """The same calls, with the probabilities of the answers' tokens. The queries stay those of the board, and so do the judgments."""
        conditions = {query.condition: str(with_probabilities(query.condition)) for query in self.queries}
        pairs = zip(self.queries, self.rows, strict=True)
        rows = tuple(msgspec.structs.replace(row, condition=conditions[query.condition]) for query, row in pairs)
        return msgspec.structs.replace(self, rows=rows, token_probabilities=True)

    def of_part(self, languages: Collection[str], limit: int | None) -> ExpectedCalls:
        """The calls about some languages (empty: all), and the first `limit` items of each language and task (None: all)."""
        items = [query.item for query in self.queries]
        numbers = [
            number
            for number, item in enumerate(items)
            if (not languages or item.language in languages) and (limit is None or self.item_numbers[item.item_id] < limit)
        ]
        return msgspec.structs.replace(
            self,
            queries=tuple(self.queries[number] for number in numbers),
            max_output_tokens=array("I", [self.max_output_tokens[number] for number in numbers]),
            languages=tuple(self.languages[number] for number in numbers),
            rows=tuple(self.rows[number] for number in numbers),
            decision_prompts=tuple(self.decision_prompts[number] for number in numbers) if self.decision_prompts else (),
        )

    def call_ids(self, identity: JudgeIdentity) -> CallIds:
        """The call that answers each query, for one judge."""
        queries: Iterable[Query] = self.queries
        if self.token_probabilities:
            queries = (msgspec.structs.replace(query, condition=with_probabilities(query.condition)) for query in self.queries)
        return call_ids(identity, queries, (row.prompt_id for row in self.rows), self.max_output_tokens, self.seed)

    def queries_by_call(self, identity: JudgeIdentity) -> dict[str, list[int]]:
        """`{call id: numbers of the queries that it answers}`, in ascending order."""
        numbers: dict[str, list[int]] = {}
        for number, call_id in enumerate(hex_ids(self.call_ids(identity))):
            numbers.setdefault(call_id, []).append(number)
        return numbers


def with_probabilities(condition: Condition, requested: bool = True) -> Condition:
    """Return a condition in which the probabilities of the answers' tokens are requested, or are not."""
    return msgspec.structs.replace(condition, variant=msgspec.structs.replace(condition.variant, probabilities=requested))


def expected_calls(prepared: Prepared) -> ExpectedCalls:
    """Return the calls of a board; `prepared` is the result of `whole_board`. Prompts take time, so the last few results are kept."""
    return _cached_calls(_CacheKey(prepared))


class _CacheKey:
    """A prepared board, equal to another one that asks the same with the same library."""

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared
        self._encoded = msgspec.json.encode(prepared.protocol.flat() | {"identities": ()}, order="sorted")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _CacheKey) and self._encoded == other._encoded and self.prepared.library is other.prepared.library

    def __hash__(self) -> int:
        return hash(self._encoded)


@lru_cache(maxsize=4)
def _cached_calls(key: _CacheKey) -> ExpectedCalls:
    prepared = key.prepared
    plan = prepared.plan(None)
    expected = calls_of_plan(plan, prepared.protocol.texts.source, prepared.reading)
    decision_prompts = tuple(plan.all_prompt_ids(decides=True)) if not prepared.why_no_decisions else ()
    label_scales = {metric: prepared.data.label_scale(metric) for metric in prepared.protocol.questions.metrics}
    counts: Counter[tuple[str, str]] = Counter()
    numbers = {}
    for item in prepared.data.items:
        numbers[item.item_id] = counts[item.language, item.task]
        counts[item.language, item.task] += 1
    return msgspec.structs.replace(expected, label_scales=label_scales, item_numbers=numbers, decision_prompts=decision_prompts)


def calls_of_plan(plan: Plan, board: str, rules: ReadingRules) -> ExpectedCalls:
    """Return the calls of a plan; labels are on the scales of the answers."""
    textless: dict[str, Item] = {}
    queries = []
    for query in plan.queries():
        item = textless.setdefault(query.item.item_id, msgspec.structs.replace(query.item, fields={}))
        queries.append(msgspec.structs.replace(query, item=item))
    return ExpectedCalls(
        board=board,
        queries=tuple(queries),
        max_output_tokens=array("I", plan.all_max_output_tokens()),
        seed=plan.seed,
        languages=tuple(plan.asked_language(query) for query in queries),
        rows=tuple(
            ExpectedRow(
                prompt_id,
                query.item.item_id,
                ",".join(query.metrics),
                str(query.condition),
                query.condition.temperature,
                query.repeat,
            )
            for query, prompt_id in zip(queries, plan.all_prompt_ids(), strict=True)
        ),
        label_scales=rules.scales,
        rules=rules,
    )


class Baselines:
    """The baselines of one board. They cost nothing and always reply the same, so that their submissions can be checked call by call.

    `recorded` are the judgments in the board's data folder, with which submissions of recorded scores are compared.
    """

    def __init__(self, prepared: Prepared, expected: ExpectedCalls) -> None:
        self._prepared = prepared
        self._expected = expected
        self.recorded = RecordedJudgments(prepared)

    def complaint(self, identity: JudgeIdentity) -> str:
        """Say why the board has no such baseline; empty if it has."""
        try:
            board_identity = self._open(identity).identity
        except UsageError as err:
            return str(err).partition("\n")[0]
        return (
            ""
            if board_identity == identity
            else f"on this board {board_identity.name} has the settings {board_identity.settings or 'none'}, and not these"
        )

    def replies(self, identity: JudgeIdentity) -> dict[str, Reply]:
        """Return the reply of a baseline to every call, by call id."""
        judge, expected, items = self._open(identity), self._expected, self._prepared.data.by_id
        replies = {}
        for call_id, (first, *_) in expected.queries_by_call(identity).items():
            query = expected.queries[first]
            replies[call_id] = judge.reply(msgspec.structs.replace(query, item=items[query.item.item_id]))
        return replies

    def _open(self, identity: JudgeIdentity) -> BaselineJudge:
        return open_judge(identity.model, JudgeOptions(training=self._prepared.training, seed=self._prepared.protocol.questions.seed))
