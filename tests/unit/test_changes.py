"""What a change of one kind touches: it is made in a copy of the package, and the command then does what is new."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

import harness


class Change(NamedTuple):
    """The files of the package that change, each with what is written: a whole file, or `{before: after}` in a file that there is."""

    most: int
    files: dict[str, str | dict[str, str]]
    given: tuple[str, str]  # a file of the user, and what is in it
    commands: tuple[str, ...]
    printed: tuple[str, ...]  # by all commands together
    absent: tuple[str, ...] = ()  # from what the last command prints
    documents: Mapping[str, str] = {}  # pages that docs/make_PAGE.py makes again, each with what is new in it


ROOT = Path(harness.__file__).parent.parent
CONTENT = ("tasks", "languages", "rubrics", "catalog", "leaderboards", "content.lock")
RUN = """
import sys
sys.path.insert(0, sys.argv.pop(1))  # before the package under test, however that is installed
import harness.cli
sys.exit(harness.cli.main(sys.argv[1:]))
"""

IMPORTER = """
from harness.exchange.scores.external_scores import ExternalScore, ExternalScores, Reader


def is_rating(row):
    return {"rated", "stars"} <= row.keys()


def read(rows, options):
    scores = [
        ExternalScore(place=f"{path}:{line}", item=row["rated"], fields=row, metric="stars", value=row["stars"], who="judge")
        for path, line, row in rows
    ]
    return ExternalScores("stars", scores, texts={"text": "text"})


READERS = {"stars": Reader(is_line=is_rating, read_lines=read)}
"""

SECTION = """
import numpy as np

from harness.measure.condition_rows import new_row, put_share, section
from harness.reports.sections.section import Section, SectionTable, of_answers, range_by_language
from harness.reports.tables.columns import COUNT, SHARE, TEXT, Column


def favourites(answers):
    clean = answers.clean
    rows = []
    for key, at in clean.cells(("language", "metric")):
        codes = clean.code[at]
        favourite = np.bincount(codes[codes >= 0]).argmax()
        row = new_row(key, n=len(at), favourite=str(favourite))
        put_share(row, "share", (codes == favourite).astype(float), clean.group[at], clean.drawing, "no answer")
        rows.append(row)
    return section("Favourite scores", rows, note="the score that is given most often")


FAVOURITES = Section(
    "favourites",
    "What is the favourite score of the judge?",
    range_by_language("share", "Share of the favourite"),
    (
        SectionTable(
            (
                Column("n", "answers", COUNT, "answers with a score"),
                Column("favourite", "favourite score", TEXT, "the place of the commonest score among those of the scale"),
                Column("share", "its share", SHARE, "the share of readable answers with this score"),
            )
        ),
    ),
    of_answers(favourites),
)
"""

FIGURE = """
from harness.render.figures.style import drawing, finish


def draw_text_length(section, signature, options):
    with drawing(signature) as new_figure:
        figure = new_figure(figsize=(options.width, 2))
        figure.subplots().plot([row["tau"] or 0 for row in section["rows"]], "o")
        return finish(figure, section["title"], "Kendall's tau of score and length.", signature, options)
"""

STATISTIC = """
def mean_square(k, values=None, *, judge=None):
    v = _numbers(values, k)
    name = "mean_square_labels" if judge is None else "mean_square"
    return Statistic(name, Scores(v, judge), lambda sums: ratio(sums[..., 2], sums[..., 0]), bounds=(0.0, v[-1] ** 2))


"""

JUDGE = """
import json

from harness.judges.judge_protocol import answer_object
from harness.model import JudgeIdentity, Reply


class OneJudge:
    endpoint = concurrency = None

    def __init__(self, name):
        self.identity = JudgeIdentity("one", name)

    async def start(self, calls):
        pass

    async def answer(self, call):
        scores = dict.fromkeys(call.query.metrics, 1)
        return Reply(text=json.dumps(answer_object(scores, None, call.query.condition.variant.call == "joint")), model="one")

    async def stop(self):
        pass


def open_judge(name, options):
    return OneJudge(name)
"""

COMMAND = """
from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Annotated

from harness.cli.command import Command, command
from harness.options import Flag


@command("commands.count:count")
class Count(Command):
    file: Annotated[Path, Flag("FILE")] = field(kw_only=False)
    \'\'\'the file\'\'\'


def count(arguments):
    print(len(arguments.file.read_text().splitlines()), "lines")
    return 0
