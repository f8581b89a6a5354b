"""What agents want of the rest of an experiment beside tools and memory: models, a verifier, samples they do not show.

``needs_models``: names under ``models``. ``brings_verifier``: what checks its actions in the place of the one that
takes all. ``shown_patients``: what its examples tell of their patients, as the context of samples does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from components.core.protocols import Model, Verifier
from components.core.types import Sample
from components.verifiers.accept import Accept
from runner.config.errors import Flaw, Flaws
from runner.experiment.fitting import within

if TYPE_CHECKING:
    from runner.episode.shared import Parts


def granted(parts: Parts, models: Mapping[str, Model], samples: Sequence[Sample]) -> Parts:
    """The parts, with the verifier that an agent brings. Raises Flaws for what cannot be granted."""
    agents = [*within(parts.agent)]
    flaws = [*_unnamed(agents, models), *_shown(agents, samples)]
    brought = [one for agent in agents if (one := getattr(agent, "brings_verifier", None)) is not None]
    flaws += _second(parts.verifier, brought)
    if flaws:
        raise Flaws(flaws)
    return replace(parts, verifier=brought[0]) if brought else parts


def _unnamed(agents: Iterable[object], models: Mapping[str, Model]) -> Iterator[Flaw]:
    """Models that an agent names and that are not there."""
    for agent in agents:
        for name in getattr(agent, "needs_models", ()):
            if name not in models:
                have = f"there are {', '.join(models)}; another: +model@models.{name}=openai"
                text = f"{type(agent).__name__} names the model {name!r}; {have}"
                yield Flaw("agent", text)


def _second(verifier: Verifier, brought: Sequence[Verifier]) -> Iterator[Flaw]:
    """A verifier that would not be asked, since an agent brings another."""
    for one in brought:
        mine, other = type(one).__name__, type(verifier).__name__
        if not isinstance(verifier, Accept) and verifier != one:
            text = f"the agent brings its own verifier ({mine}), so {other} would not be asked: verifier=accept"
            yield Flaw("verifier", text)
        elif one != brought[0]:
            yield Flaw("agent", f"agents within it bring different verifiers: {mine} and {type(brought[0]).__name__}")


def _shown(agents: Iterable[object], samples: Sequence[Sample]) -> Iterator[Flaw]:
    """Examples on patients that are evaluated."""
    for agent in agents:
        told = tuple(getattr(agent, "shown_patients", ()))
        seen = [one.problem.id for one in samples if told and one.known_as.context.startswith(told)]
        if seen:
            text = f"{type(agent).__name__} shows examples on {len(seen)} of the samples that are evaluated, such as"
            yield Flaw("agent", f"{text} {seen[0]!r}: evaluate another split, or show other examples")
