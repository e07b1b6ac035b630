"""What reads the value of a flag, and the options that flags give."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from datetime import date
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.decide.options import DecisionOptions


def _wrong(expected: str, text: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(f"expected {expected}; got '{text}'")


def names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def annotators(text: str) -> int | tuple[str, ...]:
    """How many, or their codes."""
    return int(text) if text.isdecimal() else names(text)


def orders(text: str) -> tuple[str, ...]:
    values = {"forward": ("forward",), "swapped": ("swapped",), "both": ("forward", "swapped")}
    if text not in values:
        raise _wrong(", ".join(values), text)
    return values[text]


def shown_sources(text: str) -> tuple[str, ...]:
    if not set(names(text)) <= {"none", "correct", "swapped"}:
        raise _wrong("none, correct, swapped, or several of them separated by commas", text)
    return names(text)


def reask(text: str) -> tuple[str, ...]:
    if not set(names(text)) <= {"refused", "missing", "truncated"}:
        raise _wrong("refused, missing, truncated, or several of them separated by commas", text)
    return names(text)


def day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise _wrong("a day such as 2026-05-31", text) from None


# ---- numbers


def _number(text: str) -> float:
    """A number; NaN for another text, which no range has."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def temperatures(text: str) -> tuple[float, ...]:
    values = tuple(map(_number, text.split(",")))
    if not all(0 <= value < math.inf for value in values):
        raise argparse.ArgumentTypeError(f"temperatures are numbers of 0 or more, separated by commas; got '{text}'")
    return values


def top_ps(text: str) -> tuple[float, ...]:
    values = tuple(map(_number, text.split(",")))
    if not all(0 < value <= 1 for value in values):
        raise argparse.ArgumentTypeError(f"top-p is above 0 and at most 1; separate several values by commas; got '{text}'")
    return values


def single_temperature(text: str) -> float:
    return _single(temperatures(text), text)


def single_top_p(text: str) -> float:
    return _single(top_ps(text), text)


def _single(values: tuple[float, ...], text: str) -> float:
    if len(values) != 1:
        raise argparse.ArgumentTypeError(f"one number is possible here; got '{text}'")
    return values[0]


def positive_number(text: str) -> float:
    if not 0 < _number(text) < math.inf:
        raise _wrong("a number above 0", text)
    return float(text)


def share(text: str) -> float:
    if positive_number(text) > 1:
        raise _wrong("a share above 0 and at most 1", text)
    return float(text)


def shares(text: str) -> tuple[float, ...]:
    """Several shares, such as `0.2,0.3,0.5` or `20,30,50`."""
    return tuple(0.0 if _is_zero(part) else positive_number(part) for part in text.split(","))


def non_negative_share(text: str) -> float:
    return 0.0 if _is_zero(text) else share(text)


def _is_zero(text: str) -> bool:
    return text != "" and text.strip("0.") == ""


def positive_integer(text: str) -> int:
    return _integer(text, 1)


def seed(text: str) -> int:
    return _integer(text, 0)


def _integer(text: str, least: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= least):  # every store and endpoint can hold nine digits
        raise _wrong(f"a whole number of {least} or more with at most nine digits", text)
    return int(text)


def port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and int(text) < 65536):
        raise _wrong("a port from 0 to 65535", text)
    return int(text)


# ---- what names a judge and a value


def per_judge(parse: Callable[[str], Any]) -> Callable[[str], tuple[str, Any]]:
    """`N` for every judge, `JUDGE=N` for one."""

    def parse_pair(text: str) -> tuple[str, Any]:
        judge, _, value = text.rpartition("=")
        return judge, parse(value)

    return parse_pair


integer_per_judge = per_judge(positive_integer)
number_per_judge = per_judge(positive_number)


def priced(text: str) -> tuple[str, float]:
    """`NAME=N`: a judge and US dollars, 0 or more."""
    name, _, dollars = text.rpartition("=")
    if not (name and 0 <= _number(dollars) < math.inf):
        raise _wrong("a judge and US dollars, such as openai/gpt-4o=1.25", text)
    return name, float(dollars)


