"""Translations of a data folder, from the folder to the report: our task under another name, two languages, and a coarser scale."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from harness import api
from harness.content import Library
from harness.data.asked_data import comparable_rubrics, with_compared_labels
from harness.data.dataset import load_folder
from harness.errors import ContentError, UsageError
from harness.prompts import FewShotExamples
from harness.render.terminal import render_report
from harness.reports.run_report import Report
from harness.runs.preparation import prepare
from harness.runs.specification import RunSpec
from tests.translation_folder import CARD, translation_items, write_translations

COARSE, FINE = "translation_quality_0_4", "translation_quality"
LIBRARY = Library()


def spec(folder: Path, **options: object) -> RunSpec:
    return RunSpec(data=folder, **options)


def test_the_card_says_which_task_of_ours_the_items_have(tmp_path: Path) -> None:
    folder = write_translations(tmp_path)
    prepared = prepare(spec(folder))
    assert {item.task for item in prepared.data.items} == {"translate"} and prepared.protocol.questions.metrics == (FINE,)
    assert {item.task for item in load_folder(folder, LIBRARY).items} == {"translation"}  # comparing keeps the data's own name
    call = next(iter(prepared.plan(None).queries()))
    text = "\n".join(message.content for message in prepared.plan(None).call(call, "x").prompt.messages)
    assert "a text in English and asked to translate it into Czech" in text and "{" not in text.split('"""')[0]


def test_items_with_other_source_languages_have_other_prompts(tmp_path: Path) -> None:
    prepared = prepare(spec(write_translations(tmp_path, translation_items(source_language="de"))))
    plan = prepared.plan(None)
    texts = ["\n".join(message.content for message in plan.call(query, "x").prompt.messages) for query in plan.queries()]
    assert sum("a text in German" in text for text in texts) == 1 and sum("a text in English" in text for text in texts) == 23


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"source_language": "cs"}, "has the same language twice: 'source_language' and 'language' are both 'cs'"),
        ({"source_language": None}, "has no 'source_language', which task 'translate' needs: the language of source, such as en"),
        ({"source_language": "eng"}, "'source_language' of item '0-long': language 'eng' is not canonical; write 'en'"),
        ({"source": " "}, "has no 'source', which task 'translate' needs"),
    ],
)
def test_a_wrong_item_is_named_with_its_line(tmp_path: Path, changed: dict[str, object], words: str) -> None:
    folder = write_translations(tmp_path, translation_items(**changed))
    with pytest.raises(ContentError, match=r"items\.jsonl:1: ") as caught:
        load_folder(folder, LIBRARY)
    assert words in str(caught.value)


def test_an_empty_translation_is_judged_too(tmp_path: Path) -> None:
    prepared = prepare(spec(write_translations(tmp_path, translation_items(output=""))))
    query = next(query for query in prepared.plan(None).queries() if query.item.item_id == "0-long")
    content = prepared.plan(None).call(query, "x").prompt.messages[-1].content
    assert 'Translation to be judged:\n"""\n\n"""' in content


def test_a_card_that_names_no_task_of_ours_is_refused(tmp_path: Path) -> None:
    folder = write_translations(tmp_path, card=CARD.replace('"translate"', '"translat"'))
    with pytest.raises(UsageError, match=r"'translation' is the task 'translat', which does not exist. Did you mean 'translate'\?"):
        prepare(spec(folder))


def test_the_coarser_metric_has_the_labels_of_the_finer_one_on_their_own_scale(tmp_path: Path) -> None:
    data = load_folder(write_translations(tmp_path), LIBRARY)
    rubric = comparable_rubrics(data, LIBRARY)[COARSE]
    made = with_compared_labels(data, [rubric])
    assert len(made.labels) == 2 * len(data.labels) and made.labelled_metrics["0-long"] == {COARSE, FINE}
    assert made.scales[COARSE].classes == (0, 1, 2, 3, 4) and made.label_scale(COARSE).max == 100
    assert made.sha256 != data.sha256 and made.label_scale(FINE) == data.scales[FINE]
    assert COARSE not in comparable_rubrics(made, LIBRARY)  # labels of its own come first


def reported(folder: Path, judge: str, **options: object) -> Report:
    return api.report(api.run(spec(folder, judges=(judge,), **options), folder / "out"))


def test_a_judge_on_the_coarser_scale_is_compared_by_order_alone(tmp_path: Path) -> None:
    folder = write_translations(tmp_path)
    report = reported(folder, "baseline/length", metrics=(COARSE,))
    [cell] = report.cells
    assert cell["kendall_tau_within"] == -1 and cell["acc_eq"] == 0 and -1 < cell["pearson"] < 0
    for name in ("pa", "mae", "rmse", "leniency", "alpha_interval"):
        assert cell[name] is None, name
    assert cell.undefined["mae"].startswith("the judge's scale is not people's")
    assert 0 <= cell["mean_judge"] <= 4 and 40 <= cell["mean_labels"] <= 100
    assert report.verdicts == ()
    assert any("on 0, 1, 2, 3, 4, people on 0 to 100: only the order" in note for note in report.notes)


def test_the_terminal_shows_correlations_instead_of_equal_labels(tmp_path: Path) -> None:
    report = reported(write_translations(tmp_path), "baseline/length", metrics=(COARSE,))
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(render_report(report, all_rows=True, notes=True, width=120))
    text = console.export_text()
    assert "Continuous scores" in text and "−1.00" in text and "Czech" in text
    assert "agrees with" not in text and "only the order" in " ".join(text.split())


def test_examples_on_a_scale_that_nobody_labelled_have_the_class_at_the_place_of_peoples_number(tmp_path: Path) -> None:
    items = [item | {"split": "dev"} for item in translation_items()]
    items[-1]["split"] = "test"
    prepared = prepare(spec(write_translations(tmp_path, items), metrics=(COARSE,), variants=("fewshot:8",)))
    people = {label.item_id: label.score for label in prepared.training.labels if label.metric == COARSE}
    [item] = prepared.data.items
    task, scale = prepared.library.task(item.task), prepared.data.scales[COARSE]
    examples = FewShotExamples(prepared.training, 0).choose(item, task, COARSE, scale, 8)
    assert len({example.score for example in examples}) > 1 and {example.score for example in examples} <= set(scale.classes)
    by_people = sorted(examples, key=lambda example: float(people[example.item_id]))
    assert [example.score for example in by_people] == sorted(float(example.score) for example in examples)
    assert len(list(prepared.plan(None).queries())) == 1


def test_a_constant_answers_at_the_place_of_the_median_label(tmp_path: Path) -> None:
    [cell] = reported(write_translations(tmp_path), "baseline/majority", metrics=(COARSE,)).cells
    assert cell["mean_judge"] == 3 and cell["kendall_tau"] is None  # the median label is 70


def test_perturbations_and_length_of_continuous_scores(tmp_path: Path) -> None:
    report = reported(write_translations(tmp_path), "baseline/length", metrics=(COARSE,), perturbations=("truncate:0.5",))
    row = report.ablations["perturbations"]["rows"][0]
    assert row["n"] == 24 and row["fell"] == 1
    tau = report.ablations["length"]["rows"][0]
    assert tau["tau"] == 1 and tau["tau_given_label"] is None and tau["human_tau"] < 0
