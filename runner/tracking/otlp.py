"""Episodes as OpenTelemetry spans, sent to a collector by OTLP over HTTP: the spans of MLflow's traces, with the
attributes of the GenAI conventions (opentelemetry.io/docs/specs/semconv/gen-ai).

Ids are made of the record, so what is sent again is the same spans. MLflow translates them, and brings the messages of
the protocol; both are semi-private, and pinned with it.
"""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from http.client import HTTPException
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote
from uuid import UUID, uuid5

import orjson

from runner.tracking import traces
from runner.tracking.describe import Job
from runner.tracking.store import short
from runner.tracking.unsent import NotCollected

if TYPE_CHECKING:
    from opentelemetry.proto.common.v1.common_pb2 import KeyValue
    from opentelemetry.proto.trace.v1.trace_pb2 import Span

    from runner.storage.schema import Record

_TYPE = "application/x-protobuf"
_BATCH, _TIMEOUT, _MAX_REPLY = 20, 20.0, 1 << 20  # episodes in a request; seconds; bytes


def send(job: Job, config: Mapping[str, Any], selected: traces.Plan) -> int:
    """Send the chosen trajectories. Returns how many. Raises NotCollected where it is down or refuses."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    done, episodes = 0, traces.episodes(job, config, selected.chosen)
    url = f"{str(config['tracking']['otlp']).rstrip('/')}/v1/traces"
    about = {"service.name": "wardround", "run.name": job.name, "run.id": job.id, "run.simulated": job.simulated}
    choices = job.manifest.get("choices") or {}
    while batch := list(islice(episodes, _BATCH)):
        request = ExportTraceServiceRequest()
        resource = request.resource_spans.add()
        resource.resource.attributes.extend(_attributes(about))
        scope = resource.scope_spans.add()
        scope.scope.name = "wardround"
        for spans, record in batch:
            digest = selected.digests[record["sample_id"], record["epoch"]]
            scope.spans.extend(_spans(spans, record, digest, choices))
        _post(url, request.SerializeToString())
        done += len(batch)
    return done


def _post(url: str, body: bytes) -> None:
    """Send a request. Raises NotCollected where not all of its spans were taken."""
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    pairs = (pair.partition("=") for pair in os.environ.get("OTEL_EXPORTER_OTLP_HEADERS", "").split(",") if "=" in pair)
    headers = {name.strip(): unquote(value.strip()) for name, _, value in pairs}
    request = urllib.request.Request(url, body, headers | {"Content-Type": _TYPE})
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as reply:
            typed = reply.headers.get_content_type() == _TYPE  # some collectors answer JSON
            found = ExportTraceServiceResponse.FromString(reply.read(_MAX_REPLY) if typed else b"").partial_success
            problem = f"refuses {found.rejected_spans} spans: {found.error_message}" if found.rejected_spans else ""
            if reply.url != url:
                problem = f"leads to {short(reply.url)}"  # where no body was sent to
    except urllib.error.HTTPError as error:
        problem = f"refuses the spans: {error.code} {error.reason}"
    except (DecodeError, HTTPException):
        problem = "answers something else than OTLP"
    except OSError as error:
        problem = f"does not answer: {short(error.reason if isinstance(error, urllib.error.URLError) else error)}"
    if problem:
        raise NotCollected(f"the collector {short(url)} {problem}")


def _spans(spans: traces.Spans, record: Record, digest: str, choices: Mapping[str, str]) -> Iterator[Span]:
    """The spans of an episode, translated by MLflow; the first, its agent's, has the scores as events."""
    from mlflow.entities import Span as MlflowSpan
    from mlflow.tracing.export.genai_semconv.translator import translate_span_to_genai

    trace_id = uuid5(UUID(spans.trace_id.removeprefix("tr-")), digest).int  # an episode that is run again is another
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
                   "gen_ai.conversation.id": f"{record['sample_id']}/{record['epoch']}"}  # fmt: skip
        events = _events(record, one["end_time_unix_nano"]) if root else []
        span = MlflowSpan.from_dict({**one, "attributes": of, "events": events})
        yield _encoded(translate_span_to_genai(span._span), trace_id)


def _events(record: Record, at: int) -> list[dict[str, Any]]:
    """The scores of an episode."""
    explained = record.get("explanations") or {}
    return [
        {"name": "gen_ai.evaluation.result", "time_unix_nano": at,
         "attributes": {"gen_ai.evaluation.name": name, "gen_ai.evaluation.score.value": float(score),
                        "gen_ai.evaluation.explanation": explained.get(name, "")}}
        for name, score in record["scores"].items()
        if score is not None
    ]  # fmt: skip


def _encoded(span: Any, trace_id: int) -> Span:
    """A span of the SDK for the wire. Its id is one that no other trace has."""
    from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

    ids = [b"" if of is None else (of.span_id ^ trace_id % (1 << 64)).to_bytes(8) for of in (span.context, span.parent)]
    failed = not span.status.is_ok
    found = Span(
        trace_id=trace_id.to_bytes(16), span_id=ids[0], parent_span_id=ids[1], name=span.name,
        kind=span.kind.value + 1,  # the wire counts from 1
        start_time_unix_nano=span.start_time, end_time_unix_nano=span.end_time,
        attributes=_attributes(span.attributes),
        status=Status(code=Status.STATUS_CODE_ERROR, message=span.status.description) if failed else None,
    )  # fmt: skip
    for event in span.events:
        found.events.add(name=event.name, time_unix_nano=event.timestamp, attributes=_attributes(event.attributes))
    return found


def _attributes(values: Mapping[str, Any]) -> Iterator[KeyValue]:
    from mlflow.tracing.utils.otlp import _set_otel_proto_anyvalue
    from opentelemetry.proto.common.v1.common_pb2 import KeyValue

    for key, value in values.items():
        found = KeyValue(key=key)
        _set_otel_proto_anyvalue(found.value, value)
        yield found
