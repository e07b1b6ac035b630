"""The plan of a run: its queries and calls in order, and their approximate tokens. It is deterministic."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import NamedTuple, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.content import Library
from harness.data.dataset import Dataset
from harness.judges import traits_of
from harness.model import (
    SAMPLING,
    Call,
    Condition,
    Item,
    JudgeIdentity,
    Prompt,
    Query,
    RealisedPerturbation,
    Reply,
    Scale,
    Score,
    Usage,
    Variant,
)
from harness.prompts import (
    Example,
    FewShotExamples,
    PromptSpec,
    PromptTemplate,
    PromptTemplates,
    conversation_prompt,
    decision_template,
    own_language_wording,
    shown_texts,
    with_reasons_in,
    words_of,
)
from harness.runs.protocol import AskedQuestions
from harness.runs.shown_items import ShownItems

_CHARACTERS_PER_TOKEN = 4.0  # an estimate for prices only: of ASCII text; every other character counts as one token
_ANSWER_TOKENS = 60
_ID_BYTES = 32
_UNKNOWN_ANSWER = "…"  # in the place of an answer that is not known yet
_IDS_PER_BLOCK = 1 << 10  # ids that are text at the same time

CallIds = NDArray[np.uint8]  # (queries, 32)


class QueryRenderer(Protocol):
    """Words the prompt of a query, and finds the item as the query's condition shows it."""

    items: ShownItems
    absent: dict[tuple[str, str, str], tuple[Score, ...]]

    def prompt(
        self, query: Query, item: Item, decides: bool = False, prompt_id: str | None = None, answers: Sequence[str] | None = None
    ) -> Prompt:
        """The prompt of a query, about the item as its condition shows it. `prompt_id`: if it is known.

        `answers`: the texts of the answers to the earlier turns of a conversation; None: they are not known yet.
        """


class _Prompts:
    """The ids and three counts of tokens of all prompts of a plan in one form, in order; repeats share one."""

    def __init__(self) -> None:
        self.ids = bytearray()
        self.tokens = {count: array("I") for count in ("prompt", "answer", "max_output")}

    def add(self, prompt: Prompt, answer_tokens: int, earlier: int) -> None:
        """`earlier`: the number of answers that the prompt will repeat, and that are not known yet."""
        self.ids += bytes.fromhex(prompt.prompt_id)
        self.tokens["prompt"].append(estimate_prompt_tokens(prompt) + earlier * answer_tokens)
        self.tokens["answer"].append(answer_tokens)
        self.tokens["max_output"].append(prompt.max_tokens)

    def __len__(self) -> int:
        return len(self.tokens["prompt"])


