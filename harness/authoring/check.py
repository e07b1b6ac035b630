"""Collects everything that is wrong with the content, in one pass.

Loading stops at the first problem, which is right for a run, but slow for an author; `check` continues. Problems that are found while
reading a file (an invalid JSON line, a score off its scale) are reported once per file. Base texts (`languages/*/texts`) are checked by
`languages/derive.py`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

import msgspec

from harness.authoring.lock import differences
from harness.authoring.scaffold import PLACEHOLDER
from harness.authoring.translation import instruction_complaints
from harness.content import tags
from harness.content.canary import HOW_TO_MARK, LABELS, holds_canary, sealed_file_problem
from harness.content.lexicons import lexicon_complaints
from harness.content.library import Library, misnamed
from harness.content.problems import Complaints, Problem, duplicates, key_pattern, line_of, problem_from_error, scale_complaints
from harness.content.specs import Board, BoardData, DatasetCard, Instructions, Lexicon, Pack, Rubric, S, Task, read_spec
from harness.data.dataset import read_items
from harness.data.labels import Labels, read_labels
from harness.errors import ContentError, UsageError
from harness.model import Item, parse_variant
from harness.tables import read_rows

# Folder of content -> the file that every subfolder must have.
_FILE_OF_KIND = {
    "tasks": "task.toml",
    "languages": "pack.toml",
    "catalog": "dataset.toml",
    "datasets": "data.toml",  # dataset cards before the catalog
    "leaderboards": "board.toml",
}


class _PackTable(msgspec.Struct, dict=True):
    """One task of one pack. `items` or `labels` is None if it could not be read, which is reported as a problem."""

    tag: str
    task: str
    path: Path
    items: list[Item] | None
    labels: Labels | None

    @property
    def label_path(self) -> Path:
        return self.path.parent.parent / "labels" / self.path.name

    @cached_property
    def lines(self) -> dict[str, int]:
        """`{item_id: line}`. Reads the file again, but only if there is a problem to report."""
        return {row["item_id"]: line for line, row in read_rows(self.path)}

    def problem(self, item_id: str, message: str) -> Problem:
        return Problem(self.path, self.lines[item_id], message)


class _Content(msgspec.Struct):
    """The content that could be read. Names that the library has and that are missing here could not be read."""

    library: Library
    tasks: dict[str, Task]
    rubrics: dict[str, Rubric]
    packs: dict[str, Pack]
    instructions: dict[str, Instructions]
    lexicons: dict[str, Lexicon]
    dataset_cards: dict[str, DatasetCard]
    boards: dict[str, Board]
    tables: list[_PackTable]


def check(library: Library) -> list[Problem]:
    """All problems of all content, sorted by file and line.

    If two folders have content of the same name, only that is reported, because it is unclear which one to check.
    """
    try:
        content, problems = _read(library)
    except ContentError as err:
        return [problem_from_error(err)]
    problems += _folders_without_file(library)
    problems += _spec_problems(content)
    problems += _documents(library)
    problems += _table_problems(content)
    problems += differences(library)
    return sorted(dict.fromkeys(problems), key=lambda problem: (str(problem.path), problem.line or 0, problem.message))


def _read(library: Library) -> tuple[_Content, list[Problem]]:
    problems: list[Problem] = []
    content = _Content(
        library,
        tasks=_specs(library.task_files, Task, problems),
        rubrics=_specs(library.rubric_files, Rubric, problems),
        packs=_specs(library.pack_files, Pack, problems),
        instructions=_specs(library.instruction_files, Instructions, problems),
        lexicons=_specs(library.lexicon_files, Lexicon, problems),
        dataset_cards=_specs(library.dataset_card_files, DatasetCard, problems),
        boards=_specs(library.board_files, Board, problems),
        tables=[],
    )
    for tag in library.pack_files:
        for task, path in library.item_files(tag).items():
            content.tables.append(_table(content, tag, task, path, problems))
    return content, problems


def _specs(files: Mapping[str, Path], kind: type[S], problems: list[Problem]) -> dict[str, S]:
    specs = {}
    for name, path in files.items():
        try:
            specs[name] = read_spec(path, kind)
        except ContentError as err:
            problems.append(problem_from_error(err))
    return specs


def _table(content: _Content, tag: str, task: str, path: Path, problems: list[Problem]) -> _PackTable:
    table = _PackTable(tag, task, path, items=None, labels=None)
    try:
        table.items = read_items(path, {name: spec for name, spec in content.tasks.items() if name == task}, language=tag, task=task)
        if len(content.rubrics) < len(content.library.rubric_files):
            return table  # labels cannot be checked while a rubric, and so a scale, is missing
        scales = {name: rubric.scale for name, rubric in content.rubrics.items()}
        by_id = {item.item_id: item for item in table.items}
        table.labels = read_labels(table.label_path, scales, by_id) if table.label_path.is_file() else Labels.from_rows(())
    except ContentError as err:
        problems.append(problem_from_error(err))
    return table


# ---- missing files, and files that nothing reads


def _folders_without_file(library: Library) -> Iterator[Problem]:
    for root in library.roots:
        for kind, file in _FILE_OF_KIND.items():
            for folder in sorted(path for path in (root / kind).glob("[!._]*") if path.is_dir()):
                if not (folder / file).is_file():
                    yield Problem(folder, None, f"no {file} in this folder, so nothing reads it; add the file or remove the folder")


def _documents(library: Library) -> Iterator[Problem]:
    """Missing cards, and placeholders of `harness new` that were not replaced."""
    files = [*library.task_files.values(), *library.rubric_files.values(), *library.pack_files.values(), *library.board_files.values()]
    cards = sorted({path.parent / "CARD.md" for path in files})
    for card in cards:
        if not _text(card).strip():
            yield Problem(card, None, "CARD.md is missing or empty; write what this is, where it comes from and who has reviewed it")
    for path in (*files, *library.instruction_files.values(), *library.lexicon_files.values(), *cards):
        for number, line in enumerate(_text(path).split("\n"), start=1):
            if PLACEHOLDER in line:
                yield Problem(path, number, f"a placeholder was not replaced; write the text and remove '{PLACEHOLDER}'")


def _text(path: Path) -> str:
    """The text of a file; empty if it is missing or unreadable, which other checks report."""
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""


# ---- TOML files: what `read_spec` does not check


def _spec_problems(content: _Content) -> Iterator[Problem]:
    library = content.library
    for name, task in content.tasks.items():
        yield from _located(library.task_files[name], _task_complaints(name, task, library.rubric_files))
    for name, rubric in content.rubrics.items():
        yield from _located(library.rubric_files[name], _rubric_complaints(name, rubric))
    for tag, pack in content.packs.items():
        yield from _located(library.pack_files[tag], _pack_complaints(tag, pack))
    for tag, instructions in content.instructions.items():
        path = library.instruction_files[tag]
        yield from _located(path, _tag_complaints(tag, instructions.tag))
        yield from _located(path, _translation_complaints(instructions, content))
        yield from _decomposed(path)
    for tag, lexicon in content.lexicons.items():
        path = library.lexicon_files[tag]
        yield from _located(path, _tag_complaints(tag, lexicon.tag))
        yield from _located(path, lexicon_complaints(lexicon))
        yield from _decomposed(path)
    for name, card in content.dataset_cards.items():
        yield from _located(library.dataset_card_files[name], _dataset_card_complaints(name, card))
    for name, board in content.boards.items():
        yield from _located(library.board_files[name], _board_complaints(name, board, content))
        yield from _listed_items(library.board_files[name], board, content)
        yield from _sealed_problems(library.board_files[name], board, content)


def _located(path: Path, complaints: Complaints) -> Iterator[Problem]:
    for message, pattern in complaints:
        yield Problem(path, line_of(path, pattern), message)


def _score_pattern(score: int | str) -> str:
    return rf"^[ \t]*score[ \t]*=[ \t]*[\"']?{re.escape(str(score))}\b"


def _name_complaints(inside: str, name: str, key: str) -> Complaints:
    if inside != name:
        yield misnamed(inside, name), key_pattern(key)


def _task_complaints(name: str, task: Task, rubrics: Mapping[str, Path]) -> Complaints:
    yield from _name_complaints(task.id, name, "id")
    outputs = [field for field, spec in task.fields.items() if spec.role == "output"]
    if set(outputs) != set(task.outputs) or duplicates(task.outputs):
        listed, fields = ", ".join(task.outputs), ", ".join(outputs) or "none"
        yield f"outputs lists {listed}, but the fields with role 'output' are: {fields}; list exactly these", key_pattern("outputs")
    for field in task.at_least_one:
        if field not in task.fields:
            yield (
                f"at_least_one lists '{field}', which is not a field; the fields are {', '.join(task.fields)}",
                key_pattern("at_least_one"),
            )
    for metric in task.metrics:
        if metric not in rubrics:
            yield (
                f"metric '{metric}' has no rubric.{tags.suggest(metric, rubrics)} Rubrics here: {', '.join(rubrics)}",
                key_pattern("metrics"),
            )
    for repeated in duplicates(task.metrics):
        yield f"metric '{repeated}' is listed twice; list it once", key_pattern("metrics")
    if not task.metrics:
        yield "no metrics; list the rubrics that judges are asked about in this task", key_pattern("metrics")
    yield from _field_order(task)


def _field_order(task: Task) -> Complaints:
    """Judges read the fields in the order of the file, and an output makes no sense before its input."""
    roles = [spec.role for spec in task.fields.values()]
    first_output = roles.index("output") if "output" in roles else len(roles)
    for field in list(task.fields)[first_output:]:
        if task.fields[field].role == "input":
            message = f"input '{field}' comes after an output; judges read the fields in this order: put inputs first"
            yield message, rf"fields\.[\"']?{re.escape(field)}\b"


def _rubric_complaints(name: str, rubric: Rubric) -> Complaints:
    yield from _name_complaints(rubric.id, name, "id")
    yield from scale_complaints(rubric.scale)
    scores = [criteria.score for criteria in rubric.detailed.criteria]
    for score in scores:
        if not rubric.scale.holds(score):
            yield f"criteria for {score!r}, which is outside the scale ({rubric.scale.describe()})", _score_pattern(score)
    for score in duplicates(scores):
        yield f"criteria for {score!r} are listed twice; give each score one list", _score_pattern(score)
    for missing in (score for score in rubric.scale.classes if score not in scores):
        yield f"class {missing!r} of the scale has no criteria; add [[detailed.criteria]] for it", r"^\[detailed\]"


def _tag_complaints(tag: str, inside: str) -> Complaints:
    yield from _name_complaints(inside, tag, "tag")
    if problem := _tag_problem(inside):
        yield problem, key_pattern("tag")


def _tag_problem(tag: str) -> str:
    """What is wrong with a tag; empty when nothing is wrong."""
    try:
        tags.require_canonical(tag)
    except UsageError as err:
        return str(err)
    return ""


def _pack_complaints(tag: str, pack: Pack) -> Complaints:
    yield from _tag_complaints(tag, pack.tag)
    if _tag_problem(pack.tag):
        return
    script = tags.likely_script(pack.tag)
    if pack.script != script:
        yield (
            f"script '{pack.script}', but '{pack.tag}' is written in '{script}'; name another script in the tag",
            key_pattern("script"),
        )


def _translation_complaints(instructions: Instructions, content: _Content) -> Complaints:
    """Required are all bundled tasks with items in packs, and their rubrics; other tasks and rubrics are allowed."""
    library = content.library
    tasks = {table.task for table in content.tables}
    metrics = {metric for name in tasks if name in content.tasks for metric in content.tasks[name].metrics}
    allowed, required = [], []
    for kind, files, needed in (("tasks", library.task_files, tasks), ("rubrics", library.rubric_files, metrics)):
        allowed += [f"{kind}.{name}" for name in files]
        required += [f"{kind}.{name}" for name, path in files.items() if name in needed and library.roots[0] / kind in path.parents]
    yield from instruction_complaints(instructions, content.tasks, content.rubrics, required=required, allowed=allowed)


def _decomposed(path: Path) -> Iterator[Problem]:
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if not unicodedata.is_normalized("NFC", line):
            yield Problem(path, number, "not in Unicode form NFC; save the file in NFC (composed)")


def _dataset_card_complaints(name: str, card: DatasetCard) -> Complaints:
    yield from _name_complaints(card.id, name, "id")
    for key in ("title", "licence", "citation", "get"):
        if not getattr(card, key).strip():
            yield (
                f"'{key}' is missing or empty; a dataset card says what the data are and how to get them",
                key_pattern(key),
            )
    if not re.fullmatch(r"\d+\.\d+\.\d+", card.version):
        yield f"version '{card.version}' should be three numbers, such as 1.0.0", key_pattern("version")
    for metric, scale in card.metrics.items():
        for message, _ in scale_complaints(scale, needs_best=False):
            yield f"[metrics.{metric}]: {message}", key_pattern(metric)


def _board_complaints(name: str, board: Board, content: _Content) -> Complaints:
    library = content.library
    yield from _name_complaints(board.id, name, "id")
    yield from _frozen("task", board.tasks, library.task_files, {key: spec.version for key, spec in content.tasks.items()})
    yield from _frozen("rubric", board.rubrics, library.rubric_files, {key: spec.version for key, spec in content.rubrics.items()})
    yield from _frozen("language pack", board.packs, library.pack_files, {key: spec.version for key, spec in content.packs.items()})
    for variant in board.variants:
        try:
            parse_variant(variant)
        except ValueError as err:
            yield str(err), key_pattern("variants")
    yield from _data_complaints(board, library)
    if board.items:
        for tag in board.languages:
            if not board.items.get(tag):
                yield (
                    f"no items of '{tag}' are listed, but others are; list items of all languages or of none",
                    r"^\[items\]",
                )
        for tag in board.items.keys() - set(board.languages):
            yield f"items of '{tag}' are listed, but the board does not have this language", rf"{key_pattern(tag)}[ \t]*\["


def _data_complaints(board: Board, library: Library) -> Complaints:
    """What is wrong with the data that a board judges."""
    if not isinstance(board.data, BoardData):
        if not isinstance(board.languages, dict):
            yield (
                "languages lists tags, but the items are in packs: write a table of tags with pack versions",
                key_pattern("languages"),
            )
        return
    if isinstance(board.languages, dict):
        yield "languages names pack versions, but the data are not in packs: list the tags", r"^\[languages\]"
    for tag in board.languages:
        if problem := _tag_problem(tag):
            yield problem, key_pattern("languages")
    card, key = board.data.dataset_card, key_pattern("card" if board.data.card else "recipe")
    if card not in library.dataset_card_files:
        choices = ", ".join(library.dataset_card_files)
        yield f"no dataset card '{card}'.{tags.suggest(card, library.dataset_card_files)} Here: {choices}", key
    if bool(board.data.hub) != bool(board.data.revision) or not (board.data.hub or board.data.sha256):
        yield "data need a content hash (sha256), or a data set of the hub at a commit (hub and revision)", key
    for name in board.data.tasks.values():
        if name not in board.tasks:
            yield f"the data's tasks are mapped to '{name}', which is not a task of the board", key_pattern(name)


def _sealed_problems(path: Path, board: Board, content: _Content) -> Iterator[Problem]:
    """What is wrong with sealed labels, as far as that is visible without a key."""
    if board.sealed is None:
        return
    if message := sealed_file_problem(path.with_name(LABELS)):
        yield Problem(path.with_name(LABELS), None, message)
    judged = [table for table in content.tables if table.tag in board.packs and table.task in board.tasks]
    for file in (path, *(table.path for table in judged)):
        if not holds_canary(file, board.sealed.canary):
            yield Problem(file, None, f"the canary of the board '{board.id}' is not in this file; {HOW_TO_MARK}")
    for table in judged:
        listed = board.items.get(table.tag, ()) if board.items else {item.item_id for item in table.items or () if item.split == "test"}
        open_labels = len(table.labels.for_items(listed)) if table.labels is not None else 0
        if open_labels:
            message = f"{open_labels} labels that the board '{board.id}' has sealed are readable here; remove them"
            yield Problem(table.label_path, None, message)


def _frozen(word: str, frozen: Mapping[str, str], files: Mapping[str, Path], versions: Mapping[str, str]) -> Complaints:
    """Content that a board names and that does not exist, or not in the board's version."""
    for name, version in frozen.items():
        line = rf"{key_pattern(name)}[ \t]*[\"']{re.escape(version)}"
        if name not in files:
            yield f"no {word} '{name}'.{tags.suggest(name, files)} Here: {', '.join(files)}", line
        elif versions.get(name, version) != version:
            yield f"{word} '{name}' has version {versions[name]}, not {version}; a changed protocol needs a new board", line


