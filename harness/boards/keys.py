"""Keys of age, which seals labels: public ones as words of a command, secret ones from a file that nobody else reads."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from harness.errors import ContentError, UsageError

_MAX_KEY_BYTES = 1 << 16


def age() -> Any:
    """The library that encrypts. Raises UsageError where it is not installed."""
    if find_spec("pyrage") is None:
        raise UsageError("sealed labels need the package 'pyrage': pip install \"judge-harness[sealed]\"")
    return import_module("pyrage")


def recipients(texts: Sequence[str]) -> list[Any]:
    """Public keys (`age1…`) as the library takes them. Raises UsageError for what is none, and for one that is named twice."""
    library = age()
    if len(set(texts)) != len(texts):
        raise UsageError("a recipient is named twice; name each once")
    found = []
    for text in texts:
        try:
            found.append(library.x25519.Recipient.from_str(text))
        except library.RecipientError:
            raise UsageError(f"'{_shown(text)}' is no public key of age; one begins with age1, and 'age-keygen' prints it") from None
    return found


def _shown(text: str) -> str:
    """A wrong recipient as a message may quote it: not, if it is somebody's secret key."""
    return "AGE-SECRET-KEY-…" if "SECRET" in text.upper() else text[:20] + ("…" if len(text) > 20 else "")


def identities(key: Path) -> list[Any]:
    """The secret keys of a file as `age-keygen` writes it: a line each, comments after '#'. Raises ContentError, which quotes nothing."""
    library = age()
    try:
        with key.open("rb") as file:
            raw = file.read(_MAX_KEY_BYTES + 1)
        lines = [line.strip() for line in raw.decode("ascii").splitlines()]
        found = [library.x25519.Identity.from_str(line) for line in lines if line and not line.startswith("#")]
    except OSError as err:
        raise ContentError(f"the key cannot be read: {err.strerror or err}", key) from None
    except (UnicodeDecodeError, library.IdentityError):
        found = []
    if not found or len(raw) > _MAX_KEY_BYTES:
        raise ContentError("no key of age; a key file holds a line that begins with AGE-SECRET-KEY-1, as 'age-keygen' writes it", key)
    return found
