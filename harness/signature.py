"""The signature: everything that can move a number. It is printed with each result, fits into a footnote, and can be parsed."""

from __future__ import annotations

import re
from typing import Self
from urllib.parse import quote, unquote

import msgspec

from harness.model import JudgeIdentity

_SAFE = "@.+=/ "  # these stay readable; the separators of the signature are not among them


class _SignatureText(msgspec.Struct, frozen=True):
    def __str__(self) -> str:
        """Return `key:value|key:value|…` without default values. Commas join lists; reserved characters are percent-encoded."""
        values = {field.name: (getattr(self, field.name), field.default) for field in msgspec.structs.fields(type(self))}
        return "|".join(f"{name}:{_text(value)}" for name, (value, default) in values.items() if value != default)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the text form of a signature. Raises ValueError that names the wrong part."""
        values: dict[str, str | tuple[str, ...]] = {}
        for part in text.split("|"):
            name, colon, value = part.partition(":")
            if not colon or name not in cls.__struct_fields__:
                raise ValueError(f"'{part}' is not a part of a signature; its parts are {', '.join(cls.__struct_fields__)}")
            if name in values:
                raise ValueError(f"the signature repeats '{name}'")
            pieces = tuple(unquote(piece) for piece in value.split(",") if piece)
            values[name] = pieces if cls.__annotations__[name].startswith("tuple") else unquote(value)
        try:
            return msgspec.convert(values, cls, strict=False)
        except msgspec.ValidationError as err:
            raise ValueError(f"incomplete or invalid signature: {err}") from None


class Signature(_SignatureText, frozen=True):
    """The signature of one judge in a report. Lists are sorted, so that equal protocols have equal signatures."""

    judge: str  # provider/model, and a hash of its settings where it has any
    data: str  # name@version and the hash of the items and labels used
    judgments: str  # hash of all judgments of the run, as in the signature of its comparison
    tasks: tuple[str, ...]  # name@version
    rubrics: tuple[str, ...]
    langs: tuple[str, ...]
    conditions: tuple[str, ...]
    repeats: int
    seed: int
    prompts: str  # hash of the code that words prompts
    instructions: tuple[str, ...]  # language@version of instructions in the items' languages
    examples: str  # hash of the data of few-shot examples
    segmenter: str  # how perturbations find words; "none" if nothing is perturbed
    majority: str  # how annotators become one reference
    ci: str  # how intervals are computed
    harness: str  # version of this program
    annotators: str = ""  # annotators that an item needs: `3`, `2+`; empty: two or more, or one if no item has two
    reask: str = "none"  # which answers were requested again
    decide: str = ""  # the thresholds of the verdicts
    left_out: tuple[str, ...] = ()  # parameters and roles that the endpoint does not take, and that were not sent


class ComparisonSignature(_SignatureText, frozen=True):
    """The signature of a comparison of recorded judgments with labels."""

    data: tuple[str, ...]  # id@version and hash of items and labels
    judgments: tuple[str, ...]  # hash
    judges: tuple[str, ...]
    where: tuple[str, ...]
    by: tuple[str, ...]
    asked: str  # which items count as asked besides the judged ones: the rule of a data folder, or `plan` for a run
    annotators: str  # annotators that an item needs
    majority: str
    level: str
    versus: str
    ci: str
    seed: int
    resamples: int
    harness: str
    decide: str = ""  # the thresholds of the verdicts
    use: str = ""  # what scores are used for besides: corrected numbers, acceptance
    standardise: str = "none"  # whether people's scores on interval scales are standardised within annotator
    weights: str = "none"  # `inclusion-probability` if texts count by 1 / the probability with which they were drawn
    panels: tuple[str, ...] = ()  # members and rule of each panel


class QuestionSignature(_SignatureText, frozen=True):
    """The signature of a single score that was asked for from inside another program."""

    judge: str  # provider/model, and a hash of its settings where it has any
    metric: str
    tasks: tuple[str, ...]  # name@version; none for a prompt of the user's own, whose hash is in the condition
    rubrics: tuple[str, ...]
    langs: tuple[str, ...]
    conditions: tuple[str, ...]
    seed: int
    prompts: str  # hash of the code that words prompts
    instructions: tuple[str, ...]  # language@version of instructions in the items' languages
    harness: str  # version of this program


class StudySignature(_SignatureText, frozen=True):
    """The signature of a study's section that is computed from recorded answers."""

    study: str
    data: tuple[str, ...]  # id@version and hash of items and judgments
    judges: tuple[str, ...]
    seed: int
    harness: str


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(quote(str(piece), safe=_SAFE) for piece in value)
    return quote(str(value), safe=_SAFE)


def judge_text(identity: JudgeIdentity) -> str:
    """Return a judge as signatures name it: its name and its settings."""
    # A hash is cut to twelve digits for a footnote; anything else is whole.
    texts = {name: text[:12] if re.fullmatch(r"[0-9a-f]{16,}", text := str(value)) else text for name, value in identity.settings.items()}
    settings = ",".join(f"{name}={text}" for name, text in sorted(texts.items()))
    return identity.name + (f"@{settings}" if settings else "")
