"""Tables as other programs and people write them: the right labels come in, or a sentence says why not; nothing is wrong in silence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
from openpyxl.chart import BarChart, Reference

CHINESE = "商品签收后十四天内可以无理由退货，请保持包装完好"
KOREAN = "상품은 수령 후 14일 이내에 어느 우체국에서나 반품할 수 있습니다"
JAPANESE = "返品は商品到着後十四日以内に限り受け付けております"
TWI = "Wobɛtumi de adeɛ no asan aba wɔ nnafua dunan mu wɔ post office biara mu"
LONG = ("--task", "texts", "--text", "output=output", "--scale", "q=1..5:best=5")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lines_of(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


def long_table(name: str, texts: list[tuple[str, str]]) -> str:
    """Write two people's scores of (language, text) pairs and return the name of the file."""
    rows = [f"i{k},{who},q,{1 + (k + at) % 5},{tag},{text} {k}" for k, (tag, text) in enumerate(texts) for at, who in enumerate("ab")]
    Path(name).write_text("\n".join(["item_id,annotator_id,metric,score,language,output", *rows]) + "\n", encoding="utf-8")
    return name


# Languages


@pytest.mark.parametrize(
    ("tags", "text", "right"),
    [
        (["zh", "cmn", "zh-CN", "zh-Hans", "zh_hans_cn"], CHINESE, "zh"),
        (["de", "deu", "ger", "de-DE"], "Sie können das Paket innerhalb von vierzehn Tagen zurückgeben.", "de"),
        (["arb_Arab", "ar"], "يمكنكم إعادة الطرد خلال أربعة عشر يومًا في أي مكتب بريد", "ar"),
        (["Japanese", "日本語", "jpn", "jpn_Jpan"], JAPANESE, "ja"),
    ],
)
@pytest.mark.parametrize("command", ["labels import", "import"])
def test_names_and_codes_of_one_language_are_one(cli: Any, command: str, tags: list[str], text: str, right: str) -> None:
    long_table("t.csv", [(tag, text) for tag in tags * 3])
    done = cli(*command.split(), "t.csv", "--to", "d", *(LONG if command == "labels import" else LONG[-2:]))
    assert done.code == 0 and {row["language"] for row in lines_of("d/items.jsonl")} == {right}
    assert len(lines_of("d/labels.jsonl")) == 6 * len(tags)


def test_several_codes_of_one_language_are_said(cli: Any) -> None:
    long_table("t.csv", [(tag, CHINESE) for tag in ("cmn", "zh-CN", "zh")])
    done = cli("labels", "import", "t.csv", "--to", "d", *LONG)
    assert done.code == 0 and "'cmn', 'zh', 'zh-CN' are codes of one language, Chinese; the texts count as 'zh'" in done.err
    assert "language 'cmn' was read as 'zh'" in Path("d/data.toml").read_text("utf-8")
    Path("d/items.jsonl").write_text(Path("d/items.jsonl").read_text("utf-8").replace('"zh"', '"zh-CN"', 1), encoding="utf-8")
    assert "'zh', 'zh-CN' are codes of one language, Chinese, and are compared as several" in cli("labels", "check", "d").out


def test_varieties_of_a_language_stay_apart(cli: Any) -> None:
    long_table(
        "t.csv", [("pt-BR", "Você pode devolver a encomenda"), ("pt-PT", "Pode devolver a encomenda"), ("zh", CHINESE), ("zh-TW", CHINESE)]
    )
    assert cli("labels", "import", "t.csv", "--to", "d", *LONG).code == 0
    assert {row["language"] for row in lines_of("d/items.jsonl")} == {"pt-BR", "pt-PT", "zh", "zh-TW"}


def test_texts_added_to_a_folder_take_its_tag(cli: Any) -> None:
    long_table("a.csv", [("zh-CN", CHINESE)])
    rows = long_table("b.csv", [("zh", CHINESE)]) and Path("b.csv").read_text("utf-8").replace("i0", "k0")
    Path("b.csv").write_text(rows, encoding="utf-8")
    assert cli("labels", "import", "a.csv", "--to", "d", *LONG).code == 0
    assert cli("labels", "import", "b.csv", "--to", "d", "--append", *LONG).code == 0
    assert {row["language"] for row in lines_of("d/items.jsonl")} == {"zh-CN"}


def test_traditional_characters_are_no_cantonese(cli: Any) -> None:
    texts = [
        "商品簽收後十四天內可以無條件退貨，請保持包裝完整。",
        "發票會在每個月的第一個工作天以電子郵件寄給您。",
        "請妥善保存收據，因為保固需要它。",
    ]
    rows = [f"q{k},{texts[k % 2]} {k},{1 + k * 7 % 5},{1 + (k * k + 1) % 5}" for k in range(24)]
    Path("t.csv").write_text("\n".join(["id,text,A,B", *rows]), encoding="utf-8")
    assert cli("start", "t.csv", "--yes", "--metric", "q").code == 0
    assert {row["language"] for row in lines_of("t/items.jsonl")} == {"zh"}


@pytest.mark.parametrize(
    ("code", "text", "words"),
    [
        ("kr", KOREAN, "'kr' is the tag of Kanuri and the code of a country, and 12 of 12 texts look like Korean: write 'ko'"),
        ("tw", CHINESE, "'tw' is the tag of Twi and the code of a country, and 12 of 12 texts look like Chinese: write 'zh'"),
        ("se", "Du kan lämna tillbaka paketet inom fjorton dagar på vilket postkontor som helst", "look like Swedish: write 'sv'"),
        ("uk", "You can return the parcel within fourteen days at any post office", "look like English: write 'en'"),
    ],
)
@pytest.mark.parametrize("command", ["labels import", "import"])
def test_the_code_of_a_country_is_asked_about_where_its_language_is_read(cli: Any, command: str, code: str, text: str, words: str) -> None:
    long_table("t.csv", [(code, text)] * 12)
    done = cli(*command.split(), "t.csv", "--to", "d", *(LONG if command == "labels import" else LONG[-2:]))
    assert done.code == 2 and words in done.err and not Path("d").exists()


def test_a_tag_that_is_also_a_country_is_taken_where_its_language_is_read_or_the_user_says_it(cli: Any) -> None:
    long_table("t.csv", [("tw", TWI)] * 6 + [("uk", "Ви можете повернути посилку протягом чотирнадцяти днів у будь-якому відділенні")] * 6)
    assert cli("labels", "import", "t.csv", "--to", "d", *LONG).code == 0
    Path("k.csv").write_text(f"id,annotator,score,output\n1,a,2,{KOREAN}\n2,a,3,{KOREAN}!\n", encoding="utf-8")
    done = cli("labels", "import", "k.csv", "--to", "k", "--language", "kr", "--metric", "q", *LONG)
    assert done.code == 0 and "2 of 2 texts look like Korean: write 'ko'" in done.err


