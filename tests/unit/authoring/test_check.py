"""`check` finds every way in which content can be wrong, names file and line, and finds all of them in one go."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.authoring.check import check
from harness.content.library import Library
from harness.content.problems import Problem

Edit = Callable[[Path, str, str], None]
MakeLibrary = Callable[..., Library]

TASK = "tasks/continue_writing/task.toml"
RUBRIC = "rubrics/task_quality.toml"
PACK = "languages/de/pack.toml"
WORDS = "languages/cs/instructions.toml"
INTERFACE = "languages/en/interface.toml"
LEXICON = "languages/en/lexicon.toml"
BOARD = "leaderboards/controls/board.toml"
FULL = "leaderboards/controls-full/board.toml"
ITEMS = "languages/cs/items/summarize.jsonl"
LABELS = "languages/cs/labels/summarize.jsonl"

INTERVAL = 'kind = "interval"\nmin = 0\nmax = 2\nbest = 2\n'
ORDINAL = 'kind = "ordinal"\nclasses = [0, 1, 2]\nbest = 2\n'
LEFT = '[fields.left]\ntitle = "Text before the gap"\nrole = "input"\noptional = true\n'
OUTPUT = '[fields.output]\ntitle = "Text for the gap, to be judged"\nrole = "output"\noptional = false'

# What is wrong -> file, text, what it becomes, a text on the line complained about (None: no line), words of the complaint.
TOML_CASES: dict[str, tuple[str, str, str, str | None, str]] = {
    "field missing": (TASK, 'title = "Continue writing"\n', "", None, "missing required field `title`"),
    "field empty": (TASK, 'title = "Continue writing"', 'title = ""', 'title = ""', "length >= 1"),
    "field unknown": (TASK, 'title = "Continue', 'titel = "x"\ntitle = "Continue', "titel", "unknown field `titel`"),
    "field of wrong type": (TASK, 'metrics = [\n  "linguistic', 'metrics = [\n  3,\n  "linguistic', "metrics", "Expected `str`, got `int`"),
    "not TOML": (TASK, 'title = "Continue', 'title = "Continue\nx', "title", "not valid TOML"),
    "version": (TASK, 'version = "1.0.0"', 'version = "1.0"', "version", "matching regex"),
    "task id": (TASK, 'id = "continue_writing"', 'id = "continue"', "id =", "'continue', but the folder or file is named 'cont"),
    "outputs no field": (TASK, 'outputs = ["output"]', 'outputs = ["text"]', "outputs", "outputs lists text"),
    "outputs an input": (TASK, 'outputs = ["output"]', 'outputs = ["left"]', "outputs", "fields with role 'output' are: output"),
    "outputs twice": (TASK, 'outputs = ["output"]', 'outputs = ["output", "output"]', "outputs", "list exactly these"),
    "outputs one short": (TASK, 'role = "input"', 'role = "output"', "outputs", "fields with role 'output' are: left, output"),
    "at_least_one": (TASK, 'at_least_one = ["left", "right"]', 'at_least_one = ["left", "write"]', "at_least_one", "'write', which is not"),
    "metric unknown": (TASK, '"task_quality",', '"task_qualty",', "metrics", "has no rubric. Did you mean 'task_quality'?"),
    "metric twice": (TASK, '"task_quality",', '"task_quality", "task_quality",', "metrics", "'task_quality' is listed twice"),
    "input after output": (TASK, OUTPUT, OUTPUT + "\n" + LEFT.replace("left", "late"), "[fields.late]", "input 'late' comes after"),
    "rubric id": (RUBRIC, 'id = "task_quality"', 'id = "quality"', "id =", "'quality', but the folder or file is named 'task_quality'"),
    "class without criteria": (RUBRIC, "\nscore = 1\n", "\nscore = 0\n", "[detailed]", "class 1 of the scale has no criteria"),
    "class with criteria twice": (RUBRIC, "\nscore = 1\n", "\nscore = 0\n", "score = 0", "criteria for 0 are listed twice"),
    "criteria off the scale": (RUBRIC, "\nscore = 1\n", "\nscore = 7\n", "score = 7", "for 7, which is outside the scale (0, 1, 2)"),
    "best off the scale": (RUBRIC, "best = 2", "best = 3", "best", "best is 3, which is outside the scale (0, 1, 2)"),
    "best missing": (RUBRIC, "best = 2\n", "", "kind", "needs 'best'"),
    "best out of range": (
        RUBRIC,
        ORDINAL,
        INTERVAL.replace("best = 2", "best = 3"),
        "best",
        "best is 3, which is outside the scale (0 to 2)",
    ),
    "no classes": (RUBRIC, "classes = [0, 1, 2]\n", "", "kind", "needs at least two classes"),
    "class twice": (RUBRIC, "classes = [0, 1, 2]", "classes = [0, 1, 1, 2]", "classes", "class 1 is listed twice"),
    "ordinal with min": (RUBRIC, ORDINAL, ORDINAL + "min = 0\n", "kind", "min and max belong to interval scales"),
    "interval without max": (RUBRIC, ORDINAL, INTERVAL.replace("max = 2\n", ""), "kind", "needs min and max"),
    "interval upside down": (RUBRIC, ORDINAL, INTERVAL.replace("min = 0", "min = 9"), "kind", "found 9.0 and 2.0"),
    "interval with classes": (RUBRIC, ORDINAL, INTERVAL + "classes = [0, 1, 2]\n", "classes", "an interval scale has no classes"),
    "steps from high to low": (RUBRIC, ORDINAL, INTERVAL + "steps = [2, 1, 0]\n", "steps", "from 0 to 2, the lowest first"),
    "steps off the scale": (RUBRIC, ORDINAL, INTERVAL + "steps = [0, 1, 2.5]\n", "steps", "found: 0, 1, 2.5"),
    "one step": (RUBRIC, ORDINAL, INTERVAL + "steps = [0]\n", "steps", "two or more scores"),
    "steps of classes": (RUBRIC, ORDINAL, ORDINAL + "steps = [0, 1, 2]\n", "steps", "steps belong to interval scales"),
    "swap to no class": (RUBRIC, ORDINAL, ORDINAL + 'swap = {"0" = "9"}\n', "swap", "'0' into '9', but the classes are: 0, 1, 2"),
    "swap from no class": (RUBRIC, ORDINAL, ORDINAL + '[scale.swap]\nA = "0"\n', "[scale.swap]", "swap turns 'A' into '0'"),
    "swap one way": (RUBRIC, ORDINAL, ORDINAL + 'swap = {"0" = "1", "1" = "2", "2" = "0"}\n', "swap", "but not back"),
    "tag is not the folder": (PACK, 'tag = "de"', 'tag = "nl"', "tag", "'nl', but the folder or file is named 'de'"),
    "tag not canonical": (PACK, 'tag = "de"', 'tag = "deu"', "tag", "not canonical; write 'de'"),
    "tag unknown": (PACK, 'tag = "de"', 'tag = "xx"', "tag", "not the tag of a known language"),
    "tag a country": (PACK, 'tag = "de"', 'tag = "cz"', "tag", "Czech is 'cs'"),
    "script": (PACK, 'script = "Latn"', 'script = "Cyrl"', "script", "'de' is written in 'Latn'"),
    "script of Chinese": ("languages/zh/pack.toml", 'script = "Hans"', 'script = "Hant"', "script", "'zh' is written in 'Hans'"),
    "instructions for another tag": (WORDS, 'tag = "cs"', 'tag = "sk"', "tag =", "'sk', but the folder or file is named 'cs'"),
    "instructions for a country": (WORDS, 'tag = "cs"', 'tag = "cz"', "tag =", "Czech is 'cs'"),
    "word missing": (WORDS, 'the_score = "skóre"', "", "[words]", "missing required field `the_score`"),
    "nothing put in": (WORDS, "napsán: {language}.", "napsán.", "meant_for", "nothing in braces, but should contain {language}"),
    "put in twice": (WORDS, "uveďte {keys}", "uveďte {keys} {keys}", "reminder", "{keys}, {keys}, but should contain {keys}"),
    "name translated": (WORDS, "{number}", "{číslo}", "example =", "'example' contains {číslo}, but should contain {number}"),
    "nothing to put in": (WORDS, 'examples = "N', 'examples = "{metric} N', "examples =", "but should contain nothing in braces"),
    "name in a task": (WORDS, "Autor měl stručně", "Autor {kdo} měl", "{kdo}", "{kdo} in [tasks.summarize] is not replaced by anything"),
    "name in a criterion": (WORDS, "Jde o jiný", "V {language} jde o jiný", "{language} jde", "{language} in [rubrics.task_quality]"),
    "language not named": (WORDS, "(jazyk: {source_language})", "", "[tasks.translate]", "does not name {source_language}"),
    "field not translated": (WORDS, 'passage = "V', 'psg = "V', "[tasks.summarize.f", "'passage' is missing from [tasks.summarize.fields]"),
    "field that is none": (WORDS, 'passage = "V', 'psg = "V', "[tasks.summarize.f", "field 'psg' of [tasks.summarize.fields] is not in"),
    "score without words": (WORDS, "\n1 = [", "\n2 = [", "[rubrics.hallucination.c", "score '1' is missing from [rubrics.hallucination.c"),
    "score that is none": (WORDS, "\n1 = [", "\n2 = [", "[rubrics.hallucination.c", "score '2' of [rubrics.hallucination.c"),
    "score without points": (WORDS, "\n1 = [", "\n1 = []\n4 = [", "[rubrics.hallucination.c", "Expected `array` of length >= 1"),
    "instructions not NFC": (WORDS, "Shrnutí nepřidává", "Shrnuti\u0301 nepřidává", "Shrnuti\u0301", "not in Unicode form NFC"),
    "instructions unfinished": (WORDS, "Shrnutí k", "(to be written) k", "(to be written) k", "a placeholder was not replaced"),
    "interface of another tag": (INTERFACE, 'tag = "en"', 'tag = "en-GB"', "tag =", "'en-GB', but the folder or file is named 'en'"),
    "interface string blank": (INTERFACE, 'start = "Start"', 'start = " "', "start =", "'start' is blank"),
    "interface string a number": (INTERFACE, 'start = "Start"', "start = 1", "[strings]", "Expected `str`, got `int`"),
    "interface not NFC": (INTERFACE, '"Start"', '"Sta\u0301rt"', "Sta\u0301rt", "not in Unicode form NFC"),
    "interface unfinished": (INTERFACE, '"Start"', '"(to be written)"', "start =", "a placeholder was not replaced"),
    "lexicon of another tag": (LEXICON, 'tag = "en"', 'tag = "en-GB"', "tag =", "'en-GB', but the folder or file is named 'en'"),
    "lexicon key": (LEXICON, "announcers = [", "anouncers = [", "anouncers", "unknown field `anouncers`"),
    "lexicon list": (LEXICON, 'out_of = ["out of"]', 'out_of = "out of"', "out_of", "Expected `array`, got `str`"),
    "lexicon word": (LEXICON, '"pts", ', "3, ", "units", "Expected `str`, got `int`"),
    "lexicon word empty": (LEXICON, '"rating", ', '"", ', "announcers", "length >= 1"),
    "lexicon word blank": (LEXICON, '"rating", ', '" ", ', "announcers", "a word in announcers is blank"),
    "lexicon mark alone": (LEXICON, '"‘’"]', '"‘"]', "quotation_marks", "'‘' in quotation_marks is not a pair"),
    "lexicon sentence blank": (LEXICON, 'injection = "Note', 'injection = "  " # "Note', "injection", "injection is blank"),
    "lexicon version": (LEXICON, 'version = "', 'version = "v', "version =", "matching regex"),
    "lexicon word twice": (LEXICON, '"rating", ', '"Score", ', "announcers", "'score' is listed twice in announcers"),
    "lexicon not NFC": ("languages/fr/lexicon.toml", "réponse", "re\u0301ponse", "re\u0301ponse", "not in Unicode form NFC"),
    "lexicon unfinished": (LEXICON, 'out_of = ["out of"]', "out_of = []  # (to be written)", "out_of", "a placeholder was not replaced"),
    "board id": (BOARD, 'id = "controls"', 'id = "control"', "id =", "'control', but the folder or file is named 'controls'"),
    "board task": (BOARD, 'summarize = "1.0.0"', 'summarise = "1.0.0"', "summarise", "no task 'summarise'. Did you mean 'summarize'?"),
    "board task version": (BOARD, 'summarize = "1.0.0"', 'summarize = "1.2.0"', "summarize", "'summarize' has version 1.0.0, not 1.2.0"),
    "board rubric": (BOARD, 'task_quality = "1.0.1"', 'taste = "1.0.0"', "taste =", "no rubric 'taste'"),
    "board rubric version": (BOARD, 'task_quality = "1.0.1"', 'task_quality = "0.1.0"', "task_quality", "has version 1.0.1, not 0.1.0"),
    "board language": (FULL, 'ja = "2.1.0"', 'jv = "1.0.0"', "jv", "no language pack 'jv'"),
    "board language version": (BOARD, 'ja = "2.1.0"', 'ja = "9.0.0"', 'ja = "9.0.0"', "language pack 'ja' has version 2.1.0, not 9.0.0"),
    "board conversation": (BOARD, 'variants = ["single"]', 'variants = ["conversation"]', "variants", "its calls differ by judge"),
    "board variant": (BOARD, 'variants = ["single"]', 'variants = ["solo"]', "variants", "unknown variant 'solo'"),
    "item unknown": (BOARD, '"cs-op-2-fluent"', '"cs-op-9-fluent"', "cs-op-9-fluent", "no item 'cs-op-9-fluent' in any pack"),
    "item of dev": (BOARD, '"cs-op-2-fluent"', '"cs-op-d1-fluent"', "cs-op-d1-fluent", "is a dev item"),
    "item of another language": (BOARD, '"cs-op-2-fluent"', '"en-op-2-repetitive"', "en-op-2-rep", "of language 'en', but is listed"),
    "item of another task": (BOARD, 'summarize = "1.0.0"\n', "", "cs-su-1-repetitive", "of task 'summarize', which is not on this board"),
    "language without items": (BOARD, "\nja = [", "\nko = [", "[items]", "no items of 'ja' are listed"),
    "items without language": (BOARD, 'ja = "2.1.0"\n', "", "ja = [", "items of 'ja' are listed, but the board does not have"),
}  # fmt: skip


def complaints(library: Library) -> list[Problem]:
    """Problems other than that versions were not raised, which each edit causes as well."""
    versions = ("content.lock", "its version is still")
    return [problem for problem in check(library) if not any(words in problem.message for words in versions)]


def line_with(path: Path, text: str | None) -> int | None:
    lines = path.read_text("utf-8").splitlines()
    return next(number for number, line in enumerate(lines, start=1) if text in line) if text else None


def assert_found(problems: list[Problem], path: Path, line: int | None, words: str) -> None:
    found = [problem for problem in problems if problem.path == path and problem.line == line and words in problem.message]
    assert found, f"not found: {line}: {words}\n" + "\n".join(map(str, problems))


def test_untouched_content_is_in_order(root: Path, library_of: MakeLibrary) -> None:
    assert check(library_of(root)) == []


@pytest.mark.slow
@pytest.mark.parametrize(("file", "old", "new", "line", "words"), TOML_CASES.values(), ids=TOML_CASES)
def test_toml(root: Path, library_of: MakeLibrary, edit: Edit, file: str, old: str, new: str, line: str | None, words: str) -> None:
    edit(root / file, old, new)
    assert_found(check(library_of(root)), root / file, line_with(root / file, line), words)


def test_swap_and_interval_that_are_right(root: Path, library_of: MakeLibrary, edit: Edit) -> None:
    edit(root / RUBRIC, ORDINAL, 'kind = "nominal"\nclasses = [0, 1, 2]\nswap = {"0" = "1", "1" = "0"}\n')
    edit(root / "rubrics/hallucination.toml", 'kind = "nominal"\nclasses = [0, 1]\n', 'kind = "interval"\nmin = 0\nmax = 1\n')
    assert complaints(library_of(root)) == []


def test_instructions_for_a_misspelt_task(root: Path, library_of: MakeLibrary) -> None:
    text = (root / WORDS).read_text("utf-8")
    (root / WORDS).write_text(text.replace("[tasks.open_prompt", "[tasks.open_promt"), "utf-8")
    missing, surplus = complaints(library_of(root))
    assert missing.line == line_with(root / WORDS, "[tasks.")
    assert "[tasks.open_prompt] is missing" in missing.message
    assert surplus.line == line_with(root / WORDS, "[tasks.open_promt]")
    assert "[tasks.open_promt] matches no task or rubric. Did you mean 'tasks.open_prompt'?" in surplus.message


def test_marks_for_actions_and_actions_go_together(root: Path, library_of: MakeLibrary, edit: Edit) -> None:
    text = (root / LEXICON).read_text("utf-8")
    (root / LEXICON).write_text(re.sub(r"refused_actions = \[[^]]*\]", "refused_actions = []", text), "utf-8")
    [problem] = complaints(library_of(root))
    assert problem.line == line_with(root / LEXICON, "refusals = [") and "refused_actions, but the list is empty" in problem.message
    (root / LEXICON).write_text(text.replace(" ~", " help"), "utf-8")
    [problem] = [problem for problem in complaints(library_of(root)) if "twice" not in problem.message]
    assert problem.line == line_with(root / LEXICON, "refused_actions = [") and "have no effect" in problem.message


def test_instructions_lack_a_rubric(root: Path, library_of: MakeLibrary) -> None:
    text = (root / WORDS).read_text("utf-8")
    (root / WORDS).write_text(text[: text.index("[rubrics.task_quality]")], "utf-8")
    message = "[rubrics.task_quality] is missing; translate it"
    assert complaints(library_of(root)) == [Problem(root / WORDS, line_with(root / WORDS, "[rubrics."), message)]


def test_instructions_with_scores_in_another_order(root: Path, library_of: MakeLibrary) -> None:
    """A judge reads them in the file's order, and the languages are to differ in nothing else."""
    head, section, rest = (root / WORDS).read_text("utf-8").partition("[rubrics.hallucination.criteria]\n")
    criteria, after, tail = rest.partition("\n[rubrics.linguistic")
    one = criteria.index("1 = [")
    (root / WORDS).write_text(head + section + criteria[one:] + criteria[:one] + after + tail, "utf-8")
    [problem] = complaints(library_of(root))
    assert problem.line == line_with(root / WORDS, "[rubrics.hallucination.criteria]")
    assert "the scores of [rubrics.hallucination.criteria] are in another order than in the English: 0, 1" in problem.message


