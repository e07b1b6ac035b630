"""Templates: filling one equals rendering the program for the item; a stored one equals a rendered one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.model import Item, Message, Variant
from harness.prompts import PromptSpec, PromptTemplate, PromptTemplates, templates
from harness.prompts.programs import judging_program, record
from harness.prompts.templates import TextSlot, program_hash, render_template
from harness.store import Store

MakeSpec = Callable[..., PromptSpec]
MakeItem = Callable[..., Item]

MARKS = "\ue000output\ue001 \ue000 \ue001 \ue000nothing\ue001"
NASTY = f"{{{{G|1|G}}}} {{0}} <|im_end|> \\1 \\g<0> {MARKS}"
# Texts of all kinds, but often with the characters that marks are made of.
_TEXT = st.text(st.sampled_from('\ue000\ue001\ue002output{}|\\"') | st.characters(codec="utf-8"), min_size=1, max_size=40)


class Memory:
    """A store that takes each template once."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def get_template(self, key: str) -> bytes | None:
        return self.kept.get(key)

    def put_template(self, key: str, template: bytes) -> None:
        assert key not in self.kept
        self.kept[key] = template


@pytest.fixture
def no_rendering(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From the call on, rendering is an error."""

    def refuse(spec: PromptSpec) -> PromptTemplate:
        raise AssertionError("a template was rendered that should have come from the store")

    return lambda: monkeypatch.setattr(templates, "render_template", refuse)


def directly(spec: PromptSpec, texts: dict[str, str]) -> tuple[tuple[Message, ...], dict[str, Any], int]:
    """The program, rendered for these texts without a template."""
    return record(judging_program(spec, texts))


def filled(spec: PromptSpec, texts: dict[str, str]) -> tuple[tuple[Message, ...], dict[str, Any], int]:
    prompt = render_template(spec).fill(Item("i", spec.language, "any task", fields=texts))
    return prompt.messages, prompt.schema, prompt.max_tokens


# Filling


def test_a_filled_template_is_the_rendered_program(make_spec: MakeSpec, variant: Variant, task: str, text_names: tuple[str, ...]) -> None:
    spec = make_spec(variant, task, text_names)
    texts = {name: f"{name}: {NASTY}" for name in text_names}
    assert filled(spec, texts) == directly(spec, texts)


@settings(max_examples=60)
@given(output=_TEXT, passage=_TEXT, instruction=_TEXT)
def test_a_filled_template_is_the_rendered_program_whatever_the_texts(make_spec: MakeSpec, **texts: str) -> None:
    spec = make_spec(Variant(call="joint"), "summarize")
    assert filled(spec, texts) == directly(spec, texts)


def test_every_text_is_in_the_prompt_once_and_no_mark_is_left(make_spec: MakeSpec, task: str, text_names: tuple[str, ...]) -> None:
    texts = {name: f"<{name} of the item>" for name in text_names}
    messages, _, _ = filled(make_spec(task=task, text_names=text_names), texts)
    whole = "".join(message.content for message in messages)
    assert all(whole.count(text) == 1 for text in texts.values())
    assert sorted(texts.values(), key=whole.index) == list(texts.values())
    assert "\ue000" not in whole and "\ue001" not in whole


@pytest.mark.parametrize("name", ["user-request", "prompt_2", "přepis", "two words"])
def test_a_text_may_have_any_name_that_toml_allows(make_spec: MakeSpec, name: str) -> None:
    plain = make_spec(task="open_prompt")
    task = msgspec.structs.replace(plain.wording.task, fields={name: "Request", "output": "Answer"})
    wording = msgspec.structs.replace(plain.wording, task=task)
    spec = msgspec.structs.replace(plain, wording=wording, text_names=(name, "output"))
    messages, _, _ = filled(spec, {name: "the request", "output": "the answer"})
    assert "the request" in messages[-1].content and "the answer" in messages[-1].content


def test_what_calls_share_comes_first(make_spec: MakeSpec) -> None:
    """Questions about two metrics of one item differ only behind the item's texts."""
    one, other = (make_spec(metrics=(metric,)) for metric in ("task_quality", "hallucination"))
    texts = {"passage": "A passage.", "instruction": "Be brief.", "output": "The very last text of the item."}
    (told, asked), (told_too, asked_too) = filled(one, texts)[0], filled(other, texts)[0]
    shared = next(i for i, (a, b) in enumerate(zip(asked.content, asked_too.content, strict=False)) if a != b)
    assert told == told_too and told.role == "system"
    assert asked.content.index("The very last text of the item.") < shared


# Identity


def test_the_prompt_id_depends_on_messages_and_schema_only(make_spec: MakeSpec, make_item: MakeItem) -> None:
    template = render_template(make_spec(task="open_prompt"))
    one = template.fill(make_item("a", group="g", split="dev", language="ja", output="Something."))
    assert one.prompt_id == template.fill(make_item("b", output="Something.")).prompt_id
    assert one.prompt_id != template.fill(make_item("a", output="Something else.")).prompt_id
    other_schema = msgspec.structs.replace(template, schema=template.schema | {"title": "x"})
    assert one.prompt_id != other_schema.fill(make_item("a")).prompt_id


def test_different_variants_are_different_prompts(make_spec: MakeSpec, make_item: MakeItem) -> None:
    variants = [
        Variant(),
        Variant(instructions="detailed"),
        Variant(justification="after"),
        Variant(justification="none"),
        Variant("joint"),
        Variant(language="own"),
    ]
    prompts = {render_template(make_spec(variant, "open_prompt")).fill(make_item()).prompt_id for variant in variants}
    assert len(prompts) == len(variants)


# Remembering


def test_a_recalled_template_fills_to_the_same_prompt(
    make_spec: MakeSpec, make_item: MakeItem, variant: Variant, no_rendering: Callable[[], None]
) -> None:
    spec, memory = make_spec(variant, "open_prompt"), Memory()
    rendered = PromptTemplates(memory).template_for(spec)
    no_rendering()
    recalled = PromptTemplates(memory).template_for(spec)
    assert recalled == rendered and any(isinstance(part, TextSlot) for message in recalled.messages for part in message.parts)
    assert recalled.fill(make_item()) == rendered.fill(make_item())


def test_a_template_is_rendered_once(make_spec: MakeSpec, no_rendering: Callable[[], None]) -> None:
    known = PromptTemplates(Memory())
    first = known.template_for(make_spec())
    no_rendering()
    assert known.template_for(make_spec()) is first


def test_templates_work_without_a_store(make_spec: MakeSpec) -> None:
    assert PromptTemplates().template_for(make_spec()) == render_template(make_spec())


def test_templates_of_another_wording_are_recalled_but_not_rendered(make_spec: MakeSpec) -> None:
    memory, spec = Memory(), make_spec()
    template = msgspec.json.encode(render_template(spec))
    memory.kept[f"another wording:{spec.key}"] = template
    old = PromptTemplates(memory, "another wording")
    assert msgspec.json.encode(old.template_for(spec)) == template
    with pytest.raises(
        UsageError, match="made with another wording of the prompts, and its store does not have that wording; run it again"
    ):
        old.template_for(make_spec(language="cs"))
    assert len(memory.kept) == 1


def test_a_changed_wording_is_a_changed_hash(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = Path(templates.__file__)
    for name in ("programs.py", "wording.py", "examples.py", "prompt_spec.py", "templates.py"):
        (tmp_path / name).write_bytes(real.with_name(name).read_bytes())
    monkeypatch.setattr(templates, "__file__", str(tmp_path / "templates.py"))
    hash_now = program_hash.__wrapped__
    assert hash_now() == program_hash()
    words = (tmp_path / "wording.py").read_text("utf-8")
    (tmp_path / "wording.py").write_text(words.replace("You rate texts.", "You judge texts."), "utf-8")
    assert hash_now() != program_hash()


_RECALL = """
import sys
from pathlib import Path
from harness.content import Library
from harness.model import Variant
from harness.prompts import PromptSpec, PromptTemplates, english_wording
from harness.store import Store

library = Library()
rubric = library.rubric("task_quality")
wording = english_wording(library.task("open_prompt"), (rubric,), "ja")
spec = PromptSpec(wording, {rubric.id: rubric.scale}, Variant(), "ja", ("prompt", "output"))
with Store.reading(Path(sys.argv[1])) as store:
    print(len(PromptTemplates(store).template_for(spec).messages), "guidance" in sys.modules)
"""


def test_templates_recalled_from_a_store_need_no_guidance(make_spec: MakeSpec, tmp_path: Path) -> None:
    with Store.writing(tmp_path) as store:
        PromptTemplates(store).template_for(make_spec(task="open_prompt"))
    done = subprocess.run([sys.executable, "-c", _RECALL, tmp_path], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("2 False\n", "")
