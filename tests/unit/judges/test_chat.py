"""One chat call: what is asked for, what is read from the answer, and which parameters an endpoint can do without."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from harness.errors import FatalReply
from harness.judges.capabilities import TOP_TOKENS
from harness.judges.chat import Chat, joined_stream
from harness.judges.judge_protocol import NoReply
from harness.judges.response_body import read_answer
from harness.judges.transport import Response
from harness.model import Call, Condition, Item, Message, Prompt, Query, Reply, Token, parse_variant

SCHEMA = {"type": "object", "properties": {"justification": {"type": "string", "maxLength": 9}, "score": {"enum": [0, 1]}}}
SAMPLING = ("temperature", "top_p", "seed", "logprobs", "top_logprobs")
KEY = "sk-secret-4711"

Body = dict[str, Any]


class Endpoint:
    """Stands in for the transport: answers as `script` says, and keeps what it was asked."""

    def __init__(self, script: Callable[[Body], Response]) -> None:
        self._script = script
        self.bodies: list[Body] = []
        self.chat = Chat(self, "one", "the host", secrets=[KEY])

    async def post(self, body: bytes) -> Response:
        asked = json.loads(body)
        self.bodies.append(asked)
        await asyncio.sleep(0)  # so that calls are in flight together
        return self._script(asked)

    async def close(self) -> None:
        """Nothing to close."""

    def ask(self, *calls: Call) -> list[Reply]:
        """All at once."""

        async def together() -> list[Reply]:
            return list(await asyncio.gather(*map(self.chat.ask, calls)))

        return asyncio.run(together())

    def ask_in_turn(self, *calls: Call) -> list[Reply]:
        return [self.ask(one)[0] for one in calls]


def call(variant: str = "score-only", temperature: float = 0.0, top_p: float | None = None, seed: int | None = 3) -> Call:
    prompt = Prompt("p", (Message("user", "How good?"),), SCHEMA, 10)
    query = Query(Item("i", "en", "open_prompt"), ("m",), Condition(parse_variant(variant), temperature, top_p))
    return Call("c", prompt, query, seed)


PROBABLE = call("score-only+probabilities")


def said(text: str = '{"score": 1}', **choice: Any) -> Response:
    choices = [{"message": {"content": text}, "finish_reason": "stop", **choice}]
    return Response(200, {}, json.dumps({"model": "one-2024", "choices": choices}).encode())


def refusal(message: str, status: int = 400) -> Response:
    return Response(status, {}, json.dumps({"error": {"message": message}}).encode())


def without(*names: str, status: int = 400) -> Callable[[Body], Response]:
    """Refuses a request that holds a parameter of these, naming the first."""

    def answer(body: Body) -> Response:
        found = [name for name in names if name in body]
        return refusal(f"Unsupported parameter: '{found[0]}' is not supported with this model.", status) if found else said()

    return answer


def sampling(body: dict[str, Any]) -> dict[str, Any]:
    return {name: body[name] for name in SAMPLING if name in body}


# What is asked for
def test_log_probabilities_are_asked_for_only_when_they_are_wanted() -> None:
    endpoint = Endpoint(lambda body: said())
    endpoint.ask_in_turn(call(), PROBABLE)
    plain, probable = map(sampling, endpoint.bodies)
    assert plain == {"temperature": 0.0, "seed": 3}
    assert probable == plain | {"logprobs": True, "top_logprobs": TOP_TOKENS}


def test_top_p_is_sent_only_when_it_is_said() -> None:
    endpoint = Endpoint(lambda body: said())
    endpoint.ask_in_turn(call(temperature=0.7, top_p=0.9), call(temperature=0.7), call(seed=None))
    assert list(map(sampling, endpoint.bodies)) == [
        {"temperature": 0.7, "seed": 3, "top_p": 0.9},
        {"temperature": 0.7, "seed": 3},
        {"temperature": 0.0},
    ]


# Tokens
def content(*tokens: Any) -> dict[str, Any]:
    return {"content": list(tokens)}


def test_tokens_are_read_with_their_alternatives() -> None:
    answered = content(
        {"token": '{"score": ', "logprob": 0, "bytes": [1], "top_logprobs": []},
        {"token": "1", "logprob": -0.5, "top_logprobs": [{"token": "1", "logprob": -0.5}, {"token": "0", "logprob": -1}]},
        {"token": "}", "logprob": -0.25},
    )
    [reply] = Endpoint(lambda body: said(logprobs=answered)).ask(PROBABLE)
    assert reply.tokens == (Token('{"score": ', {'{"score": ': 0.0}), Token("1", {"1": -0.5, "0": -1.0}), Token("}", {"}": -0.25}))
    assert reply.left_out == ()


def test_tokens_that_nobody_asked_for_are_not_kept() -> None:
    [reply] = Endpoint(lambda body: said(logprobs=content({"token": "1", "logprob": -0.5}))).ask(call())
    assert reply.tokens == ()


BROKEN: dict[str, Any] = {
    "null": None,
    "number": 7,
    "text": "none",
    "list": [],
    "empty": {},
    "content is null": content() | {"content": None},
    "content is text": {"content": "1"},
    "tokens are text": content("1", "2"),
    "a token is a number": content({"token": 1, "logprob": -1}),
    "legacy": {"tokens": ["1"], "token_logprobs": [-0.5], "top_logprobs": [{"1": -0.5}]},
}


@pytest.mark.parametrize("name", BROKEN)
def test_log_probabilities_that_cannot_be_read_are_none_and_the_score_stays(name: str) -> None:
    [reply] = Endpoint(lambda body: said(logprobs=BROKEN[name])).ask(PROBABLE)
    assert (reply.text, reply.tokens) == ('{"score": 1}', ())


NO_LOGPROB: dict[str, str] = {
    "null": "null",
    "text": '"-0.5"',
    "true": "true",
    "nan": "NaN",
    "minus infinity": "-Infinity",
    "infinity": "Infinity",
    "positive": "1000",
    "an integer longer than any float": "9" * 400,
    "a list": "[-1]",
}


@pytest.mark.parametrize("name", NO_LOGPROB)
def test_an_alternative_without_a_probability_is_passed_over(name: str) -> None:
    token = f'{{"token": "1", "top_logprobs": [{{"token": "1", "logprob": -0.5}}, {{"token": "0", "logprob": {NO_LOGPROB[name]}}}]}}'
    body = '{"choices": [{"message": {"content": "1"}, "logprobs": {"content": [' + token + "]}}]}"
    [reply] = Endpoint(lambda _: Response(200, {}, body.encode())).ask(PROBABLE)
    assert reply.tokens == (Token("1", {"1": -0.5}),)


@pytest.mark.parametrize("top", [5, "1", {"1": -0.5}, True, [], None], ids=str)
def test_without_a_list_of_alternatives_a_token_has_its_own(top: Any) -> None:
    [reply] = Endpoint(lambda body: said(logprobs=content({"token": "1", "logprob": -0.5, "top_logprobs": top}))).ask(PROBABLE)
    assert reply.tokens == (Token("1", {"1": -0.5}),)


def test_odd_alternatives_are_passed_over() -> None:
    top = ["1", None, {}, {"token": None, "logprob": -1}, {"token": ["0"], "logprob": -1}, {"token": "0", "logprob": -2}]
    [reply] = Endpoint(lambda body: said(logprobs=content({"token": "1", "top_logprobs": top}))).ask(PROBABLE)
    assert reply.tokens == (Token("1", {"0": -2.0}),)


def test_half_characters_in_tokens_can_be_kept() -> None:
    token = '{"token": "\\ud83d", "logprob": -0.5}'
    body = '{"choices": [{"message": {"content": "1"}, "logprobs": {"content": [' + token + "]}}]}"
    [reply] = Endpoint(lambda _: Response(200, {}, body.encode())).ask(PROBABLE)
    assert reply.tokens == (Token("\ufffd", {"\ufffd": -0.5}),)
    assert msgspec.json.decode(msgspec.json.encode(reply), type=Reply) == reply


@pytest.mark.parametrize(
    "tokens",
    [
        [{"token": f"key {KEY}", "logprob": 0}],
        [{"token": KEY[:6], "logprob": 0}, {"token": KEY[6:], "logprob": 0}],
        [{"token": "1", "top_logprobs": [{"token": KEY, "logprob": -1}]}],
    ],
    ids=["in one", "over two", "in an alternative"],
)
def test_tokens_that_spell_the_key_are_not_kept(tokens: Sequence[dict[str, Any]]) -> None:
    [reply] = Endpoint(lambda body: said(logprobs=content(*tokens))).ask(PROBABLE)
    assert reply.tokens == () and KEY not in msgspec.json.encode(reply).decode()


# Parameters that an endpoint does not take
@pytest.mark.parametrize(
    ("refused", "left_out"),
    [
        ("logprobs", ("logprobs", "top_logprobs")),
        ("temperature", ("temperature",)),
        ("top_p", ("top_p",)),
        ("seed", ("seed",)),
    ],
)
@pytest.mark.parametrize("status", [400, 422, 501])
def test_a_refused_parameter_is_left_out_for_good_and_said(refused: str, left_out: tuple[str, ...], status: int) -> None:
    endpoint = Endpoint(without(refused, status=status))
    wanted = call("score-only+probabilities", temperature=0.5, top_p=0.9)
    replies = endpoint.ask_in_turn(wanted, wanted, wanted)
    asked = [set(sampling(body)) for body in endpoint.bodies]
    assert asked == [set(SAMPLING)] + [set(SAMPLING) - set(left_out)] * 3  # once with, and never again
    assert [reply.left_out for reply in replies] == [left_out] * 3
    assert all(reply.text and reply.error is None for reply in replies)


def test_an_endpoint_that_gives_few_alternatives_is_asked_for_few() -> None:
    def few(body: dict[str, Any]) -> Any:
        return without("top_logprobs")(body) if body.get("top_logprobs", 0) > 5 else said(logprobs=content({"token": "2", "logprob": -0.1}))

    endpoint = Endpoint(few)
    first, second = endpoint.ask_in_turn(PROBABLE, PROBABLE)
    assert [body["top_logprobs"] for body in endpoint.bodies] == [20, 5, 5]
    assert first.tokens and second.tokens and not first.left_out


@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        ("Cannot request more than 5 logprobs.", 5),
        ("Requested sample logprobs of 20, which is more than allowed: 5", 5),
        ("logprobs must be at most 3, got 20", 3),
        ("too many logprobs", 5),
        ("top_logprobs must be between 0 and 10", 10),
    ],
)
def test_as_many_alternatives_are_asked_for_as_a_refusal_allows(words: str, allowed: int) -> None:
    def few(body: Body) -> Response:
        return refusal(words) if body.get("top_logprobs", 0) > allowed else said(logprobs=content({"token": "1", "logprob": -0.1}))

    endpoint = Endpoint(few)
    first, second = endpoint.ask_in_turn(PROBABLE, PROBABLE)
    assert [body.get("top_logprobs") for body in endpoint.bodies] == [20, allowed, allowed]
    assert first.tokens and second.tokens and not first.left_out


def test_an_endpoint_may_refuse_one_after_the_other() -> None:
    endpoint = Endpoint(without(*SAMPLING))
    [reply] = endpoint.ask(call("score-only+probabilities", top_p=0.9))
    assert reply.left_out == tuple(sorted(SAMPLING)) and len(endpoint.bodies) == 5
    assert sampling(endpoint.bodies[-1]) == {}


def test_calls_in_flight_together_are_all_asked_again() -> None:
    """The second refusal comes when the parameter is left out already; it is about a call that was sent before."""
    endpoint = Endpoint(without("logprobs"))
    replies = endpoint.ask(*[PROBABLE] * 4)
    assert [reply.text for reply in replies] == ['{"score": 1}'] * 4
    assert len(endpoint.bodies) == 8


def test_only_what_a_call_wanted_was_left_out_of_it() -> None:
    replies = Endpoint(without("logprobs", "top_p")).ask_in_turn(call("score-only+probabilities", top_p=0.5), call(), call(top_p=0.5))
    assert [reply.left_out for reply in replies] == [("logprobs", "top_logprobs", "top_p"), (), ("top_p",)]


def test_what_is_refused_although_it_was_not_sent_is_no_reason_to_ask_again() -> None:
    endpoint = Endpoint(lambda body: refusal("logprobs are not available"))
    with pytest.raises(FatalReply, match="refused a call with 400: logprobs are not available"):
        endpoint.ask(call())
    assert len(endpoint.bodies) == 1


def test_a_parameter_that_is_refused_for_ever_ends() -> None:
    endpoint = Endpoint(lambda body: refusal("temperature, top_p, seed and logprobs are wrong"))
    with pytest.raises(FatalReply):
        endpoint.ask(call("score-only+probabilities", top_p=0.5))
    assert len(endpoint.bodies) == 5


@pytest.mark.parametrize("status", [429, 500, 503])
def test_trouble_that_passes_leaves_nothing_out(status: int) -> None:
    endpoint = Endpoint(lambda body: refusal("logprobs and temperature are overloaded", status))
    with pytest.raises(NoReply):
        endpoint.ask(PROBABLE)
    assert len(endpoint.bodies) == 1


def test_a_form_and_a_parameter_may_both_be_refused() -> None:
    def answer(body: Body) -> Response:
        if body.get("response_format", {}).get("type") == "json_schema":
            return refusal("'response_format' of type 'json_schema' is not supported")
        return without("seed")(body)

    [reply] = Endpoint(answer).ask(call())
    assert (reply.form, reply.left_out, reply.error) == ("json_object", ("seed",), None)


def test_probabilities_of_a_certain_token_are_rounded_above_one_by_some() -> None:
    [reply] = Endpoint(lambda body: said(logprobs=content({"token": "1", "logprob": 1e-7}))).ask(PROBABLE)
    assert math.exp(reply.tokens[0].others["1"]) == pytest.approx(1)


def broken() -> Response:
    return refusal("Internal Server Error", 500)


def form_of(body: Body) -> str:
    return str(body.get("response_format", {}).get("type", "text"))


def ask_until_answered(endpoint: Endpoint) -> Reply:
    """As an engine does: again after each NoReply, up to four times."""
    for _ in range(4):
        try:
            return endpoint.ask(call())[0]
        except NoReply:
            continue
    raise AssertionError("no answer in four attempts")


def test_a_form_that_ends_in_500_where_a_looser_one_works_is_left_for_good() -> None:
    endpoint = Endpoint(lambda body: broken() if form_of(body) == "json_schema" else said())
    assert [ask_until_answered(endpoint).form for _ in range(2)] == ["json_object", "json_object"]
    asked = [form_of(body) for body in endpoint.bodies]
    assert asked[-1] == "json_object" and asked.count("json_schema") >= 3 and len(asked) <= 12

    endpoint = Endpoint(lambda body: broken() if "response_format" in body else said())
    assert ask_until_answered(endpoint).form == "text"


def test_calls_in_flight_while_a_form_is_tested_take_the_new_form_afterwards() -> None:
    endpoint = Endpoint(lambda body: broken() if form_of(body) == "json_schema" else said())

    async def together() -> list[Any]:
        return list(await asyncio.gather(*map(endpoint.chat.ask, [call()] * 4), return_exceptions=True))

    found = asyncio.run(together())
    assert any(isinstance(one, Reply) for one in found)
    assert all(isinstance(one, NoReply) or one.form == "json_object" for one in found)
    assert endpoint.ask(call())[0].form == "json_object"


@pytest.mark.parametrize("outage", [1, 2, 3, 4, 5, 6, 7, 8])
def test_an_outage_changes_no_form(outage: int) -> None:
    """The endpoint fails for some requests, whatever they ask for, and then works."""
    left = iter([broken()] * outage)
    endpoint = Endpoint(lambda body: next(left, None) or said())
    for _ in range(10):
        try:
            [reply] = endpoint.ask(call())
        except NoReply:
            continue
        assert reply.form == "json_schema"
    assert endpoint.chat.capabilities.form == "json_schema"


def test_a_form_that_has_worked_is_never_tested_again() -> None:
    down = False
    endpoint = Endpoint(lambda body: broken() if down and form_of(body) == "json_schema" else said())
    endpoint.ask(call())
    down = True
    with pytest.raises(NoReply):
        endpoint.ask(call())
    assert len(endpoint.bodies) == 2 and endpoint.chat.capabilities.form == "json_schema"


SYSTEM = msgspec.structs.replace(
    call(), prompt=Prompt("p", (Message("system", "You judge."), Message("user", "Good?"), Message("assistant", "1")), SCHEMA, 10)
)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "System role not supported"),
        (500, "Template error: System role not supported (in chat_template:1)"),
        (400, "Unsupported value: 'messages[0].role' does not support 'system' with this model."),
        (400, "Developer instruction is not enabled for this model"),
        (422, "Conversation roles must alternate user/assistant/user/assistant/..."),
    ],
)
def test_without_a_system_role_its_text_begins_the_users(status: int, message: str) -> None:
    def answer(body: Body) -> Response:
        return refusal(message, status) if any(one["role"] == "system" for one in body["messages"]) else said()

    endpoint = Endpoint(answer)
    for reply in endpoint.ask_in_turn(SYSTEM, SYSTEM):
        assert reply.left_out == ("system role",) and reply.form == "json_schema"
    assert len(endpoint.bodies) == 3
    assert endpoint.bodies[-1]["messages"] == [
        {"role": "user", "content": "You judge.\n\nGood?"},
        {"role": "assistant", "content": "1"},
    ]
    [without] = endpoint.ask(call())
    assert without.left_out == ()


def test_a_refusal_of_the_system_role_that_was_not_sent_is_a_refusal() -> None:
    endpoint = Endpoint(lambda body: refusal("System role not supported"))
    with pytest.raises(FatalReply, match="System role not supported"):
        endpoint.ask(SYSTEM)
    assert len(endpoint.bodies) == 2


@pytest.mark.parametrize(
    ("message", "characters"),
    [
        ({"reasoning_content": "Let me see."}, 11),
        ({"reasoning": "Let me see.", "reasoning_content": None}, 11),
        ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}, {"type": "text", "text": '{"score": 1}'}]}, 2),
        ({"reasoning": {"odd": [1]}, "reasoning_content": 7}, 0),
        ({}, 0),
    ],
)
def test_reasoning_beside_the_content_is_counted(message: Body, characters: int) -> None:
    [reply] = Endpoint(lambda body: said(message={"content": '{"score": 1}', **message})).ask(call())
    assert (reply.reasoning_characters, reply.text) == (characters, '{"score": 1}')


# Room for the answer
def cut(text: str, **usage: int) -> Response:
    choices = [{"message": {"content": text}, "finish_reason": "length"}]
    return Response(200, {}, json.dumps({"model": "one-2024", "choices": choices, "usage": usage}).encode())


def test_tokens_that_are_in_the_total_alone_are_reasoning() -> None:
    """The answer was begun, and nothing else says that the model reasoned."""
    begun = cut('{"sco', prompt_tokens=100, completion_tokens=3, total_tokens=110)
    endpoint = Endpoint(lambda body: said() if body["max_tokens"] > 10 else begun)
    [reply] = endpoint.ask(call())
    assert reply.text == '{"score": 1}' and reply.reasoning_room == 8192
    [reply] = Endpoint(lambda body: begun).ask(call())
    assert (reply.usage.completion_tokens, reply.usage.reasoning_tokens, reply.finish_reason) == (10, 7, "length")


def test_reasoning_that_uses_all_room_twice_is_a_cut_answer() -> None:
    endpoint = Endpoint(lambda body: cut("<think>"))
    [reply] = endpoint.ask(call())
    assert len(endpoint.bodies) == 2 and reply.finish_reason == "length"


def test_room_that_is_refused_is_not_asked_for_again() -> None:
    """A text that leaves no room at all is asked without, and its cut answer is the answer."""
    endpoint = Endpoint(lambda body: refusal("maximum context length reached") if body["max_tokens"] > 10 else cut("<think>"))
    [reply] = endpoint.ask(call())
    assert (reply.finish_reason, reply.reasoning_room) == ("length", 0) and len(endpoint.bodies) <= 10


def test_an_account_that_can_afford_a_shorter_answer_is_asked_for_one() -> None:
    words = "This request requires more credits, or fewer max_tokens. You requested up to 8202 tokens, but can only afford 3000."
    answers = {True: refusal(words, 402), False: said()}
    endpoint = Endpoint(lambda body: cut("<think>") if body["max_tokens"] == 10 else answers[body["max_tokens"] > 3000])
    [reply] = endpoint.ask(call())
    assert reply.text == '{"score": 1}' and 2000 <= reply.reasoning_room < 3000
    with pytest.raises(FatalReply, match="402"):
        Endpoint(lambda body: refusal(words, 402)).ask(call())


def test_an_error_with_the_status_of_success_may_hold_half_a_character() -> None:
    body = b'{"error": {"message": "flagged by moderation \\ud83d"}}'
    [reply] = Endpoint(lambda _: Response(200, {}, body)).ask(call())
    assert reply.refusal == "flagged by moderation \ufffd"
    assert msgspec.json.decode(msgspec.json.encode(reply), type=Reply) == reply


def stream(*events: Any, end: str = "data: [DONE]\n\n") -> bytes:
    return ("".join(f"data: {json.dumps(event)}\n\n" for event in events) + end).encode()


def piece(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def test_texts_reasoning_tools_tokens_and_counts_are_joined() -> None:
    token = {"token": "4", "logprob": -0.1, "top_logprobs": []}
    tools = [[{"index": 0, "function": {"name": "answer", "arguments": part}}] for part in ('{"sco', 're": 4}')]
    events = [
        piece(role="assistant", content=""),
        piece(reasoning_content="Let me "),
        piece(reasoning_content="see."),
        *(piece(tool_calls=tool) for tool in tools),
        {"choices": [{"index": 0, "delta": {"content": "4"}, "logprobs": {"content": [token]}}]},
        {"choices": [{"index": 1, "delta": {"content": "another choice"}}]},
        piece("stop"),
        {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}},
    ]
    answer = read_answer(joined_stream(b"\xef\xbb\xbf: comment\r\n\r\nevent: message\r\n" + stream(*events)))
    assert answer is not None and (answer.kind, answer.text, answer.finish_reason, answer.model) == ("answer", "4", "stop", "m")
    assert answer.beside == {"reasoning_content": "Let me see.", "tool_calls": '{"score": 4}'}
    assert answer.logprobs == {"content": [token]} and (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (7, 2)


def test_a_character_that_two_pieces_share_is_whole_again() -> None:
    halves = b'data: {"choices": [{"delta": {"content": "\\ud83d"}}]}\n\ndata: {"choices": [{"delta": {"content": "\\ude00"}}]}\n\n'
    answer = read_answer(joined_stream(halves + stream(piece("stop"))))
    assert answer is not None and answer.text == "😀"


@pytest.mark.parametrize("body", [b'{"choices": []}', b"", b"<html>data: {}", b"[]", b"dates: {}"])
def test_any_other_body_stays_as_it_is(body: bytes) -> None:
    assert joined_stream(body) == body


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (stream(piece(content="4"), piece("stop")), "answer"),
        (stream(piece(content="4"), piece("stop"), end=""), "answer"),
        (stream(piece(content="4")), "answer"),
        (stream(piece(content="4"), end=""), "failed"),
        (stream(piece(content="4"), end="")[:-20], "failed"),
        (stream(piece(content="4"), {"error": {"message": "upstream broke"}}), "failed"),
        (stream(), "failed"),
        (b'data: {\ndata: 7\ndata: []\ndata: {"choices": [7, {"delta": 7}, {"index": "x"}]}\n', "failed"),
    ],
)
def test_a_stream_that_broke_off_or_holds_an_error_is_a_failed_generation(body: bytes, kind: str) -> None:
    answer = read_answer(joined_stream(body))
    assert answer is not None and answer.kind == kind
