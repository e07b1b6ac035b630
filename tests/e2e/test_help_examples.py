"""The examples in the helps of commands run: on bundled content, on small inputs that are made up here, with an endpoint on this machine.

`CANNOT` says which examples need what no test has.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest

from harness.cli import main
from harness.cli.command import examples_of
from harness.cli.commands import leaves
from harness.row_files import to_csv
from tests.conftest import write_rows
from tests.e2e.conftest import Answer, Endpoint, Request

pytestmark = pytest.mark.slow

EXAMPLES = [example for name in leaves() for example in examples_of(name)]
FETCHED, KEY = "it needs a set that was fetched from its authors", "it needs an age key and labels that are kept elsewhere"
CANNOT = {
    "harness data get": FETCHED,
    "harness data check": FETCHED,
    "harness data remove": FETCHED,
    "harness data path": FETCHED,
    "harness board record": FETCHED,
    "harness board seal": KEY,
    "harness board open": KEY,
    "harness board rotate": KEY,
    "harness board verify": "it needs a submission of this judge",
    "harness board build": "it writes into the checkout",
    "harness board check": "it reads every submission, as a workflow does, or needs the branch of a remote",
    "harness submit": "it needs a run of a whole board",
    "harness batch collect": "it needs batches at a provider",
    "harness batch forget": "it needs batches at a provider",
    "harness start ratings.xlsx": "it asks on a terminal",
    "harness labels serve": "it serves until Ctrl-C",
    "harness study self-preference": "it needs comparisons of judges' own texts",
    "harness labels reviews": "it needs answers of people to a judge's reasons",
    "harness import log.eval": "it needs a log that Inspect wrote",
}
"""Examples by how they begin, and why none of them runs here."""
RUN = [example for example in EXAMPLES if not example.startswith(tuple(CANNOT))]
SAYS_NO = {"harness gate": (1, 7), "harness watch check": (1, 7), "harness certify results/today": (1, 7), "harness check --content": (1,)}
"""Other exit codes than 0 that are an answer too, by how examples begin."""
GONE = {
    "harness start ratings.csv": ("data/ratings",),
    "harness labels import": ("data/ratings",),
    "harness labels page": ("pages",),
    "harness import results.json": ("data/judged",),
    "harness new gate": ("gate.toml",),
    "harness watch init": ("watch",),
    "harness pairs": ("pairs",),
    "harness generate": ("made",),
}
"""What has to be away before an example, by how examples begin."""
CLASSES = 3


def write_folder(
    folder: Path, task: str, metric: str, languages: tuple[str, ...], judges: dict[str, float], texts: int, unlabelled: int = 0
) -> None:
    """Write a data folder with two systems, three people a text who mostly agree, and judges that are right so often."""
    rng = np.random.default_rng(1)
    items, labels, judgments = [], [], []
    for tag in languages:
        for number in range(texts):
            name, truth = f"{folder.name}-{tag}{number}", int(rng.integers(CLASSES))
            place = {"language": tag, "task": task, "group": f"{tag}-{number // 2}", "system": ("gpt-4", "human")[number % 2]}
            asked = {"passage" if task == "summarize" else "prompt": f"Text {number // 2} of {folder.name} in {tag}"}
            items.append({"item_id": name, **place, **asked, "output": f"Answer {number} of quality {truth}." + " More." * (number % 2)})
            for who in range(3 if number >= unlabelled else 0):
                said = truth if rng.random() < 0.96 else int(rng.integers(CLASSES))
                labels.append({"item_id": name, "annotator_id": f"{tag}-{who}", "metric": metric, "score": said, "source": "native"})
            for judge, right in judges.items():
                sure = float(rng.uniform(0.5, 1.0))
                score = truth if rng.random() < right else int(rng.integers(CLASSES))
                probs = {str(c): sure if c == score else (1 - sure) / (CLASSES - 1) for c in range(CLASSES)}
                judgments.append({"item_id": name, "judge": judge, "metric": metric, "score": score, "probs": probs})
    folder.mkdir(parents=True)
    for table, rows in (("items", items), ("labels", labels), ("judgments", judgments)):
        write_rows(folder / f"{table}.jsonl", rows)
    scale = f'[metrics.{metric}]\nkind = "ordinal"\nclasses = {list(range(CLASSES))}\nbest = {CLASSES - 1}\n'
    (folder / "data.toml").write_text(f'id = "{folder.name}"\nannotators = "persistent"\nsampling = "random"\n{scale}', "utf-8")


@pytest.fixture(scope="module")
def judge() -> Iterator[Endpoint]:
    """An endpoint that nearly always reads the quality of a text in the text."""
    served = Endpoint()
    served.script = reading(served)
    yield served
    served.close()


def reading(served: Endpoint) -> Callable[[Request], Answer]:
    def script(request: Request) -> Answer:
        found = re.search(r"of quality (\d)", json.dumps(request.body))
        if found is None or int(request.key, 16) % 25 == 0:
            return served.good(request)
        return served.saying({"justification": "Because.", "score": int(found[1])}, model=request.body["model"])

    return script


def fill(folder: Path) -> None:
    """Make what the examples name: data, tables, runs, a certificate, a watch, pages with reviews, pairs."""
    write_folder(folder / "pariksha", "chat", "tone", ("hi", "ta"), {"gpt-4o": 0.97}, 200, unlabelled=100)
    write_folder(folder / "data" / "judged", "chat", "tone", ("hi",), {"gpt-4o": 0.97, "gpt-4o-mini": 0.9}, 200)
    write_folder(folder / "data" / "later", "open_prompt", "task_quality", ("ja", "cs"), {}, 50, unlabelled=50)
    write_folder(folder / "made", "summarize", "task_quality", ("ja",), {}, 20)
    write_folder(folder / "data" / "ratings", "open_prompt", "task_quality", ("ja", "cs"), {"acme/one": 0.9}, 120, unlabelled=20)
    texts = [{"item_id": f"t{n}", "prompt": f"Question {n}", "output": f"Answer {n}."} for n in range(60)]
    said = {who: [(n + (n + place) % 9 // 8) % 3 for n in range(60)] for place, who in enumerate(("ann", "bob", "gpt-4o"))}
    about = {"language": "en", "task": "open_prompt", "metric": "task_quality"}
    rows = [{**text, **about, "annotator_id": who, "score": said[who][n]} for who in said for n, text in enumerate(texts)]
    for name, table in (("ratings.xlsx", rows[:120]), ("scores.xlsx", rows)):
        book = openpyxl.Workbook()
        for row in (list(rows[0]), *(list(row.values()) for row in table)):
            book.active.append(row)
        book.save(folder / name)
    wide = [{**text, **{who: scores[n] for who, scores in said.items()}} for n, text in enumerate(texts)]
    rated = [{**text, "annotator_id": "ann", "rating": n % 5 + 1} for n, text in enumerate(texts)]
    for name, table in (("scores.csv", wide), ("ratings.csv", rated)):
        (folder / name).write_text(to_csv(table, list(table[0])), "utf-8")
    graded = {
        "assertion": {"type": "llm-rubric", "metric": "task_quality", "provider": "openai:chat:m"},
        "pass": True,
        "score": 1,
        "reason": "Yes.",
    }
    result = {"gradingResult": {"componentResults": [graded]}, "promptIdx": 0, "testIdx": 0, "response": {"output": "Text."}}
    results = {"version": 3, "results": [{**result, "vars": {"item_id": "i0", "language": "cs"}}]}
    (folder / "results.json").write_text(json.dumps({"results": results}), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run("run --data data/ratings --judge openai/gpt-4o --yes")
        [judged] = (folder / "results" / "runs").iterdir()
        run("run --data data/later --judge openai/gpt-4o --metrics task_quality --unlabelled --yes")
        [later] = set((folder / "results" / "runs").iterdir()) - {judged}
        for name in ("first", "last", "anchors", "results/runs/first"):
            (folder / name).symlink_to(judged)
        for name in ("today", "results/today"):
            (folder / name).symlink_to(later)
        for line in PREPARED:
            run(line)
        for name in ("here", "there"):
            shutil.copytree("results", name, symlinks=True)
        Path("mine/tasks").mkdir(parents=True)


def run(line: str) -> None:
    assert main(shlex.split(line)) == 0, line


PREPARED = (
    "certify first --to certificate.json",
    "new gate first",
    "watch init watch first --certificate certificate.json --yes --date 2026-05-29",
    "watch add watch today --date 2026-05-30",
    "labels plan data/ratings --to next.jsonl --lang ja --budget 15",
    "labels page data/ratings --lang ja --out pages --annotators 3",
    "pairs made --out pairs --control longer",
)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory, judge: Endpoint) -> Path:
    folder = tmp_path_factory.mktemp("workspace")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", judge.url)
        patch.setenv("OPENAI_API_KEY", "k")
        fill(folder)
    return folder


@pytest.mark.parametrize("example", RUN)
def test_an_example_of_a_help_runs(
    example: str, workspace: Path, judge: Endpoint, cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    shutil.copytree(workspace, here, symlinks=True)
    monkeypatch.chdir(here)
    monkeypatch.setenv("OPENAI_BASE_URL", judge.url)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    for path in next((paths for words, paths in GONE.items() if example.startswith(words)), ()):
        (shutil.rmtree if Path(path).is_dir() else os.unlink)(path)
    done = cli(*shlex.split(example)[1:])
    allowed = next((codes for words, codes in SAYS_NO.items() if example.startswith(words)), ())
    assert done.code in (0, *allowed), done.err
    assert done.out or done.err


def test_every_reason_not_to_run_is_of_an_example() -> None:
    for words in (*CANNOT, *SAYS_NO, *GONE):
        assert any(example.startswith(words) for example in EXAMPLES), words