def _listed_items(path: Path, board: Board, content: _Content) -> Iterator[Problem]:
    if not board.packs:
        return
    by_id = {item.item_id: item for table in content.tables for item in table.items or ()}
    unread = {table.tag for table in content.tables if table.items is None}
    times_listed: Counter[str] = Counter()
    for tag, listed in board.items.items():
        for item_id in listed:
            times_listed[item_id] += 1
            if item_id not in by_id and tag in unread:
                continue  # it may be in the unreadable file
            for message in _listing_complaints(by_id.get(item_id), item_id, tag, board, times_listed[item_id]):
                yield Problem(path, line_of(path, rf"[\"']{re.escape(item_id)}[\"']", times_listed[item_id]), message)


def _listing_complaints(item: Item | None, item_id: str, tag: str, board: Board, times: int) -> Iterator[str]:
    if times > 1:
        yield f"item '{item_id}' is listed twice; list it once"
    if item is None:
        yield f"no item '{item_id}' in any pack"
        return
    if item.language != tag:
        yield f"item '{item_id}' is of language '{item.language}', but is listed under '{tag}'"
    if item.split != "test":
        yield f"item '{item_id}' is a {item.split} item; boards judge test items only"
    if item.task not in board.tasks:
        yield f"item '{item_id}' is of task '{item.task}', which is not on this board"


