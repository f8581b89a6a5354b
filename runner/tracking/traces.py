"""Trajectories as MLflow traces, in batches from the records.

``TracingClient.start_trace`` and ``log_spans`` are semi-private and pinned with MLflow: the public calls take ten times
as long, the asynchronous default loses two thirds.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

import orjson

from runner.storage.records import read
from runner.storage.schema import Record
from runner.storage.stored import Unpacker
from runner.storage.texts import TextReader
from runner.tracking.describe import Job, safe
from runner.tracking.spans import Spans
from runner.tracking.store import Tracker

if TYPE_CHECKING:
    from mlflow.entities import TraceInfo

_FAILED = ("error", "failed", "limit")
_BATCH = 50
_MAX_SECONDS = 90.0  # for one batch; a slower tracker is given up
_PREVIEW = 1_000

Key = tuple[str, int]


@dataclass(frozen=True)
class Plan:
    """Which records become traces. ``digests`` are of all records, ``binary`` the scores that are 0 or 1."""

    chosen: frozenset[Key]
    digests: Mapping[Key, str]
    binary: frozenset[str]


def plan(folder: Path, mode: str, seed: Any) -> Plan:
    """Choose by ``tracking.traces``: failures first, then a seeded sample that does not depend on order."""
    ranks, digests = dict[Key, tuple[bool, bytes]](), dict[Key, str]()
    graded, names = set[str](), set[str]()
    for record in read(folder):
        key = record["sample_id"], record["epoch"]
        ranks[key] = record["stop"] not in _FAILED, sha256(f"{seed}/{key[0]}/{key[1]}/traces".encode()).digest()
        digests[key] = sha256(orjson.dumps(record["steps"])).hexdigest()[:16]
        names |= set(record["scores"])
        graded |= {name for name, value in record["scores"].items() if value not in (None, 0, 1)}
    kind, _, n = mode.partition(":")
    n_failed = sum(not fine for fine, _ in ranks.values())
    wanted = {"all": len(ranks), "errors": n_failed, "sample": int(n or 0)}.get(kind, 0)
    return Plan(frozenset(sorted(ranks, key=ranks.__getitem__)[:wanted]), digests, frozenset(names - graded))


def send(tracker: Tracker, run_id: str, job: Job, config: Mapping[str, Any]) -> int:
    """Write the chosen trajectories. Returns how many. Raises TimeoutError when the tracker is too slow."""
    from mlflow.entities import Span
    from mlflow.tracing.client import TracingClient

    client, experiment = TracingClient(tracker.uri), tracker.experiment_id
    selected = plan(job.folder, str(config["tracking"].get("traces", "none")), config.get("seed"))
    ids = {_trace_id(job.id, *key): digest for key, digest in selected.digests.items()}
    _delete_stale(client, experiment, run_id, ids)
    done, traces = 0, _traces(job, config, selected.chosen)
    while batch := list(islice(traces, _BATCH)):
        started = time.monotonic()
        for spans, record in batch:
            info = _info(experiment, run_id, spans, record, ids[spans.trace_id], selected.binary)
            client.start_trace(info)
        client.log_spans(experiment, [Span.from_dict(span) for spans, _ in batch for span in spans.spans])
        done += len(batch)
        if time.monotonic() - started > _MAX_SECONDS:
            raise TimeoutError(f"{done} of {len(selected.chosen)} traces sent, too slowly to continue")
    return done


def _traces(job: Job, config: Mapping[str, Any], chosen: Collection[Key]) -> Iterator[tuple[Spans, Record]]:
    """Spans and records of the chosen trajectories."""
    if not chosen:
        return
    unpacker, choice = Unpacker(TextReader(job.folder)), (job.manifest.get("choices") or {}).get("model", "model")
    models = {"main": str((config.get("model") or {}).get("name") or choice)}  # role -> name
    models |= {role: str(model.get("name") or role) for role, model in (config.get("models") or {}).items()}
    start = (job.start or time.time() * 1000) / 1000
    for record in read(job.folder):
        if (key := (record["sample_id"], record["epoch"])) in chosen:
            yield Spans(_trace_id(job.id, *key), record, unpacker.trajectory(record), models, start), record


def _delete_stale(client: Any, experiment_id: str, run_id: str, ids: Mapping[str, str]) -> None:
    """Delete traces that were sent before, of trajectories that were run again since or are gone."""
    where = f"attribute.run_id = '{run_id}'"
    token: str | None = None
    stale: list[str] = []
    while token != "":
        found, token = client.store.search_traces(
            locations=[experiment_id], filter_string=where, max_results=500, page_token=token
        )
        stale += [info.trace_id for info in found if ids.get(info.trace_id) != info.tags.get("record")]
        token = token or ""
    for n in range(0, len(stale), 100):
        client.delete_traces(experiment_id, trace_ids=stale[n : n + 100])


def _info(
    experiment_id: str, run_id: str, spans: Spans, record: Record, digest: str, binary: frozenset[str]
) -> TraceInfo:
    """The entry in the list of traces, with the scores as feedback."""
    from mlflow.entities import Assessment, AssessmentSource, Feedback, TraceInfo, TraceLocation, TraceState

    sample, epoch = str(record["sample_id"]), record["epoch"]
    tags = {"mlflow.traceName": sample if epoch == 0 else f"{sample} ({epoch})", "sample": sample[:250],
            "epoch": str(epoch), "stop": record["stop"], "record": digest}  # fmt: skip
    tags |= {safe(f"strata.{name}"): str(value)[:250] for name, value in record["strata"].items()}
    assessments, space, end = list[Assessment](), UUID(spans.trace_id.removeprefix("tr-")), int(spans.end * 1000)
    for name, score in record["scores"].items():  # pass or fail where a score is only 0 or 1; without unscored ones
        if score is not None:
            feedback = Feedback(
                name=name.replace("/", " "),
                value=bool(score) if name in binary else float(score),
                source=AssessmentSource("CODE", "scorer"),
                rationale=(record.get("explanations") or {}).get(name, "")[:_PREVIEW] or None,
                metadata={"mlflow.assessment.sourceRunId": run_id},
                create_time_ms=end,
                last_update_time_ms=end,
            )
            feedback.assessment_id = f"a-{uuid5(space, name).hex}"
            assessments.append(feedback)
    return TraceInfo(
        trace_id=spans.trace_id,
        trace_location=TraceLocation.from_experiment_id(experiment_id),
        request_time=int(spans.start * 1000),
        execution_duration=int((spans.end - spans.start) * 1000),
        state=TraceState.ERROR if record["stop"] == "error" else TraceState.OK,
        request_preview=spans.question[:_PREVIEW],
        response_preview=spans.answer[:_PREVIEW],
        assessments=assessments,
        tags=tags,
        trace_metadata={"mlflow.sourceRun": run_id},
    )


def _trace_id(folder_id: str, sample_id: str, epoch: int) -> str:
    return f"tr-{uuid5(UUID(folder_id), f'{sample_id}/{epoch}').hex}"
