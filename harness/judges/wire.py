"""What carries calls to an endpoint: one POST of JSON over kept-alive HTTP/1.1 connections.

The openai client's own layers cost over a millisecond of CPU a call (docs/performance.md), so what the client would send (same path,
same headers, same JSON; tests hold them equal) goes over asyncio's own transports, and llhttp reads what comes back.
"""

from __future__ import annotations

import asyncio
import base64
import os
import socket
import ssl
from collections.abc import Mapping
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import httptools
import msgspec

from harness.judges.base import NoReply

LONGEST_BODY = 64 * 2**20  # bytes; no answer is given room for as many
_CONNECT_SECONDS = 20.0
_IDLE_SECONDS = 15.0  # a connection that has rested for longer may be closed at the other end by now


class Response(msgspec.Struct, frozen=True):
    """What came back, whatever its status; names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Wire:
    """Posts to one URL. It follows no redirect (texts go where they were said to go), and takes no proxy to this machine."""

    def __init__(self, url: str, headers: Mapping[str, str], host: str, *, timeout: float, on_this_machine: bool) -> None:
        self._host = host  # as messages name it
        self._route = _Route(urlsplit(url), {} if on_this_machine else getproxies())
        self._head = self._route.head({"Content-Type": "application/json", "Accept": "application/json", **headers})
        self._timeout = timeout
        self._resting: list[tuple[float, _Connection]] = []  # with the time since when

    async def post(self, body: bytes) -> Response:
        """Raises NoReply when the connection cannot be made or breaks, or the answer does not come in time or is too long."""
        loop = asyncio.get_running_loop()
        connection = self._rested(loop.time())
        try:
            async with asyncio.timeout(self._timeout):
                if connection is None:
                    connection = await self._route.connect()
                response = await connection.ask(self._head, body)
        except TimeoutError:
            raise NoReply(f"{self._host} did not answer in time", down=True) from None
        except _TooLong:
            raise NoReply(f"{self._host} answered with more than {LONGEST_BODY >> 20} MiB") from None
        except (OSError, httptools.HttpParserError) as err:
            raise NoReply(f"no connection to {self._host} ({_said(err)})", down=True) from None
        else:
            if connection.reusable:
                self._resting.append((loop.time(), connection))
                connection = None
            return response
        finally:
            if connection is not None:
                connection.close()

    def _rested(self, now: float) -> _Connection | None:
        """The connection that was used last and is still open."""
        while self._resting:
            since, connection = self._resting.pop()
            if connection.reusable and now - since < _IDLE_SECONDS:
                return connection
            connection.close()
        return None

    async def close(self) -> None:
        for _, connection in self._resting:
            connection.close()
        self._resting.clear()
        await asyncio.sleep(0)  # lets them close


class _TooLong(Exception):
    """More bytes than any answer has."""


class _Broken(OSError):
    """The other end went away before the answer was whole."""


class _Connection(asyncio.Protocol):
    """One connection, one request at a time. Its parser calls the methods that begin with `on_`."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[Response] | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._headers: dict[str, str] = {}
        self._body = bytearray()
        self._open = True
        self.reusable = True

    async def ask(self, head: bytes, body: bytes) -> Response:
        assert self._transport is not None
        self.reusable = False
        self._headers, self._body = {}, bytearray()
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(b"%bContent-Length: %d\r\n\r\n%b" % (head, len(body), body))
        if not self._open:
            raise _Broken
        return await self._answer

    def close(self) -> None:
        self.reusable = False
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._answer is None:  # nobody has asked
            self.close()
            return
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade, _TooLong) as err:
            self._fail(err.__context__ if isinstance(err.__context__, _TooLong) else err)

    def eof_received(self) -> None:
        """An answer without a length ends with its connection."""
        lengths = self._headers.keys() & {"content-length", "transfer-encoding"}
        if self._answer is not None and not self._answer.done() and self._headers and not lengths:
            self._finish()

    def connection_lost(self, error: Exception | None) -> None:
        self._open = self.reusable = False
        self.eof_received()
        self._fail(error if isinstance(error, OSError) else _Broken())

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_body(self, part: bytes) -> None:
        self._body += part
        if len(self._body) > LONGEST_BODY:
            raise _TooLong

    def on_message_complete(self) -> None:
        if self._parser.get_status_code() < 200:  # it only announces the answer
            self._headers, self._body = {}, bytearray()
            return
        self.reusable = self._open and self._parser.should_keep_alive()
        self._finish()

    def _finish(self) -> None:
        answer, self._answer = self._answer, None
        if answer is not None and not answer.done():
            answer.set_result(Response(self._parser.get_status_code(), self._headers, bytes(self._body)))

    def _fail(self, error: BaseException) -> None:
        answer, self._answer = self._answer, None
        self.reusable = False
        if answer is not None and not answer.done():
            answer.set_exception(error)


