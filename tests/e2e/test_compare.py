"""`harness compare` and `harness labels check` with the real command: what programs read, and every kind of bad input."""

from __future__ import annotations

import csv
import gzip
import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from harness.signature import ComparisonSignature

Cli = Callable[..., Any]
Row = dict[str, Any]

NAMES = {"language", "task", "metric", "judge", "variant", "n_ref", "n", "coverage", "failures", "vs_baseline", "undefined"}
NAMES |= {"distribution_labels", "distribution_judge", "distribution_by_agreement", "leniency", "kendall_tau", "spearman"}
NAMES |= {"pa", "pa_failed_wrong", "pa_pairwise", "human_pa", "judge_loo", "human_loo", "human_all_agree", "human_fleiss"}
NAMES |= {"human_alpha_nominal", "human_alpha_ordinal", "weighted_f1", "cohen_kappa", "quadratic_kappa", "ac1", "ac2"}
NAMES |= {"alpha_nominal", "alpha_ordinal"}
DATA = """id = "made"
annotators = "persistent"
[metrics.fluency]
kind = "ordinal"
classes = [0, 1, 2]
best = 2
"""
ITEMS = 24


class Folder:
    """A data folder of 24 Japanese texts, three annotators and one judge, to be spoiled."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(exist_ok=True)
        items = [
            {"item_id": f"i{n}", "language": "ja", "task": "chat", "system": f"s{n % 3}", "output": f"文章{n}。"} for n in range(ITEMS)
        ]
        self.write("items", items)
        self.labels = [
            {"item_id": f"i{n}", "annotator_id": f"a{who}", "metric": "fluency", "score": (n // 3 + (who == 2 and n % 4 == 0)) % 3}
            for n in range(ITEMS)
            for who in range(3)
        ]
        self.judged = [{"item_id": f"i{n}", "judge": "one", "metric": "fluency", "score": max(n // 3 % 3, 1)} for n in range(ITEMS)]
        self.save()
        (path / "data.toml").write_text(DATA, "utf-8")

    def says_asked(self, asked: str, more: str = "") -> None:
        """Let data.toml say which items the judge was asked about."""
        (self.path / "data.toml").write_text(f"{DATA}{more}\n[asked]\n{asked}\n", "utf-8")

    def write(self, name: str, rows: Iterable[Row]) -> None:
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (self.path / f"{name}.jsonl").write_text(text, "utf-8")

    def save(self) -> None:
        self.write("labels", self.labels)
        self.write("judgments", self.judged)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "made")


def cell_of(cli: Cli, *arguments: str | Path) -> Row:
    done = cli("compare", *arguments, "--json")
    assert done.code == 0, done.err
    [cell] = json.loads(done.out)["cells"]
    return dict(cell)


def test_the_object_for_programs(cli: Cli, folder: Folder) -> None:
    done = cli("compare", folder.path, "--json")
    found = json.loads(done.out)
    assert found["schema_version"] == 1 and found["signature"] and found["ci_method"].startswith("95%")
    [cell] = found["cells"]
    assert set(cell) >= NAMES
    assert (cell["language"], cell["task"], cell["metric"], cell["judge"], cell["variant"]) == ("ja", "chat", "fluency", "one", "default")
    assert cell["n_ref"] == cell["n"] == ITEMS and cell["coverage"] == 1 and cell["failures"] == {}
    assert cell["pa_ci"][0] <= cell["pa"] <= cell["pa_ci"][1]
    assert set(cell["vs_baseline"]) >= {"diff", "ci", "p", "q", "hypothesis"}
    assert cli("compare", folder.path, "--json").out == done.out


def test_tables_for_people(cli: Cli, folder: Folder) -> None:
    shown = cli("compare", folder.path, "--distributions", "--notes")
    assert (
        shown.code == 0 and "Japanese" in shown.out and "class shares by agreement" in shown.out and "signature  data:made@0" in shown.out
    )
    comma = cli("compare", folder.path, "--csv").out.splitlines()
    assert len(comma) == 2 and comma[0].startswith("language,task,metric,judge,variant,temperature,n_ref,n,")
    latex = cli("compare", folder.path, "--latex").out
    assert r"\toprule" in latex and r"\bottomrule" in latex


def test_a_figure(cli: Cli, folder: Folder, tmp_path: Path) -> None:
    assert cli("compare", folder.path, "--figure", tmp_path / "shares.svg", "--figure-kind", "shares").code == 0
    root = ElementTree.parse(tmp_path / "shares.svg").getroot()
    assert root.tag.endswith("svg") and "all agree" in "".join(root.itertext())
    other = cli("compare", folder.path, "--figure", tmp_path / "shares.gif")
    assert other.code == 2 and "shares.svg" in other.err
    assert cli("compare", folder.path, "--figure", tmp_path / "answer.svg").code == 0
    shown = "".join(ElementTree.parse(tmp_path / "answer.svg").getroot().itertext())
    assert "judge − people (points)" in shown and "one" in shown


def test_a_figure_of_two_annotators_has_the_shares_of_all_items(cli: Cli, folder: Folder, tmp_path: Path) -> None:
    folder.labels = [row for row in folder.labels if row["annotator_id"] != "a2"]
    folder.save()
    done = cli("compare", folder.path, "--figure", tmp_path / "shares.svg", "--figure-kind", "shares")
    assert done.code == 0, done.err
    shown = "".join(ElementTree.parse(tmp_path / "shares.svg").getroot().itertext())
    assert f"{ITEMS}\n" in shown and "all agree" not in shown


def test_systems(cli: Cli, folder: Folder) -> None:
    cell = cell_of(cli, folder.path, "--level", "system")
    assert set(cell) >= NAMES and cell["n"] == 3 and cell["pa"] is None and cell["undefined"]["pa"]


def test_a_run_is_compared_by_its_name_and_by_its_folder(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "results"
    assert cli("run", "--langs", "ja", "--judge", "baseline/length", "--out", out).code == 0
    [run] = (out / "runs").iterdir()
    by_name = cli("compare", run.name[:12], "--out", out, "--json")
    assert by_name.code == 0, by_name.err
    assert json.loads(by_name.out)["cells"] == json.loads(cli("compare", run, "--json").out)["cells"]
    assert json.loads(by_name.out)["cells"] == json.loads((run / "report.json").read_text("utf-8"))["cells"]
    notes = json.loads(by_name.out)["notes"]
    assert any("constructed" in note for note in notes) and any("No native reader has reviewed the texts in ja" in note for note in notes)
    assert all(note in cli("compare", run).out for note in notes)


def test_instructions_that_nobody_has_read_are_said_in_a_comparison_too(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "results"
    flags = ("--variant", "own-language", "--allow-unreviewed", "--limit", "1", "--judge", "baseline/majority")
    assert cli("run", "--langs", "cs", *flags, "--out", out).code == 0
    [run] = (out / "runs").iterdir()
    for form in ((), ("--latex",), ("--json",)):
        assert "No native reader has reviewed the own-language instructions in cs." in cli("compare", run, *form).out


# Bad input: each is named with its place and what would be right


def spoil(folder: Folder, row: int, table: str = "labels", **change: Any) -> None:
    rows = folder.labels if table == "labels" else folder.judged
    rows[row] = rows[row] | change
    folder.save()


def cut(folder: Folder) -> None:
    whole = gzip.compress((folder.path / "labels.jsonl").read_bytes())
    (folder.path / "labels.jsonl").unlink()
    (folder.path / "labels.jsonl.gz").write_bytes(whole[: len(whole) // 2])


def mixed(folder: Folder) -> None:
    path = folder.path / "labels.jsonl"
    path.write_bytes(path.read_bytes() + '{"item_id":"é"}\n'.encode("latin-1"))


@pytest.mark.parametrize("command", [("compare",), ("labels", "check")], ids=" ".join)
@pytest.mark.parametrize(
    ("break_it", "place", "words"),
    [
        (lambda f: spoil(f, 4, score=7), "labels.jsonl:5: ", "score 7 is outside the scale of 'fluency' (0, 1, 2)"),
        (lambda f: spoil(f, 4, score="2"), "labels.jsonl:5: ", "score '2' is outside the scale"),
        (lambda f: spoil(f, 4, score=True), "labels.jsonl:5: ", "not a label"),
        (lambda f: spoil(f, 4, metric="style"), "labels.jsonl:5: ", "metric 'style' has no scale; add [metrics.style] to data.toml"),
        (lambda f: spoil(f, 4, item_id="x"), "labels.jsonl:5: ", "a label of item 'x', which is not among the items"),
        (lambda f: spoil(f, 4, annotator_id="a0"), "labels.jsonl:5: ", "has already scored 'fluency' of 'i1' in line 4"),
        (mixed, "labels.jsonl:73: ", "not UTF-8"),
        (cut, "labels.jsonl.gz:", "the gzip file breaks off"),
        (lambda f: (f.path / "labels.jsonl").write_text(""), "made has no labels", "labels.jsonl should hold some"),
        (lambda f: (f.path / "labels.jsonl").unlink(), "made has no labels", "labels.jsonl should hold some"),
        (lambda f: (f.path / "data.toml").write_text("id = 3"), "data.toml:1: ", "Expected `str`, got `int`"),
        (lambda f: (f.path / "data.toml").write_text(DATA.replace("[0, 1, 2]", "[]")), "data.toml:", "at least two classes"),
    ],
    ids=[
        *("off the scale", "text", "boolean", "unknown metric", "unknown item", "twice", "mixed encodings", "cut gz"),
        *("empty", "absent", "data.toml", "no classes"),
    ],
)
def test_what_is_wrong_in_a_folder_is_named(
    cli: Cli, folder: Folder, command: tuple[str, ...], break_it: Callable[[Folder], object], place: str, words: str
) -> None:
    break_it(folder)
    done = cli(*command, folder.path)
    assert done.code in (2, 3) and not done.out
    assert place in done.err and words in done.err and "Traceback" not in done.err


@pytest.mark.parametrize(
    ("change", "place", "words"),
    [
        ({"item_id": "x"}, "judgments.jsonl:3: ", "a judgment of item 'x', which is not among the items"),
        ({"metric": "style"}, "judgments.jsonl:3: ", "metric 'style' has no scale"),
        ({"item_id": "i1"}, "judgments.jsonl:3: ", "'one' has already judged 'fluency' of 'i1' in line 2"),
        ({"failure": "tired"}, "judgments.jsonl:3: ", "Invalid enum value 'tired'"),
        ({"judge": 3}, "judgments.jsonl:3: ", "Expected `str`, got `int`"),
    ],
    ids=["item", "metric", "twice", "failure", "judge"],
)
def test_what_is_wrong_in_judgments_is_named(cli: Cli, folder: Folder, change: Row, place: str, words: str) -> None:
    spoil(folder, 2, "judgments", **change)
    done = cli("compare", folder.path)
    assert done.code == 3 and place in done.err and words in done.err


def test_a_byte_order_mark_is_no_fault(cli: Cli, folder: Folder) -> None:
    before = cell_of(cli, folder.path)
    path = folder.path / "labels.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert cell_of(cli, folder.path) == before


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--annotators", "x"), "write 3 for exactly three"),
        (("--annotators", "7"), "the largest number is 3"),
        (("--judge", "two"), "no judge 'two'"),
        (("--where", "language=jp"), "no items for 'jp'. That is a country code; Japanese is 'ja'."),
        (("--where", "language"), "must be a name, '=' and a value"),
        (("--by", "langage"), "Did you mean 'language'?"),
        (("--versus", "judge=two"), "no judge 'two'"),
        (("--versus", "metric=fluency"), "paired by judge, variant, temperature, source"),
        (("--card", "pariska"), "Did you mean 'pariksha'?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_flag_that_cannot_be_is_explained(cli: Cli, folder: Folder, flags: tuple[str, ...], words: str) -> None:
    done = cli("compare", folder.path, *flags)
    assert done.code == 2 and words in done.err and not done.out


def test_neither_folder_nor_run(cli: Cli, tmp_path: Path) -> None:
    done = cli("compare", "nothing", "--out", tmp_path)
    assert done.code == 2 and "nothing is not a data folder" in done.err


def test_labels_without_judgments(cli: Cli, folder: Folder) -> None:
    (folder.path / "judgments.jsonl").unlink()
    done = cli("compare", folder.path)
    assert done.code == 2 and f"harness labels check {folder.path}" in done.err and "harness run --data" in done.err


# Undefined is shown as undefined, with its reason


def test_one_annotator_only(cli: Cli, folder: Folder) -> None:
    folder.labels = [row for row in folder.labels if row["annotator_id"] == "a0"]
    folder.save()
    cell = cell_of(cli, folder.path)
    assert cell["n_ref"] == ITEMS and cell["pa"] is not None
    for name in ("human_pa", "human_loo", "human_fleiss", "human_all_agree", "judge_loo", "distribution_by_agreement"):
        assert cell[name] is None and cell["undefined"][name], name


def test_all_labels_equal(cli: Cli, folder: Folder) -> None:
    folder.labels = [row | {"score": 2} for row in folder.labels]
    folder.save()
    cell = cell_of(cli, folder.path)
    assert cell["human_pa"] == 1
    for name in ("human_fleiss", "human_alpha_nominal", "human_alpha_ordinal", "kendall_tau", "spearman"):
        assert cell[name] is None and cell["undefined"][name], name


def test_a_constant_judge(cli: Cli, folder: Folder) -> None:
    folder.judged = [row | {"score": 2} for row in folder.judged]
    folder.save()
    cell = cell_of(cli, folder.path)
    assert cell["cohen_kappa"] == 0 and cell["kendall_tau"] is None and cell["undefined"]["kendall_tau"] == "constant raters"
    assert cell["vs_baseline"]["diff"] <= 0


def test_no_overlap_of_judge_and_labels(cli: Cli, folder: Folder) -> None:
    folder.labels = [row for row in folder.labels if int(row["item_id"][1:]) < 12]
    folder.judged = [row for row in folder.judged if int(row["item_id"][1:]) >= 12]
    folder.save()
    cell = cell_of(cli, folder.path)
    assert (cell["n_ref"], cell["n"], cell["coverage"], cell["failures"]) == (0, 0, None, {})
    assert (cell["n_asked"], cell["not_asked"]) == (0, 12) and cell["undefined"]["coverage"] == "no reference"
    folder.says_asked('rule = "all"')
    cell = cell_of(cli, folder.path)
    assert (cell["n_ref"], cell["n"], cell["coverage"], cell["failures"]) == (12, 0, 0, {"missing": 12})
    assert cell["pa"] is None and cell["undefined"]["pa"] and cell["pa_failed_wrong"] == 0


# What was not asked is not wrong


NOT_ASKED = "Not asked, so neither right nor wrong (labelled items times metrics): one 4 of 24 in ja."


def test_what_a_judge_was_not_asked_is_not_wrong(cli: Cli, folder: Folder, tmp_path: Path) -> None:
    whole = cell_of(cli, folder.path)
    assert (whole["n_asked"], whole["not_asked"]) == (ITEMS, 0)
    folder.judged = folder.judged[:20]
    folder.save()
    cell = cell_of(cli, folder.path)
    assert (cell["n_ref"], cell["n"], cell["failures"], cell["n_asked"], cell["not_asked"]) == (20, 20, {}, 20, 4)
    assert cell["pa_failed_wrong"] == cell["pa"] and cell["vs_baseline"]["n"] == 20
    shown = cli("compare", folder.path, "--full", "--notes").out
    assert "20 of 24" in shown and NOT_ASKED in shown and "|asked:rows|" in shown
    comma = list(csv.DictReader(cli("compare", folder.path, "--csv").out.splitlines()))
    assert [(row["n_asked"], row["not_asked"]) for row in comma] == [("20", "4")]
    assert cli("compare", folder.path, "--html", tmp_path / "page.html").code == 0
    page = (tmp_path / "page.html").read_text("utf-8")
    assert NOT_ASKED in page and page.count(">20 of 24</td>") == 2 and "20 judgments compared" in page


def test_a_row_without_a_score_was_asked(cli: Cli, folder: Folder) -> None:
    folder.judged = [*folder.judged[:20], *({**row, "score": None} for row in folder.judged[20:])]
    folder.save()
    cell = cell_of(cli, folder.path)
    assert (cell["n_ref"], cell["n"], cell["failures"], cell["not_asked"]) == (ITEMS, 20, {"missing": 4}, 0)
    assert cell["pa_failed_wrong"] == pytest.approx(cell["pa"] * 20 / ITEMS)


@pytest.mark.parametrize(
    ("asked", "missing", "left"),
    [('rule = "rows"', 0, 4), ('rule = "any-row"', 2, 2), ('rule = "all"', 4, 0), ('rule = "column"\ncolumn = "shown_to"', 1, 3)],
    ids=["rows", "any-row", "all", "column"],
)
def test_a_data_folder_says_what_counts_as_asked(cli: Cli, folder: Folder, asked: str, missing: int, left: int) -> None:
    """Of four texts without a row on fluency two have one on another metric, and one is listed as shown to the judge."""
    folder.labels += [{"item_id": "i0", "annotator_id": f"a{who}", "metric": "warmth", "score": 1} for who in range(3)]
    folder.judged = [*folder.judged[:20], *({**row, "metric": "warmth"} for row in folder.judged[20:22])]
    folder.save()
    items = [json.loads(line) for line in (folder.path / "items.jsonl").read_text("utf-8").splitlines()]
    folder.write("items", (item | {"shown_to": ["one"] if item["item_id"] == "i23" else ["other"]} for item in items))
    folder.says_asked(asked, '\n[metrics.warmth]\nkind = "ordinal"\nclasses = [0, 1, 2]\nbest = 2\n')
    for where in ((), ("--where", "metric=fluency")):  # what is looked at moves nothing that was asked
        found = json.loads(cli("compare", folder.path, *where, "--json").out)
        [cell] = [cell for cell in found["cells"] if cell["metric"] == "fluency"]
        assert (cell["n_asked"], cell["not_asked"]) == (20 + missing, left)
        assert cell["failures"] == ({"missing": missing} if missing else {})
        said = asked.split('"')[1] if "column" not in asked else "column=shown_to"
        assert ComparisonSignature.parse(found["signature"]).asked == said


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ('rule = "some"', "Invalid enum value 'some' (key 'asked.rule')"),
        ('rule = "column"', 'rule = "column" and column = "NAME OF A KEY OF THE ITEMS" go together'),
        ('column = "system"', 'rule = "column" and column = "NAME OF A KEY OF THE ITEMS" go together'),
        ('rule = "column"\ncolumn = "seen"', "no item has the key 'seen', which [asked] names as its column"),
        ('rule = "column"\ncolumn = "output"', "'output' of item 'i0' should be true, false or a list of judges' names"),
    ],
    ids=["no rule", "no column", "no column rule", "a column that is not there", "a column of texts"],
)
def test_a_rule_that_is_none_is_said_with_its_place(cli: Cli, folder: Folder, asked: str, words: str) -> None:
    folder.says_asked(asked)
    done = cli("compare", folder.path)
    assert done.code == 3 and words in done.err
    assert re.search(r"(data\.toml|items\.jsonl):\d+: ", done.err)


def test_an_unfinished_run_says_which_calls_are_not_counted(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "results"
    assert cli("run", "--judge", "baseline/length", "--langs", "cs", "--max-calls", "5", "--out", out).code != 0
    [run] = (path for path in (out / "runs").iterdir() if path.is_dir())
    found = json.loads(cli("compare", run, "--json").out)
    assert "Calls without an answer, not counted: 52 of baseline/length." in found["notes"]
    assert sum(cell["n_ref"] for cell in found["cells"]) <= 5


def test_one_constant_a_language_gains_nothing_where_languages_are_pooled(cli: Cli, tmp_path: Path) -> None:
    folder = Folder(tmp_path / "two")
    folder.write("items", [{"item_id": f"i{n}", "language": ("ja", "cs")[n % 2], "task": "chat", "output": "x"} for n in range(ITEMS)])
    folder.labels = [row | {"score": int(row["item_id"][1:]) % 2} for row in folder.labels]
    folder.judged = [row | {"score": int(row["item_id"][1:]) % 2} for row in folder.judged]
    folder.save()
    apart = json.loads(cli("compare", folder.path, "--json").out)["cells"]
    together = cell_of(cli, folder.path, "--by", "metric")
    assert [cell["vs_baseline"]["diff"] for cell in (*apart, together)] == [0, 0, 0]


def test_positional_annotators_are_not_followed(cli: Cli, folder: Folder) -> None:
    (folder.path / "data.toml").write_text(DATA.replace("persistent", "positional"), "utf-8")
    [cell] = json.loads(cli("labels", "check", folder.path, "--json").out)["cells"]
    assert cell["human_fleiss"] is not None
    assert cell["pairs"] is None and "positional" in cell["undefined"]["pairs"]


def test_the_object_of_a_label_check(cli: Cli, folder: Folder) -> None:
    found = json.loads(cli("labels", "check", folder.path, "--json").out)
    assert found["schema_version"] == 1
    [cell] = found["cells"]
    assert cell["labelled"] == cell["items"] == ITEMS and cell["labels"] == 3 * ITEMS and cell["raters"] == {"3": ITEMS}
    assert [(pair["a"], pair["b"], pair["n"]) for pair in cell["pairs"]] == [("a0", "a1", ITEMS), ("a0", "a2", ITEMS), ("a1", "a2", ITEMS)]
    assert cell["pairs"][0]["cohen_kappa"] == 1
    shown = cli("labels", "check", folder.path)
    assert shown.code == 0 and shown.out.startswith("Two people give the same score to ") and "Japanese" in shown.out
