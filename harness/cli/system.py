"""`harness models`, `doctor`."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from harness.cli.commands.content_and_installation import Doctor, Models
from harness.cli.streams import print_json
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
    facts = _collect_facts()
    if arguments.json:
        return print_json(facts)
    for section, entries in facts.items():
        print(section)
        for name, value in entries.items():
            print(f"  {name:<24}{value}")
    return 0


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
