"""Remove keys and requests from error texts, since providers echo both. Only known forms of keys are hidden: the values
of variables that hold keys, authorization headers, values assigned to the name of a secret, and tokens with a
provider's prefix; paths and digests stay."""

import json
import os
import re
from base64 import b64encode
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from os.path import exists
from unicodedata import category
from urllib.parse import quote

from components.core.messages import Completion, Message, ToolCall

HIDDEN = "[hidden]"
_LONGEST = 400
_ECHO = 12
_SECRET_NAME = re.compile(r"(?i)KEY|TOKEN|SECRET|PASSW|CREDENTIAL")
_NO_SHAPE, _SPACES = ("Cc", "Cf"), "\t\n\v\f\r"
_SHORTEST_SECRET = 8
_IN_ADDRESSES = str.maketrans("+/", "-_")  # base64's other alphabet
_SHORTEST_ECHOED = 16  # of a key in a reply: what is shorter may be a word such as "not-needed"
_QUOTE = r"""(?:\\{0,8}["'])?+"""  # with backslashes in JSON within JSON
_VALUE = r"""(?:[^\s"',;&\\]|\\(?!\\{0,8}["']))"""
_REFERENCE = r"\$\{(?:oc\.env:)?[\w.]++(?::\?[^{}]*+)?\}"  # a variable's name and no more
# Neither a word nor a code of a terminology: letters and digits, or letters in either case, without a break; or longer
_OPAQUE = r"(?=[^\W_]{15})(?=\d{0,14}[^\W\d_])[^\W_]{0,14}?(?:\d|[a-z][A-Z])"
_TOKEN = rf"(?:{_OPAQUE}|[\w+/=~-]{{26}})"
_UID = r"[0-2](?:\.\d++){4,}+(?!\.?[\w+/=~-])"  # of DICOM
_REMARK = "denied|empty|expired|incorrect|invalid|missing|needed|refused|rejected|required|unknown"
_PATTERNS = {  # possessive where a text could make them slow
    "header": rf"(?i)authorization{_QUOTE}\s*+[:=,]\s*+[\[(]?\s*+b?{_QUOTE}"
    rf"(?:Basic|Bearer|Token|ApiKey|Negotiate)\s+{_VALUE}+",
    "headers": r"(?i)headers=\{(?:[^{}]|\{[^{}]*+\})*+\}",
    "bearer": r"\b(?i:Bearer)\s+(?=[\w.~+/=*-]{16}|[\w.~+/=*-]{0,15}?(?:\d|[a-z][A-Z]))[\w.~+/=*-]{10,}+",
    "address": r"""(?<=//)(?<!///)(?<!\d//)[^/\s@]+@(?:[^/\s@"']*@)*""",
    # a quoted value ends with its quote or its line; after a colon and a space a word may be a remark
    "assignment": r"(?<![/\\])"
    r"(?i:api[-_\s]?key|token|secret|passw(?:or)?d|pwd|credentials?|(?P<vague>signature|authorization))"
    rf"""{_QUOTE}\s*+(?:[:=]\s*+[\[(]?\s*+b?(?P<level>\\{{0,8}}+)(?P<mark>["'])(?!{_REFERENCE}\\*["'])"""
    r"""(?:[^\\"'\n]|\\++(?!["'])|\\*+(?!(?P=mark))["']|(?P=level)\\++["']){6,}+"""
    rf"|(?:=\s*+|:(?!\s)|:\s++(?=\$\{{|{_VALUE}{{0,15}}\d|{_VALUE}{{16}}))[\[(]?\s*+"
    rf"(?!{_UID})(?(vague)(?=\$\{{|{_VALUE}{{0,200}}?{_TOKEN}))"
    rf"""(?!{_REFERENCE}(?:[\s"',;&\\)\]}}]|\Z))(?:\$\{{[^{{}}]*+\}}{_VALUE}*|{_VALUE}{{6,}}))""",
    # at the end of a line, as in YAML, a word is a password unless it says what is wrong with one
    "password": rf"(?im)(?:passw(?:or)?d|passphrase|pwd){_QUOTE}[ \t]*+:[ \t]++(?!\[hidden\]|(?:{_REMARK})\b)"
    r"""[^\s"',;&\\{}]{6,}+(?=["'\])}]*+(?:[ \t]*+(?:\#|$)|\\[nr]))""",
    # a path may hold what looks like a token
    "token": r"(?<![\w./\\-])(?:(?:sk|pk|rk|csk|gsk|hf|xai|nvapi|pplx|r8|fw|ghp)[-_](?=[a-z_.-]*+[A-Z\d*])"
    rf"(?:[\w.-]*+\*[\w.*-]{{0,200}}+|(?=ant-api|[\w.-]{{0,200}}?(?:{_OPAQUE}|[\da-z-]{{32}}))[\w.-]{{16,}}+)"
    r"|AIza[\w-]{10,}+|(?:AKIA|ASIA)[A-Z0-9]{8,}+"
    r"|eyJ[\w-]{8,}+(?:\.[\w-]++)++)(?![\w.-]*+[/\\])",
    "query": r"(?:(?<=[?&](?:key|sig)=)|(?<=[?&]auth=)|(?<=[?&]code=)(?!http)"
    rf"""(?=[\w/.~%-]{{0,200}}?{_TOKEN}))[^\s&"'\x1b]+""",
}
_KEYS = list(map(re.compile, _PATTERNS.values()))
# An address whose password has a slash, in a text that ends with @; neither a host in brackets nor a port.
_SLASHED = re.compile(r"(?<=//)(?<!///)(?!\[[^]/]*:)[^/@:]*+:(?!(?:\d{1,5}|\$\{[^{}/]*+\})/)[^@]*@(?:[^/@]*@)*")
_UP_TO_AT = re.compile(r"""(?<![^\s"'])[^\s"']*@""")
# What a terminal obeys and does not show: ECMA-48's control sequences, control strings and choices of a character set;
# some also obey other escapes and the same in 8 bits.
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*+(?:\x07|\x1b\\)|[ -/]+[0-~])")
_ESCAPE = re.compile(r"\x1b[0-~]")
_SEVEN_BITS = {code: f"\x1b{chr(code - 64)}" for code in range(0x80, 0xA0)}
# Unicode's Default_Ignorable_Code_Point beyond the category of format characters, and noncharacters.
_IGNORED = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\ufffe\uffff"
    r"\U000e0000-\U000e0fff]"
)
_PERCENT = re.compile("%..")
_WORDS = re.compile(r"\w+")
_QUOTED = re.compile(r"'([^']{3,})'|\"([^\"]{3,})\"|`([^`]{3,})`")


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Replace the given secrets, the values of the environment's secret variables, both in all their forms, and texts
    in the form of a key; if one was found, invisible characters, which may have split it, are removed."""
    known = forms_of((*secrets, *_known_secrets()))
    obeyed = _ESCAPE.sub("", _SEQUENCE.sub("", text.translate(_SEVEN_BITS)))
    for seen in dict.fromkeys((_without_unseen(obeyed), _without_unseen(_SEQUENCE.sub("", text)), text)):
        if (hidden := _hide(seen, known)) != seen:
            return hidden
    return text


def _hide(text: str, known: Iterable[str]) -> str:
    text = _UP_TO_AT.sub(lambda found: _SLASHED.sub(HIDDEN, found[0]), without(text, known))
    for pattern in _KEYS:
        text = pattern.sub(HIDDEN, text)
    return text


def without(text: str, known: Iterable[str]) -> str:
    """The text with these hidden."""
    for one in known:
        text = text.replace(one, HIDDEN)
    return text


@lru_cache(64)
def forms_of(secrets: tuple[str, ...]) -> tuple[str, ...]:
    """What a server may make of secrets, the longest first: as they are, from back to front, escaped for JSON or an
    address, in hex, in base64, alone or within a longer text. Of a short one only itself is unmistakable."""
    found = {secret for secret in secrets if secret}
    for secret in [one for one in found if len(one) >= _SHORTEST_SECRET]:
        raw = secret.encode(errors="surrogateescape")
        escaped = json.dumps(secret)[1:-1]
        found |= {secret[::-1], escaped, escaped.replace("/", r"\/"), raw.hex(), raw.hex().upper()}
        for address in (quote(raw), quote(raw, safe="")):
            found |= {address, _PERCENT.sub(lambda code: code[0].lower(), address)}
        whole = b64encode(raw).decode()
        # behind one byte or two its base64 is another; of the first and last letters not all bits are the secret's
        codes = [whole, whole.rstrip("=")]
        for n, first in enumerate((0, 2, 3)):
            codes.append(b64encode(bytes(n) + raw).decode()[first : (n + len(raw)) * 8 // 6])
        found |= {form for code in codes for form in (code, code.translate(_IN_ADDRESSES))}
    return tuple(sorted(found, key=lambda one: (-len(one), one)))


def _without_unseen(text: str) -> str:
    """The text without characters that have no shape, as Unicode has them."""
    if text.isascii() and text.isprintable():
        return text
    unseen = {ord(c): None for c in set(text) if _IGNORED.match(c) or (category(c) in _NO_SHAPE and c not in _SPACES)}
    return text.translate(unseen) if unseen else text


def secret_variables(named: Collection[str] = ()) -> Mapping[str, str]:
    """The environment's variables that hold secrets, by their names or because they are ``named``. A value shorter than
    eight characters or the path of a file that exists is not a secret."""
    return {
        name: value
        for name, value in os.environ.items()
        if (name in named or _SECRET_NAME.search(name)) and len(value) >= _SHORTEST_SECRET and not exists(value)
    }


def unmistakable_secrets(named: Collection[str] = ()) -> tuple[str, ...]:
    """The values of secret variables, and of those that are ``named``, that are too long to be a word of a reply, in
    all their forms."""
    return forms_of(tuple(value for value in secret_variables(named).values() if len(value) >= _SHORTEST_ECHOED))


@cache
def _known_secrets() -> tuple[str, ...]:
    """The values of secret variables when the process first asks."""
    return tuple(secret_variables().values())


def without_key(completion: Completion, key: str) -> Completion:
    """The reply without the key that the request was sent with, in any form, which not even the journal may keep. Other
    secrets are hidden where records are written (``unmistakable_secrets``), so that a replay reads what the agent
    read."""
    if len(key) < _SHORTEST_ECHOED:
        return completion
    message = completion.message
    texts = [message.text, message.reasoning or "", completion.finish, completion.model]
    texts += [part for call in message.tool_calls for part in (call.id, call.name, call.arguments)]
    hidden = [without(text, forms_of((key,))) for text in texts]
    if hidden == texts:
        return completion
    content, reasoning, finish, model, *rest = hidden
    calls = tuple(ToolCall(*rest[n : n + 3]) for n in range(0, len(rest), 3))
    kept = replace(message, content=content, tool_calls=calls, reasoning=message.reasoning and reasoning)
    return completion._replace(message=kept, finish=finish, logprobs=None, model=model)


def without_echo(text: str, messages: Iterable[Message]) -> str:
    """Cut ``text`` short and replace every piece of it that the messages contain: what it quotes, however short, and
    runs of at least ``_ECHO`` letters and digits."""
    text = re.sub(r"\\[nrt]", " ", text[:_LONGEST])
    pieces = [piece for one in messages for piece in (one.text, *(call.arguments for call in one.tool_calls))]
    sent = " ".join(map(_squashed, pieces))
    places = [match.start() + offset for match in _WORDS.finditer(text) for offset in range(len(match[0]))]
    flat = "".join(text[place] for place in places).lower()
    if len(flat) != len(places):  # a letter whose lower case is longer: nothing can be placed, so nothing is shown
        return "..."
    starts = [n for n in range(len(flat) - _ECHO + 1) if flat[n : n + _ECHO] in sent]
    hidden = [(places[n], places[n + _ECHO - 1] + 1) for n in starts]
    for match in _QUOTED.finditer(text):
        quoted = _squashed(match[match.lastindex or 0])
        if quoted and quoted in sent:
            hidden.append((match.start() + 1, match.end() - 1))
    shown = list(text)
    for start, end in hidden:
        shown[start:end] = "\0" * (end - start)
    return re.sub("\0+", "...", "".join(shown))


def _squashed(text: str) -> str:
    """Words only, so that quoting, escaping and line breaks do not hide an echo."""
    return "".join(_WORDS.findall(text)).lower()
