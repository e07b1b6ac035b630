"""Sorts refusals of an endpoint by their subject: the length of a text, the provider's policy, a limit, a parameter, or none that is known.

The whole body is read: lists, every level of an error, and the JSON text in which a gateway passes on what the provider said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, Literal

import msgspec

Subject = Literal["output limit", "length", "policy", "rate", "unknown"]

# A refusal can be about the text of a call only with one of these statuses. With 500 and 502 only the length is believed: llama.cpp and
# gateways say it so.
_ABOUT_A_TEXT = frozenset({400, 403, 413, 422, 446, 451})  # 446: guardrails of a gateway
_BROKEN = frozenset({500, 502})
_OUTPUT = re.compile(
    r"max[_ ]?(?:completion[_ ]|output[_ ]|new[_ ])?tokens|maxoutputtokens|maximum tokens|(?:output|completion) tokens|num_predict"
)
_LIMIT = re.compile(
    r"too (?:large|high|big|many)|at most|(?:less|lower|smaller|fewer|greater|larger|higher|more) than|less or equal|exceed|"
    r"above|[<>]|range|maximum|max value|limit|between|out of bounds|up to|超过|超出|范围"
)
_INPUT = re.compile(
    r"\binputs?\b|\bprompts?\b|\bmessages\b|context (?:length|size|limit)|context window of|n_ctx|max[_ ]model[_ ]len|model length|"
    r"输入|上下文"
)
_TOO_LONG = re.compile(
    r"context[_ ]length|context[_ ]size|context[_ ]limit|context[_ ]?window|context overflow|context is full|exceeds? (?:the )?context|"
    r"maximum context|max_context|max[_ ]model[_ ]len|maximum model length|length limit|greater than the context|"
    r"longer than the (?:context|model)|(?<!took )(?<!taking )too[_ ]long(?! to)|"
    r"too many (?:input |prompt )?tokens|too large (?:for (?:the )?(?:model|context)|to process)|context shift|does not fit|"
    r"tokens? limit exceeded|model(?:'s)? (?:max\w* )?tokens? limit|exceeds? (?:the )?tokens? limit|request_too_large|"
    r"string_above_max_length|inputs?`? (?:token count|tokens? exceed|tokens \+|length)|"
    r"must have (?:less|fewer) than \d+ tokens|max(?:imum)? size: \d+ tokens|tokens_limit_reached|"
    r"prompt (?:length|tokens? exceed|exceeds|contains too many)|"
    r"max(?:imum)?[_ ](?:prompt|input)[_ ](?:length|size|tokens)|maximum number of (?:input )?tokens|exceeds the limit of \d|"
    r"exceeds? (?:the )?(?:model(?:'s)? )?(?:max\w*|maximum allowed) (?:input |prompt )?(?:length|tokens|size)|"
    r"reduce (?:the|your) (?:length|size|number of tokens|prompt|input|message)|shorten (?:the|your)|"
    r"(?:超过|超出).{0,12}(?:长度|上下文)|长度超|(?:输入|上下文|内容)过长"
)
_POLICY = re.compile(
    r"content[_ -]?filter|content[_ -]?(?:management )?polic|content[_ -]?moderation|content exists risk|content (?:safety|security|risk)|"
    r"moderation|moderated|(?<!account )(?<!account was )(?<!account has been )flagged|usage (?:polic|guideline)|acceptable use|"
    r"community (?:guideline|standard)|safety (?:check|system|filter|polic|reason|guideline|violation|rating)|for safety|"
    r"prompt (?:was |is )?blocked|blocked (?:by|due to|for|because).{0,40}(?:safety|polic|content|harm|guard)|block_?reason|"
    r"prohibited[_ ]content|responsible[_ ]?ai|inappropriate|guard_?rails?\b|data_?inspection|risk[_ ]control|high[_ -]risk|"
    r"sensitive[_ ]?(?:content|information|words?|chat|input|text|topic|check|material)|new_sensitive|"
    r"(?:unsafe|harmful|offensive|illegal|objectionable|explicit|toxic|abusive|hateful|disallowed|violent) "
    r"(?:content|information|input|text|material|prompt|language|request)|"
    r"violat\w{0,6}.{0,60}(?:polic|guideline|terms|rule|law)|(?:polic|guideline)\w{0,4} violat|invalid_prompt|jailbreak|"
    r"敏感|违规|違規|不安全|违法|违禁|审核|審核|不当内容|不良信息|高风险|内容安全|不適切|부적절"
)
_RATE = re.compile(
    r"rate[_ -]?limit|too[_ ]many[_ ]requests|throttl|overloaded|requests? per|tokens per|concurren\w{1,3} (?:limit|request)|slow down|"
    r"速率|频率"
)
_INTERVAL = re.compile(
    r"per[\s_-]?(second|minute|hour|day)|/ ?(s|sec|min|minute|h|hour)\b|\b[rtq]p[smhd]\b|(try again|retry) (in|after)|retry_?(delay|after)"
)
_DAY = re.compile(r"per[\s_-]?day|\brpd\b|\btpd\b|daily")
_QUOTA = re.compile(r"quota|daily|per[\s_-]?(?:second|minute|hour|day|month)")
_SPENT = re.compile(
    r"insufficient[_ ](?:quota|balance|funds?|credits?)|exceeded_current_quota|arrear|out of (?:credits?|funds)|"
    r"not enough (?:credits?|balance|funds)|(?:balance|credits?) (?:is|are) too low|no (?:credits?|balance) (?:left|remaining)|"
    r"余额不足|欠费"
)
_MONEY = re.compile(r"billing|credit|payment|out of funds|balance")
_FAILED_GENERATION = re.compile(r"json_validate_failed|tool_use_failed|output_parse_failed|fail\w{0,3} to (?:generate|validate) json")
_PARAMETER = re.compile(r"logprob|temperature|top_p\b|\bseed\b|max_\w{0,20}tokens|\brole\b|unsupported parameter")
# Why a key may not be used, which a 403 says more often than anything about a text.
_ACCESS = re.compile(r"permission|access|api[_ ]?key|authori[sz]|credential|country|region|location|firewall|forbidden|message: blocked\b")
# Members that say something for people, and members in which an endpoint may repeat what it was sent: these must not be searched.
_SENTENCES = frozenset({
    "message", "msg", "detail", "error", "error_message", "error_msg", "errmsg", "error_description", "status_msg", "reason", "raw",
    "description", "param", "title", "cause",
})  # fmt: skip
_ECHOES = frozenset({
    "input", "inputs", "prompt", "messages", "request", "request_body", "body", "content", "flagged_input", "ctx", "user_id", "headers",
})  # fmt: skip
_LONGEST_PARSED = 1_000_000  # bytes of a body that are read as JSON
_LONGEST_WORDS = 20_000  # characters of a body that are searched
_MOST_SENTENCES = 12  # in a message
_DEEPEST = 12


def may_answer_later(status: int) -> bool:
    """Return whether the same call may have an answer when it is asked again: not what is wrong with the call itself.

    >>> [may_answer_later(status) for status in (400, 404, 408, 429, 500, 503, 529)]
    [False, False, True, True, True, True, True]
    """
    return status in (408, 409, 425, 429) or status >= 500


class Refusal(msgspec.Struct, frozen=True):
    """The message of a refusal's body.

    Attributes:
        message: its sentences, for people: uncut, and with secrets that it may repeat.
        words: everything that it says, in lower case.
        generation: the text of a model that the provider found to be no valid answer; None without one.
        is_error: the body is JSON, as an interface sends it, and no page or text of a proxy.
    """

    message: str
    words: str
    generation: str | None = None
    is_error: bool = False

    def subject(self, status: int) -> Subject:
        """Return what the refusal is about."""
        if status not in _ABOUT_A_TEXT | _BROKEN or is_page(self.message):
            return "unknown"
        if status not in _BROKEN and _OUTPUT.search(self.words) and _LIMIT.search(self.words) and not _INPUT.search(self.words):
            return "output limit"
        if about := reason_about_item(status, self.words):
            return about
        return "rate" if status in (400, 403) and _RATE.search(self.words) else "unknown"

    @property
    def failed_generation(self) -> bool:
        """True if the model answered, but not in the form that was asked for, and its text is not in the body."""
        return _FAILED_GENERATION.search(self.words) is not None

    def may_be_about_text(self, status: int) -> bool:
        """Return whether a refusal without a known reason may be about the text of its call.

        It is not if a proxy sent it, or if it names a parameter or the right to ask.
        """
        if status not in _ABOUT_A_TEXT or is_page(self.message) or _PARAMETER.search(self.words):
            return False
        if status in (HTTPStatus.FORBIDDEN, HTTPStatus.REQUEST_ENTITY_TOO_LARGE):
            return self.is_error and not _ACCESS.search(self.words)
        return True


def read_refusal(body: bytes) -> Refusal:
    """Read the body of a response with an error status.

    >>> provider = '{"error": {"message": "the prompt is too long"}}'
    >>> refusal = read_refusal(json.dumps({"error": {"message": "Provider returned error", "metadata": {"raw": provider}}}).encode())
    >>> refusal.message, refusal.subject(400)
    ('Provider returned error: the prompt is too long', 'length')
    """
    data = _decode_json(body[:_LONGEST_PARSED].decode(errors="replace")) if len(body) <= _LONGEST_PARSED else None
    if data is None:
        text = body[:_LONGEST_WORDS].decode(errors="replace")
        return Refusal(text, text.lower())
    parts, size, generation = [], 0, None
    for name, text in _split_body(data, "", 0):
        if name == "failed_generation":
            generation = generation or text
            continue
        parts.append((name, text[:_LONGEST_WORDS]))
        size += len(text)
        if size > _LONGEST_WORDS:
            break
    sentences: list[str] = []
    for name, text in parts:
        said = name in _SENTENCES and (name not in ("param", "reason") or " " in text.strip())
        if said and len(sentences) < _MOST_SENTENCES and not any(text in sentence for sentence in sentences):
            sentences.append(text.strip())
    message = ": ".join(filter(None, sentences)) or body[:_LONGEST_WORDS].decode(errors="replace")
    code = next((text for name, text in parts if name == "code"), "")
    message_and_code = f"{message} ({code})" if code and code not in message else message
    words = "\n".join(f"{name}: {text}" for name, text in parts).lower()
    return Refusal(message_and_code, words[: 2 * _LONGEST_WORDS], generation, is_error=bool(parts))


def _split_body(value: Any, name: str, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the texts and numbers of a body, each with the name that it has, in order. A text that is JSON is read as such."""
    if depth > _DEEPEST:
        return
    match value:
        case dict():
            for key, member in value.items():
                if key == "failed_generation":
                    if member and not (isinstance(member, str) and member.isspace()):
                        yield key, member if isinstance(member, str) else json.dumps(member, ensure_ascii=False)
                elif key not in _ECHOES:
                    yield from _split_body(member, key, depth + 1)
        case list():
            for member in value:
                yield from _split_body(member, name, depth + 1)
        case str():
            nested = _decode_json(value) if value.lstrip()[:1] in ("{", "[") else None
            if isinstance(nested, (dict, list)):
                yield from _split_body(nested, name, depth + 1)
            elif value.strip():
                yield name, value
        case int() | float() if not isinstance(value, bool):
            yield name, str(value) if abs(value) < 1e15 else "a large number"


