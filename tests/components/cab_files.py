"""Small files of the forms that the loaders of clinical data read, made on the spot; and where the real ones are."""

import os
import sqlite3
import struct
import zlib
from pathlib import Path

import orjson
import pytest

from components.core.errors import ConfigError

DATA = Path(os.environ.get("CLINICAL_DATA_DIR", "no-data"))


def needs(folder):
    return pytest.mark.skipif(not (DATA / folder).is_dir(), reason=f"needs the data: CLINICAL_DATA_DIR with {folder}")


def write(path, value):
    """A text as it is, anything else as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(value.encode() if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_INDENT_2))
    return path


def png(path, shade=0):
    """A picture of one grey pixel."""
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)), (b"IDAT", zlib.compress(bytes([0, shade]))), (b"IEND", b""))  # fmt: skip
    body = b"".join(struct.pack(">I", len(d)) + n + d + struct.pack(">I", zlib.crc32(n + d)) for n, d in chunks)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)
    return path


def database(path, rows=(("aspirin", "po"), ("aspirin", "iv"))):
    """A table of prescriptions, in place of what was there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE prescriptions (drug TEXT, route TEXT)")
        connection.executemany("INSERT INTO prescriptions VALUES (?, ?)", rows)
    connection.close()
    return path


def refused(dataset, split="test"):
    """What the loader complains about."""
    with pytest.raises(ConfigError) as caught:
        list(dataset.load(split))
    return str(caught.value)


def without(row, *keys):
    return {key: value for key, value in row.items() if key not in keys}
