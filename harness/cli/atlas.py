"""`harness atlas`: which judge may be used for what, by language; from a file, without data, key or network."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.cli.text_columns import columns
from harness.errors import UsageError
from harness.judge_atlas.atlas_file import FILE, Atlas, AtlasRow, read_atlas
from harness.judge_atlas.known import AGAINST, CORRECTED, OPEN, USE, KnownOfQuality, known_of, select, tag_of
from harness.reports.tables.numbers import counted, difference, percent
from harness.text import terminal_safe

_SIGNS = {USE: "✓", CORRECTED: "✓", AGAINST: "✗", OPEN: "○"}
_PEOPLE = {"native": "native speakers", "people": "people"}


def show(arguments: argparse.Namespace) -> int:
    if arguments.action == "build":
        return _build(arguments)
    if arguments.to:
        raise UsageError("--to says where 'harness atlas build' writes; without 'build' nothing is written")
    from harness.content.library import bundled_root

    atlas = read_atlas(bundled_root() / FILE)
    rows = select(atlas, arguments.lang, arguments.judge, arguments.quality)
    if arguments.json:
        from harness.tables import to_json

        sys.stdout.write(to_json(list(atlas.flat(rows))))
        return 0
    lines = _of_language(atlas, rows, arguments) if arguments.lang else _of_all(atlas, rows)
    print("\n".join(map(terminal_safe, lines)))
    return 0


def _of_language(atlas: Atlas, rows: Sequence[AtlasRow], arguments: argparse.Namespace) -> Iterator[str]:
    tag = tag_of(atlas, arguments.lang)
    yield f"{atlas.languages[tag]}: which judge for what"
    found = known_of(rows)
    yield from (f"{_SIGNS[each.answer]} {_sentence(atlas, each)}" for each in found)
    if not (arguments.judge or arguments.quality):
        unknown = sorted({row.quality for row in atlas.rows if row.quality} - {each.quality for each in found})
        if unknown:
            yield f"○ Nothing is known of {', '.join(unknown)}: no set here has labels and judges of it in {atlas.languages[tag]}."
    yield from ("", *_table(atlas, rows), "", *_reading(atlas, rows))


def _of_all(atlas: Atlas, rows: Sequence[AtlasRow]) -> Iterator[str]:
    """A line a language: the answer about each quality, and the judge where one may be used."""
    yield "Which judge may score texts, in which language?"
    lines = []
    for tag, name in sorted(atlas.languages.items(), key=lambda each: each[1]):
        own = [row for row in rows if row.language == tag]
        if own:
            parts = [f"{_SIGNS[each.answer]} {each.quality}{_judge(each)}" for each in known_of(own)]
            lines.append([f"{name} ({tag})", "  ".join(parts)])
    yield from columns(lines)
    yield from ("", *_reading(atlas, rows), "harness atlas --lang TAG has the numbers of a language, --json all rows.")


def _judge(known: KnownOfQuality) -> str:
    """The judge that may be used, and for how many metrics if not for all."""
    if not known.allowed:
        return ""
    part = f" {len(known.allowed)} of {known.metrics}" if len(known.allowed) < known.metrics else ""
    return f"{part}: {known.best.judge}"


def _sentence(atlas: Atlas, known: KnownOfQuality) -> str:
    """The answer about one quality, with its evidence and what it rests on."""
    best = known.best
    who = _PEOPLE.get(atlas.sets[best.set].labels, "people")
    kind = "closeness to" if best.closeness else "agreement with"
    agrees = f"{kind} {who} {percent(best.agreement)}, of {who} with each other {percent(best.people)}"
    evidence = f"{_words(best.metric)} in {best.set}: {agrees}; {best.texts:,} texts{_groups(best)}"
    if known.allowed:
        part = f" for {', '.join(map(_words, known.allowed))} only" if len(known.allowed) < known.metrics else ""
        how = " with corrected means only" if known.answer == CORRECTED else ""
        return f"{known.quality}: use {best.judge}{part}{how} ({evidence}).{' Sets differ.' if known.differ else ''}"
    judges = counted(len({row.judge for row in known.rows}), "judge")
    if known.answer == AGAINST:
        return f"{known.quality}: use no judge; every verdict on {judges} is against it (the closest: {best.judge}, {evidence})."
    return f"{known.quality}: not known yet of {judges} (the closest: {best.judge}, {evidence})."


def _groups(row: AtlasRow) -> str:
    """For how many independent texts they stand, where texts share a source."""
    stand_for = min(row.effective_groups or row.groups, row.groups)
    return f", as if {stand_for:,.0f} independent ones" if round(stand_for) < row.texts else ""


def _words(metric: str) -> str:
    return metric.replace("_", " ")


def _table(atlas: Atlas, rows: Sequence[AtlasRow]) -> list[str]:
    head = ["quality", "metric", "judge", "verdict", "judge agrees", "people agree", "difference", "texts", "as if", "set", "labels"]
    body = [
        [
            row.quality,
            _words(row.metric),
            f"{row.judge}{f', {row.condition}' if row.condition else ''}",
            row.verdict,
            percent(row.agreement),
            percent(row.people),
            difference(row.gap),
            f"{row.texts:,}",
            f"{min(row.effective_groups or row.groups, row.groups):,.0f}",
            row.set,
            atlas.sets[row.set].labels,
        ]
        for row in rows
    ]
    return columns([head, *body])


def _reading(atlas: Atlas, rows: Sequence[AtlasRow]) -> Iterator[str]:
    yield "✓ a judge may be used for this, or for so many of its metrics, as tests show; ✗ every verdict is against it; ○ not shown."
    yield "As if: for how many independent texts they stand; texts of one source say less. A verdict speaks for texts like these."
    people = sorted({row.set for row in rows if atlas.sets[row.set].labels != "native"})
    if people:
        yield f"Labels of {', '.join(people)}: people; the release does not say that they are native speakers."


def _build(arguments: argparse.Namespace) -> int:
    from harness import api
    from harness.content.library import bundled_root
    from harness.judge_atlas.atlas_file import atlas_bytes
    from harness.tables import write_atomic

    path: Path = arguments.to or bundled_root() / FILE
    kept = read_atlas(path) if path.is_file() else None
    atlas, absent = api.build_atlas(kept, lambda name: print(f"comparing {name}", file=sys.stderr))
    if not atlas.rows:
        raise UsageError("no published set with recorded judgments is here; 'harness data get --all' fetches them")
    write_atomic(path, atlas_bytes(atlas))
    earlier = [name for name in absent if kept and name in kept.sets]
    if earlier:
        print(f"not here, so the rows stay as they were: {', '.join(earlier)}", file=sys.stderr)
    if lost := [name for name in absent if name not in earlier]:
        print(f"not here, so without rows: {', '.join(lost)}", file=sys.stderr)
    judges = len({row.judge for row in atlas.rows})
    print(f"{path}: {len(atlas.rows):,} verdicts on {judges} judges in {len(atlas.languages)} languages, from {len(atlas.sets)} sets")
    return 0