def test_instructions_need_no_content_of_others(root: Path, tmp_path: Path, library_of: MakeLibrary) -> None:
    """Whoever adds a task of their own need not translate it, but may."""
    extra = root / "extra"
    shutil.copytree(root / "tasks/open_prompt", extra / "tasks/story", ignore=shutil.ignore_patterns("writing.toml"))
    task = extra / "tasks/story/task.toml"
    task.write_text(task.read_text("utf-8").replace('id = "open_prompt"', 'id = "story"'), "utf-8")
    assert complaints(library_of(root, extra)) == []
    words = (root / WORDS).read_text("utf-8")
    section = words[words.index("[tasks.open_prompt]") : words.index("[tasks.summarize]")]
    (root / WORDS).write_text(words + "\n" + section.replace("open_prompt", "story"), "utf-8")
    assert complaints(library_of(root, extra)) == []


def test_item_listed_twice(root: Path, library_of: MakeLibrary, edit: Edit) -> None:
    edit(root / BOARD, '"cs-op-2-offensive",', '"cs-op-2-offensive",\n  "cs-op-2-fluent",')
    line = line_with(root / BOARD, '"cs-op-2-offensive"')
    assert line
    assert complaints(library_of(root)) == [Problem(root / BOARD, line + 1, "item 'cs-op-2-fluent' is listed twice; list it once")]


