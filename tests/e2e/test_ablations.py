"""Conditions from beginning to end: perturbed texts, examples, token probabilities, top-p, instructions in the items' language."""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from harness.content import Library
from harness.data import load_bundled
from harness.perturb import registered

Cli = Callable[..., Any]
RunFolder = Callable[[Path], Path]
ONE = ("--metrics", "task_quality", "--limit", "4", "--concurrency", "1")
ENDS = (".", "!", "?")
LABELLED = 2  # of these four items have a label on task quality


def judged_text(request: Any) -> str:
    """The text that a request asks about: the last between triple quotes."""
    found: str = re.findall(r'"""\n(.*?)\n"""', request.body["messages"][-1]["content"], re.DOTALL)[-1]
    return found


@pytest.fixture
def by_ending(endpoint: Any) -> None:
    """The endpoint gives 2 to a text that ends as sentences do, and 0 to any other."""

    def answer(request: Any) -> Any:
        return endpoint.saying({"justification": "By its end.", "score": 2 if judged_text(request).endswith(ENDS) else 0})

    endpoint.script = answer


@pytest.fixture
def judgments(run_folder: RunFolder, out: Path) -> Callable[[], list[dict[str, Any]]]:
    """The judgments of the only run."""

    def read() -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = pq.read_table(run_folder(out) / "judgments.parquet").to_pylist()
        return rows

    return read


@pytest.fixture
def czech(library: Library) -> dict[str, Any]:
    """The bundled Czech items by id."""
    return load_bundled(library, ["cs"]).by_id


# Perturbed texts


@pytest.mark.usefixtures("by_ending")
def test_perturbed_texts_are_judged_beside_the_texts_as_they_are(
    ask: Cli, endpoint: Any, judgments: Callable[[], Any], run_folder: RunFolder, out: Path, czech: dict[str, Any]
) -> None:
    done = ask("--board", "controls", "--langs", "cs", *ONE, "--perturb", "truncate:0.5", "--perturb", "inject", "--json")
    assert done.code == 0, done.err
    texts = [judged_text(request) for request in endpoint.requests]
    outputs = {judgment["item_id"]: czech[judgment["item_id"]].fields["output"] for judgment in judgments()}
    for output in outputs.values():
        assert output in texts
        assert any(text.startswith(f"{output}\n") for text in texts)  # the instruction to the judge
        assert any(output.startswith(text) and 0 < len(text) < len(output) for text in texts)
    score = {(row["item_id"], row["perturbation"]): row["score"] for row in judgments()}
    assert len(score) == 3 * len(outputs)
    whole = [item_id for item_id, output in outputs.items() if output.endswith(ENDS)]
    assert whole and all((score[item_id, None], score[item_id, "truncate:0.5"]) == ("2", "0") for item_id in whole)


@pytest.mark.slow
def test_a_page_has_the_evidence_of_many_judgments_of_texts_as_they_are_and_of_changed_ones(
    cli: Cli, judgments: Callable[[], Any], out: Path, tmp_path: Path
) -> None:
    """The page lists texts as they are first, the file of judgments mixes them: beyond one batch of the file, that must not matter."""
    assert cli("run", "--judge", "baseline/majority", "--perturb", "truncate:0.5", "--repeats", "10", "--out", out, "--json").code == 0
    assert len(judgments()) > 8192
    done = cli("report", "--out", out, "--html", tmp_path / "page.html")
    assert done.code == 0, done.err
    [embedded] = re.findall(r'id="items-data"[^>]*>(.*?)</script>', (tmp_path / "page.html").read_text("utf-8"), re.DOTALL)
    rows = json.loads(embedded)["rows"]
    said = {column: [rows[column]["v"][code] if code >= 0 else None for code in codes(rows[column], len(rows["item"]))] for column in SHOWN}
    for score, (reply, note) in zip(said["score"], said["reply"], strict=True):
        assert note == "" and json.loads(reply)["score"] == score


SHOWN = ("score", "reply")


def codes(column: dict[str, Any], rows: int) -> list[int]:
    """A column's codes, row by row; one number stands for all rows."""
    found = column["c"]
    return [found] * rows if isinstance(found, int) else found


@pytest.mark.usefixtures("by_ending")
def test_only_texts_as_they_are_count_as_agreement(ask: Cli, run_folder: RunFolder, out: Path) -> None:
    plain = json.loads(ask(*ONE, "--json").out)
    perturbed = json.loads(ask(*ONE, "--perturb", "truncate:0.5,0.9", "--json").out)
    for name in ("cells", "by_metric", "verdicts"):
        assert perturbed[name] == plain[name]
    assert perturbed["schema_version"] == plain["schema_version"] and perturbed["run"] != plain["run"]
    folder = out / "runs" / perturbed["run"]
    assert json.loads((folder / "report.json").read_bytes()) == perturbed


