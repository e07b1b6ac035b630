"""From a run specification to a protocol and its data.

Names become items, labels, versions and conditions. What does not exist or does not fit is refused in one sentence.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from harness.content import Board, Library
from harness.content.library import item_files
from harness.content.tags import choose_from, resolve
from harness.data.asked_data import comparable_rubrics, with_compared_labels, with_our_names
from harness.data.dataset import Dataset, load_bundled, load_folder
from harness.data.folders import located
from harness.errors import ContentError, UsageError
from harness.judges import traits_of
from harness.judges.panel import personas_of, refuse_unfit_panels, split_panels
from harness.model import Item, JudgeIdentity, Scale
from harness.parse import Vocabulary, vocabulary_of
from harness.prompts import PromptTemplates, decision_program_hash
from harness.prompts.templates import program_hash
from harness.runs.asked_questions import (
    asked_questions,
    instruction_versions,
    problems_of_decisions,
    read_prompts,
    refuse_unfit_judges,
    refuse_unsuitable,
)
from harness.runs.board_data import DevelopmentPart, development_part, first_items, load_board, needs_development_part
from harness.runs.judgments_from_replies import ReadingRules
from harness.runs.plan import Plan, PlanSources, make_plan
from harness.runs.protocol import AskedJudges, AskedTexts, Majority, ReferenceRule, RunProtocol, WordingVersions
from harness.runs.run_defaults import DEFAULT_BOARD
from harness.runs.specification import ChosenTexts, RunSpec
from harness.runs.study import SelectedTexts, specified, study_named
from harness.store import Store
from harness.text import quoted, short_repr

SWAP_LANGUAGE = "swap-language"
ATTENTION_CHECK = "attention-check"


class Prepared(msgspec.Struct, frozen=True):
    """A protocol with its data: the items to judge with their labels, and the data that examples and baselines may use (`training`).

    `examples` is another data set that few-shot examples are taken from; None: `training`.
    """

    protocol: RunProtocol
    data: Dataset
    training: Dataset
    library: Library
    examples: Dataset | None = None

    def __repr__(self) -> str:
        return short_repr(self, self.protocol.texts.source, items=len(self.data.items), labels=len(self.data.labels))

    @property
    def vocabulary(self) -> Vocabulary:
        """The words that the parser knows: those of all languages, because a judge may answer in a language other than the text's."""
        return vocabulary_of(self.library)

    @property
    def reading(self) -> ReadingRules:
        return ReadingRules(self.data.scales, self.vocabulary, self.protocol.questions.own_prompts)

    def with_majority(self, rule: Majority) -> Prepared:
        """The same with another rule for the reference. Raises UsageError for the median of classes without an order."""
        names = [metric for metric in self.protocol.questions.metrics if self.data.label_scale(metric).kind == "nominal"]
        if rule == "median" and names:
            raise UsageError(f"'{names[0]}' has classes without an order, so no median; take --majority drop or strict")
        return msgspec.structs.replace(self, protocol=self.protocol.with_fields(majority=rule))

    def plan(self, store: Store | None) -> Plan:
        """The plan of the run; prompt templates are cached in `store`."""
        templates = PromptTemplates(store, self.protocol.wording.prompts)
        texts = self.protocol.texts
        only = {metric: frozenset(items) for metric, items in texts.only.items()}
        asks_only = (lambda item, metric, condition: item.item_id in only.get(metric, ())) if only else None
        study = study_named(texts.study)
        # Items that a perturbation may put in place of another one: items of all languages if a perturbation swaps the language. The
        # damaged texts of the data folder are added where they are asked for.
        pool, perturbations = self.training.items, {condition.perturbation for condition in self.protocol.questions.conditions}
        if self.training.checks and ATTENTION_CHECK in perturbations:
            by_id = self.training.by_id
            pool = (*pool, *(check.as_item(by_id[check.original_item_id]) for check in self.training.checks))
        elif SWAP_LANGUAGE in perturbations and not texts.data:
            pool = load_bundled(self.library, self.library.tags_with_items()).items
        sources = PlanSources(self.training, self.examples, pool)
        is_asked = study.is_asked(self.data) if study.is_asked else asks_only
        identities = self.protocol.judges.identities
        if self.protocol.wording.decision_prompts not in ("", decision_program_hash()):
            raise UsageError("this run asked a decision model with another wording of the questions; run it again")
        decides = bool(identities) and all(traits_of(identity).decides for identity in identities)
        return make_plan(
            self.data, self.library, self.protocol.questions, templates, sources, is_asked, decides, store.replies if store else None
        )

    def refuse_unfit_judges(self, judges: Iterable[JudgeIdentity]) -> None:
        """Raise UsageError for a judge that cannot be asked what this run asks."""
        refuse_unfit_judges(judges, self.protocol.questions.conditions, self._asked_scales)

    @property
    def why_no_decisions(self) -> str:
        """Return why no decision model can be asked what this run asks; empty if it can."""
        return next(problems_of_decisions(self.protocol.questions.conditions, self._asked_scales), "")

    @property
    def _asked_scales(self) -> dict[str, Scale]:
        return {metric: self.data.scales[metric] for metric in self.protocol.questions.metrics}

    def refuse_empty(self, plan: Plan) -> None:
        """Raise UsageError for a plan without a call: with the reason, and what to do."""
        if not len(plan):
            raise UsageError(f"there is nothing to ask: {self._why_empty(plan)}")

    def _why_empty(self, plan: Plan) -> str:
        items, protocol = self.data.items, self.protocol
        metrics = ", ".join(protocol.questions.metrics)
        asked_metrics = self.data.asked_metrics
        if not any(metric in asked_metrics.get(item.item_id, ()) for item in items for metric in protocol.questions.metrics):
            if protocol.texts.unlabelled:
                return (
                    f"no task of the items ({', '.join(protocol.wording.tasks)}) has the metric {metrics}. "
                    "Add it to a task with --content DIR, or ask with a prompt of your own: --prompt FILE"
                )
            return f"none of the {len(items)} items has a label on {metrics}. --unlabelled asks about items without labels too"
        variants = sorted({str(condition.variant) for condition in protocol.questions.conditions})
        if not any(
            asked_condition.variant.asks_about(item.language) for asked_condition in protocol.questions.conditions for item in items
        ):
            languages = ", ".join(protocol.texts.languages)
            return f"the variant {', '.join(variants)} names a language that no item has ({languages}); choose another --variant or --langs"
        changes = sorted({condition.perturbation for condition in protocol.questions.conditions if condition.perturbation})
        if plan.realised and not any(realised.applied for realised in plan.realised):
            return f"{', '.join(changes)} can change none of the {len(items)} texts; choose another --perturb or another dose"
        return f"no variant ({', '.join(variants)}) asks about {metrics}; choose others with --variant, --prompt or --metrics"


