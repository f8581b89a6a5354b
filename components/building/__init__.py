"""Tools built on demand, after a refusal or when an agent requests one: the tool that requests a tool, its builder, who
repairs code that fails in the sandbox, and the built tools.

Source: Zheng et al. 2024, arXiv 2412.09529, "automated tool building" (``simulated``); ``code`` is our own.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Gt

from components.building.specification import LABEL, Specification, read, read_reply, schema_error
from components.building.testing import Verdict, fits, run_call, verdict_on
from components.core.errors import ConfigError, ToolError
from components.core.messages import Message, ToolSpec, continued
from components.core.protocols import Episode
from components.core.tools import Context, Effect, Offer
from components.core.traits import PromptSetName, Requirements, ToolTraits
from components.core.types import Action, Observation, Observed, Refusal, Trajectory
from components.prompts import load
from components.sandbox import Sandbox

NAME = "BuildTool"
_PARAMETERS: Mapping[str, Any] = json.loads(Path(__file__).with_name("build_tool.json").read_text(encoding="utf-8"))
FIELDS: Sequence[str] = _PARAMETERS["required"]
Mode = Literal["none", "simulated", "code"]
ROLE = "builder"
_FENCE = re.compile(r"```(?:python|py)?[ \t]*\n(.*?)```", re.DOTALL | re.IGNORECASE)
_ENDS = ("finish", "refuse")  # what grammars call the actions that end an episode


@dataclass(frozen=True)
class Building:
    """How tools are built: by the model of the role ``builder`` (``models.builder``, else the agent's own). Code that
    fails is repaired up to ``repairs`` times, with the reason. The builder is not shown the last ``held_back`` examples
    as long as two are left. A call of its code may take ``seconds``."""

    sandbox: Sandbox = field(default_factory=Sandbox)
    prompts: PromptSetName = "building"
    repairs: Annotated[int, Ge(0)] = 2
    held_back: Annotated[int, Ge(0)] = 1
    seconds: Annotated[float, Gt(0)] = 5.0

    @cached_property
    def limited_sandbox(self) -> Sandbox:
        """The sandbox with the time limits of built tools."""
        limits = self.sandbox.limits
        wall, cpu = (min(most, self.seconds) for most in (limits.wall_seconds, limits.cpu_seconds))
        return replace(self.sandbox, limits=replace(limits, wall_seconds=wall, cpu_seconds=cpu))

    async def build(self, spec: Specification, context: Context) -> Verdict:
        """Have a tool written until it passes or no repair is left. Raises LimitReached, ModelError."""
        prompts = load(self.prompts)
        hidden = max(0, min(self.held_back, len(spec.examples) - 2))
        shown = spec.examples[: len(spec.examples) - hidden]
        cases = [(json.dumps(one.input), json.dumps(one.output)) for one in shown]
        schema = json.dumps(spec.parameters)
        request = prompts.user("build", name=spec.name, description=spec.description, parameters=schema, cases=cases)
        messages = [prompts.system("builder"), request]
        for attempts in count(1):
            reply = await context.ask(messages, "build", role=ROLE)
            fenced = _FENCE.findall(reply.text)  # the last block counts
            found: str = fenced[-1] if fenced else reply.text if "def " in reply.text else ""
            code = found.encode("utf-8", "replace").decode().strip()
            verdict = Verdict("the reply holds no code")
            if code:
                verdict = await verdict_on(code, spec, self.limited_sandbox, hidden)
            if verdict.passed or attempts > self.repairs:
                break
            messages += [reply, prompts.user("repair", reason=verdict.reason)]
        return replace(verdict, code=code, attempts=attempts)


@dataclass(frozen=True)
class BuiltTool:
    """A tool that a builder wrote in this episode; every call runs its code in a separate process. Output: the
    function's value as JSON, ``data.value`` the same. Raises ToolError (bad_arguments, built_tool_failed)."""

    specification: Specification
    code: str
    sandbox: Sandbox
    effect: Effect = "pure"

    @property
    def spec(self) -> ToolSpec:
        """The model sees what it specified itself."""
        wanted = self.specification
        return ToolSpec(wanted.name, wanted.description, wanted.parameters, facts={"built": True})

    async def __call__(self, context: Context, /, **arguments: Any) -> Observation:
        """Call the function. Raises ToolError, ModelError (sandbox)."""
        wanted = self.specification
        if wrong := schema_error(wanted.parameters, arguments):
            raise ToolError(f"{wanted.name}: {wrong}.", "bad_arguments", {"built": True})
        result = await run_call(self.code, wanted.name, arguments, self.sandbox)
        if "error" in result or not fits(result["output"], wanted):
            wrong = result.get("error", f"it gave what is no {wanted.output}")
            raise ToolError(f"{wanted.name} failed: {wrong}", "built_tool_failed", {"built": True})
        return Observation(json.dumps(result["output"]), {"built": True, "value": result["output"]})


@dataclass(frozen=True)
class BuildTool:
    """Takes a specification, has it built and tested, and offers the tool for the rest of the episode. A specification
    or a tool that is not good enough is an observation with the reason, never a failed call. ``data.build`` holds
    ``mode``, ``name``, ``specified``, ``passed``, ``reason``, ``attempts``, ``checked``, ``code``."""

    building: Building
    effect: Effect = "episode"
    traits: ClassVar[ToolTraits] = ToolTraits(triable=False)  # a trial costs as much as a call

    @property
    def prompts(self) -> str:
        """The prompt set of this tool and of the builder."""
        return self.building.prompts

    @property
    def spec(self) -> ToolSpec:
        """What the model sees."""
        return ToolSpec(NAME, load(self.prompts).render("offered"), _PARAMETERS)

    async def __call__(self, context: Context, /, **given: Any) -> Observation:
        """Build a tool. Raises LimitReached, ModelError."""
        prompts = load(self.prompts)
        try:
            wanted = read(given)
            if (name := wanted.name.casefold()) in _ENDS or name in map(str.casefold, context.offered):
                raise ToolError(f"there is a tool {wanted.name} already; name it otherwise, or use that one", LABEL)
        except ToolError as refused:
            facts = Verdict(str(refused)).facts(str(given.get("name"))[:64], specified=False)
            return Observation(prompts.render("refused", name="", reason=str(refused)), {"build": facts})
        verdict = await self.building.build(wanted, context)
        facts = verdict.facts(wanted.name)
        if not verdict.passed:
            return Observation(prompts.render("refused", name=wanted.name, reason=verdict.reason), {"build": facts})
        tool = BuiltTool(wanted, verdict.code, self.building.limited_sandbox)
        context.add(tool)
        card = tool.spec.card_text
        return Observation(prompts.render("built", card=card), {"build": {**facts, "card": card}})


_DECLINED = re.compile(r"\s*+(?:```\w*+)?\s*+\{\s*+\}\s*+(?:```)?\s*+")  # as the prompt defines: no function can do it
CONTROL = "build"  # the builder on the toolset's side, which knows what is missing


@dataclass(frozen=True, kw_only=True)
class BuildsTools:
    """The base of agents that can request tools. ``build_tools`` simulated: after a refusal it requests the tool in
    words; a builder that knows what was removed provides it where the request is specific enough. code: ``BuildTool``
    is offered, and after a refusal the agent is asked for a specification, whose code is tested in the sandbox."""

    build_tools: Mode = "none"
    building: Building = field(default_factory=Building)

    @property
    def requirements(self) -> Requirements:
        """The tool that requests a tool, the sandbox of built ones and the builder's prompts, where tools are built."""
        if self.build_tools == "none":
            return Requirements(accepts=self.check_offer)
        writes = self.build_tools == "code"
        return Requirements(
            tools=(BuildTool(self.building),) if writes else (),
            sandbox=self.building.limited_sandbox if writes else None,
            prompts=(self.building.prompts,),
            roles=("builder",),
            facts={"build_tools": self.build_tools},
            accepts=self.check_offer,
        )

    def check_offer(self, offer: Offer) -> None:
        """Raises ConfigError if the simulated builder is requested and the offer has none."""
        if self.build_tools == "simulated" and CONTROL not in offer.controls:
            raise ConfigError(
                "agent.build_tools=simulated needs one of the conditions insufficient_config1, insufficient_config2 and"
                " insufficient_config3, whose builder knows what is missing; agent.build_tools=code works with any"
            )

    async def resumed(self, episode: Episode, messages: Sequence[Message], action: Action) -> list[Message] | None:
        """After a refusal, the messages to continue with a built tool; None where it is final. Raises LimitReached."""
        if self.build_tools == "none" or action.refusal is None:
            return None
        prompts, simulated = load(self.building.prompts), self.build_tools == "simulated"
        noted = [Message("tool", prompts.render("noted"), tool_call_id=one.id) for one in action.message.tool_calls]
        ask = prompts.user("request" if simulated else "specify", grounds=action.refusal.grounds)
        dialogue = continued([*messages, action.message, *noted], ask)
        reply = await episode.ask(dialogue, "build")
        if _DECLINED.fullmatch(reply.text):
            return None
        if simulated:
            seen = await episode.control(CONTROL, request=reply.text)
        else:
            try:
                fields = read_reply(reply.text)
            except ToolError:  # an empty specification is refused with what it must hold
                fields = {}
            seen = await episode.control(NAME, **{name: fields[name] for name in fields if name in FIELDS})
        if not seen.data["build"]["passed"]:
            return None
        return [*dialogue, reply, prompts.user("built", card=seen.data["build"]["card"])]


def outside_memory(episode: Episode, seen: Sequence[Message]) -> list[Message]:
    """Of an action's observations those that a value memory does not show: answers to native calls, failures, and
    results of building a tool or of calling a built one."""
    return [
        message
        for message, one in zip(seen, episode.last.observed, strict=False)
        if message.role == "tool" or one.error is not None or {"build", "built"} & one.observation.data.keys()
    ]


def may_build(trajectory: Trajectory) -> bool:
    """Whether tools could be built in the episode."""
    return "build_tools" in trajectory.facts


def builds(trajectory: Trajectory) -> Sequence[Mapping[str, Any]]:
    """The results of the requests, in order: the facts of a built tool, or why there is none."""
    return [one.observation.data["build"] for one in _observed(trajectory) if "build" in one.observation.data]


def built_tool_calls(trajectory: Trajectory) -> Sequence[Observed]:
    """The calls of built tools."""
    names = {spec.name for spec in trajectory.offered if spec.facts.get("built")}
    return [one for one in _observed(trajectory) if one.call.name in names]


def first_refusal(trajectory: Trajectory) -> Refusal | None:
    """The refusal that ended the episode or, where it continued with a built tool, the first one."""
    if may_build(trajectory):
        for step in trajectory.steps:
            if step.committed and step.action is not None and step.action.refusal is not None:
                return step.action.refusal
    return trajectory.refusal if trajectory.stop == "refused" else None


def _observed(trajectory: Trajectory) -> Sequence[Observed]:
    return [one for step in trajectory.steps if step.committed for one in step.observed]
