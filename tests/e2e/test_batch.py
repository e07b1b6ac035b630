"""`harness run --engine batch`, `harness batch`: whole runs by the command, against a provider's files and batches on the loopback."""

from __future__ import annotations

import json
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.errors import StoreError
from harness.store import Store
from tests.conftest import HANG_SECONDS
from tests.e2e.batch_server import BatchServer, Lines, cancelled, changed, expired, failed
from tests.e2e.conftest import MODEL, SMALL, Request

Cli = Callable[..., Any]
KEY = "sk-test-4711-secret"


@pytest.fixture
def provider(endpoint: Any) -> Iterator[BatchServer]:
    """Answers the requests of a batch as `endpoint` answers live ones."""

    def answer(body: dict[str, Any]) -> tuple[int, Any]:
        found = endpoint.script(Request("POST", "/v1/chat/completions", {}, body))
        return found.status, found.body

    served = BatchServer(answer)
    yield served
    served.close()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has to be waited for here."""
    monkeypatch.setattr("harness.engines.batch_submission.UNSURE_SECONDS", 0.05)
    monkeypatch.setattr("harness.engines.retries.backoff", lambda count: 0.01)
    monkeypatch.setattr("harness.engines.batch_engine.QUEUE_SECONDS", 0.01)
    monkeypatch.setattr("harness.engines.batch_engine.FIRST_POLL_SECONDS", 0.05)


@pytest.fixture
def command_line(provider: BatchServer, out: Path) -> list[str]:
    return [*SMALL, "--limit", "4", "--engine", "batch", "--base-url", provider.url, "--out", str(out)]


@pytest.fixture
def batch(cli: Cli, command_line: list[str]) -> Cli:
    """A small run by batches: `batch("--detach")`."""
    return lambda *arguments: cli(*command_line, *arguments)


@pytest.fixture
def calls(ask: Cli, endpoint: Any, tmp_path: Path, run_folder: Callable[[Path], Path]) -> Any:
    """The same run by the local engine: its requests, and the bytes of its report."""
    assert ask("--limit", "4", "--out", tmp_path / "local").code == 0
    requests = [request.body for request in endpoint.requests]
    endpoint.requests.clear()
    return requests, (run_folder(tmp_path / "local") / "report.json").read_bytes()


def everything_in(folder: Path) -> bytes:
    """All bytes of all files below a folder."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def paid_once(provider: BatchServer) -> bool:
    """Whether every request was answered, and none twice."""
    return bool(provider.paid) and set(provider.paid.values()) == {1}


def sizes(provider: BatchServer) -> list[int]:
    return [made.total for made in provider.batches.values()]


# ---- a whole run


def test_the_report_is_that_of_the_local_engine_byte_for_byte(
    batch: Cli, provider: BatchServer, calls: Any, out: Path, run_folder: Callable[[Path], Path]
) -> None:
    requests, report = calls
    done = batch()
    assert done.code == 0
    assert (run_folder(out) / "report.json").read_bytes() == report
    assert sizes(provider) == [len(requests)] and paid_once(provider)
    assert not list(out.glob(".batch-*"))  # no file on its way is left


@pytest.mark.slow
def test_each_line_asks_as_a_live_call_does_and_is_named_by_its_call(
    batch: Cli, provider: BatchServer, calls: Any, out: Path, rows: Callable[..., Any]
) -> None:
    requests, _ = calls
    batch()
    lines = provider.requests("batch_1")
    assert {json.dumps(line["body"], sort_keys=True) for line in lines} == {json.dumps(body, sort_keys=True) for body in requests}
    assert {(line["method"], line["url"]) for line in lines} == {("POST", "/v1/chat/completions")}
    assert {line["custom_id"] for line in lines} == {row["call_id"] for row in rows(out, "SELECT call_id FROM calls")}
    [made] = provider.batches.values()
    assert (made.endpoint, made.window) == ("/v1/chat/completions", "24h")
    assert made.metadata["harness_judge"] == f"openai/{MODEL}"


@pytest.mark.slow
def test_a_second_run_asks_nobody(batch: Cli, provider: BatchServer) -> None:
    first = batch()
    seen = len(provider.seen)
    second = batch()
    assert (second.code, second.out) == (0, first.out) and len(provider.seen) == seen


@pytest.mark.slow
def test_run_json_says_how_it_was_asked(batch: Cli, provider: BatchServer, out: Path, run_folder: Callable[[Path], Path]) -> None:
    batch()
    [session] = json.loads((run_folder(out) / "run.json").read_bytes())["sessions"]
    [judge] = session["judges"]
    assert session["engine"] == {"name": "batch"}
    assert judge["batches"] == {"batch_1": "completed"} and judge["asked"] == sum(sizes(provider))


@pytest.mark.slow
def test_a_run_is_split_where_a_file_would_hold_too_many_requests(
    batch: Cli, provider: BatchServer, calls: Any, monkeypatch: pytest.MonkeyPatch, out: Path, run_folder: Callable[[Path], Path]
) -> None:
    requests, report = calls
    monkeypatch.setattr("harness.engines.batch_submission.MOST_REQUESTS", 3)
    assert batch().code == 0
    assert max(sizes(provider)) == 3 and sum(sizes(provider)) == len(requests) and paid_once(provider)
    assert (run_folder(out) / "report.json").read_bytes() == report