def _decode_json(text: str) -> Any:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, (dict, list)) else None


def reason_about_item(status: int, message: str) -> Literal["length", "policy"] | None:
    """Return why the item was refused: a text that is longer than the context, or the provider's content policy.

    None: the refusal says nothing of the item. A web page (of a proxy or firewall) is never about an item.
    """
    if status not in _ABOUT_A_TEXT | _BROKEN or is_page(message):
        return None
    words = message.lower()
    if _TOO_LONG.search(words) and not (_RATE.search(words) or _QUOTA.search(words)):
        return "length"
    return "policy" if status not in _BROKEN and _POLICY.search(words) else None


def is_page(text: str) -> bool:
    """Return True if it is markup, which no chat endpoint sends."""
    return text.lstrip("\ufeff \t\r\n").startswith("<") and not re.match(r"\s*<\d+>", text)  # DashScope begins with `<400>`


def kind_of_limit(message: str, *, waits: bool = False) -> Literal["rate", "day", "spent"]:
    """Return the limit that a 429 names: a rate, which is soon renewed, the limit of the day, or the account's money.

    Many providers point to the page about billing whatever the limit is. So a limit that is called a rate is one, and so is one that
    `waits`: with a header that says when to ask again.

    >>> [kind_of_limit(text) for text in ("Quota exceeded: requests per minute", "Limit: 50 per day", "insufficient_quota")]
    ['rate', 'day', 'spent']
    """
    words = message.lower()
    if _SPENT.search(words):
        return "spent"
    if _DAY.search(words):
        return "day"
    if waits or _INTERVAL.search(words) or _RATE.search(words):
        return "rate"
    return "spent" if _MONEY.search(words) else "rate"
