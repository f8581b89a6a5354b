"""Tool calls: lookup, arguments, effects; a call of an external tool is journalled like a call of a model."""

import asyncio
import inspect
import time
from collections.abc import Collection, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from hashlib import sha256
from typing import Any, NamedTuple

import orjson

from components.core.errors import ModelError, ToolError
from components.core.messages import Image, Message, Purpose, Sampling, ToolCall
from components.core.tools import Offer, State, Tool, tool_of
from components.core.traits import ToolTraits, declared, innermost
from components.core.types import Observation, Observed, Problem
from runner.episode.shared import Branch
from runner.storage.texts import without_surrogates


class Context(NamedTuple):
    """What a tool gets besides its arguments. ``ahead``: calls of the same tool before this one in its step."""

    state: State
    problem: Problem
    branch: Branch
    call: ToolCall
    line: str
    ahead: int = 0

    @property
    def episode(self) -> tuple[str, int]:
        """Sample and epoch, also of separate episodes within it."""
        return self.problem.id, self.branch.shared.epoch

    @property
    def past(self) -> Sequence[Observed]:
        """The observations of this line's earlier calls of the same name, in their order."""
        steps = (step.observed for step in self.branch.trajectory.steps if step.branch == self.line)
        return [one for seen in (*steps, self.branch.early) for one in seen if one.call.name == self.call.name]

    @property
    def number(self) -> int:
        """The number of earlier calls of the same name on this line, in earlier steps and in this one."""
        return len(self.past) + self.ahead

    def use(self, tool: Tool, arguments: Mapping[str, Any] | None = None) -> Coroutine[Any, Any, Observation]:
        """Run a tool on this call, journalled where it is external; a tool that wraps another one calls it so."""
        if tool.effect == "external" and declared(tool, ToolTraits).wrapped is None:
            return _external(tool, self)
        return apply(tool, self, self.call.parsed if arguments is None else arguments)

    async def wait(self, seconds: float) -> None:
        """Wait, unless this is a replay, or the recorded beginning of a fork."""
        shared = self.branch.shared
        if not shared.door.replay and shared.fork.is_live(self.line):
            await asyncio.sleep(seconds)

    async def ask(
        self, messages: Sequence[Message], purpose: Purpose = "tool", sampling: Sampling | None = None,
        role: str = "tool",
    ) -> Message:  # fmt: skip
        """Ask a model through the door. Raises ToolError when it takes no images and there is one."""
        if any(not isinstance(message.content, str) for message in messages) and not self.branch.takes_images(role):
            raise ToolError("The model behind this tool takes no images.", "unavailable")
        line = self.branch
        if purpose != "tool":  # work of its own, between this step and the next
            line = line.branch(f"{purpose}/{line.last.index}")
        return await line.ask(messages, purpose, sampling, role)

    @property
    def offered(self) -> Collection[str]:
        """The names of the tools now."""
        return self.branch.offer.tools.keys()

    def add(self, tool: Tool) -> None:
        """Offer one more tool, also in the trajectory. Raises ToolError."""
        branch, name = self.branch, tool.spec.name
        if name in branch.offer.tools:
            raise ToolError(f"There is a tool {name!r} already.", "name_taken")
        branch.offer = replace(branch.offer, tools={**branch.offer.tools, name: tool})
        branch.shared.add(branch.name, tool)


async def run_calls(branch: Branch, step: int, calls: Sequence[ToolCall], offer: Offer, line: str) -> list[Observed]:
    """Run the calls that a ``line`` made in a step: in order where one changes the sample's state, else together."""
    if len(calls) == 1:
        return [await _run_one(branch, calls[0], offer, line, 0)]
    effects = {offer.tools[call.name].effect for call in calls if call.name in offer.tools}
    names = [call.name for call in calls]
    places = [(line, names[:n].count(name)) for n, name in enumerate(names)]
    if "episode" not in effects:
        lines = [branch.branch(f"call/{step}/{n}") for n in range(len(calls))]
        each = zip(lines, calls, places, strict=True)
        return list(await asyncio.gather(*(_run_one(one, call, offer, *place) for one, call, place in each)))
    return [await _run_one(branch, call, offer, *place) for call, place in zip(calls, places, strict=True)]


