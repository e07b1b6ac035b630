"""The words of the labelling page: English where a language has none, and a broken file is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.content import Library
from harness.content.lexicons import missing_strings
from harness.content.problems import line_of
from harness.content.specs import Interface, read_spec
from harness.errors import ContentError

HEAD = 'tag = "ko"\nversion = "1.0.0"\nreviewed_by = []\n\n[strings]\n'
ENGLISH = Library().interface("en")


def korean(folder: Path, strings: str) -> Library:
    path = folder / "languages" / "ko" / "interface.toml"
    path.parent.mkdir(parents=True)
    path.write_text(HEAD + strings, encoding="utf-8")
    return Library(folder)


def test_a_language_without_an_interface_has_the_english() -> None:
    assert Library().interface("sw") == ENGLISH


def test_strings_that_are_not_translated_are_english(tmp_path: Path) -> None:
    interface = korean(tmp_path, 'start = "시작"\n').interface("ko")
    assert interface.tag == "ko"
    assert interface.strings == {**ENGLISH.strings, "start": "시작"}


def test_what_is_not_translated_is_named_with_the_english(tmp_path: Path) -> None:
    path = korean(tmp_path, 'start = "시작"\n').interface_files["ko"]
    complaints = list(missing_strings(read_spec(path, Interface), ENGLISH))
    assert len(complaints) == len(ENGLISH.strings) - 1
    message, pattern = complaints[0]
    assert message == f"'title' is missing; translate it (the English is: {ENGLISH.strings['title']})"
    assert line_of(path, pattern) == 5


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('begin = "시작"', "'begin' is not a string of the labelling page."),
        ('strat = "시작"', "Did you mean 'start'?"),
        ('progress = "{total} 중 {완료}"', "'progress' contains {total}, {완료}, but should contain {done}, {total}, each once"),
        ('start = "{n} 시작"', "'start' contains {n}, but should contain nothing in braces"),
        ('start = "  "', "'start' is blank"),
    ],
)
def test_an_interface_with_something_wrong_names_the_line(tmp_path: Path, line: str, words: str) -> None:
    library = korean(tmp_path, line + "\n")
    with pytest.raises(ContentError, match=r"interface\.toml:6") as caught:
        library.interface("ko")
    assert words in str(caught.value)
