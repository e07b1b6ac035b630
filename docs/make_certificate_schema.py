"""Writes docs/certificate.schema.json, the form of a certificate: `python docs/make_certificate_schema.py`. A test holds the two equal."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from harness.decide.certificate import Certificate

PAGE = Path(__file__).with_name("certificate.schema.json")


def schema() -> str:
    """The JSON schema of a certificate."""
    return json.dumps(msgspec.json.schema(Certificate), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PAGE.write_text(schema(), encoding="utf-8")
