"""One question of ours, to be asked from inside another program: the same prompt, the same parser, and a signature.

An instrument is everything of a judge but the model. Whoever uses it gets a `Call` for an item, has a model answer it, and gets the
judgment of the reply. Prompts, call ids and judgments are those that `harness run` would make.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from harness.content import Library, Task
from harness.content.tags import choose_from, language_named
from harness.data.dataset import Dataset
from harness.data.labels import Labels
from harness.errors import StoreError, UsageError
from harness.judges import traits_of
from harness.judges.local import cache_folder
from harness.model import Call, Condition, Item, JudgeIdentity, Judgment, Reply, Variant, parse_variant
from harness.parse import vocabulary_of
from harness.prompts import OwnPrompt, PromptTemplates, decision_program_hash, is_english, load_own_prompt
from harness.prompts.custom_prompt import LANGUAGE
from harness.prompts.templates import program_hash
from harness.row_files import write_atomic
from harness.runs import AskedQuestions, ReadingRules, derive_judgments, make_plan, refuse_unfit_judges
from harness.signature import QuestionSignature, judge_text

_OUTPUT = "output"
_OWN_TASK = "own_prompt"  # of items that a prompt of the user's own asks about: no task words the question


class InstrumentSpec(msgspec.Struct, frozen=True, kw_only=True):
    """The question and its form. Without a `task`, the only task that has the metric; with a `prompt` file, neither is needed."""

    metric: str | None = None
    task: str | None = None
    variant: str = "single"
    prompt: Path | None = None
    temperature: float = 0.0
    seed: int = 0
    content: tuple[Path, ...] = ()
    allow_unreviewed: bool = False

    @classmethod
    def from_texts(cls, *, prompt: str | None, content: str | None, **fields: Any) -> InstrumentSpec:
        """A specification as other programs write it: paths as texts, one folder of content at most."""
        return cls(prompt=Path(prompt) if prompt else None, content=(Path(content),) if content else (), **fields)


class Instrument:
    """Put the question about one metric to a judge, and read the answer.

    Attributes:
        metric: what is asked.
        scale: the scores that are possible.
        condition: variant and sampling.

    Raises UsageError or ContentError for a specification that cannot be asked.
    """

    def __init__(self, spec: InstrumentSpec) -> None:
        self._spec = spec
        self._library = Library(*spec.content)
        self._own: dict[str, OwnPrompt] = dict([load_own_prompt(spec.prompt)]) if spec.prompt else {}
        self._task = None if self._own else _task(spec, self._library)
        self.metric = next((prompt.metric for prompt in self._own.values()), spec.metric or "")
        stated = next((prompt.scale for prompt in self._own.values()), None)
        if stated is None and self._own and self.metric not in self._library.rubric_files:
            raise UsageError(
                f"the prompt does not state the scale of '{self.metric}', and there is no such rubric; add [scale] to the prompt"
            )
        scale = stated or self._library.rubric(self.metric).scale
        if self._own and (problem := next(iter(self._own.values())).problem_with(scale, ())):
            raise UsageError(f"the prompt {problem}")
        self.scale = scale
        self.condition = Condition(self._parse_variant(), float(spec.temperature))
        self._templates = PromptTemplates(TemplateFolder())

    def _parse_variant(self) -> Variant:
        if self._own:
            return Variant(prompt=next(iter(self._own)))
        try:
            variant = parse_variant(self._spec.variant)
        except ValueError as err:
            raise UsageError(str(err)) from None
        for is_unsuitable, advice in (
            (variant.prompt, "name the file of the prompt instead"),
            (variant.call == "joint", "a joint call asks about several metrics; write 'single'"),
            (variant.shots, "examples come from the labelled items of a run; leave out 'few-shot'"),
            (variant.probabilities, "other programs do not hand on the probabilities of tokens; leave out 'probabilities'"),
        ):
            if is_unsuitable:
                raise UsageError(f"variant '{self._spec.variant}': {advice}")
        return variant

    @cached_property
    def text_names(self) -> tuple[str, ...]:
        """The names of the texts that a question may show, the judged ones among them."""
        if self._task is not None:
            return tuple(self._task.fields)
        [prompt] = self._own.values()
        return tuple(name for name in prompt.variables if name != LANGUAGE)

    def item(self, item_id: str, language: str, other_texts: Mapping[str, Any], output: str, written_for: str = "") -> Item:
        """The item that another program has: `output` is judged, `given` holds its other texts by our names.

        The first text that is neither given nor judged is `written_for`: what the model under test was given. `language` is a tag or an
        English name. Raises UsageError for an unknown language, and for a text that the question needs and nobody gave.
        """
        tag = language_named(language)
        if tag is None:
            raise UsageError(f"'{language}' is no language; give a tag such as 'ja', or an English name such as 'Japanese'")
        outputs = self._task.outputs if self._task else (_OUTPUT,)
        texts = {name: str(other_texts[name]) for name in self.text_names if other_texts.get(name) is not None}
        if len(outputs) == 1:
            texts[outputs[0]] = output
        first_missing = next((name for name in self.text_names if name not in texts), None)
        if first_missing and written_for and first_missing not in outputs:
            texts[first_missing] = written_for
        required = [name for name, field in self._task.fields.items() if not field.optional] if self._task else self.text_names
        missing = [name for name in required if not texts.get(name, "").strip()]
        if missing:
            raise UsageError(f"the question about '{self.metric}' needs the text '{missing[0]}', and it is empty or not given")
        return Item(item_id, tag, self._task.id if self._task else _OWN_TASK, group=item_id, fields=texts)

    def call(self, item: Item, identity: JudgeIdentity, repeat: int = 0) -> Call:
        """The call that asks about an item, as a run of this judge would make it."""
        refuse_unfit_judges((identity,), (self.condition,), {self.metric: self.scale})
        for tag in self._name_instructions(item.language):
            if not self._library.instructions(tag).reviewed_by and not self._spec.allow_unreviewed:
                raise UsageError(f"no native reader has reviewed the instructions in '{tag}'; allow_unreviewed = true uses them")
        data = Dataset("", (item,), Labels.from_rows(()), {self.metric: self.scale}, asks={item.task: frozenset({self.metric})})
        questions = AskedQuestions((self.metric,), (self.condition,), repeat + 1, self._spec.seed, own_prompts=self._own)
        plan = make_plan(data, self._library, questions, self._templates, decides=traits_of(identity).decides)
        calls = list(plan.calls(identity))
        if not calls:
            raise UsageError(f"the variant '{self.condition.variant}' asks about no item in '{item.language}'")
        return calls[repeat]

    def _name_instructions(self, language: str) -> Iterator[str]:
        """The languages other than English in which the question is worded."""
        variant = self.condition.variant
        tags = () if self._own else (variant.instructions_in(language), variant.reasons_in(language))
        return (tag for tag in dict.fromkeys(tags) if not is_english(tag))

    def read(self, call: Call, reply: Reply, identity: JudgeIdentity) -> Judgment:
        """Read a reply to the call: a score or a named failure."""
        asked_in = self.condition.variant.reasons_in(call.query.item.language)
        rules = ReadingRules({self.metric: self.scale}, vocabulary_of(self._library), self._own)
        return next(derive_judgments(call.query, reply, call.call_id, identity, rules, asked_in, detect_language=False))

    def signature(self, identity: JudgeIdentity, language: str) -> QuestionSignature:
        """Everything that can change a score of this judge in a language."""
        rubrics = (f"{self.metric}@{self._library.rubric(self.metric).version}",) if self._task else ()
        return QuestionSignature(
            judge=judge_text(identity),
            metric=self.metric,
            tasks=(f"{self._task.id}@{self._task.version}",) if self._task else (),
            rubrics=rubrics,
            langs=(language,),
            conditions=(str(self.condition),),
            seed=self._spec.seed,
            prompts=decision_program_hash() if traits_of(identity).decides else program_hash(),
            instructions=tuple(f"{tag}@{self._library.instructions(tag).version}" for tag in self._name_instructions(language)),
            harness=version("judge-harness"),
        )


class TemplateFolder:
    """Prompt templates in the user's cache folder: programs that start a process for each score need not render them each time.

    One file for each key; a folder that cannot be read or written keeps nothing. Templates hold no texts of items.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or cache_folder().with_name("templates")

    def get_template(self, key: str) -> bytes | None:
        try:
            return self._path(key).read_bytes()
        except OSError:
            return None

    def put_template(self, key: str, template: bytes) -> None:
        with suppress(OSError, StoreError):
            self._folder.mkdir(parents=True, exist_ok=True)
            write_atomic(self._path(key), template, private=True)

    def _path(self, key: str) -> Path:
        return self._folder / f"{hashlib.sha256(key.encode()).hexdigest()}.json"


