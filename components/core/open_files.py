"""The limit of open files of this process."""

from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit, setrlimit

from components.core.errors import ConfigError

_OTHER_FILES = 64  # of a process: journal, records, texts, log, libraries, the sandbox
_MAX_FILES = 1 << 16


def allow_open_files(connections: int) -> None:
    """Raise this process' own limit of open files, where a run and so many connections need it. Raises ConfigError
    where it may not be high enough."""
    needed = connections + _OTHER_FILES
    now, most = (_MAX_FILES if limit == RLIM_INFINITY else limit for limit in getrlimit(RLIMIT_NOFILE))
    if most <= _OTHER_FILES and needed > most:
        raise ConfigError(
            f"a process may have {most} open files here, and a run needs {_OTHER_FILES}, and one more for each "
            f"connection: raise the limit, as by ulimit -n {needed}"
        )
    if needed > most:
        raise ConfigError(
            f"{connections} connections need {needed} open files, and a process may have {most} here: "
            f"ulimit -n {needed}, or model.max_connections={most - _OTHER_FILES}"
        )
    if needed > now:
        setrlimit(RLIMIT_NOFILE, (min(most, max(needed, _MAX_FILES)), getrlimit(RLIMIT_NOFILE)[1]))