def test_a_name_in_a_further_language_is_explained(cli: Any) -> None:
    long_table("t.csv", [("japonais", JAPANESE)])
    done = cli("labels", "import", "t.csv", "--to", "d", *LONG)
    assert done.code == 1 and "'japonais' is not the tag of a language; if Japanese is meant, write 'ja'" in done.err


# Encodings

LETTERS = {
    "cp1250": ("pl", "Paczkę można zwrócić w ciągu czternastu dni w dowolnej placówce źle działa"),
    "cp1252": ("pt", "Você pode devolver a encomenda em até quatorze dias em qualquer agência não há problema"),
    "cp1254": ("tr", "Paketi on dört gün içinde herhangi bir postaneye iade edebilirsiniz çünkü şartlar değişmiştir"),
    "cp1257": ("lt", "Siuntą galite grąžinti per keturiolika dienų bet kuriame pašte jei išsaugojote čekį"),
    "cp1251": ("ru", "Вы можете вернуть посылку в течение четырнадцати дней в любом отделении"),
    "cp1253": ("el", "Μπορείτε να επιστρέψετε το δέμα εντός δεκατεσσάρων ημερών σε οποιοδήποτε κατάστημα"),
    "cp1256": ("ar", "يمكنكم إعادة الطرد خلال أربعة عشر يومًا في أي مكتب بريد، وترسل الفاتورة في أول يوم من كل شهر"),
    "mac_roman": ("es", "Puede devolver el paquete en catorce días en cualquier oficina de correos según el año"),
    "cp932": ("ja", "返品は商品到着後十四日以内に限り受け付けております。お早めにご連絡ください"),
}


@pytest.mark.parametrize(("encoding", "tag", "text"), [(name, *of) for name, of in LETTERS.items()], ids=LETTERS)
def test_letters_stay_as_they_are_in_the_encodings_of_office_programs(cli: Any, encoding: str, tag: str, text: str) -> None:
    rows = [f"q{k},{text} {k},{1 + k * 7 % 5},{1 + (k * k + 1) % 5}" for k in range(24)]
    Path("t.csv").write_bytes("\n".join(["id,text,A,B", *rows]).encode(encoding))
    done = cli("start", "t.csv", "--yes", "--metric", "q")
    assert done.code == 0, done.err
    assert lines_of("t/items.jsonl")[3] == {"item_id": "q3", "language": tag, "task": "texts", "text": f"{text} 3"}


# Exports of tools, lists, cells without an answer


def exported(*annotations: tuple[int, bool, dict[str, Any]]) -> None:
    made = [{"completed_by": who, "ground_truth": truth, "result": [result]} for who, truth, result in annotations]
    tasks = [{"id": k, "data": {"item_id": f"q{k}", "output": f"Text {k}"}, "annotations": made} for k in range(4)]
    Path("t.json").write_text(json.dumps(tasks), encoding="utf-8")


TONE_OK = {"type": "choices", "from_name": "tone", "value": {"choices": ["ok"]}}
TOOL = ("--language", "en", "--task", "texts", "--text", "output=output")


def test_a_reference_of_label_studio_is_no_further_person(cli: Any) -> None:
    exported((1, False, TONE_OK), (9, True, TONE_OK))
    done = cli("labels", "import", "t.json", "--to", "d", *TOOL, "--scale", "tone=ok,bad")
    assert done.code == 0 and "4 rows: 4 labels by 1 annotator" in done.err and "4 annotations of ground truth" in done.err


def test_a_person_some_of_whose_labels_became_the_reference_stays(cli: Any) -> None:
    exported((9, True, TONE_OK))
    assert cli("labels", "import", "t.json", "--to", "d", *TOOL, "--scale", "tone=ok,bad").code == 0
    assert len(lines_of("d/labels.jsonl")) == 4


def test_a_choice_between_two_texts_in_label_studio_is_a_label(cli: Any) -> None:
    exported((1, False, {"type": "pairwise", "from_name": "pw", "value": {"selected": "right"}}))
    done = cli("labels", "import", "t.json", "--to", "d", *TOOL, "--scale", "pw=left,right")
    assert done.code == 0 and [row["score"] for row in lines_of("d/labels.jsonl")] == ["right"] * 4


