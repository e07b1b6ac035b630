"""`harness study chiang-lee` and `harness study alter-texts`.

Altered texts for `rate_altered_text` are the first sentences of flawless control items, changed by perturbations, and once unchanged.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from harness import sources
from harness.cli.streams import print_json
from harness.content import Library
from harness.content.specs import DatasetCard
from harness.content.tags import choose_from, resolve
from harness.data.dataset import load_bundled, read_back
from harness.data.folders import data_toml, write_folder
from harness.errors import UsageError
from harness.measure.options import MeasureOptions
from harness.model import Item
from harness.perturb import apply, parse_perturbation
from harness.render.terminal import print_sections, working
from harness.row_files import to_jsonl
from harness.runs import first_items
from harness.segmentation import sentences
from harness.studies.chiang_lee.flags import StudyAlterTexts, StudyChiangLee
from harness.studies.chiang_lee.section import chiang_lee

TASK = "rate_altered_text"
IDENTICAL = "identical"
DEFAULT_CHANGES = ("typos:0.1", "swap-synonyms:1", "shuffle-words:0.5")
_SENTENCES = 2
_FLAWLESS = "fluent"


class AlteredTexts(msgspec.Struct, frozen=True):
    """The rows of a data folder, and how many texts each change could not change, by (language, change)."""

    rows: tuple[dict[str, Any], ...]
    not_changed: dict[tuple[str, str], int]


def alter_texts(
    library: Library, languages: Sequence[str] | None, changes: Sequence[str] = DEFAULT_CHANGES, limit: int | None = None, seed: int = 0
) -> AlteredTexts:
    """Return each flawless text of the control items under each change, and as it is (`identical`).

    Args:
        library: its packs hold the texts.
        languages: those of the texts; all that have items if None.
        changes: perturbations with one dose each, as `harness run --perturb` takes them.
        limit: texts of each language.
        seed: of the perturbations.

    Raises:
        UsageError: for an unknown language or perturbation.
    """
    tags = library.tags_with_items()
    data = load_bundled(library, resolve(languages, tags, "items") if languages else tags)
    flawless = [item for item in data.items if item.fields.get("construction") == _FLAWLESS and item.split == "test"]
    perturbations = [parsed for text in changes for parsed in parse_perturbation(text)]
    rows: list[dict[str, Any]] = []
    not_changed: Counter[tuple[str, str]] = Counter()
    for item in first_items(flawless, limit, attrgetter("language")):
        text = str(item.fields["output"])
        first = sentences(text, item.language)[:_SENTENCES]
        original = " ".join("".join(first).split()) if first else text
        rows.append(_row(item, original, IDENTICAL, original))
        for perturbation in perturbations:
            source = msgspec.structs.replace(item, fields={"output": original})
            changed = apply(perturbation, source, (), seed, ("output",), library.lexicons)
            if changed.applied:
                rows.append(_row(item, original, str(perturbation), str(changed.item.fields["output"])))
            else:
                not_changed[item.language, str(perturbation)] += 1
    if not rows:
        raise UsageError("the language packs hold no flawless texts in these languages")
    return AlteredTexts(tuple(rows), dict(not_changed))


def _row(item: Item, original: str, change: str, text: str) -> dict[str, Any]:
    row = {"item_id": f"{item.group}|{change}", "language": item.language, "task": TASK, "group": item.group, "system": change}
    return row | {"original": original, "output": text}


def write_altered_texts(folder: Path, altered: AlteredTexts, library: Library) -> None:
    """Write a new data folder. Raises UsageError if it exists, StoreError if it cannot be written or read again."""
    if folder.exists():
        raise UsageError(f"--out {folder} exists already; name a new folder")
    card = DatasetCard(id="altered-texts", title="Altered control texts", source="constructed", annotators="aggregate")
    files = {"items.jsonl": to_jsonl(altered.rows), "data.toml": data_toml(card).encode()}
    write_folder(folder, files, read_back(folder, library, {"items": len(altered.rows)}))


def compare_ratings(arguments: StudyChiangLee) -> int:
    """Print the section from recorded scores."""
    with working("comparing ratings"):
        data = sources.load(arguments.data, card=arguments.card)
        judgments = data.judgments
        if judgments is None:
            raise UsageError(f"{arguments.data} has no judgments")
        for name in ("judge", "variant", "metric"):
            wanted = getattr(arguments, name) or ()
            column = getattr(judgments, name)
            for value in wanted:
                if value not in column.used:
                    raise UsageError(f"no judgment has the {name} '{value}'.{choose_from([str(used) for used in column.used], value)}")
            if wanted:
                judgments = judgments.take(np.flatnonzero(column.recode(dict.fromkeys(wanted, 0)) == 0))
        numbers = chiang_lee(msgspec.structs.replace(data, judgments=judgments), judgments, MeasureOptions(seed=arguments.seed))
    if numbers is None:
        raise UsageError(f"{arguments.data} has no scores that are numbers, so there are no means to compare")
    if arguments.json:
        return print_json({"schema_version": 1, "study": "chiang-lee", **numbers})
    print_sections({"chiang_lee": numbers})
    return 0


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
