"""Certificates that were extended to other texts: `certify --check --probe` makes each extension again, and finds what was forged."""

from __future__ import annotations

import contextlib
import copy
import json
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.cli import main
from harness.correction.certificate import Certificate
from tests.conftest import write_rows
from tests.judged_folder import judged_folder

Cli = Callable[..., Any]
Forge = Callable[[dict[str, Any]], Any]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certified folder, a probe in another language, one of the same, and the certificate that both extended."""
    home = tmp_path_factory.mktemp("extended")
    judged_folder(home / "made", prompts=300)
    czech = judged_folder(home / "czech", prompts=600, seed=5, language="cs")
    (czech / "data.toml").write_text((czech / "data.toml").read_text("utf-8").replace('"made"', '"czech"'), "utf-8")
    alike = judged_folder(home / "alike", prompts=500, seed=7)
    (alike / "data.toml").write_text((alike / "data.toml").read_text("utf-8").replace('"made"', '"alike"'), "utf-8")
    path = str(home / "c.json")
    assert main(["certify", str(home / "made"), "--to", path]) == 0
    assert main(["certify", "--extend", path, str(czech), "--from", "ja", "--set", "margin=0.15", "--where", "metric=tone"]) == 0
    further = ["--set", "margin=0.15", "--set", "alpha=0.04", "--langs", "ja", "--majority", "strict"]
    assert main(["certify", "--extend", path, str(alike), *further]) == 0
    assert {(line["language"], line["metric"]) for line in json.loads((home / "c.json").read_text("utf-8"))["extensions"]} == {
        ("cs", "tone"),
        ("ja", "tone"),
        ("ja", "errors"),
    }
    return home


@pytest.fixture
def checked(cli: Cli, home: Path, tmp_path: Path) -> Callable[..., Any]:
    """Check a forged certificate, whose hash the forger computed anew; with both probes if no others are named."""

    def check(forge: Forge = lambda fields: None, probes: tuple[str, ...] = ("czech", "alike"), *more: str) -> Any:
        fields = copy.deepcopy(json.loads((home / "c.json").read_text("utf-8")))
        forge(fields)
        fields["extended"] = len(fields["extensions"])
        with contextlib.suppress(msgspec.ValidationError):  # what contradicts itself has no hash; the command refuses it
            fields = msgspec.to_builtins(msgspec.convert(fields, Certificate).sealed())
        (tmp_path / "forged.json").write_text(json.dumps(fields, default=str), "utf-8")
        named = [part for name in probes for part in ("--probe", str(home / name))]
        return cli("certify", "--check", tmp_path / "forged.json", home / "made", *named, *more)

    return check


def test_with_its_probes_an_extended_certificate_is_as_certified(checked: Callable[..., Any]) -> None:
    done = checked()
    assert (
        done.code == 0
        and done.out.splitlines()[0] == "The certificate of model/one, default, still holds: all of it was made again and is the same."
    ), done.out + done.err
    assert json.loads(checked(lambda fields: None, ("alike", "czech"), "--json").out)["not_made_again"] == []


@pytest.mark.parametrize(("probes", "absent"), [((), ["cs/tone", "ja/tone", "ja/errors"]), (("czech",), ["ja/tone", "ja/errors"])])
def test_without_a_probe_the_flag_is_named(checked: Callable[..., Any], probes: tuple[str, ...], absent: list[str]) -> None:
    done = checked(lambda fields: None, probes)
    assert done.code == 7 and "with --probe" in done.out.splitlines()[0]
    said = json.loads(checked(lambda fields: None, probes, "--json").out)
    assert sorted(words.split()[3] for words in said["not_made_again"]) == sorted(absent) and said["allowed"] == []


def czech(fields: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = next(line for line in fields["extensions"] if line["language"] == "cs")
    return found


def later(fields: dict[str, Any]) -> None:
    czech(fields)["date"] = (datetime.now(UTC).date() + timedelta(days=3)).isoformat()


def doubled(fields: dict[str, Any]) -> None:
    fields["extensions"].append(czech(fields))


def another_language(fields: dict[str, Any]) -> None:
    fields["extensions"].append(czech(fields) | {"language": "de"})


def another_metric(fields: dict[str, Any]) -> None:
    fields["extensions"].append(czech(fields) | {"metric": "errors"})


def only_one_system(fields: dict[str, Any]) -> None:
    czech(fields)["where"] = {"system": "a"}


def removed(fields: dict[str, Any]) -> None:
    fields["extensions"] = [line for line in fields["extensions"] if (line["language"], line["metric"]) != ("ja", "errors")]


def both_removed(fields: dict[str, Any]) -> None:
    fields["extensions"] = [czech(fields)]


@pytest.mark.parametrize(
    ("forge", "code", "words"),
    [
        (later, 1, "today is"),
        (doubled, 3, "its extension to cs/tone stands twice in it"),
        (another_language, 1, "it is extended to de/tone, which czech does not show"),
        (another_metric, 1, "it is extended to cs/errors, which czech does not show"),
        (only_one_system, 1, "it is extended to cs/tone, system a, which czech does not show"),
        (removed, 1, "alike extends it to ja/errors too, and the certificate does not say so"),
        (both_removed, 2, "no extension of the certificate rests on alike ('alike'); the probes are: 'czech'"),
    ],
)
def test_forged_lines_are_found(checked: Callable[..., Any], forge: Forge, code: int, words: str) -> None:
    done = checked(forge)
    assert done.code == code and words in done.out + done.err, done.out + done.err


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list) and value:
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(part, (*path, name))
    else:
        yield path


NO_CHANGE = {("options", "from_language"), ("options", "standardise")}
"""The same test in other words: without a language the only certified one is taken; an extension has no correlations."""


@pytest.mark.slow
def test_each_value_of_a_line_is_made_again(checked: Callable[..., Any], home: Path) -> None:
    line = czech(json.loads((home / "c.json").read_text("utf-8")))
    seen = 0
    for path in leaves(line):
        held = line
        for name in path:
            held = held[name]
        others: list[Any] = [held + 1, held / 2 + 0.01] if isinstance(held, int | float) else [None, "x" if held != "x" else "y"]
        for other in others:

            def forge(fields: dict[str, Any], path: tuple[Any, ...] = path, other: Any = other) -> None:
                holder = czech(fields)
                for name in path[:-1]:
                    holder = holder[name]
                holder[path[-1]] = other

            if path in NO_CHANGE or other == held:
                continue
            done = checked(forge)
            assert done.code != 0, (path, other, done.out)
            seen += 1
    assert seen > 20


def test_a_changed_probe_is_stale(cli: Cli, home: Path, tmp_path: Path) -> None:
    other = judged_folder(tmp_path / "other", prompts=100, seed=9, language="cs")
    (other / "data.toml").write_text((other / "data.toml").read_text("utf-8").replace('"made"', '"czech"'), "utf-8")
    done = cli("certify", "--check", home / "c.json", home / "made", "--probe", other, "--probe", home / "alike")
    assert done.code == 1 and "items or labels of the probe other have changed" in done.out


def test_a_probe_whose_scores_changed_is_stale(cli: Cli, home: Path, tmp_path: Path) -> None:
    (tmp_path / "czech").mkdir()
    for file in (home / "czech").iterdir():
        (tmp_path / "czech" / file.name).write_bytes(file.read_bytes())
    rows = [json.loads(line) for line in (tmp_path / "czech" / "judgments.jsonl").read_text("utf-8").splitlines()]
    changed = [row | {"score": min(row["score"] + number % 3 // 2, 2 if row["metric"] == "tone" else 1)} for number, row in enumerate(rows)]
    (tmp_path / "czech" / "judgments.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in changed), "utf-8")
    done = cli("certify", "--check", home / "c.json", home / "made", "--probe", tmp_path / "czech", "--probe", home / "alike")
    assert done.code == 1 and "cs/tone" in done.out, done.out


def test_the_flag_belongs_to_the_check(cli: Cli, home: Path, tmp_path: Path) -> None:
    done = cli("certify", home / "made", "--to", tmp_path / "c.json", "--probe", home / "czech")
    assert done.code == 2 and "pass --check FILE too" in done.err


def test_lines_that_are_taken_away_are_missed(home: Path, tmp_path: Path, cli: Cli) -> None:
    """The number of extensions is sealed with everything else, so that a certificate without its lines is no certificate."""
    fields = json.loads((home / "c.json").read_text("utf-8"))
    for lines in ([], fields["extensions"][:2]):
        (tmp_path / "c.json").write_text(json.dumps(fields | {"extensions": lines}), "utf-8")
        done = cli("certify", "--check", tmp_path / "c.json", home / "made")
        assert done.code == 3 and f"it says that it has 3 extensions, and {len(lines)} stand in it" in done.err, done.err
    (tmp_path / "c.json").write_text(json.dumps(fields | {"extensions": [], "extended": 0}), "utf-8")
    done = cli("certify", "--check", tmp_path / "c.json", home / "made")
    assert done.code == 1 and "changed after it was written" in done.out


def off_the_scale(folder: Path, share: float, metric: str | None = None) -> None:
    """Let this share of a folder's answers, on a metric or on all, be off the scale."""
    rows = [json.loads(line) for line in (folder / "judgments.jsonl").read_text("utf-8").splitlines()]
    spoilt = [row | {"score": 9} if metric in (None, row["metric"]) and n % 100 < 100 * share else row for n, row in enumerate(rows)]
    write_rows(folder / "judgments.jsonl", spoilt)


