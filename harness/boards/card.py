"""`judge.toml` of a submission: who was asked, what is known of it, and which replies are its evidence."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from harness.content.problem import Problem, from_error, line_of
from harness.content.scales import of_key
from harness.content.specs import read_spec
from harness.errors import ContentError
from harness.model import JudgeIdentity
from harness.tables import write_atomic

CARD = "judge.toml"
LONGEST_NAME = 120  # characters of a name, a title, a family or a setting
LONGEST_TEXT = 500  # characters of contact and notes
_HOMES = {"name": LONGEST_NAME, "title": LONGEST_NAME, "provider": 40, "model": LONGEST_NAME, "board": LONGEST_NAME}
_TEXTS = ("contact", "exposure_note")
_MARKUP = re.compile(r"[<>&`|\[\]{}*\\\"]|://")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
_SLUG = re.compile(r"[a-z0-9]([a-z0-9._-]{0,78}[a-z0-9])?")

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]


class Verified(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a maintainer found who asked some of the calls again, twice: how often the submitted score was the fresh one (`agreement`),
    and how often the two fresh ones were equal (`retest`)."""

    date: Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d\d-\d\d$")]
    calls: Count
    agreement: Share
    retest: Share
    seed: Count = 0


class JudgeCard(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One judge on one board. `provider`, `model` and `settings` are its identity and decide the ids of its calls.

    `families` are the model families that it shares with the systems whose texts it judges; `exposure` says whether it may have been
    trained on the board's data. `replies_sha256` is of the replies before they are compressed.
    """

    name: str
    title: str = ""
    provider: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
    model: Annotated[str, msgspec.Meta(min_length=1)]
    settings: dict[str, str | int | float | bool] = {}
    open_weights: Literal["yes", "no", "unknown"] = "unknown"
    contact: str = ""
    exposure: Literal["none", "possible", "trained", "unknown"] = "unknown"
    exposure_note: str = ""
    families: tuple[str, ...] = ()
    board: Annotated[str, msgspec.Meta(pattern=r"^[\w.-]+@\d+\.\d+\.\d+$")]
    replies_sha256: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
    status: Literal["submitted", "verified"] = "submitted"
    verified: Verified | None = None

    @property
    def identity(self) -> JudgeIdentity:
        return JudgeIdentity(self.provider, self.model, dict(self.settings))

    @property
    def shown(self) -> str:
        """What tables call it."""
        return self.title or self.name


def read_card(path: Path) -> JudgeCard:
    """The card of a submission. Raises ContentError with `file:line` for the first thing that is wrong with it."""
    card, problems = examine_card(path)
    for problem in problems:
        raise ContentError(problem.message, problem.path, problem.line)
    assert card is not None
    return card


def examine_card(path: Path) -> tuple[JudgeCard | None, list[Problem]]:
    """A card and everything that is wrong with it; None where it cannot be read at all."""
    try:
        card = read_spec(path, JudgeCard)
    except ContentError as err:
        return None, [from_error(err)]
    return card, [Problem(path, line_of(path, of_key(key)), message) for key, message in card_complaints(card)]


def card_complaints(card: JudgeCard) -> Iterator[tuple[str, str]]:
    """What cannot stand in a card: (key, what is wrong with it)."""
    if card.name != card.identity.name:
        yield "name", f"'{plainly(card.name)}' should be provider and model: '{plainly(card.identity.name)}'"
    for key, longest in _HOMES.items():
        yield from ((key, message) for message in name_complaints(getattr(card, key), longest))
    for key in _TEXTS:
        yield from ((key, message) for message in text_complaints(getattr(card, key), LONGEST_TEXT))
    for family in card.families:
        yield from (("families", message) for message in name_complaints(family))
    for key, value in card.settings.items():
        for text in (key, str(value)):
            yield from (("settings", message) for message in name_complaints(text))
    if (card.status == "verified") != (card.verified is not None):
        yield "status", "a card is verified when it has a [verified] table, which 'harness board verify' writes, and only then"


def name_complaints(text: str, longest: int = LONGEST_NAME) -> Iterator[str]:
    """What keeps a text from being a name that tables can show: what `text_complaints` says, and markup.

    >>> list(name_complaints("<b>best</b>"))
    ["'b best /b' holds '<', which is markup; names are plain text"]
    """
    yield from text_complaints(text, longest)
    if found := _MARKUP.search(text):
        yield f"'{plainly(text)}' holds '{found[0]}', which is markup; names are plain text"


def text_complaints(text: str, longest: int) -> Iterator[str]:
    """What keeps a text from being shown: its length, and characters that nobody sees or that reorder others."""
    if len(text) > longest:
        yield f"{len(text)} characters; at most {longest} can be shown"
    if hidden := next((c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")), None):
        yield f"'{plainly(text)}' holds the character U+{ord(hidden):04X}, which cannot be seen; leave it out"


def plainly(text: str, longest: int = 60) -> str:
    """A text from a stranger's file as messages may quote it: short, without markup and hidden characters."""
    seen = "".join(c if c.isprintable() else " " for c in text[:longest])
    return re.sub(r"\s+", " ", re.sub(r"[<>`]", " ", seen)).strip() + ("…" if len(text) > longest else "")


def slug(name: str) -> str:
    """The folder name that a judge's name gives; empty where it gives none.

    >>> slug("openai/gpt-4o-2024-08-06"), slug("local/山田"), slug("baseline/..")
    ('openai-gpt-4o-2024-08-06', '', 'baseline')
    """
    if not name.isascii():
        return ""
    found = re.sub(r"[^a-z0-9._-]+|\.\.+", "-", name.lower())
    found = re.sub(r"-{2,}", "-", found)[:80].strip("._-")
    return "" if folder_complaint(found) else found


def folder_complaint(name: str) -> str:
    """Why a submission's folder cannot be called that; empty when it can."""
    if _SLUG.fullmatch(name) and ".." not in name and not _RESERVED.fullmatch(name):
        return ""
    return (
        f"'{plainly(name)}' is no name for a submission's folder: lower-case letters a to z, digits, '-', '_' and single '.' between them, "
        "at most 80 characters, and no name that a system keeps for itself"
    )


def write_card(path: Path, card: JudgeCard) -> None:
    """Write a card whole, or not at all. Raises StoreError."""
    write_atomic(path, card_text(card))


def card_text(card: JudgeCard) -> str:
    """The card as TOML: keys in the order of the fields, tables last."""
    found = msgspec.to_builtins(card)
    tables = {key: value for key, value in found.items() if isinstance(value, Mapping)}
    lines = [f"{key} = {_value(value)}" for key, value in found.items() if key not in tables and value is not None]
    for key, table in tables.items():
        lines += ["", f"[{key}]", *(f"{_key(name)} = {_value(value)}" for name, value in table.items())]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: Any) -> str:
    """A value as TOML; of texts, what JSON writes is TOML too, but for the character DEL."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