def test_board_without_any_items_is_all_items(root: Path, library_of: MakeLibrary) -> None:
    assert complaints(library_of(root)) == []
    text = (root / BOARD).read_text("utf-8")
    (root / BOARD).write_text(text[: text.index("[items]")], "utf-8")
    assert complaints(library_of(root)) == []


@pytest.mark.parametrize("folder", ["tasks/summarize", "languages/ja", "languages/de", "leaderboards/controls", "rubrics"])
def test_card_missing_or_empty(root: Path, library_of: MakeLibrary, folder: str) -> None:
    card = root / folder / "CARD.md"
    card.write_text(" \n", "utf-8")
    empty = complaints(library_of(root))
    card.unlink()
    assert complaints(library_of(root)) == empty
    [problem] = empty
    assert (problem.path, problem.line) == (card, None)
    assert "CARD.md is missing or empty" in problem.message


@pytest.mark.parametrize(
    ("folder", "file"),
    [
        ("tasks/story", "task.toml"),
        ("languages/ko", "pack.toml or lexicon.toml"),
        ("catalog/x", "dataset.toml"),
        ("leaderboards/mine", "board.toml or collection.toml"),
    ],
)
def test_folder_that_nothing_reads(root: Path, library_of: MakeLibrary, folder: str, file: str) -> None:
    (root / folder).mkdir(parents=True)
    [problem] = check(library_of(root))
    assert (problem.path, problem.line) == (root / folder, None)
    assert f"no {file} in this folder" in problem.message


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("items/summarize.json", "nothing reads this file"),
        ("labels/notes.csv", "nothing reads this file"),
        ("labels/story.jsonl", "labels without items; cs/items/story.jsonl is missing"),
    ],
)
def test_file_that_nothing_reads(root: Path, library_of: MakeLibrary, file: str, words: str) -> None:
    (root / "languages/cs" / file).write_text("", "utf-8")
    [problem] = complaints(library_of(root))
    assert (problem.path, problem.line) == (root / "languages/cs" / file, None)
    assert words in problem.message


