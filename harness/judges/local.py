"""`local/<model>`: a GGUF model behind llama.cpp's OpenAI-compatible server, in this process (`xllamacpp`)."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.errors import JudgeError
from harness.judges.base import JudgeOptions
from harness.judges.chat_template_tokens import neutralise
from harness.judges.models import ModelFile, find
from harness.model import Call, JudgeIdentity, Reply
from harness.prompts import is_english

TIMEOUT_SECONDS = 1800.0  # a large prompt on a slow machine is no reason to ask again
_CONTEXT_STEP = 1024
_CHAT_TOKENS = 64  # the chat template's own
# Small models are limited by memory bandwidth: beyond 8 threads, more of them only wait for each other.
_MAX_THREADS = 8


class LocalJudge:
    """One call at a time, so that all metrics of an item find the item's tokens in the cache: on few cores that is fastest."""

    concurrency = 1
    endpoint = None

    def __init__(self, model: ModelFile) -> None:
        self._file = model
        self.identity = JudgeIdentity("local", model.name, {"sha256": model.sha256, "reasons": "ascii"})
        self._server: Any = None

    async def start(self, calls: Iterable[Call]) -> None:
        from harness.judges.chat import Chat
        from harness.judges.transport import Transport

        key = secrets.token_hex(16)  # without a key the server answers every process of this machine
        self._server = _serve(self._file.path, self._file.name, max(map(context_needed, calls)), key)
        transport = Transport(
            f"{self._server.listening_address}/v1/chat/completions",
            {"Authorization": f"Bearer {key}"},
            "the local model",
            timeout=TIMEOUT_SECONDS,
            on_this_machine=True,
        )
        self._chat = Chat(transport, self._file.name, "the local model", secrets=[key], clean=neutralise, shape=_make_schema)

    async def answer(self, call: Call) -> Reply:
        return await self._chat.ask(call)

    async def stop(self) -> None:
        await self._chat.close()
        self._server = None


def _make_schema(call: Call) -> Any:
    """Return the call's schema. English justifications are limited to ASCII; justifications in the item's language are not."""
    schema = call.prompt.schema
    asked_language = call.query.condition.variant.reasons_in(call.query.item.language)
    return with_ascii_justifications(schema) if is_english(asked_language) else schema


def with_ascii_justifications(schema: Any) -> Any:
    r"""Return the schema with justifications limited to printable ASCII.

    Small models otherwise drift into the language of the text and do not end.

    >>> with_ascii_justifications({"justification": {"type": "string", "maxLength": 9}})
    {'justification': {'type': 'string', 'pattern': '^[ !#-\\[\\]-~]{1,9}$'}}
    """
    if not isinstance(schema, dict):
        return schema
    limited = {
        key: {"type": "string", "pattern": f"^[ !#-\\[\\]-~]{{1,{value['maxLength']}}}$"}
        for key, value in schema.items()
        if key == "justification" and isinstance(value, dict) and "maxLength" in value
    }
    return {key: limited.get(key) or with_ascii_justifications(value) for key, value in schema.items()}


def context_needed(call: Call) -> int:
    """Return an upper estimate of a call's tokens: one for three ASCII characters, two for any other character, and the longest answer."""
    text = "".join(message.content for message in call.prompt.messages)
    ascii_characters = sum(character.isascii() for character in text)
    return ascii_characters // 3 + 2 * (len(text) - ascii_characters) + call.prompt.max_tokens + _CHAT_TOKENS


def thread_count() -> int:
    """Return the number of threads: one for each core that this process may use, at most 8.

    Cores that another process keeps busy at this moment count too: it may end, and beside it all threads take no longer than fewer
    threads (`benchmarks/local.py` measures both).
    """
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows do not have it
        cores = os.cpu_count() or 1
    return min(cores, _MAX_THREADS)


def _serve(path: Path, alias: str, context: int, key: str) -> Any:
    # Threads that spin for long at every barrier starve each other when another process needs a core: a run of 33 s then takes minutes.
    # A short spin costs nothing on an idle machine. OpenMP reads this variable once, when the library is loaded.
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    try:
        import xllamacpp
    except ImportError as err:
        raise JudgeError(
            f"local models need the package 'xllamacpp', which cannot be loaded here: {err} (on Debian: apt-get install libgomp1)"
        ) from None
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.model_alias = {alias}
    parameters.n_parallel = 1
    parameters.n_ctx = -(-context // _CONTEXT_STEP) * _CONTEXT_STEP
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = thread_count()
    parameters.n_gpu_layers = 0
    parameters.warmup = False
    parameters.cache_ram_mib = 0
    parameters.verbosity = -1  # its log would break the progress bar
    parameters.port = 0
    parameters.api_keys = [key]
    try:
        return xllamacpp.Server(parameters)
    except Exception as err:  # the binding raises bare RuntimeError and others
        raise JudgeError(f"{path} cannot be loaded as a model ({err}); is the file complete? Fetch it again") from None


def open_judge(name: str, options: JudgeOptions) -> LocalJudge:
    """Return the judge `local/<name>`: a packaged model, a path to a .gguf file, or a hub file `<owner>/<repo>:<file>.gguf`."""
    return LocalJudge(find(name))
