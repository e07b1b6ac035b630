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
_FORM_WORDS = (
    "response_format", "json_schema", "json_object", "json mode", "schema", "grammar", "structured", "maxlength",
    "requested parameters",
)  # fmt: skip
TOP_TOKENS = 20  # the limit of the interface
FEW_TOKENS = 5  # the limit of some endpoints
REASONING_TOKENS = 8192  # extra output tokens for a model that reasons before it answers
_LEAST_OUTPUT = 16  # tokens
_LEAST_STEP = 32  # tokens
_MOST_NUMBERS = 12  # of a message
_LEAST_REASONING_TOKENS = 256  # fewer extra tokens are not worth a further request
# Words of a refusal -> parameters that are left out from then on. Some models accept none of them.
_OPTIONAL_PARAMETERS = {"logprob": ("logprobs", "top_logprobs"), **{name: (name,) for name in SAMPLING}, "seed": ("seed",)}
_COUNTED = re.compile(
    r"\b\d{1,2}\b|more than|less than|at most|too many|maximum|exceed|greater|up to|between"
)  # a refusal of so many alternatives, not of all
# "max_tokens is not supported, use max_completion_tokens": not every refusal that names both says so.
_RENAMED = re.compile(r"unsupported|not supported|not compatible|\buse\b|instead|deprecated|unknown|unrecogni[sz]ed|not permitted|replaced")
# How endpoints say that a model is only served as a stream.
_STREAM_ONLY = re.compile(
    r"\bonly\b.{0,60}\bstream|\bstream\w{0,6}\W{0,3}(?:only|mode|=|:|is required|must|needs|set to true)|"
    r"\bstream_?(?:only|required)|\bnon[- ]?stream|"
    r"(?:must|needs?|requires?|enable|please|use|set)\b.{0,30}\bstream|not support http call",
    re.DOTALL,
)
_NUMBER = re.compile(r"(?<![\w.-])\d{1,3}(?:[,_]\d{3})+(?![\w-])|(?<![\w.-])\d{1,12}(?![\w-])(?!\.\d)")
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
    output_tokens: int
    reasoning_refused: bool


