"""What refusals are about, in the words of several providers."""

from __future__ import annotations

import pytest

from harness.judges.refusals import is_endpoint_refusal, kind_of_limit, reason_about_item
from harness.model import Reply


@pytest.mark.parametrize(
    ("status", "said", "about"),
    [
        (400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens", "length"),
        (400, "the request exceeds the available context size (exceed_context_size_error)", "length"),
        (400, "prompt is too long: 208310 tokens > 200000 maximum", "length"),
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
    assert is_endpoint_refusal(Reply("", "", error=f"{status}: {said}")) is (about is None)


@pytest.mark.parametrize(
    "reply",
    [
        Reply("", "m", error="not in the export"),
        Reply("", "m", error="400", refusal="filtered"),
        Reply("", "m"),
        Reply("2", "m", error="403: odd"),
    ],
)
def test_other_replies_without_text_are_no_refusals_by_the_endpoint(reply: Reply) -> None:
    assert not is_endpoint_refusal(reply)


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
    ],
)
def test_which_limit_a_429_speaks_of(said: str, limit: str) -> None:
    assert kind_of_limit(said) == limit
