"""The files for the repository's host: their shell steps run here, as its machine would run them, on a clean clone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def _steps(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Job and step of every step of a workflow."""
    for name, job in yaml.safe_load(path.read_text("utf-8"))["jobs"].items():
        for step in job["steps"]:
            yield name, step


def _shell(path: Path, name: str, job: str | None = None) -> str:
    """The shell lines of the one step with this name."""
    if path.name == "action.yml":
        found = [step for step in yaml.safe_load(path.read_text("utf-8"))["runs"]["steps"] if step.get("name") == name]
    else:
        found = [step for where, step in _steps(path) if step.get("name") == name and job in (None, where)]
    (step,) = found
    return str(step["run"])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_pin_actions_name_permissions_and_put_no_expression_into_shell(path: Path) -> None:
    assert "permissions" in yaml.safe_load(path.read_text("utf-8"))
    for _, step in _steps(path):
        if "uses" in step:
            assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", step["uses"]), step["uses"]
        assert "${{" not in step.get("run", ""), "an expression in a shell line runs whatever a stranger wrote"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_targets_of_make_that_workflows_call_exist(path: Path) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), flags=re.M))
    for _, step in _steps(path):
        for target in re.findall(r"\bmake ([\w-]+)", step.get("run", "")):
            assert target in targets, target


def _git(folder: Path, *arguments: str) -> str:
    names = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *names, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


class Machine:
    """What a machine of the host gives to steps: a temporary folder and files for summaries and outputs."""

    def __init__(self, folder: Path, program: Path) -> None:
        self.temp = folder / "temp"
        self.temp.mkdir()
        (self.temp / "program" / "bin").mkdir(parents=True)
        (self.temp / "harness").symlink_to(self.temp / "program")
        (self.temp / "program" / "bin" / "harness").symlink_to(program)
        self.summary, self.output = folder / "summary.md", folder / "output"
        self.summary.touch()

    def run(self, shell: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        given = os.environ | {"RUNNER_TEMP": str(self.temp), "GITHUB_STEP_SUMMARY": str(self.summary), "GITHUB_OUTPUT": str(self.output)}
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", shell],
            cwd=folder,
            env=given | environment,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=300,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path, Path(sys.executable).parent / "harness")


def _clone(folder: Path) -> Path:
    """A clean clone of what stands here, without the submissions that this test does not need."""
    for kind in ("tasks", "languages", "rubrics", "catalog", "leaderboards", ".github"):
        shutil.copytree(ROOT / kind, folder / kind, ignore=shutil.ignore_patterns("submissions", "__pycache__"))
    shutil.copy(ROOT / "content.lock", folder)
    _git(folder, "init", "-q", "-b", "main")
    _git(folder, "add", "-A")
    _git(folder, "commit", "-qm", "Base")
    return folder


