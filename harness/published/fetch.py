"""Data folders of published sets: raw files are fetched, converted by name, and checked again later.

Raw files come from their authors' repository at a pinned commit, or from a mirror of it, and each is checked against the size and SHA-256
of its card. A file is written under its name only when it is whole and right, so a fetch that was stopped goes on with the files that are
missing.
"""

from __future__ import annotations

import gzip
import hashlib
import logging
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial as bound
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec
from filelock import FileLock, Timeout

from harness.content.library import bundled_root
from harness.content.specs import ConvertedTable, DatasetCard, LabelMapping, RawFile, RawSource
from harness.errors import AbsentRawFile, ContentError, DataFetchError, HarnessError, StoreError, UsageError
from harness.exchange.labels.label_import import import_labels
from harness.exchange.labels.table_options import ImportOptions
from harness.plugins import describe_failure, registered, registered_twice
from harness.published.raw import RawFiles, Row, Tables, error_in_row
from harness.row_files import TABLE_ENDS, find_table, jsonl_lines, make_folder, open_bytes, read_rows, sha256_of, to_json, write_atomic

MIRROR = "HARNESS_DATA_MIRROR"
_SCHEMES = ("http://", "https://", "file://")
HOSTS = {
    "github": "https://raw.githubusercontent.com",
    "lfs": "https://media.githubusercontent.com/media",
    "release": "https://github.com",
}
"""Where the files of an origin are, by its kind; those of a data set hub are where its own library says."""
_POINTER = b"version https://git-lfs.github.com/spec/"
ATTEMPTS = 4
_SECONDS_WITHOUT_A_BYTE = 30
_ABSENT = (404, 410)
Progress = Callable[[int], None]
"""Called with the number of bytes that have arrived since the last call."""


class Fetched(NamedTuple):
    """The raw files that are here, and those that the origin does not have."""

    present: int
    missing: tuple[str, ...]


def raw_folder(root: Path, source: RawSource) -> Path:
    """Return the folder of a repository's files at its commit."""
    return root / source.repository / source.commit


def bytes_to_fetch(card: DatasetCard, root: Path) -> int:
    """Return the bytes of the raw files that are not here yet."""
    return sum(file.bytes for source, file in raw_files(card) if not _is_here(raw_folder(root, source) / file.path, file))


def raw_files(card: DatasetCard) -> Iterator[tuple[RawSource, RawFile]]:
    """Return all raw files of a card, in its order."""
    return ((source, file) for source in card.sources for file in source.files)


def fetch(card: DatasetCard, root: Path, progress: Progress = lambda count: None, *, partial: bool = False) -> Fetched:
    """Fetch the raw files of a card that are not in `root` yet, as `OWNER/REPO/COMMIT/PATH`.

    `progress` is told of bytes as they arrive; files that are here already count at once. With `partial`, files that the origin does not
    have may be left out. Raises DataFetchError if a file cannot be fetched, or is not the file that the card names, or of a part no file is
    there; StoreError if the disk is full or the folder is read-only.
    """
    origin, missing = mirror(), []
    for source, file in raw_files(card):
        path = raw_folder(root, source) / file.path
        if _is_here(path, file):
            progress(file.bytes)
        elif not _fetch_one(address(source, file, origin), path, file, progress, partial):
            missing.append(f"{source.repository}/{file.path}")
    present = sum(len(source.files) for source in card.sources) - len(missing)
    if missing and not present:
        raise AbsentRawFile(f"the origin has none of the raw files of '{card.id}' ({missing[0]}, ...), so that there is no part to convert")
    return Fetched(present, tuple(missing))


def _is_here(path: Path, file: RawFile) -> bool:
    return path.is_file() and (not file.sha256 or sha256_of(path) == file.sha256)


