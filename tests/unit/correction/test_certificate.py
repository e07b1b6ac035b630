"""Certificates: made, written, read again, applied to new scores, and refused where they are stale, forbidden or damaged."""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from harness import certificate
from harness.correction.certificate import Certificate
from harness.correction.certified_cell import AcceptedScores, CorrectedMean
from harness.correction.certify import NOT_RANDOM, certify
from harness.correction.correct import correct
from harness.correction.correction_options import CorrectOptions
from harness.correction.staleness import staleness
from harness.errors import CertificateError, ContentError, StaleCertificate, UsageError, UseForbidden
from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions
from harness.model import JudgeIdentity, Scale
from harness.row_files import to_json
from harness.stats import prediction_powered_mean
from tests.conftest import write_rows
from tests.growth import assert_grows_linearly
from tests.judged_folder import judged_folder
from tests.unit.decide.truths import scores_of

Record = Callable[..., Recording]
Use = dict[str, Any]
USE: Use = {"language": "ja", "metric": "tone", "judge": "model/one"}
DOCS = Path(__file__).resolve().parents[3] / "docs"


@pytest.fixture
def source(recorded: Record) -> Recording:
    return recorded(prompts=200, probabilities=True)


@pytest.fixture
def held(source: Recording, tmp_path: Path) -> Certificate:
    """A certificate that was written and read again."""
    path = tmp_path / "certificate.json"
    path.write_text(to_json(certify(source, MeasureOptions())))
    return certificate.load(path)


def corrected(held: Certificate, scores: Any, **options: Any) -> CorrectedMean:
    found = held.apply(scores, **(USE | options))
    assert isinstance(found, CorrectedMean)
    return found


def test_the_file_says_what_was_certified_and_is_the_same_every_time(source: Recording, held: Certificate) -> None:
    assert held == certify(source, MeasureOptions())
    assert [cell.metric for cell in held.cells] == ["errors", "tone"]
    assert held.judge.name == "model/one" and held.judge.settings is held.prompt is None
    assert held.unchecked == ("prompt", "rubric", "settings of the judge")
    assert held.data.sha256 == source.data.sha256 and held.data.sampling == "random" and held.data.labelled_from is None
    cell = held.cell("ja", "tone")
    assert cell.verdict in ("use", "use corrected") and cell.annotators == 3 and cell.values == (0.0, 1.0, 2.0)
    assert sum(map(sum, cell.confusion)) <= cell.n
    assert [correction.share_of for correction in cell.corrections] == [None, 0, 1, 2]
    assert cell.acceptance and cell.acceptance.threshold and cell.acceptance.confidence == "probability"


def test_applied_to_the_unlabelled_items_it_is_the_corrected_number(source: Recording, held: Certificate) -> None:
    y, f, group = scores_of(source, "tone", None)
    new = np.isnan(y)
    found = corrected(held, f[new], groups=group[new])
    whole = prediction_powered_mean(y, f, group, lam=found.lam)
    assert found.estimate == pytest.approx(whole.value) and found.error == pytest.approx(whole.error)
    assert found.interval == pytest.approx((whole.interval.lo, whole.interval.hi))
    [number] = correct([source], MeasureOptions(where={"metric": ("tone",)}), CorrectOptions(by=())).numbers
    assert found.estimate == pytest.approx(number.corrected.value, abs=0.02)
    assert (found.labels, found.scores, found.unchecked) == (int((~new).sum()), int(new.sum()), held.unchecked)


