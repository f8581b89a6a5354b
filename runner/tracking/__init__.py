"""MLflow: disk first, this second. The only importer of mlflow, and always lazily.

A tracker that is missing, down or slow costs one warning, never a run: ``python -m runner.report
track FOLDER`` sends a folder again, under the same ids.
"""

import logging
import shlex
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

from components.core.learning import Made
from runner.tracking import describe, stages, traces
from runner.tracking.attached import attach
from runner.tracking.describe import Job, job_of, safe
from runner.tracking.store import Tracker, connect, database_of, texts_may_leave, troubles, without_password
from runner.tracking.views import share, view_url

log = logging.getLogger(__name__)

_PATIENCE_SECONDS = 30.0
_BARE = ("config.yaml", "manifest.json", "metrics.json")  # files without texts of samples
_WITH_TEXTS = ("report.*", "records.jsonl", "texts-*.jsonl.gz", "run.log", "plots/*")


def track(folder: Path, config: Mapping[str, Any], *, sweep: str | None = None, total_jobs: int = 1) -> str | None:
    """Send a finished or partial run folder; sending it again changes what is there and doubles nothing.

    Returns the address to look at; None when tracking is off or the tracker is in trouble (a warning says which).
    """
    if not enabled(config):
        return None
    return _guarded(lambda: _track(folder, config, sweep, total_jobs), folder)


def track_made(made: Made, config: Mapping[str, Any], choices: Mapping[str, str]) -> str | None:
    """Send what a stage of its own made. Returns the address to look at; None when off or in trouble."""
    return _guarded(lambda: stages.send(made, config, choices), None) if enabled(config) else None


def finish_sweep(
    folders: Sequence[Path], config: Mapping[str, Any], *, sweep: str, files: Sequence[Path] = ()
) -> str | None:
    """Give a sweep of two or more jobs its parent run with the table of results and these files, and its shared view.

    Returns the view's address.
    """
    if not enabled(config) or len(folders) < 2:
        return None
    return _guarded(lambda: _finish_sweep(folders, config, safe(sweep), files), folders[0].parent)


def prepare(config: Mapping[str, Any], *, sweep: str | None = None, total_jobs: int = 1) -> None:
    """Make database, experiment and a sweep's parent before jobs start on several machines."""
    if enabled(config):
        _guarded(lambda: str(_parent(connect(config), sweep, total_jobs)), None)


def enabled(config: Mapping[str, Any]) -> bool:
    """Whether there is a tracker to send to."""
    return bool((config.get("tracking") or {}).get("uri"))


