"""`harness improve` asks by itself: step by step, each question once, and what confirms is in no prompt but its own."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.content.library import bundled_root
from harness.improvement import ask_candidates
from harness.improvement.ask_candidates import Asking, planned, write_pool
from harness.improvement.improvement_options import ImproveOptions
from harness.improvement.questions import FILE, ConfirmHalf
from harness.measure.options import MeasureOptions
from harness.runs import RunSpec
from tests.conftest import write_rows
from tests.e2e.conftest import Answer, Endpoint, Request

Cli = Callable[..., Any]
JUDGE = "openai/tester"
TEXTS = 40


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """Two languages, 40 texts each, labelled by two people who agree. Each text says which label it deserves, for the endpoint."""
    draw, folder = random.Random(1), tmp_path / "labelled"
    items, labels = [], []
    for language in ("cs", "ja"):
        for n in range(TEXTS):
            truth, name = draw.randrange(3), f"{language}-{n}"
            text = f"Text [{name}] ({truth})."
            items.append({"item_id": name, "language": language, "task": "open_prompt", "prompt": "Popiš les.", "output": text})
            labels += [{"item_id": name, "annotator_id": who, "metric": "task_quality", "score": truth} for who in "ab"]
    write_rows(folder / "items.jsonl", items)
    write_rows(folder / "labels.jsonl", labels)
    return folder


@pytest.fixture
def improve(cli: Cli, endpoint: Endpoint, labelled: Path, out: Path) -> Cli:
    """The command, with a judge that agrees with people on 95 % of texts if it is shown the detailed instruction, else on 55 %."""
    endpoint.script = copying(endpoint)

    def run(*arguments: str | Path) -> Any:
        return cli("improve", labelled, "--judge", JUDGE, "--base-url", endpoint.url, "--out", out, *arguments)

    return run


def copying(endpoint: Endpoint) -> Callable[[Request], Answer]:
    def script(request: Request) -> Answer:
        words = "\n".join(message["content"] for message in request.body["messages"])
        truth = int(re.findall(r"\] \((\d)\)", words)[-1])
        right = 95 if is_detailed(request) else 55
        score = truth if int(hashlib.sha256(words.encode()).hexdigest(), 16) % 100 < right else (truth + 1) % 3
        return endpoint.saying({"justification": "Because.", "score": score}, model=request.body["model"])

    return script


def is_detailed(request: Request) -> bool:
    return any("\n- " in message["content"] for message in request.body["messages"])


def shown_texts(request: Request) -> list[str]:
    """The names of the texts in a prompt; the last one is judged, those before it are examples."""
    return re.findall(r"\[([a-z]+-\d+)\]", "\n".join(message["content"] for message in request.body["messages"]))


def confirming(folder: Path) -> set[str]:
    plan = planned(Asking((JUDGE,), (), RunSpec(data=folder, base_url="http://127.0.0.1:9/v1")), MeasureOptions(), ImproveOptions())
    return set(plan.division.confirming.texts.items)


@pytest.mark.slow
def test_the_better_candidate_is_chosen_and_confirmed_and_nothing_is_asked_twice(
    improve: Cli, endpoint: Endpoint, labelled: Path, tmp_path: Path
) -> None:
    done = improve("--variant", "detailed", "--variant", "score-first", "--to", tmp_path / "best.toml")
    assert done.code == 0, done.err
    assert "Chosen of 3 candidates: openai/tester: single+detailed" in done.out and "A gain is shown in Czech, Japanese" in done.out
    assert "a gain of 8 points takes 121 to 266" in done.err, "said before anything is asked"
    asked = [request.key for request in endpoint.requests]
    assert len(asked) == len(set(asked)), "each question once"
    choose, confirm = 48, 32
    assert len(asked) == 2 * choose + choose // 4 + 2 * confirm, "the third candidate is asked about a quarter of the choosing half"
    last = endpoint.requests[-2 * confirm :]
    assert {shown_texts(each)[-1] for each in last} == confirming(labelled)
    refused = improve("--variant", "detailed", "--variant", "score-first")
    assert refused.code == 2 and "--reuse" in refused.err and len(endpoint.requests) == len(asked)
    again = improve("--variant", "detailed", "--variant", "score-first", "--reuse", "--json")
    assert again.code == 0 and json.loads(again.out)["uses"] == 1 and len(endpoint.requests) == len(asked), "the store has all answers"


@pytest.mark.slow
def test_no_text_that_confirms_is_an_example(improve: Cli, endpoint: Endpoint, labelled: Path, tmp_path: Path) -> None:
    assert improve("--variant", "few-shot", "--variant", "detailed+few-shot").code == 0
    examples = {name for request in endpoint.requests for name in shown_texts(request)[:-1]}
    judged = {shown_texts(request)[-1] for request in endpoint.requests}
    assert len(examples) > 10 and confirming(labelled) <= judged
    assert examples.isdisjoint(confirming(labelled))
    assert all(shown_texts(request)[-1] not in shown_texts(request)[:-1] for request in endpoint.requests), "nobody is shown its own label"


@pytest.mark.slow
def test_the_choice_is_a_file_that_asks_the_same(
    improve: Cli, cli: Cli, endpoint: Endpoint, labelled: Path, out: Path, tmp_path: Path
) -> None:
    spec = tmp_path / "best.toml"
    assert improve("--variant", "detailed+few-shot", "--to", spec).code == 0
    asked = {request.key for request in endpoint.requests if is_detailed(request) and len(shown_texts(request)) > 1}
    endpoint.requests.clear()
    done = cli("run", "--spec", spec, "--data", labelled, "--base-url", endpoint.url, "--out", tmp_path / "other")
    assert done.code == 0, done.err
    again = {request.key for request in endpoint.requests}
    assert len(again) == 2 * TEXTS and again == asked, "the same examples, on all texts"


@pytest.mark.slow
def test_the_confirming_half_cannot_be_the_pool_of_examples(labelled: Path, tmp_path: Path) -> None:
    plan = planned(Asking((JUDGE,), (), RunSpec(data=labelled)), MeasureOptions(), ImproveOptions())
    with pytest.raises(TypeError, match="the half that chooses, not from ConfirmHalf"):
        write_pool(plan.division.confirming, plan.asked.prepared.training, tmp_path, plan.asked.prepared.library)  # type: ignore[arg-type]
    assert isinstance(plan.division.confirming, ConfirmHalf) and not (tmp_path / "examples").exists()


@pytest.mark.slow
def test_a_dry_run_prices_it_and_asks_nobody(improve: Cli, endpoint: Endpoint, labelled: Path, out: Path, tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text(f'["{JUDGE}"]\ninput = 1000.0\noutput = 1000.0\nas_of = "2026-01"\n', encoding="utf-8")
    dry = improve("--dry-run", "--prices", prices)
    assert dry.code == 0, dry.err
    assert (
        "48 questions choose and 32 confirm" in dry.out and f"{JUDGE}: single+detailed, temperature 0\n  48 calls to choose, $" in dry.out
    )
    most = re.search(r"At most (\d+) calls, \$(\d+\.\d\d)", dry.out)
    assert most and not endpoint.requests and not out.exists() and not (labelled / FILE).exists()
    few = improve("--max-cost", "0.5", "--prices", prices)
    assert few.code == 2 and f"takes up to ${most[2]}" in few.err and not endpoint.requests
    assert improve("--prices", prices, "--max-cost", most[2]).code == 0
    assert len(endpoint.requests) <= int(most[1])


@pytest.mark.slow
def test_labels_are_not_spent_on_answers_of_which_none_can_be_read(improve: Cli, endpoint: Endpoint, labelled: Path) -> None:
    endpoint.script = lambda request: endpoint.saying({"justification": "Because.", "score": 7}, model=request.body["model"])
    done = improve("--variant", "detailed")
    assert done.code == 4 and "no label is spent" in done.err and "Traceback" not in done.err
    assert not (labelled / FILE).exists()


@pytest.mark.slow
def test_a_dry_run_of_many_texts_plans_some_of_them(improve: Cli, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = improve("--dry-run").out.splitlines()
    monkeypatch.setattr(ask_candidates, "SAMPLED", 10)
    *part, estimated = improve("--dry-run").out.splitlines()
    assert part == whole, "all texts have one metric here, so that the numbers of calls are the same"
    assert estimated == "Estimated from 18 of the 80 texts." and not endpoint.requests


@pytest.mark.slow
def test_a_command_that_was_killed_goes_on(improve: Cli, endpoint: Endpoint, labelled: Path, out: Path, start: Callable[..., Any]) -> None:
    endpoint.latency = 0.02
    own = ("--variant", "detailed", "--variant", "score-first", "--concurrency", "4")
    process = start("improve", labelled, "--judge", JUDGE, "--base-url", endpoint.url, "--out", out, *own)
    endpoint.wait_for(60, process)
    process.kill()
    process.communicate()
    before = len(endpoint.requests)
    assert not (labelled / FILE).exists(), "labels are spent last"
    endpoint.latency = 0.0
    done = improve(*own)
    assert done.code == 0 and "single+detailed" in done.out
    asked = [request.key for request in endpoint.requests]
    assert before < len(asked) and len(asked) - len(set(asked)) <= 4, "only calls in flight are asked again"


@pytest.mark.slow
def test_candidates_of_a_file_and_repeats(improve: Cli, endpoint: Endpoint, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('metric = "task_quality"\n[[message]]\nrole = "user"\ntext = """\nRate:\n- {{output}}\n"""\n', encoding="utf-8")
    file = tmp_path / "candidates.toml"
    file.write_text('[[candidate]]\n[[candidate]]\nprompt = "own.toml"\n[[candidate]]\ntemperature = 0.7\nrepeats = 3\n', encoding="utf-8")
    found = improve("--candidates", file, "--json")
    assert found.code == 0, found.err
    chosen = json.loads(found.out)["chosen"]["variant"]
    assert chosen.startswith("prompt:own@")
    warm = [request for request in endpoint.requests if request.body.get("temperature") == 0.7]
    assert len(warm) % 3 == 0 and warm


def test_a_better_wording_of_the_rubric_is_chosen(improve: Cli, endpoint: Endpoint, tmp_path: Path) -> None:
    usual = (bundled_root() / "rubrics" / "task_quality.toml").read_text("utf-8")
    words = usual.partition('instruction = """')[2].partition('"""')[0]
    rubric, spec = tmp_path / "clearer.toml", tmp_path / "best.toml"
    rubric.write_text(usual.replace(words, "\nCount:\n- what the request asks for\n"), encoding="utf-8")
    done = improve("--rubric", rubric, "--to", spec)
    assert done.code == 0, done.err
    assert "single+rubric:clearer@" in done.out and "A gain is shown in Czech, Japanese" in done.out
    assert 'rubric = [\n    "clearer.toml",' in spec.read_text("utf-8")


@pytest.mark.slow
def test_the_default_has_about_eight_candidates_that_fit(improve: Cli) -> None:
    shown = improve("--dry-run", "--allow-unreviewed").out
    found = [line.partition(": ")[2].partition(": ")[0] for line in shown.splitlines() if line.startswith(JUDGE)]
    assert found == [
        "single, temperature 0",
        "single+detailed, temperature 0",
        "single+fewshot:2, temperature 0",
        "single+own-language, temperature 0",
        "single+score-only+probabilities, temperature 0",
        "single+detailed+fewshot:2, temperature 0",
        "single, temperature 0.7",
        "single+score-first, temperature 0",
        "single+calibrated, temperature 0",
    ], "one metric, so no joint call"
    assert f"{JUDGE}: single+calibrated, temperature 0\n  no further calls" in shown


@pytest.mark.slow
def test_calibrated_scores_of_a_candidate_take_no_further_calls(
    cli: Cli, endpoint: Endpoint, labelled: Path, out: Path, tmp_path: Path
) -> None:
    """A judge that gives a class too much: its calibrated scores are right."""

    def script(request: Request) -> Answer:
        truth = int(re.findall(r"\] \((\d)\)", "\n".join(message["content"] for message in request.body["messages"]))[-1])
        return endpoint.saying({"justification": "Because.", "score": min(2, truth + 1)}, model="tester")

    endpoint.script = script
    file, best = tmp_path / "candidates.toml", tmp_path / "best.toml"
    file.write_text(f'[[candidate]]\njudge = "{JUDGE}"\ncalibrated = true\n', encoding="utf-8")
    rows = [json.loads(line) for line in (labelled / "labels.jsonl").read_text("utf-8").splitlines()]
    write_rows(labelled / "labels.jsonl", [row | {"score": min(2, row["score"] * 2)} for row in rows])
    done = cli("improve", labelled, "--candidates", file, "--base-url", endpoint.url, "--out", out, "--to", best)
    assert done.code == 0, done.err
    assert "Chosen of 2 candidates: openai/tester: single+calibrated" in done.out and len(endpoint.requests) == 2 * TEXTS
    assert "agrees with people on 100 %" in done.out and re.search(r"# cs task_quality: 0 → 0, 1\.\d+ → 2\n", best.read_text("utf-8"))
    again = cli("run", "--spec", best, "--data", labelled, "--base-url", endpoint.url, "--out", out, "--json")
    assert again.code == 0 and len(endpoint.requests) == 2 * TEXTS


@pytest.mark.slow
def test_a_panel_is_a_candidate_and_its_members_are_asked_once(
    cli: Cli, endpoint: Endpoint, labelled: Path, out: Path, tmp_path: Path
) -> None:
    """Three judges that are right on 55 % of texts, each on texts of its own: their majority is right more often."""

    def script(request: Request) -> Answer:
        words = "\n".join(message["content"] for message in request.body["messages"])
        truth, name = int(re.findall(r"\] \((\d)\)", words)[-1]), request.body["model"]
        right = int(hashlib.sha256((name + words).encode()).hexdigest(), 16) % 100 < 70
        return endpoint.saying({"justification": "Because.", "score": truth if right else (truth + 1) % 3}, model=name)

    endpoint.script = script
    (tmp_path / "jury.toml").write_text('members = ["openai/a", "openai/b", "openai/c"]\n', encoding="utf-8")
    file = tmp_path / "candidates.toml"
    file.write_text('[[candidate]]\njudge = "openai/a"\n[[candidate]]\njudge = "panel/jury.toml"\n', encoding="utf-8")
    done = cli("improve", labelled, "--candidates", file, "--base-url", endpoint.url, "--out", out, "--to", tmp_path / "best.toml")
    assert done.code == 0, done.err
    assert "Chosen of 2 candidates: panel/jury" in done.out
    asked = [request.key for request in endpoint.requests]
    assert len(asked) == len(set(asked)) == 3 * 2 * TEXTS
    again = cli("run", "--spec", tmp_path / "best.toml", "--data", labelled, "--base-url", endpoint.url, "--out", out, "--json")
    assert again.code == 0 and len(endpoint.requests) == len(asked), "the file asks the same panel"


@pytest.mark.slow
def test_each_judge_has_its_own_address(cli: Cli, endpoint: Endpoint, labelled: Path, out: Path) -> None:
    endpoint.script = copying(endpoint)
    addresses = [word for name in ("openai/one", "openai/two") for word in ("--judge", name, "--base-url", f"{name}={endpoint.url}")]
    found = cli("improve", labelled, *addresses, "--variant", "detailed", "--out", out, "--json")
    assert found.code == 0, found.err
    shown = json.loads(found.out)
    assert [(each["judge"], each["variant"]) for each in shown["candidates"]] == [
        (name, variant) for name in ("openai/one", "openai/two") for variant in ("single", "single+detailed")
    ]
    assert shown["chosen"]["variant"] == "single+detailed"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--variant", "detaild"), "unknown variant 'detaild'"),
        (("--start", "tiny"), "--start tiny: no candidate of this name"),
        (("--share", "0.95"), "the half to confirm would have 4 independent texts, and 10 are needed"),
        (("--where", "metric=colour"), "no metric 'colour'"),
        (("--judge", "baseline/majority"), "reads no text and is no candidate"),
        (("--candidates", "nowhere.toml"), "nowhere.toml: cannot be read"),
        (("--base-url", "openai/other=http://127.0.0.1:9/v1"), "--base-url names 'openai/other'"),
    ],
)
def test_what_cannot_be_is_refused_before_anybody_is_asked(
    improve: Cli, endpoint: Endpoint, labelled: Path, arguments: tuple[str, ...], words: str
) -> None:
    refused = improve(*arguments)
    assert refused.code in (2, 3) and words in refused.err and "Traceback" not in refused.err, refused.err
    assert not endpoint.requests and not (labelled / FILE).exists()


@pytest.mark.slow
def test_texts_without_labels_are_no_data_to_choose_by(improve: Cli, labelled: Path) -> None:
    (labelled / "labels.jsonl").write_text("", encoding="utf-8")
    refused = improve()
    assert refused.code == 2 and "label" in refused.err and "Traceback" not in refused.err


@pytest.mark.slow
def test_texts_of_one_group_are_one_text(improve: Cli, labelled: Path) -> None:
    rows = [json.loads(line) for line in (labelled / "items.jsonl").read_text("utf-8").splitlines()]
    write_rows(labelled / "items.jsonl", [row | {"group": "one"} for row in rows])
    refused = improve()
    assert refused.code == 2 and "independent texts, and 10 are needed; label more texts" in refused.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "has no recorded answers; name who is asked: --judge openai/MODEL"),
        (("--judge", "gpt4"), "has no answers of 'gpt4'; a judge that is asked has a kind, such as openai/gpt4. Did you mean 'gpt-4o'?"),
        (("--judge", "gpt-4o", "--judge", JUDGE), "candidates are either all recorded or all asked"),
        (("--judge", JUDGE), "has no texts named 'output', so nobody can be asked about them"),
    ],
)
def test_a_folder_of_recorded_answers_says_what_would_be_right(cli: Cli, tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    items = [{"item_id": str(n), "language": "cs", "task": "theirs"} for n in range(3)]
    write_rows(tmp_path / "data" / "items.jsonl", items)
    labels = [{"item_id": each["item_id"], "annotator_id": who, "metric": "task_quality", "score": 1} for each in items for who in "ab"]
    write_rows(tmp_path / "data" / "labels.jsonl", labels)
    if arguments:
        judgments = [{"item_id": each["item_id"], "judge": "gpt-4o", "metric": "task_quality", "score": 1} for each in items]
        write_rows(tmp_path / "data" / "judgments.jsonl", judgments)
    refused = cli("improve", tmp_path / "data", *arguments)
    assert refused.code == 2 and words in refused.err and "Traceback" not in refused.err, refused.err


@pytest.mark.slow
def test_headers_are_sent_by_every_candidate_of_their_judge(improve: Cli, endpoint: Endpoint, refused: Callable[..., None]) -> None:
    refused(improve("--header", "openai/other=X-Project=1"), 2, "--header names 'openai/other', which is not asked")
    assert improve("--header", f"{JUDGE}=X-Project=42", "--variant", "detailed").code == 0
    assert {request.headers.get("x-project") for request in endpoint.requests} == {"42"}


@pytest.mark.slow
@pytest.mark.parametrize("broken", ["the candidate", "the start"])
def test_a_candidate_that_cannot_be_read_is_not_chosen_and_a_start_ends_it(
    improve: Cli, endpoint: Endpoint, labelled: Path, broken: str
) -> None:
    working = endpoint.script

    def script(request: Request) -> Answer:
        is_broken = is_detailed(request) is (broken == "the candidate")
        return endpoint.saying({"justification": "Because.", "score": 77}, model=request.body["model"]) if is_broken else working(request)

    endpoint.script = script
    done = improve("--variant", "detailed", "--variant", "score-first")
    assert done.code == 4 and "could be read (off the scale), such as '77'" in f"{done.out}{done.err}", done.err
    if broken == "the start":
        assert "no label is spent" in done.err and not (labelled / FILE).exists() and not done.out
    else:
        assert done.out.startswith("None of") and "openai/tester (single+detailed, temperature 0)" in done.out.splitlines()[0]
        assert "Chosen of" in done.out and "single+detailed" not in done.out.split("Chosen of")[1].split("Start:")[0]