def test_on_groups_of_different_size_it_is_what_correct_gives(recorded: Record) -> None:
    """Every third prompt is in one of ten large groups; new texts are those of groups without a label."""
    own = recorded(prompts=400, labelled=0.5, fields=lambda number, system, rng: {"group": f"p{number if number % 3 else number % 30}"})
    held, groups = certify(own, MeasureOptions(where={"metric": ("tone",)})), {item.item_id: item.group for item in own.data.items}
    labelled = {groups[item] for item in own.data.labelled_metrics}
    whole = {item for item, group in groups.items() if item in own.data.labelled_metrics or group not in labelled}
    data = own.data.only(item for item in own.data.items if item.item_id in whole)
    source = msgspec.structs.replace(own, data=data, judgments=own.judgments.for_items(data.by_id))
    y, f, group = scores_of(source, "tone", None)
    new = np.isnan(y)
    assert not set(group[new]) & set(group[~new]) and len(np.unique(np.unique(group[~new], return_counts=True)[1])) > 1
    for share_of, options in ((None, CorrectOptions(by=())), (2, CorrectOptions(by=(), share_of="2"))):
        found = corrected(held, f[new], groups=group[new], share_of=share_of)
        [number] = correct([source], MeasureOptions(where={"metric": ("tone",)}), options).numbers
        assert (found.estimate, *(found.interval or ())) == pytest.approx((number.corrected.value, *(number.corrected.ci or ())), abs=1e-9)
        assert (found.lam, found.effective_labels) == pytest.approx((number.lam, number.effective_labels), abs=1e-9)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sizes": [0.0]}, "above 0"),
        ({"times": [3]}, "are not of"),
        ({"sizes": [7.0]}, "do not add up"),
        ({"within": [1.0, 9.0, 1.0]}, "no sums of squares"),
        ({"between": [-1.0, 0.0, 1.0]}, "no sums of squares"),
    ],
    ids=str,
)
def test_an_impossible_spread_is_refused(held: Certificate, tmp_path: Path, change: dict[str, Any], words: str) -> None:
    content, path = json.loads(to_json(held)), tmp_path / "spoilt.json"
    content["cells"][0]["corrections"][0]["spread"].update(change)
    path.write_text(json.dumps(content))
    with pytest.raises(ContentError, match=words):
        certificate.load(path)


def test_shares_of_classes_sum_to_one_where_the_judge_has_one_weight(held: Certificate) -> None:
    scores = [0, 1, 2, 2, 1] * 40
    shares = [corrected(held, scores, share_of=score) for score in (0, 1, 2)]
    assert sum(share.estimate or 0.0 for share in shares) == pytest.approx(1, abs=0.05)
    assert all(share.interval and 0 <= share.interval[0] <= share.interval[1] <= 1 for share in shares)


def test_failures_count_as_the_value_that_the_certificate_states(held: Certificate) -> None:
    value = held.cell("ja", "tone").corrections[0].failure_value
    with_gap, filled = corrected(held, [0, 1, 2, None] * 20), corrected(held, [0.0, 1.0, 2.0, math.nan] * 20)
    assert with_gap.estimate == filled.estimate and with_gap.judge_only == 1.0
    assert value == pytest.approx(held.cell("ja", "tone").corrections[0].mean_judge)


def test_confidence_says_which_scores_are_accepted(held: Certificate) -> None:
    threshold = held.cell("ja", "tone").acceptance
    assert threshold and threshold.threshold
    sure = [threshold.threshold, threshold.threshold - 1e-9, 1.0, math.nan, 1.0]
    found = held.apply([0, 1, 2, 0, None], **USE, confidence=sure)
    assert isinstance(found, AcceptedScores)
    assert found.accepted.tolist() == [True, False, True, False, False] and found.agreement_lower == threshold.agreement_lower


def test_nothing_certified_accepts_nothing(recorded: Record) -> None:
    held = certify(recorded(prompts=200), MeasureOptions())
    found = held.apply([0, 1], **USE, confidence=[1.0, 1.0])
    assert isinstance(found, AcceptedScores) and not found.accepted.any()
    assert found.threshold is None and "no confidence" in (found.reason or "")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"judge": "model/two"}, "the judge is 'model/two', and the certificate is of 'model/one'"),
        ({"language": "cs"}, "nothing on cs/tone"),
        ({"metric": "tones"}, "nothing on ja/tones"),
        ({"scale": Scale(kind="ordinal", classes=(1, 2, 3), best=3)}, "the scale of 'tone' is 1, 2, 3, in the certificate 0, 1, 2"),
    ],
    ids=str,
)
def test_what_differs_is_stale(held: Certificate, change: Use, words: str) -> None:
    with pytest.raises(StaleCertificate, match=words):
        held.apply([0, 1, 2], **(USE | change))