def with_panels(spec: RunSpec) -> RunSpec:
    """The specification with its panels read, and their members among its judges. Raises as `split_panels`."""
    judges, panels = split_panels(spec.judges)
    personas = {**spec.personas, **personas_of(spec.judges)}
    return replace(spec, judges=judges, panels={**spec.panels, **panels}, personas=personas) if panels else spec


def prepare(spec: RunSpec, library: Library | None = None) -> Prepared:
    """Resolve names, then load and restrict content. Asks no judge. Raises UsageError or ContentError.

    `library`: that of the specification's content, where the caller has it already.
    """
    library = library or Library(*spec.content)
    spec = specified(with_panels(spec), library)
    if spec.data is not None:
        spec = replace(spec, data=located(spec.data, library))  # the run keeps the folder that a name means
    if spec.data is not None and spec.board is None:
        return _prepare_folder(spec, spec.data, library)
    if spec.unlabelled:
        raise UsageError("--unlabelled is for a data folder; pass --data DIR without --board")
    board = library.board(spec.board or DEFAULT_BOARD)
    # Refuse content in other versions than the board names: only with these are its results comparable for ever.
    path = library.board_files[board.id]
    versions = (
        [("task", name, frozen, library.task(name).version) for name, frozen in board.tasks.items()]
        + [("rubric", name, frozen, library.rubric(name).version) for name, frozen in board.rubrics.items()]
        + [
            ("language pack", tag, frozen, library.pack(tag).version)
            for tag, frozen in board.packs.items()
            if library.pack_path(tag, board) is None
        ]
    )
    for kind, name, frozen, current in versions:
        if frozen != current:
            raise ContentError(
                f"the board is frozen on {kind} {name}@{frozen}, but the content has {name}@{current}; make a new version of the board",
                path,
            )
    with_items = {tag for tag in board.packs if (pack := library.pack_path(tag, board)) is not None and item_files(pack)}
    tags = {tag for tag in board.languages if tag not in board.packs or tag in with_items}
    if spec.languages is not None:
        # Refuse a language pack that has no items yet, and one that the board is not frozen on.
        for text in spec.languages:
            if text not in library.pack_files or text in tags:
                continue
            pack = library.pack_files[text]
            if not item_files(pack):
                raise UsageError(
                    f"the language pack '{text}' has no items yet; 'Add a language' in CONTRIBUTING.md says how to write them.\n"
                    f"         with items: {', '.join(sorted(tags))}"
                )
            raise UsageError(
                f"the board {board.id} is frozen without the language '{text}'. Run its pack with --data {pack.parent} in place of "
                f"--langs\n         languages of the board: {', '.join(sorted(tags))}"
            )
    languages = choose_languages(spec, tags)
    source = load_board(board, library, languages, spec.data)
    tasks = choose_names(spec.tasks, board.tasks, "task")
    everything, part = source.everything, None
    if needs_development_part(spec, board, everything):
        part = development_part(everything, source.ever_judged, board.rubrics)
    items = first_items((item for item in source.items if item.task in tasks and not _is_set_aside(item, part)), spec.limit)
    selected = SelectedTexts(everything, items, tasks, choose_names(spec.metrics, board.rubrics, "metric"), languages, part)
    return _resolve_protocol(replace(spec, data=source.folder), library, selected, board)


