"""The connection to MLflow: quiet, with database, experiment and runs made once, under a file lock."""

from __future__ import annotations

import errno
import logging
import os
import re
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson

from components.core.redaction import HIDDEN, redact
from runner.storage.disk import FULL, Unwritable, locked
from runner.storage.schema import DatasetFacts
from runner.tracking.describe import Figure, Job, as_text, safe

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

_ENVIRONMENT = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
                "MLFLOW_LOGGING_LEVEL": "CRITICAL", "MLFLOW_DISABLE_AGENT_HINT": "true",
                "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
                "LITELLM_LOCAL_MODEL_COST_MAP": "True"}  # fmt: skip  # should MLflow import it: no download
_RETRIES = "MLFLOW_HTTP_REQUEST_MAX_RETRIES"
_BACKOFF = "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR"
_BOUNDS = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "20", _RETRIES: "2", _BACKOFF: "1",
           "MLFLOW_ASYNC_TRACE_LOGGING_RETRY_TIMEOUT": "20",
           "MLFLOW_HTTP_RESPECT_RETRY_AFTER_HEADER": "false",  # which may be a day
           "MLFLOW_ALLOW_HTTP_REDIRECTS": "false"}  # fmt: skip  # data go to the configured address alone
PLACE = Path("outputs/.mlflow")
DATABASE = f"sqlite:///{PLACE}/mlflow.db"
_LOCAL_PAGE = "http://127.0.0.1:5000"
_UNREADABLE = "(sqlite3.DatabaseError) "
_FULL = ("database or disk is full", os.strerror(errno.ENOSPC))


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

    def parent(self, tag: str, name: str, start: int | None) -> str:
        """The parent run of the sweep with this ``tag``, made when it is not there yet. Returns its id."""
        where, tags = f"tags.level = 'sweep' AND tags.sweep = '{tag}'", {"level": "sweep", "sweep": tag}
        return self._run(where, name, tags, start)

    def forked(self, config: Mapping[str, Any]) -> str | None:
        """The run whose episodes a fork continues, where it was sent to this experiment."""
        id = (config.get("fork") or {}).get("id")
        where = f"tags.folder_id = '{safe(str(id))}'"
        found = self.client.search_runs([self.experiment_id], where, max_results=1) if id else ()
        return str(found[0].info.run_id) if found else None

    def stage(self, made: str, name: str) -> str:
        """The run of a standalone stage, made when it is not there yet. Returns its id."""
        return self._run(f"tags.made = '{made}'", name, {"level": "stage", "made": made}, None)

    def log(self, run_id: str, figures: Sequence[Figure], params: Mapping[str, str], tags: Mapping[str, str]) -> None:
        """Write figures, params and tags in one batch, without figures that were sent before; params cannot change."""
        from mlflow.entities import Metric, Param, RunTag

        known, now = self.client.get_run(run_id).data, int(time.time() * 1000)
        sent = {(name, 0, value) for name, value in known.metrics.items()}
        for name in known.metrics.keys() & {name for name, step, _ in figures if step}:
            sent |= {(name, one.step, one.value) for one in self.client.get_metric_history(run_id, name)}
        self.client.log_batch(
            run_id,
            [Metric(name, value, now, step) for name, step, value in figures if (name, step, value) not in sent],
            [Param(name, value) for name, value in params.items() if name not in known.params],
            [RunTag(name, value) for name, value in tags.items()],
        )

    def log_dataset(self, run_id: str, facts: DatasetFacts) -> None:
        """Log the run's dataset; where another job was faster with the same one, it is there the second time."""
        from mlflow.entities import Dataset, DatasetInput, InputTag
        from mlflow.exceptions import MlflowException

        name = as_text(" ".join(str(part) for part in (facts.get("name"), facts.get("split")) if part))
        profile = orjson.dumps({"num_rows": facts.get("samples")}).decode()
        dataset = Dataset(name, str(facts.get("fingerprint", ""))[:36], "local", "{}", profile=profile)
        inputs = [DatasetInput(dataset, [InputTag("mlflow.data.context", "evaluation")])]
        try:
            self.client.log_inputs(run_id, inputs)
        except MlflowException:
            self.client.log_inputs(run_id, inputs)

    def upload(self, run_id: str, paths: Iterable[Path], root: Path) -> None:
        """Send files as artifacts, in the folders that they have below ``root``."""
        for path in paths:
            below = os.path.relpath(path.parent, root)
            self.client.log_artifact(run_id, str(path), None if below == "." else below)

    def _run(self, where: str, name: str, tags: dict[str, str], start: int | None) -> str:
        """Look for a run, and make it where it is missing; after a failure again, as often as the user's retries say,
        unless the server has made it all the same."""
        from mlflow.exceptions import MlflowException

        search = partial(self.client.search_runs, [self.experiment_id], where, max_results=1)
        start = int(time.time() * 1000) if start is None else start
        pauses = (float(os.environ[_BACKOFF]) * 2**n for n in range(int(os.environ[_RETRIES])))
        with locked(self.lock, 0o600):
            found: Sequence[Run] = search()
            while not found:
                try:
                    with _asking_once():
                        found = [self.client.create_run(self.experiment_id, start, tags, name)]
                except MlflowException as error:
                    status = int(error.get_http_status_code())  # type: ignore[no-untyped-call]  # mlflow's own
                    pause = next(pauses, None) if status >= HTTPStatus.INTERNAL_SERVER_ERROR else None
                    if pause is not None:
                        time.sleep(pause)
                    if not (found := search()) and pause is None:
                        raise
            return str(found[0].info.run_id)


