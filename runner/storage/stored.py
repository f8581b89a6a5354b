"""Trajectories as JSON and back: the steps in one line of ``records.jsonl``."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any

import orjson

from components.core.messages import Image, Message, ToolCall, ToolSpec, Usage
from components.core.types import Action, Observation, Observed, Refusal, Step, Trajectory, Verdict
from runner.storage import schema
from runner.storage.texts import TextReader, TextWriter

_INLINE = 120  # shorter texts are in the record itself
_SPEC_FIELDS = tuple(field.name for field in fields(ToolSpec) if field.name != "name")
_lines: dict[tuple[int, ...], tuple[tuple[Any, ...], str]] = {}
_spec = lru_cache(maxsize=2_048)(orjson.loads)  # a line of an offer; those of a run have most lines in common


class Packer:
    """Writes trajectories as JSON-ready dictionaries, texts by reference."""

    def __init__(self, texts: TextWriter) -> None:
        self._texts = texts

    def offered(self, trajectory: Trajectory) -> str | None:
        """Reference to the specs of the tools: a line with all names, then one line each."""
        if not trajectory.offered:
            return None
        names = orjson.dumps([spec.name for spec in trajectory.offered]).decode()
        return self._texts.add_lines([names, *map(_line_of, trajectory.offered)])

    def _text(self, text: str) -> schema.StoredText:
        return text if len(text) < _INLINE else {"ref": self._texts.add(text)}

    def _message(self, message: Message) -> schema.StoredMessage:
        text, parts = None, None
        if isinstance(message.content, str):
            text = self._text(message.content)
        else:
            parts = [
                {"text": self._text(one)} if isinstance(one, str) else {"image": self._text(one.url)}
                for one in message.content
            ]
        out: schema.StoredMessage = _present(
            role=message.role,
            text=text,
            parts=parts,
            source=message.source or None,
            tool_calls=[_call(call) for call in message.tool_calls] or None,
            tool_call_id=message.tool_call_id,
            reasoning=self._text(message.reasoning) if message.reasoning else None,
        )
        return out

    def step(self, step: Step) -> schema.StoredStep:
        """A step with what came of it."""
        usage = step.usage
        tokens = [usage.input_tokens, usage.output_tokens, usage.cost_usd]
        if usage.cached_tokens is not None or usage.reasoning_tokens is not None:
            tokens += [usage.cached_tokens, usage.reasoning_tokens]
        calls, read = () if step.action is None else step.action.calls, None
        if (action := step.action) is not None:  # what the grammar read; the message itself is the step's reply
            read = _present(
                calls=[_call(call) for call in calls] or None,
                answer=action.answer,
                refusal=None if action.refusal is None else dict(action.refusal.grounds),
                last=action.last or None,
                purpose=action.purpose or None,
                error=action.error or None,
                error_text=action.error_text if action.error else None,
            )
        verdict: Any = self._text(step.verdict) or None if isinstance(step.verdict, str) else None
        if isinstance(step.verdict, Verdict):  # its fields are the keys; keys of JSON are texts
            verdict = {**vars(step.verdict), "picks": {str(n): pick for n, pick in step.verdict.picks.items()}}
        out: schema.StoredStep = _present(
            purpose=step.purpose, role=step.role, branch=step.branch, n=step.index, kept=step.kept,
            asked=[self._message(m) for m in step.asked], reply=self._message(step.reply), usage=tokens,
            started=round(step.started, 4), seconds=round(step.seconds, 4),
            finish=None if step.finish == "stop" else step.finish,
            committed=None if step.committed else False,
            verdict=verdict,
            remarks=step.remarks or None,
            action=read,
            observed=[self._observed(one, calls) for one in step.observed] or None,
            tried=[self._observed(one, calls) for one in step.tried] or None,
        )  # fmt: skip
        return out

    def _observed(self, observed: Observed, calls: Sequence[ToolCall]) -> schema.StoredObserved:
        """An observation; its call is a number where it is one of the action's."""
        call, observation = observed.call, observed.observation
        out: schema.StoredObserved = _present(
            call=calls.index(call) if call in calls else _call(call),
            text=self._text(observation.text),
            seconds=round(observed.seconds, 4),
            data=observation.data or None,
            images=[self._text(image.url) for image in observation.images] or None,
            error=observed.error or None,
            control=observed.control or None,
        )
        return out


