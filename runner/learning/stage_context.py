"""What a stage of its own works with (``components.core.learning.StageContext``), and the run of such a stage."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from components.core.errors import ConfigError
from components.core.learning import Solve
from components.core.plain import Accept, Intact, NoTools
from components.core.protocols import Agent, Studying
from components.core.redaction import redact
from components.core.types import Played, Problem, Sample, Trajectory
from runner.config.errors import ConfigErrors, Finding, noting
from runner.episode.door import Door
from runner.experiment.declared import declared_scores
from runner.experiment.privacy import permit
from runner.experiment.select import clean
from runner.learning.lesson import known_by, training
from runner.learning.memory import check_memory
from runner.learning.practice import Practice, Solver
from runner.learning.prompted import check_prompts, inherited_privacy, inherited_texts
from runner.storage import manifest
from runner.storage.resume import settled
from runner.storage.schema import Record
from runner.terminal.progress import Progress

if TYPE_CHECKING:
    from runner.episode.shared import Parts
    from runner.experiment.experiment import Experiment

_APART = ("name", "limit", "epochs", "memory")  # of a config: what a stage of its own does not go by


@dataclass(frozen=True)
class StageContext:
    """See ``components.core.learning.StageContext``."""

    experiment: Experiment
    door: Door
    progress: Progress | None = None

    @property
    def agent(self) -> Agent:
        """The agent of the config."""
        return self.experiment.parts.agent

    @property
    def seed(self) -> int:
        """That of the run."""
        return self.experiment.seed

    @cached_property
    def evaluated(self) -> Sequence[Sample]:
        """All samples of the evaluated split."""
        dataset = self.experiment.dataset
        return [clean(sample) for sample in dataset.load(dataset.split)]

    @property
    def samples(self) -> Iterable[Sample]:
        """All samples of all splits."""
        dataset = self.experiment.dataset
        return (clean(sample) for split in dataset.splits for sample in dataset.load(split))

    @property
    def facts(self) -> Mapping[str, Any]:
        """For a manifest."""
        experiment = self.experiment
        models = experiment.models
        return {
            "made": manifest.now(),
            "command": manifest.command_line(),
            "models": {role: model.name for role, model in models.items()},
            "model_kind": "simulated" if any(model.kind == "simulated" for model in models.values()) else "live",
            "dataset": {
                "name": experiment.launch.choices.get("dataset"),
                "fingerprint": experiment.dataset.fingerprint,
                "privacy": inherited_privacy(experiment),
            },
            "prompts": dict(experiment.prompts),
            "seed": experiment.seed,
            "versions": manifest.versions(),
        }

    @property
    def begun(self) -> str:
        """The digest of what may not change on the way."""
        experiment = self.experiment
        kept = {key: text for key, text in settled(experiment.cfg).items() if key.partition(".")[0] not in _APART}
        told = [kept, dict(experiment.prompts), experiment.dataset.fingerprint]
        told += [{role: redact(model.name) for role, model in experiment.models.items()}]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]

    def training(self, split: str | None) -> tuple[str, Sequence[Sample]]:
        """A split to learn from, without what is evaluated. Raises ConfigError."""
        found = training(self.experiment, split, ("train",), "stage")
        if found is None:
            raise ConfigError("the dataset has no split to learn from, beside the one that is evaluated")
        return found

    def known(self, samples: Sequence[Sample]) -> list[str]:
        """Digests of what an agent may see of samples, and of what the prompts at hand were made from."""
        return list(dict.fromkeys([*map(known_by, samples), *inherited_texts(self.experiment)]))

    def study(self, samples: Sequence[Sample]) -> None:
        """Models with a private answer key get that of these samples."""
        for model in self.experiment.models.values():
            if isinstance(model, Studying):
                model.study(samples)

    async def play(self, sample: Sample, agent: Agent, epoch: int = 0) -> Played:
        """An agent on a sample, with the config's verifier and without memory. Raises ModelError."""
        return await self._practice(agent, self.experiment.parts).play(sample, agent.solve, None, epoch)

    async def talk(self, name: str, solve: Solve) -> Trajectory:
        """An episode that is about no sample and offers nothing. Raises ModelError."""
        parts = replace(self.experiment.parts, toolset=NoTools(), condition=Intact(), verifier=Accept(), scorers={})
        about = Sample(Problem(name, ""), None)
        return (await self._practice(Solver(solve), parts, "asking for").play(about, solve)).trajectory

    def gain(
        self, mine: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]], metric: str
    ) -> Mapping[str, Any]:
        """The paired gain of mine over theirs."""
        from runner.results.kinds import KEY, Scale, better, kind_of
        from runner.results.pairs import difference_of, pairs_of

        ways = declared_scores(self.experiment.parts.scorers)
        direction = better(metric, [ways])
        if not direction:
            raise ConfigError(f"stage.metric: {metric!r} is better neither high nor low, so nothing can gain in it")
        sides = cast(Sequence[Record], mine), cast(Sequence[Record], theirs)
        pairs = pairs_of(*sides, metric, Scale(kind_of(metric, ways[KEY])), direction)
        return {"metric": metric, "better": direction, **difference_of(pairs).as_dict(), "unpaired": pairs.n_unpaired}

    def _practice(self, agent: Agent, parts: Parts, what: str = "sample") -> Practice:
        if self.progress is not None:
            self.progress.expect(1)
        return Practice(agent, parts, self.door, self.progress, what)


def place_of_stage(experiment: Experiment) -> Path | None:
    """The folder that a stage leaves; None where there is none, and a run leaves its own."""
    if experiment.stage is not None:
        return experiment.stage.place
    return None if experiment.cfg.get("stage") is None else Path(experiment.cfg["run"]["memory"])


def check_learning(experiment: Experiment) -> None:
    """Whether memory and stage are there, and models may see what is remembered. Raises ConfigErrors."""
    findings: list[Finding] = []
    learnt_from = None
    with noting(findings, "memory"):
        learnt_from = check_memory(experiment)
    with noting(findings, "stage"):
        if experiment.stage is not None:
            experiment.stage.check(StageContext(experiment, Door(experiment.models, None, run_seed=experiment.seed)))
    if findings:
        raise ConfigErrors(findings)
    check_prompts(experiment)
    if learnt_from is not None:
        permit(learnt_from, experiment.models, experiment.parts.toolset, "memory")
