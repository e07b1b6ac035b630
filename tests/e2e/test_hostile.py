"""Whatever an endpoint does: every call is answered or honestly missing, what came is kept as it came, and nothing is paid twice."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import HANG_SECONDS

pytestmark = pytest.mark.slow  # an endpoint that misbehaves

CALLS = 30

# Every kind of fault, by what a run can make of it (as in hostile.py).
PLAIN_FAULTS = ("500", "429", "reset-body", "html")  # one of each family; the others are tested with the slow ones
ASKED_AGAIN = (
    "429", "429-retry-after", "429-ratelimit", "500", "502-html", "503", "504", "529", "reset-before", "reset-head", "reset-body",
    "cut-json", "html", "not-utf8", "stall", "429-quota-per-minute", "nested", "endless-head", "endless-header", "no-choices",
)  # fmt: skip
GOOD_ALL_THE_SAME = ("reset-after", "slow-body", "wrong-type", "odd-usage", "long-headers", "escapes")
NAMED_FAILURES = {
    "refusal": "refused",
    "prose-refusal": "refused",
    "length": "truncated",
    "policy": "refused",
    "too-long": "missing",
}
REFUSED = {"307": "307", "204": "204", "403-page": "403", "413-page": "413"}  # by the endpoint, and what is said of it
ODD = ("other-model", "huge-body", "surrogates")
UNEXPLAINED = ("400",)  # may be about the text or the endpoint: test_refusals.py


class Disturbed:
    """A run of calls that have an undisturbed run, `calm`, to be compared with."""

    def __init__(self, cli: Callable[..., Any], calm: Any, out: Path) -> None:
        self._cli, self.calm, self.out = cli, calm, out

    def run(self, endpoint: Any, *arguments: str) -> Any:
        done = self._cli(*self.calm.command, "--base-url", endpoint.url, "--out", self.out, *arguments)
        assert "Traceback" not in done.err
        return done

    @property
    def folder(self) -> Path:
        [found] = (self.out / "runs").iterdir()
        return found

    @property
    def report(self) -> Any:
        return json.loads((self.folder / "report.json").read_bytes())

    @property
    def failures(self) -> Counter[str]:
        return sum((Counter(cell["failures"]) for cell in self.report["cells"]), Counter())

    def files(self) -> dict[str, bytes]:
        """What the run's folder holds beside run.json and answers.json, which have a clock, and spec.toml, which has the flags."""
        other = ("run.json", "answers.json", "spec.toml")
        return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file() and path.name not in other}


@pytest.fixture
def disturbed(cli: Callable[..., Any], calm: Callable[[int], Any], out: Path) -> Callable[..., Disturbed]:
    return lambda calls=CALLS: Disturbed(cli, calm(calls), out)


@pytest.fixture
def lost(rows: Callable[..., Any], out: Path) -> Callable[[], Counter[str]]:
    """How often each call of the store had no reply."""
    return lambda: Counter(row["call_id"] for row in rows(out, "SELECT call_id FROM attempts WHERE lost IS NOT NULL AND reply IS NULL"))


# ---- the endpoint itself


FINITE = [kind for kind in ASKED_AGAIN if kind != "stall" and not kind.startswith("endless")]