# ---- items and labels


def _table_problems(content: _Content) -> Iterator[Problem]:
    for tag, pack_path in content.library.pack_files.items():
        yield from _unread_files(pack_path.parent)
        tables = [table for table in content.tables if table.tag == tag and table.items is not None]
        yield from _leaked_groups(tables)
    for table in content.tables:
        if table.task not in content.library.task_files:
            known = ", ".join(content.library.task_files)
            yield Problem(table.path, None, f"items of task '{table.task}', which does not exist; tasks here: {known}")
        yield from _item_problems(table)
        yield from _label_problems(table, content.tasks.get(table.task), _sealed_items(table, content))
    yield from _repeated_ids(content.tables)


def _unread_files(pack: Path) -> Iterator[Problem]:
    for path in sorted([*pack.glob("items/[!.]*"), *pack.glob("labels/[!.]*")]):
        if path.suffix != ".jsonl":
            yield Problem(path, None, "nothing reads this file; the items and labels of a pack are in <task>.jsonl")
        elif path.parent.name == "labels" and not (pack / "items" / path.name).is_file():
            yield Problem(path, None, f"labels without items; {pack.name}/items/{path.name} is missing")


def _repeated_ids(tables: Iterable[_PackTable]) -> Iterator[Problem]:
    first: dict[str, _PackTable] = {}
    for table in tables:
        for item in table.items or ():
            if first.setdefault(item.item_id, table) is not table:
                other = f"{first[item.item_id].tag}/{first[item.item_id].task}"
                yield table.problem(item.item_id, f"item_id '{item.item_id}' is also in {other}; ids are unique across packs")


