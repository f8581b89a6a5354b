"""Continue recorded episodes in another way: ``python -m runner fork=RUN [fork.at=...] [agent=... ...]``.

The config of the run is the base, other arguments are the intervention; the control continues it unchanged.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError, ModelError, RunLimitReached
from components.core.moved import renew
from components.core.traits import MemoryTraits, Requirements, agents_in, declared
from runner.config.changes import apply_overrides
from runner.config.errors import unreachable
from runner.experiment.experiment import Experiment, Launch
from runner.fork.plan import Intervention, Plan, plans_of
from runner.fork.points import Recorded, recorded_episodes
from runner.fork.request import CONTROL, Arm, Request, folder_name
from runner.job.exit_codes import ERRORS
from runner.job.plan import Cell
from runner.job.prepare import check
from runner.job.run import run_job
from runner.job.shared_resources import SharedResources
from runner.learning.folders import find_recorded
from runner.learning.lesson import refuse_lost
from runner.learning.memory import with_memory
from runner.results.folders import refuse_missing
from runner.results.runs import Run
from runner.storage import manifest
from runner.storage.integrity import verify
from runner.storage.resume import make_unused
from runner.study.looks import note_look
from runner.terminal.command import describe_os_error, print_note

_NAMED = 5  # refusals that are printed
_REPEAT = "repeat the command without hydra.run.dir: the journal has the replies"


def fork(words: Sequence[str], run: Callable[[Coroutine[Any, Any, list[Cell]]], list[Cell]]) -> int:
    """Continue recorded episodes; ``run`` runs a coroutine. Returns the exit code. Raises ConfigError."""
    from runner.job.summary import summarise

    request = Request.parse(words)
    source = _source(request.run)
    base = _experiment(request, source, Arm(), CONTROL)
    refuse_lost(base, source.folder)
    arms = [Intervention(CONTROL, Arm(), base, base)]
    for name, arm in request.choices.arms.items():
        arms.append(_intervention(request, source, base, name, arm))
    episodes = recorded_episodes(source, base, request.choices)
    home = request.folder or make_unused(Path("outputs") / base.name / f"{datetime.now():%Y-%m-%d_%H-%M-%S}_fork")
    if request.folder and home.exists() and any(home.iterdir()):
        again = f"; to continue, {_REPEAT}" if base.cfg["run"]["journal"] else ""
        raise ConfigError(f"{home} is not empty; a fork needs a new folder: hydra.run.dir=FOLDER{again}")
    try:
        cells = run(_execute(request, source, arms, episodes, home))
    except OSError as error:  # a full disk
        print_note(f"error: {describe_os_error(error)}; finished work is kept, and the journal has its calls")
        return ERRORS
    except KeyboardInterrupt:
        if base.cfg["run"]["journal"]:
            print_note(f"to continue, {_REPEAT}")
        raise
    finally:
        if home.is_dir() and not any(home.iterdir()):  # nothing was run
            home.rmdir()
    summarise(cells)
    return max(cell.code or 0 for cell in cells)


def _source(folder: Path) -> Run:
    """The run whose episodes are continued. Raises ConfigError for a folder that is none, or was changed."""
    if not (folder / "config.yaml").is_file():
        refuse_missing(folder)
        below = next((f", but holds those of runs: name one, such as {one.parent}"
                      for one in sorted(folder.glob("*/config.yaml"))), "")  # fmt: skip
        raise ConfigError(f"fork={folder} is not a run folder: it has no config.yaml{below}")
    if not (folder / manifest.FILE).is_file():
        raise ConfigError(f"fork={folder} has no {manifest.FILE}, so its records cannot be verified")
    try:
        verify(folder)
    except ConfigError as error:
        raise ConfigError(f"fork: {str(error).splitlines()[0]}; its records cannot be verified") from None
    except OSError as error:
        raise unreachable(error) from None
    note_look([folder])
    source = Run.at(folder)
    if not isinstance(source.cfg.get("run"), Mapping) or source.cfg.get("fork") or source.cfg.get("stage"):
        raise ConfigError(f"fork={folder}: a run of samples can be forked, not a stage or a fork, nor another config")
    if (memory := find_recorded(source.cfg, folder, source.manifest.get("memory"))) is not None:
        source = replace(source, cfg={**source.cfg, "memory": {**source.cfg["memory"], "path": str(memory.resolve())}})
    return source


def _experiment(request: Request, source: Run, arm: Arm, name: str) -> Experiment:
    """Built and checked: the run's config with the words of an arm. Raises ConfigError."""
    own = {"resume": None, "replay": False, "preflight": False, "shards": None}
    cfg = renew(source.cfg)
    cfg = {**cfg, "run": {**cfg["run"], **own}, "protocol": None}
    cfg, choices = apply_overrides(cfg, source.choices, [*request.common, *arm.set])
    memory, known = cfg.get("memory") or {}, source.cfg.get("memory") or {}
    chosen = any(word.startswith("memory=") for word in arm.set) or memory.get("_target_") != known.get("_target_")
    if known.get("path") and not chosen:  # the file of another agent sets the memory without it
        cfg["memory"] = {**memory, "path": known["path"]}
    if request.tracking is not None:
        cfg["tracking"] = request.tracking
    experiment = check(cfg, Launch(choices, [f"fork.arm={name}"], None, name, ("fork.arm",)))
    for agent in agents_in(experiment.parts.agent):
        if why := declared(agent, Requirements).unrecorded:
            raise ConfigError(
                f"{name}: an episode of {type(agent).__name__} cannot be continued from the middle: {why}"
            )
    return experiment


