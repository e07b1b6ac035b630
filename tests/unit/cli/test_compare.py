"""`harness compare` and `harness labels check` from flags to ink, on a data folder of twelve texts."""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from harness.cli import parse
from harness.cli.command import fields_of, value_of
from harness.cli.compare import repeating_command

TOML = 'id = "mine"\nannotators = "persistent"\n[metrics.tone]\nkind = "ordinal"\nclasses = [0, 1, 2]\nbest = 2\n'
Cli = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twelve texts, three annotators, two judges."""
    names = [f"i{number}" for number in range(12)]
    rows: dict[str, list[dict[str, Any]]] = {
        "items": [{"item_id": n, "language": "cs", "task": "t", "output": f"text {n}", "system": "st"[i % 2]} for i, n in enumerate(names)],
        "labels": [
            {"item_id": n, "annotator_id": who, "metric": "tone", "score": (i + (who == "z" and i % 4 == 0)) % 3}
            for i, n in enumerate(names)
            for who in "xyz"
        ],
        "judgments": [
            {"item_id": n, "judge": j, "metric": "tone", "score": i % 3 if j == "good" else 2}
            for i, n in enumerate(names)
            for j in ("good", "flat")
        ],
    }
    for name, table in rows.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table))
    (tmp_path / "data.toml").write_text(TOML)
    return tmp_path


def test_json_has_every_cell_unrounded(cli: Cli, folder: Path) -> None:
    result = cli("compare", folder, "--json")
    found = json.loads(result.out)
    assert (result.code, result.err) == (0, "")
    assert [(cell["judge"], cell["pa"], cell["n_ref"]) for cell in found["cells"]] == [("flat", 1 / 3, 12), ("good", 1.0, 12)]


@pytest.mark.parametrize("command", ["compare", "probabilities"])
def test_what_is_no_table_is_not_kept_as_a_folder(cli: Cli, folder: Path, command: str) -> None:
    result = cli(command, folder, "--to", folder / "copy")
    assert result.code == 2 and "is no table; leave --to out" in result.err and not (folder / "copy").exists()


def test_a_screen_of_verdicts_computes_no_cell(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each other form of the output has the numbers of all cells."""

    class Computed(Exception):
        pass

    def refuse(*given: Any) -> Any:
        raise Computed

    screen = cli("compare", folder)
    monkeypatch.setattr("harness.measure.compare.make_cells", refuse)
    assert cli("compare", folder) == screen and screen.code == 0
    for flags in (["--full"], ["--distributions"], ["--json"], ["--csv"], ["--md"], ["--latex"], ["--html", folder / "p.html"]):
        with pytest.raises(Computed):
            cli("compare", folder, *flags)


def test_a_wide_grid_has_the_intervals_that_are_shown_and_full_has_all(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = cli("compare", folder, "--json").out
    monkeypatch.setattr("harness.measure.cells.MANY_CELLS", 1)
    wide, full = (cli("compare", folder, "--json", *flags).out for flags in ((), ("--full",)))
    assert full == small
    for cell, every in zip(json.loads(wide)["cells"], json.loads(small)["cells"], strict=True):
        left_out = every.keys() - cell.keys()
        assert {"ac1_ci", "sd_judge_ci"} < left_out and all(name.endswith("_ci") for name in left_out)
        assert {"pa_ci", "pa_failed_wrong_ci", "cohen_kappa_ci", "kendall_tau_ci", "loo_gap_ci"} < cell.keys()
        assert cell["pa_ci"] == every["pa_ci"] and cell["undefined"].items() <= every["undefined"].items()
        assert all(cell[name] == every[name] for name in cell.keys() - {"undefined"} if not name.endswith("_ci"))


def test_the_same_command_prints_the_same_bytes(cli: Cli, folder: Path) -> None:
    assert cli("compare", folder, "--json").out == cli("compare", folder, "--json").out


def test_csv_has_the_same_numbers(cli: Cli, folder: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(cli("compare", folder, "--csv", "--versus", "judge=flat").out, newline="")))
    assert [(row["judge"], float(row["pa"])) for row in rows] == [("flat", 1 / 3), ("good", 1.0)]
    assert [(row["versus"], row["versus_diff"][:6]) for row in rows] == [("", ""), ("flat", "0.6666")]