async def _run_one(branch: Branch, call: ToolCall, offer: Offer, line: str, ahead: int) -> Observed:
    """Run one call; a ToolError's text becomes the observation. A tool asks its model on ``branch``."""
    started, fork, tool = time.monotonic(), branch.shared.fork, offer.tools.get(call.name)
    is_external = tool is not None and tool.effect == "external"
    if is_external and (recorded := fork.recorded_result(line, call, ahead)) is not None:
        with suppress(ToolError):  # one that was refused did not reach the tool
            _note(innermost(tool_of(offer, call)[0]), offer.state, recorded)
        return recorded
    context = Context(offer.state, branch.problem, branch, call, line, ahead)
    try:
        observation, error = _encodable_observation(await context.use(*tool_of(offer, call))), None
    except ToolError as failure:
        observation, error = _encodable_observation(Observation(str(failure), data=failure.data)), failure.label
    return Observed(call, observation, error, time.monotonic() - started)


def _note(tool: Tool, state: State, made: Observed) -> None:
    """Let a tool know of a call that was answered in its place."""
    if (note := declared(tool, ToolTraits).note_recorded) is not None:
        note(state, made)


@cache
def _is_async(kind: type[Tool]) -> bool:
    return inspect.iscoroutinefunction(kind.__call__)


async def apply(tool: Tool, context: Context, arguments: Mapping[str, Any]) -> Observation:
    """Call a tool or control; a blocking one runs outside the event loop. SystemExit in a tool is a bug."""
    try:
        if not _is_async(type(tool)):
            return await asyncio.to_thread(tool, context, **arguments)  # type: ignore[arg-type]
        return await tool(context, **arguments)
    except SystemExit as end:  # raised in a task of its own it would end the loop
        raise RuntimeError(f"the tool {tool.spec.name} raised SystemExit: {end.code}") from end


def _encodable_observation(observation: Observation) -> Observation:
    """The observation without lone surrogates, which no file and no endpoint takes."""
    try:
        orjson.dumps([observation.text, observation.data])
    except TypeError:
        return observation._replace(text=without_surrogates(observation.text), data=_encodable(observation.data))
    return observation


def _encodable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_encodable(k): _encodable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(v) for v in value]
    return without_surrogates(value) if isinstance(value, str) else value


async def _external(tool: Tool, context: Context) -> Observation:
    """Answer a tool call from the journal, or run it and record its result or its error. Raises ToolError as it did.
    That a service was unavailable is known to replays alone: a run asks again."""
    branch, call = context.branch, context.call
    shared = branch.shared
    door, sample, seen = shared.door, shared.sample, shared.externals
    what = f"tool\0{tool.spec.digest.hex()}\0{declared(tool, ToolTraits).identity}\0{call.arguments}"
    base = f"{what}\0{door.run_seed}\0{sample.problem.id}\0{shared.epoch}\0{branch.name}"
    occurrence = seen[base] = seen.get(base, -1) + 1
    key = sha256(f"{base}\0{occurrence}".encode()).digest()
    outage = sha256(key).digest()
    payload = None if door.journal is None else door.journal.get(key)
    if payload is None and door.journal is not None and door.replay:
        payload = door.journal.get(outage)
    entry: Mapping[str, Any]
    if payload is not None:
        entry = orjson.loads(payload)
    elif door.replay:
        raise ModelError(f"sample {sample.problem.id!r}: the call of {call.name} is not in the journal", "replay_miss")
    else:
        try:
            observation = _encodable_observation(await apply(tool, context, call.parsed))
            entry = {"text": observation.text, "data": observation.data, "images": [i.url for i in observation.images]}
        except ToolError as failure:
            observation = _encodable_observation(Observation(str(failure), failure.data))
            entry = {"text": observation.text, "data": observation.data, "error": failure.label}
        if door.journal is not None:
            at = outage if entry.get("error") == "unavailable" else key
            door.journal.put(at, orjson.dumps({"tool": call.name, **entry}))
    error = entry.get("error")
    observation = Observation(entry["text"], entry["data"], tuple(Image(url) for url in entry.get("images", ())))
    if payload is not None:
        _note(tool, context.state, Observed(call, observation, error))
    if error is not None:
        raise ToolError(observation.text, error, observation.data)
    return observation