def test_same_name_in_two_folders(root: Path, tmp_path: Path, library_of: MakeLibrary) -> None:
    shutil.copytree(root / "tasks/summarize", tmp_path / "extra/tasks/summarize")
    [problem] = check(library_of(root, tmp_path / "extra"))
    assert problem.path == tmp_path / "extra/tasks/summarize/task.toml"
    assert "'summarize' is also at" in problem.message


# ---- items and labels: each case changes some rows


Rows = list[dict[str, Any]]


def rewrite(path: Path, change: Callable[[Rows], object]) -> None:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    change(rows)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def set_row(index: int, **values: Any) -> Callable[[Rows], object]:
    return lambda rows: rows[index].update(values)


def first_of(index: int, item_id: str) -> Callable[[Rows], object]:
    return lambda rows: rows.insert(index, {**rows[0], "item_id": item_id})


def parallel_in_two_groups(rows: Rows) -> None:
    rows[0]["parallel_id"] = rows[9]["parallel_id"] = "p"


# What is wrong -> file, change, line, words. Row 0 of both files belongs to the test item cs-su-1-fluent, items 36 to 53 are dev.
ROW_CASES: dict[str, tuple[str, Callable[[Rows], object], int, str]] = {
    "item without a text": (ITEMS, set_row(4, passage=" "), 5, "has no 'passage', which task 'summarize' needs"),
    "item of another language": (ITEMS, set_row(4, language="sk"), 5, "says language 'sk' in the pack 'cs'"),
    "item of another task": (ITEMS, set_row(4, task="open_prompt"), 5, "says task 'open_prompt' in the file of 'summarize'"),
    "item in no split": (ITEMS, set_row(4, split="train"), 5, "not an item"),
    "id twice in a file": (ITEMS, set_row(4, item_id="cs-su-1-fluent"), 5, "is also in line 1; ids are unique"),
    "id in two packs": (ITEMS, first_of(0, "en-su-1-fluent"), 1, "is also in cs/summarize"),
    "id in two tasks": (ITEMS, first_of(2, "cs-op-1-fluent"), 3, "is also in cs/open_prompt; ids are unique across packs"),
    "test item without label": (ITEMS, first_of(3, "cs-su-1-new"), 4, "test item 'cs-su-1-new' has no label"),
    "text not NFC": (ITEMS, set_row(2, output="příliš z\u030clut\u0301y\u0301"), 3, "'output' of 'cs-su-1-wrong-language' is not in"),
    "group in both splits": (ITEMS, set_row(4, split="dev"), 5, "group 'cs-su-1' is in test ('cs-su-1-fluent') and in dev"),
    "parallel_id of two groups": (ITEMS, parallel_in_two_groups, 10, "has the groups 'cs-su-1' and 'cs-su-2'"),
    "label of no item": (LABELS, set_row(7, item_id="cs-su-9"), 8, "a label of item 'cs-su-9', which is not among the items"),
    "label of no metric": (LABELS, set_row(7, metric="beauty"), 8, "metric 'beauty' has no scale"),
    "label off the scale": (LABELS, set_row(0, score=5), 1, "score 5 is outside the scale of 'linguistic_acceptability' (0, 1, 2)"),
    "label twice": (LABELS, lambda rows: rows.insert(1, rows[0]), 2, "has already scored"),
    "label without annotator": (LABELS, lambda rows: rows[3].pop("annotator_id"), 4, "not a label"),
}  # fmt: skip


