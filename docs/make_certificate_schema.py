"""Writes docs/certificate.schema.json, the form of a certificate: `python docs/make_certificate_schema.py`. A test holds the two equal."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import msgspec

from harness.correct.certificate import Certificate

PAGE = Path(__file__).with_name("certificate.schema.json")


def schema() -> str:
    """The JSON schema of a certificate."""
    return json.dumps(_dedented(msgspec.json.schema(Certificate)), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _dedented(value: Any) -> Any:
    """The same with descriptions without indentation: they are docstrings, which Python 3.13 stores so and earlier versions do not."""
    if isinstance(value, dict):
        return {name: inspect.cleandoc(each) if name == "description" else _dedented(each) for name, each in value.items()}
    return [_dedented(each) for each in value] if isinstance(value, list) else value


if __name__ == "__main__":
    PAGE.write_text(schema(), encoding="utf-8")
