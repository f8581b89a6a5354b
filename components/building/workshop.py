"""A builder's work: code for a specification, run against it in the sandbox, and repaired after failures."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt

from components.building.specification import Specification
from components.building.testing import Verdict, verdict_on
from components.core.tools import Context
from components.core.traits import PromptSetName
from components.prompts import load
from components.sandbox import Sandbox

Mode = Literal["none", "simulated", "code"]
ROLE = "builder"
_FENCE = re.compile(r"```(?:python|py)?[ \t]*\n(.*?)```", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class Built:
    """What a builder's work led to: the code written last, its verdict, and how often code was written."""

    code: str
    verdict: Verdict
    attempts: int

    def facts(self, spec: Specification) -> Mapping[str, Any]:
        """The same for records."""
        return {
            "mode": "code", "name": spec.name, "specified": True, "passed": self.verdict.passed,
            "reason": self.verdict.reason, "attempts": self.attempts, "checked": self.verdict.checked,
            "code": self.code,
        }  # fmt: skip


@dataclass(frozen=True)
class Building:
    """How tools are built: by the model of the role ``builder`` (``models.builder``, else the agent's own).

    Code that fails is repaired up to ``repairs`` times from what it did wrong. The builder is not shown the last
    ``held_back`` examples as long as two are left. A call of its code may take ``seconds``.
    """

    sandbox: Sandbox = field(default_factory=Sandbox)
    prompts: PromptSetName = "building"
    repairs: Annotated[int, Ge(0)] = 2
    held_back: Annotated[int, Ge(0)] = 1
    seconds: Annotated[float, Gt(0)] = 5.0

    @cached_property
    def held(self) -> Sandbox:
        """The sandbox, with less time for a cell than questions have."""
        limits, most = self.sandbox.limits, self.seconds
        cpu = min(limits.cpu_seconds, most)
        return replace(
            self.sandbox, limits=replace(limits, wall_seconds=min(limits.wall_seconds, most), cpu_seconds=cpu)
        )

    async def build(self, spec: Specification, context: Context) -> Built:
        """Have a tool written until it passes or no repair is left. Raises LimitReached, ModelError."""
        prompts = load(self.prompts)
        hidden = max(0, min(self.held_back, len(spec.examples) - 2))
        shown = spec.examples[: len(spec.examples) - hidden]
        cases = [(json.dumps(one.input), json.dumps(one.output)) for one in shown]
        schema = json.dumps(spec.parameters)
        asked = prompts.user("build", name=spec.name, description=spec.description, parameters=schema, cases=cases)
        messages = [prompts.system("builder"), asked]
        attempts = 0
        while True:
            reply = await context.ask(messages, "build", role=ROLE)
            code = code_in(reply.text)
            verdict = await verdict_on(code, spec, self.held, hidden) if code else Verdict("the reply holds no code")
            attempts += 1
            if verdict.passed or attempts > self.repairs:
                return Built(code, verdict, attempts)
            messages += [reply, prompts.user("repair", reason=verdict.reason)]


def code_in(text: str) -> str:
    """The code of a reply: its last fenced block, else all of it where it defines a function; empty without any."""
    fenced = _FENCE.findall(text)
    code = fenced[-1] if fenced else text if "def " in text else ""
    return str(code).encode("utf-8", "replace").decode().strip()
