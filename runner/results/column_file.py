"""The columns of a run's records, and what is needed of their steps, in a file of its folder that saves reading them
again. It is never the truth: it holds for the very files that were read, by their inodes and the times of their last
change, which no copy has, and for the code that read them; else it is made again."""

import inspect
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, reduce
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
from zlib_ng.zlib_ng import crc32

from components.core import task_text, tools
from components.core.compact import compact_json
from runner.results import steps as steps_module
from runner.results import table as table_module
from runner.results.arrays import Array, np
from runner.results.steps import Episode, Steps, Words
from runner.results.table import FORMS, Table
from runner.storage import records, stored, texts
from runner.storage.schema import Record
from runner.storage.stored import Unpacker
from runner.storage.texts import TextReader

FILE = "columns.cache"
LEAST = 1 << 22  # bytes of records that are worth it
_KINDS: Mapping[str, str] = {"O": "<i4", "i": "<i8", "f": "<f8"}  # kind of a column -> its numbers in the file


def load(folder: Path, lines: Iterator[Record], *, steps: bool = False) -> tuple[Table, Steps]:
    """The columns of a folder and, with ``steps``, what is needed of these: from the file, else of its records, which
    are read only then; the file has them afterwards."""
    state, found = state_of(folder), Steps()
    table, known = read(folder, state, with_steps=steps)
    if table is not None and (known or not steps):
        return table, known or found
    if steps:
        lines = found.add(lines, Unpacker(TextReader(folder)))
    if table is None:
        table = Table.of(lines)
    deque(lines, maxlen=0)  # what the steps are added from
    write(folder, state, table, found if steps else None)
    return table, found


def is_large(folder: Path) -> bool:
    """Whether the records of a folder are worth a file."""
    return (path := folder / records.FILE).exists() and path.stat().st_size >= LEAST


def state_of(folder: Path) -> list[object]:
    """What a file of columns must be of, to be looked at before the records are read."""
    found = [(path.name, path.stat()) for name in (records.FILE, texts.PATTERN) for path in sorted(folder.glob(name))]
    return [_code(), *([name, of.st_size, of.st_ino, of.st_mtime_ns, of.st_ctime_ns] for name, of in found)]


@cache
def _code() -> str:
    """The digest of the code that makes columns."""
    modules = (inspect.getmodule(state_of), steps_module, table_module, records, stored, texts, task_text, tools)
    return sha256("".join(map(inspect.getsource, filter(None, modules))).encode()).hexdigest()


def write(folder: Path, state: list[object], of: Table, found: Steps | None = None) -> None:
    """Write the file of large records, where the folder can be written to."""
    if not is_large(folder):
        return
    alike, numbers = dict[str, list[Any]](), list[bytes]()
    for name, column in of.columns.items():
        kind = column.dtype.kind
        if kind == "O":
            alike[name], codes = _alike(column.tolist())
            column = np.array(codes)
        numbers.append(column.astype(_KINDS[kind]).tobytes())
    kinds = {name: column.dtype.kind for name, column in of.columns.items()}
    episodes = found and [
        _alike(values) for values in zip(*(vars(one).values() for one in found.episodes), strict=True)
    ]
    heads = ([len(of), kinds, of.kinds, alike], found and vars(found) | {"episodes": episodes})
    option = orjson.OPT_NON_STR_KEYS | orjson.OPT_APPEND_NEWLINE
    body = [*(orjson.dumps(one, option=option) for one in heads), *numbers]
    fresh = folder / f"{FILE}.{os.getpid()}.tmp"
    with suppress(OSError):
        try:
            with fresh.open("wb") as file:  # one by one: together they take as much memory again
                file.writelines([_head(state, found is not None, body), *body])
            fresh.replace(folder / FILE)
        finally:
            fresh.unlink(missing_ok=True)


def _alike(values: Sequence[object]) -> tuple[list[orjson.Fragment], list[int]]:
    """Distinct values as JSON, and the number of each value."""
    known = dict[bytes, int]()
    numbers = [known.setdefault(compact_json(value), len(known)) for value in values]
    return list(map(orjson.Fragment, known)), numbers


def _head(state: list[object], steps: bool, body: Iterable[bytes | memoryview]) -> bytes:
    checksum = reduce(lambda crc, part: crc32(part, crc), body, 0)
    return orjson.dumps([*state, steps, checksum], option=orjson.OPT_APPEND_NEWLINE)


def is_current(folder: Path, *, steps: bool) -> bool:
    """Whether the file is of the records as they are, with ``steps`` of these too; the rest of it is not looked at."""
    heads = [orjson.dumps([*state_of(folder), has_steps])[:-1] + b"," for has_steps in {True, steps}]
    path = folder / FILE
    with suppress(OSError):
        if path.is_file():  # a pipe would be waited for
            with path.open("rb") as file:
                return file.readline().startswith(tuple(heads))
    return False


def read(folder: Path, state: list[object], *, with_steps: bool) -> tuple[Table | None, Steps | None]:
    """The columns, and where requested what is needed of the steps; None for what is in no file of this state."""
    path = folder / FILE
    try:
        data = path.read_bytes() if path.is_file() else b""
    except OSError:
        return None, None
    begin = data.find(b"\n") + 1
    end = data.find(b"\n", begin)
    has_steps = data[end + 1 : end + 6] != b"null\n"
    if data[:begin] != _head(state, has_steps, [memoryview(data)[begin:]]):
        return None, None
    try:
        return _parsed(data, begin, end, with_steps and has_steps)
    except (AttributeError, LookupError, TypeError, ValueError):  # with a checksum, but not written here
        return None, None


def _parsed(data: bytes, begin: int, end: int, with_steps: bool) -> tuple[Table, Steps | None]:
    """What a file holds, whose first head is from ``begin`` to ``end``."""
    after = data.index(b"\n", end + 1)
    n, kinds, strata, alike = orjson.loads(data[begin:end])
    columns, place = dict[str, Array](), after + 1
    for name, kind in kinds.items():
        of = np.dtype(_KINDS[kind])
        columns[name] = np.frombuffer(data, of, n, place).copy()  # without it all of the file stays in memory
        place += n * of.itemsize
        if kind == "O":
            values = [tuple(one) for one in alike[name]] if name in FORMS else alike[name]
            columns[name] = np.fromiter(values, object, len(values))[columns[name]]
    if not with_steps:
        return Table(columns, strata), None
    parts = orjson.loads(data[end + 1 : after])
    verdicts = [(n, one if isinstance(one, str) else Unpacker.choice(one)) for n, one in parts["verdicts"]]
    fields = [map(distinct.__getitem__, numbers) for distinct, numbers in parts["episodes"]]
    episodes = list(map(Episode, *fields)) if fields else []
    return Table(columns, strata), Steps(episodes, verdicts, parts["worded"], [Words(**one) for one in parts["words"]])
