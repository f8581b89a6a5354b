"""Trajectories as JSON and back: the steps in one line of ``records.jsonl``."""

from collections.abc import Iterable, Mapping, Sequence
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
        self._offer: tuple[tuple[ToolSpec, ...], list[str]] = (), []  # the last one, and its lines

    def offered(self, trajectory: Trajectory) -> str | None:
        """Reference to the specs of the tools: a line with all names, then one line each."""
        if not trajectory.offered:
            return None
        if self._offer[0] != trajectory.offered:
            names = orjson.dumps([spec.name for spec in trajectory.offered]).decode()
            self._offer = trajectory.offered, [names, *map(_line_of, trajectory.offered)]
        return self._texts.add_lines(self._offer[1])

    def _text(self, text: str) -> schema.StoredText:
        return text if len(text) < _INLINE else {"ref": self._texts.add(text)}

    def _message(self, message: Message) -> schema.StoredMessage:
        out: schema.StoredMessage = {"role": message.role}
        if isinstance(message.content, str):
            out["text"] = self._text(message.content)
        else:
            out["parts"] = [
                {"text": self._text(one)} if isinstance(one, str) else {"image": self._text(one.url)}
                for one in message.content
            ]
        if message.source:
            out["source"] = message.source
        if message.tool_calls:
            out["tool_calls"] = [_call(call) for call in message.tool_calls]
        if message.tool_call_id is not None:
            out["tool_call_id"] = message.tool_call_id
        if message.reasoning:
            out["reasoning"] = self._text(message.reasoning)
        return out

    def step(self, step: Step) -> schema.StoredStep:
        """A step with what came of it."""
        sent, received, cost, cached, reasoning = step.usage
        known = cached is not None or reasoning is not None
        calls = () if step.action is None else step.action.calls
        out: schema.StoredStep = {
            "purpose": step.purpose, "role": step.role, "branch": step.branch, "n": step.index, "kept": step.kept,
            "asked": [self._message(m) for m in step.asked], "reply": self._message(step.reply),
            "usage": [sent, received, cost, cached, reasoning] if known else [sent, received, cost],
            "started": _rounded(step.started), "seconds": _rounded(step.seconds),
        }  # fmt: skip
        if step.finish != "stop":
            out["finish"] = step.finish
        if not step.committed:
            out["committed"] = False
        if step.verdict:
            out["verdict"] = self._verdict(step.verdict)
        if step.remarks:
            out["remarks"] = step.remarks
        if step.action is not None:
            out["action"] = _action(step.action)
        if step.observed:
            out["observed"] = [self._observed(one, calls) for one in step.observed]
        if step.tried:
            out["tried"] = [self._observed(one, calls) for one in step.tried]
        return out

    def _verdict(self, verdict: Verdict | str) -> schema.StoredText | schema.StoredVerdict:
        if isinstance(verdict, str):
            return self._text(verdict)
        picks = {str(n): pick for n, pick in verdict.picks.items()}  # keys of JSON are texts
        return {"verifier": verdict.verifier, "kind": verdict.kind, "chosen": verdict.chosen, "of": verdict.of,
                "why": verdict.why, "picks": picks}  # fmt: skip

    def _observed(self, observed: Observed, calls: Sequence[ToolCall]) -> schema.StoredObserved:
        """An observation; its call is a number where it is one of the action's."""
        call, observation = observed.call, observed.observation
        out: schema.StoredObserved = {
            "call": calls.index(call) if call in calls else _call(call),
            "text": self._text(observation.text),
            "seconds": _rounded(observed.seconds),
        }
        if observation.data:
            out["data"] = observation.data
        if observation.images:
            out["images"] = [self._text(image.url) for image in observation.images]
        if observed.error:
            out["error"] = observed.error
        if observed.control:
            out["control"] = True
        return out


def _rounded(seconds: float) -> float:
    """To 0.1 ms; ``round`` writes the number as text and reads it again."""
    return int(seconds * 1e4 + 0.5) / 1e4


def _action(action: Action) -> schema.StoredAction:
    """What the grammar read; the message itself is the step's reply."""
    out: schema.StoredAction = {}
    if action.calls:
        out["calls"] = [_call(call) for call in action.calls]
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
            offered=tuple(ToolSpec(**{**spec, "name": name}) for name, spec in self._offer(record.get("offered"))),
            facts=record.get("facts") or {},
            stop=record["stop"],
            answer=record["answer"],
            refusal=None if refusal is None else Refusal(refusal),
            failure=record["failure"],
            error=record["error"],
        )

    def facts(self, offer: str | None) -> Iterable[tuple[str, Mapping[str, Any]]]:
        """Name and facts of the tools of an offer, by its reference."""
        return ((name, spec["facts"]) for name, spec in self._offer(offer))

    def _offer(self, offer: str | None) -> Iterable[tuple[str, dict[str, Any]]]:
        """The specs of an offer by name; in earlier versions without a line of names, each name in its spec."""
        if not offer:
            return ()
        first, *lines = self._texts.lines(offer)
        names, specs = orjson.loads(first), list(map(_spec, lines))
        if isinstance(names, dict):
            specs = [names, *specs]
            names = [spec["name"] for spec in specs]
        return zip(names, specs, strict=True)

    def text(self, value: schema.StoredText) -> str:
        """A text that is in the record or referred to."""
        return value if isinstance(value, str) else self._texts[value["ref"]]

    def verdict(self, stored: schema.StoredText | schema.StoredVerdict) -> Verdict | str:
        """A verifier's verdict; of a verifier that does not choose, and in older records, a text."""
        if isinstance(stored, str) or "ref" in stored:
            return self.text(stored)
        return self.choice(stored)

    @staticmethod
    def choice(stored: schema.StoredVerdict) -> Verdict:
        """The verdict of a verifier that chooses."""
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