@pytest.mark.slow
def test_a_run_is_split_where_a_file_would_be_too_long(batch: Cli, provider: BatchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    most = 6000
    monkeypatch.setattr("harness.engines.batch_submission.MOST_BYTES", most)
    assert batch().code == 0
    uploaded = [provider.files[made.input_file_id] for made in provider.batches.values()]
    assert len(uploaded) > 1 and max(map(len, uploaded)) <= most and paid_once(provider)


@pytest.mark.slow
def test_several_judges_have_batches_of_their_own(cli: Cli, command_line: list[str], provider: BatchServer) -> None:
    done = cli(*command_line, "--judge", "openai/another", "--json")
    assert done.code == 0
    assert {cell["judge"] for cell in json.loads(done.out)["cells"]} == {f"openai/{MODEL}", "openai/another"}
    models = [{request["body"]["model"] for request in provider.requests(made)} for made in provider.batches]
    assert sorted(map(sorted, models)) == [["another"], [MODEL]]


# ---- lines that come back


def shuffled(lines: Lines) -> None:
    random.Random(1).shuffle(lines.output)


def doubled(lines: Lines) -> None:
    second = json.loads(lines.output[0])
    second["response"]["body"] = {"choices": [{"message": {"content": "another answer"}}]}
    lines.output += [json.dumps(second)]


def with_strangers(lines: Lines) -> None:
    lines.output.insert(0, json.dumps(json.loads(lines.output[0]) | {"custom_id": "f" * 64}))


def with_rubbish(lines: Lines) -> None:
    lines.output[1:1] = ["no JSON at all", "[]", '{"custom_id": 7}', "", "\x00", '{"custom_id": "a", "response": {"status_code": "x"}}']


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "ignored"),
    [
        (shuffled, None),
        (doubled, "1 repeated"),
        (with_strangers, "1 about other calls"),
        (with_rubbish, "5 invalid"),
    ],
)
def test_odd_lines_are_counted_and_change_nothing(
    batch: Cli,
    provider: BatchServer,
    calls: Any,
    change: Any,
    ignored: str | None,
    out: Path,
    run_folder: Callable[[Path], Path],
) -> None:
    provider.endings = [changed(change)]
    done = batch()
    assert done.code == 0
    assert (run_folder(out) / "report.json").read_bytes() == calls[1]
    assert (f"ignored lines: {ignored}" in done.err) if ignored else ("ignored" not in done.err)
    assert len(provider.batches) == 1


@pytest.mark.slow
def test_half_a_line_at_the_end_is_asked_again_alone(batch: Cli, provider: BatchServer, calls: Any) -> None:
    def cut(lines: Lines) -> None:
        lines.output[-1] = lines.output[-1][:100]

    provider.endings = [changed(cut)]
    done = batch()
    assert done.code == 0 and "1 invalid" in done.err
    assert sizes(provider) == [len(calls[0]), 1]
    assert provider.requests("batch_2")[0] == provider.requests("batch_1")[-1]


@pytest.mark.slow
def test_half_characters_in_an_answer_are_kept_as_the_local_engine_keeps_them(
    batch: Cli, ask: Cli, endpoint: Any, tmp_path: Path, out: Path, replies: Callable[[Path], Any]
) -> None:
    endpoint.script = lambda request: endpoint.saying('{"score": 1, "justification": "\ud83d"}')
    assert batch().code == 0
    assert ask("--limit", "4", "--out", tmp_path / "local").code == 0
    assert {reply["text"] for reply in replies(out)} == {reply["text"] for reply in replies(tmp_path / "local")}


# ---- calls that fail


@pytest.mark.slow
def test_only_the_lines_that_failed_are_asked_again(
    batch: Cli, provider: BatchServer, endpoint: Any, calls: Any, rows: Callable[..., Any], out: Path, run_folder: Callable[[Path], Path]
) -> None:
    endpoint.script = endpoint.first(endpoint.error(500, "The server had an error"), endpoint.error(429, "Too many"))
    assert batch().code == 0
    assert sizes(provider) == [len(calls[0]), 2] and paid_once(provider)
    assert (run_folder(out) / "report.json").read_bytes() == calls[1]
    lost = rows(out, "SELECT lost FROM attempts WHERE reply IS NULL")
    assert len(lost) == 2 and any("500: The server had an error" in row["lost"] for row in lost)
    again = rows(out, "SELECT attempt FROM attempts WHERE attempt > 1")
    assert [row["attempt"] for row in again] == [2, 2]


@pytest.mark.slow
def test_a_call_that_always_fails_is_given_up_after_the_attempts_allowed(
    batch: Cli, provider: BatchServer, endpoint: Any, calls: Any, refused: Callable[..., None]
) -> None:
    def answer(request: Any) -> Any:
        return endpoint.error(500, "Not this one") if request.body == calls[0][0] else endpoint.good(request)

    endpoint.script = answer
    refused(batch("--attempts", "3"), 6, f"calls without an answer: 1 of openai/{MODEL}", "500: Not this one")
    assert sizes(provider) == [len(calls[0]), 1, 1]


@pytest.mark.slow
def test_a_call_that_is_refused_alone_is_a_failure_of_that_call(
    batch: Cli, endpoint: Any, provider: BatchServer, replies: Callable[[Path], Any], out: Path
) -> None:
    said = "This model's maximum context length is 100 tokens"
    endpoint.script = endpoint.first(endpoint.error(400, said))
    assert batch().code == 0
    assert [reply["error"] for reply in replies(out) if reply["error"]] == [f"400: {said}"]
    assert len(provider.batches) == 1


@pytest.mark.slow
def test_a_line_that_is_refused_without_a_reason_is_a_failure_of_its_text_where_others_are_answered(
    batch: Cli, endpoint: Any, provider: BatchServer, replies: Callable[[Path], Any], out: Path, calls: Any
) -> None:
    endpoint.script = endpoint.first(*[endpoint.error(400, "We would rather not read this one")] * 6)
    assert batch().code == 4  # 6 of 11 answers are refusals
    found = [reply["refusal"] for reply in replies(out) if reply["refusal"]]
    assert found == ["We would rather not read this one"] * 6 and len(replies(out)) == len(calls[0])
    assert len(provider.batches) == 1


@pytest.mark.slow
def test_a_batch_that_is_refused_without_a_reason_is_asked_in_looser_formats(
    batch: Cli, endpoint: Any, provider: BatchServer, replies: Callable[[Path], Any], out: Path, refused: Callable[..., None]
) -> None:
    endpoint.script = lambda request: endpoint.error(400, "Bad Request") if "response_format" in request.body else endpoint.good(request)
    assert batch().code == 0
    assert {reply["form"] for reply in replies(out)} == {"text"} and len(provider.batches) == 4
    endpoint.script = lambda request: endpoint.error(400, "Bad Request")
    refused(batch("--variant", "joint"), 4, "400: Bad Request")