def _fetch_one(url: str, path: Path, file: RawFile, progress: Progress, partial: bool) -> bool:
    """Return True if the file was fetched; False if the origin does not have it and that is allowed."""
    import pooch
    import requests

    public_url = re.sub(r"//[^/@]*@", "//", url)  # a mirror's address may hold a password
    pooch.get_logger().setLevel(logging.ERROR)  # its messages would stand between ours
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        get = _copy if is_folder(url) else _download(file, progress)
        for attempt in range(1, ATTEMPTS + 1):
            try:
                pooch.retrieve(url, (file.sha256 and f"sha256:{file.sha256}") or None, fname=path.name, path=path.parent, downloader=get)
            except requests.HTTPError as err:
                status = err.response.status_code if err.response is not None else 500
                if status in _ABSENT:
                    raise FileNotFoundError from None
                if attempt == ATTEMPTS or (status not in (408, 425, 429) and status < 500):
                    raise
            except _PointerError:
                raise
            except (ValueError, requests.RequestException):
                if attempt == ATTEMPTS or is_folder(url):
                    raise
            else:
                break
            time.sleep(min(2**attempt / 2, 8))
    except _PointerError:
        raise DataFetchError(
            f"{public_url} is a pointer of Git LFS and not the file; the card's origin should begin with lfs: in the place of github:"
        ) from None
    except FileNotFoundError:
        if partial:
            return False
        if mirror() is None:
            raise AbsentRawFile(f"{public_url} does not exist; the authors may have moved it; please report this") from None
        step = f"{MIRROR} should hold OWNER/REPO/COMMIT/PATH. --partial converts what there is"
        raise AbsentRawFile(f"{public_url} does not exist; {step}") from None
    except requests.RequestException as err:
        answer = f"HTTP {err.response.status_code}" if err.response is not None else type(err).__name__
        raise DataFetchError(
            f"{public_url} cannot be fetched ({answer}); the same command goes on with the files that are missing"
        ) from None
    except ValueError:
        raise DataFetchError(
            f"{public_url} is not the file that the dataset card names: its SHA-256 should be {file.sha256}; nothing of it was kept. "
            "Is the mirror complete, or does a proxy change what it delivers?"
        ) from None
    except OSError as err:
        raise StoreError(f"{path} cannot be written ({err.strerror or err}); make room or choose another folder with --to") from None
    if is_folder(url):
        progress(file.bytes)
    return True


class _PointerError(ValueError):
    """A file of a repository is only a pointer: its content is in Git LFS."""


def _copy(source_path: str, output: str, _pooch: object) -> None:
    shutil.copyfile(source_path, output)


def _download(file: RawFile, progress: Progress) -> Callable[[str, str, object], None]:
    """Return a downloader that refuses a file as soon as it is longer than it should be, and takes back its progress when it fails."""

    def download(url: str, output: str, _pooch: object) -> None:
        import requests

        arrived = 0
        try:
            with requests.get(url, stream=True, timeout=_SECONDS_WITHOUT_A_BYTE) as response, open(output, "wb") as written:
                response.raise_for_status()
                for piece in response.iter_content(1 << 16):
                    arrived += len(piece)
                    progress(len(piece))
                    if piece.startswith(_POINTER):
                        raise _PointerError
                    if file.bytes and arrived > file.bytes:
                        raise ValueError("longer than the card says")
                    written.write(piece)
        except (OSError, ValueError):
            progress(-arrived)
            raise

    return download


def mirror() -> str | None:
    """Return the origin that the user prefers to the authors' own: an address, or the path of a folder, that holds
    `OWNER/REPO/COMMIT/PATH`.
    """
    chosen = os.environ.get(MIRROR, "").rstrip("/")
    if "://" in chosen and not chosen.startswith(_SCHEMES):
        raise UsageError(f"{MIRROR} is '{chosen}'; it should be an address that begins with http:// or https://, or the path of a folder")
    return chosen.removeprefix("file://") or None


def is_folder(origin: str) -> bool:
    """Return True if a mirror is a folder of this machine."""
    return not origin.startswith(("http://", "https://"))