def posted(url: str, body: bytes, **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(url.split("/")[2], timeout=HANG_SECONDS)
    try:
        connection.request("POST", "/v1/chat/completions", body, headers)
        response = connection.getresponse()
        return response.status, response.read()
    except (http.client.HTTPException, ConnectionError) as err:
        return 0, type(err).__name__.encode()
    finally:
        connection.close()


def chat(text: str, **more: Any) -> bytes:
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": text}], **more}).encode()


def test_every_kind_of_fault_is_tried_below(hostile: Callable[..., Any]) -> None:
    assert sorted(hostile().control()["kinds"]) == sorted((*ASKED_AGAIN, *GOOD_ALL_THE_SAME, *NAMED_FAILURES, *REFUSED, *ODD, *UNEXPLAINED))


def test_equal_seeds_fail_alike_and_others_do_not(hostile: Callable[..., Any]) -> None:
    def heard(seed: int) -> list[tuple[int, bytes]]:
        endpoint = hostile(faults=0.5, seed=seed, drip=0.01, kinds=",".join(FINITE))
        return [posted(endpoint.url, chat(f"{n % 20}")) for n in range(60)]

    assert heard(1) == heard(1) != heard(2)


def test_answers_are_fixed_by_what_is_asked_and_differ_with_it(hostile: Callable[..., Any]) -> None:
    one, other = hostile(), hostile(seed=5)
    answers = [posted(endpoint.url, chat(str(n))) for n in range(50) for endpoint in (one, other)]
    assert answers[::2] == answers[1::2] and len(set(answers)) == 50
    said = [json.loads(json.loads(body)["choices"][0]["message"]["content"]) for _, body in answers]
    assert {answer["score"] for answer in said} == {0, 1}
    assert all(list(answer) == ["justification", "score"] for answer in said)


def test_a_joint_call_is_answered_metric_by_metric(hostile: Callable[..., Any]) -> None:
    answer = {"type": "object", "properties": {"score": {"enum": [3, 4]}, "justification": {"type": "string"}}}
    form = {"type": "json_schema", "json_schema": {"schema": {"type": "object", "properties": {"a": answer, "b": answer}}}}
    _, body = posted(hostile().url, chat("x", response_format=form))
    said = json.loads(json.loads(body)["choices"][0]["message"]["content"])
    assert list(said) == ["a", "b"] and list(said["a"]) == ["score", "justification"]
    assert {said["a"]["score"], said["b"]["score"]} <= {3, 4} and said["a"]["justification"] != said["b"]["justification"]


def test_a_body_in_chunks_is_the_same_request(hostile: Callable[..., Any]) -> None:
    endpoint = hostile()
    whole = posted(endpoint.url, chat("x"))
    connection = http.client.HTTPConnection("127.0.0.1", endpoint.port, timeout=HANG_SECONDS)
    connection.request("POST", "/v1/chat/completions", iter([chat("x")[:7], chat("x")[7:]]), encode_chunked=True)
    assert (200, connection.getresponse().read()) == whole
    connection.close()
    assert endpoint.stats()["distinct"] == 1


def test_only_what_was_sent_whole_counts_as_good(hostile: Callable[..., Any]) -> None:
    endpoint = hostile(faults=1, drip=0.01, stall=0.01)
    counted = {}
    for kind in endpoint.control()["kinds"]:
        if kind.startswith("endless"):  # nothing is ever sent whole
            continue
        endpoint.control(reset=True, kinds=[kind])
        posted(endpoint.url, chat("x"))
        stats = endpoint.stats()
        assert (stats["requests"], stats["faults"], stats["open"], stats["most_open"]) == (1, {kind: 1}, 0, 1)
        counted[kind] = (*stats["good"].values(), *stats["paid"].values())
    good = {*GOOD_ALL_THE_SAME, *ODD, "stall"}  # this stall is a short one
    paid = good | set(NAMED_FAILURES) - {"policy", "too-long"}
    assert counted == {kind: (int(kind in good), int(kind in paid)) for kind in counted}


def test_an_answer_that_nobody_waited_for_is_not_counted(hostile: Callable[..., Any]) -> None:
    endpoint = hostile(latency=30)
    connection = http.client.HTTPConnection("127.0.0.1", endpoint.port)
    connection.request("POST", "/v1/chat/completions", chat("x"))
    endpoint.wait_for(1)
    connection.close()
    while endpoint.stats()["open"]:
        time.sleep(0.01)
    assert endpoint.stats()["abandoned"] == 1 and sum(endpoint.stats()["good"].values()) == 0


def test_a_wrong_setting_is_refused_in_words(hostile: Callable[..., Any]) -> None:
    endpoint = hostile()
    with pytest.raises(AssertionError, match="there is no setting 'fault'; there are: latency"):
        endpoint.control(fault=1)


def test_a_restart_closes_the_door_for_a_while(hostile: Callable[..., Any]) -> None:
    endpoint = hostile()
    endpoint.control(down=0.3)
    assert posted(endpoint.url, chat("x")) == (0, b"ConnectionRefusedError")
    while posted(endpoint.url, chat("x"))[0] != 200:
        time.sleep(0.02)
    assert endpoint.stats()["requests"] == 1


def test_it_ends_when_its_time_is_over(hostile: Callable[..., Any]) -> None:
    assert hostile(lifetime=0.2).wait(HANG_SECONDS) == 0


def test_it_ends_when_its_parent_has_died() -> None:
    program = [sys.executable, str(Path(__file__).with_name("hostile.py")), "--lifetime", "60"]
    parent = f"import subprocess; print(subprocess.Popen({program}, stdout=subprocess.PIPE).stdout.readline().decode())"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", parent], stdout=subprocess.PIPE, text=True, check=True)
    ends = time.monotonic() + HANG_SECONDS
    while posted(f"http://127.0.0.1:{int(done.stdout)}/v1", chat("x"))[0]:
        assert time.monotonic() < ends
        time.sleep(0.02)


# ---- each kind of fault alone


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=() if kind in PLAIN_FAULTS else pytest.mark.slow) for kind in ASKED_AGAIN])
def test_what_is_no_answer_is_asked_again_until_one_comes(
    kind: str, disturbed: Callable[..., Disturbed], hostile: Callable[..., Any], lost: Callable[[], Any], texts: Callable[..., Any]
) -> None:
    run, endpoint = disturbed(), hostile(faults=1, max_faults_per_call=1, kinds=kind)
    arguments = ["--timeout", "0.5"] if kind == "stall" else []
    if kind == "html":  # as the very first answer, it would be the wrong address
        endpoint.control(good_first=1, faults=0.2)
        arguments = ["--concurrency", "1"]
    assert run.run(endpoint, *arguments).code == 0
    stats = endpoint.stats()
    assert list(stats["faults"]) == [kind] and (stats["faults"][kind] == CALLS or kind == "html")
    assert stats["distinct"] == CALLS and set(stats["good"].values()) == {1}
    assert set(lost().values()) == {1} and len(lost()) == stats["faults"][kind]
    assert texts(run.out) == run.calm.texts
    assert run.files() == run.calm.files


