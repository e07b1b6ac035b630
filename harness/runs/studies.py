"""Published studies as run specifications: what `harness run --study NAME` asks where the user says nothing else."""

from __future__ import annotations

from typing import Any

import msgspec

from harness.content.tags import choose_from
from harness.errors import UsageError
from harness.runs.specification import RunSpec

CHIANG_LEE, SELF_PREFERENCE = "chiang-lee", "self-preference"

# What each study asks: three samples in the judge's own words, at all temperatures as the instruction stands, and with a persona or a
# request to explain at the first of them (Chiang & Lee 2023).
_PRESETS: dict[str, dict[str, Any]] = {
    CHIANG_LEE: {
        "variants": ("text", "text+persona", "text+explain"),
        "temperatures": (1.0, 0.7, 0.3, 0.0),
        "top_ps": (0.9,),
        "repeats": 3,
        "crossed": False,
        "unlabelled": True,
    },
}
STUDIES = tuple(_PRESETS)
_NEEDS_DATA = {
    CHIANG_LEE: "stories or altered texts: write some with 'harness generate --task rate_story' or 'harness study alter-texts'",
}


def with_preset(spec: RunSpec) -> RunSpec:
    """The specification with the study's conditions wherever it has its defaults. Raises UsageError without a data folder."""
    if not spec.study:
        return spec
    if spec.study not in _PRESETS:
        raise UsageError(f"no study '{spec.study}'.{choose_from(STUDIES, spec.study)}")
    if spec.data is None or spec.board is not None:
        raise UsageError(f"--study {spec.study} needs {_NEEDS_DATA[spec.study]}, and pass their folder with --data")
    defaults = RunSpec()
    preset = _PRESETS[spec.study]
    return msgspec.structs.replace(
        spec, **{name: value for name, value in preset.items() if getattr(spec, name) == getattr(defaults, name)}
    )
