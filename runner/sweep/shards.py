"""``run.shards=n``: a job run as n parts, which any launcher spreads, and made one run folder again."""

import shutil
from dataclasses import replace
from typing import cast

from components.core.errors import ConfigError
from components.core.traits import SourceTraits, declared
from runner.experiment.experiment import Experiment, facts_of, study
from runner.job.exit_codes import BUDGET, ERRORS
from runner.job.plan import Cell
from runner.learning.memory import ONE_BY_ONE
from runner.storage import manifest, records
from runner.storage.integrity import write_metrics
from runner.storage.resume import config_text, is_complete, parts_of, refuse_changes
from runner.storage.schema import Manifest
from runner.study.log import note_begin, note_end
from runner.terminal.command import print_lines

PARTS = "parts"
_MERGED = "merged"
_OF_THE_PARTS = ("memory", "notes", "sandbox", "counts", "identities")  # what they found while they ran


def split(cell: Cell, experiment: Experiment) -> None:
    """Give a job its parts, unless it is finished. Raises ConfigError, also for a folder that was started with other
    parts."""
    n, folder = parts_of(cell.cfg), cell.folder
    begun = {int(path.name.rpartition("-of-")[2]) for path in folder.glob(f"{PARTS}/*-of-*")}
    if n is not None and not begun and (folder / records.FILE).exists() and not is_complete(folder):
        raise ConfigError(f"{folder} was started undivided; resume without run.shards")
    if begun and n not in begun and not is_complete(folder):
        raise ConfigError(f"{folder} was started in {max(begun)} parts; resume with run.shards={max(begun)}")
    if n is None or cell.complete:
        return
    if cell.cfg.get("stage") is not None:
        raise ConfigError("run.shards: a stage cannot be run in parts; remove run.shards")
    if experiment.source is not None and declared(experiment.source, SourceTraits).grows:
        raise ConfigError(ONE_BY_ONE.format("run.shards"))
    if n > len(experiment.samples):
        raise ConfigError(f"run.shards={n}: there are {len(experiment.samples)} samples; each part needs at least one")
    cell.facts, cell.ids = facts_of(experiment), tuple(sample.problem.id for sample in experiment.samples)
    cell.parts = [_part(cell, experiment, i, n) for i in range(1, n + 1)]


def _part(cell: Cell, experiment: Experiment, i: int, n: int) -> Cell:
    """The i-th part, its folder compared with what was begun there. Raises ConfigError."""
    label, shard, folder = f"{cell.label}/{PARTS}/{i}-of-{n}", f"{i}/{n}", cell.folder / PARTS / f"{i}-of-{n}"
    run, tracking = {**cell.cfg["run"], "shard": shard, "shards": None}, {**cell.cfg["tracking"], "uri": None}
    cfg, launch = {**cell.cfg, "run": run, "tracking": tracking}, replace(cell.launch, label=label)
    own = [word for word in cell.overrides if not word.startswith(("run.shards=", "hydra.sweep.subdir="))]
    words = (*own, f"hydra.sweep.subdir={label}", "run.shards=null", f"run.shard={shard}", "tracking.uri=null")
    if (folder / manifest.FILE).exists():
        refuse_changes(folder, cfg)
        mine = replace(experiment, cfg=cfg, launch=launch, samples=experiment.samples[i - 1 :: n])
        study(mine)
        manifest.refuse_others(folder, facts_of(mine))
    complete = is_complete(folder)
    return replace(cell, label=label, folder=folder, cfg=cfg, launch=launch, overrides=words, complete=complete)


def gather(cell: Cell, jobs: int) -> None:
    """Make one run of a job's parts, send it to MLflow as one of ``jobs``, and print how it ended."""
    broken = [part for part in cell.parts if part.error or part.code not in (None, 0, ERRORS, BUDGET)]
    if broken:
        reasons = "; ".join(f"part {part.folder.name}: {part.error or f'exit code {part.code}'}" for part in broken)
        cell.code, cell.error = 1, f"{len(broken)} of {len(cell.parts)} parts failed: {reasons}"
        return
    from runner.results.sections.report import status_line
    from runner.tracking import track

    notes = _merge(cell)
    counts = notes["counts"]
    share = counts["errored"] / counts["finished"] if counts["finished"] else 0.0
    stopped = any(part.code == BUDGET for part in cell.parts)
    failed = share > cell.cfg["run"]["max_error_rate"] or notes["status"] == "partial"  # a part stopped by itself
    cell.code = BUDGET if stopped else ERRORS if failed else 0
    track(cell.folder, cell.cfg, home=cell.home, total_jobs=jobs)
    print_lines(f"{cell.label}: {status_line(notes)} {cell.folder}")


def _merge(cell: Cell) -> Manifest:
    """Put the merged run into the job's folder, its manifest last. Returns that."""
    from runner.results.merge import merge
    from runner.results.metrics import as_json, summarise
    from runner.results.sections.report import report

    fresh, old = cell.folder / PARTS / _MERGED, manifest.read(cell.folder)
    shutil.rmtree(fresh, ignore_errors=True)
    merge([part.folder for part in cell.parts], fresh, cell.ids)
    facts = cast(Manifest, {key: value for key, value in cell.facts.items() if key not in _OF_THE_PARTS})
    notes = manifest.read(fresh) | facts
    notes |= {"mlflow": old.get("mlflow"), "id": old.get("id") or notes["id"]}
    (fresh / "config.yaml").write_text(config_text(cell.cfg), encoding="utf-8")
    slim = [records.slim(record) for record in records.read(fresh)]
    summary = summarise(slim, notes["levels"], notes["by"], cell.facts["kinds"])
    (fresh / "report.md").write_text(report(notes, summary, None), encoding="utf-8")
    note_end(notes)
    manifest.write(fresh, notes)
    write_metrics(fresh, as_json(summary))
    note_begin(cell.folder, notes)
    names = sorted((path.name for path in fresh.iterdir()), key=lambda name: name == manifest.FILE)
    for stale in cell.folder.glob("texts-*.jsonl.gz"):
        stale.unlink()
    for name in names:
        (fresh / name).replace(cell.folder / name)
    fresh.rmdir()
    return notes
