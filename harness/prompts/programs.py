"""The prompts, as guidance programs, and how they become messages. Their words come from `wording` and from content files.

What several calls share comes first: role, task, examples, item. The metric comes last. A local model then reads an item once for all
its metrics, and the prompt caches of providers are used.

Texts of items are untrusted. They enter as `guidance.string`, never through an f-string.

`record` renders a program to chat messages and a JSON schema, without a model. guidance's own OpenAI backend always streams, has no async
and drops `temperature=0.0`. So programs are written in guidance and reach any endpoint as plain messages. The recorder takes the place of
guidance's interpreter for a model. It uses private names of guidance: the version is pinned, and `tests/unit/prompts/test_programs.py`
checks that these names still work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, cast

import guidance
from guidance import assistant, system, user
from guidance._ast import ASTNode, JsonNode, LiteralNode, RegexNode, RoleEnd, RoleStart, RuleNode
from guidance._schema import SamplingParams
from guidance.models._base import Interpreter, Model, State
from guidance.trace import OutputAttr

from harness.content.specs import WritingWords
from harness.model import Message
from harness.prompts.answer_schema import JUSTIFICATION_CHARACTERS, MAX_SPANS, SPAN_CHARACTERS
from harness.prompts.prompt_spec import PromptSpec, source_of
from harness.text import fill_placeholders


@guidance(dedent=False)  # type: ignore[operator, untyped-decorator]
def judging_program(lm: Any, spec: PromptSpec, texts: Mapping[str, str]) -> Any:
    """One call: role and task, examples, the item's texts, one or several metrics, and a hole for the answer."""
    words, task = spec.wording.words, spec.wording.task
    with system():
        lm += guidance.string("\n".join(filter(None, (words.persona, words.system_pair or words.system, answer_form(spec)))))
    with user():
        meant_for = fill_placeholders(words.meant_for_pair or words.meant_for, language=spec.wording.language_name)
        lm += guidance.string(f"{task.instruction.strip()}\n{meant_for}")
        for part in example_parts(spec):
            lm += guidance.string(part)
        for name in spec.text_names:
            before_source, after_source = text_heading(name, spec)
            lm += guidance.string(f"\n\n{before_source}")
            if name in spec.named_sources:
                lm += guidance.string(texts[source_of(name)])
            lm += guidance.string(f'{after_source}\n"""\n')
            lm += guidance.string(texts[name])
            lm += guidance.string('\n"""')
        for metric in spec.scales:
            lm += guidance.string(f"\n\n{metric_text(metric, spec)}")
        lm += guidance.string(f"\n\n{reminder(spec)}")
    with assistant():
        lm += answer_hole(spec)
    return lm


@guidance(dedent=False)  # type: ignore[operator, untyped-decorator]
def next_question_program(lm: Any, spec: PromptSpec, texts: Mapping[str, str]) -> Any:
    """A later turn of a conversation: the texts that no earlier turn showed, one metric, and a hole. The task stands in the first turn."""
    [metric] = spec.scales
    with user():
        for name in spec.text_names:
            lm += guidance.string(f'{"".join(text_heading(name, spec))}\n"""\n')
            lm += guidance.string(texts[name])
            lm += guidance.string('\n"""\n\n')
        lm += guidance.string(f"{metric_text(metric, spec)}\n\n{reminder(spec)}")
    with assistant():
        lm += answer_hole(spec)
    return lm


def answer_hole(spec: PromptSpec) -> Any:
    """The hole for the answer: a text, or JSON with the schema of the spec."""
    if spec.variant.answer == "text":
        return guidance.gen(name="answer", max_tokens=spec.max_tokens)
    return guidance.json(name="answer", schema=spec.schema, max_tokens=spec.max_tokens)


def text_heading(name: str, spec: PromptSpec) -> tuple[str, str]:
    """The heading above a text, in two parts: who wrote the text stands between them, if that is shown."""
    words, title = spec.wording.words, spec.wording.task.fields[name]
    if name not in spec.named_sources:
        return fill_placeholders(words.heading, title=title), ""
    before, _, after = words.heading_from.partition("{source}")
    return fill_placeholders(before, title=title), fill_placeholders(after, title=title)


def example_parts(spec: PromptSpec) -> Iterator[str]:
    """The scored examples, metric by metric. Each text stands between triple quotes, as the text to be judged does."""
    if not spec.examples:
        return
    wording = spec.wording
    words = wording.words
    yield f"\n\n{words.examples}"
    for number, example in enumerate(spec.examples, start=1):
        yield f"\n\n{fill_placeholders(words.example, number=str(number))}"
        for name, text in example.texts.items():
            yield f'\n{fill_placeholders(words.heading, title=wording.task.fields[name])}\n"""\n{text}\n"""'
        yield f"\n{fill_placeholders(words.given, title=wording.rubrics[example.metric].title, score=str(example.score))}"
    yield f"\n\n{words.now}"


