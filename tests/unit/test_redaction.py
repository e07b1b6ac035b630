"""Secrets leave every text: whole or cut, plain or encoded, wherever the cut falls."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest

from harness.redaction import MARK, RUN, Redactor, environment_secrets

KEY = "sk-proj-" + "".join(chr(ord("A") + n * 7 % 26) + str(n % 10) for n in range(21)) + "/+="
REDACT = Redactor([KEY])


def longest_run(text: str, secret: str = KEY) -> int:
    """How many characters of the secret stand in a row in the text, at most."""
    return max(
        (length for length in range(1, len(secret) + 1) for at in range(len(secret) - length + 1) if secret[at : at + length] in text),
        default=0,
    )


@pytest.mark.parametrize("begin", range(0, len(KEY) - RUN + 1, 3))
def test_every_run_of_eight_characters_is_removed(begin: int) -> None:
    for end in range(begin + RUN, len(KEY) + 1):
        assert REDACT(f"x {KEY[begin:end]} y") == f"x {MARK} y"


def test_shorter_runs_stay() -> None:
    assert REDACT(f"x {KEY[3:10]} y") == f"x {KEY[3:10]} y"


@pytest.mark.parametrize("most", [80, 300])
def test_a_message_is_cut_after_its_secrets_are_removed(most: int) -> None:
    for before in range(most + 1):
        quoted = REDACT.quote("é" * before + KEY + "é" * most, most)
        assert len(quoted) <= most and longest_run(quoted) < RUN


def test_a_message_that_is_longer_than_anybody_looks_keeps_no_part_of_a_secret() -> None:
    for shift in range(0, len(KEY), 5):
        assert longest_run(REDACT.quote(" " * (100_000 - shift) + KEY)) < RUN


ENCODED = {
    "percent": quote(KEY, safe=""),
    "all percent": "".join(f"%{ord(c):02x}" for c in KEY),
    "JSON": json.dumps(KEY)[1:-1].replace("/", "\\/"),
    "all JSON": "".join(f"\\u{ord(c):04x}" for c in KEY),
    "some JSON": KEY.replace("-", "\\u002D"),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64 of a header": base64.b64encode(f"Bearer {KEY}, or so".encode()).decode(),
    "base64 shifted": base64.urlsafe_b64encode(f"xy{KEY}z".encode()).decode(),
}


ENCODED |= {
    "reversed": KEY[::-1],
    "hex": KEY.encode().hex(),
    "hex in capitals": KEY.encode().hex(" ").upper(),
    "hex of a program": "".join(f"\\x{ord(c):02x}" for c in KEY),
    "codes": " ".join(str(ord(c)) for c in KEY),
    "HTML, decimal": "".join(f"&#{ord(c)};" for c in KEY),
    "HTML, hex": "".join(f"&#x{ord(c):X};" for c in KEY),
    "percent twice": quote(quote(KEY, safe="").replace("s", "%73"), safe=""),
    "nothing visible between": "\u200b".join(KEY),
    "two invisible marks between": "\u2060\u200d".join(KEY),
    "invisible marks of JSON between": "\\u200b".join(KEY),
    "invisible marks of URLs between": "%E2%80%8B".join(KEY),
    "capitals": KEY.upper(),
    "wide letters": "".join(chr(ord(c) + 0xFEE0) for c in KEY),
    "spelled": " ".join(KEY),
    "spelled with signs": " - ".join(KEY),
    "in pieces": " ".join(KEY[at : at + 3] for at in range(0, len(KEY), 3)),
    "base64 reversed": base64.b64encode(KEY[::-1].encode()).decode(),
}


@pytest.mark.parametrize("how", ENCODED)
def test_encoded_forms_are_removed(how: str) -> None:
    text = REDACT(f"before {ENCODED[how]} after")
    assert MARK in text and text.startswith("before ") and text.endswith(" after")
    assert longest_run(text) < RUN and len(text) <= len(f"before {MARK} after") + 32  # what stood around the secret


def test_escapes_that_are_no_secret_stay_as_they_are() -> None:
    text = f"100%25 \\u0041\\/ {KEY} %41"
    assert REDACT(text) == f"100%25 \\u0041\\/ {MARK} %41"


def test_two_secrets_side_by_side_leave_nothing_between_them() -> None:
    assert REDACT(KEY + KEY[:20]) == MARK
    assert REDACT(f"{KEY[:12]}!{KEY[12:]}") == f"{MARK}!{MARK}"


def test_short_secrets_are_removed_whole_and_tiny_ones_are_not_looked_for() -> None:
    assert Redactor(["abc123", "xyz"])("abc123 abc12 xyz") == f"{MARK} abc12 xyz"


def test_control_characters_within_a_secret_do_not_hide_it_in_a_message() -> None:
    hidden = KEY[:5] + "\x1b[31m"[0] + KEY[5:20] + "\u202e" + KEY[20:]
    assert REDACT.quote(f"see {hidden}") == f"see {MARK}"


def test_text_without_a_secret_is_the_same_text() -> None:
    text = "Nothing to see here, really; not even sk-proj."
    assert REDACT(text) is text and Redactor([])(text) is text


def test_the_environment_names_its_secrets() -> None:
    found = environment_secrets(
        {"OPENAI_API_KEY": f" {KEY}\n", "https_proxy": "http://user:p%40ss-word@proxy:8080", "HTTP_PROXY": "proxy:1", "HOME": "/home/me"}
    )
    assert set(found) == {KEY, "p%40ss-word", "p@ss-word", "user:p@ss-word"}
    assert "user:p@ss-word" not in Redactor(found)("407 for http://user:p%40ss-word@proxy:8080")
    assert MARK in Redactor(found)(base64.b64encode(b"user:p@ss-word").decode())


def test_a_secret_that_is_spelled_with_blanks_is_removed_from_messages() -> None:
    redact = Redactor(["sk-test-4711-secret"])
    blanks = (" ".join("sk-test-4711-secret"), "sk-test-\u200b4711 -secret", "s k-test\n-4711\u00ad-secr et")
    signs = (
        "-".join("sk-test-4711-secret"),
        ".".join("sktest4711secret"),
        "sk_test_4711_secret",
        "s, k, t, e, s, t, 4, 7, 1, 1, s, e, c, r, e, t",
    )
    for spelled in (*blanks, *signs):
        quoted = redact.quote(f"Incorrect key: {spelled} was given")
        letters = "".join(filter(str.isalnum, quoted))
        assert "[key]" in quoted and "4711" not in letters and "secr" not in letters, quoted
    assert redact.quote("the test of a secret key") == "the test of a secret key"


@pytest.mark.parametrize("stride", [2, 3, 4])
def test_a_text_that_holds_the_key_at_equal_distances_is_not_kept_at_all(stride: int) -> None:
    assert REDACT("The key is " + "".join(c + "qz."[: stride - 1] for c in KEY) + " and a score of 1") == MARK


def test_words_that_stand_for_a_missing_key_stay_in_a_text() -> None:
    text = "This is not needed, it is EMPTY; n.o.t. every word 12 34 56 78 is a key &amp; so on, deadbeef 0a1b"
    assert Redactor(["not-needed", "EMPTY-KEY"])(text) == text


def test_several_forms_side_by_side_are_all_removed() -> None:
    text = REDACT(f"{KEY[::-1]} and {KEY.encode().hex()} and {'.'.join(KEY)} and {KEY}")
    assert text.count(MARK) >= 3 and longest_run(text) < RUN and longest_run(text[::-1]) < RUN


@pytest.mark.parametrize("how", ["plain", "reversed", "spelled", "base64", "hex", "all JSON"])
@pytest.mark.parametrize("before", range(12))
def test_a_secret_is_found_wherever_in_a_text_it_begins(how: str, before: int) -> None:
    written = KEY[: RUN + 8] if how == "plain" else ENCODED[how]
    text = REDACT("é" * before + written)
    assert text.startswith("é" * before) and MARK in text and longest_run(text) < RUN