class Plan:
    """All queries of a run, in the order in which they are asked: queries that share the beginning of a prompt stand together.

    Plans are streamed: queries and prompts are made again each time, because a million of them would not fit into memory. Only the ids of
    the prompts (repeats share one) and three numbers for each stay in memory. `realised` says what each perturbation did to each text, also
    where it could not change the text and nothing is asked. `absent` names the classes without an example by (language, task, metric).

    The same queries are prompts in two forms: for judges that write, and for those that decide (see `JudgeTraits.decides`).

    A later turn of a conversation repeats the answers to its earlier turns, so its prompt and call are of one judge, and known once these
    are answered (`answers_of` reads them). Until then it waits: it counts and is priced with a place for each answer, and nobody is asked.
    """

    def __init__(
        self,
        seed: int,
        queries: Callable[[], Iterator[Query]],
        repeats: int,
        renderer: QueryRenderer,
        answer_tokens: Callable[[Query, Prompt], int] | None = None,
        decides: bool = False,
        answers_of: Callable[[Iterable[str]], Iterator[Reply | None]] | None = None,
    ) -> None:
        """`queries` yields the repeats of a query one after the other; `answer_tokens` estimates the tokens of an answer.

        The turns of a conversation follow each other, each with its repeats. `answers_of` gives the last reply to each call, in order.

        Prompts in the form of `decides` are made at once, those in the other form when a judge needs them.
        """
        self.seed = seed
        self._repeats = repeats
        self._all = queries
        self._answer_tokens = answer_tokens or estimate_answer_tokens
        self._renderer = renderer
        self._answers_of = answers_of
        self.turns = 1
        self._calls: dict[str, tuple[CallIds, NDArray[np.bool_]]] = {}
        self._forms: dict[bool, _Prompts] = {}
        self._size = len(self._prompts(decides))

    def __len__(self) -> int:
        return self._size * self._repeats

    def _prompts(self, decides: bool) -> _Prompts:
        if decides not in self._forms:
            prompts = _Prompts()
            for query in self._all():
                item = self._renderer.items.shown(query) if query.repeat == 0 else None
                if item is not None:
                    prompt = self._renderer.prompt(query, item, decides)
                    prompts.add(prompt, 0 if decides else self._answer_tokens(query, prompt), len(query.earlier))
                    self.turns = max(self.turns, 1 + len(query.earlier))
            self._forms[decides] = prompts
        return self._forms[decides]

    @property
    def realised(self) -> tuple[RealisedPerturbation, ...]:
        return tuple(self._renderer.items.realised.values())

    @property
    def absent(self) -> dict[tuple[str, str, str], tuple[Score, ...]]:
        return {key: scores for key, scores in self._renderer.absent.items() if scores}

    def queries(self) -> Iterator[Query]:
        """Every query of the run, without those whose text the perturbation could not change."""
        return (query for query in self._all() if self._renderer.items.is_applicable(query))

    def all_prompt_ids(self, decides: bool = False) -> Iterator[str]:
        """The prompt id of every query, in order."""
        ids = hex_ids(np.frombuffer(self._prompts(decides).ids, np.uint8).reshape(-1, _ID_BYTES))
        return (prompt_id for prompt_id in ids for _ in range(self._repeats))

    def asked_language(self, query: Query) -> str:
        """The language in which the justification is asked for."""
        return query.condition.variant.reasons_in(query.item.language)

    def call(
        self, query: Query, call_id: str, prompt_id: str | None = None, decides: bool = False, answers: Sequence[str] | None = None
    ) -> Call:
        """The call for one query, about the text as its condition changes it (baselines read that text).

        `prompt_id`: if it is known; `answers`: those to the earlier turns of a conversation, if they are known.
        """
        item = self._renderer.items.shown(query)
        assert item is not None  # `queries` leaves out texts that cannot be changed
        seen = query if item is query.item else msgspec.structs.replace(query, item=item)
        return Call(call_id, self._renderer.prompt(query, item, decides, prompt_id, answers), seen, self.seed + query.repeat)

    def calls(self, identity: JudgeIdentity) -> PlannedCalls:
        """All calls for one judge, in order. Queries with the same prompt, sampling and repeat share one call.

        Calls of a plan with conversations are found again each time, because further answers may be known.
        """
        if identity.name not in self._calls or self.turns > 1:
            ids = self.call_ids(identity)
            # A mask of the queries that are the first with their call id.
            words = np.ascontiguousarray(ids).view(np.uint64)
            first = np.zeros(len(words), bool)
            if len(words):
                order = np.lexsort(words.T)  # the sort is stable: among equal ids the first query comes first
                new = np.zeros(len(words) - 1, bool)
                for word in words.T:
                    new |= np.diff(word[order]) != 0
                first[order] = np.append(True, new)
            self._calls[identity.name] = ids, first
        ids, first = self._calls[identity.name]
        return PlannedCalls(self, ids, first, traits_of(identity).decides)  # not cached: it refers to the plan and would keep it alive

    def call_ids(self, identity: JudgeIdentity) -> CallIds:
        """The id of the call for each query. A turn that waits for an answer has an id that no call ever has."""
        decides = traits_of(identity).decides
        ids = call_ids(identity, self.queries(), self.all_prompt_ids(decides), self.all_max_output_tokens(decides), self.seed)
        if self.turns == 1:
            return ids
        ids, turn_of = ids.copy(), self.turn_of_queries
        ids[turn_of > 0] ^= 0xFF  # the complement of a hash
        for turn in range(1, self.turns):
            for index, query in self.queries_at(turn_of == turn):
                answers = self.answers_before(ids, index, query)
                if answers is not None:
                    prompt = self.call(query, "", answers=answers).prompt
                    ids[index] = call_ids(identity, [query], [prompt.prompt_id], [prompt.max_tokens], self.seed)[0]
        return ids

    @cached_property
    def turn_of_queries(self) -> NDArray[np.int16]:
        """The number of the turn of each query in its conversation, from 0."""
        return np.fromiter((len(query.earlier) for query in self.queries()), np.int16, len(self))

    def queries_at(self, mask: NDArray[np.bool_]) -> Iterator[tuple[int, Query]]:
        return ((index, query) for index, (query, chosen) in enumerate(zip(self.queries(), mask, strict=True)) if chosen)

    def answers_before(self, ids: CallIds, index: int, query: Query) -> list[str] | None:
        """The texts of the answers to the earlier turns of a query, empty where the endpoint refused one; None if one is not known."""
        if self._answers_of is None:
            return None
        earlier = ids[index - self._repeats * np.arange(len(query.earlier), 0, -1)]
        replies = list(self._answers_of(hex_ids(earlier)))
        return None if None in replies else ["" if reply.error else reply.text or reply.refusal or "" for reply in replies if reply]

    def all_max_output_tokens(self, decides: bool = False) -> Iterator[int]:
        """The token budget of each query's answer."""
        return (budget for budget in self._prompts(decides).tokens["max_output"] for _ in range(self._repeats))

    def estimate(self, selected: NDArray[np.bool_], decides: bool = False) -> Usage:
        """About how many tokens the selected queries (a mask) take; no tokenizer is needed."""
        times = selected.reshape(-1, self._repeats).sum(axis=1)
        tokens = self._prompts(decides).tokens
        prompt, answer = (int(times @ np.asarray(tokens[count], np.int64)) for count in ("prompt", "answer"))
        return Usage(prompt_tokens=prompt, completion_tokens=answer)