def address(source: RawSource, file: RawFile, origin: str | None = None) -> str:
    """Return the address of a raw file, or its path where the mirror is a folder.

    >>> source = RawSource(origin="github:owner/name@0a1b", files=())
    >>> address(source, RawFile("data/a b.csv", 1, "0" * 64))
    'https://raw.githubusercontent.com/owner/name/0a1b/data/a%20b.csv'
    >>> address(source, RawFile("data/a.csv", 1, "0" * 64), "http://127.0.0.1:8000")
    'http://127.0.0.1:8000/owner/name/0a1b/data/a.csv'
    >>> address(RawSource(origin="release:owner/name@v1.0", files=()), RawFile("scores.zip", 1, "0" * 64))
    'https://github.com/owner/name/releases/download/v1.0/scores.zip'
    """
    if origin is not None:
        path = f"{source.repository}/{source.commit}/{file.path}"
        return f"{origin}/{path if is_folder(origin) else quote(path)}"
    kind = source.origin.partition(":")[0]
    if kind == "hub":
        from huggingface_hub import hf_hub_url  # late: it takes a while, and no bundled set needs it

        return str(hf_hub_url(source.repository, file.path, repo_type="dataset", revision=source.commit))
    if kind == "release":
        return f"{HOSTS[kind]}/{quote(f'{source.repository}/releases/download/{source.commit}/{file.path}')}"
    return f"{HOSTS[kind]}/{quote(f'{source.repository}/{source.commit}/{file.path}')}"


TABLES = ("items", "labels")


def convert(card: DatasetCard, mapping: LabelMapping, raw: RawFiles) -> Tables:
    """Return the items and labels of the raw files that are here, in the card's order. The scales and the annotators are those of the card.

    Raises ContentError with `file:line` for the first row that cannot be read: a published set is converted whole or not at all.
    """
    mapping = msgspec.structs.replace(mapping, metrics=card.metrics, source=card.source, annotators=card.annotators)
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        target, first = Path(folder) / card.id, True
        for source in card.sources:
            for file in source.files:
                if raw.has(file.path, source.repository):
                    options = ImportOptions(append=not first, keep_annotators=True, partly=True)
                    imported = import_labels(raw.file(file.path, source.repository), target, mapping, options)
                    if imported.refused:
                        row, more = imported.refused[0], len(imported.refused) - 1
                        raise ContentError(f"{row.reason}{f' (and {more} more rows)' if more else ''}", row.place)
                    first = False
        tables = {name: find_table(target, name) for name in TABLES}
        return {name: [content for _, content in read_rows(path)] if path else [] for name, path in tables.items()}


GROUP = "harness.published"
RECORD = "fetched.json"
_RAW = "raw"  # beside the data folders


Converter = Callable[[RawFiles], Tables]


class FetchRecord(msgspec.Struct, frozen=True):
    """The record of a fetched folder: the card it was made by, its tables, and the raw files that were absent."""

    card: str
    tables: dict[str, ConvertedTable]
    missing: tuple[str, ...] = ()


class TableProblem(NamedTuple):
    """A table that is not what the card names."""

    path: Path
    message: str


def converters() -> dict[str, EntryPoint]:
    """Return all converters by the id of their card: modules of this package with its name, and entry points of other packages.

    Raises UsageError where two packages convert one set.
    """
    modules = (path.stem for path in sorted(Path(__file__).parent.glob("*.py")) if (bundled_root() / "catalog" / path.stem).is_dir())
    bundled = {name: EntryPoint(name, f"{__package__}.{name}:convert", GROUP) for name in modules}
    plugins = registered(GROUP, "published set")
    for name in bundled.keys() & plugins.keys():
        raise registered_twice("published set", name, bundled[name].value, plugins[name].value)
    return bundled | plugins


