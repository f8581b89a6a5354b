"""SQL over the databases of samples: read-only, bounded, with errors apart from every other failure."""


class SqlError(Exception):
    """A statement was refused or failed, or a database is not what it should be; the text says which."""


class UnreadableDatabase(SqlError):
    """No statement can be run: the file is missing, damaged or no database. No other statement would help."""


class ForbiddenSql(SqlError):
    """A statement was refused before or while it ran, because it does more than read this one database."""
