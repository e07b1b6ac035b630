"""Studies: what `harness run --study NAME` asks where the user says nothing else, about which texts, and what it refuses.

A study is an entry point of the group `harness.studies`, of this package or of another one. Its sections, figures and commands come in by
entry points of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from harness.content import Library
from harness.content.tags import choose_from
from harness.data.dataset import Dataset
from harness.errors import UsageError
from harness.model import Condition, Item
from harness.plugins import load, registered
from harness.runs.board_data import DevelopmentPart
from harness.runs.protocol import RunProtocol
from harness.runs.specification import RunSpec

GROUP = "harness.studies"


class SelectedTexts(NamedTuple):
    """The data of a run, the items that are asked about, and the names of their tasks, metrics and languages.

    `development` is the part of the data that examples are taken from; None: the development items of the data.
    """

    data: Dataset
    items: Sequence[Item]
    tasks: tuple[str, ...]
    metrics: tuple[str, ...]
    languages: tuple[str, ...]
    development: DevelopmentPart | None = None


@dataclass(frozen=True)
class Study:
    """One study, as `harness run --study NAME` asks it.

    Args:
        name: of the study, and of its entry point.
        conditions: the fields of a specification that the study sets where they have their defaults.
        needs: the data without which it cannot be asked, in words; empty where it needs none.
        specify: more of the specification; raises UsageError for one that the study cannot ask.
        prepare: the texts of a data folder that are asked about; None: the same as without a study.
        is_asked: from the data, the test of a question under a condition; None: the same as without a study.
        without_order: metrics of single texts, which no order of two texts and no name of a system concerns.
        refuse: raises UsageError for judges that the study cannot ask about the items.
        facts: what its sections need besides judgments and protocol.
    """

    name: str
    conditions: Mapping[str, Any] = field(default_factory=dict)
    needs: str = ""
    specify: Callable[[RunSpec, Library], RunSpec] = lambda spec, library: spec
    prepare: Callable[[RunSpec, Dataset, Library], SelectedTexts] | None = None
    is_asked: Callable[[Dataset], Callable[[Item, str, Condition], bool]] | None = None
    without_order: frozenset[str] = frozenset()
    refuse: Callable[[RunProtocol, Iterable[Item]], None] = lambda protocol, items: None
    facts: Callable[[RunProtocol, Library], Mapping[str, Any]] = lambda protocol, library: {}


_NO_STUDY = Study("")


def study_named(name: str) -> Study:
    """Return a study by name; for an empty name one that changes nothing. Raises UsageError for an unknown name."""
    if not name:
        return _NO_STUDY
    points = registered(GROUP, "study")
    if name not in points:
        raise UsageError(f"no study '{name}'.{choose_from(points, name)}")
    return load(points[name], Study, "study")


def specified(spec: RunSpec, library: Library) -> RunSpec:
    """Return the specification with the conditions of its study wherever it has its defaults. Raises UsageError without what it needs."""
    study = study_named(spec.study)
    if study.needs and (spec.data is None or spec.board is not None):
        raise UsageError(f"--study {study.name} needs {study.needs}, and pass their folder with --data")
    defaults = RunSpec()
    conditions = {name: value for name, value in study.conditions.items() if getattr(spec, name) == getattr(defaults, name)}
    return study.specify(replace(spec, **conditions), library)
