"""A wording of the user's own of a metric's rubric: a file like those in rubrics/, on the same scale."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from harness.content.specs import Rubric, read_spec
from harness.errors import ContentError, UsageError
from harness.model import Variant, is_own_name, parse_variant


def load_own_rubric(path: Path) -> tuple[str, Rubric]:
    """Read a rubric file: its name with the hash of its content (`clearer@1f2e3d4c`), and the rubric.

    Raises ContentError with the line for a file that is no rubric.
    """
    rubric = read_spec(path, Rubric)
    digest = hashlib.sha256(msgspec.json.encode(rubric, order="sorted")).hexdigest()
    if not is_own_name(name := f"{path.stem}@{digest[:8]}"):
        raise ContentError(f"'{path.stem}' cannot be the name of a rubric; use letters, digits, '-', '_' and '.'", path)
    return name, rubric


def with_rubric(text: str, name: str) -> Variant:
    """A variant that shows this rubric. Raises UsageError for one that cannot: a joint call, instructions in another language."""
    try:
        return parse_variant(f"{text}+rubric:{name}")
    except ValueError as err:
        raise UsageError(str(err)) from None
