"""Our question inside other programs: what they wrote with it is what our own prompts and parser say."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import harness
from harness.errors import ContentError, UsageError
from harness.exchange.judges.instrument import Instrument, InstrumentSpec
from harness.exchange.judges.promptfoo_judge import get_assert
from harness.exchange.scores.score_import import import_scores
from harness.exchange.scores.score_options import ScoreImportOptions
from harness.judges import NoReply
from harness.model import JudgeIdentity, Message, Reply
from harness.runs import RunSpec, prepare
from harness.signature import QuestionSignature
from tests.conftest import write_rows

FILES = Path(__file__).parents[1] / "files"
ACCEPTABILITY = InstrumentSpec(metric="linguistic_acceptability", task="open_prompt")
SCORES = {"ja-1": 2, "ja-2": "not_json", "cs-1": 2, "cs-2": "refused", "cs-3": "off_scale"}
TEXTS = {"output": "Děkujeme Vám.", "prompt": "Napiš poděkování."}


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("HARNESS_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="module")
def instrument(cache: Path) -> Instrument:
    return Instrument(ACCEPTABILITY)


def samples() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((FILES / "ours-inspect.json").read_text("utf-8"))["samples"]
    assert len(found) == 10
    return found


def about(identity: JudgeIdentity, stated: str, instrument: Instrument, language: str) -> None:
    """The signature that a program kept says what ours says, but for the code that worded the prompt and its version."""
    theirs, ours = QuestionSignature.parse(stated), instrument.signature(identity, language)
    assert msgspec.structs.replace(theirs, prompts="", harness="") == msgspec.structs.replace(ours, prompts="", harness="")


def test_inspect_showed_the_judge_our_prompt_and_our_parser_read_its_replies(instrument: Instrument) -> None:
    for sample in samples():
        score = sample["scores"]["judge"]
        own = score["metadata"]["harness"]
        identity = JudgeIdentity("openai-api", "local/tester-2024-01-01", {"asked_by": "inspect_ai-0.3.285"})
        output = sample["output"]["completion"]
        item = instrument.item(sample["id"], sample["metadata"]["language"], sample["metadata"], output, sample["input"])
        call = instrument.call(item, identity, sample["epoch"] - 1)
        *shown, reply = score["metadata"]["grading"]
        assert [Message(message["role"], message["content"]) for message in shown] == list(call.prompt.messages)
        assert own["call_id"] == call.call_id
        about(identity, own["signature"], instrument, item.language)
        judgment = instrument.read(call, Reply(reply["content"], "m", finish_reason="stop"), identity)
        assert (judgment.score or judgment.failure) == SCORES[sample["id"]] == (own["score"] or own["failure"])
        assert score["value"] == judgment.score or (math.isnan(score["value"]) and judgment.failure)
        assert score.get("explanation") == (judgment.justification if judgment.score else reply["content"])


def test_promptfoo_kept_what_our_parser_said_of_the_reply(instrument: Instrument) -> None:
    identity = JudgeIdentity("openai", "tester-2024-01-01", {"endpoint": "127.0.0.1"})
    results = [json.loads(line) for line in (FILES / "ours-promptfoo.jsonl").read_text("utf-8").splitlines()]
    assert {result["vars"]["item_id"] for result in results} == SCORES.keys()
    for result in results:
        [component] = result["gradingResult"]["componentResults"]
        own, given = component["metadata"]["harness"], result["vars"]
        call = instrument.call(instrument.item(given["item_id"], given["language"], given, result["response"]["output"]), identity)
        judgment = instrument.read(call, Reply(own["reply"], "m", finish_reason=own["finish_reason"]), identity)
        assert own["call_id"] == call.call_id
        about(identity, own["signature"], instrument, judgment.language)
        assert (judgment.score or judgment.failure) == SCORES[given["item_id"]] == (own["score"] or own["failure"])
        assert component["pass"] is (judgment.score == 2) and component["score"] == (judgment.score or 0)
        assert component["metadata"].get("graderError", False) is (judgment.score is None)


def test_a_call_is_the_one_that_a_run_makes(instrument: Instrument, tmp_path: Path) -> None:
    item = {"item_id": "a", "language": "cs", "task": "open_prompt", **TEXTS}
    write_rows(tmp_path / "items.jsonl", [item])
    write_rows(tmp_path / "labels.jsonl", [{"item_id": "a", "annotator_id": "1", "metric": "linguistic_acceptability", "score": 2}])
    identity = JudgeIdentity("openai", "m")
    run = prepare(RunSpec(data=tmp_path, judges=("openai/m",), repeats=2)).plan(None)
    own = instrument.item("other id", "Czech", TEXTS, TEXTS["output"])
    for repeat, call in enumerate(run.calls(identity)):
        same = instrument.call(own, identity, repeat)
        assert (same.call_id, same.prompt, same.seed) == (call.call_id, call.prompt, call.seed)


def test_a_template_is_rendered_once_for_all_processes(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    identity, first = JudgeIdentity("openai", "m"), Instrument(ACCEPTABILITY)
    item = first.item("a", "cs", TEXTS, TEXTS["output"])
    prompt = first.call(item, identity).prompt
    assert len(list((cache / "templates").iterdir())) >= 1
    monkeypatch.setattr("harness.prompts.templates.render_template", lambda spec: pytest.fail("rendered again"))
    assert Instrument(ACCEPTABILITY).call(item, identity).prompt == prompt


def test_texts_are_taken_by_name_and_the_first_missing_one_is_what_the_model_was_given(instrument: Instrument) -> None:
    item = instrument.item("a", "cs", {"output": "not this", "other": "x"}, "Děkujeme.", "Napiš poděkování.")
    assert item.fields == {"prompt": "Napiš poděkování.", "output": "Děkujeme."}
    with pytest.raises(UsageError, match="needs the text 'prompt', and it is empty or not given"):
        instrument.item("a", "cs", {}, "Děkujeme.")
    with pytest.raises(UsageError, match="needs the text 'output'"):
        instrument.item("a", "cs", {"prompt": "Napiš."}, " ")
    with pytest.raises(UsageError, match="'Česky' is no language; give a tag such as 'ja'"):
        instrument.item("a", "Česky", TEXTS, "Děkujeme.")


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ({"metric": "fluency"}, r"no rubric 'fluency'.*choose from: 5W1H"),
        ({}, "name the metric, or a prompt file that names it"),
        ({"metric": "linguistic_acceptability"}, "several tasks ask about 'linguistic_acceptability'.*answer_question, continue_writing"),
        ({"metric": "likability", "task": "rate"}, "no task 'rate'"),
        ({"metric": "likability", "variant": "joint"}, "a joint call asks about several metrics"),
        ({"metric": "likability", "variant": "few-shot"}, "examples come from the labelled items of a run"),
        ({"metric": "likability", "variant": "probabilities"}, "do not hand on the probabilities"),
        ({"metric": "likability", "variant": "nice"}, "unknown variant 'nice'"),
        ({"metric": "likability", "variant": "prompt:a@12345678"}, "name the file of the prompt instead"),
    ],
)
def test_what_cannot_be_asked_is_refused(spec: dict[str, str], sentence: str) -> None:
    with pytest.raises(UsageError, match=f"(?s){sentence}"):
        Instrument(InstrumentSpec(**spec))


def test_instructions_that_nobody_reviewed_need_consent() -> None:
    own = {"metric": "linguistic_acceptability", "task": "open_prompt", "variant": "own-language"}
    asked = Instrument(InstrumentSpec(**own))
    item = asked.item("a", "cs", TEXTS, TEXTS["output"])
    if not harness_library_reviewed("cs"):
        with pytest.raises(UsageError, match="no native reader has reviewed the instructions in 'cs'"):
            asked.call(item, JudgeIdentity("openai", "m"))
    allowed = Instrument(InstrumentSpec(**own, allow_unreviewed=True))
    assert "Otázka" in allowed.call(item, JudgeIdentity("openai", "m")).prompt.messages[-1].content
    assert allowed.signature(JudgeIdentity("openai", "m"), "cs").instructions[0].startswith("cs@")


def harness_library_reviewed(tag: str) -> bool:
    from harness.content import Library

    return bool(Library().instructions(tag).reviewed_by)


def test_a_prompt_of_ones_own_is_asked_and_read_by_its_rule(tmp_path: Path) -> None:
    prompt = tmp_path / "kind.toml"
    prompt.write_text(
        'metric = "kindness"\nread = "regex:GRADE: ([YN])"\n[map]\nY = 1\nN = 0\n[scale]\nkind = "ordinal"\nclasses = [0, 1]\nbest = 1\n'
        '[[message]]\nrole = "user"\ntext = "Is this {{language}} text kind? {{output}} It answers: {{question}}"\n',
        "utf-8",
    )
    own = Instrument(InstrumentSpec(prompt=prompt))
    item, identity = own.item("a", "cs", {"question": "{{output}}?"}, "Díky {0} {{language}}"), JudgeIdentity("openai", "m")
    call = own.call(item, identity)
    assert [m.content for m in call.prompt.messages] == ["Is this Czech text kind? Díky {0} {{language}} It answers: {{output}}?"]
    assert own.read(call, Reply("Well. GRADE: Y", "m"), identity).score == 1
    assert own.read(call, Reply("Well.", "m"), identity).failure == "not_json"
    signature = own.signature(identity, "cs")
    assert signature.tasks == signature.rubrics == () and signature.conditions[0].startswith("prompt:kind@")
    assert QuestionSignature.parse(str(signature)) == signature
    prompt.write_text(
        prompt.read_text("utf-8").replace("[scale]", "[was]").split("[was]")[0] + "[[message]]\nrole='user'\ntext='{{output}}'\n"
    )
    with pytest.raises(UsageError, match="does not state the scale of 'kindness'"):
        Instrument(InstrumentSpec(prompt=prompt))


def asserted(output: str = TEXTS["output"], **config: Any) -> dict[str, Any]:
    settings = {"metric": "linguistic_acceptability", "task": "open_prompt"} | config
    return get_assert(output, {"config": settings, "vars": {"language": "Czech", "item_id": "a"}, "prompt": TEXTS["prompt"], "test": {}})


def test_an_assertion_asks_any_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(harness.__file__).parents[1] / "docs" / "own")
    found = asserted("Děkujeme Vám velmi pěkně za spolupráci.", judge="python:five_lines:score")
    assert (found["pass"], found["score"]) == (True, 1)
    assert found["metadata"]["harness"]["judge"] == "python/five_lines:score" and "graderError" not in found["metadata"]


def test_scores_of_our_judge_come_back_with_task_and_texts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """From the assertion to the data folder: another run can ask about the imported items at once."""
    monkeypatch.syspath_prepend(Path(harness.__file__).parents[1] / "docs" / "own")
    component = asserted("Děkujeme Vám.", judge="python:five_lines:score")
    result = {"promptIdx": 0, "vars": {"item_id": "a", "language": "Czech"}, "provider": {"id": "echo"}, "response": {"output": "x"}}
    component |= {"assertion": {"type": "python"}}
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps(result | {"gradingResult": {"componentResults": [component]}}), "utf-8")
    summary = import_scores([path], tmp_path / "data", ScoreImportOptions())
    [item] = [json.loads(line) for line in (summary.folder / "items.jsonl").read_text("utf-8").splitlines()]
    texts = {"prompt": TEXTS["prompt"], "output": "Děkujeme Vám."}
    assert item == {"item_id": "a", "language": "cs", "task": "open_prompt", **texts}
    del component["metadata"]["harness"]["texts"]
    path.write_text(json.dumps(result | {"gradingResult": {"componentResults": [component]}}), "utf-8")
    with pytest.raises(ContentError, match=r"results\.jsonl:1"):
        import_scores([path], tmp_path / "again", ScoreImportOptions())


class Busy:
    """Has no reply at first."""

    identity, endpoint, concurrency = JudgeIdentity("openai", "busy"), None, 1

    def __init__(self, losses: int) -> None:
        self.losses = losses
        self.stopped = False

    async def start(self, calls: Any) -> None: ...

    async def stop(self) -> None:
        self.stopped = True

    async def answer(self, call: Any) -> Reply:
        self.losses -= 1
        if self.losses >= 0:
            raise NoReply("busy", retry_after=0.0)
        return Reply('{"justification": "Fine.", "score": 2}', "busy")


def test_a_lost_connection_is_tried_again_and_is_no_score_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    judges = [Busy(3), Busy(4)]
    waiting = iter(judges)
    monkeypatch.setattr("harness.exchange.judges.promptfoo_judge.open_judge", lambda name, options: next(waiting))
    assert asserted(judge="openai/busy")["score"] == 2
    lost = asserted(judge="openai/busy")
    assert (lost["pass"], lost["score"], lost["metadata"]) == (False, 0, {"graderError": True})
    assert lost["reason"] == "no score: no reply after 4 attempts: busy"
    assert all(judge.stopped for judge in judges)


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({}, "the config of the assertion is wrong: .*missing required field `judge`"),
        ({"judge": "openai/m", "metrics": "x"}, "the config of the assertion is wrong: .*unknown field `metrics`"),
        ({"judge": "m"}, "judge 'm' has no kind"),
        ({"judge": "openai/m", "language": "vars.lang"}, r"(?s)nothing at 'vars.lang'.*Did you mean 'vars.language'"),
        ({"judge": "openai/m", "language": "jp"}, "'jp' is no language"),
        ({"judge": "openai/m", "base_url": "ftp://x"}, "not a web address"),
    ],
)
def test_a_wrong_assertion_says_so_in_promptfoo_and_has_no_score(config: dict[str, Any], sentence: str) -> None:
    found = asserted(**config)
    assert not found["pass"] and found["score"] == 0 and found["metadata"] == {"graderError": True}
    assert re.search(sentence, found["reason"])


def test_only_one_module_imports_inspect() -> None:
    root = Path(harness.__file__).parent
    imported = re.compile(r"^\s*(?:from|import) inspect_ai", re.MULTILINE)
    assert {path.stem for path in root.rglob("*.py") if imported.search(path.read_text("utf-8"))} == {"inspect_scorer"}
