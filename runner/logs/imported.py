"""A log of another tool as a run folder: its samples become records, by the code that writes those of a run."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError
from components.core.messages import Message, ToolCall, Usage
from components.core.types import Action, Observation, Observed, Problem, Sample, Score, Step, Trajectory
from components.core.usage import CallUsage, sum_usages
from components.text.words import written_out
from runner.results.kinds import UNITS, kinds_of
from runner.results.table import Table
from runner.storage import disk, manifest
from runner.storage.integrity import digests_of
from runner.storage.records import RecordWriter, read, record_of
from runner.storage.resume import CONFIG, config_text
from runner.storage.schema import Manifest, Record
from runner.storage.stored import Packer

_WORDS = {"c": 1.0, "i": 0.0, "p": 0.5, "n": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}  # as inspect_ai
_DAMAGED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
_MAX_NAME, _MAX_ID, _MAX_TOKENS, _MAX_EPOCHS = 120, 1_000, 1 << 53, 100_000


@dataclass(frozen=True)
class Entry:
    """A sample in one epoch (from 0) as a log has it. ``scores``: name -> a number, a text that inspect_ai takes for
    one, or what is unscored. ``started`` in seconds since the epoch, ``limit``: it was ended by one."""

    sample_id: str
    epoch: int
    messages: Sequence[Message]
    scores: Mapping[str, Any]
    usage: CallUsage
    answer: str | None = None
    error: str | None = None
    limit: bool = False
    explanations: Mapping[str, str] = field(default_factory=dict)
    cluster: str | None = None
    strata: Mapping[str, str] = field(default_factory=dict)
    started: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True)
class Log:
    """What a log says of its run. ``versions``: of the tool, ``settings`` of the model, ``lower``: the scores that are
    better low, ``decides``: the one that comes first, ``n_expected``: how many entries there should be."""

    path: Path
    tool: str
    task: str
    model: str
    entries: Iterable[Entry]
    agent: str = "generate"
    versions: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    complete: bool = True
    n_expected: int | None = None
    lower: Sequence[str] = ()
    decides: str | None = None
    start: str | None = None
    end: str | None = None


def score_name(name: object) -> str:
    """The name of a score here: in its own group or in ``score``, without what names of metrics cannot have."""
    group, _, own = str(name)[:_MAX_NAME].partition("/")
    words = (group, own) if group and own and group not in UNITS else ("score", str(name)[:_MAX_NAME])
    return "/".join(re.sub(r"[^ -.0-;=?-~]", "_", word) for word in words)


def plain(name: str) -> str:
    """A name of a log without what acts in a terminal or a page."""
    return re.sub("[<>]", "_", written_out(name[:200]).replace("\n", " "))


def number(value: Any) -> float | None:
    """The number that a value is or represents; None for an unscored value or a value that is not a number."""
    if isinstance(value, str):
        value = _WORDS.get(value.lower(), value)
    try:
        found = float(value) if isinstance(value, str | int | float) else math.nan
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def calls_of(n: int, sent: Any = None, received: Any = None, usd: Any = None) -> CallUsage:
    """Calls with the tokens and US dollars that a log has; None for unknown ones."""
    tokens = [
        int(one) if (one := number(of)) is not None and 0 <= one < _MAX_TOKENS else None for of in (sent, received)
    ]
    return {"calls": n, "input_tokens": tokens[0], "output_tokens": tokens[1], "cost_usd": number(usd)}


def cluster_in(fields: Any, name: str | None, sample_id: object) -> str | None:
    """The cluster of a sample: the value of one of its fields. Raises ConfigError where it has no such field."""
    if name is None:
        return None
    if not isinstance(fields, Mapping) or fields.get(name) is None:
        there = ", ".join(map(str, fields))[:200] if isinstance(fields, Mapping) else ""
        raise ConfigError(f"--cluster {name}: sample {sample_id!r:.100} has no such field; it has {there or 'none'}")
    return str(fields[name])[:_MAX_ID]


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raises ConfigError for a log that its tool does not write so, by the error of reading it."""
    try:
        yield
    except _DAMAGED as error:
        why = (
            f"there is no {error!s:.200}" if isinstance(error, KeyError) else f"{type(error).__name__}: {error!s:.200}"
        )
        raise ConfigError(f"{path} is not in the format of its tool: {why}") from None


def _records(log: Log, packer: Packer) -> Iterator[Record]:
    """The records of a log. Raises ConfigError for an entry that cannot be, or is duplicated."""
    seen = set[tuple[str, int]]()
    with reading(path := log.path):
        for entry in log.entries:
            if (key := (entry.sample_id, entry.epoch)) in seen or len(entry.sample_id) > _MAX_ID:
                wrong = "is duplicated" if key in seen else "has too long an id"
                raise ConfigError(f"{path}: sample {key[0]!r:.100}, epoch {key[1] + 1}, {wrong}")
            if not (0 <= entry.epoch < _MAX_EPOCHS and math.isfinite(entry.seconds) and math.isfinite(entry.started)):
                raise ConfigError(f"{path}: sample {key[0]!r:.100} has an invalid epoch or time")
            seen.add(key)
            yield _record(entry, packer)


