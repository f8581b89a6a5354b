"""One job from a built experiment to a finished run folder, its table and its tracking.

Statistics and tables are imported when the samples are finished: the first call does not wait for them.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.errors import ConfigError, ModelError, RunLimitReached
from components.core.traits import MemoryTraits, ModelTraits, declared
from runner.episode.door import Door
from runner.episode.progress import Progress, log_to
from runner.experiment.experiment import Experiment, facts_of, study
from runner.experiment.parts import sandbox_of
from runner.job.execute import Execution, Outcome
from runner.job.exit_codes import BUDGET, COMPLETE, ERRORS
from runner.job.shared_resources import Lease, SharedResources
from runner.learning.memory import learn, remember
from runner.learning.stage_context import StageContext
from runner.storage import disk, manifest
from runner.storage.integrity import METRICS, digests_of, refuse_changed_records
from runner.storage.records import FILE, RecordWriter, key_variables_of, lock_run, read
from runner.storage.resume import config_text, quote_path
from runner.storage.schema import FileDigest, Manifest, Session
from runner.study.frozen import conform
from runner.study.log import note_begin, note_end
from runner.terminal.command import print_lines, print_note, reader_left
from runner.tracking import Heartbeat, track_made

if TYPE_CHECKING:
    from runner.results.metrics import Summary
    from runner.results.table import Table

log = logging.getLogger("runner")
_HIDDEN = "no message of this run held the options of a choice question: do the agent's prompts show problem.choices?"


@dataclass
class _Job:
    """A job that runs: what it has, and what it writes of itself."""

    experiment: Experiment
    folder: Path
    resources: SharedResources
    door: Door
    writer: RecordWriter
    notes: Manifest
    heartbeat: Heartbeat
    printed: Sequence[str] = ()  # notes
    outcome: Outcome = field(default_factory=Outcome)
    seen: Table | None = None
    looked: int = 0  # bytes of records that it is of

    async def run_samples(self, lease: Lease | None) -> int:
        """Execute between the manifest's beginning and its end. Returns the exit code."""
        experiment, resources, door, outcome = self.experiment, self.resources, self.door, self.outcome

        def beat(now: Outcome) -> None:
            spent = door.spent
            self.heartbeat.update(samples=now.finished, errors=now.errored, tokens=spent.tokens, usd=spent.usd)
            if resources.watch is not None:
                now.stopped = now.stopped or resources.watch(experiment, now.finished, self.table_so_far)

        try:
            name, rule = experiment.launch.label or experiment.name, resources.stop_rule(experiment)
            shared = beat, lease, resources.board, rule, resources.watch is not None
            execution = Execution(experiment.parts, door, self.writer, outcome, name, *shared)
            await execution.run(experiment.samples, experiment.epochs, experiment.forks)
        except ConfigError:
            self.finish("refused")
            raise
        failed = outcome.halted or outcome.error_rate > experiment.cfg["run"]["max_error_rate"]
        code = BUDGET if outcome.stopped else ERRORS if failed else COMPLETE
        status = "budget" if outcome.stopped else "complete"
        summary = await self.finish_in_thread("interrupted" if outcome.halted else status)
        try:
            self.print_summary(summary)
            sys.stdout.flush()
        except BrokenPipeError:  # all is written; a reader such as ``head`` has seen enough
            reader_left()
        return code

    def table_so_far(self) -> Table:
        """The table while samples run; only new records since the last call are read."""
        begin, self.looked = self.looked, (self.folder / FILE).stat().st_size
        new = self.table(begin)
        self.seen = new if self.seen is None else self.seen.join([self.seen, new])
        return self.seen

    def table(self, begin: int = 0) -> Table:
        """The columns of the records of the requested samples; ``begin``: bytes of records to skip."""
        from runner.results.table import Table

        wanted = {(sample.problem.id, n) for sample, n in self.experiment.episodes}
        records = read(self.folder, steps=False, begin=begin)
        return Table.of(record for record in records if (record["sample_id"], record["epoch"]) in wanted)

    def _summarise(self, status: str) -> tuple[Summary, dict[str, FileDigest]]:
        """Write metrics of the records. Returns them and the files' digests; of a complete run what reports need of the
        records stays in the folder."""
        from runner.results.column_file import is_large
        from runner.results.metrics import as_json, summarise
        from runner.results.runs import Run

        run, notes = Run(self.folder, self.notes, self.experiment.cfg), self.notes
        if status == "complete" and is_large(self.folder):
            _ = run.steps
        table = run.table if len(run.table) == self.outcome.finished else self.table()
        summary = summarise(table, notes["levels"], notes["by"], notes["kinds"])
        disk.replace(self.folder / METRICS, as_json(summary))
        return summary, digests_of(self.folder)

    async def finish_in_thread(self, status: str) -> Summary:
        """Finish; records, which may be large, are read while other jobs of a sweep run on."""
        self.writer.finish_texts()
        return self.finish(status, await asyncio.to_thread(self._summarise, status))

    def finish(self, status: str, found: tuple[Summary, dict[str, FileDigest]] | None = None) -> Summary:
        """Write manifest and report; the metrics of the records are ``found``, or written now."""
        from runner.results.cells import plain, times
        from runner.results.sections.report import report

        experiment, outcome, notes = self.experiment, self.outcome, self.notes
        self.writer.finish_texts()
        summary, files = found or self._summarise(status)
        resume = None if status == "complete" and not outcome.errored else resume_command(self.folder)
        shared = experiment.launch.sweep is not None  # then a model's counters are those of several jobs
        counters = {role: dict(declared(model, ModelTraits).counters()) for role, model in experiment.models.items()}
        errors = Counter[str]()
        for text, n in outcome.errors.items():
            errors[plain(text)] += n
        sessions = [*notes["sessions"], _session(self.door)]
        hidden = [_HIDDEN] if outcome.shows_options is False else []
        notes |= {
            "status": status,
            "stopped": outcome.stopped or outcome.halted,
            "end": manifest.now(),
            "counts": {
                "finished": outcome.finished,
                "wanted": len(experiment.episodes),
                "errored": outcome.errored,
            },
            "errors": dict(errors.most_common(5)),
            "sandbox": sandbox_of(experiment.parts),  # with what it had to kill
            "sessions": sessions,
            "calls": {
                "sent": sum(one["sent"] for one in sessions),
                "from_journal": sum(one["from_journal"] for one in sessions),
                "separate": sum(one.get("separate", 0) for one in sessions),
                "models": {} if shared else {role: counted for role, counted in counters.items() if counted},
            },
            "spent": manifest.spent(sessions),
            "notes": list(dict.fromkeys([*notes["notes"], *hidden])),
        }
        note_end(notes)
        log.info("%s: %s; %s", status, notes["counts"], notes["calls"])
        for text, n in notes["errors"].items():
            log.warning("%s: %s", times(n), text)
        notes["mlflow"] = manifest.read(self.folder).get("mlflow")
        notes["files"] = files
        disk.replace(self.folder / "report.md", report(notes, summary, resume))
        manifest.write(self.folder, notes)  # last: a complete run has all its files
        return summary

    def print_summary(self, summary: Summary) -> None:
        """On the terminal; a line for a job of a sweep."""
        from runner.results.cells import times
        from runner.results.metrics import overflow_line
        from runner.results.sections.report import calls_line, present, status_line

        folder, notes = self.folder, self.notes
        blinded = notes.get("protocol")
        if self.experiment.launch.sweep is not None or blinded:
            print_lines(f"{self.experiment.launch.label or notes['name']}: {status_line(notes)} {folder}")
            if blinded and self.experiment.launch.sweep is None:
                print_lines(f"results:    python -m runner.protocol report {quote_path(Path(blinded['study']))}")
            return
        simulated = " (simulated model)" if notes["model_kind"] == "simulated" else ""
        present(f"{notes['name']}{simulated}: {status_line(notes)}", notes, summary)
        learnt = f"memory:     {notes['memory']} (in run.memory)" if notes.get("memory") else None
        calls = calls_line(notes, self.outcome.finished - self.outcome.n_run)
        new = [f"note:       {note}" for note in notes["notes"] if note not in self.printed]
        lines = [calls, learnt, notes["stopped"], overflow_line(summary["metrics"]), *new]
        lines += [f"run folder: {folder}", f"all values: python -m runner.report table {quote_path(folder)} --all"]
        if notes["counts"]["errored"]:
            text, n = next(iter(notes["errors"].items()))
            trace = "; run.log has the trace" if text.startswith("bug:") else ""
            lines.append(f"errors:     {times(n)}: {text}{trace}")
            lines.append(f"to resume:  {resume_command(folder)}")
        print_lines(*filter(None, lines))


