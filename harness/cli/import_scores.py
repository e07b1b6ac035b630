"""`harness import`: scores made elsewhere."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from harness.cli.arguments import given_fields
from harness.cli.commands.other_programs import ImportScores
from harness.cli.endings import ended, print_refusals, refusals_of
from harness.content import Library
from harness.errors import JUDGE
from harness.exchange.labels.mapping import parse_pairs, parse_scales
from harness.exchange.scores.import_options import ScoreImportOptions, check_scales, parse_map, with_mapping_file
from harness.exchange.scores.score_import import ScoreImportSummary, import_scores
from harness.reports.tables.numbers import counted
from harness.text import terminal_safe


def import_(arguments: ImportScores) -> int:
    imported = import_scores(arguments.files, arguments.to, _read_options(arguments), Library(*arguments.content))
    for judge in imported.unreadable:  # first of all: no verdict may rest on it
        print(terminal_safe(str(judge)), file=sys.stderr)
    _print_summary(imported)
    code = ended(imported, partial(_collect_facts, imported) if arguments.json else None)
    return JUDGE if imported.unreadable else code


def _read_options(arguments: ImportScores) -> ScoreImportOptions:
    files = [text for text in arguments.map if text.endswith(".toml")]
    meaning: dict[str, Any] = {
        "scales": parse_scales(arguments.scale),
        "categories": parse_map([text for text in arguments.map if text not in files]),
        "rename": parse_pairs(arguments.rename, "--rename"),
        "texts": parse_pairs(arguments.text, "--text"),
    }
    options = ScoreImportOptions(**given_fields(arguments, ScoreImportOptions) | meaning)
    for text in files:
        options = with_mapping_file(options, Path(text))
    check_scales(options.scales)
    return options


def _print_summary(imported: ScoreImportSummary) -> None:
    """Print to stderr what was refused, what readers must know, and how much was imported."""
    print_refusals(imported.refused, imported.notes)
    failures = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in imported.failures.items())
    judgments = counted(imported.judgments, "judgment") + (f" ({failures})" if failures else "")
    misfit = any(judge.misfit for judge in imported.unreadable)
    summary = f"{imported.kind}: {judgments} and {counted(imported.labels, 'label')} of {counted(imported.items, 'item')}"
    ending = " imported" if imported.written else " could be imported" if imported.refused else "; nothing was written"
    if misfit and not imported.written:
        ending += "; say what the values mean, or pass --allow-refused to import them as failures"
    elif imported.unreadable and imported.written:
        ending += f"; {imported.folder} holds them as failures, on which no verdict can rest"
    refused = f"; {refusals_of(imported, imported.judgments + imported.labels)}" if imported.refused else ""
    print(terminal_safe(f"{summary}{ending}{refused}"), file=sys.stderr)


def _collect_facts(imported: ScoreImportSummary) -> dict[str, Any]:
    return msgspec.structs.asdict(imported) | {
        "folder": str(imported.folder),
        "unreadable": [msgspec.structs.asdict(judge) for judge in imported.unreadable],
        "refused": [msgspec.structs.asdict(refusal) for refusal in imported.refused],
    }