def _prepare_folder(spec: RunSpec, folder: Path, library: Library) -> Prepared:
    everything = with_our_names(load_folder(folder, library), library)
    if (study := study_named(spec.study)).prepare:
        return _resolve_protocol(spec, library, study.prepare(spec, everything, library))
    languages = choose_languages(spec, {item.language for item in everything.items})
    own_only = bool(spec.prompts or spec.own_prompts) and not spec.variants  # then no task or rubric words the question
    known_tasks = {item.task for item in everything.items if own_only or item.task in library.task_files}
    if not known_tasks:
        # Say what to do with items whose task nothing describes: most often, to ask with the prompt that `harness start` wrote beside
        # them.
        prompts = sorted(path for path in folder.glob("ask*.toml") if path.is_file())
        ask = " ".join(f"--prompt {shlex.quote(str(path))}" for path in prompts) or "--prompt FILE ('harness new prompt ask' writes one)"
        if not prompts and not any(item.fields.get(name) for item in everything.items for name in everything.outputs_of(item)):
            raise UsageError(
                f"{folder} has no texts named 'output', so nobody can be asked about them; 'harness compare {folder}' compares recorded\n"
                "         answers. Where texts have another name, ask with a prompt of your own: " + ask
            )
        raise UsageError(
            f"{folder} has items of {quoted(sorted({item.task for item in everything.items}))}, which no task here describes; "
            f"ask with a prompt of your own: {ask}\n         'harness new task' describes a task for good"
        )
    tasks = choose_names(spec.tasks, sorted(known_tasks), "task")
    our_tasks = [library.task(name) for name in tasks if name in library.task_files]
    metric_names = set(everything.labels.metric.used)
    if spec.unlabelled and (spec.metrics or not metric_names):  # pairs show what a judge does without labels too
        metric_names |= {metric for task in our_tasks for metric in task.metrics}
    own_metrics = frozenset(prompt.metric for prompt in read_prompts(spec).values())
    if spec.unlabelled:  # a prompt of one's own words the question, so the data need no label on it
        metric_names |= own_metrics & set(everything.scales)
    known_metrics = sorted(metric_names if own_only else metric_names & set(library.rubric_files))
    comparable = comparable_rubrics(everything, library)
    if not known_metrics and (unscaled := sorted(own_metrics - set(everything.scales))):
        raise UsageError(
            f"the scale of '{unscaled[0]}', which the prompt asks about, is not known; write it at the end of {folder / 'data.toml'}: "
            f'[metrics.{unscaled[0]}], then in lines of their own kind = "ordinal", classes = [1, 2, 3, 4, 5], best = 5'
        )
    if not (known_metrics or comparable):
        # Say what can be asked where no label is on a metric with a rubric: with a prompt, or about the metrics of the tasks.
        labelled = sorted(everything.labels.metric.used)
        if not labelled:
            raise UsageError(f"{folder} has no labels; --unlabelled asks without labels")
        names = ",".join(dict.fromkeys(metric for task in our_tasks for metric in task.metrics))
        raise UsageError(
            f"{folder} has labels on {', '.join(labelled)}, and no rubric words the question ('harness list rubrics' has those that do). "
            "--prompt FILE asks with a prompt of your own" + (f"; --unlabelled --metrics {names} asks without labels" if names else "")
        )
    usual = None if spec.metrics or not known_metrics else known_metrics
    metrics = tuple(usual or choose_names(spec.metrics, [*known_metrics, *comparable], "metric"))
    everything = with_compared_labels(everything, [comparable[name] for name in metrics if name in comparable])
    part = None
    if needs_development_part(spec, None, everything):
        ever_judged = (item for item in everything.items if item.split == "test" and item.task in known_tasks)
        part = development_part(everything, ever_judged, metrics)
    items = [
        item
        for item in everything.items
        if item.language in languages and item.task in tasks and item.split == "test" and not _is_set_aside(item, part)
    ]
    if spec.unlabelled:
        # On top of the metrics that people labelled: those of a task of ours, and those that are compared with them.
        asks = dict.fromkeys(tasks, own_metrics)
        for item in everything.items:
            if item.task in asks:
                asks[item.task] |= everything.labelled_metrics.get(item.item_id, frozenset())
        for task in our_tasks:
            compared = {name for name in library.rubric_files if library.rubric(name).compared_with in task.metrics}
            asks[task.id] |= compared.union(task.metrics)
        everything = msgspec.structs.replace(everything, asks={task: asked & set(metrics) for task, asked in asks.items()})
    selected = SelectedTexts(everything, first_items(items, spec.limit), tasks, metrics, languages, part)
    return _resolve_protocol(spec, library, selected)