@pytest.mark.parametrize(("file", "change", "line", "words"), ROW_CASES.values(), ids=ROW_CASES)
def test_rows(root: Path, library_of: MakeLibrary, file: str, change: Callable[[Rows], object], line: int, words: str) -> None:
    rewrite(root / file, change)
    problems = complaints(library_of(root))
    if "is also in cs/summarize" in words:  # the later of the two is complained about
        file, line = "languages/en/items/summarize.jsonl", 1
    elif "is also in cs/open_prompt" in words:
        assert len(problems) == 2  # it has no label either
    assert_found(problems, root / file, line, words)


def test_the_same_texts_with_other_labels_are_named_once(root: Path, library_of: MakeLibrary) -> None:
    items = [json.loads(line) for line in (root / ITEMS).read_text("utf-8").splitlines()]
    place = next(n for n, item in enumerate(items) if item["item_id"] == "cs-su-1-shuffled")
    rewrite(root / ITEMS, set_row(place, output=items[0]["output"]))
    words = "'cs-su-1-shuffled' has the same texts as 'cs-su-1-fluent', but 'linguistic_acceptability' is 0 here and 2 there"
    assert_found(complaints(library_of(root)), root / ITEMS, place + 1, words)


def test_metric_that_is_none_of_the_task(root: Path, library_of: MakeLibrary, edit: Edit) -> None:
    edit(root / "tasks/summarize/task.toml", '  "hallucination",\n', "")
    problems = complaints(library_of(root))
    packs = {problem.path.relative_to(root / "languages").parts[0] for problem in problems}
    assert packs == {pack.parent.name for pack in root.glob("languages/*/pack.toml")}
    assert_found(
        problems, root / LABELS, line_with(root / LABELS, '"hallucination"'), "metric 'hallucination' does not belong to task 'summarize'"
    )


