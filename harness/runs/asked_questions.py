"""The questions of a run: its metrics, variants and conditions; and what decision models can be asked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from harness.content import Board, Library, Task
from harness.content.tags import choose_from
from harness.data.dataset import Dataset
from harness.errors import UsageError
from harness.judges import traits_of
from harness.model import LEVELS, MOST_LEVELS, SAMPLING, Condition, JudgeIdentity, Scale, Variant, parse_variant
from harness.parse import typed_question
from harness.perturb import parse_perturbation
from harness.prompts import OwnPrompt, is_english, load_own_prompt, load_own_rubric, with_rubric
from harness.runs.protocol import AskedQuestions
from harness.runs.run_defaults import DEFAULT_TEMPERATURE
from harness.runs.specification import ChosenConditions, ChosenWordings, RunSpec
from harness.runs.study import study_named
from harness.text import quoted


def refuse_unfit_judges(judges: Iterable[JudgeIdentity | str], conditions: Sequence[Condition], scales: Mapping[str, Scale]) -> None:
    """Raise UsageError for a judge that cannot be asked about these metrics under these conditions: before anything is sent."""
    usual = ("scale", "forward", 0)
    variants = [condition.variant for condition in conditions]
    for_decisions = [variant for variant in variants if (variant.question, variant.options, variant.levels) != usual]
    for judge in judges:
        name = judge if isinstance(judge, str) else judge.name
        if traits_of(judge).decides:
            for problem in problems_of_decisions(conditions, scales):
                raise UsageError(f"{name} cannot be asked: {problem}")
        elif for_decisions:
            raise UsageError(
                f"{name} cannot be asked: the variant '{for_decisions[0]}' is for decision models alone; leave out 'choice', "
                "'options-reversed' and 'levels'"
            )


def needs_levels(scale: Scale) -> bool:
    """Return True if a decision model can be asked about bands of this scale only."""
    return not _is_asked(scale, Variant()) and _is_asked(scale, Variant(levels=MOST_LEVELS))


def _is_asked(scale: Scale, variant: Variant) -> bool:
    try:
        typed_question(scale, variant)
    except ValueError:
        return False
    return True


def problems_of_decisions(conditions: Sequence[Condition], scales: Mapping[str, Scale]) -> Iterator[str]:
    """Yield why a decision model cannot be asked, as clauses that end with what to do."""
    for condition in conditions:
        variant = condition.variant
        if variant.prompt:
            yield "a prompt of your own asks for a text, and a decision model writes none; --rubric words its question"
        if variant.answer != "json" or variant.explain:
            yield f"the variant '{variant}' asks for a text, and a decision model writes none; leave out 'text', 'spans' and 'explain'"
        if variant.call == "conversation":
            yield f"the variant '{variant}' goes on in a conversation, and a decision model writes no answer; write 'single' or 'joint'"
        if variant.shots:
            yield f"the variant '{variant}' shows scored examples, which a decision model does not read; leave them out"
        if variant.persona or variant.reasons:
            yield f"the variant '{variant}' is about a reader or a justification, which a decision model does not have; choose another one"
        if condition.sampling != {"temperature": 0.0}:
            yield "a decision model samples nothing; leave out --temperature and --top-p (--repeats asks again)"
        for metric, scale in scales.items():
            try:
                question = typed_question(scale, condition.variant)
            except ValueError as err:
                bands = "--levels 5 asks about 5 bands of it, and " if needs_levels(scale) else ""
                yield f"'{metric}' {err}; {bands}--metrics leaves it out"
                continue
            if condition.variant.options == "reversed" and question.kind != "choice":
                yield f"'{metric}' has no options in an order of their own; 'choice+options-reversed' asks for a choice"


def asked_questions(spec: RunSpec, metrics: Sequence[str], data: Dataset, board: Board | None) -> AskedQuestions:
    """The questions about the chosen metrics.

    Raises UsageError for a prompt or rubric of the user's own that does not fit the data, and for a variant or condition that cannot be.
    """
    own_prompts = read_prompts(spec)
    rubrics_read = dict(map(load_own_rubric, spec.rubrics))
    own_rubrics = {**spec.own_rubrics, **rubrics_read}
    # The metrics that are asked about: with own prompts alone, only theirs. Raises UsageError for a prompt that does not fit the data.
    for name, prompt in own_prompts.items():
        if prompt.metric not in metrics:
            choices = choose_from(metrics, prompt.metric)
            raise UsageError(f"the prompt '{name}' is about the metric '{prompt.metric}', which is not asked.{choices}")
        if problem := prompt.problem_with(data.scales[prompt.metric], data.items):
            raise UsageError(f"the prompt '{name}' {problem}")
    metric_ids = {prompt.metric for prompt in own_prompts.values()}
    metrics = tuple(metric for metric in metrics if spec.variants or not own_prompts or metric in metric_ids)
    variants = _variants(spec, board, own_prompts, rubrics_read, [data.scales[metric] for metric in metrics])
    if unknown := sorted({variant.prompt for variant in variants if variant.prompt} - own_prompts.keys()):
        raise UsageError(f"the prompt '{unknown[0]}' is not here; --prompt FILE asks with a prompt of your own")
    # With own rubrics alone, only their metrics are asked about. Raises UsageError for a rubric that does not fit the data.
    for name, rubric in own_rubrics.items():
        if rubric.id not in metrics:
            raise UsageError(f"the rubric '{name}' is about the metric '{rubric.id}', which is not asked.{choose_from(metrics, rubric.id)}")
        if rubric.scale != (scale := data.scales[rubric.id]):
            raise UsageError(f"the rubric '{name}' has the scale {rubric.scale.describe()}, but '{rubric.id}' has {scale.describe()}")
    rubric_names = [variant.rubric for variant in variants]
    if unknown := sorted({name for name in rubric_names if name} - own_rubrics.keys()):
        raise UsageError(f"the rubric '{unknown[0]}' is not here; --rubric FILE asks with a rubric of your own")
    of_rubrics = {own_rubrics[name].id for name in rubric_names if name}
    return AskedQuestions(
        metrics=tuple(metric for metric in metrics if metric in of_rubrics or not all(rubric_names)),
        conditions=_conditions(spec, variants, board),
        repeats=spec.repeats or (board.repeats if board else 1),
        seed=spec.seed,
        reask="refused" in spec.reask,
        own_prompts=own_prompts,
        own_rubrics=own_rubrics,
    )


def board_conditions(spec: RunSpec, board: Board, scales: Collection[Scale]) -> tuple[Condition, ...]:
    """The conditions under which a board is asked about metrics with these scales. Raises as `asked_questions`."""
    return _conditions(spec, _variants(spec, board, {}, dict(map(load_own_rubric, spec.rubrics)), scales), board)


def read_prompts(wording: ChosenWordings) -> dict[str, OwnPrompt]:
    """All prompts of the user's own, by name and hash."""
    return {**wording.own_prompts, **dict(map(load_own_prompt, wording.prompts))}


