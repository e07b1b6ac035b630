"""`harness atlas`: which judge may be used for what, by language; from a file, without data, key or network."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from harness.cli.commands.find_out import ShowAtlas
from harness.cli.output import columns, fitting, hanging, print_signed, step_lines
from harness.cli.streams import in_lines, known_width, print_json
from harness.errors import UsageError
from harness.judge_atlas.atlas import CORRECTED, FILE, USE, Atlas, AtlasRow, answers_by_quality, read_atlas, select, tag_of
from harness.reports.answer.parts import STYLES
from harness.reports.atlas_answer import (
    ATLAS_SIGNS,
    AtlasAnswer,
    atlas_matrix,
    evidence,
    first_finding,
    full_sentence,
    gone_judges,
    judge_answer,
    language_answer,
    language_counts,
    metric_words,
    quality_square,
    set_words,
    wrong_use_words,
)
from harness.reports.tables.numbers import counted
from harness.text import absent_words

_TABLE = (
    "language",
    "quality",
    "metric",
    "judge",
    "verdict",
    "judge agrees",
    "people agree",
    "difference",
    "at worst",
    "texts",
    "count as",
    "probabilities",
    "released",
    "set",
)
_FIRST = ("language", "metric", "verdict", "judge", "difference", "at worst", "texts", "judge agrees", "people agree")


_SIGNS = "✓ use, (✓) use, but no longer served, ✗ do not use, ○ unknown."


def show(arguments: ShowAtlas) -> int:
    if arguments.language == "build":
        return _build(arguments)
    if arguments.language == "update":
        from harness.cli.atlas_update import update

        return update(arguments)
    if arguments.language is not None:
        if arguments.lang is not None:
            raise UsageError(f"the language is named twice, as {arguments.language} and by --lang {arguments.lang}; name it once")
        arguments = replace(arguments, lang=arguments.language, language=None)
    if arguments.to:
        raise UsageError("--to says where 'harness atlas build' and 'update' write; without them nothing is written")
    if (arguments.url or arguments.beside) and not arguments.html:
        raise UsageError("--url and --beside are about the pages that --html writes; add --html DIR")
    from harness.content.library import bundled_root

    atlas = read_atlas(bundled_root() / FILE)
    if arguments.html:
        return _write_site(atlas, arguments)
    rows = select(atlas, arguments.lang, arguments.judge, arguments.quality, toys=arguments.json)
    if arguments.json:
        return print_json(list(atlas.flat(rows)))
    today = datetime.date.today()
    if arguments.lang:
        print_signed(_describe_one(atlas, rows, language_answer(atlas, tag_of(atlas, arguments.lang), rows, today), today))
    elif arguments.judge:
        print_signed(_describe_one(atlas, rows, judge_answer(atlas, rows[0].judge, rows, today), today))
    else:
        print_signed(_list_languages(atlas, rows, today))
    return 0


def _describe_one(atlas: Atlas, rows: Sequence[AtlasRow], atlas_answer: AtlasAnswer, today: datetime.date) -> Iterator[str]:
    """A language or a judge: the answer, what would find out more, and the numbers. No line is broken inside a word or a command."""
    width, answer = known_width(), atlas_answer.answer
    sentences = [answer.title, atlas_answer.lead, *(f"{ATLAS_SIGNS[card.style]} {full_sentence(card)}" for card in answer.cards)]
    for sentence in (*sentences, *atlas_answer.across, *([atlas_answer.age] if atlas_answer.age else [])):
        yield from in_lines(sentence, width)
    for number, step in enumerate(answer.steps):
        yield from step_lines(f"{'Or' if number else 'Next'}: {step.text}", step.command, width)
    if rows:
        head = _TABLE if len({row.language for row in rows}) > 1 else _TABLE[1:]
        gone = gone_judges(atlas, today)
        signs = (ATLAS_SIGNS["gone" if row.verdict == USE and row.judge in gone else STYLES.get(row.verdict, "open")] for row in rows)
        lines = [
            {**line, "verdict": f"{sign} {line['because'] or line['verdict']}"}
            for sign, line in zip(signs, evidence(atlas, rows, today), strict=True)
        ]
        table = [head, *([line[name] for name in head] for line in lines)]
        fitting_table, absent = fitting(table, _FIRST, "judge", width)
        yield from ("", *columns(fitting_table), "")
        notes = [
            f"{_SIGNS} A number beside ✗ is what decided, in percentage points.",
            *([absent_words(absent)] if absent else []),
            _reading(),
            answer.sure,
            *(set_words(atlas, name) for name in sorted({row.set for row in rows})),
        ]
        for note in notes:
            yield from in_lines(note, width)


def _list_languages(atlas: Atlas, rows: Sequence[AtlasRow], today: datetime.date) -> Iterator[str]:
    """A line a language: the answer about each quality, and the judge where one may be used."""
    width = known_width()
    finding, more = first_finding(atlas_matrix(msgspec.structs.replace(atlas, rows=tuple(rows)), today), {row.language for row in rows})
    yield from in_lines(finding, width)
    yield from in_lines(f"{more} Edition of {atlas.edition}.".lstrip(), width)
    lines, gone = [], gone_judges(atlas, today)
    for tag, name in sorted(atlas.languages.items(), key=lambda language: language[1]):
        parts = []
        for quality in answers_by_quality((row for row in rows if row.language == tag), gone):
            square = quality_square(quality)
            judge = f": {square.words}" if quality.with_answers(USE, CORRECTED) else ""
            parts.append(f"{square.sign} {metric_words(quality.quality)}{judge}")
        if parts:
            lines.append((f"{name} ({tag})", parts))
    yield from hanging(lines, width)
    unjudged = [f"{name} ({tag})" for tag, name in atlas.languages.items() if not any(row.language == tag for row in atlas.rows)]
    if unjudged and len(rows) == len(atlas.rows):
        yield from in_lines(f"People's labels and no judge yet: {', '.join(unjudged)}", width)
    yield ""
    wrong = [words] if (words := wrong_use_words(rows)) else []
    signs = "✓ a judge may be used, (✓) only one that is no longer served; ✗ no judge may be used; ○ unknown. Numbers count metrics."
    for note in (
        signs,
        _reading(),
        *wrong,
        "harness atlas --lang TAG has the numbers of a language, --json all rows, --html DIR makes pages.",
    ):
        yield from in_lines(note, width)


def _reading() -> str:
    return "Texts of one source say less, so they count as fewer independent texts. A verdict speaks for texts like these."


def _write_site(atlas: Atlas, arguments: ShowAtlas) -> int:
    from harness.exchange.labels.mapping import PAGE_BESIDE, parse_pairs
    from harness.render.html.atlas_site import atlas_site
    from harness.row_files import write_together

    if arguments.lang or arguments.judge or arguments.quality or arguments.json:
        raise UsageError("--html writes pages of everything; call it without --lang, --judge, --quality and --json")
    assert arguments.html is not None
    if arguments.html.exists() and not arguments.html.is_dir():
        raise UsageError(f"--html {arguments.html} is a file; name a folder (it is created if it does not exist)")
    linked_pages = parse_pairs(arguments.beside, "--beside", form=PAGE_BESIDE)
    pages = atlas_site(atlas, datetime.date.today(), arguments.url or "", linked_pages)
    write_together({arguments.html / name: page for name, page in pages.items()})
    judges = counted(len({row.judge for row in atlas.rows}), "judge")
    print(f"{arguments.html / 'index.html'}: {judges}, {language_counts(atlas)}")
    return 0


def _build(arguments: ShowAtlas) -> int:
    from harness import api
    from harness.content.library import bundled_root
    from harness.judge_atlas.atlas import atlas_bytes, parquet_bytes
    from harness.row_files import write_together

    path: Path = arguments.to or bundled_root() / FILE
    earlier_atlas = read_atlas(path) if path.is_file() else None
    atlas, absent = api.build_atlas(earlier_atlas, lambda name: print(f"comparing {name}", file=sys.stderr))
    if not atlas.rows:
        raise UsageError("no published set with recorded judgments is here; 'harness data get --all' fetches them")
    write_together({path: atlas_bytes(atlas), path.with_suffix(".parquet"): parquet_bytes(atlas)})
    earlier = [name for name in absent if earlier_atlas and any(row.set == name for row in earlier_atlas.rows)]
    if earlier:
        print(f"not here, so the rows stay as they were: {', '.join(earlier)}", file=sys.stderr)
    if lost := [name for name in absent if name not in earlier]:
        print(f"not here, so without rows: {', '.join(lost)}", file=sys.stderr)
    judges, languages, sets = (len({getattr(row, name) for row in atlas.rows}) for name in ("judge", "language", "set"))
    print(f"{path}: {len(atlas.rows):,} verdicts on {judges} judges in {languages} languages, from {sets} sets")
    return 0