def test_items_without_label_file(root: Path, library_of: MakeLibrary) -> None:
    (root / LABELS).unlink()
    [problem] = complaints(library_of(root))
    assert (problem.path, problem.line) == (root / LABELS, None)
    assert "no labels for the items of cs/summarize" in problem.message


def test_dev_items_need_no_labels(root: Path, library_of: MakeLibrary) -> None:
    rewrite(root / LABELS, lambda rows: rows.__setitem__(slice(None), [row for row in rows if "-d" not in row["item_id"]]))
    assert complaints(library_of(root)) == []


def test_items_of_no_task(root: Path, library_of: MakeLibrary) -> None:
    path = root / "languages/cs/items/story.jsonl"
    row = {"item_id": "s1", "language": "cs", "task": "story", "split": "dev", "output": "Byl jednou…"}
    path.write_text(json.dumps(row) + "\n", "utf-8")
    [problem] = complaints(library_of(root))
    assert (problem.path, problem.line) == (path, None)
    assert "items of task 'story', which does not exist" in problem.message


def test_group_that_goes_from_task_to_task(root: Path, library_of: MakeLibrary) -> None:
    rewrite(root / ITEMS, lambda rows: [row.update(group="cs-op-1") for row in rows[36:]])
    [problem] = complaints(library_of(root))
    assert (problem.path, problem.line) == (root / ITEMS, 37)
    assert "group 'cs-op-1' is in test" in problem.message


