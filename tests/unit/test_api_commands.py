"""The functions of the API print what the commands of their names print."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.row_files import to_json
from tests.judged_folder import judged_folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return judged_folder(tmp_path_factory.mktemp("made") / "made", prompts=80, repeats=5)


@pytest.mark.parametrize(
    ("function", "flags"),
    [
        (lambda folder: harness.correct(folder), ("correct",)),
        (lambda folder: harness.correct(folder, harness.CorrectOptions(shares=True)), ("correct", "--shares")),
        (lambda folder: harness.accept(folder, harness.AcceptOptions(where={"metric": ("tone",)})), ("accept", "--where", "metric=tone")),
        (lambda folder: harness.accept(folder, harness.AcceptOptions(alpha_risk=0.3)), ("accept", "--alpha-risk", "0.3")),
        (lambda folder: harness.labels_check(folder), ("labels", "check")),
    ],
)
def test_a_function_gives_what_its_command_prints(
    cli: Callable[..., Any], folder: Path, function: Callable[[Path], Any], flags: tuple[str, ...]
) -> None:
    command = flags[: 2 if flags[0] == "labels" else 1]
    printed = cli(*command, folder, *flags[len(command) :], "--json")
    assert printed.code == 0
    result = function(folder)
    assert json.loads(to_json(result.as_json() if hasattr(result, "as_json") else result)) == json.loads(printed.out)


def test_a_certificate_is_the_one_that_the_command_writes(cli: Callable[..., Any], folder: Path, tmp_path: Path) -> None:
    certificate = harness.certify(folder, tmp_path / "api.json", harness.CertifyOptions(alpha_risk=0.2))
    cli("certify", folder, "--to", tmp_path / "command.json", "--alpha-risk", "0.2")
    assert (tmp_path / "api.json").read_text("utf-8") == (tmp_path / "command.json").read_text("utf-8") == to_json(certificate)
    assert harness.certificate.load(tmp_path / "api.json") == certificate