@pytest.mark.usefixtures("by_ending")
def test_the_report_has_a_section_for_what_the_run_contains_and_no_other(ask: Cli) -> None:
    assert "perturbations" not in json.loads(ask(*ONE, "--json").out)["ablations"]
    found = json.loads(ask(*ONE, "--perturb", "truncate:0.5", "--json").out)["ablations"]["perturbations"]["rows"]
    [row] = [row for row in found if (row["language"], row["task"]) == ("cs", "open_prompt")]
    assert (row["metric"], row["perturbation"]) == ("task_quality", "truncate:0.5")
    assert (row["n"], row["not_applied"], row["from"]) == (LABELLED, 0, "scores")
    assert (row["fell"], row["stayed"], row["sensitivity"]) == (0.5, 0.5, 0.75)  # one text was given 0 as it was


@pytest.mark.usefixtures("by_ending")
def test_a_further_perturbation_asks_only_for_itself(ask: Cli, endpoint: Any) -> None:
    ask(*ONE)
    before = len(endpoint.requests)
    ask(*ONE, "--perturb", "truncate:0.5")
    assert len(endpoint.requests) == 2 * before
    ask(*ONE, "--perturb", "truncate:0.5")
    ask(*ONE)
    assert len(endpoint.requests) == 2 * before


def test_a_text_that_cannot_be_changed_is_not_asked_about(
    cli: Cli, endpoint: Any, data_folder: Callable[..., Path], out: Path, judgments: Callable[[], Any]
) -> None:
    folder = data_folder("Les.", "Přišel večer a v lese už byla tma.", "👩\u200d👧 🇨🇿", "Je jich 12, nebo 13.")
    done = cli(
        *("run", "--data", folder, "--judge", "openai/m", "--base-url", endpoint.url, "--out", out, "--concurrency", "1"),
        *("--perturb", "shuffle-words:1", "--perturb", "strip-diacritics", "--perturb", "number-swap"),
    )
    assert done.code == 0, done.err
    asked = defaultdict(set)
    for row in judgments():
        asked[row["perturbation"]].add(row["item_id"])
    assert asked[None] == {"i0", "i1", "i2", "i3"}
    assert asked["shuffle-words:1"] == {"i1", "i3"}
    assert asked["strip-diacritics"] == {"i1"}
    assert asked["number-swap:0.5"] == {"i3"}
    assert len(endpoint.requests) == sum(map(len, asked.values()))


@pytest.mark.parametrize("text", ["", " ", "\u202eא ב ג", "نص قصير هنا.", "e\u0301 e\u0301 e\u0301", "slovo " * 16000])
def test_texts_of_every_kind_can_be_perturbed_or_left_alone(
    cli: Cli, endpoint: Any, tmp_path: Path, data_folder: Callable[..., Path], out: Path, text: str
) -> None:
    """An empty text is no item; everything else is asked about, changed or not."""
    folder = data_folder("Les.", text)
    chosen = [argument for name in registered() for argument in ("--perturb", name)]
    done = cli("run", "--data", folder, "--judge", "openai/m", "--base-url", endpoint.url, "--out", out, *chosen)
    assert "Traceback" not in done.err
    assert done.code == (0 if text.strip() else 3), done.err


@pytest.mark.usefixtures("by_ending")
def test_naive_segmenting_is_a_condition_of_its_own(ask: Cli, judgments: Callable[[], Any]) -> None:
    assert ask("--langs", "ja", *ONE, "--perturb", "shuffle-words:1", "--segmenter", "icu,whitespace").code == 0
    asked = Counter(row["perturbation"] for row in judgments())
    assert asked[None] == asked["shuffle-words:1"] > 0
    assert asked["shuffle-words:1@whitespace"] < asked[None]  # between two spaces of Japanese there is no word to be moved


def test_a_baseline_reads_the_perturbed_text(cli: Cli, out: Path, judgments: Callable[[], Any]) -> None:
    short = ("run", "--langs", "cs", "--tasks", "open_prompt", "--metrics", "task_quality", "--judge", "baseline/length")
    assert cli(*short, "--perturb", "truncate:0.95", "--out", out).code == 0
    mean: dict[Any, list[float]] = defaultdict(list)
    for row in judgments():
        mean[row["perturbation"]].append(float(row["score"]))
    assert sum(mean["truncate:0.95"]) < sum(mean[None]) and len(mean["truncate:0.95"]) == len(mean[None])


