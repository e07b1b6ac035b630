"""Everything that can be wrong with content, in one pass over all of it.

Loading stops at the first problem, which is right for a run and wearisome for an author; `check` goes on and collects. What only
reading can find (a JSON line that is none, a score off its scale) is one problem a file. Base texts (`languages/*/texts`) are the business
of `languages/derive.py`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

import msgspec

from harness.content import tags
from harness.content.canary import HOW_TO_MARK, LABELS, holds_canary, not_sealed
from harness.content.dataset import read_items
from harness.content.labels import Labels, read_labels
from harness.content.library import Library
from harness.content.lock import differences
from harness.content.problem import Problem, from_error, line_of
from harness.content.scaffold import PLACEHOLDER
from harness.content.scales import Complaints, of_key, repeats, scale_complaints
from harness.content.specs import Board, BoardData, DataFolder, Instructions, Pack, Rubric, S, Task, read_spec
from harness.content.translation import instruction_complaints
from harness.errors import ContentError, UsageError
from harness.model import Item, parse_variant
from harness.tables import read_rows


class _Table(msgspec.Struct, dict=True):
    """One task of one pack. `items` or `labels` is None where it could not be read, which is a problem already."""

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
        """`{item_id: line}`, read again only when there is something to complain about."""
        return {row["item_id"]: line for line, row in read_rows(self.path)}

    def problem(self, item_id: str, message: str) -> Problem:
        return Problem(self.path, self.lines[item_id], message)


class _Content(msgspec.Struct):
    """All that could be read. A name that is in the library's files but not here could not be."""

    library: Library
    tasks: dict[str, Task]
    rubrics: dict[str, Rubric]
    packs: dict[str, Pack]
    instructions: dict[str, Instructions]
    recipes: dict[str, DataFolder]
    boards: dict[str, Board]
    tables: list[_Table]


def check(library: Library) -> list[Problem]:
    """Every problem of all content, sorted by file and line; empty when all is in order.

    Where two folders hold content of the same name, only that is reported, as the rest cannot be told apart.
    """
    try:
        content, found = _read(library)
    except ContentError as err:
        return [from_error(err)]
    found += _stray_folders(library)
    found += _spec_problems(content)
    found += _documents(library)
    found += _table_problems(content)
    found += differences(library)
    return sorted(dict.fromkeys(found), key=lambda problem: (str(problem.path), problem.line or 0, problem.message))


def _read(library: Library) -> tuple[_Content, list[Problem]]:
    found: list[Problem] = []
    content = _Content(
        library,
        tasks=_specs(library.task_files, Task, found),
        rubrics=_specs(library.rubric_files, Rubric, found),
        packs=_specs(library.pack_files, Pack, found),
        instructions=_specs(library.instruction_files, Instructions, found),
        recipes=_specs(library.recipe_files, DataFolder, found),
        boards=_specs(library.board_files, Board, found),
        tables=[],
    )
    for tag in library.pack_files:
        for task, path in library.item_files(tag).items():
            content.tables.append(_table(content, tag, task, path, found))
    return content, found


def _specs(files: Mapping[str, Path], kind: type[S], found: list[Problem]) -> dict[str, S]:
    specs = {}
    for name, path in files.items():
        try:
            specs[name] = read_spec(path, kind)
        except ContentError as err:
            found.append(from_error(err))
    return specs


def _table(content: _Content, tag: str, task: str, path: Path, found: list[Problem]) -> _Table:
    table = _Table(tag, task, path, items=None, labels=None)
    try:
        table.items = read_items(path, {name: spec for name, spec in content.tasks.items() if name == task}, language=tag, task=task)
        if len(content.rubrics) < len(content.library.rubric_files):
            return table  # a scale is missing because its rubric cannot be read: no fault of the labels
        scales = {name: rubric.scale for name, rubric in content.rubrics.items()}
        by_id = {item.item_id: item for item in table.items}
        table.labels = read_labels(table.label_path, scales, by_id) if table.label_path.is_file() else Labels.of(())
    except ContentError as err:
        found.append(from_error(err))
    return table