def get(
    card: DatasetCard, home: Path, progress: Progress = lambda count: None, *, partial: bool = False, package: str | None = "harness"
) -> Path:
    """Fetch, convert and check a published set; nothing is left behind unless all of it is right. Returns the data folder.

    `home` gets a folder with the card's id; `progress` is as in `fetch`; `partial` converts what there is, where the origin lacks files.
    `package` is the installed package that the card belongs to, and whose function may convert the raw files; None for a card from a
    `--content` folder: it runs no code, so that it needs a mapping.
    Raises UsageError if no converter is installed, or another command fetches this set; DataFetchError and StoreError as `fetch`;
    ContentError if a raw file is not what the converter expects, or the result is not what the card names.
    """
    convert = converter_of(card, package)
    with _alone(card.id, home):
        raw = home / _RAW
        fetched = fetch(card, raw, progress, partial=partial)
        files = RawFiles(
            {source.repository: raw_folder(raw, source) for source in card.sources},
            {source.repository: [file.path for file in source.files] for source in card.sources},
            partial=bool(fetched.missing),
        )
        tables = tables_of(card.id, convert, files)
        folder = home / card.id
        # Write the tables into a temporary folder, which replaces `folder` when all of them are right.
        temporary = folder.with_name(f".{folder.name}.partial")
        shutil.rmtree(temporary, ignore_errors=True)
        try:
            make_folder(temporary, private=True)
            written = {name: _write_table(temporary / f"{name}.jsonl.gz", rows) for name, rows in tables.items()}
            if not fetched.missing:
                for name, table in card.converted.items():
                    actual = written.get(name, ConvertedTable(0, hashlib.sha256().hexdigest()))
                    if not _is_as(actual, table):
                        raise ContentError(
                            f"the conversion of '{card.id}' gives {actual.rows:,} rows of {name} with SHA-256 {actual.sha256}, but the "
                            f"card names {table.rows:,} with {table.sha256}; nothing was written. "
                            "Please report this with the version of harness",
                            Path(card.id),
                        )
            record = FetchRecord(f"{card.id}@{card.version}", written, fetched.missing)
            write_atomic(temporary / RECORD, to_json(msgspec.to_builtins(record)))
            shutil.rmtree(folder, ignore_errors=True)
            temporary.rename(folder)
        except OSError as err:
            raise StoreError(f"{folder} cannot be written ({err.strerror or err}); make room or choose another folder with --to") from None
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        return folder


def check(card: DatasetCard, folder: Path) -> list[TableProblem]:
    """Hold a data folder against its card: every table is read and hashed again, and nothing else may be in the folder.

    The folder's own record, which anybody can edit, has to hold too, and counts alone for what the card cannot know only: `unconfirmed`.
    """
    record = read_record(folder)
    problems = []
    if record.card != f"{card.id}@{card.version}":
        message = f"is of {record.card}, and the card is {card.id}@{card.version}; fetch the set again with 'harness data get {card.id}'"
        problems.append(TableProblem(folder / RECORD, message))
    raw = {f"{source.repository}/{file.path}" for source, file in raw_files(card)}
    if strange := next((name for name in record.missing if name not in raw), None):
        problems.append(TableProblem(folder / RECORD, f"calls '{strange}' missing, which is no raw file of the card"))
    for name in sorted(record.tables.keys() | (() if record.missing else card.converted.keys())):
        path = find_table(folder, name)
        if path is None:
            problems.append(TableProblem(folder / f"{name}.jsonl.gz", "is missing"))
            continue
        digest, count = hashlib.sha256(), 0
        with open_bytes(path) as file:
            for line in file:
                digest.update(line)
                count += 1
        actual = ConvertedTable(count, digest.hexdigest())
        for table in filter(None, (None if record.missing else card.converted.get(name), record.tables.get(name))):
            if not _is_as(actual, table):
                message = f"has {actual.rows:,} rows with SHA-256 {actual.sha256}; it should have {table.rows:,} with {table.sha256}"
                problems.append(TableProblem(path, message))
                break
    file_names = {f"{name}{end}" for name in record.tables.keys() & card.converted.keys() for end in TABLE_ENDS}
    for path in sorted(folder.iterdir()):
        if path.name not in file_names and path.name != RECORD and not path.name.startswith("."):
            problems.append(TableProblem(path, "is no part of the published set; move it elsewhere"))
    return problems


def unconfirmed(card: DatasetCard, folder: Path) -> str:
    """Return why nobody but the folder's own record says what its tables hold; empty where the card says it of all of them."""
    record = read_record(folder)
    if record.missing:
        return f"{len(record.missing)} of its raw files were missing when it was converted"
    unhashed = sorted(name for name in record.tables if not card.converted.get(name, ConvertedTable(0, "")).sha256)
    return f"its card has no hash of {', '.join(unhashed)}" if unhashed else ""


def read_record(folder: Path) -> FetchRecord:
    """Return the record of a fetched folder. Raises ContentError where it has none."""
    try:
        return msgspec.json.decode((folder / RECORD).read_bytes(), type=FetchRecord)
    except (OSError, msgspec.DecodeError):
        raise ContentError(f"is no folder that 'harness data get' wrote: it has no {RECORD} that can be read", folder) from None