# Examples


def test_few_shot_prompts_hold_scored_texts_before_the_text(ask: Cli, endpoint: Any, czech: dict[str, Any]) -> None:
    done = ask(*ONE, "--variant", "single", "--variant", "few-shot", "--json")
    assert done.code == 0, done.err
    shown = [re.findall(r'"""\n(.*?)\n"""', request.body["messages"][-1]["content"], re.DOTALL) for request in endpoint.requests]
    plain, taught = ([texts for texts in shown if (len(texts) == 2) == alone] for alone in (True, False))
    assert len(plain) == len(taught) > 0 and {len(texts) for texts in taught} == {2 * 6 + 2}  # prompt and output of two a class
    development = {(item.fields.get("prompt"), item.fields["output"]) for item in czech.values() if item.split == "dev"}
    for texts in taught:
        examples = set(zip(texts[:-2:2], texts[1:-2:2], strict=True))
        assert examples <= development and len(examples) == 6
    report = json.loads(done.out)
    assert report["few_shot"] == {"constructed": True, "classes_without_example": []}
    assert {cell["variant"] for cell in report["cells"]} == {"single", "single+fewshot:2"}


def test_the_report_says_that_examples_are_constructed(ask: Cli) -> None:
    assert "The examples shown carry constructed labels." in ask(*ONE, "--variant", "fewshot:1").out


def test_few_shot_is_refused_where_all_labelled_texts_are_of_one_group(
    cli: Cli, endpoint: Any, data_folder: Callable[..., Path], out: Path, refused: Callable[..., None]
) -> None:
    done = cli(
        "run", "--data", data_folder("Les."), "--variant", "few-shot", "--judge", "openai/m", "--base-url", endpoint.url, "--out", out
    )
    refused(done, 2, "the labelled texts of cs/open_prompt are all of one group; --examples DIR takes the labelled items")
    assert endpoint.requests == []


def test_data_without_development_items_set_a_fifth_of_their_groups_aside(
    cli: Cli, endpoint: Any, data_folder: Callable[..., Path], out: Path, run_folder: RunFolder, judgments: Callable[[], Any]
) -> None:
    """No text is both an example and judged, under no variant; the report, its signature and a report of the stored run say the same."""
    folder = data_folder(*(f"Les číslo {number}." for number in range(10)))
    variants = ("--variant", "single", "--variant", "few-shot")
    done = cli("run", "--data", folder, *variants, "--judge", "openai/m", "--base-url", endpoint.url, "--out", out, "--json")
    assert done.code == 0, done.err
    shown = [re.findall(r'"""\n(Les.*?)\n"""', request.body["messages"][-1]["content"]) for request in endpoint.requests]
    examples, judged = {text for texts in shown for text in texts[:-1]}, {texts[-1] for texts in shown}
    assert (len(examples), len(judged)) == (2, 8) and not examples & judged
    assert {row["item_id"] for row in judgments()} == {f"i{text[10:-1]}" for text in judged}
    report = json.loads(done.out)
    assert "one in five is set aside" in report["notes"][0]
    assert "|examples:set-aside+" in report["signatures"]["openai/m"]
    again = cli("report", run_folder(out).name, "--out", out, "--json")
    assert again.code == 0, again.err
    assert json.loads(again.out)["signatures"] == report["signatures"]


# Token probabilities


@pytest.fixture
def with_logprobs(endpoint: Any) -> None:
    """The endpoint says 2 with a probability of 0.5, 1 and 0 with 0.25 each, if it is asked for probabilities."""
    top = [{"token": text, "logprob": math.log(p)} for text, p in (("2", 0.5), ("1", 0.25), ("0", 0.125), (" 0", 0.125))]
    tokens = [{"token": '{"score":', "logprob": 0, "top_logprobs": []}, {"token": "2", "logprob": math.log(0.5), "top_logprobs": top}]
    tokens.append({"token": "}", "logprob": 0, "top_logprobs": []})

    def answer(request: Any) -> Any:
        said = endpoint.saying('{"score":2}')
        if request.body.get("logprobs"):
            said.body["choices"][0]["logprobs"] = {"content": tokens}
        return said

    endpoint.script = answer


