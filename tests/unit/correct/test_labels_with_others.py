"""`harness labels needed --borrow languages`: fewer labels where languages are alike, refused where they are few."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.unit.correct.languages_folder import languages_folder

Cli = Callable[..., Any]
ALIKE = dict.fromkeys(("cs", "de", "es", "fr", "it", "ja"), 1.0)


def needed(cli: Cli, folder: Path) -> dict[str, Any]:
    [found] = json.loads(cli("labels", "needed", folder, "--borrow", "languages", "--half-width", "0.02", "--json").out)["new_languages"]
    return dict(found)


def test_alike_languages_need_fewer_labels_than_languages_that_differ(tmp_path: Path, cli: Cli) -> None:
    alike = needed(cli, languages_folder(tmp_path / "alike", ALIKE, groups=240))
    apart = needed(cli, languages_folder(tmp_path / "apart", ALIKE, groups=240, apart=0.4))
    assert alike["languages"] == 6 and alike["reason"] is None and alike["half_width"] == 0.08
    assert alike["between_sd"] < apart["between_sd"]
    assert alike["with_others"] < alike["alone"] and alike["with_others"] / alike["alone"] < apart["with_others"] / apart["alone"]
    printed = " ".join(cli("labels", "needed", tmp_path / "alike", "--borrow", "languages", "--half-width", "0.02").out.split())
    assert f"with 6 other languages {alike['with_others']:,}, {alike['alone'] - alike['with_others']:,} fewer" in printed


def test_under_five_languages_the_reason_is_given(tmp_path: Path, cli: Cli) -> None:
    folder = languages_folder(tmp_path / "d", {"cs": 1.0, "ja": 1.0}, groups=60)
    assert needed(cli, folder)["reason"] == "2 languages have 15 independent labels, and 5 are needed"
    assert "new_languages" not in json.loads(cli("labels", "needed", folder, "--json").out)
