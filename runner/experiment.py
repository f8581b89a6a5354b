"""An experiment from a config: its parts built, fitted together on the first sample, and permitted to see the data."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.core.config_loader import ConfigLoader
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.experimental.callback import Callback
from omegaconf import DictConfig, read_write
from omegaconf.errors import OmegaConfBaseException

from components.core.errors import ConfigError
from components.core.learning import Craft, Source
from components.core.protocols import Dataset, Model
from components.core.types import Sample
from runner import build as builder
from runner import config as configs
from runner.config.explain import explain
from runner.config.places import Places, choices_of, words_of
from runner.config.roots import CONF
from runner.config.schema import Settings
from runner.fitting import PrivacyRefused, fit, impartial, noting, permit, playable, priced, prompt_digests
from runner.flaws import Flaw, Flaws, complain, unreachable
from runner.interrupts import Interrupts
from runner.wants import granted
from runner.workshop import Workshop, grammars_of

if TYPE_CHECKING:  # loaded for a config that is not refused
    from runner.budget import Budget
    from runner.play import Parts


@dataclass(frozen=True)
class Launch:
    """How a run was asked for: choices per group, overrides, its place in a sweep (folder, job's name),
    the keys that the sweep varies, and the job's number in it."""

    choices: Mapping[str, str] = field(default_factory=dict)
    overrides: Sequence[str] = ()
    sweep: str | None = None
    label: str = ""
    swept: Sequence[str] = ()
    number: int | None = None


@dataclass(frozen=True)
class Experiment:
    """All that a run needs. ``models``: role -> model, ``budget`` that of the run, ``cfg`` the resolved config,
    ``prompts`` name of a prompt set -> digest."""

    name: str
    seed: int
    epochs: int
    parts: Parts
    models: Mapping[str, Model]
    dataset: Dataset
    samples: Sequence[Sample]
    budget: Budget
    cfg: Mapping[str, Any]
    prompts: Mapping[str, str]
    privacy: Mapping[str, str]
    launch: Launch = field(default_factory=Launch)
    source: Source | None = None
    craft: Craft | None = None


PREPARED: ContextVar[Experiment | None] = ContextVar("prepared", default=None)


class Check(Callback):
    """Checks a single run before Hydra makes its folder; what it built waits in ``PREPARED``."""

    @Interrupts()
    def on_run_start(self, config: DictConfig, **_: Any) -> None:
        """Refuse in one line each, exit code 2; else choose the folder."""
        from runner.learning.bench import place_of_stage
        from runner.resume import folder_for, refuse_parts

        HydraConfig.instance().set_config(config)
        try:
            loader = GlobalHydra.instance().config_loader()
            experiment = prepare(config, loader)
            refuse_parts(experiment.cfg)
            folder = Path(config.hydra.run.dir)
            given = any(word.startswith("hydra.run.dir=") for word in words_of(config, "hydra"))
            folder = place_of_stage(experiment) or folder_for(experiment.cfg, folder, given)
        except (ConfigError, OmegaConfBaseException) as error:
            complain(
                error if isinstance(error, ConfigError) else Flaws([explain(error, words_of(config, "hydra"), ())])
            )
            if isinstance(error, PrivacyRefused):
                note_refusal(error, Path(config.hydra.run.dir))
            raise SystemExit(2) from None
        except OSError as error:
            complain(unreachable(error))
            raise SystemExit(2) from None
        if varies := config.hydra.sweeper.get("params"):
            print(f"note: one job; with -m this plays all of {', '.join(map(str, varies))}", file=sys.stderr)  # noqa: T201
        with read_write(config.hydra):
            config.hydra.run.dir = str(folder)
        PREPARED.set(experiment)


def note_refusal(error: PrivacyRefused, folder: Path) -> None:
    """A refusal for privacy is written down: a manifest, and nothing else. A run that is there is left alone."""
    from runner import manifest

    if (folder / manifest.FILE).exists():
        return
    manifest.begin(folder, {"privacy": dict(error.decision)})
    manifest.write(folder, manifest.read(folder) | {"status": "refused", "end": manifest.now()})


def prepare(config: DictConfig, loader: ConfigLoader) -> Experiment:
    """Build from a composed config. Raises Flaws with file and line, PrivacyRefused."""
    try:
        cfg = configs.resolve(config)
        places = Places(loader, config)
        wrong = configs.hidden(places.roots), configs.frozen(cfg, config, places), configs.strangers(cfg, places)
        if flaws := [flaw for found in wrong for flaw in found]:
            raise Flaws(flaws)
        return check(cfg, launch_of(config, cfg), configs.touched(config, places))
    except Flaws as error:
        raise configs.place(error.flaws, config, loader) from None


def launch_of(config: DictConfig, cfg: Mapping[str, Any]) -> Launch:
    """What Hydra knows of a launch. Lists of choices (scorer) are known by their keys."""
    hydra = config.hydra
    chosen = {str(k): str(v) for k, v in hydra.runtime.choices.items() if not k.startswith("hydra/") and v is not None}
    choices = {_place(group): choice for group, choice in chosen.items()}
    choices["scorer"] = "+".join(cfg["scorer"]) if isinstance(cfg.get("scorer"), Mapping) else ""
    in_sweep = str(hydra.mode).endswith("MULTIRUN")
    sweep, label = (str(hydra.sweep.dir), str(hydra.sweep.subdir)) if in_sweep else (None, "")
    number = int(hydra.job.num) if in_sweep else None
    return Launch(choices, tuple(words_of(config, "task")), sweep, label, number=number)


def _place(group: str) -> str:
    """Where a group's choice stands: ``agent@agent.inner`` is agent.inner."""
    name, _, package = group.partition("@")
    return name if package in ("", "_global_") else package


@dataclass(frozen=True)
class Job:
    """An experiment and its folder."""

    experiment: Experiment
    folder: Path


def job(config: DictConfig, prepared: Experiment | None, swept: Sequence[str] = ()) -> Job:
    """The job that Hydra starts now. What is not ``prepared`` was taken elsewhere by a launcher: it is built here, as
    one of a sweep that varies the keys ``swept``."""
    from runner.resume import refuse_changes

    hydra: Any = HydraConfig.instance().cfg
    folder = Path(hydra.hydra.runtime.output_dir)
    if prepared is None:
        if not str(hydra.hydra.mode).endswith("MULTIRUN"):
            raise RuntimeError("the checks before the run did not come to their end; see the warning above")
        cfg = configs.resolve(config)
        prepared = check(cfg, replace(launch_of(hydra, cfg), swept=swept))
        refuse_changes(folder, cfg)
    return Job(prepared, folder)


def build(cfg: Mapping[str, Any], launch: Launch | None = None) -> Experiment:
    """Build, check and make ready. Raises ConfigError."""
    experiment = check(cfg, launch)
    study(experiment)
    return experiment


def check(cfg: Mapping[str, Any], launch: Launch | None = None, touched: Collection[str] = ()) -> Experiment:
    """Build and check. Raises Flaws, PrivacyRefused.

    The flaws of the run's own fields and of the parts that were ``touched`` are found at once, before the code
    of other parts is loaded: a refusal is quick.
    """
    flaws: list[Flaw] = []
    with noting(flaws):
        builder.check(Settings, cfg)
    made = Workshop(cfg, {flaw.key.partition(".")[0] for flaw in flaws}, flaws, touched)
    made.everything(), made.source(), made.craft()
    if flaws:
        raise Flaws(flaws)
    made.only = None
    (pieces, models, dataset), source, craft = made.everything(), made.source(), made.craft()
    if flaws:
        raise Flaws(flaws)
    from runner.budget import Budget
    from runner.learning.bench import check_learning
    from runner.play import Parts

    parts = Parts(**pieces, budget=Budget(**cfg["budget"]["sample"]))
    decision = permit(dataset.privacy, models, parts.toolset)
    playable(models)
    priced(models, cfg["budget"])
    impartial(parts.scorers, models)
    with noting(flaws, "dataset"):
        samples = _drawn(*_dataset_key(cfg), cfg["limit"], cfg["run"]["shard"], cfg["seed"] if cfg["limit"] else 0)
    if flaws:
        raise Flaws(flaws)
    parts = granted(parts, models, samples)
    fit(parts, samples[0], cfg["seed"], choices_of([CONF], "toolset"), acts=bool(grammars_of(cfg["agent"])))
    learner = getattr(source, "stage", None)
    digests = prompt_digests([*vars(parts).values(), learner, craft, *parts.scorers.values()])
    experiment = Experiment(
        cfg["name"], cfg["seed"], cfg["epochs"], parts, models, dataset, samples, Budget(**cfg["budget"]["run"]),
        cfg, digests, decision, launch or Launch(), source, craft,
    )  # fmt: skip
    check_learning(experiment)
    return experiment


def study(experiment: Experiment) -> None:
    """Give the evaluated split to models that know it privately, whatever part of it is drawn."""
    dataset = experiment.dataset
    for model in experiment.models.values():
        tell = getattr(model, "study", None)
        if tell is not None:
            whole = experiment.cfg["limit"] is None and experiment.cfg["run"]["shard"] is None
            tell(experiment.samples if whole else dataset.load(dataset.split))


def _dataset_key(cfg: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    return json.dumps(cfg["dataset"], sort_keys=True), tuple(cfg["run"]["allow_targets"])


@lru_cache(maxsize=1)
def _drawn(node: str, allow: tuple[str, ...], limit: int | None, shard: str | None, seed: int) -> tuple[Sample, ...]:
    """The samples of a run; those of the last one are kept, since the jobs of a sweep share them."""
    from runner.select import select

    dataset = builder.part(json.loads(node), "dataset", allow, Dataset)  # type: ignore[type-abstract]
    return tuple(select(dataset, limit=limit, shard=shard, seed=seed))
