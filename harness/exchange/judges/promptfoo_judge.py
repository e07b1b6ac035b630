"""Our judge as a python assertion of promptfoo: `get_assert` asks the judge that the assertion's `config` names.

`harness export promptfoo-judge` writes the assertion. Prompt, transport, parser and failures are those of a run.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from harness.engines.retries import RetryPolicy, backoff
from harness.errors import HarnessError, JudgeError, UsageError
from harness.exchange.judges.instrument import Instrument, InstrumentSpec, value_at
from harness.exchange.scores.external_scores import METADATA_KEY, metadata_of_judgment
from harness.judges import Judge, JudgeOptions, NoReply, open_judge, traits_of
from harness.model import Call, Reply
from harness.row_files import escape_controls, write_together

ATTEMPTS = 4  # of one call; promptfoo stops an assertion that takes longer than its own limit
LONGEST_WAIT_SECONDS = 60.0  # between two attempts, whatever the endpoint asks for

SCRIPT, SETTINGS = "harness_judge.py", "harness_judge.yaml"
_SCRIPT = '''\
"""A judge as a python assertion of promptfoo. PROMPTFOO_PYTHON has to be a Python in which judge-harness is installed."""

from pathlib import Path

from harness.exchange.judges import promptfoo_judge


def get_assert(output, context):
    return promptfoo_judge.get_assert(output, context, Path(__file__).resolve().parent)
'''
_HEADING = f"""\
# Test settings of promptfoo: write `defaultTest: file://{SETTINGS}` into promptfooconfig.yaml, or copy the assertions.
# Scores are on the metric's own scale; a `threshold` is the lowest score that passes.
"""


class AssertionConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `config` of an assertion.

    Attributes:
        judge: who is asked, as `harness run --judge` names it.
        language: of the output: a tag, or where it stands, such as `vars.language`.
        metric, task, variant, prompt, temperature, content, allow_unreviewed: see `InstrumentSpec`.
        base_url: the endpoint of an `openai/` judge; without it, that of the environment.
        headers: further headers of requests, with the names of the environment variables that hold their values: these may be secrets.
        body: further fields of requests.
    """

    judge: str
    metric: str | None = None
    language: str = "vars.language"
    task: str | None = None
    variant: str = "single"
    prompt: str | None = None
    temperature: float = 0.0
    content: str | None = None
    allow_unreviewed: bool = False
    base_url: str | None = None
    headers: dict[str, str] = {}
    body: dict[str, Any] = {}

    def judge_options(self, environment: Mapping[str, str]) -> JudgeOptions:
        """Return what the judge is opened with. Raises UsageError for a header whose variable is not set."""
        if missing := [f"{variable} (for {name})" for name, variable in self.headers.items() if variable not in environment]:
            raise UsageError(f"the environment has no variable {', '.join(missing)}; set it before promptfoo is started")
        headers = {name: environment[variable] for name, variable in self.headers.items()}
        return JudgeOptions(self.base_url, environment, headers=headers, body=self.body)

    @property
    def instrument(self) -> InstrumentSpec:
        names = ("metric", "task", "variant", "prompt", "temperature", "content", "allow_unreviewed")
        return InstrumentSpec.from_texts(**{name: getattr(self, name) for name in names})


_instrument = lru_cache(maxsize=16)(Instrument)


def get_assert(output: str, context: Mapping[str, Any], folder: Path = Path()) -> dict[str, Any]:
    """The result of one assertion: the judge's score of `output`, on its own scale. Paths in `config` are relative to `folder`.

    `pass` is true where there is a score; an assertion's `threshold` is promptfoo's own and is compared with the score. A class that is a
    word counts 1 if it is the best one, else 0. Without a score, promptfoo has to show a 0: `metadata.graderError` says that it is none.
    """
    try:
        try:
            config = msgspec.convert(dict(context.get("config") or {}), AssertionConfig)
        except msgspec.ValidationError as err:
            raise UsageError(f"the config of the assertion is wrong: {err}") from None
        paths = {name: path and str(folder / path) for name, path in (("prompt", config.prompt), ("content", config.content))}
        config = msgspec.structs.replace(config, **paths)
        instrument = _instrument(config.instrument)
        variables = context.get("vars") or {}
        values = {"vars": variables, "metadata": (context.get("test") or {}).get("metadata") or {}}
        language = str(value_at(config.language, values))
        item_id = str(variables.get("item_id") or (context.get("test") or {}).get("description") or "item")
        item = instrument.item(item_id, language, variables, output, str(context.get("prompt") or ""))
        judge = open_judge(config.judge, config.judge_options(os.environ))
        call = instrument.call(item, judge.identity)
        reply = asyncio.run(_ask(judge, call))
        judgment = instrument.read(call, reply, judge.identity)
        about = metadata_of_judgment(judgment, instrument.signature(judge.identity, judgment.language), item)
        about[METADATA_KEY] |= {"reply": reply.text, "finish_reason": reply.finish_reason, "refusal": reply.refusal}
        if judgment.score is None:
            return _without_score(f"no score ({judgment.failure}): {reply.text or reply.refusal or ''}", about)
        score = judgment.score
        number = float(score == instrument.scale.best) if isinstance(score, str) else score
        reason = judgment.justification or f"{judgment.judge} gave {score}"
        return {"pass": True, "score": number, "reason": reason, "metadata": about}
    except HarnessError as err:
        return _without_score(f"no score: {err}", {})


