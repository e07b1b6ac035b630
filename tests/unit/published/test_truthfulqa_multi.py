"""TruthfulQA-Multi: sheets are read by place, and a name beyond the ninth column is never read."""

from tests.unit.published.releases import Release


def test_columns_count_not_headers_and_names_are_not_read(release: Release) -> None:
    folder = "judge/manual_review"
    row = ["7__m__x", "Nor?", "a\nb", "c", "erantzuna\n", "yes", "no"]
    release.csv(f"{folder}/evaluated/eu.csv", [["id"] * 10, [*row, "cambiado", " no ", "Alguien"]])
    release.csv(f"{folder}/evaluated/no_instruct/eu.csv", [["?"] * 8 + ["", "Alguien"], ["8__n", *row[1:5], "", "yes", "", "", "Alguien"]])
    release.csv(f"{folder}/iaa/eu.csv", [["x"] * 7, row])
    tables = release.convert("truthfulqa_multi")
    first = tables["items"][0]
    assert (first["system"], first["correct_answers"], first["output"]) == ("m__x", ["a", "b"], "erantzuna\n")
    assert [(row["item_id"], row["annotator_id"], row["metric"], row["score"], row.get("before")) for row in tables["labels"]] == [
        ("eu-7__m__x", "eu-main", "truthfulness", "yes", "no"),
        ("eu-7__m__x", "eu-main", "informativeness", "no", "no"),
        ("eu-8__n", "eu-main", "informativeness", "yes", None),
        ("eu-7__m__x", "eu-iaa", "truthfulness", "yes", None),
        ("eu-7__m__x", "eu-iaa", "informativeness", "no", None),
    ]
    assert "Alguien" not in str(tables)
