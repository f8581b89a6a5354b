"""MLflow: run folders are written first and sent second. The only importer of mlflow, and always lazily.

A tracker that is missing, down or slow costs one warning, never a run: ``python -m runner.report track FOLDER`` sends a
folder again, under the same ids. What is sent returns the address to look at; None when tracking is off or fails.
"""

import logging
import shlex
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

import orjson

from components.core.learning import Made
from runner.tracking import describe, traces
from runner.tracking.describe import job_of, safe, stage_facts
from runner.tracking.store import (
    Tracker,
    connect,
    database_of,
    failures,
    forked_run,
    short,
    texts_may_leave,
    view_url,
)

log = logging.getLogger(__name__)

_TIMEOUT_SECONDS = 30.0
_BEGIN_SECONDS = 0.5  # the first calls leave before MLflow's import, two seconds of a core, slows them
_FILES = ("config.yaml", "manifest.json", "metrics.json")  # without texts of samples
_TEXT_FILES = ("report.*", "records.jsonl", "texts-*.jsonl.gz", "run.log", "plots/*")


def track(folder: Path, config: Mapping[str, Any], *, sweep: str | None = None, total_jobs: int = 1) -> str | None:
    """Send a complete or partial run folder; sending it again updates the same run. Figures first, so that they are
    there even where the tracker fails during files or traces."""
    if not enabled(config):
        return None
    with _guarded(folder):
        job, tracker = job_of(folder), connect(config)
        parent = _parent(tracker, config, sweep, total_jobs, job.start)
        run_id = tracker.run(job, parent)
        url = view_url(config, tracker.experiment_id, run_id=run_id)
        uri, experiment = short(config["tracking"]["uri"]), tracker.experiment_id
        describe.remember(folder, {"uri": uri, "experiment_id": experiment, "run_id": run_id, "url": url})
        figures = [(name, 0, value) for name, value in describe.metrics_of(job).items()]
        tags = describe.tags_of(job) | {"level": "job"} | ({"sweep": safe(sweep)} if sweep else {})
        tracker.log(run_id, figures, describe.params_of(job, config), tags)
        if dataset := job.manifest.get("dataset"):
            tracker.log_dataset(run_id, dataset)
        tracker.client.set_terminated(run_id, job.status, job.end)
        tracker.client.update_run(run_id, name=job.name)
        texts = texts_may_leave(config, job.privacy)
        patterns = (*_FILES, *_TEXT_FILES) if texts else _FILES  # a run's folder may hold other files
        paths = [path for pattern in patterns for path in sorted(folder.glob(pattern)) if path.is_file()]
        tracker.upload(run_id, paths, folder)
        if texts:
            traces.send(tracker, run_id, job, config)
        else:
            log.warning("%s stays here: only figures were sent, see tracking.permits", folder)
        if parent is None:
            _remember_newest(config, url)
        return url


def track_made(made: Made, config: Mapping[str, Any], choices: Mapping[str, str]) -> str | None:
    """Send the folder of a standalone stage; sending it again updates the same run."""
    if not enabled(config):
        return None
    with _guarded(None):
        notes = orjson.loads((made.folder / "manifest.json").read_bytes())
        texts = texts_may_leave(config, str((notes.get("dataset") or {}).get("privacy", "unknown")))
        tracker, id = connect(config), sha256(f"{made.folder.absolute()}\0{notes['begun']}".encode()).hexdigest()[:32]
        run_id = tracker.stage(id, f"{choices.get('stage', 'stage')} {made.folder.name}")
        facts = stage_facts(made, notes, config, choices, texts)
        tracker.log(run_id, facts.figures, facts.params, facts.tags)
        tracker.client.set_terminated(run_id, "FAILED" if made.empty else "FINISHED")
        tracker.upload(run_id, facts.files, made.folder)
        return view_url(config, tracker.experiment_id, run_id=run_id)


def finish_sweep(
    folders: Sequence[Path], config: Mapping[str, Any], *, sweep: str, files: Sequence[Path] = ()
) -> str | None:
    """Complete the parent run of a sweep of two or more jobs: the table of results, these files, its shared view."""
    if not enabled(config) or len(folders) < 2:
        return None
    with _guarded(folders[0].parent):
        sweep, tracker = safe(sweep), connect(config)
        if (forked := forked_run(tracker, config)) is not None:
            return view_url(config, tracker.experiment_id, run_id=forked)
        jobs = [job_of(folder) for folder in folders if (folder / "manifest.json").exists()]
        parent = tracker.parent(sweep, min((job.start for job in jobs if job.start is not None), default=None))
        named = (config.get("compare") or {}).get("scores") or ()
        kinds = ",".join(sorted({str(job.manifest.get("model_kind")) for job in jobs}))
        tracker.log(parent, [], {}, {"mlflow.note.content": describe.table(jobs, named), "model_kind": kinds})
        status = "FINISHED" if all(job.status == "FINISHED" for job in jobs) else "FAILED"
        end = max((job.end for job in jobs if job.end is not None), default=None)
        tracker.client.set_terminated(parent, status, end)
        key, view = f"mlflow.sharedViewState.{sweep}", describe.shared_view(jobs, sweep, named)
        tracker.client.set_experiment_tag(tracker.experiment_id, key, view)
        attach(tracker, parent, files, jobs, config)
        _remember_newest(config, url := view_url(config, tracker.experiment_id, sweep=sweep))
        return url


