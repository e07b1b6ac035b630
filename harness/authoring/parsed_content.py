"""Content as it could be read, and the checks of its files that go beyond the form of their TOML.

A file that cannot be read is one problem, and the check of the other files goes on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from pathlib import Path

import msgspec

from harness.content import tags
from harness.content.lexicons import FALLBACK
from harness.content.library import Library, item_files, misnamed
from harness.content.problems import Complaints, Problem, duplicates, key_pattern, problem_from_error, scale_complaints
from harness.content.specs import (
    PLACEHOLDERS,
    Board,
    BoardCollection,
    DatasetCard,
    ExitQuestions,
    Instructions,
    Interface,
    Lexicon,
    Pack,
    Rubric,
    S,
    Task,
    Writing,
    WritingWords,
    read_spec,
)
from harness.data.asked_data import renaming_problem
from harness.data.dataset import read_items
from harness.data.labels import Labels, read_labels
from harness.errors import ContentError, UsageError
from harness.model import Item, Score
from harness.row_files import read_rows


class PackTable(msgspec.Struct, dict=True):
    """One task of one pack. `items` or `labels` is None if it could not be read, which is reported as a problem.

    `pack` is the path of its `pack.toml`.
    """

    tag: str
    task: str
    path: Path
    items: list[Item] | None
    labels: Labels | None
    pack: Path

    @property
    def label_path(self) -> Path:
        return self.path.parent.parent / "labels" / self.path.name

    @cached_property
    def lines(self) -> dict[str, int]:
        """`{item_id: line}`. Reads the file again, but only if there is a problem to report."""
        return {row["item_id"]: line for line, row in read_rows(self.path)}

    def problem(self, item_id: str, message: str) -> Problem:
        return Problem(self.path, self.lines[item_id], message)


class ParsedContent(msgspec.Struct):
    """The content that could be read. What the library lists and this does not have could not be read."""

    library: Library
    tasks: dict[str, Task]
    writings: dict[str, Writing]
    exits: dict[str, ExitQuestions]
    rubrics: dict[str, Rubric]
    packs: dict[str, Pack]
    further_packs: dict[str, Pack]
    instructions: dict[str, Instructions]
    interfaces: dict[str, Interface]
    lexicons: dict[str, Lexicon]
    dataset_cards: dict[str, DatasetCard]
    boards: dict[str, Board]
    collections: dict[str, BoardCollection]
    tables: list[PackTable]


def read_content(library: Library) -> tuple[ParsedContent, list[Problem]]:
    """Return what could be read, and a problem for each file that could not."""
    problems: list[Problem] = []
    content = ParsedContent(
        library,
        tasks=_specs(library.task_files, Task, problems),
        writings=_specs(library.writing_files, Writing, problems),
        exits=_specs(library.exit_files, ExitQuestions, problems),
        rubrics=_specs(library.rubric_files, Rubric, problems),
        packs=_specs(library.pack_files, Pack, problems),
        further_packs=_specs(library.further_pack_files, Pack, problems),
        instructions=_specs(library.instruction_files, Instructions, problems),
        interfaces=_specs(library.interface_files, Interface, problems),
        lexicons=_specs(library.lexicon_files, Lexicon, problems),
        dataset_cards=_specs(library.dataset_card_files, DatasetCard, problems),
        boards=_specs(library.board_files, Board, problems),
        collections=_specs(library.collection_files, BoardCollection, problems),
        tables=[],
    )
    packs = [*library.pack_files.items(), *((name.partition("/")[0], path) for name, path in library.further_pack_files.items())]
    for tag, pack in packs:
        for task, path in item_files(pack).items():
            table = PackTable(tag, task, path, items=None, labels=None, pack=pack)
            content.tables.append(table)
            try:
                tasks = {name: spec for name, spec in content.tasks.items() if name == task}
                table.items = read_items(path, tasks, language=tag, task=task)
                if len(content.rubrics) < len(library.rubric_files):
                    continue  # labels cannot be checked while a rubric, and so a scale, is missing
                scales = {name: rubric.scale for name, rubric in content.rubrics.items()}
                by_id = {item.item_id: item for item in table.items}
                table.labels = read_labels(table.label_path, scales, by_id) if table.label_path.is_file() else Labels.from_rows(())
            except ContentError as err:
                problems.append(problem_from_error(err))
    return content, problems


def tables_of(board: Board, content: ParsedContent) -> list[PackTable]:
    """Return the tables of the packs that a board is frozen on."""
    packs = {pack_of(tag, board, content) for tag in board.packs}
    return [table for table in content.tables if table.pack in packs]


def pack_of(tag: str, board: Board, content: ParsedContent) -> Path | None:
    """Return the `pack.toml` of the pack that a board is frozen on. None if there is none, or if one cannot be read, which is another
    problem.
    """
    try:
        return content.library.pack_path(tag, board)
    except ContentError:
        return None


def _specs(files: Mapping[str, Path], kind: type[S], problems: list[Problem]) -> dict[str, S]:
    specs = {}
    for name, path in files.items():
        try:
            specs[name] = read_spec(path, kind)
        except ContentError as err:
            problems.append(problem_from_error(err))
    return specs


_IN_BRACES = re.compile(r"\{[^{}\n]*\}")


def instruction_complaints(
    translated: Instructions, tasks: Mapping[str, Task], rubrics: Mapping[str, Rubric], required: Collection[str], allowed: Collection[str]
) -> Complaints:
    """Yield what is missing or superfluous, each with a pattern for the line to correct.

    `required` and `allowed` are names of sections (`tasks.summarize`). `tasks` and `rubrics` are the English originals that could be
    read; others are not compared.
    """
    for key, text in msgspec.structs.asdict(translated.words).items():
        names, expected = _IN_BRACES.findall(text), [f"{{{name}}}" for name in PLACEHOLDERS.get(key, ())]
        if Counter(names) != Counter(expected):
            yield f"'{key}' contains {_listed(names)}, but should contain {_listed(expected)}, each once", key_pattern(key)
    sections = [*(f"tasks.{name}" for name in translated.tasks), *(f"rubrics.{name}" for name in translated.rubrics)]
    for section in (section for section in required if section not in sections):
        yield f"[{section}] is missing; translate it", _section_pattern(section.partition(".")[0])
    for section in (section for section in sections if section not in allowed):
        hint = tags.suggest(section, allowed)
        yield f"[{section}] matches no task or rubric.{hint} Remove it or correct its name", _section_pattern(section)
    for name in translated.tasks.keys() & tasks.keys():
        section, task, english = f"tasks.{name}", translated.tasks[name], tasks[name]
        yield from _key_complaints(f"{section}.fields", "field", task.fields, english.fields)
        slots = names_in_braces(english.instruction)
        for slot in sorted(slots - names_in_braces(task.instruction)):
            yield f"the instruction of [{section}] does not name {{{slot}}}, as the English does", _section_pattern(section)
        yield from _brace_complaints(section, [task.instruction, *task.fields.values()], slots)
    for name in translated.rubrics.keys() & rubrics.keys():
        section, rubric = f"rubrics.{name}", translated.rubrics[name]
        scores = [str(group.score) for group in rubrics[name].detailed.criteria]
        yield from _key_complaints(f"{section}.criteria", "score", rubric.criteria, scores)
        points = (point for group in rubric.criteria.values() for point in group)
        yield from _brace_complaints(section, [rubric.title, rubric.simple, rubric.description, *points])


def _key_complaints(section: str, word: str, translated: Collection[str], english: Collection[str]) -> Complaints:
    missing, surplus = [key for key in english if key not in translated], [key for key in translated if key not in english]
    for key in missing:
        yield f"{word} '{key}' is missing from [{section}]; the English has {', '.join(english)}", _section_pattern(section)
    for key in surplus:
        yield f"{word} '{key}' of [{section}] is not in the English, which has {', '.join(english)}", _section_pattern(section)
    if not missing and not surplus and list(translated) != list(english):
        yield f"the {word}s of [{section}] are in another order than in the English: {', '.join(english)}", _section_pattern(section)


def names_in_braces(text: str) -> set[str]:
    """Return the names that a text holds in braces."""
    return {mark[1:-1] for mark in _IN_BRACES.findall(text)}


def _brace_complaints(section: str, texts: Iterable[str], allowed: Collection[str] = ()) -> Complaints:
    for line in (line for text in texts for line in text.splitlines()):
        for mark in (mark for mark in _IN_BRACES.findall(line) if mark[1:-1] not in allowed):
            yield f"{mark} in [{section}] is not replaced by anything; only [words] has names in braces", re.escape(line)


def _section_pattern(name: str) -> str:
    """Return a regular expression for the heading of a section or of the first subsection."""
    return rf"^\[{re.escape(name)}[\].]"


def _listed(marks: Collection[str]) -> str:
    return ", ".join(marks) or "nothing in braces"


def _score_pattern(score: Score) -> str:
    return rf"^[ \t]*score[ \t]*=[ \t]*[\"']?{re.escape(str(score))}\b"


def name_complaints(inside: str, name: str, key: str) -> Complaints:
    """A name inside a file must be that of its folder or file."""
    if inside != name:
        yield misnamed(inside, name), key_pattern(key)


def task_complaints(name: str, task: Task, rubrics: Mapping[str, Path]) -> Complaints:
    """Yield the faults of a task."""
    yield from name_complaints(task.id, name, "id")
    outputs = [field for field, spec in task.fields.items() if spec.role == "output"]
    if set(outputs) != set(task.outputs) or duplicates(task.outputs):
        listed, fields = ", ".join(task.outputs), ", ".join(outputs) or "none"
        yield f"outputs lists {listed}, but the fields with role 'output' are: {fields}; list exactly these", key_pattern("outputs")
    for field in task.at_least_one:
        if field not in task.fields:
            message = f"at_least_one lists '{field}', which is not a field; the fields are {', '.join(task.fields)}"
            yield message, key_pattern("at_least_one")
    for metric in task.metrics:
        if metric not in rubrics:
            message = f"metric '{metric}' has no rubric.{tags.suggest(metric, rubrics)} Choose from: {', '.join(rubrics)}"
            yield message, key_pattern("metrics")
    for repeated in duplicates(task.metrics):
        yield f"metric '{repeated}' is listed twice; list it once", key_pattern("metrics")
    if not task.metrics:
        yield "no metrics; list the rubrics that judges are asked about in this task", key_pattern("metrics")
    for metric, shown_fields in task.shown.items():  # names metrics and texts of the task, and every question shows what is judged
        if metric not in task.metrics:
            yield f"[shown] names '{metric}', which is no metric of the task; they are {', '.join(task.metrics)}", key_pattern(metric)
        for field in (field for field in shown_fields if field not in task.fields):
            message = f"[shown] of '{metric}' names '{field}', which is not a field; the fields are {', '.join(task.fields)}"
            yield message, key_pattern(metric)
        for field in (field for field in task.outputs if field not in shown_fields):
            yield f"[shown] of '{metric}' lacks '{field}', which is judged", key_pattern(metric)
    for name in sorted(names_in_braces(task.instruction) - set(task.language_keys)):
        keys = ", ".join(f"{{{key}}}" for key in task.language_keys)
        yield f"{{{name}}} in the instruction is not replaced by anything; an instruction may hold {keys}", key_pattern("instruction")
    # Judges read the fields in the order of the file, and an output makes no sense before its input.
    roles = [spec.role for spec in task.fields.values()]
    first_output = roles.index("output") if "output" in roles else len(roles)
    for field in list(task.fields)[first_output:]:
        if task.fields[field].role == "input":
            message = f"input '{field}' comes after an output; judges read the fields in this order: put inputs first"
            yield message, rf"fields\.[\"']?{re.escape(field)}\b"


def writing_complaints(name: str, writing: Writing, tasks: Mapping[str, Task]) -> Complaints:
    """Yield the faults of the request to write the output of a task."""
    yield from name_complaints(writing.task, name, "task")
    yield from writing_word_complaints(writing.words)
    if name in tasks and tasks[name].is_pair:
        yield f"an item of '{name}' has two outputs; one is written at a time, for '{tasks[name].pairs_of}'", key_pattern("task")
    if writing.inputs_of and writing.inputs_of not in tasks:
        hint = tags.suggest(writing.inputs_of, tasks)
        yield f"inputs_of names '{writing.inputs_of}', which is no task.{hint}", key_pattern("inputs_of")


def exit_complaints(name: str, asked: ExitQuestions, interfaces: Mapping[str, Interface]) -> Complaints:
    """Yield the faults of questions after the last text: each has words of its own, or the interface has them."""
    yield from name_complaints(asked.task, name, "task")
    words = interfaces[FALLBACK].strings if FALLBACK in interfaces else {}
    for question in asked.questions if words else ():
        parts = ("", "_low", "_high") if question.kind == "scale" else ("",)
        if not question.question and (
            missing := [f"exit_{question.id}{part}" for part in parts if f"exit_{question.id}{part}" not in words]
        ):
            yield f"'{question.id}' has no words: write 'question', or add '{missing[0]}' to the interfaces", rf"id = \"{question.id}\""


def writing_word_complaints(words: WritingWords) -> Complaints:
    """`meant_for` names the language, and no other word has a name in braces."""
    for key in ("system", "instruction", "meant_for", "reminder"):
        expected = {"language"} if key == "meant_for" else set()
        if names_in_braces(getattr(words, key)) != expected:
            yield f"'{key}' should hold {{language}} once" if expected else f"'{key}' holds braces that nothing replaces", key_pattern(key)


def rubric_complaints(name: str, rubric: Rubric, metrics: Collection[str] = ()) -> Complaints:
    """Yield the faults of a rubric and its scale. `metrics` have a rubric or labels."""
    yield from name_complaints(rubric.id, name, "id")
    if rubric.compared_with and (rubric.compared_with == name or rubric.compared_with not in metrics):
        hint = tags.suggest(rubric.compared_with, [other for other in metrics if other != name])
        message = f"compared_with names '{rubric.compared_with}', which should be another metric, of a rubric or a dataset card.{hint}"
        yield message, key_pattern("compared_with")
    yield from scale_complaints(rubric.scale)
    scores = [criteria.score for criteria in rubric.detailed.criteria]
    for score in scores:
        if not rubric.scale.holds(score):
            yield f"criteria for {score!r}, which is outside the scale ({rubric.scale.describe()})", _score_pattern(score)
    for score in duplicates(scores):
        yield f"criteria for {score!r} are listed twice; give each score one list", _score_pattern(score)
    for missing in (score for score in rubric.scale.classes if score not in scores):
        yield f"class {missing!r} of the scale has no criteria; add [[detailed.criteria]] for it", r"^\[detailed\]"


ASKED_BY_STUDIES = ("overall_quality", "own_text")
"""Rubrics that no task lists, because a study asks about them. A test compares them with the study's."""


