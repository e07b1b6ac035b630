"""`harness labels import`, `labels export`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from harness.content import Library, load_bundled, load_folder
from harness.errors import UsageError
from harness.labels import Imported, LabelMapping, Options, Selection, export_labels, import_labels, load_mapping
from harness.labels.mapping import ROLES, parse_categories, parse_pairs, parse_scales
from harness.tables import to_json
from harness.text import plain

_SHOWN = 20  # refusals on the screen; the file has all


def import_(arguments: argparse.Namespace) -> int:
    options = Options(
        kind=arguments.kind,
        sheet=arguments.sheet,
        encoding=arguments.encoding,
        revision=arguments.revision,
        split=arguments.split,
        items=arguments.items,
        append=arguments.append,
        keep_annotators=arguments.keep_annotators,
        salt_file=arguments.salt_file,
    )
    done = import_labels(arguments.source, arguments.to, _mapping(arguments), options, Library(*arguments.content))
    _say(done)
    if arguments.json:
        sys.stdout.write(to_json(_facts(done)))
    else:
        print(plain(str(done.folder)))
    return 1 if done.refused else 0


def _mapping(arguments: argparse.Namespace) -> LabelMapping:
    """The mapping of --map, with the flags over it."""
    same_name = ("id", "title", "language", "task", "metric", "annotator", "source", "annotators", "group", "system")
    flags: dict[str, Any] = {name: getattr(arguments, name if name != "source" else "label_source") for name in same_name}
    flags |= {name: tuple(getattr(arguments, name) or ()) for name in ("wide_annotators", "wide_metrics", "flip", "drop")}
    flags |= {
        "columns": parse_pairs(arguments.column, "--column", ROLES),
        "texts": parse_pairs(arguments.text, "--text"),
        "rename": parse_pairs(arguments.rename, "--rename"),
        "categories": parse_categories(arguments.category),
        "metrics": parse_scales(arguments.scale),
    }
    return load_mapping(arguments.map, flags)


def _say(done: Imported) -> None:
    """On stderr: what was refused, what was guessed, and what came of it."""
    for refusal in done.refused[:_SHOWN]:
        print(plain(f"{refusal.place}: {refusal.reason}"), file=sys.stderr)
    if len(done.refused) > _SHOWN:
        print(f"… and {len(done.refused) - _SHOWN} more", file=sys.stderr)
    for note in done.said:
        print(plain(note), file=sys.stderr)
    further = [
        f"{len(done.refused)} refused (see {done.folder / 'refused.jsonl'})" if done.refused else "",
        f"{_number(done.blank, 'empty cell')}" if done.blank else "",
        f"{_number(done.left_out, 'answer')} left out" if done.left_out else "",
    ]
    rest = "".join(f"; {part}" for part in further if part)
    what = f"{_number(done.labels, 'label')} by {_number(done.annotators, 'annotator')} on {_number(len(done.metrics), 'metric')}"
    print(plain(f"{_number(done.rows, 'row')}: {what} imported{rest}"), file=sys.stderr)


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _facts(done: Imported) -> dict[str, Any]:
    return {
        "rows": done.rows,
        "labels": done.labels,
        "blank": done.blank,
        "left_out": done.left_out,
        "refused": len(done.refused),
        "items": done.items,
        "annotators": done.annotators,
        "metrics": done.metrics,
        "folder": str(done.folder),
        "notes": [*done.said, *done.notes],
    }


def export(arguments: argparse.Namespace) -> int:
    library = Library(*arguments.content)
    bundled = str(arguments.data) == "bundled"
    data = load_bundled(library, library.pack_files) if bundled else load_folder(Path(arguments.data), library)
    if bundled and not arguments.langs:
        raise UsageError(f"name the languages of 'bundled' to export with --langs (here: {', '.join(library.pack_files)})")
    selection = Selection(arguments.langs, arguments.task, arguments.metrics, arguments.fields, arguments.seed, arguments.annotator or "")
    done = export_labels(data, arguments.to, library, format=arguments.format, selection=selection)
    items = _number(done.items, "item")
    what = f"{_number(done.labels, 'label')} of {items}" if done.labels else f"{items} to be scored"
    print(f"{what} written", file=sys.stderr)
    if arguments.json:
        sys.stdout.write(to_json({"format": done.format, "files": list(map(str, done.files)), "items": done.items, "labels": done.labels}))
    else:
        print(plain("\n".join(map(str, done.files))))
    return 0
