"""Writes docs/cli.md and a page a command in docs/cli from the app: `python docs/make_cli.py`. A test holds them equal."""

from __future__ import annotations

from pathlib import Path

from harness.cli.commands import COMMANDS, commands
from harness.cli.help import help_of

WIDTH = 88  # of a block in its column
HERE = "cli"


def pages() -> dict[str, str]:
    """Return the whole command line as Markdown, by the name of the file below docs."""
    available = commands(plugins=False)
    by_purpose = {f"{purpose[0].upper()}{purpose[1:]}": [name for name in names if " " not in name] for purpose, names in COMMANDS.items()}
    program, codes = help_of("", WIDTH).partition("this program:\n")[2].split("\n\nexit codes:\n")
    blocks = {"This program": program, "Exit codes": codes}
    links = " · ".join(f"[{title}](#{title.lower().replace(' ', '-').replace(chr(39), '')})" for title in (*by_purpose, *blocks))
    index = [
        "# The command line",
        "",
        f"Contents: {links}",
        "",
        "A page for each command, with its flags and with examples. The pages are ",
    ]
    index[-1] += "what `--help` prints, and are generated: do not edit them."
    written: dict[str, str] = {}
    for title, names in by_purpose.items():
        index += ["", f"## {title}", "", "| command | what it does |", "| --- | --- |"]
        index += [f"| [`harness {name}`]({HERE}/{name}.md) | {available[name][1]} |" for name in names]
        for name in names:
            page = [f"# harness {name}"]
            for leaf in (name, *(other for other in available if other.startswith(f"{name} "))):
                page += ["", *([f"## harness {leaf}", ""] if leaf != name else []), "```", help_of(leaf, WIDTH), "```"]
            written[f"{HERE}/{name}.md"] = "\n".join(page) + "\n"
    for title, block in blocks.items():
        index += ["", f"## {title}", "", "```", block, "```"]
    index += ["", "```{toctree}", ":hidden:", ":maxdepth: 1", "", *(path.removesuffix(".md") for path in written), "```"]
    return {"cli.md": "\n".join(index) + "\n", **written}


if __name__ == "__main__":
    folder = Path(__file__).parent
    (folder / HERE).mkdir(exist_ok=True)
    written = pages()
    for old in (folder / HERE).glob("*.md"):
        if f"{HERE}/{old.name}" not in written:
            old.unlink()
    for path, text in written.items():
        (folder / path).write_text(text, encoding="utf-8")