def connect(config: Mapping[str, Any]) -> Tracker:
    """Open the store and the experiment, making both where they are missing. Raises what ``failures`` lists."""
    tracking, name = config["tracking"], str(config["name"])
    uri, database = absolute(tracking["uri"]), database_of(tracking["uri"])
    if database is not None:
        lock = database.with_name(".lock")
        if database.is_dir():
            raise IsADirectoryError(f"{database} is a folder")
    else:  # of a server: in the machine's folder for temporary files
        lock = Path(tempfile.gettempdir(), f"wardround-{os.getuid()}-{sha256(uri.encode()).hexdigest()[:16]}.lock")
    lock.parent.mkdir(parents=True, exist_ok=True)
    load()
    if database is not None and not database.exists():
        from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore
        from sqlalchemy import event

        with locked(lock, 0o600):
            if not database.exists():  # made under another name: a kill leaves none or a whole one
                fresh = database.with_name(f"{database.name}.new")
                fresh.unlink(missing_ok=True)
                address = f"sqlite:///{fresh}"
                engine = SqlAlchemyStore._get_or_create_engine(address)
                event.listen(engine, "connect", lambda made, _: made.execute("PRAGMA synchronous = OFF"))
                try:
                    SqlAlchemyStore(address, str(database.with_name("artifacts")))  # type: ignore[no-untyped-call]  # mlflow's own
                finally:  # it keeps the connection, even to a file that another attempt removes
                    engine.dispose()
                with fresh.open("rb") as whole:
                    os.fsync(whole.fileno())  # once, not after each of a hundred migrations
                fresh.replace(database)
    from mlflow import MlflowClient

    client = MlflowClient(uri)
    with locked(lock, 0o600):
        return Tracker(client, uri, _experiment(client, name, tracking.get("artifacts")), lock)


@contextmanager
def _asking_once() -> Iterator[None]:
    """Without MLflow's own retries, which would make a run again that a slow server is making."""
    before, os.environ[_RETRIES] = os.environ[_RETRIES], "0"
    try:
        yield
    finally:
        os.environ[_RETRIES] = before


def load() -> None:
    """Import MLflow, silenced and with its waiting bounded; a user's own bounds count."""
    os.environ.update(_ENVIRONMENT)
    for name, value in _BOUNDS.items():
        os.environ.setdefault(name, value)
    logging.getLogger("mlflow").setLevel(logging.CRITICAL)
    logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module=r"mlflow|sqlalchemy|alembic|pydantic")
    import mlflow  # noqa: F401


def failures(*more: type[Exception]) -> tuple[type[Exception], ...]:
    """The errors of a tracker that is missing, down, slow, full or too old, and ``more``."""
    try:
        load()
        from alembic.util.exc import CommandError
        from google.protobuf.json_format import ParseError
        from mlflow.exceptions import MlflowException
        from sqlalchemy.exc import SQLAlchemyError
    except ImportError:
        return ImportError, OSError, *more
    return MlflowException, SQLAlchemyError, CommandError, OSError, NotImplementedError, ParseError, *more


