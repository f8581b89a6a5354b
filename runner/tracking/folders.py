"""The run folders of an MLflow experiment: at the places that its runs name, else downloaded from their artifacts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.errors import ConfigError
from runner.storage import manifest
from runner.storage.records import FILE as RECORDS
from runner.tracking.store import DATABASE, absolute, database_of, failures, load, short

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

_PAGE = 200  # runs per request


def folders_of(experiment: str, into: Path, uri: str = DATABASE) -> list[Path]:
    """The folders of an experiment's jobs, the oldest first; those of other machines are downloaded ``into`` a folder.
    Raises ConfigError where there is no such experiment, no run, or one without its records."""
    database = database_of(uri)
    if database is not None and not database.is_file():
        raise ConfigError(f"mlflow:{experiment}: {database} does not exist; run an experiment first, or give --uri")
    if database is not None:
        with suppress(sqlite3.Error), closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as opened:
            names = {name for (name,) in opened.execute("SELECT name FROM experiments")}
            if experiment not in names:  # seen without MLflow, whose import takes seconds
                raise _unknown(experiment, names)
    try:
        load()
        from mlflow import MlflowClient

        client = MlflowClient(absolute(uri))
        known = client.get_experiment_by_name(experiment)
        if known is None:
            raise _unknown(experiment, (one.name for one in client.search_experiments()))
        ids, where, order = [known.experiment_id], "tags.level = 'job'", ["attributes.start_time ASC"]
        folders, token = list[Path](), None
        while token != "":
            page = client.search_runs(ids, where, max_results=_PAGE, order_by=order, page_token=token)
            folders += [_folder(client, run, into) for run in page]
            token = page.token or ""
    except failures() as error:
        raise ConfigError(f"mlflow:{experiment}: MLflow does not answer: {short(error, database)}") from None
    if not folders:
        raise ConfigError(f"mlflow:{experiment}: the experiment has no finished run")
    return folders


def _unknown(experiment: str, names: Iterable[str]) -> ConfigError:
    have = ", ".join(sorted(set(names) - {"Default"}))  # MLflow's own
    return ConfigError(f"mlflow:{experiment}: there is no such experiment; there are {have or 'none'}")


def _folder(client: MlflowClient, run: Run, into: Path) -> Path:
    """The folder that a run names, if it still is this run's, else a copy of its artifacts."""
    folder, id = Path(run.data.tags.get("folder", "")), run.data.tags.get("folder_id")
    if (folder / RECORDS).is_file() and (manifest.read(folder).get("mlflow") or {}).get("id") == id:
        return folder
    copy = into / str(run.info.run_id)
    copy.mkdir(parents=True, exist_ok=True)
    for artifact in client.list_artifacts(run.info.run_id):
        if not artifact.is_dir:
            client.download_artifacts(run.info.run_id, artifact.path, str(copy))
    if not (copy / RECORDS).is_file():
        name = run.info.run_name
        raise ConfigError(f"mlflow: run {name} is not at {folder}, and its records were not sent (tracking.permits)")
    return copy
