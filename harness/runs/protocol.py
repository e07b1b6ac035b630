"""The run protocol: the identity of a run's questions, as the store keeps it."""

from __future__ import annotations

import hashlib
import re
from typing import Any, Literal

import msgspec

from harness.content.specs import Rubric
from harness.judges import Panel, traits_of
from harness.model import Condition, JudgeIdentity, hashed_condition
from harness.prompts.custom_prompt import OwnPrompt
from harness.prompts.decisions import decision_program_hash

# Fields that few runs set, with their defaults. The hash in a run's name leaves them out where they have these values: a new field then
# renames no run.
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
    "decision_prompts": "",
}


Majority = Literal["drop", "median", "strict"]


class AskedTexts(msgspec.Struct, frozen=True):
    """The texts that are asked about, and where they come from."""

    source: str  # the board or data folder, with its version
    title: str
    constructed: bool
    data: str | None
    content: tuple[str, ...]
    board: str | None
    languages: tuple[str, ...]
    limit: int | None
    data_sha256: str
    study: str = ""  # a published study whose section the report has
    unlabelled: bool = False  # items of the data folder without a label are asked about too
    only: dict[str, tuple[str, ...]] = {}  # the items that are asked about, by metric; empty: all


class AskedQuestions(msgspec.Struct, frozen=True):
    """The questions about each text, their conditions and repeats."""

    metrics: tuple[str, ...]  # in the order in which they are asked
    conditions: tuple[Condition, ...]
    repeats: int = 1
    seed: int = 0  # of perturbations, examples and calls
    reask: bool = False  # refused calls are asked again
    own_prompts: dict[str, OwnPrompt] = {}  # prompts of the user's own by name and hash, as the variants name them
    own_rubrics: dict[str, Rubric] = {}  # rubrics of the user's own by name and hash, as the variants name them


class WordingVersions(msgspec.Struct, frozen=True):
    """The versions of everything that words the questions."""

    tasks: dict[str, str]
    rubrics: dict[str, str]
    prompts: str
    instructions: dict[str, str] = {}  # versions of the instructions in the items' languages, by language
    examples: str = ""  # hash of the data that few-shot examples come from
    examples_from: str = ""  # the data folder that they come from; empty: the development items of the data
    decision_prompts: str = ""  # of the questions to decision models; empty: none is asked

    def prompts_of(self, judge: JudgeIdentity | str) -> str:
        """The hash of the code that words the prompts of a judge."""
        return (self.decision_prompts or decision_program_hash()) if traits_of(judge).decides else self.prompts


class ReferenceRule(msgspec.Struct, frozen=True):
    """The rule by which labels of an item become one reference."""

    majority: Majority = "drop"
    annotators: str = ""  # how many annotators an item needs, such as `2+`; empty: the rule of `harness compare`


class AskedJudges(msgspec.Struct, frozen=True):
    """Who judges. `identities` are the judges that are asked."""

    identities: tuple[JudgeIdentity, ...] = ()
    panels: dict[str, Panel] = {}  # judges whose scores are computed from those of other judges, by name
    own_systems: dict[str, str] = {}  # judge -> the system of the data that it is
    tuned: dict[str, str] = {}  # judge -> the judge that it was before it was tuned

    @property
    def all(self) -> tuple[JudgeIdentity, ...]:
        """All judges that have judgments: those that are asked, then the panels."""
        by_name = {identity.name: identity for identity in self.identities}
        return (*self.identities, *(panel.identity(name, by_name) for name, panel in self.panels.items()))


class RunProtocol(msgspec.Struct, frozen=True):
    """A resolved run specification, in parts. Files and the store have the fields of all parts side by side (`flat`)."""

    texts: AskedTexts
    questions: AskedQuestions
    wording: WordingVersions
    rule: ReferenceRule = ReferenceRule()
    judges: AskedJudges = AskedJudges()

    @property
    def name(self) -> str:
        """A readable name with a hash: equal protocols have equal names."""
        judges = "+".join(
            (*(identity.model for identity in self.judges.identities), *(name.partition("/")[2] for name in self.judges.panels))
        )
        fields = self.flat()
        for name, default in _LATER_DEFAULTS.items():
            if fields[name] == default:
                del fields[name]
        fields["conditions"] = [hashed_condition(condition) for condition in self.questions.conditions]
        digest = hashlib.sha256(msgspec.json.encode(fields, order="sorted")).hexdigest()[:8]
        readable = re.sub(r"[^\w.+-]+", "-", f"{self.texts.source.partition('@')[0]}-{'+'.join(self.texts.languages)}-{judges}")
        return f"{readable[:80].strip('-.')}-{digest}"

    def flat(self) -> dict[str, Any]:
        """The fields of all parts, as JSON has them."""
        return {name: value for part in msgspec.structs.asdict(self).values() for name, value in msgspec.to_builtins(part).items()}

    def with_fields(self, **fields: Any) -> RunProtocol:
        """The same with other values of some fields, whichever part has them. Raises TypeError for a name that no part has."""
        parts = {}
        for name, part in msgspec.structs.asdict(self).items():
            parts[name] = msgspec.structs.replace(part, **{field: fields.pop(field) for field in part.__struct_fields__ if field in fields})
        if fields:
            raise TypeError(f"a run protocol has no {', '.join(fields)}")
        return RunProtocol(**parts)

    @classmethod
    def read(cls, stored: str) -> RunProtocol:
        """The protocol that `flat` wrote as JSON. Raises msgspec.ValidationError."""
        flat = msgspec.json.decode(stored)
        return cls(**{part.name: msgspec.convert(flat, part.type) for part in msgspec.structs.fields(cls)})