async def run_job(experiment: Experiment, folder: Path, resources: SharedResources, lease: Lease | None = None) -> int:
    """Run the remaining samples, write the folder, print the table, track; or run the config's stage. Returns the exit
    code. When cancelled, finished samples are kept and sent to MLflow; an interrupt does not wait for that."""
    study(experiment)
    if experiment.cfg.get("stage") is not None:
        return await _run_stage(experiment, resources)
    cfg, facts = experiment.cfg, facts_of(experiment)
    async with AsyncExitStack() as own:
        experiment = resources.share(experiment, own)
        door = resources.door(experiment)
        own.callback(resources.finish, experiment.launch.label, door.spent)
        home = None if experiment.launch.sweep is None else Path(experiment.launch.sweep)
        heartbeat = own.enter_context(Heartbeat(folder, cfg, home=home, total_jobs=resources.jobs))
        own.callback(os.close, lock := lock_run(folder))
        if cfg.get("protocol"):
            facts |= conform(cfg, facts, manifest.read(folder).get("protocol", {}).get("log", ""))
        manifest.refuse_others(folder, facts)
        refuse_changed_records(folder)
        own.callback(log_to(folder / "run.log").close)
        before = manifest.read(folder).get("memory")
        config = config_text(cfg)
        notes = manifest.begin(folder, facts, config)  # without digests, before records are repaired
        disk.replace(folder / "config.yaml", config)
        writer = RecordWriter(folder, key_variables_of(cfg), lock)
        own.callback(writer.close)
        log.info("begun: %s", notes["command"])
        note_begin(folder, notes)
        if experiment.launch.sweep is None:  # a sweep prints the notes of its jobs when it ends, with their methods
            for note in notes["notes"]:
                print_note(f"note: {note}")
        heartbeat.begin()
        job = _Job(experiment, folder, resources, door, writer, notes, heartbeat, tuple(notes["notes"]))
        try:
            job.experiment = await remember(experiment, door, folder, before, notes)
            return await job.run_samples(lease)
        except asyncio.CancelledError:
            if notes["status"] == "running":
                job.finish("interrupted")
            raise
        except (ModelError, RunLimitReached) as error:  # of making the memory; those of samples are their records
            job.outcome.stopped = f"no memory: {error}"
            job.finish("interrupted")
            print_lines(f"the memory was not made: {error}", f"to resume:  {resume_command(folder)}")
            return ERRORS if isinstance(error, ModelError) else BUDGET


