"""The endpoint that benchmarks ask, on the loopback interface."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def endpoint(latency: float) -> Iterator[str]:
    """The tests' endpoint, without faults, in a process of its own; its base URL. It answers after `latency` seconds."""
    script = Path(__file__).resolve().parents[1] / "tests/e2e/hostile.py"
    command = [sys.executable, str(script), "--port", "0", "--latency", str(latency), "--lifetime", "900"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
    finally:
        process.terminate()
        process.wait()
