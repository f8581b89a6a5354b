"""What tools over a database share: their spec, and how the database is found."""

from pathlib import Path

from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.tools import Context
from components.files.attachments import SampleFiles
from components.sql import SqlError
from components.sql.schema import Database, database_of


def database_spec(name: str, description: str, query: str) -> ToolSpec:
    """The spec of a tool that takes the name of a database and a query; ``query`` says what that is."""
    properties = {
        "sql_database": {"type": "string", "description": "The database, by the name that the task shows."},
        "query": {"type": "string", "description": query},
    }
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return ToolSpec(name, description, parameters, facts={"dimension": "numerical", "needs": "sql_database"})


def input_path(context: Context, name: str) -> Path:
    """The path of an input of the task. Raises ToolError when it has no such input, TypeError without files."""
    if not isinstance(context.state, SampleFiles):
        raise TypeError(f"this tool runs on SampleFiles, found {type(context.state).__name__}")
    return context.state.path(name)


def opened(context: Context, name: str) -> Database:
    """The database that the task shows by this name. Raises ToolError when there is none."""
    path = input_path(context, name)
    try:
        return database_of(path)
    except SqlError as error:
        raise ToolError(f"The input {name!r} is not a database: {error}.", "not_found") from None