class PlannedCalls:
    """Some calls of a plan for one judge, each made when it is needed. `selected` marks the queries whose call is among them."""

    def __init__(self, plan: Plan, ids: CallIds, selected: NDArray[np.bool_], decides: bool = False) -> None:
        self._plan = plan
        self.selected = selected
        self._ids = ids
        self._decides = decides

    def __len__(self) -> int:
        return int(self.selected.sum())

    def __iter__(self) -> Iterator[Call]:
        prompt_ids = self._plan.all_prompt_ids(self._decides)
        calls = zip(self._plan.queries(), self.all_call_ids(), prompt_ids, self.selected, strict=True)
        return (
            self._plan.call(
                query,
                call_id,
                prompt_id,
                self._decides,
                self._plan.answers_before(self._ids, index, query) if query.earlier else None,
            )
            for index, (query, call_id, prompt_id, selected) in enumerate(calls)
            if selected
        )

    def ids(self) -> Iterator[str]:
        """The ids of these calls, in order."""
        return hex_ids(self._ids, self.selected)

    def all_call_ids(self) -> Iterator[str]:
        """The call id of every query of the plan, in order."""
        return hex_ids(self._ids)

    def without(self, answered: Sequence[bool] | NDArray[np.bool_]) -> PlannedCalls:
        """The calls that are not `answered` (one value for each of these calls, in order)."""
        remaining = self.selected.copy()
        remaining[np.flatnonzero(remaining)[np.asarray(answered, bool)]] = False
        return self._with(remaining)

    def _with(self, selected: NDArray[np.bool_]) -> PlannedCalls:
        return PlannedCalls(self._plan, self._ids, selected, self._decides)

    def of(self, keep: Callable[[Query], bool]) -> PlannedCalls:
        """Return the calls whose query `keep` accepts."""
        mask = np.fromiter(map(keep, self._plan.queries()), bool, len(self.selected))
        return self._with(self.selected & mask)

    def of_turn(self, turn: int) -> PlannedCalls:
        """Return the calls of one turn of conversations, from 0, whose earlier turns are answered. Single and joint calls are turn 0."""
        mask = self._plan.turn_of_queries == turn
        if turn:
            for index, query in self._plan.queries_at(mask & self.selected):
                mask[index] = self._plan.answers_before(self._ids, index, query) is not None
        return self._with(self.selected & mask)

    def by_language(self) -> dict[str, PlannedCalls]:
        """These calls by the language of their item."""
        languages = np.array([query.item.language for query in self._plan.queries()])
        tags = sorted({str(language) for language in languages[self.selected]})
        return {tag: self._with(self.selected & (languages == tag)) for tag in tags}

    @property
    def tokens(self) -> Usage:
        """About how many tokens these calls take."""
        return self._plan.estimate(self.selected, self._decides)


