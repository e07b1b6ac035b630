"""The transport sends what the openai client would send, and reads a response however it is framed."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import openai
import pytest

from harness.judges import transport
from harness.judges.http_judge import Endpoint
from harness.judges.judge_protocol import NoReply
from harness.judges.transport import Response, Transport

BODY = b'{"answer": 42}'
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(serve: Serve) -> Any:
    """A loopback server; gives its address."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


async def request(reader: asyncio.StreamReader) -> tuple[str, dict[str, str], bytes]:
    """The first line, the headers and the body of one request."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().splitlines()
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    return head[0], headers, await reader.readexactly(int(headers.get("content-length", 0)))


def saying(*answers: bytes, hang_up: bool = False) -> Serve:
    """Sends these bytes, one a request."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in answers:
            await request(reader)
            writer.write(answer)
            await writer.drain()
        if not hang_up:
            await reader.read()

    return serve


def terminal_safe(body: bytes = BODY, more: bytes = b"") -> bytes:
    return b"HTTP/1.1 200 OK\r\nX-Name: Value\r\n%bContent-Length: %d\r\n\r\n%b" % (more, len(body), body)


def posted(serve: Serve, times: int = 1, *, timeout: float = 5.0, pause: float = 0.0) -> list[Response]:
    """What comes back to so many posts, one after the other."""

    async def main() -> list[Response]:
        async with serving(serve) as url:
            carrier = Transport(f"{url}/chat", {}, "the host", timeout=timeout, on_this_machine=True)
            try:
                return [(await carrier.post(b"{}"), await asyncio.sleep(pause))[0] for _ in range(times)]
            finally:
                await carrier.close()

    return asyncio.run(main())


# What is sent


def test_what_is_sent_is_what_the_openai_client_sends() -> None:
    """Same path, same headers but those that describe the client itself, same JSON: Azure too."""
    seen: list[tuple[str, dict[str, str], bytes]] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await request(reader))
        writer.write(terminal_safe(b'{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[]}'))
        await writer.drain()
        await reader.read()

    asked: dict[str, Any] = {
        "messages": [{"role": "user", "content": "Dobrý den 你好"}],
        "model": "a model",
        "temperature": 0.0,
        "max_tokens": 5,
    }

    async def both(ours: Endpoint, client: openai.AsyncOpenAI) -> None:
        carrier = Transport(ours.completions_url("a model"), ours.headers, "h", timeout=5, on_this_machine=True)
        await carrier.post(json.dumps(asked, ensure_ascii=False).encode())
        await carrier.close()
        await client.chat.completions.create(**asked)
        await client.close()

    async def main() -> None:
        async with serving(serve) as url:
            account = {"OpenAI-Organization": "org", "OpenAI-Project": "project"}
            await both(
                Endpoint(url, "key", None, account),
                openai.AsyncOpenAI(base_url=url, api_key="key", organization="org", project="project", max_retries=0),
            )
            azure = url.removesuffix("/v1")
            await both(
                Endpoint(azure, "key", "2024-10-21"),
                openai.AsyncAzureOpenAI(azure_endpoint=azure, api_version="2024-10-21", api_key="key", max_retries=0),
            )

    asyncio.run(main())
    for ours, theirs in (seen[:2], seen[2:]):
        assert ours[0].replace("%20", " ") == theirs[0].replace("%20", " ")
        assert json.loads(ours[2]) == json.loads(theirs[2])
        own = ("user-agent", "accept-encoding", "connection", "content-length")  # how the client speaks of itself
        described = {name for name in theirs[1] if name.startswith("x-stainless")} | set(own)
        assert {k: v for k, v in ours[1].items() if k not in own} == {k: v for k, v in theirs[1].items() if k not in described}


def test_connections_are_used_again() -> None:
    opened = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal opened
        opened += 1
        await saying(*[terminal_safe()] * 5)(reader, writer)

    assert len(posted(serve, 5)) == 5 and opened == 1


@pytest.mark.parametrize("more", [b"Connection: close\r\n", b""], ids=["said", "unsaid"])
def test_a_connection_that_was_closed_is_not_used_again(more: bytes) -> None:
    assert [found.body for found in posted(saying(terminal_safe(more=more), hang_up=True), 3, pause=0.05)] == [BODY] * 3


# What comes back


