"""`openai/<model>`: a model at any OpenAI-compatible endpoint, Azure included.

The key comes from the environment: OPENAI_API_KEY, or for Azure AZURE_OPENAI_API_KEY with AZURE_OPENAI_ENDPOINT and
OPENAI_API_VERSION, as the openai client reads them. It is never written anywhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import msgspec

from harness.errors import JudgeError, UsageError
from harness.judges.base import JudgeOptions
from harness.judges.identity import split_label
from harness.judges.rate_limits import RateLimitStatus
from harness.model import Call, JudgeIdentity, Reply
from harness.redaction import RUN, environment_secrets

if TYPE_CHECKING:
    import openai

    from harness.judges.batches import Batches

DEFAULT_URL = "https://api.openai.com/v1"
TIMEOUT_SECONDS = 120.0
_VERSION_NAMES = ("api-version", "api_version", "version")
_OUR_HEADERS = ("content-type", "content-length", "transfer-encoding", "host", "connection", "accept-encoding")
_SAMPLED = "--temperature, --top-p and --seed set how the endpoint samples"
# Fields of a request that the program sets itself -> what to do instead.
_OUR_FIELDS = {
    **dict.fromkeys(("temperature", "top_p", "seed"), _SAMPLED),
    **dict.fromkeys(("model", "messages", "response_format", "logprobs", "top_logprobs"), "--judge, --variant and --prompt decide it"),
    **dict.fromkeys(("max_tokens", "max_completion_tokens"), "the program asks for as much as the answer needs"),
    "n": "--repeats asks several times",
    "stream": "answers are read whole",
}
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
# Variables that the openai client reads -> headers that it then sends.
_ACCOUNT = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}


class Endpoint(msgspec.Struct, frozen=True):
    """The address, key and headers of calls. Azure names the deployment in the path and its version in the query."""

    url: str
    key: str | None
    azure_version: str | None = None
    account: Mapping[str, str] = {}
    query: Mapping[str, str] = {}  # of the base URL: its version, which is kept on every path
    user_headers: Mapping[str, str] = {}  # headers that the user adds; they take precedence

    def completions_url(self, model: str) -> str:
        """Return the URL of chat completions."""
        base = self.url.rstrip("/")
        if self.azure_version is None:
            return f"{base}/chat/completions" + (f"?{urlencode(self.query)}" if self.query else "")
        return f"{base}/openai/deployments/{quote(model, safe='')}/chat/completions?api-version={quote(self.azure_version, safe='')}"

    @property
    def headers(self) -> dict[str, str]:
        agent = {"User-Agent": f"judge-harness/{version('judge-harness')}"}
        if self.azure_version is not None:
            return _joined(agent | {"api-key": self.key or "none"}, self.user_headers)
        return _joined(agent | {"Authorization": f"Bearer {self.key or 'none'}", **self.account}, self.user_headers)


class OpenAIJudge:
    """A model at an HTTP endpoint.

    Its identity is host and model, the version in the address, the names of further headers, and further fields of requests (`body`);
    never the port, the path, the key or the value of a header.
    """

    concurrency = None

    def __init__(
        self, model: str, endpoint: Endpoint, timeout: float | None = None, label: str | None = None, body: Mapping[str, Any] = {}
    ) -> None:
        self._host = _host(endpoint.url)
        self._endpoint = endpoint
        self._model = model
        self._timeout = timeout or TIMEOUT_SECONDS
        self._body = body
        settings: dict[str, Any] = {"endpoint": self._host} if endpoint.url != DEFAULT_URL else {}
        settings |= {"label": label} if label else {}
        settings |= {"query": urlencode(endpoint.query)} if endpoint.query else {}
        settings |= {"headers": ",".join(sorted(endpoint.user_headers, key=str.lower))} if endpoint.user_headers else {}
        settings |= {"body": msgspec.json.encode(body, order="sorted").decode()} if body else {}
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
        self._chat = Chat(transport, self._model, self._host, self._secrets, user_fields=self._body)

    def batches(self) -> Batches:
        """Return the endpoint's batch interface. Sends no request. Raises JudgeError if the key is missing."""
        from harness.judges.batches import Batches
        from harness.judges.chat import Chat

        self._require_key()
        chat = Chat(None, self._model, self._host, self._secrets, user_fields=self._body)
        target = "/v1/chat/completions" if self._endpoint.azure_version is None else "/chat/completions"
        return Batches(_client(self._endpoint, self._timeout, on_this_machine=self.endpoint is None), chat, self._host, target)

    @property
    def _secrets(self) -> list[str]:
        """Secrets that an endpoint or a proxy may echo and that must not be stored."""
        values = [value for value in self._endpoint.user_headers.values() if len(value) >= RUN]  # shorter ones may be words
        return [*([self._endpoint.key] if self._endpoint.key else []), *values, *environment_secrets(os.environ)]

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
    """Return the openai client for an endpoint. It never retries, follows no redirect, and uses no proxy to this machine."""
    import openai  # imported late: it takes half a second

    from harness.judges.batches import raise_refused

    hooks = {"response": [raise_refused]}
    http = openai.DefaultAsyncHttpxClient(trust_env=not on_this_machine, follow_redirects=False, timeout=timeout, event_hooks=hooks)
    key = endpoint.key or "none"
    if endpoint.azure_version is not None:
        return openai.AsyncAzureOpenAI(
            azure_endpoint=endpoint.url,
            api_key=key,
            api_version=endpoint.azure_version,
            default_headers=endpoint.user_headers,
            max_retries=0,
            http_client=http,
        )
    headers = {**endpoint.account, **endpoint.user_headers}
    return openai.AsyncOpenAI(
        base_url=endpoint.url, api_key=key, default_headers=headers, default_query=endpoint.query, max_retries=0, http_client=http
    )