def metric_text(metric: str, spec: PromptSpec) -> str:
    """The part about one metric: its simple instruction, or its description with criteria for every score."""
    words, rubric = spec.wording.words, spec.wording.rubrics[metric]
    title = fill_placeholders(words.question_about if spec.joint else words.question, metric=metric, title=rubric.title)
    if spec.variant.instructions == "simple":
        return f"{title}\n{rubric.simple.strip()}"
    criteria = "\n".join(
        f"{fill_placeholders(words.score, score=score)}\n" + "\n".join(f"- {point}" for point in points)
        for score, points in rubric.criteria.items()
    )
    return f"{title}\n{rubric.description.strip()}\n{criteria}"


def answer_form(spec: PromptSpec) -> str:
    """The form of the answer in words, for endpoints that enforce no schema. It names no metric, so that all calls share it."""
    words = spec.wording.words
    if spec.variant.answer == "text":
        return words.form_text
    justification = fill_placeholders(words.justification_key, characters=str(JUSTIFICATION_CHARACTERS))
    if spec.variant.answer == "spans":
        justification = fill_placeholders(words.errors_key, count=str(MAX_SPANS), characters=str(SPAN_CHARACTERS))
    form = words.form_joint if spec.joint else words.form_single
    return fill_placeholders(form, keys=_keys_in_order(spec, justification, words.score_key))


def reminder(spec: PromptSpec) -> str:
    """The last line. After a long text, small models forget the form and answer in the language of the text."""
    words = spec.wording.words
    if spec.variant.answer == "text":
        space = "" if words.reminder_text.endswith("。") else " "  # scripts with this full stop have no spaces
        return f"{words.reminder_text}{space}{words.explain}".strip()
    return fill_placeholders(words.reminder, keys=_keys_in_order(spec, words.the_errors or words.short_reason, words.the_score))


def _keys_in_order(spec: PromptSpec, justification: str, score: str) -> str:
    then = spec.wording.words.then
    by_position = {
        "before": fill_placeholders(then, first=justification, second=score),
        "after": fill_placeholders(then, first=score, second=justification),
        "none": score,
    }
    return by_position[spec.variant.justification]


@guidance(dedent=False)  # type: ignore[operator, untyped-decorator]
def writing_program(
    lm: Any, words: WritingWords, request: str, headings: Mapping[str, str], texts: Mapping[str, str], max_tokens: int
) -> Any:
    """One call: who writes, the request, the item's inputs under their headings, and a hole for the text."""
    with system():
        lm += guidance.string(words.system)
    with user():
        lm += guidance.string(request)
        for name, text in texts.items():
            lm += guidance.string(f'\n\n{headings[name]}\n"""\n')
            lm += guidance.string(text)
            lm += guidance.string('\n"""')
        lm += guidance.string(f"\n\n{words.reminder}")
    with assistant():
        lm += guidance.gen(name="answer", max_tokens=max_tokens)
    return lm


_ONE_HOLE = "a judging program has exactly one hole, and it is guidance.json(...), or guidance.gen(...) for a text"


class _RecordedMessages(State):
    """The finished messages, the text of the open one, and the JSON schema of the hole; an empty one for a text."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[Message] = []
        self.open_text: list[str] = []
        self.schema: dict[str, Any] | None = None
        self.max_tokens: int | None = None

    def __str__(self) -> str:
        return "".join(self.open_text)


class _Recorder(Interpreter[_RecordedMessages]):
    def role_start(self, node: RoleStart, **kwargs: Any) -> Iterator[OutputAttr]:
        self.state.active_role = node.role
        yield from ()

    def role_end(self, node: RoleEnd, **kwargs: Any) -> Iterator[OutputAttr]:
        text = "".join(self.state.open_text)
        if text:  # the role of the answer holds only the hole
            self.state.messages.append(Message(role=cast(Literal["system", "user", "assistant"], node.role), content=text))
        self.state.open_text = []
        self.state.active_role = None
        yield from ()

    def text(self, node: LiteralNode, **kwargs: Any) -> Iterator[OutputAttr]:
        self.state.open_text.append(node.value)
        yield from ()

    def rule(self, node: RuleNode, **kwargs: Any) -> Iterator[OutputAttr]:
        if not isinstance(node.value, (JsonNode, RegexNode)) or self.state.schema is not None:
            raise ValueError(_ONE_HOLE)
        self.state.schema = node.value.schema if isinstance(node.value, JsonNode) else {}
        self.state.max_tokens = node.max_tokens
        yield from ()


def record(program: ASTNode | Any) -> tuple[tuple[Message, ...], dict[str, Any], int]:
    """Return messages, schema and max_tokens of a called program, e.g. `record(judging_program(spec, texts))`.

    The schema of a text is empty. Raises ValueError when the program has no hole or several.
    """
    sampling = SamplingParams(top_p=None, top_k=None, min_p=None, repetition_penalty=None)
    model = Model(_Recorder(_RecordedMessages()), sampling, echo=False)
    model = model + program + ""  # the empty text closes the last role
    recorded = cast(_RecordedMessages, model._interpreter.state)
    if recorded.schema is None or recorded.max_tokens is None:
        raise ValueError(_ONE_HOLE)
    return tuple(recorded.messages), recorded.schema, recorded.max_tokens
