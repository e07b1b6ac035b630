"""A run that is asked by a cluster: the same store and report as from one machine, whatever dies in the middle.

The clusters are real ones of several nodes, all on this machine and on its loopback interface.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.conftest import HANG_SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.needs("ray")]

NODES = 2
RUN = ("run", "--langs", "ja,cs", "--judge", "openai/m")
LEASED = 3  # calls that a worker holds for each call in flight: one is asked, one waits, the answer of one is on its way (docs/running.md)
SMALL = ("run", "--langs", "cs", "--tasks", "open_prompt", "--limit", "2")


class Cluster:
    """Nodes with one CPU each, and what they run. All that Ray writes is in a folder of its own, whose name has to be short for sockets."""

    def __init__(self, nodes: int = NODES) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ray-"))
        own = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "AZURE_", "RAY_"))}
        self.env = {
            "RAY_TMPDIR": str(self.folder),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_AUTH_MODE": "disabled",  # or a cluster that a test starts leaves a token in the home folder
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # the loopback address is as good as any other
        }
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("ray_cluster.py")), str(nodes)],
            env=own | self.env,
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._started: dict[int, psutil.Process] = {}
        self.address = str(self._said()["address"])

    @property
    def flags(self) -> tuple[str, ...]:
        return ("--engine", "ray", "--ray-address", self.address)

    def kill_node(self) -> None:
        """End one node and everything on it, without a warning."""
        assert self._process.stdin
        self.processes()
        self._process.stdin.write("kill\n")
        self._process.stdin.flush()
        self._said()

    def actors(self, count: int, seconds: float = HANG_SECONDS) -> list[psutil.Process]:
        """The actors that run, once there are so many."""
        deadline = time.monotonic() + seconds
        while len(found := [process for process in self.processes() if "ray::Actor" in _title(process)]) != count:
            assert time.monotonic() < deadline, f"{len(found)} of {count} actors"
            time.sleep(0.05)
        return found

    def processes(self) -> list[psutil.Process]:
        found = psutil.Process(self._process.pid).children(recursive=True)
        self._started |= {process.pid: process for process in found}
        return found

    def close(self) -> None:
        self.processes()
        try:
            self._process.communicate(timeout=HANG_SECONDS)  # closes its standard input
        finally:
            self._process.kill()
            for process in self._started.values():
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            psutil.wait_procs(list(self._started.values()), 10)
            shutil.rmtree(self.folder, ignore_errors=True)

    def _said(self) -> Any:
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, "the cluster has ended"
        return json.loads(line)


def _title(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A cluster that tests leave as they found it."""
    made = Cluster()
    yield made
    made.close()


@pytest.fixture
def own_cluster() -> Iterator[Cluster]:
    """A cluster that a test may break."""
    made = Cluster()
    yield made
    made.close()


@contextmanager
def slow_answers(endpoint: Any) -> Iterator[None]:
    """Each answer takes a second: the run cannot end before what a test waits for has happened, however busy the machine is."""
    usual, endpoint.latency = endpoint.latency, 1.0
    yield
    endpoint.latency = usual


@pytest.fixture
def undisturbed(cli: Callable[..., Any], endpoint: Any, run_folder: Callable[[Path], Path], tmp_path: Path) -> Callable[..., bytes]:
    """The report of the same run by the local engine, against the same endpoint."""

    def run(*arguments: str) -> bytes:
        folder = tmp_path / "undisturbed"
        latency, endpoint.latency = endpoint.latency, 0.0
        asked, endpoint.requests = endpoint.requests, []
        assert cli(*arguments, "--base-url", endpoint.url, "--out", folder).code == 0
        endpoint.latency, endpoint.requests = latency, asked
        return (run_folder(folder) / "report.json").read_bytes()

    return run


@pytest.fixture
def answered(rows: Callable[..., Any], out: Path) -> Callable[[], Counter[str]]:
    """How many replies each call has in the store."""

    def count() -> Counter[str]:
        return Counter(row["call_id"] for row in rows(out, "SELECT call_id FROM attempts WHERE reply IS NOT NULL"))

    return count


