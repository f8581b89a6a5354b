"""What belongs to one question about health records: its database, the current table, and the process of its code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.errors import ModelError
from components.ehr.metadata import Metadata
from components.sandbox import Ran, SandboxError, Session

if TYPE_CHECKING:
    from pandas import DataFrame

    from components.ehr.tables import Tables


@dataclass
class EhrState:
    """The state behind an offer of EHR tools (``components.core.types.State``).

    ``tables`` are shared by all questions of a process and only read; ``table`` is what ``LoadDB`` and ``FilterDB``
    leave for the next action. ``begin`` opens a session of the sandbox; ``keep``: variables survive from cell to cell.
    """

    metadata: Metadata
    file: Path
    tables: Tables
    begin: Callable[[], Session]
    keep: bool = False
    table: DataFrame | None = None
    _session: Session | None = None
    _cells: list[str] = field(default_factory=list)

    @property
    def database(self) -> str:
        """The database's name, as its metadata has it."""
        return self.metadata.database

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
        """A copy with a process of its own, in which kept cells run again."""
        return EhrState(
            self.metadata, self.file, self.tables, self.begin, self.keep, self.table, None, list(self._cells)
        )

    def close(self) -> None:
        """End the process."""
        if self._session is not None:
            self._session.close()
            self._session = None
