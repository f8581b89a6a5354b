"""Trajectories as MLflow traces, in batches from the records. A span is a dictionary that ``Span.from_dict`` reads.

``TracingClient.start_trace`` and ``log_spans`` are semi-private and pinned with MLflow: the public calls take ten times
as long, the asynchronous default loses two thirds.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

import orjson

from components.core.messages import Image, Message
from components.core.types import Observed, Step, Trajectory
from components.text.words import written_out
from runner.storage.records import read
from runner.storage.schema import Record
from runner.storage.stored import Unpacker
from runner.storage.texts import TextReader
from runner.tracking.describe import Job, safe
from runner.tracking.store import Tracker

if TYPE_CHECKING:
    from mlflow.entities import TraceInfo

_FAILED = ("error", "failed", "limit")
_BATCH = 50
_MAX_SECONDS = 90.0  # for one batch; a slower tracker is given up
_PREVIEW = 1_000
_MAX_TEXT, _HEAD = 4_000, 3_000  # characters of a text and of its part before the cut; the record has the whole
_MAX_LABEL = 80
_CHECKS = ("verify", "validate", "judge")

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


def send(tracker: Tracker, run_id: str, job: Job, config: Mapping[str, Any], selected: Plan) -> None:
    """Write the chosen trajectories. Raises TimeoutError when the tracker is too slow."""
    from mlflow.entities import Span
    from mlflow.tracing.client import TracingClient

    client, experiment = TracingClient(tracker.uri), tracker.experiment_id
    ids = {_trace_id(job.id, *key): selected.digests[key] for key in selected.chosen}
    _delete_stale(client, experiment, run_id, ids)
    done, traces = 0, episodes(job, config, selected.chosen)
    while batch := list(islice(traces, _BATCH)):
        started = time.monotonic()
        for spans, record in batch:
            digest, decides = ids[spans.trace_id], job.manifest.get("decides")
            client.start_trace(_info(experiment, run_id, spans, record, digest, selected.binary, decides))
        client.log_spans(experiment, [Span.from_dict(span) for spans, _ in batch for span in spans.spans])
        done += len(batch)
        if time.monotonic() - started > _MAX_SECONDS:
            raise TimeoutError(f"{done} of {len(selected.chosen)} traces sent, too slowly to continue")


def episodes(job: Job, config: Mapping[str, Any], chosen: Collection[Key]) -> Iterator[tuple[Spans, Record]]:
    """Spans and records of the chosen trajectories, the score that decides first."""
    if not chosen:
        return
    unpacker, choice = Unpacker(TextReader(job.folder)), (job.manifest.get("choices") or {}).get("model", "model")
    models = {"main": str((config.get("model") or {}).get("name") or choice)}  # role -> name
    models |= {role: str(model.get("name") or role) for role, model in (config.get("models") or {}).items()}
    start, decides = (job.start or time.time() * 1000) / 1000, job.manifest.get("decides")
    for record in read(job.folder):
        if (key := (record["sample_id"], record["epoch"])) in chosen:
            record["scores"] = dict(sorted(record["scores"].items(), key=lambda pair: pair[0] != decides))
            yield Spans(_trace_id(job.id, *key), record, unpacker.trajectory(record), models, start), record


def _delete_stale(client: Any, experiment_id: str, run_id: str, ids: Mapping[str, str]) -> None:
    """Delete traces that were sent before, of trajectories that were run again since, are gone or no longer chosen."""
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
    experiment_id: str, run_id: str, spans: Spans, record: Record, digest: str, binary: frozenset[str], decides: object
) -> TraceInfo:
    """The entry in the list of traces, with the scores as feedback. MLflow shows the newest first, in its table those
    first by name, and of a name the beginning: ``*rate completion`` decides, ``f1 response`` is another score."""
    from mlflow.entities import Assessment, AssessmentSource, Feedback, TraceInfo, TraceLocation, TraceState

    sample, epoch = written_out(str(record["sample_id"])), record["epoch"]
    tags = {"mlflow.traceName": sample if epoch == 0 else f"{sample} ({epoch})", "sample": sample[:250],
            "epoch": str(epoch), "stop": record["stop"], "record": digest}  # fmt: skip
    tags |= {safe(f"strata.{name}"): written_out(str(value))[:250] for name, value in record["strata"].items()}
    assessments, space, end = list[Assessment](), UUID(spans.trace_id.removeprefix("tr-")), int(spans.end * 1000)
    for n, (name, score) in enumerate(record["scores"].items()):  # pass or fail where a score is 0 or 1 in all records
        if score is not None:
            feedback = Feedback(
                name="*" * (name == decides) + " ".join(reversed(name.split("/"))),
                value=bool(score) if name in binary else float(score),
                source=AssessmentSource("CODE", "scorer"),
                rationale=written_out((record.get("explanations") or {}).get(name, ""))[:_PREVIEW] or None,
                metadata={"mlflow.assessment.sourceRunId": run_id},
                create_time_ms=end - n,
                last_update_time_ms=end - n,
            )
            feedback.assessment_id = f"a-{uuid5(space, name).hex}"
            assessments.append(feedback)
    return TraceInfo(
        trace_id=spans.trace_id,
        trace_location=TraceLocation.from_experiment_id(experiment_id),
        request_time=int(spans.start * 1000),
        execution_duration=int((spans.end - spans.start) * 1000),
        state=TraceState.ERROR if record["stop"] == "error" else TraceState.OK,
        request_preview=written_out(spans.question)[:_PREVIEW],
        response_preview=written_out(spans.answer)[:_PREVIEW],
        assessments=assessments,
        tags=tags,
        trace_metadata={"mlflow.sourceRun": run_id},
    )


def _trace_id(folder_id: str, sample_id: str, epoch: int) -> str:
    return f"tr-{uuid5(UUID(folder_id), f'{sample_id}/{epoch}').hex}"


class Spans:
    """The spans of one trace, parents before children: the first is the root. ``question``: the user's last message
    before the first reply, ``models``: the model of each role, ``start``: the time of a trajectory without steps."""

    def __init__(
        self, trace_id: str, record: Record, trajectory: Trajectory, models: Mapping[str, str], start: float
    ) -> None:
        self.trace_id, self._record, self._models, self._steps = trace_id, record, models, trajectory.steps
        self.spans: list[dict[str, Any]] = []
        self.start = min((step.started for step in self._steps), default=start)
        self.end = max([self.start + record["seconds"], *(_end(step) for step in self._steps)])
        users = [message.text for message in self._steps[0].asked if message.role == "user"] if self._steps else []
        grounds = (trajectory.refusal.grounds if trajectory.refusal else {}).items()
        refusal = "; ".join(f"{key}: {value}" for key, value in grounds)
        ends = {"answered": trajectory.answer, "refused": refusal, "failed": trajectory.failure}
        self.question, end = users[-1][:_MAX_TEXT] if users else "", ends.get(trajectory.stop, trajectory.error) or ""
        self.answer = ("" if trajectory.stop == "answered" else f"{trajectory.stop}: ") + end[:_MAX_TEXT]
        error = trajectory.error or "error" if trajectory.stop == "error" else None
        name, texts = str(record["sample_id"]), (self.question, self.answer)
        self._branches = {
            "main": self._add(name, "AGENT", "", self.start, self.end, *texts, error, stop=trajectory.stop)
        }
        for n, step in enumerate(self._steps):
            self._step(step, self._steps[n + 1 :])

    def _step(self, step: Step, later: Sequence[Step]) -> None:
        """A model call, what was tried and the tools that were called after it."""
        parent = self._branch(step.branch)
        attributes: dict[str, Any] = {
            "mlflow.message.format": "openai",
            "earlier_messages": step.kept,
            "verdict": self._cut(str(step.verdict), step) if step.verdict else None,
            "committed": None if step.committed else False,
            "remarks": step.remarks or None,
        }
        usage, model = step.usage, self._models.get(step.role) or self._models.get("main")
        if usage.input_tokens is not None or usage.output_tokens is not None:
            a, b = usage.input_tokens or 0, usage.output_tokens or 0
            attributes["mlflow.chat.tokenUsage"] = {"input_tokens": a, "output_tokens": b, "total_tokens": a + b}
        if self._record["usage"]["cost_usd"] is None:  # with a model and tokens MLflow would import litellm and guess
            attributes["asked_model"] = model
        else:
            cost = {"input_cost": 0.0, "output_cost": 0.0, "total_cost": usage.cost_usd}
            attributes |= {"mlflow.llm.model": model, "mlflow.llm.cost": cost}
        from runner.results.cells import plain

        action, name = step.action, plain(str(step.remarks.get("label", "")))[:_MAX_LABEL]
        if not name:
            role = "" if step.role == "main" else f" ({step.role})"
            name = step.purpose + role + ("" if step.committed else ", not chosen")
        error = f"{action.error}: {action.error_text}" if action and action.error else None
        self._add(
            name, "CHAT_MODEL" if step.purpose not in _CHECKS else "GUARDRAIL", parent, step.started, _end(step),
            {"messages": [self._message(message, step) for message in step.asked]},
            {"choices": [{"message": self._message(step.reply, step), "finish_reason": step.finish}]},
            error=error, **attributes,
        )  # fmt: skip
        until = min((other.started for other in later if other.branch == step.branch), default=self.end)
        self._tools(step, step.tried, until, "try ", parent)
        self._tools(step, step.observed, until, "", parent)

    def _tools(self, step: Step, seen: Sequence[Observed], until: float, prefix: str, parent: str) -> None:
        """Calls one after the other where they fit before the next model call, else at once."""
        at = _end(step)
        in_turn = sum(one.seconds for one in seen) <= until - at + 0.001
        for one in seen:
            kind = "TASK" if one.control else "TOOL"
            inputs: Any = one.call.arguments
            with suppress(orjson.JSONDecodeError):
                inputs = orjson.loads(inputs) if len(inputs) <= _MAX_TEXT else inputs
            output = self._cut(one.observation.text, step) + _images(len(one.observation.images))
            self._add(
                prefix + (one.call.name or "?"), kind, parent, at, at + one.seconds,
                inputs if isinstance(inputs, dict) else self._cut(one.call.arguments, step), output, error=one.error,
            )  # fmt: skip
            at += one.seconds if in_turn else 0.0

    def _branch(self, name: str) -> str:
        """The span of a branch, below that of the branch it was opened from."""
        if name not in self._branches:
            above = [str(path) for path in PurePosixPath(name).parents]  # a/b/c: a/b, a, and the root
            parent = next((self._branches[one] for one in above if one in self._branches), self._branches["main"])
            own = [step for step in self._steps if step.branch == name or step.branch.startswith(f"{name}/")]
            start, end = min(step.started for step in own), max(_end(step) for step in own)
            self._branches[name] = self._add(name, "CHAIN", parent, start, end, None, None)
        return self._branches[name]

    def _add(
        self, name: str, kind: str, parent: str, start: float, end: float, inputs: Any, outputs: Any,
        error: str | None = None, **attributes: Any,
    ) -> str:  # fmt: skip
        """One span. Returns its id."""
        number, name = f"{len(self.spans) + 1:016x}", written_out(name)
        failed = {"code": "STATUS_CODE_ERROR", "message": written_out((error or "")[:4_000])}
        values = {"mlflow.traceRequestId": self.trace_id, "mlflow.spanType": kind, "mlflow.spanInputs": inputs,
                  "mlflow.spanOutputs": outputs, **attributes}  # fmt: skip
        self.spans.append({
            "trace_id": self.trace_id, "span_id": number, "parent_span_id": parent, "name": name, "events": [],
            "start_time_unix_nano": int(start * 1e9), "end_time_unix_nano": int(max(end, start) * 1e9),
            "status": failed if error else {"code": "STATUS_CODE_OK"},
            "attributes": {key: orjson.dumps(value).decode() for key, value in values.items() if value is not None},
        })  # fmt: skip
        return number

    def _message(self, message: Message, step: Step) -> dict[str, Any]:
        """A message in chat-completions form, images left out."""
        images = 0 if isinstance(message.content, str) else sum(isinstance(part, Image) for part in message.content)
        calls = [
            {
                "id": one.id,
                "type": "function",
                "function": {"name": one.name, "arguments": self._cut(one.arguments, step)},
            }
            for one in message.tool_calls
        ]
        out = {
            "role": message.role,
            "content": self._cut(message.text, step) + _images(images),
            "tool_calls": calls or None,
            "tool_call_id": message.tool_call_id,
            "reasoning_content": self._cut(message.reasoning, step) if message.reasoning else None,
        }
        return {name: value for name, value in out.items() if value is not None}

    def _cut(self, text: str, step: Step) -> str:
        """Head and tail of a long text, and where the whole is."""
        if len(text) <= _MAX_TEXT:
            return text
        at = f"sample {self._record['sample_id']!r}, epoch {self._record['epoch']}, step {step.index} of {step.branch}"
        left = f"[... {len(text) - _MAX_TEXT:,} characters left out: records.jsonl, {at} ...]"
        return f"{text[:_HEAD]}\n{left}\n{text[_HEAD - _MAX_TEXT :]}"


def _end(step: Step) -> float:
    return step.started + step.seconds


def _images(n: int) -> str:
    return f"\n[{n} image{'s' * (n > 1)}: see the record]" if n else ""
