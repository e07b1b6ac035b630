"""Check what decision models can be asked: questions with up to ten options, without examples, sampling or the user's own prompts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.errors import UsageError
from harness.judges import traits_of
from harness.model import MOST_LEVELS, Condition, JudgeIdentity, Scale, Variant
from harness.parse import typed_question


def refuse_unfit_judges(judges: Iterable[JudgeIdentity | str], conditions: Sequence[Condition], scales: Mapping[str, Scale]) -> None:
    """Raise UsageError for a judge that cannot be asked about these metrics under these conditions: before anything is sent."""
    for judge in judges:
        problems = problems_of_decisions(conditions, scales) if traits_of(judge).decides else _problems_of_writing(conditions)
        for problem in problems:
            raise UsageError(f"{judge if isinstance(judge, str) else judge.name} cannot be asked: {problem}")


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


def _problems_of_writing(conditions: Sequence[Condition]) -> Iterator[str]:
    for condition in conditions:
        variant = condition.variant
        if (variant.question, variant.options, variant.levels) != ("scale", "forward", 0):
            yield f"the variant '{variant}' is for decision models alone; leave out 'choice', 'options-reversed' and 'levels'"
