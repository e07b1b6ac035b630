"""`harness list`, `check`, `new`, `models` and `doctor`, and the checkout that a command is called in."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from harness.cli.commands.content_and_installation import CheckContent, Doctor, ListContent, Models, NewContent
from harness.cli.output import fitting, print_columns
from harness.cli.streams import in_lines, known_width, print_json
from harness.content.library import Library, bundled_root, checkout_around, is_checkout
from harness.content.tags import autonym, english_name
from harness.errors import UsageError
from harness.row_files import to_json
from harness.text import absent_words, broken_command, terminal_safe

_ONLY_JSON = ("from",)  # for programs


def list_content(arguments: ListContent) -> int:
    library = Library(*arguments.content)
    if arguments.kind == "datasets":
        from harness.cli.commands.labels_and_data import DataList
        from harness.cli.data import show_list

        return show_list(DataList(json=arguments.json, content=arguments.content))
    if arguments.kind is None:
        counts = {kind: len(_list_kind(kind, library)) for kind in _SHOWN} | {"datasets": len(library.dataset_card_files)}
        if arguments.json:
            return print_json(counts)
        print("Six kinds of content can be listed:\n")
        print_columns([(f"harness list {kind}", str(counts[kind]), what) for kind, what in _KINDS.items()])
        return 0
    rows = _list_kind(arguments.kind, library)
    if arguments.json:
        return print_json(rows)
    if not rows:
        print(f"there are no {arguments.kind} here", file=sys.stderr)
        return 0
    cells = [[str(value) for name, value in row.items() if name not in _ONLY_JSON] for row in rows]
    head = [name for name in rows[0] if name not in _ONLY_JSON]
    width = known_width()
    if arguments.kind == "judges" and width:
        indent = max(len(form) for form, _ in cells) + 2
        for form, what in cells:
            print(f"{form:<{indent}}" + f"\n{' ' * indent}".join(in_lines(terminal_safe(what), width - indent)))
        more = "'harness models list' has the models for local/ and decider/; docs/own.md says how to add a judge of your own."
        print("\n" + "\n".join(in_lines(more, width)))
        return 0
    first, folded = _SHOWN[arguments.kind]
    fitting_table, absent = fitting([head, *cells], first, folded, width)
    print_columns(fitting_table[0 if width else 1 :])
    print("".join(f"\n{line}\n" for line in [absent_words(absent)] if line), end="")
    return 0


_SHOWN = {
    "languages": (("tag", "name", "items", "review"), ""),
    "tasks": (("task",), "title"),
    "rubrics": (("rubric", "best"), "scale"),
    "boards": (("board",), "title"),
    "judges": (("judge",), "what"),
}
"""For each kind the columns that stand first, and the one whose texts go on below where they have no room."""
_KINDS = {
    "languages": "control items, instructions, words of pages",
    "tasks": "what is judged: which texts an item has",
    "rubrics": "what is asked about a text, and on which scale",
    "boards": "frozen protocols: data, tasks, rubrics, statistics",
    "judges": "who can be asked, by the form of the name",
    "datasets": "published labels of people (harness data list)",
}


def _list_kind(kind: str, library: Library) -> list[dict[str, Any]]:
    """Return a row for each piece of content of a kind, or for each form of a judge's name."""
    rows: list[dict[str, Any]] = []
    if kind == "languages":
        for tag in library.pack_files:
            pack = library.pack(tag)
            items = sum(path.read_bytes().count(b"\n") for path in library.item_files(tag).values())
            rows.append(
                {
                    "tag": tag,
                    "name": english_name(tag),
                    "autonym": autonym(tag),
                    "script": pack.script,
                    "resources": f"class {pack.resource_class}",
                    "items": f"{items} items" if items else "no items",
                    "review": f"reviewed by {len(pack.reviewed_by)}" if pack.reviewed_by else "unreviewed",
                }
            )
    elif kind == "tasks":
        for task in map(library.task, library.task_files):
            rows.append({"task": f"{task.id}@{task.version}", "title": task.title, "texts": ", ".join(task.fields)})
    elif kind == "rubrics":
        for rubric in map(library.rubric, library.rubric_files):
            scale = rubric.scale
            row = {"rubric": f"{rubric.id}@{rubric.version}", "scale": f"{scale.kind} {scale.describe()}", "best": f"best {scale.best}"}
            rows.append(row)
    elif kind == "boards":
        for board in map(library.board, library.board_files):
            rows.append({"board": f"{board.id}@{board.version}", "title": board.title, "languages": ", ".join(board.languages)})
        for group in map(library.collection, library.collection_files):
            title = f"{group.title}: {len(group.boards)} boards that are asked together"
            rows.append({"board": f"{group.id}@{group.version}", "title": title, "boards": ", ".join(group.boards)})
    else:
        from harness.judges.registry import name_forms

        rows += [{"judge": form, "what": what, "from": source} for form, what, source in name_forms()]
    return rows


