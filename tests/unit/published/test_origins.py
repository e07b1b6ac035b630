"""Files of every kind of origin, fetched from a server of this machine: a repository, Git LFS, a release and a data set hub."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from harness.content.specs import DatasetCard, RawFile, RawSource
from harness.errors import DataFetchError
from harness.published import fetch as fetching
from harness.published.fetch import fetch

CONTENT = b"item,score\na,1\n"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 15\n"
PATHS = {
    "github:own/set@0a1b": "/raw/own/set/0a1b/scores.csv",
    "lfs:own/set@0a1b": "/media/own/set/0a1b/scores.csv",
    "release:own/set@v1.0": "/site/own/set/releases/download/v1.0/scores.csv",
    "hub:own/set@0a1b": "/datasets/own/set/resolve/0a1b/scores.csv",
}


class _Files(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = {**dict.fromkeys(PATHS.values(), CONTENT), "/raw/own/set/0a1b/pointer.csv": POINTER}.get(self.path)
        self.send_response(200 if body else 404)
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Serve the files under all addresses, in the place of the usual hosts."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Files) as files:
        threading.Thread(target=files.serve_forever, daemon=True).start()
        here = f"http://127.0.0.1:{files.server_port}"
        monkeypatch.setattr(fetching, "HOSTS", {"github": f"{here}/raw", "lfs": f"{here}/media", "release": f"{here}/site"})
        hub = here + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", hub)
        monkeypatch.delenv("HARNESS_DATA_MIRROR", raising=False)
        monkeypatch.setattr(fetching, "ATTEMPTS", 1)
        yield
        files.shutdown()


def card(origin: str, path: str = "scores.csv", content: bytes = CONTENT) -> DatasetCard:
    file = RawFile(path, len(content), hashlib.sha256(content).hexdigest())
    return DatasetCard(id="made", sources=(RawSource(origin=origin, files=(file,)),))


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("origin", PATHS)
def test_each_kind_of_origin_gives_its_file_by_its_hash(origin: str, tmp_path: Path) -> None:
    assert fetch(card(origin), tmp_path) == (1, ())
    [written] = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written.read_bytes() == CONTENT and written.relative_to(tmp_path).parts[:2] == ("own", "set")
    with pytest.raises(DataFetchError, match="is not the file that the dataset card names"):
        fetch(card(origin, content=b"item,score\nb,2\n"), tmp_path / "other")
    assert not [path for path in (tmp_path / "other").rglob("*") if path.is_file()]


@pytest.mark.usefixtures("server")
def test_a_pointer_of_git_lfs_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataFetchError, match=r"is a pointer of Git LFS and not the file; the card's origin should begin with lfs:"):
        fetch(card("github:own/set@0a1b", "pointer.csv"), tmp_path)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
