"""What refusals are about, in the words of several providers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.judges.http_refusals import kind_of_limit, read_refusal, reason_about_item


@pytest.mark.parametrize(
    ("status", "said", "about"),
    [
        (400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens", "length"),
        (400, "the request exceeds the available context size (exceed_context_size_error)", "length"),
        (400, "prompt is too long: 208310 tokens > 200000 maximum", "length"),
        (422, "Input validation error: `inputs` must have less than 1024 tokens. Given: 1500", "length"),
        (413, "Request body too large for this model. Max size: 8000 tokens.", "length"),
        (446, "Guardrail checks failed: hook_failed", "policy"),
        (400, "The input token count (1049000) exceeds the maximum number of tokens allowed", "length"),
        (413, "Please reduce the length of the messages: context window exceeded", "length"),
        (400, "The response was filtered due to the prompt triggering the content management policy (content_filter)", "policy"),
        (403, "m requires moderation on the provider's side. Your input was flagged for violence", "policy"),
        (400, "Input data may contain inappropriate content (data_inspection_failed)", "policy"),
        (403, "Forbidden", None),
        (403, "<html><body>Blocked by the content policy of your network</body></html>", None),
        (413, "Request Entity Too Large", None),
        (414, "URL too long", None),
        (400, "Bad Request", None),
        (400, "without a word", None),
        (307, "content policy", None),
        (204, "context length", None),
        (404, "content_filter", None),
    ],
)
def test_a_refusal_is_the_items_only_if_the_body_says_so(status: int, said: str, about: str | None) -> None:
    assert reason_about_item(status, said) == about


@pytest.mark.parametrize(
    ("said", "limit"),
    [
        ("Rate limit reached for requests", "rate"),
        ("Quota exceeded for quota metric 'requests' and limit 'Requests per minute per project'", "rate"),
        ("You exceeded your current quota, check your plan and billing details. requests-per-minute. Please retry in 35s", "rate"),
        ("Limit 200000 TPM", "rate"),
        ("Quota exceeded", "rate"),
        ("Rate limit exceeded: free-models-per-day", "day"),
        ("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "day"),
        ("Limit 200 RPD, try again in 7m", "day"),
        ("You exceeded your current quota, please check your plan and billing details (insufficient_quota)", "spent"),
        ("Your credit balance is too low", "spent"),
        ("insufficient_quota: requests per minute", "spent"),
        ("Rate limit reached: 3 / min. Add a payment method to your account to raise it", "rate"),
        ("The request was throttled; see billing for higher tiers", "rate"),
        ("429: 余额不足或无可用资源包，请充值。", "spent"),
        ("Your account is out of funds", "spent"),
    ],
)
def test_which_limit_a_429_speaks_of(said: str, limit: str) -> None:
    assert kind_of_limit(said) == limit


def body(message: str, code: Any = None, **more: Any) -> bytes:
    return json.dumps({"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code, **more}}).encode()


INPUT = [
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300001 tokens.",
    "input is too long for requested model",
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    "Please reduce the length of the messages or completion.",
    "Prompt contains 131073 tokens, too large for model with 131072 maximum context length",
    "Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)",
    "The prompt (total length 40960) is too long to fit into the model (context length 32768).",
    "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
    "This endpoint's maximum context length is 4096 tokens. However, you requested about 9292 tokens (700 of text input).",
    "trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
    "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]",
    "too many tokens: size limit exceeded by 900 tokens. Try using shorter or fewer inputs",
    "litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException - the prompt has 9000 tokens",
    "Invalid 'messages[1].content': string too long. Expected a string with maximum length 1048576, but got 1100000 instead.",
    "Prompt 超长，请缩短输入：输入长度超过了模型的上下文长度",
    "inputs tokens + max_new_tokens must be <= 4096",
]
POLICY = [
    "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt.",
    "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
    "Output blocked by content filtering policy",
    "Content Exists Risk",
    "系统检测到输入或生成内容可能包含不安全或敏感内容，请您避免输入易产生敏感内容的提示语。",
    "The request was rejected because it was considered high risk",
    "The request failed because the input text may contain sensitive information.",
    "Input data may contain inappropriate content.",
    "Sensitive chat messages",
    "input new_sensitive (1026)",
    "Guardrail was enforced; the request was not sent",
    "The prompt is blocked due to: PROHIBITED_CONTENT",
    'm requires moderation on a provider\'s side. Your input was flagged for "hate"',
    "Request blocked by the Llama Guard safety check",
    "Your request violates the terms of the community guidelines",
]
OUTPUT = [
    "max_tokens is too large: 8592. This model supports at most 4096 completion tokens, whereas you provided 8592.",
    "max_tokens: 8592 > 4096, which is the maximum allowed number of output tokens for the model",
    "`max_completion_tokens` must be less than or equal to `8192`, the maximum value for it is less than the `context_window`",
    "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
    "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]",
    "The maximum tokens you requested exceeds the model limit of 8192.",
    "max_tokens (8592) is above the allowed maximum",
]
UNKNOWN = [
    "Bad Request",
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    "Unsupported value: 'temperature' does not support 0.0 with this model.",
    "Invalid schema for response_format 'answer': 'maxLength' is not permitted.",
    "System role not supported",
    "this model is only available with stream=true",
    "The model `m` requires terms acceptance. Please have the org admin accept the terms of service.",
    "Your account was flagged for unusual activity",
    "1 validation error: temperature must be between 0 and 1",
]


@pytest.mark.parametrize(
    ("message", "subject"),
    [
        *((words, "length") for words in INPUT),
        *((words, "policy") for words in POLICY),
        *((words, "output limit") for words in OUTPUT),
        *((words, "unknown") for words in UNKNOWN),
        ("Rate limit reached for requests per minute, reduce the length of the messages or wait", "rate"),
    ],
)
def test_the_subject_of_a_refusal_in_the_words_of_many_providers(message: str, subject: str) -> None:
    assert read_refusal(body(message)).subject(400) == subject
    raw = body(message).decode()
    hidden = body("Provider returned error", 400, metadata={"raw": raw, "provider_name": "somebody"})
    assert read_refusal(hidden).subject(400) == subject
    assert read_refusal(b"[" + hidden + b"]").subject(400) == subject
    assert message in read_refusal(hidden).message


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (body("No.", "odd"), "No. (odd)"),
        (body("No.", 400), "No. (400)"),
        (b'{"detail": "Not this"}', "Not this"),
        (
            b'{"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": "a text"}]}',
            "Extra inputs are not permitted",
        ),
        (b'{"error": "as a text"}', "as a text"),
        (b'{"object": "error", "message": "flat", "code": 400}', "flat (400)"),
        (b'{"message": "no error member"}', "no error member"),
        (b'{"base_resp": {"status_code": 1026, "status_msg": "new_sensitive"}}', "new_sensitive"),
        (b'{"error": {"message": "Param Incorrect", "param": "max_tokens is too large"}}', "Param Incorrect: max_tokens is too large"),
        (b"{}", "{}"),
        (b'{"error": {"message": "half a \\ud83d"}}', "half a \ud83d"),
        (b"plain words", "plain words"),
        (b"", ""),
        (b'{"error": ' + b"[" * 100_000, '{"error": ' + "[" * 19_990),
    ],
)
def test_the_message_of_a_refusal_wherever_it_stands(sent: bytes, message: str) -> None:
    assert read_refusal(sent).message == message


def test_what_an_endpoint_repeats_of_a_request_decides_nothing() -> None:
    text = "This text speaks of the content policy, of the context length and of rate limits per minute."
    detail = [{"loc": ["body"], "msg": "not understood", "input": {"messages": [{"content": text}]}, "ctx": {"given": text}}]
    refusal = read_refusal(json.dumps({"detail": detail, "request": text, "error": {"flagged_input": text}}).encode())
    assert (refusal.subject(400), refusal.may_be_about_text(400)) == ("unknown", True)
    assert text[:20].lower() not in refusal.words


@pytest.mark.parametrize(
    ("status", "sent", "may"),
    [
        (400, body("We would rather not"), True),
        (403, body("We would rather not"), True),
        (403, body("Access denied"), False),
        (403, body("Country not supported"), False),
        (400, body("Unsupported parameter: 'max_tokens'"), False),
        (400, b"We would rather not", True),
        (400, b"", True),
        (403, b"We would rather not", False),
        (413, b"Too much", False),
        (403, b"<html>No</html>", False),
        (404, body("We would rather not"), False),
        (307, body("We would rather not"), False),
    ],
)
def test_which_refusals_without_a_reason_may_be_about_a_text(status: int, sent: bytes, may: bool) -> None:
    refusal = read_refusal(sent)
    assert refusal.subject(status) == "unknown" and refusal.may_be_about_text(status) is may


def test_a_long_body_is_cut_before_it_is_searched() -> None:
    refusal = read_refusal(json.dumps({"error": {"message": "violat" * 200_000, "code": "too long"}}).encode())
    assert len(refusal.words) <= 40_000 and refusal.subject(400) == "unknown"


@pytest.mark.parametrize(
    ("generation", "text"),
    [('{"score": 1,}', '{"score": 1,}'), ({"score": 1}, '{"score": 1}'), ("", None), (" \n", None), (None, None), ({}, None)],
)
def test_the_text_of_a_failed_generation(generation: Any, text: str | None) -> None:
    sent = body("Failed to generate JSON", "json_validate_failed", failed_generation=generation)
    refusal = read_refusal(body("Provider returned error", metadata={"raw": sent.decode()}))
    assert (refusal.generation, refusal.failed_generation) == (text, True)
