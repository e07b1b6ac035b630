"""Runs our judge inside Inspect and promptfoo, and writes what they wrote as fixtures: `make interop-check`.

Runs in an environment of its own (requirements.txt, package.json), in which this checkout is installed as a package. The judge is a
loopback server that answers by the text that it is shown (texts.json). tests/unit/exchange/judges/test_instrument.py holds the fixtures
against our own prompts and parser.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parents[1] / "unit" / "exchange" / "files"
TEXTS = json.loads((HERE / "texts.json").read_text("utf-8"))
MODEL = "tester-2024-01-01"
QUESTION = ("linguistic_acceptability", "open_prompt")
SCORES = {"ja-1": 2, "ja-2": None, "cs-1": 2, "cs-2": None, "cs-3": None}
RESULT = ("promptIdx", "testIdx", "vars", "provider", "prompt", "response", "score", "success", "failureReason", "namedScores")


class Judge(BaseHTTPRequestHandler):
    """An OpenAI-compatible endpoint."""

    def do_POST(self) -> None:
        shown = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][-1]["content"]
        reply = next(text["reply"] for text in TEXTS if text["answer"] in shown)
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": reply}}
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        body = json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": MODEL, "choices": [choice], "usage": usage})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


def in_inspect(folder: Path, environment: dict[str, str]) -> None:
    """The scorer, then the same scores from a file: both in one log."""
    shutil.copy(HERE / "inspect_task.py", folder)
    inspect = [str(Path(sys.executable).parent / "inspect")]
    model = ["--model-role", f"grader=openai-api/local/{MODEL}", "--display", "none"]
    metric, task = QUESTION
    judge = ["--scorer", "harness/judge", "-S", f"metric={metric}", "-S", f"task={task}", "--action", "overwrite"]
    run([*inspect, "eval", "inspect_task.py", "--model", "mockllm/model", "--log-dir", "logs", "--log-format", "json", "--no-score",
         "--epochs", "2", "--display", "none"], folder, environment)  # fmt: skip
    [log] = (folder / "logs").glob("*.json")
    run([*inspect, "score", str(log), *judge, "--output-file", "judged.json", *model], folder, environment)
    harness = [sys.executable, "-m", "harness"]
    run([*harness, "import", "judged.json", "--to", "data"], folder, environment)
    run([*harness, "export", "inspect-scores", "data", "--to", "scores.jsonl"], folder, environment)
    precomputed = ["--scorer", "inspect_ai/precomputed_scores", "-S", "scores=scores.jsonl", "--action", "append"]
    run([*inspect, "score", "judged.json", *precomputed, "--output-file", "both.json", "--display", "none"], folder, environment)
    alone = [*precomputed[:-1], "overwrite", "--output-file", "from_file.json"]
    run([*inspect, "score", "judged.json", *alone, "--display", "none"], folder, environment)
    write_log("ours-inspect-from-file.json", folder / "from_file.json", "precomputed_scores")
    content = json.loads((folder / "both.json").read_text("utf-8"))
    for sample in content["samples"]:
        own, same = (sample["scores"][name]["value"] for name in ("judge", "precomputed_scores"))
        for message in sample["scores"]["judge"]["metadata"]["grading"]:
            message.pop("id")  # new each time
        check("Inspect", sample["id"], own)
        check("Inspect, from a file", sample["id"], same)
    (folder / "both.json").write_text(json.dumps(content), "utf-8")
    write_log("ours-inspect.json", folder / "both.json", "judge")
    write("ours-inspect-scores.jsonl", (folder / "scores.jsonl").read_text("utf-8"))


def write_log(name: str, log: Path, score: str) -> None:
    """Write the part of a log that importers read, with one of its scores."""
    content = json.loads(log.read_text("utf-8"))
    kept = ("id", "epoch", "input", "target", "metadata")
    samples = [
        {part: sample[part] for part in kept}
        | {"output": {"completion": sample["output"]["completion"]}, "scores": {score: sample["scores"][score]}}
        for sample in content["samples"]
    ]
    about = {part: content["eval"][part] for part in ("task", "model")}
    write(name, json.dumps({"version": content["version"], "status": content["status"], "eval": about, "samples": samples}))


def in_promptfoo(folder: Path, environment: dict[str, str], url: str) -> None:
    for name in ("promptfooconfig.yaml", "answers.js"):
        shutil.copy(HERE / name, folder)
    tests = [{"vars": {name: text[name] for name in ("item_id", "language", "prompt", "answer")}} for text in TEXTS]
    (folder / "tests.json").write_text(json.dumps(tests), "utf-8")
    metric, task = QUESTION
    judge = ["--judge", f"openai/{MODEL}", "--metric", metric, "--task", task]
    run([sys.executable, "-m", "harness", "export", "promptfoo-judge", *judge, "--to", "."], folder, environment)
    programs = Path(sys.prefix) / "programs" / "node_modules" / ".bin"
    own = {
        "PATH": f"{programs}:{environment['PATH']}",
        "PROMPTFOO_CONFIG_DIR": str(folder / "home"),
        "PROMPTFOO_PYTHON": sys.executable,
        "OPENAI_BASE_URL": url,
        **dict.fromkeys(("PROMPTFOO_DISABLE_TELEMETRY", "PROMPTFOO_DISABLE_UPDATE", "PROMPTFOO_DISABLE_SHARING"), "1"),
    }
    command = [str(programs / "promptfoo"), "eval", "-o", "results.jsonl", "--no-cache", "--no-progress-bar", "--no-table"]
    run(command, folder, environment | own, expected=100)  # 100: some tests failed, because some replies have no score
    lines = []
    for line in (folder / "results.jsonl").read_text("utf-8").splitlines():
        result = json.loads(line)
        [component] = result["gradingResult"]["componentResults"]
        check("promptfoo", result["vars"]["item_id"], None if component["metadata"].get("graderError") else component["score"])
        graded = {name: result["gradingResult"][name] for name in ("pass", "score", "reason", "componentResults")}
        lines.append(json.dumps({name: result[name] for name in RESULT} | {"gradingResult": graded}, ensure_ascii=False))
    write("ours-promptfoo.jsonl", "\n".join(sorted(lines)) + "\n")


def run(command: list[str], folder: Path, environment: dict[str, str], expected: int = 0) -> None:
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode != expected:
        sys.exit(f"{' '.join(command)} ended with {ended.returncode}, not {expected}:\n{ended.stdout[-3000:]}{ended.stderr[-3000:]}")


def check(program: str, item_id: str, score: Any) -> None:
    found = None if score != score else score  # NaN is no score
    if found != SCORES[item_id]:
        sys.exit(f"{program} has the score {found} for {item_id}, and {SCORES[item_id]} is right")


def write(name: str, text: str) -> None:
    """Write a fixture. Nothing of this machine is in it."""
    for private in (str(HERE), str(Path.home()), sys.prefix, tempfile.gettempdir()):
        if private in text:
            sys.exit(f"{name} would hold the path {private}")
    (FIXTURES / name).write_text(text, "utf-8")


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Judge)
    Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {
            "LOCAL_BASE_URL": url, "LOCAL_API_KEY": "none", "OPENAI_API_KEY": "none", "HARNESS_CACHE": f"{folder}/cache"
        }  # fmt: skip
        environment.pop("PYTHONPATH", None)
        for name, use in (("inspect", in_inspect), ("promptfoo", lambda *given: in_promptfoo(*given, url))):
            (Path(folder) / name).mkdir()
            shutil.copy(HERE / "texts.json", Path(folder) / name)
            use(Path(folder) / name, environment)
    print("Inspect and promptfoo have the scores that they should have")


if __name__ == "__main__":
    main()
