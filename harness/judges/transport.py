"""The HTTP transport: sends one POST of JSON to an endpoint and returns the whole response, with aiohttp.

The request has the path, the headers and the JSON that the openai client would send; tests hold them equal. The openai client itself
costs over a millisecond of CPU a call (docs/performance.md).
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass
from weakref import WeakKeyDictionary

import msgspec

from harness.judges.judge_protocol import NoReply

if TYPE_CHECKING:
    import aiohttp  # late: it takes a quarter of a second, which re-reading a run should not

LONGEST_BODY = 64 * 2**20  # bytes; no answer is so long
LONGEST_REFUSAL = 2**20  # bytes of a body with another status than 2xx; the rest is not read
LARGE_BODY = 2**20  # bytes; what goes beyond is read of one response at a time, so that many calls in flight need little memory
_CONNECT_SECONDS = 20.0
_IDLE_SECONDS = 15.0  # the endpoint may have closed a connection that was unused for longer


_large_bodies: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()  # of all judges that one loop asks


class Response(msgspec.Struct, frozen=True):
    """A whole response, or the beginning of a long refusal. Header names are looked up in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Sender(Protocol):
    """Sends the body of a request to the endpoint."""

    async def post(self, body: bytes) -> Response: ...

    async def close(self) -> None: ...


class Transport:
    """Posts to one URL over kept-alive connections.

    It follows no redirect, because texts go only to the address that the user gave. It uses the proxies of the environment, but not for
    this machine.
    """

    def __init__(self, url: str, headers: Mapping[str, str], host: str, *, timeout: float, on_this_machine: bool) -> None:
        self._url = url
        self._headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity", **headers}
        self._host = host  # the name that messages use
        self._timeout = timeout
        # aiohttp could look for the proxy that the environment names, but would then read passwords from .netrc, too.
        parts, proxies = urlsplit(url), {} if on_this_machine else getproxies()
        proxy = proxies.get(parts.scheme) or proxies.get("all")
        if proxy and proxy_bypass(parts.netloc):
            proxy = None
        self._proxy = f"http://{proxy}" if proxy and "://" not in proxy else proxy or None
        self._session: aiohttp.ClientSession | None = None

    async def post(self, body: bytes) -> Response:
        """Send `body` and return the response.

        Raises NoReply if the connection cannot be made or breaks, or if the response is late, too long or not HTTP.
        """
        import aiohttp

        if self._session is None:
            secure = self._url.startswith("https:")
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_SECONDS, ssl=_load_certificates() if secure else True),
                headers=self._headers,
                auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=self._timeout, connect=_CONNECT_SECONDS),
            )
        try:
            async with self._session.post(self._url, data=aiohttp.BytesPayload(body), proxy=self._proxy, allow_redirects=False) as response:
                return Response(response.status, response.headers, await self._read(response))
        except TimeoutError:
            raise NoReply(f"{self._host} did not answer in time", down=True) from None
        except (aiohttp.ClientError, OSError, ValueError) as err:
            raise NoReply(f"no connection to {self._host} ({_describe_failure(err)})", down=True) from None

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        """Return the body. Of large bodies, one is read at a time; whoever gets it works on it before the next one is read."""
        refused = not 200 <= response.status < 300
        limit = LONGEST_REFUSAL if refused else LONGEST_BODY
        parts: list[bytes] = []
        size, turn, has_turn = 0, _large_bodies.setdefault(asyncio.get_running_loop(), asyncio.Lock()), False
        try:
            async for part in response.content.iter_any():
                parts.append(part)
                size += len(part)
                if size > limit or (response.content_length or 0) > limit:
                    response.close()
                    if refused:
                        break
                    raise NoReply(f"{self._host} answered with more than {LONGEST_BODY >> 20} MiB")
                if size > LARGE_BODY and not has_turn:
                    has_turn = await turn.acquire()
            return b"".join(parts)[:limit]
        finally:
            parts.clear()  # an error holds this frame as long as its call waits for the next attempt
            if has_turn:
                turn.release()

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None


def _describe_failure(err: BaseException) -> str:
    """Return a failure in words, without address and port, which must not be stored."""
    import aiohttp

    match err:
        case aiohttp.ClientHttpProxyError():
            return f"the proxy answered {err.status}"
        case aiohttp.ClientConnectorDNSError():
            return "no such host"
        case aiohttp.ClientConnectorCertificateError():
            return _explain_tls(err.certificate_error)
        case aiohttp.ClientConnectorSSLError():
            return _explain_tls(err.os_error)
        case aiohttp.ClientPayloadError() | aiohttp.ServerDisconnectedError() | ConnectionResetError():
            return "the connection broke"
        case OSError() if err.errno and err.errno > 0:
            return os.strerror(err.errno)
        case _:
            return "the response is not HTTP"


def _explain_tls(err: BaseException) -> str:
    """Return the problem with the certificate, and how to name another authority."""
    reason = str(getattr(err, "reason", None) or "TLS failed").replace("_", " ").lower()
    if reason in ("wrong version number", "record layer failure"):
        return f"{reason}: the endpoint answers without TLS; should the base URL begin with http:// here?"
    file = os.environ.get("SSL_CERT_FILE")
    if file and not os.path.isfile(file):
        return f"{reason}; SSL_CERT_FILE names a file that does not exist"
    return f"{reason}; SSL_CERT_FILE can name a file (PEM) with the authorities that your network trusts"


def _load_certificates() -> ssl.SSLContext:
    """Return the usual certificate authorities, or those that the environment names."""
    import certifi

    from_environment = os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR")
    return ssl.create_default_context(cafile=None if from_environment else certifi.where())
