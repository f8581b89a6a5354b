"""A run folder's records: one whole line per finished (sample, epoch), written with one write."""

import fcntl
import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import repeat
from pathlib import Path
from typing import cast

import orjson

from components.core.errors import ConfigError
from components.core.redaction import HIDDEN, unmistakable_secrets
from components.core.types import Sample, Score, Trajectory
from components.core.usage import usage_of
from runner.storage import disk
from runner.storage.schema import Record
from runner.storage.stored import Packer
from runner.storage.texts import TextReader, TextWriter

FILE = "records.jsonl"
SCHEMA = 1
_LONG = frozenset({"steps", "offered", "facts", "explanations"})
_BUFFER = 1 << 20  # bytes that are read at once
_REFERENCE = re.compile(rb'"(?:ref|offered)":"([0-9a-f]{16})"')  # to a text
_STEPS_LAST = (b"}]}\n", b',"steps":[]}\n')  # no other list of a record is of objects
_NUMBERS = (frozenset({float, int, bool, type(None)}), "a number or null")
_TYPES = (("scores", *_NUMBERS), ("ceilings", *_NUMBERS), ("strata", frozenset({str}), "text"))


def record_of(
    sample: Sample, epoch: int, trajectory: Trajectory, scores: Sequence[Score], seconds: float, packer: Packer
) -> Record:
    """The record of an episode, for metrics, reports and tracking."""
    refusal = trajectory.refusal
    return {
        "sample_id": sample.problem.id,
        "epoch": epoch,
        "cluster": sample.cluster,
        "strata": dict(sample.strata),
        "card": dict(sample.card),
        "inputs": sample.problem.input_kinds,
        "stop": trajectory.stop,
        "answer": trajectory.answer,
        "refusal": None if refusal is None else dict(refusal.grounds),
        "failure": trajectory.failure,
        "error": trajectory.error,
        "scores": {score.name: score.value for score in scores},
        "ceilings": {score.name: score.ceiling for score in scores if score.ceiling is not None},
        "explanations": {score.name: score.explanation for score in scores if score.explanation},
        "usage": usage_of(trajectory),
        "seconds": round(seconds, 4),
        "facts": trajectory.facts,
        "offered": packer.offered(trajectory),
        "steps": [packer.step(step) for step in trajectory.steps],
    }


class RecordWriter:
    """Appends records under a lock on the folder. Raises ConfigError when another process holds it. The values of
    secret variables, and of those in ``key_variables``, are hidden: a server may return them in a reply."""

    def __init__(self, folder: Path, key_variables: Collection[str] = ()) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            if not isinstance(error, BlockingIOError):
                raise disk.Unwritable(folder, error) from None
            raise ConfigError(
                f"run folder {folder} is in use by another process; wait for it or name another"
            ) from None
        self.finished = _repair(folder)
        self._path = folder / FILE
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        secrets = unmistakable_secrets(key_variables)
        self._secrets = [orjson.dumps(secret)[1:-1] for secret in secrets]  # as a line of JSON holds them
        self._texts = TextWriter(folder, secrets)
        self.packer = Packer(self._texts)

    def append(self, record: Record) -> None:
        """Write one record; its texts are on disk before it. Raises Unwritable."""
        self._texts.flush()
        line = orjson.dumps(record, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE)
        for secret in self._secrets:
            line = line.replace(secret, HIDDEN.encode())
        disk.append(self._file, line, self._path)

    def finish_texts(self) -> None:
        """Finish the file of texts; what is added later begins another."""
        self._texts.close()

    def close(self) -> None:
        """Finish the files and release the folder."""
        try:
            self._texts.close()
        finally:
            os.close(self._file)
            os.close(self._lock)


def referred_texts(folder: Path) -> set[str]:
    """The names of the texts that the records refer to."""
    with (folder / FILE).open("rb") as file:
        return {name.decode() for line in file for name in _REFERENCE.findall(line)}


def slim(record: Record) -> Record:
    """A record without its steps, for metrics."""
    return cast(Record, {name: value for name, value in record.items() if name not in _LONG})


def read(folder: Path, wanted: Iterable[bool] = repeat(True), *, steps: bool = True) -> Iterator[Record]:
    """The whole records of a folder, in the order they were finished, or of these the ``wanted`` ones; a torn last line
    is left out. Without ``steps`` these may be missing: they are not looked at."""
    path = folder / FILE
    if not path.exists():
        return
    with path.open("rb", buffering=_BUFFER) as file:
        for (number, line), is_wanted in zip(enumerate(file, 1), wanted, strict=False):
            if not line.endswith(b"\n"):
                return
            if is_wanted:
                yield _record(path, number, line, steps)


def count(folder: Path) -> int:
    """The number of whole lines; their content is not read."""
    if not (folder / FILE).exists():
        return 0
    with (folder / FILE).open("rb") as file:
        return sum(line.endswith(b"\n") for line in file)


def _record(path: Path, number: int, line: bytes, steps: bool = True) -> Record:
    """A record that metrics can be computed of. Raises ConfigError for a line that no run wrote."""
    record, problem = None, ""
    try:
        if not steps and line.endswith(_STEPS_LAST):
            with suppress(orjson.JSONDecodeError):  # there are steps within another field
                record = orjson.loads(line.partition(b',"steps":[')[0] + b"}")
        record = record or orjson.loads(line)
    except orjson.JSONDecodeError as error:
        problem = str(error)
    if isinstance(record, dict) and {"sample_id", "epoch", "stop"} <= record.keys():
        for part, kinds, right in _TYPES:
            found = record.get(part, {})
            if not isinstance(found, dict):
                problem = f"its {part} are {type(found).__name__}, not names and values"
            elif not kinds.issuperset(map(type, found.values())):
                odd = next(pair for pair in found.items() if type(pair[1]) not in kinds)
                problem = f"{part}: {odd[0]!r} is {json.dumps(odd[1])[:40]}, not {right}"
    else:
        problem = problem or "it has no sample_id, epoch and stop"
    if problem:
        raise ConfigError(f"{path}:{number}: damaged record ({problem}); delete the line and resume")
    return cast(Record, record)


def _repair(folder: Path) -> list[Record]:
    """Cut a torn last line and drop errored records, which are run again. Returns the others, slim. Raises ConfigError
    where texts that they refer to are lost."""
    if not (path := folder / FILE).exists():
        return []
    finished, complete, texts = dict[tuple[str, int], Record](), True, set[bytes]()
    fresh = path.with_suffix(".tmp")
    with path.open("rb") as file, fresh.open("wb") as out:
        for number, line in enumerate(file, 1):
            record = _record(path, number, line) if line.endswith(b"\n") else None
            key = (record["sample_id"], record["epoch"]) if record else None
            if record is None or key is None or record["stop"] == "error" or key in finished:
                complete = False
            else:
                finished[key] = slim(record)
                texts.update(_REFERENCE.findall(line))
                out.write(line)
    stored = TextReader(folder) if texts else None
    if stored is not None:
        stored.check()
    if lost := [name for name in texts if stored is None or name.decode() not in stored]:
        fresh.unlink()
        raise ConfigError(
            f"{folder}: {len(lost)} texts of its records are lost with a texts-*.jsonl.gz: put it back, or delete"
            f" {FILE} and resume, and the journal answers again"
        )
    if complete:
        fresh.unlink()
    else:
        fresh.replace(path)
    return list(finished.values())