@pytest.mark.parametrize("kind", GOOD_ALL_THE_SAME)
def test_a_good_answer_is_taken_whatever_is_odd_about_its_way(
    kind: str, disturbed: Callable[..., Disturbed], hostile: Callable[..., Any], texts: Callable[..., Any]
) -> None:
    run, endpoint = disturbed(), hostile(faults=1, kinds=kind)
    assert run.run(endpoint).code == 0
    stats = endpoint.stats()
    assert stats["faults"] == {kind: CALLS} and set(stats["good"].values()) == {1}
    assert texts(run.out) == run.calm.texts
    assert run.files() == run.calm.files


@pytest.mark.parametrize("kind", NAMED_FAILURES)
def test_an_answer_without_a_score_is_a_named_failure_and_asked_once(
    kind: str, disturbed: Callable[..., Disturbed], hostile: Callable[..., Any], replies: Callable[..., Any], lost: Callable[[], Any]
) -> None:
    run, endpoint = disturbed(), hostile(faults=1, kinds=kind)
    assert run.run(endpoint).code == 4  # none of the answers can be read
    assert run.run(endpoint).code == 4  # nobody is asked again
    stats = endpoint.stats()
    assert stats["requests"] == CALLS and set(stats["paid"].values()) == {int(kind not in ("policy", "too-long"))}
    assert run.failures == {NAMED_FAILURES[kind]: CALLS}
    assert all(cell["coverage"] == 0 and cell["pa"] is None for cell in run.report["cells"])
    kept = replies(run.out)
    assert len(kept) == CALLS and not lost()
    said = {
        "refusal": lambda reply: reply["refusal"] == "I'm sorry, but I can't assist with that.",
        "prose-refusal": lambda reply: reply["text"] == "I'm sorry, but I cannot rate this text.",
        "length": lambda reply: reply["finish_reason"] == "length" and len(reply["text"]) == 40,
        "policy": lambda reply: "content management policy" in reply["refusal"],
        "too-long": lambda reply: reply["error"].startswith("400: This model's maximum context length"),
    }
    assert all(said[kind](reply) for reply in kept)


def test_a_model_that_changes_its_name_is_named_in_the_report(
    disturbed: Callable[..., Disturbed], hostile: Callable[..., Any], replies: Callable[..., Any], texts: Callable[..., Any]
) -> None:
    run, endpoint = disturbed(), hostile(faults=1, kinds="other-model")
    assert run.run(endpoint).code == 0
    names = Counter(reply["model"] for reply in replies(run.out))
    assert set(names) == {"m-0", "m-1", "m-2"}
    assert run.report["answered_by"] == {"openai/m": dict(names)}
    assert texts(run.out) == run.calm.texts


