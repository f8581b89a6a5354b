"""The tool that asks for a tool, and what it adds to an episode's offer."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from components.building.specification import LABEL, Specification, fault, read
from components.building.testing import called, fits
from components.building.workshop import Building
from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect
from components.core.traits import ToolTraits
from components.core.types import Observation
from components.prompts import load
from components.sandbox import Sandbox

NAME, FIELDS = "BuildTool", ("name", "description", "parameters", "examples")
_ENDS = ("finish", "refuse")  # what grammars call the actions that end an episode
_EXAMPLE = {
    "type": "object",
    "properties": {"input": {"type": "object"}, "output": {}},
    "required": ["input", "output"],
}
_PARAMETERS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "its name: letters, digits and _"},
        "description": {"type": "string", "description": "what it does, with formula and units"},
        "parameters": {"type": "object", "description": "a JSON schema of type object"},
        "examples": {"type": "array", "items": _EXAMPLE, "description": "inputs with the outputs that are right"},
    },
    "required": [*FIELDS],
}


@dataclass(frozen=True)
class BuiltTool:
    """A tool that a builder wrote in this episode; every call runs its code in a process of its own.

    Output: the function's value as JSON, ``data.value`` the same. Raises ToolError: bad_arguments for a call that the
    schema does not allow, built_tool_failed for what the code does wrong. ``facts`` mark it as built.
    """

    specification: Specification
    code: str
    sandbox: Sandbox
    effect: Effect = "pure"

    @property
    def spec(self) -> ToolSpec:
        """The model sees what it specified itself."""
        asked = self.specification
        return ToolSpec(asked.name, asked.description, asked.parameters, facts={"built": True})

    async def __call__(self, context: Context, **arguments: Any) -> Observation:
        """Call the function. Raises ToolError, ModelError (sandbox)."""
        asked = self.specification
        if wrong := fault(asked.parameters, arguments):
            raise ToolError(f"{asked.name}: {wrong}.", "bad_arguments", {"built": True})
        result = await called(self.code, asked.name, arguments, self.sandbox)
        if "error" in result or not fits(result["output"], asked):
            wrong = result.get("error", f"it gave what is no {asked.output}")
            raise ToolError(f"{asked.name} failed: {wrong}", "built_tool_failed", {"built": True})
        return Observation(json.dumps(result["output"]), {"built": True, "value": result["output"]})


@dataclass(frozen=True)
class BuildTool:
    """Takes a specification, has it built and tested, and offers the tool for the rest of the episode.

    A specification or a tool that is not good enough is an observation with the reason, never a failed call.
    ``data.build`` holds ``mode``, ``name``, ``specified``, ``passed``, ``reason``, ``attempts``, ``checked``, ``code``.
    """

    building: Building
    effect: Effect = "episode"
    traits: ClassVar[ToolTraits] = ToolTraits(triable=False)  # to build a tool just to see is as dear as to build it

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
            asked = read(given)
            if (name := asked.name.casefold()) in _ENDS or name in map(str.casefold, context.offered):
                raise ToolError(f"there is a tool {asked.name} already; name it otherwise, or use that one", LABEL)
        except ToolError as refused:
            return Observation(
                prompts.render("refused", name="", reason=str(refused)), {"build": _refused(given, refused)}
            )
        built = await self.building.build(asked, context)
        if not built.verdict.passed:
            text = prompts.render("refused", name=asked.name, reason=built.verdict.reason)
            return Observation(text, {"build": built.facts(asked)})
        tool = BuiltTool(asked, built.code, self.building.held)
        context.add(tool)
        card = tool.spec.card_text
        return Observation(prompts.render("built", card=card), {"build": {**built.facts(asked), "card": card}})


def _refused(given: Mapping[str, Any], error: ToolError) -> Mapping[str, Any]:
    """The facts of a specification that is not built."""
    return {
        "mode": "code", "name": str(given.get("name"))[:64], "specified": False, "passed": False, "reason": str(error),
        "attempts": 0, "checked": 0, "code": "",
    }  # fmt: skip
