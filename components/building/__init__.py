"""Tools built on demand: after a refusal, or when an agent requests one.

Source: Zheng et al. 2024, arXiv 2412.09529, "automated tool building" (``simulated``); ``code`` is our own.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from components.building.specification import read_reply
from components.building.tools import FIELDS, NAME, Building, BuildTool, Mode
from components.core.errors import ConfigError, ToolError
from components.core.messages import Message, continued
from components.core.protocols import Episode
from components.core.tools import Offer
from components.core.traits import Requirements
from components.core.types import Action, Observed, Refusal, Trajectory
from components.prompts import load

_DECLINED = re.compile(r"\s*+(?:```\w*+)?\s*+\{\s*+\}\s*+(?:```)?\s*+")  # as the prompt defines: no function can do it
CONTROL = "build"  # the builder on the toolset's side, which knows what is missing


@dataclass(frozen=True, kw_only=True)
class BuildsTools:
    """The base of agents that may have tools built. ``build_tools`` simulated: after a refusal it requests the tool in
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
        """Raises ConfigError where the simulated builder is asked for and the offer has none."""
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


def beside_memory(episode: Episode, seen: Sequence[Message]) -> list[Message]:
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


def used(trajectory: Trajectory) -> Sequence[Observed]:
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