@pytest.mark.parametrize("scores", [[0, 3], np.array([0.5, 1.0]), ["0", "1"], np.array([math.inf, 1.0]), [0, "x"]], ids=str)
def test_scores_off_the_scale_are_stale(held: Certificate, scores: Any) -> None:
    with pytest.raises(StaleCertificate, match="off the scale of 'tone' in the certificate"):
        held.apply(scores, **USE)


def test_prompt_rubric_and_settings_are_compared_where_they_are_known(held: Certificate) -> None:
    cells = tuple(msgspec.structs.replace(cell, rubric="1.0.0+abc") for cell in held.cells)
    judge = msgspec.structs.replace(held.judge, settings={"seed": 1})
    run = msgspec.structs.replace(held, prompt="f00d", cells=cells, judge=judge)
    right: Use = USE | {"judge": JudgeIdentity("model", "one", {"seed": 1}), "prompt": "f00d", "rubric": "1.0.0+abc"}
    found = run.apply([0, 1, 2], **right)
    assert found.unchecked == ()
    for change, words in [
        ({"prompt": "beef"}, "the prompt is beef, and the certificate holds for f00d"),
        ({"rubric": "2.0.0+abc"}, "the rubric is 2.0.0"),
        ({"judge": JudgeIdentity("model", "one", {"seed": 2})}, "the settings of 'model/one' differ from the certificate's in seed"),
    ]:
        with pytest.raises(StaleCertificate, match=words):
            run.apply([0, 1, 2], **(right | change))
    with pytest.raises(CertificateError, match="pass prompt=: the certificate holds for prompt f00d only"):
        run.apply([0, 1, 2], **(right | {"prompt": None}))


@pytest.mark.parametrize("verdict", ["do not use", "too few labels", "no verdict"])
def test_a_verdict_can_forbid_every_use(held: Certificate, verdict: Any) -> None:
    forbidden = msgspec.structs.replace(held, cells=tuple(msgspec.structs.replace(cell, verdict=verdict) for cell in held.cells))
    for options in ({}, {"confidence": [1.0, 1.0]}):
        with pytest.raises(UseForbidden, match=f"verdict on ja/tone is '{verdict}'"):
            forbidden.apply([0, 1], **(USE | options))


def test_without_a_random_sample_there_is_no_correction(recorded: Record) -> None:
    made = certify(recorded(prompts=200, sampling="convenience", noise=0.0), MeasureOptions())
    cell = made.cell("ja", "tone")
    assert (cell.corrections, cell.correction_reason, cell.acceptance, cell.acceptance_reason) == ((), NOT_RANDOM, None, NOT_RANDOM)
    allowed = msgspec.structs.replace(made, cells=(msgspec.structs.replace(cell, verdict="use"),))
    with pytest.raises(UseForbidden, match="no correction for ja/tone: the labelled texts are not declared to be a random sample"):
        allowed.apply([0, 1], **USE)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scores": [[0, 1]]}, "of one dimension"),
        ({"groups": [1]}, "groups has shape"),
        ({"confidence": [1.0]}, "give one confidence a score"),
        ({"share_of": 9}, "'9' is no class of ja/tone; its classes are 0, 1, 2"),
    ],
    ids=str,
)
def test_arrays_that_do_not_fit_are_refused(held: Certificate, options: Use, words: str) -> None:
    scores = options.pop("scores", [0, 1])
    with pytest.raises(UsageError, match=words):
        held.apply(scores, **USE, **options)


