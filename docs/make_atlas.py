"""Writes what README.md and docs/atlas.md show of the atlas, and docs/figures/atlas.png: `python docs/make_atlas.py`.

All of it comes from leaderboards/atlas.json. `harness atlas build` writes that file from the published sets; run it first when a set or a
judge is added.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

from harness.judge_atlas.atlas import FILE, read_atlas
from harness.reports.atlas_answer import QUALITIES, LanguageRow, QualitySquare, atlas_matrix, language_counts, wrong_use_words

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"(<!-- python docs/make_atlas\.py -->\n).*?(<!-- end -->)", re.DOTALL)
LANGUAGES = ("en", "fr", "de", "es", "zh", "zh-Hans", "zh-Hant", "ja", "it", "pt-BR", "cs")
COMMAND = re.compile(r"(```console\n\$ harness (atlas [^\n]+)\n).*?```", re.DOTALL)
_NONE = "–"
_LINES = 9  # of what a command prints


def rows(tags: tuple[str, ...] | None = None) -> list[LanguageRow]:
    """The rows of the atlas; of some languages, or of all that have a verdict."""
    atlas = read_atlas(ROOT / FILE)
    judged = {row.language for row in atlas.rows}
    return [row for row in atlas_matrix(atlas, datetime.date.today(), tags) if row.tag in judged]


def counts() -> str:
    """What the atlas holds, in a sentence."""
    atlas = read_atlas(ROOT / FILE)
    judges, sets = (len({getattr(row, name) for row in atlas.rows}) for name in ("judge", "set"))
    what = f"{len(atlas.rows)} verdicts on {judges} judges, from {sets} sets; {language_counts(atlas)}"
    return f"{what}. The table has nine of the languages; Chinese stands under three codes:\n"


def wrong_use() -> str:
    """How many verdicts are *use*, and how many wrong ones are to be expected, as `harness atlas` says it."""
    return f"> {wrong_use_words(read_atlas(ROOT / FILE).rows)}\n"


def languages() -> str:
    """How many languages have a verdict, and which have people's labels alone."""
    return f"The file has {language_counts(read_atlas(ROOT / FILE))}.\n"


def table() -> str:
    """A row for each of the nine languages, a column for each quality that one of them has a verdict on, and the other questions."""
    lines = rows(LANGUAGES)
    judged = [quality for quality in QUALITIES if any(_is_judged(line.squares.get(quality)) for line in lines)]
    text = [f"| language | {' | '.join(judged)} | other |", f"| --- |{' --- |' * (len(judged) + 1)}"]
    for line in lines:
        others = " ".join(f"{sign} {count}" for style, sign, count in line.other_questions if style != "none")
        text.append(f"| {line.name} | {' | '.join(_words(line.squares.get(quality)) for quality in judged)} | {others or _NONE} |")
    return "\n".join(text) + "\n"


def _is_judged(square: QualitySquare | None) -> bool:
    return square is not None and square.style != "none"


def _words(square: QualitySquare | None) -> str:
    """`✓ comet-22` where a judge may be used for all metrics, `✓ 1 ✗ 7 comet-22` where for some, else the sign."""
    if square is None:
        return _NONE
    uses = dict(square.styles).keys() & {"good", "gone"}
    return f"{square.sign} {square.words}" if uses else square.sign


def beginning(command: str) -> str:
    """The first lines that a command prints."""
    env = {**os.environ, "NO_COLOR": "1", "COLUMNS": "88"}
    done = subprocess.run([sys.executable, "-m", "harness", *command.split()], env=env, capture_output=True, text=True, check=True)
    return "".join(f"{line}\n" for line in done.stdout.splitlines()[:_LINES])


def digest() -> str:
    """The hash of what the picture shows, which it carries."""
    shown = [
        (row.tag, row.other_questions, [(quality, square.styles, square.words) for quality, square in row.squares.items()])
        for row in rows()
    ]
    return hashlib.sha256(repr(shown).encode()).hexdigest()


def picture() -> bytes:
    """Languages × qualities, all languages with a verdict."""
    from harness.render.figures.verdict_figures import draw_matrix

    note = (
        "✓ the judge may be used: it agrees with people about as well as they agree with each other.  (✓) only judges that are no longer "
        "served.  ✗ no judge may be used.  ○ unknown.  ✓ 1 ✗ 7: for one metric, not for seven.  · people's labels, no judge asked yet."
    )
    return draw_matrix(rows(), "Which AI judge may score texts, in which language?", note, digest())


def main() -> None:
    readme = ROOT / "README.md"
    text = BLOCK.sub(lambda block: f"{block[1]}{counts()}\n{table()}{block[2]}", readme.read_text("utf-8"))
    readme.write_text(COMMAND.sub(lambda block: f"{block[1]}{beginning(block[2])}…\n```", text), "utf-8")
    page = ROOT / "docs" / "atlas.md"
    page.write_text(BLOCK.sub(lambda block: f"{block[1]}{wrong_use()}\n{languages()}{block[2]}", page.read_text("utf-8")), "utf-8")
    (ROOT / "docs" / "figures" / "atlas.png").write_bytes(picture())


if __name__ == "__main__":
    main()
