"""The journal's share of a bundle: one line per entry, each behind a checksum of its own.

A line is key and checksum in hexadecimal digits, then the payload, which is JSON without line breaks.
"""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from components.core.errors import ConfigError
from runner.storage.journal import Journal

FILE = "journal.jsonl"
_MOST = 1 << 28  # bytes of a line


def written(share: Mapping[bytes, bytes]) -> bytes:
    """The file, calls in the order of their places. Raises ConfigError."""
    if odd := next((key for key, payload in share.items() if b"\n" in payload), None):
        raise ConfigError(f"the journal's entry {odd.hex()} is no line of JSON")
    ordered = sorted(share.items(), key=lambda item: (_place(item[1]), item[0]))
    return b"".join(b"%s %s %s\n" % (key.hex().encode(), _sum(key, payload), payload) for key, payload in ordered)


def restore(file: Path, folder: Path) -> int:
    """Write the entries that are whole into a journal. Returns how many there are."""
    found = 0
    with Journal(folder) as journal:
        for key, payload in _whole(file):
            journal.put(key, payload)
            found += 1
    return found


def _whole(file: Path) -> Iterator[tuple[bytes, bytes]]:
    with file.open("rb") as lines:
        while line := lines.readline(_MOST):
            name, _, rest = line.rstrip(b"\n").partition(b" ")
            checksum, _, payload = rest.partition(b" ")
            try:
                key = bytes.fromhex(name.decode("ascii"))
                orjson.loads(payload)
            except ValueError:
                continue
            if len(key) == 32 and checksum == _sum(key, payload):
                yield key, payload


def _sum(key: bytes, payload: bytes) -> bytes:
    return sha256(key + payload).hexdigest()[:16].encode()


def _place(payload: bytes) -> tuple[Any, ...]:
    """Sample, epoch, branch and number of a call; what tools returned comes last."""
    told = orjson.loads(payload)
    return (0, *told["at"]) if "at" in told else (1,)
