"""The earlier run of a gate: its signature, and the conditions under which two runs are comparable."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from urllib.parse import unquote

import msgspec

from harness.gate.unanswered import Unanswered
from harness.measure.compare import Recording, of_metrics, only_where
from harness.measure.options import CompareOptions
from harness.model import CellKey

_OF_EACH_RUN = ("judge", "data", "langs", "harness", "judgments", "judges", "ci")
"""Parts of a signature that two comparable runs may differ in: data are compared language by language, both are computed now."""


class BaselineProblem(Exception):
    """A limit cannot be held against anything; the message says why."""


class GatedSource(msgspec.Struct, frozen=True):
    """A run or data folder for a gate.

    Attributes:
        recording: judgments with the labels that they are compared with.
        options: how annotators become one reference.
        signatures: the signature of each judge as text; with the key `""`, that of every judge.
        unanswered: the cells of a run in which calls have no answer (`unanswered_calls`).
    """

    recording: Recording
    options: CompareOptions
    signatures: Mapping[str, str]
    unanswered: Mapping[CellKey, Unanswered] = {}

    def parts(self, judge: str) -> dict[str, str]:
        """The parts of a judge's signature by name."""
        text = self.signatures.get(judge, self.signatures.get("", ""))
        return {name: unquote(value) for name, _, value in (part.partition(":") for part in text.split("|") if part)}


def other_parts(here: Mapping[str, str], there: Mapping[str, str], whose: str, may_differ: Collection[str] | None = None) -> str:
    """The first part of a signature that differs from `whose` (such as "in the policy"), as a clause; empty if none does.

    Without `may_differ`, exactly the parts of `there` are compared; else all parts but those and the ones of each run.
    """
    names: Sequence[str] = list(there) if may_differ is None else list(dict.fromkeys((*here, *there)))
    skipped = () if may_differ is None else (*_OF_EACH_RUN, *may_differ)
    for name in names:
        if name not in skipped and here.get(name, "") != there.get(name, ""):
            return f"{name} is '{here.get(name, '')}' here and '{there.get(name, '')}' {whose}"
    return ""


def partner_key(key: CellKey, earlier: Collection[CellKey]) -> CellKey:
    """The cell of the baseline that a cell is compared with: of the same judge and condition, else the only one of its language and metric.

    Raises BaselineProblem if there is none, or more than one.
    """
    if key in earlier:
        return key
    others = [other for other in earlier if other[:2] == key[:2]]
    if not others:
        raise BaselineProblem("the baseline has no numbers for this language and metric")
    if len(others) > 1:
        judges = ", ".join(dict.fromkeys(str(other.condition.judge) for other in others))
        raise BaselineProblem(f"the baseline has several judges or conditions and none is this one: {judges}")
    return others[0]


def same_texts_and_labels(one: Recording, other: Recording, language: str, metric: str) -> bool:
    """Whether two recordings have the same items and labels in a language and metric."""
    parts = (of_metrics(only_where(source.data, {"language": [language]}), [metric]) for source in (one, other))
    first, second = (data.only(item for item in data.items if item.item_id in data.labelled_metrics).sha256 for data in parts)
    return first == second
