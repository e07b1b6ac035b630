"""Studies by the command: altered texts, and what `--study chiang-lee` asks and shows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.conftest import write_rows

Cli = Callable[..., Any]


@pytest.fixture
def altered(cli: Cli, tmp_path: Path) -> Path:
    folder = tmp_path / "altered"
    assert cli("study", "alter-texts", "--langs", "cs,ja", "--limit", "2", "--out", folder).code == 0
    return folder


def test_altered_texts_stand_beside_their_original(altered: Path) -> None:
    rows = [json.loads(line) for line in (altered / "items.jsonl").read_text("utf-8").splitlines()]
    assert len(rows) == 16 and {row["language"] for row in rows} == {"cs", "ja"}
    for row in rows:
        assert (row["output"] == row["original"]) == (row["system"] == "identical")


def test_the_study_asks_as_published_and_shows_each_question_its_texts(cli: Cli, endpoint: Any, altered: Path, tmp_path: Path) -> None:
    endpoint.script = lambda request: endpoint.saying("4. It reads well.", model=request.body["model"])
    asked = ("run", "--study", "chiang-lee", "--data", altered, "--langs", "cs", "--limit", "2", "--yes")
    done = cli(*asked, "--judge", "openai/m-1", "--base-url", endpoint.url, "--out", tmp_path / "results", "--json")
    assert done.code == 0, done.err
    bodies = [request.body for request in endpoint.requests]
    # 2 texts, 2 metrics, 3 samples; 4 temperatures, and two instructions at the first of them
    assert len(bodies) == 2 * 2 * 3 * (4 + 2)
    assert {body["top_p"] for body in bodies} == {0.9} and {body["temperature"] for body in bodies} == {1.0, 0.7, 0.3, 0.0}
    questions = [body["messages"][-1]["content"] for body in bodies]
    fluency = [text for text in questions if "Fluency of the text" in text]
    assert len(fluency) == len(questions) / 2 and not any("Original text" in text for text in fluency)
    assert all("Original text" in text for text in questions if text not in fluency)
    section = json.loads(done.out)["ablations"]["chiang_lee"]
    assert {row["exact"] for row in section["rows"]} == {1.0} and {row["mean"] for row in section["systems"]} == {4.0}
    assert {(row["variant"], row["temperature"]) for row in section["rows"]} == {
        *(("single+text", t) for t in (1.0, 0.7, 0.3, 0.0)),
        *((f"single+text+{word}", 1.0) for word in ("persona", "explain")),
    }


def test_people_review_the_explanations_of_the_study(cli: Cli, endpoint: Any, altered: Path, tmp_path: Path) -> None:
    """An answer in own words with reasons is its own explanation; one without them has none. No language was asked for."""
    endpoint.script = lambda request: endpoint.saying("4. The verb at the end is wrong.", model=request.body["model"])
    asked = ("run", "--data", altered, "--langs", "ja", "--limit", "2", "--unlabelled", "--yes", "--judge", "openai/m-1", "--base-url")
    for variant in ("text+explain", "text"):
        done = cli(*asked, endpoint.url, "--variant", variant, "--out", tmp_path / variant)
        assert done.code == 0, done.err
        [run] = (tmp_path / variant / "runs").iterdir()
        rows = pq.read_table(run / "judgments.parquet", columns=["score", "justification", "detected_language"]).to_pylist()
        reasons = "4. The verb at the end is wrong." if variant == "text+explain" else None
        assert rows == [{"score": "4", "justification": reasons, "detected_language": None}] * 4
        pages = cli("labels", "page", altered, "--lang", "ja", "--review", run, "--annotators", "1", "--out", tmp_path / f"pages-{variant}")
        assert pages.code == (0 if reasons else 2), pages.err
    assert "The verb at the end is wrong." in (tmp_path / "pages-text+explain" / "ja-A1.html").read_text("utf-8")


@pytest.mark.slow  # 48,000 recorded answers are read
@pytest.mark.needs("shared data")
def test_a_published_set_is_named(cli: Cli, shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_DATA_HOME", str(shared_data))
    done = cli("study", "self-preference", "--data", "self_recognition", "--judge", "gpt4")
    assert done.code == 0, done.err
    assert "recognises its own" in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("run", "--study", "chiang-lee"), "needs stories or altered texts"),
        (("run", "--study", "chiang-le", "--data", "."), "no study 'chiang-le'"),
        (("study", "alter-texts", "--perturb", "nothing", "--out", "x"), "nothing"),
    ],
)
def test_what_a_study_lacks_is_named(cli: Cli, arguments: tuple[str, ...], sentence: str) -> None:
    done = cli(*arguments)
    assert done.code == 2 and sentence in done.err


@pytest.mark.slow  # 126,720 recorded scores are read
@pytest.mark.needs("shared data")
def test_means_by_system_are_those_that_hanna_publishes(cli: Cli, shared_data: Path) -> None:
    folder = shared_data / "hanna"
    done = cli("study", "chiang-lee", "--data", folder, "--judge", "beluga-13b", "--variant", "prompt1-simple", "--json")
    assert done.code == 0, done.err
    published = json.loads((folder / "expected.json").read_text("utf-8"))["system_means_people"]
    found = {(row["system"], row["metric"]): row["people_mean"] for row in json.loads(done.out)["systems"]}
    assert {key: round(value, 2) for key, value in found.items()} == {
        (system, metric): mean for system, by_metric in published.items() for metric, mean in by_metric.items()
    }


@pytest.fixture
def own_texts(cli: Cli, tmp_path: Path) -> Path:
    """Pairs of summaries by two models in three languages; each text holds its writer's mark."""
    rows = [
        {
            "item_id": f"{language}{n}|{model}",
            "language": language,
            "task": "summarize",
            "group": f"{language}{n}",
            "system": f"openai/{model}",
        }
        | {"passage": f"Passage {n}.", "output": f"mark-of-{model} {n}" + (" and more" if model == "m-1" and language == "en" else "")}
        for language in ("en", "cs", "ja")
        for n in range(3)
        for model in ("m-1", "m-2")
    ]
    write_rows(tmp_path / "single" / "items.jsonl", rows)
    assert cli("pairs", tmp_path / "single", "--out", tmp_path / "pairs").code == 0
    return tmp_path / "pairs"