def _intervention(request: Request, source: Run, base: Experiment, name: str, arm: Arm) -> Intervention:
    """An arm with its experiment. Raises ConfigError for an agent that cannot begin in the middle."""
    experiment = _experiment(request, source, arm, name)
    mine, theirs = experiment.parts.agent, base.parts.agent
    hands_over = type(mine) is not type(theirs)
    if hands_over and not declared(mine, Requirements).takes_over:
        raise ConfigError(
            f"{name}: {type(mine).__name__} cannot begin in the middle of an episode of {type(theirs).__name__}: it"
            " does not declare Requirements(takes_over=True); agents that act step by step do"
        )
    if hands_over and experiment.parts.grammar != base.parts.grammar:
        grammars = [type(one.parts.grammar).__name__ for one in (base, experiment)]
        text = f"the agents of an episode share one grammar, found {' and '.join(grammars)}"
        raise ConfigError(f"{name}: {text}: agent.grammar={source.setting('agent.grammar')}")
    return Intervention(name, arm, experiment, base, hands_over)


async def _execute(
    request: Request, source: Run, arms: Sequence[Intervention], episodes: Sequence[Recorded], home: Path
) -> list[Cell]:
    """Rebuild and run all. Returns the jobs, with their exit codes."""
    cells = []
    async with SharedResources(arms[0].experiment.budget, remaining=len(arms), jobs=len(arms)) as resources:
        arms = await _with_memories(arms, resources)
        plans, refused = await plans_of(arms, episodes, request.choices)
        for line in refused[:_NAMED]:
            print_note(line)
        if len(refused) > _NAMED:
            print_note(f"refused or left out: {len(refused) - _NAMED} more")
        if lacking := [plan.arm.name for plan in plans if not plan.order]:
            has_results = any(arm.name == lacking[0] and arm.arm.result for arm in arms)
            why = "; at no chosen step does the agent see the result of a tool that fork.result names"
            raise ConfigError(f"fork: nothing can be continued under {lacking[0]!r}{why if has_results else ''}")
        n = ", ".join(f"{plan.arm.name} {len(plan.order):,}" for plan in plans)
        print_note(f"forks: {n}; {request.choices.draws} of each step of {len(episodes)} episode(s)")
        for plan in plans:
            experiment = _named(plan, request, source, home)
            folder = home / folder_name(plan.arm.name)
            code = await run_job(experiment, folder, resources)
            cells.append(Cell((), {}, plan.arm.name, folder, experiment.cfg, code=code))
    return cells


async def _with_memories(arms: Sequence[Intervention], resources: SharedResources) -> list[Intervention]:
    """The arms with what their agents remember. Raises ConfigError for a memory that grows from sample to sample."""
    base, found = arms[0].base, list[Intervention]()
    for arm in arms:
        try:
            experiment, _ = await with_memory(arm.experiment, resources.door(arm.experiment))
        except (ModelError, RunLimitReached) as error:
            raise ConfigError(f"{arm.name}: the memory was not made: {error}") from None
        if declared(experiment.parts.memory, MemoryTraits).hold is not None:
            raise ConfigError(f"{arm.name}: the memory grows from sample to sample, so episodes depend on each other")
        base = base if found else experiment
        found.append(replace(arm, experiment=experiment, base=base))
    return found


def _named(plan: Plan, request: Request, source: Run, home: Path) -> Experiment:
    """The experiment of an arm, with what makes it a fork in its config."""
    choices, arm = request.choices, plan.arm
    facts = {
        "run": str(source.folder), "arm": arm.name, "kind": "+".join(arm.arm.kinds) or "same again",
        "samples": choices.samples, "at": choices.at, "draws": plan.draws, "steps": plan.most,
        "lesson": arm.arm.lesson, "result": dict(arm.arm.result), "id": (source.manifest.get("mlflow") or {}).get("id"),
    }  # fmt: skip
    cfg = {**arm.experiment.cfg, "fork": facts}
    launch = replace(arm.experiment.launch, sweep=str(home))
    return replace(arm.experiment, cfg=cfg, launch=launch, forks=plan)
