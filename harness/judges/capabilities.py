"""A request in the form of the OpenAI interface, and what of it an endpoint was found to accept.

If an endpoint does not accept an answer format, a parameter or the system role, its first refusal says so, and it is left out from then on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from harness.model import SAMPLING, SYSTEM_ROLE, Call, Message

# Answer formats from strictest to loosest. If an endpoint refuses one, the next one is used from then on.
FORMS = ("json_schema", "json_schema-lenient", "json_object", "text")
_FORM_WORDS = ("response_format", "json_schema", "json_object", "json mode", "schema", "grammar", "structured", "maxlength")
TOP_TOKENS = 20  # the limit of the interface
FEW_TOKENS = 5  # the limit of some endpoints
REASONING_TOKENS = 8192  # extra output tokens for a model that reasons before it answers
# Words of a refusal -> parameters that are left out from then on. Some models accept none of them.
_OPTIONAL_PARAMETERS = {"logprob": ("logprobs", "top_logprobs"), **{name: (name,) for name in SAMPLING}, "seed": ("seed",)}
# How endpoints say that they give fewer alternatives of a token.
_FEWER = re.compile(r"more than|less than|at most|maximum|exceed|greater|allowed|up to|between|limit|\bmax\b")
# How endpoints and chat templates say that they take no system message.
_SYSTEM_REFUSED = re.compile(
    r"system.{0,20}role|role.{0,40}\bsystem\b|(?:system|developer) (?:message|prompt|instruction)s?\b.{0,40}\bnot\b|roles must alternate",
    re.IGNORECASE | re.DOTALL,
)


class Request(msgspec.Struct, frozen=True):
    """A call as it is sent: the body, its answer format, and the parameters that were left out."""

    body: dict[str, Any]
    form: str
    left_out: tuple[str, ...]
    reasoning_tokens: int


class EndpointCapabilities(msgspec.Struct, frozen=True):
    """Which answer format and parameters an endpoint accepts, as far as its refusals have shown.

    `top_tokens` are the alternatives of each token, `length_name` is the parameter for the longest answer, `reasoning_tokens` are extra
    output tokens. Without a `system_role`, the text of the system begins the user's. Batches keep it as JSON, whose names stay as they are.
    """

    form: str = FORMS[0]
    top_tokens: int = TOP_TOKENS
    left_out: tuple[str, ...] = ()
    length_name: str = "max_tokens"  # reasoning models call it max_completion_tokens
    reasoning_tokens: int = msgspec.field(default=0, name="room")
    system_role: bool = True

    def sampling(self, call: Call) -> dict[str, Any]:
        """A call's sampling parameters. Endpoints may refuse any of them."""
        parameters: dict[str, Any] = {"temperature": call.temperature, "seed": call.seed, **call.query.condition.sampling}
        if call.probabilities:
            parameters |= {"logprobs": True, "top_logprobs": self.top_tokens}
        return {name: value for name, value in parameters.items() if value is not None}

    def adapted_to(self, message: str, request: Request) -> EndpointCapabilities | None:
        """What is left after a refusal that names something that can be left out or asked for differently; None if it names nothing.

        The request itself decides: several calls in flight may be refused at once, and each of them has to be asked again.
        """
        words, sent = message.lower(), request.body
        if "max_completion_tokens" in words and "max_tokens" in sent:
            return replace(self, length_name="max_completion_tokens", reasoning_tokens=REASONING_TOKENS)
        if "top_logprobs" in words or ("logprobs" in words and _FEWER.search(words)):
            asked = sent.get("top_logprobs", 0)
            smaller = [int(number) for number in re.findall(r"\b\d{1,2}\b", words) if 0 < int(number) < asked]
            if fewer := max(smaller, default=FEW_TOKENS if asked > FEW_TOKENS else 0):
                return replace(self, top_tokens=fewer)
        if refused := next((names for word, names in _OPTIONAL_PARAMETERS.items() if word in words and set(names) & set(sent)), ()):
            return replace(self, left_out=tuple(sorted({*self.left_out, *refused})))
        if without := self.without_system_role(message, request):
            return without
        if any(word in words for word in _FORM_WORDS) and request.form != FORMS[-1]:
            # otherwise another call in flight was refused first
            return replace(self, form=FORMS[FORMS.index(request.form) + 1]) if self.form == request.form else self
        return None

    def without_system_role(self, message: str, request: Request) -> EndpointCapabilities | None:
        """Without a system role, if the refusal is about that of this request; else None."""
        if SYSTEM_ROLE in request.left_out or not _SYSTEM_REFUSED.search(message):
            return None
        has_system = any(sent["role"] == "system" for sent in request.body["messages"])
        return replace(self, system_role=False) if has_system else None


def merged_system_role(messages: Sequence[Message]) -> list[Message]:
    """The messages with the text of the system at the beginning of the first text of the user."""
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    others = [message for message in messages if message.role != "system"]
    first = next((number for number, message in enumerate(others) if message.role == "user"), None)
    if first is None:
        return [Message("user", system), *others]
    merged = Message("user", f"{system}\n\n{others[first].content}")
    return [*others[:first], merged, *others[first + 1 :]]
