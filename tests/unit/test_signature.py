"""The signature is read back from its text, whatever stands in it, and no two signatures have one text."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.signature import Signature

# Any text, but often the characters that the text form is made of.
_TEXT = st.text(st.sampled_from("|:,%@.+=/ #'\n\\") | st.characters(codec="utf-8"), max_size=12)
_NAMES = st.lists(_TEXT.filter(bool), max_size=3).map(tuple)
_FIELDS: dict[str, Any] = {
    name: {"str": _TEXT, "int": st.integers(0, 10**9)}.get(kind, _NAMES) for name, kind in Signature.__annotations__.items()
}
_SIGNATURES = st.builds(Signature, **_FIELDS)

ONE = Signature(
    judge="openai/llama3:8b|instruct, 50%@endpoint=host.example",
    data="controls@1.0.0+0123456789ab",
    judgments="ba9876543210",
    tasks=("open_prompt@1.0.0", "summarize@1.0.0"),
    rubrics=("task_quality@1.0.0",),
    langs=("cs", "pt-BR"),
    conditions=("single T=0", "joint+detailed T=0.7"),
    repeats=5,
    seed=0,
    prompts="abc",
    instructions=("ja@1.0.0",),
    examples="none",
    segmenter="icu 77.1",
    majority="drop",
    ci="wilson/cluster-bootstrap",
    harness="0.1.0",
)


@given(_SIGNATURES)
def test_it_is_read_back(signature: Signature) -> None:
    assert Signature.parse(str(signature)) == signature


@given(_SIGNATURES, _SIGNATURES)
def test_different_signatures_are_different_texts(one: Signature, other: Signature) -> None:
    assert (str(one) == str(other)) == (one == other)


@given(_SIGNATURES)
def test_it_is_one_printable_line_of_a_part_for_each_field_that_is_not_as_usual(signature: Signature) -> None:
    text = str(signature)
    assert text.isascii() and text.isprintable()
    usual: dict[str, object] = {"reask": "none", "annotators": "", "decide": "", "left_out": ()}
    shown = [name for name in Signature.__struct_fields__ if name not in usual or getattr(signature, name) != usual[name]]
    assert [part.partition(":")[0] for part in text.split("|")] == shown


@given(_SIGNATURES, st.sampled_from(sorted(_FIELDS)), st.data())
def test_everything_in_it_shows(signature: Signature, field: str, data: st.DataObject) -> None:
    changed = msgspec.structs.replace(
        signature, **{field: data.draw(_FIELDS[field].filter(lambda value: value != getattr(signature, field)))}
    )
    assert str(changed) != str(signature)


def test_it_can_be_read_in_a_footnote() -> None:
    assert str(ONE) == (
        "judge:openai/llama3%3A8b%7Cinstruct%2C 50%25@endpoint=host.example|data:controls@1.0.0+0123456789ab"
        "|judgments:ba9876543210|tasks:open_prompt@1.0.0,summarize@1.0.0|rubrics:task_quality@1.0.0|langs:cs,pt-BR"
        "|conditions:single T=0,joint+detailed T=0.7|repeats:5|seed:0|prompts:abc"
        "|instructions:ja@1.0.0|examples:none|segmenter:icu 77.1|majority:drop"
        "|ci:wilson/cluster-bootstrap|harness:0.1.0"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "'' is not a part of a signature; its parts are judge, data"),
        ("colour:red", "'colour:red' is not a part"),
        (f"{ONE}|judge", "'judge' is not a part"),
        (f"{ONE}|seed:1", "repeats 'seed'"),
        (str(ONE).replace("|seed:0", ""), "missing required field `seed`"),
        (str(ONE).replace("repeats:5", "repeats:five"), "Expected `int`"),
    ],
    ids=["empty", "unknown", "no value", "twice", "part missing", "not a number"],
)
def test_what_is_wrong_with_a_text_is_said(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Signature.parse(text)
