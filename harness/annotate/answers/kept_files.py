"""The files that an import of blind pairs adds to its folder: which pairs are kept, and what a pack may say about its readers."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.annotate.answers.page_files import SeenText
from harness.annotate.checks.kept_pairs import KeptPair, kept_pairs
from harness.annotate.pages.blind_pairs import READERS
from harness.errors import ContentError
from harness.tables import to_csv, to_toml

KEPT = "pairs_kept.csv"
REVIEWED_BY = "reviewed_by.toml"
_KEPT = {True: "yes", False: "no", None: f"fewer than {READERS} readers"}


def kept_files(
    folder: Path, items: Sequence[Mapping[str, Any]], labels: Iterable[Mapping[str, Any]], seen: Sequence[tuple[str, SeenText]], what: str
) -> tuple[dict[str, bytes], str]:
    """The files by name, and a sentence on the pairs that are kept. What `folder` says about readers of earlier imports stays.

    `items` and `labels` are the rows of the folder after the import, `seen` has `(pseudonym, text)` of every text of the result files, and
    `what` was read, such as `packs/models 1.1.0`. Raises ContentError if the folder's own list of readers cannot be read.
    """
    labels = list(labels)
    pairs = kept_pairs({row["item_id"]: row for row in items}, labels)
    rows = [{**msgspec.to_builtins(pair), "kept": _KEPT[pair.kept]} for pair in pairs]
    reviews = _earlier(folder / REVIEWED_BY)
    for who in dict.fromkeys(who for who, _ in seen):
        read = sum(row["annotator_id"] == who for row in labels)
        when = max(one.result.saved for other, one in seen if other == who)[:10]
        reviews[who] = {"who": who, "when": when, "read": f"{read} minimal pairs of {what}, without knowing which text is flawed"}
    files = {
        KEPT: to_csv(rows, KeptPair.__struct_fields__).encode(),
        REVIEWED_BY: to_toml({"reviewed_by": list(reviews.values())}).encode(),
    }
    decided = [pair.kept for pair in pairs if pair.kept is not None]
    waiting = len(pairs) - len(decided)
    more = f"; {waiting} have fewer than {READERS} readers" if waiting else ""
    kept = f"{sum(decided)} of {len(decided)}"
    return files, f"pairs kept (4 of 5 readers agree with what is constructed): {kept}{more}. {KEPT} has each pair"


def _earlier(path: Path) -> dict[str, dict[str, Any]]:
    """The readers of earlier imports by their pseudonyms."""
    if not path.is_file():
        return {}
    try:
        return {row["who"]: row for row in tomllib.loads(path.read_text("utf-8"))["reviewed_by"]}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError) as err:
        why = f"not the list of readers that an import wrote ({err}); remove the file, and import all results again"
        raise ContentError(why, path) from None
