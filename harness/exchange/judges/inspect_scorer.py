"""`harness/judge`: our question as a scorer of Inspect. The model is one of Inspect's; prompt and parser are ours.

Inspect finds this module by the entry point `inspect_ai`. It is the only one that imports that package, which the extra `inspect` installs.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import version
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ResponseSchema,
    get_model,
)
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState
from inspect_ai.util import JSONSchema

from harness.exchange.judges.instrument import Instrument, InstrumentSpec, value_at
from harness.exchange.scores.external_scores import metadata_of_judgment
from harness.model import JudgeIdentity, Reply

_MESSAGES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
_FINISH_REASONS = {"max_tokens": "length", "model_length": "length"}
_instrument = lru_cache(maxsize=16)(Instrument)


@scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator,unused-ignore]
def judge(
    metric: str | None = None,
    language: str = "metadata.language",
    task: str | None = None,
    variant: str = "single",
    prompt: str | None = None,
    temperature: float = 0.0,
    model: str | None = None,
    model_role: str = "grader",
    structured: bool = True,
    allow_unreviewed: bool = False,
    content: str | None = None,
) -> Scorer:
    """Ask a model about one metric of the output, as `harness run` asks.

    Args:
        metric: a metric with a rubric (`harness list rubrics`); not needed with `prompt`.
        language: of the output: a tag, or where it stands, such as `metadata.language`.
        task: whose words put the question; needed where several tasks ask about the metric.
        variant: how the question is put; one metric, without examples.
        prompt: a prompt file of your own, instead of metric and task.
        temperature: of the judge.
        model: the judge; without it, the model that has the role.
        model_role: the role of the judge, bound with `--model-role grader=...`.
        structured: whether the answer's JSON schema is sent along; turn it off for providers that refuse it.
        allow_unreviewed: whether instructions may be used that no native reader has reviewed.
        content: a folder with further tasks and rubrics.

    The other texts of an item are in the sample's metadata, under our names (`prompt`, `source`, ...); the first one that is not
    there is the sample's input. A reply without a score leaves the sample unscored.
    """
    question = {"metric": metric, "task": task, "variant": variant, "temperature": temperature, "allow_unreviewed": allow_unreviewed}
    instrument = _instrument(InstrumentSpec.from_texts(prompt=prompt, content=content, **question))

    async def score(state: TaskState, target: Target) -> Score:
        grader = get_model(model) if model else get_model(role=model_role, required=True)
        metadata = state.metadata or {}
        tag = str(value_at(language, {"metadata": metadata}))
        item = instrument.item(str(state.sample_id), tag, metadata, state.output.completion, state.input_text)
        # The judge as runs name it, with the program that asked.
        provider, _, name = str(grader).partition("/")
        identity = JudgeIdentity(provider, name, {"asked_by": f"inspect_ai-{version('inspect_ai')}"})
        call = instrument.call(item, identity, state.epoch - 1)
        messages: list[ChatMessage] = [_MESSAGES[message.role](content=message.content) for message in call.prompt.messages]
        schema: Any = None
        if structured and call.prompt.schema:
            schema = ResponseSchema(name="answer", json_schema=JSONSchema.model_validate(call.prompt.schema), strict=True)
        output = await grader.generate(
            messages,
            config=GenerateConfig(temperature=call.temperature, seed=call.seed, max_tokens=call.prompt.max_tokens, response_schema=schema),
        )
        stop_reason = str(output.stop_reason)
        reply = Reply(text=output.completion, model=output.model, finish_reason=_FINISH_REASONS.get(stop_reason, stop_reason))
        judgment = instrument.read(call, reply, identity)
        about = {
            "grading": [*messages, output.message],
            **metadata_of_judgment(judgment, instrument.signature(identity, judgment.language), item),
        }
        if judgment.score is None:
            reason = "refusal" if judgment.failure == "refused" else "grader_failed"
            return Score.unscored(reason=reason, answer=state.output.completion, explanation=output.completion, metadata=about)
        explanation = judgment.justification or output.completion
        return Score(value=judgment.score, answer=state.output.completion, explanation=explanation, metadata=about)

    return score
