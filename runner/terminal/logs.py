"""A run's log: what its job says, also where several jobs run at once."""

import logging
from contextvars import ContextVar
from pathlib import Path

_LOG: ContextVar[logging.Handler] = ContextVar("log")  # of the job to which what runs belongs


class _RunLog(logging.FileHandler):
    """The run's log: what this job says. When it is closed, nothing is written to it any more."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether it is this job that says it."""
        return _LOG.get(self) is self

    def handleError(self, record: logging.LogRecord) -> None:  # logging's name
        """A full disk is told once, by the files that are needed."""

    def close(self) -> None:
        """Leave the root logger, and close the file."""
        logging.getLogger().removeHandler(self)
        super().close()


def log_to(path: Path) -> logging.Handler:
    """Warnings and our own news into the run's log, without secrets."""
    logging.getLogger("runner").setLevel(logging.INFO)
    handler = _RunLog(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.setLevel(logging.INFO)
    logging.getLogger().addHandler(handler)
    _LOG.set(handler)
    return handler
