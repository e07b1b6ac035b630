"""MLQE-PE: places in lists of three scores, quoted texts, and the two numbers for what cannot be understood. The texts are invented."""

from harness.published.mlqe_catastrophic import FILES
from tests.unit.published.releases import Release


def test_places_are_annotators_and_both_numbers_for_not_understandable_are_one_class(release: Release) -> None:
    train = '12\tHello\tAhoj .\t[0, 1, 2]\tNOT\n7\t"A ""red"" hat"\t"""Rudy\u0301"" klobouk"\t[1, 3, 1]\tERR\n'
    release.text(FILES.format("cs", "train"), train)
    release.text(FILES.format("cs", "dev"), "3\tYes\tAno\t[0, 0, 0]\tNOT\n")
    release.text(FILES.format("ja", "dev"), "12\tHello\tは い\t[0, 0, 1]\tNOT\n")
    tables = release.convert("mlqe_catastrophic")
    assert [(item["item_id"], item["part"], item["released_label"]) for item in tables["items"]] == [
        ("cs-12", "train", "NOT"),
        ("cs-7", "train", "ERR"),
        ("cs-3", "dev", "NOT"),
        ("ja-12", "dev", "NOT"),
    ]
    assert tables["items"][1]["source"] == 'A "red" hat' and tables["items"][1]["output"] == '"Rud\u00fd" klobouk'
    assert [(row["annotator_id"], row["score"], row.get("released")) for row in tables["labels"][:6]] == [
        ("cs-pos1", "no", None),
        ("cs-pos2", "yes", None),
        ("cs-pos3", "not_understandable", 2),
        ("cs-pos1", "yes", None),
        ("cs-pos2", "not_understandable", 3),
        ("cs-pos3", "yes", None),
    ]
