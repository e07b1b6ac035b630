"""Numbers of every script change, and nothing that only looks like one."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import pytest

from harness.perturb import Perturbed


@pytest.mark.parametrize(
    ("language", "text", "changed"),
    [
        ("zh", "我们去北京大学，看了2023年的展览。", "我们去北京大学，看了4597年的展览。"),
        ("th", "ภาษาไทยง่ายนิดเดียวในปี 2566", "ภาษาไทยง่ายนิดเดียวในปี 5142"),
        ("hi", "हिन्दी में लिखना आसान है, १२ बार।", "हिन्दी में लिखना आसान है, ७८ बार।"),
    ],
)
def test_numbers_become_others(output: Callable[..., str], language: str, text: str, changed: str) -> None:
    assert output("number-swap:1", language, text) == changed


@pytest.mark.parametrize("number", ["7", "42", "1,234.56", "10:30", "2024-05-01", "٢٠٢٣", "१२", "２０", "0", "0.5", "007", "000"])
@pytest.mark.parametrize("frame", ["{}", "({}).", "in {}, then", "約{}年", "ปี{}", "على {} مرات", "${}", "{} %"])
def test_another_number_of_as_many_digits_in_the_same_script(perturb: Callable[..., Perturbed], number: str, frame: str) -> None:
    text = frame.format(number)
    for seed in range(5):
        changed = perturb("number-swap:1", "en", text, seed=seed)
        assert changed.realised == {"changed": 1.0, "numbers": 1.0}
        new = changed.item.fields["output"]
        assert len(new) == len(text)
        pairs = [(one, other) for one, other in zip(text, new, strict=True) if one != other]
        assert pairs
        assert all(ord(one) - unicodedata.decimal(one) == ord(other) - unicodedata.decimal(other) for one, other in pairs)


@pytest.mark.parametrize(("number", "start"), [("0.5", "0."), ("007", "00"), ("000", "00")])
def test_zeros_at_the_start_stay(output: Callable[..., str], number: str, start: str) -> None:
    for seed in range(10):
        new = output("number-swap:1", "en", number, seed=seed)
        assert new.startswith(start)
        assert new[-1] not in ("0", number[-1])


def test_a_number_does_not_come_to_begin_with_zero(output: Callable[..., str]) -> None:
    assert all(output("number-swap:1", "en", "19", seed=seed)[0] not in "01" for seed in range(50))


@pytest.mark.parametrize(
    "text",
    [
        "COVID-19",
        "x_5 and v2.0",
        "5G, 10km, 1st, MP3",
        "https://example.org/2024/05",
        "a@1.example #12",
        "10letý 5-jährig",
        "三つ、一億二千万円",
        "1️⃣ 2\u0301",
        "½ ² ①",
        "three",
        "",
    ],
)
def test_what_is_no_number_of_its_own_is_left_alone(perturb: Callable[..., Perturbed], text: str) -> None:
    assert perturb("number-swap:1", "en", text).applied is False


def test_the_dose_is_a_share_of_the_numbers(perturb: Callable[..., Perturbed]) -> None:
    text = " ".join(str(number) for number in range(10, 50))
    changed = perturb("number-swap:0.25", "en", text)
    different = sum(one != other for one, other in zip(text.split(), changed.item.fields["output"].split(), strict=True))
    assert different == 10
    assert changed.realised == {"changed": 0.25, "numbers": 40.0}


def test_one_number_changes_at_the_least(perturb: Callable[..., Perturbed]) -> None:
    assert perturb("number-swap:0.05", "en", "1 2 3").realised["changed"] == pytest.approx(1 / 3)
