"""Whatever is edited in a certificate: no reader takes it, and a check against its source never says that it is as certified."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness import certificate, sources
from harness.cli import main
from harness.correction.certificate import Certificate
from harness.correction.extension import check_certificate
from harness.errors import ContentError, HarnessError
from tests.judged_folder import judged_folder

Cli = Callable[..., Any]
Path_ = tuple[str | int, ...]
FREE = {("harness",), ("schema_version",)}
"""What cannot matter once the hash is computed anew: the version of the program; another version of the form is refused before."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return judged_folder(tmp_path_factory.mktemp("forged") / "made", prompts=120, probabilities=True)


@pytest.fixture(scope="module")
def fields(folder: Path) -> dict[str, Any]:
    path = folder.parent / "c.json"
    assert main(["certify", str(folder), "--where", "metric=tone", "--to", str(path)]) == 0
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def places(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """The path of every value, of lists of numbers only the first."""
    parts: list[tuple[str | int, Any]] = list(value.items()) if isinstance(value, dict) else []
    if isinstance(value, list):
        parts = list(enumerate(value))[: None if isinstance(value[:1], list) and value and isinstance(value[0], dict) else 1]
    for name, part in parts:
        yield (*path, name)
        yield from places(part, (*path, name))


def changed(fields: dict[str, Any], path: Path_, value: Any) -> dict[str, Any]:
    found = copy.deepcopy(fields)
    holder: Any = found
    for name in path[:-1]:
        holder = holder[name]
    if value is REMOVED:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return found


REMOVED = object()


def others(value: Any) -> list[Any]:
    """Other values of the same kind."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, value * 0.5, -value - 1]
    if isinstance(value, str):
        return [f"{value}x", ""]
    if isinstance(value, list):
        return [[], [*value, *value[:1]], value[:1] + value] if value else [["x"]]
    return [{}] if isinstance(value, dict) else [1, "x"]


def test_no_reader_takes_an_edited_certificate(fields: dict[str, Any], tmp_path: Path) -> None:
    path, taken = tmp_path / "c.json", []
    for place in places(fields):
        value = fields
        for name in place:
            value = value[name]  # type: ignore[call-overload]
        for edit in (REMOVED, None, str(value), *others(value)):
            forged = changed(fields, place, edit)
            if forged == fields:
                continue
            path.write_text(json.dumps(forged), "utf-8")
            try:
                certificate.load(path)
            except ContentError:
                continue
            taken.append((place, edit))
    assert not taken


def test_what_stands_twice_is_refused(fields: dict[str, Any], tmp_path: Path) -> None:
    text, path = json.dumps(fields, indent=1), tmp_path / "c.json"
    lines, refused = text.splitlines(), 0
    for number, line in enumerate(lines):
        if '": ' in line and not line.rstrip(",").endswith(("{", "[")):
            path.write_text("\n".join([*lines[:number], line.rstrip(",") + ",", *lines[number:]]), "utf-8")
            with pytest.raises(ContentError, match="stands twice in one object"):
                certificate.load(path)
            refused += 1
    assert refused > 50


@pytest.mark.slow
def test_a_forger_who_computes_the_hash_is_found_by_the_source(fields: dict[str, Any], folder: Path) -> None:
    source = sources.open_sources([folder], None, folder)[0].recording
    made = msgspec.convert(fields, Certificate)
    true = check_certificate(made, source)
    assert true.allowed and not true.stale and not true.not_made_again
    seen, taken = set[tuple[str, ...]](), []
    for place in places(fields):
        pattern = tuple("#" if isinstance(name, int) else name for name in place)
        if pattern in seen:
            continue
        seen.add(pattern)
        value = fields
        for name in place:
            value = value[name]  # type: ignore[call-overload]
        for edit in (None, *others(value)[:2]):
            try:
                forged = msgspec.convert(changed(fields, place, edit), Certificate).sealed()
                found = check_certificate(forged, source)
            except (msgspec.ValidationError, HarnessError):
                continue
            same = msgspec.structs.replace(forged, sha256="") == msgspec.structs.replace(made, sha256="")
            if not same and not found.stale and not found.not_made_again and place not in FREE:
                taken.append((place, edit))
    assert not taken


@pytest.mark.parametrize(
    ("version", "words"), [(1, "schema version 1; this program reads version 5 only"), (2, "schema version 2; this program")]
)
def test_other_versions_are_refused_by_every_reader(
    fields: dict[str, Any], folder: Path, tmp_path: Path, cli: Cli, version: int, words: str
) -> None:
    old = copy.deepcopy(fields) | {"schema_version": version, "options": None}
    del old["judge"]["judgments"]
    (tmp_path / "old.json").write_text(json.dumps(old), "utf-8")
    for command in (
        ("certify", "--check", tmp_path / "old.json", folder),
        ("certify", "--extend", tmp_path / "old.json", folder),
        ("watch", "init", tmp_path / "w", folder, "--certificate", tmp_path / "old.json"),
    ):
        done = cli(*command)
        assert done.code == 3 and words in done.err, done.err


def test_what_could_not_be_made_again_is_not_as_certified(fields: dict[str, Any], folder: Path, tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps(fields), "utf-8")
    alone = cli("certify", "--check", path)
    assert alone.code == 7 and alone.out.startswith("It is unknown whether the certificate of model/one, default, still holds")
    assert json.loads(cli("certify", "--check", path, "--json").out)["allowed"] == []
    held = certificate.load(path)
    watch = {"since": "2026-01-01", "checked_to": "2026-01-02", "max_age": 36500}
    for forged in (
        msgspec.structs.replace(held, prompt="0" * 16, unchecked=("rubric", "settings of the judge")),
        msgspec.convert(msgspec.to_builtins(held) | {"watch": watch}, Certificate),
    ):
        path.write_bytes(msgspec.json.encode(forged.sealed()))
        done = cli("certify", "--check", path, folder)
        assert done.code == 7 and "could not be made again: the " in done.out.splitlines()[0], done.out
