"""Published studies as run specifications: the defaults of `harness run --study NAME`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from harness.content.library import Library
from harness.content.tags import choose_from
from harness.errors import UsageError
from harness.judges import traits_of
from harness.model import Item
from harness.prompts import is_english
from harness.runs.protocol import RunProtocol
from harness.runs.self_preference_data import PAIR_METRICS, SINGLE_METRICS
from harness.runs.shown_items import SYSTEM_KEYS
from harness.runs.specification import RunSpec

CHIANG_LEE, SELF_PREFERENCE, LANGUAGES = "chiang-lee", "self-preference", "languages"

# What each study asks: three samples in the judge's own words, at all temperatures as the instruction stands, and with a persona or a
# request to explain at the first of them (Chiang & Lee 2023); who wrote which text and which is better, in both orders, without and with
# the names of the writers, control questions with computed answers, and each text alone (Panickssery et al. 2024).
_PRESETS: dict[str, dict[str, Any]] = {
    CHIANG_LEE: {
        "variants": ("text", "text+persona", "text+explain"),
        "temperatures": (1.0, 0.7, 0.3, 0.0),
        "top_ps": (0.9,),
        "repeats": 3,
        "crossed": False,
        "unlabelled": True,
    },
    SELF_PREFERENCE: {
        "variants": ("score-only+probabilities",),
        "metrics": (*PAIR_METRICS, *SINGLE_METRICS),
        "orders": ("forward", "swapped"),
        "shown_sources": ("correct", "swapped"),
        "unlabelled": True,
    },
}
STUDIES = (*_PRESETS, LANGUAGES)
# The language of the rubric, of the item and of the justification, each English or another language: 2 x 2 x 2 on the same texts.
_PARALLEL_BOARD = "controls-parallel"
_LANGUAGE_VARIANTS = ("single", "single+reasons:{}", "single+in:{}", "single+in:{}+reasons:en")
_NEEDS_DATA = {
    CHIANG_LEE: "stories or altered texts: write some with 'harness generate --task rate_story' or 'harness study alter-texts'",
    SELF_PREFERENCE: "texts of several systems, or pairs of them: write some with 'harness generate'",
}


def with_preset(spec: RunSpec, library: Library) -> RunSpec:
    """The specification with the study's conditions wherever it has its defaults. Raises UsageError without what the study needs."""
    if not spec.study:
        return spec
    if spec.study == LANGUAGES:
        return _with_languages(spec, library)
    if spec.study not in _PRESETS:
        raise UsageError(f"no study '{spec.study}'.{choose_from(STUDIES, spec.study)}")
    if spec.data is None or spec.board is not None:
        raise UsageError(f"--study {spec.study} needs {_NEEDS_DATA[spec.study]}, and pass their folder with --data")
    defaults = RunSpec()
    preset = _PRESETS[spec.study]
    return replace(spec, **{name: value for name, value in preset.items() if getattr(spec, name) == getattr(defaults, name)})


def _with_languages(spec: RunSpec, library: Library) -> RunSpec:
    """English beside the languages of the run, and for each of them the variants that name it."""
    board = spec.board or (None if spec.data else _PARALLEL_BOARD)
    tags = spec.languages or (tuple(library.board(board).languages) if board else ())
    foreign_tags = [tag for tag in tags if not is_english(tag)]
    if not foreign_tags:
        raise UsageError(f"--study {LANGUAGES} compares English with another language; name one, such as --langs ja")
    variants = dict.fromkeys(text.replace("{}", tag) for tag in foreign_tags for text in _LANGUAGE_VARIANTS)
    languages = tuple(dict.fromkeys((*foreign_tags, "en")))
    return replace(spec, board=board, languages=languages, variants=spec.variants or tuple(variants))


def own_system(protocol: RunProtocol, judge: str) -> str:
    """The system of the data that a judge is: the one that `--is` names, for a tuned judge that of the judge before, else its own name."""
    before = protocol.judges.tuned.get(judge)
    return protocol.judges.own_systems.get(judge) or (judge if before is None else protocol.judges.own_systems.get(before, before))


def refuse_judges_without_texts(protocol: RunProtocol, items: Iterable[Item]) -> None:
    """For self-preference, raise UsageError for a judge that wrote none of the texts. Baselines wrote none and are asked all the same."""
    if protocol.texts.study != SELF_PREFERENCE:
        return
    systems = sorted({str(item.fields[key]) for item in items for key in SYSTEM_KEYS if item.fields.get(key)})
    names = {identity.name for identity in protocol.judges.identities}
    for flag, judges in (("--is", protocol.judges.own_systems), ("--tuned", (*protocol.judges.tuned, *protocol.judges.tuned.values()))):
        for judge in judges:
            if judge not in names:
                raise UsageError(f"{flag} names '{judge}', which is not a judge of this run; its judges: {', '.join(sorted(names))}")
    for identity in protocol.judges.identities:
        system = own_system(protocol, identity.name)
        if system not in systems and not traits_of(identity).is_baseline:
            raise UsageError(
                f"judge '{identity.name}' wrote none of these texts, so it cannot prefer its own; the systems are {', '.join(systems)}. "
                f"Pass --is '{identity.name}=SYSTEM' if it is one of them under another name"
            )
