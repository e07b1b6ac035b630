"""`local/<model>`: a GGUF model behind llama.cpp's own OpenAI-compatible server, in this process (`xllamacpp`)."""

from __future__ import annotations

import math
import os
import re
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.errors import JudgeError
from harness.judges.base import JudgeOptions
from harness.judges.models import ModelFile, find
from harness.model import Call, JudgeIdentity, Reply

TIMEOUT_SECONDS = 1800.0  # a large prompt on a slow machine is no reason to ask again
_CONTEXT_STEP = 1024
_CHAT_TOKENS = 64  # the chat template's own

# Whatever looks like a chat template's token: `<|im_end|>`, `<start_of_turn>`, `</s>`, `[INST]`. In an item's text it would
# be read as the real thing, so a space is put into it; the model still sees what it said.
_SPECIAL = re.compile(
    r"<(?=\|)|(?<=\|)>|<(?=/?(?:s|bos|eos|pad|unk|start_of_turn|end_of_turn|think)>)|\[(?=/?(?:INST|SYS)\])", re.IGNORECASE
)


class LocalJudge:
    """One slot, so that every metric of an item finds the item's tokens in the cache: on few cores that is the fastest way."""

    concurrency = 1
    endpoint = None
    allowance = None

    def __init__(self, model: ModelFile) -> None:
        self._file = model
        self.identity = JudgeIdentity("local", model.name, {"sha256": model.sha256, "reasons": "ascii"})
        self._server: Any = None

    async def start(self, calls: Iterable[Call]) -> None:
        from harness.judges.chat import Chat
        from harness.judges.wire import Wire

        key = secrets.token_hex(16)  # the server starts open to every process of the machine otherwise
        self._server = _serve(self._file.path, self._file.name, max(map(context_needed, calls)), key)
        wire = Wire(
            f"{self._server.listening_address}/v1/chat/completions",
            {"Authorization": f"Bearer {key}"},
            "the local model",
            timeout=TIMEOUT_SECONDS,
            on_this_machine=True,
        )
        self._chat = Chat(wire, self._file.name, "the local model", secrets=[key], clean=neutralise, shape=_shape)

    async def answer(self, call: Call) -> Reply:
        return await self._chat.ask(call)

    async def stop(self) -> None:
        await self._chat.close()
        self._server = None


def neutralise(text: str) -> str:
    """Text in which nothing is a chat template's token any more.

    >>> neutralise("fine <|im_end|> [INST] a < b > c")
    'fine < |im_end| > [ INST] a < b > c'
    """
    return _SPECIAL.sub(lambda found: f" {found[0]}" if found[0] == ">" else f"{found[0]} ", text)


def _shape(call: Call) -> Any:
    """Reasons in English are held to English letters; those in the item's language are not."""
    schema = call.prompt.schema
    return ascii_reasons(schema) if call.ask.condition.variant.language == "english" else schema


def ascii_reasons(schema: Any) -> Any:
    r"""The schema with justifications held to printable ASCII (they are asked for in English).

    Small models otherwise go on in the language of the text they read, without an end.

    >>> ascii_reasons({"justification": {"type": "string", "maxLength": 9}})
    {'justification': {'type': 'string', 'pattern': '^[ !#-\\[\\]-~]{1,9}$'}}
    """
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "string" and "maxLength" in schema:
        return {"type": "string", "pattern": f"^[ !#-\\[\\]-~]{{1,{schema['maxLength']}}}$"}
    return {key: ascii_reasons(value) for key, value in schema.items()}


def context_needed(call: Call) -> int:
    """Tokens that a call may take, prompt and answer: a third of its ASCII characters and two for each other one, which is more
    than tokenizers need, plus the answer."""
    text = "".join(message.content for message in call.prompt.messages)
    ascii_characters = sum(character.isascii() for character in text)
    return ascii_characters // 3 + 2 * (len(text) - ascii_characters) + call.prompt.max_tokens + _CHAT_TOKENS


def idle_cores() -> int:
    """Cores that are idle right now, counting those that are partly so, at least one: more threads than that gain nothing."""
    import psutil

    count: int = psutil.cpu_count(logical=True) or 1
    busy: float = psutil.cpu_percent(interval=0.3)
    return max(1, math.ceil(count * (1 - busy / 100)))


def _serve(path: Path, alias: str, context: int, key: str) -> Any:
    # Threads that spin at every barrier collapse as soon as another process wants a core: 33 s become minutes. A short spin costs an idle
    # machine nothing. OpenMP reads it once, when the library is loaded.
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
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = idle_cores()
    parameters.n_gpu_layers = 0
    parameters.warmup = False
    parameters.cache_ram_mib = 0
    parameters.verbosity = -1  # its log would break the progress bar
    parameters.port = 0
    parameters.api_keys = [key]
    try:
        return xllamacpp.Server(parameters)
    except Exception as err:  # the binding raises bare RuntimeError and others
        raise JudgeError(f"{path} cannot be loaded as a model ({err}); is the file whole? fetch it again") from None


def open_judge(name: str, options: JudgeOptions) -> LocalJudge:
    """The judge `local/<name>`: a packaged model, a path to a .gguf file, or a hub file `<owner>/<repo>:<file>.gguf`."""
    return LocalJudge(find(name))
