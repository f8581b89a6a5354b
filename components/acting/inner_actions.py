"""What agents add to a toolset: Plan and Think, which only write something down, and the task's inputs as text.

Source: Liao et al. 2024 (ReflecTool), arXiv 2410.17657, table 4; for the inputs the option ``preload_multimodal`` of
BlueZeros/ReflecTool: a database as its schema, documents one after the other, each below its file's name in brackets.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect, Tool
from components.core.types import Observation, Problem
from components.files.attachments import SampleFiles
from components.sql import SqlError
from components.sql.reading import database_of

OK = "OK"


@dataclass(frozen=True)
class InnerAction:
    """Writes something down. Input: ``response`` and whatever else, which the reference ignores too. Output: ``OK``."""

    name: str
    description: str
    response: str
    effect: Effect = "pure"

    @property
    def spec(self) -> ToolSpec:
        """The description that the model reads."""
        properties = {"response": {"type": "string", "description": self.response}}
        parameters = {"type": "object", "properties": properties, "additionalProperties": True}
        return ToolSpec(self.name, self.description, parameters, facts={"dimension": "inner"})

    async def __call__(self, context: Context, /, **_: Any) -> Observation:
        return Observation(OK)


PLAN = InnerAction("Plan", "Write down the steps that you will take to solve the task.", "The steps, in order.")
THINK = InnerAction("Think", "Write down what you make of the findings so far.", "Your reasoning.")
INNER: tuple[Tool, ...] = (PLAN, THINK)
_SPEC = ToolSpec("inputs", "The inputs of the task as text.", {"type": "object", "properties": {}})


@dataclass(frozen=True)
class Inputs:
    """A control: the schema of the task's database and the text of its documents. Raises ToolError."""

    spec: ToolSpec = _SPEC
    effect: Effect = "pure"

    async def __call__(self, context: Context, /, **_: Any) -> Observation:
        files = context.state
        assert isinstance(files, SampleFiles), "a toolset with this control has files"
        return Observation(await asyncio.to_thread(self._text, context.problem, files))

    def _text(self, problem: Problem, files: SampleFiles) -> str:
        texts = []
        if name := problem.inputs.get("sql_database"):
            try:
                texts.append(f"Tables of the database {name}:\n{database_of(files.path(name)).schema().text}")
            except SqlError as error:
                raise ToolError(str(error), "not_found") from None
        if name := problem.inputs.get("upload_files"):
            path = files.path(name)
            found = sorted(path.rglob("*.txt")) if path.is_dir() else [path]
            texts += [f"[{one.name}]\n{one.read_text(encoding='utf-8', errors='replace').strip()}" for one in found]
        return "\n\n".join(texts)


def preloadable(problem: Problem) -> bool:
    """Whether a task has an input that can be read as text."""
    return not {"sql_database", "upload_files"}.isdisjoint(problem.inputs)