def attach(
    tracker: Tracker, run_id: str, files: Sequence[Path], jobs: Sequence[describe.Job], config: Mapping[str, Any]
) -> None:
    """Send a sweep's files, unless the texts of some job's data may not leave; the first one is at the top."""
    if files and not all(texts_may_leave(config, job.privacy) for job in jobs):
        log.warning("%s and its tables stay here, see tracking.permits", files[0])
    elif files:
        tracker.upload(run_id, files, files[0].parent)


def prepare(config: Mapping[str, Any], *, sweep: str | None = None, total_jobs: int = 1) -> None:
    """Make database, experiment and a sweep's parent before jobs start on several machines."""
    if enabled(config):
        with _guarded(None):
            _parent(connect(config), config, sweep, total_jobs)


def enabled(config: Mapping[str, Any]) -> bool:
    """Whether there is a tracker to send to."""
    return bool((config.get("tracking") or {}).get("uri"))


class Heartbeat:
    """While a job runs: its run in MLflow, and its progress every ten seconds, from a thread of its own. ``update``
    only leaves the figures for the thread; nothing ever waits for the tracker."""

    def __init__(
        self, folder: Path, config: Mapping[str, Any], *, sweep: str | None = None, total_jobs: int = 1,
        every_seconds: float = 10.0,
    ) -> None:  # fmt: skip
        self._folder, self._config, self._sweep, self._total_jobs = folder, config, sweep, total_jobs
        self._every = every_seconds
        self._figures: dict[str, float] = {}
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._id: str | None = None

    def update(self, *, samples: int, errors: int = 0, tokens: int = 0, usd: float = 0.0) -> None:
        """Leave the newest figures."""
        self._figures = {"samples": samples, "errors": errors, "tokens": tokens, "cost_usd": usd}

    def __enter__(self) -> Self:
        if enabled(self._config):
            with _guarded(self._folder):
                self._id = describe.remember(self._folder, {})["id"]
                context = copy_context()  # its warnings go where the job's do
                self._thread = threading.Thread(target=context.run, args=(self._work,), name="tracking", daemon=True)
                self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()

    def track(self) -> str | None:
        """Send the folder when the run is over and the thread has ended. Blocks: call it off the loop."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_TIMEOUT_SECONDS)
        if (id := self._id) is not None:  # the manifest may have been rewritten without it
            with _guarded(self._folder):
                describe.remember(self._folder, {"id": id})
        return track(self._folder, self._config, sweep=self._sweep, total_jobs=self._total_jobs)

    def _work(self) -> None:
        run: tuple[Tracker, str] | None = None
        first, warned = True, False
        while not self._stop.wait(_BEGIN_SECONDS if first else self._every):
            try:
                if run is None:
                    job, tracker = job_of(self._folder), connect(self._config)
                    parent = _parent(tracker, self._config, self._sweep, self._total_jobs, job.start)
                    run = tracker, tracker.run(job, parent)
                    if not self._stop.is_set():  # the run may be one that is resumed
                        tracker.client.update_run(run[1], "RUNNING", job.name)
                (tracker, run_id), figures, now = run, self._figures, int(time.time() * 1000)
                if figures and not self._stop.is_set():
                    from mlflow.entities import Metric

                    step = int(figures["samples"])
                    metrics = [Metric(f"system/progress/{name}", value, now, step) for name, value in figures.items()]
                    tracker.client.log_batch(run_id, metrics)
            except failures() as error:
                if not first and not warned and not self._stop.is_set():
                    warned = True
                    log.warning("MLflow does not answer, the run continues without it: %s", short(error))
            first = False


def _parent(
    tracker: Tracker, config: Mapping[str, Any], sweep: str | None, total_jobs: int, start: int | None = None
) -> str | None:
    """The run that is continued by a fork, where it is in this experiment; else the parent run of a sweep of two or
    more jobs."""
    if (forked := forked_run(tracker, config)) is not None:
        return forked
    return tracker.parent(safe(sweep), start) if sweep and total_jobs > 1 else None


def _remember_newest(config: Mapping[str, Any], url: str) -> None:
    """Note next to the database what ``runner.ui`` opens."""
    if (database := database_of(config["tracking"]["uri"])) is not None:
        database.with_name("newest").write_text(url.partition("/#")[2])


@contextmanager
def _guarded(folder: Path | None) -> Iterator[None]:
    """A tracker that fails costs one warning; the function around then returns None."""
    try:
        yield
    except failures() as error:
        command = folder and f"python -m runner.report track {shlex.quote(str(folder))}"
        again = f"; nothing is lost, send again: {command}" if command else ""
        log.warning("not sent to MLflow: %s%s", short(error), again)