@pytest.mark.slow
def test_room_for_reasoning_that_does_not_fit_is_made_smaller_in_the_next_batch(
    batch: Cli, endpoint: Any, provider: BatchServer, replies: Callable[[Path], Any], out: Path
) -> None:
    def thinking(request: Any) -> Any:
        asked = request.body["max_tokens"]
        if asked + 700 > 4096:
            return endpoint.error(
                400, f"This model's maximum context length is 4096 tokens; {asked} were requested and the prompt has 700."
            )
        return endpoint.good(request) if asked > 1000 else endpoint.saying("<think>Let me see", finish="length")

    endpoint.script = thinking
    assert batch().code == 0
    assert len(provider.batches) == 3 and all(reply["text"].startswith("{") for reply in replies(out))


@pytest.mark.slow
def test_a_line_that_is_refused_for_no_reason_of_the_item_is_lost_and_asked_by_the_next_command(
    batch: Cli, endpoint: Any, provider: BatchServer, replies: Callable[[Path], Any], out: Path, refused: Callable[..., None], calls: Any
) -> None:
    endpoint.script = endpoint.first(endpoint.error(403, "Blocked"))
    refused(batch(), 6, "calls without an answer: 1 of", "403: Blocked")
    assert not any(reply["error"] for reply in replies(out))
    assert batch().code == 0
    assert sizes(provider) == [len(calls[0]), 1] and paid_once(provider)


@pytest.mark.slow
def test_lines_that_are_refused_one_after_the_other_stop_the_judge(
    batch: Cli, endpoint: Any, provider: BatchServer, replies: Callable[[Path], Any], out: Path, refused: Callable[..., None], calls: Any
) -> None:
    endpoint.script = endpoint.first(*[endpoint.error(403, "Blocked")] * 5)
    refused(batch(), 4, "403: Blocked", "5 refusals one after the other", "firewall")
    assert len(replies(out)) == len(calls[0]) - 5
    assert batch().code == 0
    assert paid_once(provider)


@pytest.mark.slow
def test_a_batch_of_nothing_but_refusals_ends_the_run_with_what_to_do(
    batch: Cli, endpoint: Any, provider: BatchServer, refused: Callable[..., None]
) -> None:
    endpoint.script = lambda request: endpoint.error(403, "Blocked")
    refused(batch(), 4, "403: Blocked", "firewall")
    assert len(provider.batches) == 1


@pytest.mark.slow
def test_fresh_asks_again_by_batches_too(
    batch: Cli, endpoint: Any, provider: BatchServer, rows: Callable[..., Any], out: Path, calls: Any
) -> None:
    assert batch().code == 0
    assert batch("--fresh").code == 0
    assert sizes(provider) == [len(calls[0])] * 2
    assert {row["n"] for row in rows(out, "SELECT COUNT(*) AS n FROM attempts GROUP BY call_id")} == {2}


