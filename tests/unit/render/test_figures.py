"""Figures: valid SVG with text as text, the same every time, and an error in words where there is nothing to draw."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest

from harness.decide.verdicts import Verdict
from harness.errors import UsageError
from harness.html_pages import asset
from harness.measure.cells import Cell
from harness.measure.compare import Comparison
from harness.model import Failure
from harness.render import html
from harness.render.figures import FORMS, WIDTHS, FigureOptions, draw_answer, draw_by_agreement, draw_figures
from harness.render.figures.style import BASELINE, COLOURS, FAILURES, JUDGE, PEOPLE, VERDICTS, Legend, finish_with_legend
from harness.render.html.ablations import dose_grids
from harness.reports.answer.build_answer import build_answer
from harness.reports.sections.section_registry import ShownSection

pytest.importorskip("matplotlib")

MakeCell = Callable[..., Cell]
MakeComparison = Callable[..., Comparison]
BY_AGREEMENT: dict[str, Any] = {
    "full": {"items": 5, "labels": {"0": 0.2, "1": 0.8}, "judge": {"0": 0.0, "1": 1.0}},
    "partial": {"items": 3, "labels": {"0": 0.5, "1": 0.5}, "judge": None},
    "none": {"items": 0, "labels": None, "judge": None},
}


@pytest.fixture
def drawn(make_cell: MakeCell, make_comparison: MakeComparison, tmp_path: Path) -> Callable[..., bytes]:
    """The bytes of the drawing of one cell for each metric."""

    def draw(*metrics: str, of: Any = BY_AGREEMENT, signature: str = "data:d") -> bytes:
        cells = [make_cell(metric=metric, distribution_by_agreement=of) for metric in metrics or ("task_quality",)]
        draw_by_agreement(make_comparison(*cells, make_cell(), signature=signature), tmp_path / "figure.svg")
        return (tmp_path / "figure.svg").read_bytes()

    return draw


@pytest.fixture
def verdict(make_verdict: Callable[..., Verdict]) -> Callable[..., dict[str, Any]]:
    """A verdict as `report.json` holds it."""
    shown = {"judge": "local/model", "metric": "quality", "language": "ja", "verdict": "use", "obstacles": (), "gap": 0.02}
    return lambda **changed: msgspec.to_builtins(make_verdict(**{**shown, "family_bound": -0.05, **changed}).flat())


def texts(svg: bytes) -> list[str]:
    return ["".join(element.itertext()) for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("}text")]


def test_it_is_svg_with_its_texts_as_text(drawn: Callable[..., bytes]) -> None:
    found = texts(drawn())
    assert ElementTree.fromstring(drawn()).tag == "{http://www.w3.org/2000/svg}svg"
    assert {"all agree", "two agree", "5", "3", "people", "judge", "100 %", "task quality"} <= set(found)
    assert "none agree" not in found, "there is no empty panel"


def test_the_same_comparison_is_the_same_bytes(drawn: Callable[..., bytes]) -> None:
    assert drawn("m", "n") == drawn("m", "n")
    assert not re.search(rb"20\d\d-\d\d-\d\d", drawn())  # no clock


def test_each_cell_with_three_annotators_has_a_row(drawn: Callable[..., bytes]) -> None:
    assert [texts(drawn(*names)).count("5") for names in (["m"], ["m", "n"], ["m", "n", "o"])] == [1, 2, 3]


@pytest.mark.parametrize("name", ["流暢さ", "$x^$", r"\frac{", "a & <b>", "na\x1b[31mme", "x" * 80, "]]>"], ids=ascii)
def test_any_name_is_drawn(drawn: Callable[..., bytes], name: str) -> None:
    """Signs that the font here does not have, formulas and markup."""
    of = {level: counts | {"labels": {name: 1.0, "b": 0.0}} for level, counts in BY_AGREEMENT.items()}
    svg = drawn(name, of=of, signature=f"data:{name}")
    shown = " ".join(texts(svg))
    assert name.replace("\x1b", "").replace("_", " ") in shown and b"\x1b" not in svg


def test_without_three_annotators_the_shares_of_all_items_are_drawn(
    make_cell: MakeCell, make_comparison: MakeComparison, tmp_path: Path
) -> None:
    cell = make_cell(n_ref=41, distribution_labels={"0": 0.25, "1": 0.75}, distribution_judge={"0": 1.0, "1": 0.0})
    draw_by_agreement(make_comparison(cell, make_cell()), tmp_path / "figure.svg")
    shown = texts((tmp_path / "figure.svg").read_bytes())
    assert "41" in shown and "people" in shown and not any("agree" in text for text in shown)


def test_without_classes_there_is_nothing_to_draw(make_cell: MakeCell, make_comparison: MakeComparison, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no cell has shares of classes to draw"):
        draw_by_agreement(make_comparison(make_cell(distribution_labels=None)), tmp_path / "figure.svg")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["figure.jpg", "figure", "figure.SVG"])
def test_another_form_is_refused(make_cell: MakeCell, make_comparison: MakeComparison, tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"figures are SVG, PDF or PNG files; name it figure\.svg"):
        draw_by_agreement(make_comparison(make_cell(distribution_by_agreement=BY_AGREEMENT)), tmp_path / name)


def test_without_matplotlib_it_says_what_to_install(drawn: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"pip install 'judge-harness\[figures\]'"):
        drawn()


KEY = {"task": "*", "metric": "*", "judge": "local/model", "variant": "single", "temperature": 0.0, "top_p": None, "undefined": {}}


def row(**more: Any) -> dict[str, Any]:
    """A row with a number for whatever a figure may show."""
    shares = (
        "pa",
        "pa_failed_wrong",
        "pa_pairwise",
        "human_pa",
        "same_score",
        "same_justification",
        "sensitivity",
        "rose",
        "fell",
        "reached_best",
    )
    numbers = {name: value for share in shares for name, value in ((share, 0.5), (f"{share}_ci", [0.25, 0.75]))}
    return {
        **KEY,
        "language": "*",
        **numbers,
        "n": 9,
        "not_applied": 0,
        "repeats": 5,
        "perturbation": "shuffle-words:0.1",
        "shots": 0,
        **more,
    }


def levels(**more: Any) -> list[dict[str, Any]]:
    """By language, by task, by metric, and the metric in each language and task."""
    at = [{"language": "ja"}, {"language": "cs"}, {"task": "summarize"}, {"metric": "quality"}]
    at += [{"language": "ja", "metric": "quality"}, {"language": "cs", "metric": "quality"}, {"task": "summarize", "metric": "quality"}]
    return [row(**place, **more) for place in at]


def scored(**more: Any) -> list[dict[str, Any]]:
    """What never pools metrics: scores."""
    return [one for one in levels(**more) if one["metric"] != "*" and (one["language"] != "*" or one["task"] != "*")]


def report(**sections: list[dict[str, Any]]) -> dict[str, Any]:
    cell = {"language": "ja", "metric": "quality", "judge": "j", "variant": "single", "distribution_by_agreement": BY_AGREEMENT}
    return {
        "signatures": {"j": "data:d"},
        "by_metric": [cell],
        "ablations": {name: {"title": name, "rows": rows} for name, rows in sections.items()},
    }


EVERYTHING = report(
    variants=[*levels(), *levels(variant="joint")],
    temperature=[*levels(), *levels(temperature=0.7)],
    few_shot=[*levels(), *levels(variant="single+fewshot:2", shots=2)],
    consistency=levels(),
    perturbations=scored(),
    injection=scored(perturbation="inject"),
)
FILES = {
    *("agreement.svg", "temperature.svg", "few_shot.svg", "consistency.svg", "injection.svg"),
    *("sensitivity-quality.svg", "by_agreement-quality.svg"),
}


def drawn_texts(folder: Path, name: str) -> list[str]:
    return texts((folder / name).read_bytes())


def test_every_section_has_its_figure(tmp_path: Path) -> None:
    paths = draw_figures(EVERYTHING, tmp_path)
    assert {path.name for path in paths} == {path.name for path in tmp_path.iterdir()} == FILES
    for path in paths:
        assert ElementTree.fromstring(path.read_bytes()).tag == "{http://www.w3.org/2000/svg}svg"


@pytest.mark.slow
def test_a_report_draws_the_same_bytes_again(tmp_path: Path) -> None:
    first, again = (draw_figures(EVERYTHING, tmp_path / name) for name in ("one", "two"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]
    assert not any(re.search(rb"20\d\d-\d\d-\d\d", path.read_bytes()) for path in first)


def test_a_report_without_ablations_draws_nothing(tmp_path: Path) -> None:
    assert draw_figures({"signatures": {}, "by_metric": [], "ablations": {}}, tmp_path) == []


@pytest.mark.slow
def test_languages_go_by_their_english_or_their_own_names(tmp_path: Path) -> None:
    draw_figures(EVERYTHING, tmp_path / "english")
    assert {"Japanese", "Czech"} <= set(drawn_texts(tmp_path / "english", "agreement.svg"))
    draw_figures(EVERYTHING, tmp_path, FigureOptions(names="own"))
    for name in ("agreement.svg", "consistency.svg", "injection.svg", "sensitivity-quality.svg"):
        assert {"日本語 (ja)", "čeština (cs)"} <= set(drawn_texts(tmp_path, name)), name


def test_agreement_stands_beside_people_where_there_are_two(tmp_path: Path) -> None:
    draw_figures(EVERYTHING, tmp_path)
    found = drawn_texts(tmp_path, "agreement.svg")
    assert {"by language", "by task", "by metric", "single", "joint", "people, on the same items"} <= set(found)
    alone = [{**one, "human_pa": None, "human_pa_ci": None, "pa_pairwise": None, "pa_pairwise_ci": None} for one in levels()]
    draw_figures(report(variants=alone), tmp_path)
    found = drawn_texts(tmp_path, "agreement.svg")
    assert "people, on the same items" not in found and any("cannot be compared with people" in text for text in found)


def test_what_could_not_be_changed_is_said_in_the_figure(tmp_path: Path) -> None:
    stuck = {"n": 0, "not_applied": 9, "sensitivity": None, "sensitivity_ci": None}
    rows = [one | (stuck if one["language"] == "ja" else {}) for one in scored()]
    draw_figures(report(perturbations=rows), tmp_path)
    assert drawn_texts(tmp_path, "sensitivity-quality.svg").count("no text could be changed") == 1


def test_without_any_sensitivity_there_is_no_figure(tmp_path: Path) -> None:
    rows = [one | {"n": 0, "not_applied": 9, "sensitivity": None} for one in scored()]
    assert not any("sensitivity" in path.name for path in draw_figures(report(perturbations=rows), tmp_path))


def test_undefined_numbers_and_intervals_are_left_out(tmp_path: Path) -> None:
    rows = [
        one | ({"pa": None, "pa_ci": None} if one["language"] == "ja" else {"pa_ci": None})
        for one in EVERYTHING["ablations"]["temperature"]["rows"]
    ]
    assert draw_figures(report(temperature=rows), tmp_path)[0].name == "temperature.svg"


def test_baselines_are_drawn_only_where_there_is_nothing_else(tmp_path: Path) -> None:
    draw_figures(report(consistency=[*levels(), *levels(judge="baseline/random")]), tmp_path)
    assert not any("baseline/random" in text for text in drawn_texts(tmp_path, "consistency.svg"))
    draw_figures(report(consistency=levels(judge="baseline/random")), tmp_path)
    assert any("baseline/random" in text for text in drawn_texts(tmp_path, "consistency.svg"))


@pytest.mark.parametrize("metric", ["../../quality", "a/b", "流暢さ", "x" * 300, "a\x1bb"], ids=ascii)
def test_a_metrics_name_is_no_path(tmp_path: Path, metric: str) -> None:
    rows = [one | {"metric": metric} for one in scored()]
    paths = draw_figures(report(perturbations=rows) | {"by_metric": []}, tmp_path / "figures")
    assert [path.parent for path in paths] == [tmp_path / "figures"] and len(paths[0].name) < 100
    assert b"\x1b" not in paths[0].read_bytes()


def test_two_metrics_never_share_a_file(tmp_path: Path) -> None:
    rows = [one | {"metric": name} for one in scored() for name in ("a/b", "a b", "a_b")]
    assert len({path.name for path in draw_figures(report(perturbations=rows) | {"by_metric": []}, tmp_path)}) == 3


def test_figures_of_a_report_need_matplotlib(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"pip install 'judge-harness\[figures\]'"):
        draw_figures(EVERYTHING, tmp_path)
    assert not list(tmp_path.iterdir())


def test_cells_are_called_by_all_that_tells_them_apart(make_cell: MakeCell, make_comparison: MakeComparison, tmp_path: Path) -> None:
    cells = [make_cell(judge=f"openai/j{n}", distribution_by_agreement=BY_AGREEMENT) for n in range(2)]
    draw_by_agreement(make_comparison(*cells), tmp_path / "figure.svg")
    assert {"openai/j0", "openai/j1"} <= set(" ".join(texts((tmp_path / "figure.svg").read_bytes())).split())


def height(svg: bytes) -> float:
    """The height of a figure in inches."""
    return float(ElementTree.fromstring(svg).attrib["height"].removesuffix("pt")) / 72


def many_cells(make_cell: MakeCell, judges: int, languages: int, metrics: int) -> list[Cell]:
    shares = {"0": 0.4, "1": 0.6}
    return [
        make_cell(
            judge=f"openai/j{judge}", language=tag, metric=f"m{metric}", distribution_labels=shares, distribution_judge=shares, n_ref=9
        )
        for judge in range(judges)
        for tag in ("cs", "ja", "en", "de", "fr", "es", "it", "zh", "hi", "ta")[:languages]
        for metric in range(metrics)
    ]


@pytest.mark.parametrize(
    ("judges", "languages", "metrics", "said", "panels"),
    [(101, 1, 1, "Of openai/j0 only; 100 others left out", 1), (2, 10, 3, "Of openai/j0 only; 1 other left out", 1), (1, 10, 5, "", 5)],
)
def test_however_many_cells_there_are_a_figure_is_eight_inches_high_and_says_what_it_leaves_out(
    make_cell: MakeCell, make_comparison: MakeComparison, tmp_path: Path, judges: int, languages: int, metrics: int, said: str, panels: int
) -> None:
    draw_by_agreement(make_comparison(*many_cells(make_cell, judges, languages, metrics)), tmp_path / "figure.svg")
    svg = (tmp_path / "figure.svg").read_bytes()
    found = texts(svg)
    assert height(svg) <= 8.001 and said in " ".join(found) and found.count("100 %") == panels


def test_an_answer_of_many_languages_and_metrics_has_metrics_side_by_side(verdict: Callable[..., dict[str, Any]]) -> None:
    tags = ("cs", "ja", "en", "de", "fr", "es", "it", "zh", "hi", "ta", "te", "kn", "pl", "da", "sv", "fi", "tr", "ru", "uk", "ko")
    every = [Verdict.from_flat(verdict(language=tag, metric=metric)) for tag in tags for metric in ("quality", "harm")]
    drawn = draw_answer(every, "s")
    assert drawn
    found = texts(drawn["svg"])
    assert height(drawn["svg"]) <= 8.001 and {"Ukrainian", "quality", "harm"} <= set(found) and found.count("✓ +2") == 40


@pytest.mark.slow
def test_each_form_and_each_width_is_drawn(tmp_path: Path) -> None:
    paths = draw_figures(report(consistency=levels()) | {"by_metric": []}, tmp_path, FigureOptions(WIDTHS["single"], forms=FORMS))
    assert [path.suffix for path in paths] == [".svg", ".pdf", ".png"]
    svg, pdf, png = (path.read_bytes() for path in paths)
    assert b'width="252pt"' in svg and pdf.startswith(b"%PDF") and png.startswith(b"\x89PNG")
    assert int.from_bytes(png[16:20]) == 1050  # pixels: 3.5 inches of 300
    again = draw_figures(report(consistency=levels()) | {"by_metric": []}, tmp_path / "b", FigureOptions(WIDTHS["single"], forms=FORMS))
    assert [path.read_bytes() for path in again] == [svg, pdf, png]


def test_a_figure_has_a_title_and_says_in_words_what_it_shows(tmp_path: Path, verdict: Callable[..., dict[str, Any]]) -> None:
    for path in draw_figures(EVERYTHING | {"verdicts": [verdict()]}, tmp_path):
        root = ElementTree.fromstring(path.read_bytes())
        title, words = (element.text or "" for element in list(root)[:2])
        assert root.get("role") == "img" and len(title) > 5 and len(words) > 40, path.name


def test_figures_have_the_colours_of_the_page() -> None:
    style = asset(Path(html.__file__).parent / "assets" / "style.css")
    for name, colour in {"judge": JUDGE, "people": PEOPLE, "base": BASELINE, **VERDICTS}.items():
        assert f"--{name}: {colour};" in style
    names = [re.search(rf"\.chip\.f{number} {{ fill: var\(--([\w-]+)\)", style) for number in range(len(Failure))]
    assert [f"--{name[1]}: {colour};" in style for name, colour in zip(names, FAILURES, strict=True) if name] == [True] * len(Failure)


def test_colours_differ_by_meaning() -> None:
    """On pages, light and dark, and in figures: for, against, open and people; and no series is red, green, or looks like a verdict."""
    style = asset(Path(html.__file__).parent / "assets" / "style.css")
    for scheme in re.findall(r":root \{(.*?)\}", style, re.DOTALL):
        colours = dict(re.findall(r"--([\w-]+): (#\w{6});", scheme))
        assert len({colours[name] for name in ("good", "bad", "open", "people")}) == 4
        assert colours["people"] == colours["ink"]
    for rule in re.findall(r"[^{}]*\{[^{}]*var\(--people\)[^{}]*\}", style):
        assert "people" in rule.split("{")[0] and "bad" not in rule, rule
    assert len({PEOPLE, JUDGE, *VERDICTS.values()}) == 5 and not set(COLOURS) & {PEOPLE, *VERDICTS.values()}
    for colour in COLOURS[:-1]:
        red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
        assert not (red > 1.4 * max(green, blue) or green > 1.2 * max(red, blue)), colour


def test_a_variant_without_a_readable_answer_has_no_empty_panel_but_a_sentence(tmp_path: Path) -> None:
    nothing = dict.fromkeys(("pa", "pa_ci", "pa_failed_wrong", "pa_failed_wrong_ci", "pa_pairwise", "pa_pairwise_ci", "human_pa"))
    failed = levels(variant="joint", temperature=0.7, **nothing)
    draw_figures(report(variants=[*levels(), *failed]), tmp_path)
    shown = drawn_texts(tmp_path, "agreement.svg")
    assert shown.count("by language") == 1 and "joint" not in shown
    assert "Without any readable answer: joint." in " ".join(" ".join(shown).split())


def test_unreadable_answers_count_as_wrong_as_on_the_page(tmp_path: Path) -> None:
    """Agreement stands at 0.2, the share over all answers, and not at 0.9, that over the answers that were read."""
    alone = {"human_pa": None, "human_pa_ci": None, "pa_pairwise": None, "pa_pairwise_ci": None}
    kinds = {"low": {"pa": 0.9, "pa_failed_wrong": 0.2, "pa_failed_wrong_ci": None}, "same": {"pa": 0.2, "pa_failed_wrong": 0.2}}
    kinds["same"]["pa_failed_wrong_ci"] = None
    drawn = {name: draw_figures(report(variants=levels(**alone, **kind)), tmp_path / name) for name, kind in kinds.items()}
    assert drawn["low"][0].read_bytes() == drawn["same"][0].read_bytes()
    assert "constant answer" not in drawn_texts(tmp_path / "low", "agreement.svg")
    with_baseline = report(variants=levels(**alone, **kinds["low"])) | {"summaries": [{"language": "ja", "baseline": 0.6}]}
    draw_figures(with_baseline, tmp_path)
    assert "constant answer" in drawn_texts(tmp_path, "agreement.svg")


def test_the_answer_is_drawn_as_the_page_draws_it(tmp_path: Path, verdict: Callable[..., dict[str, Any]]) -> None:
    worse = verdict(language="cs", verdict="do not use", obstacles=("worse",), gap=-0.3, family_bound=-0.5)
    baseline = verdict(judge="baseline/majority")
    draw_figures({"signatures": {}, "by_metric": [], "ablations": {}, "verdicts": [worse, verdict(), baseline]}, tmp_path)
    shown = drawn_texts(tmp_path, "verdicts.svg")
    assert shown.index("Japanese") < shown.index("Czech") and {"judge − people (points)", "−40", "+40"} <= set(shown)
    assert "local/model may be used for 1 of 2 questions, not for 1" in shown and not any("baseline/" in text for text in shown)
    svg = (tmp_path / "verdicts.svg").read_text()
    assert VERDICTS["good"] in svg and VERDICTS["bad"] in svg


def test_the_answer_of_several_judges_is_their_matrix(tmp_path: Path, verdict: Callable[..., dict[str, Any]]) -> None:
    several = [
        verdict(judge="a"),
        verdict(judge="b", verdict="do not use", gap=-0.3, obstacles=("worse",)),
        verdict(judge="a", metric="style"),
    ]
    draw_figures({"signatures": {}, "by_metric": [], "ablations": {}, "verdicts": several}, tmp_path)
    shown = drawn_texts(tmp_path, "verdicts.svg")
    assert {"a", "b", "quality", "style", "✓ +2", "✗ −30", "–"} <= set(shown)
    assert "Japanese: a may be used for all 2 questions" in shown


@pytest.mark.parametrize("judges", [1, 2])
def test_a_figure_of_an_answer_is_8_inches_high_at_most_and_says_what_it_leaves_out(
    make_verdict: Callable[..., Verdict], judges: int
) -> None:
    many = [make_verdict(judge=f"j{judge}", metric=f"m{number}") for number in range(90) for judge in range(judges)]
    drawn = draw_answer(many, "signature")
    assert drawn is not None
    height = ElementTree.fromstring(drawn["svg"]).get("height", "")
    assert float(height.removesuffix("pt")) <= 8 * 72 and "did not fit" in " ".join(texts(drawn["svg"]))
    assert draw_answer([make_verdict(judge="baseline/majority")], "signature") is None


def test_a_long_title_stands_in_several_lines_that_fit_the_width(make_verdict: Callable[..., Verdict]) -> None:
    name = "a-judge-whose-name-is-long"
    for judges in (1, 2):
        every = [make_verdict(judge=f"{name}-{n}", metric=f"m{metric}") for n in range(judges) for metric in range(3)]
        drawn = draw_answer(every, "signature", FigureOptions(WIDTHS["single"]))
        assert drawn is not None
        title = build_answer([every[start : start + 3] for start in range(0, len(every), 3)]).title
        lines = textwrap.wrap(title, 45)
        assert {*lines} <= {text.strip() for text in texts(drawn["svg"])}


def test_sensitivity_along_the_dose_is_drawn_as_the_page_draws_it(tmp_path: Path) -> None:
    """A figure for each kind of change, a panel for each language and metric, with the page's title."""
    along = [one | {"kind": "truncate", "dose": dose} for dose in (0.5, 0.25) for one in scored()]
    tagged = [one | {"kind": "shuffle", "dose": None} for one in scored()]
    paths = draw_figures(report(perturbations=[*along, *tagged]) | {"by_metric": []}, tmp_path)
    assert [path.name for path in paths if path.name.startswith("doses")] == ["doses-1-truncate.svg"]
    shown = drawn_texts(tmp_path, "doses-1-truncate.svg")
    [grid] = dose_grids(ShownSection("T", "", (), (tuple(along),)))
    assert grid.name == "truncate, dose 0.25 · 0.5" and grid.name in shown
    assert shown.count("quality") == 2 and {"Japanese", "Czech", "½", "0.25", "0.5"} <= set(shown)
    svg = (tmp_path / "doses-1-truncate.svg").read_text()
    assert JUDGE in svg and BASELINE in svg


