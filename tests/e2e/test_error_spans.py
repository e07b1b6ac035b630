"""A judge that marks errors, from the request to the judgments on disk, the report and a second reading without any call."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tests.e2e.conftest import MODEL
from tests.translation_folder import write_translations


def test_marked_errors_are_asked_for_kept_and_read_again(cli: Callable[..., Any], endpoint: Any, tmp_path: Path) -> None:
    folder, out = write_translations(tmp_path), tmp_path / "out"
    errors = [{"text": "dveře", "severity": "minor"}, {"text": "okna", "severity": "major"}, {"text": "", "severity": "major"}]
    endpoint.script = lambda request: endpoint.saying({"errors": errors, "score": 64}, model=MODEL)
    command = ("run", "--data", folder, "--judge", f"openai/{MODEL}", "--base-url", endpoint.url, "--variant", "spans", "--limit", "4")
    done = cli(*command, "--out", out, "--yes")
    assert done.code == 0, done.err
    body = endpoint.requests[0].body
    schema = body["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == ["errors", "score"] and schema["properties"]["score"]["maximum"] == 100
    assert body["max_tokens"] > 1_500 and "copied exactly" in body["messages"][0]["content"]
    assert "12 errors; 4 quote words that are not in the text" in done.out
    [path] = out.glob("runs/*/judgments.parquet")
    rows = pq.read_table(path).to_pylist()
    text = folder.joinpath("items.jsonl").read_text("utf-8").splitlines()
    outputs = {item["item_id"]: item["output"] for item in map(json.loads, text)}
    for row in rows:
        placed, unplaced, missing = json.loads(row["spans"])
        assert outputs[row["item_id"]][placed["start"] : placed["end"]] == "dveře"
        assert "start" not in unplaced and missing == {"severity": "major", "missing": True}
        assert row["variant"] == "single+spans" and row["score"] == "64.0"
    asked = len(endpoint.requests)
    path.unlink()
    assert cli(*command, "--out", out, "--yes").code == 0 and len(endpoint.requests) == asked
    assert pq.read_table(path).to_pylist() == rows
