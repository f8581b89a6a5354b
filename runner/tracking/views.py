"""Where to look: addresses in MLflow's own page, and the shared view that gives a sweep its columns."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import orjson

from runner.results.kinds import better
from runner.tracking.describe import Job, columns, safe
from runner.tracking.store import Tracker, database_of, without_password

_LOCAL = "http://127.0.0.1:5000"


def view_url(
    config: Mapping[str, Any], experiment_id: str, *, run_id: str | None = None, sweep: str | None = None
) -> str:
    """The page of a run, the shared view of a sweep, or the list of runs. ``workflowType`` picks the layout."""
    page = f"runs/{run_id}" if run_id else "runs"
    query = "workflowType=machine_learning"
    if sweep and not run_id:
        query = f"viewStateShareKey={quote(safe(sweep), safe='')}&{query}"
    return f"{base_url(config)}/#/experiments/{experiment_id}/{page}?{query}"


def base_url(config: Mapping[str, Any]) -> str:
    """Where MLflow's page is served."""
    tracking = config["tracking"]
    uri = str(tracking["uri"])
    served = _LOCAL if database_of(uri) is not None or not uri.startswith("http") else uri
    return without_password(str(tracking.get("ui") or served)).rstrip("/")


def share(tracker: Tracker, sweep: str, jobs: Sequence[Job], named: Sequence[str] = ()) -> None:
    """Store the view: the sweep's jobs, best first, with what varies and the headline metrics (those that are ``named``
    before others) as columns."""
    varied, metrics = columns(jobs, named)
    chosen = [f"params.`{safe(name)}`" for name in varied] + [f"metrics.`{safe(name)}`" for name in metrics]
    if any(job.manifest.get("model_kind") != "live" for job in jobs):
        chosen.append("tags.`model_kind`")
    view = {
        "searchFilter": f"tags.level = 'job' AND tags.sweep = '{sweep}'",
        "orderByKey": f"metrics.`{safe(metrics[0])}`" if metrics else "attributes.start_time",
        "orderByAsc": bool(metrics) and better(metrics[0], [job.manifest for job in jobs]) == "lower",
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "datasetsFilter": [],
        "modelVersionFilter": "All Runs",
        "runsHiddenMode": "SHOW_ALL",
        "selectedColumns": chosen,
    }
    key = f"mlflow.sharedViewState.{sweep}"
    tracker.client.set_experiment_tag(tracker.experiment_id, key, orjson.dumps(view).decode())