def test_one_new_score_is_too_few(held: Certificate) -> None:
    found = corrected(held, [1])
    assert (found.estimate, found.interval, found.reason) == (None, None, "fewer than two independent scores")
    assert corrected(held, []).reason == "fewer than two independent scores"


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda text: text[: len(text) // 2], "not a whole JSON file"),
        (lambda text: "not JSON", "not a whole JSON file"),
        (lambda text: "[]", "not a certificate"),
        (lambda text: "{}", "not a certificate: Object missing required field `schema_version`"),
        (lambda text: '{"schema_version": 5}', "not a certificate: Object missing required field"),
        (lambda text: text.replace('"schema_version": 5', '"schema_version": 7'), "schema version 7; this program reads version 5 only"),
        (lambda text: text.replace('"schema_version": 5', '"schema_version": 1'), "schema version 1; this program reads version 5 only"),
        (lambda text: text.replace('"groups": ', '"groups": 1, "groups": ', 1), "'groups' stands twice in one object"),
        (lambda text: text.replace('"groups": ', '"grouped": 1, "groups": ', 1), "grouped' is no field of it"),
        (lambda text: text.replace('"n": ', '"n": "7", "m": ', 1), "Expected `int`, got `str`"),
        (lambda text: text.replace('"delta": 0.1', '"delta": NaN'), "not a"),
        (lambda text: text.replace('"length": false,', ""), "its field 'options.length' is absent"),
        (lambda text: text.replace('"sampling": "random"', '"sampling": "whole"'), "changed after it was written"),
        (lambda text: text.replace('"variance_label": 0', '"variance_label": -0'), "no variances"),
        (lambda text: text.replace('"alpha": 0.05', '"alpha": 5'), "alpha is 5"),
        (lambda text: text.replace('"verdict": "use', '"verdict": "always use'), "Invalid enum value"),
        (lambda text: text.replace('"language": "ja"', '"language": "not a tag!"'), "not a certificate"),
        (lambda text: text.replace('"confusion": [', '"confusion": [[1],', 1), "are not of 2 classes"),
        (lambda text: text.replace('"values": [', '"values": [7.5,', 1), "and values of 3"),
        (lambda text: "[" * 100_000, "not a"),
    ],
    ids=[
        "truncated",
        "text",
        "list",
        "empty",
        "only a version",
        "version 7",
        "version 1",
        "a field twice",
        "another field",
        "a number as text",
        "no number",
        "without a field",
        "edited",
        "negative variance",
        "threshold",
        "verdict",
        "language",
        "confusion",
        "values",
        "deep",
    ],
)
def test_a_damaged_certificate_is_a_sentence_with_the_next_step(
    held: Certificate, tmp_path: Path, spoil: Callable[[str], str], words: str
) -> None:
    path = tmp_path / "spoilt.json"
    path.write_text(spoil(to_json(held)))
    with pytest.raises(ContentError, match=words) as caught:
        certificate.load(path)
    assert "'harness certify'" in str(caught.value) and str(path) in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ContentError, match="cannot be read"):
        certificate.load(tmp_path / "none.json")


def test_two_judges_need_a_choice(recorded: Record) -> None:
    both = recorded(judge="model/one"), recorded(judge="model/two")
    judgments = type(both[0].judgments).concatenate([source.judgments for source in both])
    source = msgspec.structs.replace(both[0], judgments=judgments)
    with pytest.raises(UsageError, match=r"of one judge, and there are 2; name one with --judge: model/one, model/two"):
        certify(source, MeasureOptions())
    assert certify(source, MeasureOptions(judges=("model/two",))).judge.name == "model/two"


def test_what_is_stale_is_said(source: Recording, held: Certificate, recorded: Record) -> None:
    assert staleness(held, source) == ()
    other = recorded(prompts=200, probabilities=True, judge="model/two", seed=1, sampling="convenience")
    reasons = " / ".join(staleness(held, other))
    for words in ("the judge 'model/one' is not in", "items or labels have changed", "sampling is 'convenience'"):
        assert words in reasons
    scales = source.data.scales | {"tone": Scale(kind="ordinal", classes=(0, 1, 2, 3), best=3)}
    changed = msgspec.structs.replace(source, data=msgspec.structs.replace(source.data, scales=scales))
    assert any("the scale of 'tone' is 0, 1, 2, 3" in reason for reason in staleness(held, changed))


def test_weights_reach_the_certificate(recorded: Record) -> None:
    plain = recorded(prompts=200)
    weighted = recorded(prompts=200, fields=lambda number, system, rng: {"inclusion_probability": 0.9 if number % 2 else 0.3})
    one, other = (certify(each, MeasureOptions()).cell("ja", "tone").corrections[0] for each in (plain, weighted))
    assert one.n == other.n and one.mean_label != other.mean_label and other.variance_label > one.variance_label


