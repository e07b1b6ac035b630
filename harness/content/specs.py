"""What the content files hold: one struct a kind of file, filled completely or refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec

from harness.errors import ContentError
from harness.model import AnnotatorKind, Scale, Source

Text = Annotated[str, msgspec.Meta(min_length=1)]
Points = Annotated[tuple[Text, ...], msgspec.Meta(min_length=1)]
Version = Annotated[str, msgspec.Meta(pattern=r"^\d+\.\d+\.\d+$")]


class _Spec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Field(_Spec, frozen=True):
    """One text of an item: under which heading a judge reads it, and whether it may be empty."""

    title: Text
    role: Literal["input", "output"]
    optional: bool = False


class Task(_Spec, frozen=True):
    """`tasks/<id>/task.toml`: what an item of the task holds, in the order in which a judge reads it."""

    id: Text
    version: Version
    title: Text
    source: Text
    instruction: Text
    outputs: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=2)]
    metrics: tuple[str, ...]
    fields: dict[str, Field]
    at_least_one: tuple[str, ...] = ()


class Criteria(_Spec, frozen=True):
    """What earns one score, observably."""

    score: int | str
    points: Points


class SimpleInstruction(_Spec, frozen=True):
    instruction: Text


class DetailedInstruction(_Spec, frozen=True):
    description: Text
    criteria: Annotated[tuple[Criteria, ...], msgspec.Meta(min_length=1)]


class Rubric(_Spec, frozen=True):
    """`rubrics/<id>.toml`: a metric's scale and how it is put to a judge."""

    id: Text
    version: Version
    title: Text
    source: Text
    scale: Scale
    simple: SimpleInstruction
    detailed: DetailedInstruction


class Review(_Spec, frozen=True):
    """A native reader who has read a pack."""

    who: Text
    when: Text
    read: Text


class Pack(_Spec, frozen=True):
    """`languages/<tag>/pack.toml`. Names are not here: `langcodes` knows them."""

    tag: Text
    version: Version
    script: Annotated[str, msgspec.Meta(pattern=r"^[A-Z][a-z]{3}$")]
    resource_class: Annotated[int, msgspec.Meta(ge=0, le=5)]
    segmenter: Literal["icu"]
    reviewed_by: tuple[Review, ...]


class Words(_Spec, frozen=True):
    """What a prompt says besides the texts of tasks, rubrics and items; `PLACEHOLDERS` says where something is put in."""

    system: Text
    meant_for: Text
    examples: Text
    example: Text
    given: Text
    now: Text
    heading: Text
    question: Text
    question_about: Text
    score: Text
    form_single: Text
    form_joint: Text
    justification_key: Text
    score_key: Text
    then: Text
    reminder: Text
    short_reason: Text
    the_score: Text


# Word -> what is put into it, each once, where its name stands in braces; into other words, nothing is.
PLACEHOLDERS: dict[str, tuple[str, ...]] = {
    "meant_for": ("language",),
    "example": ("number",),
    "given": ("title", "score"),
    "heading": ("title",),
    "question": ("title",),
    "question_about": ("metric", "title"),
    "score": ("score",),
    "form_single": ("keys",),
    "form_joint": ("keys",),
    "justification_key": ("characters",),
    "then": ("first", "second"),
    "reminder": ("keys",),
}


class TaskWords(_Spec, frozen=True):
    """A task in another language: its instruction and the titles of its texts."""

    instruction: Text
    fields: dict[str, Text]


class RubricWords(_Spec, frozen=True):
    """A rubric in another language; `criteria` by score."""

    title: Text
    simple: Text
    description: Text
    criteria: dict[str, Points]


class Instructions(_Spec, frozen=True):
    """`languages/<tag>/instructions.toml`: what judges are told, in the pack's language."""

    tag: Text
    version: Version
    reviewed_by: tuple[Review, ...]
    words: Words
    tasks: dict[str, TaskWords]
    rubrics: dict[str, RubricWords]


class BoardData(_Spec, frozen=True):
    """Data that are not in the packs: a data folder that the user has, known by its content hash, or a data folder on the hub at a commit.

    `tasks` says as which task of ours the data's tasks are asked about, where they are called otherwise; `where` which items are
    judged, by any key of theirs.
    """

    recipe: Text
    sha256: Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{64})?$")] = ""
    hub: Annotated[str, msgspec.Meta(pattern=r"^([\w.-]+/[\w.-]+)?$")] = ""
    revision: Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{40})?$")] = ""
    tasks: dict[str, Text] = {}
    where: dict[str, tuple[str | int, ...]] = {}


