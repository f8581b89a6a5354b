"""The run folders behind an experiment in MLflow: where its runs say they are, else out of their artifacts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.errors import ConfigError
from runner.storage.manifest import FILE as MANIFEST
from runner.storage.records import FILE as RECORDS
from runner.tracking.store import absolute, database_of, load, troubles, without_password

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

DATABASE = "sqlite:///outputs/.mlflow/mlflow.db"
_PAGE = 200  # runs asked for at a time


def folders_of(experiment: str, into: Path, uri: str = DATABASE) -> list[Path]:
    """The folders of an experiment's jobs, the oldest first; those that are not on this machine are fetched ``into`` a
    folder. Raises ConfigError where there is no such experiment, no run, or one without its records."""
    database = database_of(uri)
    if database is not None and not database.is_file():
        raise ConfigError(f"mlflow:{experiment}: {database} does not exist; run an experiment first, or give --uri")
    try:
        load(with_database=database is not None)
        from mlflow import MlflowClient

        client = MlflowClient(absolute(uri))
        found = [_folder(client, run, into) for run in _jobs(client, experiment)]
    except troubles() as error:
        told = without_password(str(error).strip().partition("\n")[0])[:300]
        raise ConfigError(f"mlflow:{experiment}: MLflow does not answer: {told}") from None
    if not found:
        raise ConfigError(f"mlflow:{experiment}: the experiment has no finished run")
    return found


def _jobs(client: MlflowClient, experiment: str) -> Iterator[Run]:
    """The runs of jobs, without those of sweeps. Raises ConfigError."""
    known = client.get_experiment_by_name(experiment)
    if known is None:
        have = ", ".join(sorted(one.name for one in client.search_experiments() if one.experiment_id != "0"))
        raise ConfigError(f"mlflow:{experiment}: there is no such experiment; there are {have or 'none'}")
    token: str | None = None
    while token != "":
        page = client.search_runs(
            [known.experiment_id], "tags.level = 'job'", max_results=_PAGE, order_by=["attributes.start_time ASC"],
            page_token=token,
        )  # fmt: skip
        yield from page
        token = page.token or ""


def _folder(client: MlflowClient, run: Run, into: Path) -> Path:
    """Where a run is: at the place it tells, if that is still this run's, else as its artifacts have it."""
    place = Path(run.data.tags.get("folder", ""))
    if (place / RECORDS).is_file() and (place / MANIFEST).is_file() and _is_of(place, run):
        return place
    fetched = into / str(run.info.run_id)
    fetched.mkdir(parents=True, exist_ok=True)
    for artifact in client.list_artifacts(run.info.run_id):
        if not artifact.is_dir:
            client.download_artifacts(run.info.run_id, artifact.path, str(fetched))
    if not (fetched / RECORDS).is_file():
        raise ConfigError(
            f"mlflow: run {run.info.run_name} is not at {place}, and its records were not sent (tracking.permits)"
        )
    return fetched


def _is_of(place: Path, run: Run) -> bool:
    """Whether a folder is the one that was sent as this run."""
    from runner.storage import manifest

    return (manifest.read(place).get("mlflow") or {}).get("id") == run.data.tags.get("folder_id")