@pytest.mark.slow
def test_the_key_reaches_no_file_from_the_errors_of_a_batch(
    batch: Cli, provider: BatchServer, endpoint: Any, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    endpoint.script = endpoint.first(*[endpoint.error(500, "x" * (300 - at) + KEY) for at in range(4, 19)])
    provider.endings = [failed({"code": KEY, "message": f"{KEY} is tired, x", "line": 1})]
    first, second = batch("-v"), batch("-v")
    kept = everything_in(out).decode("utf-8", "replace") + first.err + second.err + first.out + second.out
    assert "[key]" in kept and not [at for at in range(len(KEY) - 7) if KEY[at : at + 8] in kept]


@pytest.mark.slow
def test_what_would_be_the_same_for_every_call_ends_the_run(
    batch: Cli, provider: BatchServer, endpoint: Any, refused: Callable[..., None]
) -> None:
    endpoint.script = lambda request: endpoint.error(404, "The model does not exist")
    refused(batch(), 4, "404", "The model does not exist", "exact name")
    assert len(provider.batches) == 1
    endpoint.script = endpoint.good
    assert batch().code == 0 and len(provider.batches) == 2


@pytest.mark.slow
def test_nothing_but_server_errors_ends_the_run_with_what_was_said(
    batch: Cli, provider: BatchServer, endpoint: Any, refused: Callable[..., None]
) -> None:
    endpoint.script = lambda request: endpoint.error(500, "Out of order")
    refused(batch("--attempts", "2"), 4, "Out of order", "no call was answered")
    assert len(provider.batches) == 2


@pytest.mark.slow
def test_refusals_are_asked_again_where_that_is_wanted(batch: Cli, provider: BatchServer, endpoint: Any, calls: Any) -> None:
    endpoint.script = endpoint.first(endpoint.saying("", refusal="I would rather not."))
    assert batch("--reask", "refused").code == 0
    assert sizes(provider) == [len(calls[0]), 1]


# ---- what an endpoint does not take


@pytest.mark.slow
@pytest.mark.parametrize("name", ["temperature", "seed"])
def test_a_parameter_that_every_line_is_refused_for_is_left_out(
    batch: Cli, provider: BatchServer, endpoint: Any, calls: Any, name: str, replies: Callable[[Path], Any], out: Path
) -> None:
    endpoint.script = endpoint.without(name)
    assert batch().code == 0
    assert sizes(provider) == [len(calls[0])] * 2
    assert {tuple(reply["left_out"]) for reply in replies(out)} == {(name,)}
    assert not any(name in request["body"] for request in provider.requests("batch_2"))


@pytest.mark.slow
def test_forms_of_answer_are_gone_down_batch_by_batch(
    batch: Cli, provider: BatchServer, endpoint: Any, calls: Any, replies: Callable[[Path], Any], out: Path
) -> None:
    def answer(request: Any) -> Any:
        if request.form == "json_schema":
            return endpoint.error(400, "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.")
        return endpoint.good(request)

    endpoint.script = answer
    assert batch().code == 0
    assert sizes(provider) == [len(calls[0])] * 3
    assert {reply["form"] for reply in replies(out)} == {"json_object"}


@pytest.mark.slow
def test_a_later_process_knows_how_the_calls_were_asked(
    batch: Cli, provider: BatchServer, endpoint: Any, replies: Callable[[Path], Any], out: Path, start: Any, command_line: list[str]
) -> None:
    def answer(request: Any) -> Any:
        if "max_tokens" in request.body:
            return endpoint.error(400, "Unsupported parameter: use 'max_completion_tokens' instead.")
        return endpoint.good(request)

    endpoint.script = answer
    process = start(*command_line)
    provider.hold("make")
    provider.wait_for("make")
    provider.release("make")
    provider.hold("make")
    provider.wait_for("make", 2)  # the second batch asks in the new way
    process.kill()
    process.wait()
    provider.release("make")
    assert batch().code == 0
    assert len(provider.batches) == 2
    assert {reply["reasoning_room"] for reply in replies(out)} == {8192}


@pytest.mark.slow
def test_a_provider_that_keeps_no_notes_is_understood(
    batch: Cli, provider: BatchServer, calls: Any, out: Path, run_folder: Callable[[Path], Path]
) -> None:
    provider.keep_notes = False
    assert batch().code == 0
    assert (run_folder(out) / "report.json").read_bytes() == calls[1]


# ---- how batches end


@pytest.mark.slow
def test_what_an_expired_batch_has_answered_is_kept_and_the_rest_is_asked_again(
    batch: Cli, provider: BatchServer, calls: Any, rows: Callable[..., Any], out: Path, run_folder: Callable[[Path], Path]
) -> None:
    requests, report = calls
    provider.endings = [expired(3)]
    done = batch()
    assert done.code == 0 and "batch batch_1 is expired" in done.err
    assert sizes(provider) == [len(requests), len(requests) - 3] and paid_once(provider)
    assert (run_folder(out) / "report.json").read_bytes() == report
    assert {row["state"] for row in rows(out, "SELECT state FROM batches WHERE batch_id = 'batch_1'")} == {"expired"}


@pytest.mark.slow
def test_a_batch_that_somebody_cancels_is_not_asked_again_by_the_same_command(
    batch: Cli, provider: BatchServer, calls: Any, refused: Callable[..., None], replies: Callable[[Path], Any], out: Path
) -> None:
    requests, _ = calls
    provider.endings = [cancelled(2)]
    refused(batch(), 6, f"{len(requests) - 2} of openai", "batch batch_1 was cancelled")
    assert len(provider.batches) == 1 and len(replies(out)) == 2
    assert batch().code == 0
    assert sizes(provider) == [len(requests), len(requests) - 2] and paid_once(provider)


@pytest.mark.slow
def test_a_file_that_is_refused_is_shown_with_its_lines(batch: Cli, provider: BatchServer, refused: Callable[..., None]) -> None:
    problems = [
        {"code": "invalid_json_line", "message": "This line is not parseable.", "line": 3},
        *({"code": "other", "message": f"Problem {number}.", "line": number} for number in range(4, 10)),
    ]
    provider.endings = [failed(*problems)]
    refused(batch(), 4, "batch_1 was refused", "line 3: This line is not parseable. (invalid_json_line)", "line 7", "and 2 more")
    assert batch().code == 0
    assert len(provider.batches) == 2


@pytest.mark.slow
def test_a_file_that_is_refused_for_a_parameter_is_sent_without_it(
    batch: Cli, provider: BatchServer, replies: Callable[[Path], Any], out: Path
) -> None:
    provider.endings = [failed({"code": "unsupported", "message": "'temperature' is not supported with this model", "line": 2})]
    assert batch().code == 0
    assert {tuple(reply["left_out"]) for reply in replies(out)} == {("temperature",)}


@pytest.mark.slow
def test_a_full_queue_is_waited_for_and_given_less(
    batch: Cli, provider: BatchServer, calls: Any, out: Path, run_folder: Callable[[Path], Path]
) -> None:
    full = failed({"code": "token_limit_exceeded", "message": "Enqueued token limit reached for tester. Limit: 90,000 enqueued tokens."})
    provider.endings = [full, full]
    assert batch().code == 0
    whole, half, *rest = sizes(provider)
    assert whole == len(calls[0]) and half == whole // 2
    assert max(rest) <= half and sum(rest) == whole and max(rest[-3:]) == half // 2  # the second refusal is halved again
    assert paid_once(provider) and (run_folder(out) / "report.json").read_bytes() == calls[1]


@pytest.mark.slow
def test_a_queue_that_stays_full_is_given_up(batch: Cli, provider: BatchServer, refused: Callable[..., None], calls: Any) -> None:
    full = failed({"code": "token_limit_exceeded", "message": "Enqueued token limit reached"})
    provider.endings = [full] * 1000
    refused(batch(), 6, f"{len(calls[0])} of openai", "Enqueued token limit reached")
    assert not provider.paid


@pytest.mark.slow
def test_results_that_are_gone_are_not_paid_again_before_one_says_so(
    batch: Cli, cli: Cli, provider: BatchServer, calls: Any, refused: Callable[..., None], out: Path
) -> None:
    provider.faults["content"] = [404, 404]
    for _ in range(2):
        refused(batch(), 4, "the results of batch batch_1 no longer exist", "harness batch forget batch_1")
    assert len(provider.batches) == 1
    assert cli("batch", "forget", "batch_1", "--out", out).code == 0
    assert batch().code == 0
    assert len(provider.batches) == 2


# ---- a connection that breaks


@pytest.mark.slow
@pytest.mark.parametrize("what", ["upload", "make", "look", "content"])
@pytest.mark.parametrize("fault", [500, "lost", "half", (429, "Slow down", ("Retry-After", "0.02"))], ids=["500", "lost", "half", "429"])
def test_trouble_that_passes_costs_no_second_batch(
    batch: Cli, provider: BatchServer, what: str, fault: Any, calls: Any, out: Path, run_folder: Callable[[Path], Path]
) -> None:
    provider.faults[what] = [fault, fault]
    assert batch().code == 0
    assert len(provider.batches) == 1 and paid_once(provider)
    assert (run_folder(out) / "report.json").read_bytes() == calls[1]


@pytest.mark.slow
@pytest.mark.parametrize("what", ["upload", "make", "look"])
def test_an_answer_that_is_none_is_asked_for_again(batch: Cli, provider: BatchServer, what: str) -> None:
    provider.faults[what] = [(200, "this is no object of yours")]
    assert batch().code == 0
    assert len(provider.batches) == 1 and paid_once(provider)


@pytest.mark.slow
def test_files_do_not_follow_a_redirect(batch: Cli, provider: BatchServer, refused: Callable[..., None]) -> None:
    provider.faults["upload"] = [(307, "over there", ("Location", "http://example.invalid/v1/files"))]
    refused(batch(), 4, "307", "use that as the base URL")
    assert provider.count("upload") == 1


@pytest.mark.slow
def test_a_batch_whose_making_was_not_heard_of_is_found_in_a_list_of_several_pages(
    batch: Cli, provider: BatchServer, calls: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.engines.batch_submission.MOST_REQUESTS", 2)
    monkeypatch.setattr("harness.judges.batches._PAGE_SIZE", 2)
    provider.faults["make"] = [None, None, None, None, "lost"]
    assert batch().code == 0
    assert sum(sizes(provider)) == len(calls[0]) and paid_once(provider)


@pytest.mark.slow
def test_a_file_is_used_once_it_is_checked_in(batch: Cli, provider: BatchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.judges.batches._FILE_CHECK_SECONDS", 0.01)
    provider.file_status = ["pending", "running"]
    provider.faults["make"] = [(400, "Cannot find file file-1, or this project does not have access to it.")]
    assert batch().code == 0
    assert provider.count("file") == 2 and len(provider.batches) == 1


@pytest.mark.slow
def test_an_endpoint_without_batches_is_told_apart(batch: Cli, provider: BatchServer, refused: Callable[..., None]) -> None:
    provider.faults["upload"] = [404]
    refused(batch(), 4, "would not upload a file", "--engine local")


@pytest.mark.slow
def test_an_endpoint_that_is_not_there_is_told(batch: Cli, closed_url: str, refused: Callable[..., None]) -> None:
    refused(batch("--base-url", closed_url), 4, "no connection", "Is the endpoint up")


@pytest.mark.slow
def test_a_key_that_is_wrong_ends_the_run(batch: Cli, provider: BatchServer, refused: Callable[..., None]) -> None:
    provider.faults["upload"] = [401]
    refused(batch(), 4, "401", "OPENAI_API_KEY")


@pytest.mark.slow
def test_a_batch_of_another_project_is_not_submitted_again(batch: Cli, provider: BatchServer, refused: Callable[..., None]) -> None:
    assert batch("--detach").code == 6
    provider.faults["look"] = [404]
    refused(batch(), 4, "there is no batch batch_1", "same project", "harness batch forget batch_1")
    assert batch().code == 0
    assert len(provider.batches) == 1


# ---- a process that dies, at any moment


def killed(process: Any) -> None:
    process.kill()
    process.wait()


@pytest.mark.slow
def test_a_kill_after_the_upload_costs_a_file_and_no_batch(
    batch: Cli, provider: BatchServer, start: Any, command_line: list[str], calls: Any, out: Path, run_folder: Callable[[Path], Path]
) -> None:
    provider.hold("upload")
    process = start(*command_line)
    provider.wait_for("upload")
    killed(process)
    provider.release("upload")
    assert batch().code == 0
    assert provider.count("upload") == 2 and len(provider.batches) == 1 and paid_once(provider)
    assert (run_folder(out) / "report.json").read_bytes() == calls[1]
    assert not list(out.glob(".batch-*"))  # what the killed one has left is gone


@pytest.mark.slow
def test_a_batch_that_was_made_when_the_process_was_killed_is_found_again(
    batch: Cli, provider: BatchServer, start: Any, command_line: list[str], calls: Any, out: Path, run_folder: Callable[[Path], Path]
) -> None:
    provider.hold("make")
    process = start(*command_line)
    provider.wait_for("make")
    killed(process)
    provider.release("make")
    done = batch()
    assert done.code == 0 and "were submitted before (batch_1)" in done.err
    assert provider.count("upload") == len(provider.batches) == 1 and paid_once(provider)
    assert (run_folder(out) / "report.json").read_bytes() == calls[1]


@pytest.mark.slow
def test_a_file_of_which_no_batch_was_made_is_handed_over_anew(
    batch: Cli, provider: BatchServer, start: Any, command_line: list[str], rows: Callable[..., Any], out: Path
) -> None:
    provider.faults["make"] = [500]
    provider.hold("make")
    process = start(*command_line)
    provider.wait_for("make")
    killed(process)
    provider.release("make")
    assert batch().code == 0
    assert len(provider.batches) == 1 and paid_once(provider)
    assert Counter(row["state"] for row in rows(out, "SELECT state FROM batches WHERE batch_id LIKE 'file %'")) == {
        "not made into a batch": 1,
        "made into batch_1": 1,
    }


@pytest.mark.slow
def test_a_kill_between_two_files_submits_only_the_rest(
    batch: Cli, provider: BatchServer, start: Any, command_line: list[str], calls: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert batch("--max-calls", "3", "--detach").code == 6
    provider.hold("look")
    process = start(*command_line)
    provider.wait_for("look")
    killed(process)
    provider.release("look")
    assert batch().code == 0
    assert sizes(provider) == [3, len(calls[0]) - 3] and paid_once(provider)


@pytest.mark.slow
def test_a_kill_while_waiting_costs_nothing(
    batch: Cli, provider: BatchServer, start: Any, command_line: list[str], calls: Any, out: Path, run_folder: Callable[[Path], Path]
) -> None:
    provider.course = ("in_progress",) * 5  # type: ignore[misc]
    process = start(*command_line)
    provider.wait_for("look", 2)
    killed(process)
    assert batch().code == 0
    assert len(provider.batches) == 1 and paid_once(provider)
    assert (run_folder(out) / "report.json").read_bytes() == calls[1]


@pytest.mark.slow
def test_a_kill_between_two_batches_that_are_collected_fetches_only_the_second(
    batch: Cli, provider: BatchServer, start: Any, command_line: list[str], calls: Any, replies: Callable[[Path], Any], out: Path
) -> None:
    assert batch("--max-calls", "3", "--detach").code == 6
    provider.hold("content", after=1)
    process = start(*command_line)
    provider.wait_for("content", 2)
    killed(process)
    provider.release("content")
    assert len(replies(out)) == 3
    assert batch().code == 0
    assert provider.count("content") == 3 and len(replies(out)) == len(calls[0]) and paid_once(provider)


@pytest.mark.slow
@pytest.mark.parametrize("reask", [(), ("--reask", "refused")], ids=["", "reask"])
def test_results_that_were_half_in_the_store_are_collected_to_their_end(
    batch: Cli,
    provider: BatchServer,
    endpoint: Any,
    calls: Any,
    reask: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    rows: Callable[..., Any],
    out: Path,
    refused: Callable[..., None],
) -> None:
    endpoint.script = endpoint.first(endpoint.saying("", refusal="I would rather not."))
    monkeypatch.setattr("harness.engines.batch_engine._CHUNK", 2)
    put, puts = Store.put_attempts, iter((True, True, False))

    def full_after_two(self: Store, *arguments: Any) -> None:
        if not next(puts, True):
            raise StoreError("the disk is full; make room, then run the same command again")
        put(self, *arguments)

    monkeypatch.setattr(Store, "put_attempts", full_after_two)
    refused(batch(*reask), 5, "the disk is full")
    assert len(rows(out, "SELECT 1 FROM attempts")) == 4
    assert batch(*reask).code == 0
    asked_again = 1 if reask else 0
    assert sizes(provider) == [len(calls[0]), asked_again][: 1 + asked_again]
    assert len(rows(out, "SELECT 1 FROM attempts")) == len(calls[0]) + asked_again


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))])
def test_a_kill_while_collecting_keeps_every_answer_once(
    seed: int,
    cli: Cli,
    provider: BatchServer,
    start: Any,
    command_line: list[str],
    rows: Callable[..., Any],
    out: Path,
) -> None:
    more = [*command_line, "--langs", "ja,cs", "--limit", "12", "--tasks", "open_prompt,summarize,continue_writing"]
    provider.hold("content")
    process = start(*more)
    provider.wait_for("content")
    provider.release("content")
    time.sleep(random.Random(seed).uniform(0, 0.15))
    killed(process)
    assert cli(*more).code == 0
    assert len(provider.batches) == 1 and paid_once(provider)
    attempts = rows(out, "SELECT call_id, attempt, reply FROM attempts")
    assert len(attempts) == sum(sizes(provider)) and all(row["attempt"] == 1 and row["reply"] for row in attempts)


