"""The signature: everything that can move a number, short enough for a footnote, printed with each result, and parsing back."""

from __future__ import annotations

from typing import Self
from urllib.parse import quote, unquote

import msgspec

_SAFE = "@.+=/ "  # readable in a footnote and no separator of the signature's own


class _Signature(msgspec.Struct, frozen=True):
    def __str__(self) -> str:
        """`key:value|key:value|…` without what is as it usually is; lists are joined by commas, reserved characters percent-encoded."""
        values = {field.name: (getattr(self, field.name), field.default) for field in msgspec.structs.fields(type(self))}
        return "|".join(f"{name}:{_text(value)}" for name, (value, usual) in values.items() if value != usual)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a signature's text form. Raises ValueError with the part that is wrong."""
        values: dict[str, str | tuple[str, ...]] = {}
        for part in text.split("|"):
            name, colon, value = part.partition(":")
            if not colon or name not in cls.__struct_fields__:
                raise ValueError(f"'{part}' is no part of a signature; parts are {', '.join(cls.__struct_fields__)}")
            if name in values:
                raise ValueError(f"a signature has '{name}' once, this one twice")
            pieces = tuple(unquote(piece) for piece in value.split(",") if piece)
            values[name] = pieces if cls.__annotations__[name].startswith("tuple") else unquote(value)
        try:
            return msgspec.convert(values, cls, strict=False)
        except msgspec.ValidationError as err:
            raise ValueError(f"not a whole signature: {err}") from None


class Signature(_Signature, frozen=True):
    """One judge's part of a report. Lists are sorted, so that equal protocols have equal signatures."""

    judge: str  # provider/model, and a hash of its settings where it has any
    data: str  # name@version and the hash of the items and labels used
    tasks: tuple[str, ...]  # name@version
    rubrics: tuple[str, ...]
    langs: tuple[str, ...]
    conditions: tuple[str, ...]
    repeats: int
    seed: int
    prompts: str  # hash of the code that words prompts
    instructions: tuple[str, ...]  # language@version of instructions in the items' languages
    examples: str  # hash of the data that few-shot examples are taken from
    segmenter: str  # what a word is to perturbations; "none" where nothing is perturbed
    majority: str  # how annotators become one reference
    ci: str  # how intervals are made
    harness: str  # version of this program
    reask: str = "none"  # which answers were asked for again


class ComparisonSignature(_Signature, frozen=True):
    """What moves a number when recorded judgments are compared with labels."""

    data: tuple[str, ...]  # id@version and hash of items and labels
    judgments: tuple[str, ...]  # hash
    judges: tuple[str, ...]
    where: tuple[str, ...]
    by: tuple[str, ...]
    annotators: str  # how many an item needs
    majority: str
    level: str
    versus: str
    ci: str
    seed: int
    resamples: int
    harness: str


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(quote(str(piece), safe=_SAFE) for piece in value)
    return quote(str(value), safe=_SAFE)
