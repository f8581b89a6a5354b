"""The study: past trials with their results, the next trials, and the table of all. Only this file uses Optuna.

Every trial has a seed, made from the search's and the trial's number, so that a resumed search has the same trials.
Source: Akiba et al. 2019, KDD (Optuna); TPE: Bergstra et al. 2011, NeurIPS; NSGA-II: Deb et al. 2002; importance:
PED-ANOVA, Watanabe et al. 2023, IJCAI.
"""

import json
import os
import random
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Self

from components.core.errors import ConfigError
from runner.job.plan import Cell
from runner.storage import disk
from runner.storage.manifest import read
from runner.storage.resume import metrics_of
from runner.sweep.search_space import Dimension, Search, Space, grid_of, words_at

FILE, RESULTS = "study.sqlite", "search.json"
_SHOWN = 10
_FEW = 30  # complete trials below which importance is a hint only
State = Literal["running", "complete", "pruned", "failed"]
_STATES: Mapping[str, State] = {"RUNNING": "running", "COMPLETE": "complete", "PRUNED": "pruned", "FAIL": "failed"}
_NAME, _SETTINGS = "search", "search"
_GENERATION = 10  # trials of a generation of NSGA-II, unless more are asked for at once


@dataclass(frozen=True)
class Trial:
    """``values`` in the order of the objectives, None where it is not complete; ``stopped_early``: it was pruned, as it
    could not become the best."""

    number: int
    state: State
    point: Mapping[str, Any]
    values: Sequence[float] | None = None
    stopped_early: bool = False