def _joined(headers: Mapping[str, str], user_headers: Mapping[str, str]) -> dict[str, str]:
    """Return headers with those of the user, which replace headers of the same name in any case."""
    names = {name.lower() for name in user_headers}
    return {name: value for name, value in headers.items() if name.lower() not in names} | dict(user_headers)


def _without_query(url: str) -> tuple[str, dict[str, str]]:
    """Return a base URL without the version in its query, and that query. Any other query stays, and is refused with the address."""
    base, _, query = url.partition("?")
    fields = parse_qsl(query, keep_blank_values=True)
    if not fields or any(name.lower() not in _VERSION_NAMES or not re.fullmatch(r"[\w.-]{1,40}", value) for name, value in fields):
        return url, {}
    return base, dict(fields)


def _check_request(headers: Mapping[str, str], body: Mapping[str, Any]) -> None:
    """Raise UsageError for a header that no request can have, and for a field that another flag sets. Values of headers are not shown."""
    for name, value in headers.items():
        if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name) or name.lower() in _OUR_HEADERS:
            raise UsageError(f"--header cannot set '{name}'; it should be NAME=VALUE, with a name such as X-Project")
        if not (value.isprintable() and value.isascii()):
            raise UsageError(f"the value of --header {name} holds characters that no header has (a line break, a letter with an accent)")
    for name in body:
        if name in _OUR_FIELDS:
            raise UsageError(f"--body cannot set '{name}': {_OUR_FIELDS[name]}")


def _host(url: str) -> str:
    """Return the host of a base URL. Raises UsageError unless it is a plain web address, without a key or a query."""
    try:
        parts = urlsplit(url)
        host, invalid = parts.hostname, parts.port == 0
    except ValueError:
        host, invalid = None, True
    if invalid or parts.scheme not in ("http", "https") or not host:
        raise UsageError(f"base URL '{url}' is not a web address; it should look like https://host/v1")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise UsageError(
            "the base URL should look like https://host/v1 or https://host/v1?api-version=2024-10-21 and hold nothing else; "
            "keys belong in environment variables or in --header"
        )
    return host


def _key(environment: Mapping[str, str], name: str) -> str | None:
    key = environment.get(name, "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise JudgeError(f"{name} holds characters that no API key has (a space, a line break, a letter with an accent); set it again")
    return key or None


def open_judge(model: str, options: JudgeOptions) -> OpenAIJudge:
    """Return the judge `openai/<model>`, or `openai/<model>@<label>`, which asks for the same model under another name.

    `--base-url` takes precedence over OPENAI_BASE_URL. Azure's variables are used if neither is given.
    """
    name, label = split_label(model)
    _check_request(options.headers, options.body)
    return OpenAIJudge(name, endpoint_of(options), options.timeout, label, options.body)


def endpoint_of(options: JudgeOptions) -> Endpoint:
    """Return the endpoint of options and environment. Raises UsageError or JudgeError for an invalid one."""
    env = options.environment
    url = options.base_url if options.base_url is not None else env.get("OPENAI_BASE_URL") or None
    azure = env.get("AZURE_OPENAI_ENDPOINT")
    if azure and url is None:
        azure_version = env.get("OPENAI_API_VERSION")
        if not azure_version:
            raise JudgeError("AZURE_OPENAI_ENDPOINT is set, but OPENAI_API_VERSION is not: set it to the version your deployment has")
        return Endpoint(azure, _key(env, "AZURE_OPENAI_API_KEY"), azure_version, user_headers=options.headers)
    account = {header: env[name].strip() for name, header in _ACCOUNT.items() if env.get(name, "").strip()}
    url, query = _without_query(DEFAULT_URL if url is None else url)
    return Endpoint(url, _key(env, "OPENAI_API_KEY"), None, account, query, options.headers)