def own_system(text: str) -> tuple[str, str]:
    """`JUDGE=SYSTEM`."""
    judge, _, system = text.partition("=")
    if not (judge and system):
        raise _wrong("JUDGE=SYSTEM", text)
    return judge, system


def tuned_judge(text: str) -> tuple[str, str]:
    """`NEW=OLD`, two judges."""
    new, _, old = text.partition("=")
    if not (new and old) or new == old:
        raise _wrong("NEW=OLD, two judges", text)
    return new, old


def base_url(text: str) -> tuple[str, str]:
    """`URL` for every judge, `JUDGE=URL` for one."""
    judge, equals, _ = text.partition("=http")
    if "://" in judge or not equals:
        return "", text
    return judge, text[len(judge) + 1 :]


def header(text: str) -> tuple[str, str]:
    """`NAME=VALUE` for every judge, `JUDGE=NAME=VALUE` for one. The value may be a secret, and is not shown."""
    key, equals, value = _of_request(text)
    if not equals:
        raise argparse.ArgumentTypeError("expected NAME=VALUE or JUDGE=NAME=VALUE, such as X-Project=42")
    return key, value


def body_field(text: str) -> tuple[str, Any]:
    """`NAME=VALUE` for every judge, `JUDGE=NAME=VALUE` for one. A value that is JSON is read as such, any other is a text."""
    key, equals, value = _of_request(text)
    if not equals:
        raise _wrong("NAME=VALUE or JUDGE=NAME=VALUE, such as reasoning_effort=low", text)
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return key, value
    try:
        json.dumps(parsed, allow_nan=False)
    except ValueError:
        raise _wrong("NAME=VALUE with numbers that JSON has, which are finite", text) from None
    return key, parsed


def _of_request(text: str) -> tuple[str, str, str]:
    """The name, with its judge if there is one (whose name has a slash), the sign between, and the value."""
    name, equals, value = text.partition("=")
    if "/" in name and equals:
        field, equals, value = value.partition("=")
        name = f"{name}={field}"
    return (name, equals, value) if name.rpartition("=")[2] else (name, "", value)


# ---- what flags give


def page_path(name: str | None, default: Path | None = None) -> Path | None:
    """The file to write a page to: None without the flag, `default` for a flag without a name. Raises UsageError for another file type."""
    if not name:
        return None if name is None else default
    if not name.endswith((".html", ".htm")):
        raise UsageError(f"'{name}' cannot be the name of a page; it must end in .html")
    return Path(name)


def check_figure(path: Path | None) -> None:
    """Refuse the name of a figure without a known ending before anything that takes time. Raises UsageError."""
    if path:
        from harness.render.figures import form_of

        form_of(path)


def given_fields(arguments: argparse.Namespace, options: Any, **flags: str) -> dict[str, Any]:
    """The fields of an options class that flags give: those of a field's name, or of the name in `flags`. Others keep their default."""
    values = {field: getattr(arguments, flags.get(field, field), None) for field in signature(options).parameters}
    return {field: tuple(value) if isinstance(value, list) else value for field, value in values.items() if value is not None}


def addresses(arguments: argparse.Namespace) -> dict[str, Any]:
    """The endpoints of `--base-url` as options have them: that of all judges, and those of single ones."""
    by_judge = dict(arguments.base_url or ())
    requests = {name: dict(given) for name in ("headers", "body") if (given := getattr(arguments, name, None))}
    return {"base_url": by_judge.pop("", None), "base_urls": by_judge, **requests}


def decision_options(arguments: argparse.Namespace) -> DecisionOptions:
    """The thresholds that flags say (`@decisions`). Raises UsageError for values that make no sense."""
    from harness.decide.options import DecisionOptions

    flags = {name: f"decide_{name}" for name in DecisionOptions.__struct_fields__}
    return DecisionOptions(**given_fields(arguments, DecisionOptions, **flags))
