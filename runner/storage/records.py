"""A run folder's records: one whole line per finished (sample, epoch), written with one write."""

import os
import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import repeat
from pathlib import Path
from typing import Any, cast, get_args

import orjson

from components.core.errors import ConfigError
from components.core.redaction import unmistakable_secrets, without
from components.core.types import Sample, Score, Trajectory
from components.core.usage import CallUsage, EpisodeUsage, usage_of
from runner.storage import disk
from runner.storage.forms import fields_of, kinds_of, misfit
from runner.storage.schema import Record
from runner.storage.stored import Packer
from runner.storage.texts import TextWriter, discard_known, without_surrogates

FILE = "records.jsonl"
SCHEMA = 1
_LONG = frozenset({"steps", "offered", "facts", "explanations"})
_LOCK_SECONDS = 2.0  # a tracker locks a folder for a moment, longer on a busy machine
_BUFFER = 1 << 20  # bytes that are read at once
_REFERENCE = re.compile(rb'"(?:ref|offered)":"([0-9a-f]{16})"')  # to a text
_STEPS_LAST = (b"}]}\n", b',"steps":[]}\n')  # no other list of a record is of objects
_VALUES = tuple((name, kinds_of(get_args(fields_of(Record)[name])[1])) for name in ("scores", "ceilings", "strata"))
REPAIR = f"restore {FILE}, or delete it and resume: the journal answers its calls"


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


def key_variables_of(cfg: Mapping[str, Any]) -> list[str]:
    """The environment's variables that a config names for the keys of its models."""
    models = (cfg["model"], *(cfg.get("models") or {}).values())
    return [model["api_key_env"] for model in models if model.get("api_key_env")]


def secrets_in_json(key_variables: Collection[str] = ()) -> tuple[str, ...]:
    """The values of secret variables, and of those in ``key_variables``, as JSON holds them."""
    found = map(without_surrogates, unmistakable_secrets(key_variables))
    return tuple(orjson.dumps(secret).decode()[1:-1] for secret in found)


def lock_run(folder: Path) -> int:
    """An open file that holds the lock of a run folder, which is made. Raises ConfigError when another process has it,
    and Unwritable."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        end = time.monotonic() + _LOCK_SECONDS
        while (lock := disk.lock_folder(folder)) is None and time.monotonic() < end:
            time.sleep(0.05)
    except OSError as error:
        raise disk.Unwritable(folder, error) from None
    if lock is None:
        raise ConfigError(f"run folder {folder} is in use by another process; wait for it or name another")
    return lock


class RecordWriter:
    """Appends records under a lock on the folder: its own (see ``lock_run``), unless the caller has the ``lock``. The
    values of secret variables, and of those in ``key_variables``, are hidden: a server may return them in a reply."""

    def __init__(self, folder: Path, key_variables: Collection[str] = (), lock: int | None = None) -> None:
        self.folder = folder
        self._lock = lock_run(folder) if lock is None else None
        self.finished = _repair(folder)
        self._path = folder / FILE
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._secrets = secrets_in_json(key_variables)
        self._texts = TextWriter(folder, unmistakable_secrets(key_variables))
        self.packer = Packer(self._texts)

    def append(self, record: Record) -> None:
        """Write one record; its texts are on disk before it. Raises Unwritable."""
        self._texts.flush()
        line = orjson.dumps(record, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE)
        disk.append(self._file, without(line.decode(), self._secrets).encode(), self._path)

    def finish_texts(self) -> None:
        """Finish the file of texts; what is added later begins another."""
        self._texts.close()

    def close(self) -> None:
        """Finish the files and release the writer's own lock."""
        try:
            self._texts.close()
        finally:
            os.close(self._file)
            if self._lock is not None:
                os.close(self._lock)


def lost_texts(folder: Path) -> set[bytes]:
    """The names of texts that the records refer to and that no file has. Raises ConfigError for damaged ones."""
    with (folder / FILE).open("rb") as file:
        names = {name for line in file for name in _REFERENCE.findall(line)}
    discard_known(names, folder)
    return names


