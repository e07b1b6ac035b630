"""`--langs` of the commands that hold judgments against labels: the same rows as `--where language=`, and tags that are explained."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import api
from harness.annotate.labelling_options import LabelCheckOptions
from harness.cli.command import class_of, fields_of
from harness.cli.commands import leaves
from harness.decide.options import CompareOptions
from harness.errors import UsageError

Cli = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twelve texts in each of three languages, labelled by two people."""
    names = [(f"{tag}{number}", tag, number) for tag in ("cs", "ja", "pt-BR") for number in range(12)]
    rows: dict[str, list[dict[str, Any]]] = {
        "items": [{"item_id": name, "language": tag, "task": "t", "output": "x"} for name, tag, _ in names],
        "labels": [{"item_id": name, "annotator_id": who, "metric": "tone", "score": i % 3} for name, _, i in names for who in "xy"],
        "judgments": [{"item_id": name, "judge": "one", "metric": "tone", "score": i % 2} for name, _, i in names],
    }
    for name, table in rows.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table))
    about = 'id = "mine"\nannotators = "persistent"\nsampling = "random"\n[metrics.tone]\nkind = "ordinal"\nclasses = [0, 1, 2]\n'
    (tmp_path / "data.toml").write_text(about)
    return tmp_path


@pytest.mark.parametrize("command", [["compare"], ["labels", "check"], ["labels", "needed"], ["correct"]])
def test_langs_keeps_what_where_keeps(cli: Cli, folder: Path, command: list[str]) -> None:
    source = [*command, str(folder), "--json", *(["--by", "task"] if command == ["correct"] else [])]
    both = cli(*source, "--langs", "ja,pt_br")
    assert both.code == 0, both.err
    assert both.out == cli(*source, "--lang", "jpn,pt-BR").out == cli(*source, "--where", "language=ja,pt-BR").out != cli(*source).out


def test_a_language_that_is_not_there_is_explained(cli: Cli, folder: Path) -> None:
    for flag in (["--langs", "jp"], ["--where", "language=jp"]):
        refused = cli("compare", folder, *flag)
        assert refused.code == 2 and "no items for 'jp'. That is a country code; Japanese is 'ja'" in refused.err
    refused = cli("labels", "check", folder, "--langs", "de")
    assert refused.code == 2 and "no items for 'de' (German).\n         choose from: cs, ja, pt-BR" in refused.err
    refused = cli("compare", folder, "--langs", "ja", "--where", "language=cs")
    assert refused.code == 2 and "the languages are named twice" in refused.err


def test_a_notebook_names_languages_too(folder: Path) -> None:
    found = api.compare(folder, CompareOptions(languages=("ja",)))
    assert {cell.key["language"] for cell in found.cells} == {"ja"}
    assert "where:language=ja" in found.signature
    assert found.signature == api.compare(folder, CompareOptions(where={"language": ("ja",)})).signature
    assert {cell["language"] for cell in api.labels_check(folder, LabelCheckOptions(languages=("cs", "ja"))).cells} == {"cs", "ja"}
    with pytest.raises(UsageError, match="no items for 'xx'"):
        api.compare(folder, CompareOptions(languages=("xx",)))


def test_every_command_that_takes_languages_takes_both_spellings() -> None:
    for name in leaves():
        flags = {flag for field in fields_of(class_of(name)) for flag in field.names}
        if "--langs" in flags:
            assert "--lang" in flags, name
        if "--where" in flags:
            assert "--langs" in flags, name


@pytest.mark.parametrize("name", ["japanese", "Japanese", "日本語"])
def test_the_name_of_a_language_is_its_tag(cli: Callable[..., Any], name: str) -> None:
    assert cli("run", "--langs", name, "--dry-run").out == cli("run", "--langs", "ja", "--dry-run").out != ""


def test_a_misspelt_name_of_a_language_is_answered(cli: Callable[..., Any]) -> None:
    refused = cli("run", "--langs", "japanse", "--dry-run")
    assert refused.code == 2 and "Did you mean 'ja' (Japanese)?" in refused.err, refused.err


def test_the_atlas_takes_a_language_as_a_word(cli: Callable[..., Any]) -> None:
    assert cli("atlas", "hi").out == cli("atlas", "--lang", "hi").out != ""
    twice = cli("atlas", "hi", "--lang", "ja")
    assert twice.code == 2 and "the language is named twice" in twice.err
