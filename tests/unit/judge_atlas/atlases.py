"""Small invented atlases for tests."""

from __future__ import annotations

import datetime
from typing import Any

from harness.judge_atlas.atlas import Atlas, AtlasJudge, AtlasRow, AtlasSet

TODAY = datetime.date(2026, 1, 31)
NAMES = {"ca": "Catalan", "ja": "Japanese", "pt-BR": "Portuguese (Brazil)"}


def row(**other: Any) -> AtlasRow:
    fields: dict[str, Any] = {"language": "ja", "quality": "harm", "metric": "insult", "judge": "gpt", "condition": "", "set": "one"}
    fields |= {"verdict": "use", "sentence": "", "agreement": 0.8, "people": 0.8, "gap": 0.0, "bound": -0.05, "closeness": False}
    fields |= {"right": 0.7, "over_constant": 0.1, "texts": 100, "groups": 100, "effective_groups": 100.0}
    return AtlasRow(**fields | other)


def about(**other: Any) -> AtlasSet:
    fields: dict[str, Any] = {"title": "One", "version": "1.0.0", "licence": "MIT", "labels": "native", "annotators": "3"}
    return AtlasSet(**fields | {"languages": ("ja",), "qualities": ("harm",), "signature": "data:one@1.0.0"} | other)


def atlas(*rows: AtlasRow, judges: dict[str, AtlasJudge] | None = None, sets: dict[str, AtlasSet] | None = None) -> Atlas:
    every = {name: about() for name in {row.set for row in rows}} | (sets or {})
    tags = {row.language for row in rows} | {tag for each in every.values() for tag in each.languages}
    return Atlas(sets=every, judges=judges or {}, languages={tag: NAMES[tag] for tag in sorted(tags)}, rows=rows)