class _Route:
    """The way to a URL: straight, or by the proxy that the environment names for it."""

    def __init__(self, url: SplitResult, proxies: Mapping[str, str]) -> None:
        self._url = url
        self._secure = url.scheme == "https"
        self._port = url.port or (443 if self._secure else 80)
        named = proxies.get(url.scheme) or proxies.get("all")
        bypassed = bool(named) and proxy_bypass(url.netloc)
        self._proxy = urlsplit(named if named and "://" in named else f"http://{named}") if named and not bypassed else None
        self._certificates = _certificates() if self._secure else None

    def head(self, headers: Mapping[str, str]) -> bytes:
        """The request up to the length of its body."""
        path = (self._url.path or "/") + (f"?{self._url.query}" if self._url.query else "")
        lines = {"Host": self._url.netloc, **headers}
        if self._proxy and not self._secure:
            path = f"http://{self._url.netloc}{path}"
            lines |= self._authorization(self._proxy)
        return "".join([f"POST {path} HTTP/1.1\r\n", *(f"{name}: {value}\r\n" for name, value in lines.items())]).encode("latin-1")

    async def connect(self) -> _Connection:
        loop = asyncio.get_running_loop()
        near = self._proxy or self._url
        host = near.hostname or ""
        port = near.port or (self._port if near is self._url else 80)
        secure = None if self._proxy else self._certificates
        async with asyncio.timeout(_CONNECT_SECONDS):
            transport, connection = await loop.create_connection(_Connection, host, port, ssl=secure)
            if self._proxy and self._secure:
                await self._tunnel(transport, connection)
        return connection

    async def _tunnel(self, transport: asyncio.Transport, connection: _Connection) -> None:
        """Have the proxy pass bytes on, and speak TLS with the other end."""
        assert self._proxy is not None and self._url.hostname is not None
        reader = asyncio.StreamReader()
        transport.set_protocol(asyncio.StreamReaderProtocol(reader))
        there = f"{self._url.hostname}:{self._port}"
        asked = [f"CONNECT {there} HTTP/1.1", f"Host: {there}", *(f"{k}: {v}" for k, v in self._authorization(self._proxy).items()), "", ""]
        transport.write("\r\n".join(asked).encode("latin-1"))
        try:
            said = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            raise _Broken from None
        if said.split(b" ", 2)[1:2] != [b"200"]:
            transport.abort()
            raise ConnectionRefusedError(f"the proxy {self._proxy.hostname} answered {said[:60].decode('latin-1').splitlines()[0]}")
        loop = asyncio.get_running_loop()
        assert self._certificates is not None
        secured = await loop.start_tls(transport, connection, self._certificates, server_hostname=self._url.hostname)
        assert secured is not None
        connection.connection_made(secured)

    def _authorization(self, proxy: SplitResult) -> dict[str, str]:
        if not proxy.username:
            return {}
        plain = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}".encode()
        return {"Proxy-Authorization": f"Basic {base64.b64encode(plain).decode()}"}


def _said(err: BaseException) -> str:
    """What happened, without the address and port, which are in no record."""
    if isinstance(err, _Broken):
        return "it broke off"
    if isinstance(err, socket.gaierror):
        return "no such host"
    if isinstance(err, ssl.SSLError):
        return str(err.reason or "TLS failed").replace("_", " ").lower()
    number = getattr(err, "errno", None)
    if isinstance(number, int) and number > 0:
        return os.strerror(number)
    return str(err.args[0]) if isinstance(err, ConnectionRefusedError) and err.args else "what came back is no HTTP"


def _certificates() -> ssl.SSLContext:
    """The usual authorities, or those that the environment names."""
    import certifi

    named = os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR")
    return ssl.create_default_context(cafile=None if named else certifi.where())
