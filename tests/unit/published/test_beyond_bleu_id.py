"""Beyond BLEU: a file that is quoted twice, and the judge's rows by their source text. The texts are invented."""

import csv
import io

from harness.published.beyond_bleu_id import JUDGED, PEOPLE
from tests.unit.published.releases import Release

HEADER = ["llm_name", "prompt_text", "llm_answer", "metric", "evaluator1", "evaluator2", "evaluator3"]
JUDGE_HEADER = ["source_en", "target_id", "translation", "adequacy", "fluency", "morphosyntactic", "semantic", "pragmatic"]


def line(*cells: object) -> list[str]:
    """A row whose only cell is itself a line of CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(cells)
    return [out.getvalue()]


def test_a_row_of_one_cell_is_read_again_and_broken_rows_are_left_out(release: Release) -> None:
    rows = [
        HEADER,
        line("qwen3_0.6b", 'He said "hi" , twice', "Dia bilang “hai”, dua kali ", "Semantic", 4, 3, 5),
        ["gemma3_1b", " Two .", "Dua.", "Pragmatic", 1, 2, 2],
        line("gemma3_1b", "Three", "the first line of an answer"),
        line("the second line", "Semantic", 1, 1, 1),
        line(),
        line("gemma3_1b", 'He said "hi" , twice', "Dia", "Morphosyntactic", 2, 2, 3),
    ]
    release.csv(PEOPLE, rows)
    judged = [
        ['He said "hi" , twice', "-", "Dia", 5, 5, 2, 3, 4],
        ["Four", "-", "Empat", 1, 1, 1, 1, 1],
        ["Two . ", "-", "Dua.", 1, 1, 5, 4, 3],
    ]
    release.csv(JUDGED.format("gemma3_1b"), [JUDGE_HEADER, *judged])
    tables = release.convert("beyond_bleu_id")
    assert [(item["item_id"], item["source_id"], item["source"], item["output"]) for item in tables["items"]] == [
        ("id-001-qwen3_0.6b", "s001", 'He said "hi" , twice', "Dia bilang “hai”, dua kali"),
        ("id-002-gemma3_1b", "s002", "Two .", "Dua."),
        ("id-001-gemma3_1b", "s001", 'He said "hi" , twice', "Dia"),
    ]
    assert [(row["annotator_id"], row["metric"], row["score"]) for row in tables["labels"][:4]] == [
        ("evaluator1", "semantic", 4),
        ("evaluator2", "semantic", 3),
        ("evaluator3", "semantic", 5),
        ("evaluator1", "pragmatic", 1),
    ]
    assert [(row["item_id"], row["metric"], row["score"]) for row in tables["judgments"]] == [
        ("id-002-gemma3_1b", "morphosyntactic", 5),
        ("id-002-gemma3_1b", "semantic", 4),
        ("id-002-gemma3_1b", "pragmatic", 3),
        ("id-001-gemma3_1b", "morphosyntactic", 2),
        ("id-001-gemma3_1b", "semantic", 3),
        ("id-001-gemma3_1b", "pragmatic", 4),
    ]