def _variants(
    wording: ChosenWordings,
    board: Board | None,
    own_prompts: Mapping[str, OwnPrompt],
    rubrics: Collection[str],
    scales: Collection[Scale],
) -> tuple[Variant, ...]:
    """The variants that are asked: those of the user or the board, and the user's own prompts. Own prompts alone replace the usual ones.

    Each rubric of the user's own takes the place of the usual one in every variant that is no prompt. Levels are named where one of the
    scales needs them.
    """
    if len(own_prompts) < len(wording.prompts):
        raise UsageError("two of the prompts are the same; name each prompt once")
    usual = () if own_prompts else board.variants if board else ("single",)
    texts = wording.variants or usual
    variants = [_variant(text) for text in texts]
    if rubrics:
        usual_wording = [text for text, variant in zip(texts, variants, strict=True) if not variant.prompt]
        with_rubrics = [with_rubric(text, name) for text in usual_wording for name in rubrics]
        variants = [*with_rubrics, *(variant for variant in variants if variant.prompt)]
    if wording.levels and any(map(needs_levels, scales)):
        variants = [variant if variant.prompt else _variant(f"{variant}+{LEVELS}:{wording.levels}") for variant in variants]
    return (*variants, *(Variant(prompt=name) for name in own_prompts))


def _variant(text: str) -> Variant:
    """Raises UsageError for a text that is no variant."""
    try:
        return parse_variant(text)
    except ValueError as err:
        raise UsageError(str(err)) from None


