"""`openai/<model>`: any OpenAI-compatible endpoint, Azure too, through the openai client.

The key comes from the environment: OPENAI_API_KEY, or for Azure AZURE_OPENAI_API_KEY with AZURE_OPENAI_ENDPOINT and
OPENAI_API_VERSION, as the client itself reads them. It is never written anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from harness.errors import JudgeError, UsageError
from harness.judges.base import JudgeOptions
from harness.model import Call, JudgeIdentity, Reply

DEFAULT_URL = "https://api.openai.com/v1"
TIMEOUT_SECONDS = 120.0
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class OpenAIJudge:
    """A model behind an HTTP endpoint. Its identity is host and model: never the port, the path or the key."""

    concurrency = 16

    def __init__(self, model: str, url: str, key: str | None, azure_version: str | None = None) -> None:
        self._host = _host(url)
        self._url, self._key, self._azure_version = url, key, azure_version
        self._model = model
        self.identity = JudgeIdentity("openai", model, {"endpoint": self._host} if url != DEFAULT_URL else {})
        self.endpoint = None if self._host in _LOOPBACK else self._host

    async def start(self, calls: Sequence[Call]) -> None:
        import openai  # late: 0.4 s

        from harness.judges.chat import Chat, http_client

        if not self._key and self.endpoint is not None:
            name = "AZURE_OPENAI_API_KEY" if self._azure_version else "OPENAI_API_KEY"
            raise JudgeError(f"no API key for {self._host}: set the environment variable {name}")
        key = self._key or "none"  # the client wants one even where the endpoint does not
        carrier = http_client(on_this_machine=self.endpoint is None)
        client: openai.AsyncOpenAI
        if self._azure_version:
            client = openai.AsyncAzureOpenAI(
                azure_endpoint=self._url,
                api_version=self._azure_version,
                api_key=key,
                max_retries=0,
                timeout=TIMEOUT_SECONDS,
                http_client=carrier,
            )
        else:
            client = openai.AsyncOpenAI(base_url=self._url, api_key=key, max_retries=0, timeout=TIMEOUT_SECONDS, http_client=carrier)
        self._chat = Chat(client, self._model, self._host, secrets=[key] if self._key else [])

    async def answer(self, call: Call) -> Reply:
        return await self._chat.ask(call)

    async def stop(self) -> None:
        await self._chat.close()


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
    env = options.environment
    url = options.base_url if options.base_url is not None else env.get("OPENAI_BASE_URL") or None
    azure = env.get("AZURE_OPENAI_ENDPOINT")
    if azure and url is None:
        version = env.get("OPENAI_API_VERSION")
        if not version:
            raise JudgeError("AZURE_OPENAI_ENDPOINT is set, but OPENAI_API_VERSION is not: set it to the version your deployment has")
        return OpenAIJudge(model, azure, _key(env, "AZURE_OPENAI_API_KEY"), version)
    return OpenAIJudge(model, DEFAULT_URL if url is None else url, _key(env, "OPENAI_API_KEY"))