# Rankings as Argilla writes them now, as it did before, and as its server does.
SHAPES: dict[str, Callable[[list[str]], Any]] = {
    "words": list,
    "ranks": lambda order: [{"value": name, "rank": place} for place, name in enumerate(order, start=1)],
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("answers", ["ab", "abc"])
def test_a_ranking_of_argilla_becomes_preferences(cli: Any, shape: str, answers: str) -> None:
    orders = [list(answers), list(reversed(answers))]
    records = [
        {
            "id": f"r{k}",
            "fields": {"output": f"Text {k}"},
            "status": "completed",
            "responses": {"rank": [{"value": SHAPES[shape](order), "user_id": who} for who, order in zip("uv", orders, strict=True)]},
        }
        for k in range(3)
    ]
    Path("t.json").write_text(json.dumps(records), encoding="utf-8")
    done = cli("labels", "import", "t.json", "--to", "d", *TOOL)
    assert done.code == 0 and "rankings were read as which of two answers stands before the other one" in done.err, done.err
    rows = lines_of("d/labels.jsonl")
    pairs = ["rank"] if answers == "ab" else ["rank.a-b", "rank.a-c", "rank.b-c"]
    assert [row["metric"] for row in rows] == (pairs * 2) * 3
    first, second = rows[: len(pairs)], rows[len(pairs) : 2 * len(pairs)]
    names = [metric.removeprefix("rank").removeprefix(".") or "a-b" for metric in pairs]
    assert [row["score"] for row in first] == [name[0] for name in names] and [row["score"] for row in second] == [
        name[-1] for name in names
    ]
    assert cli("labels", "check", "d").code == 0


def test_equal_ranks_are_a_tie_and_several_labels_are_no_ranking(cli: Any) -> None:
    tie = [{"value": "a", "rank": 1}, {"value": "b", "rank": 1}]
    for value, code in ((tie, 0), (["toxic", "rude"], 1)):
        records = [{"id": "r", "fields": {"output": "Text"}, "responses": {"rank": [{"value": value, "user_id": "u"}]}}]
        Path("t.json").write_text(json.dumps(records), encoding="utf-8")
        done = cli("labels", "import", "t.json", "--to", f"d{code}", *TOOL, "--scale", "rank=a,b,tie")
        assert done.code == code
    assert [row["score"] for row in lines_of("d0/labels.jsonl")] == ["tie"] and "a list of 2 where one score should be" in done.err


@pytest.mark.parametrize("ranker", [["b", "a"], {"rank": ["b", "a"]}])
def test_a_ranker_of_label_studio_becomes_preferences(cli: Any, ranker: Any) -> None:
    exported((1, False, {"type": "ranker", "from_name": "order", "value": {"ranker": ranker}}))
    done = cli("labels", "import", "t.json", "--to", "d", *TOOL)
    assert done.code == 0 and [row["score"] for row in lines_of("d/labels.jsonl")] == ["b"] * 4, done.err


def test_a_list_of_one_is_its_label_and_a_longer_one_is_refused(cli: Any) -> None:
    flags = (*TOOL, "--metric", "tone", "--scale", "tone=formal,informal", "--annotator", "mia")
    rows = [{"id": k, "output": f"Text {k}", "label": [("formal", "informal")[k % 2]]} for k in range(6)]
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert cli("labels", "import", "t.jsonl", "--to", "d", *flags).code == 0
    assert [row["score"] for row in lines_of("d/labels.jsonl")] == ["formal", "informal"] * 3
    Path("t.jsonl").write_text(json.dumps(rows[0] | {"label": ["formal", "informal"]}) + "\n", encoding="utf-8")
    done = cli("labels", "import", "t.jsonl", "--to", "e", *flags)
    assert done.code == 1 and "a list of 2 where one score should be" in done.err and not Path("e").exists()


def test_cells_that_mean_no_answer_count_as_empty(cli: Any) -> None:
    cells = ["yes", "N/A", "no", "-", "nevím", "yes"]
    table = "\n".join(["id,annotator,metric,score", *(f"i{k},a,q,{cell}" for k, cell in enumerate(cells))])
    Path("t.csv").write_text(table + "\n", encoding="utf-8")
    flags = ("--language", "cs", "--task", "texts", "--scale", "q=yes,no")
    done = cli("labels", "import", "t.csv", "--to", "d", *flags)
    assert done.code == 1 and "'nevím': --no-answer N/A,-,nevím" in done.err.replace("'N/A,-,nevím'", "N/A,-,nevím")
    done = cli("labels", "import", "t.csv", "--to", "d", *flags, "--no-answer", "n/a,-,Nevím")
    assert done.code == 0 and "3 labels by 1 annotator" in done.err and "3 empty cells" in done.err and "refused" not in done.err


# Wrong rows, and people


def test_two_rows_are_not_one_item_by_their_joined_id(cli: Any) -> None:
    Path("t.csv").write_text("a,b,annotator,metric,score\n1,2-3,x,q,1\n1-2,3,y,q,2\n", encoding="utf-8")
    done = cli("labels", "import", "t.csv", "--to", "d", "--language", "en", "--task", "texts", "--id-from", "a,b", "--scale", "q=1..3")
    assert done.code == 1 and "t.csv:3: the item id '1-2-3' joins '1-2', '3' here and '1', '2-3'" in done.err and not Path("d").exists()


def test_a_source_that_cannot_be_is_refused(cli: Any) -> None:
    Path("t.csv").write_text("id,annotator,metric,score,native\n1,x,q,1,yes\n2,x,q,2,no\n", encoding="utf-8")
    flags = ("--language", "cs", "--task", "texts", "--scale", "q=1..3", "--column", "source=native")
    done = cli("labels", "import", "t.csv", "--to", "d", *flags)
    assert done.code == 1 and "'yes' is no source of a label" in done.err and not Path("d").exists()


def test_words_of_the_program_stay_where_a_person_has_their_name(cli: Any) -> None:
    rows = "".join(f"{k},{who},tone,9\n" for k, who in enumerate(("the", "scale", "one")))
    Path("t.csv").write_text(f"id,annotator,metric,score\n{rows}", encoding="utf-8")
    done = cli("labels", "import", "t.csv", "--to", "d", "--language", "en", "--task", "texts", "--scale", "tone=1..3")
    assert done.code == 1 and "'9' is not on the scale (1, 2, 3)" in done.err and "ann-" not in done.err


def test_a_table_of_two_languages_is_asked_about(cli: Any) -> None:
    czech = "Zboží můžete vrátit do čtrnácti dnů na kterékoli pobočce pošty"
    rows = [f"q{k},{(JAPANESE, czech)[k % 2]} {k},{1 + k * 7 % 5},{1 + (k * k + 1) % 5}" for k in range(24)]
    Path("t.csv").write_text("\n".join(["id,answer,jana,petr", *rows]), encoding="utf-8")
    done = cli("start", "t.csv", "--yes", "--metric", "q")
    assert done.code == 2 and "the texts look like several languages: ja (12 of 24), cs (12 of 24)" in done.err and not Path("t").exists()


@pytest.mark.parametrize(
    "texts", [{2: '"Text', 5: 'Text 5"'}, {0: '"', 7: '"'}, {3: 'Er sagte: "Ja"', 4: '"Nein'}, {1: '"A" und "B"', 6: 'C "'}]
)
@pytest.mark.parametrize("name", ["t.tsv", "t.tab", "t.csv"])
def test_quotation_marks_of_a_tsv_take_in_no_rows(cli: Any, texts: dict[int, str], name: str) -> None:
    rows = [f"{k}\t{texts.get(k, f'Text {k}')}\t{1 + k % 5}" for k in range(8)]
    Path(name).write_text("\n".join(["id\toutput\tscore", *rows]) + "\n", encoding="utf-8")
    done = cli("labels", "import", name, "--to", "d", *TOOL, "--metric", "q", "--scale", "q=1..5", "--annotator", "x")
    assert done.code == 0 and "quotation marks were read as part of the texts" in done.err
    assert [row["output"] for row in lines_of("d/items.jsonl")] == [texts.get(k, f"Text {k}") for k in range(8)]
    assert [row["score"] for row in lines_of("d/labels.jsonl")] == [1 + k % 5 for k in range(8)]


@pytest.mark.parametrize("rows", ['1\t"Text\t3\n2\tText"\n', '1\t"a\tb"\t3\n2\t"Text\t4\n'])
def test_a_tsv_that_fits_neither_with_quotation_marks_nor_without_is_refused(cli: Any, rows: str) -> None:
    Path("t.tsv").write_text("id\toutput\tscore\n" + rows, encoding="utf-8")
    done = cli("labels", "import", "t.tsv", "--to", "d", *TOOL, "--metric", "q", "--scale", "q=1..5", "--annotator", "x")
    assert done.code == 3 and "a quotation mark" in done.err and not Path("d").exists()


def test_a_judges_name_is_a_person_only_where_that_is_said(cli: Any) -> None:
    Path("t.csv").write_text("id,jana,gpt-4o\n1,1,2\n2,3,3\n", encoding="utf-8")
    flags = ("--language", "en", "--task", "texts", "--metric", "q", "--scale", "q=1..3", "--wide-annotators", "jana,gpt-4o")
    done = cli("labels", "import", "t.csv", "--to", "d", *flags)
    assert done.code == 2 and "--human 'gpt-4o'" in done.err and not Path("d").exists()
    assert cli("labels", "import", "t.csv", "--to", "d", *flags, "--human", "gpt-4o").code == 0
    assert len(lines_of("d/labels.jsonl")) == 4


def scored_by_two(scores: list[tuple[int, int]]) -> None:
    rows = [f"i{k},{who},q,{score}" for k, pair in enumerate(scores) for who, score in zip(("eva1", "eva2"), pair, strict=True)]
    Path("t.csv").write_text("\n".join(["id,annotator,metric,score", *rows]) + "\n", encoding="utf-8")


@pytest.mark.parametrize(("other", "said"), [(lambda k: 1 + k * 7 % 5, True), (lambda k: 1 + (k * 7 + (k == 9)) % 5, False)])
def test_two_annotators_with_equal_scores_are_probably_one_person(cli: Any, other: Any, said: bool) -> None:
    scored_by_two([(1 + k * 7 % 5, other(k)) for k in range(30)])
    flags = ("--language", "en", "--task", "texts", "--scale", "q=1..5:best=5", "--keep-annotators")
    assert cli("labels", "import", "t.csv", "--to", "d", *flags).code == 0
    assert ("probably one person under two names" in cli("labels", "check", "d").out) is said


# Several people in one cell

LISTS = {"fluency": [[4, 2, 2], [3, 2], [0, None, 4], [1, 1, 1]], "tone": [[1, 0, 1], [0, 1], [1, 1, 0], [0, 0, 1]]}
WORDS = [
    "The parcel can be returned within a fortnight.",
    "Reset the meter.",
    "Call the office.",
    "The invoice is sent by mail.",
]


def write_lists(name: str, lists: dict[str, list[Any]], written: Callable[[Any], Any]) -> None:
    rows = [{"words": text} | {metric: written(column[at]) for metric, column in lists.items()} for at, text in enumerate(WORDS)]
    if name.endswith(".parquet"):
        pd.DataFrame(rows).to_parquet(name)
    elif name.endswith(".csv"):
        pd.DataFrame(rows).to_csv(name, index=False)
    else:
        Path(name).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("t.jsonl", list),
        ("t.parquet", list),
        ("t.csv", json.dumps),
        ("t.csv", str),
        ("t.csv", lambda cell: str(cell).replace(",", "") if None not in cell else str(cell)),
    ],
    ids=["jsonl", "parquet", "json-in-csv", "python-in-csv", "numpy-in-csv"],
)
@pytest.mark.parametrize("command", ["start", "labels import"])
def test_a_list_of_scores_is_several_peoples(cli: Any, command: str, name: str, written: Callable[[Any], Any]) -> None:
    write_lists(name, LISTS, written)
    texts = ("--task", "texts", "--text", "output=words", "--id-from", "#", "--wide-metrics", "fluency,tone", "--language", "en")
    scales = ("--scale", "fluency=0..4:best=4", "--scale", "tone=0,1:best=1")
    done = cli("start", name, "--yes", "--to", "d") if command == "start" else cli(*command.split(), name, "--to", "d", *texts, *scales)
    assert done.code == 0 and "'fluency', 'tone': the answers of several people, in a list" in done.err, done.err
    labels = lines_of("d/labels.jsonl")
    scores = {metric: [[row["score"] for row in labels if row["metric"] == metric and row["item_id"] == item]
                       for item in dict.fromkeys(row["item_id"] for row in labels)] for metric in LISTS}  # fmt: skip
    assert scores == {metric: [[part for part in cell if part is not None] for cell in column] for metric, column in LISTS.items()}
    assert len(lines_of("d/items.jsonl")) == 4 and 'annotators = "positional"' in Path("d/data.toml").read_text("utf-8")
    assert len({row["annotator_id"] for row in labels}) == 3