# ---- files that are missing, or that nothing reads


def _stray_folders(library: Library) -> Iterator[Problem]:
    for root in library.roots:
        for kind, file in (("tasks", "task.toml"), ("languages", "pack.toml"), ("datasets", "data.toml"), ("leaderboards", "board.toml")):
            for folder in sorted(path for path in (root / kind).glob("[!._]*") if path.is_dir()):
                if not (folder / file).is_file():
                    yield Problem(folder, None, f"no {file} in this folder, so that nothing reads it; add one or remove the folder")


def _documents(library: Library) -> Iterator[Problem]:
    """Cards that are missing, and placeholders of `harness new` that are still there."""
    files = [*library.task_files.values(), *library.rubric_files.values(), *library.pack_files.values(), *library.board_files.values()]
    cards = sorted({path.parent / "CARD.md" for path in files})
    for card in cards:
        if not _text(card).strip():
            yield Problem(card, None, "no CARD.md, or an empty one; say what this is, where it comes from and who has read it")
    for path in (*files, *library.instruction_files.values(), *cards):
        for number, line in enumerate(_text(path).split("\n"), start=1):
            if PLACEHOLDER in line:
                yield Problem(path, number, f"a placeholder is still here; write this and take '{PLACEHOLDER}' away")


def _text(path: Path) -> str:
    """A file's text; empty when it is missing or cannot be read, which others complain about."""
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""


# ---- TOML files: what `read_spec` cannot see


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
    for name, recipe in content.recipes.items():
        yield from _located(library.recipe_files[name], _recipe_complaints(name, recipe))
    for name, board in content.boards.items():
        yield from _located(library.board_files[name], _board_complaints(name, board, content))
        yield from _listed_items(library.board_files[name], board, content)
        yield from _sealed_problems(library.board_files[name], board, content)


def _located(path: Path, complaints: Complaints) -> Iterator[Problem]:
    for message, pattern in complaints:
        yield Problem(path, line_of(path, pattern), message)


def _score(score: int | str) -> str:
    return rf"^[ \t]*score[ \t]*=[ \t]*[\"']?{re.escape(str(score))}\b"


def _misnamed(inside: str, name: str, key: str) -> Complaints:
    if inside != name:
        yield f"it calls itself '{inside}', but its place says '{name}'; make them equal", of_key(key)


def _task_complaints(name: str, task: Task, rubrics: Mapping[str, Path]) -> Complaints:
    yield from _misnamed(task.id, name, "id")
    outputs = [field for field, spec in task.fields.items() if spec.role == "output"]
    if set(outputs) != set(task.outputs) or repeats(task.outputs):
        named, given = ", ".join(task.outputs), ", ".join(outputs) or "none"
        yield f"outputs names {named}, but the fields with role 'output' are: {given}; name just these", of_key("outputs")
    for field in task.at_least_one:
        if field not in task.fields:
            yield (
                f"at_least_one names '{field}', which is not a field; the fields are {', '.join(task.fields)}",
                of_key("at_least_one"),
            )
    for metric in task.metrics:
        if metric not in rubrics:
            yield (
                f"metric '{metric}' has no rubric.{tags.suggest(metric, rubrics)} Rubrics here: {', '.join(rubrics)}",
                of_key("metrics"),
            )
    for repeated in repeats(task.metrics):
        yield f"metric '{repeated}' is named twice; name it once", of_key("metrics")
    if not task.metrics:
        yield "no metrics; name the rubrics that are asked about an item of this task", of_key("metrics")
    yield from _field_order(task)