class Heartbeat:
    """While a job runs: its run in MLflow, and its progress every ten seconds, from a thread of its own.

    ``update`` only leaves the figures for the thread; nobody ever waits for the tracker.
    """

    def __init__(
        self,
        folder: Path,
        config: Mapping[str, Any],
        *,
        sweep: str | None = None,
        total_jobs: int = 1,
        every_seconds: float = 10.0,
    ) -> None:
        self._place = folder, config, sweep, total_jobs
        self._every = every_seconds
        self._figures: dict[str, float] = {}
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._id: str | None = None
        self._warned = False

    def update(self, *, samples: int, errors: int = 0, tokens: int = 0, usd: float = 0.0) -> None:
        """Leave the newest figures."""
        self._figures = {"samples": samples, "errors": errors, "tokens": tokens, "cost_usd": usd}

    def __enter__(self) -> Self:
        folder, config, _, _ = self._place
        if enabled(config) and (id := _guarded(lambda: describe.identify(folder), folder)):
            self._id = id
            here = copy_context()  # it warns as its job does
            self._thread = threading.Thread(target=here.run, args=(self._work,), name="tracking", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()

    def track(self) -> str | None:
        """Send the folder when the run is over and the thread has let go. Blocks: call it off the loop."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_PATIENCE_SECONDS)
        folder, config, sweep, total_jobs = self._place
        if (known := self._id) is not None:  # a manifest that was written anew may have lost it
            _guarded(lambda: str(describe.remember(folder, {"id": known})), folder)
        return track(folder, config, sweep=sweep, total_jobs=total_jobs)

    def _work(self) -> None:
        found: tuple[Tracker, str] | None = None
        beat = 0
        while True:
            try:
                found = found or self._start()
                self._beat(*found)
            except troubles() as error:
                if beat and not self._warned and not self._stop.is_set():
                    self._warned = True
                    log.warning("MLflow does not answer, the run goes on without it: %s", _short(error))
            if self._stop.wait(self._every):
                return
            beat += 1

    def _start(self) -> tuple[Tracker, str]:
        folder, config, sweep, total_jobs = self._place
        job, tracker = job_of(folder), connect(config)
        run_id = tracker.run(job, _parent(tracker, sweep, total_jobs, job.start))
        if not self._stop.is_set():  # the run may be one that is resumed
            tracker.client.update_run(run_id, "RUNNING", job.name)
        return tracker, run_id

    def _beat(self, tracker: Tracker, run_id: str) -> None:
        from mlflow.entities import Metric

        figures, now = self._figures, int(time.time() * 1000)
        step = int(figures.get("samples", 0))
        if figures and not self._stop.is_set():
            metrics = [Metric(f"system/progress/{name}", value, now, step) for name, value in figures.items()]
            tracker.client.log_batch(run_id, metrics)


def _track(folder: Path, config: Mapping[str, Any], sweep: str | None, total_jobs: int) -> str:
    """Figures first, so that they stand even where the tracker breaks off during files or traces."""
    job, tracker = job_of(folder), connect(config)
    parent = _parent(tracker, sweep, total_jobs, job.start)
    run_id = tracker.run(job, parent)
    url = view_url(config, tracker.experiment_id, run_id=run_id)
    uri = without_password(str(config["tracking"]["uri"]))
    describe.remember(folder, {"uri": uri, "experiment_id": tracker.experiment_id, "run_id": run_id, "url": url})
    _figures(tracker, run_id, job, config, {"level": "job"} | ({"sweep": safe(sweep)} if sweep else {}))
    tracker.client.set_terminated(run_id, job.status, job.end)
    tracker.client.update_run(run_id, name=job.name)
    texts = texts_may_leave(config, str((job.manifest.get("dataset") or {}).get("privacy", "unknown")))
    _files(tracker, run_id, folder, (*_BARE, *_WITH_TEXTS) if texts else _BARE)
    if texts:
        traces.send(tracker, run_id, job, config)
    else:
        log.warning("%s stays here: only figures were sent, see tracking.permits", folder)
    if parent is None:
        _newest(config, url)
    return url


def _figures(tracker: Tracker, run_id: str, job: Job, config: Mapping[str, Any], tags: Mapping[str, str]) -> None:
    """Params, tags, metrics and the dataset; of what is there already only what changed. Params cannot."""
    from mlflow.entities import Dataset, DatasetInput, InputTag, Metric, Param, RunTag

    known, now = tracker.client.get_run(run_id).data, int(time.time() * 1000)
    metrics = {name: value for name, value in describe.metrics_of(job).items() if known.metrics.get(name) != value}
    params = {name: value for name, value in describe.params_of(job, config).items() if name not in known.params}
    tracker.client.log_batch(
        run_id,
        [Metric(name, value, now, 0) for name, value in metrics.items()],
        [Param(name, value) for name, value in params.items()],
        [RunTag(name, value) for name, value in {**describe.tags_of(job), **tags}.items()],
    )
    if dataset := job.manifest.get("dataset"):
        name = " ".join(str(dataset[key]) for key in ("name", "split") if dataset.get(key))
        profile = orjson.dumps({"num_rows": dataset.get("samples")}).decode()
        entity = Dataset(name, str(dataset.get("fingerprint", ""))[:36], "local", "{}", profile=profile)
        tracker.dataset(run_id, DatasetInput(entity, [InputTag("mlflow.data.context", "evaluation")]))


def _files(tracker: Tracker, run_id: str, folder: Path, patterns: Sequence[str]) -> None:
    """The run's own files by name: its folder may hold others."""
    for pattern in patterns:
        for path in sorted(folder.glob(pattern)):
            if path.is_file():
                below = path.parent.relative_to(folder).as_posix()
                tracker.client.log_artifact(run_id, str(path), None if below == "." else below)


def _finish_sweep(folders: Sequence[Path], config: Mapping[str, Any], sweep: str, files: Sequence[Path]) -> str:
    tracker = connect(config)
    jobs = [job_of(folder) for folder in folders if (folder / "manifest.json").exists()]
    starts = [job.start for job in jobs if job.start is not None]
    ends = [job.end for job in jobs if job.end is not None]
    parent = tracker.parent(sweep, min(starts, default=None))
    named = (config.get("compare") or {}).get("scores") or ()
    tracker.client.set_tag(parent, "mlflow.note.content", describe.table(jobs, named))
    kinds = {str(job.manifest.get("model_kind")) for job in jobs}
    tracker.client.set_tag(parent, "model_kind", ",".join(sorted(kinds)))
    done = all(job.status == "FINISHED" for job in jobs)
    tracker.client.set_terminated(parent, "FINISHED" if done else "FAILED", max(ends, default=None))
    share(tracker, sweep, jobs, named)
    attach(tracker, parent, files, jobs, config)
    url = view_url(config, tracker.experiment_id, sweep=sweep)
    _newest(config, url)
    return url


def _parent(tracker: Tracker, sweep: str | None, total_jobs: int, start: int | None = None) -> str | None:
    """The parent run of a sweep of two or more jobs."""
    return tracker.parent(safe(sweep), start) if sweep and total_jobs > 1 else None


def _newest(config: Mapping[str, Any], url: str) -> None:
    """Note beside the database what ``runner.ui`` opens."""
    if (database := database_of(config["tracking"]["uri"])) is not None:
        database.with_name("newest").write_text(url.partition("/#")[2])


def _guarded(work: Callable[[], str], folder: Path | None) -> str | None:
    """Do the work; a tracker in trouble costs one warning."""
    try:
        return work()
    except troubles() as error:
        again = (
            ""
            if folder is None
            else f"; nothing is lost, send again: python -m runner.report track {shlex.quote(str(folder))}"
        )
        log.warning("not sent to MLflow: %s%s", _short(error), again)
        return None


def _short(error: Exception) -> str:
    """The first line of an error, without passwords."""
    return without_password(str(error).strip().partition("\n")[0])[:300] or type(error).__name__
