"""The hub imitated on the loopback interface: as much of its API as fetching the files of one data set, `owner/name`, asks for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.e2e.loopback import Loopback, Quiet

_API = "/api/datasets/owner/name"


class Hub:
    """Holds `files` at one commit, which `revision` names too; `asked` are the paths that were asked for."""

    def __init__(self, files: Mapping[str, bytes], commit: str, revision: str = "main") -> None:
        self.asked: list[str] = []
        self._files = files
        self._commit = commit
        self._names = (revision, commit)
        self._server = Loopback(type("Handler", (_Handler,), {"hub": self}))

    def environment(self, home: Path) -> dict[str, str]:
        """What a process needs in its environment to ask here, and to keep what it gets in `home`."""
        address = self._server.url.removesuffix("/v1")
        return {"HF_ENDPOINT": address, "HF_HOME": str(home), "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_TELEMETRY": "1"}

    def close(self) -> None:
        self._server.close()

    def answer(self, path: str) -> tuple[int, Any, dict[str, str]]:
        """Status, body and headers."""
        self.asked.append(path)
        kind, _, name = path.removeprefix(_API).strip("/").partition("/")
        if path.startswith(f"{_API}/revision/"):
            if name not in self._names:
                return 404, {"error": "Invalid rev id"}, {"X-Error-Code": "RevisionNotFound"}
            siblings = [{"rfilename": file} for file in self._files]
            return 200, {"id": "owner/name", "sha": self._commit, "siblings": siblings, "private": False, "gated": False, "tags": []}, {}
        if (kind, name) == ("tree", self._commit):
            hashes = {file: hashlib.sha1(data).hexdigest() for file, data in self._files.items()}
            return 200, [{"type": "file", "path": file, "size": len(self._files[file]), "oid": oid} for file, oid in hashes.items()], {}
        file = path.removeprefix(f"/datasets/owner/name/resolve/{self._commit}/")
        if file in self._files:
            data = self._files[file]
            return 200, data, {"ETag": hashlib.sha1(data).hexdigest(), "X-Repo-Commit": self._commit}
        return 404, {}, {"X-Error-Code": "EntryNotFound"}


class _Handler(Quiet):
    hub: Hub

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        status, body, headers = self.hub.answer(self.path.partition("?")[0])
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