@pytest.mark.parametrize(
    "answer",
    [
        terminal_safe(),
        b"HTTP/1.1 200 OK\r\nX-Name: Value\r\nTransfer-Encoding: chunked\r\n\r\n"
        + b"5\r\n%b\r\n9;x=y\r\n%b\r\n0\r\nT: x\r\n\r\n" % (BODY[:5], BODY[5:]),
        b"HTTP/1.1 200 OK\r\nX-Name: Value\r\n\r\n" + BODY,
        b"HTTP/1.0 200 OK\r\nX-Name: Value\r\n\r\n" + BODY,
        b"HTTP/1.1 100 Continue\r\n\r\n" + terminal_safe(),
        b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + terminal_safe(),
    ],
    ids=["a length", "chunks", "to the end", "1.0", "100 first", "103 first"],
)  # fmt: skip
def test_a_body_may_be_framed_in_every_way(answer: bytes) -> None:
    [found] = posted(saying(answer, hang_up=True))
    assert (found.status, found.headers["x-name"], found.body) == (200, "Value", BODY)


def test_a_body_may_come_in_pieces() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        for byte in terminal_safe():
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0)
        await reader.read()

    assert posted(serve)[0].body == BODY


def test_every_status_is_an_answer_and_no_redirect_is_followed() -> None:
    for status in (204, 302, 404, 429, 500):
        [found] = posted(saying(b"HTTP/1.1 %d Whatever\r\nLocation: http://elsewhere/\r\nContent-Length: 0\r\n\r\n" % status))
        assert (found.status, found.body) == (status, b"")


