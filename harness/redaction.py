"""Removing secrets from responses and error messages, before the text is cut, stored or printed."""

from __future__ import annotations

import base64
import html
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import unquote, urlsplit

from harness.text import terminal_safe

MARK = "[key]"
RUN = 8  # any so many consecutive characters of a secret are removed; shorter secrets only as a whole
SHORTEST = 4  # shorter secrets could be ordinary words
_STRIDE = 5  # any RUN characters of a text contain one whole piece of _PIECE characters that begins at a multiple of the stride
_PIECE = 4
_LONGEST_QUOTED = 100_000  # characters of a message that are searched before it is cut
# How JSON, URLs, programs, mails and pages escape characters.
_ESCAPE = re.compile(
    r"\\+u([0-9a-fA-F]{4})|\\+u\{([0-9a-fA-F]{1,5})\}|\\+x([2-7][0-9a-fA-F])|[%=]([2-7][0-9a-fA-F])|\\+(/)|(&#?\w{1,8};)"
    r"|(%[c-fC-F][0-9a-fA-F](?:%[89abAB][0-9a-fA-F]){1,3})"
)
_HEX = re.compile(r"(?:(?:0x|\\x|U\+00)?[0-9a-f]{2}[\s:,;_-]{0,2}){8,}", re.IGNORECASE)  # at least eight characters
_HEX_PAIR = re.compile(r"(?:0x|\\x|U\+00)?([0-9a-f]{2})", re.IGNORECASE)
_CODES = re.compile(r"(?:\d{2,3}[\s,;.-]{1,3}){7,}\d{2,3}")
_CODE = re.compile(r"\d{2,3}")
_SPELLED = re.compile(r"(?:[^\W_][\W_]{1,8}){7,}[^\W_]")
_LEAST_RANDOM = 16  # characters of a secret whose parts are no words of a text
_STRIDES = (2, 3, 4)  # a secret with other characters between its own is not decoded: nothing of such a text is kept
_ROUNDS = 3  # of escapes within escapes
_MOST_REPLACEMENTS = 20  # ways of writing a secret in one text
_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}  # keeps the length
_UNSEEN_BETWEEN = re.compile(r"[^\x20-\x7e\w\s]")
_BETWEEN = re.compile(r"[\W_]+")  # what may stand between the characters of a secret that is spelled: blanks, hyphens, nothing visible
_ESCAPING = ("\\", "%", "=", "&")  # each escape begins with one of these
_DIGITS = "0123456789"  # RUN visible characters in hex or decimal codes have at least as many
# Environment variables that hold a key, and variables that may hold an address with a password.
KEYS = ("OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
ADDRESSES = ("http_proxy", "https_proxy", "all_proxy", "pip_index_url", "pip_extra_index_url")


class Redactor:
    """Replaces every 8 or more consecutive characters of a secret by `[key]`, in either direction and in any case.

    The secret may be plain or encoded: with escapes of JSON, URLs or HTML, in hex or other codes, in base64, in wide letters, or with
    characters between that nobody sees. A text that still holds 8 of its characters in order, at equal distances, becomes `[key]` as a
    whole. Secrets of 4 to 7 characters are replaced only as a whole. Shorter secrets are ignored.

    >>> Redactor(["sk-test-4711-secret"])("Bearer sk-test-4711-sec is cut, sk-test is short")
    'Bearer [key] is cut, sk-test is short'
    >>> Redactor(["sk-test-4711-secret"])("terces-1174-tset-ks, 736b2d746573742d343731312d736563726574, s-k-_t_e_s_t 4 7 1 1")
    '[key], [key], [key]'
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        usable = {secret for secret in secrets if len(secret) >= SHORTEST}
        self._short = sorted((secret for secret in usable if len(secret) < RUN), key=len, reverse=True)
        directions = {way for secret in usable - {*self._short} for way in (secret, secret[::-1])}
        self._random = any(len(secret) >= _LEAST_RANDOM and re.search(r"\d", secret) for secret in directions)
        spelled = {form for secret in directions for form in (secret, *_in_base64(secret))}
        forms = {form.lower() for form in spelled | {_BETWEEN.sub("", form) for form in spelled} if len(form) >= RUN}
        self._runs = frozenset(form[start : start + RUN] for form in forms for start in range(len(form) - RUN + 1))
        self._pieces = _pieces(forms)
        self._plain_pieces = _pieces({form.lower() for form in directions})

    def __call__(self, text: str) -> str:
        """Return the text without secrets."""
        for secret in self._short:
            text = text.replace(secret, MARK)
        if len(text) < RUN or not self._pieces:
            return text
        for _ in range(_MOST_REPLACEMENTS):
            replaced = (self._replace_runs(text, *view) for view in self._views(text))
            redacted = next((other for other in replaced if other != text), None)
            if redacted is None:
                return MARK if self._at_distances(text.lower()) else text
            text = redacted  # another form may stand beside it
        return MARK

    def _views(self, text: str) -> Iterator[tuple[str, Sequence[int], Sequence[int]]]:
        """Yield the text in each way of decoding it, with the place in it where each decoded character begins and ends."""
        decoded = text
        begins: Sequence[int] = range(len(text))
        ends: Sequence[int] = range(1, len(text) + 1)
        yield decoded, begins, ends
        for _ in range(_ROUNDS):
            if not any(sign in decoded for sign in _ESCAPING) or _ESCAPE.search(decoded) is None:
                break
            decoded, starts = _decoded(decoded)
            begins, ends = [begins[index] for index in starts[:-1]], [ends[index - 1] for index in starts[1:]]
            yield decoded, begins, ends
        coded = ((_HEX, _HEX_PAIR, 16), (_CODES, _CODE, 10)) if sum(map(decoded.count, _DIGITS)) >= RUN else ()
        for pattern, unit, base in coded:
            for match in pattern.finditer(decoded):
                units = [(escape, int(escape[escape.lastindex or 0], base)) for escape in unit.finditer(decoded, *match.span())]
                units = [(escape, code) for escape, code in units if code < 128]
                characters = "".join(chr(code) for _, code in units)
                yield characters, [begins[escape.start()] for escape, _ in units], [ends[escape.end() - 1] for escape, _ in units]
        between = _BETWEEN if self._random or _SPELLED.search(decoded) else _UNSEEN_BETWEEN
        if self._may_hold(between.sub("", unicodedata.normalize("NFKC", decoded))):
            signs = [(index, letter) for index, sign in enumerate(decoded) for letter in unicodedata.normalize("NFKC", sign)]
            seen = [(index, letter) for index, letter in signs if not between.match(letter)]
            yield "".join(letter for _, letter in seen), [begins[index] for index, _ in seen], [ends[index] for index, _ in seen]

    def _may_hold(self, text: str) -> bool:
        """Return True if a piece of a text is one of a form of a secret: quick, and true for every text that holds a run of it."""
        return not self._pieces.isdisjoint(_strided_pieces(text.lower()))

    def _at_distances(self, text: str) -> bool:
        """Return True if every second, third or fourth character of the text spells a part of a secret."""
        for stride in _STRIDES:
            for first in range(stride):
                strided = text[first::stride]
                if not self._plain_pieces.isdisjoint(_strided_pieces(strided)) and any(self._runs_in(strided)):
                    return True
        return False

    def quote(self, text: str, most: int = 300) -> str:
        """Return a message of an endpoint as one line of at most `most` characters, without secrets and terminal control characters.

        Secrets are removed before the line is cut, also those that are spelled with blanks or signs (`s k - …`, `s.k.…`).
        """
        line = " ".join(terminal_safe(text[:_LONGEST_QUOTED]).split())
        text = self(line)
        # secrets between whose characters stand blanks, signs, or characters that nobody sees
        visible = [(position, character) for position, character in enumerate(text) if not _BETWEEN.match(character)]
        positions = [index for index, _ in visible]
        characters = "".join(character for _, character in visible)
        return self._replace_runs(text, characters, positions, [index + 1 for index in positions])[:most]

    def _replace_runs(self, text: str, decoded: str, begins: Sequence[int], ends: Sequence[int]) -> str:
        """Return `text` without the runs in its decoded form, whose characters begin and end at these places of `text`."""
        if not self._may_hold(decoded):
            return text
        parts, last = [], 0
        for begin, end in self._runs_in(decoded.translate(_LOWER)):
            parts += [text[last : begins[begin]], MARK]
            last = ends[end - 1]
        return "".join([*parts, text[last:]])

    def _runs_in(self, text: str) -> Iterator[tuple[int, int]]:
        """Return the begin and end of every part of the text that runs of secrets cover."""
        position, last = 0, len(text) - RUN
        while position <= last:
            if text[position : position + RUN] not in self._runs:
                position += 1
                continue
            begin, end = position, position + RUN
            while position <= last and position <= end:
                if text[position : position + RUN] in self._runs:
                    end = position + RUN
                position += 1
            yield begin, end
            position = end


def _pieces(forms: Iterable[str]) -> frozenset[str]:
    """Return all pieces of the forms of a secret."""
    return frozenset(form[start : start + _PIECE] for form in forms for start in range(len(form) - _PIECE + 1))


def _strided_pieces(text: str) -> list[str]:
    """Return as many pieces of a text as are needed to find any run."""
    return [text[start : start + _PIECE] for start in range(0, len(text) - _PIECE + 1, _STRIDE)]


def environment_secrets(variables: Mapping[str, str]) -> list[str]:
    """Return the secrets in environment variables: keys, and passwords in the addresses of proxies and package registries."""
    keys = [variables[name].strip() for name in KEYS if variables.get(name)]
    values = [variables[variable] for name in ADDRESSES for variable in (name, name.upper()) if variables.get(variable)]
    return keys + [secret for value in values for address in value.split() for secret in _secrets_in_address(address)]


def _secrets_in_address(address: str) -> Iterator[str]:
    """Yield the password in an address, as written and decoded, and together with the user name."""
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
    except ValueError:
        return
    if parts.password:
        name, password = unquote(parts.username or ""), unquote(parts.password)
        yield from {parts.password, password}
        yield f"{name}:{password}"


def _in_base64(secret: str) -> Iterator[str]:
    """Yield the part of a secret's base64 form that does not depend on the text around it, in both alphabets."""
    data = secret.encode()
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + data).decode().rstrip("=")
        first = -(-shift * 8 // 6)
        inner = encoded[first : (shift + len(data)) * 8 // 6]
        yield from {inner, inner.replace("+", "-").replace("/", "_")}


def _decoded(text: str) -> tuple[str, list[int]]:
    """Return the text with decoded escapes, and the position in the text of each decoded character and of the end."""
    characters: list[str] = []
    starts: list[int] = []
    last = 0
    for escape in _ESCAPE.finditer(text):
        characters += text[last : escape.start()]
        starts += range(last, escape.start())
        code = next((group for group in escape.groups()[:4] if group), None)
        characters.append(chr(int(code, 16)) if code else "/" if escape[5] else (html.unescape(escape[6] or "") or unquote(escape[7]))[0])
        starts.append(escape.start())
        last = escape.end()
    characters += text[last:]
    starts += range(last, len(text) + 1)
    return "".join(characters), starts