@pytest.mark.parametrize(
    "entry",
    [
        lambda who, at: {"rater": who, "fluency": 1 + at % 3, "tone": at % 2},
        lambda who, at: {"annotator": who, "scores": {"fluency": 1 + at % 3, "tone": at % 2}},
        lambda who, at: {"user_id": who, "fluency": {str(score): score == 1 + at % 3 for score in (1, 2, 3)}, "tone": at % 2},
    ],
    ids=["flat", "nested", "one-of-several"],
)
@pytest.mark.parametrize("written", [list, json.dumps], ids=["jsonl", "csv"])
def test_a_list_of_objects_is_several_peoples(cli: Any, entry: Callable[[str, int], Any], written: Callable[[Any], Any]) -> None:
    name = "t.jsonl" if written is list else "t.csv"
    write_lists(name, {"ratings": [[entry(who, at + place) for place, who in enumerate("ab")] for at in range(4)]}, written)
    done = cli("start", name, "--yes", "--to", "d")
    assert done.code == 0 and "'ratings': read as answers" in done.err, done.err
    labels = lines_of("d/labels.jsonl")
    assert {row["metric"].rpartition(".")[2] for row in labels} == {"fluency", "tone"} and len(labels) == 16
    assert [row["score"] for row in labels if row["metric"].endswith("fluency")] == [
        1 + (at + place) % 3 for at in range(4) for place in (0, 1)
    ]
    assert set(lines_of("d/items.jsonl")[0]) == {"item_id", "language", "task", "words"}