@pytest.mark.slow
def test_ctrl_c_while_waiting_ends_cleanly_and_the_same_command_goes_on(
    batch: Cli, provider: BatchServer, start: Any, command_line: list[str]
) -> None:
    provider.course = ("in_progress",) * 100_000  # type: ignore[misc]
    process = start(*command_line)
    provider.wait_for("look", 2)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 130 and "interrupted; calls without an answer" in said and "Traceback" not in said
    for made in provider.batches.values():
        made.course = []
    assert batch().code == 0
    assert len(provider.batches) == 1


@pytest.mark.slow
def test_minutes_that_are_over_leave_the_batches_to_the_next_command(
    batch: Cli, provider: BatchServer, refused: Callable[..., None]
) -> None:
    provider.course = ("in_progress",) * 100_000  # type: ignore[misc]
    refused(batch("--max-minutes", "0.02"), 6, "--max-minutes 0.02 are over", "Run the same command again")
    provider.course = ()  # type: ignore[misc]  # where the time was over before a batch was made, the next command makes it
    for made in provider.batches.values():
        made.course = []
    assert batch().code == 0
    assert len(provider.batches) == 1


@pytest.mark.slow
def test_runs_that_share_calls_share_their_batches(cli: Cli, command_line: list[str], provider: BatchServer, out: Path) -> None:
    assert cli(*command_line, "--detach").code == 6
    [first] = sizes(provider)
    assert cli(*command_line, "--langs", "ja,cs").code == 0
    assert sizes(provider)[0] == first and paid_once(provider)
    seen = provider.count("content")
    done = cli(*command_line)
    assert done.code == 0 and provider.count("content") == seen  # nothing is left to fetch


