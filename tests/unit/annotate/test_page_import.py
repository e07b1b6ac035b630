"""Result files become labels once, and whatever cannot be trusted is refused with what to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.annotate.labelling_options import PageImportOptions
from harness.annotate.page_import import import_page_results, is_result_file
from harness.annotate.page_results import (
    RECORD,
    LabellingPage,
    PageAnswer,
    PageItem,
    PageRecord,
    PageResult,
    ReviewedJudge,
    ReviewedScore,
    checksum,
    merged,
    read_record,
    version_of,
)
from harness.annotate.reviews import read_reviews
from harness.content import Library
from harness.content.specs import ExitQuestion, LabelMapping
from harness.data import load_folder
from harness.errors import ContentError, UsageError
from harness.exchange.labels.label_import import ImportSummary
from harness.exchange.labels.table_options import ImportOptions
from harness.model import Item, Scale
from harness.row_files import to_json, write_atomic

LIBRARY = Library()
SCALE = Scale(kind="ordinal", classes=(0, 1, 2), best=2)
ITEMS = [Item(f"i{n}", "cs", "chat", group=f"i{n}", fields={"text": f"text {n}"}) for n in range(3)]
KEEP = ImportOptions(keep_annotators=True, allow_refused=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with three items, and the record of one page about them, with a check."""
    data = tmp_path / "data"
    data.mkdir()
    rows = [{"item_id": item.item_id, "language": "cs", "task": "chat", **item.fields} for item in ITEMS]
    (data / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (data / "data.toml").write_text('id = "d"\n[metrics.m]\nkind = "ordinal"\nclasses = [0, 1, 2]\nbest = 2\n')
    entries = tuple(PageItem(f"k{n}", f"i{n}") for n in range(3))
    record = PageRecord(
        source=str(data),
        language="cs",
        version=version_of(ITEMS, {"chat": ("text",)}),
        fields={"chat": ("text",)},
        metrics={"chat": ("m",)},
        scales={"m": SCALE},
        pages=(LabellingPage("page1", "a.html", "eva", (*entries, PageItem("c0", "i0", "check"))),),
        replaced=("page0",),
    )
    (tmp_path / "pages").mkdir()
    write_atomic(tmp_path / "pages" / RECORD, to_json(record))
    return data


def answer(key: str, score: Any = None, **more: Any) -> dict[str, Any]:
    scores = {} if score is None else {"m": score}
    own = {"key": key, "practice": False, "place": 1, "scores": scores, "errors": None, "no_errors": False, "skip": None, "comment": None}
    return own | {"ms": 1500, "changed": "2026-01-01T09:00:00"} | more


@pytest.fixture
def result(tmp_path: Path, folder: Path) -> Callable[..., Path]:
    """Writes a result file beside the pages; other keywords replace parts of its head."""

    def write(said: list[dict[str, Any]], name: str = "a.json", **head: Any) -> Path:
        own = {
            "kind": "judge-harness labels",
            "schema_version": 1,
            "page": "page1",
            "annotator": "eva",
            "session": "s",
            "saved": "2026-01-01",
        }
        own |= {"version": version_of(ITEMS, {"chat": ("text",)}), "answers": said}
        own["checksum"] = checksum(msgspec.convert(said, list[PageAnswer]))
        path = tmp_path / "pages" / name
        path.write_text(json.dumps(own | head))
        return path

    return write


def run(*paths: Path, **options: Any) -> ImportSummary:
    return import_page_results(paths, options=KEEP, page_options=PageImportOptions(**options), library=LIBRARY)


def test_scores_skips_comments_seconds_and_checks_are_kept(folder: Path, result: Callable[..., Path]) -> None:
    path = result([answer("k0", 2), answer("k1", skip="broken", comment="pryč"), answer("c0", 1, place=3)])
    imported = run(path)
    assert (imported.labels, imported.refused) == (1, ())
    assert imported.hints == ("eva: 1 of 3 texts scored, 1 skipped, 0 minutes, 1 of 1 damaged texts noticed",)
    [label] = load_folder(folder, LIBRARY).labels
    assert (label.item_id, label.annotator_id, label.score, label.source) == ("i0", "eva", 2, "native")
    seen = [json.loads(line) for line in (folder / "seen.jsonl").read_text().splitlines()]
    assert [row.get("skip") for row in seen] == [None, "broken", None] and seen[0]["seconds"] == 1.5 and seen[2]["passed"] is True
    assert json.loads((folder / "comments.jsonl").read_text())["comment"] == "pryč"


def test_answers_after_the_last_text_are_kept_and_the_later_ones_count(folder: Path, result: Callable[..., Path]) -> None:
    record = read_record(folder.parent / "pages" / RECORD)
    asked = (ExitQuestion(id="difficulty", kind="scale"), ExitQuestion(id="remarks", kind="text"))
    write_atomic(folder.parent / "pages" / RECORD, to_json(msgspec.structs.replace(record, exit_questions=asked)))
    first = {"exit": {"difficulty": 4, "remarks": "těžké"}, "exit_changed": "2026-01-01T10:00:00.000Z"}
    later = {"exit": {"difficulty": 2}, "exit_changed": "2026-01-02T10:00:00.000Z", "saved": "2026-01-02"}
    run(result([answer("k0", 2)], **first), result([answer("k0", 2), answer("k1", 1)], "b.json", **later))
    rows = [json.loads(line) for line in (folder / "exit_answers.jsonl").read_text("utf-8").splitlines()]
    assert {row["question"]: row["answer"] for row in rows} == {"difficulty": 2}
    with pytest.raises(ContentError, match="not from 1 to 5"):
        run(result([answer("k2", 2)], "c.json", exit={"difficulty": 9}, exit_changed="2026-01-03T09:00:00.000Z", saved="2026-01-03"))


def test_who_labelled_may_be_said(folder: Path, result: Callable[..., Path]) -> None:
    path = result([answer("k0", 2)])
    import_page_results([path], mapping=LabelMapping(source="people"), options=KEEP, library=LIBRARY)
    data = load_folder(folder, LIBRARY)
    assert [label.source for label in data.labels] == ["people"] and data.about.source == "people"
    run(result([answer("k0", 2), answer("k1", 1)], "b.json", saved="2026-01-02"))
    assert {label.item_id: label.source for label in load_folder(folder, LIBRARY).labels} == {"i0": "people", "i1": "native"}


def test_a_second_import_changes_nothing_and_more_answers_are_added(folder: Path, result: Callable[..., Path]) -> None:
    first = result([answer("k0", 2, comment="x")])
    run(first)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    again = run(first)
    assert (again.labels, again.known) == (0, 1) and {path.name: path.read_bytes() for path in folder.iterdir()} == before
    more = run(result([answer("k0", 2, comment="x"), answer("k1", 0)], "b.json", saved="2026-01-02"))
    assert (more.labels, more.known) == (1, 1)


def test_of_two_files_of_one_sitting_the_later_counts(folder: Path, result: Callable[..., Path]) -> None:
    later = result([answer("k0", 1)], "b.json", saved="2026-01-02")
    run(later, result([answer("k0", 2), answer("k2", 0)]))
    assert {label.item_id: label.score for label in load_folder(folder, LIBRARY).labels} == {"i0": 1, "i2": 0}


def test_an_answer_that_changed_after_the_import_is_refused(folder: Path, result: Callable[..., Path]) -> None:
    run(result([answer("k0", 2)]))
    imported = run(result([answer("k0", 1)], "b.json"))
    [refusal] = imported.refused
    assert "eva already scored 'm' of 'i0' with 2 in" in refusal.reason
    assert len((folder / "refused.jsonl").read_text().splitlines()) == 1
    run(result([answer("k0", 1)], "b.json"))
    assert len((folder / "refused.jsonl").read_text().splitlines()) == 1


def test_where_an_answer_is_refused_nothing_is_written_unless_it_is_asked_for(folder: Path, result: Callable[..., Path]) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = import_page_results([result([answer("k0", 7), answer("k1", 1)])], options=ImportOptions(keep_annotators=True), library=LIBRARY)
    assert not done.written and len(done.refused) == 1 and {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_score_off_the_scale_is_refused(folder: Path, result: Callable[..., Path]) -> None:
    [refusal] = run(result([answer("k0", 7), answer("k1", 1)])).refused
    assert refusal.reason == "7 is not on a scale of 'm' (0, 1, 2)"


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "of a replaced page": ({"page": "page0"}, "answers on a page that was replaced by a newer one"),
    "of an unknown page": ({"page": "other"}, "answers on a page that"),
    "of somebody else": ({"annotator": "adam"}, "its head was changed"),
    "of another version": ({"version": "0" * 64}, "its head was changed"),
    "edited": ({"answers": [answer("k0", 1)], "checksum": "00000000"}, "was changed after the page saved it"),
    "of a text that is none": ({"answers": [answer("zz", 1)]}, "was changed after"),
    "not whole": ({"answers": 3}, "not a whole result file"),
    "of a later version": ({"schema_version": 9}, "schema version 9; this program reads version 1 only; import it with"),
}


@pytest.mark.parametrize(("head", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_trusted_is_refused(folder: Path, result: Callable[..., Path], head: dict[str, Any], words: str) -> None:
    with pytest.raises(ContentError, match=words):
        run(result([answer("k0", 2)], **head))
    assert not (folder / "labels.jsonl").exists()


def test_other_metrics_of_the_folder_stay(folder: Path, result: Callable[..., Path]) -> None:
    with (folder / "data.toml").open("a") as about:
        about.write('[metrics.other]\nkind = "ordinal"\nclasses = [0, 1]\nbest = 1\n')
    assert run(result([answer("k0", 2)])).labels == 1
    assert load_folder(folder, LIBRARY).scales["other"].classes == (0, 1)


def test_an_edited_file_is_read_when_asked_for(folder: Path, result: Callable[..., Path]) -> None:
    assert run(result([answer("k0", 2)], checksum="0"), edited=True).labels == 1


def test_a_cut_file_is_named(result: Callable[..., Path]) -> None:
    path = result([answer("k0", 2)])
    path.write_text(path.read_text()[:-40])
    with pytest.raises(ContentError, match=r"a\.json: not a whole result file"):
        run(path)


def test_two_people_on_one_page_are_noticed(folder: Path, result: Callable[..., Path]) -> None:
    one, other = result([answer("k0", 2)]), result([answer("k0", 0)], "b.json", session="t")
    with pytest.raises(ContentError, match=r"a second session on the page of eva \(the first: a\.json\)"):
        run(one, other)
    run(one)
    with pytest.raises(ContentError, match="a second session on the page of eva"):
        run(other)
    named = import_page_results([other], mapping=LabelMapping(annotator="adam"), options=KEEP, library=LIBRARY)
    assert named.labels == 1
    assert {label.annotator_id for label in load_folder(folder, LIBRARY).labels} == {"eva", "adam"}


def test_texts_that_changed_meanwhile_are_refused_with_what_to_do(folder: Path, result: Callable[..., Path]) -> None:
    path = folder / "items.jsonl"
    path.write_text(path.read_text().replace("text 1", "text one"))
    with pytest.raises(ContentError, match=r"no longer those that the pages showed.*--items"):
        run(result([answer("k0", 2)]))


def test_a_missing_record_is_named(tmp_path: Path, result: Callable[..., Path]) -> None:
    lonely = tmp_path / "elsewhere" / "deep" / "deeper" / "deepest" / "a.json"
    lonely.parent.mkdir(parents=True)
    lonely.write_bytes(result([answer("k0", 2)]).read_bytes())
    with pytest.raises(ContentError, match=r"no pages\.json beside or above this file.*--pages"):
        run(lonely)
    assert run(lonely, pages=tmp_path / "pages").labels == 1


def test_bundled_items_need_a_folder(folder: Path, result: Callable[..., Path], tmp_path: Path) -> None:
    path = tmp_path / "pages" / "pages.json"
    path.write_text(path.read_text().replace(str(folder), "bundled"))
    with pytest.raises(UsageError, match="name a data folder with --to"):
        run(result([answer("k0", 2)]))


# Answers to a judge's reasons


@pytest.fixture
def reviewing(tmp_path: Path, folder: Path) -> Path:
    """The record of the page, made to be about the reasons of a judge for its scores of i0 and i1."""
    record = read_record(tmp_path / "pages" / "pages.json")
    shown = {name: {"m": ReviewedScore(2, f"Because {name}.")} for name in ("i0", "i1")}
    record = msgspec.structs.replace(record, review=ReviewedJudge("j", "run", "single", 0.0), reviewed=shown)
    write_atomic(tmp_path / "pages" / RECORD, to_json(record))
    return folder


def test_reviews_lie_beside_labels(reviewing: Path, result: Callable[..., Path]) -> None:
    said = {"m": {"reasons": ["too_lenient", "wrong_fact"], "words": " Ne, volejte +420 777 123 456. "}}
    path = result(
        [answer("k0", "disagree", reviews=said), answer("k1", "agree", reviews=said, place=2), answer("k2", skip="broken", place=3)]
    )
    imported = run(path)
    assert (imported.reviews, imported.labels, imported.rows, imported.refused) == (2, 0, 2, ())
    first, second = read_reviews(reviewing)
    assert (first.item_id, first.agreement, first.score, first.justification, first.judge) == ("i0", "disagree", 2, "Because i0.", "j")
    assert first.reasons == ("too_lenient", "wrong_fact") and first.words.startswith("Ne, volejte") and second.reasons == ()
    assert len(load_folder(reviewing, LIBRARY).labels) == 0
    before = {one.name: one.read_bytes() for one in reviewing.iterdir()}
    again = run(path)
    assert (again.reviews, again.known) == (0, 2) and {one.name: one.read_bytes() for one in reviewing.iterdir()} == before


def test_a_review_that_changed_or_is_none_is_refused(reviewing: Path, result: Callable[..., Path]) -> None:
    run(result([answer("k0", "agree")]))
    imported = run(result([answer("k0", "partly"), answer("k1", 2, place=2), answer("k2", "agree", place=3)], "b.json"))
    assert [one.reason.split(" (")[0] for one in imported.refused] == [
        "eva already answered to this reason with 'agree' in reviews.jsonl",
        "2 is no answer to a reason on 'm'",
        "'agree' is no answer to a reason on 'm'",
    ]
    assert [one.agreement for one in read_reviews(reviewing)] == ["agree"]


def test_a_table_of_reviews_that_is_none_names_its_line(reviewing: Path) -> None:
    (reviewing / "reviews.jsonl").write_text('{"item_id": "i0"}\n')
    with pytest.raises(ContentError, match=r"reviews\.jsonl:1: not a review"):
        read_reviews(reviewing)
    (reviewing / "reviews.jsonl").unlink()
    with pytest.raises(ContentError, match=r"has no reviews\.jsonl; 'harness labels page"):
        read_reviews(reviewing)


# Two states of one sitting


def sitting(*said: dict[str, Any], saved: str = "2026-01-01", session: str = "s", joined: tuple[str, ...] = ()) -> PageResult:
    answers = msgspec.convert(said, tuple[PageAnswer, ...])
    return PageResult("k", 1, "page1", "v", "eva", session, saved, answers, checksum(answers), joined=joined)


def test_of_each_text_the_later_answer_counts_and_none_is_lost() -> None:
    old = sitting(
        answer("k0", 2, changed="2026-01-01T10:00:03"), answer("k1", 1, changed="2026-01-01T10:00:02", ms=9000), saved="2026-01-03"
    )
    new = sitting(answer("k0", 0, changed="2026-01-01T10:00:04"), answer("k2", 1, changed="2026-01-01T10:00:01"), saved="2026-01-02")
    for both in (merged(old, new), merged(new, old), merged(merged(old, new), old)):
        assert {one.key: one.scores["m"] for one in both.answers} == {"k0": 0, "k1": 1, "k2": 1}
        assert both.saved == "2026-01-03" and both.checksum == checksum(both.answers)
    again = sitting(answer("k1", 1, changed="2026-01-01T10:00:02", ms=100))
    assert [one.ms for one in merged(again, old).answers if one.key == "k1"] == [9000]


def test_an_answer_without_the_time_of_its_last_change_is_refused(result: Callable[..., Path]) -> None:
    path = result([answer("k0", 2)])
    path.write_text(path.read_text().replace('"changed": "2026-01-01T09:00:00"', '"changed": null'))
    with pytest.raises(ContentError, match=r"no time of its last change \('changed'\).*; ask its sender to save and send it again"):
        run(path, edited=True)


def test_a_stale_tab_that_was_saved_last_does_not_win(folder: Path, result: Callable[..., Path]) -> None:
    new = result([answer("k0", 1, changed="2026-01-01T10:00:02")], saved="2026-01-01T10:00:05")
    run(new, result([answer("k0", 2, changed="2026-01-01T10:00:01")], "b.json", saved="2026-01-01T11:00:00"))
    assert [label.score for label in load_folder(folder, LIBRARY).labels] == [1]


def test_sessions_that_a_page_joined_are_one(folder: Path, result: Callable[..., Path]) -> None:
    one = result([answer("k0", 2)], session="s")
    both = result([answer("k0", 2), answer("k1", 1)], "b.json", session="t", joined=["s"])
    assert run(one, both).labels == 2
    with pytest.raises(ContentError, match="a second session"):
        run(one, both, result([answer("k2", 1)], "c.json", session="u"))


# What a page saved


@pytest.mark.parametrize("written", [json.dumps, lambda own: json.dumps(own, separators=(",", ":")), lambda own: json.dumps(own, indent=1)])
@pytest.mark.parametrize("ordered", [dict, lambda own: dict(sorted(own.items())), lambda own: dict(reversed(own.items()))])
def test_a_result_is_known_in_any_json(result: Callable[..., Path], written: Callable[[Any], str], ordered: Callable[[Any], Any]) -> None:
    path = result([answer(f"k{n}", 2, comment="x" * 100) for n in range(900)])
    own = ordered(json.loads(path.read_text()))
    path.write_text(written(own), "utf-8-sig")
    assert is_result_file(path)
    if next(iter(own)) == "kind":
        path.write_text(path.read_text("utf-8")[:5000], "utf-8")
        assert is_result_file(path)


@pytest.mark.parametrize(
    "text",
    [
        '{"note": "\\"kind\\": \\"judge-harness labels\\""}',
        '{"a": {"kind": "judge-harness labels"}}',
        "kind,judge-harness labels\n",
        "",
        "{",
        '{"kind"',
        "[1]",
    ],
)
def test_other_files_are_no_results(tmp_path: Path, text: str) -> None:
    (tmp_path / "x").write_text(text)
    assert not is_result_file(tmp_path / "x")
