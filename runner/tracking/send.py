"""Send a run, a stage or a sweep; sending again updates the same run of MLflow.

Each function raises what ``store.failures`` lists, and returns the address to look at.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from components.core.errors import ConfigError
from components.core.learning import Made
from runner.storage import disk, manifest
from runner.storage.integrity import METRICS, refuse_changed
from runner.storage.sweeps import home_of, name_of, tag_of
from runner.terminal.command import print_note
from runner.tracking import describe, otlp, traces, unsent
from runner.tracking.describe import Job, job_of, stage_facts
from runner.tracking.store import (
    Tracker,
    connect,
    database_of,
    failures,
    place_of,
    servers_of,
    short,
    texts_may_leave,
    view_url,
)
from runner.tracking.unsent import Unsent, UnsentRun, UnsentStage, UnsentSweep

_TEXT_FILES = (manifest.FILE, METRICS, "report.*", "records.jsonl", "texts-*.jsonl.gz", "run.log", "plots/*")
_WITH_TEXTS = ("errors", "stopped", "notes")  # of a manifest: an exception may quote a sample
_QUIET_SECONDS = 300.0  # without progress, after a failure


def send_unsent(
    place: Path, chosen: Sequence[Path] | None = None, report: Callable[[str], None] = lambda whom: None
) -> unsent.Outcome:
    """Send all marked runs, or the ``chosen`` ones, except running ones; processes take turns. Reasons for failures are
    noted for the next command. ``report``: gets the one that is waited for, whenever that changes, and nothing when
    something was sent."""
    found, down = unsent.Outcome(), dict[str, Exception]()
    for path in unsent.markers(place) if chosen is None else chosen:
        report(f"another process that sends the runs in {place}")
        with unsent.sending(place):
            work: Unsent | None = None
            was_tried = False
            try:
                if (work := unsent.read(path)) is None or work.is_elsewhere:
                    continue
                if isinstance(work, UnsentRun) and unsent.is_running(work.folder):
                    was_tried = chosen is not None  # nobody waits for a run that was begun again
                    continue
                was_tried = True
                report(servers_of(work.config["tracking"]) or "MLflow")
                if work.is_removed:
                    raise unsent.put_aside(path, f"is of {work.folder}, which was moved or removed")
                if not work.folder.is_dir():
                    raise FileNotFoundError("the folder is not there; is its disk mounted?")
                is_owed = isinstance(work, UnsentRun) and not work.collected
                with otlp.collecting(work.folder, work.config if is_owed else {}, path):
                    _send(place, work, down)
                found.sent += 1
                path.unlink(missing_ok=True)
                report("")
            except unsent.BadMarker as error:
                found.aside += 1
                found.failed.append(str(error))
            except failures(ConfigError) as error:
                was_tried = True
                folder, uri = (path, "") if work is None else (work.folder, work.uri)
                whole = not isinstance(work, UnsentRun)
                found.failed.append(unsent.line(place, folder, error, uri, whole=whole))
                unsent.note(place, found.failed)  # before a command that waits sees that it was tried
            finally:
                if was_tried:  # also after a bug: others are sent before it the next time
                    unsent.put_last(path)
    if found != unsent.Outcome():
        unsent.note(place, found.failed)
    return found


def _send(place: Path, work: Unsent, down: dict[str, Exception]) -> None:
    """Send what a marker has. ``down``: the stores that did not answer, which are not asked for every run."""
    config, place = work.config, place.resolve()
    with chdir(work.cwd):
        if place_of(uri := config["tracking"]["uri"]).resolve() != place:
            raise ConfigError(f"its marker names another store than {place}")
        if uri not in down:
            try:
                connect(config)
            except failures() as error:
                down[uri] = error
        if uri in down:
            raise down[uri]
        match work:
            case UnsentRun():
                track(work.folder, config, tag=work.tag, total_jobs=work.total_jobs)
            case UnsentStage():
                track_made(Made(work.folder, work.lines, work.empty, work.figures), config, work.choices)
            case UnsentSweep():
                finish_sweep(work.folders, config, tag=work.tag, files=files_below(work.folder, work.files))


def files_below(folder: Path, files: Sequence[Path]) -> list[Path]:
    """The files that lie in a folder, wherever links lead: a marker may be forged."""
    return [path for path in files if path.resolve().is_relative_to(folder.resolve())]


def send_folder(folder: Path, config: Mapping[str, Any], name: str | None) -> str | None:
    """Send a run folder again. Returns its page; None where there is no tracker, or after a line on what failed.
    ``name``: of its sweep."""
    if not (tracking := config.get("tracking") or {}).get("uri"):
        return None
    place = place_of(tracking["uri"])
    try:
        with unsent.sending(place):
            tag = tag_of(home) if name and (home := home_of(folder, name)) else None
            with unsent.discarding(folder, config, job_of(folder).id), otlp.collecting(folder, config):
                url = track(folder, config, tag=tag)
        unsent.note(place, [])
    except failures(ConfigError) as error:
        print_note(f"warning: {unsent.line(place, folder, error, tracking['uri'])}")
        return None
    return url


class Progress:
    """The progress of runs that their command executes: their runs in MLflow, made when they begin."""

    def __init__(self) -> None:
        self._runs: dict[Path, tuple[Tracker, str]] = {}
        self._next = 0.0

    def forget(self, marker: Path) -> None:
        """The run is finished."""
        self._runs.pop(marker, None)

    def send(self, marker: Path, figures: Mapping[str, float]) -> None:
        """Send the newest figures of a run that is not finished; after a failure none for some minutes."""
        if time.monotonic() < self._next:
            return
        place = marker.parent.parent
        with unsent.sending(place):
            work: Unsent | None = None
            try:
                work = unsent.read(marker)
                if isinstance(work, UnsentRun) and unsent.is_running(work.folder):
                    with chdir(work.cwd):
                        self._send(marker, work, figures)
            except failures(ConfigError) as error:
                self._next = time.monotonic() + _QUIET_SECONDS
                why = short(error, database_of(work.uri) if work else None)
                unsent.note(place, [f"MLflow does not show the progress, the run continues: {why}"])

    def _send(self, marker: Path, work: UnsentRun, figures: Mapping[str, float]) -> None:
        if marker not in self._runs:
            job, tracker = job_of(work.folder), connect(work.config)
            parent = _parent_of(tracker, work.config, job, work.tag, work.total_jobs)
            run_id = tracker.run(job, parent)
            tracker.client.update_run(run_id, "RUNNING", job.name)  # it may be one that is resumed
            self._runs[marker] = tracker, run_id
        if figures:
            from mlflow.entities import Metric

            (tracker, run_id), now, step = self._runs[marker], int(time.time() * 1000), int(figures["samples"])
            metrics = [Metric(f"system/progress/{name}", value, now, step) for name, value in figures.items()]
            tracker.client.log_batch(run_id, metrics)


def track(folder: Path, config: Mapping[str, Any], *, tag: str | None = None, total_jobs: int = 1) -> str:
    """Send a complete or partial run folder; sending it again updates the same run. Figures first, so that they are
    there even where the tracker fails during files or traces. ``tag``: of its sweep. Raises Damaged for files that are
    not as the run wrote them."""
    job, tracker = _whole(folder), connect(config)
    parent = _parent_of(tracker, config, job, tag, total_jobs)
    run_id = tracker.run(job, parent)
    url = view_url(config, tracker.experiment_id, run_id=run_id)
    _remember(folder, config, tracker.experiment_id, run_id, url)
    figures = [(name, 0, value) for name, value in describe.metrics_of(job).items()]
    tags = describe.tags_of(job) | {"level": "job"} | ({"sweep": tag} if tag else {})
    tracker.log(run_id, figures, describe.params_of(job, config), tags)
    if dataset := job.manifest.get("dataset"):
        tracker.log_dataset(run_id, dataset)
    tracker.client.set_terminated(run_id, job.status, job.end)
    tracker.client.update_run(run_id, name=job.name)
    texts = texts_may_leave(config, job.privacy)
    patterns = ("config.yaml", *(_TEXT_FILES if texts else ()))  # a run's folder may hold other files
    paths = [path for pattern in patterns for path in sorted(folder.glob(pattern)) if path.is_file()]
    tracker.upload(run_id, paths, folder)
    if parent is None:
        _remember_newest(config, url)
    if texts:
        selected = traces.plan(folder, str(config["tracking"].get("traces", "none")), config.get("seed"))
        traces.send(tracker, run_id, job, config, selected)
    else:
        facts = {key: value for key, value in job.manifest.items() if key not in _WITH_TEXTS}
        small = {manifest.FILE: facts, METRICS: {"metrics": job.metrics}}  # strata have names of the data
        for name, value in small.items():
            tracker.client.log_text(run_id, json.dumps(value, indent=1, ensure_ascii=False), name)
    return url


def track_made(made: Made, config: Mapping[str, Any], choices: Mapping[str, str]) -> str:
    """Send the folder of a standalone stage; sending it again updates the same run."""
    notes = orjson.loads((made.folder / "manifest.json").read_bytes())
    texts = texts_may_leave(config, str((notes.get("dataset") or {}).get("privacy", "unknown")))
    tracker, id = connect(config), sha256(f"{made.folder.absolute()}\0{notes['begun']}".encode()).hexdigest()[:32]
    run_id = tracker.stage(id, f"{choices.get('stage', 'stage')} {made.folder.name}")
    facts = stage_facts(made, notes, config, choices, texts)
    tracker.log(run_id, facts.figures, facts.params, facts.tags)
    tracker.client.set_terminated(run_id, "FAILED" if made.empty else "FINISHED")
    tracker.upload(run_id, facts.files, made.folder)
    _remember_newest(config, url := view_url(config, tracker.experiment_id, run_id=run_id))
    return url


def _whole(folder: Path) -> Job:
    job = job_of(folder)
    refuse_changed(folder)
    return job


def finish_sweep(folders: Sequence[Path], config: Mapping[str, Any], *, tag: str, files: Sequence[Path] = ()) -> str:
    """Complete the parent run of a sweep of two or more jobs: the table of results, these files, its shared view;
    without ``folders`` make it. Raises what a damaged job raises, after the others are there."""
    jobs, damaged = list[Job](), list[ConfigError]()
    for folder in folders:
        try:
            if (folder / manifest.FILE).exists():
                jobs.append(_whole(folder))
        except ConfigError as error:
            damaged.append(error)
    if not jobs and damaged:
        raise damaged[0]
    tracker = connect(config)
    if (forked := tracker.forked(config)) is not None:
        return view_url(config, tracker.experiment_id, run_id=forked)
    start = min((job.start for job in jobs if job.start is not None), default=None)
    parent = tracker.parent(tag, name_of(tag), start)
    if not folders:
        return view_url(config, tracker.experiment_id, run_id=parent)
    named = (config.get("compare") or {}).get("scores") or ()
    kinds = ",".join(sorted({str(job.manifest.get("model_kind")) for job in jobs}))
    tracker.log(parent, [], {}, {"mlflow.note.content": describe.table(jobs, named), "model_kind": kinds})
    never_started = len(folders) > len(jobs) + len(damaged)
    states = {job.status for job in jobs} | {"FAILED" for _ in damaged} | ({"KILLED"} if never_started else set())
    status = next((one for one in ("FAILED", "KILLED") if one in states), "FINISHED")
    end = max((job.end for job in jobs if job.end is not None), default=None)
    tracker.client.set_terminated(parent, status, end)
    key, view = f"mlflow.sharedViewState.{tag}", describe.shared_view(jobs, tag, named)
    tracker.client.set_experiment_tag(tracker.experiment_id, key, view)
    gone = ["unknown"] * (len(folders) - len(jobs))  # never begun, removed or damaged
    attach(tracker, parent, files, [*(job.privacy for job in jobs), *gone], config)
    _remember_newest(config, url := view_url(config, tracker.experiment_id, tag=tag))
    if damaged:
        raise damaged[0]
    return url


def attach(
    tracker: Tracker, run_id: str, files: Sequence[Path], privacies: Sequence[str], config: Mapping[str, Any]
) -> None:
    """Attach files about jobs of these data classes, the first one at the top, if all of them may leave."""
    if files and all(texts_may_leave(config, privacy) for privacy in privacies):
        tracker.upload(run_id, files, files[0].parent)


def _parent_of(tracker: Tracker, config: Mapping[str, Any], job: Job, tag: str | None, total_jobs: int) -> str | None:
    """The run that a fork continues, else the parent run of a sweep of two or more jobs, made where it is missing."""
    if (forked := tracker.forked(config)) is not None:
        return forked
    return tracker.parent(tag, name_of(tag), job.start) if tag and total_jobs > 1 else None


def _remember(folder: Path, config: Mapping[str, Any], experiment: str, run_id: str, url: str) -> None:
    """Note in the manifest where the run is, unless the run is still executed: then only its process writes it."""
    with disk.folder_lock(folder) as is_free:
        if is_free:
            uri = short(config["tracking"]["uri"])
            describe.remember(folder, {"uri": uri, "experiment_id": experiment, "run_id": run_id, "url": url})


def _remember_newest(config: Mapping[str, Any], url: str) -> None:
    """Note what ``runner.ui`` opens."""
    if (place := place_of(config["tracking"]["uri"])).is_dir():
        (place / unsent.NEWEST).write_text(url.partition("/#")[2])