def _field_order(task: Task) -> Complaints:
    """A judge reads the fields in the file's order, and an output before what it answers would puzzle it."""
    roles = [spec.role for spec in task.fields.values()]
    first_output = roles.index("output") if "output" in roles else len(roles)
    for field in list(task.fields)[first_output:]:
        if task.fields[field].role == "input":
            message = f"input '{field}' comes after an output; judges read the fields in this order: put inputs first"
            yield message, rf"fields\.[\"']?{re.escape(field)}\b"


def _rubric_complaints(name: str, rubric: Rubric) -> Complaints:
    yield from _misnamed(rubric.id, name, "id")
    yield from scale_complaints(rubric.scale)
    scores = [criteria.score for criteria in rubric.detailed.criteria]
    for score in scores:
        if not rubric.scale.holds(score):
            yield f"criteria for {score!r}, which is outside the scale ({rubric.scale.describe()})", _score(score)
    for score in repeats(scores):
        yield f"criteria for {score!r} stand here twice; give each score one list", _score(score)
    for missing in (score for score in rubric.scale.classes if score not in scores):
        yield f"class {missing!r} of the scale has no criteria; add [[detailed.criteria]] for it", r"^\[detailed\]"


def _tag_complaints(tag: str, inside: str) -> Complaints:
    yield from _misnamed(inside, tag, "tag")
    if wrong := _not_canonical(inside):
        yield wrong, of_key("tag")


def _not_canonical(tag: str) -> str:
    """What is wrong with a tag; empty when nothing is."""
    try:
        tags.require_canonical(tag)
    except UsageError as err:
        return str(err)
    return ""


def _pack_complaints(tag: str, pack: Pack) -> Complaints:
    yield from _tag_complaints(tag, pack.tag)
    if _not_canonical(pack.tag):
        return
    script = tags.likely_script(pack.tag)
    if pack.script != script:
        yield (
            f"script '{pack.script}', but '{pack.tag}' is written in '{script}'; for another script, say so in the tag",
            of_key("script"),
        )


def _translation_complaints(found: Instructions, content: _Content) -> Complaints:
    """All bundled tasks that packs hold items of have to be there, with their rubrics; other tasks may be."""
    library = content.library
    judged = {table.task for table in content.tables}
    asked = {metric for name in judged if name in content.tasks for metric in content.tasks[name].metrics}
    known, wanted = [], []
    for kind, files, needed in (("tasks", library.task_files, judged), ("rubrics", library.rubric_files, asked)):
        known += [f"{kind}.{name}" for name in files]
        wanted += [f"{kind}.{name}" for name, path in files.items() if name in needed and library.roots[0] / kind in path.parents]
    yield from instruction_complaints(found, content.tasks, content.rubrics, wanted=wanted, known=known)


def _decomposed(path: Path) -> Iterator[Problem]:
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if not unicodedata.is_normalized("NFC", line):
            yield Problem(path, number, "not in Unicode form NFC; save it composed")


def _recipe_complaints(name: str, recipe: DataFolder) -> Complaints:
    yield from _misnamed(recipe.id, name, "id")
    for key in ("title", "licence", "citation", "get"):
        if not getattr(recipe, key).strip():
            yield f"'{key}' is missing or empty; a recipe says what the data are, whose, and how to get them", of_key(key)
    if not re.fullmatch(r"\d+\.\d+\.\d+", recipe.version):
        yield f"version '{recipe.version}' should be three numbers, such as 1.0.0", of_key("version")
    for metric, scale in recipe.metrics.items():
        for message, _ in scale_complaints(scale, needs_best=False):
            yield f"[metrics.{metric}]: {message}", of_key(metric)