def test_broken_line_is_one_problem(root: Path, library_of: MakeLibrary) -> None:
    """Neither its labels nor the boards that list its items are complained about: perhaps they are right."""
    lines = (root / ITEMS).read_text("utf-8").splitlines()
    (root / ITEMS).write_text("\n".join([*lines[:6], lines[6][:-5], *lines[7:]]) + "\n", "utf-8")
    [problem] = complaints(library_of(root))
    assert (problem.path, problem.line) == (root / ITEMS, 7)
    assert "not a JSON object" in problem.message


def test_broken_rubric_is_one_problem(root: Path, library_of: MakeLibrary, edit: Edit) -> None:
    edit(root / RUBRIC, 'kind = "ordinal"', 'kind = "orderly"')
    [problem] = complaints(library_of(root))
    assert (problem.path, problem.line) == (root / RUBRIC, line_with(root / RUBRIC, "orderly"))


def test_everything_is_found_at_once(root: Path, library_of: MakeLibrary, edit: Edit) -> None:
    edit(root / TASK, '"task_quality",', '"taste",')
    edit(root / TASK, 'at_least_one = ["left", "right"]', 'at_least_one = ["top"]')
    edit(root / RUBRIC, "best = 2", "best = 3")
    edit(root / PACK, "Latn", "Cyrl")
    rewrite(root / LABELS, set_row(3, score=9))
    (root / "languages/ja/CARD.md").unlink()
    problems = check(library_of(root))
    told = {(problem.path.relative_to(root).as_posix(), problem.message.split()[0]) for problem in problems}
    assert {(TASK, "metric"), (TASK, "at_least_one"), (RUBRIC, "best"), (PACK, "script")} <= told
    assert {(LABELS, "score"), ("languages/ja/CARD.md", "CARD.md"), (TASK, "content"), (RUBRIC, "content")} <= told
    places = [(str(problem.path), problem.line or 0) for problem in problems]
    assert places == sorted(places)


def test_problem_as_text(root: Path) -> None:
    assert str(Problem(Path("a/b.toml"), 3, "wrong")) == "a/b.toml:3: wrong"
    assert str(Problem(Path("a/CARD.md"), None, "missing")) == "a/CARD.md: missing"


PEOPLE = "leaderboards/people/collection.toml"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"pariksha"', '"parikshaa"', ("no board 'parikshaa'.", "Did you mean 'pariksha'?", "choose from:")),
        ('"pariksha"', '"basse"', ("board 'basse' is listed 2 times; list it once",)),
        ('id = "people"', 'id = "persons"', ("the name inside is 'persons'", "'people'")),
    ],
)
def test_a_collection_that_does_not_hold(
    root: Path, library_of: MakeLibrary, edit: Edit, old: str, new: str, words: tuple[str, ...]
) -> None:
    edit(root / PEOPLE, old, new)
    problems = [problem for problem in check(library_of(root)) if "version" not in problem.message]
    assert len(problems) == 1 and problems[0].path == root / PEOPLE and problems[0].line
    assert all(word in problems[0].message for word in words), problems
