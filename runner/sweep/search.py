"""Hydra's sweeper of ``hydra/sweeper=optuna``: asks the study for trials, runs them as jobs of a sweep, reports."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, OmegaConf

from components.core.errors import ConfigError
from runner.config import composed as configs
from runner.config.build import check
from runner.config.errors import ConfigErrors, nearest
from runner.episode.budget import Budget, Spent
from runner.experiment.experiment import Experiment, declared_scores
from runner.job.exit_codes import BUDGET
from runner.job.plan import Cell, key_of
from runner.results.table import Table
from runner.storage.resume import metrics_of, parts_of, quote_path
from runner.sweep.check import check_all, sweep_folder
from runner.sweep.launcher import Launcher, Sweeper, exit_code
from runner.sweep.search_space import Search, Space, corners, groups_of, space_of, words_at
from runner.sweep.search_study import Study, Trial, conclude, library, worse
from runner.terminal.command import print_note

_GROUP = "search"


@dataclass(frozen=True)
class SearchRun:
    """A search under way. ``fixed``: the words that every trial has; ``plan``: number of a trial -> its job."""

    search: Search
    space: Space
    fixed: Sequence[str]
    home: Path
    pruner: Pruner | None = None
    spent: Spent = field(default_factory=Spent)
    plan: dict[int, Cell] = field(default_factory=dict)

    def cell(self, point: Mapping[str, Any], label: str) -> Cell:
        """The job of a point."""
        words = words_at(self.space, point)
        varied = {key.lstrip("+"): word for key, word in words.items()}
        overrides = (*self.fixed, *(f"{key}={word}" for key, word in words.items()))
        return Cell(overrides, varied, label, self.home / label)

    def add(self, trial: Trial) -> Cell:
        """The job of a trial, noted in the plan."""
        cell = self.plan[trial.number] = self.cell(trial.point, f"trial-{trial.number:04}")
        return cell


class Searcher(Sweeper):
    """Trials instead of all combinations. The same folder resumes: trials that were interrupted, failed or reached the
    budget are completed with the same values before new trials are requested."""

    def sweep(self, arguments: list[str]) -> None:
        """Check the search, then ask, run and report until all trials are there or the budget is spent."""
        library()
        run = self._read(arguments)
        first, *others = [run.cell(point, f"{_GROUP}-{n}") for n, point in enumerate(corners(run.space))]
        self._check([first], run)  # what all have is said once
        self._check(others, run)
        self.task.started, self.task.resume = True, f"hydra.sweep.dir={quote_path(run.home)}"
        with Study(run.home, run.search, run.space) as study:
            self._resume(study, run)
            print_note(f"search of {study.wanted} trials, {len(study.trials)} of them earlier: {run.home}")
            stopped = False
            while not stopped and (batch := _next_batch(study, run.search.at_once)):
                stopped = self._run_batch(study, run, batch)
            conclude(study, run.search, run.space, run.plan)
        code = exit_code(list(run.plan.values()))
        self.task.code = code or (BUDGET if stopped else 0)

    def _read(self, arguments: Sequence[str]) -> SearchRun:
        """What is searched, from config and command line. Raises ConfigErrors."""
        assert self.config is not None and self.hydra_context is not None
        loader = self.hydra_context.config_loader
        parser = OverridesParser.create(config_loader=loader)
        given = parser.parse_overrides(list(arguments))
        mine = {key_of(one) for one in given}
        given = [*(one for one in parser.parse_overrides(self._parse_config()) if key_of(one) not in mine), *given]
        for one in given:  # of a metric that one word names twice Hydra would take the last
            names = re.findall(r"[{,]\s*([^:{},]+?)\s*:", str(one.input_line))
            doubles = [name for name, n in Counter(names).items() if n > 1]
            if doubles and key_of(one) == f"{_GROUP}.objectives":
                raise ConfigError(f"search.objectives: {doubles[0]} is given twice")
        fixed = [str(one.input_line) for one in given if not one.is_sweep_override()]
        config = loader.load_sweep_config(self.config, fixed)
        if not isinstance(config[_GROUP], DictConfig):
            raise ConfigError("search is a mapping of settings, each of which is given by its name: search.trials=20")
        try:
            search = check(Search, configs.resolve(config)[_GROUP], _GROUP)
        except ConfigErrors as error:
            raise configs.with_places(error.findings, config, loader) from None
        written = search.space or {}
        if groups := groups_of(written, given):
            config = loader.load_sweep_config(self.config, [*fixed, *groups])
        space = space_of(written, given, lambda key: OmegaConf.select(config, key))
        fixed = [*(word for word in fixed if not word.lstrip("+").startswith(f"{_GROUP}.")), f"~{_GROUP}"]
        pruner = None
        if search.prune_after is not None:
            if not isinstance(self.launcher, Launcher):
                raise ConfigError("search.prune_after watches running trials, which needs hydra/launcher=wardround")
            ((metric, high),) = search.maximised.items()
            pruner = self.launcher.watch = Pruner(metric, high, search.prune_after)
        return SearchRun(search, space, fixed, sweep_folder(self.config), pruner)

    def _check(self, cells: Sequence[Cell], run: SearchRun) -> None:
        """Refuse what cannot run. Raises SystemExit, ConfigError."""
        assert self.config is not None and self.hydra_context is not None
        check_all(cells, self.config, self.hydra_context.config_loader, run.home)
        if any(cell.cfg["run"]["preflight"] for cell in cells):
            raise ConfigError("run.preflight estimates known jobs, and a search chooses them later; set budget.run")
        if run.pruner is not None and any(parts_of(cell.cfg) for cell in cells):
            raise ConfigError("search.prune_after needs whole trials, which run.shards divides: set only one of them")
        if any(cell.cfg.get("stage") is not None for cell in cells):
            raise ConfigError("a stage produces no metrics to search by: remove search or stage")

    def _resume(self, study: Study, run: SearchRun) -> None:
        """Keep what was reported, if it is still the same; run again what broke off or met the budget."""
        kept = [one for one in study.trials if one.state == "complete" or one.stopped_early]
        self._check([run.add(one) for one in kept], run)
        others = [one for one in study.trials if one.state in ("failed", "pruned") and not one.stopped_early]
        study.reopen({one.number for one in others})
        for one in study.trials:
            if one.number not in run.plan:
                run.add(one)

    def _run_batch(self, study: Study, run: SearchRun, batch: Sequence[Trial]) -> bool:
        """Run trials together and report to the study. Returns whether the budget is spent. Raises ConfigError."""
        cells = {one.number: run.add(one) for one in batch}
        good = []
        for cell in cells.values():
            try:
                self._check([cell], run)
                good.append(cell)
            except SystemExit:  # it was reported; the others continue
                cell.code, cell.error = 2, "its config was refused"
        budget = Budget(**good[0].cfg["budget"]["run"]) if good else Budget()
        if run.pruner is not None and (best := study.best):
            run.pruner.best = metrics_of(run.plan[best[0]].folder)["metrics"][run.pruner.metric]
        self.run_jobs(good, study.wanted, run.spent)
        _check_objectives(study, run.search, good)
        reported = [_report(study, run, number, cell) for number, cell in cells.items()]
        trials = study.trials
        remaining = len(trials) < study.wanted or any(one.state == "running" for one in trials)
        return any(reported) or (remaining and run.spent.exceeded(budget) is not None)


def _check_objectives(study: Study, search: Search, cells: Sequence[Cell]) -> None:
    """Refuse an unknown metric, once the first trials show which there are. Raises ConfigError."""
    trials = study.trials
    names = {name for cell in cells for name in metrics_of(cell.folder).get("metrics", {})}
    unknown = [name for name in search.maximised if names and name not in names]
    if unknown and not any(one.state == "complete" for one in trials):
        if all(one.state == "running" for one in trials):
            study.path.unlink()  # no trial was reported
        raise ConfigError(f"search.objectives: the trials have no metric {unknown[0]!r}; {nearest(unknown[0], names)}")


def _report(study: Study, run: SearchRun, number: int, cell: Cell) -> bool:
    """Report what came of a trial. Returns whether it met the budget."""
    if cell.code == BUDGET:
        stopped_early = run.pruner.stopped_early.get(cell.label) if run.pruner else None
        study.prune(number, stopped_early)
        cell.code = None
        return stopped_early is None
    metrics = metrics_of(cell.folder).get("metrics", {})
    values = {name: metrics.get(name, {}).get("value") for name in run.search.maximised}
    if not cell.code and (lacking := [name for name, value in values.items() if value is None]):
        cell.code, cell.error = 1, f"it has no value of {', '.join(lacking)}"
    study.complete(number, None if cell.code else list(values.values()))
    return False


def _next_batch(study: Study, at_once: int) -> list[Trial]:
    """The trials to run now: those that remain, else new ones. A batch that was not wholly asked for is filled."""
    trials = study.trials
    batch = [one for one in trials if one.state == "running"][:at_once]
    lacking = -len(trials) % at_once if batch else at_once
    return [*batch, *study.ask(max(0, min(lacking, study.wanted - len(trials))))]


@dataclass
class Pruner:
    """Looks at a running trial every so many samples. ``best``: the objective of the best trial so far, as
    ``metrics.json`` has it; ``stopped_early``: label of a trial that it stopped -> samples and objective then."""

    metric: str
    high: bool
    every: int
    best: Mapping[str, Any] | None = None
    stopped_early: dict[str, tuple[int, float]] = field(default_factory=dict)

    def __call__(self, experiment: Experiment, n: int, table: Callable[[], Table]) -> str | None:
        """Why to stop with so many samples finished; None: continue."""
        if self.best is None or n % self.every or n >= len(experiment.episodes):
            return None
        from runner.results.metrics import metrics

        kinds = declared_scores(experiment.parts.scorers)["kinds"]
        found = metrics(table(), kinds).get(self.metric)
        if found is None or found.value is None or not worse(found.as_dict(), self.best, self.high):
            return None
        self.stopped_early[experiment.launch.label] = n, found.value
        mine, best = (f"{one['ci_low']:.3f} to {one['ci_high']:.3f}" for one in (found.as_dict(), self.best))
        return f"pruned: {self.metric} after {n} samples is {mine}, the best trial's {best}"