def library() -> Any:
    """Optuna, which logs only errors. Raises ConfigError where it is not installed."""
    try:
        optuna = import_module("optuna")
    except ImportError:
        raise ConfigError("hydra/sweeper=optuna needs an extra: pip install 'wardround[optuna]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


class Study:
    """The study in a sweep's folder. A context manager: closed, its file can be read by other programs."""

    def __init__(self, folder: Path, search: Search, space: Space) -> None:
        self._optuna, self.path, self._search, self._space = library(), folder / FILE, search, space
        self._grid = grid_of(space) if search.sampler == "grid" else []
        random.Random(f"{search.seed}/grid").shuffle(self._grid)
        n_points = len(self._grid)
        self.wanted = min(search.trials or n_points, n_points) if self._grid else search.trials or 0

    def __enter__(self) -> Self:
        """Open or make it. Raises ConfigError where it was begun as another search."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._storage, self._study = self._made(self.path)
        search, words = self._search, {key: {"words": one.choices} for key, one in self._space.items() if one.choices}
        numbers = {
            key: {"low": one.low, "high": one.high, "step": one.step, "log": one.log, "whole": one.int}
            for key, one in self._space.items()
        }
        objectives = {name: "maximise" if high else "minimise" for name, high in search.maximised.items()}
        same = {"objectives": objectives, "sampler": search.sampler, "seed": search.seed, "space": numbers | words}
        settings = json.loads(json.dumps(same))
        known = self._study.user_attrs.get(_SETTINGS)
        if known is None:
            self._study.set_user_attr(_SETTINGS, settings)
        elif changed := [key for key in settings if settings[key] != known.get(key)]:
            self._close(self._storage)
            was, now = known.get(changed[0]), settings[changed[0]]
            text = f"is of another search: search.{changed[0]} was {was}, now it is {now}; give another hydra.sweep.dir"
            raise ConfigError(f"{self.path} {text}")
        return self

    def __exit__(self, *_: object) -> None:
        self._close(self._storage)

    @property
    def trials(self) -> list[Trial]:
        """All, in the order of their numbers."""
        trials = []
        for one in self._study.get_trials():
            state = _STATES[one.state.name]
            values = one.values if state == "complete" else None
            trials.append(Trial(one.number, state, one.params, values, bool(one.intermediate_values)))
        return trials

    def ask(self, n: int) -> list[Trial]:
        """The next trials, chosen without each other's results."""
        first, trials = len(self._study.get_trials(deepcopy=False)), []
        distributions = {key: self._distribution(dimension) for key, dimension in self._space.items()}
        for number in range(first, first + n):
            if self._grid:
                self._study.enqueue_trial(self._grid[number])
            self._study.sampler = self._sampler(number)
            trial = self._study.ask(distributions)
            trials.append(Trial(trial.number, "running", trial.params))
        return trials

    def complete(self, number: int, values: Sequence[float] | None) -> None:
        """Record the end of a trial; without values if it failed."""
        if values is None:
            self._study.tell(number, state=self._optuna.trial.TrialState.FAIL)
        else:
            self._study.tell(number, list(values))

    def prune(self, number: int, stopped_early: tuple[int, float] | None = None) -> None:
        """A trial was stopped: by the budget, or ``stopped_early``: at so many samples its objective was so much."""
        if stopped_early is not None:
            study = self._storage.get_study_id_from_name(_NAME)
            trial = self._storage.get_trial_id_from_study_id_trial_number(study, number)
            self._storage.set_trial_intermediate_value(trial, *stopped_early)
        self._study.tell(number, state=self._optuna.trial.TrialState.PRUNED)

    def reopen(self, numbers: Collection[int]) -> None:
        """Have reported trials run again, with the same values. The file is replaced in one move."""
        if not numbers:
            return
        fresh = self.path.with_suffix(".tmp")
        fresh.unlink(missing_ok=True)
        storage, study = self._made(fresh)
        study.set_user_attr(_SETTINGS, self._study.user_attrs[_SETTINGS])
        running = self._optuna.trial.TrialState.RUNNING
        for one in self._study.get_trials():
            again = self._optuna.trial.create_trial(
                state=running, params=one.params, distributions=one.distributions, system_attrs=one.system_attrs
            )
            study.add_trial(again if one.number in numbers else one)
        for each in (storage, self._storage):
            self._close(each)
        os.replace(fresh, self.path)
        self._storage, self._study = self._made(self.path)

    @property
    def best(self) -> list[int]:
        """The best trials, or the Pareto front; a single objective has every trial that is equally good."""
        ended = [one for one in self.trials if one.state == "complete"]
        if len(self._search.maximised) > 1:
            return [one.number for one in self._study.best_trials] if ended else []
        (high,) = self._search.maximised.values()
        values = {one.number: (one.values or [0.0])[0] for one in ended}
        top = (max if high else min)(values.values(), default=None)
        return [number for number, value in values.items() if value == top]

    def importance(self) -> dict[str, dict[str, float]]:
        """Objective -> key -> its share, by PED-ANOVA; an objective without different values is left out."""
        found = {}
        for place, (name, high) in enumerate(self._search.maximised.items()):
            values = [one.values[place] for one in self.trials if one.values is not None]
            if len(values) < 2 or len(set(values)) < 2:
                continue
            sign = -1.0 if high else 1.0  # it asks what makes its target low
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it says so, each time
                found[name] = self._optuna.importance.get_param_importances(
                    self._study, target=lambda one, place=place, sign=sign: sign * one.values[place]
                )
        return found

    def _sampler(self, number: int) -> Any:
        samplers = self._optuna.samplers
        seed = int.from_bytes(sha256(f"{self._search.seed}/{number}".encode()).digest()[:4])
        if self._search.sampler == "tpe":
            return samplers.TPESampler(seed=seed)
        if self._search.sampler == "nsga2":
            return samplers.NSGAIISampler(seed=seed, population_size=max(_GENERATION, self._search.at_once))
        return samplers.RandomSampler(seed=seed)

    def _distribution(self, dimension: Dimension) -> Any:
        kinds, low, high, log = self._optuna.distributions, dimension.low, dimension.high, dimension.log
        if low is None or high is None:
            return kinds.CategoricalDistribution(dimension.choices)
        if dimension.int:
            return kinds.IntDistribution(int(low), int(high), log=log, step=int(dimension.step or 1))
        return kinds.FloatDistribution(low, high, log=log, step=dimension.step)

    def _made(self, path: Path) -> tuple[Any, Any]:
        storage = self._optuna.storages.RDBStorage(f"sqlite:///{path}")
        study = self._optuna.create_study(
            storage=storage, study_name=_NAME, load_if_exists=True, sampler=self._sampler(0),
            directions=["maximize" if high else "minimize" for high in self._search.maximised.values()],
        )  # fmt: skip
        return storage, study

    @staticmethod
    def _close(storage: Any) -> None:
        storage.remove_session()
        storage.engine.dispose()


def conclude(study: Study, search: Search, space: Space, plan: Mapping[int, Cell]) -> None:
    """Print the table and what mattered, write ``search.json`` and the page, send the search's own run to MLflow."""
    from runner.job.summary import finish
    from runner.results.runs import Run

    trials, best, importance = study.trials, study.best, study.importance()
    cells = [plan[one.number] for one in trials]
    rows = []
    for one, cell in zip(trials, cells, strict=True):
        metrics = metrics_of(cell.folder).get("metrics", {})
        row = {"number": one.number, "folder": cell.label, "state": one.state, "values": words_at(space, one.point)}
        row["objectives"] = {name: metrics.get(name) for name in search.maximised}
        rows.append({**row, "stopped": cell.error or read(cell.folder).get("stopped")})
    complete = sum(one.state == "complete" for one in trials)
    home = cells[0].folder.parent
    _show(rows, best, search, space)
    for name, shares in importance.items():
        print(f"importance for {name}: {', '.join(f'{key} {share:.2f}' for key, share in shares.items())}")  # noqa: T201
    few = "; few: take it as a hint" if complete < _FEW else ""
    source = f"(PED-ANOVA over {complete} complete trials{few})"
    print(source if importance else f"importance: {complete} complete trials are too few for an estimate")  # noqa: T201
    document = {
        "objectives": {name: "maximise" if high else "minimise" for name, high in search.maximised.items()},
        "sampler": search.sampler, "seed": search.seed, "best": best, "importance": importance,
        "importance_from": complete, "trials": rows,
    }  # fmt: skip
    disk.replace(home / RESULTS, json.dumps(document, indent=1))
    ran = [cell for cell in cells if (cell.folder / "metrics.json").is_file()]
    stopped_early = {plan[one.number].folder for one in trials if one.stopped_early}  # which is not a failure
    runs = [Run.at(cell.folder, cell.cfg or None) for cell in ran if cell.folder not in stopped_early]
    finish(runs, ran, home, [home / RESULTS])


def _show(rows: Sequence[Mapping[str, Any]], best: Sequence[int], search: Search, space: Space) -> None:
    from runner.results.cells import interval, number
    from runner.results.terminal import show

    ended = [one for one in rows if one["state"] == "complete"]
    if len(search.maximised) > 1:
        shown, what = [one for one in ended if one["number"] in best], "the Pareto front"
    else:
        ((name, high),) = search.maximised.items()
        shown = sorted(ended, key=lambda one: one["objectives"][name]["value"] * (-1 if high else 1))[:_SHOWN]
        what = f"the best {len(shown)}"
    counts = {kind: sum(one["state"] == kind for one in rows) for kind in ("complete", "pruned", "failed", "running")}
    title = f"{what} of {len(rows)} trials ({', '.join(f'{n} {state}' for state, n in counts.items() if n)})"
    arrow = {True: "\N{UPWARDS ARROW}", False: "\N{DOWNWARDS ARROW}"}
    head = ("trial", *(f"{name} {arrow[high]}" for name, high in search.maximised.items()), *space)
    body = []
    for one in shown:
        metrics = [one["objectives"][name] for name in search.maximised]
        values = [f"{number(metric['value'])}\n{interval(metric)}".strip() for metric in metrics]
        body.append((one["folder"], *values, *(one["values"][key] for key in space)))
    if body:
        show(head, body, title)
    else:
        print(title)  # noqa: T201


def worse(one: Mapping[str, Any], best: Mapping[str, Any], high: bool) -> bool:
    """Whether the better end of one's interval does not reach the worse end of the best one's."""
    reach, bar = (one["ci_high"], best["ci_low"]) if high else (one["ci_low"], best["ci_high"])
    if reach is None or bar is None:
        return False
    return bool(reach < bar if high else reach > bar)
