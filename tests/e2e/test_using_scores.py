"""`harness correct`, `accept` and `certify` with the real command: what programs read, what people see, and every kind of bad input."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harness
from tests.conftest import write_rows
from tests.judged_folder import judged_folder
from tests.unit.correction.languages_folder import languages_folder

Cli = Callable[..., Any]
NUMBER = {"language", "metric", "judge", "variant", "temperature", "top_p", "system", "quantity", "share_of", "versus", "paired"}
NUMBER |= {"n", "unlabelled", "groups", "judge_alone", "labels_alone", "corrected", "method", "design", "lam", "rho"}
NUMBER |= {"effective_labels", "labels_saved"}
THRESHOLD = {"language", "metric", "judge", "variant", "temperature", "top_p", "confidence", "threshold", "coverage", "agreement"}
THRESHOLD |= {"agreement_lower", "n", "groups", "left_out", "left_out_share", "n_start", "reason"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return judged_folder(tmp_path / "made", prompts=200, probabilities=True)


def read(cli: Cli, *arguments: str | Path) -> Any:
    done = cli(*arguments, "--json")
    assert (done.code, done.err) == (0, ""), done.err
    return json.loads(done.out)


def test_corrected_numbers_for_programs(cli: Cli, folder: Path) -> None:
    found = read(cli, "correct", folder, "--versus", "system=a")
    assert found.keys() == {"schema_version", "signature", "sampling", "prevalence_shift", "notes", "numbers", "unread", "copied"}
    assert found["sampling"] == "random" and found["signature"].endswith("|use:correct shift=no share_freedom=0.5+2")
    assert all(number.keys() == NUMBER for number in found["numbers"])
    tone = [number for number in found["numbers"] if number["metric"] == "tone"]
    assert [(number["system"], number["versus"]) for number in tone] == [("a", None), ("b", None), ("b", ["system", "a"])]
    for number in tone:
        lo, hi = number["corrected"]["ci"]
        wide_lo, wide_hi = number["labels_alone"]["ci"]
        assert hi - lo < wide_hi - wide_lo and number["labels_saved"] > 0
    assert cli("correct", folder, "--versus", "system=a", "--json").out == cli("correct", folder, "--versus", "system=a", "--json").out


def test_corrected_numbers_for_people(cli: Cli, folder: Path, tmp_path: Path) -> None:
    shown = cli("correct", folder, "--versus", "system=a", "--figure", tmp_path / "three.svg")
    assert shown.code == 0
    for words in (
        "Japanese",
        "judge alone [95 %]",
        "labels alone [95 %]",
        "corrected [95 %]",
        "labels saved",
        "b − a",
        "its bias is unknown",
    ):
        assert words in shown.out
    texts = "".join(ElementTree.parse(tmp_path / "three.svg").getroot().itertext())
    assert all(words in texts for words in ("judge alone (bias unknown)", "labels alone", "corrected", "ja, tone, model/one"))
    assert "%" in cli("correct", folder, "--class", "2").out
    other = cli("correct", folder, "--figure", tmp_path / "three.gif")
    assert other.code == 2 and "three.svg" in other.err


def test_acceptance_for_programs_and_people(cli: Cli, folder: Path) -> None:
    found = read(cli, "accept", folder)
    assert found["signature"].endswith(" variance=cr2 correlation=0.1 equal_groups=20"), "what nobody can choose but moves a threshold"
    assert found.keys() == {"schema_version", "signature", "alpha", "delta", "notes", "thresholds", "unread", "copied"}
    assert all(threshold.keys() == THRESHOLD for threshold in found["thresholds"])
    [tone] = [threshold for threshold in found["thresholds"] if threshold["metric"] == "tone"]
    assert tone["confidence"] == "probability" and tone["agreement_lower"] >= 0.9 and 0 < tone["coverage"] <= 1
    shown = cli("accept", folder)
    assert shown.code == 0 and "accept from" in shown.out and "divide --delta by L" in " ".join(shown.out.split())


def test_nothing_certified_is_an_answer(cli: Cli, folder: Path) -> None:
    shown = cli("accept", folder, "--alpha-risk", "0.01")
    assert (shown.code, shown.err) == (0, "") and shown.out.count("Why none: ") == 1 and "accept from" not in shown.out, shown.out
    found = read(cli, "accept", folder, "--alpha-risk", "0.01")
    assert all(threshold["threshold"] is None and threshold["reason"] for threshold in found["thresholds"])


def test_a_certificate_from_the_file_to_python_and_back(cli: Cli, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    made = cli("certify", folder, "--to", path)
    assert made.code == 0 and "means are corrected by" in made.out and "no prompt, no rubric and no settings of the judge" in made.out
    assert path.read_text("utf-8") == cli("certify", folder, "--to", path, "--json").out
    found = harness.certificate.load(path).apply([0, 1, 2] * 50, language="ja", metric="tone", judge="model/one")
    assert found.interval[0] < found.estimate < found.interval[1]
    [tone] = [cell for cell in harness.certificate.load(path).cells if cell.metric == "tone"]
    assert tone.verdict == "use corrected" and tone.sentence.startswith("Use model/one for tone in Japanese with corrected means only: ")
    for printed in (made.out, cli("compare", folder).out):
        assert tone.sentence.removesuffix(".") in " ".join(printed.split()), "a comparison says what the certificate will say"
    assert read(cli, "certify", "--check", path, folder)["stale"] == []
    fresh = cli("certify", "--check", path, folder)
    assert fresh.code == 0 and "still holds: all of it was made again" in fresh.out
    alone = cli("certify", "--check", path)
    assert alone.code == 7 and "still holds: nothing was made again" in " ".join(alone.out.split())


@pytest.mark.slow
def test_the_table_of_borrowed_strength_says_what_is_missing(folder: Path) -> None:
    script = Path(harness.__file__).parents[1] / "docs" / "make_withheld.py"
    for words, said in ((("--metrics", "nothing"), "no metric 'nothing'"), ((), "in 5 languages")):
        done = subprocess.run([sys.executable, script, folder, *words], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (2, "") and said in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_what_all_cells_lack_for_one_reason_is_said_once(cli: Cli, tmp_path: Path) -> None:
    made = cli("certify", judged_folder(tmp_path / "chosen", sampling="convenience"), "--to", tmp_path / "certificate.json")
    assert made.out.count("not declared to be a random sample") == 1
    assert "no corrected means, no answer is accepted without a person, no map (the labelled texts are not declared" in " ".join(
        made.out.split()
    )


def test_the_reasons_of_many_systems_are_read_as_sentences(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "170")
    folder = languages_folder(tmp_path / "d", dict.fromkeys(("cs", "de", "es", "fr", "ja"), 1.0), groups=40, labelled=0.6)
    items = [json.loads(line) for line in (folder / "items.jsonl").read_text("utf-8").splitlines()]
    names = [f"an-organisation-{number}/a-model-with-a-long-name-{number}-instruct" for number in range(4)]
    write_rows(folder / "items.jsonl", [item | {"system": names[int(item["group"].split("-")[1]) % 4]} for item in items])
    lines = cli("correct", folder, "--borrow", "languages").out.splitlines()
    [heading, *_] = [line for line in lines if "why not" in line]
    column = heading.index("why not")
    told = [line[column:] for line in lines if line.rstrip().endswith("30")]
    assert told and all(len(text.split()) > 3 for text in told), "labelled texts, and 30 (are needed)"


def test_a_stale_certificate_says_why_and_exits_with_1(cli: Cli, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    assert cli("certify", folder, "--to", path).code == 0
    other = judged_folder(tmp_path / "other", judge="model/two", seed=1)
    stale = cli("certify", "--check", path, other)
    assert stale.code == 1 and "the judge 'model/one' is not in other, which has model/two" in stale.out
    assert "items or labels have changed" in stale.out
    answer = cli("certify", "--check", path, other, "--json")
    assert answer.code == 1 and len(json.loads(answer.out)["stale"]) == 2


def test_a_run_is_certified_with_its_prompt_rubrics_and_settings(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "results"
    assert cli("run", "--langs", "ja", "--judge", "baseline/length", "--out", out).code == 0
    [run] = (out / "runs").iterdir()
    path = tmp_path / "certificate.json"
    made = cli("certify", run, "--to", path, "--judge", "baseline/length")
    assert made.code == 1 and "It allows nothing" in made.out, made.err  # it is written all the same
    held = harness.certificate.load(path)
    assert held.prompt and all(cell.rubric for cell in held.cells) and held.judge.settings is not None and held.unchecked == ()
    assert {cell.verdict for cell in held.cells} == {"no verdict"}
    checked = cli("certify", "--check", path, run)
    assert checked.code == 1 and "allows nothing, as before: all of it was made again" in checked.out
    cell = held.cells[0]
    with pytest.raises(harness.HarnessError, match="'no verdict'"):
        held.apply([0], language=cell.language, metric=cell.metric, judge="baseline/length", prompt=held.prompt, rubric=cell.rubric)
    text = path.read_text("utf-8").replace(held.prompt, "0" * 16)
    path.write_text(text, "utf-8")
    assert "the prompts have changed" in cli("certify", "--check", path, run).out


def test_a_run_can_judge_items_without_a_label_and_is_corrected(cli: Cli, data_folder: Callable[..., Path], tmp_path: Path) -> None:
    folder, out = data_folder(*(f"Text číslo {number}." for number in range(80))), tmp_path / "results"
    labels = (folder / "labels.jsonl").read_text("utf-8").splitlines(keepends=True)
    kept = [line.replace('"score": 1', f'"score": {number % 3}') for number, line in enumerate(labels[::2])]
    (folder / "labels.jsonl").write_text("".join(kept), "utf-8")
    toml = 'id = "own"\nsampling = "random"\n[metrics.task_quality]\nkind = "ordinal"\nclasses = [0, 1, 2]\nbest = 2\n'
    (folder / "data.toml").write_text(toml, "utf-8")
    run = ("run", "--data", folder, "--judge", "baseline/random", "--out", out, "--json")
    assert cli(*run).code == 0 and cli(*run, "--unlabelled").code == 0
    reports = {path.name: read(cli, "correct", path, "--by", "task") for path in (out / "runs").iterdir()}
    sizes = sorted((number["n"], number["unlabelled"]) for report in reports.values() for number in report["numbers"])
    assert sizes == [(40, 0), (40, 40)]
    [asked] = [path for path in (out / "runs").iterdir() if reports[path.name]["numbers"][0]["unlabelled"]]
    assert reports[asked.name]["numbers"][0]["corrected"]["value"] is not None
    assert cli("report", asked.name, "--out", out).code == 0
    refused = cli("run", "--judge", "baseline/random", "--unlabelled", "--out", out)
    assert refused.code == 2 and "--unlabelled is for a data folder" in refused.err
    (folder / "labels.jsonl").write_text("".join(kept[-1:]), "utf-8")
    none = cli(*run, "--unlabelled", "--limit", "1")  # none of the chosen items has a label: it is asked, and nothing is concluded
    assert none.code == 0 and json.loads(none.out)["verdicts"] == []


@pytest.mark.parametrize("command", ["correct", "accept"])
@pytest.mark.parametrize(("sampling", "stated"), [("convenience", 'says sampling = "convenience"'), ("", "does not say how")])
def test_a_sample_that_is_not_random_is_refused_with_what_to_do(cli: Cli, tmp_path: Path, command: str, sampling: str, stated: str) -> None:
    done = cli(command, judged_folder(tmp_path / "made", sampling=sampling))
    assert (done.code, done.out) == (2, "") and "Traceback" not in done.err
    assert stated in done.err and 'write the line sampling = "random" at the top of data.toml' in done.err


def test_few_labels_give_the_labels_alone_with_the_reason(cli: Cli, tmp_path: Path) -> None:
    small = judged_folder(tmp_path / "small", prompts=12)
    for number in read(cli, "correct", small)["numbers"]:
        assert number["corrected"]["value"] is None and "30 are needed: labels alone" in number["corrected"]["reason"]
    grouped = judged_folder(tmp_path / "grouped", fields=lambda number, system, rng: {"group": f"g{number % 5}"})
    for number in read(cli, "correct", grouped)["numbers"]:
        assert "of 5 independent groups, and 20 are needed: labels alone" in number["corrected"]["reason"]
    path = tmp_path / "certificate.json"
    assert cli("certify", small, "--to", path).code == 1
    with pytest.raises(harness.HarnessError, match="'too few labels'"):
        harness.certificate.load(path).apply([0, 1], language="ja", metric="tone", judge="model/one")


def test_one_annotator_is_enough_to_correct_and_a_bar_decides_on_two_classes_alone(cli: Cli, tmp_path: Path) -> None:
    single = judged_folder(tmp_path / "single", annotators=1)
    assert all(number["corrected"]["value"] is not None for number in read(cli, "correct", single)["numbers"])
    path = tmp_path / "certificate.json"
    assert cli("certify", single, "--to", path).code == 0
    verdicts = {cell.metric: (cell.verdict, cell.basis) for cell in harness.certificate.load(path).cells}
    assert verdicts == {"errors": ("use corrected", "bar"), "tone": ("too few labels", "people")}


def test_judges_that_do_not_vary_or_do_not_tell_classes_apart(cli: Cli, tmp_path: Path) -> None:
    flat = judged_folder(tmp_path / "flat", noise=1.1)
    errors = [number for number in read(cli, "correct", flat)["numbers"] if number["metric"] == "errors"]
    assert all(number["corrected"]["reason"].startswith("the judge does not vary") for number in errors)
    shifted = [number for number in read(cli, "correct", flat, "--prevalence-shift")["numbers"] if number["metric"] == "errors"]
    assert all(number["corrected"]["reason"] == "the judge does not tell the classes apart" for number in shifted)
    absent = read(cli, "accept", flat)["thresholds"]
    assert all("the judgments have no probabilities and no repeats" in threshold["reason"] for threshold in absent)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("certify", "made"), "pass --to FILE to write a certificate, --check FILE to check one, or --extend FILE to extend one"),
        (("certify", "made", "--to", "a", "--check", "b"), "pass --to FILE"),
        (("certify", "--to", "a.json"), "harness certify RUN_OR_DIR --to FILE"),
        (("certify", "made", "--to", "a.json", "--judge", "nobody"), "no judge 'nobody'"),
        (("correct", "nowhere"), "is not a data folder"),
        (("correct", "made", "--by", "colour"), "no item has 'colour'"),
        (("correct", "made", "--versus", "system"), "such as --versus system=NAME"),
        (("correct", "made", "--class", "9"), "no class '9'"),
        (("accept", "made", "--alpha-risk", "2"), "expected a share above 0 and at most 1"),
        (("accept", "made", "--confidence", "votes"), "votes need several judges"),
    ],
    ids=str,
)
def test_bad_flags_are_a_sentence(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str) -> None:
    monkeypatch.chdir(folder.parent)
    done = cli(*arguments)
    assert (done.code, done.out) == (2, "") and words in done.err and "Traceback" not in done.err


@pytest.mark.parametrize("path", [("covariance",), ("spread", "between", 1), ("spread", "within", 1), ("variance_label",), ("mean_judge",)])
@pytest.mark.parametrize("number", [1e308, -1e308])
def test_numbers_of_a_certificate_that_no_square_can_hold_are_found(
    cli: Cli, folder: Path, tmp_path: Path, path: tuple[str | int, ...], number: float
) -> None:
    certificate = tmp_path / "certificate.json"
    assert cli("certify", folder, "--to", certificate).code == 0
    written = json.loads(certificate.read_text("utf-8"))
    holder = written["cells"][0]["corrections"][0]
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = number
    certificate.write_text(json.dumps(written), "utf-8")
    done = cli("certify", folder, "--check", certificate)
    assert done.code in (1, 3) and "Traceback" not in done.err + done.out


@pytest.mark.parametrize("text", ["not JSON", "{}", '{"schema_version": 99}', '{"schema_version": 1, "cells"'], ids=str)
def test_a_damaged_certificate_is_a_sentence(cli: Cli, folder: Path, tmp_path: Path, text: str) -> None:
    path = tmp_path / "certificate.json"
    path.write_text(text)
    done = cli("certify", "--check", path, folder)
    assert (done.code, done.out) == (3, "") and str(path) in done.err and "'harness certify'" in done.err and "Traceback" not in done.err
    missing = cli("certify", "--check", tmp_path / "none.json", folder)
    assert missing.code == 3 and "cannot be read" in missing.err


@pytest.mark.slow
def test_the_real_command(command: Callable[..., Any], folder: Path, tmp_path: Path) -> None:
    done = command("correct", folder, "--json")
    assert (done.returncode, done.stderr) == (0, "") and len(json.loads(done.stdout)["numbers"]) == 4
    assert command("certify", folder, "--to", tmp_path / "c.json").returncode == 0
    assert command("certify", "--check", tmp_path / "c.json", folder).returncode == 0


def test_the_hashes_of_a_run_are_those_of_its_certificate_which_takes_them_for_new_texts(
    cli: Cli, data_folder: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a run with labels to a certificate, and from a run of new texts to what the certificate asks for."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "by_length.py").write_text("def score(item):\n    return min(len(item['output'].split()) // 4, 2)\n", "utf-8")
    texts = [" ".join([f"slovo{number}", *["les"] * (number % 12)]) for number in range(120)]
    folder = data_folder(*texts)
    scores = {f"i{number}": min(len(text.split()) // 4, 2) for number, text in enumerate(texts)}
    labels = [
        {"item_id": item, "annotator_id": who, "metric": "task_quality", "score": score if int(item[1:]) % every else (score + 1) % 3}
        for item, score in scores.items()
        for who, every in (("a", 7), ("b", 5))
    ]
    write_rows(folder / "labels.jsonl", labels)
    toml = 'id = "own"\nsampling = "random"\n[metrics.task_quality]\nkind = "ordinal"\nclasses = [0, 1, 2]\nbest = 2\n'
    (folder / "data.toml").write_text(toml, "utf-8")
    judge = ("--judge", "python:by_length:score")
    first = cli("run", "--data", folder, *judge, "--out", "results", "--json")
    assert first.code == 0, first.err
    [run] = Path("results", "runs").iterdir()
    certified = cli("certify", run, "--to", "certificate.json")
    assert certified.code == 0, certified.out + certified.err
    held = harness.certificate.load("certificate.json")
    [cell] = held.cells
    printed = {"judge": held.judge.name, "variant": held.judge.variant, "metric": cell.metric, "prompt": held.prompt, "rubric": cell.rubric}
    assert read(cli, "prompt-hash", run) == {"schema_version": 1, "run": run.name, "hashes": [printed]}

    (tmp_path / "production").mkdir()
    new = data_folder(*(f"Nový text {text}" for text in texts), name="production/texts")
    assert cli("run", "--data", new, *judge, "--out", "production/results", "--json").code == 0
    [asked] = Path("production", "results", "runs").iterdir()
    [hashes] = read(cli, "prompt-hash", asked.name, "--out", "production/results")["hashes"]
    given: dict[str, Any] = {"language": "cs", "metric": "task_quality", "judge": hashes["judge"]}
    with pytest.raises(harness.HarnessError, match="'harness prompt-hash RUN' prints the hashes of a run"):
        held.apply([0, 1, 2] * 40, **given)
    found = held.apply([0, 1, 2] * 40, **given, prompt=hashes["prompt"], rubric=hashes["rubric"])
    assert 0 < found.estimate < 2 and not {"prompt", "rubric"} & set(found.unchecked)

    shown = cli("prompt-hash", run)
    *_, side, head, line = shown.out.splitlines()
    assert side == f"{printed['judge']}, {printed['variant']}" and head.split() == ["metric", "prompt", "rubric"]
    assert line.split() == [printed[name] for name in head.split()]
    other = cli("run", "--data", new, *judge, "--variant", "joint", "--out", "other", "--json")
    assert other.code == 0, other.err
    [changed] = Path("other", "runs").iterdir()
    [row] = [row for row in read(cli, "prompt-hash", changed)["hashes"] if row["variant"] == "joint"]
    assert row["prompt"] != held.prompt and row["rubric"] == cell.rubric
    with pytest.raises(harness.HarnessError, match=f"the prompt is {row['prompt']}, and the certificate holds for {held.prompt}"):
        held.apply([0, 1, 2] * 40, **given, prompt=row["prompt"], rubric=row["rubric"])


@pytest.mark.parametrize(
    ("source", "words"),
    [("made", "is a data folder, of whose judge no prompt is known"), ("nothing", "no run 'nothing'")],
)
def test_hashes_are_those_of_runs_only(cli: Cli, folder: Path, tmp_path: Path, source: str, words: str) -> None:
    assert cli("run", "--langs", "ja", "--judge", "baseline/length", "--out", tmp_path / "results").code == 0
    refused = cli("prompt-hash", tmp_path / source if source == "made" else source, "--out", tmp_path / "results")
    assert (refused.code, refused.out) == (2, "") and "Traceback" not in refused.err
    assert words in refused.err