def partial_words(folder: Path) -> str:
    """Return how much of a fetched set was out of reach when it was converted; empty for a whole set, and for another folder."""
    if not (folder / RECORD).is_file():
        return ""
    missing = len(read_record(folder).missing)
    files = "1 raw file" if missing == 1 else f"{missing} raw files"
    return f"{files} could not be reached when it was fetched; 'harness data get {folder.name}' tries again" if missing else ""


def remove(name: str, home: Path) -> bool:
    """Remove a fetched set with its raw files; whether there was anything. Folders that `get` did not write stay."""
    folder = home / name
    if not (folder / RECORD).is_file():
        return False
    with _alone(name, home):
        shutil.rmtree(folder)
    return True


def remove_raw(card: DatasetCard, home: Path) -> None:
    """Remove the raw files of a set, and the folders that this leaves empty. Files that other sets have from the same repository stay."""
    root = home / _RAW
    for source, file in raw_files(card):
        path = raw_folder(root, source) / file.path
        path.unlink(missing_ok=True)
        for folder in path.relative_to(root).parents:
            with suppress(OSError):  # another file is in it
                (root / folder).rmdir()


def converter_of(card: DatasetCard, package: str | None = "harness") -> Converter:
    """Return the function that converts a set: by the mapping of its card, else the one that its package registers under the card's name.

    Raises UsageError if there is none, and for a card of no package that has no mapping: `--content` folders run no code.
    """
    if card.sources and card.mapping is not None:
        return bound(convert, card, card.mapping)
    by_card = converters()
    if not card.sources or card.id not in by_card:
        names = ", ".join(sorted(by_card))
        raise UsageError(f"'{card.id}' cannot be fetched: its card has no raw files, or nothing converts them. Converters: {names}")
    if package is None or by_card[card.id].value.split(":")[0].split(".")[0] != package:
        raise UsageError(
            f"'{card.id}' cannot be fetched: its card is in a --content folder, and such a card never runs code. Give it a [mapping], "
            "or install it as a package (docs/labels.md)"
        )
    try:
        converter: Converter = by_card[card.id].load()
    except Exception as err:
        raise UsageError(f"the converter of '{card.id}' ({by_card[card.id].value}) cannot be loaded: it {describe_failure(err)}") from err
    return converter


def tables_of(name: str, convert: Converter, raw: RawFiles) -> Tables:
    """Return the tables that a converter makes. Its errors, whatever they are, become a ContentError with the place in the raw files."""
    with _in_sentences(name, raw):
        tables = convert(raw)
    return {table: _guarded(rows, name, raw) for table, rows in tables.items()}


def _guarded(rows: Iterable[Row], name: str, raw: RawFiles) -> Iterator[Row]:
    with _in_sentences(name, raw):
        yield from rows


@contextmanager
def _in_sentences(name: str, raw: RawFiles) -> Iterator[None]:
    try:
        yield
    except (HarnessError, OSError):
        raise
    except Exception as err:  # a converter may be code of others, and raw files may hold anything
        raise error_in_row(err, name, raw.last_read) from err


@contextmanager
def _alone(name: str, home: Path) -> Iterator[None]:
    """Only one command at a time writes a set."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        with FileLock(home / f".{name}.lock", timeout=0):
            yield
    except Timeout:
        raise UsageError(f"another command fetches or removes '{name}' in {home}; wait until it has ended") from None
    except PermissionError as err:
        raise StoreError(f"{home} cannot be written ({err.strerror}); choose another folder with --to") from None


def _write_table(path: Path, rows: Iterable[Any]) -> ConvertedTable:
    digest, count = hashlib.sha256(), 0
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:  # no name and no time: the same bytes everywhere
        for line in jsonl_lines(rows):
            digest.update(line)
            packed.write(line)
            count += 1
    return ConvertedTable(count, digest.hexdigest())


def _is_as(actual: ConvertedTable, table: ConvertedTable) -> bool:
    """Return True if a table is as its card or record says; cards of sets that nobody could convert as a whole know no hash."""
    return actual.rows == table.rows and table.sha256 in ("", actual.sha256)