def unlisted_complaints(name: str, content: ParsedContent) -> Complaints:
    """Yield a rubric that nothing asks about: no task or dataset card names it, and it stands for no other metric."""
    listed = {metric for task in content.tasks.values() for metric in task.metrics}
    published = {metric for card in content.dataset_cards.values() for metric in (*card.rubrics.values(), *card.metrics)}
    if name not in {*listed, *published, *ASKED_BY_STUDIES} and not content.rubrics[name].compared_with:
        yield (
            f"no task lists '{name}', so a judge is asked about it only where people labelled it: add it to 'metrics' of a "
            "tasks/<task>/task.toml ('harness new task' writes one)",
            key_pattern("id"),
        )


def tag_complaints(tag: str, inside: str) -> Complaints:
    """The tag inside a file must be that of its folder, and canonical BCP-47."""
    yield from name_complaints(inside, tag, "tag")
    if problem := tag_problem(inside):
        yield problem, key_pattern("tag")


def tag_problem(tag: str) -> str:
    """Return what is wrong with a tag; empty when nothing is wrong."""
    try:
        tags.require_canonical(tag)
    except UsageError as err:
        return str(err)
    return ""


def pack_complaints(tag: str, pack: Pack) -> Complaints:
    """Yield the faults of a language pack."""
    yield from tag_complaints(tag, pack.tag)
    if tag_problem(pack.tag):
        return
    script = tags.likely_script(pack.tag)
    if pack.script != script:
        yield (f"script '{pack.script}', but '{pack.tag}' is written in '{script}'; name another script in the tag", key_pattern("script"))


