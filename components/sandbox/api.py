"""Requests and results of a run in the sandbox; shared by host and workers, standard library only."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt

Status = Literal["ok", "no_answer", "error", "timeout", "killed", "too_large"]
Tier = Literal["namespaces", "bwrap", "landlock", "rlimits"]


class SandboxError(Exception):
    """The machine cannot run the cell: no memory to fork, the sandbox's own process ended twice."""

    label = "unavailable"


@dataclass(frozen=True)
class Limits:
    """What one cell may use. ``memory_bytes`` is address space, ``output_bytes`` standard output, cut beyond; an
    ``answer`` above ``answer_bytes`` is too large. Wall and CPU time are checked every quarter of a second."""

    wall_seconds: Annotated[float, Gt(0)] = 30.0
    cpu_seconds: Annotated[float, Gt(0)] = 20.0
    memory_bytes: Annotated[int, Ge(64 << 20)] = 2 << 30
    file_bytes: Annotated[int, Ge(0)] = 10 << 20
    scratch_bytes: Annotated[int, Ge(4096)] = 64 << 20
    open_files: Annotated[int, Ge(16)] = 64
    output_bytes: Annotated[int, Ge(0)] = 64 << 10
    answer_bytes: Annotated[int, Ge(1)] = 64 << 10

    @property
    def too_long(self) -> str:
        """The message for a cell that takes too long; the same for both limits, since which comes first is chance."""
        return f"the cell took longer than {self.wall_seconds:g} s, or more than {self.cpu_seconds:g} s of CPU"


@dataclass(frozen=True)
class Library:
    """What every cell's namespace holds in addition to the builtins.

    ``module`` is imported before any episode and defines ``names(**arguments) -> dict``, which is called once per
    episode in the confined process, before code. ``arguments`` are JSON values, ``readable`` the files and folders
    that cells may read in addition to the interpreter and its libraries. ``rehearsal`` is a cell that does what
    cells will do: every worker runs it before its cell comes, so that the cell finds its memory warm; what it makes
    is thrown away.
    """

    module: str
    arguments: Mapping[str, Any]
    readable: tuple[Path, ...] = ()
    rehearsal: str = ""


@dataclass(frozen=True)
class CellError:
    """What went wrong. ``kind`` is the exception's attribute of that name when it is a text; ``line_no`` (from 1) and
    ``line`` are the innermost ones of the cell. Limits have the types Timeout, Killed, TooLarge and Protocol."""

    type: str
    kind: str
    message: str
    line_no: int | None = None
    line: str = ""
    traceback: str = ""


@dataclass(frozen=True)
class Ran:
    """One executed cell: ``answer`` is ``str(answer)``, ``output`` its standard output (data, not protocol),
    ``seconds`` the wall time in the worker. ``error`` is None for the statuses ok and no_answer only."""

    status: Status
    answer: str = ""
    output: str = ""
    error: CellError | None = None
    seconds: float = 0.0

    @property
    def broken(self) -> bool:
        """Whether the worker had to be ended."""
        return self.status in ("timeout", "killed") or (self.error is not None and self.error.type == "Protocol")


def failed(status: Status, kind: str, text: str) -> Ran:
    """The result of a cell that returned none."""
    return Ran(status, error=CellError(kind, "", text))
