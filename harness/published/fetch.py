"""Fetches the raw files of a published set and checks each against the size and SHA-256 of its card.

They come from their authors' repository at a pinned commit, or from a mirror of it.
A file is written under its name only when it is whole and right, so a fetch that was stopped goes on with the files that are missing.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from harness.content.specs import DatasetCard, RawFile, RawSource
from harness.errors import AbsentRawFile, DataFetchError, StoreError, UsageError
from harness.row_files import sha256_of

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
