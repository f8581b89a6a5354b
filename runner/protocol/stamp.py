"""Time stamps of RFC 3161: an authority signs a digest with the time at which it saw it.

The request is a few bytes of DER, written here; the reply is kept as it came. Whether it is about our digest and nonce
is checked here, its signature by ``openssl ts -verify`` with the authority's certificate, which needs no trust in this
program: a library for it (rfc3161ng, asn1crypto) would be one more dependency for what openssl has everywhere.
"""

import asyncio
import re
import secrets
from pathlib import Path

from yarl import URL

from components.core.errors import ConfigError

_QUERY = bytes.fromhex("3044020101")  # TimeStampReq, version 1; then what is stamped, a nonce, and:
_WITH_CERTIFICATE = b"\x01\x01\xff"
_SHA256 = bytes.fromhex("3031300d060960864801650304020105000420")  # MessageImprint, the digest follows
_TIMEOUT, _LARGEST = 30, 1 << 20  # seconds; bytes of a reply
_GRANTED = (0, 1)  # PKIStatus: granted, granted with modifications
_TIME = re.compile(rb"\x18[\x0f-\x1b](\d{14}(?:\.\d+)?Z)")  # GeneralizedTime


def place_of(study: Path) -> Path:
    """The file of a study's time stamp."""
    return study.with_suffix(".tsr")


def request(url: str, digest: str) -> tuple[str, bytes]:
    """The time at which an authority stamps a digest (SHA-256, hexadecimal), and its reply. Raises ConfigError."""
    from components.web import Unavailable, Web  # aiohttp is slow to import

    nonce = b"\x02\x09\x40" + secrets.token_bytes(8)  # an integer of nine bytes
    query = _QUERY + _SHA256 + bytes.fromhex(digest) + nonce + _WITH_CERTIFICATE
    headers = {"Content-Type": "application/timestamp-query"}
    try:
        der = asyncio.run(
            Web(_TIMEOUT, longest_reply_bytes=_LARGEST).post_once(URL(url), query, headers, accept=())
        ).body
        time = read(der, digest)
    except (Unavailable, ValueError) as error:
        reason = error.why if isinstance(error, Unavailable) else error
        raise ConfigError(f"timestamp: {url}: {reason}; nothing was frozen") from None
    if nonce not in der:
        raise ConfigError(f"timestamp: {url}: the reply is to another request; nothing was frozen")
    return time, der


def read(der: bytes, digest: str) -> str:
    """The time in a reply about this digest. Raises ValueError for any other."""
    status = re.match(rb"\x30(?:[\0-\x7f]|\x81.|\x82..|\x83...)\x30.\x02\x01(.)", der, re.DOTALL)
    if status is None or status[1][0] not in _GRANTED:
        raise ValueError("the authority gave no time stamp" if status else "the reply is not a time stamp")
    imprint = _SHA256 + bytes.fromhex(digest)
    if (place := der.find(imprint)) < 0 or (time := _TIME.search(der, place + len(imprint))) is None:
        raise ValueError("the time stamp does not belong to the frozen study")
    text = time[1].decode()
    return f"{text[:4]}-{text[4:6]}-{text[6:8]}T{text[8:10]}:{text[10:12]}:{text[12:14]}+00:00"
