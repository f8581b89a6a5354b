"""The inputs of a task as text, for agents that read them in the prompt instead of through tools.

Source: the option ``preload_multimodal`` of ReflecTool's implementation (BlueZeros/ReflecTool): a database as its
schema, documents one after the other, each headed by its file's name in brackets.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect
from components.core.types import Observation, Problem
from components.files.attachments import SampleFiles
from components.sql import SqlError
from components.sql.schema import database_of

KINDS = ("sql_database", "upload_files")
_SPEC = ToolSpec("inputs", "The inputs of the task as text.", {"type": "object", "properties": {}})


@dataclass(frozen=True)
class Inputs:
    """A control: the schema of the task's database and the text of its documents. Raises ToolError."""

    spec: ToolSpec = _SPEC
    effect: Effect = "pure"

    async def __call__(self, context: Context, **_: Any) -> Observation:
        """Read what there is, off the loop."""
        return await asyncio.to_thread(_read, context)


def _read(context: Context) -> Observation:
    inputs, files = context.problem.inputs, context.state
    assert isinstance(files, SampleFiles), "a toolset with this control has files"
    texts = []
    if name := inputs.get("sql_database"):
        try:
            texts.append(f"Tables of the database {name}:\n{database_of(files.path(name)).schema().text}")
        except SqlError as error:
            raise ToolError(str(error), "not_found") from None
    if name := inputs.get("upload_files"):
        texts.append(documents(files, name))
    return Observation("\n\n".join(texts))


def documents(files: SampleFiles, name: str) -> str:
    """All text files of an input, one block per file. Raises ToolError."""
    path = files.path(name)
    found = sorted(path.rglob("*.txt")) if path.is_dir() else [path]
    return "\n\n".join(f"[{one.name}]\n{one.read_text(encoding='utf-8', errors='replace').strip()}" for one in found)


def preloadable(problem: Problem) -> bool:
    """Whether a task has an input that can be read as text."""
    return any(kind in problem.inputs for kind in KINDS)
