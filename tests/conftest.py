"""What all tests share: the command in-process and as a subprocess, and the rule for tests that need something absent."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness.cli import main
from harness.content import Library
from harness.judges import models

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"
AXE = Path(os.environ.get("HARNESS_AXE", ROOT / ".venv" / "axe-core" / "axe.min.js"))


def _can_mount() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        mounted = (
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder], capture_output=True, check=False).returncode == 0
        )
        return mounted and subprocess.run(["umount", folder], check=False).returncode == 0


_PRESENT: dict[str, Callable[[], bool]] = {
    "model": lambda: models.catalogue()["smollm2-135m"].path.is_file(),
    "shared data": SHARED_DATA.is_dir,
    "mount": lambda: _can_mount(),
    "ray": lambda: find_spec("ray") is not None,
    "chromium": lambda: shutil.which("chromium") is not None and find_spec("playwright") is not None,
    "axe-core": AXE.is_file,
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what cannot run here; where HARNESS_NO_SKIPS is set, let it fail instead."""
    for item in items:
        for marker in item.iter_markers("needs"):
            [what] = marker.args
            if not os.environ.get("HARNESS_NO_SKIPS") and not _PRESENT[what]():
                item.add_marker(pytest.mark.skip(reason=f"needs {what}"))


@pytest.fixture(autouse=True)
def _closed_world(monkeypatch: pytest.MonkeyPatch) -> None:
    """No keys of the person who runs the tests, and no way to a registry or hub for subprocesses either."""
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "AZURE_OPENAI_", "HF_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("NO_COLOR", "1")


class Result(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run the command in this process."""

    def run(*arguments: str | Path) -> Result:
        capfd.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:  # argparse
            code = int(stop.code or 0)
        captured = capfd.readouterr()
        return Result(code, captured.out, captured.err)

    return run


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command as a process of its own, from an empty folder."""

    def run(
        *arguments: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None, timeout: float = 120, **options: Any
    ) -> Any:
        return subprocess.run(
            [sys.executable, "-m", "harness", *map(str, arguments)],
            env={**os.environ, **(env or {})},
            cwd=cwd or tmp_path,
            timeout=timeout,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            **options,
        )

    return run


@pytest.fixture(scope="session")
def library() -> Library:
    return Library()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Published data sets with human labels, which are not part of the project; for tests that carry `needs("shared data")`."""
    return SHARED_DATA


@pytest.fixture(scope="session")
def axe_core() -> str:
    """The program that looks for what keeps people out of a page; for tests that carry `needs("axe-core")`."""
    return AXE.read_text("utf-8")