def test_a_probe_that_cannot_be_read_extends_nothing(cli: Cli, home: Path, tmp_path: Path) -> None:
    probe, path = Path(shutil.copytree(home / "alike", tmp_path / "alike")), tmp_path / "c.json"
    assert cli("certify", home / "made", "--to", path).code == 0
    before = path.read_bytes()
    off_the_scale(probe, 0.6)
    done = cli("certify", "--extend", path, probe, "--set", "margin=0.15")
    assert done.code == 4 and done.out == "" and path.read_bytes() == before
    assert "1,200 of 2,000 answers could not be read (off the scale), such as '9'" in done.err.splitlines()[0], done.err


def test_of_a_probe_a_metric_that_cannot_be_read_has_to_be_left_out(cli: Cli, home: Path, tmp_path: Path) -> None:
    probe, path = Path(shutil.copytree(home / "alike", tmp_path / "alike")), tmp_path / "c.json"
    assert cli("certify", home / "made", "--to", path).code == 0
    before = path.read_bytes()
    off_the_scale(probe, 0.6, "errors")
    done = cli("certify", "--extend", path, probe, "--set", "margin=0.15")
    assert done.code == 4 and path.read_bytes() == before
    assert "600 of 1,000 answers could not be read (off the scale), such as '9'" in done.err and "in ja/errors" in done.err, done.err
    assert cli("certify", "--extend", path, probe, "--set", "margin=0.15", "--where", "metric=tone").code == 0
    lines = json.loads(path.read_text("utf-8"))["extensions"]
    assert [(line["language"], line["metric"]) for line in lines] == [("ja", "tone")]
