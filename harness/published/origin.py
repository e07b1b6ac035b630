"""The origin of raw files: their authors' repository at a pinned commit, or a mirror of it."""

from __future__ import annotations

import os
from urllib.parse import quote

from harness.content.specs import RawFile, RawSource
from harness.errors import UsageError

MIRROR = "HARNESS_DATA_MIRROR"
_SCHEMES = ("http://", "https://", "file://")


def mirror() -> str | None:
    """The origin that the user prefers to the authors' own: an address, or the path of a folder, that holds `OWNER/REPO/COMMIT/PATH`."""
    chosen = os.environ.get(MIRROR, "").rstrip("/")
    if "://" in chosen and not chosen.startswith(_SCHEMES):
        raise UsageError(f"{MIRROR} is '{chosen}'; it should be an address that begins with http:// or https://, or the path of a folder")
    return chosen.removeprefix("file://") or None


def is_folder(origin: str) -> bool:
    """Whether a mirror is a folder of this machine."""
    return not origin.startswith(("http://", "https://"))


def address(source: RawSource, file: RawFile, origin: str | None = None) -> str:
    """The address of a raw file, or its path where the mirror is a folder.

    >>> source = RawSource(origin="github:owner/name@0a1b", files=())
    >>> address(source, RawFile("data/a b.csv", 1, "0" * 64))
    'https://raw.githubusercontent.com/owner/name/0a1b/data/a%20b.csv'
    >>> address(source, RawFile("data/a.csv", 1, "0" * 64), "http://127.0.0.1:8000")
    'http://127.0.0.1:8000/owner/name/0a1b/data/a.csv'
    """
    if origin is not None:
        place = f"{source.repository}/{source.commit}/{file.path}"
        return f"{origin}/{place if is_folder(origin) else quote(place)}"
    if source.origin.startswith("hub:"):
        from huggingface_hub import hf_hub_url  # late: it takes a while, and no bundled set needs it

        return str(hf_hub_url(source.repository, file.path, repo_type="dataset", revision=source.commit))
    return f"https://raw.githubusercontent.com/{quote(f'{source.repository}/{source.commit}/{file.path}')}"