def _task(spec: InstrumentSpec, library: Library) -> Task:
    if spec.metric is None:
        raise UsageError("name the metric, or a prompt file that names it")
    library.rubric(spec.metric)  # an unknown metric is refused with the known ones
    if spec.task is not None:
        return library.task(spec.task)
    tasks = [task for task in map(library.task, library.task_files) if spec.metric in task.metrics]
    if len(tasks) != 1:
        names = ", ".join(task.id for task in tasks) or ", ".join(library.task_files)
        problem = "several tasks ask" if tasks else "no task asks"
        raise UsageError(f"{problem} about '{spec.metric}'; choose the task that your texts belong to: {names}")
    return tasks[0]


def value_at(key_path: str, data: Mapping[str, Any]) -> Any:
    """The value at a path of keys such as `metadata.language`; a text without a dot is the value itself.

    >>> value_at("metadata.language", {"metadata": {"language": "cs"}}), value_at("cs", {})
    ('cs', 'cs')
    """
    if "." not in key_path:
        return key_path
    *path, last = key_path.split(".")
    holder: Any = data
    for key in path:
        holder = holder.get(key) if isinstance(holder, Mapping) else None
    value = holder.get(last) if isinstance(holder, Mapping) else None
    if value is None:
        choices = [".".join((*path, str(key))) for key in holder] if isinstance(holder, Mapping) else list(data)
        raise UsageError(f"there is nothing at '{key_path}'.{choose_from(sorted(choices), key_path)}")
    return value