def test_a_huge_body_around_a_small_answer_costs_no_room(
    disturbed: Callable[..., Disturbed], hostile: Callable[..., Any], texts: Callable[..., Any]
) -> None:
    run, endpoint = disturbed(), hostile(faults=0.2, kinds="huge-body")
    assert run.run(endpoint).code == 0
    stats = endpoint.stats()
    assert stats["faults"]["huge-body"] >= 1 and set(stats["good"].values()) == {1}
    assert texts(run.out) == run.calm.texts
    assert sum(path.stat().st_size for path in run.out.rglob("*") if path.is_file()) < 5_000_000
    assert run.files() == run.calm.files


def test_halves_of_characters_leave_the_rest_of_an_answer_as_it_came(
    disturbed: Callable[..., Disturbed], hostile: Callable[..., Any], texts: Callable[..., Any]
) -> None:
    run, endpoint = disturbed(), hostile(faults=1, kinds="surrogates")
    assert run.run(endpoint).code == 0
    assert {call: text.replace(" \ufffd \\ud801", "") for call, text in texts(run.out).items()} == run.calm.texts
    assert all(" \ufffd \\ud801" in text for text in texts(run.out).values())
    assert all(cell["coverage"] == 1 for cell in run.report["cells"])
    other, calm = (re.sub(rb"judgments:\w+", b"", files["report.json"]) for files in (run.files(), run.calm.files))
    assert other == calm  # the hash is of the justifications too


# ---- the endpoint refuses, for no reason of the item's


@pytest.mark.parametrize("kind", REFUSED)
def test_a_refusal_by_the_endpoint_is_a_lost_call_and_no_answer(
    kind: str, disturbed: Callable[..., Disturbed], hostile: Callable[..., Any], refused: Callable[..., None], texts: Callable[..., Any]
) -> None:
    run, endpoint = disturbed(), hostile(faults=0.2, max_faults_per_call=1, good_first=1, kinds=kind)
    done = run.run(endpoint, "--concurrency", "1")
    count = endpoint.stats()["faults"][kind]
    refused(done, 6, f"calls without an answer: {count} of openai/m", f"refused a call with {REFUSED[kind]}", "Run the same command again")
    assert not run.failures and len(texts(run.out)) == CALLS - count
    assert run.run(endpoint, "--concurrency", "1").code == 0
    assert run.files() == run.calm.files


@pytest.mark.parametrize("kind", REFUSED)
def test_refusals_by_the_endpoint_that_repeat_stop_the_judge(
    kind: str, disturbed: Callable[..., Disturbed], hostile: Callable[..., Any], refused: Callable[..., None], texts: Callable[..., Any]
) -> None:
    run, endpoint = disturbed(), hostile(faults=1, good_first=7, kinds=kind)
    refused(run.run(endpoint, "--concurrency", "1"), 4, f"refused a call with {REFUSED[kind]}", "5 refusals one after the other")
    assert endpoint.stats()["requests"] == 7 + 5 and len(texts(run.out)) == 7
    endpoint.control(faults=0)
    assert run.run(endpoint).code == 0
    assert run.files() == run.calm.files


@pytest.mark.slow
def test_headers_without_an_end_fill_no_memory(disturbed: Callable[..., Disturbed], hostile: Callable[..., Any]) -> None:
    """What the endpoint could send before it was hung up on is little more than the buffers on the way hold."""
    run, endpoint = disturbed(), hostile(faults=1, max_faults_per_call=1, kinds="endless-head,endless-header")
    assert run.run(endpoint, "--concurrency", "1", "--timeout", "5").code == 0
    stats = endpoint.stats()
    assert sum(stats["faults"].values()) == CALLS and stats["poured"] < CALLS * 8 * 2**20
    assert run.files() == run.calm.files


# ---- many at once

MIXED = ",".join(ASKED_AGAIN)