def call_ids(
    identity: JudgeIdentity, queries: Iterable[Query], prompt_ids: Iterable[str], max_output_tokens: Iterable[int], seed: int
) -> CallIds:
    """The id of the call for each query: a hash of everything that could change the reply, the repeat included.

    Baselines and functions read the item itself. For them, equal prompts about two items are two calls.
    """
    judge = msgspec.json.encode(identity, order="sorted")
    traits = traits_of(identity)
    reads_items = traits.is_baseline or traits.reads_items
    ids = bytearray()
    for query, prompt_id, budget in zip(queries, prompt_ids, max_output_tokens, strict=True):
        condition = query.condition
        sampling = f"{condition.temperature!r}|{budget}|{seed + query.repeat}|{query.repeat}"
        for name in SAMPLING[1:]:
            if (value := getattr(condition, name)) is not None:
                sampling += f"|{name}={value!r}"
        if condition.variant.probabilities:
            sampling += "|probabilities"
        parts = [prompt_id.encode(), judge, sampling.encode(), *([query.item.item_id.encode()] if reads_items else [])]
        ids += hashlib.sha256(b"\x1f".join(parts)).digest()
    return np.frombuffer(ids, np.uint8).reshape(-1, _ID_BYTES)


def hex_ids(ids: CallIds, selected: NDArray[np.bool_] | None = None) -> Iterator[str]:
    """Ids as hexadecimal text, in order; with a mask, only the selected ones."""
    for start in range(0, len(ids), _IDS_PER_BLOCK):
        block = slice(start, start + _IDS_PER_BLOCK)
        text = (ids[block] if selected is None else ids[block][selected[block]]).tobytes().hex()
        yield from (text[offset : offset + 2 * _ID_BYTES] for offset in range(0, len(text), 2 * _ID_BYTES))


class PlanSources(NamedTuple):
    """The sources of a plan's other texts.

    `training` holds the development items that examples are taken from (by default the data), `examples` holds them in its place. `pool`
    has the items that a perturbation may put in place of another (by default those of `training`).
    """

    training: Dataset | None = None
    examples: Dataset | None = None
    pool: tuple[Item, ...] | None = None