@pytest.mark.slow
def test_a_narrower_run_leaves_the_rest_of_a_batch_to_the_run_that_submitted_it(
    cli: Cli, command_line: list[str], provider: BatchServer
) -> None:
    wide = [*command_line, "--langs", "ja,cs"]
    assert cli(*wide, "--detach").code == 6
    assert cli(*command_line).code == 0
    assert cli(*wide).code == 0
    assert len(provider.batches) == 1 and paid_once(provider)


@pytest.mark.slow
def test_calls_that_were_answered_live_in_between_are_not_answered_again(
    batch: Cli, ask: Cli, provider: BatchServer, endpoint: Any, calls: Any, rows: Callable[..., Any], out: Path
) -> None:
    assert batch("--detach").code == 6
    assert ask("--limit", "4", "--max-calls", "2").code == 6
    assert batch().code == 0
    assert len(rows(out, "SELECT 1 FROM attempts")) == len(calls[0])
    assert batch().code == 0
    assert len(provider.batches) == 1


# ---- submitting and fetching apart


def test_detached_batches_are_shown_collected_and_reported(
    batch: Cli, cli: Cli, provider: BatchServer, calls: Any, out: Path, refused: Callable[..., None], run_folder: Callable[[Path], Path]
) -> None:
    requests, report = calls
    provider.course = ("validating", "in_progress", "in_progress", "in_progress", "in_progress")  # type: ignore[misc]
    there = ("--base-url", provider.url, "--out", out)
    done = batch("--detach")
    refused(done, 6, f"{len(requests)} calls are with the provider", "harness batch status", "harness batch collect", "without --detach")
    assert done.out == ""
    [row] = json.loads(cli("batch", "status", *there, "--json").out)
    assert (row["batch"], row["state"], row["calls"], row["judge"]) == ("batch_1", "submitted", len(requests), f"openai/{MODEL}")
    assert row["provider"] == {"status": "in_progress", "total": len(requests), "completed": 0, "failed": 0}
    assert f"in_progress, 0 of {len(requests)} done" in " ".join(cli("batch", "status", *there).out.split())
    early = cli("batch", "collect", *there)
    refused(early, 6, f"{len(requests)} calls are with the provider")
    assert early.out == ""
    for made in provider.batches.values():
        made.course = []
    late = cli("batch", "collect", *there)
    assert late.code == 0 and "Czech" in late.out
    assert (run_folder(out) / "report.json").read_bytes() == report
    [row] = json.loads(cli("batch", "status", *there, "--json").out)
    assert (row["state"], row["provider"]) == ("completed", None)  # what has ended is not asked about
    again = cli("batch", "collect", run_folder(out).name, *there)
    assert (again.code, again.out) == (0, late.out)


