"""Removing secrets from responses and error messages, before the text is cut, stored or printed."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote, urlsplit

from harness.text import terminal_safe

MARK = "[key]"
RUN = 8  # any so many consecutive characters of a secret are removed; shorter secrets only as a whole
SHORTEST = 4  # shorter secrets could be ordinary words
_STRIDE = 5  # any RUN consecutive characters contain one whole piece of _PIECE characters that begins at a multiple of the stride
_PIECE = 4
_LONGEST_QUOTED = 100_000  # characters of a message that are searched before it is cut
_ESCAPE = re.compile(r"\\u00([2-7][0-9a-fA-F])|%([2-7][0-9a-fA-F])|\\(/)")  # how JSON and URLs escape printable ASCII
_BETWEEN = re.compile(r"[\W_]")  # what may stand between the characters of a secret that is spelled: blanks, hyphens, nothing visible
# Environment variables that hold a key, and variables that may hold an address with a password.
KEYS = ("OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
ADDRESSES = ("http_proxy", "https_proxy", "all_proxy", "pip_index_url", "pip_extra_index_url")


class Redactor:
    """Replaces every 8 or more consecutive characters of a secret by `[key]`: plain, JSON-escaped, percent-encoded or in base64.

    Secrets of 4 to 7 characters are replaced only as a whole. Shorter secrets are ignored.

    >>> Redactor(["sk-test-4711-secret"])("Bearer sk-test-4711-sec is cut, sk-test is short")
    'Bearer [key] is cut, sk-test is short'
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        known = {secret for secret in secrets if len(secret) >= SHORTEST}
        self._short = sorted((secret for secret in known if len(secret) < RUN), key=len, reverse=True)
        spelled = {form for secret in known - {*self._short} for form in (secret, *_in_base64(secret))}
        forms = {form for form in spelled | {_BETWEEN.sub("", form) for form in spelled} if len(form) >= RUN}
        self._runs = frozenset(form[at : at + RUN] for form in forms for at in range(len(form) - RUN + 1))
        self._pieces = sorted({form[at : at + _PIECE] for form in forms for at in range(0, len(form) - _PIECE + 1, _STRIDE)})

    def __call__(self, text: str) -> str:
        """The text without secrets."""
        for secret in self._short:
            text = text.replace(secret, MARK)
        if len(text) < RUN or not self._pieces:
            return text
        if _ESCAPE.search(text) is None:
            return self._replace_runs(text, text, None)
        decoded, starts = _decoded(text)
        return self._replace_runs(text, decoded, starts)

    def quote(self, text: str, most: int = 300) -> str:
        """A message of an endpoint as one line of at most `most` characters, without secrets and terminal control characters.

        Secrets are removed before the line is cut, also those that are spelled with blanks or signs (`s k - …`, `s.k.…`).
        """
        line = " ".join(terminal_safe(text[:_LONGEST_QUOTED]).split())
        return self._without_spelled(self(line))[:most]

    def _without_spelled(self, text: str) -> str:
        """`text` without secrets between whose characters stand blanks, signs, or characters that nobody sees."""
        shown = [(position, character) for position, character in enumerate(text) if not _BETWEEN.match(character)]
        return self._replace_runs(text, "".join(character for _, character in shown), [*(at for at, _ in shown), len(text)])

    def _replace_runs(self, text: str, decoded: str, starts: list[int] | None) -> str:
        """`text` without the runs in its decoded form. `starts` holds the position in `text` of each decoded character."""
        if not any(piece in decoded for piece in self._pieces):
            return text
        parts, last = [], 0
        for begin, end in self._runs_in(decoded):
            first, after = (begin, end) if starts is None else (starts[begin], starts[end])
            parts += [text[last:first], MARK]
            last = after
        return "".join([*parts, text[last:]])

    def _runs_in(self, text: str) -> Iterator[tuple[int, int]]:
        """Begin and end of every part of the text that runs of secrets cover."""
        at, last = 0, len(text) - RUN
        while at <= last:
            if text[at : at + RUN] not in self._runs:
                at += 1
                continue
            begin, end = at, at + RUN
            while at <= last and at <= end:
                if text[at : at + RUN] in self._runs:
                    end = at + RUN
                at += 1
            yield begin, end
            at = end


def environment_secrets(variables: Mapping[str, str]) -> list[str]:
    """The secrets in environment variables: keys, and passwords in the addresses of proxies and package registries."""
    keys = [variables[name].strip() for name in KEYS if variables.get(name)]
    values = [variables[each] for name in ADDRESSES for each in (name, name.upper()) if variables.get(each)]
    return keys + [secret for value in values for address in value.split() for secret in _secrets_in_address(address)]


def _secrets_in_address(address: str) -> Iterator[str]:
    """The password in an address, as written and decoded, and together with the user name."""
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
    except ValueError:
        return
    if parts.password:
        name, password = unquote(parts.username or ""), unquote(parts.password)
        yield from {parts.password, password}
        yield f"{name}:{password}"


def _in_base64(secret: str) -> Iterator[str]:
    """The part of a secret's base64 form that does not depend on the text around it, in both alphabets."""
    data = secret.encode()
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + data).decode().rstrip("=")
        first = -(-shift * 8 // 6)
        inner = encoded[first : (shift + len(data)) * 8 // 6]
        yield from {inner, inner.replace("+", "-").replace("/", "_")}


def _decoded(text: str) -> tuple[str, list[int]]:
    """The text with decoded escapes of printable ASCII, and the position in the text of each decoded character and of the end."""
    characters: list[str] = []
    starts: list[int] = []
    last = 0
    for escape in _ESCAPE.finditer(text):
        characters += text[last : escape.start()]
        starts += range(last, escape.start())
        code = escape[1] or escape[2]
        characters.append(chr(int(code, 16)) if code else "/")
        starts.append(escape.start())
        last = escape.end()
    characters += text[last:]
    starts += range(last, len(text) + 1)
    return "".join(characters), starts
