"""An experiment from a config: its parts built, fitted together on the first sample, and permitted to see the data."""

import json
from collections.abc import Collection, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from threading import Thread
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.config_loader import ConfigLoader
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.experimental.callback import Callback
from omegaconf import DictConfig, read_write
from omegaconf.errors import OmegaConfBaseException

from components.core.errors import ConfigError
from components.core.protocols import Dataset
from components.core.types import Sample
from runner.config import build as builder
from runner.config import composed as configs
from runner.config.catalogue import CONF, Catalogue
from runner.config.composed import Origins, words_of
from runner.config.errors import ConfigErrors, Finding, complain, note_errors, unreachable
from runner.config.explain import explain
from runner.config.schema import Settings
from runner.episode.budget import Budget
from runner.episode.shared import Parts
from runner.experiment import parts
from runner.experiment.experiment import Experiment, Launch, facts_of, select, study
from runner.experiment.privacy import PrivacyRefused, permit
from runner.storage import manifest
from runner.storage.resume import folder_for, refuse_changes, refuse_parts
from runner.study.frozen import conform, with_own_journal
from runner.terminal.command import interrupts, print_note

PREPARED: ContextVar[Experiment | None] = ContextVar("prepared", default=None)


class Check(Callback):
    """Checks a single run before Hydra makes its folder; what it built waits in ``PREPARED``."""

    @interrupts()
    def on_run_start(self, config: DictConfig, **_: Any) -> None:
        """Refuse in one line each, exit code 2; else choose the folder."""
        from runner.learning.stage_context import place_of_stage

        HydraConfig.instance().set_config(config)
        given = {word.lstrip("+~").partition("=")[0] for word in words_of(config, "task")}
        varied = [key for key in map(str, config.hydra.sweeper.get("params") or ()) if key not in given]
        Thread(target=manifest.git_state, daemon=True).start()  # git answers meanwhile
        try:
            loader = GlobalHydra.instance().config_loader()
            experiment = prepare(config, loader)
            refuse_parts(experiment.cfg)
            folder = Path(config.hydra.run.dir)
            named = any(word.startswith("hydra.run.dir=") for word in words_of(config, "hydra"))
            folder = place_of_stage(experiment) or folder_for(experiment.cfg, folder, named)
        except ConfigError as error:
            _complain(error, varied, given)
            if isinstance(error, PrivacyRefused):
                note_refusal(error, Path(config.hydra.run.dir))
            raise SystemExit(2) from None
        except OmegaConfBaseException as error:
            complain(ConfigErrors([explain(error, words_of(config, "hydra"), Catalogue(()))]))
            raise SystemExit(2) from None
        except OSError as error:
            complain(unreachable(error))
            raise SystemExit(2) from None
        if varied:
            print_note(f"note: one job; all values of {', '.join(varied)}: {manifest.command_line('-m')}")
        with read_write(config.hydra):
            config.hydra.run.dir = str(folder)
        PREPARED.set(experiment)


def _complain(error: ConfigError, varied: Sequence[str], given: Collection[str]) -> None:
    """Print what is wrong with a single run; where its experiment is a sweep of ``varied`` and it is about these, or
    nothing else is ``given``, only that."""
    sweep = f"this is a sweep of {', '.join(varied)}, not a single run: {manifest.command_line('-m')}"
    findings = error.findings if isinstance(error, ConfigErrors) else ()
    groups = {key.partition(".")[0] for key in varied} - {*given}
    others = [finding for finding in findings if finding.key.partition(".")[0] not in groups]
    if (varied and {*given} <= {"experiment"}) or (findings and not others):
        complain(ConfigError(sweep))
        return
    complain(ConfigErrors(others) if findings else error)
    if varied:
        print_note(f"note: {sweep}")


def note_refusal(error: PrivacyRefused, folder: Path) -> None:
    """A refusal for privacy is written down: a manifest, and nothing else. A run that is there is left alone."""
    if (folder / manifest.FILE).exists():
        return
    manifest.begin(folder, {"privacy": dict(error.decision)})
    manifest.write(folder, manifest.read(folder) | {"status": "refused", "end": manifest.now()})


def prepare(config: DictConfig, loader: ConfigLoader) -> Experiment:
    """Build from a composed config. Raises ConfigErrors with file and line, PrivacyRefused."""
    try:
        cfg = with_own_journal(configs.resolve(config))
        places = Origins(loader, config)
        hidden = "a file of the project has the same name and would be read instead: rename it"
        findings = [Finding("", hidden, f"{path}:1") for path in places.catalogue.hidden]
        findings += configs.profile_changes(cfg, config, places)
        if findings := findings + configs.invalid_references(cfg, places):
            raise ConfigErrors(findings)
        experiment = check(cfg, launch_of(config, cfg), configs.changed_groups(config, places))
        if cfg["protocol"]:
            study(experiment)  # what a model knows is part of what it is
            conform(cfg, facts_of(experiment))
        return experiment
    except ConfigErrors as error:
        raise configs.with_places(error.findings, config, loader) from None


