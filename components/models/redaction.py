"""What must never be in an error text: keys, and what was asked.

Providers echo both (a wrong key, the message they could not read), so their texts pass through here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from components.messages import Message

HIDDEN = "[hidden]"
_LONGEST = 400
_ECHO = 12
_KEYS = re.compile(
    r"""(?x)
    (?i:\bBearer\s+[\w.~+/=*-]+)
    | \b(?:sk|pk|rk|hf|gsk|xai|nvapi|pplx|r8|fw|csk|ghp)[-_][\w.*-]{6,} | \bkey[-_](?=[\w.*-]{0,40}\d)[\w.*-]{6,}
    | \bAIza[\w-]{10,} | \b(?:AKIA|ASIA)[A-Z0-9]{8,} | \beyJ[\w-]{8,}(?:\.[\w-]+)*
    | (?<=://)[^/\s@]+@
    | (?i:api[-_\s]?key|token|secret|signature|password|passwd|pwd|credentials?|authorization)
      ["']?\s*[:=]\s*["']?[^\s"',;&]{6,}
    | (?<=[?&]key=)[^\s&"']+
    | (?<![/\w.-])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![/\w-]|\.\w)
    | (?<![A-Za-z0-9+])(?=[A-Za-z0-9+]{0,64}\d)(?=[A-Za-z0-9+]{0,64}[A-Za-z])[A-Za-z0-9+]{32,}={0,2}
    """
)
_WORDS = re.compile(r"\w+")
_QUOTED = re.compile(r"'([^']{3,})'|\"([^\"]{3,})\"|`([^`]{3,})`")


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Replace the given secrets and everything that looks like a key."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, HIDDEN)
    return _KEYS.sub(HIDDEN, text)


def without_echo(text: str, messages: Iterable[Message]) -> str:
    """Cut ``text`` short and replace every piece of it that also stands in the messages."""
    text = re.sub(r"\\[nrt]", " ", text[:_LONGEST])
    asked = " ".join(_squashed(piece) for message in messages for piece in _pieces(message))
    hidden = [*_quotes(text, asked), *_runs(text, asked)]
    shown = bytearray(b"\1" * len(text))
    for start, end in hidden:
        shown[start:end] = bytes(end - start)
    return re.sub("\0+", "...", "".join(char if keep else "\0" for char, keep in zip(text, shown, strict=True)))


def _pieces(message: Message) -> Iterator[str]:
    yield message.text
    for call in message.tool_calls:
        yield call.arguments


def _squashed(text: str) -> str:
    """Words only, so that quoting, escaping and line breaks do not hide an echo."""
    return "".join(_WORDS.findall(text)).lower()


def _quotes(text: str, asked: str) -> Iterator[tuple[int, int]]:
    """What the provider quotes and we had written, however short."""
    for match in _QUOTED.finditer(text):
        quoted = _squashed(match[match.lastindex or 0])
        if quoted and quoted in asked:
            yield match.start() + 1, match.end() - 1


def _runs(text: str, asked: str) -> Iterator[tuple[int, int]]:
    """Runs of at least ``_ECHO`` letters and digits that we had written too."""
    places = [match.start() + offset for match in _WORDS.finditer(text) for offset in range(len(match[0]))]
    flat = "".join(text[place] for place in places).lower()
    if len(flat) != len(places):  # a letter whose lower case is longer: nothing can be placed, so nothing is shown
        yield 0, len(text)
        return
    for start in range(len(flat) - _ECHO + 1):
        if flat[start : start + _ECHO] in asked:
            yield places[start], places[start + _ECHO - 1] + 1
