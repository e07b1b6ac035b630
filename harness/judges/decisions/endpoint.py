"""`decisions/<model>` and `systemone/<model>`: a decision model at an HTTP endpoint, in the form of OpenAI or of System One.

The key comes from the variable that the provider's own programs use. It is never written anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

import msgspec

from harness.errors import UsageError
from harness.judges.base import JudgeOptions
from harness.judges.decisions.forms import FORMS
from harness.judges.http_judge import DEFAULT_URL, Endpoint, HttpJudge, check_request, host_of, read_key, without_query
from harness.judges.identity import split_label
from harness.model import Call

_OUR_FIELDS = {
    **dict.fromkeys(("model", "input", "state", "questions"), "--judge, --variant and the data decide it"),
    "stream": "answers are read whole",
}
_PATHS = frozenset(form.path for form in FORMS.values())


class Provider(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The particulars of one provider: the variable of its key, the word before the key, and paths by form."""

    key: str
    scheme: Literal["Bearer", "Basic"] = "Bearer"
    paths: dict[str, str] = {}


@cache
def providers() -> dict[str, Provider]:
    """Return the providers by host; a host that begins with a dot stands for all hosts that end so."""
    return msgspec.toml.decode(Path(__file__).with_name("providers.toml").read_bytes(), type=dict[str, Provider])


def provider_of(host: str, kind: str) -> Provider:
    """Return the provider at a host; an unknown one takes the key of those who made the form."""
    registered = providers()
    provider_of_host = registered.get(host) or next(
        (provider for end, provider in registered.items() if end.startswith(".") and host.endswith(end)), None
    )
    return provider_of_host or Provider("OPENAI_API_KEY" if kind == "decisions" else "TYPESAFE_API_KEY")


class DecisionJudge(HttpJudge):
    """A decision model at an HTTP endpoint."""

    def __init__(self, kind: str, *arguments: Any) -> None:
        super().__init__(kind, *arguments)
        self._kind = kind
        self._form = FORMS[kind]

    @property
    def key_name(self) -> str:
        return provider_of(self._host, self._kind).key

    @property
    def url(self) -> str:
        """The address that requests go to: the base URL itself where it ends in the path of a form, else the provider's path below it."""
        base = self._endpoint.url.rstrip("/")
        path = provider_of(self._host, self._kind).paths.get(self._kind, self._form.path)
        address = base if base.rpartition("/")[2] in _PATHS else f"{base}/{path}"
        return address + (f"?{urlencode(self._endpoint.query)}" if self._endpoint.query else "")

    async def start(self, calls: Iterable[Call]) -> None:
        from harness.judges.decisions.client import DecisionClient
        from harness.judges.transport import Transport

        self._require_key()
        transport = Transport(self.url, self._endpoint.headers, self._host, timeout=self._timeout, on_this_machine=self.endpoint is None)
        self._client = DecisionClient(transport, self._model, self._host, self._form, self._secrets, self._body)


def _open(kind: str, model: str, options: JudgeOptions) -> DecisionJudge:
    name, label = split_label(model)
    check_request(options.headers, options.body, _OUR_FIELDS)
    base_url = options.base_url if options.base_url is not None else _find_usual_url(kind, options.environment)
    if base_url is None:
        raise UsageError(f"{kind}/{model} needs the address of its endpoint: --base-url https://HOST/v1")
    url, query = without_query(base_url)
    provider = provider_of(host_of(url), kind)
    key = read_key(options.environment, provider.key)
    endpoint = Endpoint(url, key, None, {}, query, options.headers, provider.scheme)
    return DecisionJudge(kind, name, endpoint, options.timeout, label, options.body)


def _find_usual_url(kind: str, environment: Mapping[str, str]) -> str | None:
    return (environment.get("OPENAI_BASE_URL") or DEFAULT_URL) if kind == "decisions" else None


def open_decisions(model: str, options: JudgeOptions) -> DecisionJudge:
    """Return the judge `decisions/<model>`, or `decisions/<model>@<label>`: without an address, the model at OpenAI.

    Raises UsageError or JudgeError for an address, a header, a field or a key that cannot be.
    """
    return _open("decisions", model, options)


def open_systemone(model: str, options: JudgeOptions) -> DecisionJudge:
    """Return the judge `systemone/<model>`, or `systemone/<model>@<label>`. Raises as `open_decisions`, also without an address."""
    return _open("systemone", model, options)