async def _ask(judge: Judge, call: Call) -> Reply:
    """The reply to one call. Raises JudgeError after the last attempt without one."""
    await judge.start([call])
    policy = RetryPolicy(ATTEMPTS)
    try:
        while True:
            try:
                return await judge.answer(call)
            except NoReply as err:
                policy.record_failure(counts=True)
                wait = backoff(policy.failures) if err.retry_after is None else err.retry_after
                if not policy.allows_another(first=False):
                    raise JudgeError(f"no reply after {policy.failures} attempts: {err}") from None
                if wait > LONGEST_WAIT_SECONDS:
                    raise JudgeError(
                        f"no reply: {err}; the endpoint asks to wait {wait:,.0f} seconds, and an assertion waits at most "
                        f"{LONGEST_WAIT_SECONDS:g}"
                    ) from None
                await asyncio.sleep(wait)
    finally:
        await judge.stop()


def _without_score(reason: str, about: dict[str, Any]) -> dict[str, Any]:
    return {"pass": False, "score": 0, "reason": reason, "metadata": about | {"graderError": True}}


def write_promptfoo_judge(folder: Path, configs: Sequence[AssertionConfig]) -> list[Path]:
    """Write the assertion's script and settings with one assertion for each of `configs`; returns the paths.

    Raises UsageError for a judge or a question that cannot be asked, and if one of the files exists.
    """
    assertions = [_write_assertion(config, folder) for config in configs]
    paths = [folder / SCRIPT, folder / SETTINGS]
    if existing := next((path for path in paths if path.exists()), None):
        raise UsageError(f"{existing} exists; remove it, or choose another folder with --to")
    write_together(dict(zip(paths, (_SCRIPT, _HEADING + "assert:\n" + "".join(assertions)), strict=True)))
    return paths


def _write_assertion(config: AssertionConfig, folder: Path) -> str:
    """One assertion in YAML; its values are JSON, which is YAML too. Its paths are relative to the folder of the script."""
    instrument = Instrument(config.instrument)
    if traits_of(config.judge).is_baseline:
        raise UsageError(f"'{config.judge}' learns from the labels of a run, which promptfoo does not have; choose a model")
    open_judge(config.judge, config.judge_options(dict.fromkeys(config.headers.values(), "")))  # a wrong name is refused now
    paths = {name: path and os.path.relpath(path, folder) for name, path in (("prompt", config.prompt), ("content", config.content))}
    written = msgspec.to_builtins(config) | paths
    settings = {name: value for name, value in written.items() if value != _DEFAULTS[name]}
    # The lowest score that passes is the best one. promptfoo has none for scales on which lower is better; a word counts 1 if it is best.
    scale = instrument.scale
    numbers = [score for score in scale.classes if isinstance(score, int)]
    highest = scale.max if scale.kind == "interval" else max(numbers, default=None)
    lowest_passing = 1 if isinstance(scale.best, str) else scale.best if scale.best == highest else None
    lines = [
        "  - type: python",
        f"    metric: {_write_value(instrument.metric)}",
        f"    value: file://{SCRIPT}",
        *([f"    threshold: {_write_value(lowest_passing)}"] if lowest_passing is not None else []),
        "    config:",
        *(f"      {name}: {_write_value(value)}" for name, value in settings.items()),
    ]
    return "\n".join(lines) + "\n"


_DEFAULTS = msgspec.to_builtins(AssertionConfig(judge="", language=""))


def _write_value(value: Any) -> str:
    return escape_controls(msgspec.json.encode(value).decode())
