"""Tools over the tables of an electronic health record: as actions, or as functions of code that a model writes.

Source: Shi et al. 2024 (EHRAgent), EMNLP, arXiv 2401.07128; docs/papers/ehragent.md. Departure: code runs in a sandbox.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from components.core.errors import ConfigError, ModelError
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect, Offer, Tool
from components.core.traits import ToolsetTraits
from components.core.types import Observation, Sample
from components.ehr.metadata import Metadata, metadata
from components.sandbox import Library, Ran, Sandbox, SandboxError, Session

if TYPE_CHECKING:
    from pandas import DataFrame

    from components.ehr.tables import Tables


@dataclass
class EhrState:
    """The state behind an offer of EHR tools (``components.core.tools.State``). ``tables`` are shared by all questions
    of a process and only read; ``table`` is what ``LoadDB`` and ``FilterDB`` leave for the next action. ``begin`` opens
    a session of the sandbox; ``keep``: variables survive from cell to cell."""

    metadata: Metadata
    file: Path
    tables: Tables
    begin: Callable[[], Session]
    keep: bool = False
    table: DataFrame | None = None
    _session: Session | None = None
    _cells: list[str] = field(default_factory=list)

    async def run(self, cell: str) -> Ran:
        """Run a cell in the question's own process, begun when it is first needed. Raises ModelError (sandbox)
        where the machine gives no process: that is not an answer."""
        try:
            if self._session is None:
                self._session = self.begin()
                for earlier in self._cells:  # of the state that this one was forked from
                    await self._session.run(earlier)
            if self.keep:
                self._cells.append(cell)
            return await self._session.run(cell)
        except SandboxError as error:
            raise ModelError(f"no process for the code: {error}", "sandbox") from None

    def fork(self) -> EhrState:
        """A copy with a separate process, in which kept cells run again."""
        return replace(self, _session=None, _cells=list(self._cells))

    def close(self) -> None:
        """End the process."""
        if self._session is not None:
            self._session.close()
            self._session = None


@dataclass(frozen=True)
class Overview:
    """The control ``metadata``: what the database holds, as text and, for the agent's own code, in parts."""

    of: Metadata
    groups: bool = True
    state: Literal["cell", "episode"] = "cell"
    effect: Effect = "pure"

    @property
    def spec(self) -> ToolSpec:
        """Never shown to a model."""
        return ToolSpec("metadata", "What the database holds.")

    async def __call__(self, context: Context, /, **_: Any) -> Observation:
        """The overview; ``data`` also has a line of columns for every table."""
        of, settings = self.of, {"groups": self.groups, "state": self.state}
        parts = {"database": of.database, "overview": of.overview, "columns": of.columns, "clock": of.clock or ""}
        return Observation(of.overview, {**parts, **settings})


@dataclass(frozen=True)
class Ehr:
    """Opens the record database of a sample, read-only, for the tools of the configuration. ``folder`` keeps the tables
    of each database in columns, written once. ``state``: whether variables of code live for a cell or for the question.
    ``groups``: filters may count groups, which the published tools cannot. Code runs in ``sandbox`` alone. Raises
    ConfigError for a sample without a database of known metadata."""

    tools: Mapping[str, Tool]
    sandbox: Sandbox
    folder: str = "outputs/.tables"
    state: Literal["cell", "episode"] = "cell"
    groups: bool = True

    def __post_init__(self) -> None:
        for name, tool in self.tools.items():
            if name != tool.spec.name:
                raise ConfigError(f"tools: {name} is the tool {tool.spec.name}; give it that name")

    @property
    def traits(self) -> ToolsetTraits:
        """Its tools, the sandbox of code, and what a reader of results must know."""
        notes = ("variables of code live as long as the question (state: episode)",) if self.state == "episode" else ()
        return ToolsetTraits(tools=self.tools, notes=notes, sandbox=self.sandbox, prepare=self._prepare)

    def _prepare(self, samples: Iterable[Sample]) -> None:
        """Write the tables of their databases in columns, which takes a while the first time. Raises ConfigError."""
        for sample in samples:
            self._open(sample)

    def open(self, sample: Sample) -> Offer:
        """Open the tools over the sample's database; what may be abstained from may be refused."""
        opened = self._open(sample)

        def begin() -> Session:
            return self.sandbox.open(opened.library(self.groups), keep=self.state == "episode")

        fields: Mapping[str, Sequence[str]] = {"reason": ()} if sample.metadata.get("may_abstain") else {}
        facts = {"tools": dict.fromkeys(self.tools, "ehr"), "toolset": list(self.tools)}
        state = EhrState(opened.known, opened.file, opened.host, begin, self.state == "episode")
        overview = Overview(opened.known, self.groups, self.state)
        return Offer(self.tools, state, {"metadata": overview}, fields, facts=facts)

    def _open(self, sample: Sample) -> _Opened:
        name, path = sample.metadata.get("sql_dialect"), next(iter(sample.files.values()), None)
        if not isinstance(name, str) or path is None:
            raise ConfigError(
                f"toolset=ehr: sample {sample.problem.id!r} has no database of health records;"
                " choose a dataset that has (ehr_mini, ehrsql2024, ehragent_demo) or another toolset"
            )
        return _opened(Path(path).resolve(), name, Path(self.folder).resolve())


class _Opened(NamedTuple):
    """A database in columns: for tools of this process, and for code."""

    file: Path
    folder: Path
    host: Tables
    known: Metadata

    def library(self, groups: bool) -> Library:
        """The six functions for code, the files they read, and a cell that does what cells will do."""
        paths, (table, columns) = (self.file, self.folder), next(iter(self.known.tables.items()))
        arguments = {"file": str(self.file), "tables": str(self.folder), "database": self.known.database}
        column = next((name for name, kind in columns.items() if kind == "int"), next(iter(columns)))
        rehearsal = (
            f"rows = FilterDB(LoadDB('{table}'), '{column}!=-1')\n"
            f"answer = GetValue(rows, '{column}, max'), SQLInterpreter('select count(*) from {table}')"
        )
        return Library("components.ehr.cell", {**arguments, "groups": groups}, paths, rehearsal)


@lru_cache(maxsize=16)
def _opened(file: Path, database: str, folder: Path) -> _Opened:
    from components.ehr.columns import prepare  # imports pandas and Arrow, which a refused config does not need
    from components.ehr.tables import Tables

    known = metadata(database)
    columns = prepare(file, known, folder)
    return _Opened(file, columns, Tables(columns), known)
