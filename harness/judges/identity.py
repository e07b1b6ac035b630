"""Traits and model of a judge, from its identity or its name, and what a reader of its verdicts should know.

Recorded judges are often known by name only. So the traits of our own kinds are here, not in their modules. No other package compares
the name or the kind of a judge with a text.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import msgspec

from harness.model import JudgeIdentity

_LABEL = re.compile(r"(?P<model>.*[^@/])@(?P<label>[A-Za-z][\w.-]*)")
_ESCAPED = re.compile(r"@@(?=[^@/]*$)")


class JudgeTraits(msgspec.Struct, frozen=True):
    """Traits of a judge that the rest of the program reads. The defaults hold for every judge that does not state its traits."""

    is_baseline: bool = False  # reads no text, answers at once, and depends on the item itself instead of the prompt
    reads_items: bool = False  # looks at the item beside the prompt: equal prompts about two items are two calls
    is_free: bool = False  # no provider charges for it
    is_replay: bool = False  # repeats the replies of another judge
    is_named_by_provider: bool = False  # the provider gives the model its name, and may answer with another model
    needs_training: bool = True  # learns from `JudgeOptions.training`
    needs_calls_to_start: bool = True  # `start` looks at the calls
    decides: bool = False  # answers typed questions with a probability for every option, and writes nothing


_TRAITS_BY_KIND = {
    "openai": JudgeTraits(is_named_by_provider=True, needs_training=False, needs_calls_to_start=False),
    "decisions": JudgeTraits(is_named_by_provider=True, needs_training=False, needs_calls_to_start=False, decides=True),
    "systemone": JudgeTraits(is_named_by_provider=True, needs_training=False, needs_calls_to_start=False, decides=True),
    "decider": JudgeTraits(is_free=True, needs_training=False, needs_calls_to_start=False, decides=True),
    "local": JudgeTraits(is_free=True, needs_training=False),
    "replay": JudgeTraits(is_free=True, is_replay=True, needs_training=False, needs_calls_to_start=False),
    "python": JudgeTraits(reads_items=True, needs_training=False, needs_calls_to_start=False),
    "panel": JudgeTraits(is_free=True, needs_training=False, needs_calls_to_start=False),
    "baseline": JudgeTraits(is_free=True, is_baseline=True, needs_calls_to_start=False),
}


_LABELLED = ("openai", "decisions", "systemone")  # kinds whose names may end in a label


def traits_of(judge: object) -> JudgeTraits:
    """Return the traits of a judge, of its identity or of its name.

    A judge of another package may state its own in an attribute `traits`.

    >>> traits_of("baseline/majority").is_baseline, traits_of(JudgeIdentity("openai", "m")).is_free
    (True, False)
    """
    stated = getattr(judge, "traits", None)
    if isinstance(stated, JudgeTraits):
        return stated
    identity = getattr(judge, "identity", judge)
    kind, _, name = (identity.name if isinstance(identity, JudgeIdentity) else str(identity)).partition("/")
    traits = _TRAITS_BY_KIND.get(kind, JudgeTraits())
    return msgspec.structs.replace(traits, decides=traits_of(name).decides) if traits.is_replay else traits


OPENAI_HOST = "api.openai.com"


def serving_host(identity: JudgeIdentity) -> str | None:
    """Return the host that is asked for the model, whose list prices hold; None for a judge that is no model at an endpoint.

    >>> serving_host(JudgeIdentity("openai", "m")), serving_host(JudgeIdentity("openai", "m", {"endpoint": "api.anthropic.com"}))
    ('api.openai.com', 'api.anthropic.com')
    """
    return str(identity.settings.get("endpoint", OPENAI_HOST)) if identity.provider in ("openai", "decisions") else None


def split_label(name: str) -> tuple[str, str | None]:
    """Split `<model>@<label>`: labels keep two endpoints with one model name apart. The label is None where there is none.

    A label begins with a letter and holds no `/`, so dates and paths stay part of the model. `@@` is an `@` of the model's own name.

    >>> split_label("m@berlin"), split_label("m@@default"), split_label("m@20240620"), split_label("@cf/meta/m")
    (('m', 'berlin'), ('m@default', None), ('m@20240620', None), ('@cf/meta/m', None))
    """
    labelled = _LABEL.fullmatch(name)
    return (labelled["model"], labelled["label"]) if labelled else (_ESCAPED.sub("@", name), None)


def asked_model(identity: JudgeIdentity) -> str:
    """Return the name of the model without the label of a judge."""
    label = identity.settings.get("label")
    return identity.model.removesuffix(f"@{label}") if label else identity.model


def opening_name(identity: JudgeIdentity) -> str:
    """Return the name that opens the judge of this identity: an `@` of its model's own name is escaped where it would begin a label.

    >>> opening_name(JudgeIdentity("openai", "m@default")), opening_name(JudgeIdentity("openai", "m@x", {"label": "x"}))
    ('openai/m@@default', 'openai/m@x')
    """
    if identity.provider not in _LABELLED or "label" in identity.settings or split_label(identity.model) == (identity.model, None):
        return identity.name
    model, _, last = identity.model.rpartition("@")
    return f"{identity.provider}/{model}@@{last}"


class PackagedDecider(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A decision model that is published inside a Python package."""

    title: str
    note: str
    package: str
    version: str
    file: str
    sha256: str
    licence: str


@cache
def packaged_deciders() -> dict[str, PackagedDecider]:
    """Return the packaged decision models by name."""
    return msgspec.toml.decode(Path(__file__).with_name("deciders.toml").read_bytes(), type=dict[str, PackagedDecider])


def note_of(judge: str) -> str:
    """Return what a reader of a judge's verdicts should know of it, as a clause after its name; empty if nothing is known.

    >>> note_of("decider/sparrow-nano").startswith("is a toy"), note_of("openai/gpt-4o")
    (True, '')
    """
    kind, _, name = judge.partition("/")
    model = packaged_deciders().get(name) if kind == "decider" else None
    return f"is {model.note}" if model else ""
