"""`openai/<model>`: a model at any OpenAI-compatible endpoint, Azure included.

The key comes from the environment: OPENAI_API_KEY, or for Azure AZURE_OPENAI_API_KEY with AZURE_OPENAI_ENDPOINT and
OPENAI_API_VERSION, as the openai client reads them. It is never written anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import msgspec

from harness.errors import JudgeError, UsageError
from harness.judges.base import JudgeOptions
from harness.judges.identity import split_label
from harness.judges.rate_limits import RateLimitStatus
from harness.model import Call, JudgeIdentity, Reply
from harness.redaction import environment_secrets

if TYPE_CHECKING:
    import openai

    from harness.judges.batches import Batches

DEFAULT_URL = "https://api.openai.com/v1"
TIMEOUT_SECONDS = 120.0
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
# Variables that the openai client reads -> headers that it then sends.
_ACCOUNT = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}


class Endpoint(msgspec.Struct, frozen=True):
    """The address, key and headers of calls. Azure names the deployment in the path and its version in the query."""

    url: str
    key: str | None
    azure_version: str | None = None
    account: Mapping[str, str] = {}

    def completions_url(self, model: str) -> str:
        """The URL of chat completions."""
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
    """A model at an HTTP endpoint. Its identity is host and model, never the port, the path or the key."""

    concurrency = None

    def __init__(self, model: str, endpoint: Endpoint, timeout: float | None = None, label: str | None = None) -> None:
        self._host = _host(endpoint.url)
        self._endpoint = endpoint
        self._model = model
        self._timeout = timeout or TIMEOUT_SECONDS
        settings = ({"endpoint": self._host} if endpoint.url != DEFAULT_URL else {}) | ({"label": label} if label else {})
        self.identity = JudgeIdentity("openai", f"{model}@{label}" if label else model, settings)
        self.address = endpoint.url.rstrip("/")
        self.endpoint = None if self._host in _LOOPBACK else self._host

    async def start(self, calls: Iterable[Call]) -> None:
        from harness.judges.chat import Chat
        from harness.judges.transport import Transport

        self._require_key()
        transport = Transport(
            self._endpoint.completions_url(self._model),
            self._endpoint.headers,
            self._host,
            timeout=self._timeout,
            on_this_machine=self.endpoint is None,
        )
        self._chat = Chat(transport, self._model, self._host, self._secrets)

    def batches(self) -> Batches:
        """The endpoint's batch interface. Sends no request. Raises JudgeError if the key is missing."""
        from harness.judges.batches import Batches
        from harness.judges.chat import Chat

        self._require_key()
        chat = Chat(None, self._model, self._host, self._secrets)
        target = "/v1/chat/completions" if self._endpoint.azure_version is None else "/chat/completions"
        return Batches(_client(self._endpoint, self._timeout, on_this_machine=self.endpoint is None), chat, self._host, target)

    @property
    def _secrets(self) -> list[str]:
        """Secrets that an endpoint or a proxy may echo and that must not be stored."""
        return [*([self._endpoint.key] if self._endpoint.key else []), *environment_secrets(os.environ)]

    def _require_key(self) -> None:
        if not self._endpoint.key and self.endpoint is not None:
            name = "AZURE_OPENAI_API_KEY" if self._endpoint.azure_version else "OPENAI_API_KEY"
            raise JudgeError(f"no API key for {self._host}: set the environment variable {name}")

    @property
    def rate_limit_status(self) -> RateLimitStatus | None:
        return self._chat.rate_limit_status

    async def answer(self, call: Call) -> Reply:
        return await self._chat.ask(call)

    async def stop(self) -> None:
        await self._chat.close()


def _client(endpoint: Endpoint, timeout: float, *, on_this_machine: bool) -> openai.AsyncOpenAI:
    """The openai client for an endpoint. It never retries, follows no redirect, and uses no proxy to this machine."""
    import openai  # imported late: it takes half a second

    http = openai.DefaultAsyncHttpxClient(trust_env=not on_this_machine, follow_redirects=False, timeout=timeout)
    key = endpoint.key or "none"
    if endpoint.azure_version is not None:
        return openai.AsyncAzureOpenAI(
            azure_endpoint=endpoint.url, api_key=key, api_version=endpoint.azure_version, max_retries=0, http_client=http
        )
    return openai.AsyncOpenAI(base_url=endpoint.url, api_key=key, default_headers=endpoint.account, max_retries=0, http_client=http)


def _host(url: str) -> str:
    """The host of a base URL. Raises UsageError unless it is a plain web address, without a key or a query."""
    try:
        parts = urlsplit(url)
        host, invalid = parts.hostname, parts.port == 0
    except ValueError:
        host, invalid = None, True
    if invalid or parts.scheme not in ("http", "https") or not host:
        raise UsageError(f"base URL '{url}' is not a web address; it should look like https://host/v1")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise UsageError("the base URL should look like https://host/v1 and hold nothing else; keys belong in environment variables")
    return host


def _key(environment: Mapping[str, str], name: str) -> str | None:
    key = environment.get(name, "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise JudgeError(f"{name} holds characters that no API key has (a space, a line break, a letter with an accent); set it again")
    return key or None


def open_judge(model: str, options: JudgeOptions) -> OpenAIJudge:
    """The judge `openai/<model>`, or `openai/<model>@<label>`, which asks for the same model under another name.

    `--base-url` takes precedence over OPENAI_BASE_URL. Azure's variables are used if neither is given.
    """
    name, label = split_label(model)
    return OpenAIJudge(name, endpoint_of(options), options.timeout, label)


def endpoint_of(options: JudgeOptions) -> Endpoint:
    """The endpoint of options and environment. Raises UsageError or JudgeError for an invalid one."""
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
