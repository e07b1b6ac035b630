"""`decider/<name or path>`: an open decision model in this process, without key and network (the extra `decider`)."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from harness.content.tags import suggest
from harness.errors import FatalReply, JudgeError, UsageError
from harness.judges.decisions.endpoint import systemone_question
from harness.judges.identity import packaged_deciders
from harness.judges.judge_protocol import JudgeOptions
from harness.model import Call, JudgeIdentity, Reply
from harness.parse.probabilities import SYSTEMONE
from harness.prompts import asked_of
from harness.row_files import sha256_of

_EXTRA = "pip install 'judge-harness[decider]'"
_ENDING = ".sparrow"


class EmbeddedDecider:
    """One call at a time in this thread: a call takes less than a millisecond."""

    concurrency = 1
    endpoint = None

    def __init__(self, name: str, path: Path, sha256: str) -> None:
        self._path = path
        self.identity = JudgeIdentity("decider", name, {"sha256": sha256})
        self._model: Any = None

    async def start(self, calls: Iterable[Call]) -> None:
        from sparrow_decider import Decider

        try:
            self._model = Decider.load(str(self._path))
        except Exception as err:  # the package raises whatever its readers of archives raise
            raise JudgeError(f"{self._path.name} cannot be loaded as a decision model ({type(err).__name__}: {err})") from None

    async def answer(self, call: Call) -> Reply:
        texts, questions = asked_of(call.prompt)
        start = time.perf_counter()
        try:
            answers = self._model.ask(texts, {name: systemone_question(question) for name, question in questions.items()})
        except Exception as err:  # the package raises whatever its arithmetic raises
            raise FatalReply(f"{self.identity.name} could not answer ({type(err).__name__}: {err})") from err
        seconds = round(time.perf_counter() - start, 6)
        return Reply(text=msgspec.json.encode(answers).decode(), model=self._model.name, form=SYSTEMONE, seconds=seconds)

    async def stop(self) -> None:
        self._model = None


def open_judge(name: str, options: JudgeOptions) -> EmbeddedDecider:
    """Return the judge `decider/<name>`: a packaged model, or the path of a file that ends in .sparrow.

    Raises UsageError for an unknown name, JudgeError without the extra, and for a file that is missing or not the published one.
    """
    if name not in packaged_deciders() and not name.endswith(_ENDING):
        raise UsageError(
            f"no decision model '{name}'.{suggest(name, packaged_deciders())}\n         packaged: {', '.join(packaged_deciders())}; "
            f"or a path that ends in {_ENDING}; other open models serve the form of System One: systemone/<model> with --base-url"
        )
    if find_spec("sparrow_decider") is None:
        raise JudgeError(f"decider/{name} needs the package 'sparrow-decider', which is not installed: {_EXTRA}")
    if name not in packaged_deciders():
        path = Path(name)
        if not path.is_file():
            raise JudgeError(
                f"no decision model at {path}; give the path of a {_ENDING} file, or choose from: {', '.join(packaged_deciders())}"
            )
        return EmbeddedDecider(path.stem, path, sha256_of(path))
    import sparrow_decider

    model = packaged_deciders()[name]
    path = Path(os.path.dirname(sparrow_decider.__file__)) / "models" / f"{model.file}{_ENDING}"
    sha256 = sha256_of(path) if path.is_file() else "none"
    if sha256 != model.sha256:
        raise JudgeError(
            f"the model in the installed '{model.package}' is not that of version {model.version} "
            f"(sha256 {sha256[:12]}, expected {model.sha256[:12]}…): {_EXTRA}"
        )
    return EmbeddedDecider(name, path, sha256)
