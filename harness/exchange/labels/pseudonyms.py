"""The pseudonyms of annotators: their ids as a keyed hash, and the file of the key, the salt.

With the same salt, the same person always has the same pseudonym; without it, nobody can find the person.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterable
from pathlib import Path

from harness.errors import AccessError, StoreError, UsageError, refuse_pipe
from harness.text import person_key

_SALT_BYTES = 32
SALT_NOTE = "annotators are pseudonyms made with the salt "


def default_salt_file() -> Path:
    """The default file of the salt, in the user's settings folder."""
    import platformdirs  # late: not needed where ids are kept

    return Path(platformdirs.user_config_dir("judge-harness")) / "annotator-salt"


def read_salt(path: Path, *, outside: Path) -> bytes:
    """Read the salt from a file. A missing file is created; only its owner may read it.

    Raises UsageError when the file lies inside the folder `outside`, which people share, or holds anything else. Raises StoreError when it
    cannot be created.
    """
    if path.resolve().is_relative_to(outside.resolve()):
        raise UsageError(f"the salt {path} would be inside {outside}, which is meant to be shared; choose a --salt-file elsewhere")
    refuse_pipe(path)
    try:
        return _check_salt(path, path.read_bytes())
    except FileNotFoundError:
        salt = secrets.token_bytes(_SALT_BYTES)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            # Write the whole salt or remove the file: half a salt would be refused by every import that follows.
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(salt.hex().encode() + b"\n")
                    file.flush()
                    os.fsync(handle)
            except BaseException:
                path.unlink(missing_ok=True)
                raise
        except FileExistsError:  # another import created it meanwhile
            return _check_salt(path, path.read_bytes())
        except OSError as err:
            raise StoreError(f"the salt {path} cannot be written ({err.strerror or err}); choose another --salt-file") from None
        return salt
    except OSError as err:
        raise AccessError(f"the salt {path} cannot be read ({err.strerror or err}); choose another --salt-file") from None


def _check_salt(path: Path, data: bytes) -> bytes:
    if not re.fullmatch(rb"[0-9a-f]{64}\s*", data):
        raise UsageError(f"{path} is not a salt that this program made (64 hexadecimal digits); choose another --salt-file")
    return bytes.fromhex(data.decode().strip())


class Pseudonyms:
    """Maps the ids of annotators to pseudonyms; without a salt, to the first spelling of each, of which those in `earlier` came before.

    Ids that differ only in case, blanks, invisible characters or composed letters are one person (see `person_key`): as two, they would
    agree with each other in everything.
    """

    def __init__(self, salt: bytes | None, earlier: Iterable[str] = ()) -> None:
        self._salt = salt
        self._names: dict[str, str] = {}
        self._owners: dict[str, str] = {}
        self._spellings = {person_key(annotator): annotator for annotator in earlier}

    @classmethod
    def made_with(cls, salt_file: Path | None, *, outside: Path, keep: bool = False, earlier: Iterable[str] = ()) -> Pseudonyms:
        """Pseudonyms by the salt of a file, or of the default one (see `read_salt`); with `keep`, ids stay as they are."""
        return cls(None if keep else read_salt(salt_file or default_salt_file(), outside=outside), earlier)

    @property
    def notes(self) -> tuple[str, ...]:
        """The note for the data on the salt, with eight digits that identify it without revealing it; none where ids are kept."""
        return (SALT_NOTE + hmac.new(self._salt, b"fingerprint", hashlib.sha256).hexdigest()[:8],) if self._salt else ()

    def pseudonym_for(self, annotator: str) -> str:
        """Return the pseudonym `ann-<10 hex digits of HMAC-SHA256>`. Raises UsageError if two annotators would share one."""
        person = person_key(annotator)
        if self._salt is None:
            return self._spellings.setdefault(person, annotator)
        if annotator not in self._names:
            digits = hmac.new(self._salt, person.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:10]
            name = f"ann-{digits}"
            if self._owners.setdefault(name, person) != person:
                raise UsageError(f"two annotators would both be called {name}; choose another --salt-file")
            self._names[annotator] = name
        return self._names[annotator]

    def scrub(self, text: str) -> str:
        """Replace ids that are separate words in a text. Ids without a letter or with one or two characters stay: they are more often
        scores and numbers than people."""
        if self._salt is None or not (pattern := self._pattern()):
            return text
        return pattern.sub(lambda match: self._folded[match[0].casefold()], text)

    def _pattern(self) -> re.Pattern[str] | None:
        if getattr(self, "_compiled_for", -1) != len(self._names):
            self._compiled_for = len(self._names)
            self._folded = {name.casefold(): pseudonym for name, pseudonym in self._names.items() if _is_distinctive(name)}
            words = "|".join(sorted(map(re.escape, (n for n in self._names if _is_distinctive(n))), key=len, reverse=True))
            self._compiled = re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE) if words else None
        return self._compiled


def _is_distinctive(name: str) -> bool:
    return len(name) > 2 and any(character.isalpha() for character in name)
