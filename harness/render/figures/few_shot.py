"""Agreement by the number of examples before the text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from harness.model import parse_variant
from harness.render.figures import courses

_WORDS = (
    "Agreement with the annotators' aggregate (answers that could be read), with 95 % intervals, by the number of examples that stand "
    "before the text for each class."
)


def draw(section: Mapping[str, Any], signature: str, *, form: str = "svg") -> bytes:
    """The figure of the section `few_shot`: a line a judge, temperature and variant without its examples."""
    rows = [{**row, "otherwise": str(msgspec.structs.replace(parse_variant(row["variant"]), shots=0))} for row in section["rows"]]
    lines = ("judge", "otherwise", "temperature", "top_p")
    return courses.draw({"rows": rows}, signature, along="shots", lines=lines, label="examples of each class", words=_WORDS, form=form)
