"""The nouns: what a scale holds, and variants that are written and read back without loss."""

from __future__ import annotations

import itertools
import math
from typing import get_args, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model import (
    MAX_SHOTS,
    VARIANT_WORDS,
    Call,
    Condition,
    Failure,
    Item,
    JudgeIdentity,
    Prompt,
    Query,
    Scale,
    Score,
    Variant,
    hashed_condition,
    hashed_variant,
    parse_variant,
)

ORDINAL = Scale(kind="ordinal", classes=(0, 1, 2), best=2)
NOMINAL = Scale(kind="nominal", classes=("A", "B", 1))
UNIT = Scale(kind="interval", min=0, max=1)
OPEN = Scale(kind="interval")

AXES = {name: get_args(hint) or (False, True) for name, hint in get_type_hints(Variant).items()} | {"shots": (0, 1, 2, MAX_SHOTS)}
AXES["prompt"], AXES["rubric"] = ("",), ("",)  # files of the user's own have tests of their own; with a prompt, no other axis applies
AXES["language"], AXES["reasons"] = ("english", "own"), ("",)  # tags have tests of their own
AXES["levels"] = (0,)  # numbers have tests of their own
PRODUCT = [Variant(**dict(zip(AXES, values, strict=True))) for values in itertools.product(*AXES.values())]
VARIANTS = [
    variant
    for variant in PRODUCT
    if (variant.metric_order == "forward" or variant.call != "single")
    and (variant.call != "conversation" or not variant.shots)
    and (variant.answer == "text" or not variant.explain)
    and (variant.answer == "json" or (variant.call != "joint" and variant.justification == "before"))
    and (variant.answer != "text" or not variant.probabilities)
    and (variant.answer == "json" or (variant.question, variant.options) == ("scale", "forward"))
]


SWITCHES = ("probabilities", "persona", "explain", "question", "options")  # axes whose default has no word


def words_of(variant: Variant) -> list[str]:
    """A word for every axis, defaults too; no examples have none."""
    words = [word for word, (axis, value) in VARIANT_WORDS.items() if getattr(variant, axis) == value]
    return words + ([f"fewshot:{variant.shots}"] if variant.shots else [])


@pytest.mark.parametrize(
    ("scale", "score"),
    [(ORDINAL, 0), (ORDINAL, 2), (NOMINAL, "A"), (NOMINAL, 1), (UNIT, 0), (UNIT, 1.0), (UNIT, 0.5), (OPEN, -1e9), (OPEN, 10**400)],
)
def test_a_point_of_the_scale_is_held(scale: Scale, score: Score) -> None:
    assert scale.holds(score)


@pytest.mark.parametrize(
    ("scale", "score"),
    [
        (ORDINAL, 3),
        (ORDINAL, -1),
        (ORDINAL, "1"),
        (ORDINAL, 1.5),
        (ORDINAL, True),
        (NOMINAL, "a"),
        (NOMINAL, "1"),
        (NOMINAL, ""),
        (UNIT, 1.0000001),
        (UNIT, -0.0000001),
        (UNIT, "0.5"),
        (UNIT, True),
        (OPEN, math.nan),
        (OPEN, math.inf),
        (OPEN, -math.inf),
    ],
)
def test_anything_else_is_not(scale: Scale, score: Score) -> None:
    assert not scale.holds(score)


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False), st.floats())
def test_an_interval_holds_what_lies_between_its_ends(low: float, high: float, score: float) -> None:
    assert Scale(kind="interval", min=low, max=high).holds(score) == (low <= score <= high)


@pytest.mark.parametrize(("scale", "words"), [(ORDINAL, "0, 1, 2"), (NOMINAL, "A, B, 1"), (Scale(kind="interval", min=1, max=5), "1 to 5")])
def test_a_scale_in_words(scale: Scale, words: str) -> None:
    assert scale.describe() == words


def test_a_scale_has_no_further_fields() -> None:
    with pytest.raises(msgspec.ValidationError, match="unknown field `labels`"):
        msgspec.convert({"kind": "nominal", "labels": [1]}, Scale)


def test_every_variant_is_read_back_from_its_text() -> None:
    assert [parse_variant(str(variant)) for variant in VARIANTS] == VARIANTS


