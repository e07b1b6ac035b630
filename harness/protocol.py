"""A run specification resolved: names become items, labels, versions and conditions, or one sentence about what cannot be.

`RunSpec` is what a user asks for; `RunProtocol` is everything that decides what is asked, as the store keeps it; `Prepared` is what
it means.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from harness.content import Board, Dataset, Library, load_bundled, load_folder
from harness.content.tags import resolve, suggest
from harness.errors import ContentError, UsageError
from harness.model import Condition, Item, JudgeIdentity, parse_variant
from harness.perturb import parse_perturbation
from harness.plan import Plan, make_plan
from harness.prompts import Frames, is_english
from harness.prompts.frames import program_hash
from harness.sources import load_board
from harness.store import Store

DEFAULT_BOARD = "controls"
SWAP_LANGUAGE = "swap-language"
# What protocols did not say once -> what went then without saying: it is left out of a run's name, so that earlier runs keep theirs.
_SAID_LATER = {"majority": "drop", "annotators": ""}
DEFAULT_JUDGE = "local/smollm2-135m"


class RunSpec(msgspec.Struct, frozen=True):
    """What a user asks for. None means: what the board says (or, for a data folder without a board, everything)."""

    board: str | None = None
    data: Path | None = None
    content: tuple[Path, ...] = ()
    languages: tuple[str, ...] | None = None
    tasks: tuple[str, ...] | None = None
    metrics: tuple[str, ...] | None = None
    judges: tuple[str, ...] = (DEFAULT_JUDGE,)
    base_url: str | None = None
    variants: tuple[str, ...] | None = None
    temperatures: tuple[float, ...] | None = None
    top_ps: tuple[float | None, ...] = (None,)
    perturbations: tuple[str, ...] = ()  # such as `shuffle-words:0.1,0.3`; the text as it is is always asked about too
    segmenters: tuple[str, ...] = ("icu",)  # what a word is to perturbations
    allow_unreviewed: bool = False  # instructions in the items' language that no native reader has read
    repeats: int | None = None
    reask: bool = False  # ask refused calls again
    seed: int = 0
    limit: int | None = None


class RunProtocol(msgspec.Struct, frozen=True):
    """A run specification resolved: everything that decides what is asked, as it is kept in the store. `identities` are its judges."""

    source: str  # board or data folder, with version
    title: str
    constructed: bool
    data: str | None
    content: tuple[str, ...]
    board: str | None
    languages: tuple[str, ...]
    tasks: dict[str, str]
    rubrics: dict[str, str]
    metrics: tuple[str, ...]
    conditions: tuple[Condition, ...]
    repeats: int
    seed: int
    limit: int | None
    data_sha256: str
    prompts: str
    instructions: dict[str, str] = {}  # version of the own-language instructions that are used, by language
    examples: str = ""  # hash of the data that few-shot examples are taken from
    reask: bool = False  # refused calls are asked again
    majority: Literal["drop", "median", "strict"] = "drop"  # how annotators become one reference
    annotators: str = ""  # how many an item needs to count, as `2+`; empty: as `harness compare` has it
    identities: tuple[JudgeIdentity, ...] = ()

    @property
    def name(self) -> str:
        """A readable name and a hash: equal protocols have equal names."""
        judges = "+".join(identity.model for identity in self.identities)
        said = msgspec.to_builtins(self)
        for name, usual in _SAID_LATER.items():
            if said[name] == usual:
                del said[name]
        digest = hashlib.sha256(msgspec.json.encode(said, order="sorted")).hexdigest()[:8]
        readable = re.sub(r"[^\w.+-]+", "-", f"{self.source.partition('@')[0]}-{'+'.join(self.languages)}-{judges}")
        return f"{readable[:80].strip('-.')}-{digest}"


class Prepared(msgspec.Struct, frozen=True):
    """What a protocol means: the items to judge with their labels, and all that baselines may learn from."""

    protocol: RunProtocol
    data: Dataset
    training: Dataset
    library: Library

    def plan(self, store: Store | None) -> Plan:
        frames = Frames(store, self.protocol.prompts)
        p = self.protocol
        return make_plan(
            self.data, self.library, p.metrics, p.conditions, p.repeats, p.seed, frames, training=self.training, pool=self._pool()
        )

    def _pool(self) -> tuple[Item, ...]:
        """Items that perturbations may put in place of others: those of all packs where texts of another language are wanted."""
        if self.protocol.data or not any(condition.perturbation == SWAP_LANGUAGE for condition in self.protocol.conditions):
            return self.training.items
        return load_bundled(self.library, self.library.tags_with_items()).items


def prepare(spec: RunSpec) -> Prepared:
    """Resolve names, load and restrict content. Raises UsageError or ContentError; asks nobody."""
    library = Library(*spec.content)
    if spec.data is not None and spec.board is None:
        return _prepare_folder(spec, spec.data, library)
    return _prepare_board(spec, spec.board or DEFAULT_BOARD, library)


def _prepare_board(spec: RunSpec, name: str, library: Library) -> Prepared:
    board = library.board(name)
    _check_frozen(board, library)
    known = {tag for tag in board.languages if tag not in board.packs or library.item_files(tag)}
    if spec.languages is not None:
        _explain_no_items(spec.languages, known, library)
    languages = tuple(sorted(resolve(spec.languages, known, "items"))) if spec.languages is not None else tuple(sorted(known))
    source = load_board(board, library, languages, spec.data)
    tasks = _choose(spec.tasks, board.tasks, "task")
    return _finish(
        msgspec.structs.replace(spec, data=source.folder),
        source.everything,
        [item for item in source.items if item.task in tasks],
        library,
        tasks,
        _choose(spec.metrics, board.rubrics, "metric"),
        f"{board.id}@{board.version}",
        board,
        languages,
    )


def _prepare_folder(spec: RunSpec, folder: Path, library: Library) -> Prepared:
    everything = load_folder(folder, library)
    known = sorted({item.language for item in everything.items})
    languages = tuple(sorted(resolve(spec.languages, known, "items"))) if spec.languages is not None else tuple(known)
    judgeable = {item.task for item in everything.items} & set(library.task_files)
    if not judgeable:
        found = ", ".join(sorted({item.task for item in everything.items}))
        raise UsageError(
            f"{folder} has items of '{found}', which no tasks/ entry describes; add one with --content, or see 'harness new task'"
        )
    tasks = _choose(spec.tasks, sorted(judgeable), "task")
    askable = sorted({label.metric for label in everything.labels} & set(library.rubric_files))
    if not askable:
        raise UsageError(f"{folder} has no labels on a metric that a rubric describes; see 'harness list rubrics' and 'harness new rubric'")
    items = [i for i in everything.items if i.language in languages and i.task in tasks and i.split == "test"]
    return _finish(spec, everything, items, library, tasks, _choose(spec.metrics, askable, "metric"), everything.id, None, languages)


def _finish(
    spec: RunSpec,
    everything: Dataset,
    items: Sequence[Any],
    library: Library,
    tasks: Sequence[str],
    metrics: Sequence[str],
    source: str,
    board: Board | None,
    languages: tuple[str, ...],
) -> Prepared:
    data = everything.only(_limited(items, spec.limit))
    if not data.items:
        raise UsageError("nothing is left to judge: no item of these languages and tasks")
    variants = spec.variants or (board.variants if board else ("single",))
    temperatures = spec.temperatures or ((board.temperature,) if board else (0.0,))
    protocol = RunProtocol(
        source=source,
        title=board.title if board else everything.id,
        constructed=_constructed(data, board),
        data=str(spec.data.resolve()) if spec.data else None,
        content=tuple(str(path.resolve()) for path in spec.content),
        board=board.id if board else None,
        languages=languages,
        tasks={name: library.task(name).version for name in tasks},
        rubrics={name: library.rubric(name).version for name in metrics},
        metrics=tuple(metrics),
        conditions=_conditions(spec, variants, temperatures),
        repeats=spec.repeats or (board.repeats if board else 1),
        seed=spec.seed,
        reask=spec.reask,
        limit=spec.limit,
        data_sha256=data.sha256,
        prompts=program_hash(),
        instructions=_instructions(spec, library, variants, languages),
        examples=everything.sha256[:12] if any(parse_variant(text).shots for text in variants) else "",
        majority=board.majority if board else "drop",
        annotators=board.annotators if board else "",
    )
    return Prepared(protocol, data, everything, library)


def _constructed(data: Dataset, board: Board | None) -> bool:
    if board is not None and board.sealed is not None:
        return board.sealed.source == "constructed"
    return all(label.source == "constructed" for label in data.labels)


def _conditions(spec: RunSpec, variants: Sequence[str], temperatures: Sequence[float]) -> tuple[Condition, ...]:
    """Every variant at every temperature and top-p, on the text as it is and on every perturbation of it.

    One that is named twice (under two names, too) would count every answer twice: UsageError.
    """
    changes = [
        "",
        *(str(each) for segmenter in spec.segmenters for text in spec.perturbations for each in parse_perturbation(text, segmenter)),
    ]
    try:
        found = [
            Condition(parse_variant(text), float(temperature), top_p, change)
            for text in variants
            for temperature in temperatures
            for top_p in spec.top_ps
            for change in dict.fromkeys(changes)  # what heeds no segmenter is the same under each
        ]
    except ValueError as err:
        raise UsageError(str(err)) from None
    repeated = next((condition for condition in found if found.count(condition) > 1), None)
    if repeated is not None:
        raise UsageError(f"'{repeated}' is asked for twice; name each variant and temperature once, and use --repeats to ask again")
    return tuple(found)


def _instructions(spec: RunSpec, library: Library, variants: Sequence[str], languages: Sequence[str]) -> dict[str, str]:
    """Versions of the instructions in the items' languages, which must be there, and read by a native reader or allowed."""
    if not any("own-language" in text.split("+") for text in variants):
        return {}
    languages = [tag for tag in languages if not is_english(tag)]
    for tag in languages:
        unread = not library.instructions(tag).reviewed_by
        if unread and not spec.allow_unreviewed:
            raise UsageError(
                f"no native reader has reviewed the instructions in '{tag}'; --allow-unreviewed uses them, and every table says so"
            )
    return {tag: library.instructions(tag).version for tag in languages}