BROKEN: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "the connection broke"),
    "half a head": (b"HTTP/1.1 200 OK\r\nContent-", "the connection broke"),
    "half a body": (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", "the connection broke"),
    "half a chunk": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\n{", "the connection broke"),
    "no http": (b"220 smtp.example ready\r\n", "the response is not HTTP"),
    "two lengths": (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{", "the response is not HTTP"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_breaks_off_or_is_no_answer_is_no_reply(name: str) -> None:
    sent, words = BROKEN[name]
    with pytest.raises(NoReply, match=rf"no connection to the host \({words}\)") as caught:
        posted(saying(sent, hang_up=True))
    assert caught.value.down


def test_what_takes_too_long_is_no_reply() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    with pytest.raises(NoReply, match="the host did not answer in time") as caught:
        posted(serve, timeout=0.05)
    assert caught.value.down


@pytest.mark.parametrize("framing", [b"Content-Length: 2000\r\n", b""], ids=["announced", "not announced"])
def test_more_than_any_answer_has_is_not_read(monkeypatch: pytest.MonkeyPatch, framing: bytes) -> None:
    monkeypatch.setattr(transport, "LONGEST_BODY", 1000)
    with pytest.raises(NoReply, match="answered with more than"):
        posted(saying(b"HTTP/1.1 200 OK\r\n" + framing + b"\r\n" + b"x" * 2000, hang_up=True))


def test_where_nobody_listens_is_said_without_the_port(unused_port: int) -> None:
    async def main() -> None:
        carrier = Transport(f"http://127.0.0.1:{unused_port}/v1", {}, "the host", timeout=5, on_this_machine=True)
        try:
            await carrier.post(b"{}")
        finally:
            await carrier.close()

    with pytest.raises(NoReply, match=r"^no connection to the host \(Connection refused\)$"):
        asyncio.run(main())


@pytest.fixture
def unused_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# Proxies


def by_proxy(monkeypatch: pytest.MonkeyPatch, target: str, **environment: str) -> tuple[str, dict[str, str]]:
    """The first line and the headers of what a proxy is asked when `target` is wanted."""
    seen: list[tuple[str, dict[str, str], bytes]] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await request(reader))
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()

    async def main() -> Coroutine[Any, Any, None] | None:
        async with serving(serve) as url:
            proxy = url.removesuffix("/v1").replace("//", "//user:p%40ss@")
            for name in ("http_proxy", "https_proxy"):
                monkeypatch.setenv(name, proxy)
            for name, value in environment.items():
                monkeypatch.setenv(name, value)
            carrier = Transport(target, {}, "the host", timeout=5, on_this_machine=False)
            try:
                await carrier.post(b"{}")
            except NoReply as err:
                assert "407" in str(err)
            finally:
                await carrier.close()
        return None

    asyncio.run(main())
    return seen[0][0], seen[0][1]


def test_a_proxy_of_the_environment_is_asked_for_the_whole_address(monkeypatch: pytest.MonkeyPatch) -> None:
    line, headers = by_proxy(monkeypatch, "http://judge.invalid/v1/chat?a=b")
    assert line == "POST http://judge.invalid/v1/chat?a=b HTTP/1.1" and headers["host"] == "judge.invalid"
    assert headers["proxy-authorization"] == "Basic dXNlcjpwQHNz"


def test_what_is_secret_goes_through_a_tunnel(monkeypatch: pytest.MonkeyPatch) -> None:
    line, headers = by_proxy(monkeypatch, "https://judge.invalid/v1/chat")
    assert line == "CONNECT judge.invalid:443 HTTP/1.1" and headers["proxy-authorization"] == "Basic dXNlcjpwQHNz"


def test_whom_the_environment_exempts_takes_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "127.0.0.1")

    async def main() -> bytes:
        async with serving(saying(terminal_safe())) as url:
            carrier = Transport(url, {}, "h", timeout=5, on_this_machine=False)
            try:
                return (await carrier.post(b"{}")).body
            finally:
                await carrier.close()

    assert asyncio.run(main()) == BODY


def test_headers_without_end_are_not_read() -> None:
    """The server sends headers until the client hangs up, or until 64 MB went out."""
    sent = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\n")
        try:
            while sent < 64 * 2**20:
                writer.write(b"X-%d: " % sent + b"x" * 1000 + b"\r\n")
                sent += 1000
                await writer.drain()
        except ConnectionError:
            pass

    with pytest.raises(NoReply, match="the response is not HTTP"):
        posted(serve, timeout=60)
    assert sent < 16 * 2**20


class EndlessBody:
    """The response of a server that sends without an end; `held` are the bytes of all bodies that somebody still reads."""

    status, content_length = 200, None
    held = most = 0

    def __init__(self) -> None:
        self.content, self._sent = self, 0

    async def iter_any(self) -> Any:
        while True:
            await asyncio.sleep(0)
            self._sent += 1000
            EndlessBody.held += 1000
            EndlessBody.most = max(EndlessBody.most, EndlessBody.held)
            yield b"x" * 1000

    def close(self) -> None:
        EndlessBody.held -= self._sent


def test_of_large_bodies_one_is_read_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "LONGEST_BODY", 200_000)
    monkeypatch.setattr(transport, "LARGE_BODY", 10_000)

    async def main() -> list[Any]:
        carrier = Transport("http://127.0.0.1:9/chat", {}, "the host", timeout=30, on_this_machine=True)
        bodies: list[Any] = [EndlessBody() for _ in range(20)]
        return await asyncio.gather(*(carrier._read(body) for body in bodies), return_exceptions=True)

    outcomes = asyncio.run(main())
    assert all(isinstance(outcome, NoReply) for outcome in outcomes)
    steps = [step for outcome in outcomes for step, _ in traceback.walk_tb(outcome.__traceback__)]
    held = [
        part for step in steps for value in step.f_locals.values() if isinstance(value, list) for part in value if isinstance(part, bytes)
    ]
    assert not held, "calls that wait for their next attempt hold their last error"
    assert 200_000 < EndlessBody.most <= 200_000 + 21 * 11_000 and EndlessBody.held == 0


def test_a_long_refusal_is_read_to_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "LONGEST_REFUSAL", 1000)
    [found] = posted(saying(b"HTTP/1.1 500 Whatever\r\n\r\n" + b"x" * 5000, hang_up=True))
    assert (found.status, len(found.body)) == (500, 1000)


def test_a_certificate_that_is_not_trusted_is_said_with_the_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    untrusted = OSError()
    untrusted.reason = "CERTIFICATE_VERIFY_FAILED"  # type: ignore[attr-defined]
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    assert transport._explain_tls(untrusted).startswith("certificate verify failed; SSL_CERT_FILE can name a file")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    assert transport._explain_tls(untrusted).endswith("SSL_CERT_FILE names a file that does not exist")
    untrusted.reason = "WRONG_VERSION_NUMBER"  # type: ignore[attr-defined]
    assert "answers without TLS" in transport._explain_tls(untrusted)