def test_numbers_beside_a_score_are_no_people(cli: Any) -> None:
    rows = [{"id": f"i{k}", "output": f"{text} {k}", "score": 0.1 * k, "vector": [k, k + 1, 2 * k]} for k, text in enumerate(WORDS * 2)]
    Path("t.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    flags = ("--task", "texts", "--text", "output=output", "--language", "en", "--metric", "q", "--scale", "q=0..1:kind=interval")
    done = cli("labels", "import", "t.jsonl", "--to", "d", *flags)
    assert done.code == 3 and "the annotator of the scores is unknown" in done.err and not Path("d").exists()
    assert cli("labels", "import", "t.jsonl", "--to", "d", *flags, "--annotator", "x").code == 0 and len(lines_of("d/labels.jsonl")) == 8


@pytest.mark.parametrize("command", ["start", "labels import"])
def test_messages_are_no_answers_of_people(cli: Any, command: str) -> None:
    rows = [
        {
            "id": f"i{k}",
            "messages": [{"role": "user"}, {"role": "judge", "content": f"{text} {k}"}],
            "label": 1 + k % 3,
        }
        for k, text in enumerate(WORDS * 2)
    ]
    Path("t.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    flags = ("--task", "texts", "--language", "en", "--metric", "q", "--scale", "q=1..3:best=3", "--annotator", "x")
    done = cli(*command.split(), "t.jsonl", "--to", "d", *flags, *(("--yes", "--drop", "messages") if command == "start" else ()))
    assert done.code == 0 and "8 labels by 1 annotator" in done.err, done.err
    assert len(lines_of("d/labels.jsonl")) == 8


@pytest.mark.parametrize(
    "lists", [{"label_count": [[3, 0, 2], [1, 1, 3], [5, 0, 0], [0, 4, 1]]}, {"dist": [[0.5, 0.5], [0.1, 0.9], [1.0, 0.0], [0.2, 0.8]]},
              {"order": [[1, 2, 3], [3, 1, 2], [2, 1, 3], [1, 3, 2]]}, {"a": [[{"x": 1}]] * 4, "b": [[{"x": 2}]] * 4}],
    ids=["counts", "shares", "ranks", "two-lists-of-objects"],
)  # fmt: skip
def test_lists_that_are_no_peoples_scores_are_asked_about(cli: Any, lists: dict[str, list[Any]]) -> None:
    write_lists("t.jsonl", lists, list)
    done = cli("start", "t.jsonl", "--yes", "--to", "d")
    assert done.code == 2 and "hold lists or objects, maybe with scores" in done.err and not Path("d").exists()


# Forms: a row a person, a column a text


def write_qualtrics(name: str, *, import_ids: bool = True) -> None:
    columns = ["StartDate", "Status", "Progress", "ResponseId", "Q1_1", "Q1_2", "Q1_3"]
    texts = ["Anfang", "Antworttyp", "Fortschritt", "Antwort-ID", *(f"Wie flüssig ist der Text? - Text {k}" for k in (1, 2, 3))]
    ids = [json.dumps({"ImportId": column, "timeZone": "Europe/Berlin"}) for column in columns]
    answers = [["2026-03-01 10:00:00", "IP Address", "100", f"R_0{who}", *(str(1 + (who + k) % 5) for k in (1, 2, 3))] for who in range(6)]
    frame = pd.DataFrame([texts, *([ids] if import_ids else []), *answers], columns=columns)
    if name.endswith(".xlsx"):
        frame.to_excel(name, index=False)
    else:
        frame.to_csv(name, index=False, sep="\t" if name.endswith(".tsv") else ",", encoding="utf-16" if name.endswith(".tsv") else "utf-8")


@pytest.mark.parametrize("name", ["q.csv", "q.tsv", "q.xlsx"])
@pytest.mark.parametrize("import_ids", [True, False])
def test_the_rows_of_names_of_qualtrics_are_no_answers(cli: Any, name: str, import_ids: bool) -> None:
    write_qualtrics(name, import_ids=import_ids)
    done = cli("start", name, "--yes", "--language", "de")
    flags = "--wide-items 'Q1_(?P<item>\\d+)' --column 'annotator_id=ResponseId'"
    assert done.code == 2 and "look like the answers to a form" in done.err and flags in done.err and not Path("q").exists(), done.err
    form = ("--wide-items", r"Q1_(?P<item>\d+)", "--column", "annotator_id=ResponseId", "--language", "de", "--metric", "fluency")
    for command in (("start", name, "--yes", "--to", "a"), ("labels", "import", name, "--to", "b", "--task", "texts")):
        done = cli(*command, *form, *(() if command[0] == "start" else ("--scale", "fluency=1..5:best=5")))
        assert done.code == 0 and "Qualtrics' texts and ids of the questions, no answers" in done.err, done.err
        assert (
            "18 labels by 6 annotators" in done.err and len(lines_of(f"{command[-1] if command[0] == 'start' else 'b'}/items.jsonl")) == 3
        )


def write_surveymonkey(name: str, *questions: tuple[str, list[str]]) -> None:
    """Write people's answers as SurveyMonkey does: a question above its first column, what each column asks in the row below."""
    about = ["Respondent ID", "Collector ID", "Start Date", "Email Address"]
    names = [*about, *(cell for question, parts in questions for cell in (question, *[""] * (len(parts) - 1)))]
    below = [*[""] * len(about), *(part for _, parts in questions for part in parts)]
    answers = [
        [
            str(114_000_001 + who),
            "4001",
            f"11/0{who + 1}/2025 10:00:00 AM",
            "",
            *(str(1 + (who + k) % 5) for k in range(len(names) - len(about))),
        ]
        for who in range(6)
    ]
    frame = pd.DataFrame([names, below, *answers])
    frame.to_excel(name, index=False, header=False) if name.endswith(".xlsx") else frame.to_csv(name, index=False, header=False)


@pytest.mark.parametrize("name", ["s.csv", "s.xlsx"])
def test_the_two_rows_of_names_of_surveymonkey_are_one(cli: Any, name: str) -> None:
    """Before, the columns without a name above were lost without a word, and the second row was an answer."""
    write_surveymonkey(name, ("How fluent is each text?", ["Text 1", "Text 2", "Text 3"]))
    done = cli("start", name, "--yes", "--language", "en")
    assert done.code == 2 and "'annotator_id=Respondent ID'" in done.err, done.err
    form = ("--wide-items", r".* \[(?P<item>.+)\]", "--column", "annotator_id=Respondent ID", "--metric", "fluency", "--language", "en")
    for command in (
        ("start", name, "--yes", "--to", "a"),
        ("labels", "import", name, "--to", "b", "--task", "t", "--scale", "fluency=1..5:best=5"),
    ):
        done = cli(*command, *form)
        assert done.code == 0 and "18 labels by 6 annotators" in done.err, done.err
        folder = "a" if command[0] == "start" else "b"
        assert sorted(row["item_id"] for row in lines_of(f"{folder}/items.jsonl")) == ["Text 1", "Text 2", "Text 3"]


def test_a_survey_of_single_questions_keeps_their_names(cli: Any) -> None:
    write_surveymonkey("s.csv", ("Text 1", ["Response"]), ("Text 2", ["Response"]))
    form = ("--wide-items", r"(?P<item>Text \d)", "--column", "annotator_id=Respondent ID", "--metric", "fluency", "--language", "en")
    done = cli("labels", "import", "s.csv", "--to", "b", "--task", "t", "--scale", "fluency=1..5:best=5", *form)
    assert done.code == 0 and "12 labels by 6 annotators" in done.err and len(lines_of("b/items.jsonl")) == 2, done.err


@pytest.mark.parametrize("question", ["Jak plynulá je odpověď?", "Q1", "回答は自然ですか"])
@pytest.mark.parametrize("person", ["Jméno", "Name", "お名前"])
def test_a_form_is_not_read_as_if_its_columns_were_people(cli: Any, question: str, person: str) -> None:
    columns = ["Časová značka", person, *(f"{question} [Odpověď {k}]" for k in range(1, 6))]
    rows = [
        [f"2026/03/0{who + 1} 10:00:00", name, *(1 + (who * k + k) % 5 for k in range(1, 6))]
        for who, name in enumerate(["Jana", "Petr", "Eva", "Ivo"])
    ]
    pd.DataFrame(rows, columns=columns).to_csv("f.csv", index=False)
    done = cli("start", "f.csv", "--yes", "--language", "cs")
    assert done.code == 2 and "a row a person, a column a text" in done.err and f"'annotator_id={person}'" in done.err, done.err
    done = cli(
        "start", "f.csv", "--yes", "--language", "cs", "--wide-items", r".* *\[(?P<item>[^]]+)\]", "--column", f"annotator_id={person}"
    )
    assert done.code == 0 and "20 labels by 4 annotators" in done.err, done.err
    assert {row["item_id"] for row in lines_of("f/items.jsonl")} == {f"Odpověď {k}" for k in range(1, 6)}


# A row a score, with the names of other programs

ANSWERS = ["The parcel can be returned within a fortnight.", "Reset the meter.", "Call the office.", "The invoice is sent by mail."]


def rows_of_scores() -> list[tuple[str, str, str, int]]:
    return [(f"doc-{at}", text, who, 1 + (at + ord(who)) % 5) for at, text in enumerate(ANSWERS * 3) for who in "xyz"]


@pytest.mark.parametrize(
    ("item", "text", "annotator", "score"),
    [
        ("stimulus", "Text shown", "Participant id", "Response"),
        ("Item", "Text", "Annotator Name", "Overall Score"),
        ("doc", "Summary", "WorkerId", "Answer.rating"),
        ("key", "output", "RaterID", "points"),
        ("Segment", "translation", "reviewer", "DA"),
    ],
)
def test_a_row_a_score_is_read_by_the_names_of_its_columns(cli: Any, item: str, text: str, annotator: str, score: str) -> None:
    pd.DataFrame([(who, key, f"{words} ({key})", value) for key, words, who, value in rows_of_scores()],
                 columns=[annotator, item, text, score]).to_csv("t.csv", index=False)  # fmt: skip
    done = cli("start", "t.csv", "--yes", "--metric", "quality")
    assert done.code == 0 and "36 labels by 3 annotators on 1 metric" in done.err, done.err
    assert {row["item_id"] for row in lines_of("t/items.jsonl")} == {f"doc-{at}" for at in range(12)}
    assert {row["metric"] for row in lines_of("t/labels.jsonl")} == {"quality"}
    assert "system" not in lines_of("t/items.jsonl")[0]


def test_results_of_mechanical_turk_are_read_by_their_names(cli: Any) -> None:
    rows = [
        {"HITId": f"3H{key}", "AssignmentId": f"3A{number}", "WorkerId": who, "AssignmentStatus": "Approved",
         "AcceptTime": f"Mon Mar 01 10:{number:02}:00 PST 2026", "WorkTimeInSeconds": 100 + number % 7, "Input.id": key,
         "Input.summary": f"{words} ({key})", "Answer.rating": score}
        for number, (key, words, who, score) in enumerate(rows_of_scores())
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv("batch.csv", index=False)
    done = cli("start", "batch.csv", "--yes", "--metric", "quality")
    assert done.code == 0 and "36 labels by 3 annotators" in done.err, done.err
    assert lines_of("batch/items.jsonl")[0].keys() == {"item_id", "language", "task", "input_summary"}
    pd.DataFrame([rows[0] | {"AssignmentStatus": "Rejected"}, *rows[1:]]).to_csv("rejected.csv", index=False)
    done = cli("start", "rejected.csv", "--yes", "--metric", "quality")
    assert done.code == 2 and "1 assignments were rejected" in done.err and not Path("rejected").exists()


def test_equal_texts_of_several_people_without_an_id_are_asked_about(cli: Any) -> None:
    rows = [(who, f"{words} ({key})", value) for key, words, who, value in rows_of_scores()]
    pd.DataFrame(rows, columns=["rater", "words", "points"]).to_csv("t.csv", index=False)
    done = cli("start", "t.csv", "--yes", "--metric", "quality")
    assert done.code == 2 and "12 texts stand in several rows, and no column says which rows are about one text" in done.err, done.err
    assert cli("start", "t.csv", "--yes", "--metric", "quality", "--id-from", "#").code == 0


# What is written can be read


def test_a_folder_that_could_not_be_read_afterwards_stays_as_it_was(cli: Any) -> None:
    Path("s.csv").write_text("item_id,score,output\n" + "".join(f"i{n},{n % 3},Text {n}\n" for n in range(6)), encoding="utf-8")
    assert cli("import", "s.csv", "--to", "d", "--judge", "a", "--metric", "q", "--scale", "q=0..2", "--language", "en").code == 0
    with open("d/judgments.jsonl", "a", encoding="utf-8") as file:
        file.write('{"item_id":"nobody","judge":"a","metric":"q","score":1}\n')
    before = {path.name: path.read_bytes() for path in Path("d").iterdir()}
    done = cli("import", "s.csv", "--to", "d", "--append", "--judge", "b", "--metric", "q", "--scale", "q=0..2", "--language", "en")
    assert done.code == 5 and "d is as it was before" in done.err and "d/judgments.jsonl:7:" in done.err, done.err
    assert {path.name: path.read_bytes() for path in Path("d").iterdir()} == before


@pytest.mark.parametrize("name", ["language", "item_id", "group", "parallel_id"])
def test_a_text_is_not_called_like_a_key_of_items(cli: Any, name: str) -> None:
    Path("t.csv").write_text("id,words,A,B\n1,hello there,1,2\n2,second one,2,2\n", encoding="utf-8")
    flags = ("--task", "texts", "--language", "en", "--wide-annotators", "A,B", "--metric", "q", "--scale", "q=1..3")
    done = cli("labels", "import", "t.csv", "--to", "d", *flags, "--text", f"{name}=words")
    assert done.code == 2 and f"a text cannot be called '{name}'" in done.err and not Path("d").exists()


# Scores beside a judge's that stand in lists, in JSON, or in rows of accounts

SCENES = ("The kettle boils slowly near the window", "Our garden gives beans until late in October", "A bus to the harbour leaves at seven")


def judged_rows(count: int = 60) -> list[tuple[int, str, int, int]]:
    """Return (number, text, person's score, judge's score) of texts; the judge differs in every seventh."""
    rows = []
    for k in range(count):
        person = 1 + (k * k // 3 + k // 7) % 5
        rows.append((k, f"{SCENES[k % 3]}, {k}.", person, 1 + person % 5 if k % 7 == 0 else person))
    return rows


def compared(cli: Any, name: str, rows: list[dict[str, Any]], *flags: str) -> tuple[dict[str, Any], str]:
    """Return what `compare --json` answers on a table of these rows, and what it says of the reading."""
    if name.endswith(".csv"):
        pd.DataFrame(rows).to_csv(name, index=False)
    else:
        Path(name).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = cli("compare", name, *flags, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out), cli("compare", name, *flags).err


@pytest.mark.parametrize(
    "written",
    [json.dumps, str, lambda reply: f"```json\n{json.dumps(reply)}\n```"],
    ids=["json", "python", "block-of-code"],
)
def test_a_judges_answer_in_json_is_its_score_and_its_reason(cli: Any, written: Callable[[Any], str]) -> None:
    rows = [
        {"id": k, "answer": text, "human": person, "judge": written({"score": judge, "reason": f"Because of {k}, it's so."})}
        for k, text, person, judge in judged_rows()
    ]
    rows[9]["judge"] = "I cannot judge this."
    answer, block = compared(cli, "t.csv", rows)
    assert (answer["roles"]["judge"], answer["roles"]["judge.reason"]) == ("judge", "reason")
    assert [(verdict["judge"], verdict["n_labelled"]) for verdict in answer["verdicts"]] == [("judge", 60)]
    said = "'judge' holds answers in JSON: its score is 'score'; 'reason' stands beside; 1 cell is no JSON and read as written"
    assert said in block and "scale: 1 to 5" in block


def test_a_judges_answers_on_several_metrics_in_json(cli: Any) -> None:
    rows = [
        {"answer": text, "human_fluency": person, "human_tone": 6 - person, "llm": json.dumps({"fluency": judge, "tone": 6 - judge})}
        for _, text, person, judge in judged_rows()
    ]
    answer, _ = compared(cli, "t.csv", rows)
    assert {verdict["metric"]: verdict["n_labelled"] for verdict in answer["verdicts"]} == {"fluency": 60, "tone": 60}


def test_json_in_a_column_of_nobody_is_asked_about(cli: Any) -> None:
    rows = [{"answer": text, "human": person, "result": json.dumps({"score": judge})} for _, text, person, judge in judged_rows()]
    pd.DataFrame(rows).to_csv("t.csv", index=False)
    done = cli("compare", "t.csv")
    assert done.code == 2 and "'result' holds scores, and nothing says who gave them" in done.err
    assert cli("compare", "t.csv", "--judge", "result").code == 0


@pytest.mark.parametrize("with_judge", [True, False], ids=["judge-in-the-list", "judge-beside"])
def test_a_list_of_raters_beside_a_judge(cli: Any, with_judge: bool) -> None:
    rows = []
    for k, text, person, judge in judged_rows():
        ratings = [{"rater": "ann", "score": person}, {"rater": "bob", "score": 1 + person % 5 if k % 5 == 0 else person}]
        ratings += [{"rater": "gpt-4o", "score": judge}] if with_judge else []
        rows.append({"id": k, "text": text, "ratings": ratings} | ({} if with_judge else {"gpt-4o": judge}))
    answer, block = compared(cli, "t.jsonl", rows)
    [verdict] = answer["verdicts"]
    assert (verdict["judge"], verdict["n_labelled"], verdict["basis"], answer["roles"]["rater"]) == ("gpt-4o", 60, "people", "annotator")
    assert "'ratings' holds lists of raters ('rater'): each rater's scores are a row" in block


@pytest.mark.parametrize("account", ["Participant id", "user", "e-mail"])
def test_accounts_that_score_texts_together_are_the_raters(cli: Any, account: str) -> None:
    people = {"e-mail": ("ann@example.org", "bob@example.org", "eva@example.org")}.get(account, ("60b2", "60a1", "7c01"))
    rows = [
        {account: who, "stimulus": f"s{k}", "Text shown": text, "Response": 1 + (person + (k + place) % 4) % 5, "gpt_rating": judge}
        for k, text, person, judge in judged_rows(30)
        for place, who in enumerate(people)
    ]
    answer, block = compared(cli, "t.csv", rows)
    assert (answer["roles"][account], answer["roles"]["Response"], answer["roles"]["stimulus"]) == ("annotator", "human", "id")
    assert f"people: Response by 3 ({account})" in block and [verdict["n_labelled"] for verdict in answer["verdicts"]] == [30]


@pytest.mark.parametrize("raters", [(), ("a", "b")], ids=["one-person", "two-raters"])
def test_the_turns_of_a_conversation_are_no_scores(cli: Any, raters: tuple[str, ...]) -> None:
    rows: list[dict[str, Any]] = []
    for k, text, person, judge in judged_rows():
        row = {"conversation_id": f"d{k // 3}", "turn": 1 + k % 3, "response": text, "human_rating": person, "judge_rating": judge}
        if raters:
            rows += [{**row, "rater": who, "human_rating": 1 + (person + (k + at) % 4 // 3) % 5} for at, who in enumerate(raters)]
        else:
            rows.append(row)
    answer, block = compared(cli, "t.csv", rows)
    assert (answer["roles"]["turn"], answer["roles"]["conversation_id"]) == ("unused", "group")
    assert "'turn' numbers the texts of each 'conversation_id'" in block
    assert [verdict["n_labelled"] for verdict in answer["verdicts"]] == [60]


# Two rows of names, sheets of charts, bare quotation marks


def plain_rows() -> list[list[Any]]:
    return [[f"i{k}", text, person, judge, 6 - person, 6 - judge] for k, text, person, judge in judged_rows()]


def write_csv(name: str, rows: list[list[Any]]) -> None:
    pd.DataFrame(rows).to_csv(name, index=False, header=False)


@pytest.mark.parametrize(
    "names",
    [
        [["", "", "Fluency", "", "Tone", ""], ["id", "text", "human", "judge", "human", "judge"]],
        [["id", "text", "Fluency", "", "Tone", ""], ["", "", "human", "judge", "human", "judge"]],
        [["", "", "Fluency", "Fluency", "Tone", "Tone"], ["id", "text", "human", "judge", "human", "judge"]],
    ],
    ids=["above", "beside", "repeated"],
)
def test_groups_above_the_names_of_columns(cli: Any, names: list[list[str]]) -> None:
    write_csv("t.csv", [*names, *plain_rows()])
    done = cli("compare", "t.csv", "--json")
    answer = json.loads(done.out)
    assert {verdict["metric"]: verdict["n_labelled"] for verdict in answer["verdicts"]} == {"fluency": 60, "tone": 60}
    assert answer["roles"]["Tone [human]"] == "human" and answer["roles"]["Tone [judge]"] == "judge"
    assert "row 1 was read as groups of columns, and the row below it as their names" in cli("compare", "t.csv").err


@pytest.mark.parametrize("vertical", [True, False])
def test_merged_groups_of_a_workbook(cli: Any, vertical: bool) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append([*(["id", "text"] if vertical else [None, None]), "Human", None, "GPT-4o", None])
    sheet.append([*([None, None] if vertical else ["id", "text"]), "fluency", "tone", "fluency", "tone"])
    for number, text, person, judge, tone, judged_tone in plain_rows():
        sheet.append([number, text, person, tone, judge, judged_tone])
    for area in ("C1:D1", "E1:F1", *(("A1:A2", "B1:B2") if vertical else ())):
        sheet.merge_cells(area)
    book.save("t.xlsx")
    answer = json.loads(cli("compare", "t.xlsx", "--json").out)
    assert {(verdict["metric"], verdict["judge"]) for verdict in answer["verdicts"]} == {("fluency", "GPT-4o"), ("tone", "GPT-4o")}
    assert answer["roles"]["Human [tone]"] == "human" and answer["roles"]["id"] == "id"


def test_groups_of_unknown_width_are_refused(cli: Any) -> None:
    write_csv("t.csv", [["", "", "Human", "", "Judge", ""], ["id", "text", "ann", "bob", "alpha", "beta"], *plain_rows()])
    done = cli("compare", "t.csv")
    assert (
        done.code == 3 and "t.csv:1: this row and the one below both hold names of columns" in done.err and "'Human', 'Judge'" in done.err
    )


@pytest.mark.parametrize("drawn", [True, False])
def test_a_sheet_that_is_a_chart_is_passed_over(cli: Any, drawn: bool) -> None:
    book = openpyxl.Workbook()
    book.active.append(["id", "text", "human", "judge"])
    for row in plain_rows():
        book.active.append(row[:4])
    chart_sheet = book.create_chartsheet("Chart", 0)
    if drawn:
        chart = BarChart()
        chart.add_data(Reference(book.worksheets[0], min_col=3, min_row=1, max_row=20))
        chart_sheet.add_chart(chart)
    book.save("t.xlsx")
    assert json.loads(cli("compare", "t.xlsx", "--json").out)["verdicts"][0]["n_labelled"] == 60
    book.remove(book.worksheets[0])
    book.save("empty.xlsx")
    done = cli("compare", "empty.xlsx")
    assert done.code == 3 and "the workbook has no sheet with cells, only charts" in done.err


def marked_lines(changes: dict[int, str]) -> None:
    lines = ["id,text,human,judge", *(f"{row[0]},{row[1].replace(',', '')},{row[2]},{row[3]}" for row in plain_rows())]
    Path("t.csv").write_text("\n".join(changes.get(number, line) for number, line in enumerate(lines, start=1)) + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        ('"12" kettle boils slowly.', '"12" kettle boils slowly.'),
        ('"The kettle boils slowly.', '"The kettle boils slowly.'),
        ('"Yes" she said', '"Yes" she said'),
    ],
)
def test_a_bare_quotation_mark_is_part_of_the_text(cli: Any, cells: str, text: str) -> None:
    marked_lines({6: f"i4,{cells},3,4", 9: 'i7,"A kettle, \nwhich boils",2,2'})
    done = cli("compare", "t.csv", "--to", "kept")
    assert done.code == 0 and "t.csv:6: a quotation mark that opens no cell was read as part of the text" in done.err
    items = {item["item_id"]: item["output"] for item in lines_of("kept/items.jsonl")}
    assert len(items) == 60 and items["i4"] == text and items["i7"] == "A kettle, \nwhich boils"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({6: 'i4,"The kettle, it boils.,3,4'}, "t.csv:6: a quotation mark is opened here and never closed"),
        ({6: 'i4,"He said, ""yes" loudly",3,4'}, "t.csv:6: not a row of a table"),
        ({6: 'i4,"Oh yes,3,4', 9: 'i7,Oh no",3,4'}, "t.csv:6: a quotation mark that is opened here takes in the rows below it"),
    ],
    ids=["with-a-delimiter", "half-doubled", "takes-in-rows"],
)
def test_a_quotation_mark_that_can_be_read_in_two_ways_is_refused(cli: Any, changes: dict[int, str], said: str) -> None:
    marked_lines(changes)
    done = cli("compare", "t.csv")
    assert done.code == 3 and said in done.err


# Further tables, in other words and layouts


@pytest.mark.parametrize(
    ("names", "roles"),
    [
        (("ответ", "эксперт", "нейросеть"), ("text", "human", "judge")),
        (("Antwort", "Mensch", "metricx"), ("text", "human", "judge")),
        (("réponse", "note humaine", "note du robot"), ("text", "human", "judge")),
    ],
)
def test_names_of_people_and_programs(cli: Any, names: tuple[str, ...], roles: tuple[str, ...]) -> None:
    rows = [dict(zip(names, (text, person, judge), strict=True)) for _, text, person, judge in judged_rows()]
    assert compared(cli, "t.csv", rows)[0]["roles"] == dict(zip(names, roles, strict=True))


def test_a_score_in_double_brackets_is_a_score(cli: Any) -> None:
    rows = [{"text": text, "human": person, "judge": f"[[{judge}]]"} for _, text, person, judge in judged_rows()]
    assert "scale: 1 to 5" in compared(cli, "t.csv", rows)[1]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (
            lambda text, a, b: {"text_a": text, "text_b": f"Or: {text}", "human_a": a, "human_b": b, "judge_a": a, "judge_b": b},
            "'human_a' and 'human_b' seem to be the scores of 'text_a' and of 'text_b'",
        ),
        (
            lambda text, a, b: {"text": text, "human": a, "comet": round(b / 5 + len(text) % 7 / 500, 3)},
            "people and judge are on different scales of 'rating': people 1 to 5",
        ),
        (
            lambda text, a, b: {"text": text, "labels": str([a, b]), "llm": b},
            "'labels 1', 'labels 2' hold scores",
        ),
        (lambda text, a, b: {"text": text, "human": a, "prompt_v1": b, "prompt_v2": a}, "'prompt_v1', 'prompt_v2' hold scores"),
        (lambda text, a, b: {"text": text, "human": a, "judge": b, "match": a == b}, "'match' holds scores"),
    ],
    ids=["two-texts-with-scores", "a-metric-near-one", "lists-of-people", "two-prompts", "a-column-of-matches"],
)
def test_what_could_be_read_wrongly_is_asked_about(cli: Any, cells: Callable[[str, int, int], dict[str, Any]], said: str) -> None:
    pd.DataFrame([cells(text, person, judge) for _, text, person, judge in judged_rows()]).to_csv("t.csv", index=False)
    done = cli("compare", "t.csv")
    assert done.code == 2 and said in done.err


def test_greek_names_that_end_in_a_final_sigma_are_read(cli: Any) -> None:
    rows = [
        f"{k},Ο υπάλληλος εξηγεί τον κανόνα {k} της σελίδας.,{who},{1 + (k + at) % 5}"
        for k in range(40)
        for at, who in enumerate(("Eleni", "gpt-4o"))
    ]
    Path("t.csv").write_text("\n".join(["κωδικός,κείμενο,αξιολογητής,βαθμός", *rows]) + "\n", encoding="utf-8")
    done = cli("compare", "t.csv", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["roles"] == {"κωδικός": "id", "κείμενο": "text", "αξιολογητής": "annotator", "βαθμός": "score"}