def steps_of(messages: Sequence[Message], started: float) -> list[Step]:
    """A step per reply, with the messages since the previous one and the results of its tools."""
    steps, kept = list[Step](), 0
    for n, reply in enumerate(messages):
        if reply.role != "assistant":
            continue
        calls = {call.id: call for call in reply.tool_calls}
        results = takewhile(lambda one: one.role == "tool", (messages[k] for k in range(n + 1, len(messages))))
        observed = [
            Observed(calls.get(name := one.tool_call_id or "", ToolCall(name, "", "")), Observation(one.text))
            for one in results
        ]
        action = Action(reply, reply.tool_calls, None if calls else reply.text)
        asked = messages[kept:n]
        steps.append(
            Step("act", "main", "main", len(steps), kept, asked, reply, Usage(), started=started, action=action,
                 observed=observed)
        )  # fmt: skip
        kept = n
    return steps


def _record(entry: Entry, packer: Packer) -> Record:
    scores = [
        Score(score_name(name), number(value), entry.explanations.get(name, "")) for name, value in entry.scores.items()
    ]
    trajectory = Trajectory(
        steps_of(entry.messages, entry.started),
        stop="error" if entry.error is not None else "limit" if entry.limit else "answered",
        answer=entry.answer,
        error=entry.error,
    )
    sample = Sample(Problem(entry.sample_id, ""), None, cluster=entry.cluster, strata=entry.strata)
    record = record_of(sample, entry.epoch, trajectory, scores, entry.seconds, packer)
    return {**record, "usage": {**entry.usage, "purposes": {"act": entry.usage}}}


def write(log: Log, folder: Path, n: int, dataset: str, privacy: str) -> None:
    """Write the run folder of a log, the ``n``-th of those that are imported together. ``dataset``: its name here,
    ``privacy``: the class of its data. Raises ConfigError."""
    writer, errors, used = RecordWriter(folder), Counter[str](), list[CallUsage]()
    try:
        for record in _records(log, writer.packer):
            writer.append(record)
            errors.update([] if record["error"] is None else [record["error"][:200]])
            used.append(record["usage"]["purposes"]["act"])
    finally:
        writer.close()
    if not (table := Table.of(read(folder, steps=False))):
        raise ConfigError(f"{log.path} has no samples")
    name, epochs = folder.parent.name, int(max(table["epoch"])) + 1
    whole = sum_usages({"act": one} for one in used)["act"]
    choices = {"agent": plain(log.agent), "model": plain(log.model), "dataset": plain(dataset)}
    config = config_text({
        "name": name, "imported": log.tool, "epochs": epochs, "agent": {"name": choices["agent"]},
        "model": {**log.settings, "name": choices["model"]}, "dataset": {"name": choices["dataset"]}, "run": {},
    })  # fmt: skip
    facts: Manifest = {
        "name": name, "imported": {"tool": log.tool, "file": log.path.name}, "sweep": name, "number": n,
        "choices": choices, "varied": {}, "models": {"main": choices["model"]},
        "model_kind": "simulated" if log.model.startswith("mockllm/") else "imported",
        "dataset": {"name": choices["dataset"], "split": "imported", "fingerprint": "unknown", "privacy": privacy,
                    "samples": len(set(table["sample_id"].tolist()))},
        "lower": [*map(score_name, log.lower)], "kinds": dict(kinds_of({}, table)),
        "decides": log.decides and score_name(log.decides), "seed": None, "epochs": epochs, "shard": None, "notes": [],
    }  # fmt: skip
    ending: Manifest = {
        "git": {"commit": None, "dirty": None}, "versions": dict(log.versions), "start": log.start or manifest.now(),
        "end": log.end, "status": "complete" if log.complete else "partial",
        "counts": {"finished": len(used), "wanted": max(len(used), log.n_expected or 0), "errored": errors.total()},
        "errors": dict(errors.most_common(5)),
        "calls": {"sent": whole["calls"], "from_journal": 0, "separate": 0, "models": {}},
        "spent": {"usd": whole["cost_usd"], "input_tokens": whole["input_tokens"],
                  "output_tokens": whole["output_tokens"]},
    }  # fmt: skip
    notes = manifest.begin(folder, facts, config) | ending
    notes["files"] = digests_of(folder)
    disk.replace(folder / CONFIG, config)
    manifest.write(folder, notes)
