"""`check` and commands about boards read the checkout that they are called in, whichever program is installed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from harness.content.library import bundled_root, checkout_around, is_checkout
from harness.text import terminal_safe


def content_here(given: Sequence[Path]) -> list[Path]:
    """The folders of `--content`, after the checkout around the current folder if none of them is a checkout. It is named on stderr."""
    here = None if any(map(is_checkout, given)) else other_checkout()
    if here is None:
        return list(given)
    print(terminal_safe(f"content: that of the checkout {here}"), file=sys.stderr)
    return [here, *given]


def other_checkout() -> Path | None:
    """The checkout around the current folder; None outside checkouts, and in the one that this program has its content from."""
    here = checkout_around(Path.cwd())
    return None if here == bundled_root().resolve() else here