@pytest.mark.usefixtures("with_logprobs")
def test_probabilities_become_columns_beside_the_score(
    ask: Cli, endpoint: Any, judgments: Callable[[], Any], replies: Callable[[Path], Any], out: Path
) -> None:
    assert ask(*ONE, "--variant", "score-only", "--variant", "score-only+probabilities").code == 0
    assert Counter(request.body.get("top_logprobs") for request in endpoint.requests) == {None: LABELLED, 20: LABELLED}
    by_variant = {row["variant"]: row for row in judgments()}
    plain, probable = by_variant["single+score-only"], by_variant["single+score-only+probabilities"]
    assert (plain["score"], plain["probs"], plain["expected"], plain["entropy"]) == ("2", None, None, None)
    assert probable["score"] == "2" and json.loads(probable["probs"]) == pytest.approx({"0": 0.25, "1": 0.25, "2": 0.5})
    assert (probable["expected"], probable["entropy"]) == pytest.approx((1.25, 1.5))
    assert {len(reply["tokens"]) for reply in replies(out)} == {0, 3}


@pytest.mark.usefixtures("with_logprobs")
def test_probabilities_are_read_again_from_the_store(ask: Cli, cli: Cli, out: Path, run_folder: RunFolder) -> None:
    first = ask(*ONE, "--variant", "score-only+probabilities", "--perturb", "truncate")
    files = {path.name: path.read_bytes() for path in run_folder(out).glob("*.*") if path.name not in ("run.json", "answers.json")}
    again = cli("report", "--out", out)
    assert (again.code, again.out) == (0, first.out)
    assert {name: (run_folder(out) / name).read_bytes() for name in files} == files


REFUSABLE = {
    "logprobs": ("logprobs", "top_logprobs"),
    "temperature": ("temperature",),
    "top_p": ("top_p",),
    "seed": ("seed",),
}


@pytest.mark.parametrize("name", REFUSABLE)
def test_a_parameter_that_the_endpoint_refuses_is_said_once_and_its_columns_are_empty(
    ask: Cli, endpoint: Any, judgments: Callable[[], Any], name: str
) -> None:
    endpoint.script = endpoint.without(name)
    how = (*ONE, "--variant", "score-only+probabilities", "--top-p", "0.9", "--temperature", "0.5")
    done = ask(*how, "--json")
    assert done.code == 0, done.err
    assert [name in request.body for request in endpoint.requests].count(True) == 1
    report = json.loads(done.out)
    assert report["left_out"] == {"openai/tester-2024-01-01": dict.fromkeys(REFUSABLE[name], LABELLED)}
    assert all(row["score"] is not None and row["expected"] is None and row["probs"] is None for row in judgments())
    shown = ask(*how).out
    assert len(re.findall("does not take", shown)) == 1 and f"{REFUSABLE[name][0]} ({LABELLED} calls)" in shown


def test_nothing_is_said_where_everything_was_taken(ask: Cli) -> None:
    report = json.loads(ask(*ONE, "--json").out)
    assert (report["left_out"], report["few_shot"], report["unreviewed_instructions"]) == ({}, {}, [])


# Top-p


def test_each_top_p_is_asked_for_and_has_cells_of_its_own(ask: Cli, endpoint: Any, run_folder: RunFolder, out: Path) -> None:
    done = ask(*ONE, "--top-p", "0.5,0.9", "--temperature", "0.7", "--json")
    assert done.code == 0, done.err
    assert Counter(request.body["top_p"] for request in endpoint.requests) == {0.5: LABELLED, 0.9: LABELLED}
    report = json.loads(done.out)
    assert [(cell["top_p"], cell["n"]) for cell in report["cells"]] == [(0.5, LABELLED), (0.9, LABELLED)]
    assert {row["top_p"] for row in pq.read_table(run_folder(out) / "report.parquet").to_pylist()} == {0.5, 0.9}
    shown = ask(*ONE, "--top-p", "0.5,0.9", "--temperature", "0.7", "--by-task").out
    assert all(" ".join(shown.split()).count(f"temperature 0.7, top-p {top_p})") == 1 for top_p in (0.5, 0.9))
    assert shown.count("\ntask quality") == 2 * 2  # pooled and by task, once a top-p


# Instructions in the items' language


def test_instructions_that_nobody_has_reviewed_are_refused(ask: Cli, endpoint: Any, refused: Callable[..., None]) -> None:
    refused(ask("--variant", "own-language"), 2, "no native reader has reviewed the instructions in 'cs'", "--allow-unreviewed")
    assert endpoint.requests == []


def test_instructions_that_are_not_there_are_named(cli: Cli, tmp_path: Path) -> None:
    item = {"item_id": "a", "language": "gl", "task": "open_prompt", "prompt": "Saúda.", "output": "Ola, bo día!"}
    label = {"item_id": "a", "annotator_id": "x", "metric": "task_quality", "score": 2}
    (tmp_path / "items.jsonl").write_text(json.dumps(item), "utf-8")
    (tmp_path / "labels.jsonl").write_text(json.dumps(label), "utf-8")
    done = cli("run", "--data", tmp_path, "--judge", "baseline/length", "--variant", "own-language", "--allow-unreviewed")
    assert (
        done.code == 2
        and "no instructions in 'gl'" in done.err
        and "without own-language asks in English" in done.err
        and "choose from: cs, de, es, fr, it, ja, pt-BR, zh" in done.err
    )