def _choose(wanted: Sequence[str] | None, known: Sequence[str] | Mapping[str, str], what: str) -> tuple[str, ...]:
    if wanted is None:
        return tuple(known)
    for name in wanted:
        if name not in known:
            raise UsageError(f"no {what} '{name}'.{suggest(name, list(known))}\n         here: {', '.join(known)}")
    if len(set(wanted)) != len(wanted):
        raise UsageError(f"a {what} is named twice in '{','.join(wanted)}'; name each once")
    return tuple(wanted)


def _explain_no_items(texts: Sequence[str], known: set[str], library: Library) -> None:
    for text in texts:
        if text in library.pack_files and text not in known:
            raise UsageError(f"the language pack '{text}' has no items yet.\n         with items: {', '.join(sorted(known))}")


def _check_frozen(board: Board, library: Library) -> None:
    """A board is comparable for ever because what it names does not change under it."""
    path = library.board_files[board.id]
    here = (
        [("task", name, frozen, library.task(name).version) for name, frozen in board.tasks.items()]
        + [("rubric", name, frozen, library.rubric(name).version) for name, frozen in board.rubrics.items()]
        + [("language pack", tag, frozen, library.pack(tag).version) for tag, frozen in board.packs.items()]
    )
    for what, name, frozen, found in here:
        if frozen != found:
            raise ContentError(
                f"the board is frozen on {what} {name}@{frozen}, but {name}@{found} is here; make a new version of the board", path
            )


def _limited(items: Sequence[Any], limit: int | None) -> list[Any]:
    """The first `limit` items of each language and task."""
    if limit is None:
        return list(items)
    taken: dict[tuple[str, str], int] = {}
    kept = []
    for item in items:
        cell = (item.language, item.task)
        taken[cell] = taken.get(cell, 0) + 1
        if taken[cell] <= limit:
            kept.append(item)
    return kept