@pytest.fixture
def own_singles(own_texts: Path) -> Path:
    """The same texts one by one, as `harness generate` writes them."""
    return own_texts.parent / "single"


def answer_of_a_writer(endpoint: Any, request: Any) -> Any:
    """m-1 always finds, prefers and claims its own text; m-2 always takes the first one, claims every text and scores all alike."""
    question, model = request.body["messages"][-1]["content"], request.body["model"]
    places = {name: question.find(f"mark-of-{name}") for name in ("m-1", "m-2")}
    if min(places.values()) < 0:  # a text alone
        own = places[model] >= 0
        score: Any = "Yes" if own or model == "m-2" else "No"
        if "Overall quality" in question:
            score = 3 if model == "m-2" else 4 if own else 1
    else:
        other = "m-2" if model == "m-1" else "m-1"
        score = "A" if places[model] < places[other] or model == "m-2" else "B"
    return endpoint.saying({"score": score}, model=model)


@pytest.mark.parametrize("given", ["pairs", pytest.param("single", marks=pytest.mark.slow)])
def test_a_judge_that_knows_and_prefers_its_own_texts(
    cli: Cli, endpoint: Any, own_texts: Path, own_singles: Path, tmp_path: Path, given: str
) -> None:
    endpoint.script = lambda request: answer_of_a_writer(endpoint, request)
    folder = own_texts if given == "pairs" else own_singles
    asked = ("run", "--study", "self-preference", "--data", folder, "--judge", "openai/m-1", "--judge", "openai/m-2", "--yes")
    done = cli(*asked, "--base-url", endpoint.url, "--out", tmp_path / "results", "--json")
    assert done.code == 0, done.err
    # 9 pairs: 2 questions in 2 orders under 3 headings; 3 of them differ in length, vowels and ease, in 2 orders; 18 texts have 2 questions
    assert len(endpoint.requests) == (9 * 2 * 2 * 3 + 3 * 3 * 2 + 18 * 2) * 2
    section = json.loads(done.out)["ablations"]["self_preference"]
    rows = {(row["judge"], row["language"]): row for row in section["rows"] if row["source"] == "*"}
    assert {language for _, language in rows} == {"en", "cs", "ja", "*"}
    for (judge, _), row in rows.items():
        own = 1.0 if judge == "openai/m-1" else 0.5
        assert (row["recognition"], row["preference"]) == (own, own) and row["confidence_from"] == "choices"
        assert (row["recognition_correct"], row["recognition_ambiguous"]) == ((1.0, 0.0) if own == 1 else (0.0, 1.0))
    assert {row["shown_source"] for row in section["labels"]} == {"correct", "swapped"}
    assert {row["total"] for row in section["mutual"]} == {1.5} and section["line"]["points"] == 6
    single = {(row["judge"], row["metric"], row["source"]): row for row in section["individual"] if row["language"] == "*"}
    assert (
        single["openai/m-1", "overall_quality", "openai/m-1"]["mean"] == 4 and single["openai/m-1", "own_text", "openai/m-1"]["mean"] == 1
    )
    assert single["openai/m-1", "overall_quality", "openai/m-2"]["share"] == pytest.approx(4 / 5)
    assert single["openai/m-1", "own_text", "openai/m-2"]["share"] == 1 and single["openai/m-2", "own_text", "openai/m-1"]["share"] == 0.5
    controls = {row["metric"]: row for row in section["controls"] if row["judge"] == "openai/m-2"}
    assert {(row["language"], row["n"], row["accuracy"]) for row in controls.values()} == {("en", 3, 0.5)} and len(controls) == 3
    assert {(one["language"], one["metric"]) for one in section["refused"]} >= {("ja", "more_vowels"), ("cs", "more_readable")}
    words = " ".join(cli("report", "--out", tmp_path / "results").out.split())
    assert "In 3 of 3 pairs of judges the two preferences add up to more than 1." in words
    assert "Not asked: more vowels in ja (vowels cannot be counted in 'ja'" in words


