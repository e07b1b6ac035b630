"""`harness data list`, `show`, `get`, `check`, `remove`, `path`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.cli.commands.labels_and_data import DataCheck, DataGet, DataList, DataPath, DataRemove, DataShow
from harness.cli.output import columns, fitting, step_lines
from harness.cli.streams import in_lines, known_width, print_json, print_message
from harness.content.library import Library
from harness.content.specs import DatasetCard
from harness.content.tags import english_name, suggest
from harness.data.folders import data_home, fetched_folder, how_to_get, megabytes, raw_bytes
from harness.errors import OTHER_ERROR, UNCHECKED, AbsentRawFile, MissingData, UsageError
from harness.offensive_texts import refuse_in_repository
from harness.published.listing import cards_in, listed
from harness.reports.tables.columns import metric_words
from harness.reports.tables.numbers import counted
from harness.row_files import to_json
from harness.text import terminal_safe


def show_list(arguments: DataList) -> int:
    library = Library(*arguments.content)
    rows = [listed(card) for card in cards_in(library, arguments.langs)]
    if arguments.json:
        return print_json(rows)
    width = known_width()
    if arguments.full:
        for row in rows:
            _print_facts(row, width)
            print()
        return 0
    head = ("", "set", "languages", "texts", "labels", "judges", *(["about"] if width is None or width >= _WIDE else []))
    table = [head, *(_list_row(row)[: len(head)] for row in rows)]
    fitting_table, _ = fitting(table, head[:-1], head[-1], width)
    fetched, partly = (sum(row["state"] == state for row in rows) for state in ("here", "here in part"))
    partial = f" and {partly} in part (✓)" if partly else ""
    print("\n".join(in_lines(f"Of {counted(len(rows), 'published set')} {fetched} are here ✓{partial}.", width)))
    print("\n" + "\n".join(columns(fitting_table, right=("texts", "labels", "judges"))) + "\n")
    more = "'harness data get NAME' fetches a set (○). 'harness data show NAME' has the rest: who labelled, metrics, judges, licence, size."
    print("\n".join(in_lines(more, width)))
    return 0


def show_set(arguments: DataShow) -> int:
    library = Library(*arguments.content)
    if arguments.name not in library.dataset_card_files:
        raise _unknown_set(arguments.name, library)
    row = listed(library.dataset_card(arguments.name))
    if arguments.json:
        return print_json(row)
    width = known_width()
    _print_facts(row, width)
    command = (
        f"harness compare {row['name']}" if row["rows"].get("judgments") else f"harness run --data {row['name']} --judge PROVIDER/MODEL"
    )
    print("\n" + "\n".join(step_lines("Next", command if row["folder"] else f"harness data get {row['name']}", width)))
    return 0


def _print_facts(row: dict[str, Any], width: int | None) -> None:
    """Print all that is known of a set: its counts, the statement of who labelled it, its terms and its size."""
    rows = row["rows"]
    people = f" by {_PEOPLE.get(row['source'], row['source'])}, {row['annotators_a_text']} a text" if row["annotators_a_text"] else ""
    facts = {
        "name": row["name"],
        "languages": ", ".join(f"{english_name(tag)} ({tag})" for tag in row["languages"]),
        "texts": f"{rows['items']:,}" if rows.get("items") else "",
        "labels": f"{rows['labels']:,}{people} ({row['annotators']})" if rows.get("labels") else "",
        "metrics": ", ".join(map(metric_words, row["metrics"])),
        "judgments": f"{rows['judgments']:,} of {', '.join(row['judges'])}" if rows.get("judgments") else "none: ask a judge",
        "made of": row["get"],
        **row["statement"],
        "licence": row["licence"] or "none stated",
        "forbids": "; ".join(row["forbids"]),
        "authors ask": "; ".join(row["asks"]),
        "cite": row["citation"],
        "size": megabytes(row["bytes"]),
        "careful": "the texts are offensive" if row["offensive"] else "",
    }
    print(terminal_safe(row["title"]))
    print(f"{row['state']}: {row['folder']}\n" if row["folder"] else f"not here ({row['state']})\n")
    for name, text in facts.items():
        if text:
            indent = " " * _FACT
            lines = in_lines(terminal_safe(text), width and max(width - _FACT, _FACT))
            print(f"{name:<{_FACT}}" + f"\n{indent}".join(lines))


def get(arguments: DataGet) -> int:
    """Fetch and convert sets. Of sets that are chosen by language, those that a mirror does not hold in full are left out, and named."""
    library, home = Library(*arguments.content), arguments.to or data_home()
    if bool(arguments.names) + (arguments.langs is not None) + arguments.all != 1:
        raise UsageError("name data sets, or choose them by --langs or --all; 'harness data list' shows them")
    for name in arguments.names:
        if name not in library.dataset_card_files:
            raise _unknown_set(name, library)
    cards = [library.dataset_card(name) for name in arguments.names]
    if not arguments.names:
        cards = [card for card in cards_in(library, arguments.langs) if card.sources and card.tried]
    wanted = [card for card in cards if arguments.to or fetched_folder(card.id) is None]
    for card in cards:
        if card not in wanted:
            print(f"{card.id} is here already: {fetched_folder(card.id)}", file=sys.stderr)
    folders, absent = fetch_sets(
        wanted, library, home, assume_yes=arguments.yes, partly=arguments.partial, all_needed=bool(arguments.names) or len(cards) == 1
    )
    for folder in folders:
        print(folder)
    if absent and not any(fetched_folder(card.id, home) for card in cards):
        raise absent[-1]
    return 0


def fetch_sets(
    cards: Sequence[DatasetCard], library: Library, home: Path, *, assume_yes: bool, all_needed: bool, partly: bool = False
) -> tuple[list[Path], list[AbsentRawFile]]:
    """Fetch and convert sets after the user's consent; their folders, and the errors of those that are left out.

    Sets that a mirror does not hold are left out, and named, unless `all_needed`; `partly` converts what there is of a set.

    Raises UsageError without consent, and where offensive texts would come into a repository; DataFetchError, StoreError.
    """
    from harness.published.fetch import bytes_to_fetch, mirror, read_record
    from harness.published.fetch import get as get_data
    from harness.render.progress import bytes_arriving

    for card in cards:
        refuse_in_repository(home / card.id, card)
    if cards:
        _ask_for_consent(cards, bytes_to_fetch, home, assume_yes)
    folders, absent, order = list[Path](), list[AbsentRawFile](), ("items", "labels", "judgments")
    for card in cards:
        try:
            with bytes_arriving(card.id, raw_bytes(card)) as progress:
                folders.append(get_data(card, home, progress, partial=partly, package=library.package_of(card.id)))
        except AbsentRawFile as err:
            if all_needed or mirror() is None:
                raise
            absent.append(err)
            print_message(f"{card.id} is left out: {err}")
            continue
        record = read_record(folders[-1])
        tables = sorted(record.tables.items(), key=lambda table: order.index(table[0]) if table[0] in order else len(order))
        counts = ", ".join(f"{table.rows:,} {name.replace('_', ' ')}" for name, table in tables)
        note = f"; a part: the origin lacks {len(record.missing)} of the files" if record.missing else ""
        print(f"{card.id}: {counts}{note}", file=sys.stderr)
    return folders, absent


def check(arguments: DataCheck) -> int:
    from harness.published.fetch import RECORD, unconfirmed
    from harness.published.fetch import check as check_folder

    library, home = Library(*arguments.content), arguments.to or data_home()
    present = os.listdir(home) if home.exists() else []
    names = arguments.names or sorted(
        name for name in present if (home / name / RECORD).is_file() or (name in library.dataset_card_files and fetched_folder(name, home))
    )
    if not names:
        raise MissingData(f"no set that 'harness data get' wrote is in {home}, so nothing was checked; name its folder with --to")
    cards = [library.dataset_card(name) for name in names]
    rows = [
        {"name": card.id, "path": str(problem.path), "message": problem.message}
        for card in cards
        for problem in check_folder(card, _find_fetched(card, home))
    ]
    wrong = {row["name"] for row in rows}
    open_sets = {card.id: why for card in cards if card.id not in wrong and (why := unconfirmed(card, _find_fetched(card, home)))}
    if arguments.json:
        sys.stdout.write(to_json(rows))
    else:
        for row in rows:
            print(terminal_safe(f"{row['path']} {row['message']}"))
        for name, why in open_sets.items():
            print_message(f"{name} is as its own record says, which its card cannot confirm: {why}")
        checked = len(names) - len(open_sets)
        if rows or checked:
            said = f"{len(rows)} problems" if rows else f"{checked} data {'set is' if checked == 1 else 'sets are'} as published"
            print(said, file=sys.stderr)
    return OTHER_ERROR if rows else UNCHECKED if open_sets else 0


def remove(arguments: DataRemove) -> int:
    from harness.published.fetch import remove as remove_folder
    from harness.published.fetch import remove_raw

    library, home = Library(*arguments.content), arguments.to or data_home()
    for name in arguments.names:
        card = library.dataset_card(name)
        if not remove_folder(name, home):
            raise MissingData(f"{home / name} is no folder that 'harness data get' wrote; nothing was removed")
        remove_raw(card, home)
        print(f"{name} was removed", file=sys.stderr)
    return 0


def path(arguments: DataPath) -> int:
    print(_find_fetched(Library(*arguments.content).dataset_card(arguments.name), arguments.to or data_home()))
    return 0


def _find_fetched(card: DatasetCard, home: Path) -> Path:
    folder = fetched_folder(card.id, home)
    if folder is None:
        raise MissingData(f"'{card.id}' is not in {home}: {how_to_get(card)}")
    return folder


def _unknown_set(name: str, library: Library) -> UsageError:
    cards = library.dataset_card_files
    return UsageError(f"no published data '{name}'.{suggest(name, cards)}\n         choose from: {', '.join(cards)}")


def _ask_for_consent(cards: Sequence[DatasetCard], bytes_to_fetch: Any, home: Path, assume_yes: bool) -> None:
    """Say what will be fetched and on which terms, and go on only if the user agrees."""
    raw, total = home / "raw", 0
    for card in cards:
        size = bytes_to_fetch(card, raw)
        total += size
        print_message(f"{card.id}: {card.title} ({megabytes(size)})")
        terms = {
            "licence": card.licence or "none stated",
            "forbids": "; ".join(card.forbids),
            "authors ask": "; ".join(card.asks),
            "cite": card.citation,
            "note": "" if card.tried else "nobody has converted the real files yet; please report what it says",
        }
        for name, text in terms.items():
            if text:
                print_message(f"  {name}: {text}")
    if assume_yes:
        return
    question = f"fetch {megabytes(total)} into {home}, on these terms?"
    if not sys.stdin.isatty():
        raise UsageError(f"{question} Pass --yes to agree")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("nothing was fetched")


def _list_row(row: dict[str, Any]) -> list[str]:
    sign = {"here": "✓", "here in part": "(✓)"}.get(row["state"], "○")
    tags, rows = row["languages"], row["rows"]
    languages = " ".join(tags) if len(tags) <= _FEW_TAGS else f"{' '.join(tags[:2])} +{len(tags) - 2}"
    counts = (f"{rows.get(name, 0):,}" if rows.get(name) else "–" for name in ("items", "labels"))
    return [sign, row["name"], languages, *counts, str(len(row["judges"])) if row["judges"] else "–", row["title"]]


_WIDE = 100  # characters of a terminal that has room for what a set is about
_FEW_TAGS = 3
_FACT = 17  # characters of the name of a fact
_PEOPLE = {"native": "native speakers"}
