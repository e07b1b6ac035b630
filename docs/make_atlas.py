"""Writes what README.md and docs/atlas.md show of the atlas, and docs/figures/atlas.png: `python docs/make_atlas.py`.

All of it comes from leaderboards/atlas.json. `harness atlas build` writes that file from the published sets; run it first when a set or a
judge is added.
"""

from __future__ import annotations

import datetime
import hashlib
import re
import subprocess
import sys
from pathlib import Path

from harness.judge_atlas.atlas_file import FILE, read_atlas
from harness.reports.atlas_answer import QUALITIES, LanguageRow, QualitySquare, atlas_matrix, wrong_use_words

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"(<!-- python docs/make_atlas\.py -->\n).*?(<!-- end -->)", re.DOTALL)
LANGUAGES = ("en", "fr", "de", "es", "zh", "zh-Hans", "zh-Hant", "ja", "it", "pt-BR", "cs")
COMMAND = re.compile(r"(```console\n\$ harness (atlas [^\n]+)\n).*?```", re.DOTALL)
_NONE = "–"
_LINES = 6  # of what a command prints


def rows(tags: tuple[str, ...] | None = None) -> list[LanguageRow]:
    """The rows of the atlas; of some languages, or of all that have a verdict."""
    atlas = read_atlas(ROOT / FILE)
    judged = {row.language for row in atlas.rows}
    return [row for row in atlas_matrix(atlas, datetime.date.today(), tags) if row.tag in judged]


def counts() -> str:
    """What the atlas holds, in a sentence."""
    atlas = read_atlas(ROOT / FILE)
    judges, languages, sets = (len({getattr(row, name) for row in atlas.rows}) for name in ("judge", "language", "set"))
    return f"{len(atlas.rows)} verdicts on {judges} judges in {languages} languages, from {sets} sets. Of nine languages:\n"


def wrong_use() -> str:
    """How many verdicts are *use*, and how many wrong ones are to be expected, as `harness atlas` says it."""
    return f"> {wrong_use_words(read_atlas(ROOT / FILE).rows)}\n"


def table() -> str:
    """A row for each of the nine languages, a column for each quality that one of them has a verdict on, and the other questions."""
    lines = rows(LANGUAGES)
    kept = [place for place in range(len(QUALITIES)) if any(_is_judged(line.squares[place]) for line in lines)]
    text = [f"| language | {' | '.join(QUALITIES[place] for place in kept)} | other |", f"| --- |{' --- |' * (len(kept) + 1)}"]
    for line in lines:
        others = " ".join(f"{sign} {count}" for style, sign, count in line.other_questions if style != "none")
        text.append(f"| {line.name} | {' | '.join(_words(line.squares[place]) for place in kept)} | {others or _NONE} |")
    return "\n".join(text) + "\n"


def _is_judged(square: QualitySquare | None) -> bool:
    return square is not None and square.style != "none"


def _words(square: QualitySquare | None) -> str:
    """`✓ comet-22, 2 of 3 metrics` where a judge may be used, else the sign."""
    if square is None:
        return _NONE
    if square.style != "good":
        return square.sign
    return f"{square.sign} {square.words}{'†' if square.gone else ''}{f', {square.part} metrics' if square.part else ''}"


def beginning(command: str) -> str:
    """The first lines that a command prints."""
    done = subprocess.run([sys.executable, "-m", "harness", *command.split()], capture_output=True, text=True, check=True)
    return "".join(f"{line}\n" for line in done.stdout.splitlines()[:_LINES])


def digest() -> str:
    """The hash of what the picture shows, which it carries."""
    shown = [
        (row.tag, row.other_questions, [square and (square.style, square.words, square.part) for square in row.squares]) for row in rows()
    ]
    return hashlib.sha256(repr(shown).encode()).hexdigest()


def picture() -> bytes:
    """Languages × qualities, all languages with a verdict."""
    from harness.render.figures.atlas import draw_matrix

    note = (
        "✓ the judge may be used (for 1 of 8 metrics, where that stands beside it): it agrees with people about as well as they agree "
        "with each other.  ✗ every verdict is against all judges.  ○ neither is shown.  · people's labels, no judge asked yet."
    )
    return draw_matrix(rows(), "Which AI judge may score texts, in which language?", note, digest())


def main() -> None:
    readme = ROOT / "README.md"
    text = BLOCK.sub(lambda block: f"{block[1]}{counts()}\n{table()}{block[2]}", readme.read_text("utf-8"))
    readme.write_text(COMMAND.sub(lambda block: f"{block[1]}{beginning(block[2])}…\n```", text), "utf-8")
    page = ROOT / "docs" / "atlas.md"
    page.write_text(BLOCK.sub(lambda block: f"{block[1]}{wrong_use()}{block[2]}", page.read_text("utf-8")), "utf-8")
    (ROOT / "docs" / "figures" / "atlas.png").write_bytes(picture())


if __name__ == "__main__":
    main()
