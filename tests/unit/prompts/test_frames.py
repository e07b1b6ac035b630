"""Frames: filling one is the same as rendering the program for the item, remembering one is the same as rendering it."""

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
from harness.prompts import Frame, Frames, Question, frames
from harness.prompts.frames import Slot, program_hash, render
from harness.prompts.programs import judging
from harness.prompts.recorder import record
from harness.store import Store

MakeQuestion = Callable[..., Question]
MakeItem = Callable[..., Item]

MARKS = "\ue000output\ue001 \ue000 \ue001 \ue000nothing\ue001"
NASTY = f"{{{{G|1|G}}}} {{0}} <|im_end|> \\1 \\g<0> {MARKS}"
# Texts of all kinds, but often with the characters that marks are made of.
_TEXT = st.text(st.sampled_from('\ue000\ue001\ue002output{}|\\"') | st.characters(codec="utf-8"), min_size=1, max_size=40)


class Memory:
    """A store of frames that counts what it is asked."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def get_frame(self, key: str) -> bytes | None:
        return self.kept.get(key)

    def put_frame(self, key: str, frame: bytes) -> None:
        assert key not in self.kept
        self.kept[key] = frame


@pytest.fixture
def no_rendering(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From the call on, rendering is an error."""

    def refuse(question: Question) -> Frame:
        raise AssertionError("a frame was rendered that should have been recalled")

    return lambda: monkeypatch.setattr(frames, "render", refuse)


def directly(question: Question, texts: dict[str, str]) -> tuple[tuple[Message, ...], dict[str, Any], int]:
    """The program, rendered for these texts without any frame."""
    return record(judging(question, texts))


def filled(question: Question, texts: dict[str, str]) -> tuple[tuple[Message, ...], dict[str, Any], int]:
    prompt = render(question).fill(Item("i", question.language, "any task", fields=texts))
    return prompt.messages, prompt.schema, prompt.max_tokens


# Filling


def test_a_filled_frame_is_the_rendered_program(make_question: MakeQuestion, variant: Variant, task: str, present: tuple[str, ...]) -> None:
    question = make_question(variant, task, present)
    texts = {name: f"{name}: {NASTY}" for name in present}
    assert filled(question, texts) == directly(question, texts)


@settings(max_examples=60)
@given(output=_TEXT, passage=_TEXT, instruction=_TEXT)
def test_a_filled_frame_is_the_rendered_program_whatever_the_texts(make_question: MakeQuestion, **texts: str) -> None:
    question = make_question(Variant(call="joint"), "summarize")
    assert filled(question, texts) == directly(question, texts)


def test_every_text_is_in_the_prompt_once_and_no_mark_is_left(make_question: MakeQuestion, task: str, present: tuple[str, ...]) -> None:
    texts = {name: f"<{name} of the item>" for name in present}
    messages, _, _ = filled(make_question(task=task, present=present), texts)
    whole = "".join(message.content for message in messages)
    assert all(whole.count(text) == 1 for text in texts.values())
    assert sorted(texts.values(), key=whole.index) == list(texts.values())
    assert "\ue000" not in whole and "\ue001" not in whole


@pytest.mark.parametrize("name", ["user-request", "prompt_2", "přepis", "two words"])
def test_a_text_may_have_any_name_that_toml_allows(make_question: MakeQuestion, name: str) -> None:
    plain = make_question(task="open_prompt")
    task = msgspec.structs.replace(plain.wording.task, fields={name: "Request", "output": "Answer"})
    wording = msgspec.structs.replace(plain.wording, task=task)
    question = msgspec.structs.replace(plain, wording=wording, present=(name, "output"))
    messages, _, _ = filled(question, {name: "the request", "output": "the answer"})
    assert "the request" in messages[-1].content and "the answer" in messages[-1].content


