"""`harness run --engine batch` against a provider's files and batches: whole runs by the command."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.batch_server import BatchServer

Cli = Callable[..., Any]


@pytest.fixture
def provider(endpoint: Any) -> Iterator[BatchServer]:
    """Answers the requests of a batch as `endpoint` answers live ones."""
    from tests.e2e.conftest import Request

    def answer(body: dict[str, Any]) -> tuple[int, Any]:
        found = endpoint.script(Request("POST", "/v1/chat/completions", {}, body))
        return found.status, found.body

    served = BatchServer(answer)
    yield served
    served.close()


def test_first(ask: Cli, provider: BatchServer, out: Path) -> None:
    done = ask("--engine", "batch", "--base-url", provider.url)
    print(done.out, done.err)
    assert done.code == 0
