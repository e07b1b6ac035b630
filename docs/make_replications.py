"""Runs every command shown in docs/replications.md again and writes what it prints: `python docs/make_replications.py DATA`.

DATA is a folder that holds the published data sets, each in a folder with the name of its dataset card. Only blocks that begin with
`$ harness compare` or `$ harness labels check` are run; runs of models are not. Figures go into docs/figures.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).with_name("replications.md")
BLOCK = re.compile(r"```console\n\$ harness ((?:compare|labels check) .+)\n((?:.*\n)*?)```")


def printed(command: str, data: Path) -> str:
    """What a command prints in a folder where the data sets lie, without blanks at line ends."""
    with tempfile.TemporaryDirectory() as folder:
        for path in data.resolve().iterdir():
            (Path(folder) / path.name).symlink_to(path)
        done = subprocess.run(
            [sys.executable, "-m", "harness", *shlex.split(command)],
            cwd=folder,
            env={**os.environ, "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
        for figure in Path(folder).glob("*.svg"):
            (PAGE.parent / "figures" / figure.name).write_bytes(figure.read_bytes())
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.strip("\n").splitlines())


def main() -> None:
    data = Path(sys.argv[1])
    text = PAGE.read_text("utf-8")
    PAGE.write_text(BLOCK.sub(lambda found: f"```console\n$ harness {found[1]}\n{printed(found[1], data)}```", text), "utf-8")


if __name__ == "__main__":
    main()
