"""`harness run --study self-preference`: who wrote which text, and which one is better.

Pairs are asked in both orders, without and with the names of the writers, beside control questions with computed answers and each text
alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from harness.content import Library
from harness.errors import UsageError
from harness.judges import traits_of
from harness.model import Item
from harness.runs import SYSTEM_KEYS, RunProtocol, Study
from harness.studies.self_preference.asked_pairs import PAIR_METRICS, SINGLE_METRICS, prepare_pairs, question_filter, refused_controls


def own_system(protocol: RunProtocol, judge: str, systems: Collection[str]) -> str:
    """Return the system of the data that a judge is: that of `--is`, else its own name.

    A tuned judge that wrote none of the texts is the system of the judge before.
    """
    before = protocol.judges.tuned.get(judge)
    if before is None or judge in systems:
        return protocol.judges.own_systems.get(judge, judge)
    return protocol.judges.own_systems.get(judge) or protocol.judges.own_systems.get(before, before)


def systems_of(items: Iterable[Item]) -> list[str]:
    """Return the systems that wrote the texts of pairs, sorted."""
    return sorted({str(item.fields[key]) for item in items for key in SYSTEM_KEYS if item.fields.get(key)})


def refuse_judges_without_texts(protocol: RunProtocol, items: Iterable[Item]) -> None:
    """Raise UsageError for a judge that wrote none of the texts. Baselines wrote none and are asked all the same."""
    systems = systems_of(items)
    names = {identity.name for identity in protocol.judges.identities}
    for flag, judges in (("--is", protocol.judges.own_systems), ("--tuned", (*protocol.judges.tuned, *protocol.judges.tuned.values()))):
        for judge in judges:
            if judge not in names:
                raise UsageError(f"{flag} names '{judge}', which is not a judge of this run; its judges: {', '.join(sorted(names))}")
    for identity in protocol.judges.identities:
        system = own_system(protocol, identity.name, systems)
        if system not in systems and not traits_of(identity).is_baseline:
            raise UsageError(
                f"judge '{identity.name}' wrote none of these texts, so it cannot prefer its own; the systems are {', '.join(systems)}. "
                f"Pass --is '{identity.name}=SYSTEM' if it is one of them under another name"
            )


def controls_not_asked(protocol: RunProtocol, library: Library) -> Mapping[str, Any]:
    """Return the control questions that the languages of a run do not have, with the reasons."""
    return refused_controls(protocol.texts.languages, protocol.questions.metrics, library)


STUDY = Study(
    "self-preference",
    {
        "variants": ("score-only+probabilities",),
        "metrics": (*PAIR_METRICS, *SINGLE_METRICS),
        "orders": ("forward", "swapped"),
        "shown_sources": ("correct", "swapped"),
        "unlabelled": True,
    },
    needs="texts of several systems, or pairs of them: write some with 'harness generate'",
    prepare=prepare_pairs,
    is_asked=question_filter,
    without_order=frozenset(SINGLE_METRICS),
    refuse=refuse_judges_without_texts,
    facts=controls_not_asked,
)
