"""Keys of age, the tool that encrypts sealed labels: public keys from the command line, secret keys from a file."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from harness.errors import ContentError, UsageError, unreadable

_MAX_KEY_BYTES = 1 << 16


def age_library() -> Any:
    """The library that encrypts and decrypts. Raises UsageError where it is not installed."""
    if find_spec("pyrage") is None:
        raise UsageError("sealed labels need the package 'pyrage': pip install \"judge-harness[sealed]\"")
    return import_module("pyrage")


def parse_recipients(texts: Sequence[str]) -> list[Any]:
    """Public keys (`age1…`) as objects of the library. Raises UsageError for an invalid key, and for a key that is given twice."""
    library = age_library()
    if len(set(texts)) != len(texts):
        raise UsageError("a recipient is named twice; name each once")
    recipients = []
    for text in texts:
        try:
            recipients.append(library.x25519.Recipient.from_str(text))
        except library.RecipientError:
            raise UsageError(f"'{_quoted(text)}' is not a public key of age; one begins with age1, and 'age-keygen' prints it") from None
    return recipients


def _quoted(text: str) -> str:
    """A wrong recipient as a message may quote it. A secret key is never quoted."""
    return "AGE-SECRET-KEY-…" if "SECRET" in text.upper() else text[:20] + ("…" if len(text) > 20 else "")


def read_identities(key: Path) -> list[Any]:
    """The secret keys in a file of `age-keygen`: one a line, comments after '#'. Raises ContentError, which quotes nothing of the file."""
    library = age_library()
    try:
        with key.open("rb") as file:
            raw = file.read(_MAX_KEY_BYTES + 1)
        lines = [line.strip() for line in raw.decode("ascii").splitlines()]
        identities = [library.x25519.Identity.from_str(line) for line in lines if line and not line.startswith("#")]
    except OSError as err:
        raise unreadable(err, key, "the key") from None
    except (UnicodeDecodeError, library.IdentityError):
        identities = []
    if not identities or len(raw) > _MAX_KEY_BYTES:
        raise ContentError("not a key file of age; it should have a line that begins with AGE-SECRET-KEY-1, as 'age-keygen' writes it", key)
    return identities
