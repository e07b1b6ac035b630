"""docs/ten-minutes.md: from the example spreadsheet to a gate in seven commands, none a dead end, printed as they print."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.slow
def test_the_page_leads_from_the_spreadsheet_to_a_gate(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("make_start", DOCS / "make_start.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.TABLE.read_bytes() == module.table(), "run: python docs/make_start.py"
    module.prepare(tmp_path)
    blocks = module.BLOCK.findall((DOCS / "ten-minutes.md").read_text("utf-8"))
    assert len(blocks) == 8
    for command, shown in blocks:
        printed = module.printed(command, tmp_path)
        assert "exit code" not in printed and _without_hashes(printed) == _without_hashes(shown), command


def _without_hashes(text: str) -> str:
    """Pseudonyms are made with each user's own salt, and so the hashes of labels differ."""
    return re.sub(r"\b[0-9a-f]{8,}\b", "#", text)