@pytest.mark.parametrize("question", ["authorship", "forced_preference"])
def test_one_question_in_one_order_without_names(cli: Cli, endpoint: Any, own_texts: Path, tmp_path: Path, question: str) -> None:
    """Flags take precedence over the study, also where they say what holds without it."""
    endpoint.script = lambda request: answer_of_a_writer(endpoint, request)
    asked = ("run", "--study", "self-preference", "--data", own_texts, "--judge", "openai/m-1", "--metrics", question, "--yes")
    flags = ("--order", "forward", "--shown-source", "none", "--base-url", endpoint.url, "--out", tmp_path / "results")
    done = cli(*asked, *flags)
    assert done.code == 0, done.err
    assert len(endpoint.requests) == 9  # pairs
    assert cli("report", "--out", tmp_path / "results", "--html").code == 0
    [page] = (tmp_path / "results").glob("runs/*/report.html")
    text = page.read_text("utf-8")
    assert "--order forward" in text and ("prefers its own texts" in text) == (question == "forced_preference")


def test_a_tuned_judge_may_have_texts_of_its_own(cli: Cli, endpoint: Any, own_texts: Path, tmp_path: Path) -> None:
    """The data hold texts of both: the tuned judge is its own system, and stands against its earlier self."""
    endpoint.script = lambda request: answer_of_a_writer(endpoint, request)
    judges = ("--judge", "openai/m-1", "--judge", "openai/m-2", "--tuned", "openai/m-2=openai/m-1")
    asked = (
        "run",
        "--study",
        "self-preference",
        "--data",
        own_texts,
        *judges,
        "--metrics",
        "forced_preference",
        "--shown-source",
        "correct",
    )
    done = cli(*asked, "--base-url", endpoint.url, "--yes", "--out", tmp_path / "results", "--json")
    assert done.code == 0, done.err
    rows = json.loads(done.out)["ablations"]["self_preference"]["tuned"]
    assert {(row["against"], row["before"], row["after"], row["paired_n"]) for row in rows} == {("each other", 1.0, 0.5, 3)}


def test_changed_texts_hide_the_author_from_a_judge_that_knows_a_mark(cli: Cli, endpoint: Any, own_texts: Path, tmp_path: Path) -> None:
    """Typos in every word break the marks. Both pair questions are asked about the changed pairs, in both orders, and nothing else."""

    def answer(request: Any) -> Any:
        question = request.body["messages"][-1]["content"]
        knows = "mark-of-m-1" in question and "mark-of-m-2" in question
        return answer_of_a_writer(endpoint, request) if knows else endpoint.saying({"score": "A"}, model=request.body["model"])

    endpoint.script = answer
    asked = ("run", "--study", "self-preference", "--data", own_texts, "--judge", "openai/m-1", "--metrics", "authorship,forced_preference")
    flags = ("--base-url", endpoint.url, "--yes", "--shown-source", "correct", "--out", tmp_path / "results", "--json")
    assert cli(*asked, *flags).code == 0
    unchanged = len(endpoint.requests)
    done = cli(*asked, *flags, "--perturb", "typos:1")
    assert done.code == 0, done.err
    assert len(endpoint.requests) - unchanged == 9 * 2 * 2
    section = json.loads(done.out)["ablations"]["self_preference"]
    rows = {(row["language"], row["question"]): row for row in section["perturbed"]}
    assert {language for language, _ in rows} == {"en", "cs", "ja", "*"} and {question for _, question in rows} == {
        "recognition",
        "preference",
    }
    for row in rows.values():
        assert (row["before"], row["after"], row["paired"], row["perturbation"]) == (1.0, 0.5, -0.5, "typos:1")
    assert rows["*", "recognition"]["n"] == 9
    assert "Texts changed on purpose" in cli("report", "--out", tmp_path / "results").out