def translation_complaints(instructions: Instructions, content: ParsedContent) -> Complaints:
    """Required are all bundled tasks with items in packs of the language, and their rubrics; other tasks and rubrics are allowed."""
    library = content.library
    tasks = {table.task for table in content.tables if table.tag == instructions.tag}
    metrics = {metric for name in tasks if name in content.tasks for metric in content.tasks[name].metrics}
    allowed, required = [], []
    for kind, files, needed in (("tasks", library.task_files, tasks), ("rubrics", library.rubric_files, metrics)):
        allowed += [f"{kind}.{name}" for name in files]
        required += [f"{kind}.{name}" for name, path in files.items() if name in needed and library.roots[0] / kind in path.parents]
    for name, words in instructions.writing.items():
        if name not in library.writing_files:
            hint = tags.suggest(name, library.writing_files)
            message = f"[writing.{name}] matches no tasks/{name}/writing.toml.{hint} Remove it or correct its name"
            yield message, rf"^\[writing\.{re.escape(name)}\]"
        yield from writing_word_complaints(words)
    yield from instruction_complaints(instructions, content.tasks, content.rubrics, required=required, allowed=allowed)


def dataset_card_complaints(name: str, card: DatasetCard, tasks: Mapping[str, Path], rubrics: Mapping[str, Rubric]) -> Complaints:
    """Yield the faults of a dataset card."""
    yield from name_complaints(card.id, name, "id")
    for source_task, task_id in card.tasks.items():
        if task_id not in tasks:
            message = (
                f"[tasks]: '{source_task}' is said to be the task '{task_id}', which does not exist.{tags.choose_from(tasks, task_id)}"
            )
            yield message, key_pattern(source_task)
    for source_task, task_id in card.rubrics.items():
        if task_id not in rubrics:
            message = (
                f"[rubrics]: '{source_task}' is said to be the metric '{task_id}', which has no rubric.{tags.choose_from(rubrics, task_id)}"
            )
            yield message, key_pattern(source_task)
        elif problem := renaming_problem(card, source_task, rubrics[task_id]):
            yield problem, key_pattern(source_task)
    for key in ("title", "licence", "citation", "get"):
        if not getattr(card, key).strip():
            yield (f"'{key}' is missing or empty; a dataset card says what the data are and how to get them", key_pattern(key))
    if not re.fullmatch(r"\d+\.\d+\.\d+", card.version):
        yield f"version '{card.version}' should be three numbers, such as 1.0.0", key_pattern("version")
    for metric, scale in card.metrics.items():
        for message, _ in scale_complaints(scale, needs_best=False):
            yield f"[metrics.{metric}]: {message}", key_pattern(metric)
