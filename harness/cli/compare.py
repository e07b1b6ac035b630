"""`harness compare` and `harness labels check`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from harness import api
from harness.errors import UsageError


def compare(arguments: argparse.Namespace) -> int:
    from harness.render.progress import working
    from harness.tables import to_json

    with working("comparing"):
        found = api.compare(
            *arguments.sources,
            judges=arguments.judge,
            by=arguments.by,
            annotators=arguments.annotators,
            majority=arguments.majority,
            level=arguments.level,
            where=_where(arguments.where),
            versus=_pair(arguments.versus, "--versus judge=NAME") if arguments.versus else None,
            recipe=arguments.recipe,
            out=arguments.out,
            seed=arguments.seed,
        )
    if arguments.figure:
        from harness.render.figures import draw_by_agreement

        draw_by_agreement(found, arguments.figure)
    if arguments.json:
        sys.stdout.write(to_json(found.as_json()))
    elif arguments.csv:
        sys.stdout.write(_csv(found.cells))
    elif arguments.latex:
        from harness.render.latex import to_latex

        sys.stdout.write(to_latex(found))
    else:
        from harness.render.comparison import render_comparison, show

        show(render_comparison(found, distributions=arguments.distributions), found.signature)
    return 0


def _csv(cells: Sequence[Any]) -> str:
    from harness.render.files import table_of
    from harness.tables import to_csv

    rows, columns = table_of(cells)
    return to_csv(rows, list(columns))


def check_labels(arguments: argparse.Namespace) -> int:
    from harness.render.progress import counting
    from harness.tables import to_json

    with counting("reading texts") as watch:
        found = api.check_labels(
            arguments.data,
            by=arguments.by,
            annotators=arguments.annotators,
            where=_where(arguments.where),
            recipe=arguments.recipe,
            seed=arguments.seed,
            watch=watch,
        )
    if arguments.json:
        sys.stdout.write(to_json(found))
    else:
        from harness.render.comparison import render_label_check, show

        show(render_label_check(found), found.signature)
    return 0


def _where(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, value = _pair(text, "--where language=ja,cs")
        found[name] = found.get(name, ()) + tuple(value.split(","))
    return found


def _pair(text: str, example: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise UsageError(f"'{text}' should be a name, '=' and a value, as in {example}")
    return name, value
