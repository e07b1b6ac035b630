"""Differences between a certificate and a new one from the same source."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import msgspec

from harness.correct.certificate import Certificate, CertifiedCell
from harness.signature import ComparisonSignature

_SHOWN = 3  # numbers that a sentence names
_ROUNDING = 1e-9  # relative: another processor may round the last digits otherwise
_MAY_DIFFER: dict[str, Any] = {"judgments": (), "by": (), "harness": ""}
"""Parts of the signature: scores of other judges may have come, and this program may be newer."""
_LATER = ("agreement_error",)
"""Numbers that certificates of earlier versions do not have."""
_COMPARED_BEFORE = ("verdict", "rubric")
"""The verdict has a sentence of its own; the rubric is compared where both sides know it."""


def certificate_differences(held: Certificate, again: Certificate) -> Iterator[str]:
    """Yield a sentence for each cell, and for the signature, that differs. Numbers are equal up to rounding."""
    theirs, ours = ({(cell.language, cell.metric): cell for cell in each.cells} for each in (held, again))
    for place in dict.fromkeys((*theirs, *ours)):
        name = "/".join(place)
        if place not in ours:
            yield f"{name} is in the certificate, and the source has no such numbers"
        elif place not in theirs:
            yield f"{name} is not in the certificate, and the source has numbers for it"
        else:
            yield from _of_cell(name, theirs[place], ours[place])
    if _data(held) != _data(again):
        yield f"the labels are said to be of {' '.join(_data(held))}, and are of {' '.join(_data(again))}"
    if _signed(held) != _signed(again):
        yield "the signature is not that of the numbers"


def _data(certificate: Certificate) -> tuple[str, str, str]:
    data = certificate.data
    return data.id, data.version, data.annotators


def _signed(certificate: Certificate) -> ComparisonSignature | None:
    try:
        signature = ComparisonSignature.parse(certificate.signature)
    except ValueError:
        return None
    return msgspec.structs.replace(signature, **_MAY_DIFFER)


def _of_cell(name: str, held: CertifiedCell, again: CertifiedCell) -> Iterator[str]:
    if held.verdict != again.verdict:
        yield f"the verdict on {name} is '{held.verdict}' in the certificate, and '{again.verdict}' when it is made again"
    if apart := different_values(msgspec.to_builtins(held), msgspec.to_builtins(again)):
        yield f"{name} differs when it is made again: {apart}"


def different_values(held: Any, again: Any) -> str:
    """Which values of a nested object differ, in words; empty if none does. Numbers are equal up to rounding."""
    ours, theirs = dict(_leaves(again)), dict(_leaves(held))
    apart = [
        path
        for path in dict.fromkeys((*theirs, *ours))
        if path not in _COMPARED_BEFORE
        and not (path in _LATER and theirs.get(path) is None)
        and not _equal(theirs.get(path), ours.get(path))
    ]
    shown = ", ".join(f"{path} {_text(theirs.get(path))} instead of {_text(ours.get(path))}" for path in apart[:_SHOWN])
    more = f" and {len(apart) - _SHOWN} more" if len(apart) > _SHOWN else ""
    return f"{shown}{more}"


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of a nested object under its path, such as `corrections.0.mean_label`."""
    if isinstance(value, dict | list | tuple) and value:
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for name, part in parts:
            yield from _leaves(part, f"{path}.{name}" if path else str(name))
    else:
        yield path, value


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=_ROUNDING, abs_tol=_ROUNDING)
    return bool(one == other)


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)
