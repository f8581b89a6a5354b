"""Trajectories as JSON and back: what one line of ``records.jsonl`` says of the steps."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any

import orjson

from components.core.messages import Image, Message, ToolCall, ToolSpec, Usage
from components.core.types import Action, Observation, Observed, Refusal, Step, Trajectory, Verdict
from runner.storage.schema import (
    Record,
    StoredAction,
    StoredMessage,
    StoredObserved,
    StoredPart,
    StoredStep,
    StoredText,
    StoredVerdict,
)
from runner.storage.texts import TextReader, TextWriter

_INLINE = 120  # shorter texts stand in the record itself


class Packer:
    """Writes trajectories as JSON-ready dictionaries, texts by reference."""

    def __init__(self, texts: TextWriter) -> None:
        self._texts = texts

    def steps(self, trajectory: Trajectory) -> list[StoredStep]:
        """All steps in their stored order."""
        return [self._step(step) for step in trajectory.steps]

    def offered(self, trajectory: Trajectory) -> str | None:
        """Reference to the specs of the tools: a line with all names, then one line each."""
        if not trajectory.offered:
            return None
        names = orjson.dumps([spec.name for spec in trajectory.offered]).decode()
        return self._texts.add_lines([names, *[stored_spec(spec) for spec in trajectory.offered]])

    def _text(self, text: str) -> StoredText:
        return text if len(text) < _INLINE else {"ref": self._texts.add(text)}

    def _message(self, message: Message) -> StoredMessage:
        out: StoredMessage = {"role": message.role}
        if isinstance(message.content, str):
            out["text"] = self._text(message.content)
        else:
            out["parts"] = [self._part(part) for part in message.content]
        if message.source:
            out["source"] = message.source
        if message.tool_calls:
            out["tool_calls"] = [[c.id, c.name, c.arguments] for c in message.tool_calls]
        if message.tool_call_id is not None:
            out["tool_call_id"] = message.tool_call_id
        if message.reasoning:
            out["reasoning"] = self._text(message.reasoning)
        return out

    def _part(self, part: str | Image) -> StoredPart:
        return {"text": self._text(part)} if isinstance(part, str) else {"image": self._text(part.url)}

    def _step(self, step: Step) -> StoredStep:
        usage = step.usage
        tokens: list[float | None] = [usage.input_tokens, usage.output_tokens, usage.cost_usd]
        if usage.cached_tokens is not None or usage.reasoning_tokens is not None:
            tokens += [usage.cached_tokens, usage.reasoning_tokens]
        out: StoredStep = {
            "purpose": step.purpose, "role": step.role, "branch": step.branch, "n": step.index, "kept": step.kept,
            "asked": [self._message(m) for m in step.asked], "reply": self._message(step.reply),
            "usage": tokens,
            "started": round(step.started, 4), "seconds": round(step.seconds, 4),
        }  # fmt: skip
        if step.finish != "stop":
            out["finish"] = step.finish
        if not step.committed:
            out["committed"] = False
        if step.verdict:
            out["verdict"] = self._text(step.verdict) if isinstance(step.verdict, str) else _verdict(step.verdict)
        if step.remarks:
            out["remarks"] = step.remarks
        if step.action is not None:
            out["action"] = _action(step.action)
        calls = () if step.action is None else step.action.calls
        if step.observed:
            out["observed"] = [self._observed(one, calls) for one in step.observed]
        if step.tried:
            out["tried"] = [self._observed(one, calls) for one in step.tried]
        return out

    def _observed(self, one: Observed, calls: Sequence[ToolCall]) -> StoredObserved:
        """One observation; its call is a number where it is one of the action's."""
        call = one.call
        out: StoredObserved = {
            "call": calls.index(call) if call in calls else [call.id, call.name, call.arguments],
            "text": self._text(one.observation.text),
            "seconds": round(one.seconds, 4),
        }
        if one.observation.data:
            out["data"] = one.observation.data
        if one.observation.images:
            out["images"] = [self._text(image.url) for image in one.observation.images]
        if one.error:
            out["error"] = one.error
        if one.control:
            out["control"] = True
        return out


def _verdict(verdict: Verdict) -> StoredVerdict:
    """A verdict; keys of JSON are texts."""
    return {
        "verifier": verdict.verifier,
        "kind": verdict.kind,
        "chosen": verdict.chosen,
        "of": verdict.of,
        "why": verdict.why,
        "picks": {str(n): pick for n, pick in verdict.picks.items()},
    }


def _action(action: Action) -> StoredAction:
    """What the grammar read; the message itself is the step's reply."""
    out: StoredAction = {}
    if action.calls:
        out["calls"] = [[c.id, c.name, c.arguments] for c in action.calls]
    if action.answer is not None:
        out["answer"] = action.answer
    if action.refusal is not None:
        out["refusal"] = dict(action.refusal.grounds)
    if action.last:
        out["last"] = True
    if action.purpose:
        out["purpose"] = action.purpose
    if action.error:
        out["error"], out["error_text"] = action.error, action.error_text
    return out


_SPEC_FIELDS = tuple(field.name for field in fields(ToolSpec) if field.name != "name")
_SPECS: dict[tuple[int, ...], tuple[tuple[Any, ...], str]] = {}


