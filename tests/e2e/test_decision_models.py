"""Decision models as judges: what goes over the wire in both forms, and what answers and refusals become."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
KINDS = ("decisions", "systemone")
RUN = ("run", "--langs", "cs", "--tasks", "open_prompt", "--limit", "2", "--yes")
LEVELS, STATEMENT = "linguistic_acceptability", "problematic_content"


@pytest.fixture
def decide(cli: Cli, endpoint: Any, out: Path) -> Cli:
    """A small run of a decision model at the endpoint: `decide("decisions", "--variant", "joint")`."""
    endpoint.script = endpoint.deciding

    def run(kind: str, *arguments: str | Path) -> Any:
        done = cli(*RUN, "--judge", f"{kind}/m-1", "--base-url", endpoint.url, "--out", out, *arguments)
        assert "Traceback" not in done.err
        return done

    return run


@pytest.fixture
def decide_joint(decide: Cli, data_folder: Callable[..., Path]) -> Cli:
    """The same about all five metrics of two texts at once: `decide_joint("decisions")`."""
    folder = data_folder("Les je zelený.", "Les je tichý.")
    metrics = "linguistic_acceptability,output_content_quality,task_quality,problematic_content,hallucination"
    return lambda kind, *arguments: decide(kind, "--data", folder, "--unlabelled", "--metrics", metrics, "--variant", "joint", *arguments)


@pytest.fixture
def judgments(run_folder: Callable[[Path], Path], out: Path) -> Callable[[], list[dict[str, Any]]]:
    """The judgments of the only run, as its file has them."""

    def read() -> list[dict[str, Any]]:
        import pyarrow.parquet

        rows: list[dict[str, Any]] = pyarrow.parquet.read_table(run_folder(out) / "judgments.parquet").to_pylist()
        return rows

    return read


def asked(endpoint: Any) -> list[Any]:
    return [request.body for request in endpoint.requests]


def questions_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    found = body["questions"]
    return [{"name": name, **question} for name, question in found.items()] if isinstance(found, dict) else found


def changed(endpoint: Any, change: Callable[[Any], None]) -> Callable[[Any], Any]:
    """Good answers, each with a change of its `answers`."""

    def script(request: Any) -> Any:
        answer = endpoint.deciding(request)
        change(answer.body["answers"])
        return answer

    return script


# ---- the request


@pytest.mark.parametrize("kind", KINDS)
def test_each_form_has_its_path_and_asks_one_question_of_the_texts_by_name(kind: str, decide: Cli, endpoint: Any) -> None:
    assert decide(kind).code in (0, 10), decide(kind).err
    for request in endpoint.requests:
        assert request.path == f"/v1/{kind}" and request.body["model"] == "m-1"
        texts = json.loads(request.body["input"]) if kind == "decisions" else request.body["state"]
        assert set(texts) == {"prompt", "output"} and all(texts.values())
        [question] = questions_of(request.body)
        assert "The writer was given a user's request" in question["instructions"] and "Czech" in question["instructions"]
    names = [question["name"] for body in asked(endpoint) for question in questions_of(body)]
    assert names.count(LEVELS) == names.count(STATEMENT) > 0


def test_levels_statements_and_their_words_in_the_form_of_decisions(decide: Cli, endpoint: Any) -> None:
    decide("decisions", "--metrics", f"{LEVELS},{STATEMENT}")
    questions = {question["name"]: question for body in asked(endpoint) for question in questions_of(body)}
    levels = questions[LEVELS]
    assert levels["type"] == "score" and [level["label"] for level in levels["levels"]] == ["0", "1", "2"]
    assert levels["levels"][2]["description"] == "it has no clear error." and "it has no clear error" not in levels["instructions"]
    statement = questions[STATEMENT]
    assert statement["type"] == "predicate" and set(statement) == {"type", "name", "instructions"}
    assert "The answer is true if this holds: " in statement["instructions"]


def test_levels_statements_and_their_words_in_the_form_of_system_one(decide: Cli, endpoint: Any) -> None:
    decide("systemone", "--metrics", f"{LEVELS},{STATEMENT}")
    questions = {question["name"]: question for body in asked(endpoint) for question in questions_of(body)}
    assert questions[LEVELS]["type"] == "score" and questions[LEVELS]["criteria"][2] == "2: it has no clear error."
    assert questions[STATEMENT]["type"] == "noul" and set(questions[STATEMENT]["criteria"]) == {"true", "false"}


@pytest.mark.parametrize("kind", KINDS)
def test_two_classes_may_be_a_choice_instead_in_either_order(kind: str, decide: Cli, endpoint: Any, judgments: Any) -> None:
    decide(kind, "--metrics", STATEMENT, "--variant", "choice", "--variant", "choice+options-reversed")
    orders = set()
    for body in asked(endpoint):
        [question] = questions_of(body)
        assert question["type"] == "choice"
        names = list(question["criteria"]) if kind == "systemone" else [choice["value"] for choice in question["choices"]]
        orders.add(tuple(names))
    assert orders == {("0", "1"), ("1", "0")}
    assert {row["variant"] for row in judgments()} == {"single+choice", "single+choice+options-reversed"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_joint_call_asks_about_all_metrics_at_once(kind: str, decide_joint: Cli, endpoint: Any, judgments: Any) -> None:
    decide_joint(kind)
    assert [len(questions_of(body)) for body in asked(endpoint)] == [5, 5]
    assert len(judgments()) == 10 and all(row["failure"] is None for row in judgments())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("words", ["at most 2 questions per request", "too many questions (max 2)"])
def test_the_most_questions_of_a_request_are_learnt_from_one_refusal(
    kind: str, words: str, decide_joint: Cli, endpoint: Any, judgments: Any
) -> None:
    def script(request: Any) -> Any:
        return endpoint.deciding(request) if len(questions_of(request.body)) <= 2 else endpoint.error(422, words)

    endpoint.script = script
    decide_joint(kind, "--concurrency", "1")
    sizes = [len(questions_of(body)) for body in asked(endpoint)]
    assert sizes == [5, 2, 2, 1, 2, 2, 1]
    assert len(judgments()) == 10 and all(row["failure"] is None for row in judgments())


def test_the_openai_client_sends_the_same(decide: Cli, endpoint: Any) -> None:
    import openai

    decide("decisions", "--variant", "joint", "--limit", "1")
    ours = list(endpoint.requests)

    async def again() -> None:
        async with openai.AsyncOpenAI(api_key="none", base_url=endpoint.url, max_retries=0) as client:
            for request in ours:
                decision = await client.decisions.create(**request.body)
                assert [answer.type for answer in decision.answers]

    endpoint.requests.clear()
    asyncio.run(again())
    for mine, theirs in zip(ours, endpoint.requests, strict=True):
        assert (mine.path, mine.body) == (theirs.path, theirs.body)
        assert {mine.headers[name] == theirs.headers[name] for name in ("authorization", "content-type", "accept")} == {True}


@pytest.mark.parametrize(
    ("kind", "below", "path"),
    [
        ("systemone", "/alpha/decisions", "/v1/alpha/decisions"),  # System One's form at another path
        ("decisions", "/decisions", "/v1/decisions"),
        ("decisions", "/systemone", "/v1/systemone"),
        ("systemone", "/", "/v1/systemone"),
    ],
)
def test_an_address_that_ends_in_a_path_is_taken_as_it_is(cli: Cli, endpoint: Any, out: Path, kind: str, below: str, path: str) -> None:
    endpoint.script = endpoint.deciding
    cli(*RUN, "--judge", f"{kind}/m", "--base-url", f"{endpoint.url}{below}", "--out", out, "--limit", "1", "--metrics", LEVELS)
    assert {request.path for request in endpoint.requests} == {path}
    assert all(("state" in request.body) == (kind == "systemone") for request in endpoint.requests)


def test_system_one_needs_an_address(cli: Cli, out: Path, refused: Callable[..., None]) -> None:
    refused(cli(*RUN, "--judge", "systemone/jev", "--out", out), 2, "systemone/jev needs the address of its endpoint: --base-url")


def test_the_plan_has_the_list_price_and_no_answer_tokens(cli: Cli, out: Path) -> None:
    done = cli(*RUN, "--judge", "decisions/gpt-6-luna", "--out", out, "--dry-run", "--json")
    [row] = json.loads(done.out)["judges"]
    assert row["price"]["input"] == 0.1 and row["answer_tokens"] == 0
    assert row["cost"] == pytest.approx(row["prompt_tokens"] * 0.1 / 1e6) and row["prompt_tokens"] > 0


# ---- what cannot be asked


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--variant", "text"), "asks for a text, and a decision model writes none"),
        (("--variant", "few-shot"), "shows scored examples, which a decision model does not read"),
        (("--variant", "persona"), "which a decision model does not have"),
        (("--temperature", "0.7"), "a decision model samples nothing"),
        (("--variant", "options-reversed", "--metrics", LEVELS), "has no options in an order of their own"),
    ],
)
def test_what_no_decision_model_is_asked_is_refused_before_anything_is_sent(
    decide: Cli, endpoint: Any, refused: Callable[..., None], arguments: tuple[str, ...], words: str
) -> None:
    refused(decide("decisions", *arguments), 2, "decisions/m-1 cannot be asked:", words)
    assert not endpoint.requests


def long_scale(tmp_path: Path, scale: str) -> Path:
    """A data folder with labels on a long scale, and a task and a rubric for it."""
    folder = tmp_path / "long"
    folder.mkdir()
    items = [{"item_id": f"i{n}", "language": "cs", "task": "open_prompt", "prompt": "Popiš les.", "output": f"Les {n}."} for n in range(6)]
    labels = [{"item_id": item["item_id"], "annotator_id": "a", "metric": "translation_quality", "score": 50} for item in items]
    for file, rows in (("items.jsonl", items), ("labels.jsonl", labels)):
        (folder / file).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    (folder / "data.toml").write_text(f'id = "long"\n[metrics.translation_quality]\n{scale}\n', encoding="utf-8")
    return folder


def test_a_long_scale_is_refused_or_asked_in_bands_that_the_signature_names(
    cli: Cli, endpoint: Any, out: Path, tmp_path: Path, refused: Callable[..., None], judgments: Any
) -> None:
    endpoint.script = endpoint.deciding
    folder = long_scale(tmp_path, 'kind = "interval"\nmin = 0\nmax = 100\nbest = 100')
    command = ("run", "--data", folder, "--judge", "decisions/m", "--base-url", endpoint.url, "--out", out, "--yes")
    refused(cli(*command), 2, "'translation_quality' has any score from 0 to 100", "--levels 5 asks about 5 bands")
    assert not endpoint.requests
    done = cli(*command, "--levels", "4", "--notes")
    assert "levels%3A4" in done.out
    [level_names] = {tuple(level["label"] for level in question["levels"]) for body in asked(endpoint) for question in questions_of(body)}
    assert level_names == ("12.5", "37.5", "62.5", "87.5")
    for row in judgments():
        assert row["score"] in ("12.5", "37.5", "62.5", "87.5") and row["variant"] == "single+levels:4"
        assert 12.5 <= row["expected"] <= 87.5


def test_options_are_for_decision_models_alone(ask: Cli, endpoint: Any, refused: Callable[..., None]) -> None:
    refused(ask("--variant", "choice"), 2, "is for decision models alone")
    assert not endpoint.requests


# ---- the answers


@pytest.mark.parametrize("kind", KINDS)
def test_the_likeliest_class_is_the_score_and_all_probabilities_are_kept(kind: str, decide: Cli, judgments: Any) -> None:
    decide(kind)
    for row in judgments():
        probs = json.loads(row["probs"])
        assert sum(probs.values()) == pytest.approx(1) and probs[row["score"]] == max(probs.values())
        assert row["expected"] == pytest.approx(sum(int(score) * p for score, p in probs.items()))
    assert Counter(len(json.loads(row["probs"])) for row in judgments()).keys() == {2, 3}


def test_the_provider_s_answers_are_stored_as_they_came(decide: Cli, endpoint: Any, replies: Any, out: Path) -> None:
    decide("decisions", "--metrics", LEVELS, "--limit", "1")
    [reply] = replies(out)
    [request] = endpoint.requests
    assert json.loads(reply["text"]) == endpoint.deciding(request).body["answers"]
    assert reply["form"] == "decisions" and reply["model"] == "m-1" and reply["usage"]["prompt_tokens"] > 0


def _first(answers: Any) -> Any:
    return answers[0] if isinstance(answers, list) else next(iter(answers.values()))


def _listed(answer: Any) -> Any:
    return answer["probabilities"]


def _scaled(answers: Any, factor: float) -> None:
    listed = _listed(_first(answers))
    if isinstance(listed, dict):
        for name in listed:
            listed[name] = round(listed[name] * factor, 4)
    else:
        for each in listed:
            each["probability"] = round(each["probability"] * factor, 4)


def _set_all(answers: Any, values: list[Any]) -> None:
    listed = _listed(_first(answers))
    for number, value in enumerate(values):
        if isinstance(listed, dict):
            listed[list(listed)[number]] = value
        else:
            listed[number]["probability"] = value


def _without_last(answers: Any) -> None:
    listed = _listed(_first(answers))
    listed.pop() if isinstance(listed, list) else listed.popitem()


def _unknown_option(answers: Any) -> None:
    listed = _listed(_first(answers))
    if isinstance(listed, list):
        listed[0]["value"] = 17
    else:
        listed["17"] = listed.pop("0")


def _refusal(answers: Any) -> None:
    answer = _first(answers)
    name = answer.get("name")
    answer.clear()
    answer.update({"type": "refusal"} | ({"name": name} if name else {}))


def _other_question(answers: Any) -> None:
    if isinstance(answers, list):
        answers[0]["name"] = "another"
    else:
        answers["another"] = answers.pop(next(iter(answers)))


def _other_type(answers: Any) -> None:
    _first(answers).update({"type": "choice"})


def _twice(answers: Any) -> None:
    if isinstance(answers, list):
        answers.append(dict(answers[0]))
    else:
        _listed(_first(answers))["0"] = "0.5"  # a text is no number either


def _nothing(answers: Any) -> None:
    answers.clear()


ODD: dict[str, tuple[Callable[[Any], None], str | None]] = {
    "sum off by .01": (lambda answers: _scaled(answers, 1.01), None),
    "sum off by .02": (lambda answers: _scaled(answers, 0.98), None),
    "sum off by more": (lambda answers: _scaled(answers, 1.05), "bad_probabilities"),
    "far too small": (lambda answers: _scaled(answers, 0.5), "bad_probabilities"),
    "NaN": (lambda answers: _set_all(answers, [float("nan")]), "bad_probabilities"),
    "a text": (lambda answers: _set_all(answers, ["0.5"]), "bad_probabilities"),
    "true": (lambda answers: _set_all(answers, [True, 0, 0]), "bad_probabilities"),
    "negative": (lambda answers: _set_all(answers, [-0.5, 0.75, 0.75]), "bad_probabilities"),
    "a tie": (lambda answers: _set_all(answers, [0.4, 0.4, 0.2]), "tied"),
    "an option too few": (_without_last, "bad_probabilities"),
    "an option of no question": (_unknown_option, "bad_probabilities"),
    "a refusal": (_refusal, "refused"),
    "another question": (_other_question, "missing"),
    "another type": (_other_type, "missing"),
    "twice": (_twice, "bad_probabilities"),
    "no answers": (_nothing, "missing"),
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("kind", KINDS)
def test_an_odd_answer_is_a_named_failure_and_no_number(kind: str, odd: str, decide: Cli, endpoint: Any, judgments: Any) -> None:
    change, failure = ODD[odd]
    endpoint.script = changed(endpoint, change)
    decide(kind, "--metrics", LEVELS)
    for row in judgments():
        assert row["failure"] == failure and (row["score"] is None) == (failure is not None), row
        if failure is None:
            assert sum(json.loads(row["probs"]).values()) == pytest.approx(1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_refused_question_leaves_the_others_of_its_request(kind: str, decide_joint: Cli, endpoint: Any, judgments: Any) -> None:
    endpoint.script = changed(endpoint, _refusal)
    decide_joint(kind)
    assert Counter(row["failure"] for row in judgments()) == {"refused": 2, None: 8}


def test_an_option_that_stands_twice_in_one_object_is_no_probability(decide: Cli, endpoint: Any, judgments: Any) -> None:
    def script(request: Any) -> Any:
        body = json.dumps(endpoint.deciding(request).body)
        return replace(endpoint.deciding(request), body=body.replace('"1": 0.', '"0": 0.'))

    endpoint.script = script
    decide("systemone", "--metrics", LEVELS)
    assert {row["failure"] for row in judgments()} == {"bad_probabilities"}


# ---- refusals by the endpoint


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [429, 503, 504, 529])
def test_a_busy_endpoint_is_asked_again(kind: str, status: int, decide: Cli, endpoint: Any, judgments: Any) -> None:
    seen: Counter[str] = Counter()

    def script(request: Any) -> Any:
        seen[request.key] += 1
        return endpoint.error(status, "try again later", retry_after="0.01") if seen[request.key] == 1 else endpoint.deciding(request)

    endpoint.script = script
    assert decide(kind, "--metrics", LEVELS).code in (0, 10)
    assert set(seen.values()) == {2} and all(row["failure"] is None for row in judgments())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [400, 404])
def test_a_model_that_makes_no_decisions_stops_the_run_with_what_to_do(
    kind: str, status: int, decide: Cli, endpoint: Any, refused: Callable[..., None]
) -> None:
    endpoint.script = lambda request: endpoint.error(status, "model m-1 does not support decisions")
    refused(decide(kind), 4, "'m-1' makes no decisions there; openai/<model> asks a model that writes")
    assert len(endpoint.requests) <= 64


def test_a_page_in_place_of_answers_stops_the_run(decide: Cli, endpoint: Any, refused: Callable[..., None]) -> None:
    endpoint.script = lambda request: replace(endpoint.resetting(), reset=False, body="<html>Sign in</html>", kind="text/html")
    refused(decide("decisions"), 4, "answers, but not like an endpoint for decisions", "<html>Sign in")


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_answer_stops_the_run_and_asks_for_the_address_of_decisions(
    kind: str, decide: Cli, endpoint: Any, refused: Callable[..., None]
) -> None:
    endpoint.script = lambda request: replace(endpoint.resetting(), reset=False, status=202, body="")
    refused(decide(kind), 4, "It sent no answer: does the address end in /v1")


def test_a_page_between_answers_is_asked_again(decide: Cli, endpoint: Any, judgments: Any) -> None:
    page = replace(endpoint.resetting(), reset=False, body="<html>Bad gateway</html>", kind="text/html")
    good_first = iter([True, False])
    endpoint.script = lambda request: endpoint.deciding(request) if next(good_first, True) else page
    decide("systemone", "--metrics", LEVELS, "--concurrency", "1")
    assert all(row["failure"] is None for row in judgments())


def test_a_text_that_is_too_large_is_a_named_failure(decide: Cli, endpoint: Any, judgments: Any) -> None:
    first = iter([endpoint.error(413, "the input is too large for this model")])
    endpoint.script = lambda request: next(first, None) or endpoint.deciding(request)
    decide("decisions", "--metrics", LEVELS)
    assert Counter(row["failure"] for row in judgments())["missing"] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_second_command_asks_nothing_again(kind: str, decide: Cli, endpoint: Any) -> None:
    decide(kind)
    count = len(endpoint.requests)
    decide(kind)
    assert len(endpoint.requests) == count > 0


def test_a_key_never_reaches_the_store(decide: Cli, endpoint: Any, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-4711-secret")

    def script(request: Any) -> Any:
        answer = endpoint.deciding(request)
        answer.body["model"] = request.headers["authorization"]
        return answer

    endpoint.script = script
    decide("decisions", "--metrics", LEVELS)
    assert {request.headers["authorization"] for request in endpoint.requests} == {"Bearer sk-test-4711-secret"}
    assert b"4711" not in b"".join(path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file())


LOST = "429,429-retry-after,500,502-html,503,504,529,reset-before,reset-head,reset-body,cut-json,html,not-utf8,429-quota-per-minute"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_an_endpoint_that_fails_each_call_once_gives_the_same_report_as_a_calm_one(
    kind: str, cli: Cli, hostile: Callable[..., Any], tmp_path: Path
) -> None:
    reports = []
    for name, faults in (("calm", 0), ("failing", 1)):
        served = hostile(faults=faults, kinds=LOST, max_faults_per_call=1, good_first=1)
        done = cli(*RUN, "--judge", f"{kind}/m", "--base-url", served.url, "--out", tmp_path / name)
        assert done.code in (0, 10), done.err
        [run] = (tmp_path / name / "runs").iterdir()
        reports.append((run / "report.json").read_bytes())
    assert served.stats()["faults"] and reports[0] == reports[1]


# ---- beside other judges


def test_a_panel_of_decision_models_and_others_votes(cli: Cli, endpoint: Any, out: Path, tmp_path: Path, judgments: Any) -> None:
    endpoint.script = endpoint.deciding
    panel = tmp_path / "jury.toml"
    panel.write_text('members = ["decisions/m-1", "systemone/m-1", "baseline/constant-best"]\n', encoding="utf-8")
    cli(*RUN, "--judge", f"panel/{panel}", "--base-url", endpoint.url, "--out", out, "--metrics", LEVELS)
    votes: dict[str, dict[str, str]] = {}
    for row in judgments():
        votes.setdefault(row["item_id"], {})[row["judge"]] = row["score"] or row["failure"]
    for by_judge in votes.values():
        [(score, most)] = Counter(by_judge[name] for name in ("decisions/m-1", "systemone/m-1", "baseline/constant-best")).most_common(1)
        assert by_judge["panel/jury"] == (score if most > 1 else "tied")


def test_stored_answers_are_replayed(decide: Cli, cli: Cli, out: Path, tmp_path: Path) -> None:
    decide("decisions", "--metrics", LEVELS)
    export = tmp_path / "export.jsonl"
    cli("store", "export", "--out", out, "--to", export)
    done = cli(*RUN, "--judge", f"replay/{export}", "--out", tmp_path / "again", "--metrics", LEVELS, "--json")
    report = json.loads(done.out)
    [cell] = [cell for cell in report["by_metric"] if cell["judge"] == "replay/decisions/m-1"]
    assert cell["coverage"] == 1.0


# ---- an open model in process, and as a server


TOY = "decider/sparrow-nano"


@pytest.mark.needs("sparrow-decider")
def test_the_embedded_model_answers_without_key_and_network_and_its_answer_says_what_it_is(cli: Cli, out: Path, judgments: Any) -> None:
    done = cli(*RUN, "--judge", TOY, "--out", out)
    assert done.code in (0, 10), done.err
    assert "sparrow-nano is a toy of 2.2 MB that was trained in English" in " ".join(done.out.split())
    rows = judgments()
    assert rows and all(row["failure"] is None and row["judge"] == TOY for row in rows)
    assert all(sum(json.loads(row["probs"]).values()) == pytest.approx(1) for row in rows)


@pytest.mark.needs("sparrow-decider")
def test_the_embedded_model_served_gives_the_same_probabilities(cli: Cli, out: Path, tmp_path: Path, serving: str) -> None:
    def scores(judge: str, folder: Path, *arguments: str) -> list[tuple[Any, ...]]:
        import pyarrow.parquet

        assert cli(*RUN, "--judge", judge, "--out", folder, *arguments).code in (0, 10)
        [run] = (folder / "runs").iterdir()
        rows = pyarrow.parquet.read_table(run / "judgments.parquet").to_pylist()
        return [(row["item_id"], row["metric"], row["score"], row["probs"]) for row in rows]

    served = scores("systemone/sparrow", tmp_path / "served", "--base-url", serving)
    assert served == scores(TOY, out) and served


@pytest.fixture
def serving() -> Any:
    """The base URL of `sparrow-decider serve`, in a process of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = [sys.executable, "-m", "sparrow_decider.cli", "serve", "--port", str(port)]
    process = subprocess.Popen(program, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr
    process.stderr.readline()
    for _ in range(200):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            break
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}/v1"
    process.kill()
    process.communicate()


