"""Skeletons for a new language pack, task or rubric, with all fields and a comment on each.

A skeleton is valid, and a draft: its version is below 1.0.0. A new language pack is true as it stands: it holds nothing yet. In a task or
a rubric, `PLACEHOLDER` marks what the author has to write, and `harness check` names every line that contains it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from harness.content import tags
from harness.content.library import bundled_root
from harness.errors import UsageError
from harness.model import Scale
from harness.row_files import to_toml, write_together

PLACEHOLDER = "(to be written)"
NO_ITEMS = "Holds no items yet"
"""What the card of a new language pack says, until there are items."""
FIRST_VERSION = "0.1.0"
_SKELETONS = Path(__file__).with_name("skeletons")

_QUESTION = """
Score this {{{{language}}}} text for: {named}. The score is {scale}.

{texts}

Answer as JSON: {{"justification": "one sentence", "score": ...}}"""


def new_prompt(name: str, folder: Path) -> list[Path]:
    """Write the skeleton of the prompt `name` into `folder`; return the path of the new file.

    Raises UsageError for an invalid name and for an existing file; StoreError when `folder` cannot be written.
    """
    path = folder / f"{_checked_id(name)}.toml"
    if path.exists():
        raise UsageError(f"{path} exists; edit it or choose another name")
    return _write({path: "prompt.toml"}, {"name": name})


def prompt_for(metric: str, scale: Scale, texts: Sequence[str], asked: str = "") -> str:
    """Return the text of a prompt file that asks about one metric of items with these texts, on its scale. Its author should read and mend
    it. `asked` are the words that people were asked with.

    >>> "from 1 (worst) to 5 (best)" in prompt_for("tone", Scale(kind="ordinal", classes=(1, 2, 3, 4, 5), best=5), ["answer"])
    True
    """
    sections = "\n\n".join(f"{name}:\n{{{{{name}}}}}" for name in texts)
    question = _QUESTION.format(named=metric.replace("_", " "), scale=_asked_scale(scale), texts=sections)
    question = f"{asked}\n\n{question}" if asked else question
    system = "You rate {{language}} texts as a careful native reader does."
    messages = [{"role": "system", "text": system}, {"role": "user", "text": question}]
    head = "# How a judge is asked. Read it before you use it: say what people were told, in the same words.\n"
    return head + to_toml({"metric": metric, "read": "json:score", "message": messages}, multiline=True)


def _asked_scale(scale: Scale) -> str:
    """Return a scale in the words of a question."""
    if any(isinstance(value, str) for value in scale.classes):
        return "one of " + ", ".join(f'"{value}"' for value in scale.classes)
    low, high = (scale.classes[0], scale.classes[-1]) if scale.classes else (scale.min, scale.max)
    ends = {scale.best: "best"} | ({high: "worst"} if scale.best == low else {low: "worst"} if scale.best == high else {})
    said = {end: f"{end:g} ({ends[end]})" if end in ends else f"{end:g}" for end in (low, high)}
    return f"{'a whole number' if scale.classes else 'a number'} from {said[low]} to {said[high]}"


def new_language(tag: str, folder: Path) -> list[Path]:
    """Write the skeleton of the language pack `tag` into the content folder `folder`; return the paths of the new files.

    Raises UsageError for a tag that is not canonical or not of a known language, and for an existing pack; StoreError when `folder`
    cannot be written.
    """
    tags.require_canonical(tag)
    path = _new_path(folder, Path("languages", tag), f"language pack '{tag}'")
    facts = {"tag": tag, "name": tags.english_name(tag), "script": tags.likely_script(tag)}
    return _write({path / "pack.toml": "pack.toml", path / "lexicon.toml": "lexicon.toml", path / "CARD.md": "pack_card.md"}, facts)


def new_interface(tag: str, folder: Path) -> list[Path]:
    """Write the words of labelling pages in English to `<tag>.toml`, to be translated; return the path of the file.

    Raises UsageError for a tag that is not canonical or not of a known language, and for an existing file; StoreError when `folder` cannot
    be written.
    """
    tags.require_canonical(tag)
    path = folder / f"{tag}.toml"
    if path.exists():
        raise UsageError(f"{path} exists; translate it, or write into another folder with --into")
    english = (bundled_root() / "languages" / "en" / "interface.toml").read_text("utf-8")
    strings = english[english.index("[strings]") :]
    name = tags.english_name(tag)
    head = (
        f"# The words of the labelling page in {name}: 'harness labels page … --interface {path.name}'. Translate what stands behind '=';\n"
        "# a line that you remove is shown in English. Names in braces, such as {n}, become numbers or texts and stay as they are.\n"
        "# The readers are people who never saw this program: short, friendly, plain sentences.\n"
        f'tag = "{tag}"\nversion = "{FIRST_VERSION}"\n'
        "reviewed_by = []            # native readers: who, when, what they read; empty = the page says that none has read it\n\n"
    )
    write_together({path: head + strings})
    return [path]


def new_task(name: str, folder: Path) -> list[Path]:
    """Write the skeleton of the task `name` into the content folder `folder`; return the paths of the new files.

    Raises UsageError for an invalid name and for an existing task; StoreError when `folder` cannot be written.
    """
    path = _new_path(folder, Path("tasks", _checked_id(name)), f"task '{name}'")
    return _write({path / "task.toml": "task.toml", path / "CARD.md": "task_card.md"}, {"name": name, "title": _title(name)})


def new_rubric(name: str, folder: Path) -> list[Path]:
    """Write the skeleton of the rubric `name` into the content folder `folder`; return the paths of the new files.

    All rubrics share one card. It is written with the first rubric; later the author adds a row to it.
    Raises UsageError for an invalid name and for an existing rubric; StoreError when `folder` cannot be written.
    """
    toml = _new_path(folder, Path("rubrics", f"{_checked_id(name)}.toml"), f"rubric '{name}'")
    card = toml.parent / "CARD.md"
    return _write({toml: "rubric.toml"} | ({} if card.exists() else {card: "rubrics_card.md"}), {"name": name, "title": _title(name)})


def _checked_id(name: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise UsageError(
            f"'{name}' is not a valid id; ids consist of lower-case letters, digits and '_' and begin with a letter, such as 'story_rating'"
        )
    return name


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _new_path(folder: Path, relative: Path, what: str) -> Path:
    """Return the path of new content. Bundled content of the same name is refused too, because a library loads each name once."""
    for root in (folder, bundled_root()):
        if (root / relative).exists():
            raise UsageError(f"the {what} already exists: {root / relative}; edit it or choose another name")
    return folder / relative


def _write(files: dict[Path, str], facts: dict[str, str]) -> list[Path]:
    """Write files from the skeletons of these names, which have `{version}` and the names of the facts in braces."""
    written = {}
    for path, skeleton in files.items():
        text = (_SKELETONS / skeleton).read_text("utf-8")
        for name, fact in {**facts, "version": FIRST_VERSION}.items():
            text = text.replace(f"{{{name}}}", fact)
        written[path] = text
    write_together(written)
    return list(files)
