"""The metadata of each database, known before anything is read: four statements, tables, columns, types and the clock.

Source: the tables and columns of EHRSQL (Lee et al. 2022, arXiv 2301.07695; 2024, arXiv 2405.06673) and of
MIMICSQL (Wang et al. 2020, arXiv 1908.01839); the statements are our own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from components.core.errors import ConfigError
from components.sql.cleaning import CURRENT_TIMES
from components.text.structured import read_yaml

Kind = Literal["int", "float", "text"]
_FOLDER = Path(__file__).parent / "metadata"


@dataclass(frozen=True)
class Metadata:
    """A database as it is described to models. ``tables``: table -> column -> type, with the names as tools take them.
    ``clock`` is the time at which questions are asked (``YYYY-MM-DD HH:MM:SS``), None where no question needs one."""

    database: str
    title: str
    description: tuple[str, ...]
    tables: Mapping[str, Mapping[str, Kind]]
    clock: str | None

    @property
    def overview(self) -> str:
        """The statements as one text."""
        return " ".join(self.description)

    @property
    def columns(self) -> str:
        """One line per table: its name, a colon, its columns."""
        return "\n".join(f"{table}: {', '.join(columns)}" for table, columns in self.tables.items())


@cache
def metadata(database: str) -> Metadata:
    """The metadata of a database by its name. Raises ConfigError for an unknown one."""
    known = sorted(path.stem for path in _FOLDER.glob("*.yaml"))
    if database not in known:
        raise ConfigError(f"there is no metadata for the database {database!r}; known are {', '.join(known)}")
    data = read_yaml(_FOLDER / f"{database}.yaml")
    description = tuple(" ".join(statement.split()) for statement in data["description"])
    return Metadata(database, data["title"], description, data["tables"], CURRENT_TIMES.get(database))
