"""Trajectories as MLflow traces, in batches from the records.

Route and its cost: ``TracingClient.start_trace`` + ``log_spans`` (semi-private, pinned with MLflow;
the public calls take ten times as long, the asynchronous default loses two thirds).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
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
    from mlflow.entities import Assessment, TraceInfo

FAILURES = ("error", "failed", "limit")
_BATCH = 50
_SLOW_SECONDS = 90.0  # a tracker that takes longer for one batch is not waited for
_PREVIEW = 1_000

Key = tuple[str, int]


@dataclass(frozen=True)
class Plan:
    """Which records become traces. ``digests`` are of all records, ``binary`` the scores that are 0 or 1."""

    chosen: frozenset[Key]
    digests: Mapping[Key, str]
    binary: frozenset[str]


def plan(folder: Path, mode: str, seed: Any) -> Plan:
    """Choose by ``tracking.traces``: failures first, then a seeded draw that does not depend on order."""
    ranks: dict[Key, tuple[bool, bytes]] = {}
    digests: dict[Key, str] = {}
    graded: set[str] = set()
    names: set[str] = set()
    for record in read(folder):
        key = record["sample_id"], record["epoch"]
        draw = sha256(f"{seed}/{key[0]}/{key[1]}/traces".encode()).digest()
        ranks[key] = record["stop"] not in FAILURES, draw
        digests[key] = sha256(orjson.dumps(record["steps"])).hexdigest()[:16]
        names |= set(record["scores"])
        graded |= {name for name, value in record["scores"].items() if value not in (None, 0, 1)}
    return Plan(frozenset(_chosen(ranks, mode)), digests, frozenset(names - graded))


def _chosen(ranks: Mapping[Key, tuple[bool, bytes]], mode: str) -> list[Key]:
    match mode.partition(":"):
        case "all", _, _:
            return list(ranks)
        case "errors", _, _:
            return [key for key, (fine, _) in ranks.items() if not fine]
        case "sample", _, n:
            return sorted(ranks, key=ranks.__getitem__)[: int(n)]
        case _:
            return []


def send(tracker: Tracker, run_id: str, job: Job, config: Mapping[str, Any]) -> int:
    """Write the chosen trajectories. Returns how many. Raises TimeoutError when the tracker is too slow."""
    from mlflow.entities import Span
    from mlflow.tracing.client import TracingClient

    client = TracingClient(tracker.uri)
    wanted = plan(job.folder, str(config["tracking"].get("traces", "none")), config.get("seed"))
    ids = {_trace_id(job.id, *key): digest for key, digest in wanted.digests.items()}
    _forget(client, tracker.experiment_id, run_id, ids)
    done = 0
    for batch in _batches(job, config, wanted):
        started = time.monotonic()
        for spans, record in batch:
            client.start_trace(_info(tracker.experiment_id, run_id, spans, record, ids[spans.trace_id], wanted.binary))
        client.log_spans(tracker.experiment_id, [Span.from_dict(one) for spans, _ in batch for one in spans.found])
        done += len(batch)
        if time.monotonic() - started > _SLOW_SECONDS:
            raise TimeoutError(f"{done} of {len(wanted.chosen)} traces sent, too slowly to go on")
    return done


def _batches(job: Job, config: Mapping[str, Any], wanted: Plan) -> Iterator[list[tuple[Spans, Record]]]:
    """Spans and slim records of the chosen trajectories, a batch at a time."""
    if not wanted.chosen:
        return
    unpacker, models = Unpacker(TextReader(job.folder)), _models(job, config)
    start = (job.start or time.time() * 1000) / 1000
    batch: list[tuple[Spans, Record]] = []
    for record in read(job.folder):
        if (record["sample_id"], record["epoch"]) in wanted.chosen:
            spans = Spans(_trace_id(job.id, record["sample_id"], record["epoch"]), record, models, start)
            spans.build(unpacker.trajectory(record))
            batch.append((spans, record))
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _forget(client: Any, experiment_id: str, run_id: str, ids: Mapping[str, str]) -> None:
    """Delete traces, sent before, of trajectories that were run again since or are gone."""
    where = f"attribute.run_id = '{run_id}'"
    token: str | None = None
    stale: list[str] = []
    while True:
        found, token = client.store.search_traces(
            locations=[experiment_id], filter_string=where, max_results=500, page_token=token
        )
        stale += [info.trace_id for info in found if ids.get(info.trace_id) != info.tags.get("record")]
        if not token:
            break
    for n in range(0, len(stale), 100):
        client.delete_traces(experiment_id, trace_ids=stale[n : n + 100])


def _info(
    experiment_id: str, run_id: str, spans: Spans, record: Mapping[str, Any], digest: str, binary: frozenset[str]
) -> TraceInfo:
    """What stands in the list of traces."""
    from mlflow.entities import TraceInfo, TraceLocation, TraceState

    sample, epoch = str(record["sample_id"]), record["epoch"]
    tags = {"mlflow.traceName": sample if epoch == 0 else f"{sample} ({epoch})", "sample": sample[:250],
            "epoch": str(epoch), "stop": record["stop"], "record": digest}  # fmt: skip
    tags |= {safe(f"strata.{name}"): str(value)[:250] for name, value in record["strata"].items()}
    return TraceInfo(
        trace_id=spans.trace_id,
        trace_location=TraceLocation.from_experiment_id(experiment_id),
        request_time=int(spans.start * 1000),
        execution_duration=int((spans.end - spans.start) * 1000),
        state=TraceState.ERROR if record["stop"] == "error" else TraceState.OK,
        request_preview=spans.question[:_PREVIEW],
        response_preview=spans.answer[:_PREVIEW],
        assessments=_assessments(run_id, spans, record, binary),
        tags=tags,
        trace_metadata={"mlflow.sourceRun": run_id},
    )


def _assessments(run_id: str, spans: Spans, record: Mapping[str, Any], binary: frozenset[str]) -> list[Assessment]:
    """Scores as feedback: pass or fail where a score is only 0 or 1, unscored ones left out."""
    from mlflow.entities import AssessmentSource, Feedback

    found: list[Assessment] = []
    space = UUID(spans.trace_id.removeprefix("tr-"))
    for name, value in record["scores"].items():
        if value is None:
            continue
        feedback = Feedback(
            name=name.replace("/", " "),
            value=bool(value) if name in binary else float(value),
            source=AssessmentSource("CODE", "scorer"),
            rationale=(record.get("explanations") or {}).get(name, "")[:_PREVIEW] or None,
            metadata={"mlflow.assessment.sourceRunId": run_id},
            create_time_ms=int(spans.end * 1000),
            last_update_time_ms=int(spans.end * 1000),
        )
        feedback.assessment_id = f"a-{uuid5(space, name).hex}"
        found.append(feedback)
    return found


def _trace_id(folder_id: str, sample_id: str, epoch: int) -> str:
    return f"tr-{uuid5(UUID(folder_id), f'{sample_id}/{epoch}').hex}"


def _models(job: Job, config: Mapping[str, Any]) -> dict[str, str]:
    """Role -> name of the model."""
    chosen = str((job.manifest.get("choices") or {}).get("model", "model"))
    found = {"main": str((config.get("model") or {}).get("name") or chosen)}
    return found | {role: str(model.get("name") or role) for role, model in (config.get("models") or {}).items()}