def test_unreviewed_instructions_run_when_they_are_allowed_and_are_marked(
    ask: Cli, endpoint: Any, judgments: Callable[[], Any], library: Library
) -> None:
    how = (*ONE, "--variant", "single", "--variant", "own-language", "--allow-unreviewed")
    done = ask(*how, "--json")
    assert done.code == 0, done.err
    told = Counter(
        request.body["messages"][0]["content"].startswith(library.instructions("cs").words.system) for request in endpoint.requests
    )
    assert told == {True: LABELLED, False: LABELLED}
    report = json.loads(done.out)
    assert report["unreviewed_instructions"] == ["cs"]
    assert {(row["variant"], row["asked_language"]) for row in judgments()} == {("single", "en"), ("single+own-language", "cs")}
    assert "No native reader has reviewed the own-language instructions in Czech." in ask(*how).out
    assert "own-language" not in ask(*ONE).out


# What cannot be


BAD = {
    "axis": (("--variant", "joint+sloppy"), ("unknown variant 'sloppy' in 'joint+sloppy'", "known words: single, joint")),
    "axis twice": (("--variant", "few-shot+fewshot:1"), ("names its shots twice",)),
    "examples": (("--variant", "fewshot:9"), ("'fewshot:9'", "fewshot:1 to fewshot:8")),
    "order of one": (("--variant", "single+reversed"), ("only a joint call",)),
    "perturbation": (("--perturb", "shuffle-word"), ("no perturbation 'shuffle-word'. Did you mean 'shuffle-words'?",)),
    "dose": (("--perturb", "shuffle-words:1.5"), ("1.5 is not a dose of 'shuffle-words'", "from 0.05 to 1")),
    "no dose": (("--perturb", "shuffle-words:"), ("'' is not a dose of 'shuffle-words'",)),
    "dose in words": (("--perturb", "truncate:half"), ("'half' is not a dose of 'truncate'",)),
    "dose without doses": (("--perturb", "inject:0.5"), ("'inject'", "has no")),
    "segmenter": (("--perturb", "shuffle-words", "--segmenter", "mecab"), ("no segmenter 'mecab'", "icu, whitespace")),
}


@pytest.mark.parametrize("name", BAD)
def test_a_condition_that_cannot_be_is_one_sentence(ask: Cli, endpoint: Any, out: Path, refused: Callable[..., None], name: str) -> None:
    arguments, words = BAD[name]
    refused(ask(*arguments), 2, *words)
    assert endpoint.requests == [] and not out.exists()


@pytest.mark.parametrize("text", ["0", "1.01", "-0.5", "nan", "inf", "half", "", "0.5,"])
def test_a_top_p_out_of_range_is_a_wrong_flag(ask: Cli, endpoint: Any, text: str) -> None:
    done = ask(f"--top-p={text}")
    assert done.code == 2 and "top-p is above 0 and at most 1" in done.err and "Traceback" not in done.err
    assert endpoint.requests == []


# The embedded model


@pytest.mark.slow
@pytest.mark.needs("model")
def test_the_embedded_model_gives_probabilities_of_a_text_and_its_perturbation(
    cli: Cli, out: Path, judgments: Callable[[], Any], replies: Callable[[Path], Any]
) -> None:
    tiny = ("run", "--langs", "cs", "--limit", "1", "--tasks", "open_prompt", "--metrics", "task_quality", "--out", out)
    done = cli(*tiny, "--variant", "score-only+probabilities", "--perturb", "shuffle-words:1", "--json")
    assert done.code == 0, done.err
    rows = judgments()
    assert [row["perturbation"] for row in rows] == [None, "shuffle-words:1"]
    for row in rows:
        probs = json.loads(row["probs"])
        assert list(probs) == ["0", "1", "2"] and sum(probs.values()) == pytest.approx(1)
        assert row["score"] in probs and 0 <= row["expected"] <= 2 and 0 <= row["entropy"] <= math.log2(3)
    assert rows[0]["expected"] != rows[1]["expected"]
    assert json.loads(done.out)["left_out"] == {}
    for reply in replies(out):
        assert "".join(text for text, _ in reply["tokens"]).strip() == reply["text"].strip()