def _conditions(chosen: ChosenConditions, variants: Sequence[Variant], board: Board | None) -> tuple[Condition, ...]:
    """Every variant under every sampling, in every order, on the unchanged text and on every change of it.

    A change is a perturbation, or the names of the systems in the headings.

    Raises UsageError for a condition that is named twice, also under two names: each answer would count twice.
    """
    temperatures = chosen.temperatures or (board.temperature if board else DEFAULT_TEMPERATURE,)
    perturbations = [
        "",
        *(
            str(parsed)
            for segmenter in chosen.segmenters
            for text in chosen.perturbations
            for parsed in parse_perturbation(text, segmenter)
        ),
    ]
    # Every combination of values of the axes of `SAMPLING`; their fields in a specification have an s behind the name.
    values = {name: getattr(chosen, f"{name}s") for name in SAMPLING} | {"temperature": tuple(map(float, temperatures))}
    samplings: list[dict[str, Any]] = [dict(zip(values, combination, strict=True)) for combination in product(*values.values())]
    conditions = [
        Condition(variant, **sampling, perturbation=perturbation, order=order, shown_source=shown_source)
        for variant in variants
        for sampling in samplings
        for perturbation in dict.fromkeys(perturbations)  # without words, a perturbation is the same for every segmenter
        for shown_source in dict.fromkeys(("none", *chosen.shown_sources))
        for order in chosen.orders or ("forward",)
        if chosen.crossed or variant == variants[0] or sampling["temperature"] == temperatures[0]
    ]
    repeated = next((condition for condition in conditions if conditions.count(condition) > 1), None)
    if repeated is not None:
        raise UsageError(f"'{repeated.words()}' is given twice; name each variant and temperature once, and use --repeats to ask again")
    return tuple(conditions)


def refuse_unsuitable(spec: RunSpec, tasks: Sequence[Task], scales: Mapping[str, Scale]) -> None:
    """Raise UsageError for an order or a shown source that the tasks or scales do not allow."""
    if without_order := study_named(spec.study).without_order:
        tasks = [task for task in tasks if task.is_pair]
        scales = {metric: scale for metric, scale in scales.items() if metric not in without_order}
    single = [task.id for task in tasks if not task.is_pair]
    is_swapped = "swapped" in (spec.orders or ())
    for is_requested, what in ((is_swapped, "an order"), ("swapped" in spec.shown_sources, "sources that can be swapped")):
        if is_requested and single:
            raise UsageError(
                f"only pairs have {what}, and an item of '{single[0]}' has one text; choose pairs with --tasks, or leave it out"
            )
    without = [metric for metric, scale in scales.items() if not scale.swap]
    if is_swapped and without:
        raise UsageError(
            f"the scale of '{without[0]}' does not say what its classes become when the texts change places; add a line such as "
            'swap = { A = "B", B = "A" } to its rubric, choose other metrics with --metrics, or leave out --order'
        )


def instruction_versions(
    wording: ChosenWordings,
    library: Library,
    variants: Collection[Variant],
    languages: Sequence[str],
    tasks: Sequence[str],
    rubrics: Collection[str],
) -> dict[str, str]:
    """Versions of the instructions in other languages.

    Raises UsageError if there are none, or if no native reader has reviewed them, unless allowed: for all languages at once, and with the
    tasks and rubrics of the run that they lack.
    """
    pairs = [(variant, language) for variant in variants for language in languages if variant.asks_about(language)]
    questions = {variant.instructions_in(language) for variant, language in pairs}
    reasons = {variant.reasons_in(language) for variant, language in pairs}
    tags = sorted(tag for tag in questions | reasons if not is_english(tag))
    faults, available = [], [tag for tag in tags if tag in library.instruction_files]
    if absent := quoted(tag for tag in tags if tag not in available):
        faults += [
            f"no instructions in {absent} for a variant with own-language.{choose_from(library.instruction_files)}",
            "A variant without own-language asks in English; 'Add a language' in CONTRIBUTING.md says how to write them",
        ]
    unread = quoted(tag for tag in available if not library.instructions(tag).reviewed_by)
    if unread and not wording.allow_unreviewed:
        faults += [
            f"no native reader has reviewed the instructions in {unread}; --allow-unreviewed uses them, and every table then says so"
        ]
    if faults:
        for tag in available:
            written = library.instructions(tag)
            lacking = [f"[tasks.{name}]" for name in tasks if name not in written.tasks]
            lacking += [f"[rubrics.{name}]" for name in rubrics if name not in written.rubrics]
            if tag in questions and lacking:
                faults.append(f"'{tag}' also lacks {', '.join(lacking)}: translate them, or choose others with --tasks and --metrics")
        raise UsageError("\n         ".join(faults))
    return {tag: library.instructions(tag).version for tag in tags}
