"""Refusals of a memory that nothing would read, and of demonstrations that cannot be shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from components.acting.demonstrations import FixedTasks
from components.acting.solved import SolvedQuestions
from components.core.errors import ConfigError
from components.core.learning import Source, Teaching
from components.core.task_text import inputs_in, task_text
from components.core.traits import agents_in, requirements_of
from components.core.types import Problem, Sample
from components.verifiers.trying import Guided

if TYPE_CHECKING:
    from runner.experiment.experiment import Experiment

_OFF = "choose no memory ('~memory' where the agent's config chooses one)"


def refuse_unread(experiment: Experiment, source: Source) -> None:
    """Raises ConfigError for a memory that neither the agent nor the verifier reads."""
    agents, verifier = [*agents_in(experiment.parts.agent)], experiment.parts.verifier
    shown = any(requirements_of(one).memory is not None for one in agents)
    taught = isinstance(verifier, Guided) and isinstance(source, Teaching) and source.experience
    if shown or taught or experiment.cfg.get("stage") == "memory":
        return
    kind, choice = type(agents[0]).__name__, experiment.launch.choices.get("memory") or type(source).__name__
    may_show = any(requirements_of(one).shots is not None for one in agents)
    more = "agent.shots=1 shows a demonstration, or " if may_show else ""
    raise ConfigError(f"memory={choice} would not be read: {kind} shows nothing of it; {more}{_OFF}")


def refuse_demonstrations(experiment: Experiment, source: Source) -> None:
    """Raises ConfigError for demonstrations of evaluated samples, for more than there are, and for those of databases
    where the tools are others."""
    memory = source.open(None, "")
    shown = [one.problem for one in memory.search("")]
    if seen := _shown_by(shown, experiment.samples):
        raise ConfigError(
            f"memory.prompts: its demonstrations are of {len(seen)} of the samples that are evaluated, such as"
            f" {seen[0]!r}: evaluate another split, or show other demonstrations"
        )
    for one in agents_in(experiment.parts.agent):
        if not (shots := requirements_of(one).shots):
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


def _shown_by(shown: Sequence[str], samples: Sequence[Sample]) -> list[str]:
    """The ids of the samples that demonstrations are of, by their text or by the case that they are about."""
    texts = {text for one in shown for text in (one, task_text(Problem("", one)))}
    cases = tuple(case for one in shown if (case := inputs_in(one)))
    known = ((sample.problem.id, sample.known_as) for sample in samples)
    return [name for name, one in known if task_text(one) in texts or (cases and one.context.startswith(cases))]
