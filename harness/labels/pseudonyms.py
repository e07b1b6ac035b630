"""Annotators' pseudonyms: the same person has the same one wherever the same salt is used, and nobody finds the way back without it."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from pathlib import Path

from harness.errors import StoreError, UsageError

_SALT_BYTES = 32


def default_salt_file() -> Path:
    """Where the salt is kept unless a file is named: in the user's folder for settings."""
    import platformdirs  # late: not needed where ids are kept

    return Path(platformdirs.user_config_dir("judge-harness")) / "annotator-salt"


def read_salt(path: Path, *, outside: Path) -> bytes:
    """The salt in a file, made (readable by its owner only) if it is not there. Raises UsageError when the file lies in the folder
    `outside`, which is passed on, or holds something else; StoreError when it cannot be made."""
    if path.resolve().is_relative_to(outside.resolve()):
        raise UsageError(f"the salt {path} would lie in {outside}, which is passed on to others; name a --salt-file elsewhere")
    try:
        return _checked(path, path.read_bytes())
    except FileNotFoundError:
        return _made(path)
    except OSError as err:
        raise UsageError(f"the salt {path} cannot be read ({err.strerror or err}); name another --salt-file") from None


def _made(path: Path) -> bytes:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:  # another import was faster
        return _checked(path, path.read_bytes())
    except OSError as err:
        raise StoreError(f"the salt {path} cannot be written ({err.strerror or err}); name another --salt-file") from None
    salt = secrets.token_bytes(_SALT_BYTES)
    with os.fdopen(handle, "wb") as file:
        file.write(salt.hex().encode() + b"\n")
    return salt


def _checked(path: Path, data: bytes) -> bytes:
    if not re.fullmatch(rb"[0-9a-f]{64}\s*", data):
        raise UsageError(f"{path} is not a salt that this program made (64 hexadecimal digits); name another --salt-file")
    return bytes.fromhex(data.decode().strip())


class Pseudonyms:
    """From annotators' ids to what stands in the data. Without a salt, ids are kept."""

    def __init__(self, salt: bytes | None) -> None:
        self._salt = salt
        self._names: dict[str, str] = {}
        self._owners: dict[str, str] = {}

    @property
    def fingerprint(self) -> str | None:
        """Eight digits that tell one salt from another and say nothing about either."""
        return hmac.new(self._salt, b"fingerprint", hashlib.sha256).hexdigest()[:8] if self._salt else None

    def of(self, annotator: str) -> str:
        """The pseudonym `ann-<10 hex digits of HMAC-SHA256>`. Raises UsageError when two annotators would get the same one."""
        if self._salt is None:
            return annotator
        if annotator not in self._names:
            digits = hmac.new(self._salt, annotator.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:10]
            name = f"ann-{digits}"
            if self._owners.setdefault(name, annotator) != annotator:
                raise UsageError(f"two annotators would both be called {name}; name another --salt-file")
            self._names[annotator] = name
        return self._names[annotator]

    def scrubbed(self, text: str) -> str:
        """A text in which ids that stand as words of their own are replaced. Ids without a letter and of one or two characters are left:
        they are scores and numbers more often than people."""
        if self._salt is None or not (pattern := self._pattern()):
            return text
        return pattern.sub(lambda found: self._folded[found[0].casefold()], text)

    def _pattern(self) -> re.Pattern[str] | None:
        if getattr(self, "_compiled_for", -1) != len(self._names):
            self._compiled_for = len(self._names)
            self._folded = {name.casefold(): pseudonym for name, pseudonym in self._names.items() if _telling(name)}
            words = "|".join(sorted(map(re.escape, (n for n in self._names if _telling(n))), key=len, reverse=True))
            self._compiled = re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE) if words else None
        return self._compiled


def _telling(name: str) -> bool:
    return len(name) > 2 and any(character.isalpha() for character in name)
