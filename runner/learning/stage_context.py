"""What stages work with: their training samples run, and ``components.core.learning.StageContext``."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast, get_args

from components.core.errors import ConfigError, ModelError
from components.core.learning import Solve
from components.core.plain import Accept, Intact, NoTools
from components.core.protocols import Agent, Episode, Memory
from components.core.redaction import redact
from components.core.traits import Requirements, ScorerTraits, declared
from components.core.types import (
    CONTEXT_LENGTH,
    Answer,
    EpisodeResult,
    Failure,
    Privacy,
    Problem,
    Refusal,
    Sample,
    Trajectory,
)
from runner.episode.door import Door
from runner.episode.ending import deciding_value
from runner.episode.episode import run_episode
from runner.episode.progress import Progress
from runner.episode.shared import Parts
from runner.experiment.experiment import Experiment, clean, declared_scores, study
from runner.learning.lesson import known_by, privacy_of, prompt_manifests, training
from runner.storage import manifest
from runner.storage.resume import score_settings
from runner.storage.schema import Record

_NOT_COMPARED = ("name", "limit", "epochs", "memory")  # of a config, when a stage is continued


@dataclass(frozen=True)
class Solver:
    """An agent that is one function of its episode."""

    function: Solve
    requirements: Requirements = field(default_factory=Requirements)

    async def solve(self, episode: Episode) -> Answer | Refusal | Failure:
        """Call it."""
        return await self.function(episode)


@dataclass
class Practice:
    """See ``components.core.learning.Practice``; ``skipped`` are samples that grew too long for the model."""

    agent: Agent
    parts: Parts
    door: Door
    progress: Progress | None = None
    what: str = "training sample"
    finished: set[str] = field(default_factory=set)
    skipped: set[str] = field(default_factory=set)

    async def run_sample(
        self, sample: Sample, solve: Solve, memory: Memory | None = None, epoch: int = 0
    ) -> EpisodeResult:
        """One episode; one that grows too long for the model has failed. Raises ModelError when it ended in an
        error."""
        name, own = sample.problem.id, declared(self.agent, Requirements)
        solver = Solver(solve, Requirements(tools=own.tools, only_own_tools=own.only_own_tools))
        scorers = self.parts.scorers.items()
        quick = {key: one for key, one in scorers if declared(one, ScorerTraits).asks is None}  # grades cost
        parts = replace(self.parts, agent=solver, memory=memory, scorers=quick)
        trajectory, scores = await run_episode(parts, self.door, sample, epoch)
        if trajectory.stop == "error":
            *_, last = ["it broke off", *(trajectory.error or "").strip().splitlines()]
            raise ModelError(f"{self.what} {name!r}: {last}", "training")
        if trajectory.failure == CONTEXT_LENGTH:
            self.skipped.add(name)
        if self.progress is not None and name not in self.finished:
            self.finished.add(name)
            self.progress.finished(name in self.skipped)
        return EpisodeResult(
            trajectory, deciding_value(self.parts.scorers, scores), {score.name: score.value for score in scores}
        )


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
        facts = origin_of(self.experiment)
        kinds = {model.kind for model in self.experiment.models.values()}
        made_of = [self.experiment.dataset.privacy, *map(privacy_of, prompt_manifests(self.experiment).values())]
        classes: Sequence[str] = get_args(Privacy)
        dataset = {**facts["dataset"], "privacy": max(made_of, key=classes.index)}
        return {**facts, "model_kind": "simulated" if "simulated" in kinds else "live", "dataset": dataset}

    @property
    def begun(self) -> str:
        """The digest of what may not change on the way."""
        experiment = self.experiment
        settings = score_settings(experiment.cfg).items()
        compared = {key: text for key, text in settings if key.partition(".")[0] not in _NOT_COMPARED}
        models = {role: redact(model.name) for role, model in experiment.models.items()}
        identity = [compared, dict(experiment.prompts), experiment.dataset.fingerprint, models]
        return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]

    def training(self, split: str | None) -> tuple[str, Sequence[Sample]]:
        """A split to learn from, without the evaluated samples. Raises ConfigError."""
        found = training(self.experiment, split, ("train",), "stage")
        if found is None:
            raise ConfigError("the dataset has no split to learn from besides the one that is evaluated")
        return found

    def known(self, samples: Sequence[Sample]) -> list[str]:
        """Digests of what an agent may see of samples, and of what the prompts at hand were made from."""
        inherited = [text for notes in prompt_manifests(self.experiment).values() for text in notes.get("texts") or ()]
        return list(dict.fromkeys([*map(known_by, samples), *inherited]))

    def study(self, samples: Sequence[Sample]) -> None:
        """Models with a private answer key get that of these samples."""
        study(self.experiment, samples)

    async def run_sample(self, sample: Sample, agent: Agent, epoch: int = 0) -> EpisodeResult:
        """An agent on a sample, with the config's verifier and without memory. Raises ModelError."""
        return await self._practice(agent, self.experiment.parts).run_sample(sample, agent.solve, None, epoch)

    async def talk(self, name: str, solve: Solve) -> Trajectory:
        """An episode that is about no sample and offers nothing. Raises ModelError."""
        parts = replace(self.experiment.parts, toolset=NoTools(), condition=Intact(), verifier=Accept(), scorers={})
        about = Sample(Problem(name, ""), None)
        return (await self._practice(Solver(solve), parts, "asking for").run_sample(about, solve)).trajectory

    def gain(
        self, mine: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]], metric: str
    ) -> Mapping[str, Any]:
        """The paired gain of mine over theirs."""
        from runner.results.kinds import KEY, Scale, better, kind_of
        from runner.results.pairs import difference_of, pairs_of

        ways = declared_scores(self.experiment.parts.scorers)
        direction = better(metric, [ways])
        if not direction:
            raise ConfigError(f"stage.metric: {metric!r} has no direction of improvement; choose a metric that has one")
        sides = cast(Sequence[Record], mine), cast(Sequence[Record], theirs)
        pairs = pairs_of(*sides, metric, Scale(kind_of(metric, ways[KEY])), direction)
        return {"metric": metric, "better": direction, **difference_of(pairs).as_dict(), "unpaired": pairs.n_unpaired}

    def _practice(self, agent: Agent, parts: Parts, what: str = "sample") -> Practice:
        if self.progress is not None:
            self.progress.expect(1)
        return Practice(agent, parts, self.door, self.progress, what)


def place_of_stage(experiment: Experiment) -> Path | None:
    """The output folder of a stage; None without a stage, since a run has its own."""
    if experiment.stage is not None:
        return experiment.stage.place
    return None if experiment.cfg.get("stage") is None else Path(experiment.cfg["run"]["memory"])


def origin_of(experiment: Experiment) -> dict[str, Any]:
    """What the manifest of anything learnt says of where it came from."""
    return {
        "made": manifest.now(),
        "command": manifest.command_line(),
        "models": {role: model.name for role, model in experiment.models.items()},
        "dataset": {"name": experiment.launch.choices.get("dataset"), "fingerprint": experiment.dataset.fingerprint},
        "prompts": dict(experiment.prompts),
        "seed": experiment.seed,
        "versions": manifest.versions(),
    }