class EndpointCapabilities(msgspec.Struct, frozen=True):
    """The answer format and parameters that an endpoint accepts, as far as its refusals have shown.

    `top_tokens` are the alternatives of each token, `length_name` is the parameter for the longest answer, `reasoning_tokens` are extra
    output tokens. Without a `system_role`, the text of the system begins the user's. Batches keep it as JSON, whose names stay as they are.
    """

    form: str = FORMS[0]
    top_tokens: int = TOP_TOKENS
    left_out: tuple[str, ...] = ()
    length_name: str = "max_tokens"  # reasoning models call it max_completion_tokens
    reasoning_tokens: int = msgspec.field(default=0, name="room")
    system_role: bool = True
    most_output: int = 0
    stream: bool = False
    reasoning_refused: bool = False  # more extra tokens were refused, so none are added again

    def output_tokens(self, call: Call) -> int:
        """Return the length of the longest answer that a call asks for: the answer's own and what reasoning may need before it."""
        wanted = call.prompt.max_tokens + self.reasoning_tokens
        return min(wanted, self.most_output) if self.most_output else wanted

    def sampling(self, call: Call) -> dict[str, Any]:
        """Return a call's sampling parameters. Endpoints may refuse any of them."""
        parameters: dict[str, Any] = {"temperature": call.temperature, "seed": call.seed, **call.query.condition.sampling}
        if call.probabilities:
            parameters |= {"logprobs": True, "top_logprobs": self.top_tokens}
        return {name: value for name, value in parameters.items() if value is not None}

    def adapted_to(self, message: str, request: Request) -> EndpointCapabilities | None:
        """Return the capabilities after a refusal that names what can be left out or asked for differently; None if it names nothing.

        The request itself decides: several calls in flight may be refused at once, and each of them has to be asked again.
        """
        words, sent = message.lower(), request.body
        if "stream_options" in words and "stream_options" in sent:
            return replace(self, left_out=tuple(sorted({*self.left_out, "stream_options"})))
        if not sent.get("stream") and _STREAM_ONLY.search(words):
            return replace(self, stream=True)
        if "max_completion_tokens" in words and "max_tokens" in sent and _RENAMED.search(words):
            return replace(self, length_name="max_completion_tokens", reasoning_tokens=REASONING_TOKENS)
        if "top_logprobs" in words or ("logprob" in words and _COUNTED.search(words)):
            requested = sent.get("top_logprobs", 0)
            fewer = max((number for number in _find_numbers(words) if 0 < number < requested), default=FEW_TOKENS)
            if fewer < requested:
                return replace(self, top_tokens=min(fewer, self.top_tokens))
        if refused := next((names for word, names in _OPTIONAL_PARAMETERS.items() if word in words and set(names) & set(sent)), ()):
            return replace(self, left_out=tuple(sorted({*self.left_out, *refused})))
        if without := self.without_system_role(message, request):
            return without
        if any(word in words for word in _FORM_WORDS) and request.form != FORMS[-1]:
            # otherwise another call in flight was refused first
            return replace(self, form=FORMS[FORMS.index(request.form) + 1]) if self.form == request.form else self
        return None

    def with_less_output(self, message: str, request: Request) -> EndpointCapabilities | None:
        """Return the capabilities after a refusal of so long an answer, by a limit for every text; None if it cannot be shorter."""
        requested = request.output_tokens
        shorter = max((number for number in _find_numbers(message) if _LEAST_OUTPUT <= number < requested), default=requested // 2)
        if shorter < _LEAST_OUTPUT:
            return None
        return replace(self, most_output=min(shorter, self.most_output or shorter))  # another call in flight may have been refused first

    def with_less_reasoning(self, message: str, request: Request) -> EndpointCapabilities | None:
        """Return capabilities with as many extra tokens as the refusal of one text leaves, or half of them; None if none were asked for.

        The text and the answer share the context, so that the difference of two numbers may be what is left.
        """
        if not request.reasoning_tokens:
            return None
        numbers = [number for number in _find_numbers(message) if number != request.output_tokens]
        answer_tokens = request.output_tokens - request.reasoning_tokens
        rests = [first - second - answer_tokens for first in numbers for second in numbers]
        most = request.reasoning_tokens - _LEAST_STEP  # so that a series of refusals ends
        shorter = max((rest for rest in rests if _LEAST_REASONING_TOKENS <= rest <= most), default=request.reasoning_tokens // 2)
        return replace(self, reasoning_tokens=shorter if shorter >= _LEAST_REASONING_TOKENS else 0, reasoning_refused=True)

    def without_system_role(self, message: str, request: Request) -> EndpointCapabilities | None:
        """Return capabilities without a system role, if the refusal is about that of this request; else None."""
        if SYSTEM_ROLE in request.left_out or not _SYSTEM_REFUSED.search(message):
            return None
        has_system = any(sent["role"] == "system" for sent in request.body["messages"])
        return replace(self, system_role=False) if has_system else None


def _find_numbers(message: str) -> list[int]:
    """Return the first numbers of a message that may be counts of tokens.

    >>> _find_numbers("8,592 > 4096 - 700 (gpt-4o-2024-08-06, https://x.invalid/v1.2)")
    [8592, 4096, 700]
    """
    return [int(re.sub("[,_]", "", number)) for number in _NUMBER.findall(message)[:_MOST_NUMBERS]]


def merged_system_role(messages: Sequence[Message]) -> list[Message]:
    """Return the messages with the text of the system at the beginning of the first text of the user."""
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    remaining = [message for message in messages if message.role != "system"]
    first = next((number for number, message in enumerate(remaining) if message.role == "user"), None)
    if first is None:
        return [Message("user", system), *remaining]
    merged = Message("user", f"{system}\n\n{remaining[first].content}")
    return [*remaining[:first], merged, *remaining[first + 1 :]]
