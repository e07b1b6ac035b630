"""A scripted HTTP server on the loopback interface: how it lives and ends, whatever it answers."""

from __future__ import annotations

import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Quiet(BaseHTTPRequestHandler):
    """Prints nothing, and bears connections that are cut, by us or by a kill."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def handle(self) -> None:
        with suppress(OSError):
            super().handle()

    def finish(self) -> None:
        with suppress(OSError):
            super().finish()

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


class Loopback:
    """Serves `handler` from the moment it is made until it is closed."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