def _is_set_aside(item: Item, part: DevelopmentPart | None) -> bool:
    return part is not None and item.item_id in part.set_aside


def _resolve_protocol(spec: RunSpec, library: Library, selected: SelectedTexts, board: Board | None = None) -> Prepared:
    item_ids = {item for ids in spec.only.values() for item in ids}
    everything = selected.data
    data = everything.only([item for item in selected.items if item.item_id in item_ids] if spec.only else selected.items)
    if not data.items:
        raise UsageError("there is nothing to judge: no item has these languages and tasks")
    # The data set that few-shot examples are taken from, all its items as development items; None: the data that are judged.
    part = selected.development
    examples = part.data if part else None
    if spec.examples is not None and part is None:
        folder = with_our_names(load_folder(spec.examples, library), library)
        examples = msgspec.structs.replace(folder, items=tuple(msgspec.structs.replace(item, split="dev") for item in folder.items))
    questions = asked_questions(spec, selected.metrics, data, board)
    variants = {condition.variant for condition in questions.conditions}
    known_tasks = [library.task(name) for name in selected.tasks if name in library.task_files]
    rubrics = {name: library.rubric(name) for name in questions.metrics if name in library.rubric_files}
    refuse_unfit_panels(spec.panels, {name: data.scales[name] for name in questions.metrics})
    refuse_unsuitable(spec, known_tasks, {name: rubric.scale for name, rubric in rubrics.items()})
    wording = WordingVersions(
        tasks={name: "0" for name in selected.tasks} | {task.id: task.version for task in known_tasks},
        rubrics={name: rubric.version for name, rubric in rubrics.items()},
        prompts=program_hash(),
        instructions=instruction_versions(spec, library, variants, selected.languages, [task.id for task in known_tasks], rubrics),
        examples=(part.origin if part else (examples or everything).sha256[:12]) if any(variant.shots for variant in variants) else "",
        examples_from=str(spec.examples.resolve()) if spec.examples and examples else "",
    )
    rule = ReferenceRule(board.majority, board.annotators) if board else ReferenceRule()
    judges = AskedJudges(panels=dict(spec.panels), own_systems=dict(spec.own_systems), tuned=dict(spec.tuned))
    if board is not None and board.sealed is not None:
        constructed = board.sealed.source == "constructed"
    else:
        constructed = bool(data.labels) and all(label.source == "constructed" for label in data.labels)
    texts = AskedTexts(
        source=f"{board.id}@{board.version}" if board else everything.id,
        title=board.title if board else everything.id,
        constructed=constructed,
        data=str(spec.data.resolve()) if spec.data else None,
        content=tuple(str(path.resolve()) for path in spec.content),
        board=board.id if board else None,
        languages=selected.languages,
        limit=spec.limit,
        data_sha256=data.sha256,
        study=spec.study,
        unlabelled=spec.unlabelled,
        only=dict(spec.only),
    )
    prepared = Prepared(RunProtocol(texts, questions, wording, rule, judges), data, everything, library, examples)
    return prepared.with_majority(spec.majority) if spec.majority else prepared


def choose_languages(chosen: ChosenTexts, available: Collection[str]) -> tuple[str, ...]:
    """Return the languages that a specification names, or all that are available. Raises UsageError for one that is not."""
    available = sorted(available)
    return tuple(available if chosen.languages is None else sorted(resolve(chosen.languages, available, "items")))


def choose_names(names: Sequence[str] | None, available: Sequence[str] | Mapping[str, str], kind: str) -> tuple[str, ...]:
    """Return the chosen names, or all that are available. Raises UsageError for one that is not available, and for one that is twice."""
    if names is None:
        return tuple(available)
    for name in names:
        if name not in available:
            raise UsageError(f"no {kind} '{name}'.{choose_from(available, name)}")
    if len(set(names)) != len(names):
        raise UsageError(f"a {kind} is named twice in '{','.join(names)}'; name each once")
    return tuple(names)
