"""Tables as other programs and people write them: the right labels come in, or a sentence says why not; nothing is wrong in silence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

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
