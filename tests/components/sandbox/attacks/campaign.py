"""All attacks on one stand: made together when the first is asked for, reported table by table."""

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any

import pytest

from tests.components.sandbox.attacks import channel, files, limits, network, processes, state, tools
from tests.components.sandbox.attacks.attack import THOROUGH, Table, faults
from tests.components.sandbox.attacks.stands import Stand

TABLES: dict[str, Table] = {
    name: table
    for module in (files, processes, network, limits, channel, state, tools)
    for name, table in module.TABLES.items()
}
BRIEF = [name for name, table in TABLES.items() if table.chosen(brief=True)]
ALL = list(TABLES) if THOROUGH else BRIEF
OPEN = [
    pytest.param(backend, table, name, why, id=f"{backend}-{name}")
    for table, held in TABLES.items()
    for name, row in held.rows.items()
    for backend, why in row.open_in.items()
]


class Campaign:
    """Outcomes of attacks on a stand: the rows of some tables, or only their brief ones."""

    def __init__(self, stand: Stand, tables: Collection[str], brief: bool, thorough: bool) -> None:
        self.stand, self._thorough = stand, thorough
        self._rows = {(table, name): row for table in tables for name, row in TABLES[table].chosen(brief).items()}

    @cached_property
    def _outcomes(self) -> Mapping[str, Any] | str:
        """What the process on the stand reports; a text when it died."""
        try:
            return self.stand.ask(run=[row.request for row in self._rows.values()], thorough=self._thorough)
        except pytest.fail.Exception as died:
            return str(died)

    @property
    def outcomes(self) -> Mapping[str, Any]:
        """The outcomes, in the order of the rows. Fails where the process died."""
        if isinstance(self._outcomes, str):
            pytest.fail(self._outcomes, pytrace=False)
        return self._outcomes

    def faults(self, table: str, opened: bool = False) -> dict[str, list[str]]:
        """What does not hold of a table, by row: of the rows that this backend must hold, or of the others."""
        found: dict[str, list[str]] = {}
        for ((of, name), row), one in zip(self._rows.items(), self.outcomes["attacks"], strict=True):
            if of == table and (self.stand.backend in row.open_in) == opened:
                found[name] = faults(row, one, self.stand.secret)
        return found

    def holds(self, table: str) -> None:
        """Fail with every attack of a table that did not end as it must."""
        if wrong := [f"[{name}] {fault}" for name, found in self.faults(table).items() for fault in found]:
            pytest.fail("\n".join(wrong), pytrace=False)

    def leaves_nothing(self) -> None:
        """Fail with every trace that the attacks left together."""
        if wrong := [
            f"{what}: {self.outcomes[what]}" for what in ("left", "changed", "reached") if self.outcomes[what]
        ]:
            pytest.fail("\n".join(wrong), pytrace=False)