class Sealed(_Spec, frozen=True):
    """Labels that are kept encrypted in `labels.age` beside the board: who can open them, and what was published about them beforehand.

    `commitment` is the SHA-256 of what is encrypted: a random salt and the labels; `canary` stands in every data file of the board.
    """

    recipients: Annotated[tuple[Text, ...], msgspec.Meta(min_length=1)]
    commitment: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
    canary: Annotated[str, msgspec.Meta(pattern=r"^[ !#-\[\]-~]{30,300}$")]  # printable ASCII, the same in JSON and TOML
    source: Source = "native"


class Board(_Spec, frozen=True):
    """`leaderboards/<id>/board.toml`: a frozen protocol. `items` lists what is judged, by language; without it: all test items.

    `languages` are packs at their versions; of data that are not in the packs, only tags.
    `majority` is how annotators become one reference, `annotators` how many an item needs (`3`, `2+`; empty: two or more, or one where no
    item has two), `statistics` the columns of its table, `rank_by` the one that judges are ranked by.
    """

    id: Text
    version: Version
    title: Text
    description: Text
    data: Literal["bundled"] | BoardData
    tasks: dict[str, Version]
    rubrics: dict[str, Version]
    languages: dict[str, Version] | tuple[Text, ...]
    variants: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    temperature: Annotated[float, msgspec.Meta(ge=0)]
    repeats: Annotated[int, msgspec.Meta(ge=1)]
    majority: Literal["drop", "median", "strict"]
    annotators: Annotated[str, msgspec.Meta(pattern=r"^([1-9]\d{0,3}\+?)?$")]
    statistics: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    rank_by: Text
    items: dict[str, tuple[str, ...]] = {}
    sealed: Sealed | None = None

    @property
    def packs(self) -> dict[str, str]:
        """`{tag: version}` of the language packs that it is frozen on; none for data that are not in the packs."""
        return self.languages if isinstance(self.languages, dict) else {}


class Shared(_Spec, frozen=True):
    """Texts that several items share and that stand in a table of their own beside them: which items, by which key."""

    table: Annotated[str, msgspec.Meta(pattern=r"^[a-z_]+$")]
    key: Text
    texts: Annotated[tuple[Text, ...], msgspec.Meta(min_length=1)]


class DataFolder(_Spec, frozen=True):
    """`data.toml`: what the labels of a data folder mean and where they come from.

    The same file without the data is a recipe, `datasets/<id>/data.toml`, for data that may not be passed on.
    """

    id: Text
    version: Text = "0"
    title: str = ""
    licence: str = ""
    citation: str = ""
    get: str = ""  # how to get the data, in words
    notes: tuple[Text, ...] = ()  # what a reader of its numbers has to know
    source: Source = "native"
    annotators: AnnotatorKind = "anonymous"
    sampling: Literal["random", "convenience", "unknown"] = "unknown"
    task: str = ""  # of labels and judgments that bring a language of their own, because their item is not among the items
    group: Text = "group"  # the key of an item that names what it shares with others
    repeats: Literal["numbered", "rows"] = "numbered"  # "rows": one judge's rows for one item are its repeats, in their order
    shared: Shared | None = None
    metrics: dict[str, Scale] = {}


S = TypeVar("S", bound=msgspec.Struct)


def read_spec(path: Path, kind: type[S]) -> S:
    """Read one TOML file as `kind`. Raises ContentError with the line of the key that is wrong."""
    try:
        raw = path.read_bytes()
    except OSError as err:
        raise ContentError(f"cannot be read: {err.strerror or err}", path) from None
    try:
        return msgspec.toml.decode(raw, type=kind)
    except UnicodeDecodeError as err:
        raise ContentError("not UTF-8; save the file as UTF-8", path, raw[: err.start].count(b"\n") + 1) from None
    except msgspec.ValidationError as err:
        raise ContentError(_sentence(err), path, _line_of(raw.decode(), str(err))) from None
    except RecursionError:
        raise ContentError("nested too deeply", path) from None
    except ValueError as err:  # msgspec.DecodeError or tomllib.TOMLDecodeError: not TOML
        found = re.search(r"at line (\d+)", str(err))
        raise ContentError(f"not valid TOML: {err}", path, int(found[1]) if found else None) from None


def _sentence(err: msgspec.ValidationError) -> str:
    return re.sub(r" - at `\$\.?(.*)`$", r" (key '\1')", str(err))


def _line_of(text: str, message: str) -> int | None:
    """The line where the last key of the path in a validation message stands, as TOML parsers do not keep it."""
    path = re.search(r"at `\$(.*)`$", message)
    unknown = re.search(r"unknown field `(.+?)`", message)
    keys = re.findall(r"[\w-]+", path[1]) if path else []
    if unknown:
        keys.append(unknown[1])
    for key in reversed([key for key in keys if not key.isdigit()]):
        for number, line in enumerate(text.splitlines(), start=1):
            if re.match(rf"\s*(\[+.*\b)?[\"']?{re.escape(key)}[\"']?\b", line):
                return number
    return None