def check(arguments: CheckContent) -> int:
    from harness.authoring.check import check as check_content
    from harness.authoring.lock import accept
    from harness.row_files import to_json

    library = Library(*arguments.content)
    problems = check_content(library, accepted=not arguments.accept)
    if arguments.accept and not problems:
        accept(library)
    if arguments.json:
        sys.stdout.write(to_json([{"path": str(p.path), "line": p.line, "message": p.message} for p in problems]))
    else:
        for problem in problems:
            print(
                terminal_safe(f"{problem.path}:{problem.line}: {problem.message}" if problem.line else f"{problem.path}: {problem.message}")
            )
        count = f"{len(problems)} problem{'s' if len(problems) > 1 else ''}"
        count += "; nothing was accepted: mend them first" if arguments.accept else ""
        print(count if problems else "all content is in order", file=sys.stderr)
        # The current folder, or the checkout around it, may hold content that was not checked.
        working_folder = Path.cwd().resolve()
        folder = checkout_around(working_folder) or working_folder
        files = ("languages/*/pack.toml", "tasks/*/task.toml", "rubrics/*.toml")
        if folder not in {root.resolve() for root in library.roots} and any(any(folder.glob(pattern)) for pattern in files):
            unread = Path() if folder == working_folder else folder
            words = f"this was the content of {library.roots[0]}; that of this folder: harness check --content {unread}"
            print(terminal_safe(words), file=sys.stderr)
    return 1 if problems else 0


def new(arguments: NewContent) -> int:
    from harness.authoring import scaffold

    if arguments.kind == "gate":
        from harness.gate.check import suggested_policy
        from harness.row_files import write_atomic
        from harness.sources import gated_source

        path = (arguments.into or Path()) / "gate.toml"
        if path.exists():
            raise UsageError(f"{path} exists; edit it, or choose another folder with --into")
        policy = suggested_policy(gated_source(arguments.name, None, arguments.out))
        write_atomic(path, policy.text)
        print(path)
        if policy.unproven:
            first, more = ", ".join(policy.unproven[:3]), len(policy.unproven) - 3
            cells = first + (f" and {more} more" if more > 0 else "")
            print(f"harness: {arguments.name} does not hold the verdict that the policy asks for: {cells}", file=sys.stderr)
        return 0
    # for content, the checkout around the current folder, or else the current folder
    around = None if arguments.kind in ("prompt", "interface") else checkout_around(Path.cwd())
    folder = arguments.into or (around if around is not None and around != Path.cwd() else Path())
    make = {
        "language": scaffold.new_language,
        "interface": scaffold.new_interface,
        "task": scaffold.new_task,
        "rubric": scaffold.new_rubric,
        "prompt": scaffold.new_prompt,
    }[arguments.kind]
    for path in make(arguments.name, folder):
        print(path)
    print("\n".join(_list_next_steps(arguments.kind, arguments.name, folder)), file=sys.stderr)
    return 0