def prepare_words(words: Sequence[str]) -> Experiment:
    """Build what a command line of these words would run; it has studied its samples. Raises ConfigError."""
    try:
        with initialize_config_dir(str(CONF), version_base="1.3"):
            config = compose("config", list(words), return_hydra_config=True)
            HydraConfig.instance().set_config(config)
            experiment = prepare(config, GlobalHydra.instance().config_loader())
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigErrors([explain(error, list(words), Catalogue())]) from None
    study(experiment)
    return experiment


@dataclass(frozen=True)
class Job:
    """An experiment and its folder."""

    experiment: Experiment
    folder: Path


def job(config: DictConfig, prepared: Experiment | None, swept: Sequence[str] = ()) -> Job:
    """The job that Hydra starts now. A job that is not ``prepared`` was moved to another process by a launcher: it is
    built here, as part of a sweep that varies the keys ``swept``."""
    hydra: Any = HydraConfig.instance().cfg
    folder = Path(hydra.hydra.runtime.output_dir)
    if prepared is None:
        if not str(hydra.hydra.mode).endswith("MULTIRUN"):
            raise RuntimeError("the checks before the run did not finish; see the warning above")
        cfg = with_own_journal(configs.resolve(config))
        prepared = check(cfg, replace(launch_of(hydra, cfg), swept=swept))
        refuse_changes(folder, cfg)
    return Job(prepared, folder)


def check(cfg: Mapping[str, Any], launch: Launch | None = None, touched: Collection[str] = ()) -> Experiment:
    """Build and check, what was ``touched`` before the code of other parts is loaded. Raises ConfigErrors,
    PrivacyRefused."""
    findings: list[Finding] = []
    with note_errors(findings):
        builder.check(Settings, cfg)
    named, made = parts.named_parts(cfg, findings), dict[str, Any]()
    for first in (True, False):
        now = {key: part for key, part in named.items() if (key.partition(".")[0] in touched) is first}
        made |= parts.build_parts(now, cfg, findings)
        if findings:
            raise ConfigErrors(findings)
    from runner.learning.checks import check_learning

    models, dataset = {"main": made["model"], **parts.below(made, "models")}, made["dataset"]
    (grammar,) = parts.below(made, "grammars").values()
    pieces = {name: made[name] for name in ("agent", "verifier", "toolset", "condition")}
    budget = Budget(**cfg["budget"]["sample"])
    scorers, confidence = parts.below(made, "scorer"), cfg["agent"].get("confidence")
    fitted = Parts(**pieces, grammar=grammar, scorers=scorers, budget=budget, confidence=confidence)
    decision = permit(dataset.privacy, models, fitted)
    parts.check_models(fitted, models, cfg["budget"])
    node, allow = json.dumps(cfg["dataset"], sort_keys=True), tuple(cfg["run"]["allow_targets"])
    try:
        samples = _selected(node, allow, cfg["limit"], cfg["run"]["shard"], cfg["seed"] if cfg["limit"] else 0)
    except ConfigError as error:
        raise error if isinstance(error, ConfigErrors) else ConfigErrors([Finding("dataset", str(error))]) from None
    parts.check_scorers(fitted.scorers, samples)
    fitted = parts.with_provided_verifier(fitted, models, samples)
    parts.check_fit(fitted, samples[0], cfg["seed"], bool(parts.grammars_of(cfg["agent"])))
    source, stage = made.get("memory"), made.get("stage")
    learner = None if source is None else source.stage
    digests = parts.prompt_digests(fitted, learner, stage, *fitted.scorers.values())
    experiment = Experiment(
        cfg["name"], cfg["seed"], cfg["epochs"], fitted, models, dataset, samples, Budget(**cfg["budget"]["run"]),
        cfg, digests, decision, launch or Launch(), source, stage,
    )  # fmt: skip
    check_learning(experiment)
    return experiment


@lru_cache(maxsize=1)
def _selected(node: str, allow: tuple[str, ...], limit: int | None, shard: str | None, seed: int) -> tuple[Sample, ...]:
    """The samples of a run; those of the last one are kept, since the jobs of a sweep share them."""
    dataset = builder.part(json.loads(node), "dataset", allow, Dataset)  # type: ignore[type-abstract]
    return tuple(select(dataset, limit=limit, shard=shard, seed=seed))


def launch_of(config: DictConfig, cfg: Mapping[str, Any]) -> Launch:
    """What Hydra knows of a launch. Lists of choices (scorer) are known by their keys."""
    hydra = config.hydra
    chosen = {str(k): str(v) for k, v in hydra.runtime.choices.items() if not k.startswith("hydra/") and v is not None}
    choices = {}
    for group, choice in chosen.items():
        name, _, package = group.partition("@")  # agent@agent.inner is agent.inner
        choices[name if package in ("", "_global_") else package] = choice
    choices["scorer"] = "+".join(cfg["scorer"]) if isinstance(cfg.get("scorer"), Mapping) else ""
    in_sweep = str(hydra.mode).endswith("MULTIRUN")
    sweep, label = (str(hydra.sweep.dir), str(hydra.sweep.subdir)) if in_sweep else (None, "")
    number = int(hydra.job.num) if in_sweep else None
    return Launch(choices, tuple(words_of(config, "task")), sweep, label, number=number)
