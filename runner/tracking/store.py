"""The connection to MLflow: quiet, with database, experiment and runs made once, under a file lock."""

from __future__ import annotations

import fcntl
import logging
import os
import re
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from components.core.errors import ConfigError
from runner.tracking.describe import Job

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import DatasetInput

_ENVIRONMENT = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
                "MLFLOW_LOGGING_LEVEL": "CRITICAL", "MLFLOW_DISABLE_AGENT_HINT": "true",
                "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
                "LITELLM_LOCAL_MODEL_COST_MAP": "True"}  # fmt: skip  # should MLflow import it: no download
_PATIENCE = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "20", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
             "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1", "MLFLOW_ASYNC_TRACE_LOGGING_RETRY_TIMEOUT": "20"}  # fmt: skip
_LOADING = Lock()


@dataclass(frozen=True)
class Tracker:
    """An experiment in a tracking store."""

    client: MlflowClient
    uri: str
    experiment_id: str
    lock: Path

    def run(self, job: Job, parent: str | None) -> str:
        """The job's run, made (RUNNING) when it is not there yet. Returns its id."""
        tags = {"folder_id": job.id, "level": "job"} | ({"mlflow.parentRunId": parent} if parent else {})
        return self._run(f"tags.folder_id = '{job.id}'", job.name, tags, job.start)

    def parent(self, sweep: str, start: int | None) -> str:
        """The sweep's parent run, made when it is not there yet. Returns its id."""
        where, tags = f"tags.level = 'sweep' AND tags.sweep = '{sweep}'", {"level": "sweep", "sweep": sweep}
        return self._run(where, sweep, tags, start)

    def stage(self, made: str, name: str) -> str:
        """The run of what a stage of its own made, made when it is not there yet. Returns its id."""
        return self._run(f"tags.made = '{made}'", name, {"level": "stage", "made": made}, None)

    def dataset(self, run_id: str, dataset: DatasetInput) -> None:
        """Log the run's dataset; where another job was faster with the same one, it is there the second time."""
        from mlflow.exceptions import MlflowException

        try:
            self.client.log_inputs(run_id, [dataset])
        except MlflowException:
            self.client.log_inputs(run_id, [dataset])

    def _run(self, where: str, name: str, tags: dict[str, str], start: int | None) -> str:
        with locked(self.lock):
            if found := self.client.search_runs([self.experiment_id], where, max_results=1):
                return str(found[0].info.run_id)
            start = int(time.time() * 1000) if start is None else start
            return str(self.client.create_run(self.experiment_id, start, tags, name).info.run_id)


def connect(config: Mapping[str, Any]) -> Tracker:
    """Open the store and the experiment, making both where they are missing.

    Raises what ``troubles`` lists.
    """
    tracking, name = config["tracking"], str(config["name"])
    uri, lock = absolute(tracking["uri"]), _lock_of(tracking["uri"])
    lock.parent.mkdir(parents=True, exist_ok=True)
    if (database := database_of(uri)) is not None and database.is_dir():
        raise IsADirectoryError(f"{database} is a folder")
    load(with_database=database is not None)
    if database is not None and not database.exists():
        with locked(lock):
            _create(database)
    from mlflow import MlflowClient

    client = MlflowClient(uri)
    with locked(lock):
        return Tracker(client, uri, _experiment(client, name, tracking.get("artifacts")), lock)


def load(with_database: bool = False) -> None:
    """Import MLflow, which threads cannot do at once: each would wait for, or see, what another has half done.

    Whoever uses it comes here before, since its parts import each other.
    """
    with _LOADING:
        quiet()
        import mlflow

        if with_database:
            import mlflow.store.tracking.sqlalchemy_store  # noqa: F401


def quiet() -> None:
    """Silence MLflow and bound its patience, before it is imported; a user's own patience counts."""
    os.environ.update(_ENVIRONMENT)
    for name, value in _PATIENCE.items():
        os.environ.setdefault(name, value)
    logging.getLogger("mlflow").setLevel(logging.CRITICAL)
    logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module=r"mlflow|sqlalchemy|alembic|pydantic")


def troubles() -> tuple[type[Exception], ...]:
    """What a tracker that is missing, down, slow, full or too old raises."""
    try:
        load()
        from alembic.util.exc import CommandError
        from mlflow.exceptions import MlflowException
        from sqlalchemy.exc import SQLAlchemyError
    except ImportError:
        return ImportError, OSError
    return MlflowException, SQLAlchemyError, CommandError, OSError, NotImplementedError


def check(config: Mapping[str, Any]) -> None:
    """Refuse settings that cannot work. Raises ConfigError."""
    tracking = config.get("tracking") or {}
    traces, uri = str(tracking.get("traces", "none")), str(tracking.get("uri") or "")
    if not re.fullmatch(r"all|errors|none|sample:\d+", traces):
        raise ConfigError(f"tracking.traces is all, errors, none or sample:N, found {traces!r}")
    if without_password(uri) != uri:
        raise ConfigError("tracking.uri holds a password; set MLFLOW_TRACKING_USERNAME and _PASSWORD instead")


def texts_may_leave(config: Mapping[str, Any], privacy: str) -> bool:
    """Whether the texts of a dataset of this class may be sent: always to a database on this machine."""
    tracking = config["tracking"]
    return database_of(tracking["uri"]) is not None or privacy == "open" or privacy in (tracking.get("permits") or ())


def without_password(text: str) -> str:
    """The text with user and password cut out of its URLs."""
    return re.sub(r"//[^/\s@]*@", "//", text)


def absolute(uri: str) -> str:
    """A store URI that does not depend on the working folder."""
    database = database_of(uri)
    return uri if database is None else f"sqlite:///{database}"


def database_of(uri: str) -> Path | None:
    """The file of a SQLite URI, or None."""
    return Path(uri.removeprefix("sqlite:///")).absolute() if uri.startswith("sqlite:///") else None


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock against threads and processes."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def _lock_of(uri: str) -> Path:
    """Beside the database; for a server, in the machine's folder for temporary files."""
    if (database := database_of(uri)) is not None:
        return database.with_name(".lock")
    name = sha256(uri.encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir(), f"wardround-{os.getuid()}-{name}.lock")


def _create(database: Path) -> None:
    """Make the database beside its place and move it there, so that a kill leaves none or a whole one."""
    if database.exists():  # another process was faster
        return
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

    fresh = database.with_name(f"{database.name}.new")
    fresh.unlink(missing_ok=True)
    place = str(database.with_name("artifacts"))
    store = SqlAlchemyStore(f"sqlite:///{fresh}", place)  # type: ignore[no-untyped-call]  # mlflow's own
    store.engine.dispose()
    fresh.replace(database)


def _experiment(client: MlflowClient, name: str, artifacts: str | None) -> str:
    """Id of the experiment, made or taken out of the bin where needed."""
    from mlflow.exceptions import MlflowException

    found = client.get_experiment_by_name(name)
    if found is None:
        place = Path(artifacts).absolute().as_uri() if artifacts else None
        try:
            return str(client.create_experiment(name, place))
        except MlflowException:  # another machine was faster
            found = client.get_experiment_by_name(name)
            if found is None:
                raise
    if found.lifecycle_stage == "deleted":
        client.restore_experiment(found.experiment_id)
    return str(found.experiment_id)
