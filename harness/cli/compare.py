"""`harness compare` and `harness labels check`."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from harness import analyse, api
from harness.cli.pages import page_path
from harness.errors import UsageError


def compare(arguments: argparse.Namespace) -> int:
    from harness.render.progress import working
    from harness.tables import to_json

    page = page_path(arguments.html)
    versus = _pair(arguments.versus, "--versus judge=NAME") if arguments.versus else None
    options = api.compare_options(
        arguments.judge,
        arguments.by,
        arguments.annotators,
        arguments.majority,
        arguments.level,
        _where(arguments.where),
        versus,
        arguments.seed,
    )
    with working("comparing"):
        sources = api.open_sources(arguments.sources, arguments.recipe, arguments.out)
        found = analyse.compare([source.recording for source in sources], options)
    if arguments.figure:
        from harness.render.figures import draw_by_agreement

        draw_by_agreement(found, arguments.figure)
    if page is not None:
        from harness.render.html import comparison_page
        from harness.tables import write_atomic

        with working("writing the page"):
            pairs = [(source.recording, source.run) for source in sources]
            write_atomic(page, comparison_page(found, pairs, options, _command(arguments)))
        print(page)
    elif arguments.json:
        sys.stdout.write(to_json(found.as_json()))
    elif arguments.csv:
        from harness.render.files import cells_csv

        sys.stdout.write(cells_csv(found.cells))
    elif arguments.latex:
        from harness.render.latex import to_latex

        sys.stdout.write(to_latex(found))
    else:
        from harness.render.comparison import render_comparison, show

        show(render_comparison(found, distributions=arguments.distributions), found.signature)
    return 0


def _command(arguments: argparse.Namespace) -> str:
    """The command that compares the same again; folders are named without their path."""
    words = ["harness", "compare", *(Path(source).name for source in arguments.sources)]
    words += [word for name in arguments.judge or () for word in ("--judge", name)]
    words += [word for text in arguments.where for word in ("--where", text)]
    for name, usual in (("annotators", None), ("recipe", None), ("majority", "drop"), ("level", "item"), ("versus", None), ("seed", 0)):
        if getattr(arguments, name) != usual:
            words += [f"--{name}", str(getattr(arguments, name))]
    if arguments.by:
        words += ["--by", ",".join(arguments.by)]
    return shlex.join(words)


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