def test_failures_are_drawn_by_condition_and_kind(tmp_path: Path) -> None:
    condition = {"judge": "j", "temperature": 0.0, "top_p": None, "judgments": 40}
    plain = condition | {"variant": "single", "failures": {"truncated": 4}}
    joint = condition | {"variant": "joint", "failures": {"refused": 10, "truncated": 2}}
    draw_figures(report() | {"by_metric": [], "failures": [joint, plain]}, tmp_path)
    shown = drawn_texts(tmp_path, "failures.svg")
    assert shown.index("single") < shown.index("joint")
    assert {"refused", "truncated", "10 % of 40", "30 % of 40", "15 %"} <= {text.strip() for text in shown}
    svg = (tmp_path / "failures.svg").read_text()
    assert FAILURES[0] in svg and FAILURES[3] in svg and FAILURES[1] not in svg
    assert not draw_figures(report() | {"by_metric": [], "failures": [plain]}, tmp_path / "one")


def test_a_legend_of_long_names_has_as_many_columns_as_fit() -> None:
    from matplotlib.figure import Figure

    def columns(*names: str) -> int:
        figure = Figure(figsize=(7, 3), layout="constrained")
        panel = figure.add_subplot()
        for name in names:
            panel.plot([0, 1], label=name)
        finish_with_legend(figure, panel, "title", "text", "signature", FigureOptions(), Legend(columns=2, least=2))
        figure.canvas.draw()
        [legend] = figure.legends
        assert legend.get_window_extent().width <= figure.bbox.width
        return int(legend._ncols)

    assert columns("short", "names") == 2
    assert columns("local/a-model-with-a-long-name single+score-only+probabilities T=0", "another one") == 1