def stored_spec(spec: ToolSpec) -> str:
    """A spec without its name as one line of JSON; made once per tool, whatever it is called in an offer."""
    key = (id(spec.description), id(spec.parameters), id(spec.card), id(spec.facts))
    found = _SPECS.get(key)
    if found is None:
        if len(_SPECS) > 8_192:
            _SPECS.clear()
        told = {name: getattr(spec, name) for name in _SPEC_FIELDS}
        found = _SPECS[key] = (tuple(told.values()), orjson.dumps(told).decode())  # held, so that ids stay theirs
    return found[1]


def _specs(lines: Sequence[str]) -> Iterator[ToolSpec]:
    """The specs of an offer; records of before had no line of names and each name in its spec."""
    first = orjson.loads(lines[0])
    if isinstance(first, list):
        for name, line in zip(first, lines[1:], strict=True):
            yield ToolSpec(name, **_told(line))
    else:
        for line in lines:
            yield ToolSpec(**orjson.loads(line))


@lru_cache(maxsize=2_048)
def _told(line: str) -> dict[str, Any]:
    """What a line says of a tool; the offers of a run have most lines in common."""
    found: dict[str, Any] = orjson.loads(line)
    return found


class Unpacker:
    """Rebuilds trajectories from records."""

    def __init__(self, texts: TextReader) -> None:
        self._texts = texts

    def trajectory(self, record: Record) -> Trajectory:
        """The trajectory of a record, equal to the one that was scored."""
        refusal = record.get("refusal")
        return Trajectory(
            steps=[self._step(step) for step in record["steps"]],
            offered=tuple(_specs(self._texts.lines(offered))) if (offered := record.get("offered")) else (),
            facts=record.get("facts") or {},
            stop=record["stop"],
            answer=record["answer"],
            refusal=None if refusal is None else Refusal(refusal),
            failure=record["failure"],
            error=record["error"],
        )

    def tools(self, record: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
        """Name -> facts of the tools that were offered."""
        if not record.get("offered"):
            return {}
        first, *lines = self._texts.lines(record["offered"])
        names = orjson.loads(first)
        told = [_told(line) for line in (lines if isinstance(names, list) else (first, *lines))]
        if not isinstance(names, list):  # records of before had each name in its spec
            names = [one["name"] for one in told]
        return {name: one["facts"] for name, one in zip(names, told, strict=True)}

    def text(self, value: str | Mapping[str, str]) -> str:
        """A text that stands in the record or is referred to."""
        return value if isinstance(value, str) else self._texts[value["ref"]]

    def verdict(self, stored: str | Mapping[str, Any]) -> Verdict | str:
        """A verifier's verdict; of a verifier that does not choose, and in older records, a text."""
        if isinstance(stored, str) or "ref" in stored:
            return self.text(stored)
        return Verdict(**{**stored, "picks": {int(n): pick for n, pick in stored["picks"].items()}})

    def message(self, stored: Mapping[str, Any]) -> Message:
        """One message."""
        reasoning = stored.get("reasoning")
        return Message(
            stored["role"],
            self.text(stored["text"]) if "text" in stored else tuple(self._part(part) for part in stored["parts"]),
            tuple(ToolCall(*call) for call in stored.get("tool_calls", ())),
            stored.get("tool_call_id"),
            stored.get("source"),
            None if reasoning is None else self.text(reasoning),
        )

    def _part(self, stored: Mapping[str, Any]) -> str | Image:
        return self.text(stored["text"]) if "text" in stored else Image(self.text(stored["image"]))

    def _step(self, stored: Mapping[str, Any]) -> Step:
        reply = self.message(stored["reply"])
        action = None if stored.get("action") is None else self._action(stored["action"], reply)
        calls = () if action is None else action.calls
        return Step(
            stored["purpose"], stored["role"], stored["branch"], stored["n"], stored["kept"],
            [self.message(m) for m in stored["asked"]], reply, Usage(*stored["usage"]),
            stored.get("finish", "stop"), stored["started"], stored["seconds"],
            action=action,
            committed=stored.get("committed", True),
            verdict=self.verdict(stored.get("verdict", "")),
            observed=self._observed(stored.get("observed", ()), calls),
            tried=self._observed(stored.get("tried", ()), calls),
            remarks=stored.get("remarks", {}),
        )  # fmt: skip

    def _action(self, stored: Mapping[str, Any], reply: Message) -> Action:
        refusal = stored.get("refusal")
        return Action(
            reply,
            tuple(ToolCall(*call) for call in stored.get("calls", ())),
            stored.get("answer"),
            None if refusal is None else Refusal(refusal),
            stored.get("last", False),
            stored.get("purpose", ""),
            stored.get("error"),
            stored.get("error_text", ""),
        )

    def _observed(self, stored: Sequence[Mapping[str, Any]], calls: Sequence[ToolCall]) -> list[Observed]:
        return [
            Observed(
                calls[one["call"]] if isinstance(one["call"], int) else ToolCall(*one["call"]),
                Observation(
                    self.text(one["text"]),
                    one.get("data", {}),
                    tuple(Image(self.text(url)) for url in one.get("images", ())),
                ),
                one.get("error"),
                one["seconds"],
                one.get("control", False),
            )
            for one in stored
        ]
