"""The engine is chosen by its name, and what it takes is said before anything is asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.asking_options import Settings
from harness.engines import check_engine
from harness.errors import UsageError

RUN = ("run", "--langs", "cs", "--limit", "1", "--judge", "baseline/random")


def test_an_engine_that_is_not_here_is_refused_with_those_that_are() -> None:
    with pytest.raises(UsageError, match="the engine 'cloud' is not part of this version; choose from: local, batch, ray"):
        check_engine(Settings(engine="cloud"))


@pytest.mark.parametrize("found", [None, "a folder"])
def test_without_its_package_an_engine_says_how_to_install_it(
    found: str | None, cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = type("Spec", (), {"origin": None})() if found else None
    monkeypatch.setattr("harness.engines.find_spec", lambda name: folder)
    done = cli(*RUN, "--engine", "ray", "--out", tmp_path / "results")
    assert done.code == 2 and done.err == "harness: the engine 'ray' needs the package 'ray': pip install \"judge-harness[ray]\"\n"
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("flag", [("--ray-address", "auto"), ("--ray-actors", "2")])
def test_what_is_said_of_a_cluster_needs_the_engine_that_uses_one(flag: tuple[str, str], cli: Callable[..., Any], tmp_path: Path) -> None:
    done = cli(*RUN, *flag, "--out", tmp_path / "results")
    assert done.code == 2 and "add --engine ray" in done.err


@pytest.mark.parametrize("flag", [("--judge", "baseline/majority"), ("--judge", "local/smollm2-135m")])
def test_a_judge_without_a_batch_interface_is_refused_in_words(flag: tuple[str, str], cli: Callable[..., Any], tmp_path: Path) -> None:
    done = cli("run", "--langs", "cs", "--limit", "1", *flag, "--engine", "batch", "--out", tmp_path / "results")
    assert done.code == 2 and f"needs a provider with a batch interface; {flag[1]} has none" in done.err
