"""A run folder as a log of inspect_ai, which ``inspect view`` opens: ``export.eval``.

The layout is that of the schema's version 2 (``inspect_ai/log/_log.py``, ``_recorders/eval.py`` of 0.3.285), deflated,
which every version reads. A long text of an event is stored once per sample, as an attachment. Records have no targets.
"""

import json
import zipfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from components.core.errors import ConfigError
from components.core.messages import Image, Message
from components.core.types import Step, Trajectory
from runner.logs.inspect_log import ATTACHMENT, HEADER, SAMPLES, START
from runner.results.runs import Run
from runner.storage.records import read
from runner.storage.resume import metrics_of
from runner.storage.schema import Record
from runner.storage.stored import Unpacker
from runner.storage.texts import TextReader

FILE = "export.eval"
_INLINE = 100  # characters of a text that is not made an attachment
_STOPS = {"length": "max_tokens", "tool_calls": "tool_calls", "content_filter": "content_filter", "stop": "stop"}
_STATUS = {"complete": "success", "running": "started"}
_SUMMARY = ("id", "epoch", "input", "target", "metadata", "scores", "model_usage", "total_time", "started_at",
            "completed_at")  # fmt: skip


def export_inspect(run: Run) -> Path:
    """Write the log of a run into its folder, in one move. Returns its path. Raises ConfigError for a run without
    records."""
    with TemporaryDirectory(dir=run.folder, prefix=".export-") as scratch:
        _write(run, fresh := Path(scratch, FILE))
        return fresh.replace(run.folder / FILE)


def _write(run: Run, path: Path) -> None:
    notes, agent, model = run.manifest, run.choices.get("agent", "agent"), run.model or "unknown"
    ids = list(dict.fromkeys(run.table["sample_id"].tolist()))
    spec = {
        "eval_id": notes["id"], "run_id": notes["id"], "task_id": notes["id"], "created": notes["start"],
        "task": run.dataset, "model": model, "solver": agent,
        "dataset": {"name": run.dataset, "samples": len(ids), "sample_ids": ids, "shuffled": False},
        "config": {"epochs": notes["epochs"]}, "packages": notes["versions"],
        "metadata": {"name": notes["name"], "choices": run.choices, "command": notes["command"],
                     "decides": run.headline, "lower": notes.get("lower") or []},
    }  # fmt: skip
    begun = datetime.fromisoformat(notes["start"]).timestamp()
    start = {"version": 2, "eval": spec, "plan": {"steps": [{"solver": agent}]}}
    unpacker, summaries = Unpacker(TextReader(run.folder)), list[dict[str, Any]]()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:

        def put(name: str, value: object) -> None:
            archive.writestr(name, json.dumps(value, ensure_ascii=False, default=str))

        put(START, start)
        for record in read(run.folder):
            sample = _Sample(record, unpacker.trajectory(record), model, begun).whole
            put(f"{SAMPLES}{sample['id']}_epoch_{sample['epoch']}.json", sample)
            error = {"error": sample["error"]["message"]} if "error" in sample else {}
            summaries.append({name: sample[name] for name in _SUMMARY if name in sample} | error | {"completed": True})
        if not summaries:
            raise ConfigError(f"{run.folder} has no records to export")
        put("summaries.json", summaries)
        put(HEADER, start | _ending(run, summaries))