def test_no_two_variants_have_the_same_text() -> None:
    assert len(set(map(str, VARIANTS))) == len(VARIANTS)
    # JSON: single, joint, joint+reversed by justification and probabilities; a text with and without an explanation;
    # marked errors with and without probabilities; JSON also as a choice, and with its options reversed
    one_call = 2 * 4 * 2 * 2 * (3 * 3 * 2 * 4 + 2 + 2)
    # a conversation in both orders, without examples
    assert len(VARIANTS) == one_call + 2 * 2 * 2 * 2 * (3 * 2 * 4 + 2 + 2)


def test_the_text_names_only_what_is_not_the_default() -> None:
    every = Variant("joint", "detailed", 2, "none", "own", "reversed", True, persona=True)
    assert str(every) == "joint+detailed+fewshot:2+score-only+own-language+reversed+probabilities+persona"
    assert str(Variant(answer="text", explain=True)) == "single+text+explain"
    assert str(Variant()) == "single" and str(Variant(shots=1)) == "single+fewshot:1"


def test_a_variant_that_names_no_call_is_single() -> None:
    for text in ("detailed", "score-only", "few-shot", "fewshot:2", "own-language", "probabilities"):
        assert parse_variant(text) == parse_variant(f"single+{text}") != Variant()
    assert parse_variant("few-shot").shots == 2


@given(st.sampled_from(VARIANTS), st.data())
def test_the_words_may_come_in_any_order_and_defaults_may_be_said(variant: Variant, data: st.DataObject) -> None:
    words = words_of(variant)
    unsaid = sum(getattr(variant, axis) == getattr(Variant(), axis) for axis in SWITCHES)
    assert len(words) == len(AXES) - 4 - (variant.shots == 0) - unsaid
    assert parse_variant("+".join(data.draw(st.permutations(words)))) == variant


@given(st.lists(st.sampled_from(sorted(VARIANT_WORDS)), min_size=1, max_size=4, unique=True))
def test_whatever_can_be_read_says_exactly_its_words(words: list[str]) -> None:
    axes = [VARIANT_WORDS[word][0] for word in words]
    if len(set(axes)) < len(axes):
        with pytest.raises(ValueError, match="twice"):
            parse_variant("+".join(words))
        return
    said = {VARIANT_WORDS[word][0]: VARIANT_WORDS[word][1] for word in words}
    if Variant(**said) not in VARIANTS:
        with pytest.raises(ValueError, match=r"only a|a text h|probabilities are|errors are|the errors|a decision"):
            parse_variant("+".join(words))
        return
    variant = parse_variant("+".join(words))
    assert all(getattr(variant, axis) == value for axis, value in map(VARIANT_WORDS.__getitem__, words))
    assert all(getattr(variant, axis) == getattr(Variant(), axis) for axis in AXES if axis not in axes)


@pytest.mark.parametrize("text", ["", "+", "joint+", "Joint", "joint detailed", "joint+sloppy", " joint"])
def test_an_unknown_word_is_named_and_the_known_ones_are_listed(text: str) -> None:
    with pytest.raises(ValueError, match=r"unknown variant '.*'; known words: single, joint, conversation, simple, detailed"):
        parse_variant(text)


@pytest.mark.parametrize("text", ["fewshot", "fewshot:", "fewshot:0", "fewshot:9", "fewshot:100", "fewshot:-1", "fewshot:1.5", "fewshot:²"])
def test_a_number_of_examples_that_cannot_be_is_said(text: str) -> None:
    with pytest.raises(
        ValueError, match=f"'{text}' in variant 'joint\\+{text}' should be fewshot:1 to fewshot:8, the examples of each class"
    ):
        parse_variant(f"joint+{text}")


@pytest.mark.parametrize("text", ["levels", "levels:", "levels:0", "levels:1", "levels:11", "levels:-2", "levels:²"])
def test_a_number_of_levels_that_cannot_be_is_said(text: str) -> None:
    with pytest.raises(
        ValueError, match=f"'{text}' in variant 'joint\\+{text}' should be levels:2 to levels:10, the bands of a long scale"
    ):
        parse_variant(f"joint+{text}")


def test_levels_are_read_back_and_belong_to_options() -> None:
    assert parse_variant("joint+levels:5") == Variant("joint", levels=5) and str(Variant(levels=10)) == "single+levels:10"
    with pytest.raises(ValueError, match="a decision model chooses among options and writes nothing"):
        parse_variant("text+levels:5")


@pytest.mark.parametrize("text", ["reversed", "single+reversed", "reversed+few-shot"])
def test_an_order_of_metrics_belongs_to_calls_about_several(text: str) -> None:
    with pytest.raises(ValueError, match=r"only a joint call and a conversation are about several metrics, in an order; write 'joint"):
        parse_variant(text)


