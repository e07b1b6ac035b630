"""TextDetox: a text that several systems wrote is one item with several panels. The texts are invented and harmless."""

from harness.published.textdetox import JUDGED, JUDGES, PEOPLE, RATED
from tests.unit.published.releases import Release

RATED_COLUMNS = ["Unnamed: 0", "toxic_sentence", "neutral_sentence", "lang", "toxic_fluency", "content_score"]
RATED_COLUMNS += ["toxic_pairwise_score", "neutral_fluency", "fluency_score"]
JUDGED_COLUMNS = ["id", "index", "toxic_sentence", "neutral_sentence", "lang", "content_score", "toxic_pairwise_score"]


def rated(release: Release, system: str, *rows: tuple[object, str, str, object, object, object]) -> None:
    """Write what people said of a system in German: number, source, output, and three scores."""
    lines = [[number, source, output, "de", 1, content, toxic, fluency, 1] for number, source, output, content, toxic, fluency in rows]
    release.csv(RATED.format(system, "German"), [RATED_COLUMNS, *lines], PEOPLE, delimiter="\t")


def test_a_pair_of_texts_is_one_item_and_each_submission_of_it_a_panel(release: Release) -> None:
    rated(release, "SomethingAwful", (9, "Geh\nweg", "Bitte geh", 1, 0.8333333333, 1.0), (10, "Dumm", "Nicht klug", 0, "0.5", 0.5))
    rated(release, "VitalyProtasov", (4, "Dumm", "Nicht klug", 1, 1.0, 0), (5, "Dumm", "Ungeschickt", 1, 1.0, 1))
    rated(release, "Team A b", (9, "Geh\nweg", "Bitte geh", 1, "0.6666666667", 0.5))
    rows = [
        ["VitalyProtasov_4", 4, "Dumm", "Nicht klug", "de", 1, "0.0", "0.5"],
        ["SomethingAwful_10", 10, "Dumm", "Nicht klug", "de", "", 1, 1],
        ["VitalyProtasov_5", 5, "Dumm", "Ungeschickt", "de", 0, 1, ""],
    ]
    release.csv(JUDGED.format("gpt-4.1-nano"), [[*JUDGED_COLUMNS, "neutral_fluency"], *rows], JUDGES)
    tuned = [["SomethingAwful_9_de", 9, "Geh\nweg", "Bitte geh", "de", 1, 0.5]]
    release.csv(JUDGED.format("judgelm_llama_31_8b_ckpt_ep2_merged"), [JUDGED_COLUMNS, *tuned], JUDGES)
    tables = release.convert("textdetox")
    assert [(item["item_id"], item["source_id"], item["source"]) for item in tables["items"]] == [
        ("de-9-SomethingAwful", "de-9", "Geh\nweg"),
        ("de-10-SomethingAwful", "de-10", "Dumm"),
        ("de-5-VitalyProtasov", "de-10", "Dumm"),
    ]
    assert [(row["annotator_id"], row["metric"], row["score"], row["submission"]) for row in tables["labels"][:6]] == [
        ("panel1", "content_preserved", 1, "SomethingAwful"),
        ("panel1", "less_toxic", 0.833333, "SomethingAwful"),
        ("panel1", "fluency", 2, "SomethingAwful"),
        ("panel2", "content_preserved", 1, "Team A b"),
        ("panel2", "less_toxic", 0.666667, "Team A b"),
        ("panel2", "fluency", 1, "Team A b"),
    ]
    assert len(tables["labels"]) == 15
    assert [(row["item_id"], row["judge"], row["metric"], row["score"], row.get("failure")) for row in tables["judgments"]] == [
        ("de-10-SomethingAwful", "gpt-4.1-nano", "content_preserved", 1, None),
        ("de-10-SomethingAwful", "gpt-4.1-nano", "less_toxic", 0, None),
        ("de-10-SomethingAwful", "gpt-4.1-nano", "fluency", 1, None),
        ("de-5-VitalyProtasov", "gpt-4.1-nano", "content_preserved", 0, None),
        ("de-5-VitalyProtasov", "gpt-4.1-nano", "less_toxic", 1, None),
        ("de-5-VitalyProtasov", "gpt-4.1-nano", "fluency", None, "missing"),
        ("de-9-SomethingAwful", "judgelm_llama_31_8b_ckpt_ep2_merged", "content_preserved", 1, None),
        ("de-9-SomethingAwful", "judgelm_llama_31_8b_ckpt_ep2_merged", "less_toxic", 0.5, None),
    ]
