"""The common part of judges behind an HTTP endpoint: their address with its key and headers, their identity, and the checks of both.

Keys come from the environment. They are never written anywhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, Protocol
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import msgspec

from harness.errors import JudgeError, UsageError
from harness.judges.rate_limit_headers import RateLimitStatus
from harness.model import Call, JudgeIdentity, Reply
from harness.redaction import RUN, environment_secrets

DEFAULT_URL = "https://api.openai.com/v1"
TIMEOUT_SECONDS = 120.0
_VERSION_NAMES = ("api-version", "api_version", "version")
_OUR_HEADERS = ("content-type", "content-length", "transfer-encoding", "host", "connection", "accept-encoding")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Endpoint(msgspec.Struct, frozen=True):
    """The address, key and headers of calls. Azure names the deployment in the path and its version in the query."""

    url: str
    key: str | None
    azure_version: str | None = None
    account: Mapping[str, str] = {}
    query: Mapping[str, str] = {}  # of the base URL: its version, which is kept on every path
    user_headers: Mapping[str, str] = {}  # headers that the user adds; they take precedence
    scheme: str = "Bearer"  # before the key

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
            return joined_headers(agent | {"api-key": self.key or "none"}, self.user_headers)
        return joined_headers(agent | {"Authorization": f"{self.scheme} {self.key or 'none'}", **self.account}, self.user_headers)


class Client(Protocol):
    """Asks calls of one endpoint."""

    rate_limit_status: RateLimitStatus | None

    async def ask(self, call: Call) -> Reply: ...

    async def close(self) -> None: ...


class HttpJudge:
    """A model at an HTTP endpoint.

    Its identity is host and model, the version in the address, the names of further headers, and further fields of requests (`body`);
    never the port, the path, the key or the value of a header.
    """

    concurrency = None

    def __init__(
        self,
        kind: str,
        model: str,
        endpoint: Endpoint,
        timeout: float | None = None,
        label: str | None = None,
        body: Mapping[str, Any] = {},
        persona: str = "",
    ) -> None:
        self._host = host_of(endpoint.url)
        self._endpoint = endpoint
        self._model = model
        self._timeout = timeout or TIMEOUT_SECONDS
        self._body = body
        self._persona = persona
        settings: dict[str, Any] = {"endpoint": self._host} if endpoint.url != DEFAULT_URL else {}
        settings |= {"label": label} if label else {}
        settings |= {"query": urlencode(endpoint.query)} if endpoint.query else {}
        settings |= {"headers": ",".join(sorted(endpoint.user_headers, key=str.lower))} if endpoint.user_headers else {}
        settings |= {"body": msgspec.json.encode(body, order="sorted").decode()} if body else {}
        settings |= {"persona": persona} if persona else {}
        self.identity = JudgeIdentity(kind, f"{model}@{label}" if label else model, settings)
        self.address = endpoint.url.rstrip("/")
        self.endpoint = None if self._host in _LOOPBACK else self._host
        self._client: Client | None = None

    @property
    def key_name(self) -> str:
        """The environment variable that holds the key."""
        return "OPENAI_API_KEY"

    @property
    def rate_limit_status(self) -> RateLimitStatus | None:
        return self._client.rate_limit_status if self._client else None

    async def answer(self, call: Call) -> Reply:
        assert self._client is not None  # `start` comes first
        return await self._client.ask(call)

    async def stop(self) -> None:
        if self._client is not None:
            await self._client.close()

    @property
    def _secrets(self) -> list[str]:
        """Secrets that an endpoint or a proxy may echo and that must not be stored."""
        values = [value for value in self._endpoint.user_headers.values() if len(value) >= RUN]  # shorter ones may be words
        return [*([self._endpoint.key] if self._endpoint.key else []), *values, *environment_secrets(os.environ)]

    def _require_key(self) -> None:
        if not self._endpoint.key and self.endpoint is not None:
            raise JudgeError(f"no API key for {self._host}: set the environment variable {self.key_name}")


def joined_headers(headers: Mapping[str, str], user_headers: Mapping[str, str]) -> dict[str, str]:
    """Return headers with those of the user, which replace headers of the same name in any case."""
    names = {name.lower() for name in user_headers}
    return {name: value for name, value in headers.items() if name.lower() not in names} | dict(user_headers)


def without_query(url: str) -> tuple[str, dict[str, str]]:
    """Return a base URL without the version in its query, and that query. Any other query stays, and is refused with the address."""
    base, _, query = url.partition("?")
    fields = parse_qsl(query, keep_blank_values=True)
    if not fields or any(name.lower() not in _VERSION_NAMES or not re.fullmatch(r"[\w.-]{1,40}", value) for name, value in fields):
        return url, {}
    return base, dict(fields)


def check_request(headers: Mapping[str, str], body: Mapping[str, Any], our_fields: Mapping[str, str]) -> None:
    """Raise UsageError for a header that no request can have, and for a field that another flag sets. Values of headers are not shown.

    `our_fields` says what to do instead of setting a field.
    """
    for name, value in headers.items():
        if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name) or name.lower() in _OUR_HEADERS:
            raise UsageError(f"--header cannot set '{name}'; it should be NAME=VALUE, with a name such as X-Project")
        if not (value.isprintable() and value.isascii()):
            raise UsageError(f"the value of --header {name} holds characters that no header has (a line break, a letter with an accent)")
    for name in body:
        if name in our_fields:
            raise UsageError(f"--body cannot set '{name}': {our_fields[name]}")


def host_of(url: str) -> str:
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


def read_key(environment: Mapping[str, str], name: str) -> str | None:
    key = environment.get(name, "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise JudgeError(f"{name} holds characters that no API key has (a space, a line break, a letter with an accent); set it again")
    return key or None
