"""Whatever is edited in a cascade's certificate: no reader takes it, and the command finds a forger who computes the hash."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness import cascade_certificate
from harness.cli import main
from harness.correction.cascade_certificate import CascadeCertificate
from harness.errors import ContentError, UsageError
from tests.cascade_folder import SKILL, cascade_folder
from tests.unit.correction.test_forged_certificates import REMOVED, changed, others, places

Cli = Callable[..., Any]
CHEAP, BETTER = SKILL
FREE = ("harness",)
"""The version of the program that made it may be any."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = cascade_folder(tmp_path_factory.mktemp("chain") / "d", texts=200)
    names = ("--judge", CHEAP, "--judge", BETTER, "--price", f"{CHEAP}=1", "--price", f"{BETTER}=9")
    assert main(["accept", str(folder), "--cascade", *names, "--to", str(folder.parent / "chain.json"), "--json"]) == 0
    return folder


@pytest.fixture(scope="module")
def fields(made: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((made.parent / "chain.json").read_text("utf-8"))
    return found


def edits(fields: dict[str, Any], place: tuple[str | int, ...]) -> Iterator[Any]:
    value = fields
    for name in place:
        value = value[name]  # type: ignore[call-overload]
    yield from (REMOVED, None, str(value), *others(value))


def test_no_reader_takes_an_edited_certificate(fields: dict[str, Any], tmp_path: Path) -> None:
    path, taken, seen = tmp_path / "c.json", [], 0
    for place in places(fields):
        for edit in edits(fields, place):
            forged = changed(fields, place, edit)
            if forged == fields:
                continue
            seen += 1
            path.write_text(json.dumps(forged), "utf-8")
            try:
                cascade_certificate.load(path)
            except ContentError:
                continue
            taken.append((place, edit))
    assert not taken and seen > 300


def test_what_stands_twice_is_refused(fields: dict[str, Any], tmp_path: Path) -> None:
    text, path, refused = json.dumps(fields, indent=1), tmp_path / "c.json", 0
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if '": ' in line and not line.rstrip(",").endswith(("{", "[")):
            path.write_text("\n".join([*lines[:number], line.rstrip(",") + ",", *lines[number:]]), "utf-8")
            with pytest.raises(ContentError, match="stands twice in one object"):
                cascade_certificate.load(path)
            refused += 1
    assert refused > 50


@pytest.mark.slow
def test_the_command_finds_a_forger_who_computes_the_hash(fields: dict[str, Any], made: Path, tmp_path: Path, cli: Cli) -> None:
    """Each field removed, null and changed, with the hash of the new content."""
    path = tmp_path / "c.json"
    true = cli("certify", "--check", made.parent / "chain.json", made)
    assert true.code == 0, true.out + true.err
    seen, taken, traced = set[tuple[str, ...]](), [], []
    for place in places(fields):
        pattern = tuple("#" if isinstance(name, int) else name for name in place)
        if pattern in seen or place[0] in FREE:
            continue
        seen.add(pattern)
        for edit in (REMOVED, None, *list(edits(fields, place))[3:5]):
            forged = changed(fields, place, edit)
            try:
                sealed = msgspec.convert(forged, CascadeCertificate).sealed()
                forged = json.loads(msgspec.json.encode(sealed)) if edit is not REMOVED else forged | {"sha256": sealed.sha256}
            except (msgspec.ValidationError, UsageError):
                pass  # what contradicts itself has no hash; the command refuses it
            if forged == fields:
                continue
            path.write_text(json.dumps(forged), "utf-8")
            done = cli("certify", "--check", path, made)
            if done.code == 0:
                taken.append((place, "removed" if edit is REMOVED else edit))
            if "Traceback" in done.err:
                traced.append((place, edit))
    assert len(seen) > 60 and not taken and not traced


def test_prices_that_nobody_stated_are_compared_with_the_list(made: Path, tmp_path: Path, cli: Cli) -> None:
    prices, path = tmp_path / "prices.toml", tmp_path / "c.json"
    rows = [f'["{judge}"]\ninput = {dollars}\noutput = {dollars}\nas_of = "2026-01"\n' for judge, dollars in ((CHEAP, 1.0), (BETTER, 9.0))]
    prices.write_text("".join(rows), "utf-8")
    accept = ("accept", made, "--cascade", "--judge", CHEAP, "--judge", BETTER, "--prices", prices, "--to", path)
    assert cli(*accept).code == 0
    check = ("certify", "--check", path, made)
    assert cli(*check, "--prices", prices).code == 0
    unknown = cli(*check)
    assert unknown.code == 7 and f"the price of {CHEAP}" in " ".join(unknown.out.split()), unknown.out
    fields = json.loads(path.read_text("utf-8"))
    steps = fields["cells"][0]["chain"]["steps"]
    steps[0]["price"] /= 2
    path.write_text(json.dumps(msgspec.to_builtins(msgspec.convert(fields, CascadeCertificate).sealed())), "utf-8")
    halved = cli(*check, "--prices", prices)
    assert (halved.code == 1 and "chain.price" in " ".join(halved.out.split())) or "price " in halved.out, halved.out
    assert cli("certify", made, "--to", tmp_path / "x.json", "--prices", prices).code == 2


def test_a_cell_or_a_step_that_is_doubled_is_refused(fields: dict[str, Any], made: Path, tmp_path: Path, cli: Cli) -> None:
    for name in ("cells", "steps"):
        forged = fields | {name: [*fields[name], fields[name][0]]}
        (tmp_path / "c.json").write_text(json.dumps(forged), "utf-8")
        done = cli("certify", "--check", tmp_path / "c.json", made)
        assert done.code == 3, done.out + done.err