"""

SCORES_OF_TWO = "item_id,annotator_id,prompt,output,task_quality\n" + "".join(
    f"t{number},{who},Napiš pozdrav číslo {number}.,Dobrý den {number},2\n" for number in range(40) for who in "pq"
)

RUN_LENGTH = "run --langs cs --judge baseline/length --out results"

CHANGES = {
    "a command": Change(
        most=2,
        files={
            "cli/commands/count.py": COMMAND.lstrip(),
            "cli/commands/__init__.py": {
                '        "store": (': '        "count": ("count:Count", "count the lines of a file"),\n        "store": (',
            },
        },
        given=("three.txt", "one\ntwo\nthree\n"),
        commands=("count three.txt", "count --help"),
        printed=("3 lines", "usage: harness count [flags] FILE", "FILE                    the file"),
    ),
    "a condition axis": Change(
        most=3,
        files={
            "model.py": {
                '    shown_source: ShownSource = "none"  # the systems': "    min_p: float | None = None\n"
                '    shown_source: ShownSource = "none"  # the systems',
                "    top_p: float | None = None\n\n\nclass JudgeCondition": "    top_p: float | None = None\n"
                "    min_p: float | None = None\n\n\nclass JudgeCondition",
                "    top_p: float | None = None\n\n    def __str__": "    top_p: float | None = None\n"
                "    min_p: float | None = None\n\n    def __str__",
            },
            "runs/specification.py": {
                "    top_ps: Annotated": '    min_ps: Annotated[tuple[float | None, ...], Reads(top_ps), Flag("--min-p")] = (None,)\n'
                '    """least share"""\n    top_ps: Annotated',
            },
            "exchange/scores/score_options.py": {
                "    top_p: ": '    min_p: Annotated[TopP | None, Flag()] = None\n    """least share"""\n    top_p: ',
            },
        },
        given=("gate.toml", '[[rule]]\nmetric = "problematic_content"\nmin_items = 5\n'),
        commands=(
            "run --langs cs --judge baseline/random --min-p 0.05,0.2 --out results",
            "report --md --out results",
            "report --html page.html --out results",
            "gate --policy gate.toml results/runs/* --summary gate.md",
            "export inspect-scores results/runs/* --metric problematic_content --min-p 0.2 --to scores.jsonl",
        ),
        printed=("min-p 0.05", "min-p 0.2", "scores written"),
    ),
    "a judge kind": Change(
        most=2,  # with the line in pyproject.toml, which an installed package has as its entry points
        files={
            "judges/one.py": JUDGE.lstrip(),
            "../one-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: one\nVersion: 1.0\n",
            "../one-1.0.dist-info/entry_points.txt": "[harness.judges]\none = harness.judges.one:open_judge\n",
        },
        given=("unused", ""),
        commands=("run --langs cs --judge one/first --out results", "list judges --json"),
        printed=("one/first", "harness.judges.one:open_judge"),
    ),
    "a statistic as a column": Change(
        most=3,
        files={
            "stats/agreement/describe.py": {
                "DESCRIPTIONS: tuple": STATISTIC.lstrip() + "DESCRIPTIONS: tuple",
                "(mean_score, sd_score)\n": "(mean_score, sd_score, mean_square)\n",
            },
            "reports/tables/columns.tsv": {
                "options\tlegend\n": "options\tlegend\nmean_square\tmean square\tcoefficient\tcomparison\t\tthe mean of squared scores\n",
            },
        },
        documents={"columns": "the mean of squared scores"},
        given=("unused", ""),
        commands=(RUN_LENGTH, "compare results/runs/* --full --md", "compare results/runs/* --csv"),
        printed=("mean square", "mean_square_lo"),
    ),
    "a flag that hides a judge": Change(
        most=3,
        files={
            "cli/commands/find_out.py": {
                "    distributions: Annotated": '    hide: tuple[str, ...] = ()\n    """leave out this judge; repeatable"""\n'
                "    distributions: Annotated",
            },
            "cli/compare.py": {
                "        comparison = compared.comparison\n": "        import msgspec\n\n        comparison = msgspec.structs.replace(\n"
                "            compared.comparison,\n"
                "            cells=[cell for cell in compared.comparison.cells if cell.key['judge'] not in arguments.hide],\n"
                "            verdicts=[verdict for verdict in compared.comparison.verdicts if verdict.key['judge'] not in arguments.hide]\n"
                "        )\n",
            },
        },
        documents={"cli/compare": "leave out this judge; repeatable"},
        given=("unused", ""),
        commands=(
            "run --langs cs --judge baseline/length --judge baseline/random --out results",
            "compare results/runs/* --hide baseline/random --csv",
        ),
        printed=("baseline/length",),
        absent=("baseline/random",),
    ),
    "a verdict rule": Change(
        most=4,
        files={
            "decide/verdict_rule.py": {
                "    interval: bool = False\n": "    leniency: float = 0.0\n    interval: bool = False\n",
                "ONE_CLASS = Decision(": 'STRICT = Decision("do not use", "far stricter than people")\nONE_CLASS = Decision(',
                "    elif cell.one_class:\n": "    elif cell.leniency < -0.2:\n        decision = STRICT\n    elif cell.one_class:\n",
            },
            "decide/verdicts.py": {
                "            interval=cell.texts.interval,\n            aggregate": "            leniency=cell.level.leniency.mean,\n"
                "            interval=cell.texts.interval,\n            aggregate",
            },
            "decide/verdict_sentences.py": {
                "    ONE_CLASS,\n    UNREAD,\n": "    ONE_CLASS,\n    STRICT,\n    UNREAD,\n",
                "_SHOWN = {\n": '_SHOWN = {\n    STRICT: "strict",\n',
                '            case "worse":\n': '            case "strict":\n                return "it is far stricter than they are"\n'
                '            case "worse":\n',
            },
            "reports/tables/columns.py": {
                "OBSTACLES = {\n": 'OBSTACLES = {\n    "strict": Obstacle("far stricter than people", against=True),\n',
            },
        },
        given=("scores.csv", SCORES_OF_TWO),
        commands=(
            "labels import scores.csv --to people --task open_prompt --language cs",
            "run --data people --judge baseline/random --out results",
            "report --md --out results",
        ),
        printed=("far stricter than people", "it is far stricter than they are"),
    ),
    "an importer": Change(
        most=2,
        files={
            "exchange/scores/star_ratings.py": IMPORTER.lstrip(),
            "exchange/scores/formats.py": {'    "records": ': '    "stars": "star_ratings",\n    "records": '},
        },
        given=("stars.jsonl", '{"rated": "a", "text": "Dobrý den", "stars": 4}\n{"rated": "b", "text": "Ahoj", "stars": 2}\n'),
        commands=("import stars.jsonl --to folder --scale stars=1..5:best=5:kind=interval --task answer --language cs",),
        printed=("2 judgments",),
    ),
    "a section of the report": Change(
        most=2,
        files={
            "reports/sections/favourites.py": SECTION.lstrip(),
            "reports/sections/section_registry.py": {
                "from harness.reports.sections.replies import": "from harness.reports.sections.favourites import FAVOURITES\n"
                "from harness.reports.sections.replies import",
                "    JUSTIFICATION_LANGUAGE,\n)": "    JUSTIFICATION_LANGUAGE,\n    FAVOURITES,\n)",
            },
        },
        given=("unused", ""),
        commands=(RUN_LENGTH, "report --md --out results", "report --html page.html --out results"),
        printed=(
            "What is the favourite score of the judge?",  # in the terminal and in Markdown
            "Share of the favourite: from",
            "favourite score",
            "its share: the share of readable answers with this score.",
            "## Favourite scores",
        ),
    ),
    "a print figure": Change(
        most=2,
        files={
            "render/figures/text_length.py": FIGURE.lstrip(),
            "render/figures/__init__.py": {
                "from harness.render.pictured import": "from harness.render.figures.text_length import draw_text_length\n"
                "from harness.render.pictured import",
                '    "injection": (': '    "length": ("text_length", draw_text_length),\n    "injection": (',
            },
        },
        given=("unused", ""),
        commands=(RUN_LENGTH, "report --figures --out results"),
        printed=("text_length.svg", "text_length.pdf"),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_small(name: str, tmp_path: Path) -> None:
    change = CHANGES[name]
    copy = tmp_path / "copy" / "harness"
    shutil.copytree(ROOT / "harness", copy, ignore=shutil.ignore_patterns("__pycache__"))
    for content in CONTENT:
        (copy.parent / content).symlink_to(ROOT / content)
    for path, text in change.files.items():
        file = copy / path
        assert file.exists() is not isinstance(text, str), "a new file is whole, an old one is changed"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text if isinstance(text, str) else replaced(file.read_text("utf-8"), text), "utf-8")
    assert len([path for path in change.files if not path.startswith("../")]) + len(change.documents) <= change.most
    (tmp_path / change.given[0]).write_text(change.given[1], "utf-8")
    printed = ""
    for command in change.commands:
        done = subprocess.run(
            [sys.executable, "-c", RUN, str(copy.parent), *expanded(command, tmp_path)],
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "200"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        printed += done.stdout + done.stderr
    assert [words for words in change.absent if words in done.stdout] == []
    for page, words in change.documents.items():
        script = shutil.copy(ROOT / "docs" / f"make_{page.partition('/')[0]}.py", copy.parent)
        subprocess.run([sys.executable, script], env={**os.environ, "PYTHONPATH": str(copy.parent)}, check=True)
        made_again = (copy.parent / f"{page}.md").read_text("utf-8")
        assert words in made_again and words not in (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    assert [words for words in change.printed if words not in printed] == [], printed


def expanded(command: str, folder: Path) -> list[str]:
    """The words of a command, with the paths that a star stands for."""
    return [path for word in command.split() for path in ([*map(str, folder.glob(word))] if "*" in word else [word])]


def replaced(text: str, changes: dict[str, str]) -> str:
    for before, after in changes.items():
        assert text.count(before) == 1
        text = text.replace(before, after)
    return text
