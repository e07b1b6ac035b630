"""`openai/<model>`: any OpenAI-compatible endpoint, Azure too, asked in the form of the openai client.

The key comes from the environment: OPENAI_API_KEY, or for Azure AZURE_OPENAI_API_KEY with AZURE_OPENAI_ENDPOINT and
OPENAI_API_VERSION, as the client itself reads them. It is never written anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import msgspec

from harness.errors import JudgeError, UsageError
from harness.judges.allowance import Allowance
from harness.judges.base import JudgeOptions
from harness.model import Call, JudgeIdentity, Reply

if TYPE_CHECKING:
    import openai

    from harness.judges.batches import Batches

DEFAULT_URL = "https://api.openai.com/v1"
TIMEOUT_SECONDS = 120.0
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
# Variables that the openai client reads -> headers that it then sends.
_ACCOUNT = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}


class Endpoint(msgspec.Struct, frozen=True):
    """Where calls go and what goes with them. Azure names the deployment in the path and its version in the query."""

    url: str
    key: str | None
    azure_version: str | None = None
    account: Mapping[str, str] = {}

    def completions(self, model: str) -> str:
        """The address of chat completions."""
        base = self.url.rstrip("/")
        if self.azure_version is None:
            return f"{base}/chat/completions"
        return f"{base}/openai/deployments/{quote(model, safe='')}/chat/completions?api-version={quote(self.azure_version, safe='')}"

    @property
    def headers(self) -> dict[str, str]:
        agent = {"User-Agent": f"judge-harness/{version('judge-harness')}"}
        if self.azure_version is not None:
            return agent | {"api-key": self.key or "none"}
        return agent | {"Authorization": f"Bearer {self.key or 'none'}", **self.account}


class OpenAIJudge:
    """A model behind an HTTP endpoint. Its identity is host and model: never the port, the path or the key."""

    concurrency = None

    def __init__(self, model: str, endpoint: Endpoint, timeout: float | None = None) -> None:
        self._host = _host(endpoint.url)
        self._endpoint = endpoint
        self._model = model
        self._timeout = timeout or TIMEOUT_SECONDS
        self.identity = JudgeIdentity("openai", model, {"endpoint": self._host} if endpoint.url != DEFAULT_URL else {})
        self.endpoint = None if self._host in _LOOPBACK else self._host

    async def start(self, calls: Iterable[Call]) -> None:
        from harness.judges.chat import Chat
        from harness.judges.wire import Wire

        there = self._endpoint
        self._need_key()
        url, here = there.completions(self._model), self.endpoint is None
        wire = Wire(url, there.headers, self._host, timeout=self._timeout, on_this_machine=here)
        self._chat = Chat(wire, self._model, self._host, secrets=[there.key] if there.key else [])

    def batches(self) -> Batches:
        """The endpoint's batch interface, which is opened without asking anything. Raises JudgeError where the key is missing."""
        from harness.judges.batches import Batches
        from harness.judges.chat import Chat

        self._need_key()
        there = self._endpoint
        chat = Chat(None, self._model, self._host, secrets=[there.key] if there.key else [])
        target = "/v1/chat/completions" if there.azure_version is None else "/chat/completions"
        return Batches(_client(there, self._timeout, on_this_machine=self.endpoint is None), chat, self._host, target)

    def _need_key(self) -> None:
        if not self._endpoint.key and self.endpoint is not None:
            name = "AZURE_OPENAI_API_KEY" if self._endpoint.azure_version else "OPENAI_API_KEY"
            raise JudgeError(f"no API key for {self._host}: set the environment variable {name}")

    @property
    def allowance(self) -> Allowance | None:
        return self._chat.allowance

    async def answer(self, call: Call) -> Reply:
        return await self._chat.ask(call)

    async def stop(self) -> None:
        await self._chat.close()


def _client(endpoint: Endpoint, timeout: float, *, on_this_machine: bool) -> openai.AsyncOpenAI:
    """The openai client for an endpoint. It never asks again by itself, follows no redirect, and takes no proxy to this machine."""
    import openai  # late: it takes half a second

    http = openai.DefaultAsyncHttpxClient(trust_env=not on_this_machine, follow_redirects=False, timeout=timeout)
    key = endpoint.key or "none"
    if endpoint.azure_version is not None:
        return openai.AsyncAzureOpenAI(
            azure_endpoint=endpoint.url, api_key=key, api_version=endpoint.azure_version, max_retries=0, http_client=http
        )
    return openai.AsyncOpenAI(base_url=endpoint.url, api_key=key, default_headers=endpoint.account, max_retries=0, http_client=http)


def _host(url: str) -> str:
    """The host of a base URL. Raises UsageError unless it is a plain web address, without a key or anything else in it."""
    try:
        parts = urlsplit(url)
        host, odd = parts.hostname, parts.port == 0
    except ValueError:
        host, odd = None, True
    if odd or parts.scheme not in ("http", "https") or not host:
        raise UsageError(f"base URL '{url}' is not a web address; it should look like https://host/v1")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise UsageError("the base URL should look like https://host/v1 and hold nothing else; keys belong in environment variables")
    return host


def _key(environment: Mapping[str, str], name: str) -> str | None:
    key = environment.get(name, "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise JudgeError(f"{name} holds characters that no key has (a space, a line break, a letter with an accent); set it again")
    return key or None


def open_judge(model: str, options: JudgeOptions) -> OpenAIJudge:
    """The judge `openai/<model>`; `--base-url` goes before OPENAI_BASE_URL, and Azure's variables are used where only they are set."""
    return OpenAIJudge(model, endpoint_of(options), options.timeout)


def endpoint_of(options: JudgeOptions) -> Endpoint:
    """The endpoint that options and environment name. Raises UsageError and JudgeError for what cannot be one."""
    env = options.environment
    url = options.base_url if options.base_url is not None else env.get("OPENAI_BASE_URL") or None
    azure = env.get("AZURE_OPENAI_ENDPOINT")
    if azure and url is None:
        azure_version = env.get("OPENAI_API_VERSION")
        if not azure_version:
            raise JudgeError("AZURE_OPENAI_ENDPOINT is set, but OPENAI_API_VERSION is not: set it to the version your deployment has")
        return Endpoint(azure, _key(env, "AZURE_OPENAI_API_KEY"), azure_version)
    account = {header: env[name].strip() for name, header in _ACCOUNT.items() if env.get(name, "").strip()}
    return Endpoint(DEFAULT_URL if url is None else url, _key(env, "OPENAI_API_KEY"), None, account)