def _present(**values: Any) -> Any:
    """A JSON object of the values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def _line_of(spec: ToolSpec) -> str:
    """A spec without its name as one line of JSON; made once per tool, whatever it is called in an offer."""
    key = (id(spec.description), id(spec.parameters), id(spec.card), id(spec.facts))
    if key not in _lines:
        if len(_lines) > 8_192:
            _lines.clear()
        values = {name: getattr(spec, name) for name in _SPEC_FIELDS}
        _lines[key] = (tuple(values.values()), orjson.dumps(values).decode())  # the values are kept for their ids
    return _lines[key][1]


def _call(call: ToolCall) -> schema.StoredCall:
    return [call.id, call.name, call.arguments]


class Unpacker:
    """Rebuilds trajectories from records."""

    def __init__(self, texts: TextReader) -> None:
        self._texts = texts

    def trajectory(self, record: schema.Record) -> Trajectory:
        """The trajectory of a record, equal to the one that was scored."""
        refusal = record.get("refusal")
        return Trajectory(
            steps=[self._step(step) for step in record["steps"]],
            offered=tuple(ToolSpec(**spec) for spec in self._offer(record)),
            facts=record.get("facts") or {},
            stop=record["stop"],
            answer=record["answer"],
            refusal=None if refusal is None else Refusal(refusal),
            failure=record["failure"],
            error=record["error"],
        )

    def tools(self, record: schema.Record) -> dict[str, Mapping[str, Any]]:
        """Name -> facts of the tools that were offered."""
        return {spec["name"]: spec["facts"] for spec in self._offer(record)}

    def _offer(self, record: schema.Record) -> list[dict[str, Any]]:
        """The specs of an offer; in earlier versions without a line of names, each name in its spec."""
        if not (name := record.get("offered")):
            return []
        first, *lines = self._texts.lines(name)
        if isinstance(names := orjson.loads(first), dict):
            return [names, *map(_spec, lines)]
        return [{"name": name, **_spec(line)} for name, line in zip(names, lines, strict=True)]

    def text(self, value: schema.StoredText) -> str:
        """A text that is in the record or referred to."""
        return value if isinstance(value, str) else self._texts[value["ref"]]

    def verdict(self, stored: schema.StoredText | schema.StoredVerdict) -> Verdict | str:
        """A verifier's verdict; of a verifier that does not choose, and in older records, a text."""
        if isinstance(stored, str) or "ref" in stored:
            return self.text(stored)
        picks = {int(n): pick for n, pick in stored["picks"].items()}
        return Verdict(stored["verifier"], stored["kind"], stored["chosen"], stored["of"], stored["why"], picks)

    def message(self, stored: schema.StoredMessage) -> Message:
        """One message."""
        parts = tuple(
            self.text(part["text"]) if "text" in part else Image(self.text(part["image"]))
            for part in stored.get("parts", ())
        )
        return Message(
            stored["role"],
            self.text(stored["text"]) if "text" in stored else parts,
            tuple(ToolCall(*call) for call in stored.get("tool_calls", ())),
            stored.get("tool_call_id"),
            stored.get("source"),
            self.text(stored["reasoning"]) if "reasoning" in stored else None,
        )

    def _step(self, stored: schema.StoredStep) -> Step:
        reply = self.message(stored["reply"])
        action = None
        if (read := stored.get("action")) is not None:
            action = Action(
                reply,
                tuple(ToolCall(*call) for call in read.get("calls", ())),
                read.get("answer"),
                Refusal(read["refusal"]) if "refusal" in read else None,
                read.get("last", False),
                read.get("purpose", ""),
                read.get("error"),
                read.get("error_text", ""),
            )
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

    def _observed(self, stored: Sequence[schema.StoredObserved], calls: Sequence[ToolCall]) -> list[Observed]:
        return [
            Observed(
                calls[one["call"]] if isinstance(one["call"], int) else ToolCall(*one["call"]),
                Observation(self.text(one["text"]), one.get("data", {}), images),
                one.get("error"),
                one["seconds"],
                one.get("control", False),
            )
            for one in stored
            for images in [tuple(Image(self.text(url)) for url in one.get("images", ()))]
        ]