def _board_complaints(name: str, board: Board, content: _Content) -> Complaints:
    library = content.library
    yield from _misnamed(board.id, name, "id")
    yield from _frozen("task", board.tasks, library.task_files, {key: spec.version for key, spec in content.tasks.items()})
    yield from _frozen("rubric", board.rubrics, library.rubric_files, {key: spec.version for key, spec in content.rubrics.items()})
    yield from _frozen("language pack", board.packs, library.pack_files, {key: spec.version for key, spec in content.packs.items()})
    for variant in board.variants:
        try:
            parse_variant(variant)
        except ValueError as err:
            yield str(err), of_key("variants")
    yield from _data_complaints(board, library)
    if board.items:
        for tag in board.languages:
            if not board.items.get(tag):
                yield f"no items of '{tag}' are listed, though those of other languages are; list them, or none at all", r"^\[items\]"
        for tag in board.items.keys() - set(board.languages):
            yield f"items of '{tag}' are listed, which is not among the board's languages", rf"{of_key(tag)}[ \t]*\["


def _data_complaints(board: Board, library: Library) -> Complaints:
    """What cannot be about the data that a board judges."""
    if not isinstance(board.data, BoardData):
        if not isinstance(board.languages, dict):
            yield (
                "languages lists tags, but the items are those of packs: name each with its version, in a table",
                of_key("languages"),
            )
        return
    if isinstance(board.languages, dict):
        yield "languages names versions of packs, but the data are not in the packs: list the tags", r"^\[languages\]"
    for tag in board.languages:
        if wrong := _not_canonical(tag):
            yield wrong, of_key("languages")
    if board.data.recipe not in library.recipe_files:
        here = ", ".join(library.recipe_files)
        yield f"no recipe '{board.data.recipe}'.{tags.suggest(board.data.recipe, library.recipe_files)} Here: {here}", of_key("recipe")
    if bool(board.data.hub) != bool(board.data.revision) or not (board.data.hub or board.data.sha256):
        yield "data need a content hash (sha256), or a data set of the hub at a commit (hub and revision)", of_key("recipe")
    for name in board.data.tasks.values():
        if name not in board.tasks:
            yield f"the data's items are asked about as '{name}', which is not among the board's tasks", of_key(name)


def _sealed_problems(path: Path, board: Board, content: _Content) -> Iterator[Problem]:
    """What is wrong with sealed labels, as far as it can be seen without a key."""
    if board.sealed is None:
        return
    if wrong := not_sealed(path.with_name(LABELS)):
        yield Problem(path.with_name(LABELS), None, wrong)
    judged = [table for table in content.tables if table.tag in board.packs and table.task in board.tasks]
    for file in (path, *(table.path for table in judged)):
        if not holds_canary(file, board.sealed.canary):
            yield Problem(file, None, f"the canary of the board '{board.id}' does not stand in this file; {HOW_TO_MARK}")
    for table in judged:
        listed = board.items.get(table.tag, ()) if board.items else {item.item_id for item in table.items or () if item.split == "test"}
        open_labels = len(table.labels.of_items(listed)) if table.labels is not None else 0
        if open_labels:
            message = f"{open_labels} labels that are sealed on the board '{board.id}' stand here openly; take them out"
            yield Problem(table.label_path, None, message)


def _frozen(word: str, wanted: Mapping[str, str], files: Mapping[str, Path], versions: Mapping[str, str]) -> Complaints:
    """Things that a board names but that are not there, or not in the version that it names."""
    for name, version in wanted.items():
        line = rf"{of_key(name)}[ \t]*[\"']{re.escape(version)}"
        if name not in files:
            yield f"no {word} '{name}'.{tags.suggest(name, files)} Here: {', '.join(files)}", line
        elif versions.get(name, version) != version:
            yield f"{word} '{name}' is {versions[name]} and not {version}; a changed protocol is a new board", line


def _listed_items(path: Path, board: Board, content: _Content) -> Iterator[Problem]:
    if not board.packs:
        return
    by_id = {item.item_id: item for table in content.tables for item in table.items or ()}
    unread = {table.tag for table in content.tables if table.items is None}
    seen: Counter[str] = Counter()
    for tag, listed in board.items.items():
        for item_id in listed:
            seen[item_id] += 1
            if item_id not in by_id and tag in unread:
                continue  # perhaps it is in the file that cannot be read
            for message in _listed_wrongly(by_id.get(item_id), item_id, tag, board, seen[item_id]):
                yield Problem(path, line_of(path, rf"[\"']{re.escape(item_id)}[\"']", seen[item_id]), message)


