"""What a fork runs: for each intervention the same points of the same episodes, each as often, with the same seeds.

An episode that one agent begins may be completed by another: the second gets the problem, the tools in their current
state, and the actions of the first with their observations.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from components.core.protocols import Agent
from components.core.protocols import Episode as AnyEpisode
from components.core.traits import Requirements, declared
from components.core.types import Answer, Failure, Refusal, Sample, Trajectory, Turn
from runner.episode.door import Door
from runner.episode.episode import Episode, record_errors, solve
from runner.episode.prefix import HandOver, Prefix
from runner.episode.shared import Parts, Shared
from runner.experiment.experiment import Experiment
from runner.fork.points import Point, Recorded, chosen, points_for_arm, points_of, walk
from runner.fork.request import Arm, Choices
from runner.storage.schema import FORK_FACTS, FORK_STEP

_PREFIX = ("agent", "memory", "grammars", "toolset", "condition")  # nodes of a config that can change what is asked


@dataclass(frozen=True)
class Relay:
    """``first`` acts until the fork, then the agent of the parts ``then``."""

    first: Agent
    then: Parts

    @property
    def requirements(self) -> Requirements:
        """Those of the first: the offer is opened for it."""
        return declared(self.first, Requirements)

    async def solve(self, episode: AnyEpisode) -> Answer | Refusal | Failure:
        """The outcome of the second."""
        assert isinstance(episode, Episode), "the runner's own"
        try:
            return await self.first.solve(episode)
        except HandOver:
            return await self.then.agent.solve(_handed(episode, self.then))


def _handed(episode: Episode, parts: Parts) -> Episode:
    """The episode for the agent of these parts."""
    shared, trajectory = episode.shared, episode.trajectory
    assert isinstance(shared.fork, Prefix), "it handed the episode over"
    shared.fork.hands_over = False
    fresh = parts.open(shared.sample, shared.epoch, shared.door.run_seed)
    fresh.state.close()
    added = {tool.spec.name: tool for _, tool in shared.added}
    offer = replace(fresh, state=episode.offer.state, tools={**fresh.tools, **added})
    trajectory.offered = tuple(tool.spec for tool in offer.tools.values())
    trajectory.facts = offer.facts
    rest = Episode(replace(shared, parts=parts), offer, attempt=episode.attempt)
    rest.continue_from(episode)
    turns = []
    for step in trajectory.steps:
        seen = [one for one in step.observed if not one.control]
        if step.branch == episode.name and step.acts and step.action is not None and seen:
            messages = [parts.grammar.render(one.call, one.observation) for one in seen]
            turns.append(Turn(step.action, messages, "\n".join(one.observation.text for one in seen)))
    rest.past = turns
    return rest


@dataclass(frozen=True)
class Intervention:
    """An arm with its experiment. ``base``: the parts of the run; ``hands_over``: another agent continues."""

    name: str
    arm: Arm
    experiment: Experiment
    base: Experiment
    hands_over: bool = False

    @property
    def asks_alike(self) -> bool:
        """Whether the requests before the fork equal those of the run."""
        mine, theirs = self.experiment.cfg, self.base.cfg
        return self.hands_over or all(mine.get(key) == theirs.get(key) for key in _PREFIX)

    def parts_of(self, own: Parts) -> Parts:
        """What an episode runs with; ``own``: the parts of the experiment."""
        if not self.hands_over:
            return own
        base = self.base.parts
        return replace(base, agent=Relay(base.agent, own), budget=own.budget)

    def prefix(self, one: Recorded, length: int, place: str = "") -> Prefix:
        """The beginning of an episode under this arm."""
        return Prefix(
            one.steps, length, self.base.parts.verifier, place, self.asks_alike,
            self.hands_over and bool(place), self.arm.lesson, self.arm.result,
        )  # fmt: skip


@dataclass
class Plan:
    """The forks of one arm. ``draws`` of each point; ``most``: steps of the longest episode, by which a fork has one
    number in all arms."""

    arm: Intervention
    draws: int
    most: int
    points: Sequence[tuple[Recorded, Point, int]]  # episode, point, and how many points it has

    def __post_init__(self) -> None:
        self._forks = {(one.sample.problem.id, number): (one, point, draw, n)
                       for one, point, n in self.points for draw in range(self.draws)
                       for number in [self.number(one, point, draw)]}  # fmt: skip

    def number(self, one: Recorded, point: Point, draw: int) -> int:
        """The number of a fork among those of its sample."""
        return (one.epoch * self.most + point.step - 1) * self.draws + draw

    @property
    def order(self) -> Sequence[tuple[Sample, int]]:
        """The samples, with the step as a stratum, and the numbers of their forks."""
        return [
            (replace(one.sample, strata={**one.sample.strata, FORK_STEP: f"{point.step:02d}"}), number)
            for (_, number), (one, point, _, _) in self._forks.items()
        ]

    async def solve(self, parts: Parts, door: Door, sample: Sample, epoch: int) -> Trajectory:
        """Rebuild an episode up to the fork, and continue it."""
        one, point, draw, n = self._forks[sample.problem.id, epoch]
        prefix, trajectory = self.arm.prefix(one, point.call, f"fork/{point.step}/{draw}"), Trajectory()
        parts = self.arm.parts_of(parts)
        with record_errors(trajectory):
            await solve(Shared(parts, door, one.sample, one.epoch, trajectory, fork=prefix))
        facts = {"step": point.step, "of": n, "call": point.call + 1, "draw": draw, "epoch": one.epoch,
                 "did": point.did, "was": one.score}  # fmt: skip
        trajectory.facts = {**trajectory.facts, FORK_FACTS: facts}
        return trajectory


async def plans_of(
    arms: Sequence[Intervention], episodes: Sequence[Recorded], choices: Choices
) -> tuple[list[Plan], list[str]]:
    """The plan of each arm, and lines on the episodes that are refused or left out, with the reasons. No model is
    called."""
    refused, found = list[str](), dict[str, list[tuple[Recorded, Point, int]]]()
    points = dict[str, list[Point]]()
    for one in episodes:
        points[one.name], why = await _points(arms[0], one)
        refused += why
    picked = {one.name: chosen(points[one.name], one.steps, choices.at) for one in episodes}
    for one in episodes:
        if points[one.name] and not picked[one.name]:
            n = len(points[one.name])
            refused.append(f"left out: sample {one.name}: none of its {n} steps matches fork.at={choices.at}")
    for arm in arms:
        of = found.setdefault(arm.name, [])
        for one in episodes:
            there = picked[one.name]
            if not arm.asks_alike and there:
                same, why = await _points(arm, one)
                refused += why
                there = [point for point in there if point.call in {one.call for one in same}]
            there = list(points_for_arm(there, points[one.name], one.steps, arm.arm, arm.hands_over))
            if arm.arm.result:
                there, why = await _seen(arm, one, there)
                refused += why
            of += [(one, point, len(points[one.name])) for point in there]
    most = max((point.step for of in points.values() for point in of), default=1)
    return [Plan(arm, choices.draws, most, found[arm.name]) for arm in arms], refused


async def _points(arm: Intervention, one: Recorded) -> tuple[list[Point], list[str]]:
    """The points at which an episode can be continued under an arm, and a line on why not at others."""
    prefix = arm.prefix(one, len(one.steps))
    parts = arm.base.parts if arm.hands_over else arm.experiment.parts
    why = await walk(parts, arm.base, one, prefix)
    return points_of(prefix), [f"refused: sample {one.name}, {arm.name}: {why}"] if why else []


async def _seen(arm: Intervention, one: Recorded, points: Sequence[Point]) -> tuple[list[Point], list[str]]:
    """The points at which the results that an arm changes also change the next request, and a line on the others."""
    hidden = [(point, await _hidden(arm, one, point)) for point in points]
    steps: dict[str, list[str]] = {}
    for point, why in hidden:
        if why:
            steps.setdefault(why, []).append(str(point.step))
    lines = [f"refused: sample {one.name}, {arm.name}, step {', '.join(of)}: {why}" for why, of in steps.items()]
    return [point for point, why in hidden if not why], lines


async def _hidden(arm: Intervention, one: Recorded, point: Point) -> str:
    """Why the results that an arm changes can have no effect at a point; empty where they can."""
    asked = []
    for results in ({}, arm.arm.result):
        prefix = replace(arm.prefix(one, point.call), results=results, hands_over=arm.hands_over)
        if why := await walk(arm.parts_of(arm.experiment.parts), arm.base, one, prefix):
            return why
        asked.append(prefix.unanswered)
    return "" if asked[0] != asked[1] else "the agent does not show its model the changed result"