def _leaked_groups(tables: Iterable[_PackTable]) -> Iterator[Problem]:
    """Groups that are both in dev and in test. Few-shot examples (dev) would reveal texts that the judge is tested on."""
    first: dict[str, Item] = {}
    for table in tables:
        for item in table.items or ():
            other = first.setdefault(item.group, item)
            if other.split != item.split:
                first[item.group] = item  # one problem where the split changes, not one per item
                both = f"in {other.split} ('{other.item_id}') and in {item.split} ('{item.item_id}')"
                yield table.problem(item.item_id, f"group '{item.group}' is {both}; a group belongs to one split")


def _item_problems(table: _PackTable) -> Iterator[Problem]:
    groups: dict[str, str] = {}
    for item in table.items or ():
        for name, value in {"item_id": item.item_id, "group": item.group, **item.fields}.items():
            if isinstance(value, str) and not unicodedata.is_normalized("NFC", value):
                yield table.problem(item.item_id, f"'{name}' of '{item.item_id}' is not in Unicode form NFC; save it in NFC (composed)")
        if item.parallel_id and groups.setdefault(item.parallel_id, item.group) != item.group:
            both = f"'{groups[item.parallel_id]}' and '{item.group}'"
            groups[item.parallel_id] = item.group  # one problem where the group changes, not one per item
            yield table.problem(item.item_id, f"parallel_id '{item.parallel_id}' has the groups {both}; one group per language and task")