def test_ink_latex_and_a_figure(cli: Cli, folder: Path) -> None:
    shown = cli("compare", folder, "--distributions", "--figure", folder / "figure.svg")
    assert "Czech" in shown.out and "class shares by agreement" in shown.out and shown.code == 0
    assert ElementTree.parse(folder / "figure.svg").getroot().tag.endswith("svg")
    assert cli("compare", folder, "--latex").out.startswith("% data:mine@0+")


@pytest.mark.parametrize(
    ("flags", "cells"),
    [
        (("--judge", "good"), 1),
        (("--where", "system=s,t"), 2),
        (("--where", "system=s", "--where", "system=t"), 2),
        (("--by", "metric"), 1),
        (("--by", "metric,system"), 2),
        (("--annotators", "3"), 2),
        (("--level", "system"), 2),
        (("--majority", "median", "--seed", "4"), 2),
    ],
    ids=str,
)
def test_flags_reach_the_comparison(cli: Cli, folder: Path, flags: tuple[str, ...], cells: int) -> None:
    assert len(json.loads(cli("compare", folder, "--json", *flags).out)["cells"]) == cells


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--annotators", "two"), "'two' is not a number of annotators"),
        (("--annotators", "4"), "no item has exactly 4 annotators"),
        (("--where", "system"), "'system' must be a name, '=' and a value, such as --where language=ja,cs"),
        (("--where", "system="), "'system=' must be a name"),
        (("--where", "=s"), "'=s' must be a name"),
        (("--where", "system=u"), "no system 'u'."),
        (("--versus", "flat"), "'flat' must be a name, '=' and a value, such as --versus judge=NAME"),
        (("--versus", "judge=flap"), "no judge 'flap'. Did you mean 'flat'?"),
        (("--judge", "nobody"), "no judge 'nobody'"),
        (("--by", "colour,metric"), "no item has 'colour'"),
        (("--card", "parikscha"), "no dataset card 'parikscha'. Did you mean 'pariksha'?"),
        (("--figure", "figure.gif"), "name it figure.svg"),
    ],
    ids=str,
)
def test_what_cannot_be_is_one_sentence(cli: Cli, folder: Path, flags: tuple[str, ...], words: str) -> None:
    result = cli("compare", folder, *flags)
    assert (result.code, result.out) == (2, "") and words in result.err and "Traceback" not in result.err


def test_a_label_check_needs_no_judgments(cli: Cli, folder: Path) -> None:
    (folder / "judgments.jsonl").unlink()
    found = json.loads(cli("labels", "check", folder, "--json").out)
    [cell] = found["cells"]
    assert (cell["labels"], cell["raters"], [pair["n"] for pair in cell["pairs"]]) == (36, {"3": 12}, [12, 12, 12])
    assert "Czech" in cli("labels", "check", folder).out
    result = cli("compare", folder)
    assert result.code == 2 and f"has no judgments to compare. Ask a judge: harness run --data {folder} --judge" in result.err


def test_the_name_of_published_labels_is_no_run(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pariksha").mkdir()
    (tmp_path / "pariksha" / "items.jsonl").write_text("", "utf-8")
    monkeypatch.setenv("HARNESS_DATA_HOME", str(tmp_path))
    refused = cli("report", "pariksha", "--out", tmp_path / "results")
    assert refused.code == 2 and "'harness compare pariksha' compares the judgments" in refused.err, refused.err


def test_the_command_on_a_page_repeats_all_that_changes_a_number() -> None:
    words = [
        "compare",
        "here/made",
        "--out",
        "elsewhere",
        "--set",
        "margin=0.05",
        "--set",
        "items=50",
        "--langs",
        "ja,cs",
        "--judge",
        "a/b",
    ]
    words += ["--majority", "median", "--where", "metric=tone", "--by", "language,judge", "--human", "ann,bob", "--seed", "3"]
    [asked] = parse([*words, "--html", "page.html", "--figure-width", "single", "--all", "--to", "kept"])
    shown = shlex.split(repeating_command(asked))
    assert shown[:3] == ["harness", "compare", "made"]
    assert not {"--html", "--figure-width", "--all", "--to"} & set(shown)
    [repeated] = parse(shown[1:])
    for field in fields_of(type(asked)):
        if field.recorded and not field.positional:
            assert value_of(repeated, field.name) == value_of(asked, field.name), field.name