@pytest.mark.slow
def test_collecting_submits_nothing(
    batch: Cli, cli: Cli, provider: BatchServer, endpoint: Any, out: Path, refused: Callable[..., None]
) -> None:
    endpoint.script = endpoint.first(endpoint.error(500, "The server had an error"))
    provider.course = ()
    assert batch("--detach").code == 6
    refused(cli("batch", "collect", "--base-url", provider.url, "--out", out), 6, "1 of openai", "500: The server had an error")
    assert len(provider.batches) == 1
    assert batch().code == 0
    assert sizes(provider)[1] == 1


@pytest.mark.slow
def test_detaching_twice_submits_once(batch: Cli, provider: BatchServer) -> None:
    provider.course = ("in_progress",) * 9  # type: ignore[misc]
    assert batch("--detach").code == batch("--detach").code == 6
    assert len(provider.batches) == 1


@pytest.mark.slow
def test_status_says_which_address_is_needed(batch: Cli, cli: Cli, provider: BatchServer, out: Path, refused: Callable[..., None]) -> None:
    batch("--detach")
    done = cli("batch", "status", "--out", out)
    refused(done, 4, "was asked with the settings endpoint=127.0.0.1", "--base-url")
    assert "batch_1" in done.out


@pytest.mark.slow
def test_folders_without_batches_say_so(cli: Cli, out: Path, refused: Callable[..., None]) -> None:
    cli("run", "--langs", "cs", "--limit", "1", "--judge", "baseline/random", "--out", out)
    assert "no batches" in cli("batch", "status", "--out", out).err
    refused(cli("batch", "collect", "--out", out), 2, "no batches in", "--engine batch")
    refused(cli("batch", "forget", "batch_9", "--out", out), 2, "no batch 'batch_9'")
    refused(cli("batch", "status", "--out", out / "other"), 5, "no results in")


@pytest.mark.slow
def test_a_folder_that_is_waited_in_is_not_collected_from(
    provider: BatchServer, cli: Cli, start: Any, command_line: list[str], out: Path, refused: Callable[..., None]
) -> None:
    provider.course = ("in_progress",) * 100_000  # type: ignore[misc]
    start(*command_line)
    provider.wait_for("look", 1)
    refused(cli("batch", "collect", "--base-url", provider.url, "--out", out), 5, "is in use by another run")
    assert cli("batch", "status", "--base-url", provider.url, "--out", out).code == 0


# ---- money


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    table = tmp_path / "prices.toml"
    table.write_text(f'["openai/{MODEL}"]\ninput = 1000.0\ncached = 0.0\noutput = 2000.0\nas_of = "2026-04"\n')
    return table


@pytest.mark.slow
def test_a_batch_is_half_the_price_in_the_plan(cli: Cli, command_line: list[str], prices: Path, provider: BatchServer) -> None:
    [batched] = json.loads(cli(*command_line, "--prices", prices, "--dry-run", "--json").out)["judges"]
    [live] = json.loads(cli(*command_line, "--engine", "local", "--prices", prices, "--dry-run", "--json").out)["judges"]
    assert batched["cost"] == pytest.approx(live["cost"] / 2) and live["cost"] > 0
    assert provider.seen == []


@pytest.mark.slow
def test_run_json_prices_each_reply_by_the_engine_that_asked_it(
    batch: Cli, ask: Cli, prices: Path, calls: Any, out: Path, run_folder: Callable[[Path], Path]
) -> None:
    assert ask("--limit", "4", "--max-calls", "2", "--prices", prices).code == 6
    assert batch("--prices", prices).code == 0
    record = json.loads((run_folder(out) / "run.json").read_bytes())
    each = (100 * 1000 + 20 * 2000) / 1e6  # the endpoint counts 100 and 20 tokens
    assert record["spent"][f"openai/{MODEL}"]["cs"]["cost"] == pytest.approx(2 * each + (len(calls[0]) - 2) * each / 2)
    assert [session["engine"] for session in record["sessions"]] == [{"name": "local"}, {"name": "batch"}]


@pytest.mark.slow
def test_no_more_is_submitted_than_may_be_spent_at_half_the_price(
    batch: Cli, cli: Cli, command_line: list[str], prices: Path, provider: BatchServer, refused: Callable[..., None]
) -> None:
    [row] = json.loads(cli(*command_line, "--prices", prices, "--dry-run", "--json").out)["judges"]
    refused(batch("--prices", prices, "--max-cost", str(row["cost"] / 2)), 6, "--max-cost", "is used up")
    assert 0 < sum(sizes(provider)) < row["calls"]
    assert batch().code == 0 and paid_once(provider)


@pytest.mark.slow
def test_calls_are_counted_and_those_asked_again_are_not_counted_twice(
    batch: Cli, provider: BatchServer, endpoint: Any, refused: Callable[..., None]
) -> None:
    endpoint.script = endpoint.first(endpoint.error(500, "The server had an error"))
    refused(batch("--max-calls", "3"), 6, "--max-calls 3 is used up")
    assert sizes(provider) == [3, 1] and sum(provider.paid.values()) == 3


