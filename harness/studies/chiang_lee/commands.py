"""`harness study chiang-lee` and `harness study alter-texts`."""

from __future__ import annotations

import shlex

import msgspec
import numpy as np

from harness import sources
from harness.cli.streams import print_json
from harness.content import Library
from harness.content.tags import choose_from
from harness.data import Dataset
from harness.errors import UsageError
from harness.measure.options import MeasureOptions
from harness.render.terminal import print_sections, working
from harness.studies.chiang_lee.altered_texts import DEFAULT_CHANGES, alter_texts, write_altered_texts
from harness.studies.chiang_lee.flags import StudyAlterTexts, StudyChiangLee
from harness.studies.chiang_lee.section import chiang_lee


def compare_ratings(arguments: StudyChiangLee) -> int:
    """Print the section from recorded scores."""
    with working("comparing ratings"):
        data = _choose_judgments(sources.load(arguments.data, card=arguments.card), arguments)
        assert data.judgments is not None
        numbers = chiang_lee(data, data.judgments, MeasureOptions(seed=arguments.seed))
    if numbers is None:
        raise UsageError(f"{arguments.data} has no scores that are numbers, so there are no means to compare")
    if arguments.json:
        return print_json({"schema_version": 1, "study": "chiang-lee", **numbers})
    print_sections({"chiang_lee": numbers})
    return 0


def _choose_judgments(data: Dataset, arguments: StudyChiangLee) -> Dataset:
    """Return the data with the judgments of the chosen judges, variants and metrics.

    Raises UsageError without judgments, and for unknown names.
    """
    judgments = data.judgments
    if judgments is None:
        raise UsageError(f"{arguments.data} has no judgments")
    for name in ("judge", "variant", "metric"):
        wanted = getattr(arguments, name) or ()
        column = getattr(judgments, name)
        for value in wanted:
            if value not in column.used:
                raise UsageError(f"no judgment has the {name} '{value}'.{choose_from([str(name) for name in column.used], value)}")
        if wanted:
            judgments = judgments.take(np.flatnonzero(column.recode(dict.fromkeys(wanted, 0)) == 0))
    return msgspec.structs.replace(data, judgments=judgments)


def write_texts(arguments: StudyAlterTexts) -> int:
    """Write altered control texts as a data folder."""
    changes = arguments.perturb or DEFAULT_CHANGES
    library = Library(*arguments.content)
    altered = alter_texts(library, arguments.langs, changes, arguments.limit, arguments.seed)
    write_altered_texts(arguments.out, altered, library)
    for (language, change), count in sorted(altered.not_changed.items()):
        print(f"{change} could change none of the words of {count} texts in {language}; they are left out")
    print(f"{arguments.out}: {len(altered.rows)} texts")
    print(f"judge them with: harness run --study chiang-lee --data {shlex.quote(str(arguments.out))} --judge NAME")
    return 0
