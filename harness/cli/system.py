"""`harness models`, `doctor`."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from harness.cli.commands.content_and_installation import Doctor, Models
from harness.cli.streams import print_json
from harness.cli.text_columns import in_lines, known_width
from harness.content.library import Library
from harness.errors import UsageError
from harness.judges import models as local_models
from harness.row_files import to_json

_PACKAGES = ("guidance", "openai", "datasets", "pandas", "statsmodels", "langcodes", "rich", "xllamacpp", "icu4py", "msgspec", "pyarrow")
_KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "OPENAI_API_VERSION", "HF_TOKEN")


def models(arguments: Models) -> int:
    if arguments.action == "pull":
        return _pull_model(arguments.name, as_json=arguments.json)
    rows = [
        {
            "model": f"local/{name}",
            "title": model.title,
            "megabytes": model.bytes // 10**6,
            "licence": model.licence,
            "here": model.path.is_file(),
        }
        for name, model in local_models.catalogue().items()
    ]
    if arguments.json:
        return print_json(rows)
    for row in rows:
        state = "here" if row["here"] else "downloaded on first use"
        print(f"{row['model']}  {row['title']}  {row['megabytes']} MB  {row['licence']}  {state}")
    return 0


def _pull_model(name: str | None, *, as_json: bool) -> int:
    if not name:
        raise UsageError(f"name the model to download: {', '.join(local_models.catalogue())}, or <owner>/<repo>:<file>.gguf")
    from rich.console import Console

    with Console(stderr=True).status(f"downloading {name}"):
        model = local_models.find(name)
    sys.stdout.write(to_json({"name": model.name, "path": str(model.path), "sha256": model.sha256}) if as_json else f"{model.path}\n")
    return 0


def doctor(arguments: Doctor) -> int:
    """Say what works here, each with a command; then versions and settings."""
    facts = _collect_facts()
    if arguments.json:
        return print_json(facts)
    print("You can now:")
    for can, what, command in _abilities():
        print(f"  {'✓' if can else '✗'} {what:<37} {command}")
    print()
    print("python: " + ", ".join(f"{name} {value}" for name, value in facts.pop("python").items()))
    for section, entries in facts.items():
        if section == "packages":
            missing = [name for name, value in entries.items() if value.startswith("missing")]
            versions = ", ".join(f"{name} {value}" for name, value in entries.items() if name not in missing)
            print("\n".join(in_lines(f"packages: {versions}", known_width())))
            print("".join(f"  ✗ {name} is {entries[name]}\n" for name in missing), end="")
        else:
            print(section)
            for name, value in entries.items():
                sign = {"set": "✓ ", "here": "✓ ", "not set": "○ "}.get(str(value), "○ " if str(value).startswith("not here") else "")
                print(f"  {sign}{name:<24}{value}")
    return 0


def _abilities() -> Iterator[tuple[bool, str, str]]:
    """Yield what can be done here, whether it can be done now, and the command that does it, or what is missing."""
    from harness.data.named_folders import fetched_folder

    library = Library()
    fetched = [name for name in library.dataset_card_files if fetched_folder(name)]
    with_judges = [name for name in fetched if library.dataset_card(name).judges]
    yield True, "look up a language", "harness atlas --lang ja"
    yield True, "compare a table of scores", "harness compare ratings.xlsx"
    yield True, "label texts", "harness labels page texts.csv --out pages"
    yield (
        bool(with_judges),
        f"compare published judges ({len(fetched)} sets here)",
        f"harness compare {with_judges[0]}" if with_judges else "harness data get hanna",
    )
    run_command = "harness run --langs ja,cs --judge"
    endpoint = any(os.environ.get(name) for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_API_KEY"))
    model = f"{run_command} openai/MODEL"
    yield endpoint, "ask a model at an endpoint", model if endpoint else "set OPENAI_API_KEY (or OPENAI_BASE_URL of your server)"
    local = next((name for name, m in local_models.catalogue().items() if m.path.is_file()), "")
    yield bool(local), "ask a model on this machine", f"{run_command} local/{local}" if local else "harness models pull smollm2-135m"
    embedded = find_spec("sparrow_decider") is not None
    yield (
        embedded,
        "ask an open decision model",
        f"{run_command} decider/sparrow-nano" if embedded else "pip install 'judge-harness[decider]'",
    )
    drawn = find_spec("matplotlib") is not None
    yield drawn, "draw figures for print", "harness report --figures" if drawn else "pip install 'judge-harness[figures]'"


def _collect_facts() -> dict[str, dict[str, Any]]:
    packages = {}
    for name in _PACKAGES:
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = "missing: install judge-harness again"
    models_here = {
        f"local/{name}": "here" if m.path.is_file() else f"not here: harness models pull {name}"
        for name, m in local_models.catalogue().items()
    }
    return {
        "python": {"version": platform.python_version(), "harness": version("judge-harness"), "cores": os.cpu_count()},
        "packages": packages,
        "models": models_here,
        # only whether they are set, never their values
        "environment": {name: "set" if os.environ.get(name) else "not set" for name in _KEYS},
        "folders": {"models": str(local_models.cache_folder())},
    }
