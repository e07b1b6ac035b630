"""What has to be filled in before a release is listed, and nothing is listed once it is filled in."""

from __future__ import annotations

import re
import runpy
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = ("pyproject.toml", "CITATION.cff", "CHANGELOG.md", ".github/CODEOWNERS", "action.yml")


@pytest.fixture
def missing() -> Any:
    return runpy.run_path(str(ROOT / ".ci" / "release-check"))["missing"]


def test_the_versions_of_the_files_agree() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.search(rf"^## {re.escape(version)}\b", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)


def test_each_thing_that_is_missing_is_named_until_it_is_there(missing: Any, tmp_path: Path) -> None:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)

    def rewrite(name: str, old: str, new: str) -> None:
        path = tmp_path / name
        path.write_text(re.sub(old, new, path.read_text("utf-8"), flags=re.MULTILINE), "utf-8")

    for name in FILES:
        rewrite(name, r"\bOWNER/", "someone/")
    rewrite("CHANGELOG.md", r" \(not yet released\)$", " (2027-01-01)")
    rewrite("pyproject.toml", r"^\[project\.urls\](\n.+)*", "")
    rewrite("pyproject.toml", r"^(dependencies = \[)", r'urls = { Repository = "https://example.org" }\n\1')
    rewrite("CITATION.cff", r"^(repository-code|date-released): .*\n", "")
    rewrite("CITATION.cff", r"^version: .*$", "version: 9.9.9")
    version = tomllib.loads((tmp_path / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert list(missing(tmp_path)) == [
        f"CITATION.cff: version: {version}, as in pyproject.toml",
        "CITATION.cff: repository-code",
        "CITATION.cff: date-released",
    ]
    rewrite("CITATION.cff", r"^version: .*$", f"version: {version}\nrepository-code: https://example.org\ndate-released: 2027-01-01")
    assert list(missing(tmp_path)) == []
    rewrite("action.yml", "someone/", "OWNER/")
    assert list(missing(tmp_path)) == ["action.yml:1: the owner of the repository in the place of OWNER"]


def test_the_address_is_set_in_one_place(missing: Any, tmp_path: Path) -> None:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    write = runpy.run_path(str(ROOT / ".ci" / "release-check"))["write_address"]
    if "urls" in tomllib.loads((tmp_path / "pyproject.toml").read_text("utf-8"))["project"]:
        pytest.skip("the project has its address")
    with pytest.raises(SystemExit, match="OWNER/NAME"):
        write(tmp_path, "github.com/someone/harness")
    write(tmp_path, "https://github.com/someone/judge-harness/")
    urls = tomllib.loads((tmp_path / "pyproject.toml").read_text("utf-8"))["project"]["urls"]
    assert urls["Repository"] == "https://github.com/someone/judge-harness"
    assert "uses: someone/judge-harness@v1" in (tmp_path / "action.yml").read_text("utf-8")
    assert "@someone/boards" in (tmp_path / ".github" / "CODEOWNERS").read_text("utf-8")
    assert {line.partition(":")[0] for line in missing(tmp_path)} == {"CITATION.cff", "CHANGELOG.md"}  # the days of the release
    with pytest.raises(SystemExit, match="already"):
        write(tmp_path, "https://github.com/someone/harness")
