"""`openai/<model>`: a model at any OpenAI-compatible endpoint, Azure included.

The key comes from the environment: OPENAI_API_KEY, or for Azure AZURE_OPENAI_API_KEY with AZURE_OPENAI_ENDPOINT and
OPENAI_API_VERSION, as the openai client reads them. It is never written anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from harness.errors import JudgeError
from harness.judges.http_judge import DEFAULT_URL, Endpoint, HttpJudge, check_request, read_key, without_query
from harness.judges.identity import split_label
from harness.judges.judge_protocol import JudgeOptions
from harness.model import Call

if TYPE_CHECKING:
    import openai

    from harness.judges.batches import Batches

_SAMPLED = "--temperature, --top-p and --seed set how the endpoint samples"
# Fields of a request that the program sets itself -> what to do instead.
_OUR_FIELDS = {
    **dict.fromkeys(("temperature", "top_p", "seed"), _SAMPLED),
    **dict.fromkeys(("model", "messages", "response_format", "logprobs", "top_logprobs"), "--judge, --variant and --prompt decide it"),
    **dict.fromkeys(("max_tokens", "max_completion_tokens"), "the program asks for as much as the answer needs"),
    "n": "--repeats asks several times",
    "stream": "answers are read whole",
}
# Variables that the openai client reads -> headers that it then sends.
_ACCOUNT = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}


class OpenAIJudge(HttpJudge):
    """A chat model at an HTTP endpoint."""

    @property
    def key_name(self) -> str:
        return "AZURE_OPENAI_API_KEY" if self._endpoint.azure_version else "OPENAI_API_KEY"

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
        self._client = Chat(transport, self._model, self._host, self._secrets, user_fields=self._body, persona=self._persona)

    def batches(self) -> Batches:
        """Return the endpoint's batch interface. Sends no request. Raises JudgeError if the key is missing."""
        from harness.judges.batches import Batches
        from harness.judges.chat import Chat

        self._require_key()
        chat = Chat(None, self._model, self._host, self._secrets, user_fields=self._body, persona=self._persona)
        target = "/v1/chat/completions" if self._endpoint.azure_version is None else "/chat/completions"
        return Batches(_client(self._endpoint, self._timeout, on_this_machine=self.endpoint is None), chat, self._host, target)


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


def open_judge(model: str, options: JudgeOptions) -> OpenAIJudge:
    """Return the judge `openai/<model>`, or `openai/<model>@<label>`, which asks for the same model under another name.

    `--base-url` takes precedence over OPENAI_BASE_URL. Azure's variables are used if neither is given.
    """
    name, label = split_label(model)
    check_request(options.headers, options.body, _OUR_FIELDS)
    return OpenAIJudge("openai", name, endpoint_of(options), options.timeout, label, options.body, options.persona)


def endpoint_of(options: JudgeOptions) -> Endpoint:
    """Return the endpoint of options and environment. Raises UsageError or JudgeError for an invalid one."""
    env = options.environment
    url = options.base_url if options.base_url is not None else env.get("OPENAI_BASE_URL") or None
    azure = env.get("AZURE_OPENAI_ENDPOINT")
    if azure and url is None:
        azure_version = env.get("OPENAI_API_VERSION")
        if not azure_version:
            raise JudgeError("AZURE_OPENAI_ENDPOINT is set, but OPENAI_API_VERSION is not: set it to the version your deployment has")
        return Endpoint(azure, read_key(env, "AZURE_OPENAI_API_KEY"), azure_version, user_headers=options.headers)
    account = {header: env[name].strip() for name, header in _ACCOUNT.items() if env.get(name, "").strip()}
    url, query = without_query(DEFAULT_URL if url is None else url)
    return Endpoint(url, read_key(env, "OPENAI_API_KEY"), None, account, query, options.headers)
