"""Copies of a text under other ids are one independent text, whatever the folder says of groups."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.data import Dataset
from harness.data.labels import Labels
from harness.errors import ContentError
from harness.model import Item
from tests.conftest import write_rows
from tests.judged_folder import judged_folder

TEXT = "Žluťoučký kůň pěl ďábelské ódy."


def item(name: str, group: str = "", language: str = "cs", **fields: Any) -> Item:
    return Item(name, language, "chat", group=group or name, fields=fields)


def clusters(*items: Item, outputs: Mapping[str, tuple[str, ...]] = {}) -> list[str]:
    return list(Dataset("made", items, Labels.from_rows(()), {}, outputs=outputs).clusters)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"output": TEXT}, {"output": TEXT}, True),
        ({"output": TEXT}, {"output": unicodedata.normalize("NFD", TEXT)}, True),
        ({"output": TEXT}, {"output": f"  {TEXT.replace(' ', chr(10))}\u00a0"}, True),
        ({"output": TEXT, "reference": "a"}, {"output": TEXT, "reference": "b"}, True),
        ({"output": TEXT, "note": "first copy"}, {"output": TEXT, "note": "second copy"}, True),
        ({"output": TEXT, "doc_id": "a 1"}, {"output": TEXT, "doc_id": "a 2"}, True),
        ({"output": TEXT}, {"output": TEXT.upper()}, False),
        ({"output": "Ano.", "prompt": "Prší?"}, {"output": "Ano.", "prompt": "Sněží?"}, False),
        ({"output": "Ano.", "otázka": "Prší tam dnes?"}, {"output": "Ano.", "otázka": "Sněží tam dnes?"}, False),
        ({"odpověď": TEXT}, {"odpověď": TEXT}, True),
        ({"text": "short"}, {"text": "short"}, True),
        ({"output_a": "Ano.", "output_b": "Ne."}, {"output_a": "Ano.", "output_b": "Ne."}, True),
        ({"output_a": "Ano.", "output_b": "Ne."}, {"output_a": "Ne.", "output_b": "Ano."}, True),
        ({"output_a": "Ano.", "output_b": "Ne."}, {"output_a": "Ano.", "output_b": "Snad."}, False),
        ({"output": "…"}, {"output": "…"}, False),
        ({"prompt": TEXT}, {"prompt": TEXT}, False),
        ({}, {}, False),
        ({"domain": "news"}, {"domain": "news"}, False),
        ({"domain": "social media"}, {"domain": "social media"}, False),
        ({"stratum": "scored 2 by the judge, confident"}, {"stratum": "scored 2 by the judge, confident"}, False),
    ],
    ids=str,
)
def test_what_makes_two_texts_one(one: dict[str, Any], other: dict[str, Any], same: bool) -> None:
    assert clusters(item("a", **one), item("b", **other)) == (["a", "a"] if same else ["a", "b"])


def test_a_language_has_its_own_copies() -> None:
    assert clusters(item("a", output="OK"), item("b", language="sk", output="OK")) == ["a", "b"]


def test_stated_groups_and_copies_are_joined() -> None:
    """A text that stands in two groups makes them one, and so on; in another language these groups stay apart."""
    czech = [item(f"{group}{n}", group, output=text) for n, (group, text) in enumerate(("ga", "gb", "hb", "hc", "ic", "jd"))]
    slovak = [item(f"sk{n}", group, "sk", output=text) for n, (group, text) in enumerate(("ga", "hb"))]
    assert clusters(*czech, *slovak) == ["g", "g", "g", "g", "g", "j", "g", "h"]


@pytest.mark.parametrize("other", ["TEXT-1", "text-1 ", "text\u200b-1", "\ufefftext-1"])
def test_without_texts_ids_that_look_alike_are_one(other: str) -> None:
    assert clusters(item("text-1"), item(other), item("text-2")) == ["text-1", "text-1", "text-2"]
    assert clusters(item("text-1", output="A."), item(other, output="B.")) == ["text-1", other]


def test_equal_hashes_are_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.data.same_texts.hash", lambda text: 1, raising=False)
    assert clusters(item("a", output="x"), item("b", output="y"), item("c", output="y")) == ["a", "b", "b"]


def test_texts_that_stand_thirty_times_are_counted_once(tmp_path: Path) -> None:
    """Ten texts thirty times are ten: the point estimates stay, and no verdict rests on 300 texts."""
    whole = judged_folder(tmp_path / "whole", prompts=150, labelled=1.0, noise=0.05)
    copied = judged_folder(
        tmp_path / "copied", prompts=150, labelled=1.0, noise=0.05, fields=lambda n, system, rng: {"output": f"T {n % 10}."}
    )
    one, other = harness.compare(whole), harness.compare(copied)
    for cell, of_copies in zip(one.cells, other.cells, strict=True):
        assert (cell.values["pa"], cell.groups) == (of_copies.values["pa"], 150) and of_copies.groups == 10
        assert of_copies.n == cell.n
    [note] = set(other.notes) - set(one.notes)
    assert note == "Equal texts under several ids count as one: of 150 groups of texts 10 are independent."
    assert {verdict["verdict"] for verdict in one.verdicts} == {"use"}
    assert "use" not in {verdict["verdict"] for verdict in other.verdicts}


def test_forms_of_one_id_are_one_id(tmp_path: Path) -> None:
    """Items, labels and judgments may write an id in different forms of Unicode; two items under one id are refused."""
    composed, apart = (unicodedata.normalize(form, "dům") for form in ("NFC", "NFD"))
    text = {"language": "cs", "task": "chat", "output": TEXT}
    write_rows(tmp_path / "items.jsonl", [{"item_id": apart} | text, {"item_id": "b"} | text])
    write_rows(
        tmp_path / "labels.jsonl",
        [
            {"item_id": name, "annotator_id": who, "metric": "task_quality", "score": 1}
            for name, who in ((composed, composed), (apart, "y"), ("b", apart))
        ],
    )
    write_rows(
        tmp_path / "judgments.jsonl", [{"item_id": name, "judge": "m/one", "metric": "task_quality", "score": 1} for name in (apart, "b")]
    )
    data = harness.load(tmp_path)
    assert list(data.by_id) == [composed, "b"] and data.labels.annotator.used == [composed, "y"]
    assert list(data.judgments.item) == [composed, "b"] if data.judgments else False
    write_rows(tmp_path / "items.jsonl", [{"item_id": apart} | text, {"item_id": composed} | text])
    with pytest.raises(ContentError, match=r"items\.jsonl:2: item_id 'd.m' is also in line 1; ids are unique"):
        harness.load(tmp_path)
    again = {"item_id": apart, "annotator_id": apart, "metric": "task_quality", "score": 0}
    write_rows(tmp_path / "items.jsonl", [{"item_id": composed} | text])
    write_rows(tmp_path / "labels.jsonl", [again | {"annotator_id": composed}, again])
    with pytest.raises(ContentError, match=r"labels\.jsonl:2: annotator 'd.m' has already scored"):
        harness.load(tmp_path)


def test_frames_compare_ids_so_too(tmp_path: Path) -> None:
    import pandas as pd

    composed, apart = (unicodedata.normalize(form, "dům") for form in ("NFC", "NFD"))
    items = pd.DataFrame([{"item_id": composed, "language": "cs", "task": "chat", "output": TEXT}])
    labels = pd.DataFrame([{"item_id": apart, "annotator_id": who, "metric": "task_quality", "score": 1} for who in "ab"])
    assert harness.from_frames(items=items, labels=labels).labels.item.used == [composed]


def test_a_gate_counts_copies_once(cli: Callable[..., Any], tmp_path: Path) -> None:
    copied = judged_folder(
        tmp_path / "copied", prompts=150, labelled=1.0, noise=0.02, fields=lambda n, system, rng: {"output": f"T {n % 10}."}
    )
    policy = tmp_path / "gate.toml"
    policy.write_text('[[rule]]\nlanguage = "ja"\nmetric = "tone"\nverdict = "use"\nbeats_baseline = true\n', "utf-8")
    result = cli("gate", copied, "--policy", policy, "--json", tmp_path / "gate.json")
    checks = json.loads((tmp_path / "gate.json").read_text("utf-8"))["checks"]
    assert result.code == 7 and {(check["outcome"], check["groups"]) for check in checks} == {("inconclusive", 10)}


def test_characters_that_nobody_sees_make_no_other_text(cli: Callable[..., Any], tmp_path: Path) -> None:
    """Not at the ends, not within words, and not between a letter and its accent."""

    def text(number: int, system: str, rng: Any) -> dict[str, str]:
        base = f"Dům {number % 10} stojí v lese."
        apart = unicodedata.normalize("NFD", base)
        return {"output": (base, base + "\u200b ", base.replace("st", "s\u00adt"), apart.replace("u\u030a", "u\u2060\u030a"))[number % 4]}

    copied = judged_folder(tmp_path / "copied", prompts=150, labelled=1.0, noise=0.02, fields=text)
    policy = tmp_path / "gate.toml"
    policy.write_text('[[rule]]\nlanguage = "ja"\nmetric = "tone"\nverdict = "use"\n', "utf-8")
    result = cli("gate", copied, "--policy", policy, "--json", tmp_path / "gate.json")
    [check] = json.loads((tmp_path / "gate.json").read_text("utf-8"))["checks"]
    assert (result.code, check["outcome"], check["groups"]) == (7, "inconclusive", 10)