def slim(record: Record) -> Record:
    """A record without its steps, for metrics."""
    return cast(Record, {name: value for name, value in record.items() if name not in _LONG})


def read(
    folder: Path, wanted: Iterable[bool] = repeat(True), *, steps: bool = True, begin: int = 0
) -> Iterator[Record]:
    """The whole records of a folder, in the order they were finished, or only the ``wanted`` ones; a torn last line is
    left out. Without ``steps`` these may be missing: they are not looked at. ``begin``: bytes of lines that are
    skipped. Raises ConfigError for a line that no run wrote, and for a duplicated sample and epoch."""
    path = folder / FILE
    if not path.exists():
        return
    lines = dict[tuple[str, int], int]()
    with path.open("rb", buffering=_BUFFER) as file:
        file.seek(begin)
        for (number, line), is_wanted in zip(enumerate(file, 1), wanted, strict=False):
            if not line.endswith(b"\n"):
                return
            if is_wanted:
                record = _record(path, number, line, steps)
                if (first := lines.setdefault((record["sample_id"], record["epoch"]), number)) != number:
                    name = f"sample {record['sample_id']!r}, epoch {record['epoch']}"
                    raise ConfigError(f"{path}:{number}: {name} is in line {first} already; {REPAIR}")
                yield record


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
        problem = "" if _fits(record) else misfit({**record, "steps": []}, Record) or "its usage is not of numbers"
    else:
        problem = problem or "it has no sample_id, epoch and stop"
    if problem:
        raise ConfigError(f"{path}:{number}: damaged record ({problem}); {REPAIR}")
    return cast(Record, record)


def _fits(record: Mapping[str, Any]) -> bool:
    """Whether its fields are of the types that ``misfit`` requires; much faster, for there are many records."""
    if not _are_right(Record, tuple(record), *map(type, record.values())):
        return False
    for name, kinds in _VALUES:
        if name in record and not kinds.issuperset(map(type, record[name].values())):
            return False
    usage = record.get("usage", {})
    parts = usage.get("purposes")
    if not _are_right(EpisodeUsage, tuple(usage), *map(type, usage.values())):
        return False
    for part in parts.values() if parts else ():
        if type(part) is not dict or not _are_right(CallUsage, tuple(part), *map(type, part.values())):
            return False
    return True


@lru_cache(maxsize=1_024)  # most records have their fields in common
def _are_right(form: type, names: tuple[str, ...], *kinds: type) -> bool:
    known, other = fields_of(form), kinds_of(Any if form is Record else float | None)
    fitting = (kinds_of(known[name]) if name in known else other for name in names)
    return all(kind in fit for kind, fit in zip(kinds, fitting, strict=True))


def _repair(folder: Path) -> set[tuple[str, int]]:
    """Cut a torn last line and drop errored records, which are run again. Returns the samples and epochs of the others.
    Raises ConfigError where texts that they refer to are lost."""
    if not (path := folder / FILE).exists():
        return set()
    finished, complete, texts = set[tuple[str, int]](), True, set[bytes]()
    fresh = path.with_suffix(".tmp")
    with path.open("rb") as file, fresh.open("wb") as out:
        for number, line in enumerate(file, 1):
            record = _record(path, number, line) if line.endswith(b"\n") else None
            key = (record["sample_id"], record["epoch"]) if record else None
            if record is None or key is None or record["stop"] == "error" or key in finished:
                complete = False
            else:
                finished.add(key)
                texts.update(_REFERENCE.findall(line))
                out.write(line)
    if texts:
        discard_known(texts, folder)
    if lost := len(texts):
        fresh.unlink()
        raise ConfigError(
            f"{folder}: {lost} texts of its records are lost with a texts-*.jsonl.gz: restore it, or delete"
            f" {FILE} and resume: the journal answers its calls"
        )
    if complete:
        fresh.unlink()
    else:
        fresh.replace(path)
    return finished
