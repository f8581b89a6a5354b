"""The tool that requests a tool, its builder, who repairs code that fails in the sandbox, and the built tools."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Gt

from components.building.specification import LABEL, Specification, fault, read
from components.building.testing import Verdict, called, fits, verdict_on
from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect
from components.core.traits import PromptSetName, ToolTraits
from components.core.types import Observation
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

    async def __call__(self, context: Context, **arguments: Any) -> Observation:
        """Call the function. Raises ToolError, ModelError (sandbox)."""
        wanted = self.specification
        if wrong := fault(wanted.parameters, arguments):
            raise ToolError(f"{wanted.name}: {wrong}.", "bad_arguments", {"built": True})
        result = await called(self.code, wanted.name, arguments, self.sandbox)
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

    async def __call__(self, context: Context, **given: Any) -> Observation:
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