def _session(door: Door) -> Session:
    """What this process asked and spent; a resumed run has several."""
    spent, answered_by = door.spent, dict[str, list[str]]()
    for role, model in sorted(door.answered_by):
        answered_by.setdefault(role, []).extend([model] if model else [])
    return {
        "sent": spent.calls,
        "from_journal": door.replayed,
        "separate": door.separate_calls,
        "journal_written": None if door.journal is None else door.journal.last_written,
        "answered_by": answered_by,
        "usd": None if spent.unpriced else spent.usd,
        "input_tokens": None if spent.unreported else spent.input_tokens,
        "output_tokens": None if spent.unreported else spent.output_tokens,
    }


def resume_command(folder: Path) -> str:
    """The command that resumes a run."""
    return manifest.command_line(f"run.resume={quote_path(folder)}")


async def _run_stage(experiment: Experiment, resources: SharedResources) -> int:
    """A standalone stage, or the making of the memory."""
    name = "the memory" if experiment.stage is None else experiment.launch.choices.get("stage", "the stage")
    async with AsyncExitStack() as own:
        experiment = resources.share(experiment, own)
        door = resources.door(experiment)
        own.callback(resources.finish, experiment.launch.label, door.spent)
        try:
            if experiment.stage is None:
                folder, lines = await learn(experiment, door)
                if experiment.source is not None and folder is not None:
                    lines += declared(experiment.source.open(folder, ""), MemoryTraits).notes
                how = "made now" if door.spent.calls + door.replayed else "already complete"
                lines, code, made = [*lines, f"memory:     {folder} ({how})"], COMPLETE, None
            else:
                with Progress(door, 0, 0, name) as progress:
                    made = await experiment.stage.make(StageContext(experiment, door, progress))
                lines, code = [*made.lines, f"folder:     {made.folder}"], ERRORS if made.empty else COMPLETE
        except (ModelError, RunLimitReached) as error:
            verb = "made" if experiment.stage is None else "finished"
            print_lines(f"{name} was not {verb}: {error}", "to resume, give the same command again")
            return ERRORS if isinstance(error, ModelError) else BUDGET
    from runner.results.sections.report import calls_of

    print_lines(*lines, calls_of([_session(door)]))
    if made:
        track_made(made, experiment.cfg, experiment.launch.choices)
    return code