@pytest.mark.parametrize("text", ["few-shot+fewshot:1", "fewshot:2+fewshot:2", "english+own-language", "probabilities+probabilities"])
def test_further_axes_are_named_once_too(text: str) -> None:
    with pytest.raises(ValueError, match="twice"):
        parse_variant(text)


@pytest.mark.parametrize("text", ["joint+single", "joint+joint", "score-only+score-first"])
def test_an_axis_named_twice_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"twice: '.*' and '.*'"):
        parse_variant(text)


def test_a_condition_in_words() -> None:
    assert str(Condition(parse_variant("joint"), 0.3)) == "joint T=0.3"
    assert str(Condition()) == "single T=0" and Condition().words() == "single, temperature 0"
    assert Condition(Variant(), 1, 0.95, "inject", "swapped").words() == "single, temperature 1, top-p 0.95, order swapped, inject"
    assert str(Condition(Variant(), 1, 0.95, "shuffle-words:0.1@whitespace")) == "single T=1 top_p=0.95 shuffle-words:0.1@whitespace"


def test_files_call_the_metric_order_order() -> None:
    """Run records and stores of earlier versions have this name, and hashes are made of it."""
    written = msgspec.json.encode(parse_variant("joint+reversed"))
    assert msgspec.json.decode(written)["order"] == "reversed"
    assert msgspec.json.decode(written, type=Variant) == parse_variant("joint+reversed")


def test_a_call_passes_on_what_its_condition_says() -> None:
    condition = Condition(parse_variant("score-only+probabilities"), 0.7, 0.5)
    call = Call("c", Prompt("p", (), {}, 1), Query(Item("i", "en", "t"), ("m",), condition))
    assert (call.temperature, call.query.condition.sampling, call.probabilities) == (0.7, {"temperature": 0.7, "top_p": 0.5}, True)
    plain = Call("c", call.prompt, Query(call.query.item, ("m",), Condition()))
    assert (plain.temperature, plain.query.condition.sampling, plain.probabilities) == (0.0, {"temperature": 0.0}, False)


def test_failures_are_these() -> None:
    assert [str(failure) for failure in Failure] == [
        "refused",
        "not_json",
        "off_scale",
        "truncated",
        "missing",
        "tied",
        "bad_probabilities",
        "slow_pattern",
    ]


def test_a_judge_is_called_by_provider_and_model() -> None:
    assert JudgeIdentity("openai", "gpt-4o-2024-08-06", {"endpoint": "host"}).name == "openai/gpt-4o-2024-08-06"


def test_hashes_of_conditions_leave_later_fields_out_where_they_have_their_defaults() -> None:
    assert "order" not in hashed_condition(Condition()) and "answer" not in hashed_condition(Condition())["variant"]
    changed = hashed_condition(Condition(parse_variant("text"), order="swapped"))
    assert changed["order"] == "swapped" and changed["variant"]["answer"] == "text" and "persona" not in changed["variant"]


def test_an_exchange_of_texts_undoes_itself() -> None:
    graded = Scale(kind="ordinal", classes=(1, 2, 3, 4, 5), swap={"1": "5", "5": "1", "2": "4", "4": "2"})
    assert [graded.exchanged(score) for score in graded.classes] == [5, 4, 3, 2, 1]
    assert graded.share_of_first == {1: 1.0, 2: 1.0, 3: 0.5, 4: 0.0, 5: 0.0}


def test_languages_of_instructions_and_reasons_may_be_named() -> None:
    named = parse_variant("reasons:en+in:ja")
    assert str(named) == "single+in:ja+reasons:en" and parse_variant(str(named)) == named
    assert (named.instructions_in("cs"), named.reasons_in("cs")) == ("ja", "en")
    assert [tag for tag in ("ja", "en", "en-GB", "cs") if named.asks_about(tag)] == ["ja", "en", "en-GB"]
    own = parse_variant("own-language+reasons:en")
    assert (own.instructions_in("cs"), own.reasons_in("cs"), own.asks_about("cs")) == ("cs", "en", True)
    assert "reasons" not in hashed_variant(Variant())  # names of earlier runs stay


@pytest.mark.parametrize("text", ["in:", "in:Japanese!", "reasons:../x", "in:ja+own-language", "score-only+reasons:ja", "text+reasons:ja"])
def test_languages_that_cannot_be_named(text: str) -> None:
    with pytest.raises(ValueError, match="variant"):
        parse_variant(text)