@pytest.mark.slow  # matplotlib draws, and the page has every judgment
def test_the_points_of_recognition_and_preference_are_drawn(cli: Cli, endpoint: Any, own_texts: Path, tmp_path: Path) -> None:
    endpoint.script = lambda request: answer_of_a_writer(endpoint, request)
    asked = (
        "run",
        "--study",
        "self-preference",
        "--data",
        own_texts,
        "--judge",
        "openai/m-1",
        "--judge",
        "openai/m-2",
        "--yes",
        "--limit",
        "1",
    )
    assert cli(*asked, "--tuned", "openai/m-2=openai/m-1", "--base-url", endpoint.url, "--out", tmp_path / "results").code == 0
    [analysis] = (tmp_path / "results").glob("runs/*/report.json")
    analysis.unlink()  # as in a run that was interrupted: the page is made of an analysis that was never a file
    shown = cli("report", "--out", tmp_path / "results", "--html", "--figures")
    [page] = (tmp_path / "results").glob("runs/*/report.html")
    text = page.read_text("utf-8")
    assert shown.code == 0 and 'aria-label="preference of the own text against recognition, 6 points"' in text
    assert "Before and after tuning" in text and "own_preference.svg" in shown.err


def test_a_judge_that_wrote_nothing_is_refused_before_it_is_asked(cli: Cli, endpoint: Any, own_texts: Path, tmp_path: Path) -> None:
    asked = ("run", "--study", "self-preference", "--data", own_texts, "--base-url", endpoint.url, "--yes", "--out", tmp_path / "results")
    done = cli(*asked, "--judge", "openai/m-3")
    assert done.code == 2 and "judge 'openai/m-3' wrote none of these texts" in done.err and "openai/m-1, openai/m-2" in done.err
    assert not endpoint.requests
    endpoint.script = lambda request: endpoint.saying({"score": "A"}, model=request.body["model"])
    known = cli(*asked, "--judge", "openai/m-3", "--is", "openai/m-3=openai/m-2", "--langs", "cs", "--json")
    assert known.code == 0, known.err
    assert {row["source"] for row in json.loads(known.out)["ablations"]["self_preference"]["rows"]} == {"*", "openai/m-1"}
    assert "--is names 'openai/x'" in cli(*asked, "--judge", "openai/m-1", "--is", "openai/x=openai/m-1").err


def chats(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_fine_tuning_sets_hold_right_answers_and_no_source_text_twice(cli: Cli, own_texts: Path, tmp_path: Path) -> None:
    asked = ("study", "export-finetuning", "--data", own_texts, "--question", "recognition", "--system", "openai/m-1")
    done = cli(*asked, "--split", "0.4", "--out", tmp_path / "set")
    assert done.code == 0, done.err
    train, test = (chats(tmp_path / "set" / f"{part}.jsonl") for part in ("train", "test"))
    assert (len(train), len(test)) == (10, 8)  # 9 source texts, 4 of them held out, both orders
    for chat in (*train, *test):
        [system, user, answer] = chat["messages"]
        assert (system["role"], user["role"], answer["role"]) == ("system", "user", "assistant")
        first = "A" if user["content"].index("mark-of-m-1") < user["content"].index("mark-of-m-2") else "B"
        assert json.loads(answer["content"]) == {"score": first}
    manifest = json.loads((tmp_path / "set" / "manifest.json").read_text("utf-8"))
    groups = manifest["source_texts"]
    assert not set(groups["train"]) & set(groups["test"]) and len(groups["train"] + groups["test"]) == 9
    assert manifest["answers"] == {f'{part} {{"score":"{c}"}}': n for part, n in (("train", 5), ("test", 4)) for c in "AB"}
    few = cli(*asked, "--split", "0.4", "--examples", "2", "--out", tmp_path / "few")
    assert few.code == 0 and chats(tmp_path / "few" / "train.jsonl") == train[:2]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--question", "recognition"), "recognition needs the system that the tuned model is"),
        (("--question", "longest"), "no question 'longest'"),
        (("--question", "longer", "--system", "openai/m-1"), "--system is for recognition"),
        (("--question", "vowels", "--langs", "ja"), "ja"),
        (("--question", "longer", "--langs", "cs"), "no pair has an answer"),  # all texts have the same number of words
    ],
)
def test_a_set_that_cannot_be_made_is_refused(cli: Cli, own_texts: Path, tmp_path: Path, arguments: tuple[str, ...], sentence: str) -> None:
    done = cli("study", "export-finetuning", "--data", own_texts, *arguments, "--out", tmp_path / "set")
    assert done.code == 2 and sentence in done.err and not (tmp_path / "set").exists()