def make_plan(
    data: Dataset,
    library: Library,
    questions: AskedQuestions,
    templates: PromptTemplates,
    sources: PlanSources = PlanSources(),
    is_asked: Callable[[Item, str, Condition], bool] | None = None,
    decides: bool = False,
    answers_of: Callable[[Iterable[str]], Iterator[Reply | None]] | None = None,
) -> Plan:
    """Plan queries about every item of `data`, on those of the metrics for which it has a label (or may have, if labels are sealed).

    The order is language, task, group, item, condition, then metric, so that a local model reads what calls share only once. `is_asked`
    says whether a metric of an item is asked about under a condition; by default always. `decides`, `answers_of`: see `Plan`.
    """
    items = sorted(data.items, key=lambda item: (item.language, item.task, item.group, item.item_id))
    about = {name: wording.metric for name, wording in questions.own_prompts.items()} | {
        name: wording.id for name, wording in questions.own_rubrics.items()
    }

    def queries() -> Iterator[Query]:
        for item in items:
            labelled = data.asked_metrics.get(item.item_id, frozenset())
            of_item = tuple(metric for metric in questions.metrics if metric in labelled)
            for condition in questions.conditions:
                variant = condition.variant
                chosen = of_item if is_asked is None else tuple(metric for metric in of_item if is_asked(item, metric, condition))
                if not chosen or not variant.asks_about(item.language):
                    continue
                if variant.metric_order == "reversed":
                    chosen = chosen[::-1]
                if only_metric := about.get(variant.prompt or variant.rubric):  # of a prompt or rubric of the user's own
                    chosen = tuple(metric for metric in chosen if metric == only_metric)
                for position, metric in enumerate(chosen):
                    for repeat in range(questions.repeats):
                        if variant.call == "conversation":
                            yield Query(item, (metric,), condition, repeat, earlier=chosen[:position])
                        elif variant.call == "single":
                            yield Query(item, (metric,), condition, repeat)
                        elif position == 0:
                            yield Query(item, chosen, condition, repeat)

    learnt = sources.training or data
    shown_items = ShownItems(library, learnt.items if sources.pool is None else sources.pool, questions.seed)
    shots = FewShotExamples(sources.examples or learnt, questions.seed)
    renderer = _Renderer(library, templates, data.scales, shown_items, shots, questions)
    return Plan(questions.seed, queries, questions.repeats, renderer, decides=decides, answers_of=answers_of)


class _Renderer:
    """Finds the prompt template of a query. Templates are cached by what distinguishes them, so that each question is hashed only once."""

    def __init__(
        self,
        library: Library,
        templates: PromptTemplates,
        scales: Mapping[str, Scale],
        items: ShownItems,
        shots: FewShotExamples,
        questions: AskedQuestions,
    ) -> None:
        self._asked = questions
        self.items = items
        self.absent: dict[tuple[str, str, str], tuple[Score, ...]] = {}
        self._library = library
        self._task = cache(library.task)
        self._rubric = cache(library.rubric)
        self._templates = templates
        self._scales = scales
        self._shots = shots
        self._cached: dict[tuple[object, ...], PromptTemplate] = {}
        self._item: Item | None = None
        self._item_templates: dict[tuple[tuple[str, ...], Variant, bool, bool], PromptTemplate] = {}

    def prompt(
        self, query: Query, item: Item, decides: bool = False, prompt_id: str | None = None, answers: Sequence[str] | None = None
    ) -> Prompt:
        if query.earlier:
            # The prompt of a later turn of a conversation. A turn whose answer has no text, because the endpoint refused it, is left out:
            # a user's messages and the judge's alternate. A text that only later metrics need stands before the first question about one
            # of these.
            answered = [
                (metric, answer)
                for metric, answer in zip(
                    query.earlier, [_UNKNOWN_ANSWER] * len(query.earlier) if answers is None else answers, strict=True
                )
                if answer
            ]
            earlier_texts: frozenset[str] = frozenset()
            turns: list[PromptTemplate] = []
            for metric in (*(metric for metric, _ in answered), *query.metrics):
                of_metric = msgspec.structs.replace(query, metrics=(metric,))
                turns.append(self._find_template(of_metric, False, earlier_texts) if turns else self._template(of_metric, False))
                earlier_texts |= {*shown_texts(query.item, self._task(query.item.task), (metric,))}
            return conversation_prompt(turns, [answer for _, answer in answered], item)
        return self._template(query, decides).fill(item, prompt_id)

    def _template(self, query: Query, decides: bool) -> PromptTemplate:
        if query.item is not self._item:  # queries about one item follow each other
            self._item, self._item_templates = query.item, {}
        key = (query.metrics, query.condition.variant, query.condition.shown_source != "none", decides)
        if key not in self._item_templates:
            self._item_templates[key] = self._find_template(query, decides)
        return self._item_templates[key]

    def _find_template(self, query: Query, decides: bool, earlier_texts: frozenset[str] | None = None) -> PromptTemplate:
        """`earlier_texts`: those that earlier turns of the conversation showed; None for a prompt that begins one, or is no part of one."""
        item, variant = query.item, query.condition.variant
        if variant.prompt:
            custom_prompt = self._asked.own_prompts[variant.prompt]
            return self._cached.setdefault((variant.prompt, item.language), custom_prompt.template(item.language))
        if variant.call == "conversation":  # its first turn asks what a single call asks
            variant = msgspec.structs.replace(variant, call="single", metric_order="forward")
        task = self._task(item.task)
        present = tuple(name for name in shown_texts(item, task, query.metrics) if earlier_texts is None or name not in earlier_texts)
        examples: list[Example] = []
        for metric in query.metrics if variant.shots else ():
            cell, scale = (item.language, item.task, metric), self._scales[metric]
            examples += self._shots.choose(item, task, metric, scale, variant.shots)
            self.absent.setdefault(cell, self._shots.classes_without_examples(*cell, scale))
        languages = {name: item.language if name == "language" else str(item.fields[name]) for name in task.language_keys}
        sources = task.outputs if query.condition.shown_source != "none" else ()
        shots = tuple((e.metric, e.item_id) for e in examples)
        key = (item.task, *languages.values(), present, query.metrics, variant, sources, shots, decides, earlier_texts is None)
        if key not in self._cached:
            rubric_name = query.condition.variant.rubric
            rubrics = (self._asked.own_rubrics[rubric_name],) if rubric_name else tuple(map(self._rubric, query.metrics))
            words = words_of(task, query.condition)
            tag, reasons = variant.instructions_in(item.language), variant.reasons_in(item.language)
            wording = own_language_wording(self._library, task, rubrics, languages, words, language=tag)
            wording = with_reasons_in(reasons, wording, self._library) if reasons != tag else wording
            scales = {metric: self._scales[metric] for metric in query.metrics}
            spec = PromptSpec(wording, scales, variant, item.language, present, tuple(examples), sources)
            self._cached[key] = (
                decision_template(spec) if decides else self._templates.template_for(spec, next_question=earlier_texts is not None)
            )
        return self._cached[key]


