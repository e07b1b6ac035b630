"""What carries calls to an endpoint: one POST of JSON over kept-alive connections.

The openai client's own layers cost a millisecond of CPU a call (docs/performance.md), so calls go over aiohttp in the client's form:
same path, same headers, same JSON; tests hold the two equal.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Mapping

import aiohttp
import msgspec

from harness.judges.base import NoReply

LONGEST_BODY = 64 * 2**20  # bytes; no answer is given room for as many
_CONNECT_SECONDS = 20.0
_CHUNK = 2**16


class Response(msgspec.Struct, frozen=True):
    """What came back, whatever its status; names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Wire:
    """Posts to one URL. It follows no redirect (texts go where they were said to go), and takes no proxy to this machine."""

    def __init__(self, url: str, headers: Mapping[str, str], host: str, *, timeout: float, on_this_machine: bool) -> None:
        self._url = url
        self._host = host  # as messages name it
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=_certificates() if url.startswith("https") else False),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"Content-Type": "application/json", "Accept": "application/json", **headers},
            timeout=aiohttp.ClientTimeout(total=timeout, sock_connect=min(_CONNECT_SECONDS, timeout)),
            trust_env=not on_this_machine,
        )

    async def post(self, body: bytes) -> Response:
        """Raises NoReply when the connection cannot be made or breaks, or the answer does not come in time or is too long."""
        try:
            async with self._session.post(self._url, data=body, allow_redirects=False) as response:
                headers = {name.lower(): value for name, value in response.headers.items()}
                answer = await _whole_body(response)
                if answer is None:
                    raise NoReply(f"{self._host} answered with more than {LONGEST_BODY >> 20} MiB")
                return Response(response.status, headers, answer)
        except TimeoutError:
            raise NoReply(f"{self._host} did not answer in time", down=True) from None
        except (aiohttp.ClientError, OSError) as err:
            raise NoReply(f"no connection to {self._host} ({_said(err)})", down=True) from None

    async def close(self) -> None:
        await self._session.close()
        await asyncio.sleep(0)  # lets the connections close


async def _whole_body(response: aiohttp.ClientResponse) -> bytes | None:
    """None for what is too long."""
    length = response.content_length
    if length is not None and length <= LONGEST_BODY:
        return await response.read()
    body = bytearray()
    async for part in response.content.iter_chunked(_CHUNK):
        body += part
        if len(body) > LONGEST_BODY:
            return None
    return bytes(body)


def _said(err: BaseException) -> str:
    """What happened, without the address and port, which are in no record."""
    number = getattr(err, "errno", None)
    if number:
        return os.strerror(number)
    return (
        "the connection broke off" if isinstance(err, aiohttp.ServerDisconnectedError | aiohttp.ClientPayloadError) else type(err).__name__
    )


def _certificates() -> ssl.SSLContext:
    """The usual authorities, or those that the environment names."""
    import certifi

    named = os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR")
    return ssl.create_default_context(cafile=None if named else certifi.where())