def _list_next_steps(kind: str, name: str, folder: Path) -> Iterator[str]:
    if kind == "interface":
        yield f"Next: translate it, then harness labels page DATA --lang {name} --interface {folder / f'{name}.toml'} --out pages"
        return
    if kind == "prompt":
        yield f"Next: write it, then harness run --data DIR --prompt {folder / f'{name}.toml'}"
        return
    where = "" if is_checkout(folder) else f" --content {folder}"
    if kind == "language":
        yield (
            "A full pack is 18 texts (3 tasks, 6 texts each) in 6 versions (the text, and 5 with one defect each): 108 texts to write, "
            "which takes days. Each step before it is of use alone:"
        )
        yield f"  1. the words in lexicon.toml (an hour): judges' replies in '{name}' are read, and texts are perturbed"
        yield "  2. labels of people for your own texts (no pack): harness start FILE, or harness labels page FILE --out pages"
        yield "  3. texts/<task>.toml: the control items; CONTRIBUTING.md, 'Add a language'"
    if kind == "rubric":
        yield f"Next: write it, and add '{name}' to 'metrics' of a tasks/<task>/task.toml; then its row in rubrics/CARD.md"
    yield f"harness check{where} says what is missing"


# ---- commands about content and boards read the checkout that they are called in, whichever program is installed


def content_here(folders: Sequence[Path]) -> list[Path]:
    """The folders of `--content`, after the checkout around the current folder if none of them is a checkout. It is named on stderr."""
    checkout = None if any(map(is_checkout, folders)) else other_checkout()
    if checkout is None:
        return list(folders)
    print(terminal_safe(f"content: that of the checkout {checkout}"), file=sys.stderr)
    return [checkout, *folders]


def other_checkout() -> Path | None:
    """The checkout around the current folder; None outside checkouts, and in the one that this program has its content from."""
    checkout = checkout_around(Path.cwd())
    return None if checkout == bundled_root().resolve() else checkout


_PACKAGES = ("guidance", "openai", "datasets", "pandas", "statsmodels", "langcodes", "rich", "xllamacpp", "icu4py", "msgspec", "pyarrow")
_KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "OPENAI_API_VERSION", "HF_TOKEN")


def models(arguments: Models) -> int:
    from harness.judges import local as local_models

    if arguments.action == "pull":
        if not arguments.name:
            raise UsageError(f"name the model to download: {', '.join(local_models.catalogue())}, or <owner>/<repo>:<file>.gguf")
        from rich.console import Console

        with Console(stderr=True).status(f"downloading {arguments.name}"):
            pulled = local_models.find(arguments.name)
        facts = {"name": pulled.name, "path": str(pulled.path), "sha256": pulled.sha256}
        sys.stdout.write(to_json(facts) if arguments.json else f"{pulled.path}\n")
        return 0
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


def doctor(arguments: Doctor) -> int:
    """Say what works here, each with a command; then versions and settings."""
    from harness.judges import local as local_models

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
    facts: dict[str, dict[str, Any]] = {
        "python": {"version": platform.python_version(), "harness": version("judge-harness"), "cores": os.cpu_count()},
        "packages": packages,
        "models": models_here,
        # only whether they are set, never their values
        "environment": {name: "set" if os.environ.get(name) else "not set" for name in _KEYS},
        "folders": {"models": str(local_models.cache_folder())},
    }
    if arguments.json:
        return print_json(facts)
    abilities = list(_abilities())
    able = sum(can for can, _, _ in abilities)
    print(f"You can now do {'all of this' if able == len(abilities) else f'{able} of these {len(abilities)} things'}:\n")
    for can, what, command in abilities:
        print(f"{'✓' if can else '✗'} {what}")
        print("\n".join(f"    {line}" for line in broken_command(command, max((known_width() or 10**6) - 4, 1))))
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
    from harness.data.folders import fetched_folder
    from harness.judges import local as local_models

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