def estimate_answer_tokens(query: Query, prompt: Prompt) -> int:
    """About how many tokens an answer has."""
    return min(_ANSWER_TOKENS * len(query.metrics), prompt.max_tokens)


def estimate_prompt_tokens(prompt: Prompt) -> int:
    """About how many tokens a prompt has: one for four ASCII characters, and one for every other character."""
    return _estimate_tokens("".join(message.content for message in prompt.messages))


def estimate_text_usage(text: str) -> Usage:
    """About how many tokens a text alone takes, without instructions, and an answer."""
    return Usage(prompt_tokens=_estimate_tokens(text), completion_tokens=_ANSWER_TOKENS)


def _estimate_tokens(text: str) -> int:
    ascii_characters = len(text.encode("ascii", "ignore"))
    return round(ascii_characters / _CHARACTERS_PER_TOKEN) + len(text) - ascii_characters


def estimate_tokens_per_character(items: Iterable[Item]) -> float | None:
    """About how many tokens a character of the items' texts takes; None without texts.

    >>> texts = {"en": "A good text.", "ja": "良い文。"}
    >>> estimate_tokens_per_character([Item(tag, tag, "t", fields={"output": text}) for tag, text in texts.items()])
    0.4375
    """
    texts = [value for item in items for value in item.fields.values() if isinstance(value, str) and value]
    return sum(map(_estimate_tokens, texts)) / sum(map(len, texts)) if texts else None


def estimate_usage(call: Call) -> Usage:
    """About how many tokens a call takes."""
    return Usage(prompt_tokens=estimate_prompt_tokens(call.prompt), completion_tokens=estimate_answer_tokens(call.query, call.prompt))