def test_an_unknown_embedded_model_is_refused_with_those_there_are(cli: Cli, out: Path, refused: Callable[..., None]) -> None:
    refused(cli(*RUN, "--judge", "decider/sparow-nano", "--out", out), 2, "no decision model 'sparow-nano'", "sparrow-nano")
    refused(cli(*RUN, "--judge", "decider/gone.sparrow", "--out", out), 4, "no decision model at gone.sparrow")


@pytest.mark.needs("sparrow-decider")
def test_a_file_that_is_no_model_is_refused(cli: Cli, out: Path, tmp_path: Path, refused: Callable[..., None]) -> None:
    (tmp_path / "text.sparrow").write_text("no model", encoding="utf-8")
    refused(cli(*RUN, "--judge", f"decider/{tmp_path / 'text.sparrow'}", "--out", out), 4, "cannot be loaded as a decision model")


# ---- functions that return probabilities


@pytest.mark.parametrize(
    ("returned", "failure"),
    [
        ('{"probs": {"0": 0.2, "1": 0.1, "2": 0.7}}', None),
        ('{"probs": {0: 0.2, 1: 0.1, 2: 0.7}}', None),
        ('{"probs": {"0": 0.4, "1": 0.4, "2": 0.2}}', "tied"),
        ('{"probs": {"0": 0.5, "2": 0.5}}', "bad_probabilities"),
        ('{"probs": {"0": 0.5, "1": 0.5, "2": 0.5}}', "bad_probabilities"),
        ('{"probs": {"0": float("nan"), "1": 0.5, "2": 0.5}}', "bad_probabilities"),
    ],
)
def test_a_function_may_return_probabilities(
    cli: Cli, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, judgments: Any, returned: str, failure: str | None
) -> None:
    name = f"probs_{abs(hash(returned)) % 10**8}"
    (tmp_path / f"{name}.py").write_text(f"def judge(item):\n    return {returned}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    cli(*RUN, "--judge", f"python:{name}:judge", "--out", out, "--metrics", LEVELS)
    for row in judgments():
        assert row["failure"] == failure
        if failure is None:
            assert row["score"] == "2" and json.loads(row["probs"]) == {"0": 0.2, "1": 0.1, "2": 0.7}
            assert row["expected"] == pytest.approx(1.5)


# ---- answers that were recorded elsewhere


def lines(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def imported(folder: Path) -> dict[tuple[str, str], Any]:
    rows = map(json.loads, (folder / "judgments.jsonl").read_text("utf-8").splitlines())
    return {(row["item_id"], row["metric"]): row for row in rows}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wrapped", [False, True])
def test_recorded_requests_and_answers_are_read_as_a_run_reads_them(
    kind: str, wrapped: bool, decide: Cli, cli: Cli, endpoint: Any, judgments: Any, tmp_path: Path
) -> None:
    decide(kind)
    rows = []
    for request in endpoint.requests:
        pair = {"request": request.body, "response": endpoint.deciding(request).body}
        pair = {name: {"body": body} for name, body in pair.items()} if wrapped else pair
        rows.append(pair)
    done = cli("import", lines(tmp_path / "recorded.jsonl", rows), "--to", tmp_path / "kept", "--language", "cs")
    assert done.code == 0, done.err
    found = sorted((row["metric"], str(row["score"]), row["probs"]) for row in imported(tmp_path / "kept").values())
    expected = sorted((row["metric"], row["score"], json.loads(row["probs"])) for row in judgments())
    assert [(metric, score) for metric, score, _ in found] == [(metric, score) for metric, score, _ in expected]
    for (_, _, ours), (_, _, run) in zip(found, expected, strict=True):
        assert ours == pytest.approx(run)
    assert {row["judge"] for row in imported(tmp_path / "kept").values()} == {f"{kind}/m-1"}


def test_recorded_refusals_and_failed_requests_are_named(cli: Cli, tmp_path: Path) -> None:
    question = {"type": "predicate", "name": "ok", "instructions": "Fine?"}
    request = {"model": "m", "input": "Text.", "questions": [question]}
    responses = {
        "refused": {"model": "m", "answers": [{"type": "refusal", "name": "ok"}]},
        "missing": {"model": "m", "answers": [{"type": "predicate", "name": "other", "probability": 0.5}]},
        "tied": {"model": "m", "answers": [{"type": "predicate", "name": "ok", "probability": 0.5}]},
        "bad_probabilities": {"model": "m", "answers": [{"type": "predicate", "name": "ok", "probability": 1.5}]},
        "down": {"status_code": 503, "body": {"error": {"message": "overloaded"}}},
        "policy": {"status_code": 400, "body": {"error": {"message": "flagged by the content policy", "code": "content_filter"}}},
    }
    rows = [{"id": name, "request": request, "response": response} for name, response in responses.items()]
    done = cli(
        "import", lines(tmp_path / "recorded.jsonl", rows), "--to", tmp_path / "kept", "--language", "cs", "--scale=ok=fail,pass:best=pass",
        "--judge", "decisions/m", "--allow-refused",
    )  # fmt: skip
    failures = {item: row["failure"] for (item, _), row in imported(tmp_path / "kept").items()}, done.err
    assert failures[0] == {name: name for name in list(responses)[:4]} | {"down": "missing", "policy": "refused"}, failures


def test_decisions_of_promptfoo_are_read(cli: Cli, tmp_path: Path) -> None:
    def result(number: int, answer: dict[str, Any]) -> dict[str, Any]:
        return {
            "promptIdx": 0,
            "testIdx": number,
            "vars": {"item_id": f"t{number}", "ticket": f"Text {number}."},
            "provider": {"id": "openai:decisions:gpt-6-luna", "label": ""},
            "response": {"output": json.dumps({"model": "gpt-6-luna", "answers": [answer]})},
            "testCase": {},
            "gradingResult": None,
        }

    choice = {
        "type": "choice",
        "name": "category",
        "choice": "billing",
        "confidence": 0.5,
        "probabilities": [{"value": "billing", "probability": 0.8}, {"value": "technical", "probability": 0.2}],
    }
    content = {"results": {"results": [result(0, choice), result(1, {"type": "refusal", "name": "category"})]}}
    (tmp_path / "results.json").write_text(json.dumps(content), encoding="utf-8")
    done = cli(
        "import", tmp_path / "results.json", "--to", tmp_path / "kept", "--language", "en", "--scale=category=billing,technical",
        "--item-from", "vars.item_id", "--text", "output=vars.ticket",
    )  # fmt: skip
    assert done.code == 0, done.err
    found = imported(tmp_path / "kept")
    assert found["t0", "category"]["score"] == "billing" and found["t0", "category"]["probs"] == {"billing": 0.8, "technical": 0.2}
    assert found["t0", "category"]["judge"] == "decisions/gpt-6-luna" and found["t1", "category"]["failure"] == "refused"


@pytest.mark.parametrize(("names", "sure", "even"), [("p_fail,p_pass", "0.1,0.9", "0.5,0.5"), ("P(fail),P(pass)", "10 %,90 %", "50,50")])
def test_a_table_with_a_column_of_probabilities_a_class_is_read(cli: Cli, tmp_path: Path, names: str, sure: str, even: str) -> None:
    rows = f"a,j,ok,{sure},One.\nb,j,ok,{even},Two.\nc,j,ok,0.9,0.9,Three.\nd,j,ok,,0.9,Four.\n"
    table = f"item_id,judge,metric,{names},output\n{rows}"
    (tmp_path / "scores.csv").write_text(table, encoding="utf-8")
    done = cli(
        "import",
        tmp_path / "scores.csv",
        "--to",
        tmp_path / "kept",
        "--language",
        "en",
        "--scale=ok=fail,pass:best=pass",
        "--allow-refused",
    )
    found = {item: (row.get("score"), row.get("failure")) for (item, _), row in imported(tmp_path / "kept").items()}
    assert found == {
        "a": ("pass", None),
        "b": (None, "tied"),
        "c": (None, "bad_probabilities"),
        "d": (None, "bad_probabilities"),
    }, done.err
    assert imported(tmp_path / "kept")["a", "ok"]["probs"] == {"fail": 0.1, "pass": 0.9}
