"""Checks before a run: refuse a memory that no part reads, and demonstrations and prompts of evaluated samples."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from components.acting.solved import SEEDS, TASKS, FixedTasks, SolvedQuestions
from components.core.errors import ConfigError
from components.core.learning import Source
from components.core.task_text import inputs_in, task_text
from components.core.traits import (
    MemoryTraits,
    Requirements,
    SourceTraits,
    StageTraits,
    VerifierTraits,
    agents_in,
    declared,
)
from components.core.types import Problem, Sample
from runner.config.errors import ConfigErrors, Finding, note_errors
from runner.episode.door import Door
from runner.experiment.experiment import Experiment, clean
from runner.experiment.privacy import permit
from runner.learning.folders import check_writable, digest_of, find_named
from runner.learning.lesson import known_by, lesson_of, privacy_of, prompt_manifests, text_digest
from runner.learning.memory import ONE_BY_ONE
from runner.learning.stage_context import StageContext
from runner.storage import manifest

# Keys that no stage reads; those that a single stage does not read are in its StageTraits. Files may set them for runs.
_RUN_ONLY = ("run.max_error_rate", "run.pilot", "budget.ask_above_usd")
_OFF = "choose no memory ('~memory' where the agent's config chooses one)"


def refuse_unread(experiment: Experiment, source: Source) -> None:
    """Raises ConfigError for a memory that neither the agent nor the verifier reads."""
    agents, verifier = [*agents_in(experiment.parts.agent)], experiment.parts.verifier
    is_shown = any(declared(one, Requirements).memory is not None for one in agents)
    is_taught = declared(verifier, VerifierTraits).reads_lessons and declared(source, SourceTraits).teaches
    if is_shown or is_taught or experiment.cfg.get("stage") == "memory":
        return
    kind, choice = type(agents[0]).__name__, experiment.launch.choices.get("memory") or type(source).__name__
    may_show = any(declared(one, Requirements).shots is not None for one in agents)
    more = "agent.shots=1 shows a demonstration, or " if may_show else ""
    raise ConfigError(f"memory={choice} would not be read: {kind} shows nothing of it; {more}{_OFF}")


def refuse_demonstrations(experiment: Experiment, source: Source) -> None:
    """Raises ConfigError for demonstrations of evaluated samples, for more than there are, and for those of databases
    where the tools are others."""
    memory = source.open(None, "")
    problems = [one.problem for one in memory.search("")]
    if seen := _shown_by(problems, experiment.samples):
        raise ConfigError(
            f"memory.prompts: its demonstrations are of {len(seen)} of the samples that are evaluated, such as"
            f" {seen[0]!r}: evaluate another split, or show other demonstrations"
        )
    for one in agents_in(experiment.parts.agent):
        if not (shots := declared(one, Requirements).shots):
            continue
        if isinstance(memory, FixedTasks) and shots > len(memory.fixed):
            most = len(memory.fixed)
            raise ConfigError(f"agent.shots={shots}: more than the demonstrations there are; ask for at most {most}")
        offer = experiment.parts.open(experiment.samples[0], 0, experiment.seed)
        if isinstance(memory, SolvedQuestions) and "metadata" not in offer.controls:
            raise ConfigError(
                "memory.prompts: its demonstrations are questions of databases, and the toolset has none; name a"
                f" prompt set with a tasks.yaml, or set agent.shots=0 and {_OFF}"
            )


def _shown_by(problems: Sequence[str], samples: Sequence[Sample]) -> list[str]:
    """The ids of the samples that demonstrations are of, by their text or by the case that they are about."""
    texts = {text for one in problems for text in (one, task_text(Problem("", one)))}
    cases = tuple(case for one in problems if (case := inputs_in(one)))
    known = ((sample.problem.id, sample.known_as) for sample in samples)
    return [name for name, one in known if task_text(one) in texts or (cases and one.context.startswith(cases))]


def check_prompts(experiment: Experiment) -> None:
    """Refuse prompt sets that were refined on evaluated samples. Raises ConfigError, PrivacyRefused."""
    for name, notes in prompt_manifests(experiment).items():
        what = f"data that the prompts {name!r} were refined on"
        permit(privacy_of(notes), experiment.models, experiment.parts, what)
        trained, dataset = set(notes.get("texts") or ()), experiment.dataset
        samples = map(clean, dataset.load(dataset.split)) if trained else ()
        if seen := [sample.problem.id for sample in samples if known_by(sample) in trained]:
            what = f"{len(seen)} of the samples that are evaluated, such as {seen[0]!r}"
            raise ConfigError(f"the prompts {name!r} were refined on {what}")


def check_memory(experiment: Experiment) -> str | None:
    """Refuse, before anything runs, a memory that cannot be had. Returns the privacy class of one that is named."""
    source, agent = experiment.source, experiment.parts.agent
    holds = () if source is None else declared(source, SourceTraits).holds  # None: whatever is wanted
    for one in agents_in(agent):
        wanted = declared(one, Requirements).memory
        if wanted is not None and holds is not None and wanted not in holds:
            found = "there is none" if source is None else f"this one ({type(source).__name__}) holds something else"
            choice = SEEDS if wanted == TASKS else wanted
            shows = f"{type(one).__name__} shows solved tasks from a memory"
            raise ConfigError(f"{shows}, and {found}; choose one, such as memory={choice}")
    if source is not None:
        refuse_unread(experiment, source)
        refuse_demonstrations(experiment, source)
        if declared(source, SourceTraits).grows and experiment.cfg["run"]["shard"] is not None:
            raise ConfigError(ONE_BY_ONE.format("run.shard"))
    if source is None or not source.needed:
        if experiment.cfg.get("stage") == "memory":
            raise ConfigError(
                "stage: the memory that is chosen learns nothing on training samples; choose one that does"
            )
        return None
    root, dataset = Path(experiment.cfg["run"]["memory"]), experiment.dataset
    if source.path is None:
        check_writable(root)
        lesson_of(experiment, source)
        return None
    folder = find_named(root, source.path)
    notes = manifest.read_learnt(folder)
    memory = source.open(folder, digest_of(folder))
    trained = {*notes.get("texts", ()), *map(text_digest, declared(memory, MemoryTraits).texts)}
    samples = dataset.load(dataset.split) if trained else ()
    if seen := [sample.problem.id for sample in samples if known_by(sample) in trained]:
        raise ConfigError(
            f"memory.path: {folder} was learnt from {len(seen)} of the samples that are evaluated, such as {seen[0]!r}"
        )
    return notes.get("privacy")


def _unused(experiment: Experiment) -> Iterator[Finding]:
    """Settings of a run that a stage would ignore."""
    cfg, stage = experiment.cfg, experiment.launch.choices.get("stage")
    unread = (*_RUN_ONLY, *declared(experiment.stage, StageTraits).unread)
    for word in experiment.launch.overrides:
        key = re.split("[=@]", word.lstrip("+~"))[0]
        if any(f"{key}.".startswith(f"{one}.") for one in unread):
            yield Finding(key, f"stage={stage} does not use it: leave {word} out")
    if cfg["run"]["preflight"]:
        yield Finding("run.preflight", "it estimates an evaluation, and a stage has none: leave it out")
    size = "memory.samples" if cfg["stage"] == "memory" else "the settings below stage"
    given = {"limit": (cfg["limit"], None), "epochs": (cfg["epochs"], 1)}
    given |= {f"run.{key}": (cfg["run"][key], None) for key in ("shard", "resume")}
    text = "a stage always runs as a whole, and resumes when it is started again"
    if keys := [key for key, (value, unset) in given.items() if value != unset]:
        names = " and ".join(keys)
        yield Finding(keys[0], f"{names}: {text}; leave {names} out (how much it makes: {size})")


def check_learning(experiment: Experiment) -> None:
    """Whether memory and stage exist, and models may see the memory. Raises ConfigErrors."""
    findings = [] if experiment.cfg.get("stage") is None else [*_unused(experiment)]
    if findings:
        raise ConfigErrors(findings)
    learnt_from = None
    with note_errors(findings, "memory"):
        learnt_from = check_memory(experiment)
    with note_errors(findings, "stage"):
        if experiment.stage is not None:
            experiment.stage.check(StageContext(experiment, Door(experiment.models, None, run_seed=experiment.seed)))
    if findings:
        raise ConfigErrors(findings)
    check_prompts(experiment)
    if learnt_from is not None:
        permit(learnt_from, experiment.models, experiment.parts, "memory")
