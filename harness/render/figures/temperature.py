"""Agreement by temperature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.render.figures import courses

_WORDS = "Agreement with the annotators' aggregate (answers that could be read), with 95 % intervals, at each temperature."


def draw(section: Mapping[str, Any], signature: str, *, form: str = "svg") -> bytes:
    """The figure of the section `temperature`: a line a judge and variant."""
    lines = ("judge", "variant", "top_p")
    return courses.draw(section, signature, along="temperature", lines=lines, label="temperature", words=_WORDS, form=form)
