"""The run protocol: the identity of a run's questions, as the store keeps it."""

from __future__ import annotations

import hashlib
import re
from typing import Literal

import msgspec

from harness.content.specs import Rubric
from harness.judges import Panel
from harness.model import Condition, JudgeIdentity, hashed_condition
from harness.prompts.own_prompt import OwnPrompt

# Defaults of fields that were added later. They are left out of the hash in a run's name, so that earlier runs keep their names.
_LATER_DEFAULTS = {
    "majority": "drop",
    "annotators": "",
    "unlabelled": False,
    "own_prompts": {},
    "study": "",
    "own_systems": {},
    "panels": {},
    "tuned": {},
    "own_rubrics": {},
    "examples_from": "",
    "only": {},
}


Majority = Literal["drop", "median", "strict"]


class RunProtocol(msgspec.Struct, frozen=True):
    """A resolved run specification. `identities` are the judges that are asked."""

    source: str  # the board or data folder, with its version
    title: str
    constructed: bool
    data: str | None
    content: tuple[str, ...]
    board: str | None
    languages: tuple[str, ...]
    tasks: dict[str, str]
    rubrics: dict[str, str]
    metrics: tuple[str, ...]
    conditions: tuple[Condition, ...]
    repeats: int
    seed: int
    limit: int | None
    data_sha256: str
    prompts: str
    instructions: dict[str, str] = {}  # versions of the instructions in the items' languages, by language
    examples: str = ""  # hash of the data that few-shot examples come from
    reask: bool = False  # refused calls are asked again
    majority: Majority = "drop"  # how annotators become one reference
    annotators: str = ""  # how many annotators an item needs, such as `2+`; empty: the rule of `harness compare`
    unlabelled: bool = False  # items of the data folder without a label are asked about too
    own_prompts: dict[str, OwnPrompt] = {}  # prompts of the user's own by name and hash, as the variants name them
    study: str = ""  # a published study whose section the report has
    own_systems: dict[str, str] = {}  # judge -> the system of the data that it is
    panels: dict[str, Panel] = {}  # judges whose scores are computed from those of other judges, by name
    tuned: dict[str, str] = {}  # judge -> the judge that it was before it was tuned
    own_rubrics: dict[str, Rubric] = {}  # rubrics of the user's own by name and hash, as the variants name them
    examples_from: str = ""  # the data folder that few-shot examples come from; empty: the development items of the data
    only: dict[str, tuple[str, ...]] = {}  # the items that are asked about, by metric; empty: all
    identities: tuple[JudgeIdentity, ...] = ()

    @property
    def judges(self) -> tuple[JudgeIdentity, ...]:
        """All judges that have judgments: those that are asked, then the panels."""
        asked = {identity.name: identity for identity in self.identities}
        return (*self.identities, *(panel.identity(name, asked) for name, panel in self.panels.items()))

    @property
    def name(self) -> str:
        """A readable name with a hash: equal protocols have equal names."""
        judges = "+".join((*(identity.model for identity in self.identities), *(name.partition("/")[2] for name in self.panels)))
        fields = msgspec.to_builtins(self)
        for name, default in _LATER_DEFAULTS.items():
            if fields[name] == default:
                del fields[name]
        fields["conditions"] = [hashed_condition(condition) for condition in self.conditions]
        digest = hashlib.sha256(msgspec.json.encode(fields, order="sorted")).hexdigest()[:8]
        readable = re.sub(r"[^\w.+-]+", "-", f"{self.source.partition('@')[0]}-{'+'.join(self.languages)}-{judges}")
        return f"{readable[:80].strip('-.')}-{digest}"