@pytest.mark.parametrize("calls", [150, pytest.param(5000, marks=pytest.mark.slow)])
def test_a_fifth_of_all_attempts_may_fail_in_every_way(
    calls: int,
    disturbed: Callable[..., Disturbed],
    hostile: Callable[..., Any],
    texts: Callable[..., Any],
    refused: Callable[..., None],
) -> None:
    run, endpoint = disturbed(calls), hostile(faults=0.2, kinds=MIXED, good_first=50, seed=3)
    for _ in range(5):
        done = run.run(endpoint, "--timeout", "2", "--attempts", "3")  # a busy machine takes no good answer for a stall
        missing = calls - len(texts(run.out))
        if not missing:
            break
        # Calls of which every attempt failed: as many are missing as the run says, and it goes on from there.
        refused(done, 6, f"calls without an answer: {missing} of openai/m", "Run the same command again")
        assert run.report["missing"] == {"openai/m": missing}
    assert done.code == 0
    stats = endpoint.stats()
    assert set(stats["faults"]) == set(ASKED_AGAIN) or calls < 1000
    assert len(stats["good"]) == calls and set(stats["good"].values()) == {1}  # none was paid twice
    assert texts(run.out) == run.calm.texts
    assert run.files() == run.calm.files


def test_calls_that_stay_without_an_answer_are_missing_and_no_failures(
    disturbed: Callable[..., Disturbed],
    hostile: Callable[..., Any],
    texts: Callable[..., Any],
    lost: Callable[[], Any],
    refused: Callable[..., None],
) -> None:
    run, endpoint = disturbed(), hostile(faults=0.6, kinds="500,reset-body,cut-json")
    done = run.run(endpoint, "--attempts", "2")
    answered = texts(run.out)
    refused(done, 6, f"calls without an answer: {CALLS - len(answered)} of openai/m")
    assert 0 < len(answered) < CALLS and answered.items() <= run.calm.texts.items()
    assert {call for call, times in lost().items() if times == 2} == set(run.calm.texts) - set(answered)
    assert not run.failures
    endpoint.control(faults=0)
    assert run.run(endpoint).code == 0
    assert run.files() == run.calm.files


# ---- an endpoint that goes away, or hangs


@pytest.mark.slow
def test_a_run_lives_through_a_restart(
    disturbed: Callable[..., Disturbed], hostile: Callable[..., Any], start: Callable[..., Any], lost: Callable[[], Any], texts: Any
) -> None:
    """Calls wait while nobody is there: the restart takes longer than three attempts would."""
    run, endpoint = disturbed(150), hostile(latency=0.02)
    process = start(
        *run.calm.command, "--base-url", endpoint.url, "--out", run.out, "--concurrency", "8", "--attempts", "3", "--timeout", "5"
    )
    endpoint.wait_for(50)
    endpoint.control(down=3)
    said = process.communicate(timeout=HANG_SECONDS)[1]
    assert process.returncode == 0 and "Traceback" not in said
    stats = endpoint.stats()
    assert stats["requests"] <= 150 + 8  # those that were in flight
    assert sum(lost().values()) < 50 and max(lost().values()) < 3
    assert texts(run.out) == run.calm.texts
    assert run.files() == run.calm.files


@pytest.mark.slow
def test_a_body_that_drips_past_the_timeout_is_given_up_and_asked_for_again(
    disturbed: Callable[..., Disturbed], hostile: Callable[..., Any], lost: Callable[[], Any]
) -> None:
    """Every piece comes in time, but the whole does not: the timeout is the attempt's."""
    run, endpoint = disturbed(), hostile(faults=1, max_faults_per_call=1, kinds="slow-body", drip=3)
    assert run.run(endpoint, "--timeout", "1").code == 0
    assert set(lost().values()) == {1} and len(lost()) == CALLS
    assert endpoint.stats()["abandoned"] == CALLS
    assert run.files() == run.calm.files


# ---- how many at a time


@pytest.mark.slow
def test_without_a_number_calls_in_flight_grow_while_it_goes_well_and_shrink_where_it_does_not(
    disturbed: Callable[..., Disturbed], hostile: Callable[..., Any], start: Callable[..., Any]
) -> None:
    run, endpoint = disturbed(1500), hostile(latency=0.1, faults=0.8, max_faults_per_call=1, kinds="429,503", good_first=300)
    process = start(*run.calm.command, "--base-url", endpoint.url, "--out", run.out)
    endpoint.wait_for(300)
    grown = endpoint.stats()["most_open"]
    endpoint.wait_for(300 + 6 * grown)  # by now refusals have come back several times
    endpoint.control(reset=True, good_first=0)
    endpoint.wait_for(60)
    shrunk = endpoint.stats()["most_open"]
    endpoint.control(faults=0, latency=0)
    assert process.wait(HANG_SECONDS) == 0
    assert grown > 20 and shrunk < 0.75 * grown
    assert run.files() == run.calm.files