def _ending(run: Run, summaries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a header has besides the start: means with the bounds of their intervals, over clusters."""
    found = metrics_of(run.folder).get("metrics", {})
    scores = []
    for name in run.scores:
        one = found.get(name) or {}
        numbers = {"mean": one.get("value"), "ci_low": one.get("ci_low"), "ci_high": one.get("ci_high")}
        metrics = {key: {"name": key, "value": value} for key, value in numbers.items() if value is not None}
        counts = {"scored_samples": one.get("n", 0), "unscored_samples": one.get("unscored", 0)}
        scores.append({"name": name, "scorer": name, "metrics": metrics} | counts)
    n, errored = len(summaries), sum("error" in one for one in summaries)
    spent = run.manifest.get("spent") or {"input_tokens": None, "output_tokens": None}
    usage = {run.model or "unknown": _usage(spent["input_tokens"], spent["output_tokens"])}
    return {
        "status": _STATUS.get(run.manifest["status"], "cancelled"),
        "results": {"total_samples": n, "completed_samples": n - errored, "scores": scores},
        "stats": {
            "started_at": run.manifest["start"],
            "completed_at": run.manifest.get("end") or "",
            "model_usage": usage,
        },
    }


class _Sample:
    """A record as a sample: ``whole``. ``begun``: the time of one without steps, in seconds since the epoch."""

    def __init__(self, record: Record, trajectory: Trajectory, model: str, begun: float) -> None:
        self._model, self._attached, self._events = model, dict[str, str](), list[dict[str, Any]]()
        steps = trajectory.steps
        self._start = start = min((step.started for step in steps), default=begun)
        end = start + record["seconds"]
        tools = [{"name": one.name, "description": one.description, "parameters": {"type": "object", **one.parameters}}
                 for one in trajectory.offered]  # fmt: skip
        shown, branches = list[dict[str, Any]](), dict[str, list[Message]]()
        for step in steps:
            before = branches[step.branch] = [*branches.get(step.branch, ())[: step.kept], *step.asked]
            self._step(step, before, tools if step is steps[0] else [])  # they are the same in every call
            if step.branch == "main" or not shown:
                shown = [_message(one) for one in (*before, step.reply)]
        explained = record.get("explanations") or {}
        scores = {
            name: {"value": value, "explanation": explained.get(name), "answer": record["answer"]}
            for name, value in record["scores"].items()
            if value is not None
        }
        for name, score in scores.items():
            self._add("score", end, scorer=name, score=score)
        usage = _usage(record["usage"]["input_tokens"], record["usage"]["output_tokens"])
        facts = {"cluster": record["cluster"], "stop": record["stop"], "failure": record["failure"],
                 "refusal": record["refusal"], **record["strata"]}  # fmt: skip
        text = record["answer"] or ""
        reply = {"message": {"role": "assistant", "content": text}, "stop_reason": "stop"}
        question = next((one.text for one in reversed(steps[0].asked if steps else ()) if one.role == "user"), "")
        self.whole: dict[str, Any] = {
            "id": record["sample_id"], "epoch": record["epoch"] + 1, "input": question, "target": "", "messages": shown,
            "output": {"model": model, "choices": [reply], "completion": text}, "scores": scores,
            "metadata": {name: value for name, value in facts.items() if value is not None},
            "model_usage": {model: usage | {"total_cost": record["usage"]["cost_usd"]}}, "events": self._events,
            "total_time": record["seconds"], "started_at": _time(start), "completed_at": _time(end),
            "attachments": self._attached,
        }  # fmt: skip
        if record["error"] is not None:
            self.whole["error"] = {"message": record["error"], "traceback": "", "traceback_ansi": ""}
        if record["stop"] == "limit":
            self.whole["limit"] = {"type": "custom", "limit": 0}

    def _step(self, step: Step, before: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> None:
        """The events of a model call and of the tools after it."""
        end = step.started + step.seconds
        calls, reason = step.reply.tool_calls, _STOPS.get(step.finish, "unknown")
        output = {
            "model": self._model, "usage": _usage(step.usage.input_tokens, step.usage.output_tokens),
            "choices": [{"message": self._short(step.reply), "stop_reason": "tool_calls" if calls else reason}],
        }  # fmt: skip
        self._add(
            "model", step.started, model=self._model, role=None if step.role == "main" else step.role,
            input=[self._short(one) for one in before], tools=tools, tool_choice="auto", config={}, output=output,
            completed=_time(end), working_time=step.seconds, metadata={"purpose": step.purpose, "branch": step.branch},
        )  # fmt: skip
        for one in step.observed:
            error = {"type": "unknown", "message": one.error} if one.error else None
            self._add(
                "tool", end, id=one.call.id, function=one.call.name or "unknown", arguments=one.call.readable.parsed,
                error=error, result=self._attach(one.observation.text), events=[],
                completed=_time(end := end + one.seconds),
            )  # fmt: skip

    def _add(self, kind: str, at: float, **fields: Any) -> None:
        common = {"event": kind, "timestamp": _time(at), "working_start": max(0.0, at - self._start)}
        self._events.append(common | {name: value for name, value in fields.items() if value is not None})

    def _short(self, message: Message) -> dict[str, Any]:
        """A message of an event: long texts are attachments."""
        found = _message(message)
        if isinstance(content := found["content"], str):
            return found | {"content": self._attach(content)}
        return found | {"content": [part | {part["type"]: self._attach(part[part["type"]])} for part in content]}

    def _attach(self, text: str) -> str:
        if len(text) <= _INLINE:
            return text
        name = sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
        self._attached[name] = text
        return f"{ATTACHMENT}{name}"


def _message(message: Message) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"type": "reasoning", "reasoning": message.reasoning}] if message.reasoning else []
    for one in (message.content,) if isinstance(message.content, str) else message.content:
        parts.append({"type": "image", "image": one.url} if isinstance(one, Image) else {"type": "text", "text": one})
    calls = [{"id": one.id, "function": one.name, "arguments": one.readable.parsed} for one in message.tool_calls]
    is_plain = message.content == message.text and not message.reasoning
    found = {
        "role": message.role, "content": message.text if is_plain else parts, "tool_calls": calls or None,
        "tool_call_id": message.tool_call_id,
    }  # fmt: skip
    return {name: value for name, value in found.items() if value is not None}


def _usage(sent: int | None, received: int | None) -> dict[str, int]:
    return {"input_tokens": sent or 0, "output_tokens": received or 0, "total_tokens": (sent or 0) + (received or 0)}


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