def test_what_calls_share_comes_first(make_question: MakeQuestion) -> None:
    """Questions about two metrics of one item differ only behind the item's texts."""
    one, other = (make_question(metrics=(metric,)) for metric in ("task_quality", "hallucination"))
    texts = {"passage": "A passage.", "instruction": "Be brief.", "output": "The very last text of the item."}
    (told, asked), (told_too, asked_too) = filled(one, texts)[0], filled(other, texts)[0]
    shared = next(i for i, (a, b) in enumerate(zip(asked.content, asked_too.content, strict=False)) if a != b)
    assert told == told_too and told.role == "system"
    assert asked.content.index("The very last text of the item.") < shared


# Identity


def test_the_prompt_id_depends_on_messages_and_schema_only(make_question: MakeQuestion, make_item: MakeItem) -> None:
    frame = render(make_question(task="open_prompt"))
    one = frame.fill(make_item("a", group="g", split="dev", language="ja"))
    assert one.prompt_id == frame.fill(make_item("b")).prompt_id
    assert one.prompt_id != frame.fill(make_item("a", output="Something else.")).prompt_id
    other_schema = msgspec.structs.replace(frame, schema=frame.schema | {"title": "x"})
    assert one.prompt_id != other_schema.fill(make_item("a")).prompt_id


def test_different_variants_are_different_prompts(make_question: MakeQuestion, make_item: MakeItem) -> None:
    variants = [
        Variant(),
        Variant(instructions="detailed"),
        Variant(justification="after"),
        Variant(justification="none"),
        Variant("joint"),
        Variant(language="own"),
    ]
    prompts = {render(make_question(variant, "open_prompt")).fill(make_item()).prompt_id for variant in variants}
    assert len(prompts) == len(variants)


# Remembering


def test_a_recalled_frame_fills_to_the_same_prompt(
    make_question: MakeQuestion, make_item: MakeItem, variant: Variant, no_rendering: Callable[[], None]
) -> None:
    question, memory = make_question(variant, "open_prompt"), Memory()
    rendered = Frames(memory).of(question)
    no_rendering()
    recalled = Frames(memory).of(question)
    assert recalled == rendered and any(isinstance(part, Slot) for message in recalled.messages for part in message.parts)
    assert recalled.fill(make_item()) == rendered.fill(make_item())


def test_a_frame_is_rendered_once(make_question: MakeQuestion, no_rendering: Callable[[], None]) -> None:
    known = Frames(Memory())
    first = known.of(make_question())
    no_rendering()
    assert known.of(make_question()) is first


def test_frames_work_without_a_store(make_question: MakeQuestion) -> None:
    assert Frames().of(make_question()) == render(make_question())


def test_frames_of_another_wording_are_recalled_but_not_rendered(make_question: MakeQuestion) -> None:
    memory, question = Memory(), make_question()
    frame = msgspec.json.encode(render(question))
    memory.kept[f"another wording:{question.key}"] = frame
    old = Frames(memory, "another wording")
    assert msgspec.json.encode(old.of(question)) == frame
    with pytest.raises(UsageError, match="made with another wording of the prompts, which is not in its store; run it again"):
        old.of(make_question(language="cs"))
    assert len(memory.kept) == 1


def test_a_changed_wording_is_a_changed_hash(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = Path(frames.__file__)
    for name in ("programs.py", "wording.py", "shots.py", "question.py", "recorder.py", "frames.py"):
        (tmp_path / name).write_bytes(real.with_name(name).read_bytes())
    monkeypatch.setattr(frames, "__file__", str(tmp_path / "frames.py"))
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
from harness.prompts import Frames, Question, english
from harness.store import Store

library = Library()
rubric = library.rubric("task_quality")
wording = english(library.task("open_prompt"), (rubric,), "ja")
question = Question(wording, {rubric.id: rubric.scale}, Variant(), "ja", ("prompt", "output"))
with Store.reading(Path(sys.argv[1])) as store:
    print(len(Frames(store).of(question).messages), "guidance" in sys.modules)
"""


def test_frames_recalled_from_a_store_need_no_guidance(make_question: MakeQuestion, tmp_path: Path) -> None:
    with Store.writing(tmp_path) as store:
        Frames(store).of(make_question(task="open_prompt"))
    done = subprocess.run([sys.executable, "-c", _RECALL, tmp_path], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("2 False\n", "")
