"""Episodes as OpenTelemetry spans, sent to a collector by OTLP over HTTP: the spans of MLflow's traces, with the
attributes of the GenAI conventions (opentelemetry.io/docs/specs/semconv/gen-ai).

Ids are made of the record, so what is sent again is the same spans. MLflow translates them, which is semi-private and
pinned with it. The protocol is written here: OpenTelemetry's exporter (1.45) returns success for a redirect and for
rejected spans, and no reason for a failure, so a run would count as sent whose spans are lost.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote
from uuid import UUID, uuid5

import orjson
from yarl import URL

from components.core.messages import JSON
from components.text.words import written_out
from runner.storage.integrity import refuse_changed
from runner.tracking import traces
from runner.tracking.describe import Job, job_of
from runner.tracking.store import failures, is_permitted, short
from runner.tracking.unsent import NotCollected, note_collected

if TYPE_CHECKING:
    from runner.storage.schema import Record

_TYPE = "application/x-protobuf"
_BATCH, _TIMEOUT, _MAX_REPLY = 20, 20.0, 1 << 20  # episodes in a request; seconds of a request; bytes
_TOO_LARGE = 413


@contextmanager
def collecting(folder: Path, config: Mapping[str, Any], marker: Path | None = None) -> Iterator[None]:
    """After a run was sent to MLflow, send it to its collector too; also where MLflow is down, which its ``marker``
    then says."""
    try:
        yield
    except failures():
        with suppress(NotCollected):  # MLflow's error is reported
            if send(folder, config) and marker is not None:
                note_collected(marker)
        raise
    send(folder, config)


def send(folder: Path, config: Mapping[str, Any]) -> bool:
    """Send the trajectories that ``tracking.traces`` chooses, where there is a collector that may have them. Returns
    whether there is. Raises Damaged, and NotCollected where it is down or refuses."""
    if not (tracking := config.get("tracking") or {}).get("otlp"):
        return False
    job = job_of(folder)
    refuse_changed(folder)
    if allowed := is_permitted(config, job.privacy):
        selected = traces.plan(folder, str(tracking.get("traces", "none")), config.get("seed"))
        asyncio.run(_send(f"{tracking['otlp'].rstrip('/')}/v1/traces", job, config, selected))
    return allowed


async def _send(url: str, job: Job, config: Mapping[str, Any], selected: traces.Plan) -> None:
    episodes = traces.episodes(job, config, selected.chosen)
    about = {"service.name": "wardround", "run.name": job.name, "run.id": job.id, "run.simulated": job.simulated}
    choices = job.manifest.get("choices") or {}
    while batch := list(islice(episodes, _BATCH)):
        found = [span for one in batch for span in _spans(*one, selected.digests, choices)]
        await _send_spans(url, {"attributes": _attributes(about)}, found)


async def _send_spans(url: str, resource: JSON, spans: list[JSON]) -> None:
    """Send spans in a request, or in several where the collector takes only smaller ones. Raises NotCollected."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    whole: Any = [{"resource": resource, "scope_spans": [{"scope": {"name": "wardround"}, "spans": spans}]}]
    if await post(url, ExportTraceServiceRequest(resource_spans=whole).SerializeToString(), len(spans) > 1):
        return
    for part in (spans[: len(spans) // 2], spans[len(spans) // 2 :]):
        await _send_spans(url, resource, part)


async def post(url: str, body: bytes, divisible: bool, timeout: float = _TIMEOUT) -> bool:
    """Send a request, once, to the configured address alone. Returns False where it is too large and ``divisible``.
    Raises NotCollected where not all of its spans were taken."""
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    from components.web import Unavailable, Web  # aiohttp is slow to import

    pairs = (pair.partition("=") for pair in os.environ.get("OTEL_EXPORTER_OTLP_HEADERS", "").split(",") if "=" in pair)
    headers = {name.strip(): unquote(value.strip()) for name, _, value in pairs} | {"Content-Type": _TYPE}
    try:
        if not "".join(chain(*headers.items())).isprintable():
            raise ValueError  # it would end the header
        reply = await Web(timeout, longest_reply_bytes=_MAX_REPLY).post_once(URL(url), body, headers)
        if reply.status == _TOO_LARGE and divisible:
            return False
        problem = f"refuses the spans: {reply.status}" if reply.status // 100 != 2 else ""
        if reply.status // 100 == 3:
            problem = f"redirects to {short(reply.location)}, which is not followed: give that address"
        elif not problem and reply.kind == _TYPE:  # some collectors answer JSON
            found = ExportTraceServiceResponse.FromString(reply.body).partial_success
            problem = f"refuses {found.rejected_spans} spans: {found.error_message}" if found.rejected_spans else ""
    except Unavailable as error:
        problem = f"is unavailable: {error.why}"
    except ValueError:  # its text may have the header
        problem = "is not contacted: its address, or a header in OTEL_EXPORTER_OTLP_HEADERS, is invalid"
    except DecodeError:
        problem = "does not answer in OTLP"
    if problem:
        raise NotCollected(f"the collector {short(url)} {problem}")
    return True


def _spans(
    spans: traces.Spans, record: Record, digests: Mapping[traces.Key, str], choices: Mapping[str, str]
) -> Iterator[JSON]:
    """The spans of an episode, translated by MLflow; the first, its agent's, has the scores as events. Each has the
    form of the protocol's ``Span``."""
    from mlflow.entities import Span as MlflowSpan
    from mlflow.tracing.export.genai_semconv.translator import translate_span_to_genai

    digest = digests[record["sample_id"], record["epoch"]]  # an episode that is run again is another
    trace_id = uuid5(UUID(spans.trace_id.removeprefix("tr-")), digest).int
    for one in spans.spans:
        of, root = dict(one["attributes"]), not one["parent_span_id"]
        match orjson.loads(of["mlflow.spanType"]):
            case "CHAT_MODEL" | "GUARDRAIL":
                of |= {"mlflow.spanType": '"CHAT_MODEL"',
                       "mlflow.llm.model": of.get("mlflow.llm.model") or of["asked_model"],
                       "mlflow.llm.provider": orjson.dumps(choices.get("model", "unknown")).decode()}  # fmt: skip
            case "CHAIN" | "TASK":
                del of["mlflow.spanType"]  # no operation that the conventions name
        if root:
            asked = {"messages": [{"role": "user", "content": spans.question}]}
            answered = {"choices": [{"message": {"role": "assistant", "content": spans.answer}}]}
            of |= {"mlflow.spanInputs": orjson.dumps(asked).decode(),
                   "mlflow.spanOutputs": orjson.dumps(answered).decode(),
                   "gen_ai.agent.name": choices.get("agent", "agent"),
                   "gen_ai.conversation.id": written_out(f"{record['sample_id']}/{record['epoch']}")}  # fmt: skip
        found = translate_span_to_genai(MlflowSpan.from_dict({**one, "attributes": of})._span)
        failed = ("status",) if "message" in one["status"] else ()
        numbers = {key: int(one[key], 16) for key in ("span_id", "parent_span_id") if one[key]}
        yield {
            **{key: (n ^ trace_id % (1 << 64)).to_bytes(8) for key, n in numbers.items()},  # in no other trace
            **{key: one[key] for key in ("start_time_unix_nano", "end_time_unix_nano", *failed)},
            "trace_id": trace_id.to_bytes(16), "name": found.name, "kind": found.kind.value + 1,  # of the wire
            "attributes": _attributes(found.attributes or {}),
            "events": _events(record, one["end_time_unix_nano"]) if root else [],
        }  # fmt: skip


def _events(record: Record, at: int) -> list[JSON]:
    """The scores of an episode."""
    explained = record.get("explanations") or {}
    return [
        {"name": "gen_ai.evaluation.result", "time_unix_nano": at,
         "attributes": _attributes({"gen_ai.evaluation.name": name, "gen_ai.evaluation.score.value": float(score),
                                    "gen_ai.evaluation.explanation": written_out(explained.get(name, ""))})}
        for name, score in record["scores"].items()
        if score is not None
    ]  # fmt: skip


def _attributes(values: Mapping[str, Any]) -> list[JSON]:
    return [{"key": key, "value": _value(value)} for key, value in values.items() if value is not None]


def _value(value: Any) -> JSON:
    """A value as the protocol types it."""
    if isinstance(value, list | tuple):
        return {"array_value": {"values": [_value(one) for one in value]}}
    name = {bool: "bool_value", int: "int_value", float: "double_value"}.get(type(value), "string_value")
    return {name: str(value) if name == "string_value" else value}