def _sealed_items(table: _PackTable, content: _Content) -> set[str]:
    """The items of a table with sealed labels."""
    boards = [board for board in content.boards.values() if board.sealed and table.tag in board.packs and table.task in board.tasks]
    return {
        item.item_id
        for board in boards
        for item in table.items or ()
        if (item.item_id in board.items.get(table.tag, ()) if board.items else item.split == "test")
    }


def _label_problems(table: _PackTable, task: Task | None, sealed: set[str]) -> Iterator[Problem]:
    if table.items is None or table.labels is None:
        return
    unsealed = [item for item in table.items if item.split == "test" and item.item_id not in sealed]
    if not table.label_path.is_file() and unsealed:
        yield Problem(
            table.label_path, None, f"no labels for the items of {table.tag}/{table.task}; without labels they cannot be compared"
        )
        return
    labelled = {label.item_id for label in table.labels}
    for item in unsealed:
        if item.item_id not in labelled:
            yield table.problem(item.item_id, f"test item '{item.item_id}' has no label; label it, or make it a dev item")
    if task:
        for metric in sorted({label.metric for label in table.labels} - set(task.metrics)):
            line = next(line for line, row in read_rows(table.label_path) if row["metric"] == metric)
            yield Problem(table.label_path, line, f"metric '{metric}' does not belong to task '{task.id}' ({', '.join(task.metrics)})")
