"""Composes and checks every job of a sweep before the first one runs."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf, open_dict, read_write
from omegaconf.errors import OmegaConfBaseException

from components.core.errors import ConfigError
from runner.config.composed import COMMAND, Origins, words_of
from runner.config.errors import ConfigErrors, Finding, complain, unreachable
from runner.config.explain import explain, too_deep
from runner.experiment.experiment import facts_of, study
from runner.experiment.privacy import PrivacyRefused
from runner.job.plan import Cell
from runner.job.prepare import note_refusal, prepare
from runner.storage import manifest
from runner.storage.integrity import refuse_changed_records
from runner.storage.resume import is_complete, make_unused, quote_path, refuse_changes, refuse_in_sweep
from runner.sweep.shards import split


def check_all(plan: Sequence[Cell], master: DictConfig, loader: Any, home: Path) -> None:
    """Compose and check; when a job is bad, all bad ones are named, none runs, and the exit code is 2."""
    bad: dict[int, ConfigError] = {}
    places = Origins(loader, master)
    for number, cell in enumerate(plan):
        try:
            _compose(cell, number, master, loader, home)
        except (HydraException, OmegaConfBaseException, ValueError) as error:
            found = explain(error, cell.overrides, places.catalogue)
            place = places.of_swept(found.place.removeprefix(f"{COMMAND}: ")) or found.place
            bad[number] = ConfigErrors([replace(found, place=place)])
        except ConfigError as error:
            bad[number] = error
        except RecursionError:
            bad[number] = too_deep(cell.overrides)
    composed = [(number, cell) for number, cell in enumerate(plan) if number not in bad]
    # Jobs over the same data are checked one after the other, so that they are read once.
    for number, cell in sorted(composed, key=lambda pair: repr(OmegaConf.masked_copy(pair[1].config, "dataset"))):
        try:
            _check(cell, loader, home)
        except ConfigError as error:
            bad[number] = error
            if isinstance(error, PrivacyRefused):
                note_refusal(error, cell.folder)
        except RecursionError:
            bad[number] = too_deep(cell.overrides)
    stages = [
        (c.experiment.stage.place, "; run them one by one, each with its stage.name")
        for c in plan
        if c.experiment and c.experiment.stage
    ]
    folders = Counter([*((c.folder, "") for c in plan), *stages])
    shared = [f"several jobs would write to {f}{hint}" for (f, hint), n in folders.items() if n > 1 and not bad]
    bad |= {-1 - n: ConfigError(text) for n, text in enumerate(shared)}
    if not bad and len({repr(cell.cfg["budget"]["run"]) for cell in plan}) > 1:
        bad[0] = ConfigError("budget.run is one budget for the whole sweep: it cannot be varied")
    if bad:
        _print_errors(plan, dict(sorted(bad.items())))
        raise SystemExit(2)


def sweep_folder(config: DictConfig) -> Path:
    """The folder of the sweep: the one that was given, else a new one. Raises ConfigError for that of a single run."""
    folder, words = Path(config.hydra.sweep.dir), words_of(config, "hydra")
    if run_dir := next((word for word in words if word.startswith("hydra.run.dir=")), None):
        wanted = run_dir.replace("run", "sweep", 1)
        raise ConfigError(f"{run_dir}: this is a sweep (-m, run.shards or a search), whose folder is set by {wanted}")
    given = any(word.startswith("hydra.sweep.dir=") for word in words)
    try:
        return folder if given else make_unused(folder)
    except OSError as error:
        raise unreachable(error) from None


def _compose(cell: Cell, number: int, master: DictConfig, loader: Any, home: Path) -> None:
    words = [f"hydra.sweep.dir={quote_path(home)}"]
    if not any(word.startswith("hydra.sweep.subdir=") for word in words_of(master, "hydra")):
        words.append(f"hydra.sweep.subdir={cell.label}")
    cell.overrides = (*cell.overrides, *words)
    config = cell.config = loader.load_sweep_config(master, list(cell.overrides))
    hydra = config.hydra
    with read_write(hydra), open_dict(hydra):
        hydra.job.id, hydra.job.num = str(number), number
        cell.label = str(hydra.sweep.subdir)
        cell.folder = home / cell.label
        hydra.runtime.output_dir = os.path.abspath(cell.folder)


def _check(cell: Cell, loader: Any, home: Path) -> None:
    """Build the job, try it, and see what there is in its folder. Raises ConfigError."""
    HydraConfig.instance().set_config(cell.config)
    if cell.config.hydra.job.chdir or cell.config.hydra.job.env_set:
        raise ConfigError("hydra.job.chdir and hydra.job.env_set would change all jobs of the process: remove them")
    experiment = prepare(cell.config, loader)
    refuse_in_sweep(experiment.cfg["run"]["resume"], home)
    cell.cfg, cell.launch = experiment.cfg, replace(experiment.launch, swept=tuple(cell.varied))
    experiment = replace(experiment, launch=cell.launch)
    try:
        refuse_changes(cell.folder, cell.cfg)
    except ConfigError as error:
        raise ConfigError(f"{error}; name another hydra.sweep.dir") from None
    if (cell.folder / manifest.FILE).exists():
        study(experiment)  # what a model knows is part of what it is
        manifest.refuse_others(cell.folder, facts_of(experiment))
    cell.complete = is_complete(cell.folder)
    if not cell.complete:
        refuse_changed_records(cell.folder)
    split(cell, experiment)
    if not cell.complete and not cell.parts:
        cell.experiment = experiment


def _print_errors(plan: Sequence[Cell], bad: dict[int, ConfigError]) -> None:
    """Every finding once, with the jobs that have it; it is one where a word of the command line has several values."""
    jobs: dict[Finding, tuple[Finding, list[str]]] = {}
    for number, error in bad.items():
        for finding in error.findings if isinstance(error, ConfigErrors) else (Finding("", str(error)),):
            same = replace(finding, place=finding.place.partition("=")[0])
            jobs.setdefault(same, (finding, []))[1].append(plan[number].label if number >= 0 else "")
    for first, labels in jobs.values():
        more = f" and {len(labels) - 1} more" if len(labels) > 1 else ""
        complain(ConfigError(str(first)), f"job {labels[0]}{more}: " if labels[0] else "")