def _listed_wrongly(item: Item | None, item_id: str, tag: str, board: Board, times: int) -> Iterator[str]:
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
            yield Problem(path, None, "nothing reads this file; items and labels of a pack are in <task>.jsonl")
        elif path.parent.name == "labels" and not (pack / "items" / path.name).is_file():
            yield Problem(path, None, f"labels without items; {pack.name}/items/{path.name} is missing")


def _repeated_ids(tables: Iterable[_Table]) -> Iterator[Problem]:
    first: dict[str, _Table] = {}
    for table in tables:
        for item in table.items or ():
            if first.setdefault(item.item_id, table) is not table:
                other = f"{first[item.item_id].tag}/{first[item.item_id].task}"
                yield table.problem(item.item_id, f"item_id '{item.item_id}' stands in {other} too; ids are unique over all packs")


def _leaked_groups(tables: Iterable[_Table]) -> Iterator[Problem]:
    """Groups that are in dev and in test: what a judge is shown as an example would be what it is tested on."""
    first: dict[str, Item] = {}
    for table in tables:
        for item in table.items or ():
            other = first.setdefault(item.group, item)
            if other.split != item.split:
                first[item.group] = item  # one complaint where the split changes, not one an item
                both = f"in {other.split} ('{other.item_id}') and in {item.split} ('{item.item_id}')"
                yield table.problem(item.item_id, f"group '{item.group}' is {both}; a group is in one split")


def _item_problems(table: _Table) -> Iterator[Problem]:
    groups: dict[str, str] = {}
    for item in table.items or ():
        for name, value in {"item_id": item.item_id, "group": item.group, **item.fields}.items():
            if isinstance(value, str) and not unicodedata.is_normalized("NFC", value):
                yield table.problem(item.item_id, f"'{name}' of '{item.item_id}' is not in Unicode form NFC; save it composed")
        if item.parallel_id and groups.setdefault(item.parallel_id, item.group) != item.group:
            both = f"'{groups[item.parallel_id]}' and '{item.group}'"
            groups[item.parallel_id] = item.group  # one complaint where the group changes, not one an item
            yield table.problem(item.item_id, f"parallel_id '{item.parallel_id}' stands for groups {both}; one group a language and task")


def _sealed_items(table: _Table, content: _Content) -> set[str]:
    """Items of a table whose labels are sealed with a board."""
    boards = [board for board in content.boards.values() if board.sealed and table.tag in board.packs and table.task in board.tasks]
    return {
        item.item_id
        for board in boards
        for item in table.items or ()
        if (item.item_id in board.items.get(table.tag, ()) if board.items else item.split == "test")
    }


def _label_problems(table: _Table, task: Task | None, sealed: set[str]) -> Iterator[Problem]:
    if table.items is None or table.labels is None:
        return
    due = [item for item in table.items if item.split == "test" and item.item_id not in sealed]
    if not table.label_path.is_file() and due:
        yield Problem(table.label_path, None, f"no labels for the items of {table.tag}/{table.task}; items without any cannot be compared")
        return
    labelled = {label.item_id for label in table.labels}
    for item in due:
        if item.item_id not in labelled:
            yield table.problem(item.item_id, f"test item '{item.item_id}' has no label; label it, or make it a dev item")
    if task:
        for metric in sorted({label.metric for label in table.labels} - set(task.metrics)):
            line = next(line for line, row in read_rows(table.label_path) if row["metric"] == metric)
            yield Problem(table.label_path, line, f"metric '{metric}' is none of task '{task.id}' ({', '.join(task.metrics)})")