# ---- who can be asked so


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["baseline/majority", "local/smollm2-135m"])
def test_judges_without_a_batch_interface_are_refused_before_anything_is_made(
    cli: Cli, judge: str, out: Path, refused: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if judge.startswith("local"):
        model = tmp_path / "m.gguf"
        model.write_bytes(b"GGUF")
        judge = f"local/{model}"
    refused(cli("run", "--langs", "cs", "--judge", judge, "--engine", "batch", "--out", out), 2, "--engine batch needs a provider")
    assert not out.exists()


@pytest.mark.slow
def test_detaching_is_for_batches_only(ask: Cli, refused: Callable[..., None]) -> None:
    refused(ask("--detach"), 2, "--detach needs --engine batch")


@pytest.mark.slow
def test_own_texts_are_not_uploaded_without_a_word(
    cli: Cli, data_folder: Callable[..., Path], out: Path, refused: Callable[..., None]
) -> None:
    away = ("run", "--data", data_folder("Les."), "--judge", "openai/m", "--engine", "batch", "--base-url", "http://example.invalid/v1")
    refused(cli(*away, "--out", out), 2, "1 texts of your data folder would be sent to example.invalid", "--yes")


@pytest.mark.slow
def test_a_key_is_needed_away_from_this_machine(cli: Cli, out: Path, refused: Callable[..., None]) -> None:
    refused(cli("run", "--langs", "cs", "--judge", "openai/m", "--engine", "batch", "--out", out), 4, "no API key for api.openai.com")


# ---- secrets


@pytest.mark.slow
def test_the_key_goes_into_one_header_and_comes_back_into_no_file(
    batch: Cli, provider: BatchServer, endpoint: Any, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    echo = {"justification": f"Your key is {KEY}.", "score": 1}
    endpoint.script = endpoint.first(
        endpoint.error(500, f"Bearer {KEY} is tired"), endpoint.error(400, f"{KEY} may not say this"), endpoint.saying(echo)
    )
    provider.endings = [expired(3)]
    provider.faults["look"] = [(500, f"{KEY} overload")]
    done = batch()
    kept = everything_in(out)
    assert done.code == 0 and b"[key] may not say this" in kept and b"Your key is [key]." in kept and b"Bearer [key] is tired" in kept
    assert KEY.encode() not in kept and KEY not in done.out + done.err
    assert KEY.encode() not in b"".join(provider.files[made.input_file_id] for made in provider.batches.values())
    for seen in provider.seen:
        assert [name for name, value in seen.headers.items() if KEY in value] == ["authorization"] and KEY not in seen.path


@pytest.mark.slow
def test_a_key_in_the_refusal_of_a_file_is_not_shown(
    batch: Cli, provider: BatchServer, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., None]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    provider.endings = [failed({"code": "bad", "message": f"{KEY} is not welcome", "line": 1})]
    done = batch()
    refused(done, 4, "[key] is not welcome")
    assert KEY not in done.err
    provider.faults["upload"] = [(403, f"{KEY} may not")]
    done = batch()
    refused(done, 4, "[key] may not", "may not use batches")
    assert KEY not in done.err


# ---- Azure


@pytest.mark.slow
def test_azure_is_asked_in_its_own_way(cli: Cli, provider: BatchServer, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", provider.url.removesuffix("/v1"))
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    done = cli("run", "--langs", "cs", "--limit", "1", "--judge", "openai/my-deployment", "--engine", "batch", "--out", out)
    assert done.code == 0
    for seen in provider.seen:
        assert seen.path.startswith("/openai/") and "api-version=2024-10-21" in seen.path
        assert [name for name, value in seen.headers.items() if KEY in value] == ["api-key"]
    [made] = provider.batches.values()
    requests = provider.requests(made.id)
    assert made.endpoint == "/chat/completions" and {request["url"] for request in requests} == {"/chat/completions"}
    assert {request["body"]["model"] for request in requests} == {"my-deployment"}


# ---- further headers and fields, and the version of an interface


GATEWAY = "gateway-secret-0815"


def test_headers_fields_and_a_version_reach_every_request_and_are_given_again_to_go_on(
    cli: Cli, command_line: list[str], provider: BatchServer, out: Path, refused: Callable[..., None]
) -> None:
    there = ("--base-url", f"{provider.url}?api-version=2024-10-21", "--out", out)
    header = ("--header", f"X-Gateway={GATEWAY}")
    refused(cli(*command_line, *there, *header, "--body", "reasoning_effort=low", "--detach"), 6, "harness batch collect")
    for made in provider.batches.values():
        made.course = []
    seen = len(provider.seen)
    refused(cli("batch", "collect", *there), 2, "headers=X-Gateway", "--header")
    refused(cli("batch", "collect", "--base-url", provider.url, "--out", out, *header), 2, "query=api-version=2024-10-21", "--base-url")
    refused(cli("batch", "collect", *there, "--header", "openai/other=X-Gateway=1"), 2, "not a judge of this run")
    refused(cli("batch", "status", *there), 4, "headers=X-Gateway")
    assert len(provider.seen) == seen, "nothing is sent without the header"
    [row] = json.loads(cli("batch", "status", *there, *header, "--json").out)
    assert row["provider"]["status"] == "completed"
    done = cli("batch", "collect", *there, *header)
    assert done.code == 0, done.err
    for request in provider.seen:
        assert request.headers["x-gateway"] == GATEWAY and "api-version=2024-10-21" in request.path
    assert {line["body"]["reasoning_effort"] for line in provider.requests("batch_1")} == {"low"}
    assert GATEWAY.encode() not in everything_in(out) and GATEWAY not in done.out + done.err


# ---- bodies without an end


@pytest.mark.parametrize(
    ("what", "status", "code", "problem"),
    [
        ("upload", 200, 4, "more than 0 MiB"),
        ("make", 400, 4, "would not make a batch (400"),
        ("look", 200, 4, "more than 0 MiB"),
        ("look", 403, 4, "would not check a batch (403"),
        ("content", 200, 4, "as the results of 11 calls"),
        ("content", 400, 4, "would not fetch results (400"),
    ],
)
def test_no_more_of_a_body_is_read_than_is_needed(
    batch: Cli,
    provider: BatchServer,
    monkeypatch: pytest.MonkeyPatch,
    refused: Callable[..., None],
    what: str,
    status: int,
    code: int,
    problem: str,
) -> None:
    for limit in ("LONGEST_BODY", "LONGEST_REFUSAL", "LONGEST_RESULT"):
        monkeypatch.setattr(f"harness.judges.batches.{limit}", 20_000)
    monkeypatch.setattr("harness.engines.retries.LONGEST_OUTAGE_SECONDS", 0)
    provider.endless[what] = status
    refused(batch(), code, problem)
    assert 0 < provider.endless_bytes < 50_000_000


def test_an_error_about_one_text_with_status_200_is_a_failure_of_this_text(
    batch: Cli, endpoint: Any, provider: BatchServer, replies: Callable[[Path], Any], out: Path
) -> None:
    said = "The prompt was flagged by the content policy"
    endpoint.script = endpoint.first(endpoint.error(200, said))
    assert batch().code == 0
    assert [reply["refusal"] for reply in replies(out) if reply["refusal"]] == [said]
    assert len(provider.batches) == 1