@pytest.fixture
def start_in(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start the command as a process that the test may signal, after some Python that sets constants."""
    started: list[subprocess.Popen[str]] = []

    def run(env: dict[str, str], *arguments: str | Path, first: str = "") -> subprocess.Popen[str]:
        code = f"import sys\n{first}\nfrom harness.cli import main\nsys.exit(main(sys.argv[1:]))"
        process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


def engine_of(folder: Path) -> dict[str, Any]:
    """What the last session of a run says of its engine."""
    found: dict[str, Any] = json.loads((folder / "run.json").read_text())["sessions"][-1]["engine"]
    return found


# Whole runs


def test_a_cluster_gives_the_report_that_one_machine_gives(
    command: Any, cluster: Cluster, endpoint: Any, undisturbed: Any, answered: Any, run_folder: Any, out: Path
) -> None:
    endpoint.latency = 1  # the run lasts until both actors have started, however busy the machine is
    done = command(*RUN, "--base-url", endpoint.url, "--out", out, "--json", *cluster.flags, env=cluster.env)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)  # and nothing of what Ray says
    assert set(answered().values()) == {1} and len(answered()) == len(endpoint.requests) > 90
    assert (run_folder(out) / "report.json").read_bytes() == undisturbed(*RUN)
    assert engine_of(run_folder(out)) == {"name": "ray", "nodes": NODES, "actors": NODES, "lost": 0, "dropped": 0}
    again = command(*RUN, "--base-url", endpoint.url, "--out", out, *cluster.flags, env=cluster.env)
    assert again.returncode == 0 and len(answered()) == len(endpoint.requests)  # nothing is asked twice


def test_a_baseline_learns_the_same_on_a_cluster(command: Any, cluster: Cluster, cli: Any, run_folder: Any, tmp_path: Path) -> None:
    run = (*SMALL, "--judge", "baseline/majority", "--judge", "baseline/random")
    done = command(*run, "--out", tmp_path / "ray", *cluster.flags, env=cluster.env)
    assert done.returncode == 0, done.stderr
    assert cli(*run, "--out", tmp_path / "local").code == 0
    reports = [(run_folder(tmp_path / engine) / "report.json").read_bytes() for engine in ("ray", "local")]
    assert reports[0] == reports[1]


def test_a_conversation_goes_turn_by_turn_on_a_cluster(
    command: Any, cluster: Cluster, endpoint: Any, undisturbed: Any, answered: Any, run_folder: Any, out: Path
) -> None:
    run = (*SMALL, "--judge", "openai/m", "--variant", "conversation")
    done = command(*run, "--base-url", endpoint.url, "--out", out, *cluster.flags, env=cluster.env)
    assert done.returncode == 0, done.stderr
    turns = Counter([message["role"] for message in request.body["messages"]].count("assistant") for request in endpoint.requests)
    assert len(turns) > 1 and set(answered().values()) == {1} and len(answered()) == sum(turns.values())
    assert engine_of(run_folder(out))["name"] == "ray"
    assert (run_folder(out) / "report.json").read_bytes() == undisturbed(*run)
    again = command(*run, "--base-url", endpoint.url, "--out", out, *cluster.flags, env=cluster.env)
    assert again.returncode == 0 and len(endpoint.requests) == sum(turns.values()), "nothing is asked twice"


@pytest.mark.needs("model")
def test_a_local_model_answers_on_its_node(command: Any, cluster: Cluster, replies: Any, out: Path) -> None:
    run = ("run", "--langs", "cs", "--limit", "1", "--tasks", "open_prompt", "--metrics", "task_quality")
    done = command(*run, "--out", out, *cluster.flags, env=cluster.env)
    assert done.returncode == 0, done.stderr
    [reply] = replies(out)
    assert reply["model"] == "smollm2-135m" and "score" in json.loads(reply["text"])


@pytest.mark.needs("model")
def test_a_local_model_has_a_conversation_on_its_node(command: Any, cluster: Cluster, replies: Any, out: Path) -> None:
    run = ("run", "--langs", "cs", "--limit", "1", "--tasks", "open_prompt", "--variant", "conversation+score-only")
    done = command(*run, "--out", out, *cluster.flags, env=cluster.env)
    assert done.returncode == 0, done.stderr
    sizes = [reply["usage"]["prompt_tokens"] for reply in replies(out)]
    assert len(sizes) > 1 and sizes == sorted(set(sizes)), "each turn repeats the turns before it"


def test_a_cluster_of_its_own_is_started_only_when_it_is_wanted_and_ends_with_the_run(
    command: Any, endpoint: Any, cluster: Cluster, out: Path
) -> None:
    folder = Path(tempfile.mkdtemp(prefix="ray-"))
    try:
        run = (*SMALL, "--judge", "openai/m", "--base-url", endpoint.url, "--engine", "ray", "--ray-actors", "1")
        done = command(*run, "--out", out, "--ray-address", "local", env=cluster.env | {"RAY_TMPDIR": str(folder)})
        assert done.returncode == 0, done.stderr
        assert endpoint.requests
        psutil.wait_procs([process for process in psutil.process_iter() if str(folder) in _title(process)], 20)
        assert [process for process in psutil.process_iter() if str(folder) in _title(process)] == []
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# What is divided, and what is kept for all


def test_calls_in_flight_are_divided_over_the_actors(command: Any, cluster: Cluster, endpoint: Any, out: Path) -> None:
    endpoint.latency = 0.03
    lock, now, most = threading.Lock(), Counter[str](), 0

    def script(request: Any) -> Any:
        nonlocal most
        with lock:
            now["in"] += 1
            most = max(most, now["in"])
        time.sleep(0.03)
        with lock:
            now["in"] -= 1
        return endpoint.good(request)

    endpoint.script, endpoint.latency = script, 0.0
    done = command(*RUN, "--base-url", endpoint.url, "--out", out, "--concurrency", "5", *cluster.flags, env=cluster.env)
    assert done.returncode == 0, done.stderr
    assert 3 <= most <= 5


def test_the_driver_keeps_the_budget_for_all(command: Any, cluster: Cluster, endpoint: Any, answered: Any, refused: Any, out: Path) -> None:
    run = (*RUN, "--base-url", endpoint.url, "--out", out, *cluster.flags)
    refused(command(*run, "--max-calls", "20", env=cluster.env), 6, "--max-calls 20 is used up")
    assert len(endpoint.requests) == len(answered()) == 20
    assert command(*run, env=cluster.env).returncode == 0
    assert set(answered().values()) == {1} and len(answered()) == len(endpoint.requests)


def test_attempts_that_brought_nothing_are_kept_with_their_reason(
    command: Any, cluster: Cluster, endpoint: Any, rows: Any, answered: Any, out: Path
) -> None:
    endpoint.script = endpoint.first(*(endpoint.error(429, "slow down", retry_after="0") for _ in range(3)))
    done = command(*SMALL, "--judge", "openai/m", "--base-url", endpoint.url, "--out", out, *cluster.flags, env=cluster.env)
    assert done.returncode == 0, done.stderr
    lost = rows(out, "SELECT lost FROM attempts WHERE reply IS NULL")
    assert len(lost) == 3 and all("429" in row["lost"] for row in lost)
    assert set(answered().values()) == {1}


# Secrets and consent


def test_a_key_reaches_the_endpoint_and_no_file(
    command: Any, cluster: Cluster, endpoint: Any, start_in: Any, out: Path, tmp_path: Path
) -> None:
    key, other = "sk-not-to-be-found-4711", "unread-secret-4712"
    env = cluster.env | {"OPENAI_API_KEY": key, "OTHER_SECRET": other, "RAY_BACKEND_LOG_LEVEL": "debug"}
    process = start_in(env, *RUN, "--base-url", endpoint.url, "--out", out, *cluster.flags)
    with slow_answers(endpoint):
        environments = b"".join(Path(f"/proc/{actor.pid}/environ").read_bytes() for actor in cluster.actors(NODES))
    said = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 0, said
    assert {request.headers["authorization"] for request in endpoint.requests} == {f"Bearer {key}"}
    written = [path for folder in (cluster.folder, tmp_path) for path in folder.rglob("*") if path.is_file()]
    assert len(written) > 20  # Ray's logs are among them
    for secret in (key.encode(), other.encode()):
        assert [path for path in written if secret in path.read_bytes()] == []
        assert secret not in environments and secret.decode() not in "".join(said)


def test_own_texts_go_to_a_cluster_only_when_they_may(command: Any, cluster: Cluster, data_folder: Any, refused: Any, out: Path) -> None:
    run = ("run", "--data", data_folder("Les."), "--judge", "baseline/random", "--out", out, *cluster.flags)
    refused(command(*run, env=cluster.env), 2, "1 texts of your data folder would be sent to the nodes of the Ray cluster", "--yes")
    assert command(*run, "--yes", env=cluster.env).returncode == 0


# What dies in the middle


def test_a_node_that_dies_costs_nothing_but_its_time(
    own_cluster: Cluster, endpoint: Any, start_in: Any, undisturbed: Any, answered: Any, run_folder: Any, out: Path
) -> None:
    endpoint.latency = 0.1
    run = (*RUN, "--base-url", endpoint.url, "--out", out, "--concurrency", "8", *own_cluster.flags)
    process = start_in(own_cluster.env, *run)
    with slow_answers(endpoint):
        own_cluster.actors(NODES)
    endpoint.wait_for(30, process)
    own_cluster.kill_node()
    said = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 0, said
    assert set(answered().values()) == {1}
    times = Counter(request.key for request in endpoint.requests)
    assert len(times) == len(answered())
    assert sum(times.values()) - len(times) <= LEASED * 8 // NODES  # only what the node had is asked again
    assert (run_folder(out) / "report.json").read_bytes() == undisturbed(*RUN)
    assert engine_of(run_folder(out)) == {"name": "ray", "nodes": NODES, "actors": NODES, "lost": 1, "dropped": 0}


def test_an_actor_that_dies_is_replaced(
    cluster: Cluster, endpoint: Any, start_in: Any, undisturbed: Any, answered: Any, run_folder: Any, out: Path
) -> None:
    endpoint.latency = 0.1
    process = start_in(cluster.env, *RUN, "--base-url", endpoint.url, "--out", out, "--concurrency", "4", *cluster.flags)
    with slow_answers(endpoint):
        endpoint.wait_for(5, process)
        first, second = cluster.actors(NODES)
        first.kill()
        psutil.wait_procs([first], HANG_SECONDS)
        assert {actor.pid for actor in cluster.actors(NODES)} - {first.pid, second.pid}  # another is in its seat
    second.kill()
    said = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 0, said
    assert set(answered().values()) == {1}
    assert (run_folder(out) / "report.json").read_bytes() == undisturbed(*RUN)
    assert engine_of(run_folder(out))["lost"] == 2


def test_an_actor_that_hangs_is_given_up(
    cluster: Cluster, endpoint: Any, start_in: Any, undisturbed: Any, answered: Any, run_folder: Any, out: Path
) -> None:
    endpoint.latency = 0.1
    impatient = "import harness.engines.ray_engine as driver\ndriver.SILENT_SECONDS = 15.0"  # a busy machine may need seconds for an answer
    run = (*RUN, "--base-url", endpoint.url, "--out", out, "--concurrency", "4", *cluster.flags)
    process = start_in(cluster.env, *run, first=impatient)
    with slow_answers(endpoint):
        endpoint.wait_for(5, process)
        hanging = cluster.actors(NODES)[0]
        hanging.suspend()
    try:
        said = process.communicate(timeout=HANG_SECONDS)
    finally:
        with suppress(psutil.NoSuchProcess):
            hanging.resume()
    assert process.returncode == 0, said
    assert set(answered().values()) == {1}
    assert (run_folder(out) / "report.json").read_bytes() == undisturbed(*RUN)
    assert engine_of(run_folder(out))["lost"] == 1


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_driver_that_is_ended_has_kept_what_it_received(
    how: signal.Signals,
    cluster: Cluster,
    endpoint: Any,
    start_in: Any,
    command: Any,
    undisturbed: Any,
    answered: Any,
    run_folder: Any,
    out: Path,
) -> None:
    endpoint.latency = 0.1
    run = (*RUN, "--base-url", endpoint.url, "--out", out, "--concurrency", "6", *cluster.flags)
    process = start_in(cluster.env, *run)
    endpoint.wait_for(40, process)
    process.send_signal(how)
    _, said = process.communicate(timeout=HANG_SECONDS)
    cluster.actors(0)  # they end with it
    if how != signal.SIGKILL:
        assert process.returncode == 130 and "Run the same command again" in said and "Traceback" not in said
    asked, kept = len(endpoint.requests), answered()
    with_actors = LEASED * 6 if how == signal.SIGKILL else 8  # who is killed cannot tell its actors to ask nothing more of what they have
    assert set(kept.values()) == {1} and 0 <= asked - len(kept) <= with_actors
    done = command(*run, env=cluster.env)
    assert done.returncode == 0 and f"{len(kept)} answered already" in done.stderr, done.stderr
    assert set(answered().values()) == {1}
    assert (run_folder(out) / "report.json").read_bytes() == undisturbed(*RUN)


# What cannot be


def test_a_judge_that_a_node_does_not_have_ends_the_run_in_words(
    command: Any, cli: Any, cluster: Cluster, refused: Any, out: Path, tmp_path: Path
) -> None:
    assert cli(*SMALL, "--judge", "baseline/random", "--out", tmp_path / "first").code == 0
    assert cli("store", "export", "--to", tmp_path / "replies.jsonl", "--out", tmp_path / "first").code == 0
    run = (*SMALL, "--judge", "replay/replies.jsonl", "--out", out)
    refused(command(*run, *cluster.flags, env=cluster.env), 4, "on node 127.0.0.1", "no store export at 'replies.jsonl'", "docs/running.md")
    absolute = (*SMALL, "--judge", f"replay/{tmp_path / 'replies.jsonl'}", "--out", out)
    assert command(*absolute, *cluster.flags, env=cluster.env).returncode == 0


def test_a_key_that_is_refused_ends_the_run_as_it_does_here(command: Any, cluster: Cluster, endpoint: Any, refused: Any, out: Path) -> None:
    endpoint.script = lambda request: endpoint.error(401, "no such key")
    run = (*SMALL, "--judge", "openai/m", "--base-url", endpoint.url, "--out", out, *cluster.flags)
    refused(command(*run, env=cluster.env), 4, "refused a call with 401: no such key", "OPENAI_API_KEY")


@pytest.mark.parametrize(
    ("address", "code", "words"),
    [
        ("127.0.0.1:{closed}", 4, ("no Ray cluster answers at '127.0.0.1:", "ray start --head", "--ray-address local")),
        ("auto", 4, ("no Ray cluster answers at '127.0.0.1:", "ray start --head")),
        ("cluster", 2, ("'cluster' is not an address of a Ray cluster", "HOST:PORT")),
        ("ray://127.0.0.1:10001", 2, ("Ray client", "run the command on a node of the cluster")),
    ],
)
def test_a_wrong_address_is_said_with_what_to_do(
    address: str, code: int, words: tuple[str, ...], command: Any, cluster: Cluster, refused: Any, out: Path
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        closed = probe.getsockname()[1]
    run = (*SMALL, "--judge", "baseline/random", "--out", out, "--engine", "ray", "--ray-address", address.format(closed=closed))
    refused(command(*run, env=cluster.env | {"RAY_ADDRESS": f"127.0.0.1:{closed}"}), code, *words)
