"""Reads and checks the file of a certificate, with the hash by which a later edit is found.

Every reader takes the same forms: JSON with exactly the fields that this program writes, each once, of this schema version, and with the
hash of everything else. The hash finds an edit, not a forger, who can compute it: `harness certify --check FILE RUN_OR_DIR` makes all of a
certificate again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec

from harness.errors import ContentError, UsageError, unreadable
from harness.measure.options import Annotators, MeasureOptions, Rule, Standardise
from harness.row_files import refuse_other_schema

MAX_BYTES = 16 * 1024 * 1024
HASHES = "'harness prompt-hash RUN' prints the hashes of a run"
CHANGED = "it was changed after it was written: its hash is not that of its content"


class ComparedBy(msgspec.Struct, frozen=True):
    """The options of the comparison that numbers were made with, so that they can be made again; None is the default."""

    annotators: str | None
    majority: Rule
    where: dict[str, tuple[str, ...]]
    standardise: Standardise

    @classmethod
    def of(cls, compare: MeasureOptions, **fields: Any) -> Self:
        annotators = None if compare.annotators is None else str(compare.annotators)
        where = {name: tuple(values) for name, values in sorted(compare.restrictions.items())}
        return cls(annotators, compare.majority, where, compare.standardise, **fields)

    def compare(self, judges: tuple[str, ...]) -> MeasureOptions:
        """The same comparison of these judges."""
        annotators = None if self.annotators is None else Annotators.parse(self.annotators)
        return MeasureOptions(annotators=annotators, majority=self.majority, where=self.where, judges=judges, standardise=self.standardise)


class SealedFile(msgspec.Struct, frozen=True, kw_only=True):
    """The common part of the certificates of a judge and of a cascade.

    Attributes:
        schema_version: of the file's form.
        harness: the version of the program that made it.
        sha256: of everything else in it.
    """

    schema_version: int
    harness: str
    sha256: str = ""

    def sealed(self) -> Self:
        """Return the same with the hash of its content."""
        return msgspec.structs.replace(self, sha256=self._content_hash())

    @property
    def is_sealed(self) -> bool:
        """True if its hash is that of its content."""
        return self.sha256 == self._content_hash()

    def _content_hash(self) -> str:
        bare = msgspec.structs.replace(self, sha256="")
        return hashlib.sha256(msgspec.json.encode(bare, order="sorted")).hexdigest()


Sealed = TypeVar("Sealed", bound=SealedFile)
T = TypeVar("T")


class _Head(msgspec.Struct):
    kind: str = "judge"


def certificate_kind(path: Path, again: str) -> str:
    """Return `judge` or `cascade`, of which a file is the certificate. Raises ContentError if it cannot be read or is no JSON."""
    return _decode(_read_bytes(path), _Head, path, again).kind


def read_certificate_file(path: Path, form: type[Sealed], kind: str, version: int, again: str) -> Sealed:
    """Return a certificate of this form from its file, whatever its hash (`is_sealed`).

    Raises ContentError for a file that is none, of another kind or schema version, with a field twice, with other fields, or with values
    that contradict each other; `again` says what to do.
    """
    raw = _read_bytes(path)
    head = _decode(raw, _Head, path, again)
    if head.kind != kind:
        raise ContentError(f"the certificate of a {head.kind}, and the certificate of a {kind} is needed", path)
    refuse_other_schema(raw, version, path, again)
    certificate = _decode(raw, form, path, again)
    try:
        written = json.loads(raw, object_pairs_hook=_refuse_repeated_keys)
    except (ValueError, RecursionError) as err:
        raise ContentError(f"not a certificate: {err}; {again}", path) from None
    for problem in _list_unknown_fields(written, json.loads(msgspec.json.encode(certificate))):
        raise ContentError(f"not a certificate: {problem}; {again}", path)
    return certificate


def _read_bytes(path: Path) -> bytes:
    try:
        if not path.is_file() and path.exists():  # a pipe without a writer would never end
            raise ContentError("not a file; name the file of a certificate", path)
        with open(path, "rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as err:
        raise unreadable(err, path) from None
    if len(raw) > MAX_BYTES:
        raise ContentError(f"larger than {MAX_BYTES >> 20} MiB; this is no certificate", path)
    return raw


def _decode(raw: bytes, form: type[T], path: Path, again: str) -> T:
    try:
        return msgspec.json.decode(raw, type=form)
    except (msgspec.ValidationError, UsageError) as err:
        raise ContentError(f"not a certificate: {err}; {again}", path) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise ContentError(f"not a whole JSON file ({err}); copy the certificate again, or {again}", path) from None


def _refuse_repeated_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON. Raises ValueError for a key that stands twice, of which other programs may read the other value."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"'{next(name for name in names if names.count(name) > 1)}' stands twice in one object")
    return fields


def _list_unknown_fields(written: Any, understood: Any, path: str = "") -> Iterator[str]:
    """Yield the fields that a file has beside those that are understood, and those that it lacks, in words."""
    if isinstance(written, dict) and isinstance(understood, dict):
        for name in sorted(written.keys() ^ understood.keys()):
            yield f"'{path}{name}' is no field of it" if name in written else f"its field '{path}{name}' is absent"
        for name in sorted(written.keys() & understood.keys()):
            yield from _list_unknown_fields(written[name], understood[name], f"{path}{name}.")
    elif isinstance(written, list) and isinstance(understood, list):
        for index, (written_part, understood_part) in enumerate(zip(written, understood, strict=False)):
            yield from _list_unknown_fields(written_part, understood_part, f"{path}{index}.")
