"""Generate the outputs of a task by models: one query for each different input in each language, a data folder of several systems.

Replies are kept and resumed like those of judges.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec

from harness.asking_options import Settings
from harness.content import Library, Task
from harness.content.specs import Asked, DatasetCard
from harness.content.tags import resolve
from harness.data.asked_data import with_our_names
from harness.data.dataset import Dataset, load_bundled, load_folder, read_back
from harness.data.folders import data_toml, write_folder
from harness.engines import JudgeOpening, check_engine
from harness.errors import IncompleteRun, UsageError
from harness.exchange.labels.pairs_of_outputs import PARALLEL_SOURCE
from harness.judges import Judge, JudgeOptions, traits_of
from harness.judges.judge_protocol import Environment
from harness.model import Condition, Item, JudgeIdentity, Prompt, Query, Reply, Score, Variant
from harness.offensive_texts import refuse_in_repository
from harness.options import part_of
from harness.parse import Vocabulary, clean_text, vocabulary_of, writing_failure
from harness.parse.finish_reasons import was_cut
from harness.parse.language import UNDETERMINED, detect_language
from harness.prompts import PromptTemplate, WritingPrompt, given_texts, is_english, writing_prompt
from harness.row_files import find_table, read_rows, to_json, to_jsonl, write_atomic
from harness.runs.ask_judges import AskingPlace, ReplyReading, Watcher, ask_judges, why_stopped
from harness.runs.board_data import first_items
from harness.runs.derived_files import Spent
from harness.runs.plan import Plan
from harness.runs.prices import CostEstimate, estimate_cost, price_for_engine, price_of
from harness.runs.runner import check_prices, open_with, remote_hosts
from harness.runs.shown_items import ShownItems
from harness.runs.specification import ChosenJudges, GenerateSpec
from harness.store import Store
from harness.store.database import FILE


class WritingSources(msgspec.Struct, frozen=True):
    """The inputs that are written about, as items without an output, and the data that they come from.

    `kept` are the outputs of the data that name their system: they stand beside the new ones.
    """

    task: Task
    everything: Dataset
    items: tuple[Item, ...]
    kept: tuple[Item, ...]


def writing_sources(spec: GenerateSpec, library: Library) -> WritingSources:
    """The inputs of a specification. Raises UsageError for a task, a language or data without any, ContentError for wrong data."""
    task, writing = library.task(spec.task), library.writing(spec.task)
    if spec.data is not None:
        everything = with_our_names(load_folder(spec.data, library), library)
        languages = {item.language for item in everything.items}
    else:
        languages = set(library.tags_with_items())
        everything = load_bundled(library, resolve(spec.languages or languages, languages, "items"))
    chosen = set(resolve(spec.languages or languages, languages, "items"))
    of_languages = [item for item in everything.items if item.language in chosen and item.split == "test"]
    task_items = [item for item in of_languages if item.task == task.id]
    inputs = _inputs(task_items or [item for item in of_languages if item.task == writing.inputs_of], task)
    items = tuple(first_items(inputs, spec.limit, attrgetter("language")))
    if not items:
        raise UsageError(f"no item of {spec.data or 'the language packs'} has the inputs of '{task.id}' ({', '.join(_input_names(task))})")
    groups = {(item.language, item.group) for item in items}
    existing = tuple(item for item in task_items if item.system and (item.language, item.group) in groups) if spec.data else ()
    return WritingSources(task, everything, items, existing)


def _input_names(task: Task) -> list[str]:
    return [name for name, field in task.fields.items() if field.role == "input"]


def _inputs(items: Sequence[Item], task: Task) -> Iterator[Item]:
    """One item for each different input of a language, named after its group, without an output."""
    seen: dict[tuple[str, ...], None] = {}
    in_group: dict[tuple[str, str], int] = {}
    keys = (*_input_names(task), *task.language_keys[1:])
    for item in items:
        texts = {name: item.fields[name] for name in keys if item.fields.get(name)}
        key = (item.language, item.group, *(str(item.fields.get(name, "")).strip() for name in keys))
        if key in seen or not given_texts(item, task):
            continue
        seen[key] = None
        number = in_group[item.language, item.group] = in_group.get((item.language, item.group), 0) + 1
        name = item.group if number == 1 else f"{item.group}-{number}"
        yield Item(name, item.language, task.id, "test", item.group, None, item.parallel_id, texts)


def writing_plan(spec: GenerateSpec, sources: WritingSources, library: Library) -> Plan:
    """One query for each input, at the temperature of the specification."""
    [output] = sources.task.outputs
    condition = Condition(Variant(answer="text"), spec.temperature, spec.top_p)
    items = sorted(sources.items, key=lambda item: (item.language, item.group, item.item_id))

    def queries() -> Iterator[Query]:
        return (Query(item, (output,), condition) for item in items)

    renderer = _WritingRenderer(spec, sources, library)
    return Plan(spec.seed, queries, 1, renderer, lambda query, prompt: prompt.max_tokens // 2)  # half of the longest answer


class _WritingRenderer:
    """Finds the request to write for a query, by language and by the inputs that an item has.

    Raises UsageError for own words that no native reader has reviewed, unless they are allowed.
    """

    def __init__(self, spec: GenerateSpec, sources: WritingSources, library: Library) -> None:
        self.items = ShownItems(library, (), spec.seed)
        self.absent: dict[tuple[str, str, str], tuple[Score, ...]] = {}
        self._task = sources.task
        self._prompts: dict[str, WritingPrompt] = {}
        for language in {item.language for item in sources.items}:
            translated = spec.own_language and not is_english(language)
            self._prompts[language] = writing_prompt(library, sources.task, language, own_language=spec.own_language)
            if translated and not library.instructions(language).reviewed_by and not spec.allow_unreviewed:
                raise UsageError(f"no native reader has reviewed the instructions in '{language}'; --allow-unreviewed uses them")
        self._templates: dict[tuple[str, tuple[str, ...]], PromptTemplate] = {}

    def prompt(
        self, query: Query, item: Item, decides: bool = False, prompt_id: str | None = None, answers: Sequence[str] | None = None
    ) -> Prompt:
        key = (query.item.language, given_texts(query.item, self._task))
        if key not in self._templates:
            self._templates[key] = self._prompts[key[0]].template(key[1])
        return self._templates[key].fill(item, prompt_id)


NOTE = "writing.json"
"""The file of a folder that says who wrote its texts, how they were asked, and what was removed from their answers."""


class WriterSummary(msgspec.Struct):
    """The output of one system in one language: texts, failures by name, kinds of removals, and what may be wrong with the texts.

    `cut` counts texts that end at the limit of tokens, `other_language` those that were identified as another language.
    """

    system: str
    language: str
    texts: int = 0
    failures: dict[str, int] = {}
    removed: dict[str, int] = {}
    cut: int = 0
    other_language: int = 0
    missing: int = 0
    spent: Spent = msgspec.field(default_factory=Spent)
    cost: float | None = None  # in US dollars; None: no price is known


class Generated(msgspec.Struct, frozen=True):
    """The written folder: how many outputs it has, how many of them were there before, and how each writer did."""

    folder: Path
    rows: int
    kept: int
    earlier: int
    summaries: tuple[WriterSummary, ...]


def generate_outputs(spec: GenerateSpec, out: Path, watcher: Watcher, settings: Settings) -> Generated:
    """Ask the writers for every input that has no answer in `out` yet, then write the data folder.

    Raises UsageError, ContentError, JudgeError and StoreError as `run`, and IncompleteRun if calls have no answer: the folder then holds
    the answers so far, and the same command continues.
    """
    library = Library(*spec.content)
    # Refuse a folder with data that this command did not write.
    if out.is_file() or (out.is_dir() and find_table(out, "items") and not (out / NOTE).is_file()):
        raise UsageError(f"--out {out} holds other data; name a new folder, or one that 'harness generate' has written")
    if (out / FILE).is_file() and (out / "runs").is_dir():
        raise UsageError(f"--out {out} is the results folder of 'harness run'; name a new folder for the texts")
    check_engine(settings)
    sources = writing_sources(spec, library)
    refuse_in_repository(out, sources.everything.about)
    judges, openings = _open_writers(spec, sources, settings.timeout)
    check_engine(settings, judges)
    check_prices(judges, settings)
    _refuse_unsuitable(judges, sources)
    plan = writing_plan(spec, sources, library)
    for host in remote_hosts(judges, settings) if spec.data else ():
        watcher.consent(host, len(sources.items))
    vocabulary = vocabulary_of(library)
    with Store.writing(out) as store:

        def failures(query: Query, reply: Reply) -> list[Any]:
            failure = writing_failure(reply, vocabulary)
            return [] if failure is None else [failure]

        reading = ReplyReading("generate", failures, lambda query, reply: len(failures(query, reply)), reask=spec.reask)
        sessions, _ = ask_judges(judges, openings, plan, AskingPlace(store, reading, settings), watcher)
        outputs = _Outputs(spec, sources, library, vocabulary)
        for judge in judges:
            outputs.read(judge.identity, plan, store)
        generated = _write(out, spec, outputs, library, [judge.identity for judge in judges], settings)
    missing = sum(summary.missing for summary in generated.summaries)
    if missing:
        reason = why_stopped(sessions, "interrupted")
        message = f"calls without an answer: {missing} ({reason}). Run the same command again: all answers are kept"
        raise IncompleteRun(message, generated, interrupted=any(session.interrupted for session in sessions))
    return generated


def planned_writing(spec: GenerateSpec, settings: Settings) -> tuple[list[tuple[str, CostEstimate]], Plan]:
    """The estimate of each writer, by its name, and the plan, for a dry run: nothing is asked or stored."""
    library = Library(*spec.content)
    sources = writing_sources(spec, library)
    judges, _ = _open_writers(spec, sources)
    _refuse_unsuitable(judges, sources)
    plan = writing_plan(spec, sources, library)
    prices = ((judge.identity, price_for_engine(judge.identity, settings)) for judge in judges)
    return [(identity.name, estimate_cost(plan.calls(identity), price)) for identity, price in prices], plan


def _open_writers(spec: GenerateSpec, sources: WritingSources, timeout: float | None = None) -> tuple[list[Judge], dict[str, JudgeOpening]]:
    options = JudgeOptions(spec.base_url.get(""), Environment(os.environ), sources.everything, spec.seed, timeout)
    return open_with(part_of(spec, ChosenJudges, judges=spec.writers), options)


def _refuse_unsuitable(judges: Sequence[Judge], sources: WritingSources) -> None:
    """Raise UsageError for a writer that writes nothing, or whose name a system of the data has already."""
    systems = {item.system for item in sources.kept}
    for judge in judges:
        if traits_of(judge).is_baseline or traits_of(judge).decides:
            raise UsageError(f"'{judge.identity.name}' gives scores and writes no texts; name models with --by")
        if judge.identity.name in systems:
            raise UsageError(f"the data hold outputs of the system '{judge.identity.name}' already; leave it out of --by")


class _Outputs:
    """The rows of the new outputs, and what each writer did, by system and language."""

    def __init__(self, spec: GenerateSpec, sources: WritingSources, library: Library, vocabulary: Vocabulary) -> None:
        self.sources = sources
        self.rows: list[dict[str, Any]] = []
        self.summaries: dict[tuple[str, str], WriterSummary] = {}
        request = f"{spec.task}@{library.writing(spec.task).version}"
        how = {name: getattr(spec, name) for name in ("own_language", "temperature", "top_p", "seed")}
        self.asked = {"request": request, **how}
        self._spec, self._library, self._vocabulary = spec, library, vocabulary

    def read(self, identity: JudgeIdentity, plan: Plan, store: Store) -> None:
        """Read the replies of one writer."""
        calls = plan.calls(identity)
        for query, reply in zip(plan.queries(), store.replies(calls.all_call_ids()), strict=True):
            key = (identity.name, query.item.language)
            summary = self.summaries.setdefault(key, WriterSummary(*key))
            if reply is None:
                summary.missing += 1
                continue
            summary.spent.add(reply)
            failure = writing_failure(reply, self._vocabulary)
            if failure is None:
                # The lead-ins of the English request and, if there is one, of the request in the language.
                english = self._library.writing(self._spec.task).words.lead_ins
                instructions = (
                    self._library.instructions(query.item.language).writing
                    if query.item.language in self._library.instruction_files
                    else {}
                )
                lead_ins = (*english, *(instructions[self._spec.task].lead_ins if self._spec.task in instructions else ()))
                written = clean_text(reply.text, lead_ins)
                cut, detected = was_cut(reply.finish_reason), detect_language(written.text, self._vocabulary)
                summary.texts += 1
                summary.cut += cut
                summary.other_language += detected not in (UNDETERMINED, query.item.language.partition("-")[0])
                summary.removed = _plus(summary.removed, written.removed)
                [output] = self.sources.task.outputs
                row = _item_row(msgspec.structs.replace(query.item, parallel_id=None))
                row |= {PARALLEL_SOURCE: query.item.parallel_id} if query.item.parallel_id else {}
                row |= {"item_id": f"{query.item.item_id}|{identity.name}", "system": identity.name, output: written.text}
                about = self.asked | {"model": reply.model, "left_out": reply.left_out}
                about |= {"removed": written.removed, "cut": cut, "language": detected}
                raw = {"raw_output": reply.text} if written.removed else {}
                self.rows.append({**row, "written": about, **raw})
            else:
                summary.failures = _plus(summary.failures, [str(failure)])


def _plus(counts: Mapping[str, int], names: Sequence[str]) -> dict[str, int]:
    return dict(sorted((Counter(counts) + Counter(names)).items()))


def _item_row(item: Item) -> dict[str, Any]:
    row: dict[str, Any] = msgspec.to_builtins(item)
    fields: dict[str, Any] = row.pop("fields")
    return {name: value for name, value in row.items() if value is not None} | fields


def _write(
    out: Path, spec: GenerateSpec, outputs: _Outputs, library: Library, identities: Sequence[JudgeIdentity], settings: Settings
) -> Generated:
    """Write the data folder. Outputs that earlier commands wrote there stay, unless they were written again."""
    sources = outputs.sources
    kept_rows = [_item_row(item) for item in sources.kept]
    rows = {row["item_id"]: row for row in (*kept_rows, *outputs.rows)}
    path = find_table(out, "items") if (out / NOTE).is_file() else None
    earlier = [row for _, row in read_rows(path) if row["item_id"] not in rows] if path else []
    item_rows = [*earlier, *rows.values()]
    labels = sources.everything.only(sources.kept).labels
    systems = list(dict.fromkeys(str(row["system"]) for row in item_rows if row.get("system")))
    about = sources.everything.about if spec.data else DatasetCard(id="control-items")
    wrote = f"texts written by {', '.join(systems)}; {NOTE} says how they were asked and what was removed from their answers"
    changed: dict[str, Any] = {"asked": Asked(), "shared": None, "group": "group", "segment": "", "tasks": {}, "repeats": "numbered"}
    if not len(labels):
        changed |= {"source": "constructed", "annotators": "aggregate", "metrics": {}}
    card = msgspec.structs.replace(
        about, id=f"{about.id}-{spec.task}-generated", title=f"{spec.task}, written by models", notes=(*about.notes, wrote), **changed
    )
    label_rows = (msgspec.to_builtins(label) for label in labels)
    files = {"items.jsonl": to_jsonl(item_rows), "data.toml": data_toml(card).encode()}
    if len(labels):
        files["labels.jsonl"] = to_jsonl(label_rows)
    summaries = tuple(outputs.summaries.values())
    for summary in summaries:
        price = price_of(next(identity for identity in identities if identity.name == summary.system), settings.prices)
        summary.cost = None if price is None else round(price.cost(summary.spent.usage), 6)
    counts = {"items": len(item_rows)} | ({"labels": len(labels)} if len(labels) else {})
    write_folder(out, files, read_back(out, library, counts))
    note = {
        "schema_version": 1,
        "task": spec.task,
        **outputs.asked,
        "data_sha256": outputs.sources.everything.sha256,
        "writers": identities,
        "written": summaries,
        "version": version("judge-harness"),
    }
    write_atomic(out / NOTE, to_json(note), private=True)
    return Generated(out, len(item_rows), len(kept_rows), len(earlier), summaries)