def short(error: object, database: Path | None = None) -> str:
    """The first line of an error or text, without secrets; of a failed request only its cause. A file that has no
    room, and a ``database`` that is damaged or has none, are named, with what to do."""
    if isinstance(error, OSError) and error.errno in FULL and (path := error.filename2 or error.filename):
        error = Unwritable(Path(path), error)  # of a copy the second is the new one
    text = redact(str(error).strip().partition("\n")[0]).replace(f"//{HIDDEN}", "//")
    if redirect := re.search(r"failed with error code (3\d\d) != 200", text):
        return f"HTTP {redirect[1]}, a redirect, which is not followed: give the address that it leads to"
    text = re.sub(r"HTTPS?ConnectionPool\(.*\(Caused by \w+\((.*?)\)+$", r"\1", text)
    if database is not None and text.startswith(_UNREADABLE):
        return damage_of(database, text.removeprefix(_UNREADABLE))
    if database is not None and not isinstance(error, Unwritable) and any(full in text for full in _FULL):
        return f"the disk of {database} or its artifacts is full: free space there"
    return text[:300] or type(error).__name__


def damage_of(database: Path, found: str) -> str:
    """The damage of a database that SQLite cannot read, and the remedy."""
    again = "python -m runner.report track FOLDER sends again what was in it"
    return f"{database} is damaged ({found}): rename it, and the next command creates a new one; {again}"


def view_url(
    config: Mapping[str, Any], experiment_id: str, *, run_id: str | None = None, tag: str | None = None
) -> str:
    """The page of a run, or the shared view of the sweep with this ``tag``. ``workflowType`` chooses the layout."""
    query = "workflowType=machine_learning"
    if tag:
        query = f"viewStateShareKey={quote(safe(tag), safe='')}&{query}"
    base = base_url(config["tracking"])
    return f"{base}/#/experiments/{experiment_id}/{f'runs/{run_id}' if run_id else 'runs'}?{query}"


def base_url(tracking: Mapping[str, Any]) -> str:
    """Where MLflow's pages are served."""
    served = str(tracking["uri"]) if str(tracking["uri"]).startswith("http") else _LOCAL_PAGE
    return short(tracking.get("ui") or served).rstrip("/")


def place_of(uri: str) -> Path:
    """The folder of a store's state on this machine: that of its database, or one for the server."""
    database = database_of(uri)
    return PLACE / sha256(uri.encode()).hexdigest()[:16] if database is None else database.parent


def texts_may_leave(config: Mapping[str, Any], privacy: str) -> bool:
    """Whether the texts of a dataset of this class may be sent: always to a database on this machine."""
    return database_of(config["tracking"]["uri"]) is not None or is_permitted(config, privacy)


def is_permitted(config: Mapping[str, Any], privacy: str) -> bool:
    """Whether a server may have texts of this class."""
    return privacy == "open" or privacy in (config["tracking"].get("permits") or ())


def servers_of(tracking: Mapping[str, Any]) -> str:
    """The servers that get what is tracked, in words; empty where that is only a database of this machine."""
    uri, otlp = tracking["uri"], tracking.get("otlp")
    mlflow = "" if database_of(uri) else f"MLflow at {short(uri)}"
    return " and ".join(filter(None, [mlflow, f"OTLP at {short(otlp)}" if otlp else ""]))


def absolute(uri: str, cwd: str = "") -> str:
    """A store URI that does not depend on the working folder; ``cwd``: where a relative one begins."""
    database = database_of(uri, cwd)
    return uri if database is None else f"sqlite:///{database}"


def database_of(uri: str, cwd: str = "") -> Path | None:
    """The file of a SQLite URI, or None. ``cwd``: where a relative one begins."""
    return Path(cwd, uri.removeprefix("sqlite:///")).absolute() if uri.startswith("sqlite:///") else None


def _experiment(client: MlflowClient, name: str, artifacts: str | None) -> str:
    """Id of the experiment, made or restored where needed."""
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
    if not found.experiment_id:
        raise OSError("its reply is empty: is this the address of MLflow?")
    if found.lifecycle_stage == "deleted":
        client.restore_experiment(found.experiment_id)
    return str(found.experiment_id)
