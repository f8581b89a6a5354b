"""MLflow's page over the local database, started lean: without job workers and telemetry.

``python -m runner.ui [--port 5000] [--uri sqlite:///...] [--quiet] [--host ... and others of mlflow server]``
"""

import contextlib
import os
import shlex
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import webbrowser
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path

from components.core.errors import ConfigError
from runner.terminal.command import Parser, exit_code_of, print_note
from runner.tracking.store import DATABASE, damage_of
from runner.tracking.unsent import NEWEST

_HOST = "127.0.0.1"
_PAGE = "wardround"  # of ``runner.tracking.page`` in pyproject.toml
_START_SECONDS = 120.0
_SERVER = ("--host", "--workers", "--static-prefix", "--allowed-hosts", "--cors-allowed-origins", "--x-frame-options",
           "--uvicorn-opts", "--expose-prometheus", "--app-name")  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until interrupted. Returns the exit code."""
    return exit_code_of(lambda: _run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    parser = Parser(prog="python -m runner.ui", description="Look at tracked runs.")
    parser.add_argument("--port", type=int, default=5000)
    parser.add_argument("--uri", default=DATABASE, help="database of the runs (default: %(default)s)")
    parser.add_argument("--quiet", action="store_true", help="only serve, open no browser")
    for flag in _SERVER:
        parser.add_argument(flag, help="as in mlflow server")
    options = vars(parser.parse_args(arguments))
    port, further = options["port"], [(flag, options[flag[2:].replace("-", "_")]) for flag in _SERVER]
    if not (database := Path(options["uri"].removeprefix("sqlite:///")).absolute()).exists():
        from runner.tracking.send import send_unsent

        send_unsent(database.parent)  # the first run may be on its way
    if not database.exists():
        raise ConfigError(f"no tracked runs yet: {database} does not exist; run an experiment first")
    try:
        with contextlib.closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as opened:
            opened.execute("select 1 from sqlite_master")
    except sqlite3.DatabaseError as error:
        locked = isinstance(error, sqlite3.OperationalError)
        raise ConfigError(f"{database}: {error}" if locked else damage_of(database, str(error))) from None
    if _listens(port):
        raise ConfigError(f"port {port} is taken; choose another: make ui ARGS='--port {port + 1}'")
    print_note("starting MLflow's server, about eight seconds on two idle cores; stop it with Ctrl-C")
    threading.Thread(target=_open, args=(port, database, options["quiet"]), daemon=True).start()
    return _serve(command(database, port, [f"{flag}={value}" for flag, value in further if value is not None]))


def command(database: Path, port: int, further: Sequence[str] = ()) -> list[str]:
    """The server's command line. An installation of an earlier version has no page of ours: it gets MLflow's own."""
    page = ["--app-name", _PAGE] if entry_points(group="mlflow.app", name=_PAGE) else []
    return [
        sys.executable, "-m", "mlflow", "server", "--backend-store-uri", f"sqlite:///{database}",
        "--registry-store-uri", f"sqlite:///{database}",  # else it prints that it takes that of the backend
        "--default-artifact-root", database.with_name("artifacts").as_uri(),
        "--host", _HOST, "--port", str(port), "--workers", "1", "--uvicorn-opts", "--log-level=warning",
        *page, *further,
    ]  # fmt: skip


def newest(database: Path) -> str:
    """The page of the newest run or sweep, as tracking noted it."""
    note = database.with_name(NEWEST)
    return note.read_text().strip() if note.exists() else "/experiments"


def environment() -> dict[str, str]:
    """The server's environment: no job workers, no telemetry, no chatter."""
    quiet = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true",
             "MLFLOW_LOGGING_LEVEL": "WARNING", "LITELLM_LOCAL_MODEL_COST_MAP": "True",
             "PYTHONWARNINGS": "ignore"}  # fmt: skip
    return {**os.environ, **quiet}


def _serve(line: Sequence[str]) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(line, env=environment(), start_new_session=True, stderr=subprocess.DEVNULL) as server:
        try:
            code = server.wait()
            print_note(f"MLflow's server ended by itself (exit code {code}); to see why: {shlex.join(line)}")
            return code
        except KeyboardInterrupt:
            return 130
        finally:
            with contextlib.suppress(ProcessLookupError):  # it has ended
                os.killpg(server.pid, signal.SIGTERM)


def _open(port: int, database: Path, quiet: bool) -> None:
    """Wait for the server, then say where the newest run is and open it: it may have been sent meanwhile."""
    end = time.monotonic() + _START_SECONDS
    while not _listens(port) and time.monotonic() < end:
        time.sleep(0.2)
    address = f"http://{_HOST}:{port}/#{newest(database)}"
    print_note(f"MLflow: {address}")
    if not quiet and (sys.platform == "darwin" or "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ):
        webbrowser.open(address)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex((_HOST, port)) == 0


if __name__ == "__main__":
    sys.exit(main())
