"""Takes a port before anybody is told its address."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from harness.errors import StoreError, UsageError

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens on a port of one address of this machine; port 0 is any free one. The caller closes it.

    Raises UsageError for a port that is taken or needs more rights, and for an address that is not one of this machine.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, UnicodeError):
        raise UsageError(f"--host {host}: no address of this name is known; use one such as 127.0.0.1, or 0.0.0.0 for all") from None
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name != "nt":  # there it would let two programs share the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()
    except OSError as err:
        listener.close()
        raise UsageError(_refusal(host, port, err)) from None
    return listener


def _refusal(host: str, port: int, err: OSError) -> str:
    if err.errno == errno.EADDRINUSE:
        return f"port {port} of {host} is in use by another program; choose another with --port, or end that program"
    if err.errno == errno.EACCES:
        return f"port {port} needs more rights than you have; choose one from 1024 on with --port"
    if err.errno == errno.EADDRNOTAVAIL:
        return f"--host {host} is no address of this machine; leave it out for this machine only, or use 0.0.0.0 for all its addresses"
    return f"port {port} of {host} cannot be listened on ({err.strerror or err}); choose another with --port"


def address_of(listener: socket.socket, host: str) -> str:
    """Return the beginning of the addresses that are served.

    >>> with listening_socket("127.0.0.1", 0) as listener:
    ...     address_of(listener, "::1")[:13]
    'http://[::1]:'
    """
    return f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"


@contextmanager
def sole_server(folder: Path) -> Iterator[None]:
    """Holds a folder of result files: two servers that write one file would each lose what the other wrote. Raises StoreError."""
    lock = FileLock(folder / ".served.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise StoreError(f"{folder} is in use by another 'harness labels serve'; end that one first") from None
    except OSError as err:
        raise StoreError(f"{folder} cannot be written ({err.strerror or err}); make room or choose another folder") from None
    try:
        yield
    finally:
        lock.release()