def test_a_nominal_scale_has_shares_and_no_mean(held: Certificate) -> None:
    cell = held.cell("ja", "tone")
    nominal = msgspec.structs.replace(cell, scale=Scale(kind="nominal", classes=("A", "B", "C")), classes=("A", "B", "C"), values=None)
    corrections = tuple(
        msgspec.structs.replace(each, share_of="ABC"[each.share_of]) for each in cell.corrections if isinstance(each.share_of, int)
    )
    own = msgspec.structs.replace(held, cells=(msgspec.structs.replace(nominal, corrections=corrections),))
    assert corrected(own, ["A", "B", None, "C"] * 9, share_of="A").judge_only == pytest.approx(1 / 3)
    with pytest.raises(UseForbidden, match="has no mean; pass share_of="):
        own.apply(["A", "B"], **USE)
    found = own.apply(["A", "B"], **USE, confidence=[1.0, 0.0])
    assert isinstance(found, AcceptedScores) and found.accepted.tolist() == [True, False]


@pytest.mark.parametrize("form", ["arrays", "lists", "confidence"])
def test_the_time_grows_with_the_scores(held: Certificate, form: str) -> None:
    def apply_to(count: int) -> None:
        scores = np.random.default_rng(0).integers(0, 3, count)
        if form == "lists":
            held.apply(scores.tolist(), **USE, groups=[f"p{number // 2}" for number in range(count)])
        elif form == "arrays":
            held.apply(scores, **USE, groups=np.arange(count) // 2)
        else:
            held.apply(scores, **USE, confidence=np.linspace(0, 1, count))

    assert_grows_linearly(apply_to, 400_000)


def test_the_schemas_in_the_documentation_are_those_of_the_code() -> None:
    spec = importlib.util.spec_from_file_location("make_certificate_schema", DOCS / "make_certificate_schema.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert len(module.PAGES) == 2
    for name, form in module.PAGES.items():
        assert module.schema(form) == (DOCS / name).read_text("utf-8")
    assert json.loads(module.schema(Certificate))["$defs"]["Certificate"]["properties"].keys() == set(Certificate.__struct_fields__)


class TestMadeAgain:
    """`certify --check` makes the certificate again from its source, so an edited file is found whatever was edited."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        return judged_folder(tmp_path / "made", prompts=200, repeats=3)

    @pytest.fixture
    def path(self, folder: Path, tmp_path: Path, cli: Callable[..., Any]) -> Path:
        assert cli("certify", folder, "--to", tmp_path / "c.json", "--majority", "strict", "--where", "language=ja").code == 0
        return tmp_path / "c.json"

    def edit(self, path: Path, change: Callable[[dict[str, Any]], object]) -> None:
        fields = json.loads(path.read_text("utf-8"))
        change(fields)
        path.write_text(json.dumps(fields), "utf-8")

    def test_what_was_not_touched_holds(self, folder: Path, path: Path, cli: Callable[..., Any]) -> None:
        done = cli("certify", folder, "--check", path)
        assert done.code == 0 and "still holds: all of it was made again and is the same." in done.out.splitlines()[0]
        assert [cell["metric"] for cell in json.loads(cli("certify", folder, "--check", path, "--json").out)["allowed"]] == [
            "errors",
            "tone",
        ]

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda c: c["cells"][0].update(verdict="use"), "the verdict on ja/errors is 'use' in the certificate, and 'use corrected'"),
            (lambda c: c["cells"][1]["corrections"][0].update(mean_label=1.9), "corrections.0.mean_label 1.9 instead of"),
            (lambda c: c["cells"][1]["corrections"][0].update(mean_label=99.0), "ja/tone is 99, which is not on its scale, 0 to 2"),
            (lambda c: c["cells"][1]["acceptance"].update(agreement_lower=2.0), "agreement_lower of the acceptance of ja/tone is 2"),
            (lambda c: c["cells"][1]["acceptance"].update(threshold=0.1), "acceptance.threshold 0.1 instead of"),
            (lambda c: c["cells"][1].update(sentence="Use it for all."), "sentence 'Use it for all.' instead of"),
            (lambda c: c["cells"].pop(), "ja/tone is not in the certificate, and the source has numbers for it"),
            (lambda c: c["judge"].update(temperature=0.7), "certified with temperature '0.7', which is not in made"),
            (lambda c: c["judge"].update(top_p=0.5), "certified with top_p '0.5', which is not in made"),
            (lambda c: c["judge"].update(variant="joint"), "certified with variant 'joint', which is not in made"),
            (lambda c: c["judge"].update(judgments="0" * 64), "the judge's scores have changed"),
            (lambda c: c["thresholds"].update(gain=1.0), "the signature is not that of the numbers"),
            (lambda c: c["options"].update(majority="drop"), "when it is made again"),
            (lambda c: c["data"].update(annotators="aggregate"), "the labels are said to be of made 0 aggregate"),
        ],
    )
    def test_an_edit_is_found(
        self, folder: Path, path: Path, cli: Callable[..., Any], change: Callable[[dict[str, Any]], object], words: str
    ) -> None:
        self.edit(path, change)
        done = cli("certify", folder, "--check", path)
        assert done.code == 1 and words in " ".join(done.out.split()) and "nothing is stale" not in done.out

    def test_other_scores_of_the_judge_are_found_and_another_judges_do_not_matter(
        self, folder: Path, path: Path, cli: Callable[..., Any]
    ) -> None:
        file = folder / "judgments.jsonl"
        rows = [json.loads(row) for row in file.read_text("utf-8").splitlines()]
        write_rows(file, [*rows, *({**row, "judge": "model/two", "score": 0} for row in rows)])
        assert cli("certify", folder, "--check", path).code == 0
        write_rows(file, [*rows[:-1], rows[-1] | {"score": 1 - min(rows[-1]["score"], 1)}])
        labelled = {json.loads(row)["item_id"] for row in (folder / "labels.jsonl").read_text("utf-8").splitlines()}
        last = max(number for number, row in enumerate(rows) if row["item_id"] in labelled and row["metric"] == "errors")
        write_rows(file, [row | {"score": 1 - row["score"]} if number == last else row for number, row in enumerate(rows)])
        done = cli("certify", folder, "--check", path)
        assert done.code == 1 and "the judge's scores have changed" in done.out

    def test_the_order_of_rows_does_not_matter(self, folder: Path, path: Path, cli: Callable[..., Any]) -> None:
        file = folder / "judgments.jsonl"
        file.write_text("".join(f"{row}\n" for row in file.read_text("utf-8").splitlines()[::-1]), "utf-8")
        assert cli("certify", folder, "--check", path).code == 0

    def test_impossible_numbers_are_refused_by_whoever_uses_them(self, path: Path, cli: Callable[..., Any]) -> None:
        self.edit(path, lambda c: c["cells"][1]["corrections"][0].update(mean_judge=-0.5))
        with pytest.raises(ContentError, match=r"mean_judge of the mean of ja/tone is -0\.5, which is not on its"):
            certificate.load(path)
        with pytest.raises(StaleCertificate, match="not on its scale"):
            certificate.read(path).apply([0, 1, 2], **USE)
        assert cli("certify", "--check", path).code == 1

    def test_the_condition_of_new_scores_is_compared_where_it_is_given(self, path: Path) -> None:
        held = certificate.load(path)
        assert isinstance(held.apply([0, 1, 2], **USE, variant="default"), CorrectedMean)
        for name, value in {"temperature": 0.7, "top_p": 0.5, "variant": "joint"}.items():
            with pytest.raises(StaleCertificate, match=f"the {name} is {value}"):
                held.apply([0, 1, 2], **(USE | {name: value}))

    def test_one_that_allows_nothing_says_so(self, tmp_path: Path, cli: Callable[..., Any]) -> None:
        folder = judged_folder(tmp_path / "few", prompts=12, labelled=1.0)
        written = cli("certify", folder, "--to", tmp_path / "c.json")
        assert written.code == 1 and (tmp_path / "c.json").is_file() and "It allows nothing" in written.out
        done = cli("certify", folder, "--check", tmp_path / "c.json")
        assert done.code == 1 and "It allows nothing" in done.out and certificate.load(tmp_path / "c.json").allowed == ()
        assert json.loads(cli("certify", folder, "--check", tmp_path / "c.json", "--json").out)["allowed"] == []