@pytest.mark.slow  # a whole checkout, three times
@pytest.mark.parametrize("honest", [True, False])
def test_a_proposed_judge_is_checked_and_commented_without_running_its_files(
    honest: bool, machine: Machine, tmp_path: Path, cli: Callable[..., Any], out: Path
) -> None:
    board = ROOT / ".github" / "workflows" / "board.yml"
    base = _clone(tmp_path / "base")
    subprocess.run(["git", "clone", "-q", str(base), str(tmp_path / "proposal")], check=True)
    proposal = tmp_path / "proposal"
    _git(proposal, "switch", "-qc", "submit")
    assert cli("run", "--judge", "baseline/majority", "--out", out).code == 0
    assert cli("submit", "controls", "--board", "controls", "--out", out, "--into", proposal).code == 0
    if not honest:
        card = proposal / "leaderboards" / "controls" / "submissions" / "baseline-majority" / "judge.toml"
        card.write_text(card.read_text("utf-8") + '\nunheard = "`</code> $(touch run)"\n', encoding="utf-8")
    (proposal / "harness").mkdir()
    (proposal / "harness" / "__init__.py").write_text('raise SystemExit("code of the proposal was run")\n', encoding="utf-8")
    _git(proposal, "add", "leaderboards")
    _git(proposal, "commit", "-qm", "Propose")
    at = _git(base, "rev-parse", "HEAD")

    checked = machine.run(_shell(board, "check"), proposal, BASE=at)
    assert checked.returncode == 0, checked.stderr
    moved = machine.run(_shell(board, "what moves"), proposal, BASE=at)
    assert moved.returncode == 0, moved.stderr
    comment = (machine.temp / "comment.md").read_text("utf-8")
    outcome = machine.run(_shell(board, "outcome"), proposal).returncode
    assert "code of the proposal" not in comment + checked.stderr and not (proposal / "run").exists()
    if honest:
        assert outcome == 0 and "The check passed" in comment
        assert "What moves on `controls`" in comment and "baseline/majority" in comment
    else:
        assert outcome == 1 and "found problems" in comment, comment
        assert "judge.toml" in comment, comment
        assert "`</code>" not in comment and "    " in comment


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "outcome", "code"), [(0.05, "pass", 0), (0.99, "fail", 1), (0.6, "inconclusive", 1)])
def test_the_action_holds_a_run_to_its_policy(
    limit: float, outcome: str, code: int, machine: Machine, tmp_path: Path, cli: Callable[..., Any], out: Path
) -> None:
    assert cli("run", "--langs", "cs", "--judge", "baseline/constant-best", "--out", out).code == 0
    policy = tmp_path / "gate.toml"
    policy.write_text(f'version = 1\n[[rule]]\nlanguage = "cs"\nat_least = {limit}\nmetric = "hallucination"\n', encoding="utf-8")
    run = next((out / "runs").iterdir())
    inputs = {"RUN": str(run), "POLICY": str(policy), "JUNIT": "gate.xml", "INCONCLUSIVE": "fail"}
    done = machine.run(_shell(ROOT / "action.yml", "gate"), tmp_path, **inputs)
    assert done.returncode == code, done.stdout + done.stderr
    assert machine.output.read_text("utf-8").splitlines()[-1] == f"outcome={outcome}"
    assert (tmp_path / "gate.xml").is_file() and outcome in machine.summary.read_text("utf-8")


def test_the_action_finds_its_program_where_windows_puts_it(machine: Machine, tmp_path: Path) -> None:
    (machine.temp / "program" / "bin").rename(machine.temp / "program" / "Scripts")
    inputs = {"RUN": "nowhere", "POLICY": "none.toml", "JUNIT": "gate.xml", "INCONCLUSIVE": "fail"}
    done = machine.run(_shell(ROOT / "action.yml", "gate"), tmp_path, **inputs)
    assert done.returncode == 3 and "none.toml: cannot be read" in done.stderr, done


@pytest.mark.slow
def test_the_action_lets_an_inconclusive_result_pass_where_it_is_told_to(
    machine: Machine, tmp_path: Path, cli: Callable[..., Any], out: Path
) -> None:
    assert cli("run", "--langs", "cs", "--judge", "baseline/constant-best", "--out", out).code == 0
    policy = tmp_path / "gate.toml"
    policy.write_text('version = 1\n[[rule]]\nlanguage = "cs"\nat_least = 0.6\nmetric = "hallucination"\n', encoding="utf-8")
    inputs = {"RUN": str(next((out / "runs").iterdir())), "POLICY": str(policy), "JUNIT": "gate.xml", "INCONCLUSIVE": "pass"}
    assert machine.run(_shell(ROOT / "action.yml", "gate"), tmp_path, **inputs).returncode == 0


@pytest.mark.slow
def test_a_release_needs_the_version_as_its_tag(machine: Machine) -> None:
    release = ROOT / ".github" / "workflows" / "release.yml"
    version = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text("utf-8"), flags=re.M)
    assert version
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["version"] == version[1]
    shell = _shell(release, "the tag is the version").replace("python ", f"{sys.executable} ")
    assert machine.run(shell, ROOT, GITHUB_REF_NAME=f"v{version[1]}").returncode == 0
    wrong = machine.run(shell, ROOT, GITHUB_REF_NAME="v9.9.9")
    assert wrong.returncode == 1 and "is not v" in wrong.stdout
