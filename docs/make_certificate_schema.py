"""Writes docs/certificate.schema.json and docs/cascade_certificate.schema.json, the forms of the certificates of a judge and of a cascade:
`python docs/make_certificate_schema.py`. Tests hold them equal.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import msgspec

from harness.correction.cascade_certificate import CascadeCertificate
from harness.correction.certificate import Certificate

PAGES = {"certificate.schema.json": Certificate, "cascade_certificate.schema.json": CascadeCertificate}


def schema(form: type) -> str:
    """The JSON schema of a certificate of this form."""
    return json.dumps(_dedented(msgspec.json.schema(form)), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _dedented(value: Any) -> Any:
    """The same with descriptions without indentation: they are docstrings, which Python 3.13 stores so and earlier versions do not."""
    if isinstance(value, dict):
        return {name: inspect.cleandoc(each) if name == "description" else _dedented(each) for name, each in value.items()}
    return [_dedented(each) for each in value] if isinstance(value, list) else value


if __name__ == "__main__":
    for name, form in PAGES.items():
        Path(__file__).with_name(name).write_text(schema(form), encoding="utf-8")
